// What can be asked of the browser's model, wherever it runs: in node (run.mjs) or in a page.

const NAMES = ["answers", "attention", "decoder_cache", "decoding", "interventions", "known_words", "layers", "masks", "optimization", "safetensors", "series", "tensors", "tokens", "transformer", "translator", "unicode"];

/** Numbers as text: the bytes of float32, base 64. */
function packed(numbers) {
  const bytes = new Uint8Array(Float32Array.from(numbers).buffer);
  const parts = [];
  for (let i = 0; i < bytes.length; i += 8192) parts.push(String.fromCharCode(...bytes.subarray(i, i + 8192)));
  return btoa(parts.join(""));
}

/**
 * Do the jobs with one set of modules: a result for each. A job that throws has the result {error};
 * if the modules cannot be loaded, each job has it.
 *
 * module(name) imports a module; file(folder, name) is the ArrayBuffer of a model's file, and
 * rule(name) what a file of rules holds. All three promise.
 */
export async function done(jobs, means) {
  const can = await (means.can ??= operations(means)).catch((error) => ({ error })); // what they know, they keep
  const results = [];
  for (const job of jobs) {
    try {
      if (can.error) throw can.error;
      results.push(await can[job.operation](job));
    } catch (error) {
      results.push({ error: error.message });
    }
  }
  return results;
}

/** What can be asked of one set of modules. */
async function operations({ module, file, rule }) {
  const [answers, attention, decoder_cache, decoding, interventions, { KnownWords }, layers, masks, optimization, safetensors, series, tensors, tokens, { Transformer }, translators, { Unicode }] = await Promise.all(NAMES.map(module));
  const unicodeTables = await rule("unicode");
  let tables = null; // made where they are needed: it takes a while
  const unicode = () => (tables ??= new Unicode(unicodeTables));
  const known = new Map();

  async function spacyRules(languages) {
    const rules = await Promise.all(languages.map((language) => rule(`spacy-${language}`)));
    return Object.fromEntries(languages.map((language, i) => [language, rules[i]]));
  }

  async function translator({ folder, known_words }) {
    if (!known.has(folder)) {
      const json = async (name) => [name, JSON.parse(new TextDecoder().decode(await file(folder, `${name}.json`)))];
      const names = ["config", "source_vocabulary", "target_vocabulary", ...(known_words ? ["known_words"] : [])];
      const read = Object.fromEntries(await Promise.all(names.map(json)));
      const rules = { unicode: unicodeTables, series, spacy: await spacyRules(translators.languages_of(read.config)) };
      const weights = await file(folder, "model.safetensors");
      known.set(folder, new translators.Translator({ ...read, weights }, rules));
    }
    return known.get(folder);
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
    async logits({ pairs, ...job }) {
      const { model } = await translator(job);
      return pairs.map(([source, target]) => packed(model.forward([source], [target]).data));
    },

    /** Token by token through the cache: the same numbers. */
    async stepwise({ pairs, ...job }) {
      const { model } = await translator(job);
      return pairs.map(([source, target]) => {
        const cache = decoder_cache.new_cache(model, source);
        return packed(target.flatMap((token) => [...decoder_cache.decode_step(model, [token], cache).data]));
      });
    },

    /** What the hooks are shown during one forward pass, of the stages asked for. */
    async stages({ pair: [source, target], stages, ...job }) {
      const { model, hooks } = await translator(job);
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

    async search({ texts, options, ...job }) {
      const one = await translator(job);
      return each(texts, (text) => {
        const encoded = one.encode(text);
        const found = decoding.finished(one.search(encoded, options));
        return [found].flat().map((hypothesis) => one.translation(hypothesis, encoded));
      });
    },

    /** The same with interventions. */
    async changed_logits({ pairs, changes, ...job }) {
      const { model, hooks } = await translator(job);
      hooks.hooks = interventions.compiled(changes, model.config).hooks;
      const logits = pairs.map(([source, target]) => packed(model.forward([source], [target]).data));
      hooks.hooks = [];
      return logits;
    },

    async changed_search({ texts, changes, beam_size = 1, ...job }) {
      const one = await translator(job);
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
    async answers({ messages, ...job }) {
      const one = await translator(job);
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

    /** The rare words of texts, by what known_words.json may hold. */
    rare_words({ words, texts }) {
      const one = new KnownWords(words, unicode());
      return texts.map((text) => one.rare(text));
    },

    async tokenize({ description, texts }) {
      const languages = description.type === "spacy" ? [description.language] : [];
      const one = tokens.tokenizer_from_dict(description, { unicode: unicode(), spacy: await spacyRules(languages) });
      return each(texts, (text) => {
        const pieces = one.tokenize(text);
        return [pieces, one.detokenize(pieces)];
      });
    },

    series({ texts }) {
      const tokenizer = tokens.tokenizer_from_dict({ type: "math" }, { unicode: unicode() });
      return each(texts, (text) => series.series_of(text, tokenizer, unicode()));
    },

    checked({ pairs }) {
      const tokenizer = tokens.tokenizer_from_dict({ type: "math" }, { unicode: unicode() });
      return pairs.map(([one, other]) => series.checked(one, other, tokenizer, unicode()));
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

    /** Updates of a model, a batch each: their losses, the first gradients by name. */
    async training({ config, weights: given, batches, settings }) {
      const { Training } = await module("backwards"); // here alone: inference is tried as other pages have it
      const made = Object.entries(given).map(([name, { data, shape }]) => [name, new tensors.Tensor(Float32Array.from(data), ...shape)]);
      const weights = new safetensors.Weights(new Map(made));
      const hooks = new Training(config);
      let state = 1;
      hooks.random = () => (state = (state * 16807) % 2147483647) / 2147483647; // in training
      const model = new Transformer(config, weights, hooks);
      const parameters = made.map(([, parameter]) => parameter);
      const optimizer = new optimization.OPTIMIZERS[settings.optimizer](parameters, settings);
      const found = { losses: [] };
      batches.forEach(({ source, target_in, target_out }, n) => {
        for (const parameter of parameters) parameter.grad = new Float32Array(parameter.data.length);
        const logits = model.forward(source, target_in);
        const { loss, gradient } = optimization.label_smoothed_loss(logits, target_out, settings.label_smoothing);
        model.backward(gradient);
        found.gradients ??= Object.fromEntries(made.map(([name, { grad }]) => [name, packed(grad)]));
        optimization.clip_gradients(parameters, settings.clip_norm);
        optimizer.step(optimization.learning_rate(n + 1, settings));
        found.losses.push(loss);
      });
      return found;
    },

    /** Every half-precision number. */
    widened: () => packed(safetensors.widened(Uint16Array.from({ length: 65536 }, (_, i) => i))),

    masks: ({ tokens: ids }) => {
      const { data, shape } = masks.target_mask(ids);
      return [[...data], shape];
    },
  };
}
