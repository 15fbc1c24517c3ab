"""Going on with a text: the cache, the end, the draws, what is refused."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from transformer_book.continuation import continue_tokens
from transformer_book.decoder_only import DecoderOnly, DecoderOnlyConfig, todays
from transformer_book.sampling import Drawing
from transformer_book.weights.language_model import LanguageModel

SIZES = {"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 24, "max_length": 8, "padding": None}
START = torch.tensor([[3, 1, 4]])


def model_of(kind="today", seed=0, **options):
    config = todays if kind == "today" else DecoderOnlyConfig
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = DecoderOnly(config(9, **SIZES | options)).eval()
    with torch.no_grad():
        model.output.weight.mul_(8)  # less even than at the start
    return model


def drawn(seed, **options):
    generator = torch.Generator().manual_seed(seed)
    return continue_tokens(
        model_of(), START, 12, drawing=Drawing(**options), generator=generator
    ).tokens


@pytest.mark.parametrize("drawing", [None, Drawing(1.5), Drawing(top_p=0.8)])
@pytest.mark.parametrize("kind", ["today", "learned"])
def test_with_and_without_a_cache(kind, drawing):
    model = model_of(kind, **({} if kind == "today" else {"positions": "learned"}))
    one, other = (
        continue_tokens(
            model,
            START,
            13,
            cached=c,
            drawing=drawing,
            generator=torch.Generator().manual_seed(3),
        )
        for c in (True, False)
    )
    assert one.tokens == other.tokens and len(one.tokens) == 13 and not one.finished
    assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-4)


def test_the_likeliest_each_time():
    model, tokens = model_of(), START
    found = continue_tokens(model, START, 6)
    for token, log_probability in zip(found.tokens, found.log_probabilities, strict=True):
        log_p = model.logits(tokens)[0, -1].log_softmax(dim=-1)
        assert token == log_p.argmax() and log_probability == pytest.approx(
            log_p.max().item(), abs=1e-5
        )
        tokens = torch.cat([tokens, torch.tensor([[token]])], dim=1)


def test_it_ends():
    whole = continue_tokens(model_of(), START, 10).tokens
    end = whole[4]
    found = continue_tokens(model_of(), START, 10, end={end})
    assert found.finished and found.tokens == whole[: whole.index(end) + 1]
    assert len(continue_tokens(model_of(), START, 100).tokens) == 16 - 3  # no further position
    whole_row = torch.ones(1, 15, dtype=torch.long)
    assert len(continue_tokens(model_of(), whole_row, 100).tokens) == 1


def test_draws():
    likeliest = continue_tokens(model_of(), START, 12).tokens
    assert drawn(1, temperature=1.0) == drawn(1, temperature=1.0)
    assert len({tuple(drawn(seed, temperature=1.0)) for seed in range(5)}) > 1
    for cut in ({"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}, {"temperature": 1e-4}):
        assert drawn(2, **cut) == likeliest
    assert drawn(2, top_k=9) == drawn(2, temperature=1.0) == drawn(2, min_p=0.0)


def test_the_draws_have_the_probabilities():
    model = model_of()
    generator = torch.Generator().manual_seed(0)
    n = 500
    found = [
        continue_tokens(model, START, 1, drawing=Drawing(2.0), generator=generator)
        for _ in range(n)
    ]
    shares = torch.bincount(torch.tensor([f.tokens[0] for f in found]), minlength=9) / n
    expected = (model.logits(START)[0, -1] / 2).softmax(dim=-1)
    torch.testing.assert_close(shares, expected, atol=0.05, rtol=0)
    for one in found[:20]:  # told under the model itself, without the temperature
        log_p = model.logits(START)[0, -1].log_softmax(dim=-1)[one.tokens[0]].item()
        assert one.log_probabilities == [pytest.approx(log_p, abs=1e-5)]


@pytest.mark.parametrize(
    ("tokens", "options", "sentence"),
    [
        (START, {"n_new": 0}, "n_new is 0"),
        (torch.ones(2, 3, dtype=torch.long), {}, r"one row of ids, \(1, T\), but its shape"),
        (torch.ones(1, 0, dtype=torch.long), {}, "one row of ids"),
        (torch.ones(1, 16, dtype=torch.long), {}, "has 16 tokens, but this model has 16 positions"),
        (torch.tensor([[9]]), {}, "9"),
    ],
)
def test_what_is_refused(tokens, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        continue_tokens(model_of(), tokens, **{"n_new": 4} | options)


# --- with a tokenizer -----------------------------------------------------------------------------


def words(n=9):
    tokenizer = Tokenizer(models.WordLevel({f"w{i}": i for i in range(n)}, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def test_a_text_is_continued():
    one = LanguageModel(model_of(), words())
    tokens = continue_tokens(model_of(), START, 4).tokens
    assert one.continued("w3 w1 w4", 4) == "w3 w1 w4" + "".join(f" w{i}" for i in tokens)
    ended = LanguageModel(model_of(), words(), frozenset({tokens[1]}))
    assert tokens[1] != tokens[0]
    assert ended.continued("w3 w1 w4", 4) == f"w3 w1 w4 w{tokens[0]}"


def test_what_the_tokenizer_puts_in_front_is_read_and_not_shown():
    tokenizer = words()
    tokenizer.add_special_tokens(["w7"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="w7 $A", special_tokens=[("w7", 7)]
    )
    one = LanguageModel(model_of(), tokenizer)
    assert one.encode("w3 w1") == [7, 3, 1]
    assert one.continued("w3 w1", 3).startswith("w3 w1 w")


def test_an_empty_text_is_refused():
    with pytest.raises(ValueError, match="There is nothing to go on with"):
        LanguageModel(model_of(), words()).continued("")
