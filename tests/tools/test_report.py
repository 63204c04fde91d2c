#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft report in a real browser: every chart is drawn, nothing is loaded, no error; names are text, not markup; it fits a
phone, can be used by keyboard and has enough contrast. What is wrong with the folders given is said.

Skipped without chromium-headless-shell, except for what needs no browser.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

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
variants: {{plain: {{}}, slow: {{topology.rate: 40Gbps}}}}
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
    if (!c.querySelector("rect, path, circle, li")) found.empty.push(c.getAttribute("aria-label"));
    if (c.tabIndex === 0) found.focusable++;
  });
  document.querySelectorAll("p, li, th, td, h1, h2, h3, figcaption, summary, a, button, svg text").forEach(function (e) {
    var s = getComputedStyle(e), l = light(e instanceof SVGElement ? s.fill : s.color);
    found.contrast = Math.min(found.contrast, 1.05 / (l + .05));
  });
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
  var select = document.querySelector("select");
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

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def page(self):
        with open(os.path.join(self.folder, "page.html"), encoding="utf-8") as file:
            return file.read()

    def data(self):
        return json.loads(re.search(r'id="data">(.*?)</script>', self.page(), re.S)[1])

    def test_data_are_those_of_the_results(self):
        data = self.data()
        self.assertEqual([run["variant"] for run in data["runs"]], ["plain", "slow"])
        with open(os.path.join(self.folder, "r", "result.json"), encoding="utf-8") as file:
            results = json.load(file)["variants"]
        for run, result in zip(data["runs"], results):
            self.assertEqual(run["digest"], result["digest"])
            table = run["tables"]["groups"]
            for row in table["rows"]:
                row = dict(zip(table["columns"], row))
                self.assertAlmostEqual(row["p99_us"] * 1e6, result["groups"][row["name"]]["fct_ps"]["p99"], delta=1)
            self.assertTrue(run["tables"]["pauses"]["rows"])
            fct = run["tables"]["fct"]["rows"]
            self.assertEqual(max(row[2] for row in fct), 1)
            changed = {row[0] for row in run["tables"]["config"]["rows"] if row[2] is not None and row[1] != row[2]}
            self.assertIn("switch.buffer.xoff", changed)
            self.assertNotIn("host.mtu", changed)

    def test_names_are_no_markup(self):
        self.assertTrue("<img" not in self.page())

    def test_size(self):
        data = re.search(r'id="data">(.*?)</script>', self.page(), re.S)[1]
        self.assertLess(len(self.page()) - len(data), 1_000_000)

    def test_what_is_no_result(self):
        for folder, says in ((".", "cannot be read"), ("nowhere", "cannot be read")):
            run = weft(self.folder, "report", folder, "--out", "none.html")
            self.assertEqual(run.returncode, 2)
            self.assertIn(says, run.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "none.html")))
        self.assertEqual(weft(self.folder, "report").returncode, 2)
        self.assertEqual(weft(self.folder, "report", "r", "--out", "no/such/page.html").returncode, 2)

    def test_no_data(self):
        weft(self.folder, "report", "r", "--no-data", "--out", "bare.html")
        with open(os.path.join(self.folder, "bare.html"), encoding="utf-8") as file:
            self.assertIn('"no_data":true', file.read().replace(" ", ""))

    def look(self, width):
        """What a browser makes of the page, with the probe at its end."""
        path = os.path.join(self.folder, "probe.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page().replace("</body>", PROBE + "</body>"))
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
    def test_in_a_browser(self):
        found = self.look(1200)
        self.assertGreaterEqual(found["charts"], 12)
        self.assertEqual(found["empty"], [])
        self.assertEqual(found["loaded"], 0)
        self.assertGreaterEqual(found["contrast"], 4.5)
        self.assertGreaterEqual(found["focusable"], 10)
        self.assertTrue(found["zooms"])
        self.assertGreaterEqual(found["other"], 12)

    @unittest.skipUnless(BROWSER, "no chromium-headless-shell")
    def test_on_a_phone(self):
        self.assertLessEqual(self.look(500)["wider"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=0)
