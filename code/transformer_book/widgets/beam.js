import {
  button,
  choice,
  clamp,
  explorer,
  figure,
  html,
  number,
  slider,
  svg,
  symbol,
  table,
  upTo,
} from "./shared.js";

const BEAMS = 4; // what is recorded, unless a search says more
const PENALTIES = [0, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2];
const END = "<eos>";

// --- the search, as in transformer_book.decoding -------------------------------------------------

/** What a sum of log-probabilities is divided by: ((5 + |y|) / 6)^α. */
const divisorOf = (length, penalty) => ((5 + length) / 6) ** penalty;

/** The nodes from the first word to this one. */
function lineTo(nodes, node) {
  const line = [];
  for (let at = node; at >= 0; [at] = nodes[at]) line.unshift(at);
  return line;
}

const sentence = (nodes, node) => lineTo(nodes, node).map((i) => nodes[i][1]).join(" ");

/** Each step up to the last: its continuations, the finished so far, and whether to stop. */
function search({ nodes, max_length: longest }, beamSize, penalty) {
  const children = new Map();
  nodes.forEach(([parent], i) => children.set(parent, [...(children.get(parent) ?? []), i]));
  const steps = [];
  let beams = [[-1, 0]]; // [a place in nodes, the sum of its log-probabilities]
  let finished = [];
  for (let length = 1; length <= longest; length += 1) {
    const ranked = beams
      .flatMap(([node, total]) => children.get(node).map((child) => [child, total + nodes[child][2]]))
      .sort((a, b) => b[1] - a[1]);
    const best = ranked.slice(0, beamSize);
    const ends = ([node]) => nodes[node][1] === END;
    const ended = best.filter(ends);
    beams = ranked.filter((entry) => !ends(entry)).slice(0, beamSize);
    const divisor = divisorOf(length, penalty);
    finished = [
      ...finished,
      ...ended.map(([node, total]) => ({ node, tokens: length, sum: total, divisor, score: total / divisor })),
    ].sort((a, b) => b.score - a.score);
    const allEnded = ended.length === best.length;
    const hope = allEnded ? NaN : beams[0][1];
    const bound = hope / divisorOf(longest, penalty);
    const bestScore = finished.length ? finished[0].score : NaN;
    let verdict = "the search goes on: nothing has ended yet";
    if (allEnded) verdict = "the search stops: the best have all ended";
    else if (bestScore >= bound) verdict = "the search stops: no open beam can win any more";
    else if (length === longest) verdict = "the search stops: this is the longest target allowed";
    else if (finished.length) verdict = "the search goes on: an open beam could still win";
    const stops = verdict.startsWith("the search stops");
    const fates = new Map([
      ...beams.map(([node]) => [node, stops ? "left open" : "goes on"]),
      ...ended.map(([node]) => [node, "finished"]),
    ]);
    const rows = ranked.slice(0, 2 * beamSize).map(([node, total]) => ({
      node,
      token: nodes[node][1],
      beginning: sentence(nodes, node),
      log_probability: nodes[node][2],
      sum: total,
      probability: Math.exp(total),
      score: total / divisor,
      fate: fates.get(node) ?? "dropped",
    }));
    steps.push({ rows, beams, finished, divisor, hope, bound, best: bestScore, verdict });
    if (stops) break;
  }
  return steps;
}

/** What a search returns: the best that is finished, else the best that is open. */
function resultOf({ nodes }, steps, penalty) {
  const last = steps.at(-1);
  const [node, total] = last.finished.length ? [last.finished[0].node, last.finished[0].sum] : last.beams[0];
  const tokens = lineTo(nodes, node).length;
  return {
    node,
    sentence: sentence(nodes, node),
    tokens,
    sum: total,
    probability: Math.exp(total),
    score: total / divisorOf(tokens, penalty),
    steps: steps.length,
  };
}

/** What the page shows: the same as BeamExplorer.numbers in Python. */
export function numbers({ searches, example, beam_size, length_penalty, step }) {
  const recorded = searches[example];
  const { nodes, max_length } = recorded;
  const steps = search(recorded, beam_size, length_penalty);
  const now = Math.min(step, steps.length);
  const here = steps[now - 1];
  const result = resultOf(recorded, steps, length_penalty);
  const greedy = resultOf(recorded, search(recorded, 1, length_penalty), length_penalty);
  const [winning, greedily] = [result, greedy].map(({ node }) => new Set(lineTo(nodes, node)));
  let compared = "Here greedy search has found the better score.";
  if (result.node === greedy.node) compared = "That is the same.";
  else if (result.score > greedy.score) compared = "Greedy search loses: its sentence has the lower score.";
  return {
    now,
    n_steps: steps.length,
    max_length,
    tree: steps.slice(0, now).map(({ rows }) =>
      rows.map(({ node, token, sum, fate }) => ({
        node, parent: nodes[node][0], token, sum, fate, wins: winning.has(node), greedy: greedily.has(node),
      })),
    ),
    rows: here.rows,
    divisor: here.divisor,
    finished: here.finished.map((one) => ({ ...one, sentence: sentence(nodes, one.node) })),
    hope: here.hope,
    longest_divisor: divisorOf(max_length, length_penalty),
    bound: here.bound,
    best: here.best,
    verdict: here.verdict,
    result,
    greedy,
    compared,
  };
}

// --- the page ------------------------------------------------------------------------------------

const COLUMN = 112;
const ROW = 44;
const BOX = { width: 86, height: 36 };
const SIGNS = { "goes on": "→", finished: "■", dropped: "×", "left open": "…" };

/** Text that the frame fills in, within a drawing. */
const drawnFigure = (path, attributes) => svg("text", { ...attributes, "data-number": path, "data-digits": 2 });

function treeDrawing() {
  const drawing = svg("svg", { role: "img" });
  const element = html("div", { class: "numbers tree" }, drawing);
  const draw = ({ searches, example, beam_size: W }, { tree, now, n_steps, verdict, result }) => {
    const [width, height] = [COLUMN * (n_steps + 0.4), ROW * 2 * W];
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.setAttribute("width", width);
    drawing.setAttribute("height", height);
    const root = { x: 8, y: height / 2 };
    const places = new Map([[-1, root]]);
    const lines = [];
    const boxes = tree.flatMap((rows, t) => {
      // Children stand in the order of their parents: then few lines cross.
      const order = upTo(rows.length).sort(
        (i, j) => places.get(rows[i].parent).y - places.get(rows[j].parent).y || i - j,
      );
      const top = (height - ROW * rows.length) / 2;
      return order.map((i, row) => {
        const { node, parent, token, fate, wins, greedy } = rows[i];
        const [x, y] = [COLUMN * (t + 0.3), top + ROW * (row + 0.5)];
        places.set(node, { x: x + BOX.width, y });
        const from = places.get(parent);
        const kind = `${fate.replace(" ", "-")}${wins ? " wins" : ""}`;
        const bend = (from.x + x) / 2;
        lines.push(svg("path", {
          class: `twig ${kind}`,
          d: `M${from.x} ${from.y}C${bend} ${from.y} ${bend} ${y} ${x} ${y}`,
        }));
        const fitted = token.length > 10 ? { textLength: BOX.width - 12, lengthAdjust: "spacingAndGlyphs" } : {};
        return svg(
          "g",
          { class: `node ${kind}${greedy ? " greedy" : ""}`, transform: `translate(${x} ${y - BOX.height / 2})` },
          svg("rect", { ...BOX, rx: 5 }),
          fate === "finished" ? svg("rect", { x: 3, y: 3, width: BOX.width - 6, height: BOX.height - 6, rx: 3 }) : [],
          drawnFigure(`tree.${t}.${i}.token`, { class: "word", x: BOX.width / 2, y: 15, ...fitted }),
          svg("text", { class: "sign", x: 9, y: 30 }, SIGNS[fate]),
          drawnFigure(`tree.${t}.${i}.sum`, { class: "total", x: BOX.width - 8, y: 30 }),
        );
      });
    });
    drawing.replaceChildren(svg("circle", { class: "root", cx: root.x, cy: root.y, r: 4 }), ...lines, ...boxes);
    const best = tree.at(-1)[0];
    drawing.setAttribute(
      "aria-label",
      `The tree of the search for ${searches[example].name}, up to step ${now} of ${n_steps}; the table below has its ` +
        `numbers. Best at this step: ${best.token}, ${best.fate}. ${verdict}. In the end wins: ${result.sentence}.`,
    );
    // The newest column comes into view, once the box is on the page.
    requestAnimationFrame(() => (element.scrollLeft = COLUMN * (now + 0.4) - element.clientWidth));
  };
  return { element, draw };
}

/** A row of the legend: a small box as in the drawing, and what it means. */
const meaning = (kind, sign, text) =>
  html("span", { class: "meaning" }, html("span", { class: `key ${kind}`, "aria-hidden": "true" }, sign), text);

function build(change, { searches }) {
  let n_steps = 1;
  let now = 1;
  // A reader at the end of one search sees the next to its end as well.
  const anew = (changes) => change(now === n_steps ? { ...changes, step: LAST } : changes);
  const example = choice({
    label: "search",
    options: searches.map(({ name }, i) => [i, name]),
    change: (value) => anew({ example: value }),
  });
  const beamSize = slider({
    label: ["beam size ", symbol("W")],
    values: upTo(Math.min(...searches.map(({ beams = BEAMS }) => beams))).map((i) => i + 1),
    change: (value) => anew({ beam_size: value }),
  });
  const penalty = slider({
    label: ["length penalty ", symbol("α")],
    values: PENALTIES,
    show: (value) => number(value, 2),
    change: (value) => anew({ length_penalty: value }),
  });
  const go = (by) => {
    const step = clamp(now + by, 1, n_steps);
    if (step !== now) change({ step });
  };
  const back = button("Step back", () => go(-1));
  const on = button("Step on", () => go(1));
  const tree = treeDrawing();
  const ranked = html("div", {});
  const ended = html("div", {});
  return {
    controls: [example.element, beamSize.element, penalty.element, html("div", { class: "control" }, back, on)],
    parts: [
      html(
        "p",
        { class: "verdict" },
        symbol("W"), " = ", figure("beam_size", 0), " returns “", figure("result.sentence"), "”, probability ",
        figure("result.probability", 4), ", score ", figure("result.score"), ", after step ", figure("result.steps", 0),
        ". Greedy search, ", symbol("W"), " = 1, returns “", figure("greedy.sentence"), "”, probability ",
        figure("greedy.probability", 4), ", score ", figure("greedy.score"), ". ", figure("compared"),
      ),
      html("p", { class: "title" }, "The tree up to step ", figure("now", 0), " of ", figure("n_steps", 0)),
      tree.element,
      html(
        "p",
        { class: "note legend" },
        meaning("goes-on", "→", "goes on"),
        meaning("dropped", "×", "dropped"),
        meaning("finished", "■", "finished"),
        meaning("left-open", "…", "left open"),
        meaning("wins", "", "filled: on the way to the winner"),
        meaning("greedy", html("u", {}, "a"), "underlined: what greedy search takes"),
      ),
      html(
        "p",
        {},
        "After step ", figure("now", 0), " ", figure("verdict"), ". Best finished score: ", figure("best"),
        ". Best open sum: ", figure("hope"), "; divided by the penalty of the longest target, ",
        figure("max_length", 0), " tokens, which is ", figure("longest_divisor"), ", it cannot exceed ",
        figure("bound"), ".",
      ),
      ranked,
      ended,
    ],
    draw(state, shown) {
      ({ n_steps, now } = shown);
      example.move(state.example);
      beamSize.move(state.beam_size);
      penalty.move(state.length_penalty);
      back.setAttribute("aria-disabled", now === 1);
      on.setAttribute("aria-disabled", now === n_steps);
      tree.draw(state, shown);
      ranked.replaceChildren(
        table({
          caption: html("span", {}, "Step ", figure("now", 0), ", best first (penalty ", figure("divisor"), ")"),
          columns: ["beginning", "fate", "sum", "score", "last log p", "probability"],
          rows: shown.rows.map((_, i) => [
            figure(`rows.${i}.beginning`), figure(`rows.${i}.fate`), figure(`rows.${i}.sum`),
            figure(`rows.${i}.score`), figure(`rows.${i}.log_probability`), figure(`rows.${i}.probability`, 4),
          ]),
        }),
      );
      ended.replaceChildren(
        shown.finished.length
          ? table({
              caption: "Finished so far, best first",
              columns: ["sentence", "tokens", "sum", "penalty", "score"],
              rows: shown.finished.map((_, i) => [
                figure(`finished.${i}.sentence`), figure(`finished.${i}.tokens`, 0), figure(`finished.${i}.sum`),
                figure(`finished.${i}.divisor`), figure(`finished.${i}.score`),
              ]),
            })
          : html("p", { class: "note" }, "Finished so far: none."),
      );
    },
  };
}

const LAST = 40; // beyond the last step of any search: all of it

export default {
  render: (context) =>
    explorer(context, {
      name: "BeamExplorer",
      label: "Beam explorer",
      hint: "Step through a search; choose how many beams it has, and how much its length counts. On each box: the last word, and the sum of the log-probabilities so far.",
      traits: ["searches", "example", "beam_size", "length_penalty", "step"],
      numbers,
      build,
      say: ({ beam_size }, { now, n_steps, rows, verdict, result, compared }) =>
        `Step ${now} of ${n_steps}: ${rows.map(({ beginning, sum, fate }) => `${beginning}, ${number(sum)}, ${fate}`).join("; ")}. ` +
        `After it ${verdict}. In the end, W = ${beam_size} returns: ${result.sentence}, score ${number(result.score)}. ${compared}`,
    }),
};
