import {
  cellGrid,
  choice,
  explorer,
  figure,
  html,
  number,
  panel,
  slider,
  sum,
  svg,
  table,
  transpose,
  uniqueId,
  upTo,
} from "./shared.js";

const KINDS = [
  ["encoder", "encoder, self"],
  ["decoder", "decoder, self"],
  ["cross", "cross, decoder to encoder"],
];
const THRESHOLDS = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const TIE = 1e-9; // what two sums of the same weights may differ by

const mean = (values) => sum(values) / values.length;

/** The mean of several rows, number by number. */
const meanRow = (rows) => transpose(rows).map(mean);

/** The mean of several maps, (H, T, S). */
const meanMap = (maps) => maps[0].map((_, i) => meanRow(maps.map((map) => map[i])));

/** exp of the entropy of a row of weights: over how many tokens it is spread. */
const breadth = (row) => Math.exp(sum(row.map((w) => (w > 0 ? -w * Math.log(w) : 0))));

/** The names of the queries and of the keys of one kind of attention. */
const sidesOf = ({ kind, source, target }) => ({
  queries: kind === "encoder" ? source : target,
  keys: kind === "decoder" ? target : source,
});

/** The chosen layer, head and token, the map of that head, (T, S), and the average of the heads. */
function chosenOf(state) {
  const layers = state[state.kind];
  // The choice may be out of range for a moment, while several traits change.
  const layer = Math.min(state.layer, layers.length - 1);
  const heads = layers[layer];
  const head = state.head < 0 ? heads.length : Math.min(state.head, heads.length - 1);
  const average = meanMap(heads);
  const { queries, keys } = sidesOf(state);
  const names = state.side === "query" ? queries : keys;
  const token = Math.min(state.token, names.length - 1);
  return { layers, layer, heads, head, average, map: heads[head] ?? average, queries, keys, names, token };
}

/** The rows of a map (T, S) at the chosen query or key, or all of them. */
function rowsOf(map, side, token) {
  if (token < 0) return map;
  return [side === "query" ? map[token] : map.map((row) => row[token])];
}

/** What the page shows: the same as HeadExplorer.numbers in Python. */
export function numbers(state) {
  const { side, threshold } = state;
  const { layers, layer, heads, head, average, map, queries, keys, names, token } = chosenOf(state);
  const rows = rowsOf(map, side, token);
  const [weights, averaged] = [meanRow(rows), meanRow(rowsOf(average, side, token))];
  const possible = rows.flat();
  const drawn = possible.filter((w) => w >= threshold - TIE);
  const place = weights.findIndex((w) => w >= Math.max(...weights) - TIE);
  return {
    chosen: token < 0 ? "all queries, on average" : `${side} ${names[token]}`,
    shown: `layer ${layer + 1}, ${head < heads.length ? `head ${head + 1}` : `average of ${heads.length} heads`}`,
    weights,
    sum: sum(weights),
    average: averaged,
    average_sum: sum(averaged),
    strongest: (side === "query" ? keys : queries)[place],
    largest: weights[place],
    breadths: layers.map((maps) => [...maps, meanMap(maps)].map((each) => mean(each.map(breadth)))),
    lines: drawn.length,
    possible: possible.length,
    carried: sum(drawn) / Math.max(sum(possible), TIE),
  };
}

// --- the drawing ---------------------------------------------------------------------------------

const STEPS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** Two columns of tokens with one Tab stop; arrows go from token to token and across. */
function tokenColumns(sides, press) {
  const columns = ["query", "key"].map((side, column) =>
    sides[column].map((name, i) => {
      const token = html(
        "button",
        { type: "button", class: `token ${side}`, title: name, "aria-label": `${side} ${i + 1}: ${name}` },
        html("span", {}, name),
      );
      token.addEventListener("click", () => press(side, i));
      token.addEventListener("focus", () => stopAt(token));
      token.addEventListener("keydown", (event) => {
        const way = STEPS[event.key];
        if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault(); // the page must not scroll
        event.stopPropagation();
        const to = columns[column + way[0]];
        to?.[way[0] ? Math.min(i, to.length - 1) : i + way[1]]?.focus();
      });
      return token;
    }),
  );
  const stopAt = (stop) => {
    for (const token of columns.flat()) token.tabIndex = token === stop ? 0 : -1;
  };
  stopAt(columns[0][0]);
  return columns;
}

function linesPanel(press) {
  const box = html("div", { class: "links" });
  const drawing = svg("svg", { role: "img", preserveAspectRatio: "none" });
  let columns;
  let built; // the tokens that stand there now
  const build = (queries, keys) => {
    columns = tokenColumns([queries, keys], press);
    const height = Math.max(queries.length, keys.length);
    drawing.setAttribute("viewBox", `0 0 100 ${height}`);
    box.style.setProperty("--rows", height);
    const [left, right] = [uniqueId(), uniqueId()];
    box.replaceChildren(
      html("div", { class: "heading", id: left }, "queries"),
      html("div", { class: "heading", id: right }, "keys"),
      html("div", { role: "group", "aria-labelledby": left }, columns[0]),
      drawing,
      html("div", { role: "group", "aria-labelledby": right }, columns[1]),
    );
  };
  const draw = (state, shown) => {
    const { map, queries, keys, token } = chosenOf(state);
    const now = JSON.stringify([queries, keys]);
    if (now !== built) build(queries, keys);
    built = now;
    const lines = map.flatMap((row, i) =>
      row.map((w, j) => {
        const chosen = token < 0 || token === (state.side === "query" ? i : j);
        if (!chosen || w < state.threshold - TIE) return null;
        return svg("path", {
          d: `M0 ${i + 0.5}C35 ${i + 0.5} 65 ${j + 0.5} 100 ${j + 0.5}`,
          "stroke-width": (0.8 + 5.2 * w).toFixed(2),
          "stroke-opacity": (0.4 + 0.6 * w).toFixed(2),
        });
      }),
    );
    drawing.replaceChildren(...lines.filter(Boolean));
    drawing.setAttribute(
      "aria-label",
      `${shown.lines} lines from queries, left, to keys, right: ${shown.shown}, ${shown.chosen}`,
    );
    columns.forEach((column, at) => {
      const own = at === (state.side === "query" ? 0 : 1);
      column.forEach((each, i) => {
        each.setAttribute("aria-pressed", own && i === token);
        each.style.setProperty("--weight", own ? 0 : Math.min(1, shown.weights[i]).toFixed(3));
      });
    });
  };
  const note = html(
    "p",
    { class: "note" },
    "Lines: ", figure("lines", 0), " of ", figure("possible", 0), ", those of weight ", figure("threshold"),
    " or more; they carry ", figure("carried"), " of the weight.",
  );
  return { element: panel("Who looks at whom", box, note), draw };
}

// --- the tables ----------------------------------------------------------------------------------

/** The weights of the chosen token; its rows are the tokens of the other side. */
function weightsPanel() {
  const place = html("div");
  let built;
  const draw = (state) => {
    const { queries, keys } = chosenOf(state);
    const others = state.side === "query" ? keys : queries;
    const now = JSON.stringify([state.side, others]);
    if (now === built) return;
    built = now;
    place.replaceChildren(
      table({
        caption: html("span", {}, "Weights: ", figure("chosen"), "; ", figure("shown")),
        columns: [state.side === "query" ? "key" : "query", "weight", "average of the layer’s heads"],
        rows: [
          ...others.map((name, i) => [name, figure(`weights.${i}`), figure(`average.${i}`)]),
          ["sum", figure("sum"), figure("average_sum")],
        ],
      }),
    );
  };
  return { element: place, draw };
}

/** All layers and heads as buttons, each with its breadth. */
function headsPanel(press) {
  const place = html("div");
  let grid;
  let built;
  const draw = (state, shown) => {
    const { layer, head } = chosenOf(state);
    const n = shown.breadths[0].length - 1;
    const now = `${shown.breadths.length} ${n}`;
    if (now !== built) {
      built = now;
      grid = cellGrid({
        caption: "Layer and head, each with its breadth in tokens",
        rows: upTo(shown.breadths.length).map((i) => `layer ${i + 1}`),
        columns: [...upTo(n).map((i) => (n > 6 ? `${i + 1}` : `head ${i + 1}`)), "average"],
        name: (i, j) => `layer ${i + 1}, ${j < n ? `head ${j + 1}` : "average"}`,
        press: (i, j) => press(i, j < n ? j : -1),
      });
      // The frame fills them in, as every number.
      grid.element.querySelectorAll("button").forEach((cell, at) => {
        cell.dataset.number = `breadths.${Math.floor(at / (n + 1))}.${at % (n + 1)}`;
        cell.dataset.digits = 1;
      });
      place.replaceChildren(grid.element);
    }
    grid.draw((i, j) => ({ text: number(shown.breadths[i][j], 1), on: i === layer && j === head }));
  };
  return { element: place, draw };
}

// --- all of it -----------------------------------------------------------------------------------

function render(context) {
  const { model } = context;

  function build(change, start) {
    const kinds = KINDS.filter(([kind]) => start[kind].length);
    const kind = choice({
      label: "attention",
      options: kinds,
      change: (chosen) => {
        const heads = model.get(chosen);
        change({
          side: "query",
          token: -1,
          layer: Math.min(model.get("layer"), heads.length - 1),
          head: Math.min(model.get("head"), heads[0].length - 1),
          kind: chosen,
        });
      },
    });
    const threshold = slider({
      label: "lines from weight",
      values: THRESHOLDS,
      show: (value) => number(value),
      change: (value) => change({ threshold: value }),
    });
    // A second press releases the choice: then all queries, and the average of the heads.
    const pressToken = (side, token) => {
      const again = model.get("side") === side && model.get("token") === token;
      change(again ? { token: -1, side: "query" } : { side, token });
    };
    const pressHead = (layer, head) => {
      const again = model.get("layer") === layer && model.get("head") === head;
      change({ layer, head: again ? -1 : head });
    };
    const drawings = [linesPanel(pressToken), headsPanel(pressHead), weightsPanel()];
    const [lines, heads, weights] = drawings.map(({ element }) => element);
    return {
      controls: kinds.length > 1 ? [kind.element, threshold.element] : [threshold.element],
      parts: [html("div", { class: "panels" }, lines, html("div", {}, heads, weights))],
      draw(state, shown) {
        kind.move(state.kind);
        threshold.move(state.threshold);
        for (const drawing of drawings) drawing.draw(state, shown);
      },
    };
  }

  return explorer(context, {
    name: "HeadExplorer",
    label: "Head explorer",
    hint: "Press a head, and a token: a query shows where it looks, a key who looks at it. Pressed again, it is let go. By keyboard: Tab, arrow keys, Enter.",
    traits: [
      "source", "target", "encoder", "decoder", "cross", "kind", "layer", "head", "side", "token", "threshold",
    ],
    numbers,
    build,
    say: ({ side }, { chosen, shown, strongest, largest, lines }) =>
      `${shown}, ${chosen}: the largest weight is ${number(largest)}, ` +
      `${side === "query" ? "to the key" : "from the query"} ${strongest}. ${lines} lines.`,
  });
}

export default { render };
