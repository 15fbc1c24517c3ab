// What the bench's models learn: pairs that are made while they train. All share one vocabulary.

import { Random } from "./random.js";

export const [PAD, SOS, EOS, UNK] = [0, 1, 2, 3];
const N_SPECIALS = 4;
const LETTERS = [..."abcdefg"];
const DIGITS = [..."0123456789+"];

function letters(random, { min_length, max_length }) {
  return Array.from({ length: random.between(min_length, max_length) }, () => LETTERS[random.between(0, LETTERS.length - 1)]);
}

/** Two numbers of as many digits as fit: "47+5". */
function sum_of_two(random, { max_length }) {
  const longest = Math.max(1, Math.floor((max_length - 1) / 2));
  const summand = () => random.between(0, 10 ** random.between(1, longest) - 1);
  return [...`${summand()}+${summand()}`];
}

const added = (source) => [...String(source.join("").split("+").reduce((total, each) => total + Number(each), 0))];

/** For each task its symbols, how a source is drawn, and its target. */
const TASKS = {
  copy: { symbols: LETTERS, draw: letters, target: (source) => source },
  reverse: { symbols: LETTERS, draw: letters, target: (source) => [...source].reverse() },
  sort: { symbols: LETTERS, draw: letters, target: (source) => [...source].sort() },
  addition: { symbols: DIGITS, draw: sum_of_two, target: added },
};

/** One source in ten is kept from training, by a hash of its text. Source: Fowler, Noll and Vo's FNV-1a. */
export function is_held_out(source) {
  let hash = 0x811c9dc5;
  for (const symbol of source) hash = Math.imul(hash ^ symbol.codePointAt(0), 0x01000193) >>> 0;
  return (hash ^ (hash >>> 15)) % 10 === 0;
}

/** A task of some lengths: training pairs without end, and pairs for validation that training never sees. */
export class Task {
  constructor({ task, min_length, max_length }) {
    Object.assign(this, TASKS[task], { lengths: { min_length, max_length } });
    this.vocab_size = N_SPECIALS + this.symbols.length;
    this.longest = max_length + 2; // ids of a side, with <sos> and <eos>, and a digit that is carried
  }

  ids(symbols) {
    return symbols.map((symbol) => N_SPECIALS + this.symbols.indexOf(symbol));
  }

  /** Ids as a reader sees them, up to <eos>. */
  text(ids) {
    const end = ids.indexOf(EOS);
    const shown = (id) => this.symbols[id - N_SPECIALS] ?? ["<pad>", "<sos>", "<eos>", "<unk>"][id];
    return (end < 0 ? ids : ids.slice(0, end)).map(shown);
  }

  /** A pair of the training split, or of the others. */
  pair(random, held_out = false) {
    for (;;) {
      const source = this.draw(random, this.lengths);
      if (is_held_out(source) === held_out) return { source, target: this.target(source) };
    }
  }

  /** n pairs for training, as ids: see `collate`. */
  batch(random, n) {
    return this.collate(Array.from({ length: n }, () => this.pair(random)));
  }

  /** Up to n distinct pairs for validation: the same for every run. */
  validation(n) {
    const random = new Random(2017);
    const found = new Map();
    for (let tries = 0; tries < 20 * n && found.size < n; tries += 1) {
      const pair = this.pair(random, true);
      found.set(pair.source.join(""), pair);
    }
    return [...found.values()];
  }

  /** Pairs as lists of ids, each side filled up with <pad>: source, target_in (from <sos>), target_out. */
  collate(pairs) {
    const padded = (rows) => {
      const longest = Math.max(...rows.map((row) => row.length));
      return rows.map((row) => [...row, ...Array(longest - row.length).fill(PAD)]);
    };
    const [sources, targets] = ["source", "target"].map((side) => pairs.map((pair) => this.ids(pair[side])));
    return {
      source: padded(sources.map((row) => [...row, EOS])),
      target_in: padded(targets.map((row) => [SOS, ...row])),
      target_out: padded(targets.map((row) => [...row, EOS])),
    };
  }
}
