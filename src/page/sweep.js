// SPDX-License-Identifier: Apache-2.0
// The pictures of a sweep: points of one or more parameters, each with several seeds.

/// "100KB" as a number of its kind of unit, {n, kind}; null: it is none.
function quantity(text) {
  var units = { "": ["", 1], "%": ["", .01], ps: ["time", 1e-6], ns: ["time", 1e-3], us: ["time", 1], ms: ["time", 1e3], s: ["time", 1e6], B: ["bytes", 1], KB: ["bytes", 1e3], MB: ["bytes", 1e6],
    GB: ["bytes", 1e9], TB: ["bytes", 1e12], KiB: ["bytes", 1024], MiB: ["bytes", 1048576], GiB: ["bytes", 1073741824], bps: ["rate", 1], kbps: ["rate", 1e3], Kbps: ["rate", 1e3], Mbps: ["rate", 1e6], Gbps: ["rate", 1e9],
    Tbps: ["rate", 1e12], mm: ["length", 1e-3], cm: ["length", 1e-2], m: ["length", 1], km: ["length", 1e3] };
  var m = /^([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)(?:\/([0-9.]+))? ?([A-Za-z%]*)$/.exec(text);
  if (!m || !Object.prototype.hasOwnProperty.call(units, m[3])) return null;
  return { n: m[1] / (m[2] || 1) * units[m[3]][1], kind: units[m[3]][0] };
}

/// "26.332906288%" as an axis shows it: "26.33%".
function short(text) {
  var m = /^([-+]?[0-9]*\.[0-9]{3,})([^0-9].*)?$/.exec(text);
  return m ? +(+m[1]).toPrecision(4) + (m[2] || "") : text;
}
/// Those of an axis's values that have room for their text.
function apart(a, scale, room) {
  var last = null;
  return a.values.filter(function (v) {
    var x = scale(a.at[v]), fits = last === null || Math.abs(x - last) >= room;
    if (fits) last = x;
    return fits;
  });
}

/// What is varied: {name, of(point), values: texts in order, x(text): number, log, numeric}.
function axes_of(s, points) {
  var skip = { point: 1, command: 1 };
  return s.tables.points.columns.filter(function (c) { return !skip[c]; }).map(function (name) {
    var values = group(points, function (p) { return p[name] === null ? "" : p[name]; }).map(function (g) { return g.key; });
    var parsed = values.map(quantity), numeric = parsed.every(function (q) { return q && q.kind === parsed[0].kind; });
    var at = {};
    if (numeric) values = d3.zip(values, parsed).sort(function (a, b) { return a[1].n - b[1].n; }).map(function (z, i) { at[z[0]] = z[1].n; return z[0]; });
    else values.forEach(function (v, i) { at[v] = i; });
    var first = at[values[0]], last = at[values[values.length - 1]];
    return { name: name, values: values, at: at, numeric: numeric, log: numeric && first > 0 && last / first > 20,
      of: function (p) { return p[name] === null ? "" : p[name]; }, x: function (p) { return at[p[name] === null ? "" : p[name]]; } };
  }).filter(function (a) { return a.values.length > 1; });
}

function sweep(main, s, alone) {
  var points = rows(s, "points"), summary = rows(s, "summary"), ranking = rows(s, "ranking"), failed = rows(s, "failed"), unit = {};
  rows(s, "meaning").forEach(function (m) { unit[m.column] = m; });
  var axes = axes_of(s, points), states = rows(s, "states"), total = sum(states, function (r) { return r.runs; });
  var seeds = points.length ? Math.round(total / points.length) : 0;
  function key(r) { return r.metric + "\n" + r.group; }
  function metric_name(r) { return (r.group && r.metric.indexOf("counters_") ? r.group + ": " : "") + r.metric.replace(/_ps(_|$)/, "$1"); }
  function where(p) { return axes.map(function (a) { return a.name + "=" + a.of(p); }).join(", ") || "the scenario as it is"; }
  function unit_of(r) { return unit[r.metric] ? unit[r.metric].unit : /fct|_ps|iteration|exposed/.test(r.metric) ? "ps" : ""; }
  var metrics = group(summary, key).filter(function (g) { return g.values.some(function (v) { return v.mean !== 0; }); });
  var order = {};
  ranking.forEach(function (r) { if (!(key(r) in order)) order[key(r)] = r.number; });
  metrics.sort(function (a, b) { return (a.key in order ? order[a.key] : 1e9) - (b.key in order ? order[b.key] : 1e9); });
  var line = points.length + " points, " + seeds + (seeds === 1 ? " seed" : " seeds") + " each; weft " + s.weft + (s.commit ? ", commit " + s.commit : "") + "; " +
    states.map(function (r) { return r.runs + " " + r.state; }).join(", ");
  if (alone && !document.querySelector("h1")) title(s.scenario, s.about, line);

  function answer_of(k) {
    var r = ranking.filter(function (x) { return key(x) === k; });
    if (!r.length) return null;
    var by = {}, format = of_unit(unit_of(r[0]));
    summary.forEach(function (x) { if (key(x) === k) by[x.point] = x; });
    var best = r.filter(function (x) { return x.verdict === "best"; })[0], alike = r.filter(function (x) { return x.verdict === "alike"; });
    if (!best) return [metric_name(r[0]), "no point has a value with every seed.", ""];
    var v = by[best.point], text = "the " + best.direction + " is at point " + best.point + " (" + where(points[best.point]) + "): " + format(v.mean) + (known(v.low) ? " \u00b1 " + format(v.mean - v.low) : "") + ". ";
    if (r.some(function (x) { return x.verdict === "not judged"; })) text += "With one seed no difference can be told from noise. ";
    else if (alike.length) text += "As good, as far as " + seeds + " seeds can tell: point" + (alike.length > 1 ? "s " : " ") + alike.slice(0, 40).map(function (x) { return x.point; }).join(", ") + (alike.length > 40 ? " and " + (alike.length - 40) + " more" : "") + ". ";
    else if (points.length > 1) text += "Every other point is worse by more than noise. ";
    var out = r.filter(function (x) { return x.verdict === "left out"; }).length;
    if (out) text += out + (out === 1 ? " point is" : " points are") + " left out: no value with some seed. ";
    return [metric_name(r[0]), text, points[best.point].command];
  }
  var ranked = metrics.filter(function (m) { return m.key in order; }).slice(0, 8);
  var section = answers_section(ranked.map(function (m) { return answer_of(m.key); }));
  if (!alone) section.insertBefore(document.createElement("p"), section.children[1]).textContent = "Sweep of " + s.scenario + ": " + line;
  if (ranked.length && answer_of(ranked[0].key)[2]) el(section, "pre", answer_of(ranked[0].key)[2]);
  var box = el(main, "section");
  el(box, "h2", "Points of the sweep");
  if (!metrics.length) { el(box, "p", "No run has a result.", "soft"); }
  else {
    var pick = el(box, "label", "Metric: ", "pick"), select = el(pick, "select"), inner = el(box, "div");
    metrics.forEach(function (m, i) { el(select, "option", metric_name(m.values[0])).value = i; });
    select.onchange = function () { draw(inner, metrics[+select.value]); };
    draw(inner, metrics[0]);
  }
  if (failed.length) {
    var f = figure(box, "Runs without a result, or stalled", "At most 1000.", s, ["failed"]);
    plain_table(f.body, ["point", "parameters", "seed", "state", "why"], failed.map(function (r) { return [r.point, where(points[r.point]), r.seed === 0 ? "" : r.seed, r.state, r.message]; }));
  }

  function draw(inner, m) {
    inner.textContent = "";
    var by = {}, format = of_unit(unit_of(m.values[0])), name = metric_name(m.values[0]), verdicts = {};
    m.values.forEach(function (v) { by[v.point] = v; });
    ranking.forEach(function (r) { if (key(r) === m.key) verdicts[r.point] = r.verdict; });
    var got = points.filter(function (p) { return by[p.point]; });
    if (unit[m.values[0].metric]) el(inner, "p", unit[m.values[0].metric].help, "soft");
    if (axes.length === 2 && got.length * 2 > axes[0].values.length * axes[1].values.length) heat(inner, axes[0], axes[1]);
    if (axes.length > 2 && got.length) {
      var choose = el(inner, "p", null, "pick"), a = pick_axis(choose, "Heat map of ", 0), b = pick_axis(choose, " and ", 1), place = el(inner, "div");
      a.onchange = b.onchange = function () { place.textContent = ""; if (a.value !== b.value) heat(place, axes[+a.value], axes[+b.value]); };
      a.onchange();
    }
    if (axes.length && got.length) curves(inner);
    if (axes.length > 1 && got.length) parallel(inner);
    table(inner);

    function pick_axis(parent, text, at) {
      var l = el(parent, "label", text), select = el(l, "select");
      axes.forEach(function (x, i) { el(select, "option", x.name).value = i; });
      select.value = at;
      return select;
    }
    function mean_of(list) { return d3.mean(list, function (p) { return by[p.point].mean; }); }
    function shade_of() {
      var means = got.map(function (p) { return by[p.point].mean; });
      return d3.scale.linear().domain(d3.range(5).map(function (i) { return d3.min(means) + i / 4 * (d3.max(means) - d3.min(means) || 1); })).range(shade.range()).clamp(true);
    }

    function heat(parent, ax, ay) {
      var others = axes.length > 2, limited = ax.values.length > 40 || ay.values.length > 40;
      var f = figure(parent, name + " over " + ax.name + " and " + ay.name, "The mean over seeds" + (others ? " and over the other parameters" : "") + (limited ? "; values of a parameter in 20 classes of equal numbers" : "") +
        ". A frame: the best point; a dot: cannot be told from the best.", s, ["summary", "points"]);
      function classes(a) { return a.values.length > 40 ? d3.range(20).map(function (i) { return a.values.slice(Math.floor(i * a.values.length / 20), Math.floor((i + 1) * a.values.length / 20)); }) : a.values.map(function (v) { return [v]; }); }
      var cx = classes(ax), cy = classes(ay), w = Math.min(110, (width - room(200)) / cx.length), h = Math.min(40, Math.max(16, 500 / cy.length)), height = 66 + h * cy.length;
      var svg = canvas(f, height, "heat map of " + name + " over " + ax.name + " and " + ay.name), colour = shade_of(), ix = {}, iy = {}, cells = {};
      cx.forEach(function (c, i) { c.forEach(function (v) { ix[v] = i; }); });
      cy.forEach(function (c, i) { c.forEach(function (v) { iy[v] = i; }); });
      got.forEach(function (p) { var k = ix[ax.of(p)] + "," + iy[ay.of(p)]; (cells[k] = cells[k] || []).push(p); });
      cy.forEach(function (c, i) { svg.append("text").attr({ x: room(180) - 8, y: i * h + h / 2 + 4, "text-anchor": "end" }).text(cut(short(c[0]), 170)); });
      cx.forEach(function (c, i) { if (w > 50 || i % Math.ceil(60 / w) === 0) svg.append("text").attr({ x: room(180) + i * w + w / 2, y: h * cy.length + 16, "text-anchor": "middle" }).text(short(c[0]).slice(0, Math.max(6, w / 7))); });
      svg.append("text").attr({ x: room(180) + w * cx.length / 2, y: h * cy.length + 36, "text-anchor": "middle" }).style("font-weight", "bold").text(ax.name + " (across), " + ay.name + " (down)");
      Object.keys(cells).forEach(function (k) {
        var list = cells[k], at = k.split(","), mean = mean_of(list), x = room(180) + at[0] * w, y = at[1] * h, fill = colour(mean);
        var g = svg.append("g");
        g.append("rect").attr({ x: x, y: y, width: w - 1, height: h - 1 }).style("fill", fill).append("title").text(ax.name + "=" + ax.of(list[0]) + ", " + ay.name + "=" + ay.of(list[0]) + ": " + format(mean) +
          (list.length > 1 ? ", mean of " + list.length + " points" : ", point " + list[0].point + (verdicts[list[0].point] ? ", " + verdicts[list[0].point] : "")));
        if (w > 54 && h > 15) g.append("text").attr({ x: x + w / 2, y: y + h / 2 + 4, "text-anchor": "middle" }).style("fill", d3.lab(fill).l > 60 ? "#1a1a1a" : "#fff").attr("data-on", fill).text(format(mean));
        if (list.some(function (p) { return verdicts[p.point] === "best"; })) g.append("rect").attr({ x: x + 1.5, y: y + 1.5, width: w - 4, height: h - 4 }).style({ fill: "none", stroke: "#D55E00", "stroke-width": 3 });
        if (list.some(function (p) { return verdicts[p.point] === "alike"; })) g.append("circle").attr({ cx: x + 7, cy: y + 7, r: 3.5 }).style({ fill: "#ffb000", stroke: "#000", "stroke-width": .6 });
      });
      var d = colour.domain();
      el(f.body, "p", "From " + format(d[0]) + " (light) to " + format(d[4]) + " (dark).", "soft");
    }

    function curves(parent) {
      axes.forEach(function (a) {
        var others = axes.filter(function (b) { return b !== a; });
        var by_others = group(got, function (p) { return others.map(function (b) { return b.name + "=" + b.of(p); }).join(", "); });
        var scattered = d3.max(by_others, function (g) { return g.values.length; }) < 2 && got.length > 1, folded = !scattered && by_others.length > 8;
        var series = folded || scattered ? [{ key: "all points", values: got }] : by_others;
        var f = figure(parent, name + " by " + a.name, scattered ? "A dot is a point of the sweep, its bar the 95% interval of the mean over seeds; the other parameters differ from dot to dot." :
          folded ? "The mean over seeds and over all values of the other parameters; the bar is from the least to the greatest mean of a point." :
            "The mean over seeds; the bar is its 95% interval" + (others.length ? ". A line for each combination of the other parameters." : "."), s, ["summary", "points"]);
        chart(f, a, series.map(function (g) {
          var list = scattered ? g.values.map(function (p) { return [p]; }) : group(g.values, function (p) { return a.of(p); }).map(function (x) { return x.values; });
          return { name: g.key, line: !scattered, points: list.map(function (l) {
            var one = l.length === 1 ? by[l[0].point] : null;
            return { x: a.x(l[0]), y: mean_of(l), low: one ? (known(one.low) ? one.low : one.mean) : d3.min(l, function (p) { return by[p.point].mean; }),
              high: one ? (known(one.high) ? one.high : one.mean) : d3.max(l, function (p) { return by[p.point].mean; }), text: l.length === 1 ? "point " + l[0].point + " (" + where(l[0]) + ")" : l.length + " points with " + a.name + "=" + a.of(l[0]) };
          }).sort(function (x, y) { return x.x - y.x; }) };
        }));
      });
    }

    function chart(f, a, series) {
      var height = 300, svg = canvas(f, height, name + " by " + a.name), every = [].concat.apply([], series.map(function (x) { return x.points; }));
      var x0 = d3.min(every, function (p) { return p.x; }), x1 = d3.max(every, function (p) { return p.x; }), pad = a.log ? Math.pow(x1 / x0, .04) : (x1 - x0) * .05 || 1;
      var x = (a.log ? d3.scale.log() : d3.scale.linear()).domain(a.log ? [x0 / pad, x1 * pad] : [x0 - pad, x1 + pad]).range([80, width - 20]);
      var low = d3.min(every, function (p) { return p.low; }), high = d3.max(every, function (p) { return p.high; });
      var y = d3.scale.linear().domain([Math.min(0, low), high || 1]).nice().range([height - 40, 24]);
      var gx = d3.svg.axis().scale(x).orient("bottom"), texts = apart(a, x, 74);
      gx.tickValues(texts.map(function (v) { return a.at[v]; })).tickFormat(function (v, i) { return short(texts[i]).slice(0, 12); });
      svg.append("g").attr("class", "axis grid").attr("transform", "translate(80,0)").call(d3.svg.axis().scale(y).orient("left").ticks(5).tickSize(-(width - 100), 0, 0).tickFormat(""));
      svg.append("g").attr("class", "axis x").attr("transform", "translate(0," + (height - 40) + ")").call(gx);
      svg.append("g").attr("class", "axis y").attr("transform", "translate(80,0)").call(d3.svg.axis().scale(y).orient("left").ticks(5).tickFormat(format));
      svg.append("text").attr({ x: width - 20, y: height - 6, "text-anchor": "end" }).text(a.name + (a.log ? ", logarithmic" : ""));
      series.forEach(function (l, i) {
        var c = colours[i % 8], off = series.length > 1 ? (i - (series.length - 1) / 2) * 3 : 0;
        if (l.line && a.numeric) svg.append("path").attr("class", "line").attr("d", d3.svg.line().x(function (p) { return x(p.x) + off; }).y(function (p) { return y(p.y); })(l.points)).style({ stroke: c, "stroke-dasharray": dashes[i % 8] });
        l.points.forEach(function (p) {
          var g = svg.append("g");
          g.append("line").attr({ x1: x(p.x) + off, x2: x(p.x) + off, y1: y(p.low), y2: y(p.high) }).style({ stroke: c, "stroke-width": 1.5 });
          g.append("circle").attr({ cx: x(p.x) + off, cy: y(p.y), r: 3.5 }).style("fill", c);
          g.append("title").text(l.name + (l.name ? ", " : "") + p.text + ": " + format(p.y) + ", " + format(p.low) + " to " + format(p.high));
        });
      });
      if (series.length > 1) legend(f, series.map(function (l) { return l.name; }));
    }

    function parallel(parent) {
      var shown = got.length > 1500 ? got.filter(function (p, i) { return Math.floor(i * 1500 / got.length) !== Math.floor((i - 1) * 1500 / got.length); }) : got;
      var f = figure(parent, "All parameters and " + name, "A line is a point: its values from left to right, last the metric, which gives the colour too. Thick and orange: the best point; dashed: cannot be told from it. " +
        (shown.length < got.length ? "Of " + got.length + " points " + shown.length + ", evenly picked in their order." : ""), s, ["summary", "points"]);
      var height = 330, svg = canvas(f, height, "parallel coordinates of the points, with " + name), colour = shade_of(), n = axes.length;
      var at = d3.range(n + 1).map(function (i) { return 90 + (width - 220) * i / n; });
      var scales = axes.map(function (a) {
        var low = a.at[a.values[0]], high = a.at[a.values[a.values.length - 1]];
        return (a.log ? d3.scale.log() : d3.scale.linear()).domain([low, high]).range([height - 30, 40]);
      });
      var means = got.map(function (p) { return by[p.point].mean; }), last = d3.scale.linear().domain([d3.min(means), d3.max(means) > d3.min(means) ? d3.max(means) : d3.min(means) + 1]).range([height - 30, 40]);
      function rank(p) { return verdicts[p.point] === "best" ? 2 : verdicts[p.point] === "alike" ? 1 : 0; }
      shown.slice().sort(function (a, b) { return rank(a) - rank(b); }).forEach(function (p) {
        var line = axes.map(function (a, i) { return [at[i], scales[i](a.x(p))]; }).concat([[at[n], last(by[p.point].mean)]]), k = rank(p);
        svg.append("path").attr("class", "line").attr("d", d3.svg.line()(line)).style({ stroke: k === 2 ? "#D55E00" : d3.rgb(colour(by[p.point].mean)).darker(.7), "stroke-width": k === 2 ? 4 : 1.5, "stroke-dasharray": k === 1 ? "6,3" : "" })
          .append("title").text("point " + p.point + " (" + where(p) + "): " + format(by[p.point].mean));
      });
      axes.forEach(function (a, i) {
        var texts = apart(a, scales[i], 16);
        svg.append("g").attr("class", "axis").attr("transform", "translate(" + at[i] + ",0)").call(d3.svg.axis().scale(scales[i]).orient("left").tickValues(texts.map(function (v) { return a.at[v]; })).tickFormat(function (v, k) { return short(texts[k]).slice(0, 12); }));
        svg.append("text").attr({ x: at[i], y: i % 2 ? 14 : 28, "text-anchor": "middle" }).text(a.name.slice(-Math.max(12, 200 / n)));
      });
      svg.append("g").attr("class", "axis").attr("transform", "translate(" + at[n] + ",0)").call(d3.svg.axis().scale(last).orient("right").ticks(ticks).tickFormat(format));
      svg.append("text").attr({ x: at[n], y: 28, "text-anchor": "middle" }).style("font-weight", "bold").text(name.slice(-30));
    }

    function table(parent) {
      var f = figure(parent, "The points", "The best point is bold" + (got.length > 500 ? "; the 500 points with the best means" : "") + ". The interval is that of the mean over seeds, 95%, by Student's t.", s, ["points", "summary", "ranking", "sweep"]);
      var worst = ranking.some(function (r) { return key(r) === m.key && r.direction === "greatest"; }) ? -1 : 1;
      var list = got.length > 500 ? got.slice().sort(function (a, b) { return worst * (by[a.point].mean - by[b.point].mean); }).slice(0, 500) : points;
      plain_table(f.body, ["point"].concat(axes.map(function (a) { return a.name; }), ["mean", "\u00b1", "median", "seeds", "against the best"]), list.map(function (p) {
        var v = by[p.point], word = { best: "the best", alike: "cannot be told from it", worse: "worse", "left out": "left out: no value with some seed", "not judged": "" };
        return [p.point].concat(axes.map(function (a) { return a.of(p); }), v ? [format(v.mean), known(v.low) ? format(v.mean - v.low) : "-", format(v.median), v.seeds, word[verdicts[p.point]] || ""] : ["-", "-", "-", 0, ""]);
      }), function (r) { return r[r.length - 1] === "the best"; });
    }
  }
}

function plain_table(parent, names, list, bold) {
  var t = el(el(parent, "div", null, "wide"), "table"), tr = el(t, "tr");
  t.setAttribute("data-chart", "1");
  names.forEach(function (c) { el(tr, "th", c); });
  list.forEach(function (r) {
    tr = el(t, "tr", null, bold && bold(r) ? "set" : "");
    r.forEach(function (v) { el(tr, "td", v); });
  });
}
