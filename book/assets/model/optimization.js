// The loss that training lowers, the learning rate, and the optimizers (chapters 15 and 16).

import { zeros } from "./tensors.js";

const PAD = 0;

/**
 * The mean over all real tokens of the cross-entropy with smoothed labels, in nats.
 *
 *     (1 − ε) (−log p_y) + (ε / V) Σ_v (−log p_v)
 *
 * logits (B, T, V), target (B, T), lists of ids. Returns the loss, its first part without smoothing
 * (the nll), and dL/dlogits (B, T, V): (p − (1 − ε) [v = y] − ε / V) / n, for n real tokens.
 *
 * Source: Szegedy et al. (2016), section 7.
 */
export function label_smoothed_loss(logits, target, smoothing = 0) {
  const V = logits.size(-1);
  const { data } = logits;
  const right = target.flat();
  const n = right.filter((token) => token !== PAD).length;
  const gradient = zeros(...logits.shape);
  let nll = 0, spread = 0;
  right.forEach((token, row) => {
    if (token === PAD) return; // padding costs nothing
    const start = row * V;
    let largest = -Infinity, total = 0, sum = 0;
    for (let v = start; v < start + V; v += 1) largest = Math.max(largest, data[v]);
    for (let v = start; v < start + V; v += 1) total += Math.exp(data[v] - largest);
    const shift = largest + Math.log(total); // log p = logit − shift
    for (let v = start; v < start + V; v += 1) {
      sum += data[v] - shift;
      gradient.data[v] = (Math.exp(data[v] - shift) - smoothing / V) / n;
    }
    gradient.data[start + token] -= (1 - smoothing) / n;
    nll -= (data[start + token] - shift) / n;
    spread -= sum / V / n;
  });
  return { loss: (1 - smoothing) * nll + smoothing * spread, nll, gradient };
}

/**
 * The learning rate of update number `update`, counted from 1: `warmup` equal steps up to the peak,
 * then "constant", "inverse_sqrt" (peak √(warmup / update)), "linear" or "cosine" down to zero one
 * update after the last.
 *
 * Source: Vaswani et al. (2017), section 5.3; Loshchilov & Hutter (2017), equation 5.
 */
export function learning_rate(update, { learning_rate: peak, schedule, warmup, updates }) {
  if (update <= warmup) return peak * (update / warmup);
  if (schedule === "inverse_sqrt") return peak * Math.sqrt(Math.max(warmup, 1) / update);
  if (schedule === "constant") return peak;
  const left = Math.max(0, (updates + 1 - update) / (updates + 1 - warmup)); // of the fall
  if (schedule === "linear") return peak * left;
  if (schedule === "cosine") return (peak * (1 - Math.cos(Math.PI * left))) / 2;
  throw new Error(`There is no schedule of the name ${schedule}.`);
}

/** The length of all gradients together; they are scaled down to `limit` if longer, unless it is 0. */
export function clip_gradients(parameters, limit) {
  let squares = 0;
  for (const { grad } of parameters) for (let i = 0; i < grad.length; i += 1) squares += grad[i] ** 2;
  const norm = Math.sqrt(squares);
  const factor = limit > 0 ? Math.min(1, limit / (norm + 1e-6)) : 1; // as PyTorch does
  if (factor < 1) for (const { grad } of parameters) for (let i = 0; i < grad.length; i += 1) grad[i] *= factor;
  return norm;
}

/** Each number a step against its gradient: w ← w − η g. */
export class SGD {
  constructor(parameters) {
    this.parameters = parameters;
  }

  step(rate) {
    for (const { data, grad } of this.parameters) for (let i = 0; i < data.length; i += 1) data[i] -= rate * grad[i];
  }
}

/**
 * Adam: m and v are running means of g and g², corrected for having begun at zero.
 *
 *     w ← w − η m̂ / (√v̂ + ε),  m̂ = m / (1 − β₁ⁿ),  v̂ = v / (1 − β₂ⁿ)
 *
 * Source: Kingma & Ba (2015), algorithm 1.
 */
export class Adam {
  constructor(parameters, { beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9 } = {}) {
    Object.assign(this, { parameters, beta1, beta2, epsilon, n: 0 });
    this.moments = parameters.map(({ data }) => [new Float32Array(data.length), new Float32Array(data.length)]);
  }

  step(rate) {
    this.n += 1;
    const { beta1, beta2, epsilon } = this;
    const [first, second] = [1 - beta1 ** this.n, 1 - beta2 ** this.n];
    this.parameters.forEach(({ data, grad }, p) => {
      const [m, v] = this.moments[p];
      for (let i = 0; i < data.length; i += 1) {
        m[i] = beta1 * m[i] + (1 - beta1) * grad[i];
        v[i] = beta2 * v[i] + (1 - beta2) * grad[i] * grad[i];
        data[i] -= (rate * (m[i] / first)) / (Math.sqrt(v[i] / second) + epsilon);
      }
    });
  }
}

export const OPTIMIZERS = { adam: Adam, sgd: SGD };
