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
