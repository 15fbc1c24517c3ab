/* Lets the table on the landing page run again, and, on a page from a server, take other sentences:
   what computes is loaded when it is asked for. From a folder no browser loads modules. */
(function () {
  "use strict";
  const here = document.currentScript.src;
  document.addEventListener("DOMContentLoaded", () => {
    for (const figure of document.querySelectorAll("figure.translating")) {
      const controls = figure.querySelector("form");
      controls.querySelector("[type=button]").addEventListener("click", () => {
        const grid = figure.querySelector(".grid");
        grid.replaceChildren(...[...grid.childNodes].map((part) => part.cloneNode(true))); // its animation begins anew
      });
      if (location.protocol === "file:") continue;
      const about = JSON.parse(figure.querySelector("script").textContent);
      const input = controls.querySelector("input");
      const status = controls.querySelector("p");
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
