// Scaled dot-product attention and its multi-head form (chapters 6, 7 and 9).

import { Linear, dot, softmax, transpose, zeros } from "./tensors.js";

const LOWEST = -3.4028234663852886e38; // the lowest finite float32, not −∞: no row becomes NaN

/** Put `value` wherever a mask, broadcastable to (B, H, T, S), forbids; in place. */
function masked_fill(scores, mask, value) {
  const [B, H, T, S] = scores.shape;
  const sizes = [...Array(4 - mask.shape.length).fill(1), ...mask.shape];
  // An axis of size one stands still while the others go on.
  const [b, h, t, s] = sizes.map((size, axis) =>
    size === 1 ? 0 : sizes.slice(axis + 1).reduce((total, each) => total * each, 1),
  );
  for (let row = 0; row < B * H * T; row += 1) {
    const start = b * Math.floor(row / (H * T)) + h * (Math.floor(row / T) % H) + t * (row % T);
    for (let j = 0; j < S; j += 1) if (!mask.data[start + s * j]) scores.data[row * S + j] = value;
  }
}

/**
 * Attention: for each query, an average of the values, weighted by how well the keys match.
 *
 *     Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V
 *
 * query (B, H, T, K), key and value (B, H, S, K), mask broadcastable to (B, H, T, S) or null, scale
 * null for 1/√d_k. Returns the outputs (B, H, T, K) and the weights (B, H, T, S). A query that may
 * attend to nothing gets zeros. `see` is shown the scale, the scores, the mask and the weights.
 *
 * Source: Vaswani et al. (2017), section 3.2.1, equation 1.
 */
export function scaled_dot_product_attention(query, key, value, mask = null, scale = null, see = (_, x) => x) {
  const [B, H, T, K] = query.shape;
  const S = key.size(2);
  scale = see("scale", scale ?? 1 / Math.sqrt(K));
  let scores = zeros(B, H, T, S); // (B, H, T, S)
  for (let row = 0; row < B * H * T; row += 1) {
    const keys = Math.floor(row / T) * S; // the first key of this head
    for (let j = 0; j < S; j += 1) {
      scores.data[row * S + j] = scale * dot(query.data, row * K, key.data, (keys + j) * K, K);
    }
  }
  scores = see("scores", scores);
  mask = see("mask", mask);
  if (mask) masked_fill(scores, mask, LOWEST); // (B, H, T, S)
  let weights = softmax(scores.view(B, H, T, S)); // (B, H, T, S)
  if (mask) masked_fill(weights, mask, 0); // changes only rows with nothing to attend to
  weights = see("weights", weights);
  const output = zeros(B, H, T, K); // (B, H, T, K)
  for (let row = 0; row < B * H * T; row += 1) {
    const values = Math.floor(row / T) * S;
    for (let j = 0; j < S; j += 1) {
      const weight = weights.data[row * S + j];
      for (let k = 0; k < K; k += 1) output.data[row * K + k] += weight * value.data[(values + j) * K + k];
    }
  }
  return [output, weights];
}

/**
 * Several attentions side by side, each in its own slice of d_model.
 *
 *     head_h = Attention(Q W_h^Q, K W_h^K, V W_h^V),  output = [head_1; …; head_H] W^O
 *
 * query (B, T, D), key and value (B, S, D), mask broadcastable to (B, H, T, S) → (B, T, D).
 *
 * Source: Vaswani et al. (2017), section 3.2.2.
 */
export class MultiHeadAttention {
  constructor(weights, name, { n_heads, score_scale }, hooks) {
    Object.assign(this, { name, hooks, n_heads, scale: score_scale });
    this.query = new Linear(weights, `${name}.query`);
    this.key = new Linear(weights, `${name}.key`);
    this.value = new Linear(weights, `${name}.value`);
    this.output = new Linear(weights, `${name}.output`);
  }

  forward(query, key, value, mask = null) {
    const [k, v] = this.keys_and_values(key, value); // (B, H, S, K) each
    return this.attend(query, k, v, mask); // (B, T, D)
  }

  /** The projected keys and values of every head: what a cache keeps (chapter 17). */
  keys_and_values(key, value) {
    return [this.split_heads(this.key.forward(key)), this.split_heads(this.value.forward(value))];
  }

  /** All heads at once, for keys and values that are projected already; `start`: see Hooks. */
  attend(query, k, v, mask = null, start = null) {
    const see = (stage, value) => this.hooks.see(this.name, stage, value, start);
    const q = see("query", this.split_heads(this.query.forward(query))); // (B, H, T, K)
    [k, v] = [see("key", k), see("value", v)]; // (B, H, S, K) each
    let [heads] = scaled_dot_product_attention(q, k, v, mask, this.scale, see); // (B, H, T, K)
    heads = see("heads", heads);
    return see("output", this.output.forward(this.merge_heads(heads))); // (B, T, D)
  }

  /** Cut each vector into H slices and bring the heads before the positions. */
  split_heads(x) {
    const [B, T, D] = x.shape;
    return transpose(x.view(B, T, this.n_heads, D / this.n_heads)); // (B, T, H, K) → (B, H, T, K)
  }

  /** The inverse: positions first again, then the slices of each position side by side. */
  merge_heads(heads) {
    const [B, H, T, K] = heads.shape;
    return transpose(heads).view(B, T, H * K); // (B, T, H, K) → (B, T, D)
  }
}
