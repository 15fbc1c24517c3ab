/* Below an explorer that can show a sentence of the reader's: a button that says what it loads.
   What computes is loaded when it is pressed. */
(function () {
  "use strict";
  const here = document.currentScript.src;

  function offer(root, about) {
    const place = document.createElement("section");
    place.className = "explorer sentence";
    place.dataset.of = root.dataset.explorer;
    place.setAttribute("aria-label", `${root.getAttribute("aria-label")}: a sentence of your own`);
    root.after(place);
    if (location.protocol === "file:") {
      // From a folder no browser loads modules, starts workers or reads other files.
      const why = document.createElement("p");
      why.className = "note";
      why.textContent =
        "A sentence of your own needs a page that comes from a server, since browsers run no model in pages " +
        "opened from a folder: type “make serve” in the book's folder and open http://localhost:8000.";
      place.append(why);
      return;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `Use a sentence of your own (loads a model, ${about.megabytes} MB)`;
    button.addEventListener("click", () => {
      button.disabled = true;
      import(new URL("sentence.js", here).href).then(
        ({ open }) => open({ root, place, about }),
        (error) => (place.textContent = `Your browser cannot run the model here (${error.message}).`),
      );
    });
    place.append(button);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const { explorers } = JSON.parse(document.querySelector("script.sentence-models").textContent);
    const look = () => {
      for (const [name, about] of Object.entries(explorers)) {
        const root = document.querySelector(`[data-explorer="${name}"]`);
        if (!root) continue;
        delete explorers[name];
        offer(root, about);
      }
      if (!Object.keys(explorers).length) watch.disconnect();
    };
    const watch = new MutationObserver(look);
    watch.observe(document.body, { childList: true, subtree: true });
    look();
  });
})();
