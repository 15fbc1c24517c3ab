"""How good is a model? Exact match, perplexity, BLEU, alignment error rate (chapters 16 to 21)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from transformer_book.support.arguments import check_choice, check_positive


@dataclass(frozen=True)
class Measured:
    """A number with what is needed to read it.

    Attributes:
        value: the number.
        error: its standard error, where one is known.
        signature: how exactly it was computed, where that is not obvious.
    """

    value: float
    error: float | None = None
    signature: str | None = None


def exact_match(predictions: Sequence[str], references: Sequence[str]) -> Measured:
    r"""The share $p$ of predictions that equal their reference, and its error $\sqrt{p(1-p)/n}$.

    Raises:
        ValueError: no predictions, or another number of references.
    """
    _check_pairs(predictions, references)
    return share(list(map(str.__eq__, predictions, references)))


def share(right: Sequence[bool]) -> Measured:
    r"""The share $p$ of `True`, with its binomial error $\sqrt{p(1-p)/n}$.

    Raises:
        ValueError: there is nothing to count.
    """
    if not right:
        raise ValueError("There are no predictions to measure.")
    n = len(right)
    p = sum(right) / n
    return Measured(p, math.sqrt(p * (1 - p) / n))


def perplexity(nll: float) -> float:
    r"""$e^{\text{nll}}$ of a negative log-likelihood per token in nats: how many tokens a model
    hesitates between on average; infinite where that exceeds the range of numbers."""
    try:
        return math.exp(nll)
    except OverflowError:
        return math.inf


def repetitions(texts: Sequence[str], n: int = 3) -> Measured:
    """The share of texts in which some `n` words in a row stand twice, capitals aside.

    A punctuation mark is a word. A model that has lost its place writes *"a piece of a piece of"*;
    but a good translation repeats words, too: compare with the share among the references.

    Raises:
        ValueError: no texts, or `n` below 1.
    """
    check_positive(n=n)
    _check_any(texts)
    return share([_repeated(_words(text), n) > 0 for text in texts])


def repeated_ngrams(texts: Sequence[str], n: int) -> float:
    """How many runs of `n` words stood in their text before, on average over the texts.

    Capitals and punctuation marks as in `repetitions`. In *"the cat and the dog and the cow"*, of
    one word three (*the*, *and*, *the*), of two words one (*and the*), of three words none.

    Raises:
        ValueError: no texts, or `n` below 1.
    """
    check_positive(n=n)
    _check_any(texts)
    return sum(_repeated(_words(text), n) for text in texts) / len(texts)


def loops(texts: Sequence[str], longest: int = 5) -> Measured:
    """The share of texts that say something and at once say it again, capitals aside.

    *"Can can"*, or *"a piece of a piece of"*: up to `longest` words, directly followed by
    themselves. Nearly always a mistake, unlike `repetitions`.

    Raises:
        ValueError: no texts, or `longest` below 1.
    """
    check_positive(longest=longest)
    _check_any(texts)
    return share([_loops(_words(text), longest) for text in texts])


def _check_any(texts: Sequence[str]) -> None:
    if not texts:
        raise ValueError("There are no texts to look for repetitions in.")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def _repeated(words: list[str], n: int) -> int:
    found = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    return len(found) - len(set(found))


def _loops(words: list[str], longest: int) -> bool:
    return any(
        words[i : i + n] == words[i + n : i + 2 * n]
        for n in range(1, longest + 1)
        for i in range(len(words) - 2 * n + 1)
    )


def bleu(
    predictions: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Measured:
    """Corpus BLEU by sacreBLEU, 0 to 100, with its signature.

    Args:
        predictions, references: texts; with `tokenize="none"` already split, by single spaces.
        lowercase: compare without regard to capitals.
        tokenize: `"13a"` splits off punctuation as the shared tasks of WMT do; `"none"` leaves
            the texts as they are, for comparison with papers that used a tokenizer of their own.

    Raises:
        ValueError: no predictions, or another number of references.

    Source: Papineni et al. (2002); Post (2018).
    """
    check_choice("tokenize", tokenize, ("13a", "none"))
    _check_pairs(predictions, references)
    from sacrebleu.metrics import BLEU

    metric = BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    value = metric.corpus_score(list(predictions), [list(references)]).score
    return Measured(value, signature=str(metric.get_signature()))


def alignment_error_rate(
    found: Sequence[Iterable[tuple[int, int]]],
    sure: Sequence[Iterable[tuple[int, int]]],
    possible: Sequence[Iterable[tuple[int, int]]] | None = None,
) -> Measured:
    r"""How wrong an alignment is, from 0 to 1, over all sentences together.

    $$\text{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}$$

    Args:
        found: $A$, for each sentence its links, pairs of word indices; a link counts once.
        sure: $S$, the links that must be there.
        possible: further links that may be there; $P$ is all of these and the sure ones. `None`
            means none: then it is one minus the F-score, $1 - 2\,|A \cap S| / (|A| + |S|)$.

    Raises:
        ValueError: another number of sentences, or not one link in `found` and `sure` together.

    Source: Och and Ney (2003), section 4.
    """
    possible = [()] * len(sure) if possible is None else possible
    for name, sentences in (("found", found), ("possible", possible)):
        if len(sentences) != len(sure):
            raise ValueError(
                f"There are {len(sentences)} sentences in {name} and {len(sure)} in sure; each "
                "sentence needs its links, even if there are none: ()."
            )
    common = total = 0
    for a, s, p in zip(found, sure, possible, strict=True):
        a, s = set(a), set(s)
        common += len(a & s) + len(a & (s | set(p)))
        total += len(a) + len(s)
    if total == 0:
        raise ValueError("There is not one link to measure.")
    return Measured(1 - common / total)


def _check_pairs(predictions: Sequence[str], references: Sequence[str]) -> None:
    if len(predictions) != len(references):
        raise ValueError(
            f"There are {len(predictions)} predictions and {len(references)} references; "
            "each prediction needs exactly one reference."
        )
    if not predictions:
        raise ValueError("There are no predictions to measure.")
