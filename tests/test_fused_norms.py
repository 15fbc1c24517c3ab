"""PyTorch's kernel in the place of the formula of a layer norm: the same, sooner."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from transformer_book import cli
from transformer_book.batches import PairDataset
from transformer_book.decoding import greedy_search
from transformer_book.experiment import Experiment
from transformer_book.layers import LayerNorm, fused_norms
from transformer_book.tokens import Vocabulary
from transformer_book.training import Trainer, TrainingConfig
from transformer_book.transformer import Transformer, TransformerConfig


class Counted(TorchFunctionMode):
    """Counts the calls of the kernel."""

    calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.calls += function is F.layer_norm
        return function(*args, **(kwargs or {}))


def small(norm: str = "pre") -> Transformer:
    sizes = {"d_model": 8, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 8}
    return Transformer(TransformerConfig(9, 9, norm=norm, **sizes))


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


def test_bad_input_is_refused_as_by_the_formula(unhooked):
    layers = unhooked("transformer_book.layers")
    norm = layers.LayerNorm(4)
    with layers.fused_norms(norm), pytest.raises(ValueError, match="last axis must have the wid"):
        norm(torch.randn(2, 3))


@pytest.mark.parametrize("fused", [False, True])
def test_the_trainer_uses_the_kernel_if_asked_to(fused):
    words = Vocabulary(["a", "b", "c", "d", "e"])
    data = PairDataset([(("a", "b"), ("c",)), (("d",), ("e", "a"))], words, words)
    trainer = Trainer(
        small(), data, data, TrainingConfig(updates=1, batch_size=2), fused_norms=fused
    )
    with Counted() as counted:
        trainer.fit()
    assert counted.calls == fused * 2 * NORMS_OF_SMALL  # an update, and the validation


def test_searches_use_the_kernel():
    model = small()
    with Counted() as counted:
        greedy_search(model, torch.tensor([[4, 5, 2]]), max_length=1)
    assert counted.calls == NORMS_OF_SMALL


def test_the_command_line_trains_with_the_kernel(monkeypatch, tmp_path):
    asked = []

    def note(self, *_, **options):
        asked.append(options["fused_norms"])
        raise ValueError("enough")

    monkeypatch.setattr(Experiment, "trainer", note)
    with pytest.raises(ValueError, match="enough"):
        cli.train("captions-small", output=tmp_path / "run", quiet=True)
    assert asked == [True]
