"""One front end, two back ends: Python answers every question of the page as the worker does."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from browser_parity import run, translator_of

from tests.javascript.conftest import sentences
from tests.typecheck import unenforced
from transformer_book import pretrained
from transformer_book.widgets.talk import answers

TIMES = ("first", "rate")
REFUSED = 7  # of the questions
TEXT = sentences("captions-de-en", 1)[0]
TOLERANCE = {"rtol": 1e-3, "atol": 2e-3}


def questions(text: str, n_layers: int, changes: tuple[str, ...]) -> list[dict[str, Any]]:
    """Every task, plain and with changes, and at last what cannot be answered."""
    said = [4, 5, 6, 2]
    steps = [
        {"task": "steps", "stack": stack, "layer": layer, "position": position}
        for stack in ("encoder", "decoder")
        for layer, position in ((0, 0), (n_layers - 1, 1))
    ]
    asked = [
        {"task": "translate"},
        {"task": "translate", "forced": [7, 4]},
        *({**each, "tokens": said} for each in steps),
    ]
    asked = [{**each, "text": text, "changes": list(c)} for c in ((), changes) for each in asked]
    return [
        *asked,
        {"task": "beam", "text": text, "changes": list(changes)},
        {"task": "verified", "text": text, "changes": list(changes)},
        {"task": "translate", "text": text.upper()},  # words in another spelling
        {"task": "translate", "text": ""},
        {"task": "translate", "text": text, "forced": [999_999]},
        {"task": "translate", "text": text, "forced": [1]},
        {"task": "translate", "text": text, "forced": [5] * 500},
        {"task": "beam", "text": text, "changes": ["head:cross.9.9"]},
        {
            "task": "steps",
            "text": text,
            "tokens": said,
            "stack": "decoder",
            "layer": 0,
            "position": 4,
        },
        {
            "task": "steps",
            "text": text,
            "tokens": said,
            "stack": "encoder",
            "layer": 9,
            "position": 0,
        },
    ]


def same(ours: Any, theirs: Any, place: str = "") -> None:
    """Texts and whole numbers alike, other numbers nearly."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), place
        for name in ours.keys() - set(TIMES):
            same(ours[name], theirs[name], f"{place}.{name}")
    elif isinstance(ours, list) and not all(isinstance(each, float) for each in ours):
        assert len(ours) == len(theirs), place
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            same(one, other, f"{place}.{i}")
    elif isinstance(ours, (list, float, np.ndarray)):
        np.testing.assert_allclose(np.asarray(theirs), np.asarray(ours), **TOLERANCE, err_msg=place)
    else:
        assert ours == theirs, place


def test_between_two_answers_the_model_is_as_it_was() -> None:
    """A reader may stop, and a cell of the notebook may use the model meanwhile."""
    translator = translator_of(pretrained.find("captions-de-en"))
    question = {"task": "translate", "text": TEXT, "changes": ["head:cross.1.2"]}
    (before,) = translator.search([TEXT], beam_size=1)
    *_, whole = answers(translator, question)
    given = answers(translator, question)
    next(given)
    assert translator.search([TEXT], beam_size=1) == [before]
    *_, last = given
    assert last["translation"] == whole["translation"]
    assert last["translation"]["probabilities"] != list(before.probabilities)


@pytest.mark.parametrize(
    ("name", "text", "changes"),
    [
        ("captions-de-en", TEXT, ("head:cross.1.2", "temperature:2")),
        ("captions-de-en", TEXT, ("causal:off", "weight:encoder.0.1.2.0.0.5")),
        ("series", "sin(a*x)", ("scale:0.1",)),
        ("series", "sin(a*x)**2*exp(b*x)", ()),  # wrong at first, right among the candidates
        ("post", "a b c", ("layer:decoder.0", "residual:encoder.1", "scale:0.3")),
        ("bare", "g a", ("positions:off", "average:decoder.1.0")),
        ("gelu", "d e c", ("weight:cross.1.0.1.0.-0.5", "temperature:0.3")),
        ("subwords", "A bad ab. Bad!", ()),
    ],
)
def test_python_answers_as_the_worker_does(name, text, changes, odd, rules) -> None:
    folder = odd.get(name) or pretrained.find(name)
    config = translator_of(folder).model.config
    asked = questions(text, config.n_decoder_layers, changes)
    job = {"operation": "answers", "folder": str(folder), "messages": asked}
    (found,) = run([job], rules)
    for question, theirs in zip(asked, found, strict=True):
        with nullcontext() if name in odd else unenforced():  # small models answer with it
            ours = list(answers(translator_of(folder), question))
        if question["task"] == "beam":  # how far each is, it tells at other moments
            ours, theirs = ours[-1:], theirs[-1:]
        same(ours, theirs, str(question))
        if question["text"] in (text, ""):
            refused = question in asked[-REFUSED:]
            refused |= question["task"] == "verified" and name != "series"
            assert ours[-1]["state"] == ("failed" if refused else "done")
