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


@version("temperature_probabilities", "wrong: divided by the temperature behind the softmax")
def log_softmax_then_divided(logits, temperature):
    return (logits.log_softmax(-1) / temperature).exp()


@version("temperature_probabilities", "wrong")
def divided_where_it_stands(logits, temperature):
    logits /= temperature
    return torch.softmax(logits, dim=-1)


@version("reorder_cache", "wrong: cache overwritten while it is read")
def scattered_into_itself(cache, rows):
    found = []
    for keys, values in cache:
        keys, values = keys.clone(), values.clone()
        for i, row in enumerate(rows.tolist()):
            keys[i], values[i] = keys[row], values[row]
        found.append((keys, values))
    return found


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
