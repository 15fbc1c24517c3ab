"""Search, and check what was found: a task whose answers can be checked allows it (chapter 18).

An answer that passes a check is worth more than a likelier one. So candidates are drawn, or come
from a beam, and the first that passes is the answer; if none does, the likeliest, which says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

from transformer_book.sampling import Drawing
from transformer_book.support.arguments import check_positive
from transformer_book.tasks.series.checking import ENDING, wrong_from
from transformer_book.tasks.series.expressions import VARIABLE, NotInGrammar
from transformer_book.translator import Translation, Translator

Check = Callable[[str, str], bool]


@dataclass(frozen=True)
class Verified:
    """An answer, whether it passed the check, and what that cost.

    Attributes:
        translation: the first candidate that passed, or else the likeliest.
        passed: whether it did.
        candidates: how many were made, repeated ones included.
        tokens: how many they have together.
        checks: how many different texts were checked.
    """

    translation: Translation
    passed: bool
    candidates: int
    tokens: int
    checks: int


def is_series_of(expression: str, series: str) -> bool:
    """Whether a text is the series of an expression to O(x**6), by numbers: see `wrong_from`."""
    try:
        return wrong_from(expression, series) is None
    except NotInGrammar:
        return False


def checked(expression: str, series: str) -> str:
    """What the check by numbers says of an answer, in words; see `wrong_from`."""
    try:
        power = wrong_from(expression, series)
    except NotInGrammar:
        return f"no series to {ENDING}"
    return f"agrees to {ENDING}" if power is None else f"wrong from {VARIABLE}**{power} on"


def verified_search(
    translator: Translator,
    text: str,
    k: int = 16,
    *,
    drawing: Drawing | None = None,
    seed: int = 0,
    check: Check = is_series_of,
) -> Verified:
    """The first of k candidates that passes a check, else the likeliest.

    The likeliest single answer, found greedily, is always the first candidate.

    Args:
        translator: a model whose answers can be checked.
        text: what it is asked.
        k: candidates at most.
        drawing: draw the others at random; `None`: take them from a beam of k, the best first.
        seed: of the draws.
        check: of the text and an answer.

    Raises:
        ValueError: as for `Translator.search`; for a `k` below 1.

    Source: Lample and Charton (2020), who count an integral as right if a beam holds one that
        passes; Cobbe et al. (2021) for drawn candidates.
    """
    check_positive(k=k)
    encoded = translator.encode(text)
    (greedy,) = translator.search([encoded], beam_size=1)
    made = [greedy]
    others = k - 1 if drawing else k
    if not check(text, greedy.text) and k > 1:
        beam = None if drawing else k
        (best,) = translator.search(
            [encoded], beam_size=beam, drawing=drawing, seed=seed, n_best=others
        )
        made += [best, *best.alternatives][: k - 1]
    tokens = sum(len(one.tokens) for one in made)
    tried: dict[str, bool] = {}
    for one in made:
        if one.text not in tried:
            tried[one.text] = check(text, one.text)
            if tried[one.text]:
                return Verified(one, True, len(made), tokens, len(tried))
    likeliest = max(made, key=lambda one: one.log_probability)
    return Verified(likeliest, False, len(made), tokens, len(tried))


def pass_at_k(n: int, right: int, k: int) -> float:
    r"""How probable it is that one of k draws is right, if `right` of n draws were.

    $$\mathrm{pass@}k = 1 - \binom{n - c}{k} \Big/ \binom{n}{k}$$

    That is the share of the k-subsets of the n draws that hold a right one: its mean over many n
    is the probability itself, which is not so for $1 - (1 - c/n)^k$.

    Args:
        n: draws that were made.
        right: how many of them were right, c.
        k: draws that one would make, at most n.

    Raises:
        ValueError: for a `k` beyond n, or more right ones than draws.

    Source: Chen et al. (2021), section 2.1.
    """
    check_positive(n=n, k=k)
    if k > n or not 0 <= right <= n:
        raise ValueError(
            f"n is {n}, right {right} and k {k}, but both must be at most n, and right at least 0."
        )
    return 1 - comb(n - right, k) / comb(n, k)
