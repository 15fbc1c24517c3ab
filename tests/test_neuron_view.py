"""The neuron view: sums of products, what the shown features alone would do, and bad input."""

from __future__ import annotations

import json

import pytest
import torch

from transformer_book.attention import recorded_attention
from transformer_book.studies.inspection import queries_and_keys
from transformer_book.transformer import Transformer, TransformerConfig
from transformer_book.translator import Translator
from transformer_book.widgets import NeuronView
from transformer_book.widgets.neuron import cosine_basis

# One head of four features, by hand: the first feature is large, and the same for both keys.
BY_HAND = {
    "q": [[[3.0, 1.0, -2.0, 0.0]]],
    "k": [[[3.0, 2.0, 1.0, 5.0], [3.0, 0.0, -1.0, 7.0]]],
    "query_tokens": ["who"],
    "key_tokens": ["A", "B"],
}


def small_model(**options: object) -> Transformer:
    torch.manual_seed(0)
    config = TransformerConfig(
        9, 9, d_model=8, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=3, **options
    )
    return Transformer(config).eval()


def test_products_sums_and_weights_by_hand():
    numbers = NeuronView(**BY_HAND, kept=2).numbers()
    assert numbers["features"] == [1, 2, 3, 4]  # 9, 2, −2, 0: ties keep their order
    assert numbers["products"] == [9, 2, -2, 0] and numbers["running"] == [9, 11, 9, 9]
    assert numbers["dots"] == [9, 11] and numbers["scores"] == [4.5, 5.5]  # √4 = 2
    sigmoid = torch.tensor([-1.0, 1.0], dtype=torch.float64).sigmoid()
    assert numbers["weights"] == pytest.approx(sigmoid.tolist())
    assert numbers["advantages"] == [0, 1, -2, 0]  # B gets the 9 too
    assert (numbers["kept_dots"], numbers["part"], numbers["others"]) == ([11, 9], 11, -2)
    assert numbers["kept_weights"] == pytest.approx(sigmoid.flip(0).tolist())
    assert (numbers["strongest"], numbers["kept_strongest"]) == ("B", "A")


def test_features_in_three_orders():
    def features(order):
        return NeuronView(**{**BY_HAND, "k": [[[0.1, 2, 3, 5], [0.1, 2, -1, 7]]]}, order=order)

    assert features("feature").numbers()["features"] == [1, 2, 3, 4]
    assert features("contribution").numbers()["features"] == [3, 2, 1, 4]  # −6, 2, 0.3, 0
    assert features("advantage").numbers()["features"] == [3, 1, 2, 4]  # −4, then the ties
    numbers = features("contribution").numbers()
    assert numbers["q_values"] == [-2, 1, 3, 0] and numbers["k_values"] == [3, 2, 0.1, 5]


def test_a_hidden_key_has_no_score_and_no_part_in_the_mean():
    numbers = NeuronView(**BY_HAND, mask=[[False, True]]).numbers()
    assert torch.tensor(numbers["scores"]).isnan().tolist() == [True, False]
    assert numbers["weights"] == numbers["kept_weights"] == [0, 1]
    assert numbers["advantages"] == [0, 2, -4, 0]  # of A, to the mean over B alone
    assert NeuronView(**BY_HAND, mask=[[True, True]]).state() == NeuronView(**BY_HAND).state()


def test_another_basis_changes_all_products_and_no_score():
    torch.testing.assert_close(cosine_basis(32) @ cosine_basis(32).T, torch.eye(32).double())
    torch.manual_seed(1)
    given = {**BY_HAND, "q": torch.randn(1, 1, 32), "k": torch.randn(1, 2, 32), "order": "feature"}
    here, there = (NeuronView(**given, turned=turned).numbers() for turned in (False, True))
    for name in ("dots", "scores", "weights"):
        assert there[name] == pytest.approx(here[name])
    apart = torch.tensor(here["products"]) - torch.tensor(there["products"])
    assert (apart.abs() > 1e-3).all()
    assert abs(here["part"] - there["part"]) > 0.1


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("options", [{}, {"causal": False, "score_scale": 1.0}])
def test_a_model_of_the_book_gives_the_weights_that_it_computes(kind, options):
    model = small_model(**options)
    source, target = torch.tensor([[4, 5, 2]]), torch.tensor([[1, 6, 7, 8]])
    words, read = ["Die", "Frau", "<eos>"], ["<sos>", "The", "woman", "."]
    with torch.no_grad(), recorded_attention(model) as modules:
        model(source, target)
    weights = {name: module.weights[0, 1] for name, module in modules.items()}  # of head 1
    name = "cross_attention" if kind == "cross" else "self_attention"
    stack = "encoder" if kind == "encoder" else "decoder"
    for layer in range(1 if kind == "encoder" else 3):
        for query in range(3):
            view = NeuronView.from_model(
                model, source, words, target, read, kind, layer=layer, head=1, query=query
            )
            expected = weights[f"{stack}.layers.{layer}.{name}"][query]
            found = torch.tensor(view.numbers()["weights"])
            torch.testing.assert_close(found, expected, atol=2e-3, rtol=0)


def test_queries_and_keys_come_in_the_usual_forms():
    model, source = small_model(), torch.tensor([[4, 5, 2]])
    found = queries_and_keys(model, source, torch.tensor([[1, 6]]), kind="cross")
    q, k = (each[:, 0] for each in found)
    assert q.shape == (3, 2, 2, 4) and k.shape == (3, 2, 3, 4)
    names = {"query_tokens": ["<sos>", "The"], "key_tokens": ["Die", "Frau", "<eos>"]}
    stacked = NeuronView(q, k, **names)
    for given in ([list(q), list(k)], [list(q[:, None]), list(k[:, None])], [q.numpy(), k.numpy()]):
        assert NeuronView(*given, **names).state() == stacked.state()
    assert NeuronView(q[0], k[0], **names).q == stacked.q[:1]  # one layer
    assert NeuronView(**stacked.state()).state() == stacked.state()


def test_the_shipped_model_as_in_chapter_12():
    translator = Translator.from_pretrained("captions-de-en")
    words = ["Die", "alte", "Frau", "kauft", "einen", "Apfel", "."]
    ids = torch.tensor([translator.source_vocabulary.encode_source(words)])
    chosen = {"layer": 1, "head": 3, "query": 2, "key": 1}
    view = NeuronView.from_model(translator.model, ids, [*words, "<eos>"], **chosen)
    numbers = view.numbers()
    assert numbers["strongest"] == "alte" and round(max(numbers["weights"]), 2) == 0.79
    assert len(json.dumps(view.state())) < 100_000


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"q": [[1.0, 2.0]]},
            r"q has the shape \(1, 2\), but it must be \(heads, tokens, features",
        ),
        ({"k": "words"}, r"k is a str that is no table of numbers"),
        ({"k": [[[float("nan")] * 4] * 2]}, r"k holds nan, but it must be finite"),
        ({"query_tokens": ["a", "b"]}, r"q holds 1 tokens, but query_tokens names 2"),
        ({"k": [[[1.0], [2.0]]]}, r"q has the shape \(1, 1, 1, 4\) and k \(1, 1, 2, 1\)"),
        ({"mask": [[1, 0]]}, r"mask has the shape \(1, 2\) and the type torch.int64, but it must"),
        ({"mask": [[False, False]]}, r"mask lets query 0 attend to nothing"),
        ({"scale": 0.0}, r"scale is 0.0, but it must be None or a positive number"),
        ({"head": 1}, r"head is 1, but it must be a whole number from 0 to 0"),
        ({"kept": 0}, r"kept is 0, but it must be a whole number from 1 to 4"),
        ({"order": "size"}, r"order is 'size', but it must be one of"),
        ({"turned": 1}, r"turned is 1, but it must be True or False"),
    ],
)
def test_neuron_view_refuses_what_it_cannot_show(unhooked, wrong, sentence):
    view = unhooked("transformer_book.widgets.neuron").NeuronView
    with pytest.raises(ValueError, match=sentence):
        view(**{**BY_HAND, **wrong})


def test_what_cannot_be_read_from_a_model_is_refused(unhooked):
    read = unhooked("transformer_book.studies.inspection").queries_and_keys
    model, source = small_model(), torch.tensor([[4, 5, 2]])
    with pytest.raises(ValueError, match="kind is 'cross', but there is no target_in"):
        read(model, source, kind="cross")
    with pytest.raises(ValueError, match="kind is 'all'"):
        read(model, source, kind="all")
    view = unhooked("transformer_book.widgets.neuron").NeuronView
    with pytest.raises(ValueError, match="source_ids holds 2 sentences, but one can be shown"):
        view.from_model(model, source.expand(2, -1), ["a", "b", "c"])
    model.encoder.layers[0].self_attention = torch.nn.Identity()
    with pytest.raises(ValueError, match="attention of the encoder is a Identity, but queries"):
        read(model, source)
