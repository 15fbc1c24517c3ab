"""Number of targets (chapter 1): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math

from transformer_book.checks.components import Case, Component, mistakes_in

NUMBER_OF_TARGETS = Component(
    name="number_of_targets",
    chapter=1,
    order=1,
    section="How many sentences are there?",
    signature="vocab_size, length",
    pipeline=lambda s, vocab_size, length: s.count(vocab_size, length),
    steps={"count": lambda vocab_size, length: vocab_size**length},
    cases=lambda: tuple(
        Case(f"{v} words, {n} places", (v, n))
        # From (7, 30) on, all but (5, 0) are too large for a float's digits, and for 64 bits.
        for v, n in (
            *((2, 3), (3, 2), (10, 4), (5, 1), (1, 6), (7, 30), (2000, 10), (28, 600)),
            *((5, 0), (100277, 61)),
        )
    ),
    returns="the number of different sequences of `length` tokens, a whole number",
    differentiable=False,
    met="score",
    boundaries={
        "one word": lambda vocab_size, length: length == 1 or vocab_size == 1,
        "beyond 64 bits": lambda vocab_size, length: vocab_size**length > 2**64,
        "beyond a float's digits": lambda vocab_size, length: vocab_size**length > 2**53,
        "beyond 200 bits": lambda vocab_size, length: vocab_size**length > 2**200,
        "beyond 300 digits": lambda vocab_size, length: vocab_size**length > 10**300,
        "no place": lambda length: length == 0,
        "a vocabulary beyond 16 bits": lambda vocab_size: vocab_size > 2**16,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(NUMBER_OF_TARGETS)


@mistake(
    "count",
    "n**V for V**n",
    met=("score", 8),
    symptom="Base and exponent are exchanged: this is n**V.",
    cause="There are V choices at each of n places: V · V · … · V, n times, is V**n.",
    seen="a public tutorial on translating series",
)
def places_to_the_words(vocab_size: int, length: int) -> int:
    return length**vocab_size


@mistake(
    "count",
    "choices added up",
    symptom="The choices are added; they must be multiplied.",
    cause="Each choice of the first word can go with each of the second: V**n, not V · n.",
)
def added_up(vocab_size: int, length: int) -> int:
    return vocab_size * length


@mistake(
    "count",
    "each word at most once",
    symptom="Sentences in which a word comes twice are not counted.",
    cause="After the first word V choices are left, not V − 1: a word may come again. V**n.",
)
def without_repetition(vocab_size: int, length: int) -> int:
    return math.prod(vocab_size - i for i in range(length))


@mistake(
    "count",
    "shorter sentences counted, too",
    symptom="The sentences of fewer places are counted, too.",
    cause="The question is how many have exactly `length` places: V**n, not the sum up to it.",
)
def up_to_that_length(vocab_size: int, length: int) -> int:
    return sum(vocab_size**n for n in range(1, length + 1))


@mistake(
    "count",
    "a power of floats",
    symptom="Most numbers of more than 16 digits have wrong digits at their end.",
    cause="A float, such as math.pow gives, keeps 53 binary digits at most; `**` of two Python "
    "integers has all: vocab_size ** length.",
)
def of_floats(vocab_size: int, length: int) -> int:
    return int(math.pow(vocab_size, length))


@mistake(
    "count",
    "a power in 64 bits",
    symptom="Numbers of 2**63 or more come out wrong, and may be negative.",
    cause="Whole numbers of NumPy and of tensors have 64 bits at most, and lose what is beyond; "
    "Python's keep all: vocab_size ** length.",
)
def in_64_bits(vocab_size: int, length: int) -> int:
    return (vocab_size**length + 2**63) % 2**64 - 2**63
