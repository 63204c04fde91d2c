// SPDX-License-Identifier: Apache-2.0
// Figures side by side: a row a figure, a column what is compared; means with their intervals.

function of_unit(unit) {
  if (unit === "ps") return function (v) { return time(v / 1e6); };
  if (unit === "bytes") return bytes;
  if (unit === "bit/s") return function (v) { return scaled(v, [1, 1e3, 1e6, 1e9, 1e12], ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]); };
  return three;
}
function known(x) { return x !== null && x !== undefined; }
function plus_minus(c, format) { return known(c.mean) ? format(c.mean) + (known(c.half) ? " \u00b1 " + format(c.half) : "") : "-"; }
function change(c) {
  if (!known(c.change)) return "";
  return (c.change > 0 ? "+" : "") + percent(c.change) + (known(c.change_half) ? " \u00b1 " + percent(c.change_half) : "");
}

/// Points with intervals, a line each: [{name, mean, half, median, n, note}].
function dots(f, points, format, what) {
  var height = 46 + 24 * points.length, svg = canvas(f, height, what);
  var low = d3.min(points, function (p) { return known(p.mean) ? p.mean - (p.half || 0) : undefined; });
  var high = d3.max(points, function (p) { return known(p.mean) ? p.mean + (p.half || 0) : undefined; });
  var x = d3.scale.linear().domain([Math.min(0, low || 0), high || 1]).nice().range([room(250), width - room(190)]);
  svg.append("g").attr("class", "axis grid").attr("transform", "translate(0," + (height - 34) + ")").call(d3.svg.axis().scale(x).ticks(ticks).tickSize(-(height - 40), 0, 0).tickFormat(""));
  svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 34) + ")").call(d3.svg.axis().scale(x).ticks(ticks).tickFormat(format));
  points.forEach(function (p, i) {
    var y = 16 + 24 * i, g = svg.append("g");
    g.append("text").attr({ x: room(250) - 8, y: y + 4, "text-anchor": "end" }).text(cut(p.name, 240));
    if (!known(p.mean)) { g.append("text").attr({ x: room(250) + 4, y: y + 4 }).text("none"); return; }
    if (p.half) {
      g.append("line").attr({ x1: x(p.mean - p.half), x2: x(p.mean + p.half), y1: y, y2: y }).style({ stroke: colours[0], "stroke-width": 2 });
      [-1, 1].forEach(function (e) { g.append("line").attr({ x1: x(p.mean + e * p.half), x2: x(p.mean + e * p.half), y1: y - 5, y2: y + 5 }).style({ stroke: colours[0], "stroke-width": 2 }); });
    }
    g.append("circle").attr({ cx: x(p.mean), cy: y, r: 5 }).style("fill", colours[0]);
    g.append("text").attr({ x: x(p.mean + (p.half || 0)) + 8, y: y + 4 }).text(format(p.mean) + (p.note ? ", " + p.note : ""));
    g.append("title").text(p.name + ": " + plus_minus(p, format) + (p.n > 1 ? ", " + p.n + " seeds, median " + format(p.median) : ""));
  });
}

/// Colours that stay apart for many parts: those of lines, then lighter ones.
function part_colour(i) { return i < 8 ? colours[i] : d3.rgb(colours[i % 8]).brighter(1.6).toString(); }
function text_on(fill) { return d3.lab(fill).l > 60 ? "#1a1a1a" : "#fff"; }

/// What stands in a cell of a map: a verdict that is a name, or the value.
function cell_word(c, format) {
  var word = (c.verdict || "").split(", ")[0];
  return !word || word === "first" || word === "within noise" ? format(c.mean) : word;
}

/// Rows of one subject across, columns of the matrix down: as dark as the value, on a logarithmic scale.
function grid(f, m, list) {
  var shown = m.columns.map(function (c, i) { return i; }).filter(function (i) { return list.some(function (r) { return known(r.cells[i].mean); }); });
  var left = 24 + 7 * d3.max(shown, function (i) { return Math.min(22, m.columns[i].length); }) || 24; // of the names
  var w = Math.min(110, (width - left - 10) / list.length), h = 26, height = 30 + h * shown.length;
  var svg = canvas(f, height, m.title + ": " + list[0].subject), every = [];
  list.forEach(function (r) { shown.forEach(function (i) { if (r.cells[i].mean > 0) every.push(Math.log(r.cells[i].mean)); }); });
  var low = d3.min(every), high = d3.max(every);
  function shade_of(v) { return shade(high > low ? (Math.log(v) - low) / (high - low) : 0); }
  list.forEach(function (r, k) { svg.append("text").attr({ x: left + k * w + w / 2, y: 14, "text-anchor": "middle" }).text(r.figure.slice(0, Math.max(6, w / 6))); });
  shown.forEach(function (i, row) {
    var y = 24 + row * h;
    svg.append("text").attr({ x: left - 8, y: y + h / 2 + 4, "text-anchor": "end" }).text(m.columns[i].slice(0, 22));
    list.forEach(function (r, k) {
      var c = r.cells[i], x = left + k * w, g = svg.append("g"), format = of_unit(r.unit);
      if (!(c.mean > 0)) { g.append("text").attr({ x: x + w / 2, y: y + h / 2 + 4, "text-anchor": "middle" }).text("-"); return; }
      var fill = shade_of(c.mean);
      g.append("rect").attr({ x: x, y: y, width: w - 1, height: h - 1 }).style("fill", fill);
      if (w > 30) g.append("text").attr({ x: x + w / 2, y: y + h / 2 + 4, "text-anchor": "middle" }).style("fill", text_on(fill)).attr("data-on", fill).text(cell_word(c, format).slice(0, Math.max(6, w / 6)));
      if (c.verdict === "first") g.append("rect").attr({ x: x + 1.5, y: y + 1.5, width: w - 4, height: h - 4 }).style({ fill: "none", stroke: "#D55E00", "stroke-width": 3 });
      if (/within noise$/.test(c.verdict || "")) g.append("circle").attr({ cx: x + 7, cy: y + 7, r: 3.5 }).style({ fill: "#ffb000", stroke: "#000", "stroke-width": .6 });
      g.append("title").text(m.columns[i] + ", " + r.figure + ": " + plus_minus(c, format) + (c.verdict ? ", " + c.verdict : ""));
    });
  });
  function any(pattern) { return list.some(function (r) { return r.cells.some(function (c) { return pattern.test(c.verdict || ""); }); }); }
  el(f.body, "p", "Light is little, dark is much." + (any(/^first$/) ? " A frame: the first." : "") + (any(/within noise$/) ? " A dot: the difference from the first is noise." : ""), "soft");
}

/// A bar a column of the matrix, made of the rows of one subject.
function stack(f, m, list) {
  list = list.filter(function (r) { return r.cells.some(function (c) { return c.mean > 0; }); });
  var shown = m.columns.map(function (c, i) { return i; }).filter(function (i) { return list.some(function (r) { return r.cells[i].mean > 0; }); });
  if (!shown.length) return;
  function total(i) { return sum(list, function (r) { return r.cells[i].mean || 0; }); }
  var height = 40 + 24 * shown.length, svg = canvas(f, height, m.title + ": " + list[0].subject), format = of_unit(list[0].unit);
  var x = d3.scale.linear().domain([0, d3.max(shown, total) || 1]).nice().range([room(180), width - 90]);
  svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 34) + ")").call(d3.svg.axis().scale(x).ticks(ticks).tickFormat(format));
  shown.forEach(function (i, row) {
    var y = 2 + 24 * row, from = 0;
    svg.append("text").attr({ x: room(180) - 8, y: y + 14, "text-anchor": "end" }).text(cut(m.columns[i], 170));
    list.forEach(function (r, k) {
      var v = r.cells[i].mean || 0;
      if (!(v > 0)) return;
      svg.append("rect").attr({ x: x(from), y: y, width: Math.max(0, x(from + v) - x(from)), height: 18 }).style({ fill: part_colour(k), stroke: "#fff", "stroke-width": .5 })
        .append("title").text(m.columns[i] + ", " + r.figure + ": " + format(v) + ", " + percent(v / total(i)));
      from += v;
    });
    svg.append("text").attr({ x: x(from) + 6, y: y + 14 }).text(format(from));
  });
  var box = el(f.body, "div", null, "legend");
  list.forEach(function (r, k) {
    var item = el(box, "span");
    d3.select(item).append("svg").attr("aria-hidden", "true").append("rect").attr({ x: 10, width: 14, height: 12 }).style("fill", part_colour(k));
    item.appendChild(document.createTextNode(" " + r.figure));
  });
}

function matrix_csv(m) {
  var t = { columns: ["subject", "figure", "unit", "column", "n", "mean", "half", "median", "change", "change_half", "verdict"], rows: [] };
  m.rows.forEach(function (r) {
    r.cells.forEach(function (c, i) { t.rows.push([r.subject, r.figure, r.unit, m.columns[i], c.n, c.mean, c.half, c.median, c.change, c.change_half, c.verdict]); });
  });
  return t;
}

function matrix_table(parent, m) {
  var t = el(el(parent, "div", null, "wide"), "table"), tr = el(t, "tr");
  ["", ""].concat(m.columns).forEach(function (c, i) { el(tr, "th", c, i > 1 ? "n" : ""); });
  m.rows.forEach(function (r) {
    var format = of_unit(r.unit);
    tr = el(t, "tr");
    el(tr, "td", r.subject);
    el(tr, "td", r.figure);
    r.cells.forEach(function (c) {
      var td = el(tr, "td", plus_minus(c, format), "n"), d = change(c);
      if (d || c.verdict) el(td, "div", d + (c.verdict ? (d ? ", " : "") + c.verdict : ""), "soft");
    });
  });
}

function matrix(main, m) {
  if (!m.rows.length) return;
  var s = el(main, "section");
  el(s, "h2", m.title);
  if (m.caption) el(s, "p", m.caption, "soft");
  group(m.rows, function (r) { return r.subject; }).slice(0, 40).forEach(function (g, at) {
    if (m.form !== "dots") {
      var whole = el(s, "figure");
      el(whole, "h3", g.key);
      whole.body = el(whole, "div");
      (m.form === "map" ? grid : stack)(whole, m, g.values);
      return;
    }
    g.values.forEach(function (r, k) {
      var f = el(s, "figure"), holder = f;
      if (k > 0 || at > 11) { holder = el(f, "details"); el(holder, "summary", r.subject + ": " + r.figure); }
      else el(f, "h3", r.subject + ": " + r.figure);
      f.body = el(holder, "div");
      dots(f, r.cells.map(function (c, i) {
        return { name: m.columns[i], mean: c.mean, half: c.half, median: c.median, n: c.n, note: [change(c), c.verdict].filter(Boolean).join(", ") };
      }), of_unit(r.unit), r.subject + ", " + r.figure + ", by run");
    });
  });
  var d = el(s, "details");
  el(d, "summary", "The table");
  matrix_table(d, m);
  var tools = el(s, "div", null, "tools");
  if (!all.no_data) download(tools, m.title, matrix_csv(m));
  if (m.method) { d = el(tools, "details"); el(d, "summary", "where the figures are from"); el(d, "pre", m.method); }
}

/// What a column's figures are against those of its base, in a sentence.
function verdict(m, at) {
  var said = [], noise = [];
  group(m.rows, function (r) { return r.subject; }).slice(0, 6).forEach(function (g) {
    var r = g.values.filter(function (v) { return known(v.cells[at].change); })[0];
    if (!r) return;
    var c = r.cells[at], what = r.subject.indexOf("job ") ? "flows of " + r.subject : r.subject;
    if (c.verdict === "within noise" || c.verdict === "the same") noise.push(what + (c.verdict === "the same" ? " (the same)" : ""));
    else said.push(what + (r.subject.indexOf("job ") ? " take " : " takes ") + percent(Math.abs(c.change)) + (known(c.change_half) ? " \u00b1 " + percent(c.change_half) : "") +
      (c.change < 0 ? " less" : " more") + " time" + (r.subject.indexOf("job ") ? "" : " an iteration") + " in the mean");
  });
  var text = said.length ? said.join("; ") : "";
  if (noise.length) text += (text ? "; " : "") + (said.length ? "within noise: " : "no difference beyond noise: ") + noise.join(", ");
  return text ? "Against " + m.columns[m.base[at]] + ": " + text + ". " : "";
}
