// From a trained model to sentences: greedy search, beam search (chapter 17).
//
// As in Python, but for one sentence. A search is a generator: each step is handed out as it is
// made, so that a page can show it and can stop in between. `<pad>` and `<sos>` are never produced:
// their logits become −∞ before the softmax.

import { Cached, Uncached } from "./decoder_cache.js";

export const [PAD, SOS, EOS] = [0, 1, 2];

/**
 * One target that a search has found: {tokens, log_probabilities, score, finished, candidates}.
 *
 * tokens are the ids after `<sos>`; score is what beam search ranks by, for greedy search the sum;
 * candidates are the most probable tokens of each step, best first, as pairs of id and probability.
 */
function hypothesis({ tokens, log_probabilities, candidates }, length_penalty = 0) {
  const total = log_probabilities.reduce((sum, value) => sum + value, 0);
  const score = total / length_divisor(tokens.length, length_penalty);
  return { tokens, log_probabilities, score, finished: tokens.at(-1) === EOS, candidates };
}

// --- what all searches share ---------------------------------------------------------------------

/** log softmax of one row of logits, the banned at −∞. */
export function log_softmax(logits, never) {
  const log_p = Float32Array.from(logits);
  for (const token of never) log_p[token] = -Infinity;
  let largest = -Infinity;
  let total = 0;
  for (let v = 0; v < log_p.length; v += 1) largest = Math.max(largest, log_p[v]);
  for (let v = 0; v < log_p.length; v += 1) total += Math.exp(log_p[v] - largest);
  const shift = largest + Math.log(total);
  if (!Number.isFinite(shift)) throw new Error("The model's logits are not finite.");
  for (let v = 0; v < log_p.length; v += 1) log_p[v] -= shift;
  return log_p;
}

/** The places of the k largest values, the largest first; of equal ones the first. */
export function topk(values, k) {
  const best = [];
  if (k === 0) return best;
  let least = -Infinity; // of the k best
  for (let i = 0; i < values.length; i += 1) {
    if (best.length === k && !(values[i] > least)) continue;
    let place = best.length;
    while (place > 0 && values[i] > values[best[place - 1]]) place -= 1;
    best.splice(place, 0, i);
    best.length = Math.min(best.length, k);
    least = values[best.at(-1)];
  }
  return best;
}

/** A source that is being decoded: what may follow each row, and what each row has chosen. */
class Search {
  constructor(model, source, { max_length = null, cached = true, n_candidates = 0, ban = [] }) {
    const longest = model.config.max_length - 1;
    if (max_length !== null && !(max_length >= 1 && max_length <= longest)) {
      throw new Error(`max_length is ${max_length}, but after <sos> this model has room for ${longest} tokens.`);
    }
    this.limit = max_length ?? Math.min(source.length + 50, longest);
    this.never = [...new Set([PAD, SOS, ...ban])];
    this.n_candidates = Math.min(n_candidates, model.config.target_vocab_size - this.never.length);
    this.decoder = new (cached && model.config.causal ? Cached : Uncached)(model, source);
    this.records = [{ tokens: [], log_probabilities: [], candidates: [] }];
  }

  /** Feed the newest token of each row: how probable is each token after it? N rows of V. */
  log_probabilities(tokens) {
    const logits = this.decoder.step(tokens); // (N, V)
    const V = logits.size(-1);
    return tokens.map((_, n) => log_softmax(logits.data.subarray(n * V, (n + 1) * V), this.never));
  }

  /** What row `row` has recorded, and the token that it chooses now. */
  recorded(log_p, row, token) {
    const before = this.records[row];
    const best = topk(log_p[row], this.n_candidates).map((id) => [id, Math.exp(log_p[row][id])]);
    return {
      tokens: [...before.tokens, token],
      log_probabilities: [...before.log_probabilities, log_p[row][token]],
      candidates: [...before.candidates, best],
    };
  }
}

// --- one path for each sentence ------------------------------------------------------------------

/**
 * Take the most probable token, feed it back, until `<eos>`. Hands out the hypothesis so far after
 * each step and returns the whole one.
 *
 * source: ids without padding. max_length: longest target, `<eos>` included; null: 50 more than the
 * source, or what the model has room for. cached: false computes everything anew at every step.
 * n_candidates: how many of the most probable tokens to record. ban: ids that are never produced.
 * forced: the first tokens, given instead of chosen.
 */
export function* greedy_search(model, source, options = {}) {
  const search = new Search(model, source, options);
  const forced = options.forced ?? [];
  let token = SOS;
  for (let length = 1; ; length += 1) {
    const log_p = search.log_probabilities([token]); // (1, V)
    token = forced[length - 1] ?? topk(log_p[0], 1)[0];
    search.records = [search.recorded(log_p, 0, token)];
    const found = hypothesis(search.records[0]);
    if (token === EOS || length === search.limit) return found;
    yield found;
  }
}

// --- several paths for each sentence -------------------------------------------------------------

/** What beam search divides a sum of log-probabilities by: ((5 + |y|) / 6)^α (Wu et al., 2016). */
export const length_divisor = (length, length_penalty) => ((5 + length) / 6) ** length_penalty;

/**
 * Follow the W most probable beginnings of a sentence instead of one.
 *
 *     score(y) = Σ_t log p(y_t | y_{<t}, x) / ((5 + |y|) / 6)^α
 *
 * 1. Of the W best continuations, those that end in `<eos>` are finished and set aside.
 * 2. The W best that do not end are the next beams: what is finished takes no place from them.
 * 3. The search is done when all W best have ended; or at `max_length`; or when `n_best` finished
 *    hypotheses have scores that no beam can exceed any more: a beam with the sum s ends with a
 *    score of at most s divided by the penalty of the longest target.
 *
 * Hands out {beams, finished} after each step; returns the n_best best hypotheses, best first.
 * Options besides those of `greedy_search`: length_penalty α, n_best.
 *
 * Source: Sutskever et al. (2014), section 3.2; the score: Wu et al. (2016), section 7.
 */
export function* beam_search(model, source, beam_size, options = {}) {
  const { length_penalty = 0.6, n_best = 1 } = options;
  if (!(beam_size >= 1 && n_best >= 1 && n_best <= beam_size)) {
    throw new Error(`beam_size is ${beam_size} and n_best ${n_best}: choose at least 1, and n_best no larger.`);
  }
  const search = new Search(model, source, options);
  let [tokens, sums, found] = [[SOS], [0], []];
  for (let length = 1; ; length += 1) {
    const log_p = search.log_probabilities(tokens); // (W, V)
    const V = log_p[0].length;

    // At most W of the continuations end, one of each beam: the 2 W best hold W that do not.
    const totals = new Float32Array(log_p.length * V); // (W V)
    for (let i = 0; i < totals.length; i += 1) totals[i] = sums[Math.floor(i / V)] + log_p[Math.floor(i / V)][i % V];
    const best = topk(totals, Math.min(2 * beam_size, totals.length)).map((place) => {
      const [beam, token] = [Math.floor(place / V), place % V];
      return { beam, token, sum: totals[place], record: search.recorded(log_p, beam, token) };
    });

    // 1. Of the W best, those that end are finished. (The impossible ones do not count.)
    const leading = best.slice(0, beam_size);
    for (const { token, sum, record } of leading) {
      if (token === EOS && sum > -Infinity) found.push(hypothesis(record, length_penalty));
    }

    // 2. The W best that do not end go on.
    const beams = best.filter(({ token, sum }) => token !== EOS && sum > -Infinity).slice(0, beam_size);

    // 3. Is the sentence done?
    const going = leading.some(({ token, sum }) => token !== EOS && sum > -Infinity);
    const hope = going ? beams[0].sum : -Infinity;
    found = found.sort((a, b) => b.score - a.score).slice(0, n_best);
    const attainable = hope / length_divisor(search.limit, length_penalty);
    const enough = found.length === n_best && found.at(-1).score >= attainable;
    if (enough || !going || length >= search.limit) {
      const left = beams.slice(0, n_best - found.length);
      return [...found, ...left.map(({ record }) => hypothesis(record, length_penalty))];
    }
    search.records = beams.map(({ record }) => record);
    search.decoder.select(beams.map(({ beam }) => beam));
    [tokens, sums] = [beams.map(({ token }) => token), beams.map(({ sum }) => sum)];
    yield { beams, finished: found };
  }
}

/** Run a search to its end: what it returns. */
export function finished(search) {
  for (;;) {
    const { value, done } = search.next();
    if (done) return value;
  }
}
