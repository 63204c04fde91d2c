#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random scenarios (random_scenario.py): whatever one is, `check` and `run` agree on it. Accepted: no byte is lost or invented,
every run checks its own state (WEFT_CHECK), the digest is the same with 1, 2 and 3 threads and over 2 ranks, the schema accepts the scenario, JSON is valid, and table, JSON
and SQLite have the same figures; a sweep has for each point what a run with its values has, with any number of threads. Refused: exit 2, messages that say where, nothing written.

test_random_scenarios.py [COUNT [FIRST]]   COUNT seeds from FIRST on (10 from 1). Each outcome is a line of the file
WEFT_RANDOM_JOURNAL, if that is set; seeds that it has of the same program are not run again. WEFT_SANITIZED: weft under sanitizers, run too.
WEFT_RANDOM_JOBS: so many scenarios at a time (1)."""
import collections
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import random_scenario
from launcher import ENVIRONMENT

WEFT = os.environ["WEFT"]
WEFT_MPI = str(Path(WEFT).with_name("weft-mpi"))
SANITIZED = os.environ.get("WEFT_SANITIZED")
RANKS = shutil.which("mpirun") and Path(WEFT_MPI).exists()
EVERY_RANKS = int(os.environ.get("WEFT_RANDOM_RANKS", "5"))  # of so many seeds one runs over ranks too: their start takes longest
TIMEOUT_S, ROUND, SOME_TABLES = 300, 1e-9, ("groups", "flows", "counters", "rma", "sizes", "jobs", "mechanisms")
PLACE = re.compile(r"weft: ([^\s:]+:\d+:\d+: |[^\s:]+: byte \d+: |--\w+[ :])")
try:
    import jsonschema
except ImportError:
    jsonschema = None


class Wrong(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False,
                          env=ENVIRONMENT | {"WEFT_CHECK": "1", "XDG_CACHE_HOME": str(folder / "cache")})
    expect(done.returncode >= 0 and "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, command, done.returncode, done.stderr)
    return done.returncode, done.stdout, done.stderr


def flat(value, name=""):
    """Columns of a row as SQLite names them: {fct_ps: {mean: 1}} is fct_ps_mean: 1."""
    out = {}
    for key, each in value.items():
        if isinstance(each, dict):
            out |= flat(each, f"{name}{key}_")
        elif not isinstance(each, list):
            out[name + key] = each
    return out


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return bool(a) == bool(b)
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) <= ROUND * max(abs(a), abs(b))
    return a == b


def compare_sqlite(result, path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        database.row_factory = sqlite3.Row
        expect(database.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "integrity_check")
        expect(not database.execute("PRAGMA foreign_key_check").fetchall(), "foreign_key_check")
        run_row = dict(database.execute("SELECT * FROM run").fetchone())
        for key in ("digest", "sim_time_ps", "packet_hops", "events", "seed", "end"):
            expect(same(run_row[key], result[key]), "SQLite has another", key)
        for table in SOME_TABLES:
            expected = result.get(table)
            if expected is None:
                continue
            if isinstance(expected, dict) and table != "counters":
                expected = [{"name": name, **row} for name, row in expected.items()]
            rows = [dict(row) for row in database.execute(f'SELECT * FROM "{table}"')]
            expected = [expected] if isinstance(expected, dict) else expected
            expect(len(rows) == len(expected), table, "SQLite has", len(rows), "rows, JSON", len(expected))
            key = next((key for key in ("name", "flow", "job") if expected and key in expected[0]), None)
            if key:
                rows, expected = sorted(rows, key=lambda row: row[key]), sorted(expected, key=lambda row: row[key])
            if table == "sizes":
                rows.sort(key=lambda row: (row["group"], row["from_bytes"]))
                expected = sorted(expected, key=lambda row: (row["group"], row["from_bytes"]))
            for row, other in zip(rows, expected):
                for column, value in flat(other).items():
                    if column in row:
                        expect(same(row[column], value), f"{table}.{column}: SQLite has {row[column]}, JSON {value}")


def compare_text(result, text):
    expect(f"digest {result['digest']}" in text, "the table has another digest")
    for name, group in result["groups"].items():
        row = re.search(rf"^{re.escape(name)} +([0-9]+) +([0-9]+) ", text, re.M)
        if row:  # groups of remote memory access have a table of their own
            expect((int(row[1]), int(row[2])) == (group["count"], group["finished"]), f"the table has another count of {name}")
    drops = sum(reason["packets"] if isinstance(reason, dict) else reason for reason in result["counters"]["drops"].values())
    row = re.search(r"^drops +([0-9]+) packet", text, re.M)
    expect(not row or int(row[1]) == drops, "the table has other drops")


def refused(folder, scenario, check):
    status, out, err = run(folder, WEFT, "run", "s.yaml", "--json", "--quiet", "--out", "out")
    if scenario.sweeps and (status != 2 or err != check[2]):  # check looks at the sweep too
        expect(status in (0, 2, 4), "exit status", status, err)
        shutil.rmtree(folder / "out", ignore_errors=True)
        status, out, err = run(folder, WEFT, "sweep", "s.yaml", "--json", "--quiet")
    expect(status == 2 and not out, "check refuses, run does not:", status, check[2])
    expect(err == check[2], "check says", check[2], "and run", err)
    messages = [line for line in err.splitlines() if line.startswith("weft: ")]  # one for each mistake, none twice
    expect(messages and len(set(messages)) == len(messages) and err.startswith("weft: "), "not a message for each mistake:", err)
    expect(all(PLACE.match(line) for line in messages), "without a place:", err)
    expect(not (folder / "out").exists(), "refused, but out/ was written")
    if not scenario.sweeps:
        status, out, err = run(folder, WEFT, "compare", "s.yaml", "--json", "--quiet")
        expect(status == 2 and not out and err == check[2], "check refuses with", check[2], "and compare has", status, err)
    return "refused"


def sweeps(folder):
    """Every run of a sweep is one with the values of its point."""
    command = [WEFT, "sweep", "s.yaml", "--json", "--quiet"]
    status, out, err = run(folder, *command, "--jobs", "2")
    expect(status in (0, 4), "check accepts, sweep does not: exit status", status, err)
    result = json.loads(out)
    runs = [(point, each) for point in result["points"] for each in point["runs"]]
    expect(not result["failed"] and not result["missing"] and result["done"] + result["stalled"] == len(runs), "sweep: not all runs", result)
    point, each = runs[-1]
    values = [word for path, value in point["parameters"].items() for word in ("--set", f"{path}={value}")]
    alone = json.loads(run(folder, WEFT, "run", "s.yaml", "--json", "--quiet", "--seed", str(each["seed"]), *values)[1])
    expect(alone["digest"] == each["digest"], "sweep: another digest than that of", values, each)
    again, other, err = run(folder, *command, "--threads", "2", "--oversubscribe")
    expect(again == status and other == out, "sweep: another result with 2 threads", err)


def accepted(folder, seed, schema, scenario):
    if jsonschema:
        jsonschema.Draft202012Validator(schema).validate(json.loads(scenario.text))
    status, out, err = run(folder, WEFT, "topo", "s.yaml", "--json")
    expect(not status and json.loads(out), "check accepts, topo does not:", status, err)
    status, out, err = run(folder, WEFT, "run", "s.yaml", "--json", "--quiet", "--out", "out")
    expect(status in (0, 4), "exit status", status, err)
    result = json.loads(out)
    expect(result["digest"] == json.loads((folder / "out/result.json").read_text())["digest"], "result.json has another digest")
    kept = result["conservation"]
    expect(kept["injected"] == kept["delivered"] + kept["dropped"] + kept["held"], "bytes are not conserved", kept)
    compare_sqlite(result, folder / "out/results.sqlite")
    compare_text(result, run(folder, WEFT, "run", "s.yaml", "--quiet")[1])
    others = [[WEFT, "run", "s.yaml", "--threads", n, "--oversubscribe"] for n in ("2", "3")]
    if SANITIZED:
        others.append([SANITIZED, "run", "s.yaml", "--threads", "2", "--oversubscribe"])
    if RANKS and seed % EVERY_RANKS == 0:
        others.append(["mpirun", "-n", "2", WEFT_MPI, "run", "s.yaml"])
    for command in others:
        again, out, err = run(folder, *command, "--json", "--quiet")
        if again == 2 and command[0] == "mpirun":
            continue  # what ranks do not do yet is refused
        expect(again == status, command, "exit status", again, "and not", status, err)
        expect(json.loads(out)["digest"] == result["digest"], command, "another digest")
    if scenario.sweeps:
        sweeps(folder)
    return "stalled" if status else "ran"


def prepare(folder, scenario):
    """Writes the scenario's files; False: its import is refused."""
    scenario.write(folder)
    if not scenario.imports:
        return True
    form, files = scenario.imports
    status, _, err = run(folder, WEFT, "import", form, *files, "--out", "imported.yaml")
    if status:
        expect(status == 2 and PLACE.match(err), "import: exit status", status, err)
        return False
    check = run(folder, WEFT, "check", "imported.yaml")
    expect(check[0] == 0, "weft import wrote what weft check refuses:", check[2])
    return True


def one(folder, seed, schema):
    scenario = random_scenario.Scenario(schema, seed)
    if not prepare(folder, scenario):
        return "refused"
    check = run(folder, SANITIZED or WEFT, "check", "s.yaml")
    expect(check[0] in (0, 2), "check: exit status", check[0], check[2])
    return refused(folder, scenario, check) if check[0] else accepted(folder, seed, schema, scenario)


def open_journal(path):
    """Outcomes by seed. Those of another program are gone."""
    program = "program " + hashlib.sha256(Path(WEFT).read_bytes()).hexdigest()
    lines = path.read_text().splitlines() if path.exists() else []
    if lines[:1] != [program]:
        path.write_text(program + "\n")
    return dict(line.split(" ", 1) for line in lines[1:]) if lines[:1] == [program] else {}


def judge(seed, schema, known):
    """The outcome of a seed, and what is wrong."""
    if str(seed) in known:
        return seed, known[str(seed)], None
    with tempfile.TemporaryDirectory(prefix="weft-random-") as root:
        try:
            return seed, one(Path(root), seed, schema), None
        except (Wrong, ValueError, KeyError, subprocess.TimeoutExpired, jsonschema.ValidationError if jsonschema else Wrong) as error:
            return seed, "wrong", f"{type(error).__name__} {str(error)[:2000]}"


def main():
    count, first = (int(sys.argv[1]) if len(sys.argv) > 1 else 10), (int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    schema = random_scenario.read_schema(WEFT)
    never = [name for name, n in random_scenario.coverage(schema, range(1, 1001)).items() if not n]
    if never:
        sys.exit(f"no scenario of 1000 uses {never}")
    journal = os.environ.get("WEFT_RANDOM_JOURNAL")
    known = open_journal(Path(journal)) if journal else {}
    outcomes = collections.Counter()
    with ThreadPoolExecutor(int(os.environ.get("WEFT_RANDOM_JOBS", "1"))) as pool:
        for seed, outcome, why in pool.map(lambda seed: judge(seed, schema, known), range(first, first + count)):
            if why:
                print(f"seed {seed}: {why}", flush=True)
            elif journal and str(seed) not in known:
                with open(journal, "a", encoding="utf-8") as file:
                    file.write(f"{seed} {outcome}\n")
            outcomes[outcome] += 1
    print(f"{count} scenarios: " + ", ".join(f"{n} {name}" for name, n in sorted(outcomes.items())))
    sys.exit(bool(outcomes["wrong"]))


if __name__ == "__main__":
    main()
