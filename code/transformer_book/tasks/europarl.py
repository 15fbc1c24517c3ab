"""Europarl: what was said in the European Parliament, English and Italian (Koehn 2005), version 7.

1.9 million pairs of lines, one archive of a few hundred MB, fetched once from
[statmt.org](https://www.statmt.org/europarl/) and unpacked. The corpus is not part of the book.

The same task reads any two line-aligned files of your own:

    make_task("europarl", source="de", target="en", source_file="my.de", target_file="my.en")

**Splits.** The corpus has none. A hash of the source decides: 98 % train, 1 % validation, 1 % test.
"Thank you." is said often; whatever its translation and its capitals, it is in one split only.

**Filter.** Pairs with 60 tokens or more on a side are left out, and so are blank lines and
repetitions; on request, also pairs with a word that a list of words lacks. The tokens are those
that training gets. `counts` says how many lines that concerns.
"""

from __future__ import annotations

import os
import random
import secrets
import tarfile
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from gzip import BadGzipFile, GzipFile
from pathlib import Path, PurePosixPath
from typing import ClassVar

from transformer_book.support.arguments import check_choice
from transformer_book.tasks import Options, check_switch, check_whole, split_by_hash, too_few
from transformer_book.tasks.corpora import SKIPPED, Corpus, TextPair
from transformer_book.tasks.downloads import Remote, data_folder, locate
from transformer_book.tokens import SpacyTokenizer, read_lines, uniform

# No hash of it was ever published: gzip's checksum, and the number of lines, have to do.
ARCHIVE = Remote("europarl/it-en.tgz", "https://www.statmt.org/europarl/v7/it-en.tgz")
MEMBERS = {"en": "europarl-v7.it-en.en", "it": "europarl-v7.it-en.it"}
LARGEST = 2 << 30  # bytes of a member, unpacked
SHARES = {"train": 98, "validation": 1, "test": 1}


@dataclass(frozen=True)
class EuroparlTask(Options):
    """Translate speeches, or any two files whose lines belong together. Pairs are `TextPair`s.

    Args:
        source, target: "en" and "it", in either order; with files of your own, two of "de", "en",
            "it".
        source_file, target_file: files of your own, UTF-8 or `.gz`, both or neither.
        shorter_than: tokens that both sides stay below, special tokens not counted.
        source_words, target_words: files with one word a line: pairs with others are left out.
        lowercase: lower-case the tokens; the texts of the pairs keep their case.

    Raises:
        ValueError: a language that the corpus lacks, two equal ones, one file without the other,
            or a value out of range.
    """

    name: ClassVar[str] = "europarl"
    splits: ClassVar[tuple[str, ...]] = tuple(SHARES)

    source: str = "en"
    target: str = "it"
    source_file: str | None = None
    target_file: str | None = None
    shorter_than: int = 60
    source_words: str | None = None
    target_words: str | None = None
    lowercase: bool = False

    def __post_init__(self) -> None:
        for name in ("source_file", "target_file", "source_words", "target_words"):
            value = getattr(self, name)
            if isinstance(value, Path):
                object.__setattr__(self, name, str(value))
            elif value is not None and not isinstance(value, str):
                raise ValueError(f"{name} is {value!r}, but it must be the path of a file.")
        if (self.source_file is None) != (self.target_file is None):
            raise ValueError(
                f"source_file is {self.source_file!r} and target_file is {self.target_file!r}: "
                "give both, or neither for Europarl itself."
            )
        languages = MEMBERS if self.source_file is None else SpacyTokenizer.LANGUAGES
        for side in ("source", "target"):
            check_choice(side, getattr(self, side), languages)
        if self.source == self.target:
            raise ValueError(f"source and target are both {self.source!r}: choose two languages.")
        check_whole(2, shorter_than=self.shorter_than)
        check_switch(lowercase=self.lowercase)

    @cached_property
    def source_tokenizer(self) -> SpacyTokenizer:
        return SpacyTokenizer(self.source, lowercase=self.lowercase)

    @cached_property
    def target_tokenizer(self) -> SpacyTokenizer:
        return SpacyTokenizer(self.target, lowercase=self.lowercase)

    def pairs(self, split: str = "train", n: int = 1000, seed: int = 0) -> list[TextPair]:
        """The first `n` pairs of a split that pass the filter, none twice.

        With seed 0 in the order of the files, which are read as far as that takes; with another
        one shuffled, for which they are read to their end.

        Raises:
            ValueError: an unknown split, `n` below 1, more pairs than there are, or files that
                cannot be downloaded, do not fit together or are damaged.
        """
        check_choice("split", split, self.splits)
        check_whole(1, n=n)
        check_whole(seed=seed)

        def wanted(source: str, target: str) -> bool:
            # In lower case: a tokenizer may lower-case what the task does not.
            return split_by_hash(f"europarl\t{source.lower()}", SHARES) == split

        found: list[TextPair] = []
        for pair in self._corpus.read(wanted):
            found.append(pair)
            if len(found) == n and not seed:
                break
        if len(found) < n:
            remedy = "ask for fewer, or raise shorter_than; `data count` says what was left out"
            raise too_few(n, len(found), split, remedy)
        if seed:
            random.Random(f"europarl {seed}").shuffle(found)
        return found[:n]

    def download(self) -> list[Path]:
        """Fetch and unpack what is missing; returns where the files are.

        Raises:
            ValueError: the corpus cannot be obtained.
            FileNotFoundError: there is no file where `source_file` or `target_file` says.
        """
        files = list(self._files)
        for path in files:
            if not path.exists():
                raise FileNotFoundError(f"There is no file {path}.")
        return files

    def counts(self) -> dict[str, int]:
        """How many pairs of lines of the whole corpus are kept, and how many left out, and why."""
        counts = Counter(dict.fromkeys(("kept", *SKIPPED), 0))
        for _ in self._corpus.read(counts=counts):
            pass
        return dict(counts)

    @property
    def _files(self) -> tuple[Path, Path]:
        if self.source_file is not None:
            return Path(self.source_file), Path(self.target_file)
        unpacked = _unpacked()
        return unpacked[self.source], unpacked[self.target]

    @property
    def _corpus(self) -> Corpus:
        return Corpus(
            *self._files,
            self.source_tokenizer,
            self.target_tokenizer,
            shorter_than=self.shorter_than,
            source_words=_words(self.source_words),
            target_words=_words(self.target_words),
        )


def _words(path: str | None) -> frozenset[str] | None:
    return None if path is None else frozenset(uniform(line).lower() for line in read_lines(path))


def _unpacked() -> dict[str, Path]:
    """Where the two files of the corpus are, after the archive has been unpacked, if need be."""
    folder = data_folder() / "europarl"
    paths = {language: folder / name for language, name in MEMBERS.items()}
    if not all(path.exists() for path in paths.values()):
        unpack(locate(ARCHIVE), paths)
    return paths


def unpack(archive: Path, paths: dict[str, Path]) -> None:
    """Write the members of a `.tgz` that carry the names of `paths`; nothing else of it.

    Their paths in the archive do not affect where they are written. They take their names only
    once the archive has been read to its end and its checksum is right.

    Raises:
        ValueError: the archive is damaged, or lacks a member.
        OSError: the disk is full, or the folder cannot be written to.
    """
    missing = {path.name: path for path in paths.values()}
    written: dict[Path, Path] = {}
    try:
        try:
            # Read once from front to end: the checksum of gzip comes last.
            with GzipFile(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
                for member in tar:
                    place = missing.pop(PurePosixPath(member.name).name, None)
                    if place is None:
                        continue
                    if not member.isreg() or member.size > LARGEST:
                        raise ValueError(f"{archive}: {member.name} is not a file to unpack.")
                    temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
                    written[temporary] = place
                    _copy(tar.extractfile(member), temporary)
                while stream.read(1 << 20):
                    pass
        except (tarfile.TarError, BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(
                f"{archive} is damaged ({error}): delete it, and it is downloaded again."
            ) from error
        if missing:
            raise ValueError(
                f"{archive} does not hold {' and '.join(missing)}: delete it, and it is downloaded "
                "again."
            )
        for temporary, place in written.items():
            os.replace(temporary, place)
    finally:
        for temporary in written:
            temporary.unlink(missing_ok=True)


def _copy(member: object, path: Path) -> None:
    with path.open("xb") as file:
        while block := member.read(1 << 20):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
