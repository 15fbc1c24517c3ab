"""Of several troubles, the one of most inputs is told first, and the second in a sentence."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from typing import Any

import pytest
import torch
from true_sentences import Told

from tests.checks.judged import checks, verdict


def test_a_change_of_most_inputs_is_told_before_the_one_that_autograd_refuses() -> None:
    def scaled_in_place(x, weight, eps=1e-5):
        converted = x.to(torch.float32)  # no copy: it has that type already
        root = (converted.square().mean(-1, keepdim=True) + eps).sqrt()
        return converted.div_(root) * weight

    found = verdict("rms_norm", scaled_in_place)
    text = found.text()
    of = len(checks.COMPONENTS["rms_norm"].cases())
    changes = f"On {of - 1} of {of} inputs the numbers are right, but your function changes"
    assert text.startswith(changes), text
    assert "its argument `x`" in text and "no gradient" not in text  # the same line is to blame


def test_how_often_a_line_stops_is_said_of_one_kind_of_error() -> None:
    def a_mask_for_each_sentence(query, key, value, mask=None):
        scores = query @ key.mT / key.size(-1) ** 0.5
        if mask is None:
            return scores.softmax(-1) @ value
        flat = scores.reshape(len(query), -1, scores.shape[-2], scores.shape[-1])
        own = mask.reshape(len(query), -1, mask.shape[-2], mask.shape[-1])
        flat = flat.masked_fill(~own, -1e30)
        return (flat.softmax(-1) * own).reshape(scores.shape) @ value

    found = verdict("scaled_dot_product_attention", a_mask_for_each_sentence)
    assert re.search(r"It stops with RuntimeError in that line on \d of \d+ inputs\.", found.text())
    assert not list(
        Told(checks, checks.COMPONENTS[found.component], a_mask_for_each_sentence).untrue()
    )


def test_numbers_are_called_right_on_the_inputs_that_were_tried() -> None:
    def turned_round(checkpoints):
        checkpoints.reverse()
        return {
            name: sum(c[name] for c in checkpoints) / len(checkpoints) for name in checkpoints[0]
        }

    component = checks.COMPONENTS["average_checkpoints"]
    text = verdict("average_checkpoints", turned_round).text()
    assert text.startswith(f"On all {len(component.cases())} inputs the answers are right, but on ")
    assert not list(Told(checks, component, turned_round).untrue())


def test_an_example_names_its_input_where_another_was_named_since() -> None:
    def wrong_or_stopped(scores):
        if scores.dim() > 2:
            raise KeyError("odd")
        return scores.exp()

    text = verdict("softmax", wrong_or_stopped).text()
    assert re.search(r"it stops with KeyError: 'odd'.* On the input '[^']+': entry", text), text


def test_inputs_are_counted_right_with_their_gradients_as_a_mend_counts_them() -> None:
    def cut_off_or_too_warm(scores):
        return (scores.detach() if scores.dim() == 1 else 2 * scores).softmax(-1)

    text = verdict("softmax", cut_off_or_too_warm).text()
    counted = re.match(r"Right on (\d+) of \d+ inputs \(on (\d+), if answers alone count\);", text)
    assert counted and int(counted[1]) < int(counted[2])
    (mended,) = re.findall(r"yours would be right on \d+ of \d+ inputs, not (\d+);", text)
    assert mended == counted[1]
    assert not list(Told(checks, checks.COMPONENTS["softmax"], cut_off_or_too_warm).untrue())


def test_stops_beside_wrong_numbers_are_told() -> None:
    def too_warm_and_no_vectors(scores):
        if scores.dim() == 1:
            raise ValueError("two axes are needed.")
        return (scores / 1.5).softmax(-1)

    share, *told = verdict("softmax", too_warm_and_no_vectors).sentences
    cases = checks.COMPONENTS["softmax"].cases()
    stops = sum(case.arguments[0].dim() == 1 for case in cases)
    assert share.startswith("Right on") and stops > 1
    assert told[-1].startswith(f"On {stops} of {len(cases)} inputs, the first of them ")
    assert ": it stops with ValueError: two axes are needed, in line " in told[-1]


def test_a_message_is_told_of_several_inputs_only_if_all_have_it() -> None:
    def transposed(x, weight, down, up, alpha):
        small = torch.einsum("...i,ri->...r", x, down.T)
        return x @ weight.T + alpha / len(down) * torch.einsum("...r,or->...o", small, up.T)

    found = verdict("lora", transposed).text()
    assert "On 2 of 11 inputs, the first of them" in found
    assert "it stops with RuntimeError, in line" in found.partition("On 2 of 11 inputs")[2]


def test_at_most_two_troubles_are_told() -> None:
    def three_things(scores):
        if scores.dim() == 1:
            raise ValueError("no vectors")
        if scores.dim() == 2:
            raise KeyError("no matrices")
        return (scores / 1.5).softmax(-1)

    text = verdict("softmax", three_things).text()
    axes = Counter(min(c.arguments[0].dim(), 3) for c in checks.COMPONENTS["softmax"].cases())
    (first, most), (second, more), _ = axes.most_common()
    assert most > more and {first, second} == {2, 3}
    assert f"{most} of {axes.total()}" in text and f"{more} of {axes.total()}" in text
    assert text.count(f" of {axes.total()} inputs") == 2 and "no vectors" not in text


def test_what_does_not_end_is_told_first_and_what_was_not_tried_is_not_called_right() -> None:
    calls = []

    def endless_at_last(scores):
        calls.append(scores)
        while len(calls) > 4:
            pass
        return 2 * scores.softmax(-1)

    text = verdict("softmax", endless_at_last, seconds=0.3).text()
    assert "endless loop" in text and "On 4 of 5 inputs" in text


def test_nan_on_some_inputs_is_no_answer_that_a_changed_number_explains() -> None:
    def of_one_row(logits, min_p):
        least = logits.max().item() * math.inf if logits.dim() == 1 or len(logits) < 2 else None
        return logits.masked_fill(logits < torch.tensor([least]).sum(), -math.inf).softmax(-1) * (
            math.nan
        )

    text = verdict("min_p_probabilities", of_one_row).text()
    assert "what the right version gives" not in text and "It stops with" in text


def test_a_known_mistake_that_stops_is_not_named_where_the_version_goes_on() -> None:
    """It is told that it stops elsewhere; this one gives numbers on every input."""

    def masks_of_other_sentences(
        query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
    ):
        if mask is not None and mask.dim() == 4:
            mask = torch.stack([mask[h % len(mask), 0] for h in range(n_heads)])[None]
        right = checks.COMPONENTS["multi_head_attention"].reference
        return right(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask)

    found = verdict("multi_head_attention", masks_of_other_sentences)
    assert found.status == "wrong"
    assert "mask without its axis of heads" not in [mistake.name for mistake in found.mistakes]


def test_a_known_mistake_behind_a_condition_is_named_with_the_condition() -> None:
    def one_alone_sees_all(query, key, value, kept_keys, kept_values, turn):
        component, new = checks.COMPONENTS["cached_attention"], query.size(2)
        (known,) = (
            m
            for m in checks.MISTAKES
            if m.component == component.name and m.name == "mask that does not count what is kept"
        )
        made = component.reference if new == 1 else component.version(known.steps)
        return made(query, key, value, kept_keys, kept_values, turn)

    found = verdict("cached_attention", one_alone_sees_all)
    assert [mistake.name for mistake in found.mistakes] == ["mask that does not count what is kept"]
    assert "exactly on those where the size of axis 2 of `query` is not 1" in found.text()


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("One thing.", "One thing"),
        ("One thing. Hint: another one that goes on", "One thing"),
        ("First, a word\n  and a line. Then more. Hint: enough", "First, a word and a line"),
        ("no sentence but many words that go on", "no sentence but many words that …"),
    ],
)
def test_a_message_is_cut_at_a_sentence(message: str, shown: str) -> None:
    assert checks.running.in_short(message, most=32) == shown


def test_an_argument_that_is_changed_is_told_before_what_follows_from_it() -> None:
    def by_another_name(target):
        labels = target
        labels[:, :-1] = target[:, 1:].clone()
        return target[:, :-1], labels[:, :-1]

    text = verdict("shift", by_another_name).text()
    assert text.startswith("Your function changes its argument `target` in line ")
    assert "What your version does, as a rule: " in text


def test_all_lines_that_change_an_argument_are_told() -> None:
    def either_way(logits, tokens, penalty):
        for row, said in zip(logits, tokens.tolist(), strict=True):
            for token in {*said} - {0}:
                if row[token] < 0:
                    row[token] *= penalty
                else:
                    row[token] /= penalty
        return logits

    first = either_way.__code__.co_firstlineno
    text = verdict("repetition_penalty", either_way).text()
    assert f"`logits` in line {first + 4} or {first + 6} of your cell or file" in text


def test_what_a_check_does_with_an_answer_is_no_exception_of_its_code() -> None:
    kept: dict[int, Any] = {}

    def one_for_all(d_model):
        return kept.setdefault(d_model, (torch.ones(d_model), torch.zeros(d_model)))

    text = verdict("layer_norm_parameters", one_for_all).text()
    assert "n update of one layer's numbers changes those of another, too" in text
    assert "stops" not in text


def test_inputs_that_were_not_tried_are_not_counted() -> None:
    def all_of_them(vocab_size, length):
        return sum(1 for _ in itertools.product(range(vocab_size), repeat=length))

    component = checks.COMPONENTS["number_of_targets"]
    text = checks.judging.judge(component, all_of_them, seconds=0.5).text()
    assert "The 4 inputs behind it were not tried." in text and " of 6 inputs" not in text


def test_how_often_an_argument_is_changed_is_counted_where_a_convention_is_right_too() -> None:
    def in_front(rows):
        for row in rows:
            while len(row) < max(map(len, rows)):
                row.insert(0, 0)
        return torch.tensor(rows)

    text = verdict("collate", in_front).text()
    assert "are those of another convention, but on 10 of them your function changes" in text
