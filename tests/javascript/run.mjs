// Runs the browser's model outside the browser: jobs in, as JSON on standard input, results out.
//
//     node run.mjs RULES < groups.json > results.json
//
// RULES is the folder with unicode.json and spacy-….json. Each group is {modules, jobs}: the folder
// with the modules (a damaged copy, perhaps), and what to do with them. A job that throws has the
// result {error}; a group whose modules cannot be loaded has it for each job.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const NAMES = ["answers", "attention", "decoding", "interventions", "layers", "masks", "safetensors", "series", "tensors", "tokens", "translator", "unicode"];
const rulesFolder = process.argv[2];
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const unicodeTables = json(join(rulesFolder, "unicode.json"));
const spacyRules = (languages) =>
  Object.fromEntries(languages.map((name) => [name, json(join(rulesFolder, `spacy-${name}.json`))]));
const packed = (numbers) => Buffer.from(Float32Array.from(numbers).buffer).toString("base64");

/** What can be asked of one set of modules. */
async function operations(folder) {
  const load = (name) => import(pathToFileURL(join(folder, `${name}.js`)).href);
  const [answers, attention, decoding, interventions, layers, masks, safetensors, series, tensors, tokens, translators, { Unicode }] = await Promise.all(NAMES.map(load));
  let tables = null; // made where they are needed: it takes a while
  const unicode = () => (tables ??= new Unicode(unicodeTables));
  const known = new Map();

  function translator(model) {
    if (!known.has(model)) {
      const [config, source_vocabulary, target_vocabulary] = ["config", "source_vocabulary", "target_vocabulary"].map(
        (name) => json(join(model, `${name}.json`)),
      );
      const bytes = readFileSync(join(model, "model.safetensors"));
      const weights = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
      const rules = { unicode: unicodeTables, spacy: spacyRules(translators.languages_of(config)) };
      const files = { config, source_vocabulary, target_vocabulary, weights };
      known.set(model, new translators.Translator(files, rules));
    }
    return known.get(model);
  }

  /** Results one by one; of what throws, its sentence. */
  const each = (items, act) =>
    items.map((item) => {
      try {
        return act(item);
      } catch (error) {
        return { error: error.message };
      }
    });

  return {
    /** The whole model at once: the logits (T, V) of each pair. */
    logits: ({ folder: model, pairs }) =>
      pairs.map(([source, target]) => packed(translator(model).model.forward([source], [target]).data)),

    /** Token by token through the cache: the same numbers. */
    stepwise: ({ folder: name, pairs }) =>
      pairs.map(([source, target]) => {
        const { model } = translator(name);
        const mask = masks.padding_mask([source]);
        const cache = new decoding.DecoderCache(model, model.encode([source], mask));
        return packed(target.flatMap((token) => [...decoding.decode_step(model, [token], cache, mask).data]));
      }),

    /** What the hooks are shown during one forward pass, of the stages asked for. */
    stages({ folder: name, pair: [source, target], stages }) {
      const { model, hooks } = translator(name);
      const seen = {};
      hooks.hooks = [
        (value, { name: module, stage }) => {
          if (stages.includes(stage)) seen[`${module}.${stage}`] = packed(value.data);
        },
      ];
      model.forward([source], [target]);
      hooks.hooks = [];
      return seen;
    },

    search: ({ folder: name, texts, options }) =>
      each(texts, (text) => {
        const one = translator(name);
        const encoded = one.encode(text);
        const found = decoding.finished(one.search(encoded, options));
        return [found].flat().map((hypothesis) => one.translation(hypothesis, encoded));
      }),

    /** The same with interventions. */
    changed_logits({ folder: name, pairs, changes }) {
      const { model, hooks } = translator(name);
      hooks.hooks = interventions.compiled(changes, model.config).hooks;
      const logits = pairs.map(([source, target]) => packed(model.forward([source], [target]).data));
      hooks.hooks = [];
      return logits;
    },

    changed_search({ folder: name, texts, changes, beam_size = 1 }) {
      const one = translator(name);
      const { hooks, cached } = interventions.compiled(changes, one.model.config);
      one.hooks.hooks = hooks;
      const said = texts.map((text) => {
        const encoded = one.encode(text);
        const found = decoding.finished(one.search(encoded, { beam_size, cached }));
        return one.translation(found, encoded).tokens;
      });
      one.hooks.hooks = [];
      return said;
    },

    /** What the worker would answer to messages of the page: all steps, then the answer. */
    async answers({ folder, messages }) {
      const one = translator(folder);
      const given = [];
      for (const { task, ...asked } of messages) {
        const said = [];
        const means = { say: (step) => said.push({ state: "step", ...step }), rest: async () => {} };
        try {
          said.push({ state: "done", ...(await answers.TASKS[task](one, asked, means)) });
        } catch (error) {
          said.push({ state: "failed", message: error.message });
        }
        given.push(said);
      }
      // Typed arrays as lists.
      return JSON.parse(JSON.stringify(given, (_, value) => (ArrayBuffer.isView(value) ? [...value] : value)));
    },

    tokenize({ description, texts }) {
      const languages = description.type === "spacy" ? [description.language] : [];
      const one = tokens.tokenizer_from_dict(description, { unicode: unicode(), spacy: spacyRules(languages) });
      return each(texts, (text) => {
        const pieces = one.tokenize(text);
        return [pieces, one.detokenize(pieces)];
      });
    },

    series({ texts }) {
      const tokenizer = tokens.tokenizer_from_dict({ type: "math" }, { unicode: unicode() });
      return each(texts, (text) => series.series_of(text, tokenizer, unicode()));
    },

    text: ({ texts }) =>
      texts.map((text) => ["uniform", "lower", "nfc", "repr"].map((name) => unicode()[name](text))),

    /** Attention over a batch, with a mask: tensors are {data, shape}. */
    attention({ query, key, value, mask }) {
      const tensor = ({ data, shape }, Type = Float32Array) => new tensors.Tensor(Type.from(data), ...shape);
      const made = [query, key, value].map((each) => tensor(each));
      const results = attention.scaled_dot_product_attention(...made, mask && tensor(mask, Uint8Array));
      return results.map(({ data }) => packed(data));
    },

    /** Layer norm of rows (N, D). */
    norm({ rows, weight, bias }) {
      const tensor = (values) => new tensors.Tensor(Float32Array.from(values), values.length);
      const weights = new safetensors.Weights(new Map([["n.weight", tensor(weight)], ["n.bias", tensor(bias)]]));
      const norm = new layers.LayerNorm(weights, "n", new tensors.Hooks());
      return packed(norm.forward(tensor(rows.flat()).view(rows.length, weight.length)).data);
    },

    /** Every half-precision number. */
    widened: () => packed(safetensors.widened(Uint16Array.from({ length: 65536 }, (_, i) => i))),

    masks: ({ tokens: ids }) => {
      const { data, shape } = masks.target_mask(ids);
      return [[...data], shape];
    },
  };
}

const results = [];
for (const { modules, jobs } of JSON.parse(readFileSync(0, "utf8"))) {
  const done = [];
  results.push(done);
  const can = await operations(modules).catch((error) => ({ error }));
  for (const job of jobs) {
    try {
      if (can.error) throw can.error;
      done.push(await can[job.operation](job));
    } catch (error) {
      done.push({ error: error.message });
    }
  }
}
process.stdout.write(JSON.stringify(results));
