"""The model in JavaScript learns as PyTorch does: its gradients, its losses, update by update.

The configurations differ at random in everything that the twin can switch; PyTorch's side is the
book's own `Transformer`, its loss, its schedule, and PyTorch's optimizers.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from browser_parity import MODULES, Run, conversation, unpacked

from tests.damage import replaced_once
from transformer_book import transformer as transformer_module
from transformer_book.batches import Batch, PairDataset, collate
from transformer_book.layers import LayerNorm
from transformer_book.optimization import label_smoothed_loss, learning_rate
from transformer_book.tasks import make_task
from transformer_book.tokens import EOS, SOS, Vocabulary
from transformer_book.transformer import Transformer, TransformerConfig

N_CONFIGURATIONS = 44
N_FOR_MUTANTS = 12
TOLERANCE = 1e-4  # of a gradient, relative to its largest entry
UPDATES = 50
TASKS = {
    "copy": {"name": "copy", "min_length": 3, "max_length": 7},
    "reverse": {"name": "copy", "kind": "reverse", "min_length": 3, "max_length": 7},
    "captions": {"name": "captions", "constructions": ["intransitive", "predicate"]},
}
SCHEDULES = {"copy": "linear", "reverse": "inverse_sqrt", "captions": "cosine"}
SETTINGS = {"optimizer": "adam", "learning_rate": 3e-3, "schedule": "linear", "warmup": 10}
SETTINGS |= {"updates": UPDATES, "label_smoothing": 0.1, "clip_norm": 1.0}

# Edits of a `backward`: (module, passage, what stands in its place).
MUTANTS = [
    ("backwards", "(dw.data[i] - total)", "dw.data[i]"),
    ("backwards", "total += w.data[i] * dw.data[i]", "total += dw.data[i]"),
    ("backwards", "w.data[i] * (dw.data[i] -", "(dw.data[i] -"),
    ("backwards", "dw.data[i] - total", "dw.data[i] + total"),
    ("backwards", "parameter.grad[i] += gradient[i]", "parameter.grad[i] = gradient[i]"),
    ("backwards", "parameter.grad[i] += gradient[i]", "parameter.grad[i] -= gradient[i]"),
    ("backwards", "total[i % D] += gradient[i]", "total[i % D] = gradient[i]"),
    ("backwards", "total[i % D] += gradient[i]", "total[0] += gradient[i]"),
    (
        "backwards",
        "if (this.bias) accumulate(this.bias, sum_rows(dy.data, outputs",
        "if (false) accumulate(this.bias, sum_rows(dy.data, outputs",
    ),
    (
        "backwards",
        "matmul_transposed(dy_columns, x_columns,",
        "matmul_transposed(x_columns, dy_columns,",
    ),
    ("backwards", "turned[k * N + i] = a[i * K + k]", "turned[k * N + i] = a[k * N + i]"),
    (
        "backwards",
        "matmul_transposed(dy.data, columns, rows,",
        "matmul_transposed(dy.data, this.weight.data, rows,",
    ),
    ("backwards", "dy.data[start + d] - of_g - along", "dy.data[start + d] - along"),
    ("backwards", "- of_g - along", "- of_g"),
    ("backwards", "- of_g - along", "+ of_g - along"),
    ("backwards", "of_g - along) / root", "of_g - along)"),
    (
        "backwards",
        "of_g += (this.weight.data[d] * dy.data[start + d])",
        "of_g += (dy.data[start + d])",
    ),
    (
        "backwards",
        "(this.weight.data[d] * scaled.data[start + d]) / D",
        "scaled.data[start + d] / D",
    ),
    (
        "backwards",
        "(dy.data[start + d] * (data[start + d] - mean)) / root;",
        "dy.data[start + d] * (data[start + d] - mean);",
    ),
    (
        "backwards",
        "accumulate(this.weight, sum_rows(scaled.data, D))",
        "accumulate(this.weight, sum_rows(dy.data, D))",
    ),
    (
        "backwards",
        "if (this.bias) accumulate(this.bias, sum_rows(dy.data, D",
        "if (false) accumulate(this.bias, sum_rows(dy.data, D",
    ),
    ("backwards", "(x.data[i] > 0 ? each : 0)", "each"),
    ("backwards", "(x.data[i] > 0 ? each : 0)", "(x.data[i] < 0 ? each : 0)"),
    ("backwards", "distribution(data[i]) + data[i] * density", "distribution(data[i])"),
    ("backwards", "(data[i]) + data[i] * density", "(data[i]) - data[i] * density"),
    ("backwards", "data[i & ~1] > data[i | 1] ? i ^ 1 : i", "i"),
    ("backwards", "add(dsum, change) : change", "change : change"),
    ("backwards", "add(dsum, change) : change", "dsum : change"),
    ("backwards", "this.pre_norm ? dy : through(this.norm, dy)", "dy"),
    ("backwards", "this.pre_norm ? through(this.norm, dx) : dx", "dx"),
    ("backwards", "weight * dO.data[row", "dO.data[row"),
    ("backwards", "dv.data[at + k] += weight", "dv.data[at + k] = weight"),
    ("backwards", "dot(dO.data, row * K, value.data", "dot(dO.data, row * K, key.data"),
    ("backwards", "scale * ds.data", "ds.data"),
    ("backwards", "scale * ds.data", "scale * scale * ds.data"),
    ("backwards", "each * key.data[at", "each * query.data[at"),
    ("backwards", "dk.data[at + k] += each", "dk.data[at + k] = each"),
    ("backwards", "return [dq, dk, dv];", "return [dk, dq, dv];"),
    ("backwards", "return [dq, dk, dv];", "return [dq, dv, dk];"),
    ("backwards", "this.key.backward(dk)", "this.key.backward(dv)"),
    (
        "backwards",
        "attention_residual.backward(dy, (d) => this.self_attention.backward(d).reduce(add)",
        "attention_residual.backward(dy, (d) => this.self_attention.backward(d)[0]",
    ),
    ("backwards", "reduceRight(", "reduce("),
    (
        "backwards",
        "self_residual.backward(dy, (d) => this.self_attention.backward(d).reduce(add)",
        "self_residual.backward(dy, (d) => this.self_attention.backward(d)[2]",
    ),
    ("backwards", "dmemory = add(dkey, dvalue)", "dmemory = dvalue"),
    ("backwards", "dmemory ? add(dmemory, read) : read", "read"),
    ("backwards", "gradient[token * D + d] +=", "gradient[token * D + d] ="),
    ("backwards", "dx.data[n * D + d] * this.scale", "dx.data[n * D + d]"),
    ("backwards", "gradient[i % row] += dy", "gradient[i % row] = dy"),
    ("backwards", "accumulate(this.table, gradient);", ""),
    ("backwards", "network.backward?.(dy) ?? zeros(...dy.shape)", "network.backward?.(dy) ?? dy"),
    ("backwards", "norm.backward?.(dy) ?? dy", "dy"),
    ("backwards", "this.x = x;\n  return forward(x);", "this.x = x;\n  return x;"),
    ("backwards", "hooks.kept[this.name]", "hooks.kept[Object.keys(this.hooks.kept)[0]]"),
    ("backwards", "this.bias ? add(y, this.bias) : y }", "y }"),
    ("backwards", "c10 += v * x0;", "c10 += u * x0;"),
    ("backwards", "c[below + j3] = c13;", ""),
    ("backwards", "(causal && /^decoder", "(!causal && /^decoder"),
    ("backwards", "/^decoder.*self/", "/self/"),
    ("backwards", "padding_mask === false ?", "padding_mask ?"),
    ("optimization", "(1 - smoothing) / n;", "1 / n;"),
    ("optimization", "- smoothing / V) / n", ") / n"),
    ("optimization", "if (token === PAD) return;", ""),
]


def configuration(seed: int) -> tuple[dict[str, Any], TransformerConfig]:
    """What the twin reads, and what the package does: it has no norm `none`, no padding mask."""
    rng = random.Random(f"bench {seed}")
    heads = rng.choice([1, 2, 3, 4])
    options: dict[str, Any] = {
        "d_model": 12,
        "n_heads": heads,
        "d_ff": rng.choice([6, 10, 16]),
        "n_encoder_layers": rng.choice([1, 2]),
        "n_decoder_layers": rng.choice([1, 2]),
        "max_length": 12,
        "dropout": 0.0,
        "norm": rng.choice(["pre", "post"]),
        "positions": rng.choice(["sinusoidal", "learned", "none"]),
        "activation": rng.choice(["relu", "gelu", "groupsort"]),
        "bias": rng.random() < 0.8,
        "score_scale": rng.choice([None, None, 1.0, 0.3]),
        "causal": rng.random() < 0.7,
        "residual": rng.random() < 0.7,
        "feed_forward": rng.random() < 0.8,
        "tie_embeddings": rng.choice(["none", "decoder", "all"]),
        "scale_embeddings": rng.random() < 0.7,
        "initialization": rng.choice(["xavier", "scaled_normal"]),
    }
    config = TransformerConfig(11, 11, **options)
    own = {"padding_mask": rng.random() < 0.7}
    if rng.random() < 0.25:
        own["norm"] = "none"
    return {**asdict(config), **own}, config


def built(seed: int, asked: dict[str, Any], config: TransformerConfig) -> Transformer:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Transformer(config)
        for parameter in model.parameters():  # biases and norms that are no zeros and ones
            parameter.data += 0.1 * torch.randn_like(parameter)
    if asked["norm"] == "none":
        for module in list(model.modules()):
            for name, child in module.named_children():
                if isinstance(child, LayerNorm):
                    setattr(module, name, torch.nn.Identity())
    return model


def plain(model: Transformer) -> dict[str, Any]:
    return {
        name: {"data": p.detach().flatten().tolist(), "shape": list(p.shape)}
        for name, p in model.named_parameters()
    }


def lists(batch: Batch) -> dict[str, list[list[int]]]:
    return {k: getattr(batch, k).tolist() for k in ("source", "target_in", "target_out")}


def some_batch(seed: int, shifted: bool = True) -> dict[str, list[list[int]]]:
    rng = random.Random(seed)

    def sentence() -> list[int]:
        return [*(rng.randrange(4, 11) for _ in range(rng.randrange(1, 7))), EOS]

    batch = lists(collate([(sentence(), [SOS, *sentence()]) for _ in range(5)]))
    return batch if shifted else batch | {"target_in": batch["target_out"]}


def zeros_or(gradient: torch.Tensor | None, parameter: torch.Tensor) -> torch.Tensor:
    """What no loss depends on, such as a norm before no network, has no gradient in PyTorch."""
    return torch.zeros_like(parameter) if gradient is None else gradient.clone()


def as_pytorch(model: Transformer, asked: dict[str, Any], batches, settings) -> dict[str, Any]:
    """The losses of these updates, and the first gradients, by the package and PyTorch."""
    kind = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[settings["optimizer"]]
    options = {"betas": (0.9, 0.98), "eps": 1e-9} if settings["optimizer"] == "adam" else {}
    optimizer = kind(model.parameters(), lr=1.0, **options)
    found: dict[str, Any] = {"losses": []}
    with pytest.MonkeyPatch.context() as patch:
        if not asked.get("padding_mask", True):
            every = lambda tokens: torch.ones(len(tokens), 1, 1, tokens.size(1), dtype=torch.bool)  # noqa: E731
            causal = lambda y: torch.ones(y.size(1), y.size(1), dtype=torch.bool).tril()[None, None]  # noqa: E731
            patch.setattr(transformer_module, "padding_mask", every)
            patch.setattr(transformer_module, "target_mask", causal)
        for n, batch in enumerate(batches, 1):
            source, into, out = (
                torch.tensor(batch[k]) for k in ("source", "target_in", "target_out")
            )
            loss, _ = label_smoothed_loss(model(source, into), out, settings["label_smoothing"])
            optimizer.zero_grad()
            loss.backward()
            if n == 1:
                found["gradients"] = {k: zeros_or(p.grad, p) for k, p in model.named_parameters()}
            if settings["clip_norm"]:
                torch.nn.utils.clip_grad_norm_(model.parameters(), settings["clip_norm"])
            known = ("schedule", "warmup", "updates")
            rate = learning_rate(
                n, peak=settings["learning_rate"], **{k: settings[k] for k in known}
            )
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()
            found["losses"].append(loss.item())
    return found


def random_cases() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """For each random configuration a job of one update, and what PyTorch finds."""
    made = []
    for seed in range(N_CONFIGURATIONS):
        asked, config = configuration(seed)
        model = built(seed, asked, config)
        settings = SETTINGS | {"label_smoothing": (0.0, 0.1)[seed % 2]}
        batches = [some_batch(seed, shifted=seed % 5 > 0)]
        job = {"operation": "training", "config": asked, "weights": plain(model)}
        job |= {"batches": batches, "settings": settings}
        made.append((job, as_pytorch(model.double(), asked, batches, settings)))
    return made


@pytest.fixture(scope="module")
def cases() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return random_cases()


def difference(result: dict[str, Any], right: dict[str, Any]) -> float:
    """The largest difference of a parameter's gradient, relative to its largest entry.

    A gradient that is zero but for rounding (of the keys' bias) is held against the largest of all.
    """
    if "error" in result:
        return float("inf")
    largest = max(float(g.abs().max()) for g in right["gradients"].values())
    worst = 0.0
    for name, gradient in right["gradients"].items():
        own = torch.from_numpy(unpacked(result["gradients"][name], *gradient.shape).copy())
        size = max(float(gradient.abs().max()), 1e-3 * largest)
        worst = max(worst, float((own - gradient).abs().nan_to_num(1e9).max()) / size)
    return worst


def check_gradients(cases, run: Run, tell, where: str) -> None:
    results = run([job for job, _ in cases])
    found = [difference(result, right) for result, (_, right) in zip(results, cases, strict=True)]
    tell(
        f"gradients of {len(found)} configurations in {where} differ from PyTorch's by up to "
        f"{max(found):.1e}"
    )
    assert len(found) >= 40 and max(found) < TOLERANCE


def test_every_gradient_is_pytorchs(cases, node, tell) -> None:
    check_gradients(cases, node, tell, "node")


def test_every_damaged_backward_is_found_out(cases, rules: Path, tmp_path: Path) -> None:
    assert len(MUTANTS) >= 40
    survived = []
    with conversation(rules) as ask:
        for i, (module, passage, instead) in enumerate(MUTANTS):
            folder = tmp_path / str(i)
            shutil.copytree(MODULES, folder)
            path = folder / f"{module}.js"
            path.write_text(replaced_once(path.read_text("utf-8"), passage, instead), "utf-8")
            found = (difference(*ask(folder, [job]), right) for job, right in cases[:N_FOR_MUTANTS])
            if all(each < TOLERANCE for each in found):
                survived.append(MUTANTS[i])
    assert not survived


def test_dropout_is_the_same_on_the_way_back(node) -> None:
    """A small step along the gradient changes the loss, with the same draws, by its length."""
    asked, config = configuration(3)
    asked = asked | {"dropout": 0.3, "activation": "gelu"}  # without kinks
    weights = plain(built(3, asked, config))
    job = {"operation": "training", "config": asked, "settings": SETTINGS}
    job["batches"] = [some_batch(3)]
    (found,) = node([job | {"weights": weights}])
    gradient = {k: unpacked(found["gradients"][k], -1) for k in weights}
    length = sum(float((g.astype(float) ** 2).sum()) for g in gradient.values()) ** 0.5

    def moved(step: float) -> dict[str, Any]:
        along = {k: each["data"] + step * gradient[k] / length for k, each in weights.items()}
        return {k: {**weights[k], "data": each.tolist()} for k, each in along.items()}

    up, down = node([job | {"weights": moved(step)} for step in (0.01, -0.01)])
    slope = (up["losses"][0] - down["losses"][0]) / 0.02
    assert abs(slope - length) < 1e-3 * length
    (without,) = node([job | {"weights": weights, "config": asked | {"dropout": 0.0}}])
    assert abs(without["losses"][0] - found["losses"][0]) > 0.01  # something was dropped


def check_losses(name: str, optimizer: str, run: Run, tell, where: str) -> None:
    """The first fifty losses of a task, from the same weights and batches."""
    pairs = make_task(**TASKS[name]).pairs("train", 400)
    vocabularies = [Vocabulary.build([getattr(p, k) for p in pairs]) for k in ("source", "target")]
    tokens = [(p.source, p.target) for p in pairs]
    data = PairDataset(tokens, *vocabularies, max_length=24)
    batches = []
    for n in range(UPDATES):
        batches.append(lists(collate([data[i] for i in range(8 * n, 8 * n + 8)])))
    sizes = {"d_model": 16, "n_heads": 2, "d_ff": 32, "max_length": 24, "dropout": 0.0}
    layers = {"n_encoder_layers": 1, "n_decoder_layers": 1, "initialization": "scaled_normal"}
    config = TransformerConfig(*map(len, vocabularies), **sizes, **layers)
    asked = asdict(config)
    model = built(1, asked, config)
    settings = SETTINGS | {"optimizer": optimizer, "schedule": SCHEDULES[name]}
    if optimizer == "sgd":
        settings |= {"learning_rate": 0.1, "schedule": "constant", "clip_norm": 0.0}
    job = {"operation": "training", "config": asked, "weights": plain(model)}
    (found,) = run([job | {"batches": batches, "settings": settings}])
    right = as_pytorch(model, asked, batches, settings)["losses"]
    worst = max(abs(a - b) / b for a, b in zip(found["losses"], right, strict=True))
    tell(
        f"{name}, {optimizer}: {UPDATES} losses in {where} differ from PyTorch's by at most "
        f"{worst:.1e}"
    )
    assert worst < 1e-3
    assert right[-1] < right[0]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_fifty_losses_are_pytorchs(name, optimizer, node, tell) -> None:
    check_losses(name, optimizer, node, tell, "node")
