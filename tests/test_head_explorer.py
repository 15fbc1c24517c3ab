"""The head explorer: weights from the book's models and from others', and bad input."""

from __future__ import annotations

import json

import pytest
import torch

from transformer_book.attention import recorded_attention
from transformer_book.masks import padding_mask
from transformer_book.transformer import Transformer, TransformerConfig
from transformer_book.translator import Translator
from transformer_book.widgets import HeadExplorer

SOURCE, TARGET = ["Die", "Frau", "<eos>"], ["<sos>", "The", "woman", "."]
# Two heads on two tokens: the second looks at both alike.
SHARP_AND_EVEN = [[[[1.0, 0.0], [0.25, 0.75]], [[0.5, 0.5], [0.5, 0.5]]]]


def random_weights(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)


def as_in_hugging_face() -> dict:
    """What an encoder–decoder there returns: for each layer `(1, heads, T, S)`."""
    shapes = {"encoder": (3, 3), "decoder": (4, 4), "cross": (4, 3)}
    return {kind: tuple(random_weights(2, 1, 5, *shape).unbind()) for kind, shape in shapes.items()}


def test_numbers_of_a_query_a_key_and_all_queries():
    numbers = HeadExplorer(["a", "b"], encoder=SHARP_AND_EVEN, token=1).numbers()
    assert numbers["weights"] == [0.25, 0.75] and numbers["sum"] == 1
    assert numbers["average"] == [0.375, 0.625]
    assert (numbers["chosen"], numbers["shown"]) == ("query b", "layer 1, head 1")
    assert (numbers["strongest"], numbers["largest"]) == ("b", 0.75)
    # One token for the first query; 4 / 3^(3/4) tokens for the second; head 2 is even.
    assert numbers["breadths"][0][0] == pytest.approx((1 + 4 / 3**0.75) / 2)
    assert numbers["breadths"][0][1] == pytest.approx(2)
    key = HeadExplorer(["a", "b"], encoder=SHARP_AND_EVEN, side="key", token=0).numbers()
    assert key["weights"] == [1.0, 0.25] and key["sum"] == 1.25  # a column need not sum to one
    everybody = HeadExplorer(["a", "b"], encoder=SHARP_AND_EVEN, threshold=0.75).numbers()
    assert everybody["weights"] == [0.625, 0.375]
    assert (everybody["lines"], everybody["possible"]) == (2, 4)
    assert everybody["carried"] == pytest.approx(1.75 / 2)
    average = HeadExplorer(["a", "b"], encoder=SHARP_AND_EVEN, head=-1, token=0).numbers()
    assert average["weights"] == average["average"] == [0.75, 0.25]
    assert average["shown"] == "layer 1, average of 2 heads"


def test_the_shipped_model_as_in_chapter_12():
    translator = Translator.from_pretrained("captions-de-en")
    words = ["Die", "alte", "Frau", "kauft", "einen", "Apfel", "."]
    ids = torch.tensor([translator.source_vocabulary.encode_source(words)])
    start = HeadExplorer.from_model(
        translator.model, ids, [*words, "<eos>"], layer=1, head=3, token=2
    )
    assert (start.kind, start.decoder, start.cross) == ("encoder", [], [])
    assert start.numbers()["strongest"] == "alte"
    assert round(start.numbers()["largest"], 2) == 0.79
    assert len(json.dumps(start.state())) < 100_000


def test_a_model_of_the_book_gives_all_three_kinds():
    model = Transformer(
        TransformerConfig(
            9, 9, d_model=8, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=3
        )
    ).eval()
    source, target = torch.tensor([[4, 5, 2]]), torch.tensor([[1, 6, 7, 8]])
    heads = HeadExplorer.from_model(model, source, SOURCE, target, TARGET)
    with torch.no_grad(), recorded_attention(model) as modules:
        memory = model.encode(source, padding_mask(source))
        model.decode(target, memory, padding_mask(source))
    layer = "decoder.layers.2."
    for found, name in (
        (heads.encoder[0], "encoder.layers.0.self_attention"),
        (heads.decoder[2], f"{layer}self_attention"),
        (heads.cross[2], f"{layer}cross_attention"),
    ):
        expected = modules[name].weights[0]
        torch.testing.assert_close(torch.tensor(found), expected, atol=5.1e-4, rtol=0)
    assert (len(heads.encoder), len(heads.decoder), len(heads.cross)) == (1, 3, 3)
    assert heads.decoder[0][0][0][1:] == [0, 0, 0]  # no query looks ahead


def test_tuples_of_layers_are_tensors_and_lists():
    theirs = as_in_hugging_face()
    stacked = {kind: torch.cat(layers) for kind, layers in theirs.items()}  # (layers, H, T, S)
    arrays = {kind: weights.numpy() for kind, weights in stacked.items()}
    lists = {kind: weights.tolist() for kind, weights in stacked.items()}
    one = HeadExplorer(SOURCE, TARGET, **theirs, kind="cross", layer=1, head=4, token=3)
    for other in (stacked, arrays, lists):
        same = HeadExplorer(SOURCE, TARGET, **other, kind="cross", layer=1, head=4, token=3)
        assert same.state() == one.state()
    expected = theirs["cross"][1][0, 4, 3].double()
    found = torch.tensor(one.numbers()["weights"], dtype=torch.float64)
    torch.testing.assert_close(found, expected, atol=5.1e-4, rtol=0)
    assert HeadExplorer(**one.state()).numbers() == one.numbers()


def test_a_hugging_face_model_fits_as_it_is():
    import transformers  # takes seconds, and only this test needs it

    config = transformers.BartConfig(
        vocab_size=20, d_model=8, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=8, decoder_ffn_dim=8, max_position_embeddings=16,
        attn_implementation="eager",
    )  # fmt: skip
    model = transformers.BartModel(config).eval()
    with torch.no_grad():
        outputs = model(
            torch.tensor([[4, 5, 2]]),
            decoder_input_ids=torch.tensor([[1, 6, 7, 8]]),
            output_attentions=True,
        )
    heads = HeadExplorer(
        SOURCE,
        TARGET,
        encoder=outputs.encoder_attentions,
        decoder=outputs.decoder_attentions,
        cross=outputs.cross_attentions,
    )
    found = torch.tensor(heads.cross[1])
    torch.testing.assert_close(found, outputs.cross_attentions[1][0], atol=5.1e-4, rtol=0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"encoder": None, "decoder": (), "cross": None}, r"no attention weights to show"),
        ({"source": ["Die", "Frau"]}, r"encoder has maps of 3 × 3 tokens, .* names for 2 queries"),
        ({"encoder": (None, None)}, r"encoder holds None for layer 0.*output_attentions=True"),
        ({"encoder": [["a"]]}, r"encoder holds a list for layer 0 that is no table of numbers"),
        ({"encoder": 5}, r"encoder is a int, but it must be a tensor"),
        ({"cross": random_weights(2, 5, 3)}, r"cross has the shape \(5, 3\) in layer 0"),
        ({"cross": random_weights(2, 3, 5, 4, 3)}, r"cross holds 3 sentences in layer 0"),
        ({"cross": torch.full((1, 1, 4, 3), -2.0)}, r"cross holds -2, .* after the softmax"),
        ({"cross": torch.full((1, 1, 4, 3), torch.nan)}, r"cross holds nan, but weights lie"),
        (
            {"cross": [random_weights(5, 4, 3), random_weights(4, 4, 3)]},
            r"cross has 5 heads in layer 0 and 4 in layer 1",
        ),
        ({"kind": "self"}, r"kind is 'self', but it must be one of encoder, decoder, cross"),
        ({"side": "value"}, r"side is 'value', but it must be one of query, key"),
        ({"layer": 2}, r"layer is 2, but encoder has 2 layers: .* from 0 to 1"),
        ({"head": 5}, r"head is 5, but encoder has 5 heads: .* from -1 to 4"),
        ({"token": 3}, r"token is 3, but there are 3 tokens on that side: .* from -1 to 2"),
        ({"side": "key"}, r"token is -1, all queries, but side is 'key'"),
        ({"threshold": 0}, r"threshold is 0, but it must be a number above 0 and at most 1"),
        ({"threshold": "a"}, r"threshold is 'a', but it must be a number above 0 and at most 1"),
    ],
)
def test_what_cannot_be_shown_is_refused(unhooked, wrong, sentence):
    explorer = unhooked("transformer_book.widgets.heads").HeadExplorer
    arguments = {"source": SOURCE, "target": TARGET, **as_in_hugging_face()}
    with pytest.raises(ValueError, match=sentence):
        explorer(**{**arguments, **wrong})
