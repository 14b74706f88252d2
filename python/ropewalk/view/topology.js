"use strict";
// The network: nodes and links, or stations on a map, at the time of the slider.

// From grey over blue to red: how busy a link is.
function heat(share) {
  if (share === null || share === undefined) return "#7a8794";
  const stops = [[160, 172, 184], [46, 134, 222], [240, 160, 30], [200, 20, 40]];
  const place = Math.min(Math.max(share, 0), 1) * 3, k = Math.min(2, Math.floor(place)), part = place - k;
  return "rgb(" + stops[k].map((c, i) => Math.round(c + (stops[k + 1][i] - c) * part)).join(",") + ")";
}

class Topology {
  constructor(host, run) {
    this.run = run;
    this.box = document.createElement("section");
    this.box.className = "panel wide";
    this.box.innerHTML = "<h2></h2><ul class=\"legend\"></ul><canvas role=\"img\"></canvas>";
    this.box.querySelector("h2").textContent = run.radios.length ? "Map [m]" : "Network";
    this.canvas = this.box.querySelector("canvas");
    this.canvas.setAttribute("aria-label", "The network at the time of the slider");
    host.append(this.box);
    this.layOut();
    const legend = this.box.querySelector("ul");
    const entry = (colour, text) => {
      const item = document.createElement("li");
      item.innerHTML = `<span class="swatch" style="background:${colour}"></span> `;
      item.append(text);
      legend.append(item);
    };
    if (!run.radios.length) {
      for (const share of [0, .33, .67, 1]) entry(heat(share), `${Math.round(share * 100)} %`);
      legend.append(Object.assign(document.createElement("li"), { textContent: "utilisation of a link's direction in the interval" }));
    }
    if (run.routeNames.length) run.routeNames.forEach((name, k) => entry(COLOURS[k % COLOURS.length], `route ${name}`));
    if (run.collisions) entry("#b00020", "ring: collisions in the last interval; a click on a station shows its last one");
    this.canvas.addEventListener("click", event => {
      const near = [...(this.spots || [])].map(([name, at]) => [Math.hypot(at.x - event.offsetX, at.y - event.offsetY), name]).sort((a, b) => a[0] - b[0])[0];
      const found = near && near[0] < 14 ? run.lastCollision(near[1], view.now) : null;
      if (found !== null) show(describe(run, found));
    });
  }

  layOut() {
    const run = this.run;
    this.height = run.radios.length ? 420 : 150;
    this.nodes = new Map();
    const neighbours = new Map();
    const wires = run.pairs.filter(pair => !run.routeNames.includes(pair.name));
    for (const pair of wires) {
      for (const [a, b] of [pair.ends, [...pair.ends].reverse()]) {
        if (!neighbours.has(a)) neighbours.set(a, new Set());
        neighbours.get(a).add(b);
      }
    }
    const roots = [...new Set(run.connections.map(one => one.source))].filter(one => neighbours.has(one));
    const depth = new Map(), queue = roots.length ? [...roots] : [...neighbours.keys()].slice(0, 1);
    queue.forEach(one => depth.set(one, 0));
    while (queue.length) {
      const one = queue.shift();
      for (const other of neighbours.get(one) || []) if (!depth.has(other)) { depth.set(other, depth.get(one) + 1); queue.push(other); }
    }
    for (const one of neighbours.keys()) if (!depth.has(one)) depth.set(one, 0);
    const layers = [];
    for (const [one, d] of depth) (layers[d] ||= []).push(one);
    // Who shares a layer is ordered by the middle of its neighbours before it.
    const row = new Map();
    layers.forEach(layer => {
      const middle = one => {
        const before = [...neighbours.get(one)].filter(other => row.has(other)).map(other => row.get(other));
        return before.length ? before.reduce((a, b) => a + b) / before.length : 0;
      };
      layer.sort((a, b) => middle(a) - middle(b));
      layer.forEach((one, k) => row.set(one, (k + .5) / layer.length));
    });
    layers.forEach((layer, d) => layer.forEach(one => this.nodes.set(one, { u: layers.length > 1 ? d / (layers.length - 1) : .5, v: row.get(one) })));
    const most = Math.max(1, ...layers.map(layer => layer.length));
    const parallel = new Map();
    for (const pair of wires) {
      const key = [...pair.ends].sort().join("\n");
      parallel.set(key, (parallel.get(key) || 0) + 1);
    }
    if (!run.radios.length) this.height = Math.min(620, Math.max(110, most * 84, Math.max(1, ...parallel.values()) * 50 + 10));
    this.wires = wires;
    this.parallel = parallel;
  }

  draw() {
    const width = this.canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = this.height + "px";
    const g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, this.height);
    g.font = "12px system-ui, sans-serif";
    if (this.run.radios.length) this.map(g, width);
    else this.wired(g, width);
  }

  wired(g, width) {
    const place = name => {
      const { u, v } = this.nodes.get(name);
      return { x: 60 + u * (width - 120), y: 14 + v * (this.height - 28) };
    };
    const seen = new Map(), labels = [];
    for (const pair of this.wires) {
      const key = [...pair.ends].sort().join("\n"), count = this.parallel.get(key), k = seen.get(key) || 0;
      seen.set(key, k + 1);
      const a = place(pair.ends[0]), b = place(pair.ends[1]);
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1, nx = -(b.y - a.y) / length, ny = (b.x - a.x) / length;
      const bend = (k - (count - 1) / 2) * Math.min(52, (this.height - 40) / Math.max(1, count)) * 2;
      pair.directions.forEach((direction, which) => {
        if (!direction) return;
        const side = (which ? -2.5 : 2.5), cx = (a.x + b.x) / 2 + nx * (bend + side * 2), cy = (a.y + b.y) / 2 + ny * (bend + side * 2);
        const state = direction.at(view.now);
        g.strokeStyle = heat(state.utilisation);
        g.lineWidth = 3.5;
        g.beginPath();
        g.moveTo(a.x + nx * side, a.y + ny * side);
        g.quadraticCurveTo(cx, cy, b.x + nx * side, b.y + ny * side);
        g.stroke();
      });
      const forth = pair.directions[0]?.at(view.now) || {}, back = pair.directions[1]?.at(view.now) || {};
      const percent = state => state.utilisation === undefined || state.utilisation === null ? "–" : Math.round(state.utilisation * 100) + " %";
      labels.push(this.labelled(g, pair.name, `${percent(forth)} → ${percent(back)} ←`, { x: (a.x + b.x) / 2 + nx * bend / 2, y: (a.y + b.y) / 2 + ny * bend / 2 }, b.x - a.x, b.y - a.y));
    }
    for (const [text, x, y] of labels) this.label(g, text, x, y, width);
    for (const [name] of this.nodes) this.node(g, name, place(name), width);
  }

  // A link's text and its place: beside a link that rises, on the outer side; without the load where the link is short.
  labelled(g, name, load, { x, y }, across, down) {
    const whole = `${name}: ${load}`, wide = g.measureText(whole).width;
    if (Math.abs(across) < 1) return [whole, x + wide / 2 + 12, y];
    const text = wide < Math.abs(across) - 60 ? whole : name, half = g.measureText(text).width / 2;
    const away = Math.min(24, 9 + Math.abs(down / across) * half);
    return [text, x, down && y > this.height / 2 ? y + away : y - away];
  }

  label(g, text, x, y, width) {
    const half = g.measureText(text).width / 2;
    x = Math.min(Math.max(x, half + 4), width - half - 4);
    g.textAlign = "center";
    g.textBaseline = "middle";
    // The links stay in sight around the letters.
    g.strokeStyle = "#fff";
    g.lineWidth = 4;
    g.lineJoin = "round";
    g.strokeText(text, x, y);
    g.fillStyle = "#1d2530";
    g.fillText(text, x, y);
  }

  node(g, name, { x, y }, width) {
    g.fillStyle = "#1d2530";
    const half = g.measureText(name).width / 2 + 7;
    x = Math.min(Math.max(x, half + 2), width - half - 2);
    g.beginPath();
    g.roundRect(x - half, y - 11, 2 * half, 22, 5);
    g.fill();
    g.fillStyle = "#fff";
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.fillText(name, x, y);
  }

  map(g, width) {
    const run = this.run, all = run.stationsAt(view.now);
    const bounds = run.bounds, left = 62, right = 14, top = 10, bottom = 30;
    const scale = Math.min((width - left - right) / (bounds.x1 - bounds.x0), (this.height - top - bottom) / (bounds.y1 - bounds.y0));
    const spare = Math.max(0, width - left - right - (bounds.x1 - bounds.x0) * scale) / 2;
    const X = x => left + spare + (x - bounds.x0) * scale, Y = y => this.height - bottom - (y - bounds.y0) * scale;
    g.strokeStyle = "#e6e9ed";
    g.fillStyle = "#5c6773";
    g.textAlign = "center";
    g.textBaseline = "top";
    for (const x of ticks(bounds.x0, bounds.x1, 8)) {
      g.beginPath(); g.moveTo(X(x), Y(bounds.y0)); g.lineTo(X(x), Y(bounds.y1)); g.stroke();
      g.fillText(short(x) + " m", X(x), this.height - bottom + 6);
    }
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const y of ticks(bounds.y0, bounds.y1, 6)) {
      g.beginPath(); g.moveTo(X(bounds.x0), Y(y)); g.lineTo(X(bounds.x1), Y(y)); g.stroke();
      g.fillText(short(y) + " m", left + spare - 6, Y(y));
    }
    run.routesAt(view.now).forEach(({ name, stations }) => {
      const k = run.routeNames.indexOf(name), off = (k % 4 - 1.5) * 2.5;
      g.strokeStyle = COLOURS[k % COLOURS.length];
      g.lineWidth = 3;
      g.beginPath();
      stations.forEach((station, i) => {
        const at = all.get(station);
        if (at) i ? g.lineTo(X(at.x) + off, Y(at.y) + off) : g.moveTo(X(at.x) + off, Y(at.y) + off);
      });
      g.stroke();
    });
    const hits = run.collisionsIn(view.now - run.interval, view.now);
    const many = all.size > 60;
    this.spots = new Map([...all].map(([name, at]) => [name, { x: X(at.x), y: Y(at.y) }]));
    for (const [name, at] of all) {
      const x = X(at.x), y = Y(at.y), count = hits.get(name) || 0;
      if (count) {
        g.strokeStyle = "#b00020";
        g.lineWidth = 2;
        g.beginPath(); g.arc(x, y, 7 + Math.min(12, Math.sqrt(count) * 2), 0, 7); g.stroke();
      }
      g.fillStyle = "#1d2530";
      g.beginPath(); g.arc(x, y, many ? 3 : 5, 0, 7); g.fill();
      if (!many) {
        g.textAlign = "left";
        g.textBaseline = "bottom";
        g.fillText(name, x + 7, y - 3);
      }
    }
  }
}
