/* Questions that can be answered. An option is chosen by opening its fold, and its explanation is shown; the others
   can be opened afterwards. A number is typed and judged. An answer that is only unfolded is judged by the reader.
   Without scripts all of them are folded text. The attributes come with the page
   (book/extension/transformer_book_questions.py). */
(function () {
  "use strict";
  const AGAIN = 1; // the grades of spaced repetition: forgotten, with effort, well
  const HARD = 2;
  const GOOD = 3;
  const SAID = { [AGAIN]: "You did not know it.", [HARD]: "You knew a part of it.", [GOOD]: "You knew it." };
  const memory = window.bookMemory;

  function element(tag, attributes, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  const lastOf = (id) => memory.state().answers[id]?.at(-1);
  const withProblem = (text, problem) => (problem ? `${text} ${problem}` : text);

  /** The options of one question. */
  function choose(id, folds, answered, fresh) {
    const told = element("output", { className: "question-told" });
    folds[0].before(told);
    const again = element("button", { type: "button", className: "question-again", textContent: "Answer again" });
    folds.at(-1).after(again);
    let done;

    function mark(fold) {
      const summary = fold.querySelector("summary");
      if (summary.querySelector(".question-mark")) return;
      const right = "right" in fold.dataset;
      fold.classList.add(right ? "is-right" : "is-wrong");
      summary.append(" ", element("span", { className: "question-mark", textContent: right ? "Right" : "Not right" }));
    }

    function show(chosen) {
      done = true;
      again.hidden = false;
      for (const fold of folds) if (fold.dataset.option === String(chosen)) mark(fold);
    }

    function begin() {
      done = false;
      again.hidden = true;
      told.textContent = "Choose an answer by opening it.";
      for (const fold of folds) {
        fold.open = false;
        fold.classList.remove("is-right", "is-wrong");
        fold.querySelector(".question-mark")?.remove();
      }
    }

    begin();
    const before = fresh ? undefined : lastOf(id);
    if (before) {
      show(before[2]);
      told.textContent = before[1] === GOOD ? "You have answered this, and were right." : "You have answered this, and were not right.";
    }
    for (const fold of folds) {
      fold.querySelector("summary").addEventListener("click", () => {
        if (!done) {
          const right = "right" in fold.dataset;
          const problem = memory.answer(id, right ? GOOD : AGAIN, Number(fold.dataset.option));
          show(fold.dataset.option);
          const text = right ? "Right. You can open the others, too." : "Not right. Read why, then open the others.";
          told.textContent = withProblem(text, problem);
          answered(id);
        } else mark(fold);
      });
    }
    again.addEventListener("click", () => {
      begin();
      folds[0].querySelector("summary").focus();
    });
  }

  /** A number as people type it: 1,234 · 0,5 · 1/4. */
  function numberOf(text) {
    const plain = text.replace(/\s/g, "").replace("−", "-");
    if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain)) return Number(plain.replaceAll(",", ""));
    const [above, below = "1", ...more] = plain.replace(",", ".").split("/");
    return above && below && !more.length ? Number(above) / Number(below) : NaN;
  }

  /** An answer that is folded, and perhaps a number that can be typed. */
  function think(id, fold, answered, fresh) {
    const told = element("output", { className: "question-told" });
    const buttons = element("span", { className: "question-grades" });
    const rate = element("div", { className: "question-rate" }, element("span", {}, "Did you know it? "), buttons);
    const typed = "number" in fold.dataset;
    let done = false; // an answer counts once each time the page is shown

    function end(grade, chosen, text) {
      done = true;
      rate.hidden = true;
      told.textContent = withProblem(text, memory.answer(id, grade, chosen));
      answered(id);
    }

    for (const [grade, text] of [[GOOD, "Yes"], [HARD, "Partly"], [AGAIN, "No"]]) {
      const button = element("button", { type: "button", textContent: text });
      button.addEventListener("click", () => end(grade, null, SAID[grade]));
      buttons.append(button);
    }
    fold.append(rate);
    const before = fresh ? undefined : lastOf(id);
    if (before) told.textContent = `Last time: ${SAID[before[1]].replace("You", "you")}`;
    if (!typed) {
      fold.append(told);
      return;
    }
    const field = element("input", { type: "text", inputMode: "decimal", autocomplete: "off", maxLength: 40 });
    const form = element(
      "form",
      { className: "question-form" },
      element("label", {}, "A number: ", field),
      element("button", { textContent: "Check" }),
      told,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const value = numberOf(field.value);
      if (Number.isNaN(value)) {
        told.textContent = "Type a number, such as 0.5 or 1/2.";
        return;
      }
      const wanted = Number(fold.dataset.number);
      const right = Math.abs(value - wanted) <= Number(fold.dataset.within) + 1e-9 * Math.abs(wanted);
      const text = right ? "Right." : `Not ${field.value.trim()}. Try again, or open the answer.`;
      if (done) told.textContent = text;
      else end(right ? GOOD : AGAIN, field.value.trim(), text);
      if (right) fold.open = true;
    });
    fold.after(form);
  }

  /** Wake the questions in a part of a page. answered: told of an id. fresh: what was answered before is not shown. */
  function wake(root, answered = () => {}, fresh = false) {
    const found = new Map();
    for (const fold of root.querySelectorAll("details[data-question]")) {
      const id = fold.dataset.question;
      found.set(id, [...(found.get(id) ?? []), fold]);
    }
    for (const [id, folds] of found) {
      if ("option" in folds[0].dataset) choose(id, folds, answered, fresh);
      else think(id, folds[0], answered, fresh);
    }
  }

  window.bookWake = wake;
  wake(document.querySelector(".bd-article") ?? document.body);
})();
