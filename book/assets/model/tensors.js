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

/** What PyTorch calls `nn.Linear`: x Wᵀ + b, for weight (O, I) and bias (O) or none. */
export class Linear {
  constructor(weights, name) {
    this.weight = weights.get(`${name}.weight`); // (O, I)
    this.bias = weights.maybe(`${name}.bias`); // (O)
  }

  /** (…, I) → (…, O). */
  forward(x) {
    const [outputs, inputs] = this.weight.shape;
    const rows = x.data.length / inputs;
    const { data } = this.weight;
    const wide = Float64Array.from(x.data); // widened once, not at every product
    const y = zeros(...x.shape.slice(0, -1), outputs); // (…, O)
    const last = outputs - 1;
    for (let o = 0; o < outputs; o += 4) {
      // Four outputs at a time share each x. At the end the last output may be computed repeatedly.
      const [o0, o1, o2, o3] = [o, Math.min(o + 1, last), Math.min(o + 2, last), Math.min(o + 3, last)];
      const [w0, w1, w2, w3] = [o0 * inputs, o1 * inputs, o2 * inputs, o3 * inputs];
      for (let r = 0; r < rows; r += 1) {
        const start = r * inputs;
        let y0 = 0, y1 = 0, y2 = 0, y3 = 0;
        for (let i = 0; i < inputs; i += 1) {
          const each = wide[start + i];
          y0 += each * data[w0 + i];
          y1 += each * data[w1 + i];
          y2 += each * data[w2 + i];
          y3 += each * data[w3 + i];
        }
        y.data[r * outputs + o0] = y0;
        y.data[r * outputs + o1] = y1;
        y.data[r * outputs + o2] = y2;
        y.data[r * outputs + o3] = y3;
      }
    }
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
    this.see = (name, stage, value, start = null) =>
      this.hooks.reduce((seen, hook) => hook(seen, { name, stage, start }) ?? seen, value);
  }
}
