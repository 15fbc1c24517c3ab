"""A translator keeps everything that makes it, says what it did, and refuses what it cannot do."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from tests import small
from tests.faults import Killed, fault_in
from transformer_book import pretrained
from transformer_book.decoding import beam_search, greedy_search
from transformer_book.known_words import FILE as KNOWN_WORDS
from transformer_book.known_words import KnownWords
from transformer_book.recipes import DecodingConfig
from transformer_book.sampling import Drawing
from transformer_book.tokens import (
    EOS,
    SOS,
    UNK,
    SpaceTokenizer,
    SpacyTokenizer,
    SubwordTokenizer,
    Vocabulary,
)
from transformer_book.translator import FILES, Encoded, LazyTokenizer, Translation, Translator
from transformer_book.weights.checkpoints import load_tensors, weights_of

pytestmark = pytest.mark.usefixtures("one_thread")
TEXTS = ["a b c", "e", "d d d d d d", "a b", "c a b e d", "b"]


@pytest.fixture
def folder(tmp_path) -> Path:
    decoding = DecodingConfig(beam_size=3, length_penalty=0.5, max_length=7)
    recipe = {"name": "mine", "task": {"name": "copy"}}
    small.translator(source_sos=True, decoding=decoding, recipe=recipe).save(tmp_path / "model")
    return tmp_path / "model"


# --- from and to disk -----------------------------------------------------------------------------


def test_everything_comes_back(folder):
    one = small.translator(source_sos=True, decoding=DecodingConfig(3, 0.5, 7))
    other = Translator.from_pretrained(folder)
    small.assert_same_weights(one.model, other.model)
    assert other.model.config == one.model.config
    assert not other.model.training
    assert other.source_sos and other.decoding == one.decoding
    assert other.recipe == {"name": "mine", "task": {"name": "copy"}}
    for side in ("source", "target"):
        mine = getattr(one, f"{side}_vocabulary")
        theirs = getattr(other, f"{side}_vocabulary")
        assert (theirs.tokens, theirs.counts) == (mine.tokens, mine.counts)
        assert getattr(other, f"{side}_tokenizer").to_dict() == {"type": "space"}
    assert other.search(TEXTS) == one.search(TEXTS)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)


def test_saving_again_changes_nothing(folder, tmp_path):
    Translator.from_pretrained(folder).save(tmp_path / "again")
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_known_words_come_back_and_do_not_outlive_their_model(tmp_path):
    one = small.subword_translator(known_words=MET)
    one.save(tmp_path)
    other = Translator.from_pretrained(tmp_path)
    assert other.known_words == MET
    assert other.search(["ba c"]) == one.search(["ba c"])
    assert other.search(["ba c"])[0].rare == ("ba",)
    path = tmp_path / KNOWN_WORDS
    before = path.read_bytes()
    other.save_description(tmp_path)
    assert path.read_bytes() == before
    for content in (b"", before[: len(before) // 2], b"{}"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=re.escape(str(path))):
            Translator.from_pretrained(tmp_path)
    small.subword_translator().save(tmp_path)  # in the place of the other
    assert not path.exists()
    assert Translator.from_pretrained(tmp_path).known_words is None


def test_half_precision(tmp_path):
    one = small.translator()
    one.save(tmp_path / "half", dtype=torch.float16)
    one.save(tmp_path / "whole")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("half", "whole")]
    numbers = one.model.n_parameters
    assert sizes[1] - sizes[0] == pytest.approx(2 * numbers, abs=100)
    other = Translator.from_pretrained(tmp_path / "half")
    for name, tensor in weights_of(other.model).items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, weights_of(one.model)[name].half().float())
    assert one.model.output.weight.dtype == torch.float32  # the model itself stays as it was


def test_weights_saved_into_a_description_make_a_model(tmp_path):
    """As training does: the description first, then the best weights so far."""
    one = small.translator()
    one.save_description(tmp_path)
    with pytest.raises(ValueError, match=r"holds no trained model: model\.safetensors is missing"):
        Translator.from_pretrained(tmp_path)
    trainer = small.trainer(tmp_path)
    trainer.fit()
    trainer.load_best()
    small.assert_same_weights(Translator.from_pretrained(tmp_path).model, trainer.model)


def test_loading_draws_no_random_numbers(folder):
    state = torch.get_rng_state()
    Translator.from_pretrained(folder)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_fault_while_saving_leaves_every_file_whole(folder, tmp_path):
    other = small.translator(seed=3)
    for step in range(1, 100):
        copy = tmp_path / f"{step}"
        shutil.copytree(folder, copy)
        with fault_in("killed", step) as fault:
            try:
                other.save(copy)
            except Killed:
                assert fault.happened
        weights = (copy / "model.safetensors").read_bytes()
        old = weights == (folder / "model.safetensors").read_bytes()
        found = Translator.from_pretrained(copy)
        small.assert_same_weights(found.model, small.model() if old else other.model)
        if not fault.happened:
            return
    pytest.fail("It never passed.")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    message = f"{folder} holds no trained model: {name} is missing"
    with pytest.raises(ValueError, match=re.escape(message)):
        Translator.from_pretrained(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named(folder, name):
    whole = (folder / name).read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"\xff" * 9):
        (folder / name).write_bytes(content)
        with pytest.raises(ValueError, match=re.escape(str(folder / name))):
            Translator.from_pretrained(folder)


CHANGES = [
    ({"format": 2}, "does not describe a model of this book"),
    ({"model": None}, "does not describe a model of this book"),
    ({"model": {"d_model": 8}}, "does not describe a model of this book"),
    ({"decoding": {"beams": 3}}, "does not describe a model of this book: .*beams"),
    ({"source_tokenizer": "space"}, "does not describe a model of this book"),
    ({"source_tokenizer": {"type": "spcay"}}, "tokenizer type is 'spcay', .*did you mean 'spacy'"),
    ({"recipe": ...}, "does not describe a model of this book: 'recipe'"),
    ({"source_sos": ...}, "does not describe a model of this book: 'source_sos'"),
]


@pytest.mark.parametrize(("changes", "message"), CHANGES, ids=[str(c) for c, _ in CHANGES])
def test_a_description_that_is_none_is_refused(unhooked, folder, changes, message):
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not ...}))
    with pytest.raises(ValueError, match=message):
        unhooked("transformer_book.translator").Translator.from_pretrained(folder)


@pytest.mark.parametrize("content", ["[]", "3", "null", '"text"'])
def test_a_description_of_another_kind_is_refused(folder, content):
    (folder / "config.json").write_text(content)
    with pytest.raises(ValueError, match="does not describe a model of this book"):
        Translator.from_pretrained(folder)


def test_parts_of_two_models_are_refused(folder, tmp_path):
    Vocabulary(["a", "b"]).save(folder / "target_vocabulary.json")
    with pytest.raises(ValueError, match=r"target vocabulary has 6 tokens, but the model .* for 9"):
        Translator.from_pretrained(folder)
    spaces = SpaceTokenizer()
    with pytest.raises(ValueError, match=r"source vocabulary has 5 tokens, but the model .* for 9"):
        Translator(small.model(), spaces, spaces, Vocabulary(["a"]), small.VOCABULARY)
    small.VOCABULARY.save(folder / "target_vocabulary.json")
    wider = replace(small.translator().model.config, d_model=16)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model": asdict(wider)}))
    with pytest.raises(ValueError, match=r"model\.safetensors belongs to .* another configuration"):
        Translator.from_pretrained(folder)


def test_a_pickle_is_refused(folder):
    torch.save(weights_of(small.model()), folder / "model.safetensors")
    with pytest.raises(ValueError, match="a pickle, which could run any code"):
        Translator.from_pretrained(folder)


def test_a_model_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"There is no folder '.*nowhere', and"):
        Translator.from_pretrained(tmp_path / "nowhere")


def test_the_models_of_the_book_are_found(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
    monkeypatch.chdir("/")
    assert pretrained.names() == ["model"] and pretrained.find("model") == folder
    small.assert_same_weights(Translator.from_pretrained("model").model, small.model())
    with pytest.raises(ValueError, match="models of the book are model; did you mean 'model'"):
        Translator.from_pretrained("modle")
    about = pretrained.describe(folder)
    assert about["task"] == {"name": "copy"} and about["results"] == []
    assert about["parameters"] == small.model().n_parameters
    assert about["bytes"] == (folder / "model.safetensors").stat().st_size
    measured = [{"split": "test", "weights": "before rounding"}, {"split": "test"}]
    (folder / "results.json").write_text(json.dumps(measured))
    assert pretrained.describe(folder)["results"] == measured[1:]  # of the model as it is
    (folder / "model.safetensors").write_bytes(b"half")
    with pytest.raises(ValueError, match="does not hold a model of this book"):
        pretrained.describe(folder)


def test_spacy_is_imported_by_the_first_text_and_not_before(tmp_path):
    words = SpacyTokenizer("en")
    Translator(small.model(), words, words, small.VOCABULARY, small.VOCABULARY).save(tmp_path)
    code = """
import sys
from transformer_book.translator import Translator
translator = Translator.from_pretrained(sys.argv[1])
print("spacy" in sys.modules)
translator.translate("a b")
print("spacy" in sys.modules)
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_lazy_tokenizer_is_the_one_it_describes():
    eager, lazy = SpacyTokenizer("de"), LazyTokenizer(SpacyTokenizer("de").to_dict())
    tokens = eager("Ein Hund, bitte.")
    assert lazy("Ein Hund, bitte.") == tokens
    assert lazy.detokenize(tokens) == eager.detokenize(tokens)
    assert lazy.to_dict() == eager.to_dict()


# --- what is translated ---------------------------------------------------------------------------


def test_a_text_is_read_as_it_was_in_training():
    assert small.translator().encode("a b") == Encoded([4, 5, EOS], (), (), None)
    assert small.translator(source_sos=True).encode("a b").ids == [SOS, 4, 5, EOS]


def test_a_text_is_split_into_tokens_once(monkeypatch):
    one, split = small.translator(), []
    inherited = one.source_tokenizer
    one.source_tokenizer = type(
        "Counted",
        (),
        {"__call__": lambda self, text: split.append(text) or inherited(text)}
        | {"to_dict": lambda self: inherited.to_dict()},
    )()
    assert one.encode("a zzz").rare == ("zzz",) and split == ["a zzz"]


def test_unknown_words_are_named_once():
    encoded = small.translator().encode("z a <eos> z b <unk>")
    assert encoded.ids == [UNK, 4, UNK, UNK, 5, UNK, EOS]
    assert encoded.unknown == encoded.rare == ("z", "<eos>", "<unk>")
    (found,) = small.translator().search(["z a"])
    assert found.unknown == ("z",) and found.source_tokens == ("<unk>", "a", "<eos>")


MET = KnownWords(frozenset({"ab", "c"}), frozenset({"d"}))


def test_a_model_of_subwords_names_the_words_that_training_hardly_met():
    translator = small.subword_translator(known_words=MET)
    assert translator.rare_words("ab, ba Ab ba") == ("ba", "Ab")
    texts = ["ab c", "ba ab c", "", "Z"]
    for options in ({}, {"beam_size": 2, "n_best": 2}, {"drawing": Drawing(), "n_best": 2}):
        found = translator.search(texts, **options)
        assert [one.rare for one in found] == [(), ("ba",), (), ("Z",)]
        assert all(o.rare == one.rare for one in found for o in one.alternatives)
    assert found[3].unknown == ("Z",)


def test_a_model_of_subwords_without_a_list_says_nothing_of_rare_words():
    translator = small.subword_translator()
    assert translator.rare_words("ab") is None
    found = translator.search(["ab", ""])
    assert [one.rare for one in found] == [None, ()]


def test_a_model_of_words_knows_exactly_those_of_its_vocabulary():
    assert small.translator().rare_words("z a <eos> z\u00ad b") == ("z", "<eos>")
    (found,) = small.translator().search(["z a"])
    assert found.rare == found.unknown == ("z",)
    known = small.translator().search(["a b"])[0]
    assert known.rare == ()


def test_one_text_gives_one_and_several_give_several():
    translator = small.translator()
    alone = translator.translate("a b c")
    assert isinstance(alone, str)
    assert translator.translate(["a b c"]) == [alone]
    assert translator.translate([]) == []
    assert translator.translate(("a b c", "e"))[0] == alone


def test_an_empty_text_stays_empty():
    translator = small.translator()
    assert translator.translate("") == translator.translate(" \n\t") == ""
    assert translator.translate(["", " "]) == ["", ""]
    found = translator.search(["", "a b", "  "])
    assert found[0] == found[2] == Translation("", (), (), (), 0.0, (), 0.0, True)
    assert found[1] == translator.search(["a b"])[0]
    with pytest.raises(ValueError, match="the text is empty"):
        translator.encode("")


@pytest.mark.parametrize("options", [{}, {"beam_size": 3}, {"keep_attention": True}])
@pytest.mark.parametrize("batch_size", [1, 2, 4, 100])
def test_results_come_in_the_order_of_the_texts(batch_size, options):
    translator = small.translator()
    texts = [*TEXTS, "", *TEXTS[::-1]]
    found = translator.search(texts, batch_size=batch_size, **options)
    for text, translation in zip(texts, found, strict=True):
        alone = translator.search([text], **options)[0]
        assert translation.tokens == alone.tokens and translation.text == alone.text
        assert translation.log_probability == pytest.approx(alone.log_probability, abs=1e-4)
        assert translation.source_tokens == (*text.split(), "<eos>")[: 99 if text else 0]
        if options.get("keep_attention") and text:
            torch.testing.assert_close(translation.attention, alone.attention)


def test_a_translation_tells_how_it_came_about():
    translator = small.translator()
    model = translator.model.eval()
    (found,) = translator.search(["a b c"], keep_attention=True, n_candidates=2, max_length=5)
    assert found.source_tokens == ("a", "b", "c", "<eos>")
    ids = [small.VOCABULARY.tokens.index(token) for token in found.tokens]
    with torch.no_grad():
        logits = model(torch.tensor([[4, 5, 6, EOS]]), torch.tensor([[SOS, *ids[:-1]]]))[0]
    logits[:, [0, SOS]] = -torch.inf
    p = logits.softmax(-1)
    expected = [p[t, token].item() for t, token in enumerate(ids)]
    assert found.probabilities == pytest.approx(expected, rel=1e-4)
    assert found.log_probability == pytest.approx(sum(map(math.log, expected)), rel=1e-4)
    assert found.score == pytest.approx(found.log_probability)
    assert found.finished == (ids[-1] == EOS)
    assert found.attention.shape == (1, 2, len(ids), 4)
    assert found.text == " ".join(token for token in found.tokens if token != "<eos>")
    assert len(found.candidates) == len(ids)
    for step, token, probability in zip(
        found.candidates, found.tokens, found.probabilities, strict=True
    ):
        assert step[0] == (token, pytest.approx(probability)) and len(step) == 2
    assert found.alternatives == ()
    (plain,) = translator.search(["a b c"], max_length=5)
    assert plain.attention is None and plain.candidates is None
    assert (plain.text, plain.tokens) == (found.text, found.tokens)


# --- how it is searched ---------------------------------------------------------------------------


def ids_of(translation: Translation) -> list[int]:
    return [small.VOCABULARY.tokens.index(token) for token in translation.tokens]


def test_the_recipe_decides_how_to_search_unless_it_is_told_otherwise():
    translator = small.translator(decoding=DecodingConfig(4, 1.0, 6))
    source = torch.tensor([[4, 5, 6, EOS]])
    (found,) = translator.search(["a b c"])
    ((best,),) = beam_search(translator.model, source, 4, length_penalty=1.0, max_length=6)
    assert (ids_of(found), found.score) == (best.tokens, pytest.approx(best.score))
    (found,) = translator.search(["a b c"], beam_size=2, length_penalty=0.0, max_length=3)
    ((best,),) = beam_search(translator.model, source, 2, length_penalty=0.0, max_length=3)
    assert (ids_of(found), found.score) == (best.tokens, pytest.approx(best.score))
    (found,) = translator.search(["a b c"], beam_size=1)
    assert ids_of(found) == greedy_search(translator.model, source, max_length=6)[0].tokens


def test_n_best():
    translator = small.translator()
    found = translator.search(TEXTS, beam_size=4, n_best=3, length_penalty=0.6)
    for text, best in zip(TEXTS, found, strict=True):
        all_three = [best, *best.alternatives]
        assert len(all_three) == 3
        assert len({one.tokens for one in all_three}) == 3
        assert [one.score for one in all_three] == sorted(
            (one.score for one in all_three), reverse=True
        )
        assert all(one.source_tokens == (*text.split(), "<eos>") for one in all_three)
        assert best.tokens == translator.search([text], beam_size=4, length_penalty=0.6)[0].tokens


def test_sampling():
    translator = small.translator(decoding=DecodingConfig(beam_size=4))
    options = {"drawing": Drawing(1.5), "max_length": 5}
    one = translator.search(TEXTS, seed=1, **options)
    assert one == translator.search(TEXTS, seed=1, **options)
    assert one != translator.search(TEXTS, seed=2, **options)
    state = torch.get_rng_state()
    found = translator.search(["a b", "c"], n_best=20, **options)
    assert torch.equal(torch.get_rng_state(), state)
    for source, best in zip(("a b", "c"), found, strict=True):
        draws = {one.tokens for one in (best, *best.alternatives)}
        assert len(best.alternatives) == 19 and len(draws) > 5
        assert all(one.source_tokens[:-1] == tuple(source.split()) for one in best.alternatives)
    greedy = translator.search(TEXTS, beam_size=1)
    likeliest = translator.search(TEXTS, drawing=Drawing(top_k=1))
    assert [one.tokens for one in likeliest] == [g.tokens for g in greedy]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, "beam_size is 0"),
        ({"length_penalty": -1.0}, "length_penalty is -1.0"),
        ({"max_length": 0}, "max_length is 0"),
        ({"max_length": 10}, "max_length is 10, but"),
        ({"n_best": 0}, "n_best is 0"),
        ({"n_best": 2}, "n_best is 2, but a beam of 1"),
        ({"drawing": Drawing(top_k=99)}, "top_k is 99"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"n_candidates": -1}, "n_candidates is -1"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        small.translator().search(["a b"], **options)


def test_a_text_that_is_too_long_is_named():
    translator = small.translator()
    limit = "has 11 tokens, special tokens included, but this model reads at most 10"
    assert len(translator.search([" ".join("a" * 9)])[0].source_tokens) == 10
    with pytest.raises(ValueError, match=f"^The text {limit}"):
        translator.translate(" ".join("a" * 10))
    with pytest.raises(ValueError, match=f"^Text 2: The text {limit}"):
        translator.translate(["", "a", " ".join("a" * 10)])


def test_one_string_is_not_a_list_of_letters():
    with pytest.raises(ValueError, match="texts is a string: pass a list"):
        small.translator().search("a b")


def test_the_weights_on_disk_are_plain(folder):
    tensors, metadata = load_tensors(folder / "model.safetensors")
    assert tensors.keys() == weights_of(small.model()).keys() and metadata == {}


# --- what cannot be seen, and what is no expression -----------------------------------------------


@pytest.mark.parametrize(
    "text", ["a\u00a0b", "\ufeffa b", "a\tb", "a\x00b", "a\u00ad b\u200b", " a  b "]
)
def test_what_looks_the_same_is_read_the_same(text):
    translator = Translator.from_pretrained("captions-de-en")
    one, other = (f"Ein {t} Hund." for t in ("a b", text))
    assert translator.encode(other) == translator.encode(one)
    subwords = SubwordTokenizer("Einabug.▁", [])
    small_one = small.translator()
    small_one.source_tokenizer = subwords
    assert small_one.encode(text) == small_one.encode("a b")


def test_what_cannot_be_seen_is_an_empty_text():
    assert small.translator().translate(["\u200b", "\ufeff \u00ad", "\x00"]) == ["", "", ""]


OUTSIDE = ["exp(exp(x))", "sin(a)", "tan(1/x)"]  # they can be read, and have no series at 0


@pytest.mark.parametrize(
    "text", ["exp(a*x", "+", "sin(a*x)+", "O(x**6)", "1/0", "sqrt(x)", *OUTSIDE]
)
def test_series_refuses_what_is_no_expression(text):
    with pytest.raises(ValueError, match="the grammar has"):
        Translator.from_pretrained("series").translate(text)


# --- as a writer would set it ---------------------------------------------------------------------

WRITTEN = {
    "multi30k-de-en": {
        "Zwei Hunde spielen im Schnee.": "Two dogs play in the snow.",
        "Eine Frau, die einen roten Hut trägt, liest ein Buch.": "A woman wearing a red hat is "
        "reading a book.",
        "Ein Mann trägt ein Hemd mit der Aufschrift „Love“.": "A man is wearing a shirt that says "
        '"Love".',
    },
    "multi30k-en-de": {
        "Two dogs are playing in the snow.": "Zwei Hunde spielen im Schnee.",
        'A man holds a sign that says "Welcome".': "Ein Mann hält ein Schild mit der Aufschrift "
        "„Welcome“.",
        "A boy in a blue T-shirt climbs a tree.": "Ein Junge in einem blauen T-Shirt klettert "
        "einen Baum hinauf.",
    },
}


@pytest.mark.parametrize("name", WRITTEN)
def test_translations_of_real_sentences_are_set_as_a_writer_sets_them(name):
    """Capitals, sentence ends, quotation marks and spaces, byte for byte."""
    written = Translator.from_pretrained(name).translate(list(WRITTEN[name]))
    assert written == list(WRITTEN[name].values())
