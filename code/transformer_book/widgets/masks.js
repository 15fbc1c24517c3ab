import {
  cellGrid,
  checkbox,
  choice,
  dot,
  explorer,
  figure,
  html,
  number,
  panel,
  slider,
  sum,
  symbol,
  table,
  upTo,
} from "./shared.js";

const PAD = "<pad>";
const RULES = [
  "right",
  "inverted",
  "no causal mask",
  "next token visible",
  "diagonal hidden",
  "rows, not columns",
  "no padding mask",
];
const ONLY_DECODER = ["no causal mask", "next token visible", "diagonal hidden"];
const LONGEST = 8; // tokens of a sentence
// Keys that all queries find equally loud: the exponential of the score, and the value.
const WORDS = [[1, 8], [3, 4], [4, 7]];
const PADDING = [8, 100];
const CHANGE = [2, 20]; // what a change adds to both of them
const LIMIT = 1e-5; // a test finds what is larger

const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const sides = (where) => [where === "encoder" ? "source" : "target", where === "decoder" ? "target" : "source"];

/** The sentence, with more padding if it is shortened, before or after its words. */
function tokensOf(sentence, shortened, front) {
  const all = sentence.filter((token) => token !== PAD);
  const words = all.slice(0, Math.max(0, all.length - shortened));
  const padding = Array(sentence.length - words.length).fill(PAD);
  return front ? [...padding, ...words] : [...words, ...padding];
}

/** Whether query i may attend to key j, by each of the rules. */
function allows(rule, { realQuery, realKey, causal }, i, j) {
  const earlier = !causal || j <= i;
  const right = realKey[j] && earlier;
  if (rule === "inverted") return !right;
  if (rule === "no causal mask") return realKey[j];
  if (rule === "next token visible") return realKey[j] && (!causal || j <= i + 1);
  if (rule === "diagonal hidden") return right && j !== i;
  if (rule === "rows, not columns") return realQuery[i] && earlier;
  if (rule === "no padding mask") return earlier;
  return right;
}

/** Weights and outputs; a query that may attend to nothing gets zeros. */
function attend(exponentials, values, mask, late) {
  const weights = mask.map((row) => {
    const kept = exponentials.map((e, j) => e * row[j]);
    const total = late ? sum(exponentials) : sum(kept);
    return kept.map((e) => (total > 0 ? e / total : 0));
  });
  return { weights, outputs: weights.map((row) => dot(row, values)) };
}

/** What the page shows: the same as MaskExplorer.numbers in Python. */
export function numbers({ where, sentence, shortened, front, rule, late, flipped, changed, ...batch }) {
  const [asking, heard] = sides(where).map((side) => tokensOf(batch[side][sentence], shortened, front));
  const [realQuery, realKey] = [asking, heard].map((tokens) => tokens.map((token) => token !== PAD));
  const given = { realQuery, realKey, causal: where === "decoder" };
  const tableOf = (name) => asking.map((_, i) => heard.map((_, j) => Number(allows(name, given, i, j))));
  const right = tableOf("right");
  const mask = tableOf(rule);
  for (const [i, j] of flipped) mask[i][j] = 1 - mask[i][j];

  let words = 0; // a word keeps its numbers, wherever the padding stands
  const pairs = heard.map((token) => (token === PAD ? PADDING : WORDS[words++ % WORDS.length]));
  const [exponentials, values] = [0, 1].map((n) => pairs.map((pair) => pair[n]));
  const { weights, outputs } = attend(exponentials, values, mask, late);
  const outputsAfter = (touched) => {
    const [e, v] = [0, 1].map((n) => pairs.map((pair, j) => pair[n] + (touched(j) ? CHANGE[n] : 0)));
    return attend(e, v, mask, late).outputs;
  };
  const after = outputsAfter((j) => j >= changed);
  const moves = upTo(heard.length).slice(1).map((t) =>
    largest(outputsAfter((j) => j >= t).slice(0, t).map((output, i) => output - outputs[i])),
  );
  const future = where === "decoder" ? largest(moves) : NaN;
  const louder = outputsAfter((j) => !realKey[j]);
  const padding = largest(louder.map((output, i) => (realQuery[i] ? output - outputs[i] : 0)));
  const totals = weights.map(sum);
  const sums = largest(totals.map((total, i) => (realQuery[i] ? total - 1 : 0)));
  const verdict = (moved) => (Number.isNaN(moved) ? "not asked" : moved > LIMIT ? "FAILS" : "passes");
  const count = (holds) => sum(mask.map((row, i) => sum(row.map((may, j) => Number(holds(may, right[i][j]))))));
  return {
    asking,
    heard,
    mask,
    right,
    allowed: count((may) => may),
    cells: asking.length * heard.length,
    shown_wrongly: count((may, should) => may && !should),
    hidden_wrongly: count((may, should) => !may && should),
    exponentials,
    values,
    weights,
    totals,
    outputs,
    after,
    moved: after.map((output, i) => Math.abs(output - outputs[i])),
    future,
    padding,
    sums,
    verdicts: [future, padding, sums].map(verdict),
  };
}

/** The position and the token at it. */
const token = (side, n) =>
  html("span", { class: "token" }, html("span", { class: "position" }, `${n} `), figure(`${side}.${n}`));

/** Mask, weights and outputs for one of the three places: its queries and keys, as many as they are. */
function board(n_queries, n_keys, now, change) {
  let seen = { asking: [], heard: [] }; // the tokens, for the names of the cells
  const turnOver = (i, j) => {
    const flipped = now("flipped");
    const others = flipped.filter(([q, k]) => q !== i || k !== j);
    change({ flipped: others.length < flipped.length ? others : [...flipped, [i, j]] });
  };
  const cells = cellGrid({
    caption: "Rows are queries, columns are keys. In a cell that is seen stands its weight.",
    rows: upTo(n_queries).map((i) => token("asking", i)),
    columns: upTo(n_keys).map((j) => token("heard", j)),
    name: (i, j) => `query ${i} ${seen.asking[i]}, key ${j} ${seen.heard[j]}`,
    press: turnOver,
  });
  const foot = (title, path, digits) =>
    html("tr", {}, html("th", { scope: "row" }, title), upTo(n_keys).map((j) => html("td", {}, figure(`${path}.${j}`, digits))));
  cells.element.querySelector("table").append(
    html("tfoot", {}, foot("exponential", "exponentials", 0), foot("value", "values", 0)),
  );
  const buttons = [...cells.element.querySelectorAll("button")];
  const heads = [...cells.element.querySelectorAll("thead th")];
  const outputs = table({
    caption: "Outputs",
    columns: ["query", "sum of weights", "output", "after the change", "moved by"],
    rows: upTo(n_queries).map((i) => [
      token("asking", i), figure(`totals.${i}`), figure(`outputs.${i}`), figure(`after.${i}`), figure(`moved.${i}`),
    ]),
  });
  const rows = [...outputs.querySelectorAll("tbody tr")];
  const draw = ({ changed }, shown) => {
    seen = shown;
    const { mask, right, heard, weights, moved } = shown;
    cells.draw((i, j) => {
      const wrong = mask[i][j] !== right[i][j];
      const kind = mask[i][j] ? "seen" : heard[j] === PAD ? "pad" : "hidden";
      const text = `${mask[i][j] ? number(weights[i][j]) : "hidden"}${wrong ? ", wrongly" : ""}`;
      return { text, on: Boolean(mask[i][j]), kind: `${kind}${wrong ? " wrong" : ""}` };
    });
    buttons.forEach((cell, n) => {
      const [i, j] = [Math.floor(n / n_keys), n % n_keys];
      cell.replaceChildren(mask[i][j] ? figure(`weights.${i}.${j}`) : "");
      cell.style.setProperty("--share", `${Math.round(12 + 26 * weights[i][j])}%`);
    });
    heads.forEach((head, j) => head.classList.toggle("changed", j >= changed));
    rows.forEach((row, i) => row.classList.toggle("moved", moved[i] > LIMIT));
  };
  return { cells: cells.element, outputs, draw };
}

function render(context) {
  const now = (trait) => context.model.get(trait);

  function build(change, batch) {
    let n_keys = LONGEST;
    const boards = Object.fromEntries(
      ["encoder", "decoder", "cross"].map((where) => {
        const [queries, heard] = sides(where).map((side) => batch[side][0].length);
        return [where, board(queries, heard, now, change)];
      }),
    );
    const where = choice({
      label: "attention",
      options: [["encoder", "in the encoder"], ["decoder", "in the decoder"], ["cross", "cross-attention"]],
      change: (value) => change({ where: value, rule: "right", flipped: [] }),
    });
    const sentence = choice({
      label: "sentence",
      options: batch.source.map((_, b) => [b, String(b)]),
      change: (value) => change({ sentence: value }),
    });
    const shortened = slider({
      label: "more padding",
      values: upTo(LONGEST + 1),
      change: (value) => change({ shortened: value }),
    });
    const front = checkbox({ label: "padding at the front", change: (on) => change({ front: on }) });
    const rule = choice({
      label: "mask",
      options: RULES.map((each) => [each, each]),
      change: (value) => change({ rule: value, flipped: [] }),
    });
    const late = checkbox({ label: "hide after the softmax", change: (on) => change({ late: on }) });
    const changed = slider({
      label: ["change all keys from position ", symbol("t")],
      values: upTo(LONGEST).map((n) => n + 1),
      show: (value) => (value < n_keys ? String(value) : "none"),
      change: (value) => change({ changed: value }),
    });
    const place = html("div", {});
    const outputs = html("div", {});
    const tests = table({
      caption: "The three tests, on this sentence",
      columns: ["test", "largest", "verdict"],
      rows: [
        ["change the future", figure("future"), figure("verdicts.0")],
        ["change the padding", figure("padding"), figure("verdicts.1")],
        ["sums of rows, off 1 by", figure("sums"), figure("verdicts.2")],
      ],
    });
    const counts = html(
      "p", { class: "note" },
      "Seen: ", figure("allowed", 0), " of ", figure("cells", 0), " cells. Compared with the right mask: seen wrongly ",
      figure("shown_wrongly", 0), ", hidden wrongly ", figure("hidden_wrongly", 0), " (dashed).",
    );
    const legend = html(
      "p", { class: "note" },
      html("span", { class: "cell seen" }), " seen ", html("span", { class: "cell hidden" }), " hidden ",
      html("span", { class: "cell pad" }), " hidden, padding. Keys with a double line are changed: their exponentials grow by 2, their values by 20.",
    );
    return {
      controls: [where, sentence, shortened, front, rule, late, changed].map(({ element }) => element),
      parts: [
        html(
          "div", { class: "panels" },
          panel("1. Mask and weights", place, counts, legend),
          panel("2. What comes out, and what the tests say", outputs, tests),
        ),
      ],
      draw(state, shown) {
        n_keys = shown.heard.length;
        where.move(state.where);
        sentence.move(state.sentence);
        shortened.move(state.shortened);
        front.move(state.front);
        rule.move(state.rule);
        late.move(state.late);
        changed.move(state.changed);
        // Outside the decoder these are the right mask, or mean nothing.
        rule.element.querySelectorAll("option").forEach((option, n) => {
          option.disabled = state.where !== "decoder" && ONLY_DECODER.includes(RULES[n]);
        });
        const active = boards[state.where];
        if (place.firstChild !== active.cells) {
          place.replaceChildren(active.cells);
          outputs.replaceChildren(active.outputs);
        }
        active.draw(state, shown);
        tests.querySelectorAll("tbody tr").forEach((row, n) => {
          row.classList.toggle("fails", shown.verdicts[n] === "FAILS");
        });
      },
    };
  }

  return explorer(context, {
    name: "MaskExplorer",
    label: "Mask explorer",
    hint: "Click a cell to turn it over: seen or hidden. Or go to the table with Tab, move with the arrow keys and press Enter.",
    traits: ["source", "target", "where", "sentence", "shortened", "front", "rule", "late", "flipped", "changed"],
    numbers,
    build,
    say: (_, { allowed, cells, verdicts }) =>
      `${allowed} of ${cells} cells are seen. Change the future: ${verdicts[0]}. ` +
      `Change the padding: ${verdicts[1]}. Sums of rows: ${verdicts[2]}.`,
  });
}

export default { render };
