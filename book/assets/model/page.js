// Puts “Talk to the model” into its page, with a worker that answers.

import { WorkerClient } from "./client.js";
import { Talk } from "./widgets/talk.js";

/** What stands in the address of the page: {model, text, changes, forced}. */
function state_of(address) {
  return {
    model: address.get("model"),
    text: address.get("text"),
    changes: address.getAll("change"),
    forced: (address.get("force") ?? "").split(".").filter((id) => /^\d+$/.test(id)).map(Number),
  };
}

/** What the reader has set stands in the address: whoever opens it finds the same. */
function remember({ model, text, changes, forced }) {
  const address = new URLSearchParams({ model, text });
  for (const change of changes) address.append("change", change);
  if (forced.length) address.set("force", forced.join("."));
  history.replaceState(null, "", `?${address}${location.hash}`);
}

export function start() {
  const about = JSON.parse(document.querySelector("script.talk-models").textContent);
  for (const place of document.querySelectorAll(".talk-place")) {
    const options = { ...about, client: new WorkerClient(), state: state_of(new URLSearchParams(location.search)), remember };
    place.replaceChildren(new Talk(options).element);
  }
}
