"""From text to numbers and back: tokenizers, and the vocabulary that gives every token its id.

Chapter 2. A tokenizer splits a text into tokens and puts tokens together again. A `Vocabulary`
maps tokens to the integers that the embedding of chapter 4 looks up.

spaCy and `tokenizers` are imported where they are used: a model that splits its text into
subwords never waits for spaCy.
"""

from __future__ import annotations

import json
import operator
import random
import re
import reprlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, SupportsIndex, runtime_checkable

from transformer_book.support.arguments import check_choice
from transformer_book.support.atomic_files import read_json, write_json

PAD, SOS, EOS, UNK = 0, 1, 2, 3
LONGEST_WORD = 256  # characters; anything longer is not a word, and merging takes quadratic time
SPECIALS = ("<pad>", "<sos>", "<eos>", "<unk>")


# Invisible, but part of the word where they stand: some scripts, and emoji, need them.
_JOINERS = "\u200c\u200d"


def uniform(line: str) -> str:
    """One spelling for what looks the same: composed Unicode (NFC), single spaces between words.

    Control characters count as spaces. Characters that only format, such as a byte order mark or a
    soft hyphen, are dropped.

    >>> uniform(" Ein\\tZu\\u0308g\\x00f\\xe4hrt.\\ufeff ")
    'Ein Züg fährt.'
    """
    line = unicodedata.normalize("NFC", line).strip()  # the line break is not printable
    if not line.isprintable():  # few lines
        line = unicodedata.normalize("NFC", "".join(map(_printable, line)))
    return " ".join(line.split())


def _printable(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cc":
        return " "
    return "" if category == "Cf" and character not in _JOINERS else character


def brief(shown: str, end: str = "") -> str:
    """A text as a sentence may quote it: at most 80 characters, `end` the last of a shorter one."""
    return shown if len(shown) <= 80 else f"{shown[: 77 - len(end)]}...{end}"


# --- tokenizers -----------------------------------------------------------------------------------


@runtime_checkable
class Tokenizer(Protocol):
    """What every tokenizer can do."""

    def __call__(self, text: str) -> list[str]:
        """Split a text into tokens."""

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Put tokens together again."""

    def to_dict(self) -> dict[str, Any]:
        """Everything `tokenizer_from_dict` needs to make this tokenizer again."""


@cache
def _spacy_rules(language: str) -> Callable[[str], Any]:
    """spaCy's own tokenizer: made once, which takes a tenth of a second, and never changed."""
    import spacy

    return spacy.blank(language).tokenizer


class SpacyTokenizer:
    """Words and punctuation marks by spaCy's rules for one language. Downloads nothing.

    The text is brought into Unicode's composed form (NFC) first, so that "é" is one token however
    it was typed; white space separates tokens and is dropped. With `lowercase`, tokens are
    lower-cased after the splitting, since spaCy's rules for abbreviations look at the case.

    Raises:
        ValueError: `language` is none of `SpacyTokenizer.LANGUAGES`.
    """

    LANGUAGES = ("de", "en", "it")
    _TOO_LONG = re.compile(rf"\S{{{LONGEST_WORD}}}(?=\S)")  # spaCy's time is quadratic, too

    def __init__(self, language: str, lowercase: bool = False):
        check_choice("language", language, self.LANGUAGES)
        self.language = language
        self.lowercase = lowercase
        self._split = _spacy_rules(language)

    def __call__(self, text: str) -> list[str]:
        text = self._TOO_LONG.sub(r"\g<0> ", unicodedata.normalize("NFC", text))
        tokens = [t.text for t in self._split(text) if not t.is_space]
        return [token.lower() for token in tokens] if self.lowercase else tokens

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Join tokens with the spacing of the language: `["Do", "n't", "!"]` → `"Don't!"`.

        Tokens do not record where the spaces were, so this follows rules: ordinary sentences come
        back exactly, unusual spacing (" - " in English, say) comes back as the usual one.
        """
        text, glued, open_quotes = "", True, set[str]()
        for i, token in enumerate(tokens):
            left, right = self._attaches(tokens, i, open_quotes)
            text += token if glued or left else " " + token
            glued = right
        return text

    def _attaches(self, tokens: Sequence[str], i: int, open_quotes: set[str]) -> tuple[bool, bool]:
        """Does token i attach to the token on its left, and to the one on its right?"""
        token = tokens[i]
        before = tokens[i - 1] if i > 0 else ""
        after = tokens[i + 1] if i + 1 < len(tokens) else ""
        if token in _QUOTES:
            # A straight quote looks the same at both ends: the second one closes the first.
            kind = _QUOTES[token]
            if kind in open_quotes:
                open_quotes.remove(kind)
                return True, False
            if kind == "'" and "'" not in tokens[i + 1 :]:
                return True, False  # an apostrophe: the boys' hats, Hans' Haus
            open_quotes.add(kind)
            return False, True
        if token in _OPENING[self.language]:
            return False, True
        if token in _CLOSING[self.language]:
            return True, False
        if token in _JOINING[self.language]:
            joins = bool(before and after) and before[-1].isalnum() and after[0].isalnum()
            return joins, joins
        if self.language == "en":
            word, pair = token.lower(), (before.lower(), token.lower())
            left = word in _ENGLISH_ENDINGS or pair in _ENGLISH_PAIRS
            return left, word == "y'" or (token in "$£€" and after[:1].isdigit())
        if self.language == "it":
            elided = len(token) > 1 and token[-1] in "'’" and token[-2].isalpha()
            whole = token[:-1].lower() in _ITALIAN_CLIPPED
            return False, elided and not whole and after[:1].isalnum()
        return False, False

    def to_dict(self) -> dict[str, Any]:
        return {"type": "spacy", "language": self.language, "lowercase": self.lowercase}


# How tokens attach to their neighbours. `_JOINING` tokens stand between two words without spaces;
# German keeps "U-Bahn" in one token, so a hyphen that stands alone there is a dash.
_QUOTES = {'"': '"', "'": "'", "«": "«", "»": "«"}
_OPENING = {"de": set("([{„‚¿¡#"), "en": set("([{“‘¿¡#"), "it": set("([{“‘¿¡#")}
_ENDS = {*".,;:!?…)]}”’°", "..."}
_CLOSING = {"de": _ENDS | {"“", "‘"}, "en": _ENDS | {"%"}, "it": _ENDS | {"%"}}
_JOINING = {"de": {"/"}, "en": {"/", "-", "—"}, "it": {"/", "-"}}
_ENGLISH_ENDINGS = {"n't", "'s", "'m", "'re", "'ve", "'ll", "'d", "nt"}
_ENGLISH_ENDINGS |= {ending.replace("'", "’") for ending in _ENGLISH_ENDINGS}
_ENGLISH_PAIRS = {("can", "not"), ("gon", "na"), ("wan", "na"), ("got", "ta")}
# Clipped words end in an apostrophe too, but a space follows: un po' di pane.
_ITALIAN_CLIPPED = {"po", "mo", "be", "va", "fa", "sta", "da", "di", "to"}


class MathTokenizer:
    """Expressions in Python's notation, such as `exp(3*a*x)/b**2`, and their Taylor series.

    Tokens are `O(x**6)` as a whole, `**`, function names, single letters, single digits, and
    `+ - * / ( ) ,`. White space is ignored. `detokenize` is concatenation, exact for every text
    without white space.

    Raises:
        ValueError: the text holds anything else, two operands with no operator between them, such
            as `2x` or `(a)(b)`, or a `*` after another that is not `**`.
    """

    FUNCTIONS = ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "log", "sqrt")
    GRAMMAR = (
        f"functions ({' '.join(FUNCTIONS)}), single letters a-z, digits 0-9, + - * ** / ( ) , "
        "and an order term such as O(x**6)"
    )
    _PIECE = re.compile(
        r"(?P<space>\s+)|(?P<order>O\s*\(\s*x\s*\*\*\s*[0-9]+\s*\))"
        r"|(?P<number>[0-9]+)|(?P<word>[A-Za-z]+)|(?P<operator>\*\*|[-+*/(),])|(?P<other>.)",
        re.DOTALL,
    )

    def __call__(self, text: str) -> list[str]:
        tokens: list[str] = []
        after_operand = False
        for match in self._PIECE.finditer(text):
            kind, piece = match.lastgroup, match.group()
            if kind == "space":
                continue
            known = piece in self.FUNCTIONS or (len(piece) == 1 and piece.islower())
            if kind == "other" or (kind == "word" and not known):
                raise self._error(piece, match.start(), "is not in the grammar")
            # "2 3" and "a * * b" would come back from `detokenize` as "23" and "a**b".
            last = tokens[-1] if tokens else ""
            opens = piece == "(" and last not in self.FUNCTIONS
            if after_operand and (kind != "operator" or opens):
                raise self._error(piece, match.start(), "needs an operator before it")
            if piece.startswith("*") and last.endswith("*"):
                raise self._error(piece, match.start(), f"cannot follow {last!r}")
            after_operand = kind != "operator" or piece == ")"
            if kind == "order":
                piece = "".join(piece.split())
            tokens.extend(piece if kind == "number" else [piece])
        return tokens

    def _error(self, piece: str, position: int, problem: str) -> ValueError:
        shown = brief(repr(piece), "'")
        return ValueError(
            f"{shown} at position {position} (counted from 0) {problem}; "
            f"the grammar admits {self.GRAMMAR}."
        )

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Concatenate the tokens."""
        return "".join(tokens)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "math"}


class SpaceTokenizer:
    """Tokens are what stands between white space: for texts that are split already.

    `detokenize` joins the tokens with single spaces.
    """

    def __call__(self, text: str) -> list[str]:
        return text.split()

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Join the tokens with single spaces."""
        return " ".join(tokens)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "space"}


class SubwordTokenizer:
    """Byte-pair encoding (Sennrich et al. 2016): frequent words whole, rare words in pieces.

    Every space becomes ▁, and one more ▁ marks the start of the text, so that a piece knows whether
    it begins a word; punctuation is split from words. Each word starts as single characters, and
    the learned merges join neighbours, the one learned first before the others. (What is longer
    than `LONGEST_WORD` is cut into such lengths before: it is no word.) Joining the pieces again
    loses nothing, not even a space, except that the text comes back in Unicode's composed form
    (NFC) and that a ▁ in the text reads as a space. A character outside the alphabet stays a piece
    of its own, which a `Vocabulary` maps to `<unk>`.

    `SubwordTokenizer.train` learns the merges; for two languages that share one vocabulary, train
    on the texts of both.

    Args:
        alphabet: the characters that occurred in training.
        merges: `"left right"` for each merge, in the order learned.
        lowercase: lower-case the text first.
        dropout: probability with which each possible merge is passed over (BPE-dropout, Provilkov
            et al. 2020), so that training meets a word in several spellings. Drawn from `rng`,
            a `random.Random`: seed it to repeat the draws. 0 at inference: it is not saved.
            A `PairDataset` encodes once; make a new one for each epoch to draw again.

    Raises:
        ValueError: dropout outside [0, 1), or a merge of pieces that do not exist.
    """

    # A word with the mark before it, or a run of punctuation, or a mark alone: covers any text.
    _WORD = re.compile(r"▁?\w+|▁?[^\w▁]+|▁")

    def __init__(
        self,
        alphabet: Iterable[str],
        merges: Iterable[str],
        *,
        lowercase: bool = False,
        dropout: float = 0.0,
    ):
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout is {dropout}, but must be at least 0 and below 1.")
        self.alphabet = "".join(sorted({"▁", *alphabet}))
        self.merges = list(merges)
        self.lowercase = lowercase
        self.dropout = dropout
        self.rng = random.Random(0)
        pieces = dict.fromkeys(self.alphabet)  # a set that keeps its order
        for i, merge in enumerate(self.merges):
            left, _, right = merge.partition(" ")
            if left not in pieces or right not in pieces:
                raise ValueError(f"merge {i} is {merge!r}, but one of the two is not a piece yet.")
            pieces[left + right] = None
        self.pieces = list(pieces)
        self._rank = {tuple(merge.split(" ")): i for i, merge in enumerate(self.merges)}
        self._known: dict[str, list[str]] = {}

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        min_frequency: int = 2,
        lowercase: bool = False,
        dropout: float = 0.0,
    ) -> SubwordTokenizer:
        """Learn merges from the training split until `Vocabulary(pieces)` has `vocab_size` entries.

        There are fewer where no pair occurs `min_frequency` times any more. The same texts give
        the same merges.

        Raises:
            ValueError: no text, a string in place of a list of texts, `min_frequency` below 1, or a
                `vocab_size` too small for the alphabet and the special tokens.
        """
        _reject_text(texts, "texts", "pass a list of texts")
        _check_min_frequency(min_frequency)
        from tokenizers import Tokenizer, models, trainers

        untrained = cls("", [], lowercase=lowercase)
        words = [untrained._words(text) for text in texts]
        alphabet = {character for sentence in words for word in sentence for character in word}
        if not alphabet:
            raise ValueError("there is no text to learn subwords from.")
        smallest = len(alphabet | {"▁"}) + len(SPECIALS)
        if vocab_size < smallest:
            raise ValueError(
                f"vocab_size is {vocab_size}, but the {smallest - len(SPECIALS)} characters of the "
                f"texts and the {len(SPECIALS)} special tokens need at least {smallest}."
            )
        model = Tokenizer(models.BPE())
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size - len(SPECIALS),
            min_frequency=min_frequency,
            initial_alphabet=["▁"],
            show_progress=False,
        )
        model.train_from_iterator(words, trainer)
        merges = [" ".join(pair) for pair in json.loads(model.to_str())["model"]["merges"]]
        return cls(alphabet, merges, lowercase=lowercase, dropout=dropout)

    def __call__(self, text: str) -> list[str]:
        return [piece for word in self._words(text) for piece in self._split(word)]

    def _words(self, text: str) -> list[str]:
        text = unicodedata.normalize("NFC", text.lower() if self.lowercase else text)
        return self._WORD.findall("▁" + text.replace(" ", "▁")) if text else []

    def _split(self, word: str) -> list[str]:
        if len(word) > LONGEST_WORD:
            parts = range(0, len(word), LONGEST_WORD)
            return [piece for i in parts for piece in self._split(word[i : i + LONGEST_WORD])]
        if self.dropout:
            return self._merge(word)
        if word not in self._known:
            self._known[word] = self._merge(word)
        return self._known[word]

    def _merge(self, word: str) -> list[str]:
        pieces = list(word)
        while True:
            possible = [
                (self._rank[pair], i)
                for i, pair in enumerate(pairwise(pieces))
                if pair in self._rank and not (self.dropout and self.rng.random() < self.dropout)
            ]
            if not possible:
                return pieces
            _, i = min(possible)
            pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Join the pieces, turn ▁ into spaces, and drop the one that marked the start."""
        return "".join(tokens).replace("▁", " ").removeprefix(" ")

    def to_dict(self) -> dict[str, Any]:
        return {
            "type": "subword",
            "lowercase": self.lowercase,
            "alphabet": self.alphabet,
            "merges": self.merges,
        }

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as JSON; an existing file is replaced whole or not at all."""
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> SubwordTokenizer:
        """Read what `save` wrote.

        Raises:
            ValueError: the file is not a subword tokenizer.
        """
        data = read_json(path)
        if not isinstance(data, dict) or data.get("type") != "subword":
            raise ValueError(f"{path} is not a subword tokenizer written by SubwordTokenizer.save.")
        return tokenizer_from_dict(data)


TOKENIZERS = {
    "spacy": SpacyTokenizer,
    "math": MathTokenizer,
    "subword": SubwordTokenizer,
    "space": SpaceTokenizer,
}


def tokenizer_from_dict(data: Mapping[str, Any]) -> Tokenizer:
    """Make the tokenizer that `to_dict` described, such as one recorded in a model's config.json.

    Raises:
        ValueError: not a dictionary, an unknown type, or options that the type does not have.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{data!r} does not describe a tokenizer: that takes a dictionary.")
    options = dict(data)
    kind = options.pop("type", None)
    check_choice("tokenizer type", kind, TOKENIZERS)
    try:
        return TOKENIZERS[kind](**options)
    except (TypeError, AttributeError) as error:
        raise ValueError(f"these are not the options of a {kind!r} tokenizer: {error}") from error


# --- vocabulary -----------------------------------------------------------------------------------


class Vocabulary:
    """Numbers the tokens: `<pad>`=0, `<sos>`=1, `<eos>`=2, `<unk>`=3, then `tokens` from 4 on.

    Build it from the **training split only** (`Vocabulary.build`): a vocabulary that has seen the
    test set hides how the model meets unknown words.

    Attributes:
        tokens: the token of each id, special tokens included.
        counts: how often each token occurred in the corpus it was built from (a `Counter`).

    Raises:
        ValueError: a token occurs twice, is spelled like a special token, or is not a string, or
            a count is not a whole number.
    """

    def __init__(self, tokens: Iterable[str], counts: Mapping[str, int] | None = None):
        _reject_text(tokens, "tokens")
        self.tokens = [*SPECIALS, *tokens]
        self.counts = _check_counts({} if counts is None else counts)
        self._ids: dict[str, int] = {}
        for i, token in enumerate(self.tokens):
            if _check_token(token) in self._ids:
                raise ValueError(
                    f"token {token!r} would have the ids {self._ids[token]} and {i}: every token "
                    f"is listed once, and {' '.join(SPECIALS)} are always there."
                )
            self._ids[token] = i

    @classmethod
    def build(
        cls,
        token_lists: Iterable[Iterable[str]],
        min_frequency: int = 1,
        max_size: int | None = None,
    ) -> Vocabulary:
        """Collect the tokens of the training split, the most frequent first, equals by spelling.

        Args:
            token_lists: one list of tokens for each sentence of the training split.
            min_frequency: a token that occurs less often becomes `<unk>`.
            max_size: the largest `len(vocabulary)`, the four special tokens included.

        Raises:
            ValueError: no tokens, none frequent enough, a token that is not a string, a string in
                place of a list of tokens, `min_frequency` below 1, or no room for a token within
                `max_size`.
        """
        _check_min_frequency(min_frequency)
        if max_size is not None and max_size <= len(SPECIALS):
            raise ValueError(
                f"max_size is {max_size}, but the {len(SPECIALS)} special tokens and one more "
                f"need at least {len(SPECIALS) + 1}."
            )
        frequencies: Counter[str] = Counter()
        for i, tokens in enumerate(token_lists):
            _reject_text(tokens, f"token_lists[{i}]")
            frequencies.update(map(_check_token, tokens))
        for special in SPECIALS:  # a text may hold the letters "<eos>"; they mean nothing special
            frequencies.pop(special, None)
        if not frequencies:
            raise ValueError("the corpus is empty: there is no token to build a vocabulary from.")
        kept = [item for item in frequencies.items() if item[1] >= min_frequency]
        if not kept:
            raise ValueError(
                f"no token occurs {min_frequency} times (the most frequent one "
                f"{max(frequencies.values())} times): choose a smaller min_frequency."
            )
        kept.sort(key=lambda item: (-item[1], item[0]))
        if max_size is not None:
            kept = kept[: max_size - len(SPECIALS)]
        return cls([token for token, _ in kept], dict(kept))

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The id of each token, `<unk>` for an unknown one. Adds no special tokens.

        A token of the text that happens to be spelled `<eos>` is text, not the end: it becomes
        `<unk>`, as every text token spelled like a special one.

        Raises:
            ValueError: a string in place of a list of tokens, or a token that is not a string.
        """
        _reject_text(tokens, "tokens")
        ids = [self._ids.get(token, UNK) for token in map(_check_token, tokens)]
        return [UNK if i < len(SPECIALS) else i for i in ids]

    def encode_source(self, tokens: Iterable[str], sos: bool = False) -> list[int]:
        """`tokens <eos>`; with `sos`, as the tutorial recipes have it, `<sos> tokens <eos>`."""
        return [*([SOS] if sos else []), *self.encode(tokens), EOS]

    def encode_target(self, tokens: Iterable[str]) -> list[int]:
        """`<sos> tokens <eos>`."""
        return [SOS, *self.encode(tokens), EOS]

    def decode(self, ids: Iterable[SupportsIndex], keep_specials: bool = False) -> list[str]:
        """The tokens of `ids` up to the first `<eos>`, without `<sos>` and `<pad>`.

        `ids` may be a list or a tensor with one axis.

        With `keep_specials`, the token of every id, nothing left out.

        Raises:
            ValueError: an id outside the vocabulary or not a whole number, or more than one axis.
        """
        tokens = []
        for i in _check_ids(ids):
            if not 0 <= i < len(self):
                raise ValueError(
                    f"id {i} is outside the vocabulary, whose ids run from 0 to {len(self) - 1}: "
                    "was this sequence made with another vocabulary?"
                )
            if i == EOS and not keep_specials:
                break
            if keep_specials or i not in (PAD, SOS):
                tokens.append(self.tokens[i])
        return tokens

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON; an existing file is replaced whole or not at all."""
        own = self.tokens[len(SPECIALS) :]
        write_json(path, {"specials": SPECIALS, "tokens": own, "counts": self.counts})

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        """Read what `save` wrote.

        Raises:
            ValueError: the file is not a vocabulary.
        """
        data = read_json(path)
        try:
            if tuple(data["specials"]) != SPECIALS:
                raise ValueError(f"its special tokens are not {' '.join(SPECIALS)}")
            return cls(data["tokens"], data["counts"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{path} is not a vocabulary written by Vocabulary.save: {error}"
            ) from error


def _reject_text(items: object, name: str, remedy: str = "split it into tokens first") -> None:
    # Iterating over a string yields its characters: a mistake that would go unnoticed.
    if isinstance(items, str):
        raise ValueError(f"{name} is the string {reprlib.repr(items)}: {remedy}.")


def _check_token(token: object) -> str:
    # Ids passed in place of tokens would all become <unk>: another mistake without a symptom.
    if not isinstance(token, str):
        raise ValueError(f"{token!r} is not a token: tokens are strings.")
    return token


def _check_ids(ids: Iterable[SupportsIndex]) -> list[int]:
    try:
        if (axes := getattr(ids, "ndim", 1)) != 1:
            raise TypeError(f"this tensor has {axes} axes")
        return [operator.index(i) for i in ids]
    except TypeError as error:
        raise ValueError(f"ids are the whole numbers of one sentence, but {error}.") from error


def _check_counts(counts: Mapping[str, int]) -> Counter[str]:
    if not isinstance(counts, Mapping):
        raise ValueError(f"counts is {reprlib.repr(counts)}: it must give every token its number.")
    for token, count in counts.items():
        if not isinstance(count, int):
            raise ValueError(f"the count of {token!r} is {count!r}, but must be a whole number.")
    return Counter(counts)


def _check_min_frequency(min_frequency: int) -> None:
    if min_frequency < 1:
        raise ValueError(f"min_frequency is {min_frequency}, but must be at least 1.")


# --- files ----------------------------------------------------------------------------------------


def read_lines(path: str | Path) -> list[str]:
    """The lines of a UTF-8 file, without their ends.

    Only a line feed ends a line. (`str.splitlines` also splits at rarer characters, after which
    line n of a source file no longer belongs to line n of its translation.)

    Raises:
        ValueError: the file is empty, or is not UTF-8 (which line).
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")  # without a byte order mark
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path} is not valid UTF-8: see line {line}.") from error
    if not text:
        raise ValueError(f"{path} is empty.")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
