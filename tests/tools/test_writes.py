#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scenario from somebody else writes only below its own folder, --out and --allow-write, and replaces no foreign file;
names in it do nothing to a terminal or a spreadsheet."""
import itertools
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
NETWORK = """topology: {kind: single, hosts: 3}
workload: [{kind: incast, sources: host-1..2, dst: host-0, size: 30KB, group: g}]
"""
JOB = """topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 400Gbps, delay: 500ns}
workload: [{kind: job, iterations: 8, operations: [{compute: 100us, collective: {kind: all_reduce_ring, channels: 1}, size: 1MiB}]}]
"""


def weft(*arguments, cwd, text=True):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=text, timeout=120, cwd=cwd,
                          env={**os.environ, "XDG_CACHE_HOME": str(Path(cwd) / ".cache")})


class Writes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)
        for name in ("home", "scenario", "elsewhere"):
            (self.at / name).mkdir()
        self.home, self.scenario = self.at / "home", self.at / "scenario"
        (self.scenario / "out-link").symlink_to(self.at / "elsewhere")
        (self.scenario / "file-link.pcapng").symlink_to(self.at / "elsewhere" / "secret")
        (self.scenario / "dangling.pcapng").symlink_to(self.at / "elsewhere" / "none")
        (self.scenario / "sub").mkdir()
        (self.at / "elsewhere" / "secret").write_text("secret")

    def files(self):
        return {str(path.relative_to(self.at)) for path in self.at.rglob("*") if path.is_file() or path.is_symlink()
                if ".cache" not in path.parts}

    def write(self, text):
        (self.scenario / "s.yaml").write_text(text)
        return self.scenario / "s.yaml"

    def forms(self, name):
        """Every key that names a file or folder for writing."""
        yield "capture", NETWORK + f"capture: {{ports: host-0, file: '{name}'}}\n"

    OUTSIDE = ("../x", "{at}/elsewhere/x", "{at}/elsewhere", "sub/../../x", "out-link/x", "out-link", "file-link.pcapng",
               "dangling.pcapng", "no/../../x", "/proc/x", "./../scenario2")

    def test_outside_is_refused(self):
        for name, command in itertools.product(self.OUTSIDE, (["check"], ["run", "--quiet"], ["compare", "--quiet"],
                                                              ["run", "--quiet", "--out", "o"])):
            if "--out" in command and name[0] not in "./":
                continue  # below --out
            for key, text in self.forms(name.format(at=self.at)):
                path, before = self.write(text), self.files()
                done = weft(*command, path, cwd=self.home)
                self.assertEqual(done.returncode, 2, (name, key, command, done.stderr))
                self.assertRegex(done.stderr, r"s\.yaml:3:\d+: capture\.file: .*--allow-write PATH")
                self.assertEqual(self.files(), before)
        self.assertEqual((self.at / "elsewhere" / "secret").read_text(), "secret")

    def test_a_base_and_a_variant_are_part_of_the_scenario(self):
        (self.scenario / "sub" / "base.yaml").write_text(NETWORK + "capture: {ports: host-0, file: ../../x}\n")
        path = self.write("base: sub/base.yaml\n")
        self.assertEqual(weft("run", path, cwd=self.home).returncode, 2)
        path = self.write(NETWORK + "variants: {a: {}, b: {capture: {ports: host-0, file: ../x}}}\n")
        self.assertEqual(weft("check", path, cwd=self.home).returncode, 2)
        self.assertEqual(weft("run", path, "--variant", "b", cwd=self.home).returncode, 2)
        self.assertEqual(weft("run", path, "--variant", "a", cwd=self.home).returncode, 0)

    def test_below_the_scenario(self):
        for name in ("x.pcapng", "sub/x.pcapng", "sub/../x.pcapng", f"{self.scenario}/x.pcapng"):
            path = self.write(NETWORK + f"capture: {{ports: host-0, file: '{name}'}}\n")
            done = weft("run", path, "--quiet", cwd=self.home)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.scenario / name).exists())
            (self.scenario / name).unlink()
        self.assertEqual(list(self.home.glob("*")), [])

    def test_no_folder(self):
        path = self.write(NETWORK + "capture: {ports: host-0, file: none/c.pcapng}\n")
        for command in ("check", "run"):
            done = weft(command, path, cwd=self.home)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"s\.yaml:3:\d+: capture\.file: there is no folder '.*none'")

    def test_out_and_allow_write(self):
        path = self.write(NETWORK + "capture: {ports: host-0, file: c.pcapng}\n")
        self.assertEqual(weft("run", path, "--quiet", "--out", "o", cwd=self.home).returncode, 0)
        self.assertTrue((self.home / "o" / "c.pcapng").exists())
        target = self.at / "elsewhere" / "x"
        path = self.write(NETWORK + f"capture: {{ports: host-0, file: {target}}}\n")
        for allowed, status in (((self.home,), 2), ((target.parent / "y",), 2), ((self.home, target.parent), 0),
                                ((target,), 0), (("../elsewhere",), 0)):
            options = [f"--allow-write={one}" for one in allowed]
            for command in ("check", "run", "compare"):
                done = weft(command, path, *options, cwd=self.home)
                self.assertEqual(done.returncode, status, (allowed, command, done.stderr))
        self.assertTrue(target.exists())

    def test_the_command_line_is_the_user(self):
        path = self.write(NETWORK)
        for option in (("--capture", "host-0"), ("--set", "capture.ports=host-0", "--set", "capture.file=../elsewhere/c")):
            done = weft("run", path, "--quiet", *option, cwd=self.home)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.home / "capture.pcapng").exists() and (self.at / "elsewhere" / "c").exists())

    def test_links_in_a_result_folder_are_replaced(self):
        """Somebody else's folder may have a link where weft writes a result; its target is not weft's to write."""
        secret = self.at / "elsewhere" / "secret"
        for i, (name, command) in enumerate((("result.json", ["run"]), ("results.sqlite", ["run", "--force"]),
                                             ("result.json", ["compare", "--force"]),
                                             ("versus.json", ["versus", "--fabrics", "star", "--hosts", "8", "--force"]),
                                             ("sweep.sqlite", ["sweep", "--vary", "run.seed=[1,2]", "--force"]))):
            out = self.home / f"o{i}"
            out.mkdir()
            (out / name).symlink_to(secret)
            path = self.write("workload: [{kind: all_to_all, size: 4KiB}]\n" if command[0] == "versus" else NETWORK)
            done = weft(*command, path, "--quiet", "--out", out, cwd=self.home)
            self.assertEqual(secret.read_text(), "secret", (name, command))
            self.assertEqual((done.returncode, (out / name).is_symlink()), (0, False), (name, command, done.stderr))

    def test_a_foreign_file_stays(self):
        foreign = self.scenario / "notes.txt"
        for content in (b"notes", b"\n\r\r\n" + bytes(40) + b"another program", b"weft 0.1.0"):
            foreign.write_bytes(content)
            path = self.write(NETWORK + "capture: {ports: host-0, file: notes.txt}\n")
            done = weft("run", path, "--quiet", cwd=self.home)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--force", done.stderr)
            self.assertEqual(foreign.read_bytes(), content)
        for _ in range(2):  # --force replaces it; a capture replaces a capture
            self.assertEqual(weft("run", path, "--quiet", "--force", cwd=self.home).returncode, 0)
        self.assertEqual(weft("run", path, "--quiet", cwd=self.home).returncode, 0)
        (self.home / "capture.pcapng").symlink_to(self.at / "elsewhere" / "secret")
        self.assertEqual(weft("run", self.write(NETWORK), "--capture", "host-0", cwd=self.home).returncode, 2)
        self.assertEqual((self.at / "elsewhere" / "secret").read_text(), "secret")

    def test_foreign_results(self):
        """weft run DIR of somebody else's results, and --force over them."""
        path = self.write(NETWORK)
        out = self.home / "o"
        self.assertEqual(weft("run", path, "--quiet", "--set", "capture.ports=host-0", "--set", "capture.file=c", "--out",
                              out, cwd=self.home).returncode, 0)
        with sqlite3.connect(out / "results.sqlite") as db:
            db.execute("UPDATE sources SET text = 'capture.file=../elsewhere/secret' WHERE text LIKE 'capture.file%'")
            db.execute("UPDATE files SET name = 'link/secret'")
        db.close()
        done = weft("run", out, "--quiet", cwd=self.home)
        self.assertEqual(done.returncode, 2, done.stderr)
        (out / "link").symlink_to(self.at / "elsewhere")
        self.assertEqual(weft("run", path, "--quiet", "--out", out, "--force", cwd=self.home).returncode, 0)
        self.assertEqual((self.at / "elsewhere" / "secret").read_text(), "secret")


class Options(unittest.TestCase):
    def test_a_file_that_exists_stays_without_force(self):
        """Every option that names a file to be written."""
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            (at / "s.yaml").write_text(JOB)
            (at / "clique.yaml").write_text("topology: {kind: dragonfly, pods: 1, tins: 2, nics: 2, rate: 100Gbps}\n")
            self.assertEqual(weft("run", "s.yaml", "--quiet", "--out", "r", cwd=at).returncode, 0)
            cases = [(["workload", "s.yaml", "--goal", "f"], "f"), (["workload", "s.yaml", "--chakra", "f"], "f.groups.json"),
                     (["workload", "s.yaml", "--chakra", "g"], "g.0.et"), (["bench", "engine", "--save", "f"], "f"),
                     (["report", "r", "--out", "f"], "f"), (["topo", "s.yaml", "--svg", "f"], "f"),
                     (["why", "r", "--perfetto", "f"], "f"), (["place", "s.yaml", "--out", "f"], "f")]
            for command, name in cases:
                (at / name).write_text("mine")
                done = weft(*command, cwd=at)
                self.assertEqual(done.returncode, 2, (command, done.stderr))
                self.assertEqual((at / name).read_text(), "mine", command)
            self.assertEqual(weft("workload", "s.yaml", "--goal", "f", "--force", cwd=at).returncode, 0)
            self.assertIn("num_ranks", (at / "f").read_text())


class Signals(unittest.TestCase):
    def test_an_early_signal_is_reported(self):
        """SIGTERM and Ctrl-C before anything runs: one line and 130, whatever the command."""
        with tempfile.TemporaryDirectory() as folder:
            fifo = Path(folder) / "s.yaml"
            os.mkfifo(fifo)  # a scenario that is never complete
            holder = os.open(fifo, os.O_RDWR)
            try:
                for command in ("run", "compare", "verify", "sweep", "versus", "check", "tune", "estimate"):
                    for number in (signal.SIGTERM, signal.SIGINT):
                        process = subprocess.Popen([WEFT, command, str(fifo)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                        fds = Path(f"/proc/{process.pid}/fd")
                        while process.poll() is None and str(fifo) not in {os.path.realpath(fd) for fd in fds.glob("*")}:
                            time.sleep(0.01)  # until it reads
                        process.send_signal(number)
                        out, err = process.communicate(timeout=30)
                        self.assertEqual((process.returncode, out, err.strip()),
                                         (130, "", "weft: interrupted before there was a result"), (command, number))
            finally:
                os.close(holder)


class Shown(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def test_control_characters_of_file_names(self):
        for name in ("a\x1b[31mb.yaml", "a\x7fb.yaml", "a\u009bb.yaml", "a\rb.yaml"):
            (self.at / name).write_text(NETWORK + "claims: [{text: t, that: g.finished == 2}, {text: u, that: g.finished == 1}]\n")
            (self.at / "broken").mkdir(exist_ok=True)
            (self.at / "broken" / name).write_text("topology: {kind: sngle}\n")
            for command in (["check", name], ["run", name], ["run", name, "--out", "o" + name], ["run", "o" + name], ["compare", name],
                            ["verify", name], ["verify", "."], ["topo", name], ["plan", "pfc", name], ["workload", name],
                            ["sweep", name, "--vary", "topology.delay=[1us,2us]"], ["decode", name], ["dcbx", name], ["import", name],
                            ["run", "none" + name], ["run", "broken/" + name], ["check", name, name], ["run", name, "--out", "o" + name],
                            ["run", name, "--variant", name], ["report", "o" + name], ["why", "o" + name, "g"], ["diff", "o" + name, "o" + name],
                            ["run", name, "--capture", "host-0", "--out", "c" + name], ["tune", name], ["place", name]):
                done = weft(*command, cwd=self.at, text=False)
                for stream in (done.stdout, done.stderr):
                    shown = stream.decode("utf-8", "replace")
                    odd = [c for c in shown if (ord(c) < 0x20 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0]
                    self.assertEqual(odd, [], (command, shown))
            self.assertEqual(weft("run", name, cwd=self.at).returncode, 0)

    def test_formulas_in_csv(self):
        """A cell of text never begins as a formula, whoever chose the name; numbers stay numbers."""
        for name in ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)"):
            quoted = name.replace("'", "''")
            (self.at / "s.yaml").write_text(
                NETWORK.replace("group: g", f"group: '{quoted}'") + f"name: '{quoted}'\nvariants: {{'{quoted}': {{}}, b: {{}}}}\n")
            for command in (["compare", "s.yaml", "--csv"], ["sweep", "s.yaml", "--vary", "topology.delay=[1us,2us]", "--csv"]):
                done = weft(*command, "--quiet", cwd=self.at)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("'" + name, done.stdout)
                for line in done.stdout.splitlines():
                    self.assertFalse([c for c in line.split(",") if c.lstrip('"')[:1] in ("=", "@", "+")], line)
        self.assertNotIn(",'-", weft("compare", "s.yaml", "--csv", "--table", "counters", "--quiet", cwd=self.at).stdout.replace("'-2+3", ""))


class Damaged(unittest.TestCase):
    def test_sweep_records(self):
        """A byte that changed in a stored run of a sweep is noticed: the run is done again."""
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            (at / "s.yaml").write_text(NETWORK + "sweep: {vary: {workload.0.size: [30KB, 60KB]}}\n")
            first = weft("sweep", "s.yaml", "--out", "o", "--json", cwd=at)
            self.assertEqual(first.returncode, 0, first.stderr)
            wanted = json.loads(first.stdout)
            records = sorted((at / "o" / "runs").glob("*.sqlite"))
            self.assertEqual(len(records), 2)
            whole = records[0].read_bytes()
            for offset in range(0, len(whole), 331):
                records[0].write_bytes(whole[:offset] + bytes([whole[offset] ^ 4]) + whole[offset + 1:])
                again = weft("sweep", "s.yaml", "--out", "o", "--json", "--force", cwd=at)
                self.assertEqual(again.returncode, 0, again.stderr)
                points = [[p[k] for k in p if "wall" not in k and "cpu" not in k] for p in json.loads(again.stdout).get("points", [])]
                self.assertEqual(points, [[p[k] for k in p if "wall" not in k and "cpu" not in k] for p in wanted.get("points", [])], offset)


if __name__ == "__main__":
    unittest.main()
