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
    this.name = name;
    this.hooks = hooks;
    this.weight = weights.get(`${name}.weight`); // (D)
    this.bias = weights.maybe(`${name}.bias`); // (D)
    this.eps = eps;
  }

  forward(x) {
    this.x = x; // for backward
    const D = x.size(-1);
    const y = zeros(...x.shape); // (…, D)
    for (let start = 0; start < x.data.length; start += D) {
      const [mean, root] = this.moments(start, D);
      for (let d = 0; d < D; d += 1) {
        const shift = this.bias ? this.bias.data[d] : 0;
        y.data[start + d] = (this.weight.data[d] * (x.data[start + d] - mean)) / root + shift;
      }
    }
    return this.hooks.see(this.name, "output", y); // (…, D)
  }

  /** μ and √(σ² + ε) of the position that begins there. */
  moments(start, D) {
    const { data } = this.x;
    let mean = 0, variance = 0;
    for (let d = 0; d < D; d += 1) mean += data[start + d] / D;
    for (let d = 0; d < D; d += 1) variance += (data[start + d] - mean) ** 2 / D;
    return [mean, Math.sqrt(variance + this.eps)];
  }
}

/**
 * While a model is trained: zero each number with probability p, divide the others by 1 − p.
 *
 * Outside training, when `hooks.random` is null, nothing happens.
 */
export class Dropout {
  constructor(p, hooks) {
    Object.assign(this, { p: p ?? 0, hooks });
  }

  forward(x) {
    const { random } = this.hooks;
    this.kept = random && this.p > 0 ? x.data.map(() => (random() < this.p ? 0 : 1 / (1 - this.p))) : null;
    return this.kept ? new Tensor(x.data.map((each, i) => each * this.kept[i]), ...x.shape) : x;
  }
}

/** f of every number, in place. */
function mapped(x, f) {
  for (let i = 0; i < x.data.length; i += 1) x.data[i] = f(x.data[i]);
  return x;
}

const relu = (x) => mapped(x, (each) => Math.max(0, each));

/** The distribution function Φ of the normal distribution. */
export const distribution = (x) => (1 + erf(x / Math.SQRT2)) / 2;

/** x Φ(x). */
const gelu = (x) => mapped(x, (each) => each * distribution(each));

/** The error function, to 1.5e-7. Source: Abramowitz and Stegun (1964), formula 7.1.26. */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - sum * Math.exp(-x * x));
}

/** Sort each pair of neighbouring features. Source: Anil et al. (2019), with groups of two. */
function group_sort({ data, shape }) {
  for (let i = 0; i < data.length; i += 2) if (data[i] > data[i + 1]) [data[i], data[i + 1]] = [data[i + 1], data[i]];
  return new Tensor(data, ...shape);
}

export const ACTIVATIONS = { relu, gelu, groupsort: group_sort };

/**
 * The same two-layer network at every position: f(x W_1 + b_1) W_2 + b_2, (…, D) → (…, D).
 *
 * Source: Vaswani et al. (2017), section 3.3.
 */
export class FeedForward {
  constructor(weights, name, { activation }, hooks) {
    this.name = name;
    this.hooks = hooks;
    this.linear1 = new Linear(weights, `${name}.linear1`);
    this.linear2 = new Linear(weights, `${name}.linear2`);
    this.activation = ACTIVATIONS[activation];
    if (!this.activation) throw new Error(`This page computes no activation of the name ${activation}.`);
  }

  forward(x) {
    const before = this.linear1.forward(x); // (…, F)
    this.before = this.hooks.random ? new Tensor(before.data.slice(), ...before.shape) : null; // for backward
    const hidden = this.hooks.see(this.name, "hidden", this.activation(before)); // (…, F)
    return this.linear2.forward(hidden); // (…, D)
  }
}

export const nothing = { forward: (x) => zeros(...x.shape) };
export const identity = { forward: (x) => x };

/** The network that a configuration asks for; without one a layer adds nothing (an ablation). */
export const feed_forward = (weights, name, config, hooks) =>
  config.feed_forward ? new FeedForward(weights, name, config, hooks) : nothing;

/**
 * Wrap a sublayer f in a residual connection and a layer norm.
 *
 *     pre: x + f(norm(x))    post: norm(x + f(x))    none: x + f(x)
 *
 * In training f(…) passes through dropout.
 * x (B, T, D) and a function (B, T, D) → (B, T, D) give (B, T, D). `see` is shown what the sublayer
 * adds ("change"), what it is added to ("stream") and their sum.
 *
 * Source: post: Vaswani et al. (2017), section 5.4; pre: Xiong et al. (2020).
 */
export class Residual {
  constructor(weights, name, { norm, residual, dropout }, hooks) {
    Object.assign(this, { name, hooks, residual, pre_norm: norm === "pre" });
    this.norm = norm === "none" ? identity : new LayerNorm(weights, `${name}.norm`, hooks);
    this.dropout = new Dropout(dropout, hooks);
  }

  forward(x, sublayer, start = null) {
    const see = (stage, value) => this.hooks.see(this.name, stage, value, start);
    const stream = see("stream", this.residual ? x : zeros(...x.shape)); // (B, T, D)
    const added = this.dropout.forward(sublayer(this.pre_norm ? this.norm.forward(x) : x)); // (B, T, D)
    const change = see("change", added); // (B, T, D)
    const sum = see("sum", add(stream, change)); // (B, T, D)
    return this.pre_norm ? sum : this.norm.forward(sum); // (B, T, D)
  }
}

/** The norm after the last layer of a pre-norm stack; a post-norm stack has just been normalised. */
export const final_norm = (weights, name, { norm }, hooks) =>
  norm === "pre" ? new LayerNorm(weights, name, hooks) : identity;
