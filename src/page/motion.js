// SPDX-License-Identifier: Apache-2.0
// The network in motion: links, queues and pauses of a run over a slider of time.
// --- values ------------------------------------------------------------------------------------------------------

var base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The share that a port's text has in a frame.
function share(text, k) { return base64.indexOf(text.charAt(k)) / 63; }
/// The classes of a line in each frame, made once: a step then sets one attribute a line.
function linesOverTime(lines, frames) {
  var rules = document.getElementById("levels") || el(document.head, "style"), css = [];
  rules.id = "levels";
  base64.split("").forEach(function (c, k) { css.push(".u" + k + "{stroke:" + (k ? shade(Math.max(.2, k / 63)) : "#e3e3e0") + ";stroke-width:" + (1 + 2 * k / 63).toFixed(2) + "}"); });
  rules.textContent = css.join("") + ".held{stroke:#D55E00;stroke-dasharray:5,3}.off{stroke:#000;stroke-dasharray:1,5}.own{stroke-width:4}.passed{stroke-width:5}";
  lines.forEach(function (l) {
    l.classes = [];
    for (var k = 0; k < frames; k++)
      l.classes.push("wire u" + base64.indexOf(l.used.charAt(k)) + (l.down && share(l.down, k) > 0 ? " off" : share(l.paused, k) > (l.links > 1 ? .5 : 0) ? " held" : ""));
  });
}
/// Layers from the top, each with its spots from left to right.
function rowsOfSpots(spots) {
  return group(spots, function (n) { return n.tier + " " + n.layer; }).sort(function (a, b) { return b.values[0].tier - a.values[0].tier || (a.key < b.key ? -1 : 1); });
}
function spotName(n) { return n.name + (n.last ? " to " + n.last : ""); }
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

/// Returns {at: the time shown, to: goes to a time, moved: called when the user does, port: the one chosen, choose: one};
/// nothing if the run does not move.
function motion(s, run) {
  var m = run.why && run.why.motion;
  if (!m || !m.ports.length || !m.lines.length) return;
  var folded = m.spots.some(function (n) { return n.nodes > 1; }), every = {};
  m.ports.forEach(function (p) { every[p.port] = p; });
  var f = figure(s, "Links, queues and pauses of " + label(run), "Each row is a layer, hosts below" + (folded ? "; of a large layer neighbours are one circle, and a line is the mean of its links" : "") +
    ". A line is one direction, as dark as it is busy, orange and dashed while it is paused (several links: most of them), dotted while it is down; the bar at a circle is its fullest egress queue, of " +
    bytes(m.queue_bytes) + " at most. " + m.frames + " steps of " + time(m.every_us) + ". Click a line, or choose one of the " + m.ports.length +
    " ports that did most, for its queue over time; choose a flow for its path.", run, ["changes", "ends"]);
  var events = moments(run), now = 0, timer = null, chosen = null, levels = rowsOfSpots(m.spots), height = 100 * levels.length + 10;
  var svg = canvas(f, height, "the network over time; use the slider below");
  var wires = svg.append("g"), names = svg.append("g");
  levels.forEach(function (l, row) {
    var nodes = sum(l.values, function (n) { return n.nodes; });
    l.values.forEach(function (n, i) { n.x = 90 + (width - 120) * (i + .5) / l.values.length; n.y = 40 + 100 * row; n.named = l.values.length <= width / 90; });
    names.append("text").attr({ "class": "halo", x: 4, y: 24 + 100 * row }).text(l.values[0].layer + ": " + nodes + " in use" + (nodes > l.values.length ? ", " + l.values.length + " circles" : ""));
  });
  /// One line a direction, a little aside of the other one; within a layer it is an arc.
  function wire(l) {
    var a = m.spots[l.from], b = m.spots[l.to], dx = b.x - a.x, dy = b.y - a.y, d = Math.sqrt(dx * dx + dy * dy) || 1;
    if (!dy) return "M" + a.x + " " + a.y + "Q" + (a.x + b.x) / 2 + " " + (a.y + (dx > 0 ? 1 : -1) * Math.min(58, 14 + Math.abs(dx) / 8)) + " " + b.x + " " + b.y;
    var x = 2.2 * dy / d, y = -2.2 * dx / d;
    return "M" + (a.x + x) + " " + (a.y + y) + "L" + (b.x + x) + " " + (b.y + y);
  }
  linesOverTime(m.lines, m.frames);
  var line = wires.selectAll("path").data(m.lines).enter().append("path").attr({ "class": "wire", d: wire })
    .style({ cursor: "pointer", fill: "none" }).on("click", function (l) { choosePort(l.port); });
  line.append("title").text(function (l) { return spotName(m.spots[l.from]) + " to " + spotName(m.spots[l.to]) + ": " + (l.links > 1 ? l.links + " links, busiest " : "") + l.port; });
  svg.append("g").selectAll("circle").data(m.spots).enter().append("circle").attr({ cx: function (p) { return p.x; }, cy: function (p) { return p.y; }, r: 5 })
    .style({ fill: "#fff", stroke: "#000" }).append("title").text(spotName);
  var bar = svg.append("g").selectAll("rect").data(m.spots).enter().append("rect").attr({ x: function (p) { return p.x + 6; }, width: 5 }).style({ fill: "#a0497a" });
  svg.append("g").selectAll("text").data(m.spots.filter(function (p) { return p.named; })).enter().append("text")
    .attr({ "class": "halo", x: function (p) { return p.x - 6; }, y: function (p) { return p.y - 9; }, "text-anchor": "middle" }).text(function (p) { return p.name.slice(-16); });

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

  function draw(quiet) {
    var us = m.from_us + now * m.every_us, step = m.steps[now], own = every[chosen] && every[chosen].line, credit = d3.max(m.lines, function (l) { return l.credit ? share(l.credit, now) : 0; });
    line.each(function (l, i) {
      var is = l.classes[now] + (passed[i] ? " passed" : i === own ? " own" : "");
      if (is !== l.is) this.setAttribute("class", l.is = is);
    });
    bar.each(function (p) {
      var h = 26 * share(p.queue, now);
      this.setAttribute("height", h);
      this.setAttribute("y", p.y - h + 4);
    });
    slider.value = now;
    var text = time(us) + " to " + time(us + m.every_us) + ": " + step.paused + (step.paused === 1 ? " port" : " ports") + " paused; " + (credit ? "of a virtual channel's credit " + percent(credit) + " is in use at most; " : "") +
      (step.queue_bytes > 0 ? "the fullest queue is " + step.port + " with " + bytes(step.queue_bytes) : "no queue") + ".";
    events.forEach(function (e) { if (e.us >= us && e.us < us + m.every_us) text += " " + e.text + "."; });
    slider.setAttribute("aria-valuetext", time(us));
    if (!quiet) said.textContent = text; // a screen reader is not told every step of a film
    said.setAttribute("data-frame", now);
  }
  function frameAt(us) { return Math.max(0, Math.min(m.frames - 1, Math.floor((us - m.from_us) / m.every_us))); }
  var film = { at: function () { return m.from_us + (now + .5) * m.every_us; }, to: function (us, quiet) { now = frameAt(us); draw(quiet); },
    port: function () { return chosen; }, choose: choosePort };
  function go(k, quiet) {
    now = Math.max(0, Math.min(m.frames - 1, k));
    draw(quiet);
    if (film.moved) film.moved(film.at(), quiet);
  }
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
  function frameOf(e) { return frameAt(e.us); }
  function toEvent(direction) {
    var frames = events.map(frameOf).filter(function (k) { return direction > 0 ? k > now : k < now; });
    go(frames.length ? (direction > 0 ? d3.min(frames) : d3.max(frames)) : direction > 0 ? m.frames - 1 : 0);
  }
  before.onclick = function () { toEvent(-1); };
  next.onclick = function () { toEvent(1); };
  slider.oninput = function () { go(+slider.value); };
  function choosePort(name) {
    var p = every[name];
    chosen = name || null;
    pick.value = p ? name : "";
    detail.textContent = "";
    if (p) {
      var small = { body: detail }, kinds = [["rate", "used", percent], ["egress queue", "queue", function (v) { return bytes(v * m.queue_bytes); }], ["paused", "paused", percent]].concat(p.credit ? [["credit in use", "credit", percent]] : []);
      el(detail, "p", name + " over time; a queue is as dark as its share of " + bytes(m.queue_bytes));
      strips(small, kinds.map(function (c) {
        return { name: c[0], values: p[c[1]].split("").map(function (_, k) { var v = share(p[c[1]], k); return { from: m.from_us + k * m.every_us, until: m.from_us + (k + 1) * m.every_us, share: v, text: c[2](v) }; }) };
      }), "port " + name + " over time", m.from_us);
    } else if (name) el(detail, "p", name + " did too little to be among the " + m.ports.length + " ports that move.", "soft");
    draw();
  }
  pick.onchange = function () { choosePort(pick.value); };
  way.onchange = function () {
    var w = way.value === "" ? null : ways[+way.value];
    passed = {};
    about.textContent = "";
    if (w) {
      w.parts.forEach(function (p) { var of = every[String(p.where).split(":")[0]]; if (of && of.line !== undefined) passed[of.line] = true; });
      about.textContent = flowName(w) + ", " + w.src + " to " + w.dst + ": " + time(w.fct_ps / 1e6) + ". Longest parts: " + w.parts.slice().sort(function (a, b) { return b.time_ps - a.time_ps; }).slice(0, 3).map(function (p) {
        return time(p.time_ps / 1e6) + " " + p.kind + " at " + p.where + (p.because_of ? " (" + p.because_of + ")" : "");
      }).join("; ") + ".";
    }
    draw();
  };
  var fullestAt = 0, most = -1;
  for (var k = 0; k < m.frames; k++) {
    var all_queues = sum(m.lines, function (l) { return share(l.queue, k) + share(l.paused, k); });
    if (all_queues > most) { most = all_queues; fullestAt = k; }
  }
  go(fullestAt); // the first thing seen is where most happens
  return film;
}

/// One run in motion, or two side by side at the same time of each: before and after.
function motions(main, list) {
  var s = el(main, "section"), shown = [null, null], picks = [];
  el(s, "h2", "The network in motion");
  var bar = list.length > 1 && el(s, "div"), boxes = el(s, "div", null, "beside");
  var box = [el(boxes, "div"), el(boxes, "div")];
  function show_at(i, k) {
    box[i].textContent = "";
    shown[i] = k < 0 ? null : motion(box[i], list[k]);
    boxes.className = shown[1] ? "beside two" : "beside";
    if (shown[0] && shown[1]) {
      shown[0].moved = shown[1].to;
      shown[1].moved = shown[0].to;
      shown[i].to(shown[1 - i].at());
    } else if (shown[0]) shown[0].moved = null;
  }
  if (bar) ["Run: ", "Beside it: "].forEach(function (name, i) {
    picks[i] = el(el(bar, "label", name, "pick"), "select");
    if (i) el(picks[i], "option", "none").value = -1;
    list.forEach(function (r, k) { el(picks[i], "option", label(r)).value = k; });
    picks[i].onchange = function () { show_at(i, +picks[i].value); };
  });
  show_at(0, 0);
}
