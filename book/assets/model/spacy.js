// Words and punctuation marks by spaCy's rules for one language.
//
// This is the algorithm of spaCy's own tokenizer (github.com/explosion/spaCy, tokenizer.pyx, MIT
// licence), with the rules that `spacy.blank(language)` has; the site's build writes them to
// spacy-de.json and so on.

/**
 * Split a text as spaCy's blank tokenizer does, into tokens without white space.
 *
 * rules: {prefix, suffix, infix, url, exceptions}: four regular expressions, and for each exception
 * its parts. unicode: a `Unicode`.
 */
export class SpacySplitter {
  constructor(rules, unicode) {
    this.unicode = unicode;
    this.prefix = unicode.regex(rules.prefix);
    this.suffix = unicode.regex(rules.suffix);
    this.infix = unicode.regex(rules.infix, "g");
    this.url = unicode.regex(rules.url, "y"); // Python's match: from the beginning
    this.exceptions = new Map(Object.entries(rules.exceptions));
    this.known = new Map(); // runs that have been split
    this.sequences = this.sequencesOfExceptions();
  }

  /**
   * Exceptions that the other rules would have split before looking them up, each as the sequence
   * of its parts. {sequences, longest}
   */
  sequencesOfExceptions() {
    const sequences = new Set();
    let longest = 0;
    for (const exception of this.exceptions.keys()) {
      const apart =
        this.lengthOf(this.prefix, exception) ||
        this.lengthOf(this.suffix, exception) ||
        this.infixes(exception).length ||
        exception.includes(" ");
      if (!apart) continue;
      const tokens = this.runs(exception, false).map(({ text }) => text);
      sequences.add(JSON.stringify(tokens));
      longest = Math.max(longest, tokens.length);
    }
    return { sequences, longest };
  }

  split(text) {
    const tokens = this.withExceptions(this.runs(text, true));
    return tokens.filter((token) => !this.unicode.is("space", token));
  }

  /** Runs of white space and of other characters, the latter split: [{text, spaced}]. */
  runs(text, withExceptions) {
    const found = [];
    const add = (run) => {
      if (run) found.push(...this.word(run, withExceptions).map((token) => ({ text: token, spaced: false })));
    };
    let start = 0;
    let inSpace = null;
    let i = 0;
    for (const character of text) {
      const isSpace = this.unicode.is("space", character);
      if (inSpace !== null && isSpace !== inSpace) {
        add(text.slice(start, i));
        start = i;
        if (character === " ") {
          found.at(-1).spaced = true; // one space belongs to the token before it
          start = i + 1;
        }
      }
      inSpace = isSpace;
      i += character.length;
    }
    add(text.slice(start));
    return found;
  }

  /** One run: an exception as a whole, or split at its ends, then inside. */
  word(run, withExceptions) {
    const key = `${withExceptions}${run}`;
    if (!this.known.has(key)) {
      const whole = withExceptions && this.exceptions.get(run);
      this.known.set(key, whole || this.affixes(run, withExceptions));
    }
    return this.known.get(key);
  }

  /** Take prefixes and suffixes off until nothing changes, then split what is left. */
  affixes(run, withExceptions) {
    const isException = (text) => withExceptions && text && this.exceptions.has(text);
    const [prefixes, suffixes] = [[], []];
    let last = null;
    while (run && run !== last && !isException(run)) {
      last = run;
      const before = this.lengthOf(this.prefix, run);
      if (before && isException(run.slice(before))) {
        prefixes.push(run.slice(0, before));
        run = run.slice(before);
        break;
      }
      const after = this.lengthOf(this.suffix, run.slice(before));
      const end = run.length - after;
      if (after && isException(run.slice(0, end))) {
        suffixes.unshift(run.slice(end));
        run = run.slice(0, end);
        break;
      }
      if (before) prefixes.push(run.slice(0, before));
      const both = before && after && before + after <= run.length;
      if (after && (both || !before)) {
        suffixes.unshift(run.slice(end));
        run = run.slice(0, end);
      }
      if (before) run = run.slice(before);
    }
    return [...prefixes, ...this.middle(run, withExceptions), ...suffixes];
  }

  /** What no prefix and no suffix can be taken off: an exception, an address, or split at infixes. */
  middle(run, withExceptions) {
    if (!run) return [];
    const whole = withExceptions && this.exceptions.get(run);
    if (whole) return whole;
    this.url.lastIndex = 0;
    if (this.url.test(run)) return [run];
    const tokens = [];
    let start = 0;
    for (const [infix, begin] of this.infixes(run)) {
      if (begin === 0) continue; // nothing stands before it
      if (begin !== start) tokens.push(run.slice(start, begin));
      if (infix) tokens.push(infix);
      start = begin + infix.length;
    }
    if (start < run.length) tokens.push(run.slice(start));
    return tokens;
  }

  /** Put together the exceptions that were taken apart; of overlapping ones the longest first. */
  withExceptions(tokens) {
    const { sequences, longest } = this.sequences;
    const matches = [];
    for (let begin = 0; begin < tokens.length; begin += 1) {
      for (let end = begin + 1; end <= Math.min(begin + longest, tokens.length); end += 1) {
        const texts = tokens.slice(begin, end).map(({ text }) => text);
        if (sequences.has(JSON.stringify(texts))) matches.push([begin, end]);
      }
    }
    matches.sort(([b, e], [c, f]) => f - c - (e - b) || b - c);
    const taken = new Set();
    const chosen = new Map();
    for (const [begin, end] of matches) {
      if (!taken.has(begin) && !taken.has(end - 1)) chosen.set(begin, end);
      for (let i = begin; i < end; i += 1) taken.add(i);
    }
    const result = [];
    for (let i = 0; i < tokens.length; ) {
      const end = chosen.get(i) ?? i + 1;
      const span = tokens.slice(i, end);
      const text = span.map((token, k) => token.text + (token.spaced && k + 1 < span.length ? " " : ""));
      const parts = chosen.has(i) && this.exceptions.get(text.join(""));
      result.push(...(parts || span.map((token) => token.text)));
      i = end;
    }
    return result;
  }

  lengthOf(regex, text) {
    return regex.exec(text)?.[0].length ?? 0;
  }

  infixes(text) {
    return Array.from(text.matchAll(this.infix), (match) => [match[0], match.index]);
  }
}
