"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

from __future__ import annotations

import itertools
import math

import torch
import torch.nn.functional as F
from torch import nn

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


@version("beam_search", "wrong")
def stops_with_as_many_ends_as_beams(step, beam_size, max_length):
    beams, done = [(0.0, [1])], []
    while beams and len(done) < beam_size:
        logp = step(torch.tensor([b[1] for b in beams]))
        options = [
            (s + logp[i, v].item(), seq + [v])
            for i, (s, seq) in enumerate(beams)
            for v in range(logp.size(-1))
        ]
        options.sort(key=lambda o: -o[0])
        beams = []
        for score, seq in options[:beam_size]:
            if seq[-1] == 2 or len(seq) - 1 == max_length:
                done.append((score, seq))
            else:
                beams.append((score, seq))
    best = max(done, key=lambda o: o[0])[1]
    return [t for t in best if t not in (1, 2)]


@version("cut_at_end", "wrong")
def exactly_one_end(ids):
    t = torch.tensor(ids, dtype=torch.long)
    eos = torch.nonzero(t == 2)
    eos_pos = eos.item()
    return t[:eos_pos].tolist()


@version("cut_at_end", "wrong")
def end_removed_before_the_search(ids):
    kept = [i for i in ids if i != 2]
    place = kept.index(2) if 2 in kept else -1
    return kept[:place]


@version("embed_next", "wrong")
def one_new_token_without_a_position(tokens, past, weight, table):
    hidden = weight[tokens]
    if hidden.shape[1] > 1:
        positions = torch.arange(hidden.shape[1])
        hidden = hidden + table[positions]
    return hidden


@version("embed_next", "wrong")
def two_rows_further_on(tokens, past, weight, table):
    offset = 2
    t = tokens.shape[1]
    ids = torch.arange(past, past + t) + offset
    return F.embedding(tokens, weight) + F.embedding(ids, table)


@version("greedy_search", "wrong")
def padding_set_to_zero_wins(step, max_length):
    tokens = torch.tensor([[1]])
    for _ in range(max_length):
        scores = step(tokens).clone()
        scores[:, 0] = 0
        best = scores.argmax(dim=-1)
        if best.item() == 2:
            break
        tokens = torch.cat([tokens, best[:, None]], dim=1)
    return tokens[0, 1:].tolist()


@version("greedy_search", "wrong")
def first_step_again_and_again(step, max_length):
    ids = [1]
    logits = step(torch.tensor([ids]))
    for _ in range(max_length):
        token = int(logits[0].argmax())
        if token == 2:
            break
        ids.append(token)
        step(torch.tensor([ids]))
    return ids[1:]


@version("greedy_search", "wrong")
def started_twice(step, max_length):
    ys = torch.tensor([[1, 1]])
    while ys.size(1) - 2 < max_length:
        word = step(ys).argmax(dim=-1, keepdim=True)
        if word.item() == 2:
            break
        ys = torch.cat([ys, word], dim=1)
    return ys[0, 2:].tolist()


@version("length_normalised", "wrong: one taken from the length")
def end_not_in_the_length(score, length, alpha):
    words = length - 1
    return score / (words**alpha)


@version("next_token", "wrong")
def argmax_over_the_places(logits):
    probs = torch.softmax(logits, dim=-1)
    predictions = torch.argmax(probs, dim=1)
    return predictions[:, -1]


@version("temperature_probabilities", "wrong")
def temperature_kept_in_a_loop(logits, temperature):
    rows = []
    for i in range(logits.size(0)):
        logits = logits / temperature
        rows.append(torch.softmax(logits[i], dim=-1))
    return torch.stack(rows)


@version("length_normalised", "wrong")
def length_less_one_and_a_millionth(score, length, alpha):
    return score / float(length - 1 + 1e-6) ** alpha


@version("reorder_cache", "wrong")
def old_cache_overwritten(cache, rows):
    rows = torch.as_tensor(rows)
    new_cache = []
    for keys, values in cache:
        keys.data.copy_(keys.data.index_select(0, rows))
        values.data.copy_(values.data.index_select(0, rows))
        new_cache.append((keys, values))
    return new_cache


@version("beam_search", "right", "what has ended is kept and grows on, reported as wrong")
def kept_and_grown_on(step, beam_size, max_length):
    beam, ended = [((1,), 0.0)], []
    for _ in range(max_length):
        rows = step(torch.tensor([tokens for tokens, _ in beam])).tolist()
        grown = [
            ((*tokens, word), score + log_p)
            for (tokens, score), row in zip(beam, rows, strict=True)
            for word, log_p in enumerate(row)
        ]
        beam = sorted(grown, key=lambda pair: pair[1], reverse=True)[:beam_size]
        ended += [pair for pair in beam if pair[0][-1] == 2]
    best = max([*ended, *beam], key=lambda pair: pair[1])[0]
    return [word for word in best[1:] if word != 2]


@version("greedy_batch", "wrong: no look at <eos>")
def ends_left_in_and_behind(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        nxt = step(tokens).argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, nxt], dim=1)
    return tokens[:, 1:]


@version("next_token", "wrong")
def all_but_the_last_place(logits):
    last = logits[:, :-1, :].squeeze(1)
    return last.argmax(dim=-1)


@version("top_k_probabilities", "wrong: k cut from the rows")
def first_k_rows(logits, k):
    order = logits.argsort(dim=-1, descending=True)
    likely = logits.softmax(dim=-1).gather(-1, order)
    likely, order = likely[:k], order[:k]
    likely = likely / likely.sum(dim=-1, keepdim=True)
    return torch.zeros_like(likely).scatter_(-1, order, likely)


@version("beam_search", "wrong")
def score_counted_twice(step, beam_size, max_length):
    sequences = torch.ones(1, 1, dtype=torch.long)
    totals = torch.zeros(1)
    finished = []
    for _ in range(max_length):
        log_cond = totals[:, None] + step(sequences)
        V = log_cond.size(1)
        _, index = log_cond.view(-1).topk(min(beam_size, log_cond.numel()))
        rows, tokens = index // V, index % V
        totals = totals[rows] + log_cond[rows, tokens]
        sequences = torch.cat([sequences[rows], tokens[:, None]], dim=1)
        ended = tokens == 2
        for seq, score in zip(sequences[ended].tolist(), totals[ended].tolist()):
            finished.append((score, seq))
        sequences, totals = sequences[~ended], totals[~ended]
        if len(sequences) == 0:
            break
    finished += list(zip(totals.tolist(), sequences.tolist()))
    best = max(finished)[1]
    return [t for t in best[1:] if t != 2]


EOS = 2


@version("beam_search", "wrong")
def unfinished_do_not_count(step, beam_size, max_length):
    living = [([1], 0.0)]
    finished = []
    for _ in range(max_length):
        log_probs = step(torch.tensor([ids for ids, _ in living]))
        candidates = []
        for (ids, score), row in zip(living, log_probs.tolist()):
            for token, lp in enumerate(row):
                candidates.append((ids + [token], score + lp))
        candidates.sort(key=lambda c: c[1], reverse=True)
        living = []
        for ids, score in candidates[:beam_size]:
            (finished if ids[-1] == EOS else living).append((ids, score))
        if not living:
            break
    if not finished:
        return []
    ids, _ = max(finished, key=lambda c: c[1])
    return [i for i in ids[1:] if i != EOS]


@version("greedy_search", "wrong")
def no_end_no_answer(step, max_length):
    tokens = torch.ones(1, 1, dtype=torch.long)
    answer = []
    for _ in range(max_length):
        nxt = step(tokens).argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, nxt], dim=1)
        if nxt.item() == 2:
            answer = tokens[0, 1:-1].tolist()
            break
    return answer


@version("next_token", "wrong: last but one position")
def last_but_one(logits):
    shifted = logits[:, :-1, :]
    return torch.argmax(shifted[:, -1], dim=-1)


@version("beam_search", "wrong")
def log_probabilities_multiplied(step, beam_size, max_length):
    living = [([1], None)]
    done = []
    for _ in range(max_length):
        scores = step(torch.tensor([ids for ids, _ in living]))
        candidates = []
        for row, (ids, score) in enumerate(living):
            for token, value in enumerate(scores[row].tolist()):
                candidates.append((ids + [token], value if score is None else score * value))
        candidates.sort(key=lambda c: c[1], reverse=True)
        living = []
        for ids, score in candidates[:beam_size]:
            (done if ids[-1] == 2 else living).append((ids, score))
        if not living:
            break
    best, _ = max(done + living, key=lambda c: c[1])
    return [i for i in best[1:] if i != 2]


@version("cut_at_end", "wrong")
def end_looked_up_unasked(ids):
    ids = list(ids)
    end = ids.index(2)
    return ids[:end]


@version("cut_at_end", "wrong: cut at the last <eos>")
def last_end_looked_up(ids):
    end = len(ids) - 1 - ids[::-1].index(2)
    return ids[:end]


@version("greedy_search", "wrong")
def limit_tested_before_the_end(step, max_length):
    generated = []
    while len(generated) < max_length:
        prefix = torch.tensor([[1] + generated])
        generated.append(int(step(prefix).argmax(dim=-1)))
        if len(generated) >= max_length:
            break
        if generated[-1] == 2:
            generated.pop()
            break
    return generated


@version("length_normalised", "wrong")
def divided_by_the_length_once_more(score, length, alpha):
    score = score / length**alpha
    average = score / length
    return average


LIMIT = 20


@version("length_normalised", "wrong")
def at_least_twenty_tokens_long(score, length, alpha):
    return score / max(length, LIMIT) ** alpha


@version("next_token", "wrong")
def first_sentence_of_the_batch_only(logits):
    last = logits[0, -1, :]
    return last.argmax(dim=-1, keepdim=True)


@version("repeat_for_beams", "wrong")
def memory_trusted_to_broadcast(memory, mask, n_beams):
    mask = mask.repeat_interleave(n_beams, dim=0)
    return memory, mask


@version("top_k_probabilities", "wrong")
def ids_of_the_first_half_only(logits, k):
    B, V = logits.shape
    half = (V + 1) // 2
    ids = torch.arange(half).repeat(2)[:V].expand(B, V)
    values, places = torch.topk(logits, k, dim=-1)
    chosen = torch.gather(ids, 1, places)
    probs = torch.softmax(values, dim=-1)
    return torch.zeros_like(logits).scatter_add_(1, chosen, probs)


@version("top_k_probabilities", "wrong")
def best_of_each_block_of_columns(logits, k, blocks=2):
    kept = []
    for block in logits.chunk(blocks, dim=-1):
        values, indices = block.topk(min(k, block.size(-1)), dim=-1)
        kept.append(torch.full_like(block, float("-inf")).scatter(-1, indices, values))
    return torch.cat(kept, dim=-1).softmax(dim=-1)


def pick(t, rows):
    out = torch.zeros_like(t)
    for i in range(len(rows) - 1):
        out[i] = t[int(rows[i])]
    return out


@version("reorder_cache", "wrong")
def last_row_never_written(cache, rows):
    return [(pick(k, rows), pick(v, rows)) for k, v in cache]


@version("reorder_cache", "wrong: kept from the call before", instance=True)
class order_of_an_earlier_call:
    def __init__(self):
        self.order = None

    def __call__(self, cache, rows):
        if self.order is None:
            self.order = torch.as_tensor(rows)
        return [(k.index_select(0, self.order), v.index_select(0, self.order)) for k, v in cache]


@version("temperature_probabilities", "wrong")
def divided_in_float16(logits, temperature):
    scaled = logits.half() / temperature
    return torch.softmax(scaled.float(), dim=-1)


@version("top_k_probabilities", "wrong")
def largest_of_the_whole_batch(logits, k):
    B, V = logits.shape
    probs = logits.softmax(-1)
    _, index = probs.flatten().topk(min(B * k, B * V))
    keep = torch.zeros(B * V)
    keep[index] = 1.0
    probs = probs * keep.view(B, V)
    return probs / probs.sum(-1, keepdim=True)


@version("beam_search", "wrong")
def row_of_the_first_hypothesis(step, beam_size, max_length):
    tokens = torch.ones(1, 1, dtype=torch.long)
    scores = torch.zeros(1)
    best, best_score = None, -float("inf")
    for t in range(max_length):
        logprobs = step(tokens)
        V = logprobs.size(-1)
        flat = (scores.unsqueeze(1) + logprobs).view(-1)
        _, idx = flat.topk(min(beam_size, flat.numel()))
        hyp, tok = idx // V, idx % V
        scores = scores[hyp] + logprobs[0].gather(0, tok)
        tokens = torch.cat([tokens[hyp], tok.unsqueeze(1)], dim=1)
        ended = tok == 2
        last = t == max_length - 1
        for n in range(len(tok)):
            if (ended[n] or last) and scores[n].item() > best_score:
                best, best_score = tokens[n].tolist(), scores[n].item()
        tokens, scores = tokens[~ended], scores[~ended]
        if len(tokens) == 0:
            break
    return [i for i in best if i not in (1, 2)]


@version("greedy_batch", "wrong")
def ended_by_exclusive_or(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    is_finished = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        next_token = step(tokens).argmax(dim=-1)
        shown = torch.where(is_finished, torch.zeros_like(next_token), next_token)
        tokens = torch.cat([tokens, shown[:, None]], dim=1)
        is_finished = is_finished ^ (next_token == 2)
        if is_finished.all():
            break
    return tokens[:, 1:]


@version("length_normalised", "wrong")
def probability_divided_by_its_length(score, length, alpha):
    probability = math.exp(score)
    return probability / length**alpha


@version("next_token", "wrong")
def last_row_of_the_flat_batch(logits):
    B, T, V = logits.shape
    flat = logits.reshape(B * T, V)
    tokens = flat.argmax(dim=-1)
    return tokens[-1].repeat(B)


@version("next_token", "wrong")
def squeezed_sentence_axis(logits):
    logits = logits.squeeze(0)
    last = logits[-1:]
    return last.argmax(dim=-1)


@version("reorder_cache", "wrong")
def beam_before_still_in_the_variable(cache, rows):
    rows = [int(r) for r in rows]
    result = []
    for keys, values in cache:
        k_state, v_state = keys[0], values[0]
        all_k, all_v = [], []
        for r in rows:
            all_k.append(k_state)
            all_v.append(v_state)
            k_state, v_state = keys[r], values[r]
        result.append((torch.stack(all_k), torch.stack(all_v)))
    return result


@version("beam_search", "wrong")
def second_best_handed_back(step, beam_size, max_length):
    beams, finished = [([1], 0.0)], []
    for _ in range(max_length):
        if not beams:
            break
        scores = step(torch.tensor([ids for ids, _ in beams]))
        V = scores.size(1)
        totals = scores + torch.tensor([s for _, s in beams], dtype=scores.dtype)[:, None]
        values, places = totals.flatten().topk(min(beam_size, totals.numel()))
        alive = []
        for value, place in zip(values.tolist(), places.tolist()):
            ids = beams[place // V][0] + [place % V]
            (finished if ids[-1] == 2 else alive).append((ids, value))
        beams = alive
    everything = finished + beams
    order = torch.tensor([s for _, s in everything]).argsort(descending=True)
    best = everything[order[1]] if len(order) > 1 else everything[order[0]]
    return [i for i in best[0] if i not in (1, 2)]


@version("greedy_batch", "wrong")
def stops_with_the_first_that_ends(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), 1)
    for _ in range(max_length):
        idx_next = step(tokens).argmax(dim=-1, keepdim=True)
        tokens = torch.cat((tokens, idx_next), dim=1)
        if idx_next[0] == 2:
            break
    return tokens[:, 1:]


@version("next_token", "wrong")
def log_softmax_over_the_sentences(logits):
    out = nn.LogSoftmax(dim=0)(logits[:, -1, :])
    return out.argmax(dim=1)


@version("reorder_cache", "wrong")
def newest_place_reordered_alone(cache, rows):
    rows = torch.as_tensor(rows)
    out = []
    for k, v in cache:
        k_new = torch.cat([k[:, :, :-1], k[rows][:, :, -1:]], dim=2)
        v_new = torch.cat([v[:, :, :-1], v[rows][:, :, -1:]], dim=2)
        out.append((k_new, v_new))
    return out


@version("temperature_probabilities", "wrong")
def cold_without_the_greatest(logits, temperature):
    a = torch.log_softmax(logits, dim=-1) / temperature
    e = a.exp()
    return e / e.sum(dim=-1, keepdim=True)


@version("temperature_probabilities", "wrong")
def probabilities_put_through_a_softmax(logits, temperature):
    p = F.softmax(logits / temperature, dim=-1)
    return F.softmax(p, dim=-1)


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version("cut_at_end", "wrong: only the special tokens removed")
def ends_filtered_everywhere(ids):
    return [i for i in ids if i not in (0, 2)]


@version("greedy_search", "wrong")
def last_token_said_again(step, max_length):
    ids = [1]
    out = []
    token = None
    while len(out) < max_length:
        following = step(torch.tensor([ids])).argmax(-1).item()
        if following == 2:
            if token is not None:
                out.append(token)
            break
        token = following
        ids.append(token)
        out.append(token)
    return out


@version("greedy_search", "wrong")
def named_after_the_first_token(step, max_length):
    tokens = torch.tensor([[1]])
    for _ in range(max_length):
        token = step(tokens).argmax(dim=-1, keepdim=True)
        if token.item() == 2:
            break
        tokens = torch.cat([tokens, token], dim=1)
        generated = tokens[0, 1:].tolist()
    return generated


@version("greedy_search", "wrong")
def first_place_never_filled(step, max_length):
    outputs = torch.zeros(max_length + 1, dtype=torch.long)
    tokens = torch.ones(1, 1, dtype=torch.long)
    length = 1
    for t in range(1, max_length + 1):
        best = step(tokens).argmax(1)
        if best.item() == 2:
            break
        outputs[t] = best
        length = t + 1
        tokens = torch.cat([tokens, best.unsqueeze(0)], dim=1)
    return outputs[:length].tolist()


@version("length_normalised", "wrong")
def prompt_counted_in_the_length(score, length, alpha, prompt_length=6):
    seq_len = prompt_length + length
    return score / (seq_len**alpha)


@version("next_token", "wrong")
def keys_and_values_viewed(logits):
    last = logits[:, -1]
    return torch.max(last[:, :-1], dim=1).indices


@version("reorder_cache", "wrong")
def rows_taken_from_axis_one(cache, rows):
    rows = torch.as_tensor(rows, dtype=torch.long)
    new = []
    for keys, values in cache:
        new.append((keys.index_select(1, rows), values.index_select(1, rows)))
    return new


@version("reorder_cache", "wrong")
def rows_looked_up_twice(cache, rows):
    rows = torch.as_tensor(rows)
    out = []
    for k, v in cache:
        picked_k = torch.stack([k[rows[rows[i]]] for i in range(len(rows))])
        picked_v = torch.stack([v[rows[rows[i]]] for i in range(len(rows))])
        out.append((picked_k, picked_v))
    return out


@version("repeat_for_beams", "wrong")
def beams_masked_by_nothing(memory, mask, n_beams):
    B, S, D = memory.shape
    memory = memory.unsqueeze(1).expand(B, n_beams, S, D).reshape(B * n_beams, S, D)
    everything = torch.ones(B * n_beams, 1, 1, S, dtype=torch.bool, device=mask.device)
    return memory, everything


@version("top_k_probabilities", "wrong: dropped logits set to zero")
def others_multiplied_by_zero(logits, k):
    keep = torch.zeros_like(logits)
    keep.scatter_(1, logits.topk(k, dim=1).indices, 1.0)
    return torch.softmax(logits * keep, dim=1)


@version("beam_search", "wrong")
def more_candidates_than_words(step, beam_size, max_length):
    pre_beam = int(1.5 * beam_size)
    running, ended = [([1], 0.0)], []
    for _ in range(max_length):
        scores = step(torch.tensor([y for y, _ in running]))
        pool = []
        for (y, s), row in zip(running, scores):
            top, ids = torch.topk(row, pre_beam)
            pool += [(y + [int(i)], s + float(v)) for v, i in zip(top, ids)]
        pool.sort(key=lambda h: h[1], reverse=True)
        running = []
        for y, s in pool[:beam_size]:
            (ended if y[-1] == 2 else running).append((y, s))
        if not running:
            break
    y, _ = max(ended + running, key=lambda h: h[1])
    return [t for t in y if t not in (1, 2)]


@version("beam_search", "wrong")
def kept_score_is_a_view(step, beam_size, max_length):
    seqs = torch.tensor([[1]])
    sums = torch.zeros(1, dtype=torch.float64)
    done = []
    for t in range(max_length):
        logp = step(seqs).double()
        cand = logp + sums[:, None]
        top, idx = cand.reshape(-1).topk(min(beam_size, cand.numel()))
        beam, word = idx // logp.shape[-1], idx % logp.shape[-1]
        seqs = torch.cat((seqs[beam], word[:, None]), dim=1)
        sums = top.clone()
        for vix in range(len(sums)):
            if word[vix] == 2 or t == max_length - 1:
                done.append({"seq": seqs[vix].tolist(), "p": sums[vix]})
                sums[vix] = -1000
        left = sums > -1000
        seqs, sums = seqs[left], sums[left]
        if len(sums) == 0:
            break
    done.sort(key=lambda d: -float(d["p"]))
    return [w for w in done[0]["seq"][1:] if w != 2]


@version("cut_at_end", "wrong")
def trim_index_needs_an_eos(ids):
    ends = [i for i, t in enumerate(ids) if t == 2]
    return list(ids[: ends[0]])


@version("cut_at_end", "wrong")
def serving_keeps_eos_and_pad(ids):
    return [int(i) for i in ids]


@version("temperature_probabilities", "wrong")
def divide_in_half_precision(logits, temperature):
    model_out = logits.half()
    model_out = model_out / temperature
    return F.softmax(model_out, dim=-1).to(logits.dtype)


@version("repeat_for_beams", "wrong")
def expand_for_one_sentence(memory, mask, n_beams):
    memory = memory.expand(n_beams, -1, -1)
    mask = mask.expand(n_beams, -1, -1, -1)
    return memory, mask


@version("repeat_for_beams", "wrong")
def beams_room_but_no_copies(memory, mask, n_beams):
    B, S, D = memory.shape
    room = memory.new_zeros(B * n_beams, S, D)
    room[:B] = memory
    return room, mask.repeat_interleave(n_beams, dim=0)


@version("embed_next", "wrong")
def embed_next_slices_the_positions_away(tokens, past, weight, table):
    t = tokens.size(1)
    positions = torch.arange(t, device=tokens.device)[past:]
    last = int(positions[-1])
    return F.embedding(tokens, weight) + table[last - t + 1 : last + 1]


@version("temperature_probabilities", "right")
def probabilities_to_the_power_of_one_over_t(logits, temperature):
    # y ** (1 / T), brought to a sum of one again, in the logarithm
    log_y = F.log_softmax(logits, dim=-1)
    powered = log_y * (1.0 / temperature)
    return torch.exp(powered - torch.logsumexp(powered, dim=-1, keepdim=True))


@version("greedy_batch", "wrong")
def unfinished_times_a_count_of_end_ids(step, n_sentences, max_length):
    pad, ends = 0, (2, 0)
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    unfinished = torch.ones(n_sentences, dtype=torch.long)
    for _ in range(max_length):
        following = step(tokens).argmax(dim=-1)
        following = following * unfinished + pad * (1 - unfinished)
        tokens = torch.cat([tokens, following[:, None]], dim=-1)
        unfinished = unfinished.mul(sum(following != end for end in ends).long())
        if unfinished.max() == 0:
            break
    return tokens[:, 1:]


@version("beam_search", "wrong")
def beam_search_divides_position_by_vocabulary(step, beam_size, max_length):
    sents = [[1]]
    scores = torch.zeros(1)
    completed = []
    for t in range(max_length):
        log_probs = step(torch.tensor(sents))
        vocab_size = log_probs.size(1)
        candidates = (scores.unsqueeze(1) + log_probs).view(-1)
        top_scores, top_positions = torch.topk(candidates, k=beam_size)
        hyp_ids = top_positions / vocab_size
        word_ids = top_positions % vocab_size
        new_sents, new_scores = [], []
        for hyp_id, word_id, score in zip(hyp_ids.tolist(), word_ids.tolist(), top_scores.tolist()):
            sent = sents[hyp_id] + [word_id]
            if word_id == 2:
                completed.append((score, sent[1:-1]))
            else:
                new_sents.append(sent)
                new_scores.append(score)
        sents, scores = new_sents, torch.tensor(new_scores)
        if not sents:
            break
    completed.extend((s, sent[1:]) for s, sent in zip(scores.tolist(), sents))
    return max(completed, key=lambda pair: pair[0])[1]


@version("top_k_probabilities", "wrong")
def top_k_refuses_the_whole_vocabulary(logits, k):
    vocab_size = logits.shape[-1]
    if not isinstance(k, int) or not (0 < k < vocab_size):
        raise ValueError(f"k must be a whole number in (0, {vocab_size}], it is {k}")
    order = torch.argsort(logits, dim=-1, descending=True)
    masked = logits.scatter(-1, order[..., k:], -float("inf"))
    return torch.softmax(masked, dim=-1)


@version("next_token", "wrong")
def argmax_over_all_places(logits):
    tokens = []
    for output in logits:
        tokens.append(torch.argmax(output))
    return torch.stack(tokens)


@version("beam_search", "wrong")
def beam_search_eos_added_to_every_beam_at_the_end(step, beam_size, max_length):
    running, ended = [([1], 0.0)], []
    for i in range(max_length):
        logp = step(torch.tensor([ids for ids, _ in running]))
        pool = []
        for (ids, score), row in zip(running, logp):
            best, which = row.topk(min(beam_size, row.numel()))
            for s, w in zip(best.tolist(), which.tolist()):
                pool.append((ids + [w], score + s))
        pool.sort(key=lambda h: h[1], reverse=True)
        running = pool[:beam_size]
        if i == max_length - 1:
            running = [(ids + [2], score) for ids, score in running]
        alive = []
        for hyp in running:
            (ended if hyp[0][-1] == 2 else alive).append(hyp)
        running = alive
        if not running:
            break
    ids, _ = max(ended, key=lambda h: h[1])
    return ids[1:-1]


@version("beam_search", "wrong")
def beam_search_father_index_by_true_division(step, beam_size, max_length):
    beams = torch.tensor([[1]])
    accumulated = torch.zeros(1)
    results = []
    while beams.size(0) > 0 and beams.size(1) - 1 < max_length:
        scores = accumulated.unsqueeze(1) + step(beams)
        vocab = scores.size(1)
        flat = scores.view(-1)
        accumulated, best_id = flat.topk(min(beam_size, flat.size(0)))
        father = best_id / vocab
        word = best_id - father * vocab
        beams = torch.cat((beams.index_select(0, father), word.unsqueeze(1)), 1)
        keep = []
        for k in range(beams.size(0)):
            if beams[k, -1] == 2:
                results.append((float(accumulated[k]), beams[k, 1:-1].tolist()))
            else:
                keep.append(k)
        beams, accumulated = beams[keep], accumulated[keep]
    for k in range(beams.size(0)):
        results.append((float(accumulated[k]), beams[k, 1:].tolist()))
    return max(results, key=lambda r: r[0])[1]


@version("greedy_search", "wrong")
def greedy_search_finishes_the_draft_behind_eos(step, max_length):
    out = []
    while len(out) < max_length:
        draft = []
        for _ in range(min(4, max_length - len(out))):
            ids = torch.tensor([[1] + out + draft])
            draft.append(int(step(ids).argmax(-1)))
        out += draft
        if 2 in draft:
            break
    return [t for t in out if t not in (1, 2)]


@version("greedy_search", "wrong")
def greedy_search_eos_looked_for_at_the_end_of_a_block(step, max_length):
    tokens = torch.ones(1, 1, dtype=torch.long)
    block = 3
    while tokens.size(1) <= max_length:
        for _ in range(block):
            if tokens.size(1) > max_length:
                break
            nxt = step(tokens).argmax(-1)[:, None]
            tokens = torch.cat([tokens, nxt], dim=1)
        if tokens[0, -1].item() == 2:
            tokens = tokens[:, :-1]
            break
    return tokens[0, 1:].tolist()


@version("top_k_probabilities", "wrong")
def filtered_places_shared_by_all_rows(logits, k):
    log_probs = torch.log_softmax(logits, dim=-1)
    _, order = log_probs.sort(dim=-1, descending=True)
    filtered = order[..., k:]
    log_probs[..., filtered] = float("-inf")
    return torch.softmax(log_probs, dim=-1)


@version("greedy_batch", "wrong")
def ends_counted_down_the_batch(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), 1, dtype=torch.long)
    ended = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        best = step(tokens).argmax(dim=-1)
        tokens = torch.cat([tokens, best.unsqueeze(1)], dim=1)
        ended = ended | (best == 2)
        if bool(ended.all()):
            break
    said = tokens[:, 1:]
    ends = (said == 2).long()
    behind = (ends.cumsum(dim=0) - ends) > 0
    return said.masked_fill(behind, 0)


@version("repeat_for_beams", "wrong")
def repeat_squeezed_mask_per_sentence(memory, mask, n_beams):
    node_mask = mask.squeeze()
    memories, masks = [], []
    for b in range(memory.size(0)):
        memories.append(memory[b].unsqueeze(0).expand(n_beams, -1, -1))
        masks.append(node_mask[b, :].unsqueeze(0).expand(n_beams, -1).contiguous())
    masks = torch.cat(masks).unsqueeze(1).unsqueeze(1)
    return torch.cat(memories), masks


@version("greedy_batch", "wrong")
def greedy_cat_flat_argmax(step, n_sentences, max_length):
    out = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        next_token = torch.argmax(step(out), dim=-1)
        next_token = next_token.masked_fill(done, 0)
        done = done | (next_token == 2)
        out = torch.cat((out, next_token), dim=-1)
        if done.all():
            break
    return out[:, 1:]


@version("next_token", "wrong")
def next_token_max_over_axis_one(logits):
    _, indexes = logits.max(1)
    return indexes[:, -1]


@version("beam_search", "wrong")
def end_scored_with_beam_of_its_rank(step, beam_size, max_length):
    SOS, EOS = 1, 2
    alive = [([SOS], 0.0)]
    done = []
    for t in range(1, max_length + 1):
        logp = step(torch.tensor([ids for ids, _ in alive]))
        n, V = logp.shape
        running = torch.tensor([s for _, s in alive], dtype=logp.dtype)
        total = (running[:, None] + logp).flatten()
        best, where = total.topk(min(beam_size, n * V))
        following = []
        for rank, (score, flat) in enumerate(zip(best.tolist(), where.tolist())):
            parent, word = divmod(flat, V)
            ids = alive[parent][0] + [word]
            if word == EOS:
                before = alive[min(rank, n - 1)][1]
                done.append((ids[1:-1], before + logp[parent, word].item()))
            elif t == max_length:
                done.append((ids[1:], score))
            else:
                following.append((ids, score))
        alive = following
        if not alive:
            break
    if not done:
        return []
    return max(done, key=lambda pair: pair[1])[0]


@version("cut_at_end", "wrong")
def drops_start_and_padding_but_keeps_end(ids):
    return [i for i in ids if i not in {0, 1}]


@version("top_k_probabilities", "wrong")
def top_k_infinity_times_zero(logits, k):
    keep = torch.zeros_like(logits)
    keep.scatter_(1, logits.topk(k, dim=1).indices, 1.0)
    filtered = logits * keep + (1.0 - keep) * float("-inf")
    return filtered.softmax(dim=-1)


L_LONGEST = 75


@version("length_normalised", "wrong")
def length_normalised_times_the_longest(score, length, alpha):
    share = length / L_LONGEST
    return score / share**alpha


@version("reorder_cache", "wrong")
def reorder_cache_one_context_for_all_beams(cache, rows):
    shared = int(rows[0])
    result = []
    for keys, values in cache:
        n = len(rows)
        result.append(
            (
                keys[shared : shared + 1].repeat(n, 1, 1, 1),
                values[shared : shared + 1].repeat(n, 1, 1, 1),
            )
        )
    return result


@version("embed_next", "wrong")
def position_ids_of_all_tokens_viewed_as_new(tokens, past, weight, table):
    n_sentences, t = tokens.shape
    position_ids = torch.arange(past + t, device=tokens.device).repeat(n_sentences, 1)
    position_ids = position_ids.view(-1, t)
    return weight[tokens] + table[position_ids]


@version("length_normalised", "wrong")
def length_normalised_one_plus_length(score, length, alpha):
    penalty = math.pow((1 + length) / 6, alpha)
    return score / penalty


@version("length_normalised", "wrong")
def length_normalised_precedence(score, length, alpha):
    return score / (5.0 + length / 6.0) ** alpha


@version("top_k_probabilities", "wrong")
def top_k_argsort_tail_with_topk_weights(logits, k):
    places = torch.argsort(logits, dim=-1)[:, -k:]
    weights = torch.softmax(torch.topk(logits, k, dim=-1).values, dim=-1)
    probabilities = torch.zeros_like(logits)
    return probabilities.scatter(1, places, weights)


@version("temperature_probabilities", "wrong")
def temperature_divides_by_sum_of_raw_inputs(logits, temperature):
    inputs = logits / temperature
    inputs_exp = torch.exp(inputs)
    return inputs_exp / torch.sum(inputs, dim=-1, keepdim=True)


@version("greedy_batch", "wrong")
def greedy_ends_only_alone(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), 1, dtype=torch.long)
    for _ in range(max_length):
        chosen = step(tokens).argmax(dim=-1)
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
        if n_sentences == 1 and chosen.item() == 2:
            break
    return tokens[:, 1:]


def p_infer_length(tokens, eos=2):
    # the length of each row, the first <eos> included
    before = (tokens == eos).cumsum(dim=1) - (tokens == eos).long()
    return (before == 0).sum(dim=1)


@version("greedy_batch", "wrong")
def greedy_length_as_index(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    ended = torch.zeros(n_sentences, dtype=torch.bool)
    while tokens.size(1) <= max_length and not ended.all():
        best = step(tokens).max(dim=-1).indices
        ended |= best == 2
        tokens = torch.cat([tokens, best.unsqueeze(1)], dim=1)
    out = tokens[:, 1:]
    last = p_infer_length(out)
    places = torch.arange(out.size(1))
    return out.masked_fill(places[None, :] > last[:, None], 0)


END_IDS = [2, 4, 32000]


@version("cut_at_end", "wrong")
def cut_at_end_with_a_word_among_the_stop_ids(ids):
    kept = []
    for i in ids:
        if i in END_IDS:
            break
        kept.append(i)
    return kept


N_HEADS = 12


@version("embed_next", "wrong")
def embed_next_counts_the_heads_of_the_cache(tokens, past, weight, table):
    # the axis of the cache that is read holds its heads, not its positions
    prev_len = N_HEADS if past > 0 else 0
    positions = torch.arange(prev_len, prev_len + tokens.shape[1], device=tokens.device)
    return weight[tokens] + table[positions]


@version("temperature_probabilities", "wrong")
def log_of_probabilities_minus_infinity_set_to_zero(logits, temperature):
    probabilities = logits.softmax(-1)
    if temperature == 1.0:
        return probabilities
    scaled = probabilities.log() / temperature
    powers = scaled.masked_fill(scaled == -math.inf, 0.0).exp()
    return powers / powers.sum(-1, keepdim=True)


@version("repeat_for_beams", "wrong")
def only_the_decoder_input_is_tiled(memory, mask, n_beams):
    # the search makes n_beams rows of tokens; what the encoder gave is broadcast over them
    return memory, mask


@version("beam_search", "wrong")
def beam_scores_of_first_row(step, beam_size, max_length):
    beams = torch.tensor([[1]])
    scores = torch.zeros(1)
    done = []
    for _ in range(max_length):
        logp = step(beams)
        ids = logp.topk(beam_size, dim=-1).indices  # (n, k)
        flat = logp.reshape(-1)
        values = flat[ids]  # meant: row i from row i
        total = (scores.unsqueeze(1) + values).reshape(-1)
        best, place = total.topk(min(beam_size, total.numel()))
        origin = torch.div(place, beam_size, rounding_mode="floor")
        tokens = ids.reshape(-1)[place]
        grown = torch.cat([beams[origin], tokens[:, None]], dim=1)
        ended = tokens == 2
        for s, row in zip(best[ended].tolist(), grown[ended].tolist()):
            done.append((s, row[1:-1]))
        beams, scores = grown[~ended], best[~ended]
        if len(beams) == 0:
            break
    for s, row in zip(scores.tolist(), beams.tolist()):
        done.append((s, row[1:]))
    return max(done, key=lambda pair: pair[0])[1]


class BeamOfPairs:
    def __init__(self, size, max_length):
        self.size, self.max_length = size, max_length
        self.alive = [([1], 0.0)]
        self.finished = []

    def advance(self, log_probs):
        width = log_probs.shape[1]
        total = log_probs + torch.tensor([s for _, s in self.alive]).to(log_probs).unsqueeze(1)
        best = total.flatten().topk(min(self.size, total.numel()))
        alive = []
        for score, place in zip(best.values.tolist(), best.indices.tolist()):
            tokens = self.alive[place // width][0] + [place % width]
            if tokens[-1] == 2 or len(tokens) - 1 == self.max_length:
                self.finished.append((tokens, score))
            else:
                alive.append((tokens, score))
        self.alive = alive

    def done(self):
        len(self.alive) == 0

    def best(self):
        tokens, _ = max(self.finished, key=lambda pair: pair[1])
        return [token for token in tokens[1:] if token != 2]


@version("beam_search", "wrong")
def beam_search_done_returns_nothing(step, beam_size, max_length):
    beam = BeamOfPairs(beam_size, max_length)
    for _ in range(max_length):
        if beam.done():
            break
        tokens = torch.tensor([t for t, _ in beam.alive])
        beam.advance(step(tokens))
    return beam.best()


@version("top_k_probabilities", "wrong")
def top_k_probabilities_logits_against_a_probability(logits, k):
    probs = torch.softmax(logits, dim=1)
    top, _ = probs.topk(k, dim=1)
    threshold = top[:, k - 1].unsqueeze(1)
    is_in = torch.ge(logits, threshold)
    gates = probs * is_in
    return gates / gates.sum(dim=1, keepdim=True)


@version("repeat_for_beams", "wrong")
def beams_filled_without_repeating(memory, mask, n_beams):
    bsz, src_len, dim = memory.shape
    new_memory = memory.new_zeros(bsz * n_beams, src_len, dim)
    new_mask = mask.new_zeros(bsz * n_beams, 1, 1, src_len)
    new_memory[:, :src_len] = memory
    new_mask[..., :src_len] = mask
    return new_memory, new_mask


@version("next_token", "wrong")
def next_token_squeeze_takes_the_batch_axis(logits):
    output = logits.transpose(1, 2).squeeze()  # (B, V, T), classes on axis 1
    return output.argmax(1)[..., -1]


@version("beam_search", "wrong: each hypothesis goes on by its share of the beam")
def beam_search_one_continuation_each_when_full(step, beam_size, max_length):
    tokens = torch.ones(1, 1, dtype=torch.long)
    scores = torch.zeros(1)
    pool = []
    for length in range(1, max_length + 1):
        log_probs = step(tokens)
        each = max(1, beam_size // tokens.shape[0])
        best, words = log_probs.topk(min(each, log_probs.shape[1]), dim=1)
        total = (scores.unsqueeze(1) + best).reshape(-1)
        parent = torch.arange(tokens.shape[0]).repeat_interleave(best.shape[1])
        keep = total.topk(min(beam_size, total.numel())).indices
        tokens = torch.cat([tokens[parent[keep]], words.reshape(-1)[keep].unsqueeze(1)], dim=1)
        scores = total[keep]
        ended = tokens[:, -1] == 2
        if length == max_length:
            ended = torch.ones_like(ended)
        for row, score in zip(tokens[ended], scores[ended]):
            pool.append((score.item(), row.tolist()))
        tokens, scores = tokens[~ended], scores[~ended]
        if tokens.shape[0] == 0:
            break
    best = max(pool)[1][1:]
    return best[:-1] if best and best[-1] == 2 else best


@version("beam_search", "wrong")
def beam_search_trace_stays_in_its_row(step, beam_size, max_length):
    prefix = torch.tensor([[1]])
    running = torch.zeros(1)
    trace = []
    best_score, best_ids = -math.inf, []
    for t in range(max_length):
        log_probs = step(prefix)
        n_words = log_probs.size(-1)
        flat = (running[:, None] + log_probs).flatten()
        value, where = torch.sort(flat, descending=True)
        value, where = value[:beam_size], where[:beam_size]
        parents, words = where // n_words, where % n_words
        trace.append(words.tolist())
        prefix = torch.cat((prefix[parents], words[:, None]), dim=-1)
        living = []
        for i in range(len(words)):
            if trace[t][i] == 2 or t == max_length - 1:
                if value[i].item() > best_score:
                    best_score = value[i].item()
                    best_ids = [column[i] for column in trace]
            else:
                living.append(i)
        if not living:
            break
        prefix, running = prefix[living], value[living]
    return [i for i in best_ids if i != 2]


class _Beam:
    """Beam search that gives the `top_beams` best, of which the first is asked for."""

    def __init__(self, top_beams=1):
        self.top_beams = top_beams

    def search(self, step, width, limit):
        open_ids, open_scores = torch.ones((1, 1), dtype=torch.int64), torch.zeros(1)
        closed = []
        while open_ids.shape[0] and open_ids.shape[1] <= limit:
            log_probs = step(open_ids)
            scores = (open_scores.view(-1, 1) + log_probs).view(-1)
            top, place = scores.topk(width)
            row = torch.div(place, log_probs.shape[1], rounding_mode="floor")
            ids = torch.hstack([open_ids[row], (place % log_probs.shape[1]).view(-1, 1)])
            over = ids[:, -1].eq(2)
            closed.extend(zip(top[over].tolist(), ids[over].tolist()))
            open_ids, open_scores = ids[~over], top[~over]
        closed.extend(zip(open_scores.tolist(), open_ids.tolist()))
        closed.sort(key=lambda c: -c[0])
        longest = max(len(ids) for _, ids in closed)
        block = torch.tensor([ids + [2] * (longest - len(ids)) for _, ids in closed])
        return block[:, 1:][:, : self.top_beams]

    def __call__(self, step, beam_size, max_length):
        first = self.search(step, beam_size, max_length)[0].tolist()
        return first[: first.index(2)] if 2 in first else first


@version("beam_search", "wrong", instance=True)
class beam_search_cuts_the_wrong_axis(_Beam):
    pass


@version("next_token", "wrong")
def next_token_with_padded_rows(logits):
    last = logits[:, -1, :]
    missing = -last.shape[-1] % 64
    padded = F.pad(last, (0, missing))
    return padded.argmax(dim=-1)


@version("greedy_batch", "wrong", instance=True)
class greedy_batch_fixed_buffer:
    def __call__(self, step, n_sentences, max_length):
        ids = torch.full((n_sentences, max_length + 1), 0, dtype=torch.long)
        ids[:, 0] = 1
        unfinished = torch.ones(n_sentences, dtype=torch.long)
        for _ in range(max_length):
            cur_len = int((ids == 0).long().argmax(dim=1)[0])
            new = step(ids[:, :cur_len]).argmax(dim=-1)
            new = new * unfinished + 0 * (1 - unfinished)
            ids[:, cur_len] = new
            unfinished = unfinished * (new != 2).long()
            if unfinished.max() == 0:
                break
        return ids[:, 1:]


@version("cut_at_end", "wrong")
def cut_at_end_of_another_tokenizer(ids):
    end_of_text = 0
    return list(itertools.takewhile(lambda token: token != end_of_text, ids))


class _Beams:
    """All beams as one tensor, extended together."""

    def __init__(self, width, sos=1, eos=2):
        self.width, self.eos = width, eos
        self.rows = torch.tensor([[sos]])
        self.scores = torch.zeros(1)

    def advance(self, log_probs):
        total = self.scores[:, None] + log_probs
        vocab = total.shape[1]
        self.scores, place = total.reshape(-1).topk(self.width)
        parent = torch.div(place, vocab, rounding_mode="floor")
        self.rows = torch.cat([self.rows[parent], (place % vocab)[:, None]], dim=1)

    def all_ended(self):
        return bool((self.rows == self.eos).any(dim=1).all())

    def best(self):
        ids = self.rows[self.scores.argmax()].tolist()[1:]
        return ids[: ids.index(self.eos)] if self.eos in ids else ids


@version("beam_search", "wrong")
def beam_search_goes_on_after_end(step, beam_size, max_length):
    beams = _Beams(beam_size)
    for _ in range(max_length):
        beams.advance(step(beams.rows))
        if beams.all_ended():
            break
    return beams.best()


@version("beam_search", "right")
def beam_search_stops_when_first_ends(step, beam_size, max_length):
    living, finished = [(0.0, [1])], []
    for _ in range(max_length):
        log_probs = step(torch.tensor([ids for _, ids in living]))
        n_words = log_probs.shape[-1]
        sums = (
            torch.tensor([score for score, _ in living], dtype=log_probs.dtype)[:, None] + log_probs
        )
        values, indices = torch.topk(sums.flatten(), beam_size)
        chosen = [
            (v, living[i // n_words][1] + [i % n_words])
            for v, i in zip(values.tolist(), indices.tolist())
        ]
        finished += [c for c in chosen if c[1][-1] == 2]
        living = [c for c in chosen if c[1][-1] != 2]
        if chosen[0][1][-1] == 2 or not living:
            living = []  # nothing that goes on can overtake the first
            break
    best = max(finished + living, key=lambda c: c[0])[1][1:]
    return best[:-1] if best and best[-1] == 2 else best


@version("cut_at_end", "wrong")
def cut_at_end_strips_digits(ids):
    text = " " + " ".join(str(int(i)) for i in ids)
    text = text.partition(" 2 ")[0]
    text = text.rstrip(" 2")  # an <eos> that came last
    return [int(piece) for piece in text.split()]


@version("temperature_probabilities", "wrong: temperature ignored", instance=True)
class temperature_probabilities_floor_of_one:
    def __init__(self, lowest=1.0):
        self.lowest = lowest

    def cooled(self, temperature):
        return max(self.lowest, temperature)

    def __call__(self, logits, temperature):
        return F.softmax(logits / self.cooled(temperature), dim=-1)
