import {
  cellGrid,
  explorer,
  figure,
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
  table,
  upTo,
} from "./shared.js";

const PERCENT = 100; // weights are whole per cents

/** The rows of a map, which is kept as text: "100 / 50 50". */
const unpacked = (text) => text.split("/").map((row) => row.trim().split(" ").map(Number));

const mean = (weights) => sum(weights) / weights.length / PERCENT;

/** What the page shows: the same as InductionExplorer.numbers in Python. */
export function numbers({ tokens, period, updates, maps, measured, first, again, stop, layer, head, row }) {
  const now = maps[stop].map((heads) => heads.map(unpacked));
  const at = measured.indexOf(updates[stop]);
  const chosen = now[layer][head][row];
  const key = row - period + 1;
  const strongest = chosen.indexOf(Math.max(...chosen));
  const name = (position) => `${tokens[position]} at ${position}`;
  const copying = upTo(tokens.length).slice(period);
  const later = upTo(tokens.length).slice(1);
  return {
    update: updates[stop],
    loss_first: first[at],
    loss_again: again[at],
    induction: now.map((heads) => heads.map((rows) => mean(copying.map((t) => rows[t][t - period + 1])))),
    previous: now.map((heads) => heads.map((rows) => mean(later.map((t) => rows[t][t - 1])))),
    shown: `layer ${layer + 1}, head ${head + 1}`,
    asks: name(row),
    wanted: row >= period ? name(key) : "none",
    weight: row >= period ? chosen[key] / PERCENT : NaN,
    strongest: name(strongest),
    largest: chosen[strongest] / PERCENT,
  };
}

// --- the losses ----------------------------------------------------------------------------------

const [WIDE, HIGH] = [336, 190];
const FRAME = { left: 34, right: 322, low: 34, high: 180 }; // y upwards

function lossPanel(start) {
  const drawing = plane({ label: "", x: [0, WIDE], y: [0, HIGH], image: true });
  const last = Math.max(1, start.measured.at(-1));
  const top = Math.max(1, Math.ceil(Math.max(...start.first, ...start.again)));
  const at = (update, loss) => [
    FRAME.left + (update / last) * (FRAME.right - FRAME.left),
    FRAME.low + (loss / top) * (FRAME.high - FRAME.low),
  ];
  const text = (attributes, place, ...children) => {
    const [x, y] = drawing.at(place);
    return svg("text", { ...attributes, x: x.toFixed(1), y: y.toFixed(1) }, ...children);
  };
  const rules = upTo(top + 1).flatMap((loss) => {
    const rule = line(drawing, { class: loss ? "rule" : "axis" });
    rule.move(at(0, loss), at(last, loss));
    const [, y] = at(0, loss);
    return [rule, text({ class: "end" }, [FRAME.left - 6, y - 3.5], String(loss))];
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    text({ class: "tick" }, [at(share * last, 0)[0], FRAME.low - 15], number(share * last, 0)));
  const curve = (kind, losses) =>
    svg("polyline", {
      class: `curve ${kind}`,
      points: points(drawing, start.measured.map((update, i) => at(update, losses[i]))),
    });
  const down = line(drawing, { class: "dashed" });
  const spots = ["circle", "square"].map((kind) => svg("g", { class: "here" }, mark(kind, 5)));
  drawing.element.append(
    svg("g", { class: "grid" }, rules), ...ticks,
    text({ class: "tick" }, [(FRAME.left + FRAME.right) / 2, 6], "update"),
    curve("first", start.first), curve("again", start.again), down, ...spots,
  );
  const draw = (state, { update, loss_first: first, loss_again: again }) => {
    down.move(at(update, 0), at(update, top));
    [first, again].forEach((loss, n) => {
      spots[n].setAttribute("transform", `translate(${drawing.at(at(update, loss)).join(" ")})`);
    });
    drawing.element.setAttribute(
      "aria-label",
      `Losses against updates; at update ${update}: ${number(first)} for the first time, ${number(again)} again`,
    );
  };
  const note = html(
    "p", { class: "note" },
    "Loss in nats at update ", figure("update", 0), ". Dot, thin line: tokens that come for the first time, ",
    figure("loss_first"), ". Square, thick line: tokens that come again, ", figure("loss_again"), ".",
  );
  return { element: panel("1. The loss", drawing.element, note), draw };
}

// --- the map -------------------------------------------------------------------------------------

const SIDE = 300;

function mapPanel(start) {
  const n = start.tokens.length;
  const cell = SIDE / n;
  const drawing = svg("svg", { viewBox: `-30 -4 ${SIDE + 36} ${SIDE + 36}`, role: "img" });
  const cells = upTo(n).map((t) =>
    upTo(t + 1).map((s) =>
      svg("rect", {
        class: "weight",
        x: (s * cell).toFixed(2), y: (t * cell).toFixed(2), width: cell.toFixed(2), height: cell.toFixed(2),
      })));
  // Where an induction head looks: one place after the last place of the row's token.
  const wanted = upTo(n).slice(start.period).map((t) =>
    svg("rect", {
      class: "wanted",
      x: ((t - start.period + 1) * cell + 1).toFixed(2), y: (t * cell + 1).toFixed(2),
      width: (cell - 2).toFixed(2), height: (cell - 2).toFixed(2),
    }));
  const frame = svg("rect", { class: "row", x: -1, width: SIDE + 2, height: (cell + 2).toFixed(2) });
  const edge = svg("path", {
    class: "edge",
    d: `M${start.period * cell} ${start.period * cell}V${SIDE}M0 ${start.period * cell}H${start.period * cell}`,
  });
  const every = upTo(n).filter((t) => t % 5 === 0);
  const ticks = every.flatMap((t) => [
    svg("text", { class: "end", x: -4, y: ((t + 0.5) * cell + 3.5).toFixed(1) }, String(t)),
    svg("text", { class: "tick", x: ((t + 0.5) * cell).toFixed(1), y: SIDE + 12 }, String(t)),
  ]);
  const title = svg("text", { class: "tick", x: SIDE / 2, y: SIDE + 27 }, "position that is looked at");
  drawing.append(svg("g", {}, cells.flat()), edge, ...wanted, frame, ...ticks, title);
  let drawn; // the map that stands there now
  const draw = ({ maps, stop, layer, head, row }, { shown, asks, strongest, largest }) => {
    const map = maps[stop][layer][head];
    if (map !== drawn) {
      unpacked(map).forEach((weights, t) => weights.forEach((weight, s) => {
        cells[t][s].style.fillOpacity = weight / PERCENT;
      }));
    }
    drawn = map;
    frame.setAttribute("y", (row * cell - 1).toFixed(2));
    drawing.setAttribute(
      "aria-label",
      `Map of ${shown}: rows are queries, columns are keys. The row of ${asks} looks most at ${strongest}, by ${number(largest)}`,
    );
  };
  const note = html(
    "p", { class: "note" },
    "Rows are positions that ask. Full colour is a weight of 1. Small frames: the token after the last place of the row's token. " +
      "Lines: where the sequence begins again.",
  );
  return { element: panel("2. What the head looks at", drawing, note), draw };
}

// --- all of it -----------------------------------------------------------------------------------

function render(context) {
  function build(change, start) {
    const drawings = [lossPanel(start), mapPanel(start)];
    const update = slider({
      label: "update",
      values: start.updates,
      change: (value) => change({ stop: start.updates.indexOf(value) }),
    });
    const row = slider({
      label: "row",
      values: upTo(start.tokens.length),
      change: (value) => change({ row: value }),
    });
    const [layers, heads] = [start.maps[0].length, start.maps[0][0].length];
    const grid = cellGrid({
      caption: "Induction score of each head; press one to see its map",
      rows: upTo(layers).map((i) => `layer ${i + 1}`),
      columns: upTo(heads).map((j) => `head ${j + 1}`),
      name: (i, j) => `layer ${i + 1}, head ${j + 1}, induction score`,
      press: (i, j) => change({ layer: i, head: j }),
    });
    grid.element.querySelectorAll("button").forEach((cell, at) => {
      cell.dataset.number = `induction.${Math.floor(at / heads)}.${at % heads}`;
      cell.dataset.digits = 2;
    });
    const previous = table({
      caption: "Previous-token score of each head",
      columns: ["", ...upTo(heads).map((j) => `head ${j + 1}`)],
      rows: upTo(layers).map((i) => [`layer ${i + 1}`, ...upTo(heads).map((j) => figure(`previous.${i}.${j}`))]),
    });
    const ofRow = table({
      caption: html("span", {}, "Row of token ", figure("asks"), ", in ", figure("shown")),
      columns: ["", "token", "weight"],
      rows: [
        ["after its last place", figure("wanted"), figure("weight")],
        ["looked at most", figure("strongest"), figure("largest")],
      ],
    });
    const [losses, map] = drawings.map(({ element }) => element);
    return {
      controls: [update.element, row.element],
      parts: [html("div", { class: "panels" }, html("div", {}, losses, grid.element, previous), html("div", {}, map, ofRow))],
      draw(state, shown) {
        update.move(state.updates[state.stop]);
        row.move(state.row);
        grid.draw((i, j) => ({
          text: number(shown.induction[i][j]),
          on: i === state.layer && j === state.head,
        }));
        for (const drawing of drawings) drawing.draw(state, shown);
      },
    };
  }

  return explorer(context, {
    name: "InductionExplorer",
    label: "Induction explorer",
    hint: "Move the update, and press a head. The slider “row” chooses a position, and the table says where it looks.",
    traits: [
      "tokens", "period", "updates", "maps", "measured", "first", "again", "stop", "layer", "head", "row",
    ],
    numbers,
    build,
    say: (state, { update, shown, induction, loss_again: again, asks, strongest, largest }) =>
      `Update ${update}, loss ${number(again)} when tokens come again. ${shown}: induction score ` +
      `${number(induction[state.layer][state.head])}. The row of ${asks} looks most at ${strongest}, by ${number(largest)}.`,
  });
}

export default { render };
