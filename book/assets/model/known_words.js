// Which words a model met often enough in training to know them; the others it guesses.

/** What known_words.json holds. A word is a run of letters and digits, whatever stands around it. */
export class KnownWords {
  constructor({ source, lowercase }, unicode) {
    this.unicode = unicode;
    this.source = new Set(source);
    this.lowercase = lowercase;
    this.word = unicode.regex("[^%W_]+", "g");
  }

  /** The words of a source text that training seldom or never met, as written, each once. */
  rare(text) {
    return [...new Set(this.words(text).filter((word) => !this.source.has(this.spelled(word))))];
  }

  spelled(word) {
    return this.lowercase ? this.unicode.lower(word) : word;
  }

  words(text) {
    return this.unicode.uniform(text).match(this.word) ?? [];
  }
}
