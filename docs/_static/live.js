// Pieces of pages that move: a slider goes through frames that were computed while the pages were built.
// A piece is <figure class="live"> with its data as JSON: {title, slider, panels: [axes], fixed, frames}.  A frame has a
// label, numbers to be read, items [panel, kind, ...] to be drawn, and how many of the page's steps are shown.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const WIDTH = 460, HEIGHT = 320, LEFT = 52, RIGHT = 12, TOP = 28, BOTTOM = 44;

  function element(name, attributes, parent, text) {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  }

  function html(name, parent, text, attributes = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.appendChild(made);
    return made;
  }

  // About five round numbers between two ends.
  function ticks(low, high) {
    const rough = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(x => x * unit).find(x => x >= rough);
    const found = [];
    for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + 1e-9 * step; t += step) found.push(Math.round(t / step) * step);
    return found;
  }
  const shown = x => (Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(4)))).replace("-", "−");

  class Panel {
    constructor(axes, parent) {
      this.axes = axes;
      const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": axes.title }, parent);
      this.svg = svg;
      element("text", { x: WIDTH / 2, y: 18, class: "live-title" }, svg, axes.title);
      const [x0, x1] = axes.x, [y0, y1] = axes.y;
      this.x = t => LEFT + ((t - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
      this.y = t => HEIGHT - BOTTOM - ((t - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
      for (const t of ticks(x0, x1)) {
        element("line", { x1: this.x(t), x2: this.x(t), y1: TOP, y2: HEIGHT - BOTTOM, class: "live-grid" }, svg);
        element("text", { x: this.x(t), y: HEIGHT - BOTTOM + 16, class: "live-tick" }, svg, shown(t));
      }
      for (const t of ticks(y0, y1)) {
        element("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: this.y(t), y2: this.y(t), class: "live-grid" }, svg);
        element("text", { x: LEFT - 6, y: this.y(t) + 4, class: "live-tick live-left" }, svg, shown(t));
      }
      element("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, class: "live-label" }, svg, axes.xlabel);
      const turned = `rotate(-90 12 ${HEIGHT / 2})`;
      element("text", { x: 12, y: HEIGHT / 2, class: "live-label", transform: turned }, svg, axes.ylabel);
      const clip = `live-clip-${Panel.count++}`;
      const inside = element("clipPath", { id: clip }, element("defs", {}, svg));
      element("rect", { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM }, inside);
      this.fixed = element("g", { "clip-path": `url(#${clip})` }, svg);
      this.moving = element("g", { "clip-path": `url(#${clip})` }, svg);
    }

    draw(items, layer) {
      layer.replaceChildren();
      for (const [kind, x, y, look = {}] of items) {
        const color = look.color || "#333", at = x.map((t, k) => [this.x(t), this.y(y[k])]);
        if (kind === "line" || kind === "steps") {
          const path = kind === "line" ? at : at.flatMap((p, k) => (k ? [[p[0], at[k - 1][1]], p] : [p]));
          element("polyline", { points: path.map(p => p.join(",")).join(" "), fill: "none", stroke: color,
            "stroke-width": look.width || 2, "stroke-dasharray": look.dash || "" }, layer);
        } else if (kind === "segments") {
          for (let k = 0; k + 1 < at.length; k += 2)
            element("line", { x1: at[k][0], y1: at[k][1], x2: at[k + 1][0], y2: at[k + 1][1], stroke: color,
              "stroke-width": look.width || 2, "stroke-dasharray": look.dash || "" }, layer);
        } else if (kind === "bars") {
          at.forEach(([u, v]) => element("rect", { x: u - 12, y: Math.min(v, this.y(0)), width: 24,
            height: Math.abs(this.y(0) - v), fill: color }, layer));
        } else if (kind === "text") {
          at.forEach(([u, v], k) => element("text", { x: u, y: v, class: "live-note", fill: color }, layer, look.words[k]));
        } else {
          at.forEach(([u, v]) => look.square
            ? element("rect", { x: u - 5, y: v - 5, width: 10, height: 10, fill: color, stroke: "#222" }, layer)
            : element("circle", { cx: u, cy: v, r: look.size || 4, fill: look.hollow ? "none" : color, stroke: color }, layer));
        }
      }
    }
  }
  Panel.count = 0;

  class Player {
    constructor(figure) {
      const data = JSON.parse(figure.querySelector("script").textContent);
      Object.assign(this, { figure, data, k: 0, timer: null });
      const row = html("div", figure, undefined, { class: "live-panels" });
      this.panels = data.panels.map(axes => new Panel(axes, row));
      this.panels.forEach((panel, k) => panel.draw((data.fixed || []).filter(i => i[0] === k).map(i => i.slice(1)), panel.fixed));
      const bar = html("div", figure, undefined, { class: "live-bar" });
      this.button = html("button", bar, "▶", { type: "button", "aria-label": "play" });
      this.slider = html("input", bar, undefined, { type: "range", min: 0, max: data.frames.length - 1, step: 1, value: 0,
        "aria-label": data.slider });
      this.output = html("output", bar, "", { "aria-live": "polite" });
      this.table = html("dl", figure, undefined, { class: "live-numbers" });
      this.slider.addEventListener("input", () => { this.stop(); this.show(Number(this.slider.value)); });
      this.button.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
      this.steps = [...figure.querySelectorAll(".live-step")];
      this.show(0);
    }

    show(k) {
      const frame = this.data.frames[(this.k = k)];
      this.slider.value = k;
      this.output.textContent = frame.label;
      this.slider.setAttribute("aria-valuetext", frame.label);
      this.panels.forEach((panel, p) =>
        panel.draw((frame.items || []).filter(i => i[0] === p).map(i => i.slice(1)), panel.moving));
      this.table.replaceChildren();
      for (const [name, value] of Object.entries(frame.numbers || {})) {
        html("dt", this.table, name);
        html("dd", this.table, typeof value === "number" ? shown(value) : String(value), { "data-value": value });
      }
      this.steps.forEach((step, s) => step.classList.toggle("live-hidden", s > k));
      if (k && this.steps.length) this.steps[k].scrollIntoView({ block: "nearest" });
    }

    play() {
      this.button.textContent = "❚❚";
      if (this.k === this.data.frames.length - 1) this.show(0);
      this.timer = setInterval(() => {
        if (this.k < this.data.frames.length - 1) this.show(this.k + 1);
        else this.stop();
      }, 900);
    }

    stop() {
      clearInterval(this.timer);
      this.timer = null;
      this.button.textContent = "▶";
    }
  }

  window.Live = { Panel, html, element, shown };
  const begin = () => document.querySelectorAll("figure.live[data-frames]").forEach(one => new Player(one));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
