// SPDX-License-Identifier: Apache-2.0
// A live run while it goes on: the page asks for its data each second. The picture stands still while somebody uses it.
function live() {
  title("weft live", null, null);
  var main = document.getElementById("main"), s = answers_section([]), said = el(s, "p", "Waiting for the first data."), follow = el(s, "button", "follow the run");
  var s2 = el(main, "section"), box, film = null, last = null;
  said.setAttribute("role", "status");
  el(s2, "h2", "The network now");
  box = el(s2, "div");
  var s3 = el(main, "section"), tables = el(s3, "div");
  function table(heading, columns, list) {
    el(tables, "h2", heading);
    var t = el(el(tables, "div", null, "wide"), "table"), tr = el(t, "tr");
    columns.forEach(function (c) { el(tr, "th", c); });
    list.forEach(function (row) {
      tr = el(t, "tr");
      row.forEach(function (c) { el(tr, "td", c); });
    });
  }
  function numbers(d) {
    var l = d.live, us = function (ps) { return time(ps / 1e6); };
    said.textContent = d.name + ", slow " + three(l.slow) + ": " + l.frames + " frames in, " + l.delivered + " out; late by " + us(l.late_p50_ps) + " (median), " + us(l.late_p99_ps) +
      " (99%); base round trip " + us(l.round_trip_ps) + ": timing " + (l.holds ? "holds" : "does not hold") + ".";
    tables.textContent = "";
    table("Hosts", ["host", "frames", "delivered", "marked", "too long", "not taken", ""], l.hosts.map(function (h) {
      return [h.name, h.received, h.delivered, h.marked, h.too_long, h.refused, h.ended || ""];
    }));
    var drops = Object.keys(d.drops);
    if (drops.length) table("Drops", ["reason", "packets"], drops.map(function (k) { return [k, d.drops[k]]; }));
    if (l.notes.length) table("Notes", ["time", "note"], l.notes.map(function (n) { return [us(n.time_ps), n.text]; }));
  }
  function picture(d) {
    var chosen = film && film.port();
    box.textContent = "";
    film = motion(box, { column: d.name, tables: {}, why: d.why });
    if (!film) { el(box, "p", "No port does anything yet.", "soft"); return; }
    film.to(Infinity);
    if (chosen) film.choose(chosen);
  }
  function show(d) {
    last = d;
    numbers(d);
    if (!box.contains(document.activeElement)) picture(d);
    document.body.setAttribute("data-shown", d.live.frames);
  }
  function ask() {
    fetch("data").then(function (r) { return r.json(); }).then(function (d) { show(d); setTimeout(ask, 1000); }).catch(function () {
      said.textContent += " The run is over, or does not answer any more; this is what it had last.";
    });
  }
  follow.onclick = function () { if (last) picture(last); };
  ask();
}
