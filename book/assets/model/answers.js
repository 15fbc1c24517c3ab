// What a page may ask a model, and the answers; the worker passes them on.
//
// In a notebook Python gives the same answers to the same questions: transformer_book.widgets.talk.
// Each task is a function (translator, question, {say, rest}): `say` hands out a step on the way,
// `rest` lets other messages in and throws if the task has been cancelled.

import { SOS } from "./decoding.js";
import { needed } from "./failures.js";
import { KINDS, compiled, name_of } from "./interventions.js";

const CANDIDATES = 6; // the token that is said, and five runners-up
const LONGEST = 40; // target of a recorded search
const BEAMS = 4; // of a recorded search; more where the model is shipped with more
const CHECKED = 16; // candidates of a search that checks them

/** Run a search step by step, hand out each, and rest after it. */
async function searched(search, { step = () => {}, rest }) {
  for (;;) {
    const { value, done } = search.next();
    if (done) return value;
    step(value);
    await rest();
  }
}

/** While `act` runs, these hooks see all stages of the model, in the place of others. */
function hooked(translator, hooks, act) {
  const before = translator.hooks.hooks;
  translator.hooks.hooks = hooks;
  try {
    return act();
  } finally {
    translator.hooks.hooks = before;
  }
}

/** All attention of a model that reads `source` and has said `tokens`: weights and scores. */
function attention_of(translator, source, tokens, hooks) {
  const seen = {};
  const record = (value, { name, stage }) => {
    // A copy: the model goes on to turn the scores into weights in place.
    if (stage === "weights" || stage === "scores") seen[`${name}.${stage}`] = { shape: value.shape, data: value.data.slice() };
  };
  hooked(translator, [...hooks, record], () => translator.model.forward([source], [[SOS, ...tokens.slice(0, -1)]]));
  const { config } = translator.model;
  return Object.fromEntries(
    Object.entries(KINDS).map(([kind, { stack }]) => [
      kind,
      Array.from({ length: config[`n_${stack}_layers`] }, (_, layer) => {
        const [weights, scores] = ["weights", "scores"].map((stage) => seen[`${name_of(kind, layer)}.${stage}`]);
        const [, H, T, S] = weights.shape;
        return { H, T, S, weights: weights.data, scores: scores.data };
      }),
    ]),
  );
}

/** Throws an Error, one sentence, for tokens that this model cannot say. */
function check_forced(forced, { target_vocab_size, max_length }) {
  if (forced.length >= max_length) {
    throw new Error(`${forced.length} tokens are forced, but the model writes at most ${max_length - 1}: force fewer.`);
  }
  for (const id of forced) {
    if (!Number.isInteger(id) || id <= SOS || id >= target_vocab_size) {
      throw new Error(`The model cannot say the token ${id}: force one from ${SOS + 1} to ${target_vocab_size - 1}.`);
    }
  }
}

/**
 * Translate greedily, token by token, then as the model is shipped to search.
 *
 * `forced` are the first tokens, chosen by the reader: then only the first of the two is done.
 */
async function translate(translator, { text, changes = [], forced = [] }, { say, rest }) {
  const { hooks, cached } = compiled(changes, translator.model.config);
  const encoded = translator.encode(text);
  check_forced(forced, translator.model.config);
  const respelled = translator.respelled(text, encoded.rare);
  const as_text = (hypothesis) => ({ ...translator.translation(hypothesis, encoded), respelled });
  const { max_length } = translator.decoding;
  const options = { cached, max_length, n_candidates: CANDIDATES };
  const began = performance.now();
  let first = null;
  const step = (found) => {
    first ??= performance.now() - began;
    say({ translation: as_text(found) });
  };
  translator.hooks.hooks = hooks;
  const greedy = await searched(translator.search(encoded, { ...options, forced, beam_size: 1 }), { rest, step });
  const seconds = (performance.now() - began) / 1000;
  const attention = attention_of(translator, encoded.ids, greedy.tokens, hooks);
  say({ translation: as_text(greedy), attention });
  let shipped = null;
  if (!forced.length && translator.decoding.beam_size > 1) {
    translator.hooks.hooks = hooks;
    shipped = await searched(translator.search(encoded, { cached }), { rest });
  }
  const translation = as_text(greedy);
  shipped &&= as_text(shipped);
  return {
    translation,
    attention,
    shipped,
    right: encoded.right,
    checked: translator.checked(text, (shipped ?? translation).text),
    first: first ?? 1000 * seconds,
    rate: greedy.tokens.length / seconds,
  };
}

/** A recorded search: {name, max_length, beams, nodes}, as the beam explorer takes it; and rare words. */
async function beam(translator, { text, changes = [] }, { say, rest }) {
  const { hooks, cached } = compiled(changes, translator.model.config);
  const { ids, rare } = translator.encode(text);
  const limit = translator.decoding.max_length ?? Math.min(ids.length + 50, translator.model.config.max_length - 1);
  const max_length = Math.min(limit, LONGEST);
  const beams = Math.max(BEAMS, translator.decoding.beam_size);
  const { recorded_search } = await needed(import("./recorded.js"));
  translator.hooks.hooks = hooks;
  const step = (beginnings) => say({ beginnings });
  const nodes = await searched(recorded_search(translator.model, ids, { max_length, cached, beams }), { rest, step });
  const names = translator.target_vocabulary.tokens;
  return { search: { name: text, max_length, beams, nodes: nodes.map(([parent, id, log_p]) => [parent, names[id], log_p]) }, rare };
}

/** Of the candidates of a beam the first that passes the check, or null: as `verified_search` in Python. */
async function verified(translator, { text, changes = [] }, { rest }) {
  const { hooks, cached } = compiled(changes, translator.model.config);
  const encoded = translator.encode(text);
  if (encoded.right === null) throw new Error("Only the answers of a model of series can be checked.");
  translator.hooks.hooks = hooks;
  const made = [await searched(translator.search(encoded, { cached, beam_size: 1 }), { rest })];
  const passes = (answer) => translator.checked(text, answer).startsWith("agrees");
  const texts = () => [...new Set(made.map((each) => translator.translation(each, encoded).text))];
  if (!passes(texts()[0])) {
    const beam = translator.search(encoded, { cached, beam_size: CHECKED, n_best: CHECKED });
    made.push(...(await searched(beam, { rest })).slice(0, CHECKED - 1));
  }
  const place = texts().findIndex(passes);
  return {
    found: texts()[place] ?? null,
    candidates: made.length,
    tokens: made.reduce((sum, { tokens }) => sum + tokens.length, 0),
    checks: place < 0 ? texts().length : place + 1,
  };
}

const SHOWN = ["stream", "query", "key", "value", "scores", "weights", "heads", "hidden", "change", "sum"];

/**
 * What goes in and out of each step of one layer for one token: [{module, stage, shape, data}, …].
 *
 * `tokens` are the ids that were said; `position` counts what this stack reads, from 0. The
 * token's vector and its position's come first, the final norm after the last layer.
 */
async function steps(translator, { text, tokens, stack, layer, position, changes = [] }) {
  const { hooks } = compiled(changes, translator.model.config);
  const { ids } = translator.encode(text);
  const { model } = translator;
  const read = stack === "encoder" ? ids : [SOS, ...tokens.slice(0, -1)];
  const n_layers = model.config[`n_${stack}_layers`];
  if (!(layer in Array.from({ length: n_layers })) || !(position in read)) {
    throw new Error(`There is no position ${position} in layer ${layer} of the ${stack}.`);
  }
  const side = stack === "encoder" ? "source" : "target";
  const own = `${stack}.layers.${layer}.`;
  const found = [];
  const record = (value, { name, stage }) => {
    const inLayer = name.startsWith(own) && (SHOWN.includes(stage) || name.endsWith(".norm"));
    const before = [`${side}_embedding.output`, `${side}_positions.rows`].includes(`${name}.${stage}`);
    const after = name === `${stack}.norm` && layer === n_layers - 1;
    if (!inLayer && !before && !after) return;
    found.push({ module: name, stage, ...row(value, stage, position) });
  };
  hooked(translator, [...hooks, record], () => model.forward([ids], [[SOS, ...tokens.slice(0, -1)]]));
  return { steps: found };
}

/** Of a tensor what belongs to one position: (1, T, D) → (D), (1, H, T, K) → (H, K), keys whole. */
function row({ data, shape }, stage, position) {
  if (stage === "key" || stage === "value") return { shape: shape.slice(1), data: data.slice() };
  const [T, width] = shape.slice(-2);
  const blocks = data.length / (T * width);
  const rows = Array.from({ length: blocks }, (_, b) => data.subarray((b * T + position) * width, (b * T + position + 1) * width));
  return { shape: shape.length === 4 ? [blocks, width] : [width], data: Float32Array.from(rows.flatMap((each) => [...each])) };
}

/** A translation, and the queries and keys of one kind of attention, as the neuron view takes them. */
async function vectors(translator, { text, kind, changes = [] }, { rest }) {
  const { hooks, cached } = compiled(changes, translator.model.config);
  const encoded = translator.encode(text);
  translator.hooks.hooks = hooks;
  const found = await searched(translator.search(encoded, { beam_size: 1, cached }), { rest });
  const seen = { query: [], key: [] };
  const modules = Array.from({ length: translator.model.config[`n_${KINDS[kind].stack}_layers`] }, (_, layer) => name_of(kind, layer));
  const record = (value, { name, stage }) => {
    if (!Object.hasOwn(seen, stage) || !modules.includes(name)) return;
    const { data, shape: [, H, T, K] } = value;
    const numbers = (h, t) => Array.from(data.subarray((h * T + t) * K, (h * T + t + 1) * K), (x) => Number(x.toFixed(4)));
    seen[stage].push(Array.from({ length: H }, (_, h) => Array.from({ length: T }, (_, t) => numbers(h, t))));
  };
  const read = [SOS, ...found.tokens.slice(0, -1)];
  hooked(translator, [...hooks, record], () => translator.model.forward([encoded.ids], [read]));
  return { q: seen.query, k: seen.key, translation: translator.translation(found, encoded) };
}

/** The rows of the source embedding for the known words of a text, `yours`, and for others. */
async function words(translator, { text, words: others }) {
  const { weight } = translator.model.source_embedding; // (V, D)
  const D = weight.size(-1);
  const { tokens, unknown, rare } = translator.encode(text);
  const yours = [...new Set(tokens)].filter((token) => !unknown.includes(token));
  if (!yours.length) throw new Error("The model knows none of these words.");
  const ids = new Map(translator.source_vocabulary.tokens.map((token, id) => [token, id]));
  const known = [...new Set([...yours, ...others])].filter((word) => ids.has(word));
  const rows = known.map((word) => weight.data.slice(ids.get(word) * D, (ids.get(word) + 1) * D));
  return { words: known, rows, yours, rare };
}

export const TASKS = { translate, beam, verified, steps, vectors, words };

/** What is answered at once, in between: a longer task goes on afterwards. */
export const QUICK = ["steps", "words"];
