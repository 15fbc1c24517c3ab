"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import torch

from tests.checks.corpus import version


def grown_to_the_end(step, beam_size, max_length):
    """The best row of a beam in which `<eos>` is a word like any other."""
    beam = [(0.0, [1])]
    for _ in range(max_length):
        rows = step(torch.tensor([tokens for _, tokens in beam])).tolist()
        beam = [
            (score + log_p, [*tokens, word])
            for (score, tokens), row in zip(beam, rows, strict=True)
            for word, log_p in enumerate(row)
        ]
        beam = sorted(beam, key=lambda pair: pair[0], reverse=True)[:beam_size]
    return beam[0][1][1:]


@version("beam_search", "wrong: hypotheses go on behind <eos>")
def beams_that_do_not_end(step, beam_size, max_length):
    words = []
    for word in grown_to_the_end(step, beam_size, max_length):
        if word == 2:
            break
        words.append(word)
    return words


@version("beam_search", "wrong: hypotheses go on behind <eos>, and all of it is given back")
def beams_that_are_not_cut(step, beam_size, max_length):
    return grown_to_the_end(step, beam_size, max_length)


@version("temperature_probabilities", "wrong")
def divided_where_it_stands(logits, temperature):
    logits /= temperature
    return torch.softmax(logits, dim=-1)


@version("beam_search", "wrong")
def only_the_last_word_read(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for n in range(1, max_length + 1):
        rows = step(torch.tensor([t[-1:] for t, _ in alive])).tolist()
        new = [([*t, w], s + p) for (t, s), row in zip(alive, rows) for w, p in enumerate(row)]
        new = sorted(new, key=lambda h: -h[1])[:beam_size]
        done += [h for h in new if h[0][-1] == 2 or n == max_length]
        alive = [h for h in new if h[0][-1] != 2]
        if not alive:
            break
    best = max(done, key=lambda h: h[1])[0][1:]
    return [w for w in best if w != 2]


@version(
    "beam_search", "right", "reported as a bug, and right: a finished hypothesis is carried on"
)
def beams_that_go_on_after_the_end(step, beam_size, max_length):
    beams = [([1], 0.0)]
    finished = []
    for _ in range(max_length):
        log_p = step(torch.tensor([ids for ids, _ in beams]))
        candidates = []
        for (ids, score), row in zip(beams, log_p):
            for token, value in enumerate(row.tolist()):
                candidates.append(([*ids, token], score + value))
        candidates.sort(key=lambda c: -c[1])
        beams = candidates[:beam_size]
        for ids, score in beams:
            if ids[-1] == 2:
                finished.append((ids[1:-1], score))
    finished += [(ids[1:], score) for ids, score in beams if ids[-1] != 2]
    return [t for t in max(finished, key=lambda f: f[1])[0] if t != 2]


@version(
    "beam_search", "right", "the search stops when the best of all is finished, reported as wrong"
)
def stops_when_the_best_is_finished(step, beam_size, max_length):
    beams = [([1], 0.0)]
    finished = []
    for _ in range(max_length):
        log_p = step(torch.tensor([ids for ids, _ in beams]))
        scores = torch.tensor([s for _, s in beams], dtype=log_p.dtype)[:, None] + log_p
        n = min(beam_size, scores.numel())
        values, places = scores.flatten().topk(n)
        alive = []
        for value, place in zip(values.tolist(), places.tolist()):
            row, token = divmod(place, log_p.size(1))
            ids = beams[row][0]
            if token == 2:
                finished.append((ids[1:], value))
            else:
                alive.append(([*ids, token], value))
        beams = alive
        if not beams or (finished and max(s for _, s in finished) >= beams[0][1]):
            break
    ends = finished + [(ids[1:], score) for ids, score in beams]
    return max(ends, key=lambda e: e[1])[0]


@version("cut_at_end", "wrong")
def one_token_too_early(ids):
    for i, token in enumerate(ids):
        if token == 2:
            return ids[: max(i - 1, 0)]
    return ids


@version("top_k_probabilities", "wrong")
def threshold_is_the_largest(logits, k):
    top_vals = logits.topk(k).values.flip(-1)
    kept = logits.masked_fill(logits < top_vals[:, -1:], float("-inf"))
    return kept.softmax(-1)


@version("top_k_probabilities", "right", "a threshold instead of places, reported as wrong")
def threshold_of_the_kth(logits, k):
    cut = logits.topk(k, dim=-1).values[:, -1]
    return torch.softmax(torch.where(logits >= cut.unsqueeze(-1), logits, -torch.inf), dim=-1)


@version("reorder_cache", "wrong: positions picked in place of rows")
def rows_along_the_positions(cache, rows):
    return [(k.index_select(2, rows), v.index_select(2, rows)) for k, v in cache]


# --- rebuilt on 2026-11-29 -----------------------------------------------------------------------


@version("embed_next", "wrong")
def past_and_the_new_ones(tokens, past, weight, table):
    t = tokens.shape[1]
    offset = past + t
    return weight[tokens] + table[offset : offset + t]


@version("length_normalised", "wrong")
def length_plus_six(score, length, alpha):
    return score / (pow(length + 6, alpha) / pow(6, alpha))
