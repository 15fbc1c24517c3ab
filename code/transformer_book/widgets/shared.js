// What all explorers share: numbers, drawing, handles, controls, and the frame around them.
// It stands in front of each explorer's own file, in one module (explorer.py joins them).

// --- numbers -------------------------------------------------------------------------------------

/** 0, 1, …, n − 1. */
export const upTo = (n) => Array.from({ length: n }, (_, i) => i);

export const sum = (values) => values.reduce((total, value) => total + value, 0);

export const dot = (a, b) => sum(a.map((value, i) => value * b[i]));

/** The product of matrices given as lists of rows, (n, m) and (m, p). */
export const matmul = (A, B) => A.map((row) => B[0].map((_, j) => dot(row, B.map((b) => b[j]))));

export const transpose = (A) => A[0].map((_, j) => A.map((row) => row[j]));

/** exp(s_j) / Σ exp(s_m). The largest score is taken off first, so that no exponential overflows. */
export function softmax(scores) {
  const largest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - largest));
  const total = sum(exponentials);
  return exponentials.map((each) => each / total);
}

export const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/** The multiple of `step` next to x, without the noise of floating point. */
export const snap = (x, step) => Number((Math.round(x / step) * step).toFixed(6));

/** A number as the book prints it: "−0.67"; what is not a number is "—". */
export function number(x, digits = 2) {
  if (!Number.isFinite(x)) return "—";
  const text = x.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** A vector as the book prints it: "(4.0, −1.0)". */
export const vector = (values, digits = 1) => `(${values.map((x) => number(x, digits)).join(", ")})`;

// --- elements ------------------------------------------------------------------------------------

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat());
  return element;
}

/** An HTML element. Children are elements or strings, and strings are only ever text. */
export const html = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

/** An SVG element, in the same way. */
export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

let used = 0;
/** An id that no other element of the page has, however many explorers stand on it. */
export const uniqueId = () => `explorer-${(used += 1)}-${Math.random().toString(36).slice(2, 8)}`;

/** A letter with an index, for running text: k_A. */
export const symbol = (letter, index = "") =>
  html("span", { class: "symbol" }, html("i", {}, letter), html("sub", {}, index));

/** The same for a drawing: the content of a <text>. */
export const symbolTspans = (letter, index = "") => [
  svg("tspan", { class: "letter" }, letter),
  svg("tspan", { class: "index", dy: "0.3em" }, index),
];

/** Where a number of the page stands; the frame fills it in. `path` leads to it: "weights.0". */
export const figure = (path, digits = 2) =>
  html("span", { class: "figure", "data-number": path, "data-digits": digits });

/** A vector of two such numbers: "(4.0, −1.0)". */
export const figures = (path, digits = 1) =>
  html("span", { class: "figure" }, "(", figure(`${path}.0`, digits), ", ", figure(`${path}.1`, digits), ")");

/** What a path like "weights.0" leads to. */
export const follow = (data, path) => path.split(".").reduce((part, name) => part?.[name], data);

// --- a plane to draw in --------------------------------------------------------------------------

/**
 * A drawing in coordinates: x from left to right, y upwards, equal units on both axes.
 *
 * Returns {element, unit, at([x, y]) -> [px, py], from(event) -> [x, y], x, y}. `label` names it
 * for screen readers. With `image` it is a picture and holds nothing to focus.
 */
export function plane({ label, x, y, width = 336, image = false }) {
  const unit = width / (x[1] - x[0]);
  const height = unit * (y[1] - y[0]);
  const element = svg("svg", {
    viewBox: `0 0 ${width} ${height.toFixed(2)}`,
    role: image ? "img" : "group",
    "aria-label": label,
  });
  const from = (event) => {
    const place = new DOMPoint(event.clientX, event.clientY);
    const { x: px, y: py } = place.matrixTransform(element.getScreenCTM().inverse());
    return [x[0] + px / unit, y[1] - py / unit];
  };
  return { element, unit, x, y, from, at: (p) => [(p[0] - x[0]) * unit, (y[1] - p[1]) * unit] };
}

/** The `points` attribute of a polygon or polyline. */
export const points = (drawing, places) =>
  places.map((place) => drawing.at(place).map((p) => p.toFixed(2)).join(",")).join(" ");

/** A line from one place to another; returns it with `move(from, to)`. */
export function line(drawing, attributes = {}) {
  const element = svg("line", attributes);
  element.move = (start, end) => {
    const [[x1, y1], [x2, y2]] = [drawing.at(start), drawing.at(end)];
    for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) {
      element.setAttribute(name, value.toFixed(2));
    }
  };
  return element;
}

/** Lines at every whole number, thicker axes through zero, and numbers along them. */
export function grid(drawing) {
  const layer = svg("g", { class: "grid", "aria-hidden": "true" });
  const { x, y } = drawing;
  const draw = (start, end, at) => {
    const rule = line(drawing, { class: at === 0 ? "axis" : "rule" });
    rule.move(start, end);
    layer.append(rule);
  };
  const mark = (place, dx, dy, text) => {
    const [px, py] = drawing.at(place);
    layer.append(svg("text", { x: px + dx, y: py + dy }, text));
  };
  for (let i = Math.ceil(x[0]); i <= x[1]; i += 1) {
    draw([i, y[0]], [i, y[1]], i);
    if (i !== 0 && i > x[0] && i < x[1]) mark([i, 0], -3, 12, number(i, 0));
  }
  for (let j = Math.ceil(y[0]); j <= y[1]; j += 1) {
    draw([x[0], j], [x[1], j], j);
    if (j !== 0 && j > y[0] && j < y[1]) mark([0, j], -11, 4, number(j, 0));
  }
  return layer;
}

/** Four marks that differ in shape as well as in colour, so that colour is never needed. */
export function mark(kind, size = 6) {
  const s = size;
  if (kind === "square") return svg("rect", { x: -s, y: -s, width: 2 * s, height: 2 * s });
  if (kind === "diamond") return svg("path", { d: `M0 ${-1.4 * s}L${1.4 * s} 0 0 ${1.4 * s} ${-1.4 * s} 0Z` });
  if (kind === "ring") return svg("circle", { r: s, class: "ring" });
  return svg("circle", { r: s });
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * A point that is dragged, or moved with the arrow keys.
 *
 * drawing: from `plane`; name: what screen readers call it; look: its mark and classes
 * ({kind, size, class}); reach: the radius that answers to a finger; change([x, y]) is called with
 * a place on the lattice of `step`, within the drawing. Returns {element, move([x, y])}.
 */
export function handle(drawing, { name, look = {}, reach = 16, step = 0.1, stride = 1, change, within }) {
  const [xs, ys] = within ?? [drawing.x, drawing.y];
  let place = [0, 0];
  const element = svg(
    "g",
    {
      class: `handle ${look.class ?? ""}`,
      role: "slider",
      tabindex: 0,
      "aria-label": name,
      "aria-roledescription": "point",
      "aria-valuemin": xs[0],
      "aria-valuemax": xs[1],
    },
    svg("circle", { class: "reach", r: reach }),
    svg("g", { class: "mark" }, mark(look.kind, look.size)),
  );
  const ask = (x, y) => {
    const wanted = [clamp(snap(x, step), ...xs), clamp(snap(y, step), ...ys)];
    if (wanted[0] !== place[0] || wanted[1] !== place[1]) change(wanted);
  };
  element.addEventListener("keydown", (event) => {
    const way = ARROWS[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault(); // the page must not scroll
    event.stopPropagation(); // nor a notebook go to the next cell
    const far = event.shiftKey ? stride : step;
    ask(place[0] + way[0] * far, place[1] + way[1] * far);
  });
  let grip = null; // from the pointer to the point, while it is held
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = drawing.from(event);
    grip = [place[0] - x, place[1] - y];
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    event.preventDefault();
  });
  element.addEventListener("pointermove", (event) => {
    if (!grip) return;
    const [x, y] = drawing.from(event);
    ask(x + grip[0], y + grip[1]);
  });
  // Who drags with a finger does not scroll: browsers differ in how they heed touch-action in a drawing.
  element.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
    element.addEventListener(end, () => (grip = null));
  }
  const move = (to) => {
    place = to;
    element.setAttribute("transform", `translate(${drawing.at(to).map((p) => p.toFixed(2)).join(" ")})`);
    element.setAttribute("aria-valuenow", number(to[0], 2).replace("−", "-"));
    element.setAttribute("aria-valuetext", vector(to));
  };
  return { element, move };
}

// --- controls ------------------------------------------------------------------------------------

/**
 * A slider over a list of values. Returns {element, move(value)}.
 *
 * label: a string or elements; show(value) -> text.
 */
export function slider({ label, values, show = (value) => String(value), change }) {
  const id = uniqueId();
  const input = html("input", { type: "range", id, min: 0, max: values.length - 1, step: 1 });
  const shown = html("output", { for: id });
  input.addEventListener("input", () => change(values[Number(input.value)]));
  const move = (value) => {
    // A value from Python may stand between two of the list: the slider shows the nearest.
    const distances = values.map((each) => Math.abs(each - value));
    input.value = distances.indexOf(Math.min(...distances));
    shown.textContent = show(value);
    input.setAttribute("aria-valuetext", show(value));
  };
  const both = html("span", { class: "control" }, input, shown);
  return { element: html("div", { class: "control" }, html("label", { for: id }, label), both), move };
}

/** A box to tick. Returns {element, move(on)}. */
export function checkbox({ label, change }) {
  const id = uniqueId();
  const input = html("input", { type: "checkbox", id });
  input.addEventListener("change", () => change(input.checked));
  const element = html("div", { class: "control tick" }, input, html("label", { for: id }, label));
  return { element, move: (on) => (input.checked = on) };
}

/** One of several, chosen from a list. options: [[value, text], …]. Returns {element, move(value)}. */
export function choice({ label, options, change }) {
  const id = uniqueId();
  const entries = options.map(([, text], i) => html("option", { value: i }, text));
  const select = html("select", { id }, entries);
  select.addEventListener("change", () => change(options[Number(select.value)][0]));
  const element = html("div", { class: "control" }, html("label", { for: id }, label), select);
  return { element, move: (value) => (select.value = options.findIndex(([each]) => each === value)) };
}

/** A button that does something. */
export function button(text, act) {
  const element = html("button", { type: "button" }, text);
  element.addEventListener("click", act);
  return element;
}

/** A table. columns and cells are strings or elements; the first cell of a row names the row. */
export function table({ caption, columns, rows }) {
  const cells = (row) =>
    row.map((cell, i) => (i ? html("td", {}, cell) : html("th", { scope: "row" }, cell)));
  return html(
    "div",
    { class: "numbers" },
    html(
      "table",
      {},
      html("caption", {}, caption),
      html("thead", {}, html("tr", {}, columns.map((column) => (column ? html("th", { scope: "col" }, column) : html("td"))))),
      html("tbody", {}, rows.map((row) => html("tr", {}, cells(row)))),
    ),
  );
}

/**
 * A table of buttons with one Tab stop: arrow keys go from cell to cell, Enter or Space presses.
 *
 * rows and columns: their names; name(i, j): what a cell is called; press(i, j). Returns
 * {element, draw(look)}, where look(i, j) -> {text, on, kind} says what a cell shows, whether it is
 * pressed (left out: it is no switch) and the class it has.
 */
export function cellGrid({ caption, rows, columns, name, press }) {
  const cells = rows.map((_, i) =>
    columns.map((_, j) => {
      const cell = button("", () => press(i, j));
      cell.tabIndex = i || j ? -1 : 0;
      cell.addEventListener("focus", () => {
        for (const other of cells.flat()) other.tabIndex = other === cell ? 0 : -1;
      });
      cell.addEventListener("keydown", (event) => {
        const way = ARROWS[event.key];
        if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        cells[i - way[1]]?.[j + way[0]]?.focus();
      });
      return cell;
    }),
  );
  const element = table({
    caption,
    columns: ["", ...columns],
    rows: rows.map((row, i) => [row, ...cells[i]]),
  });
  element.classList.add("cells");
  const draw = (look) =>
    cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const { text = "", on, kind = "" } = look(i, j);
        cell.textContent = text;
        cell.className = `cell ${kind}`;
        cell.setAttribute("aria-label", `${name(i, j)}: ${text}`);
        if (on !== undefined) cell.setAttribute("aria-pressed", on);
      }),
    );
  return { element, draw };
}

/** A titled part of an explorer. */
export const panel = (title, ...parts) => {
  const id = uniqueId();
  return html("section", { class: "panel", "aria-labelledby": id }, html("p", { class: "title", id }, title), parts);
};

// --- the frame -----------------------------------------------------------------------------------

/**
 * Show an explorer in `el`, and keep it, the model and the screen reader in step.
 *
 * name: its class in Python; label: what it is; hint: how to use it; traits: what it reads of the
 * model; numbers(state): what is shown, as plain data; build(change, state): its parts, once, as
 * {parts, controls, draw(state, shown)}, where change({trait: value}) is called for what the reader
 * does; say(state, shown): one sentence for the screen reader after each change.
 *
 * Returns a function that takes everything down, as anywidget wants it.
 */
export function explorer({ model, el }, { name, label, hint, traits, numbers, build, say }) {
  const state = () => Object.fromEntries(traits.map((trait) => [trait, model.get(trait)]));
  const start = model.get("start");
  const moved = Object.keys(start);

  let silent = false; // while several traits change together
  const change = (changes) => {
    silent = true;
    for (const [trait, value] of Object.entries(changes)) model.set(trait, value);
    silent = false;
    model.save_changes();
    redraw();
    announce();
  };

  const status = html("p", { class: "status", role: "status", "aria-live": "polite" });
  let timer;
  const announce = () => {
    clearTimeout(timer);
    // When the reader pauses, not at every step on the way.
    timer = setTimeout(() => (status.textContent = say(state(), numbers(state()))), 400);
  };

  const { parts, controls = [], draw } = build(change, state());
  const reset = button("Reset", () => change(structuredClone(start)));
  reset.className = "reset";
  const root = html(
    "section",
    { class: "explorer", "data-explorer": name, "aria-label": label },
    html("p", { class: "hint" }, hint),
    html("div", { class: "controls" }, controls, reset),
    parts,
    status,
  );

  const redraw = () => {
    if (silent) return;
    const now = state();
    const shown = numbers(now);
    draw(now, shown);
    const all = { ...now, ...shown };
    for (const place of root.querySelectorAll("[data-number]")) {
      const value = follow(all, place.dataset.number);
      place.textContent = typeof value === "string" ? value : number(value, Number(place.dataset.digits));
    }
    // What the reader has moved, for whoever looks at the page from outside: the tests.
    root.dataset.state = JSON.stringify(Object.fromEntries(moved.map((trait) => [trait, now[trait]])));
  };
  for (const trait of traits) model.on(`change:${trait}`, redraw);
  redraw();
  el.append(root);
  // A table that is wider than its box scrolls in it: then the keyboard must reach it, too.
  const watcher = new ResizeObserver(() => {
    for (const box of root.querySelectorAll(".numbers")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  });
  watcher.observe(root);
  return () => {
    clearTimeout(timer);
    watcher.disconnect();
    for (const trait of traits) model.off(`change:${trait}`, redraw);
    root.remove();
  };
}
