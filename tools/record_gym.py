#!/usr/bin/env python3
"""Train the damaged models of the gym, and record what a reader may look at.

The faults are those of `tools/gym.toml`. Each is trained with three seeds, by the recipe of the
bench with 400 updates, and used on pairs that it never saw. One seed is recorded with all that the
page shows: curves, answers after several updates, attention, the length of the gradient of each
part. All three are recorded with the numbers by which `gym.py` compares runs. What is recorded
already is not repeated, so this can be stopped and started again.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from gym import FAULTS, HEALTHY, MOMENTS, RECORD, TASKS, Fault, shown_seed
from record_bench import recipe_of
from torch import Tensor

from transformer_book import attention, decoder_cache, decoding, layers, transformer
from transformer_book.batches import BucketedBatches, collate
from transformer_book.checks.in_whole_models import made
from transformer_book.recipes import load_recipe
from transformer_book.runs.experiment import Experiment
from transformer_book.sampling import Drawing
from transformer_book.studies.inspection import attention_maps
from transformer_book.studies.interventions import changed
from transformer_book.support.atomic_files import write_atomically
from transformer_book.tasks import Pair
from transformer_book.tasks.copy import CopyTask
from transformer_book.tokens import EOS, PAD, Vocabulary
from transformer_book.training import NonFiniteLoss, Trainer
from transformer_book.transformer import Transformer

UPDATES, EVERY = 400, 50
SHORTER = {"max_length": 6, "updates": UPDATES}  # than the bench, so that a run takes seconds
EVERYWHERE = (f"training.validate_every={EVERY}", "data.train=4000", "data.validation=96")
WINDOW = 10  # updates of the training loss that are averaged
PAIRS = 64  # that are answered to be counted
LOOKED_AT = 24  # of them, whose attention is measured
LENGTHS = (4, 5, 6)  # of the sources that are shown

Patch = tuple[object, str, Any]

# --- damages in the code, from the first update to the last answer --------------------------------


def _shortcut() -> list[Patch]:
    right = layers.Residual.forward

    def forward(self, x, sublayer):
        out = right(self, x, sublayer)
        return out - (x - x.detach()) if self.residual else out  # the same number, no way back

    return [(layers.Residual, "forward", forward)]


def _no_norm() -> list[Patch]:
    return [(layers.LayerNorm, "forward", lambda self, x: x)]


def _norm_means() -> list[Patch]:
    """Backwards, the mean and the spread count as constants: both means are left out."""

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True).detach()
        spread = torch.sqrt(x.var(dim=-1, correction=0, keepdim=True) + self.eps).detach()
        y = self.weight * (x - mean) / spread
        return y if self.bias is None else y + self.bias

    return [(layers.LayerNorm, "forward", forward)]


def _always_training() -> list[Patch]:
    return [(Transformer, "eval", lambda self: self)]


def _padding_seen() -> list[Patch]:
    right = transformer.padding_mask
    return [(transformer, "padding_mask", lambda tokens: torch.ones_like(right(tokens)))]


def _empty_memory() -> list[Patch]:
    right = Transformer.encode

    def encode(self, *inputs):
        return torch.zeros_like(right(self, *inputs))

    return [(Transformer, "encode", encode)]


PATCHES: dict[str, Callable[[], list[Patch]]] = {
    "shortcut": _shortcut,
    "no_norm": _no_norm,
    "norm_means": _norm_means,
    "always_training": _always_training,
    "padding_seen": _padding_seen,
    "empty_memory": _empty_memory,
}

# --- damages in the data --------------------------------------------------------------------------


def _paired(sources: list[Pair], targets: list[Pair]) -> list[Pair]:
    return [
        Pair(source.source, target.target) for source, target in zip(sources, targets, strict=True)
    ]


def _shuffled_targets(experiment: Experiment) -> None:
    others = random.Random("gym").sample(experiment.train_pairs, len(experiment.train_pairs))
    experiment.train_pairs = _paired(experiment.train_pairs, others)


def _other_order(experiment: Experiment) -> None:
    """Validation and use read the target vocabulary in another order than training did."""
    source, target = experiment.vocabularies
    trained = experiment.dataset
    other = Vocabulary([*target.tokens[5:], target.tokens[4]])

    def dataset(split: str, n: int | None = None):
        experiment.vocabularies = (source, target if split == "train" else other)
        return trained(split, n)

    experiment.dataset = dataset  # the last that is asked for is the validation split


def _cut_targets(experiment: Experiment) -> None:
    experiment.train_pairs = [Pair(p.source, p.target[:3]) for p in experiment.train_pairs]


def _short_only(experiment: Experiment) -> None:
    experiment.train_pairs = [p for p in experiment.train_pairs if len(p.source) <= 4]


def _few_pairs(experiment: Experiment) -> None:
    experiment.train_pairs = experiment.train_pairs[:150]


def _leak(experiment: Experiment) -> None:
    held_out = experiment.task.pairs("validation", n=100)
    experiment.train_pairs = [*experiment.train_pairs[:50], *held_out]
    task = experiment.task
    right = task.pairs

    class Leaking:
        def pairs(self, split: str, n: int, seed: int = 0) -> list[Pair]:
            return held_out if split == "validation" else right(split, n=n, seed=seed)

        def __getattr__(self, name: str) -> Any:
            return getattr(task, name)

    experiment.task = Leaking()


DATA: dict[str, Callable[[Experiment], None]] = {
    "shuffled_targets": _shuffled_targets,
    "other_order": _other_order,
    "cut_targets": _cut_targets,
    "short_only": _short_only,
    "few_pairs": _few_pairs,
    "leak": _leak,
}

# --- damages in the training ----------------------------------------------------------------------


def _sorted_data(trainer: Trainer) -> None:
    """Pairs in the order of the alphabet, in every epoch."""
    trainer.train.examples.sort()
    del trainer.train.examples[2000:]
    trainer.train.lengths = [(len(s), len(t)) for s, t in trainer.train.examples]
    size = trainer.config.batch_size
    trainer.batches = BucketedBatches(trainer.train, batch_size=size, shuffle=False, bucket=False)


def _sgd(trainer: Trainer) -> None:
    trainer.optimizer = torch.optim.SGD(trainer.model.parameters(), lr=trainer.config.learning_rate)


def _cleared(trainer: Trainer) -> None:
    """The gradients are set to zero between `backward` and `step`."""
    trainer.optimizer.register_step_pre_hook(
        lambda optimizer, *_: optimizer.zero_grad(set_to_none=False)
    )


def _moments_forgotten(trainer: Trainer) -> None:
    """Adam begins anew with each update, as where the loop makes the optimizer."""
    trainer.optimizer.register_step_pre_hook(lambda optimizer, *_: optimizer.state.clear())


TRAINERS: dict[str, Callable[[Trainer], None]] = {
    "sorted_data": _sorted_data,
    "sgd": _sgd,
    "cleared": _cleared,
    "moments_forgotten": _moments_forgotten,
}

# --- damages where a right model is used ----------------------------------------------------------


@contextmanager
def _patched(*patches: Patch) -> Iterator[dict[str, Any]]:
    with ExitStack() as stack:
        for owner, name, wrong in patches:
            stack.enter_context(patch.object(owner, name, wrong))
        if patches:
            stack.enter_context(patch.object(decoder_cache, "can_be_cached", lambda model: False))
        yield {}


def _same_position(model: Transformer) -> Any:
    """While it writes, every token is read as if it stood first."""
    table = model.target_positions.rows_for(model.output.weight)
    return _patched((model.target_positions, "forward", lambda x, start=0: x + table[:1]))


@contextmanager
def _never_ends(model: Transformer) -> Iterator[dict[str, Any]]:
    right = decoding._one_path

    def path(model, source, choose, options):
        return right(model, source, choose, replace(options, ban=(*options.ban, EOS)))

    with patch.object(decoding, "_one_path", path):
        yield {}


def _searched(model: Transformer, **options: Any) -> Any:
    """The search itself is asked for something else."""
    return nullcontext(options)


def _read_from(model: Transformer, start: int) -> Any:
    """The next token comes from the first position read; what stands before it is not read."""

    def step(self, tokens):
        self.target = torch.cat([self.target, tokens[:, None]], dim=1)  # (N, T)
        vectors = self.model.decode(self.target[:, start:], *self.read)
        return self.model.output(vectors[:, 0])  # (N, V)

    return _patched((decoder_cache._Uncached, "step", step))


@contextmanager
def _changed(model: Transformer, change: str) -> Iterator[dict[str, Any]]:
    with changed(model, [change]):
        yield {}


@contextmanager
def _made(model: Transformer, component: str, name: str) -> Iterator[dict[str, Any]]:
    with made(component, name), weights_of_the_wrong():
        yield {}


def _spoilt_source(model: Transformer, spoil: Callable[[Tensor], Tensor]) -> Any:
    right = type(model).encode

    def encode(self, source, mask):
        return right(self, spoil(source), mask)

    return _patched((type(model), "encode", encode))


def _next_symbol(source: Tensor) -> Tensor:
    """The ids of another vocabulary: each symbol is taken for the next."""
    return torch.where(source > 3, 4 + (source - 3) % 7, source)


@contextmanager
def _other_weights(model: Transformer, spoil: Callable[[str, Tensor], Tensor]) -> Iterator[dict]:
    """Whenever weights are loaded into the model, others come out."""
    right = type(model).load_state_dict

    def load(self, weights, *options, **named):
        return right(self, {name: spoil(name, each) for name, each in weights.items()})

    with patch.object(type(model), "load_state_dict", load):
        yield {}


def _encoder_by_chance(name: str, weight: Tensor) -> Tensor:
    if not name.startswith("encoder.layers") or weight.dim() < 2:
        return weight
    generator = torch.Generator().manual_seed(2017)
    return torch.randn(weight.shape, generator=generator) * weight.size(1) ** -0.5


def _three_values(name: str, weight: Tensor) -> Tensor:
    """−a, 0 or a, where a is the mean of the larger ones. Source: Li et al. (2016)."""
    if weight.dim() < 2:
        return weight
    kept = weight.abs() > 0.7 * weight.abs().mean()
    return weight.sign() * kept * weight[kept].abs().mean()


def _without_end(source: Tensor) -> Tensor:
    return source.masked_fill(source == EOS, 3)  # <unk>


@contextmanager
def _stripped(model: Transformer) -> Iterator[dict[str, Any]]:
    """What comes after the search cuts off the last token, whether it is <eos> or not."""
    right = Vocabulary.decode

    def decode(self, ids, **options):
        kept = ids[:-1] if ids and ids[-1] == EOS else ids
        return right(self, kept[:-1] if not options else ids, **options)

    with patch.object(Vocabulary, "decode", decode):
        yield {}


USES: dict[str, Callable[[Transformer], Any]] = {
    "same_position": _same_position,
    "never_ends": _never_ends,
    "drawn_hot": partial(_searched, drawing=Drawing(temperature=2.5)),
    "beam": partial(_searched, beam_size=5, length_penalty=0.0),
    "cut_off": partial(_searched, max_length=4),
    "first_logits": partial(_read_from, start=0),
    "other_ids": partial(_spoilt_source, spoil=_next_symbol),
    "stripped": _stripped,
    "split_with_view": partial(
        _made, component="split_heads", name="heads split with view, not transposed"
    ),
    "unscaled_embedding": partial(_made, component="embedding", name="embedding not scaled"),
    "no_positions_in_use": partial(_changed, change="positions:off"),
    "no_residual_in_use": partial(_changed, change="residual:decoder.0"),
    "no_scale_in_use": partial(_changed, change="scale:1"),
    "heads_merged": partial(
        _made, component="merge_heads", name="heads merged without permuting back"
    ),
    "softmax_over_queries": partial(
        _made, component="scaled_dot_product_attention", name="softmax over the queries"
    ),
    "divided_by_width": partial(
        _made,
        component="scaled_dot_product_attention",
        name="scores divided by d_k without the root",
    ),
    "scaled_after_softmax": partial(
        _made, component="scaled_dot_product_attention", name="weights scaled after the softmax"
    ),
    "positions_late": partial(_made, component="add_positions", name="positions one row late"),
    "positions_subtracted": partial(_made, component="add_positions", name="positions subtracted"),
    "norm_over_positions": partial(
        _made, component="layer_norm", name="layer norm over the positions"
    ),
    "no_mean": partial(_made, component="layer_norm", name="mean not subtracted"),
    "no_norm_before": partial(_made, component="pre_norm", name="norm forgotten"),
    "residual_subtracted": partial(_made, component="pre_norm", name="residual subtracted"),
    "no_feed_forward": partial(_changed, change="feed_forward:decoder.0"),
    "head_silenced": partial(_changed, change="head:cross.0.0"),
    "encoder_not_loaded": partial(_other_weights, spoil=_encoder_by_chance),
    "coarse_weights": partial(_other_weights, spoil=_three_values),
    "last_token_only": partial(_read_from, start=-1),
    "no_end_in_source": partial(_spoilt_source, spoil=_without_end),
}

# --- one run --------------------------------------------------------------------------------------


@contextmanager
def weights_of_the_wrong() -> Iterator[None]:
    """Where a wrong function attends, its weights are looked at, too: what it makes of a one.

    The formula that records weights is another function than the one that computes; each value is
    a row of the identity here, so the output of the wrong one is its weights.
    """
    wrong = attention.fused_attention

    def attend(query, key, value, mask=None, dropout=0.0, scale=None):
        one = torch.eye(key.size(-2)).expand(*key.shape[:-1], -1)
        weights, _ = wrong(query, key, one, mask, 0.0, scale)
        return wrong(query, key, value, mask, 0.0, scale)[0], weights

    with patch.object(attention, "scaled_dot_product_attention", attend):
        yield


@contextmanager
def damaged(fault: Fault) -> Iterator[None]:
    """While it is open, the package computes with the fault."""
    with ExitStack() as stack:
        if fault.mistake:
            stack.enter_context(made(*fault.mistake))
        patches = PATCHES[fault.damage]() if fault.damage in PATCHES else []
        stack.enter_context(_patched(*patches))
        if attention.fused_attention.__module__ != attention.__name__:
            stack.enter_context(weights_of_the_wrong())
        yield


@dataclass
class Trained:
    """A run: what was measured while it trained, and its weights after each of `MOMENTS`."""

    experiment: Experiment
    model: Transformer
    history: list[dict[str, Any]]
    norms: dict[int, dict[str, float]]
    snapshots: dict[int, dict[str, Tensor]]


def part_of(name: str) -> str:
    """Where a parameter stands, as the reader sees it."""
    stack = name.split(".")[0]
    if "norm" in name:
        return "norms"
    if stack in ("encoder", "decoder"):
        kinds = ("self_attention", "cross_attention", "feed_forward")
        kind = next(each for each in kinds if each in name)
        return f"{stack} {kind}"
    return stack


def train(fault: Fault, task: str, seed: int) -> Trained:
    """One training. What is wrong in use only shares the run of the model without a fault."""
    if fault.use:
        return trained_rightly(task, seed)
    settings = {"task": task, "seed": seed, **SHORTER, **fault.settings}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recipe.toml"
        path.write_text(recipe_of(settings), encoding="utf-8")
        recipe = load_recipe(path, [*EVERYWHERE, *fault.recipe])
    experiment = Experiment(recipe)
    if fault.damage in DATA:
        DATA[fault.damage](experiment)
    # Kernels that compute the same sooner, where nothing is to be made wrong in what they replace.
    trainer = experiment.trainer(fused=not fault.mistake and fault.damage not in PATCHES)
    if fault.damage in TRAINERS:
        TRAINERS[fault.damage](trainer)
    norms: dict[int, dict[str, float]] = {}
    parameters = dict(trainer.model.named_parameters())

    def measure(*_: object) -> None:
        update = trainer.update + 1
        if update in (1, *MOMENTS):
            squares: dict[str, float] = {}
            for name, parameter in parameters.items():
                grad = parameter.grad
                square = 0.0 if grad is None else float(grad.square().sum())
                squares[part_of(name)] = squares.get(part_of(name), 0.0) + square
            norms[update] = {part: math.sqrt(square) for part, square in squares.items()}

    # Clipping has shortened them; the whole length before it is in the history.
    trainer.optimizer.register_step_pre_hook(measure)
    snapshots: dict[int, dict[str, Tensor]] = {}
    try:
        while not trainer.finished:
            trainer.fit(updates=EVERY)
            if trainer.update in MOMENTS:
                now = trainer.model.state_dict()
                snapshots[trainer.update] = {name: each.clone() for name, each in now.items()}
    except NonFiniteLoss:
        pass  # the curve ends there
    clip = recipe.training["clip_norm"]
    for update, each in norms.items():
        length = trainer.history[update - 1]["gradient_norm"] if update <= trainer.update else 0.0
        longer = max(1.0, length / clip) if clip else 1.0
        norms[update] = {part: longer * norm for part, norm in each.items()}
    return Trained(experiment, trainer.model, trainer.history, norms, snapshots)


@lru_cache(maxsize=2)
def trained_rightly(task: str, seed: int) -> Trained:
    return train(HEALTHY, task, seed)


def short(value: float, digits: int = 3) -> float | None:
    """A number of few digits; `None` for what is no number."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def counts(said: list[list[str]], pairs: list[Pair]) -> list[float]:
    """What the answers have in common with the right ones, as shares."""
    asked = [
        (words, list(pair.target), list(pair.source))
        for words, pair in zip(said, pairs, strict=True)
    ]
    n = len(asked)
    same = [sum(a == b for a, b in zip(w, t, strict=False)) / len(t) for w, t, _ in asked]
    first = [bool(w) and w[0] == t[0] for w, t, _ in asked]
    last = [len(w) >= len(t) and w[len(t) - 1] == t[-1] for w, t, _ in asked]
    length = [min(len(w) / len(t), 2.0) for w, t, _ in asked]
    twice = [sum(a == b for a, b in pairwise(w)) / max(1, len(w) - 1) for w, _, _ in asked]
    bag = [sorted(w) == sorted(t) for w, t, _ in asked]
    other = [w == t[::-1] for w, t, _ in asked]
    unknown = [sum(each == "<unk>" for each in w) / max(1, len(w)) for w, _, _ in asked]
    whole = [w == t for w, t, _ in asked]
    distinct = len({tuple(w) for w, _, _ in asked})
    columns = (whole, same, first, last, length, twice, bag, other, unknown)
    return [round(sum(each) / n, 3) for each in columns] + [round(distinct / n, 3)]


def looks(weights: Tensor, rows: list[int], columns: list[int]) -> list[float]:
    """Of a map `(B, H, T, S)` the mean over its rows, for the head that has most and for the other.

    Of each head: the entropy over its largest, then the weight on the same place, on the place
    before, on the mirrored place, on what lies behind, on the first and the last place, on padding.
    """
    found = []
    for head in range(weights.size(1)):
        total = torch.zeros(8)
        n = 0
        for b, (T, S) in enumerate(zip(rows, columns, strict=True)):
            for t in range(T):
                row = weights[b, head, t]
                real = row[:S]
                entropy = -(real.clamp(min=1e-9).log() * real).sum() / math.log(max(2, S))
                at = [t, t - 1, S - 2 - t]
                places = [real[i] if 0 <= i < S else real.new_tensor(0.0) for i in at]
                rest = [real[t + 1 :].sum(), real[0], real[-1], row[S:].sum()]
                total += torch.stack([entropy, *places, *rest])
                n += 1
        found.append(total / n)
    both = torch.stack(found)  # (H, 8)
    numbers = torch.cat([both.amax(dim=0), both.amin(dim=0)])
    return [
        round(float(each), 3)
        for each in numbers.nan_to_num(-1.0, posinf=9.0, neginf=-9.0).clamp(-9, 9)
    ]


def record(fault: Fault, task: str, seed: int) -> dict[str, Any]:
    """All that is kept of one run."""
    with damaged(fault):
        run = train(fault, task, seed)
        history = run.history
        entry: dict[str, Any] = {
            "fault": fault.id,
            "task": task,
            "seed": seed,
            "asked": fault.asked(),
        }
        losses = [each["loss"] for each in history]
        windows = [losses[i : i + WINDOW] for i in range(0, len(losses), WINDOW)]
        entry["train"] = [short(sum(each) / len(each)) for each in windows]
        measured = [(e["update"], e["validation_loss"]) for e in history if "validation_loss" in e]
        entry["validation"] = [[update, short(loss)] for update, loss in measured]
        entry["norms"] = {
            update: {part: short(norm, 2) for part, norm in each.items()}
            for update, each in run.norms.items()
        }
        pairs = CopyTask(kind=task, min_length=3, max_length=6).pairs("test", n=PAIRS, seed=seed)
        sources = [" ".join(pair.source) for pair in pairs]
        some = [next(i for i, p in enumerate(pairs) if len(p.source) == n) for n in LENGTHS]
        translator = run.experiment.translator(run.model)
        entry["counts"], entry["answers"] = {}, {}
        torch.manual_seed(seed)  # of what may be dropped while it answers
        use = USES[fault.use] if fault.use else lambda model: _patched()
        with use(run.model) as options:
            for update, weights in run.snapshots.items():
                run.model.load_state_dict(weights)
                try:
                    found = [each.text.split() for each in translator.search(sources, **options)]
                except ValueError:  # the weights have diverged
                    continue
                entry["counts"][update] = counts(found, pairs)
                entry["answers"][update] = [" ".join(found[i]) for i in some]
            if run.snapshots:
                entry |= attention_of(run, pairs, some)
        entry["sources"] = [sources[i] for i in some]
        entry["targets"] = [" ".join(pairs[i].target) for i in some]
    if seed != shown_seed(fault, task):
        for name in ("answers", "sources", "targets", "maps"):
            entry.pop(name, None)
    return entry


def attention_of(run: Trained, pairs: list[Pair], some: list[int]) -> dict[str, Any]:
    """Where the trained model looks: the maps of one sentence, and the numbers of many."""
    source_vocabulary, target_vocabulary = run.experiment.vocabularies
    order = [some[1], *(i for i in range(LOOKED_AT) if i != some[1])]
    examples = [
        (
            source_vocabulary.encode_source(list(pairs[i].source)),
            target_vocabulary.encode_target(list(pairs[i].target)),
        )
        for i in order
    ]
    batch = collate(examples)
    maps = attention_maps(run.model.eval(), batch.source, batch.target_in)
    S = (batch.source != PAD).sum(dim=1).tolist()
    T = (batch.target_in != PAD).sum(dim=1).tolist()
    sizes = {"encoder": (S, S), "decoder": (T, T), "cross": (T, S)}
    numbers: list[float] = []
    shown: dict[str, Any] = {}
    for kind, (rows, columns) in sizes.items():
        weights = maps[kind][0].detach()  # (B, H, T, S)
        numbers += looks(weights, rows, columns)
        one = weights[0, :, : rows[0], : columns[0]].nan_to_num(-1.0).clamp(-9, 9)
        shown[kind] = (100 * one).round().int().tolist()
    read = [source_vocabulary.tokens[i] for i in examples[0][0]]
    said = [target_vocabulary.tokens[i] for i in batch.target_in[0, : T[0]].tolist()]
    return {"looks": numbers, "maps": {"source": read, "target": said, **shown}}


def wanted(only: list[str] | None) -> Iterator[tuple[Fault, str, int]]:
    """The runs to record: two seeds of everything first, since then faults can be compared."""
    for part, task, fault in product((slice(2), slice(2, None)), TASKS, FAULTS.values()):
        if task in fault.tasks and (only is None or fault.id in only):
            yield from ((fault, task, seed) for seed in fault.seeds[part])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", type=Path, default=RECORD, help="the file to write")
    parser.add_argument("--only", nargs="+", metavar="FAULT", help="only these faults")
    parser.add_argument("--most", type=int, help="stop after so many runs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    text = options.record.read_text(encoding="utf-8") if options.record.exists() else "[]"
    runs = json.loads(text)
    missing = []
    for fault, task, seed in wanted(options.only):
        known = {"fault": fault.id, "task": task, "seed": seed, "asked": fault.asked()}
        if not any(known.items() <= run.items() for run in runs):
            missing.append((fault, task, seed))
    for fault, task, seed in missing[: options.most]:
        entry = json.loads(json.dumps(record(fault, task, seed)))
        same = {"fault": fault.id, "task": task, "seed": seed}
        runs = [run for run in runs if not same.items() <= run.items()] + [entry]
        print(f"{task} {fault.id} {seed}: {entry['validation'][-1:]}", flush=True)
        lines = ",\n".join(json.dumps(run, ensure_ascii=False) for run in runs)
        write_atomically(options.record, f"[\n{lines}\n]\n".encode())


if __name__ == "__main__":
    main()
