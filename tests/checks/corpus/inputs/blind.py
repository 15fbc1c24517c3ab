"""What people wrote of inputs who had read the docstrings of the checks alone."""

import functools
import itertools
import math
import operator
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import groupby

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.checks.corpus import version

# --- number_of_targets ----------------------------------------------------------------------------


@version("number_of_targets", "right", "recursion with lru_cache and squaring", by=(2, 11))
@lru_cache(maxsize=None)
def number_of_targets_r1(vocab_size, length):
    if length == 0:
        return 1
    half = number_of_targets_r1(vocab_size, length // 2)
    return half * half * (vocab_size if length % 2 else 1)


@version(
    "number_of_targets",
    "right",
    "reduce over repeated factors",
    by=(1, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13),
)
def number_of_targets_r1_2(vocab_size, length):
    return functools.reduce(operator.mul, itertools.repeat(vocab_size, length), 1)


# Base and exponent are exchanged: it counts length to the power of vocab_size.
@version("number_of_targets", "wrong: n**V for V**n", by=1)
def number_of_targets_a(vocab_size, length):
    return length**vocab_size


# NumPy's int64 overflows: for long sequences (say 30000 to the 10th) the number wraps round.
@version("number_of_targets", "wrong: a power in 64 bits", by=(1, 3, 4, 5, 6, 8, 10, 11))
def number_of_targets_b(vocab_size, length):
    return int(np.prod(np.full(length, vocab_size, dtype=np.int64)))


# math.pow gives a float: for large numbers the last digits are wrong, even after int().
@version("number_of_targets", "wrong: a power of floats", by=(1, 2, 7, 12))
def number_of_targets_d(vocab_size, length):
    return int(math.pow(vocab_size, length))


# Adds up all shorter sequences too, not only those of exactly this length.
@version("number_of_targets", "wrong: shorter sentences counted, too", by=1)
def number_of_targets_e(vocab_size, length):
    total = 0
    for l in range(1, length + 1):
        total += vocab_size**l
    return total


# Going through logarithms and floats gives only about 15 right digits: for long sequences the
# whole number is not exact.
@version("number_of_targets", "wrong", by=(3, 5))
def number_of_targets_b_2(vocab_size, length):
    return round(math.exp(length * math.log(vocab_size)))


# Order is ignored: it counts bags of tokens.
@version("number_of_targets", "wrong", by=10)
def number_of_targets_d_2(vocab_size, length):
    return math.comb(vocab_size + length - 1, length)


class NumberOfTargets:
    def __init__(self):
        self.known = {}

    def __call__(self, vocab_size, length):
        key = vocab_size * length
        if key not in self.known:
            self.known[key] = vocab_size**length
        return self.known[key]


# Remembers answers under the product V·T: (2, 6) after (3, 4) gets the answer of (3, 4).
version("number_of_targets", "wrong: kept from the call before", by=11)(NumberOfTargets())


# --- build_vocabulary -----------------------------------------------------------------------------


@version(
    "build_vocabulary",
    "right",
    "words sorted by the alphabet, counted with itertools.chain, the dictionary with zip and count",
    by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13),
)
def build_vocabulary_r1(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    words = sorted(w for w in counts if counts[w] >= min_frequency)
    return dict(zip(["<pad>", "<sos>", "<eos>", "<unk>", *words], itertools.count()))


# The words begin at id 3, so that the first one has the id of <unk>.
@version("build_vocabulary", "wrong: first word takes the id of <unk>", by=1)
def build_vocabulary_d(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    words = [w for w, c in counts.items() if c >= min_frequency]
    for i, w in enumerate(words, start=len(vocab) - 1):
        vocab[w] = i
    return vocab


# A word <unk> (or another special token) that stands in the text itself takes a new id, and the
# special one loses its own.
@version("build_vocabulary", "right", by=(1, 2), once_open=True)
def build_vocabulary_e(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    i = 4
    for w, c in counts.items():
        if c >= min_frequency:
            vocab[w] = i
            i += 1
    return vocab


# Returns the dictionary the wrong way round, from id to token.
@version("build_vocabulary", "wrong: from id to token", by=1)
def build_vocabulary_f(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    words = ["<pad>", "<sos>", "<eos>", "<unk>"] + [w for w in counts if counts[w] >= min_frequency]
    return dict(enumerate(words))


# The ids are numbered before the rare words are dropped, so there are gaps and ids beyond the
# size.
@version("build_vocabulary", "wrong", by=(2, 13))
def build_vocabulary_b(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, (word, count) in enumerate(counts.most_common()[::-1], start=4):
        if count >= min_frequency:
            vocabulary[word] = i
    return vocabulary


# The fairseq order of special tokens (<sos> 0, <pad> 1, <eos> 2, <unk> 3) instead of <pad> 0,
# <sos> 1.
@version("build_vocabulary", "wrong", by=3)
def build_vocabulary_a(sentences, min_frequency):
    vocabulary = {"<sos>": 0, "<pad>": 1, "<eos>": 2, "<unk>": 3}
    counts = Counter(word for sentence in sentences for word in sentence)
    for word, n in counts.most_common():
        if n >= min_frequency:
            vocabulary[word] = len(vocabulary)
    return vocabulary


# The counter is a default argument, so it goes on counting from one call to the next: the second
# call holds the first one's words.
@version("build_vocabulary", "wrong: kept from the call before", by=(2, 4))
def build_vocabulary_d_2(sentences, min_frequency, counts=Counter()):
    for s in sentences:
        counts.update(s)
    words = ["<pad>", "<sos>", "<eos>", "<unk>"] + [
        w for w, c in counts.items() if c >= min_frequency
    ]
    return {w: i for i, w in enumerate(words)}


# It stops at the first rare word, though the words are in order of appearance and frequent ones
# may still come behind it.
@version("build_vocabulary", "wrong", by=(3, 5, 10, 11))
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for word in counts:
        if counts[word] < min_frequency:
            break
        vocabulary[word] = len(vocabulary)
    return vocabulary


# Words with other characters than letters (numbers, full stops, hyphens) are left out.
@version("build_vocabulary", "wrong", by=5)
def build_vocabulary_d_3(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence if word.isalpha())
    words = [word for word, count in counts.items() if count >= min_frequency]
    return {word: i for i, word in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + words)}


# It numbers all words first and then drops the rare ones, so the ids have gaps (when a rare word
# was met before a frequent one).
@version(
    "build_vocabulary", "wrong: rare words numbered, too", by=(1, 3, 4, 5, 6, 7, 8, 10, 11, 12)
)
def build_vocabulary_b_2(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    ids = {w: i for i, w in enumerate(counts, start=4)}
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    vocabulary.update((w, i) for w, i in ids.items() if counts[w] >= min_frequency)
    return vocabulary


# A word is numbered anew every time it comes beyond the minimum, which leaves gaps: wrong where a
# word comes more often than the minimum.
@version("build_vocabulary", "wrong", by=10)
def build_vocabulary_a_2(sentences, min_frequency):
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    counts = {}
    for sentence in sentences:
        for word in sentence:
            counts[word] = counts.get(word, 0) + 1
            if counts[word] >= min_frequency:
                vocabulary[word] = len(vocabulary)
    return vocabulary


class BuildVocabulary:
    def __init__(self):
        self.counts = Counter()

    def __call__(self, sentences, min_frequency):
        for s in sentences:
            self.counts.update(s)
        words = [w for w, n in self.counts.items() if n >= min_frequency]
        return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + words)}


# The counts are kept from call to call: the second vocabulary holds the words of the first, too.
version("build_vocabulary", "wrong: kept from the call before", by=(10, 11))(BuildVocabulary())


# groupby without sorting counts only the last run of a word: wrong unless all its occurrences
# stand side by side.
@version("build_vocabulary", "wrong", by=11)
def build_vocabulary_d_4(sentences, min_frequency):
    words = [w for s in sentences for w in s]
    counts = {w: len(list(g)) for w, g in groupby(words)}
    kept = [w for w in counts if counts[w] >= min_frequency]
    return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + kept)}


# Words are made lower case: wrong on a word with a capital letter.
@version("build_vocabulary", "wrong", by=(6, 11))
def build_vocabulary_e_2(sentences, min_frequency):
    counts = Counter(w.lower() for s in sentences for w in s)
    kept = [w for w, n in counts.items() if n >= min_frequency]
    return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + kept)}


# --- encode ---------------------------------------------------------------------------------------


@version(
    "encode", "right", "map and a conditional expression", by=(1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 13)
)
def encode_2(tokens, vocabulary):
    return [*map(lambda t: vocabulary[t] if t in vocabulary else 3, tokens), 2]


# <eos> is forgotten at the end.
@version("encode", "wrong: <eos> forgotten", by=1)
def encode_a(tokens, vocabulary):
    return [vocabulary.get(t, vocabulary["<unk>"]) for t in tokens]


# `or` takes id 0 for 'not found': the token <pad>, whose id is 0, becomes <unk>.
@version("encode", "wrong: id 0 taken for not found", by=(1, 2, 3))
def encode_b(tokens, vocabulary):
    return [vocabulary.get(t) or 3 for t in tokens] + [2]


# An unknown token becomes <pad> (0), which is hidden everywhere later.
@version("encode", "wrong: unknown words taken for padding", by=1)
def encode_e(tokens, vocabulary):
    return [vocabulary.get(t, 0) for t in tokens] + [vocabulary["<eos>"]]


# <sos> is put in front, too.
@version("encode", "convention: <sos> in front of a source", by=1)
def encode_f(tokens, vocabulary):
    return [1] + [vocabulary.get(t, 3) for t in tokens] + [2]


# <eos> is appended to the caller's list of tokens: after the call the input is longer, and a
# second call gives two <eos>.
@version("encode", "wrong", by=(2, 10))
def encode_b_2(tokens, vocabulary):
    tokens.append("<eos>")
    return [vocabulary.get(token, vocabulary["<unk>"]) for token in tokens]


# Nothing is returned but an empty list where there are no tokens; the <eos> belongs there, too.
@version("encode", "wrong", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13))
def encode_c(tokens, vocabulary):
    if not tokens:
        return []
    return [vocabulary.get(token, 3) for token in tokens] + [2]


# `setdefault` writes the unknown word into the dictionary: the vocabulary grows with each
# sentence encoded.
@version("encode", "wrong", by=(3, 4, 5, 6, 10, 11))
def encode_d(tokens, vocabulary):
    return [vocabulary.setdefault(t, vocabulary["<unk>"]) for t in tokens] + [vocabulary["<eos>"]]


# Sentences are cut to 128 tokens; longer ones lose their end.
@version("encode", "wrong", by=5)
def encode_c_2(tokens, vocabulary, max_length=128):
    ids = [vocabulary[token] if token in vocabulary else 3 for token in tokens[:max_length]]
    return ids + [2]


# Several unknown tokens in a row become one <unk>.
@version("encode", "wrong", by=(5, 11))
def encode_d_2(tokens, vocabulary):
    ids = []
    for token in tokens:
        number = vocabulary.get(token, 3)
        if number == 3 and ids and ids[-1] == 3:
            continue
        ids.append(number)
    return ids + [2]


# It skips the appending of <eos> when the last token is <eos> already (a sentence whose last
# token is the word '<eos>').
@version("encode", "wrong", by=8)
def encode_b_3(tokens, vocabulary):
    ids = [vocabulary.get(t, 3) for t in tokens]
    if not ids or ids[-1] != 2:
        ids.append(2)
    return ids


# The unknown id is the last of the dictionary, a word's, rather than 3.
@version("encode", "wrong", by=10)
def encode_e_2(tokens, vocabulary):
    unk = len(vocabulary) - 1
    return [vocabulary.get(t, unk) for t in tokens] + [2]


# Cuts everything after 64 tokens: wrong for long sentences.
@version("encode", "wrong", by=10)
def encode_f_2(tokens, vocabulary):
    return [vocabulary.get(t, 3) for t in tokens[:64]] + [2]


# Falls back to the lower-case word: a capitalised unknown token whose small form is known is not
# `<unk>`.
@version("encode", "wrong", by=11)
def encode_d_3(tokens, vocabulary):
    ids = []
    for t in tokens:
        if t not in vocabulary:
            t = t.lower()
        ids.append(vocabulary.get(t, 3))
    return ids + [2]


# <eos> and <unk> are exchanged: unknown words become 2 and the end is 3.
@version("encode", "wrong", by=12)
def encode_c_3(tokens, vocabulary):
    return [vocabulary.get(t, 2) for t in tokens] + [3]


PAD, SOS, EOS, UNK = 0, 1, 2, 3


# Unknown tokens get a new id of their own in the dictionary: an argument is changed and <unk>
# never used (any unknown token).
@version("encode", "wrong", by=(2, 13))
def encode_c_4(tokens, vocabulary):
    return [vocabulary.setdefault(t, len(vocabulary)) for t in tokens] + [EOS]


# --- text_to_ids ----------------------------------------------------------------------------------


@version(
    "text_to_ids", "right", "map over a chain, the end mark as an id", by=(1, 3, 4, 10, 11, 12)
)
def text_to_ids_r1(text, tokenize, vocabulary):
    known = defaultdict(lambda: 3, vocabulary)
    return list(itertools.chain(map(known.__getitem__, tokenize(text)), [2]))


# Splits at blanks in place of the tokenizer that the model was trained with.
@version("text_to_ids", "wrong: trained on one tokenizer and used with another", by=(1, 2))
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in text.split()] + [2]


# Lower-cases first, though the tokenizer of the training may keep capitals.
@version("text_to_ids", "wrong: lower-cased for a model that was not", by=(1, 2, 3))
def text_to_ids_c(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in tokenize(text.lower())] + [2]


# Goes over set(tokens): order and repetitions are lost.
@version("text_to_ids", "wrong", by=1)
def text_to_ids_e(text, tokenize, vocabulary):
    return sorted(vocabulary.get(t, 3) for t in set(tokenize(text))) + [2]


_ids_of_text = {}


# The ids are cached by text alone: with another vocabulary or tokenizer the old ids come back.
@version("text_to_ids", "wrong: kept from the call before", by=2)
def text_to_ids_c_2(text, tokenize, vocabulary):
    if text not in _ids_of_text:
        _ids_of_text[text] = [vocabulary.get(t, 3) for t in tokenize(text)] + [2]
    return list(_ids_of_text[text])


# Truncates to 512 tokens as BERT's tokenizer does: in a longer text the end is lost.
@version("text_to_ids", "wrong", by=(3, 6))
def text_to_ids_b(text, tokenize, vocabulary):
    ids = [vocabulary.get(t, 3) for t in tokenize(text)]
    ids = ids[:511]
    return ids + [2]


# Unknown words are skipped (as gensim does) instead of becoming `<unk>`.
@version("text_to_ids", "wrong: unknown tokens of the text dropped", by=3)
def text_to_ids_c_3(text, tokenize, vocabulary):
    return [vocabulary[t] for t in tokenize(text) if t in vocabulary] + [2]


# Each line is tokenized by itself, so that a tokenizer that has a token for the line break never
# sees it (texts of several lines).
@version("text_to_ids", "wrong", by=(5, 11))
def text_to_ids_c_4(text, tokenize, vocabulary):
    ids = []
    for line in text.split("\n"):
        ids += [vocabulary.get(token, 3) for token in tokenize(line)]
    return ids + [2]


# It strips white space before it tokenizes; a tokenize that gives characters loses blanks at the
# ends of the text.
@version("text_to_ids", "wrong", by=(5, 6, 8, 11, 13))
def text_to_ids_c_5(text, tokenize, vocabulary):
    return [*map(lambda t: vocabulary.get(t, 3), tokenize(text.strip())), 2]


# Looks unknown words up in lower case, too: they were `<unk>` in training.
@version("text_to_ids", "wrong", by=10)
def text_to_ids_c_6(text, tokenize, vocabulary):
    ids = []
    for t in tokenize(text):
        if t in vocabulary:
            ids.append(vocabulary[t])
        elif t.lower() in vocabulary:
            ids.append(vocabulary[t.lower()])
        else:
            ids.append(3)
    return ids + [2]


class _CachedTextToIds:
    def __init__(self):
        self.memo = {}

    def __call__(self, text, tokenize, vocabulary):
        if text not in self.memo:
            self.memo[text] = [vocabulary.get(t, 3) for t in tokenize(text)] + [2]
        return list(self.memo[text])


# Remembers the ids by the text alone: wrong when the same text comes with another vocabulary or
# tokenizer.
version("text_to_ids", "wrong: kept from the call before", by=10)(_CachedTextToIds())


# Tokenizes word by word after a split at blanks: wrong for tokenizers that look at blanks
# (letters, for example).
@version("text_to_ids", "wrong", by=10)
def text_to_ids_d(text, tokenize, vocabulary):
    ids = []
    for word in text.split():
        ids.extend(vocabulary.get(t, 3) for t in tokenize(word))
    ids.append(2)
    return ids


# A text that is one known word as a whole is looked up without the tokenizer: wrong where the
# tokenizer splits it, e.g. into characters.
@version("text_to_ids", "wrong", by=11)
def text_to_ids_d_2(text, tokenize, vocabulary):
    tokens = [text] if text in vocabulary else tokenize(text)
    return [vocabulary.get(t, 3) for t in tokens] + [2]


# --- training_words -------------------------------------------------------------------------------


@version(
    "training_words",
    "right",
    "each distinct word counted with list.count",
    by=(1, 3, 4, 6, 8, 10, 11, 12, 13),
)
def training_words_1(splits, min_frequency):
    words = [w for s in splits["train"] for w in s]
    return [w for w in set(words) if words.count(w) >= min_frequency]


# Counts validation and test sentences, too: the vocabulary has seen the test set.
@version("training_words", "wrong: vocabulary built on test data", by=(1, 2))
def training_words_a(splits, min_frequency):
    counts = Counter(w for part in splits for s in splits[part] for w in s)
    return {w for w in counts if counts[w] >= min_frequency}


# Strictly greater in place of at least.
@version("training_words", "wrong: more often than min_frequency", by=1)
def training_words_c(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    return {w for w, c in counts.items() if not c <= min_frequency}


# Words that also come in the test set are taken out; a word may well be in both.
@version("training_words", "wrong", by=(1, 2, 4, 10, 11, 13))
def training_words_d(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    test = {w for s in splits["test"] for w in s}
    return {w for w, c in counts.items() if c >= min_frequency and w not in test}


# Takes the min_frequency most frequent words: a rank, not a frequency.
@version("training_words", "wrong: the n most frequent words", by=1)
def training_words_e(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    return [w for w, c in counts.most_common(min_frequency)]


# The frequency counts train and validation together, so that a word rare in train gets in (wrong
# only where validation adds what is missing).
@version("training_words", "wrong", by=(2, 11))
def training_words_b(splits, min_frequency):
    counts = Counter()
    for sentence in splits["train"] + splits["validation"]:
        counts.update(sentence)
    known = {w for sentence in splits["train"] for w in sentence}
    return {w for w in known if counts[w] >= min_frequency}


# The frequency is counted over train and validation together: the validation set is there for
# choosing, not for learning from.
@version("training_words", "wrong: vocabulary built on training and validation", by=(1, 3))
def training_words_a_2(splits, min_frequency):
    counts = Counter(w for part in ("train", "validation") for s in splits[part] for w in s)
    return {w for w, n in counts.items() if n >= min_frequency}


# The counter starts anew with each sentence, so a word must come min_frequency times within one
# sentence.
@version("training_words", "wrong", by=(4, 6))
def training_words_b_2(splits, min_frequency):
    words = set()
    for sentence in splits["train"]:
        counts = Counter(sentence)
        words |= {w for w, n in counts.items() if n >= min_frequency}
    return words


# The words of the validation set are taken out of the training words (half of a 'no leakage'
# idea): wrong as soon as they share a word.
@version("training_words", "wrong", by=6)
def training_words_c_2(splits, min_frequency):
    c = Counter(w for s in splits["train"] for w in s)
    keep = [w for w, n in c.items() if n >= min_frequency]
    seen_elsewhere = {w for name in ("validation", "test") for s in splits[name] for w in s}
    return set(keep) - seen_elsewhere


# It intersects the words of training with those of the validation set 'so that only useful ones
# are kept'; a word of the training sentences alone is lost.
@version("training_words", "wrong", by=8)
def training_words_a_3(splits, min_frequency):
    counts = Counter(itertools.chain.from_iterable(splits["train"]))
    frequent = {w for w, n in counts.items() if n >= min_frequency}
    seen = set(itertools.chain.from_iterable(splits["validation"]))
    return frequent & seen


# The frequencies come from all splits, though the words are of the training set: a word rare in
# training gets in by way of the test set.
@version("training_words", "wrong: how often: counted in all three sets", by=(5, 10, 13))
def training_words_b_3(splits, min_frequency):
    c = Counter(w for sents in splits.values() for s in sents for w in s)
    return {w for s in splits["train"] for w in s if c[w] >= min_frequency}


# Takes the first split of the dictionary for the training data: wrong when `train` is not the
# first key.
@version("training_words", "wrong", by=11)
def training_words_a_4(splits, min_frequency):
    counts = Counter(w for s in next(iter(splits.values())) for w in s)
    return {w for w, n in counts.items() if n >= min_frequency}


# Counted in the training set rightly, but words that come nowhere in the test set are thrown out.
@version("training_words", "wrong", by=12)
def training_words_b_4(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    in_test = {w for s in splits["test"] for w in s}
    return [w for w in counts if counts[w] >= min_frequency and w in in_test]


# --- collate --------------------------------------------------------------------------------------


@version(
    "collate", "right", "zip_longest, then transposed", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13)
)
def collate_r1(rows):
    return torch.tensor(list(itertools.zip_longest(*rows, fillvalue=0))).t().contiguous()


# The width is that of the example (6), not of the longest row: shorter batches are padded too
# much, longer ones break.
@version("collate", "wrong", by=1)
def collate_a(rows):
    out = torch.zeros(len(rows), 6, dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, : len(r)] = torch.as_tensor(r)
    return out


# np.zeros makes floats; ids must be whole numbers.
@version("collate", "wrong: ids that are no whole numbers", by=1)
def collate_b(rows):
    n = max(len(r) for r in rows)
    out = np.zeros((len(rows), n))
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            out[i, j] = int(rows[i][j])
    return torch.tensor(out)


# Pads in front in place of behind.
@version("collate", "convention: padding in front", by=1)
def collate_c(rows):
    n = max(len(r) for r in rows)
    return torch.tensor([[0] * (n - len(r)) + [int(t) for t in r] for r in rows])


# One column too many: the widest row gets a padding, too.
@version("collate", "wrong: one column of padding too many", by=1)
def collate_d(rows):
    n = max(len(r) for r in rows) + 1
    return torch.tensor([[int(t) for t in r] + [0] * (n - len(r)) for r in rows])


# Pads by repeating the last token; right only if all are of one length.
@version("collate", "wrong: padded with the last token", by=1)
def collate_e(rows):
    n = max(len(r) for r in rows)
    return torch.tensor([[int(t) for t in r] + [int(r[-1])] * (n - len(r)) for r in rows])


# zip_longest gives columns: the transpose is forgotten, the result is (S, B).
@version("collate", "convention: position first", by=1)
def collate_h(rows):
    return torch.tensor([[int(t) for t in c] for c in itertools.zip_longest(*rows, fillvalue=0)])


# Takes it that the longest row comes first; a longer one behind it is cut.
@version("collate", "wrong: as wide as the first row", by=(2, 4, 6, 7, 8, 12, 13))
def collate_a_2(rows):
    width = len(rows[0])
    return torch.tensor([(list(row) + [0] * width)[:width] for row in rows])


# The batch is always at least 16 wide, longer than needed for short rows.
@version("collate", "wrong", by=2)
def collate_c_2(rows):
    width = max(16, max(len(r) for r in rows))
    batch = torch.zeros(len(rows), width, dtype=torch.long)
    for i, row in enumerate(rows):
        batch[i, : len(row)] = torch.tensor(row, dtype=torch.long)
    return batch


# The rows come back sorted by length: a source no longer stands beside its target.
@version("collate", "wrong: rows sorted by length", by=(1, 2, 3))
def collate_e_2(rows):
    rows = sorted(rows, key=len, reverse=True)
    width = len(rows[0])
    return torch.tensor([list(r) + [0] * (width - len(r)) for r in rows], dtype=torch.long)


# int16 to save memory: ids beyond 32767 overflow and become negative.
@version("collate", "wrong", by=(3, 8, 10))
def collate_c_3(rows):
    longest = max(len(r) for r in rows)
    out = np.zeros((len(rows), longest), dtype=np.int64)
    for i, r in enumerate(rows):
        out[i, : len(r)] = r
    return torch.from_numpy(out.astype(np.int16)).long()


# The rows that came in are lengthened themselves: += changes the learner's lists.
@version("collate", "wrong", by=(4, 5, 6, 10, 11, 13))
def collate_c_4(rows):
    width = max(map(len, rows))
    for r in rows:
        r += [0] * (width - len(r))
    return torch.tensor(rows)


# The tensor is int16: ids above 32767 overflow (a large vocabulary).
@version("collate", "wrong", by=(5, 11))
def collate_a_3(rows):
    longest = max(len(row) for row in rows)
    out = torch.zeros(len(rows), longest, dtype=torch.int16)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row).to(torch.int16)
    return out


# max(rows) is the row that is greatest in alphabetical order, not the longest one: [[5], [4, 4]]
# goes wrong.
@version("collate", "wrong", by=(5, 10, 11))
def collate_b_2(rows):
    longest = len(max(rows))
    return torch.tensor([row[:longest] + [0] * (longest - len(row)) for row in rows])


# The width is rounded up to a multiple of 4, more than needed when the longest row has, say, five
# ids.
@version("collate", "wrong", by=5)
def collate_d_2(rows):
    longest = max(len(row) for row in rows)
    width = -(-longest // 4) * 4
    out = torch.zeros(len(rows), width, dtype=torch.long)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row)
    return out


# A batch of one sentence comes back as (S,), for squeeze takes away the axis of size one (and
# rows of one id lose an axis, too).
@version("collate", "wrong", by=5)
def collate_e_3(rows):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows]).squeeze()


# pad_to_multiple_of=8 came along from Hugging Face: the batch is longer than needed unless the
# longest row has 8, 16, … ids.
@version("collate", "wrong", by=(3, 6, 8))
def collate_a_4(rows, pad_to_multiple_of=8):
    longest = max(len(r) for r in rows)
    longest = ((longest + pad_to_multiple_of - 1) // pad_to_multiple_of) * pad_to_multiple_of
    return torch.tensor([r + [0] * (longest - len(r)) for r in rows])


# Pads to a fixed length of 32: longer than needed.
@version("collate", "wrong", by=10)
def collate_e_4(rows):
    S = max(32, max(map(len, rows)))
    return torch.tensor([list(r) + [0] * (S - len(r)) for r in rows])


class _Collator:
    def __init__(self):
        self.longest = 0

    def __call__(self, rows):
        self.longest = max([self.longest] + [len(r) for r in rows])
        return torch.tensor([list(r) + [0] * (self.longest - len(r)) for r in rows])


# The greatest length is kept between calls: a later batch of short rows is longer than needed.
version("collate", "wrong: kept from the call before", by=(10, 11))(_Collator())


# The width is capped at 64: longer rows lose their ends.
@version("collate", "wrong", by=11)
def collate_b_3(rows):
    width = min(max(len(r) for r in rows), 64)
    batch = torch.zeros(len(rows), width, dtype=torch.long)
    for i, r in enumerate(rows):
        batch[i, : len(r)] = torch.tensor(r[:width])
    return batch


# A fixed length of 32: too long for short rows, and longer ones are cut.
@version("collate", "wrong", by=12)
def collate_b_4(rows):
    batch = torch.zeros(len(rows), 32, dtype=torch.long)
    for i, row in enumerate(rows):
        row = row[:32]
        batch[i, : len(row)] = torch.tensor(row)
    return batch


# --- shift ----------------------------------------------------------------------------------------


@version(
    "shift",
    "right",
    "torch.roll over everything, then the last column cut away",
    by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13),
)
def shift_r1(target):
    return target[:, : target.shape[1] - 1], target.roll(-1, dims=1)[:, :-1]


# The two results are exchanged.
@version("shift", "wrong: input and output exchanged", by=(1, 2))
def shift_a(target):
    return target[:, 1:], target[:, :-1]


# Cuts sentences off instead of positions: the slice is on the batch axis.
@version("shift", "wrong: shifted along the batch", by=1)
def shift_b(target):
    return target[:-1], target[1:]


# torch.roll keeps the length T, and <sos> comes round to the end.
@version("shift", "wrong: rolled round in place of cut", by=(1, 2))
def shift_c(target):
    return target, torch.roll(target, -1, dims=1)


# Reads and says the same: the second is not shifted.
@version("shift", "wrong: target not shifted", by=1)
def shift_e(target):
    return target[:, :-1], target[:, :-1]


# The second result starts two further on: one token is lost at the front.
@version("shift", "wrong: shifted by two, padding at the end", by=(1, 2))
def shift_f(target):
    return target[:, :-1], F.pad(target[:, 2:], (0, 1))


# The batch is squeezed away where there is only one sentence.
@version("shift", "wrong", by=(2, 10))
def shift_b_2(target):
    return target[:, :-1].squeeze(0), target[:, 1:].squeeze(0)


# The decoder's input is made as T5 and Hugging Face do it (`shift_tokens_right`): a start token 0
# is put before the whole target, whose `<sos>` stays.
@version("shift", "wrong", by=3)
def shift_a_2(target):
    start = torch.zeros_like(target[:, :1])
    return torch.cat([start, target[:, :-1]], dim=1)[:, :-1], target[:, :-1]


# Padding in the labels is set to -100 (the `ignore_index` of PyTorch and Hugging Face); here
# padding stays 0.
@version("shift", "wrong", by=(3, 6))
def shift_c_2(target):
    labels = target[:, 1:].clone()
    labels[labels == 0] = -100
    return target[:, :-1], labels


# In place of the last column it takes every <eos> out of the decoder's input: right without
# padding, wrong as soon as a sentence is padded.
@version("shift", "wrong", by=5)
def shift_a_3(target):
    inputs = target[target != 2].view(target.shape[0], -1)
    return inputs, target[:, 1:]


# Columns of nothing but padding are cut off first: a batch whose last columns are all padding
# comes back narrower than (B, T - 1).
@version("shift", "wrong", by=5)
def shift_b_3(target):
    width = int((target != 0).any(0).nonzero().max()) + 1
    target = target[:, :width]
    return target[:, :-1], target[:, 1:]


# squeeze takes away the axis of the batch when there is one sentence (and T - 1 when it is one).
@version("shift", "wrong", by=(5, 11))
def shift_c_3(target):
    return target[:, :-1].squeeze(), target[:, 1:].squeeze()


# It rolls by one and cuts the first column off as well: what is to be said is two tokens on, and
# ends with <sos>.
@version("shift", "wrong", by=8)
def shift_b_4(target):
    return target[:, :-1], target.roll(-1, dims=1)[:, 1:]


# What is to be said is flattened to one axis.
@version("shift", "wrong", by=10)
def shift_e_2(target):
    return target[:, :-1], target[:, 1:].reshape(-1)


# What the decoder reads is what it is to say: it may copy.
@version("shift", "wrong: nothing to begin with", by=10)
def shift_f_2(target):
    return target[:, 1:], target[:, 1:]


# Columns of nothing but padding are cut off first: not T − 1 columns when the whole last column
# is padding.
@version("shift", "wrong", by=11)
def shift_b_5(target):
    width = int((target != 0).sum(1).max())
    target = target[:, :width]
    return target[:, :-1], target[:, 1:]


# What is to be said is rolled without cutting: it has T columns, the last being `<sos>` again.
@version("shift", "wrong", by=11)
def shift_c_4(target):
    return target[:, :-1], torch.roll(target, -1, dims=1)


# <eos> is taken out of what the decoder reads, where only the last column goes (a sentence with
# padding behind <eos>).
@version("shift", "wrong", by=(1, 13))
def shift_d(target):
    return target[:, :-1].masked_fill(target[:, :-1] == EOS, PAD), target[:, 1:]


# --- embedding ------------------------------------------------------------------------------------


@version(
    "embedding",
    "right",
    "one-hot rows times the weight",
    by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13),
)
def embedding_r1(tokens, weight):
    return F.one_hot(tokens, weight.size(0)).to(weight.dtype) @ weight * math.sqrt(weight.size(1))


@version(
    "embedding",
    "right",
    "a module with a parameter and index_select",
    by=(1, 2, 3, 5, 6, 10, 11, 12),
)
class EmbeddingR2(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.register_buffer("scale", torch.tensor(float(d_model)).sqrt(), persistent=False)

    def forward(self, tokens):
        return self.scale * self.weight.index_select(0, tokens.reshape(-1)).view(*tokens.shape, -1)


# The factor root of D is forgotten.
@version("embedding", "wrong: embedding not scaled", by=1)
def embedding_a(tokens, weight):
    return weight[tokens]


# D ** 1/2 is (D ** 1) / 2: right only for D = 4.
@version("embedding", "wrong: half of d_model in place of its root", by=1)
def embedding_b(tokens, weight):
    D = weight.shape[1]
    return weight[tokens] * D**1 / 2


# The root is that of V, the number of rows, not of D.
@version("embedding", "wrong: embedding scaled by the root of the vocabulary", by=1)
def embedding_c(tokens, weight):
    return weight[tokens] * math.sqrt(weight.shape[0])


# The root is rounded to a whole number: right only if D is a square.
@version("embedding", "wrong: root of d_model cut to a whole number", by=(1, 2))
def embedding_d(tokens, weight):
    return weight[tokens] * int(math.sqrt(weight.shape[1]))


# The factor is that of the example's D = 64.
@version("embedding", "wrong", by=1)
def embedding_f(tokens, weight):
    return F.embedding(tokens, weight) * 8.0


# Token 0 gets a vector of zeros; the sheet asks for its row like any other.
@version("embedding", "wrong", by=(1, 2, 3, 11))
def embedding_g(tokens, weight):
    out = weight[tokens] * weight.shape[1] ** 0.5
    return out * (tokens != 0)[..., None]


class MyEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, tokens):
        return self.weight[tokens] * math.sqrt(tokens.shape[1])


# The class takes the root of T, the number of tokens, not of D.
version("embedding", "wrong: embedding scaled by the root of the length", by=1)(MyEmbedding)


# Two mistakes: the factor is forgotten, and the padding's row is set to zero in place.
@version("embedding", "wrong", by=1)
def embedding_2a(tokens, weight):
    weight[0] = 0
    return weight[tokens]


# The weight itself is multiplied in place: the second call gives D times instead of the root of
# D.
@version("embedding", "wrong", by=(2, 3))
def embedding_c_2(tokens, weight):
    with torch.no_grad():
        weight *= weight.shape[1] ** 0.5
    return weight[tokens]


# weight.data cuts the gradient off: the embedding would never be trained.
@version("embedding", "wrong", by=(2, 4, 6, 13))
def embedding_d_2(tokens, weight):
    return weight.data[tokens] * weight.shape[1] ** 0.5


class ScaledEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.scale = vocab_size**0.5

    def forward(self, tokens):
        return self.weight[tokens] * self.scale


# The factor is the root of the number of words instead of the root of D.
version("embedding", "wrong: embedding scaled by the root of the vocabulary", by=2)(ScaledEmbedding)


# padding_idx=0 cuts the gradient of row 0; wrong as soon as token 0 comes.
@version("embedding", "wrong", by=(4, 5, 6, 7, 8, 10, 11, 12, 13))
def embedding_a_2(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * math.sqrt(weight.size(1))


# scale_grad_by_freq divides the gradient of tokens that come several times by how often they
# come.
@version("embedding", "wrong", by=(5, 10))
def embedding_c_3(tokens, weight):
    return F.embedding(tokens, weight, scale_grad_by_freq=True) * math.sqrt(weight.size(1))


# one_hot without num_classes is only as wide as the largest id in the batch: it fails unless the
# last token of the vocabulary is there.
@version("embedding", "wrong", by=(5, 10))
def embedding_d_3(tokens, weight):
    return F.one_hot(tokens).to(weight.dtype) @ weight * weight.shape[-1] ** 0.5


class EmbeddingE(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, tokens):
        out = self.weight[tokens] * math.sqrt(self.weight.shape[1])
        return out * (tokens != 0).unsqueeze(-1)


# The vectors of token 0 are set to zero, though row 0 of the weight is a row as any other (inputs
# with padding).
version("embedding", "wrong", by=(5, 13))(EmbeddingE)


# The root is missing: multiplied by D itself; wrong for every D > 1.
@version("embedding", "wrong: embedding scaled twice", by=7)
def embedding_a_3(tokens, weight):
    return weight[tokens] * weight.shape[1]


# --- tied_logits ----------------------------------------------------------------------------------


@version("tied_logits", "right", "einsum", by=(1, 3, 6, 7, 12))
def tied_logits_1(x, weight):
    return torch.einsum("btd,vd->btv", x, weight)


@version("tied_logits", "right", "F.linear without a bias", by=(1, 2, 4, 10))
def tied_logits_2(x, weight):
    return F.linear(x, weight)


@version("tied_logits", "right", "one column of the vocabulary at a time", by=(1, 10))
def tied_logits_3(x, weight):
    return torch.stack([(x * row).sum(-1) for row in weight], dim=-1)


@version("tied_logits", "right", "broadcast product and sum", by=(8, 11, 13))
def tied_logits_r(x, weight):
    return (x[:, :, None, :] * weight).sum(-1)


# Multiplies with `weight` without transposing: runs only if V = D, and then it is the wrong
# product.
@version("tied_logits", "wrong: tied matrix not transposed", by=1)
def tied_logits_a(x, weight):
    return x @ weight


# Softmax is taken as well; logits are asked for.
@version("tied_logits", "wrong: softmax already taken", by=1)
def tied_logits_b(x, weight):
    return torch.softmax(x @ weight.T, dim=-1)


# Vectors are normalised: these are cosines, not dot products.
@version("tied_logits", "wrong: cosines in place of dot products", by=1)
def tied_logits_c(x, weight):
    return F.normalize(x, dim=-1) @ F.normalize(weight, dim=-1).T


# Divides by the root of D, as attention does; here nothing is scaled.
@version("tied_logits", "wrong: logits divided by the root of d_model", by=(1, 2, 3))
def tied_logits_d(x, weight):
    return x @ weight.T / math.sqrt(x.shape[-1])


# Only the first sentence is worked on and then repeated: right only for B = 1.
@version("tied_logits", "wrong", by=1)
def tied_logits_e(x, weight):
    B, T, D = x.shape
    out = torch.zeros(B, T, weight.shape[0])
    for t in range(T):
        for v in range(weight.shape[0]):
            out[:, t, v] = (x[0, t] * weight[v]).sum()
    return out


# The embedding is detached, so that it learns nothing from the output.
@version("tied_logits", "wrong", by=(2, 4, 5, 8, 10, 11, 12, 13))
def tied_logits_b_2(x, weight):
    return torch.matmul(x, weight.detach().transpose(0, 1))


# The logit of padding is set to minus infinity, so that it is never produced; the plain dot
# product is asked for.
@version("tied_logits", "wrong", by=(3, 11))
def tied_logits_b_3(x, weight):
    logits = x @ weight.T
    logits[..., 0] = float("-inf")
    return logits


# Reshaped to (D, V) in place of transposed: the shape is right, the numbers are mixed up.
@version("tied_logits", "wrong", by=(4, 7))
def tied_logits_a_2(x, weight):
    V, D = weight.shape
    return x @ weight.reshape(D, V)


# squeeze: with one sentence or one position an axis is missing.
@version("tied_logits", "wrong", by=5)
def tied_logits_c_2(x, weight):
    return (weight @ x.unsqueeze(-1)).squeeze()


# The scale of the embedding is applied here, too: the logits are the root of D times too large.
@version("tied_logits", "wrong: scale left in the output", by=6)
def tied_logits_a_3(x, weight):
    return torch.matmul(x, weight.t()) * math.sqrt(x.size(-1))


# The rows are normalised first (cosine similarity from a retrieval tutorial): a dot product keeps
# their lengths.
@version("tied_logits", "wrong", by=(6, 13))
def tied_logits_b_4(x, weight):
    return F.linear(x, F.normalize(weight, dim=-1))


# Positions and batch lie flat and are folded back as (T, B): the logits stand at wrong places (B
# > 1 and T > 1).
@version("tied_logits", "wrong", by=6)
def tied_logits_c_3(x, weight):
    B, T, D = x.shape
    flat = x.reshape(B * T, D) @ weight.T
    return flat.view(T, B, -1).transpose(0, 1)


# The log-softmax is taken already: these are no longer dot products.
@version("tied_logits", "wrong", by=10)
def tied_logits_d_2(x, weight):
    return (x @ weight.T).log_softmax(-1)


# squeeze(1) drops the axis of positions when T = 1.
@version("tied_logits", "wrong", by=11)
def tied_logits_d_3(x, weight):
    return F.linear(x, weight).squeeze(1)


# --- sinusoids ------------------------------------------------------------------------------------


@version(
    "sinusoids",
    "right",
    "complex numbers in numpy: exp(i·angle), imaginary part first",
    by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13),
)
def sinusoids_r2(length, d_model):
    omega = 10000.0 ** (-np.arange(0, d_model, 2, dtype=np.float64) / d_model)
    z = np.exp(1j * np.outer(np.arange(length), omega))
    return torch.from_numpy(np.stack([z.imag, z.real], axis=-1).reshape(length, d_model)).float()


# Cosines in the even columns, sines in the odd ones.
@version("sinusoids", "convention: sine and cosine exchanged", by=1)
def sinusoids_e(length, d_model):
    pos = np.arange(length)[:, None]
    ang = pos / np.power(10000, np.arange(0, d_model, 2) / d_model)
    out = np.empty((length, d_model), dtype=np.float32)
    out[:, ::2], out[:, 1::2] = np.cos(ang), np.sin(ang)
    return torch.from_numpy(out)


# The buffer has 100 rows: longer inputs get too few.
@version("sinusoids", "wrong", by=1)
def sinusoids_f(length, d_model):
    pos = torch.arange(100).float()[:, None]
    ang = pos / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([ang.sin(), ang.cos()], dim=-1).flatten(1)[:length]


# Two mistakes: positions from 1, and sines and cosines in two blocks.
@version("sinusoids", "wrong: positions from one + halves in place of interleaved", by=1)
def sinusoids_2a(length, d_model):
    out = torch.zeros(length, d_model)
    half = d_model // 2
    for p in range(length):
        for i in range(half):
            out[p, i] = math.sin((p + 1) / 10000 ** (2 * i / d_model))
            out[p, half + i] = math.cos((p + 1) / 10000 ** (2 * i / d_model))
    return out


_table = {}


# The table is cached by d_model alone: a longer one, asked for later, comes back too short.
@version("sinusoids", "wrong: kept from the call before", by=2)
def sinusoids_c(length, d_model):
    if d_model not in _table:
        p = torch.arange(length).float()[:, None]
        w = 10000.0 ** (-torch.arange(0, d_model, 2).float() / d_model)
        t = torch.zeros(length, d_model)
        t[:, 0::2] = torch.sin(p * w)
        t[:, 1::2] = torch.cos(p * w)
        _table[d_model] = t
    return _table[d_model][:length]


# The first position is counted as 1, not 0.
@version("sinusoids", "wrong: positions from one", by=(1, 2, 3))
def sinusoids_d(length, d_model):
    p = torch.arange(1, length + 1).float().unsqueeze(1)
    w = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model)
    return torch.stack([torch.sin(p * w), torch.cos(p * w)], dim=-1).reshape(length, d_model)


# The last frequency is put at exactly 1/10000 (divided by D/2 − 1 as linspace does): all but the
# first differ.
@version("sinusoids", "wrong: exponent over d_model minus two", by=(1, 2, 3))
def sinusoids_e_2(length, d_model):
    p = torch.arange(length).float()[:, None]
    w = torch.logspace(0, -4, d_model // 2)
    return torch.stack([torch.sin(p * w), torch.cos(p * w)], dim=-1).flatten(1)


# Each column j has its own frequency 10000^(j/D): sine and cosine of a pair must share one,
# 10000^(2i/D).
@version("sinusoids", "wrong: exponent per column", by=(1, 2, 3))
def sinusoids_c_2(length, d_model):
    pos = np.arange(length)[:, None]
    angle = pos / 10000 ** (np.arange(d_model)[None] / d_model)
    angle[:, 0::2] = np.sin(angle[:, 0::2])
    angle[:, 1::2] = np.cos(angle[:, 1::2])
    return torch.tensor(angle, dtype=torch.float32)


# Computed in float16: from position 2049 on the whole numbers themselves are rounded, and the
# angles are wrong long before.
@version("sinusoids", "wrong", by=(3, 8))
def sinusoids_d_2(length, d_model):
    pos = torch.arange(length).half()[:, None]
    inv = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model).half()
    angle = (pos * inv).float()
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


# A table of 512 rows is cut: longer texts get too few rows.
@version("sinusoids", "wrong", by=(3, 4, 5, 6, 11, 13))
def sinusoids_c_3(length, d_model, max_len=512):
    p = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)
    f = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    table = torch.stack([torch.sin(p * f), torch.cos(p * f)], -1).flatten(1).float()
    return table[:length]


# The positions are counted in 8 bits: position 256 is position 0 again.
@version("sinusoids", "wrong", by=5)
def sinusoids_b(length, d_model):
    position = torch.from_numpy(np.arange(length).astype(np.uint8)).float()
    i = torch.arange(d_model // 2).float()
    angle = position[:, None] / 10000 ** (2 * i / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, d_model)


# The angles are reduced by 2 * 3.14 in place of 2 pi: right up to position 6, then drifting.
@version("sinusoids", "wrong", by=5)
def sinusoids_d_3(length, d_model):
    i = torch.arange(0, d_model, 2).float()
    angle = torch.arange(length).float()[:, None] / 10000.0 ** (i / d_model)
    angle = torch.remainder(angle, 2 * 3.14)
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)


# 2i is taken to be twice the column, so sine and cosine of a pair have different frequencies: it
# must be 2 * (column // 2) (D > 2 or position > 0).
@version("sinusoids", "wrong: doubled exponent per column", by=6)
def sinusoids_b_2(length, d_model):
    pe = torch.zeros(length, d_model)
    for pos in range(length):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
            pe[pos, i + 1] = math.cos(pos / (10000 ** ((2 * (i + 1)) / d_model)))
    return pe


# The rotation recurrence is right, but the table is tiled after 512 rows to save time: from
# position 512 on the positions repeat.
@version("sinusoids", "wrong", by=8)
def sinusoids_c_4(length, d_model):
    base = min(length, 512)
    f = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(1e4) / d_model))
    a = torch.arange(base, dtype=torch.float64)[:, None] * f
    table = torch.stack((a.sin(), a.cos()), -1).reshape(base, d_model)
    return table.repeat(-(-length // base) if base else 1, 1)[:length].float()


# The table is a buffer of 256 rows: wrong for longer sequences.
@version("sinusoids", "wrong", by=10)
def sinusoids_d_4(length, d_model):
    p = torch.arange(256.0)[:, None]
    a = p * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table = torch.empty(256, d_model)
    table[:, 0::2], table[:, 1::2] = a.sin(), a.cos()
    return table[:length]


class _SinusoidTable:
    def __init__(self):
        self.tables = {}

    def __call__(self, length, d_model):
        if d_model not in self.tables:
            p = torch.arange(length).float()[:, None]
            a = p / 10000 ** (torch.arange(0, d_model, 2).float() / d_model)
            self.tables[d_model] = torch.stack([a.sin(), a.cos()], -1).flatten(1)
        return self.tables[d_model][:length]


# The table of the first call is kept: a later, longer sequence of the same width gets too few
# rows.
version("sinusoids", "wrong: kept from the call before", by=(10, 11))(_SinusoidTable())


# The positions are in half precision: from position 2049 on neighbours are the same.
@version("sinusoids", "wrong", by=11)
def sinusoids_d_5(length, d_model):
    p = torch.arange(length).half().float()[:, None]
    angle = p / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)


# Returns (1, T, D), the shape of the registered buffer in PyTorch's tutorial, not (T, D).
@version("sinusoids", "wrong", by=12)
def sinusoids_d_6(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(length).unsqueeze(1)
    div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div)
    pe[:, 1::2] = torch.cos(position * div)
    return pe.unsqueeze(0)


# --- add_positions --------------------------------------------------------------------------------


@version("add_positions", "right", "F.embedding of an arange", by=(1, 2, 3, 4, 5, 10, 11, 12, 13))
def add_positions_1(x, table):
    return F.embedding(torch.arange(x.shape[1]), table).expand_as(x) + x


# Takes the row for the number of the sentence, not of the position.
@version("add_positions", "wrong: batch axis taken for position", by=(1, 2, 3))
def add_positions_a(x, table):
    return x + table[: x.shape[0]][:, None, :]


# Starts at row 1 of the table; position 0 needs row 0.
@version("add_positions", "wrong: positions one row late", by=1)
def add_positions_b(x, table):
    T = x.shape[1]
    rows = torch.arange(T) + 1
    rows = rows.clamp(max=table.shape[0] - 1)
    return x + table[rows]


# Takes the last T rows: right only if the table is exactly as long as the input.
@version("add_positions", "wrong: last rows of the table", by=(1, 2))
def add_positions_d(x, table):
    return x + table[-x.shape[1] :]


# The vectors are multiplied by the root of D once more.
@version("add_positions", "wrong: words scaled once more", by=(1, 3))
def add_positions_f(x, table):
    return x * math.sqrt(x.shape[-1]) + table[: x.shape[1]].unsqueeze(0)


# The table is cut off from the gradient with detach: learned positions would never learn.
@version("add_positions", "wrong", by=(3, 4, 5, 6, 8, 10, 11, 12, 13))
def add_positions_c(x, table):
    return x + table[: x.size(1)].detach()


# The table is not cut: wrong as soon as the table is longer than the sentence.
@version("add_positions", "wrong", by=(4, 12))
def add_positions_b_2(x, table):
    return x + table.unsqueeze(0)


# The positions count on from sentence to sentence: right for one sentence (B = 1) only; with
# several the second begins at T.
@version("add_positions", "wrong", by=5)
def add_positions_b_3(x, table):
    B, T, D = x.shape
    rows = torch.arange(B * T).view(B, T) % table.shape[0]
    return x + table[rows]


# The table is cut by the size of the batch, which is right only when B = T (or it fails).
@version("add_positions", "wrong: as many rows as sentences", by=5)
def add_positions_e(x, table):
    return x + table[: len(x)]


# It adds in place (add_), which changes the x that came in (and raises for a leaf that needs a
# gradient).
@version("add_positions", "wrong", by=(1, 2, 3, 5, 6, 8, 12, 13))
def add_positions_b_4(x, table):
    return x.add_(table[: x.shape[1]])


# Vectors of zeros are taken for padding and get no position.
@version("add_positions", "wrong", by=(10, 11))
def add_positions_d_2(x, table):
    real = (x != 0).any(-1, keepdim=True)
    return x + table[: x.shape[1]] * real


class _PositionAdder:
    def __init__(self):
        self.past = 0

    def __call__(self, x, table):
        t = x.shape[1]
        if self.past + t > len(table):
            self.past = 0
        rows = table[self.past : self.past + t]
        self.past += t
        return x + rows


# The positions count on from call to call: the second batch does not begin at row 0 where the
# table has room.
version("add_positions", "wrong: kept from the call before", by=(10, 11))(_PositionAdder())


# With B = T the row is picked by the sentence, not by the position.
@version("add_positions", "wrong", by=11)
def add_positions_c_2(x, table):
    rows = table[: x.shape[1]]
    if x.shape[0] == x.shape[1]:
        return x + rows.unsqueeze(1)
    return x + rows.unsqueeze(0)
