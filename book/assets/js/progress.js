/* "Your progress": what is due for review by FSRS (ts-fsrs), the chapters, and what to do with all of it. */
(function () {
  "use strict";
  const place = document.querySelector(".progress-place");
  const memory = window.bookMemory;
  const here = document.currentScript.src;
  const questions = window.bookQuestions;
  const AT_ONCE = 12; // about five minutes
  const scheduler = window.FSRS.fsrs({ enable_fuzz: false, enable_short_term: false });

  function element(tag, attributes, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  /** When a question is due: its card after all answers, in their order. */
  function due(log) {
    let card = window.FSRS.createEmptyCard(new Date(log[0][0]));
    for (const [at, grade] of log) card = scheduler.next(card, new Date(at), grade).card;
    return card.due.getTime();
  }

  const answered = () => Object.entries(memory.state().answers).filter(([id, log]) => id in questions && log.length);

  function queue() {
    const now = Date.now();
    return answered()
      .map(([id, log]) => [due(log), id])
      .filter(([at]) => at <= now)
      .sort(([a], [b]) => a - b)
      .map(([, id]) => id);
  }

  const ofGym = () => Object.entries(memory.state().answers).filter(([id, log]) => id.startsWith("gym/") && log.length);
  const cases = element("p", { className: "progress-cases" });

  /** The case of the gym that is due first. */
  function drawCases() {
    const found = ofGym().map(([id, log]) => [due(log), id]).filter(([at]) => at <= Date.now());
    cases.hidden = !found.length;
    if (cases.hidden) return;
    const [, name, level] = found.sort(([a], [b]) => a - b)[0][1].split("/");
    const link = element("a", { href: `gym.html?case=${name}&level=${level}`, textContent: "Look at one again" });
    cases.replaceChildren(found.length === 1 ? "1 case of the gym is due. " : `${found.length} cases of the gym are due. `, link, ".");
  }

  const problem = element("p", { className: "progress-problem" });
  problem.setAttribute("role", "status");
  const today = element("div", {});
  const chapters = element("div", { className: "pst-scrollable-table-container" });
  const bench = element("div", {});

  /** One question after the other, until nothing is due or it is enough for a day. */
  function review() {
    let n = 0;
    const count = element("p", {});
    count.tabIndex = -1;
    const next = element("button", { type: "button", textContent: "Next question" });
    const box = element("div", { className: "box box-predict" });

    function step(focus) {
      const left = queue();
      const end = !left.length || n === AT_ONCE;
      if (end) {
        const more = left.length ? " More is due; go on when you like." : "";
        const all = Object.keys(memory.state().answers).length;
        const text = n || all ? "Nothing is due now: what you have answered comes back when you are about to forget it." : "";
        count.textContent = n && left.length ? `That is enough for a day.${more}` : text || "Answer questions in the chapters; they come back here when it is time.";
        today.replaceChildren(count, ...(left.length ? [next] : []));
        if (left.length) n = 0;
      } else {
        const id = left[0];
        const { page, title, html } = questions[id];
        count.textContent = left.length === 1 ? "1 question is due." : `${left.length} questions are due.`;
        box.innerHTML = html; // of the book's own bank
        const link = element("a", { href: `../${page}.html`, textContent: title });
        next.hidden = true;
        today.replaceChildren(count, box, element("p", { className: "progress-from" }, "From ", link), next);
        window.bookWake(box, () => {
          n += 1;
          next.hidden = false;
        }, true);
      }
      if (focus) count.focus();
    }
    next.addEventListener("click", () => {
      next.hidden = false;
      step(true);
    });
    step(false);
  }

  function table() {
    const { read, answers } = memory.state();
    const pages = new Map();
    for (const [id, { page, title }] of Object.entries(questions)) {
      const row = pages.get(page) ?? { title, n: 0, answered: 0, right: 0, chapter: id.split("/")[0] };
      pages.set(page, row);
      row.n += 1;
      const log = answers[id];
      if (!log?.length) continue;
      row.answered += 1;
      row.right += log.at(-1)[1] === 3;
    }
    // From the file that the checks of notebooks keep (transformer_book/support/progress.py): 09/check-split_heads/1.
    const checks = Object.entries(answers).filter(([id, log]) => id.includes("/check-") && log.at(-1)?.[1] === 3);
    const passed = ({ chapter }) => checks.filter(([id]) => id.startsWith(`${chapter}/`)).length;
    const cells = (tag, ...texts) => element("tr", {}, ...texts.map((text) => element(tag, {}, text)));
    const rows = [...pages].map(([page, row]) =>
      cells("td", element("a", { href: `../${page}.html`, textContent: row.title }), read[page] ? "yes" : "", `${row.answered} of ${row.n}`, String(row.right), String(passed(row) || "")),
    );
    const best = new Map();
    for (const [id, log] of ofGym()) {
      const [, name] = id.split("/"); // the same case on any level
      best.set(name, Math.max(best.get(name) ?? 0, ...log.map(([, grade]) => grade)));
    }
    const solved = [...best.values()].filter((grade) => grade > 1);
    const gym = element("a", { href: "gym.html", textContent: "The diagnosis gym" });
    rows.push(cells("td", gym, "", `${solved.length} of ${place.dataset.cases}`, String(solved.filter((grade) => grade === 3).length), ""));
    drawCases();
    const head = element("thead", {}, cells("th", "chapter", "read", "answered", "right, or known", "checks passed"));
    chapters.replaceChildren(element("table", { className: "table" }, head, element("tbody", {}, ...rows)));
    chapters.tabIndex = 0;
    problem.textContent = memory.problem();
  }

  /** What was guessed and kept on the bench: by the bench's own code, where there is something. */
  async function benchDone() {
    const done = memory.state().bench && (await ofBench()).done?.();
    if (done) return bench.replaceChildren(done);
    const link = element("a", { href: "bench.html", textContent: "the bench" });
    bench.replaceChildren(element("p", {}, "Nothing yet: what you guess on ", link, ", and the curves that you keep, will stand here."));
  }

  const ofBench = () => import(new URL("../bench/kept.js", here).href).catch(() => ({})); // in a folder it cannot be had

  function keep() {
    const said = element("p", {});
    said.setAttribute("role", "status");
    const button = (text, act) => {
      const made = element("button", { type: "button", textContent: text });
      made.addEventListener("click", act);
      return made;
    };
    const save = button("Save as a file", () => {
      const address = URL.createObjectURL(new Blob([memory.exported()], { type: "application/json" }));
      element("a", { href: address, download: "transformers-progress.json" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 1000);
      said.textContent = "The file is saved.";
    });
    const file = element("input", { type: "file", accept: ".json,application/json" });
    file.addEventListener("change", async () => {
      if (!file.files.length) return;
      const text = await file.files[0].text();
      if (text.includes('"bench"')) await ofBench();
      said.textContent = memory.imported(text) || "The file is added to what was here.";
      file.value = "";
      review();
    });
    const sure = element("span", { hidden: true });
    const remove = button("Delete everything", () => {
      sure.hidden = false;
      sure.querySelector("button").focus();
    });
    sure.append(
      button("Yes, delete it", async () => {
        if (memory.state().bench) await ofBench(); // its code deletes the model, too
        memory.forget();
        sure.hidden = true;
        said.textContent = "Everything is deleted.";
        remove.focus();
        review();
      }),
      " ",
      button("Keep it", () => {
        sure.hidden = true;
        remove.focus();
      }),
    );
    const label = element("label", {}, "Add a file: ", file);
    return element("div", { className: "progress-keep" }, save, label, remove, sure, said);
  }

  const heading = (text) => element("h2", {}, text);
  place.replaceChildren(problem, heading("Due today"), today, cases, heading("Chapters"), chapters, heading("On the bench"), bench, heading("Save, add, delete"), keep());
  review();
  const show = () => {
    table();
    benchDone();
  };
  show();
  memory.listen(show);
})();
