// Puts “Talk to the model” into its page, with a worker that answers.

import { WorkerClient } from "./client.js";
import { html, uniqueId } from "./widgets/shared.js";
import { Talk, bytes_of } from "./widgets/talk.js";
import { address_of, read_address } from "./widgets/talk_state.js";

const SMALL = 2.5e6; // bytes that a page may load without being asked

/** Whether each byte may cost the reader money or patience, as far as the browser says. */
function metered({ saveData, effectiveType = "4g", type } = navigator.connection ?? {}) {
  return Boolean(saveData) || effectiveType !== "4g" || type === "cellular";
}

const eager = (model) => "own" in model || (!metered() && bytes_of(model) <= SMALL);

/** What the reader does stands in the address: whoever opens it finds the same, and Back goes back. A reader's own model has none. */
const remember = (models) => (state) => {
  if (!models.some(({ name, own }) => own && name === state.model)) history.pushState(null, "", `?${address_of(state)}${location.hash}`);
};

const FILES = ["config.json", "source_vocabulary.json", "target_vocabulary.json", "model.safetensors"];

/** A model that the bench has saved, as the page knows models. */
async function own_model(chosen, n) {
  const { opened } = await import("../bench/files.js");
  const files = await opened(chosen);
  const missing = FILES.find((name) => !files[name]);
  if (missing) throw new Error(`There is no ${missing} among the files: choose the ZIP file that the bench has saved.`);
  const own = Object.fromEntries(FILES.map((name) => [name, name.endsWith(".json") ? new TextEncoder().encode(JSON.stringify(files[name])).buffer : files[name]]));
  const { model: config, decoding } = files["config.json"];
  if (!config || !decoding) throw new Error("config.json does not describe a model of this book.");
  return {
    ...{ name: `your-model-${n}`, title: `yours: ${[...chosen].at(-1).name}`, about: "A model of yours: nothing of it leaves your browser.", asks: "Your symbols, with spaces between them" },
    ...{ source: "en", target: "en", subwords: false, config, decoding, own },
    examples: [(files["source_vocabulary.json"].tokens ?? []).slice(0, 5).join(" ")],
    files: Object.fromEntries(Object.entries(own).map(([name, { byteLength }]) => [name, byteLength])),
  };
}

/** Where the reader opens a model that the bench has saved. */
function opening(talk) {
  const file = html("input", { type: "file", accept: ".zip", class: "file", id: uniqueId() });
  let n = 0;
  file.addEventListener("change", async () => {
    try {
      await talk.add(await own_model(file.files, (n += 1)));
    } catch (error) {
      talk.complain(error.constructor === Error ? error.message : "The file could not be read: choose the ZIP file that the bench has saved.");
    }
    file.value = "";
  });
  return html("span", { class: "control" }, html("label", { for: file.id }, "a model of the bench:"), file);
}

/** When the page has come and nothing else is to be done. */
function idle(act) {
  const later = () => (window.requestIdleCallback ?? setTimeout)(act, { timeout: 2000 });
  if (document.readyState === "complete") later();
  else addEventListener("load", later, { once: true });
}

/** What sticks to the top of the screen comes to lie below the header of the page. */
function below_header(place) {
  const header = document.querySelector(".bd-header-article");
  if (!header) return;
  const measure = () => place.style.setProperty("--under", `${header.offsetHeight}px`);
  new ResizeObserver(measure).observe(header);
  measure();
}

export function start() {
  const { models, rules } = JSON.parse(document.querySelector("script.talk-models").textContent);
  for (const place of document.querySelectorAll(".talk-place")) {
    const read = () => read_address(location.search, models);
    const talk = new Talk({ models, rules, client: new WorkerClient(), ...read(), remember: remember(models), eager });
    talk.element.querySelector(".controls").append(opening(talk));
    place.replaceChildren(talk.element);
    below_header(place);
    addEventListener("popstate", () => {
      const { state, problems } = read();
      talk.back(state, problems);
    });
    idle(() => eager(talk.now.model) && talk.load());
  }
}
