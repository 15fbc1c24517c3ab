"""Components that are judged by a trace, a counted set, a short run; and classes."""
# As learners write: other people's habits, not ours.
# ruff: noqa: B905, RUF017

import collections
import functools
import itertools
import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.correct_versions.registry import correct

# --- text_to_ids ---------------------------------------------------------------------------------

correct("text_to_ids", "a comprehension")(
    lambda text, tokenize, v: [v.get(t, 3) for t in tokenize(text)] + [2]
)
correct("text_to_ids", "map")(
    lambda text, tokenize, v: [*map(lambda t: v.get(t, v["<unk>"]), tokenize(text)), v["<eos>"]]
)


@correct("text_to_ids", "a loop with an exception")
def text_loop(text, tokenize, vocabulary):
    ids = []
    for token in tokenize(text):
        try:
            ids.append(vocabulary[token])
        except KeyError:
            ids.append(vocabulary["<unk>"])
    ids.append(vocabulary["<eos>"])
    return ids


# --- training_words ------------------------------------------------------------------------------


@correct("training_words", "a counter")
def words_counter(splits, min_frequency):
    counts = collections.Counter(itertools.chain.from_iterable(splits["train"]))
    return {w for w in counts if counts[w] >= min_frequency}


@correct("training_words", "a dictionary, a list")
def words_dict(splits, min_frequency):
    n = {}
    for sentence in splits["train"]:
        for word in sentence:
            n[word] = n.get(word, 0) + 1
    return [word for word, times in n.items() if not times < min_frequency]


@correct("training_words", "list.count")
def words_count(splits, min_frequency):
    flat = sum(splits["train"], [])
    return list(filter(lambda w: flat.count(w) >= min_frequency, flat))


# --- layer_norm_parameters, sublayer_with_dropout ------------------------------------------------

correct("layer_norm_parameters", "ones and zeros")(lambda d: (torch.ones(d), torch.zeros(d)))
correct("layer_norm_parameters", "parameters")(
    lambda d: (nn.Parameter(torch.full((d,), 1.0)), nn.Parameter(torch.full((d,), 0.0)))
)


@correct("layer_norm_parameters", "nn.LayerNorm's own")
def fresh_norm(d_model):
    norm = nn.LayerNorm(d_model)
    return [norm.weight, norm.bias]


@correct("sublayer_with_dropout", "one line")
def sub_line(x, sublayer, norm, dropout):
    return dropout(sublayer(norm(x))) + x


@correct("sublayer_with_dropout", "step by step")
def sub_steps(x, sublayer, norm, dropout):
    residual = x
    x = norm(x)
    x = sublayer(x)
    x = dropout(x)
    return residual + x


class Sublayer(nn.Module):
    def forward(self, x, sublayer, norm, dropout):
        change = functools.reduce(lambda y, f: f(y), (norm, sublayer, dropout), x)
        return torch.add(x, change)


correct("sublayer_with_dropout", "a module")(Sublayer())

# --- causal_self_attention -----------------------------------------------------------------------


@correct("causal_self_attention", "is_causal")
def modes_fused(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True)


@correct("causal_self_attention", "triu and -1e9")
def modes_triu(x, training):
    t = x.shape[1]
    future = torch.triu(torch.ones(t, t), 1) == 1
    scores = torch.bmm(x, x.transpose(1, 2)) / math.sqrt(x.shape[2])
    return torch.bmm(F.softmax(scores.masked_fill(future, -1e9), dim=2), x)


@correct("causal_self_attention", "position by position")
def modes_loop(x, training):
    out = []
    for t in range(x.size(1)):
        past = x[:, : t + 1]
        w = torch.einsum("bd,bsd->bs", x[:, t], past).div(x.size(-1) ** 0.5).softmax(-1)
        out.append(torch.einsum("bs,bsd->bd", w, past))
    return torch.stack(out, 1)


# --- transformer_forward -------------------------------------------------------------------------


@correct("transformer_forward", "as in the book")
def forward_book(source, target, embed_source, embed_target, encoder, decoder, output):
    source_mask = (source != 0)[:, None, None]
    n = target.size(1)
    target_mask = (target != 0)[:, None, None] & torch.ones(n, n, dtype=torch.bool).tril()
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, source_mask))


@correct("transformer_forward", "causal mask alone, since padding comes last")
def forward_causal(source, target, embed_source, embed_target, encoder, decoder, output):
    src_mask = source.ne(0).unsqueeze(1).unsqueeze(2)
    causal = torch.tril(torch.ones(target.shape[1], target.shape[1])).bool()
    memory = encoder(embed_source(source), src_mask)
    return output(decoder(embed_target(target), memory, causal, src_mask))


class Model(nn.Module):
    def encode(self, source, embed, encoder):
        return encoder(embed(source), self.pad(source))

    def pad(self, ids):
        return ids.bool()[:, None, None, :]

    def forward(self, source, target, embed_source, embed_target, encoder, decoder, output):
        memory = self.encode(source, embed_source, encoder)
        places = torch.arange(target.size(1))
        mask = self.pad(target) * (places[None] <= places[:, None])
        out = decoder(embed_target(target), memory, target_mask=mask, memory_mask=self.pad(source))
        return output(out)


correct("transformer_forward", "a module")(Model())

# --- accumulated_update --------------------------------------------------------------------------


@correct("accumulated_update", "loss divided by the parts")
def acc_divided(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        loss = compute_loss(part) / len(parts)
        loss.backward()
    optimizer.step()
    scheduler.step()


@correct("accumulated_update", "zeroed at the end")
def acc_zero_last(optimizer, scheduler, parts, compute_loss):
    n = len(parts)
    for i, part in enumerate(parts, 1):
        (compute_loss(part) * (1 / n)).backward()
        if i == n:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)


@correct("accumulated_update", "gradients divided at the end")
def acc_gradients(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad.div_(len(parts))
    optimizer.step()
    scheduler.step()


@correct("accumulated_update", "one loss, one backward")
def acc_one(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(part) for part in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


# --- best_checkpoint -----------------------------------------------------------------------------


@correct("best_checkpoint", "a running best")
def best_loop(checkpoints, batches, loss_of):
    best, place = float("inf"), -1
    for i, checkpoint in enumerate(checkpoints):
        total = tokens = 0
        for batch in batches:
            total += loss_of(checkpoint, batch) * len(batch)
            tokens += len(batch)
        if total / tokens < best:
            best, place = total / tokens, i
    return place


@correct("best_checkpoint", "sums are enough")
def best_sum(checkpoints, batches, loss_of):
    def total(i):
        return sum(len(b) * loss_of(checkpoints[i], b) for b in batches)

    return min(range(len(checkpoints)), key=total)


@correct("best_checkpoint", "a matrix product")
def best_matrix(checkpoints, batches, loss_of):
    losses = torch.tensor([[loss_of(c, b) for b in batches] for c in checkpoints])
    counts = torch.tensor([float(len(b)) for b in batches])
    return (losses @ counts / counts.sum()).argmin()


# --- embed_next, reorder_cache, greedy_batch -----------------------------------------------------


@correct("embed_next", "narrow")
def embed_narrow(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table.narrow(0, past, tokens.shape[1])


@correct("embed_next", "positions as ids")
def embed_ids(tokens, past, weight, table):
    positions = past + torch.arange(tokens.size(1)).expand_as(tokens)
    return weight[tokens] + table[positions]


@correct("embed_next", "one after the other")
def embed_loop(tokens, past, weight, table):
    columns = [weight[tokens[:, i]] + table[past + i] for i in range(tokens.size(1))]
    return torch.stack(columns, dim=1)


correct("reorder_cache", "index_select")(
    lambda cache, rows: [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in cache]
)
correct("reorder_cache", "a map over pairs")(
    lambda cache, rows: [tuple(t[rows] for t in layer) for layer in cache]
)


@correct("reorder_cache", "row by row")
def reorder_rows(cache, rows):
    new = []
    for keys, values in cache:
        k = torch.stack([keys[r] for r in rows.tolist()])
        v = torch.cat([values[r : r + 1] for r in rows.tolist()])
        new.append([k, v])
    return new


@correct("greedy_batch", "where")
def greedy_where(step, n_sentences, max_length):
    ids = torch.full((n_sentences, 1), 1)
    over = torch.tensor([False] * n_sentences)
    while ids.size(1) <= max_length and not over.all():
        new = torch.where(over, 0, step(ids).argmax(-1))
        ids = torch.cat((ids, new.unsqueeze(1)), 1)
        over |= new == 2
    return ids[:, 1:]


@correct("greedy_batch", "cut afterwards")
def greedy_cut(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1).long()
    for _ in range(max_length):
        ids = torch.cat([ids, step(ids).max(-1).indices[:, None]], -1)
    ids = ids[:, 1:]
    ended = (ids == 2).long().cumsum(1) - (ids == 2).long() > 0
    return ids * ~ended


@correct("greedy_batch", "lists")
def greedy_lists(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    for _ in range(max_length):
        best = step(torch.tensor(rows)).argmax(dim=1).tolist()
        for row, token in zip(rows, best):
            row.append(0 if 2 in row else token)
        if all(2 in row for row in rows):
            break
    return torch.tensor([row[1:] for row in rows])


# --- classes -------------------------------------------------------------------------------------


@correct("multi_head_attention", "a class")
class HeadsClass(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.k = n_heads, d_model // n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).view(len(x), -1, self.h, self.k).transpose(1, 2)
            for layer, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        heads = F.scaled_dot_product_attention(q, k, v, mask)
        return self.output(heads.transpose(1, 2).reshape(query.shape))


correct("layer_norm", "the class of PyTorch")(nn.LayerNorm)
correct("layer_norm", "a partial of a class")(functools.partial(nn.LayerNorm, eps=1e-5))


@correct("feed_forward", "a class with dropout")
class NetworkClass(nn.Module):
    def __init__(self, d_model, d_ff, p=0.3):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        return self.linear2(self.dropout(self.linear1(x).relu()))


@correct("embedding", "a class")
class EmbeddingClass(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, tokens):
        return F.embedding(tokens, self.weight) * self.weight.shape[1] ** 0.5


class Wrapped(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, f):
        return x + f(self.norm(x))


@correct("encoder_layer", "a class")
class EncoderClass(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = HeadsClass(d_model, n_heads)
        self.feed_forward = NetworkClass(d_model, d_ff)
        self.attention_residual = Wrapped(d_model)
        self.feed_forward_residual = Wrapped(d_model)

    def forward(self, x, mask=None):
        x = self.attention_residual(x, lambda y: self.self_attention(y, y, y, mask))
        return self.feed_forward_residual(x, self.feed_forward)


@correct("decoder_layer", "a class")
class DecoderClass(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = HeadsClass(d_model, n_heads)
        self.cross_attention = HeadsClass(d_model, n_heads)
        self.feed_forward = NetworkClass(d_model, d_ff)
        self.self_residual = Wrapped(d_model)
        self.cross_residual = Wrapped(d_model)
        self.feed_forward_residual = Wrapped(d_model)

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.self_residual(x, lambda y: self.self_attention(y, y, y, target_mask))
        x = self.cross_residual(x, lambda y: self.cross_attention(y, memory, memory, memory_mask))
        return self.feed_forward_residual(x, self.feed_forward)
