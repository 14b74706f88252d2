"use strict";
// Unpacks the runs, makes their panels, and keeps the time that all of them share.

const $ = id => document.getElementById(id);

// ---- unpacking ----

async function unpack() {
  const text = $("data").textContent, octets = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([octets]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// A table by columns becomes {length, time, NAME(index)}.
function table(columns) {
  const found = { length: 0, has: name => name in columns, at: (name, k) => read(columns[name], k) };
  if (columns.time_us) {
    found.length = columns.time_us.length;
    found.time = new Float64Array(found.length);
    let micros = 0;
    columns.time_us.forEach((by, k) => { micros += by; found.time[k] = micros / 1e6; });
  }
  found.columns = columns;
  return found;
}

function read(column, k) {
  if (column === undefined) return null;
  return column.words ? (column.at[k] < 0 ? null : column.words[column.at[k]]) : column[k];
}

// The indices of a table's rows by what `key` says of each; null: in no group.
function grouped(rows, key) {
  const groups = new Map();
  for (let k = 0; k < rows.length; k++) {
    const name = key(k);
    if (name === null) continue;
    const group = groups.get(name);
    if (group) group.push(k); else groups.set(name, [k]);
  }
  return groups;
}

const pickTime = (rows, indices) => Float64Array.from(indices, k => rows.time[k]);
const pickColumn = (rows, indices, name, factor = 1) => indices.map(k => { const v = rows.at(name, k); return v === null || v === undefined ? null : v * factor; });

// ---- what the topology asks of a run ----

class Direction {
  constructor(series, indices) {
    this.time = pickTime(series, indices);
    this.utilisation = pickColumn(series, indices, "utilisation");
    this.queue = pickColumn(series, indices, "queue_bytes");
    this.drops = pickColumn(series, indices, "drops_queue").map((v, k) => v + (series.at("drops_loss", indices[k]) || 0));
  }
  at(t) {
    const k = Math.min(lowerBound(this.time, t), this.time.length - 1);
    return k < 0 ? {} : { utilisation: this.utilisation[k], queue: this.queue[k], drops: this.drops[k] };
  }
}

function prepare(run) {
  for (const name of ["series", "link_series", "bond_series", "events"]) run[name] = table(run[name]);
  const links = run.link_series;
  run.directions = new Map();
  for (const [name, indices] of grouped(links, k => links.at("name", k) + "\n" + links.at("direction", k)))
    run.directions.set(name, new Direction(links, indices));
  run.pairs = [];
  run.links.forEach(link => {
    const ends = link.direction.split("->"), known = run.pairs.find(pair => pair.name === link.name);
    const direction = run.directions.get(link.name + "\n" + link.direction) || { at: () => ({ utilisation: link.utilisation }) };
    if (known) known.directions[1] = direction;
    else run.pairs.push({ name: link.name, ends, directions: [direction, null] });
  });
  run.routeNames = run.routes.map(route => route.name);
  run.interval = links.length ? (links.time.find(t => t > links.time[0]) ?? links.time[0] * 2) - links.time[0] || links.time[0] : run.end / 100;
  const events = run.events;
  run.kinds = grouped(events, k => events.at("kind", k));
  const collisions = run.kinds.get("collision") || [];
  run.collisions = collisions.length;
  const collisionTimes = pickTime(events, collisions);
  run.collisionsIn = (from, to) => {
    const hits = new Map();
    for (let k = lowerBound(collisionTimes, from); k < collisions.length && collisionTimes[k] <= to; k++) {
      const node = events.at("node", collisions[k]);
      hits.set(node, (hits.get(node) || 0) + 1);
    }
    return hits;
  };
  run.lastCollision = (node, t) => {
    for (let k = lowerBound(collisionTimes, t + 1e-9) - 1; k >= 0; k--) if (events.at("node", collisions[k]) === node) return collisions[k];
    return null;
  };
  const moves = run.kinds.get("movement") || [];
  const tracks = new Map();
  for (const k of moves) {
    const node = events.at("node", k);
    if (!tracks.has(node)) tracks.set(node, []);
    tracks.get(node).push({ t: events.time[k], x: events.at("x_m", k), y: events.at("y_m", k) });
  }
  run.stationsAt = t => {
    const found = new Map(run.radios.map(radio => [radio.station, { x: radio.x_m, y: radio.y_m }]));
    for (const [node, track] of tracks) {
      let low = 0, high = track.length - 1;
      while (low < high) { const middle = (low + high + 1) >> 1; if (track[middle].t <= t) low = middle; else high = middle - 1; }
      found.set(node, track[low]);
    }
    return found;
  };
  const spots = [...run.radios.map(radio => ({ x: radio.x_m, y: radio.y_m })), ...[...tracks.values()].flat()];
  if (spots.length) {
    const side = (pick, f) => spots.reduce((best, spot) => f(best, pick(spot)), pick(spots[0]));
    const pad = 20 + .03 * Math.max(side(s => s.x, Math.max) - side(s => s.x, Math.min), 1);
    run.bounds = { x0: side(s => s.x, Math.min) - pad, x1: side(s => s.x, Math.max) + pad, y0: side(s => s.y, Math.min) - pad, y1: side(s => s.y, Math.max) + pad };
  }
  run.routesAt = t => run.routes.map(route => {
    const change = run.route_changes.find(one => one.name === route.name && one.from_s <= t && (one.until_s === null || t < one.until_s));
    return { name: route.name, stations: ((change || route).stations || "").split(" ") };
  });
  return run;
}

// ---- events ----

const UNITS = { time_s: "s", bytes: "octets", cwnd_bytes: "octets", ssthresh_bytes: "octets", duration_ms: "ms", x_m: "m", y_m: "m" };

function describe(run, k) {
  const events = run.events, facts = { time_s: +events.time[k].toFixed(6) };
  for (const name of Object.keys(events.columns)) {
    if (name === "time_us") continue;
    const value = events.at(name, k);
    if (value !== null && value !== undefined) facts[name] = value;
  }
  // Why a segment went where it did: what the scheduler last said of its octets.
  if (facts.kind === "segment" && !facts.reason) {
    const why = reasonOf(run, facts);
    if (why) facts.reason = why;
  }
  return { run, index: k, facts };
}

function reasonOf(run, segment) {
  const events = run.events;
  for (const kind of ["reinjection", "scheduling"]) {
    const indices = run.kinds.get(kind) || [];
    let low = 0, high = indices.length;
    while (low < high) { const middle = (low + high) >> 1; if (events.time[indices[middle]] <= segment.time_s) low = middle + 1; else high = middle; }
    for (let k = low - 1, tries = 0; k >= 0 && tries < 20000; k--, tries++) {
      const at = indices[k], data = events.at("data", at);
      if (events.at("connection", at) === segment.connection && events.at("subflow", at) === segment.subflow
        && data !== null && data <= segment.data && segment.data < data + events.at("bytes", at)) return events.at("reason", at);
    }
  }
  return null;
}

function show(found) {
  const { run, index, facts } = found;
  run.chosen = index;
  const list = run.about.querySelector("dl");
  list.replaceChildren();
  const words = { time_s: "time", cwnd_bytes: "cwnd", ssthresh_bytes: "ssthresh", duration_ms: "duration", x_m: "x", y_m: "y", data: "position in the stream" };
  const order = ["event", "reason", ...Object.keys(facts).filter(name => name !== "event" && name !== "reason")];
  for (const name of order) {
    if (facts[name] === undefined) continue;
    const term = document.createElement("dt"), value = document.createElement("dd");
    term.textContent = words[name] || name;
    value.textContent = typeof facts[name] === "number" && UNITS[name] ? `${facts[name]} ${UNITS[name]}` : String(facts[name]);
    list.append(term, value);
  }
  run.about.hidden = false;
  redraw();
}

// The rare events nearest to the time of the slider.
function listEvents(run) {
  const body = run.list, times = run.rareTimes;
  if (!times.length) return;
  const middle = lowerBound(times, view.now), first = Math.max(0, Math.min(middle - 4, times.length - 10));
  if (run.listed === first && run.listedChosen === run.chosen) return;
  run.listed = first;
  run.listedChosen = run.chosen;
  body.replaceChildren(...run.rare.slice(first, first + 10).map(k => {
    const row = document.createElement("tr"), events = run.events;
    const where = [events.at("connection", k), events.at("path", k), events.at("node", k), events.at("link", k)];
    const cells = [events.time[k].toFixed(6), events.at("event", k), [...new Set(where.filter(one => one !== null))].join(", "), events.at("reason", k) || ""];
    row.append(...cells.map(text => Object.assign(document.createElement("td"), { textContent: text })));
    if (k === run.chosen) row.className = "chosen";
    row.onclick = () => { setNow(events.time[k]); show(describe(run, k)); };
    return row;
  }));
}

// ---- panels ----

function panels(run, host, isAlone) {
  const box = document.createElement("article");
  box.className = "run" + (isAlone ? " alone" : "");
  host.append(box);
  const facts = document.createElement("p");
  facts.className = "wide";
  const thinned = run.one_of > 1 ? `; of the frequent ones every ${run.one_of}th is shown` : "";
  const none = run.events_total ? "" : "; name kinds in `events` of [scenario] to see reasons";
  facts.textContent = `${run.name}, seed ${run.seed}, scenario ${run.hash}: ${run.events_total.toLocaleString("en")} events${thinned}${none}`;
  box.append(facts);
  run.topology = new Topology(box, run);
  const about = run.about = document.createElement("section");
  about.className = "panel about wide";
  about.hidden = true;
  about.innerHTML = "<h2>The event</h2><dl></dl>";
  box.append(about);
  const holder = document.createElement("div");
  const names = run.connections.map(one => one.name);
  if (names.length > 1) {
    const label = document.createElement("label"), select = document.createElement("select");
    label.className = "wide";
    label.append("Connection ", select);
    select.append(...names.map(name => new Option(name, name)));
    select.onchange = () => { connectionPanels(run, holder, select.value); redraw(); };
    box.append(label);
  }
  holder.className = box.className + " wide";
  box.append(holder);
  if (names.length) connectionPanels(run, holder, names[0]);
  linkPanels(run, box);
  bondPanels(run, box);
  eventPanel(run, box);
}

function connectionPanels(run, holder, name) {
  Chart.all = Chart.all.filter(chart => !holder.contains(chart.box));
  holder.replaceChildren();
  const series = run.series, events = run.events;
  const paths = new Map(run.subflows.filter(one => one.connection === name).map(one => [one.subflow, one.path]));
  const label = number => paths.size > 1 || paths.get(number) ? `${paths.get(number) || "subflow " + number}` : name;
  const several = new Set(paths.values()).size < paths.size;
  const called = number => several ? `${label(number)} (${number})` : label(number);
  const colour = number => COLOURS[[...paths.keys()].indexOf(number) % COLOURS.length];
  const own = kind => (run.kinds.get(kind) || []).filter(k => events.at("connection", k) === name);
  const points = (indices, value, rest) => ({ x: pickTime(events, indices), y: value(indices), event: k => describe(run, indices[k]), ...rest });
  sequencePanel(run, holder, { name, paths, called, colour, own, points });

  const subflows = grouped(series, k => series.at("connection", k) === name ? series.at("subflow", k) ?? null : null);
  const lines = [], rtts = [], stacks = [];
  const windowEvents = own("window");
  const bySubflow = new Map();
  for (const k of windowEvents) { const s = events.at("subflow", k); if (!bySubflow.has(s)) bySubflow.set(s, []); bySubflow.get(s).push(k); }
  for (const [number, indices] of subflows) {
    const x = pickTime(series, indices), c = colour(number);
    const precise = run.one_of === 1 && bySubflow.get(number);
    lines.push(precise
      ? { name: `cwnd ${called(number)}`, colour: c, x: pickTime(events, precise), y: pickColumn(events, precise, "cwnd_bytes"), step: true }
      : { name: `cwnd ${called(number)}`, colour: c, x, y: pickColumn(series, indices, "cwnd_bytes") });
    if (series.has("ssthresh_bytes")) lines.push({ name: `ssthresh ${called(number)}`, colour: c, dash: true, x, y: pickColumn(series, indices, "ssthresh_bytes"), hidden: paths.size > 3 });
    lines.push({ name: `in flight ${called(number)}`, colour: c + "70", x, y: pickColumn(series, indices, "flight_bytes"), hidden: paths.size > 2 });
    rtts.push({ name: `SRTT ${called(number)}`, colour: c, x, y: pickColumn(series, indices, "srtt_ms") });
    stacks.push({ name: called(number), colour: c, x, y: pickColumn(series, indices, "throughput_mbps") });
  }
  const cwndPoints = [];
  const timeouts = own("timeout"), recoveries = own("recovery");
  const sampled = new Map([...subflows].map(([number, rows]) => [number, { rows, time: pickTime(series, rows) }]));
  const at = (indices, column) => indices.map(k => {
    const { rows, time } = sampled.get(events.at("subflow", k)) || { rows: [], time: [] };
    const place = Math.min(lowerBound(time, events.time[k]), rows.length - 1);
    return place < 0 ? 0 : series.at(column, rows[place]);
  });
  if (timeouts.length) cwndPoints.push(points(timeouts, one => at(one, "cwnd_bytes"), { name: "timeout", colour: "#b00020", shape: "triangle", size: 4 }));
  if (recoveries.length) cwndPoints.push(points(recoveries, one => at(one, "cwnd_bytes"), { name: "recovery begins, ends", colour: "#444c56", shape: "dot", size: 3 }));
  if (lines.length) new Chart(holder, { title: "Windows", unit: "octets", lines, points: cwndPoints, height: 210 });
  const samples = own("rtt");
  const rttPoints = samples.length ? [points(samples, one => pickColumn(events, one, "duration_ms"), { name: "samples", colour: "#9aa5b1", shape: "tick" })] : [];
  if (rtts.length) new Chart(holder, { title: "Round-trip time", unit: "ms", lines: rtts, points: rttPoints, height: 210, cutsPeaks: true });
  const whole = [];
  for (let k = 0; k < series.length; k++) if (series.at("connection", k) === name && (series.at("subflow", k) ?? null) === null) whole.push(k);
  const goodput = { name: "delivered in order", colour: "#1d2530", x: pickTime(series, whole), y: pickColumn(series, whole, "throughput_mbps") };
  new Chart(holder, { title: "Throughput per path, stacked", unit: "Mbit/s", stacks: aligned(stacks), lines: [goodput], cutsPeaks: true });
  if (series.has("reorder_buffer_bytes") && whole.some(k => series.at("reorder_buffer_bytes", k))) {
    new Chart(holder, {
      title: "Waiting behind a hole (head-of-line blocking)", unit: "octets",
      lines: [{ name: "reordering buffer", colour: COLOURS[0], x: goodput.x, y: pickColumn(series, whole, "reorder_buffer_bytes") }],
      bands: blocked(run, name), bandName: "blocked",
    });
  }
}

// Stacks share their times: a subflow that came late begins with zeros.
function aligned(stacks) {
  const times = [...new Set(stacks.flatMap(one => [...one.x]))].sort((a, b) => a - b), place = new Map(times.map((t, k) => [t, k]));
  const x = Float64Array.from(times);
  return stacks.map(one => {
    const y = new Array(times.length).fill(0);
    one.x.forEach((t, k) => { y[place.get(t)] = one.y[k]; });
    return { ...one, x, y };
  });
}

function blocked(run, name) {
  const events = run.events, bands = [];
  let from = null;
  for (const k of run.kinds.get("blocking") || []) {
    if (events.at("connection", k) !== name) continue;
    if (events.at("event", k) === "blocked") from = events.time[k];
    else if (from !== null) { bands.push({ from, to: events.time[k] }); from = null; }
  }
  if (from !== null) bands.push({ from, to: run.end });
  return bands;
}

function sequencePanel(run, holder, { name, paths, called, colour, own, points }) {
  const events = run.events, all = [];
  const position = indices => pickColumn(events, indices, "data");
  const segments = own("segment"), source = segments.length ? segments : own("scheduling");
  const bySubflow = grouped({ length: source.length }, i => events.at("subflow", source[i]));
  // What a subflow has carried before, it sends again.
  const again = [];
  for (const [number, places] of [...bySubflow].sort(([a], [b]) => a - b)) {
    const indices = places.map(i => source[i]), fresh = [];
    let edge = -1;
    for (const k of indices) {
      const data = events.at("data", k);
      if (segments.length && run.one_of === 1 && data < edge && data !== null) again.push(k); else fresh.push(k);
      edge = Math.max(edge, data);
    }
    all.push(points(fresh, position, { name: called(number), colour: paths.has(number) ? colour(number) : "#546e7a", shape: "tick" }));
  }
  const sacks = own("sack");
  if (sacks.length) all.push(points(sacks, position, { name: "selectively acknowledged", colour: "#2e8b57", shape: "dash" }));
  again.sort((a, b) => a - b);
  if (again.length) all.push(points(again, position, { name: "sent again, or out of order, on its subflow", colour: "#d81b9a", shape: "dot", size: 2.5 }));
  const reinjected = own("reinjection").filter(k => events.at("data", k) !== null);
  if (reinjected.length) all.push(points(reinjected, position, { name: "reinjected", colour: "#111", shape: "diamond", size: 4 }));
  const drops = own("drop").filter(k => events.at("data", k) !== null);
  if (drops.length) all.push(points(drops, position, { name: "lost", colour: "#b00020", shape: "cross", size: 4 }));
  if (!all.length) return;
  const what = segments.length ? "segments as they leave the sender's link" : "octets as the scheduler gives them to subflows";
  const chart = new Chart(holder, {
    title: `Time and sequence of ${name}`, unit: "octets of the stream", note: `Position in the connection's stream: ${what}.`, points: all,
    bands: blocked(run, name), bandName: "data waits behind a hole", height: 300,
  });
  chart.floor = null;
  chart.box.classList.add("wide");
}

function linkPanels(run, box) {
  const queues = [], busy = [], losses = [], events = run.events;
  // A direction of a link has one colour in both charts.
  for (const [name, direction] of run.directions) {
    const [link, way] = name.split("\n"), x = direction.time;
    const hasQueue = direction.queue.some(v => v), isBusy = direction.utilisation.some(v => v > .005);
    if (!hasQueue && !isBusy) continue;
    const one = { name: `${link} ${way.replace("->", " → ")}`, most: Math.max(...direction.queue.slice(0, 1e5)), x };
    if (hasQueue) queues.push({ ...one, y: direction.queue });
    if (isBusy) busy.push({ ...one, y: direction.utilisation.map(v => v === null ? null : v * 100) });
  }
  for (const list of [queues, busy]) list.sort((a, b) => b.most - a.most);
  const names = [...new Set([...queues, ...busy].map(one => one.name))];
  for (const list of [queues, busy]) {
    list.forEach((one, i) => { one.colour = COLOURS[names.indexOf(one.name) % COLOURS.length]; one.hidden = i >= 8; });
  }
  const colours = { queue: "#b00020", aqm: "#8b3fa8", loss: "#d1570a", down: "#111" };
  const byCause = grouped({ length: (run.kinds.get("drop") || []).length }, i => (events.at("reason", run.kinds.get("drop")[i]) || "").split(":")[0]);
  for (const [cause, places] of byCause) {
    const indices = places.map(i => run.kinds.get("drop")[i]);
    const height = j => { const of = run.directions.get(events.at("link", j) + "\n" + events.at("direction", j)); return of ? of.at(events.time[j]).queue || 0 : 0; };
    losses.push({ name: `dropped: ${cause}`, colour: colours[cause] || "#444", shape: "cross", x: pickTime(events, indices), y: indices.map(height), event: i => describe(run, indices[i]) });
  }
  if (queues.length || losses.length) new Chart(box, { title: "Queues of links", unit: "octets", lines: queues, points: losses, height: 220 });
  if (busy.length) new Chart(box, { title: "Utilisation of links", unit: "%", lines: busy, height: 220 });
}

function bondPanels(run, box) {
  const series = run.bond_series, groups = grouped(series, k => series.at("path", k) === null ? null : series.at("name", k) + " " + series.at("direction", k));
  for (const [name, indices] of groups) {
    const byPath = grouped({ length: indices.length }, i => series.at("path", indices[i]));
    const stacks = [], queueing = [];
    let k = 0;
    for (const [path, places] of byPath) {
      const rows = places.map(i => indices[i]), c = COLOURS[k++ % COLOURS.length], x = pickTime(series, rows);
      stacks.push({ name: path, colour: c, x, y: pickColumn(series, rows, "sent_mbps") });
      queueing.push({ name: `queueing ${path}`, colour: c, x, y: pickColumn(series, rows, "queueing_ms") });
      queueing.push({ name: `SRTT ${path}`, colour: c, dash: true, x, y: pickColumn(series, rows, "srtt_ms") });
    }
    if (!stacks.some(one => one.y.some(v => v > 0))) continue;
    new Chart(box, { title: `Bond ${name.replace("->", " → ")}: sent per path, stacked`, unit: "Mbit/s", stacks });
    new Chart(box, { title: `Bond ${name.replace("->", " → ")}: delays of paths`, unit: "ms", lines: queueing });
  }
  const counted = run.decisions;
  if (!counted.width) return;
  const count = counted.bin.length, ways = grouped({ length: count }, k => read(counted.link, k) + " " + read(counted.direction, k));
  for (const [name, indices] of ways) {
    const x = Float64Array.from({ length: counted.bins }, (_, k) => (k + 1) * counted.width);
    const stacks = new Map();
    for (const k of indices) {
      const key = `${read(counted.path, k)}: ${read(counted.reason, k)}`;
      if (!stacks.has(key)) stacks.set(key, { name: key, colour: COLOURS[stacks.size % COLOURS.length], x, y: new Array(counted.bins).fill(0) });
      stacks.get(key).y[counted.bin[k]] += counted.packets[k] / counted.width;
    }
    new Chart(box, { title: `Bond ${name.replace("->", " → ")}: decisions and their reasons`, unit: "packets/s", stacks: [...stacks.values()] });
  }
  const events = run.events, states = run.kinds.get("bond") || [];
  const paths = [...new Set(states.map(k => events.at("path", k) || "whole"))];
  if (states.length) {
    new Chart(box, {
      title: "Events of bonds", unit: "row of the path", note: paths.map((path, k) => `${k + 1}: ${path}`).join(" · "), height: 130,
      points: [{ name: "state, weight, packets given up", colour: "#8b3fa8", shape: "dot", x: pickTime(events, states), y: states.map(k => paths.indexOf(events.at("path", k) || "whole") + 1), event: k => describe(run, states[k]) }],
    });
  }
}

const FREQUENT = new Set(["segment", "scheduling", "sack", "window", "rtt", "collision", "movement", "mark"]);

function eventPanel(run, box) {
  const events = run.events;
  run.rare = [];
  for (let k = 0; k < events.length; k++) if (!FREQUENT.has(events.at("kind", k))) run.rare.push(k);
  run.rareTimes = pickTime(events, run.rare);
  if (!run.rare.length) return;
  const panel = document.createElement("section");
  panel.className = "panel wide";
  panel.innerHTML = "<h2>Events around the time of the slider</h2><div class=\"table\"><table><thead><tr><th>time [s]</th><th>event</th><th>where</th><th>why</th></tr></thead><tbody></tbody></table></div>";
  run.list = panel.querySelector("tbody");
  box.append(panel);
}

// ---- two runs side by side ----

// What a panel shows, whatever the connection or bond is called.
const kindOf = panel => panel.querySelector("h2").textContent.split(/ of | \[|,/)[0];

// Panels that show the same begin at the same height.
function align() {
  const [left, right] = [...document.querySelectorAll("article.run")].map(
    box => [...box.querySelectorAll(".panel")].filter(panel => !panel.hidden));
  if (!right) return;
  for (const panel of [...left, ...right]) panel.style.marginTop = "";
  if (left[0].closest("article").offsetTop !== right[0].closest("article").offsetTop) return;
  const top = panel => panel.getBoundingClientRect().top;
  let next = 0;
  for (const panel of left) {
    const found = right.findIndex((other, k) => k >= next && kindOf(other) === kindOf(panel));
    if (found < 0) continue;
    const lower = top(right[found]) - top(panel);
    (lower > 0 ? panel : right[found]).style.marginTop = Math.abs(lower) + "px";
    next = found + 1;
  }
}

function alignAlways() {
  const sizes = new ResizeObserver(() => requestAnimationFrame(align));
  const watch = () => document.querySelectorAll(".panel").forEach(panel => sizes.observe(panel));
  // Another connection has other panels.
  const changes = new MutationObserver(watch);
  for (const holder of document.querySelectorAll("article.run > .run")) changes.observe(holder, { childList: true });
  watch();
  align();
}

// ---- the time ----

let runs = [];

function drawAll() {
  const began = performance.now();
  $("now").textContent = seconds(view.now);
  $("slider").value = Math.round(view.now / view.end * 10000);
  for (const run of runs) {
    if (isSeen(run.topology.box)) run.topology.draw();
    if (run.list) listEvents(run);
  }
  for (const chart of Chart.all) if (isSeen(chart.box)) chart.draw();
  window.lastDraw = performance.now() - began;
}

function isSeen(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return window.drawHidden || bottom > -200 && top < innerHeight + 200;
}

function setNow(t) {
  view.now = t;
  redraw();
}

let player = null;
function play() {
  $("play").textContent = player ? "▶" : "❚❚";
  if (player) { cancelAnimationFrame(player); player = null; return; }
  let last = performance.now();
  if (view.now >= view.to) view.now = view.from;
  const step = at => {
    view.now += (at - last) / 1000 * (view.to - view.from) / 20;
    last = at;
    if (view.now >= view.to) { view.now = view.to; drawAll(); player && play(); return; }
    drawAll();
    player = requestAnimationFrame(step);
  };
  player = requestAnimationFrame(step);
}

async function main() {
  runs = (await unpack()).map(prepare);
  view.end = Math.max(...runs.map(run => run.end)) || 1;
  clampView(0, view.end);
  const host = $("runs");
  host.style.setProperty("--columns", runs.length);
  for (const run of runs) panels(run, host, runs.length === 1);
  $("state").remove();
  $("slider").oninput = event => setNow(event.target.value / 10000 * view.end);
  $("closer").onclick = () => zoom(.5, view.now);
  $("wider").onclick = () => zoom(2, view.now);
  $("all").onclick = () => { clampView(0, view.end); redraw(); };
  $("play").onclick = play;
  addEventListener("keydown", event => {
    if (event.target.tagName === "SELECT" || event.target.tagName === "BUTTON") return;
    if (event.key === "+") zoom(.5, view.now);
    else if (event.key === "-") zoom(2, view.now);
    else if (event.key === "0") { clampView(0, view.end); redraw(); }
    else if (event.key === " " && event.target.id !== "slider") { event.preventDefault(); play(); }
  });
  if (runs.length === 2) alignAlways();
  addEventListener("resize", redraw);
  addEventListener("scroll", redraw, { passive: true });
  drawAll();
  document.body.dataset.ready = "yes";
}

main().catch(error => { $("state").textContent = "This page could not be unpacked: " + error; document.body.dataset.failed = String(error); });
