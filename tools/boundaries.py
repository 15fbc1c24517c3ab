"""Where the arguments of the checked functions are at a boundary, as conditions on them.

For each component, the conditions by name. Some input must meet each of them, so that a program
that is right everywhere else is found out. Two conditions together (one sentence, and padded) are
a condition of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

PAD, SOS, EOS, UNK = range(4)
SPECIAL = {"padding": PAD, "<sos>": SOS, "<eos>": EOS, "<unk>": UNK}
BUFFERS = (10, 16, 20, 64, 100, 128, 512, 1024)  # sizes that people make buffers with
Condition = Callable[..., bool]


def on(argument: str, conditions: Mapping[str, Callable[[Any], Any]]) -> dict[str, Condition]:
    """Conditions on one argument, by its name."""
    made = {}
    for name, holds in conditions.items():
        scope: dict[str, Any] = {"holds": holds}
        exec(f"def where({argument}):\n    return bool(holds({argument}))", scope)
        made[f"{argument}: {name}"] = scope["where"]
    return made


def longer_than(sizes: tuple[int, ...], size: Callable[[Any], int]) -> dict[str, Any]:
    return {f"longer than {n}": lambda x, n=n: size(x) > n for n in sizes}


def token_conditions(*, padded: bool = True, buffers: tuple[int, ...] = BUFFERS) -> dict[str, Any]:
    """Of ids `(B, T)`."""
    found: dict[str, Any] = {
        "one sentence": lambda t: len(t) == 1,
        "several sentences": lambda t: len(t) > 1,
        "as many sentences as places": lambda t: t.size(0) == t.size(1),
        "more sentences than places": lambda t: t.size(0) > t.size(1),
        "fewer sentences than places": lambda t: t.size(0) < t.size(1),
        "no padding": lambda t: (t != PAD).all(),
        **longer_than(buffers, lambda t: t.size(1)),
    }
    for name, token in SPECIAL.items():
        if token != PAD:
            found[f"{name} first"] = lambda t, token=token: (t[:, 0] == token).any()
            found[f"{name} in the middle"] = lambda t, token=token: (t[:, 1:-1] == token).any()
            found[f"{name} last"] = lambda t, token=token: (t[:, -1] == token).any()
    if padded:
        found |= {
            "padding": lambda t: (t == PAD).any(),
            "one sentence, padded": lambda t: len(t) == 1 and (t == PAD).any(),
            "the first sentence padded": lambda t: (t[0] == PAD).any(),
            "the last sentence padded": lambda t: (t[-1] == PAD).any(),
            "<sos>, and padding": lambda t: (t == SOS).any() and (t == PAD).any(),
        }
    return found


def vector_conditions(*axes: str) -> dict[str, Any]:
    """Of a tensor with these axes, the last one behind."""
    found: dict[str, Any] = {}
    for i, axis in enumerate(axes[:-1], start=-len(axes)):
        found[f"one of {axis}"] = lambda x, i=i: x.size(i) == 1
        found[f"several of {axis}"] = lambda x, i=i: x.size(i) > 1
    for i in range(-len(axes), -1):
        names = f"as many {axes[i]} as {axes[i + 1]}"
        found[names] = lambda x, i=i: x.size(i) == x.size(i + 1)
    return found


BTD = ("sentences", "positions", "features")
MASKS: dict[str, Condition] = {
    "no mask": lambda mask: mask is None,
    "a mask that is the same for all": lambda mask: mask is not None and mask.dim() == 2,
    "a mask for each sentence": lambda mask: mask is not None and mask.dim() == 4 and len(mask) > 1,
    "a hidden first key": lambda mask: mask is not None and not mask[..., 0].all(),
    "a hidden last key": lambda mask: mask is not None and not mask[..., -1].all(),
}
QUERIES_AND_KEYS: dict[str, Condition] = {
    "more keys than queries": lambda query, key: key.size(-2) > query.size(-2),
    "as many keys as queries": lambda query, key: key.size(-2) == query.size(-2),
    "one query": lambda query: query.size(-2) == 1,
    "one key": lambda key: key.size(-2) == 1,
    "one sentence": lambda query: len(query) == 1,
}
RESIDUAL = on("x", vector_conditions(*BTD))

BOUNDARIES: dict[str, dict[str, Condition]] = {
    "number_of_targets": {
        "one word": lambda vocab_size, length: length == 1 or vocab_size == 1,
        "beyond 64 bits": lambda vocab_size, length: vocab_size**length > 2**64,
        "beyond a float's digits": lambda vocab_size, length: vocab_size**length > 2**200,
    },
    "build_vocabulary": {
        "every word": lambda least: least == 1,
        "no word": lambda texts, least: max(map(len, texts)) * len(texts) < 3 * least,
        "a word twice in a sentence": lambda texts: any(len(set(t)) < len(t) for t in texts),
    },
    "encode": {
        "no token": lambda tokens: not tokens,
        "one token": lambda tokens: len(tokens) == 1,
        "a token twice": lambda tokens: len(set(tokens)) < len(tokens),
        "unknown first": lambda tokens, vocabulary: tokens[:1] and tokens[0] not in vocabulary,
        "unknown last": lambda tokens, vocabulary: tokens[-1:] and tokens[-1] not in vocabulary,
        "nothing unknown": lambda tokens, vocabulary: all(t in vocabulary for t in tokens),
        "nothing known": lambda tokens, vocabulary: not any(t in vocabulary for t in tokens),
        "a large letter": lambda tokens: any(t != t.lower() for t in tokens),
        **{f"the token {t}": lambda tokens, t=t: t in tokens for t in ("<pad>", "<sos>", "<eos>")},
    },
    "text_to_ids": {
        "no text": lambda text: not text,
        "capital letters": lambda text: text != text.lower(),
        "longer than 512": lambda text: len(text.split()) > 512,
        "the text is a token": lambda text, vocabulary: text in vocabulary,
    },
    "collate": {
        "one row": lambda rows: len(rows) == 1,
        "one token": lambda rows: max(map(len, rows)) == 1,
        "of one length": lambda rows: len(set(map(len, rows))) == 1 and len(rows) > 1,
        "the longest first": lambda rows: len(rows[0]) > len(rows[-1]),
        "the longest last": lambda rows: len(rows[0]) < len(rows[-1]),
        "an id beyond one byte": lambda rows: max(map(max, rows)) > 255,
        "an id beyond two bytes": lambda rows: max(map(max, rows)) > 65535,
        "<sos> first": lambda rows: any(row[0] == SOS for row in rows),
        "<unk>": lambda rows: any(UNK in row for row in rows),
        "longer than 1024": lambda rows: max(map(len, rows)) > 1024,
    },
    "shift": {
        name: where
        for name, where in on("target", token_conditions(buffers=())).items()
        if not name.endswith(("<sos> in the middle", "<sos> last", "<eos> first", "<unk> first"))
        and not name.endswith(("<unk> last",))
    }
    | {"as short as can be": lambda target: target.size(1) == 2},
    "embedding": {
        "one token": lambda tokens: tokens.numel() == 1,
        "one sentence": lambda tokens: len(tokens) == 1,
        "several sentences": lambda tokens: len(tokens) > 1,
        **{
            f"the token {name}": lambda tokens, t=t: (tokens == t).any()
            for name, t in SPECIAL.items()
        },
        "d_model is no square": lambda weight: int(weight.size(1) ** 0.5) ** 2 != weight.size(1),
        "d_model beyond 64": lambda weight: weight.size(1) > 64,
        "as many features as words": lambda weight: weight.size(0) <= weight.size(1),
    },
    "tied_logits": RESIDUAL | {"a square matrix": lambda weight: weight.size(0) == weight.size(1)},
    "sinusoids": {
        "one position": lambda length: length == 1,
        "two features": lambda d_model: d_model == 2,
        "more features than positions": lambda length, d_model: d_model > length,
        "more positions than features": lambda length, d_model: d_model < length,
        "d_model beyond 256": lambda d_model: d_model > 256,
        **on("length", longer_than((*BUFFERS, 5000), int)),
    },
    "add_positions": RESIDUAL
    | {
        "the whole table": lambda x, table: x.size(1) == len(table),
        "more sentences than positions": lambda x: x.size(0) > x.size(1),
        "longer than 1024": lambda x: x.size(1) > 1024,
        "a vector of zeros": lambda x: (x == 0).all(-1).any(),
    },
    "softmax": {
        **{f"{n} axes": lambda scores, n=n: scores.dim() == n for n in (1, 2, 3, 4)},
        "one score": lambda scores: scores.size(-1) == 1,
        "negative scores alone": lambda scores: (scores < 0).all(),
        "scores beyond 88": lambda scores: scores.max() > 88,
        "scores below -103": lambda scores: scores.amax(-1).min() < -103,
        "equal scores": lambda scores: (scores.amax(-1) == scores.amin(-1)).any(),
    },
    "scaled_dot_product_attention": {
        **MASKS,
        **QUERIES_AND_KEYS,
        "an empty row": lambda mask: mask is not None and not mask.any(-1).all(),
        "values wider than keys": lambda key, value: value.size(-1) > key.size(-1),
        "values narrower than keys": lambda key, value: value.size(-1) < key.size(-1),
        "no axis in front": lambda query: query.dim() == 2,
        "vectors longer than 50": lambda query: query.size(-1) > 50,
        "a mask, and scores beyond 10000": lambda query, key, mask: (
            mask is not None and (query @ key.mT).abs().max() > 2e4
        ),
    },
    "padding_mask": on("tokens", token_conditions())
    | {
        "one place": lambda tokens: tokens.size(1) == 1,
        "nothing but padding": lambda tokens: (tokens == PAD).all(1).any(),
        "padding in front": lambda tokens: ((tokens[:, 0] == PAD) & tokens.any(1)).any(),
    },
    "causal_mask": {
        "one place": lambda length: length == 1,
        "two places": lambda length: length == 2,
        **on("length", longer_than(BUFFERS, int)),
    },
    "split_heads": on("x", vector_conditions(*BTD))
    | {
        "one head": lambda n_heads: n_heads == 1,
        "as many heads as positions": lambda x, n_heads: x.size(1) == n_heads,
        "as many heads as features": lambda x, n_heads: x.size(2) == n_heads,
        "as many heads as sentences": lambda x, n_heads: x.size(0) == n_heads > 1,
        "as many heads as each is wide": lambda x, n_heads: x.size(2) == n_heads**2,
    },
    "merge_heads": on("heads", vector_conditions("sentences", "heads", "positions", "features")),
    "multi_head_attention": {
        **MASKS,
        **QUERIES_AND_KEYS,
        "more queries than keys": lambda query, key: key.size(-2) < query.size(-2),
        "one head": lambda n_heads: n_heads == 1,
        "as many heads as sentences": lambda query, n_heads: len(query) == n_heads > 1,
        "more heads than sentences": lambda query, n_heads: len(query) < n_heads,
    },
    "layer_norm": RESIDUAL
    | {
        "ε counts": lambda x: (x.var(-1, unbiased=False) < 1e-4).any(),
        "no variance": lambda x: (x.var(-1, unbiased=False) == 0).any(),
        "another ε": lambda eps: eps is not None and eps != 1e-5,
        "far from zero": lambda x: x.size(-1) > 1 and (x.mean(-1).abs() > 1000 * x.std(-1)).any(),
        "one feature": lambda x: x.size(-1) == 1,
        "more than eight positions": lambda x: x.size(1) > 8,
        "means that cancel": lambda x: x.mean().abs() < 1e-6 and (x.mean(-1).abs() > 0.1).any(),
    },
    "layer_norm_parameters": {
        "one feature": lambda d_model: d_model == 1,
        "several features": lambda d_model: d_model > 1,
    },
    "pre_norm": RESIDUAL,
    "post_norm": RESIDUAL,
    "dropout": {
        "evaluation": lambda training: not training,
        "p = 0": lambda p: p == 0,
        "p below a half": lambda p: 0 < p < 0.5,
        "p above a half": lambda p: p > 0.5,
        "all dropped": lambda keep, training: training and not keep.any(),
        "all kept, and p": lambda keep, p, training: training and bool(keep.all()) and p > 0,
    },
    "sublayer_with_dropout": RESIDUAL,
    "feed_forward": RESIDUAL
    | {
        "as wide inside": lambda w1: w1.size(0) == w1.size(1),
        "narrower inside": lambda w1: w1.size(0) < w1.size(1),
        "activations beyond 6": lambda x, w1, b1: (x @ w1.T + b1).max() > 6,
    },
    "group_sort": {
        "one pair": lambda x: x.size(-1) == 2,
        "several pairs": lambda x: x.size(-1) > 2,
        "one axis": lambda x: x.dim() == 1,
        "two equal numbers": lambda x: (x[..., 0::2] == x[..., 1::2]).any(),
        "sorted already": lambda x: (x[..., 0::2] <= x[..., 1::2]).all(),
    },
    "encoder_layer": RESIDUAL
    | {
        "no mask": lambda mask: mask is None,
        "one sentence and a mask": lambda x, mask: mask is not None and len(x) == 1,
        "a hidden first token": lambda mask: mask is not None and not mask[..., 0].all(),
        "a hidden last token": lambda mask: mask is not None and not mask[..., -1].all(),
    },
    "decoder_layer": {
        name: where
        for name, where in RESIDUAL.items()
        if not name.endswith("one of features") and "positions as features" not in name
    }
    | {
        "no mask at all": lambda target_mask, memory_mask: target_mask is memory_mask is None,
        "no target mask": lambda target_mask, memory_mask: (
            target_mask is None and memory_mask is not None
        ),
        "no source mask": lambda target_mask, memory_mask: (
            memory_mask is None and target_mask is not None
        ),
        "more source than target": lambda x, memory: memory.size(1) > x.size(1),
        "more target than source": lambda x, memory: memory.size(1) < x.size(1),
        "as much of both": lambda x, memory: memory.size(1) == x.size(1),
        "a source of one token": lambda memory: memory.size(1) == 1,
    },
    "causal_self_attention": RESIDUAL
    | {
        "training": lambda training: training,
        "evaluation": lambda training: not training,
        "longer than 128": lambda x: x.size(1) > 128,
        "scores beyond 10000": lambda x: (x @ x.mT).max() > 2e4,
    },
    "make_stack": {},
    "transformer_forward": {
        **{
            name: where
            for name, where in on("source", token_conditions(buffers=())).items()
            if not name.endswith(("<sos> in the middle", "<sos> last", "<eos> first"))
        },
        **{
            name: where
            for name, where in on("target", token_conditions(buffers=())).items()
            if not name.endswith(("<sos> in the middle", "<sos> last", "<eos> first"))
            and not name.endswith("<unk> first")
        },
        "source longer than target": lambda source, target: source.size(1) > target.size(1),
        "target longer than source": lambda source, target: source.size(1) < target.size(1),
        "of one length": lambda source, target: source.size(1) == target.size(1),
    },
    "cross_entropy": {
        "one sentence": lambda target: len(target) == 1,
        "one sentence, padded": lambda target: len(target) == 1 and bool((target == PAD).any()),
        "one position": lambda target: target.size(1) == 1,
        "no padding": lambda target: bool((target != PAD).all()),
        **{
            f"the target {name}": lambda target, t=t: bool((target == t).any())
            for name, t in SPECIAL.items()
        },
        "a probability below the least number": lambda logits: bool(
            (logits.amax(-1) - logits.amin(-1) > 104).any()
        ),
        "a word of probability one": lambda logits, target: bool(
            (logits.log_softmax(-1).gather(-1, target[..., None])[target != PAD] == 0).any()
        ),
        "padding in front": lambda target: bool((target[:, 0] == PAD).any()),
    },
    "perplexity": {
        "one batch": lambda losses: len(losses) == 1,
        "a batch of one token": lambda counts: 1 in counts,
        "batches of one size": lambda counts: len(set(counts)) == 1 and len(counts) > 1,
        "no loss": lambda losses: 0.0 in losses,
        "a loss above 10": lambda losses: max(losses) > 10,
    },
    "inverse_sqrt_schedule": {
        "the first update": lambda update: update == 1,
        "in the warm-up": lambda update, warmup: 1 < update < warmup,
        "the end of the warm-up": lambda update, warmup: update == warmup,
        "after the warm-up": lambda update, warmup: update > warmup,
        "a warm-up of one update": lambda warmup: warmup == 1,
        "another warm-up than 4000": lambda warmup: warmup != 4000,
    },
    "clip_gradients": {
        "one tensor": lambda gradients: len(gradients) == 1,
        "several tensors": lambda gradients: len(gradients) > 1,
        "a length of 0": lambda gradients: not any(g.any() for g in gradients),
        "a limit below one": lambda limit: limit < 1,
        "a limit above one": lambda limit: limit > 1,
        "short singly, long together": lambda gradients, limit: (
            max(float(g.norm()) for g in gradients)
            <= limit
            < float(torch.cat([g.flatten() for g in gradients]).norm())
        ),
    },
    "best_checkpoint": {
        "the first is the best": lambda checkpoints, batches, loss_of: (
            _best(checkpoints, batches, loss_of) == 0
        ),
        "the last is the best": lambda checkpoints, batches, loss_of: (
            _best(checkpoints, batches, loss_of) == len(checkpoints) - 1
        ),
        "losses above 100": lambda checkpoints, batches, loss_of: (
            loss_of(checkpoints[0], batches[0]) > 100
        ),
        "losses that differ by less than a hundredth": lambda checkpoints, batches, loss_of: (
            max(loss_of(c, batches[0]) for c in checkpoints)
            < min(loss_of(c, batches[0]) for c in checkpoints) + 0.01
        ),
    },
    "average_checkpoints": {
        "one checkpoint": lambda checkpoints: len(checkpoints) == 1,
        "two checkpoints": lambda checkpoints: len(checkpoints) == 2,
        "more than five": lambda checkpoints: len(checkpoints) > 5,
    },
    "next_token": {
        "one sentence": lambda logits: logits.size(0) == 1,
        "one position": lambda logits: logits.size(1) == 1,
        "one of both": lambda logits: logits.size(0) == logits.size(1) == 1,
        "as many of all": lambda logits: len(set(logits.shape)) == 1,
    },
    "temperature_probabilities": {
        "one sentence": lambda logits: len(logits) == 1,
        "temperature 1": lambda temperature: temperature == 1,
        "a low temperature": lambda temperature: temperature < 0.05,
        "a high temperature": lambda temperature: temperature > 1,
        "exponentials that overflow": lambda logits, temperature: (logits / temperature).max() > 88,
    },
    "top_k_probabilities": {
        "one token": lambda k: k == 1,
        "all tokens": lambda logits, k: k == logits.size(-1),
        "one sentence": lambda logits: len(logits) == 1,
        "several sentences": lambda logits: len(logits) > 1,
        "negative logits alone": lambda logits: bool((logits < 0).all()),
    },
    "greedy_search": {
        "one token at most": lambda max_length: max_length == 1,
        **on("max_length", longer_than((10, 20, 64, 100, 128), int)),
    },
    "greedy_batch": {
        "one sentence": lambda n_sentences: n_sentences == 1,
        "one token at most": lambda max_length: max_length == 1,
        **on("max_length", longer_than((10, 20, 64), int)),
    },
    "beam_search": {
        "one beam": lambda beam_size: beam_size == 1,
        "more than two beams": lambda beam_size: beam_size > 2,
    },
    "embed_next": {
        "padding": lambda tokens: bool((tokens == PAD).any()),
        "nothing in the cache": lambda past: past == 0,
        "one in the cache": lambda past: past == 1,
        "several new tokens": lambda tokens: tokens.size(1) > 1,
        "several new tokens after some": lambda tokens, past: tokens.size(1) > 1 and past > 0,
        "one sentence": lambda tokens: len(tokens) == 1,
        "the last row of the table": lambda tokens, past, table: (
            past + tokens.size(1) == len(table)
        ),
    },
    "reorder_cache": {
        "one beam": lambda rows: len(rows) == 1,
        "one layer": lambda cache: len(cache) == 1,
        "more than two layers": lambda cache: len(cache) > 2,
        "nothing changes": lambda rows: rows.tolist() == list(range(len(rows))),
        "a beam twice": lambda rows: len(rows.unique()) < len(rows),
        "as many layers as beams": lambda cache, rows: len(cache) == len(rows),
        "as many heads as beams": lambda cache: cache[0][0].size(0) == cache[0][0].size(1),
    },
    "length_normalised": {
        "one token": lambda length: length == 1,
        "α = 1": lambda alpha: alpha == 1,
        "α between": lambda alpha: 0 < alpha < 1,
        "α above one": lambda alpha: alpha > 1,
    },
    "cut_at_end": {
        "nothing": lambda ids: not ids,
        "no end": lambda ids: bool(ids) and EOS not in ids,
        "an end first": lambda ids: ids[:1] == [EOS],
        "an end last": lambda ids: ids[-1:] == [EOS],
        "two ends": lambda ids: ids.count(EOS) > 1,
        "padding before the end": lambda ids: (
            EOS in ids and PAD in ids and ids.index(PAD) < ids.index(EOS)
        ),
        "padding and no end": lambda ids: PAD in ids and EOS not in ids,
        "<sos>": lambda ids: SOS in ids,
        "<unk>": lambda ids: UNK in ids,
    },
    "induction_score": {
        "one sequence": lambda weights: len(weights) == 1,
        "several sequences": lambda weights: len(weights) > 1,
        "one head": lambda weights: weights.size(1) == 1,
        "a third time": lambda weights, period: weights.size(-1) > 2 * period,
        "one row that can copy": lambda weights, period: weights.size(-1) == period + 1,
        "a period of two": lambda period: period == 2,
        "weights on what follows": lambda weights: bool(weights.triu(1).any()),
    },
    "ablate_head": {
        "the first head": lambda head: head == 0,
        "the last head of several": lambda heads, head: 0 < head == heads.size(1) - 1,
        "one head": lambda heads: heads.size(1) == 1,
        "one sequence": lambda heads: len(heads) == 1,
        "one position": lambda heads: heads.size(2) == 1,
        "as many heads as features": lambda heads: heads.size(1) == heads.size(3),
        "another width behind": lambda weight: weight.size(0) != weight.size(1),
    },
}
BOUNDARIES["target_mask"] = BOUNDARIES["padding_mask"]
BOUNDARIES["label_smoothed_loss"] = BOUNDARIES["cross_entropy"] | {
    "no smoothing": lambda smoothing: smoothing == 0,
    "smoothing alone": lambda smoothing: smoothing == 1,
    "another smoothing than 0.1": lambda smoothing: smoothing != 0.1,
}


def _best(checkpoints: Any, batches: Any, loss_of: Any) -> int:
    tokens = sum(map(len, batches))
    losses = [sum(loss_of(c, b) * len(b) for b in batches) / tokens for c in checkpoints]
    return losses.index(min(losses))
