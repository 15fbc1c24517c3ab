"""From a trained model to sentences: greedy search, sampling, beam search, the cache (chapter 17).

A model scores what may come next. A search asks it again and again: it feeds back what it has
chosen, until `<eos>`. All searches here work on a whole batch; a sentence that is done leaves the
computation, and what else is in the batch does not change its result (beyond rounding).

`<pad>` and `<sos>` are never produced: their logits become −∞ before the softmax, so the
probabilities of all that can follow sum to one. This holds for every search, cached or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from numbers import Integral

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_book.architectures import Model
from transformer_book.arguments import (
    check_positive,
    check_switch,
    check_token_batch,
    is_number,
)
from transformer_book.attention import MultiHeadAttention, keeps_weights, recorded_attention
from transformer_book.decoder import DecoderLayer
from transformer_book.decoder_only import DecoderOnly
from transformer_book.layers import fused_norms
from transformer_book.masks import padding_mask
from transformer_book.sampling import keep_min_p, keep_top_p
from transformer_book.tokens import EOS, PAD, SOS
from transformer_book.transformer import Transformer

INFINITY = float("inf")


@dataclass(frozen=True)
class Hypothesis:
    """One target that a search has found.

    Attributes:
        tokens: the ids after `<sos>`; the last one is `<eos>` if the hypothesis is finished.
        log_probabilities: of each of these tokens given those before it (natural logarithm).
        score: what beam search ranks by: the sum of `log_probabilities` over `length_divisor`;
            for greedy search and sampling the sum.
        finished: False if the limit of the length came before `<eos>`.
        attention: if asked for, the weights of cross-attention `(n_layers, H, T, S)`; row t is from
            the step that chose token t. S counts the real tokens of this source, no padding.
        candidates: if asked for, the most probable tokens of each step, best first, as pairs of id
            and probability.
    """

    tokens: list[int]
    log_probabilities: list[float]
    score: float
    finished: bool
    attention: Float[Tensor, "n_layers H T S"] | None = field(
        default=None, repr=False, compare=False
    )
    candidates: list[list[tuple[int, float]]] | None = field(default=None, repr=False)


# --- one token at a time --------------------------------------------------------------------------


@dataclass
class LayerCache:
    """The keys and values that one decoder layer need not compute again.

    Of the target so far `(N, H, T, K)`, growing by one position a step, and of the memory
    `(B, H, S, K)`, computed once. N = B · W: each sentence has W rows (beams), which stand beside
    each other and share its memory.
    """

    keys: Float[Tensor, "N H T K"]
    values: Float[Tensor, "N H T K"]
    memory_keys: Float[Tensor, "B H S K"]
    memory_values: Float[Tensor, "B H S K"]


class DecoderCache:
    """What a decoder has computed for the target so far, layer by layer.

    A causal decoder never changes a vector it has computed: the future is hidden from it. So the
    keys and values of earlier positions can be kept, and a step costs one position per row
    instead of all positions anew.

    Args:
        model: see `can_be_cached`.
        memory: the encoder's output `(B, S, D)`.

    Attributes:
        layers: one `LayerCache` for each layer of the decoder.

    Raises:
        ValueError: if this model's decoder cannot be cached.
    """

    def __init__(self, model: Transformer, memory: Float[Tensor, "B S D"]) -> None:
        if not can_be_cached(model):
            raise ValueError(
                "This decoder cannot be cached, because it sees the future (causal=False) or has "
                "parts of your own; call model.decode on the whole target so far, as the searches "
                "do with cached=False."
            )
        self.layers: list[LayerCache] = []
        for layer in model.decoder.layers:
            keys, values = layer.cross_attention.keys_and_values(memory, memory)  # (B, H, S, K)
            # Read at every step: each head's vectors side by side in memory, not D numbers apart.
            keys, values = keys.contiguous(), values.contiguous()
            nothing_yet = keys[:, :, :0]  # (B, H, 0, K)
            self.layers.append(LayerCache(nothing_yet, nothing_yet, keys, values))

    @property
    def length(self) -> int:
        """Number of target positions computed so far; also the position of the next token."""
        return self.layers[0].keys.size(2)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sentences B, and of rows for each of them W."""
        sentences = self.layers[0].memory_keys.size(0)
        return sentences, self.layers[0].keys.size(0) // sentences

    def select(self, rows: Int[Tensor, "..."]) -> Int[Tensor, "B"]:
        """Keep these rows, in this order, and drop all others; a row may be named repeatedly.

        Args:
            rows: `(B',)`, one row for each sentence from now on; or `(B', W')`, the W' beams of
                each sentence. The rows in one line must belong to the same sentence.

        Returns:
            Which sentence each line was of, `(B',)`: select those of the memory's mask, too.
        """
        width = self.shape[1]
        rows = rows.view(len(rows), -1)  # (B', W')
        sentences, rows = rows[:, 0] // width, rows.flatten()  # (B',), (B' W',)
        # Most steps only exchange the beams of a sentence: its memory stays where it is.
        moved = not torch.equal(sentences, torch.arange(self.shape[0], device=rows.device))
        for kept in self.layers:
            kept.keys = kept.keys.index_select(0, rows)  # (N', H, T, K)
            kept.values = kept.values.index_select(0, rows)  # (N', H, T, K)
            if moved:
                kept.memory_keys = kept.memory_keys.index_select(0, sentences)  # (B', H, S, K)
                kept.memory_values = kept.memory_values.index_select(0, sentences)  # (B', H, S, K)
        return sentences


def decode_step(
    model: Transformer,
    tokens: Int[Tensor, "N"],
    cache: DecoderCache,
    memory_mask: Bool[Tensor, "B 1 1 S"],
) -> Float[Tensor, "N V"]:
    """Feed one new token to each row: the logits of the token that follows it.

    The same as the last position of `model.decode` on the whole target so far. What it computes for
    the new position goes into the cache.

    Args:
        model: the model the cache was made for.
        tokens: the newest token of each row; `<sos>` in the first step.
        cache: of everything before these tokens.
        memory_mask: of the sentences in the cache, as `padding_mask(source)` makes it.

    Raises:
        ValueError: if there are more or fewer tokens than rows in the cache, for a token outside
            the vocabulary, and for a target longer than the model's `max_length`.
    """
    sentences, width = cache.shape
    if tokens.shape != (sentences * width,):
        raise ValueError(
            f"The tokens have shape {tuple(tokens.shape)}, but the cache has {sentences * width} "
            "rows; pass one token for each row."
        )
    x = model.target_embedding(tokens[:, None])  # (N, 1, D)
    x = model.dropout(model.target_positions(x, start=cache.length))  # (N, 1, D)
    for layer, kept in zip(model.decoder.layers, cache.layers, strict=True):
        x = layer_step(layer, x, kept, memory_mask)  # (N, 1, D)
    return model.output(model.decoder.norm(x)).squeeze(1)  # (N, V)


def layer_step(
    layer: DecoderLayer,
    x: Float[Tensor, "N 1 D"],
    kept: LayerCache,
    memory_mask: Bool[Tensor, "B 1 1 S"],
) -> Float[Tensor, "N 1 D"]:
    """`DecoderLayer.forward` for the newest position alone; earlier ones come from the cache."""

    def self_attention(y: Tensor) -> Tensor:  # (N, 1, D)
        keys, values = layer.self_attention.keys_and_values(y, y)  # (N, H, 1, K)
        kept.keys = torch.cat([kept.keys, keys], dim=2)  # (N, H, T, K)
        kept.values = torch.cat([kept.values, values], dim=2)  # (N, H, T, K)
        # No mask: all that is kept is the past, and none of it is padding.
        return _attend(layer.self_attention, y, kept.keys, kept.values)

    def cross_attention(y: Tensor) -> Tensor:  # (B, W, D)
        return _attend(layer.cross_attention, y, kept.memory_keys, kept.memory_values, memory_mask)

    x = layer.self_residual(x, self_attention)  # (N, 1, D)
    # The beams of a sentence are so many queries to one memory, which is kept once for all.
    beams = x.view(len(kept.memory_keys), -1, x.size(-1))  # (N, 1, D) → (B, W, D)
    beams = layer.cross_residual(beams, cross_attention)  # (B, W, D)
    return layer.feed_forward_residual(beams, layer.feed_forward).view_as(x)  # (N, 1, D)


def _attend(
    attention: MultiHeadAttention,
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    """`MultiHeadAttention.forward` with keys and values that are projected already."""
    q = attention.split_heads(attention.query(query))  # (B, H, T, K)
    return attention.output(attention.merge_heads(attention.attend(q, keys, values, mask)))


def can_be_cached(model: Model) -> bool:
    """Whether a search may compute each position once, and `decode_step` what `model.decode` does.

    The decoder must be causal, and every part of it the book's own: `decode_step` takes the place
    of the `forward` of the decoder, its layers and their attentions, so it would pass over what
    someone has changed there. (It passes over forward hooks on these, too; hooks on what is
    inside them, the projections, norms and feed-forward networks, are called.)
    """
    if isinstance(model, DecoderOnly):
        target = tuple(model.modules())
    else:
        target = (model, model.target_embedding, model.target_positions, *model.decoder.modules())
    origins = {type(part).__module__.split(".")[0] for part in target}
    return model.config.causal and origins <= {"transformer_book", "torch"}


class _Cached:
    """Each position computed once: the logits of `_Uncached`, sooner."""

    def __init__(self, model: Transformer, source: Tensor) -> None:
        self.model = model
        self.memory_mask = padding_mask(source)  # (B, 1, 1, S)
        self.cache = DecoderCache(model, model.encode(source, self.memory_mask))

    def step(self, tokens: Tensor) -> Tensor:
        """The newest token of each row `(N,)` → logits of the next `(N, V)`."""
        return decode_step(self.model, tokens, self.cache, self.memory_mask)

    def select(self, rows: Tensor) -> None:
        """As `DecoderCache.select`."""
        self.memory_mask = self.memory_mask[self.cache.select(rows)]  # (B', 1, 1, S)


class _Uncached:
    """The whole target so far through the decoder at every step: plain, and right for any model."""

    def __init__(self, model: Transformer, source: Tensor) -> None:
        self.model = model
        self.memory_mask = padding_mask(source)  # (N, 1, 1, S)
        self.memory = model.encode(source, self.memory_mask)  # (N, S, D)
        self.target = source.new_empty(len(source), 0)  # (N, 0)

    def step(self, tokens: Tensor) -> Tensor:
        self.target = torch.cat([self.target, tokens[:, None]], dim=1)  # (N, T)
        vectors = self.model.decode(self.target, self.memory, self.memory_mask)  # (N, T, D)
        return self.model.output(vectors[:, -1])  # (N, V)

    def select(self, rows: Tensor) -> None:
        rows = rows.flatten()  # (N',)
        self.target = self.target.index_select(0, rows)  # (N', T)
        self.memory = self.memory.index_select(0, rows)  # (N', S, D)
        self.memory_mask = self.memory_mask.index_select(0, rows)  # (N', 1, 1, S)


class _OneStackCached:
    """As `_Cached`, of a decoder-only model: the source is the first part of what is kept."""

    def __init__(self, model: DecoderOnly, source: Tensor) -> None:
        self.model, self.cache = model, model.new_cache()
        model.vectors(source, model.prefix_of(source), self.cache)

    def step(self, tokens: Tensor) -> Tensor:
        vectors = self.model.vectors(tokens[:, None], cache=self.cache)  # (N, 1, D)
        return self.model.output(vectors).squeeze(1)  # (N, V)

    def select(self, rows: Tensor) -> None:
        self.cache.select(rows.flatten())


class _OneStackUncached:
    """As `_Uncached`, of a decoder-only model."""

    def __init__(self, model: DecoderOnly, source: Tensor) -> None:
        self.model, self.source = model, source
        self.target = source.new_empty(len(source), 0)  # (N, 0)

    def step(self, tokens: Tensor) -> Tensor:
        self.target = torch.cat([self.target, tokens[:, None]], dim=1)  # (N, T)
        return self.model(self.source, self.target)[:, -1]  # (N, V)

    def select(self, rows: Tensor) -> None:
        rows = rows.flatten()  # (N',)
        self.source, self.target = self.source[rows], self.target[rows]  # (N', S), (N', T)


def _begin(
    model: Model, source: Tensor, cached: bool
) -> _Cached | _Uncached | _OneStackCached | _OneStackUncached:
    """What computes the steps of a search, one token of each row at a time."""
    cached = cached and can_be_cached(model)
    if isinstance(model, DecoderOnly):
        return (_OneStackCached if cached else _OneStackUncached)(model, source)
    return (_Cached if cached else _Uncached)(model, source)


# --- what all searches share ----------------------------------------------------------------------


class _Search:
    """A source that is being decoded: what may follow each row, and what each row has chosen.

    Row n of everything belongs to the same hypothesis. The records are `(N, T, …)`, one column
    for each step.
    """

    def __init__(
        self,
        model: Model,
        source: Tensor,
        max_length: int | None,
        cached: bool,
        keep_attention: bool,
        n_candidates: int,
        ban: Collection[int],
    ) -> None:
        self.n_candidates, self.keep_attention = n_candidates, keep_attention
        self.layers = _decoder_layers(model)
        self.real = source != PAD  # (B, S)
        self.limits = _limits(model, self.real, max_length)
        never = sorted({PAD, SOS, *ban})
        self.never = torch.tensor(never, device=source.device)
        self.n_possible = model.config.target_vocab_size - len(never)
        self.decoder = _begin(model, source, cached)
        self.records: dict[str, Tensor] = {}

    def log_probabilities(self, tokens: Int[Tensor, "N"]) -> Float[Tensor, "N V"]:
        """Feed the newest token of each row: how probable is each token after it?"""
        logits = self.decoder.step(tokens)  # (N, V)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        log_p = logits.index_fill_(1, self.never, -INFINITY).log_softmax(dim=-1)  # (N, V)
        if log_p[:, 0].isnan().any():  # one bad logit spoils its whole row
            raise ValueError(
                "The model's logits are not finite: its weights have diverged; load an earlier "
                "checkpoint."
            )
        return log_p

    def record(self, log_p: Tensor, rows: Tensor, tokens: Tensor) -> None:
        """Row n continues what was row `rows[n]` with the token `tokens[n]`."""
        new = {"tokens": tokens, "log_p": log_p[rows, tokens]}  # (N,) each
        if self.n_candidates:
            best = log_p.topk(min(self.n_candidates, self.n_possible))  # (N, k)
            new |= {"candidates": best.indices[rows], "candidates_p": best.values.exp()[rows]}
        if self.keep_attention:
            new["attention"] = self._attention()[rows]  # (N, n_layers, H, S)
        for name, column in new.items():
            column = column[:, None]  # (N, 1, …)
            before = self.records.get(name)
            if before is not None:
                column = torch.cat([before[rows], column], dim=1)  # (N, T, …)
            self.records[name] = column

    def _attention(self) -> Tensor:
        """Cross-attention of the newest position, `(N, n_layers, H, S)`."""
        weights = [layer.cross_attention.weights for layer in self.layers]  # (B, H, W, S) each
        for number, w in enumerate(weights):
            if not isinstance(w, Tensor) or w.dim() != 4:
                raise ValueError(
                    f"keep_attention found no weights (B, H, T, S) in the cross_attention of "
                    f"decoder layer {number}: let its forward set `self.weights` at every call."
                )
        if isinstance(self.decoder, _Uncached):
            weights = [w[:, :, -1:] for w in weights]  # (N, H, T, S) → (N, H, 1, S)
        return torch.stack(weights, dim=1).movedim(3, 1).flatten(0, 1)  # (B W, n_layers, H, S)

    def keep(self, rows: Tensor) -> None:
        """Drop all rows of the records but these."""
        self.records = {name: r.index_select(0, rows) for name, r in self.records.items()}

    def hypotheses(
        self, rows: list[tuple[int, int]], length_penalty: float = 0.0
    ) -> list[Hypothesis]:
        """Rows of the records, each named together with the number of the source it belongs to."""
        if not rows:
            return []
        index = torch.tensor([n for n, _ in rows], device=self.real.device)
        records = {name: r[index] for name, r in self.records.items()}  # (len(rows), T, …)
        listed = {name: r.tolist() for name, r in records.items() if name != "attention"}
        hypotheses = []
        for n, (_, sentence) in enumerate(rows):
            tokens, log_p = listed["tokens"][n], listed["log_p"][n]
            attention = candidates = None
            if self.keep_attention:
                attention = records["attention"][n].permute(1, 2, 0, 3)  # (n_layers, H, T, S)
                attention = attention[..., self.real[sentence]]  # S without padding
            if self.n_candidates:
                steps = zip(listed["candidates"][n], listed["candidates_p"][n], strict=True)
                candidates = [list(zip(ids, p, strict=True)) for ids, p in steps]
            score = math.fsum(log_p) / length_divisor(len(tokens), length_penalty)
            finished = tokens[-1] == EOS
            hypotheses.append(Hypothesis(tokens, log_p, score, finished, attention, candidates))
        return hypotheses


def _decoder_layers(model: Model) -> nn.ModuleList:
    return model.layers if isinstance(model, DecoderOnly) else model.decoder.layers


def _limits(model: Model, real: Bool[Tensor, "B S"], max_length: int | None) -> list[int]:
    """The longest target of each sentence."""
    lengths = real.sum(dim=1).tolist()
    if 0 in lengths:
        raise ValueError(
            f"Source {lengths.index(0)} (counted from 0) is all padding; pass at least one token, "
            "<eos> for an empty sentence."
        )
    longest = model.config.max_length - 1
    if max_length is None:
        # Of its own source, not of the padded one: the rest of the batch must not matter.
        return [min(length + 50, longest) for length in lengths]
    return [max_length] * len(lengths)


@contextmanager
def _searching(model: Model, keep_attention: bool) -> Iterator[None]:
    """Evaluation mode, no gradients, fused norms, attention on request; then all is as before.

    Not `torch.inference_mode`, which is a few per cent faster: tensors made in it are restricted
    for ever, and the model keeps some, its attention weights and its table of sinusoids.
    """
    modes = {module: module.training for module in model.modules()}
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(fused_norms(model))
        if keep_attention:
            crosses = nn.ModuleList(layer.cross_attention for layer in _decoder_layers(model))
            stack.enter_context(recorded_attention(crosses))
        try:
            model.eval()
            yield
        finally:
            for module, training in modes.items():
                module.training = training


def _check(
    model: Model,
    source: Tensor,
    *,
    max_length: int | None,
    cached: bool,
    keep_attention: bool,
    n_candidates: int,
    ban: Collection[int],
) -> None:
    """Raise `ValueError` for an argument, common to all searches, that is out of range."""
    size, longest = model.config.target_vocab_size, model.config.max_length - 1
    check_token_batch(source)
    check_switch(cached=cached, keep_attention=keep_attention)
    if size <= EOS:
        raise ValueError(
            f"The target vocabulary has {size} entries and no <eos>, which is id {EOS}; build the "
            f"model with target_vocab_size={EOS + 1} or more."
        )
    if longest < 1:
        raise ValueError(
            "The model's max_length is 1, which <sos> fills; build it with max_length=2 or more."
        )
    if max_length is not None:
        check_positive(max_length=max_length)
        if max_length > longest:
            raise ValueError(
                f"max_length is {max_length}, but after <sos> this model has room for {longest} "
                f"tokens; choose {longest} or less."
            )
    if not _whole(n_candidates) or not 0 <= n_candidates <= size:
        raise ValueError(
            f"n_candidates is {n_candidates!r}, but it must be a whole number from 0 to {size}, "
            "the size of the vocabulary."
        )
    for token in ban:
        if not _whole(token) or not 0 <= token < size:
            raise ValueError(
                f"ban has {token!r}, but it must hold ids of the vocabulary, from 0 to {size - 1}."
            )
    if len({PAD, SOS, *ban}) == size:
        raise ValueError(f"ban has every token of the vocabulary ({size}): nothing is left.")
    if keep_attention and isinstance(model, DecoderOnly):
        raise ValueError(
            "A decoder-only model has no cross-attention that could be kept: pass "
            "keep_attention=False, and look at its self-attention with recorded_attention."
        )
    if keep_attention:
        for number, layer in enumerate(model.decoder.layers):
            cross = getattr(layer, "cross_attention", None)
            if not isinstance(cross, nn.Module) or not keeps_weights(cross):
                raise ValueError(
                    f"keep_attention needs a cross_attention that leaves its weights (B, H, T, S) "
                    f"in an attribute `weights`, which decoder layer {number} does not have; set "
                    "`self.weights = None` in its __init__ and the weights in forward, or pass "
                    "keep_attention=False."
                )


def _whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


# --- one path for each sentence -------------------------------------------------------------------


def greedy_search(
    model: Model,
    source: Int[Tensor, "B S"],
    *,
    max_length: int | None = None,
    cached: bool = True,
    keep_attention: bool = False,
    n_candidates: int = 0,
    ban: Collection[int] = (PAD, SOS),
) -> list[Hypothesis]:
    """Take the most probable token, feed it back, until `<eos>`.

    Args:
        model: in any mode; evaluated without dropout.
        source: ids, padded with `<pad>`.
        max_length: longest target, `<eos>` included; `None`: 50 more than the sentence's own
            source, as in the 2017 paper (section 6.1), or what the model has room for.
        cached: keep keys and values instead of computing them anew at every step. A model for
            which that would be wrong is decoded without a cache all the same (`can_be_cached`).
        keep_attention: record the weights of cross-attention.
        n_candidates: record so many of the most probable tokens at each step.
        ban: ids that are never produced; `<pad>` and `<sos>` are not in any case.

    Returns:
        One hypothesis for each source, unfinished if `max_length` came before `<eos>`.

    Raises:
        ValueError: for a source of nothing but padding, an id outside the vocabulary, a
            `max_length` that the model has no room for, another argument out of range, or logits
            that are not finite.
    """
    return _one_path(
        model,
        source,
        lambda log_p: log_p.argmax(dim=-1),
        max_length=max_length,
        cached=cached,
        keep_attention=keep_attention,
        n_candidates=n_candidates,
        ban=ban,
    )


def sample(
    model: Model,
    source: Int[Tensor, "B S"],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    generator: torch.Generator | None = None,
    max_length: int | None = None,
    cached: bool = True,
    keep_attention: bool = False,
    n_candidates: int = 0,
    ban: Collection[int] = (PAD, SOS),
) -> list[Hypothesis]:
    r"""Draw each token at random: $p_i \propto \exp(\log p_i / \tau)$ among the k most probable.

    The same generator state gives the same draws for the same batch. The log-probabilities in the
    result are the model's own, without temperature and without what restricts the choice.

    Args:
        temperature: τ; below 1 the probable gets more probable, towards 0 the search is greedy.
        top_k: draw among so many only; `None`: among all.
        top_p, min_p: draw among those only that `sampling.keep_top_p` and `sampling.keep_min_p`
            keep, at this temperature; `None`: among all.
        generator: on the device of the model; `None`: torch's own.
        model, source, max_length, cached, keep_attention, n_candidates, ban: see `greedy_search`.

    Returns:
        One hypothesis for each source; repeat a row of `source` for several.

    Raises:
        ValueError: as for `greedy_search`; for a temperature that is not a positive number, a
            `top_k` below 1 or beyond the vocabulary, a `top_p` or `min_p` out of range.

    Source: top-k: Fan et al. (2018); top-p: Holtzman et al. (2020); min-p: Nguyen et al. (2024).
    """
    size = model.config.target_vocab_size
    if not is_number(temperature) or temperature <= 0:
        raise ValueError(
            f"temperature is {temperature!r}, but it must be a number above 0; for the most "
            "probable token at each step use greedy_search."
        )
    if top_k is not None and not (_whole(top_k) and 1 <= top_k <= size):
        raise ValueError(
            f"top_k is {top_k!r}, but it must be None or a whole number from 1 to {size}, the "
            "size of the vocabulary."
        )
    for keep, share in ((keep_top_p, top_p), (keep_min_p, min_p)):
        if share is not None:
            keep(torch.zeros(1), share)  # says at once what is wrong with it

    def choose(log_p: Tensor) -> Tensor:
        ids = None
        if top_k is not None:
            log_p, ids = log_p.topk(top_k)  # (N, k) each
        # An extreme temperature would leave the range of the floating-point type.
        limits = torch.finfo(log_p.dtype)
        logits = log_p - log_p.amax(dim=-1, keepdim=True)  # (N, k), the largest is 0
        logits = logits / min(max(temperature, limits.tiny), limits.max)
        logits = logits if top_p is None else keep_top_p(logits, top_p)
        logits = logits if min_p is None else keep_min_p(logits, min_p)
        drawn = logits.softmax(dim=-1).multinomial(1, generator=generator)  # (N, 1)
        return (drawn if ids is None else ids.gather(1, drawn)).squeeze(1)  # (N,)

    return _one_path(
        model,
        source,
        choose,
        max_length=max_length,
        cached=cached,
        keep_attention=keep_attention,
        n_candidates=n_candidates,
        ban=ban,
    )


def _one_path(
    model: Model,
    source: Tensor,
    choose: Callable[[Tensor], Tensor],
    **options: object,
) -> list[Hypothesis]:
    """One row for each sentence; `choose` picks the next token from the log-probabilities."""
    _check(model, source, **options)
    found: dict[int, Hypothesis] = {}
    with _searching(model, options["keep_attention"]):
        search = _Search(model, source, **options)
        sentences = list(range(len(source)))  # whose row n is
        tokens = source.new_full((len(source),), SOS)  # (N,)
        for length in count(1):
            log_p = search.log_probabilities(tokens)  # (N, V)
            tokens = choose(log_p)  # (N,)
            search.record(log_p, torch.arange(len(tokens), device=tokens.device), tokens)
            ended = (tokens == EOS).tolist()
            leaving, staying = [], []
            for n, i in enumerate(sentences):
                (leaving if ended[n] or length == search.limits[i] else staying).append((n, i))
            for (_, i), hypothesis in zip(leaving, search.hypotheses(leaving), strict=True):
                found[i] = hypothesis
            if not staying:
                return [found[i] for i in range(len(source))]
            if leaving:
                sentences = [i for _, i in staying]
                rows = torch.tensor([n for n, _ in staying], device=source.device)
                tokens = tokens[rows]
                search.keep(rows)
                search.decoder.select(rows)


# --- several paths for each sentence --------------------------------------------------------------


def length_divisor(length: int, length_penalty: float) -> float:
    r"""What beam search divides a sum of log-probabilities by: $((5 + |y|) / 6)^\alpha$.

    |y| counts the tokens, `<eos>` included. With α = 0 it is 1: every further token then costs, and
    short targets are preferred. Source: Wu et al. (2016), equation 14.
    """
    return ((5 + length) / 6) ** length_penalty


def check_length_penalty(length_penalty: object) -> None:
    """Raise `ValueError` unless `length_penalty` is a number from 0 to 10."""
    if not is_number(length_penalty) or not 0 <= length_penalty <= 10:
        raise ValueError(
            f"length_penalty is {length_penalty!r}, but it must be a number from 0 (none) to 10; "
            "0.6 is usual."
        )


def beam_search(
    model: Model,
    source: Int[Tensor, "B S"],
    beam_size: int = 5,
    *,
    length_penalty: float = 0.6,
    n_best: int = 1,
    max_length: int | None = None,
    cached: bool = True,
    keep_attention: bool = False,
    n_candidates: int = 0,
    ban: Collection[int] = (PAD, SOS),
) -> list[list[Hypothesis]]:
    r"""Follow the W most probable beginnings of each sentence instead of one.

    $$\mathrm{score}(y) = \frac{\sum_t \log p(y_t \mid y_{<t}, x)}{((5 + |y|) / 6)^\alpha}$$

    Each step ranks all continuations of a sentence's beams by the sum of their log-probabilities.

    1. Of the W best, those that end in `<eos>` are finished and set aside.
    2. The W best that do not end are the next beams: what is finished takes no place from them.
    3. The sentence is done when all W best have ended; or at `max_length`; or when `n_best`
       finished hypotheses have scores that no beam can exceed any more. A sum only falls as
       tokens follow, so a beam with the sum s ends with a score of at most s divided by the
       penalty of the longest target.

    With a beam of 1, rule 3 stops at the first `<eos>`: that is greedy search, whatever the
    penalty. With a beam that never has to leave anything out, the result is the best of all
    targets up to `max_length`.

    Args:
        beam_size: W.
        length_penalty: α; 0 ranks by the sum.
        n_best: how many hypotheses to return for each source, at most W.
        model, source, max_length, cached, keep_attention, n_candidates, ban: see `greedy_search`.

    Returns:
        For each source the `n_best` best finished hypotheses, best first. If `max_length` comes
        before so many have finished, the best of the beams that are left follow, unfinished. Fewer
        than `n_best` only if there are no more.

    Raises:
        ValueError: as for `greedy_search`; for a beam size or `n_best` below 1, an `n_best` above
            the beam size, and a penalty that is negative or not finite.

    Source: Sutskever et al. (2014), section 3.2; the score: Wu et al. (2016), section 7.
    """
    check_positive(beam_size=beam_size, n_best=n_best)
    if n_best > beam_size:
        raise ValueError(
            f"n_best is {n_best}, but a beam of {beam_size} has only so many hypotheses; choose "
            f"n_best={beam_size} or less, or a larger beam."
        )
    check_length_penalty(length_penalty)
    options = {
        "max_length": max_length,
        "cached": cached,
        "keep_attention": keep_attention,
        "n_candidates": n_candidates,
        "ban": ban,
    }
    _check(model, source, **options)
    size = model.config.target_vocab_size
    found: list[list[Hypothesis]] = [[] for _ in range(len(source))]
    with _searching(model, keep_attention):
        search = _Search(model, source, **options)
        sentences = list(range(len(source)))  # whose beams stand in line b
        tokens = source.new_full((len(source),), SOS)  # (B W,); in the first step W = 1
        sums = torch.zeros(len(source), 1, device=source.device)  # (B, W)
        for length in count(1):
            log_p = search.log_probabilities(tokens)  # (B W, V)

            # The continuations of a sentence's beams compete. At most W of them end, one of each
            # beam, so the 2 W best hold W that do not (if the vocabulary has so many).
            lines = torch.arange(len(sums), device=source.device)[:, None]  # (B, 1)
            totals = (sums.view(-1, 1) + log_p).view(len(sums), -1)  # (B, W V)
            best, places = totals.topk(min(2 * beam_size, totals.size(1)))  # (B, C) each
            beams = lines * sums.size(1) + places // size  # (B, C), the row that is continued
            tokens = places % size  # (B, C)
            rows = torch.arange(tokens.numel(), device=source.device).view_as(tokens)  # (B, C)
            search.record(log_p, beams.flatten(), tokens.flatten())

            # 1. Of the W best, those that end are finished. (What is impossible is nothing.)
            ends = tokens == EOS  # (B, C)
            finished = (ends & (best > -INFINITY))[:, :beam_size].nonzero().tolist()
            pairs = [(b * tokens.size(1) + c, sentences[b]) for b, c in finished]
            for (_, i), hypothesis in zip(
                pairs, search.hypotheses(pairs, length_penalty), strict=True
            ):
                found[i].append(hypothesis)

            # 2. The W best that do not end go on.
            going = best.masked_fill(ends, -INFINITY)  # (B, C)
            none_of_the_best = going[:, :beam_size].amax(dim=1, keepdim=True) == -INFINITY
            sums, chosen = going.topk(min(beam_size, going.size(1)))  # (B, W) each
            beams, tokens, rows = (x.gather(1, chosen) for x in (beams, tokens, rows))

            # 3. Which sentences are done?
            hopes = sums.masked_fill(none_of_the_best, -INFINITY)[:, 0].tolist()
            staying = []
            for b, i in enumerate(sentences):
                found[i] = sorted(found[i], key=lambda h: h.score, reverse=True)[:n_best]
                attainable = hopes[b] / length_divisor(search.limits[i], length_penalty)
                enough = len(found[i]) == n_best and found[i][-1].score >= attainable
                if not enough and hopes[b] > -INFINITY and length < search.limits[i]:
                    staying.append(b)
                elif len(found[i]) < n_best:
                    left = zip(rows[b].tolist(), sums[b].tolist(), strict=True)
                    pairs = [(n, i) for n, total in left if total > -INFINITY]
                    found[i] += search.hypotheses(pairs[: n_best - len(found[i])], length_penalty)
            if not staying:
                return found
            if len(staying) < len(sentences):
                sentences = [sentences[b] for b in staying]
                index = torch.tensor(staying, device=source.device)
                sums, beams, tokens, rows = (x[index] for x in (sums, beams, tokens, rows))
            search.keep(rows.flatten())
            search.decoder.select(beams)
            tokens = tokens.flatten()  # (B W,)
