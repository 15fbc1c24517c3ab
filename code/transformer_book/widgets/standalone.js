// An explorer without a widget of a notebook around it.

import { html } from "./shared.js";

/** The element of an explorer with these traits; `start` is what the reader moves. */
export function standalone(explorer, traits, start) {
  const el = html("div");
  const values = { ...traits, ...start, start };
  const model = {
    get: (name) => values[name],
    set: (name, value) => (values[name] = value),
    on() {},
    off() {},
    save_changes() {},
  };
  explorer.render({ model, el });
  return el;
}
