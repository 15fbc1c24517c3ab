// The model in a worker: the page stays quick while it computes.
//
// The page posts {id, task, …}; the worker answers with {id, …, state}: "progress" and "step" on the
// way, then one of "done" and "failed" (with a sentence). A later task ends the one that is
// running, unless the later one is quick, and so does "cancel": the ended one answers "cancelled".

import { needed, sentence_of, unreachable } from "./failures.js";
import { QUICK, TASKS } from "./answers.js";
import { Translator, is_of_series, languages_of } from "./translator.js";

const HERE = new URL(".", import.meta.url);
let translator = null;
let distrust = false; // of the browser's copies
let current = null; // the controller of the task that runs

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
  const away = (error) => {
    throw signal.aborted ? error : new Error(unreachable);
  };
  const response = await fetch(new URL(path, HERE), { cache: distrust ? "reload" : "force-cache", signal }).catch(away);
  if (!response.ok) {
    throw new Error(
      `The site has no ${path.split("?")[0]} (status ${response.status}): reload the page, or choose another model.`,
    );
  }
  const reader = response.body.getReader();
  const parts = [];
  for (;;) {
    const { done, value } = await reader.read().catch(away);
    if (done) break;
    parts.push(value);
    count(value.length);
  }
  return new Blob(parts).arrayBuffer();
}

function json(buffer, name) {
  try {
    return JSON.parse(new TextDecoder().decode(buffer));
  } catch {
    throw new Error(`The file ${name} is damaged: it is no JSON. Load the model again.`);
  }
}

/** Everything that a model needs: {name, version, files: {path: bytes}}; `own`: a reader's own files. */
async function load({ model, rules }, { signal, say }) {
  let loaded = 0;
  const total = Object.values(model.files).reduce((sum, bytes) => sum + bytes, 0);
  const count = (bytes) => {
    loaded += bytes;
    say({ state: "progress", loaded, total });
  };
  const get = (name) => model.own?.[name] ?? file(`pretrained/${model.name}/${name}?${model.version}`, { signal, count });
  const rule = async (name) => json(await file(`rules/${name}.json?${rules}`, { signal }), `${name}.json`);
  const names = Object.keys(model.files);
  const bytes = await Promise.all(names.map(get));
  const weights = bytes[names.indexOf("model.safetensors")];
  distrust = true;
  const files = Object.fromEntries(names.flatMap((name, i) => (name.endsWith(".json") ? [[name.slice(0, -5), json(bytes[i], name)]] : [])));
  const made = async () => {
    const languages = languages_of(files.config);
    const [unicode, ...spacy] = await Promise.all(["unicode", ...languages.map((each) => `spacy-${each}`)].map(rule));
    const series = is_of_series(files.config) ? await needed(import("./series.js")) : null;
    return new Translator({ ...files, weights }, { unicode, series, spacy: Object.fromEntries(languages.map((each, i) => [each, spacy[i]])) });
  };
  translator = await made().catch((error) => {
    // Files that can be read, but hold something else, end in any error of the code.
    const why = error.constructor === Error ? error.message : "The files of the model are damaged.";
    throw new Error(why.includes("again") ? why : why.replace(/\.$/, "; load the model again."));
  });
  distrust = false; // all could be read
  return {};
}

/** Do one task and post its answers; `signal` says that it has been cancelled. */
async function answer({ id, task, ...asked }, { signal }) {
  const say = (each) => signal.aborted || self.postMessage({ id, state: "step", ...each });
  const rest = async () => {
    await pause();
    if (signal.aborted) throw new Cancelled();
  };
  try {
    if (task === "load") {
      say({ state: "done", ...(await load(asked, { signal, say })) });
      return;
    }
    if (!translator) {
      const message = "The model is not there, or has stopped: load it again.";
      self.postMessage({ id, state: "failed", message, lost: true });
      return;
    }
    say({ state: "done", ...(await TASKS[task](translator, asked, { say, rest })) });
  } catch (error) {
    const cancelled = signal.aborted || error instanceof Cancelled;
    self.postMessage({ id, state: cancelled ? "cancelled" : "failed", message: cancelled ? "" : sentence_of(error) });
  }
}

self.addEventListener("message", ({ data }) => {
  if (QUICK.includes(data.task)) {
    answer(data, new AbortController());
    return;
  }
  current?.abort();
  current = new AbortController();
  if (data.task !== "cancel") answer(data, current);
});
