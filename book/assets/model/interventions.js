// Changes to a model that computes, written as short texts that fit into an address.
//
//     head:cross.0.2        this head adds nothing        (layer 0, head 2, counted from 0)
//     average:encoder.1.0   this head attends equally to all it may see
//     weight:cross.0.2.3.1.0.5   add 0.5 to the weight of key 1 for query 3, then make the row sum to 1
//     layer:decoder.1       this layer passes on what it gets
//     feed_forward:encoder.0   the feed-forward network of this layer adds nothing
//     residual:encoder.0    the sublayers of this layer get no residual connection
//     scale:1               the scores are multiplied by this instead of 1/√d_k
//     causal:off            the decoder's self-attention sees the future
//     positions:off         no positions are added; positions:source: none to the source, and so on
//     temperature:0.5       the logits are divided by this
//
// Attention is named by its kind: `encoder` and `decoder` are the self-attention of these stacks,
// `cross` is the decoder's look at the source.

import { Tensor, zeros } from "./tensors.js";

/** The kinds of attention, and where each stands in a model. */
export const KINDS = {
  encoder: { stack: "encoder", attention: "self_attention" },
  decoder: { stack: "decoder", attention: "self_attention" },
  cross: { stack: "decoder", attention: "cross_attention" },
};

/** The name of a kind of attention in a layer, as in the state dict. */
export const name_of = (kind, layer) => `${KINDS[kind].stack}.layers.${layer}.${KINDS[kind].attention}`;

/** For each kind of change the numbers that follow its place: (spec's parts) → hook. */
const CHANGES = {
  head: ([kind, layer, head]) => atAttention(kind, layer, "heads", (heads) => withHead(heads, head, () => 0)),

  average: ([kind, layer, head]) =>
    atAttention(kind, layer, "weights", (weights) => {
      const S = weights.size(-1);
      return withHead(weights, head, (weight, i, data) => {
        // Where nothing may be seen the weight is 0, and stays 0.
        const row = data.subarray(i - (i % S), i - (i % S) + S);
        return weight > 0 ? 1 / row.reduce((n, each) => n + (each > 0), 0) : 0;
      });
    }),

  weight: ([kind, layer, head, query, key, amount]) =>
    atAttention(kind, layer, "weights", (weights, start) => {
      const [, , T, S] = weights.shape;
      if (key >= S) return weights;
      // A row stays a row of weights: none below 0, and their sum is 1.
      const raised = (weight, j) => Math.max(0, weight + (j === Number(key) ? Number(amount) : 0));
      return withHead(weights, head, (weight, i, data) => {
        if ((start ?? Math.floor(i / S) % T) !== Number(query)) return weight;
        const row = Array.from(data.subarray(i - (i % S), i - (i % S) + S), raised);
        return row[i % S] / (row.reduce((total, each) => total + each, 0) || 1);
      });
    }),

  layer: ([stack, layer]) => (value, { name, stage }) =>
    stage === "change" && name.startsWith(`${stack}.layers.${layer}.`) ? zeros(...value.shape) : undefined,

  feed_forward: ([stack, layer]) => (value, { name, stage }) =>
    stage === "change" && name === `${stack}.layers.${layer}.feed_forward_residual` ? zeros(...value.shape) : undefined,

  residual: ([stack, layer]) => (value, { name, stage }) =>
    stage === "stream" && name.startsWith(`${stack}.layers.${layer}.`) ? zeros(...value.shape) : undefined,

  scale: ([scale]) => (value, { stage }) => (stage === "scale" ? Number(scale) : undefined),

  causal: () => (value, { name, stage }) => {
    if (stage !== "mask" || !value || !/^decoder.*self_attention$/.test(name)) return undefined;
    return new Tensor(value.data.map(() => 1), ...value.shape); // one sentence: nothing is padding
  },

  positions: ([side]) => (value, { name, stage }) =>
    stage === "rows" && (side === "off" || name === `${side}_positions`) ? zeros(...value.shape) : undefined,

  temperature: ([temperature]) => (logits, { stage }) =>
    stage === "logits" ? new Tensor(logits.data.map((each) => each / Number(temperature)), ...logits.shape) : undefined,
};

/** A hook for one stage of one attention. */
const atAttention = (kind, layer, stage, change) => (value, seen) =>
  seen.stage === stage && seen.name === name_of(kind, layer) ? change(value, seen.start) : undefined;

/** A copy of (B, H, …) in which head `head` has other numbers: (number, place, all) → number. */
function withHead(x, head, change) {
  const size = x.data.length / (x.shape[0] * x.shape[1]);
  const changed = (each, i) => (Math.floor(i / size) % x.shape[1] === Number(head) ? change(each, i, x.data) : each);
  return new Tensor(x.data.map(changed), ...x.shape);
}

const WHOLE = (limit) => (text) => /^\d+$/.test(text) && Number(text) < limit;
const NUMBER = (text) => /^-?\d+(\.\d+)?$/.test(text) && Math.abs(Number(text)) <= 100;
const POSITIVE = (text) => NUMBER(text) && Number(text) >= 0.01;
const OFF = (text) => text === "off";

/** What may stand behind each change, for this configuration of a model. */
function grammar(config) {
  const layers = (kind) => config[`n_${KINDS[kind].stack}_layers`];
  const attention = (parts) =>
    Object.hasOwn(KINDS, parts[0]) && WHOLE(layers(parts[0]))(parts[1]) && WHOLE(config.n_heads)(parts[2]);
  const place = (parts) => ["encoder", "decoder"].includes(parts[0]) && WHOLE(layers(parts[0]))(parts[1]);
  const position = WHOLE(config.max_length);
  return {
    head: (parts) => parts.length === 3 && attention(parts),
    average: (parts) => parts.length === 3 && attention(parts),
    weight: (parts) =>
      parts.length === 6 && attention(parts) && position(parts[3]) && position(parts[4]) && NUMBER(parts[5]),
    layer: (parts) => parts.length === 2 && place(parts),
    feed_forward: (parts) => parts.length === 2 && place(parts),
    residual: (parts) => parts.length === 2 && place(parts),
    scale: (parts) => parts.length === 1 && NUMBER(parts[0]),
    causal: (parts) => parts.length === 1 && OFF(parts[0]),
    positions: (parts) => parts.length === 1 && ["off", "source", "target"].includes(parts[0]),
    temperature: (parts) => parts.length === 1 && POSITIVE(parts[0]),
  };
}

/** The parts of a change: "weight:cross.0.2.3.1.0.5" → ["weight", ["cross", "0", "2", "3", "1", "0.5"]]. */
export function parts_of(change) {
  const [what, rest = ""] = change.split(/:(.*)/s);
  if (["scale", "temperature"].includes(what)) return [what, [rest]]; // their number has a point
  const parts = rest.split(".");
  if (what === "weight" && parts.length > 6) parts.splice(5, parts.length, parts.slice(5).join("."));
  return [what, parts];
}

/**
 * The hooks that make these changes, and whether keys and values may still be kept.
 *
 * Throws an Error, one sentence, for a change that this model does not have.
 */
export function compiled(changes, config) {
  const known = grammar(config);
  const hooks = changes.map((change) => {
    const [what, parts] = parts_of(change);
    if (!Object.hasOwn(known, what) || !known[what](parts)) {
      const shown = [...change].length > 80 ? `${[...change].slice(0, 79).join("")}…` : change;
      throw new Error(`This model cannot be changed by “${shown}”: there is no such change, layer or head in it.`);
    }
    return CHANGES[what](parts);
  });
  // A decoder that sees the future changes what it has computed.
  return { hooks, cached: !changes.includes("causal:off") };
}
