// A run as files that the package reads, packed into one: a recipe that `transformer-book train`
// follows, and a folder that `translate` opens, and with which `train --resume` goes on.

import { Task } from "./tasks.js";

/** Why the package cannot do what a run has done; or nothing. */
export function only_here(settings) {
  const has_not = [
    [!settings.padding_mask, "runs without a padding mask"],
    [!settings.shift, "decoders whose input is not shifted"],
    [settings.norm === "none", "models without layer norm"],
    [settings.optimizer !== "adam", "SGD"],
    [settings.mistake !== "none", "mistakes in the gradients"],
    [settings.task === "sort" || settings.task === "addition", `the task ${settings.task}`],
  ];
  return has_not.filter(([is]) => is).map(([, what]) => what);
}

/** The task and the data of a recipe. */
function pairs_of({ task, min_length, max_length }) {
  const { recipe, splits } = new Task({ task, max_length });
  if (splits) return { task: recipe, data: { train: splits.train.length, validation: splits.validation.length } };
  let sequences = 0; // that there are, of seven symbols
  for (let length = min_length; length <= max_length; length += 1) sequences += 7 ** length;
  const some = (share, most) => Math.max(1, Math.min(most, Math.floor(share * sequences)));
  return { task: { name: "copy", kind: task, min_length, max_length }, data: { train: some(0.8, 20000), validation: some(0.03, 500) } };
}

/** The recipe of a run, section by section, as Python reads it from TOML or JSON. */
export function recipe_of(settings) {
  const { layers } = settings;
  const pick = (...names) => Object.fromEntries(names.map((name) => [name, settings[name]]));
  const { score_scale } = settings;
  return {
    ...pairs_of(settings),
    model: {
      ...pick("d_model", "n_heads"),
      ...{ n_encoder_layers: layers, n_decoder_layers: layers, max_length: new Task(settings).longest },
      ...pick("d_ff", "norm", "dropout", "residual", "feed_forward", "positions", "scale_embeddings"),
      ...pick("tie_embeddings", "causal", "initialization"),
      ...(score_scale === null ? {} : { score_scale }),
    },
    training: {
      ...pick("updates", "batch_size", "learning_rate", "schedule", "warmup", "label_smoothing", "clip_norm", "seed"),
      validate_every: 50,
    },
    ...(settings.tie_embeddings === "all" || settings.task === "captions" ? { tokens: { joint: true } } : {}),
  };
}

/** The recipe as TOML, with what a reader of the file should know. */
export function recipe_toml(settings) {
  const written = (value) => (typeof value === "number" ? String(value) : JSON.stringify(value));
  const sections = Object.entries(recipe_of(settings)).map(
    ([name, entries]) => `[${name}]\n${Object.entries(entries).map(([key, value]) => `${key} = ${written(value)}\n`).join("")}`,
  );
  const head = "# transformer-book train THIS-FILE\n# The settings with which the run ended. The bench draws its pairs again and again; here each comes once an epoch.\n";
  return `${head}description = "A run of the bench: ${settings.task}"\n\n${sections.join("\n")}`;
}

/** Tensors [{name, data, shape}] as a safetensors file of single-precision numbers. */
export function safetensors_of(tensors) {
  let place = 0;
  const entries = tensors.map(({ name, data, shape }) => [name, { dtype: "F32", shape, data_offsets: [place, (place += 4 * data.length)] }]);
  const text = JSON.stringify(Object.fromEntries(entries));
  const header = new TextEncoder().encode(text.padEnd(8 * Math.ceil(text.length / 8))); // so that the numbers start aligned
  const file = new Uint8Array(8 + header.length + place);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  tensors.forEach(({ data }, i) => file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), 8 + header.length + entries[i][1].data_offsets[0]));
  return file;
}

const text = (value) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value, null, 1));
// What the package can set and the bench leaves as it is there.
const MODEL = { activation: "relu", bias: true, attention_dropout: 0, activation_dropout: 0 };
const TRAINING = { max_tokens: null, beta1: 0.9, beta2: 0.98, epsilon: 1e-9, weight_decay: 0, average: 1 };

/** What a run goes on from, as the package's `Trainer` writes it: {name: bytes}. `draws` is the page's. */
function checkpoint_of({ config, state }, recipe, weights) {
  const { update, n, copies, data, noise } = state;
  const moments = copies.flatMap(([name, { shape, moments: [first, second] }]) => [
    { name: `step.${name}`, data: Float32Array.of(n), shape: [] },
    { name: `exp_avg.${name}`, data: first, shape },
    { name: `exp_avg_sq.${name}`, data: second, shape },
  ]);
  const { source_vocab_size, target_vocab_size } = config;
  const about = {
    ...{ update, epoch: 0, position: 0, best: null, measured: null, threads: 1 },
    training: { ...TRAINING, ...recipe.training },
    model: { source_vocab_size, target_vocab_size, ...MODEL, ...recipe.model },
    data: {}, // pairs without end have no list
    draws: { data, noise },
  };
  const folder = `checkpoints/${String(update).padStart(8, "0")}`;
  return {
    [`${folder}/model.safetensors`]: weights,
    [`${folder}/optimizer.safetensors`]: safetensors_of(moments),
    [`${folder}/state.json`]: text(about),
  };
}

/** The files of a run's folder: {name: bytes}. What the package cannot train has no recipe and no checkpoint. */
export function folder_of({ settings, config, state }) {
  const { symbols } = new Task(settings);
  const vocabulary = text({ specials: ["<pad>", "<sos>", "<eos>", "<unk>"], tokens: symbols, counts: {} });
  const { source_vocab_size, target_vocab_size } = config;
  const carried = ["copy", "reverse", "captions"].includes(settings.task); // the package has this task
  const tokenizer = (language) => (settings.task === "captions" ? { type: "spacy", language, lowercase: false } : { type: "space" });
  const recipe = recipe_of(settings);
  const description = {
    format: 1,
    model: { source_vocab_size, target_vocab_size, ...MODEL, ...recipe.model },
    source_tokenizer: tokenizer("de"),
    target_tokenizer: tokenizer("en"),
    source_sos: false,
    decoding: { beam_size: 1 },
    recipe: carried ? { name: "recipe", ...recipe } : {}, // by the name of its file
  };
  const weights = safetensors_of(state.copies.map(([name, { numbers, shape }]) => ({ name, data: numbers, shape })));
  return {
    ...(only_here(settings).length ? {} : { "recipe.toml": text(recipe_toml(settings)), ...checkpoint_of({ config, state }, recipe, weights) }),
    "config.json": text(description),
    "source_vocabulary.json": vocabulary,
    "target_vocabulary.json": vocabulary,
    "model.safetensors": weights,
  };
}

// --- one file of several -------------------------------------------------------------------------

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k += 1) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

const crc32 = (bytes) => ~bytes.reduce((crc, byte) => CRC[(crc ^ byte) & 255] ^ (crc >>> 8), ~0) >>> 0;

/** Files {name: bytes} as one ZIP file, stored as they are. Source: PKWARE's APPNOTE, 4.3. */
export function zipped(files) {
  const little = (...fields) => Uint8Array.from(fields.flatMap(([bytes, value]) => Array.from({ length: bytes }, (_, i) => (value >>> (8 * i)) & 255)));
  const [bodies, directory] = [[], []];
  let place = 0;
  for (const [name, bytes] of Object.entries(files)) {
    const letters = new TextEncoder().encode(name);
    // Version 2.0, no flags, stored, 1980-01-01; the sum, the size twice, the lengths of the name and of nothing more.
    const about = [[2, 20], [2, 0], [2, 0], [2, 0], [2, 33], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, letters.length], [2, 0]];
    directory.push(little([4, 0x02014b50], [2, 20], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, place]), letters);
    bodies.push(little([4, 0x04034b50], ...about), letters, bytes);
    place += 30 + letters.length + bytes.length;
  }
  const n = Object.keys(files).length;
  const size = directory.reduce((total, each) => total + each.length, 0);
  return new Blob([...bodies, ...directory, little([4, 0x06054b50], [2, 0], [2, 0], [2, n], [2, n], [4, size], [4, place], [2, 0])]);
}
