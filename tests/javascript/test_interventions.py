"""Every change that the page makes in a model, made in PyTorch, too: the same logits and tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from browser_parity import pairs_of, run, translator_of, unpacked

from tests.javascript.conftest import sentences
from transformer_book import pretrained
from transformer_book.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_book.inspection import silenced_heads
from transformer_book.layers import Residual
from transformer_book.transformer import Transformer
from transformer_book.translator import Translator

NAME = "captions-de-en"
LAYERS = {"encoder": "encoder.layers.{}", "decoder": "decoder.layers.{}"}
ATTENTIONS = {
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
    "cross": "decoder.layers.{}.cross_attention",
}
CHANGES = (
    "head:cross.1.2",
    "head:encoder.0.3",
    "head:decoder.1.0",
    "average:cross.0.1",
    "average:decoder.1.3",
    "weight:cross.1.2.1.0.0.5",
    "weight:cross.0.0.0.2.0.75",
    "layer:encoder.1",
    "layer:decoder.0",
    "residual:encoder.0",
    "residual:decoder.1",
    "scale:0.5",
    "scale:1",
    "causal:off",
    "positions:off",
)


@pytest.fixture
def translator() -> Translator:
    """A model of its own: it is about to be changed."""
    return Translator.from_pretrained(pretrained.find(NAME))


@contextmanager
def other_weights(attention: MultiHeadAttention, change) -> Iterator[None]:
    """While this is open, `change(weights, start)` stands in for the weights of one attention.

    `start` is the position of the first query: a cached decoder asks one query at a time.
    """
    steps = 0

    def attend(q, k, v, mask=None):
        nonlocal steps
        _, weights = scaled_dot_product_attention(q, k, v, mask, 0.0, attention.scale)
        start = steps if q.size(2) == 1 else 0
        steps += q.size(2) == 1
        return change(weights, start) @ v

    attention.attend = attend
    try:
        yield
    finally:
        del attention.attend


def changed(translator: Translator, change: str, stack: ExitStack) -> Translator:
    """The same change as in interventions.js, by the means of PyTorch."""
    model = translator.model
    what, _, rest = change.partition(":")
    parts = rest.split(".", 5)
    if what in ("head", "average", "weight"):
        head = int(parts[2])
        attention = model.get_submodule(ATTENTIONS[parts[0]].format(parts[1]))
        if what == "head":
            stack.enter_context(silenced_heads(attention, head))
        elif what == "average":

            def alike(weights, start):
                weights = weights.clone()
                allowed = (weights[:, head] > 0).float()
                weights[:, head] = allowed / allowed.sum(-1, keepdim=True)
                return weights

            stack.enter_context(other_weights(attention, alike))
        else:
            query, key, amount = int(parts[3]), int(parts[4]), float(parts[5])

            def raised(weights, start):
                weights = weights.clone()
                if start <= query < start + weights.size(2):
                    row = weights[:, head, query - start]
                    row[:, key] += amount
                    row.clamp_(min=0)
                    row /= row.sum(-1, keepdim=True)
                return weights

            stack.enter_context(other_weights(attention, raised))
    elif what in ("layer", "residual"):
        layer = model.get_submodule(LAYERS[parts[0]].format(parts[1]))
        for module in layer.modules():
            if isinstance(module, Residual) and what == "residual":
                module.residual = False
            elif isinstance(module, Residual):  # the sublayer still fills the cache
                module.forward = lambda x, sublayer, norm=module.norm: x + 0 * sublayer(norm(x))
    elif what == "scale":
        for module in model.modules():
            if isinstance(module, MultiHeadAttention):
                module.scale = float(rest)
    else:
        other = {"causal": {"causal": False}, "positions": {"positions": "none"}}[what]
        translator.model = Transformer(replace(model.config, **other)).eval()
        translator.model.load_state_dict(model.state_dict())
    return translator


@pytest.mark.parametrize("change", CHANGES)
@torch.no_grad()
def test_a_change_does_what_it_does_in_pytorch(change, translator, rules) -> None:
    texts = sentences(NAME, 3)
    pairs = pairs_of(translator_of(pretrained.find(NAME)), texts)
    folder = str(pretrained.find(NAME))
    jobs = [
        {"operation": "changed_logits", "folder": folder, "pairs": pairs, "changes": [change]},
        {"operation": "changed_search", "folder": folder, "texts": texts, "changes": [change]},
        {"operation": "logits", "folder": folder, "pairs": pairs},
    ]
    found, said, before = run(jobs, rules)
    with ExitStack() as stack:
        changed(translator, change, stack)
        right = [translator.model(*(torch.tensor([i]) for i in pair))[0].numpy() for pair in pairs]
    moved = 0.0
    for packed, untouched, logits in zip(found, before, right, strict=True):
        np.testing.assert_allclose(unpacked(packed, *logits.shape), logits, atol=2e-3)
        moved = max(moved, np.abs(unpacked(untouched, *logits.shape) - logits).max())
    assert moved > 0.01, "the change changes nothing"
    for text, tokens in zip(texts, said, strict=True):
        with ExitStack() as stack:  # one by one: a change counts its steps
            changed(translator, change, stack)
            assert tokens == list(translator.search([text], beam_size=1)[0].tokens)


@pytest.mark.parametrize(
    "change",
    [
        *("", "head", "head:cross.9.0", "head:cross.0.9", "head:cross.0", "head:toString.0.0"),
        *("weight:cross.0.0.1.1.x", "layer:cross.0", "scale:", "scale:1e9", "causal:on"),
        "constructor:off",
    ],
)
def test_what_a_model_does_not_have_is_refused_in_one_sentence(change, rules) -> None:
    job = {
        "operation": "changed_search",
        "folder": str(pretrained.find(NAME)),
        "texts": ["Ein Hund."],
    }
    with pytest.raises(RuntimeError, match="This model cannot be changed by “"):
        run([{**job, "changes": [change]}], rules)
