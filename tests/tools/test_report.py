#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft report in a real browser: every chart is drawn, nothing is loaded, no error; names are text, not markup; it fits a
phone, can be used by keyboard and has enough contrast. What is wrong with the folders given is said.

Skipped without chromium-headless-shell, except for what needs no browser.
"""

import contextlib
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

WEFT = os.environ["WEFT"]
BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
HOSTILE = "</script><img src=x onerror=\"document.body.setAttribute('data-hacked','1')\">"
YAML_HOSTILE = HOSTILE.replace("'", "''")
SCENARIO = f"""
name: '{YAML_HOSTILE}'
topology: {{kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4, rate: 100Gbps}}
switch: {{buffer: {{kind: static, size: 465KB, xoff: 360KB, xon: 340KB}}}}
run: {{sample_interval: 1us}}
workload:
  - {{kind: incast, sources: host-4..6, dst: host-0, size: 1MB, group: '{YAML_HOSTILE}'}}
  - {{kind: flow, src: host-7, dst: host-1, size: 100KB, group: victim}}
  - {{kind: collective, collective: all_reduce_ring, size: 100KB, group: job, repeat: 2}}
variants: {{plain: {{}}, slow: {{topology.rate: 40Gbps}}, '{YAML_HOSTILE}': {{topology.rate: 50Gbps}}}}
"""
SWEEP = f"""
name: '{YAML_HOSTILE}'
topology: {{kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4, rate: 100Gbps}}
switch: {{buffer: {{kind: static, size: 465KB, xoff: 360KB, xon: 340KB}}}}
workload:
  - {{kind: incast, sources: host-4..6, dst: host-0, size: 300KB, group: '{YAML_HOSTILE}'}}
  - {{kind: poisson, load: 20%, hosts: host-0..7, duration: 100us, size: 20KB, group: noise}}
variants: {{plain: {{}}, '{YAML_HOSTILE}': {{host.mtu: 1024B}}}}
"""
# Runs in the page when it is ready, and leaves what it finds in an attribute.
PROBE = r"""<script>
(function () {
  function light(c) {
    var v = c.match(/[\d.]+/g).slice(0, 3).map(function (x) { x /= 255; return x <= .03928 ? x / 12.92 : Math.pow((x + .055) / 1.055, 2.4); });
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2];
  }
  var found = {charts: 0, empty: [], contrast: 21, focusable: 0};
  document.querySelectorAll("[data-chart]").forEach(function (c) {
    found.charts++;
    if (!c.querySelector("rect, path, circle, li, td")) found.empty.push(c.getAttribute("aria-label"));
    if (c.tabIndex === 0) found.focusable++;
  });
  document.querySelectorAll("p, li, th, td, h1, h2, h3, figcaption, summary, a, button, svg text").forEach(function (e) {
    var s = getComputedStyle(e), l = light(e instanceof SVGElement ? s.fill : s.color), on = e.getAttribute("data-on");
    var a = Math.max(l, 1), b = Math.min(l, 1);
    if (on) { on = light(d3.rgb(on) + "" && "rgb(" + [d3.rgb(on).r, d3.rgb(on).g, d3.rgb(on).b].join(",") + ")"); a = Math.max(l, on); b = Math.min(l, on); }
    found.contrast = Math.min(found.contrast, (a + .05) / (b + .05));
  });
  found.text = 99; // the smallest, in pixels of the screen
  document.querySelectorAll("svg[data-chart] text").forEach(function (t) {
    var svg = t.ownerSVGElement;
    if (svg.getBoundingClientRect().width) found.text = Math.min(found.text, parseFloat(getComputedStyle(t).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width);
  });
  found.broken = [].filter.call(document.querySelectorAll("th, td"), function (c) { // words of a table on two lines
    var word = document.createRange();
    word.selectNodeContents(c);
    return /^\w{1,14}$/.test(c.textContent) && word.getClientRects().length > 1;
  }).map(function (c) { return c.textContent; });
  found.sideways = [].filter.call(document.querySelectorAll(".wide > svg"), function (s) { return s.parentNode.scrollWidth > s.parentNode.clientWidth; })
    .map(function (s) { return s.getAttribute("aria-label"); });
  found.wider = document.documentElement.scrollWidth - window.innerWidth;
  found.loaded = performance.getEntriesByType("resource").length;
  found.hacked = document.body.hasAttribute("data-hacked");
  found.images = document.images.length;
  var zoomed = [].filter.call(document.querySelectorAll("svg[data-chart]"), function (s) { return s.__onkeydown; })[0];
  if (zoomed) {
    var before = zoomed.querySelector(".axis.x").textContent;
    zoomed.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
    found.zooms = before !== zoomed.querySelector(".axis.x").textContent;
  }
  var moving = document.querySelector(".motion"); // each control of the network in motion, and what a step costs
  if (moving) {
    var figure = moving.closest("figure"), slider = moving.querySelector("input"), frames = +slider.max + 1, said = figure.querySelector("[role=status]"), cost = [];
    found.bar = Math.max.apply(null, [].map.call(figure.querySelectorAll("svg rect"), function (r) { return r.getAttribute("width") === "5" ? +r.getAttribute("height") : 0; }));
    for (var k = 0; k < frames; k++) {
      var least = Infinity; // of three: other processes take their time, too
      for (var again = 0; again < 3; again++) {
        var start = performance.now();
        slider.value = k; slider.dispatchEvent(new Event("input"));
        least = Math.min(least, performance.now() - start);
      }
      cost.push(least);
    }
    cost.sort(function (a, b) { return a - b; });
    found.motion = {frames: frames, cost: cost[Math.floor(.95 * frames)], paused: figure.querySelectorAll(".wire.held").length};
    var buttons = moving.querySelectorAll("button");
    slider.value = 0; slider.dispatchEvent(new Event("input"));
    buttons[2].click(); found.motion.next = +said.getAttribute("data-frame");
    buttons[1].click(); found.motion.before = +said.getAttribute("data-frame");
    buttons[0].click(); found.motion.plays = buttons[0].textContent; buttons[0].click();
    var port = figure.querySelectorAll("select")[0], flow = figure.querySelectorAll("select")[1];
    port.selectedIndex = 1; port.onchange(); found.motion.port = figure.querySelectorAll("svg[data-chart]").length;
    flow.selectedIndex = 1; flow.onchange(); found.motion.flow = figure.querySelectorAll("p")[1].textContent;
    var beside = document.querySelectorAll("section > div > label.pick select")[1];
    if (beside) { // two runs at the same time of each
      beside.value = "1"; beside.onchange();
      var two = [].map.call(document.querySelectorAll(".beside > div"), function (d) { return d.querySelector("input"); });
      two[1].value = Math.round(two[1].max / 4); two[1].dispatchEvent(new Event("input"));
      found.beside = two.map(function (i) { return i.getAttribute("aria-valuetext"); });
      beside.value = "-1"; beside.onchange();
    }
    figure.querySelector(".wire").dispatchEvent(new MouseEvent("click", {bubbles: true})); found.motion.clicked = port.value;
  }
  found.sections = [].map.call(document.querySelectorAll("h2, h3"), function (h) { return h.textContent; });
  found.answers = [].map.call(document.querySelectorAll("ul.answers li"), function (h) { return h.textContent; });
  var select = [].slice.call(document.querySelectorAll("select")).pop();
  if (select) { select.value = "1"; select.onchange(); found.other = document.querySelectorAll("[data-chart]").length; }
  document.body.setAttribute("data-found", JSON.stringify(found));
})();
</script>"""


def weft(folder, *arguments):
    return subprocess.run([WEFT, *arguments], cwd=folder, capture_output=True, text=True, check=False)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="weft-report-")
        with open(os.path.join(cls.folder, "s.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENARIO)
        run = weft(cls.folder, "compare", "s.yaml", "--quiet", "--out", "r")
        assert run.returncode == 0, run.stderr
        run = weft(cls.folder, "report", "r", "--out", "page.html", "--quiet")
        assert run.returncode == 0 and not run.stderr, run.stderr
        with open(os.path.join(cls.folder, "sweep.yaml"), "w", encoding="utf-8") as file:
            file.write(SWEEP)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def page(self, name="page.html"):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def data(self, name="page.html"):
        return json.loads(re.search(r'id="data">(.*?)</script>', self.page(name), re.S)[1])

    def report(self, folder, *arguments):
        run = weft(self.folder, "report", folder, "--out", folder + ".html", "--force", "--quiet", *arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return folder + ".html"

    def sweep(self, folder, *arguments):
        run = weft(self.folder, "sweep", "sweep.yaml", "--out", folder, "--quiet", *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)
        return self.report(folder)

    def test_data_are_those_of_the_results(self):
        data = self.data()
        self.assertEqual([run["variant"] for run in data["runs"]], ["plain", "slow", HOSTILE])
        with open(os.path.join(self.folder, "r", "result.json"), encoding="utf-8") as file:
            results = json.load(file)["variants"]
        for run, result in zip(data["runs"], results):
            self.assertEqual(run["digest"], result["digest"])
            table = run["tables"]["groups"]
            for row in table["rows"]:
                row = dict(zip(table["columns"], row))
                self.assertAlmostEqual(row["p99_us"] * 1e6, result["groups"][row["name"]]["fct_ps"]["p99"], delta=1)
            job = dict(zip(run["tables"]["jobs"]["columns"], run["tables"]["jobs"]["rows"][0]))
            self.assertGreater(job["finished"], 1)
            exposed = self.query("r/results.sqlite", f"SELECT exposed_ps FROM jobs JOIN run ON run.id = run WHERE digest = '{run['digest']}'")
            self.assertAlmostEqual(job["exposed_us"] * 1e6, exposed[0][0], delta=1)
            self.assertGreater(exposed[0][0], 0)
            self.assertTrue(run["tables"]["pauses"]["rows"])
            fct = run["tables"]["fct"]["rows"]
            self.assertEqual(max(row[2] for row in fct), 1)
            changed = {row[0] for row in run["tables"]["config"]["rows"] if row[2] is not None and row[1] != row[2]}
            self.assertIn("switch.buffer.xoff", changed)
            self.assertNotIn("host.mtu", changed)

    def test_where_the_time_went(self):
        """The parts are those of weft why, and add up to the times of the results."""
        run = self.data()["runs"][0]
        flows, iterations = run["why"]["flows"], run["why"]["iterations"]
        stored = self.query("r/results.sqlite", "SELECT flow, fct_ps FROM flows WHERE run = 1 AND \"group\" <> 'job' ORDER BY fct_ps DESC, flow LIMIT 3")
        self.assertEqual([(flow["flow"], flow["fct_ps"]) for flow in flows], stored)
        for flow in flows:
            self.assertEqual(sum(part["time_ps"] for part in flow["parts"]), flow["fct_ps"])
        end = self.query("r/results.sqlite", "SELECT iteration, end_ps - start_ps FROM iterations WHERE run = 1 ORDER BY iteration DESC LIMIT 1")[0]
        self.assertEqual([(one["iteration"], one["iteration_ps"]) for one in iterations], [end])
        self.assertEqual(sum(iterations[0]["kinds"].values()), end[1])
        why = json.loads(weft(self.folder, "why", "r", str(flows[0]["flow"]), "--json", "--quiet").stdout)
        self.assertEqual({key: why[key] for key in flows[0]}, flows[0])
        waits = sum(row[4] for row in run["tables"]["rank_waits"]["rows"])
        exposed = self.query("r/results.sqlite", "SELECT ranks * sum(i.exposed_ps) / 1e6 FROM iterations AS i JOIN jobs USING (run, job) WHERE run = 1")
        self.assertAlmostEqual(waits, exposed[0][0], delta=1e-4)

    def test_motion_is_of_the_samples(self):
        """Levels are those of the stored samples: what a port sent in a step of what its link could, the fullest queue of all."""
        run = self.data()["runs"][0]
        motion = run["why"]["motion"]
        level = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".index
        samples = self.query("r/results.sqlite", "SELECT p.name, p.rate_bps, sum(tx_bytes), max(paused) FROM series AS s JOIN ports AS p USING (run, port) WHERE run = 1 GROUP BY port")
        stored = {name: (8e6 * sent / rate, paused) for name, rate, sent, paused in samples}
        self.assertGreater(len(motion["ports"]), 8)
        for port in motion["ports"]:
            self.assertEqual({len(port[what]) for what in ("used", "queue", "paused")}, {motion["frames"]})
            busy = sum(map(level, port["used"])) / 63 * motion["every_us"]
            self.assertAlmostEqual(busy, stored[port["port"]][0], delta=motion["frames"] * motion["every_us"] / 63 + 1e-3)
            self.assertEqual(any(map(level, port["paused"])), bool(stored[port["port"]][1]))
        self.assertEqual(max(level(c) for port in motion["ports"] for c in port["queue"]), 63)
        by_name = {port["port"]: port for port in motion["ports"]}
        for number, line in enumerate(motion["lines"]):  # of a small network, one link each
            self.assertEqual((line["links"], by_name[line["port"]]["line"]), (1, number))
            self.assertEqual([line[what] for what in ("used", "queue", "paused")], [by_name[line["port"]][what] for what in ("used", "queue", "paused")])
            self.assertEqual(motion["spots"][line["from"]]["name"], line["port"].split("/")[0])
        deepest = self.query("r/results.sqlite", "SELECT max(q) FROM (SELECT sum(queue_bytes) AS q FROM series WHERE run = 1 GROUP BY port, time_ps)")
        self.assertEqual(motion["queue_bytes"], deepest[0][0])

    def test_a_run_without_samples_moves(self):
        with open(os.path.join(self.folder, "still.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENARIO.replace("run: {sample_interval: 1us}\n", ""))
        self.assertEqual(weft(self.folder, "run", "still.yaml", "--variant", "plain", "--out", "still", "--quiet").returncode, 0)
        run = self.data(self.report("still"))["runs"][0]
        self.assertEqual(run["tables"]["series"]["rows"], [])
        self.assertGreater(run["why"]["motion"]["frames"], 90)

    def test_a_long_run_keeps_its_motion(self):
        """Too long for the page to run it again. What is kept does not depend on threads, and adds up to what the ports sent."""
        with open(os.path.join(self.folder, "long.yaml"), "w", encoding="utf-8") as file:
            file.write("topology: {kind: fat_tree, k: 4, rate: 200Gbps}\nworkload: [{kind: permutation, size: 80MB}]\nrun: {events: 0}\n")
        kept = []
        for threads in ("1", "3"):
            self.assertEqual(weft(self.folder, "run", "long.yaml", "--threads", threads, "--out", "long" + threads, "--quiet").returncode, 0)
            kept += self.query(f"long{threads}/results.sqlite", "SELECT json FROM motion")[0]
        self.assertEqual(kept[0], kept[1])
        motion = json.loads(kept[0])
        self.assertEqual(self.data(self.report("long1"))["runs"][0]["why"]["motion"], motion)
        self.assertIn(motion["frames"], range(32, 65))
        level = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".index
        counted = self.query("long1/results.sqlite", "SELECT p.name, 8e6 * sum(tx_bytes) / p.rate_bps FROM port_counters JOIN ports AS p USING (run, port) GROUP BY port")
        used = {port["port"]: sum(map(level, port["used"])) / 63 * motion["every_us"] for port in motion["ports"]}
        for name, busy_us in counted:  # what came after the last sample is missing
            self.assertAlmostEqual(used.get(name, 0), busy_us, delta=motion["frames"] * motion["every_us"] / 63 + 2 * motion["every_us"])

    @unittest.skipUnless(BROWSER, "no browser")
    def test_motion_in_a_browser(self):
        found = self.look(1200)["motion"]
        self.assertLess(found["cost"], 12)
        self.assertGreater(found["next"], 0)
        self.assertLess(found["before"], found["next"])
        self.assertEqual(found["plays"], "pause")
        self.assertEqual(found["port"], 2)
        self.assertRegex(found["flow"], r"^flow \d+ \(.*Longest parts: ")
        self.assertTrue(found["clicked"])

    @unittest.skipUnless(BROWSER, "no browser")
    def test_two_runs_beside_each_other(self):
        """The slider of one moves the other to the same time, to a step."""
        names = [run["why"]["motion"]["every_us"] for run in self.data()["runs"][:2]]
        shown = [float(text.split()[0]) * {"ns": 1e-3, "us": 1, "ms": 1e3}[text.split()[1]] for text in self.look(1200)["beside"]]
        self.assertGreater(shown[1], 0)
        self.assertLessEqual(abs(shown[0] - shown[1]), 1.01 * max(names))

    def test_large_layers_are_folded(self):
        """44 hosts in 32 circles; a line's use is the mean of its links', its queue the fullest."""
        with open(os.path.join(self.folder, "fold.yaml"), "w", encoding="utf-8") as file:
            file.write("topology: {kind: single, hosts: 44, rate: 100Gbps}\nrun: {detection: 1us}\n"
                       "events: [{at: 100us, link: host-43/0, state: down}]\n"
                       "workload: [{kind: permutation, size: 500KB, group: all, hosts: host-0..42}]\n")
        self.assertEqual(weft(self.folder, "run", "fold.yaml", "--out", "fold", "--quiet").returncode, 0)
        motion = self.data(self.report("fold"))["runs"][0]["why"]["motion"]
        level = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".index
        hosts = [spot for spot in motion["spots"] if spot["layer"] == "host"]
        self.assertEqual((len(hosts), sum(spot["nodes"] for spot in hosts)), (32, 43))
        folded = [n for n, line in enumerate(motion["lines"]) if line["links"] == 2]
        self.assertEqual(len(folded), 2 * 11)
        self.assertFalse(any(level(c) for line in motion["lines"] for c in line["down"]))  # the failed one is not in use
        for n in folded:
            ports = [port for port in motion["ports"] if port.get("line") == n]
            self.assertEqual(len(ports), 2)
            for k in range(motion["frames"]):
                used, queue = ([level(port[what][k]) for port in ports] for what in ("used", "queue"))
                if max(used) < 63:  # more than that is cut: packets that began in a short step
                    self.assertAlmostEqual(level(motion["lines"][n]["used"][k]), sum(used) / 2, delta=1)
                self.assertEqual(level(motion["lines"][n]["queue"][k]), max(queue))

    def test_fabric_links_have_samples(self):
        """Of a DSF, with queues at its lanes and without: samples of a link add up to what it sent, but for the last interval."""
        with open(os.path.join(self.folder, "cells.yaml"), "w", encoding="utf-8") as file:
            file.write("topology: {kind: dsf_l1_zone, rdsws: 2, fdsws: 2, hosts_per_rdsw: 2, rails: 1}\nrun: {sample_interval: 1us}\n"
                       "workload: [{kind: incast, sources: host-2..3, dst: host-0, size: 500KB}]\n"
                       "variants: {lanes: {}, queues: {fabric_node.llfc: on}}\n")
        self.assertEqual(weft(self.folder, "compare", "cells.yaml", "--out", "cells", "--quiet").returncode, 0)
        rows = self.query("cells/results.sqlite", "SELECT p.rate_bps, (SELECT sum(tx_bytes) FROM series AS s WHERE s.run = p.run AND s.port = p.port), sum(c.tx_bytes) "
                                                  "FROM ports AS p JOIN port_counters AS c USING (run, port) WHERE p.layer <> 'host' AND p.peer_layer <> 'host' GROUP BY p.run, p.port")
        self.assertGreater(sum(sent for _, _, sent in rows), 2 * 4 * 500e3)
        for rate, sampled, sent in rows:
            self.assertLessEqual(sampled or 0, sent)
            self.assertGreaterEqual(sampled or 0, sent - rate / 8e6 - 300)  # a cell is counted as it begins

    def test_credit_of_a_clique_moves(self):
        """An incast over one global link uses most of the link's credit; what moves is what the samples have, and Ethernet has none."""
        with open(os.path.join(self.folder, "credit.yaml"), "w", encoding="utf-8") as file:
            file.write("hardware: ideal\ntopology: {kind: dragonfly, pods: 2, tins: 2, global_delay: 500ns}\nrun: {sample_interval: 500ns}\n"
                       "workload: [{kind: incast, sources: '*', dst: host-0, size: 500KB}]\n")
        self.assertEqual(weft(self.folder, "run", "credit.yaml", "--out", "credit", "--quiet").returncode, 0)
        rows = dict(self.query("credit/results.sqlite", "SELECT p.name, coalesce(max(s.credit_used), 0) FROM series AS s JOIN ports AS p USING (run, port) GROUP BY 1"))
        self.assertTrue(all(0 <= used <= 1 for used in rows.values()))
        self.assertGreater(max(rows.values()), 0.3)
        self.assertEqual(max(used for name, used in rows.items() if name.startswith("host")), 0)
        motion = self.data(self.report("credit"))["runs"][0]["why"]["motion"]
        level = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".index
        for port in motion["ports"]:
            self.assertAlmostEqual(max(map(level, port["credit"])) / 63, rows[port["port"].split(":")[0]], delta=1 / 63, msg=port["port"])

    def test_a_failed_link_is_down(self):
        """From the first whole step after its failure to its return, in both directions, and no other."""
        with open(os.path.join(self.folder, "down.yaml"), "w", encoding="utf-8") as file:
            file.write("topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 100Gbps}\nrun: {detection: 1us, sample_interval: 10us, until: 400us}\n"
                       "events: [{at: 100us, link: leaf-0--spine-0, state: down, for: 50us, every: 100us, times: 2}]\n"
                       "workload: [{kind: flow, src: host-0, dst: host-2, size: 9MB}, {kind: flow, src: host-3, dst: host-1, size: 9MB}]\n")
        self.assertEqual(weft(self.folder, "run", "down.yaml", "--out", "down", "--quiet").returncode, 0)
        motion = self.data(self.report("down"))["runs"][0]["why"]["motion"]
        self.assertEqual((motion["frames"], motion["every_us"]), (40, 10))
        cut = "A" * 10 + "/" * 5 + "A" * 5 + "/" * 5 + "A" * 15
        down = {(motion["spots"][line["from"]]["name"], motion["spots"][line["to"]]["name"]): line["down"] for line in motion["lines"]}
        for ends, levels in down.items():
            self.assertEqual(levels, cut if set(ends) == {"leaf-0", "spine-0"} else "A" * 40, ends)

    @unittest.skipUnless(BROWSER, "no browser")
    def test_a_bar_is_of_all_ports(self):
        """Of 44 hosts in 32 circles, one has the switch's fullest queue, from a short incast."""
        with open(os.path.join(self.folder, "wide.yaml"), "w", encoding="utf-8") as file:
            file.write("topology: {kind: single, hosts: 44, rate: 100Gbps}\nworkload:\n"
                       "- {kind: incast, sources: host-0..9, dst: host-43, size: 20KB, group: burst}\n")
            for i in range(0, 42, 2):
                file.write(f"- {{kind: flow, src: host-{i}, dst: host-{i + 1}, size: 4MB, start: 50us, group: long}}\n")
        self.assertEqual(weft(self.folder, "run", "wide.yaml", "--out", "wide", "--quiet").returncode, 0)
        self.report("wide")
        self.assertGreater(self.look(1200, "wide.html")["bar"], 20)

    def test_where_the_time_of_operations_went(self):
        """Of a Clique without a packet too: its operations of remote memory access."""
        with open(os.path.join(self.folder, "rma.yaml"), "w", encoding="utf-8") as file:
            file.write("topology: {kind: dragonfly, pods: 2, tins: 2}\nworkload:\n"
                       "- {kind: rma, group: reads, transport: 1rma, rate: 200000, duration: 50us}\n"
                       "- {kind: rma, group: sends, transport: 1rma, verb: send, rate: 10000, duration: 50us}\n")
        self.assertEqual(weft(self.folder, "run", "rma.yaml", "--out", "rma", "--quiet").returncode, 0)
        operations = self.data(self.report("rma"))["runs"][0]["why"]["operations"]
        self.assertEqual([o["group"] for o in operations], ["reads"] * 3 + ["sends"] * 3)
        for group, latest in self.query("rma/results.sqlite", "SELECT name, latency_ps_max FROM rma"):
            of_group = [o for o in operations if o["group"] == group]
            self.assertEqual(of_group[0]["latency_ps"], latest)
            for o in of_group:
                self.assertEqual(sum(part["time_ps"] for part in o["parts"]), o["latency_ps"])
        if BROWSER:
            self.assertIn("Where the time of the slowest operations of remote memory access went", self.look(1200, "rma.html")["sections"])

    def test_operations_of_many_groups(self):
        """Of 40 groups, the 32 whose slowest operation took longest."""
        with open(os.path.join(self.folder, "many.yaml"), "w", encoding="utf-8") as file:
            file.write("topology: {kind: dragonfly, pods: 2, tins: 2}\nworkload:\n")
            for i in range(40):
                file.write(f"- {{kind: rma, group: g{i:02}, transport: 1rma, rate: 100000, duration: 20us, start: {i}us}}\n")
        self.assertEqual(weft(self.folder, "run", "many.yaml", "--out", "many", "--quiet").returncode, 0)
        why = self.data(self.report("many"))["runs"][0]["why"]
        longest = self.query("many/results.sqlite", "SELECT name FROM rma ORDER BY latency_ps_max DESC, name LIMIT 32")
        self.assertEqual(sorted({o["group"] for o in why["operations"]}), sorted(name for name, in longest))
        self.assertEqual((why["operation_groups"], why["operation_groups_most"]), (40, 32))

    def test_what_cannot_be_explained(self):
        """A run that does not repeat, or is long, has a report; if its parts are asked for it is an error."""
        shutil.copytree(os.path.join(self.folder, "r"), os.path.join(self.folder, "other"))
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "other", "results.sqlite"))) as base:
            base.execute("UPDATE run SET digest = '0123456789abcdef' WHERE variant = 'plain'")
            base.execute("UPDATE run SET packet_hops = 1000000000 WHERE variant = 'slow'")
            base.commit()
        runs = self.data(self.report("other"))["runs"]
        self.assertIn("Not explained: the run does not repeat", runs[0]["why"]["note"])
        self.assertIn("weft report --why 3", runs[1]["why"]["note"])
        self.assertEqual(runs[1]["why"]["motion"], self.data()["runs"][1]["why"]["motion"])  # of its samples, without a run
        self.assertEqual(len(runs[2]["why"]["flows"]), 3)
        run = weft(self.folder, "report", "other", "--out", "none.html", "--why", "1")
        self.assertEqual(run.returncode, 5)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "none.html")))
        self.assertNotIn("why", self.data(self.report("other", "--why", "0"))["runs"][0])
        self.assertEqual(weft(self.folder, "report", "other", "--why", "-1").returncode, 2)
        if BROWSER:
            self.report("other")
            self.assertIn("Where the time went", self.look(1200, "other.html")["sections"])

    def test_names_are_no_markup(self):
        self.assertTrue("<img" not in self.page())

    def test_size(self):
        data = re.search(r'id="data">(.*?)</script>', self.page(), re.S)[1]
        self.assertLess(len(self.page()) - len(data), 1_000_000)

    def test_files_that_are_no_results(self):
        """Cut off, of no table, without a run, of another version: refused in a line by whatever reads results."""
        with open(os.path.join(self.folder, "r", "results.sqlite"), "rb") as file:
            whole = file.read()
        for name, content in (("cut", whole[:5000]), ("empty", b""), ("noise", bytes(range(256)) * 20), ("none", whole), ("later", whole)):
            os.makedirs(os.path.join(self.folder, name))
            with open(os.path.join(self.folder, name, "results.sqlite"), "wb") as file:
                file.write(content)
        for name, sql in (("none", "DELETE FROM run"), ("later", "PRAGMA user_version = 99")):
            with contextlib.closing(sqlite3.connect(os.path.join(self.folder, name, "results.sqlite"))) as base:
                base.execute(sql)
                base.commit()
        says = {"cut": "malformed", "empty": "has no table run", "noise": "not a database", "none": "no run in it", "later": "version 99"}
        for name, said in says.items():
            for command in (["report", name, "--out", "none.html"], ["why", name, "0"], ["run", name], ["timeline", name]):
                with self.subTest(name=name, command=command):
                    run = weft(self.folder, *command)
                    self.assertEqual((run.returncode, run.stdout), (2, ""))
                    self.assertIn(said, run.stderr)
                    self.assertEqual(len(run.stderr.splitlines()), 1)
            self.assertEqual(weft(self.folder, "diff", name, "r").returncode, 2)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "none.html")))

    def test_runs_without_flows(self):
        """Of nothing, of flows that do not finish, and stalled: the page is drawn."""
        network = "topology: {kind: single, hosts: 4}\n"
        scenarios = {"zero": "run: {until: 1ms}\nworkload: []\n",
                     "unfinished": "run: {until: 5us}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: 10MB}, {kind: job, group: j, iterations: 3, "
                                   "operations: [{compute: 4us, collective: all_reduce_ring, size: 1MB}]}]\n",
                     "stalled": "run: {stall: 1ms}\nhost: {drain_rate: 1bps}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: 9MB}]\n"}
        for name, text in scenarios.items():
            with open(os.path.join(self.folder, name + ".yaml"), "w", encoding="utf-8") as file:
                file.write(network + text)
            self.assertIn(weft(self.folder, "run", name + ".yaml", "--out", name, "--quiet").returncode, (0, 4))
            page = self.report(name)
            if BROWSER:
                self.assertFalse(self.look(1200, page)["hacked"])

    def test_what_is_no_result(self):
        for folder, says in ((".", "cannot be read"), ("nowhere", "cannot be read")):
            run = weft(self.folder, "report", folder, "--out", "none.html", "--force")
            self.assertEqual(run.returncode, 2)
            self.assertIn(says, run.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "none.html")))
        self.assertEqual(weft(self.folder, "report").returncode, 2)
        self.assertEqual(weft(self.folder, "report", "r", "--out", "no/such/page.html").returncode, 2)
        refused = weft(self.folder, "report", "r", "--out", "s.yaml")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("'s.yaml' exists; expected a name that is free, or --force", refused.stderr)

    def test_no_data(self):
        weft(self.folder, "report", "r", "--no-data", "--out", "bare.html")
        with open(os.path.join(self.folder, "bare.html"), encoding="utf-8") as file:
            self.assertIn('"no_data":true', file.read().replace(" ", ""))

    def query(self, folder, sql):
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, folder))) as base:
            return base.execute(sql).fetchall()

    def test_seeds_are_compared(self):
        """Means, intervals and paired differences, by another implementation of the same."""
        run = weft(self.folder, "compare", "sweep.yaml", "--seeds", "1..4", "--quiet", "--out", "seeds")
        self.assertEqual(run.returncode, 0, run.stderr)
        data = self.data(self.report("seeds"))
        self.assertEqual([(c["name"], c["runs"]) for c in data["columns"]], [("plain", 4), (HOSTILE, 4)])
        self.assertEqual([(r["variant"], r["seed"]) for r in data["runs"]], [("plain", 1), (HOSTILE, 1)])
        row = [r for r in data["matrices"][0]["rows"] if r["subject"] == "noise" and r["figure"] == "completion time, mean"][0]
        values = [[v for v, in self.query("seeds/results.sqlite", "SELECT fct_ps_mean FROM groups JOIN run ON run.id = run "
                                          f"WHERE name = 'noise' AND variant {which} 'plain' ORDER BY seed")] for which in ("=", "<>")]
        student = 3.182446  # 97.5% point, 3 degrees of freedom
        for cell, value in zip(row["cells"], values):
            self.assertAlmostEqual(cell["mean"], statistics.mean(value), delta=1)
            self.assertAlmostEqual(cell["half"], student * statistics.stdev(value) / 2, delta=1e-3 * cell["half"])
        difference = [b - a for a, b in zip(*values)]
        half = student * statistics.stdev(difference) / 2
        self.assertAlmostEqual(row["cells"][1]["change"], statistics.mean(difference) / statistics.mean(values[0]), places=9)
        noise = abs(statistics.mean(difference)) <= half
        self.assertEqual(row["cells"][1]["verdict"], "within noise" if noise else "less" if statistics.mean(difference) < 0 else "more")
        if BROWSER:
            found = self.look(1200, "seeds.html")
            self.assertEqual(found["empty"], [])
            self.assertGreaterEqual(found["contrast"], 4.5)
            self.assertIn("Against plain: ", found["answers"][1])
            self.assertNotIn("Against", found["answers"][0])

    def test_a_sweep_of_one_parameter(self):
        name = self.sweep("one", "--vary", "switch.buffer.xoff=[345KB,350KB,360KB]", "--seeds", "1..3", "--variant", "plain")
        data = self.data(name)["sweeps"][0]
        summary = dict((row[0], row[4]) for row in data["tables"]["summary"]["rows"] if row[1:3] == ["noise", "fct_ps_mean"])
        for point, mean in summary.items():
            value = self.query("one/sweep.sqlite", f"SELECT avg(fct_ps_mean) FROM sweep WHERE point = {point} AND \"group\" = 'noise'")
            self.assertAlmostEqual(mean, value[0][0], delta=1)
        self.assertEqual(len(summary), 3)
        self.assertTrue("<img" not in self.page(name))
        if BROWSER:
            found = self.look(1200, name)
            self.assertEqual(found["empty"], [])
            self.assertTrue(any(text.endswith("by switch.buffer.xoff") for text in found["sections"]), found["sections"])
            self.assertFalse(any("over" in text for text in found["sections"]))

    def test_a_sweep_of_several_parameters(self):
        name = self.sweep("many", "--vary", "switch.buffer.xon=[100KB,200KB]", "--vary", "host.cc=[none,dcqcn]", "--seeds", "1..2",
                          "--best", "noise.fct.mean")
        ranking = self.query("many/sweep.sqlite", "SELECT point, verdict FROM ranking WHERE number = 0")
        best = [point for point, verdict in ranking if verdict == "best"]
        self.assertEqual(len(ranking), 8)
        self.assertEqual(best, [self.query("many/sweep.sqlite", "SELECT point, avg(fct_ps_mean) AS m FROM sweep WHERE \"group\" = 'noise' "
                                           "GROUP BY point ORDER BY m, point LIMIT 1")[0][0]])
        if not BROWSER:
            return
        for width in (1200, 500):
            found = self.look(width, name)
            self.assertEqual(found["empty"], [])
            self.assertLessEqual(found["wider"], 0)
            self.assertGreaterEqual(found["contrast"], 4.5)
            self.assertIn(f"point {best[0]} (", found["answers"][0])
            for part in ("over variant and", "by host.cc", "by variant", "All parameters", "The points"):
                self.assertTrue(any(part in text for text in found["sections"]), (part, found["sections"]))

    def test_a_run_that_failed(self):
        """Its reason is shown; a folder of an older weft is refused."""
        name = self.sweep("failed", "--vary", "host.mtu=[1024B,4096B]")
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "failed", "sweep.sqlite"))) as base:
            base.execute("UPDATE points_runs SET state = 'failed', message = ? WHERE point = 1", (HOSTILE,))
            base.commit()
        self.report("failed")
        self.assertEqual(self.data(name)["sweeps"][0]["tables"]["failed"]["rows"], [[1, 1, "failed", HOSTILE]])
        if BROWSER:
            self.assertIn("Runs without a result, or stalled", self.look(1200, name)["sections"])
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "failed", "sweep.sqlite"))) as base:
            base.execute("DROP TABLE ranking")
        run = weft(self.folder, "report", "failed", "--out", "older.html")
        self.assertEqual(run.returncode, 2)
        self.assertIn("older weft", run.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "older.html")))

    def test_a_sweep_without_raw_data(self):
        self.sweep("raw", "--vary", "host.mtu=[1024B,4096B]")
        self.assertIn("sweep", self.data("raw.html")["sweeps"][0]["tables"])
        self.report("raw", "--no-data")
        self.assertNotIn("sweep", self.data("raw.html")["sweeps"][0]["tables"])

    def test_a_versus_over_hosts(self):
        """Its page begins with the map of who leads, whose places are those of versus.json; everything else is there for each number of hosts."""
        run = weft(self.folder, "versus", "--battery", "quick", "--hosts", "8,32", "--fabrics", "star,roce-ecmp", "--seeds", "1..2", "--no-why", "--quiet",
                   "--out", "hosts")
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(os.path.join(self.folder, "hosts", "versus.json"), encoding="utf-8") as file:
            answer = json.load(file)
        page = os.path.join("hosts", "versus.html")
        self.page(page)
        data = self.data(page)
        leads = data["matrices"][0]
        self.assertEqual((leads["title"], leads["form"], leads["columns"]), ("Who leads", "map", ["8 hosts", "32 hosts"]))
        cells = [(hosts, cell) for row in leads["rows"] for hosts, cell in zip([8, 32], row["cells"])]
        places = sorted(answer["map"]["leads"], key=lambda p: [c["name"] for c in answer["cases"]].index(p["case"]))
        self.assertEqual(len(cells), 12)
        for (hosts, cell), place in zip(cells, places):
            self.assertEqual(hosts, place["hosts"])
            self.assertEqual(cell["verdict"], place["first"] + (", within noise" if place["within_noise"] else ""))
            self.assertAlmostEqual(cell["mean"], place["lead"], places=6)
        self.assertEqual([m["title"] for m in data["matrices"] if m["title"].startswith("Side by side")], ["Side by side at 8 hosts", "Side by side at 32 hosts"])

    def test_a_versus(self):
        """Its page has the figures of versus.json: the map, every case, where the time went, the bill, the sentences."""
        with open(os.path.join(self.folder, "mine.yaml"), "w", encoding="utf-8") as file:
            file.write("base: roce-spray\n")
        os.rename(os.path.join(self.folder, "mine.yaml"), os.path.join(self.folder, "<b>mine.yaml"))
        run = weft(self.folder, "versus", "--battery", "quick", "--hosts", "16", "--fabrics", "star,aquila,<b>mine.yaml", "--seeds", "1..2",
                   "--quiet", "--out", "v")
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(os.path.join(self.folder, "v", "versus.json"), encoding="utf-8") as file:
            answer = json.load(file)
        page = os.path.join("v", "versus.html")
        self.assertTrue("<b>" not in self.page(page))
        data = self.data(page)
        sizes, cases, why, bill, growth, domains = data["matrices"]
        self.assertEqual([m["form"] for m in data["matrices"]], ["map", "dots", "stack", "dots", "dots", "dots"])
        self.assertEqual(cases["columns"], [f["name"] for f in answer["fabrics"]])
        fabrics = {f["name"]: f for f in answer["fabrics"]}
        for case in answer["cases"]:
            row = [r for r in cases["rows"] if r["subject"] == case["name"]][0]
            for column, cell in zip(cases["columns"], row["cells"]):
                self.assertAlmostEqual(cell["mean"], fabrics[column]["cases"][case["name"]]["time_ps"]["mean"], delta=1)
                self.assertEqual(cell["verdict"] == "first", column == case["first"])
                self.assertEqual(cell["verdict"] == "within noise", column in case["within_noise"])
                parts = sum(r["cells"][cases["columns"].index(column)]["mean"] or 0 for r in why["rows"] if r["subject"].startswith(case["name"] + ": "))
                self.assertAlmostEqual(parts, sum(fabrics[column]["cases"][case["name"]]["why_ps"].values()), delta=1)
            cell = [r for r in sizes["rows"] if r["subject"] == case["family"] and case["name"].endswith(r["figure"])][0]["cells"][1]
            self.assertAlmostEqual(cell["mean"], fabrics["star"]["cases"][case["name"]]["of_ruler"]["mean"], places=9)
        watts = [r for r in bill["rows"] if r["figure"] == "watts"][0]["cells"]
        self.assertEqual([c["mean"] for c in watts][1:], [fabrics[n]["bill"]["watts"] for n in bill["columns"][1:]])
        more = [r for r in growth["rows"] if r["figure"] == "watts"][0]["cells"]
        star = fabrics["star"]
        self.assertAlmostEqual(more[1]["mean"], star["half_as_many_again"]["bill"]["watts"] - star["bill"]["watts"], places=6)
        leaf = [r for r in domains["rows"] if r["subject"] == "One leaf fails" and r["figure"].startswith("hosts")][0]["cells"]
        self.assertEqual([c["mean"] for c in leaf][1:], [f["failure_domains"][-1]["hosts_cut"] for f in answer["fabrics"]][1:])
        self.assertEqual(len(data["answers"]), len(answer["cases"]) + len(answer["borders"]) + 1)
        if not BROWSER:
            return
        for width in (1200, 500):
            found = self.look(width, page)
            self.assertEqual(found["empty"], [])
            self.assertEqual(found["loaded"], 0)
            self.assertLessEqual(found["wider"], 0)
            self.assertGreaterEqual(found["contrast"], 4.5)
            self.assertGreaterEqual(found["charts"], 2 + 6 + 6 + 8)
            for part in ("Message size against fabric", "Side by side", "Where the time went", "What is not equal", "What growing by half costs", "What goes with what fails"):
                self.assertIn(part, found["sections"])

    def look(self, width, name="page.html"):
        """What a browser makes of the page, with the probe at its end."""
        path = os.path.join(self.folder, "probe.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page(name).replace("</body>", PROBE + "</body>"))
        run = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                              "--disable-dev-shm-usage", f"--window-size={width},900", "--dump-dom", f"file://{path}"],
                             capture_output=True, text=True, check=False, timeout=120)
        self.assertNotIn("CONSOLE", run.stderr)
        self.assertTrue('data-ready="1"' in run.stdout, "the page is not ready")
        found = re.search(r'data-found="(.*?)"', run.stdout)
        found = json.loads(found[1].replace("&quot;", '"'))
        self.assertFalse(found["hacked"])
        self.assertEqual(found["images"], 0)
        return found

    @unittest.skipUnless(BROWSER, "no chromium-headless-shell")
    def test_moving_picture(self):
        """tools/moving: one SVG, whose lines are those of the page, and which stands still where motion is not wanted."""
        out = os.path.join(self.folder, "moving.svg")
        tool = os.path.join(os.environ["WEFT_ROOT"], "tools", "moving")
        subprocess.run([tool, WEFT, os.path.join(self.folder, "s.yaml"), out, "plain"], check=True, capture_output=True, timeout=120)
        root = xml.etree.ElementTree.parse(out).getroot()
        space = "{http://www.w3.org/2000/svg}"
        lines = self.data()["runs"][0]["why"]["motion"]["lines"]
        self.assertEqual(len(root.findall(f"{space}path[@fill='none']")), len(lines))
        style = root.find(space + "style").text
        self.assertIn("prefers-reduced-motion", style)
        self.assertGreater(style.count("@keyframes"), len(lines) / 2)

    @unittest.skipUnless(BROWSER, "no chromium-headless-shell")
    def test_in_a_browser(self):
        found = self.look(1200)
        self.assertGreaterEqual(found["charts"], 12)
        self.assertEqual(found["empty"], [])
        self.assertEqual(found["loaded"], 0)
        self.assertGreaterEqual(found["contrast"], 4.5)
        self.assertGreaterEqual(found["focusable"], 10)
        self.assertTrue(found["zooms"])
        self.assertGreaterEqual(found["other"], 12)
        for part in ("Where the time of the slowest flows went", "Where the time of iterations went", "Ranks of job job"):
            self.assertIn(part, found["sections"])

    @unittest.skipUnless(BROWSER, "no chromium-headless-shell")
    def test_on_a_phone(self):
        weft(self.folder, "sweep", "sweep.yaml", "--vary", "host.mtu=[1KB,4KB]", "--seeds", "1..2", "--out", "phone", "--quiet")
        for page in ("page.html", self.report("phone")):
            found = self.look(390, page)
            self.assertLessEqual(found["wider"], 0)
            self.assertGreaterEqual(found["text"], 9)
            self.assertEqual(found["broken"], [])
            self.assertEqual(found["sideways"], [])


if __name__ == "__main__":
    unittest.main(verbosity=0)
