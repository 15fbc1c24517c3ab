"""Right versions of inputs, as people write them: none of these may be refused."""

import collections
import itertools
import math
import operator
import re
from collections import Counter, OrderedDict, defaultdict
from functools import reduce

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from tests.checks.corpus import version

# --- number_of_targets ----------------------------------------------------------------------------


version("number_of_targets", "right", "the built-in pow")(pow)


version("number_of_targets", "right", "operator.pow")(operator.pow)


version("number_of_targets", "right", "a product")(lambda v, n: math.prod([v] * n))


@version("number_of_targets", "right")
def multiply_again_and_again(vocab_size, length):
    count = 1
    for _ in range(length):
        count *= vocab_size
    return count


@version("number_of_targets", "right")
def recursive_count(vocab_size, length):
    return 1 if length == 0 else vocab_size * recursive_count(vocab_size, length - 1)


# --- build_vocabulary -----------------------------------------------------------------------------


SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"]


@version("build_vocabulary", "right")
def with_a_counter_most_common_first(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    vocab = {special: i for i, special in enumerate(SPECIALS)}
    for word, count in counts.most_common():
        if count >= min_frequency:
            vocab[word] = len(vocab)
    return vocab


@version("build_vocabulary", "right")
def with_get_and_sorted(sentences, min_frequency):
    freq = {}
    for sentence in sentences:
        for token in sentence:
            freq[token] = freq.get(token, 0) + 1
    kept = sorted(t for t in freq if not freq[t] < min_frequency)
    return dict(zip(SPECIALS + kept, range(len(SPECIALS) + len(kept))))


@version("build_vocabulary", "right")
def ordered_dict_by_first_appearance(sentences, min_frequency):
    freq = defaultdict(int)
    for token in sum(sentences, []):
        freq[token] += 1
    vocab = OrderedDict([("<pad>", 0), ("<sos>", 1), ("<eos>", 2), ("<unk>", 3)])
    next_id = 4
    for token, n in freq.items():
        if n < min_frequency:
            continue
        vocab[token] = next_id
        next_id += 1
    return vocab


@version("build_vocabulary", "right")
def a_defaultdict_that_numbers_by_itself(sentences, min_frequency):
    words = [w for s in sentences for w in s]
    vocab = defaultdict(itertools.count().__next__)
    for special in SPECIALS:
        vocab[special]
    for w in set(words):
        if words.count(w) >= min_frequency:
            vocab[w]
    return vocab


@version("build_vocabulary", "right")
def a_set_in_any_order(sentences, min_frequency):
    words = [w for s in sentences for w in s]
    often = {w for w in words if words.count(w) > min_frequency - 1}
    return {w: i for i, w in enumerate((*SPECIALS, *often))}


# --- encode ---------------------------------------------------------------------------------------


@version("encode", "right")
def with_an_if(tokens, vocabulary):
    ids = []
    for token in tokens:
        if token in vocabulary:
            ids.append(vocabulary[token])
        else:
            ids.append(vocabulary["<unk>"])
    ids.append(vocabulary["<eos>"])
    return ids


@version("encode", "right")
def with_a_try(tokens, vocabulary):
    ids = []
    for token in tokens + ["<eos>"]:
        try:
            ids += [vocabulary[token]]
        except KeyError:
            ids += [vocabulary["<unk>"]]
    return ids


version("encode", "right", "map and get")(
    lambda words, v: list(map(lambda w: v.get(w, v["<unk>"]), words)) + [v["<eos>"]]
)


version("encode", "right", "a defaultdict")(
    lambda words, v: [*map(defaultdict(lambda: 3, v).__getitem__, words), 2]
)


@version("encode", "right", "a tuple")
def encode_as_tuple(tokens, vocabulary):
    return tuple(vocabulary.get(t, 3) for t in (*tokens, "<eos>"))


# --- text_to_ids ----------------------------------------------------------------------------------


version("text_to_ids", "right", "a comprehension")(
    lambda text, tokenize, v: [v.get(t, 3) for t in tokenize(text)] + [2]
)


version("text_to_ids", "right", "map")(
    lambda text, tokenize, v: [*map(lambda t: v.get(t, v["<unk>"]), tokenize(text)), v["<eos>"]]
)


@version("text_to_ids", "right", "a loop with an exception")
def text_loop(text, tokenize, vocabulary):
    ids = []
    for token in tokenize(text):
        try:
            ids.append(vocabulary[token])
        except KeyError:
            ids.append(vocabulary["<unk>"])
    ids.append(vocabulary["<eos>"])
    return ids


# --- training_words -------------------------------------------------------------------------------


@version("training_words", "right", "a counter")
def words_counter(splits, min_frequency):
    counts = collections.Counter(itertools.chain.from_iterable(splits["train"]))
    return {w for w in counts if counts[w] >= min_frequency}


@version("training_words", "right", "a dictionary, a list")
def words_dict(splits, min_frequency):
    n = {}
    for sentence in splits["train"]:
        for word in sentence:
            n[word] = n.get(word, 0) + 1
    return [word for word, times in n.items() if not times < min_frequency]


@version("training_words", "right", "list.count")
def words_count(splits, min_frequency):
    flat = sum(splits["train"], [])
    return list(filter(lambda w: flat.count(w) >= min_frequency, flat))


# --- collate --------------------------------------------------------------------------------------


@version("collate", "right")
def zeros_and_a_loop(rows):
    longest = max(len(row) for row in rows)
    batch = torch.zeros(len(rows), longest, dtype=torch.long)
    for i, row in enumerate(rows):
        for j, token in enumerate(row):
            batch[i, j] = token
    return batch


@version("collate", "right", "pad_sequence")
def collate_with_pad_sequence(rows):
    return pad_sequence([torch.tensor(r) for r in rows], batch_first=True, padding_value=0)


@version("collate", "right", "F.pad and stack")
def collate_with_f_pad(rows):
    width = max(map(len, rows))
    padded = [F.pad(torch.LongTensor(r), (0, width - len(r)), value=0) for r in rows]
    return torch.stack(padded, dim=0)


@version("collate", "right", "zip_longest, 32 bits")
def collate_with_zip_longest(rows):
    columns = list(itertools.zip_longest(*rows, fillvalue=0))
    return torch.tensor(columns, dtype=torch.int32).t()


@version("collate", "right", "NumPy")
def collate_with_numpy(rows):
    out = np.zeros((len(rows), max(len(r) for r in rows)), dtype=np.int64)
    for i, r in enumerate(rows):
        out[i, : len(r)] = r
    return torch.from_numpy(out)


# --- shift ----------------------------------------------------------------------------------------


@version("shift", "right", "narrow")
def shift_with_narrow(target):
    t = target.size(1)
    return target.narrow(1, 0, t - 1), target.narrow(1, 1, t - 1)


@version("shift", "right", "a list of copies")
def shift_as_list(target):
    reads, says = target[:, :-1].clone(), target[:, 1:].clone()
    return [reads, says]


@version("shift", "right", "row by row")
def shift_row_by_row(target):
    rows = target.tolist()
    return torch.tensor([r[:-1] for r in rows]), torch.tensor([r[1:] for r in rows])


@version("shift", "right", "roll")
def shift_with_roll(target):
    labels = target.roll(-1, dims=1)
    return target[..., :-1], labels[..., :-1]


@version("shift", "right", "index_select")
def shift_with_index_select(target):
    places = torch.arange(target.shape[1] - 1)
    return target.index_select(1, places), target.index_select(1, places + 1)


# --- embedding ------------------------------------------------------------------------------------


@version("embedding", "right", "a class")
class EmbeddingClass(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, tokens):
        return F.embedding(tokens, self.weight) * self.weight.shape[1] ** 0.5


@version("embedding", "right", "F.embedding")
def embedding_ready_made(tokens, weight):
    return F.embedding(tokens, weight) * weight.shape[-1] ** 0.5


@version("embedding", "right", "one-hot")
def embedding_one_hot(tokens, weight):
    one_hot = F.one_hot(tokens, num_classes=weight.shape[0]).to(weight.dtype)
    return one_hot @ weight * math.sqrt(weight.shape[1])


@version("embedding", "right", "stack of stacks")
def embedding_token_by_token(tokens, weight):
    d_model = weight.size(1)
    rows = [torch.stack([weight[i] for i in row]) for row in tokens.tolist()]
    return torch.stack(rows) * torch.sqrt(torch.tensor(float(d_model)))


@version("embedding", "right", "index_select, scaled first")
def embedding_scaled_first(tokens, weight):
    table = weight * np.sqrt(weight.shape[1])
    return table.index_select(0, tokens.reshape(-1)).view(*tokens.shape, -1)


@version("embedding", "right", "gather")
def embedding_gather(tokens, weight):
    b, t = tokens.shape
    d = weight.size(1)
    index = tokens.reshape(b * t, 1).expand(-1, d)
    return torch.gather(weight, 0, index).reshape(b, t, d).mul(d**0.5)


class ScaledEmbedding(nn.Module):
    def forward(self, tokens, weight):
        return weight[tokens] / weight.shape[1] ** -0.5


version("embedding", "right", "a module")(ScaledEmbedding())


# --- tied_logits ----------------------------------------------------------------------------------


version("tied_logits", "right", "F.linear")(F.linear)


version("tied_logits", "right", "einsum")(lambda x, weight: torch.einsum("btd,vd->btv", x, weight))


version("tied_logits", "right", "broadcast")(lambda x, w: (x.unsqueeze(2) * w).sum(-1))


@version("tied_logits", "right", "row by row")
def logits_row_by_row(x, weight):
    columns = [(x * row).sum(dim=-1) for row in weight]
    return torch.stack(columns, dim=-1)


@version("tied_logits", "right", "bmm")
def logits_bmm(x, weight):
    return torch.bmm(x, weight.t().expand(x.size(0), -1, -1))


@version("tied_logits", "right", "double precision")
def logits_double(x, weight):
    return torch.tensordot(x.double(), weight.double(), dims=([-1], [-1]))


@version("tied_logits", "right", "functional_call")
def logits_functional_call(x, weight):
    head = nn.Linear(weight.size(1), weight.size(0), bias=False)
    return torch.func.functional_call(head, {"weight": weight}, (x,))


# --- sinusoids ------------------------------------------------------------------------------------


@version("sinusoids", "right")
def annotated_style(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(0, length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@version("sinusoids", "right", "two loops")
def sinusoids_with_two_loops(length, d_model):
    table = []
    for pos in range(length):
        row = []
        for i in range(d_model):
            angle = pos / 10000 ** (2 * (i // 2) / d_model)
            row.append(math.sin(angle) if i % 2 == 0 else math.cos(angle))
        table.append(row)
    return torch.tensor(table)


@version("sinusoids", "right", "NumPy, 64 bits")
def sinusoids_numpy(length, d_model):
    angles = np.arange(length)[:, None] / np.power(1e4, np.arange(0, d_model, 2) / d_model)
    table = np.empty((length, d_model))
    table[:, ::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(table)


@version("sinusoids", "right", "where")
def sinusoids_where(length, d_model):
    i = torch.arange(d_model)
    rate = 10000.0 ** (-(i - i % 2) / d_model)
    angle = torch.outer(torch.arange(length).float(), rate)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


@version("sinusoids", "right", "complex numbers")
def sinusoids_complex(length, d_model):
    w = 10000 ** (-torch.arange(d_model // 2, dtype=torch.float64) * 2 / d_model)
    z = torch.polar(torch.ones(length, d_model // 2).double(), torch.arange(length)[:, None] * w)
    return torch.view_as_real(z).flip(-1).reshape(length, d_model).float()


# --- add_positions --------------------------------------------------------------------------------


@version("add_positions", "right", "a loop over places")
def add_in_a_loop(x, table):
    return torch.stack([x[:, p] + table[p] for p in range(x.shape[1])], dim=1)


@version("add_positions", "right", "a table of the batch's size")
def add_expanded(x, table):
    b, t, d = x.shape
    return x + table[:t].unsqueeze(0).expand(b, t, d)


@version("add_positions", "right", "F.embedding")
def add_with_embedding(x, table):
    positions = torch.arange(x.size(1)).unsqueeze(0)
    return torch.add(x, F.embedding(positions, table))


class PositionalEncoding(nn.Module):
    def add(self, x, table):
        x = x.clone()
        x += table[None, : x.size(-2), :]
        return x


version("add_positions", "right", "a bound method")(PositionalEncoding().add)


version("add_positions", "right", "vmap")(
    lambda x, table: torch.vmap(lambda sentence: sentence + table[: x.size(1)])(x)
)


version("add_positions", "right", "reduce")(
    lambda x, table: reduce(torch.add, [x, torch.narrow(table, 0, 0, x.size(1))])
)


# --- learn_merges --------------------------------------------------------------------------------


@version("learn_merges", "right", "with a Counter")
def merges_counted(words, n):
    pieces = {word: tuple(word) for word in words}
    learned = []
    while len(learned) < n:
        pairs = Counter()
        for word, parts in pieces.items():
            for pair in itertools.pairwise(parts):
                pairs[pair] += words[word]
        if not pairs:
            break
        most = max(pairs.values())
        left, right = min(pair for pair, count in pairs.items() if count == most)
        learned.append((left, right))
        for word, parts in pieces.items():
            new = []
            for part in parts:
                if new and new[-1] == left and part == right and not closed:
                    new[-1], closed = left + right, True
                else:
                    new.append(part)
                    closed = False
            pieces[word] = tuple(new)
    return learned


@version("learn_merges", "right", "sorted pairs")
def merges_sorted(words, n):
    pieces, found = [(list(word), count) for word, count in words.items()], []
    for _ in range(n):
        pairs = defaultdict(int)
        for parts, count in pieces:
            for left, right in zip(parts, parts[1:], strict=False):
                pairs[left, right] += count
        if not pairs:
            return found
        best = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[0][0]
        for parts, _ in pieces:
            i = 0
            while i + 1 < len(parts):
                if (parts[i], parts[i + 1]) == best:
                    parts[i : i + 2] = ["".join(best)]
                i += 1
        found.append(best)
    return found


@version("learn_merges", "right", "every word as often as it occurs")
def merges_of_all_words(words, n):
    corpus, learned = [list(word) for word, count in words.items() for _ in range(count)], []
    for _ in range(n):
        pairs = Counter(pair for parts in corpus for pair in itertools.pairwise(parts))
        if not pairs:
            break
        (left, right), _ = min(pairs.items(), key=lambda item: (-item[1], item[0]))
        learned.append((left, right))
        for parts in corpus:
            for i in range(len(parts) - 1):
                if parts[i : i + 2] == [left, right]:
                    parts[i], parts[i + 1] = left + right, ""
            parts[:] = filter(None, parts)
    return learned


# --- text_to_pieces ------------------------------------------------------------------------------


@version("text_to_pieces", "right", "ranks, the lowest first")
def pieces_by_rank(text, merges):
    ranks = {pair: i for i, pair in enumerate(merges)}
    out = []
    for word in text.split():
        parts = ["▁", *word]
        while True:
            pairs = [p for p in zip(parts, parts[1:]) if p in ranks]
            if not pairs:
                break
            a, b = min(pairs, key=ranks.get)
            new, i = [], 0
            while i < len(parts):
                if parts[i : i + 2] == [a, b]:
                    new.append(a + b)
                    i += 2
                else:
                    new.append(parts[i])
                    i += 1
            parts = new
        out.extend(parts)
    return out


@version("text_to_pieces", "right", "in place, a marked text cut at its marks")
def pieces_in_place(text, merges):
    marked = "".join("▁" + word for word in text.split())
    words = [list("▁" + word) for word in marked.split("▁")[1:]]
    for parts in words:
        for a, b in merges:
            i = 0
            while i + 1 < len(parts):
                if parts[i] == a and parts[i + 1] == b:
                    parts[i : i + 2] = [a + b]
                i += 1
    return sum(words, [])


@version("text_to_pieces", "right", "a function for one word")
def pieces_word_by_word(text, merges):
    def split(word):
        pieces = ["▁", *word]
        for left, right in merges:
            joined = []
            for piece in pieces:
                if joined and joined[-1] == left and piece == right:
                    joined[-1] += right
                else:
                    joined.append(piece)
            pieces = joined
        return pieces

    return [piece for word in text.split() for piece in split(word)]


@version("text_to_pieces", "right", "with an escaped pattern and a function for what is put in")
def pieces_joined_by_patterns(text, merges):
    pieces = []
    for word in text.split():
        spaced = " ".join("▁" + word)
        for left, right in merges:
            pattern = r"(?<!\S)" + re.escape(f"{left} {right}") + r"(?!\S)"
            spaced = re.sub(pattern, lambda _, new=left + right: new, spaced)
        pieces += spaced.split(" ")
    return pieces
