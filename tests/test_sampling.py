"""Which tokens a draw may choose: the same as with Hugging Face's warpers, token for token."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import MinPLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from tests import small
from transformer_book.decoding import greedy_search, sample
from transformer_book.sampling import Drawing, keep_min_p, keep_top_k, keep_top_p

SHARES = (0.05, 0.3, 0.9, 0.99, 1.0)


@given(seed=st.integers(0, 10**6), size=st.integers(1, 40), spread=st.floats(0.1, 8))
def test_as_hugging_face(seed, size, spread):
    logits = torch.randn(3, size, generator=torch.Generator().manual_seed(seed)) * spread
    for share in SHARES:
        assert torch.equal(keep_top_p(logits, share), TopPLogitsWarper(share)(None, logits))
        assert torch.equal(keep_min_p(logits, share), MinPLogitsWarper(share)(None, logits))
    for k in (1, 2, size, size + 3):
        assert torch.equal(keep_top_k(logits, k), TopKLogitsWarper(k)(None, logits))


def test_by_hand():
    logits = torch.tensor([0.5, 0.25, 0.15, 0.1]).log()
    kept = {p: keep_top_p(logits, p).isfinite().tolist() for p in (0.4, 0.6, 0.76, 1.0)}
    assert kept[0.4] == [True, False, False, False]
    assert kept[0.6] == [True, True, False, False], "the token that crosses the line is in"
    assert kept[0.76] == [True, True, True, False]
    assert kept[1.0] == [True] * 4
    assert keep_min_p(logits, 0.4).isfinite().tolist() == [True, True, False, False]
    assert keep_min_p(logits, 0.0).isfinite().all()
    assert keep_top_k(logits.flip(0), 2).isfinite().tolist() == [False, False, True, True]
    assert keep_top_k(torch.zeros(4), 2).isfinite().tolist() == [True, True, False, False]


def test_of_one_token_only_the_likeliest_is_drawn():
    model, source = small.model(), torch.tensor([[4, 5, 6, 2], [7, 8, 2, 0]])
    greedy = [h.tokens for h in greedy_search(model, source)]
    for options in ({"top_p": 1e-9}, {"min_p": 1.0}, {"top_k": 1}):
        drawn = sample(
            model, source, Drawing(**options), generator=torch.Generator().manual_seed(1)
        )
        assert [h.tokens for h in drawn] == greedy, options


def test_what_is_drawn_is_in_the_nucleus_at_its_temperature():
    model = small.model()
    source = torch.tensor([[4, 5, 6, 2]]).repeat(200, 1)
    drawn = sample(
        model, source, Drawing(2.0, top_p=0.5), max_length=1, n_candidates=len(small.VOCABULARY)
    )
    ids, p = zip(*drawn[0].candidates[0], strict=True)
    hot = (torch.tensor(p).log() / 2).softmax(dim=0)
    kept = {i for i, logit in zip(ids, keep_top_p(hot.log(), 0.5), strict=True) if logit > -99}
    assert 1 < len(kept) < len(ids)
    assert {h.tokens[0] for h in drawn} == kept


@pytest.mark.parametrize(
    ("function", "value", "sentence"),
    [
        (keep_top_p, 0, "top_p is 0, but it must be a number above 0, and at most 1"),
        (keep_top_p, 1.5, "top_p is 1.5"),
        (keep_min_p, -0.1, "min_p is -0.1, but it must be a number from 0 to 1"),
        (keep_min_p, 2, "min_p is 2"),
        (keep_top_k, 0, "top_k"),
    ],
)
def test_bad_values(function, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        function(torch.zeros(3), value)


def test_a_drawing_is_asked_for_by_any_of_its_numbers():
    assert Drawing.asked(top_k=None, top_p=None, min_p=None) is None
    assert Drawing.asked(min_p=0.0) == Drawing(min_p=0.0)
    assert Drawing.asked(2.0, top_k=3) == Drawing(2.0, 3)
