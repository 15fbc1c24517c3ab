// Backwards: the gradient of every part of the model (chapter 29), as in Python's backwards.py.
//
// Loading this module gives each part a `backward` beside its `forward`. It takes dL/dy, adds to
// the `grad` of its parameters, and returns dL/dx. Only the bench trains, and only it loads this:
// what `forward` has to keep for `backward`, dropout, and the faster product stand here, too.

import { MultiHeadAttention } from "./attention.js";
import { Decoder, DecoderLayer } from "./decoder.js";
import { Positions, TokenEmbedding } from "./embeddings.js";
import { Encoder, EncoderLayer } from "./encoder.js";
import { ACTIVATIONS, FeedForward, LayerNorm, Residual, distribution } from "./layers.js";
import { causal_mask } from "./masks.js";
import { Hooks, Linear, Tensor, add, dot, zeros } from "./tensors.js";
import { Transformer } from "./transformer.js";

const KEPT = ["query", "key", "value", "scale", "weights"]; // of an attention, for the way back

/**
 * The hooks of a model that is trained: `kept` holds for each attention what its way back needs,
 * `random` draws for dropout from [0, 1) during an update and is null otherwise. Without its padding
 * mask (an ablation that only the bench knows) a model still hides the future, if it is causal.
 */
export class Training extends Hooks {
  constructor({ dropout, padding_mask, causal }) {
    super();
    Object.assign(this, { dropout, random: null, kept: {} });
    const { see } = this;
    const unpadded = (name, mask) => (causal && /^decoder.*self/.test(name) ? causal_mask(mask.size(-1)) : null);
    this.see = (name, stage, value, start) => {
      const seen = see(name, stage, value, start);
      if (KEPT.includes(stage)) (this.kept[name] ??= {})[stage] = seen;
      return stage === "mask" && padding_mask === false ? unpadded(name, seen) : seen;
    };
  }
}

/** Give a part another `forward`; that of before is its first argument. */
function wrap(Part, around) {
  const { forward } = Part.prototype;
  Part.prototype.forward = function (...inputs) {
    return around.call(this, forward.bind(this), ...inputs);
  };
}

/** While a model is trained: zero each number with probability p, divide the others by 1 − p. */
class Dropout {
  constructor(hooks) {
    this.hooks = hooks;
  }

  forward(x) {
    const { random, dropout: p } = this.hooks;
    this.kept = random && p > 0 ? x.data.map(() => (random() < p ? 0 : 1 / (1 - p))) : null;
    return this.backward(x); // the same factors, there and back
  }

  /** What was zeroed gets no gradient; the others' is divided, too. */
  backward(dy) {
    return this.kept ? new Tensor(dy.data.map((each, i) => each * this.kept[i]), ...dy.shape) : dy;
  }
}

/** In training what a sublayer adds passes through dropout, and so do the embeddings with their positions. */
wrap(Residual, function (forward, x, sublayer, start) {
  this.dropout ??= new Dropout(this.hooks);
  return forward(x, (y) => this.dropout.forward(sublayer(y)), start);
});

wrap(Positions, function (forward, x, start) {
  this.dropout ??= new Dropout(this.hooks);
  return this.dropout.forward(forward(x, start));
});

wrap(LayerNorm, function (forward, x) {
  this.x = x;
  return forward(x);
});

wrap(TokenEmbedding, function (forward, tokens) {
  this.tokens = tokens;
  return forward(tokens);
});

/**
 * a bᵀ for a (N, K) and b (M, K) → (N, M): entry i, j is the dot product of two rows.
 *
 * Two rows of a by four of b at once, so that each number that is read serves several products. At
 * the end a row may be taken repeatedly. `Linear.forward` sums in the same order, four at once.
 */
export function matmul_transposed(a, b, N, M, K) {
  const c = new Float32Array(N * M);
  for (let i = 0; i < N; i += 2) {
    const next = Math.min(i + 1, N - 1);
    const [a0, a1] = [i * K, next * K];
    for (let j = 0; j < M; j += 4) {
      const [j1, j2, j3] = [Math.min(j + 1, M - 1), Math.min(j + 2, M - 1), Math.min(j + 3, M - 1)];
      const [b0, b1, b2, b3] = [j * K, j1 * K, j2 * K, j3 * K];
      let c00 = 0, c01 = 0, c02 = 0, c03 = 0, c10 = 0, c11 = 0, c12 = 0, c13 = 0;
      for (let k = 0; k < K; k += 1) {
        const u = a[a0 + k], v = a[a1 + k];
        const x0 = b[b0 + k], x1 = b[b1 + k], x2 = b[b2 + k], x3 = b[b3 + k];
        c00 += u * x0;
        c01 += u * x1;
        c02 += u * x2;
        c03 += u * x3;
        c10 += v * x0;
        c11 += v * x1;
        c12 += v * x2;
        c13 += v * x3;
      }
      const row = i * M, below = next * M;
      c[row + j] = c00;
      c[row + j1] = c01;
      c[row + j2] = c02;
      c[row + j3] = c03;
      c[below + j] = c10;
      c[below + j1] = c11;
      c[below + j2] = c12;
      c[below + j3] = c13;
    }
  }
  return c;
}

/** The rows of a matrix (N, K) as columns: (K, N). */
function matrix_transpose(a, N, K) {
  const turned = new Float32Array(N * K);
  for (let i = 0; i < N; i += 1) for (let k = 0; k < K; k += 1) turned[k * N + i] = a[i * K + k];
  return turned;
}

/** Add to a parameter's gradient, as PyTorch does: what two places share gets both shares. */
export function accumulate(parameter, gradient) {
  parameter.grad ??= new Float32Array(parameter.data.length);
  for (let i = 0; i < gradient.length; i += 1) parameter.grad[i] += gradient[i];
}

/** Σ over all rows of (N, D): the gradient of what was added to each row. */
function sum_rows(gradient, D) {
  const total = new Float64Array(D);
  for (let i = 0; i < gradient.length; i += 1) total[i % D] += gradient[i];
  return total;
}

Object.assign(Linear.prototype, {
  /** (…, I) → (…, O), for many rows. Input and output are kept. */
  forward(x) {
    const [outputs, inputs] = this.weight.shape;
    const data = matmul_transposed(x.data, this.weight.data, x.data.length / inputs, outputs, inputs);
    const y = new Tensor(data, ...x.shape.slice(0, -1), outputs); // (…, O)
    Object.assign(this, { x, y: this.bias ? add(y, this.bias) : y });
    return this.y;
  },

  /** dL/dy (…, O) → dL/dx = dL/dy W (…, I); adds (dL/dy)ᵀ x to W's gradient, Σ dL/dy to b's. */
  backward(dy) {
    const [outputs, inputs] = this.weight.shape;
    const rows = dy.data.length / outputs;
    const x_columns = matrix_transpose(this.x.data, rows, inputs); // (I, N)
    const dy_columns = matrix_transpose(dy.data, rows, outputs); // (O, N)
    accumulate(this.weight, matmul_transposed(dy_columns, x_columns, outputs, inputs, rows));
    if (this.bias) accumulate(this.bias, sum_rows(dy.data, outputs));
    const columns = matrix_transpose(this.weight.data, outputs, inputs); // (I, O)
    return new Tensor(matmul_transposed(dy.data, columns, rows, inputs, outputs), ...this.x.shape);
  },
});

ACTIVATIONS.relu.backward = (dy, x) => new Tensor(dy.data.map((each, i) => (x.data[i] > 0 ? each : 0)), ...dy.shape);

/** d/dx x Φ(x) = Φ(x) + x φ(x), with the density φ. */
ACTIVATIONS.gelu.backward = (dy, { data }) =>
  new Tensor(
    dy.data.map((each, i) => {
      const density = Math.exp(-(data[i] ** 2) / 2) / Math.sqrt(2 * Math.PI);
      return each * (distribution(data[i]) + data[i] * density);
    }),
    ...dy.shape,
  );

/** A gradient goes back to where its number came from. */
ACTIVATIONS.groupsort.backward = (dy, { data }) =>
  new Tensor(dy.data.map((each, i) => dy.data[data[i & ~1] > data[i | 1] ? i ^ 1 : i]), ...dy.shape);

/** dL/dw of softmax's outputs w → dL/ds = w (dL/dw − Σ_j w_j dL/dw_j): one dot product a row. */
function softmax_backward(dw, w) {
  const width = w.size(-1);
  const ds = zeros(...w.shape);
  for (let start = 0; start < w.data.length; start += width) {
    let total = 0;
    for (let i = start; i < start + width; i += 1) total += w.data[i] * dw.data[i];
    for (let i = start; i < start + width; i += 1) ds.data[i] = w.data[i] * (dw.data[i] - total);
  }
  return ds;
}

/**
 * dL/dO → dL/dQ, dL/dK, dL/dV, from what `scaled_dot_product_attention` took and its weights W:
 *
 *     dW = dO Vᵀ,  dV = Wᵀ dO,  dS = softmax_backward(dW, W),  dQ = c dS K,  dK = c dSᵀ Q
 *
 * with the scale c. Where a mask forbids, W is 0, so dS is 0, too: the mask needs no line.
 */
function attention_backward(dO, { query, key, value, weights, scale }) {
  const [B, H, T, K] = query.shape;
  const S = key.size(2);
  const [dq, dk, dv] = [query, key, value].map(({ shape }) => zeros(...shape));
  const dw = zeros(B, H, T, S); // (B, H, T, S)
  for (let row = 0; row < B * H * T; row += 1) {
    const first = Math.floor(row / T) * S; // the first key of this head
    for (let j = 0; j < S; j += 1) {
      const [at, weight] = [(first + j) * K, weights.data[row * S + j]];
      dw.data[row * S + j] = dot(dO.data, row * K, value.data, at, K);
      for (let k = 0; k < K; k += 1) dv.data[at + k] += weight * dO.data[row * K + k];
    }
  }
  const ds = softmax_backward(dw, weights); // (B, H, T, S)
  for (let row = 0; row < B * H * T; row += 1) {
    const first = Math.floor(row / T) * S;
    for (let j = 0; j < S; j += 1) {
      const [at, each] = [(first + j) * K, scale * ds.data[row * S + j]];
      for (let k = 0; k < K; k += 1) {
        dq.data[row * K + k] += each * key.data[at + k];
        dk.data[at + k] += each * query.data[row * K + k];
      }
    }
  }
  return [dq, dk, dv];
}

Object.assign(MultiHeadAttention.prototype, {
  /** dL/dy (B, T, D) → the gradients of query, key and value. */
  backward(dy) {
    const dheads = this.split_heads(this.output.backward(dy)); // (B, H, T, K)
    const [dq, dk, dv] = attention_backward(dheads, this.hooks.kept[this.name]).map((each) => this.merge_heads(each));
    return [this.query.backward(dq), this.key.backward(dk), this.value.backward(dv)]; // (B, T, D), (B, S, D) twice
  },
});

Object.assign(LayerNorm.prototype, {
  /**
   * With x̂ the normalised features and g = γ dL/dy, for D features:
   *
   *     dL/dx = (g − mean(g) − x̂ mean(g x̂)) / √(σ² + ε)
   */
  backward(dy) {
    const { data, shape } = this.x;
    const D = this.x.size(-1);
    const dx = zeros(...shape);
    const scaled = zeros(...shape); // dL/dy x̂
    for (let start = 0; start < data.length; start += D) {
      const [mean, root] = this.moments(data, start, D);
      let of_g = 0, of_products = 0;
      for (let d = 0; d < D; d += 1) {
        scaled.data[start + d] = (dy.data[start + d] * (data[start + d] - mean)) / root;
        of_g += (this.weight.data[d] * dy.data[start + d]) / D;
        of_products += (this.weight.data[d] * scaled.data[start + d]) / D;
      }
      for (let d = 0; d < D; d += 1) {
        const along = ((data[start + d] - mean) / root) * of_products;
        dx.data[start + d] = (this.weight.data[d] * dy.data[start + d] - of_g - along) / root;
      }
    }
    accumulate(this.weight, sum_rows(scaled.data, D));
    if (this.bias) accumulate(this.bias, sum_rows(dy.data, D));
    return dx; // (…, D)
  },
});

/** Through a norm, or through what stands there without one. */
const through = (norm, dy) => norm.backward?.(dy) ?? dy;

/** Through the feed-forward network; where there is none, nothing depends on x. */
const through_network = (network, dy) => network.backward?.(dy) ?? zeros(...dy.shape);

Object.assign(Residual.prototype, {
  /** What the sublayer gets, and what the stream gets, add up; `sublayer` goes backwards, too. */
  backward(dy, sublayer) {
    const dsum = this.pre_norm ? dy : through(this.norm, dy); // (B, T, D)
    const dx = sublayer(this.dropout.backward(dsum)); // (B, T, D)
    const change = this.pre_norm ? through(this.norm, dx) : dx; // (B, T, D)
    return this.residual ? add(dsum, change) : change; // (B, T, D)
  },
});

Object.assign(FeedForward.prototype, {
  backward(dy) {
    const dhidden = this.linear2.backward(dy); // (…, F)
    return this.linear1.backward(this.activation.backward(dhidden, this.linear1.y)); // (…, D)
  },
});

Object.assign(TokenEmbedding.prototype, {
  /** The row of each token gets √d_model times the gradient of every place where it stands. */
  backward(dx) {
    const gradient = new Float32Array(this.weight.data.length); // (V, D)
    const D = dx.size(-1);
    this.tokens.flat().forEach((token, n) => {
      for (let d = 0; d < D; d += 1) gradient[token * D + d] += dx.data[n * D + d] * this.scale;
    });
    accumulate(this.weight, gradient);
  },
});

Object.assign(Positions.prototype, {
  /** (B, T, D) → (B, T, D); each row of the table, learned or not, gets its position's gradient of all sentences. */
  backward(dy) {
    dy = this.dropout.backward(dy);
    const gradient = new Float32Array(this.table.data.length); // (max_length, D)
    const row = dy.size(1) * dy.size(2);
    for (let i = 0; i < dy.data.length; i += 1) gradient[i % row] += dy.data[i];
    accumulate(this.table, gradient);
    return dy;
  },
});

Object.assign(EncoderLayer.prototype, {
  /** dL/dy → dL/dx. Query, key and value are one vector, so its gradients add up. */
  backward(dy) {
    dy = this.feed_forward_residual.backward(dy, (d) => through_network(this.feed_forward, d)); // (B, S, D)
    return this.attention_residual.backward(dy, (d) => this.self_attention.backward(d).reduce(add)); // (B, S, D)
  },
});

Object.assign(Encoder.prototype, {
  backward(dy) {
    return this.layers.reduceRight((d, layer) => layer.backward(d), through(this.norm, dy)); // (B, S, D)
  },
});

Object.assign(DecoderLayer.prototype, {
  /** dL/dy → dL/dx and dL/dmemory, which has been key and value. */
  backward(dy) {
    let dmemory; // (B, S, D)
    dy = this.feed_forward_residual.backward(dy, (d) => through_network(this.feed_forward, d)); // (B, T, D)
    dy = this.cross_residual.backward(dy, (d) => {
      const [dquery, dkey, dvalue] = this.cross_attention.backward(d);
      dmemory = add(dkey, dvalue);
      return dquery;
    }); // (B, T, D)
    return [this.self_residual.backward(dy, (d) => this.self_attention.backward(d).reduce(add)), dmemory];
  },
});

Object.assign(Decoder.prototype, {
  /** dL/dy → dL/dx and dL/dmemory: every layer has read the memory, so its gradients add up. */
  backward(dy) {
    let [dx, dmemory] = [through(this.norm, dy), null];
    for (const layer of [...this.layers].reverse()) {
      const [below, read] = layer.backward(dx); // (B, T, D), (B, S, D)
      [dx, dmemory] = [below, dmemory ? add(dmemory, read) : read];
    }
    return [dx, dmemory];
  },
});

Object.assign(Transformer.prototype, {
  /** dL/dlogits (B, T, V) → every parameter's gradient, in its `grad`. */
  backward(dlogits) {
    const [dy, dmemory] = this.decoder.backward(this.output.backward(dlogits)); // (B, T, D), (B, S, D)
    this.target_embedding.backward(this.target_positions.backward(dy));
    this.source_embedding.backward(this.source_positions.backward(this.encoder.backward(dmemory)));
  },
});
