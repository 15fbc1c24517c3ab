"""A language model of plain text: its data, its loss, its training (chapter 27)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer_book.decoder_only import DecoderOnly
from transformer_book.optimization import learning_rate
from transformer_book.recipes import FOLDER
from transformer_book.support.arguments import check_positive
from transformer_book.tasks import captions
from transformer_book.tokens import PAD, Vocabulary
from transformer_book.translator import Translator

PRETRAINED = FOLDER / "adapting" / "language-model"
CONSTRUCTIONS = ("intransitive",)


@dataclass(frozen=True)
class Corpora:
    """Much plain text, and few pairs.

    Attributes:
        texts: sentences of both languages; none is the translation of another.
        pairs: German captions with their English translations; none of them is in `texts`.
        validation: pairs of the validation split.
    """

    texts: list[tuple[str, ...]]
    pairs: list
    validation: list

    def vocabulary(self) -> Vocabulary:
        """One for both languages, of all that may be learned from."""
        sides = [side for pair in self.pairs for side in (pair.source, pair.target)]
        return Vocabulary.build(self.texts + sides)


def corpora(n_pairs: int = 500, n_texts: int = 5000, n_validation: int = 400) -> Corpora:
    """Captions of one construction: `n_pairs` as pairs, and half of `n_texts` in each language."""
    check_positive(n_pairs=n_pairs, n_texts=n_texts, n_validation=n_validation)
    n = n_pairs + n_texts
    every = captions.pairs("de", "en", "train", n, constructions=CONSTRUCTIONS)
    middle = n_pairs + n_texts // 2
    german = [pair.source for pair in every[n_pairs:middle]]
    english = [pair.target for pair in every[middle:]]
    held_out = captions.pairs("de", "en", "validation", n_validation, constructions=CONSTRUCTIONS)
    return Corpora(german + english, every[:n_pairs], held_out)


def documents(
    texts: Sequence[Sequence[str]], vocabulary: Vocabulary, times: int = 1
) -> list[Int[Tensor, "_"]]:
    """Each text as ids, `<sos> tokens <eos>`, several times in a row.

    A caption often stands twice on a page: below the picture, and as its alternative text.
    """
    check_positive(times=times)
    return [torch.tensor(vocabulary.encode_target(text) * times) for text in texts]


def next_token_loss(model: DecoderOnly, tokens: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    r"""How badly each token is predicted from those before it, nats per token.

    $$L = -\frac1N \sum_t \log p(w_{t+1} \mid w_1 \dots w_t)$$

    Padding is not counted.

    Source: Radford et al. (2018), section 3.1.
    """
    logits = model.logits(tokens[:, :-1])  # (B, T', V)
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=PAD)


def text_perplexity(model: DecoderOnly, texts: Sequence[Int[Tensor, "_"]]) -> float:
    """The exponential of the mean loss over all tokens of `texts`; the mode stays as it was."""
    tokens = pad_sequence(list(texts), batch_first=True, padding_value=PAD)  # (B, T)
    was_training = model.training
    with torch.no_grad():
        loss = next_token_loss(model.eval(), tokens)
    model.train(was_training)
    return math.exp(loss)


def pretrain(
    model: DecoderOnly,
    texts: Sequence[Int[Tensor, "_"]],
    *,
    updates: int,
    batch_size: int = 64,
    peak: float = 5e-3,
    warmup: int = 50,
    seed: int = 1,
) -> list[float]:
    """Train a model to continue texts, in place: Adam, a linear schedule, gradients clipped at 1.

    Args:
        model: is left in training mode.
        texts: ids of one document each.
        updates: number of steps.
        batch_size: documents in each.
        peak, warmup: of the learning rate, see `optimization.learning_rate`.
        seed: of the draws of the documents.

    Returns:
        The loss of each update, nats per token.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=peak, betas=(0.9, 0.98), eps=1e-9)
    model.train()
    losses = []
    for update in range(1, updates + 1):
        rate = learning_rate(update, peak=peak, schedule="linear", warmup=warmup, updates=updates)
        optimizer.param_groups[0]["lr"] = rate
        drawn = torch.randint(len(texts), (batch_size,), generator=generator)  # (B,)
        batch = pad_sequence([texts[i] for i in drawn], batch_first=True, padding_value=PAD)
        loss = next_token_loss(model, batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def load_language_model(folder: str | Path = PRETRAINED) -> Translator:
    """The pre-trained model that comes with the book, with its vocabulary and tokenizers.

    It has never seen a translation.
    """
    return Translator.from_pretrained(folder)
