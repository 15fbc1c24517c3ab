// A model before its first update: which parameters there are, and their numbers at random (chapter 15).

import { Weights } from "./safetensors.js";
import { zeros } from "./tensors.js";

/** Every parameter's name, as in Python's state dict, and its shape. A tied matrix stands here once. */
export function parameter_shapes(config) {
  const { d_model: D, d_ff: F, source_vocab_size, target_vocab_size, max_length, norm, tie_embeddings } = config;
  const shapes = new Map();
  const with_bias = (name, ...shape) => {
    shapes.set(`${name}.weight`, shape);
    if (config.bias) shapes.set(`${name}.bias`, [shape[0]]);
  };
  shapes.set("source_embedding.weight", [source_vocab_size, D]);
  if (tie_embeddings !== "all") shapes.set("target_embedding.weight", [target_vocab_size, D]);
  if (config.positions === "learned") {
    for (const side of ["source", "target"]) shapes.set(`${side}_positions.weight`, [max_length, D]);
  }
  const stack = (name, length, attentions, residuals) => {
    for (let i = 0; i < length; i += 1) {
      const layer = `${name}.layers.${i}`;
      for (const attention of attentions) {
        for (const part of ["query", "key", "value", "output"]) with_bias(`${layer}.${attention}.${part}`, D, D);
      }
      if (config.feed_forward) {
        with_bias(`${layer}.feed_forward.linear1`, F, D);
        with_bias(`${layer}.feed_forward.linear2`, D, F);
      }
      if (norm !== "none") for (const residual of residuals) with_bias(`${layer}.${residual}_residual.norm`, D);
    }
    if (norm === "pre") with_bias(`${name}.norm`, D);
  };
  stack("encoder", config.n_encoder_layers, ["self_attention"], ["attention", "feed_forward"]);
  const residuals = ["self", "cross", "feed_forward"];
  stack("decoder", config.n_decoder_layers, ["self_attention", "cross_attention"], residuals);
  if (tie_embeddings === "none") shapes.set("output.weight", [target_vocab_size, D]);
  if (config.bias) shapes.set("output.bias", [target_vocab_size]);
  return shapes;
}

/** A number from the normal distribution, of two from [0, 1). Source: Box & Muller (1958). */
const normal = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const SCHEMES = {
  xavier: ([rows, columns], random) => {
    const bound = Math.sqrt(6 / (rows + columns));
    return () => bound * (2 * random() - 1);
  },
  scaled_normal: ([, columns], random) => () => normal(random) / Math.sqrt(columns),
};

/** The first numbers of a parameter: a matrix as `initialize` says, a bias 0, the scale of a norm 1. */
export function fresh(name, shape, scheme, random) {
  const tensor = zeros(...shape);
  if (shape.length > 1) tensor.data = tensor.data.map(SCHEMES[scheme](shape, random));
  else if (!name.endsWith("bias")) tensor.data.fill(1);
  return tensor;
}

/**
 * Every weight matrix at random, every bias zero; the norms keep scale 1. `random` draws from [0, 1).
 *
 * "xavier": uniform with variance 2 / (rows + columns) (Glorot and Bengio, 2010).
 * "scaled_normal": normal with variance 1 / columns.
 */
export function initialize(config, random) {
  const shapes = [...parameter_shapes(config)];
  return new Weights(new Map(shapes.map(([name, shape]) => [name, fresh(name, shape, config.initialization, random)])));
}
