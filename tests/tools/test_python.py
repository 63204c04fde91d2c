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

    def test_estimate_is_the_program_s(self):
        told = json.loads(program("estimate", INCAST, "--variant", "pfc", "--json").stdout)
        mine = weft.estimate(INCAST, "pfc")
        for key in ("makespan_ps", "low_ps", "high_ps", "times", "links"):
            self.assertEqual(mine[key], told[key], key)
        self.assertTrue(mine["low_ps"] < mine["makespan_ps"] < mine["high_ps"])
        with self.assertRaisesRegex(weft.InputError, "there is no estimate of timely"):
            weft.estimate({**SMALL, "host": {"cc": "timely"}})
        with self.assertRaisesRegex(weft.Error, "nowhere.txt"):
            weft.estimate(SMALL, calibration="nowhere.txt")

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


class Answers(unittest.TestCase):
    def test_tables_of_commands(self):
        told = json.loads(program("verify", INCAST, "--json", "--quiet").stdout)
        answer = weft.answer("verify", INCAST, quiet=True)
        self.assertEqual(answer["verify"], [{"interrupted": 0, "runs": told["runs"], "uses": told["uses"]}])
        claims = told["scenarios"][0]["claims"]
        self.assertEqual([c["that"] for c in answer["scenarios_claims"]], [c["that"] for c in claims])
        values = [row["value"] for row in answer["scenarios_claims_median"] if row["claim"] == 0]
        self.assertEqual(values, claims[0]["median"])
        self.assertIn("as expected", answer.columns("scenarios")["hold"]["help"])
        self.assertIn("incast", answer.text)
        self.assertIn("scenarios", list(answer))

    def test_options(self):
        run = weft.answer("run", INCAST, variant="pfc", set=["topology.delay=1us", "run.seed=2"], no_hints=True, seed=None)
        mine = weft.Scenario(INCAST).set("topology.delay", "1us").set("run.seed", "2").run("pfc")
        self.assertEqual(run["run"][0]["digest"], mine.digest)
        self.assertEqual({g["name"]: g["fct_ps_mean"] for g in run["groups"]},
                         {g["name"]: g["fct_ps.mean"] for g in mine["groups"]})

    def test_commands_that_write_a_folder(self):
        compared = weft.answer("compare", INCAST, quiet=True)
        self.assertEqual([run["variant"] for run in compared["run"]], weft.Scenario(INCAST).variants)
        self.assertEqual(compared.columns("groups")["fct_ps_mean"]["unit"], "ps")
        swept = weft.answer("sweep", INCAST, vary=["topology.delay=[1us,2us]"], variant="pfc", quiet=True)
        self.assertEqual([point["topology.delay"] for point in swept["points"]], ["1us", "2us"])
        self.assertEqual(swept.columns("sweep")["fct_ps_mean"]["unit"], "ps")

    def test_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.yaml"
            path.write_text("topology: single\nworklod: []\n")
            with self.assertRaises(weft.InputError) as caught:
                weft.answer("run", path)
            self.assertEqual((caught.exception.line, caught.exception.column), (2, 1))
            self.assertTrue(caught.exception.message.startswith("worklod"), caught.exception.message)
            path.write_text("topology: {kind: single, hosts: 3, rate: 200Gbps, delay: 150ns}\n"
                            "workload: [{kind: flow, src: host-1, dst: host-0, size: 300KB}]\n"
                            "events: [{at: 1us, link: host-0/0, state: down}]\nhost: {timeout: 10us}\nrun: {stall: 100us}\n")
            with self.assertRaises(weft.StallError) as caught:
                weft.answer("run", path)
            self.assertEqual(caught.exception.result["run"][0]["end"], "stall")
        with self.assertRaises(weft.InputError):
            weft.answer("nothing")
        with self.assertRaises(weft.Error):
            weft.answer("run", INCAST, variant="none")
        with self.assertRaisesRegex(weft.InputError, "unrecognized option '--out'"):
            weft.answer("completion", "bash")

    def test_stall(self):
        """The message says who waits for whom, and not the hint that the program prints before it."""
        with self.assertRaisesRegex(weft.StallError, "PFC cycle of") as caught:
            weft.answer("run", ROOT / "scenarios/foundation/pfc_deadlock.yaml", quiet=True)
        self.assertIn(caught.exception.result["run"][0]["stall"], str(caught.exception))


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

    def test_interrupts_are_quiet(self):
        """Ctrl-C, wherever it arrives: one KeyboardInterrupt, one traceback, nothing before it."""
        drive = ("d = weft.Drive(weft.Scenario({'topology': {'kind': 'single', 'hosts': 3}}).simulation())\n"
                 "def again(d, n): d.at(1, n.time_ps + d.lookahead_ps, again)\n"
                 "d.at(1, 0, again)\nd.run()\n")
        for program in ("weft.run(LONG)", "weft.run(LONG, progress=lambda p: None)", drive):
            for wait in (0.05, 0.21, 0.4):
                text = (f"import os, signal, sys, threading\nsys.path.insert(0, {str(ROOT / 'python')!r})\nimport weft\n"
                        f"LONG = {LONG!r}\nthreading.Timer({wait}, os.kill, (os.getpid(), signal.SIGINT)).start()\n{program}\n")
                done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
                self.assertTrue(done.stderr.startswith("Traceback") and done.stderr.endswith("KeyboardInterrupt\n"), done.stderr)
                self.assertEqual(done.stderr.count("Traceback"), 1, done.stderr)
                self.assertNotIn("ignored", done.stderr)

    def test_handlers_of_the_caller(self):
        """A handler for SIGINT of the caller's own runs, its exception ends the run, and it is there again afterwards."""
        class Mine(Exception):
            pass

        def handler(*_):
            raise Mine

        before = signal.signal(signal.SIGINT, handler)
        try:
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(Mine):
                weft.run(LONG)
            timer.join()
            self.assertIs(signal.getsignal(signal.SIGINT), handler)
        finally:
            signal.signal(signal.SIGINT, before)

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


    def test_frames(self):
        """Host 1 sends each frame back at the instant at which it came; as often as they are put, whatever their bytes."""
        attached = {"topology": SMALL["topology"], "live": {"slow": 0, "hosts": {"host-0": {}, "host-1": {}}}}
        drive, heard = weft.Drive(weft.Scenario(attached).simulation()), []

        def back(drive, n):
            self.assertEqual(drive.put(1, n.frame[6:12] + n.frame[:6] + n.frame[12:], n.time_ps), "sent")

        drive.attach(0, lambda drive, n: heard.append((n.event, n.host, n.frame, n.time_ps - n.sent_ps)))
        drive.attach(1, back)
        frame = drive.mac(1) + drive.mac(0) + b"\x88\xb5" + b"\0\1\2\xff" * 20
        for k in range(3):
            self.assertEqual(drive.put(0, frame, k * 1_000_000), "sent")
        self.assertEqual(drive.waiting(0), 3)
        self.assertEqual(drive.run(10_000_000), "until")
        self.assertEqual(drive.waiting(0), 0)
        self.assertEqual([h[:3] for h in heard], [("frame", 0, drive.mac(0) + drive.mac(1) + frame[12:])] * 3)
        self.assertEqual(len({h[3] for h in heard}), 1)
        late = drive.now_ps + drive.lookahead_ps
        self.assertEqual(drive.put(0, b"\xff" * 6 + frame[6:], late), "flooded")
        self.assertEqual(drive.put(0, b"short", late), "short")
        for wrong in ("text", bytearray(60), None):
            with self.assertRaises(TypeError):
                drive.put(0, wrong, late)
        with self.assertRaisesRegex(weft.InputError, "not attached"):
            drive.attach(2, print)
        with self.assertRaisesRegex(weft.InputError, "is attached"):
            drive.send(0, 2, 100, start_ps=late)
        flows = drive.finish()["flows"]
        self.assertEqual([(f["verb"], f["bytes"], f["delivered_bytes"]) for f in flows], [("raw", 282, 282)] * 2)


class Arguments(unittest.TestCase):
    """Nothing is cut, rounded or ended at a NUL: what a parameter cannot be is refused, and nothing happens."""
    U32 = (2**32, 2**32 + 1, 2**64, -1, -2**32)
    U64 = (2**64, 2**64 + 5, 2**70, -1)
    NOT_WHOLE = (1.0, 1.5, float("nan"), float("inf"), True, False, None, "1", b"1", [], {})

    def drive(self):
        return weft.Drive(weft.Scenario({"topology": SMALL["topology"]}).simulation())

    def assert_refused(self, function, *arguments, **named):
        with self.assertRaises((ValueError, TypeError), msg=(arguments, named)) as caught:
            function(*arguments, **named)
        self.assertNotIn("ArgumentError", type(caught.exception).__name__)

    def test_integers(self):
        drive = self.drive()
        good = {"src": 0, "dst": 1, "size": 100, "tag": 0, "priority": 3, "start_ps": 0}
        for name, bad in {"src": self.U32, "dst": self.U32, "priority": self.U32 + (8,), "size": self.U64 + (0,), "tag": self.U64,
                          "start_ps": self.U64}.items():
            for value in bad + self.NOT_WHOLE:
                self.assert_refused(drive.send, **{**good, name: value})
        for value in self.U32 + self.NOT_WHOLE:
            self.assert_refused(drive.at, value, 0, print)
            self.assert_refused(drive.cancel, value)
        for value in self.U64 + self.NOT_WHOLE:
            self.assert_refused(drive.at, 1, value, print)
            self.assert_refused(drive.run, value)
        for value in (0, 1025, 2**32 + 1, -1) + self.NOT_WHOLE:
            if value is not None:
                self.assert_refused(weft.run, SMALL, threads=value)
        for value in (1, "f", [], {}):
            self.assert_refused(drive.send, 0, 1, 100, on=value if value else 1)
            self.assert_refused(drive.at, 1, 0, value)
            self.assert_refused(weft.run, SMALL, progress=value if value else 1)
        self.assert_refused(drive.send, 0, 1, 100, on=print, events="delivered")
        self.assertEqual(drive.run(), "idle")
        self.assertEqual(drive.finish()["flows"], [])  # none of these was sent

    def test_extremes_that_fit(self):
        drive, heard = self.drive(), []
        drive.send(0, 1, 5, tag=2**64 - 1, on=lambda d, n: heard.append((n.tag, n.bytes)))

        class Whole:  # as numpy's integers
            def __index__(self):
                return 7

        drive.send(0, 1, Whole(), on=lambda d, n: heard.append((n.tag, n.bytes)))
        self.assertEqual(drive.run(2**64 - 1), "idle")
        self.assertEqual(sorted(heard), [(0, 7), (2**64 - 1, 5)])

    def test_texts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.yaml"
            path.write_text(json.dumps(SMALL))
            result = weft.run(path)
            calls = [(weft.Scenario, f"{path}\0x"), (weft.Scenario, str(path).encode() + b"\0x"), (weft.Scenario, 5.5),
                     (result.save, f"{folder}/o\0x"), (result.save, None), (weft.columns, "flows\0x"), (weft.columns, None),
                     (weft.columns, b"flows"), (result.__getitem__, "flows\0x"), (result.rows("flows", "fct_ps").__next__,)]
            for function, *arguments in calls:
                self.assert_refused(function, *arguments)
            self.assertFalse((Path(folder) / "o").exists())
            scenario = weft.Scenario(path)
            for bad in ("host.cc\0x", "", "host.cc=none", None, 5, b"host.cc"):
                self.assert_refused(scenario.set, bad, "dcqcn")
            for bad in (float("nan"), object(), b"x", {1, 2}):
                self.assert_refused(scenario.set, "run.seed", bad)
            for bad in ("\0", b"pfc", 5):
                self.assert_refused(scenario.simulation, bad)
            self.assert_refused(weft.Scenario, text=b"topology: single")
            self.assert_refused(weft.Scenario, text=5)
            self.assert_refused(weft.Scenario, SMALL, folder="a\0b")
            self.assert_refused(weft.Scenario, SMALL, allow_write="folder")
            self.assert_refused(weft.Scenario, SMALL, allow_write=["a\0b"])
            self.assert_refused(weft.run, {**SMALL, "capture": {"ports": "host-0"}}, capture=f"{folder}/c\0x")
            self.assertEqual(sorted(p.name for p in Path(folder).iterdir()), ["s.yaml"])
            self.assert_refused(weft.Scenario, text="topology: single\0")
            with self.assertRaises(KeyError):
                scenario.simulation("x" * 10**6)
            with self.assertRaises(weft.Error):
                weft.Scenario("x" * 10**6)
            with self.assertRaises(weft.Error):
                scenario.set("x." * 10**6, 1).run()

    def test_the_types_of_all_functions(self):
        """Whoever calls the library another way is stopped too."""
        from weft import _library
        lib, pointer = _library.lib, weft.Scenario(SMALL)._handle.pointer
        for function, *arguments in ((lib.weft_scenario_variant_name, pointer, 2**32), (lib.weft_scenario_variant_name, pointer, -1),
                                     (lib.weft_scenario_variant_name, pointer, 0.5), (lib.weft_result_table_find, b"flows\0x"),
                                     (lib.weft_drive_at, None, 2**32, 0, _library.ON_NOTICE(), None, None)):
            with self.assertRaises(_library.ctypes.ArgumentError):
                function(*arguments)
        cut = {_library.c_uint32, _library.c_uint64, _library.c_size_t, _library.c_char_p}
        for name in ("weft_drive_send", "weft_drive_run", "weft_rows_read", "weft_scenario_file_read", "weft_simulation_host_find"):
            self.assertFalse(cut & set(getattr(lib, name).argtypes), name)

    def test_files_for_writing(self):
        """A run writes no file that its scenario names."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            job = {"topology": {"kind": "single", "hosts": 3},
                   "workload": [{"kind": "incast", "sources": "host-1..2", "dst": "host-0", "size": "30KB"}],
                   "capture": {"ports": "host-0", "file": f"{other}/c.pcapng"}}
            weft.run(weft.Scenario(job, folder=folder, allow_write=[other]))
            self.assertEqual(os.listdir(other) + os.listdir(folder), [])


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

    def test_program_as_a_host(self):
        """A frame meets 120 us of an incast of 3 MB at 200 Gbps only where its priority comes last."""
        strict, dwrr = ([float(us) for us in line.split()[1:7]]
                        for line in self.run_python(ROOT / "examples" / "python" / "host.py").splitlines())
        self.assertGreater(max(strict), min(strict) + 120)
        self.assertLess(max(dwrr), min(dwrr) + 1)

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
