// A run in a worker: the page stays quick while it trains, also in a tab in the background.
//
// The page posts {act, …}: "new", "go", "pause", "step", "change", "keep", "back", "estimate",
// "load", "weights". The worker posts {is: "records" | "seen" | "stopped" | "kept" | "estimate" |
// "weights" | "opened" | "failed", …}.

import { parameter_shapes } from "../model/initialization.js";
import { prepare } from "./tasks.js";
import { NotFinite, Run, configuration } from "./training.js";

const OFTEN = 150; // ms between two messages with records
const EACH = 25; // updates between two measurements on validation pairs
const MOST_KEPT = 8;
const MOST_BYTES = 1e9;

let run = null;
let going = false;
let kept = []; // {why, state}
let records = [];
let told = 0;

const say = (is, more = {}) => self.postMessage({ is, ...more });

/** Let messages in that have come while an update was computed. (A timer would wait for 4 ms.) */
const { port1, port2 } = new MessageChannel();
const pause = () =>
  new Promise((resume) => {
    port1.onmessage = resume;
    port2.postMessage(null);
  });

function tell() {
  if (records.length) say("records", { records });
  records = [];
  told = performance.now();
}

/** Measure on validation pairs; what is finite is worth going back to. */
function look() {
  const seen = run.validate();
  tell();
  say("seen", seen);
  if (Number.isFinite(seen.validation_loss)) keep("good");
}

/** One update, and whether there can be another. */
function step() {
  try {
    records.push(run.step());
  } catch (error) {
    if (!(error instanceof NotFinite)) throw error;
    tell();
    say("stopped", { why: "not finite", message: error.message, update: run.update });
    return false;
  }
  const finished = run.update >= run.settings.updates;
  if (run.update % EACH === 0 || finished) look();
  if (finished) say("stopped", { why: "finished", update: run.update });
  return !finished;
}

async function go() {
  if (going || !run) return;
  going = true;
  while (going) {
    going = run.update < run.settings.updates && step() && going;
    if (performance.now() - told > OFTEN) tell();
    await pause();
  }
  tell();
}

/** Keep the state; of those that were kept by themselves ("good") the last one is enough. */
function keep(why) {
  if (why === "good") kept = kept.filter((each) => each.why !== "good");
  kept = kept.filter((each) => each.state.update !== run.update);
  kept.push({ why, state: run.state() });
  if (kept.length > MOST_KEPT) kept.shift();
  say("kept", { kept: kept.map((each) => ({ why: each.why, update: each.state.update })) });
}

/** How large a model of these settings is, before it is made: numbers, and bytes while it trains. */
export function size_of(settings) {
  const config = configuration(settings);
  const parameters = [...parameter_shapes(config).values()].reduce((total, shape) => total + shape.reduce((a, b) => a * b), 0);
  const positions = settings.batch_size * 2 * config.max_length;
  // Of a layer about thirty vectors of d_model and d_ff are kept for the way back, and its maps.
  const maps = 3 * settings.n_heads * config.max_length * 4;
  const bytes = 4 * (8 * parameters + settings.layers * positions * (30 * settings.d_model + 4 * settings.d_ff + maps));
  return { parameters, bytes };
}

function refuse_if_too_large(settings) {
  const { bytes } = size_of(settings);
  if (bytes <= MOST_BYTES) return;
  throw new Error(`This run would need about ${(bytes / 1e9).toFixed(1)} GB of memory, and the bench takes at most ${MOST_BYTES / 1e9} GB: choose a smaller batch, width or depth.`);
}

/** The seconds of an update of these settings, here and now: measured on a small batch. */
function estimate(settings) {
  refuse_if_too_large(settings);
  const pairs = Math.min(8, settings.batch_size);
  // With next to no learning rate: a run that will diverge must not do so here.
  const trial = new Run({ ...settings, batch_size: pairs, learning_rate: 1e-9 });
  let seconds = Infinity;
  for (let turn = 0, began = performance.now(); turn < 5 && performance.now() - began < 600; turn += 1) {
    const start = performance.now();
    trial.step();
    seconds = Math.min(seconds, (performance.now() - start) / 1000);
  }
  return { ...size_of(settings), seconds: (seconds * settings.batch_size) / pairs };
}

const ACTS = {
  new({ settings }) {
    refuse_if_too_large(settings);
    [going, kept, records] = [false, [], []];
    run = new Run(settings);
    look();
  },
  go,
  pause() {
    tell(); // first, so that the page knows where it has stopped
    if (going) say("stopped", { why: "paused", update: run.update });
    going = false;
  },
  step() {
    if (going || run.update >= run.settings.updates) return;
    const begins = run.update;
    step();
    if (run.update > begins && run.update % EACH && run.update < run.settings.updates) look();
  },
  change({ settings, why }) {
    keep(why);
    run.change(settings);
  },
  keep: () => keep("kept by you"),
  back({ update }) {
    going = false;
    run = Run.from(kept.findLast((each) => each.state.update === update).state);
    say("returned", { update, settings: run.settings });
    look();
  },
  /** What a run would take: a run that is there goes on, whatever comes of it. */
  estimate({ settings }) {
    try {
      say("estimate", { estimate: estimate(settings) });
    } catch (error) {
      const own = error.constructor === Error;
      say("estimate", { estimate: null, refused: own ? error.message : "The time of an update could not be measured." });
    }
  },
  /** The run as it is, for a file. */
  weights: () => say("weights", { config: run.config, state: run.state() }),
  /** The run that files hold, in the place of this one. */
  load({ files, settings }) {
    refuse_if_too_large(settings);
    const made = Run.restored(settings, files);
    [going, kept, records, run] = [false, [], [], made];
    say("opened", { update: run.update });
    look();
  },
};

let ready = Promise.resolve(); // what the tasks need, message by message

self.addEventListener("message", async ({ data: { act, ...asked } }) => {
  try {
    if (asked.settings) ready = ready.catch(() => {}).then(() => prepare(asked.settings));
    await ready;
    await ACTS[act](asked);
  } catch (error) {
    going = false;
    const own = error.constructor === Error;
    if (!own) console.warn(error);
    say("failed", { message: own ? error.message : "The run has failed: begin a new one. If that does not help, choose smaller sizes." });
  }
});
