"""The language model of chapter 27: data, loss, training, and the one that is shipped."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from transformer_book.decoder_only import DecoderOnly, todays
from transformer_book.runs.pretraining import (
    corpora,
    documents,
    load_language_model,
    next_token_loss,
    pretrain,
    text_perplexity,
)
from transformer_book.tokens import PAD, Vocabulary


def small(vocabulary: Vocabulary) -> DecoderOnly:
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 24, "max_length": 16}
    return DecoderOnly(todays(len(vocabulary), dropout=0.0, **sizes))


def test_no_text_is_the_translation_of_another_or_stands_in_a_pair():
    study = corpora(n_pairs=30, n_texts=60, n_validation=20)
    assert len(study.pairs) == 30 and len(study.texts) == 60 and len(study.validation) == 20
    german, english = set(study.texts[:30]), set(study.texts[30:])
    every = corpora(n_pairs=90, n_texts=2, n_validation=1).pairs
    assert not [p for p in every if p.source in german and p.target in english]
    sides = {side for p in study.pairs + study.validation for side in (p.source, p.target)}
    assert not sides & (german | english)


def test_a_document_is_its_text_so_many_times():
    vocabulary = Vocabulary.build([("a", "b")])
    (once,) = documents([("a", "b")], vocabulary)
    (twice,) = documents([("a", "b")], vocabulary, times=2)
    assert once.tolist() == vocabulary.encode_target(("a", "b"))
    assert twice.tolist() == 2 * once.tolist()
    with pytest.raises(ValueError, match="times is 0"):
        documents([("a",)], vocabulary, times=0)


def test_the_loss_is_the_mean_over_real_tokens():
    vocabulary = Vocabulary.build([("a", "b", "c")])
    model = small(vocabulary)
    tokens = torch.tensor([[1, 4, 5, 2], [1, 6, 2, PAD]])
    log_p = F.log_softmax(model.logits(tokens), dim=-1)
    asked = [(0, 0, 4), (0, 1, 5), (0, 2, 2), (1, 0, 6), (1, 1, 2)]
    expected = -sum(log_p[place] for place in asked) / len(asked)
    torch.testing.assert_close(next_token_loss(model, tokens), expected)
    texts = [tokens[0], tokens[1, :3]]
    assert text_perplexity(model, texts) == pytest.approx(math.exp(expected.item()), rel=1e-5)


def test_pre_training_lowers_the_loss_and_repeats():
    vocabulary = Vocabulary.build([("a", "b", "c")])
    texts = documents([("a", "b", "c"), ("b", "c", "a")], vocabulary)
    runs = [pretrain(small(vocabulary), texts, updates=30, batch_size=4) for _ in range(2)]
    assert runs[0] == runs[1] and runs[0][-1] < runs[0][0] / 2


def test_the_shipped_model_is_the_recorded_one():
    from transformer_book.recipes import recorded_adapting

    study, language = corpora(), load_language_model()
    (recorded,) = recorded_adapting()["pretrained"]
    vocabulary = study.vocabulary()
    assert vocabulary.tokens == language.source_vocabulary.tokens
    german = documents([pair.source for pair in study.validation], vocabulary)
    found = text_perplexity(language.model, german)
    assert found == pytest.approx(recorded["old_perplexity"]["de"], rel=1e-3)
