import { button, checkbox, choice, explorer, figure, html, number, panel, slider, table, upTo } from "./shared.js";

/** What the page shows: the same as WritingExplorer.numbers in Python. */
export function numbers({ sentences, sentence, on, step }) {
  const { runs } = sentences[sentence];
  const run = runs[on.reduce((n, each) => 2 * n + Number(each), 0)];
  const shown = run.slice(0, step);
  const last = shown[shown.length - 1];
  const texts = (steps) => steps.map(({ next }) => next[0][0]).join(" ");
  return {
    length: run.length,
    shown: shown.length,
    written: texts(shown),
    wanted: texts(runs[0]),
    sure: shown.reduce((product, { next }) => product * next[0][1], 1),
    tokens: last.next.map(([token]) => token),
    chances: last.next.map(([, chance]) => chance),
    looks: last.looks,
  };
}

/** The source, each token with the weight that it gets; the darker, the more. */
function sourcePanel({ looks }) {
  const words = html("ol", { class: "read" });
  const draw = ({ sentences, sentence }, { looks }) =>
    words.replaceChildren(
      ...sentences[sentence].source.map((token, i) => {
        const word = html("li", {}, token, looks.length ? [" ", figure(`looks.${i}`)] : "");
        word.style.setProperty("--weight", `${Math.round(100 * (looks[i] ?? 0))}%`);
        return word;
      }),
    );
  const weighed = looks.length ? [html("p", { class: "note" }, "Under each word, the weight that it got at this step, on average over all heads.")] : [];
  return { element: panel("It reads", words, ...weighed), draw };
}

/** What is written so far; a token that differs from the run without mistakes is marked. */
function targetPanel(withSwitches) {
  const words = html("ol", { class: "written" });
  const draw = (_, { written, wanted, shown, length }) => {
    const right = wanted.split(" ");
    words.replaceChildren(
      ...written.split(" ").map((token, i) => {
        const wrong = withSwitches && token !== right[i];
        const kind = i === shown - 1 ? "last" : "";
        return html("li", { class: `${kind} ${wrong ? "wrong" : ""}` }, token, wrong ? html("span", { class: "sign" }, " ≠") : "");
      }),
    );
    words.classList.toggle("done", shown === length);
  };
  const notes = [
    html("p", { class: "note" }, "Tokens ", figure("shown", 0), " of ", figure("length", 0), "; all of them together have the probability ", figure("sure", 3), "."),
  ];
  if (withSwitches) {
    notes.push(html("p", { class: "note" }, "Without a mistake it writes: ", figure("wanted"), ". What differs has the sign ≠."));
  }
  return { element: panel("It has written", words, ...notes), draw };
}

function render(context) {
  function build(change, { sentences, switches }) {
    const now = () => context.model.get("step");
    const length = () => numbers(Object.fromEntries(["sentences", "sentence", "on", "step"].map((name) => [name, context.model.get(name)]))).length;
    const longest = Math.max(...sentences.flatMap(({ runs }) => runs.map((run) => run.length)));
    const shownNames = sentences.map(({ source }, i) => [i, source.filter((token) => token !== "<eos>").join(" ")]);
    const which = choice({ label: "sentence", options: shownNames, change: (sentence) => change({ sentence, step: 1 }) });
    const ticks = switches.map((name, i) =>
      checkbox({ label: name, change: (value) => change({ on: context.model.get("on").map((each, j) => (j === i ? value : each)) }) }),
    );
    const steps = slider({
      label: "tokens written",
      values: upTo(longest).map((i) => i + 1),
      change: (step) => change({ step }),
    });
    const next = button("Next token", () => change({ step: Math.min(now() + 1, length()) }));
    const source = sourcePanel(sentences[0].runs[0][0]);
    const target = targetPanel(switches.length > 0);
    const n = sentences[0].runs[0][0].next.length;
    const bars = upTo(n).map(() => html("span", { class: "bar", "aria-hidden": "true" }));
    const likely = table({
      caption: "The last token, and what else it could have been",
      columns: ["token", "probability", ""],
      rows: upTo(n).map((i) => [figure(`tokens.${i}`), figure(`chances.${i}`, 3), bars[i]]),
    });
    likely.classList.add("likely");
    return {
      controls: [...(sentences.length > 1 ? [which.element] : []), ...ticks.map(({ element }) => element), steps.element, next],
      parts: [html("div", { class: "panels" }, source.element, html("div", {}, target.element, likely))],
      draw(state, shown) {
        which.move(state.sentence);
        ticks.forEach((tick, i) => tick.move(state.on[i]));
        steps.move(state.step);
        source.draw(state, shown);
        target.draw(state, shown);
        bars.forEach((bar, i) => (bar.style.width = `${(100 * (shown.chances[i] ?? 0)).toFixed(1)}%`));
      },
    };
  }

  return explorer(context, {
    name: "WritingExplorer",
    label: "Writing explorer",
    hint: "Press Next token, or move the slider; everything here was recorded from the model.",
    traits: ["sentences", "switches", "sentence", "on", "step"],
    numbers,
    build,
    say: (_, { written, tokens, chances }) =>
      `Written: ${written}. The last token, ${tokens[0]}, had the probability ${number(chances[0], 2)}.`,
  });
}

export default { render };
