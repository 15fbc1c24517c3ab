import {
  checkbox,
  choice,
  clamp,
  explorer,
  figure,
  handle,
  html,
  line,
  mark,
  number,
  panel,
  plane,
  points,
  slider,
  sum,
  svg,
  symbol,
  table,
  uniqueId,
  upTo,
} from "./shared.js";

const SCHEDULES = ["constant", "inverse_sqrt", "linear"];
const WIDTHS = [32, 64, 128, 256, 512, 1024, 2048];
const PEAKS = [0.0001, 0.0002, 0.0003, 0.0005, 0.0007, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.02, 0.03, 0.05];
const WARMUPS = [1, 10, 20, 50, 100, 200, 400, 500, 1000, 2000, 4000, 8000, 16000];
const LENGTHS = [100, 200, 450, 1000, 2000, 5000, 10000, 20000, 50000, 100000];
const LONGEST = LENGTHS.at(-1);

// The updates that the marker can stand at: all numbers of at most two digits and zeros.
const STOPS = [
  ...upTo(9).map((n) => n + 1),
  ...[1, 10, 100, 1000].flatMap((power) => upTo(90).map((n) => (n + 10) * power)),
  LONGEST,
];

/** The rate of an update as a share of the peak: learning_rate in Python. */
function shareOf(schedule, n, { warmup, updates }) {
  if (n <= warmup) return n / warmup;
  if (schedule === "inverse_sqrt") return Math.sqrt(warmup / n);
  if (schedule === "linear") return (updates + 1 - n) / (updates + 1 - warmup);
  return 1;
}

const addedUp = (schedule, last, run) => sum(upTo(last).map((n) => shareOf(schedule, n + 1, run)));

/** What the page shows: the same as ScheduleExplorer.numbers in Python. */
export function numbers(state) {
  const { schedule, d_model: width, warmup, updates, update, by_paper: byPaper, peak } = state;
  const top = byPaper ? 1 / Math.sqrt(width * warmup) : peak;
  const shares = SCHEDULES.map((each) => shareOf(each, update, state));
  const chosen = SCHEDULES.indexOf(schedule);
  const reachedAt = Math.min(warmup, updates);
  const [rising, falling] = [update / warmup, Math.sqrt(warmup / update)];
  return {
    top,
    one_in: 1 / top,
    made_of: byPaper ? `1 / √(${width} · ${warmup})` : "set by hand",
    warm_share: (100 * reachedAt) / updates,
    reached_at: reachedAt,
    reached: top * shareOf(schedule, reachedAt, state),
    rate: top * shares[chosen],
    share: shares[chosen],
    line: top * rising,
    line_share: rising,
    root: top * falling,
    root_share: falling,
    rates: shares.map((share) => top * share),
    shares,
    so_far: SCHEDULES.map((each) => top * addedUp(each, update, state)),
    whole: SCHEDULES.map((each) => top * addedUp(each, updates, state)),
  };
}

/** Where n lies among the stops: 1 is 0, 2 is 1, and between two of them it is a fraction. */
function toStop(n) {
  const next = STOPS.findIndex((stop) => stop >= n);
  if (next <= 0) return next ? STOPS.length - 1 : 0;
  return next - (STOPS[next] - n) / (STOPS[next] - STOPS[next - 1]);
}

function fromStop(place) {
  const [low, share] = [Math.floor(place), place % 1];
  return share ? STOPS[low] + share * (STOPS[low + 1] - STOPS[low]) : STOPS[low];
}

/** A rate for the screen reader and the ticks: two significant digits. */
const short = (rate) => String(Number(rate.toPrecision(2)));

// --- the two drawings ----------------------------------------------------------------------------

const [WIDE, HIGH] = [336, 250]; // of both
const FRAME = { left: 40, right: 320, low: 26, high: 240 }; // where the curves are; y upwards

/** One picture of the three curves. across(n) and up(rate) lead to 0 … 1 within the frame. */
function picture({ title, name, note, change, across, back, up, places, furnish }) {
  const drawing = plane({ label: `${title}: the learning rate against the update`, x: [0, WIDE], y: [0, HIGH] });
  let now = { state: null, top: 1 };
  const inside = (share, [low, high]) => low + share * (high - low);
  const at = (n, rate) => [
    inside(across(n, now.state), [FRAME.left, FRAME.right]),
    inside(up(rate, now.top), [FRAME.low, FRAME.high]),
  ];
  const id = uniqueId();
  const cut = svg("clipPath", { id }, svg("rect", {
    x: FRAME.left, y: HIGH - FRAME.high, width: FRAME.right - FRAME.left, height: FRAME.high - FRAME.low,
  }));
  const curves = SCHEDULES.map((_, m) => svg("polyline", { class: `curve curve-${m}` }));
  const layer = svg("g", { "clip-path": `url(#${id})` });
  const ticks = svg("g", { "aria-hidden": "true" });
  const axes = [line(drawing, { class: "axis" }), line(drawing, { class: "axis" })];
  axes[0].move([FRAME.left, FRAME.low], [FRAME.right, FRAME.low]);
  axes[1].move([FRAME.left, FRAME.low], [FRAME.left, FRAME.high]);
  const down = line(drawing, { class: "dashed" });
  const tip = svg("g", { class: "here" }, mark("circle", 4));
  // The marker goes along the curve, from stop to stop: its first coordinate counts them. The second
  // is 0, except for the arrow keys up and down, which do the same as right and left.
  const along = {
    x: [0, STOPS.length - 1],
    y: [-10, 10],
    at: ([stop]) => drawing.at(at(fromStop(stop), now.top * shareOf(now.state.schedule, fromStop(stop), now.state))),
    from: (event) => {
      const [x] = drawing.from(event);
      const share = clamp((x - FRAME.left) / (FRAME.right - FRAME.left), 0, 1);
      return [toStop(clamp(back(share, now.state), 1, now.state.updates)), 0];
    },
  };
  const marker = handle(along, {
    name, look: { kind: "diamond", size: 6 }, step: 1, stride: 10,
    change: ([stop, more]) =>
      change({ update: Math.min(STOPS[clamp(stop + more, 0, STOPS.length - 1)], now.state.updates) }),
  });
  const under = svg("g", {});
  layer.append(under, ...curves);
  drawing.element.append(
    svg("defs", {}, cut), layer, svg("g", { class: "grid" }, axes), ticks, down, tip, marker.element,
  );

  const tick = (kind, [x, y], text) => {
    const [px, py] = drawing.at([x, y]);
    return svg("text", { class: `tick ${kind}`, x: px.toFixed(1), y: py.toFixed(1) }, text);
  };
  const draw = (state, shown) => {
    now = { state, top: shown.top };
    const stops = places(state);
    curves.forEach((curve, m) => {
      curve.setAttribute("points", points(drawing, stops.map((n) => at(n, shown.top * shareOf(SCHEDULES[m], n, state)))));
      curve.classList.toggle("chosen", SCHEDULES[m] === state.schedule);
    });
    // The chosen one lies on top.
    layer.append(curves[SCHEDULES.indexOf(state.schedule)]);
    const here = at(state.update, shown.rate);
    down.move([here[0], FRAME.low], here);
    tip.setAttribute("transform", `translate(${drawing.at(at(shown.reached_at, shown.reached)).join(" ")})`);
    marker.move([toStop(state.update), 0]);
    marker.element.setAttribute("aria-valuemin", 1);
    marker.element.setAttribute("aria-valuemax", state.updates);
    marker.element.setAttribute("aria-valuenow", state.update);
    marker.element.setAttribute("aria-valuetext", `update ${state.update}, rate ${short(shown.rate)}`);
    const { below, beside, extra } = furnish(state, shown, { at, drawing, stops });
    under.replaceChildren(...extra);
    ticks.replaceChildren(
      ...below.map(([n, text]) => tick("", [at(n, shown.top)[0], 12], text)),
      ...beside.map(([rate, text]) => tick("side", [FRAME.left - 5, at(1, rate)[1] - 3.5], text)),
    );
  };
  return { element: panel(title, drawing.element, note), draw };
}

const SMALLEST = -8; // powers of ten: the lower and the upper end of the logarithmic picture
const LARGEST = -0.7;

const kilo = (n) => (n >= 1000 ? `${number(n / 1000, n % 1000 ? 1 : 0)}k` : String(n));

function logarithmic(change) {
  return picture({
    title: "1. Both axes logarithmic",
    name: "update n, logarithmic axes",
    change,
    across: (n) => Math.log10(n) / Math.log10(LONGEST),
    back: (share) => LONGEST ** share,
    up: (rate) => (Math.log10(rate) - SMALLEST) / (LARGEST - SMALLEST),
    places: ({ updates, warmup }) =>
      [...upTo(200).map((k) => updates ** (k / 199)), Math.min(warmup, updates)].sort((a, b) => a - b),
    furnish: ({ warmup, updates }, { top }, { at, drawing }) => {
      // Both curves of the formula, all the way: the lower one holds.
      const curve = (share) =>
        svg("polyline", {
          class: "dotted",
          points: points(drawing, [1, LONGEST].map((n) => at(n, top * share(n)))),
        });
      const dotted = [curve((n) => n / warmup), curve((n) => Math.sqrt(warmup / n))];
      const end = at(updates, top)[0];
      const stop = line(drawing, { class: "dashed" });
      stop.move([end, FRAME.low], [end, FRAME.high - 16]);
      const [x, y] = drawing.at([end, FRAME.high - 12]);
      const name = svg("text", { class: "label", x, y }, svg("tspan", { class: "letter" }, "N"));
      return {
        below: [1, 10, 100, 1000, 10000, 100000].map((n) => [n, kilo(n)]),
        beside: [[1e-1, "10⁻¹"], [1e-3, "10⁻³"], [1e-5, "10⁻⁵"], [1e-7, "10⁻⁷"]],
        extra: updates < LONGEST ? [...dotted, stop, name] : dotted,
      };
    },
    note: html(
      "p", { class: "note" },
      "Dotted: the two curves of the formula, which cross at update ", symbol("w"), " = ", figure("warmup", 0),
      ". At the diamond, update ", symbol("n"), " = ", figure("update", 0), ", the rising one gives ",
      figure("line", 8), ", the falling one ", figure("root", 8), ". The dot is the highest rate of the run.",
    ),
  });
}

function linear(change) {
  return picture({
    title: "2. Both axes linear",
    name: "update n, linear axes",
    change,
    across: (n, { updates }) => n / updates,
    back: (share, { updates }) => share * updates,
    up: (rate, top) => rate / top / 1.12,
    places: ({ updates, warmup }) =>
      [...upTo(240).map((k) => 1 + ((updates - 1) * k) / 239), Math.min(warmup, updates)].sort((a, b) => a - b),
    furnish: ({ schedule, warmup, updates, update }, { top }, { at, drawing, stops }) => {
      const end = at(Math.min(warmup, updates), top)[0];
      const strip = svg("rect", {
        class: "strip", x: FRAME.left, y: HIGH - FRAME.high, width: (end - FRAME.left).toFixed(1), height: FRAME.high - FRAME.low,
      });
      const run = { warmup, updates };
      const under = [...stops.filter((n) => n < update), update].map((n) => at(n, top * shareOf(schedule, n, run)));
      const area = svg("polygon", {
        class: "area",
        points: points(drawing, [[FRAME.left, FRAME.low], ...under, [under.at(-1)[0], FRAME.low]]),
      });
      return {
        below: [0, 0.25, 0.5, 0.75, 1].map((share) => [share * updates, kilo(share * updates)]),
        beside: [[top, short(top)], [top / 2, "half"], [0, "0"]],
        extra: [strip, area],
      };
    },
    note: html(
      "p", { class: "note" },
      "Grey: the warm-up, ", figure("warm_share", 1), " % of the run. Blue: the rates up to the diamond, added up. ",
      "At one learning rate a step, that is how far a weight may have come.",
    ),
  });
}

/** A piece of a curve, for the table. */
const sample = (m) =>
  svg("svg", { class: "sample", viewBox: "0 0 26 10", "aria-hidden": "true" },
    svg("path", { class: `curve chosen curve-${m}`, d: "M0 5H26" }));

// --- all of it -----------------------------------------------------------------------------------

function render(context) {
  const now = (trait) => context.model.get(trait);

  function build(change) {
    const drawings = [logarithmic(change), linear(change)];
    const schedule = choice({
      label: "schedule",
      options: SCHEDULES.map((each) => [each, each]),
      change: (value) => change({ schedule: value }),
    });
    const byPaper = checkbox({
      label: html("span", {}, "the paper's peak, 1 / √(", symbol("d", "model"), " · ", symbol("w"), ")"),
      change: (on) => change(on ? { by_paper: true } : { by_paper: false, peak: numbers(stateNow()).top }),
    });
    const stateNow = () =>
      Object.fromEntries(["schedule", "d_model", "warmup", "updates", "update", "by_paper", "peak"].map((name) => [name, now(name)]));
    const width = slider({
      label: ["width ", symbol("d", "model")],
      values: WIDTHS,
      change: (value) => change({ d_model: value, by_paper: true }),
    });
    const peak = slider({
      label: "peak",
      values: PEAKS,
      show: short,
      change: (value) => change({ peak: value, by_paper: false }),
    });
    const warmup = slider({
      label: ["warm-up ", symbol("w")],
      values: WARMUPS,
      show: (value) => (value === 1 ? "1: none" : String(value)),
      change: (value) => change({ warmup: value }),
    });
    const updates = slider({
      label: ["updates ", symbol("N")],
      values: LENGTHS,
      change: (value) => change({ updates: value, update: Math.min(now("update"), value) }),
    });
    const ofUpdate = table({
      caption: html(
        "span", {}, "Update ", figure("update", 0), " of ", figure("updates", 0), ", ", figure("schedule"), ": rate ",
        figure("rate", 8), ", ", figure("share"), " of the peak",
      ),
      columns: ["schedule", ...SCHEDULES.map((each, m) => html("span", {}, sample(m), each))],
      rows: [
        ["rate", "rates", 8], ["of the peak", "shares", 2], ["sum so far", "so_far", 2], ["sum of all", "whole", 2],
      ].map(([name, path, digits]) => [name, ...SCHEDULES.map((_, m) => figure(`${path}.${m}`, digits))]),
    });
    const ofPeak = html(
      "p", {},
      "Peak: ", figure("made_of"), " = ", figure("top", 8), ", one in ", figure("one_in", 0), ". Highest rate of the run: ",
      figure("reached", 8), ", at update ", figure("reached_at", 0), ".",
    );
    return {
      controls: [schedule, warmup, updates, byPaper, width, peak].map(({ element }) => element),
      parts: [ofPeak, html("div", { class: "panels" }, drawings.map(({ element }) => element)), ofUpdate],
      draw(state, shown) {
        schedule.move(state.schedule);
        warmup.move(state.warmup);
        updates.move(state.updates);
        byPaper.move(state.by_paper);
        width.move(state.d_model);
        peak.move(shown.top);
        for (const drawing of drawings) drawing.draw(state, shown);
        for (const row of ofUpdate.querySelectorAll("tr")) {
          SCHEDULES.forEach((each, m) => row.children[m + 1].classList.toggle("chosen", each === state.schedule));
        }
      },
    };
  }

  return explorer(context, {
    name: "ScheduleExplorer",
    label: "Schedule explorer",
    hint: "Drag the diamond along the curve, or go to it with Tab and press the arrow keys; Shift takes larger steps.",
    traits: ["schedule", "d_model", "warmup", "updates", "update", "by_paper", "peak"],
    numbers,
    build,
    say: ({ update, schedule }, { rate, share, top, reached_at: reachedAt }) =>
      `${schedule}: update ${update} has the rate ${short(rate)}, ${number(share)} of the peak ${short(top)}. ` +
      `The highest rate comes at update ${reachedAt}.`,
  });
}

export default { render };
