"""The model in the reader's browser: its files, and the rules of Python's and spaCy's text.

The JavaScript in ``book/assets/model/`` computes with the very files that the package ships. The
site's build copies them into ``_static/model/pretrained/``; there is no second copy in the
repository. Beside them it writes, into ``_static/model/rules/``:

* ``unicode.json``: which characters are letters, spaces, printable, unassigned, as this Python
  has it. A browser's own Unicode is newer or older.
* ``spacy-de.json`` and so on: the rules of ``spacy.blank(language)``, its regular expressions in
  JavaScript's notation.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from re import _constants as code
from re import _parser as parser
from typing import Any

from sphinx.application import Sphinx

from transformer_book import pretrained
from transformer_book.tokens import SpacyTokenizer

FILES = ("config.json", "source_vocabulary.json", "target_vocabulary.json", "model.safetensors")

# --- Python's text --------------------------------------------------------------------------------

TABLES: dict[str, Callable[[str], bool]] = {
    "word": lambda c: c.isalnum() or c == "_",  # what `re` calls \w
    "space": str.isspace,
    "decimal": str.isdecimal,  # \d
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "digit": str.isdigit,
    "unprintable": lambda c: not c.isprintable(),
    "formatting": lambda c: unicodedata.category(c) == "Cf",
    "unassigned": lambda c: unicodedata.category(c) == "Cn",
}


def unicode_tables() -> dict[str, Any]:
    """For each property the code points that have it: [first, last, first, last, …]."""
    characters = [chr(i) for i in range(sys.maxunicode + 1)]
    tables: dict[str, Any] = {"version": unicodedata.unidata_version}
    for name, holds in TABLES.items():
        ranges: list[int] = []
        start = 0
        for true, run in groupby(map(holds, characters)):
            length = sum(1 for _ in run)
            if true:
                ranges += [start, start + length - 1]
            start += length
        tables[name] = ranges
    return tables


# --- spaCy's rules --------------------------------------------------------------------------------

_CATEGORIES = {
    code.CATEGORY_WORD: "%w",
    code.CATEGORY_NOT_WORD: "%W",
    code.CATEGORY_SPACE: "%s",
    code.CATEGORY_NOT_SPACE: "%S",
    code.CATEGORY_DIGIT: "%d",
    code.CATEGORY_NOT_DIGIT: "%D",
}
_PLACES = {
    code.AT_BEGINNING: "^",
    code.AT_BEGINNING_STRING: "^",
    code.AT_END: r"(?=\u{a}?$)",  # Python's $ also matches before a last line feed
    code.AT_END_STRING: "$",
}


def _character(value: int) -> str:
    return rf"\u{{{value:x}}}"


def to_javascript(pattern: str) -> str:
    r"""A regular expression of Python's in JavaScript's notation, for its flag `u`.

    \w, \s and \d, which mean something else there, become %w, %s and %d: `Unicode.regex` puts
    Python's characters in their place.

    Raises:
        ValueError: the pattern holds what JavaScript cannot say.
    """
    parsed = parser.parse(pattern)
    if parsed.state.flags & ~re.UNICODE:
        raise ValueError(f"flags of a regular expression that are not translated: {pattern!r}")
    return _sequence(parsed)


def _sequence(parts: Any) -> str:
    return "".join(_part(operation, value) for operation, value in parts)


def _part(operation: Any, value: Any) -> str:
    match operation:
        case code.LITERAL:
            return _character(value)
        case code.NOT_LITERAL:
            return f"[^{_character(value)}]"
        case code.ANY:
            return r"[^\u{a}]"
        case code.AT if value in _PLACES:
            return _PLACES[value]
        case code.IN:
            return f"[{''.join(_member(*member) for member in value)}]"
        case code.BRANCH:
            return f"(?:{'|'.join(map(_sequence, value[1]))})"
        case code.SUBPATTERN if not value[1] and not value[2]:
            return f"(?:{_sequence(value[3])})"
        case code.ASSERT | code.ASSERT_NOT:
            behind = "<" if value[0] < 0 else ""
            sign = "=" if operation is code.ASSERT else "!"
            return f"(?{behind}{sign}{_sequence(value[1])})"
        case code.MAX_REPEAT | code.MIN_REPEAT:
            least, most, inner = value
            upper = "" if most is code.MAXREPEAT else most
            lazy = "?" if operation is code.MIN_REPEAT else ""
            return f"(?:{_sequence(inner)}){{{least},{upper}}}{lazy}"
    raise ValueError(f"a regular expression holds {operation}, which is not translated")


def _member(operation: Any, value: Any) -> str:
    match operation:
        case code.LITERAL:
            return _character(value)
        case code.RANGE:
            return f"{_character(value[0])}-{_character(value[1])}"
        case code.CATEGORY:
            return _CATEGORIES[value]
        case code.NEGATE:
            return "^"
    raise ValueError(f"a set of characters holds {operation}, which is not translated")


def spacy_rules(language: str) -> dict[str, Any]:
    """The rules of spaCy's blank tokenizer: prefix, suffix, infix, url, exceptions.

    Raises:
        ValueError: this spaCy has a rule that the JavaScript does not know.
    """
    import spacy  # takes a second, and most of the build does not need it
    from spacy.symbols import ORTH

    tokenizer = spacy.blank(language).tokenizer
    if tokenizer.token_match is not None or not tokenizer.faster_heuristics:
        raise ValueError(f"spaCy's tokenizer for {language!r} has rules that are not translated.")
    searches = {
        "prefix": tokenizer.prefix_search,
        "suffix": tokenizer.suffix_search,
        "infix": tokenizer.infix_finditer,
        "url": tokenizer.url_match,
    }
    rules = {name: to_javascript(search.__self__.pattern) for name, search in searches.items()}
    exceptions = {text: [part[ORTH] for part in parts] for text, parts in tokenizer.rules.items()}
    return {"spacy": spacy.__version__, "language": language, **rules, "exceptions": exceptions}


# --- the files of the site ------------------------------------------------------------------------


def write_rules(folder: Path) -> None:
    """unicode.json and spacy-….json."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"unicode": unicode_tables()}
    tables |= {f"spacy-{name}": spacy_rules(name) for name in SpacyTokenizer.LANGUAGES}
    for name, table in tables.items():
        text = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def copy_models(folder: Path) -> None:
    """The files of every model of the book, as the package ships them."""
    for name in pretrained.names():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file in FILES:
            shutil.copyfile(pretrained.find(name) / file, folder / name / file)


def write_files(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "model"
    write_rules(folder / "rules")
    copy_models(folder / "pretrained")


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", write_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
