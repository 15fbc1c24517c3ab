"""“The same model in JavaScript” shows the files' own lines, and all that both languages have."""

from __future__ import annotations

import ast
import re
from html import unescape
from pathlib import Path

import pytest
from common import ROOT
from transformer_book_model import MODULES, PACKAGE, javascript_passage, python_passage

SOURCE = ROOT / "book" / "javascript.md"
SHOWN = [
    (module, *line.split())
    for module, body in re.findall(
        r"```\{beside\} (\w+)\n(.*?)```", SOURCE.read_text("utf-8"), re.S
    )
    for line in body.splitlines()
]


def names_in_python(module: str) -> set[str]:
    """The public names that a module defines."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    defined = {getattr(node, "name", "_") for node in tree.body}
    return {name for name in defined if not name.startswith("_")}


def names_in_javascript(module: str) -> set[str]:
    text = (MODULES / f"{module}.js").read_text(encoding="utf-8")
    return set(re.findall(r"^(?:export )?(?:class|function\*?|const) (\w+)", text, re.MULTILINE))


@pytest.mark.parametrize("module", sorted({module for module, *_ in SHOWN}))
def test_what_both_languages_have_is_shown(module) -> None:
    common = names_in_python(module) & names_in_javascript(module)
    missing = common - {name for each, *names in SHOWN if each == module for name in names}
    # Tokenizers for words are rules of languages rather than a part of the model, and `brief` is
    # for what an error shows.
    assert missing <= {"SpacyTokenizer", "SpaceTokenizer", "tokenizer_from_dict", "brief"}


def test_the_page_shows_the_lines_of_the_files(site: Path) -> None:
    text = (site / "book" / "javascript.html").read_text(encoding="utf-8")
    blocks = [
        unescape(re.sub(r"<[^>]+>", "", block)).strip("\n")
        for block in re.findall(r'<div class="highlight"><pre>(.*?)</pre>', text, re.DOTALL)
    ]
    expected = []
    for module, *names in SHOWN:
        python = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
        javascript = (MODULES / f"{module}.js").read_text(encoding="utf-8")
        expected += [python_passage(python, names[0]), javascript_passage(javascript, names[-1])]
    assert blocks == expected


def test_a_passage_ends_where_its_name_ends() -> None:
    python = (
        'class A:\n    """Text.\n\n    More."""\n\n    x = 1\n\n    def f(self):\n        """F."""\n'
        "        return {}\n\n\ny = 2\n"
    )
    shown = "class A:\n    x = 1\n\n    def f(self):\n        return {}"
    assert python_passage(python, "A") == shown
    assert python_passage(python, "y") == "y = 2"
    javascript = (
        "/** A. */\nexport class A {\n  f() {\n    return {};\n  }\n}\n\n"
        "export const b = (x) =>\n  x + [1][0];\n\nfunction* c() {\n  yield 1;\n}\n"
    )
    assert (
        javascript_passage(javascript, "A") == "export class A {\n  f() {\n    return {};\n  }\n}"
    )
    assert javascript_passage(javascript, "b") == "export const b = (x) =>\n  x + [1][0];"
    assert javascript_passage(javascript, "c") == "function* c() {\n  yield 1;\n}"
    for passage, source in ((python_passage, python), (javascript_passage, javascript)):
        with pytest.raises(KeyError):
            passage(source, "missing")
