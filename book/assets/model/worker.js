// The model in a worker: the page stays quick while it computes.
//
// The page posts {id, task, …}; the worker answers with {id, …, state}: "progress" and "step" on the
// way, then one of "done" and "failed" (with a sentence). A task that comes later ends the one that
// runs, and "cancel" ends it, too: then it answers "cancelled".

import { KINDS, compiled, name_of } from "./interventions.js";
import { Translator, languages_of } from "./translator.js";

const HERE = new URL(".", import.meta.url);
const CANDIDATES = 6; // the token that is said, and five runners-up
let translator = null;
let distrust = false; // of the browser's copies
let current = null; // {id, controller} of the task that runs

/** Let messages in that have come while this task computed. (A timer would wait for 4 ms.) */
const { port1, port2 } = new MessageChannel();
const pause = () =>
  new Promise((resume) => {
    port1.onmessage = resume;
    port2.postMessage(null);
  });

class Cancelled extends Error {}

/**
 * A file of the site; `count` is called with the bytes that come in.
 *
 * Each version of a file has an address of its own, so that the browser's copy is never stale. But
 * after a copy that could not be read, the site is asked again.
 */
async function file(path, { signal, count = () => {} }) {
  const response = await fetch(new URL(path, HERE), { cache: distrust ? "reload" : "force-cache", signal });
  if (!response.ok) throw new Error(`The site has no ${path.split("?")[0]} (status ${response.status}).`);
  const reader = response.body.getReader();
  const parts = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    count(value.length);
  }
  return new Blob(parts).arrayBuffer();
}

const json = (buffer) => JSON.parse(new TextDecoder().decode(buffer));

/** Everything that a model needs: {name, version, files: {path: bytes}}. */
async function load({ model, rules }, { signal, say }) {
  let loaded = 0;
  const total = Object.values(model.files).reduce((sum, bytes) => sum + bytes, 0);
  const count = (bytes) => {
    loaded += bytes;
    say({ state: "progress", loaded, total });
  };
  const get = (name) => file(`pretrained/${model.name}/${name}?${model.version}`, { signal, count });
  const rule = async (name) => json(await file(`rules/${name}.json?${rules}`, { signal }));
  const [config, source_vocabulary, target_vocabulary, weights] = await Promise.all(Object.keys(model.files).map(get));
  distrust = true;
  const read = json(config);
  const languages = languages_of(read);
  const [unicode, ...spacy] = await Promise.all(["unicode", ...languages.map((each) => `spacy-${each}`)].map(rule));
  translator = new Translator(
    { config: read, source_vocabulary: json(source_vocabulary), target_vocabulary: json(target_vocabulary), weights },
    { unicode, spacy: Object.fromEntries(languages.map((each, i) => [each, spacy[i]])) },
  );
  distrust = false; // all could be read
  return { config: read.model, decoding: read.decoding };
}

/** Run a search step by step, hand out each, and stop when the task is cancelled. */
async function searched(search, { signal, step = () => {} }) {
  for (;;) {
    const { value, done } = search.next();
    if (done) return value;
    step(value);
    await pause();
    if (signal.aborted) throw new Cancelled();
  }
}

/** All attention of a model that reads `source` and has said `tokens`: weights and scores. */
function attention_of(source, tokens, hooks) {
  const seen = {};
  const record = (value, { name, stage }) => {
    // A copy: the model goes on to make weights of the scores in their place.
    if (stage === "weights" || stage === "scores") seen[`${name}.${stage}`] = { shape: value.shape, data: value.data.slice() };
  };
  translator.hooks.hooks = [...hooks, record];
  translator.model.forward([source], [[1, ...tokens.slice(0, -1)]]);
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

/**
 * Translate greedily, token by token, then as the model is shipped to search.
 *
 * `forced` are the first tokens, chosen by the reader: then only the first of the two is done.
 */
async function translate({ text, changes = [], forced = [] }, { signal, say }) {
  if (!translator) throw new Error("No model is loaded yet.");
  const { hooks, cached } = compiled(changes, translator.model.config);
  translator.hooks.hooks = hooks;
  const encoded = translator.encode(text);
  const as_text = (hypothesis) => translator.translation(hypothesis, encoded);
  const { max_length } = translator.decoding;
  const options = { cached, max_length, n_candidates: CANDIDATES };
  const began = performance.now();
  let first = null;
  const step = (found) => {
    first ??= performance.now() - began;
    say({ state: "step", translation: as_text(found) });
  };
  const greedy = await searched(translator.search(encoded, { ...options, forced, beam_size: 1 }), { signal, step });
  const seconds = (performance.now() - began) / 1000;
  const attention = attention_of(encoded.ids, greedy.tokens, hooks);
  say({ state: "step", translation: as_text(greedy), attention });
  let shipped = null;
  if (!forced.length && translator.decoding.beam_size > 1) {
    translator.hooks.hooks = hooks;
    shipped = await searched(translator.search(encoded, { cached }), { signal });
  }
  return {
    translation: as_text(greedy),
    attention,
    shipped: shipped && as_text(shipped),
    first: first ?? 1000 * seconds,
    rate: greedy.tokens.length / seconds,
  };
}

const TASKS = { load, translate };

self.addEventListener("message", async ({ data: { id, task, ...asked } }) => {
  current?.controller.abort();
  if (task === "cancel") return;
  const controller = new AbortController();
  current = { id, controller };
  const say = (answer) => controller.signal.aborted || self.postMessage({ id, ...answer });
  try {
    const result = await TASKS[task](asked, { signal: controller.signal, say });
    say({ state: "done", ...result });
  } catch (error) {
    const cancelled = controller.signal.aborted || error instanceof Cancelled;
    self.postMessage({ id, state: cancelled ? "cancelled" : "failed", message: error.message });
  }
});
