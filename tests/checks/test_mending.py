"""The small change of a learner's code that would make it right on every input."""

from __future__ import annotations

import itertools
import math
import re
import signal
import sys
import time
from typing import Any

import numpy as np
import pytest
import torch
from true_sentences import Told

from tests.checks.judged import checks, verdict


def told(name: str, made: Any) -> list[str]:
    """The changes that are told, each held against the code; they stand in the verdict.

    Where the time for trying ends the search, a second one may find others.
    """
    attempt = checks.attempt.Attempt.of(checks.COMPONENTS[name], made, 5.0)
    sentences = list(checks.mending.mended(attempt))
    found = checks.judging.judge(checks.COMPONENTS[name], made, checks.MISTAKES)
    whole = [sentence for sentence in sentences[:1] if "right on all" in sentence]
    assert found.mistakes or all(sentence in found.text() for sentence in whole)
    assert not list(Told(checks, checks.COMPONENTS[name], made).untrue())
    return sentences


def inputs(name: str) -> int:
    return len(checks.COMPONENTS[name].cases())


def line(function: Any, number: int) -> str:
    return f"ine {function.__code__.co_firstlineno + number} of your cell or file: "


def test_the_change_that_makes_it_right_is_told_with_its_line() -> None:
    def one_too_many_in_the_sum(scores):
        e = torch.exp(scores - scores.max(-1, keepdim=True).values)
        return e / (1 + e.sum(-1, keepdim=True))

    (found,) = told("softmax", one_too_many_in_the_sum)
    assert found == (
        f"L{line(one_too_many_in_the_sum, 2)}with `e.sum(-1, keepdim=True)` in the place of "
        f"`1 + e.sum(-1, keepdim=True)` yours would be right on all {inputs('softmax')} inputs."
    )


def test_a_line_that_moves_is_told() -> None:
    def mean_in_every_round(losses, counts):
        total = 0.0
        for loss, count in zip(losses, counts, strict=True):
            total += loss * count
            total = total / sum(counts)
        return math.exp(total)

    (found,) = told("perplexity", mean_in_every_round)
    assert "with `total = total / sum(counts)` behind the block of `for loss, co" in found


def test_a_call_that_moves_is_told_and_a_convention() -> None:
    def activation_behind(x, w1, b1, w2, b2):
        hidden = x @ w1.T + b1
        return torch.relu(hidden @ w2.T + b2)

    (found,) = told("feed_forward", activation_behind)
    assert "with `torch.relu(hidden) @ w2.T + b2` in the place of" in found

    def scaled_by_what_is_dropped(x, p, keep, training):
        if training:
            return x.masked_fill(~keep, 0.0)
        return x * p

    (found,) = told("dropout", scaled_by_what_is_dropped)
    assert "with `(1 - p)` in the place of `p` yours would be the convention" in found
    found = verdict("dropout", scaled_by_what_is_dropped)
    assert found.sentences and not found.example  # the book's version would contradict the advice


def test_two_changes_are_told_one_after_the_other() -> None:
    def twice_wrong(scores):
        e = torch.exp(scores - scores.amax())
        return e / e.sum(dim=-1)

    first, second = told("softmax", twice_wrong)
    share = rf"yours would be right on \d+ of {inputs('softmax')} inputs, not \d+; the cause may"
    assert re.search(share, first)
    assert second.startswith(f"With that, l{line(twice_wrong, 1)}")


def test_two_changes_are_told_where_the_first_does_not_help_the_first_input() -> None:
    def positions_from_0_and_none_for_one(tokens, past, weight, table):
        hidden = weight[tokens]
        if hidden.shape[1] > 1:
            hidden = hidden + table[torch.arange(hidden.shape[1])]
        return hidden

    first, second = told("embed_next", positions_from_0_and_none_for_one)
    assert "`torch.arange(hidden.shape[1]) + past`" in first  # an argument that is never read
    assert "with what stands below `if hidden.shape[1] > 1: …` always done" in second
    assert second.endswith(f"right on all {inputs('embed_next')} inputs.")


def test_one_side_of_a_comparison_may_be_what_is_right() -> None:
    def both_real_or_both_padding(tokens):
        real = tokens != 0
        same = real.unsqueeze(-1) == real.unsqueeze(-2)
        return same.unsqueeze(1) & torch.ones(2 * tokens.shape[1:], dtype=torch.bool).tril()

    (found,) = told("target_mask", both_real_or_both_padding)
    assert "with `real.unsqueeze(-2)` in the place of `real.unsqueeze(-1) == real.un" in found


def test_slow_components_and_endless_changes_are_tried_within_the_time() -> None:
    def from_one_count_two(words, n):
        spelt = {word: list(word) for word in words}
        merges = []
        while len(merges) < n:
            counts = {}
            for word, pieces in spelt.items():
                for pair in itertools.pairwise(pieces):
                    counts[pair] = counts.get(pair, 0) + words[word]
            if not counts:
                break
            for pair in sorted(counts, key=lambda p: (-counts[p], p))[:2]:
                if len(merges) < n:
                    merges.append(pair)
                    for pieces in spelt.values():
                        i = 0
                        while i < len(pieces) - 1:
                            if (pieces[i], pieces[i + 1]) == pair:
                                pieces[i : i + 2] = ["".join(pair)]
                            i += 1
        return merges

    begun = time.process_time()
    (found,) = told("learn_merges", from_one_count_two)
    assert "[:1]` in the place of" in found
    # Judged three times, each within the seconds of all tries, and a little for the rest.
    assert time.process_time() - begun < 4 * (checks.mending.SECONDS + 1)


PAD = 2


def test_a_constant_of_the_file_is_changed() -> None:
    def padded_with_the_end(rows):
        width = max(map(len, rows))
        tokens = torch.tensor([[PAD] * (width - len(row)) + list(row) for row in rows])
        return tokens, tokens != PAD

    (found,) = told("pad_left", padded_with_the_end)  # not `tokens * real`: <eos> is a token
    share = f"yours would be right on all {inputs('pad_left')} inputs."
    assert found.endswith(f"with `0` in the place of `2` {share}")


def test_one_change_is_told_in_the_place_of_two_known_mistakes() -> None:
    def by_the_deviation(x, weight, bias, eps=1e-5, exact=False):
        scale = x.std(-1, keepdim=True) + eps
        if exact:
            scale = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
        return (x - x.mean(-1, keepdim=True)) / scale * weight + bias

    (found,) = told("layer_norm", by_the_deviation)
    assert "with what stands below `if exact: …` always done" in found
    verdict = checks.judging.judge(
        checks.COMPONENTS["layer_norm"], by_the_deviation, checks.MISTAKES
    )
    assert verdict.together and verdict.sentences == (found,)


def test_a_change_that_makes_a_constant_of_any_number_is_not_tried() -> None:
    def by_the_largest(x, weight, eps=1e-5):
        largest = x.abs().amax(dim=-1, keepdim=True)
        scaled = x / largest
        root = torch.sqrt(scaled.pow(2).mean(-1, keepdim=True) + eps) * largest
        return x / root * weight

    assert "softmax" not in " ".join(told("rms_norm", by_the_largest))


def test_where_a_gradient_is_cut_off_is_told() -> None:
    def without_gradient(scores):
        e = torch.exp(scores - scores.amax(-1, keepdim=True))
        return e / e.detach().sum(-1, keepdim=True)

    (found,) = told("softmax", without_gradient)
    assert "with `e` in the place of `e.detach()`" in found or "`e.sum(-1, keepdim=True)`" in found


def test_what_changes_an_argument_is_told() -> None:
    def in_place(x, sublayer, norm):
        x += sublayer(norm(x))
        return x

    (found,) = told("pre_norm", in_place)
    assert "with `x = x + sublayer(norm(x))` in the place of `x += sublayer(norm(x))`" in found


def _squares(x):
    return (x * x).sum(-1, keepdim=True)


class WithHelper(torch.nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(d_model))
        self.bias = torch.nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x / (_squares(x) / 1 + self.eps).sqrt() * self.weight + self.bias


class RowsOfATable:
    def __init__(self):
        self.axis = 1

    def __call__(self, x, table):
        return x + table.unsqueeze(1)[: x.size(self.axis)]


def test_an_object_is_built_again_with_what_it_held() -> None:
    (found,) = told("add_positions", RowsOfATable())
    assert "`table.unsqueeze(1)" in found and "yours would be right on all" in found


def test_what_a_loop_sets_in_vain_is_told_beside_a_known_mistake() -> None:
    def never_stored(gradients, limit):
        norm = torch.stack([g.norm() for g in gradients]).norm()
        for g in gradients:
            if norm > limit:
                g = g.clone()
            g = g * min(1.0, limit / norm)
        return gradients

    def read_in_the_next_round(gradients, limit):
        g = gradients[0]
        for _ in range(2):
            g.norm()
            for g in gradients:
                g = g.clone()
        return gradients

    text = verdict("clip_gradients", never_stored).text()
    assert "sets `g`, the name of the loop, to what nothing reads." in text
    assert "the name of the loop" not in verdict("clip_gradients", read_in_the_next_round).text()


def test_a_list_of_axes_is_changed_for_one_of_them() -> None:
    def over_the_sentence(d_output, x, weight, eps=1e-5):
        axes = (1, 2)
        away = x - x.mean(axes, keepdim=True)
        factor = (away.square().mean(axes, keepdim=True) + eps).rsqrt()
        normed, d = away * factor, d_output * weight
        means = d.mean(axes, keepdim=True) + normed * (d * normed).mean(axes, keepdim=True)
        return factor * (d - means), (d_output * normed).sum((0, 1)), d_output.sum((0, 1))

    (found,) = told("layer_norm_backward", over_the_sentence)
    assert "with `2` in the place of `(1, 2)` yours would be right on all" in found


def test_a_class_and_a_helper_of_it_are_changed_too() -> None:
    (found,) = told("layer_norm", WithHelper)
    assert "`(x * x).mean(-1, keepdim=True)`" in found or "x.size(-1)" in found


def test_no_ready_made_function_is_proposed() -> None:
    def scores_alone(scores):
        return scores - 0

    assert not any("softmax" in sentence for sentence in told("softmax", scores_alone))


def test_a_change_that_makes_something_huge_or_endless_is_no_harm() -> None:
    def by_powers(length):
        n = length * 1000
        while length * 1000 < n:
            n = n - 1
        square = torch.ones(n // 1000, n // 1000 + 1, dtype=torch.bool).tril()
        return square

    (found,) = told("causal_mask", by_powers)
    assert "`n // 1000`" in found or "1000" in found


def test_a_change_is_told_as_the_code_is_written_and_in_its_line() -> None:
    def all_but_the_last(logits):
        return logits[:, :-1, :].squeeze(1).argmax(dim=-1)

    def rounded_places(x, positions, base=10000.0):
        return checks.COMPONENTS["rotary"].reference(x, positions.to(torch.bfloat16), base)

    def without_end(ids):
        kept = [i for i in ids if i != 2]
        return kept[: kept.index(2) if 2 in kept else -1]

    (found,) = told("next_token", all_but_the_last)
    assert "with `logits[:, -1:, :]` in the place of `logits[:, :-1, :]` yours" in found
    (found,) = told("rotary", rounded_places)
    assert "with `positions` in the place of `positions.to(torch.bfloat16)` yours" in found
    first, second = told("cut_at_end", without_end)
    assert first.startswith(f"L{line(without_end, 1)}")
    assert second.startswith(f"With that, l{line(without_end, 2)}")


def test_behind_a_change_that_takes_long_no_alarm_rings_and_prints_come_out() -> None:
    def hidden_from_the_last_place(real, prefix):
        i = torch.arange(real.size(1))
        seen = (i[None, :] <= i[:, None]) | (i[None, :] < prefix)
        mask = seen.repeat(real.size(0), 1, 1, 1)
        mask[:, 0, -1] &= real
        return mask

    out = sys.stdout
    told("prefix_mask", hidden_from_the_last_place)
    assert sys.stdout is out and signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_of_several_changes_that_mend_the_one_of_fewest_parts_is_told() -> None:
    def without_a_scale(d_output, query, key, value, weights):
        scale = query.size(-1) ** -0.5
        d_weights = d_output @ value.mT
        d_scores = weights * (d_weights - (weights * d_weights).sum(-1, keepdim=True))
        return d_scores @ key * scale, d_scores.mT @ query, weights.mT @ d_output

    (found,) = told("attention_backward", without_a_scale)
    # The first that is found divides the product by the root of its last size.
    assert "with `d_scores.mT @ query * scale` in the place of `d_scores.mT @ query` yours" in found


def test_brackets_that_move_a_word_and_arrays_are_tried() -> None:
    def inside_the_brackets(x, weight, bias, eps=1e-5):
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().sum(-1, keepdim=True) / (x.size(-1) + eps)
        return centred / variance.sqrt() * weight + bias

    (found,) = told("layer_norm", inside_the_brackets)
    assert "/ x.size(-1) + eps` in the place of" in found

    def another_end(text, tokenize, vocabulary):
        return [vocabulary.get(token, 3) for token in [*tokenize(text), "</s>"]]

    (found,) = told("text_to_ids", another_end)
    assert "'<eos>']" in found and "in the place of" in found

    def one_less(losses, counts):
        return float(np.exp(np.average(losses, weights=np.asarray(counts) - 1.0)))

    (found,) = told("perplexity", one_less)
    assert "with `np.asarray(counts)` in the place of `np.asarray(counts) - 1.0`" in found


def test_a_constant_that_fits_some_inputs_is_not_told() -> None:
    def for_one_width(query, key, value, mask=None):
        scores = (query * 0.0) @ key.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        return (weights if mask is None else weights * mask.any(-1, keepdim=True)) @ value

    assert not any("query * 0.5" in x for x in told("scaled_dot_product_attention", for_one_width))


def test_of_right_numbers_no_change_to_a_convention_is_told() -> None:
    class Dropped(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, p, keep):
            ctx.save_for_backward(x, keep / (1 - p))
            return x * keep / (1 - p)

        @staticmethod
        def backward(ctx, gradient):
            x, factor = ctx.saved_tensors
            return gradient * factor.where(x != 0, 1.0), None, None

    def whole_where_it_is_zero(x, p, keep, training):
        return Dropped.apply(x, p, keep) if training else x

    assert not told("dropout", whole_where_it_is_zero)
    found = verdict("dropout", whole_where_it_is_zero)
    assert "on 1 of them the gradients are not" in found.text()


def test_what_is_added_to_is_read_and_of_an_object_the_call_has_the_arguments() -> None:
    def counted(x, never):
        total, left = 0, 1
        total += x
        aside = x  # noqa: F841
        return total + left

    code = checks.mending.Code.of(counted)
    assert checks.mending.unread_arguments(code) == {1: "never"}
    assert [name for name, _ in checks.mending.unread_names(code)] == ["aside"]

    class Called:
        def __call__(self, x, never):
            return x

    assert checks.mending.unread_arguments(checks.mending.Code.of(Called(), {})) == {1: "never"}


def test_of_code_that_is_right_without_its_decorator_no_change_is_told() -> None:
    @torch.no_grad()
    def cut_off(scores):
        e = torch.exp(scores - scores.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)

    assert not told("softmax", cut_off)


def test_what_fits_one_wrong_input_may_have_another_cause() -> None:
    def short_enough(tokens):
        mask = torch.zeros_like(tokens, dtype=torch.bool)
        for place in range(4000):
            if place < tokens.size(1):
                mask[:, place] = tokens[:, place] != 0
        return mask[:, None, None]

    (found,) = told("padding_mask", short_enough)
    share = f"right on all {inputs('padding_mask')} inputs; the cause may be another."
    assert found.endswith(
        f"with `range(8000)` in the place of `range(4000)` yours would be {share}"
    )


def test_of_two_changes_none_is_made_in_the_other() -> None:
    def of_the_kept(x, p, keep, training):
        if not training:
            return x
        return x * keep / keep.float().mean()

    assert not told("dropout", of_the_kept)


def test_a_sum_is_told_with_one_pair_of_brackets() -> None:
    def of_the_largest(losses, counts):
        return math.exp(max(a * n for a, n in zip(losses, counts, strict=True)) / sum(counts))

    assert "with `sum(a * n for a, n in " in told("perplexity", of_the_largest)[0]


FIRST_MASKS: list[torch.Tensor] = []


def test_what_a_list_outside_keeps_is_no_part_of_the_code() -> None:
    def first_mask_for_all(tokens):
        size = tokens.size(1)
        if not FIRST_MASKS:
            FIRST_MASKS.append(torch.ones(size, size, dtype=torch.bool).tril())
        return (tokens != 0)[:, None, None] & FIRST_MASKS[0][:size, :size]

    assert not told("target_mask", first_mask_for_all)


def test_zero_is_tried_for_any_number() -> None:
    def last_of_none(checkpoints, batches, loss_of):
        saved, least = None, None
        for i, c in enumerate(checkpoints):
            loss = sum(float(loss_of(c, b)) * len(b) for b in batches)
            if least is None:
                least = loss
            elif loss < least:
                saved, least = i, loss
        return saved if saved is not None else len(checkpoints) - 1

    (found,) = told("best_checkpoint", last_of_none)
    assert "with `saved if saved is not None else 0` in the place of" in found
    assert found.endswith("; the cause may be another.")


def test_conditions_of_answers_are_called_so_where_gradients_are_wrong_elsewhere() -> None:
    def a_tenth_left_out(weight, down, up, alpha):
        return weight + 0.9 * alpha / down.size(0) * up @ down

    text = checks.judging.judge(
        checks.COMPONENTS["merged_weight"], a_tenth_left_out, checks.MISTAKES
    ).text()
    assert "inputs its answer is wrong exactly on those whose right answer is not `weight`" in text


def test_several_lines_move_at_once() -> None:
    def in_every_round(optimizer, scheduler, parts, compute_loss):
        for part in parts:
            loss = compute_loss(part) / len(parts)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()

    def behind_the_condition(checkpoints, batches, loss_of):
        tokens, least = sum(map(len, batches)), math.inf
        for i, checkpoint in enumerate(checkpoints):
            loss = sum(loss_of(checkpoint, b) * len(b) for b in batches) / tokens
            if better := loss < least:
                assert better
            best = i
            least = loss
        return best

    (found,) = told("accumulated_update", in_every_round)
    assert "the last 3 lines of the block of `for part in parts: …`, from `optimizer.s" in found
    (found,) = told("best_checkpoint", behind_the_condition)
    assert (
        "with the 2 lines behind `if (better := (loss < least)): …`, from `best = i` on," in found
    )


def test_a_slice_a_length_or_what_stands_elsewhere_is_tried_for_one_thing() -> None:
    def one_row(x, table):
        return x + table[x.shape[1] - 1]

    def by_ten(checkpoints, n=10):
        return {name: sum(c[name] for c in checkpoints) / n for name in checkpoints[0]}

    def the_last_loss(checkpoints, batches, loss_of):
        best, least = 0, math.inf
        for i, checkpoint in enumerate(checkpoints):
            total = tokens = 0
            for batch in batches:
                loss = loss_of(checkpoint, batch)
                total, tokens = total + float(loss) * len(batch), tokens + len(batch)
            if total / tokens < least:
                best, least = i, loss
        return best

    assert "with `table[:x.shape[1]]` in the place of" in told("add_positions", one_row)[0]
    assert "/ len(checkpoints)` in the place of" in told("average_checkpoints", by_ten)[0]
    (found,) = told("best_checkpoint", the_last_loss)
    assert "with `(i, total / tokens)` in the place of `(i, loss)` yours" in found


def test_a_list_that_holds_itself_does_not_end_python() -> None:
    beams: list = [(0.0, [1])]
    beams.append((1.0, beams))
    with checks.mending.lists_that_end(), pytest.raises(ValueError, match="holds itself"):
        torch.tensor([beams])
    assert torch.tensor([[1]]).shape == (1, 1)


def test_a_change_that_is_right_by_chance_gives_way() -> None:
    def penalty_of_six(score, length, alpha):
        return score / ((length + 6) ** alpha / 6**alpha)

    def four_at_a_time(words, n):
        batch, all_words = [], {}
        for word in words:
            batch.append(word)
            if len(batch) == 4:
                all_words |= {w: words[w] for w in batch}
                batch = []
        return checks.COMPONENTS["learn_merges"].reference(all_words, n)

    def one_of_four(length):
        mask = torch.ones(length, length, dtype=torch.bool)
        if length % 4 == 0:
            mask = mask.tril()
        return mask

    (found,) = told("length_normalised", penalty_of_six)
    assert "with `length + 5` in the place of `length + 6`" in found and "convention" in found
    assert not any("!=" in said or "<=" in said for said in told("learn_merges", four_at_a_time))
    (found,) = told("causal_mask", one_of_four)
    assert "with what stands below `if length % 4 == 0: …` always done" in found


class Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, keep):
        ctx.p = p
        return x * keep / (1 - p)

    @staticmethod
    def backward(ctx, gradient):
        return gradient / (1 - ctx.p), None, None


def test_where_gradients_alone_are_wrong_only_a_backward_is_changed() -> None:
    def without_its_mask(x, p, keep, training):
        return Dropped.apply(x, p, keep) if training else x

    assert not told("dropout", without_its_mask)


def test_what_fills_a_block_is_left_out_with_it() -> None:
    def drawn_again(d_model):
        weight, bias = torch.ones(d_model), torch.zeros(d_model)
        for each in (weight, bias):
            each.normal_(0, 0.02)
        return weight, bias

    assert (
        "without `for each in (weight, bias): …`" in told("layer_norm_parameters", drawn_again)[0]
    )


def test_another_key_of_the_code_is_tried_and_no_condition_that_always_holds() -> None:
    def by_another_name(weight, down, up, alpha):
        adapter = {"alpha": alpha, "rank": len(down)}
        return weight + adapter.get("scale", 1.0) / adapter["rank"] * up @ down

    def of_real_tokens(source, target):
        prefix = (source != 0).sum(1)
        ids = torch.cat([source, target], 1)
        labels = ids[:, 1:].clone()
        for row in range(len(ids)):
            labels[row, : prefix[row]] = 0
        return ids[:, :-1], labels

    (found,) = told("merged_weight", by_another_name)
    assert "with `{'scale': alpha, 'rank': len(down)}` in the place of" in found
    assert not any("!= 0" in said for said in told("one_stack_labels", of_real_tokens))


def test_what_stands_around_lines_is_taken_away() -> None:
    def norm_without_a_gradient(x, sublayer, norm):
        with torch.no_grad():
            h = norm(x)
        return x + sublayer(h)

    def references_turned(translations, references, corpus_bleu):
        said = [text.split() for text in translations]
        try:
            return corpus_bleu(
                said, [[r.split() for r in g] for g in zip(*references, strict=True)]
            )
        except ValueError:
            return corpus_bleu(said, [[r.split() for r in g] for g in references])

    def turned_by_its_shape(weight, down, up, alpha):
        delta = (down.T @ up.T) * (alpha / down.shape[0])
        if delta.shape != weight.shape:
            delta = delta.T
        return weight + delta

    (found,) = told("pre_norm", norm_without_a_gradient)
    assert "below `with torch.no_grad(): …` alone in its place" in found
    (found,) = told("bleu_of_strings", references_turned)
    assert "below `except ValueError: …` in the place of the whole `try`" in found
    (found,) = told("merged_weight", turned_by_its_shape)
    assert "below `if delta.shape != weight.shape: …` always done" in found


def test_each_input_has_the_time_that_it_needs() -> None:
    def without_itself(length):  # a thousand rows take far longer than three
        return torch.tensor([[j < i for j in range(length)] for i in range(length)])

    (found,) = told("causal_mask", without_itself)
    assert "[j <= i for j in range(length)]" in found
    assert f"right on all {inputs('causal_mask')}" in found
