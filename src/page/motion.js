// SPDX-License-Identifier: Apache-2.0
// The network in motion: links, queues and pauses of a run over a slider of time.
// --- values ------------------------------------------------------------------------------------------------------

var base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The share that a port's text has in a frame.
function share(text, k) { return base64.indexOf(text.charAt(k)) / 63; }
/// At most `most` names, those with the greatest weight, in the order of names.
function busiest(names, weight, most) {
  return names.sort(function (a, b) { return weight[b] - weight[a]; }).slice(0, most).sort(function (a, b) { return a.localeCompare(b, undefined, { numeric: true }); });
}
/// Where nodes stand: hosts below, a row a layer. [{layer, all, shown}], and place by name.
function rowsOfNodes(list, weight, most) {
  var of = {}, tier = {};
  list.forEach(function (l) {
    of[l.node] = l.layer; tier[l.node] = l.tier;
    of[l.peer] = l.peer_layer; tier[l.peer] = l.peer_tier;
  });
  return group(Object.keys(of), function (n) { return tier[n] + " " + of[n]; })
    .sort(function (a, b) { return tier[b.values[0]] - tier[a.values[0]] || (a.key < b.key ? -1 : 1); })
    .map(function (g) { return { layer: of[g.values[0]], all: g.values.length, shown: busiest(g.values, weight, most) }; });
}
/// What happens and when, in order: [{us, text, port}].
function moments(run) {
  var list = [], paused = {};
  rows(run, "pauses").slice().sort(function (a, b) { return a.from_us - b.from_us; }).forEach(function (p) {
    if (paused[p.port]) return;
    paused[p.port] = true;
    list.push({ us: p.from_us, port: p.port, text: p.port + " is paused for the first time" + (p.by_port ? ", by " + p.by_port : "") });
  });
  rows(run, "changes").forEach(function (c) { list.push({ us: c.us, port: c.port, text: c.port + ": " + c.kind.replace(/_/g, " ") }); });
  rows(run, "ends").forEach(function (e) { list.push({ us: e.us, text: "the last flow of " + e.group + " finishes" }); });
  return list.sort(function (a, b) { return a.us - b.us; });
}

// --- the picture -------------------------------------------------------------------------------------------------

function motion(s, run) {
  var m = run.why && run.why.motion, list = rows(run, "links");
  if (!m || !m.ports.length || !list.length) return;
  var f = figure(s, "Links, queues and pauses of " + label(run), "Each row is a layer, hosts below. A line is one direction of a link, as dark as it is busy, orange and dashed while it is paused; the bar at a node is its fullest egress queue, of " +
    bytes(m.queue_bytes) + " at most. " + m.frames + " steps of " + time(m.every_us) + "; the " + m.ports.length + " ports that did most move, and of each layer up to 32 nodes are drawn. Click a line, or choose a port, for its queue over time; choose a flow for its way.", run, ["changes", "ends"]);
  var port = {}, weight = {}, down = {}, events = moments(run), now = 0, timer = null, chosen = null;
  list.forEach(function (l) { weight[l.node] = (weight[l.node] || 0) + l.used; weight[l.peer] = (weight[l.peer] || 0) + l.used; });
  m.ports.forEach(function (p, i) { port[p.port] = p; });
  list.forEach(function (l) { if (port[l.port]) { port[l.port].node = l.node; weight[l.node] += 1; weight[l.peer] += 1; } });
  var levels = rowsOfNodes(list, weight, 32), place = {}, height = 100 * levels.length + 10;
  var svg = canvas(f, height, "the network over time; use the slider below");
  levels.forEach(function (l, row) {
    l.shown.forEach(function (n, i) { place[n] = { x: 90 + (width - 120) * (i + .5) / l.shown.length, y: 40 + 100 * row, n: l.shown.length, name: n }; });
    svg.append("text").attr({ x: 4, y: 24 + 100 * row }).text(l.layer + ": " + l.all + " in use" + (l.all > l.shown.length ? ", " + l.shown.length + " drawn" : ""));
  });
  // One line a direction, a little aside of the other one.
  var moving = list.filter(function (l) { return place[l.node] && place[l.peer]; });
  var line = svg.append("g").selectAll("line").data(moving).enter().append("line").each(function (l) {
    var a = place[l.node], b = place[l.peer], d = Math.sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)) || 1;
    var x = 2.2 * (b.y - a.y) / d, y = -2.2 * (b.x - a.x) / d;
    d3.select(this).attr({ x1: a.x + x, y1: a.y + y, x2: b.x + x, y2: b.y + y }).append("title").text(l.port + " to " + l.peer);
  }).style("cursor", "pointer").on("click", function (l) { choosePort(l.port); });
  var nodes = Object.keys(place).map(function (n) { return place[n]; });
  svg.append("g").selectAll("circle").data(nodes).enter().append("circle").attr({ cx: function (p) { return p.x; }, cy: function (p) { return p.y; }, r: 5 })
    .style({ fill: "#fff", stroke: "#000" }).append("title").text(function (p) { return p.name; });
  var bar = svg.append("g").selectAll("rect").data(nodes).enter().append("rect").attr({ x: function (p) { return p.x + 6; }, width: 5 }).style({ fill: "#a0497a" });
  svg.append("g").selectAll("text").data(nodes.filter(function (p) { return p.n <= 10; })).enter().append("text")
    .attr({ x: function (p) { return p.x; }, y: function (p) { return p.y - 9; }, "text-anchor": "middle" }).text(function (p) { return p.name.slice(-16); });

  var tools = el(f.body, "div", null, "tools motion"), play = el(tools, "button", "play");
  var before = el(tools, "button", "event before"), next = el(tools, "button", "next event");
  var slider = el(tools, "input");
  slider.type = "range"; slider.min = 0; slider.max = m.frames - 1; slider.value = 0; slider.setAttribute("aria-label", "simulated time");
  var said = el(f.body, "p", "", "soft"), about = el(f.body, "p");
  said.setAttribute("role", "status");
  var pick = el(el(f.body, "label", "Port: ", "pick"), "select"), ways = run.why.flows || [];
  el(pick, "option", "none").value = "";
  m.ports.forEach(function (p) { el(pick, "option", p.port).value = p.port; });
  var way = el(el(f.body, "label", "Flow: ", "pick"), "select");
  el(way, "option", "none").value = "";
  ways.forEach(function (w, i) { el(way, "option", flowName(w)).value = i; });
  var detail = el(f.body, "div"), passed = {};

  rows(run, "changes").forEach(function (c) { (down[c.port] = down[c.port] || []).push([c.us, /down|fail/.test(c.kind)]); });
  function isDown(name, us) {
    var state = false;
    (down[name] || []).forEach(function (c) { if (c[0] <= us) state = c[1]; });
    return state;
  }
  function draw(quiet) {
    var us = now * m.every_us, paused = 0, fullest = null, queue = {};
    m.ports.forEach(function (p) {
      var q = share(p.queue, now);
      if (share(p.paused, now) > 0) paused++;
      queue[p.node] = Math.max(queue[p.node] || 0, q); // of undrawn links too
      if (!fullest || q > share(fullest.queue, now)) fullest = p;
    });
    line.each(function (l) {
      var p = port[l.port], used = p ? share(p.used, now) : 0, held = p && share(p.paused, now) > 0, off = isDown(l.port, us + m.every_us);
      var st = this.style;
      st.stroke = off ? "#000" : held ? "#D55E00" : used > 0 ? shade(Math.max(.2, used)) : "#e3e3e0";
      st.strokeWidth = passed[l.port] ? 5 : l.port === chosen ? 4 : 1 + 2 * used;
      st.strokeDasharray = off ? "1,5" : held ? "5,3" : "";
    });
    bar.each(function (p) {
      var h = 26 * (queue[p.name] || 0);
      this.setAttribute("height", h);
      this.setAttribute("y", p.y - h + 4);
    });
    slider.value = now;
    var text = time(us) + " to " + time(us + m.every_us) + ": " + paused + (paused === 1 ? " port" : " ports") + " paused; " +
      (fullest && share(fullest.queue, now) > 0 ? "the fullest queue is " + fullest.port + " with " + bytes(share(fullest.queue, now) * m.queue_bytes) : "no queue") + ".";
    events.forEach(function (e) { if (e.us >= us && e.us < us + m.every_us) text += " " + e.text + "."; });
    slider.setAttribute("aria-valuetext", time(us));
    if (!quiet) said.textContent = text; // a screen reader is not told every step of a film
    said.setAttribute("data-frame", now);
  }
  function go(k, quiet) { now = Math.max(0, Math.min(m.frames - 1, k)); draw(quiet); }
  function stop() { clearTimeout(timer); timer = null; play.textContent = "play"; draw(); }
  var calm = window.matchMedia && window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  function step() {
    if (now >= m.frames - 1) { stop(); return; }
    if (calm) toEvent(1); else go(now + 1, true);
    timer = setTimeout(step, calm ? 1500 : 90);
  }
  play.onclick = function () {
    if (timer) { stop(); return; }
    if (now >= m.frames - 1) now = 0;
    play.textContent = "pause";
    timer = setTimeout(step, 0);
  };
  function frameOf(e) { return Math.min(m.frames - 1, Math.floor(e.us / m.every_us)); }
  function toEvent(direction) {
    var frames = events.map(frameOf).filter(function (k) { return direction > 0 ? k > now : k < now; });
    go(frames.length ? (direction > 0 ? d3.min(frames) : d3.max(frames)) : direction > 0 ? m.frames - 1 : 0);
  }
  before.onclick = function () { toEvent(-1); };
  next.onclick = function () { toEvent(1); };
  slider.oninput = function () { go(+slider.value); };
  function choosePort(name) {
    var p = port[name];
    chosen = name || null;
    pick.value = p ? name : "";
    detail.textContent = "";
    if (p) {
      var small = { body: detail }, kinds = [["rate", "used", percent], ["egress queue", "queue", function (v) { return bytes(v * m.queue_bytes); }], ["paused", "paused", percent]];
      el(detail, "p", name + " over time; a queue is as dark as its share of " + bytes(m.queue_bytes));
      strips(small, kinds.map(function (c) {
        return { name: c[0], values: p[c[1]].split("").map(function (_, k) { var v = share(p[c[1]], k); return { from: k * m.every_us, until: (k + 1) * m.every_us, share: v, text: c[2](v) }; }) };
      }), "port " + name + " over time");
    } else if (name) el(detail, "p", name + " did too little to be among the " + m.ports.length + " ports that move.", "soft");
    draw();
  }
  pick.onchange = function () { choosePort(pick.value); };
  way.onchange = function () {
    var w = way.value === "" ? null : ways[+way.value];
    passed = {};
    about.textContent = "";
    if (w) {
      w.parts.forEach(function (p) { passed[String(p.where).split(":")[0]] = true; });
      about.textContent = flowName(w) + ", " + w.src + " to " + w.dst + ": " + time(w.fct_ps / 1e6) + ". Longest parts: " + w.parts.slice().sort(function (a, b) { return b.time_ps - a.time_ps; }).slice(0, 3).map(function (p) {
        return time(p.time_ps / 1e6) + " " + p.kind + " at " + p.where + (p.because_of ? " (" + p.because_of + ")" : "");
      }).join("; ") + ".";
    }
    draw();
  };
  var fullestAt = 0, most = -1;
  for (var k = 0; k < m.frames; k++) {
    var all_queues = sum(m.ports, function (p) { return share(p.queue, k) + share(p.paused, k); });
    if (all_queues > most) { most = all_queues; fullestAt = k; }
  }
  go(fullestAt); // the first thing seen is where most happens
}
