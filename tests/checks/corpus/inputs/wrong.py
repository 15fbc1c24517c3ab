"""Wrong versions of inputs: each makes the mistake that is named."""

import itertools
import math
import re
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from tests.checks.corpus import version

# --- number_of_targets ----------------------------------------------------------------------------


@version("number_of_targets", "wrong: each word at most once")
def targets_permutations(vocab_size, length):
    return math.perm(vocab_size, length)


@version("number_of_targets", "wrong: choices added up")
def count_added(vocab_size, length):
    return vocab_size * length


# --- build_vocabulary -----------------------------------------------------------------------------


SPECIAL = ["<pad>", "<sos>", "<eos>", "<unk>"]


def frequent(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return [w for w in counts if counts[w] >= min_frequency]


@version("build_vocabulary", "wrong: an id left out before the words")
def vocab_from_five(sentences, min_frequency):
    vocab = dict(zip(SPECIAL, range(4), strict=True))
    for i, w in enumerate(frequent(sentences, min_frequency), start=5):
        vocab[w] = i
    return vocab


@version("build_vocabulary", "wrong: special tokens forgotten")
def vocab_words_only(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return {w: i for i, w in enumerate(w for w in counts if counts[w] >= min_frequency)}


@version("build_vocabulary", "wrong: special tokens at the end")
def vocab_specials_last(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    words = [w for w, n in counts.most_common() if n >= min_frequency]
    return {w: i for i, w in enumerate(words + SPECIAL)}


@version("build_vocabulary", "wrong: more than in place of at least")
def vocab_more_than(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] > min_frequency])}


@version("build_vocabulary", "wrong: frequency ignored")
def vocab_all(sentences, min_frequency):
    words = sorted({w for s in sentences for w in s})
    return {w: i for i, w in enumerate([*SPECIAL, *words])}


@version("build_vocabulary", "wrong: rare words kept, frequent ones dropped")
def vocab_rare(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] < min_frequency])}


@version("build_vocabulary", "wrong: at most in place of at least")
def vocab_rare_or_equal(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] <= min_frequency])}


@version("build_vocabulary", "wrong: sentences counted in place of words")
def vocab_set(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in set(s))
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] >= min_frequency])}


@version("build_vocabulary", "wrong: letters counted in place of words")
def vocab_letters(sentences, min_frequency):
    counts = Counter(letter for s in sentences for letter in "".join(s))
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] >= min_frequency])}


# --- encode ---------------------------------------------------------------------------------------


@version("encode", "wrong: <eos> behind every token")
def encode_ends(tokens, vocabulary):
    ids = []
    for t in tokens:
        ids += [vocabulary.get(t, 3), 2]
    return ids


@version("encode", "wrong: <eos> in front")
def encode_added(tokens, vocabulary):
    return [vocabulary["<eos>"]] + [vocabulary.get(t, vocabulary["<unk>"]) for t in tokens]


@version("encode", "wrong: unknown words dropped")
def encode_known(tokens, vocabulary):
    return [vocabulary[t] for t in tokens if t in vocabulary] + [2]


# --- text_to_ids ----------------------------------------------------------------------------------


@version("text_to_ids", "wrong: trained on one tokenizer and used with another")
def text_split_loop(text, tokenize, vocabulary):
    ids = []
    for word in text.strip().split(" "):
        ids.append(vocabulary[word] if word in vocabulary else vocabulary["<unk>"])
    ids.append(vocabulary["<eos>"])
    return ids


@version("text_to_ids", "wrong: letters in place of tokens")
def text_letters(text, tokenize, vocabulary):
    return [vocabulary.get(token, 3) for token in text] + [2]


@version("text_to_ids", "wrong: numbered anew")
def text_fresh_vocabulary(text, tokenize, vocabulary):
    specials = ["<pad>", "<sos>", "<eos>", "<unk>"]
    tokens = tokenize(text)
    fresh = {token: i for i, token in enumerate(specials + list(dict.fromkeys(tokens)))}
    return [fresh[token] for token in tokens] + [fresh["<eos>"]]


@version("text_to_ids", "wrong: end of the text forgotten")
def text_no_end(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in tokenize(text)]


@version("text_to_ids", "convention: <sos> in front of the text")
def text_start(text, tokenize, vocabulary):
    return [1, *(vocabulary.get(t, 3) for t in tokenize(text)), 2]


@version("text_to_ids", "wrong: text ends at its first unknown token")
def text_until(text, tokenize, vocabulary):
    ids = []
    for t in tokenize(text):
        if t not in vocabulary:
            break
        ids.append(vocabulary[t])
    return [*ids, 2]


@version("text_to_ids", "wrong: unknown tokens of the text taken for padding")
def text_zero(text, tokenize, vocabulary):
    return [vocabulary.get(t, 0) for t in tokenize(text)] + [2]


# --- training_words -------------------------------------------------------------------------------


@version("training_words", "wrong: vocabulary built on training and test")
def words_test(splits, min_frequency):
    counts = Counter(w for name in ("train", "test") for s in splits[name] for w in s)
    return [w for w in counts if counts[w] >= min_frequency]


@version("training_words", "wrong: frequency of the training words ignored")
def words_set(splits, min_frequency):
    return {w for s in splits["train"] for w in s}


@version("training_words", "wrong: training sentences counted in place of words")
def words_by_sentence(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in set(s))
    return [w for w in counts if counts[w] >= min_frequency]


# --- collate --------------------------------------------------------------------------------------


@version("collate", "wrong: ids that are no whole numbers")
def collate_float_rows(rows):
    return nn.utils.rnn.pad_sequence([torch.tensor(r, dtype=torch.float32) for r in rows], True)


@version("collate", "wrong: cut to the shortest")
def collate_zip(rows):
    return torch.tensor(list(zip(*rows, strict=False))).T


@version("collate", "wrong: <eos> after the padding")
def collate_eos_last(rows):
    n = max(map(len, rows))
    return torch.tensor([r[:-1] + [0] * (n - len(r)) + [2] for r in rows])


@version("collate", "wrong: padded with another token")
def collate_ones(rows):
    return pad_sequence([torch.tensor(r) for r in rows], batch_first=True, padding_value=1)


# --- shift ----------------------------------------------------------------------------------------


@version("shift", "wrong: last token left in the decoder's input")
def shift_whole(target):
    return target, target[:, 1:]


@version("shift", "wrong: shifted by two")
def shift_two(target):
    return target[:, :-1], target[:, 2:]


# --- embedding ------------------------------------------------------------------------------------


@version("embedding", "wrong: embedding not scaled")
class PlainEmbedding(nn.Embedding):
    pass


@version("embedding", "wrong: embedding scaled by the root of the length")
def embedding_by_length(tokens, weight):
    return weight[tokens] * tokens.size(-1) ** 0.5


@version("embedding", "wrong: embedding divided by the root")
def emb_divided(tokens, weight):
    return F.embedding(tokens, weight) / weight.size(-1) ** 0.5


# --- sinusoids ------------------------------------------------------------------------------------


@version("sinusoids", "wrong: integer frequencies")
def sin_floor(length, d_model):
    exponents = torch.div(torch.arange(0, d_model, 2), d_model, rounding_mode="floor")
    angle = torch.arange(length).unsqueeze(1) / torch.pow(10000.0, exponents)
    return torch.stack((angle.sin(), angle.cos()), dim=2).reshape(length, d_model)


@version("sinusoids", "wrong: angles multiplied in place of divided")
def sinusoids_exp(length, d_model):
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    rates = (even * (math.log(10000.0) / d_model)).exp()  # the minus is missing
    angle = torch.arange(length, dtype=torch.float64)[:, None] * rates
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1).float()


@version("sinusoids", "wrong: doubled exponent")
def sin_2_times_arange_2(length, d_model):
    pe = torch.zeros(length, d_model)
    i = torch.arange(0, d_model, 2)
    angle = torch.arange(length)[:, None] / 10000 ** (2 * i / d_model)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 1::2] = torch.cos(angle)
    return pe


@version("sinusoids", "wrong: halved exponent")
def sin_i_over_d(length, d_model):
    pe = torch.zeros(length, d_model)
    i = torch.arange(d_model // 2)
    angle = torch.arange(length)[:, None] / torch.pow(10000, i / d_model)
    pe[:, ::2], pe[:, 1::2] = angle.sin(), angle.cos()
    return pe


@version("sinusoids", "wrong: whole-number frequencies")
def sin_integer_divided(length, d_model):
    frequency = 1 // torch.pow(10000, torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(length)[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], -1).view(length, d_model)


@version("sinusoids", "wrong: 1000 in place of 10000")
def sin_1000_loop(length, d_model):
    angle = [[p / 1e3 ** (i / d_model) for i in range(0, d_model, 2)] for p in range(length)]
    angle = torch.tensor(angle)
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)


@version("sinusoids", "convention: halves in place of interleaved")
def sin_cat(length, d_model):
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


@version("sinusoids", "wrong: sines only")
def sin_only(length, d_model):
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.sin(angle).repeat_interleave(2, dim=1)


# --- add_positions --------------------------------------------------------------------------------


@version("add_positions", "wrong: one row for all positions")
def add_no_colon(x, table):
    return x + table[x.size(1)]


@version("add_positions", "wrong: positions one row late")
def positions_late(x, table):
    places = torch.arange(1, x.size(1) + 1).clamp(max=len(table) - 1)
    return x + (table[places] if x.size(1) < len(table) else table[1:])


@version("add_positions", "wrong: positions of the first sentence only")
def positions_first(x, table):
    y = x.clone()
    y[0] = y[0] + table[: x.size(1)]
    return y


@version("add_positions", "wrong: positions subtracted")
def positions_minus(x, table):
    return x - table[: x.size(1)]


@version("add_positions", "wrong: the same position everywhere")
def add_row_0(x, table):
    return x + table[0]


@version("add_positions", "wrong: positions from the end")
def add_flipped(x, table):
    return x + table[: x.size(1)].flip(0)


@version("add_positions", "wrong: last rows of the table, backwards")
def add_last_rows(x, table):
    return x + table[-x.size(1) :].flip(0)


@version("add_positions", "wrong: positions in place of words")
def add_replaced(x, table):
    x = table[: x.size(1)].expand(x.size(0), -1, -1)
    return x


@version("add_positions", "wrong: multiplied in place of added")
def add_times(x, table):
    return x * table[: x.shape[1]]


# --- learn_merges --------------------------------------------------------------------------------


def _join(parts, pair):
    new = []
    i = 0
    while i < len(parts):
        if tuple(parts[i : i + 2]) == pair:
            new.append(parts[i] + parts[i + 1])
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new


def _train(words, n, count=None, best=None, join=_join):
    pieces, merges = {word: list(word) for word in words}, []
    for _ in range(n):
        pairs = Counter()
        for word, parts in pieces.items():
            for pair in itertools.pairwise(parts):
                pairs[pair] += words[word]
        pairs = count(pieces, words) if count else pairs
        if not pairs:
            break
        pair = best(pairs) if best else min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(pair)
        pieces = {word: join(parts, pair) for word, parts in pieces.items()}
    return merges


@version("learn_merges", "wrong: each word counted once")
def merges_of_types(words, n):
    return _train({word: 1 for word in words}, n)


@version("learn_merges", "wrong: a pair counted once in a word")
def merges_of_sets(words, n):
    def count(pieces, words):
        pairs = Counter()
        for word, parts in pieces.items():
            pairs.update(dict.fromkeys(itertools.pairwise(parts), words[word]))
        return pairs

    return _train(words, n, count)


@version("learn_merges", "wrong: pairs counted across words")
def merges_of_a_line(words, n):
    def count(pieces, words):
        line = []
        for word, times in words.items():
            line += pieces[word] * times
        return Counter(zip(line, line[1:], strict=False))

    return _train(words, n, count)


@version("learn_merges", "convention: of equally frequent pairs the first met")
def merges_first_met(words, n):
    return _train(words, n, best=lambda pairs: pairs.most_common(1)[0][0])


@version("learn_merges", "convention: of equally frequent pairs the largest")
def merges_largest(words, n):
    return _train(words, n, best=lambda pairs: max((n, pair) for pair, n in pairs.items())[1])


@version("learn_merges", "wrong: the rarest pair first")
def merges_rarest(words, n):
    return _train(words, n, best=lambda pairs: min((n, pair) for pair, n in pairs.items())[1])


@version("learn_merges", "wrong: merged pair not joined before the next count")
def merges_in_one_count(words, n):
    return _train(words, n, join=lambda parts, pair: parts)


@version("learn_merges", "wrong: joined by replacing text")
def merges_as_text(words, n):
    def join(parts, pair):
        return re.sub(re.escape(" ".join(pair)), "".join(pair), " ".join(parts)).split()

    return _train(words, n, join=join)


@version("learn_merges", "wrong: joined at the first place only")
def merges_once(words, n):
    def join(parts, pair):
        for i in range(len(parts) - 1):
            if (parts[i], parts[i + 1]) == pair:
                return [*parts[:i], parts[i] + parts[i + 1], *parts[i + 2 :]]
        return parts

    return _train(words, n, join=join)


@version("learn_merges", "convention: places that overlap not counted")
def merges_without_overlap(words, n):
    def count(pieces, words):
        pairs = Counter()
        for word, parts in pieces.items():
            i = 0
            while i < len(parts) - 1:
                pairs[parts[i], parts[i + 1]] += words[word]
                i += 2 if parts[i : i + 3] == [parts[i]] * 3 else 1
        return pairs

    return _train(words, n, count)


# --- text_to_pieces ------------------------------------------------------------------------------


def _merge_all(parts, merges):
    for left, right in merges:
        new = []
        for piece in parts:
            if new and new[-1] == left and piece == right:
                new[-1] = left + right
            else:
                new.append(piece)
        parts = new
    return parts


@version("text_to_pieces", "wrong: merged across words")
def pieces_of_the_line(text, merges):
    line = " ".join(text.split())
    return _merge_all(list("▁" + line.replace(" ", "▁")) if line else [], merges)


@version("text_to_pieces", "wrong: words without their mark")
def pieces_without_a_mark(text, merges):
    return sum((_merge_all(list(word), merges) for word in text.split()), [])


@version("text_to_pieces", "wrong: first word without its mark")
def pieces_of_spaces(text, merges):
    words = " ".join(text.split()).replace(" ", " ▁").split(" ")
    return [piece for word in words for piece in _merge_all(list(word), merges)]


@version("text_to_pieces", "wrong: mark behind the word")
def pieces_with_the_mark_behind(text, merges):
    return [piece for word in text.split() for piece in _merge_all([*word, "▁"], merges)]


@version("text_to_pieces", "wrong: merges from the last to the first")
def pieces_reversed(text, merges):
    return [
        piece for word in text.split() for piece in _merge_all(["▁", *word], list(reversed(merges)))
    ]


@version("text_to_pieces", "wrong: longest known piece first")
def pieces_longest(text, merges):
    known = {a + b for a, b in merges}
    out = []
    for word in text.split():
        rest = "▁" + word
        while rest:
            end = len(rest)
            while end > 1 and rest[:end] not in known:
                end -= 1
            out.append(rest[:end])
            rest = rest[end:]
    return out


@version("text_to_pieces", "wrong: whatever stands further left first")
def pieces_from_the_left(text, merges):
    out = []
    for word in text.split():
        parts, i = ["▁", *word], 0
        while i < len(parts) - 1:
            if (parts[i], parts[i + 1]) in merges:
                parts[i : i + 2] = [parts[i] + parts[i + 1]]
                i = 0
            else:
                i += 1
        out += parts
    return out


@version("text_to_pieces", "wrong: joined at the first place only")
def pieces_joined_once(text, merges):
    out = []
    for word in text.split():
        parts = ["▁", *word]
        for a, b in merges:
            for i in range(len(parts) - 1):
                if parts[i] == a and parts[i + 1] == b:
                    parts = parts[:i] + [a + b] + parts[i + 2 :]
                    break
        out += parts
    return out


@version("text_to_pieces", "wrong: joined by replacing text")
def pieces_by_replacing(text, merges):
    out = []
    for word in text.split():
        line = " ".join(["▁", *word])
        for a, b in merges:
            line = line.replace(a + " " + b, a + b)
        out += line.split(" ")
    return out


@version("text_to_pieces", "wrong: stopped after one merge")
def pieces_of_one_merge(text, merges):
    def split(parts):
        for pair in merges:
            new = _merge_all(parts, [pair])
            if new != parts:
                return new
        return parts

    return [piece for word in text.split() for piece in split(["▁", *word])]


@version("embedding", "wrong")
def embedding_of_one_length(tokens, weight):
    return F.normalize(weight[tokens], dim=-1) * weight.size(1) ** 0.5


@version("sinusoids", "wrong")
def sinusoids_by_another_logarithm(length, d_model):
    position = torch.arange(length).unsqueeze(1).float()
    speed = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log10(10000.0) / d_model))
    table = torch.zeros(length, d_model)
    table[:, 0::2] = (position * speed).sin()
    table[:, 1::2] = (position * speed).cos()
    return table


@version("build_vocabulary", "wrong: a known word numbered by the size of the dictionary")
def every_occurrence_numbered(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for sentence in sentences:
        for word in sentence:
            if counts[word] >= min_frequency:
                vocabulary[word] = len(vocabulary)
    return vocabulary


@version("text_to_pieces", "wrong")
def pieces_joined_by_a_template(text, merges):
    pieces = []
    for word in text.split():
        spaced = " ".join("▁" + word)
        for left, right in merges:
            pattern = r"(?<!\S)" + re.escape(f"{left} {right}") + r"(?!\S)"
            spaced = re.sub(pattern, left + right, spaced)
        pieces += spaced.split(" ")
    return pieces


@version("build_vocabulary", "wrong: special tokens sorted with the words")
def specials_among_the_words(sentences, min_frequency):
    tokens = sorted([*SPECIAL, *frequent(sentences, min_frequency)])
    return {token: i for i, token in enumerate(tokens)}
