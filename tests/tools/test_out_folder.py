#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A folder of --out has one writer: of commands that begin together one goes on and the others exit with 2 and name
the folder; a killed one leaves no lock behind; tasks of one sweep share it."""
import json
import os
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
SCENARIO = """name: x
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}
workload: [{kind: all_to_all, size: 400KB}]
variants: {a: {}, b: {topology.rate: 100Gbps}}
"""
LONG = ["--set", "workload.0.size=4GB"]  # until it is killed


class OutFolder(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.dir = Path(self.place.name)
        (self.dir / "x.yaml").write_text(SCENARIO)

    def tearDown(self):
        self.place.cleanup()

    def start(self, *args):
        return subprocess.Popen([WEFT, *args], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def holding(self, *args):
        """A command that has its folder and still runs."""
        process = self.start(*args)
        for _ in range(2000):
            if (self.dir / "out").exists():
                return process
            time.sleep(0.005)
        self.fail("it has not made its folder")

    def assert_refused(self, *args):
        process = self.start(*args)
        self.assertEqual(process.wait(60), 2, args)
        error = process.stderr.read()
        self.assertIn("out", error)
        self.assertIn("another weft is writing into", error)
        self.assertEqual(process.stdout.read(), "")

    def test_of_two_runs_into_one_file_the_first_stays(self):
        """The other one tells its answer all the same."""
        size = "workload.0.size=20MB"
        runs = [self.start("run", "x.yaml", "--variant", "a", "--set", size, "--seed", str(s), "--out", "f.sqlite", "--pick", "seed")
                for s in (1, 2)]
        texts = [run.communicate(timeout=120) for run in runs]
        with sqlite3.connect(self.dir / "f.sqlite") as base:
            kept = base.execute("select seed from run").fetchone()[0]
        for seed, (run, (out, error)) in enumerate(zip(runs, texts), 1):
            self.assertEqual(run.returncode, 0 if seed == kept else 2, error)
            self.assertEqual(out.split(), [str(seed)])
            self.assertEqual("f.sqlite" in error, seed != kept)

    def test_of_two_runs_one_goes_on(self):
        for _ in range(12):
            runs = [self.start("run", "x.yaml", "--variant", "a", "--force", "--seed", str(s), "--out", "out", "--json")
                    for s in (1, 2, 3)]
            texts = [run.communicate(timeout=120) for run in runs]
            self.assertTrue(any(run.returncode == 0 for run in runs))
            self.assertLessEqual({run.returncode for run in runs}, {0, 2})
            with sqlite3.connect(self.dir / "out" / "results.sqlite") as base:
                (seed,) = base.execute("SELECT seed FROM run").fetchone()
            self.assertEqual(json.loads((self.dir / "out" / "result.json").read_text())["seed"], seed)
            self.assertEqual(runs[seed - 1].returncode, 0, texts)

    def test_every_command_refuses(self):
        first = self.holding("run", "x.yaml", "--variant", "a", "--out", "out", *LONG)
        time.sleep(0.2)
        self.assert_refused("run", "x.yaml", "--out", "out", "--force")
        self.assert_refused("compare", "x.yaml", "--out", "out", "--force")
        self.assert_refused("sweep", "x.yaml", "--vary", "run.seed=1..2", "--out", "out", "--force")
        first.send_signal(signal.SIGKILL)
        first.communicate()
        again = self.start("run", "x.yaml", "--out", "out", "--variant", "a", "--force")
        again.communicate(timeout=120)
        self.assertEqual(again.returncode, 0)
        self.assertNotIn(".lock", os.listdir(self.dir / "out"))

    def test_tasks_of_a_sweep_share_it(self):
        vary = ["sweep", "x.yaml", "--variant", "a", "--vary", "run.seed=1..4", "--out", "out"]
        tasks = [self.start(*vary, "--task", f"{i}/2") for i in (1, 2)]
        for task in tasks:
            text = task.communicate(timeout=120)
            self.assertEqual(task.returncode, 0, text)
        merge = self.start(*vary, "--merge")
        text = merge.communicate(timeout=120)
        self.assertEqual(merge.returncode, 0, text)


if __name__ == "__main__":
    unittest.main()
