/* Starts “Talk to the model” where the browser lets it. From a folder no browser loads modules. */
(function () {
  "use strict";
  const here = document.currentScript.src;
  const say = (sentence) => {
    for (const place of document.querySelectorAll(".talk-place")) place.textContent = sentence;
  };
  document.addEventListener("DOMContentLoaded", () => {
    if (location.protocol === "file:") {
      say(
        "Your browser runs the model only on pages that come from a server: type “make serve” in the book's " +
          "folder and open http://localhost:8000, or read this page on the website.",
      );
      return;
    }
    import(new URL("page.js", here).href).then(
      ({ start }) => start(),
      (error) => say(`Your browser cannot run the model here (${error.message}); a current version of it can.`),
    );
  });
})();
