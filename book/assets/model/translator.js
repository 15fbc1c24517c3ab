// A trained model that takes text and gives text (chapters 1 and 17).

import { beam_search, finished, greedy_search } from "./decoding.js";
import { KnownWords } from "./known_words.js";
import { load_tensors } from "./safetensors.js";
import { Hooks } from "./tensors.js";
import { UNK, Vocabulary, tokenizer_from_dict } from "./tokens.js";
import { Transformer } from "./transformer.js";
import { Unicode } from "./unicode.js";

const FORMAT = 1;

/** The languages whose rules a model's tokenizers need, from its config.json. */
export const languages_of = ({ source_tokenizer, target_tokenizer }) => [
  ...new Set([source_tokenizer, target_tokenizer].filter(({ type }) => type === "spacy").map((t) => t.language)),
];

/** Whether a model reads expressions, and says their series. */
export const is_of_series = ({ recipe }) => recipe?.task?.name === "series";

/**
 * Model, tokenizers, vocabularies and search as one object.
 *
 * files: {config, source_vocabulary, target_vocabulary} as the JSON files hold them, {weights}, the
 * ArrayBuffer of model.safetensors, and perhaps {known_words}. rules: {unicode, spacy: {de, …}} as
 * the site's build writes them; for a model of series also {series}, the module.
 *
 * Throws an Error, one sentence, if the files are damaged or do not belong together.
 */
export class Translator {
  constructor({ config, source_vocabulary, target_vocabulary, weights, known_words = null }, { unicode, spacy, series }) {
    if (config?.format !== FORMAT) throw new Error("config.json does not describe a model of this book.");
    this.unicode = new Unicode(unicode);
    this.hooks = new Hooks();
    this.model = new Transformer(config.model, load_tensors(weights), this.hooks);
    const rules = { unicode: this.unicode, spacy };
    this.source_tokenizer = tokenizer_from_dict(config.source_tokenizer, rules);
    this.target_tokenizer = tokenizer_from_dict(config.target_tokenizer, rules);
    this.source_vocabulary = new Vocabulary(source_vocabulary);
    this.target_vocabulary = new Vocabulary(target_vocabulary);
    for (const side of ["source", "target"]) {
      const [has, wants] = [this[`${side}_vocabulary`].tokens.length, config.model[`${side}_vocab_size`]];
      if (has !== wants) {
        throw new Error(`The ${side} vocabulary has ${has} tokens, but the model was built for ${wants}.`);
      }
    }
    this.source_sos = config.source_sos;
    this.series = is_of_series(config) ? series : null;
    this.decoding = config.decoding;
    this.subwords = config.source_tokenizer.type === "subword";
    this.known_words = known_words && new KnownWords(known_words, this.unicode);
  }

  /**
   * The ids of a source text, made uniform, its tokens, those that the vocabulary lacks, the words
   * that training seldom or never met, and the right answer where it is known: the series of an
   * expression.
   *
   * Throws an Error, one sentence, for an empty text, one that is longer than the model can read,
   * one that its tokenizer refuses, and, for a model of series, an expression that has none.
   */
  encode(text) {
    text = this.unicode.uniform(text);
    const right = text && this.series ? this.series.series_of(text, this.source_tokenizer, this.unicode) : null;
    const tokens = this.source_tokenizer.tokenize(text);
    if (!tokens.length) throw new Error("There is nothing to translate: the text is empty.");
    const ids = this.source_vocabulary.encode_source(tokens, this.source_sos);
    const limit = this.model.config.max_length;
    if (ids.length > limit) {
      throw new Error(
        `The text has ${ids.length} tokens, special tokens included, but this model reads at ` +
          `most ${limit}; translate it sentence by sentence.`,
      );
    }
    const unknown = this.unknown_in(tokens);
    return { ids, tokens, unknown, rare: this.rare_words(text, unknown), right };
  }

  /** What a check says of an answer of a model of series; null for other models. */
  checked(text, answer) {
    return this.series ? this.series.checked(this.unicode.uniform(text), answer, this.source_tokenizer, this.unicode) : null;
  }

  /** Those of these tokens that the vocabulary lacks, each once. */
  unknown_in(tokens) {
    return [...new Set(tokens.filter((token) => this.source_vocabulary.encode([token])[0] === UNK))];
  }

  /** As in Python; null where it is not known. `unknown` is what the vocabulary lacks. */
  rare_words(text, unknown) {
    if (this.known_words) return this.known_words.rare(text);
    return this.subwords ? null : unknown;
  }

  /**
   * The text with those of its rare words that the model knows in other capitals written so, or
   * null if there are none. The first word begins with a capital if the model knows it so.
   */
  respelled(text, rare) {
    const written = this.unicode.uniform(text);
    const known = (word) => this.rare_words(word, this.unknown_in(this.source_tokenizer.tokenize(word)))?.length === 0;
    const spellings = new Map();
    for (const word of rare ?? []) {
      const low = this.unicode.lower(word);
      const [first, ...rest] = low;
      const both = [low, first.toUpperCase() + rest.join("")];
      if (written.startsWith(word)) both.reverse();
      const spelling = both.find((each) => each !== word && known(each));
      if (spelling !== undefined) spellings.set(word, spelling);
    }
    return spellings.size ? written.replace(this.unicode.regex("[^%W_]+", "g"), (word) => spellings.get(word) ?? word) : null;
  }

  /**
   * The search that the model is shipped with, for encoded text: a generator, as in decoding.js.
   *
   * `options` as there, and beam_size. It returns one hypothesis, or a list if `n_best` is above 1.
   */
  *search({ ids }, options = {}) {
    const chosen = { ...this.decoding, n_best: 1, ...options };
    if (chosen.beam_size === 1 && chosen.n_best === 1) return yield* greedy_search(this.model, ids, chosen);
    const found = yield* beam_search(this.model, ids, chosen.beam_size, chosen);
    return chosen.n_best === 1 ? found[0] : found;
  }

  /** A hypothesis as text: {text, source_tokens, tokens, ids, pieces, unknown, rare, …}. */
  translation(hypothesis, { ids, tokens, unknown, rare }) {
    const names = this.target_vocabulary.tokens;
    return {
      text: this.target_tokenizer.detokenize(this.target_vocabulary.decode(hypothesis.tokens)),
      source_tokens: ids.map((id) => this.source_vocabulary.tokens[id]),
      tokens: hypothesis.tokens.map((id) => names[id]),
      ids: hypothesis.tokens,
      pieces: [...(this.source_sos ? ["<sos>"] : []), ...tokens], // of the text, known or not
      unknown,
      rare,
      probabilities: hypothesis.log_probabilities.map(Math.exp),
      score: hypothesis.score,
      finished: hypothesis.finished,
      candidates: hypothesis.candidates.map((step) => step.map(([id, p]) => ({ id, token: names[id], p }))),
    };
  }

  /** Translate a text; an empty one stays empty. */
  translate(text, options = {}) {
    if (!this.unicode.uniform(text)) return "";
    const encoded = this.encode(text);
    return this.translation(finished(this.search(encoded, options)), encoded).text;
  }
}
