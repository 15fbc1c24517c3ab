"""Search and check: the first that passes, else the likeliest; what it costs; and pass@k."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from tests import small
from transformer_book.sampling import Drawing
from transformer_book.translator import Translator
from transformer_book.verified import is_series_of, pass_at_k, verified_search

pytestmark = pytest.mark.usefixtures("one_thread")
HOT = Drawing(3.0)


def test_a_right_answer_at_once_costs_one_candidate():
    found = verified_search(small.translator(), "a b", 8, check=lambda text, answer: True)
    (greedy,) = small.translator().search(["a b"], beam_size=1)
    assert found.translation.text == greedy.text and found.passed
    assert (found.candidates, found.checks, found.tokens) == (1, 1, len(greedy.tokens))


@pytest.mark.parametrize("drawing", [None, HOT], ids=["beam", "drawn"])
def test_the_first_that_passes_is_the_answer(drawing):
    translator = small.translator()
    everything: list[str] = []
    verified_search(
        translator,
        "a b",
        6,
        drawing=drawing,
        check=lambda t, answer: bool(everything.append(answer)),
    )
    wanted = everything[-1]
    assert len(set(everything)) > 2
    found = verified_search(
        translator, "a b", 6, drawing=drawing, check=lambda t, answer: answer == wanted
    )
    assert found.passed and found.translation.text == wanted and found.candidates == 6


def test_if_none_passes_the_likeliest_says_so():
    translator, seen = small.translator(), []
    found = verified_search(
        translator, "a b", 6, drawing=HOT, check=lambda t, answer: bool(seen.append(answer))
    )
    (greedy,) = translator.search(["a b"], beam_size=1)
    assert not found.passed and found.checks == len(set(seen))
    assert found.translation.log_probability >= greedy.log_probability


def test_the_shipped_model_of_series():
    translator = Translator.from_pretrained("series")
    found = verified_search(translator, "exp(a*x)", 2)
    assert found.passed == is_series_of("exp(a*x)", found.translation.text)
    assert not is_series_of("exp(a*x)", "1+O(x**6)") and not is_series_of("exp(a*x)", "1+")


def test_pass_at_k_is_the_share_of_subsets_with_a_right_one():
    for n, right, k in ((5, 2, 1), (5, 2, 3), (6, 1, 4), (6, 0, 2), (4, 4, 4)):
        draws = [i < right for i in range(n)]
        subsets = list(combinations(draws, k))
        share = Fraction(sum(map(any, subsets)), len(subsets))
        assert pass_at_k(n, right, k) == pytest.approx(float(share), abs=1e-12)


@pytest.mark.parametrize("wrong", [(5, 6, 1), (5, -1, 1), (5, 2, 6), (5, 2, 0), (0, 0, 1)])
def test_pass_at_k_refuses(wrong):
    with pytest.raises(ValueError):
        pass_at_k(*wrong)
