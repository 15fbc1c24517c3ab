"""Print captions with their alignments: `python -m transformer_book.tasks.captions -n 20`."""

from __future__ import annotations

import argparse
import sys

from . import CONSTRUCTIONS, LANGUAGES, SPLITS, AlignedPair, pairs, report


class Parser(argparse.ArgumentParser):
    """A parser that answers bad input with one sentence and exit status 2."""

    def error(self, message: str):
        sys.stderr.write(f"{message}\n")
        sys.exit(2)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = Parser(
        prog="python -m transformer_book.tasks.captions",
        description="Print pairs of captions with their gold word alignments.",
    )
    p.add_argument("--source", default="de", help=f"one of {', '.join(LANGUAGES)} (default: de)")
    p.add_argument("--target", default="en", help=f"one of {', '.join(LANGUAGES)} (default: en)")
    p.add_argument("--split", default="train", help=f"one of {', '.join(SPLITS)}")
    p.add_argument("-n", type=int, default=20, help="how many pairs (default: 20)")
    p.add_argument("--seed", type=int, default=0, help="another order of the sentences")
    p.add_argument(
        "--construction",
        action="append",
        metavar="NAME",
        help=f"only this construction (repeatable): {', '.join(CONSTRUCTIONS)}",
    )
    p.add_argument("--report", action="store_true", help="print counts instead of pairs")
    return p


def groups(pair: AlignedPair) -> list[tuple[list[int], list[int]]]:
    """Connected words of both sides, by their first source word."""
    found: list[tuple[set[int], set[int]]] = []
    for i, j in pair.alignment:
        touching = [g for g in found if i in g[0] or j in g[1]]
        merged = ({i}.union(*(g[0] for g in touching)), {j}.union(*(g[1] for g in touching)))
        found = [g for g in found if g not in touching] + [merged]
    return sorted((sorted(a), sorted(b)) for a, b in found)


def links(pair: AlignedPair) -> str:
    """The alignment as words: `The–Der  dog–Hund  is·sleeping–schläft  .–.`."""
    return "  ".join(
        "·".join(pair.source[i] for i in a) + "–" + "·".join(pair.target[j] for j in b)
        for a, b in groups(pair)
    )


def show(pair: AlignedPair) -> str:
    """Source, target and alignment, on three lines."""
    return f"{pair.source_text}\n{pair.target_text}\n    {links(pair)}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status."""
    options = parser().parse_args(arguments)
    if options.report:
        print(report())
        return 0
    try:
        found = pairs(
            options.source,
            options.target,
            options.split,
            options.n,
            options.seed,
            options.construction,
        )
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n\n".join(map(show, found)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.stderr.close()
