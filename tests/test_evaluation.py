"""Evaluation measures what it says, says how, and counts the looks at the test split."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import transformer_book
from tests import small
from tests.faults import Killed, fault_in
from transformer_book.known_words import KnownWords
from transformer_book.metrics import bleu
from transformer_book.recipes import load_recipe
from transformer_book.runs import evaluation
from transformer_book.runs.evaluation import evaluate, record
from transformer_book.runs.experiment import Experiment
from transformer_book.tasks import Pair, make_task
from transformer_book.tasks.corpora import TextPair
from transformer_book.tokens import SpaceTokenizer, SpacyTokenizer
from transformer_book.translator import Translator

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def copier() -> Translator:
    """Trained for a moment: it copies some short sequences, and not the others."""
    changes = {
        "task.max_length": 3,
        "task.min_length": 1,
        "data.train": 300,
        "data.validation": 10,
        "data.seed": 2,
        "model.d_model": 16,
        "model.d_ff": 16,
        "training.updates": 60,
        "training.warmup": 0,
        "training.learning_rate": 0.02,
        "training.max_tokens": 300,
        "training.batch_size": "",
        "decoding.max_length": 6,
    }
    changes = [f"{key}={value}" for key, value in changes.items()]
    experiment = Experiment(load_recipe("copy", changes))
    trainer = experiment.trainer()
    trainer.fit()
    return experiment.translator(trainer.model)


@pytest.mark.parametrize(
    "damage", [{"task": 3}, {"task": {}}, {"data": None}, {"data": {}}, {"name": ...}]
)
def test_a_recipe_that_is_not_whole_is_refused(copier, monkeypatch, damage):
    recipe = {**copier.recipe, **damage}
    monkeypatch.setattr(copier, "recipe", {k: v for k, v in recipe.items() if v is not ...})
    with pytest.raises(ValueError, match="not whole"):
        evaluate(copier, n=2)


# --- measuring ------------------------------------------------------------------------------------


def by_hand(copier: Translator, split: str, n: int) -> tuple[float, float]:
    """Exact match and perplexity, pair by pair and token by token."""
    pairs = make_task(**copier.recipe["task"]).pairs(split, n=n, seed=2)
    right, losses = 0, []
    for pair in pairs:
        right += copier.translate(" ".join(pair.source)) == " ".join(pair.target)
        source = copier.source_vocabulary.encode_source(pair.source)
        target = copier.target_vocabulary.encode_target(pair.target)
        with torch.no_grad():
            logits = copier.model.eval()(torch.tensor([source]), torch.tensor([target[:-1]]))[0]
        log_p = logits.log_softmax(-1)
        losses += [-log_p[t, token].item() for t, token in enumerate(target[1:])]
    return right / n, math.exp(sum(losses) / len(losses))


@pytest.mark.parametrize(("split", "n"), [("train", 30), ("validation", 12)])
def test_what_is_measured_is_what_comes_out_by_hand(copier, split, n):
    result = evaluate(copier, split, n=n)
    match, perplexity = by_hand(copier, split, n)
    assert 0 < match < 1
    assert result["exact_match"]["value"] == match
    assert result["exact_match"]["error"] == pytest.approx(math.sqrt(match * (1 - match) / n))
    assert result["perplexity"] == {"value": pytest.approx(perplexity, rel=1e-4)}
    assert (result["recipe"], result["split"], result["n"]) == ("copy", split, n)
    assert result["seeds"] == 1
    assert result["decoding"] == {"beam_size": 1, "length_penalty": 0.0, "max_length": 6}
    assert result["transformer_book"] == transformer_book.__version__
    assert torch.__version__.startswith(result["torch"]) and "+" not in result["torch"]
    assert result["hardware"].startswith("cpu (") and "1 threads" in result["hardware"]
    assert result["seconds"] >= 0
    assert not any(name.startswith("bleu") for name in result)
    assert json.loads(json.dumps(result)) == result


def test_a_search_can_be_chosen(copier):
    result = evaluate(copier, n=5, beam_size=3, length_penalty=0.6)
    assert result["split"] == "validation"
    assert result["decoding"] == {"beam_size": 3, "length_penalty": 0.6, "max_length": 6}


def language_task(monkeypatch: pytest.MonkeyPatch, pairs: list[Pair]) -> list[Any]:
    """Let `evaluate` find these pairs under the name of captions; returns what it asks for."""
    asked: list[Any] = []

    def task(**options: object) -> SimpleNamespace:
        asked.append(options)
        return SimpleNamespace(
            name="captions",
            splits=("validation", "test"),
            to_dict=lambda: {},
            source_tokenizer=SpaceTokenizer(),
            target_tokenizer=SpaceTokenizer(),
            pairs=lambda split, n, seed: asked.append((split, n, seed)) or pairs,
        )

    monkeypatch.setattr(evaluation, "make_task", task)
    return asked


def test_languages_are_measured_with_bleu_three_times(monkeypatch):
    sides = ["a B c d e .", "b a d c , a", "e E e e a b"]
    pairs = [Pair(tuple(side.split()), tuple(side.split())) for side in sides]
    asked = language_task(monkeypatch, pairs)
    recipe = {"name": "x", "task": {"name": "captions", "source": "de"}, "data": {"seed": 7}}
    translator = small.translator(recipe=recipe)
    predictions = ["a b c d e.", "b a d c , a", "e E e e b a"]
    monkeypatch.setattr(translator, "translate", lambda sources, **options: predictions)
    result = evaluate(translator, "test", n=3)
    assert asked == [{"name": "captions", "source": "de"}, ("test", 3, 7)]
    assert result["exact_match"]["value"] == pytest.approx(1 / 3)
    expected = {
        "bleu": bleu(predictions, sides),
        "bleu_lowercase": bleu(predictions, sides, lowercase=True),
        "bleu_tokens": bleu(predictions, sides, tokenize="none", lowercase=True),
    }
    for name, measured in expected.items():
        assert result[name] == {"value": measured.value, "signature": measured.signature}
    assert len({result[name]["value"] for name in expected}) == 3


def test_of_a_corpus_it_is_counted_who_repeats_himself(monkeypatch):
    sides = ["a b c a b c", "a a a", "d e f", "d e"]
    language_task(monkeypatch, [Pair(tuple(side.split()), tuple(side.split())) for side in sides])
    for kind, expected in (("multi30k", True), ("europarl", True), ("captions", False)):
        recipe = {"name": "x", "task": {"name": kind}, "data": {"seed": 0}}
        translator = small.translator(recipe=recipe)
        predictions = ["a b c a b c", "e e e e", "d e f", "d e f D E F"]
        monkeypatch.setattr(translator, "translate", lambda _, written=predictions, **__: written)
        result = evaluate(translator, n=4)
        kept = {"repetitions", "loops", "repeated_ngrams"} & set(result)
        assert len(kept) == (3 if expected else 0)
        if expected:
            measured = result["repetitions"]
            assert measured["value"] == 0.75 and measured["references"] == 0.25
            assert measured["error"] == pytest.approx((0.75 * 0.25 / 4) ** 0.5)
            measured = result["loops"]
            assert measured["value"] == 0.75 and measured["references"] == 0.5
            # 3 + 3 + 0 + 3 single words, 2 + 2 + 0 + 2 pairs, 1 + 1 + 0 + 1 threes
            counted = {"value": [9, 6, 3, 0, 0], "references": [5, 3, 1, 0, 0]}
            for side, of_side in counted.items():
                assert result["repeated_ngrams"][side] == [count / 4 for count in of_side]


def test_the_tokens_of_bleu_are_the_targets_own(monkeypatch):
    class Letters(SpaceTokenizer):
        def __call__(self, text: str) -> list[str]:
            return list(text)

    sides = ["two dogs run here now .", "a man sits on one ."]
    predictions = ["two cats run here now .", "a man sits on one ."]
    language_task(monkeypatch, [Pair(tuple(side.split()), tuple(side.split())) for side in sides])
    make = evaluation.make_task
    other = {"source_tokenizer": Letters()}
    monkeypatch.setattr(
        evaluation, "make_task", lambda **options: SimpleNamespace(**vars(make(**options)) | other)
    )
    for kind in ("captions", "multi30k", "europarl"):
        recipe = {"name": "x", "task": {"name": kind}, "data": {"seed": 7}}
        translator = small.translator(recipe=recipe)
        monkeypatch.setattr(translator, "translate", lambda sources, **_: predictions)
        expected = bleu(predictions, sides, tokenize="none", lowercase=True)
        assert evaluate(translator, n=2)["bleu_tokens"]["value"] == expected.value


def test_an_unknown_word_is_one_token_of_bleu(monkeypatch):
    sides = ["a man in a shirt runs ."]
    language_task(monkeypatch, [Pair(tuple(side.split()), tuple(side.split())) for side in sides])
    make = evaluation.make_task
    spacy = {"source_tokenizer": SpacyTokenizer("de"), "target_tokenizer": SpacyTokenizer("en")}
    monkeypatch.setattr(
        evaluation, "make_task", lambda **options: SimpleNamespace(**vars(make(**options)) | spacy)
    )
    recipe = {"name": "x", "task": {"name": "multi30k"}, "data": {"seed": 7}}
    translator = small.translator(recipe=recipe)
    values = []
    for word in ("<unk>", "coat"):
        written = [sides[0].replace("shirt", word)]
        monkeypatch.setattr(translator, "translate", lambda sources, *, found=written, **_: found)
        values.append(evaluate(translator, n=1)["bleu_tokens"]["value"])
    assert values[0] == values[1] == pytest.approx(bleu(written, sides, tokenize="none").value)


def test_perplexity_is_measured_with_sources_as_the_model_reads_them(monkeypatch):
    tokens = tuple("abcde")
    language_task(monkeypatch, [Pair(tokens, tokens)])
    recipe = {"name": "x", "task": {"name": "captions"}, "data": {"seed": 7}}
    translator = small.translator(source_sos=True, recipe=recipe)
    monkeypatch.setattr(translator, "translate", lambda sources, **_: ["a"])
    found = evaluate(translator, n=1)["perplexity"]["value"]
    source = torch.tensor([small.VOCABULARY.encode_source(tokens, sos=True)])
    target = torch.tensor([small.VOCABULARY.encode_target(tokens)])
    with torch.no_grad():
        log_p = translator.model.eval()(source, target[:, :-1]).log_softmax(-1)
    nll = -log_p.gather(-1, target[:, 1:, None]).mean().item()
    assert found == pytest.approx(math.exp(nll), rel=1e-5)


@pytest.mark.parametrize(("source", "target"), [("a " * 50, "b"), ("a", "b " * 50)])
def test_a_pair_that_is_too_long_counts_as_wrong_and_spoils_nothing(monkeypatch, source, target):
    texts = [("a b", "b a"), (source, target)]
    recipe = {"name": "x", "task": {"name": "captions"}, "data": {"seed": 7}}
    translator = small.translator(recipe=recipe)
    language_task(monkeypatch, [Pair(*(tuple(side.split()) for side in pair)) for pair in texts])
    result = evaluate(translator, n=2)
    assert result["too_long"] == 1 and result["n"] == 2
    language_task(monkeypatch, [Pair(*(tuple(side.split()) for side in texts[0]))])
    alone = evaluate(translator, n=1)
    assert alone["perplexity"] == result["perplexity"] and "too_long" not in alone


@pytest.mark.parametrize(
    ("task", "tokens", "counted"),
    [
        ({"lowercase": True}, {"kind": "words"}, True),
        ({}, {"kind": "subwords", "lowercase": True}, True),
        ({"lowercase": True}, {"kind": "subwords", "lowercase": False}, False),
        ({}, {"kind": "words", "lowercase": True}, False),
        ({}, {}, False),
    ],
)
def test_a_model_without_capitals_is_not_blamed_for_them(monkeypatch, task, tokens, counted):
    sides = ["a B c", "b a d", "e E"]
    language_task(monkeypatch, [Pair(tuple(side.split()), tuple(side.split())) for side in sides])
    recipe = {"name": "x", "task": {"name": "captions", **task}, "data": {"seed": 7}}
    translator = small.translator(recipe={**recipe, "tokens": tokens})
    predictions = ["a b c", "b a d", "e f"]
    monkeypatch.setattr(translator, "translate", lambda sources, **options: predictions)
    result = evaluate(translator, n=3)
    assert result["exact_match"]["value"] == pytest.approx(1 / 3)
    assert ("exact_match_lowercase" in result) == counted
    if counted:
        assert result["exact_match_lowercase"]["value"] == pytest.approx(2 / 3)


def test_rare_words_are_measured_beside_all_others(monkeypatch):
    sides = ["a b b", "c c d", "e"]
    language_task(monkeypatch, [Pair(tuple(side.split()), tuple(side.split())) for side in sides])
    recipe = {"name": "x", "task": {"name": "multi30k"}, "data": {"seed": 7}}
    translator = small.translator(recipe=recipe)
    predictions = ["b a", "d c", "b"]
    monkeypatch.setattr(translator, "translate", lambda sources, **options: predictions)
    assert "rare_words" not in evaluate(translator, n=3)
    # Known are a and b; rare c, twice, d and e. What the sources have is another matter.
    translator.known_words = KnownWords(frozenset("e"), frozenset("ab"), least=5)
    assert evaluate(translator, n=3)["rare_words"] == {
        "value": 1 / 2,
        "error": 1 / 4,
        "n": 4,
        "others": pytest.approx(2 / 3),
        "least": 5,
    }
    for none in ("", "abcde"):  # no others, or none that are rare
        translator.known_words = KnownWords(frozenset(), frozenset(none))
        assert "rare_words" not in evaluate(translator, n=3)


def test_series_are_also_held_against_what_they_mean(monkeypatch):
    sides = ["a*x+b*x**2+O(x**6)", "a*x+O(x**6)", "1+O(x**6)", "x+O(x**6)"]
    language_task(monkeypatch, [Pair(tuple("a"), (side,)) for side in sides])
    sources = ["a", "exp(a*x)", "sin(x)*(cos(a*x)-tanh(2*x)**2)", "x"]
    texts = iter(zip(sources, sides, strict=True))
    monkeypatch.setattr(evaluation, "texts_of", lambda task, pair: next(texts))
    recipe = {"name": "x", "task": {"name": "series"}, "data": {"seed": 7}}
    translator = small.translator(recipe=recipe)
    predictions = ["x**2*b+x*a+O(x**6)", "a*x+O(x**6)", "2+O(x**6)", "x+)+O(x**6)"]
    monkeypatch.setattr(translator, "translate", lambda sources, **options: predictions)
    result = evaluate(translator, n=4)
    assert result["exact_match"]["value"] == 1 / 4
    assert result["mathematically_equal"] == {"value": 1 / 2, "error": 1 / 4}
    assert result["equal_by_functions"] == {
        "0": {"right": 1, "n": 2},
        "1": {"right": 1, "n": 1},
        "3": {"right": 0, "n": 1},
    }
    assert "bleu" not in result


def test_pairs_with_a_text_of_their_own_are_measured_by_it(monkeypatch):
    """Tokens may have lost the case and the spacing; the reader of a translation has not."""
    pair = TextPair(("a", "b"), ("a", "b"), "A  B", "A-b")
    language_task(monkeypatch, [pair])
    recipe = {"name": "x", "task": {"name": "captions"}, "data": {"seed": 7}}
    translator = small.translator(recipe=recipe)
    asked = []
    monkeypatch.setattr(
        translator, "translate", lambda sources, **_: asked.append(sources) or ["A-b"]
    )
    assert evaluate(translator, n=1)["exact_match"]["value"] == 1
    assert asked == [["A  B"]]


def test_it_must_be_known_what_to_ask(copier):
    with pytest.raises(ValueError, match="saved without its recipe"):
        evaluate(small.translator())
    with pytest.raises(ValueError, match=r"split is 'tset', .* did you mean 'test'"):
        evaluate(copier, "tset")
    with pytest.raises(ValueError, match="n is 0"):
        evaluate(copier, n=0)


# --- keeping --------------------------------------------------------------------------------------


def result(split: str = "validation", n: int = 5, beam_size: int = 1, value: float = 0.5) -> dict:
    decoding = {"beam_size": beam_size, "length_penalty": 0.0, "max_length": None}
    measured = {"exact_match": {"value": value, "error": 0.1}}
    return {"recipe": "copy", "split": split, "n": n, "decoding": decoding, **measured}


def test_a_newer_result_replaces_the_older_of_the_same_question(tmp_path):
    first = [result(), result("train"), result(n=6), result(beam_size=4)]
    for one in first:
        record(tmp_path, one)
    assert json.loads((tmp_path / "results.json").read_text()) == first
    record(tmp_path, result("train", value=0.75))
    kept = json.loads((tmp_path / "results.json").read_text())
    assert kept == [first[0], first[2], first[3], result("train", value=0.75)]
    assert not (tmp_path / "test_looks.jsonl").exists()


def looks(folder: Any) -> list[dict]:
    path = folder / "test_looks.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_every_look_at_the_test_split_is_counted(tmp_path):
    for one in (result("test"), result("test"), result("compositional"), result()):
        record(tmp_path, one)
    assert [look["split"] for look in looks(tmp_path)] == ["test", "test", "compositional"]
    assert looks(tmp_path)[0] == result("test")
    assert len(json.loads((tmp_path / "results.json").read_text())) == 3


def test_no_result_is_kept_without_its_look(tmp_path):
    for step in range(1, 20):
        folder = tmp_path / f"{step}"
        folder.mkdir()
        record(folder, result(value=0.1))
        with fault_in("killed", step) as fault:
            try:
                record(folder, result("test"))
            except Killed:
                assert fault.happened
        kept = json.loads((folder / "results.json").read_text())
        assert kept[0] == result(value=0.1)
        assert looks(folder) in ([], [result("test")])  # whole, if it is there
        if len(kept) == 2:
            assert looks(folder) == [result("test")]
        if not fault.happened:
            assert len(kept) == 2
            return
    pytest.fail("It never passed.")


@pytest.mark.parametrize("content", ["{", "{}", "[3]", ""])
def test_other_files_are_not_overwritten(tmp_path, content):
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(ValueError, match=r"results\.json"):
        record(tmp_path, result("test"))
    assert (tmp_path / "results.json").read_text() == content
    assert looks(tmp_path) == []
