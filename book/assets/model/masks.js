// Masks: 1 = may attend, 0 = may not, broadcastable to (B, H, T, S) (chapter 8).

import { Tensor } from "./tensors.js";

const PAD = 0;

/** Every query may attend to every key that is a real token: tokens (B, S) → (B, 1, 1, S). */
export function padding_mask(tokens) {
  const data = Uint8Array.from(tokens.flat(), (token) => (token === PAD ? 0 : 1));
  return new Tensor(data, tokens.length, 1, 1, tokens[0].length); // (B, 1, 1, S)
}

/** Position i may attend to itself and to what came before: m_ij = [j ≤ i], as (T, T). */
export function causal_mask(length) {
  const mask = new Tensor(new Uint8Array(length * length), length, length); // (T, T)
  for (let i = 0; i < length; i += 1) mask.data.fill(1, i * length, i * length + i + 1);
  return mask;
}

/** What a decoder's self-attention may see: real tokens that are not in the future. */
export function target_mask(tokens) {
  const [batch, length] = [tokens.length, tokens[0].length];
  const [real, causal] = [padding_mask(tokens), causal_mask(length)];
  const mask = new Tensor(new Uint8Array(batch * length * length), batch, 1, length, length);
  for (let i = 0; i < mask.data.length; i += 1) {
    const [row, key] = [Math.floor(i / length), i % length];
    const sentence = Math.floor(row / length);
    mask.data[i] = causal.data[(row % length) * length + key] & real.data[sentence * length + key];
  }
  return mask; // (B, 1, T, T)
}
