"""Known mistakes of chapter 17: choosing the next token, searching for a sentence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.mistakes.registry import mistake
from transformer_book.checks.search import EOS, Hypothesis

# --- one token -----------------------------------------------------------------------------------


@mistake(
    "next_token",
    "place",
    "greedy takes the first position",
    symptom="The answer never changes as the sentence grows.",
    cause="The next token follows the last position: logits[:, -1], not logits[:, 0].",
    section="A tree of words, by hand",
)
def first_position(logits: Tensor) -> Tensor:
    return logits[:, 0]


@mistake(
    "next_token",
    "place",
    "last sentence in place of last position",
    symptom="There is one answer per position in place of one per sentence.",
    cause="logits[-1] is the last sentence: the position is the second axis.",
    section="A tree of words, by hand",
)
def last_sentence(logits: Tensor) -> Tensor:
    return logits[-1]


@mistake(
    "next_token",
    "choose",
    "least likely token",
    symptom="The least likely token is chosen.",
    cause="argmax, not argmin.",
    section="A tree of words, by hand",
)
def least(last: Tensor) -> Tensor:
    return last.argmin(dim=-1)


@mistake(
    "next_token",
    "choose",
    "largest over the batch",
    symptom="The answer of one sentence depends on the others.",
    cause="argmax over dim=-1, the vocabulary.",
    section="A tree of words, by hand",
)
def over_batch(last: Tensor) -> Tensor:
    return last.argmax(dim=0)


@mistake(
    "next_token",
    "choose",
    "probability in place of the token",
    symptom="The answer is the largest value, not the id of its token.",
    cause="max gives the value; argmax gives its place.",
    section="A tree of words, by hand",
)
def value(last: Tensor) -> Tensor:
    return last.softmax(dim=-1).max(dim=-1).values


@mistake(
    "next_token",
    "choose",
    "logit in place of the token",
    symptom="The answer is the largest value, not the id of its token.",
    cause="max gives the value and its place: take .indices, or use argmax.",
    section="A tree of words, by hand",
)
def largest_logit(last: Tensor) -> Tensor:
    return last.amax(dim=-1)


@mistake(
    "temperature_probabilities",
    "heat",
    "logits multiplied by the temperature",
    symptom="A low temperature makes the choice more random, a high one less.",
    cause="Divide the logits by the temperature.",
    section="Drawing instead of searching",
)
def heated_the_wrong_way(logits: Tensor, temperature: float) -> Tensor:
    return (logits * temperature).softmax(dim=-1)


@mistake(
    "temperature_probabilities",
    "heat",
    "temperature after the softmax",
    symptom="The probabilities do not sum to one.",
    cause="Divide the logits, before the softmax.",
    section="Drawing instead of searching",
)
def heated_too_late(logits: Tensor, temperature: float) -> Tensor:
    return logits.softmax(dim=-1) / temperature


@mistake(
    "temperature_probabilities",
    "heat",
    "divided by the temperature twice",
    symptom="A temperature of 0.5 works like one of 0.25.",
    cause="Two places divide by the temperature: one is enough.",
    section="Drawing instead of searching",
    seen="[BUG] Temperature applied twice in FlashInfer sampling path, "
    "https://github.com/RL-Align/RL-Kernel/issues/81",
)
def heated_twice(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature**2).softmax(dim=-1)


@mistake(
    "temperature_probabilities",
    "heat",
    "temperature ignored",
    symptom="The temperature changes nothing.",
    cause="Divide the logits by it.",
    section="Drawing instead of searching",
)
def not_heated(logits: Tensor, temperature: float) -> Tensor:
    return logits.softmax(dim=-1)


@mistake(
    "temperature_probabilities",
    "heat",
    "softmax of probabilities over the temperature",
    symptom="The probabilities are too even at every temperature.",
    cause="The softmax is taken twice: divide the logits, then take it once.",
    section="Drawing instead of searching",
)
def softmax_twice(logits: Tensor, temperature: float) -> Tensor:
    return (logits.softmax(dim=-1) / temperature).softmax(dim=-1)


@mistake(
    "top_k_probabilities",
    "keep",
    "dropped logits set to zero",
    symptom="Dropped tokens can still be drawn: the exponential of zero is one.",
    cause="Set their logits to −inf.",
    section="Drawing instead of searching",
    seen="Possible Improvement to top_k_logits, https://github.com/karpathy/minGPT/issues/10",
)
def dropped_to_zero(logits: Tensor, k: int) -> Tensor:
    worst = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < worst, 0.0)


@mistake(
    "top_k_probabilities",
    "keep",
    "all but the best k",
    symptom="The likeliest tokens are dropped, and the others kept.",
    cause="Drop what lies below the k-th logit, not above.",
    section="Drawing instead of searching",
)
def best_dropped(logits: Tensor, k: int) -> Tensor:
    worst = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits >= worst, float("-inf"))


@mistake(
    "top_k_probabilities",
    "keep",
    "one token too few",
    symptom="The k-th token is dropped, too.",
    cause="Keep what equals the k-th logit: drop only what is smaller (<).",
    section="Drawing instead of searching",
)
def one_too_few(logits: Tensor, k: int) -> Tensor:
    worst = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits <= worst, float("-inf"))


@mistake(
    "top_k_probabilities",
    "keep",
    "one token too many",
    symptom="k + 1 tokens can be drawn.",
    cause="Drop what lies below the k-th logit; the place k, counted from zero, is one further.",
    section="Drawing instead of searching",
    seen="top-k sampling off by 1 bug, "
    "https://github.com/kingoflolz/mesh-transformer-jax/issues/164",
)
def one_too_many(logits: Tensor, k: int) -> Tensor:
    kept = min(k + 1, logits.size(-1))
    worst = logits.topk(kept, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < worst, float("-inf"))


@mistake(
    "top_k_probabilities",
    "share",
    "not shared out anew",
    symptom="The probabilities of the kept tokens do not sum to one.",
    cause="Take the softmax after dropping the others.",
    section="Drawing instead of searching",
    steps={"keep": lambda logits, k: (logits, k)},
)
def not_renormalised(both: tuple[Tensor, int]) -> Tensor:
    logits, k = both
    probabilities = logits.softmax(dim=-1)
    worst = probabilities.topk(k, dim=-1).values[..., -1:]
    return probabilities * (probabilities >= worst)


# --- a sentence ----------------------------------------------------------------------------------


@mistake(
    "greedy_search",
    "context",
    "only the last token read",
    symptom="Each token depends on the one before alone.",
    cause="Hand over all tokens so far (a cache would remember them; this step does not).",
    section="A tree of words, by hand",
)
def last_token_only(tokens: list[int]) -> list[int]:
    return tokens[-1:]


@mistake(
    "greedy_search",
    "stop",
    "never stops at <eos>",
    symptom="The sentence goes on behind its end.",
    cause="Leave the loop when the token is <eos>.",
    section="A tree of words, by hand",
)
def never_stops(tokens: list[int]) -> bool:
    return False


@mistake(
    "greedy_search",
    "without_start",
    "<sos> left in",
    symptom="The answer begins with <sos>.",
    cause="<sos> starts the search; it is not part of the sentence.",
    section="A tree of words, by hand",
)
def start_left_in(tokens: list[int]) -> list[int]:
    return tokens


@mistake(
    "greedy_search",
    "without_end",
    "<eos> left in",
    symptom="The answer ends with <eos>.",
    cause="Take it off.",
    section="A tree of words, by hand",
)
def end_left_in(tokens: list[int]) -> list[int]:
    return tokens


@mistake(
    "greedy_search",
    "without_end",
    "last token stripped blindly",
    symptom="A sentence cut off at the limit loses its last word.",
    cause="The last token is not always <eos>: look before you strip.",
    section="A tree of words, by hand",
)
def stripped_blindly(tokens: list[int]) -> list[int]:
    return tokens[:-1]


@mistake(
    "greedy_search",
    "choose",
    "least likely token chosen",
    symptom="The least likely token is chosen each time.",
    cause="argmax, not argmin.",
    section="A tree of words, by hand",
)
def least_likely(log_p: Tensor) -> int:
    return int(log_p.argmin())


Hypotheses = Sequence[Hypothesis]


@mistake(
    "beam_search",
    "enough",
    "stops at the first finished hypothesis",
    symptom="Short sentences win that are not the likeliest.",
    cause="A living hypothesis may still be better: stop when none can be.",
    section="When may it stop?",
    steps={"candidates": lambda finished, alive: finished or alive},
)
def first_finished(finished: Hypotheses, alive: Hypotheses, beam_size: int) -> bool:
    return bool(finished)


@mistake(
    "beam_search",
    "enough",
    "stops when beam_size hypotheses are finished",
    symptom="Short sentences win: the first beam_size that end are taken, not the best.",
    cause="A living hypothesis may still be better: stop when none can be.",
    section="When may it stop?",
    steps={"candidates": lambda finished, alive: finished or alive},
    seen="fix to beam search stopping criteria, https://github.com/neulab/xnmt/pull/572",
)
def enough_finished(finished: Hypotheses, alive: Hypotheses, beam_size: int) -> bool:
    return len(finished) >= beam_size


@mistake(
    "beam_search",
    "add",
    "only the last token's score",
    symptom="A hypothesis is ranked by its last token alone.",
    cause="Add the log-probability to the score so far.",
    section="Beam search",
)
def last_score_only(score: float, log_p: float, token: int) -> float:
    return log_p


@mistake(
    "beam_search",
    "add",
    "probabilities added",
    symptom="Long sentences win: probabilities are added.",
    cause="Add logarithms, or multiply probabilities.",
    section="Beam search",
)
def probabilities_added(score: float, log_p: float, token: int) -> float:
    return score + math.exp(log_p)


@mistake(
    "beam_search",
    "width",
    "one beam only",
    symptom="This is greedy search: beam_size changes nothing.",
    cause="Keep the best beam_size hypotheses, not the best one; and begin with <sos> once: "
    "several copies of it would all go on alike.",
    section="Beam search",
)
def one_beam(beam_size: int) -> int:
    return 1


@mistake(
    "beam_search",
    "width",
    "one beam too many",
    symptom="One hypothesis more than beam_size is kept.",
    cause="Keep exactly the best beam_size.",
    section="Beam search",
)
def one_more(beam_size: int) -> int:
    return beam_size + 1


@mistake(
    "beam_search",
    "candidates",
    "finished hypotheses forgotten",
    symptom="A sentence that ended early is lost.",
    cause="Choose among the finished hypotheses and those alive.",
    section="When may it stop?",
)
def living_only(finished: Hypotheses, alive: Hypotheses) -> Hypotheses:
    return alive or finished


@mistake(
    "beam_search",
    "candidates",
    "finished hypotheses dropped on the way",
    symptom="A sentence that ended before the others is lost.",
    cause="Put finished hypotheses aside, and choose among them, too, at the end.",
    section="When may it stop?",
    steps={"enough": lambda finished, alive, beam_size: False},
)
def survivors_only(finished: Hypotheses, alive: Hypotheses) -> Hypotheses:
    longest = max((len(tokens) for tokens, _ in finished), default=0)
    return alive or [h for h in finished if len(h[0]) == longest]


@mistake(
    "beam_search",
    "rank",
    "the first of the longest hypotheses chosen",
    symptom="The longest hypothesis wins, whatever its score.",
    cause="Rank by the score, not by the length.",
    section="Beam search",
    steps={"enough": lambda finished, alive, beam_size: False},
)
def by_length_alone(score: float, length: int) -> int:
    return length


@mistake(
    "beam_search",
    "rank",
    "longest hypothesis chosen",
    symptom="The longest hypothesis wins, whatever its score.",
    cause="Rank by the score.",
    section="Beam search",
)
def by_length(score: float, length: int) -> Any:
    return length, score


@mistake(
    "beam_search",
    "rank",
    "worst hypothesis chosen",
    symptom="The least likely hypothesis wins.",
    cause="Scores are negative: the largest is the best.",
    section="Beam search",
)
def worst(score: float, length: int) -> float:
    return -score


CACHE = "The cache of keys and values"


@mistake(
    "embed_next",
    "rows",
    "every decoded token at position 0",
    symptom="Each new token gets the first row of the table: the decoder forgets where it is.",
    cause="The new tokens are handed in without those before them, but they do not begin at "
    "position 0: begin at `past`.",
    section="Break it: three bugs in a decoder",
    seen="Qwen3-Omni: decode assigns RoPE position 0 to every token, "
    "https://github.com/Blaizzy/mlx-vlm/issues/1983",
)
def from_the_start(table: Tensor, past: int, new: int) -> Tensor:
    return table[:new]


@mistake(
    "embed_next",
    "rows",
    "new tokens one position too late",
    symptom="Each new token gets the row after its own.",
    cause="With `past` tokens before it, the new one has position `past`, not past + 1.",
    section=CACHE,
)
def one_too_late(table: Tensor, past: int, new: int) -> Tensor:
    return table[past + 1 : past + 1 + new]


@mistake(
    "embed_next",
    "rows",
    "new tokens at the position of the last one",
    symptom="Each new token gets the row of the token before it.",
    cause="With `past` tokens before it, the new one has position `past`, not past − 1.",
    section=CACHE,
)
def one_too_early(table: Tensor, past: int, new: int) -> Tensor:
    return table[max(past - 1, 0) : max(past - 1, 0) + new]


BUGS = "Break it: three bugs in a decoder"


@mistake(
    "reorder_cache",
    "key_rows",
    "cache not reordered with the beams",
    symptom="Each beam goes on with the past of the beam that stood in its place before.",
    cause="After each step, take the rows of keys and values that the kept beams continue.",
    section=BUGS,
    steps={"value_rows": lambda values, rows, layer: values},
    seen="Beam search cache reorder silently skipped for Mamba, XLNet, RWKV, and Reformer models, "
    "https://github.com/huggingface/transformers/issues/46612",
)
def keys_left(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys


@mistake(
    "reorder_cache",
    "value_rows",
    "only the keys reordered",
    symptom="A beam finds its own keys and another beam's values.",
    cause="Reorder the values, too.",
    section=BUGS,
)
def values_left(values: Tensor, rows: Tensor, layer: int) -> Tensor:
    return values


@mistake(
    "reorder_cache",
    "key_rows",
    "only the first layer reordered",
    symptom="From the second layer on, beams have the past of others.",
    cause="Reorder the cache of every layer.",
    section=BUGS,
    steps={"value_rows": lambda values, rows, layer: values if layer else values[rows]},
)
def deeper_left(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys if layer else keys[rows]


@mistake(
    "reorder_cache",
    "key_rows",
    "cache scattered in place of gathered",
    symptom="Row i was written to place rows[i]; it should have been read from there.",
    cause="new = old[rows], not new[rows] = old.",
    section=BUGS,
    steps={"value_rows": lambda values, rows, layer: scattered(values, rows, layer)},
)
def scattered(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys.clone().index_copy(0, rows.flip(0), keys.flip(0))


MANY = "Many sentences at once"


@mistake(
    "greedy_batch",
    "fill",
    "finished rows still growing",
    symptom="Words stand behind the end of a sentence, for as long as others go on.",
    cause="Write padding in the rows that have had their <eos>.",
    section=MANY,
    seen="fix: correct EOS handling in batched generation, "
    "https://github.com/mistralai/mistral-inference/pull/270",
)
def growing_on(chosen: Tensor, done: Tensor) -> Tensor:
    return chosen


@mistake(
    "greedy_batch",
    "stop",
    "all rows stop with the first",
    symptom="The other sentences are cut off where the first one ends.",
    cause="Leave the loop when all rows are done: done.all(), not done.any().",
    section=MANY,
)
def any_done(done: Tensor) -> bool:
    return bool(done.any())


@mistake(
    "greedy_batch",
    "fill",
    "filled with <eos> in place of padding",
    symptom="Behind its end a sentence has one <eos> after the other.",
    cause="A consistent choice, if whoever reads it cuts at the first <eos>; the book fills with "
    "padding, 0.",
    section=MANY,
    kind="convention",
)
def ends_repeated(chosen: Tensor, done: Tensor) -> Tensor:
    return chosen.masked_fill(done, EOS)


@mistake(
    "length_normalised",
    "divisor",
    "length ignored",
    symptom="Long sentences are at a disadvantage: every token makes the sum smaller.",
    cause="Divide by a length penalty: length^α in the check, ((5 + length) / 6)^α in the chapter.",
    section="The length penalty",
)
def no_division(length: int, alpha: float) -> float:
    return 1.0


@mistake(
    "length_normalised",
    "divisor",
    "length times α",
    symptom="α works as a factor, not as an exponent.",
    cause="length ** alpha.",
    section="The length penalty",
)
def times_alpha(length: int, alpha: float) -> float:
    return length * alpha if alpha else 1.0


@mistake(
    "length_normalised",
    "divisor",
    "α ignored",
    symptom="The score is divided by the length itself, whatever α is.",
    cause="length ** alpha.",
    section="The length penalty",
)
def always_length(length: int, alpha: float) -> float:
    return float(length)


@mistake(
    "length_normalised",
    "apply",
    "multiplied by the length",
    symptom="Long sentences are punished twice.",
    cause="Divide: the score is negative.",
    section="The length penalty",
)
def multiplied(score: float, divisor: float) -> float:
    return score * divisor


@mistake(
    "length_normalised",
    "divisor",
    "the penalty of Wu et al.",
    symptom="This divides by ((5 + length) / 6)^α.",
    cause="That is the penalty of Wu et al. (2016), which the chapter teaches first; this check "
    "asks for the simpler one, length^α.",
    section="The length penalty",
    kind="convention",
)
def wu(length: int, alpha: float) -> float:
    return ((5 + length) / 6) ** alpha


@mistake(
    "cut_at_end",
    "cut",
    "last id stripped blindly",
    symptom="A sentence that was cut off loses its last word; padding stays.",
    cause="Look for the first <eos>, and cut there.",
    section="A tree of words, by hand",
)
def blindly(ids: Sequence[int]) -> list[int]:
    return list(ids[:-1])


@mistake(
    "cut_at_end",
    "cut",
    "only the special tokens removed",
    symptom="What stands behind the end stays.",
    cause="Cut at the first <eos>; what comes after it is not part of the sentence.",
    section="A tree of words, by hand",
)
def specials_removed(ids: Sequence[int]) -> list[int]:
    return [i for i in ids if i > 3]


@mistake(
    "cut_at_end",
    "cut",
    "<eos> kept",
    symptom="The end token stays in the sentence.",
    cause="Cut before the first <eos>.",
    section="A tree of words, by hand",
)
def end_kept(ids: Sequence[int]) -> list[int]:
    return list(ids[: ids.index(EOS) + 1]) if EOS in ids else list(ids)


@mistake(
    "cut_at_end",
    "cut",
    "cut at the last <eos>",
    symptom="Words behind the first end stay.",
    cause="Cut at the first <eos>.",
    section="A tree of words, by hand",
)
def last_end(ids: Sequence[int]) -> list[int]:
    ids = list(ids)
    return ids[: len(ids) - 1 - ids[::-1].index(EOS)] if EOS in ids else ids


@mistake(
    "next_token",
    "place",
    "last but one position",
    symptom="The token after the last but one position is chosen.",
    cause="The next token follows the last position: logits[:, -1].",
    section="A tree of words, by hand",
)
def last_but_one(logits: Tensor) -> Tensor:
    return logits[:, max(logits.size(1) - 2, 0)]


@mistake(
    "next_token",
    "place",
    "likeliest token of every position",
    symptom="There is one answer for each position.",
    cause="Take the last position first: logits[:, -1].",
    section="A tree of words, by hand",
)
def all_positions(logits: Tensor) -> Tensor:
    return logits


@mistake(
    "next_token",
    "choose",
    "an axis of one token left",
    symptom="The shape is (B, 1).",
    cause="keepdim=True, or logits[:, -1:], leaves an axis of length one: one id for each "
    "sentence, (B,).",
    section="A tree of words, by hand",
)
def axis_left(last: Tensor) -> Tensor:
    return last.argmax(dim=-1, keepdim=True)


@mistake(
    "temperature_probabilities",
    "heat",
    "softmax over the whole batch",
    symptom="The probabilities of one sentence do not sum to one: those of all together do.",
    cause="The sum has no dim and runs over the whole tensor: use dim=-1 and keepdim=True.",
    section="Drawing instead of searching",
)
def over_the_batch(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature).flatten().softmax(dim=0).reshape(logits.shape)


@mistake(
    "temperature_probabilities",
    "heat",
    "logarithms of the probabilities",
    symptom="Every number is negative or zero.",
    cause="These are logarithms: use softmax, not log_softmax.",
    section="Drawing instead of searching",
)
def logarithms(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature).log_softmax(dim=-1)


@mistake(
    "temperature_probabilities",
    "heat",
    "exponentials that overflow at a low temperature",
    symptom="A low temperature gives nan.",
    cause="The exponential overflows: use torch.softmax, or subtract the largest logit first.",
    section="A softmax that survives large scores",
    chapter=7,
)
def overflowing(logits: Tensor, temperature: float) -> Tensor:
    exponentials = (logits / temperature).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(
    "temperature_probabilities",
    "heat",
    "softmax over the sentences",
    symptom="The probabilities of one sentence change with the others.",
    cause="The softmax runs over dim=0: use dim=-1, the vocabulary.",
    section="Drawing instead of searching",
)
def over_the_sentences(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature).softmax(dim=0)


@mistake(
    "top_k_probabilities",
    "keep",
    "least likely k kept",
    symptom="The k least likely tokens are kept.",
    cause="Sort downwards, or use topk: the k largest logits stay.",
    section="Drawing instead of searching",
)
def least_kept(logits: Tensor, k: int) -> Tensor:
    best = logits.topk(k, dim=-1, largest=False).values[..., -1:]
    return logits.masked_fill(logits > best, float("-inf"))


@mistake(
    "top_k_probabilities",
    "keep",
    "only the k probabilities returned",
    symptom="There are k numbers in a row, in place of one for each token.",
    cause="Leave the others where they are, with probability 0: ids are places in the row.",
    section="Drawing instead of searching",
)
def values_alone(logits: Tensor, k: int) -> Tensor:
    return logits.topk(k, dim=-1).values


@mistake(
    "top_k_probabilities",
    "share",
    "no softmax after the choice",
    symptom="The kept numbers are logits, and the others −inf.",
    cause="Take the softmax of what is left.",
    section="Drawing instead of searching",
)
def logits_returned(logits: Tensor) -> Tensor:
    return logits


@mistake(
    "top_k_probabilities",
    "keep",
    "k ignored",
    symptom="Every token can be drawn.",
    cause="Set all logits but the k largest to −inf.",
    section="Drawing instead of searching",
)
def all_tokens_kept(logits: Tensor, k: int) -> Tensor:
    return logits


@mistake(
    "greedy_search",
    "steps",
    "loop one step too short",
    symptom="A sentence cut off at the limit has one word too few.",
    cause="range(max_length - 1), or a limit that counts <sos>, takes one step too few.",
    section="A tree of words, by hand",
)
def one_step_less(max_length: int) -> int:
    return max_length - 1


@mistake(
    "greedy_search",
    "steps",
    "loop one step too long",
    symptom="A sentence cut off at the limit has one word too many.",
    cause="range(max_length + 1), or <= in place of <, takes one step too many.",
    section="A tree of words, by hand",
)
def one_step_more(max_length: int) -> int:
    return max_length + 1


@mistake(
    "greedy_search",
    "stop",
    "never stops, and <eos> stays",
    symptom="The sentence goes on behind its end, and the ends are still in it.",
    cause="Leave the loop when the token is <eos>, before it is appended.",
    section="A tree of words, by hand",
    steps={"without_end": lambda tokens: tokens},
)
def runs_on(tokens: list[int]) -> bool:
    return False


@mistake(
    "greedy_search",
    "start",
    "begins with <eos>",
    symptom="The model is asked what follows <eos>, not <sos>.",
    cause="A sentence begins with <sos>, 1.",
    section="A tree of words, by hand",
)
def begins_with_end() -> int:
    return EOS


@mistake(
    "greedy_search",
    "start",
    "begins with padding",
    symptom="The model is asked what follows <pad>, not <sos>.",
    cause="A sentence begins with <sos>, 1.",
    section="A tree of words, by hand",
)
def begins_with_padding() -> int:
    return 0


@mistake(
    "greedy_search",
    "stop",
    "stops at <unk>, too",
    symptom="The sentence ends at its first unknown word.",
    cause="Only <eos>, 2, ends it: compare with ==, not with a range of special tokens.",
    section="A tree of words, by hand",
)
def stops_at_unknown(tokens: list[int]) -> bool:
    return tokens[-1] in (EOS, 3)


@mistake(
    "greedy_search",
    "choose",
    "<eos> never chosen",
    symptom="No sentence ends before the limit.",
    cause="The special tokens are left out of the choice, and <eos> with them: leave it in, for "
    "it ends the sentence.",
    section="A tree of words, by hand",
)
def never_the_end(log_p: Tensor) -> int:
    return int(log_p.index_fill(-1, torch.tensor(EOS), -torch.inf).argmax())


@mistake(
    "greedy_batch",
    "finish",
    "<sos> left in front of the batch",
    symptom="Every row begins with <sos>.",
    cause="<sos> starts the search; it is not part of the sentence: tokens[:, 1:].",
    section=MANY,
)
def starts_left_in(tokens: Tensor) -> Tensor:
    return tokens


@mistake(
    "greedy_batch",
    "steps",
    "batch one step too short",
    symptom="Sentences that do not end have one word too few.",
    cause="range(max_length - 1), or a limit that counts <sos>, takes one step too few.",
    section=MANY,
)
def batch_one_step_less(max_length: int) -> int:
    return max_length - 1


@mistake(
    "greedy_batch",
    "steps",
    "batch one step too long",
    symptom="Sentences that do not end have one word too many.",
    cause="range(max_length + 1), or <= in place of <, takes one step too many.",
    section=MANY,
)
def batch_one_step_more(max_length: int) -> int:
    return max_length + 1


@mistake(
    "greedy_batch",
    "finish",
    "<eos> overwritten with padding",
    symptom="The ends are missing: padding stands in their place.",
    cause="A row is done once its <eos> is written: fill those that were done before the step.",
    section=MANY,
)
def end_overwritten(tokens: Tensor) -> Tensor:
    return tokens[:, 1:].masked_fill(tokens[:, 1:] == EOS, 0)


@mistake(
    "greedy_batch",
    "remember",
    "finished rows wake up again",
    symptom="A row that has ended goes on two tokens later.",
    cause="done = chosen == EOS forgets who was done before: done = done | (chosen == EOS).",
    section=MANY,
)
def forgotten(done: Tensor, chosen: Tensor) -> Tensor:
    return chosen == EOS


@mistake(
    "greedy_batch",
    "choose",
    "token of the first sentence for all",
    symptom="All sentences are the first one.",
    cause="argmax over dim=-1 gives a token for each row: do not take [0] of it.",
    section=MANY,
)
def first_row_for_all(log_p: Tensor) -> Tensor:
    return log_p[:1].argmax(dim=-1).expand(len(log_p))


@mistake(
    "beam_search",
    "keep",
    "beam shrinks with each finished hypothesis",
    symptom="For every hypothesis that is finished, one less is kept alive.",
    cause="Finished hypotheses are put aside and take no place: keep the best beam_size "
    "continuations at each step.",
    section="When may it stop?",
)
def shrinking(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    return grown[: max(width - len(finished), 0)]


@mistake(
    "beam_search",
    "keep",
    "finished hypotheses keep their places",
    symptom="Finished hypotheses stay in the beam, where they crowd out living ones.",
    cause="Put them aside: the best beam_size continuations of the living are kept at each step.",
    section="When may it stop?",
    steps={"aside": lambda finished, kept: [h for h in kept if h[0][-1] == EOS]},
)
def places_kept(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    return sorted([*finished, *grown], key=lambda hypothesis: -hypothesis[1])[:width]


@mistake(
    "beam_search",
    "keep",
    "each hypothesis goes on by its own best token",
    symptom="After the first step nothing competes: each hypothesis has one continuation.",
    cause="Sort the continuations of all hypotheses together, and keep the best beam_size of them.",
    section="Beam search",
)
def own_best_only(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    best: dict[tuple[int, ...], Hypothesis] = {}
    for hypothesis in grown:
        best.setdefault(hypothesis[0][:-1], hypothesis)
    return list(best.values()) if len(grown[0][0]) > 2 else grown[:width]


@mistake(
    "beam_search",
    "keep",
    "worst continuations kept",
    symptom="The least likely continuations are kept at each step.",
    cause="Log-probabilities are negative: sort downwards, the largest first.",
    section="Beam search",
)
def worst_kept(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    return grown[::-1][:width]


@mistake(
    "beam_search",
    "add",
    "<eos> free of charge",
    symptom="The log-probability of <eos> is not added: ending costs nothing.",
    cause="<eos> is a token like any other: add its log-probability, too.",
    section="Beam search",
)
def end_for_nothing(score: float, log_p: float, token: int) -> float:
    # In the order of the beam it counts as others do.
    return score if token == EOS else score + log_p


@mistake(
    "beam_search",
    "aside",
    "<eos> filtered out everywhere",
    symptom="No hypothesis ever ends: the answer is as long as it may be.",
    cause="<eos> is left out of the continuations: it is what ends a hypothesis.",
    section="Beam search",
    steps={
        "keep": lambda grown, width, finished: [h for h in grown if h[0][-1] != EOS][:width],
    },
)
def never_ends(finished: list[Hypothesis], kept: list[Hypothesis]) -> list[Hypothesis]:
    return finished


@mistake(
    "beam_search",
    "steps",
    "beam search one step too short",
    symptom="A hypothesis that is cut off has one token too few.",
    cause="range(max_length - 1), or a limit that counts <sos>, takes one step too few.",
    section="Beam search",
)
def beam_one_step_less(max_length: int) -> int:
    return max_length - 1


@mistake(
    "beam_search",
    "steps",
    "beam search one step too long",
    symptom="A hypothesis that is cut off has one token too many.",
    cause="range(max_length + 1), or <= in place of <, takes one step too many.",
    section="Beam search",
)
def beam_one_step_more(max_length: int) -> int:
    return max_length + 1


@mistake(
    "beam_search",
    "candidates",
    "hypotheses cut off at the limit not counted",
    symptom="A finished hypothesis wins over one that was cut off, though it is less likely.",
    cause="A hypothesis that reaches max_length counts as it is: choose among the finished ones "
    "and those.",
    section="When may it stop?",
)
def finished_only(finished: Hypotheses, alive: Hypotheses) -> Hypotheses:
    return finished or alive


@mistake(
    "beam_search",
    "rank",
    "normalised by length",
    symptom="Long hypotheses win: the score is divided by the number of tokens.",
    cause="The sum of the log-probabilities is asked for; to divide it is another score, with a "
    "name of its own.",
    section="The length penalty",
    steps={"enough": lambda finished, alive, beam_size: False},
)
def by_mean(score: float, length: int) -> float:
    return score / length


@mistake(
    "beam_search",
    "rank",
    "normalised by length, <sos> counted",
    symptom="Long hypotheses win: the score is divided by the number of tokens and one more.",
    cause="The sum of the log-probabilities is asked for; to divide it is another score, with a "
    "name of its own.",
    section="The length penalty",
    steps={"enough": lambda finished, alive, beam_size: False},
)
def by_mean_with_start(score: float, length: int) -> float:
    return score / (length + 1)


@mistake(
    "beam_search",
    "without_end",
    "<eos> left in the best hypothesis",
    symptom="The answer ends with <eos>.",
    cause="Take it off.",
    section="Beam search",
)
def best_with_end(tokens: list[int]) -> list[int]:
    return tokens


@mistake(
    "beam_search",
    "without_end",
    "last token of the best hypothesis stripped blindly",
    symptom="A hypothesis that was cut off at the limit loses its last word.",
    cause="The last token is not always <eos>: look before you strip.",
    section="Beam search",
)
def best_stripped(tokens: list[int]) -> list[int]:
    return tokens[:-1]


@mistake(
    "embed_next",
    "rows",
    "row of the first new token for all",
    symptom="Several new tokens get one and the same position.",
    cause="There may be more than one new token: table[past : past + tokens.size(1)].",
    section=CACHE,
)
def one_row_for_all(table: Tensor, past: int, new: int) -> Tensor:
    return table[past]


@mistake(
    "embed_next",
    "rows",
    "last rows of the table for the new tokens",
    symptom="The positions depend on how long the table is.",
    cause="Begin at `past`: table[past : past + t], not table[-t:].",
    section=CACHE,
)
def from_the_end(table: Tensor, past: int, new: int) -> Tensor:
    return table[-new:]


@mistake(
    "embed_next",
    "rows",
    "positions of the new tokens forgotten",
    symptom="The new tokens get no position.",
    cause="Add the rows of the table, from `past` on.",
    section=CACHE,
)
def no_rows(table: Tensor, past: int, new: int) -> float:
    return 0.0


@mistake(
    "reorder_cache",
    "key_rows",
    "rows sorted before the cache is taken",
    symptom="The order of the beams is lost.",
    cause="Beam i continues row rows[i]: take the rows as they come, do not sort them.",
    section=BUGS,
    steps={"value_rows": lambda values, rows, layer: values[rows.sort().values]},
)
def rows_sorted(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys[rows.sort().values]


@mistake(
    "reorder_cache",
    "key_rows",
    "each row taken once",
    symptom="A beam that is continued twice is there once.",
    cause="A row may come several times: keys[rows], without unique() or a set.",
    section=BUGS,
    steps={"value_rows": lambda values, rows, layer: values[rows.unique()]},
)
def rows_once(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys[rows.unique()]


@mistake(
    "reorder_cache",
    "pair",
    "keys in the place of values",
    symptom="The second of each pair is the keys again.",
    cause="Reorder the values, and return (keys, values).",
    section=BUGS,
)
def keys_again(keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    return keys, keys


@mistake(
    "reorder_cache",
    "key_rows",
    "cache sorted the other way",
    symptom="Row i has gone to place rows[i]; it should have come from there.",
    cause="Take keys[rows], not keys[rows.argsort()], which goes the other way.",
    section=BUGS,
    steps={"value_rows": lambda values, rows, layer: values[rows.argsort()]},
)
def the_way_back(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys[rows.argsort()]


@mistake(
    "length_normalised",
    "divisor",
    "α to the power of the length",
    symptom="The base and the exponent have changed places.",
    cause="length**alpha, not alpha**length.",
    section="The length penalty",
)
def base_and_exponent(length: int, alpha: float) -> float:
    return alpha**length


@mistake(
    "length_normalised",
    "divisor",
    "one added to the length",
    symptom="The score is divided by (length + 1)^α.",
    cause="The length is given with <eos> counted already: length**alpha.",
    section="The length penalty",
)
def one_longer(length: int, alpha: float) -> float:
    return (length + 1) ** alpha


@mistake(
    "cut_at_end",
    "cut",
    "last word lost where there is no end",
    symptom="A sentence without <eos> loses its last word.",
    cause="−1 for “not found” makes ids[:-1], which leaves the last one out: ask "
    "first whether there is an <eos>.",
    section="A tree of words, by hand",
)
def last_lost(ids: Sequence[int]) -> list[int]:
    return list(ids[: ids.index(EOS)]) if EOS in ids else list(ids[:-1])


@mistake(
    "cut_at_end",
    "cut",
    "nothing left where there is no end",
    symptom="A sentence without <eos> is empty.",
    cause="Without an <eos> all ids are the sentence.",
    section="A tree of words, by hand",
)
def nothing_left(ids: Sequence[int]) -> list[int]:
    return list(ids[: ids.index(EOS)]) if EOS in ids else []


@mistake(
    "cut_at_end",
    "cut",
    "cut at the first padding, too",
    symptom="A padding ends the sentence as <eos> does.",
    cause="Only <eos>, 2, ends it; without one all ids are the sentence.",
    section="A tree of words, by hand",
)
def cut_at_padding(ids: Sequence[int]) -> list[int]:
    return list(itertools.takewhile(lambda i: i not in (0, EOS), ids))


@mistake(
    "cut_at_end",
    "cut",
    "an end at the very beginning not seen",
    symptom="A sentence that begins with <eos> is not cut.",
    cause="`if place:` takes place 0 for none: ask `if EOS in ids`.",
    section="A tree of words, by hand",
)
def end_at_zero(ids: Sequence[int]) -> list[int]:
    place = ids.index(EOS) if EOS in ids else 0
    return list(ids[:place]) if place else list(ids)


@mistake(
    "cut_at_end",
    "cut",
    "only <eos> removed",
    symptom="What stands behind the end stays, but for the ends themselves.",
    cause="Cut at the first <eos>; what comes after it is not part of the sentence.",
    section="A tree of words, by hand",
)
def ends_removed(ids: Sequence[int]) -> list[int]:
    return [i for i in ids if i != EOS]


@mistake(
    "cut_at_end",
    "cut",
    "end looked for at the last place only",
    symptom="An <eos> with padding behind it is not found.",
    cause="Look for the first <eos> anywhere, and cut there.",
    section="A tree of words, by hand",
)
def end_at_last_place(ids: Sequence[int]) -> list[int]:
    return list(ids[:-1]) if ids and ids[-1] == EOS else list(ids)


# --- harmless ------------------------------------------------------------------------------------


@mistake(
    "next_token",
    "choose",
    "softmax before argmax",
    symptom="Nothing changes: the largest logit has the largest probability.",
    cause="The softmax keeps the order; it is computed for nothing.",
    section="A tree of words, by hand",
    kind="harmless",
)
def likeliest(last: Tensor) -> Tensor:
    return last.softmax(dim=-1).argmax(dim=-1)


@mistake(
    "beam_search",
    "enough",
    "searching on to the end",
    symptom="Nothing changes but the time it takes.",
    cause="Scores only fall as a hypothesis grows, so nothing better turns up. (With a length "
    "penalty it may.)",
    section="When may it stop?",
    kind="harmless",
)
def to_the_end(finished: Hypotheses, alive: Hypotheses, beam_size: int) -> bool:
    return False


@mistake(
    "beam_search",
    "keep",
    "beam filled up with living hypotheses",
    symptom="Nothing changes but the work: more is searched than is asked for.",
    cause="What is kept beyond the best beam_size scores less than a hypothesis that has just "
    "ended, and scores only fall. (With a length penalty it may win.)",
    section="When may it stop?",
    kind="harmless",
)
def filled_up(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    living = [h for h in grown if h[0][-1] != EOS][:width]
    worst = living[-1][1] if living else -math.inf
    return [h for h in grown if h[0][-1] == EOS and h[1] >= worst] + living


@mistake(
    "greedy_batch",
    "stop",
    "a batch that runs on to the limit",
    symptom="Nothing changes but the time it takes, and columns of padding at the end.",
    cause="Leave the loop when all rows are done.",
    section=MANY,
    kind="harmless",
)
def never_done(done: Tensor) -> bool:
    return False
