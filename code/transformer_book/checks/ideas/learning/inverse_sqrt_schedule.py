"""Inverse sqrt schedule (chapter 15): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from transformer_book.checks.components import Case, Component, mistakes_in

SCHEDULE = Component(
    name="inverse_sqrt_schedule",
    chapter=15,
    order=4,
    section="The schedule",
    signature="update, d_model, warmup",
    pipeline=lambda s, update, d_model, warmup: s.rate(
        s.width(d_model) * s.time(update, warmup), warmup
    ),
    steps={
        "width": lambda d_model: d_model**-0.5,
        "time": lambda update, warmup: min(update**-0.5, update * warmup**-1.5),
        "rate": lambda rate, warmup: rate,
    },
    cases=lambda: tuple(
        Case(f"update {n}, d_model = {d}, {w} updates of warm-up", (n, d, w))
        for n, d, w in (
            (1, 512, 4000),
            (3999, 512, 4000),
            (4000, 512, 4000),
            (300_000, 512, 4000),
            (50, 64, 100),
            (400, 64, 100),
            (3, 16, 2),
            (1, 32, 1),
            (9, 1, 3),
            (5000, 256, 8000),
            (2, 64, 10),
            (7, 128, 20),
            (3_000_000, 4095, 4000),
            (2, 1, 1),
            (1, 4096, 100_000),
        )
    ),
    returns="the learning rate of the 2017 paper, D^(−1/2) · min(n^(−1/2), n · warmup^(−3/2)); "
    "updates n count from 1",
    differentiable=False,
    done_by="learning_rate",
    met="worse",
    ready_made={"optimization.learning_rate": "optimization.learning_rate"},
    boundaries={
        "the first update": lambda update: update == 1,
        "in the warm-up": lambda update, warmup: 1 < update < warmup,
        "the end of the warm-up": lambda update, warmup: update == warmup,
        "after the warm-up": lambda update, warmup: update > warmup,
        "a warm-up of one update": lambda warmup: warmup == 1,
        "another warm-up than 4000": lambda warmup: warmup != 4000,
        "after a warm-up of one update": lambda update, warmup: update > warmup == 1,
        "more than a million updates": lambda update: update > 10**6,
        "an odd width": lambda d_model: d_model > 1 and d_model % 2 == 1,
        "a large width": lambda d_model: d_model > 1024,
        "a long warm-up": lambda warmup: warmup > 10_000,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SCHEDULE)


@mistake(
    "time",
    "warm-up forgotten",
    met=("worse", 7),
    symptom="The first updates have the largest rate.",
    cause="Take the smaller of update**-0.5 and update * warmup**-1.5.",
)
def no_warmup(update: int, warmup: int) -> float:
    return update**-0.5


@mistake(
    "time",
    "maximum in place of minimum",
    symptom="The rate falls until the end of the warm-up, and rises behind it.",
    cause="Take the smaller of update**-0.5 and update * warmup**-1.5.",
)
def larger_of_both(update: int, warmup: int) -> float:
    return max(update**-0.5, update * warmup**-1.5)


@mistake(
    "time",
    "warm-up for ever",
    met=("flat", 9),
    symptom="The rate never falls.",
    cause="After the warm-up it falls with update**-0.5.",
)
def always_rising(update: int, warmup: int) -> float:
    return update * warmup**-1.5


@mistake(
    "time",
    "updates from zero",
    met=("nan", 8),
    symptom="The rate is one update late, and the first update does nothing.",
    cause="Updates count from 1: the rate is that of update itself, not of the one before.",
    seen="Avoids 0-to-a-negative exponent error, https://github.com/CUNY-CL/yoyodyne/pull/300",
)
def from_zero(update: int, warmup: int) -> float:
    return min(max(update - 1, 1e-9) ** -0.5, (update - 1) * warmup**-1.5)


@mistake(
    "width",
    "width forgotten",
    met=("flat", 7),
    symptom="The rate is too large by a factor of the root of d_model.",
    cause="Multiply by d_model**-0.5.",
)
def no_width(d_model: int) -> float:
    return 1.0


@mistake(
    "width",
    "multiplied by the root of the width",
    met=("flat", 8),
    symptom="The rate is too large by a factor of d_model.",
    cause="The exponent of d_model is −0.5.",
)
def width_multiplied(d_model: int) -> float:
    return d_model**0.5


@mistake(
    "time",
    "schedule one update early",
    symptom="Every update has the rate of the next one.",
    cause="Updates count from 1 already: no update + 1.",
    section="Break it: counting from zero",
)
def one_update_early(update: int, warmup: int) -> float:
    return min((update + 1) ** -0.5, (update + 1) * warmup**-1.5)


@mistake(
    "time",
    "warm-up to the power of minus one",
    symptom="The warm-up rises too steeply: in a long one the rate begins to fall before it is "
    "over.",
    cause="The exponent of warmup is −1.5: then both parts meet at the end of the warm-up.",
)
def power_of_minus_one(update: int, warmup: int) -> float:
    return min(update**-0.5, update * warmup**-1)


@mistake(
    "time",
    "warm-up to the power of minus a half",
    symptom="The warm-up is over after as many updates as the cube root of warmup.",
    cause="The exponent of warmup is −1.5, not −0.5.",
)
def power_of_minus_half(update: int, warmup: int) -> float:
    return min(update**-0.5, update * warmup**-0.5)


@mistake(
    "time",
    "no decay after the warm-up",
    symptom="After the warm-up the rate stays where it is.",
    cause="After the warm-up it falls with update**-0.5.",
)
def no_decay(update: int, warmup: int) -> float:
    return min(warmup**-0.5, update * warmup**-1.5)


@mistake(
    "time",
    "updates counted anew after the warm-up",
    symptom="Behind a warm-up of several updates the rate jumps upwards.",
    cause="The root is that of update, not of update − warmup.",
)
def counted_anew(update: int, warmup: int) -> float:
    return update * warmup**-1.5 if update <= warmup else (update - warmup) ** -0.5


@mistake(
    "time",
    "warm-up fixed at 4000",
    symptom="The argument warmup changes nothing.",
    cause="The warm-up has 4000 updates, whatever is asked for: use warmup.",
)
def always_four_thousand(update: int, warmup: int) -> float:
    return min(update**-0.5, update * 4000**-1.5)


@mistake(
    "time",
    "warm-up one update too long",
    symptom="In the warm-up the rate is too small by the factor warmup / (warmup + 1), and "
    "its last rise is twice the others.",
    cause="In the warm-up the rate is n / warmup of the highest, not n / (warmup + 1).",
    seen="fix: ensure non-zero learning rate during warmup at iteration 0, "
    "https://github.com/karpathy/nanoGPT/pull/578",
)
def one_too_long(update: int, warmup: int) -> float:
    rising = update / (warmup + 1) * warmup**-0.5
    return rising if update < warmup else update**-0.5


@mistake(
    "rate",
    "rate as a share of its highest",
    symptom="At the end of the warm-up the rate is the same, however long the warm-up is.",
    cause="It is multiplied by the root of warmup, as where a highest rate is chosen: in the "
    "paper's formula that rate is (d_model · warmup)**-0.5.",
    seen="Question on noam_scheme(): learning_rate, "
    "https://github.com/Kyubyong/transformer/issues/89",
)
def as_a_share(rate: float, warmup: int) -> float:
    return rate * warmup**0.5


@mistake(
    "time",
    "first two updates alike",
    symptom="From the second update on, the rate is one update late.",
    cause="Updates count from 1 here: take update as it is, not max(1, update − 1).",
    seen="About `NoamLR`, https://github.com/tugstugi/pytorch-saltnet/issues/7",
)
def late_but_for_the_first(update: int, warmup: int) -> float:
    n = max(1, update - 1)
    return min(n**-0.5, n * warmup**-1.5)
