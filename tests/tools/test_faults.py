#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every subcommand while something fails (tests/fault/inject.c), and what it leaves behind.

memory  an allocation, of weft or of a library, alone or with all after it: "out of memory" and exit 1, or, if weft can
        do without, the usual answer
disk    a write, alone or with all after it: a message with the reason and exit 1, or the usual answer
signal  Ctrl-C or SIGTERM after so many allocations: exit 130, or the end by that signal where nothing was run, or the
        usual answer

Never another signal, another answer, or half a file; and the same command afterwards does what it always does.
test_faults.py memory|disk|signal [KofM]: every M-th step from number K on, of memory and signal among those that are the
first of their stack of calls (a loop allocates by one stack many times); without: some."""
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, WEFT, INJECT = Path(os.environ["WEFT_ROOT"]), os.environ["WEFT"], os.environ["WEFT_INJECT"]
TIMEOUT_S = 240

SCENARIO = """name: tiny
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}
workload:
  - {kind: incast, group: g, sources: "host-0..2", dst: host-3, size: 16KB}
  - {kind: collective, group: j, collective: all_reduce_ring, size: 64KB}
capture: {ports: leaf-0/0}
variants: {pfc: {}, dcqcn: {host.cc: dcqcn}}
claims:
  - {text: all arrive, that: pfc.g.finished == pfc.g.count and dcqcn.g.finished == 3}
"""
DSF = """topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 2}
switch: {buffer: {kind: dynamic, total: 64MiB}}
workload: [{kind: permutation, group: g, hosts: "*", size: 16KB}]
events: [{at: 1us, link: "rdsw-0/16", state: down}]
"""
CLIQUE = """topology: {kind: dragonfly, pods: 3, tins: 3}
switch: {buffer: {kind: dynamic, total: 64MiB}}
workload: [{kind: permutation, group: g, hosts: "*", size: 16KB}]
events: [{at: 1us, link: tin-0--tin-1, state: down}]
"""
JOB = "workload: [{kind: permutation, group: g, size: 4KB}]\n"
DATA, IMPORT = ROOT / "tests/data", ROOT / "examples/import"
COMMANDS = [line.split() for line in f"""
run s.yaml --quiet --json
run s.yaml --quiet --json --threads 2 --out new --force
run dsf.yaml --quiet --json --out new --force --checkpoint 10ms
run dsf.yaml --quiet --json
run clique.yaml --quiet --json --threads 3
run old --quiet --json
compare s.yaml --quiet --json
compare s.yaml --quiet
compare s.yaml --quiet --jobs 2 --out new --force
compare dsf.yaml --quiet --seeds 1..2 --jobs 2
verify . --quiet
verify s.yaml --quiet --json --jobs 2
sweep s.yaml --quiet --vary host.mtu=[1024B,4096B] --seeds 1..2 --best g.fct.mean
sweep s.yaml --quiet --out new --csv --metrics sim_time_ps
tune s.yaml --quiet --over host.mtu=[1024B,4096B] --objective g.fct.mean --seeds 1..2 --jobs 2 --out new
fit {DATA}/nccl/h200_1n_allreduce.csv --only launch --out new.yaml --force
estimate s.yaml --json
advise s.yaml --json --seeds 1 --variant pfc --only hash_collisions
goodput --json --set goodput.months=20
versus job.yaml --quiet --hosts 8 --rate 200Gbps --fabrics star,roce-ecmp --jobs 2 --no-why --out new
diff old old2
diff old old2 --json
check s.yaml
check s.yaml --json
check s.yaml --memory --links
models
models cc dcqcn
models --json
topo s.yaml --paths
topo s.yaml --json
topo s.yaml --dot
topo s.yaml --svg new.svg --force
topo clique.yaml
workload s.yaml
workload s.yaml --json
plan pfc s.yaml
plan pfc s.yaml --json
plan sfc s.yaml
plan dsf --json
plan fabric roce-ecmp --hosts 64 --rate 200Gbps --json
plan cheapest job.yaml --hosts 8 --rate 200Gbps --fabrics star,roce-ecmp --packets 1 --quiet --json
sweep s.yaml --quiet --estimate --vary host.mtu=[1024B,4096B]
report --estimate s.yaml --quiet --out new.html --force
plan sonic {IMPORT}/sonic/config_db.json --patch new.json --force
plan ecn s.yaml --json
place s.yaml
place s.yaml --json --strategy min_cut --out new.txt --force
timeline old
timeline old --json
why old 0
why old --slowest 2 --json
report old --quiet --out new.html --force
trace-control dsf.yaml
trace-control dsf.yaml --json
trace-control clique.yaml --out new.sqlite --force
dcbx {DATA}/lldpd-dcbx.pcap --json
decode {DATA}/linux-rxe-rocev2.pcap
decode {DATA}/linux-rxe-rocev2.pcap --json
import chakra {IMPORT}/chakra
import csv flows.csv.gz
import {IMPORT}/ring.goal
bench engine --k 4 --runs 1 --threads 1 --size 4096B --json
completion bash
manual run
""".strip().splitlines()]
FINDINGS = {"plan": 5}  # exit statuses that are answers
# What no two runs have in common: seconds, what follows from them, and how much had to be run, for a cache has the rest.
TIMES = re.compile(r'"(runs|wall_s|cpu_s|\w+_per_cpu_s|peak_rss_bytes\w*|phase_s|spread\w*)": *(\{[^}]*\}|[^,}]*)')
SECONDS = re.compile(r"\b[0-9.]+ ?(m|u)?s\b(?= of| wall| cpu|,? on )")


class Folder:
    """Inputs, and a command run among them with something that fails."""

    def __init__(self, root):
        self.root, self.cache = Path(root), Path(root) / "cache"
        for name, text in (("s", SCENARIO), ("dsf", DSF), ("clique", CLIQUE), ("job", JOB)):
            (self.root / f"{name}.yaml").write_text(text)
        with open(self.root / "flows.csv.gz", "wb") as file:
            subprocess.run(["gzip", "-c", IMPORT / "flows.csv"], stdout=file, check=True)
        for out, more in (("old", []), ("old2", ["--set", "host.mtu=1024B"])):
            subprocess.run([WEFT, "run", "s.yaml", "--quiet", "--out", out, "--set", "capture={}", *more], cwd=root, check=True,
                           stdout=subprocess.DEVNULL)
        self.inputs = {path.name for path in self.root.iterdir()} | {"out", "err", "count", self.cache.name}

    def clean(self):
        """Without runs that an earlier command has kept, too."""
        shutil.rmtree(self.cache, ignore_errors=True)
        for path in self.root.iterdir():
            if path.name not in self.inputs:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def run(self, command, **fault):
        """Exit status (negative: a signal), standard output and error. Output goes to files, which are on the disk too."""
        env = {key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"XDG_CACHE_HOME": str(self.cache)}
        if fault:
            env |= {"LD_PRELOAD": INJECT, "WEFT_FAULT_COUNT": "count"}
            env |= {f"WEFT_FAULT_{key.upper()}": str(value) for key, value in fault.items()}
        with open(self.root / "out", "w+b") as out, open(self.root / "err", "w+b") as err:
            done = subprocess.run([WEFT, *command], cwd=self.root, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                  timeout=TIMEOUT_S, check=False)
        return done.returncode, (self.root / "out").read_text(errors="replace"), (self.root / "err").read_text(errors="replace")

    def steps(self):
        """How many there were, and the first of each stack of calls."""
        count, *first = map(int, (self.root / "count").read_text().split())
        return count, sorted(first)

    def files(self):
        """What the last command has written, by name."""
        return {path.relative_to(self.root).as_posix(): path for path in sorted(self.root.rglob("*"))
                if path.is_file() and path.relative_to(self.root).parts[0] not in self.inputs}


def without_times(text):
    return SECONDS.sub("", TIMES.sub("", text))


def fault_of_file(path, good):
    """None, or what is wrong with a file. good: what it held in a run without fault, None if that varies."""
    if path.suffix == ".sqlite":
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            try:
                answer = database.execute("PRAGMA integrity_check").fetchone()[0]
                tables = database.execute("SELECT count(*) FROM sqlite_master WHERE type='table'").fetchone()[0]
            except sqlite3.Error as error:
                return str(error)
        return None if answer == "ok" and tables else f"{answer}, {tables} tables"
    if path.suffix == ".json":
        try:
            json.loads(path.read_text())
        except ValueError as error:
            return str(error)
    return "other than without fault" if good is not None and path.read_bytes() != good else None


class Command:
    """A command as it is without fault, twice: what both times had in common must be so after a fault too."""

    def __init__(self, folder, words):
        self.folder, self.words = folder, words
        folder.clean()
        self.status, out, err = folder.run(words)
        if self.status not in (0, FINDINGS.get(words[0])):
            raise SystemExit(f"weft {' '.join(words)}: exit status {self.status}; {err}")
        self.out = without_times(out)
        first = {name: path.read_bytes() for name, path in folder.files().items()}
        folder.clean()
        self.varies = without_times(folder.run(words)[1]) != self.out
        self.good = {name: (data if folder.files()[name].read_bytes() == data else None) for name, data in first.items()}

    def __str__(self):
        return "weft " + " ".join(self.words)

    def same(self, status, out):
        return status == self.status and (self.varies or without_times(out) == self.out)

    def left(self, status, err):
        """What is wrong with the files that a fault has left. A killed program may leave drafts; what an interrupted one has
        measured, or one whose runs failed, is whole, but less."""
        less = status == 130 or (status == 1 and re.search(r"^weft: point \d+ .*, seed \d+ failed: ", err, re.M))
        for name, path in self.folder.files().items():
            if status < 0 and name.endswith(".tmp"):
                continue
            if name.endswith(".tmp"):
                return f"leaves the draft {name}"
            if name in self.good:
                wrong = fault_of_file(path, None if less else self.good[name])
                if wrong:
                    return f"{name}: {wrong}"
        return None

    def afterwards(self):
        """The same command once more, without fault, over what is there."""
        status, out, err = self.folder.run(self.words)
        if not self.same(status, out):
            return f"afterwards exit status {status}; {err or 'another answer'}"
        missing = set(self.good) - set(self.folder.files())
        drafts = [name for name in self.folder.files() if name.endswith(".tmp")]
        return f"afterwards: {missing or drafts}" if missing or drafts else None


def one_message(command, err):
    """One; of a command with several processes, one of each and of each run. Standard output may fail on top of it."""
    several = command.words[0] in ("compare", "verify", "sweep", "tune", "versus", "advise") or "cheapest" in command.words
    return 1 <= len([line for line in err.splitlines() if line.startswith("weft: ") and not line.startswith("weft: hint: ")]) <= (12 if several else 3 if "--memory" in command.words else 2)  # an estimate has a memory of its own


class Memory:
    fault, parts, some = {}, ({}, {"on": 1}), 6

    @staticmethod
    def wrong(command, status, out, err, _):
        said = status == 1 and "out of memory" in err and one_message(command, err)
        return None if said or command.same(status, out) else f"exit status {status}"


FULL = ("No space left on device", "database or disk is full", "disk I/O error")  # SQLite has its own words


class Disk:
    fault, parts, some = {"writes": 1}, ({}, {"on": 1}), 3

    @staticmethod
    def wrong(command, status, out, err, _):
        said = status == 1 and any(why in err for why in FULL) and one_message(command, err)
        return None if said or command.same(status, out) else f"exit status {status}"


class Signal:
    fault, parts, some = {}, ({"signal": int(signal.SIGINT)}, {"signal": int(signal.SIGTERM)}), 3

    @staticmethod
    def wrong(command, status, out, err, part):
        if status == -part["signal"] or command.same(status, out):
            return None
        if status != 130:
            return f"exit status {status}"
        if "--json" in command.words and out:
            try:
                json.loads(out)
            except ValueError as error:
                return f"exit status 130 and {error}"
        return None if "interrupted" in out + err else "exit status 130 without a word"


def check(command, kind, at, part):
    """One fault. What is wrong, or None."""
    command.folder.clean()
    try:
        status, out, err = command.folder.run(command.words, at=at, **kind.fault, **part)
        wrong = kind.wrong(command, status, out, err, part) or command.left(status, err)
        err = wrong and err
        wrong = wrong or (command.afterwards() if command.good else None)
    except subprocess.TimeoutExpired:
        wrong, err = "does not end", ""
    return wrong and f"{command}, step {at} {part}: {wrong}; {err or ''}"


def some_steps(n, some, draw):
    return sorted({1} | {min(n, i * n // some + draw.randrange(n // some + 1) + 1) for i in range(some)})


def main():
    kind = {"memory": Memory, "disk": Disk, "signal": Signal}[sys.argv[1]]
    first, every = map(int, sys.argv[2].split("of")) if len(sys.argv) > 2 else (0, 0)
    only = os.environ.get("WEFT_FAULT_ONLY", "")
    draw, wrong, faults = random.Random(1), [], 0
    listed = set(re.findall(r"^WEFT_COMMAND\((\w+)", (ROOT / "cli/commands.def").read_text(), re.M))
    untested = listed - {words[0].replace("-", "_") for words in COMMANDS} - {"live"}  # its hosts are real: test_live.py
    if untested:
        sys.exit(f"no command line for {untested}")
    with tempfile.TemporaryDirectory(prefix="weft-faults-") as root:
        folder = Folder(root)
        for words in COMMANDS:
            if only not in " ".join(words):
                continue
            command = Command(folder, words)
            folder.clean()
            folder.run(words, at=0, **kind.fault, **({"stacks": 1} if every and kind is not Disk else {}))
            n, firsts = folder.steps()
            steps = (firsts or range(1, n + 1))[first - 1::every] if every else some_steps(n, kind.some, draw)
            for i, at in enumerate(steps):
                for part in kind.parts if every else [kind.parts[i % 2]]:
                    faults += 1
                    found = check(command, kind, at, part)
                    if found:
                        wrong.append(found)
                        print(found, flush=True)
    print(f"{faults} faults, {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
