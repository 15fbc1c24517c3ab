// A run: a model, what it reads, its optimizer; update by update (chapter 16).

import { Training } from "../model/backwards.js";
import { fresh, parameter_shapes } from "../model/initialization.js";
import { padding_mask } from "../model/masks.js";
import { OPTIMIZERS, clip_gradients, label_smoothed_loss, learning_rate } from "../model/optimization.js";
import { Weights, load_tensors } from "../model/safetensors.js";
import { Tensor } from "../model/tensors.js";
import { Transformer } from "../model/transformer.js";
import { projected } from "./geometry.js";
import { make_mistake } from "./mistakes.js";
import { Random } from "./random.js";
import { EOS, PAD, SOS, Task } from "./tasks.js";

export const N_VALIDATION = 64; // pairs: a multiple of them would cost as much as the updates
const N_SENTENCES = 4; // that are shown
const N_EMBEDDINGS = 24; // at most, of the most frequent tokens
// The matrices that a tied one stands for, and where it may stand.
const TIED = {
  "output.weight": ["target_embedding.weight", "source_embedding.weight"],
  "target_embedding.weight": ["source_embedding.weight"],
};

/** What the twin reads, from what the reader has set. */
export function configuration(settings) {
  const { vocab_size, longest } = new Task(settings);
  const { layers } = settings;
  return {
    ...settings,
    ...{ source_vocab_size: vocab_size, target_vocab_size: vocab_size, max_length: longest },
    ...{ n_encoder_layers: layers, n_decoder_layers: layers, activation: "relu", bias: true },
  };
}

/** Where a parameter stands in the model: what the reader sees gradients of. */
export function place_of(name) {
  const [, stack, layer] = name.match(/^(encoder|decoder)\.(?:layers\.(\d+))?/) ?? [];
  if (stack) return layer ? `${stack} ${Number(layer) + 1}` : `${stack} norm`;
  return name.startsWith("output") ? "output" : "embeddings";
}

/** What each row of sources becomes: the most probable token at each step, all rows together. */
export function greedy(model, source) {
  const longest = model.config.max_length - 1; // what there is room for after <sos>
  const mask = padding_mask(source); // (B, 1, 1, S)
  const memory = model.encode(source, mask); // (B, S, D)
  const said = source.map(() => [SOS]);
  for (let t = 0; t < longest && said.some((row) => !row.includes(EOS)); t += 1) {
    const vectors = model.decode(said, memory, mask); // (B, t + 1, D)
    const D = vectors.size(-1);
    const last = new Tensor(new Float32Array(said.length * D), said.length, D); // (B, D)
    said.forEach((_, b) => last.data.set(vectors.data.subarray((b * (t + 1) + t) * D, (b + 1) * (t + 1) * D), b * D));
    const logits = model.logits(last); // (B, V)
    const V = logits.size(-1);
    said.forEach((row, b) => {
      let best = EOS; // neither <pad> nor <sos> is ever said
      for (let v = EOS; v < V; v += 1) if (logits.data[b * V + v] > logits.data[b * V + best]) best = v;
      row.push(row.includes(EOS) ? PAD : best);
    });
  }
  return said.map((row) => row.slice(1));
}

/** A loss or a gradient that is infinite or not a number: training cannot go on. */
export class NotFinite extends Error {}

/** A tensor of a file, if it is as large as the run's own. */
function same_shape(tensors, name, { shape: own }) {
  const given = tensors.maybe(name);
  if (!given) throw new Error(`The file has no ${name}: it belongs to a model of other settings.`);
  if (String(given.shape) === String(own)) return given;
  throw new Error(`In the file ${name} has the shape ${given.shape.join(" × ")}, and with these settings ${own.join(" × ")}: choose the sizes of that run first.`);
}

export class Run {
  constructor(settings) {
    this.update = 0;
    this.data = new Random(settings.seed); // of the pairs
    this.noise = new Random(settings.seed + 1000); // of the first weights, then of dropout
    this.tensors = new Map(); // all that any setting has needed so far, by name
    this.change(settings);
  }

  /**
   * Go on with other settings: what both models have keeps its numbers and moments, what is new
   * begins at random. Sizes and the task cannot change in a run.
   */
  change(settings) {
    this.settings = settings;
    this.config = configuration(settings);
    this.task ??= new Task(settings);
    this.held_out ??= this.task.validation(N_VALIDATION);
    this.hooks = new Training(settings);
    const shapes = [...parameter_shapes(this.config)];
    for (const [name] of shapes) {
      // What was tied goes on with a copy of the common matrix.
      const common = this.parameters?.has(name) ? [] : (TIED[name] ?? []).map((other) => this.parameters?.get(other));
      const [one] = common.filter((each) => each);
      if (one) this.tensors.set(name, new Tensor(one.data.slice(), ...one.shape));
    }
    for (const [name, shape] of shapes) {
      if (!this.tensors.has(name)) this.tensors.set(name, fresh(name, shape, settings.initialization, this.noise.draw));
    }
    this.parameters = new Map(shapes.map(([name]) => [name, this.tensors.get(name)]));
    this.model = new Transformer(this.config, new Weights(this.parameters), this.hooks);
    make_mistake(this.model, settings.mistake);
    const before = this.optimizer;
    this.optimizer = new OPTIMIZERS[settings.optimizer]([...this.parameters.values()]);
    if (this.optimizer.moments && before?.moments) {
      this.optimizer.n = before.n;
      const at = (tensor) => before.parameters.indexOf(tensor);
      this.optimizer.moments = this.optimizer.parameters.map((each, p) => before.moments[at(each)] ?? this.optimizer.moments[p]);
    }
  }

  /**
   * One update. Returns what there is to see of it: its number, the loss and its part without
   * smoothing, the length of the gradient of each place and of all, the learning rate.
   *
   * Throws `NotFinite` before the weights change, if they would not be numbers afterwards.
   */
  step() {
    const { settings, parameters } = this;
    const { source, target_in, target_out } = this.task.batch(this.data, settings.batch_size);
    for (const each of parameters.values()) {
      if (!each.grad || settings.mistake !== "not_cleared") each.grad = new Float32Array(each.data.length);
    }
    this.hooks.random = this.noise.draw;
    const logits = this.model.forward(source, settings.shift ? target_in : target_out);
    const { loss, nll, gradient } = label_smoothed_loss(logits, target_out, settings.label_smoothing);
    if (!Number.isFinite(loss)) throw new NotFinite(`The loss of update ${this.update + 1} is not a number.`);
    this.model.backward(gradient);
    this.hooks.random = null;
    const norms = {};
    for (const [name, { grad }] of parameters) {
      const place = place_of(name);
      norms[place] = (norms[place] ?? 0) + grad.reduce((total, each) => total + each * each, 0);
    }
    for (const place of Object.keys(norms)) norms[place] = Math.sqrt(norms[place]);
    const rate = learning_rate(this.update + 1, settings);
    const gradient_norm = clip_gradients([...parameters.values()], settings.clip_norm);
    if (!Number.isFinite(gradient_norm)) throw new NotFinite(`The gradient of update ${this.update + 1} is not a number.`);
    this.optimizer.step(rate);
    this.update += 1;
    return { update: this.update, loss, nll, gradient_norm, norms, rate };
  }

  /** On pairs that training never sees: the loss without smoothing, and the share translated exactly. */
  validate() {
    const { task, held_out, settings } = this;
    const { source, target_in, target_out } = task.collate(held_out);
    this.hooks.random = null;
    const logits = this.model.forward(source, settings.shift ? target_in : target_out);
    const { nll } = label_smoothed_loss(logits, target_out);
    const said = greedy(this.model, source).map((ids) => task.text(ids).join(" "));
    const right = held_out.filter((pair, i) => pair.target.join(" ") === said[i]).length;
    const sentences = held_out.slice(0, N_SENTENCES).map((pair, i) => ({ ...pair, said: said[i].split(" ") }));
    return { update: this.update, validation_loss: nll, exact_match: right / held_out.length, sentences, maps: this.maps(), embeddings: this.embeddings() };
  }

  /** Where the target's token embeddings lie: {names, points, share}, see `projected`. */
  embeddings() {
    const { data, shape } = this.model.target_embedding.weight;
    const names = this.task.spoken.slice(0, N_EMBEDDINGS);
    const rows = names.map((name) => data.subarray(this.task.ids([name])[0] * shape[1]).subarray(0, shape[1]));
    const { axes, points, share } = projected(rows, this.axes);
    this.axes = axes;
    return { names, points, share };
  }

  /** Where each head looks, for the first pair: {name: {shape, weights}}, with the target's own words read. */
  maps() {
    const pair = this.held_out[0];
    const { source, target_in } = this.task.collate([pair]);
    const found = {};
    this.hooks.hooks = [
      (value, { name, stage }) => {
        if (stage === "weights") found[name] = { shape: value.shape.slice(1), weights: value.data.slice() }; // (H, T, S)
      },
    ];
    this.model.forward(source, target_in);
    this.hooks.hooks = [];
    const [looked_at, asking] = [[...pair.source, "<eos>"], ["<sos>", ...pair.target]];
    return { found, source: looked_at, target: asking };
  }

  /** All that decides how the run goes on; nothing in it changes with the run. */
  state() {
    const { settings, update, data, noise, optimizer } = this;
    const copies = [...this.parameters].map(([name, { data: numbers, shape, grad }], p) => {
      const moments = optimizer.moments?.[p].map((each) => each.slice());
      return [name, { numbers: numbers.slice(), shape, moments, grad: grad?.slice() }];
    });
    return { settings, update, data: data.state, noise: noise.state, n: optimizer.n, copies };
  }

  /**
   * The run that goes on from a checkpoint of the page or of Python: its weights, and its moments and
   * update where there is more than weights. Python has drawn other pairs; those that follow are new.
   */
  static restored(settings, files) {
    const run = new Run(settings);
    const [weights, optimizer] = ["model", "optimizer"].map((name) => files[`${name}.safetensors`]).map((bytes) => bytes && load_tensors(bytes));
    for (const [name, own] of run.parameters) own.data.set(same_shape(weights, name, own).data);
    const [more] = [...weights.tensors.keys()].filter((name) => !run.parameters.has(name));
    if (more) throw new Error(`The file also has ${more}: it belongs to a model of other settings.`);
    if (!optimizer) return run;
    const { update, draws = {} } = files["state.json"];
    const whole = (n) => Number.isInteger(n) && n >= 0;
    if (!whole(update)) throw new Error("state.json does not say how many updates there have been: it is damaged.");
    run.update = update;
    for (const kind of ["data", "noise"]) run[kind].state = whole(draws[kind]) ? draws[kind] : run[kind].state + update;
    if (!run.optimizer.moments) return run;
    run.optimizer.n = 0;
    [...run.parameters].forEach(([name, own], p) => {
      if (!optimizer.maybe(`step.${name}`)) return; // what no loss depends on has none
      run.optimizer.n = Math.max(run.optimizer.n, optimizer.get(`step.${name}`).data[0]);
      run.optimizer.moments[p] = ["exp_avg", "exp_avg_sq"].map((moment) => same_shape(optimizer, `${moment}.${name}`, own).data);
    });
    return run;
  }

  /** The run that goes on from there. */
  static from({ settings, update, data, noise, n, copies }) {
    const run = Object.assign(Object.create(Run.prototype), { update: 0, data: new Random(0), noise: new Random(0) });
    Object.assign(run.data, { state: data });
    Object.assign(run.noise, { state: noise });
    run.tensors = new Map(copies.map(([name, { numbers, shape, grad }]) => [name, Object.assign(new Tensor(numbers.slice(), ...shape), grad && { grad: grad.slice() })]));
    run.change(settings);
    run.update = update;
    if (n) Object.assign(run.optimizer, { n, moments: copies.map(([, { moments }]) => moments.map((each) => each.slice())) });
    return run;
  }
}
