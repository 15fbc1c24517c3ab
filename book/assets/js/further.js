/* The core path: sections called "Further: …" are folded until one asks for them.
   What the reader chooses holds for all chapters and is kept in the browser. A link, a search in the page, or
   paper opens what it needs. The page comes with bar and buttons, and folds itself while it is read (Folds in
   book/extension/transformer_book_site.py). Without scripts nothing is folded. */
(function () {
  "use strict";
  const KEPT = "transformer-book-further";
  const sections = [...document.querySelectorAll("section.further")];
  if (!sections.length) return;

  function kept() {
    try {
      return localStorage.getItem(KEPT) === "all";
    } catch {
      return false; // a browser may forbid it; then each page begins with the core
    }
  }

  function keep(all) {
    try {
      localStorage.setItem(KEPT, all ? "all" : "core");
    } catch {
      // It holds for this page.
    }
  }

  const branches = sections.map((section) => {
    const body = section.querySelector(".further-body");
    const button = section.querySelector(".further-button");
    const branch = { section, body, button, open: true };
    branch.show = (open) => {
      if (open) body.removeAttribute("hidden");
      else body.setAttribute("hidden", "until-found");
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "Fold this section" : "Show this section";
      if (open && !branch.open) window.dispatchEvent(new Event("resize")); // explorers measure themselves
      branch.open = open;
    };
    button.addEventListener("click", () => {
      branch.show(!branch.open);
      tell();
    });
    body.addEventListener("beforematch", () => {
      branch.show(true);
      tell();
    });
    return branch;
  });

  const bar = document.querySelector(".further-bar");
  const choices = [...bar.querySelectorAll(".further-choice")];
  choices.forEach((choice, i) =>
    choice.addEventListener("click", () => {
      showAll(i === 1);
      keep(i === 1);
    }),
  );
  const told = bar.querySelector("[role='status']");

  function tell() {
    const folded = branches.filter((branch) => !branch.open).length;
    choices[0].setAttribute("aria-pressed", String(folded === branches.length));
    choices[1].setAttribute("aria-pressed", String(folded === 0));
    const them = folded === 1 ? "1 further section is" : `${folded} further sections are`;
    const text = folded ? `${them} folded.` : "Nothing is folded.";
    if (told.textContent !== text) told.textContent = text;
  }

  function showAll(open) {
    for (const branch of branches) branch.show(open);
    tell();
  }

  // Opens whatever an address leads into, and goes there once it is laid out.
  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const around = branches.filter(({ section }) => target && section.contains(target));
    const own = branches.filter(({ section }) => target === section.previousElementSibling);
    const closed = [...around, ...own].filter((branch) => !branch.open);
    for (const branch of closed) branch.show(true);
    if (closed.length) target.scrollIntoView();
    tell();
  }

  showAll(kept());
  document.documentElement.classList.remove("folded"); // each body says it for itself now
  follow();
  window.addEventListener("hashchange", follow);
  // A link to the current address does not change it.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href*='#']");
    if (link && link.href === location.href) follow();
  });

  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = branches.filter((branch) => !branch.open);
    for (const branch of folded) branch.show(true);
  });
  window.addEventListener("afterprint", () => {
    for (const branch of folded) branch.show(false);
  });
})();
