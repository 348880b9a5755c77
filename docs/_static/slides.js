// Slides: the arrow keys, Page Up and Down, the space bar, a click or a swipe go on; what is "later" comes first.
"use strict";
(() => {
  const slides = [...document.querySelectorAll("section")], output = document.querySelector("output");
  const steps = slides.flatMap((slide, k) => [...Array(1 + slide.querySelectorAll(".later").length)].map((_, s) => [k, s]));
  let at = 0;
  // A formula that is wider than its slide gets smaller type, once MathJax has drawn it.
  function fit() {
    for (const formula of document.querySelectorAll("section.shown mjx-container[display]")) {
      formula.style.fontSize = "100%";
      const style = getComputedStyle(formula.closest("section"));
      const room = formula.closest("section").clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      const width = formula.querySelector("mjx-math, svg").getBoundingClientRect().width;
      formula.style.fontSize = `${Math.min(100, Math.floor(98 * room / width))}%`;
    }
  }
  function show(step) {
    at = Math.min(Math.max(step, 0), steps.length - 1);
    const [k, shown] = steps[at];
    slides.forEach((slide, n) => slide.classList.toggle("shown", n === k));
    slides[k].querySelectorAll(".later").forEach((one, n) => one.classList.toggle("there", n < shown));
    output.textContent = `${k + 1} / ${slides.length}`;
    history.replaceState(null, "", `#${at}`);
    if (window.MathJax && MathJax.startup && MathJax.startup.promise) MathJax.startup.promise.then(fit);
  }
  addEventListener("hashchange", () => show(Number(location.hash.slice(1)) || 0));
  addEventListener("resize", fit);
  addEventListener("load", () => show(at));
  addEventListener("keydown", event => {
    if (["ArrowRight", "ArrowDown", "PageDown", " "].includes(event.key)) show(at + 1);
    else if (["ArrowLeft", "ArrowUp", "PageUp"].includes(event.key)) show(at - 1);
    else if (event.key === "Home") show(0);
    else return;
    event.preventDefault();
  });
  let from = null;
  addEventListener("pointerdown", event => { from = event.clientX; });
  addEventListener("pointerup", event => {
    if (event.target.closest("a")) return;
    const moved = event.clientX - from;
    show(at + (Math.abs(moved) > 40 ? -Math.sign(moved) : event.clientX < innerWidth / 4 ? -1 : 1));
  });
  show(Number(location.hash.slice(1)) || 0);
})();
