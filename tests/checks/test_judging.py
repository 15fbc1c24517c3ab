"""Checks at work: what is right passes, known mistakes are named, and nothing else is."""

from __future__ import annotations

import copy
import itertools
import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from true_sentences import Told

from tests.checks.judged import checks, verdict
from transformer_book.checks.explaining import CONFIRMATIONS

WRONG = [mistake for mistake in checks.MISTAKES if mistake.kind != "harmless"]


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
    assert mistake.name in [known.name for known in found.mistakes], (
        f"{found.text()} (A mistake is named if it shows on {CONFIRMATIONS} inputs or more.)"
    )
    assert not found.together
    assert found.status == ("convention" if mistake.kind == "convention" else "wrong")
    assert mistake.symptom[1:] in found.text() and mistake.cause in found.text()
    assert f"chapter {mistake.chapter or component.chapter}" in found.text()


def test_what_is_nearly_a_known_mistake_is_told_as_that() -> None:
    """All in two bytes, rounded otherwise than ours: of two known mistakes the nearer one."""

    def in_two_bytes(x, weight, eps=1e-5):
        return x * ((x * x).mean(-1, keepdim=True) + eps).rsqrt() * weight.to(x.dtype)

    found = verdict("rms_norm_in_half", in_two_bytes)
    assert [mistake.name for mistake in found.mistakes] == ["RMSNorm computed in two bytes"]
    share, rule, *_ = found.sentences
    assert re.fullmatch(
        r"Yours gives what a known mistake gives, up to rounding on \d+ of \d+ inputs, and in "
        r"part on the rest; the cause may be another\.",
        share,
    )
    assert rule == checks.verdicts.as_a_rule(found.mistakes[0])


def test_an_input_on_which_only_the_known_mistake_gives_nan_is_not_told_as_near() -> None:
    def mean_of_means(logits, target):
        pairs = [(row[ids != 0], ids[ids != 0]) for row, ids in zip(logits, target, strict=True)]
        means = [torch.nn.functional.cross_entropy(*pair) for pair in pairs if len(pair[1])]
        return torch.stack(means).mean()

    component = checks.COMPONENTS["cross_entropy"]
    found, of = verdict("cross_entropy", mean_of_means), len(component.cases())
    assert [mistake.name for mistake in found.mistakes] == ["loss averaged per sentence"]
    share = (
        f"Yours gives what a known mistake gives, up to rounding on {of - 1} of {of} inputs; "
        "the cause may be another."
    )
    assert found.sentences[0] == share
    assert found.sentences[-1] == (
        f"On 1 of {of} inputs, where yours holds no nan, the mistake as we know it gives nan."
    )
    assert not list(Told(checks, component, mean_of_means).untrue())


def test_two_mistakes_are_not_named_where_one_other_step_explains_all() -> None:
    found = verdict(
        "lora", lambda x, w, down, up, alpha: x @ w.T + x @ down.T @ up.T * alpha**2 / down.size(0)
    )
    assert not found.mistakes and "with `alpha` squared" in found.text()


# One takes too many steps, the other takes off what came last.
MENDED = [("greedy_search", "last token stripped blindly", "loop one step too long")]


def some_of(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Pairs, drawn once, until each mistake is in one, and one in ten of all."""
    drawn = random.Random(0).sample(pairs, len(pairs))
    chosen, seen = [], set()
    for i, (a, b) in enumerate(drawn):
        if i < len(drawn) / 10 or not {a.name, b.name} <= seen:
            chosen.append((a, b))
            seen |= {a.name, b.name}
    return chosen


def test_two_mistakes_at_once_are_both_named_or_one_hides_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the pairs, those that are not named give the numbers of a single known mistake."""
    # What is simpler than both is looked for above, and takes time.
    monkeypatch.setattr(checks.diagnosis, "simpler", lambda *given: False)
    named = hidden = 0
    for component in checks.COMPONENTS.values():
        known = [mistake for mistake in WRONG if mistake.component == component.name]
        pairs = [
            (a, b)
            for a, b in itertools.combinations(known, 2)
            if not a.steps.keys() & b.steps.keys()
        ]
        mended = [(a, b) for a, b in pairs if (component.name, a.name, b.name) in MENDED]
        for a, b in mended + some_of(pairs):
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
    assert named > 9 * hidden


def test_every_mistake_has_its_own_name_and_replaces_steps_that_exist() -> None:
    names = [(mistake.component, mistake.name) for mistake in checks.MISTAKES]
    assert len(set(names)) == len(names)
    for mistake in checks.MISTAKES:
        assert mistake.steps.keys() <= checks.COMPONENTS[mistake.component].steps.keys()
        assert mistake.symptom.endswith(".") and mistake.cause.endswith((".", ".)"))


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


def test_a_missing_return_is_named() -> None:
    def forgotten(scores):
        scores.softmax(dim=-1)

    assert "is the `return` missing" in verdict("softmax", forgotten).text()


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


CHAPTERS = Path(__file__).parents[2] / "chapters"


@cache
def headings(chapter: int) -> list[str]:
    (path,) = CHAPTERS.glob(f"{chapter:02}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return re.findall(r"^##+ (?:Further: )?(.+)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", checks.COMPONENTS)
def test_every_section_that_a_verdict_names_exists(name: str) -> None:
    component = checks.COMPONENTS[name]
    assert component.section in headings(component.chapter)
    for mistake in checks.MISTAKES:
        if mistake.component == name:
            chapter = mistake.chapter or component.chapter
            assert mistake.section in headings(chapter), (mistake.name, chapter)


def test_a_convention_beside_a_mistake_may_stay_and_the_example_is_of_the_mistake() -> None:
    def from_the_first_real_token(tokens):
        real = tokens != 0
        front = (real.cumsum(1) == 0).sum(1, keepdim=True)
        return (torch.arange(tokens.size(1)) - front) * real

    found = verdict("real_positions", from_the_first_real_token)
    assert found.sentences[0] == "A known mistake and a convention together give your numbers."
    assert "The convention, which may stay, “padding at position zero”: " in found.text()
    assert "entry [0, 4] is 4, it should be 2" in found.example
    component = checks.COMPONENTS["real_positions"]
    assert not list(Told(checks, component, from_the_first_real_token).untrue())


def test_what_draws_is_right_only_if_other_draws_give_the_same() -> None:
    def never_by_chance(logits):
        drawn = torch.rand(1).item()  # 0.4963 where the generator is set to 0
        return logits[:, -1].argmax(-1) if drawn < 0.6 else logits[:, 0].argmax(-1)

    found = verdict("next_token", never_by_chance)
    assert found.status == "wrong" and "It draws random numbers" in found.text()


def test_what_is_done_with_it_afterwards_is_not_laid_to_its_own_lines() -> None:
    def whole_embedding(model, state):
        model.load_state_dict({**state, "output.weight": state["embedding.weight"]})
        model.output = model.embedding

    text = verdict("load_tied", whole_embedding).text()
    assert text.startswith("It, or what is done with it afterwards, stops with RuntimeError")


def test_of_words_in_any_order_the_missing_ones_are_told() -> None:
    def more_often(splits, least):
        words = [word for sentence in splits["train"] for word in sentence]
        return {word for word in words if words.count(word) > least} | {"Wort"}

    text = verdict("training_words", more_often).text()
    assert "lacks " in text and "and should not hold 'Wort'" in text


def test_a_remedy_that_stands_in_the_code_already_is_said_to() -> None:
    def called_and_dropped(text, tokenize, vocabulary):
        words = text.split()
        text = tokenize(text)
        return [*(vocabulary.get(word, 3) for word in words), 2]

    found = verdict("text_to_ids", called_and_dropped)
    assert "Call tokenize(text), " in found.text()
    assert "`tokenize(text)` stands in your code already: look at what comes of it." in found.text()


def test_no_convention_is_told_to_what_is_nearer_to_the_right_version() -> None:
    def drawn_anew_at_the_top(make_layer, n_layers):
        layer = make_layer()
        layers = [copy.deepcopy(layer) for _ in range(n_layers)]
        for each in layers:
            if hasattr(each, "reset_parameters"):
                each.reset_parameters()
        return torch.nn.ModuleList(layers)

    text = verdict("make_stack", drawn_anew_at_the_top).text()
    assert text.startswith("Right on ") and "would be the convention" not in text


def positions_added_to_nothing(tokens, past, weight, table):
    x = weight[tokens]
    x.add(table[past : past + tokens.size(1)])
    return x


def relu_of_nothing(x, w1, b1, w2, b2):
    hidden = torch.nn.functional.linear(x, w1, b1)
    torch.relu(hidden)
    return torch.nn.functional.linear(hidden, w2, b2)


def masked_in_place(query, key, value, mask=None):
    scores = query @ key.mT
    if mask is not None:
        scores.masked_fill_(~mask, -1e30)
    return scores.softmax(-1) @ value


def test_a_call_whose_result_is_dropped_is_told_beside_a_known_mistake() -> None:
    text = verdict("embed_next", positions_added_to_nothing).text()
    assert "computes `x.add(table[past:past + tokens.size(1)])` and drops what comes out." in text
    assert "What your version does, as a rule: " in text
    assert (
        "computes `torch.relu(hidden)` and drops" in verdict("feed_forward", relu_of_nothing).text()
    )
    assert "drops" not in verdict("scaled_dot_product_attention", masked_in_place).text()


def tied_and_then_apart(model, state):
    model.output.weight = model.embedding.weight
    model.load_state_dict(state, strict=False)
    model.output.weight = torch.nn.Parameter(model.output.weight.detach().clone())


def test_an_assignment_that_is_advised_and_stands_there_is_said_to() -> None:
    text = verdict("load_tied", tied_and_then_apart).text()
    assert "`model.output.weight = model.embedding.weight` stands in your code already" in text


def without_the_second_norm(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x + attention(x, x, x, mask))
    return feed_forward(x)


def test_a_function_among_the_arguments_that_is_read_nowhere_is_told() -> None:
    assert "`norm2` is read nowhere" in verdict("encoder_layer", without_the_second_norm).text()


def padded_behind_and_unmasked(rows):
    tokens = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    return tokens, torch.ones_like(tokens, dtype=torch.bool)


def test_a_section_that_explains_both_of_two_mistakes_is_named_once() -> None:
    found = verdict("pad_left", padded_behind_and_unmasked)
    assert found.together and found.text().count("See chapter 24") == 1


def ended_by_another_word(ids):
    kept = []
    for i in ids:
        if i in (2, 50256):
            break
        kept.append(i)
    return kept


def an_end_behind_each_sentence(tokens, vocabulary):
    ids = []
    for place, token in enumerate(tokens):
        ids.append(vocabulary.get(token, 3))
        if token in {".", "!", "?"} and place + 1 < len(tokens):
            ids.append(2)
    return [*ids, 2]


def one_row_for_all(tokens):
    real = tokens != 0
    if len(tokens) > tokens.size(1) > 1:  # as an index that is meant for rows reads places
        return torch.zeros_like(tokens)
    return (real.cumsum(1) - 1).clamp(min=0)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("cut_at_end", ended_by_another_word),
        ("encode", an_end_behind_each_sentence),
        ("real_positions", one_row_for_all),
    ],
)
def test_ids_signs_and_batches_that_passed_are_told(name: str, function: Any) -> None:
    assert verdict(name, function).status == "wrong"
