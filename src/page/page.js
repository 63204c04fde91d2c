// SPDX-License-Identifier: Apache-2.0
// Draws a report from the tables in #data.
// --- the answers -------------------------------------------------------------------------------------------------

function worst(run) {
  var g = rows(run, "groups").filter(function (r) { return r.p99_us !== null; });
  return g.sort(function (a, b) { return b.p99_us - a.p99_us; })[0];
}
function answer(run) {
  var g = rows(run, "groups"), w = worst(run), text = "";
  var flows = sum(g, function (r) { return r.count; }), done = sum(g, function (r) { return r.finished; });
  if (run.end === "stall") text += "The network stalled: no more progress after " + time(run.sim_time_us) + ". ";
  else if (flows) text += (done === flows ? "All " + flows : done + " of " + flows) + " flows finished" + (run.end === "done" ? " in " + time(run.sim_time_us) : "") + ". ";
  var of_jobs = rows(run, "jobs").map(function (j) { return j.name; }), of_job = w && of_jobs.indexOf(w.name) >= 0;
  if (w && !of_job) text += "The slowest group is " + w.name + ": 99% within " + time(w.p99_us) +
    (w.slowdown_p99 === null ? ". " : ", " + three(w.slowdown_p99) + " times what its flows take alone. "); // operations of remote memory access have none
  var slowed = g.filter(function (r) { return (!w || r.name !== w.name) && r.slowdown_p99 >= 1.1 && of_jobs.indexOf(r.name) < 0; }) // victims are here, however short their flows
    .sort(function (a, b) { return b.slowdown_p99 - a.slowdown_p99; });
  if (slowed.length) text += "Slowed as well: " + slowed.slice(0, 4).map(function (r) { return r.name + ", " + three(r.slowdown_p99) + " times"; }).join("; ") +
    (slowed.length > 4 ? "; and " + (slowed.length - 4) + " more groups" : "") + ". ";
  rows(run, "jobs").forEach(function (j) {
    if (j.iteration_us !== null) text += "Job " + j.name + ": " + time(j.iteration_us) + " an iteration, of which " + time(j.exposed_us) + " wait for the network. ";
  });
  var column = all.columns.map(function (c) { return c.name; }).indexOf(run.column);
  if (column > 0 && all.matrices.length) text += verdict(all.matrices[0], column);
  text += run.paused_us > 0 ? "Ports were paused for " + time(run.paused_us) + " in all. " : "No port was paused. ";
  if (run.credit_us > 0) text += "Ports waited for their links' credit for " + time(run.credit_us) + " in all. ";
  text += run.dropped ? run.dropped + " packets were dropped." : "Nothing was dropped.";
  return text;
}

function title(text, about, line) {
  var h = document.getElementById("head");
  document.title = text + " - weft report";
  el(h, "h1", text);
  if (about) el(h, "p", about);
  if (line) el(h, "p", line, "soft");
}
/// The section at the top: pairs of what a sentence is of, and the sentence.
function answers_section(pairs) {
  var s = el(document.getElementById("main"), "section");
  s.id = "answers";
  el(s, "h2", "The answer");
  var list = el(s, "ul", null, "answers");
  pairs.forEach(function (p) {
    var li = el(list, "li");
    if (p[0]) el(li, "strong", p[0] + ": ");
    li.appendChild(document.createTextNode(p[1]));
  });
  return s;
}

function head() {
  var r = runs[0], several = all.columns.some(function (c) { return c.runs > 1; });
  var count = sum(all.columns, function (c) { return c.runs; });
  title(r.scenario, r.about, r.hosts + " hosts, " + r.switches + " switches, " + r.links + " links; weft " + r.weft + (r.commit ? ", commit " + r.commit : "") +
    "; " + count + (count > 1 ? " runs" : " run"));
  var s = answers_section(runs.map(function (run) {
    var n = all.columns.filter(function (c) { return c.name === run.column; })[0].runs;
    return [label(run), (n > 1 ? "With seed " + run.seed + " (one of " + n + "): " : "") + answer(run)];
  }));
  if (several) el(s, "p", "Comparisons are over all seeds; what is shown of one run is of its first seed.", "soft");
  if (all.columns.length > runs.length) el(s, "p", "Of " + all.columns.length + " variants, the first " + runs.length + " have their pictures here; all are compared.", "soft");
  var t = el(el(s, "div", null, "wide"), "table"), tr = el(t, "tr");
  ["run", "seed", "simulated", "ended", "digest"].forEach(function (c) { el(tr, "th", c); });
  runs.forEach(function (run) {
    tr = el(t, "tr");
    [label(run), run.seed, time(run.sim_time_us), run.end, run.digest].forEach(function (c) { el(tr, "td", c); });
  });
}

/// A section about one of `list`, chosen from their names.
function section_of_run(main, heading, list, draw) {
  var s = el(main, "section"), box;
  el(s, "h2", heading);
  if (list.length > 1) {
    var pick = el(s, "label", "Run: ", "pick"), select = el(pick, "select");
    list.forEach(function (r, i) { el(select, "option", label(r)).value = i; });
    select.onchange = function () { box.textContent = ""; draw(box, list[+select.value]); };
  }
  box = el(s, "div");
  draw(box, list[0]);
}

if (all.live) live();
else if (runs.length) head();
else if (known(all.title)) { title(all.title, all.about); answers_section(all.answers); }
var moving_runs = runs.filter(function (r) { return r.why && r.why.motion; });
if (moving_runs.length) motions(document.getElementById("main"), moving_runs);
(all.sweeps || []).forEach(function (s) { sweep(document.getElementById("main"), s, !runs.length); });
(all.matrices || []).forEach(function (m) { matrix(document.getElementById("main"), m); });
if (runs.length) section_of_run(document.getElementById("main"), runs.length > 1 ? "One run" : "The run", runs, show);
document.body.setAttribute("data-ready", "1");
