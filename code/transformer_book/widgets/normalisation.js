import {
  cellGrid,
  checkbox,
  choice,
  clamp,
  explorer,
  figure,
  handle,
  html,
  line,
  number,
  panel,
  plane,
  slider,
  sum,
  svg,
  symbol,
  table,
  upTo,
} from "./shared.js";

const [B, T, D] = [2, 2, 4]; // sentences, words, features
const EPSILON = 1e-5;
const SEEN = 0.005; // what moves by less moves by 0.00 on the page
const OVER = ["features", "features, words", "words, batch"];
const SCALES = [-1, 0, 0.0001, 0.001, 0.01, 0.1, 0.5, 1, 2, 3];
const [LEAST, MOST] = [-10, 20]; // of a feature, before it is scaled and shifted
const FAR = 10; // the largest shift

const FEATURES = upTo(D);

/** Mean, variance and divisor of some numbers. */
function statistics(values, { bessel, outside }) {
  const mean = sum(values) / values.length;
  const squares = sum(values.map((value) => (value - mean) ** 2));
  const variance = squares / (values.length - (bessel ? 1 : 0));
  const divisor = outside ? Math.sqrt(variance) + EPSILON : Math.sqrt(variance + EPSILON);
  return { mean, variance, divisor, count: values.length };
}

/** The statistics that each number of the batch is normalised with, in the shape of the batch. */
function allStatistics(x, how) {
  if (how.over === "words, batch") {
    const ofFeature = FEATURES.map((d) => statistics(x.flat().map((vector) => vector[d]), how));
    return x.map((words) => words.map(() => ofFeature));
  }
  return x.map((words) => {
    const together = how.over === "features" ? null : statistics(words.flat(), how);
    return words.map((vector) => FEATURES.map(() => together ?? statistics(vector, how)));
  });
}

const normed = (x, found) =>
  x.map((words, b) => words.map((vector, t) => vector.map((value, d) => (value - found[b][t][d].mean) / found[b][t][d].divisor)));

/** What the page shows: the same as NormalisationExplorer.numbers in Python. */
export function numbers({ batch, pad, sentence, word, vector, scale, shift, padding, ...how }) {
  const isChosen = (b, t) => b === sentence && t === word;
  const input = vector.map((value) => scale * value + shift);
  const words = batch.map((row, b) => row.map((each, t) => (isChosen(b, t) ? input : each)));
  const x = words.map((row) => [...row, ...Array(padding).fill(pad)]);
  const found = allStatistics(x, how);
  const outputs = normed(x, found).map((row) => row.slice(0, T));
  const earlier = normed(batch, allStatistics(batch, how));
  const right = normed(words, allStatistics(words, { over: "features" }));
  const moved = outputs.map((row, b) =>
    row.map((output, t) => Math.max(...output.map((value, d) => Math.abs(value - earlier[b][t][d])))));
  const size = (values) => Math.sqrt(sum(values.map((value) => value * value)));
  const flat = outputs.flat(2);
  const wanted = right.flat(2);
  const own = found[sentence][word];
  return {
    input,
    means: own.map(({ mean }) => mean),
    variances: own.map(({ variance }) => variance),
    divisors: own.map(({ divisor }) => divisor),
    output: outputs[sentence][word],
    before: earlier[sentence][word],
    outputs,
    earlier,
    moved,
    others: sum(moved.flatMap((row, b) => row.map((far, t) => Number(far > SEEN && !isChosen(b, t))))),
    count: own[0].count,
    off: (100 * size(flat.map((value, i) => value - wanted[i]))) / size(wanted),
  };
}

// --- what goes in --------------------------------------------------------------------------------

const [WIDE, HIGH] = [336, 250];
const [LOW, TOP] = [-40, 70]; // of the axis
const LEFT = 34;
const SLOT = (WIDE - LEFT - 6) / D;

function inputPanel(change, now) {
  const drawing = plane({ label: "What goes in: the four features of the chosen word", x: [0, WIDE], y: [0, HIGH] });
  const height = (value) => 8 + ((clamp(value, LOW, TOP) - LOW) / (TOP - LOW)) * (HIGH - 26);
  const value = (y) => LOW + ((y - 8) / (HIGH - 26)) * (TOP - LOW);
  const middle = (d) => LEFT + (d + 0.5) * SLOT;
  const rules = [-40, -20, 0, 20, 40, 60].map((tick) => {
    const rule = line(drawing, { class: tick ? "rule" : "axis" });
    rule.move([LEFT, height(tick)], [WIDE - 6, height(tick)]);
    const [x, y] = drawing.at([LEFT - 5, height(tick)]);
    return [rule, svg("text", { class: "tick side", x, y: y + 3.5 }, number(tick, 0))];
  });
  const names = FEATURES.map((d) => {
    const [x, y] = drawing.at([middle(d), HIGH - 11]);
    return svg("text", { class: "label", x, y: y + 3 }, `feature ${d}`);
  });
  const bars = FEATURES.map((d) => svg("rect", { class: `bar token-${d}`, width: 16 }));
  const bands = FEATURES.map(() => svg("rect", { class: "band", width: SLOT }));
  const means = FEATURES.map(() => line(drawing, { class: "mean" }));
  const handles = FEATURES.map((d) => {
    // The handle's second coordinate is x; it stands at a x + b. The first is 0, except for the
    // arrow keys left and right, which do the same as down and up.
    const along = {
      x: [-5, 5],
      y: [LEAST, MOST],
      at: ([, x]) => drawing.at([middle(d), height(now("scale") * x + now("shift"))]),
      from: (event) => [0, (value(drawing.from(event)[1]) - now("shift")) / (now("scale") || 1)],
    };
    return handle(along, {
      name: `feature ${d}`, look: { kind: "square", size: 7, class: `token-${d}` }, step: 1, stride: 5,
      change: ([more, x]) =>
        change({ vector: now("vector").map((each, m) => (m === d ? clamp(x + more, LEAST, MOST) : each)) }),
    });
  });
  drawing.element.append(
    svg("g", { class: "grid" }, rules.flat()), ...bands, ...bars, ...means, ...names, ...handles.map(({ element }) => element),
  );
  const box = (element, x, from, to) => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    element.setAttribute("x", x.toFixed(1));
    element.setAttribute("y", (HIGH - high).toFixed(1));
    element.setAttribute("height", (high - low).toFixed(1));
  };
  const draw = ({ vector }, { input, means: ofMeans, variances }) => {
    for (const d of FEATURES) {
      const [mean, far] = [ofMeans[d], Math.sqrt(variances[d])];
      box(bars[d], middle(d) - 8, height(0), height(input[d]));
      box(bands[d], middle(d) - SLOT / 2, height(mean - far), height(mean + far));
      means[d].move([middle(d) - SLOT / 2, height(mean)], [middle(d) + SLOT / 2, height(mean)]);
      handles[d].move([0, vector[d]]);
      handles[d].element.setAttribute("aria-valuemin", LEAST);
      handles[d].element.setAttribute("aria-valuemax", MOST);
      handles[d].element.setAttribute("aria-valuenow", vector[d]);
      handles[d].element.setAttribute("aria-valuetext", number(vector[d], 1));
    }
  };
  const note = html(
    "p", { class: "note" },
    "The line is the mean ", symbol("μ"), ", the grey band one standard deviation ", symbol("σ"),
    " to either side. Each is taken over ", figure("count", 0), " numbers.",
  );
  return { element: panel("1. The changed word, as it goes in", drawing.element, note), draw };
}

// --- what comes out ------------------------------------------------------------------------------

/** Four bars for an output, and dashed ones for what it was. */
function smallBars() {
  const [wide, high, unit] = [120, 84, 11];
  const element = svg("svg", { viewBox: `0 0 ${wide} ${high}`, "aria-hidden": "true" });
  const pair = (kind) => FEATURES.map((d) => svg("rect", { class: `${kind} token-${d}`, width: kind === "bar" ? 14 : 20 }));
  const [bars, ghosts] = [pair("bar"), pair("ghost")];
  element.append(svg("line", { class: "axis", x1: 4, x2: wide - 4, y1: high / 2, y2: high / 2 }), ...bars, ...ghosts);
  const place = (rect, d, width, value) => {
    const tall = unit * clamp(value, -3.6, 3.6);
    rect.setAttribute("x", 4 + 28 * (d + 0.5) - width / 2);
    rect.setAttribute("y", (high / 2 - Math.max(0, tall)).toFixed(1));
    rect.setAttribute("height", Math.abs(tall).toFixed(1));
  };
  const draw = (output, earlier) => {
    for (const d of FEATURES) {
      place(bars[d], d, 14, output[d]);
      place(ghosts[d], d, 20, earlier[d]);
    }
  };
  return { element, draw };
}

function outputPanel(change, now) {
  const cells = cellGrid({
    caption: "Press a word to change that one instead.",
    rows: upTo(B).map((b) => `sentence ${b}`),
    columns: upTo(T).map((t) => `word ${t}`),
    name: (b, t) => `sentence ${b}, word ${t}`,
    press: (b, t) => change({ sentence: b, word: t, vector: [...now("batch")[b][t]], scale: 1, shift: 0 }),
  });
  const places = upTo(B).flatMap((b) => upTo(T).map((t) => [b, t]));
  const contents = places.map(([b, t]) => {
    const bars = smallBars();
    return { bars, parts: [bars.element, html("span", {}, "moved ", figure(`moved.${b}.${t}`))] };
  });
  const buttons = [...cells.element.querySelectorAll("button")];
  const draw = ({ sentence, word }, { outputs, earlier, moved }) => {
    cells.draw((b, t) => ({
      text: `moved ${number(moved[b][t])}`,
      on: b === sentence && t === word,
      kind: moved[b][t] > SEEN && !(b === sentence && t === word) ? "moved" : "",
    }));
    places.forEach(([b, t], n) => {
      contents[n].bars.draw(outputs[b][t], earlier[b][t]);
      buttons[n].replaceChildren(...contents[n].parts);
    });
  };
  const note = html(
    "p", { class: "note" },
    "Dashed bars: as it was before the change, without padding. Other words that moved: ", figure("others", 0), " of 3.",
  );
  return { element: panel("2. All words, as they come out", cells.element, note), draw };
}

// --- all of it -----------------------------------------------------------------------------------

function render(context) {
  const now = (trait) => context.model.get(trait);

  function build(change) {
    const drawings = [inputPanel(change, now), outputPanel(change, now)];
    const over = choice({
      label: "mean and variance over",
      options: OVER.map((each) => [each, each]),
      change: (value) => change({ over: value }),
    });
    const scale = slider({
      label: ["times ", symbol("a")],
      values: SCALES,
      show: (value) => String(value).replace("-", "−"),
      change: (value) => change({ scale: value }),
    });
    const shift = slider({
      label: ["plus ", symbol("b")],
      values: upTo(2 * FAR + 1).map((n) => n - FAR),
      show: (value) => number(value, 0),
      change: (value) => change({ shift: value }),
    });
    const padding = slider({
      label: "<pad> after each sentence",
      values: upTo(11),
      change: (value) => change({ padding: value }),
    });
    const bessel = checkbox({ label: "divide by one less (Bessel)", change: (on) => change({ bessel: on }) });
    const outside = checkbox({ label: "ε outside the root", change: (on) => change({ outside: on }) });
    const row = (name, path, digits) => [name, ...FEATURES.map((d) => figure(`${path}.${d}`, digits))];
    const root = html("span", { class: "symbol" }, "√(", html("i", {}, "σ²"), " + ε)");
    const rooted = html("span", {}, root);
    const statisticsTable = table({
      caption: html("span", {}, "Sentence ", figure("sentence", 0), ", word ", figure("word", 0)),
      columns: ["feature", ...FEATURES.map(String)],
      rows: [
        row(symbol("x"), "vector", 0),
        row(html("span", {}, symbol("a"), symbol("x"), " + ", symbol("b")), "input", 4),
        row(html("span", {}, "mean ", symbol("μ")), "means", 4),
        row(html("span", {}, "variance ", symbol("σ²")), "variances", 2),
        row(html("span", {}, "divisor ", rooted), "divisors", 5),
        row(html("span", {}, "output ", symbol("x̂")), "output", 2),
        row("before", "before", 2),
      ],
    });
    const distance = html(
      "p", { class: "note" },
      "All four words together are ", figure("off", 1), " % away from what ", html("code", {}, "nn.LayerNorm"), " makes of them.",
    );
    return {
      controls: [over, scale, shift, padding, bessel, outside].map(({ element }) => element),
      parts: [
        html("div", { class: "panels" }, drawings.map(({ element }) => element)),
        statisticsTable, distance,
      ],
      draw(state, shown) {
        over.move(state.over);
        scale.move(state.scale);
        shift.move(state.shift);
        padding.move(state.padding);
        bessel.move(state.bessel);
        outside.move(state.outside);
        root.replaceChildren(...(state.outside ? ["√", html("i", {}, "σ²"), " + ε"] : ["√(", html("i", {}, "σ²"), " + ε)"]));
        for (const drawing of drawings) drawing.draw(state, shown);
      },
    };
  }

  return explorer(context, {
    name: "NormalisationExplorer",
    label: "Normalisation explorer",
    hint: "Drag the tops of the bars, or go to one with Tab and press the arrow keys; Shift takes larger steps.",
    traits: ["batch", "pad", "sentence", "word", "vector", "scale", "shift", "over", "padding", "bessel", "outside"],
    numbers,
    build,
    say: ({ sentence, word }, { moved, others }) =>
      `Sentence ${sentence}, word ${word} comes out ${number(moved[sentence][word])} away from before. ` +
      `Other words that moved: ${others} of 3.`,
  });
}

export default { render };
