/* Puts the explorers of a page in their places, each when the reader comes near it: what is folded
   or far below costs nothing. Each explorer's own script has registered how it is made. */
(function () {
  "use strict";

  function start() {
    const near = new IntersectionObserver(
      (seen) => {
        for (const { isIntersecting, target } of seen) if (isIntersecting) make(target);
      },
      { rootMargin: "600px 0px" },
    );

    function make(place) {
      near.unobserve(place);
      if (place.querySelector(".explorer")) return;
      const traits = JSON.parse(place.querySelector("script").textContent);
      place.append(window.bookExplorers[place.dataset.module](traits));
    }

    const places = document.querySelectorAll(".explorer-place");
    for (const place of places) near.observe(place);
    // Paper shows them all.
    window.addEventListener("beforeprint", () => places.forEach(make));
  }

  // The scripts of the explorers come before.
  if (document.readyState === "complete") start();
  else document.addEventListener("DOMContentLoaded", start);
})();
