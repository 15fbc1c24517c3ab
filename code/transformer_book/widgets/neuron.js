import {
  button,
  checkbox,
  choice,
  dot,
  explorer,
  figure,
  html,
  matmul,
  number,
  panel,
  slider,
  softmax,
  sum,
  svg,
  symbol,
  table,
  uniqueId,
  upTo,
} from "./shared.js";

const ORDERS = [
  ["feature", "as they stand"],
  ["contribution", "by contribution"],
  ["advantage", "by distance from the mean key"],
];
const TIE = 1e9; // what two features contribute is compared to nine digits, as in Python

/** The weights of scores, 0 where a key is not seen. */
function weightsOf(scores, seen) {
  const found = softmax(scores.filter((_, j) => seen[j]));
  return scores.map((_, j) => (seen[j] ? found[sum(seen.slice(0, j).map(Number))] : 0));
}

/** The orthogonal matrix of the cosine transform, (K, K), as in Python. */
const cosineBasis = (width) =>
  upTo(width).map((g) =>
    upTo(width).map((f) => Math.sqrt((f ? 2 : 1) / width) * Math.cos((Math.PI * (g + 0.5) * f) / width)),
  );

/** The query, (K,), the products q ⊙ k_j of all keys, (S, K), and which keys are seen. */
function productsOf({ q, k, mask, layer, head, query, turned }) {
  const basis = turned ? cosineBasis(q[0][0][0].length) : null;
  const inBasis = (rows) => (turned ? matmul(rows, basis) : rows);
  const [asking] = inBasis([q[layer][head][query]]);
  const keys = inBasis(k[layer][head]);
  return {
    asking,
    keys,
    seen: mask.length ? mask[query] : keys.map(() => true),
    products: keys.map((each) => each.map((x, f) => x * asking[f])),
  };
}

/** What the page shows: the same as NeuronView.numbers in Python. */
export function numbers(state) {
  const { scale, layer, head, query, key, order, kept, query_tokens, key_tokens } = state;
  const { asking, keys, seen, products } = productsOf(state);
  const visible = products.filter((_, j) => seen[j]);
  const advantages = products[key].map((p, f) => p - sum(visible.map((each) => each[f])) / visible.length);
  const size = {
    feature: () => 0,
    contribution: (f) => Math.abs(products[key][f]),
    advantage: (f) => Math.abs(advantages[f]),
  }[order];
  const rank = asking.map((_, f) => Math.round(-size(f) * TIE));
  const features = upTo(asking.length).sort((a, b) => rank[a] - rank[b] || a - b);
  const shown = features.slice(0, kept);
  const dots = keys.map((each) => dot(each, asking));
  const kept_dots = products.map((each) => sum(shown.map((f) => each[f])));
  const weights = weightsOf(dots.map((d) => d * scale), seen);
  const kept_weights = weightsOf(kept_dots.map((d) => d * scale), seen);
  const strongest = (all) => key_tokens[all.findIndex((w) => w >= Math.max(...all) - 1 / TIE)];
  let total = 0;
  return {
    place: `layer ${layer + 1}, head ${head + 1}`,
    asking: query_tokens[query],
    asked: key_tokens[key],
    dots,
    scores: dots.map((d, j) => (seen[j] ? d * scale : NaN)),
    weights,
    kept_dots,
    kept_weights,
    features: features.map((f) => f + 1),
    q_values: features.map((f) => asking[f]),
    k_values: features.map((f) => keys[key][f]),
    products: features.map((f) => products[key][f]),
    advantages: features.map((f) => advantages[f]),
    running: features.map((f) => (total += products[key][f])),
    part: kept_dots[key],
    others: dots[key] - kept_dots[key],
    strongest: strongest(weights),
    kept_strongest: strongest(kept_weights),
  };
}

// --- bars ----------------------------------------------------------------------------------------

/** One bar for each feature: upwards if positive, downwards if negative. */
function strip() {
  const element = svg("svg", { class: "strip", role: "img", preserveAspectRatio: "none" });
  const draw = (values, kept, largest, label) => {
    const n = values.length;
    element.setAttribute("viewBox", `0 -1.04 ${n} 2.08`);
    element.setAttribute("aria-label", label);
    const bars = values.map((value, at) => {
      const height = Math.abs(value) / (largest || 1);
      return svg("rect", {
        class: `bar ${value < 0 ? "down" : "up"} ${at < kept ? "" : "rest"}`,
        x: (at + 0.1).toFixed(2),
        y: (value < 0 ? 0 : -height).toFixed(3),
        width: 0.8,
        height: height.toFixed(3),
      });
    });
    element.replaceChildren(svg("line", { class: "zero", x1: 0, x2: n, y1: 0, y2: 0 }), ...bars);
  };
  return { element, draw };
}

/** Buttons with one Tab stop, from which arrows go on. */
function stops(buttons, at) {
  const stopAt = (stop) => buttons.forEach((each) => (each.tabIndex = each === stop ? 0 : -1));
  buttons.forEach((each, i) => {
    each.addEventListener("focus", () => stopAt(each));
    each.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault(); // the page must not scroll
      event.stopPropagation();
      buttons[i + way]?.focus();
    });
  });
  stopAt(buttons[at]);
}

/** A token to press. */
function token(side, name, i, act) {
  const element = button("", act);
  element.className = "token";
  element.title = name;
  element.setAttribute("aria-label", `${side} ${i + 1}: ${name}`);
  element.append(html("span", {}, name));
  return element;
}

const extremes = (values, features) => {
  const [high, low] = [Math.max(...values), Math.min(...values)];
  const place = (x) => `${number(x)} at feature ${features[values.indexOf(x)]}`;
  return `largest ${place(high)}, smallest ${place(low)}`;
};

function barsPanel(start, change) {
  const { key_tokens } = start;
  const [asking, asked] = [strip(), strip()];
  const keys = key_tokens.map((name, j) => token("key", name, j, () => change({ key: j })));
  stops(keys, start.key);
  const strips = key_tokens.map(() => strip());
  const title = uniqueId();
  const rows = key_tokens.flatMap((_, j) => [
    keys[j],
    strips[j].element,
    html("span", { class: "weight" }, figure(`weights.${j}`)),
  ]);
  const element = panel(
    "From features to weights",
    html(
      "div",
      { class: "strips" },
      html("span", { class: "name" }, symbol("q"), " of ", figure("asking")),
      asking.element,
      html("span"),
      html("span", { class: "name" }, symbol("k"), " of ", figure("asked")),
      asked.element,
      html("span"),
    ),
    html("p", { class: "note", id: title }, symbol("q"), " ⊙ ", symbol("k", "j"), " for every key, and its weight:"),
    html("div", { class: "strips", role: "group", "aria-labelledby": title }, rows),
    html(
      "p",
      { class: "note" },
      "Up: a positive product, it raises the score. Down: a negative one, it lowers it. The ",
      figure("kept", 0), " shown features stand left of the others, in full colour; the others are hollow.",
      start.mask.length ? " Struck through: a key that the mask hides." : "",
    ),
  );
  const draw = (state, shown) => {
    const { products, seen } = productsOf(state);
    const order = shown.features.map((f) => f - 1);
    const largest = Math.max(...products.flat().map(Math.abs));
    const own = (values) => Math.max(...values.map(Math.abs));
    asking.draw(shown.q_values, state.kept, own(shown.q_values), `q of ${shown.asking}: ${extremes(shown.q_values, shown.features)}`);
    asked.draw(shown.k_values, state.kept, own(shown.k_values), `k of ${shown.asked}: ${extremes(shown.k_values, shown.features)}`);
    key_tokens.forEach((name, j) => {
      const values = order.map((f) => products[j][f]);
      strips[j].draw(values, state.kept, largest, `products with ${name}: ${extremes(values, shown.features)}`);
      keys[j].setAttribute("aria-pressed", j === state.key);
      keys[j].classList.toggle("unseen", !seen[j]);
      keys[j].setAttribute("aria-label", `key ${j + 1}: ${name}${seen[j] ? "" : ", hidden"}`);
      element.querySelectorAll(".weight")[j].style.setProperty("--weight", Math.min(1, shown.weights[j]).toFixed(3));
    });
  };
  return { element, draw };
}

// --- the tables ----------------------------------------------------------------------------------

function featuresPanel() {
  const place = html("div");
  let built;
  const draw = ({ kept }, { features }) => {
    if (kept === built) return;
    built = kept;
    const more = features.length - kept;
    place.replaceChildren(
      table({
        caption: html("span", {}, "The shown features of the key ", figure("asked")),
        columns: ["feature", html("span", {}, symbol("q", "f")), html("span", {}, symbol("k", "jf")), "product", "less its mean over keys", "sum so far"],
        rows: [
          ...upTo(kept).map((r) => [
            figure(`features.${r}`, 0), figure(`q_values.${r}`), figure(`k_values.${r}`),
            figure(`products.${r}`), figure(`advantages.${r}`), figure(`running.${r}`),
          ]),
          ...(more ? [[html("span", { class: "rest-row" }, `other ${more}`), "", "", figure("others"), "", figure(`running.${features.length - 1}`)]] : []),
        ],
      }),
    );
  };
  return { element: place, draw };
}

const keysTable = (key_tokens) =>
  table({
    caption: html("span", {}, "The query ", figure("asking"), " and every key, ", figure("place")),
    columns: [
      "key",
      html("span", {}, symbol("q"), " · ", symbol("k", "j")),
      "score",
      "weight",
      "sum, shown only",
      "weight, shown only",
    ],
    rows: key_tokens.map((name, j) => [
      name, figure(`dots.${j}`), figure(`scores.${j}`), figure(`weights.${j}`),
      figure(`kept_dots.${j}`), figure(`kept_weights.${j}`),
    ]),
  });

// --- all of it -----------------------------------------------------------------------------------

function render(context) {
  function build(change, start) {
    const [n_layers, n_heads, width] = [start.q.length, start.q[0].length, start.q[0][0][0].length];
    const counted = (what, n) => upTo(n).map((i) => [i, `${what} ${i + 1}`]);
    const layer = choice({ label: "layer", options: counted("layer", n_layers), change: (i) => change({ layer: i }) });
    const head = choice({ label: "head", options: counted("head", n_heads), change: (i) => change({ head: i }) });
    const order = choice({ label: "order of features", options: ORDERS, change: (each) => change({ order: each }) });
    const kept = slider({
      label: "features shown",
      values: upTo(width).map((f) => f + 1),
      show: (n) => `${n} of ${width}`,
      change: (n) => change({ kept: n }),
    });
    const turned = checkbox({ label: "turn the features", change: (on) => change({ turned: on }) });
    const queries = start.query_tokens.map((name, i) => token("query", name, i, () => change({ query: i })));
    stops(queries, start.query);
    const title = uniqueId();
    const asking = html(
      "div",
      { class: "sentence", role: "group", "aria-labelledby": title },
      html("span", { id: title }, "query:"),
      queries,
    );
    const bars = barsPanel(start, change);
    const features = featuresPanel();
    const summary = html(
      "p",
      { class: "note" },
      "The largest weight goes to ", figure("strongest"), ". If only the shown features counted, it would go to ",
      figure("kept_strongest"), ".",
    );
    return {
      controls: [
        ...(n_layers > 1 ? [layer.element] : []),
        ...(n_heads > 1 ? [head.element] : []),
        order.element,
        ...(width > 1 ? [kept.element, turned.element] : []),
      ],
      parts: [
        asking,
        html(
          "div",
          { class: "panels" },
          bars.element,
          html("div", {}, keysTable(start.key_tokens), summary, features.element),
        ),
      ],
      draw(state, shown) {
        layer.move(state.layer);
        head.move(state.head);
        order.move(state.order);
        kept.move(state.kept);
        turned.move(state.turned);
        queries.forEach((each, i) => each.setAttribute("aria-pressed", i === state.query));
        bars.draw(state, shown);
        features.draw(state, shown);
      },
    };
  }

  return explorer(context, {
    name: "NeuronView",
    label: "Neuron view",
    hint: "Press the query that asks, and a key. By keyboard: Tab, arrow keys, Enter.",
    traits: [
      "q", "k", "query_tokens", "key_tokens", "mask", "scale", "layer", "head", "query", "key", "order", "kept", "turned",
    ],
    numbers,
    build,
    say: ({ key }, { place, asking, asked, dots, scores, weights, part }) =>
      `${place}, query ${asking}, key ${asked}: dot product ${number(dots[key])}, of which ${number(part)} ` +
      `from the shown features; score ${number(scores[key])}, weight ${number(weights[key])}.`,
  });
}

export default { render };
