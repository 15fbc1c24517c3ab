"""Chapters 1 to 5, as beginners get them wrong: counting, words, batches, embeddings, positions."""

from __future__ import annotations

import math
from collections import Counter

import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

from tests.checks.wrong_versions import wrong


@wrong("number_of_targets", "n**V for V**n")
def count_exchanged(vocab_size, length):
    return length**vocab_size


@wrong("number_of_targets", "n**V for V**n")
def count_exchanged_loop(vocab_size, length):
    total = 1
    for _ in range(vocab_size):
        total *= length
    return total


@wrong("number_of_targets", "choices added up")
def count_added(vocab_size, length):
    return vocab_size * length


@wrong("number_of_targets", "choices added up")
def count_added_loop(vocab_size, length):
    total = 0
    for _ in range(length):
        total += vocab_size
    return total


# --- vocabularies --------------------------------------------------------------------------------

BV = "build_vocabulary"
SPECIAL = ["<pad>", "<sos>", "<eos>", "<unk>"]


@wrong(BV, "special tokens forgotten")
def vocab_words_only(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return {w: i for i, w in enumerate(w for w in counts if counts[w] >= min_frequency)}


@wrong(BV, "special tokens forgotten")
def vocab_len(sentences, min_frequency):
    counts, vocab = {}, {}
    for s in sentences:
        for w in s:
            counts[w] = counts.get(w, 0) + 1
    for w, n in counts.items():
        if n >= min_frequency:
            vocab[w] = len(vocab)
    return vocab


@wrong(BV, "special tokens at the end")
def vocab_specials_last(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    words = [w for w, n in counts.most_common() if n >= min_frequency]
    return {w: i for i, w in enumerate(words + SPECIAL)}


@wrong(BV, "special tokens at the end")
def vocab_specials_appended(sentences, min_frequency):
    counts = Counter(sum(sentences, []))  # noqa: RUF017
    vocab = {}
    for w in sorted(counts):
        if counts[w] >= min_frequency:
            vocab[w] = len(vocab)
    for special in SPECIAL:
        vocab[special] = len(vocab)
    return vocab


@wrong(BV, "more than in place of at least")
def vocab_more_than(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] > min_frequency])}


@wrong(BV, "more than in place of at least")
def vocab_skip(sentences, min_frequency):
    counts = Counter()
    for s in sentences:
        counts.update(s)
    vocab = dict(zip(SPECIAL, range(4), strict=True))
    for w, n in counts.items():
        if n <= min_frequency:
            continue
        vocab[w] = len(vocab)
    return vocab


@wrong(BV, "frequency ignored")
def vocab_all(sentences, min_frequency):
    words = sorted({w for s in sentences for w in s})
    return {w: i for i, w in enumerate([*SPECIAL, *words])}


@wrong(BV, "frequency ignored")
def vocab_setdefault(sentences, min_frequency):
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for s in sentences:
        for w in s:
            vocab.setdefault(w, len(vocab))
    return vocab


@wrong(BV, "rare words kept, frequent ones dropped")
def vocab_rare(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] < min_frequency])}


@wrong(BV, "at most in place of at least")
def vocab_rare_or_equal(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] <= min_frequency])}


@wrong(BV, "sentences counted in place of words")
def vocab_set(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in set(s))
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] >= min_frequency])}


@wrong(BV, "sentences counted in place of words")
def vocab_in(sentences, min_frequency):
    vocab = {w: i for i, w in enumerate(SPECIAL)}
    for s in sentences:
        for w in s:
            n = sum(w in other for other in sentences)
            if n >= min_frequency and w not in vocab:
                vocab[w] = len(vocab)
    return vocab


@wrong(BV, "letters counted in place of words")
def vocab_letters(sentences, min_frequency):
    counts = Counter(letter for s in sentences for letter in "".join(s))
    return {w: i for i, w in enumerate(SPECIAL + [w for w in counts if counts[w] >= min_frequency])}


@wrong(BV, "letters counted in place of words")
def vocab_update_word(sentences, min_frequency):
    counts = Counter()
    for s in sentences:
        for word in s:
            counts.update(word)
    vocab = {w: i for i, w in enumerate(SPECIAL)}
    for w, n in counts.most_common():
        if n >= min_frequency:
            vocab[w] = len(vocab)
    return vocab


@wrong("encode", "unknown words dropped")
def encode_known(tokens, vocabulary):
    return [vocabulary[t] for t in tokens if t in vocabulary] + [2]


@wrong("encode", "unknown words dropped")
def encode_try(tokens, vocabulary):
    ids = []
    for t in tokens:
        try:
            ids.append(vocabulary[t])
        except KeyError:
            continue
    return [*ids, vocabulary["<eos>"]]


@wrong("encode", "unknown words taken for padding")
def encode_get_0(tokens, vocabulary):
    return [vocabulary.get(t, 0) for t in tokens] + [vocabulary["<eos>"]]


@wrong("encode", "unknown words taken for padding")
def encode_zeros(tokens, vocabulary):
    ids = [0] * (len(tokens) + 1)
    for i, t in enumerate(tokens):
        if t in vocabulary:
            ids[i] = vocabulary[t]
    ids[-1] = 2
    return ids


@wrong("encode", "<eos> forgotten")
def encode_no_eos(tokens, vocabulary):
    return [vocabulary.get(t, vocabulary["<unk>"]) for t in tokens]


@wrong("encode", "<eos> forgotten")
def encode_plus_lost(tokens, vocabulary):
    ids = list(map(lambda t: vocabulary.get(t, 3), tokens))
    _ = [*ids, 2]
    return ids


@wrong("encode", "<sos> in front of a source")
def encode_sos(tokens, vocabulary):
    return [1] + [vocabulary.get(t, 3) for t in tokens] + [2]


@wrong("encode", "<sos> in front of a source")
def encode_framed(tokens, vocabulary):
    unknown = vocabulary["<unk>"]
    return [vocabulary.get(t, unknown) for t in ["<sos>", *tokens, "<eos>"]]


# --- batches -------------------------------------------------------------------------------------


@wrong("collate", "padding in front")
def collate_left(rows):
    n = max(len(r) for r in rows)
    return torch.tensor([[0] * (n - len(r)) + r for r in rows])


@wrong("collate", "padding in front")
def collate_left_ready_made(rows):
    return pad_sequence(
        [torch.tensor(r) for r in rows], batch_first=True, padding_value=0, padding_side="left"
    )


@wrong("collate", "cut to the shortest")
def collate_shortest(rows):
    n = min(len(r) for r in rows)
    return torch.tensor([r[:n] for r in rows])


@wrong("collate", "cut to the shortest")
def collate_zip(rows):
    return torch.tensor(list(zip(*rows, strict=False))).T


@wrong("collate", "<eos> after the padding")
def collate_eos_last(rows):
    n = max(map(len, rows))
    return torch.tensor([r[:-1] + [0] * (n - len(r)) + [2] for r in rows])


@wrong("collate", "<eos> after the padding")
def collate_eos_column(rows):
    batch = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for i, r in enumerate(rows):
        batch[i, : len(r) - 1] = torch.tensor(r[:-1])
        batch[i, -1] = 2
    return batch


@wrong("collate", "padded with another token")
def collate_ones(rows):
    return pad_sequence([torch.tensor(r) for r in rows], batch_first=True, padding_value=1)


@wrong("collate", "padded with another token")
def collate_filled(rows):
    batch = torch.ones(len(rows), max(map(len, rows))).long()
    for i, r in enumerate(rows):
        batch[i, : len(r)] = torch.tensor(r)
    return batch


@wrong("collate", "position first")
def collate_sequence_first(rows):
    return pad_sequence([torch.tensor(r) for r in rows])


@wrong("collate", "position first")
def collate_columns(rows):
    batch = torch.zeros(max(map(len, rows)), len(rows), dtype=torch.int64)
    for i, r in enumerate(rows):
        for t, token in enumerate(r):
            batch[t, i] = token
    return batch


@wrong("shift", "target not shifted")
def shift_not(target):
    return target[:, :-1], target[:, :-1]


@wrong("shift", "target not shifted")
def shift_chopped(target):
    decoder_input = target[:, : target.size(1) - 1]
    labels = decoder_input.clone()
    return decoder_input, labels


@wrong("shift", "nothing to begin with")
def shift_no_sos(target):
    return target[:, 1:], target[:, 1:]


@wrong("shift", "nothing to begin with")
def shift_no_sos_long(target):
    goes_in = target.narrow(1, 1, target.size(1) - 1)
    return goes_in, goes_in


@wrong("shift", "input and output exchanged")
def shift_exchanged(target):
    return target[:, 1:], target[:, :-1]


@wrong("shift", "input and output exchanged")
def shift_exchanged_lists(target):
    rows = target.tolist()
    return torch.tensor([r[1:] for r in rows]), torch.tensor([r[:-1] for r in rows])


@wrong("shift", "shifted along the batch")
def shift_batch(target):
    return target[:-1], target[1:]


@wrong("shift", "shifted along the batch")
def shift_batch_long(target):
    n = target.shape[0]
    return target[0 : n - 1, :], target[1:n, :]


# --- embeddings and positions --------------------------------------------------------------------

EMB = "embedding"


@wrong(EMB, "embedding not scaled")
def emb_plain(tokens, weight):
    return F.embedding(tokens, weight)


@wrong(EMB, "embedding not scaled")
def emb_one_hot(tokens, weight):
    return F.one_hot(tokens, weight.size(0)).float() @ weight


@wrong(EMB, "embedding scaled twice")
def emb_times_d(tokens, weight):
    return weight[tokens] * weight.shape[1]


@wrong(EMB, "embedding scaled twice")
def emb_twice(tokens, weight):
    weight = weight * math.sqrt(weight.size(1))
    return F.embedding(tokens, weight) * math.sqrt(weight.size(1))


@wrong(EMB, "embedding divided by the root")
def emb_divided(tokens, weight):
    return F.embedding(tokens, weight) / weight.size(-1) ** 0.5


@wrong(EMB, "embedding divided by the root")
def emb_rows(tokens, weight):
    rows = torch.stack([weight[t] for t in tokens.flatten().tolist()])
    return rows.reshape(*tokens.shape, -1) * weight.size(1) ** -0.5


@wrong(EMB, "embedding scaled by the root of the vocabulary")
def emb_vocab(tokens, weight):
    return weight[tokens] * math.sqrt(len(weight))


@wrong(EMB, "embedding scaled by the root of the vocabulary")
def emb_vocab_index(tokens, weight):
    vocab_size, _d_model = weight.shape
    flat = weight.index_select(0, tokens.reshape(-1))
    return flat.view(tokens.size(0), tokens.size(1), -1) * vocab_size**0.5


@wrong("tied_logits", "tied matrix not transposed")
def logits_no_t(x, weight):
    return x @ weight


@wrong("tied_logits", "tied matrix not transposed")
def logits_double_t(x, weight):
    return F.linear(x, weight.T)


@wrong("tied_logits", "scale left in the output")
def logits_scaled(x, weight):
    return F.linear(x, weight) * math.sqrt(x.size(-1))


@wrong("tied_logits", "scale left in the output")
def logits_scaled_weight(x, weight):
    scaled = weight * weight.size(1) ** 0.5
    return torch.einsum("btd,vd->btv", x, scaled)


@wrong("tied_logits", "softmax already taken")
def logits_softmax(x, weight):
    return F.linear(x, weight).softmax(-1)


@wrong("tied_logits", "softmax already taken")
def logits_exp(x, weight):
    e = torch.exp(torch.einsum("btd,vd->btv", x, weight))
    return e / e.sum(2, keepdim=True)


SIN = "sinusoids"


@wrong(SIN, "doubled exponent")
def sin_2_times_arange_2(length, d_model):
    pe = torch.zeros(length, d_model)
    i = torch.arange(0, d_model, 2)
    angle = torch.arange(length)[:, None] / 10000 ** (2 * i / d_model)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 1::2] = torch.cos(angle)
    return pe


@wrong(SIN, "doubled exponent")
def sin_loop_2i(length, d_model):
    pe = torch.zeros(length, d_model)
    for p in range(length):
        for i in range(0, d_model, 2):
            pe[p, i] = math.sin(p / 10000 ** (2 * i / d_model))
            pe[p, i + 1] = math.cos(p / 10000 ** (2 * i / d_model))
    return pe


@wrong(SIN, "halved exponent")
def sin_i_over_d(length, d_model):
    pe = torch.zeros(length, d_model)
    i = torch.arange(d_model // 2)
    angle = torch.arange(length)[:, None] / torch.pow(10000, i / d_model)
    pe[:, ::2], pe[:, 1::2] = angle.sin(), angle.cos()
    return pe


@wrong(SIN, "halved exponent")
def sin_loop_i(length, d_model):
    rows = []
    for p in range(length):
        row = []
        for i in range(d_model // 2):
            row += [math.sin(p / 10000 ** (i / d_model)), math.cos(p / 10000 ** (i / d_model))]
        rows.append(row)
    return torch.tensor(rows)


@wrong(SIN, "integer frequencies")
def sin_integer(length, d_model):
    pe = torch.zeros(length, d_model)
    for p in range(length):
        for i in range(0, d_model, 2):
            angle = p / 10000 ** (i // d_model)
            pe[p, i], pe[p, i + 1] = math.sin(angle), math.cos(angle)
    return pe


@wrong(SIN, "whole-number frequencies")
def sin_integer_divided(length, d_model):
    frequency = 1 // torch.pow(10000, torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(length)[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], -1).view(length, d_model)


@wrong(SIN, "exponent per column")
def sin_per_column(length, d_model):
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(d_model) / d_model)
    pe = angle.clone()
    pe[:, 0::2] = torch.sin(angle[:, 0::2])
    pe[:, 1::2] = torch.cos(angle[:, 1::2])
    return pe


@wrong(SIN, "exponent per column")
def sin_per_column_loop(length, d_model):
    pe = torch.zeros(length, d_model)
    for p in range(length):
        for i in range(d_model):
            angle = p / 10000 ** (i / d_model)
            pe[p, i] = math.sin(angle) if i % 2 == 0 else math.cos(angle)
    return pe


@wrong(SIN, "1000 in place of 10000")
def sin_1000(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(1000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@wrong(SIN, "1000 in place of 10000")
def sin_1000_loop(length, d_model):
    angle = [[p / 1e3 ** (i / d_model) for i in range(0, d_model, 2)] for p in range(length)]
    angle = torch.tensor(angle)
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)


@wrong(SIN, "positions from one")
def sin_from_one(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(1, length + 1).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@wrong(SIN, "positions from one")
def sin_from_one_enumerate(length, d_model):
    rows = torch.empty(length, d_model)
    for p, row in enumerate(rows, start=1):
        for i in range(0, d_model, 2):
            row[i] = math.sin(p * 10000 ** (-i / d_model))
            row[i + 1] = math.cos(p * 10000 ** (-i / d_model))
    return rows


@wrong(SIN, "halves in place of interleaved")
def sin_cat(length, d_model):
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


@wrong(SIN, "halves in place of interleaved")
def sin_halves(length, d_model):
    pe = torch.zeros(length, d_model)
    half = d_model // 2
    for i in range(half):
        angle = torch.arange(length) / 10000 ** (2 * i / d_model)
        pe[:, i] = torch.sin(angle)
        pe[:, half + i] = torch.cos(angle)
    return pe


@wrong(SIN, "sine and cosine exchanged")
def sin_exchanged(length, d_model):
    pe = torch.zeros(length, d_model)
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    pe[:, 0::2] = torch.cos(angle)
    pe[:, 1::2] = torch.sin(angle)
    return pe


@wrong(SIN, "sine and cosine exchanged")
def sin_exchanged_loop(length, d_model):
    pe = torch.zeros(length, d_model)
    for p in range(length):
        for j in range(d_model):
            angle = p / 10000 ** ((j - j % 2) / d_model)
            pe[p, j] = math.sin(angle) if j % 2 else math.cos(angle)
    return pe


@wrong(SIN, "sines only")
def sin_only(length, d_model):
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.sin(angle).repeat_interleave(2, dim=1)


@wrong(SIN, "sines only")
def sin_only_slices(length, d_model):
    pe = torch.zeros(length, d_model)
    for i in range(0, d_model, 2):
        angle = torch.arange(length) / 10000 ** (i / d_model)
        pe[:, i] = torch.sin(angle)
        pe[:, i + 1] = torch.sin(angle)
    return pe


ADD = "add_positions"


@wrong(ADD, "batch axis taken for position")
def add_batch(x, table):
    return x + table[: x.size(0)].unsqueeze(1)


@wrong(ADD, "batch axis taken for position")
def add_batch_loop(x, table):
    return torch.stack([sentence + table[i] for i, sentence in enumerate(x)])


@wrong(ADD, "the same position everywhere")
def add_row_0(x, table):
    return x + table[0]


@wrong(ADD, "the same position everywhere")
def add_embedding_zeros(x, table):
    positions = torch.zeros(x.shape[:2], dtype=torch.long)
    return x + F.embedding(positions, table)


@wrong(ADD, "positions from the end")
def add_flipped(x, table):
    return x + table[: x.size(1)].flip(0)


@wrong(ADD, "last rows of the table, backwards")
def add_last_rows(x, table):
    return x + table[-x.size(1) :].flip(0)


@wrong(ADD, "positions in place of words")
def add_replaced(x, table):
    x = table[: x.size(1)].expand(x.size(0), -1, -1)
    return x


@wrong(ADD, "positions in place of words")
def add_replaced_embedding(x, table):
    b, t, _ = x.shape
    return F.embedding(torch.arange(t).repeat(b, 1), table)


@wrong(ADD, "multiplied in place of added")
def add_times(x, table):
    return x * table[: x.shape[1]]


@wrong(ADD, "multiplied in place of added")
def add_einsum(x, table):
    return torch.einsum("btd,td->btd", x, table[: x.size(1)])
