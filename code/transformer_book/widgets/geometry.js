import {
  checkbox,
  dot,
  explorer,
  figure,
  figures,
  grid,
  handle,
  html,
  line,
  mark,
  matmul,
  number,
  panel,
  plane,
  points,
  slider,
  softmax,
  svg,
  symbol,
  symbolTspans,
  table,
  vector,
} from "./shared.js";

const SHAPES = ["circle", "square", "diamond"]; // of the tokens A, B, C
const CORNERS = [[0, 0], [1, 0], [0.5, Math.sqrt(3) / 2]]; // where all weight is on one of them
const TEMPERATURES = [
  0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15,
  20, 30, 50, 100,
];

const length = (a) => Math.hypot(...a);

/** What the page shows: the same as GeometryExplorer.numbers in Python. */
export function numbers({ names, query, key, value, temperature, scaled }) {
  const scores = key.map((k) => dot(k, query));
  const divisor = temperature * (scaled ? Math.sqrt(query.length) : 1);
  const divided = scores.map((score) => score / divisor);
  const weights = softmax(divided);
  const own = dot(query, query);
  const louder = names.filter((_, j) => scores[j] > own + 1e-9);
  const cosines = key.map((k, j) => scores[j] / (length(k) * length(query)));
  return {
    own,
    louder: louder.join(", ") || "none",
    lengths: key.map(length),
    angles: cosines.map((c) => (Math.acos(Math.min(1, Math.max(-1, c))) * 180) / Math.PI),
    shadows: scores.map((score) => score / length(query)),
    scores,
    divided,
    weights,
    point: matmul([weights], CORNERS)[0],
    output: matmul([weights], value)[0],
  };
}

/** Places on the line between two corners, for the dotted lines of equal weight. */
const between = (a, b, share) => a.map((x, i) => share * x + (1 - share) * b[i]);

function dottedLines(drawing) {
  const lines = [0.25, 0.5, 0.75].flatMap((share) =>
    [0, 1, 2].map((j) => ({ share, j, element: line(drawing, { class: "dotted" }) })),
  );
  const move = (corners) => {
    for (const { share, j, element } of lines) {
      const [one, other] = corners.filter((_, m) => m !== j);
      element.move(between(corners[j], one, share), between(corners[j], other, share));
    }
  };
  return { elements: lines.map(({ element }) => element), move };
}

/** A label beside a point, on the side that looks away from `centre`. */
function label(drawing, contents) {
  const element = svg("text", { class: "label" }, contents);
  const move = (place, centre, far = 22) => {
    const [x, y] = drawing.at(place);
    const away = [place[0] - centre[0], centre[1] - place[1]];
    const size = length(away) || 1;
    element.setAttribute("x", (x + (far * away[0]) / size).toFixed(1));
    element.setAttribute("y", (y + (far * away[1]) / size + 5).toFixed(1));
  };
  return { element, move };
}

// --- the three drawings --------------------------------------------------------------------------

function arrowsPanel(names, change, now) {
  const drawing = plane({ label: "The query and the keys as arrows from the origin", x: [-2, 5], y: [-2, 3] });
  const onward = line(drawing, { class: "dashed" });
  const shadows = names.map((_, j) => line(drawing, { class: `shadow token-${j}` }));
  const feet = names.map((_, j) => svg("g", { class: `foot token-${j}` }, mark(SHAPES[j], 3.5)));
  const arrows = names.map((_, j) => line(drawing, { class: `arrow token-${j}` }));
  const asking = line(drawing, { class: "arrow query" });
  const keyHandles = names.map((name, j) =>
    handle(drawing, {
      name: `key of ${name}`,
      look: { kind: SHAPES[j], size: 8, class: `token-${j}` },
      change: (place) => change({ key: now().key.map((k, m) => (m === j ? place : k)) }),
    }),
  );
  // Smaller than the keys, so that a key under it can still be seen and taken hold of.
  const queryHandle = handle(drawing, {
    name: "query",
    look: { size: 5, class: "query" },
    reach: 9,
    change: (place) => change({ query: place }),
  });
  const labels = names.map((name) => label(drawing, symbolTspans("k", name)));
  const queryLabel = label(drawing, symbolTspans("q"));
  drawing.element.append(
    grid(drawing), onward, ...shadows, ...feet, ...arrows, asking,
    ...labels.map(({ element }) => element), queryLabel.element,
    ...keyHandles.map(({ element }) => element), queryHandle.element,
  );
  const draw = ({ query, key }, { scores, own }) => {
    const known = own > 0; // a query of length zero has no line
    onward.move(query.map((x) => -9 * x / Math.sqrt(own || 1)), query.map((x) => 9 * x / Math.sqrt(own || 1)));
    asking.move([0, 0], query);
    queryHandle.move(query);
    key.forEach((k, j) => {
      const foot = query.map((x) => (known ? (scores[j] / own) * x : 0));
      shadows[j].move(k, foot);
      feet[j].setAttribute("transform", `translate(${drawing.at(foot).join(" ")})`);
      arrows[j].move([0, 0], k);
      keyHandles[j].move(k);
      labels[j].move(k, [0, 0]);
    });
    queryLabel.move(query, [query[0] - query[1], query[0] + query[1]], 16); // beside its arrow
  };
  const ownLine = html(
    "p",
    { class: "note" },
    "The query with itself: ", symbol("q"), " · ", symbol("q"), " = ", figure("own"), ". Scores above it: ", figure("louder"), ".",
  );
  return { element: panel("1. Scores: arrows compared", drawing.element, ownLine), draw };
}

function simplexPanel(names) {
  const drawing = plane({ label: "", x: [-0.35, 1.35], y: [-0.18, 1.04], image: true });
  const dotted = dottedLines(drawing);
  dotted.move(CORNERS);
  const path = svg("polyline", { class: "path" });
  const dotMark = svg("g", { class: "here" }, mark("circle", 6));
  const texts = names.map((name, j) => {
    const written = label(drawing, `all to ${name}`);
    written.move(CORNERS[j], [CORNERS[j][0], 0.4], j === 2 ? 14 : 17);
    return written.element;
  });
  drawing.element.append(
    svg("polygon", { class: "hull", points: points(drawing, CORNERS) }),
    ...dotted.elements,
    ...CORNERS.map((corner, j) => {
      const [x, y] = drawing.at(corner);
      return svg("g", { class: `corner token-${j}`, transform: `translate(${x} ${y})` }, mark(SHAPES[j], 5));
    }),
    path, ...texts, dotMark,
  );
  const draw = ({ scaled, query }, { scores, weights, point }) => {
    dotMark.setAttribute("transform", `translate(${drawing.at(point).join(" ")})`);
    const root = scaled ? Math.sqrt(query.length) : 1;
    // From very hot to very cold: where a change of the temperature alone takes the point.
    const way = [];
    for (let power = 2.5; power >= -2.5; power -= 0.05) {
      way.push(matmul([softmax(scores.map((s) => s / (root * 10 ** power)))], CORNERS)[0]);
    }
    path.setAttribute("points", points(drawing, way));
    const shares = names.map((name, j) => `${number(weights[j])} to ${name}`).join(", ");
    drawing.element.setAttribute("aria-label", `The weights as a point in the triangle: ${shares}`);
  };
  const note = html("p", { class: "note" }, "The curve: where the temperature alone takes the point.");
  return { element: panel("2. Weights: a point in the triangle", drawing.element, note), draw };
}

function valuesPanel(names, change, now) {
  const drawing = plane({ label: "The values and their average, the output", x: [-1.5, 5.5], y: [-1.5, 3.5] });
  const hull = svg("polygon", { class: "hull" });
  const dotted = dottedLines(drawing);
  const handles = names.map((name, j) =>
    handle(drawing, {
      name: `value of ${name}`,
      look: { kind: SHAPES[j], size: 8, class: `token-${j}` },
      change: (place) => change({ value: now().value.map((v, m) => (m === j ? place : v)) }),
    }),
  );
  const labels = names.map((name) => label(drawing, symbolTspans("v", name)));
  const output = svg("g", { class: "here" }, mark("circle", 6));
  drawing.element.append(
    grid(drawing), hull, ...dotted.elements, ...labels.map(({ element }) => element), output,
    ...handles.map(({ element }) => element),
  );
  const draw = ({ value }, shown) => {
    hull.setAttribute("points", points(drawing, value));
    dotted.move(value);
    value.forEach((v, j) => {
      handles[j].move(v);
      labels[j].move(v, matmul([[1 / 3, 1 / 3, 1 / 3]], value)[0]);
    });
    output.setAttribute("transform", `translate(${drawing.at(shown.output).join(" ")})`);
  };
  const note = html("p", { class: "note" }, "The output, always between the values: ", figures("output", 2));
  return { element: panel("3. Output: the average of the values", drawing.element, note), draw };
}

// --- all of it -----------------------------------------------------------------------------------

function render(context) {
  const now = () => ({ key: context.model.get("key"), value: context.model.get("value") });

  function build(change, { names }) {
    const drawings = [arrowsPanel(names, change, now), simplexPanel(names), valuesPanel(names, change, now)];
    const temperature = slider({
      label: ["temperature ", symbol("τ")],
      values: TEMPERATURES,
      show: (value) => String(value),
      change: (value) => change({ temperature: value }),
    });
    const root = html("span", {}, "divide scores by √", symbol("d", "k"), " (chapter 7)");
    const scaled = checkbox({ label: root, change: (on) => change({ scaled: on }) });
    const scoreTable = table({
      caption: "Scores",
      columns: ["token", "key", "length", "angle to q", "shadow", "score"],
      rows: names.map((name, j) => [
        name, figures(`key.${j}`), figure(`lengths.${j}`), html("span", {}, figure(`angles.${j}`, 0), "°"),
        figure(`shadows.${j}`), figure(`scores.${j}`),
      ]),
    });
    const weightTable = table({
      caption: "Weights and output",
      columns: ["token", "score, divided", "weight", "value"],
      rows: [
        ...names.map((name, j) => [name, figure(`divided.${j}`), figure(`weights.${j}`), figures(`value.${j}`)]),
        ["output", "", "", figures("output", 2)],
      ],
    });
    return {
      controls: [temperature.element, scaled.element],
      parts: [
        html("div", { class: "panels" }, drawings.map(({ element }) => element), html("div", {}, scoreTable, weightTable)),
      ],
      draw(state, shown) {
        temperature.move(state.temperature);
        scaled.move(state.scaled);
        for (const drawing of drawings) drawing.draw(state, shown);
      },
    };
  }

  return explorer(context, {
    name: "GeometryExplorer",
    label: "Geometry explorer",
    hint: "Drag the points. Or go to one with Tab and press the arrow keys; Shift takes larger steps.",
    traits: ["names", "query", "key", "value", "temperature", "scaled"],
    numbers,
    build,
    say: ({ names }, { scores, weights, output }) =>
      `Scores ${names.map((name, j) => `${name} ${number(scores[j])}`).join(", ")}. ` +
      `Weights ${weights.map((weight) => number(weight)).join(", ")}. Output ${vector(output, 2)}.`,
  });
}

export default { render };
