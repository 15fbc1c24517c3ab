"""Small corpora in the place of those that would have to be downloaded.

The sentences say nothing; their words correspond one to one, so that a model can learn from them.
"""

from __future__ import annotations

import gzip
import importlib
import random
from pathlib import Path

import pytest

WORDS = {
    "en": ("dog cat child house tree river bread book hill lamp", "sees finds paints wants"),
    "de": (
        "Hund Kater Junge Palast Baum Fluss Kuchen Roman Berg Leuchter",
        "sieht findet malt will",
    ),
    "it": (
        "cane gatto bimbo palazzo pino fiume dolce libro monte lume",
        "vede trova dipinge vuole",
    ),
}
THE = {"en": "the", "de": "der", "it": "il"}


def sentences(n: int, seed: int, *languages: str) -> list[tuple[str, ...]]:
    """Distinct sentences, each in all the languages."""
    rng = random.Random(seed)
    found: dict[tuple[str, ...], None] = {}
    while len(found) < n:
        subject, thing, place = (rng.randrange(10) for _ in range(3))
        verb, number = rng.randrange(4), rng.randrange(100)
        found[tuple(_sentence(one, subject, verb, number, thing, place) for one in languages)] = (
            None
        )
    return list(found)


def _sentence(language: str, subject: int, verb: int, number: int, thing: int, place: int) -> str:
    nouns, verbs = map(str.split, WORDS[language])
    the = THE[language]
    text = f"{the} {nouns[subject]} {verbs[verb]} {number} , {the} {nouns[thing]} {nouns[place]} ."
    return (text[0].upper() + text[1:]).replace(" ,", ",").replace(" .", ".")


def write_lines(path: Path, lines: list[str]) -> None:
    """UTF-8, packed if the name ends in `.gz`."""
    data = "".join(f"{line}\n" for line in lines).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def write_corpora(folder: Path) -> None:
    """All corpora of the book, made up."""
    every = iter(sentences(400, 1, "de", "en"))
    for split, n in (("train", 240), ("val", 80), ("test_2016_flickr", 80)):
        pairs = [next(every) for _ in range(n)]
        for language, side in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            write_lines(folder / "multi30k" / f"{split}.{language}.gz", list(side))
    for language, side in zip(
        ("en", "it"), zip(*sentences(8000, 2, "en", "it"), strict=True), strict=True
    ):
        write_lines(folder / "europarl" / f"europarl-v7.it-en.{language}", list(side))
    from transformer_book.tasks import make_task

    task = make_task("series", size="two-terms")
    pairs = [("".join(pair.source), "".join(pair.target)) for pair in task.pairs(n=2200)]
    pairs = [f"{source}|{target}" for source, target in pairs if len(target) < 80]
    write_lines(folder / "taylor-two-terms" / "pairs.txt.gz", pairs[:1600])


def provide(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the tasks, as they are imported now, read these corpora."""
    patch.setenv("TRANSFORMER_BOOK_DATA", str(folder))
    downloads, multi30k, public = (
        importlib.import_module(f"transformer_book.tasks.{name}")
        for name in ("downloads", "multi30k", "series.public")
    )
    files = {key: (name, None, None) for key, (name, *_) in multi30k.FILES.items()}
    patch.setattr(multi30k, "FILES", files)
    for name in ("PACKED", "TEXT"):
        path = getattr(public, name).path
        patch.setattr(public, name, downloads.Remote(path, "http://nowhere.invalid/"))
