"""Where a mistake without a name is located: in a line, or in what is handed to a function."""

from __future__ import annotations

import re
from typing import Any

import torch

from tests.checks.judged import checks, verdict


def told(name: str, function: Any) -> str:
    """What is told of where the mistake is, and nothing else."""
    attempt = checks.attempt.Attempt.of(checks.COMPONENTS[name], function, 5.0)
    (sentence,) = checks.inside.located(attempt, attempt.wrong) or ("",)
    change = checks.mending.mended(attempt)  # which is told in the place of the sentence
    found = verdict(name, function)
    assert found.mistakes or change or sentence in found.text()
    return sentence


def line(function: Any, number: int) -> str:
    return f"ine {function.__code__.co_firstlineno + number} of your cell or file "


def test_a_line_up_to_which_all_is_right_is_told() -> None:
    def one_too_many_in_the_sum(scores):
        e = torch.exp(scores - scores.max(-1, keepdim=True).values)
        return e / (1 + e.sum(-1, keepdim=True))

    found = told("softmax", one_too_many_in_the_sum)
    differ = len(checks.COMPONENTS["softmax"].cases())
    assert found == (
        f"On all {differ} inputs that differ, l{line(one_too_many_in_the_sum, 1)}has what "
        "comes out of the step “exponentials” of the right version; that value is right: look at "
        "what is done with it, in that line and behind it, and at what else goes in there."
    )


def test_the_only_line_that_is_wrong_is_told_with_how() -> None:
    def scaled_twice(query, key, value, mask=None):
        scores = query @ key.mT / query.size(-1) ** 0.5
        scores = scores * 1.7
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        return (weights if mask is None else weights * mask.any(-1, keepdim=True)) @ value

    found = told("scaled_dot_product_attention", scaled_twice)
    assert re.match(r"On all \d+ inputs that differ, one value explains your answer: ", found)
    at = line(scaled_twice, 2).rstrip()
    assert f", a value in l{at} is another one; it, or what goes into it, is wrong: " in found
    assert found.endswith("yours is the right value times 1.7.")


def test_what_is_handed_to_a_function_is_told() -> None:
    def without_sos(step, max_length):
        tokens: list[int] = [1]
        while len(tokens) <= max_length and tokens[-1] != 2:
            tokens.append(int(step(torch.tensor([tokens[1:] or tokens]))[0].argmax()))
        return [token for token in tokens if token > 2]

    found = told("greedy_search", without_sos)
    assert (
        "your second call of `step` hands it the row [4], where it should get the row [1, 4]."
        in found
    )


def test_a_row_that_is_handed_over_with_others_is_told_as_one_among_them() -> None:
    def never_at_an_end(step, n_sentences, max_length):
        tokens = torch.ones(n_sentences, 1, dtype=torch.long)
        for _ in range(max_length):
            tokens = torch.cat([tokens, step(tokens).argmax(dim=-1, keepdim=True)], dim=1)
        return tokens[:, 1:]

    found = told("greedy_batch", never_at_an_end)
    assert "hands it the row [1, 2, 4] among others, where it should get [[1, 2, 0], " in found


def test_a_value_whose_axes_are_in_another_order_is_told_as_that() -> None:
    def heads_not_in_front(
        query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
    ):
        parts = zip((query, key, value), (w_query, w_key, w_value), strict=True)
        q, k, v = ((x @ w.mT).unflatten(-1, (n_heads, -1)) for x, w in parts)
        scores = q @ k.mT / q.size(-1) ** 0.5
        return (scores.softmax(-1) @ v).flatten(-2) @ w_output.mT

    found = verdict("multi_head_attention", heads_not_in_front).text()
    assert "has, its axes in another order, what comes out of the step “split " in found, found


def test_a_call_that_is_made_again_is_told() -> None:
    def at_the_first_padding(step, n_sentences, max_length):
        tokens = torch.zeros(n_sentences, max_length + 1, dtype=torch.long)
        tokens[:, 0] = 1
        going = torch.ones(n_sentences, dtype=torch.bool)
        for _ in range(max_length):
            length = int((tokens[0] == 0).int().argmax())  # stays where the first one has ended
            best = step(tokens[:, :length]).argmax(-1) * going
            tokens[:, length] = best
            going = going & (best != 2)
            if not going.any():
                break
        return tokens[:, 1:]

    found = told("greedy_batch", at_the_first_padding)
    assert re.search(r"your third call of `step` hands it the same as the one before, where", found)


def test_values_are_told_by_their_names() -> None:
    def second_sum_on_the_norm(x, mask, attention, feed_forward, norm1, norm2):
        y = norm1(x)
        x = norm2(x + attention(y, y, y, mask))
        return x + feed_forward(x)

    found = told("encoder_layer", second_sum_on_the_norm)
    assert "your answer is `norm2(…) + feed_forward(norm2(…))`, and should be `x + att" in found

    def value_from_the_stream(x, mask, attention, feed_forward, norm1, norm2):
        x = x + attention(norm1(x), norm1(x), x + x, mask)
        return x + feed_forward(norm2(x))

    found = told("encoder_layer", value_from_the_stream)
    assert "as its third argument, where it should get `norm1(x)`." in found


def test_a_function_that_is_never_called_is_told_and_one_that_is_called_too_seldom() -> None:
    def one_norm(x, mask, attention, feed_forward, norm1, norm2):
        y = norm1(x)
        return x + attention(y, y, y, mask)

    assert "you never call `norm2`." in told("encoder_layer", one_norm)

    def half_as_long(step, max_length):
        tokens = [1]
        while len(tokens) <= (max_length + 1) // 2 and tokens[-1] != 2:
            tokens.append(int(step(torch.tensor([tokens]))[0].argmax()))
        return [token for token in tokens if token > 2]

    assert "times; what you hand to it is right." in told("greedy_search", half_as_long)


def test_what_does_not_end_is_located_by_its_calls() -> None:
    def endless(step, max_length):
        tokens = [1]
        while True:
            tokens.append(int(step(torch.tensor([tokens[-20:]]))[0].argmax()))

    attempt = checks.attempt.Attempt.of(checks.COMPONENTS["greedy_search"], endless, 0.2)
    (found,) = checks.inside.located(attempt, attempt.wrong)
    assert found.endswith("to `step`, which the right version never does.") or "hands it" in found


def test_sentences_that_are_handed_over_one_by_one_are_not_called_odd() -> None:
    def one_by_one(x, mask, attention, feed_forward, norm1, norm2):
        outs = []
        for i in range(x.size(0)):
            h = norm1(x[i : i + 1])
            own = mask is not None and mask.dim() > 2 and mask.size(0) > 1
            y = x[i : i + 1] + attention(h, h, h, mask[i : i + 1] if own else mask)
            outs.append(y + feed_forward(norm2(y)).cumsum(-1).flip(1).sin())
        return torch.cat(outs)

    assert told("encoder_layer", one_by_one) == ""


def test_rows_behind_the_end_of_the_right_search_are_not_called_odd() -> None:
    def searched(ends, right=((1, 5),), mine=((1, 5), (1, 5, 6))):
        calls = ([("step", [torch.tensor([row])], None) for row in rows] for rows in (mine, right))
        return checks.inside._odd({}, *calls, ends=ends)

    assert searched(ends=True) == ""
    assert searched(ends=False) == (
        "your second call of `step` hands it the row [1, 5, 6], which the right version never does."
    )
    assert "the row [1, 6], which" in searched(ends=True, mine=((1, 5), (1, 6)))


def test_the_line_that_changes_is_that_of_the_argument_that_is_named() -> None:
    def in_place(x, weight, bias, eps=1e-5):
        bias += 1
        x *= 1.0
        x -= x.mean(-1, keepdim=True)
        return x

    attempt = checks.attempt.Attempt.of(checks.COMPONENTS["layer_norm"], in_place, 5.0)
    assert attempt.found[0].changed == (0, 2)
    line_of = checks.inside.changing_line(attempt, 0)
    assert line_of == in_place.__code__.co_firstlineno + 3


def test_an_attempt_without_a_right_value_is_not_located() -> None:
    assert told("softmax", lambda scores: scores * 0 + 0.3) == ""


def test_a_call_with_too_few_rows_is_told() -> None:
    def those_that_go_on_alone(step, n_sentences, max_length):
        found = torch.zeros(n_sentences, max_length, dtype=torch.long)
        alive, tokens = torch.arange(n_sentences), torch.ones(n_sentences, 1, dtype=torch.long)
        for t in range(max_length):
            best = step(tokens).argmax(-1)
            found[alive, t] = best
            going = best != 2
            alive, tokens = alive[going], torch.cat([tokens, best[:, None]], 1)[going]
            if not len(alive):
                break
        return found

    text = verdict("greedy_batch", those_that_go_on_alone).text()
    assert "your second call of `step` hands it 1 row; each call of the right version hands" in text
    assert "what you hand to it is right" not in text


def test_values_with_merged_axes_are_the_same() -> None:
    alike, x = checks.inside._alike, torch.randn(2, 3, 4, 5)
    assert alike(x.reshape(6, 4, 5), x) and alike(x, x.reshape(2, 12, 5))
    assert not alike(x.transpose(0, 1).reshape(6, 4, 5), x)
    # A view in the place of a transpose has other numbers, though in the same order.
    assert not alike(x.reshape(2, 4, 3, 5), x.transpose(1, 2))


def test_a_call_that_lacks_a_row_is_told_before_the_row_that_follows_from_it() -> None:
    def values_of_the_first_row(step, beam_size, max_length):
        beams, scores, ended = torch.tensor([[1]]), torch.zeros(1), []
        for _ in range(max_length):
            log_p = step(beams)
            ids = log_p.topk(beam_size, dim=-1).indices
            total = (scores[:, None] + log_p.flatten()[ids]).flatten()
            scores, place = total.topk(min(beam_size, total.numel()))
            chosen = ids.flatten()[place]
            beams = torch.cat([beams[place // beam_size], chosen[:, None]], dim=1)
            over = chosen == 2
            ended += zip(scores[over], beams[over, 1:-1].tolist(), strict=True)
            beams, scores = beams[~over], scores[~over]
            if not len(beams):
                break
        return max([*ended, *zip(scores, beams[:, 1:].tolist(), strict=True)])[1]

    text = verdict("beam_search", values_of_the_first_row).text()
    assert (
        "your third call of `step` lacks the row [1, 5, 4], which it should get, and your" in text
    )
