"""Which words a model met often enough in training to know them; the others it guesses.

A tokenizer of subwords spells any word, so no word is `<unk>`; but a word that training never
showed is a row of pieces that were never seen together, and its translation is a guess. A model's
folder says which words were seen, in `known_words.json`: a vocabulary of each side, no text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_book.support.atomic_files import read_json, write_json
from transformer_book.tokens import uniform

FILE = "known_words.json"
LEAST = 3
WORD = re.compile(r"[^\W_]+")  # a run of letters and digits


@dataclass(frozen=True)
class KnownWords:
    """The words of the training split, of each side, that stand there at least `least` times.

    A word is a run of letters and digits, whatever stands around it. Capitals count, unless the
    model reads lower case only.

    Attributes:
        source, target: the words of each side.
        lowercase: whether they are in lower case, as the model reads and writes.
        least: how often a word has to occur to be known.
    """

    source: frozenset[str]
    target: frozenset[str]
    lowercase: bool = False
    least: int = LEAST

    @classmethod
    def build(
        cls,
        sources: Iterable[str],
        targets: Iterable[str],
        *,
        lowercase: bool = False,
        least: int = LEAST,
    ) -> KnownWords:
        """Count the words of the training split, and of no other."""
        nothing = cls(frozenset(), frozenset(), lowercase, least)
        known = []
        for texts in (sources, targets):
            counts = Counter(nothing._spelled(word) for text in texts for word in words(text))
            known.append(frozenset(word for word, n in counts.items() if n >= least))
        return cls(*known, lowercase, least)

    def save(self, path: str | Path) -> None:
        """Write the words as JSON; an existing file is replaced whole or not at all."""
        sides = {"source": sorted(self.source), "target": sorted(self.target)}
        write_json(path, {"least": self.least, "lowercase": self.lowercase, **sides})

    @classmethod
    def load(cls, path: str | Path) -> KnownWords:
        """Read what `save` wrote.

        Raises:
            ValueError: the file holds something else.
        """
        data = read_json(path)
        try:
            sides = [data[side] for side in ("source", "target")]
            lowercase, least = data["lowercase"], data["least"]
            if not all(isinstance(w, list) and all(isinstance(x, str) for x in w) for w in sides):
                raise TypeError("its words are not two lists of strings")
            if not isinstance(lowercase, bool) or not isinstance(least, int):
                raise TypeError(f"lowercase is {lowercase!r}, least is {least!r}")
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"{path} does not hold words written by KnownWords.save: {error}"
            ) from error
        return cls(*map(frozenset, sides), lowercase, least)

    def rare(self, text: str) -> tuple[str, ...]:
        """The words of a source text that training seldom or never met, as written, each once."""
        return tuple(dict.fromkeys(w for w in words(text) if self._spelled(w) not in self.source))

    def found(
        self, translations: Sequence[str], references: Sequence[str]
    ) -> tuple[list[bool], list[bool]]:
        """Whether the words of references are in the translations: the rare ones, and all others.

        A word that stands twice in a reference must stand twice in its translation.

        Raises:
            ValueError: there are more of the ones than of the others.
        """
        rare: list[bool] = []
        others: list[bool] = []
        for translation, reference in zip(translations, references, strict=True):
            left = Counter(map(self._spelled, words(translation)))
            for word in map(self._spelled, words(reference)):
                (others if word in self.target else rare).append(left[word] > 0)
                left[word] -= 1
        return rare, others

    def _spelled(self, word: str) -> str:
        return word.lower() if self.lowercase else word


def words(text: str) -> list[str]:
    """The runs of letters and digits in a text, which is made `uniform` first.

    >>> words("Zwei U-Bahnen, 3 km!")
    ['Zwei', 'U', 'Bahnen', '3', 'km']
    """
    return WORD.findall(uniform(text))
