"""Checks bite: every small damage to a right implementation is rejected, or is no damage.

The right steps of each component are changed in their syntax tree, one place at a time: another
operator, another constant, another axis, a condition turned round, a call left out. What still
passes must stand in `EQUIVALENT`, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from reference_mutants import mutants, reference_of, statements

from tests.fresh import import_fresh

# Damaged code may do what torch warns of.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

checks = import_fresh("transformer_book.checks")
IDEAS = checks.ideas.MODULES

# Changes that make no difference: the component and the change, by the reason.
EQUIVALENT_BY_REASON = {
    "the order of two axes, of two summands or of two booleans does not matter": [
        ("add_positions", "s.join(x, s.rows(x, table)) → s.join(s.rows(x, table), x)"),
        ("scaled_dot_product_attention", "key.transpose(-2, -1) → key.transpose(-1, -2)"),
        ("grouped_query_attention", "key.transpose(-2, -1) → key.transpose(-1, -2)"),
        ("cached_attention", "keys.transpose(-2, -1) → keys.transpose(-1, -2)"),
        (
            "target_mask",
            "s.both(s.padding(tokens), s.causal(tokens)) → s.both(s.causal(tokens), s.padding(tokens))",
        ),
        (
            "split_heads",
            "x.unflatten(-1, (n_heads, -1)).transpose(1, 2) → x.unflatten(-1, (n_heads, -1)).transpose(2, 1)",
        ),
        (
            "multi_head_attention",
            "x.unflatten(-1, (n_heads, -1)).transpose(1, 2) → x.unflatten(-1, (n_heads, -1)).transpose(2, 1)",
        ),
        ("merge_heads", "heads.transpose(1, 2) → heads.transpose(2, 1)"),
        ("paired_by_halves", "pairs.transpose(1, 2) → pairs.transpose(2, 1)"),
        ("multi_head_attention", "heads.transpose(1, 2) → heads.transpose(2, 1)"),
        ("ablate_head", "heads.transpose(1, 2) → heads.transpose(2, 1)"),
        ("dropout", "s.drop(x, keep) → s.drop(keep, x)"),
        ("encoder_layer", "add(x, sublayer(norm(x))) → add(sublayer(norm(x)), x)"),
        ("decoder_layer", "add(x, sublayer(norm(x))) → add(sublayer(norm(x)), x)"),
        ("perplexity", "zip(losses, counts, strict=True) → zip(counts, losses, strict=True)"),
        (
            "inverse_sqrt_schedule",
            "min(update ** (-0.5), update * warmup ** (-1.5)) → min(update * warmup ** (-1.5), update ** (-0.5))",
        ),
        ("beam_search", "s.candidates(finished, alive) → s.candidates(alive, finished)"),
        (
            "prefix_mask",
            "s.both(s.tokens(real, prefix), s.seen(s.causal(real), s.opened(real, prefix))) → s.both(s.seen(s.causal(real), s.opened(real, prefix)), s.tokens(real, prefix))",
        ),
        (
            "prefix_mask",
            "s.seen(s.causal(real), s.opened(real, prefix)) → s.seen(s.opened(real, prefix), s.causal(real))",
        ),
    ],
    "the order of two factors does not matter": [
        ("softmax_backward", "s.dot(d_output, output) → s.dot(output, d_output)"),
        ("layer_norm_backward", "s.scale(d_output, weight) → s.scale(weight, d_output)"),
        ("layer_norm_backward", "s.second(normal, d_normal) → s.second(d_normal, normal)"),
    ],
    "weights of self-attention have as many rows as columns": [
        ("induction_score", "-2 → 2"),
        ("induction_score", "2 → 1"),
    ],
    "a head's values are as wide as its queries": [
        ("multi_head_attention", "s.scale(query, value) → s.scale(value, query)"),
    ],
    "the same axis or place, counted from the other end": [
        ("merge_heads", "-2 → 2"),
        ("multi_head_attention", "-2 → 2"),
        ("next_token", "-1 → 1"),
        ("greedy_batch", "-1 → 1"),
        ("temperature_probabilities", "-1 → 1"),
        ("top_k_probabilities", "-1 → 1"),
        ("grouped_query_attention", "-2 → 2"),
        ("cached_attention", "-2 → 2"),
        ("top_p_probabilities", "-1 → 1"),
        ("min_p_probabilities", "-1 → 1"),
        ("repetition_penalty", "-1 → 1"),
    ],
    "0 divided is 0 multiplied": [("repetition_penalty", "logits > 0 → logits >= 0")],
    "less often than never is never": [("repetition_penalty", "0 → -1")],
    "a number may stay in its tensor until the end": [("evaluation_loss", "loss.item() → loss")],
    "all entries of that axis agree, or there is only one": [
        ("cached_attention", "2 → 3"),
        ("average_checkpoints", "0 → -1"),
        ("greedy_search", "0 → -1"),
    ],
    "as many ones, whichever row they are counted in": [("prefix_mask", "0 → -1")],
    "a more exact answer is as right": [
        (
            "sinusoids",
            "s.arrange(s.first(angle), s.second(angle)).to(torch.float32) → s.arrange(s.first(angle), s.second(angle))",
        ),
    ],
    "the last axis of size one changes neither the selection nor the mean": [
        (
            "cross_entropy",
            "s.log_p(logits).gather(2, target[..., None]).squeeze(2) → s.log_p(logits).gather(2, target[..., None])",
        ),
        ("cross_entropy", "2 → 1"),
    ],
    "`strict` only guards against lists of different length": [
        ("perplexity", "True → False"),
        ("beam_search", "True → False"),
    ],
    "whether a sum of probabilities is exactly top_p, rounding decides": [
        (
            "top_p_probabilities",
            "p.cumsum(dim=-1) - p < top_p → p.cumsum(dim=-1) - p <= top_p",
        ),
    ],
    "at equality the factor is one": [
        ("clip_gradients", "length(gradients) > limit → length(gradients) >= limit"),
        ("unscaled_gradients", "size > limit → size >= limit"),
    ],
    "that step does nothing": [
        ("training_update", "s.after(optimizer) → s"),
        ("accumulated_update", "s.before_part(optimizer) → s"),
        ("accumulated_update", "s.after_part(optimizer, scheduler, part is parts[-1]) → s"),
        ("accumulated_update", "1 → 0"),
    ],
    "only known mistakes ask which part it is": [("accumulated_update", "1 → 2")],
    "the number of tokens is the same for all checkpoints": [
        (
            "best_checkpoint",
            "sum((loss * n for loss, n in measured)) / sum((n for _, n in measured)) → sum((loss * n for loss, n in measured)) * sum((n for _, n in measured))",
        ),
        (
            "best_checkpoint",
            "sum((loss * n for loss, n in measured)) / sum((n for _, n in measured)) → sum((loss * n for loss, n in measured))",
        ),
    ],
    "a constant added to every score changes no order": [
        ("beam_search", "0.0 → 1.0"),
        ("beam_search", "0.0 → -1.0"),
    ],
    "numbers in a tensor compare as well as in a list": [
        ("beam_search", "rows.tolist() → rows"),
    ],
    "the right version ranks by the score alone": [
        ("beam_search", "len(h[0]) - 1 → len(h[0]) + 1"),
        ("beam_search", "len(h[0]) - 1 → len(h[0])"),
    ],
    "a finished hypothesis that keeps growing crowds out only what scores less, which cannot win; and the rank has no use for the length": [
        ("beam_search", "-1 → 1"),
        ("beam_search", "1 → 2"),
        ("beam_search", "1 → 0"),
    ],
    "to stop later never changes the best": [
        (
            "beam_search",
            "max((s for _, s in finished)) >= max((s for _, s in alive)) → max((s for _, s in finished)) > max((s for _, s in alive))",
        ),
        ("beam_search", "max → min"),
    ],
}
EQUIVALENT = {pair for pairs in EQUIVALENT_BY_REASON.values() for pair in pairs}


def is_wrong(component: Any, reference: Any, inputs: list[tuple[Any, Any]]) -> bool:
    """As the verdict says it; where an input tells, it is the first that the next mutant meets."""
    tried = component.observe(reference)
    for i, (case, right) in enumerate(inputs):
        mine = checks.running.call(tried, case, gradients=False, seconds=2, source=reference)
        if mine.trouble or not checks.comparing.same(mine.answer, right.answer):
            inputs.insert(0, inputs.pop(i))
            return True
    return checks.judging.judge(component, reference, seconds=2).status == "wrong"


def test_the_finder_of_mutants_finds_the_reference_itself() -> None:
    for component in checks.COMPONENTS.values():
        code = statements(IDEAS, component).values()
        verdict = checks.judging.judge(component, reference_of(code, IDEAS, component))
        assert verdict.status == "right", (component.name, verdict.text())


@pytest.mark.parametrize("name", checks.COMPONENTS)
def test_every_mutant_is_rejected_or_equivalent(name: str, count: Callable[..., None]) -> None:
    component = checks.COMPONENTS[name]
    rejected, equivalent, survived, met = 0, 0, [], set()
    known = checks.explaining.known_outcomes(component, ())
    inputs = list(zip(component.cases(), known, strict=True))
    for change, reference in mutants(IDEAS, component):
        if reference is None or is_wrong(component, reference, inputs):
            rejected += 1
        elif (component.name, change) in EQUIVALENT:
            met.add((component.name, change))
            equivalent += 1
        else:
            survived.append(change)
    count(
        component.chapter,
        mutants=rejected + equivalent + len(survived),
        rejected=rejected,
        equivalent=equivalent,
        survived=len(survived),
    )
    assert rejected
    assert not survived, survived
    unused = {pair for pair in EQUIVALENT if pair[0] == component.name} - met
    assert not unused, f"listed as equivalent, but rejected or not tried: {unused}"
