"""What training computes differently from the chapters' formulas: the same results, faster."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from transformer_book import cli, training
from transformer_book import fused as fused_module
from transformer_book.attention import MultiHeadAttention, recorded_attention
from transformer_book.batches import Batch, PairDataset
from transformer_book.decoding import greedy_search
from transformer_book.fused import _ProjectedLoss, formula_for_short
from transformer_book.layers import LayerNorm, fused_norms
from transformer_book.optimization import label_smoothed_loss
from transformer_book.runs.experiment import Experiment
from transformer_book.tokens import Vocabulary
from transformer_book.training import Trainer, TrainingConfig, batch_loss
from transformer_book.transformer import Transformer, TransformerConfig


class Counted(TorchFunctionMode):
    """Counts the calls of the kernel."""

    calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.calls += function is F.layer_norm
        return function(*args, **(kwargs or {}))


def small(**options: object) -> Transformer:
    sizes = {"d_model": 8, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 8}
    return Transformer(TransformerConfig(9, 9, **sizes, **options))


NORMS_OF_SMALL = 7  # 2 in the encoder layer, 3 in the decoder layer, one after each stack


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-12), (torch.float32, 1e-4)])
@pytest.mark.parametrize("distance", [0, 100])
def test_outputs_and_gradients_are_those_of_the_formula(bias, dtype, bound, distance):
    torch.manual_seed(0)
    norm = LayerNorm(16, bias=bias, eps=1e-3).to(dtype)
    with torch.no_grad():
        for parameter in norm.parameters():
            parameter.normal_()
    x = torch.randn(3, 5, 16, dtype=dtype) + distance
    weights = torch.randn(3, 5, 16, dtype=dtype)
    found = []
    for fused in (False, True):
        norm.zero_grad()
        own = x.clone().requires_grad_()
        with fused_norms(norm if fused else torch.nn.Identity()), Counted() as counted:
            y = norm(own)
        assert counted.calls == fused
        (y * weights).sum().backward()
        found.append([y.detach(), own.grad, *(p.grad.clone() for p in norm.parameters())])
    for formula, kernel in zip(*found, strict=True):
        torch.testing.assert_close(kernel, formula, atol=bound, rtol=bound)


def test_afterwards_all_is_as_before_even_after_an_error():
    model = small()
    tokens = torch.tensor([[4, 5, 2]])
    with pytest.raises(KeyError), fused_norms(model), Counted() as counted:
        model(tokens, tokens)
        raise KeyError
    assert counted.calls == NORMS_OF_SMALL
    assert not any("forward" in vars(module) for module in model.modules())
    with Counted() as counted:
        model(tokens, tokens)
    assert counted.calls == 0


def test_norms_of_ones_own_are_left_alone():
    class Mine(LayerNorm):
        def forward(self, x):
            return 2 * x

    own, hooked = Mine(4), LayerNorm(4)
    hooked.forward = lambda x: 3 * x
    x = torch.randn(2, 4)
    with fused_norms(torch.nn.ModuleList([own, hooked])):
        assert torch.equal(own(x), 2 * x)
        assert torch.equal(hooked(x), 3 * x)
    assert torch.equal(hooked(x), 3 * x)


def test_another_formula_in_the_place_of_the_books_is_used(monkeypatch):
    norm, x = LayerNorm(4), torch.randn(2, 4)
    monkeypatch.setattr(LayerNorm, "forward", lambda self, x: 5 * x)
    with fused_norms(norm):
        assert torch.equal(norm(x), 5 * x)


def test_a_known_mistake_in_the_place_of_the_books_formula_is_used(monkeypatch):
    """It is the book's own function, and still another than the one that is written there."""

    def forward(norm: LayerNorm, x: torch.Tensor) -> torch.Tensor:
        return 3 * x

    forward.__module__ = "transformer_book.checks.ideas.layers.layer_norm"
    monkeypatch.setattr(LayerNorm, "forward", forward)
    norm, x = LayerNorm(4), torch.randn(2, 4)
    with fused_norms(torch.nn.ModuleList([norm])):
        assert torch.equal(norm(x), 3 * x)


def test_bad_input_is_refused_as_by_the_formula(unhooked):
    layers = unhooked("transformer_book.layers")
    norm = layers.LayerNorm(4)
    with layers.fused_norms(norm), pytest.raises(ValueError, match="last axis must have the wid"):
        norm(torch.randn(2, 3))


@pytest.mark.parametrize("fused", [False, True])
def test_the_trainer_is_fused_if_asked_to(fused, monkeypatch):
    words = Vocabulary(["a", "b", "c", "d", "e"])
    data = PairDataset([(("a", "b"), ("c",)), (("d",), ("e", "a"))], words, words)
    trainer = Trainer(small(), data, data, TrainingConfig(updates=1, batch_size=2), fused=fused)
    sliced, short = [], []
    original = fused_module.scaled_dot_product_attention
    monkeypatch.setattr(
        fused_module, "scaled_dot_product_attention", lambda *a: short.append(1) or original(*a)
    )
    apply = _ProjectedLoss.apply
    monkeypatch.setattr(_ProjectedLoss, "apply", lambda *a: sliced.append(1) or apply(*a))
    with Counted() as counted:
        trainer.fit()
    assert len(sliced) == fused and len(short) == fused * 2 * 3  # in the validation, too
    assert counted.calls == fused * 2 * NORMS_OF_SMALL  # an update, and the validation


@pytest.mark.parametrize(("length", "formula"), [(3, 1), (4, 3), (24, 3)])
def test_short_attentions_are_the_formulas(length, formula, monkeypatch):
    """Of the three attentions, that of the encoder sees 3 positions, the others 4."""
    model, batch, asked = small(dropout=0.0).double(), batch_of_two(), []
    original = fused_module.scaled_dot_product_attention
    monkeypatch.setattr(
        fused_module, "scaled_dot_product_attention", lambda *a: asked.append(1) or original(*a)
    )
    found = []
    for short in (False, True):
        model.zero_grad()
        with formula_for_short(model, length) if short else nullcontext():
            logits = model(batch.source, batch.target)  # (B, T, V)
        logits.square().mean().backward()
        found.append([logits, *(p.grad.clone() for p in model.parameters())])
    assert len(asked) == formula
    for kernel, formulas in zip(*found, strict=True):
        torch.testing.assert_close(formulas, kernel, atol=1e-12, rtol=1e-12)
    assert not any("attend" in vars(module) for module in model.modules())


def test_short_attentions_drop_weights_as_the_kernel_does():
    own = MultiHeadAttention(8, 2, dropout=0.5)
    x = torch.randn(1, 4, 8)
    with formula_for_short(own):
        assert not torch.equal(own(x, x, x), own(x, x, x))
        own.eval()
        assert torch.equal(own(x, x, x), own(x, x, x))


def test_weights_that_are_asked_for_are_kept_and_attentions_of_ones_own_left_alone(monkeypatch):
    own, mine = MultiHeadAttention(8, 2), MultiHeadAttention(8, 2)
    mine.attend = lambda q, k, v, mask=None: 0 * q
    x = torch.randn(1, 4, 8)
    with formula_for_short(torch.nn.ModuleList([own, mine])), recorded_attention(own):
        own(x, x, x)
        assert torch.equal(mine(x, x, x), mine.output.bias.expand(1, 4, 8))
    assert own.weights.shape == (1, 2, 4, 4)
    monkeypatch.setattr(MultiHeadAttention, "attend", lambda self, q, k, v, mask=None: 0 * q)
    with formula_for_short(own):
        assert torch.equal(own(x, x, x), own.output.bias.expand(1, 4, 8))


def batch_of_two() -> Batch:
    return Batch(torch.tensor([[4, 5, 2], [6, 2, 0]]), torch.tensor([[1, 7, 2, 0], [1, 8, 7, 2]]))


@pytest.mark.parametrize("bias", [True, False])
def test_the_fused_loss_is_that_of_the_logits(bias):
    model = small(bias=bias, tie_embeddings="all", dropout=0.0).double()
    batch, found = batch_of_two(), []
    for fused in (False, True):
        model.zero_grad()
        losses = batch_loss(model, batch, 0.1, fused=fused)
        losses[0].backward()
        found.append([*losses, *(p.grad.clone() for p in model.parameters())])
    for plain, fused in zip(*found, strict=True):
        torch.testing.assert_close(fused, plain, atol=1e-12, rtol=1e-12)
    vectors = model(batch.source, batch.target_in, project=False)
    assert torch.equal(model.output(vectors), model(batch.source, batch.target_in))


@pytest.mark.parametrize("kind", ["the usual one", "class", "forward", "hook", "model", "autocast"])
def test_a_projection_of_ones_own_is_left_alone(kind, monkeypatch):
    model, batch, used = small(dropout=0.0), batch_of_two(), []
    monkeypatch.setattr(
        training, "projected_loss", lambda *a: used.append(1) or (torch.ones(()),) * 2
    )
    if kind == "class":
        model.output = torch.nn.Sequential(model.output)
    if kind == "forward":
        model.output.forward = lambda x: x @ model.output.weight.T * 2
    if kind == "hook":
        model.output.register_forward_pre_hook(lambda _, inputs: 2 * inputs[0])
    if kind == "model":
        whole = model.forward
        model.forward = lambda source, target: 2 * whole(source, target)
    with torch.autocast("cpu", torch.bfloat16, enabled=kind == "autocast"):
        loss, _ = batch_loss(model, batch, fused=True)
        if kind != "the usual one":
            expected = label_smoothed_loss(model(batch.source, batch.target_in), batch.target_out)
            assert torch.equal(loss, expected[0])
    assert bool(used) == (kind == "the usual one")


def test_searches_use_the_kernel():
    model = small()
    with Counted() as counted:
        greedy_search(model, torch.tensor([[4, 5, 2]]), max_length=1)
    assert counted.calls == NORMS_OF_SMALL


def test_the_command_line_trains_with_the_kernel(monkeypatch, tmp_path):
    asked = []

    def note(self, *_, **options):
        asked.append(options["fused"])
        raise ValueError("enough")

    monkeypatch.setattr(Experiment, "trainer", note)
    with pytest.raises(ValueError, match="enough"):
        cli.train.train("captions-small", output=tmp_path / "run", quiet=True)
    assert asked == [True]
