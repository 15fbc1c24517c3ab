"""Arguments and options that several commands have, and how their numbers are read."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Annotated

import typer


def whole(least: int) -> Callable[[str], int]:
    """Reads a whole number from an option; typer's own error would not say what was typed."""

    def parse(text: str) -> int:
        with contextlib.suppress(ValueError):
            if int(text) >= least:
                return int(text)
        raise typer.BadParameter(f"{text!r} is not a whole number of at least {least}.")

    return parse


def positive(text: str) -> float:
    """Reads a number above 0."""
    with contextlib.suppress(ValueError):
        if 0 < float(text) < math.inf:
            return float(text)
    raise typer.BadParameter(f"{text!r} is not a number above 0.")


def not_negative(text: str) -> float:
    """Reads a number of at least 0."""
    with contextlib.suppress(ValueError):
        if 0 <= float(text) < math.inf:
            return float(text)
    raise typer.BadParameter(f"{text!r} is not a number of at least 0.")


Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="The name of a model of the book, or a folder.")
]
Device = Annotated[str, typer.Option(metavar="D", help="cpu, cuda or mps.")]
BestDevice = Annotated[
    str | None,
    typer.Option(metavar="D", help="cpu, cuda or mps.", show_default="the best there is"),
]
Threads = Annotated[
    int | None,
    typer.Option(
        parser=whole(1),
        metavar="N",
        help="Threads of the processor.",
        show_default="those that fit the model; a run that goes on has its own",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BeamSize = Annotated[
    int | None,
    typer.Option(
        parser=whole(1),
        metavar="W",
        help="Hypotheses kept at each step; 1: greedy.",
        show_default="the model's",
    ),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(
        parser=not_negative,
        metavar="A",
        help="α of the search; 0: none.",
        show_default="the model's",
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        parser=positive, metavar="T", help="Draw at random; below 1 stays near the likeliest."
    ),
]
TopK = Annotated[
    int | None,
    typer.Option(parser=whole(1), metavar="K", help="Draw among the k likeliest only."),
]
TopP = Annotated[
    float | None,
    typer.Option(parser=positive, metavar="P", help="Draw among the likeliest that sum to p only."),
]
MinP = Annotated[
    float | None,
    typer.Option(
        parser=positive, metavar="P", help="Draw among those p times as likely as the first."
    ),
]
Seed = Annotated[int, typer.Option(parser=whole(0), metavar="N", help="Of the random draws.")]
