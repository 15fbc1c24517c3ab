// A model of the bench, as “Talk to the model” knows models: loaded when the reader opens one.

import { opened } from "./files.js";

const FILES = ["config.json", "source_vocabulary.json", "target_vocabulary.json", "model.safetensors"];

/** The file that the bench's page hands over. Its address lasts as long as that page. */
async function handed_over(address) {
  const file = await fetch(address).then((answer) => answer.blob(), () => null);
  if (!file) throw new Error("The page of the bench is closed, and its model with it: save the model there, and open the file here.");
  return [new File([file], "bench-model.zip")];
}

/** `chosen`: files, or the address of one that the bench hands over; the `n`-th model of the reader. */
export async function own_model(chosen, n) {
  const list = typeof chosen === "string" ? await handed_over(chosen) : chosen;
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
