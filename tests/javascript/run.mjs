// Runs the browser's model outside the browser: jobs in, as JSON on standard input, results out.
//
//     node run.mjs MODULES RULES < jobs.json > results.json
//
// MODULES is the folder with the modules (a damaged copy, perhaps), RULES the one with unicode.json
// and spacy-….json. A job that throws has the result {error}.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, rulesFolder] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(modules, `${name}.js`)).href);
const [decoding, masks, tokens, { Translator, languages_of }, { Unicode }] = await Promise.all(
  ["decoding", "masks", "tokens", "translator", "unicode"].map(load),
);
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const unicodeTables = json(join(rulesFolder, "unicode.json"));
const unicode = new Unicode(unicodeTables);
const spacyRules = (languages) =>
  Object.fromEntries(languages.map((name) => [name, json(join(rulesFolder, `spacy-${name}.json`))]));

const translators = new Map();
function translator(folder) {
  if (!translators.has(folder)) {
    const [config, source_vocabulary, target_vocabulary] = ["config", "source_vocabulary", "target_vocabulary"].map(
      (name) => json(join(folder, `${name}.json`)),
    );
    const bytes = readFileSync(join(folder, "model.safetensors"));
    const weights = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const rules = { unicode: unicodeTables, spacy: spacyRules(languages_of(config)) };
    translators.set(folder, new Translator({ config, source_vocabulary, target_vocabulary, weights }, rules));
  }
  return translators.get(folder);
}

const packed = (numbers) => Buffer.from(Float32Array.from(numbers).buffer).toString("base64");

const OPERATIONS = {
  /** The whole model at once: the logits (T, V) of each pair. */
  logits: ({ folder, pairs }) =>
    pairs.map(([source, target]) => packed(translator(folder).model.forward([source], [target]).data)),

  /** Token by token through the cache: the same numbers. */
  stepwise({ folder, pairs }) {
    const { model } = translator(folder);
    return pairs.map(([source, target]) => {
      const mask = masks.padding_mask([source]);
      const cache = new decoding.DecoderCache(model, model.encode([source], mask));
      return packed(target.flatMap((token) => [...decoding.decode_step(model, [token], cache, mask).data]));
    });
  },

  /** Everything that the hooks are shown during one forward pass, of the stages asked for. */
  stages({ folder, pair: [source, target], stages }) {
    const { model } = translator(folder);
    const seen = {};
    model.hooks.hooks = [
      (value, { name, stage }) => {
        if (stages.includes(stage)) seen[`${name}.${stage}`] = packed(value.data);
      },
    ];
    model.forward([source], [target]);
    model.hooks.hooks = [];
    return seen;
  },

  search: ({ folder, texts, options }) =>
    texts.map((text) => {
      try {
        const one = translator(folder);
        const encoded = one.encode(text);
        const { n_best = 1 } = options;
        const found = decoding.finished(one.search(encoded, options));
        return (n_best > 1 ? found : [found]).map((hypothesis) => one.translation(hypothesis, encoded));
      } catch (error) {
        return { error: error.message };
      }
    }),

  tokenize({ description, texts }) {
    const languages = description.type === "spacy" ? [description.language] : [];
    const one = tokens.tokenizer_from_dict(description, { unicode, spacy: spacyRules(languages) });
    return texts.map((text) => {
      try {
        const pieces = one.tokenize(text);
        return { pieces, text: one.detokenize(pieces) };
      } catch (error) {
        return { error: error.message };
      }
    });
  },

  text: ({ texts }) =>
    texts.map((text) => [unicode.uniform(text), unicode.lower(text), unicode.nfc(text), unicode.repr(text)]),
};

const jobs = JSON.parse(readFileSync(0, "utf8"));
const results = jobs.map((job) => {
  try {
    return OPERATIONS[job.operation](job);
  } catch (error) {
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify(results));
