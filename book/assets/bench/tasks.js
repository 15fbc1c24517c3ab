// What the bench's models learn: pairs that are made while they train, or captions from a file.
// Source and target share one vocabulary.

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

/** Tokens, the most frequent first, equals by spelling: as the package's `Vocabulary.build` has them. */
function by_frequency(sentences) {
  const counts = new Map();
  for (const token of sentences.flat()) counts.set(token, (counts.get(token) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([token]) => token);
}

/** Load what a task needs; the captions are in a file of their own, which only their task reads. */
export async function prepare({ task }) {
  if (task !== "captions" || TASKS.captions) return;
  const { recipe, ...texts } = await import("./captions.js");
  const pairs = (text) => text.trim().split("\n").map((line) => Object.fromEntries(line.split("\t").map((side, i) => [["source", "target"][i], side.split(" ")])));
  const splits = { train: pairs(texts.train), validation: pairs(texts.validation) };
  const sides = (some) => some.flatMap(({ source, target }) => [source, target]);
  const longest = 2 + Math.max(...Object.values(splits).flatMap(sides).map(({ length }) => length));
  const spoken = by_frequency(splits.train.map(({ target }) => target));
  TASKS.captions = { splits, recipe, longest, spoken, symbols: by_frequency(sides(splits.train)) };
}

/** One source in ten is kept from training, by a hash of its text. Source: Fowler, Noll and Vo's FNV-1a. */
export function is_held_out(source) {
  let hash = 0x811c9dc5;
  for (const symbol of source) hash = Math.imul(hash ^ symbol.codePointAt(0), 0x01000193) >>> 0;
  return (hash ^ (hash >>> 15)) % 10 === 0;
}

/** A task of some lengths: training pairs without end, and pairs for validation that training never sees. */
export class Task {
  constructor({ task, min_length, max_length }) {
    // Ids of a side, with <sos> and <eos>, and a digit that is carried.
    Object.assign(this, { longest: max_length + 2, lengths: { min_length, max_length } }, TASKS[task]);
    this.spoken ??= this.symbols; // what stands in targets
    this.vocab_size = N_SPECIALS + this.symbols.length;
    this.numbers = new Map(this.symbols.map((symbol, i) => [symbol, N_SPECIALS + i]));
  }

  ids(symbols) {
    return symbols.map((symbol) => this.numbers.get(symbol) ?? UNK);
  }

  /** Ids as a reader sees them, up to <eos>. */
  text(ids) {
    const end = ids.indexOf(EOS);
    const shown = (id) => this.symbols[id - N_SPECIALS] ?? ["<pad>", "<sos>", "<eos>", "<unk>"][id];
    return (end < 0 ? ids : ids.slice(0, end)).map(shown);
  }

  /** A pair of the training split, or of the others. */
  pair(random, held_out = false) {
    if (this.splits) {
      const some = this.splits[held_out ? "validation" : "train"];
      return some[random.between(0, some.length - 1)];
    }
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
      found.set(pair.source.join(" "), pair);
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
