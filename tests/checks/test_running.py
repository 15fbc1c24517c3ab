"""What a learner's function does while it runs: it stops, goes on, prints, changes an input."""

from __future__ import annotations

import contextlib
import math
import threading

import pytest
import torch
import torch.nn.functional as F

from tests.checks.judged import checks, verdict


def test_an_exception_is_reported_with_the_learners_line() -> None:
    def broken(scores):
        total = scores.sum()
        return total / undefined_name

    found = verdict("softmax", broken)
    line = broken.__code__.co_firstlineno + 2
    assert found.status == "wrong" and found.line == line
    assert f"line {line}" in found.text() and "undefined_name" in found.text()


@pytest.mark.parametrize("stop", [SystemExit, KeyError("x"), ZeroDivisionError()])
def test_whatever_is_raised_is_a_verdict(stop) -> None:
    def broken(scores):
        raise stop

    assert "It stops with" in verdict("softmax", broken).text()


def test_an_endless_loop_is_stopped() -> None:
    def endless(scores):
        while True:
            with contextlib.suppress(Exception):
                sum([])

    found = verdict("softmax", endless, seconds=0.3)
    assert "endless loop" in found.text() and found.line


def test_an_endless_loop_is_stopped_in_another_thread() -> None:
    found = []

    def run() -> None:
        try:
            with checks.watchdog.limit(0.3):
                while True:
                    pass
        except checks.watchdog.TooLong:
            found.append("stopped")

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    assert found == ["stopped"]


def test_endless_recursion_is_reported() -> None:
    def again(scores):
        return again(scores)

    assert "calls itself too often (without end, or more" in verdict("softmax", again).text()


def test_none_is_told_by_whether_something_stands_behind_a_return() -> None:
    def reversed_in_place(ids):
        return list(ids).reverse()

    def forgotten(ids):
        list(ids).reverse()

    told = [checks.verdicts.unsaid(each) for each in (reversed_in_place, forgotten)]
    assert ["`return` missing" in each for each in told] == [False, True]


def test_the_shapes_of_an_input_are_those_in_lists_and_keywords_too() -> None:
    x, *cache = (torch.ones(n) for n in (1, 2, 3))
    case = checks.components.Case("", ([tuple(cache)], {"a": x}), {"mask": x})
    assert checks.verdicts._shapes(case) == "Its tensors have the shapes (2,), (3,), (1,), (1,)."
    of_class = checks.components.Case("", ((4, 2), {"weight": cache[0]}, (x,)))
    assert checks.verdicts._shapes(of_class) == "Its tensor has the shape (1,)."


def test_of_several_mistakes_that_give_the_numbers_none_may_be_the_cause() -> None:
    component, outcomes = checks.COMPONENTS["softmax"], [checks.running.Outcome(0.0)] * 2
    known = [(mistake,) for mistake in checks.MISTAKES if mistake.kind == "wrong"][:2]
    case = component.cases()[:1]
    found = checks.verdicts.of_mistakes(component, case, *([each] for each in outcomes), [0], known)
    assert found.sentences[0].endswith("cannot tell them apart, and the cause may be another.")


def test_endless_printing_does_not_fill_the_memory() -> None:
    def chatty(scores):
        while True:
            print("x" * 1000)

    assert "endless loop" in verdict("softmax", chatty, seconds=0.5).text()


def test_printing_is_left_out_and_right_stays_right(capsys) -> None:
    def chatty(scores):
        print("scores", scores)
        return scores.softmax(dim=-1)

    found = verdict("softmax", chatty)
    assert found.status == "right" and "printed" in found.text()
    assert "scores" not in capsys.readouterr().out


def test_a_change_of_the_input_is_reported() -> None:
    def in_place(scores):
        scores -= scores.amax(dim=-1, keepdim=True)
        return scores.softmax(dim=-1)

    found = verdict("softmax", in_place)
    assert found.status == "wrong" and "changes its argument `scores`" in found.text()


@pytest.mark.parametrize(
    ("given", "named", "change", "what"),
    [
        ((torch.ones(2), torch.ones(2)), {}, lambda x, y: y.zero_(), (1,)),
        ((torch.ones(2),), {"mask": torch.ones(2)}, lambda x, mask: mask.zero_(), ("mask",)),
        ((torch.tensor([0, math.nan]),), {}, lambda x: x.nan_to_num_(), (0,)),
        ((torch.tensor([0, math.inf]),), {}, lambda x: x.clamp_(max=3e38), (0,)),
        ((["so", "it", math.nan],), {}, lambda x: x.sort(key=str), (0,)),
        (({"a": 1, "b": {2}},), {}, lambda x: x["b"].add(3), (0,)),
        ((torch.tensor([0, math.nan]), [math.nan]), {}, lambda x, y: x + 1, ()),
    ],
)
def test_every_change_of_what_was_handed_in_is_seen(given, named, change, what) -> None:
    case = checks.components.Case("", given, named)
    assert checks.running.call(change, case, gradients=False).changed == what


def test_grouped_attention_without_a_head_raises_and_does_not_end_python() -> None:
    def no_head(query, key, value):
        return F.scaled_dot_product_attention(query, key[:, :0], value, enable_gqa=True)

    case = checks.components.Case("", (torch.ones(1, 2, 2, 2),) * 3)
    found = checks.running.call(no_head, case, gradients=False)
    assert found.trouble and "ValueError: keys of shape (1, 0, 2, 2)" in found.trouble


def test_an_argument_with_a_name_is_told_by_it() -> None:
    def opened(query, key, value, mask=None):
        answer = checks.COMPONENTS["scaled_dot_product_attention"].reference(
            query, key, value, mask
        )
        if mask is not None:
            mask.fill_(True)
        return answer

    text = verdict("scaled_dot_product_attention", opened).text()
    assert "changes its argument `mask`" in text


@pytest.mark.parametrize(
    "cut",
    [
        lambda scores: scores.detach().softmax(dim=-1),
        lambda scores: torch.tensor(scores.tolist()).softmax(dim=-1),
    ],
)
def test_a_lost_gradient_is_reported(cut) -> None:
    found = verdict("softmax", cut)
    assert found.status == "wrong" and "no gradient comes back" in found.text()


def test_the_tensor_that_gets_no_gradient_is_named() -> None:
    text = verdict("tied_logits", lambda x, weight: x @ weight.detach().T).text()
    assert "but no gradient comes back to `weight` of the input" in text


def test_a_gradient_that_is_partly_lost_is_reported() -> None:
    def partly(scores):
        e = (scores - scores.amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True).detach()

    found = verdict("softmax", partly)
    assert found.status == "wrong" and "gradients are not" in found.text()


def test_what_is_tied_in_a_state_stays_one_tensor_and_two_arguments_are_two() -> None:
    weight = torch.ones(2)
    case = checks.components.Case("tied", ({"embedding": weight, "output": weight}, weight, weight))
    found = checks.running.call(
        lambda state, x, y: (state["embedding"] is state["output"], x is y), case, gradients=True
    )
    assert found.answer == (True, False)
