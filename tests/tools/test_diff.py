#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft diff: what it says differs is what was changed, and the figures are those of the results."""
import contextlib
import json
import os
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
INCAST = Path(os.environ["WEFT_ROOT"]) / "scenarios" / "foundation" / "incast.yaml"
SPRAYED = """
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}
workload: [{kind: permutation, size: 200KB}]
variants: {ecmp: {}, spray: {switch.route: spray, host.out_of_order: accept}, slow: {topology.delay: 1us}}
"""


def weft(*arguments, status=0):
    done = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if status in (0, 5) else done.stderr


class Diff(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = Path(cls.folder.name)
        (cls.at / "s.yaml").write_text(SPRAYED)
        weft("run", INCAST, "--variant", "pfc", "--out", cls.at / "one", "--quiet")
        weft("run", INCAST, "--variant", "pfc", "--set", "switch.buffer.xoff=300KB", "--set", "switch.buffer.xon=280KB",
             "--out", cls.at / "other", "--quiet")
        weft("compare", cls.at / "s.yaml", "--seeds", "1..4", "--out", cls.at / "many", "--quiet")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def of(self, *arguments, **more):
        return json.loads(weft("diff", *arguments, "--json", **more))

    def test_same(self):
        d = self.of(self.at / "one", self.at / "one", "--exit-status")
        self.assertTrue(d["equal"])
        self.assertGreater(d["pairs"][0]["compared"], 100)
        self.assertIn("variant pfc: equal, ", weft("diff", self.at / "one", self.at / "one"))

    def test_settings_and_figures(self):
        d = self.of(self.at / "one", self.at / "other", "--exit-status", status=5)
        (pair,) = d["pairs"]
        self.assertEqual([s["path"] for s in pair["config"]], ["switch.buffer.xoff", "switch.buffer.xon"])
        self.assertEqual(pair["config"][0]["b"], "300KB")
        kept = [json.loads((self.at / side / "result.json").read_text()) for side in ("one", "other")]
        found = {(f["table"], f["row"], f["column"]): f for f in pair["figures"]}
        xoff = found["counters", "", "pfc_xoff_frames"]
        self.assertEqual([xoff["a"], xoff["b"]], [k["counters"]["pfc_xoff_frames"] for k in kept])
        self.assertIsNone(xoff["difference"])  # one seed
        for group, stats in kept[0]["groups"].items():
            other = kept[1]["groups"][group]
            key = "groups", group, "fct_ps.mean"
            self.assertEqual(key in found, stats["fct_ps"]["mean"] != other["fct_ps"]["mean"], group)
        self.assertFalse([f for f in found if f[2] in ("wall_s", "cpu_s", "peak_rss_bytes")])

    def test_text_shows_what_changes_most(self):
        short = weft("diff", self.at / "one", self.at / "other")
        whole = weft("diff", self.at / "one", self.at / "other", "--all")
        self.assertIn("pfc_xoff_frames", short)
        self.assertIn("that change less: --all shows them", short)
        self.assertGreater(len(whole.splitlines()), len(short.splitlines()))

    def test_variants_and_seeds(self):
        d = self.of(self.at / "many", "--variant", "ecmp", "--with", "slow")
        (pair,) = d["pairs"]
        self.assertEqual((pair["seeds"], pair["equal_digests"]), ([1, 2, 3, 4], 0))
        self.assertEqual([(s["path"], s["a"], s["b"]) for s in pair["config"]], [("topology.delay", "150ns", "1us")])
        ran = json.loads((self.at / "many" / "result.json").read_text())["variants"]
        for figure in pair["figures"]:
            if (figure["table"], figure["column"]) == ("groups", "fct_ps.mean"):
                for side, variant in (("a", "ecmp"), ("b", "slow")):
                    means = [list(r["groups"].values())[0]["fct_ps"]["mean"] for r in ran if r["variant"] == variant]
                    self.assertEqual(len(means), 4)
                    self.assertAlmostEqual(figure[side] / (sum(means) / 4), 1, 9)
                self.assertEqual(figure["difference"], "real")  # each hop takes 850 ns longer with every seed
                break
        else:
            self.fail("no mean")
        # Where packets go decides who meets whom; seeds differ, but not in one direction.
        noisy = self.of(self.at / "many", "--variant", "ecmp", "--with", "spray")["pairs"][0]["figures"]
        self.assertTrue([f for f in noisy if f["difference"] in ("noise", "real")])
        self.assertTrue([f for f in noisy if f["difference"] == "noise"])

    def test_rows_of_one_side(self):
        d = self.of(self.at / "many", self.at / "one", "--variant", "ecmp", "--with", "pfc", "--table", "groups")
        missing = d["pairs"][0]["only"]
        self.assertEqual([m["table"] for m in missing], ["groups"])
        self.assertEqual(missing[0]["rows_b"], 4)  # incast, green, blue, orange
        d = self.of(self.at / "many", self.at / "many")
        self.assertTrue(d["equal"])
        self.assertEqual([p["variant_a"] for p in d["pairs"]], ["ecmp", "spray", "slow"])
        d = self.of(self.at / "many", self.at / "many", "--table", "flows", "--variant", "ecmp", "--with", "slow")
        self.assertEqual({f["table"] for f in d["pairs"][0]["figures"]}, {"flows"})

    def test_sweeps(self):
        for name, mark in (("w1", "8KB"), ("w2", "40KB")):
            weft("sweep", self.at / "s.yaml", "--vary", "workload.0.size=[100KB,200KB]", "--seeds", "1..2", "--set",
                 f"switch.aqm={{kind: wred, min: {mark}, max: 1MB}}", "--variant", "ecmp", "--set", "host.ecn=true",
                 "--set", "workload=[{kind: incast, sources: host-1..7, dst: host-0}]",
                 "--out", self.at / name, "--quiet", "--jobs", "1")
        same = self.of(self.at / "w1", self.at / "w1")
        self.assertTrue(same["equal"])
        self.assertGreater(same["pairs"][0]["compared"], 20)
        pair = self.of(self.at / "w1", self.at / "w2")["pairs"][0]
        self.assertEqual(pair["seeds"], [1, 2])
        self.assertEqual([(s["path"], s["a"], s["b"]) for s in pair["config"]], [("switch.aqm.min", "8KB", "40KB")])
        weft("sweep", self.at / "s.yaml", "--vary", "workload.0.size=[100KB,200KB]", "--out", self.at / "w3", "--quiet")
        weft("sweep", self.at / "s.yaml", "--vary", "topology.delay=[150ns,1us]", "--set", "host.mtu=1024B", "--out", self.at / "w4", "--quiet")
        config = {s["path"]: (s["a"], s["b"]) for s in self.of(self.at / "w3", self.at / "w4")["pairs"][0]["config"]}
        self.assertEqual(config["workload.0.size"], ("varied", "200KB"))
        self.assertEqual(config["topology.delay"], ("150ns", "varied"))
        self.assertEqual(config["ecmp: host.mtu"], ("4KiB", "1KiB"))
        for name, content in (("cut", (self.at / "w1" / "sweep.sqlite").read_bytes()[:4000]), ("bare", b"")):
            (self.at / name).mkdir()
            (self.at / name / "sweep.sqlite").write_bytes(content)
            for sides in ((name, "w1"), ("w1", name)):
                self.assertIn(f"{name}/sweep.sqlite: ", weft("diff", *(self.at / s for s in sides), status=2))
        with contextlib.closing(sqlite3.connect(self.at / "w2" / "sweep.sqlite")) as base:  # as an older weft has it
            base.execute("DROP TABLE config")
        self.assertEqual(self.of(self.at / "w1", self.at / "w2")["pairs"][0]["config"], [])
        pair = self.of(self.at / "w1", self.at / "w2")["pairs"][0]
        self.assertTrue([f for f in pair["figures"] if f["column"] == "counters_ecn_marked"])

    def test_what_is_refused(self):
        for arguments, said in (
                (["one"], "B is missing; expected a second folder"),
                (["one", "nowhere"], "nowhere/results.sqlite: is not there"),
                (["one", "one", "--variant", "pcf"], "no variant 'pcf'; did you mean \"pfc\"? expected pfc"),
                (["one", "many", "--table", "gruops"], "--table gruops: no such table"),
                (["one", "one", "--with", "pfc"], "--with: expected --variant as well")):
            with self.subTest(arguments):
                where = [a if a.startswith("--") or a in ("pcf", "pfc", "gruops") else self.at / a for a in arguments]
                self.assertIn(said, weft("diff", *where, status=2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
