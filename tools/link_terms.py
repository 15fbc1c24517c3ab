#!/usr/bin/env python3
"""Link the terms of the glossary, and the chapters that a text names, in every notebook.

Terms. The first use of each term of book/glossary.md in a chapter links to its entry. A term is a
heading (### term); a comment below it may list other forms:

    <!-- also: attend, attending; common: ... -->

Each form stands for its plural in -s, too, and may begin with a capital. The longest form wins, so
that "multi-head attention" is no use of "attention". A form listed as `common` is also an everyday
word. It is linked only where it is surely the term: alone in italics or bold (*key*), or in a list
with another term ("keys and values"). Readers of the core alone must find each term linked, too:
a term that comes up first in a section "Further: …" is linked there and at its first use in the
core.

Chapters. The first "chapter N" of each section links to that chapter, once _toc.yml lists it.

Links are put into running text only: not into code, formulas, other links, headings, tables, HTML,
the title of a box or the words of a longer phrase in italics. Text that is folded away counts as a
use only if there is no other. Every link to an entry of the glossary, and every link whose text is
"chapter N" or N, belongs to this script: it takes all of them out before it puts them in, so that
running it again changes nothing, and a term that has left the glossary is unlinked.

In the pages of book/ that are given below, chapters are linked and terms are not.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import yaml
from common import ROOT, notebooks
from core_path import headings, is_further
from normalise_notebooks import text_of, written

GLOSSARY = ROOT / "book" / "glossary.md"
PAGES = ("glossary.md", "cheat_sheet.md")  # of book/: their chapters are linked, too


class Mistake(ValueError):
    """A glossary, a page or a notebook that cannot be worked with."""


# --- the glossary and the chapters ----------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """One way to write a term, in running text."""

    text: str
    anchor: str
    common: bool = False

    @property
    def pattern(self) -> str:
        first = self.text[0]
        if self.text == self.text.lower():
            first = f"[{first}{first.upper()}]" if first.isalpha() else re.escape(first)
        else:  # Adam, BLEU, ReLU: the capitals are part of the word
            first = re.escape(first)
        return first + re.escape(self.text[1:]).replace(r"\ ", r"\s")


def slug(heading: str) -> str:
    """The anchor of a heading, on GitHub and on the website."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def forms_of(glossary: str) -> dict[str, Form]:
    """Every form of every term of the glossary, plurals included."""
    found: dict[str, Form] = {}
    owner: dict[str, str] = {}

    def add(text: str, term: str, common: bool) -> None:
        if owner.setdefault(text, term) != term:
            raise Mistake(
                f"The glossary lists {text!r} under {owner[text]!r} and under {term!r}; "
                "leave it in one of them."
            )
        found.setdefault(text, Form(text, slug(term), common))

    plurals: list[tuple[str, str, bool]] = []
    for heading in re.finditer(r"^### (.+)\n(?:<!--(.*?)-->\n)?", glossary, re.MULTILINE):
        term, note = heading[1].strip(), heading[2] or ""
        listed: dict[str, list[str]] = {"also": [], "common": []}
        for part in filter(None, (part.strip() for part in note.split(";"))):
            kind, _, words = part.partition(":")
            if kind not in listed:
                raise Mistake(
                    f"The comment under {term!r} in the glossary has {kind!r}, but it may hold "
                    "'also: …' and 'common: …', with a semicolon between them."
                )
            listed[kind] = [word.strip() for word in words.split(",")]
        if term not in listed["common"]:
            listed["also"].insert(0, term)
        for kind, words in listed.items():
            for word in words:
                add(word, term, kind == "common")
                plurals.append((word, term, kind == "common"))
    for word, term, common in plurals:
        if not word.endswith("s") and f"{word}s" not in found:
            add(f"{word}s", term, common)
    if not found:
        raise Mistake("The glossary has no terms: each is a heading that begins with '### '.")
    return found


def chapters_listed(root: Path = ROOT) -> dict[int, str]:
    """The file of each chapter that _toc.yml lists: {7: "07_scaled_dot_product_attention.ipynb"}"""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    files = [page["file"] for part in contents["parts"] for page in part["chapters"]]
    names = [Path(file).name for file in files if file.startswith("chapters/")]
    return {int(name[:2]): f"{name}.ipynb" for name in sorted(names)}


# --- where a link may stand -----------------------------------------------------------------------

FENCE = r"^[ >]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^[ >]*(?P=fence)[`~]*[ ]*$"
PROTECTED = re.compile(
    "|".join(
        (
            FENCE,
            r"^[ >]*\#{1,6}[ ][^\n]*$",  # a heading
            r"^[ >]*\|[^\n]*$",  # a row of a table
            r"(?:\A|(?<=\n\n))>[ ]\*\*[^\n]*?\*\*",  # the title of a box
            r"(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)",
            r"(?<!\\)\$\$.+?\$\$",
            r"(?<!\\)\$(?:[^$\n]|\n(?![ >]*\n))+\$",
            r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\((?:[^()]|\([^()]*\))*\)",  # a link or an image
            r"<!--.*?-->",
            r"<summary>.*?</summary>",
            r"<[a-zA-Z/][^>]*>",
        )
    ),
    re.MULTILINE | re.DOTALL,
)
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
ITALIC = re.compile(r"(?<![*\w])\*(?![*\s])(?P<inside>[^*]+?)(?<!\s)\*(?![*\w])")
BOLD = re.compile(r"(?<![*\w])\*\*(?![*\s])(?P<inside>[^*]+?)(?<!\s)\*\*(?![*\w])")
JOINED = re.compile(r",|(?:, )?(?:and|or)(?: the| an?)?")


def running_text(text: str) -> str:
    """The text with everything that may hold no link blanked out, at its old length."""
    return PROTECTED.sub(lambda match: re.sub(r"[^\n]", "\0", match[0]), text)


TERM_LINK = re.compile(r"\[([^\[\]]+)\]\((?:\.\./book/)?glossary\.md#[^()\s]*\)")
CHAPTER_LINK = re.compile(
    r"\[((?:[Cc]hapter\s)?(\d{1,2}))\]\((?:\.\./chapters/)?(\d\d)_\w+\.ipynb\)"
)


def unlinked(text: str) -> str:
    """The text without the links of this script."""
    text = TERM_LINK.sub(r"\1", text)
    return CHAPTER_LINK.sub(lambda m: m[1] if int(m[2]) == int(m[3]) else m[0], text)


@lru_cache
def pattern_of(forms: tuple[Form, ...]) -> re.Pattern:
    """Any of the forms as whole words, the longest first. A hyphen or a dash joins words."""
    longest = sorted(forms, key=lambda form: (-len(form.text), form.text))
    either = "|".join(form.pattern for form in longest)
    return re.compile(rf"(?<![\w–-])(?:{either})(?!\w|[–-]\w)")


def uses(text: str, forms: dict[str, Form]) -> Iterator[tuple[int, int, str]]:
    """Where the terms stand in a running text: from, to, anchor."""
    italic = [match.span("inside") for match in ITALIC.finditer(text)]
    alone = {*italic, *(match.span("inside") for match in BOLD.finditer(text))}
    found: list[tuple[int, int, Form]] = []
    for match in pattern_of(tuple(forms.values())).finditer(text):
        inside = any(start <= match.start() < end for start, end in italic)
        if not inside or match.span() in alone:
            word = re.sub(r"\s", " ", match[0])
            form = forms.get(word) or forms[word[0].lower() + word[1:]]
            found.append((*match.span(), form))

    def joined(one: tuple[int, int, Form], other: tuple[int, int, Form]) -> bool:
        between = text[one[1] : other[0]].replace("*", "").strip()
        return one[2].anchor != other[2].anchor and bool(JOINED.fullmatch(between))

    listed = set()
    for one, other in pairwise(found):
        if joined(one, other):
            listed |= {one, other}
    for start, end, form in found:
        if not form.common or (start, end, form) in listed or (start, end) in alone:
            yield start, end, form.anchor


CHAPTERS = re.compile(
    r"\b[Cc]hapter(?:(?P<one>\s\d{1,2})|s\s(?P<many>\d{1,2}(?:(?:,|,? and|,? or| to)\s\d{1,2})*))\b"
)


def mentions(text: str) -> Iterator[tuple[int, int, int]]:
    """Where a running text names chapters: from, to, number."""
    for match in CHAPTERS.finditer(text):
        if match["one"]:
            yield *match.span(), int(match["one"])
        else:
            for number in re.finditer(r"\d+", match["many"]):
                start = match.start("many")
                yield start + number.start(), start + number.end(), int(number[0])


def with_links(
    texts: list[str], forms: dict[str, Form], chapters: dict[int, str], here: int | None = None
) -> list[str]:
    """The texts of a notebook, or of one page, with the links of this script and no others of its.

    Args:
        texts: its Markdown cells, in order.
        forms: the terms to link; none in a page of book/.
        chapters: the files of the chapters that exist.
        here: the number of this chapter, which is not linked; `None` for a page of book/, be it
            Markdown or a notebook.
    """
    texts = [unlinked(text) for text in texts]
    first: dict[tuple, tuple] = {}  # what is linked -> (folded?, cell, from, to, address)
    section = branch = 0
    to_chapters = "" if here is not None else "../chapters/"
    for cell, text in enumerate(texts):
        plain = running_text(text)
        folded = [match.span() for match in FOLDED.finditer(text)]
        titles = list(headings(text))
        branches = [(0, branch > 0)]  # (from here on, whether it is a branch)
        for title in titles:
            if not branch or len(title[1]) <= branch:
                branch = len(title[1]) if is_further(title[2]) else 0
            branches.append((title.start(), branch > 0))

        def propose(what: tuple, start: int, end: int, address: str) -> None:
            hidden = any(a <= start < b for a, b in folded)  # noqa: B023
            place = (hidden, cell, start, end, address)  # noqa: B023
            first[what] = min(first.get(what, place), place)

        for start, end, anchor in uses(plain, forms) if forms else ():
            of_branch = [off for begins, off in branches if begins <= start][-1]
            propose(("term", anchor, of_branch), start, end, f"../book/glossary.md#{anchor}")
        for start, end, number in mentions(plain):
            if number in chapters and number != here:
                within = section + sum(title.start() < start for title in titles)
                propose(("chapter", within, number), start, end, to_chapters + chapters[number])
        section += len(titles)
    for kind, anchor, *_ in [what for what in first if what[0] == "term" and what[-1]]:
        in_core = first.get((kind, anchor, False))
        if in_core and in_core < first[kind, anchor, True]:
            del first[kind, anchor, True]
    for _, cell, start, end, address in sorted(first.values(), key=lambda p: p[1:], reverse=True):
        text = texts[cell]
        texts[cell] = f"{text[:start]}[{text[start:end]}]({address}){text[end:]}"
    return texts


# --- files ----------------------------------------------------------------------------------------


def linked_file(path: Path, forms: dict[str, Form], chapters: dict[int, str]) -> str | None:
    """What the file should hold, or None if it holds it already."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".md":
            wanted = with_links([text], {}, chapters)[0]
            return None if wanted == text else wanted
        notebook = json.loads(text)
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
        number = re.match(r"\d\d", path.name)
        before = [text_of(cell["source"]) for cell in cells]
    except FileNotFoundError:
        raise Mistake(f"There is no file {path}.") from None
    except (ValueError, KeyError, TypeError):
        raise Mistake(f"{path} is neither a notebook nor a page of Markdown.") from None
    after = with_links(before, forms, chapters, int(number[0]) if number else None)
    if before == after:
        return None
    for cell, source in zip(cells, after, strict=True):
        cell["source"] = source
    for cell in notebook["cells"]:
        cell["source"] = text_of(cell["source"])
    return written(notebook)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "notebooks", nargs="*", help=f"default: every chapter, and {' and '.join(PAGES)}"
    )
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="exit 1 and name what differs")
    action.add_argument("--write", action="store_true", help="bring the links up to date")
    options = parser.parse_args()
    paths = notebooks(options.notebooks)
    if not options.notebooks:
        paths += [ROOT / "book" / name for name in PAGES]
    try:
        forms, chapters = forms_of(GLOSSARY.read_text(encoding="utf-8")), chapters_listed()
        wanted = {path: linked_file(path, forms, chapters) for path in paths}
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        sys.exit(2)
    changed = {path: text for path, text in wanted.items() if text is not None}
    for path, text in changed.items():
        if options.write:
            path.write_text(text, encoding="utf-8")
            print(f"linked the terms of {path}")
        else:
            print(f"other links wanted (tools/link_terms.py --write): {path}", file=sys.stderr)
    sys.exit(1 if options.check and changed else 0)


if __name__ == "__main__":
    main()
