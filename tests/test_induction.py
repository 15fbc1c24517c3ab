"""Sequences that repeat, the model of attention alone, its scores, and a head taken away."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from transformer_book.attention import MultiHeadAttention
from transformer_book.recipes import recorded_induction
from transformer_book.studies.induction import (
    AttentionOnly,
    ablate_head,
    attention_of,
    can_copy,
    induction_score,
    losses,
    previous_token_score,
    recorded_models,
    repeated_sequences,
)
from transformer_book.studies.inspection import silenced_heads


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_sequences_repeat_with_their_own_period() -> None:
    periods = torch.tensor([3, 5, 4])
    tokens = repeated_sequences(periods, 9, 7, generator())
    assert tokens.shape == (3, 9) and tokens.min() >= 0 and tokens.max() < 7
    for row, period in zip(tokens.tolist(), periods.tolist(), strict=True):
        assert len(set(row[:period])) == period
        assert all(row[t] == row[t - period] for t in range(period, 9))
    again = can_copy(periods, 9)
    assert again.sum(dim=1).tolist() == [6, 4, 5] and again[0, 3] and not again[0, 2]


def test_the_losses_are_of_the_two_parts() -> None:
    periods = torch.tensor([2, 3])
    tokens = repeated_sequences(periods, 5, 6, generator())

    class KnowsItAll(torch.nn.Module):
        def forward(self, tokens):
            logits = torch.zeros(*tokens.shape, 6)
            for b, period in enumerate(periods.tolist()):
                for t in range(period, 4):
                    logits[b, t, tokens[b, t + 1]] = 100.0
            return logits

    first, again = losses(KnowsItAll(), tokens, periods)
    assert_close(first, torch.tensor(6.0).log())
    assert again < 1e-6


def test_a_position_does_not_see_what_follows() -> None:
    torch.manual_seed(0)
    model = AttentionOnly(10, 16, 2, 2, 8).eval()
    tokens = torch.randint(10, (2, 8))
    changed = tokens.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % 10
    assert_close(model(changed)[:, :5], model(tokens)[:, :5])
    assert attention_of(model, tokens).shape == (2, 2, 2, 8, 8)


def test_ablating_is_silencing() -> None:
    torch.manual_seed(1)
    attention = MultiHeadAttention(6, 3)
    x = torch.randn(2, 4, 6)
    found = attention.split_heads(attention.value(x))  # any heads would do
    for head in range(3):
        with silenced_heads(attention, head):
            expected = attention.output(attention.merge_heads(found))
        weight, bias = attention.output.weight.T, attention.output.bias
        assert_close(ablate_head(found, weight, bias, head), expected)
        assert_close(ablate_head(found, weight, None, head), expected - bias)


def test_scores_of_perfect_heads() -> None:
    copies = torch.zeros(1, 2, 6, 6)
    copies[0, 0] = torch.eye(6).roll(-2, dims=1).tril()  # two places back: period 3
    copies[0, 1] = torch.eye(6).roll(-1, dims=1).tril()
    assert_close(induction_score(copies, 3), torch.tensor([1.0, 0.0]))
    assert_close(induction_score(copies, 2), torch.tensor([0.0, 1.0]))
    assert_close(previous_token_score(copies), torch.tensor([0.0, 1.0]))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: induction_score(torch.ones(1, 1, 4, 4), 4), "period is 4, but the maps have 4"),
        (lambda: induction_score(torch.ones(1, 1, 4, 4), 0), "period is 0"),
        (lambda: previous_token_score(torch.ones(1, 1, 1, 1)), "The maps have one token"),
        (
            lambda: ablate_head(torch.ones(1, 2, 3, 2), torch.ones(4, 4), None, 2),
            "head is 2, but there are 2 heads",
        ),
        (
            lambda: ablate_head(torch.ones(1, 2, 3, 2), torch.ones(6, 4), None, 0),
            "The weight has 6 rows, but 2 heads of 2 features have 4",
        ),
        (
            lambda: repeated_sequences(torch.tensor([3, 8]), 9, 7, generator()),
            "The periods go from 3 to 8, but a period has from 1 to 7 tokens",
        ),
        (lambda: AttentionOnly(5, 8, 2, 0, 6), "n_layers is 0"),
        (lambda: AttentionOnly(5, 8, 2, 1, 6, "rotary"), "positions is 'rotary'"),
    ],
)
def test_bad_input_is_told(call, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


def test_the_checkpoints_are_those_of_the_record() -> None:
    """Half precision moves the losses a little; the settings and the updates are the same."""
    run = recorded_induction()["two-layers"][0]
    models = recorded_models()
    assert set(models) <= set(run["updates"]) and max(models) == run["updates"][-1]
    measuring = generator(1000)
    low, high = run["settings"]["periods"]
    periods = torch.randint(low, high + 1, (256,), generator=measuring)
    tokens = repeated_sequences(periods, run["settings"]["length"], 64, measuring)
    for update, model in models.items():
        at = run["updates"].index(update)
        with torch.no_grad():
            first, again = losses(model, tokens, periods)
        assert first.item() == pytest.approx(run["first"][at], abs=0.02)
        assert again.item() == pytest.approx(run["again"][at], abs=0.02)
