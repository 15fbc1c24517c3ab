// The weights, as the package ships them: a safetensors file of half-precision numbers.
//
// Eight bytes say how long the header is; the header, JSON, says the type, the shape and the place
// of each tensor; their numbers follow. https://github.com/huggingface/safetensors

import { Tensor } from "./tensors.js";

/** Half-precision numbers (sign, 5 bits of exponent, 10 of fraction) as single-precision ones. */
export function widened(halves) {
  const numbers = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i += 1) {
    const sign = halves[i] & 0x8000 ? -1 : 1;
    const exponent = (halves[i] >> 10) & 0x1f;
    const fraction = halves[i] & 0x3ff;
    if (exponent === 0) numbers[i] = sign * fraction * 2 ** -24; // below the smallest normal number
    else if (exponent === 31) numbers[i] = fraction ? NaN : sign * Infinity;
    else numbers[i] = sign * (1024 + fraction) * POWERS[exponent];
  }
  return numbers;
}

const POWERS = Float64Array.from({ length: 31 }, (_, exponent) => 2 ** (exponent - 25));

const READERS = {
  F16: [Uint16Array, widened],
  F32: [Float32Array, (numbers) => numbers],
  U8: [Uint8Array, (numbers) => numbers],
};

/** The tensors of a file by name. */
export class Weights {
  constructor(tensors) {
    this.tensors = tensors;
  }

  /** A tensor that must be there. */
  get(name) {
    const found = this.tensors.get(name);
    if (!found) throw new Error(`The file of the weights has no ${name}: it belongs to another model.`);
    return found;
  }

  /** A tensor, or null. */
  maybe(name) {
    return this.tensors.get(name) ?? null;
  }
}

/**
 * Read a safetensors file from an ArrayBuffer.
 *
 * Throws an Error, one sentence, for a file that is cut off or something else.
 */
export function load_tensors(buffer) {
  const damaged = (why) => new Error(`The file of the weights cannot be read: ${why}; load the model again.`);
  if (buffer.byteLength < 8) throw damaged("it is cut off");
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (length > buffer.byteLength - 8) throw damaged("it is cut off, or no safetensors file");
  let header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(buffer, 8, length)));
  } catch {
    throw damaged("it is no safetensors file");
  }
  const tensors = new Map();
  for (const [name, about] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const [Type, read] = READERS[about?.dtype] ?? [];
    if (!Type) throw damaged(`${name} has numbers of type ${about?.dtype}`);
    const [begin, end] = about.data_offsets;
    if (8 + length + end > buffer.byteLength) throw damaged("it is cut off");
    const bytes = buffer.slice(8 + length + begin, 8 + length + end); // a copy: it starts aligned
    const count = about.shape.reduce((total, size) => total * size, 1);
    if (count * Type.BYTES_PER_ELEMENT !== bytes.byteLength) throw damaged(`${name} has another size`);
    tensors.set(name, new Tensor(read(new Type(bytes)), ...about.shape));
  }
  return new Weights(tensors);
}
