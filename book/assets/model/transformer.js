// The whole model (chapter 14).

import { Decoder } from "./decoder.js";
import { POSITIONS, TokenEmbedding } from "./embeddings.js";
import { Encoder } from "./encoder.js";
import { padding_mask, target_mask } from "./masks.js";
import { Weights } from "./safetensors.js";
import { Hooks, Linear } from "./tensors.js";

const OUTPUT = "output.weight";
const EMBEDDINGS = ["target_embedding.weight", "source_embedding.weight"];

/** A tied matrix stands once in the file, under one of its names: put it under all of them. */
function tie_weights(weights, { tie_embeddings }) {
  const names = tie_embeddings === "none" ? [] : [OUTPUT, EMBEDDINGS[0]];
  if (tie_embeddings === "all") names.push(EMBEDDINGS[1]);
  const one = names.map((name) => weights.maybe(name)).find((matrix) => matrix);
  return new Weights(new Map([...weights.tensors, ...names.map((name) => [name, one])]));
}

/**
 * The encoder–decoder Transformer: p(y_{t+1} | y_{≤t}, x) for every t at once.
 *
 * source (B, S) and target (B, T), lists of token ids → logits (B, T, V): row t scores the token
 * that follows the first t + 1. `config` is what stands under `model` in config.json; `hooks` is
 * shown every stage of every module (see `Hooks`).
 *
 * Source: Vaswani et al. (2017), figure 1.
 */
export class Transformer {
  constructor(config, weights, hooks = new Hooks()) {
    this.config = config;
    this.hooks = hooks;
    weights = tie_weights(weights, config);
    const positions = POSITIONS[config.positions];
    if (!positions) throw new Error(`This page knows no positions of the name ${config.positions}.`);
    this.source_embedding = new TokenEmbedding(weights, "source_embedding", config, hooks);
    this.target_embedding = new TokenEmbedding(weights, "target_embedding", config, hooks);
    this.source_positions = positions(weights, "source_positions", config, hooks);
    this.target_positions = positions(weights, "target_positions", config, hooks);
    this.encoder = new Encoder(weights, "encoder", config, hooks);
    this.decoder = new Decoder(weights, "decoder", config, hooks);
    this.output = new Linear(weights, "output");
  }

  forward(source, target) {
    const memory_mask = padding_mask(source); // (B, 1, 1, S)
    const memory = this.encode(source, memory_mask); // (B, S, D)
    return this.logits(this.decode(target, memory, memory_mask)); // (B, T, V)
  }

  /** The memory: one vector per source token, which has seen the whole source. */
  encode(source, mask) {
    const x = this.source_positions.forward(this.source_embedding.forward(source)); // (B, S, D)
    return this.encoder.forward(x, mask); // (B, S, D)
  }

  /** One vector per target token, which has seen the source and the target so far. */
  decode(target, memory, memory_mask) {
    const mask = this.config.causal ? target_mask(target) : padding_mask(target);
    const y = this.target_positions.forward(this.target_embedding.forward(target)); // (B, T, D)
    return this.decoder.forward(y, memory, mask, memory_mask); // (B, T, D)
  }

  /** The score of every token, from the decoder's vectors: (…, D) → (…, V). */
  logits(vectors) {
    return this.hooks.see("output", "logits", this.output.forward(vectors));
  }
}
