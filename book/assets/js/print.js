/* On paper: light, and nothing folded. What was folded, and the theme, come back afterwards. */
(function () {
  "use strict";
  const root = document.documentElement;
  let theme;
  let opened = [];

  window.addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const details of opened) details.open = true;
  });

  window.addEventListener("afterprint", () => {
    root.dataset.theme = theme;
    for (const details of opened) details.open = false;
  });
})();
