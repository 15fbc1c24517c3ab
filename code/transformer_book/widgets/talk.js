// “Talk to the model”: what the reader sees. It computes nothing: it asks, and shows the answers.
//
// On the website a worker answers, which holds the model in JavaScript; in a notebook Python does.
// On one side stand the text and what became of it, on the other what one can look at and change.

import { Asking, seldom_met } from "./asking.js";
import beamExplorer from "./beam.js";
import { button, choice, html, number, panel, table, upTo, uniqueId } from "./shared.js";
import { standalone } from "./standalone.js";
import { common, mapped, marked, moved_heads, swap, thumbnail, told_of } from "./talk_look.js";
import { CHANGES, KINDS, STACKS, brief, described, fits, some } from "./talk_state.js";
import { StepsOfToken, field_of, folded, oneStop, scrolling } from "./talk_steps.js";

const percent = (p) => `${number(100 * p, 1)} %`;
const megabytes = (bytes) => `${number(bytes / 1e6, 1)} MB`;
export const bytes_of = (model) => Object.values(model.files ?? {}).reduce((a, b) => a + b, 0);

// --- small parts ---------------------------------------------------------------------------------

/** What stands on the button of a token: the token, its probability, and more for screen readers. */
const shown = (token, p, more) => [
  html("span", {}, token),
  " ",
  html("small", {}, percent(p)),
  html("span", { class: "spoken" }, more),
];

/** A button that is found again, by `at`, when what is around it is drawn anew. */
function lasting(at, text, act) {
  const made = button(text, act);
  made.dataset.at = at;
  return made;
}

const note = (...parts) => html("p", { class: "note" }, ...parts);
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

const SIGNS = [
  ["<sos>", "<sos> marks the start: the model reads it before it has said anything."],
  ["<eos>", "<eos> marks the end."],
  ["<unk>", "<unk> stands for a word that the model does not know."],
];
/** What the signs among these tokens mean. */
const signs_of = (tokens) => SIGNS.filter(([sign]) => tokens.includes(sign)).map(([, meaning]) => meaning);

const TABS = [
  ["attention", "Attention", "show_attention"],
  ["change", "Change", "show_change"],
  ["steps", "Steps", "show_steps"],
  ["beam", "Beam", "show_beam"],
];
const COLUMNS = ["trained", "changed"];

// --- the page ------------------------------------------------------------------------------------

/**
 * The page: its `element`.
 *
 * models: what can be chosen; client: who answers; state: {model, text, changes, forced} to begin
 * with, each of them or none, and problems: sentences about what could not be read; remember(state):
 * called when the reader has done something; rules: their version, for the worker; loaded: whether
 * the client has the model already; eager(model): whether it may be loaded without being asked.
 */
export class Talk {
  constructor({ models, client, state = {}, problems = [], remember = () => {}, rules = null, loaded = false, eager = () => false }) {
    Object.assign(this, { models, client, rules, problems, eager, remembered: remember });
    this.now = this.known(state);
    this.past = []; // what the reader can go back to
    this.texts = new Map(); // what stood there, by the name of its model
    this.loaded = loaded ? this.now.model.name : null; // the name of the model that answers
    this.had = new Set(); // the names of those that have answered
    this.results = {}; // trained, changed
    this.before = {}; // the same, of the last run
    this.verified = {}; // what a search that checks its candidates has found, for each of them
    this.chosen = { kind: "cross", layer: 0, head: 0, query: 0, step: 0, column: "trained", difference: false };
    this.draft = { what: "head", kind: "cross", stack: "decoder", layer: 0, head: 0, query: 0, key: 0, amount: 0.5, scale: 0, temperature: 2 };
    this.open = new Set(); // what is unfolded
    this.tab = "attention";
    this.steps = new StepsOfToken({
      ask: (question) => this.client.ask("steps", { ...this.question(this.chosen.column), ...question }),
      names: () => this.read(),
    });
    this.build();
    this.show_model();
    this.complain("");
    if (this.ready()) this.run();
    else this.show();
  }

  /** A state with the model itself in the place of its name. */
  known({ model, text, changes = [], forced = [] }) {
    const found = this.models.find(({ name }) => name === model) ?? this.models[0];
    return { model: found, text: text ?? found.examples[0] ?? "", changes, forced };
  }

  /** The same as a plain state, for an address. */
  state() {
    return { ...this.now, model: this.now.model.name };
  }

  ready() {
    return this.loaded === this.now.model.name;
  }

  build() {
    this.status = html("p", { class: "status", role: "status", "aria-live": "polite" });
    this.notice = html("div", { class: "notice", role: "alert" });
    this.about = note();
    const options = this.models.map((each) => [each, each.title]);
    this.chooser = choice({ label: "model", options, change: (model) => this.choose_model(model) });
    this.chooser.element.hidden = this.models.length === 1;
    this.load_button = button("Load the model", () => this.load());
    this.cancel_button = button("Cancel", () => this.client.cancel());
    this.here = html("p", { class: "here" }, "Loaded. What you type stays on your device.");
    this.progress = html("progress", { max: 1, value: 0, "aria-label": "loading" });
    const id = uniqueId();
    this.text = html("textarea", { id, rows: 2, spellcheck: "false", autocomplete: "off" });
    this.text.value = this.now.text;
    this.text.addEventListener("keydown", (event) => {
      event.stopPropagation(); // a notebook has commands of its own
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.begin();
    });
    this.text_label = html("label", { for: id });
    this.examples = html("div", { class: "examples", role: "group", "aria-label": "examples", tabindex: -1 });
    this.translate_button = button("Translate", () => this.begin());
    this.stop_button = button("Stop", () => this.client.cancel());
    this.stop_button.hidden = true;
    this.undo_button = button("Undo", () => this.undo());
    this.hint = html("div", { class: "hints", tabindex: -1 });
    this.did = html("div", { class: "did", tabindex: -1 });
    this.moved = html("p", { class: "moved" });
    this.views = Object.fromEntries(
      COLUMNS.map((column) => {
        const title = html("p", { class: "title" });
        const result = html("p", { class: "result", "data-column": column });
        const tokens = html("div", { class: "steps", role: "group" });
        const notes = html("div", { class: "notes" });
        const name = html("p", { class: "title" });
        const line = html("div", { class: "line" }, title, result);
        return [column, { title, result, line, name, tokens, notes, section: html("section", { "data-column": column }, name, tokens, notes) }];
      }),
    );
    const views = Object.values(this.views);
    this.outcome = scrolling("result", views.map(({ line }) => line), this.moved, this.did);
    this.outcome.className = "outcome";
    this.columns = html("div", { class: "columns" }, views.map(({ section }) => section));
    this.candidates = html("div", { class: "candidates", tabindex: -1 });
    this.source = html("div", { class: "source" });
    const entry = html("div", { class: "entry" }, this.text_label, this.text, html("div", { class: "controls" }, this.translate_button, this.stop_button, this.undo_button));
    this.element = html(
      "section",
      { class: "explorer talk", "aria-label": "Talk to the model" },
      html("div", { class: "controls" }, this.chooser.element, this.load_button, this.here, this.progress, this.cancel_button),
      this.notice,
      html(
        "div",
        { class: "panes" },
        html("div", { class: "sentence-pane" }, html("div", { class: "held" }, entry, this.hint, this.outcome), this.examples, this.about, this.columns, this.candidates, this.source),
        html("div", { class: "look-pane" }, this.tabs()),
      ),
      this.status,
    );
    this.loading(false);
  }

  tabs() {
    const id = uniqueId();
    this.panels = {};
    const made = TABS.map(([name, title]) => {
      const tab = button(title, () => this.open_tab(name));
      for (const [key, value] of Object.entries({ role: "tab", id: `${id}-${name}`, "aria-controls": `${id}-${name}-panel` })) tab.setAttribute(key, value);
      this.panels[name] = html("div", { role: "tabpanel", id: `${id}-${name}-panel`, "aria-labelledby": tab.id, tabindex: 0, "data-tab": name });
      return tab;
    });
    this.panels.steps.append(this.steps.element);
    this.tab_buttons = made;
    this.mark_tabs();
    return [html("div", { class: "tabs", role: "tablist", "aria-label": "look and change" }, made), ...Object.values(this.panels)];
  }

  mark_tabs() {
    TABS.forEach(([name], i) => {
      this.tab_buttons[i].setAttribute("aria-selected", name === this.tab);
      this.panels[name].hidden = name !== this.tab;
    });
    oneStop(this.tab_buttons, { on: "aria-selected", go: (tab) => tab.click() });
  }

  open_tab(name) {
    this.tab = name;
    this.mark_tabs();
    this.show_tab();
  }

  show_tab() {
    const [, , show] = TABS.find(([name]) => name === this.tab);
    this[show]();
  }

  // --- what the reader does ---

  /** Something that can be undone, and that the address keeps. */
  act(changes) {
    const before = this.now;
    this.now = { ...before, ...changes };
    if (!same(before, this.now)) {
      this.past.push(before);
      this.remembered(this.state());
    }
    this.problems = [];
    return this.go_on(before);
  }

  undo() {
    if (!this.past.length) return;
    const before = this.now;
    this.now = this.past.pop();
    this.remembered(this.state());
    this.problems = [];
    this.text.value = this.now.text;
    this.say("Undone.");
    this.go_on(before);
  }

  /** The browser has gone to a state of before: show it. */
  back(state, problems = []) {
    const before = this.now;
    const now = this.known(state);
    if (same(before, now)) return;
    if (same(now, this.past.at(-1))) this.past.pop();
    else this.past.push(before);
    this.now = now;
    this.problems = problems;
    this.text.value = now.text;
    this.go_on(before);
  }

  /** From the state before to the present one: load what is not there, and translate. */
  go_on(before) {
    const { model } = this.now;
    if (before.model !== model) {
      this.client.cancel();
      this.turn = (this.turn ?? 0) + 1; // what still comes belongs to the other model
      this.results = this.before = {};
      Object.assign(this.chosen, { kind: "cross", layer: 0, head: 0, query: 0, step: 0, column: "trained", difference: false });
      this.say("");
      this.show_model();
    }
    if (before.text !== this.now.text) Object.assign(this.chosen, { step: 0, query: 0 });
    this.complain("");
    if (this.ready()) return this.run();
    this.show();
    return this.wanted || this.eager(model) || this.had.has(model.name) ? this.load() : Promise.resolve();
  }

  /** What is typed now; tokens are forced for one text only. */
  typed() {
    const text = this.text.value;
    return { text, forced: text === this.now.text ? this.now.forced : [] };
  }

  /** Translate what is typed. */
  begin() {
    this.wanted = true;
    return this.act({ text: this.text.value, forced: [] });
  }

  force(column, step, id) {
    return this.act({ forced: [...this.results[column].translation.ids.slice(0, step), id] });
  }

  change(changes) {
    this.chosen.column = changes.length ? "changed" : "trained";
    return this.act({ changes, ...this.typed() });
  }

  /** Another model: a text of the reader's goes along where it is of the same kind. */
  choose_model(model) {
    const { model: last, changes } = this.now;
    const text = this.text.value;
    const own = text.trim() && !last.examples.includes(text);
    const along = own && model.asks === last.asks;
    const kept = changes.filter((change) => fits(change, model.config));
    const dropped = changes.length - kept.length;
    this.texts.set(last.name, text);
    this.wanted = false;
    this.text.value = along ? text : (this.texts.get(model.name) ?? model.examples[0] ?? "");
    const done = this.act({ model, text: this.text.value, changes: kept, forced: [] });
    this.problems = [
      ...(own && !along ? [`Your text waits at the model “${last.title}”.`] : []),
      ...(dropped ? [`This model has no place for ${dropped === 1 ? "one of the changes" : `${dropped} of the changes`}: ${dropped === 1 ? "it is" : "they are"} taken back.`] : []),
    ];
    this.complain("");
    return done;
  }

  // --- loading ---

  /** Hide an element; if it has the focus, that goes to another. */
  hide(element, other) {
    const focused = element.getRootNode().activeElement === element;
    element.hidden = true;
    if (focused) other.focus({ preventScroll: true });
  }

  loading(on) {
    this.progress.hidden = !on;
    this.element.toggleAttribute("data-busy", on); // for who looks from outside: the tests
    this.load_button.hidden = on || this.ready();
    this.here.hidden = on || !this.ready(); // in the button's place, so that nothing moves
    if (on) this.cancel_button.hidden = false;
    else this.hide(this.cancel_button, this.load_button.hidden ? this.text : this.load_button);
  }

  show_model() {
    const { model } = this.now;
    this.chooser.move(model);
    this.load_button.textContent = `Load the model (${megabytes(bytes_of(model))})`;
    this.about.textContent = model.about;
    this.text_label.textContent = model.asks;
    this.text.lang = model.source;
    const examples = model.examples.map((example, i) => {
      const take = lasting(`example.${i}`, example, () => {
        this.text.value = example;
        this.begin();
      });
      take.lang = model.source;
      return take;
    });
    swap(this.examples, examples.length ? ["Or take one of these: ", ...examples] : []);
    this.loading(false);
  }

  /** Load the model; then translate what stands there. */
  load() {
    const { model } = this.now;
    if (this.coming?.model !== model) {
      const coming = { model };
      coming.promise = this.fetched(model).finally(() => this.coming === coming && (this.coming = null));
      this.coming = coming;
    }
    return this.coming?.promise;
  }

  async fetched(model) {
    this.complain("");
    const pressed = this.element.getRootNode().activeElement === this.load_button;
    this.loading(true);
    if (pressed) this.cancel_button.focus();
    this.progress.value = 0;
    this.say(`Loading ${model.title}.`);
    const answer = await this.client.ask("load", { model, rules: this.rules }, ({ loaded, total }) => {
      if (model === this.now.model) this.progress.value = loaded / total;
    });
    if (answer.state === "done") this.loaded = model.name;
    if (model !== this.now.model) return; // another one has been chosen meanwhile
    if (answer.state === "done") {
      this.had.add(model.name);
      this.loading(false);
      await this.run();
      return;
    }
    this.loaded = null;
    this.say("");
    this.complain(answer.state === "cancelled" ? "Loading was cancelled." : answer.message);
    this.loading(false);
    this.show();
  }

  // --- translating ---

  async run() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const { text, changes, forced, model } = this.now;
    this.complain("");
    this.before = { ...this.before, ...this.results };
    this.results = {};
    this.stop_button.hidden = false;
    this.element.toggleAttribute("data-busy", true);
    const wanted = [["trained", []], ...(changes.length ? [["changed", changes]] : [])];
    if (!changes.length) Object.assign(this.chosen, { column: "trained", difference: false });
    else if (!this.before.changed) this.chosen.column = "changed";
    this.text_read = text;
    this.show_outcome();
    for (const column of COLUMNS) this.show_tokens(column); // those of before, faint
    for (const [column, these] of wanted) {
      const step = (answer) => {
        if (turn !== this.turn) return;
        this.results[column] = { ...this.results[column], ...answer };
        this.show_result(column);
        this.show_tokens(column);
      };
      const answer = await this.client.ask("translate", { text, changes: these, forced }, step);
      if (turn !== this.turn) return;
      if (answer.state === "done") {
        step(answer);
        continue;
      }
      if (answer.state === "failed") delete this.results[column];
      this.complain(answer.state === "cancelled" ? "Stopped." : answer.message);
      if (answer.lost) this.loaded = null;
      break;
    }
    this.before = {};
    this.hide(this.stop_button, this.translate_button);
    if (!this.results[this.chosen.column]) this.chosen.column = "trained";
    this.loading(false);
    this.steps.renew(model.config);
    this.show();
    this.tell();
    this.element.toggleAttribute("data-busy", false);
  }

  /** One sentence for what cannot be done, after those about the address. */
  complain(sentence) {
    const sentences = [...this.problems, ...(sentence ? [sentence] : [])];
    this.notice.replaceChildren(...sentences.map((each) => html("p", {}, brief(each, 500))));
  }

  say(sentence) {
    this.status.textContent = sentence;
  }

  tell() {
    const { trained, changed } = this.results;
    if (!trained?.translation) return;
    const before = `Translation: ${trained.translation.text}`;
    this.say(changed?.translation ? `${before} With the changes: ${changed.translation.text} ${this.moved.textContent}` : before);
  }

  /** What one column shows, as a question: its text, what was said, what is changed. */
  question(column) {
    const changes = column === "changed" ? this.now.changes : [];
    return { text: this.text_read, tokens: this.results[column]?.translation?.ids ?? [], changes };
  }

  /** What each stack reads, token by token: {encoder, decoder}; null before anything is said. */
  read(column = this.chosen.column) {
    const translation = this.results[column]?.translation;
    if (!translation) return null;
    const encoder = translation.source_tokens.map((name, i) => translation.pieces[i] ?? name);
    return { encoder, decoder: ["<sos>", ...translation.tokens.slice(0, -1)] };
  }

  // --- what is shown ---

  show() {
    this.show_outcome();
    for (const column of COLUMNS) this.show_tokens(column);
    this.show_candidates();
    this.show_source();
    this.show_tab();
  }

  /** The results, what has moved, and what the reader has done: always in sight. */
  show_outcome() {
    const { changes, forced } = this.now;
    for (const column of COLUMNS) this.show_result(column);
    const { trained, changed } = this.results;
    const both = trained?.attention && changed?.attention;
    this.moved.textContent = both ? told_of(trained, changed) : "";
    const did = changes.map((change, i) => {
      const back = lasting(`back.${i}`, "Take back", () => this.change(changes.filter((each) => each !== change)));
      back.setAttribute("aria-label", `Take back: ${described(change)}`);
      return html("li", {}, `Changed: ${described(change)}. `, back);
    });
    if (forced.length) {
      const first = forced.length === 1 ? "The first token is set by you" : `The first ${forced.length} tokens are set, the last of them by you`;
      did.push(html("li", {}, `${first}: the model goes on from there. `, lasting("free", "Let it choose", () => this.act({ forced: [] }))));
    }
    this.undo_button.setAttribute("aria-disabled", !this.past.length);
    swap(this.did, did.length ? [html("ul", { class: "changes" }, did)] : [], this.undo_button);
  }

  show_result(column) {
    const { line, title, result } = this.views[column];
    const { trained, changed } = this.results;
    const translation = (this.results[column] ?? this.before[column])?.translation;
    line.hidden = column === "changed" ? !this.now.changes.length || !translation : false;
    title.textContent = column === "changed" ? "with your changes" : this.now.changes.length ? "as it was trained" : "translation";
    result.lang = this.now.model.target;
    result.classList.toggle("stale", !this.results[column]);
    const both = trained?.state === "done" && changed?.state === "done";
    const other = column === "changed" ? trained : changed;
    const text = translation?.text || (this.ready() ? "…" : "The model is not loaded yet: load it, or press Translate.");
    result.replaceChildren(...(both ? marked(text, other.translation.text, column === "changed" ? "new" : "gone") : [text]));
  }

  /** A button for each token; while a run goes on, what the last one said stands behind, faint. */
  show_tokens(column) {
    const { section, name, tokens: box, notes } = this.views[column];
    const result = this.results[column];
    const translation = result?.translation;
    const tokens = translation?.tokens ?? [];
    const old = result?.state === "done" ? [] : (this.before[column]?.translation?.tokens ?? []).slice(tokens.length);
    section.hidden = !tokens.length && !old.length;
    name.textContent = column === "changed" ? "token by token, with your changes" : "token by token";
    box.setAttribute("aria-label", name.textContent);
    for (let i = box.childElementCount; i < tokens.length + old.length; i += 1) {
      box.append(lasting(`said.${column}.${i}`, "", () => this.choose_step(column, i)));
    }
    const buttons = [...box.children];
    const gone = buttons.splice(tokens.length + old.length);
    if (gone.includes(box.getRootNode().activeElement)) (buttons.at(-1) ?? this.translate_button).focus({ preventScroll: true });
    gone.forEach((each) => each.remove());
    const { trained, changed } = this.results;
    const both = trained?.state === "done" && changed?.state === "done";
    const kept = both ? common(trained.translation.tokens, changed.translation.tokens)[COLUMNS.indexOf(column)] : null;
    buttons.forEach((each, i) => {
      const there = i < tokens.length;
      const differs = kept && there && !kept[i];
      const forced = i < this.now.forced.length;
      const kinds = ["said", there ? "" : "stale", there && forced ? "forced" : "", differs ? (column === "changed" ? "differs" : "gone") : ""];
      each.className = kinds.filter(Boolean).join(" ");
      each.setAttribute("aria-pressed", this.chosen.column === column && this.chosen.step === i);
      if (!there) return;
      const more = `, step ${i + 1}${forced ? ", set" : ""}${differs ? (column === "changed" ? ", changed" : ", otherwise with the changes") : ""}`;
      each.replaceChildren(...shown(tokens[i], translation.probabilities[i], more));
      each.style.setProperty("--share", translation.probabilities[i]);
    });
    oneStop(buttons);
    if (result || !old.length) swap(notes, result ? this.notes_of(column, result).map((line) => note(line)) : [], this.translate_button);
  }

  choose_step(column, step) {
    if (!(step < (this.results[column]?.translation?.tokens.length ?? 0))) return;
    Object.assign(this.chosen, { column, step, query: step });
    this.show();
  }

  notes_of(column, { translation, shipped, right, checked, state, first, rate }) {
    const { model, forced } = this.now;
    const { text, finished, rare, tokens } = translation;
    const { beam_size } = model.decoding;
    const done = state === "done";
    const lines = [];
    // Of a model of words, the frames say it.
    if (column === "trained" && model.subwords && rare?.length) lines.push(seldom_met(rare.map((word) => brief(word, 40))));
    if (done && !finished) lines.push("It did not come to an end: the limit of its length came first.");
    if (shipped) {
      const beams = `With ${beam_size} beams, as it is shipped: `;
      lines.push(html("span", {}, beams, html("span", { class: "shipped", lang: model.target }, shipped.text), shipped.text === text ? " (the same)" : ""));
    } else if (done && forced.length && beam_size > 1) {
      lines.push(`While tokens are set by you, the search with ${beam_size} beams is left out: it would choose each of them itself.`);
    }
    if (done && right !== null) {
      const wrong = checked.startsWith("agrees") ? "" : ` Computed exactly, its series is ${right}`;
      lines.push(`Checked: ${checked}.${wrong}`);
      if (wrong && !forced.length) lines.push(this.checked_search(column));
    }
    if (done && tokens.includes("<eos>")) lines.push(...signs_of(["<eos>"]));
    if (done) lines.push(`First token after ${number(first, 0)} ms, then ${number(rate, 0)} tokens per second.`);
    return lines;
  }

  /** For an answer that is wrong: a search whose candidates are checked, and what came of it. */
  checked_search(column) {
    const { text_read: text } = this;
    const changes = column === "changed" ? this.now.changes : [];
    const key = JSON.stringify([this.now.model.name, text, changes]);
    const known = this.verified[column];
    if (known?.key === key) return html("span", { role: "status", tabindex: -1, "data-at": `verified.${column}` }, known.said);
    return lasting(`verified.${column}`, "Look for an answer that passes", async () => {
      const tell = (...said) => {
        this.verified[column] = { key, said };
        this.show_tokens(column);
      };
      tell("Searching among 16 candidates.");
      const { state, message, found, candidates, tokens, checks } = await this.client.ask("verified", { text, changes });
      if (this.verified[column]?.key !== key) return;
      if (state !== "done") {
        delete this.verified[column];
        this.show_tokens(column);
        this.complain(state === "cancelled" ? "" : message);
        return;
      }
      const cost = `${candidates} candidates with ${tokens} tokens together, ${checks} different ones checked`;
      if (found) tell("Among the most probable answers, this one passes: ", html("span", { class: "shipped" }, found), ` (${cost}).`);
      else tell(`None of them passes (${cost}).`);
    });
  }

  show_source() {
    const { model } = this.now;
    const translation = this.results.trained?.translation;
    if (!translation) {
      this.source.replaceChildren();
      swap(this.hint, []);
      return;
    }
    const { source_tokens, pieces, unknown, respelled } = translation;
    // A word that the tokenizer had to take apart begins with ▁ and goes on without it.
    const parted = (i) => model.subwords && [i, i + 1].some((j) => pieces[j] && /^[\p{L}\p{N}]/u.test(pieces[j]) && (j === i || /[\p{L}\p{N}]$/u.test(pieces[i])));
    const read = source_tokens.map((name, i) => {
      const piece = pieces[i] ?? name;
      const kind = unknown.includes(piece) ? "unknown" : parted(i) ? "parted" : "";
      return html("span", { class: `piece ${kind}` }, brief(piece));
    });
    const notes = model.subwords ? ["▁ stands for a space."] : [];
    if (unknown.length) {
      notes.push(`Framed: not in its vocabulary. It reads only that an unknown word stands there (${some(unknown)}).`);
    }
    if (model.subwords && pieces.some((_, i) => parted(i))) {
      notes.push("Underlined: words that were too rare in training to have a piece of their own.");
    }
    notes.push(...signs_of(pieces));
    this.source.replaceChildren(html("p", { class: "title" }, "What it reads"), html("p", { class: "pieces", lang: model.source }, read), ...notes.map((each) => note(each)));
    if (!respelled) {
      swap(this.hint, [], this.text);
      return;
    }
    const write = lasting("respell", `Write “${brief(respelled)}”`, () => {
      this.text.value = respelled;
      this.begin();
    });
    swap(this.hint, [html("p", {}, "The model knows some of these words in another spelling: capitals count. ", write)], this.text);
  }

  show_candidates() {
    const { column } = this.chosen;
    const translation = this.results[column]?.translation;
    const step = (this.chosen.step = Math.max(0, Math.min(this.chosen.step, (translation?.tokens.length ?? 1) - 1)));
    const candidates = translation?.candidates[step];
    if (!candidates) {
      swap(this.candidates, [], this.translate_button);
      return;
    }
    const said = translation.ids[step];
    const others = candidates.some(({ id }) => id === said)
      ? candidates
      : [{ id: said, token: translation.tokens[step], p: translation.probabilities[step] }, ...candidates.slice(0, -1)];
    const buttons = others.map(({ id, token, p }) => {
      const each = lasting(`candidate.${id}`, "", () => id !== said && this.force(column, step, id));
      each.className = "candidate";
      each.setAttribute("aria-pressed", id === said);
      each.append(...shown(token, p, id === said ? ", said" : ", say this instead"));
      each.style.setProperty("--share", p);
      return each;
    });
    const before = translation.tokens.slice(0, step).join(" ");
    swap(this.candidates, [
      panel(
        `Step ${step + 1}: what may come ${before ? `after “${before}”` : "first"}`,
        html("div", { class: "steps", role: "group", "aria-label": "the most probable tokens" }, oneStop(buttons)),
        note("Press another one to set it: the model goes on from there."),
      ),
    ]);
  }

  // --- attention ---

  show_attention() {
    const box = this.panels.attention;
    const { chosen } = this;
    const { trained, changed } = this.results;
    const result = this.results[chosen.column];
    if (!result?.attention) {
      swap(box, [note(this.ready() ? "There is no translation yet." : "When the model is loaded, you see here which token looks at which.")]);
      return;
    }
    const both = Boolean(trained?.attention && changed?.attention);
    chosen.difference &&= both;
    const { kind, difference } = chosen;
    const layers = result.attention[kind];
    const layer = (chosen.layer = Math.min(chosen.layer, layers.length - 1));
    const head = (chosen.head = Math.min(chosen.head, layers[layer].H - 1));
    const maps = layers.map((map, l) => (difference ? difference_of(trained, changed, kind, l) : { ...map, value: (h, t, s) => map.weights[(h * map.T + t) * map.S + s] }));
    const set = (changes) => {
      Object.assign(chosen, changes);
      this.show_attention();
    };
    const moved = both ? moved_heads(trained, changed).filter((each) => each.kind === kind) : [];
    const kinds = field_of("kind", { label: "which", options: Object.entries(KINDS).map(([name, [text]]) => [name, text]), value: kind, change: (value) => set({ kind: value, layer: 0, query: 0 }) });
    const views = field_of("view", {
      label: "show",
      options: [["trained", "as it was trained"], ["changed", "with your changes"], ["difference", "what your changes move"]],
      value: difference ? "difference" : chosen.column,
      change: (value) => {
        // What has moved most is what one wants to see first.
        const { kind: where, layer: l, head: h } = moved_heads(trained, changed)[0];
        Object.assign(chosen, value === "difference" ? { difference: true, kind: where, layer: l, head: h } : { difference: false, column: value });
        for (const column of COLUMNS) this.show_tokens(column);
        this.show_candidates();
        this.steps.renew(this.now.model.config);
        this.show_attention();
      },
    });
    const small = oneStop(
      maps.flatMap(({ H, T, S, value }, l) =>
        upTo(H).map((h) => {
          const by = moved.find((each) => each.layer === l && each.head === h)?.moved ?? 0;
          const share = by >= 0.005 ? `${number(100 * by, 0)} %` : "";
          const each = lasting(`map.${l}.${h}`, "", () => set({ layer: l, head: h }));
          each.className = "small";
          each.setAttribute("aria-pressed", l === layer && h === head);
          each.setAttribute("aria-label", `layer ${l + 1}, head ${h + 1}${share ? `, ${share} moved` : ""}`);
          each.append(thumbnail(T, S, (i) => value(h, Math.floor(i / S), i % S)), ...(both ? [html("small", {}, share || "–")] : []));
          return each;
        }),
      ),
    );
    let at = 0;
    const rows = maps.map(({ H }, l) => html("div", { class: "layer" }, html("span", { class: "note" }, `layer ${l + 1}`), small.slice(at, (at += H))));
    const read = this.read(difference ? "trained" : chosen.column);
    const map = maps[layer];
    const queries = (kind === "encoder" ? read.encoder : read.decoder).slice(0, map.T);
    const keys = (kind === "decoder" ? read.decoder : read.encoder).slice(0, map.S);
    const query = Math.min(chosen.query, queries.length - 1);
    const name = `layer ${layer + 1}, head ${head + 1}`;
    const row = upTo(map.S).map((s) => map.value(head, query, s));
    const strongest = row.indexOf(Math.max(...row));
    const say = (t, s) => `“${queries[t]}” ${difference ? "changes for" : "looks at"} “${keys[s]}”: ${number(map.value(head, t, s), 3)}`;
    const pick = (t, s) => {
      this.told = say(t, s); // what is drawn anew still says it
      set({ query: t });
      this.told = "";
    };
    const { drawing, readout } = mapped({
      rows: queries,
      columns: keys,
      value: (t, s) => map.value(head, t, s),
      most: 1,
      chosen: query,
      pick,
      say,
      told: this.told,
      label: `${name}: ${map.T} queries, ${map.S} keys. “${queries[query]}” ${difference ? "gains most for" : "looks most at"} “${keys[strongest]}”, ${number(row[strongest], 2)}.`,
    });
    const asks = field_of("query", { label: "row", options: queries.map((token, i) => [i, `${i + 1}: ${token}`]), value: query, change: (value) => set({ query: value }) });
    const columns = difference ? ["looks at", "weight more or less"] : ["looks at", "score q·k/√d", "weight"];
    const cells = (s) => (difference ? [number(row[s], 3)] : [number(layers[layer].scores[(head * map.T + query) * map.S + s], 2), number(row[s], 3)]);
    swap(box, [
      html("div", { class: "controls" }, kinds, both ? views : []),
      html("div", { class: "maps" },
        panel("All heads of all layers", scrolling("the maps of all heads", rows), ...(both ? [note("Below each: how much of its attention lies elsewhere with your changes.")] : [])),
        panel(
          `Enlarged: ${name}`,
          scrolling(`the map of ${name}`, drawing),
          readout,
          note(
            difference
              ? "A filled cell gets more attention than before, one with a minus sign gets less; rows that read other tokens are left out."
              : "A row is a token that looks; its cells say at what, and sum to one. Press a row to choose it.",
            " ",
            signs_of([...queries, ...keys]).join(" "),
          ),
          html("div", { class: "controls" }, asks),
          folded("row", "Its numbers", this.open, () =>
            scrolling("numbers of this row", table({ caption: `“${queries[query]}” looks at`, columns, rows: keys.map((key, s) => [key, ...cells(s)]) })),
          ),
        ),
      ),
    ]);
  }

  show_steps() {
    this.steps.renew(this.ready() ? this.now.model.config : null);
    this.steps.show();
  }

  // --- the search ---

  /** What beam search finds, and its tree when the reader asks for it. */
  show_beam() {
    const box = this.panels.beam;
    const { forced, model, changes } = this.now;
    const { beam_size } = model.decoding;
    const what = note("The translation that you see is greedy: it takes the most probable token at each step. Beam search keeps several beginnings at once, its beams, and so may find a sentence whose beginning is less probable.");
    if (forced.length) {
      const free = lasting("tree.free", "Let it choose", () => this.act({ forced: [] }));
      swap(box, [what, note(`A search chooses every token itself. While the first ${forced.length === 1 ? "token is" : `${forced.length} tokens are`} set by you, it is left out.`), free]);
      return;
    }
    const about = COLUMNS.map((column) => {
      const { shipped } = this.results[column] ?? {};
      return shipped && html("p", {}, `${beam_size} beams${column === "changed" ? ", with your changes" : ""}: `, html("span", { lang: model.target }, shipped.text));
    }).filter(Boolean);
    if (this.results.trained?.state !== "done" || !this.stop_button.hidden) {
      swap(box, [what, note(this.ready() ? "There is no translation yet." : "When the model is loaded, you can draw the tree of its search here.")]);
      return;
    }
    const key = JSON.stringify([model.name, this.text_read, changes]);
    if (this.tree?.key === key) {
      if (!box.contains(this.tree.element)) swap(box, [what, this.tree.element]);
      return;
    }
    swap(box, [what, ...about, lasting("tree.draw", "Draw the tree of the search", () => this.draw_tree(what, key))]);
  }

  async draw_tree(what, key) {
    const box = this.panels.beam;
    const { turn } = this;
    const { changes, model } = this.now;
    const searches = [];
    const count = html("p", { class: "note", role: "status" }, "Searching.");
    const stop = lasting("tree.stop", "Stop", () => this.client.cancel());
    swap(box, [what, panel("Beam search", count, stop)], stop);
    const wanted = [["", []], ...(changes.length ? [[", changed", changes]] : [])];
    for (const [name, these] of wanted) {
      const step = ({ beginnings }) => (count.textContent = `Searching: ${beginnings} beginnings seen.`);
      const { state, search, message } = await this.client.ask("beam", { text: this.text_read, changes: these }, step);
      if (turn !== this.turn) return;
      if (state !== "done") {
        count.textContent = state === "cancelled" ? "Stopped." : message;
        const again = lasting("tree.draw", "Draw the tree of the search", () => this.draw_tree(what, key));
        swap(box, [what, panel("Beam search", count, again)], again);
        return;
      }
      searches.push({ ...search, name: `${brief(search.name)}${name}` });
    }
    const { beam_size, length_penalty } = model.decoding;
    const start = { example: 0, beam_size: Math.max(2, beam_size), length_penalty, step: 1 };
    const element = panel("Beam search", standalone(beamExplorer, { searches }, start));
    this.tree = { key, element };
    swap(box, [what, element], element.querySelector("button, select, input"));
  }

  // --- changing the model ---

  show_change() {
    const { config } = this.now.model;
    const { draft } = this;
    const [, help, place] = CHANGES[draft.what];
    const field = (name, label, options, line = "") => {
      const values = options.map(([value]) => value);
      if (!values.includes(draft[name])) draft[name] = values[0];
      const change = (value) => {
        draft[name] = value;
        this.show_change();
      };
      return field_of(name, { label, options, value: draft[name], change, help: line });
    };
    const count = (n) => upTo(n).map((i) => [i, String(i + 1)]);
    const tokens = (side) => {
      const names = this.read()?.[side];
      return names ? names.map((name, i) => [i, `${i + 1}: ${name}`]) : count(20);
    };
    const numbers = (values) => values.map((x) => [x, number(x, 2)]);
    const what = field("what", "change", Object.entries(CHANGES).map(([name, [plain]]) => [name, plain]), help);
    const stack = place.includes("stack") ? draft.stack : STACKS[draft.kind];
    const fields = {
      kind: () => field("kind", "attention", Object.entries(KINDS).map(([name, [plain]]) => [name, plain]), "Which of the three kinds the head belongs to."),
      stack: () => field("stack", "stack", [["encoder", "encoder"], ["decoder", "decoder"]], "The encoder reads your text, the decoder writes the translation."),
      layer: () => field("layer", "layer", count(config[`n_${stack}_layers`]), "Layers work one after the other."),
      head: () => field("head", "head", count(config.n_heads), "Heads of a layer work side by side."),
      query: () => field("query", "token that looks", tokens(draft.kind === "encoder" ? "encoder" : "decoder"), "A row of the map."),
      key: () => field("key", "token that is looked at", tokens(draft.kind === "decoder" ? "decoder" : "encoder"), "A cell in this row."),
      amount: () => field("amount", "add", numbers([-1, -0.5, 0.25, 0.5, 1, 2]), "A weight lies between 0 and 1."),
      sides: () => field("sides", "of", [["off", "your text and the translation"], ["source", "your text"], ["target", "the translation"]], "Where the order is hidden."),
      scale: () => field("scale", "factor", numbers([0, 0.05, 0.5, 1, 2]), `It was trained with ${number(config.score_scale ?? (config.d_model / config.n_heads) ** -0.5, 2)}.`),
      temperature: () => field("temperature", "temperature", numbers([0.25, 0.5, 0.8, 1.5, 2, 5]), "It was trained with 1."),
    };
    const made = place.map((name) => fields[name]());
    const spec = `${draft.what}:${place.length ? place.map((name) => draft[name]).join(".") : "off"}`;
    const there = this.now.changes.includes(spec);
    const add = lasting("add", "Change it", () => !there && this.change([...this.now.changes, spec]));
    add.setAttribute("aria-disabled", there);
    swap(this.panels.change, [
      note("Take a part of the model away, or change what it computes, and see what becomes of the sentence. Your changes stand below the result, where you take them back."),
      html("div", { class: "fields" }, what, made),
      add,
      note(there ? "This is changed already." : "The address of this page keeps what you do, so you can send it to others."),
    ]);
  }
}

/** What has been added to the weights of a layer, in the rows in which both have read the same. */
function difference_of(trained, changed, kind, layer) {
  const [one, other] = [trained.attention[kind][layer], changed.attention[kind][layer]];
  const apart = trained.translation.ids.findIndex((id, i) => id !== changed.translation.ids[i]);
  const T = kind === "encoder" || apart < 0 ? Math.min(one.T, other.T) : Math.min(one.T, other.T, apart + 1);
  const S = kind === "decoder" ? T : one.S;
  const at = (map, h, t, s) => map.weights[(h * map.T + t) * map.S + s];
  return { H: one.H, T, S, value: (h, t, s) => at(other, h, t, s) - at(one, h, t, s) };
}

// --- a notebook ----------------------------------------------------------------------------------

/** Asks Python, through the widget. Tables of numbers come as bytes beside the answer. */
class KernelClient extends Asking {
  constructor(model) {
    super(`${uniqueId()}-`); // a notebook may show the widget twice
    this.model = model;
    this.unheard = "No kernel answers: run the cell again.";
    this.listen = ({ id, ...answer }, buffers) => {
      this.answered(id, unpacked(answer, buffers));
      if (this.open.has(id)) model.send({ id, task: "next" });
    };
    model.on("msg:custom", this.listen);
  }

  post(question) {
    this.model.send(question);
  }

  /** Python takes the next step only when it is asked to. */
  cancel() {
    for (const id of [...this.open.keys()]) this.answered(id, { state: "cancelled" });
  }

  close() {
    this.model.off("msg:custom", this.listen);
  }
}

/** {buffer: i} stands for the numbers in the buffer i. */
function unpacked(part, buffers) {
  if (Array.isArray(part)) return part.map((each) => unpacked(each, buffers));
  if (part === null || typeof part !== "object") return part;
  if ("buffer" in part) {
    const bytes = buffers[part.buffer];
    // A copy: the bytes may begin at any place.
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  }
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, unpacked(each, buffers)]));
}

export default {
  render({ model, el }) {
    const client = new KernelClient(model);
    const { element } = new Talk({ ...model.get("about"), client });
    el.append(element);
    return () => {
      client.close();
      element.remove();
    };
  },
};
