"""Tokenizers lose nothing they promise to keep; the vocabulary numbers, counts and refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from transformer_book.tokens import (
    EOS,
    LONGEST_WORD,
    PAD,
    SOS,
    SPECIALS,
    UNK,
    MathTokenizer,
    SpaceTokenizer,
    SpacyTokenizer,
    SubwordTokenizer,
    Tokenizer,
    Vocabulary,
    read_lines,
    tokenizer_from_dict,
)

SENTENCES = {
    "de": [
        "Zwei Männer stehen am Herd, und eine Frau liest „Faust“.",
        "Ein Hund schläft (tief und fest) auf dem Sofa; die Katze nicht!",
        "Das 10-jährige Mädchen im T-Shirt fährt mit der U-Bahn nach Köln.",
        "Der Ein- und Ausgang ist links – sagt der Junge.",
        "Hans' Haus und/oder Garten kosten 3,50 € oder 5 %.",
        '"Wo ist er?", fragt sie. "Hier", sagt er.',
        "Wie geht's Dr. Müller um 16:30 Uhr?",
        "Er ruft »nein« und sie lacht.",
    ],
    "en": [
        "Two men are cooking, and a woman reads.",
        "Don't you think it's John's well-known cat? I can't say, I cannot see.",
        "We'll see (maybe) what they're doing; I'd've gone, he hasn't.",
        "The boys' hats cost $5, 50% off, at McDonald's #1 and/or elsewhere.",
        'A man in a T-shirt holds a sign that says "Come on now."',
        "He said 'hello' to the mother-in-law, then “goodbye”.",
        "They’re here, it doesn’t matter, that’s Anna’s [small] dog...",
        "At 3:30 p.m. Mr. Smith plays rock 'n' roll; you gotta see it!",
    ],
    "it": [
        "L'uomo beve l'acqua dell'altra donna, c'è un'amica.",
        "Un po' di pane e un po' d'acqua all'ora di cena.",
        "L’amico nell’acqua dice «ciao» e poi «addio».",
        "Dov'è il gatto bianco-nero? Perché non c'è (più)?",
        'Il ragazzo d\'Italia grida: "Com\'è bello!" e/o "Quest\'anno no!"',
        "Negli anni '90 il 50% degli uomini aveva 3,50 € in tasca.",
        "Sant'Antonio gliel'ho detto... va' via!",
    ],
}

# Written for this test; enough of both languages for merges to form.
CORPUS = [
    "Ein kleiner Hund läuft durch den grünen Garten und bellt die Katze an.",
    "Eine Frau mit einem roten Hut liest in einem Garten ein altes Buch.",
    "Zwei Kinder spielen mit einem Hund, während die Frau den Garten gießt.",
    "A small dog runs through the green garden and barks at the cat.",
    "A woman with a red hat is reading an old book in a garden.",
    "Two children play with a dog while the woman waters the garden.",
    "The dog's garden isn't small; the woman's hat is red, isn't it?",
] * 3

LANGUAGES = SpacyTokenizer.LANGUAGES
WORDS = {language: SpacyTokenizer(language) for language in LANGUAGES}
SUBWORDS = SubwordTokenizer.train(CORPUS, 160)

# Any text but lone surrogates, which no UTF-8 file can hold.
awkward = st.text(
    st.sampled_from("aäe\u0301ß ’'\"-«»„“()…,.\u00a0\u200d\u202e\t\n▁👩🏽🚀한́ﬁ<>1²٣")
    | st.characters(exclude_categories=["Cs"]),
    max_size=40,
)


def python(code: str, **environment: str) -> str:
    """What a new process prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout


def bare(text: str) -> str:
    return "".join(text.split())


# --- importing ------------------------------------------------------------------------------------


def test_importing_is_light():
    code = """
import sys
from transformer_book.tokens import MathTokenizer, SubwordTokenizer, Vocabulary
MathTokenizer()("1+x")
SubwordTokenizer("ab", ["a b"])("ab")
print([m for m in ("torch", "spacy", "tokenizers", "numpy") if m in sys.modules])
"""
    assert python(code).strip() == "[]"


# --- spaCy ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "sentence"), [(lang, s) for lang, texts in SENTENCES.items() for s in texts]
)
def test_ordinary_sentences_come_back(language, sentence):
    tokenizer = WORDS[language]
    tokens = tokenizer(sentence)
    assert len(tokens) > len(sentence.split())
    assert tokenizer.detokenize(tokens) == sentence


def test_tokens_of_each_language():
    assert WORDS["en"]("Don't!") == ["Do", "n't", "!"]
    assert WORDS["it"]("l'uomo") == ["l'", "uomo"]
    assert WORDS["de"]("U-Bahn, bitte.") == ["U-Bahn", ",", "bitte", "."]


def test_lowercase_follows_the_splitting():
    # spaCy knows the abbreviation "U.S." by its capitals.
    assert SpacyTokenizer("en", lowercase=True)("the U.S. now") == ["the", "u.s.", "now"]
    assert SpacyTokenizer("de", lowercase=True)("Straße ÄRGER") == ["straße", "ärger"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_read_from_nothing(language):
    assert WORDS[language]("") == WORDS[language](" \t\n ") == []
    assert WORDS[language].detokenize([]) == ""


def test_composed_and_decomposed_letters_are_one_token():
    assert WORDS["it"]("perche\u0301") == WORDS["it"]("perché") == ["perché"]


def test_a_line_without_spaces_takes_no_hours(monkeypatch):
    """The time that spaCy takes grows with the square of what stands between two spaces."""
    tokenizer, seen = SpacyTokenizer("de"), []
    split = tokenizer._split
    monkeypatch.setattr(tokenizer, "_split", lambda text: seen.append(text) or split(text))
    assert tokenizer("!" * 5000) == ["!"] * 5000
    assert max(map(len, seen[0].split())) <= 256
    assert tokenizer("a" * 256) == ["a" * 256]


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=awkward)
def test_every_visible_character_survives(language, text):
    tokenizer = WORDS[language]
    tokens = tokenizer(text)
    assert all(token.strip() for token in tokens)
    assert bare("".join(tokens)) == bare(unicodedata.normalize("NFC", text))
    assert bare(tokenizer.detokenize(tokens)) == bare("".join(tokens))


# --- mathematics ----------------------------------------------------------------------------------

letters = st.sampled_from("abcdfghx")
numbers = st.integers(0, 12345).map(str)
expressions = st.recursive(
    letters | numbers,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**", ","]), inner).map("".join),
        st.tuples(st.sampled_from(MathTokenizer.FUNCTIONS), inner).map("{0[0]}({0[1]})".format),
        inner.map("-({})".format),
    ),
    max_leaves=12,
)


def test_tokens_of_an_expression():
    tokens = MathTokenizer()("exp(3*a*x)**12/b")
    assert tokens == ["exp", "(", "3", "*", "a", "*", "x", ")", "**", "1", "2", "/", "b"]
    series = MathTokenizer()("1 + a**2*x**2/2 + O( x ** 6 )")
    assert series == ["1", "+", *MathTokenizer()("a**2*x**2/2+"), "O(x**6)"]
    assert MathTokenizer()("cosh(x)*cos(x)*c")[::4] == ["cosh", "*", ")"]
    assert MathTokenizer()("sin (x)") == ["sin", "(", "x", ")"]
    assert MathTokenizer()(" ") == []


@given(text=expressions, order=st.booleans())
def test_expressions_come_back(text, order):
    tokenizer = MathTokenizer()
    text += "+O(x**6)" if order else ""
    assert tokenizer.detokenize(tokenizer(text)) == text
    spaced = " ".join(tokenizer(text)) if not any(c.isdigit() for c in text) else text
    assert tokenizer(spaced) == tokenizer(text)


@given(text=awkward)
def test_anything_is_tokenized_exactly_or_refused(text):
    tokenizer = MathTokenizer()
    try:
        tokens = tokenizer(text)
    except ValueError:
        return
    assert tokenizer(tokenizer.detokenize(tokens)) == tokens


@pytest.mark.parametrize(
    ("text", "piece", "position"),
    [
        ("1+arctan(x)", "arctan", 2),
        ("x^2", "^", 1),
        ("a−b", "−", 1),
        ("0.5*x", ".", 1),
        ("O(y**2)", "O", 0),
        ("x+A", "A", 2),
        ("²", "²", 0),
        ("٣", "٣", 0),
        ("a*🙂", "🙂", 2),
        ("2x", "x", 1),
        ("1 2", "2", 2),
        ("sin x", "x", 4),
        ("xO(x**6)", "xO", 0),
        ("ﬁ", "ﬁ", 0),
        ("a * * b", "*", 4),
        ("a* **b", "**", 3),
        ("(a)(b)", "(", 3),
        ("(a)b", "b", 3),
        ("a(b)", "(", 1),
        ("sin(x)O(x**6)", "O(x**6)", 6),
    ],
)
def test_what_is_not_in_the_grammar(unhooked, text, piece, position):
    with pytest.raises(ValueError) as error:
        unhooked("transformer_book.tokens").MathTokenizer()(text)
    message = str(error.value)
    assert message.startswith(f"{piece!r} at position {position} ")
    assert "tanh" in message and "O(x**6)" in message


# --- white space ----------------------------------------------------------------------------------


def test_white_space_separates_tokens():
    tokenizer = SpaceTokenizer()
    assert tokenizer("  a b\t\nc, d ") == ["a", "b", "c,", "d"]
    assert tokenizer("") == tokenizer(" \n") == []
    assert tokenizer.detokenize(["a", "b", "c,"]) == "a b c,"


@given(tokens=st.lists(st.text(min_size=1, max_size=5).filter(lambda text: text.split() == [text])))
def test_tokens_without_white_space_come_back(tokens):
    tokenizer = SpaceTokenizer()
    assert tokenizer(tokenizer.detokenize(tokens)) == tokens


# --- subwords -------------------------------------------------------------------------------------


def test_frequent_words_are_whole_and_rare_ones_in_pieces():
    pieces = ["▁the", "▁garden", "▁is", "▁garden", "l", "es", "s", "."]
    assert SUBWORDS("the garden is gardenless.") == pieces
    assert len(Vocabulary(SUBWORDS.pieces)) == 160


@given(text=awkward.filter(lambda text: "▁" not in text))
def test_subwords_lose_nothing(text):
    text = unicodedata.normalize("NFC", text)
    assert SUBWORDS.detokenize(SUBWORDS(text)) == text


@given(text=st.text(st.sampled_from(SUBWORDS.alphabet.replace("▁", " ")), max_size=40))
def test_the_alphabet_has_no_unknown_pieces(text):
    assert UNK not in Vocabulary(SUBWORDS.pieces).encode(SUBWORDS(text))


def test_an_unknown_character_is_one_unknown_piece():
    pieces = SUBWORDS("garden🙂garden")
    assert pieces.count("🙂") == 1
    assert Vocabulary(SUBWORDS.pieces).encode(pieces).count(UNK) == 1


@given(words=st.lists(st.sampled_from(" ".join(CORPUS).split()), min_size=1, max_size=3))
def test_merging_agrees_with_the_library(words):
    from tokenizers import Tokenizer as Library
    from tokenizers.models import BPE

    ids = {piece: i for i, piece in enumerate(SUBWORDS.pieces)}
    library = Library(BPE(ids, [tuple(merge.split(" ")) for merge in SUBWORDS.merges]))
    word = "▁" + "".join(word.strip(",.;?'") for word in words)
    assert SUBWORDS._merge(word) == library.encode(word).tokens


def test_training_is_deterministic():
    code = f"""
from transformer_book.tokens import SubwordTokenizer
print(SubwordTokenizer.train({CORPUS!r}, 160).to_dict())
"""
    for seed, parallel in (("1", "true"), ("2", "false")):
        printed = python(code, PYTHONHASHSEED=seed, TOKENIZERS_PARALLELISM=parallel)
        assert printed.strip() == str(SUBWORDS.to_dict())


def test_a_word_that_is_a_file_by_mistake_takes_no_hours():
    word = "abc" * 100_000  # merging takes time squared, so it is cut
    pieces = SUBWORDS(word)
    assert "".join(pieces) == "▁" + word
    longest = [["▁" + word[: LONGEST_WORD - 1]], [word[LONGEST_WORD - 1 :][:LONGEST_WORD]]]
    some = [piece for part in longest for piece in SUBWORDS._merge(*part)]
    assert pieces[: len(some)] == some


def test_dropout_varies_the_pieces_and_keeps_the_text():
    tokenizer = SubwordTokenizer(SUBWORDS.alphabet, SUBWORDS.merges, dropout=0.3)
    text = CORPUS[0]
    spellings = {tuple(tokenizer(text)) for _ in range(20)}
    assert len(spellings) > 10
    assert {tokenizer.detokenize(spelling) for spelling in spellings} == {text}
    tokenizer.rng.seed(5)
    first = tokenizer(text)
    tokenizer.rng.seed(5)
    assert tokenizer(text) == first
    tokenizer.dropout = 0.0
    assert tokenizer(text) == SUBWORDS(text)


def test_a_saved_tokenizer_has_no_dropout(tmp_path):
    tokenizer = SubwordTokenizer(SUBWORDS.alphabet, SUBWORDS.merges, dropout=0.3)
    tokenizer.save(tmp_path / "subwords.json")
    loaded = SubwordTokenizer.load(tmp_path / "subwords.json")
    assert loaded.dropout == tokenizer_from_dict(tokenizer.to_dict()).dropout == 0
    assert loaded(CORPUS[0]) == SUBWORDS(CORPUS[0])


def test_lowercase_subwords():
    tokenizer = SubwordTokenizer.train(CORPUS, 100, lowercase=True)
    assert tokenizer.detokenize(tokenizer("The Garden")) == "the garden"
    assert tokenizer.pieces == [piece.lower() for piece in tokenizer.pieces]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t.SubwordTokenizer.train([], 100), "no text"),
        (lambda t: t.SubwordTokenizer.train(["", ""], 100), "no text"),
        (lambda t: t.SubwordTokenizer.train(["abc"], 7), "vocab_size is 7, .* at least 8"),
        (lambda t: t.SubwordTokenizer.train("hello hello", 30), "'hello hello': pass a list of"),
        (lambda t: t.SubwordTokenizer.train(["a"], 9, min_frequency=-1), "min_frequency is -1"),
        (lambda t: t.SubwordTokenizer("ab", ["a c"]), "merge 0 is 'a c'"),
        (lambda t: t.SubwordTokenizer("ab", [], dropout=1.0), "dropout is 1.0"),
        (lambda t: t.SpacyTokenizer("fr"), "language is 'fr', but it must be one of de, en, it"),
        (
            lambda t: t.tokenizer_from_dict({"type": "words"}),
            "'words', .* spacy, math, subword, space",
        ),
        (lambda t: t.tokenizer_from_dict({}), "tokenizer type is None"),
        (lambda t: t.tokenizer_from_dict(None), "None does not describe a tokenizer"),
        (lambda t: t.tokenizer_from_dict({"type": []}), r"tokenizer type is \[\]"),
        (lambda t: t.tokenizer_from_dict({"type": "math", "x": 1}), "options of a 'math'"),
        (lambda t: t.tokenizer_from_dict({"type": "spacy"}), "options of a 'spacy'"),
        (lambda t: t.tokenizer_from_dict({"type": "space", "x": 1}), "options of a 'space'"),
        (
            lambda t: t.tokenizer_from_dict({"type": "subword", "alphabet": "a", "merges": [1]}),
            "options of a 'subword'",
        ),
    ],
)
def test_bad_tokenizers(unhooked, make, message):
    with pytest.raises(ValueError, match=message):
        make(unhooked("transformer_book.tokens"))


# --- recording a tokenizer ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tokenizer",
    [
        *WORDS.values(),
        SpacyTokenizer("de", lowercase=True),
        MathTokenizer(),
        SpaceTokenizer(),
        SUBWORDS,
    ],
    ids=lambda tokenizer: str(tokenizer.to_dict())[:50],
)
def test_a_tokenizer_comes_back_from_its_record(tokenizer):
    assert isinstance(tokenizer, Tokenizer)
    record = json.loads(json.dumps(tokenizer.to_dict()))
    copy = tokenizer_from_dict(record)
    assert type(copy) is type(tokenizer)
    assert copy.to_dict() == tokenizer.to_dict()
    text = "sin(x)" if isinstance(tokenizer, MathTokenizer) else "Der Garten is GREEN."
    assert copy(text) == tokenizer(text)


def test_subwords_are_saved_and_loaded(tmp_path, unhooked):
    path = tmp_path / "subwords.json"
    SUBWORDS.save(path)
    assert SubwordTokenizer.load(path).to_dict() == SUBWORDS.to_dict()
    path.write_text('{"type": "math"}')
    with pytest.raises(ValueError, match=r"subwords\.json is not a subword tokenizer"):
        unhooked("transformer_book.tokens").SubwordTokenizer.load(path)


# --- vocabulary -----------------------------------------------------------------------------------

token_lists = st.lists(st.lists(st.text(min_size=1, max_size=3), max_size=6), max_size=6)


def test_the_most_frequent_come_first_and_equals_by_spelling():
    vocabulary = Vocabulary.build([["b", "c", "a"], ["c", "a", "ä"], ["c"]])
    assert vocabulary.tokens == [*SPECIALS, "c", "a", "b", "ä"]
    assert vocabulary.counts == {"c": 3, "a": 2, "b": 1, "ä": 1}
    assert len(vocabulary) == 8
    assert (PAD, SOS, EOS, UNK) == (0, 1, 2, 3)
    assert "ä" in vocabulary and "z" not in vocabulary


def test_rare_tokens_become_unknown():
    lists = [["b", "c", "a"], ["c", "a", "d"], ["c"]]
    assert Vocabulary.build(lists, min_frequency=2).tokens[4:] == ["c", "a"]
    assert Vocabulary.build(lists, max_size=5).tokens[4:] == ["c"]
    assert Vocabulary.build(lists, min_frequency=2, max_size=5).encode(["c", "a", "?"]) == [4, 3, 3]


def test_where_special_tokens_go():
    vocabulary = Vocabulary(["a", "b"])
    assert vocabulary.encode(["a", "b"]) == [4, 5]
    assert vocabulary.encode_source(["a", "b"]) == [4, 5, EOS]
    assert vocabulary.encode_source(["a", "b"], sos=True) == [SOS, 4, 5, EOS]
    assert vocabulary.encode_target(["a", "b"]) == [SOS, 4, 5, EOS]
    assert vocabulary.encode_target([]) == [SOS, EOS]
    assert vocabulary.decode([SOS, 4, UNK, EOS, 5, PAD]) == ["a", "<unk>"]
    kept = vocabulary.decode([SOS, 4, EOS, 5, PAD], keep_specials=True)
    assert kept == ["<sos>", "a", "<eos>", "b", "<pad>"]


def test_the_letters_of_a_special_token_mean_nothing_special():
    vocabulary = Vocabulary.build([["<eos>", "a", "<pad>", "<eos>"]])
    assert vocabulary.tokens == [*SPECIALS, "a"]
    assert vocabulary.encode(["<eos>", "a", "<pad>", "<sos>"]) == [UNK, 4, UNK, UNK]


def test_decode_reads_a_tensor():
    assert Vocabulary(["a", "b"]).decode(torch.tensor([1, 5, 4, 2, 0])) == ["b", "a"]


@given(lists=token_lists, text=st.lists(st.text(min_size=1, max_size=3)))
def test_encoding_and_decoding(lists, text):
    assume(any(set(tokens) - set(SPECIALS) for tokens in lists))
    vocabulary = Vocabulary.build(lists)
    assert Vocabulary.build(reversed(lists)).tokens == vocabulary.tokens
    for tokens in lists:
        known = [token for token in tokens if token not in SPECIALS]
        assert vocabulary.decode(vocabulary.encode(known)) == known
        assert vocabulary.decode(vocabulary.encode_target(known)) == known
    ids = vocabulary.encode(text)
    assert len(ids) == len(text) and all(UNK <= i < len(vocabulary) for i in ids)


@given(tokens=st.lists(awkward, unique=True).filter(lambda ts: not set(ts) & set(SPECIALS)))
def test_saving_and_loading(tmp_path_factory, tokens):
    path = tmp_path_factory.mktemp("vocabulary") / "v.json"
    vocabulary = Vocabulary(tokens, {token: i for i, token in enumerate(tokens)})
    vocabulary.save(path)
    loaded = Vocabulary.load(path)
    assert loaded.tokens == vocabulary.tokens and loaded.counts == vocabulary.counts
    assert os.listdir(path.parent) == ["v.json"]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "v.json"
    Vocabulary(["old"]).save(path)

    def full(descriptor: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        Vocabulary(["new"]).save(path)
    assert Vocabulary.load(path).tokens[4:] == ["old"]
    assert os.listdir(tmp_path) == ["v.json"]


def test_saving_through_a_link_keeps_the_link(tmp_path):
    target, link = tmp_path / "folder" / "v.json", tmp_path / "link.json"
    target.parent.mkdir()
    Vocabulary(["old"]).save(target)
    link.symlink_to(target)
    Vocabulary(["new"]).save(link)
    assert link.is_symlink()
    assert Vocabulary.load(target).tokens[4:] == ["new"]
    assert os.listdir(target.parent) == ["v.json"]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda V: V.build([]), "corpus is empty"),
        (lambda V: V.build([[], []]), "corpus is empty"),
        (lambda V: V.build(["a b"]), r"token_lists\[0\] is the string 'a b': split it"),
        (lambda V: V.build([["a", 1]]), "1 is not a token"),
        (lambda V: V.build([["a"]], min_frequency=0), "min_frequency is 0"),
        (lambda V: V.build([["a"]], min_frequency=-1), "min_frequency is -1"),
        (lambda V: V.build([["a"]], min_frequency=2), "no token occurs 2 times .*one 1 times"),
        (lambda V: V.build([["a"]], max_size=4), "max_size is 4, .* at least 5"),
        (lambda V: V(["a", "b", "a"]), "'a' would have the ids 4 and 6"),
        (lambda V: V(["<eos>"]), "'<eos>' would have the ids 2 and 4"),
        (lambda V: V([7]), "7 is not a token"),
        (lambda V: V("abc"), "tokens is the string 'abc'"),
        (lambda V: V(["a"], {"a": "1"}), "count of 'a' is '1'"),
        (lambda V: V(["a"]).encode("a"), "tokens is the string 'a'"),
        (lambda V: V(["a"]).encode([4]), "4 is not a token"),
        (lambda V: V(["a"]).decode([5]), "id 5 is outside the vocabulary.* from 0 to 4"),
        (lambda V: V(["a"]).decode([-1]), "id -1 is outside"),
        (lambda V: V(["a"]).decode([4.0]), "whole numbers of one sentence, but 'float'"),
        (lambda V: V(["a"]).decode([[4]]), "whole numbers of one sentence, but 'list'"),
        (lambda V: V(["a"]).decode(torch.tensor([[4]])), "but this tensor has 2 axes"),
        (lambda V: V(["a"]).decode(torch.tensor(4)), "but this tensor has 0 axes"),
    ],
)
def test_bad_vocabularies(unhooked, use, message):
    with pytest.raises(ValueError, match=message):
        use(unhooked("transformer_book.tokens").Vocabulary)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"3",
        b'{"specials": ["<pad>"], "tokens": [], "counts": {}}',
        b'{"specials": ["<pad>", "<sos>", "<eos>", "<unk>"], "tokens": "abc", "counts": {}}',
        b'{"specials": ["<pad>", "<sos>", "<eos>", "<unk>"], "tokens": ["a", "a"], "counts": {}}',
        b'{"specials": ["<pad>", "<sos>", "<eos>", "<unk>"], "tokens": ["a"], "counts": {"a": ""}}',
        b'{"specials": ["<pad>", "<sos>", "<eos>", "<unk>"], "tokens": ["a"], "counts": "a"}',
        b'{"specials": ["<pad>", "<sos>", "<eos>", "<unk>"], "tokens": ["a"',
        pytest.param(b"[" * 200_000, id="nested"),
    ],
)
def test_a_file_that_is_no_vocabulary(unhooked, tmp_path, content):
    path = tmp_path / "v.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"v\.json is not a"):
        unhooked("transformer_book.tokens").Vocabulary.load(path)


# --- lines ----------------------------------------------------------------------------------------


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes("\ufeffeins\r\nz\u2028wei\x0b\x85\n\ndrei".encode())
    assert read_lines(path) == ["eins", "z\u2028wei\x0b\x85", "", "drei"]
    path.write_bytes(b"one\ntwo\n")
    assert read_lines(path) == ["one", "two"]


def test_bad_lines(tmp_path, unhooked):
    read = unhooked("transformer_book.tokens").read_lines
    path = tmp_path / "lines.txt"
    path.write_bytes("gut\nauch gut\nschön\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"lines\.txt is not valid UTF-8: see line 3\."):
        read(path)
    for nothing in (b"", b"\xef\xbb\xbf"):  # the second is a byte order mark
        path.write_bytes(nothing)
        with pytest.raises(ValueError, match=r"lines\.txt is empty"):
            read(path)
