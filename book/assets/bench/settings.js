// What the reader can set: one table, for the controls, the address, the worker and the export.
//
// The names are those of the recipes; "layers" is that of both stacks, "task" the kind of [task].
// The package has no padding_mask, shift, norm "none", optimizer and mistake: only the bench has.

const off_on = (on, off) => [[true, on], [false, off]];
const numbers = (...values) => values.map((value) => [value, String(value)]);

/**
 * For each setting: its group, its label, its values with their words, the first of which is where
 * the bench begins unless `start` says so; `fresh`: it takes a new run; `help`: what it does; `breaks`:
 * the section of a chapter that breaks it. What is not fresh is a switch that a run survives.
 */
export const SETTINGS = {
  task: {
    group: "Task and sizes",
    label: "task",
    values: [["copy", "copy: abc → abc"], ["reverse", "reverse: abc → cba"], ["sort", "sort: cab → abc"], ["addition", "addition: 47+5 → 52"], ["captions", "captions: ein Hund → a dog"]],
    fresh: true,
    help: "What the model learns, from pairs that are made while it trains.",
  },
  min_length: { label: "shortest source", values: numbers(3, 1, 2, 4, 6, 8, 10), fresh: true, help: "In symbols; addition and captions do not heed it." },
  max_length: { label: "longest source", values: numbers(8, 3, 4, 5, 6, 7, 10, 12, 16), fresh: true, help: "In symbols; captions do not heed it." },
  d_model: { label: "d_model", values: numbers(32, 8, 16, 64, 128, 256), fresh: true, help: "The width of every vector.", breaks: "04_embeddings#a-row-of-a-table-by-hand" },
  layers: { label: "layers of each stack", values: numbers(1, 2, 3, 4, 6), fresh: true, help: "Of the encoder and of the decoder.", breaks: "14_transformer#break-it-n-layers-that-are-one" },
  d_ff: { label: "d_ff", values: numbers(64, 16, 32, 128, 256, 512, 1024), fresh: true, help: "The inner width of the feed-forward network.", breaks: "11_feed_forward#break-it-too-narrow" },
  batch_size: { label: "batch size", values: numbers(32, 4, 8, 16, 64, 128), help: "Pairs in an update.", breaks: "03_batches_and_padding#so-many-sentences-or-so-many-tokens" },
  seed: { label: "seed", values: numbers(1, 2, 3, 4, 5), fresh: true, help: "Decides the first weights and the pairs: two runs that differ in nothing but the seed show what chance does." },

  score_scale: { group: "Attention", label: "scale of the scores", values: [[null, "1/√d_k"], [1, "none"]], help: "Keeps the scores small enough for softmax.", breaks: "07_scaled_dot_product_attention#break-it-leave-out-the-square-root" },
  n_heads: { label: "heads", values: numbers(2, 1, 4, 8), help: "Attentions side by side, each with d_model / heads numbers.", breaks: "09_multi_head_attention#is-one-head-enough" },
  causal: { label: "causal mask", values: off_on("hides the future", "off"), help: "Without it the decoder sees the answer while it trains.", breaks: "08_masks#break-it-no-causal-mask-and-a-whole-training" },
  padding_mask: { label: "padding mask", values: off_on("hides <pad>", "off"), help: "Without it attention also looks at what only fills a batch.", breaks: "12_encoder#padding-must-not-matter" },

  positions: { group: "Embeddings", label: "positions", values: [["sinusoidal", "sinusoidal"], ["learned", "learned"], ["none", "none"]], help: "Without them a sentence is a bag of words.", breaks: "05_positions#learned-fixed-or-none" },
  scale_embeddings: { label: "embeddings × √d_model", values: off_on("on", "off"), help: "Makes embeddings as long as positions.", breaks: "04_embeddings#break-it-too-quiet-too-loud" },
  tie_embeddings: { label: "tied matrices", values: [["none", "none"], ["decoder", "target embedding = output"], ["all", "both embeddings = output"]], help: "One matrix serves in several places and gets the gradients of all.", breaks: "04_embeddings#one-matrix-two-jobs" },

  residual: { group: "Layers", label: "residual connections", values: off_on("on", "off"), help: "The way around each sublayer.", breaks: "10_residuals_and_layer_norm#what-vanishes-without-residuals" },
  norm: { label: "layer norm", values: [["pre", "before each sublayer"], ["post", "after each sum, as in 2017"], ["none", "none"]], help: "Keeps the numbers of a vector in one range.", breaks: "10_residuals_and_layer_norm#where-to-put-the-norm" },
  feed_forward: { label: "feed-forward network", values: off_on("on", "off"), help: "Treats each position by itself.", breaks: "11_feed_forward#what-it-costs-to-leave-it-out" },
  dropout: { label: "dropout", values: numbers(0, 0.1, 0.3), help: "Zeroes numbers at random while the model trains.", breaks: "10_residuals_and_layer_norm#break-it-dropout-on-the-stream" },

  shift: { group: "Training", label: "decoder's input", values: off_on("shifted by one", "not shifted"), help: "Not shifted, the decoder reads the very token that it is to say.", breaks: "03_batches_and_padding#break-it-forget-the-shift" },
  optimizer: { label: "optimizer", values: [["adam", "Adam"], ["sgd", "SGD"]], help: "Adam divides each step by the size of recent gradients; SGD does not, and needs another rate.", breaks: "15_loss_and_schedule#adam-and-why-its-first-steps-are-the-longest" },
  learning_rate: { label: "learning rate, peak", values: numbers(0.005, 0.0003, 0.001, 0.002, 0.003, 0.01, 0.02, 0.05, 0.1, 0.3, 1), help: "The length of a step.", breaks: "16_training#break-it-a-learning-rate-of-a-thousand" },
  schedule: { label: "schedule", values: [["linear", "down to zero in a line"], ["inverse_sqrt", "inverse root, as in 2017"], ["cosine", "cosine"], ["constant", "constant"]], help: "What the rate does after warm-up.", breaks: "15_loss_and_schedule#the-schedule" },
  warmup: { label: "warm-up, updates", values: numbers(50, 0, 10, 100, 200, 500), help: "Until the rate reaches its peak.", breaks: "15_loss_and_schedule#break-it-no-warm-up" },
  updates: { label: "updates in all", values: numbers(600, 5, 50, 100, 200, 300, 400, 1000, 2000, 4000, 8000), help: "When the run ends." },
  label_smoothing: { label: "label smoothing", values: numbers(0, 0.1, 0.3), help: "Gives a part of each target to all other tokens.", breaks: "15_loss_and_schedule#label-smoothing" },
  clip_norm: { label: "clipping at", values: [[1, "1"], [0.1, "0.1"], [0, "off"]], help: "Shortens gradients that are longer.", breaks: "15_loss_and_schedule#clipping" },
  initialization: { label: "first weights", values: [["scaled_normal", "normal, 1/columns"], ["xavier", "uniform (Xavier)"]], fresh: true, help: "How large the numbers are before the first update.", breaks: "14_transformer#what-should-the-first-loss-be" },

  mistake: {
    group: "A mistake in the gradients",
    label: "mistake",
    values: [
      ["none", "none"],
      ["not_cleared", "gradients are never cleared"],
      ["shortcut", "the shortcut hands nothing back"],
      ["norm_means", "layer norm forgets both means"],
      ["relu", "ReLU lets every gradient through"],
      ["scale", "attention forgets its scale"],
      ["keys", "the keys get no gradient"],
      ["overwritten", "embedding: the last gradient only"],
    ],
    help: "The way forwards stays right, so no loss and no shape says that anything is wrong.",
    breaks: "29_backwards#break-it-a-gradient-that-is-a-little-wrong",
  },
};

export const START = Object.fromEntries(Object.entries(SETTINGS).map(([name, { values }]) => [name, values[0][0]]));

/** The names of the settings of each group, in order. */
export function groups() {
  const found = [];
  for (const [name, { group }] of Object.entries(SETTINGS)) {
    if (group) found.push([group, []]);
    found.at(-1)[1].push(name);
  }
  return found;
}

/** A value as a reader sees it. */
export const shown = (name, value) => SETTINGS[name].values.find(([each]) => each === value)?.[1] ?? String(value);

/** What differs from where the bench begins, or from other settings: "layer norm: none". */
export const differences = (settings, from = START) =>
  Object.keys(SETTINGS).filter((name) => settings[name] !== from[name]).map((name) => `${SETTINGS[name].label}: ${shown(name, settings[name])}`);

/** Why settings make no run, in one sentence; or nothing. */
export function problem_of(settings) {
  if (settings.min_length > settings.max_length && !["addition", "captions"].includes(settings.task)) {
    return `The shortest source has ${settings.min_length} symbols and the longest ${settings.max_length}: choose a longest one that is no shorter.`;
  }
  return "";
}

// --- the address ---------------------------------------------------------------------------------

/** Settings as an address, only what differs from where the bench begins; `prefix` for the second setting. */
function written(settings, from, prefix = "") {
  return Object.keys(SETTINGS).filter((name) => settings[name] !== from[name]).map((name) => [prefix + name, String(settings[name] ?? "root")]);
}

/** The address of one setting or two, without its question mark: the second says how it differs from the first. */
export const address_of = ([first, second]) =>
  String(new URLSearchParams([...written(first, START), ...(second ? [["beside", "1"], ...written(second, first, "b.")] : [])]));

/** What stands in an address: {settings: one or two, go, problems}. What is wrong there is said and left out. */
export function read_address(search) {
  const given = new URLSearchParams(search);
  const problems = [];
  const settings = [{ ...START }];
  if (given.get("beside") === "1") settings.push({ ...START });
  const set = (targets, name, text) => {
    const setting = Object.hasOwn(SETTINGS, name) && SETTINGS[name];
    const found = setting && setting.values.find(([value]) => String(value ?? "root") === text);
    if (found) for (const each of targets) each[name] = found[0];
    else if (setting) problems.push(`“${text}” is no value of ${name}; the bench knows ${setting.values.map(([value]) => value ?? "root").join(", ")}.`.slice(0, 200));
    else problems.push(`The bench has no setting of the name “${name.slice(0, 40)}”.`);
  };
  for (const [name, text] of given) {
    if (name !== "beside" && name !== "go" && !name.startsWith("b.")) set(settings, name, text.slice(0, 40));
  }
  for (const [name, text] of given) if (name.startsWith("b.") && settings[1]) set([settings[1]], name.slice(2), text.slice(0, 40));
  return { settings, go: given.get("go") === "1", problems };
}
