/* Starts the bench where the browser lets it. From a folder no browser loads modules. */
(function () {
  "use strict";
  const here = document.currentScript.src;
  const say = (sentence) => {
    for (const place of document.querySelectorAll(".bench-place")) {
      place.textContent = sentence;
      place.style.minHeight = "auto";
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    if (location.protocol === "file:") {
      say(
        "Your browser trains a model only on pages that come from a server: type “make serve” in the book's " +
          "folder and open http://localhost:8000, or read this page on the website.",
      );
      return;
    }
    import(new URL("page.js", here).href)
      .then(({ start }) => start(here))
      .catch(() =>
        say(
          "The program of this page could not be loaded: check your connection and reload it. If that does not " +
            "help, the browser is too old for it, and a current version is not.",
        ),
      );
  });
})();
