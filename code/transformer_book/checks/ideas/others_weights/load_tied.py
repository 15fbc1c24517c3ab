"""Load tied (chapter 28): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


class Tied(nn.Module):
    """Embedding, norm, output projection: both matrices separate, and drawn."""

    def __init__(self, n_words: int, d_model: int):
        super().__init__()
        self.embedding = nn.Embedding(n_words, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, n_words, bias=False)
        with torch.no_grad():
            for i, weight in enumerate(self.parameters()):
                weight.copy_(normal(*weight.shape, seed=90 + i))

    def forward(self, tokens: Tensor) -> Tensor:  # (B, T) → (B, T, V)
        return self.output(self.norm(self.embedding(tokens)))


def observe_tied(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a loaded model says, before and after two updates, and of what it is made."""

    def observed(tokens: Tensor, state: Mapping[str, Tensor]) -> dict[str, Any]:
        model = Tied(*state["embedding.weight"].shape)
        function(model, {name: tensor.clone() for name, tensor in state.items()})
        said = {"the logits": model(tokens).detach()}
        # Weight decay would be taken twice from one storage of two parameters.
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.3)
        for _ in range(2):
            optimizer.zero_grad()
            model(tokens).square().mean().backward()
            optimizer.step()
        said["the logits after two updates"] = model(tokens).detach()
        return {"one matrix": model.output.weight is model.embedding.weight, **said}

    return observed


def tied_pipeline(s, model, state):
    s.load(model, state)
    s.tie(model)


def tied_cases() -> Sequence[Case]:
    def state(n_words: int, d_model: int, seed: int, twice: bool = False) -> dict[str, Tensor]:
        matrix = normal(n_words, d_model, seed=seed)
        norm = [normal(d_model, seed=seed + i) for i in (1, 2)]
        return {
            "embedding.weight": matrix,
            "norm.weight": norm[0],
            "norm.bias": norm[1],
            **({"output.weight": matrix} if twice else {}),
        }

    turned_round = dict(reversed(state(12, 3, 81, twice=True).items()))
    return (
        Case("stored once", (torch.tensor([[1, 3, 2]]), state(5, 2, 1))),
        Case("another", (torch.tensor([[4, 0], [2, 2]]), state(6, 3, 11))),
        Case("as many words as features", (torch.tensor([[0, 1, 2, 3]]), state(4, 4, 21))),
        Case("stored under both names", (torch.tensor([[1, 2]]), state(5, 3, 31, twice=True))),
        Case("both names, two sentences", (torch.tensor([[3], [0]]), state(4, 3, 41, twice=True))),
        Case("both names, longer", (torch.tensor([[0, 6, 1]]), state(7, 4, 51, twice=True))),
        Case("one word", (torch.tensor([[2]]), state(3, 2, 61))),
        Case("bias first", (torch.tensor([[1, 3]]), dict(reversed(state(5, 2, 71).items())))),
        Case("twelve words, the output first", (torch.tensor([[9, 3], [11, 9]]), turned_round)),
    )


def load_all(model: Tied, state: Mapping[str, Tensor]) -> None:
    model.load_state_dict({**state, "output.weight": state["embedding.weight"]})


def tie_output(model: Tied) -> None:
    model.output.weight = model.embedding.weight


LOAD_TIED = Component(
    name="load_tied",
    chapter=28,
    order=5,
    section="A matrix that is stored once",
    signature="model, state",
    pipeline=tied_pipeline,
    steps={"load": load_all, "tie": tie_output},
    cases=tied_cases,
    returns="nothing that is looked at: `model` has an `embedding`, a `norm` and an `output` "
    "(`nn.Linear` without bias), not tied yet, and gets the numbers of `state`, a dictionary that "
    "holds the tied matrix as `embedding.weight`, and sometimes once more as `output.weight`. "
    "Afterwards `model.output.weight` is the parameter `model.embedding.weight` itself. Judged by "
    "that, and by the logits before and after two updates",
    differentiable=False,
    observe=observe_tied,
    met="worse",
    boundaries={
        "stored once": lambda state: "output.weight" not in state,
        "stored under both names": lambda state: "output.weight" in state,
        "names in another order": lambda state: next(iter(state)) != "embedding.weight",
        "stored under both names, the output first": lambda state: (
            next(iter(state)) == "output.weight"
        ),
        "more than ten words": lambda state: len(state["embedding.weight"]) > 10,
        "as many words as features": lambda state: (
            len(state["embedding.weight"]) == state["embedding.weight"].size(1)
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(LOAD_TIED)


@mistake(
    "tie",
    "loaded, and not tied",
    symptom="The logits are right until the first update: then embedding and output go different "
    "ways.",
    cause="Embedding and output are two parameters. After loading say `model.output.weight = "
    "model.embedding.weight`.",
)
def not_tied(model: Tied) -> None:
    """Does nothing, and that is the mistake."""


@mistake(
    "load",
    "output left as it was drawn",
    met=("nonsense", 0),
    symptom="Where the file holds the matrix once, the model says nonsense.",
    cause="`output.weight`, where the file lacks it, keeps its drawn numbers: tie it to the "
    "embedding after loading.",
    steps={"tie": not_tied},
)
def not_strict(model: Tied, state: Mapping[str, Tensor]) -> None:
    model.load_state_dict(state, strict=False)


@mistake(
    "tie",
    "tied the wrong way round",
    met=("nonsense", 0),
    symptom="Where the file holds the matrix once, the drawn numbers of the output have taken the "
    "place of the embedding's.",
    cause="Say `model.output.weight = model.embedding.weight`, not the other way round, and let "
    "no drawn `output.weight` be loaded into it.",
    steps={"load": not_strict},
)
def the_wrong_way(model: Tied) -> None:
    model.embedding.weight = model.output.weight


@mistake(
    "tie",
    "one storage, two parameters",
    symptom="Both hold the same numbers, and the optimizer moves them twice.",
    cause="The storage is shared, as by `.data`, not the parameter: `model.output.weight = "
    "model.embedding.weight`.",
)
def shared_data(model: Tied) -> None:
    model.output.weight.data = model.embedding.weight.data


@mistake(
    "load",
    "only the tied matrix loaded",
    met=("nonsense", 0),
    symptom="The norm keeps the numbers with which it was made.",
    cause="Load the whole of `state`, with strict=False.",
)
def matrix_alone(model: Tied, state: Mapping[str, Tensor]) -> None:
    model.embedding.weight.data.copy_(state["embedding.weight"])


@mistake(
    "load",
    "loaded as if both names were in the file",
    symptom="It stops where the file holds the matrix once.",
    cause="Do not ask for `output.weight`, which may be missing: load with strict=False, and tie "
    "afterwards.",
    stops=True,
)
def strictly(model: Tied, state: Mapping[str, Tensor]) -> None:
    model.load_state_dict(state)


@mistake(
    "tie",
    "tied matrix frozen",
    symptom="The matrix is tied and never learns.",
    cause="Assign the parameter itself, and leave its requires_grad True.",
)
def frozen(model: Tied) -> None:
    tie_output(model)
    model.embedding.weight.requires_grad_(False)


@mistake(
    "load",
    "tied, and then loaded with assign=True",
    met=("nonsense", 0),
    symptom="The embedding is a new parameter, which the output does not share.",
    cause="Tie after loading, or copy the numbers into the parameter that both share, as "
    "load_state_dict does without assign=True.",
    steps={"tie": not_tied},
)
def assigned(model: Tied, state: Mapping[str, Tensor]) -> None:
    tie_output(model)
    model.load_state_dict(state, strict=False, assign=True)
