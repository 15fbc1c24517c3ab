// What goes in and out of each step of a layer for one token: names, shapes, numbers.

import { button, choice, html, number, sum, table, uniqueId, upTo } from "./shared.js";
import { mapped, swap } from "./talk_look.js";

// --- small parts ---------------------------------------------------------------------------------

const FORWARD = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * Buttons with one Tab stop: arrow keys go from one to the next; the one that is on is the stop.
 * `go(button)` is called with the one that an arrow has reached.
 */
export function oneStop(buttons, { on = "aria-pressed", go = () => {} } = {}) {
  const stop = buttons.findIndex((each) => each.getAttribute(on) === "true");
  buttons.forEach((each, i) => {
    each.tabIndex = i === Math.max(0, stop) ? 0 : -1;
    each.onkeydown = (event) => {
      const edge = { Home: buttons[0], End: buttons.at(-1) }[event.key];
      const next = edge ?? buttons[i + FORWARD[event.key]];
      if (!(edge || FORWARD[event.key]) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault(); // the page must not scroll
      event.stopPropagation(); // nor a notebook go to the next cell
      if (!next) return;
      [each.tabIndex, next.tabIndex] = [-1, 0];
      next.focus();
      go(next);
    };
  });
  return buttons;
}

/** A box that scrolls if it must; then the keyboard reaches it. */
export function scrolling(label, ...children) {
  const box = html("div", { class: "numbers", role: "group", "aria-label": label }, ...children);
  const watch = new ResizeObserver(() => {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
  watch.observe(box);
  return box;
}

/** A choice that shows `value`, with a line of help; `name` marks it, so that it is found again. */
export function field_of(name, { label, options, value, change, help = "" }) {
  const made = choice({ label, options, change });
  made.move(value);
  const select = made.element.querySelector("select");
  select.dataset.at = name;
  if (!help) return made.element;
  const id = uniqueId();
  select.setAttribute("aria-describedby", id);
  return html("div", { class: "helped" }, made.element, html("p", { class: "note", id }, help));
}

/** Something that is folded away until it is asked for, and then stays open: `open` remembers. */
export function folded(name, title, open, content) {
  const summary = html("summary", { "data-at": `fold.${name}` }, title);
  const element = html("details", {}, summary);
  const fill = () => element.childElementCount === 1 && element.append(content());
  element.open = open.has(name);
  if (element.open) fill();
  element.addEventListener("toggle", () => {
    if (element.open) fill();
    open[element.open ? "add" : "delete"](name);
  });
  return element;
}

// --- what each step is ---------------------------------------------------------------------------

const LOOKS = { self_attention: "self-attention", cross_attention: "cross-attention", feed_forward: "feed-forward" };

/** The sublayer to which a module belongs: "decoder.layers.0.cross_residual.norm" → "cross_attention". */
function sublayer_of(module) {
  const [, name = ""] = module.match(/layers\.\d+\.(\w+)/) ?? [];
  if (name.startsWith("feed_forward")) return "feed_forward";
  return name.startsWith("cross") ? "cross_attention" : "self_attention";
}

/** For each stage: its name, what is computed, and the axes of its numbers. */
function meaning({ module, stage }, { norm, activation }) {
  if (module.endsWith("_embedding")) return ["embedding", "√D times the token's row of the table", "D"];
  if (module.endsWith("_positions")) return ["position", "the row of its position; both rows are added", "D"];
  if (/^\w+coder\.norm$/.test(module)) return ["final norm", "the stack ends in a norm: mean 0, variance 1, times γ, plus β", "D"];
  const sublayer = sublayer_of(module);
  const other = sublayer === "cross_attention" ? "memory" : "x";
  if (module.endsWith(".norm")) {
    return ["norm", `${norm === "pre" ? "what goes in" : "the sum"}, brought to mean 0 and variance 1, times γ, plus β`, "D"];
  }
  const bend = { relu: "max(0, x W₁ + b₁)", gelu: "GELU(x W₁ + b₁)", groupsort: "x W₁ + b₁, sorted in pairs" }[activation];
  return {
    stream: ["in", "what goes in; the residual connection carries it past", "D"],
    query: ["query", "x W_Q, cut into heads: what this token asks", "H K"],
    key: ["keys", `${other} W_K, cut into heads: what every token answers to`, "H S K"],
    scores: ["scores", "query · key, times the scale; the mask comes after this", "H S"],
    weights: ["weights", "softmax of the scores that the mask allows", "H S"],
    value: ["values", `${other} W_V, cut into heads: what every token hands over`, "H S K"],
    heads: ["heads", "the average of the values, by the weights, for each head", "H K"],
    hidden: ["hidden", bend, "F"],
    change: ["out", sublayer === "feed_forward" ? "hidden W₂ + b₂: what is added" : "the heads side by side, times W_O: what is added", "D"],
    sum: ["sum", "in + out", "D"],
  }[stage];
}

const COLUMNS = 16; // of a vector that does not belong to a head

/** The numbers of one step as a map: names of rows and columns, and the number in each cell. */
function cells_of({ shape, data }, axes, keys, head) {
  const numbers = (n) => upTo(n).map((i) => String(i + 1));
  if (axes === "H S") {
    const [H, S] = shape;
    return { rows: numbers(H).map((h) => `head ${h}`), columns: keys, value: (r, c) => data[r * S + c] };
  }
  if (axes === "H S K") {
    const [, S, K] = shape;
    return { rows: keys, n_columns: K, value: (r, c) => data[(head * S + r) * K + c] };
  }
  const width = axes === "H K" ? shape[1] : COLUMNS;
  const rows = upTo(Math.ceil(data.length / width)).map((r) => (axes === "H K" ? `head ${r + 1}` : String(r * width + 1)));
  return { rows, n_columns: width, value: (r, c) => data[r * width + c] ?? 0 };
}

/** The numbers of one step as a table; of keys and values those of one head. */
function numbers_of({ shape, data, stage }, axes, keys, head) {
  const cells = (start, n) => Array.from(data.slice(start, start + n), (x) => number(x, 2));
  if (axes === "H S") {
    const [H, S] = shape;
    const columns = ["key", ...upTo(H).map((h) => `head ${h + 1}`)];
    const digits = stage === "weights" ? 3 : 2;
    return { columns, rows: keys.map((key, s) => [key, ...upTo(H).map((h) => number(data[h * S + s], digits))]) };
  }
  if (axes === "H S K") {
    const [, S, K] = shape;
    const columns = ["key", ...upTo(K).map((k) => String(k + 1))];
    return { columns, rows: keys.map((key, s) => [key, ...cells((head * S + s) * K, K)]) };
  }
  const width = axes === "H K" ? shape[1] : COLUMNS / 2;
  const first = (r) => (axes === "H K" ? `head ${r + 1}` : `from ${r * width + 1}`);
  return {
    columns: ["", ...upTo(width).map((k) => (axes === "H K" ? String(k + 1) : `+${k}`))],
    rows: upTo(Math.ceil(data.length / width)).map((r) => {
      const row = cells(r * width, width);
      return [first(r), ...row, ...Array(width - row.length).fill("")];
    }),
  };
}

/** Mean, standard deviation and length of some numbers, in words. */
function summary(data) {
  const values = Array.from(data);
  const mean = sum(values) / values.length;
  const variance = sum(values.map((x) => (x - mean) ** 2)) / values.length;
  const zeros = values.filter((x) => x === 0).length;
  return (
    `${values.length} numbers: mean ${number(mean, 2)}, standard deviation ${number(Math.sqrt(variance), 2)}, ` +
    `length ${number(Math.sqrt(sum(values.map((x) => x * x))), 2)}${zeros ? `; ${zeros} are zero` : ""}.`
  );
}

// --- the panel -----------------------------------------------------------------------------------

/**
 * Asks for the steps of one token when the reader opens them, and whenever another is chosen.
 *
 * ask(question) → the answer to the task “steps”, without text, tokens and changes; names() →
 * {encoder, decoder}: what each stack reads, token by token.
 */
export class StepsOfToken {
  constructor({ ask, names }) {
    Object.assign(this, { ask, names });
    this.chosen = { stack: "decoder", layer: 0, position: 0, at: 0, head: 0 };
    this.open = new Set();
    this.element = html("div", { class: "steps-of-token", tabindex: -1 });
  }

  /** Another model, sentence or translation: what is shown is out of date. */
  renew(config) {
    this.config = config;
    this.found = null;
  }

  async show() {
    const { chosen, config } = this;
    const read = this.names()?.[chosen.stack];
    if (!config || !read) {
      swap(this.element, [html("p", { class: "note" }, "There is no translation yet.")]);
      return;
    }
    chosen.position = Math.min(chosen.position, read.length - 1);
    chosen.layer = Math.min(chosen.layer, config[`n_${chosen.stack}_layers`] - 1);
    const question = { stack: chosen.stack, layer: chosen.layer, position: chosen.position };
    const turn = (this.turn = (this.turn ?? 0) + 1);
    if (JSON.stringify(question) !== this.found?.of) {
      const { state, steps, message } = await this.ask(question);
      if (turn !== this.turn) return;
      if (state !== "done") {
        swap(this.element, [html("p", { class: "note" }, message ?? "Stopped.")]);
        return;
      }
      this.found = { of: JSON.stringify(question), steps };
    }
    this.draw(read);
  }

  draw(read) {
    const { chosen, config } = this;
    const { steps } = this.found;
    chosen.at = Math.min(chosen.at, steps.length - 1);
    const set = (changes) => {
      Object.assign(chosen, changes);
      return this.show();
    };
    const field = (name, label, options) => field_of(name, { label, options, value: chosen[name], change: (value) => set({ [name]: value }) });
    const step = steps[chosen.at];
    const [name, formula, axes] = meaning(step, config);
    const inLayer = step.module.includes(".layers.");
    const where = inLayer ? LOOKS[sublayer_of(step.module)] : chosen.stack;
    const buttons = oneStop(
      steps.map((each, i) => {
        const [short] = meaning(each, config);
        const made = button(short, () => set({ at: i }));
        made.dataset.at = `step.${i}`;
        made.setAttribute("aria-pressed", i === chosen.at);
        made.setAttribute("aria-label", `step ${i + 1}: ${short}`);
        return made;
      }),
    );
    // One row of buttons for each sublayer, one for what stands in front, one for what comes after.
    const groups = [];
    steps.forEach(({ module }, i) => {
      const group = module.includes(".layers.") ? LOOKS[sublayer_of(module)] : module.endsWith(".norm") ? "behind it" : "in front";
      if (groups.at(-1)?.group !== group) groups.push({ group, buttons: [] });
      groups.at(-1).buttons.push(buttons[i]);
    });
    const keys = this.keys(step.module);
    const ofHead = axes === "H S K";
    const go = (by) => {
      const made = button(by < 0 ? "Step back" : "Step on", () => set({ at: Math.max(0, Math.min(steps.length - 1, chosen.at + by)) }));
      made.dataset.at = `go.${by}`;
      return made;
    };
    const title = `${name}, ${where}`;
    const cells = cells_of(step, axes, keys, chosen.head);
    const columns = cells.columns?.map((each) => `“${each}”`);
    const { drawing, readout } = mapped({
      ...cells,
      cell: 16,
      most: step.stage === "weights" ? 1 : undefined,
      label: `${title}: ${summary(step.data)} All numbers stand in the table below.`,
      say: (r, c) => `${cells.rows[r]}, ${columns ? columns[c] : `place ${c + 1}`}: ${number(cells.value(r, c), 3)}`,
    });
    swap(this.element, [
      html("p", { class: "note" }, "One token on its way through a layer. Choose the token and the layer, then go from step to step: each shows what is computed, and the numbers as colours."),
      html(
        "div",
        { class: "controls" },
        field("stack", "stack", [["encoder", "encoder: your text"], ["decoder", "decoder: the translation"]]),
        field("position", "token", read.map((token, i) => [i, `${i + 1}: ${token}`])),
        field("layer", "layer", upTo(config[`n_${chosen.stack}_layers`]).map((i) => [i, String(i + 1)])),
        go(-1),
        go(1),
      ),
      groups.map(({ group, buttons: row }) => html("div", { class: "stages", role: "group", "aria-label": group }, html("span", { class: "note" }, group), row)),
      html("p", { class: "title" }, `${chosen.at + 1}. ${title}`),
      html("p", {}, formula, ". ", html("code", {}, `(${axes.replaceAll(" ", ", ")})`), " = ", html("code", {}, `(${step.shape.join(", ")})`), ". ", summary(step.data)),
      ...(ofHead ? [html("div", { class: "controls" }, field("head", "head", upTo(step.shape[0]).map((h) => [h, String(h + 1)])))] : []),
      scrolling(`map of ${title}`, drawing),
      readout,
      folded("numbers", "All numbers as a table", this.open, () =>
        scrolling(`numbers of ${title}`, table({ caption: `“${read[chosen.position]}”: ${title}${ofHead ? `, head ${chosen.head + 1}` : ""}`, ...numbers_of(step, axes, keys, chosen.head) })),
      ),
    ]);
  }

  /** The names of the tokens that an attention looks at. */
  keys(module) {
    const { encoder, decoder } = this.names();
    return module.startsWith("encoder") || module.includes("cross") ? encoder : decoder;
  }
}
