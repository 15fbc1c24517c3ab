"""Known mistakes made in the whole model, to see what training makes of them (chapter 22).

`checks` knows a mistake as one wrong step of one component. Here the wrong step
replaces the model's own for as long as a context is open:

    with made("merge_heads", "heads merged without permuting back"):
        trainer = Experiment(load_recipe("ablation-baseline")).trainer()
        trainer.fit()

The model itself has no wrong code in it, nor any switch for it. The recipes of the recorded runs
are in `recipes/mistakes`; each is a recipe of the book with one mistake:

    description = "one line"
    base = "ablation-baseline"
    [mistake]
    component = "merge_heads"
    name = "heads merged without permuting back"
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book import (
    attention,
    batches,
    checks,
    decoder,
    decoder_cache,
    embeddings,
    encoder,
    layers,
    optimization,
    recipes,
    tokens,
    training,
    transformer,
)
from transformer_book.checks.components import Component, Mistake
from transformer_book.support.arguments import check_choice

FOLDER = recipes.FOLDER / "mistakes"
RECORD = FOLDER / "recorded.json"

Patch = tuple[object, str, Any]
"""An owner, the name of one of its attributes, and what to put there."""


# --- where the model does each step ---------------------------------------------------------------


def _attention(steps: SimpleNamespace, component: Component) -> list[Patch]:
    def attend(query, key, value, mask=None, dropout=0.0, scale=None):
        if dropout or scale is not None:
            raise ValueError("a wrong attention is made without dropout and with its own scale.")
        return component.pipeline(steps, query, key, value, mask), None

    return [(attention, "fused_attention", attend)]


def _merge(steps: SimpleNamespace, component: object) -> list[Patch]:
    return [(attention.MultiHeadAttention, "merge_heads", lambda self, heads: steps.merge(heads))]


def _split(steps: SimpleNamespace, component: object) -> list[Patch]:
    return [
        (attention.MultiHeadAttention, "split_heads", lambda self, x: steps.split(x, self.n_heads))
    ]


def _target_mask(steps: SimpleNamespace, component: Component) -> list[Patch]:
    return [(transformer, "target_mask", lambda ids: component.pipeline(steps, ids))]


def _layer_norm(steps: SimpleNamespace, component: Component) -> list[Patch]:
    def forward(self, x):
        return component.pipeline(steps, x, self.weight, self.bias, self.eps)

    return [(layers.LayerNorm, "forward", forward)]


def _pre_norm(steps: SimpleNamespace, component: Component) -> list[Patch]:
    def forward(self, x, sublayer):
        return component.pipeline(steps, x, lambda y: self.dropout(sublayer(y)), self.norm)

    return [(layers.Residual, "forward", forward)]


def _sublayer(steps: SimpleNamespace, component: Component) -> list[Patch]:
    def forward(self, x, sublayer):
        return component.pipeline(steps, x, sublayer, self.norm, self.dropout)

    return [(layers.Residual, "forward", forward)]


def _then(dropout: nn.Dropout, part: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The part, with dropout on what it gives: the components of `checks` have none."""
    return lambda *inputs: dropout(part(*inputs))


def _encoder_layer(steps: SimpleNamespace, component: Component) -> list[Patch]:
    def forward(self, x, mask=None):
        first, second = self.attention_residual, self.feed_forward_residual
        attend = _then(first.dropout, self.self_attention)
        network = _then(second.dropout, self.feed_forward)
        return component.pipeline(steps, x, mask, attend, network, first.norm, second.norm)

    return [(encoder.EncoderLayer, "forward", forward)]


def _decoder_layer(steps: SimpleNamespace, component: Component) -> list[Patch]:
    def forward(self, x, memory, target_mask=None, memory_mask=None):
        around = self.self_residual, self.cross_residual, self.feed_forward_residual
        parts = self.self_attention, self.cross_attention, self.feed_forward
        parts = [_then(place.dropout, part) for place, part in zip(around, parts, strict=True)]
        norms = tuple(place.norm for place in around)
        return component.pipeline(steps, x, memory, target_mask, memory_mask, *parts, norms)

    return [(decoder.DecoderLayer, "forward", forward)]


def _stack(steps: SimpleNamespace, component: object) -> list[Patch]:
    def built_from(right: Callable[..., None]) -> Callable[..., None]:
        def __init__(self, n_layers, *arguments, **options):
            right(self, n_layers, *arguments, **options)
            made_anew = iter(self.layers)
            self.layers = nn.ModuleList(steps.build(lambda: next(made_anew), n_layers))

        return __init__

    stacks = encoder.Encoder, decoder.Decoder
    return [(stack, "__init__", built_from(stack.__init__)) for stack in stacks]


def _embedding(steps: SimpleNamespace, component: Component) -> list[Patch]:
    def forward(self, ids):
        return component.pipeline(steps, ids, self.weight)

    return [(embeddings.TokenEmbedding, "forward", forward)]


def _sinusoids(steps: SimpleNamespace, component: Component) -> list[Patch]:
    def table(length, d_model, dtype=None):
        exact = component.pipeline(steps, length, d_model)
        return exact.to(dtype or torch.get_default_dtype())

    return [(embeddings, "sinusoids", table)]


def _add_positions(steps: SimpleNamespace, component: Component) -> list[Patch]:
    def forward(self, x, start=0):
        return component.pipeline(steps, x, self.rows_for(x)[start:])

    return [(embeddings.SinusoidalPositions, "forward", forward)]


def _encode(steps: SimpleNamespace, component: object) -> list[Patch]:
    """For targets only: sources stay right, so that only one thing is wrong."""

    def encode_target(self, words):
        return [tokens.SOS, *steps.finish(self.encode(words))]

    return [(tokens.Vocabulary, "encode_target", encode_target)]


def _shift(steps: SimpleNamespace, component: object) -> list[Patch]:
    return [
        (batches.Batch, "target_in", property(lambda self: steps.goes_in(self.target))),
        (batches.Batch, "target_out", property(lambda self: steps.comes_out(self.target))),
    ]


def _loss(of_one_token: Callable[..., Tensor]) -> Callable[..., list[Patch]]:
    """A wrong loss that is minimised; the likelihood beside it is measured rightly."""

    def patches(steps: SimpleNamespace, component: object) -> list[Patch]:
        def loss(logits, target, smoothing=0.0, padding=tokens.PAD):
            _, nll = optimization.label_smoothed_loss(logits, target)
            return of_one_token(steps, logits, target, smoothing), nll

        return [(training, "label_smoothed_loss", loss)]

    return patches


def _cross_entropy(
    steps: SimpleNamespace, logits: Tensor, target: Tensor, smoothing: float
) -> Tensor:
    log_p = steps.log_p(logits)  # (B, T, V)
    nll = -log_p.gather(2, target[..., None]).squeeze(2)  # (B, T)
    losses = (1 - smoothing) * nll - smoothing * log_p.mean(dim=-1)  # (B, T)
    return steps.average(losses, steps.real(target))


def _smoothed(steps: SimpleNamespace, logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    pipeline = checks.COMPONENTS["label_smoothed_loss"].pipeline
    return pipeline(steps, logits, target, smoothing)


def _update(steps: SimpleNamespace, component: Component) -> list[Patch]:
    """Only what is done in front of an update: the Trainer's own lines do the rest."""
    if steps.steps is not component.steps["steps"]:
        raise ValueError("of an update only the step 'before' can be made wrong in a training run.")
    right = torch.optim.Optimizer.zero_grad

    def zero_grad(self):
        torch.optim.Optimizer.zero_grad = right  # what the step itself calls
        try:
            steps.before(self)
        finally:
            torch.optim.Optimizer.zero_grad = zero_grad

    return [(torch.optim.Optimizer, "zero_grad", zero_grad)]


PLACES: Mapping[str, Callable[[SimpleNamespace, Any], list[Patch]]] = {
    "encode": _encode,
    "shift": _shift,
    "embedding": _embedding,
    "sinusoids": _sinusoids,
    "add_positions": _add_positions,
    "scaled_dot_product_attention": _attention,
    "target_mask": _target_mask,
    "split_heads": _split,
    "merge_heads": _merge,
    "layer_norm": _layer_norm,
    "pre_norm": _pre_norm,
    "sublayer_with_dropout": _sublayer,
    "encoder_layer": _encoder_layer,
    "decoder_layer": _decoder_layer,
    "make_stack": _stack,
    "cross_entropy": _loss(_cross_entropy),
    "label_smoothed_loss": _loss(_smoothed),
    "training_update": _update,
}
"""By component, how a wrong step of it gets into the model, its data or its training."""


def find(component: str, name: str) -> Mistake:
    """The known mistake of that name.

    Raises:
        ValueError: for a component that has no place in the model, or an unknown mistake.
    """
    check_choice("component", component, PLACES)
    known = {m.name: m for m in checks.MISTAKES if m.component == component}
    check_choice("mistake", name, known)
    return known[name]


@contextmanager
def made(component: str, name: str | None) -> Iterator[Mistake | None]:
    """Make a known mistake, everywhere in the package, until the context is left.

    With `None` for the name, the component's right steps are put into the model in the same way:
    only the rounding changes. That shows that nothing but the mistake is being measured.

    Models must be built, trained and used inside. They decode without a cache, as
    `decoder_cache.can_be_cached` requires of models with parts not from the book.

    Raises:
        ValueError: as `find`.
    """
    mistake = None if name is None else find(component, name)
    check_choice("component", component, PLACES)
    part = checks.COMPONENTS[component]
    steps = {**part.steps, **({} if mistake is None else mistake.steps)}
    patches = PLACES[component](SimpleNamespace(**steps), part)
    patches.append((decoder_cache, "can_be_cached", lambda model: False))
    before = [(owner, attribute, vars(owner)[attribute]) for owner, attribute, _ in patches]
    try:
        for owner, attribute, wrong in patches:
            setattr(owner, attribute, wrong)
        yield mistake
    finally:
        for owner, attribute, right in before:
            setattr(owner, attribute, right)


# --- recipes with a mistake, and their recorded runs ----------------------------------------------


@dataclass(frozen=True)
class WrongRecipe:
    """A recipe, and the mistake that is made while it runs (see `made`)."""

    recipe: recipes.Recipe
    component: str
    mistake: str


def names() -> list[str]:
    """The names of the recipes with a mistake."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str, changes: Iterable[str] = ()) -> WrongRecipe:
    """Read a recipe with a mistake by its name; `changes` as for `recipes.load_recipe`.

    Raises:
        ValueError: an unknown recipe or mistake.
    """
    check_choice("recipe with a mistake", name, names())
    data = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    below = recipes.load_recipe(data["base"]).to_dict()
    changed = recipes.changed({**below, "name": name, "description": data["description"]}, changes)
    found = find(data["mistake"]["component"], data["mistake"]["name"])
    return WrongRecipe(recipes.recipe_from_dict(changed), found.component, found.name)


def recorded() -> dict[str, list[dict[str, Any]]]:
    """The recorded runs with a mistake, as `recipes.recorded_ablations` gives those without.

    Each also has the `component` and the `mistake`.
    """
    runs: dict[str, list[dict[str, Any]]] = {}
    for run in json.loads(RECORD.read_text(encoding="utf-8")):
        runs.setdefault(run["recipe"], []).append(run)
    return {name: sorted(runs[name], key=lambda run: run["seed"]) for name in runs}
