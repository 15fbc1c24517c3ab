/* Mends what the theme leaves unnamed for screen readers, what the keyboard must reach, and where the
   theme's buttons leave a reader behind. */
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
      if (!box.checkVisibility()) return; // in what is folded: to measure it would lay all of it out
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    };
    const observer = new ResizeObserver((changes) => changes.forEach((change) => reach(change.target)));
    // On a phone a paragraph scrolls for a formula in it, too (book.css).
    const phone = matchMedia("(max-width: 576px)");
    const boxes = () => (phone.matches ? "div.math, .bd-article p:has(math)" : "div.math");
    const watch = () => all(boxes(), (box) => observer.observe(box));
    watch();
    phone.addEventListener("change", watch);
    document.fonts.ready.then(() => all(boxes(), reach));
  }

  // What the theme's two buttons are called, and where it shows the chapters beside the page: its styles say
  // from 960 px on, its script from 992 px on, and between them the button would do half of each.
  const wide = matchMedia("(min-width: 960px)");
  const NAMES = { "primary-toggle": "The chapters", "secondary-toggle": "Contents of this page" };
  const BUTTONS = ".primary-toggle, .secondary-toggle, .search-button__button, .theme-switch-button";

  function mendButtons() {
    for (const [name, text] of Object.entries(NAMES)) all(`.${name}`, (button) => (button.title = text));
    const chapters = document.querySelector(".primary-toggle");
    const sidebar = document.getElementById("pst-primary-sidebar");
    const tell = () => {
      if (wide.matches) {
        chapters.setAttribute("aria-expanded", !sidebar.classList.contains("pst-sidebar-hidden"));
      } else chapters.removeAttribute("aria-expanded"); // it opens a dialog
    };
    if (chapters && sidebar) {
      tell();
      wide.addEventListener("change", tell);
    }

    // The theme takes the focus off the button that is pressed, so that its name does not stay in the way: who
    // has no pointer would have to look for the place again.
    let pressed = null;
    window.addEventListener(
      "click",
      (event) => {
        const button = event.target.closest?.(BUTTONS);
        if (!button) return;
        pressed = button;
        if (button === chapters && sidebar && wide.matches) {
          event.stopImmediatePropagation();
          sidebar.classList.toggle("pst-sidebar-hidden");
          tell();
        } else if (event.detail === 0) {
          const lost = () => document.activeElement === document.body && !document.querySelector("dialog[open]");
          setTimeout(() => lost() && button.focus());
        }
      },
      true
    );
    all("dialog", (dialog) => {
      dialog.addEventListener("click", (event) => {
        const link = event.target.closest("a[href*='#']");
        if (link?.href.split("#")[0] !== location.href.split("#")[0]) return;
        pressed = null; // the link leads to a place of this page, which the dialog would cover
        dialog.close();
      });
      dialog.addEventListener("close", () => pressed?.focus({ preventScroll: true }));
    });
  }

  function mend() {
    mendPage();
    mendFormulas();
    mendButtons();
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", mend);
  } else {
    mend();
  }
})();
