// What surrounds attention: layer norm, residuals, the feed-forward network (chapters 10, 11).

import { Linear, Tensor, add, zeros } from "./tensors.js";

/**
 * Bring the features of each position to mean 0 and variance 1, then scale and shift.
 *
 *     y = γ (x − μ) / √(σ² + ε) + β,  μ = Σ x_d / D,  σ² = Σ (x_d − μ)² / D
 *
 * (…, D) → (…, D). The mean and the (biased) variance are taken over one position only.
 *
 * Source: Ba et al. (2016).
 */
export class LayerNorm {
  constructor(weights, name, hooks, eps = 1e-5) {
    Object.assign(this, { name, hooks, eps });
    this.weight = weights.get(`${name}.weight`); // (D)
    this.bias = weights.maybe(`${name}.bias`); // (D)
  }

  forward(x) {
    const D = x.size(-1);
    const y = zeros(...x.shape); // (…, D)
    for (let start = 0; start < x.data.length; start += D) {
      const [mean, root] = this.moments(x.data, start, D);
      for (let d = 0; d < D; d += 1) {
        y.data[start + d] = (this.weight.data[d] * (x.data[start + d] - mean)) / root + (this.bias?.data[d] ?? 0);
      }
    }
    return this.hooks.see(this.name, "output", y); // (…, D)
  }

  /** μ and √(σ² + ε) of a position. */
  moments(data, start, D) {
    let mean = 0, variance = 0;
    for (let d = 0; d < D; d += 1) mean += data[start + d] / D;
    for (let d = 0; d < D; d += 1) variance += (data[start + d] - mean) ** 2 / D;
    return [mean, Math.sqrt(variance + this.eps)];
  }
}

/** f of every number. */
const mapped = ({ data, shape }, f) => new Tensor(data.map(f), ...shape);

const relu = (x) => mapped(x, (each) => Math.max(0, each));

/** x Φ(x). */
const gelu = (x) => mapped(x, (each) => each * distribution(each));

/** Φ of the normal distribution, to 1e-7. Source: Abramowitz and Stegun (1964), formula 7.1.26. */
export function distribution(x) {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return (1 + Math.sign(x) * (1 - sum * Math.exp(-z * z))) / 2;
}

/** Sort each pair of neighbouring features. Source: Anil et al. (2019), with groups of two. */
const group_sort = (x) =>
  mapped(x, (each, i, all) => (i % 2 ? Math.max(all[i - 1], each) : Math.min(each, all[i + 1])));

export const ACTIVATIONS = { relu, gelu, groupsort: group_sort };

/**
 * The same two-layer network at every position: f(x W_1 + b_1) W_2 + b_2, (…, D) → (…, D).
 *
 * Source: Vaswani et al. (2017), section 3.3.
 */
export class FeedForward {
  constructor(weights, name, { activation }, hooks) {
    Object.assign(this, { name, hooks });
    this.linear1 = new Linear(weights, `${name}.linear1`);
    this.linear2 = new Linear(weights, `${name}.linear2`);
    this.activation = ACTIVATIONS[activation];
    if (!this.activation) throw new Error(`This page computes no activation of the name ${activation}.`);
  }

  forward(x) {
    const hidden = this.hooks.see(this.name, "hidden", this.activation(this.linear1.forward(x))); // (…, F)
    return this.linear2.forward(hidden); // (…, D)
  }
}

/** The network that a configuration asks for; without one a layer adds nothing (an ablation). */
export const feed_forward = (weights, name, config, hooks) =>
  config.feed_forward ? new FeedForward(weights, name, config, hooks) : { forward: (x) => zeros(...x.shape) };

/**
 * Wrap a sublayer f in a residual connection and a layer norm.
 *
 *     pre: x + f(norm(x))    post: norm(x + f(x))    none: x + f(x)
 *
 * x (B, T, D) and a function (B, T, D) → (B, T, D) give (B, T, D). `see` is shown what the sublayer
 * adds ("change"), what it is added to ("stream") and their sum.
 *
 * Source: post: Vaswani et al. (2017), section 5.4; pre: Xiong et al. (2020).
 */
export class Residual {
  constructor(weights, name, { norm, residual }, hooks) {
    Object.assign(this, { name, hooks, residual, pre_norm: norm === "pre" });
    this.norm = norm === "none" ? { forward: (x) => x } : new LayerNorm(weights, `${name}.norm`, hooks);
  }

  forward(x, sublayer, start = null) {
    const see = (stage, value) => this.hooks.see(this.name, stage, value, start);
    const stream = see("stream", this.residual ? x : zeros(...x.shape)); // (B, T, D)
    const change = see("change", sublayer(this.pre_norm ? this.norm.forward(x) : x)); // (B, T, D)
    const sum = see("sum", add(stream, change)); // (B, T, D)
    return this.pre_norm ? sum : this.norm.forward(sum); // (B, T, D)
  }
}

/** The norm after the last layer of a pre-norm stack; a post-norm stack has just been normalised. */
export const final_norm = (weights, name, { norm }, hooks) =>
  norm === "pre" ? new LayerNorm(weights, name, hooks) : { forward: (x) => x };
