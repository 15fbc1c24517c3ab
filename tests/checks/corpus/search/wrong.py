"""Wrong versions of search: each makes the mistake that is named."""

import heapq
import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version

# --- next_token -----------------------------------------------------------------------------------


@version("next_token", "wrong: least likely token")
def next_least(logits):
    return logits[:, -1].argmin(-1)


@version("next_token", "wrong: probability in place of the token")
def next_probability(logits):
    return logits[:, -1].softmax(-1).max(-1).values


# --- temperature_probabilities --------------------------------------------------------------------


@version("temperature_probabilities", "wrong: divided by the temperature twice")
def temp_twice(logits, temperature):
    logits = logits / temperature
    return F.softmax(logits / temperature, dim=-1)


@version("temperature_probabilities", "wrong: softmax over the sentences")
def temp_transposed(logits, temperature):
    return (logits.T / temperature).softmax(-1).T


@version("temperature_probabilities", "wrong: temperature ignored")
def temp_ignored(logits, temperature):
    return logits.softmax(-1)


@version("temperature_probabilities", "wrong: temperature ignored", instance=True)
class TemperatureIgnored(nn.Module):
    def forward(self, logits, temperature):
        logits / temperature
        return nn.Softmax(dim=1)(logits)


@version("temperature_probabilities", "wrong: softmax of probabilities over the temperature")
def temp_twice_2(logits, temperature):
    return (logits.softmax(-1) / temperature).softmax(-1)


# --- top_k_probabilities --------------------------------------------------------------------------


@version("top_k_probabilities", "wrong: no softmax after the choice")
def top_logits(logits, k):
    worst = torch.topk(logits, k).values[..., -1:]
    return torch.where(logits >= worst, logits, -torch.inf)


@version("top_k_probabilities", "wrong: k ignored")
def top_softmax(logits, k):
    return F.softmax(logits, dim=-1)


@version("top_k_probabilities", "wrong: all but the best k")
def topk_dropped(logits, k):
    _, indices = logits.topk(k, dim=-1)
    return logits.scatter(-1, indices, float("-inf")).softmax(-1)


@version("top_k_probabilities", "wrong: not shared out anew")
def topk_unshared_filled(logits, k):
    p = F.softmax(logits, dim=-1)
    return p.masked_fill(logits < logits.topk(k).values[:, [-1]], 0)


# --- greedy_search --------------------------------------------------------------------------------


@version("greedy_search", "wrong: loop one step too short")
def greedy_limit_with_start(step, max_length):
    tokens = torch.ones(1, 1, dtype=torch.long)
    while tokens.size(1) < max_length and tokens[0, -1] != 2:
        tokens = torch.cat([tokens, step(tokens).argmax(-1, keepdim=True)], dim=1)
    return [t for t in tokens[0, 1:].tolist() if t != 2]


@version("greedy_search", "wrong: never stops, and <eos> stays")
def greedy_on_tensor(step, max_length):
    tokens = torch.tensor([[1]])
    while tokens.size(1) < max_length + 1:
        tokens = torch.cat([tokens, step(tokens).argmax(dim=-1)[:, None]], dim=1)
    return tokens[0, 1:].tolist()


def likeliest(step, tokens):
    return int(step(torch.tensor([tokens])).argmax(-1))


@version("greedy_search", "wrong: begins with padding")
def greedy_from_padding(step, max_length):
    tokens = [0]
    for _ in range(max_length):
        token = likeliest(step, tokens)
        if token == 2:
            break
        tokens.append(token)
    return tokens[1:]


@version("greedy_search", "wrong: stops at <unk>, too")
def greedy_unknown(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        tokens.append(likeliest(step, tokens))
        if tokens[-1] in (2, 3):
            break
    return [t for t in tokens[1:] if t != 2]


@version("greedy_search", "wrong: <eos> never chosen")
def greedy_second_best(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        best = step(torch.tensor([tokens]))[0].topk(2).indices.tolist()
        tokens.append(best[0] if best[0] != 2 else best[1])
    return tokens[1:]


@version("greedy_search", "wrong: only the last token read")
def greedy_last_slice(step, max_length):
    ids = torch.tensor([[1]])
    while ids.size(1) <= max_length:
        ids = torch.cat([ids, step(ids[:, -1:]).argmax(-1, keepdim=True)], dim=1)
        if ids[0, -1] == 2:
            return ids[0, 1:-1].tolist()
    return ids[0, 1:].tolist()


@version("greedy_search", "wrong: <eos> left in")
def greedy_eos_while(step, max_length):
    ids, token = [], None
    while token != 2 and len(ids) < max_length:
        token = step(torch.tensor([[1, *ids]]))[0].argmax().item()
        ids += [token]
    return ids


@version("greedy_search", "wrong: least likely token chosen")
def greedy_sorted(step, max_length):
    ids = [1]
    while len(ids) <= max_length and ids[-1] != 2:
        row = step(torch.tensor([ids]))[0].tolist()
        ids.append(sorted(range(len(row)), key=lambda i: row[i])[0])
    return [i for i in ids[1:] if i != 2]


# --- beam_search ----------------------------------------------------------------------------------


@version("beam_search", "wrong: finished hypotheses dropped on the way")
def beam_drops(step, beam_size, max_length):
    beams = [(0.0, [1])]
    for _ in range(max_length):
        log_p = step(torch.tensor([ids for _, ids in beams]))
        grown = sorted(
            (
                (score + p, [*ids, token])
                for (score, ids), row in zip(beams, log_p.tolist(), strict=True)
                for token, p in enumerate(row)
            ),
            reverse=True,
        )[:beam_size]
        beams = [b for b in grown if b[1][-1] != 2]
        if not beams:
            return grown[0][1][1:-1]
    return beams[0][1][1:]


@version("beam_search", "wrong: the first of the longest hypotheses chosen")
def beam_longest_first(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        log_p = step(torch.tensor([ids for ids, _ in alive])).tolist()
        new = [
            ([*ids, t], s + lp)
            for (ids, s), row in zip(alive, log_p, strict=True)
            for t, lp in enumerate(row)
        ]
        new.sort(key=lambda b: b[1], reverse=True)
        done += [b for b in new[:beam_size] if b[0][-1] == 2]
        alive = [b for b in new[:beam_size] if b[0][-1] != 2]
        if not alive:
            break
    ids = sorted(done + alive, key=lambda b: len(b[0]), reverse=True)[0][0]
    return [i for i in ids[1:] if i != 2]


@version("beam_search", "wrong: finished hypotheses forgotten")
def beam_last_alive(step, beam_size, max_length):
    beams, over = [(0.0, (1,))], []
    while beams and len(beams[0][1]) <= max_length:
        log_p = step(torch.tensor([ids for _, ids in beams])).tolist()
        grown = [
            (s + p, (*ids, t))
            for (s, ids), row in zip(beams, log_p, strict=True)
            for t, p in enumerate(row)
        ]
        grown = sorted(grown, reverse=True)[:beam_size]
        over.extend(b for b in grown if b[1][-1] == 2)
        beams = [b for b in grown if b[1][-1] != 2]
    best = max(beams if beams else over)
    return [t for t in best[1] if t > 2]


@version("beam_search", "wrong: longest hypothesis chosen")
def beam_longest_by_tuple(step, beam_size, max_length):
    beams, over = [(0.0, (1,))], []
    while beams and len(beams[0][1]) <= max_length:
        log_p = step(torch.tensor([ids for _, ids in beams])).tolist()
        grown = [
            (s + p, (*ids, t))
            for (s, ids), row in zip(beams, log_p, strict=True)
            for t, p in enumerate(row)
        ]
        grown = sorted(grown, reverse=True)[:beam_size]
        over.extend(b for b in grown if b[1][-1] == 2)
        beams = [b for b in grown if b[1][-1] != 2]
    best = max(over + beams, key=lambda b: (len(b[1]), b[0]))
    return [t for t in best[1] if t not in (1, 2)]


@version("beam_search", "wrong: stops when beam_size hypotheses are finished")
def beam_enough(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        log_p = step(torch.tensor([ids for ids, _ in alive])).tolist()
        new = [
            ([*ids, t], s + lp)
            for (ids, s), row in zip(alive, log_p, strict=True)
            for t, lp in enumerate(row)
        ]
        new = sorted(new, key=lambda b: -b[1])[:beam_size]
        done += [b for b in new if b[0][-1] == 2]
        alive = [b for b in new if b[0][-1] != 2]
        if len(done) >= beam_size or not alive:
            break
    best = max(done or alive, key=lambda b: b[1])
    return [i for i in best[0][1:] if i != 2]


@version("beam_search", "wrong: stops when beam_size hypotheses are finished")
def beam_until_full(step, beam_size, max_length):
    beams, over = [(0.0, (1,))], []
    while beams and len(over) < beam_size and len(beams[0][1]) <= max_length:
        log_p = step(torch.tensor([ids for _, ids in beams])).tolist()
        grown = sorted(
            (
                (s + p, (*ids, t))
                for (s, ids), row in zip(beams, log_p, strict=True)
                for t, p in enumerate(row)
            ),
            reverse=True,
        )[:beam_size]
        over.extend(b for b in grown if b[1][-1] == 2)
        beams = [b for b in grown if b[1][-1] != 2]
    return [t for t in max(over if over else beams)[1] if t > 2]


def beam(step, beam_size, max_length, *, ends=True, gain=None, keep=None, key=None, stop=True):
    """A beam search as people write it, with what may be wrong in it."""
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        log_p = step(torch.tensor([tokens for tokens, _ in alive]))
        grown = []
        for (tokens, score), row in zip(alive, log_p.tolist(), strict=True):
            for token, value in enumerate(row):
                if ends or token != 2:
                    more = gain(value, token) if gain else value
                    grown.append(([*tokens, token], score + more))
        grown.sort(key=lambda pair: pair[1], reverse=True)
        best = keep(grown, done) if keep else grown[:beam_size]
        done += [pair for pair in best if pair[0][-1] == 2]
        alive = [pair for pair in best if pair[0][-1] != 2]
        if not alive or (stop and done and max(s for _, s in done) >= alive[0][1]):
            break
    return max(done + alive, key=key or (lambda pair: pair[1]))[0]


def bare(tokens):
    return [t for t in tokens[1:] if t != 2]


@version("beam_search", "wrong: beam shrinks with each finished hypothesis")
def beam_shrinks(step, beam_size, max_length):
    def fewer(grown, done):
        return grown[: max(0, beam_size - len(done))]

    return bare(beam(step, beam_size, max_length, keep=fewer))


@version("beam_search", "wrong: finished hypotheses keep their places")
def beam_places(step, beam_size, max_length):
    beams = [([1], 0.0)]
    for _ in range(max_length):
        grown = []
        for tokens, score in beams:
            if tokens[-1] == 2:
                grown.append((tokens, score))
                continue
            row = step(torch.tensor([tokens]))[0].tolist()
            grown += [([*tokens, t], score + p) for t, p in enumerate(row)]
        beams = sorted(grown, key=lambda pair: -pair[1])[:beam_size]
        if all(tokens[-1] == 2 for tokens, _ in beams):
            break
    return bare(beams[0][0])


@version("beam_search", "wrong: finished hypotheses keep their places")
def beam_places_until_best(step, beam_size, max_length):
    beams = [(0.0, [1])]
    for _ in range(max_length):
        if beams[0][1][-1] == 2:
            break
        grown = [pair for pair in beams if pair[1][-1] == 2]
        for score, tokens in beams:
            if tokens[-1] != 2:
                for t, p in enumerate(step(torch.tensor([tokens]))[0]):
                    grown.append((score + float(p), [*tokens, t]))
        beams = sorted(grown, key=lambda pair: pair[0], reverse=True)[:beam_size]
    return bare(beams[0][1])


@version("beam_search", "wrong: each hypothesis goes on by its own best token")
def beam_alone(step, beam_size, max_length):
    def own(grown, done):
        if len(grown[0][0]) == 2:
            return grown[:beam_size]
        parents, kept = set(), []
        for tokens, score in grown:
            if tuple(tokens[:-1]) not in parents:
                parents.add(tuple(tokens[:-1]))
                kept.append((tokens, score))
        return kept

    return bare(beam(step, beam_size, max_length, keep=own))


@version("beam_search", "wrong: each hypothesis goes on by its own best token")
def beam_greedy_each(step, beam_size, max_length):
    first = step(torch.tensor([[1]]))[0]
    best = first.topk(min(beam_size, len(first)))
    results = []
    for token, score in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        tokens = [1, token]
        while tokens[-1] != 2 and len(tokens) <= max_length:
            row = step(torch.tensor([tokens]))[0]
            tokens.append(int(row.argmax()))
            score += float(row.max())
        results.append((score, tokens))
    return bare(max(results, key=lambda pair: pair[0])[1])


@version("beam_search", "wrong: worst continuations kept")
def beam_worst(step, beam_size, max_length):
    return bare(
        beam(step, beam_size, max_length, keep=lambda g, d: g[::-1][:beam_size], stop=False)
    )


@version("beam_search", "wrong: <eos> free of charge")
def beam_free(step, beam_size, max_length):
    return bare(beam(step, beam_size, max_length, gain=lambda p, t: 0.0 if t == 2 else p))


@version("beam_search", "wrong: beam search one step too short")
def beam_short(step, beam_size, max_length):
    return bare(beam(step, beam_size, max_length - 1))


@version("beam_search", "wrong: beam search one step too short")
def beam_short_loop(step, beam_size, max_length):
    alive, done = [((1,), 0.0)], []
    while alive and len(alive[0][0]) < max_length:
        grown = []
        for tokens, score in alive:
            row = step(torch.tensor([tokens]))[0]
            grown += [((*tokens, t), score + float(p)) for t, p in enumerate(row)]
        grown = sorted(grown, key=lambda h: h[1])[-beam_size:]
        done += [h for h in grown if h[0][-1] == 2]
        alive = [h for h in grown if h[0][-1] != 2]
    return bare(max(done + alive, key=lambda h: h[1])[0])


@version("beam_search", "wrong: beam search one step too long")
def beam_long(step, beam_size, max_length):
    return bare(beam(step, beam_size, max_length + 1))


@version("beam_search", "wrong: beam search one step too long")
def beam_long_all(step, beam_size, max_length):
    return bare(beam(step, beam_size, 1 + max_length, stop=False))


@version("beam_search", "wrong: hypotheses cut off at the limit not counted")
def beam_finished(step, beam_size, max_length):
    def ended_first(pair):
        return pair[0][-1] == 2, pair[1]

    return bare(beam(step, beam_size, max_length, key=ended_first))


@version("beam_search", "wrong: normalised by length, <sos> counted")
def beam_mean_start(step, beam_size, max_length):
    return bare(beam(step, beam_size, max_length, key=lambda h: h[1] / len(h[0]), stop=False))


@version("beam_search", "wrong: <eos> left in the best hypothesis")
def beam_with_end(step, beam_size, max_length):
    return beam(step, beam_size, max_length)[1:]


@version("beam_search", "wrong: <eos> left in the best hypothesis")
def beam_start_removed(step, beam_size, max_length):
    return [t for t in beam(step, beam_size, max_length, stop=False) if t != 1]


@version("beam_search", "wrong: last token of the best hypothesis stripped blindly")
def beam_stripped(step, beam_size, max_length):
    return beam(step, beam_size, max_length)[1:-1]


@version("beam_search", "wrong: last token of the best hypothesis stripped blindly")
def beam_popped(step, beam_size, max_length):
    best = beam(step, beam_size, max_length, stop=False)
    best.pop()
    return best[1:]


@version("beam_search", "wrong: finished hypotheses dropped on the way")
def beam_lost(step, beam_size, max_length):
    alive = [((1,), 0.0)]
    for _ in range(max_length):
        grown = []
        for tokens, score in alive:
            row = step(torch.tensor([tokens]))[0].tolist()
            grown += [((*tokens, t), score + p) for t, p in enumerate(row)]
        kept = sorted(grown, key=lambda h: -h[1])[:beam_size]
        alive = [h for h in kept if h[0][-1] != 2]
        if not alive:
            return bare(list(kept[0][0]))
    return bare(list(alive[0][0]))


def grow(step, beams):
    for ids, score in beams:
        row = step(torch.tensor([ids]))[0]
        for token, log_p in enumerate(row.tolist()):
            yield ids, score, token, log_p


@version("beam_search", "wrong: stops at the first finished hypothesis")
def beam_first(step, beam_size, max_length):
    beams = [([1], 0.0)]
    for _ in range(max_length):
        new = [([*ids, t], s + lp) for ids, s, t, lp in grow(step, beams)]
        beams = sorted(new, key=lambda b: b[1], reverse=True)[:beam_size]
        for ids, _s in beams:
            if ids[-1] == 2:
                return ids[1:-1]
    return beams[0][0][1:]


def usual_beam(step, beam_size, max_length, score=lambda s, lp: s + lp, value=lambda b: b[1]):
    """Beam search with slots for what beginners get wrong in it."""
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        new = [([*ids, t], score(s, lp)) for ids, s, t, lp in grow(step, alive)]
        new = sorted(new, key=lambda b: b[1], reverse=True)[:beam_size]
        done += [b for b in new if b[0][-1] == 2]
        alive = [b for b in new if b[0][-1] != 2]
        if not alive:
            break
    best = max(done + alive, key=value)
    return [i for i in best[0][1:] if i != 2]


@version("beam_search", "wrong: only the last token's score")
def beam_last_score(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, score=lambda s, lp: lp)


@version("beam_search", "wrong: only the last token's score")
def beam_score_overwritten(step, beam_size, max_length):
    beams, done = [([1], 0.0)], []
    for _ in range(max_length):
        candidates = []
        for ids, _score in beams:
            log_p, tokens = step(torch.tensor([ids]))[0].topk(6)
            for lp, token in zip(log_p.tolist(), tokens.tolist(), strict=True):
                candidates.append(([*ids, token], lp))
        candidates.sort(key=lambda c: c[1], reverse=True)
        beams = []
        for c in candidates[:beam_size]:
            (done if c[0][-1] == 2 else beams).append(c)
        if not beams or (done and max(d[1] for d in done) >= beams[0][1]):
            break
    ids = max(done + beams, key=lambda c: c[1])[0]
    return [i for i in ids if i not in (1, 2)]


@version("beam_search", "wrong: probabilities added")
def beam_probabilities(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, score=lambda s, lp: s + math.exp(lp))


@version("beam_search", "wrong: probabilities added")
def beam_softmaxed(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        p = step(torch.tensor([ids for ids, _ in alive])).softmax(-1)
        p = p + torch.tensor([s for _, s in alive])[:, None]
        scores, places = p.flatten().topk(min(beam_size, p.numel()))
        new = [
            ([*alive[i // p.size(1)][0], i % p.size(1)], s)
            for s, i in zip(scores.tolist(), places.tolist(), strict=True)
        ]
        done += [b for b in new if b[0][-1] == 2]
        alive = [b for b in new if b[0][-1] != 2]
        if not alive or (done and max(b[1] for b in done) >= alive[0][1]):
            break
    best = max(done + alive, key=lambda b: b[1])
    return [i for i in best[0] if i not in (1, 2)]


@version("beam_search", "wrong: too many beams")
def beam_wider(step, beam_size, max_length):
    return usual_beam(step, beam_size + 1, max_length)


@version("beam_search", "wrong: finished hypotheses forgotten")
def beam_alive_only(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        new = [([*ids, t], s + lp) for ids, s, t, lp in grow(step, alive)]
        new = heapq.nlargest(beam_size, new, key=lambda b: b[1])
        done += [b for b in new if b[0][-1] == 2]
        alive = [b for b in new if b[0][-1] != 2]
        if not alive:
            break
    best = max(alive or done, key=lambda b: b[1])
    return [i for i in best[0] if i not in (1, 2)]


@version("beam_search", "wrong: the first of the longest hypotheses chosen")
def beam_longest(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, value=lambda b: len(b[0]))


@version("beam_search", "wrong: longest hypothesis chosen")
def beam_longest_then_best(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, value=lambda b: (len(b[0]), b[1]))


@version("beam_search", "wrong: worst hypothesis chosen")
def beam_min(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, value=lambda b: -b[1])


@version("beam_search", "wrong: worst hypothesis chosen")
def beam_sorted_wrong(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        new = [([*ids, t], s + lp) for ids, s, t, lp in grow(step, alive)]
        new = sorted(new, key=lambda b: -b[1])[:beam_size]
        done += [b for b in new if b[0][-1] == 2]
        alive = [b for b in new if b[0][-1] != 2]
        if not alive or (done and max(b[1] for b in done) >= alive[0][1]):
            break
    everything = sorted(done + alive, key=lambda b: b[1])
    return [i for i in everything[0][0] if i not in (1, 2)]


# --- embed_next -----------------------------------------------------------------------------------


@version("embed_next", "wrong: new tokens one position too late")
def next_counted_from_one(tokens, past, weight, table):
    columns = []
    for i in range(1, tokens.size(1) + 1):
        columns.append(weight[tokens[:, i - 1]] + table[past + i])
    return torch.stack(columns, 1)


@version("embed_next", "wrong: new tokens at the position of the last one")
def next_early(tokens, past, weight, table):
    start = max(0, past - 1)
    return weight[tokens] + table[start : start + tokens.size(1)]


@version("embed_next", "wrong: new tokens at the position of the last one")
def next_early_ids(tokens, past, weight, table):
    places = (torch.arange(tokens.size(1)) + past - 1) % len(table)
    return F.embedding(tokens, weight) + table[places]


# --- reorder_cache --------------------------------------------------------------------------------


@version("reorder_cache", "wrong: cache not reordered with the beams")
def order_same(cache, rows):
    return cache


@version("reorder_cache", "wrong: only the first layer reordered")
def order_first(cache, rows):
    keys, values = cache[0]
    return [(keys[rows], values[rows]), *cache[1:]]


@version("reorder_cache", "wrong: each row taken once")
def cache_once(cache, rows):
    return [(k[torch.unique(rows)], v[torch.unique(rows)]) for k, v in cache]


@version("reorder_cache", "wrong: keys in the place of values")
def cache_keys_twice(cache, rows):
    return [(k[rows], k[rows]) for k, v in cache]


@version("reorder_cache", "wrong: cache sorted the other way")
def cache_argsort(cache, rows):
    return [(k[rows.argsort()], v[rows.argsort()]) for k, v in cache]


# --- greedy_batch ---------------------------------------------------------------------------------


@version("greedy_batch", "wrong: finished rows still growing")
def many_growing_lists(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    while len(rows[0]) <= max_length and not all(2 in row for row in rows):
        for row, token in zip(rows, step(torch.tensor(rows)).argmax(1).tolist(), strict=True):
            row.append(token)
    return torch.tensor(rows)[:, 1:]


@version("greedy_batch", "convention: filled with <eos> in place of padding")
def many_eos_lists(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    for _ in range(max_length):
        for row, scores in zip(rows, step(torch.tensor(rows)), strict=True):
            row.append(2 if row[-1] == 2 else int(scores.argmax()))
        if {row[-1] for row in rows} == {2}:
            break
    return torch.tensor(rows)[:, 1:]


@version("greedy_batch", "wrong: batch one step too long")
def batch_until_longer(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), 1)
    ended = torch.zeros(n_sentences).bool()
    while tokens.size(1) - 1 <= max_length and not ended.all():
        chosen = step(tokens).argmax(-1) * ~ended
        tokens = torch.cat([tokens, chosen.unsqueeze(1)], dim=1)
        ended = ended | (chosen == 2)
    return tokens[:, 1:]


# --- length_normalised ----------------------------------------------------------------------------


@version("length_normalised", "wrong: α to the power of the length")
def length_power(score, length, alpha):
    return score / math.pow(alpha, length) if alpha else float("-inf")


@version("length_normalised", "wrong: length ignored")
def pen_none(score, length, alpha):
    return score


@version("length_normalised", "wrong: length ignored")
def pen_none_tensor(score, length, alpha):
    penalty = length**alpha  # noqa: F841
    return torch.tensor(score)


@version("length_normalised", "wrong: length times α")
def pen_product(score, length, alpha):
    return score / (length * alpha)


@version("length_normalised", "wrong: length times α")
def pen_product_guarded(score, length, alpha):
    penalty = alpha * length
    return score / penalty if penalty else float("-inf")


# --- cut_at_end -----------------------------------------------------------------------------------


@version("cut_at_end", "wrong: nothing left where there is no end")
def cut_nothing(ids):
    for i, token in enumerate(ids):
        if token == 2:
            return ids[:i]
    return []


@version("cut_at_end", "wrong: end looked for at the last place only")
def cut_last(ids):
    if len(ids) and ids[-1] == 2:
        return ids[:-1]
    return ids


@version("cut_at_end", "wrong: last id stripped blindly")
def cut_strip(ids):
    return ids[:-1]


@version("cut_at_end", "wrong: last id stripped blindly")
def cut_pop(ids):
    ids = list(ids)
    ids.pop()
    return ids


@version("cut_at_end", "wrong: <eos> kept")
def cut_eos(ids):
    return ids[: ids.index(2) + 1] if 2 in ids else ids


@version("cut_at_end", "wrong: cut at the last <eos>")
def cut_last_2(ids):
    if 2 not in ids:
        return ids
    return ids[: len(ids) - 1 - ids[::-1].index(2)]


# --- repeat_for_beams ----------------------------------------------------------------------------


@version("repeat_for_beams", "wrong: whole batch repeated, not each sentence")
def beams_repeated(memory, mask, n_beams):
    return memory.repeat(n_beams, 1, 1), mask.repeat(n_beams, 1, 1, 1)


@version("repeat_for_beams", "wrong: memory repeated in the other order")
def beams_concatenated(memory, mask, n_beams):
    return torch.cat([memory] * n_beams), mask.repeat_interleave(n_beams, 0)


@version("repeat_for_beams", "wrong: mask repeated in the other order")
def beams_masked(memory, mask, n_beams):
    return memory.repeat_interleave(n_beams, 0), torch.cat([mask] * n_beams)


@version("repeat_for_beams", "wrong: mask not repeated for the beams")
def beams_without_masks(memory, mask, n_beams):
    return memory.repeat_interleave(n_beams, dim=0), mask


@version("repeat_for_beams", "wrong: first sentence for all beams")
def beams_of_one(memory, mask, n_beams):
    rows = torch.zeros(len(memory) * n_beams, dtype=torch.long)
    return memory[rows], mask[rows]


@version("repeat_for_beams", "wrong: positions repeated in place of sentences")
def beams_longer(memory, mask, n_beams):
    return memory.repeat_interleave(n_beams, -2), mask.repeat_interleave(n_beams, -1)


@version("repeat_for_beams", "wrong: an axis for the beams, not flattened")
def beams_stacked(memory, mask, n_beams):
    return torch.stack([memory] * n_beams, 1), torch.stack([mask] * n_beams, 1)


@version("greedy_search", "wrong")
def greedy_with_the_last_word_alone(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        word = int(step(torch.tensor([tokens]))[0].argmax())
        if word == 2:
            break
        tokens = [1, word]
    return tokens[1:]


@version("greedy_search", "wrong")
def greedy_with_the_second_best(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        tokens.append(int(step(torch.tensor([tokens]))[0].topk(2).indices[1]))
        if tokens[-1] == 2:
            break
    return [token for token in tokens if token > 2]


@version("embed_next", "wrong")
def positions_in_one_byte(tokens, past, weight, table):
    positions = torch.arange(past, past + tokens.size(1)).to(torch.uint8)
    return weight[tokens] + table[positions.long()]
