// The diagnosis gym: a recorded run of a damaged model, and the question what is wrong with it.

import { drawn } from "../bench/curves.js";
import { KINDS, compared, head_map } from "../bench/looks.js";
import { button, html, number, panel, table, uniqueId } from "../model/widgets/shared.js";
import { scrolling } from "../model/widgets/talk_steps.js";
import { level_of, next_question, options_of, questions, solved } from "./cases.js";

const DAMAGED = "The recorded runs cannot be read, so there is nothing to ask: reload the page, and if that does not help, the site is not whole.";
const TALK = "model=captions-de-en&text=Ein+Student+mit+einem+blauen+Hut+schl%C3%A4ft.&change=";
const WINDOW = 10; // updates for each number of the training loss
const UPDATES = 400;
const LOOKS = { curves: "The curves", answers: "The answers", attention: "The attention", gradients: "The gradients" };
const [AGAIN, HARD, GOOD] = [1, 2, 3];

// --- four looks at a run ---------------------------------------------------------------------------

const finite = (points) => points.filter(([, value]) => Number.isFinite(value));

function curves(run) {
  const train = finite(run.train.map((loss, i) => [(i + 1) * WINDOW, loss]));
  const validation = finite(run.validation);
  const losses = [...train, ...validation].map(([, loss]) => loss);
  const most = Math.min(6, Math.max(0.5, ...losses));
  const told = (points) => points.filter((_, i) => i % Math.ceil(points.length / 8) === 0 || i === points.length - 1).map(([update, loss]) => `${number(loss, 2)} after ${update}`).join(", ");
  const cut = (points) => points.map(([update, loss]) => [update, Math.max(loss, -0.04 * most)]);
  const label = `Curves of the loss over ${UPDATES} updates. Training: ${told(train)}. Validation: ${told(validation)}.`;
  const both = [{ points: cut(train), look: "lane-0" }, { points: cut(validation), look: "lane-1", dots: true }];
  const key = (look, text) => html("li", {}, html("span", { class: `key ${look}`, "aria-hidden": "true" }), text);
  const notes = [];
  if (run.train.length * WINDOW < UPDATES) notes.push(`It stopped after update ${run.train.length * WINDOW}: the loss was not a number.`);
  if (losses.some((loss) => loss < 0)) notes.push(`The training loss falls below zero, to ${number(Math.min(...losses), 1)}.`);
  if (losses.some((loss) => loss > most)) notes.push(`What is above ${most} is cut off; the highest is ${number(Math.max(...losses), 1)}.`);
  return [
    drawn({ curves: both, updates: UPDATES, most, digits: most > 2 ? 0 : 1, label }),
    html("ul", { class: "legend" }, key("lane-0", "training"), key("lane-1", "validation")),
    notes.length ? html("p", { class: "note" }, notes.join(" ")) : "",
  ];
}

function answers(run) {
  const updates = Object.keys(run.answers);
  if (!updates.length) return [html("p", { class: "note" }, "It has no answers: the numbers of the model are no numbers any more.")];
  const rows = run.sources.map((source, i) => [source, run.targets[i], ...updates.map((update) => compared(run.answers[update][i].split(" "), run.targets[i].split(" ")))]);
  return [scrolling("answers", ...table({ caption: "What it answers after so many updates, to sources that are not in its training data; wrong symbols are underlined", columns: ["source", "right", ...updates], rows }).children)];
}

function attention(run) {
  if (!run.maps) return [html("p", { class: "note" }, "It has no maps: the numbers of the model are no numbers any more.")];
  const drawings = Object.entries(KINDS).flatMap(([kind, [words, , asks, offers]]) =>
    run.maps[kind].map((weights, head) => {
      const title = `${words}, head ${head + 1}`;
      const { drawing, readout } = head_map({ title, rows: run.maps[asks], columns: run.maps[offers], value: (t, s) => weights[t][s] / 100 });
      return html("div", { class: "map" }, html("p", { class: "note" }, title), drawing, readout);
    }),
  );
  return [html("div", { class: "maps" }, drawings)];
}

const PARTS = {
  source_embedding: "embedding of the source",
  target_embedding: "embedding of the target",
  "encoder self_attention": "encoder, attention",
  "encoder feed_forward": "encoder, feed-forward",
  "decoder self_attention": "decoder, attention to itself",
  "decoder cross_attention": "decoder, attention to the source",
  "decoder feed_forward": "decoder, feed-forward",
  norms: "layer norms",
  output: "output",
};

function gradients(run) {
  const updates = Object.keys(run.norms);
  const digits = (norm) => (norm === null ? "—" : norm >= 0.001 || norm === 0 ? String(norm) : norm.toExponential(0).replace("-", "−"));
  const rows = Object.entries(PARTS).map(([part, words]) => [words, ...updates.map((update) => digits(run.norms[update][part] ?? null))]);
  return [scrolling("gradients", ...table({ caption: "How long the gradient of each part is, at update", columns: ["", ...updates], rows }).children)];
}

const DRAW = { curves, answers, attention, gradients };

// --- the page --------------------------------------------------------------------------------------

class Gym {
  constructor(data) {
    this.data = data;
    this.all = questions(data);
    this.count = html("p", { class: "count" });
    this.told = html("p", { class: "told", role: "status", "aria-live": "polite", tabindex: -1 });
    this.place = html("div");
    this.element = html("section", { class: "explorer bench gym", "aria-label": "The diagnosis gym" }, this.count, this.place);
    window.bookMemory.listen(() => this.draw_count());
  }

  get answers() {
    return window.bookMemory.state().answers;
  }

  draw_count() {
    const { solved: done, at_once } = solved(this.answers);
    const problem = window.bookMemory.problem();
    const text = `Level ${level_of(this.answers)} of 3. ${done} of ${Object.keys(this.data.runs).length} cases are solved, ${at_once} of them at once.`;
    this.count.textContent = problem ? `${text} ${problem}` : text;
  }

  run(fault) {
    return this.data.runs[`${fault}-${this.question.task}`];
  }

  says(fault) {
    return this.data.faults[fault].says;
  }

  /** Show a question, from the beginning. */
  ask(question, focus = false) {
    Object.assign(this, { question, wrong: 0 });
    history.replaceState(null, "", `?case=${question.fault}-${question.task}&level=${question.level}`);
    const task = question.task === "copy" ? "copy: abc → abc" : "reverse: abc → cba";
    const name = uniqueId();
    this.options = options_of(question).map((option) => {
      const input = html("input", { type: "radio", name, id: uniqueId(), value: option.shown });
      const element = html("div", { class: "option" }, input, html("label", { for: input.id }, this.says(option.shown)));
      return { ...option, input, element };
    });
    this.send = html("button", { class: "first" }, "Answer");
    this.form = html("form", {}, html("fieldset", {}, html("legend", {}, "What is wrong?"), this.options.map(({ element }) => element)), this.send);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.answer(this.options.find(({ input }) => input.checked));
    });
    this.looks = html("div", { class: "looks" });
    this.end = html("div", { class: "end" });
    const seen = this.answers[question.id]?.at(-1);
    this.told.textContent = seen ? `You have had this case before, and ${seen[1] === GOOD ? "were right at once" : "did not see it at once"}.` : "";
    const heading = html("p", { class: "title", tabindex: -1 }, `A model that learns to ${task}`);
    const evidence = question.group.first.map((look) => panel(LOOKS[look], ...DRAW[look](this.run(question.fault))));
    this.place.replaceChildren(heading, html("div", { class: "evidence" }, evidence), this.form, this.told, this.looks, this.end);
    this.draw_count();
    if (focus) heading.focus();
  }

  answer(option) {
    if (!option) {
      this.told.textContent = "Choose an answer first.";
      return;
    }
    const { id, fault } = this.question;
    if (option.fault === fault) {
      const problem = window.bookMemory.answer(id, this.wrong ? HARD : GOOD, option.shown);
      this.finish(option, problem);
      return;
    }
    const problem = this.wrong ? "" : window.bookMemory.answer(id, AGAIN, option.shown);
    this.wrong += 1;
    option.input.checked = false;
    option.input.disabled = true;
    option.element.classList.add("is-wrong");
    this.told.textContent = `Not this: “${this.says(option.shown)}”. Which look would tell this run from one with that fault? ${problem}`;
    this.offer(option.shown);
    this.told.focus();
  }

  /** The looks at this run and at one with the fault that was named. */
  offer(named) {
    const { fault, group } = this.question;
    const gaps = group.gaps[[fault, named].sort().join("|")];
    const seen = html("div", { class: "seen" });
    const buttons = Object.keys(LOOKS).map((look, i) => {
      const one = button(LOOKS[look], () => {
        for (const each of buttons) each.setAttribute("aria-pressed", each === one);
        const apart = gaps[i] > 1;
        const says = apart
          ? `This tells them apart: any two runs differ by at least ${number(gaps[i], 1)} times what two seeds of one fault do. Look again, and answer.`
          : "By this look nobody could tell the two: two seeds of one fault differ as much. Try another look.";
        const side = (title, run) => panel(title, ...DRAW[look](run));
        seen.replaceChildren(html("div", { class: "sides" }, side("This run", this.run(fault)), side(`A run with: ${this.says(named)}`, this.run(named))));
        this.told.textContent = says;
      });
      one.setAttribute("aria-pressed", false);
      return one;
    });
    this.looks.replaceChildren(html("div", { class: "controls", role: "group", "aria-label": "Which look would tell them apart?" }, buttons), seen);
  }

  finish(option, problem) {
    const { fault, task } = this.question;
    const { says, why, test, chapter, talk } = this.data.faults[fault];
    const { alike, bench } = this.run(fault);
    for (const { input, element, fault: each } of this.options) {
      input.disabled = true;
      element.classList.toggle("is-right", each === fault);
    }
    this.send.hidden = true;
    this.told.textContent = `${this.wrong ? "Right, after another look." : "Right."} ${problem}`;
    const [file, anchor] = chapter.split("#");
    const links = [html("a", { href: `../chapters/${file}.html#${anchor}` }, `Read about it in chapter ${Number(file.slice(0, 2))}`)];
    if (bench) links.push(html("a", { href: `bench.html?${bench}&go=1` }, "Watch it happen on the bench"));
    if (talk) links.push(html("a", { href: `talk.html?${TALK}${talk}` }, "Do it to a trained model"));
    const other = option.shown === fault ? [] : [html("p", {}, `What was recorded is: ${says}. No look tells it from what you chose, so both are right.`)];
    const set = alike.length
      ? [
          html("p", {}, "By these four looks the run cannot be told from these, which would count as right, too. What would separate them:"),
          html("ul", {}, alike.map((each) => html("li", {}, `${this.says(each)}. ${this.data.faults[each].test}`))),
        ]
      : [];
    const next = button("Next case", () => this.ask(next_question(this.all, this.answers, this.question.id), true));
    this.end.replaceChildren(
      html("p", {}, html("strong", {}, `${says}. `), why),
      ...other,
      html("p", {}, `What decides: ${test}`),
      ...set,
      html("ul", { class: "links" }, links.map((link) => html("li", {}, link))),
      next,
    );
    this.told.focus();
  }
}

export async function start(here, say) {
  let gym;
  let question;
  try {
    gym = new Gym(await (await fetch(new URL("cases.json", here))).json());
    const asked = new URLSearchParams(location.search);
    const id = `gym/${asked.get("case")}/${asked.get("level") ?? 1}`;
    question = gym.all.find((each) => each.id === id) ?? next_question(gym.all, gym.answers);
    gym.ask(question);
  } catch {
    say(DAMAGED);
    return;
  }
  for (const place of document.querySelectorAll(".gym-place")) place.replaceChildren(gym.element);
}
