"""The model in the reader's browser: its files, its page, the rules of Python's and spaCy's text.

The JavaScript in ``book/assets/model/`` computes with the very files that the package ships. The
site's build copies them into ``_static/model/pretrained/``; there is no second copy in the
repository. Beside them it writes, into ``_static/model/rules/``:

* ``unicode.json``: which characters are letters, spaces, printable, unassigned, as this Python
  has it. A browser's own Unicode is newer or older.
* ``spacy-de.json`` and so on: the rules of ``spacy.blank(language)``, its regular expressions in
  JavaScript's notation.

``{talk}`` is the place where one talks to a model; chapters link to it. Only a page with that
directive loads its script and its style. ``{bench}`` is the place where one trains a model
(``book/assets/bench/``), in the same way.

``{translating} captions-de-en`` with a sentence shows how the model translates it: a row of cells
for each word that it says, dark where it looks. The package computes it while the site is built;
``translating.js`` does the same for sentences of the reader's.

``{beside} attention`` shows names of a module in both languages, side by side, from the files
themselves: one name a line, or two where they differ (``SinusoidalPositions Positions``).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from html import escape, unescape
from importlib import metadata
from pathlib import Path
from re import _constants as code
from re import _parser as parser
from typing import Any

from docutils import nodes
from myst_nb.core.render import sanitize_script_content
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from transformer_book_explorers import Place

from transformer_book import pretrained
from transformer_book.known_words import FILE as KNOWN_WORDS
from transformer_book.support.atomic_files import read_json
from transformer_book.tokens import SpacyTokenizer
from transformer_book.translator import Translator
from transformer_book.widgets.talk import EXAMPLES, answers, described

PACKAGE = pretrained.FOLDER.parent
OWN = ("book/talk", "book/bench")  # what they show stands in their address
MODULES = Path(__file__).parents[1] / "assets" / "model"
FILES = ("config.json", "source_vocabulary.json", "target_vocabulary.json", "model.safetensors")
END = "(end)"  # what the page shows for <eos>
LICENCE = "README.md"  # the card travels with the model
# The front end, which notebooks show, too, and what it takes from the explorers.
FRONT = ("shared", "asking", "standalone", "beam", "talk", "talk_steps", "talk_look", "talk_state")
# The explorers that take a sentence of the reader's: where they stand in the package. The model
# that computes is the first that their chapter loads.
SENTENCES = {
    "HeadExplorer": "heads",
    "NeuronView": "neuron",
    "BeamExplorer": "beam",
    "EmbeddingMap": "embeddings",
}
LOADED = re.compile(r'from_pretrained\(\\?"([\w-]+)\\?"')

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
        runs = re.finditer(b"\x01+", bytes(map(holds, characters)))
        tables[name] = [end for run in runs for end in (run.start(), run.end() - 1)]
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


# --- the page -------------------------------------------------------------------------------------


def digest(paths: list[Path]) -> str:
    """A version of some files, for their addresses."""
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


def files_of(name: str) -> list[str]:
    """The files of a model that the browser loads."""
    known = (pretrained.find(name) / KNOWN_WORDS).is_file()
    return [*FILES, *([KNOWN_WORDS] if known else [])]


def loadable(name: str) -> dict[str, Any]:
    """What the page says of a model before it is loaded, and what there is to load."""
    folder, files = pretrained.find(name), files_of(name)
    return {
        "name": name,
        **described(read_json(folder / "config.json"), name),
        "files": {file: (folder / file).stat().st_size for file in files},
        "version": digest([folder / file for file in files]),
    }


class TalkDirective(SphinxDirective):
    """``{talk}``: the place where one talks to a model."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        models = [loadable(name) for name in EXAMPLES]
        for name in EXAMPLES:
            for file in files_of(name):
                self.env.note_dependency(str(pretrained.find(name) / file))
        about = sanitize_script_content(json.dumps({"models": models, "rules": rules_version()}))
        self.env.metadata[self.env.docname]["talk"] = True
        place = (
            f'<script type="application/json" class="talk-models">{about}</script>\n'
            '<div class="talk-place">The model is about to appear here: it needs JavaScript.</div>'
        )
        return [nodes.raw("", place, format="html")]


class BenchDirective(SphinxDirective):
    """``{bench}``: the place where one trains a model."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        self.env.metadata[self.env.docname]["bench"] = True
        words = "The bench is about to appear here: it needs JavaScript."
        return [nodes.raw("", f'<div class="bench-place">{words}</div>', format="html")]


def looked_at(name: str, text: str) -> dict[str, Any]:
    """What a model says for a sentence, and where it looks at each word of it.

    Returns `read`, `said` and `cells`, a list for each word that is said: the mean of all heads of
    the decoder that look at the source, in whole hundredths. `translating.js` does the same.
    """
    *_, answer = answers(pretrained_translator(name), {"task": "translate", "text": text})
    translation = answer["translation"]
    maps = [
        each["weights"].reshape(each["H"], each["T"], each["S"])
        for each in answer["attention"]["cross"]
    ]
    mean = sum(each.sum(axis=0) for each in maps) / sum(len(each) for each in maps)  # (T, S)
    return {
        "read": [*translation["pieces"], END][: mean.shape[1]],
        "said": [END if token == "<eos>" else token for token in translation["tokens"]],
        "cells": [[round(100 * float(cell)) for cell in row] for row in mean],
        "text": translation["text"],
    }


@cache
def pretrained_translator(name: str) -> Translator:
    return Translator.from_pretrained(name)


def drawn(shown: dict[str, Any], languages: tuple[str, str]) -> str:
    """The table: words that are read above, words that are said on the left, cells between."""
    read, said = languages
    head = "".join(
        f'<th scope="col" lang="{read}"><span>{escape(word)}</span></th>' for word in shown["read"]
    )
    rows = "\n".join(
        f'<tr style="--turn: {turn}"><th scope="row" lang="{said}">{escape(word)}</th>'
        + "".join(f'<td style="--share: {cell}%"><span>{cell}</span></td>' for cell in cells)
        + "</tr>"
        for turn, (word, cells) in enumerate(zip(shown["said"], shown["cells"], strict=True))
    )
    return (
        "<table><caption>For each word that the model says, how much it looks at each word that it "
        f"reads, in hundredths</caption>\n<thead><tr><td></td>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody></table>"
    )


# The controls are there from the beginning, so that nothing moves when their script comes; without
# scripts there are none. From a folder no browser loads modules: the table can only run again.
SHOW_CONTROLS = """<script>{
  const form = document.currentScript.previousElementSibling;
  const live = location.protocol === "file:" ? form.querySelectorAll(".live") : [];
  for (const each of live) each.remove();
  form.hidden = false;
}</script>"""


def controls(model: dict[str, Any], text: str, megabytes: str) -> str:
    """The form below the table, which `translating-loader.js` wakes."""
    told = f"Type German: the first time this loads the model, {megabytes} MB."
    return (
        '<form class="controls" onsubmit="return false" hidden>'
        f'<input class="live" type="text" lang="{model["source"]}" value="{escape(text)}" '
        f'autocomplete="off" spellcheck="false" aria-label="{escape(model["asks"])}">'
        '<button class="live">Translate</button><button type="button">Once more</button>'
        f'<p class="live" role="status">{told}</p></form>\n{SHOW_CONTROLS}'
    )


class TranslatingDirective(SphinxDirective):
    """``{translating} captions-de-en``: a sentence that is translated, word by word."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        (name,), (text, *caption) = self.arguments, self.content
        for file in files_of(name):
            self.env.note_dependency(str(pretrained.find(name) / file))
        model = loadable(name)
        shown = looked_at(name, text)
        size = sum(model["files"].values()) / 1e6
        about = {"model": model, "rules": rules_version(), "megabytes": f"{size:.1f}"}
        self.env.metadata[self.env.docname]["translating"] = True
        languages = (model["source"], model["target"])
        data = sanitize_script_content(json.dumps(about))
        place = (
            '<figure class="translating">\n'
            f'<script type="application/json">{data}</script>\n'
            f'<p class="read" lang="{languages[0]}">{escape(text)}</p>\n'
            f'<p class="said" lang="{languages[1]}">{escape(shown["text"])}</p>\n'
            f'<div class="grid">{drawn(shown, languages)}</div>\n'
            f"{controls(model, text, about['megabytes'])}\n"
            f"<figcaption>{escape(' '.join(caption))}</figcaption>\n</figure>"
        )
        return [nodes.raw("", place, format="html")]


def sentence_models(page: Path, shown: set[str]) -> dict[str, Any]:
    """For each explorer that a page shows and that takes a sentence, the model that it loads."""
    explorers = [explorer for explorer in SENTENCES if explorer in shown]
    name = LOADED.search(page.read_text(encoding="utf-8")) if explorers else None
    if name is None:
        return {}
    model = loadable(name[1])
    size = sum(model["files"].values()) / 1e6
    about = {"model": model, "rules": rules_version(), "megabytes": f"{size:.1f}"}
    return dict.fromkeys(explorers, about)


def load_only_there(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Scripts and styles of the pages that talk and train, and of explorers with a sentence."""
    shown = {place["name"] for place in doctree.findall(Place)} if doctree else set()
    if explorers := sentence_models(Path(app.srcdir) / f"{page}.ipynb", shown):
        about = sanitize_script_content(json.dumps({"explorers": explorers}))
        context["body"] += (
            f'<script type="application/json" class="sentence-models">{about}</script>\n'
        )
        app.add_js_file("model/sentence-loader.js", loading_method="defer")
    if app.env.metadata.get(page, {}).get("translating"):
        app.add_js_file("model/translating-loader.js", loading_method="defer")
    if app.env.metadata.get(page, {}).get("talk"):
        app.add_js_file("model/talk-loader.js", loading_method="defer")
        for style in ("shared", "beam", "talk"):
            app.add_css_file(f"model/widgets/{style}.css")
    if app.env.metadata.get(page, {}).get("bench"):
        app.add_js_file("bench/loader.js", loading_method="defer")
        app.add_css_file("model/widgets/shared.css")
        app.add_css_file("bench/bench.css")


class OwnPage(SphinxTransform):
    """Links of chapters to such a page lead to this site's own one: they work where it lies.

    In a notebook they are absolute, since only so the query survives everywhere.
    """

    default_priority = 470

    def apply(self, **kwargs) -> None:
        pages = {f"{self.config.html_baseurl}{name}.html": f"{name}.html" for name in OWN}
        for link in self.document.findall(nodes.reference):
            # MyST has escaped the address, and the writer does it again.
            address, mark, query = unescape(link.get("refuri", "")).partition("?")
            if mark and address in pages:
                up = "../" * self.env.docname.count("/")
                link["refuri"] = f"{up}{pages[address]}?{query}"


# --- the same in two languages --------------------------------------------------------------------


def python_passage(source: str, name: str) -> str:
    """The lines of a class, a function or a constant, without its docstrings.

    Raises:
        KeyError: there is no such name.
    """
    lines = source.splitlines()
    for node in ast.parse(source).body:
        names = {getattr(node, "name", None)}
        names |= {getattr(each, "id", None) for each in getattr(node, "targets", ())}
        if name not in names:
            continue
        dropped: set[int] = set()
        for inner in ast.walk(node):
            if isinstance(inner, (ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(inner):
                text = inner.body[0]
                dropped |= set(range(text.lineno, text.end_lineno + 1))
                if not lines[text.end_lineno].strip():  # the empty line after it
                    dropped.add(text.end_lineno + 1)
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)])
        kept = [lines[i - 1] for i in range(first, node.end_lineno + 1) if i not in dropped]
        return "\n".join(kept)
    raise KeyError(name)


def javascript_passage(source: str, name: str) -> str:
    """The lines of a class, a function or a constant, without the comment above it.

    Raises:
        KeyError: there is no such name.
    """
    start = re.search(
        rf"^(?:export )?(?:class|function\*?|const) {re.escape(name)}\b", source, re.MULTILINE
    )
    if not start:
        raise KeyError(name)
    lines: list[str] = []
    depth = 0
    for line in source[start.start() :].splitlines():
        lines.append(line)
        depth += sum(map(line.count, "{([")) - sum(map(line.count, "})]"))
        if depth == 0 and line.endswith(("}", ";")):
            break
    return "\n".join(lines)


class BesideDirective(SphinxDirective):
    """``{beside} attention``: passages of attention.py and attention.js."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        module = self.arguments[0]
        files = {
            "python": (PACKAGE / f"{module}.py", python_passage),
            "javascript": (MODULES / f"{module}.js", javascript_passage),
        }
        found: list[nodes.Node] = []
        for line in self.content:
            names = line.split()
            place = nodes.container(classes=["beside"])
            for (language, (path, passage)), name in zip(
                files.items(), (names[0], names[-1]), strict=True
            ):
                self.env.note_dependency(str(path))
                try:
                    text = passage(path.read_text(encoding="utf-8"), name)
                except KeyError:
                    raise self.error(f"{path.name} has no {name}") from None
                caption = nodes.paragraph("", "", nodes.literal("", path.name))
                place += nodes.container(
                    "", caption, nodes.literal_block(text, text, language=language)
                )
            found.append(place)
        return found


# --- the files of the site ------------------------------------------------------------------------


def rules_version() -> str:
    """Changes with what writes the rules: this file, Python's Unicode, spaCy."""
    own = digest([Path(__file__)])
    return f"{own}-{unicodedata.unidata_version}-{metadata.version('spacy')}"


def write_rules(folder: Path) -> None:
    """unicode.json and spacy-….json, unless those of this version are there."""
    written = folder / "version.txt"
    if written.exists() and written.read_text(encoding="utf-8") == rules_version():
        return
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"unicode": unicode_tables()}
    tables |= {f"spacy-{name}": spacy_rules(name) for name in SpacyTokenizer.LANGUAGES}
    for name, table in tables.items():
        text = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    written.write_text(rules_version(), encoding="utf-8")


def copy_models(folder: Path) -> None:
    """The files of every model of the book, as the package ships them."""
    for name in pretrained.names():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file in (*files_of(name), LICENCE):
            shutil.copyfile(pretrained.find(name) / file, folder / name / file)


def write_files(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "model"
    # Sphinx copies them only when a page has changed.
    shutil.copytree(MODULES, folder, dirs_exist_ok=True)
    write_rules(folder / "rules")
    copy_models(folder / "pretrained")
    (folder / "widgets").mkdir(exist_ok=True)
    for name in {*FRONT, *SENTENCES.values()}:
        for path in (PACKAGE / "widgets").glob(f"{name}.*s"):  # .js, .css
            shutil.copyfile(path, folder / "widgets" / path.name)


def setup(app: Sphinx) -> dict:
    app.add_directive("talk", TalkDirective)
    app.add_directive("bench", BenchDirective)
    app.add_directive("translating", TranslatingDirective)
    app.add_directive("beside", BesideDirective)
    app.add_transform(OwnPage)
    app.connect("html-page-context", load_only_there)
    app.connect("build-finished", write_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
