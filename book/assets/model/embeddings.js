// Token embeddings and positions (chapters 4 and 5).

import { Tensor, add, zeros } from "./tensors.js";

/**
 * Look up one learned vector per token id: E(t) = √d_model W_t.
 *
 * tokens (B, T), lists of whole numbers in 0 … V−1 → (B, T, D).
 *
 * Source: Vaswani et al. (2017), section 3.4.
 */
export class TokenEmbedding {
  constructor(weights, name, { d_model, scale_embeddings }, hooks) {
    this.name = name;
    this.hooks = hooks;
    this.weight = weights.get(`${name}.weight`); // (V, D)
    this.scale = scale_embeddings ? Math.sqrt(d_model) : 1;
  }

  forward(tokens) {
    const [V, D] = this.weight.shape;
    const x = zeros(tokens.length, tokens[0].length, D); // (B, T, D)
    tokens.flat().forEach((token, n) => {
      if (!(token >= 0 && token < V)) {
        throw new Error(`Token id ${token} is outside the vocabulary, whose ids run from 0 to ${V - 1}.`);
      }
      for (let d = 0; d < D; d += 1) x.data[n * D + d] = this.weight.data[token * D + d] * this.scale;
    });
    return this.hooks.see(this.name, "output", x); // (B, T, D)
  }
}

/**
 * The table of sinusoidal positions (T, D), sines and cosines interleaved.
 *
 *     PE_{p,2i} = sin(p / 10000^{2i/d_model}),  PE_{p,2i+1} = cos(p / 10000^{2i/d_model})
 *
 * Source: Vaswani et al. (2017), section 3.5.
 */
export function sinusoids(length, d_model) {
  const table = zeros(length, d_model); // (T, D)
  for (let p = 0; p < length; p += 1) {
    for (let i = 0; i < d_model; i += 2) {
      const angle = p / 10000 ** (i / d_model);
      table.data[p * d_model + i] = Math.sin(angle);
      table.data[p * d_model + i + 1] = Math.cos(angle);
    }
  }
  return table;
}

/** Add a row of a table to the vector of each position: x_p + table_p. */
export class Positions {
  constructor(name, table, hooks) {
    this.name = name;
    this.hooks = hooks;
    this.table = table; // (max_length, D)
  }

  /** (B, T, D) → (B, T, D); `start` is the position of the first vector (chapter 17). */
  forward(x, start = 0) {
    const [length, D] = this.table.shape;
    const end = start + x.size(1);
    if (end > length) throw new Error(`The sequence has ${end} tokens, but this model reads at most ${length}.`);
    const rows = new Tensor(this.table.data.slice(start * D, end * D), x.size(1), D); // (T, D)
    return add(x, this.hooks.see(this.name, "rows", rows, start)); // (B, T, D)
  }
}

/** Which table: the fixed sinusoids, a learned vector per position, or nothing. */
export const POSITIONS = {
  sinusoidal: (weights, name, { max_length, d_model }, hooks) =>
    new Positions(name, sinusoids(max_length, d_model), hooks),
  learned: (weights, name, config, hooks) => new Positions(name, weights.get(`${name}.weight`), hooks),
  none: (weights, name, { max_length, d_model }, hooks) =>
    new Positions(name, zeros(max_length, d_model), hooks),
};
