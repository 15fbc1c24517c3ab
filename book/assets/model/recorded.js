// A search for the beam explorer: every beginning that it may come by, with what may follow it.
//
// As `record_search` in transformer_book.widgets.beam: the explorer runs the search itself, with any
// number of beams up to `beams` and any length penalty, on what is recorded here.

import { decode_step, logits_after, new_cache } from "./decoder_cache.js";
import { EOS, PAD, SOS, log_softmax, topk } from "./decoding.js";
import { padding_mask } from "./masks.js";

const LONGEST = 40;

/** What may follow each beginning: what was computed for one serves all that continue it. */
class Beginnings {
  constructor(model, source, cached) {
    this.model = model;
    if (cached && model.config.causal) {
      this.caches = new Map();
      this.start = new_cache(model, source);
    } else {
      this.memory_mask = padding_mask([source]); // (1, 1, 1, S)
      this.memory = model.encode([source], this.memory_mask); // (1, S, D)
    }
  }

  /** The logits (V) after the tokens that lead to `node`; its parent has been asked before. */
  logits(node, parent, tokens) {
    if (!this.caches) return logits_after(this.model, tokens, this.memory, this.memory_mask).data;
    const cache = (this.caches.get(parent) ?? this.start).copy();
    this.caches.set(node, cache);
    return decode_step(this.model, [tokens.at(-1)], cache).data;
  }
}

/**
 * Record a search for source ids: a generator that hands out how many beginnings it has seen.
 *
 * It returns nodes, [parent, token, log-probability], parents first. A parent is a place in this
 * list, −1 for the empty beginning.
 */
export function* recorded_search(model, source, { max_length, cached = true, beams = 4 }) {
  const beginnings = new Beginnings(model, source, cached);
  const nodes = [];
  const children = new Map();

  function expand(node) {
    if (children.has(node)) return;
    const tokens = [];
    for (let at = node; at >= 0; [at] = nodes[at]) tokens.unshift(nodes[at][1]);
    const parent = node < 0 ? null : nodes[node][0];
    const log_p = log_softmax(beginnings.logits(node, parent, [SOS, ...tokens]), [PAD, SOS]);
    const best = topk(log_p, 2 * beams).filter((token) => Math.exp(log_p[token]) > 0);
    children.set(node, best.map((_, i) => nodes.length + i));
    // Five digits after the point, as in Python.
    nodes.push(...best.map((token) => [node, token, Math.min(0, Number(log_p[token].toFixed(5)))]));
  }

  for (let beam_size = 1; beam_size <= beams; beam_size += 1) {
    let beams = [[-1, 0]]; // [a place in nodes, the sum of its log-probabilities]
    for (let length = 1; length <= Math.min(max_length, LONGEST); length += 1) {
      for (const [node] of beams) {
        expand(node);
        yield children.size;
      }
      const ranked = beams
        .flatMap(([node, total]) => children.get(node).map((child) => [child, total + nodes[child][2]]))
        .sort((a, b) => b[1] - a[1]);
      if (ranked.slice(0, beam_size).every(([node]) => nodes[node][1] === EOS)) break;
      beams = ranked.filter(([node]) => nodes[node][1] !== EOS).slice(0, beam_size);
    }
  }
  return nodes;
}
