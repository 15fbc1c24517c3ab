"""What trained models make of the training pairs, as more to train on."""

from __future__ import annotations

import json

import pytest

from transformer_book.recipes import load_recipe
from transformer_book.runs import diversification
from transformer_book.runs.diversification import SEARCH, new_pairs, side_read, translated
from transformer_book.runs.experiment import Experiment
from transformer_book.tasks import make_task, texts_of
from transformer_book.translator import Translator


@pytest.fixture(scope="module")
def teacher():
    return Translator.from_pretrained("captions-de-en")


@pytest.fixture(scope="module")
def task(teacher):
    return make_task(**teacher.recipe["task"])


@pytest.fixture(scope="module")
def texts(task):
    return [texts_of(task, pair) for pair in task.pairs("train", n=11)]


def test_a_teacher_of_the_same_direction_reads_the_sources(teacher, task, texts, tmp_path):
    pairs = translated(task, texts, teacher, tmp_path / "1.jsonl")
    sources = [source for source, _ in texts]
    assert pairs == list(zip(sources, teacher.translate(sources, **SEARCH), strict=True))


def test_a_teacher_of_the_reverse_direction_reads_the_targets(teacher, texts, tmp_path):
    task = make_task(**teacher.recipe["task"] | {"source": "en", "target": "de"})
    turned = [(target, source) for source, target in texts]
    assert side_read(task, teacher) == "target"
    pairs = translated(task, turned, teacher, tmp_path / "1.jsonl")
    german = [source for source, _ in texts]
    assert pairs == list(zip(teacher.translate(german, **SEARCH), german, strict=True))


@pytest.mark.parametrize("other", [{"name": "copy"}, {"source": "en", "target": "it"}])
def test_a_teacher_of_another_task_is_refused(teacher, task, other):
    options = other if "name" in other else task.to_dict() | other
    with pytest.raises(ValueError, match=r"A teacher was trained on the task .*captions"):
        side_read(make_task(**options), teacher)


def test_what_is_made_is_not_made_again(teacher, task, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(diversification, "CHUNK", 4)
    path, told = tmp_path / "deep" / "1.jsonl", []

    def stop(done):
        told.append(done)
        if done == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        translated(task, texts, teacher, path, stop)
    assert told == [0, 4, 8]
    assert len(path.read_text().splitlines()) == 1 + 8
    asked, translate = [], teacher.translate
    monkeypatch.setattr(
        teacher, "translate", lambda t, **o: asked.append(len(t)) or translate(t, **o)
    )
    pairs = translated(task, texts, teacher, path)
    assert asked == [3]
    assert pairs == translated(task, texts, teacher, path)  # nothing is asked now
    assert asked == [3]
    assert pairs == translated(task, texts, teacher, tmp_path / "in one go.jsonl")


@pytest.mark.parametrize("change", ["text", "weights", "garbage", "more", "number"])
def test_a_file_that_holds_something_else_is_refused(teacher, task, texts, tmp_path, change):
    path = tmp_path / "1.jsonl"
    translated(task, texts, teacher, path)
    rows = path.read_text().splitlines()
    if change == "text":
        texts = [("ein Hund", "a dog"), *texts[1:]]
    elif change == "weights":
        rows[0] = json.dumps(json.loads(rows[0]) | {"teacher": 1})
    else:
        rows.append({"garbage": "{", "more": '"one more"', "number": "3"}[change])
        rows = rows[:3] + rows[-1:] if change == "number" else rows
    path.write_text("\n".join(rows))
    with pytest.raises(ValueError, match=r"1\.jsonl holds what another teacher made"):
        translated(task, texts, teacher, path)


def test_empty_sides_and_repetitions_are_left_out():
    true = [("a", "b"), ("c", "d")]
    made = [[("a", "b"), ("c", "e")], [("", "d"), ("c", ""), ("c", "e"), ("a", "d")]]
    assert new_pairs(true, made) == [("c", "e"), ("a", "d")]


def test_made_pairs_are_trained_on_and_nothing_else_changes():
    recipe = load_recipe("captions-de-en", ["data.train=30", "data.validation=5"])
    plain = Experiment(recipe)
    source, target = texts_of(plain.task, plain.train_pairs[0])
    more = load_recipe("captions-de-en", ["data.train=30", "data.validation=5", "data.teachers=1"])
    long = " ".join([target] * 20)  # more than the model reads
    made = [(source, target + " again"), (source, long), ("unbekannt", target)]
    taught = Experiment(more, made)
    assert taught.vocabularies[0].tokens == plain.vocabularies[0].tokens
    assert taught.vocabularies[1].tokens == plain.vocabularies[1].tokens
    both = taught.dataset("train").examples
    assert both[:30] == plain.dataset("train").examples and len(both) == 32
    assert both[30][0] == both[0][0] and both[31][1] == both[0][1]
    assert taught.dataset("validation").examples == plain.dataset("validation").examples
    for recipe, pairs in ((more, ()), (load_recipe("captions-de-en"), made)):
        with pytest.raises(ValueError, match=r"The recipe asks for . teachers"):
            Experiment(recipe, pairs).dataset("train")
