"""Line-aligned corpora: line n of one file is the translation of line n of the other.

Real corpora are not tidy. Here is what all of the book's have in common: one spelling for what
looks the same (`tokens.uniform`), lines that cannot be learned from left out and counted
(`Corpus.read`), and pairs that keep their text beside their tokens (`TextPair`), since a model of
subwords reads text.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from transformer_book.tasks import Pair
from transformer_book.tokens import Tokenizer, uniform

SKIPPED = ("blank", "one-sided", "too long", "unknown words", "repeated")
"""Why a line is left out: nothing on either side, nothing on one, and what a filter says."""


@dataclass(frozen=True)
class TextPair(Pair):
    """A pair together with the text that its tokens were made of.

    Attributes:
        source_text, target_text: one line each, see `uniform`; not lower-cased.
    """

    source_text: str
    target_text: str


@dataclass(frozen=True)
class Corpus:
    """Two line-aligned files, and what has to be true of a pair of lines.

    Args:
        source_file, target_file: UTF-8, or the same compressed, ending in `.gz`.
        source_tokenizer, target_tokenizer: the lengths and the words that the filter looks at are
            those of the pairs.
        shorter_than: tokens, special tokens not counted; a pair stays if both sides are shorter,
            and have no more than 40 characters for each of these tokens.
        source_words, target_words: lower-cased; a pair stays if each of its words is among them.
            Numbers and punctuation do not count as words.
        repeats: keep a pair that has come before.
    """

    source_file: Path
    target_file: Path
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    shorter_than: int | None = None
    source_words: Collection[str] | None = None
    target_words: Collection[str] | None = None
    repeats: bool = False

    def read(
        self,
        wanted: Callable[[str, str], bool] | None = None,
        counts: Counter[str] | None = None,
    ) -> Iterator[TextPair]:
        """The pairs, in the order of the files, as far as they are asked for.

        Args:
            wanted: pairs of texts for which this is false are passed over, and not counted.
            counts: is told how many lines were kept ("kept") or left out, and why (`SKIPPED`).

        Raises:
            ValueError: the files have different numbers of lines, one is empty, or one is not
                UTF-8 (which line) or not a whole `.gz`.
            FileNotFoundError: there is no such file.
        """
        counts = Counter() if counts is None else counts
        seen: set[int] = set()
        for source, target in self.lines():
            if wanted is not None and not wanted(source, target):
                continue
            pair = self._tokens(source, target)
            if isinstance(pair, TextPair) and not self.repeats:
                key = hash((source, target))  # of two texts: 8 bytes for a pair, not 300
                pair = "repeated" if key in seen else pair
                seen.add(key)
            counts[pair if isinstance(pair, str) else "kept"] += 1
            if isinstance(pair, TextPair):
                yield pair

    def lines(self) -> Iterator[tuple[str, str]]:
        """All pairs of lines, made `uniform`; raises as `read` does."""
        # Before the first pair: a line that is missing somewhere shifts all behind it.
        numbers = [_count_lines(path) for path in (self.source_file, self.target_file)]
        if numbers[0] != numbers[1]:
            raise ValueError(
                f"{self.source_file} has {numbers[0]:,} lines and {self.target_file} "
                f"{numbers[1]:,}, but line n of one must be the translation of line n of the other."
            )
        sides = (_lines(path) for path in (self.source_file, self.target_file))
        for source, target in zip(*sides, strict=True):
            yield uniform(source), uniform(target)

    def _tokens(self, source: str, target: str) -> TextPair | str:
        """The pair, or why there is none."""
        if not source or not target:
            return "one-sided" if source or target else "blank"
        limit = self.shorter_than
        # Each word is at least one token, and no text has 40 characters to a token: no need to
        # split ten thousand words, or one that is a file by mistake.
        if limit is not None and (
            max(source.count(" "), target.count(" ")) + 1 >= limit
            or max(len(source), len(target)) > 40 * limit
        ):
            return "too long"
        sides = [tuple(self.source_tokenizer(source)), tuple(self.target_tokenizer(target))]
        if not all(sides):
            return "one-sided" if any(sides) else "blank"
        if limit is not None and max(map(len, sides)) >= limit:
            return "too long"
        for tokens, words in zip(sides, (self.source_words, self.target_words), strict=True):
            if words is not None and not all(t.lower() in words for t in tokens if _is_word(t)):
                return "unknown words"
        return TextPair(*sides, source, target)


def _is_word(token: str) -> bool:
    return any(map(str.isalpha, token))


def _count_lines(path: Path) -> int:
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(f"{path} can be read only once; copy it into a file.")
    n, last = 0, b""
    with _opened(path) as file:
        while block := file.read(1 << 20):
            n, last = n + block.count(b"\n"), block
    if not last:
        raise ValueError(f"{path} is empty.")
    return n + (not last.endswith(b"\n"))


def _lines(path: Path) -> Iterator[str]:
    with _opened(path) as file:
        for number, line in enumerate(file, 1):  # only a line feed ends a line
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(f"{path} is not valid UTF-8: see line {number}.") from error


class _opened:
    """A file for reading, unpacked if need be; what is wrong with the packing is a `ValueError`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self):
        self.file = gzip.open(self.path) if self.path.suffix == ".gz" else self.path.open("rb")
        return self.file

    def __exit__(self, kind: object, error: object, _: object) -> None:
        self.file.close()
        if isinstance(error, gzip.BadGzipFile | EOFError | zlib.error):
            raise ValueError(f"{self.path} is damaged, or no gzip file: {error}.") from error
