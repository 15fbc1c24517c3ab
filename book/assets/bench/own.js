// A model of the bench in “Talk to the model”: loaded when the reader asks for one.

import { choice, html, uniqueId } from "../model/widgets/shared.js";
import { opened } from "./files.js";
import { kept_model } from "./kept.js";

const FILES = ["config.json", "source_vocabulary.json", "target_vocabulary.json", "model.safetensors"];

/** The model that these files hold, as the page knows models: the `n`-th of the reader. */
async function own_model(list, n) {
  const files = await opened(list);
  const missing = FILES.find((name) => !files[name]);
  if (missing) throw new Error(`There is no ${missing} among the files: choose the ZIP file that the bench has saved.`);
  const own = Object.fromEntries(FILES.map((name) => [name, name.endsWith(".json") ? new TextEncoder().encode(JSON.stringify(files[name])).buffer : files[name]]));
  const { model: config, decoding, source_tokenizer } = files["config.json"];
  if (!config || !decoding) throw new Error("config.json does not describe a model of this book.");
  const captions = source_tokenizer?.type === "spacy";
  return {
    ...{ name: `your-model-${n}`, title: `yours: ${[...list].at(-1).name}`, about: "A model of yours: nothing of it leaves your browser." },
    ...{ asks: captions ? "A German caption" : "Your symbols, with spaces between them" },
    ...{ source: captions ? "de" : "en", target: "en", subwords: false, config, decoding, own },
    examples: [captions ? "Ein Student lacht wieder." : (files["source_vocabulary.json"].tokens ?? []).slice(0, 5).join(" ")],
    files: Object.fromEntries(Object.entries(own).map(([name, { byteLength }]) => [name, byteLength])),
  };
}

/** One more model on the page, and on to it. It has no address. */
function add(talk, model) {
  talk.models.push(model);
  talk.had.add(model.name); // it is there already: nothing is asked
  const options = talk.models.map((each) => [each, each.title]);
  const { chooser, remembered } = talk;
  talk.chooser = choice({ label: "model", options, change: (each) => talk.choose_model(each) });
  chooser.element.replaceWith(talk.chooser.element);
  talk.remembered = (state) => state.model === model.name || remembered(state);
  return talk.choose_model(model);
}

/**
 * In the place of the button `ask`: where the reader chooses a file. The model that the bench has
 * handed over last, if there is one, is opened at once.
 */
export async function offer(talk, ask) {
  const file = html("input", { type: "file", accept: ".zip", class: "file", id: uniqueId() });
  let n = 0;
  const open = async (list) => {
    try {
      await add(talk, await own_model(list, (n += 1)));
    } catch (error) {
      talk.complain(error.constructor === Error ? error.message : "The file could not be read: choose the ZIP file that the bench has saved.");
    }
    file.value = "";
  };
  file.addEventListener("change", () => file.files.length && open(file.files));
  const focused = document.activeElement === ask;
  ask.replaceWith(html("span", { class: "control" }, html("label", { for: file.id }, "a model of the bench:"), file));
  if (focused) file.focus();
  const kept = await kept_model();
  if (kept) await open([kept]);
  else if (location.hash === "#bench") talk.complain("The browser has no model of the bench any more: hand one over there, or open a file that it has saved.");
}
