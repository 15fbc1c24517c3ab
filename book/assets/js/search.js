/* Searches the sections of the book, with MiniSearch: headings and terms count most, and a word that is
   misspelt finds its like. The sections are loaded when the reader begins to search. */
(function () {
  "use strict";
  const here = document.currentScript.src;
  const root = new URL("../../", here).href;
  const MOST = 12;
  const SMALL = new Set(
    ("a an and are as at be been but by can do does for from get has have how i if in into is it its me my not of on " +
      "only or so than that the their them there these they this to was were what when where which who versus vs why will with you your").split(" "),
  );

  /** Words that mean the same to one who searches: endings are cut off, ends in s, ed and ing alike. */
  function stem(word) {
    if (word.length > 5 && word.endsWith("ing")) word = word.slice(0, -3);
    else if (word.length > 4 && word.endsWith("ed")) word = word.slice(0, -2);
    else if (word.length > 4 && word.endsWith("ies")) word = `${word.slice(0, -3)}y`;
    else if (word.length > 3 && word.endsWith("s") && !/(ss|us|is)$/.test(word)) word = word.slice(0, -1);
    if (word.length > 4 && word.endsWith("e")) word = word.slice(0, -1);
    return word.length > 4 && /([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
  }

  // What readers type, and what the book says.
  const SAME = {
    backprop: "gradient",
    decrease: "fall",
    diverge: "nan explode",
    down: "fall",
    explode: "nan explode",
    gpt: "decoder-only",
    hallucinate: "nonsense",
    kv: "key value",
    mha: "multi-head attention",
    overfitting: "overfit",
    positional: "positions",
    rope: "rotary positions",
    sqrt: "root sqrt",
    tokenise: "tokenizer",
    tokenize: "tokenizer",
    warmup: "warm-up",
  };

  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const split = (text) => plain(text.replaceAll("√", " sqrt ")).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const meant = new Map(Object.entries(SAME).map(([typed, said]) => [stem(typed), split(said)]));

  let ready;
  /** The index, once its files are there. */
  function begin() {
    const load = (name) =>
      new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = new URL(name, here).href;
        script.onload = done;
        script.onerror = () => failed(new Error(`${name} cannot be loaded`));
        document.head.append(script);
      });
    ready ??= Promise.all([load("../vendor/minisearch/minisearch.js"), load("../search/sections.js")]).then(() => {
      const sections = [];
      for (const { title, url, sections: own } of window.bookSections) {
        own.forEach((each, i) =>
          sections.push({
            ...each,
            id: sections.length,
            page: title,
            url: i ? `${url}#${each.anchor}` : url,
            weight: LESS.test(each.title) ? 0.4 : i === 0 ? 1.2 : (OF_PAGES[url.split("/").pop()] ?? 1),
          }),
        );
      }
      const index = new window.MiniSearch({
        fields: ["title", "also", "subjects", "page", "text"],
        tokenize: split,
        processTerm: (word) => (SMALL.has(word) ? null : stem(word)),
      });
      return index.addAllAsync(sections, { chunkSize: 40 }).then(() => ({ index, sections }));
    });
    return ready;
  }

  // Sections that name many things and explain none.
  const LESS = /^((more )?(exercises|questions)|ask yourself|your turn|summary|further reading)/i;
  const OF_PAGES = { "glossary.html": 0.7, "debugging.html": 1.4 };
  const PART = 1.4;
  const SAME_PAGE = 0.75; // what the next section of a page counts beside its first

  const OPTIONS = {
    boost: { title: 14, also: 10, subjects: 5, page: 2 },
    prefix: (term, i, terms) => i === terms.length - 1 && term.length > 2,
    fuzzy: (term) => (term.length > 3 ? 0.2 : false),
    weights: { fuzzy: 0.3, prefix: 0.5 },
  };

  /** What a name counts: more if it is what was asked, or a part of it and nothing else. */
  function names(name, whole) {
    const words = split(name).filter((word) => !SMALL.has(word)).map(stem).join(" ");
    if (words === whole) return 2;
    return words.includes(" ") && ` ${whole} `.includes(` ${words} `) ? PART : 1;
  }

  /** The best sections for a query, first those that have all of its words. */
  async function search(query) {
    const { index, sections } = await begin();
    const typed = split(query).filter((word) => !SMALL.has(word));
    const asked = [...new Set(typed.flatMap((word) => meant.get(stem(word)) ?? [word]))];
    const whole = asked.map(stem).join(" ");
    const scores = new Map();
    for (const combineWith of ["OR", "AND"]) {
      const boostDocument = (id) => sections[id].weight;
      for (const { id, score, terms } of index.search(asked.join(" ") || query, { ...OPTIONS, boostDocument, combineWith })) {
        const { title, also, subjects } = sections[id];
        const all = [title, ...`${also}, ${subjects}`.split(", ")];
        const named = Math.max(...all.map((name) => names(name, whole)));
        scores.set(id, { id, terms, score: score * (combineWith === "AND" ? 1.6 : 1) * named });
      }
    }
    const seen = new Map();
    const ranked = [...scores.values()].sort((a, b) => b.score - a.score).slice(0, 60);
    for (const hit of ranked) {
      const { page } = sections[hit.id];
      hit.score *= SAME_PAGE ** (seen.get(page) ?? 0);
      seen.set(page, (seen.get(page) ?? 0) + 1);
    }
    ranked.sort((a, b) => b.score - a.score);
    return ranked.slice(0, MOST).map(({ id, terms }) => ({ ...sections[id], terms }));
  }
  window.bookSearch = search; // for whoever looks at the page from outside: the tests

  // --- what one sees --------------------------------------------------------------------------------

  const AROUND = 90; // characters before and behind the first word found

  function element(tag, attributes, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  /** Text in which the words found are marked. */
  function marked(text, terms) {
    const parts = [];
    let last = 0;
    for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]+/gu)) {
      if (!terms.has(stem(plain(word)))) continue;
      parts.push(text.slice(last, index), element("mark", {}, word));
      last = index + word.length;
    }
    return [...parts, text.slice(last)];
  }

  /** The piece of a text around the first word found. */
  function piece(text, terms) {
    let at = 0;
    for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]+/gu)) {
      if (!terms.has(stem(plain(word)))) continue;
      at = index;
      break;
    }
    const from = at > AROUND ? text.indexOf(" ", at - AROUND) + 1 : 0;
    const end = at + 2 * AROUND < text.length ? text.lastIndexOf(" ", at + 2 * AROUND) : text.length;
    return `${from ? "… " : ""}${text.slice(from, end)}${end < text.length ? " …" : ""}`;
  }

  function shown({ title, page, url, text, terms }) {
    const found = new Set(terms);
    return element(
      "li",
      {},
      element(
        "a",
        { href: root + url },
        element("strong", {}, ...marked(title, found)),
        ...(title === page ? [] : [element("span", { className: "found-page" }, page)]),
        element("span", { className: "found-text" }, ...marked(piece(text, found), found)),
      ),
    );
  }

  /** Results below a field, as the reader types. */
  function attach(input, place) {
    const status = element("p", { className: "found-status" });
    status.setAttribute("role", "status");
    const list = element("ol", { className: "found" });
    place.replaceChildren(status, list);
    let last = "";

    async function look() {
      const query = input.value.trim();
      last = query;
      if (!query) {
        status.textContent = "";
        list.replaceChildren();
        return;
      }
      if (!list.childElementCount) status.textContent = "Searching …";
      try {
        const results = await search(query);
        if (query !== last) return; // the reader has typed on
        list.replaceChildren(...results.map(shown));
        const n = results.length;
        status.textContent = n ? `${n === MOST ? "The best " : ""}${n} ${n === 1 ? "section" : "sections"}` : "Nothing is found.";
      } catch (error) {
        status.textContent = `The search does not work here: ${error.message}.`;
      }
    }

    let timer;
    input.addEventListener("focus", () => begin().catch(() => {}));
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(look, 120);
    });
    // The arrows lead from the field to the results, and back.
    const step = (event) => {
      const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!way) return;
      const stops = [input, ...list.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + way];
      if (!next) return;
      event.preventDefault();
      next.focus();
    };
    input.addEventListener("keydown", step);
    list.addEventListener("keydown", step);
    return look;
  }

  function start() {
    const dialog = document.getElementById("pst-search-dialog");
    const field = dialog?.querySelector("input[name=q]");
    if (field) {
      const place = element("div", {});
      dialog.append(place);
      attach(field, place);
    }
    const results = document.getElementById("search-results");
    const own = document.querySelector(".bd-search-container input[name=q]");
    if (results && own) {
      own.value = new URLSearchParams(location.search).get("q") ?? "";
      attach(own, results)();
    }
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
