// What the browser keeps of the bench: under `bench` in what js/memory.js keeps, guesses and curves, each
// by the time in ms when it was made (a curve that was removed is null); and the model handed over last.
//
// Only the bench loads this, and a page that has something of the bench to show.

import { html } from "../model/widgets/shared.js";

const memory = window.bookMemory;
const CACHE = "transformer-book-bench";
const MODEL = "bench-model.zip";

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isTime = (value) => Number.isFinite(value) && value > 0 && value < 8e15;
const isText = (value) => typeof value === "string" && value.length <= 1000;
const isGuess = (value) => isObject(value) && ["settings", "switched", "guess", "outcome"].every((name) => isText(value[name]));
const isPoint = (value) => Array.isArray(value) && value.length === 3 && value.every(Number.isFinite);
const isCurve = (value) =>
  value === null ||
  (isObject(value) && isText(value.name) && isText(value.settings) && Array.isArray(value.measured) && value.measured.length <= 400 && value.measured.every(isPoint));
const isBench = (value) =>
  isObject(value) &&
  [["guesses", isGuess], ["curves", isCurve]].every(
    ([kind, is]) => isObject(value[kind]) && Object.entries(value[kind]).every(([at, each]) => isTime(Number(at)) && is(each)),
  );

/** What there is, in a state of the memory; where it is damaged, nothing. */
const of = ({ bench }) => (isBench(bench) ? bench : { guesses: {}, curves: {} });

/** Guesses and curves. */
export const kept = () => of(memory.state());

/** Keep a guess or a curve, made at that time; kind: "guesses" or "curves". Returns a sentence if it will not last. */
export const keep = (kind, at, entry) => memory.change((state) => ((state.bench = of(state))[kind][at] = entry));

/** All of them as a list, the latest first; or nothing. */
export function done() {
  const { guesses, curves } = kept();
  const latest = (all) => Object.entries(all).filter(([, each]) => each).sort(([a], [b]) => b - a).map(([, each]) => each);
  const link = (settings, text) => html("a", { href: `bench.html?${settings}` }, text);
  const items = [
    ...latest(guesses).map(({ settings, switched, guess, outcome }) => html("li", {}, link(settings, switched), ` You said: ${guess} ${outcome && `What came: ${outcome}`}`)),
    ...latest(curves).map(({ name, settings }) => html("li", {}, "You kept the curve ", link(settings, name), ".")),
  ];
  return items.length ? html("ul", {}, items) : null;
}

/** A guess whose outcome is known, and a curve that was removed, have come last. */
function join(own, other) {
  for (const [at, guess] of Object.entries(other.guesses)) if (!own.guesses[at]?.outcome) own.guesses[at] = guess;
  for (const [at, curve] of Object.entries(other.curves)) if (own.curves[at] !== null) own.curves[at] = curve;
  return own;
}

/** The model's file, for “Talk to the model”, in the place of that of before. */
export async function keep_model(file) {
  const cache = await caches.open(CACHE);
  await cache.put(MODEL, new Response(file));
  memory.change((state) => (state.bench = of(state))); // it is part of what the reader can delete
}

/** That file, or null. */
export async function kept_model() {
  const found = await caches.match(MODEL, { cacheName: CACHE }).catch(() => null);
  return found ? new File([await found.blob()], MODEL) : null;
}

// Who adds a file of all that is kept adds the bench's part; who deletes all deletes the model, too.
const { imported, forget } = memory;
Object.assign(memory, {
  imported(text) {
    let bench;
    try {
      ({ bench } = JSON.parse(text));
    } catch {
      // said below
    }
    if (bench !== undefined && !isBench(bench)) return imported(""); // it is damaged
    const problem = imported(text);
    return problem || !bench ? problem : memory.change((state) => (state.bench = join(of(state), bench)));
  },
  forget() {
    forget();
    window.caches?.delete(CACHE).catch(() => {});
  },
});
