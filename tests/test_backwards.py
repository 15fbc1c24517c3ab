"""The gradients by hand, held against autograd in double precision: parts and whole models."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from tests.proofs import Draw, randomise
from transformer_book import backwards
from transformer_book.attention import scaled_dot_product_attention
from transformer_book.batches import Batch
from transformer_book.gradients import transformer_gradients
from transformer_book.layers import ACTIVATIONS, LayerNorm
from transformer_book.optimization import label_smoothed_loss
from transformer_book.transformer import Transformer, TransformerConfig

SEEDS = range(5)


def assert_gradients(
    forward: Callable[..., Tensor], backward: Callable[..., object], *inputs: Tensor
) -> None:
    """Within 1e-10 of autograd for each input, after one random gradient of the output."""
    output = forward(*inputs)
    generator = torch.Generator().manual_seed(1)
    d_output = torch.randn(output.shape, generator=generator, dtype=output.dtype)
    expected = torch.autograd.grad(output, inputs, d_output)
    with torch.no_grad():
        found = backward(d_output)
    found = found if isinstance(found, tuple) else (found,)
    for ours, theirs in zip(found, expected, strict=True):
        assert_close(ours, theirs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_linear(seed):
    draw = Draw(seed)
    x, weight = draw.vectors(draw.source), draw.normal(draw.d_ff, draw.d_model)
    inputs = (x, weight, draw.normal(draw.d_ff))
    assert_gradients(F.linear, lambda d: backwards.linear_backward(d, x, weight), *inputs)


@pytest.mark.parametrize("kind", sorted(ACTIVATIONS))
@pytest.mark.parametrize("seed", SEEDS)
def test_activation(seed, kind):
    draw = Draw(seed)
    x = draw.normal(draw.batch, draw.source, draw.d_ff)
    backward = {
        "relu": backwards.relu_backward,
        "groupsort": backwards.group_sort_backward,
        "gelu": backwards.gelu_backward,
        "gelu_tanh": lambda d, x: backwards.gelu_backward(d, x, "tanh"),
    }[kind]
    assert_gradients(ACTIVATIONS[kind], lambda d: backward(d, x), x)


def test_relu_at_zero_is_as_pytorch_says():
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    assert_gradients(torch.relu, lambda d: backwards.relu_backward(d, x), x)


def test_dropout():
    x = Draw(0).vectors(4)
    kept = F.dropout(torch.ones_like(x), 0.3)
    assert_gradients(lambda x: x * kept, lambda d: backwards.dropout_backward(d, kept), x)


@pytest.mark.parametrize("seed", SEEDS)
def test_softmax(seed):
    x = Draw(seed).vectors(4)
    output = x.softmax(dim=-1).detach()
    forward = lambda x: x.softmax(dim=-1)  # noqa: E731
    assert_gradients(forward, lambda d: backwards.softmax_backward(d, output), x)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", [None, 0.7])
def test_attention_with_every_mask(seed, scale):
    draw = Draw(seed)
    shape = (draw.batch, draw.heads)
    rows = draw.mask(draw.batch, draw.heads, draw.target, draw.source).clone()
    rows[0, 0, 0] = False  # a query that may attend to nothing
    causal = torch.ones(draw.target, draw.source, dtype=torch.bool).tril()
    for mask in (None, rows, causal, draw.padding(draw.source), causal & draw.padding(draw.source)):
        query = draw.normal(*shape, draw.target, draw.d_head)
        key = draw.normal(*shape, draw.source, draw.d_head)
        value = draw.normal(*shape, draw.source, draw.d_head + 1)
        inputs = (query, key, value)
        weights = scaled_dot_product_attention(*inputs, mask, scale=scale)[1].detach()
        assert_gradients(
            lambda q, k, v, mask=mask: scaled_dot_product_attention(q, k, v, mask, scale=scale)[0],
            lambda d, i=inputs, w=weights: backwards.attention_backward(d, *i, w, scale),
            *inputs,
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_split_and_merge(seed):
    draw = Draw(seed)
    x, h = draw.vectors(draw.source), draw.heads
    split = lambda x: x.unflatten(-1, (h, -1)).transpose(1, 2)  # noqa: E731
    heads = split(x).detach().requires_grad_()
    assert_gradients(split, backwards.split_heads_backward, x)
    merge = lambda y: y.transpose(1, 2).flatten(-2)  # noqa: E731
    assert_gradients(merge, lambda d: backwards.merge_heads_backward(d, h), heads)


@pytest.mark.parametrize("seed", SEEDS)
def test_layer_norm_and_residual(seed):
    draw = Draw(seed)
    norm = randomise(LayerNorm(draw.d_model, eps=0.1), seed)
    x = draw.vectors(draw.source)
    backward = lambda d: backwards.layer_norm_backward(d, x, norm.weight, norm.eps)  # noqa: E731
    assert_gradients(lambda *_: norm(x), backward, x, norm.weight, norm.bias)
    assert_gradients(
        lambda x: x + norm(x), lambda d: backwards.residual_backward(d, backward(d)[0]), x
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_embedding_and_positions(seed):
    draw = Draw(seed)
    tokens = draw.tokens(draw.source, 5)
    table = draw.normal(9, draw.d_model)
    assert_gradients(
        lambda w: F.embedding(tokens, w) * 1.7,
        lambda d: backwards.embedding_backward(d, tokens, 9, 1.7),
        table,
    )
    assert_gradients(
        lambda w: w[: draw.source].expand(draw.batch, -1, -1),
        lambda d: backwards.learned_positions_backward(d, 9),
        table,
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("padding", [0, -100])
def test_cross_entropy(seed, padding):
    draw = Draw(seed)
    tokens = draw.tokens(draw.target, 7)
    target = tokens.masked_fill(tokens == 0, padding)
    smoothing = (0.0, 0.1, 0.5)[seed % 3]
    logits = draw.normal(draw.batch, draw.target, 7)
    assert_gradients(
        lambda x: label_smoothed_loss(x, target, smoothing, padding)[0],
        lambda d: backwards.cross_entropy_backward(d, logits, target, smoothing, padding),
        logits,
    )


def test_adam():
    draw = Draw(0)
    theirs = torch.nn.Parameter(draw.normal(5, 3).detach().clone())
    options = {"betas": (0.8, 0.95), "eps": 1e-3}
    optimizer = torch.optim.Adam([theirs], lr=0.1, **options)
    ours, mean, square = theirs.detach().clone(), torch.zeros(5, 3).double(), torch.zeros(5, 3)
    square = square.double()
    for update in range(1, 6):
        theirs.grad = draw.normal(5, 3).detach()
        optimizer.step()
        settings = {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}
        ours, mean, square = backwards.adam_step(
            ours, theirs.grad, mean, square, update, **settings
        )
        assert_close(ours, theirs.detach(), rtol=0, atol=1e-12)


class ByHand(torch.autograd.Function):
    """Attention behind a layer norm, whose gradient is ours: autograd only hands it on."""

    @staticmethod
    def forward(ctx, x, gamma, beta, mask):
        y = F.layer_norm(x, x.shape[-1:], gamma, beta)
        output, weights = scaled_dot_product_attention(y, y, y, mask)
        ctx.save_for_backward(x, gamma, y, weights)
        return output

    @staticmethod
    def backward(ctx, d_output):
        x, gamma, y, weights = ctx.saved_tensors
        d_y = sum(backwards.attention_backward(d_output, y, y, y, weights))
        return *backwards.layer_norm_backward(d_y, x, gamma), None


def test_gradcheck():
    """PyTorch's own test holds our gradients against differences of the outputs."""
    draw = Draw(3)
    inputs = (draw.normal(2, 4, 5), draw.normal(5), draw.normal(5))
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    assert torch.autograd.gradcheck(ByHand.apply, (*inputs, mask))


def options(seed: int) -> dict:
    draw = random.Random(seed)
    return {
        "norm": ("pre", "post")[seed % 2],
        "tie_embeddings": ("none", "decoder", "all")[seed % 3],
        "positions": draw.choice(["sinusoidal", "learned", "none"]),
        "activation": draw.choice(sorted(ACTIVATIONS)),
        "bias": draw.random() < 0.7,
        "score_scale": draw.choice([None, None, 0.8]),
        "residual": draw.random() < 0.8,
        "feed_forward": draw.random() < 0.9,
        "causal": draw.random() < 0.8,
        "scale_embeddings": draw.random() < 0.5,
        "n_encoder_layers": draw.randint(1, 2),
        "n_decoder_layers": draw.randint(1, 3),
        "dropout": 0.3,
    }


def whole(seed: int) -> tuple[Transformer, Batch, float]:
    """A model of a random configuration, a batch with padding on both sides, and a smoothing."""
    draw = Draw(seed)
    sizes = {"d_model": draw.d_model, "n_heads": draw.heads, "d_ff": draw.d_ff, "max_length": 9}
    model = Transformer(TransformerConfig(7, 7, **sizes, **options(seed)))
    batch = Batch(draw.tokens(draw.source, 7), draw.tokens(draw.target + 1, 7))
    return randomise(model, seed), batch, (0.0, 0.1)[seed % 2]


@pytest.mark.parametrize("seed", range(24))
def test_a_whole_model_without_autograd(seed):
    model, batch, smoothing = whole(seed)
    with torch.inference_mode():
        found = transformer_gradients(model, batch, smoothing)
    assert model.training and all(parameter.grad is None for parameter in model.parameters())
    loss, _ = label_smoothed_loss(
        model.eval()(batch.source, batch.target_in), batch.target_out, smoothing
    )
    loss.backward()
    # Autograd says None of what an ablation has cut off; its gradient is zero.
    parameters = dict(model.named_parameters())
    expected = {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in parameters.items()}
    assert found.parameters.keys() == expected.keys()
    for name, gradient in expected.items():
        message = lambda text, name=name: f"{name}: {text}"  # noqa: E731
        assert_close(found.parameters[name], gradient, rtol=0, atol=1e-10, msg=message)


def test_gradients_of_what_flows():
    """Of layers and heads, as autograd's hooks see them."""
    model, batch, _ = whole(4)
    found = transformer_gradients(model.eval(), batch).vectors
    seen: dict[str, Tensor] = {}

    def keep(name: str) -> Callable:
        def hook(module: object, inputs: object, output: Tensor) -> None:
            output.register_hook(lambda d: seen.update({name: d}))

        return hook

    def keep_heads(name: str) -> Callable:
        def hook(module: object, inputs: tuple[Tensor]) -> None:
            split = partial(backwards.merge_heads_backward, n_heads=model.config.n_heads)
            inputs[0].register_hook(lambda d: seen.update({name: split(d)}))

        return hook

    for name in found:
        if "attention" in name:  # what the heads found goes, merged, into the output's matrix
            model.get_submodule(f"{name}.output").register_forward_pre_hook(keep_heads(name))
        else:
            model.get_submodule(name).register_forward_hook(keep(name))
    loss, _ = label_smoothed_loss(model(batch.source, batch.target_in), batch.target_out)
    loss.backward()
    assert seen.keys() == found.keys() != set()
    for name, gradient in seen.items():
        assert_close(found[name], gradient, rtol=0, atol=1e-10)


MUTANTS = [
    ("d_output @ weight,", "d_output @ weight * 2,"),
    ("d_rows.T @ rows", "d_rows.T @ rows / len(rows)"),
    ("d_rows.sum(dim=0)", "d_rows.mean(dim=0)"),
    ("(x > 0)", "(x >= 0)"),
    ("(share + x * density)", "share"),
    ("scatter(-1, came_from, pairs)", "copy_(pairs)"),
    ("d_output * kept", "d_output"),
    ("(d_output - dot)", "d_output"),
    ("(output * d_output).sum(dim=-1", "(output * d_output).sum(dim=-2"),
    ("scale * (d_scores @ key)", "d_scores @ key"),
    ("scale * (d_scores.transpose(-2, -1) @ query)", "scale**2 * (d_scores.mT @ query)"),
    ("softmax_backward(d_weights, weights)", "d_weights * weights"),
    ("d_heads.transpose(1, 2).flatten(-2)", "d_heads.reshape(*d_heads.mT.shape[::3], -1)"),
    ("d_normal - of_mean - ", "d_normal - "),
    (" - normal * of_deviation) /", ") /"),
    ("of_deviation) / deviation", "of_deviation) / deviation**2"),
    ("d_normal = d_output * weight", "d_normal = d_output"),
    ("(d_output * normal).reshape", "(d_output * x).reshape"),
    ("return d_output + d_branch", "return d_branch"),
    ("index_add(0, tokens.reshape(-1), rows)", "index_copy(0, tokens.reshape(-1), rows)"),
    ("scale * d_output.reshape", "d_output.reshape"),
    ("= d_output.sum(dim=0)", "= d_output.mean(dim=0)"),
    ("smoothing / logits.size(-1))", "smoothing / (logits.size(-1) - 1))"),
    ("* real[..., None]", "* 1"),
    ("/ real.sum()", "/ real.numel()"),
    ("(1 - beta1**update)", "(1 - beta1)"),
    ("(1 - beta2) * gradient**2", "(1 - beta2) * gradient.abs()"),
]


@pytest.mark.parametrize(("old", "new"), MUTANTS, ids=lambda text: text)
def test_every_damage_is_noticed(old, new, monkeypatch):
    source = Path(backwards.__file__).read_text(encoding="utf-8")
    assert source.count(old) == 1
    damaged: dict = {}
    exec(source.replace(old, new), damaged)
    for name, function in damaged.items():
        if name.endswith(("_backward", "_step")):
            monkeypatch.setattr(backwards, name, function)
    parts = [test_linear, test_softmax, test_split_and_merge, test_layer_norm_and_residual]
    with pytest.raises(AssertionError):
        test_adam()
        test_dropout()
        test_relu_at_zero_is_as_pytorch_says()
        for seed in SEEDS:
            for test in (*parts, test_embedding_and_positions):
                test(seed)
            for kind in ACTIVATIONS:
                test_activation(seed, kind)
            test_attention_with_every_mask(seed, 0.7)
            test_cross_entropy(seed, 0)


WRONG = {
    "softmax_backward": lambda d, output: output * d,
    "residual_backward": lambda d_output, d_branch: d_branch,
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_wrong_part_is_noticed_in_the_whole(name, monkeypatch):
    """The whole goes through the parts: each of these mistakes turns the comparison red."""
    monkeypatch.setattr(backwards, name, WRONG[name])
    with pytest.raises(AssertionError):
        for seed in range(4):
            test_a_whole_model_without_autograd(seed)
