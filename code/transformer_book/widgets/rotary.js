import {
  dot,
  explorer,
  figure,
  figures,
  grid,
  handle,
  html,
  line,
  mark,
  number,
  panel,
  plane,
  points,
  slider,
  svg,
  symbol,
  table,
  upTo,
} from "./shared.js";

const WIDTH = 8; // of a head: four pairs
const FURTHEST = 24; // position of a query or a key, before both are shifted
const LIMIT = 2.5; // of a coordinate

/** How far pair i turns at each position. */
const frequency = (i) => 10000 ** ((-2 * i) / WIDTH);

/** A pair turned by an angle, anticlockwise. */
const turned = ([x, y], angle) => [
  x * Math.cos(angle) - y * Math.sin(angle),
  x * Math.sin(angle) + y * Math.cos(angle),
];

/** What the page shows: the same as RotaryExplorer.numbers in Python. */
export function numbers({ query, key, m, n, shift, pair }) {
  const omega = frequency(pair);
  const places = [m + shift, n + shift];
  const angles = places.map((place) => place * omega);
  const [q, k] = [turned(query, angles[0]), turned(key, angles[1])];
  return {
    omega,
    places,
    distance: n - m,
    angles,
    turned_query: q,
    turned_key: k,
    lengths: [Math.hypot(...query), Math.hypot(...key)],
    between: Math.atan2(q[0] * k[1] - q[1] * k[0], dot(q, k)),
    product: dot(q, k),
    unturned: dot(query, key),
    by_distance: dot(query, turned(key, (n - m) * omega)),
  };
}

const letter = (name) => svg("tspan", { class: "letter" }, name);

const write = (element, [x, y]) => {
  element.setAttribute("x", x.toFixed(1));
  element.setAttribute("y", y.toFixed(1));
};

// --- the two drawings ----------------------------------------------------------------------------

const REACH = 3.7; // as far as the longest turned pair

function turnPanel(change) {
  const drawing = plane({
    label: "The pair of the query and of the key, before and after they are turned",
    x: [-REACH, REACH], y: [-REACH, REACH],
  });
  const sides = [["query", "q", "circle", 2], ["key", "k", "square", 3]];
  const parts = sides.map(([name, short, kind, token]) => {
    const before = line(drawing, { class: `shadow token-${token}` });
    const after = line(drawing, { class: `arrow token-${token}` });
    const way = svg("polyline", { class: `path token-${token}` });
    const tip = svg("g", { class: `spot token-${token}` }, mark(kind, 5));
    const text = svg("text", { class: "label" }, letter(short), "′");
    const grip = handle(drawing, {
      name, look: { kind, size: 6, class: `token-${token}` }, step: 0.1, stride: 1, reach: 14,
      within: [[-LIMIT, LIMIT], [-LIMIT, LIMIT]],
      change: (place) => change({ [name]: place }),
    });
    return { name, before, after, way, tip, text, grip };
  });
  drawing.element.append(
    grid(drawing),
    ...parts.flatMap(({ way, before, after, tip, text }) => [way, before, after, tip, text]),
    ...parts.map(({ grip }) => grip.element),
  );
  const draw = (state, shown) => {
    parts.forEach(({ name, before, after, way, tip, text, grip }, side) => {
      const [start, end, angle] = [state[name], shown[`turned_${name}`], shown.angles[side]];
      before.move([0, 0], start);
      after.move([0, 0], end);
      tip.setAttribute("transform", `translate(${drawing.at(end).join(" ")})`);
      // The way there, without its whole turns: a little further out for the key.
      const left = angle % (2 * Math.PI);
      const size = (0.7 + 0.25 * side) / (shown.lengths[side] || 1);
      way.setAttribute("points", points(drawing,
        upTo(61).map((step) => turned(start, (left * step) / 60).map((x) => size * x))));
      const length = shown.lengths[side] || 1;
      write(text, drawing.at(end.map((x) => x * (1 + 0.3 / length))).map((x, axis) => x + 5 * axis));
      grip.move(start);
    });
  };
  const note = html(
    "p", { class: "note" },
    "Dotted, with the handles: ", symbol("q"), " and ", symbol("k"), " as they are. Arrows: turned, ", symbol("q"),
    " (circle) by ", figure("angles.0"), ", ", symbol("k"), " (square) by ", figure("angles.1"), ". Lengths stay.",
  );
  return { element: panel("1. Both are turned by their positions", drawing.element, note), draw };
}

function productPanel() {
  const [x, y] = [[-34, 28], [-20, 18]];
  const drawing = plane({ label: "", x, y, image: true });
  const curve = svg("polyline", { class: "path" });
  const spots = svg("path", { class: "spots" });
  const down = line(drawing, { class: "dashed" });
  const here = svg("g", { class: "here" }, mark("circle", 6));
  const rules = [-1, 0, 1].map((share) => {
    const rule = line(drawing, { class: share ? "rule" : "axis" });
    rule.move([-FURTHEST, 14 * share], [FURTHEST, 14 * share]);
    const [px, py] = drawing.at([-FURTHEST - 1.5, 14 * share]);
    return { share, rule, text: svg("text", { class: "end", x: px, y: py + 3.5 }) };
  });
  const ticks = [-20, -10, 0, 10, 20].map((distance) => {
    const [px, py] = drawing.at([distance, -17]);
    return svg("text", { class: "tick", x: px, y: py }, number(distance, 0));
  });
  const [ax, ay] = drawing.at([0, -19.4]);
  drawing.element.append(
    svg("g", { class: "grid" }, rules.flatMap(({ rule, text }) => [rule, text])), ...ticks,
    svg("text", { class: "tick", x: ax, y: ay }, "distance n − m"), down, curve, spots, here,
  );
  const draw = ({ query, key }, { omega, distance, lengths, product }) => {
    const most = lengths[0] * lengths[1] || 1;
    const at = (value) => (14 * value) / most;
    for (const { share, text } of rules) text.textContent = number(share * most, 1);
    const product_at = (far) => at(dot(query, turned(key, far * omega)));
    curve.setAttribute("points", points(drawing,
      upTo(8 * 2 * FURTHEST + 1).map((step) => step / 8 - FURTHEST).map((far) => [far, product_at(far)])));
    spots.setAttribute("d", upTo(2 * FURTHEST + 1).map((step) => {
      const [px, py] = drawing.at([step - FURTHEST, product_at(step - FURTHEST)]);
      return `M${(px - 1.4).toFixed(1)} ${py.toFixed(1)}a1.4 1.4 0 1 0 2.8 0 1.4 1.4 0 1 0 -2.8 0`;
    }).join(""));
    const spot = [distance, at(product)];
    down.move(spot, [distance, -15.5]);
    here.setAttribute("transform", `translate(${drawing.at(spot).join(" ")})`);
    drawing.element.setAttribute(
      "aria-label",
      `The product of query and key against their distance; at distance ${number(distance, 0)} it is ${number(product)}`,
    );
  };
  const note = html(
    "p", { class: "note" },
    "The dot is the product of the two turned pairs. Move both by as many positions: the arrows turn, and it stays.",
  );
  return { element: panel("2. The product knows the distance", drawing.element, note), draw };
}

// --- all of it -----------------------------------------------------------------------------------

function render(context) {
  function build(change) {
    const drawings = [turnPanel(change), productPanel()];
    const places = upTo(FURTHEST + 1);
    const sliders = {
      m: slider({ label: ["position of the query ", symbol("m")], values: places, change: (value) => change({ m: value }) }),
      n: slider({ label: ["position of the key ", symbol("n")], values: places, change: (value) => change({ n: value }) }),
      shift: slider({ label: "both moved on by", values: places, change: (value) => change({ shift: value }) }),
      pair: slider({
        label: ["pair ", symbol("i")],
        values: upTo(WIDTH / 2),
        show: (i) => `${i}: ω = ${frequency(i).toFixed(3)}`,
        change: (value) => change({ pair: value }),
      }),
    };
    const pairs = table({
      caption: html("span", {}, "Pair ", figure("pair", 0), ": ", symbol("ω"), " = ", figure("omega", 3)),
      columns: ["", "position", "angle", "before", "turned"],
      rows: [
        ["query", figure("places.0", 0), figure("angles.0"), figures("query"), figures("turned_query", 2)],
        ["key", figure("places.1", 0), figure("angles.1"), figures("key"), figures("turned_key", 2)],
      ],
    });
    const products = table({
      caption: html("span", {}, "Distance ", symbol("n"), " − ", symbol("m"), " = ", figure("distance", 0)),
      columns: ["of what", ""],
      rows: [
        ["product of the turned pairs", figure("product")],
        [html("span", {}, "product of ", symbol("q"), " and ", symbol("k"), " turned by the distance"), figure("by_distance")],
        ["product before they are turned", figure("unturned")],
        ["angle from query to key, turned", figure("between")],
      ],
    });
    return {
      controls: Object.values(sliders).map(({ element }) => element),
      parts: [
        html("div", { class: "panels" }, drawings.map(({ element }) => element), html("div", {}, pairs, products)),
      ],
      draw(state, shown) {
        for (const [name, { move }] of Object.entries(sliders)) move(state[name]);
        for (const drawing of drawings) drawing.draw(state, shown);
      },
    };
  }

  return explorer(context, {
    name: "RotaryExplorer",
    label: "Rotary explorer",
    hint: "Move the sliders, or drag the query and the key; arrow keys move what has the focus.",
    traits: ["query", "key", "m", "n", "shift", "pair"],
    numbers,
    build,
    say: (_, { places, distance, product }) =>
      `Query at ${places[0]}, key at ${places[1]}, distance ${number(distance, 0)}: product ${number(product)}.`,
  });
}

export default { render };
