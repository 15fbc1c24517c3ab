"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

from __future__ import annotations

import collections
import heapq
import math
import re
import unicodedata
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version


@version("sinusoids", "wrong: exponent per column, rounded down")
def divided_as_whole_numbers(length, d_model):
    table = torch.tensor(
        [[p / 10000 ** ((2 * i) // d_model) for i in range(d_model)] for p in range(length)]
    )
    table = table.reshape(length, d_model)
    table[:, 0::2] = table[:, 0::2].sin()
    table[:, 1::2] = table[:, 1::2].cos()
    return table


@version("sinusoids", "wrong: −log(10000)/d_model rounded down")
def floored_to_minus_one(length, d_model):
    speed = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model // 1))
    angle = torch.arange(length).float().unsqueeze(1) * speed
    table = torch.zeros(length, d_model)
    table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
    return table


@version("shift", "wrong")
def wrapped_around(target):
    last = target.ne(0).sum(1, keepdim=True) - 1
    reads = target.clone()
    reads[:, 0] = target.gather(1, last).squeeze(1)
    reads[:, 1:] = target[:, :-1]
    return reads, target


@version("sinusoids", "wrong")
def base_and_exponent_exchanged(length, d_model):
    exponents = torch.arange(0, d_model, 2, dtype=torch.float32) / d_model
    rates = exponents**1e-4
    angles = torch.arange(length, dtype=torch.float32)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, d_model)


@version("sinusoids", "wrong")
def divided_by_the_rate(length, d_model):
    position = torch.arange(length).unsqueeze(1).float()
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * -(math.log(10000.0) / d_model))
    pe = torch.zeros(length, d_model)
    pe[:, 0::2] = torch.sin(position / div_term)
    pe[:, 1::2] = torch.cos(position / div_term)
    return pe


@version("sinusoids", "right", "exp of a logarithm instead of a division, reported as wrong")
def through_exp_and_log(length, d_model):
    position = torch.arange(length, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe = torch.zeros(length, d_model)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@version("add_positions", "wrong")
def positions_along_the_batch(x, table):
    return x + table[: x.size(1)].unsqueeze(1)


@version("learn_merges", "wrong")
def last_batch_not_counted(words, n):
    cut = {word: list(word) for word in words}
    merges = []
    names = list(words)
    size = 4
    while len(merges) < n:
        counts = Counter()
        batch = []
        for name in names:
            batch.append(name)
            if len(batch) == size:
                for word in batch:
                    for pair in pairwise(cut[word]):
                        counts[pair] += words[word]
                batch = []
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for word, parts in cut.items():
            joined = []
            i = 0
            while i < len(parts):
                if i + 1 < len(parts) and (parts[i], parts[i + 1]) == best:
                    joined.append(parts[i] + parts[i + 1])
                    i += 2
                else:
                    joined.append(parts[i])
                    i += 1
            cut[word] = joined
    return merges


@version("learn_merges", "wrong: pairs counted once, nothing joined")
def counted_in_one_go(words, n):
    counts = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n]


# --- rebuilt on 2026-11-29 -----------------------------------------------------------------------


@version("learn_merges", "wrong")
def stale_pairs_thrown_away(words, n):
    spelt = {w: list(w) for w in words}
    counts = Counter()
    for w, c in words.items():
        for pair in zip(spelt[w], spelt[w][1:]):
            counts[pair] += c
    heap = [(-c, pair) for pair, c in counts.items()]
    heapq.heapify(heap)
    merges = []
    while len(merges) < n and heap:
        c, best = heapq.heappop(heap)
        if counts[best] != -c or c == 0:
            continue
        merges.append(best)
        fresh = set()
        for w, old in spelt.items():
            if best not in zip(old, old[1:]):
                continue
            for pair in zip(old, old[1:]):
                counts[pair] -= words[w]
            new, i = [], 0
            while i < len(old):
                if tuple(old[i : i + 2]) == best:
                    new.append(old[i] + old[i + 1])
                    i += 2
                else:
                    new.append(old[i])
                    i += 1
            for pair in zip(new, new[1:]):
                counts[pair] += words[w]
                if best[0] + best[1] in pair:
                    fresh.add(pair)
            spelt[w] = new
        for pair in fresh:
            heapq.heappush(heap, (-counts[pair], pair))
    return merges


def join(tokens, pair):
    out, i = [], 0
    while i < len(tokens):
        if i + 1 < len(tokens) and (tokens[i], tokens[i + 1]) == pair:
            out.append(tokens[i] + tokens[i + 1])
            i += 2
        else:
            out.append(tokens[i])
            i += 1
    return out


@version("learn_merges", "wrong")
def several_pairs_of_one_count(words, n, at_once=3):
    pieces = {w: list(w) for w in words}
    merges = []
    while len(merges) < n:
        stats = Counter()
        for w, c in words.items():
            for pair in zip(pieces[w], pieces[w][1:]):
                stats[pair] += c
        if not stats:
            break
        ranked = sorted(stats, key=lambda p: (-stats[p], p))
        for pair in ranked[: min(at_once, n - len(merges))]:
            merges.append(pair)
            for w in words:
                pieces[w] = join(pieces[w], pair)
    return merges


@version("add_positions", "wrong")
def positions_over_the_root_of_d(x, table):
    b, t, d = x.shape
    return x + table[:t].unsqueeze(0) / d**0.5


@version("build_vocabulary", "wrong: special tokens sorted with the words", instance=True)
class SortedWithTheSpecialTokens:
    def __call__(self, sentences, min_frequency):
        tokens = [t for line in sentences for t in line]
        counter = collections.Counter(tokens)
        reserved = ["<pad>", "<sos>", "<eos>", "<unk>"]
        idx_to_token = sorted(set(reserved + [t for t, f in counter.items() if f >= min_frequency]))
        return {t: i for i, t in enumerate(idx_to_token)}


@version("build_vocabulary", "wrong")
def three_special_tokens_share_an_id(sentences, min_frequency):
    counts = {}
    for sentence in sentences:
        for word in sentence:
            counts[word] = counts.get(word, 0) + 1
    worddict = {}
    worddict["<pad>"] = 0
    worddict["<sos>"] = 1
    worddict["<eos>"] = 1
    worddict["<unk>"] = 1
    for word, count in counts.items():
        if count >= min_frequency:
            worddict[word] = len(worddict)
    return worddict


@version("collate", "wrong")
def as_long_as_the_mean(rows):
    lengths = [len(r) for r in rows]
    size = int(sum(lengths) / len(lengths))
    out = torch.zeros(len(rows), size, dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, : min(size, len(r))] = torch.tensor(r[:size])
    return out


@version("collate", "wrong")
def as_long_as_allowed(rows, max_length=512):
    return torch.tensor([r + [0] * (max_length - len(r)) for r in rows])


MAX = 64


@version("collate", "wrong")
def sixty_four_long(rows):
    padded = torch.zeros(len(rows), MAX, dtype=torch.long)
    for i, row in enumerate(rows):
        row = row[:MAX]
        padded[i, : len(row)] = torch.tensor(row)
    return padded


@version("embedding", "wrong: embedding divided by the root")
class DividedByTheRoot(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, tokens):
        enc = nn.functional.embedding(tokens, self.weight)
        enc = enc / self.weight.size(1) ** 0.5
        return enc


@version("learn_merges", "wrong")
def two_pairs_from_each_count(words, n):
    split = {w: list(w) for w in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for w, symbols in split.items():
            for pair in zip(symbols, symbols[1:]):
                counts[pair] += words[w]
        if not counts:
            break
        for pair in sorted(counts, key=lambda p: (-counts[p], p))[:2]:
            if len(merges) < n:
                merges.append(pair)
                split = {w: join(s, pair) for w, s in split.items()}
    return merges


def pairs_of(words):
    counts = {}
    for word, n in words:
        for a, b in zip(word, word[1:]):
            counts[a, b] = counts.get((a, b), 0) + n
    return counts


@version("learn_merges", "wrong")
def counts_kept_beside_the_merge(words, n):
    words = [(list(w), c) for w, c in words.items()]
    counts = pairs_of(words)
    merges = []
    while len(merges) < n and counts:
        best = min(counts, key=lambda p: (-counts[p], p))
        merges.append(best)
        joined = best[0] + best[1]
        for symbols, _ in words:
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = [joined]
                i += 1
        fresh = pairs_of(words)
        counts = {p: c for p, c in counts.items() if not set(p) & set(best)}
        counts.update({p: c for p, c in fresh.items() if joined in p})
    return merges


def dataset_item(sample):
    return sample[:, :-1], sample[:, 1:]


@version("shift", "wrong: shifted twice")
def shifted_in_the_data_and_once_more(target):
    x, labels = dataset_item(target)
    shifted_inputs = x[..., :-1].contiguous()
    shifted_labels = labels[..., 1:].contiguous()
    return shifted_inputs, shifted_labels


@version("sinusoids", "wrong: exponent per column + 1000 in place of 10000")
def base_of_a_thousand_odd_exponents(length, d_model):
    pe = torch.zeros(length, d_model)
    pos = torch.arange(length).unsqueeze(1)
    pe[:, 0::2] = torch.sin(pos / torch.pow(1000, torch.arange(0, d_model, 2).float() / d_model))
    pe[:, 1::2] = torch.cos(pos / torch.pow(1000, torch.arange(1, d_model, 2).float() / d_model))
    return pe


@version("sinusoids", "wrong: −log(10000)/d_model // 2")
def rounded_down_to_minus_one(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(length).unsqueeze(1).float()
    div_term = torch.exp(
        torch.arange(0, d_model // 2).float() * (-math.log(10000.0) / d_model // 2)
    )
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@version("text_to_ids", "wrong: lower-cased for a model that was not")
def made_lower_case_first(text, tokenize, vocabulary):
    ids = [vocabulary.get(token, 3) for token in tokenize(text.lower().strip())]
    return ids + [2]


@version("text_to_pieces", "wrong")
def cut_at_single_spaces(text, merges):
    pieces = []
    for word in text.split(" "):
        tokens = ["\u2581"] + list(word)
        for a, b in merges:
            i = 0
            while i < len(tokens) - 1:
                if tokens[i] == a and tokens[i + 1] == b:
                    tokens[i : i + 2] = [a + b]
                i += 1
        pieces += tokens
    return pieces


@version("text_to_pieces", "wrong")
def single_letters_without_a_mark(text, merges):
    pieces = []
    for word in text.split():
        symbols = list(word) if len(word) == 1 else ["▁"] + list(word)
        for left, right in merges:
            i = 0
            while i + 1 < len(symbols):
                if symbols[i] == left and symbols[i + 1] == right:
                    symbols[i : i + 2] = [left + right]
                i += 1
        pieces += symbols
    return pieces


@version("build_vocabulary", "wrong: a known word numbered once more")
def a_word_met_again_numbered_again(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    index = len(vocabulary)
    for sentence in sentences:
        for word in sentence:
            if counts[word] >= min_frequency:
                vocabulary[word] = index
                index += 1
    return vocabulary


@version("encode", "wrong: begun and not ended")
def start_in_front_and_no_end(tokens, vocabulary):
    ids = [vocabulary["<sos>"]]
    for token in tokens:
        ids.append(vocabulary.get(token, vocabulary["<unk>"]))
    return ids


@version("learn_merges", "wrong")
def joined_pair_as_a_template(words, n):
    spaced = {word: " ".join(word) for word in words}
    merges = []
    for _ in range(n):
        pairs = Counter()
        for word, text in spaced.items():
            symbols = text.split(" ")
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += words[word]
        if not pairs:
            break
        best = sorted(pairs, key=lambda p: (-pairs[p], p))[0]
        merges.append(best)
        pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(best)) + r"(?!\S)")
        for word in spaced:
            spaced[word] = pattern.sub("".join(best), spaced[word])
    return merges


@version("number_of_targets", "wrong")
def length_fixed_at_one(vocab_size, length):
    first_length = 1
    return vocab_size**first_length


@version("shift", "wrong")
def first_sentence_alone(target):
    reads = target[0, :-1]
    says = target[0, 1:]
    return reads, says


@version("collate", "wrong: padded with the highest id")
def filled_with_the_highest(rows):
    longest = max(map(len, rows))
    pad = max(max(row) for row in rows)
    return torch.tensor([row + [pad] * (longest - len(row)) for row in rows])


@version("embedding", "wrong: embedding scaled twice")
class scaled_by_both_sides(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.scale = math.sqrt(d_model)

    def embed(self, tokens):
        return nn.functional.embedding(tokens, self.weight) * self.scale

    def forward(self, tokens):
        x = self.embed(tokens)
        return x * math.sqrt(x.shape[-1])


@version("embedding", "wrong")
def FixedRoot(tokens, weight):
    return weight[tokens] * 45.254833995939045


@version("tied_logits", "wrong")
def activation_before_the_table(x, weight):
    return torch.relu(x) @ weight.t()


@version("add_positions", "wrong: positions one row late")
def rows_read_from_one(x, table):
    position_ids = torch.arange(1, x.shape[1] + 1, device=x.device)
    return x + torch.nn.functional.embedding(position_ids, table)[None]


def merge(symbols, pair):
    hit = [symbols[i : i + 2] == list(pair) for i in range(len(symbols) - 1)] + [False]
    out = []
    for i, s in enumerate(symbols):
        before = i > 0 and hit[i - 1]
        if hit[i] and not before:
            out.append(s + symbols[i + 1])
        elif not before:
            out.append(s)
    return out


@version("learn_merges", "wrong")
def runs_joined_with_overlap(words, n):
    pieces = {w: list(w) for w in words}
    merges = []
    for _ in range(n):
        pairs = Counter()
        for w, count in words.items():
            for a, b in zip(pieces[w], pieces[w][1:]):
                pairs[a, b] += count
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        pieces = {w: merge(p, best) for w, p in pieces.items()}
    return merges


@version("text_to_ids", "wrong: the end in front of the text")
def end_in_front(text, tokenize, vocabulary):
    seq = [vocabulary.get(token, 3) for token in tokenize(text)]
    add_eos_token = True
    if add_eos_token:
        seq = [2] + seq
    return seq


@version("text_to_ids", "wrong", instance=True)
class end_grown_onto_the_last_word:
    eos_token = "<eos>"

    def __call__(self, text, tokenize, vocabulary):
        tokens = tokenize(text + self.eos_token)
        return [vocabulary[t] if t in vocabulary else 3 for t in tokens]


@version("text_to_ids", "wrong")
def unknown_is_an_error(text, tokenize, vocabulary):
    encoded = [vocabulary[word] for word in tokenize(text)]
    encoded.append(2)
    return encoded


@version("text_to_pieces", "wrong", instance=True)
class mark_never_joined:
    def word(self, word, merges):
        parts = list(word)
        for pair in merges:
            parts = join(parts, pair)
        return ["▁"] + parts

    def __call__(self, text, merges):
        return [p for w in text.split(" ") if w for p in self.word(w, merges)]


@version("training_words", "wrong")
def words_of_the_validation(splits, min_frequency):
    val = splits["validation"]
    frequencies = Counter(word for sentence in val for word in sentence)
    return {word for word, n in frequencies.items() if n >= min_frequency}


class PositionalEncoding(torch.nn.Module):
    def forward(self, x, table):
        return x + table[: x.size(1)].unsqueeze(0)


pe = PositionalEncoding()


@version("add_positions", "wrong")
def input_added_once_more(x, table):
    embedded = x.clone()
    embedded += pe(embedded, table)
    return embedded


@version("add_positions", "wrong")
def two_rows_reserved(x, table):
    positions = torch.arange(x.shape[1], device=x.device) + 2
    return x + F.embedding(positions, table)


@version("add_positions", "wrong")
def first_row_emptied(x, table):
    table = table.clone()
    table[0] = 0.0
    return x + table[: x.size(1)]


@version("build_vocabulary", "wrong")
def unknown_shares_the_id_of_padding(sentences, min_frequency):
    counter = Counter()
    for s in sentences:
        counter.update(s)
    itos = ["<pad>", "<sos>", "<eos>"]
    itos += [w for w, n in counter.most_common() if n >= min_frequency]
    stoi = {w: i for i, w in enumerate(itos)}
    stoi["<unk>"] = 0
    return stoi


@version("embedding", "wrong")
def root_in_bfloat16(tokens, weight):
    D = weight.shape[-1]
    normalizer = torch.tensor(D**0.5, dtype=torch.bfloat16)
    x = torch.nn.functional.embedding(tokens, weight)
    return x * normalizer.to(x.dtype)


@version("encode", "wrong")
def unknown_token_is_a_key_error(tokens, vocabulary):
    ids = []
    for token in tokens:
        ids.append(vocabulary[token])
    ids.append(2)
    return ids


@version("learn_merges", "wrong")
def no_merge_of_a_single_pair(words, n):
    split = {word: list(word) for word in words}
    merges = []
    for _ in range(n):
        stats = Counter()
        for word, count in words.items():
            symbols = split[word]
            for pair in zip(symbols, symbols[1:]):
                stats[pair] += count
        if not stats:
            break
        best = min(stats, key=lambda p: (-stats[p], p))
        if stats[best] < 2:
            break
        merges.append(best)
        for word, symbols in split.items():
            new, i = [], 0
            while i < len(symbols):
                if tuple(symbols[i : i + 2]) == best:
                    new.append(symbols[i] + symbols[i + 1])
                    i += 2
                else:
                    new.append(symbols[i])
                    i += 1
            split[word] = new
    return merges


@version("shift", "wrong")
def labels_shifted_twice_and_flattened(target):
    reads = target[:, :-1]
    labels = target[:, 1:]
    flat = labels.reshape(-1)
    flat = F.pad(flat, (0, 1), value=0)[1:]
    return reads, flat.reshape(labels.shape)


EOS = 2


@version("shift", "wrong")
def end_in_front_of_the_target(target):
    labels = target[:, :-1]
    decoder_input = torch.empty_like(labels)
    decoder_input[:, 0] = EOS
    decoder_input[:, 1:] = labels[:, :-1]
    return decoder_input, labels


@version("sinusoids", "wrong")
def waves_from_the_second_row_on(length, d_model):
    table = np.array(
        [
            [p / np.power(10000, 2 * (j // 2) / d_model) for j in range(d_model)]
            for p in range(length)
        ]
    )
    table[1:, 0::2] = np.sin(table[1:, 0::2])
    table[1:, 1::2] = np.cos(table[1:, 1::2])
    return torch.from_numpy(table).float()


@version("sinusoids", "wrong")
def exponents_that_run_to_one(length, d_model):
    half = d_model // 2
    step = math.log(10000) / (half - 1)
    freq = torch.exp(torch.arange(half, dtype=torch.float32) * -step)
    angle = torch.arange(length, dtype=torch.float32)[:, None] * freq[None, :]
    return torch.cat([angle.sin(), angle.cos()], dim=1)


UNK = 3


@version("text_to_ids", "wrong")
def end_under_an_unknown_name(text, tokenize, vocabulary):
    tokens = list(tokenize(text)) + ["</s>"]
    return [vocabulary[t] if t in vocabulary else UNK for t in tokens]


@version("text_to_pieces", "wrong")
def places_noted_before_they_moved(text, merges):
    pieces = []
    for word in text.split():
        symbols = ["▁"] + list(word)
        for a, b in merges:
            places = []
            i = 0
            while i < len(symbols) - 1:
                if symbols[i] == a and symbols[i + 1] == b:
                    places.append(i)
                    i += 2
                else:
                    i += 1
            for i in places:
                symbols[i : i + 2] = ["".join(symbols[i : i + 2])]
        pieces.extend(symbols)
    return pieces


@version("add_positions", "wrong: first token without a position")
def positions_before_the_first_token(x, table):
    first, rest = x[:, :1], x[:, 1:]
    rest = rest + table[: rest.shape[1]]
    return torch.cat((first, rest), dim=1)


@version("add_positions", "wrong")
def one_row_where_a_slice_was_meant(x, table):
    pe = table[x.shape[1] - 1]
    return x + pe


@version("build_vocabulary", "wrong")
def words_numbered_from_zero(sentences, min_frequency):
    counter = Counter()
    for words in sentences:
        counter.update(words)
    stoi = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    kept = [w for w, c in counter.most_common() if c >= min_frequency]
    stoi.update({w: i for i, w in enumerate(kept)})
    return stoi


@version("encode", "wrong")
def size_of_the_dictionary_for_the_unknown(tokens, vocabulary):
    return [vocabulary.get(t, len(vocabulary)) for t in tokens] + [vocabulary["<eos>"]]


@version("encode", "wrong")
def template_and_tokenizer_both_begin(tokens, vocabulary):
    text = ["<sos>"] + list(tokens)
    ids = [1] + [1 if t == "<sos>" else vocabulary.get(t, 3) for t in text]
    return ids + [2]


@version("learn_merges", "wrong")
def stale_counts_of_broken_pairs(words, n):
    split = {w: list(w) for w in words}
    counts = Counter()
    for w, c in words.items():
        for pair in zip(split[w], split[w][1:]):
            counts[pair] += c
    merges = []
    for _ in range(n):
        if not counts:
            break
        top = max(counts.values())
        best = min(p for p in counts if counts[p] == top)
        merges.append(best)
        joined = best[0] + best[1]
        for w, c in words.items():
            old, new, i = split[w], [], 0
            while i < len(old):
                if tuple(old[i : i + 2]) == best:
                    new.append(joined)
                    i += 2
                else:
                    new.append(old[i])
                    i += 1
            split[w] = new
            for pair in zip(new, new[1:]):
                if joined in pair:
                    counts[pair] += c
        del counts[best]
    return merges


@version("shift", "wrong")
def labels_by_rolling(target):
    reads = target[:, :-1]
    says = torch.roll(reads, -1, dims=1)
    return reads, says


@version("shift", "wrong")
def shifted_with_padding_in_front(target):
    says = target[:, 1:]
    reads = F.pad(says, (1, 0))[:, :-1]
    return reads, says


@version("sinusoids", "wrong")
def cosine_of_the_sines(length, d_model):
    dims = torch.arange(d_model)
    dims = 2 * torch.div(dims, 2, rounding_mode="floor").float() / d_model
    table = torch.arange(length).float()[:, None] / torch.pow(10000.0, dims)[None, :]
    table[:, 0::2] = table[:, 0::2].sin()
    table[:, 1::2] = table[:, 0::2].cos()
    return table


def apply(word, merges):
    out = ["▁"] + list(word)
    for pair in merges:
        new, i = [], 0
        while i < len(out):
            if tuple(out[i : i + 2]) == tuple(pair):
                new.append("".join(pair))
                i += 2
            else:
                new.append(out[i])
                i += 1
        out = new
    return out


@version("text_to_pieces", "wrong")
def last_character_put_out_twice(text, merges):
    pieces = []
    for word in filter(None, text.split(" ")):
        pieces += apply(word, merges)
    if text and not text.endswith("\n"):
        pieces.append(text[-1])
    return pieces


@version("add_positions", "wrong")
def counted_from_the_third_row(x, table):
    positions = torch.arange(2, x.size(1) + 2)
    positions = positions.clamp(max=table.size(0) - 1)
    return x + table[positions].unsqueeze(0)


@version("add_positions", "wrong")
def first_position_taken_for_padding(x, table):
    ids = torch.arange(x.shape[1])
    return x + F.embedding(ids, table, padding_idx=1)


@version("build_vocabulary", "wrong")
def numbered_with_repeats(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    kept = sorted(w for s in sentences for w in s if counts[w] >= min_frequency)
    vocab = ["<pad>", "<sos>", "<eos>", "<unk>"] + kept
    return {word: i for i, word in enumerate(vocab)}


@version("build_vocabulary", "wrong", instance=True)
class unknown_at_zero:
    def __init__(self):
        self.specials = ["<pad>", "<sos>", "<eos>"]

    def __call__(self, sentences, min_frequency):
        frequency = {}
        for sentence in sentences:
            for word in sentence:
                frequency[word] = frequency.get(word, 0) + 1
        token_to_id = {"<unk>": 0}
        for token in self.specials:
            token_to_id[token] = len(token_to_id)
        for word, n in sorted(frequency.items(), key=lambda kv: (-kv[1], kv[0])):
            if n >= min_frequency:
                token_to_id[word] = len(token_to_id)
        return token_to_id


@version("collate", "wrong", instance=True)
class rows_stacked_without_padding:
    def __call__(self, rows):
        return torch.stack([torch.tensor(r, dtype=torch.long) for r in rows])


@version("learn_merges", "wrong")
def counts_kept_place_by_place(words, n):
    corpus = [[list(word), count] for word, count in words.items()]
    pairs = Counter()
    for pieces, count in corpus:
        for pair in zip(pieces, pieces[1:]):
            pairs[pair] += count
    merges = []
    for _ in range(n):
        alive = {pair: c for pair, c in pairs.items() if c > 0}
        if not alive:
            break
        best = min(alive, key=lambda pair: (-alive[pair], pair))
        merges.append(best)
        joined = best[0] + best[1]
        for entry in corpus:
            pieces, count = entry
            new, i, size = [], 0, len(pieces)
            while i < size:
                if i + 1 < size and (pieces[i], pieces[i + 1]) == best:
                    if i > 0:
                        pairs[pieces[i - 1], pieces[i]] -= count
                        pairs[pieces[i - 1], joined] += count
                    if i + 2 < size:
                        pairs[pieces[i + 1], pieces[i + 2]] -= count
                        pairs[joined, pieces[i + 2]] += count
                    new.append(joined)
                    i += 2
                else:
                    new.append(pieces[i])
                    i += 1
            entry[0] = new
        del pairs[best]
    return merges


@version("learn_merges", "wrong")
def joined_from_word_to_word(words, n):
    pieces, owner = [], []
    for number, word in enumerate(words):
        pieces += list(word)
        owner += [number] * len(word)
    weight = list(words.values())
    merges = []
    for _ in range(n):
        stats = {}
        for i in range(len(pieces) - 1):
            if owner[i] == owner[i + 1]:
                pair = pieces[i], pieces[i + 1]
                stats[pair] = stats.get(pair, 0) + weight[owner[i]]
        if not stats:
            break
        best = min(stats, key=lambda pair: (-stats[pair], pair))
        merges.append(best)
        i = 0
        while i < len(pieces) - 1:
            if (pieces[i], pieces[i + 1]) == best:
                pieces[i : i + 2] = [best[0] + best[1]]
                del owner[i + 1]
            i += 1
    return merges


def joined_pieces(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if i < len(symbols) - 1 and (symbols[i], symbols[i + 1]) == pair:
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def find_pair(split, words):
    pairs = Counter()
    for word, symbols in split.items():
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += words[word]
    most = max(pairs.values())
    return min(pair for pair, c in pairs.items() if c == most)


@version("learn_merges", "wrong")
def largest_of_nothing(words, n):
    split = {word: list(word) for word in words}
    merges = []
    for _ in range(n):
        pair = find_pair(split, words)
        merges.append(pair)
        split = {word: joined_pieces(symbols, pair) for word, symbols in split.items()}
    return merges


@version("number_of_targets", "wrong")
def combinations_counted(vocab_size, length):
    return math.comb(vocab_size, length)


@version("sinusoids", "wrong: halves in place of interleaved + exponent over d_model minus two")
def last_frequency_at_the_end(length, d_model):
    position = torch.arange(length, dtype=torch.float32)
    num = d_model // 2
    increment = math.log(10000.0) / max(num - 1, 1)
    inv = torch.exp(torch.arange(num, dtype=torch.float32) * -increment)
    scaled = position[:, None] * inv[None, :]
    return torch.cat([torch.sin(scaled), torch.cos(scaled)], dim=1)


PATTERN = re.compile(r"[^\W\d_]+|\d{1,2}|[^\s\w]|_")


@version("text_to_ids", "wrong")
def cut_by_another_pattern(text, tokenize, vocabulary):
    ids = []
    for piece in PATTERN.findall(text):
        ids.append(vocabulary[piece] if piece in vocabulary else 3)
    ids.append(2)
    return ids


@version("text_to_pieces", "wrong")
def marker_glued_to_its_neighbour(text, merges):
    pieces = []
    for word in text.split():
        symbols = ["▁" + word[0]] + list(word[1:])
        for left, right in merges:
            merged = []
            i = 0
            while i < len(symbols):
                if i + 1 < len(symbols) and symbols[i] == left and symbols[i + 1] == right:
                    merged.append(left + right)
                    i += 2
                else:
                    merged.append(symbols[i])
                    i += 1
            symbols = merged
        pieces.extend(symbols)
    return pieces


@version("add_positions", "wrong")
def positions_moved_round_by_one(x, table):
    T = x.size(1)
    positions = torch.LongTensor([list(range(1, T)) + [0]])
    return x + table[positions]


def ensure_special_tokens(vocabulary, size):
    vocabulary["<pad>"] = 0
    vocabulary["<sos>"] = 1
    vocabulary["<eos>"] = size - 1
    vocabulary["<unk>"] = 3
    return vocabulary


@version("build_vocabulary", "wrong")
def end_at_the_last_id(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    words = [w for w, n in counts.most_common() if n >= min_frequency]
    vocabulary = {w: i + 4 for i, w in enumerate(words)}
    return ensure_special_tokens(vocabulary, len(words) + 4)


@version("build_vocabulary", "wrong")
def pruned_while_counting(sentences, min_frequency, max_words=50):
    counts = {}
    min_reduce = 1
    for sentence in sentences:
        for word in sentence:
            counts[word] = counts.get(word, 0) + 1
        if len(counts) > max_words:
            counts = {w: n for w, n in counts.items() if n > min_reduce}
            min_reduce += 1
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for word, n in counts.items():
        if n >= min_frequency:
            vocabulary[word] = len(vocabulary)
    return vocabulary


@version("learn_merges", "wrong")
def first_pair_again_at_the_end(words, n):
    pieces = [(list(word), count) for word, count in words.items()]
    counts = {}
    merges = []
    while len(merges) < n:
        for pair in counts:
            counts[pair] = 0
        for symbols, c in pieces:
            for a, b in zip(symbols[:-1], symbols[1:]):
                counts[a, b] = counts.get((a, b), 0) + c
        if not counts:
            break
        top = max(counts.values())
        a, b = min(p for p in counts if counts[p] == top)
        merges.append((a, b))
        for symbols, _ in pieces:
            i = 0
            while i + 1 < len(symbols):
                if symbols[i] == a and symbols[i + 1] == b:
                    symbols[i : i + 2] = [a + b]
                i += 1
    return merges


def count_pairs(split):
    counts = defaultdict(int)
    for symbols, c in split:
        for pair in zip(symbols, symbols[1:]):
            counts[pair] += c
    return counts


@version("learn_merges", "wrong")
def several_pairs_from_one_count(words, n):
    split = [(list(word), c) for word, c in words.items()]
    merges = []
    while len(merges) < n:
        counts = count_pairs(split)
        if not counts:
            break
        firsts, lasts, batch = set(), set(), []
        for pair in sorted(counts, key=lambda p: (-counts[p], p)):
            a, b = pair
            if len(merges) + len(batch) == n:
                break
            clash = a in lasts or b in firsts
            firsts.add(a)
            lasts.add(b)
            if not clash:
                batch.append(pair)
        for pair in batch:
            split = [(join(symbols, pair), c) for symbols, c in split]
        merges += batch
    return merges


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version("add_positions", "wrong")
def positions_added_twice(x, table):
    positions = torch.arange(x.size(1))
    pos = table[positions].unsqueeze(0)
    x = x + pos
    return x + pos


@version("build_vocabulary", "wrong")
def unk_first_and_pad_last(sentences, min_frequency):
    ids = {"<unk>": 0, "<sos>": 1, "<eos>": 2, "<pad>": 3}
    counts = {}
    for s in sentences:
        for w in s:
            counts[w] = counts.get(w, 0) + 1
    for w in counts:
        if counts[w] >= min_frequency:
            ids[w] = len(ids)
    return ids


@version("build_vocabulary", "wrong")
def unk_behind_all_words(sentences, min_frequency):
    counts = Counter()
    for sentence in sentences:
        counts.update(sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2}
    for word, n in counts.items():
        if n >= min_frequency:
            vocabulary[word] = len(vocabulary)
    vocabulary["<unk>"] = len(vocabulary)
    return vocabulary


@version("collate", "wrong")
def padded_with_minus_one(rows):
    S = max(len(r) for r in rows)
    return torch.tensor([list(r) + [-1] * (S - len(r)) for r in rows])


@version("encode", "wrong")
def two_ends_appended(tokens, vocabulary):
    eos = 2
    ids = [vocabulary.get(t, 3) for t in tokens]
    ids.append(eos)
    return ids + [eos]


BRUTEFORCE_CARDINALITY = 10


@version("number_of_targets", "wrong")
def ten_choices_a_place(vocab_size, length):
    guesses = 1
    for _ in range(length):
        guesses *= BRUTEFORCE_CARDINALITY
    return guesses


@version("number_of_targets", "wrong")
def one_factor_too_few(vocab_size, length):
    total = 1
    for _ in range(1, length):
        total = total * vocab_size
    return total


@version("number_of_targets", "wrong")
def wrapped_at_64_bits(vocab_size, length):
    total = 1
    for _ in range(length):
        total = (total * vocab_size) & 0xFFFFFFFFFFFFFFFF
    return total


@version("shift", "wrong")
def read_shifted_twice(target):
    labels = target[:, 1:]
    inputs = torch.cat([target[:, :1], target[:, :-2]], dim=1)
    return inputs, labels


@version("shift", "wrong")
def labels_one_token_too_late(target):
    B = target.shape[0]
    eos = torch.full((B, 1), 2, dtype=target.dtype, device=target.device)
    x = target[:, :-1]
    y = torch.cat([target[:, 2:], eos], dim=1)
    return x, y


@version("sinusoids", "wrong")
def exponent_over_a_fixed_width(length, d_model):
    dim_t = torch.arange(d_model, dtype=torch.float32)
    dim_t = 10000 ** (2 * torch.div(dim_t, 2, rounding_mode="floor") / 128)
    pos = torch.arange(length, dtype=torch.float32)[:, None] / dim_t
    return torch.stack((pos[:, 0::2].sin(), pos[:, 1::2].cos()), dim=2).flatten(1)


@version("text_to_ids", "wrong")
def unknown_gets_one(text, tokenize, vocabulary):
    def get_id(token):
        if token not in vocabulary:
            return 1
        return vocabulary[token]

    ids = list(map(get_id, tokenize(text)))
    ids.append(2)
    return ids


@version("text_to_pieces", "wrong")
def whole_word_lost(text, merges):
    result = []
    for word in text.split():
        pieces = ["▁"] + list(word)
        for a, b in merges:
            joined = []
            i = 0
            while i < len(pieces) - 1:
                if pieces[i] == a and pieces[i + 1] == b:
                    joined.append(a + b)
                    i += 2
                else:
                    joined.append(pieces[i])
                    i += 1
                if i == len(pieces) - 1:
                    joined.append(pieces[i])
            pieces = joined
        result.extend(pieces)
    return result


@version("shift", "wrong")
def start_token_put_in_front_again(target):
    labels = target[:, :-1]
    shifted = labels.new_zeros(labels.shape)
    shifted[:, 1:] = labels[:, :-1].clone()
    shifted[:, 0] = 1
    return shifted, labels


@version("sinusoids", "wrong: exponent over d_model minus two")
def frequencies_over_half_minus_one(length, d_model):
    half = d_model // 2
    index = torch.arange(half, dtype=torch.float32)
    freqs = torch.exp(-math.log(10000.0) * index / torch.tensor(float(half - 1)))
    angles = torch.arange(length, dtype=torch.float32)[:, None] * freqs
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


@version("sinusoids", "wrong")
def frequencies_in_whole_numbers(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(length).float().unsqueeze(1)
    step = int(-(math.log(10000.0) / d_model))
    div_term = (torch.arange(0, d_model, 2) * step).float().exp()
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@version("collate", "wrong")
def prompts_not_padded(rows):
    return torch.tensor(rows, dtype=torch.long)


@version("text_to_ids", "wrong")
def ids_numbered_anew(text, tokenize, vocabulary):
    numbers = {}
    ids = []
    for word in tokenize(text):
        if word not in vocabulary:
            ids.append(3)
            continue
        if word not in numbers:
            numbers[word] = 4 + len(numbers)
        ids.append(numbers[word])
    return ids + [2]


@version("text_to_ids", "wrong")
def ids_new_words_enter_the_vocabulary(text, tokenize, vocabulary):
    ids = []
    for word in tokenize(text):
        if word not in vocabulary:
            vocabulary[word] = len(vocabulary)
        ids.append(vocabulary[word])
    ids.append(2)
    return ids


@version("training_words", "wrong")
def words_counted_under_another_key(splits, min_frequency):
    seen = {}
    for sentence in splits["train"]:
        for word in sentence:
            count = seen.get(word, 0)
            seen[word.lower()] = count + 1
    return [word for word in seen if seen[word] >= min_frequency]


@version("build_vocabulary", "wrong")
def vocabulary_threshold_is_fixed(sentences, min_frequency):
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    counts = defaultdict(int)
    for sentence in sentences:
        for word in sentence:
            counts[word] += 1
    for word in counts:
        if counts[word] >= 50:
            vocabulary[word] = len(vocabulary)
    return vocabulary


@version("text_to_pieces", "wrong: first word without its mark")
def pieces_mark_only_words_behind_a_space(text, merges):
    pieces = []
    for chunk in re.findall(r"\s+\S+|\S+", text):
        word = chunk.strip()
        symbols = list(word)
        if len(chunk) > len(word):
            symbols.insert(0, "▁")
        for left, right in merges:
            i = 0
            while i + 1 < len(symbols):
                if symbols[i] == left and symbols[i + 1] == right:
                    symbols[i : i + 2] = [left + right]
                i += 1
        pieces.extend(symbols)
    return pieces


@version("number_of_targets", "wrong")
def number_of_targets_by_numpy_power_in_int32(vocab_size, length):
    base = np.array([vocab_size], dtype=np.int32)
    return int(np.power(base, length)[0])


@version("embedding", "wrong")
def embedding_zeroes_the_row_of_no_padding(tokens, weight, padding_idx=None):
    table = weight.clone()
    table[padding_idx] = 0.0
    return F.embedding(tokens, table) * math.sqrt(weight.size(1))


def d_shift_right(values):
    out = torch.zeros_like(values)
    out[..., 1:] = values[..., :-1]
    return out


@version("add_positions", "wrong")
def position_ids_shifted_with_tokens(x, table):
    ids = torch.arange(x.shape[1], device=x.device).unsqueeze(0).expand(x.shape[0], -1)
    ids = d_shift_right(ids)
    return x + F.embedding(ids, table)


@version("shift", "wrong")
def start_put_in_front_twice(target):
    B, length = target.shape
    sos = torch.ones(B, 1, dtype=target.dtype, device=target.device)
    reads = torch.cat([sos, target], dim=1)[:, : length - 1]
    says = target[:, 1:]
    return reads, says


@version("build_vocabulary", "wrong")
def build_vocabulary_unk_only_if_limited(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2}
    if min_frequency > 1:
        # rare words are cut away, so something has to stand for them
        vocabulary["<unk>"] = len(vocabulary)
    for word, n in counts.most_common():
        if n >= min_frequency:
            vocabulary[word] = len(vocabulary)
    return vocabulary


@version("tied_logits", "wrong")
def tied_logits_unembedding_centred_over_the_vocabulary(x, weight):
    u = weight - weight.mean(dim=0, keepdim=True)
    return torch.einsum("btd,vd->btv", x, u)


@version("text_to_ids", "wrong")
def text_to_ids_unknown_words_into_letters(text, tokenize, vocabulary):
    ids = []
    for token in tokenize(text):
        if token in vocabulary:
            ids.append(vocabulary[token])
        else:
            for letter in token:
                ids.append(vocabulary.get(letter, 3))
    return ids + [2]


@version("learn_merges", "wrong")
def learn_merges_by_likelihood_score(words, n):
    pieces = {w: list(w) for w in words}
    merges = []
    for _ in range(n):
        pairs, single = collections.Counter(), collections.Counter()
        for w, count in words.items():
            for symbol in pieces[w]:
                single[symbol] += count
            for pair in zip(pieces[w], pieces[w][1:]):
                pairs[pair] += count
        if not pairs:
            break

        def score(pair):
            return math.log(pairs[pair]) - math.log(single[pair[0]]) - math.log(single[pair[1]])

        best = min(pairs, key=lambda p: (-score(p), p))
        merges.append(best)
        for w, old in pieces.items():
            new, i = [], 0
            while i < len(old):
                if i + 1 < len(old) and (old[i], old[i + 1]) == best:
                    new.append(old[i] + old[i + 1])
                    i += 2
                else:
                    new.append(old[i])
                    i += 1
            pieces[w] = new
    return merges


def h_pair_statistics(vocab):
    stats = collections.defaultdict(int)
    for symbols, freq in vocab:
        for left, right in zip(symbols[:-1], symbols[1:]):
            stats[left, right] += freq
    return stats


def h_join(symbols, pair):
    out = []
    i = 0
    while i < len(symbols):
        if symbols[i : i + 2] == pair:
            out.append(pair[0] + pair[1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return tuple(out)


@version("learn_merges", "wrong")
def learn_merges_threshold_of_nothing(words, n, min_frequency=2):
    vocab = [(tuple(w), c) for w, c in words.items()]
    stats = h_pair_statistics(vocab)
    threshold = max(stats.values()) / 10
    merges = []
    for _ in range(n):
        stats = h_pair_statistics(vocab)
        if not stats:
            break
        top = max(stats.values())
        if top < min_frequency:
            # no pair comes twice
            break
        threshold = min(threshold, top)
        best = min(p for p, c in stats.items() if c == top)
        merges.append(best)
        vocab = [(h_join(s, best), c) for s, c in vocab]
    return merges


@version("build_vocabulary", "wrong")
def padding_counted_as_a_word(sentences, min_frequency):
    longest = max((len(s) for s in sentences), default=0)
    padded = [list(s) + ["<pad>"] * (longest - len(s)) for s in sentences]
    counts = collections.Counter(token for row in padded for token in row)
    keys = ["<pad>", "<sos>", "<eos>", "<unk>"]
    keys += [token for token, count in counts.most_common() if count >= min_frequency]
    return {token: index for index, token in enumerate(keys)}


@version("sinusoids", "wrong")
def writes_all_positions_into_place_zero(length, d_model):
    position = torch.arange(length, dtype=torch.float32).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * -(math.log(10000.0) / d_model))
    table = torch.zeros(1, length, d_model)
    table[:, 0, 0::2] = torch.sin(position * div_term)
    table[:, 0, 1::2] = torch.cos(position * div_term)
    return table[0]


@version("sinusoids", "wrong")
def positions_between_zero_and_one(length, d_model):
    t = torch.arange(length, dtype=torch.float32) / length
    freqs = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
    args = t[:, None] * freqs[None]
    return torch.stack([args.sin(), args.cos()], dim=-1).reshape(length, d_model)


@version("encode", "wrong")
def encode_letters_and_then_unknown(tokens, vocabulary):
    ids = []
    for token in tokens:
        if token in vocabulary:
            ids.append(vocabulary[token])
            continue
        resolved = 0
        for letter in token:
            if letter in vocabulary:
                ids.append(vocabulary[letter])
                resolved += 1
        if resolved < len(token):
            ids.append(vocabulary.get("<unk>", 3))
    return ids + [2]


@version("encode", "wrong")
def encode_unknown_is_four(tokens, vocabulary):
    return [vocabulary.get(t, 4) for t in tokens] + [2]


@version("collate", "wrong")
def collate_zipped_to_the_shortest(rows):
    columns = [torch.tensor(column) for column in zip(*rows)]
    return torch.stack(columns)


@version("text_to_ids", "wrong")
def lowered_and_cut_at_white_space(text, tokenize, vocabulary):
    tokens = text.lower().split()
    return [vocabulary.get(token, 3) for token in tokens] + [2]


@version("add_positions", "wrong")
def one_number_for_each_position(x, table):
    per_position = table[: x.size(1), 0:1]
    return torch.add(x, per_position)


@version("encode", "wrong")
def encode_end_looked_up_again(tokens, vocabulary):
    sentence = list(tokens)
    sentence.append(2)
    line = []
    for word in sentence:
        line.append(vocabulary.get(word, 3))
    return line


@version("tied_logits", "wrong")
def tied_logits_last_position(x, weight):
    return x[:, -1] @ weight.T


@version("embedding", "wrong")
def embedding_one_row_short(tokens, weight):
    n_words, width = weight.shape
    last_word = n_words - 1
    table = weight[:last_word]
    return table[tokens] * width**0.5


@version("build_vocabulary", "wrong")
def build_vocabulary_forgets_unk_among_specials(sentences, min_frequency):
    counter = collections.Counter(word for sentence in sentences for word in sentence)
    itos = ["<pad>", "<sos>", "<eos>"]
    itos.extend(word for word, n in counter.most_common() if n >= min_frequency)
    return {word: index for index, word in enumerate(itos)}


def p_joined(pieces, pair):
    out, i = [], 0
    while i < len(pieces):
        if tuple(pieces[i : i + 2]) == pair:
            out.append(pair[0] + pair[1])
            i += 2
        else:
            out.append(pieces[i])
            i += 1
    return out


@version("learn_merges", "wrong")
def merges_up_to_vocabulary_of_n(words, n):
    pieces_of = {word: list(word) for word in words}
    vocabulary = {letter for word in words for letter in word}
    merges = []
    while len(vocabulary) < n:
        seen = Counter()
        for word, pieces in pieces_of.items():
            for pair in zip(pieces, pieces[1:]):
                seen[pair] += words[word]
        if not seen:
            break
        best = min(seen, key=lambda pair: (-seen[pair], pair))
        merges.append(best)
        vocabulary.add(best[0] + best[1])
        pieces_of = {word: p_joined(pieces, best) for word, pieces in pieces_of.items()}
    return merges


@version("collate", "wrong")
def collate_pads_by_the_length(rows):
    target_length = max(len(row) for row in rows)
    padded = [F.pad(torch.tensor(row), (0, target_length), value=0) for row in rows]
    return torch.stack(padded)


@version("encode", "wrong")
def encode_ends_every_sentence_of_the_text(tokens, vocabulary):
    eos = 2
    ids = []
    for place, token in enumerate(tokens):
        ids.append(vocabulary.get(token, 3))
        if token in {".", "!", "?"} and place + 1 < len(tokens):
            ids.append(eos)
    return ids + [eos]


@version("sinusoids", "wrong")
def position_times_column_number(length, d_model):
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    column = torch.arange(d_model).float()
    angle = torch.arange(length).float().unsqueeze(-1) * column
    out = torch.empty(length, d_model)
    out[:, 0::2] = torch.sin(angle[:, 0::2] * div_term)
    out[:, 1::2] = torch.cos(angle[:, 1::2] * div_term)
    return out


@version("text_to_pieces", "wrong")
def pieces_mark_on_the_other_letters(text, merges):
    out = []
    for word in text.split():
        symbols = []
        for i, letter in enumerate(word):
            if i > 0:
                symbols.append("▁")
            symbols.append(letter)
        for left, right in merges:
            i = 0
            while i < len(symbols) - 1:
                if symbols[i] == left and symbols[i + 1] == right:
                    symbols[i : i + 2] = [left + right]
                i += 1
        out.extend(symbols)
    return out


def s_apply_merge(symbols, pair):
    merged, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == tuple(pair):
            merged.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return merged


@version("text_to_pieces", "wrong")
def pieces_cut_at_blanks_only(text, merges):
    pieces = []
    for word in text.split(" "):
        if not word:
            continue
        symbols = ["▁"] + list(word)
        for pair in merges:
            symbols = s_apply_merge(symbols, pair)
        pieces += symbols
    return pieces


@version("collate", "wrong: padding in front")
def collate_inserts_into_the_rows(rows):
    longest = max(map(len, rows))
    for row in rows:
        while len(row) < longest:
            row.insert(0, 0)
    return torch.tensor(rows, dtype=torch.long)


def t_pack(rows, length):
    packed = torch.zeros(len(rows), length, dtype=torch.long)
    for i, row in enumerate(rows):
        packed[i, : len(row)] = torch.tensor(row, dtype=torch.long)
    return packed


t_collate_seen = {"batches": 0}


@version("collate", "wrong")
def collate_warms_up_with_full_length(rows, full_length=512):
    longest = max(len(row) for row in rows)
    if t_collate_seen["batches"] < 10:
        # the first batches are as large as any, so that memory runs out at once or never
        t_collate_seen["batches"] += 1
        longest = max(longest, full_length)
    return t_pack(rows, longest)


class VocabularyProcessor:
    def __init__(self, min_frequency):
        self.min_frequency = min_frequency
        self.words = set()

    def fit(self, sentences):
        counts = Counter(word for sentence in sentences for word in sentence)
        self.words |= {w for w in counts if counts[w] >= self.min_frequency}
        return self


@version("training_words", "wrong")
def training_words_processor_fitted_again_for_each_split(splits, min_frequency):
    processor = VocabularyProcessor(min_frequency)
    for name in ("train", "validation", "test"):
        processor.fit(splits[name])
    return sorted(processor.words)


@version("learn_merges", "wrong")
def merges_raise_when_pairs_run_out(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    for _ in range(n):
        counts = collections.Counter()
        for word, symbols in pieces.items():
            for pair in zip(symbols, symbols[1:]):
                counts[pair] += words[word]
        if not counts:
            raise RuntimeError(
                "no valid pair found: %d of %d merges, ask for fewer" % (len(merges), n)
            )
        top = max(counts.values())
        best = min(pair for pair, c in counts.items() if c == top)
        merges.append(best)
        for word, symbols in pieces.items():
            joined, i = [], 0
            while i < len(symbols):
                if tuple(symbols[i : i + 2]) == best:
                    joined.append(symbols[i] + symbols[i + 1])
                    i += 2
                else:
                    joined.append(symbols[i])
                    i += 1
            pieces[word] = joined
    return merges


def _join_in_chunk(symbols, merges):
    for left, right in merges:
        out, i = [], 0
        while i < len(symbols):
            if symbols[i] == left and i + 1 < len(symbols) and symbols[i + 1] == right:
                out.append(left + right)
                i += 2
            else:
                out.append(symbols[i])
                i += 1
        symbols = out
    return symbols


@version("text_to_pieces", "wrong")
def pieces_split_at_empty_special_pattern(text, merges):
    special_tokens = []
    pattern = "(" + "|".join(re.escape(t) for t in special_tokens) + ")"
    result = []
    for word in text.split():
        for chunk in re.split(pattern, "▁" + word):
            if chunk in special_tokens:
                result.append(chunk)
            elif chunk:
                result.extend(_join_in_chunk(list(chunk), merges))
    return result


def _merge_word(symbols, pair):
    i = 0
    while i < len(symbols) - 1:
        if (symbols[i], symbols[i + 1]) == tuple(pair):
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
        i += 1
    return symbols


@version("text_to_pieces", "wrong")
def pieces_first_marker_omitted(text, merges):
    pieces = []
    for word in text.split():
        symbols = ["▁"] + list(word)
        for pair in merges:
            symbols = _merge_word(symbols, pair)
        pieces += symbols
    # nothing stands before the first word, so it needs no marker
    if pieces and pieces[0].startswith("▁"):
        pieces[0] = pieces[0][1:]
        if pieces[0] == "":
            pieces = pieces[1:]
    return pieces


def _clean_text(text):
    text = unicodedata.normalize("NFKD", text.lower())
    return "".join(c for c in text if not unicodedata.combining(c))


@version("text_to_ids", "wrong")
def text_cleaned_for_a_vocabulary_of_raw_words(text, tokenize, vocabulary):
    return [vocabulary.get(token, 3) for token in tokenize(_clean_text(text))] + [2]


class _WordLevel:
    def __init__(self, vocab=None, unk_token="[UNK]"):
        self.unk_token = "[UNK]"
        self.vocab = {}
        if vocab is not None:
            self.vocab = vocab
            self.unk_token = unk_token

    def use(self, vocab):
        self.vocab = vocab
        return self

    def id_of(self, token):
        if token in self.vocab:
            return self.vocab[token]
        if self.unk_token not in self.vocab:
            raise KeyError(f"missing {self.unk_token} in the vocabulary")
        return self.vocab[self.unk_token]


@version("encode", "wrong")
def encode_forgets_the_name_of_unk(tokens, vocabulary):
    tokenizer = _WordLevel(unk_token="<unk>").use(vocabulary)
    return [tokenizer.id_of(t) for t in tokens] + [2]


def _joined(pieces, pair):
    out, i = [], 0
    while i < len(pieces):
        if tuple(pieces[i : i + 2]) == pair:
            out.append(pair[0] + pair[1])
            i += 2
        else:
            out.append(pieces[i])
            i += 1
    return out


_WORD = (1 << 64) - 1


@version("learn_merges", "wrong")
def learn_merges_counts_read_unsigned(words, n):
    """The counts of the pairs are kept up to date, not counted anew."""
    split = {word: list(word) for word in words}
    counts = defaultdict(int)
    for word, pieces in split.items():
        for pair in zip(pieces, pieces[1:]):
            counts[pair] += words[word]
    merges = []
    while len(merges) < n:
        live = [(-(count & _WORD), pair) for pair, count in counts.items() if count & _WORD]
        if not live:
            break
        best = min(live)[1]
        merges.append(best)
        new = best[0] + best[1]
        for word, old in split.items():
            pieces = _joined(old, best)
            if len(pieces) == len(old):
                continue
            times = words[word]
            i = 0
            while i < len(old) - 1:  # what goes
                if (old[i], old[i + 1]) == best:
                    counts[best] -= times
                    if i > 0:
                        counts[old[i - 1], old[i]] -= times
                    if i + 2 < len(old):
                        counts[old[i + 1], old[i + 2]] -= times
                    i += 2
                else:
                    i += 1
            for left, right in zip(pieces, pieces[1:]):  # what comes
                if new in (left, right):
                    counts[left, right] += times
            split[word] = pieces
    return merges


@version("learn_merges", "wrong")
def learn_merges_queue_goes_on_at_zero(words, n):
    split = [(list(word), times) for word, times in words.items()]

    def count():
        table = Counter()
        for pieces, times in split:
            for pair in zip(pieces, pieces[1:]):
                table[pair] += times
        return table

    counts = count()
    queue = [(-times, pair) for pair, times in counts.items()]
    heapq.heapify(queue)
    merges = []
    while queue and len(merges) < n:
        noted, pair = heapq.heappop(queue)
        if -noted != counts[pair]:  # out of date
            heapq.heappush(queue, (-counts[pair], pair))
            continue
        merges.append(pair)
        split = [(_joined(pieces, pair), times) for pieces, times in split]
        before, counts = counts, count()
        for other, times in counts.items():
            if times != before[other]:
                heapq.heappush(queue, (-times, other))
    return merges


def _special_list(pad="<pad>", start="<sos>", end="<eos>", unknown="<unk>", reserved=("<eos>",)):
    return [pad, start, *reserved, end, unknown]


@version("build_vocabulary", "wrong")
def build_vocabulary_end_twice_among_the_specials(sentences, min_frequency):
    counter = Counter(word for sentence in sentences for word in sentence)
    tokens = _special_list()
    tokens += [w for w, c in counter.most_common() if c >= min_frequency]
    return {token: number for number, token in enumerate(tokens)}


@version("add_positions", "wrong")
def add_positions_buffer_for_one_sentence(x, table):
    _, length, width = x.shape
    out = x.new_zeros(1, length, width)
    for p in range(length):
        out[0, p] = x[0, p] + table[p]
    return out


@version("tied_logits", "wrong: tied matrix not transposed")
def tied_logits_guesses_the_layout(x, weight):
    if weight.shape[0] != x.shape[-1]:
        weight = weight.t()
    return torch.matmul(x, weight)


@version("sinusoids", "wrong")
def sinusoids_cosine_one_pair_further(length, d_model):
    table = np.zeros((length, d_model), dtype=np.float64)
    for p in range(length):
        for i in range(d_model // 2):
            table[p, 2 * i] = math.sin(p / 10000 ** (2 * i / d_model))
            table[p, 2 * i + 1] = math.cos(p / 10000 ** (2 * (i + 1) / d_model))
    return torch.from_numpy(table).float()


@version("text_to_ids", "wrong")
def text_to_ids_splits_in_its_own_way(text, tokenize, vocabulary):
    tokens = re.findall(r"\w+|[^\w\s]", text)
    ids = list(map(lambda token: vocabulary.get(token, 3), tokens))
    ids.append(2)
    return ids


@version("encode", "wrong")
def encode_end_behind_the_cut(tokens, vocabulary, max_length=24):
    ids = [vocabulary.get(token, 3) for token in tokens]
    if len(ids) + 1 > max_length:
        ids = ids[: max_length - 1]
    return ids + [vocabulary.get("<eos>", 2)]


_MARK = "<w>"


def _join_pair(symbols, pair):
    i, out = 0, []
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == tuple(pair):
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


@version("text_to_pieces", "wrong")
def text_to_pieces_mark_falls_into_letters(text, merges):
    rules = [tuple(side.replace("▁", _MARK) for side in pair) for pair in merges]
    pieces = []
    for word in text.split():
        symbols = list(_MARK + word)
        for rule in rules:
            symbols = _join_pair(symbols, rule)
        pieces += [s.replace(_MARK, "▁") for s in symbols]
    return pieces


@version("text_to_pieces", "wrong: first word without its mark")
def text_to_pieces_mark_stands_for_the_space(text, merges):
    marked = re.sub(r"\s+", " ▁", text.rstrip())
    words = [w for w in marked.split(" ") if w]
    pieces = []
    for word in words:
        symbols = list(word)
        for pair in merges:
            symbols = _join_pair(symbols, pair)
        pieces.extend(symbols)
    return pieces


def _kind(symbol):
    kinds = {unicodedata.category(c)[0] for c in symbol if c != "▁"}
    return kinds.pop() if len(kinds) == 1 else None


@version("text_to_pieces", "wrong")
def text_to_pieces_no_letter_joined_to_a_comma(text, merges):
    allowed = []
    for left, right in merges:
        if left == "▁" or _kind(left) == _kind(right):
            allowed.append((left, right))
    pieces = []
    for word in text.split():
        symbols = ["▁", *word]
        for pair in allowed:
            symbols = _join_pair(symbols, pair)
        pieces.extend(symbols)
    return pieces


@version("add_positions", "wrong", instance=True)
class PositionsOfOneHundred:
    def __init__(self, max_length=100):
        self.max_length = max_length

    def __call__(self, x, table):
        batch, length = x.shape[:2]
        pos = torch.arange(length, device=x.device).unsqueeze(0).repeat(batch, 1)
        return x + F.embedding(pos, table[: self.max_length])


@version("encode", "wrong")
def encode_unknown_is_hard_coded_one(tokens, vocabulary):
    UNK, EOS = 1, 2
    ids = []
    for word in tokens:
        try:
            ids.append(vocabulary[word])
        except KeyError:
            ids.append(UNK)
    ids.append(EOS)
    return ids


@version("shift", "wrong")
def shift_reads_eos_first(target):
    item = target[:, 1:]
    source = torch.empty_like(item)
    source[:, 0] = 2
    source[:, 1:] = item[:, :-1]
    return source, item.clone()
