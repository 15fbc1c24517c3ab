/* Mends what the theme and the ready-made widgets leave unnamed for screen readers. */
(function () {
  "use strict";
  const all = (selector, change) => document.querySelectorAll(selector).forEach(change);

  function mendPage() {
    // These labels differ from the text on the button, which is the better name.
    all(".search-button-field[aria-label], details.hide > summary[aria-label]", (element) =>
      element.removeAttribute("aria-label")
    );
    all(".theme-switch-button", (button) =>
      button.setAttribute("aria-label", "Color mode: Light, Dark, System Settings")
    );
    all("#pst-primary-sidebar", (sidebar) => {
      sidebar.setAttribute("role", "region");
      sidebar.setAttribute("aria-label", "The book");
    });
  }

  // A formula wider than the text scrolls, so the keyboard reaches it; the others are no stops.
  function mendFormulas() {
    const reach = (box) => {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    };
    const observer = new ResizeObserver((changes) => changes.forEach((change) => reach(change.target)));
    all("div.math", (box) => observer.observe(box));
    document.fonts.ready.then(() => all("div.math", reach));
  }

  // A slider's handle is announced by the description that stands beside it.
  function mendWidgets() {
    all(".noUi-handle:not([aria-label])", (handle) => {
      const label = handle.closest(".jupyter-widgets")?.querySelector(".widget-label");
      handle.setAttribute("aria-label", label?.textContent.trim() || "slider");
    });
  }

  function mend() {
    mendPage();
    mendFormulas();
    if (document.querySelector('script[type^="application/vnd.jupyter.widget"]')) {
      mendWidgets();
      new MutationObserver(mendWidgets).observe(document.body, { childList: true, subtree: true });
    }
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", mend);
  } else {
    mend();
  }
})();
