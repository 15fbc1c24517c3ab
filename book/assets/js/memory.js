/* What the book remembers of its reader: in this browser, under one key; nothing is sent.
   answers: a question's id -> what was answered, [when in ms, grade, what was chosen or typed], oldest first.
   read: a page -> when its end was reached. last: where the reader was, {page, anchor, title, at}. bench: bench/kept.js.
   All of it only grows, so what two tabs or files say is joined without a conflict. */
(function () {
  "use strict";
  const KEY = "transformer-book-memory";
  const PREFIX = "transformer-book-"; // of all that the site keeps
  const VERSION = 1;
  const UNREADABLE = "What this browser has kept of the book cannot be read, so nothing is added to it.";
  const FORBIDDEN = "This browser lets the page keep nothing, so this is forgotten when you leave.";
  const FULL = "This browser has no room left for it, so this is forgotten when you leave.";

  const FOLDER = "The book is open from a folder: some browsers then keep what each of its pages remembers apart, and this page cannot see it.";

  const PAGE = /^[a-z]+\/[\w-]+$/;
  const ID = /^[\w-]+\/[\w-]+\/\d+$/;
  const isTime = (value) => Number.isFinite(value) && value > 0 && value < 8e15;
  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  const isAnswer = (value) =>
    Array.isArray(value) &&
    value.length === 3 &&
    isTime(value[0]) &&
    [1, 2, 3].includes(value[1]) &&
    (value[2] === null || Number.isInteger(value[2]) || (typeof value[2] === "string" && value[2].length <= 40));

  const empty = () => ({ version: VERSION, answers: {}, read: {}, last: null });

  /** Whether this is what `state` gives: of this version, and nothing in it damaged. */
  function valid(data) {
    if (!isObject(data) || data.version !== VERSION || !isObject(data.answers) || !isObject(data.read)) return false;
    const { last } = data;
    return (
      Object.entries(data.answers).every(([id, log]) => ID.test(id) && Array.isArray(log) && log.every(isAnswer)) &&
      Object.entries(data.read).every(([page, at]) => PAGE.test(page) && isTime(at)) &&
      (last === null ||
        (isObject(last) && PAGE.test(last.page) && /^[\w-]*$/.test(last.anchor) && typeof last.title === "string" && isTime(last.at)))
    );
  }

  function parsed(text) {
    try {
      const data = JSON.parse(text);
      return valid(data) ? data : null;
    } catch {
      return null;
    }
  }

  let kept = null; // what could not be stored, while the page is open

  /** What is remembered, and a sentence if not. */
  function look() {
    let text;
    try {
      text = localStorage.getItem(KEY);
    } catch {
      return { state: kept ?? empty(), problem: FORBIDDEN };
    }
    if (kept) return { state: kept, problem: FULL };
    if (text === null) return { state: empty(), problem: "" };
    const state = parsed(text);
    return { state: state ?? empty(), problem: state ? "" : UNREADABLE };
  }

  const listeners = [];
  const tell = () => listeners.forEach((each) => each());

  /** Change what is remembered; returns a sentence if it will not last. It is read anew: another tab may have written. */
  function change(edit) {
    let { state, problem } = look();
    if (problem === UNREADABLE) return problem;
    edit(state);
    try {
      localStorage.setItem(KEY, JSON.stringify(state));
      kept = null;
      problem = "";
    } catch {
      kept = state;
      problem ||= FULL;
    }
    tell();
    return problem;
  }

  /** Join what is remembered with what another says. */
  function join(state, other) {
    for (const [id, log] of Object.entries(other.answers)) {
      const all = new Map([...(state.answers[id] ?? []), ...log].map((each) => [JSON.stringify(each), each]));
      state.answers[id] = [...all.values()].sort((a, b) => a[0] - b[0]);
    }
    for (const [page, at] of Object.entries(other.read)) state.read[page] = Math.min(at, state.read[page] ?? at);
    if (other.last && other.last.at > (state.last?.at ?? 0)) state.last = other.last;
  }

  window.addEventListener("storage", (event) => (event.key === KEY || event.key === null) && tell());

  window.bookMemory = {
    state: () => look().state,
    problem: () => look().problem || (location.protocol === "file:" ? FOLDER : ""),
    listen: (each) => listeners.push(each),
    answer: (id, grade, chosen) => change(({ answers }) => (answers[id] ??= []).push([Date.now(), grade, chosen])),
    read: (page) => change((state) => (state.read[page] ??= Date.now())),
    visit: (last) => change((state) => (state.last = { ...last, at: Date.now() })),
    change,
    exported: () => JSON.stringify(look().state, null, 1),
    /** Add what a file says; returns a sentence if that is not possible. What was there stays. */
    imported(text) {
      const other = parsed(text);
      return other ? change((state) => join(state, other)) : "This is no file of your progress, or it is damaged; nothing was changed.";
    },
    forget() {
      kept = null;
      try {
        for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
      } catch {} // there is nothing
      tell();
    },
  };
})();
