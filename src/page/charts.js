// SPDX-License-Identifier: Apache-2.0
// What the pictures of a report share. Every text that came from a scenario is set as text, never as markup.
var all = JSON.parse(document.getElementById("data").textContent), runs = all.runs || [];
// Okabe and Ito's colours, and dashes, so that lines differ without colour vision and in print.
var colours = ["#0072B2", "#D55E00", "#007a5a", "#8c5a00", "#a0497a", "#000000", "#3b7ea1", "#6b6b00"];
var dashes = ["", "7,3", "2,3", "10,3,2,3", "1,0", "5,5", "12,4", "3,2,1,2"];
var narrow = window.innerWidth < 800, width = narrow ? 440 : 900; // on a phone too, text of 12 is at least 9 pixels high
/// Room for names beside a picture, and a name cut to it.
function room(px) { return narrow ? Math.round(.62 * px) : px; }
var ticks = narrow ? 4 : 6;
function cut(text, px) { var n = Math.floor(room(px) / 6.8); return text.length > n ? text.slice(0, n - 1) + "\u2026" : text; }
function cut_end(text, px) { var n = Math.floor(room(px) / 6.8); return text.length > n ? "\u2026" + text.slice(1 - n) : text; }

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
function label(run) { return run.column; }
function sum(list, f) { return list.reduce(function (s, x) { return s + f(x); }, 0); }

// --- a figure with its numbers -----------------------------------------------------------------------------------

function csv(table) {
  function field(x) { x = x === null ? "" : String(x); return /[",\n]/.test(x) ? '"' + x.replace(/"/g, '""') + '"' : x; }
  return [table.columns].concat(table.rows).map(function (r) { return r.map(field).join(","); }).join("\n") + "\n";
}
/// A table of the data, as a file of its own.
function download(parent, name, table) {
  var a = el(parent, "a", "CSV of " + name);
  a.download = name.replace(/[^A-Za-z0-9_.-]+/g, "-") + ".csv";
  a.href = "data:text/csv;charset=utf-8," + encodeURIComponent(csv(table));
  parent.appendChild(document.createTextNode(" "));
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
    if (t.rows.length && !all.no_data) download(tools, name, t);
    var d = el(tools, "details");
    el(d, "summary", (/^weft /.test(t.sql) ? "command of " : "query of ") + name);
    el(d, "pre", t.sql);
  });
  return f;
}
function canvas(f, height, what) {
  return d3.select(f.body).append("div").attr("class", "wide").append("svg").attr("viewBox", "0 0 " + width + " " + height).attr("role", "img")
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
  var gx = d3.svg.axis().scale(x).orient("bottom").ticks(ticks).tickFormat(xformat);
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
  var clip = clipped(svg, 80, height - 40);
  var path = d3.svg.line().x(function (p) { return x(Math.max(p[0], log ? x0 : p[0])); }).y(function (p) { return y(p[1]); });
  if (o.step) path.interpolate("step-after");
  var body = svg.append("g").attr("clip-path", clip);
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
  zoomable(f, svg, x, draw);
}

/// A part of the drawing from `left` on; what attribute clip-path takes.
function clipped(svg, left, height) {
  var clip = "clip" + Math.random().toString(36).slice(2);
  svg.append("clipPath").attr("id", clip).append("rect").attr({ x: left, y: 0, width: width - 20 - left, height: height });
  return "url(#" + clip + ")";
}

/// A part of x can be dragged out, or chosen by keys and buttons; `draw` draws it.
function zoomable(f, svg, x, draw) {
  var first = x.domain().slice(), range = x.range(), height = +svg.attr("viewBox").split(" ")[3];
  function to(d) { x.domain([Math.max(first[0], d[0]), Math.min(first[1], d[1])]); draw(); }
  var brush = d3.svg.brush().x(d3.scale.linear().domain(range).range(range)).on("brushend", function () {
    if (brush.empty()) return;
    var e = brush.extent();
    to([x.invert(e[0]), x.invert(e[1])]);
    d3.select(this).call(brush.clear());
  });
  svg.insert("g", "g[clip-path]").call(brush).selectAll("rect").attr({ y: 0, height: height - 40 }).style("fill-opacity", .1);
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
function strips(f, strips, what, from) {
  var height = 70 + 20 * strips.length, svg = canvas(f, height, what);
  var x = d3.scale.linear().domain([from || 0, d3.max(strips, function (s) { return d3.max(s.values, function (v) { return v.until; }); }) || 1]).range([room(210), width - 20]);
  svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 54) + ")").call(d3.svg.axis().scale(x).ticks(ticks).tickFormat(time));
  strips.forEach(function (s, i) {
    svg.append("text").attr({ x: room(210) - 6, y: 20 * i + 15, "text-anchor": "end" }).text(cut_end(s.name, 200));
    svg.append("g").selectAll("rect").data(s.values).enter().append("rect").attr("x", function (v) { return x(v.from); }).attr("y", 20 * i + 3)
      .attr("width", function (v) { return Math.max(.5, x(v.until) - x(v.from)); }).attr("height", 15).style("fill", function (v) { return shade(v.share); })
      .append("title").text(function (v) { return s.name + ", " + time(v.from) + ": " + v.text; });
  });
  scale(svg, height);
}
function scale(svg, height) {
  [0, .25, .5, .75, 1].forEach(function (v, i) {
    svg.append("rect").attr({ x: room(210) + (width - room(210)) / 7 * i, y: height - 16, width: 12, height: 12 }).style({ fill: shade(v), stroke: "#777" });
    svg.append("text").attr({ x: room(210) + 16 + (width - room(210)) / 7 * i, y: height - 6 }).text(percent(v));
  });
}
