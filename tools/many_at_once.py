"""Several models of one shape trained, and searched with, at once: for `tools/generations.py`.

A model of two million weights leaves a GPU idle: it waits for one small multiplication after the
other to be started. K of them with the same shape are one model whose matrices have a dimension
more, `(K, D, D)`, and cost little more than one. Further savings: pairs stand one after another in
rows of equal length, with masks between them (`pack`), so that every batch has the same shape and
an update can be recorded once and replayed (a CUDA graph); the scale and shift of each norm are
taken into the matrix behind it; a GPU multiplies in half precision, for training in bfloat16.

The functions compute what the book's `Transformer`, its loss and its searches compute: the tests
compare losses, gradients and translations. Pre-norm, ReLU, sinusoidal positions and one matrix for
all embeddings are taken for granted (`check_shape`).
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.embeddings import sinusoids
from transformer_book.optimization import learning_rate
from transformer_book.tokens import EOS, PAD, SOS
from transformer_book.transformer import Transformer, TransformerConfig

Ids = Sequence[int]
Weights = dict[str, Tensor]  # by the names of a Transformer's parameters, each (K, ...)

ROW = 64  # ids in a row, on either side
OPEN_ROWS = 24  # rows that a pair may still go into
NEVER = -30_000.0  # added to a score, or a logit: a half-precision number can still hold it
# What a row of a batch consists of: each (ROW,).
PARTS = ("source", "source_pair", "source_place", "target", "answer", "target_pair", "target_place")


def check_shape(config: TransformerConfig) -> None:
    """Raise `ValueError` if the models are not of the one kind that is computed here."""
    wanted = {
        "norm": "pre",
        "positions": "sinusoidal",
        "activation": "relu",
        "bias": True,
        "tie_embeddings": "all",
        "scale_embeddings": True,
        "score_scale": None,
        "causal": True,
        "residual": True,
        "feed_forward": True,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
    }
    for name, value in wanted.items():
        if getattr(config, name) != value:
            raise ValueError(
                f"{name} is {getattr(config, name)!r}: models are trained at once with "
                f"{value!r} only."
            )


def stacked(models: Sequence[Transformer]) -> Weights:
    """The weights of K models of one shape, each `(K, ...)`."""
    several = [dict(model.named_parameters()) for model in models]
    return {name: torch.stack([one[name].detach() for one in several]) for name in several[0]}


def put_into(model: Transformer, weights: Weights, k: int) -> Transformer:
    """The model, with the weights of number `k`."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name][k])
    return model


def picked(weights: Weights, which: Sequence[int]) -> Weights:
    """The weights of some of the models."""
    return {name: tensor[list(which)] for name, tensor in weights.items()}


def together(*several: Weights) -> Weights:
    """The weights of all models of several sets, of one shape."""
    return {name: torch.cat([one[name] for one in several]) for name in several[0]}


# --- rows of pairs --------------------------------------------------------------------------------


def pack(pairs: Sequence[tuple[Ids, Ids]], seed: int = 0, length: int = ROW) -> Tensor:
    """Pairs in rows, several one after another.

    In a row, the pairs are numbered from 1 and the places within each side from 0; padding has
    number 0.

    Args:
        pairs: source and target, both with `<eos>` at the end. A pair with a longer side than
            `length` is left out.
        seed: of the order in which they are packed.
        length: of a row, on either side.

    Returns:
        `(rows, 7, length)`, see `PARTS`.
    """
    order = [n for n, pair in enumerate(pairs) if max(map(len, pair)) <= length]
    random.Random(seed).shuffle(order)
    open_rows: list[tuple[list[int], list[int]]] = []  # (ids on either side, numbers of pairs)
    full = []
    for n in order:
        sizes = [len(side) for side in pairs[n]]
        row = next((row for row in open_rows if _fits(row[0], sizes, length)), None)
        if row is None:
            if len(open_rows) == OPEN_ROWS:
                open_rows.sort(key=lambda row: -max(row[0]))
                full.append(open_rows.pop(0)[1])
            row = ([0, 0], [])
            open_rows.append(row)
        used, members = row
        used[:] = [have + more for have, more in zip(used, sizes, strict=True)]
        members.append(n)
    rows = [_row([pairs[n] for n in members], length) for members in full]
    rows += [_row([pairs[n] for n in members], length) for _, members in open_rows]
    return torch.tensor(rows, dtype=torch.int16).view(-1, len(PARTS), length)


def _fits(used: Sequence[int], sizes: Sequence[int], length: int) -> bool:
    return all(have + more <= length for have, more in zip(used, sizes, strict=True))


def _row(pairs: Sequence[tuple[Ids, Ids]], length: int) -> list[list[int]]:
    parts: dict[str, list[int]] = {name: [] for name in PARTS}
    for number, (source, target) in enumerate(pairs, 1):
        for side, ids in (("source", source), ("target", target)):
            parts[f"{side}_pair"] += [number] * len(ids)
            parts[f"{side}_place"] += range(len(ids))
        parts["source"] += source
        parts["target"] += [SOS, *target[:-1]]
        parts["answer"] += target
    return [ids + [PAD] * (length - len(ids)) for ids in parts.values()]


# --- K models -------------------------------------------------------------------------------------


class Models:
    """K models as they compute: matrices `(K, in, out)`, norms taken into the matrix behind them.

    Args:
        weights: see `stacked`. Gradients flow into them.
        config: of each model.
        dtype: of the multiplications.
        positions: the table of positions, on the device; without one it is made.
    """

    def __init__(
        self,
        weights: Weights,
        config: TransformerConfig,
        dtype: torch.dtype,
        positions: Tensor | None = None,
    ) -> None:
        self.config, self.dtype = config, dtype
        self.embedding = weights["source_embedding.weight"]  # (K, V, D)
        self.K, self.V, self.D = self.embedding.shape
        self.scale = math.sqrt(self.D)
        if positions is None:
            positions = sinusoids(config.max_length, self.D).to(self.embedding.device)
        self.positions = positions
        self.matrices: dict[str, tuple[Tensor, Tensor]] = {}
        for i in range(config.n_encoder_layers):
            layer = f"encoder.layers.{i}."
            self._attention(weights, layer + "self_attention", layer + "attention_residual.norm")
            self._feed_forward(weights, layer)
        for i in range(config.n_decoder_layers):
            layer = f"decoder.layers.{i}."
            self._attention(weights, layer + "self_attention", layer + "self_residual.norm")
            cross = layer + "cross_attention"
            self._add(weights, f"{cross}.in", [f"{cross}.query"], layer + "cross_residual.norm")
            self._add(
                weights, f"{cross}.memory", [f"{cross}.key", f"{cross}.value"], "encoder.norm"
            )
            self._add(weights, f"{cross}.out", [f"{cross}.output"])
            self._feed_forward(weights, layer)
        scale, shift = weights["decoder.norm.weight"], weights["decoder.norm.bias"]
        E = self.embedding
        bias = weights["output.bias"][:, None] + shift[:, None] @ E.transpose(1, 2)
        self.matrices["logits"] = (
            (E * scale[:, None]).to(dtype).transpose(1, 2),
            bias.to(dtype),
        )

    def _attention(self, weights: Weights, name: str, norm: str) -> None:
        inputs = [f"{name}.{part}" for part in ("query", "key", "value")]
        self._add(weights, f"{name}.in", inputs, norm)
        self._add(weights, f"{name}.out", [f"{name}.output"])

    def _feed_forward(self, weights: Weights, layer: str) -> None:
        norm = layer + "feed_forward_residual.norm"
        self._add(weights, layer + "feed_forward.in", [layer + "feed_forward.linear1"], norm)
        self._add(weights, layer + "feed_forward.out", [layer + "feed_forward.linear2"])

    def _add(
        self, weights: Weights, name: str, parts: Sequence[str], norm: str | None = None
    ) -> None:
        matrix = torch.cat([weights[f"{part}.weight"] for part in parts], dim=1).transpose(1, 2)
        bias = torch.cat([weights[f"{part}.bias"] for part in parts], dim=1)[:, None]  # (K, 1, out)
        if norm is not None:
            bias = torch.baddbmm(bias, weights[f"{norm}.bias"][:, None], matrix)
            matrix = matrix * weights[f"{norm}.weight"][:, :, None]
        self.matrices[name] = (matrix.to(self.dtype), bias.to(self.dtype))

    def linear(self, name: str, x: Tensor) -> Tensor:  # (K, N, in) to (K, N, out)
        matrix, bias = self.matrices[name]
        return torch.baddbmm(bias, x, matrix)

    def normed(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, (self.D,))

    def embed(self, ids: Tensor, places: Tensor) -> Tensor:  # (K, N) to (K, N, D)
        first = torch.arange(self.K, device=ids.device)[:, None] * self.V
        vectors = F.embedding(ids + first, self.embedding.reshape(-1, self.D))
        return (vectors * self.scale + self.positions[places]).to(self.dtype)

    def split(self, x: Tensor, rows: int) -> Tensor:
        """`(K, rows · L, D)` to `(K · rows, heads, L, D / heads)`."""
        heads = self.config.n_heads
        return x.view(self.K * rows, -1, heads, self.D // heads).transpose(1, 2)

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        return mixed.transpose(1, 2).reshape(self.K, -1, self.D)

    def encode(self, ids: Tensor, places: Tensor, mask: Tensor, drop: Drop) -> Tensor:
        """Memory `(K, rows · S, D)`, normalised; `ids` are `(K, rows, S)`."""
        rows = ids.shape[1]
        x = drop(self.embed(ids.flatten(1), places.flatten(1)))
        for i in range(self.config.n_encoder_layers):
            layer = f"encoder.layers.{i}."
            x = self._self_attention(layer, x, rows, mask, drop)
            x = self.fed_forward(layer, x, drop)
        return self.normed(x)

    def decode(
        self,
        ids: Tensor,
        places: Tensor,
        memory: Tensor,
        masks: tuple[Tensor, Tensor],
        drop: Drop,
    ) -> Tensor:
        """Logits `(K, rows · T, V)`; `ids` are `(K, rows, T)`; the masks: own, and of memory."""
        rows = ids.shape[1]
        x = drop(self.embed(ids.flatten(1), places.flatten(1)))
        for i in range(self.config.n_decoder_layers):
            layer = f"decoder.layers.{i}."
            x = self._self_attention(layer, x, rows, masks[0], drop)
            cross = layer + "cross_attention"
            queries = self.split(self.linear(f"{cross}.in", self.normed(x)), rows)
            keys, values = self.memory_of(layer, memory, rows)
            mixed = self.attend(queries, keys, values, masks[1])
            x = x + drop(self.linear(f"{cross}.out", mixed))
            x = self.fed_forward(layer, x, drop)
        return self.linear("logits", self.normed(x))

    def memory_of(self, layer: str, memory: Tensor, rows: int) -> list[Tensor]:
        """Keys and values of the memory, for one layer of the decoder."""
        both = self.linear(f"{layer}cross_attention.memory", memory).chunk(2, dim=-1)
        return [self.split(part, rows) for part in both]

    def _self_attention(self, layer: str, x: Tensor, rows: int, mask: Tensor, drop: Drop) -> Tensor:
        parts = self.linear(f"{layer}self_attention.in", self.normed(x)).chunk(3, dim=-1)
        mixed = self.attend(*(self.split(part, rows) for part in parts), mask)
        return x + drop(self.linear(f"{layer}self_attention.out", mixed))

    def fed_forward(self, layer: str, x: Tensor, drop: Drop) -> Tensor:
        inner = F.relu(self.linear(f"{layer}feed_forward.in", self.normed(x)))
        return x + drop(self.linear(f"{layer}feed_forward.out", inner))


Drop = Callable[[Tensor], Tensor]


def kept(x: Tensor) -> Tensor:
    """No dropout."""
    return x


def dropout_of(rates: Sequence[float]) -> Drop:
    """Dropout with a rate for each of the K models."""

    def drop(x: Tensor) -> Tensor:  # (K, N, D)
        return torch.cat([F.dropout(x[k : k + 1], rate) for k, rate in enumerate(rates)])

    def drop_alike(x: Tensor) -> Tensor:
        return F.dropout(x, rates[0])

    return drop_alike if len(set(rates)) == 1 else drop


def _added(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask `(K, rows, T, S)` as numbers to add to scores, `(K · rows, 1, T, S)`."""
    return torch.where(allowed, 0.0, NEVER).to(dtype).flatten(0, 1)[:, None]


def losses(
    models: Models, batch: Tensor, smoothing: float, drop: Drop = kept
) -> tuple[Tensor, Tensor]:
    """Label-smoothed loss and negative log-likelihood of each model on its rows, both `(K,)`.

    Args:
        models: how they compute.
        batch: `(K, rows, 7, length)`, see `pack`.
        smoothing: of the labels, ε.
        drop: dropout.

    Returns:
        Both per token of the targets.
    """
    batch = batch.long()
    one = {name: batch[:, :, n] for n, name in enumerate(PARTS)}
    source, target = one["source_pair"], one["target_pair"]
    length = source.shape[-1]
    before = torch.ones(length, length, dtype=torch.bool, device=batch.device).tril()
    own = (target[..., :, None] == target[..., None, :]) & before
    # A query that is padding sees everything, so that no row of the softmax is empty.
    across = (target[..., :, None] == source[..., None, :]) | (target == 0)[..., :, None]
    dtype = models.dtype
    seen = _added(source[..., :, None] == source[..., None, :], dtype)
    memory = models.encode(one["source"], one["source_place"], seen, drop)
    masks = (_added(own, dtype), _added(across, dtype))
    logits = models.decode(one["target"], one["target_place"], memory, masks, drop)
    answer = one["answer"].flatten()
    how = {"ignore_index": PAD, "reduction": "none"}
    flat = logits.float().flatten(0, 1)
    n_real = (one["answer"] != PAD).flatten(1).sum(dim=1)
    smoothed = F.cross_entropy(flat, answer, label_smoothing=smoothing, **how)
    with torch.no_grad():
        said = F.cross_entropy(flat, answer, **how) if smoothing else smoothed
    return tuple(part.view(models.K, -1).sum(dim=1) / n_real for part in (smoothed, said))


# --- training -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Training:
    """How K models are trained; the other settings are those of the recipe.

    Attributes:
        updates: of all models.
        rows: of a batch, for each model.
        peak: the highest learning rate; it falls along a cosine.
        warmup: updates until then.
        smoothing: ε of the loss.
        average: how much of the moving average of the weights is kept at each update.
        seed: of the order of the rows and of dropout.
    """

    updates: int
    rows: int = 192
    peak: float = 4e-3
    warmup: int = 1000
    smoothing: float = 0.1
    average: float = 0.998
    seed: int = 0


def train(
    weights: Weights,
    config: TransformerConfig,
    table: Tensor,
    pools: Sequence[Tensor],
    rates: Sequence[float],
    training: Training,
    tell: Callable[[int, list[float]], None] = lambda update, nll: None,
) -> Weights:
    """Train K models. PyTorch's random numbers begin anew, with the seed of the training.

    Args:
        weights: to begin with, see `stacked`; they are not changed.
        config: of each model.
        table: rows, see `pack`.
        pools: for each model the numbers of the rows that it reads, as often as they stand there.
        rates: the dropout of each.
        training: everything else.
        tell: called every 1,000 updates, and after the last, with the negative log-likelihood of
            each model, nats per token: a moving average that begins with 0.

    Returns:
        The moving averages of their weights.

    Raises:
        ValueError: a shape that is not computed here, see `check_shape`.
    """
    check_shape(config)
    device = weights["output.bias"].device
    own = {name: tensor.clone().requires_grad_() for name, tensor in weights.items()}
    parameters = list(own.values())
    averaged = [parameter.detach().clone() for parameter in parameters]
    table, order = table.to(device), _order(pools, training).to(device)
    every = [
        learning_rate(
            n + 1,
            peak=training.peak,
            schedule="cosine",
            warmup=training.warmup,
            updates=training.updates,
        )
        for n in range(training.updates)
    ]
    every, rate = torch.tensor(every, device=device), torch.zeros((), device=device)
    fast = {"fused": True, "capturable": True} if device.type == "cuda" else {}
    optimizer = torch.optim.Adam(parameters, lr=rate, betas=(0.9, 0.98), eps=1e-9, **fast)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    # Made here: nothing may be copied to the GPU while an update is recorded.
    positions = sinusoids(config.max_length, config.d_model).to(device)
    drop, K = dropout_of(rates), len(pools)
    done = torch.zeros((), dtype=torch.long, device=device)
    recent = torch.zeros(K, device=device)

    def update() -> None:
        rate.copy_(every.index_select(0, done.view(1))[0])
        numbers = order.index_select(0, done.view(1)).long()
        batch = table.index_select(0, numbers.view(-1)).view(K, -1, *table.shape[1:])
        loss, nll = losses(Models(own, config, dtype, positions), batch, training.smoothing, drop)
        loss.sum().backward()
        gradients = [parameter.grad for parameter in parameters]
        squares = torch.stack([g.square().flatten(1).sum(dim=1) for g in gradients]).sum(dim=0)
        shrink = (1 / (squares.sqrt() + 1e-6)).clamp(max=1)  # (K,): each its own norm, to 1
        for gradient in gradients:
            gradient.mul_(shrink.view(-1, *[1] * (gradient.dim() - 1)))
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        with torch.no_grad():
            torch._foreach_lerp_(averaged, parameters, 1 - training.average)
            recent.lerp_(nll.detach(), 0.02)
        done.add_(1)

    torch.manual_seed(training.seed)
    for n in _replayed(update, training.updates, device):
        if n % 1000 == 0 or n == training.updates:
            tell(n, recent.tolist())
    return dict(zip(own, averaged, strict=True))


def _order(pools: Sequence[Tensor], training: Training) -> Tensor:
    """The numbers of the rows of each update and model, `(updates, K, rows)`: epoch by epoch."""
    generator = torch.Generator().manual_seed(training.seed)
    needed = training.updates * training.rows
    columns = []
    for pool in pools:
        epochs = [
            pool[torch.randperm(len(pool), generator=generator)]
            for _ in range(math.ceil(needed / len(pool)))
        ]
        columns.append(torch.cat(epochs)[:needed].view(training.updates, training.rows))
    return torch.stack(columns, dim=1).int()


def _replayed(update: Callable[[], None], times: int, device: torch.device) -> Iterator[int]:
    """Make an update so many times; on a GPU it is recorded once and replayed."""
    if device.type != "cuda":
        for n in range(times):
            update()
            yield n + 1
        return
    first = min(3, times)  # before the recording, on a stream of their own, as PyTorch asks
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for _ in range(first):
            update()
    torch.cuda.current_stream().wait_stream(beside)
    if first == times:
        yield times
        return
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        update()
    for n in range(first, times):
        graph.replay()
        yield n + 1


# --- search ---------------------------------------------------------------------------------------


@dataclass
class Teams:
    """Models that search in teams: the mean of the probabilities of a team decides.

    Attributes:
        weights, config: of the models of all teams, team after team.
        size: models in a team.
    """

    weights: Weights
    config: TransformerConfig
    size: int = 1


@dataclass(frozen=True)
class Search:
    """How a team writes.

    Attributes:
        beam, penalty: of a beam search; with a beam of 1 it is greedy.
        sampled: draw by the probabilities instead.
        longest: tokens of a target; without it those of the longest source of a batch, and 20.
        batch: sources at once.
    """

    beam: int = 5
    penalty: float = 0.6
    sampled: bool = False
    longest: int | None = None
    batch: int = 1024


def search(
    teams: Sequence[Teams], sources: Sequence[Sequence[Ids]], how: Search = Search()
) -> list[list[list[int]]]:
    """What each team makes of its sources.

    Args:
        teams: each has as many teams as `sources` has parts. With several, number k of all of them
            are one team: so models of different shapes can search together.
        sources: for each team the ids of its sources, as many for all.
        how: see `Search`.

    Returns:
        For each team and source the ids of its target, `<eos>` at the end.

    Raises:
        ValueError: a shape that is not computed here, see `check_shape`.
    """
    for one in teams:
        check_shape(one.config)
    found: list[list[list[int]]] = [[[]] * len(part) for part in sources]
    orders = [sorted(range(len(part)), key=lambda n: -len(part[n])) for part in sources]
    begin = 0
    with torch.inference_mode():
        while begin < len(orders[0]):
            width = max(len(part[o[begin]]) for part, o in zip(sources, orders, strict=True))
            # Sources of 24 ids are the usual ones: of longer ones fewer fit.
            at_once = how.batch if how.sampled else max(1, how.batch * 24 // max(width, 24))
            chosen = [order[begin : begin + at_once] for order in orders]
            rows = [
                [[*part[n], *[PAD] * (width - len(part[n]))] for n in numbers]
                for part, numbers in zip(sources, chosen, strict=True)
            ]
            device = teams[0].weights["output.bias"].device
            limit = how.longest or width + 20
            made = _Search(teams, torch.tensor(rows, device=device), how, limit).run()
            for part, numbers, texts in zip(found, chosen, made, strict=True):
                for n, text in zip(numbers, texts, strict=True):
                    part[n] = text
            begin += at_once
    return found


class _Search:
    """One batch: sources `(teams, B, S)`."""

    def __init__(self, teams: Sequence[Teams], sources: Tensor, how: Search, limit: int) -> None:
        self.how, self.limit = how, min(limit, teams[0].config.max_length - 1)
        self.n, self.B, S = sources.shape
        self.width = 1 if how.sampled else how.beam
        self.device = sources.device
        self.members = []
        dtype = torch.float16 if sources.is_cuda else torch.float32
        for team in teams:
            models = Models(team.weights, team.config, dtype)
            ids = sources.repeat_interleave(team.size, dim=0)  # (K, B, S)
            places = torch.arange(S, device=self.device).expand_as(ids)
            mask = _added((ids != PAD)[:, :, None], dtype)  # (K · B, 1, 1, S)
            memory = models.encode(ids, places, mask.expand(-1, -1, S, -1), kept)
            layers = [f"decoder.layers.{i}." for i in range(team.config.n_decoder_layers)]
            of_memory = [models.memory_of(layer, memory, self.B) for layer in layers]
            self.members.append((team, models, mask, layers, of_memory, [None] * len(layers)))

    def _log_probabilities(self, last: Tensor, place: int) -> Tensor:
        """Of what follows, `(teams, B, width, V)`: the mean of the probabilities in each team."""
        total, size = 0.0, 0
        for team, models, mask, layers, of_memory, cache in self.members:
            ids = last.repeat_interleave(team.size, dim=0).view(models.K, -1)
            rows = self.B * self.width
            x = models.embed(ids, torch.full_like(ids, place))
            for i, layer in enumerate(layers):
                parts = models.linear(f"{layer}self_attention.in", models.normed(x))
                queries, keys, values = (
                    models.split(part, rows) for part in parts.chunk(3, dim=-1)
                )
                if cache[i] is not None:
                    keys = torch.cat([cache[i][0], keys], dim=2)
                    values = torch.cat([cache[i][1], values], dim=2)
                cache[i] = (keys, values)
                mixed = models.attend(queries, keys, values, None)
                x = x + models.linear(f"{layer}self_attention.out", mixed)
                queries = models.linear(f"{layer}cross_attention.in", models.normed(x))
                mixed = models.attend(models.split(queries, self.B), *of_memory[i], mask)
                x = x + models.linear(f"{layer}cross_attention.out", mixed)
                x = models.fed_forward(layer, x, kept)
            logits = models.linear("logits", models.normed(x)).float()
            logits[..., [PAD, SOS]] = NEVER
            shape = (self.n, team.size, self.B, self.width, -1)
            total = total + logits.softmax(dim=-1).view(shape).sum(dim=1)
            size += team.size
        return (total / size).clamp(min=1e-30).log()

    def _keep(self, rows: Tensor) -> None:
        """Of each beam the hypotheses `rows`, `(teams, B, width)`, go on."""
        for team, models, _, _, _, cache in self.members:
            first = torch.arange(models.K * self.B, device=self.device) * self.width
            rows_of = rows.repeat_interleave(team.size, dim=0) + first.view(models.K, self.B, 1)
            for i, (keys, values) in enumerate(cache):
                cache[i] = (keys[rows_of.view(-1)], values[rows_of.view(-1)])

    def run(self) -> list[list[list[int]]]:
        found = self._drawn() if self.how.sampled else self._best()
        return [[[i for i in row if i != PAD] for row in part] for part in found.tolist()]

    def _drawn(self) -> Tensor:
        last = torch.full((self.n, self.B, 1), SOS, device=self.device)
        ended, written = torch.zeros_like(last, dtype=torch.bool), []
        for place in range(self.limit):
            log_p = self._log_probabilities(last, place)
            uniform = torch.rand_like(log_p).clamp(1e-20, 1 - 1e-7)
            last = (log_p - (-uniform.log()).log()).argmax(dim=-1)  # Gumbel: a draw by log_p
            written.append(last.masked_fill(ended, PAD))
            ended |= last == EOS
            if place % 4 == 3 and bool(ended.all()):
                break
        return torch.stack(written, dim=-1)[:, :, 0]

    def _best(self) -> Tensor:
        n, B, W, device = self.n, self.B, self.width, self.device
        written = torch.full((n, B, W, 1), SOS, device=device)
        sums = torch.full((n, B, W), -1e9, device=device)
        sums[..., 0] = 0.0
        best = torch.full((n, B), -1e9, device=device)
        answer = torch.zeros(n, B, self.limit + 1, dtype=torch.long, device=device)
        for place in range(self.limit):
            log_p = self._log_probabilities(written[..., -1], place)
            V = log_p.shape[-1]
            top, which = (sums[..., None] + log_p).flatten(2).topk(2 * W, dim=-1)
            parent, token = which // V, which % V
            ends = token == EOS
            # Only an end among the first W counts, as in beam_search of the book.
            counts = ends & (torch.arange(2 * W, device=device) < W)
            score = (top / self._divisor(place + 1)).masked_fill(~counts, -1e9)
            score, place_of = score.max(dim=-1)
            ended = _chosen(written, parent.gather(2, place_of[..., None]))[:, :, 0, 1:]
            text = torch.zeros_like(answer)
            text[..., :place], text[..., place] = ended, EOS
            answer = torch.where((score > best)[..., None], text, answer)
            best = torch.maximum(best, score)
            sums, place_of = top.masked_fill(ends, -1e9).topk(W, dim=-1)
            parent, token = parent.gather(2, place_of), token.gather(2, place_of)
            written = torch.cat([_chosen(written, parent), token[..., None]], dim=-1)
            # The best that a hypothesis can still come to: nothing more lost, and all its length.
            if place % 4 == 3 and bool((best >= sums[..., 0] / self._divisor(self.limit)).all()):
                break
            self._keep(parent)
        unended = torch.zeros_like(answer)  # the best that never ended, only where nothing did
        length = written.shape[-1] - 1
        unended[..., :length], unended[..., length] = written[:, :, 0, 1:], EOS
        return torch.where((best < -1e8)[..., None], unended, answer)

    def _divisor(self, length: int) -> float:
        return ((5 + length) / 6) ** self.how.penalty


def _chosen(written: Tensor, rows: Tensor) -> Tensor:
    return written.gather(2, rows[..., None].expand(*rows.shape, written.shape[-1]))


@contextlib.contextmanager
def fast_attention() -> Iterator[None]:
    """The kernels of attention that were quickest for models as narrow as these."""
    cudnn, flash = torch.backends.cuda.cudnn_sdp_enabled(), torch.backends.cuda.flash_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.backends.cuda.enable_flash_sdp(False)
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(cudnn)
        torch.backends.cuda.enable_flash_sdp(flash)
