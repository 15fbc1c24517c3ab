"""How answers are compared, and a difference in words."""

from __future__ import annotations

import torch

from transformer_book.checks.comparing import difference, same


def test_differences_are_put_in_words() -> None:
    assert difference([1, 2], [1, 2]) is None
    assert difference([1, 3], [1, 2]) == "you return 3 at [1], it should be 2"
    assert difference({"a": 3}, {"a": 2}) == "['a'] is 3, it should be 2"  # seen, or returned
    assert difference({"a": 1}, {"b": 1}) == "your dictionary differs in its keys: a, b"
    assert difference(True, 1) == "you return True, it should be 1"
    assert difference(torch.tensor(2), 2) is None
    assert difference(10**9000, 2) == "you return a number of thousands of digits, it should be 2"
    assert difference(1, 10**70).endswith("10000000…00000000 (71 digits)")
    assert difference("a", "b") == "you return 'a', it should be 'b'"
    assert difference(torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")])) is None
    assert "entry [1]" in difference(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))


def test_whole_numbers_are_compared_exactly() -> None:
    for kind in (torch.int64, torch.int32):
        ids = torch.tensor([70000, 2], dtype=kind)
        assert difference(ids, torch.tensor([70000, 2])) is None
        told = difference(ids + 3, torch.tensor([70000, 2]))
        assert told == "entry [0] is 70003, it should be 70000"
        assert same(ids, torch.tensor([70000, 2])) and not same(ids + 3, ids)


def test_small_rates_differ_and_numbers_are_told_apart() -> None:
    assert difference(1.750e-7, 1.747e-7) == "you return 1.75e-07, it should be 1.747e-07"
    assert difference(0.57927, 0.57934) == "you return 0.57927, it should be 0.57934"
    assert difference(1e-9, 0.0) is None
    found = difference(torch.tensor([0.57927, -0.0]), torch.tensor([0.57934, 1.0]))
    assert found == "entry [1] is 0, it should be 1"
