// SPDX-License-Identifier: Apache-2.0
// The pictures of one run.
// --- one run -----------------------------------------------------------------------------------------------------

function times(s, run) {
  var f = figure(s, "How long flows took", "Share of a group's flows that finished within a time. At most 400 points a group are drawn: quantiles at equal steps, the first and the last exact.", run, ["fct"]);
  lines(f, group(rows(run, "fct"), function (r) { return r.group; }).map(function (g) {
    return { name: g.key, points: [[g.values[0].us, 0]].concat(g.values.map(function (r) { return [r.us, r.fraction]; })) };
  }), { what: "distribution of completion times by group", xname: "completion time", yname: "share of flows", xformat: time, yformat: percent, log: true, top: 1, step: true });
  f = figure(s, "How much longer than alone, by size", "Slowdown: completion time over that of the same flow alone in the empty network; of flows whose size is below the named one.", run, ["slowdown"]);
  var sizes = rows(run, "slowdown");
  lines(f, [["median", "p50"], ["95th percentile", "p95"], ["99th percentile", "p99"]].map(function (q) {
    return { name: q[0], points: sizes.map(function (r) { return [r.below_bytes, r[q[1]]]; }) };
  }), { what: "slowdown by size of flow", xname: "size of flow, below", yname: "slowdown", xformat: bytes, yformat: three, log: true });
}

function overTime(s, run) {
  var series = rows(run, "series"), none = "The run has no samples. With --set run.sample_interval=1us queues, rates and pauses over time are drawn here.";
  var method = "The eight deepest egress queues, in at most 160 intervals.";
  var f = figure(s, "Queues over time", method + " The greatest depth of each.", run, ["series"]);
  var by = group(series, function (r) { return r.port + ", priority " + r.priority; });
  lines(f, by.map(function (g) {
    return { name: g.key, points: g.values.map(function (r) { return [r.us, r.queue_bytes]; }) };
  }), { what: "queues over time", xname: "simulated time", yname: "bytes queued", xformat: time, yformat: bytes, zoom: true, nothing: none });
  if (!series.length) return;
  [["Rates over time", "Mean rate over that of the link.", function (r) { return r.rate_gbps / r.link_gbps; }, function (r) { return three(r.rate_gbps) + " Gbit/s"; }],
    ["Paused over time", "Share of samples in which the port might not send.", function (r) { return r.paused; }, function (r) { return percent(r.paused); }]].forEach(function (c) {
    strips(figure(s, c[0], method + " " + c[1], run, ["series"]), by.map(function (g) {
      return { name: g.key, values: g.values.map(function (r, i) {
        return { from: r.us, until: i + 1 < g.values.length ? g.values[i + 1].us : r.us, share: c[2](r), text: c[3](r) };
      }) };
    }), c[0]);
  });
}

function pauses(s, run) {
  var list = rows(run, "pauses"), edges = rows(run, "pause_tree");
  var f = figure(s, "Who was paused, and when", "A bar is a pause of a port's priority. At most 24 ports, those paused longest, and at most 4000 pauses, the longest of each.", run, ["pauses"]);
  if (!list.length) { el(f.body, "p", run.paused_us > 0 ? "The results hold no events: run with --out to record them." : "No port was paused.", "soft"); }
  else {
    var ports = group(list, function (p) { return p.port; }), height = 50 + 18 * ports.length;
    var svg = canvas(f, height, "pauses of ports over time");
    var x = d3.scale.linear().domain([0, run.sim_time_us]).range([room(200), width - 20]);
    svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 34) + ")").call(d3.svg.axis().scale(x).ticks(ticks).tickFormat(time));
    ports.forEach(function (g, i) {
      svg.append("text").attr({ x: room(200) - 6, y: 18 * i + 16, "text-anchor": "end" }).text(cut_end(g.key, 190));
      svg.append("g").selectAll("rect").data(g.values).enter().append("rect").attr("x", function (p) { return x(p.from_us); }).attr("y", 18 * i + 5)
        .attr("width", function (p) { return Math.max(.6, x(p.until_us) - x(p.from_us)); }).attr("height", 12).style("fill", colours[1])
        .append("title").text(function (p) { return p.port + " from " + time(p.from_us) + " for " + time(p.until_us - p.from_us) + ", by " + p.by_port; });
    });
  }
  f = figure(s, "Who paused whom", "A port stands below the pause that filled the buffer it was paused for. Times are summed over pauses.", run, ["pause_tree"]);
  if (!edges.length) { el(f.body, "p", "No pauses were recorded.", "soft"); return; }
  var below = group(edges, function (e) { return e.above === null ? "" : e.above; }), by = {};
  below.forEach(function (b) { by[b.key] = b.values; });
  function branch(parent, key, path) {
    var next = (by[key] || []).slice(0, 12);
    if (!next.length) return;
    var ul = el(parent, "ul", null, "tree");
    next.forEach(function (e) {
      var li = el(ul, "li", e.port + " paused by " + (e.by_port || "?") + ": " + e.times + " times, " + time(e.us) +
        (key === "" && e.root ? "; the queue of " + e.root + " was full" : ""));
      if (path.indexOf(e.port) >= 0) li.appendChild(document.createTextNode(" (a cycle)"));
      else if (path.length < 12) branch(li, e.port, path.concat(e.port));
    });
    if ((by[key] || []).length > next.length) el(ul, "li", "and " + ((by[key] || []).length - next.length) + " more", "soft");
  }
  var box = el(f.body, "div");
  box.setAttribute("data-chart", "1");
  branch(box, "", []);
}

function links(s, run) {
  var list = rows(run, "links");
  var f = figure(s, "Links", "One cell a link end, by layers, the busiest first: share of the run's time that it sent. A mark: the port was paused. At most 4000 ends, those that sent most.", run, ["links"]);
  if (list.length) {
    var layers = group(list, function (l) { return l.layers; }), cell = 10, across = Math.floor((width - room(210) - 30) / 10), y = 0;
    var height = 30 + sum(layers, function (g) { return cell * Math.ceil(g.values.length / across) + 8; });
    var svg = canvas(f, height, "how busy links were");
    layers.forEach(function (g) {
      g.values.sort(function (a, b) { return b.used - a.used; });
      svg.append("text").attr({ x: room(210) - 10, y: y + 9, "text-anchor": "end" }).text(cut(g.key, 190));
      svg.append("g").selectAll("rect").data(g.values).enter().append("rect").attr("x", function (l, i) { return room(210) + cell * (i % across); })
        .attr("y", function (l, i) { return y + cell * Math.floor(i / across); }).attr({ width: cell - 1, height: cell - 1 })
        .style("fill", function (l) { return shade(l.used); }).append("title").text(function (l) { return l.port + " to " + l.peer + ": " + percent(l.used) + ", paused " + time(l.paused_us); });
      svg.append("g").selectAll("circle").data(g.values).enter().append("circle").attr("cx", function (l, i) { return room(210) + 4.5 + cell * (i % across); })
        .attr("cy", function (l, i) { return y + 4.5 + cell * Math.floor(i / across); }).attr("r", function (l) { return l.paused_us > 0 ? 2.4 : 0; }).style({ fill: "#ffb000", stroke: "#000", "stroke-width": .5 });
      y += cell * Math.ceil(g.values.length / across) + 8;
    });
    scale(svg, height);
  } else el(f.body, "p", "No frame was sent.", "soft");
  var load = rows(run, "load");
  if (!load.length) return;
  f = figure(s, "Load of layers over time", "Utilisation of the links from one layer to another: their mean, and the busiest one; at most 200 intervals.", run, ["load"]);
  var both = [];
  group(load, function (r) { return r.layers; }).forEach(function (g) {
    [["mean", "mean"], ["busiest", "max"]].forEach(function (c) {
      both.push({ name: g.key + ", " + c[0], values: g.values.map(function (r) { return { from: r.from_us, until: r.until_us, share: r[c[1]], text: percent(r[c[1]]) }; }) });
    });
  });
  strips(f, both, "load of layers over time");
}

function network(s, run) {
  var list = rows(run, "links");
  var f = figure(s, "The network", "Nodes by layer, hosts below; a line is as dark as its busier direction, dashed and orange where a port was paused. Layers of more than 40 nodes show the 40 that sent or received most.", run, ["links"]);
  if (!list.length) { el(f.body, "p", "No frame was sent.", "soft"); return; }
  var node = {}, tier = {};
  list.forEach(function (l) {
    [[l.node, l.layer, l.tier], [l.peer, l.peer_layer, l.peer_tier]].forEach(function (n) {
      node[n[0]] = node[n[0]] || { name: n[0], layer: n[1], sent: 0 };
      node[n[0]].sent += l.used;
      tier[n[0]] = n[2];
    });
  });
  var names = Object.keys(node);
  var levels = group(names, function (n) { return tier[n] + " " + node[n].layer; }).sort(function (a, b) { return tier[b.values[0]] - tier[a.values[0]] || (a.key < b.key ? -1 : 1); });
  var height = 90 * levels.length, svg = canvas(f, height, "the network, busy links dark, paused ones orange"), place = {};
  levels.forEach(function (l, row) {
    var shown = l.values.sort(function (a, b) { return node[b].sent - node[a].sent; }).slice(0, 40).sort(function (a, b) { return a.localeCompare(b, undefined, { numeric: true }); });
    shown.forEach(function (n, i) { place[n] = [60 + (width - 120) * (i + .5) / shown.length, 40 + 90 * row, shown.length]; });
    svg.append("text").attr({ x: 4, y: 40 + 90 * row + 22 }).style("fill", "#555")
      .text(node[l.values[0]].layer + ": " + l.values.length + (l.values.length > shown.length ? ", " + shown.length + " shown" : ""));
  });
  list.forEach(function (l) {
    var a = place[l.node], b = place[l.peer];
    if (!a || !b) return;
    svg.append("line").attr({ x1: a[0], y1: a[1], x2: b[0], y2: b[1] }).style({ stroke: l.paused_us > 0 ? "#D55E00" : d3.rgb(shade(Math.max(.12, l.used))), "stroke-width": 1 + 3 * l.used, "stroke-dasharray": l.paused_us > 0 ? "5,3" : "" })
      .append("title").text(l.port + " to " + l.peer + ": " + percent(l.used) + (l.paused_us > 0 ? ", paused " + time(l.paused_us) : ""));
  });
  Object.keys(place).forEach(function (n) {
    var p = place[n];
    svg.append("circle").attr({ cx: p[0], cy: p[1], r: p[2] > 20 ? 5 : 8 }).style({ fill: "#fff", stroke: "#000" }).append("title").text(n);
    if (p[2] <= 10) svg.append("text").attr({ x: p[0], y: p[1] - 12, "text-anchor": "middle" }).text(n.slice(-16));
  });
}

function jobs(s, run) {
  var ops = rows(run, "collectives"), its = rows(run, "iterations");
  if (!its.length && !ops.length) return;
  var f = figure(s, "Jobs", "Collectives of each job over time, from when the last rank came to one until the last rank had done it; below, iterations, and in orange what of them waited for the network (mean over ranks). At most 4000 collectives.", run, ["collectives", "iterations"]);
  var bars = ops.map(function (o) { return { row: o.job + ": " + o.operation, from: o.start_us, to: o.end_us, text: o.operation + " " + time(o.end_us - o.start_us) }; })
    .concat(its.map(function (i) { return { row: "job " + i.job + " iterations", from: i.start_us, to: i.end_us, exposed: i.exposed_us, text: "iteration " + i.iteration + ": " + time(i.end_us - i.start_us) + ", " + time(i.exposed_us) + " exposed" }; }));
  var lanes = group(bars, function (b) { return b.row; }).slice(0, 40), height = 50 + 20 * lanes.length, svg = canvas(f, height, "jobs over time");
  var x = d3.scale.linear().domain([0, d3.max(bars, function (b) { return b.to; }) || 1]).range([room(230), width - 20]);
  svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 34) + ")").call(d3.svg.axis().scale(x).ticks(ticks).tickFormat(time));
  lanes.forEach(function (g, i) {
    svg.append("text").attr({ x: room(230) - 6, y: 20 * i + 16, "text-anchor": "end" }).text(cut(g.key, 220));
    g.values.forEach(function (b, k) {
      svg.append("rect").attr({ x: x(b.from), y: 20 * i + 4, width: Math.max(.6, x(b.to) - x(b.from) - .5), height: 14 }).style({ fill: k % 2 ? "#4a90c0" : colours[0] }).append("title").text(b.text);
      if (b.exposed) svg.append("rect").attr({ x: x(b.from), y: 20 * i + 13, width: Math.max(.6, x(b.from + b.exposed) - x(b.from)), height: 5 }).style("fill", "#f0a030");
    });
  });
}

function parameters(s, run) {
  var d = el(s, "details"), list = rows(run, "config");
  el(d, "summary", "Every parameter in force (" + list.length + "; \u25cf differs from its default)");
  var t = el(el(d, "div", null, "wide"), "table"), tr = el(t, "tr");
  ["parameter", "value", "default"].forEach(function (c) { el(tr, "th", c); });
  list.forEach(function (c) {
    tr = el(t, "tr", null, c.default !== null && c.default !== c.value ? "set" : "");
    [c.path, c.value, c.default === null ? "" : c.default].forEach(function (v) { el(tr, "td", v); });
  });
}

function show(box, run) {
  times(box, run);
  jobs(box, run);
  rankTimes(box, run);
  why(box, run);
  overTime(box, run);
  pauses(box, run);
  links(box, run);
  network(box, run);
  parameters(box, run);
}
