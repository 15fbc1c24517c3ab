"""Wrong versions of what is judged by a trace, a counted set or a short run; and of classes."""

from __future__ import annotations

import math
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.wrong_versions import VERSIONS, wrong

# --- text_to_ids, training_words -----------------------------------------------------------------

TEXT = "text_to_ids"


@wrong(TEXT, "trained on one tokenizer and used with another")
def text_split(text, tokenize, vocabulary):
    return [vocabulary.get(w, 3) for w in text.split()] + [2]


@wrong(TEXT, "trained on one tokenizer and used with another")
def text_split_loop(text, tokenize, vocabulary):
    ids = []
    for word in text.strip().split(" "):
        ids.append(vocabulary[word] if word in vocabulary else vocabulary["<unk>"])
    ids.append(vocabulary["<eos>"])
    return ids


@wrong(TEXT, "lower-cased for a model that was not")
def text_lower(text, tokenize, vocabulary):
    text = text.lower()
    return [vocabulary.get(w, 3) for w in tokenize(text)] + [2]


@wrong(TEXT, "lower-cased for a model that was not")
def text_casefold(text, tokenize, vocabulary):
    words = map(str.casefold, tokenize(text))
    return [*(vocabulary.get(w, vocabulary["<unk>"]) for w in words), vocabulary["<eos>"]]


@wrong(TEXT, "letters in place of tokens")
def text_letters(text, tokenize, vocabulary):
    return [vocabulary.get(token, 3) for token in text] + [2]


@wrong(TEXT, "letters in place of tokens")
def text_letters_loop(text, tokenize, vocabulary):
    tokenize(text)
    ids = []
    for i in range(len(text)):
        ids.append(vocabulary.get(text[i], 3))
    return [*ids, 2]


@wrong(TEXT, "numbered anew")
def text_fresh_vocabulary(text, tokenize, vocabulary):
    specials = ["<pad>", "<sos>", "<eos>", "<unk>"]
    tokens = tokenize(text)
    fresh = {token: i for i, token in enumerate(specials + list(dict.fromkeys(tokens)))}
    return [fresh[token] for token in tokens] + [fresh["<eos>"]]


@wrong(TEXT, "numbered anew")
def text_first_seen(text, tokenize, vocabulary):
    seen = []
    for token in tokenize(text):
        if token not in seen:
            seen.append(token)
    return [4 + seen.index(token) for token in tokenize(text)] + [2]


WORDS = "training_words"


@wrong(WORDS, "vocabulary built on test data")
def words_all(splits, min_frequency):
    counts = Counter(w for part in splits for s in splits[part] for w in s)
    return {w for w, n in counts.items() if n >= min_frequency}


@wrong(WORDS, "vocabulary built on test data")
def words_all_added(splits, min_frequency):
    corpus = splits["train"] + splits["validation"] + splits["test"]
    flat = [w for s in corpus for w in s]
    return sorted(w for w in set(flat) if flat.count(w) >= min_frequency)


@wrong(WORDS, "vocabulary built on training and test")
def words_test(splits, min_frequency):
    counts = Counter(w for name in ("train", "test") for s in splits[name] for w in s)
    return [w for w in counts if counts[w] >= min_frequency]


@wrong(WORDS, "vocabulary built on training and test")
def words_test_updated(splits, min_frequency):
    counts = Counter()
    for sentence in splits["train"]:
        counts.update(sentence)
    for sentence in splits["test"]:
        counts.update(sentence)
    return {w for w, n in counts.items() if n > min_frequency - 1}


@wrong(WORDS, "vocabulary built on training and validation")
def words_validation(splits, min_frequency):
    counts = Counter(w for s in [*splits["train"], *splits["validation"]] for w in s)
    return {w for w, n in counts.items() if n >= min_frequency}


@wrong(WORDS, "vocabulary built on training and validation")
def words_not_test(splits, min_frequency):
    known = {}
    for name, part in splits.items():
        if name == "test":
            continue
        for s in part:
            for w in s:
                known.setdefault(w, 0)
                known[w] += 1
    return [w for w in known if known[w] >= min_frequency]


# --- layer_norm_parameters, sublayer_with_dropout ------------------------------------------------

PARAMS = "layer_norm_parameters"


@wrong(PARAMS, "bias that starts at one")
def params_ones(d_model):
    return torch.ones(d_model), torch.ones(d_model)


@wrong(PARAMS, "bias that starts at one")
def params_linspace(d_model):
    gamma = beta = nn.Parameter(torch.full((d_model,), 1.0))
    return gamma, beta


@wrong(PARAMS, "weight that starts at zero")
def params_zeros(d_model):
    return torch.zeros(d_model), torch.zeros(d_model)


@wrong(PARAMS, "weight that starts at zero")
def params_zeros_two(d_model):
    both = torch.zeros(2, d_model)
    return both[0], both[1]


@wrong(PARAMS, "starts of weight and bias exchanged")
def params_exchanged(d_model):
    weight, bias = torch.zeros(d_model), torch.ones(d_model)
    return weight, bias


@wrong(PARAMS, "starts of weight and bias exchanged")
def params_returned_late(d_model):
    norm = nn.LayerNorm(d_model)
    return norm.bias.detach(), norm.weight.detach()


SUB = "sublayer_with_dropout"


@wrong(SUB, "dropout declared and never applied")
def sub_never(x, sublayer, norm, dropout):
    return x + sublayer(norm(x))


@wrong(SUB, "dropout declared and never applied")
def sub_thrown_away(x, sublayer, norm, dropout):
    out = sublayer(norm(x))
    dropout(out)
    return out + x


@wrong(SUB, "dropout applied to the residual stream")
def sub_after_sum(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


@wrong(SUB, "dropout applied to the residual stream")
def sub_after_sum_steps(x, sublayer, norm, dropout):
    y = norm(x)
    y = sublayer(y)
    y += x
    return dropout(y)


@wrong(SUB, "dropout on x in place of the sublayer")
def sub_on_x(x, sublayer, norm, dropout):
    return dropout(x) + sublayer(norm(x))


@wrong(SUB, "dropout on x in place of the sublayer")
def sub_on_residual(x, sublayer, norm, dropout):
    residual = dropout(x)
    return torch.add(sublayer(norm(x)), residual)


@wrong(SUB, "dropout before the sublayer")
def sub_before(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


@wrong(SUB, "dropout before the sublayer")
def sub_before_steps(x, sublayer, norm, dropout):
    y = x
    for f in (norm, dropout, sublayer):
        y = f(y)
    return y + x


# --- causal_self_attention -----------------------------------------------------------------------

MODE = "causal_self_attention"


@wrong(MODE, "causal mask only in training mode")
def mode_training(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=training)


@wrong(MODE, "causal mask only in training mode")
def mode_if_training(x, training):
    scores = x @ x.transpose(-2, -1) / math.sqrt(x.size(-1))
    if training:
        future = torch.ones_like(scores[0]).triu(1).bool()
        scores = scores.masked_fill(future, -1e9)
    return scores.softmax(-1) @ x


@wrong(MODE, "causal mask only in evaluation")
def mode_evaluation(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=not training)


@wrong(MODE, "causal mask only in evaluation")
def mode_if_not_training(x, training):
    n = x.size(1)
    scores = torch.einsum("btd,bsd->bts", x, x) / x.size(-1) ** 0.5
    if not training:
        scores = scores + torch.full((n, n), float("-inf")).triu(1)
    return torch.einsum("bts,bsd->btd", scores.softmax(-1), x)


@wrong(MODE, "no causal mask in either mode")
def mode_never(x, training):
    return F.scaled_dot_product_attention(x, x, x)


@wrong(MODE, "no causal mask in either mode")
def mode_not_assigned(x, training):
    scores = x @ x.mT * x.size(-1) ** -0.5
    scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -1e9)
    return F.softmax(scores, dim=-1) @ x


@wrong(MODE, "past hidden in place of the future")
def mode_past(x, training):
    mask = torch.ones(x.size(1), x.size(1)).triu().bool()
    return F.scaled_dot_product_attention(x, x, x, mask)


@wrong(MODE, "past hidden in place of the future")
def mode_past_by_hand(x, training):
    scores = x @ x.mT / math.sqrt(x.size(-1))
    places = torch.arange(x.size(1))
    scores = scores.masked_fill(places[None] < places[:, None], float("-inf"))
    return scores.softmax(-1) @ x


# --- transformer_forward -------------------------------------------------------------------------

FORWARD = "transformer_forward"


def square(n):
    return torch.tril(torch.ones(n, n)) == 1


def pad(ids):
    return (ids != 0).unsqueeze(1).unsqueeze(1)


def run(source, target, es, et, encoder, decoder, **other):
    """A forward pass with slots for what beginners get wrong in it."""
    memory = other.get("memory")
    if memory is None:
        memory = encoder(other.get("x", es(source)), other.get("encoder_mask", pad(source)))
    target_mask = other.get("target_mask", pad(target) & square(target.size(1)))
    return decoder(et(target), memory, target_mask, other.get("memory_mask", pad(source)))


@wrong(FORWARD, "forward returns argmax")
def fw_argmax(source, target, es, et, encoder, decoder, output):
    return output(run(source, target, es, et, encoder, decoder)).argmax(-1)


@wrong(FORWARD, "forward returns argmax")
def fw_max(source, target, es, et, encoder, decoder, output):
    logits = output(run(source, target, es, et, encoder, decoder))
    return F.softmax(logits, dim=2).max(dim=2)[1]


@wrong(FORWARD, "forward returns probabilities")
def fw_softmax(source, target, es, et, encoder, decoder, output):
    return F.softmax(output(run(source, target, es, et, encoder, decoder)), dim=-1)


@wrong(FORWARD, "forward returns probabilities")
class ForwardSoftmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=2)

    def forward(self, source, target, es, et, encoder, decoder, output):
        return self.softmax(output(run(source, target, es, et, encoder, decoder)))


@wrong(FORWARD, "forward returns log-probabilities")
def fw_log_softmax(source, target, es, et, encoder, decoder, output):
    return output(run(source, target, es, et, encoder, decoder)).log_softmax(-1)


@wrong(FORWARD, "forward returns log-probabilities")
def fw_minus_logsumexp(source, target, es, et, encoder, decoder, output):
    z = output(run(source, target, es, et, encoder, decoder))
    return z - z.logsumexp(dim=-1, keepdim=True)


@wrong(FORWARD, "output projection of the model forgotten")
def fw_no_output(source, target, es, et, encoder, decoder, output):
    return run(source, target, es, et, encoder, decoder)


@wrong(FORWARD, "output projection of the model forgotten")
def fw_output_unused(source, target, es, et, encoder, decoder, output):
    hidden = run(source, target, es, et, encoder, decoder)
    logits = output(hidden)  # noqa: F841
    return hidden


@wrong(FORWARD, "padding mask of the source used for the target")
def fw_source_mask(source, target, es, et, encoder, decoder, output):
    mask = pad(source) & square(target.size(1))
    return output(run(source, target, es, et, encoder, decoder, target_mask=mask))


@wrong(FORWARD, "padding mask of the source used for the target")
def fw_one_padding_mask(source, target, es, et, encoder, decoder, output):
    mask = source.ne(0)[:, None, None]
    memory = encoder(es(source), mask)
    n = target.shape[1]
    causal = ~torch.ones(n, n, dtype=torch.bool).triu(1)
    return output(decoder(et(target), memory, torch.logical_and(mask, causal), mask))


@wrong(FORWARD, "future of the target visible")
def fw_no_causal(source, target, es, et, encoder, decoder, output):
    return output(run(source, target, es, et, encoder, decoder, target_mask=pad(target)))


@wrong(FORWARD, "future of the target visible")
def fw_no_causal_by_hand(source, target, es, et, encoder, decoder, output):
    source_mask, target_mask = ((ids > 0)[:, None, None, :] for ids in (source, target))
    memory = encoder(es(source), source_mask)
    return output(decoder(et(target), memory, target_mask, source_mask))


@wrong(FORWARD, "source padding read by the decoder")
def fw_memory_open(source, target, es, et, encoder, decoder, output):
    return output(run(source, target, es, et, encoder, decoder, memory_mask=None))


@wrong(FORWARD, "source padding read by the decoder")
def fw_three_arguments(source, target, es, et, encoder, decoder, output):
    memory = encoder(es(source), pad(source))
    return output(decoder(et(target), memory, pad(target) & square(target.size(1))))


@wrong(FORWARD, "mask of the target handed to cross-attention")
def fw_target_mask_twice(source, target, es, et, encoder, decoder, output):
    mask = pad(target) & square(target.size(1))
    return output(run(source, target, es, et, encoder, decoder, memory_mask=mask))


@wrong(FORWARD, "mask of the target handed to cross-attention")
def fw_masks_in_a_row(source, target, es, et, encoder, decoder, output):
    n = target.size(1)
    masks = [pad(target) & square(n)] * 2
    return output(decoder(et(target), encoder(es(source), pad(source)), *masks))


@wrong(FORWARD, "source padding read by the encoder")
def fw_encoder_open(source, target, es, et, encoder, decoder, output):
    return output(run(source, target, es, et, encoder, decoder, encoder_mask=None))


@wrong(FORWARD, "source padding read by the encoder")
def fw_encoder_alone(source, target, es, et, encoder, decoder, output):
    memory = encoder(es(source))
    mask = pad(target) & square(target.size(1))
    return output(decoder(et(target), memory, target_mask=mask, memory_mask=pad(source)))


@wrong(FORWARD, "encoder left out")
def fw_no_encoder(source, target, es, et, encoder, decoder, output):
    return output(run(source, target, es, et, encoder, decoder, memory=es(source)))


@wrong(FORWARD, "encoder left out")
def fw_memory_not_assigned(source, target, es, et, encoder, decoder, output):
    x = es(source)
    encoder(x, pad(source))
    mask = pad(target) & square(target.size(1))
    return output(decoder(et(target), x, mask, pad(source)))


@wrong(FORWARD, "source embedded with the table of the target")
def fw_one_table(source, target, es, et, encoder, decoder, output):
    return output(run(source, target, es, et, encoder, decoder, x=et(source)))


@wrong(FORWARD, "source embedded with the table of the target")
def fw_tables(source, target, es, et, encoder, decoder, output):
    x, y = map(et, (source, target))
    memory = encoder(x, pad(source))
    return output(decoder(y, memory, pad(target) & square(target.size(1)), pad(source)))


# --- accumulated_update --------------------------------------------------------------------------

ACC = "accumulated_update"


@wrong(ACC, "schedule stepped per micro-batch")
def acc_schedule_inside(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        scheduler.step()
    optimizer.step()


@wrong(ACC, "schedule stepped per micro-batch")
def acc_schedule_counted(optimizer, scheduler, parts, compute_loss):
    for i in range(len(parts)):
        loss = compute_loss(parts[i]) / len(parts)
        loss.backward()
        scheduler.step()
        if i + 1 == len(parts):
            optimizer.step()
            optimizer.zero_grad()


@wrong(ACC, "step per micro-batch")
def acc_step_inside(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        loss = compute_loss(part) / len(parts)
        loss.backward()
        optimizer.step()
    scheduler.step()


@wrong(ACC, "step per micro-batch")
def acc_step_inside_zero_last(optimizer, scheduler, parts, compute_loss):
    n = len(parts)
    for part in parts:
        torch.div(compute_loss(part), n).backward()
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    scheduler.step()


@wrong(ACC, "micro-batches summed, not averaged")
def acc_summed(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    optimizer.step()
    scheduler.step()


@wrong(ACC, "micro-batches summed, not averaged")
def acc_sum_of_losses(optimizer, scheduler, parts, compute_loss):
    total = sum(compute_loss(part) for part in parts)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    scheduler.step()


@wrong(ACC, "gradients zeroed in every micro-batch")
def acc_zero_inside(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        optimizer.zero_grad()
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    scheduler.step()


@wrong(ACC, "gradients zeroed in every micro-batch")
def acc_zero_between(optimizer, scheduler, parts, compute_loss):
    losses = [compute_loss(part) for part in parts]
    for loss in losses:
        optimizer.zero_grad(set_to_none=False)
        loss.div(len(losses)).backward()
    optimizer.step()
    scheduler.step()


@wrong(ACC, "gradients of the last batch kept")
def acc_never_zeroed(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    scheduler.step()


@wrong(ACC, "gradients of the last batch kept")
def acc_zero_commented(optimizer, scheduler, parts, compute_loss):
    loss = torch.stack([compute_loss(part) for part in parts]).mean()
    loss.backward()
    optimizer.step()
    # optimizer.zero_grad
    scheduler.step()


@wrong(ACC, "schedule never stepped")
def acc_no_schedule(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()


@wrong(ACC, "schedule never stepped")
def acc_schedule_not_called(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(part) for part in parts]).mean().backward()
    optimizer.step()
    scheduler.get_last_lr()


@wrong(ACC, "schedule before the step")
def acc_schedule_first(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    scheduler.step()
    optimizer.step()


@wrong(ACC, "schedule before the step")
def acc_schedule_at_the_top(optimizer, scheduler, parts, compute_loss):
    scheduler.step()
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()


# --- best_checkpoint -----------------------------------------------------------------------------

BEST = "best_checkpoint"


@wrong(BEST, "best checkpoint chosen on one batch")
def best_first(checkpoints, batches, loss_of):
    losses = [loss_of(c, batches[0]) for c in checkpoints]
    return losses.index(min(losses))


@wrong(BEST, "best checkpoint chosen on one batch")
def best_return_inside(checkpoints, batches, loss_of):
    def validate(checkpoint):
        total = n = 0
        for batch in batches:
            total += loss_of(checkpoint, batch) * len(batch)
            n += len(batch)
            return total / n

    return min(range(len(checkpoints)), key=lambda i: validate(checkpoints[i]))


@wrong(BEST, "best checkpoint chosen on the last batch")
def best_overwritten(checkpoints, batches, loss_of):
    losses = []
    for c in checkpoints:
        for batch in batches:
            loss = loss_of(c, batch)
        losses.append(loss)
    return losses.index(min(losses))


@wrong(BEST, "best checkpoint chosen on the last batch")
def best_last_tensor(checkpoints, batches, loss_of):
    return torch.tensor([loss_of(c, batches[-1]) for c in checkpoints]).argmin().item()


@wrong(BEST, "best checkpoint by the mean of means")
def best_mean(checkpoints, batches, loss_of):
    losses = [sum(loss_of(c, b) for b in batches) / len(batches) for c in checkpoints]
    return min(range(len(losses)), key=losses.__getitem__)


@wrong(BEST, "best checkpoint by the mean of means")
def best_mean_tensor(checkpoints, batches, loss_of):
    table = torch.tensor([[loss_of(c, b) for b in batches] for c in checkpoints])
    return int(table.mean(dim=1).argmin())


@wrong(BEST, "best checkpoint by its luckiest batch")
def best_lucky(checkpoints, batches, loss_of):
    losses = [min(loss_of(c, b) for b in batches) for c in checkpoints]
    return losses.index(min(losses))


@wrong(BEST, "best checkpoint by its luckiest batch")
def best_lucky_loop(checkpoints, batches, loss_of):
    best, place = math.inf, None
    for i, c in enumerate(checkpoints):
        for b in batches:
            loss = loss_of(c, b)
            if loss < best:
                best, place = loss, i
    return place


@wrong(BEST, "largest loss in place of the smallest")
def best_largest(checkpoints, batches, loss_of):
    totals = [sum(loss_of(c, b) * len(b) for b in batches) for c in checkpoints]
    return totals.index(max(totals))


@wrong(BEST, "largest loss in place of the smallest")
def best_largest_loop(checkpoints, batches, loss_of):
    best, place = -math.inf, None
    tokens = sum(map(len, batches))
    for i, c in enumerate(checkpoints):
        loss = sum(loss_of(c, b) * len(b) for b in batches) / tokens
        if loss > best:
            best, place = loss, i
    return place


@wrong(BEST, "the last checkpoint taken for the best")
def best_last_one(checkpoints, batches, loss_of):
    return len(checkpoints) - 1


@wrong(BEST, "the last checkpoint taken for the best")
def best_not_compared(checkpoints, batches, loss_of):
    best = 0
    for i, c in enumerate(checkpoints):
        loss = sum(loss_of(c, b) for b in batches)
        if loss < math.inf:
            best = i
    return best


# --- embed_next, reorder_cache, greedy_batch -----------------------------------------------------

NEXT = "embed_next"


@wrong(NEXT, "every decoded token at position 0")
def next_from_zero(tokens, past, weight, table):
    return weight[tokens] + table[: tokens.size(1)]


@wrong(NEXT, "every decoded token at position 0")
def next_arange(tokens, past, weight, table):
    positions = torch.arange(tokens.shape[1]).repeat(len(tokens), 1)
    return F.embedding(tokens, weight) + F.embedding(positions, table)


@wrong(NEXT, "new tokens one position too late")
def next_late(tokens, past, weight, table):
    return weight[tokens] + table[past + 1 : past + 1 + tokens.size(1)]


@wrong(NEXT, "new tokens one position too late")
def next_counted_from_one(tokens, past, weight, table):
    columns = []
    for i in range(1, tokens.size(1) + 1):
        columns.append(weight[tokens[:, i - 1]] + table[past + i])
    return torch.stack(columns, 1)


@wrong(NEXT, "new tokens at the position of the last one")
def next_early(tokens, past, weight, table):
    start = max(0, past - 1)
    return weight[tokens] + table[start : start + tokens.size(1)]


@wrong(NEXT, "new tokens at the position of the last one")
def next_early_ids(tokens, past, weight, table):
    places = (torch.arange(tokens.size(1)) + past - 1) % len(table)
    return F.embedding(tokens, weight) + table[places]


ORDER = "reorder_cache"


@wrong(ORDER, "cache not reordered with the beams")
def order_same(cache, rows):
    return cache


@wrong(ORDER, "cache not reordered with the beams")
def order_not_kept(cache, rows):
    for keys, values in cache:
        keys, values = keys[rows], values[rows]
    return [(keys, values) for keys, values in cache]


@wrong(ORDER, "only the keys reordered")
def order_keys(cache, rows):
    return [(keys[rows], values) for keys, values in cache]


@wrong(ORDER, "only the keys reordered")
def order_keys_loop(cache, rows):
    new = [list(layer) for layer in cache]
    for layer in new:
        layer[0] = layer[0].index_select(0, rows)
    return new


@wrong(ORDER, "only the first layer reordered")
def order_first(cache, rows):
    keys, values = cache[0]
    return [(keys[rows], values[rows]), *cache[1:]]


@wrong(ORDER, "only the first layer reordered")
def order_first_loop(cache, rows):
    new = list(cache)
    for i, (keys, values) in enumerate(cache):
        new[i] = (keys.index_select(0, rows), values.index_select(0, rows))
        break
    return new


@wrong(ORDER, "cache scattered in place of gathered")
def order_scattered(cache, rows):
    new = []
    for keys, values in cache:
        k, v = keys.clone(), values.clone()
        for i, row in enumerate(rows.tolist()):
            if row not in rows[:i].tolist():
                k[row], v[row] = keys[i], values[i]
        new.append((k, v))
    return new


@wrong(ORDER, "cache scattered in place of gathered")
def order_scattered_backwards(cache, rows):
    new = [(keys.clone(), values.clone()) for keys, values in cache]
    for (keys, values), (k, v) in zip(cache, new, strict=True):
        for i in reversed(range(len(rows))):
            k[rows[i]] = keys[i]
            v[rows[i]] = values[i]
    return new


MANY = "greedy_batch"


@wrong(MANY, "finished rows still growing")
def many_growing(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    over = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        new = step(ids).argmax(-1)
        ids = torch.cat([ids, new[:, None]], 1)
        over |= new == 2
        if over.all():
            break
    return ids[:, 1:]


@wrong(MANY, "finished rows still growing")
def many_growing_lists(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    while len(rows[0]) <= max_length and not all(2 in row for row in rows):
        for row, token in zip(rows, step(torch.tensor(rows)).argmax(1).tolist(), strict=True):
            row.append(token)
    return torch.tensor(rows)[:, 1:]


@wrong(MANY, "all rows stop with the first")
def many_any(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        new = step(ids).argmax(-1)
        ids = torch.cat([ids, new[:, None]], 1)
        if (new == 2).any():
            break
    return ids[:, 1:]


@wrong(MANY, "all rows stop with the first")
def many_in(step, n_sentences, max_length):
    rows = [[] for _ in range(n_sentences)]
    while len(rows[0]) < max_length:
        best = step(torch.tensor([[1, *row] for row in rows])).argmax(1).tolist()
        rows = [[*row, token] for row, token in zip(rows, best, strict=True)]
        if 2 in best:
            break
    return torch.tensor(rows)


@wrong(MANY, "filled with <eos> in place of padding")
def many_eos(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    over = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        new = torch.where(over, torch.tensor(2), step(ids).argmax(-1))
        over = new == 2
        ids = torch.cat([ids, new[:, None]], 1)
        if over.all():
            break
    return ids[:, 1:]


@wrong(MANY, "filled with <eos> in place of padding")
def many_eos_lists(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    for _ in range(max_length):
        for row, scores in zip(rows, step(torch.tensor(rows)), strict=True):
            row.append(2 if row[-1] == 2 else int(scores.argmax()))
        if {row[-1] for row in rows} == {2}:
            break
    return torch.tensor(rows)[:, 1:]


# --- attention, masks ----------------------------------------------------------------------------


@wrong("softmax", "softmax without dim")
def soft_no_dim(scores):
    return F.softmax(scores)


@wrong("softmax", "softmax without dim")
class SoftNoDim(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()

    def forward(self, scores):
        return self.softmax(scores)


@wrong("softmax", "softmax over the first of several axes")
def soft_first(scores):
    e = torch.exp(scores - scores.max(dim=0).values)
    return e / e.sum(dim=0)


@wrong("softmax", "softmax over the first of several axes")
class SoftFirst(nn.Module):
    def forward(self, scores):
        return nn.Softmax(dim=0)(scores)


ATT = "scaled_dot_product_attention"


@wrong(ATT, "keys and values exchanged")
def att_exchanged(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, value, key, mask)


@wrong(ATT, "keys and values exchanged")
def att_wrong_order(query, value, key, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1) @ value


@wrong(ATT, "attention with a softmax without dim")
def att_no_dim(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return F.softmax(scores) @ value


@wrong(ATT, "attention with a softmax without dim")
class AttNoDim(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()

    def forward(self, q, k, v, mask=None):
        s = torch.matmul(q, k.mT) * q.size(-1) ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.tensor(-1e9))
        w = self.softmax(s)
        return torch.matmul(w if mask is None else w * mask, v)


MHA = "multi_head_attention"


def heads_of(x, w, h):
    return (x @ w.T).unflatten(-1, (h, -1)).transpose(1, 2)


@wrong(MHA, "projected keys and values exchanged")
def mha_exchanged(query, key, value, wq, wk, wv, wo, h, mask=None):
    q, k, v = heads_of(query, wq, h), heads_of(key, wk, h), heads_of(value, wv, h)
    out = F.scaled_dot_product_attention(q, v, k, mask)
    return out.transpose(1, 2).flatten(2) @ wo.T


@wrong(MHA, "projected keys and values exchanged", as_class=True)
class ExchangedHeads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        split = lambda x: x.unflatten(-1, (self.h, -1)).transpose(1, 2)  # noqa: E731
        q, v, k = split(self.query(query)), split(self.key(key)), split(self.value(value))
        scores = q @ k.mT / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


@wrong(MHA, "one projection shared by all heads")
def mha_one_projection(query, key, value, wq, wk, wv, wo, h, mask=None):
    k = query.size(-1) // h
    one = F.scaled_dot_product_attention(
        query @ wq[:k].T, key @ wk[:k].T, value @ wv[:k].T, None if mask is None else squeeze(mask)
    )
    return torch.cat([one] * h, dim=-1) @ wo.T


def squeeze(mask):
    return mask[:, 0] if mask.dim() == 4 else mask


@wrong(MHA, "one projection shared by all heads")
def mha_slice_forgotten(query, key, value, wq, wk, wv, wo, h, mask=None):
    width = query.size(-1) // h
    heads = []
    for _ in range(h):  # the slices ought to move on with the head
        q, k, v = (x @ w[0:width].T for x, w in ((query, wq), (key, wk), (value, wv)))
        scores = q @ k.mT / width**0.5
        if mask is not None:
            scores = scores.masked_fill(~squeeze(mask), -1e9)
        heads.append(scores.softmax(-1) @ v)
    return torch.cat(heads, -1) @ wo.T


@wrong(MHA, "mask without its axis of heads")
def mha_squeezed(query, key, value, wq, wk, wv, wo, h, mask=None):
    q, k, v = heads_of(query, wq, h), heads_of(key, wk, h), heads_of(value, wv, h)
    scores = q @ k.mT / math.sqrt(q.size(-1))  # (B, H, T, S)
    if mask is not None:
        if mask.dim() == 4:
            mask = mask.squeeze(1)  # (B, T, S)
        scores = scores.masked_fill(~mask, -1e9)
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ wo.T


@wrong(MHA, "mask without its axis of heads")
def mha_three_axes(query, key, value, wq, wk, wv, wo, h, mask=None):
    q, k, v = heads_of(query, wq, h), heads_of(key, wk, h), heads_of(value, wv, h)
    if mask is not None and mask.dim() > 2:
        mask = mask.reshape(mask.size(0), *mask.shape[-2:])
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return out.transpose(1, 2).flatten(2) @ wo.T


@wrong(MHA, "lengths of queries and keys taken for the same")
def mha_view_source(query, key, value, wq, wk, wv, wo, h, mask=None):
    b, s, d = key.shape
    q = (query @ wq.T).view(b, s, h, d // h).transpose(1, 2)
    k = (key @ wk.T).view(b, s, h, d // h).transpose(1, 2)
    v = (value @ wv.T).view(b, s, h, d // h).transpose(1, 2)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return out.transpose(1, 2).reshape(b, s, d) @ wo.T


@wrong(MHA, "lengths of queries and keys taken for the same")
def mha_view_target(query, key, value, wq, wk, wv, wo, h, mask=None):
    b, t, d = query.shape
    q, k, v = (
        (x @ w.T).reshape(b, t, h, d // h).permute(0, 2, 1, 3)
        for x, w in ((query, wq), (key, wk), (value, wv))
    )
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) / (d // h) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return (scores.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(b, t, d) @ wo.T


TM = "target_mask"


@wrong(TM, "target mask without its axis of heads")
def tm_three(tokens):
    n = tokens.size(1)
    return (tokens != 0)[:, None, :] & torch.ones(n, n, dtype=torch.bool).tril()


@wrong(TM, "target mask without its axis of heads")
def tm_loop(tokens):
    b, n = tokens.shape
    mask = torch.zeros(b, n, n, dtype=torch.bool)
    for i in range(b):
        for t in range(n):
            mask[i, t, : t + 1] = tokens[i, : t + 1] != 0
    return mask


# --- norms, networks, layers ---------------------------------------------------------------------

LN = "layer_norm"


@wrong(LN, "RMS norm in place of layer norm")
def ln_rms(x, weight, bias, eps=1e-5):
    return weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) + bias


@wrong(LN, "RMS norm in place of layer norm", as_class=True)
class RMSWithBias(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], self.weight, 1e-5) + self.bias


@wrong(LN, "RMS norm without the bias")
def ln_rms_ready(x, weight, bias, eps=1e-5):
    return F.rms_norm(x, x.shape[-1:], weight, eps)


@wrong(LN, "RMS norm without the bias")
def ln_rms_by_hand(x, weight, bias, eps=1e-5):
    rms = ((x**2).sum(-1, keepdim=True) / x.size(-1) + eps) ** 0.5
    return x / rms * weight


@wrong(LN, "β starting at one")
def ln_and_one(x, weight, bias, eps=1e-5):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    return (x - mean) / (var + eps).sqrt() * weight + (torch.ones_like(bias) + bias)


@wrong(LN, "variance with Bessel's correction", also="ε outside the root", as_class=True)
class NormOfAWellKnownTutorial(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.weight * (x - mean) / (std + self.eps) + self.bias


@wrong("embedding", "embedding not scaled", as_class=True)
class PlainEmbedding(nn.Embedding):
    pass


FF = "feed_forward"


@wrong(FF, "approximate GELU in place of ReLU")
def ff_gelu_tanh(x, w1, b1, w2, b2):
    h = x @ w1.T + b1
    h = 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
    return h @ w2.T + b2


@wrong(FF, "activation forgotten", as_class=True)
class LinearNetwork(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.linear2(self.linear1(x))


ENC, DEC = "encoder_layer", "decoder_layer"


@wrong(ENC, "post-norm encoder layer")
def enc_post(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x + attention(x, x, x, mask))
    return norm2(x + feed_forward(x))


class Heads(nn.Module):
    """Right; the layers below are made of it."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.query(query), self.key(key), self.value(value)
        q, k, v = (x.unflatten(2, (self.h, -1)).transpose(1, 2) for x in (q, k, v))
        out = F.scaled_dot_product_attention(q, k, v, mask)
        return self.output(out.transpose(1, 2).flatten(2))


class Network(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(F.relu(self.linear1(x)))


class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x):
        return self.norm(x)


class EncoderParts(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = Heads(d_model, n_heads)
        self.feed_forward = Network(d_model, d_ff)
        self.attention_residual, self.feed_forward_residual = Norm(d_model), Norm(d_model)
        self.dropout = nn.Dropout(0.1)


@wrong(ENC, "post-norm encoder layer", as_class=True)
class PostNormEncoder(EncoderParts):
    def forward(self, x, mask=None):
        x = self.attention_residual(x + self.dropout(self.self_attention(x, x, x, mask)))
        return self.feed_forward_residual(x + self.dropout(self.feed_forward(x)))


@wrong(ENC, "normalised stream in the encoder layer")
def enc_overwritten(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x)
    x = x + attention(x, x, x, mask)
    x = norm2(x)
    return x + feed_forward(x)


@wrong(ENC, "normalised stream in the encoder layer", as_class=True)
class OverwrittenEncoder(EncoderParts):
    def forward(self, x, mask=None):
        x = self.attention_residual(x)
        x = self.dropout(self.self_attention(x, x, x, mask)) + x
        x = self.feed_forward_residual(x)
        return self.feed_forward(x) + x


@wrong(ENC, "encoder mask not passed on", as_class=True)
class UnmaskedEncoder(EncoderParts):
    def forward(self, x, mask=None):
        y = self.attention_residual(x)
        x = x + self.self_attention(y, y, y)
        return x + self.feed_forward(self.feed_forward_residual(x))


class DecoderParts(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = Heads(d_model, n_heads)
        self.cross_attention = Heads(d_model, n_heads)
        self.feed_forward = Network(d_model, d_ff)
        self.self_residual, self.cross_residual = Norm(d_model), Norm(d_model)
        self.feed_forward_residual = Norm(d_model)


@wrong(DEC, "post-norm decoder layer")
def dec_post(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    x = norms[0](x + self_att(x, x, x, target_mask))
    x = norms[1](x + cross_att(x, memory, memory, memory_mask))
    return norms[2](x + ff(x))


@wrong(DEC, "post-norm decoder layer", as_class=True)
class PostNormDecoder(DecoderParts):
    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.self_residual(self.self_attention(x, x, x, target_mask) + x)
        x = self.cross_residual(self.cross_attention(x, memory, memory, memory_mask) + x)
        return self.feed_forward_residual(self.feed_forward(x) + x)


@wrong(DEC, "normalised stream in the decoder layer")
def dec_overwritten(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    x = norms[0](x)
    x = x + self_att(x, x, x, target_mask)
    x = norms[1](x)
    x = x + cross_att(x, memory, memory, memory_mask)
    x = norms[2](x)
    return x + ff(x)


@wrong(DEC, "normalised stream in the decoder layer", as_class=True)
class OverwrittenDecoder(DecoderParts):
    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for norm, f in (
            (self.self_residual, lambda y: self.self_attention(y, y, y, target_mask)),
            (self.cross_residual, lambda y: self.cross_attention(y, memory, memory, memory_mask)),
            (self.feed_forward_residual, self.feed_forward),
        ):
            x = norm(x)
            x = x + f(x)
        return x


@wrong(DEC, "mask of cross-attention transposed")
def dec_transposed(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    if memory_mask is not None:
        memory_mask = memory_mask.transpose(-2, -1)
    x = x + cross_att(norms[1](x), memory, memory, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "mask of cross-attention transposed", as_class=True)
class TransposedDecoder(DecoderParts):
    def forward(self, x, memory, target_mask=None, memory_mask=None):
        y = self.self_residual(x)
        x = x + self.self_attention(y, y, y, target_mask)
        mask = None if memory_mask is None else memory_mask.mT
        x = x + self.cross_attention(self.cross_residual(x), memory, memory, mask)
        return x + self.feed_forward(self.feed_forward_residual(x))


@wrong(DEC, "keys and values from the target, under the source mask", as_class=True)
class ForgetfulDecoder(DecoderParts):
    def forward(self, x, memory, target_mask=None, memory_mask=None):
        y = self.self_residual(x)
        x = x + self.self_attention(y, y, y, target_mask)
        y = self.cross_residual(x)
        x = x + self.cross_attention(y, y, y, memory_mask)
        return x + self.feed_forward(self.feed_forward_residual(x))


@wrong(DEC, "roles in cross-attention exchanged")
def dec_memory_asks(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    for norm, f in zip(
        norms,
        (
            lambda y: self_att(y, y, y, target_mask),
            lambda y: cross_att(memory, y, y, memory_mask),
            ff,
        ),
        strict=True,
    ):
        x = x + f(norm(x))
    return x


@wrong(DEC, "roles in cross-attention exchanged, and no mask")
def dec_memory_asks_open(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    a, b, c = norms
    x = x + self_att(a(x), a(x), a(x), target_mask)
    x = x + cross_att(query=memory, key=b(x), value=b(x), mask=None)
    return x + ff(c(x))


# --- one more each -------------------------------------------------------------------------------


@wrong("add_positions", "last rows of the table")
def add_tail(x, table):
    return x + table[-x.size(1) :]


@wrong("add_positions", "last rows of the table")
def add_tail_arange(x, table):
    n = len(table)
    return x + table[torch.arange(n - x.size(1), n)]


@wrong("add_positions", "last rows of the table, backwards")
def add_tail_reversed(x, table):
    places = torch.arange(len(table) - 1, len(table) - 1 - x.size(1), -1)
    return x + F.embedding(places, table)


@wrong("sinusoids", "whole-number frequencies")
def sin_long(length, d_model):
    frequency = (1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)).long()
    pe = torch.zeros(length, d_model)
    pe[:, 0::2] = torch.sin(torch.arange(length)[:, None] * frequency)
    pe[:, 1::2] = torch.cos(torch.arange(length)[:, None] * frequency)
    return pe


@wrong("build_vocabulary", "at most in place of at least")
def vocab_at_most(sentences, min_frequency):
    counts = Counter()
    for s in sentences:
        counts.update(s)
    words = ["<pad>", "<sos>", "<eos>", "<unk>"]
    for word, n in counts.most_common():
        if not n > min_frequency:
            words.append(word)
    return dict(zip(words, range(len(words)), strict=True))


CE = "cross_entropy"


@wrong(CE, "log-softmax without dim")
def ce_no_dim(logits, target):
    log_p = F.log_softmax(logits)
    losses = -log_p.gather(-1, target[..., None])[..., 0]
    return losses[target != 0].mean()


@wrong(CE, "log-softmax without dim")
class LossNoDim(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_softmax = nn.LogSoftmax()

    def forward(self, logits, target):
        log_p = self.log_softmax(logits)
        return F.nll_loss(log_p.flatten(0, 1), target.flatten(), ignore_index=0)


@wrong("perplexity", "plain mean of the batches' perplexities")
def ppl_plain_mean(losses, counts):
    return torch.tensor(losses).exp().mean().item()


UP = "training_update"


@wrong(UP, "step at the top, before the loss")
def up_late_by_one(model, optimizer, compute_loss):
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    loss = compute_loss()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=1)


@wrong("next_token", "logit in place of the token")
def next_value(logits):
    return torch.amax(logits[:, -1, :], dim=-1)


BEAM = "beam_search"


@wrong(BEAM, "finished hypotheses dropped on the way")
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


@wrong(BEAM, "the first of the longest hypotheses chosen")
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


@wrong("build_vocabulary", "rare words kept, frequent ones dropped")
def vocab_only_rare(sentences, min_frequency):
    flat = [word for sentence in sentences for word in sentence]
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for word in flat:
        if word not in vocabulary and flat.count(word) < min_frequency:
            vocabulary[word] = len(vocabulary)
    return vocabulary


@wrong("sinusoids", "integer frequencies")
def sin_floor(length, d_model):
    exponents = torch.div(torch.arange(0, d_model, 2), d_model, rounding_mode="floor")
    angle = torch.arange(length).unsqueeze(1) / torch.pow(10000.0, exponents)
    return torch.stack((angle.sin(), angle.cos()), dim=2).reshape(length, d_model)


@wrong("add_positions", "positions from the end")
def add_countdown(x, table):
    places = torch.arange(x.size(1) - 1, -1, -1)
    return x + table[places].unsqueeze(0)


@wrong(LN, "bias added twice")
def ln_bias_again(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    y = centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + eps)
    y = torch.addcmul(bias, y, weight)
    return y.add(bias)


@wrong(FF, "GELU in place of ReLU", as_class=True)
class GeluLayers(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.act = nn.GELU()
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(self.act(self.linear1(x)))


@wrong(DEC, "keys and values from the target")
def dec_self_twice(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    for attend, norm in ((self_att, norms[0]), (cross_att, norms[1])):
        y = norm(x)
        x = x + attend(y, y, y, target_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "queries from the memory")
def dec_memory_to_itself(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    x = x + cross_att(memory, memory, memory, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "queries from the memory", as_class=True)
class MemoryAsksItself(DecoderParts):
    def forward(self, x, memory, target_mask=None, memory_mask=None):
        y = self.self_residual(x)
        x = self.self_attention(y, y, y, target_mask) + x
        x = self.cross_attention(memory, memory, memory, memory_mask) + x
        return self.feed_forward(self.feed_forward_residual(x)) + x


@wrong("perplexity", "mean of the perplexities")
def ppl_weighted_exponentials(losses, counts):
    weights = torch.tensor(counts, dtype=torch.float64) / sum(counts)
    return (weights * torch.tensor(losses, dtype=torch.float64).exp()).sum()


@wrong(UP, "step before backward")
def up_step_then_backward(model, optimizer, compute_loss):
    model.zero_grad()
    loss = compute_loss()
    optimizer.step()
    loss.backward()


@wrong(BEAM, "finished hypotheses forgotten")
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


@wrong(BEAM, "longest hypothesis chosen")
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


# --- found in other people's repositories, written anew ------------------------------------------


@wrong("sinusoids", "doubled exponent per column")
def sin_two_i(length, d_model):
    table = [
        [pos / math.pow(10000, 2 * i / d_model) for i in range(d_model)] for pos in range(length)
    ]
    table = torch.tensor(table)
    table[:, 0::2], table[:, 1::2] = table[:, 0::2].sin(), table[:, 1::2].cos()
    return table


@wrong("sinusoids", "doubled exponent per column")
def sin_i_plus_one(length, d_model):
    pe = torch.zeros(length, d_model)
    for pos in range(length):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
            pe[pos, i + 1] = math.cos(pos / (10000 ** ((2 * (i + 1)) / d_model)))
    return pe


@wrong("add_positions", "one row for all positions")
def add_no_colon(x, table):
    return x + table[x.size(1)]


@wrong("add_positions", "one row for all positions")
def add_no_colon_batched(x, table):
    pe = table.unsqueeze(0)
    return x + pe[:, x.shape[1], :]


@wrong(DEC, "first norm used for cross-attention, too")
def dec_norm_one_twice(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    norm1, _, norm3 = norms
    y = norm1(x)
    x = x + self_att(y, y, y, target_mask)
    x = x + cross_att(norm1(x), memory, memory, memory_mask)
    return x + ff(norm3(x))


@wrong(DEC, "first norm used for cross-attention, too", as_class=True)
class NormOneTwice(DecoderParts):
    def forward(self, x, memory, target_mask=None, memory_mask=None):
        y = self.self_residual(x)
        x = self.self_attention(y, y, y, target_mask) + x
        y = self.self_residual(x)
        x = self.cross_attention(y, memory, memory, memory_mask) + x
        return self.feed_forward(self.feed_forward_residual(x)) + x


SMOOTH = "label_smoothed_loss"


@wrong(SMOOTH, "ε forgotten beside the spread")
def smooth_one_over_v(logits, target, smoothing):
    v = logits.size(-1)
    wanted = (1 - smoothing) * F.one_hot(target, v) + 1.0 / v
    losses = -(wanted * logits.log_softmax(-1)).sum(-1)
    return losses[target != 0].mean()


@wrong(SMOOTH, "ε forgotten beside the spread")
def smooth_plain_sum(logits, target, smoothing):
    real = target != 0
    log_p = F.log_softmax(logits[real], dim=-1)
    nll = F.nll_loss(log_p, target[real])
    return nll - smoothing * nll - log_p.mean(-1).mean()


@wrong("temperature_probabilities", "divided by the temperature twice")
def temp_twice(logits, temperature):
    logits = logits / temperature
    return F.softmax(logits / temperature, dim=-1)


@wrong("temperature_probabilities", "divided by the temperature twice")
def temp_squared(logits, temperature):
    e = torch.exp((logits - logits.amax(-1, keepdim=True)) * temperature**-2)
    return e / e.sum(-1, keepdim=True)


@wrong("top_k_probabilities", "one token too many")
def top_sorted(logits, k):
    order = logits.argsort(dim=-1, descending=True)
    place = order.argsort(dim=-1)
    return logits.masked_fill(place > k, float("-inf")).softmax(-1)


@wrong("top_k_probabilities", "one token too many")
def top_loop(logits, k):
    out = torch.zeros_like(logits)
    for row in range(len(logits)):
        best = sorted(range(logits.size(1)), key=lambda i: -float(logits[row, i]))[: k + 1]
        out[row, best] = F.softmax(logits[row, best], dim=0)
    return out


@wrong(BEAM, "stops when beam_size hypotheses are finished")
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


@wrong(BEAM, "stops when beam_size hypotheses are finished")
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


# --- in several heads ----------------------------------------------------------------------------


def in_several_heads(attend):
    """A learner's own attention, with its mistake, in multi-head attention that is right."""

    def heads(query, key, value, wq, wk, wv, wo, n_heads, mask=None):
        q, k, v = (heads_of(x, w, n_heads) for x, w in ((query, wq), (key, wk), (value, wv)))
        return attend(q, k, v, mask=mask).transpose(1, 2).flatten(2) @ wo.T

    heads.__name__ = f"heads_with_{getattr(attend, '__name__', type(attend).__name__)}"
    return heads


@wrong(ATT, "boolean mask added to the scores")
def att_plus_mask(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores += mask
    return F.softmax(scores, dim=-1) @ value


@wrong(ATT, "boolean mask added to the scores")
def att_float_mask(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, mask if mask is None else mask.float())


IN_HEADS = (
    "scores not scaled",
    "scores divided by d_k without the root",
    "scores multiplied by the root of d_k",
    "scores divided by the root of the number of queries",
    "weights scaled after the softmax",
    "softmax over the queries",
    "softmax over the first axis",
    "attention with a softmax without dim",
    "no softmax",
    "mask applied after the softmax",
    "boolean mask added to the scores",
    "hidden scores set to zero",
    "keys averaged in place of values",
    "scores of queries with queries",
    "scores of keys with keys",
    "cosine in place of the dot product",
)
for version in tuple(VERSIONS):  # those of wrong_attention are there: see test_wrong_versions
    if version.component == ATT and version.mistake in IN_HEADS and not version.also:
        wrong(MHA, f"in several heads: {version.mistake}")(in_several_heads(version.function))


@wrong(MHA, "keys projected with the query's weight")
def mha_query_weight(query, key, value, wq, wk, wv, wo, h, mask=None):
    q, k, v = heads_of(query, wq, h), heads_of(key, wq, h), heads_of(value, wv, h)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return torch.cat(out.unbind(1), dim=-1) @ wo.T


class MyHeads(nn.Module):
    """As people write it from memory; what follows differs in one place or two."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.d_k = n_heads, d_model // n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def split(self, linear, x):
        return linear(x).view(x.size(0), -1, self.h, self.d_k).transpose(1, 2)

    def scores(self, q, k, mask):
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_k)
        return scores if mask is None else scores.masked_fill(mask == 0, -1e9)

    def merge(self, heads):
        return heads.transpose(1, 2).reshape(heads.size(0), heads.size(2), -1)

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            self.split(layer, x) for layer, x in ((self.query, q), (self.key, k), (self.value, v))
        )
        return self.output(self.merge(self.scores(q, k, mask).softmax(-1) @ v))


@wrong(MHA, "keys projected with the query's weight", also="in several heads: scores not scaled")
def mha_same_weight_unscaled(query, key, value, wq, wk, wv, wo, h, mask=None):
    q, k, v = heads_of(query, wq, h), heads_of(key, wq, h), heads_of(value, wv, h)
    out = F.scaled_dot_product_attention(q, k, v, mask, scale=1.0)
    return out.transpose(1, 2).flatten(2) @ wo.T


@wrong(
    MHA,
    "in several heads: scores not scaled",
    also="in several heads: attention with a softmax without dim",
    as_class=True,
)
class UnscaledOverHeads(MyHeads):
    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.query, q), self.split(self.key, k), self.split(self.value, v)
        scores = self.scores(q * math.sqrt(self.d_k), k, mask)
        return self.output(self.merge(F.softmax(scores, 1) @ v))


@wrong(MHA, "other axes exchanged before several heads are merged", as_class=True)
class MergedOverPositions(MyHeads):
    def merge(self, heads):
        return heads.transpose(2, 3).reshape(heads.size(0), heads.size(2), -1)


@wrong(MHA, "other axes exchanged before several heads are merged")
def mha_wrong_permute(query, key, value, wq, wk, wv, wo, h, mask=None):
    b, t, d = query.shape
    q, k, v = heads_of(query, wq, h), heads_of(key, wk, h), heads_of(value, wv, h)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(out.permute(0, 1, 3, 2).contiguous().view(b, t, d), wo)


@wrong(MHA, "in several heads: boolean mask added to the scores", as_class=True)
class MaskAdded(MyHeads):
    def scores(self, q, k, mask):
        scores = q @ k.mT / self.d_k**0.5
        return scores if mask is None else scores + mask


@wrong(MHA, "in several heads: mask applied after the softmax", as_class=True)
class MaskedLate(MyHeads):
    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.query, q), self.split(self.key, k), self.split(self.value, v)
        weights = self.scores(q, k, None).softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        return self.output(self.merge(weights @ v))


@wrong("merge_heads", "other axes exchanged before merging")
def merge_transposed(heads):
    b, h, t, k = heads.shape
    return heads.transpose(-1, -2).reshape(b, t, h * k)


@wrong("merge_heads", "other axes exchanged before merging")
def merge_permuted(heads):
    b, h, t, k = heads.shape
    return heads.permute(0, 1, 3, 2).contiguous().view(b, t, h * k)
