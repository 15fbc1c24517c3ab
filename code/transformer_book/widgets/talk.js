// “Talk to the model”: what the reader sees. It computes nothing: it asks, and shows the answers.
//
// On the website a worker answers, which holds the model in JavaScript; in a notebook Python does.

import { Asking, seldom_met } from "./asking.js";
import beamExplorer from "./beam.js";
import { button, choice, html, number, panel, svg, table, upTo, uniqueId } from "./shared.js";
import { standalone } from "./standalone.js";
import { StepsOfToken, field_of, oneStop, scrolling } from "./talk_steps.js";

/** The stack in which each kind of attention stands. */
const STACKS = { encoder: "encoder", decoder: "decoder", cross: "decoder" };
const KIND_NAMES = [
  ["cross", "cross: translation looks at the source"],
  ["decoder", "self: translation looks at itself"],
  ["encoder", "self: source looks at itself"],
];
const SHORT_KIND = { cross: "cross-attention", decoder: "the decoder's self-attention", encoder: "the encoder's self-attention" };
const percent = (p) => `${number(100 * p, 1)} %`;
const megabytes = (bytes) => `${number(bytes / 1e6, 1)} MB`;

// --- small parts ---------------------------------------------------------------------------------

/** What stands on the button of a token: the token, its probability, and more for screen readers. */
const shown = (token, p, more) => [
  html("span", {}, token),
  " ",
  html("small", {}, percent(p)),
  html("span", { class: "spoken" }, more),
];

/** What each kind of change needs to know, in the order in which its text names it. */
const FIELDS = {
  head: ["kind", "layer", "head"],
  average: ["kind", "layer", "head"],
  weight: ["kind", "layer", "head", "query", "key", "amount"],
  layer: ["stack", "layer"],
  feed_forward: ["stack", "layer"],
  residual: ["stack", "layer"],
  scale: ["scale"],
  temperature: ["temperature"],
  causal: [],
  positions: ["sides"],
};

/** The parts of a change; the last may have a point in it: "scale:0.5" → ["scale", ["0.5"]]. */
function parts_of(change) {
  const [what, rest = ""] = change.split(/:(.*)/s);
  const parts = rest.split(".");
  const n = Math.max(1, FIELDS[what]?.length ?? 0);
  return [what, [...parts.slice(0, n - 1), parts.slice(n - 1).join(".")]];
}

/** A change in words, layers and heads counted from 1 as on the maps. */
function described(change) {
  const [what, parts] = parts_of(change);
  const one = (text) => Number(text) + 1;
  const where = () => `layer ${one(parts[1])}, head ${one(parts[2])} of ${SHORT_KIND[parts[0]]}`;
  switch (what) {
    case "head":
      return `${where()} adds nothing`;
    case "average":
      return `${where()} looks at everything alike`;
    case "weight":
      return `${where()}: ${number(Number(parts[5]), 2)} is added to the weight of key ${one(parts[4])} for query ${one(parts[3])}`;
    case "layer":
      return `layer ${one(parts[1])} of the ${parts[0]} passes on what it gets`;
    case "feed_forward":
      return `the feed-forward network in layer ${one(parts[1])} of the ${parts[0]} adds nothing`;
    case "residual":
      return `layer ${one(parts[1])} of the ${parts[0]} has no residual connections`;
    case "scale":
      return `scores are multiplied by ${parts[0]}`;
    case "temperature":
      return `logits are divided by ${parts[0]}: other probabilities, in the same order`;
    case "causal":
      return "the decoder sees the future";
    case "positions":
      return `no positions are added${parts[0] === "off" ? "" : ` to the ${parts[0]}`}`;
    default:
      return change;
  }
}

// --- the page ------------------------------------------------------------------------------------

/**
 * The page: its `element`.
 *
 * models: what can be chosen; client: who answers; state: {model, text, changes, forced} to begin
 * with, each of them or none; remember(state): called with what the reader has set; rules: their
 * version, for the worker; loaded: what the client has loaded already.
 */
export class Talk {
  constructor({ models, client, state = {}, remember = () => {}, rules = null, loaded = null }) {
    Object.assign(this, { models, client, rules, remembered: remember });
    this.model = models.find(({ name }) => name === state.model) ?? models[0];
    this.changes = [...(state.changes ?? [])];
    this.forced = state.forced ?? [];
    this.loaded = null; // {config, decoding} of the model that answers
    this.results = {}; // trained, changed
    this.chosen = { kind: "cross", layer: 0, head: 0, query: 0, step: 0, column: "trained" };
    this.steps = new StepsOfToken({
      ask: (question) => this.client.ask("steps", { ...this.question(this.chosen.column), ...question }),
      names: () => this.read(),
    });
    this.build(state.text ?? this.model.examples[0]);
    this.show_model();
    if (loaded) this.show_loaded(loaded);
  }

  build(text) {
    const status = { class: "status", role: "status", "aria-live": "polite" };
    this.status = html("p", status);
    this.notice = html("p", { class: "notice", role: "alert" });
    this.about = html("p", { class: "note" });
    const options = this.models.map((each) => [each, each.title]);
    this.chooser = choice({ label: "model", options, change: (model) => this.choose_model(model) });
    this.chooser.move(this.model);
    this.chooser.element.hidden = this.models.length === 1;
    this.load_button = button("Load the model", () => this.load());
    this.cancel_button = button("Cancel", () => this.client.cancel());
    this.progress = html("progress", { max: 1, value: 0, "aria-label": "loading" });
    const id = uniqueId();
    this.text = html("textarea", { id, rows: 2, spellcheck: "false", autocomplete: "off" });
    this.text.value = text;
    this.text.addEventListener("keydown", (event) => {
      event.stopPropagation(); // a notebook has commands of its own
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.begin();
    });
    this.text_label = html("label", { for: id });
    this.examples = html("div", { class: "examples", role: "group", "aria-label": "examples" });
    this.translate_button = button("Translate", () => this.begin());
    this.stop_button = button("Stop", () => this.client.cancel());
    this.stop_button.hidden = true;
    this.source = html("div", { class: "source" });
    this.columns = html("div", { class: "columns" });
    this.candidates = html("div", { class: "candidates" });
    this.maps = html("div", { class: "maps" });
    this.intervening = html("div", { class: "intervening" });
    this.tree = html("div", { class: "search-tree" });
    this.body = html(
      "div",
      { hidden: "" },
      html("div", { class: "entry" }, this.text_label, this.text, html("div", { class: "controls" }, this.translate_button, this.stop_button)),
      this.examples,
      this.source,
      this.columns,
      this.candidates,
      this.intervening,
      this.maps,
      this.steps.element,
      this.tree,
    );
    this.element = html(
      "section",
      { class: "explorer talk", "aria-label": "Talk to the model" },
      html("div", { class: "controls" }, this.chooser.element, this.load_button, this.progress, this.cancel_button),
      this.about,
      this.notice,
      this.body,
      this.status,
    );
    this.loading(false);
  }

  // --- loading ---

  loading(on) {
    this.progress.hidden = this.cancel_button.hidden = !on;
    this.load_button.hidden = on || this.loaded?.name === this.model.name;
  }

  show_model() {
    const { model } = this;
    const bytes = Object.values(model.files ?? {}).reduce((a, b) => a + b, 0);
    this.load_button.textContent = `Load the model (${megabytes(bytes)})`;
    this.about.textContent = model.about;
    this.text_label.textContent = model.asks;
    this.text.lang = model.source;
    this.examples.replaceChildren(
      "Or take one of these: ",
      ...model.examples.map((example) => {
        const take = button(example, () => {
          this.text.value = example;
          this.begin();
        });
        take.lang = model.source;
        return take;
      }),
    );
    this.loading(false);
  }

  choose_model(model) {
    this.client.cancel();
    Object.assign(this, { model, loaded: null, results: {}, changes: [], forced: [] });
    Object.assign(this.chosen, { kind: "cross", layer: 0, head: 0, query: 0, step: 0 });
    this.text.value = model.examples[0];
    this.body.hidden = true;
    this.complain("");
    this.show_model();
    this.remember();
  }

  async load() {
    const { model } = this;
    this.complain("");
    this.loading(true);
    this.progress.value = 0;
    this.say(`Loading ${model.title}.`);
    this.cancel_button.focus();
    const answer = await this.client.ask("load", { model, rules: this.rules }, ({ loaded, total }) => {
      this.progress.value = loaded / total;
    });
    if (model !== this.model) return; // another one has been chosen meanwhile
    if (answer.state === "done") {
      const run = this.show_loaded(answer);
      this.text.focus();
      await run;
      return;
    }
    this.loading(false);
    this.complain(answer.state === "cancelled" ? "Loading was cancelled." : answer.message);
    this.load_button.focus();
  }

  /** The model is there: {config, decoding}. */
  show_loaded({ config, decoding }) {
    this.loaded = { name: this.model.name, config, decoding };
    this.loading(false);
    this.body.hidden = false;
    this.show_changes();
    return this.run();
  }

  // --- translating ---

  /** A new text: nothing is forced any more. */
  begin() {
    this.forced = [];
    return this.run();
  }

  async run() {
    if (!this.loaded) return;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.results = {};
    this.chosen.step = 0;
    this.complain("");
    this.remember();
    this.show_tree();
    this.stop_button.hidden = false;
    const wanted = [["trained", []], ...(this.changes.length ? [["changed", this.changes]] : [])];
    this.text_read = this.text.value;
    for (const [column, changes] of wanted) {
      const payload = { text: this.text_read, changes, forced: this.forced };
      const step = (answer) => {
        if (turn !== this.turn) return;
        this.results[column] = { ...this.results[column], ...answer };
        this.chosen.column = column;
        this.show();
      };
      const answer = await this.client.ask("translate", payload, step);
      if (turn !== this.turn) return;
      if (answer.state === "failed") {
        this.complain(answer.message);
        if (answer.lost) this.choose_model(this.model);
      } else if (answer.state === "cancelled") this.complain("Stopped.");
      if (answer.state !== "done") break;
      step(answer);
    }
    this.stop_button.hidden = true;
    this.show();
    this.show_tree();
    this.tell();
  }

  /** One sentence for what cannot be done. */
  complain(sentence) {
    this.notice.textContent = sentence;
  }

  say(sentence) {
    this.status.textContent = sentence;
  }

  tell() {
    const { trained, changed } = this.results;
    if (!trained?.translation) return;
    const before = `Translation: ${trained.translation.text}`;
    this.say(changed?.translation ? `${before} With the changes: ${changed.translation.text}` : before);
  }

  force(column, step, id) {
    this.forced = [...this.results[column].translation.ids.slice(0, step), id];
    return this.run();
  }

  remember() {
    const { model, text, changes, forced } = this;
    this.remembered({ model: model.name, text: text.value, changes, forced });
  }

  /** What one column shows, as a question: its text, what was said, what is changed. */
  question(column) {
    const changes = column === "changed" ? this.changes : [];
    return { text: this.text_read, tokens: this.results[column]?.translation?.ids ?? [], changes };
  }

  /** What each stack reads, token by token: {encoder, decoder}; null before anything is said. */
  read() {
    const translation = this.results[this.chosen.column]?.translation;
    if (!translation) return null;
    const encoder = translation.source_tokens.map((name, i) => translation.pieces[i] ?? name);
    return { encoder, decoder: ["<sos>", ...translation.tokens.slice(0, -1)] };
  }

  // --- what is shown ---

  show() {
    const { trained, changed } = this.results;
    this.show_source();
    const columns = [
      ["trained", changed ? "as it was trained" : "translation", trained],
      ["changed", "with your changes", changed],
    ];
    const there = columns.filter(([, , result]) => result?.translation);
    this.columns.replaceChildren(...there.map(([column, title, result]) => this.translation(column, title, result)));
    this.show_candidates();
    this.show_maps();
  }

  show_source() {
    const translation = this.results.trained?.translation;
    if (!translation) {
      this.source.replaceChildren();
      return;
    }
    const { source_tokens, pieces, unknown } = translation;
    // A word that the tokenizer had to take apart begins with ▁ and goes on without it.
    const parted = (i) => this.model.subwords && [i, i + 1].some((j) => pieces[j] && /^[\p{L}\p{N}]/u.test(pieces[j]) && (j === i || /[\p{L}\p{N}]$/u.test(pieces[i])));
    const read = source_tokens.map((name, i) => {
      const piece = pieces[i] ?? name;
      const kind = unknown.includes(piece) ? "unknown" : parted(i) ? "parted" : "";
      return html("span", { class: `piece ${kind}` }, piece);
    });
    const notes = this.model.subwords ? ["▁ stands for a space."] : [];
    if (unknown.length) {
      notes.push(`Framed: not in its vocabulary. It reads only that an unknown word stands there (${unknown.join(", ")}).`);
    }
    if (this.model.subwords && pieces.some((_, i) => parted(i))) {
      notes.push("Underlined: words that were too rare in training to have a piece of their own.");
    }
    this.source.replaceChildren(
      html("p", { class: "title" }, "What it reads"),
      html("p", { class: "pieces", lang: this.model.source }, read),
      ...notes.map((note) => html("p", { class: "note" }, note)),
    );
  }

  translation(column, title, { translation, shipped, right, state, first, rate }) {
    const { tokens, probabilities, text, finished, rare } = translation;
    const other = this.results.trained?.translation?.tokens ?? [];
    const steps = oneStop(
      tokens.map((token, i) => {
        const pressed = this.chosen.column === column && this.chosen.step === i;
        const kinds = [i < this.forced.length ? "forced" : "", column === "changed" && token !== other[i] ? "differs" : ""];
        const step = html(
          "button",
          { type: "button", class: `said ${kinds.join(" ")}`, "aria-pressed": pressed },
          shown(token, probabilities[i], `, step ${i + 1}`),
        );
        step.style.setProperty("--share", probabilities[i]);
        step.addEventListener("click", () => {
          Object.assign(this.chosen, { column, step: i, query: i });
          this.show();
          this.columns.querySelector('[aria-pressed="true"]')?.focus();
        });
        return step;
      }),
    );
    const done = state === "done";
    const lines = [];
    // Of a model of words, the frames above say it.
    if (column === "trained" && this.model.subwords && rare?.length) lines.push(seldom_met(rare));
    if (done && !finished) lines.push("It did not come to an end: the limit of its length came first.");
    if (shipped) {
      const same = shipped.text === text;
      const beam = `With ${this.loaded.decoding.beam_size} beams, as it is shipped: `;
      lines.push(html("span", {}, beam, html("span", { class: "shipped", lang: this.model.target }, shipped.text), same ? " (the same)" : ""));
    }
    if (done && right !== null) {
      const said = shipped?.text ?? text;
      lines.push(said === right ? "That is right: its series, computed exactly." : `That is wrong. Computed exactly, its series is ${right}`);
    }
    if (done) lines.push(`First token after ${number(first, 0)} ms, then ${number(rate, 0)} tokens per second.`);
    return panel(
      title,
      html("p", { class: "result", lang: this.model.target, "data-column": column }, text || "…"),
      html("div", { class: "steps", role: "group", "aria-label": "token by token" }, steps),
      ...lines.map((line) => html("p", { class: "note" }, line)),
    );
  }

  show_candidates() {
    const { column, step } = this.chosen;
    const translation = this.results[column]?.translation;
    const candidates = translation?.candidates[step];
    if (!candidates) {
      this.candidates.replaceChildren();
      return;
    }
    const said = translation.ids[step];
    const others = candidates.some(({ id }) => id === said)
      ? candidates
      : [{ id: said, token: translation.tokens[step], p: translation.probabilities[step] }, ...candidates.slice(0, -1)];
    const buttons = others.map(({ id, token, p }) => {
      const each = html(
        "button",
        { type: "button", class: "candidate", "aria-pressed": id === said },
        shown(token, p, id === said ? ", said" : ", say this instead"),
      );
      each.style.setProperty("--share", p);
      each.addEventListener("click", () => id !== said && this.force(column, step, id));
      return each;
    });
    const before = translation.tokens.slice(0, step).join(" ");
    this.candidates.replaceChildren(
      panel(
        `Step ${step + 1}: what may come ${before ? `after “${before}”` : "first"}`,
        html("div", { class: "steps", role: "group", "aria-label": "the most probable tokens" }, oneStop(buttons)),
        html("p", { class: "note" }, "Press another one to force it: the model goes on from there."),
      ),
    );
  }

  // --- the maps ---

  /** The names of the queries and of the keys of the kind of attention that is shown. */
  sides() {
    const { encoder, decoder } = this.read();
    const { kind } = this.chosen;
    return { queries: kind === "encoder" ? encoder : decoder, keys: kind === "decoder" ? decoder : encoder };
  }

  show_maps() {
    const result = this.results[this.chosen.column];
    const there = Boolean(result?.attention);
    // A number of the steps is asked for only once all is said.
    this.steps.element.hidden = !there;
    if (this.steps_of !== result?.attention) {
      this.steps_of = result?.attention;
      this.steps.renew(this.loaded?.config);
    }
    if (!there) {
      this.maps.replaceChildren();
      return;
    }
    const { kind } = this.chosen;
    const layers = result.attention[kind];
    const layer = Math.min(this.chosen.layer, layers.length - 1);
    const kinds = choice({
      label: "attention",
      options: KIND_NAMES,
      change: (value) => {
        Object.assign(this.chosen, { kind: value, layer: 0, query: 0 });
        this.show_maps();
      },
    });
    kinds.move(kind);
    const small = oneStop(
      layers.flatMap((maps, l) =>
        upTo(maps.H).map((head) => {
          const pressed = l === layer && head === this.chosen.head;
          const each = html("button", { type: "button", class: "small", "aria-pressed": pressed, "aria-label": `layer ${l + 1}, head ${head + 1}` }, thumbnail(maps, head));
          each.addEventListener("click", () => {
            Object.assign(this.chosen, { layer: l, head });
            this.show_maps();
            this.maps.querySelector('.small[aria-pressed="true"]').focus();
          });
          return each;
        }),
      ),
    );
    const rows = layers.map((maps, l) => html("div", { class: "layer" }, html("span", { class: "note" }, `layer ${l + 1}`), small.slice(l * maps.H, (l + 1) * maps.H)));
    const { queries, keys } = this.sides();
    const query = Math.min(this.chosen.query, queries.length - 1);
    const asks = choice({
      label: "query",
      options: queries.map((name, i) => [i, `${i + 1}: ${name}`]),
      change: (value) => {
        this.chosen.query = value;
        this.show_maps();
      },
    });
    asks.move(query);
    const maps = layers[layer];
    const { head } = this.chosen;
    const place = (head * maps.T + query) * maps.S;
    const name = `layer ${layer + 1}, head ${head + 1}`;
    this.maps.replaceChildren(
      panel(
        "All heads of all layers",
        html("div", { class: "controls" }, kinds.element),
        scrolling("the maps of all heads", rows),
      ),
      panel(
        `Enlarged: ${name}`,
        scrolling(`the map of ${name}`, enlarged(maps, head, queries, keys, query, name)),
        html("p", { class: "note" }, "A row is a query: who asks. Its cells are the keys: who is looked at. They sum to one."),
        html("div", { class: "controls" }, asks.element),
        scrolling(
          "scores and weights of this query",
          table({
            caption: `“${queries[query]}” asks`,
            columns: ["key", "score q·k/√d", "weight"],
            rows: keys.map((key, s) => [key, number(maps.scores[place + s], 2), number(maps.weights[place + s], 3)]),
          }),
        ),
      ),
    );
  }

  // --- the search ---

  /** The tree of beam search for this sentence, when the reader asks for it. */
  show_tree() {
    const { trained } = this.results;
    const ready = trained?.state === "done" && this.stop_button.hidden && !this.forced.length;
    const draw = button("Draw the tree of the search", () => this.draw_tree());
    this.tree.replaceChildren(
      ...(ready ? [panel("Beam search", html("p", { class: "note" }, "Several beginnings at once: what goes on, what is dropped, what ends."), draw)] : []),
    );
  }

  async draw_tree() {
    const { turn, changes } = this;
    const searches = [];
    const count = html("p", { class: "note", role: "status" }, "Searching.");
    const stop = button("Stop", () => this.client.cancel());
    this.tree.replaceChildren(panel("Beam search", count, stop));
    stop.focus();
    const wanted = [["", []], ...(changes.length ? [[", changed", changes]] : [])];
    for (const [name, these] of wanted) {
      const step = ({ beginnings }) => (count.textContent = `Searching: ${beginnings} beginnings seen.`);
      const { state, search, message } = await this.client.ask("beam", { text: this.text_read, changes: these }, step);
      if (turn !== this.turn) return;
      if (state !== "done") {
        count.textContent = state === "cancelled" ? "Stopped." : message;
        const again = button("Draw the tree of the search", () => this.draw_tree());
        stop.replaceWith(again);
        again.focus();
        return;
      }
      searches.push({ ...search, name: `${search.name}${name}` });
    }
    const { beam_size, length_penalty } = this.loaded.decoding;
    const start = { example: 0, beam_size: Math.min(4, Math.max(2, beam_size)), length_penalty, step: 1 };
    this.tree.replaceChildren(panel("Beam search", standalone(beamExplorer, { searches }, start)));
    this.tree.querySelector("button, select, input")?.focus();
  }

  // --- changing the model ---

  show_changes() {
    const { config } = this.loaded;
    const draft = (this.draft ??= { what: "head", kind: "cross", stack: "decoder", layer: 0, head: 0, query: 0, key: 0, amount: 0.5, scale: 1, temperature: 2 });
    const set = (name) => (value) => {
      draft[name] = value;
      this.show_changes();
      this.intervening.querySelector(`[data-field="${name}"] :is(select, input)`)?.focus();
    };
    const field = (name, label, options) => {
      const values = options.map(([value]) => value);
      if (!values.includes(draft[name])) draft[name] = values[0];
      return field_of(name, { label, options, value: draft[name], change: set(name) });
    };
    const count = (n) => upTo(n).map((i) => [i, String(i + 1)]);
    const what = field("what", "change", [
      ["head", "switch off a head"],
      ["average", "let a head look at everything alike"],
      ["weight", "add to one attention weight"],
      ["layer", "switch off a layer"],
      ["feed_forward", "switch off a feed-forward network"],
      ["residual", "cut the residual connections of a layer"],
      ["scale", "another scale of the scores"],
      ["temperature", "set a temperature"],
      ["causal", "let the decoder see the future"],
      ["positions", "take the positions away"],
    ]);
    const place = FIELDS[draft.what];
    const stack = place.includes("stack") ? draft.stack : STACKS[draft.kind];
    const fields = {
      kind: () => field("kind", "attention", KIND_NAMES),
      stack: () => field("stack", "stack", [["encoder", "encoder"], ["decoder", "decoder"]]),
      layer: () => field("layer", "layer", count(config[`n_${stack}_layers`])),
      head: () => field("head", "head", count(config.n_heads)),
      query: () => field("query", "query", count(20)),
      key: () => field("key", "key", count(20)),
      amount: () => field("amount", "add", [-1, -0.5, 0.25, 0.5, 1, 2].map((x) => [x, number(x, 2)])),
      sides: () => field("sides", "of", [["off", "source and translation"], ["source", "the source"], ["target", "the translation"]]),
      scale: () => field("scale", "factor", [0, 0.05, 0.5, 1, 2].map((x) => [x, number(x, 2)])),
      temperature: () => field("temperature", "temperature", [0.25, 0.5, 0.8, 1.5, 2, 5].map((x) => [x, number(x, 2)])),
    };
    const spec = () => {
      const parts = place.map((name) => draft[name]);
      return `${draft.what}:${parts.length ? parts.join(".") : "off"}`;
    };
    const add = button("Change it", () => {
      if (!this.changes.includes(spec())) this.changes.push(spec());
      this.changed();
    });
    const active = this.changes.map((change, i) => {
      const back = button("Take back", () => {
        this.changes.splice(i, 1);
        this.changed();
      });
      back.setAttribute("aria-label", `Take back: ${described(change)}`);
      return html("li", {}, `${described(change)} `, back);
    });
    this.intervening.replaceChildren(
      panel(
        "Change the model",
        html("div", { class: "controls" }, what, place.map((name) => fields[name]()), add),
        active.length
          ? html("ul", { class: "changes" }, active)
          : html("p", { class: "note" }, "Nothing is changed. The address of this page keeps what you change, so you can send it to others."),
      ),
    );
  }

  changed() {
    this.show_changes();
    this.forced = [];
    this.intervening.querySelector("button").focus();
    return this.run();
  }
}

// --- a notebook ----------------------------------------------------------------------------------

/** Asks Python, through the widget. Tables of numbers come as bytes beside the answer. */
class KernelClient extends Asking {
  constructor(model) {
    super(`${uniqueId()}-`); // a notebook may show the widget twice
    this.model = model;
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

// --- drawing -------------------------------------------------------------------------------------

/** A map of one head as a small picture: one pixel for each weight. */
function thumbnail({ T, S, weights }, head) {
  const canvas = html("canvas", { width: S, height: T, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(S, T);
  for (let i = 0; i < T * S; i += 1) {
    // Black with this opacity; the style sheet inverts it on dark paper.
    image.data[4 * i + 3] = Math.round(255 * Math.min(1, weights[head * T * S + i]));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

const CELL = 20;
const LETTER = 7.5;

/** The same map large, with the tokens beside it. */
function enlarged({ T, S, weights }, head, queries, keys, query, name) {
  const longest = (names) => Math.min(18, Math.max(...names.map((each) => each.length)));
  const short = (text) => (text.length > 18 ? `${text.slice(0, 17)}…` : text);
  const [left, top] = [longest(queries) * LETTER + 10, longest(keys) * LETTER + 10];
  const [width, height] = [left + S * CELL + 4, top + T * CELL + 4];
  const at = (t, s) => weights[(head * T + t) * S + s];
  const row = upTo(S).map((s) => at(query, s));
  const strongest = row.indexOf(Math.max(...row));
  const drawing = svg("svg", {
    class: "large",
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `${name}: ${T} queries, ${S} keys. “${queries[query]}” looks most at “${keys[strongest]}”, weight ${number(row[strongest], 2)}.`,
  });
  drawing.style.width = `${width}px`;
  drawing.append(
    ...queries.map((each, t) => svg("text", { x: left - 6, y: top + (t + 0.7) * CELL, "text-anchor": "end", class: t === query ? "chosen" : "" }, short(each))),
    ...keys.map((each, s) => svg("text", { transform: `translate(${left + (s + 0.7) * CELL} ${top - 6}) rotate(-90)` }, short(each))),
    svg("rect", { class: "sheet", x: left, y: top, width: S * CELL, height: T * CELL }),
  );
  for (let t = 0; t < T; t += 1) {
    for (let s = 0; s < S; s += 1) {
      const opacity = Math.min(1, at(t, s)).toFixed(3);
      if (at(t, s) >= 0.005) drawing.append(svg("rect", { class: "weight", x: left + s * CELL, y: top + t * CELL, width: CELL, height: CELL, "fill-opacity": opacity }));
    }
  }
  drawing.append(svg("rect", { class: "asked", x: left, y: top + query * CELL, width: S * CELL, height: CELL }));
  return drawing;
}
