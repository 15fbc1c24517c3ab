// Puts “Talk to the model” into its page, with a worker that answers.

import { WorkerClient } from "./client.js";
import { needed } from "./failures.js";
import { button, html } from "./widgets/shared.js";
import { Talk, bytes_of } from "./widgets/talk.js";
import { address_of, read_address } from "./widgets/talk_state.js";

const SMALL = 2.5e6; // bytes that a page may load without being asked

/** Whether each byte may cost the reader money or patience, as far as the browser says. */
function metered({ saveData, effectiveType = "4g", type } = navigator.connection ?? {}) {
  return Boolean(saveData) || effectiveType !== "4g" || type === "cellular";
}

const eager = (model) => !metered() && bytes_of(model) <= SMALL;

/** What the reader does stands in the address: whoever opens it finds the same, and Back goes back. */
const remember = (state) => history.pushState(null, "", `?${address_of(state)}${location.hash}`);

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
    const talk = new Talk({ models, rules, client: new WorkerClient(), ...read(), remember, eager });
    // A model of the bench is opened by the bench's own code, once it is asked for.
    const own = () => needed(import("../bench/own.js")).then(({ offer }) => offer(talk, ask), ({ message }) => talk.complain(message));
    const ask = button("A model of the bench", own);
    // In a line of its own: what comes and goes beside the choice of a model cannot move it.
    talk.element.querySelector(".controls").after(html("div", { class: "controls" }, ask));
    place.replaceChildren(talk.element);
    below_header(place);
    addEventListener("popstate", () => {
      const { state, problems } = read();
      talk.back(state, problems);
    });
    idle(() => (location.hash === "#bench" ? own() : eager(talk.now.model) && talk.load()));
  }
}
