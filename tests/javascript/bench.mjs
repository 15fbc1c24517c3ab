// The bench without its page, in node: a list of jobs on standard input, a list of results out.

import { readFileSync } from "node:fs";

const bench = new URL("../../book/assets/bench/", import.meta.url);
const [{ initialize }, { load_tensors }, { folder_of, only_here, recipe_toml, zipped }, { opened, settings_of }, settings, { Task, is_held_out, prepare }, training] = await Promise.all(
  ["../model/initialization.js", "../model/safetensors.js", "export.js", "files.js", "settings.js", "tasks.js", "training.js"].map((name) => import(new URL(name, bench))),
);
const { Run } = training;
const { projected } = await import(new URL("geometry.js", bench));
const { Random } = await import(new URL("random.js", bench));
const { START } = settings;
await prepare({ task: "captions" });

/** Updates, until one says that it cannot be made. */
function train(run, updates) {
  const losses = [];
  try {
    while (losses.length < updates) losses.push(run.step().loss);
  } catch (error) {
    return { losses, error: error.message };
  }
  return { losses };
}

const base64 = (bytes) => Buffer.from(bytes).toString("base64");
/** What a folder of a run holds, by paths, as a reader's files. */
const chosen = (files) => Object.entries(files).map(([name, bytes]) => ({ name, size: bytes.length, arrayBuffer: async () => Uint8Array.from(bytes).buffer }));

const OPERATIONS = {
  table: () => ({ start: START, values: Object.fromEntries(Object.entries(settings.SETTINGS).map(([name, { values }]) => [name, values.map(([value]) => value)])) }),

  /** For each configuration its parameters: name, shape, mean and mean square. */
  initial: ({ configurations }) =>
    configurations.map((config) =>
      [...initialize(config, new Random(1).draw).tensors].map(([name, { shape, data }]) => [name, shape, data.reduce((a, b) => a + b, 0) / data.length, data.reduce((a, b) => a + b * b, 0) / data.length, data.reduce((a, b) => Math.max(a, Math.abs(b)), 0)]),
    ),

  /** Pairs of a task, for training and for validation. */
  pairs({ lengths, n }) {
    const task = new Task({ ...START, ...lengths });
    const random = new Random(1);
    const plain = ({ source, target }) => [source.join(""), target.join("")];
    const train = Array.from({ length: n }, () => task.pair(random));
    return { train: train.map(plain), validation: task.validation(n).map(plain), split: train.every(({ source }) => !is_held_out(source)) };
  },

  train: ({ settings: asked, updates }) => train(new Run({ ...START, ...asked }), updates),

  /** A run that is taken up from a state, and what it would have done. */
  resumed({ settings: asked, updates }) {
    const run = new Run({ ...START, ...asked });
    train(run, updates);
    const state = structuredClone(run.state());
    const went_on = train(run, updates);
    return [went_on.losses, train(Run.from(state), updates).losses];
  },

  /** The losses while one thing after the other changes. */
  changed({ changes, updates }) {
    const run = new Run({ ...START });
    const losses = [];
    for (const change of [{}, ...changes]) {
      run.change({ ...run.settings, ...change });
      losses.push(train(run, updates));
    }
    return losses;
  },

  /** Rows in two directions, and a second time from the directions found, turned. */
  projected({ rows }) {
    const first = projected(rows);
    const turned = first.axes.map((axis) => axis.map((each) => -each));
    return [first, projected(rows, turned)];
  },

  recipe: ({ settings: asked }) => ({ toml: recipe_toml({ ...START, ...asked }), not: only_here({ ...START, ...asked }) }),

  /** A folder of files, as bytes, after some updates; and what the run says for its validation pairs. */
  async folder({ settings: asked, updates }) {
    const run = new Run({ ...START, ...asked });
    train(run, updates);
    const files = folder_of({ settings: run.settings, config: run.config, state: run.state() });
    const zip = base64(await zipped(files).arrayBuffer());
    const read = load_tensors(files["model.safetensors"].buffer);
    const same = [...run.parameters].every(([name, { data }]) => data.every((each, i) => each === read.tensors.get(name).data[i]));
    const { source } = run.task.collate(run.held_out);
    const said = training.greedy(run.model, source).map((ids) => run.task.text(ids).join(" "));
    return { zip, same, pairs: run.held_out.map((pair, i) => [pair.source.join(" "), said[i]]) };
  },

  /** A run that is saved and opened again, and what it would have done; with its weights alone; by its ZIP file. */
  async reopened({ settings: asked, updates }) {
    const run = new Run({ ...START, ...asked });
    train(run, updates);
    const files = folder_of({ settings: run.settings, config: run.config, state: run.state() });
    const zip = Buffer.from(await zipped(files).arrayBuffer());
    const went_on = train(run, updates).losses;
    const again = async (some) => {
      const found = await opened(chosen(some));
      return train(Run.restored(settings_of(found, START), found), updates).losses;
    };
    return { went_on, names: Object.keys(files), zip: await again({ "run.zip": zip }), weights: await again({ "config.json": files["config.json"], "model.safetensors": files["model.safetensors"] }) };
  },

  /** The settings of a checkpoint's files, or of a ZIP file, and the batches that come next. */
  async next_batches({ paths, n, begin }) {
    const found = await opened(chosen(Object.fromEntries(paths.map((path) => [path, readFileSync(path)]))));
    const said = settings_of(found, { ...START, ...begin });
    const run = Run.restored(said, found);
    const batches = Array.from({ length: n }, () => run.task.batch(run.data, said.batch_size));
    return { settings: said, update: run.update, batches };
  },

  /** What is said of files that are no run. */
  refused: ({ files }) =>
    opened(chosen(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text, "base64")])))).then(
      (found) => {
        Run.restored(settings_of(found, START), found);
        return "";
      },
    ).catch(({ message }) => message),

  address: ({ search }) => {
    const { settings: given, ...rest } = settings.read_address(search);
    return { ...rest, differ: given.map((each) => settings.differences(each)), again: settings.address_of(given) };
  },
};

const results = [];
for (const { operation, ...job } of JSON.parse(readFileSync(0, "utf8"))) results.push(await OPERATIONS[operation](job));
process.stdout.write(JSON.stringify(results));
