// The decoder: one layer, and the stack (chapter 13).

import { MultiHeadAttention } from "./attention.js";
import { Residual, feed_forward, final_norm } from "./layers.js";

/**
 * Masked self-attention, cross-attention to the memory, then the feed-forward network.
 *
 * x (B, T, D), memory (B, S, D), target mask broadcastable to (B, H, T, T), memory mask to
 * (B, H, T, S) → (B, T, D). In cross-attention the queries come from the target.
 *
 * Source: Vaswani et al. (2017), section 3.1.
 */
export class DecoderLayer {
  constructor(weights, name, config, hooks) {
    this.self_attention = new MultiHeadAttention(weights, `${name}.self_attention`, config, hooks);
    this.cross_attention = new MultiHeadAttention(weights, `${name}.cross_attention`, config, hooks);
    this.feed_forward = feed_forward(weights, `${name}.feed_forward`, config, hooks);
    this.self_residual = new Residual(weights, `${name}.self_residual`, config, hooks);
    this.cross_residual = new Residual(weights, `${name}.cross_residual`, config, hooks);
    this.feed_forward_residual = new Residual(weights, `${name}.feed_forward_residual`, config, hooks);
  }

  forward(x, memory, target_mask = null, memory_mask = null) {
    x = this.self_residual.forward(x, (y) => this.self_attention.forward(y, y, y, target_mask)); // (B, T, D)
    x = this.cross_residual.forward(x, (y) =>
      this.cross_attention.forward(y, memory, memory, memory_mask),
    ); // (B, T, D)
    return this.feed_forward_residual.forward(x, (y) => this.feed_forward.forward(y)); // (B, T, D)
  }
}

/** A stack of decoder layers, and a final norm if they are pre-norm. Shapes as for `DecoderLayer`. */
export class Decoder {
  constructor(weights, name, config, hooks) {
    this.layers = Array.from(
      { length: config.n_decoder_layers },
      (_, i) => new DecoderLayer(weights, `${name}.layers.${i}`, config, hooks),
    );
    this.norm = final_norm(weights, `${name}.norm`, config, hooks);
  }

  forward(x, memory, target_mask = null, memory_mask = null) {
    for (const layer of this.layers) x = layer.forward(x, memory, target_mask, memory_mask); // (B, T, D)
    return this.norm.forward(x);
  }
}
