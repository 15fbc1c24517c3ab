// What the bench and the gym both show of a run: its answers, and where a head looks.

import { html, number, upTo } from "../model/widgets/shared.js";
import { mapped } from "../model/widgets/talk_look.js";

/** For each kind of attention: its words, the parts of a model that have it, who looks, and at what. */
export const KINDS = {
  cross: ["the answer looks at the source (cross)", /^decoder\.layers\.(\d+)\.cross_attention$/, "target", "source"],
  decoder: ["the answer looks at itself (decoder)", /^decoder\.layers\.(\d+)\.self_attention$/, "target", "target"],
  encoder: ["the source looks at itself (encoder)", /^encoder\.layers\.(\d+)\.self_attention$/, "source", "source"],
};

/** What a model says, symbol by symbol; what the target does not have there is underlined. */
export const compared = (said, target) =>
  html("span", {}, said.map((word, i) => (word === target[i] ? word : html("mark", { class: "wrong" }, word || "nothing"))).flatMap((each) => [each, " "]));

/** A map of one head's weights: {drawing, readout}. rows, columns: symbols; value(t, s): a weight. */
export function head_map({ title, rows, columns, value }) {
  const strongest = rows.map((row, t) => `${row} looks at ${columns[upTo(columns.length).reduce((best, s) => (value(t, s) > value(t, best) ? s : best), 0)]}`);
  return mapped({
    ...{ rows, columns, value, most: 1 },
    label: `Attention weights: ${title}. Most of all ${strongest.join(", ")}.`,
    say: (t, s) => `${rows[t]} gives ${columns[s]} the weight ${number(value(t, s), 2)}.`,
  });
}
