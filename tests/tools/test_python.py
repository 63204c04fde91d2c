#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`import weft`: the same results as the program's, errors as exceptions, Ctrl-C, threads, memory, and the example."""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

ROOT = Path(os.environ["WEFT_ROOT"])
sys.path.insert(0, str(ROOT / "python"))
import weft  # noqa: E402

INCAST = ROOT / "scenarios" / "foundation" / "incast.yaml"
SMALL = {"topology": {"kind": "single", "hosts": 3},
         "workload": [{"kind": "incast", "sources": "host-1..2", "dst": "host-0", "size": "100KB", "group": "g"}]}
# As long as anybody lets it run.
LONG = {"topology": {"kind": "leaf_spine"}, "workload": [{"kind": "permutation", "size": "100GB"}]}


def program(*arguments):
    return subprocess.run([os.environ["WEFT"], *map(str, arguments)], capture_output=True, text=True, timeout=120)


class Results(unittest.TestCase):
    def test_same_as_the_program(self):
        told = json.loads(program("run", INCAST, "--variant", "pfc", "--json").stdout)
        result = weft.run(INCAST, "pfc", threads=2)
        self.assertEqual(result.digest, told["digest"].removeprefix("0x"))
        mine = result.json()
        for key in ("digest", "groups", "flows", "counters", "conservation"):
            self.assertEqual(mine.get(key), told.get(key), key)

    def test_tables_are_those_of_sqlite(self):
        import sqlite3
        result = weft.run(INCAST, "pfc")
        with tempfile.TemporaryDirectory() as folder:
            result.save(folder)
            base = sqlite3.connect(Path(folder) / "results.sqlite")
            kept = {name for (name,) in base.execute("select name from sqlite_master where type = 'table'")}
            compared = 0
            for name in weft.tables():
                flat = name.replace(".", "_")
                if flat not in kept:
                    continue
                rows = [r[1:] for r in base.execute(f'select * from "{flat}"')]
                mine = [tuple(",".join(map(str, v)) if isinstance(v, list) else v for v in row)
                        for row in result.rows(name)]
                self.assertEqual(len(rows), len(mine), name)
                other = [(a, b) for a, b in zip(sorted(rows, key=repr), sorted(mine, key=repr)) if a != b]
                self.assertEqual(other[:1], [], name)
                compared += len(rows)
            self.assertGreater(compared, 100)

    def test_rows(self):
        result = weft.run(SMALL)
        self.assertEqual([f["bytes"] for f in result["flows"]], [100000, 100000])
        self.assertEqual([fct for (fct,) in result.rows("flows", ["fct_ps"])], [f["fct_ps"] for f in result["flows"]])
        self.assertEqual(result["te"], [])  # the run has none
        self.assertIsNone(result.stall)
        with self.assertRaisesRegex(KeyError, "no table 'flow'"):
            result["flow"]
        with self.assertRaisesRegex(KeyError, "no column 'fct'"):
            list(result.rows("flows", ["fct"]))
        self.assertEqual(weft.columns("flows")["fct_ps"]["unit"], "ps")

    def test_frame(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas: the Debian package python3-pandas, or pip install pandas")
        frame = weft.run(SMALL).frame("flows")
        self.assertEqual(list(frame.columns), list(weft.columns("flows")))
        self.assertEqual(list(frame["bytes"]), [100000, 100000])

    def test_many_rows_at_once(self):
        many = {**SMALL, "workload": [{**SMALL["workload"][0], "size": "64B"}] * 4200}
        flows = weft.run(many)["flows"]
        self.assertEqual([f["flow"] for f in flows], list(range(8400)))

    def test_results_outlive_what_made_them(self):
        rows = weft.Scenario(SMALL).run().rows("flows")
        self.assertEqual(len(list(rows)), 2)


class Scenarios(unittest.TestCase):
    def test_dict_text_and_file_agree(self):
        text = INCAST.read_text()
        self.assertEqual(weft.Scenario(text=text).run("pfc").digest, weft.run(INCAST, "pfc").digest)
        self.assertEqual(weft.Scenario(text=json.dumps(SMALL)).run().digest, weft.run(SMALL).digest)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "small.yaml").write_text(json.dumps(SMALL))
            based = weft.Scenario({"base": "small.yaml", "name": "mine"}, folder=folder)
            self.assertEqual(len(based.run()["flows"]), 2)

    def test_set(self):
        scenario = weft.Scenario(SMALL).set("workload.0.size", "50KB").set("host.cc", {"kind": "dcqcn", "g": "1/16"})
        self.assertEqual(scenario.run()["flows"][0]["bytes"], 50000)
        in_force = {c["path"]: c["value"] for c in scenario.run()["config"]} if "path" in weft.columns("config") else {}
        for path, value in in_force.items():
            if path.endswith("cc.g"):
                self.assertEqual(value, "0.0625")

    def test_variants(self):
        self.assertEqual(weft.Scenario(SMALL).variants, [""])
        self.assertIn("pfc", weft.Scenario(INCAST).variants)
        with self.assertRaisesRegex(KeyError, "no variant 'nosuch'; expected one of 'pfc'"):
            weft.run(INCAST, "nosuch")
        with self.assertRaisesRegex(KeyError, "no variant 'nosuch'; expected none: the scenario has no variants"):
            weft.run(SMALL, "nosuch")

    def test_errors_have_a_place(self):
        with self.assertRaises(weft.InputError) as caught:
            weft.Scenario(text="topology: {kind: single}\nworkload:\n  - {kind: flow, src: host-0, dst: host-1, size: 5}\n").run()
        self.assertEqual((caught.exception.line, caught.exception.status), (3, 2))
        self.assertIn("unit", caught.exception.message)
        self.assertIn(":3:", str(caught.exception))
        with self.assertRaisesRegex(weft.InputError, "nosuch.yaml"):
            weft.Scenario("nosuch.yaml")
        for threads in (0, -1, 5000):
            with self.assertRaisesRegex(ValueError, "expected 1 to 1024"):
                weft.Scenario(SMALL).run(threads=threads)
        with self.assertRaises(ValueError):  # JSON has no such number
            weft.Scenario(SMALL).set("host.cc.g", float("nan"))
        found = weft.Scenario({**SMALL, "variants": {"good": {}, "bad": {"switch.buffer.size": "5"}}}).check()
        self.assertEqual(list(found), ["bad"])
        self.assertIsInstance(found["bad"], weft.InputError)

    def test_unfinished_runs_have_results(self):
        with self.assertRaises(weft.StallError) as caught:
            weft.run(ROOT / "scenarios" / "foundation" / "pfc_deadlock.yaml")
        self.assertEqual(caught.exception.status, 4)
        self.assertIn("waits for", caught.exception.result.stall)
        self.assertIn(None, [flow["fct_ps"] for flow in caught.exception.result["flows"]])


class Runs(unittest.TestCase):
    def test_progress_ends_a_run(self):
        told = []

        def progress(p):
            told.append(p)
            return len(told) < 3

        result = weft.run(LONG, progress=progress)
        self.assertEqual(len(told), 3)
        self.assertEqual(told[0]["flows"], len(result["flows"]))
        self.assertLess(told[0]["now_ps"], told[2]["now_ps"])

    def test_exceptions_in_progress_are_raised(self):
        with self.assertRaises(ZeroDivisionError):
            weft.run(LONG, progress=lambda p: 1 // 0)

    def test_interrupt(self):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            weft.run(LONG)
        timer.join()

    def test_threads_share_nothing(self):
        digests = {}

        def one(i):
            digests[i] = weft.run(INCAST, "pfc").digest

        threads = [threading.Thread(target=one, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(digests), 4)
        self.assertEqual(len(set(digests.values())), 1)

    def test_memory_is_given_back(self):
        def grow(runs):
            for _ in range(runs):
                weft.run(SMALL)["flows"]
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        before = grow(20)
        self.assertLess(grow(100) - before, 2048)  # KiB; one of the runs takes more


class Drives(unittest.TestCase):
    def test_ping_pong(self):
        simulation = weft.Scenario({"topology": SMALL["topology"]}).simulation()
        self.assertEqual(simulation.hosts, ["host-0", "host-1", "host-2"])
        drive, heard = weft.Drive(simulation), []

        def answer(drive, n):
            heard.append((n.event, n.host, n.tag))
            self.assertEqual(drive.now_ps, n.time_ps)
            if n.tag < 5:
                drive.send(n.host, 1 - n.host, 4096, on=answer, tag=n.tag + 1)

        drive.send(0, 1, 4096, on=answer, tag=1)
        self.assertEqual(drive.run(), "idle")
        self.assertEqual(heard, [("delivered", i % 2, i) for i in range(1, 6)])
        result = drive.finish()
        self.assertEqual([f["tag"] for f in result["flows"]], [1, 2, 3, 4, 5])

    def test_times_and_errors(self):
        drive, seen = weft.Drive(weft.Scenario({"topology": SMALL["topology"]}).simulation()), []
        drive.at(1, 5_000_000, lambda d, n: seen.append((n.event, n.time_ps, d.host, n.flow)))
        self.assertEqual(drive.run(2_000_000), "until")
        self.assertEqual(drive.run(), "idle")
        self.assertEqual(seen, [("time", 5_000_000, 1, None)])
        with self.assertRaises(weft.InputError):
            drive.send(0, 7, 100, start_ps=2 * drive.now_ps)
        with self.assertRaisesRegex(ValueError, "no event 'sent'"):
            drive.send(0, 1, 100, on=print, events=["sent"])
        drive.at(1, drive.now_ps + 10 * drive.lookahead_ps, lambda d, n: 1 // 0)
        with self.assertRaises(ZeroDivisionError):
            drive.run()


class Programs(unittest.TestCase):
    def run_python(self, *arguments, **more):
        env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                              env=env, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_example(self):
        said = self.run_python(ROOT / "examples" / "python" / "incast.py")
        rows = [line.split() for line in said.splitlines()[1:4]]
        self.assertEqual([r[0] for r in rows], ["pfc", "pfc+dcqcn", "pfc+sfc"])
        self.assertLess(float(rows[2][3]), float(rows[0][3]))  # as docs/python.md says

    def test_programs_of_the_page(self):
        page = (ROOT / "docs" / "python.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", page, re.S)
        self.assertGreater(len(blocks), 2)
        self.run_python("-c", "\n".join(blocks), cwd=ROOT)

    def test_no_library(self):
        done = subprocess.run([sys.executable, "-c", "import weft"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "WEFT_LIBRARY": "/nowhere.so"})
        self.assertIn("ImportError: libweft.so.0 was not found; install weft, or set WEFT_LIBRARY", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
