/* Loads the widget code of this site, from this site, once the page has been painted: the text comes
   first. On pages that hold widgets only. */
(function () {
  "use strict";
  const vendor = new URL("../vendor/", document.currentScript.src).href;

  const load = (name) =>
    new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = vendor + name;
      script.onload = done;
      script.onerror = failed;
      document.head.append(script);
    });

  async function start() {
    await load("require.js");
    // Where the widget code lies, so that no other host is asked.
    window.requirejs.config({
      paths: {
        anywidget: vendor + "anywidget/index",
        "@jupyter-widgets/html-manager/dist": vendor + "html-manager",
        "@jupyter-widgets/html-manager": vendor + "html-manager/index",
      },
    });
    await load("html-manager/embed-amd.js");
  }

  // After the load event no script of the theme is left that would mistake require.js for its own
  // loader. A frame later, the page has been painted.
  const afterPaint = () => requestAnimationFrame(() => setTimeout(start));
  if (document.readyState === "complete") {
    afterPaint();
  } else {
    window.addEventListener("load", afterPaint);
  }
})();
