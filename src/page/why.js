// SPDX-License-Identifier: Apache-2.0
// Where the time of slow flows and of iterations went, and what ranks did over time.
// --- parts -------------------------------------------------------------------------------------------------------

// A colour a part; wide ones bear their names, and the tables below say all in words.
var partColours = { serialisation: "#56B4E9", propagation: "#b9d0e8", processing: "#8a8a8a", queueing: "#E69F00", pause: "#D55E00", "source flow control": "#b3440a",
  pace: "#CC79A7", window: "#9a4f80", "nothing to send": "#dddddd", request: "#c9c2a5", retransmission: "#000000", arbitration: "#F0E442", credits: "#009E73", "clear-to-send": "#0072B2",
  reassembly: "#6fbf9f", fabric: "#777777", host: "#a6761d", compute: "#2f62a3", copy: "#7aa6d8", server: "#8c6bb1", acknowledgement: "#c48fd0", software: "#4d4d4d", memory: "#7f6a3f" };
function partColour(kind) { return partColours[kind] || "#444444"; }
/// Black or white, whichever can be read better on it (WCAG 2.1, relative luminance).
function inkOn(colour) {
  var c = d3.rgb(colour), l = [c.r, c.g, c.b].map(function (v) { v /= 255; return v <= .03928 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4); });
  return .2126 * l[0] + .7152 * l[1] + .0722 * l[2] > .179 ? "#000" : "#fff";
}
function sumKinds(parts) {
  var by = {};
  parts.forEach(function (p) { by[p.kind] = (by[p.kind] || 0) + p.time_ps; });
  return by;
}
/// Bars of what adds up: [{name, all, kinds: {kind: ps}}].
function stacks(f, bars, what) {
  var height = 44 + 34 * bars.length, svg = canvas(f, height, what), used = [];
  var x = d3.scale.linear().domain([0, d3.max(bars, function (b) { return b.all; }) || 1]).range([room(250), width - 20]);
  svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 34) + ")").call(d3.svg.axis().scale(x).ticks(ticks).tickFormat(function (ps) { return time(ps / 1e6); }));
  bars.forEach(function (b, i) {
    var at = 0;
    svg.append("text").attr({ x: room(250) - 6, y: 34 * i + 23, "text-anchor": "end" }).text(cut(b.name, 240)).append("title").text(b.name);
    Object.keys(b.kinds).sort(function (p, q) { return b.kinds[q] - b.kinds[p]; }).forEach(function (kind) {
      var ps = b.kinds[kind], w = x(at + ps) - x(at);
      if (used.indexOf(kind) < 0) used.push(kind);
      svg.append("rect").attr({ x: x(at), y: 34 * i + 8, width: Math.max(.3, w), height: 22 }).style({ fill: partColour(kind), stroke: "#fff", "stroke-width": .5 })
        .append("title").text(kind + ": " + time(ps / 1e6) + ", " + percent(ps / b.all));
      if (w > 7 * kind.length + 6) {
        svg.append("text").attr({ x: x(at) + w / 2, y: 34 * i + 23, "text-anchor": "middle", "data-on": partColour(kind) }).style("fill", inkOn(partColour(kind))).text(kind);
      }
      at += ps;
    });
  });
  var box = document.createElement("div");
  box.className = "legend";
  used.forEach(function (kind) {
    var item = el(box, "span");
    d3.select(item).append("svg").attr("aria-hidden", "true").append("rect").attr({ width: 14, height: 12 }).style("fill", partColour(kind));
    item.appendChild(document.createTextNode(kind));
  });
  f.body.insertBefore(box, f.body.firstChild);
}
function cells(parent, names, list) {
  var t = el(el(parent, "div", null, "wide"), "table"), tr = el(t, "tr");
  names.forEach(function (c) { el(tr, "th", c); });
  list.forEach(function (r) {
    tr = el(t, "tr");
    r.forEach(function (v) { el(tr, "td", v); });
  });
}

// --- flows and iterations ----------------------------------------------------------------------------------------

function flowName(w) { return "flow " + w.flow + " (" + w.group + ")"; }
function flowPath(parent, w) {
  var d = el(parent, "details");
  el(d, "summary", flowName(w) + ", " + w.src + " to " + w.dst + ", " + bytes(w.bytes) + ": " + time(w.fct_ps / 1e6) +
    (w.ideal_ps ? ", " + three(w.fct_ps / w.ideal_ps) + " times what it takes alone" : "") + "; along its critical path");
  cells(d, ["time", "of it", "part", "where", "because of"], w.parts.map(function (p) {
    return [time(p.time_ps / 1e6), percent(p.time_ps / w.fct_ps), p.kind, p.where, p.because_of];
  }));
}
function iterationPath(parent, w) {
  var d = el(parent, "details"), list = [];
  el(d, "summary", "job " + w.job + ", iteration " + w.iteration + ": " + time(w.iteration_ps / 1e6) + "; its critical path, " +
    (w.steps.length < w.steps_in_all ? "the longest " + w.steps.length + " of " + w.steps_in_all : w.steps_in_all) + " steps");
  w.steps.forEach(function (s) {
    list.push([time(s.time_ps / 1e6), percent(s.time_ps / w.iteration_ps), "rank " + s.rank + " (" + s.host + "): " + s.what + (s.operation ? " of " + s.operation : "") +
      (s.to_rank !== undefined ? ", to rank " + s.to_rank : "") + (s.flow !== undefined ? ", flow " + s.flow : ""), "", ""]);
    s.parts.forEach(function (p) { list.push([time(p.time_ps / 1e6), percent(p.time_ps / w.iteration_ps), "\u2003" + p.kind, p.where, p.because_of]); });
  });
  cells(d, ["time", "of it", "step or part", "where", "because of"], list);
}
function operationName(w, i) { return w.group + " " + (i + 1) + ", " + w.client + " at " + w.server; }
function operationPath(parent, w, i) {
  var d = el(parent, "details");
  el(d, "summary", operationName(w, i) + ", begun at " + time(w.begun_ps / 1e6) + ": " + time(w.latency_ps / 1e6) + "; along its way");
  cells(d, ["time", "of it", "part", "where", "because of"], w.parts.map(function (p) {
    return [time(p.time_ps / 1e6), percent(p.time_ps / w.latency_ps), p.kind, p.where, p.because_of];
  }));
}
/// As figure() wants them: the parts as tables.
function whyTables(w) {
  var flows = [], steps = [], operations = [];
  w.operations.forEach(function (o) { o.parts.forEach(function (p) { operations.push([o.group, o.client, o.server, o.begun_ps, o.latency_ps, p.kind, p.where, p.because_of, p.time_ps]); }); });
  w.flows.forEach(function (f) { f.parts.forEach(function (p) { flows.push([f.flow, f.group, f.fct_ps, p.kind, p.where, p.because_of, p.time_ps]); }); });
  w.iterations.forEach(function (i) { i.steps.forEach(function (s) { steps.push([i.job, i.iteration, s.from_ps, s.time_ps, s.rank, s.host, s.what, s.operation]); }); });
  return { tables: {
    flow_parts: { columns: ["flow", "group", "fct_ps", "kind", "where", "because_of", "time_ps"], rows: flows, sql: "weft why DIR --slowest " + w.flows.length },
    operation_parts: { columns: ["group", "client", "server", "begun_ps", "latency_ps", "kind", "where", "because_of", "time_ps"], rows: operations, sql: "weft why DIR --rma GROUP --slowest N" },
    critical_path: { columns: ["job", "iteration", "from_ps", "time_ps", "rank", "host", "what", "operation"], rows: steps, sql: "weft why DIR --job NAME --iteration N" },
  } };
}
function why(s, run) {
  var w = run.why;
  if (!w) return;
  if (w.note) { el(figure(s, "Where the time went", "The slowest flows, and the last iteration of each job.", run, []).body, "p", w.note, "soft"); return; }
  var data = whyTables(w), f;
  if (w.flows.length) {
    f = figure(s, "Where the time of the slowest flows went", "The " + w.flows.length + " flows with the longest completion time; the parts of each add up to it. They were found by running the scenario again, with the same digest.", data, ["flow_parts"]);
    stacks(f, w.flows.map(function (x) { return { name: flowName(x), all: x.fct_ps, kinds: sumKinds(x.parts) }; }), "parts of the slowest flows");
    w.flows.forEach(function (x) { flowPath(f.body, x); });
  }
  if (w.operations.length) {
    f = figure(s, "Where the time of the slowest operations of remote memory access went", "The operations of each group that took longest" +
      (w.operation_groups > w.operation_groups_most ? ", of the " + w.operation_groups_most + " of " + w.operation_groups + " groups whose slowest took longest" : "") + "; the parts of each add up to it. They were found by running the scenario again, with the same digest.", data, ["operation_parts"]);
    stacks(f, w.operations.map(function (x, i) { return { name: operationName(x, i), all: x.latency_ps, kinds: sumKinds(x.parts) }; }), "parts of the slowest operations");
    w.operations.forEach(function (x, i) { operationPath(f.body, x, i); });
  }
  if (!w.iterations.length) return;
  f = figure(s, "Where the time of iterations went", "The last iteration of each job, along its critical path: from its end at the last rank back to its beginning.", data, ["critical_path"]);
  stacks(f, w.iterations.map(function (x) { return { name: x.job + ", iteration " + x.iteration, all: x.iteration_ps, kinds: x.kinds }; }), "parts of iterations");
  w.iterations.forEach(function (x) { iterationPath(f.body, x); });
}

// --- ranks -------------------------------------------------------------------------------------------------------

function rankTimes(s, run) {
  var list = rows(run, "rank_times"), waits = rows(run, "rank_waits");
  if (!list.length) return;
  group(list, function (r) { return r.job; }).forEach(function (job) {
    var f = figure(s, "Ranks of job " + job.key, "Blue: the rank computes. Orange: it waits for communication and computes nothing. The 32 ranks of each job that waited longest, the latest 6000 stretches in all.", run, ["rank_times", "rank_waits"]);
    var ranks = group(job.values, function (r) { return "rank " + r.rank + " (" + r.host + ")"; });
    var height = 50 + 16 * ranks.length, svg = canvas(f, height, "ranks of job " + job.key + " over time");
    var from = d3.min(job.values, function (r) { return r.from_us; }), until = d3.max(job.values, function (r) { return r.until_us; });
    var x = d3.scale.linear().domain([from, until > from ? until : from + 1]).range([room(210), width - 20]);
    var axis = d3.svg.axis().scale(x).ticks(ticks).tickFormat(time), clip = clipped(svg, room(210), height - 36);
    svg.append("g").attr("class", "axis x").attr("transform", "translate(0," + (height - 34) + ")");
    ranks.forEach(function (g, i) { svg.append("text").attr({ x: room(210) - 6, y: 16 * i + 15, "text-anchor": "end" }).text(cut(g.key, 200)); });
    var bars = svg.append("g").attr("clip-path", clip).selectAll("rect").data([].concat.apply([], ranks.map(function (g, i) {
      return g.values.map(function (r) { return { r: r, y: 16 * i + 4 }; });
    })));
    bars.enter().append("rect").attr("y", function (b) { return b.y; }).attr("height", function (b) { return b.r.does === "wait" ? 8 : 12; }).style("fill", function (b) { return b.r.does === "wait" ? "#D55E00" : colours[0]; })
      .append("title").text(function (b) { return b.r.does + (b.r.what ? " " + b.r.what : "") + ", iteration " + b.r.iteration + ": " + time(b.r.until_us - b.r.from_us) + " from " + time(b.r.from_us); });
    function draw() {
      bars.attr("x", function (b) { return x(b.r.from_us); }).attr("width", function (b) { return Math.max(.4, x(b.r.until_us) - x(b.r.from_us)); });
      svg.select(".axis.x").call(axis);
    }
    draw();
    zoomable(f, svg, x, draw);
    var of = waits.filter(function (w) { return w.job === job.key; });
    if (of.length) el(f.body, "p", "Each rank waits between " + time(d3.min(of, function (w) { return w.exposed_us; })) + " and " + time(d3.max(of, function (w) { return w.exposed_us; })) + " in all.", "soft");
  });
}
