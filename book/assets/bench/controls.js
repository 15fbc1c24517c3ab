// The controls of the settings, and the question that comes before a switch.

import { choice, html, uniqueId } from "../model/widgets/shared.js";
import { SETTINGS, START, groups, shown } from "./settings.js";

// Where the run stands below the settings (see bench.css), all groups begin folded: so it stands near.
const BESIDE = 50; // rem: the room for both, side by side
const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
const OPEN = document.querySelector(".bench-place")?.clientWidth >= BESIDE * rem ? ["Task and sizes", "Attention"] : [];

/** A link to the section of a chapter. */
function chapter(place) {
  const [name, anchor] = place.split("#");
  return html("a", { href: new URL(`../../chapters/${name}.html#${anchor}`, import.meta.url).href }, `Chapter\u00a0${Number(name.slice(0, 2))}`);
}

/** All settings in groups that fold. Returns {element, move(settings)}; `change(name, value)` is called. */
export function controls(change) {
  const made = {};
  const element = html("div", { class: "settings" });
  for (const [group, names] of groups()) {
    const rows = names.map((name) => {
      const { label, values, help, breaks } = SETTINGS[name];
      made[name] = choice({ label, options: values, change: (value) => change(name, value) });
      const id = uniqueId();
      made[name].element.querySelector("select").setAttribute("aria-describedby", id);
      made[name].element.append(html("small", { id, class: "note" }, help, breaks ? [" ", chapter(breaks)] : []));
      made[name].element.dataset.setting = name;
      return made[name].element;
    });
    const folded = html("details", OPEN.includes(group) ? { open: "" } : {}, html("summary", {}, group), html("div", { class: "fields" }, rows));
    element.append(folded);
  }
  const move = (settings) => {
    for (const [name, { element: row, move: show }] of Object.entries(made)) {
      show(settings[name]);
      row.classList.toggle("other", settings[name] !== START[name]);
    }
  };
  return { element, move };
}

const GUESSES = [
  "It falls as before.",
  "It falls more slowly.",
  "It stops early, and stays there.",
  "It falls, and the answers stay wrong all the same.",
  "It rises, or breaks off.",
];

/**
 * “Predict first”, for a switch. `guessed(text)` is called with what the reader thinks; without an
 * answer the switch works all the same. `earlier`: what the reader said of it at another time, if there is something.
 */
export function question(name, value, guessed, earlier) {
  const group = uniqueId();
  const answers = GUESSES.map((text) => {
    const [input, id] = [html("input", { type: "radio", name: group, id: uniqueId() }), uniqueId()];
    input.addEventListener("change", () => guessed(text));
    input.id = id;
    return html("div", { class: "control tick" }, input, html("label", { for: id }, text));
  });
  const legend = html("legend", {}, html("b", {}, "Predict first. "), `${SETTINGS[name].label}: ${shown(name, value)}. What will the training loss do?`);
  const before = earlier ? html("p", { class: "note" }, `Last time you said: ${earlier.guess} What came: ${earlier.outcome}`) : "";
  return html("fieldset", { class: "question" }, legend, answers, before);
}
