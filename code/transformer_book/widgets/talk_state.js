// What the reader has set: {model, text, changes, forced}; its address, its grammar, its names.
//
// The grammar of a change is that of interventions.js and interventions.py; it stands here, too, so
// that the page can show and check a link before a model is there.

import { number } from "./shared.js";

/** A passage as it may stand in a sentence: at most 80 characters of it. */
export function brief(text, most = 80) {
  const characters = [...String(text)];
  return characters.length <= most ? String(text) : `${characters.slice(0, most - 1).join("")}…`;
}

/** Names in a row, few of them and each brief: "a, b, and 7 more". */
export function some(names, most = 8) {
  const shown = names.slice(0, most).map((name) => brief(name, 40)).join(", ");
  return names.length > most ? `${shown}, and ${names.length - most} more` : shown;
}

// --- changes -------------------------------------------------------------------------------------

/** The stack in which each kind of attention stands. */
export const STACKS = { encoder: "encoder", decoder: "decoder", cross: "decoder" };
export const KINDS = {
  cross: ["the translation looks at your text (cross)", "cross-attention"],
  decoder: ["the translation looks at itself (decoder)", "the decoder's self-attention"],
  encoder: ["your text looks at itself (encoder)", "the encoder's self-attention"],
};

/** For each change: a plain name, one line of help, and what it needs to know, in this order. */
export const CHANGES = {
  head: ["switch off one attention head", "What this head has gathered is replaced by zeros; all others go on.", ["kind", "layer", "head"]],
  average: ["make one head look everywhere equally", "All that the head may see gets the same weight, whatever the words are.", ["kind", "layer", "head"]],
  weight: [
    "push one attention weight up or down",
    "One cell of a head's map gets this much more or less; then its row is made to sum to 1 again.",
    ["kind", "layer", "head", "query", "key", "amount"],
  ],
  layer: ["skip a whole layer", "The layer passes on what it gets.", ["stack", "layer"]],
  feed_forward: ["skip a layer's feed-forward network", "This part treats each token by itself, after the tokens have looked at each other.", ["stack", "layer"]],
  residual: ["cut the shortcuts around the parts of a layer", "Without these residual connections only what a part computes goes on, not what went in.", ["stack", "layer"]],
  scale: ["make attention sharper or flatter", "All scores are multiplied by this factor in place of 1/√d: large looks at one word, 0 at all alike.", ["scale"]],
  temperature: ["make it bolder or more careful", "A temperature divides the last scores: above 1 the probabilities come closer together.", ["temperature"]],
  causal: ["let it see words that it has yet to write", "The mask that hides the future from the decoder is taken away.", []],
  positions: ["hide the order of the words", "No positions are added: the model sees the words of this side in no order.", ["sides"]],
};

/** The parts of a change; the last may have a point in it: "scale:0.5" → ["scale", ["0.5"]]. */
function parts_of(change) {
  const [what, rest = ""] = change.split(/:(.*)/s);
  const parts = rest.split(".");
  const n = Math.max(1, fields_of(what).length);
  return [what, [...parts.slice(0, n - 1), parts.slice(n - 1).join(".")]];
}

const fields_of = (what) => (Object.hasOwn(CHANGES, what) ? CHANGES[what][2] : []);
const whole = (text, limit) => /^\d+$/.test(text) && Number(text) < limit;
const decimal = (text) => /^-?\d+(\.\d+)?$/.test(text) && Math.abs(Number(text)) <= 100;

/** Whether a model of this configuration has this change. */
export function fits(change, config) {
  const [what, parts] = parts_of(change);
  if (!Object.hasOwn(CHANGES, what)) return false;
  if (what === "causal") return parts.length === 1 && parts[0] === "off";
  const fields = fields_of(what);
  const stack = fields[0] === "kind" ? STACKS[parts[0]] : parts[0];
  const position = (text) => whole(text, config.max_length);
  const known = {
    kind: (text) => Object.hasOwn(KINDS, text),
    stack: (text) => text === "encoder" || text === "decoder",
    layer: (text) => whole(text, config[`n_${stack}_layers`] ?? 0),
    head: (text) => whole(text, config.n_heads),
    query: position,
    key: position,
    amount: decimal,
    scale: decimal,
    temperature: (text) => decimal(text) && Number(text) >= 0.01,
    sides: (text) => ["off", "source", "target"].includes(text),
  };
  return parts.length === fields.length && fields.every((field, i) => known[field](parts[i]));
}

/** A change in words, layers and heads counted from 1 as on the maps. */
export function described(change) {
  const [what, parts] = parts_of(change);
  const one = (text) => Number(text) + 1;
  const where = () => `layer ${one(parts[1])}, head ${one(parts[2])} of ${KINDS[parts[0]][1]}`;
  switch (what) {
    case "head":
      return `${where()} adds nothing`;
    case "average":
      return `${where()} looks at everything alike`;
    case "weight":
      return `${where()}: ${number(Number(parts[5]), 2)} is added to the weight of token ${one(parts[4])} for token ${one(parts[3])}`;
    case "layer":
      return `layer ${one(parts[1])} of the ${parts[0]} passes on what it gets`;
    case "feed_forward":
      return `the feed-forward network in layer ${one(parts[1])} of the ${parts[0]} adds nothing`;
    case "residual":
      return `layer ${one(parts[1])} of the ${parts[0]} has no residual connections`;
    case "scale":
      return `scores are multiplied by ${parts[0]}`;
    case "temperature":
      return `the last scores are divided by ${parts[0]}: other probabilities, in the same order`;
    case "causal":
      return "the decoder sees the future";
    default:
      return `no positions are added${parts[0] === "off" ? "" : ` to the ${parts[0]}`}`;
  }
}

// --- the address ---------------------------------------------------------------------------------

const NAMES = ["model", "text", "change", "force"];
const LONGEST_TEXT = 2000; // characters: more than any model of the book reads
const MOST_CHANGES = 64;
const PAD = 0;
const SOS = 1;

/** The address of a state, without its question mark. */
export function address_of({ model, text, changes, forced }) {
  const address = new URLSearchParams({ model, text: text.slice(0, LONGEST_TEXT) });
  for (const change of changes) address.append("change", change);
  if (forced.length) address.set("force", forced.join("."));
  return String(address);
}

/**
 * What stands in an address: {state, problems}. The state is one that these models have; each
 * thing that cannot be used has one sentence in `problems`.
 */
export function read_address(query, models) {
  const address = new URLSearchParams(query);
  const problems = [];
  for (const name of new Set(address.keys())) {
    const near = NAMES.find((each) => name.toLowerCase().replace(/d?s?$/, "") === each.replace(/s$/, ""));
    if (near && near !== name) problems.push(`The address says “${brief(name)}”, but this page reads “${near}”: it is left out.`);
  }
  for (const name of ["model", "text", "force"]) {
    if (address.getAll(name).length > 1) problems.push(`The address says “${name}” more than once: the first is taken.`);
  }
  const asked = address.get("model");
  const found = models.find(({ name }) => name === asked);
  const model = found ?? models[0];
  if (asked !== null && !found) problems.push(`There is no model “${brief(asked)}”: this is ${model.name}, and the list has the others.`);
  let text = address.get("text");
  if (text !== null && !text.trim()) {
    problems.push("The text in the address is empty: an example stands in its place.");
    text = null;
  } else if (text !== null && text.length > LONGEST_TEXT) {
    problems.push(`The text in the address has ${text.length} characters: the first ${LONGEST_TEXT} are taken.`);
    text = text.slice(0, LONGEST_TEXT);
  }
  const given = [...new Set(address.getAll("change"))];
  if (given.length > MOST_CHANGES) problems.push(`The address makes ${given.length} changes: the first ${MOST_CHANGES} are read.`);
  const read = given.slice(0, MOST_CHANGES);
  const strange = read.filter((change) => !fits(change, model.config));
  const [first, ...others] = strange;
  if (first !== undefined) {
    const more = others.length ? `, nor by ${others.length} more that the address names` : "";
    problems.push(`This model cannot be changed by “${brief(first)}”${more}: there is no such change, layer or head in it.`);
  }
  const state = { model: model.name, text: text ?? model.examples[0] ?? "", changes: read.filter((change) => !strange.includes(change)), forced: [] };
  const force = address.get("force");
  if (force) {
    const wrong = found || asked === null ? not_forced(force, model.config) : "its numbers belong to another model";
    if (wrong) problems.push(`Nothing is forced: ${wrong}.`);
    else state.forced = force.split(".").map(Number);
  }
  return { state, problems };
}

/** Why these tokens cannot be forced; empty if they can. */
function not_forced(force, { target_vocab_size, max_length }) {
  if (!/^\d+(\.\d+)*$/.test(force)) return `“${brief(force)}” is not a list of token numbers with points between them, such as 12.7`;
  const tokens = force.split(".");
  if (tokens.length >= max_length) return `the address names ${tokens.length} tokens, but the model writes at most ${max_length - 1}`;
  const strange = tokens.find((token) => !(Number(token) < target_vocab_size) || [PAD, SOS].includes(Number(token)));
  return strange === undefined ? "" : `the model cannot say the token ${brief(strange)}, only those from ${SOS + 1} to ${target_vocab_size - 1}`;
}
