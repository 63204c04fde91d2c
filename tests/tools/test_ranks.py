#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One scenario over several processes (weft-mpi, docs/scale.md): the digest and the results are those of one process.
Without mpirun or weft-mpi: skipped (exit 77). With "long": every scenario that is short, with 2 ranks and in turn 1, 3 and 4.
"""
import contextlib
import filecmp
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from launcher import ENVIRONMENT

ROOT = Path(os.environ["WEFT_ROOT"])
WEFT = os.environ["WEFT"]
WEFT_MPI = str(Path(WEFT).with_name("weft-mpi"))
SCENARIOS = ROOT / "scenarios"
# Its launcher, PRRTE, kills all ranks as soon as one ends with a fault, whatever that one and the others still had to say.
OPEN_MPI_4 = shutil.which("mpirun") and "Open MPI) 4" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
# A scenario of each kind of box, transport and program, few windows each.
SAMPLE = [
    ("foundation/link_failure.yaml", None, 2),  # losses, timeouts, routes in time
    ("foundation/dcbx.yaml", None, 2),  # LLDP between ranks
    ("foundation/pfc_deadlock.yaml", None, 2),  # exit 4, who waits for whom
    ("foundation/sfc.yaml", None, 3),  # source flow control
    ("aquila/small.yaml", None, 2),  # cells, leaves
    ("dsf/rails.yaml", None, 3),  # credits, cells
    ("dsf/load_aware_tuning.yaml", "all-reduce/dsf", 2),  # numbers of packets beyond the entropy field of a cell
    ("meta-roce/entropy.yaml", None, 2),
    ("hardware/equal_shares.yaml", "tail", 2),  # clocks and jitter
    ("transports/planes.yaml", "two-flow", 2),  # NICs with ports in several networks
    ("transports/planes.yaml", "dead-entropy", 3),
]
JOBS = """
topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4, rate: 100Gbps}
switch: {pfc: {priorities: [3]}}
host: {pfc: {priorities: [3]}}
"""
# Clear-to-send, messages within servers, parts of messages on several queue pairs.
COLLECTIVE = JOBS + """
workload:
  - {kind: collective, collective: {kind: all_reduce_ring, channels: 2, slots: 3}, hosts: host-0..15, size: 200KB,
     repeat: 2, server: {gpus: 2}, qps: 2, qp_scaling: SCALING}
"""
SOFTWARE = JOBS + """
workload:
  - {kind: rma, clients: host-0..7, servers: host-8..15, transport: software, verb: read, size: 4KB, rate: 200000,
     duration: 200us, warm_up: 10us}
"""
# 1.3 M records: more than a worker keeps in memory, so that ranks send each other what they have put into files.
CAPTURE = """
topology: {kind: leaf_spine, leaves: 4, hosts_per_leaf: 8, spines: 2, rate: 200Gbps}
workload: [{kind: permutation, size: 10MB}]
capture: {ports: "*", content: headers, limit: 1GB}
run: {events: 0}
"""
# A controller that hears from the switches of all ranks, and tells each its entries, again and again.
CONTROLLED = """
topology: {kind: leaf_spine, leaves: 6, spines: 3, hosts_per_leaf: 4, rate: 100Gbps}
switch: {route: {kind: te, DEMANDS, interval: 20us, collector_delay: 30us, programming_delay: 7us}}
workload: [{kind: permutation, size: 4MB}, {kind: incast, sources: host-8..19, dst: host-3, size: 200KB, start: 100us}]
events: [{at: 150us, link: "leaf-0--spine-1", state: down}]
"""
# Losses and retransmissions: packets between ranks, with and without something beside them.
GRID = """
topology: {kind: leaf_spine, leaves: 12, spines: 3, hosts_per_leaf: 2, rate: 100Gbps, bit_error_rate: 1e-9}
host: {timeout: 50us}
workload: [{kind: permutation, size: 300KB}, {kind: incast, sources: host-8..19, dst: host-3, size: 20KB}]
"""
LONG = """
topology: {kind: leaf_spine, leaves: 4, hosts_per_leaf: 8, spines: 2, rate: 200Gbps}
workload: [{kind: permutation, size: 10GB}]
"""
# A second or so, with whatever may be under way when a run is saved.
SAVED = """
topology: {kind: fat_tree, k: 8, rate: 200Gbps, delay: 150ns, bit_error_rate: 1e-10}
host: {cc: dcqcn, timeout: 300us}
switch: {aqm: {kind: wred, min: 100KB, max: 400KB}}
events: [{at: 200us, link: edge-0--aggregation-0, state: down}]
workload: [{kind: permutation, size: 12MB}]
run: {detection: 20us, sample_interval: 10us, sample_ports: core-0/*}
"""
SAVED_JOB = """
topology: {kind: leaf_spine, leaves: 8, spines: 4, hosts_per_leaf: 4, rate: 200Gbps}
workload:
  - {kind: collective, group: c, collective: all_reduce_ring, size: 16MB, admission: cts, repeat: 2, server: {gpus: 2}}
"""
GOAL = """num_ranks 4
rank 0 {
  a: send 100000b to 1 tag 7
  b: send 5000b to 3
  c: recv 70000b from 2
  d: calc 1000
  d requires c
}
rank 1 {
  a: recv 100000b from 0 tag 7
  b: send 100b to 2
  b requires a
}
rank 2 {
  a: recv 100b from 1
  b: send 70000b to 0
  b requires a
}
rank 3 {
  a: recv 5000b from 0
}
"""


def run(program, arguments, cwd=None, timeout=280):
    return subprocess.run([*program, *arguments], capture_output=True, text=True, env=ENVIRONMENT, cwd=cwd,
                          timeout=timeout, stdin=subprocess.DEVNULL)


def ranks(n, program=WEFT_MPI):
    return ["mpirun", "-n", str(n), program]


def digest(done):
    return json.loads(done.stdout)["digest"]


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weft-ranks-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def same(self, scenario, variant, numbers, threads=1):
        """The digest and exit status over so many ranks are those of one process."""
        arguments = ["run", str(scenario), "--json", "--quiet"] + (["--variant", variant] if variant else [])
        one = run([WEFT], arguments)
        for n in numbers:
            many = run(ranks(n), arguments + ["--threads", str(threads)])
            self.assertEqual(many.returncode, one.returncode, f"{scenario} {n}: {many.stderr}")
            self.assertEqual(digest(many), digest(one), f"{scenario}, {n} ranks")

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_sample(self):
        for scenario, variant, n in SAMPLE:
            with self.subTest(scenario):
                self.same(SCENARIOS / scenario, variant, [n])

    def test_threads_in_ranks(self):
        self.same(SCENARIOS / "dsf/rails.yaml", None, [2], threads=2)

    def test_more_ranks_than_parts(self):
        self.same(SCENARIOS / "peers/smallest.yaml", None, [4])

    def test_collective(self):
        for scaling in ("split", "round_robin"):
            self.same(self.write("collective.yaml", COLLECTIVE.replace("SCALING", scaling)), None, [2, 3])
        jitters = "host: {launch: 6us, launch_skew: 0.2, clock_ppm: 50, send_latency: 700ns, jitter: 0.03, stall: 1us, "
        self.same(self.write("jitter.yaml", COLLECTIVE.replace("SCALING", "split").replace("host: {", jitters)), None, [2, 3])

    def test_collective_in_a_clique(self):
        """Clear-to-sends of hosts and of TiNs have numbers of different things in the same field. Not every flow is of the job."""
        scenario = """topology: {kind: dragonfly, pods: 3, tins: 3, hosts_per_tin: 2, gateways: 2, spines: 2, tors: 2, hosts_per_tor: 2}
host: {mtu: 664B}
workload:
  - {kind: collective, collective: {kind: scatter, channels: 1}, size: 16KB, repeat: 2, server: {nics: 1, cabling: rail}}
  - {kind: incast, sources: "*", dst: host-3, size: 70001B, start: 777ns}
  - {kind: incast, sources: "*", dst: host-1, size: 1B, start: 777ns}
run: {seed: 70102, until: 400us}
"""
        self.same(self.write("clique.yaml", scenario), None, [2, 3])

    def test_fast_forward(self):
        """Ranks skip nothing; only the first of them says so, in an outcome that all have."""
        for mode in ("exact", "steady"):
            scenario = COLLECTIVE.replace("SCALING", "split") + f"run: {{fast_forward: {mode}, events: 0}}\n"
            path = self.write("forward.yaml", scenario)
            done = run(ranks(2), ["run", str(path), "--json", "--quiet"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["fast_forward"]["refused"], "a run over several processes")

    def test_remote_memory_access(self):
        self.same(self.write("rma.yaml", SOFTWARE), None, [2])

    def test_schedule(self):
        self.write("job.goal", GOAL)
        scenario = JOBS + "workload:\n  - {kind: goal, file: job.goal, hosts: host-0..3, priority: 3, server: {gpus: 2}}\n"
        self.same(self.write("schedule.yaml", scenario), None, [2, 4])

    def tables(self, scenario, *more):
        """Whatever is in results.sqlite but what it took to get there. The database of 3 ranks."""
        setting = ["--set", "run.sample_interval=5us", "--set", 'run.sample_ports="*"', "--set", "run.round_trips=true", *more]
        run([WEFT], ["run", scenario, "--quiet", "--force", "--out", "one", *setting], cwd=self.folder)
        done = run(ranks(3), ["run", scenario, "--quiet", "--force", "--out", "three", *setting], cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        one, three = (sqlite3.connect(self.folder / name / "results.sqlite") for name in ("one", "three"))
        tables = [name for (name,) in one.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        self.assertIn("events", tables)
        for table in tables:
            if table in ("run", "memory", "phases", "ranks"):
                continue
            rows = [sorted(map(repr, db.execute(f'SELECT * FROM "{table}"'))) for db in (one, three)]
            self.assertEqual(*rows, table)
        self.assertEqual(one.execute("SELECT count(*) FROM ranks").fetchone(), (0,))
        one.close()
        return three

    def test_tables(self):
        three = self.tables(str(SCENARIOS / "foundation/sfc.yaml"))
        events = [three.execute(f"SELECT sum(events) FROM {table}").fetchone() for table in ("run", "ranks")]
        self.assertEqual(*events)
        self.assertEqual(three.execute("SELECT count(*) FROM ranks WHERE nodes > 0 AND messages > 0").fetchone(), (3,))

    def test_tables_of_planes(self):
        self.tables(str(SCENARIOS / "transports/planes.yaml"), "--variant", "four-packet")

    def test_tables_of_traffic_engineering(self):
        three = self.tables(str(self.write("controlled.yaml", CONTROLLED.replace("DEMANDS", "demands: measured"))))
        self.assertGreater(three.execute("SELECT count(*) FROM te_round").fetchone()[0], 5)

    def test_traffic_engineering(self):
        for demands in ("demands: measured", "demands: known, fallback: load_aware"):
            path = self.write("controlled.yaml", CONTROLLED.replace("DEMANDS", demands))
            one, many = (json.loads(run(program, ["run", str(path), "--json", "--quiet"]).stdout)
                         for program in ([WEFT], ranks(3)))
            self.assertGreater(one["te"]["by_entry"], 1000)
            self.assertGreater(one["te"]["rounds"], 5)
            self.assertEqual(one["te"], many["te"])
            self.same(path, None, [2], threads=2)

    def test_many_ranks(self):
        """12 stand in a grid of 3 by 4 and send 5 messages a window each; 11 send 10."""
        scenario = self.write("grid.yaml", GRID)
        messages = []
        for n in (11, 12):
            done = run(ranks(n), ["run", str(scenario), "--json", "--quiet", "--out", str(n)], cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(digest(done), digest(run([WEFT], ["run", str(scenario), "--json", "--quiet"])))
            with contextlib.closing(sqlite3.connect(self.folder / str(n) / "results.sqlite")) as database:
                messages.append(database.execute("SELECT max(messages) FROM ranks").fetchone()[0])
        self.assertLess(messages[1], 0.6 * messages[0])

    def captures(self, scenario, arguments, n):
        """The capture over n ranks is that of one process, byte by byte."""
        for name, program in (("one", [WEFT]), ("many", ranks(n))):
            done = run(program, ["run", str(scenario), "--quiet", "--out", name, *arguments], cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        files = [sorted(p.name for p in (self.folder / name).iterdir()) for name in ("one", "many")]
        self.assertEqual(*files)
        one, many = (self.folder / name / "capture.pcapng" for name in ("one", "many"))
        self.assertTrue(filecmp.cmp(one, many, shallow=False), f"{scenario}, {n} ranks")
        return one.stat().st_size

    def test_capture(self):
        self.assertGreater(self.captures(SCENARIOS / "aquila/small.yaml", ["--capture", "*"], 2), 6e6)  # cells

    def test_capture_in_files(self):
        self.assertGreater(self.captures(self.write("capture.yaml", CAPTURE), [], 3), 1e8)

    def test_capture_limit(self):
        self.captures(self.write("capture.yaml", CAPTURE), ["--set", "capture.limit=1MB"], 2)

    @unittest.skipUnless(OPEN_MPI_4, "Open MPI 5 ends its ranks in another way")
    def test_plain_program_hands_over(self):
        scenario = str(SCENARIOS / "peers/smallest.yaml")
        done = run(ranks(2, WEFT), ["run", scenario, "--json", "--quiet"])
        self.assertEqual(digest(done), digest(run([WEFT], ["run", scenario, "--json", "--quiet"])))
        alone = self.folder / "weft"
        shutil.copy(WEFT, alone)
        done = run(ranks(2, str(alone)), ["run", scenario, "--json", "--quiet"])
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("make mpi"), 1, done.stderr)

    def test_refused(self):
        scenario = str(SCENARIOS / "peers/smallest.yaml")
        for arguments, why in [(["verify", scenario], "only weft run"), (["run", "-"], "standard input"),
                               (["run", "nothing.yaml"], "nothing.yaml")]:
            with self.subTest(why):
                done = run(ranks(2), arguments, cwd=self.folder)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr.count("weft: "), 1, done.stderr)
                self.assertIn(why, done.stderr)
                self.assertEqual(done.stdout, "")

    @unittest.skipUnless(OPEN_MPI_4, "Open MPI 5 ends its ranks in another way")
    def test_disk_is_full(self):
        """Files may not grow beyond 10 KiB: one message, exit status 1, no half result."""
        limited = self.write("limited", f'#!/bin/sh\nulimit -f 20\nexec "{WEFT_MPI}" "$@"\n')
        limited.chmod(0o755)
        launcher = ["mpirun", "--mca", "btl", "self,tcp", "-n", "2", str(limited)]
        done = run(launcher, ["run", str(SCENARIOS / "peers/smallest.yaml"), "--quiet", "--out", "out"], cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("weft: "), 1, done.stderr)
        self.assertEqual(list((self.folder / "out").iterdir()), [])

    def begin(self, n, out, scenario=None, more=()):
        """A run that lasts, and the processes of its ranks."""
        scenario = scenario or str(self.write("long.yaml", LONG))
        launcher = subprocess.Popen([*ranks(n), "run", scenario, "--quiet", "--out", out, *more],
                                    env=ENVIRONMENT, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True)
        self.addCleanup(launcher.kill)
        for _ in range(600):
            children = subprocess.run(["pgrep", "-P", str(launcher.pid), "weft-mpi"], capture_output=True, text=True)
            if len(children.stdout.split()) == n:
                break
            time.sleep(0.05)
        else:
            self.fail(f"{n} ranks did not start: {launcher.communicate(timeout=60)}")
        return launcher, [int(pid) for pid in children.stdout.split()]

    def kill(self, launcher, pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            self.fail(f"a rank ended before it was killed: {launcher.communicate(timeout=60)}")

    def ended(self, launcher, pids):
        out, err = launcher.communicate(timeout=120)
        self.assertNotEqual(launcher.returncode, 0)
        for pid in pids:  # gone, or about to be
            for _ in range(200):
                state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
                if state[:1] in ("", "Z"):
                    break
                time.sleep(0.05)
            self.assertIn(state[:1], ("", "Z"))
        return err

    def test_rank_is_killed(self):
        launcher, pids = self.begin(3, "out")
        time.sleep(1)
        self.kill(launcher, pids[1], signal.SIGKILL)
        err = self.ended(launcher, pids)
        self.assertEqual(launcher.returncode, 128 + signal.SIGKILL, err)
        self.assertFalse((self.folder / "out/results.sqlite").exists())

    def test_rank_is_interrupted(self):
        """As in one process: what was measured so far is written, and the exit status says that it is not all."""
        launcher, pids = self.begin(2, "out")
        time.sleep(1)
        self.kill(launcher, pids[1], signal.SIGINT)
        err = self.ended(launcher, pids)
        self.assertEqual(launcher.returncode, 130, err)
        self.assertIn("interrupted at", err)

    @unittest.skipUnless(OPEN_MPI_4, "Open MPI 5 ends its ranks in another way")
    def test_launcher_is_interrupted(self):
        """mpirun passes SIGUSR1 on. After SIGINT it kills its ranks within a second: whatever files there are are complete."""
        for number in (signal.SIGUSR1, signal.SIGINT):
            out = self.folder / number.name
            launcher, pids = self.begin(2, out.name, more=["--capture", "leaf-0/*"])
            for _ in range(600):
                if out.exists() and any(out.glob("capture.pcapng.*.tmp")):
                    break
                time.sleep(0.05)
            time.sleep(1)
            os.kill(launcher.pid, number)
            err = self.ended(launcher, pids)
            self.assertEqual(launcher.returncode, 130 if number == signal.SIGUSR1 else 1, err)
            said = [line for line in err.split("\n") if line.startswith("weft: ") and "capture.limit" not in line and "hint:" not in line]
            self.assertLessEqual(len(said), 1, err)
            self.assertEqual(list(out.glob("*.tmp")), [], err)
            if number == signal.SIGUSR1:
                self.assertIn("interrupted at", err)
                self.assertTrue((out / "results.sqlite").exists())

    def save(self, text, n, *more, number=signal.SIGKILL):
        """Ends a rank of a run that has saved itself. The scenario."""
        scenario = str(self.write("saved.yaml", text))
        launcher, pids = self.begin(n, "saved", scenario, ["--checkpoint", "20ms", *more])
        for _ in range(2000):
            if (self.folder / "saved/run.checkpoint").exists():
                break
            time.sleep(0.01)
        self.kill(launcher, pids[-1], number)
        self.ended(launcher, pids)
        self.assertEqual(launcher.returncode, 128 + number)
        self.assertEqual((self.folder / "saved/results.sqlite").exists(), number == signal.SIGINT)
        return scenario

    def resume(self, n, *more):
        return run(ranks(n), ["run", "--resume", "saved", "--json", "--quiet", *more], cwd=self.folder)

    def test_resumed(self):
        """A run over ranks that goes on from its checkpoint, one of them with fewer threads, is as if it had not stopped."""
        for text, n, threads in ((SAVED, 3, 1), (SAVED_JOB, 2, 2)):
            scenario = self.save(text, n, "--threads", str(threads))
            done = self.resume(n, "--checkpoint", "1000s", "--threads", "1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("weft", done.stderr)  # Open MPI and hwloc may have something to say about the machine
            self.assertEqual(digest(done), digest(run([WEFT], ["run", scenario, "--json", "--quiet"])))
            files = {path.name for path in (self.folder / "saved").iterdir()}
            self.assertIn("results.sqlite", files)
            self.assertNotIn("run.checkpoint", files)
            shutil.rmtree(self.folder / "saved")

    def test_saved_when_interrupted(self):
        """By the first signal."""
        scenario = self.save(SAVED, 2, number=signal.SIGINT)
        self.assertEqual(digest(self.resume(2)), digest(run([WEFT], ["run", scenario, "--json", "--quiet"])))

    def test_checkpoint_refused(self):
        self.save(SAVED, 2)
        path = self.folder / "saved/run.checkpoint"
        whole = path.read_bytes()
        one = run([WEFT], ["run", "--resume", "saved"], cwd=self.folder)
        for done, why in ((self.resume(3), "over 2 processes"), (one, "over 2 processes")):
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.count("weft: "), 1, done.stderr)
            self.assertIn(why, done.stderr)
        middle = len(whole) // 2
        damaged = whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]  # of rank 1
        for data in (whole[:100], whole[:middle], whole[:-1], whole + b"x", damaged):
            path.write_bytes(data)
            done = self.resume(2)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count("weft: "), 1, done.stderr)
            self.assertIn("expected", done.stderr)
            self.assertFalse((self.folder / "saved/results.sqlite").exists())


class Long(Test):
    def test_book(self):
        for k, scenario in enumerate(sorted(SCENARIOS.glob("*/*.yaml"))):
            arguments = ["run", str(scenario), "--json", "--quiet"]
            try:
                one = run([WEFT], arguments, timeout=6)
            except subprocess.TimeoutExpired:
                continue
            for n in (2, (1, 3, 4)[k % 3]):
                with self.subTest(scenario=scenario.name, ranks=n):
                    many = run(ranks(n), arguments, timeout=900)
                    if "expected" in many.stderr and "mpirun" in many.stderr:
                        continue  # refused
                    self.assertEqual(many.returncode, one.returncode, many.stderr)
                    if one.stdout:
                        self.assertEqual(digest(many), digest(one))


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("skipped: no mpirun (tools/setup mpi installs it)")
        sys.exit(77)
    if not os.access(WEFT_MPI, os.X_OK):
        print("skipped: no weft-mpi (make mpi builds it)")
        sys.exit(77)
    long = "long" in sys.argv[1:]
    sys.argv = [a for a in sys.argv if a != "long"]
    unittest.main(defaultTest="Long.test_book" if long else "Test")
