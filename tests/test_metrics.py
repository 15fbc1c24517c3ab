"""Metrics by hand, and BLEU as sacreBLEU measures it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_book.metrics import (
    Measured,
    alignment_error_rate,
    bleu,
    exact_match,
    loops,
    perplexity,
    repeated_ngrams,
    repetitions,
)

REFERENCES = [
    "Two dogs run through the green garden.",
    "A woman reads a book, and the cat sleeps.",
    "The child's hat is red.",
]
PREDICTIONS = [
    "Two dogs run through a green garden.",
    "A woman reads a book, and the cat sleeps.",
    "the child's Hat is blue.",
]


# --- repetitions ---------------------------------------------------------------------------------


def test_repetitions_by_hand():
    once = ["A man can can sit.", "A man and a man sit.", "One, two, one.", ""]
    found = repetitions([*once, "A piece of a piece OF a cake."])
    # "a piece of", whatever its capitals
    assert found.value == pytest.approx(1 / 5)
    assert found.error == pytest.approx(math.sqrt(0.2 * 0.8 / 5))
    assert repetitions(once).value == 0
    assert repetitions(["One, two, one, two,"]).value == 1  # a mark is a word
    assert repetitions(once, n=2).value == pytest.approx(1 / 4)
    assert repetitions(once, n=1).value == pytest.approx(3 / 4)
    with pytest.raises(ValueError, match="There are no texts"):
        repetitions([])
    with pytest.raises(ValueError, match="n is 0"):
        repetitions(once, n=0)


def test_repeated_ngrams_by_hand():
    texts = ["The cat and the dog and THE cow", "can can can can.", ""]
    #                     the and the; can can can     and the; can can, twice     can can can
    for n, counts in enumerate([3 + 3, 1 + 2, 0 + 1, 0], start=1):
        assert repeated_ngrams(texts, n) == pytest.approx(counts / 3)
    with pytest.raises(ValueError, match="There are no texts"):
        repeated_ngrams([], 1)
    with pytest.raises(ValueError, match="n is 0"):
        repeated_ngrams(texts, 0)


def test_loops_by_hand():
    straight = ["a man and a man", "the cat and the dog and the cow", "one, two, three", ""]
    assert loops(straight) == Measured(0.0, 0.0)
    loop = ["I can CAN be seen", "a piece of a piece of cake", "green, green, blue"]
    assert loops(loop).value == 1
    assert loops([*loop, straight[0]]).error == pytest.approx(math.sqrt(0.75 * 0.25 / 4))
    assert loops(loop, longest=1).value == pytest.approx(1 / 3)
    assert loops(loop, longest=2).value == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="There are no texts"):
        loops([])
    with pytest.raises(ValueError, match="longest is 0"):
        loops(loop, longest=0)


# --- exact match ----------------------------------------------------------------------------------


def test_exact_match_by_hand():
    found = exact_match(PREDICTIONS, REFERENCES)
    assert found.value == pytest.approx(1 / 3)
    assert found.error == pytest.approx(math.sqrt(2 / 9 / 3))
    assert exact_match(REFERENCES, REFERENCES) == Measured(1.0, 0.0)
    assert exact_match(["a "], ["a"]).value == 0


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_the_error_is_that_of_a_mean_of_zeros_and_ones(right):
    found = exact_match(["x" if r else "y" for r in right], ["x"] * len(right))
    n, mean = len(right), sum(right) / len(right)
    variance = sum((r - mean) ** 2 for r in right) / n
    assert found.value == pytest.approx(mean)
    assert found.error == pytest.approx(math.sqrt(variance / n), abs=1e-12)


# --- perplexity -----------------------------------------------------------------------------------


def test_perplexity():
    assert perplexity(0.0) == 1.0
    assert perplexity(math.log(8)) == pytest.approx(8)
    assert perplexity(709.0) == math.exp(709)
    assert perplexity(1e6) == math.inf
    assert perplexity(math.inf) == math.inf
    assert math.isnan(perplexity(math.nan))


# --- BLEU -----------------------------------------------------------------------------------------


def test_bleu_by_hand():
    """One sentence of six tokens, one of them wrong: 5/6 · 3/5 · 2/4 · 1/3, no brevity penalty."""
    found = bleu(["a b c d x e"], ["a b c d y e"], tokenize="none")
    assert found.value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    # Four correct tokens where there should be five: only the penalty exp(1 − 5/4) counts.
    assert bleu(["a b c d"], ["a b c d e"], tokenize="none").value == pytest.approx(
        100 * math.exp(1 - 5 / 4)
    )


def test_bleu_counts_over_the_corpus():
    both = bleu(["a b c d e", "x y"], ["a b c d e", "z y"], tokenize="none").value
    assert both == pytest.approx(100 * (6 / 7 * 4 / 5 * 3 / 3 * 2 / 2) ** 0.25)


def test_bleu_splits_off_punctuation_and_sees_capitals():
    assert bleu(REFERENCES, REFERENCES).value == pytest.approx(100)
    spaced = [text.replace(",", " ,").replace(".", " .") for text in REFERENCES]
    assert bleu(spaced, REFERENCES).value == pytest.approx(100)
    assert bleu(spaced, REFERENCES, tokenize="none").value < 80
    capitals = [text.upper() for text in REFERENCES]
    assert bleu(capitals, REFERENCES).value < 10
    assert bleu(capitals, REFERENCES, lowercase=True).value == pytest.approx(100)
    assert bleu(PREDICTIONS, REFERENCES).value < bleu(PREDICTIONS, REFERENCES, lowercase=True).value


def test_the_signature_says_how():
    assert "case:mixed|eff:no|tok:13a|smooth:exp" in bleu(PREDICTIONS, REFERENCES).signature
    other = bleu(PREDICTIONS, REFERENCES, tokenize="none", lowercase=True).signature
    assert "case:lc|eff:no|tok:none" in other and "nrefs:1" in other and "version:" in other


def test_an_empty_prediction_is_one():
    assert bleu(["", "a b c d e"], ["a b", "a b c d e"]).value > 0
    assert bleu([""], ["a b"]).value == 0


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [exact_match, bleu])
def test_bad_input(metric):
    with pytest.raises(ValueError, match="There are no predictions to measure"):
        metric([], [])
    with pytest.raises(ValueError, match="There are 2 predictions and 3 references; each"):
        metric(PREDICTIONS[:2], REFERENCES)


def test_an_unknown_tokenizer_is_refused():
    with pytest.raises(ValueError, match=r"tokenize is '13b', but .* did you mean '13a'"):
        bleu(PREDICTIONS, REFERENCES, tokenize="13b")


# --- alignment error rate -------------------------------------------------------------------------

LINKS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1)


def test_alignment_error_rate_by_hand():
    """Four links found, three of them right, of five: 1 - 2 · 3 / (4 + 5)."""
    sure = [[(0, 0), (1, 1), (2, 2), (2, 3), (3, 4)]]
    found = [[(0, 0), (1, 1), (1, 2), (2, 3)]]
    assert alignment_error_rate(found, sure).value == pytest.approx(1 / 3)
    assert alignment_error_rate(found, sure, [[(1, 2)]]).value == pytest.approx(1 - 7 / 9)
    assert alignment_error_rate(sure, sure).value == 0
    assert alignment_error_rate([[]], sure).value == 1
    assert alignment_error_rate([[], [(0, 0)]], [[(5, 5)], [(0, 0)]]).value == pytest.approx(1 / 3)


@given(LINKS, LINKS)
def test_without_possible_links_it_is_one_minus_the_f_score(found, sure):
    common = len(found & sure)
    precision, recall = common / len(found), common / len(sure)
    f = 2 * precision * recall / (precision + recall) if common else 0
    repeated = [*found, *found]  # a link counts once
    assert alignment_error_rate([repeated], [sure]).value == pytest.approx(1 - f)


def test_alignments_that_cannot_be_compared():
    with pytest.raises(ValueError, match=r"^There are 1 sentences in found and 2 in sure"):
        alignment_error_rate([[]], [[], []])
    with pytest.raises(ValueError, match=r"^There are 1 sentences in possible and 2 in sure"):
        alignment_error_rate([[], []], [[], []], [[]])
    with pytest.raises(ValueError, match=r"^There is not one link to measure\.$"):
        alignment_error_rate([[]], [[]])
