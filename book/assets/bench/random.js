// Random numbers that a seed determines, and that can be taken up again where they were left.

/** Draws from [0, 1). `state` is all that there is to keep. The generator is mulberry32 (T. Ettinger, public domain). */
export class Random {
  constructor(seed) {
    this.state = seed >>> 0;
    this.draw = () => {
      this.state = (this.state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  /** A whole number from `low` to `high`, both included. */
  between(low, high) {
    return low + Math.floor(this.draw() * (high - low + 1));
  }
}
