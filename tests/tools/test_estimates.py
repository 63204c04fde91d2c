#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that estimate where they would run: the same figures as weft estimate, the same answers as in packets, and what is not
known is said."""
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

JOB = """base: roce-ecmp
fabric: {hosts: 32, rate: 200Gbps}
workload:
- {kind: collective, group: a2a, collective: all_to_all, size: 256KiB}
"""
ITERATION = "jobs.a2a.iteration_ps"


class Estimates(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="weft-")
        self.addCleanup(self.folder.cleanup)
        (Path(self.folder.name) / "job.yaml").write_text(JOB)

    def weft(self, line, status=0):
        environment = {**os.environ, "XDG_CACHE_HOME": self.folder.name}
        ran = subprocess.run([os.environ["WEFT"], *line.split(), "--quiet"], cwd=self.folder.name, env=environment,
                             capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return ran

    def told(self, line):
        return json.loads(self.weft(line + " --json").stdout)

    def test_sweep_is_estimate(self):
        sweep = self.told(f"sweep job.yaml --estimate --vary fabric.oversubscription=[1,2] --seeds 1..2 --best {ITERATION}")
        for point in sweep["points"]:
            self.assertEqual({run["state"] for run in point["runs"]}, {"estimated"})
            over = point["parameters"]["fabric.oversubscription"]
            times = []
            for seed in 1, 2:
                e = self.told(f"estimate job.yaml --set fabric.oversubscription={over} --set run.seed={seed}")
                times.append(next(t for t in e["times"] if t["what"] == "iteration"))
            metric = point["groups"]["a2a"]["jobs_iteration_ps"]
            self.assertAlmostEqual(metric["mean"], sum(t["time_ps"] for t in times) / 2, delta=1)
            self.assertAlmostEqual(metric["estimate"]["low"] / (sum(t["low_ps"] for t in times) / 2), 1, places=5)
            self.assertAlmostEqual(metric["estimate"]["high"] / (sum(t["high_ps"] for t in times) / 2), 1, places=5)
            self.assertFalse(any(name.startswith("counters") for name in point["groups"]["a2a"]), "a fluid counts nothing")
            self.assertIsNone(point["groups"]["a2a"].get("fct_ps_mean", {}).get("estimate", {}).get("low"))
        self.assertIn("estimate, 90%", self.weft("sweep job.yaml --estimate --vary fabric.oversubscription=[1,2]").stdout)

    def test_too_much_for_the_memory(self):
        def asked(command, hosts, limit):
            (Path(self.folder.name) / "large.yaml").write_text(JOB.replace("hosts: 32", f"hosts: {hosts}"))
            ran = subprocess.run(["bash", "-c", f'ulimit -v {limit}; exec "$WEFT" {command} large.yaml --quiet'], cwd=self.folder.name,
                                 capture_output=True, text=True, timeout=60)
            self.assertEqual(ran.returncode, 2, ran.stderr)
            return ran.stderr
        for command in "estimate", "run":  # before any of it is made
            said = asked(command, 8192, 1500000)
            self.assertRegex(said, r"large.yaml:4:3: group 'a2a': 67100672 connections of all_to_all take \d\d.\d GB at least, and there are 1.54 GB; "
                                   r"expected groups of fewer than 1\d{3} ranks, whose connections")
        fits = re.search(r"groups of fewer than (\d+) ranks", said)[1]
        self.assertRegex(asked("estimate", fits, 1500000), r"large.yaml:4:3: workload: an estimate of \d+ queue pairs takes \d\.\d+ GB at least, and there are")

    def test_sweep_names_what_has_no_estimate(self):
        ran = self.weft("sweep job.yaml --estimate --vary host.cc=[none,timely]", status=1)
        self.assertIn("there is no estimate of timely", ran.stderr)
        self.assertIn("there is no estimate of timely", ran.stdout)

    def test_tune_finds_what_packets_find(self):
        search = "tune job.yaml --over fabric.oversubscription=[1,2,4,8,16] --objective iteration --seeds 1..2"
        packets, estimated = self.told(search), self.told(search + " --estimate")
        self.assertEqual(estimated["best"], packets["best"])
        self.assertTrue(estimated["rungs"][0]["estimated"])
        self.assertLess(estimated["rungs"][1]["points"], estimated["rungs"][0]["points"])
        self.assertFalse(estimated["points"][0]["estimated"], "the best has run")
        same = next(p for p in packets["points"] if p["point"] == packets["best"])
        self.assertEqual(estimated["points"][0]["mean"], same["mean"])
        left = [p for p in estimated["points"] if p["estimated"]]
        self.assertTrue(left and all(p["estimate"]["low"] > estimated["points"][0]["mean"] for p in left))

    def test_tune_without_values(self):
        said = self.weft(f"tune job.yaml --over workload.0.size=[64KiB,128KiB] --objective {ITERATION} --seeds 1 --estimate --quiet --set run.until=1us").stdout
        self.assertIn("best: no point has a value", said)

    def test_capacity_is_that_of_packets(self):
        search = f"plan capacity job.yaml --metric {ITERATION} --slowdown 20000000 --load workload.0.size=64KiB..4MiB:33log --seeds 1..2"
        packets, estimated = self.told(search), self.told(search + " --estimate")
        for key in ("carried", "not_carried"):
            self.assertEqual(estimated[key], packets[key])
        ran = [p["load"] for p in estimated["probes"] if not p["note"]]
        self.assertIn(packets["carried"], ran)
        self.assertLess(len(ran), len(packets["probes"]))

    def test_more_hosts_than_the_ruler_takes(self):
        told = self.weft("versus --estimate --battery quick --cases all-reduce-4KiB --hosts 16,66000 --fabrics roce-ecmp --no-why").stdout
        self.assertEqual([line.split()[1] for line in told.splitlines() if line.startswith("=== ")], ["16", "66000"])
        self.assertIn("roce-ecmp", told.split("=== 66000")[1])

    def test_cheapest(self):
        cheapest = self.told("plan cheapest job.yaml --hosts 64 --within 10%")
        rows = cheapest["candidates"]
        self.assertTrue(cheapest["confirmed"])
        best = next(row for row in rows if row["name"] == cheapest["best"])
        fastest = min(row["time_ps"] for row in rows if row["time_ps"])
        self.assertEqual(best["how"], "packets")
        self.assertLessEqual(best["time_ps"], 1.1 * fastest)
        for row in rows:
            if row["cost"] is not None and row["cost"] < best["cost"]:
                self.assertTrue(row["verdict"] == "too slow" or row["reason"], row)
        self.assertIn("there is no estimate", next(row for row in rows if row["name"] == "dsf-region")["reason"])
        alone = self.told("plan cheapest job.yaml --hosts 256 --rate 400Gbps --fabrics star,roce-spray --packets 0")
        self.assertIn("cannot be built", next(row for row in alone["candidates"] if row["name"] == "star")["reason"])
        self.assertFalse(alone["confirmed"])

    def test_cheapest_without_estimates(self):
        """What has no estimate runs in packets, also where nothing else has one; runs are counted with their seeds."""
        words = "plan cheapest job.yaml --hosts 16 --fabrics aquila --seeds 1..2 --packets 2"
        found = self.told(words)
        self.assertEqual((found["best"], found["confirmed"], found["candidates"][0]["how"]), ("aquila", True, "packets"))
        self.assertIn("; 2 runs in packets", self.weft(words + " --quiet").stdout)
        ended = self.told("plan cheapest job.yaml --hosts 16 --fabrics star --packets 1 --set run.until=1us")
        self.assertEqual(ended["candidates"][0]["reason"], "in packets not done when the run ended")

    def test_cheapest_refuses(self):
        for options, said in (("--within x", "--within"), ("--by x", "--by"), ("--vary foo=1", "--vary"), ("--vary radix", "--vary"),
                              ("--packets x", "--packets"), ("--by price", "price"), ("--fabrics no", "--fabrics"), ("--fabrics rail,rail", "comes twice")):
            self.assertIn(said, self.weft(f"plan cheapest job.yaml --hosts 16 {options}", status=2).stderr)

    def test_page(self):
        self.weft("report --estimate job.yaml --out page.html")
        page = (Path(self.folder.name) / "page.html").read_text()
        self.assertIn("iteration a2a", page)
        self.assertIn("90%:", page)
        self.weft("report --estimate job.yaml --set host.cc=timely --out other.html", status=2)
        self.assertFalse((Path(self.folder.name) / "other.html").exists())


if __name__ == "__main__":
    unittest.main()
