/* Where the reader was: a page counts as read when its end has been in sight, and half of its sections. The
   chapters in the navigation say it quietly, and the landing page leads back. */
(function () {
  "use strict";
  const memory = window.bookMemory;
  // Sphinx declares it as a constant, which is no property of the window.
  const page = typeof DOCUMENTATION_OPTIONS === "undefined" ? "" : (DOCUMENTATION_OPTIONS.pagename ?? "");
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
  const pageOf = (link) => new URL(link.href).href.replace(/[?#].*/, "").replace(root.href, "").replace(/\.html$/, "");

  /** Watch which sections come in sight. */
  function watch() {
    const heads = [...document.querySelectorAll(".bd-article section[id] > :is(h1, h2)")];
    const end = document.querySelector(".prev-next-footer, .bd-footer-content, footer");
    if (!page.startsWith("chapters/") || !heads.length || !end) return;
    const title = heads[0].firstChild.textContent.trim();
    const seen = new Set();
    let here = null;
    const observer = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        if (!isIntersecting) continue;
        seen.add(target);
        if (target !== end) here = target;
      }
      if (seen.has(end) && seen.size > heads.length / 2 && !memory.state().read[page]) memory.read(page);
    });
    for (const each of [...heads, end]) observer.observe(each);
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "hidden" || !here) return;
      const { id } = here.parentElement;
      memory.visit({ page, anchor: /^[\w-]+$/.test(id) ? id : "", title });
    });
  }

  function mark() {
    const { read, answers } = memory.state();
    const begun = new Set(Object.keys(answers).map((id) => id.split("/")[0]));
    for (const link of document.querySelectorAll("nav.bd-links a.reference.internal")) {
      const name = pageOf(link);
      const number = /^chapters\/(\d\d)_/.exec(name)?.[1];
      if (!number) continue;
      const text = read[name] ? "read" : begun.has(number) ? "begun" : "";
      let sign = link.querySelector(".reading-mark");
      if (!text) sign?.remove();
      else if (sign?.dataset.text !== text) {
        sign?.remove();
        sign = document.createElement("span");
        sign.className = "reading-mark";
        sign.dataset.text = text;
        sign.textContent = ` (${text})`;
        link.append(sign);
      }
    }
  }

  function lead() {
    const buttons = document.querySelector(".hero .buttons");
    const { last } = memory.state();
    if (!buttons || !last) return;
    const link = document.createElement("a");
    link.href = `${new URL(last.page, root).href}.html${last.anchor ? `#${last.anchor}` : ""}`;
    link.textContent = `Go on where you were: ${last.title}`;
    link.className = "go-on";
    buttons.append(link);
  }

  watch();
  mark();
  lead();
  memory.listen(mark);
})();
