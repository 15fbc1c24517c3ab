"""What every chapter uses: one seed, the package's source, and your own code in its place."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

import numpy as np
import torch
from IPython.display import publish_display_data

from transformer_book.using import edit_source, editable_source, source_of, using

__all__ = [
    "as_markdown",
    "edit_source",
    "editable_source",
    "seed_everything",
    "show_source",
    "source_of",
    "using",
]

# Where the sentences of a docstring end.
LISTS = re.compile(r"^(?:Args|Returns|Raises|Shapes|Source)\b", re.MULTILINE)


def seed_everything(seed: int = 0) -> None:
    """Set the random state of Python, NumPy and torch, and torch's number of threads.

    One thread, wherever the chapter runs: sums are then rounded in the same way, and a model as
    small as the book's gains next to nothing from a second one, which spins while it waits.

    Raises:
        ValueError: if `seed` is not a whole number from 0 to 2³² − 1.
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**32:
        raise ValueError(f"seed is {seed!r}, but it must be a whole number from 0 to 4294967295.")
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)


def as_markdown(documentation: str) -> str:
    """Sentences and formulas of a docstring as they are, its lists of arguments in a code fence."""
    lists = LISTS.search(documentation)
    end = lists.start() if lists else len(documentation)
    words, rest = documentation[:end].strip(), documentation[end:].strip()
    return "\n\n".join(part for part in (words, rest and f"```text\n{rest}\n```") if part)


def show_source(thing: object, fold: Mapping[str, int] | None = None) -> None:
    """Show the source of a class or function of the package as this cell's output.

    The lines are the file's own: what you read here is what runs. The documentation stands folded
    below, and so do methods that a later chapter introduces.

    Args:
        thing: a class or function.
        fold: methods to leave out, with the number of the chapter that has them.
    """
    source, documentation = source_of(thing, fold)
    name = f"{thing.__module__}.{thing.__qualname__}"
    markdown = f"```python\n{source}\n```"
    if documentation:
        markdown += (
            f"\n\n<details><summary>The documentation of {thing.__qualname__}</summary>\n\n"
            f"{as_markdown(documentation)}\n\n</details>"
        )
    publish_display_data({"text/markdown": markdown, "text/plain": f"# {name}\n{source}"})
