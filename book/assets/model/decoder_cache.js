// Decoding one token at a time: with a cache of keys and values, and without it (chapter 17).

import { padding_mask } from "./masks.js";
import { Tensor, cat, index_select, zeros } from "./tensors.js";

/**
 * What a model has computed so far: keys and values, layer by layer.
 *
 * Of the target (N, H, T, K), growing by one position a step, one row for each beam; of the memory
 * (1, H, S, K), computed once. A causal decoder never changes a vector it has computed, so a step
 * costs one position instead of all positions anew.
 */
export class KeyValueCache {
  constructor(layers, memory, memory_mask) {
    Object.assign(this, { layers, memory, memory_mask });
  }

  /** Number of target positions computed so far; also the position of the next token. */
  get length() {
    return this.layers[0].keys.size(2);
  }

  /** Keep these rows, in this order, and drop all others; a row may be named repeatedly. */
  select(rows) {
    for (const kept of this.layers) {
      kept.keys = index_select(kept.keys, rows); // (N', H, T, K)
      kept.values = index_select(kept.values, rows); // (N', H, T, K)
    }
  }

  /** Another cache of the same: a step puts new tensors in the place of the old ones. */
  copy() {
    return new KeyValueCache(this.layers.map((kept) => ({ ...kept })), this.memory, this.memory_mask);
  }
}

/** The source read, and nothing written yet. */
export function new_cache(model, source) {
  const mask = padding_mask([source]); // (1, 1, 1, S)
  const read = model.encode([source], mask); // (1, S, D)
  const memory = model.decoder.layers.map((layer) => {
    const [keys, values] = layer.cross_attention.keys_and_values(read, read); // (1, H, S, K)
    return { keys, values };
  });
  const nothing = memory.map(({ keys: { shape: [, H, , K] } }) => {
    return { keys: zeros(1, H, 0, K), values: zeros(1, H, 0, K) };
  });
  return new KeyValueCache(nothing, memory, mask);
}

/** Feed one new token to each row, (N): the logits of the token that follows it, (N, V). */
export function decode_step(model, tokens, cache) {
  const start = cache.length;
  let x = model.target_embedding.forward(tokens.map((token) => [token])); // (N, 1, D)
  x = model.target_positions.forward(x, start); // (N, 1, D)
  model.decoder.layers.forEach((layer, i) => {
    x = layer_step(layer, x, cache.layers[i], cache.memory[i], cache.memory_mask, start); // (N, 1, D)
  });
  const logits = model.logits(model.decoder.norm.forward(x)); // (N, 1, V)
  return logits.view(tokens.length, logits.size(-1)); // (N, V)
}

/** `DecoderLayer.forward` for the newest position alone; all else has been kept. */
function layer_step(layer, x, kept, memory, memory_mask, start) {
  const [N, , D] = x.shape;
  const self_attention = (y) => {
    const [keys, values] = layer.self_attention.keys_and_values(y, y); // (N, H, 1, K)
    kept.keys = cat([kept.keys, keys], 2); // (N, H, T, K)
    kept.values = cat([kept.values, values], 2); // (N, H, T, K)
    // No mask: all that is kept is the past, and none of it is padding.
    return layer.self_attention.attend(y, kept.keys, kept.values, null, start);
  };
  const cross_attention = (y) => layer.cross_attention.attend(y, memory.keys, memory.values, memory_mask, start);
  x = layer.self_residual.forward(x, self_attention, start); // (N, 1, D)
  // The beams are several queries to one memory, which is kept only once.
  let beams = layer.cross_residual.forward(x.view(1, N, D), cross_attention, start); // (1, N, D)
  beams = layer.feed_forward_residual.forward(beams, (y) => layer.feed_forward.forward(y), start);
  return beams.view(N, 1, D); // (N, 1, D)
}

/** Each position computed once: the logits of `Uncached`, but faster. */
export class Cached {
  constructor(model, source) {
    Object.assign(this, { model, cache: new_cache(model, source) });
  }

  /** The newest token of each row (N) → logits of the next (N, V). */
  step(tokens) {
    return decode_step(this.model, tokens, this.cache);
  }

  select(rows) {
    this.cache.select(rows);
  }
}

/** The logits (1, V) after the tokens so far, all of them computed anew. */
export function logits_after(model, tokens, memory, memory_mask) {
  const vectors = model.decode([tokens], memory, memory_mask); // (1, T, D)
  const D = vectors.size(-1);
  return model.logits(new Tensor(vectors.data.slice(-D), 1, D)); // (1, V)
}

/** Decodes the whole target so far at every step: plain, and right for any model. */
export class Uncached {
  constructor(model, source) {
    this.model = model;
    this.memory_mask = padding_mask([source]); // (1, 1, 1, S)
    this.memory = model.encode([source], this.memory_mask); // (1, S, D)
    this.targets = [[]]; // N lists of T tokens
  }

  step(tokens) {
    this.targets = this.targets.map((target, n) => [...target, tokens[n]]);
    return cat(this.targets.map((target) => logits_after(this.model, target, this.memory, this.memory_mask)), 0); // (N, V)
  }

  select(rows) {
    this.targets = rows.map((row) => [...this.targets[row]]);
  }
}
