"""The tasks of the book: each yields pairs of token sequences and knows its tokenizers.

    >>> from transformer_book.tasks import make_task
    >>> task = make_task("series", size="two-terms")
    >>> pair = task.pairs("train", n=1)[0]
    >>> task.target_tokenizer.detokenize(pair.target)               # doctest: +SKIP

Nothing heavy is imported here: a task's module is imported when the task is made, spaCy when a
tokenizer of words is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from transformer_book.support.arguments import check_choice
from transformer_book.tokens import Tokenizer


@dataclass(frozen=True)
class Pair:
    """One example: the tokens of the source and those of its target, without special tokens."""

    source: tuple[str, ...]
    target: tuple[str, ...]


@runtime_checkable
class Task(Protocol):
    """What every task can do.

    Attributes:
        name: the key in `TASKS`.
        splits: the names that `pairs` accepts.
        source_tokenizer, target_tokenizer: for texts that a user types. They are made when they
            are first asked for: the tokens of `pairs` need none.
    """

    name: str
    splits: tuple[str, ...]

    @property
    def source_tokenizer(self) -> Tokenizer: ...

    @property
    def target_tokenizer(self) -> Tokenizer: ...

    def pairs(self, split: str = "train", n: int = 1000, seed: int = 0) -> list:
        """The first `n` pairs of a split, in an order that the seed determines.

        Each has the attributes `source` and `target`, tuples of tokens. They are distinct, no
        source occurs in two splits, and `pairs(n=100) == pairs(n=1000)[:100]`. A published corpus
        keeps its splits as they are, repetitions included, and with seed 0 its order.

        Raises:
            ValueError: an unknown split, `n` below 1, or more pairs than the split has.
        """

    def to_dict(self) -> dict[str, Any]:
        """The name and all options: `make_task(**task.to_dict())` makes the task again."""

    # A task whose pairs come from a corpus also has `download()`, which returns the paths of its
    # files, and perhaps `counts()`: how many pairs of lines were kept, or left out, and why.


class Options:
    """The part that tasks share whose options are the fields of a frozen dataclass."""

    name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """The name and all options, ready for JSON: `make_task(**options)` reads them back."""
        options = asdict(self)
        for key, value in options.items():
            if isinstance(value, tuple):
                options[key] = list(value)
        return {"name": self.name, **options}


class Entry(NamedTuple):
    """A task in the registry: where its class is, and what it is about, in one line.

    `answer` names the function of the module that computes the right target of a source text, where
    there is one; it raises `ValueError` for a text that the task does not have.
    """

    module: str
    class_name: str
    description: str
    answer: str | None = None

    def load(self) -> type:
        """Import the module of the task and return its class."""
        return getattr(importlib.import_module(self.module), self.class_name)


# To add a task, write its module and add its line. The class is a frozen dataclass whose fields are
# the options, checked in `__post_init__`; it inherits from `Options` and fulfils `Task`.
TASKS: Mapping[str, Entry] = {
    "copy": Entry(
        "transformer_book.tasks.copy",
        "CopyTask",
        "copy or reverse a sequence of symbols",
    ),
    "captions": Entry(
        "transformer_book.tasks.captions.task",
        "CaptionsTask",
        "translate picture captions of a grammar: English, German, Italian",
    ),
    "series": Entry(
        "transformer_book.tasks.series",
        "SeriesTask",
        "expand an expression into its Taylor series to O(x**6)",
        answer="series_of",
    ),
    "multi30k": Entry(
        "transformer_book.tasks.multi30k",
        "Multi30kTask",
        "translate captions of photographs: German and English, to be downloaded",
    ),
    "europarl": Entry(
        "transformer_book.tasks.europarl",
        "EuroparlTask",
        "translate speeches, English and Italian, to be downloaded, or two files of your own",
    ),
}


def make_task(name: str, **options: Any) -> Task:
    """The task `name` of `TASKS` with the given options, the others at their defaults.

    Raises:
        ValueError: an unknown task, an unknown option, or a value that the option does not take.
    """
    check_choice("task", name, TASKS)
    task = TASKS[name].load()
    known = [field.name for field in fields(task)]
    for option in options:
        check_choice(f"an option of the task {name!r}", option, known)
    return task(**options)


def answer_to(name: str | None, text: str) -> str | None:
    """The right target of a source text, by the task's own rule; `None` where there is no rule.

    Raises:
        ValueError: the text is not one that the task has.
    """
    entry = TASKS.get(name) if isinstance(name, str) else None
    if entry is None or entry.answer is None:
        return None
    return getattr(importlib.import_module(entry.module), entry.answer)(text)


def texts_of(task: Task, pair: Any) -> tuple[str, str]:
    """Source and target of a pair as text: its own, where it keeps them, or its tokens, joined."""
    return (
        getattr(pair, "source_text", None) or task.source_tokenizer.detokenize(pair.source),
        getattr(pair, "target_text", None) or task.target_tokenizer.detokenize(pair.target),
    )


def check_whole(least: int | None = None, **values: int) -> None:
    """Raise `ValueError` for the first value that is no whole number of at least `least`."""
    for name, value in values.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or (least is not None and value < least):
            limit = "" if least is None else f" of at least {least}"
            raise ValueError(f"{name} is {value!r}, but it must be a whole number{limit}.")


def check_switch(**values: bool) -> None:
    """Raise `ValueError` for the first value that is neither True nor False."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise ValueError(f"{name} is {value!r}, but it must be true or false.")


def split_by_hash(key: str, shares: Mapping[str, int]) -> str:
    """The split that `key` belongs to, the same in every process; `shares` are percentages.

    Raises:
        ValueError: the shares add up to less than 100.
    """
    place = int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big") % 100
    for split, share in shares.items():
        place -= share
        if place < 0:
            return split
    raise ValueError(f"the shares {dict(shares)} do not add up to 100 percent.")


def too_few(n: int, found: int, split: str, remedy: str) -> ValueError:
    """The error for more pairs than a split has."""
    return ValueError(
        f"n is {n}, but only {found} pairs of the split {split!r} were found: {remedy}."
    )
