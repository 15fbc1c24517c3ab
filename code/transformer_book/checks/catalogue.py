"""The known mistakes by symptom: what people see when their model does not work (chapter 22).

Every mistake belongs to one symptom, the one by which it is most often met. What is another
convention, or harmless, belongs to the last symptom if no other names it. The page
`book/debugging.md` has a section for each.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from transformer_book.checks import COMPONENTS, MISTAKES, Mistake


@dataclass(frozen=True)
class Symptom:
    """What is seen, in the words of someone who sees it; `key` is short, for programs."""

    key: str
    title: str


def anchor_of(heading: str) -> str:
    """The anchor that a heading gets on the website, as on GitHub."""
    return re.sub(r"[^\w \-]", "", heading.strip().lower()).replace(" ", "-")


SYMPTOMS = (
    Symptom("too-good", "The loss is far below what is plausible"),
    Symptom("nonsense", "Validation is fine, and what it writes is nonsense"),
    Symptom("batch", "The output changes with the batch it is in"),
    Symptom("nan", "NaN, at once or after a while"),
    Symptom("flat", "The loss does not fall"),
    Symptom("frequencies", "The loss falls, and stays where counting words would get you"),
    Symptom("random", "The output changes from call to call"),
    Symptom("sizes", "It fails, or should fail and does not, when two sizes differ"),
    Symptom("worse", "It trains, and worse than it should"),
    Symptom("endless", "It is slow, and never ends"),
    Symptom("bleu", "BLEU is two points low"),
    Symptom("score", "The score is better than anyone's, or cannot be compared"),
    Symptom("harmless", "It differs from the reference, and works"),
)


def full_name(mistake: Mistake) -> str:
    """`"component: name"`."""
    return f"{mistake.component}: {mistake.name}"


def symptom_of(mistake: Mistake) -> Symptom:
    """The symptom by which a mistake is met: the one it names, or else that of its component.

    Raises:
        ValueError: for a mistake that no symptom has.
    """
    key = mistake.met
    if not key and mistake.kind != "wrong":
        key = SYMPTOMS[-1].key
    if not key and mistake.component in COMPONENTS:
        key = COMPONENTS[mistake.component].met
    for symptom in SYMPTOMS:
        if symptom.key == key:
            return symptom
    raise ValueError(
        f"No symptom has the mistake {full_name(mistake)!r}: say with `met` how it is met, there "
        "or at its component."
    )


def mistakes_of(symptom: Symptom) -> list[Mistake]:
    """The mistakes of a symptom: those to suspect first by their rank, then the others."""
    mine = [mistake for mistake in MISTAKES if symptom_of(mistake) is symptom]
    return sorted(mine, key=lambda mistake: mistake.rank or math.inf)


def likely(symptom: Symptom) -> list[Mistake]:
    """The mistakes to suspect first."""
    return [mistake for mistake in mistakes_of(symptom) if mistake.rank]


def place_of(mistake: Mistake) -> tuple[int, str]:
    """The number of the chapter and the heading of the section that explain a mistake."""
    return mistake.chapter or COMPONENTS[mistake.component].chapter, mistake.section
