/* Lets the table on the landing page run again, and, on a page from a server, take other sentences:
   what computes is loaded when it is asked for. From a folder no browser loads modules. */
(function () {
  "use strict";
  const here = document.currentScript.src;
  document.addEventListener("DOMContentLoaded", () => {
    for (const figure of document.querySelectorAll("figure.translating")) {
      const controls = document.createElement("form");
      controls.className = "controls";
      const again = document.createElement("button");
      again.type = "button";
      again.textContent = "Once more";
      again.addEventListener("click", () => {
        const grid = figure.querySelector(".grid");
        grid.replaceChildren(...[...grid.childNodes].map((part) => part.cloneNode(true))); // its animation begins anew
      });
      controls.append(again);
      figure.querySelector("figcaption").before(controls);
      if (location.protocol === "file:") continue;
      const about = JSON.parse(figure.querySelector("script").textContent);
      const input = document.createElement("input");
      input.type = "text";
      input.lang = about.model.source;
      input.value = figure.querySelector(".read").textContent;
      input.autocomplete = "off";
      input.spellcheck = false;
      input.setAttribute("aria-label", about.model.asks);
      const go = document.createElement("button");
      go.textContent = "Translate";
      const status = document.createElement("p");
      status.setAttribute("role", "status");
      status.textContent = `Type German: the first time this loads the model, ${about.megabytes} MB.`;
      controls.prepend(input, go);
      controls.append(status);
      controls.addEventListener("submit", (event) => {
        event.preventDefault();
        status.textContent = "Loading the model.";
        import(new URL("translating.js", here).href)
          .then(({ translate }) => translate(figure, about, input.value, status))
          .catch((error) => (status.textContent = `Your browser cannot run the model here (${error.message}).`));
      });
    }
  });
})();
