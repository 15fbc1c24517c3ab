// Numbers in rows: the few operations that the model needs, on plain typed arrays.
//
// PyTorch brings these along. Every loop that runs often goes through memory in order.

/** Numbers and their shape: `data` holds them row by row, the last axis fastest. */
export class Tensor {
  constructor(data, ...shape) {
    this.data = data;
    this.shape = shape;
  }

  /** The size of an axis; −1 is the last. */
  size(axis) {
    return this.shape.at(axis);
  }

  /** The same numbers, read in another shape. */
  view(...shape) {
    return new Tensor(this.data, ...shape);
  }
}

const product = (sizes) => sizes.reduce((total, size) => total * size, 1);

/** A tensor of zeros. */
export const zeros = (...shape) => new Tensor(new Float32Array(product(shape)), ...shape);

/** x + y, entry by entry; a y with fewer axes is added to every block of its size. */
export function add(x, y) {
  const sum = zeros(...x.shape);
  for (let i = 0; i < x.data.length; i += 1) sum.data[i] = x.data[i] + y.data[i % y.data.length];
  return sum;
}

/** Σ_k a[i + k] b[j + k], for k below n. Four sums at once: none waits for the one before it. */
export function dot(a, i, b, j, n) {
  let first = 0, second = 0, third = 0, fourth = 0, k = 0;
  for (; k + 3 < n; k += 4) {
    first += a[i + k] * b[j + k];
    second += a[i + k + 1] * b[j + k + 1];
    third += a[i + k + 2] * b[j + k + 2];
    fourth += a[i + k + 3] * b[j + k + 3];
  }
  for (; k < n; k += 1) first += a[i + k] * b[j + k];
  return first + second + (third + fourth);
}

/**
 * a bᵀ for a (N, K) and b (M, K) → (N, M): entry i, j is the dot product of two rows.
 *
 * Four rows of a by two of b at once, so that each number that is read serves several products; the
 * rows that are left over come one by one, by four rows of b.
 */
export function matmul_transposed(a, b, N, M, K) {
  const c = new Float32Array(N * M);
  const last = M - 1; // at the end the last row of b may be taken repeatedly
  const blocks = N - (N % 4);
  for (let i = 0; i < blocks; i += 4) {
    const [a0, a1, a2, a3] = [i * K, (i + 1) * K, (i + 2) * K, (i + 3) * K];
    for (let j = 0; j < M; j += 2) {
      const next = Math.min(j + 1, last);
      const [b0, b1] = [j * K, next * K];
      let c00 = 0, c10 = 0, c20 = 0, c30 = 0, c01 = 0, c11 = 0, c21 = 0, c31 = 0;
      for (let k = 0; k < K; k += 1) {
        const u = b[b0 + k], v = b[b1 + k];
        const x0 = a[a0 + k], x1 = a[a1 + k], x2 = a[a2 + k], x3 = a[a3 + k];
        c00 += x0 * u;
        c10 += x1 * u;
        c20 += x2 * u;
        c30 += x3 * u;
        c01 += x0 * v;
        c11 += x1 * v;
        c21 += x2 * v;
        c31 += x3 * v;
      }
      const row = i * M;
      c[row + j] = c00;
      c[row + M + j] = c10;
      c[row + 2 * M + j] = c20;
      c[row + 3 * M + j] = c30;
      c[row + next] = c01;
      c[row + M + next] = c11;
      c[row + 2 * M + next] = c21;
      c[row + 3 * M + next] = c31;
    }
  }
  const left = Float64Array.from(a.subarray(blocks * K, N * K)); // widened once, not at every product
  for (let i = blocks; i < N; i += 1) {
    const row = (i - blocks) * K;
    for (let j = 0; j < M; j += 4) {
      const [j0, j1, j2, j3] = [j, Math.min(j + 1, last), Math.min(j + 2, last), Math.min(j + 3, last)];
      const [b0, b1, b2, b3] = [j0 * K, j1 * K, j2 * K, j3 * K];
      let c0 = 0, c1 = 0, c2 = 0, c3 = 0;
      for (let k = 0; k < K; k += 1) {
        const x = left[row + k];
        c0 += x * b[b0 + k];
        c1 += x * b[b1 + k];
        c2 += x * b[b2 + k];
        c3 += x * b[b3 + k];
      }
      c[i * M + j0] = c0;
      c[i * M + j1] = c1;
      c[i * M + j2] = c2;
      c[i * M + j3] = c3;
    }
  }
  return c;
}

/** What PyTorch calls `nn.Linear`: x Wᵀ + b, for weight (O, I) and bias (O) or none. */
export class Linear {
  constructor(weights, name) {
    this.weight = weights.get(`${name}.weight`); // (O, I)
    this.bias = weights.maybe(`${name}.bias`); // (O)
  }

  /** (…, I) → (…, O). */
  forward(x) {
    this.x = x; // for backward
    const [outputs, inputs] = this.weight.shape;
    const data = matmul_transposed(x.data, this.weight.data, x.data.length / inputs, outputs, inputs);
    const y = new Tensor(data, ...x.shape.slice(0, -1), outputs); // (…, O)
    return this.bias ? add(y, this.bias) : y;
  }
}

/** exp(s_j) / Σ exp(s_m) in each row, in place. The largest is taken off: no exponential overflows. */
export function softmax(scores) {
  const { data } = scores;
  const width = scores.size(-1);
  for (let start = 0; start < data.length; start += width) {
    let largest = -Infinity;
    for (let i = start; i < start + width; i += 1) largest = Math.max(largest, data[i]);
    let total = 0;
    for (let i = start; i < start + width; i += 1) {
      data[i] = Math.exp(data[i] - largest);
      total += data[i];
    }
    for (let i = start; i < start + width; i += 1) data[i] /= total;
  }
  return scores;
}

/** Tensors that differ only in one axis, one behind the other along it. */
export function cat(tensors, axis) {
  const { shape } = tensors[0];
  const joined = tensors.reduce((total, tensor) => total + tensor.shape[axis], 0);
  const all = zeros(...shape.slice(0, axis), joined, ...shape.slice(axis + 1));
  const outer = product(shape.slice(0, axis));
  let place = 0;
  for (let block = 0; block < outer; block += 1) {
    for (const tensor of tensors) {
      const size = tensor.data.length / outer;
      all.data.set(tensor.data.subarray(block * size, (block + 1) * size), place);
      place += size;
    }
  }
  return all;
}

/** These rows of the first axis, in this order. */
export function index_select(x, rows) {
  const size = x.data.length / x.shape[0];
  const chosen = zeros(rows.length, ...x.shape.slice(1));
  rows.forEach((row, n) => chosen.data.set(x.data.subarray(row * size, (row + 1) * size), n * size));
  return chosen;
}

/** A tensor with its middle axes exchanged: (A, B, C, D) → (A, C, B, D). */
export function transpose(x) {
  const [a, b, c, d] = x.shape;
  const turned = zeros(a, c, b, d);
  for (let i = 0; i < a; i += 1) {
    for (let j = 0; j < b; j += 1) {
      for (let k = 0; k < c; k += 1) {
        const from = ((i * b + j) * c + k) * d;
        turned.data.set(x.data.subarray(from, from + d), ((i * c + k) * b + j) * d);
      }
    }
  }
  return turned;
}

/**
 * Those who look at a model while it computes, and may change what they see.
 *
 * Every module shows each stage of its work: `value = see(name, stage, value)`. A hook is a
 * function (value, {name, stage, start}) that returns another value, or nothing to leave it as it
 * is. `name` is the module's, as in the state dict ("encoder.layers.0.self_attention"), `stage`
 * what the module has just made ("scores"). A decoder with a cache computes one position at a time,
 * for all its beams: that is `start`; it is null where row t is position t. This is the only way in:
 * for recording, and for every intervention.
 */
export class Hooks {
  constructor() {
    this.hooks = [];
    this.random = null; // draws for dropout from [0, 1) while the model is trained
    this.see = (name, stage, value, start = null) =>
      this.hooks.reduce((seen, hook) => hook(seen, { name, stage, start }) ?? seen, value);
  }
}
