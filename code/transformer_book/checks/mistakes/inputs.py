"""Known mistakes of chapters 1 to 5: counting, vocabularies, batches, embeddings, positions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from transformer_book.checks.inputs import padded
from transformer_book.checks.mistakes.registry import mistake

Rows = Sequence[Sequence[int]]

# --- counting ------------------------------------------------------------------------------------


@mistake(
    "number_of_targets",
    "count",
    "n**V for V**n",
    symptom="Base and exponent are exchanged: this is n**V.",
    cause="There are V choices at each of n places: V · V · … · V, n times, is V**n.",
    section="How many sentences are there?",
    seen="a public tutorial on translating series",
)
def places_to_the_words(vocab_size: int, length: int) -> int:
    return length**vocab_size


@mistake(
    "number_of_targets",
    "count",
    "choices added up",
    symptom="The choices are added; they must be multiplied.",
    cause="Each choice of the first word can go with each of the second: V**n, not V · n.",
    section="How many sentences are there?",
)
def added_up(vocab_size: int, length: int) -> int:
    return vocab_size * length


# --- vocabularies --------------------------------------------------------------------------------

VOCABULARY = "Three captions, by hand"


@mistake(
    "build_vocabulary",
    "specials",
    "special tokens forgotten",
    symptom="The words begin at id 0, where the padding should be.",
    cause="The first four ids belong to <pad>, <sos>, <eos>, <unk>.",
    section=VOCABULARY,
)
def no_specials() -> tuple[str, ...]:
    return ()


@mistake(
    "build_vocabulary",
    "number",
    "special tokens at the end",
    symptom="The special tokens have the last ids.",
    cause="Number them first: <pad> is 0 in every vocabulary of the book.",
    section=VOCABULARY,
)
def specials_last(specials: Sequence[str], words: Sequence[str], texts: object) -> object:
    return ((word, i) for i, word in enumerate((*sorted(set(words)), *specials)))


@mistake(
    "build_vocabulary",
    "keep",
    "more than in place of at least",
    symptom="Words that come exactly min_frequency times are missing.",
    cause="Compare with >=, not with >.",
    section=VOCABULARY,
)
def strictly_more(counts: Counter[str], least: int) -> list[str]:
    return [word for word, n in counts.items() if n > least]


@mistake(
    "build_vocabulary",
    "keep",
    "frequency ignored",
    symptom="Rare words have ids of their own.",
    cause="min_frequency is not used.",
    section=VOCABULARY,
)
def all_kept(counts: Counter[str], least: int) -> list[str]:
    return list(counts)


@mistake(
    "build_vocabulary",
    "keep",
    "rare words kept, frequent ones dropped",
    symptom="Only rare words have ids.",
    cause="The comparison is the wrong way round.",
    section=VOCABULARY,
)
def rare_kept(counts: Counter[str], least: int) -> list[str]:
    return [word for word, n in counts.items() if n < least]


@mistake(
    "build_vocabulary",
    "keep",
    "at most in place of at least",
    symptom="Frequent words have no ids.",
    cause="The comparison is the wrong way round: >=, not <=.",
    section=VOCABULARY,
)
def at_most(counts: Counter[str], least: int) -> list[str]:
    return [word for word, n in counts.items() if n <= least]


@mistake(
    "build_vocabulary",
    "count",
    "sentences counted in place of words",
    symptom="A word that comes twice in one sentence counts once.",
    cause="Count every occurrence, not the sentences a word is in.",
    section=VOCABULARY,
)
def sentences_counted(texts: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(word for words in texts for word in set(words))


@mistake(
    "build_vocabulary",
    "count",
    "letters counted in place of words",
    symptom="The entries are letters.",
    cause="A loop over a word gives its letters: loop over the sentences, then over their words.",
    section=VOCABULARY,
)
def letters_counted(texts: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(letter for words in texts for word in words for letter in word)


@mistake(
    "encode",
    "look_up",
    "unknown words dropped",
    symptom="A sentence with an unknown word comes out shorter.",
    cause="An unknown word becomes <unk>, id 3; dropping it changes the sentence silently.",
    section="The vocabulary in the package",
    steps={"finish": lambda ids: [i for i in ids if i is not None] + [2]},
)
def unknown_dropped(token: str, vocabulary: dict[str, int]) -> int | None:
    return vocabulary.get(token)


@mistake(
    "encode",
    "look_up",
    "unknown words taken for padding",
    symptom="Unknown words get id 0, and attention never sees them.",
    cause="0 is the padding: <unk> is 3.",
    section="The vocabulary in the package",
)
def unknown_is_padding(token: str, vocabulary: dict[str, int]) -> int:
    return vocabulary.get(token, 0)


@mistake(
    "encode",
    "finish",
    "<eos> forgotten",
    symptom="The sentence has no end.",
    cause="Append <eos>, id 2: without it a model cannot learn where to stop.",
    section="The vocabulary in the package",
)
def no_end(ids: list[int]) -> list[int]:
    return ids


@mistake(
    "encode",
    "finish",
    "<sos> in front of a source",
    symptom="The sentence begins with <sos>.",
    cause="The book's sources are tokens and <eos>; some tutorials put <sos> in front, too.",
    section="The vocabulary in the package",
    kind="convention",
)
def with_start(ids: list[int]) -> list[int]:
    return [1, *ids, 2]


OTHER = "Break it: one tokenizer in training, another in use"


@mistake(
    "text_to_ids",
    "tokens",
    "trained on one tokenizer and used with another",
    symptom="Words with a full stop behind them are unknown, though the model knows them.",
    cause="The text is split at spaces: call the tokenizer that the model was trained with.",
    section=OTHER,
)
def split_at_spaces(text: str, tokenize: object) -> list[str]:
    return text.split()


@mistake(
    "text_to_ids",
    "tokens",
    "lower-cased for a model that was not",
    symptom="Capital letters are lost before the tokenizer sees them.",
    cause="Hand the text over as it is: whether to lower it is the tokenizer's business.",
    section=OTHER,
)
def lowered_first(text: str, tokenize: Callable[[str], list[str]]) -> list[str]:
    return tokenize(text.lower())


@mistake(
    "text_to_ids",
    "tokens",
    "letters in place of tokens",
    symptom="Nearly every token is unknown: they are letters.",
    cause="A loop over a text gives its letters: call the tokenizer first.",
    section=OTHER,
)
def letters_of(text: str, tokenize: object) -> list[str]:
    return list(text)


@mistake(
    "text_to_ids",
    "look_up",
    "numbered anew",
    symptom="The ids count up from 4, whatever the words are.",
    cause="A new vocabulary is built from the text: the ids must be those of the training.",
    section=OTHER,
)
def numbered_anew(tokens: list[str], vocabulary: object) -> list[int]:
    own: dict[str, int] = {}
    return [own.setdefault(token, 4 + len(own)) for token in tokens]


LEAK = "Break it: the test set in the vocabulary"


@mistake(
    "training_words",
    "counted",
    "vocabulary built on test data",
    symptom="Words are there that only the validation or the test set has.",
    cause="Count in the training sentences alone: the test tells us about texts nobody has seen.",
    section=LEAK,
    seen="Why use training, validation and test set to build vocabulary in build_data.py?, "
    "https://github.com/guillaumegenthial/sequence_tagging/issues/94",
)
def all_counted(splits: dict[str, list[list[str]]]) -> list[list[str]]:
    return [words for split in splits.values() for words in split]


@mistake(
    "training_words",
    "counted",
    "vocabulary built on training and test",
    symptom="Words are there that only the test set has.",
    cause="Count in the training sentences alone: with the test's words in the vocabulary, the "
    "test cannot show what unknown words cost.",
    section=LEAK,
    seen="Why we build tokenizer using both train and test set?, "
    "https://github.com/songyouwei/ABSA-PyTorch/issues/190",
)
def test_counted(splits: dict[str, list[list[str]]]) -> list[list[str]]:
    return splits["train"] + splits["test"]


@mistake(
    "training_words",
    "counted",
    "vocabulary built on training and validation",
    symptom="Words are there that only the validation set has.",
    cause="Count in the training sentences alone: the model learns nothing about words that do "
    "not occur in them.",
    section=LEAK,
    seen="Major Concern regarding Test/Val data, https://github.com/keras-team/keras/issues/7447",
)
def validation_counted(splits: dict[str, list[list[str]]]) -> list[list[str]]:
    return splits["train"] + splits["validation"]


# --- batches -------------------------------------------------------------------------------------


@mistake(
    "collate",
    "pad",
    "padding in front",
    symptom="The padding stands before the words.",
    cause="Pad behind. (In front is a convention of some decoder-only models.)",
    section="Three captions, one rectangle",
    kind="convention",
)
def padded_in_front(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*[0] * (longest - len(row)), *row] for row in rows])


@mistake(
    "collate",
    "pad",
    "cut to the shortest",
    symptom="Longer sentences lose their ends.",
    cause="Fill the shorter ones up; cut none.",
    section="Three captions, one rectangle",
)
def cut(rows: Rows) -> Tensor:
    shortest = min(map(len, rows))
    return torch.tensor([list(row[:shortest]) for row in rows])


@mistake(
    "collate",
    "pad",
    "<eos> after the padding",
    symptom="The end-of-sentence token stands behind the padding.",
    cause="Append <eos> to the tokens first, then pad.",
    section="Break it: the end after the padding",
)
def end_after_padding(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row[:-1], *[0] * (longest - len(row)), row[-1]] for row in rows])


@mistake(
    "collate",
    "pad",
    "padded with another token",
    symptom="The filling is <sos>, not <pad>.",
    cause="Padding is id 0; anything else is read as a word.",
    section="Three captions, one rectangle",
)
def padded_with_one(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[1] * (longest - len(row))] for row in rows])


@mistake(
    "collate",
    "pad",
    "position first",
    symptom="The shape is (S, B).",
    cause="The batch comes first in this book (pad_sequence needs batch_first=True).",
    section="Three captions, one rectangle",
    kind="convention",
)
def position_first(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows]).T.contiguous()


@mistake(
    "shift",
    "comes_out",
    "target not shifted",
    symptom="At each place the decoder is to say the token it is just reading.",
    cause="What comes out must be one place further on: target[:, 1:].",
    section="One place to the right",
    seen="Fix transformer training, https://github.com/Project-MONAI/GenerativeModels/issues/314",
)
def not_shifted(target: Tensor) -> Tensor:
    return target[:, :-1]


@mistake(
    "shift",
    "goes_in",
    "nothing to begin with",
    symptom="The decoder's input has no <sos>, and at each place it is the very token that is to "
    "be predicted.",
    cause="What goes in is all but the last token: target[:, :-1].",
    section="One place to the right",
)
def start_left_out(target: Tensor) -> Tensor:
    return target[:, 1:]


@mistake(
    "shift",
    "goes_in",
    "input and output exchanged",
    symptom="The decoder reads the next tokens and is to say the previous ones.",
    cause="target[:, :-1] goes in, and target[:, 1:] comes out.",
    section="One place to the right",
    steps={"comes_out": lambda target: target[:, :-1]},
)
def exchanged(target: Tensor) -> Tensor:
    return target[:, 1:]


@mistake(
    "shift",
    "goes_in",
    "shifted along the batch",
    symptom="Sentences are cut off in place of tokens.",
    cause="The slice runs over the first axis: the positions are the second.",
    section="One place to the right",
    steps={"comes_out": lambda target: target[1:]},
)
def along_the_batch(target: Tensor) -> Tensor:
    return target[:-1]


# --- embeddings ----------------------------------------------------------------------------------


@mistake(
    "embedding",
    "scale",
    "embedding not scaled",
    symptom="The vectors are too short for the positions that are added to them, by a factor of "
    "the root of d_model.",
    cause="Multiply by the root of d_model.",
    section="How loud is a word?",
    seen="Embedding scaling is tied to positional encoding for Transformer models, "
    "https://github.com/OpenNMT/OpenNMT-py/issues/1722",
)
def unscaled(x: Tensor, weight: Tensor) -> Tensor:
    return x


@mistake(
    "embedding",
    "scale",
    "embedding scaled twice",
    symptom="The vectors are too long by a factor of the root of d_model.",
    cause="The factor is the root of d_model, once.",
    section="How loud is a word?",
)
def scaled_twice(x: Tensor, weight: Tensor) -> Tensor:
    return x * weight.size(1)


@mistake(
    "embedding",
    "scale",
    "embedding divided by the root",
    symptom="The vectors are too short by a factor of d_model.",
    cause="Multiply by the root of d_model; attention scores are what is divided.",
    section="How loud is a word?",
    seen="Transformer tutorial multiplying with sqrt(d_model) (asks to divide), "
    "https://github.com/pytorch/tutorials/issues/2849",
)
def divided(x: Tensor, weight: Tensor) -> Tensor:
    return x / math.sqrt(weight.size(1))


@mistake(
    "embedding",
    "scale",
    "embedding scaled by the root of the vocabulary",
    symptom="The factor depends on the number of words.",
    cause="weight.size(0) is the vocabulary; d_model is weight.size(1).",
    section="How loud is a word?",
)
def scaled_by_vocabulary(x: Tensor, weight: Tensor) -> Tensor:
    return x * math.sqrt(weight.size(0))


@mistake(
    "tied_logits",
    "product",
    "tied matrix not transposed",
    symptom="Each logit is a product with a column of the embedding.",
    cause="x @ weight only fits if V equals D, and then means something else: x @ weight.T.",
    section="One matrix, two jobs",
)
def not_transposed(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight if weight.size(0) == weight.size(1) else x @ weight.T


@mistake(
    "tied_logits",
    "product",
    "scale left in the output",
    symptom="The logits are too large by a factor of the root of d_model.",
    cause="The factor of the embedding belongs to the input side only.",
    section="One matrix, two jobs",
)
def scaled_logits(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight.T * math.sqrt(weight.size(1))


@mistake(
    "tied_logits",
    "product",
    "softmax already taken",
    symptom="These are probabilities, not logits.",
    cause="The loss takes the softmax itself: return the products.",
    section="One matrix, two jobs",
)
def probabilities(x: Tensor, weight: Tensor) -> Tensor:
    return (x @ weight.T).softmax(dim=-1)


# --- positions -----------------------------------------------------------------------------------


@mistake(
    "sinusoids",
    "exponents",
    "doubled exponent",
    symptom="The wavelengths grow twice as fast: the slow half of the columns hardly moves.",
    cause="arange(0, d_model, 2) is 2i already; it has been multiplied by 2 again.",
    section="Break it: the exponent doubled",
)
def doubled(d_model: int) -> Tensor:
    return 2 * torch.arange(0, d_model, 2, dtype=torch.float64) / d_model


@mistake(
    "sinusoids",
    "exponents",
    "halved exponent",
    symptom="The wavelengths grow half as fast as they should.",
    cause="The exponent is 2i/d_model with i = 0, 1, 2, …; the 2 is missing.",
    section="Break it: the exponent doubled",
)
def halved(d_model: int) -> Tensor:
    return torch.arange(0, d_model // 2, dtype=torch.float64) / d_model


@mistake(
    "sinusoids",
    "exponents",
    "integer frequencies",
    symptom="All pairs of columns turn equally fast.",
    cause="2i // d_model is a whole number, and 0: divide with /.",
    section="Break it: the exponent doubled",
    seen="model/embedding/position.py, https://github.com/codertimo/BERT-pytorch/issues/18",
)
def whole_numbers(d_model: int) -> Tensor:
    return (torch.arange(0, d_model, 2) // d_model).double()


@mistake(
    "sinusoids",
    "exponents",
    "whole-number frequencies",
    symptom="All columns but the first two are constant.",
    cause="The frequency, at most 1, is rounded down to 0, by // or by a tensor of whole numbers: "
    "divide with /.",
    section="Break it: the exponent doubled",
)
def frequencies_rounded_down(d_model: int) -> Tensor:
    # 10000 to the power of infinity divides every angle to zero.
    exponents = torch.full((d_model // 2,), math.inf, dtype=torch.float64)
    exponents[0] = 0.0
    return exponents


@mistake(
    "sinusoids",
    "exponents",
    "exponent per column",
    symptom="Sine and cosine of a pair have different wavelengths, so that no shift is a rotation.",
    cause="Columns 2i and 2i + 1 share one exponent, 2i/d_model.",
    section="By hand: a clock for places",
    steps={
        "first": lambda angle: angle[:, 0::2].sin(),
        "second": lambda angle: angle[:, 1::2].cos(),
    },
    seen="Position Encoding, https://github.com/maxjcohen/transformer/issues/62",
)
def every_column(d_model: int) -> Tensor:
    return torch.arange(d_model, dtype=torch.float64) / d_model


@mistake(
    "sinusoids",
    "exponents",
    "doubled exponent per column",
    symptom="The wavelengths grow twice as fast, and sine and cosine of a pair differ in theirs.",
    cause="2j/d_model with j the column: columns 2i and 2i + 1 share the exponent 2i/d_model.",
    section="Break it: the exponent doubled",
    steps={
        "first": lambda angle: angle[:, 0::2].sin(),
        "second": lambda angle: angle[:, 1::2].cos(),
    },
    seen="Positional Encoding, "
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/32",
)
def doubled_per_column(d_model: int) -> Tensor:
    return 2 * torch.arange(d_model, dtype=torch.float64) / d_model


@mistake(
    "sinusoids",
    "base",
    "1000 in place of 10000",
    symptom="The longest wavelength is too short.",
    cause="The base is 10000.",
    section="By hand: a clock for places",
    seen="Position Encoding, https://github.com/maxjcohen/transformer/issues/62",
)
def smaller_base() -> float:
    return 1000.0


@mistake(
    "sinusoids",
    "places",
    "positions from one",
    symptom="The rows are one position late.",
    cause="Positions count from zero.",
    section="By hand: a clock for places",
)
def from_one(length: int) -> Tensor:
    return torch.arange(1, length + 1, dtype=torch.float64)


@mistake(
    "sinusoids",
    "arrange",
    "halves in place of interleaved",
    symptom="All sines stand in the first half of the columns, all cosines in the second.",
    cause="A convention, the same up to the order of the columns: the paper interleaves them.",
    section="Break it: halves instead of pairs",
    kind="convention",
)
def in_halves(first: Tensor, second: Tensor) -> Tensor:
    return torch.cat([first, second], dim=-1)


@mistake(
    "sinusoids",
    "first",
    "sine and cosine exchanged",
    symptom="Cosines stand in the even columns, sines in the odd ones.",
    cause="A convention, the same up to the order of the columns: the paper begins with sines.",
    section="Break it: halves instead of pairs",
    kind="convention",
    steps={"second": torch.sin},
)
def cosine_first(angle: Tensor) -> Tensor:
    return angle.cos()


@mistake(
    "sinusoids",
    "second",
    "sines only",
    symptom="Sines stand in all columns.",
    cause="The odd columns are cosines: with both, a shift is a rotation.",
    section="By hand: a clock for places",
)
def sine_twice(angle: Tensor) -> Tensor:
    return angle.sin()


@mistake(
    "add_positions",
    "rows",
    "batch axis taken for position",
    symptom="Every token of a sentence gets the same vector, another one for each sentence.",
    cause="x.size(0) is the batch: take one row per position, table[:x.size(1)].",
    section="Word and place in one vector",
    seen="Question about positional encoding, https://github.com/songyangco/GETNext/issues/2",
)
def rows_per_sentence(x: Tensor, table: Tensor) -> Tensor:
    return table[: x.size(0), None]


@mistake(
    "add_positions",
    "rows",
    "the same position everywhere",
    symptom="Every token gets the vector of position 0.",
    cause="Take one row per position, table[:x.size(1)].",
    section="Word and place in one vector",
)
def first_row(x: Tensor, table: Tensor) -> Tensor:
    return table[:1]


@mistake(
    "add_positions",
    "rows",
    "one row for all positions",
    symptom="Every token gets the same row, the one after the sentence's last; for a sentence as "
    "long as the table there is none.",
    cause="The colon is missing: table[x.size(1)] is a single row, table[:x.size(1)] is one row "
    "for each position.",
    section="Word and place in one vector",
    seen="Critical bug in the implementation of the PositionalEncoding class, "
    "https://github.com/DiffPoseTalk/DiffPoseTalk/issues/20",
)
def one_row(x: Tensor, table: Tensor) -> Tensor:
    return table[x.size(1)]


@mistake(
    "add_positions",
    "rows",
    "positions from the end",
    symptom="The first token gets the last row.",
    cause="Take the first rows of the table, in their order.",
    section="Word and place in one vector",
)
def backwards(x: Tensor, table: Tensor) -> Tensor:
    return table[: x.size(1)].flip(0)


@mistake(
    "add_positions",
    "rows",
    "last rows of the table",
    symptom="The positions depend on how long the table is.",
    cause="Take the first rows, table[:x.size(1)], not the last.",
    section="Word and place in one vector",
)
def last_rows(x: Tensor, table: Tensor) -> Tensor:
    return table[-x.size(1) :]


@mistake(
    "add_positions",
    "rows",
    "last rows of the table, backwards",
    symptom="The first token gets the last row of the whole table.",
    cause="Take the first rows of the table, in their order.",
    section="Word and place in one vector",
)
def last_rows_backwards(x: Tensor, table: Tensor) -> Tensor:
    return table[-x.size(1) :].flip(0)


@mistake(
    "add_positions",
    "join",
    "positions in place of words",
    symptom="The words do not matter.",
    cause="Add the positions to x.",
    section="Word and place in one vector",
)
def words_lost(x: Tensor, rows: Tensor) -> Tensor:
    return rows.expand_as(x)


@mistake(
    "add_positions",
    "join",
    "multiplied in place of added",
    symptom="The vectors are multiplied by the positions.",
    cause="Add them.",
    section="Word and place in one vector",
)
def multiplied(x: Tensor, rows: Tensor) -> Tensor:
    return x * rows


@mistake(
    "number_of_targets",
    "count",
    "each word at most once",
    symptom="Sentences in which a word comes twice are not counted.",
    cause="After the first word V choices are left, not V − 1: a word may come again. V**n.",
    section="How many sentences are there?",
)
def without_repetition(vocab_size: int, length: int) -> int:
    return math.prod(vocab_size - i for i in range(length))


@mistake(
    "number_of_targets",
    "count",
    "shorter sentences counted, too",
    symptom="The sentences of fewer places are counted, too.",
    cause="The question is how many have exactly `length` places: V**n, not the sum up to it.",
    section="How many sentences are there?",
)
def up_to_that_length(vocab_size: int, length: int) -> int:
    return sum(vocab_size**n for n in range(1, length + 1))


@mistake(
    "build_vocabulary",
    "number",
    "first word takes the id of <unk>",
    symptom="The first word has id 3, which <unk> has already.",
    cause="Four special tokens stand in front: the words begin at id 4.",
    section=VOCABULARY,
)
def words_from_three(specials: Sequence[str], words: Sequence[str], texts: object) -> object:
    return [
        *zip(specials, range(4), strict=False),
        *zip(sorted(set(words)), range(3, 10**6), strict=False),
    ]


@mistake(
    "build_vocabulary",
    "number",
    "an id left out before the words",
    symptom="No token has id 4: the words begin at 5.",
    cause="The next id is len(vocabulary), not len(vocabulary) + 1: ids count from 0.",
    section=VOCABULARY,
)
def words_from_five(specials: Sequence[str], words: Sequence[str], texts: object) -> object:
    return [
        *zip(specials, range(4), strict=False),
        *zip(sorted(set(words)), range(5, 10**6), strict=False),
    ]


@mistake(
    "build_vocabulary",
    "number",
    "from id to token",
    symptom="The dictionary is the wrong way round: its keys are the ids.",
    cause="It is looked up by token: {token: id}, not {id: token}.",
    section=VOCABULARY,
)
def wrong_way_round(specials: Sequence[str], words: Sequence[str], texts: object) -> object:
    return enumerate((*specials, *sorted(set(words))))


@mistake(
    "encode",
    "finish",
    "<eos> behind every token",
    symptom="An end stands behind each token.",
    cause="The line that appends <eos> is in the loop: it belongs behind it.",
    section="The vocabulary in the package",
)
def ends_everywhere(ids: list[int]) -> list[int]:
    return [part for i in ids for part in (i, 2)]


@mistake(
    "encode",
    "finish",
    "<eos> in front",
    symptom="The end stands before the tokens.",
    cause="Append it: tokens first, then <eos>.",
    section="The vocabulary in the package",
)
def end_in_front(ids: list[int]) -> list[int]:
    return [2, *ids]


@mistake(
    "encode",
    "look_up",
    "id 0 taken for not found",
    symptom="The token <pad>, which is in the dictionary, becomes <unk>.",
    cause="`vocabulary.get(token) or 3` takes the id 0 for nothing: vocabulary.get(token, 3).",
    section="The vocabulary in the package",
)
def zero_is_nothing(token: str, vocabulary: dict[str, int]) -> int:
    return vocabulary.get(token) or 3


@mistake(
    "text_to_ids",
    "finish",
    "end of the text forgotten",
    symptom="The text has no end.",
    cause="Append <eos>, id 2: the model was trained on sources that end with it.",
    section=OTHER,
)
def text_without_end(ids: list[int]) -> list[int]:
    return list(ids)


@mistake(
    "text_to_ids",
    "finish",
    "<sos> in front of the text",
    symptom="The text begins with <sos>.",
    cause="The book's sources are tokens and <eos>; some tutorials put <sos> in front, too.",
    section="The vocabulary in the package",
    kind="convention",
)
def text_with_start(ids: list[int]) -> list[int]:
    return [1, *ids, 2]


@mistake(
    "text_to_ids",
    "look_up",
    "unknown tokens of the text dropped",
    symptom="A text with an unknown token comes out shorter.",
    cause="An unknown token becomes <unk>, id 3; dropping it changes the text silently.",
    section=OTHER,
)
def unknown_tokens_dropped(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary[token] for token in tokens if token in vocabulary]


@mistake(
    "text_to_ids",
    "look_up",
    "text ends at its first unknown token",
    symptom="Everything behind the first unknown token is lost.",
    cause="The loop ends at an unknown token (break): give it the id of <unk>, 3, and go on.",
    section=OTHER,
)
def until_the_unknown(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    known = itertools.takewhile(lambda token: token in vocabulary, tokens)
    return [vocabulary[token] for token in known]


@mistake(
    "text_to_ids",
    "look_up",
    "unknown tokens of the text taken for padding",
    symptom="Unknown tokens get id 0, and attention never sees them.",
    cause="0 is the padding: <unk> is 3.",
    section=OTHER,
)
def unknown_tokens_padded(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary.get(token, 0) for token in tokens]


@mistake(
    "training_words",
    "keep",
    "more often than min_frequency",
    symptom="Words that come exactly min_frequency times are missing.",
    cause="Compare with >=, not with >.",
    section=VOCABULARY,
)
def more_often(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return {word for word, n in _counted(sentences).items() if n > least}


@mistake(
    "training_words",
    "keep",
    "frequency of the training words ignored",
    symptom="Rare words are there, too.",
    cause="min_frequency is not used: keep the words that come at least so often.",
    section=VOCABULARY,
)
def all_training_words(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return set(_counted(sentences))


@mistake(
    "training_words",
    "keep",
    "the n most frequent words",
    symptom="The number of words is min_frequency, whatever they are.",
    cause="min_frequency is how often a word must come, not how many words are kept.",
    section=VOCABULARY,
)
def most_frequent(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return {word for word, _ in _counted(sentences).most_common(least)}


@mistake(
    "training_words",
    "keep",
    "training sentences counted in place of words",
    symptom="A word that comes twice in one sentence counts once.",
    cause="Count every occurrence, not the sentences a word is in.",
    section=VOCABULARY,
)
def training_sentences_counted(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return {word for word, n in _counted(map(set, sentences)).items() if n >= least}


def _counted(sentences: Iterable[Iterable[str]]) -> Counter[str]:
    return Counter(word for words in sentences for word in words)


@mistake(
    "collate",
    "pad",
    "one column of padding too many",
    symptom="Even the longest row has a padding behind it.",
    cause="The width is that of the longest row: max(len(row)), without + 1.",
    section="Three captions, one rectangle",
)
def one_column_more(rows: Rows) -> Tensor:
    longest = max(map(len, rows)) + 1
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


@mistake(
    "collate",
    "pad",
    "rows sorted by length",
    symptom="The rows stand in another order: sources no longer stand beside their targets.",
    cause="Keep the order of the rows; sort whole pairs if you must, before the batch is made.",
    section="Three captions, one rectangle",
)
def longest_first(rows: Rows) -> Tensor:
    return padded(sorted(rows, key=len, reverse=True))


@mistake(
    "collate",
    "pad",
    "padded with the last token",
    symptom="Short rows are filled up with their last token, <eos>.",
    cause="Padding is id 0; anything else is read as a word.",
    section="Three captions, one rectangle",
)
def last_token_repeated(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *row[-1:] * (longest - len(row))] for row in rows])


@mistake(
    "collate",
    "pad",
    "ids that are no whole numbers",
    symptom="The tensor holds numbers with a point: an embedding refuses them.",
    cause="torch.zeros and np.zeros make floats: give them dtype=torch.long.",
    section="Three captions, one rectangle",
)
def ids_as_floats(rows: Rows) -> Tensor:
    return padded(rows).float()


@mistake(
    "shift",
    "comes_out",
    "rolled round in place of cut",
    symptom="Nothing is cut off: both tensors are as long as the target, and <sos> comes out last.",
    cause="torch.roll brings <sos> back at the end: slice, target[:, :-1] and target[:, 1:].",
    section="One place to the right",
    steps={"goes_in": lambda target: target},
)
def rolled(target: Tensor) -> Tensor:
    return target.roll(-1, dims=1)


@mistake(
    "shift",
    "goes_in",
    "last token left in the decoder's input",
    symptom="What goes in is one token longer than what comes out.",
    cause="Nothing is to be said behind the last token: target[:, :-1] goes in.",
    section="One place to the right",
)
def whole_goes_in(target: Tensor) -> Tensor:
    return target


@mistake(
    "shift",
    "comes_out",
    "shifted by two",
    symptom="What comes out is two places further on: a token is lost.",
    cause="One place is enough: target[:, 1:].",
    section="One place to the right",
)
def two_places(target: Tensor) -> Tensor:
    return target[:, 2:]


@mistake(
    "embedding",
    "scale",
    "half of d_model in place of its root",
    symptom="The vectors are too long, but for d_model = 4.",
    cause="d_model ** 1 / 2 is (d_model ** 1) / 2: write d_model ** 0.5.",
    section="How loud is a word?",
)
def scaled_by_half(x: Tensor, weight: Tensor) -> Tensor:
    return x * weight.size(1) / 2


@mistake(
    "embedding",
    "scale",
    "root of d_model cut to a whole number",
    symptom="The vectors are a little too short, unless d_model is a square.",
    cause="int() or // cuts the root to a whole number: leave it as it is.",
    section="How loud is a word?",
)
def scaled_by_whole_root(x: Tensor, weight: Tensor) -> Tensor:
    return x * int(math.sqrt(weight.size(1)))


@mistake(
    "embedding",
    "scale",
    "embedding scaled by the root of the length",
    symptom="The factor depends on how long the sentence is.",
    cause="x.size(1), or tokens.size(-1), is the number of tokens; d_model is weight.size(1).",
    section="How loud is a word?",
)
def scaled_by_length(x: Tensor, weight: Tensor) -> Tensor:
    return x * math.sqrt(x.size(1))


@mistake(
    "tied_logits",
    "product",
    "logits divided by the root of d_model",
    symptom="The logits are too small by a factor of the root of d_model.",
    cause="Attention scores are divided; logits are plain dot products.",
    section="One matrix, two jobs",
)
def divided_logits(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight.T / math.sqrt(weight.size(1))


@mistake(
    "tied_logits",
    "product",
    "cosines in place of dot products",
    symptom="Every logit lies between −1 and 1: the lengths of the vectors do not count.",
    cause="Vectors and rows are normalised first: take the plain dot products, x @ weight.T.",
    section="One matrix, two jobs",
)
def cosines(x: Tensor, weight: Tensor) -> Tensor:
    normalise = torch.nn.functional.normalize
    return normalise(x, dim=-1) @ normalise(weight, dim=-1).T


@mistake(
    "sinusoids",
    "exponents",
    "exponent over d_model minus two",
    symptom="The wavelengths grow a little too fast: the last one is 10000 · 2π itself.",
    cause="The exponent is 2i / d_model, not 2i / (d_model − 2), as linspace(0, 1, …) has it.",
    section="By hand: a clock for places",
)
def up_to_one(d_model: int) -> Tensor:
    return torch.linspace(0, 1, d_model // 2, dtype=torch.float64)


@mistake(
    "sinusoids",
    "base",
    "angles multiplied in place of divided",
    symptom="The later columns turn faster and faster, not slower.",
    cause="Divide the position by 10000^(2i/d_model); the minus of the exponent is missing.",
    section="By hand: a clock for places",
)
def inverse_base() -> float:
    return 1 / 10000.0


@mistake(
    "add_positions",
    "rows",
    "positions one row late",
    symptom="The first token gets the second row of the table.",
    cause="Position 0 has row 0: table[:x.size(1)], not table[1:x.size(1) + 1].",
    section="Word and place in one vector",
)
def one_row_late(x: Tensor, table: Tensor) -> Tensor:
    return table[1 : x.size(1) + 1]


@mistake(
    "add_positions",
    "join",
    "words scaled once more",
    symptom="The words are multiplied by the root of d_model before the positions are added.",
    cause="That factor belongs to the embedding, which has it already: x + table[:x.size(1)].",
    section="Word and place in one vector",
)
def scaled_once_more(x: Tensor, rows: Tensor) -> Tensor:
    return x * math.sqrt(x.size(-1)) + rows


@mistake(
    "add_positions",
    "join",
    "positions of the first sentence only",
    symptom="Only the first sentence gets its positions.",
    cause="x[0] is the first sentence: add the rows to all of them, x + table[:x.size(1)].",
    section="Word and place in one vector",
)
def first_sentence_only(x: Tensor, rows: Tensor) -> Tensor:
    return torch.cat([x[:1] + rows, x[1:]])


@mistake(
    "add_positions",
    "join",
    "positions subtracted",
    symptom="The positions have the wrong sign.",
    cause="Add them.",
    section="Word and place in one vector",
)
def subtracted(x: Tensor, rows: Tensor) -> Tensor:
    return x - rows


# --- harmless ------------------------------------------------------------------------------------


@mistake(
    "embedding",
    "look_up",
    "the table scaled in place of the vectors",
    symptom="Nothing changes: the same numbers come out.",
    cause="A row times the root of d_model is the row of the table times the root of d_model; it "
    "only costs a multiplication for every word there is.",
    section="How loud is a word?",
    kind="harmless",
    steps={"scale": lambda x, weight: x},
)
def table_scaled(tokens: Tensor, weight: Tensor) -> Tensor:
    return (weight * math.sqrt(weight.size(1)))[tokens]
