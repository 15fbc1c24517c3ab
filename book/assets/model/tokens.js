// From text to numbers and back: tokenizers, and the vocabulary that gives every token its id.
//
// Chapter 2. What Python's library does with text is in unicode.js, spaCy's algorithm in spacy.js.

import { SpacySplitter } from "./spacy.js";

export const [PAD, SOS, EOS, UNK] = [0, 1, 2, 3];
export const SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"];
const LONGEST_WORD = 256; // characters; longer runs are not words, and merging takes quadratic time

/** A text as a sentence may quote it: at most 80 characters, `end` the last of a shorter one. */
export function brief(shown, end = "") {
  const characters = [...shown];
  return characters.length <= 80 ? shown : `${characters.slice(0, 77 - end.length).join("")}...${end}`;
}

// --- tokenizers ----------------------------------------------------------------------------------

// How tokens attach to their neighbours; see `SpacyTokenizer` in tokens.py.
const QUOTES = new Map([['"', '"'], ["'", "'"], ["«", "«"], ["»", "«"]]);
const OPENING = { de: [..."([{„‚¿¡#"], en: [..."([{“‘¿¡#"], it: [..."([{“‘¿¡#"] };
const ENDS = [...".,;:!?…)]}”’°", "..."];
const CLOSING = { de: [...ENDS, "“", "‘"], en: [...ENDS, "%"], it: [...ENDS, "%"] };
const JOINING = { de: ["/"], en: ["/", "-", "—"], it: ["/", "-"] };
const STRAIGHT = ["n't", "'s", "'m", "'re", "'ve", "'ll", "'d", "nt"];
const ENGLISH_ENDINGS = [...STRAIGHT, ...STRAIGHT.map((ending) => ending.replace("'", "’"))];
const ENGLISH_PAIRS = ["can not", "gon na", "wan na", "got ta"];
// Clipped words end in an apostrophe too, but a space follows: un po' di pane.
const ITALIAN_CLIPPED = ["po", "mo", "be", "va", "fa", "sta", "da", "di", "to"];

/** Words and punctuation marks by spaCy's rules for one language. */
export class SpacyTokenizer {
  constructor({ language, lowercase = false }, { unicode, spacy }) {
    this.language = language;
    this.lowercase = lowercase;
    this.unicode = unicode;
    this.splitter = new SpacySplitter(spacy[language], unicode);
    this.tooLong = unicode.regex(`[%S]{${LONGEST_WORD}}(?=[%S])`, "g");
  }

  tokenize(text) {
    const tokens = this.splitter.split(this.unicode.nfc(text).replace(this.tooLong, "$& "));
    return this.lowercase ? tokens.map((token) => this.unicode.lower(token)) : tokens;
  }

  /** Join tokens with the spacing of the language: ["Do", "n't", "!"] → "Don't!". */
  detokenize(tokens) {
    let [text, glued] = ["", true];
    const openQuotes = new Set();
    tokens.forEach((token, i) => {
      const [left, right] = this.attaches(tokens, i, openQuotes);
      text += glued || left ? token : ` ${token}`;
      glued = right;
    });
    return text;
  }

  /** Does token i attach to the token on its left, and to the one on its right? */
  attaches(tokens, i, openQuotes) {
    const { language, unicode } = this;
    const token = tokens[i];
    const [before, after] = [Array.from(tokens[i - 1] ?? ""), Array.from(tokens[i + 1] ?? "")];
    if (QUOTES.has(token)) {
      // A straight quote looks the same at both ends: the second one closes the first.
      const kind = QUOTES.get(token);
      if (openQuotes.delete(kind)) return [true, false];
      if (kind === "'" && !tokens.slice(i + 1).includes("'")) return [true, false]; // the boys' hats
      openQuotes.add(kind);
      return [false, true];
    }
    if (OPENING[language].includes(token)) return [false, true];
    if (CLOSING[language].includes(token)) return [true, false];
    const is = (name, character = "") => unicode.is(name, character);
    if (JOINING[language].includes(token)) {
      const joins = is("alnum", before.at(-1)) && is("alnum", after[0]);
      return [joins, joins];
    }
    const lower = (word) => unicode.lower(word);
    if (language === "en") {
      const word = lower(token);
      const left = ENGLISH_ENDINGS.includes(word) || ENGLISH_PAIRS.includes(`${lower(before.join(""))} ${word}`);
      return [left, word === "y'" || ("$£€".includes(token) && is("digit", after[0]))];
    }
    if (language === "it") {
      const letters = Array.from(token);
      const elided = letters.length > 1 && "'’".includes(letters.at(-1)) && is("alpha", letters.at(-2));
      const whole = ITALIAN_CLIPPED.includes(lower(letters.slice(0, -1).join("")));
      return [false, elided && !whole && is("alnum", after[0])];
    }
    return [false, false];
  }
}

const FUNCTIONS = ["exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "log", "sqrt"];
const GRAMMAR =
  `functions (${FUNCTIONS.join(" ")}), single letters a-z, digits 0-9, + - * ** / ( ) , ` +
  "and an order term such as O(x**6)";

/** Expressions in Python's notation, such as exp(3*a*x)/b**2, and their Taylor series. */
export class MathTokenizer {
  constructor(_, { unicode }) {
    this.unicode = unicode;
    this.piece = unicode.regex(
      "(?<space>[%s]+)|(?<order>O[%s]*\\([%s]*x[%s]*\\*\\*[%s]*[0-9]+[%s]*\\))" +
        "|(?<number>[0-9]+)|(?<word>[A-Za-z]+)|(?<operator>\\*\\*|[-+*\\/(),])|(?<other>.)",
      "gs",
    );
  }

  /** Throws an Error, one sentence, for what is outside the grammar. */
  tokenize(text) {
    const tokens = [];
    let after_operand = false;
    for (const match of text.matchAll(this.piece)) {
      const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
      const piece = match[0];
      if (kind === "space") continue;
      const problem = (what) => this.error(piece, match.index, what);
      const known = FUNCTIONS.includes(piece) || /^[a-z]$/.test(piece);
      if (kind === "other" || (kind === "word" && !known)) throw problem("is not in the grammar");
      // "2 3" and "a * * b" would come back from `detokenize` as "23" and "a**b".
      const last = tokens.at(-1) ?? "";
      const opens = piece === "(" && !FUNCTIONS.includes(last);
      if (after_operand && (kind !== "operator" || opens)) throw problem("needs an operator before it");
      if (piece.startsWith("*") && last.endsWith("*")) {
        throw problem(`cannot follow ${this.unicode.repr(last)}`);
      }
      after_operand = kind !== "operator" || piece === ")";
      if (kind === "number") tokens.push(...piece);
      else tokens.push(kind === "order" ? this.unicode.split(piece).join("") : piece);
    }
    return tokens;
  }

  error(piece, position, problem) {
    const shown = brief(this.unicode.repr(piece), "'");
    return new Error(
      `${shown} at position ${position} (counted from 0) ${problem}; the grammar admits ${GRAMMAR}.`,
    );
  }

  detokenize(tokens) {
    return tokens.join("");
  }
}

/** Tokens are what stands between white space. */
export class SpaceTokenizer {
  constructor(_, { unicode }) {
    this.unicode = unicode;
  }

  tokenize(text) {
    return this.unicode.split(text);
  }

  detokenize(tokens) {
    return tokens.join(" ");
  }
}

/**
 * Byte-pair encoding (Sennrich et al. 2016): frequent words whole, rare words in pieces.
 *
 * Every space becomes ▁, and one more ▁ marks the start of the text; punctuation is split from
 * words. Each word starts as single characters, and the learned merges join neighbours, the one
 * learned first before the others.
 */
export class SubwordTokenizer {
  constructor({ merges, lowercase = false }, { unicode }) {
    this.unicode = unicode;
    this.lowercase = lowercase;
    this.rank = new Map(merges.map((merge, i) => [merge, i]));
    // A word with the mark before it, or a run of punctuation, or a mark alone: covers any text.
    this.word = unicode.regex("▁?[%w]+|▁?(?:(?!▁)[%W])+|▁", "g");
    this.known = new Map();
  }

  tokenize(text) {
    return this.words(text).flatMap((word) => this.split(word));
  }

  words(text) {
    text = this.unicode.nfc(this.lowercase ? this.unicode.lower(text) : text);
    return text ? `▁${text.replaceAll(" ", "▁")}`.match(this.word) : [];
  }

  split(word) {
    const characters = Array.from(word);
    if (characters.length > LONGEST_WORD) {
      const parts = Array.from({ length: Math.ceil(characters.length / LONGEST_WORD) }, (_, i) =>
        characters.slice(i * LONGEST_WORD, (i + 1) * LONGEST_WORD).join(""),
      );
      return parts.flatMap((part) => this.split(part));
    }
    if (!this.known.has(word)) this.known.set(word, this.merge(characters));
    return this.known.get(word);
  }

  merge(pieces) {
    pieces = [...pieces];
    for (;;) {
      let [first, place] = [Infinity, -1];
      for (let i = 0; i + 1 < pieces.length; i += 1) {
        const rank = this.rank.get(`${pieces[i]} ${pieces[i + 1]}`) ?? Infinity;
        if (rank < first) [first, place] = [rank, i];
      }
      if (place < 0) return pieces;
      pieces.splice(place, 2, pieces[place] + pieces[place + 1]);
    }
  }

  /** Join the pieces, turn ▁ into spaces, and drop the one that marked the start. */
  detokenize(tokens) {
    return tokens.join("").replaceAll("▁", " ").replace(/^ /, "");
  }
}

const TOKENIZERS = {
  spacy: SpacyTokenizer,
  math: MathTokenizer,
  subword: SubwordTokenizer,
  space: SpaceTokenizer,
};

/** The tokenizer that config.json describes; `rules` is {unicode, spacy: {de, …}}. */
export function tokenizer_from_dict(description, rules) {
  const Kind = TOKENIZERS[description?.type];
  if (!Kind) throw new Error(`The configuration names no tokenizer that this page knows: ${description?.type}.`);
  return new Kind(description, rules);
}

// --- vocabulary ----------------------------------------------------------------------------------

/** Numbers the tokens: <pad>=0, <sos>=1, <eos>=2, <unk>=3, then the others from 4 on. */
export class Vocabulary {
  constructor({ tokens, counts = {} }) {
    this.tokens = [...SPECIALS, ...tokens];
    this.counts = counts;
    this.ids = new Map(this.tokens.map((token, i) => [token, i]));
  }

  /** The id of each token, <unk> for an unknown one and for text spelled like a special token. */
  encode(tokens) {
    return tokens.map((token) => Math.max(UNK, this.ids.get(token) ?? UNK));
  }

  /** `tokens <eos>`; with `sos`, `<sos> tokens <eos>`. */
  encode_source(tokens, sos = false) {
    return [...(sos ? [SOS] : []), ...this.encode(tokens), EOS];
  }

  /** The tokens of `ids` up to the first <eos>, without <sos> and <pad>. */
  decode(ids) {
    const end = ids.indexOf(EOS);
    const text = end < 0 ? ids : ids.slice(0, end);
    return text.filter((id) => id !== PAD && id !== SOS).map((id) => this.tokens[id]);
  }
}
