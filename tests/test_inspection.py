"""Maps, entropy, rollout, alignments and silenced heads: against loops, closed forms, PyTorch."""

from __future__ import annotations

import copy
import itertools
import math

import pytest
import torch
from torch.testing import assert_close

from tests import small
from transformer_book.attention import MultiHeadAttention, recorded_attention
from transformer_book.batches import collate
from transformer_book.decoding import greedy_search
from transformer_book.metrics import alignment_error_rate
from transformer_book.pytorch_twins import to_pytorch
from transformer_book.studies.inspection import (
    alignment_error_rates,
    attention_maps,
    attentions,
    entropy,
    gold_table,
    is_word,
    links_of,
    mean_entropy,
    read_alignment,
    recorded_vectors,
    rollout,
    sentence_maps,
    silenced_heads,
)
from transformer_book.translator import Translator

LAYERS, B, H, T, S = 3, 4, 2, 5, 7
SOURCE = torch.tensor([[4, 5, 6, 7, 8, 2, 0], [4, 2, 0, 0, 0, 0, 0], [3, 4, 5, 6, 7, 8, 2]])
SAID = torch.tensor([[5, 6, 7, 2, 0], [4, 5, 6, 7, 2], [3, 2, 0, 0, 0]])
GOLD = [((0, 0), (1, 1), (1, 2), (4, 0)), ((0, 0), (0, 3)), ((5, 0),)]


def random_weights(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(*shape, generator=generator, dtype=torch.float64)
    return scores.softmax(dim=-1)


def two_layers(**options: object):
    model = small.model(
        d_model=12, n_heads=3, n_encoder_layers=2, n_decoder_layers=2, max_length=12, **options
    )
    return model.double().eval()


BATCH = collate([small.dataset(6)[i] for i in range(6)])


# --- maps -----------------------------------------------------------------------------------------


def test_the_maps_are_those_that_the_modules_keep():
    model = two_layers()
    maps = attention_maps(model, BATCH.source, BATCH.target_in)
    with torch.no_grad(), recorded_attention(model) as modules:
        model(BATCH.source, BATCH.target_in)
    for kind, name in (
        ("encoder", "encoder.layers.{}.self_attention"),
        ("decoder", "decoder.layers.{}.self_attention"),
        ("cross", "decoder.layers.{}.cross_attention"),
    ):
        assert maps[kind].shape[:3] == (2, 6, 3)
        for layer in range(2):
            module = modules[name.format(layer)]
            assert attentions(model)[kind][layer] is module
            assert torch.equal(maps[kind][layer], module.weights)
    assert maps["cross"].shape[-2:] == (BATCH.target_in.size(1), BATCH.source.size(1))
    assert not any(module.keep_weights for module in modules.values())


def test_without_a_target_only_the_encoder_is_read():
    model = two_layers()
    both = attention_maps(model, BATCH.source, BATCH.target_in)
    alone = attention_maps(model, BATCH.source)
    assert list(both) == ["encoder", "decoder", "cross"] and list(alone) == ["encoder"]
    assert torch.equal(alone["encoder"], both["encoder"])


def test_an_attention_that_keeps_no_weights_has_no_map():
    model = two_layers()
    model.decoder.layers[0].cross_attention = Silent()
    maps = attention_maps(model, BATCH.source, BATCH.target_in)
    assert list(maps) == ["encoder", "decoder"]


class Silent(torch.nn.Module):
    def forward(self, query, *_, **__):
        return query


def test_a_sentence_has_names_and_the_maps_of_its_ids():
    translator = small.translator()
    translator.model.eval()
    maps = sentence_maps(translator, "a b c", "b a")
    assert maps.source == ("a", "b", "c", "<eos>")
    assert maps.target == ("<sos>", "b", "a")
    assert maps.says == ("b", "a", "<eos>")
    assert maps.encoder.shape == (1, 2, 4, 4)
    assert maps.decoder.shape == (1, 2, 3, 3)
    assert maps.cross.shape == (1, 2, 3, 4)
    ids = torch.tensor([[4, 5, 6, 2]]), torch.tensor([[1, 5, 4]])
    expected = attention_maps(translator.model, *ids)
    for kind, weights in expected.items():
        assert torch.equal(getattr(maps, kind), weights[:, 0])


def test_without_a_target_it_is_the_model_s_own_translation():
    translator = Translator.from_pretrained("captions-de-en")
    maps = sentence_maps(translator, "Der Hund bellt.")
    assert maps.says == ("The", "dog", "is", "barking", ".", "<eos>")
    assert maps.cross.shape == (2, 4, 6, 5)
    assert maps.cross.sum(dim=-1) == pytest.approx(1)


def test_an_empty_target_is_refused():
    with pytest.raises(
        ValueError, match=r"^There is nothing to write: the target text is empty\.$"
    ):
        sentence_maps(small.translator(), "a", " ")


# --- entropy --------------------------------------------------------------------------------------


def test_entropy_by_hand():
    rows = torch.tensor(
        [[0.5, 0.25, 0.25, 0], [1, 0, 0, 0], [0.25] * 4, [0, 0, 0, 0]], dtype=torch.float64
    )
    assert_close(entropy(rows, "bits"), torch.tensor([1.5, 0, 2, 0]).double())
    assert_close(entropy(rows), torch.tensor([1.5, 0, 2, 0]).double() * math.log(2))


def test_entropy_is_that_of_a_categorical_distribution():
    weights = random_weights(LAYERS, B, H, T, S)
    assert_close(entropy(weights), torch.distributions.Categorical(weights).entropy())


def test_mean_entropy_counts_real_queries_only():
    weights = random_weights(LAYERS, B, H, T, S)
    real = torch.arange(T) < torch.tensor([[5], [2], [3], [1]])
    found = mean_entropy(weights, real, "bits")
    for layer, head in itertools.product(range(LAYERS), range(H)):
        rows = [
            -sum(w * math.log2(w) for w in weights[layer, b, head, t].tolist())
            for b, t in real.nonzero().tolist()
        ]
        assert found[layer, head].item() == pytest.approx(sum(rows) / len(rows))
    one = torch.zeros_like(real)
    one[1, 0] = True
    assert_close(mean_entropy(weights[0], one), entropy(weights[0, 1, :, 0]))


def test_entropy_refuses_what_is_no_distribution():
    with pytest.raises(ValueError, match=r"^The weights hold -0\.5, .*after the softmax\.$"):
        entropy(torch.tensor([1.5, -0.5]))
    with pytest.raises(ValueError, match=r"^unit is 'bit'.*did you mean 'bits'\?$"):
        entropy(torch.tensor([1.0]), "bit")
    with pytest.raises(ValueError, match=r"^No query is real"):
        mean_entropy(random_weights(B, H, T, S), torch.zeros(B, T, dtype=torch.bool))


# --- rollout --------------------------------------------------------------------------------------


def test_rollout_by_hand():
    """b looks at a in layer 1, c at b in layer 2: a quarter of c is a."""
    first = torch.tensor([[1, 0, 0], [1, 0, 0], [0, 0, 1]]).double()
    second = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 1, 0]]).double()
    expected = torch.tensor([[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]]).double()
    assert_close(rollout(torch.stack([first, second])[:, None]), expected)


@pytest.mark.parametrize("residual", [0.0, 0.5, 0.8])
def test_rollout_is_the_sum_over_all_paths(residual):
    weights = random_weights(LAYERS, H, T, T)
    step = [residual * torch.eye(T) + (1 - residual) * w.mean(dim=0) for w in weights]
    found = rollout(weights, residual)
    for i, j in itertools.product(range(T), repeat=2):
        total = sum(
            step[2][i, m] * step[1][m, n] * step[0][n, j]
            for m, n in itertools.product(range(T), repeat=2)
        )
        assert found[i, j].item() == pytest.approx(total.item())
    assert_close(found.sum(dim=-1), torch.ones(T).double())


def test_rollout_of_a_batch_is_that_of_each_sentence():
    weights = random_weights(LAYERS, B, H, T, T)
    one_by_one = torch.stack([rollout(weights[:, b]) for b in range(B)])
    assert_close(rollout(weights), one_by_one)


def test_rollout_is_the_jacobian_of_layers_that_only_mix():
    weights = random_weights(LAYERS, H, T, T)

    def mix(x):
        for layer in weights:
            x = 0.5 * x + 0.5 * layer.mean(dim=0) @ x
        return x

    x = torch.randn(T, dtype=torch.float64)
    assert_close(rollout(weights), torch.autograd.functional.jacobian(mix, x))


def test_a_query_that_sees_nothing_keeps_itself():
    weights = random_weights(2, H, T, T)
    weights[..., 1, :] = 0
    assert_close(rollout(weights)[1], torch.eye(T).double()[1])
    assert not rollout(weights, residual=0.0).isnan().any()


def test_rollout_refuses_cross_attention(unhooked):
    of_a_user = unhooked("transformer_book.studies.inspection").rollout
    with pytest.raises(ValueError, match=r"^The maps are 5 × 7, but rollout needs square ones"):
        of_a_user(random_weights(2, H, T, S))
    with pytest.raises(ValueError, match=r"^residual is 1, "):
        of_a_user(random_weights(2, H, T, T), residual=1)


# --- alignment ------------------------------------------------------------------------------------


def test_special_tokens_are_no_words():
    ids = torch.tensor([[1, 3, 4, 9, 2, 0]])
    assert is_word(ids).tolist() == [[False, True, True, True, False, False]]


def test_the_gold_table_has_the_links_and_no_others():
    table = gold_table(GOLD, SOURCE, SAID)
    assert table.shape == (3, 5, 7)
    assert [links_of(table[b], SOURCE[b]) for b in range(3)] == [tuple(sorted(g)) for g in GOLD]
    with_sos = torch.cat([torch.ones(3, 1, dtype=torch.long), SOURCE], dim=1)
    shifted = gold_table(GOLD, with_sos, SAID)
    assert torch.equal(shifted[..., 1:], table) and not shifted[..., 0].any()
    assert links_of(shifted[0], with_sos[0]) == tuple(sorted(GOLD[0]))


def test_the_alignment_is_the_largest_weight_of_each_row():
    cross = random_weights(LAYERS, 3, H, 5, 7)
    found = read_alignment(cross, SOURCE, SAID)
    for layer, b, head in itertools.product(range(LAYERS), range(3), range(H)):
        expected = set()
        for t, said in enumerate(SAID[b].tolist()):
            row = cross[layer, b, head, t].tolist()
            s = row.index(max(row))
            if said > 2 and SOURCE[b, s] > 2:
                expected.add((s, t))
        assert set(links_of(found[layer, b, head], SOURCE[b])) == expected


def test_a_row_that_rests_on_eos_has_no_link():
    cross = torch.zeros(1, 1, 2, 3)
    cross[0, 0, 0, 2] = 1  # the row of the word looks at <eos>
    cross[0, 0, 1, 0] = 1  # the row of <eos> looks at a word
    found = read_alignment(cross, torch.tensor([[4, 5, 2]]), torch.tensor([[6, 2]]))
    assert not found.any()


def test_the_error_rates_of_heads_are_the_metric_s():
    cross = random_weights(LAYERS, 3, H, 5, 7)
    found = read_alignment(cross, SOURCE, SAID)
    rates = alignment_error_rates(found, gold_table(GOLD, SOURCE, SAID))
    assert rates.shape == (LAYERS, H)
    for layer, head in itertools.product(range(LAYERS), range(H)):
        links = [links_of(found[layer, b, head], SOURCE[b]) for b in range(3)]
        assert rates[layer, head].item() == pytest.approx(alignment_error_rate(links, GOLD).value)
    assert len(rates.unique()) > 1
    perfect = gold_table(GOLD, SOURCE, SAID)[:, None]
    assert alignment_error_rates(perfect, perfect[:, 0]).tolist() == [0]


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (GOLD[:2], r"^There are 2 alignments, but 3 sentences"),
        ([((5, 0),), (), ()], r"^Sentence 0 has the link \(5, 0\), but it has 5 source and 3"),
        ([(), (), ((0, 1),)], r"^Sentence 2 has the link \(0, 1\)"),
        ([((-1, 0),), (), ()], r"^Sentence 0 has the link \(-1, 0\)"),
    ],
)
def test_wrong_gold_is_refused(gold, message):
    with pytest.raises(ValueError, match=message):
        gold_table(gold, SOURCE, SAID)


def test_without_gold_there_is_no_rate():
    nothing = torch.zeros(3, 5, 7, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"^There is no gold link"):
        alignment_error_rates(nothing[:, None], nothing)


# --- interfering ----------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [(0,), (2,), (0, 2), (0, 1, 2), ()])
def test_silencing_is_zeroing_the_columns_of_the_output_projection(heads):
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3).double()
    zeroed = copy.deepcopy(attention)
    with torch.no_grad():
        for head in heads:
            zeroed.output.weight[:, 4 * head : 4 * head + 4] = 0
    x, memory = torch.randn(2, 5, 12).double(), torch.randn(2, 7, 12).double()
    mask = torch.rand(2, 1, 5, 7) < 0.7
    mask[..., 0] = True  # PyTorch gives NaN for a query that sees nothing
    hidden = ~mask.expand(2, 3, 5, 7).flatten(0, 1)
    results = []
    for module in (attention, zeroed, to_pytorch(zeroed)):
        leaf = x.clone().requires_grad_()
        if module is attention:
            with silenced_heads(attention, *heads):
                output = module(leaf, memory, memory, mask)
        elif module is zeroed:
            output = module(leaf, memory, memory, mask)
        else:
            output, _ = module(leaf, memory, memory, attn_mask=hidden)
        output.square().sum().backward()
        results.append((output, leaf.grad))
    for output, grad in results[1:]:
        assert_close(results[0][0], output)
        assert_close(results[0][1], grad)
    assert_close(attention(x, memory, memory), copy.deepcopy(attention)(x, memory, memory))
    for head in heads:  # nothing is learned about a silent head
        assert not attention.output.weight.grad[:, 4 * head : 4 * head + 4].any()


def test_silencing_ends_with_the_block_and_reaches_the_cached_search():
    model = two_layers()
    source = BATCH.source
    before = model(source, BATCH.target_in)
    module = attentions(model)["cross"][1]
    zeroed = copy.deepcopy(model)
    with torch.no_grad():
        attentions(zeroed)["cross"][1].output.weight[:, 4:8] = 0
    with silenced_heads(module, 1):
        assert_close(model(source, BATCH.target_in), zeroed(source, BATCH.target_in))
        mine = greedy_search(model, source)
    assert [m.tokens for m in mine] == [t.tokens for t in greedy_search(zeroed, source)]
    assert torch.equal(model(source, BATCH.target_in), before)
    with pytest.raises(RuntimeError, match="stop"), silenced_heads(module, 0):
        raise RuntimeError("stop")
    assert torch.equal(model(source, BATCH.target_in), before)


@pytest.mark.parametrize("head", [3, -1, True, 1.0])
def test_there_is_no_such_head(unhooked, head):
    silence = unhooked("transformer_book.studies.inspection").silenced_heads
    refused = pytest.raises(ValueError, match=r"has 3 heads: choose a whole number from 0 to 2\.$")
    with refused, silence(MultiHeadAttention(12, 3), head):
        pass


def test_the_recorded_vectors_make_the_recorded_weights():
    model = two_layers()
    for kind, modules in attentions(model).items():
        for module in modules:
            with recorded_vectors(module) as vectors:
                maps = attention_maps(model, BATCH.source[:1, :3], BATCH.target_in[:1, :3])
            scores = vectors["query"] @ vectors["key"].mT / 4**0.5
            if kind == "decoder":
                visible = torch.ones(3, 3, dtype=torch.bool).tril()
                scores = scores.masked_fill(~visible, -torch.inf)
            assert_close(scores.softmax(dim=-1), maps[kind][modules.index(module)])
            heads = maps[kind][modules.index(module)] @ vectors["value"]
            assert heads.shape == (1, 3, 3, 4)
            assert not module.query._forward_hooks
