"""Right versions of search, as people write them: none of these may be refused."""

import heapq
import itertools
import math

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- next_token -----------------------------------------------------------------------------------


version("next_token", "right", "argmax of the last place")(
    lambda logits: logits[:, -1, :].argmax(-1)
)


version("next_token", "right", "max with indices")(lambda logits: logits[:, -1].max(dim=1).indices)


version("next_token", "right", "argmax everywhere, then the last")(
    lambda z: z.argmax(dim=-1)[:, -1]
)


version("next_token", "right", "topk")(lambda logits: logits[:, -1].topk(1).indices.squeeze(-1))


version("next_token", "right", "select")(
    lambda z: torch.argmax(F.softmax(z.select(1, -1), -1), dim=-1)
)


@version("next_token", "right", "sentence by sentence")
def next_token_loop(logits):
    best = []
    for sentence in logits:
        last = sentence[-1].tolist()
        best.append(last.index(max(last)))
    return torch.tensor(best)


# --- temperature_probabilities --------------------------------------------------------------------


version("temperature_probabilities", "right", "F.softmax")(lambda z, t: F.softmax(z / t, dim=-1))


@version("temperature_probabilities", "right", "by hand")
def temperature_by_hand(logits, temperature):
    scaled = logits * (1.0 / temperature)
    scaled = scaled - scaled.max(-1, keepdim=True)[0]
    weights = scaled.exp()
    return weights / weights.sum(-1, keepdim=True)


@version("temperature_probabilities", "right", "a power of the probabilities")
def temperature_power(logits, temperature):
    p = logits.double().softmax(-1) ** (1 / temperature)
    return p / p.sum(-1, keepdim=True)


@version("temperature_probabilities", "right", "log_softmax first")
def temperature_log_softmax(logits, temperature):
    return torch.stack([(row.log_softmax(0) / temperature).softmax(0) for row in logits])


@version("temperature_probabilities", "right", "a distribution")
def temperature_distribution(logits, temperature):
    return torch.distributions.Categorical(logits=logits / temperature).probs


# --- top_k_probabilities --------------------------------------------------------------------------


@version("top_k_probabilities", "right", "scatter")
def top_k_scatter(logits, k):
    values, indices = logits.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, indices, values.softmax(-1))


@version("top_k_probabilities", "right", "minus infinity")
def top_k_infinity(logits, k):
    kth = torch.topk(logits, k)[0][:, [-1]]
    logits = logits.clone()
    logits[logits < kth] = -float("inf")
    return torch.softmax(logits, dim=1)


@version("top_k_probabilities", "right", "probabilities first")
def top_k_renormalised(logits, k):
    p = logits.softmax(-1)
    order = p.argsort(dim=-1, descending=True)
    p.scatter_(-1, order[:, k:], 0.0)
    return p / p.sum(dim=-1, keepdim=True)


@version("top_k_probabilities", "right", "row by row, plain Python")
def top_k_plain(logits, k):
    result = []
    for row in logits.tolist():
        best = set(heapq.nlargest(k, range(len(row)), key=row.__getitem__))
        e = [math.exp(v) if i in best else 0.0 for i, v in enumerate(row)]
        result.append([v / sum(e) for v in e])
    return torch.tensor(result)


@version("top_k_probabilities", "right", "ranks")
def top_k_ranks(logits, k):
    rank = logits.argsort(-1, descending=True).argsort(-1)
    return torch.where(rank < k, logits, -torch.inf).softmax(-1)


# --- greedy_search --------------------------------------------------------------------------------


SOS, EOS = 1, 2


@version("greedy_search", "right", "cat")
def greedy_cat(step, max_length):
    tokens = torch.tensor([[SOS]])
    for _ in range(max_length):
        next_token = step(tokens).argmax(dim=-1, keepdim=True)
        if next_token.item() == EOS:
            break
        tokens = torch.cat([tokens, next_token], dim=1)
    return tokens[0, 1:].tolist()


@version("greedy_search", "right", "a while loop")
def greedy_while(step, max_length):
    ids = [SOS]
    while ids[-1] != EOS and len(ids) <= max_length:
        ids.append(step(torch.tensor(ids).unsqueeze(0))[0].argmax().item())
    return [i for i in ids if i not in (SOS, EOS)]


@version("greedy_search", "right", "recursion")
def greedy_recursive(step, max_length):
    def rest(prefix):
        if len(prefix) > max_length:
            return []
        log_p = step(torch.tensor([prefix])).squeeze(0).tolist()
        best = max(range(len(log_p)), key=lambda i: log_p[i])
        return [] if best == EOS else [best] + rest(prefix + [best])

    return rest([SOS])


@version("greedy_search", "right", "to the end, then cut")
def greedy_then_cut(step, max_length):
    batch = torch.full((1, max_length + 1), SOS)
    for t in range(max_length):
        batch[:, t + 1] = step(batch[:, : t + 1]).max(-1).indices
    ids = batch[0, 1:].tolist()
    return ids[: ids.index(EOS)] if EOS in ids else ids


@version("greedy_search", "right", "a tuple of tensors")
def greedy_tensors(step, max_length):
    found = [torch.tensor(SOS)]
    for _ in range(max_length):
        (probabilities,) = step(torch.stack(found)[None]).exp()
        found.append(torch.argmax(probabilities))
        if found[-1] == EOS:
            found.pop()
            break
    return tuple(found[1:])


# --- beam_search ----------------------------------------------------------------------------------


@version("beam_search", "right", "one hypothesis at a time")
def beam_one_at_a_time(step, beam_size, max_length):
    beams = [(0.0, [SOS])]
    done = []
    for _ in range(max_length):
        candidates = []
        for score, tokens in beams:
            log_p = step(torch.tensor([tokens]))[0]
            for token in range(len(log_p)):
                candidates.append((score + log_p[token].item(), tokens + [token]))
        candidates.sort(key=lambda c: c[0], reverse=True)
        beams = []
        for score, tokens in candidates[:beam_size]:
            if tokens[-1] == EOS:
                done.append((score, tokens))
            else:
                beams.append((score, tokens))
        if not beams:
            break
    _, best = max(done + beams)
    return [t for t in best[1:] if t != EOS]


@version("beam_search", "right", "tensors")
def beam_tensors(step, beam_size, max_length):
    tokens = torch.full((1, 1), SOS)
    scores = torch.zeros(1)
    best_score, best = -math.inf, None
    for _ in range(max_length):
        log_p = step(tokens)
        vocab_size = log_p.size(-1)
        total = (scores[:, None] + log_p).view(-1)
        scores, flat = total.topk(min(beam_size, len(total)))
        parent = torch.div(flat, vocab_size, rounding_mode="floor")
        tokens = torch.cat([tokens[parent], (flat % vocab_size)[:, None]], dim=1)
        ended = tokens[:, -1] == EOS
        for score, row in zip(scores[ended], tokens[ended]):
            if score > best_score:
                best_score, best = score, row[1:-1]
        tokens, scores = tokens[~ended], scores[~ended]
        if len(tokens) == 0 or scores.max() < best_score:
            break
    if len(tokens) and scores.max() > best_score:
        best = tokens[scores.argmax(), 1:]
    return best.tolist()


@version("beam_search", "right", "a heap")
def beam_heap(step, beam_size, max_length):
    tie = itertools.count()
    alive, finished = [(0.0, next(tie), (SOS,))], []
    for _ in range(max_length):
        rows = step(torch.tensor([ids for *_, ids in alive])).double().tolist()
        everything = (
            (score + p, next(tie), ids + (token,))
            for (score, _, ids), row in zip(alive, rows)
            for token, p in enumerate(row)
        )
        best = heapq.nlargest(beam_size, everything)
        finished += [h for h in best if h[2][-1] == EOS]
        alive = [h for h in best if h[2][-1] != EOS]
        if not alive:
            break
    winner = max(finished + alive)[2][1:]
    return list(winner[:-1] if winner[-1] == EOS else winner)


class Hypothesis:
    def __init__(self, tokens, score):
        self.tokens, self.score = tokens, score

    @property
    def finished(self):
        return self.tokens[-1] == EOS

    def grown(self, step, k):
        values, indices = step(torch.tensor([self.tokens])).topk(k)
        for value, index in zip(values[0].tolist(), indices[0].tolist()):
            yield Hypothesis(self.tokens + [index], self.score + value)


@version("beam_search", "right", "objects, the k best of each")
def beam_objects(step, beam_size, max_length):
    alive, finished = [Hypothesis([SOS], 0.0)], []
    while alive and len(alive[0].tokens) <= max_length:
        grown = [h for parent in alive for h in parent.grown(step, beam_size)]
        kept = sorted(grown, key=lambda h: h.score)[::-1][:beam_size]
        finished.extend(h for h in kept if h.finished)
        alive = [h for h in kept if not h.finished]
    best = max(finished + alive, key=lambda h: h.score)
    return [t for t in best.tokens if t != SOS and t != EOS]


# --- embed_next -----------------------------------------------------------------------------------


@version("embed_next", "right", "narrow")
def embed_narrow(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table.narrow(0, past, tokens.shape[1])


@version("embed_next", "right", "positions as ids")
def embed_ids(tokens, past, weight, table):
    positions = past + torch.arange(tokens.size(1)).expand_as(tokens)
    return weight[tokens] + table[positions]


@version("embed_next", "right", "one after the other")
def embed_loop(tokens, past, weight, table):
    columns = [weight[tokens[:, i]] + table[past + i] for i in range(tokens.size(1))]
    return torch.stack(columns, dim=1)


# --- reorder_cache --------------------------------------------------------------------------------


version("reorder_cache", "right", "index_select")(
    lambda cache, rows: [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in cache]
)


version("reorder_cache", "right", "a map over pairs")(
    lambda cache, rows: [tuple(t[rows] for t in layer) for layer in cache]
)


@version("reorder_cache", "right", "row by row")
def reorder_rows(cache, rows):
    new = []
    for keys, values in cache:
        k = torch.stack([keys[r] for r in rows.tolist()])
        v = torch.cat([values[r : r + 1] for r in rows.tolist()])
        new.append([k, v])
    return new


# --- greedy_batch ---------------------------------------------------------------------------------


@version("greedy_batch", "right", "where")
def greedy_where(step, n_sentences, max_length):
    ids = torch.full((n_sentences, 1), 1)
    over = torch.tensor([False] * n_sentences)
    while ids.size(1) <= max_length and not over.all():
        new = torch.where(over, 0, step(ids).argmax(-1))
        ids = torch.cat((ids, new.unsqueeze(1)), 1)
        over |= new == 2
    return ids[:, 1:]


@version("greedy_batch", "right", "cut afterwards")
def greedy_cut(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1).long()
    for _ in range(max_length):
        ids = torch.cat([ids, step(ids).max(-1).indices[:, None]], -1)
    ids = ids[:, 1:]
    ended = (ids == 2).long().cumsum(1) - (ids == 2).long() > 0
    return ids * ~ended


@version("greedy_batch", "right", "lists")
def greedy_lists(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    for _ in range(max_length):
        best = step(torch.tensor(rows)).argmax(dim=1).tolist()
        for row, token in zip(rows, best):
            row.append(0 if 2 in row else token)
        if all(2 in row for row in rows):
            break
    return torch.tensor([row[1:] for row in rows])


# --- length_normalised ----------------------------------------------------------------------------


version("length_normalised", "right", "divide")(lambda score, length, alpha: score / length**alpha)


version("length_normalised", "right", "a negative power")(lambda s, n, a: s * math.pow(n, -a))


@version("length_normalised", "right", "logarithms")
def normalised_logarithms(score, length, alpha):
    return score / math.exp(alpha * math.log(length))


@version("length_normalised", "right", "tensors")
def normalised_tensors(score, length, alpha):
    return torch.tensor(score) / torch.tensor(length).pow(alpha)


# --- cut_at_end -----------------------------------------------------------------------------------


@version("cut_at_end", "right", "a loop")
def cut_loop(ids):
    kept = []
    for i in ids:
        if i == EOS:
            break
        kept.append(i)
    return kept


version("cut_at_end", "right", "takewhile")(
    lambda ids: list(itertools.takewhile(lambda i: i != 2, ids))
)


@version("cut_at_end", "right", "a try")
def cut_try(ids):
    try:
        return ids[: ids.index(EOS)]
    except ValueError:
        return ids


@version("cut_at_end", "right", "nonzero")
def cut_nonzero(ids):
    ends = (torch.tensor(ids) == EOS).nonzero().flatten()
    return ids if len(ends) == 0 else ids[: int(ends[0])]


@version("cut_at_end", "right", "cumulative sum")
def cut_cumulative(ids):
    ids = torch.tensor(ids)
    return ids[(ids == EOS).cumsum(0) == 0].tolist()


# --- repeat_for_beams ----------------------------------------------------------------------------


@version("repeat_for_beams", "right", "repeat_interleave")
def beams_interleaved(memory, mask, n_beams):
    return tuple(x.repeat_interleave(n_beams, 0) for x in (memory, mask))


@version("repeat_for_beams", "right", "expand and flatten")
def beams_expanded(memory, mask, n_beams):
    def rows(x):
        return x.unsqueeze(1).expand(-1, n_beams, *x.shape[1:]).flatten(0, 1)

    return rows(memory), rows(mask)


@version("repeat_for_beams", "right", "by index")
def beams_indexed(memory, mask, n_beams):
    rows = torch.arange(len(memory) * n_beams) // n_beams
    return [memory[rows], mask.index_select(0, rows)]
