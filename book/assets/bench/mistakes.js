// Gradient mistakes: a `backward` in a made model is put in another one's place. `forward` stays right.

import { MultiHeadAttention } from "../model/attention.js";
import { accumulate } from "../model/backwards.js";
import { TokenEmbedding } from "../model/embeddings.js";
import { FeedForward, LayerNorm, Residual } from "../model/layers.js";
import { zeros } from "../model/tensors.js";

/** Every part of a model that goes backwards. */
function parts_of(part, found = new Set()) {
  if (!part || typeof part !== "object" || ArrayBuffer.isView(part) || found.has(part)) return found;
  if (Array.isArray(part)) for (const each of part) parts_of(each, found);
  else if (part.backward) {
    found.add(part);
    for (const each of Object.values(part)) parts_of(each, found);
  }
  return found;
}

/** Without the two means, each feature is scaled back alone. */
function without_means(norm) {
  norm.backward = (dy) => {
    LayerNorm.prototype.backward.call(norm, dy); // γ and β get what is theirs
    const D = dy.size(-1);
    const dx = zeros(...dy.shape);
    for (let start = 0; start < dx.data.length; start += D) {
      const [, root] = norm.moments(norm.x.data, start, D);
      for (let d = 0; d < D; d += 1) dx.data[start + d] = (norm.weight.data[d] * dy.data[start + d]) / root;
    }
    return dx;
  };
}

/** Only the last place of a token counts. */
function overwritten(embedding) {
  embedding.backward = (dx) => {
    const gradient = new Float32Array(embedding.weight.data.length);
    const D = dx.size(-1);
    embedding.tokens.flat().forEach((token, n) => {
      for (let d = 0; d < D; d += 1) gradient[token * D + d] = dx.data[n * D + d] * embedding.scale;
    });
    accumulate(embedding.weight, gradient);
  };
}

/** For each mistake the class that it is made in, and what it does to each part of that class. */
const MISTAKES = {
  shortcut: [
    Residual,
    (residual) => {
      const without = Object.assign(Object.create(residual), { residual: false });
      residual.backward = (dy, sublayer) => Residual.prototype.backward.call(without, dy, sublayer);
    },
  ],
  norm_means: [LayerNorm, without_means],
  relu: [FeedForward, (network) => (network.backward = (dy) => network.linear1.backward(network.linear2.backward(dy)))],
  scale: [
    MultiHeadAttention,
    (attention) => {
      attention.backward = (dy) => {
        attention.hooks.kept[attention.name].scale = 1;
        return MultiHeadAttention.prototype.backward.call(attention, dy);
      };
    },
  ],
  keys: [MultiHeadAttention, ({ key }) => (key.backward = () => zeros(...key.x.shape))],
  overwritten: [TokenEmbedding, overwritten],
};

/** Make a mistake everywhere in a model. "none" and "not_cleared" change none of its parts. */
export function make_mistake(model, name) {
  const [kind, change] = MISTAKES[name] ?? [];
  if (kind) for (const part of parts_of(model)) if (part instanceof kind) change(part);
}
