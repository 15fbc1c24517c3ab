"""The tokenizer of Llama 2, Mistral and Gemma: merges by score, bytes for what is unknown.

The library `sentencepiece` trains it; a GGUF file has its pieces, scores and kinds (chapter 28).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby

# The kinds of a piece, by their numbers in the file.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = KINDS = range(1, 7)
SPACE = "▁"  # what is written for a space

# Bytes that are no character become a mark each; Python's own "replace" joins some of them.
codecs.register_error("each byte", lambda e: ("\ufffd" * (e.end - e.start), e.end))


@dataclass(frozen=True)
class Encoded:
    """A text in pieces.

    Attributes:
        ids: one for each piece.
        tokens: how each is written.
    """

    ids: list[int]
    tokens: list[str]


class SentencePiece:
    """Text to ids and back by the merges of `sentencepiece`: its BPE, with byte fallback.

    Spaces become `▁`, and one is put in front. Of all neighbours whose join is a piece, those with
    the highest score are joined, the leftmost first, until there are none. A character that is no
    piece becomes its bytes. So scores are ranks: of the join, not of the pair.

    A control piece that is written in a text, such as `</s>`, is this piece, and what follows it is
    a text with a space in front again, as in llama.cpp; `sentencepiece` takes it for characters.

    Args:
        pieces: how each is written, by id.
        scores: one for each piece, whole numbers.
        kinds: one for each piece.
        begin: the id of a piece in front of each text; `None`: there is none.
        space_prefix: whether a space is put in front.

    Raises:
        ValueError: the lengths differ; a piece is there twice, or of an unknown kind; a byte has no
            piece; a score is no whole number, as those of a unigram model are.

    Source: Kudo and Richardson (2018), and the program that they describe.
    """

    def __init__(
        self,
        pieces: Sequence[str],
        scores: Sequence[float],
        kinds: Sequence[int],
        begin: int | None = None,
        space_prefix: bool = True,
    ) -> None:
        if not len(pieces) == len(scores) == len(kinds):
            raise ValueError(
                f"it has {len(pieces)} pieces, {len(scores)} scores and {len(kinds)} kinds"
            )
        if begin is not None and not 0 <= begin < len(pieces):
            raise ValueError(f"the piece in front of a text has the id {begin} of {len(pieces)}")
        self.pieces, self.kinds, self.scores = pieces, kinds, scores
        self.begin, self.space_prefix = begin, space_prefix
        ids = {kind: {p: i for i, p in enumerate(pieces) if kinds[i] == kind} for kind in KINDS}
        self.joins = ids[NORMAL] | ids[USER_DEFINED] | ids[UNUSED]
        if len(self.joins) + sum(len(ids[k]) for k in (UNKNOWN, CONTROL, BYTE)) < len(pieces):
            raise ValueError("a piece is there twice, or of a kind that is not known")
        if not all(float(scores[i]).is_integer() for i in ids[NORMAL].values()):
            raise ValueError("its scores are no whole numbers, so they are not those of merges")
        self.bytes = [ids[BYTE].get(f"<0x{byte:02X}>", -1) for byte in range(256)]
        if -1 in self.bytes or len(ids[BYTE]) > 256:
            raise ValueError("it has not one piece for each byte")
        self.control, self.user_defined = ids[CONTROL], ids[USER_DEFINED]
        self._control, self._user_defined = _any_of(self.control), _any_of(self.user_defined)

    def get_vocab_size(self) -> int:
        """How many pieces there are."""
        return len(self.pieces)

    def encode(self, text: str) -> Encoded:
        """The pieces of a text, with that in front of it."""
        ids = [] if self.begin is None else [self.begin]
        for part in self._control.split(text):
            if part in self.control:
                ids.append(self.control[part])
            elif part:
                ids += self._without_control(SPACE * self.space_prefix + part.replace(" ", SPACE))
        return Encoded(ids, [self.pieces[i] for i in ids])

    def _without_control(self, text: str) -> list[int]:
        ids: list[int] = []
        for part in self._user_defined.split(text):
            pieces = [part] if part in self.user_defined else self._merged(part)
            for piece in pieces:
                found = self.joins.get(piece)
                if found is None or self.kinds[found] == UNUSED:
                    ids += [self.bytes[byte] for byte in piece.encode()]
                else:
                    ids.append(found)
        return ids

    def _merged(self, text: str) -> list[str]:
        """The pieces after all merges; an unused one in the parts that it was joined from."""
        at, end = list(text), len(text)
        before, after = list(range(-1, end - 1)), list(range(1, end + 1))
        halves: dict[str, tuple[str, str]] = {}
        waiting: list[tuple[float, int, str]] = []

        def meet(left: int) -> None:
            if left < 0 or after[left] == end:
                return
            pair = at[left], at[after[left]]
            found = self.joins.get("".join(pair))
            if found is not None:
                heappush(waiting, (-self.scores[found], left, "".join(pair)))
                if self.kinds[found] == UNUSED:
                    halves["".join(pair)] = pair

        for left in range(end):
            meet(left)
        while waiting:
            _, left, join = heappop(waiting)
            right = after[left]
            if not at[left] or right == end or at[left] + at[right] != join:
                continue  # one of the two has been joined with another since
            at[left], at[right] = join, ""
            after[left] = after[right]
            if after[left] < end:
                before[after[left]] = left
            meet(left)
            meet(before[left])

        def used(piece: str) -> list[str]:
            return [p for half in halves[piece] for p in used(half)] if piece in halves else [piece]

        return [used_piece for piece in at if piece for used_piece in used(piece)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some pieces, without the space in front; control pieces are not written."""
        runs = groupby(ids, lambda i: self.kinds[i] == CONTROL)
        text = "".join(
            b"".join(map(self._written, run)).decode(errors="each byte")
            for control, run in runs
            if not control
        )
        first = next((i for i in ids if self.kinds[i] != CONTROL), None)
        spaced = first is not None and self.pieces[first].startswith(SPACE)
        return text[1:] if spaced and self.space_prefix else text

    def _written(self, i: int) -> bytes:
        if self.kinds[i] == BYTE:
            return bytes([int(self.pieces[i][1:-1], 16)])
        return (
            " \u2047 " if self.kinds[i] == UNKNOWN else self.pieces[i].replace(SPACE, " ")
        ).encode()


def _any_of(pieces: Iterable[str]) -> re.Pattern[str]:
    """What cuts a text at these pieces, the longest first, and keeps them; with none, nowhere."""
    longest = sorted(map(re.escape, pieces), key=len, reverse=True)
    return re.compile(f"({'|'.join(longest)})" if longest else r"(?!)")
