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
  if (!models.some(({ name, own }) => own && name === state.model)) history.pushState(null, "", `?${address_of(state)}${location.hash.replace(/^#run=.*/, "")}`);
};

/** How a model of the bench comes to the page: where the reader chooses its file, and a function that opens it. */
function opening(talk) {
  const file = html("input", { type: "file", accept: ".zip", class: "file", id: uniqueId() });
  let n = 0;
  const open = async (given) => {
    try {
      const { own_model } = await import("../bench/own.js");
      await talk.add(await own_model(given, (n += 1)));
    } catch (error) {
      talk.complain(error.constructor === Error ? error.message : "The file could not be read: choose the ZIP file that the bench has saved.");
    }
    file.value = "";
  };
  file.addEventListener("change", () => open(file.files));
  return [html("span", { class: "control" }, html("label", { for: file.id }, "a model of the bench:"), file), open];
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
    const [element, open] = opening(talk);
    talk.element.querySelector(".controls").append(element);
    const [, run] = location.hash.match(/^#run=(blob:.+)$/) ?? []; // what the bench hands over
    place.replaceChildren(talk.element);
    below_header(place);
    addEventListener("popstate", () => {
      const { state, problems } = read();
      talk.back(state, problems);
    });
    idle(() => (run ? open(run) : eager(talk.now.model) && talk.load()));
  }
}
