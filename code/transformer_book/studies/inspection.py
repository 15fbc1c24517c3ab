"""Looking inside a trained model: attention maps and what to read from them (chapter 21).

Maps of a batch are `(layers, B, H, T, S)`, rows are queries and columns are keys. Row t of
cross-attention *reads* target token t and *says* the next one: that is the word it belongs to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_book.attention import MultiHeadAttention, keeps_weights, recorded_attention
from transformer_book.decoder_only import DecoderOnly
from transformer_book.masks import padding_mask
from transformer_book.support.arguments import check_choice, check_probability, check_same_batch
from transformer_book.tokens import EOS, PAD, SOS
from transformer_book.transformer import Transformer
from transformer_book.translator import Translator

UNITS = {"nats": 1.0, "bits": math.log(2)}

# --- maps -----------------------------------------------------------------------------------------


def attentions(model: Transformer) -> dict[str, list[nn.Module]]:
    """The attention of every layer: "encoder" and "decoder" (self-attention), and "cross".

    Raises:
        ValueError: a decoder-only model, which has neither an encoder nor cross-attention.
    """
    check_two_stacks(model)
    return {
        "encoder": [layer.self_attention for layer in model.encoder.layers],
        "decoder": [layer.self_attention for layer in model.decoder.layers],
        "cross": [layer.cross_attention for layer in model.decoder.layers],
    }


def check_two_stacks(model: nn.Module) -> None:
    """Raise `ValueError` for a model that has no encoder to look into."""
    if isinstance(model, DecoderOnly):
        raise ValueError(
            "This looks into an encoder and a decoder, but the model is decoder-only: record its "
            "self-attention with recorded_attention(model) instead."
        )


def attention_maps(
    model: Transformer, source: Int[Tensor, "B S"], target_in: Int[Tensor, "B T"] | None = None
) -> dict[str, Tensor]:
    """All weights of all heads, when the model reads these ids.

    Args:
        model: in evaluation mode, or dropout shows.
        source: `(B, S)`.
        target_in: `(B, T)`, what the decoder reads, `<sos>` first; without it, only the encoder
            reads.

    Returns:
        "encoder" `(layers, B, H, S, S)`, "decoder" `(layers, B, H, T, T)` and "cross"
        `(layers, B, H, T, S)`; an attention of your own that keeps no weights has none. Rows of
        padding are there, and mean nothing.

    Raises:
        ValueError: as the model; a decoder-only model.
    """
    check_two_stacks(model)
    with torch.no_grad(), recorded_attention(model):
        _read(model, source, target_in)
    return {
        kind: torch.stack([module.weights for module in modules])
        for kind, modules in attentions(model).items()
        if (kind == "encoder" or target_in is not None) and all(map(keeps_weights, modules))
    }


def _read(model: Transformer, source: Tensor, target_in: Tensor | None) -> None:
    if target_in is None:
        model.encode(source, padding_mask(source))
    else:
        model(source, target_in)


@dataclass(frozen=True)
class SentenceMaps:
    """All weights of all heads on one sentence, with the names of the tokens.

    Attributes:
        source: names of the $S$ tokens that the encoder reads.
        target: names of the $T$ tokens that the decoder reads, `<sos>` first.
        says: names of the $T$ tokens it should say: row t reads `target[t]` and says `says[t]`.
        encoder: `(layers, H, S, S)`.
        decoder: `(layers, H, T, T)`.
        cross: `(layers, H, T, S)`.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    says: tuple[str, ...]
    encoder: Float[Tensor, "encoder_layers H S S"]
    decoder: Float[Tensor, "decoder_layers H T T"]
    cross: Float[Tensor, "decoder_layers H T S"]


def sentence_maps(translator: Translator, source: str, target: str | None = None) -> SentenceMaps:
    """The attention of a model on one sentence and its translation.

    Args:
        translator: with the model in it.
        source: what to read.
        target: what to write, one word after the other; `None` means the model's own translation.

    Raises:
        ValueError: a text without tokens, one longer than the model can read, or, for a model of
            `series`, no expression.
    """
    ids = translator.encode(source).ids
    vocabulary = translator.target_vocabulary
    if target is None:
        (found,) = translator.search([source])
        written = [SOS, *vocabulary.encode(t for t in found.tokens if t != "<eos>"), EOS]
    else:
        tokens = translator.target_tokenizer(target)
        if not tokens:
            raise ValueError("There is nothing to write: the target text is empty.")
        written = vocabulary.encode_target(tokens)
    names = vocabulary.decode(written, keep_specials=True)
    maps = attention_maps(translator.model, torch.tensor([ids]), torch.tensor([written[:-1]]))
    return SentenceMaps(
        source=tuple(translator.source_vocabulary.decode(ids, keep_specials=True)),
        target=tuple(names[:-1]),
        says=tuple(names[1:]),
        **{kind: weights[:, 0] for kind, weights in maps.items()},
    )


# --- entropy and rollout --------------------------------------------------------------------------


def entropy(weights: Float[Tensor, "*rows S"], unit: str = "nats") -> Float[Tensor, "*rows"]:
    r"""How undecided each row of weights is: $-\sum_j a_j \log a_j$, and $0 \log 0 = 0$.

    It is 0 where one key has all the weight, and $\log S$ where all have the same.

    Args:
        weights: `(…, S)`, each row a distribution; a row of zeros has entropy 0.
        unit: "nats" (natural logarithm) or "bits" (to the base 2).

    Raises:
        ValueError: a negative weight, or an unknown unit.
    """
    check_choice("unit", unit, UNITS)
    if weights.numel() and weights.min() < 0:
        raise ValueError(
            f"The weights hold {weights.min().item():.4g}, but weights are never negative; give "
            "the weights after the softmax."
        )
    return torch.special.entr(weights).sum(dim=-1) / UNITS[unit]


def mean_entropy(
    weights: Float[Tensor, "*layers B H T S"], real: Bool[Tensor, "B T"], unit: str = "nats"
) -> Float[Tensor, "*layers H"]:
    """The entropy of each head, averaged over the queries that are `real`; see `entropy`.

    Args:
        weights: `(…, B, H, T, S)`.
        real: `(B, T)`, `False` for rows of padding, which would change the average.
        unit: "nats" or "bits".

    Raises:
        ValueError: no query is real; otherwise as `entropy`.
    """
    if not real.any():
        raise ValueError("No query is real: there is nothing to average over.")
    rows = entropy(weights, unit) * real[:, None, :]  # (…, B, H, T)
    return rows.sum(dim=(-3, -1)) / real.sum()


def rollout(
    weights: Float[Tensor, "layers *batch H S S"], residual: float = 0.5
) -> Float[Tensor, "*batch S S"]:
    r"""Attention followed through the layers, from the last one down to the input.

    $$\tilde A_l = \text{rows of } r I + (1 - r)\, \tfrac1H \textstyle\sum_h A_{l,h}
      \text{ divided by their sums}, \qquad R = \tilde A_L \cdots \tilde A_2\, \tilde A_1$$

    It is exact for layers that do nothing but replace each vector by $r$ times itself plus
    $1 - r$ times the mean of what its heads look at, and a heuristic for all others.

    Args:
        weights: self-attention `(layers, …, H, S, S)`, the first layer first.
        residual: the share of the residual connection; ½ in the paper, and 0 leaves it out.

    Returns:
        `(…, S, S)`: row i says how much of each input there is in output i; rows add up to one.

    Raises:
        ValueError: maps that are not square, or `residual` outside [0, 1).

    Source: Abnar and Zuidema (2020), section 3.
    """
    check_probability(residual=residual)
    if weights.size(-1) != weights.size(-2):
        raise ValueError(
            f"The maps are {weights.size(-2)} × {weights.size(-1)}, but rollout needs square ones: "
            "self-attention, where queries and keys are the same tokens."
        )
    identity = torch.eye(weights.size(-1), dtype=weights.dtype, device=weights.device)
    layers = residual * identity + (1 - residual) * weights.mean(dim=-3)  # (layers, …, S, S)
    sums = layers.sum(dim=-1, keepdim=True)
    layers = layers / sums.clamp(min=torch.finfo(layers.dtype).tiny)  # (layers, …, S, S)
    total = layers[0]
    for layer in layers[1:]:
        total = layer @ total  # later layers on the left
    return total


# --- alignment ------------------------------------------------------------------------------------


def is_word(ids: Int[Tensor, "B T"]) -> Bool[Tensor, "B T"]:
    """Where there is a word, not `<pad>`, `<sos>` or `<eos>`. An unknown word is a word."""
    return (ids != PAD) & (ids != SOS) & (ids != EOS)


def read_alignment(
    cross: Float[Tensor, "*layers B H T S"],
    source: Int[Tensor, "B S"],
    target_out: Int[Tensor, "B T"],
) -> Bool[Tensor, "*layers B H T S"]:
    """Link the word that each row says with the source token of its largest weight.

    A row that says no word (`<eos>`, padding) has no link, nor has one whose largest weight lies
    on a token that is not a word, such as `<eos>`: the head rests there.

    Args:
        cross: cross-attention `(…, B, H, T, S)`.
        source: `(B, S)`, the ids of the keys.
        target_out: `(B, T)`, the ids that the rows say.

    Returns:
        `(…, B, H, T, S)`, `True` for a link; at most one in a row. Of equal weights the first.

    Source: Bahdanau et al. (2015) read such maps as soft alignments; the argmax makes them hard.
    """
    best = cross.argmax(dim=-1, keepdim=True)  # (…, B, H, T, 1)
    links = torch.zeros_like(cross, dtype=torch.bool).scatter(-1, best, value=True)
    words = is_word(target_out)[:, None, :, None] & is_word(source)[:, None, None, :]
    return links & words


def gold_table(
    alignments: Sequence[Sequence[tuple[int, int]]],
    source: Int[Tensor, "B S"],
    target_out: Int[Tensor, "B T"],
) -> Bool[Tensor, "B T S"]:
    """Alignments as in `tasks.captions`, pairs (source word, target word), as a table of links.

    Raises:
        ValueError: not one alignment per sentence, or a link to a word that is not there.
    """
    check_same_batch(source, target_out)
    if len(alignments) != len(source):
        raise ValueError(
            f"There are {len(alignments)} alignments, but {len(source)} sentences; give one for "
            "each sentence."
        )
    said, read = is_word(target_out), is_word(source)
    columns = (source[:, 0] == SOS).tolist()  # where word 0 stands
    table = torch.zeros(len(source), target_out.size(1), source.size(1), dtype=torch.bool)
    for b, links in enumerate(alignments):
        for i, j in links:
            n, m = int(read[b].sum()), int(said[b].sum())
            if not (0 <= i < n and 0 <= j < m):
                raise ValueError(
                    f"Sentence {b} has the link ({i}, {j}), but it has {n} source and {m} target "
                    "words, counted from 0."
                )
            table[b, j, columns[b] + i] = True
    return table.to(source.device)


def links_of(table: Bool[Tensor, "T S"], source: Int[Tensor, " S"]) -> tuple[tuple[int, int], ...]:
    """The links of one sentence, as `tasks.captions` has them: (source word, target word), sorted.

    `source` `(S,)` are the ids of the columns; a `<sos>` in front of them is not counted.
    """
    first = int(source[0] == SOS)
    return tuple(sorted((s - first, t) for t, s in table.nonzero().tolist()))


def alignment_error_rates(
    links: Bool[Tensor, "*layers B H T S"], gold: Bool[Tensor, "B T S"]
) -> Float[Tensor, "*layers H"]:
    r"""`metrics.alignment_error_rate` of every head: $1 - 2\,|A \cap G| / (|A| + |G|)$.

    Args:
        links: what was found, `(…, B, H, T, S)`.
        gold: what is right, `(B, T, S)`.

    Raises:
        ValueError: there is no gold link.

    Source: Och and Ney (2003), section 4, with all gold links sure.
    """
    if not gold.any():
        raise ValueError("There is no gold link to compare with.")
    common = (links & gold[:, None]).sum(dim=(-4, -2, -1))  # (…, H)
    found = links.sum(dim=(-4, -2, -1))  # (…, H)
    return 1 - 2 * common.double() / (found + gold.sum())


# --- interfering ----------------------------------------------------------------------------------


@contextmanager
def silenced_heads(attention: MultiHeadAttention, *heads: int) -> Iterator[None]:
    """While this is open, these heads of one attention add nothing to its output.

    Their slices are set to zero in front of the output projection, for all positions. That is
    exactly as if the columns of `output.weight` that read them were zero. The parameters stay as
    they are.

        with silenced_heads(model.encoder.layers[0].self_attention, 2):
            logits = model(source, target)

    Raises:
        ValueError: there is no such head.
    """
    n_heads = attention.n_heads
    silent = torch.zeros(n_heads, dtype=torch.bool)
    for head in heads:
        if isinstance(head, bool) or not isinstance(head, int) or not 0 <= head < n_heads:
            raise ValueError(
                f"head is {head!r}, but this attention has {n_heads} heads: choose a whole number "
                f"from 0 to {n_heads - 1}."
            )
        silent[head] = True
    silent = silent.repeat_interleave(attention.output.in_features // n_heads)  # (D,)

    def silence(_: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        merged = inputs[0]  # (B, T, D)
        return (merged.masked_fill(silent.to(merged.device), 0.0),)

    hook = attention.output.register_forward_pre_hook(silence)
    try:
        yield
    finally:
        hook.remove()


def queries_and_keys(
    model: Transformer,
    source: Int[Tensor, "B S"],
    target_in: Int[Tensor, "B T"] | None = None,
    kind: str = "encoder",
) -> tuple[Float[Tensor, "layers B H Q K"], Float[Tensor, "layers B H M K"]]:
    """The queries and keys of all heads in every layer, of one kind of attention.

    Args:
        model: in evaluation mode, or dropout shows.
        source: `(B, S)`.
        target_in: `(B, T)`, what the decoder reads; the encoder needs none.
        kind: "encoder", "decoder" (self-attention each) or "cross".

    Returns:
        Queries `(layers, B, H, Q, K)` and keys `(layers, B, H, M, K)`, with Q positions that ask
        and M that answer: in self-attention the same, S or T; in cross-attention T and S.

    Raises:
        ValueError: for another kind, a decoder without a target, or an attention that is not
            the book's `MultiHeadAttention`.
    """
    modules = attentions(model)
    check_choice("kind", kind, list(modules))
    if kind != "encoder" and target_in is None:
        raise ValueError(f"kind is {kind!r}, but there is no target_in: give what it reads.")
    for attention in modules[kind]:
        if not isinstance(attention, MultiHeadAttention):
            raise ValueError(
                f"The attention of the {kind} is a {type(attention).__name__}, but queries and "
                "keys are read from the book's MultiHeadAttention."
            )
    with torch.no_grad(), ExitStack() as stack:
        found = [stack.enter_context(recorded_vectors(attention)) for attention in modules[kind]]
        _read(model, source, target_in)
    queries, keys = (torch.stack([each[name] for each in found]) for name in ("query", "key"))
    return queries, keys


@contextmanager
def recorded_vectors(attention: MultiHeadAttention) -> Iterator[dict[str, Tensor]]:
    """While this is open, one attention keeps the queries, keys and values of its heads.

    Yields a dictionary that a call of the model fills: "query" `(B, H, T, K)`, "key" and "value"
    `(B, H, S, K)`, of the last call. A score is their dot product, times 1/√K.
    """
    found: dict[str, Tensor] = {}

    def keep(name: str) -> object:
        def hook(_: nn.Module, inputs: tuple[Tensor], made: Tensor) -> None:
            found[name] = attention.split_heads(made.detach())

        return hook

    names = ("query", "key", "value")
    hooks = [getattr(attention, name).register_forward_hook(keep(name)) for name in names]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()
