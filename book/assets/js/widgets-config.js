/* Tells require.js where this site keeps the widget code, so that no other host is asked.
   Loaded between require.js and the widget loader, on pages that hold widgets only. */
(function () {
  "use strict";
  const vendor = new URL("../vendor/", document.currentScript.src).href;
  window.requirejs.config({
    paths: {
      anywidget: vendor + "anywidget/index",
      "@jupyter-widgets/html-manager/dist": vendor + "html-manager",
      "@jupyter-widgets/html-manager": vendor + "html-manager/index",
    },
  });
  // The widget manager still calls MathJax 2; pass its requests on to MathJax 3.
  window.addEventListener("load", function () {
    const mathjax = window.MathJax;
    if (mathjax && !mathjax.Hub && mathjax.typesetPromise) {
      mathjax.Hub = { Queue: (job) => mathjax.typesetPromise([job[2]]) };
    }
  });
})();
