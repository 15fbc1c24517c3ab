"""A map of word vectors, beside what the vectors say themselves: who is near to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch.nn.functional as F
import traitlets
from torch import Tensor

from transformer_book.support.arguments import check_choice
from transformer_book.widgets.explorer import Explorer, check_whole, number_list

DIGITS = 4  # of the cosines and places that the page holds
MOST_GROUPS = 4  # that four marks can tell apart
MOST_NEAR = 8


class EmbeddingMap(Explorer):
    r"""Words on a plane: the nearest by cosine, and the nearest on the map.

    A row of a table of embeddings has $D$ numbers, and a map shows two. The page draws lines from
    the chosen word to its nearest by the cosine of the whole rows, and others to those that are
    nearest on the map, and counts how far the two agree. `from_vectors` computes the cosines.

    Neighbours are looked for among the words given, and of equally near ones the first counts as
    nearer. A word that is in no group of a grouping has the group "": it is drawn as a small dot
    and left out where groups are counted.

    Args:
        words: $n$ different words.
        cosines: for each table by its name, the cosines of word `i` with the words before it:
            `n` rows, row `i` with `i` numbers.
        places: for each table `(n, 2)`, where the words stand on its map.
        shares: for each table, the share of the variance that its map shows, 0 to 1.
        groups: for each grouping by its name, the group of each word; at most four groups.
        width: $D$, how many numbers a row has.
        table, grouping: the names of those shown; by default the first.
        word: the number of the chosen word, from 0.
        near: how many neighbours are shown; the default is 5, or all if there are fewer.

    Raises:
        ValueError: if there are fewer than three words, one stands twice, a table lacks a place or
            a share, shapes differ, there are too many groups, or what is chosen does not exist.
    """

    javascript = "embeddings.js"
    label = "Embedding map"

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    cosines = traitlets.Dict().tag(sync=True)
    places = traitlets.Dict().tag(sync=True)
    shares = traitlets.Dict().tag(sync=True)
    groups = traitlets.Dict().tag(sync=True)
    width = traitlets.Int().tag(sync=True)
    table = traitlets.Unicode().tag(sync=True, moved=True)
    grouping = traitlets.Unicode().tag(sync=True, moved=True)
    word = traitlets.Int(0).tag(sync=True, moved=True)
    near = traitlets.Int(5).tag(sync=True, moved=True)

    def __init__(
        self,
        words: Sequence[str],
        cosines: Mapping[str, object],
        places: Mapping[str, object],
        shares: Mapping[str, float],
        groups: Mapping[str, Sequence[str]],
        width: int,
        table: str | None = None,
        grouping: str | None = None,
        word: int = 0,
        near: int | None = None,
    ) -> None:
        words = list(words)
        n = len(words)
        if n < 3:
            raise ValueError(f"words holds {n} words, but a map of neighbours needs 3.")
        if len(set(words)) < n:
            twice = next(each for each in words if words.count(each) > 1)
            raise ValueError(f"words holds {twice!r} twice, but each word must stand once.")
        for what, given in (("places", places), ("shares", shares)):
            if list(given) != list(cosines):
                raise ValueError(
                    f"{what} is of the tables {list(given)}, but cosines of {list(cosines)}: give "
                    "both of the same tables."
                )
        for name, of_words in groups.items():
            if len(of_words) != n:
                raise ValueError(
                    f"groups has {len(of_words)} entries for {name!r}, but there are {n} words."
                )
            different = set(of_words) - {""}
            if not 1 <= len(different) <= MOST_GROUPS:
                raise ValueError(
                    f"groups has {len(different)} groups for {name!r}, but marks tell 1 to "
                    f"{MOST_GROUPS} apart."
                )
        shown = number_list("shares", list(shares.values()), len(shares))
        for name, share in zip(shares, shown, strict=True):
            if not 0 <= share <= 1:
                raise ValueError(f"shares has {share} for {name!r}, but a share lies in 0 to 1.")
        check_whole("width", width, 1, 2**20)
        table = next(iter(cosines), "") if table is None else table
        grouping = next(iter(groups), "") if grouping is None else grouping
        check_choice("table", table, list(cosines))
        check_choice("grouping", grouping, list(groups))
        check_whole("word", word, 0, n - 1)
        near = min(5, n - 1) if near is None else near
        check_whole("near", near, 1, min(MOST_NEAR, n - 1))
        super().__init__(
            words=words,
            cosines={name: _triangle(name, rows, n) for name, rows in cosines.items()},
            places={name: number_list("places", at, n, 2) for name, at in places.items()},
            shares=dict(zip(shares, shown, strict=True)),
            groups={name: list(of_words) for name, of_words in groups.items()},
            width=width,
            table=table,
            grouping=grouping,
            word=word,
            near=near,
        )

    @classmethod
    def from_vectors(
        cls,
        words: Sequence[str],
        vectors: Mapping[str, Tensor],
        places: Mapping[str, Tensor],
        shares: Mapping[str, float],
        groups: Mapping[str, Sequence[str]],
        word: str | None = None,
        **chosen: object,
    ) -> EmbeddingMap:
        """The map of vectors, with their cosines rounded to four digits.

        Args:
            words: $n$ different words.
            vectors: for each table by its name `(n, D)`, the rows of these words.
            places, shares, groups: as the constructor.
            word: the chosen word, as text; by default the first.
            chosen: table, grouping, near.

        Raises:
            ValueError: as the constructor, if there is not one vector for each word, or the chosen
                word is not among them.
        """
        words, cosines = list(words), {}
        for name, rows in vectors.items():
            if rows.dim() != 2 or len(rows) != len(words):
                raise ValueError(
                    f"vectors has the shape {tuple(rows.shape)} for {name!r}, but there are "
                    f"{len(words)} words: one row for each."
                )
            unit = F.normalize(rows.detach().cpu().double(), dim=-1)  # (n, D)
            table = (unit @ unit.T).tolist()
            cosines[name] = [[round(x, DIGITS) for x in row[:i]] for i, row in enumerate(table)]
        rounded = {
            name: at.detach().cpu().double().round(decimals=DIGITS) for name, at in places.items()
        }
        if word is not None:
            check_choice("word", word, words)
        width = next(iter(vectors.values())).size(1) if vectors else 0
        number = 0 if word is None else words.index(word)
        return cls(words, cosines, rounded, shares, groups, width, word=number, **chosen)

    def numbers(self) -> dict[str, object]:
        """The neighbours of the chosen word by cosine and on the map, and how far they agree.

        `neighbours` are the nearest by cosine, with `neighbour_cosines`, `neighbour_groups` and
        `neighbour_places`: how many words stand at most as far away on the map. `on_map` are the
        nearest there, with their `map_cosines` and `map_groups`. `common` is how many are in both,
        `agreement` the mean share of such over all words. `same_by_cosine` and `same_on_map` are
        the shares of words whose nearest other word, of those in a group, is of the same group.
        """
        by_cosine = [self._nearest_by_cosine(i) for i in range(len(self.words))]
        on_map = [self._nearest_on_map(i) for i in range(len(self.words))]
        here, there = by_cosine[self.word][: self.near], on_map[self.word][: self.near]
        groups = self.groups[self.grouping]
        in_both = [
            len(set(a[: self.near]) & set(b[: self.near]))
            for a, b in zip(by_cosine, on_map, strict=True)
        ]
        return {
            "chosen": self.words[self.word],
            "group": groups[self.word] or "in no group",
            "neighbours": [self.words[j] for j in here],
            "neighbour_cosines": [self._cosine(self.word, j) for j in here],
            "neighbour_groups": [groups[j] or "—" for j in here],
            "neighbour_places": [on_map[self.word].index(j) + 1 for j in here],
            "on_map": [self.words[j] for j in there],
            "map_cosines": [self._cosine(self.word, j) for j in there],
            "map_groups": [groups[j] or "—" for j in there],
            "common": in_both[self.word],
            "agreement": 100 * sum(in_both) / (self.near * len(self.words)),
            "same_by_cosine": self._same(by_cosine),
            "same_on_map": self._same(on_map),
            "share": 100 * self.shares[self.table],
            "count": len(self.words),
        }

    def _cosine(self, i: int, j: int) -> float:
        return self.cosines[self.table][max(i, j)][min(i, j)]

    def _nearest_by_cosine(self, i: int) -> list[int]:
        """All other words, the nearest first."""
        others = [j for j in range(len(self.words)) if j != i]
        return sorted(others, key=lambda j: -self._cosine(i, j))

    def _nearest_on_map(self, i: int) -> list[int]:
        places = self.places[self.table]
        (x, y), others = places[i], [j for j in range(len(places)) if j != i]
        # Squares, not roots: Python and JavaScript then agree to the last digit.
        away = [(px - x) * (px - x) + (py - y) * (py - y) for px, py in places]
        return sorted(others, key=lambda j: away[j])

    def _same(self, nearest: list[list[int]]) -> float:
        """Share, in percent, of words whose nearest word in a group is of the same group."""
        groups = self.groups[self.grouping]
        firsts = [
            next((groups[j] for j in nearest[i] if groups[j]), None)
            for i, group in enumerate(groups)
            if group
        ]
        own = [group for group in groups if group]
        return 100 * sum(a == b for a, b in zip(firsts, own, strict=True)) / len(own)


def _triangle(name: str, rows: object, n: int) -> list:
    """The cosines below the diagonal, checked."""
    if not isinstance(rows, Sequence) or [len(row) for row in rows] != list(range(n)):
        raise ValueError(
            f"cosines of {name!r} must be {n} rows, row i with the i cosines with the words "
            "before it; from_vectors computes them."
        )
    return [number_list("cosines", row, i) for i, row in enumerate(rows)]
