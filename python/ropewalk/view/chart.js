"use strict";
// A chart over time on a canvas: lines, filled bands, points; its legend stands above it.

const COLOURS = ["#0b62a8", "#d1570a", "#2a8a3c", "#8b3fa8", "#b8860b", "#008b8b", "#c2185b", "#5d4037", "#546e7a", "#7cb342",
  "#3949ab", "#e53935"];

// The window of time that all charts show, and the time of the slider; in seconds.
const view = { from: 0, to: 1, now: 0, end: 1 };

function clampView(from, to) {
  const least = Math.max(view.end * 1e-7, 1e-6);
  let width = Math.min(Math.max(to - from, least), view.end);
  from = Math.min(Math.max(from, 0), view.end - width);
  view.from = from;
  view.to = from + width;
}

function zoom(factor, around) {
  clampView(around - (around - view.from) * factor, around + (view.to - around) * factor);
  redraw();
}

// The first index at which sorted[index] >= value.
function lowerBound(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

function seconds(t) {
  const width = view.to - view.from;
  const digits = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(width || 1))));
  return t.toFixed(digits) + " s";
}

// Steps of 1, 2 or 5 times a power of ten.
function ticks(from, to, most) {
  const span = to - from;
  if (!(span > 0)) return [from];
  const raw = span / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
  const found = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k++) found.push(+(k * step).toPrecision(12));
  return found;
}

// An upper edge that leaves out the highest hundredth of the values, where they are far above all others.
function withoutPeaks(values, high) {
  if (values.length < 20) return high;
  const usual = Float64Array.from(values).sort()[Math.floor(values.length * .99)] * 1.3;
  return usual > 0 && high > 3 * usual ? usual : high;
}

function short(value) {
  const size = Math.abs(value);
  for (const [limit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (size >= limit) return +(value / limit).toPrecision(4) + " " + letter;
  }
  return "" + +value.toPrecision(4);
}

// The k-th point of a line, of those from first to last. The first and the last may lie far outside of the view: there the line is
// cut at the view's edge, for a dashed line of many thousand screens takes a second.
function atEdge(x, y, k, first, last, step) {
  const isBefore = k === first && x[k] < view.from, isBehind = k === last - 1 && x[k] > view.to;
  const other = isBefore ? k + 1 : k - 1;
  if (!(isBefore || isBehind) || other < first || other >= last || y[other] === null || y[other] === undefined) return [x[k], y[k]];
  const t = isBefore ? view.from : view.to;
  if (step) return [t, y[isBefore ? k : other]];
  return [t, y[k] + (y[other] - y[k]) * (t - x[k]) / (x[other] - x[k] || 1)];
}

const LEFT = 62, RIGHT = 10, TOP = 6, BOTTOM = 24;

// Shapes of points that stand close together.
const DENSE = new Set(["tick", "dash"]);

class Chart {
  // lines: {name, colour, x, y, step?, dash?, hidden?}; stacks: {name, colour, x, y} on one another;
  // points: {name, colour, shape, x, y, event?} with event(index) giving what a click shows; bands: [{from, to}].
  // cutsPeaks: a few values far above all others are beyond the upper edge, which says so.
  constructor(host, { title, unit, note, lines = [], stacks = [], points = [], bands = [], bandName, height = 190, cutsPeaks = false }) {
    Object.assign(this, { title, unit, lines, stacks, points, bands, bandName, height, cutsPeaks });
    this.box = document.createElement("section");
    this.box.className = "panel";
    const heading = document.createElement("h2");
    heading.textContent = `${title} [${unit}]`;
    this.box.append(heading);
    if (note) { const p = document.createElement("p"); p.textContent = note; this.box.append(p); }
    this.box.append(this.legend());
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${title} over time in ${unit}`);
    this.box.append(this.canvas);
    host.append(this.box);
    listen(this);
    Chart.all.push(this);
  }

  legend() {
    const list = document.createElement("ul");
    list.className = "legend";
    const entries = [...this.lines, ...this.stacks, ...this.points];
    const add = (name, colour, style, toggle) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      if (style === "dash") swatch.style.borderTop = `3px dashed ${colour}`;
      else if (style === "line") { swatch.style.background = colour; swatch.style.height = "3px"; }
      else if (style === "point") {
        swatch.className = "glyph";
        swatch.style.color = colour;
        swatch.textContent = { cross: "×", ring: "○", triangle: "▲", diamond: "◆", tick: "▪", dash: "–" }[toggle.shape] || "●";
      }
      else swatch.style.background = colour;
      button.append(swatch, name);
      button.setAttribute("aria-pressed", "true");
      if (toggle) {
        button.setAttribute("aria-pressed", String(!toggle.hidden));
        button.onclick = () => {
          toggle.hidden = !toggle.hidden;
          button.setAttribute("aria-pressed", String(!toggle.hidden));
          redraw();
        };
      }
      item.append(button);
      list.append(item);
    };
    for (const one of entries) {
      const style = this.lines.includes(one) ? (one.dash ? "dash" : "line") : this.points.includes(one) ? "point" : "area";
      add(one.name, one.colour, style, one);
    }
    if (this.bands.length) add(this.bandName, "#e8ddc4", "area", null);
    return list;
  }

  // What stands still is drawn once; the time of the slider goes over it.
  draw() {
    const shown = [...this.lines, ...this.stacks, ...this.points].map(one => one.hidden ? 0 : 1).join("");
    const state = [view.from, view.to, this.canvas.clientWidth, window.devicePixelRatio, shown].join(" ");
    if (state !== this.state) {
      this.drawStill();
      this.state = state;
      this.still ||= document.createElement("canvas");
      this.still.width = this.canvas.width;
      this.still.height = this.canvas.height;
      if (this.still.width) this.still.getContext("2d").drawImage(this.canvas, 0, 0);
    } else if (this.still.width) {
      const g = this.canvas.getContext("2d");
      g.setTransform(1, 0, 0, 1, 0, 0);
      g.clearRect(0, 0, this.canvas.width, this.canvas.height);
      g.drawImage(this.still, 0, 0);
      g.setTransform(window.devicePixelRatio || 1, 0, 0, window.devicePixelRatio || 1, 0, 0);
    }
    if (this.plot) this.cursor(this.canvas.getContext("2d"));
  }

  drawStill() {
    const width = this.canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    if (this.canvas.width !== Math.round(width * ratio) || !this.sized) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(this.height * ratio);
      this.canvas.style.height = this.height + "px";
      this.sized = true;
    }
    const g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, this.height);
    this.plot = { x0: LEFT, x1: width - RIGHT, y0: TOP, y1: this.height - BOTTOM };
    this.range();
    this.axes(g);
    g.save();
    g.beginPath();
    g.rect(this.plot.x0, this.plot.y0, this.plot.x1 - this.plot.x0, this.plot.y1 - this.plot.y0);
    g.clip();
    this.drawBands(g);
    this.drawStacks(g);
    for (const line of this.lines) if (!line.hidden) this.drawLine(g, line);
    for (const points of this.points) if (!points.hidden) this.drawPoints(g, points);
    g.restore();
  }

  X(t) { return this.plot.x0 + (t - view.from) / (view.to - view.from) * (this.plot.x1 - this.plot.x0); }
  Y(v) { return this.plot.y1 - (v - this.low) / (this.high - this.low) * (this.plot.y1 - this.plot.y0); }
  T(x) { return view.from + (x - this.plot.x0) / (this.plot.x1 - this.plot.x0) * (view.to - view.from); }

  // What is in view: at most so many places, evenly taken.
  visible(x, most) {
    const first = Math.max(0, lowerBound(x, view.from) - 1), last = Math.min(x.length, lowerBound(x, view.to) + 1);
    return { first, last, stride: Math.max(1, Math.ceil((last - first) / most)) };
  }

  range() {
    let low = this.floor === undefined ? 0 : Infinity, high = -Infinity;
    const seen = [];
    const see = v => { if (v < low) low = v; if (v > high) high = v; if (this.cutsPeaks) seen.push(v); };
    for (const one of [...this.lines, ...this.points]) {
      if (one.hidden) continue;
      const { first, last, stride } = this.visible(one.x, 4000);
      for (let k = first; k < last; k += stride) if (one.y[k] !== null) see(one.y[k]);
      if (last > first && one.y[last - 1] !== null) see(one.y[last - 1]);
    }
    const peak = high;
    high = withoutPeaks(seen, peak);
    const shown = this.stacks.filter(one => !one.hidden);
    if (shown.length) {
      const { first, last } = this.visible(shown[0].x, 1e9);
      for (let k = first; k < last; k++) see(shown.reduce((sum, one) => sum + (one.y[k] || 0), 0));
    }
    if (!(high > -Infinity)) high = 1;
    if (!(low < Infinity)) low = 0;
    if (high <= low) high = low + 1;
    this.low = low;
    this.high = high + (high - low) * 0.05;
    this.isCut = peak > this.high;
  }

  axes(g) {
    const { x0, x1, y0, y1 } = this.plot;
    g.font = "12px system-ui, sans-serif";
    g.fillStyle = "#5c6773";
    g.strokeStyle = "#e6e9ed";
    g.lineWidth = 1;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const v of ticks(this.low, this.high, (y1 - y0) / 34)) {
      const y = Math.round(this.Y(v)) + .5;
      g.beginPath(); g.moveTo(x0, y); g.lineTo(x1, y); g.stroke();
      g.fillText(short(v), x0 - 6, y);
    }
    if (this.isCut) {
      g.textBaseline = "top";
      g.fillText("higher peaks are cut", x1 - 4, y0 + 2);
    }
    g.textAlign = "center";
    g.textBaseline = "top";
    const marks = ticks(view.from, view.to, Math.max(2, (x1 - x0) / 90));
    for (const t of marks) {
      const x = Math.round(this.X(t)) + .5;
      g.beginPath(); g.moveTo(x, y0); g.lineTo(x, y1); g.stroke();
      const label = seconds(t), half = g.measureText(label).width / 2;
      g.fillText(label, Math.min(Math.max(x, half + 1), x1 + RIGHT - half), y1 + 6);
    }
    g.strokeStyle = "#8a949e";
    g.beginPath(); g.moveTo(x0 + .5, y0); g.lineTo(x0 + .5, y1 + .5); g.lineTo(x1, y1 + .5); g.stroke();
  }

  cursor(g) {
    if (view.now < view.from || view.now > view.to) return;
    const x = Math.round(this.X(view.now)) + .5;
    g.strokeStyle = "#b00020";
    g.lineWidth = 1;
    g.beginPath(); g.moveTo(x, this.plot.y0); g.lineTo(x, this.plot.y1); g.stroke();
  }

  drawBands(g) {
    g.fillStyle = "#e8ddc4";
    for (const { from, to } of this.bands) {
      if (to < view.from || from > view.to) continue;
      const a = this.X(Math.max(from, view.from)), b = this.X(Math.min(to, view.to));
      g.fillRect(a, this.plot.y0, Math.max(.25, b - a), this.plot.y1 - this.plot.y0);
    }
  }

  // Of each column of pixels the first, least, greatest and last value.
  drawLine(g, { x, y, colour, dash, step }) {
    const { first, last } = this.visible(x, 1e9);
    g.strokeStyle = colour;
    g.lineWidth = 1.6;
    g.setLineDash(dash ? [5, 4] : []);
    g.beginPath();
    let open = false, column = null, least = 0, most = 0, lastY = 0;
    const flush = () => {
      if (column === null) return;
      if (least !== most) { g.lineTo(column, least); g.lineTo(column, most); }
      g.lineTo(column, lastY);
    };
    for (let k = first; k < last; k++) {
      if (y[k] === null || y[k] === undefined) { flush(); open = false; column = null; continue; }
      const [t, value] = atEdge(x, y, k, first, last, step);
      const px = Math.round(this.X(t) * 2) / 2, py = this.Y(value);
      if (!open) { g.moveTo(px, py); open = true; column = px; least = most = lastY = py; continue; }
      if (px === column) { least = Math.min(least, py); most = Math.max(most, py); lastY = py; continue; }
      flush();
      if (step) g.lineTo(px, lastY);
      column = px; least = most = lastY = py;
    }
    flush();
    g.stroke();
    g.setLineDash([]);
  }

  drawStacks(g) {
    const shown = this.stacks.filter(one => !one.hidden);
    if (!shown.length) return;
    const { x } = shown[0];
    const { first, last } = this.visible(x, 1e9);
    const columns = Math.max(1, Math.ceil((last - first) / (2 * (this.plot.x1 - this.plot.x0))));
    let below = new Float64Array(last - first);
    for (const { y, colour } of shown) {
      const above = below.slice();
      for (let k = first; k < last; k++) above[k - first] += y[k] || 0;
      g.fillStyle = colour + "b0";
      g.beginPath();
      // A value stands for the interval that ends at its time.
      const within = px => Math.min(Math.max(px, this.plot.x0 - 9), this.plot.x1 + 9);
      const left = k => within(this.X(k > 0 ? x[k - 1] : 2 * x[0] - (x[1] ?? 0)));
      for (let k = first; k < last; k += columns) {
        const py = this.Y(above[k - first]);
        if (k === first) g.moveTo(left(k), py); else g.lineTo(left(k), py);
        g.lineTo(within(this.X(x[Math.min(k + columns - 1, last - 1)])), py);
      }
      for (let k = last - 1; k >= first; k -= columns) {
        const from = Math.max(first, k - columns + 1), py = this.Y(below[from - first]);
        g.lineTo(within(this.X(x[k])), py);
        g.lineTo(left(from), py);
      }
      g.closePath();
      g.fill();
      below = above;
    }
  }

  drawPoints(g, { x, y, colour, shape, size = 3 }) {
    const { first, last, stride } = this.visible(x, DENSE.has(shape) ? 5000 : 3000);
    // Many stand close together: smaller, so that they do not hide what is below.
    if (!DENSE.has(shape)) size *= Math.min(1, Math.max(.4, 60 / (last - first)));
    g.fillStyle = g.strokeStyle = colour;
    g.lineWidth = 1.5;
    g.beginPath();
    for (let k = first; k < last; k += stride) {
      if (y[k] === null) continue;
      const px = this.X(x[k]), py = this.Y(y[k]);
      if (shape === "tick") { g.rect(px - 1, py - 1, 2, 2); continue; }
      if (shape === "dash") { g.rect(px - 3, py - .75, 6, 1.5); continue; }
      if (shape === "cross") { g.moveTo(px - size, py - size); g.lineTo(px + size, py + size); g.moveTo(px + size, py - size); g.lineTo(px - size, py + size); continue; }
      if (shape === "ring") { g.moveTo(px + size, py); g.arc(px, py, size, 0, 7); continue; }
      if (shape === "triangle") { g.moveTo(px, py - size * 1.4); g.lineTo(px + size * 1.3, py + size); g.lineTo(px - size * 1.3, py + size); g.closePath(); continue; }
      if (shape === "diamond") { g.moveTo(px, py - size * 1.3); g.lineTo(px + size * 1.3, py); g.lineTo(px, py + size * 1.3); g.lineTo(px - size * 1.3, py); g.closePath(); continue; }
      g.moveTo(px + size, py); g.arc(px, py, size, 0, 7);
    }
    if (shape === "cross" || shape === "ring") g.stroke(); else g.fill();
  }

  // The event of the point nearest to a place on the canvas.
  pick(px, py) {
    let best = 12 * 12, found = null;
    for (const points of this.points) {
      if (points.hidden || !points.event) continue;
      const around = 12 / (this.plot.x1 - this.plot.x0) * (view.to - view.from), t = this.T(px);
      const first = lowerBound(points.x, t - around), last = lowerBound(points.x, t + around);
      const stride = Math.max(1, Math.ceil((last - first) / 20000));
      // Rare events win over the ticks below them.
      const handicap = DENSE.has(points.shape) ? 16 : 0;
      for (let k = first; k < last; k += stride) {
        if (points.y[k] === null) continue;
        const far = (this.X(points.x[k]) - px) ** 2 + (this.Y(points.y[k]) - py) ** 2 + handicap;
        if (far < best) { best = far; found = { points, index: k }; }
      }
    }
    return found && found.points.event(found.index);
  }
}
Chart.all = [];

// Mouse, pen and touch on a chart.
function listen(chart) {
  const canvas = chart.canvas;
  let from = null, moved = false;
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.0015), chart.T(event.offsetX));
  }, { passive: false });
  canvas.addEventListener("pointerdown", event => {
    from = { x: event.offsetX, left: view.from, right: view.to };
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (!from) return;
    const by = (event.offsetX - from.x) / (chart.plot.x1 - chart.plot.x0) * (from.right - from.left);
    if (Math.abs(event.offsetX - from.x) > 4) moved = true;
    if (moved) { clampView(from.left - by, from.right - by); redraw(); }
  });
  canvas.addEventListener("pointercancel", () => { from = null; });
  canvas.addEventListener("pointerup", event => {
    if (from && !moved) {
      setNow(Math.min(Math.max(chart.T(event.offsetX), 0), view.end));
      const event_ = chart.pick(event.offsetX, event.offsetY);
      if (event_) show(event_);
    }
    from = null;
  });
  canvas.addEventListener("dblclick", () => { clampView(0, view.end); redraw(); });
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; drawAll(); });
}
