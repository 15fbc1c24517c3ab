// Text exactly as Python treats it: which characters are letters, spaces, printable.
//
// A browser knows a newer Unicode than Python, or an older one. So the site's build writes Python's
// own tables (unicode.json), and this file reads them. What Python does not know yet, it leaves
// alone: such a character has no lower case and composes with nothing.

/** Ranges [first, last, first, last, …] as the inside of a character class. */
const inside = (ranges) => {
  const escaped = ranges.map((code) => `\\u{${code.toString(16)}}`);
  return escaped.map((code, i) => (i % 2 ? `-${code}` : code)).join("");
};

/** What is not in the ranges. */
const others = (ranges) => [0, ...ranges.map((code, i) => (i % 2 ? code + 1 : code - 1)), 0x10ffff];

/** Python's view of text. `tables` is what unicode.json holds. */
export class Unicode {
  constructor(tables) {
    const anyOf = (name) => `[${inside(tables[name])}]`;
    const only = (name) => new RegExp(`^${anyOf(name)}+$`, "u");
    this.tables = tables;
    this.spaces = new RegExp(`${anyOf("space")}+`, "u");
    this.classes = Object.fromEntries(
      ["word", "space", "decimal"].map((name) => [name, [inside(tables[name]), inside(others(tables[name]))]]),
    );
    this.unknown = new RegExp(`(${anyOf("unassigned")}+)`, "u");
    this.unprintable = new RegExp(anyOf("unprintable"), "u");
    this.formatting = new RegExp(anyOf("formatting"), "gu");
    this.tests = Object.fromEntries(["alnum", "alpha", "digit", "space"].map((name) => [name, only(name)]));
  }

  /** `apply` to the runs of characters that Python knows; the others stay. */
  known(text, apply) {
    return text.split(this.unknown).map((run, i) => (i % 2 ? run : apply(run))).join("");
  }

  /** unicodedata.normalize("NFC", text) */
  nfc(text) {
    return this.known(text, (run) => run.normalize("NFC"));
  }

  /** text.lower() */
  lower(text) {
    return this.known(text, (run) => run.toLowerCase());
  }

  /** text.isalnum(), isalpha(), isdigit(), isspace(): `is("alpha", text)`. */
  is(name, text) {
    return this.tests[name].test(text);
  }

  /** text.isprintable() */
  isprintable(text) {
    return !this.unprintable.test(text);
  }

  /** text.split() */
  split(text) {
    return text.split(this.spaces).filter((word) => word);
  }

  /** A regular expression in which %w %s %d (and %W %S %D) are Python's classes. */
  regex(pattern, flags = "") {
    const names = { w: "word", s: "space", d: "decimal" };
    const replaced = pattern.replace(/%([wsd])/gi, (_, letter) => {
      const [yes, no] = this.classes[names[letter.toLowerCase()]];
      return letter === letter.toLowerCase() ? yes : no;
    });
    return new RegExp(replaced, `${flags}u`);
  }

  /** repr(text): in quotes, with escapes for what cannot be printed. */
  repr(text) {
    const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
    const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", [quote]: `\\${quote}` };
    const escaped = Array.from(text, (character) => {
      if (short[character]) return short[character];
      if (this.isprintable(character)) return character;
      const code = character.codePointAt(0).toString(16);
      if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
      return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
    });
    return quote + escaped.join("") + quote;
  }

  /**
   * One spelling for what looks the same: composed Unicode (NFC), single spaces between words.
   *
   * Control characters count as spaces. Characters that only format, such as a byte order mark or a
   * soft hyphen, are dropped, except the joiners that some scripts and emoji need.
   */
  uniform(line) {
    line = this.nfc(line);
    if (!this.isprintable(line)) {
      line = line.replace(/[\u0000-\u001f\u007f-\u009f]/gu, " ");
      line = this.nfc(line.replace(this.formatting, (one) => (/[\u200c\u200d]/u.test(one) ? one : "")));
    }
    return this.split(line).join(" ");
  }
}
