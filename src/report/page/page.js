// SPDX-License-Identifier: Apache-2.0
// Draws a report from the tables in #data. Every text that came from a scenario is set as text, never as markup.
(function () {
  "use strict";
  var all = JSON.parse(document.getElementById("data").textContent), runs = all.runs;
  // Okabe and Ito's colours, and dashes, so that lines differ without colour vision and in print.
  var colours = ["#0072B2", "#D55E00", "#007a5a", "#8c5a00", "#a0497a", "#000000", "#3b7ea1", "#6b6b00"];
  var dashes = ["", "7,3", "2,3", "10,3,2,3", "1,0", "5,5", "12,4", "3,2,1,2"];
  var width = 900;

  // --- small things ------------------------------------------------------------------------------------------------

  function el(parent, tag, text, cls) {
    var e = document.createElement(tag);
    if (text !== undefined && text !== null) e.textContent = text;
    if (cls) e.className = cls;
    parent.appendChild(e);
    return e;
  }
  function three(x) { return x === 0 ? "0" : Math.abs(x) >= 1e6 || Math.abs(x) < 1e-3 ? x.toExponential(2) : String(+x.toPrecision(3)); }
  function scaled(x, steps, names) {
    var k = 0;
    while (k + 1 < steps.length && Math.abs(x) >= steps[k + 1]) k++;
    return three(x / steps[k]) + " " + names[k];
  }
  function time(us) { return us === null ? "-" : scaled(us * 1e6, [1, 1e3, 1e6, 1e9, 1e12], ["ps", "ns", "us", "ms", "s"]); }
  function bytes(b) { return scaled(b, [1, 1e3, 1e6, 1e9, 1e12], ["B", "KB", "MB", "GB", "TB"]); }
  function percent(x) { return three(100 * x) + "%"; }
  function rows(run, name) {
    var t = run.tables[name];
    if (!t) return [];
    return t.rows.map(function (r) {
      var o = {};
      t.columns.forEach(function (c, i) { o[c] = r[i]; });
      return o;
    });
  }
  function group(list, key) {
    var map = {}, order = [];
    list.forEach(function (x) {
      var k = key(x);
      if (!Object.prototype.hasOwnProperty.call(map, k)) { map[k] = []; order.push(k); }
      map[k].push(x);
    });
    return order.map(function (k) { return { key: k, values: map[k] }; });
  }
  function label(run) { return run.variant || run.scenario; }
  function sum(list, f) { return list.reduce(function (s, x) { return s + f(x); }, 0); }

  // --- a figure with its numbers -----------------------------------------------------------------------------------

  function csv(table) {
    function field(x) { x = x === null ? "" : String(x); return /[",\n]/.test(x) ? '"' + x.replace(/"/g, '""') + '"' : x; }
    return [table.columns].concat(table.rows).map(function (r) { return r.map(field).join(","); }).join("\n") + "\n";
  }
  function figure(parent, title, caption, run, tables) {
    var f = el(parent, "figure");
    el(f, "h3", title);
    f.body = el(f, "div");
    el(f, "figcaption", caption);
    var tools = el(f, "div", null, "tools");
    tables.forEach(function (name) {
      var t = run.tables[name];
      if (!t) return;
      if (t.rows.length && !all.no_data) {
        var a = el(tools, "a", "CSV of " + name);
        a.download = name + ".csv";
        a.href = "data:text/csv;charset=utf-8," + encodeURIComponent(csv(t));
        tools.appendChild(document.createTextNode(" "));
      }
      var d = el(tools, "details");
      el(d, "summary", "query of " + name);
      el(d, "pre", t.sql);
    });
    return f;
  }
  function canvas(f, height, what) {
    return d3.select(f.body).append("svg").attr("viewBox", "0 0 " + width + " " + height).attr("role", "img")
      .attr("tabindex", 0).attr("aria-label", what).attr("data-chart", "1");
  }
  function legend(f, names) {
    var box = document.createElement("div");
    box.className = "legend";
    names.forEach(function (n, i) {
      var item = el(box, "span");
      d3.select(item).append("svg").attr("aria-hidden", "true").append("line").attr({ x1: 0, x2: 32, y1: 6, y2: 6 })
        .style({ stroke: colours[i % 8], "stroke-width": 3, "stroke-dasharray": dashes[i % 8] });
      item.appendChild(document.createTextNode(" " + n));
    });
    f.body.insertBefore(box, f.body.firstChild);
  }
  function axes(svg, x, y, height, xname, yname, xformat, yformat) {
    var bottom = height - 40;
    var gx = d3.svg.axis().scale(x).orient("bottom").ticks(6).tickFormat(xformat);
    var gy = d3.svg.axis().scale(y).orient("left").ticks(5).tickFormat(yformat);
    if (x.base) gx.tickValues(x.ticks().filter(function (d) { return /^1/.test(d.toExponential()); }));
    svg.append("g").attr("class", "axis grid").attr("transform", "translate(80,0)")
      .call(d3.svg.axis().scale(y).orient("left").ticks(5).tickSize(-(width - 100), 0, 0).tickFormat(""));
    svg.append("g").attr("class", "axis x").attr("transform", "translate(0," + bottom + ")").call(gx);
    svg.append("g").attr("class", "axis y").attr("transform", "translate(80,0)").call(gy);
    svg.append("text").attr({ x: width - 20, y: height - 6, "text-anchor": "end" }).text(xname);
    svg.append("text").attr({ x: 6, y: 12 }).text(yname);
    return { x: gx, bottom: bottom };
  }

  /// Lines over x; series: [{name, points: [[x, y]], step}]. With `zoom` a part of x can be dragged out.
  function lines(f, series, o) {
    var height = o.height || 320;
    series = series.filter(function (s) { return s.points.length; });
    if (!series.length) { el(f.body, "p", o.nothing || "Nothing to show.", "soft"); return; }
    var every = [].concat.apply([], series.map(function (s) { return s.points; }));
    var svg = canvas(f, height, o.what);
    var xs = every.map(function (p) { return p[0]; }), ys = every.map(function (p) { return p[1]; });
    var x0 = d3.min(xs), x1 = d3.max(xs);
    var log = o.log && x0 > 0 && x1 / x0 > 30;
    if (log) { x0 = Math.pow(10, Math.floor(Math.log(x0) / Math.LN10)); x1 = Math.pow(10, Math.ceil(Math.log(x1) / Math.LN10)); }
    else { x0 = Math.min(0, x0); x1 = x1 > x0 ? x0 + 1.05 * (x1 - x0) : x0 + 1; }
    var x = (log ? d3.scale.log() : d3.scale.linear()).domain([x0, x1]).range([80, width - 20]);
    var y = d3.scale.linear().domain([0, o.top || d3.max(ys) || 1]).nice().range([height - 40, 24]);
    var a = axes(svg, x, y, height, o.xname, o.yname, o.xformat, o.yformat);
    var clip = "clip" + Math.random().toString(36).slice(2);
    svg.append("clipPath").attr("id", clip).append("rect").attr({ x: 80, y: 0, width: width - 100, height: height - 40 });
    var path = d3.svg.line().x(function (p) { return x(Math.max(p[0], log ? x0 : p[0])); }).y(function (p) { return y(p[1]); });
    if (o.step) path.interpolate("step-after");
    var body = svg.append("g").attr("clip-path", "url(#" + clip + ")");
    function draw() {
      var l = body.selectAll("path.line").data(series);
      l.enter().append("path").attr("class", "line").append("title");
      l.attr("d", function (s) { return path(s.points); })
        .style("stroke", function (s, i) { return colours[i % 8]; })
        .style("stroke-dasharray", function (s, i) { return dashes[i % 8]; })
        .select("title").text(function (s) { return s.name; });
      var few = series.filter(function (s) { return !o.step && s.points.length < 30; });
      var g = body.selectAll("g.marks").data(few);
      g.enter().append("g").attr("class", "marks");
      var m = g.style("fill", function (s) { return colours[series.indexOf(s) % 8]; }).selectAll("circle").data(function (s) { return s.points; });
      m.enter().append("circle").attr("r", 3.5);
      m.attr("cx", function (p) { return x(p[0]); }).attr("cy", function (p) { return y(p[1]); });
      svg.select(".axis.x").call(a.x);
    }
    draw();
    legend(f, series.map(function (s) { return s.name; }));
    if (!o.zoom) return;
    var first = x.domain().slice();
    function to(d) { x.domain([Math.max(first[0], d[0]), Math.min(first[1], d[1])]); draw(); }
    var brush = d3.svg.brush().x(d3.scale.linear().domain([80, width - 20]).range([80, width - 20])).on("brushend", function () {
      if (brush.empty()) return;
      var e = brush.extent();
      to([x.invert(e[0]), x.invert(e[1])]);
      d3.select(this).call(brush.clear());
    });
    svg.append("g").call(brush).selectAll("rect").attr({ y: 24, height: height - 64 }).style("fill-opacity", .1);
    function by(factor, shift) {
      var d = x.domain(), m = (d[0] + d[1]) / 2, h = (d[1] - d[0]) / 2;
      to([m - h * factor + shift * h, m + h * factor + shift * h]);
    }
    svg.on("keydown", function () {
      var k = d3.event.key;
      if (k === "+" || k === "=") by(.5, 0); else if (k === "-") by(2, 0); else if (k === "ArrowLeft") by(1, -.5);
      else if (k === "ArrowRight") by(1, .5); else if (k === "Escape") to(first); else return;
      d3.event.preventDefault();
    });
    var bar = el(f.body, "div", null, "tools");
    [["zoom in", function () { by(.5, 0); }], ["zoom out", function () { by(2, 0); }], ["all", function () { to(first); }]].forEach(function (b) {
      el(bar, "button", b[0]).onclick = b[1];
    });
    el(bar, "span", "drag over the chart, or + - and arrow keys", "soft");
  }

  var shade = d3.scale.linear().domain([0, .25, .5, .75, 1]).range(["#f3f6fb", "#b9d0e8", "#6f9fd0", "#2f62a3", "#0b2b5c"]).clamp(true);

  /// A row a name: pieces of time, as dark as their share. strips: [{name, values: [{from, until, share, text}]}].
  function strips(f, strips, what) {
    var height = 70 + 20 * strips.length, svg = canvas(f, height, what);
    var x = d3.scale.linear().domain([0, d3.max(strips, function (s) { return d3.max(s.values, function (v) { return v.until; }); }) || 1]).range([210, width - 20]);
    svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 54) + ")").call(d3.svg.axis().scale(x).ticks(6).tickFormat(time));
    strips.forEach(function (s, i) {
      svg.append("text").attr({ x: 204, y: 20 * i + 15, "text-anchor": "end" }).text(s.name.slice(-32));
      svg.append("g").selectAll("rect").data(s.values).enter().append("rect").attr("x", function (v) { return x(v.from); }).attr("y", 20 * i + 3)
        .attr("width", function (v) { return Math.max(.5, x(v.until) - x(v.from)); }).attr("height", 15).style("fill", function (v) { return shade(v.share); })
        .append("title").text(function (v) { return s.name + ", " + time(v.from) + ": " + v.text; });
    });
    scale(svg, height);
  }
  function scale(svg, height) {
    [0, .25, .5, .75, 1].forEach(function (v, i) {
      svg.append("rect").attr({ x: 210 + 90 * i, y: height - 16, width: 12, height: 12 }).style({ fill: shade(v), stroke: "#777" });
      svg.append("text").attr({ x: 226 + 90 * i, y: height - 6 }).text(percent(v));
    });
  }

  // --- the answers -------------------------------------------------------------------------------------------------

  function worst(run) {
    var g = rows(run, "groups").filter(function (r) { return r.p99_us !== null; });
    return g.sort(function (a, b) { return b.p99_us - a.p99_us; })[0];
  }
  function answer(run, first) {
    var g = rows(run, "groups"), w = worst(run), text = "";
    var flows = sum(g, function (r) { return r.count; }), done = sum(g, function (r) { return r.finished; });
    if (run.end === "stall") text += "The network stalled: no more progress after " + time(run.sim_time_us) + ". ";
    else if (flows) text += (done === flows ? "All " + flows : done + " of " + flows) + " flows finished" + (run.end === "done" ? " in " + time(run.sim_time_us) : "") + ". ";
    var of_job = w && rows(run, "jobs").some(function (j) { return j.name === w.name; });
    if (w && !of_job) text += "The slowest group is " + w.name + ": 99% within " + time(w.p99_us) + ", " + three(w.slowdown_p99) + " times what its flows take alone. ";
    rows(run, "jobs").forEach(function (j) {
      if (j.iteration_us !== null) text += "Job " + j.name + ": " + time(j.iteration_us) + " an iteration, of which " + time(j.exposed_us) + " wait for the network. ";
    });
    if (first && first !== run) {
      var before = {}, change = [];
      rows(first, "groups").forEach(function (r) { before[r.name] = r; });
      g.forEach(function (r) {
        var b = before[r.name];
        if (b && b.mean_us && r.mean_us) change.push([r.name, r.mean_us / b.mean_us - 1]);
      });
      change.sort(function (a, b) { return Math.abs(b[1]) - Math.abs(a[1]); });
      if (change.length) text += "Against " + label(first) + ", the mean completion time changes most for " + change[0][0] + ": " + (change[0][1] > 0 ? "+" : "") + percent(change[0][1]) + ". ";
    }
    text += run.paused_us > 0 ? "Ports were paused for " + time(run.paused_us) + " in all. " : "No port was paused. ";
    text += run.dropped ? run.dropped + " packets were dropped." : "Nothing was dropped.";
    return text;
  }

  function head() {
    var h = document.getElementById("head"), r = runs[0];
    document.title = r.scenario + " - weft report";
    el(h, "h1", r.scenario);
    if (r.about) el(h, "p", r.about);
    el(h, "p", r.hosts + " hosts, " + r.switches + " switches, " + r.links + " links; weft " + r.weft + (r.commit ? ", commit " + r.commit : "") +
      "; " + runs.length + (runs.length > 1 ? " runs" : " run"), "soft");
    var main = document.getElementById("main");
    var s = el(main, "section");
    s.id = "answers";
    el(s, "h2", "The answer");
    var list = el(s, "ul", null, "answers");
    runs.forEach(function (run) {
      var li = el(list, "li");
      el(li, "strong", label(run) + ": ");
      li.appendChild(document.createTextNode(answer(run, runs[0])));
    });
    var t = el(el(s, "div", null, "wide"), "table"), tr = el(t, "tr");
    ["run", "seed", "simulated", "ended", "digest"].forEach(function (c) { el(tr, "th", c); });
    runs.forEach(function (run) {
      tr = el(t, "tr");
      [label(run), run.seed, time(run.sim_time_us), run.end, run.digest].forEach(function (c) { el(tr, "td", c); });
    });
  }

  // --- comparing runs ----------------------------------------------------------------------------------------------

  function compare(main) {
    if (runs.length < 2) return;
    var s = el(main, "section");
    el(s, "h2", "Side by side");
    var names = group([].concat.apply([], runs.map(function (r) { return rows(r, "groups"); })), function (g) { return g.name; }).map(function (g) { return g.key; });
    names.slice(0, 12).forEach(function (name) {
      var f = figure(s, "Group " + name, "Completion time: circle the median, square the mean, bar up to the 99th percentile.", runs[0], ["groups"]);
      var height = 50 + 24 * runs.length, svg = canvas(f, height, "completion times of group " + name + " by run");
      var points = runs.map(function (r) {
        return rows(r, "groups").filter(function (g) { return g.name === name; })[0] || {};
      });
      var x = d3.scale.linear().domain([0, d3.max(points, function (p) { return p.p99_us || 0; }) || 1]).nice().range([240, width - 60]);
      svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 34) + ")").call(d3.svg.axis().scale(x).ticks(6).tickFormat(time));
      points.forEach(function (p, i) {
        var y = 14 + 24 * i;
        svg.append("text").attr({ x: 232, y: y + 4, "text-anchor": "end" }).text(label(runs[i]).slice(-34));
        if (!p.p99_us) { svg.append("text").attr({ x: 244, y: y + 4 }).text("none finished"); return; }
        svg.append("line").attr({ x1: x(p.p50_us), x2: x(p.p99_us), y1: y, y2: y }).style({ stroke: colours[0], "stroke-width": 5, opacity: .5 });
        svg.append("circle").attr({ cx: x(p.p50_us), cy: y, r: 5 }).style("fill", colours[0]);
        svg.append("rect").attr({ x: x(p.mean_us) - 4, y: y - 4, width: 8, height: 8 }).style({ fill: "#fff", stroke: colours[1], "stroke-width": 2 });
        svg.append("text").attr({ x: x(p.p99_us) + 6, y: y + 4 }).text(time(p.p99_us));
      });
    });
  }

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
    var f = figure(s, "Who was paused, and when", "A bar is a pause of a port's priority. The 24 ports that were paused longest, of each the longest pauses, 4000 in all.", run, ["pauses"]);
    if (!list.length) { el(f.body, "p", run.paused_us > 0 ? "The results hold no events: run with --out to record them." : "No port was paused.", "soft"); }
    else {
      var ports = group(list, function (p) { return p.port; }), height = 50 + 18 * ports.length;
      var svg = canvas(f, height, "pauses of ports over time");
      var x = d3.scale.linear().domain([0, run.sim_time_us]).range([200, width - 20]);
      svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 34) + ")").call(d3.svg.axis().scale(x).ticks(6).tickFormat(time));
      ports.forEach(function (g, i) {
        svg.append("text").attr({ x: 194, y: 18 * i + 16, "text-anchor": "end" }).text(g.key.slice(-28));
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
      var layers = group(list, function (l) { return l.layers; }), cell = 10, across = 66, y = 0;
      var height = 30 + sum(layers, function (g) { return cell * Math.ceil(g.values.length / across) + 8; });
      var svg = canvas(f, height, "how busy links were");
      layers.forEach(function (g) {
        g.values.sort(function (a, b) { return b.used - a.used; });
        svg.append("text").attr({ x: 200, y: y + 9, "text-anchor": "end" }).text(g.key);
        svg.append("g").selectAll("rect").data(g.values).enter().append("rect").attr("x", function (l, i) { return 210 + cell * (i % across); })
          .attr("y", function (l, i) { return y + cell * Math.floor(i / across); }).attr({ width: cell - 1, height: cell - 1 })
          .style("fill", function (l) { return shade(l.used); }).append("title").text(function (l) { return l.port + " to " + l.peer + ": " + percent(l.used) + ", paused " + time(l.paused_us); });
        svg.append("g").selectAll("circle").data(g.values).enter().append("circle").attr("cx", function (l, i) { return 214.5 + cell * (i % across); })
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
      [[l.node, l.layers.split(" to ")[0]], [l.peer, l.layers.split(" to ")[1]]].forEach(function (n) {
        node[n[0]] = node[n[0]] || { name: n[0], layer: n[1], sent: 0, next: {} };
        node[n[0]].sent += l.used;
      });
      node[l.node].next[l.peer] = node[l.peer].next[l.node] = 1;
    });
    var names = Object.keys(node), edge = names.filter(function (n) { return Object.prototype.hasOwnProperty.call(run.host_layers, node[n].layer); });
    if (!edge.length) edge = names.filter(function (n) { return Object.keys(node[n].next).length === 1; });
    edge.forEach(function (n) { tier[n] = 0; });
    for (var at = 0; at < edge.length; at++)
      Object.keys(node[edge[at]].next).forEach(function (m) { if (tier[m] === undefined) { tier[m] = tier[edge[at]] + 1; edge.push(m); } });
    var levels = group(names.filter(function (n) { return tier[n] !== undefined; }), function (n) { return tier[n]; }).sort(function (a, b) { return b.key - a.key; });
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
    var x = d3.scale.linear().domain([0, d3.max(bars, function (b) { return b.to; }) || 1]).range([230, width - 20]);
    svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 34) + ")").call(d3.svg.axis().scale(x).ticks(6).tickFormat(time));
    lanes.forEach(function (g, i) {
      svg.append("text").attr({ x: 224, y: 20 * i + 16, "text-anchor": "end" }).text(g.key.slice(0, 34));
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
    box.textContent = "";
    times(box, run);
    jobs(box, run);
    overTime(box, run);
    pauses(box, run);
    links(box, run);
    network(box, run);
    parameters(box, run);
  }

  head();
  var main = document.getElementById("main");
  compare(main);
  var s = el(main, "section"), box;
  el(s, "h2", runs.length > 1 ? "One run" : "The run");
  if (runs.length > 1) {
    var pick = el(s, "label", "Run: ", "pick"), select = el(pick, "select");
    runs.forEach(function (r, i) { el(select, "option", label(r)).value = i; });
    select.onchange = function () { show(box, runs[+select.value]); };
  }
  box = el(s, "div");
  show(box, runs[0]);
  document.body.setAttribute("data-ready", "1");
})();
