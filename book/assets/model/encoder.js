// The encoder: one layer, and the stack (chapter 12).

import { MultiHeadAttention } from "./attention.js";
import { Residual, feed_forward, final_norm } from "./layers.js";

/**
 * Self-attention, then the feed-forward network, each in a `Residual`.
 *
 * x (B, S, D), mask broadcastable to (B, H, S, S) → (B, S, D).
 *
 * Source: Vaswani et al. (2017), section 3.1.
 */
export class EncoderLayer {
  constructor(weights, name, config, hooks) {
    this.self_attention = new MultiHeadAttention(weights, `${name}.self_attention`, config, hooks);
    this.feed_forward = feed_forward(weights, `${name}.feed_forward`, config, hooks);
    this.attention_residual = new Residual(weights, `${name}.attention_residual`, config, hooks);
    this.feed_forward_residual = new Residual(weights, `${name}.feed_forward_residual`, config, hooks);
  }

  forward(x, mask = null) {
    x = this.attention_residual.forward(x, (y) => this.self_attention.forward(y, y, y, mask)); // (B, S, D)
    return this.feed_forward_residual.forward(x, (y) => this.feed_forward.forward(y)); // (B, S, D)
  }
}

/** A stack of encoder layers, and a final norm if they are pre-norm: x (B, S, D) → memory (B, S, D). */
export class Encoder {
  constructor(weights, name, config, hooks) {
    this.layers = Array.from(
      { length: config.n_encoder_layers },
      (_, i) => new EncoderLayer(weights, `${name}.layers.${i}`, config, hooks),
    );
    this.norm = final_norm(weights, `${name}.norm`, config, hooks);
  }

  forward(x, mask = null) {
    for (const layer of this.layers) x = layer.forward(x, mask); // (B, S, D)
    return this.norm.forward(x);
  }
}
