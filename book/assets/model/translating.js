// The sentence on the landing page: what `looked_at` and `drawn` make while the site is built
// (book/extension/transformer_book_model.py), made for a sentence of the reader's.

import { WorkerClient } from "./client.js";
import { seldom_met } from "./widgets/asking.js";
import { html, sum, upTo } from "./widgets/shared.js";

const END = "(end)"; // what the page shows for <eos>
const client = new WorkerClient();
let loaded = null; // the promise of a model
let turn = 0;

async function asked(task, question) {
  const answer = await client.ask(task, question);
  if (answer.state === "done") return answer;
  throw new Error(answer.state === "cancelled" ? "Stopped." : answer.message);
}

/** What was said, and where the decoder looked at each word: the mean of its heads, in hundredths. */
export function looked_at({ translation, attention }) {
  const maps = attention.cross;
  const [{ T, S }] = maps;
  const heads = sum(maps.map(({ H }) => H));
  const mean = (t, s) => sum(maps.map(({ H, weights }) => sum(upTo(H).map((h) => weights[(h * T + t) * S + s])))) / heads;
  return {
    read: [...translation.pieces, END].slice(0, S),
    said: translation.tokens.map((token) => (token === "<eos>" ? END : token)),
    cells: upTo(T).map((t) => upTo(S).map((s) => Math.round(100 * mean(t, s)))),
    text: translation.text,
  };
}

function drawn({ read, said, cells }, { source, target }, caption) {
  const head = read.map((word) => html("th", { scope: "col", lang: source }, html("span", {}, word)));
  const rows = said.map((word, t) =>
    html(
      "tr",
      { style: `--turn: ${t}` },
      html("th", { scope: "row", lang: target }, word),
      ...cells[t].map((cell) => html("td", { style: `--share: ${cell}%` }, html("span", {}, String(cell)))),
    ),
  );
  return html("table", {}, caption, html("thead", {}, html("tr", {}, html("td"), ...head)), html("tbody", {}, ...rows));
}

/** Show the translation of a text in the figure; the status says what became of it. */
export async function translate(figure, { model, rules }, text, status) {
  const now = (turn += 1);
  try {
    loaded ??= asked("load", { model, rules });
    await loaded;
    const answer = await asked("translate", { text });
    if (now !== turn) return;
    const shown = looked_at(answer);
    const caption = figure.querySelector("caption");
    figure.querySelector(".read").textContent = text.trim();
    figure.querySelector(".said").textContent = shown.text;
    figure.querySelector(".grid").replaceChildren(drawn(shown, model, caption));
    const { unknown, rare } = answer.translation;
    const strange = unknown.length ? `It does not know: ${unknown.join(", ")}.` : seldom_met(rare);
    status.textContent = `${shown.text} ${strange}`.trim();
  } catch (error) {
    if (now !== turn) return;
    if (!(await Promise.resolve(loaded).then(() => true, () => false))) loaded = null;
    status.textContent = error.message;
  }
}
