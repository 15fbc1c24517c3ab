// A sentence of the reader's in the explorers of the chapters: the model computes what they show.

import { WorkerClient } from "./client.js";
import { seldom_met } from "./widgets/asking.js";
import { button, dot, html, sum, uniqueId, upTo } from "./widgets/shared.js";
import { standalone } from "./widgets/standalone.js";

// --- what each explorer shows --------------------------------------------------------------------

/** Numbers (H, T, S), one after the other, as nested lists with three digits. */
const nested = ({ H, T, S, weights }) =>
  upTo(H).map((h) => upTo(T).map((t) => upTo(S).map((s) => Number(weights[(h * T + t) * S + s].toFixed(3)))));

/** The names of the tokens that the encoder and the decoder read. */
const read_of = ({ source_tokens, pieces, tokens }) => ({
  source: source_tokens.map((name, i) => pieces[i] ?? name),
  target: ["<sos>", ...tokens.slice(0, -1)],
});

const centred = (rows) => {
  const mean = rows[0].map((_, d) => sum(rows.map((row) => row[d])) / rows.length);
  return rows.map((row) => row.map((x, d) => x - mean[d]));
};

/** The two directions in which rows vary most, and the share of the variance that they have. */
function plane_of(rows) {
  const shifted = centred(rows);
  const total = sum(shifted.map((row) => dot(row, row)));
  let rest = shifted;
  const axes = [0, 1].map(() => {
    let axis = rest.reduce((a, b) => (dot(a, a) >= dot(b, b) ? a : b));
    for (let round = 0; round < 100; round += 1) {
      const along = rest.map((row) => dot(row, axis));
      const next = axis.map((_, d) => sum(rest.map((row, i) => along[i] * row[d])));
      const length = Math.sqrt(dot(next, next)) || 1;
      axis = next.map((x) => x / length);
    }
    rest = rest.map((row) => {
      const along = dot(row, axis);
      return row.map((x, d) => x - along * axis[d]);
    });
    return axis;
  });
  const places = shifted.map((row) => axes.map((axis) => dot(row, axis)));
  return { places, share: Math.min(1, sum(places.map((place) => dot(place, place))) / (total || 1)) };
}

/**
 * For each explorer: its module, and from the reader's text to what it shows, or a sentence: its
 * traits, what it begins with, and the words of the text that training seldom or never met.
 */
const EXPLORERS = {
  HeadExplorer: {
    module: "heads.js",
    async show(ask, text, state) {
      const { translation, attention } = await ask("translate", { text });
      // The kinds of attention that the chapter shows, too.
      const kinds = ["encoder", "decoder", "cross"].filter((kind) => state[kind].length);
      const maps = Object.fromEntries(
        ["encoder", "decoder", "cross"].map((kind) => [kind, kinds.includes(kind) ? attention[kind].map(nested) : []]),
      );
      const start = { kind: kinds.includes(state.kind) ? state.kind : kinds[0], layer: 0, head: 0, side: "query", token: -1, threshold: 0.05 };
      return [{ ...read_of(translation), ...maps }, start, translation.rare];
    },
  },
  NeuronView: {
    module: "neuron.js",
    async show(ask, text, state) {
      const { q, k, translation } = await ask("vectors", { text, kind: "cross" });
      const { source, target } = read_of(translation);
      const traits = { q, k, query_tokens: target, key_tokens: source, mask: [], scale: state.scale };
      const start = { layer: 0, head: 0, query: 0, key: 0, order: "advantage", kept: 4, turned: false };
      return [traits, start, translation.rare];
    },
  },
  BeamExplorer: {
    module: "beam.js",
    async show(ask, text, state) {
      const { search, rare } = await ask("beam", { text });
      const start = { example: 0, beam_size: state.beam_size, length_penalty: state.length_penalty, step: 1 };
      return [{ searches: [search, ...state.searches] }, start, rare];
    },
  },
  EmbeddingMap: {
    module: "embeddings.js",
    async show(ask, text, state) {
      const { words, rows: found, yours, rare } = await ask("words", { text, words: state.words });
      const rows = found.map((row) => Array.from(row));
      const unit = rows.map((row) => row.map((x) => x / Math.sqrt(dot(row, row))));
      const { places, share } = plane_of(rows);
      const table = Object.keys(state.cosines)[0];
      const traits = {
        words,
        cosines: { [table]: unit.map((row, i) => unit.slice(0, i).map((other) => dot(row, other))) },
        places: { [table]: places },
        shares: { [table]: share },
        groups: { "your sentence": words.map((word) => (yours.includes(word) ? "yours" : "of the chapter")) },
        width: rows[0].length,
      };
      const start = { table, grouping: "your sentence", word: words.indexOf(yours[0]), near: Math.min(5, words.length - 1) };
      return [traits, start, rare];
    },
  },
};

// --- the line below the explorer -----------------------------------------------------------------

document.head.append(html("link", { rel: "stylesheet", href: new URL("sentence.css", import.meta.url).href }));
const client = new WorkerClient();
const loading = new Map(); // name of a model → the promise of its answer

/** What the worker answers; a failure is an Error with its sentence. */
async function asked(task, question, step) {
  const answer = await client.ask(task, question, step);
  if (answer.state === "done") return answer;
  throw new Error(answer.state === "cancelled" ? "Stopped." : answer.message);
}

/** The model of this name, loaded once however many explorers ask for it. */
function load({ model, rules }, step) {
  if (!loading.has(model.name)) {
    const answer = asked("load", { model, rules }, step);
    loading.set(model.name, answer);
    answer.catch(() => loading.delete(model.name));
  }
  return loading.get(model.name);
}

/** What the page holds of an explorer: the traits with which the chapter shows it. */
function saved(name) {
  const script = document.querySelector(`.explorer-place[data-name="${name}"] > script`);
  if (!script) throw new Error(`This page holds no ${name}.`);
  return JSON.parse(script.textContent);
}

/** Load the model and put an input line in the place of the button. */
export async function open({ root, place, about }) {
  const name = root.dataset.explorer;
  const status = html("p", { class: "note", role: "status" });
  const progress = html("progress", { max: 1, value: 0, "aria-label": "loading" });
  const offered = [...place.childNodes];
  place.replaceChildren(status, progress);
  status.textContent = "Loading the model.";
  try {
    await load(about, ({ loaded, total }) => (progress.value = loaded / total));
  } catch (error) {
    place.replaceChildren(...offered, status);
    status.textContent = error.message;
    place.querySelector("button").disabled = false;
    return;
  }
  const { module, show } = EXPLORERS[name];
  const { default: explorer } = await import(new URL(`widgets/${module}`, import.meta.url));
  const state = saved(name);
  const id = uniqueId();
  const input = html("input", { type: "text", id, value: about.model.examples[0], lang: about.model.source, autocomplete: "off", spellcheck: "false" });
  let shown = null;
  let turn = 0;
  const back = () => {
    turn += 1;
    shown?.remove();
    shown = null;
    root.hidden = false;
    status.textContent = "The chapter's sentence.";
    again.hidden = true;
  };
  const act = async () => {
    const now = (turn += 1);
    status.textContent = "Computing.";
    try {
      const text = input.value;
      const [traits, start, rare] = await show(asked, text, state);
      if (now !== turn) return;
      shown?.remove();
      shown = standalone(explorer, traits, start);
      root.hidden = true;
      root.after(shown);
      again.hidden = false;
      status.textContent = `Shown: ${text.trim()} ${seldom_met(rare)}`.trim();
    } catch (error) {
      if (now === turn) status.textContent = error.message;
    }
  };
  const go = button("Show it", act);
  const again = button("Back to the chapter's sentence", back);
  again.hidden = true;
  input.addEventListener("keydown", (event) => event.key === "Enter" && !event.isComposing && act());
  place.replaceChildren(html("div", { class: "controls" }, html("label", { for: id }, about.model.asks), input, go, again), status);
  status.textContent = "";
  input.focus();
}
