"""The decoder-only model: equal to PyTorch's stack and to Llama; trained and decoded."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest
import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from tests import small
from tests.fresh import PACKAGE, fresh_package, import_fresh
from transformer_book.architectures import configuration, settings_of
from transformer_book.batches import collate
from transformer_book.decoder_only import DecoderOnly, DecoderOnlyConfig, todays
from transformer_book.decoding import beam_search, greedy_search, sample
from transformer_book.encoder import Encoder
from transformer_book.grouped_attention import GroupedQueryAttention
from transformer_book.layers import LayerConfig
from transformer_book.masks import causal_mask
from transformer_book.recipes import load_recipe, recipe_from_dict
from transformer_book.rms_norm import RMSNorm
from transformer_book.rotary import RotaryPositions, rotary_angles
from transformer_book.tokens import SpaceTokenizer
from transformer_book.training import Trainer, batch_loss
from transformer_book.translator import Translator
from transformer_book.weights.llama import config_from_llama, weights_from_llama

SIZES = {"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 24, "max_length": 16, "dropout": 0.0}
KINDS = {
    "as in 2017": {},
    "a prefix": {"prefix": True},
    "learned positions": {"positions": "learned", "tie_embeddings": True},
    "no positions": {"positions": "none", "activation": "gelu"},
    "today's": {
        "norm": "rms",
        "positions": "rotary",
        "activation": "swiglu",
        "bias": False,
        "n_kv_heads": 2,
    },
    "a prefix today": {"prefix": True, "positions": "rotary", "n_kv_heads": 1, "d_head": 6},
}
SOURCE = torch.tensor([[5, 6, 7, 2, 0, 0], [4, 9, 8, 7, 6, 2], [3, 2, 0, 0, 0, 0]])
TARGET = torch.tensor([[1, 4, 5, 6], [1, 7, 0, 0], [1, 9, 9, 8]])


def model(seed: int = 0, **options: object) -> DecoderOnly:
    settings = {"initialization": "scaled_normal", **SIZES, **options}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return DecoderOnly(DecoderOnlyConfig(10, **settings)).eval()


def assert_same_gradients(ours: nn.Module, theirs: nn.Module, names: dict[str, str]) -> None:
    mine, others = dict(ours.named_parameters()), dict(theirs.named_parameters())
    for name, other in names.items():
        torch.testing.assert_close(mine[name].grad, others[other].grad, atol=1e-6, rtol=1e-4)


def test_the_stack_is_an_encoder_with_a_causal_mask():
    """The book's own encoder, whose equality with PyTorch's is proven elsewhere."""
    ours = model()
    encoder = Encoder(2, LayerConfig(d_model=16, n_heads=4, d_ff=24, norm="pre", dropout=0.0))
    renamed = {
        name.replace("attention_norm", "attention_residual.norm").replace(
            "feed_forward_norm", "feed_forward_residual.norm"
        ): name
        for name, _ in ours.named_parameters()
        if name.startswith(("layers", "norm"))
    }
    weights = ours.state_dict()
    encoder.load_state_dict({theirs: weights[name] for theirs, name in renamed.items()})
    x = torch.randn(2, 7, 16)
    mask = causal_mask(7)
    y = x
    for layer in ours.layers:
        y = layer(y, mask)
    outputs = ours.norm(y), encoder(x, mask)
    torch.testing.assert_close(*outputs)
    for output in outputs:
        output.square().sum().backward()
    assert_same_gradients(encoder, ours, renamed)


def test_the_stack_is_pytorchs():
    layer = nn.TransformerEncoderLayer(16, 4, 24, 0.0, batch_first=True, norm_first=True)
    theirs = nn.TransformerEncoder(layer, 2, nn.LayerNorm(16), enable_nested_tensor=False)
    ours, weights = model(), {}
    for i, layer in enumerate(ours.layers):
        attention, there = layer.self_attention, f"layers.{i}"
        parts = (attention.query, attention.key, attention.value)
        weights[f"{there}.self_attn.in_proj_weight"] = torch.cat([p.weight for p in parts])
        weights[f"{there}.self_attn.in_proj_bias"] = torch.cat([p.bias for p in parts])
        for own, name in (
            (attention.output, "self_attn.out_proj"),
            (layer.feed_forward.linear1, "linear1"),
            (layer.feed_forward.linear2, "linear2"),
            (layer.attention_norm, "norm1"),
            (layer.feed_forward_norm, "norm2"),
        ):
            weights[f"{there}.{name}.weight"], weights[f"{there}.{name}.bias"] = (
                own.weight,
                own.bias,
            )
    weights |= {"norm.weight": ours.norm.weight, "norm.bias": ours.norm.bias}
    theirs.load_state_dict(weights)
    tokens = torch.randint(1, 10, (3, 9))
    with torch.no_grad():
        x = ours.placed(ours.embedding(tokens), torch.arange(9).expand(3, 9))
        hidden = nn.Transformer.generate_square_subsequent_mask(9)
        torch.testing.assert_close(ours.vectors(tokens), theirs(x, hidden), atol=1e-6, rtol=1e-5)


LLAMAS = [
    (n_kv_heads, tied, d_head, base)
    for n_kv_heads, d_head in ((4, None), (2, 6), (1, None))
    for tied, base in ((False, 10000.0), (True, 500.0))
]


@pytest.mark.parametrize(("n_kv_heads", "tied", "d_head", "base"), LLAMAS)
def test_todays_parts_are_llama(n_kv_heads, tied, d_head, base):
    torch.manual_seed(3)
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=23,
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=n_kv_heads,
            head_dim=d_head or 4,
            tie_word_embeddings=tied,
            max_position_embeddings=96,
            rope_parameters={"rope_type": "default", "rope_theta": base},
        )
    ).eval()
    ours = DecoderOnly(config_from_llama(theirs.config.to_dict())).eval()
    ours.load_state_dict(weights_from_llama(theirs.state_dict()))
    for length in (1, 2, 40):
        tokens = torch.randint(0, 23, (2, length))
        expected = theirs(tokens).logits
        torch.testing.assert_close(ours.logits(tokens), expected, atol=2e-6, rtol=1e-5)
    cache = ours.new_cache()
    pieces = [tokens[:, :5], *tokens[:, 5:].split(1, dim=1)]
    steps = [ours.output(ours.vectors(piece, cache=cache)) for piece in pieces]
    torch.testing.assert_close(torch.cat(steps, dim=1), expected, atol=2e-6, rtol=1e-5)
    assert cache.n_bytes == 2 * 2 * 2 * n_kv_heads * 40 * (d_head or 4) * 4
    for logits in (ours.logits(tokens), theirs(tokens).logits):
        nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
    gradients = weights_from_llama({n: p.grad for n, p in theirs.named_parameters()})
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(parameter.grad, gradients[name], atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"hidden_act": "gelu"}, "has hidden_act = 'gelu', but the book's model only knows 'silu'"),
        ({"attention_bias": True}, "has attention_bias = True"),
        ({"model_type": "mistral"}, "has model_type = 'mistral'"),
        ({"rope_parameters": {"rope_type": "llama3", "factor": 8.0}}, "stretches its rotary"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "stretches its rotary"),
        ({"sliding_window": 512}, "has a setting 'sliding_window' = 512, which the book's"),
        ({"vocab_size": None}, "lack 'vocab_size'"),
    ],
)
def test_what_the_book_has_no_part_for_is_refused(change, sentence):
    settings = LlamaConfig(vocab_size=9).to_dict() | change
    settings = {name: value for name, value in settings.items() if value is not None}
    with pytest.raises(ValueError, match=sentence):
        config_from_llama(settings)


def test_an_older_way_to_write_the_base():
    settings = LlamaConfig(vocab_size=9).to_dict()
    del settings["rope_parameters"]
    assert config_from_llama(settings | {"rope_theta": 500000}).rotary_base == 500000.0


def test_an_unknown_weight_is_named():
    with pytest.raises(ValueError, match=r"'model.layers.0.mlp.up_proj.bias' is not a weight"):
        weights_from_llama({"model.layers.0.mlp.up_proj.bias": torch.zeros(2)})


# --- the parts ------------------------------------------------------------------------------------


def test_rms_norm_is_pytorchs():
    ours, theirs, x = RMSNorm(6, eps=1e-3), nn.RMSNorm(6, eps=1e-3), torch.randn(4, 5, 6)
    nn.init.normal_(ours.weight)
    theirs.load_state_dict(ours.state_dict())
    inputs = x.clone().requires_grad_(), x.clone().requires_grad_()
    outputs = [norm(y) for norm, y in zip((ours, theirs), inputs, strict=True)]
    torch.testing.assert_close(*outputs)
    for output in outputs:
        output.pow(3).sum().backward()
    torch.testing.assert_close(inputs[0].grad, inputs[1].grad, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(ours.weight.grad, theirs.weight.grad, atol=1e-5, rtol=1e-4)


def test_a_rotated_product_depends_on_the_distance_only():
    rotary = RotaryPositions(8, max_length=200)
    q, k = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)
    products = [
        (rotary(q, torch.tensor([m])) * rotary(k, torch.tensor([n]))).sum()
        for m, n in ((3, 0), (10, 7), (199, 196))
    ]
    torch.testing.assert_close(products[0], products[1])
    torch.testing.assert_close(products[0], products[2])
    torch.testing.assert_close(rotary(q, torch.tensor([77])).norm(), q.norm())
    turned = torch.polar(torch.ones(4, dtype=torch.float64), rotary_angles(78, 8)[77])
    complex_q = torch.complex(q[..., :4], q[..., 4:]) * turned  # the same, as complex numbers
    torch.testing.assert_close(
        rotary(q, torch.tensor([77])), torch.cat([complex_q.real, complex_q.imag], dim=-1)
    )


def test_the_rotary_angles_are_those_of_the_sinusoids():
    from transformer_book.embeddings import sinusoids

    table = sinusoids(50, 12, torch.float64)
    torch.testing.assert_close(rotary_angles(50, 12).sin(), table[:, 0::2])
    torch.testing.assert_close(rotary_angles(50, 12).cos(), table[:, 1::2])


def test_the_table_grows_and_follows_the_type():
    rotary, x = RotaryPositions(4, max_length=300), torch.randn(1, 2, 3, 4)
    for first in (0, 100, 290, 5):
        positions = torch.arange(first, first + 3)
        fresh = RotaryPositions(4, max_length=300)(x, positions)
        assert torch.equal(rotary(x, positions), fresh)
    assert rotary(x.double(), positions).dtype == torch.float64
    with pytest.raises(ValueError, match="Position 300 is beyond max_length = 300"):
        rotary(x, torch.arange(298, 301))


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_the_formula_and_the_kernel_agree(n_kv_heads):
    attention, x = GroupedQueryAttention(16, 4, n_kv_heads), torch.randn(2, 5, 16)
    fused = attention(x, causal_mask(5))
    attention.keep_weights = True
    torch.testing.assert_close(attention(x, causal_mask(5)), fused)
    assert attention.weights.shape == (2, 4, 5, 5)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_kv_heads": 3}, "n_kv_heads must divide n_heads"),
        ({"d_model": 18}, "n_heads"),
        ({"positions": "rotary", "d_head": 5}, "d_head"),
        ({"norm": "post"}, "norm is 'post', but it must be one of layer, rms"),
        ({"positions": "rotray"}, "did you mean 'rotary'"),
        ({"prefix": True, "source_loss": True}, "source_loss needs prefix=False"),
        ({"norm_eps": 0}, "norm_eps is 0"),
        ({"activation": "silu"}, "activation is 'silu'"),
    ],
)
def test_bad_configurations(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        DecoderOnlyConfig(10, **SIZES | options)


# --- source and target in one sequence ------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind):
    one = model(**KINDS[kind])
    together = one(SOURCE, TARGET)
    for row, (n_source, n_target) in enumerate(((4, 4), (6, 2), (2, 4))):
        alone = one(SOURCE[row : row + 1, :n_source], TARGET[row : row + 1, :n_target])
        torch.testing.assert_close(together[row : row + 1, :n_target], alone, atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_what_sees_what(kind):
    one, prefix = model(**KINDS[kind]), KINDS[kind].get("prefix", False)
    source, target = torch.tensor([[5, 6, 7, 2]]), torch.tensor([[1, 4, 5, 6]])
    vectors = one.pair_vectors(source, target)
    later = one.pair_vectors(source, torch.tensor([[1, 4, 8, 6]]))
    assert torch.equal(vectors[:, :6], later[:, :6]) and not torch.equal(vectors, later)
    other = one.pair_vectors(torch.tensor([[5, 6, 8, 2]]), target)
    assert torch.equal(vectors[:, :2], other[:, :2]) == (not prefix)
    assert not torch.isclose(vectors[:, -1], other[:, -1]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_searches_with_and_without_a_cache(kind):
    one = model(**KINDS[kind])
    for search in (
        greedy_search,
        lambda *a, **o: [h for best in beam_search(*a, 3, n_best=2, **o) for h in best],
        lambda *a, **o: sample(*a, generator=torch.Generator().manual_seed(1), **o),
    ):
        cached, plain = (search(one, SOURCE, cached=c, max_length=9) for c in (True, False))
        assert [h.tokens for h in cached] == [h.tokens for h in plain]
        for a, b in zip(cached, plain, strict=True):
            assert a.score == pytest.approx(b.score, abs=1e-4)
    with pytest.raises(ValueError, match="A decoder-only model has no cross-attention"):
        greedy_search(one, SOURCE, keep_attention=True)


def test_the_loss_on_the_source():
    batch = collate([([5, 6, 2], [1, 4, 2]), ([7, 2], [1, 8, 9, 2])])
    one = model()
    labels = one.source_labels(batch.source, batch.target)
    assert labels.tolist() == [[6, 2, 0, 4, 2, 0], [2, 0, 0, 8, 9, 2]]
    logits = one(batch.source, batch.target_in, whole=True)
    vectors = one(batch.source, batch.target_in, whole=True, project=False)
    assert torch.equal(one.output(vectors), logits)
    both = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0)
    target = nn.functional.cross_entropy(
        one(batch.source, batch.target_in).flatten(0, 1),
        batch.target_out.flatten(),
        ignore_index=0,
    )
    two = model(source_loss=True)
    for fused in (False, True):
        torch.testing.assert_close(batch_loss(one, batch, fused=fused)[0], target)
        torch.testing.assert_close(batch_loss(two, batch, fused=fused)[0], both)


def test_it_trains_is_resumed_saved_and_loaded(tmp_path):
    def trainer(folder, updates):
        size = len(small.VOCABULARY)
        torch.manual_seed(0)
        fresh = DecoderOnly(todays(size, **SIZES | {"dropout": 0.1}, source_loss=True))
        config = small.config(updates=updates)
        return Trainer(fresh, small.TRAIN, small.VALIDATION, config, folder=folder)

    whole = trainer(tmp_path / "whole", 6)
    whole.fit()
    trainer(tmp_path / "cut", 4).fit()
    resumed = trainer(tmp_path / "cut", 6)
    assert resumed.resume()
    resumed.fit()
    small.assert_same_weights(whole.model, resumed.model)

    spaces = SpaceTokenizer()
    kept = Translator(whole.model, spaces, spaces, small.VOCABULARY, small.VOCABULARY)
    kept.save(tmp_path / "model")
    loaded = Translator.from_pretrained(tmp_path / "model")
    assert loaded.model.config == whole.model.config
    texts = ["a b c", "", "e d"]
    assert loaded.translate(texts) == kept.translate(texts)
    assert loaded.translate(texts, beam_size=3) == kept.translate(texts, beam_size=3)


def test_what_looks_into_two_stacks_says_so():
    with fresh_package():  # as users run it: the annotations would refuse the model first
        names = ("studies.inspection", "decoder_only")
        inspection, fresh = (import_module(f"{PACKAGE}.{name}") for name in names)
        one = fresh.DecoderOnly(fresh.DecoderOnlyConfig(10, **SIZES))
    for look in (inspection.attentions, lambda m: inspection.attention_maps(m, SOURCE, TARGET)):
        with pytest.raises(ValueError, match="but the model is decoder-only"):
            look(one)


def test_a_configuration_comes_back():
    for config in (todays(9, **SIZES), small.model().config):
        assert configuration(settings_of(config)) == config
    assert settings_of(todays(9))["architecture"] == "decoder_only"
    assert "architecture" not in settings_of(small.model().config)
    with pytest.raises(ValueError, match="one vocabulary, but the source's has 9 tokens"):
        configuration({"architecture": "decoder_only"}, (9, 8))


def test_recipes_of_one_stack():
    recipe = load_recipe("captions-small-decoder-only")
    assert recipe.model["architecture"] == "decoder_only" and recipe.tokens.joint
    two = recipe.to_dict()
    assert recipe_from_dict(two) == recipe
    with pytest.raises(ValueError, match=r"needs one vocabulary: set tokens\.joint"):
        load_recipe("captions-small-decoder-only", ["tokens.joint=false"])
    with pytest.raises(ValueError, match="did you mean 'decoder_only'"):
        load_recipe("captions-small-decoder-only", ["model.architecture=decoder_onyl"])
    with pytest.raises(ValueError, match="model key 'n_encoder_layers' is not known"):
        load_recipe("captions-small-decoder-only", ["model.n_encoder_layers=2"])


# --- mistakes are found ---------------------------------------------------------------------------


def values_are_rotated(monkeypatch):
    usual = GroupedQueryAttention.attend

    def attend(self, q, k, v, mask=None):
        return usual(self, q, k, self.rotary(v, torch.arange(v.size(2))), mask)

    monkeypatch.setattr(GroupedQueryAttention, "attend", attend)


def groups_are_dealt_in_turn(monkeypatch):
    usual = GroupedQueryAttention.attend

    def attend(self, q, k, v, mask=None):
        k, v = (x.repeat(1, self.n_heads // self.n_kv_heads, 1, 1) for x in (k, v))
        return usual(self, q, k, v, mask)

    monkeypatch.setattr(GroupedQueryAttention, "attend", attend)


@pytest.mark.parametrize("damage", [values_are_rotated, groups_are_dealt_in_turn])
def test_a_damage_is_found_out(damage, monkeypatch):
    damage(monkeypatch)
    with pytest.raises(AssertionError):
        test_todays_parts_are_llama(2, False, None, 10000.0)


def test_positions_that_are_not_advanced_are_found_out(monkeypatch):
    usual = DecoderOnly.placed

    def from_zero(self, x, positions):
        positions.sub_(positions[:, :1].clone())  # the rotary parts read the same tensor
        return usual(self, x, positions)

    monkeypatch.setattr(DecoderOnly, "placed", from_zero)
    with pytest.raises(AssertionError):
        test_todays_parts_are_llama(2, False, None, 10000.0)


def test_the_configuration_is_checked_without_the_annotations():
    fresh = import_fresh("transformer_book.decoder_only")
    with pytest.raises(ValueError, match="d_ff"):
        fresh.DecoderOnlyConfig(10, **SIZES | {"d_ff": 0})
    assert replace(DecoderOnlyConfig(10), prefix=True).prefix
