"""Checks at work: what is right passes, known mistakes are named, and nothing a learner writes
gets through the checker."""

from __future__ import annotations

import collections
import contextlib
import itertools
import json
import math
import random
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.fresh import import_fresh

# As learners import it: the annotations' hook would make each of many thousand calls slower.
checks = import_fresh("transformer_book.checks")
difference, judge = checks.comparing.difference, checks.engine.judge
as_html, watchdog = checks.report.as_html, checks.engine.watchdog


WRONG = [mistake for mistake in checks.MISTAKES if mistake.kind != "harmless"]


def verdict(name: str, function: Callable[..., Any], seconds: float = 10.0) -> Any:
    return judge(checks.COMPONENTS[name], function, checks.MISTAKES, seconds=seconds)


@pytest.mark.parametrize("name", checks.COMPONENTS)
def test_the_reference_is_right(name: str) -> None:
    found = verdict(name, checks.COMPONENTS[name].reference)
    assert found.status == "right", found.text()


@pytest.mark.parametrize(
    "mistake", WRONG, ids=lambda mistake: f"{mistake.component}: {mistake.name}"
)
def test_a_known_mistake_is_named(mistake: Any) -> None:
    component = checks.COMPONENTS[mistake.component]
    found = verdict(mistake.component, component.version(mistake.steps))
    assert mistake.name in [known.name for known in found.mistakes], found.text()
    assert not found.together
    assert found.status == ("convention" if mistake.kind == "convention" else "wrong")
    assert mistake.symptom in found.text() and mistake.cause in found.text()
    assert f"chapter {mistake.chapter or component.chapter}" in found.text()


# One takes too many steps, the other takes off what came last.
MENDED = [("greedy_search", "last token stripped blindly", "loop one step too long")]


SHARE = 0.3  # of all pairs of a component: drawn once, always the same ones


def test_two_mistakes_at_once_are_both_named_or_one_hides_the_other() -> None:
    """Of the pairs, those that are not named give the numbers of a single known mistake."""
    named = hidden = 0
    generator = random.Random(0)
    for component in checks.COMPONENTS.values():
        known = [mistake for mistake in WRONG if mistake.component == component.name]
        pairs = [
            (a, b)
            for a, b in itertools.combinations(known, 2)
            if not a.steps.keys() & b.steps.keys()
        ]
        mended = [(a, b) for a, b in pairs if (component.name, a.name, b.name) in MENDED]
        for a, b in mended + generator.sample(pairs, math.ceil(SHARE * len(pairs))):
            found = verdict(component.name, component.version({**a.steps, **b.steps}))
            if (component.name, a.name, b.name) in MENDED:
                assert found.status == "right"
                continue
            assert found.status in ("wrong", "convention"), (component.name, a.name, b.name)
            if found.together and {m.name for m in found.mistakes} == {a.name, b.name}:
                named += 1
            else:
                assert found.mistakes, (component.name, a.name, b.name, found.text())
                hidden += 1
    print(f"pairs named: {named}; pairs that another known mistake gives as well: {hidden}")
    assert named > 10 * hidden


def test_every_mistake_has_its_own_name_and_replaces_steps_that_exist() -> None:
    names = [(mistake.component, mistake.name) for mistake in checks.MISTAKES]
    assert len(set(names)) == len(names)
    for mistake in checks.MISTAKES:
        assert mistake.steps.keys() <= checks.COMPONENTS[mistake.component].steps.keys()
        assert mistake.symptom.endswith(".") and mistake.cause.endswith((".", ".)"))


# --- what people hand in -------------------------------------------------------------------------


def softmax(scores):
    return scores.softmax(dim=-1)


def test_an_untouched_stub_is_not_started(capsys) -> None:
    def stub(scores):
        """Write the softmax."""
        return None  # your code

    def ellipsis(scores): ...

    def raising(scores):
        raise NotImplementedError

    for function in (stub, ellipsis, raising):
        checks.softmax(function)
        assert "Not started" in capsys.readouterr().out


def test_a_right_attempt_says_so(capsys) -> None:
    checks.softmax(softmax)
    assert capsys.readouterr().out.startswith("Right")


def test_a_wrong_attempt_raises_the_verdict() -> None:
    with pytest.raises(checks.CheckFailed, match="overflows") as caught:
        checks.softmax(lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True))
    assert isinstance(caught.value, AssertionError)
    assert caught.value.verdict.mistakes[0].name == "softmax without subtracting the maximum"
    (shown,) = caught.value._render_traceback_()
    assert "Traceback" not in shown


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
            with watchdog.limit(0.3):
                while True:
                    pass
        except watchdog.TooLong:
            found.append("stopped")

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    assert found == ["stopped"]


def test_endless_recursion_is_reported() -> None:
    def again(scores):
        return again(scores)

    assert "calls itself without end" in verdict("softmax", again).text()


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


def test_a_missing_return_is_named() -> None:
    def forgotten(scores):
        scores.softmax(dim=-1)

    assert "is the `return` missing" in verdict("softmax", forgotten).text()


def test_a_change_of_the_input_is_reported() -> None:
    def in_place(scores):
        scores -= scores.amax(dim=-1, keepdim=True)
        return scores.softmax(dim=-1)

    found = verdict("softmax", in_place)
    assert found.status == "wrong" and "changes its argument `scores`" in found.text()


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


def test_a_gradient_that_is_partly_lost_is_reported() -> None:
    def partly(scores):
        e = (scores - scores.amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True).detach()

    found = verdict("softmax", partly)
    assert found.status == "wrong" and "gradients are not" in found.text()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda s: s.softmax(-1).tolist(), "you return a list"),
        (lambda s: s.softmax(-1)[None], "shape"),
        (lambda s: s.softmax(-1) > 0.5, "torch.bool"),
        (lambda s: s.softmax(-1) * float("nan"), "nan"),
    ],
)
def test_an_answer_of_another_kind_is_described(answer, said) -> None:
    assert said in verdict("softmax", answer).text().replace("You", "you")


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="without parentheses"):
        checks.softmax(torch.zeros(3))


def test_an_unknown_mistake_is_not_given_a_name() -> None:
    found = verdict("softmax", lambda scores: scores.softmax(dim=-1) * 0.9)
    assert found.status == "wrong" and not found.mistakes
    assert "it should be" in found.text()


# --- the panel -----------------------------------------------------------------------------------


def test_the_panel_is_plain_and_says_the_same() -> None:
    found = verdict("merge_heads", lambda heads: heads.reshape(heads.size(0), heads.size(2), -1))
    panel = as_html(found)
    assert "role='status'" in panel and "<script" not in panel
    assert "Merging" in panel and "Not yet" in panel


def test_the_panel_escapes_what_the_learner_wrote() -> None:
    def broken(scores):
        raise ValueError("<b>bold</b>")

    assert "<b>" not in as_html(verdict("softmax", broken))


def test_differences_are_put_in_words() -> None:
    assert difference([1, 2], [1, 2]) is None
    assert difference([1, 3], [1, 2]) == "you return 3 at [1], it should be 2"
    assert difference({"a": 1}, {"b": 1}) == "your dictionary differs in its keys: a, b"
    assert difference(True, 1) == "you return True, it should be 1"
    assert difference(torch.tensor(2), 2) is None
    assert difference(10**9000, 2) == "you return a number of thousands of digits, it should be 2"
    assert difference(1, 10**70).endswith("10000000…00000000 (71 digits)")
    assert difference("a", "b") == "you return 'a', it should be 'b'"
    assert difference(torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")])) is None
    assert "entry [1]" in difference(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))


# --- the chapters --------------------------------------------------------------------------------

CHAPTERS = Path(__file__).parents[2] / "chapters"


def headings(chapter: int) -> list[str]:
    (path,) = CHAPTERS.glob(f"{chapter:02}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return re.findall(r"^##+ (?:Further: )?(.+)$", text, flags=re.MULTILINE)


def test_every_section_that_a_verdict_names_exists() -> None:
    components = [(part.name, part.chapter, part.section) for part in checks.COMPONENTS.values()]
    mistakes = [
        (m.name, m.chapter or checks.COMPONENTS[m.component].chapter, m.section)
        for m in checks.MISTAKES
    ]
    for name, chapter, section in (*components, *mistakes):
        assert section in headings(chapter), (name, chapter, section)


# --- what is kept from one call to the next ------------------------------------------------------


class Positions:
    """Goes on where the call before ended, while the table has rows."""

    def __init__(self):
        self.past = 0

    def __call__(self, x, table):
        if self.past + x.size(1) > len(table):
            self.past = 0
        rows = table[self.past : self.past + x.size(1)]
        self.past += x.size(1)
        return x + rows


class Remembered:
    """Knows each answer by the shape of what it was asked."""

    def __init__(self):
        self.known = {}

    def __call__(self, scores):
        return self.known.setdefault(scores.shape, scores.softmax(-1))


# As learners write it.
def build_vocabulary(sentences, min_frequency, counts=collections.Counter()):  # noqa: B006
    for words in sentences:
        counts.update(words)
    words = ["<pad>", "<sos>", "<eos>", "<unk>", *(w for w in counts if counts[w] >= min_frequency)]
    return {word: i for i, word in enumerate(words)}


class Attention(nn.Module):
    """Right but for what a subclass makes of the mask."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.kept, self.calls = n_heads, None, 0
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        names = ("query", "key", "value", "output")
        weights = [getattr(self, name).weight for name in names]
        right = checks.COMPONENTS["multi_head_attention"].reference
        return right(query, key, value, *weights, self.n_heads, mask=self.chosen(mask, key))

    def chosen(self, mask, key):
        return mask


class OldMask(Attention):
    def chosen(self, mask, key):
        self.kept = mask if mask is not None else self.kept
        fits = self.kept is not None and self.kept.size(-1) == key.size(1)
        return self.kept if fits and len(self.kept) in (len(key), key.size(1)) else mask


class FirstMaskOfAShape(Attention):
    def chosen(self, mask, key):
        self.kept = self.kept or {}
        return None if mask is None else self.kept.setdefault(mask.shape, mask)


class ThreeCalls(Attention):
    def chosen(self, mask, key):
        self.calls += 1
        return mask if self.calls < 4 else None


@pytest.mark.parametrize(
    ("name", "made", "kept"),
    [
        ("add_positions", Positions(), "`self.past`"),
        ("softmax", Remembered(), "`self.known`"),
        ("softmax", Remembered().__call__, "`self.known`"),
        ("build_vocabulary", build_vocabulary, "default value of `counts`"),
        ("multi_head_attention", OldMask, "`self.kept`"),
        ("multi_head_attention", FirstMaskOfAShape, "`self.kept`"),
        ("multi_head_attention", ThreeCalls, "`self.calls`"),
    ],
)
def test_what_keeps_something_from_the_call_before_is_named(
    name: str, made: Any, kept: str
) -> None:
    found = verdict(name, made)
    assert [mistake.name for mistake in found.mistakes] == [checks.engine.KEPT], found.text()
    assert found.status == "wrong" and "right in its first call" in found.text()
    assert kept in found.text()


def test_a_table_that_is_kept_for_later_calls_is_right() -> None:
    class Softmax:
        def __init__(self):
            self.calls, self.axes = 0, {}

        def __call__(self, scores):
            self.calls += 1
            return scores.softmax(self.axes.setdefault(scores.dim(), -1))

    assert verdict("softmax", Softmax()).status == "right"
    assert verdict("multi_head_attention", Attention).status == "right"


def test_what_cannot_be_copied_is_judged_all_the_same() -> None:
    class Locked:
        def __init__(self):
            self.lock = threading.Lock()

        def __call__(self, scores):
            with self.lock:
                return scores.softmax(-1)

    assert verdict("softmax", Locked()).status == "right"
