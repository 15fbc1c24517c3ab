"""From a trained model to sentences: greedy search, sampling, beam search (chapter 17).

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
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_book.architectures import Model
from transformer_book.attention import keeps_weights, recorded_attention
from transformer_book.decoder_cache import new_stepper
from transformer_book.decoder_only import DecoderOnly
from transformer_book.layers import fused_norms
from transformer_book.sampling import Drawing
from transformer_book.support.arguments import (
    check_positive,
    check_switch,
    check_token_batch,
    is_number,
)
from transformer_book.tokens import EOS, PAD, SOS

INFINITY = float("inf")


@dataclass(frozen=True)
class Hypothesis:
    """One target that a search has found.

    Attributes:
        tokens: the ids after `<sos>`; the last one is `<eos>` if the hypothesis is finished.
        log_probabilities: of each of these tokens given those before it (natural logarithm).
        score: what beam search ranks by: the sum of `log_probabilities` over `length_divisor`;
            for greedy search and sampling the sum.
        finished: False if the length limit was reached before `<eos>`.
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


# --- what all searches share ----------------------------------------------------------------------


@dataclass(frozen=True)
class SearchOptions:
    r"""What every search can be asked; each takes these as keywords.

    Without `max_length`, a source of $|x|$ tokens gets a target of at most
    $\min(|x| + 50, \text{max\_length of the model} - 1)$ tokens: the first number is that of
    Vaswani et al. (2017), section 6.1, the second what the model has room for after `<sos>`.

    Attributes:
        max_length: longest target, in tokens, `<eos>` included; `None`: see above.
        cached: keep keys and values instead of computing them anew at every step. A model for
            which that would be wrong is decoded without a cache all the same (`can_be_cached`).
        keep_attention: record the weights of cross-attention.
        n_candidates: how many of the most probable tokens to record at each step.
        ban: ids that are never produced; `<pad>` and `<sos>` are not in any case.
    """

    max_length: int | None = None
    cached: bool = True
    keep_attention: bool = False
    n_candidates: int = 0
    ban: Collection[int] = (PAD, SOS)

    def check(self, model: Model) -> None:
        """Raise `ValueError` for an option that is out of range for this model."""
        size, longest = model.config.target_vocab_size, model.config.max_length - 1
        check_switch(cached=self.cached, keep_attention=self.keep_attention)
        if size <= EOS:
            raise ValueError(
                f"The target vocabulary has {size} entries and no <eos>, which is id {EOS}; build "
                f"the model with target_vocab_size={EOS + 1} or more."
            )
        if longest < 1:
            raise ValueError(
                "The model's max_length is 1, which <sos> fills; build it with max_length=2 or "
                "more."
            )
        if self.max_length is not None:
            check_positive(max_length=self.max_length)
            if self.max_length > longest:
                raise ValueError(
                    f"max_length is {self.max_length}, but after <sos> this model has room for "
                    f"{longest} tokens; choose {longest} or less."
                )
        if not _whole(self.n_candidates) or not 0 <= self.n_candidates <= size:
            raise ValueError(
                f"n_candidates is {self.n_candidates!r}, but it must be a whole number from 0 "
                f"to {size}, the size of the vocabulary."
            )
        for token in self.ban:
            if not _whole(token) or not 0 <= token < size:
                raise ValueError(
                    f"ban has {token!r}, but it must hold ids of the vocabulary, from 0 to "
                    f"{size - 1}."
                )
        if len({PAD, SOS, *self.ban}) == size:
            raise ValueError(f"ban has every token of the vocabulary ({size}): nothing is left.")
        if self.keep_attention and isinstance(model, DecoderOnly):
            raise ValueError(
                "A decoder-only model has no cross-attention that could be kept: pass "
                "keep_attention=False, and look at its self-attention with recorded_attention."
            )
        if self.keep_attention:
            for number, layer in enumerate(model.decoder.layers):
                cross = getattr(layer, "cross_attention", None)
                if not isinstance(cross, nn.Module) or not keeps_weights(cross):
                    raise ValueError(
                        f"keep_attention needs a cross_attention that leaves its weights "
                        "(B, H, T, S) in an attribute `weights`, which decoder layer "
                        f"{number} does not have; set `self.weights = None` in its __init__ and "
                        "the weights in forward, or pass keep_attention=False."
                    )


def _whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


class _Search:
    """A source that is being decoded: what may follow each row, and what each row has chosen.

    Row n of everything belongs to the same hypothesis. The records are `(N, T, …)`, one column
    for each step.
    """

    def __init__(self, model: Model, source: Tensor, options: SearchOptions) -> None:
        self.options = options
        self.layers = _decoder_layers(model)
        self.real = source != PAD  # (B, S)
        self.limits = _limits(model, self.real, options.max_length)
        never = sorted({PAD, SOS, *options.ban})
        self.never = torch.tensor(never, device=source.device)
        self.n_possible = model.config.target_vocab_size - len(never)
        self.decoder = new_stepper(model, source, options.cached)
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
        if self.options.n_candidates:
            best = log_p.topk(min(self.options.n_candidates, self.n_possible))  # (N, k)
            new |= {"candidates": best.indices[rows], "candidates_p": best.values.exp()[rows]}
        if self.options.keep_attention:
            new["attention"] = self._attention(len(log_p))[rows]  # (N, n_layers, H, S)
        for name, column in new.items():
            column = column[:, None]  # (N, 1, …)
            before = self.records.get(name)
            if before is not None:
                column = torch.cat([before[rows], column], dim=1)  # (N, T, …)
            self.records[name] = column

    def _attention(self, n_rows: int) -> Tensor:
        """Cross-attention of the newest position, `(N, n_layers, H, S)`."""
        weights = [layer.cross_attention.weights for layer in self.layers]
        for number, w in enumerate(weights):
            if not isinstance(w, Tensor) or w.dim() != 4:
                raise ValueError(
                    f"keep_attention found no weights (B, H, T, S) in the cross_attention of "
                    f"decoder layer {number}: let its forward set `self.weights` at every call."
                )
        # Cached, the queries are the W beams of a sentence; uncached, a row's T positions (W = 1).
        weights = [w[:, :, -(n_rows // len(w)) :] for w in weights]  # (B, H, W, S) each
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
            if self.options.keep_attention:
                attention = records["attention"][n].permute(1, 2, 0, 3)  # (n_layers, H, T, S)
                attention = attention[..., self.real[sentence]]  # S without padding
            if self.options.n_candidates:
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
def _searching(model: Model, source: Tensor, options: SearchOptions) -> Iterator[_Search]:
    """Evaluation mode, no gradients, fused norms, attention on request; then all is as before.

    Not `torch.inference_mode`, which is a few per cent faster: tensors made in it are restricted
    for ever, and the model keeps some, its attention weights and its table of sinusoids.
    """
    check_token_batch(source)
    options.check(model)
    modes = {module: module.training for module in model.modules()}
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(fused_norms(model))
        if options.keep_attention:
            crosses = nn.ModuleList(layer.cross_attention for layer in _decoder_layers(model))
            stack.enter_context(recorded_attention(crosses))
        try:
            model.eval()
            yield _Search(model, source, options)
        finally:
            for module, training in modes.items():
                module.training = training


# --- one path for each sentence -------------------------------------------------------------------


def greedy_search(model: Model, source: Int[Tensor, "B S"], **options: Any) -> list[Hypothesis]:
    """Take the most probable token, feed it back, until `<eos>`.

    Args:
        model: in any mode; evaluated without dropout.
        source: ids, padded with `<pad>`.
        **options: see `SearchOptions`.

    Returns:
        One hypothesis for each source, unfinished if `max_length` came before `<eos>`.

    Raises:
        ValueError: for a source of nothing but padding, an id outside the vocabulary, a
            `max_length` that the model has no room for, another argument out of range, or logits
            that are not finite.
    """
    return _one_path(model, source, lambda log_p: log_p.argmax(dim=-1), SearchOptions(**options))


def sample(
    model: Model,
    source: Int[Tensor, "B S"],
    drawing: Drawing | None = None,
    *,
    generator: torch.Generator | None = None,
    **options: Any,
) -> list[Hypothesis]:
    r"""Draw each token at random, as `drawing` says.

    The same generator state gives the same draws for the same batch. The log-probabilities in the
    result are the model's own, without temperature and without what restricts the choice.

    Args:
        drawing: temperature and cuts, see `Drawing`; `None`: by the model's own probabilities.
        generator: on the device of the model; `None`: torch's own.
        model, source: see `greedy_search`.
        **options: see `SearchOptions`.

    Returns:
        One hypothesis for each source; repeat a row of `source` for several.

    Raises:
        ValueError: as for `greedy_search`; for a `top_k` beyond the vocabulary.

    Source: top-k: Fan et al. (2018); top-p: Holtzman et al. (2020); min-p: Nguyen et al. (2024).
    """
    drawing = drawing or Drawing()
    size = model.config.target_vocab_size
    if drawing.top_k is not None and drawing.top_k > size:
        raise ValueError(
            f"top_k is {drawing.top_k}, but it must be None or a whole number from 1 to {size}, "
            "the size of the vocabulary."
        )
    return _one_path(
        model, source, lambda log_p: drawing.draw(log_p, generator), SearchOptions(**options)
    )


def _one_path(
    model: Model, source: Tensor, choose: Callable[[Tensor], Tensor], options: SearchOptions
) -> list[Hypothesis]:
    """One row for each sentence; `choose` picks the next token from the log-probabilities."""
    found: dict[int, Hypothesis] = {}
    with _searching(model, source, options) as search:
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


def check_length_penalty(length_penalty: Any) -> None:
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
    **options: Any,
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
        model, source: see `greedy_search`.
        **options: see `SearchOptions`.

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
    size = model.config.target_vocab_size
    found: list[list[Hypothesis]] = [[] for _ in range(len(source))]
    with _searching(model, source, SearchOptions(**options)) as search:
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

            # 1. Of the W best, those that end are finished. (Impossible ones do not count.)
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
