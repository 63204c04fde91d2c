#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft timeline --perfetto: a trace that viewers take, with the run's pauses, flows, queues and jobs, each once."""
import collections
import contextlib
import json
import os
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
ROOT = Path(os.environ["WEFT_ROOT"])
JOB = """
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}
workload: [{kind: collective, collective: all_reduce_ring, size: 100KB, repeat: 3, group: 'a "job"'}]
"""


def weft(*arguments, status=0, text=None):
    done = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, timeout=120, input=text)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr


class Perfetto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = Path(cls.folder.name)
        weft("run", ROOT / "scenarios" / "foundation" / "leaf_spine_victim.yaml", "--variant", "pfc", "--set",
             "run.sample_interval=1us", "--out", cls.at / "victim", "--quiet")
        cls.said = weft("timeline", cls.at / "victim", "--perfetto", cls.at / "victim.json")
        cls.trace = json.loads((cls.at / "victim.json").read_text())["traceEvents"]
        cls.base = sqlite3.connect(cls.at / "victim" / "results.sqlite")

    @classmethod
    def tearDownClass(cls):
        cls.base.close()
        cls.folder.cleanup()

    def of(self, **wanted):
        return [e for e in self.trace if all(e.get(k) == v for k, v in wanted.items())]

    def rows(self, sql):
        return self.base.execute(sql).fetchall()

    def test_fields_of_the_format(self):
        for e in self.trace:
            self.assertIn(e["ph"], "MXsfbeCi")
            self.assertIsInstance(e["ts"], float)
            self.assertIsInstance(e["pid"], int)
        named = {e["pid"] for e in self.of(ph="M", name="process_name")}
        self.assertEqual({e["pid"] for e in self.trace} - named, set())
        tracks = {(e["pid"], e["tid"]) for e in self.of(ph="M", name="thread_name")}
        self.assertEqual({(e["pid"], e["tid"]) for e in self.of(ph="X")}, tracks)

    def test_pauses(self):
        kept = self.rows("SELECT ports.node, from_ps, until_ps - from_ps FROM pauses JOIN ports USING (run, port)")
        node = {e["pid"]: e["args"]["name"] for e in self.of(ph="M", name="process_name")}
        told = [(node[e["pid"]], round(e["ts"] * 1e6), round(e["dur"] * 1e6)) for e in self.of(ph="X", cat="pause")]
        self.assertGreater(len(kept), 100)
        self.assertEqual(sorted(told), sorted(kept))
        self.assertIn(f"{len(kept)} pauses with {len(self.of(ph='s'))} arrows", self.said)

    def test_every_interval_is_closed(self):
        """An asynchronous one ends once, after it began; a track's slices and a counter's values are in the order of time."""
        begun = {(e["pid"], e["cat"], e["id"]): e["ts"] for e in self.of(ph="b")}
        ended = {(e["pid"], e["cat"], e["id"]): e["ts"] for e in self.of(ph="e")}
        self.assertEqual(len(begun), len(self.of(ph="b")))
        self.assertEqual(len(ended), len(self.of(ph="e")))
        self.assertEqual(set(begun), set(ended))
        self.assertTrue(all(ended[k] >= begun[k] for k in begun))
        self.assertTrue(all(e["dur"] >= 0 and e["ts"] >= 0 for e in self.of(ph="X")))
        last = collections.defaultdict(float)
        for e in self.of(ph="C"):
            self.assertGreaterEqual(e["ts"], last[e["pid"], e["name"]])
            last[e["pid"], e["name"]] = e["ts"]
            self.assertTrue(all(isinstance(v, (int, float)) and v >= 0 for v in e["args"].values()))
        for e in self.of(ph="X"):
            self.assertGreaterEqual(e["ts"], last[e["pid"], e["tid"]])
            last[e["pid"], e["tid"]] = e["ts"]

    def test_slices_of_a_track_do_not_overlap(self):
        tracks = collections.defaultdict(list)
        for e in self.of(ph="X"):
            tracks[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
        for slices in tracks.values():
            slices.sort()
            for before, after in zip(slices, slices[1:]):
                self.assertLessEqual(before[1], after[0] + 1e-6)

    def test_arrows_go_from_slice_to_slice(self):
        slices = collections.defaultdict(list)
        for e in self.of(ph="X"):
            slices[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
        starts = {e["id"]: e for e in self.of(ph="s")}
        ends = {e["id"]: e for e in self.of(ph="f")}
        self.assertEqual(set(starts), set(ends))
        self.assertGreater(len(starts), 100)
        for number, start in starts.items():
            self.assertLessEqual(start["ts"], ends[number]["ts"])  # causes come first
            self.assertNotEqual((start["pid"], start["tid"]), (ends[number]["pid"], ends[number]["tid"]))
            for e in (start, ends[number]):
                inside = [s for s in slices[e["pid"], e["tid"]] if s[0] - 1e-6 <= e["ts"] <= s[1] + 1e-6]
                self.assertEqual(len(inside) > 0, True, e)

    def test_flows_and_samples(self):
        kept = self.rows("SELECT flow, start_ps, end_ps FROM flows")
        begun = {e["id"]: e["ts"] for e in self.of(ph="b", cat="flow")}
        ended = {e["id"]: e["ts"] for e in self.of(ph="e", cat="flow")}
        self.assertEqual({(f, round(begun[f] * 1e6), round(ended[f] * 1e6)) for f in begun}, set(kept))
        ((deepest,),) = self.rows("SELECT max(queue_bytes) FROM series")
        queues = [e["args"]["bytes"] for e in self.of(ph="C") if e["name"].endswith(": queue")]
        self.assertEqual(max(queues), deepest)
        rate = {name: bps * 1e-9 for name, bps in self.rows("SELECT name, rate_bps FROM ports")}
        used = [e["args"]["Gbit/s"] / rate[e["name"].split(",")[0]] for e in self.of(ph="C")
                if e["name"].endswith(": sent")]
        self.assertLess(0.9, max(used))
        self.assertLess(max(used), 1.35)  # counted when a packet begins: one in three of a microsecond at 100G

    def test_jobs(self):
        weft("run", "-", "--out", self.at / "job", "--quiet", text=JOB)
        said = weft("timeline", self.at / "job", "--perfetto", self.at / "job.json")
        trace = json.loads((self.at / "job.json").read_text())["traceEvents"]
        names = [e["name"] for e in trace if e["ph"] == "b" and e.get("cat") == "iteration"]
        self.assertEqual(names, ["iteration 0", "iteration 1", "iteration 2"])
        self.assertIn('job a "job"', [e["args"]["name"] for e in trace if e["name"] == "process_name"])
        self.assertIn("run.sample_interval was 0", said)
        with contextlib.closing(sqlite3.connect(self.at / "job" / "results.sqlite")) as base:
            kept = base.execute("SELECT rank + 1, does, from_ps, until_ps - from_ps FROM rank_times ORDER BY 1, 3").fetchall()
        told = [(e["tid"], e["cat"], round(e["ts"] * 1e6), round(e["dur"] * 1e6)) for e in trace if e["ph"] == "X"]
        self.assertEqual(told, kept)
        self.assertGreater(len(told), 20)
        tracks = {e["args"]["name"] for e in trace if e["name"] == "thread_name"}
        self.assertEqual(tracks, {f"rank {r} (host-{r})" for r in range(8)})

    def test_what_is_refused(self):
        self.assertIn("expected no option but --variant", weft("timeline", self.at / "victim", "--perfetto", "x.json",
                                                               "--all", status=2))
        mine = self.at / "mine.yaml"
        mine.write_text("mine")
        self.assertIn("exists; expected a name that is free, or --force",
                      weft("timeline", self.at / "victim", "--perfetto", mine, status=2))
        self.assertEqual(mine.read_text(), "mine")
        self.assertIn("cannot be read", weft("timeline", self.at / "none", "--perfetto", self.at / "x.json", status=2))
        self.assertFalse((self.at / "x.json").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
