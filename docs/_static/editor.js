// A loss that is dragged: its breakpoints and values are handles, and what follows from it is drawn beside it.
"use strict";
(() => {
  const { Panel, html, shown } = window.Live;
  const LINE = "#0072b2", OTHER = "#d55e00", THIRD = "#009e73", HANDLE = "#333";
  const grid = (low, high, n = 321) => Array.from({ length: n }, (_, k) => low + ((high - low) * k) / (n - 1));
  const curve = (f, low, high) => {
    const t = [...grid(low, high), ...f.breaks].filter(x => x >= low && x <= high).sort((a, b) => a - b);
    const kept = t.filter(x => isFinite(PLQ.at(f, x)));
    return [kept, kept.map(x => PLQ.at(f, x))];
  };

  class Editor {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      const choice = html("div", figure, undefined, { class: "live-bar" });
      html("label", choice, "Begin with ");
      this.select = html("select", choice, undefined, { "aria-label": "loss" });
      Object.keys(this.data.losses).forEach(name => html("option", this.select, name, { value: name }));
      const row = html("div", figure, undefined, { class: "live-panels" });
      this.panels = this.data.panels.map(axes => new Panel(axes, row));
      const low = html("div", figure, undefined, { class: "live-bar" });
      html("label", low, "v of prox ");
      this.v = html("input", low, undefined, { type: "range", min: -2, max: 3, step: 0.05, value: 0.5, "aria-label": "v" });
      this.said = html("output", low);
      this.table = html("dl", figure, undefined, { class: "live-numbers" });
      this.select.addEventListener("change", () => this.load(this.select.value));
      this.v.addEventListener("input", () => this.show());
      const svg = this.panels[0].svg;
      svg.style.touchAction = "none";
      svg.addEventListener("pointerdown", e => { this.held = this.nearest(e); if (this.held !== null) svg.setPointerCapture(e.pointerId); });
      svg.addEventListener("pointermove", e => { if (this.held !== null && this.held !== undefined) this.drag(e); });
      svg.addEventListener("pointerup", () => { this.held = null; });
      figure.editor = this;
      this.load(this.select.value);
    }

    // The loss is lines between handles (t, value); the first and the last handle set the slopes beyond them.
    load(name) {
      Object.assign(this, { nodes: this.data.losses[name].map(p => [...p]), held: null });
      this.show();
    }

    loss() {
      const { nodes } = this, pieces = [];
      for (let k = 0; k + 1 < nodes.length; k++) {
        const [[x, y], [u, w]] = [nodes[k], nodes[k + 1]], slope = (w - y) / (u - x);
        pieces.push([0, slope, y - slope * x]);
      }
      return PLQ.make(nodes.slice(1, -1).map(p => p[0]), pieces);
    }

    place(event) {
      const panel = this.panels[0], box = panel.svg.getBoundingClientRect(), view = panel.svg.viewBox.baseVal;
      const u = ((event.clientX - box.left) / box.width) * view.width, w = ((event.clientY - box.top) / box.height) * view.height;
      const [x0, x1] = panel.axes.x, [y0, y1] = panel.axes.y, a = panel.x(x0), b = panel.x(x1), c = panel.y(y0), d = panel.y(y1);
      return [x0 + ((u - a) / (b - a)) * (x1 - x0), y0 + ((w - c) / (d - c)) * (y1 - y0), u, w];
    }

    nearest(event) {
      const [, , u, w] = this.place(event), panel = this.panels[0];
      const far = this.nodes.map(([x, y]) => Math.hypot(panel.x(x) - u, panel.y(y) - w));
      const k = far.indexOf(Math.min(...far));
      return far[k] < 25 ? k : null;
    }

    drag(event) {
      const [x, y] = this.place(event), k = this.held, room = 0.05;
      const inner = k > 0 && k + 1 < this.nodes.length, level = Math.min(Math.max(y, -1), 4);
      const moved = inner ? Math.min(Math.max(x, this.nodes[k - 1][0] + room), this.nodes[k + 1][0] - room) : this.nodes[k][0];
      this.nodes[k] = [moved, level];
      this.show();
    }

    show() {
      const f = this.loss(), [convex, concave] = PLQ.split(f), whole = PLQ.envelope(f), v = Number(this.v.value);
      const line = (g, panel, look) => ["line", ...curve(g, ...this.panels[panel].axes.x), look];
      const nodes = ["points", this.nodes.map(p => p[0]), this.nodes.map(p => p[1]), { color: HANDLE, size: 7 }];
      const moved = PLQ.prox(convex, v, 1);
      const items = [
        [line(f, 0, { color: LINE, width: 3 }), ...(whole ? [line(whole, 0, { color: OTHER, dash: "6 4" })] : []), nodes],
        [line(convex, 1, { color: THIRD, width: 3 }), line(concave, 1, { color: OTHER, width: 3 })],
        [line(PLQ.conjugate(convex), 2, { color: LINE, width: 3 })],
        [["line", grid(-2, 3), grid(-2, 3).map(x => PLQ.prox(convex, x, 1)), { color: LINE, width: 3 }],
          ["points", [v], [moved], { color: OTHER, size: 6 }]],
      ];
      items.forEach((own, k) => this.panels[k].draw(own, this.panels[k].moving));
      this.said.textContent = `prox(${shown(v)}) = ${shown(moved)}`;
      this.table.replaceChildren();
      const numbers = { "value at 0": PLQ.at(f, 0), "envelope at 0": whole ? PLQ.at(whole, 0) : NaN,
        "convex part at 0": PLQ.at(convex, 0), "concave part at 0": PLQ.at(concave, 0), "prox": moved };
      for (const [name, number] of Object.entries(numbers)) {
        html("dt", this.table, name);
        html("dd", this.table, isNaN(number) ? "none" : shown(number), { "data-value": number });
      }
    }
  }
  const begin = () => document.querySelectorAll("figure.live[data-editor]").forEach(one => new Editor(one));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
