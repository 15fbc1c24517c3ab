import {
  cellGrid,
  choice,
  explorer,
  figure,
  html,
  panel,
  sum,
  table,
  upTo,
} from "./shared.js";

const VERSIONS = [
  ["right", "right"],
  ["never permuted", "forgot to permute"],
  ["split by view", "split by view alone"],
  ["merged by view", "merged by view alone"],
];
const STEPS = ["project", "split", "permute", "attend", "permute back", "merge"];
const LEFT_OUT = "left out";

// --- tensors: sizes, strides and memory, as PyTorch keeps them -----------------------------------

/** The steps in memory from one entry of an axis to the next, if memory follows the axes. */
const inOrder = (sizes) => sizes.map((_, i) => sizes.slice(i + 1).reduce((all, n) => all * n, 1));

/** All places of a tensor in reading order: the last axis first. */
const placesOf = (sizes) =>
  sizes.reduce((places, n) => places.flatMap((place) => upTo(n).map((i) => [...place, i])), [[]]);

const slotOf = ({ strides }, place) => sum(place.map((i, axis) => i * strides[axis]));

const read = (tensor) => placesOf(tensor.sizes).map((place) => tensor.memory[slotOf(tensor, place)]);

/** The same numbers in the same memory, read in another shape. */
const view = ({ memory }, axes, sizes) => ({ axes, sizes, strides: inOrder(sizes), memory });

/** Nothing moves: the axes 1 and 2 are only read in the other order. */
const transposed = ({ axes, sizes, strides, memory }) => {
  const swap = ([a, b, c, ...rest]) => [a, c, b, ...rest];
  return { axes: swap([...axes]).join(""), sizes: swap(sizes), strides: swap(strides), memory };
};

/** Written down anew, in the order in which it is read. */
const written = (tensor) => view({ memory: read(tensor) }, tensor.axes, tensor.sizes);

/** What each step does, and the tensor after it: [text, tensor]. */
function path({ n_positions: T, n_heads: H, d_head: K, version }) {
  const D = H * K;
  const memory = placesOf([T, H, K]).map(([t, h, k]) => 100 * h + 10 * t + k);
  const projected = view({ memory }, "BTD", [1, T, D]);
  const steps = [["x @ W", projected]];
  const last = () => steps.at(-1)[1];
  if (version === "split by view") {
    steps.push(["view(B, H, T, K)", view(projected, "BHTK", [1, H, T, K])], [LEFT_OUT, null]);
    steps[2][1] = steps[1][1];
  } else {
    steps.push(["unflatten(-1, (H, K))", view(projected, "BTHK", [1, T, H, K])]);
    steps.push(version === "never permuted" ? [LEFT_OUT, last()] : ["transpose(1, 2)", transposed(last())]);
  }
  steps.push(["attention", written(last())]);
  if (version === "merged by view") {
    steps.push([LEFT_OUT, last()]);
    steps.push(["view(B, T, D)", view(last(), "BTD", [1, T, D])]);
    return steps;
  }
  steps.push(version === "never permuted" ? [LEFT_OUT, last()] : ["transpose(1, 2)", transposed(last())]);
  steps.push(["flatten(-2)", view(written(last()), "BTD", [1, T, D])]);
  return steps;
}

const headOf = (address) => Math.floor(address / 100);
const positionOf = (address) => Math.floor(address / 10) % 10;

/** The address that belongs at each place of a tensor, in reading order. */
function belonging({ axes, sizes }, K) {
  return placesOf(sizes).map((place) => {
    const at = Object.fromEntries([...axes].map((axis, i) => [axis, place[i]]));
    const [h, k] = axes.includes("D") ? [Math.floor(at.D / K), at.D % K] : [at.H, at.K];
    return 100 * h + 10 * at.T + k;
  });
}

const tuple = (parts) => `(${[...parts].join(", ")})`;

/** What the page shows: the same as ShapeStepper.numbers in Python. */
export function numbers(state) {
  const { position, head, feature, d_head: K, n_heads: H, n_positions: T } = state;
  const address = 100 * head + 10 * position + feature;
  const steps = path(state);
  const tensors = steps.map(([, tensor]) => tensor);
  const entries = tensors.map(read);
  const places = tensors.map(({ sizes }, s) => placesOf(sizes)[entries[s].indexOf(address)]);
  const [, h, , k] = places[3];
  const partners = placesOf(tensors[3].sizes)
    .map((place, i) => [place, entries[3][i]])
    .filter(([place]) => place[1] === h && place[3] === k)
    .map(([, entry]) => entry);
  const [n_heads, n_positions] = [headOf, positionOf].map((part) => new Set(partners.map(part)).size);
  const [, row, column] = places[5];
  return {
    address,
    does: steps.map(([does]) => does),
    axes: tensors.map(({ axes }) => tuple(axes)),
    sizes: tensors.map(({ sizes }) => tuple(sizes)),
    places: places.map(tuple),
    orders: tensors.map(({ axes, strides }) =>
      [...axes].map((axis, i) => [axis, strides[i]]).sort((a, b) => b[1] - a[1]).map(([axis]) => axis).join(" "),
    ),
    slots: tensors.map((tensor, s) => slotOf(tensor, places[s])),
    entries,
    partners: partners.join(", "),
    partners_are: n_heads === 1 ? "one head" : n_positions === 1 ? "one position, several heads" : "a mixture",
    strangers: tensors.map((tensor, s) => belonging(tensor, K).filter((address, i) => address !== entries[s][i]).length),
    row,
    taken_for_head: Math.floor(column / K),
    taken_for_feature: column % K,
    all: T * H * K,
    early: entries[5].filter((entry, i) => positionOf(entry) > Math.floor(i / (H * K))).length,
  };
}

// --- the page ------------------------------------------------------------------------------------

const code = (...children) => html("code", {}, children);

/** The numbers of one step as blocks of rows: one block for three axes, several for four. */
function blocks(step, sizes) {
  const element = html("div", { class: "blocks" });
  const [rows, columns] = sizes.slice(-2);
  const cells = [];
  for (let block = 0; block < (sizes.length === 4 ? sizes[1] : 1); block += 1) {
    const box = html("div", { class: "block", style: `--columns: ${columns}` });
    for (let i = 0; i < rows * columns; i += 1) {
      const cell = figure(`entries.${step}.${cells.length}`, 0);
      cells.push(cell);
      box.append(cell);
    }
    element.append(box);
  }
  return { element, cells };
}

function stepPanel(step) {
  const drawing = html("div", {});
  const element = panel(
    `${step + 1}. ${STEPS[step][0].toUpperCase()}${STEPS[step].slice(1)}`,
    html("p", { class: "note" }, code(figure(`does.${step}`)), " → ", figure(`axes.${step}`), " = ", figure(`sizes.${step}`)),
    drawing,
  );
  const draw = ({ d_head: K }, { address, entries, sizes, axes }) => {
    const shape = sizes[step].slice(1, -1).split(", ").map(Number);
    const right = belonging({ axes: axes[step].replace(/\W/g, ""), sizes: shape }, K);
    const { element: drawn, cells } = blocks(step, shape);
    cells.forEach((cell, i) => {
      const entry = entries[step][i];
      cell.classList.add(`token-${headOf(entry)}`);
      if (entry === address) cell.classList.add("followed");
      if (entry !== right[i]) cell.classList.add("stranger");
    });
    drawing.replaceChildren(drawn);
  };
  return { element, draw };
}

function build(change, { n_positions: T, n_heads: H, d_head: K }) {
  const columns = upTo(H * K).map((c) => [Math.floor(c / K), c % K]);
  const grid = cellGrid({
    caption: "Choose the number to follow",
    rows: upTo(T).map((t) => `position ${t}`),
    columns: columns.map(([h, k]) => html("span", {}, `head ${h}`, html("br"), `feat. ${k}`)),
    name: (t, c) => `position ${t}, head ${columns[c][0]}, feature ${columns[c][1]}`,
    press: (t, c) => change({ position: t, head: columns[c][0], feature: columns[c][1] }),
  });
  const version = choice({ label: "version", options: VERSIONS, change: (value) => change({ version: value }) });
  const steps = STEPS.slice(1).map((_, i) => stepPanel(i + 1));
  const start = html(
    "p",
    { class: "note" },
    code(figure("does.0")), " → ", figure("axes.0"), " = ", figure("sizes.0"),
  );
  const followed = table({
    caption: "The number, step by step",
    columns: ["step", "axes", "stands at", "in memory", "slot", "strangers"],
    rows: STEPS.map((step, s) => [
      step, figure(`axes.${s}`), figure(`places.${s}`), figure(`orders.${s}`), figure(`slots.${s}`, 0), figure(`strangers.${s}`, 0),
    ]),
  });
  const verdict = html(
    "p",
    { class: "verdict" },
    figure("address", 0), " is head ", figure("head", 0), ", position ", figure("position", 0), ", feature ", figure("feature", 0),
    ". Attention averages over ", figure("partners"), ": ", figure("partners_are"), ". It ends in row ", figure("row", 0),
    ", and the output projection takes it for head ", figure("taken_for_head", 0), ", feature ", figure("taken_for_feature", 0),
    ". Of all ", figure("all", 0), " numbers, ", figure("strangers.5", 0), " end where they do not belong, ",
    figure("early", 0), " of them in the row of an earlier position.",
  );
  return {
    controls: [version.element],
    parts: [
      html(
        "div",
        { class: "panels" },
        panel("1. Project", start, grid.element),
        ...steps.map(({ element }) => element),
      ),
      verdict,
      followed,
    ],
    draw(state, shown) {
      version.move(state.version);
      grid.draw((t, c) => {
        const [h, k] = columns[c];
        const address = 100 * h + 10 * t + k;
        return { text: String(address), on: address === shown.address, kind: `token-${h}` };
      });
      for (const step of steps) step.draw(state, shown);
      // Whoever comes back to the numbers begins at the first of them.
      const numbered = [...grid.element.querySelectorAll("button")];
      if (!numbered.includes(document.activeElement)) numbered.forEach((cell, i) => (cell.tabIndex = i ? -1 : 0));
    },
  };
}

export default {
  render: (context) =>
    explorer(context, {
      name: "ShapeStepper",
      label: "Shape stepper",
      hint: "Press a number to follow it; arrow keys go from number to number. Framed: strangers, numbers whose address is not their place.",
      traits: ["n_positions", "n_heads", "d_head", "position", "head", "feature", "version"],
      numbers,
      build,
      say: ({ version, head, position, feature }, shown) =>
        `${version}: ${shown.address} goes through ${shown.places.join(", ")}. It ends in row ${shown.row} as head ` +
        `${shown.taken_for_head}, feature ${shown.taken_for_feature}; it was head ${head}, position ${position}, feature ${feature}. ` +
        `Attention averages over ${shown.partners}, ${shown.partners_are}.`,
    }),
};
