"""A language model and its tokenizer as one object (chapter 28)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from tokenizers import Tokenizer

from transformer_book.continuation import Continuation, continue_tokens
from transformer_book.decoder_only import DecoderOnly
from transformer_book.weights.sentence_piece import SentencePiece


@contextmanager
def in_a_sentence(what: str) -> Iterator[None]:
    """Whatever a library raises meanwhile becomes a `ValueError` that begins so.

    Of a damaged tokenizer, `tokenizers` raises `Exception` itself, or what its Rust code panics
    with, which is a `BaseException`.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise ValueError(f"{what}: {reason}.") from error


@dataclass(frozen=True)
class LanguageModel:
    """A model that continues texts, with its tokenizer.

    Attributes:
        model: in evaluation mode.
        tokenizer: between texts and ids.
        end: ids after which a text is complete.
    """

    model: DecoderOnly
    tokenizer: Tokenizer | SentencePiece
    end: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        size, known = self.model.config.vocab_size, self.tokenizer.get_vocab_size()
        if known > size:
            raise ValueError(
                f"The tokenizer knows {known} tokens, but the model only {size}: they do not "
                "belong together."
            )

    def encode(self, text: str) -> list[int]:
        """The ids of a text, with the special tokens that the tokenizer puts in front.

        Raises:
            ValueError: there are none, so that there is nothing to go on with; or the tokenizer is
                damaged.
        """
        with in_a_sentence("The tokenizer cannot read the text"):
            ids = self.tokenizer.encode(text).ids
        if not ids:
            raise ValueError("There is nothing to go on with: the text has no tokens.")
        return ids

    def continued(self, text: str, n_new: int = 40, **options: Any) -> str:
        """The text, and what the model writes after it.

        Args:
            text: the beginning.
            n_new: tokens to write at most.
            **options: see `continue_tokens`.

        Raises:
            ValueError: for an empty or too long text; an option out of range.
        """
        return text + self.new_text(text, self.search(text, n_new, **options))

    def search(self, text: str, n_new: int = 40, **options: Any) -> Continuation:
        """What the model writes after a text, token by token; see `continued`."""
        tokens = torch.tensor([self.encode(text)], device=self.model.output.weight.device)
        return continue_tokens(self.model, tokens, n_new, end=self.end, **options)

    def new_text(self, text: str, found: Continuation) -> str:
        """What a continuation adds to the text.

        Some tokenizers write a token differently at the beginning of a text, so both are decoded
        together.
        """
        before = self.encode(text)
        written = [token for token in found.tokens if token not in self.end]
        start = self.tokenizer.decode(before)
        return self.tokenizer.decode([*before, *written])[len(start) :]
