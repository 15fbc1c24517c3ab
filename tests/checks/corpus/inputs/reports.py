"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from itertools import pairwise

import torch

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
