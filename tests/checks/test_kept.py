"""What is kept from one call to the next: named where it spoils an answer, else no matter."""

from __future__ import annotations

import collections
import threading
from typing import Any, ClassVar

import pytest
import torch
from torch import nn

from tests.checks.judged import checks, verdict


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


SEEN: dict[str, torch.Tensor] = {}
SIZES: dict[int, torch.Tensor] = {}
LAST = None


def triangle(size):
    return torch.ones(size, size, dtype=torch.bool).tril()


def first_of_all(size):
    return SEEN.setdefault("mask", triangle(size))


def through_another(size):
    return first_of_all(size) if size else triangle(size)


def behind_global(size):
    global LAST
    LAST = triangle(size) if LAST is None else LAST
    return LAST


def as_an_attribute(size):
    if not hasattr(as_an_attribute, "mask"):
        as_an_attribute.mask = triangle(size)
    return as_an_attribute.mask


def by_shape(tokens):
    return SEEN.setdefault(tokens.shape, (tokens != 0)[:, None, None])


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
        ("causal_mask", through_another, "`SEEN`"),
        ("causal_mask", behind_global, "`LAST`"),
        ("causal_mask", as_an_attribute, "`as_an_attribute.mask`"),
        ("padding_mask", by_shape, "`SEEN`"),
        ("multi_head_attention", OldMask, "`self.kept`"),
        ("multi_head_attention", FirstMaskOfAShape, "`self.kept`"),
        ("multi_head_attention", ThreeCalls, "`self.calls`"),
    ],
)
def test_what_keeps_something_from_the_call_before_is_named(
    name: str, made: Any, kept: str
) -> None:
    found = verdict(name, made)
    assert [mistake.name for mistake in found.mistakes] == [checks.judging.KEPT], found.text()
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
    assert (
        verdict("causal_mask", lambda size: SIZES.setdefault(size, triangle(size))).status
        == "right"
    )


def test_of_what_is_kept_only_what_spoils_a_later_call_is_named() -> None:
    class Shown(nn.Module):
        def __init__(self):
            super().__init__()
            self.shown = self._mask = None

        def forward(self, mask, cache={}):  # noqa: B006
            self._mask = mask if self._mask is None else self._mask
            self.shown, self.calls = mask, 1
            return self._mask + len(cache)

    made = Shown()
    held = checks.kept.attributes(made)
    assert made(1) == made(2) == 1
    assert checks.kept.changed(made, held, lambda: made(2) == 2) == ["self._mask"]
    assert checks.kept.changed(made, held, lambda: False) == []
    assert (made._mask, made.shown, made.calls) == (1, 2, 1)  # as it was


def test_a_class_may_keep_something_for_all_its_objects() -> None:
    class Counted(Attention):
        seen: ClassVar[list[Any]] = []

        def chosen(self, mask, key):
            self.seen.append(key.shape)
            return mask

    assert verdict("multi_head_attention", Counted).status == "right"
    assert not Counted.seen  # it was put back


class OfTheFirstLength:
    rows: ClassVar[dict[int, torch.Tensor]] = {}

    def __call__(self, real, prefix):
        n = real.size(1)
        if n not in self.rows:
            at = torch.arange(n)
            self.rows[n] = (at[None] <= at[:, None]) | (at < prefix)
        return self.rows[n][None, None] & real[:, None, None]


def of_this_length(real, prefix):
    n, own = real.size(1), of_this_length
    if getattr(own, "size", None) != n:
        at = torch.arange(n)
        own.size, own.open = n, (at[None] <= at[:, None]) | (at < prefix)
    return own.open[None, None] & real[:, None, None]


def test_what_a_class_keeps_and_what_another_number_shows_is_named() -> None:
    assert "`OfTheFirstLength.rows`" in verdict("prefix_mask", OfTheFirstLength()).text()
    assert "`of_this_length.size`" in verdict("prefix_mask", of_this_length).text()
    assert not OfTheFirstLength.rows and not vars(of_this_length)


def test_a_check_leaves_nothing_behind() -> None:
    for name, made in (("causal_mask", behind_global), ("causal_mask", as_an_attribute)):
        for _ in range(2):
            assert "right in its first call" in verdict(name, made).text()
    assert not SEEN and LAST is None and not vars(as_an_attribute)


def test_a_default_value_is_named_only_if_a_call_has_changed_it() -> None:
    def counted(word, seen=[], axes=[-1]):  # noqa: B006
        seen.append(word)
        return len(seen)

    held = checks.kept.attributes(counted)
    assert (counted("a"), counted("b")) == (1, 2)
    names = checks.kept.changed(counted, held, lambda: counted("b") == 1)
    assert names == ["seen"]
    assert "default value of `seen` is made once" in checks.kept.cause(counted, names)
    assert "It keeps something" in checks.kept.cause(counted, ())


def test_what_cannot_be_copied_is_judged_all_the_same() -> None:
    class Locked:
        def __init__(self):
            self.lock = threading.Lock()

        def __call__(self, scores):
            with self.lock:
                return scores.softmax(-1)

    assert verdict("softmax", Locked()).status == "right"


def test_a_later_call_that_stops_is_told_so() -> None:
    class FirstLength:
        def __init__(self):
            self.rows = {}

        def __call__(self, x, table):
            return x + self.rows.setdefault(x.size(-1), table[: x.size(1)])

    text = verdict("add_positions", FirstLength()).text()
    assert "in a later one" in text and "`self.rows`" in text and "you return None" not in text


def test_what_a_wrong_call_has_used_up_is_named() -> None:
    class LeftOver:
        def __init__(self):
            self.left, self.calls = [], 0

        def __call__(self, words):
            self.calls += 1
            found, self.left = [*self.left, *words], []
            if self.calls == 1:
                self.left = list(words)
            return found

    made = LeftOver()
    held = checks.kept.attributes(made)
    assert made("a") == ["a"]
    since = checks.kept.attributes(made)
    assert made("a") == ["a", "a"]
    names = checks.kept.changed(made, held, lambda: made("a") == ["a"], since)
    assert names == ["self.left"]
    assert checks.kept.changed(made, held, lambda: True, since) == []


class Scaler:
    def __init__(self) -> None:
        self.unscaled = False

    def unscale(self, gradients, scale):
        if self.unscaled:
            raise RuntimeError("unscaled already")
        self.unscaled = True
        return [gradient / scale for gradient in gradients]


SCALER = Scaler()


def not_set_back_after_a_skip(gradients, scale, limit):
    found = SCALER.unscale(gradients, scale)
    if not all(gradient.isfinite().all() for gradient in found):
        return []
    length = torch.sqrt(sum((g.double() ** 2).sum() for g in found)).item()
    SCALER.unscaled = False
    return [g * (limit / length) for g in found] if length > limit else found


def test_what_an_object_of_the_file_keeps_is_named_and_put_back() -> None:
    for _ in range(2):
        text = verdict("unscaled_gradients", not_set_back_after_a_skip).text()
        assert "What a call leaves in `SCALER.unscaled` is still there" in text
    assert not SCALER.unscaled
