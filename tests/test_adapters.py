"""LoRA: equal to the merged weights, and to peft's."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests import small
from transformer_book.adapters import LoRA, add_lora, merge_lora, n_trainable
from transformer_book.decoder_only import DecoderOnly, DecoderOnlyConfig, todays
from transformer_book.weights.checkpoints import weights_of


def lora(rows: int = 5, columns: int = 4, rank: int = 2, **options: object) -> LoRA:
    """With an up-projection that is not zero."""
    adapter = LoRA(nn.Linear(columns, rows), rank, **options)
    nn.init.normal_(adapter.up)
    return adapter


def model() -> DecoderOnly:
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24, "max_length": 12}
    return DecoderOnly(todays(11, dropout=0.0, **sizes))


def test_at_first_nothing_changes():
    plain, tokens = model(), torch.tensor([[4, 5, 6, 7]])
    before = plain.logits(tokens)
    names = add_lora(plain, rank=3)
    assert names == [f"layers.{i}.self_attention.{n}" for i in (0, 1) for n in ("query", "value")]
    assert torch.equal(plain.logits(tokens), before)
    assert n_trainable(plain) == 4 * 3 * (16 + 16)


@pytest.mark.parametrize("alpha", [None, 8.0])
def test_equals_the_merged_layer(alpha):
    adapter, x = lora(alpha=alpha), torch.randn(3, 7, 4)
    factor = 1.0 if alpha is None else alpha / 2
    merged = adapter.merged()
    weight = adapter.linear.weight + factor * adapter.up @ adapter.down
    torch.testing.assert_close(merged.weight, weight)
    torch.testing.assert_close(adapter(x), merged(x))
    assert not any(p.requires_grad for p in adapter.linear.parameters())


def test_gradients_are_those_of_the_product():
    adapter, x = lora(alpha=6.0).double(), torch.randn(8, 4, dtype=torch.float64)
    adapter(x).square().sum().backward()
    up, down = (p.detach().clone().requires_grad_() for p in (adapter.up, adapter.down))
    weight = adapter.linear.weight + 3.0 * up @ down
    nn.functional.linear(x, weight, adapter.linear.bias).square().sum().backward()
    torch.testing.assert_close(adapter.up.grad, up.grad)
    torch.testing.assert_close(adapter.down.grad, down.grad)
    assert adapter.linear.weight.grad is None


def test_merging_brings_the_names_back():
    plain, tokens = model(), torch.tensor([[4, 5, 6, 7]])
    names, before = weights_of(plain).keys(), weights_of(plain)
    adapted = add_lora(plain, rank=2, alpha=4.0, names=("attention.query", "attention.output"))
    for module in plain.modules():
        if isinstance(module, LoRA):
            nn.init.normal_(module.up, std=0.3)
    logits = plain.logits(tokens)
    assert merge_lora(plain) == adapted
    torch.testing.assert_close(plain.logits(tokens), logits)
    assert weights_of(plain).keys() == names
    assert n_trainable(plain) == plain.n_parameters
    changed = {n for n in names if not torch.equal(weights_of(plain)[n], before[n])}
    assert changed == {f"{name}.weight" for name in adapted}


def test_only_the_adapters_learn():
    trainer = small.trainer()
    before = {n: t.clone() for n, t in weights_of(trainer.model).items()}
    add_lora(trainer.model, rank=2)
    # A new trainer: its optimizer must know the new weights.
    own = type(trainer)(trainer.model, small.TRAIN, small.VALIDATION, small.config())
    own.fit()
    after = weights_of(own.model)
    for name, tensor in before.items():
        adapted = name.replace("query.", "query.linear.").replace("value.", "value.linear.")
        assert torch.equal(after.get(adapted, after.get(name)), tensor), name
    ups = [t for n, t in after.items() if n.endswith(".up")]
    assert ups and all(t.abs().max() > 0 for t in ups)


@pytest.mark.parametrize("alpha", [2.0, 16.0])
def test_as_peft(alpha):
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    from transformer_book.weights.llama import config_from_llama, weights_from_llama

    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=23,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    theirs = LlamaForCausalLM(config).eval()
    ours = DecoderOnly(config_from_llama(theirs.config.to_dict())).eval()
    ours.load_state_dict(weights_from_llama(theirs.state_dict()))
    target = ["q_proj", "v_proj"]
    theirs = get_peft_model(theirs, LoraConfig(r=3, lora_alpha=alpha, target_modules=target))
    add_lora(ours, rank=3, alpha=alpha)
    pairs = []
    for i, layer in enumerate(theirs.base_model.model.model.layers):
        for their, our in (("q_proj", "query"), ("v_proj", "value")):
            a = getattr(layer.self_attn, their)
            b = getattr(ours.layers[i].self_attention, our)
            nn.init.normal_(b.up, std=0.2)
            with torch.no_grad():
                a.lora_A["default"].weight.copy_(b.down)
                a.lora_B["default"].weight.copy_(b.up)
            pairs += [(a.lora_A["default"].weight, b.down), (a.lora_B["default"].weight, b.up)]
    tokens = torch.randint(0, 23, (3, 9))
    theirs.eval()
    outputs = theirs(tokens).logits, ours.logits(tokens)
    torch.testing.assert_close(*outputs, atol=2e-6, rtol=1e-5)
    for logits in outputs:
        nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
    for a, b in pairs:
        torch.testing.assert_close(a.grad, b.grad, atol=1e-6, rtol=1e-4)
    assert sum(p.requires_grad for p in theirs.parameters()) == len(pairs)


@pytest.mark.parametrize(
    ("rank", "alpha", "sentence"),
    [
        (0, None, "rank"),
        (5, None, "rank is 5, but a matrix of 5 × 4 has at most rank 4"),
        (2, 0, "alpha is 0, but it must be a number above 0"),
    ],
)
def test_bad_values(rank, alpha, sentence):
    with pytest.raises(ValueError, match=sentence):
        LoRA(nn.Linear(4, 5), rank, alpha)


def test_bad_models():
    plain = model()
    with pytest.raises(
        ValueError, match="No linear layer of the model has a name that ends in nobody"
    ):
        add_lora(plain, 2, names=("nobody",))
    with pytest.raises(ValueError, match="has at most rank 16"):
        add_lora(plain, 17)
    assert all(p.requires_grad for p in plain.parameters()) or n_trainable(plain)
    add_lora(plain, 2)
    with pytest.raises(ValueError, match="has adapters already"):
        add_lora(plain, 2)


def test_the_layers_of_an_encoder_decoder_are_adapted_alike():
    config = DecoderOnlyConfig(9, d_model=8, n_heads=2, n_layers=1, d_ff=8, max_length=8)
    assert len(add_lora(DecoderOnly(config), 2)) == 2
    assert len(add_lora(small.model(), 2)) == 6  # one encoder layer, two attentions of the decoder
