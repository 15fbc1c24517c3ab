#!/usr/bin/env python3
"""Put the likely causes of each symptom into book/debugging.md, from the list that the checks use.

Each section of the page has a comment `<!-- causes: KEY -->`, with the key of a symptom of
`checks.catalogue`. The list below it, up to the next heading, is written by this tool; all else is
yours.
"""

from __future__ import annotations

import argparse
import re
import sys

from common import ROOT

PAGE = ROOT / "book" / "debugging.md"
MARK = re.compile(r"(<!-- causes: ([\w-]+) -->\n).*?(?=\n## |\Z)", re.DOTALL)
SHOWN = 8  # of each symptom; the chapter has them all


def causes(key: str) -> str:
    """The likely mistakes of a symptom as a list: what, how to mend it, where, which check."""
    from transformer_book.checks.catalogue import (
        SYMPTOMS,
        anchor_of,
        likely,
        mistakes_of,
        place_of,
    )

    chapters = {path.name[:2]: path.name for path in (ROOT / "chapters").glob("*.ipynb")}
    symptoms = {symptom.key: symptom for symptom in SYMPTOMS}
    if key not in symptoms:
        raise ValueError(f"there is no symptom {key!r}; known are {', '.join(symptoms)}.")
    known = mistakes_of(symptoms[key])
    lines = []
    for mistake in likely(symptoms[key])[:SHOWN]:
        number, section = place_of(mistake)
        link = f"../chapters/{chapters[f'{number:02}']}#{anchor_of(section)}"
        name, cause = (_escaped(text) for text in (mistake.name, mistake.cause))
        lines.append(
            f"* **{name[0].upper() if name[0].isascii() else name[0]}{name[1:]}.** {cause} "
            f"[Chapter {number}, {_escaped(section)}]({link}); `checks.{mistake.component}`."
        )
    more = len(known) - len(lines)
    if more:
        all_known = "../chapters/22_known_mistakes.ipynb#see-it-the-whole-catalogue"
        lines.append(f"* And {more} more in the [catalogue]({all_known}).")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Plain text as Markdown; what stands in backticks is code already."""
    parts = text.split("`")
    parts[::2] = (re.sub(r"([*_\[\]<>])", r"\\\1", part) for part in parts[::2])
    return "`".join(parts)


def written(text: str) -> str:
    """The page with all its lists made anew."""
    return MARK.sub(lambda found: f"{found[1]}\n{causes(found[2])}", text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page; else only compare")
    arguments = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8")
    after = written(before)
    if arguments.write:
        PAGE.write_text(after, encoding="utf-8")
    elif after != before:
        print("book/debugging.md is not up to date: run python tools/debugging_page.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
