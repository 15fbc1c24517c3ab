// The bench: the reader sets a model, watches it learn, and breaks it.

import { button, choice, html, number, panel, table, uniqueId, upTo } from "../model/widgets/shared.js";
import { swap } from "../model/widgets/talk_look.js";
import { controls, question } from "./controls.js";
import { drawn, scattered, thinned } from "./curves.js";
import { folder_of, only_here, recipe_toml, zipped } from "./export.js";
import { opened, settings_of } from "./files.js";
import { Lane } from "./lane.js";
import { keep, keep_model, kept } from "./kept.js";
import { KINDS, compared, head_map } from "./looks.js";
import { SETTINGS, START, address_of, differences, problem_of, read_address, shown } from "./settings.js";
import { prepare } from "./tasks.js";

const NAMES = ["A", "B"];
const SUMMARY = 10_000; // ms between two sentences for a screen reader
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const MOST_STEPS = 12; // of the embeddings' way that are drawn
const MOST_CURVES = 4; // that are kept

/** A loss, or a length, of any size: "0.123", "1.4e+20"; below `least` as a power, too. */
const sized = (n, least = 0) => (n === 0 || (n >= least && n < 10_000) ? number(n, 3) : n.toExponential(1).replace("-", "−"));
const percent = (share) => `${Math.round(100 * share)} %`;
const seconds = (ms) => (ms < 1000 ? `${number(ms, 0)} ms` : ms < 120_000 ? `${number(ms / 1000, ms < 10_000 ? 1 : 0)} s` : `${number(ms / 60_000, 0)} minutes`);
const grouped = (n) => n.toLocaleString("en");

/** Put a file into the reader's downloads. */
function hand_over(blob, name) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export class Bench {
  constructor({ settings, problems, recorded, remember }) {
    Object.assign(this, { recorded, remember, curves: [], chosen: 0, look: { kind: "cross", layer: 0, head: 0 } });
    this.lanes = settings.map((each, i) => this.lane(i, each));
    const before = Object.entries(kept().curves).filter(([, curve]) => curve).sort(([a], [b]) => a - b);
    for (const [at, { name, measured }] of before.slice(-MOST_CURVES)) this.place_curve({ at: Number(at), name, loss: [], measured });
    this.build();
    if (problems.length) this.notice.textContent = problems.join(" ");
    this.draw();
    this.estimate();
  }

  lane(i, settings) {
    return new Lane(NAMES[i], settings, (is, told) => this.heard(this.lanes[i], is, told));
  }

  /** The setting that the controls change. */
  get now() {
    return this.lanes[this.chosen];
  }

  // --- what stands on the page -------------------------------------------------------------------

  build() {
    const group = (label, ...parts) => html("div", { class: "controls", role: "group", "aria-label": label }, parts);
    this.notice = html("p", { class: "notice", role: "alert" });
    this.status = html("p", { class: "status", role: "status", "aria-live": "polite" });
    this.go = button("Train", () => this.each(this.lanes.some(({ state }) => state === "running") ? "pause" : "train"));
    this.go.className = "first";
    this.one = button("One update", () => this.each("step"));
    this.fresh = button("New run", () => this.each("begin"));
    this.returns = html("select", { "aria-label": "a kept state", "data-at": "kept" });
    this.return = button("Back", () => this.go_back());
    this.keep = button("Keep this state", () => this.now.post("keep"));
    this.beside = button("Set a second one beside it", () => this.second());
    this.whose = html("div", { class: "controls whose", role: "group", "aria-label": "which setting the controls change" });
    this.controls = controls((name, value) => this.set(name, value));
    this.asked = html("div", { class: "asked-first" });
    this.size = html("p", { class: "size" });
    this.told = html("div", { class: "told" });
    this.drawings = html("div", { class: "drawings" });
    this.legend = html("ul", { class: "legend" });
    this.name = html("input", { type: "text", maxlength: 40, "aria-label": "a name for this curve", placeholder: "a name" });
    this.answers = html("div", { class: "answers" });
    this.norms = html("div", { class: "norms" });
    this.attention = html("div", { class: "attention" });
    this.lying = html("div");
    this.heads = html("div", { class: "controls" });
    const file = html("input", { type: "file", accept: ".zip,.safetensors,.json", multiple: "", class: "file", id: uniqueId() });
    file.addEventListener("change", () => file.files.length && this.load(file.files).finally(() => (file.value = "")));
    this.element = html(
      "section",
      { class: "explorer bench", "aria-label": "The bench: train a Transformer" },
      this.notice,
      html(
        "div",
        { class: "panes" },
        html("div", { class: "set-pane" }, this.whose, this.controls.element, group("a second setting", this.beside)),
        html(
          "div",
          { class: "run-pane" },
          this.asked,
          this.size,
          group("the run", this.go, this.one, this.fresh),
          this.told,
          this.drawings,
          this.legend,
          group("curves to compare", this.name, button("Keep this curve", () => this.keep_curve())),
          group("states to go back to", this.keep, this.returns, this.return),
          panel("What it says", this.answers),
          panel("How long the gradient of each part is", this.norms),
          panel("How its embeddings lie", this.lying),
          panel("Where it looks", this.heads, this.attention),
          group(
            "files",
            button("Save as a recipe", () => this.save_recipe()),
            button("Save the model", () => this.hand_model((file) => hand_over(file, "bench-model.zip"))),
            button("Talk to the model", () => this.talk()),
            html("span", { class: "control" }, html("label", { for: file.id }, "open a run:"), file),
          ),
        ),
      ),
      this.status,
    );
    this.controls.move(this.now.settings);
    this.choose_head();
    setInterval(() => this.lanes.some(({ state }) => state === "running") && this.say(), SUMMARY);
  }

  /** Do the same with every setting. */
  each(act) {
    const problem = this.lanes.map(({ settings }) => problem_of(settings)).find((each) => each);
    this.notice.textContent = problem ?? "";
    if (problem && act !== "pause") return;
    for (const lane of this.lanes) lane[act]();
    this.draw();
    if (act !== "step") this.say();
  }

  set(name, value) {
    const { now } = this;
    const { fresh, label } = SETTINGS[name];
    if (name === "n_heads" && now.settings.d_model % value) return;
    const before = now.settings[name];
    now.set(name, value, fresh, `${label}: ${shown(name, value)}`);
    this.notice.textContent = problem_of(now.settings);
    this.remember(this.lanes.map(({ settings }) => settings));
    this.controls.move(now.settings);
    const asks = (!fresh || name === "initialization") && value !== before && !["updates", "batch_size"].includes(name);
    if (asks) {
      const at = Date.now();
      const guessed = (guess) => {
        now.guess = { at, settings: address_of([now.settings]), switched: `${label}: ${shown(name, value)}`, guess, outcome: "", from: fresh ? 0 : now.update };
        this.keep_guess(now);
        this.draw();
      };
      const earlier = Object.values(kept().guesses).findLast(({ switched, outcome }) => outcome && switched === `${label}: ${shown(name, value)}`);
      swap(this.asked, [question(name, value, guessed, earlier)]);
    }
    if (name === "n_heads") this.choose_head();
    this.draw();
    this.estimate();
  }

  /** A second setting beside the first, or none. */
  second() {
    if (this.lanes.length > 1) this.lanes.pop().end();
    else {
      this.lanes.push(this.lane(1, { ...this.lanes[0].settings }));
      if (this.lanes[0].running) this.each("begin"); // both from the beginning
    }
    this.choose(this.lanes.length - 1);
    this.remember(this.lanes.map(({ settings }) => settings));
  }

  choose(i) {
    this.chosen = i;
    this.controls.move(this.now.settings);
    this.asked.replaceChildren();
    this.choose_head();
    this.draw();
    this.estimate();
  }

  /** How long it would take, asked when the reader pauses: it takes the worker's time. */
  estimate() {
    clearTimeout(this.later);
    const lane = this.now;
    Object.assign(lane, { estimate: null, refused: "" });
    if (lane.state === "running" || problem_of(lane.settings)) return;
    this.later = setTimeout(() => lane.state !== "running" && lane.post("estimate", { settings: lane.settings }), 400);
  }

  go_back() {
    const { now } = this;
    if (!now.kept.length) return;
    if (now.records.length) this.keep_curve(`${now.name} to update ${now.update}`);
    now.post("back", { update: Number(this.returns.value) });
  }

  // --- what the workers tell ---------------------------------------------------------------------

  heard(lane, is, told) {
    if (is === "failed") this.notice.textContent = lane.message;
    if (is === "returned") {
      this.controls.move(this.now.settings);
      this.remember(this.lanes.map(({ settings }) => settings));
    }
    if (is === "weights") this.pack(lane, told);
    if (is === "stopped") this.keep_guess(lane);
    if (["stopped", "returned", "opened"].includes(is) && !this.now.estimate && !this.now.refused) this.estimate();
    if (is === "stopped" || is === "failed" || is === "returned") this.say();
    this.draw_soon();
  }

  draw_soon() {
    this.due ??= setTimeout(() => {
      this.due = null;
      this.draw();
    }, CALM.matches ? 1500 : 250);
  }

  /** One sentence about each run, for who listens. */
  sentence(lane) {
    const { state, update, running, seen, records, message } = lane;
    const which = this.lanes.length > 1 ? `Setting ${lane.name}: ` : "";
    if (!running) return message ? `${which}${message}` : `${which}No run yet.`;
    const head = {
      running: `update ${update} of ${running.updates}`,
      paused: `paused after update ${update} of ${running.updates}`,
      finished: `finished after ${update} updates`,
      broken: `stopped after update ${update}. ${message} The last good state is kept: choose it and press Back`,
    }[state];
    const measured = seen.at(-1);
    const loss = records.length ? ` Training loss ${sized(records.at(-1).loss)}.` : "";
    const valid = measured ? ` On pairs that it never sees: loss ${sized(measured.validation_loss)}, ${percent(measured.exact_match)} exactly right.` : "";
    const text = `${which}${head}.${loss}${valid}`;
    return text[0].toUpperCase() + text.slice(1);
  }

  say() {
    this.status.textContent = this.lanes.map((lane) => this.sentence(lane)).join(" ");
  }

  // --- drawing -----------------------------------------------------------------------------------

  draw() {
    const { now } = this;
    const running = this.lanes.some(({ state }) => state === "running");
    this.element.toggleAttribute("data-running", running);
    this.go.textContent = running ? "Pause" : this.lanes.some(({ update }) => update) ? "Go on" : "Train";
    const over = this.lanes.every(({ running: run, state }) => run && (state === "finished" || state === "broken"));
    this.go.disabled = over;
    this.one.disabled = running || over;
    this.beside.textContent = this.lanes.length > 1 ? "Take the second setting away" : "Set a second one beside it";
    this.keep.disabled = !now.running;
    this.return.disabled = this.returns.disabled = !now.kept.length;
    const options = now.kept.map(({ why, update }) => html("option", { value: update }, `update ${update}, ${why === "good" ? "the last good one" : why}`));
    if (this.kept_shown !== JSON.stringify(now.kept)) {
      const { value } = this.returns;
      this.returns.replaceChildren(...options);
      this.returns.value = now.kept.some(({ update }) => String(update) === value) ? value : String(now.kept.at(-1)?.update ?? "");
      this.kept_shown = JSON.stringify(now.kept);
    }
    this.draw_whose();
    this.draw_size();
    this.draw_told();
    this.draw_curves();
    this.draw_answers();
    this.draw_norms();
    this.draw_attention();
    this.draw_lying();
  }

  draw_whose() {
    this.whose.hidden = this.lanes.length < 2;
    if (this.whose.hidden) return;
    const buttons = this.lanes.map((lane, i) => {
      const one = button(`Setting ${lane.name}`, () => this.choose(i));
      one.setAttribute("aria-pressed", i === this.chosen);
      one.dataset.at = lane.name;
      return one;
    });
    const other = differences(this.lanes[1].settings, this.lanes[0].settings);
    swap(this.whose, [...buttons, html("p", { class: "note" }, other.length ? `B differs: ${other.join("; ")}.` : "B is as A: change something in it.")]);
  }

  draw_size() {
    const { settings, estimate, refused, pace, pending, update, running } = this.now;
    const parts = [];
    if (pending) parts.push("You have changed something that takes a new run: press New run.");
    if (pace) parts.push(`${seconds(pace)} an update; ${seconds(pace * (running.updates - update))} are left.`);
    else if (estimate) {
      parts.push(`${grouped(estimate.parameters)} parameters. About ${seconds(1000 * estimate.seconds)} an update here, so ${seconds(1000 * estimate.seconds * settings.updates * this.lanes.length)} for ${grouped(settings.updates)} updates.`);
    }
    else if (refused) parts.push(refused);
    this.size.textContent = parts.join(" ") || (problem_of(settings) ? "" : "The time of an update is being measured.");
  }

  draw_told() {
    const lines = this.lanes.map((lane) => html("p", { class: lane.state === "broken" ? "notice" : "" }, this.sentence(lane)));
    for (const lane of this.lanes) {
      const { guess } = lane;
      if (!guess) continue;
      const ends = lane.state === "running" || !guess.outcome ? "Let it train, and see." : `What came: ${guess.outcome}`;
      lines.push(html("p", { class: "guess" }, `You said of “${guess.switched}”: ${guess.guess} ${ends}`));
    }
    swap(this.told, lines);
  }

  /** Remember what was guessed, and what came, once the run stands. */
  keep_guess(lane) {
    const { guess, state, update } = lane;
    if (!guess) return;
    if (state !== "running" && !lane.pending && lane.seen.length && update > guess.from) guess.outcome = this.outcome(lane);
    const { at, from, ...rest } = guess;
    keep("guesses", at, rest);
  }

  /** What has become of a run, in numbers, beside the recorded one without any change. */
  outcome(lane) {
    const last = lane.seen.at(-1);
    const { points = [] } = this.recording(lane, { ...START, ...this.sizes(lane) }) ?? {};
    const other = points.filter(([update]) => update <= lane.update).at(-1);
    const beside = other ? ` Unchanged, the recorded run has ${number(other[1], 3)} there, ${percent(other[2])} right.` : "";
    return `after update ${lane.update}, validation loss ${sized(last.validation_loss)}, ${percent(last.exact_match)} exactly right.${beside}`;
  }

  sizes({ settings }) {
    return Object.fromEntries(Object.keys(SETTINGS).filter((name) => SETTINGS[name].fresh && name !== "initialization").map((name) => [name, settings[name]]));
  }

  /** The run of PyTorch with these settings, if there is one: {points: [[update, loss, share right], …]}. */
  recording(lane, settings = lane.running ?? lane.settings) {
    const heeded = (name) => name !== "seed";
    return this.recorded.find((each) => Object.keys(SETTINGS).filter(heeded).every((name) => ({ ...START, ...each.settings })[name] === settings[name]));
  }

  /** Every curve that is to be seen: {name, look, loss, measured, most}. */
  all_curves() {
    const of_runs = this.lanes.map((lane, i) => ({
      name: this.lanes.length > 1 ? `setting ${lane.name}` : "this run",
      look: `lane-${i}`,
      loss: thinned(lane.records.map(({ update, loss }) => [update, loss])),
      measured: lane.seen.map(({ update, validation_loss, exact_match }) => [update, validation_loss, exact_match]),
    }));
    const recordings = [...new Set(this.lanes.map((lane) => this.recording(lane)).filter((each) => each))].map(({ points }) => ({
      name: "PyTorch, the same recipe (recorded)",
      look: "recorded",
      loss: [],
      measured: points,
    }));
    return [...recordings, ...this.curves, ...of_runs];
  }

  draw_curves() {
    const all = this.all_curves();
    const updates = Math.max(1, ...this.lanes.map(({ running, settings }) => (running ?? settings).updates));
    const marks = this.lanes.flatMap(({ switched }) => switched.map(([update]) => update));
    const first = all.flatMap(({ loss, measured }) => [loss[0]?.[1], measured[0]?.[1]]).filter(Number.isFinite);
    const most = Math.max(1, ...first) * 1.15;
    const last = (lane) => lane.seen.at(-1);
    const told = (what) => this.lanes.filter(last).map((lane) => `${lane.name}: ${what(last(lane))} after ${lane.update} updates`).join("; ") || "no run yet";
    const loss = drawn({
      ...{ updates, marks, most, digits: most > 4 ? 0 : 1 },
      curves: all.flatMap((each) => [
        { points: each.loss, look: `${each.look} thin` },
        { points: each.measured.map(([update, value]) => [update, value]), look: each.look, dots: true },
      ]),
      label: `Curves of the loss. Validation: ${told((seen) => sized(seen.validation_loss))}`,
    });
    const right = drawn({
      ...{ updates, marks, most: 100, unit: " %", digits: 0 },
      curves: all.map((each) => ({ points: each.measured.map(([update, , share]) => [update, 100 * share]), look: each.look, dots: true })),
      label: `Curves of the share that is exactly right. ${told((seen) => percent(seen.exact_match))}`,
    });
    const figure = (title, drawing) => html("div", { class: "panel" }, html("p", { class: "title" }, title), drawing);
    this.drawings.replaceChildren(
      figure("Loss, in nats: thin in training, with dots on validation pairs", loss),
      figure("Exactly right, of validation pairs", right),
    );
    const entries = all.map(({ name, look }, n) => {
      const entry = html("li", {}, html("span", { class: `key ${look}`, "aria-hidden": "true" }), name);
      const kept = this.curves.findIndex((each) => each === all[n]);
      if (kept >= 0) {
        const away = button("Remove", () => {
          const [gone] = this.curves.splice(kept, 1);
          keep("curves", gone.at, null);
          this.draw();
        });
        away.setAttribute("aria-label", `Remove ${name}`);
        away.dataset.at = `curve ${kept}`;
        entry.append(" ", away);
      }
      return entry;
    });
    swap(this.legend, entries, this.name);
  }

  /** Keep the curve of the chosen setting, as it is now, under a name. */
  keep_curve(name = this.name.value.trim()) {
    const { now } = this;
    if (!now.records.length) return;
    const own = this.all_curves().find(({ look }) => look === `lane-${this.chosen}`);
    const fitting = (all, each) => (all.length + each.length > 80 ? all : `${all}; ${each}`); // none is cut
    const differs = differences(now.running);
    const says = name || (differs.length ? differs.reduce(fitting) : `run ${this.curves.length + 1}`);
    const at = Date.now();
    this.place_curve({ ...own, name: says, at });
    const measured = own.measured.filter((point) => point.every(Number.isFinite)).map((point) => point.map((each) => Number(each.toFixed(4))));
    keep("curves", at, { name: says, settings: address_of([now.running]), measured });
    this.name.value = "";
    this.draw();
  }

  /** A curve among those that are kept; the oldest one makes room. */
  place_curve(curve) {
    if (this.curves.length === MOST_CURVES) this.curves.shift();
    const free = upTo(MOST_CURVES).find((i) => this.curves.every(({ look }) => look !== `kept-${i}`));
    this.curves.push({ ...curve, look: `kept-${free}` });
  }

  draw_answers() {
    const lanes = this.lanes.filter(({ seen }) => seen.length);
    if (!lanes.length) {
      this.answers.replaceChildren(html("p", { class: "note" }, "Four sources that training never uses, and what the model makes of them, stand here once there is a run."));
      return;
    }
    const { sentences } = lanes[0].seen.at(-1);
    const rows = sentences.map(({ source, target }, i) => [
      source.join(" "),
      target.join(" "),
      ...lanes.map((lane) => compared(lane.seen.at(-1).sentences[i]?.said ?? [], target)),
    ]);
    const columns = ["source", "right", ...lanes.map(({ name }) => (lanes.length > 1 ? `${name} says` : "it says"))];
    this.answers.replaceChildren(table({ caption: `After update ${lanes[0].seen.at(-1).update}; wrong symbols are underlined`, columns, rows }));
  }

  draw_norms() {
    const { records } = this.now;
    if (!records.length) {
      this.norms.replaceChildren(html("p", { class: "note" }, "Bars stand here after the first update: a part whose gradient is near zero does not learn."));
      return;
    }
    const { norms, update } = records.at(-1);
    // A bar is as long as the logarithm says: a hundredth of the way for a factor of 1.1.
    const share = (norm) => Math.min(1, Math.max(0, (Math.log10(norm + 1e-12) + 5) / 7));
    const bar = (norm) => html("span", { class: "bar", style: `--share: ${number(100 * share(norm), 1)}%` });
    const rows = Object.entries(norms).map(([place, norm]) => [place, sized(norm, 0.001), bar(norm)]);
    this.norms.replaceChildren(table({ caption: `Update ${update}, before clipping; the bars are logarithmic, from 0.00001 to 100`, columns: ["", "length", ""], rows }));
  }

  draw_lying() {
    const pictures = this.now.seen.slice(-MOST_STEPS).map(({ embeddings }) => embeddings);
    if (!pictures.length) {
      this.lying.replaceChildren(html("p", { class: "note" }, "The embeddings of the target's tokens stand here once there is a run."));
      return;
    }
    const note = `The vectors of tokens, in the two directions in which they differ most: these hold ${percent(pictures.at(-1).share)} of their variance. A line shows where each has come from.`;
    this.lying.replaceChildren(html("p", { class: "note" }, note), scattered(pictures));
  }

  choose_head() {
    const { layers, n_heads } = this.now.running ?? this.now.settings;
    Object.assign(this.look, { layer: Math.min(this.look.layer, layers - 1), head: Math.min(this.look.head, n_heads - 1) });
    const of = (what, label, options) => {
      const made = choice({
        label,
        options,
        change: (value) => {
          this.look[what] = value;
          this.draw_attention();
        },
      });
      made.move(this.look[what]);
      return made.element;
    };
    this.heads.replaceChildren(
      of("kind", "attention", Object.entries(KINDS).map(([kind, [words]]) => [kind, words])),
      of("layer", "layer", upTo(layers).map((i) => [i, String(i + 1)])),
      of("head", "head", upTo(n_heads).map((i) => [i, String(i + 1)])),
    );
  }

  draw_attention() {
    const maps = this.now.seen.at(-1)?.maps;
    const [words, pattern, asks, offers] = KINDS[this.look.kind];
    const name = maps && Object.keys(maps.found).find((each) => Number(each.match(pattern)?.[1] ?? -1) === this.look.layer);
    if (!name) {
      this.attention.replaceChildren(html("p", { class: "note" }, "A map of one head's weights stands here once there is a run."));
      return;
    }
    const { shape, weights } = maps.found[name];
    const [, T, S] = shape;
    const [rows, columns] = [maps[asks].slice(0, T), maps[offers].slice(0, S)];
    const value = (t, s) => weights[(Math.min(this.look.head, shape[0] - 1) * T + t) * S + s];
    const title = `${words}, layer ${this.look.layer + 1}, head ${this.look.head + 1}`;
    const { drawing, readout } = head_map({ title, rows, columns, value });
    const note = html("p", { class: "note" }, `For the first source above, after update ${this.now.seen.at(-1).update}: a row is the symbol that looks, a full cell a weight of 1.`);
    this.attention.replaceChildren(note, drawing, readout);
  }

  // --- files -------------------------------------------------------------------------------------

  async save_recipe() {
    const settings = this.now.running ?? this.now.settings;
    const has_not = only_here(settings);
    this.notice.textContent = has_not.length ? `The package has no ${has_not.join(", and no ")}: there is no recipe for this run.` : "";
    await prepare(settings);
    if (!has_not.length) hand_over(new Blob([recipe_toml(settings)], { type: "text/plain" }), "recipe.toml");
  }

  /** Give `take` the file of the model as it is now. Returns whether there will be one. */
  hand_model(take) {
    const { running } = this.now;
    const has_not = running ? only_here(running).filter((each) => /mask|norm/.test(each)) : [];
    this.notice.textContent = running ? "" : "There is no model yet: press Train first.";
    if (has_not.length) this.notice.textContent = `The package has no ${has_not.join(", and no ")}: it could not open this model.`;
    if (this.notice.textContent) return false;
    this.now.take = take;
    this.now.post("weights");
    return true;
  }

  async pack(lane, { config, state }) {
    const { take } = lane;
    await prepare(lane.running);
    take(zipped(folder_of({ settings: lane.running, config, state })));
  }

  /** Open the model in a tab of “Talk to the model”: the browser keeps it, in the place of that of before. */
  talk() {
    let tab = null;
    const cannot = (why) => (this.notice.textContent = `Your browser ${why} for this page: allow it, or save the model and open the file in Talk to the model.`);
    const take = (file) =>
      keep_model(file).then(
        () => tab && (tab.location = new URL("talk.html#bench", location.href).href),
        () => {
          tab?.close();
          cannot("keeps no files");
        },
      );
    // The tab is opened at once: later the browser would block it.
    if (this.hand_model(take) && !(tab = open("about:blank"))) cannot("opens no tab");
  }

  /** Go on with the run that files hold: the ZIP file of its folder, a checkpoint's files, or weights alone. */
  async load(chosen) {
    this.notice.textContent = "";
    try {
      const files = await opened(chosen);
      this.now.settings = settings_of(files, this.now.settings);
      this.now.begin(files);
    } catch (error) {
      this.notice.textContent = error.constructor === Error ? error.message : "The files could not be read: choose them again.";
    }
    this.controls.move(this.now.settings);
    this.remember(this.lanes.map(({ settings }) => settings));
    this.choose_head();
    this.draw();
  }
}

export async function start(here) {
  const recorded = await fetch(new URL("recorded.json", here)).then((answer) => (answer.ok ? answer.json() : []), () => []);
  for (const place of document.querySelectorAll(".bench-place")) {
    const { go, ...given } = read_address(location.search);
    const remember = (settings) => history.replaceState(null, "", `?${address_of(settings)}${location.hash}`);
    const bench = new Bench({ ...given, recorded, remember });
    place.replaceChildren(bench.element);
    if (go) bench.each("train");
  }
}
