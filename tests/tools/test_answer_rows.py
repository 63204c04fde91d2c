#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers as rows: every table of an answer says what it is, and --csv, --out FILE.sqlite and --json have the same rows."""
import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
ROOT = Path(os.environ["WEFT_ROOT"])
UNITS = {"_ps": "ps", "_bytes": "bytes", "_bps": "bit/s", "_s": "s"}
LEANING = ("of these", "of them", "and ", "likewise", "the same as", "in all")
DSF, CLIQUE = ROOT / "scenarios/dsf/control_events.yaml", ROOT / "scenarios/aquila/control.yaml"
VICTIM, CAPTURE = ROOT / "scenarios/foundation/leaf_spine_victim.yaml", ROOT / "tests/data/lldpd-dcbx.pcap"
JOB = """topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}
workload:
- {kind: incast, group: crowd, sources: host-0..4, dst: host-7, size: 300KB}
- {kind: job, group: train, operations: [{compute: 20us, collective: all_reduce_ring, size: 200KB}]}
"""
# What is asked, and of which answer. With one row a table may be part of the object around it.
EXITS = f"""base: {ROOT}/scenarios/dsf/region.yaml
events: [{{at: 2s, link: "edsw-0/*", state: down}}]
control: {{events: [{{at: 1s, do: drain, node: rdsw-1}}, {{at: 3s, do: crash, node: edsw-1}}]}}
"""
MERGED = "part of the object around"
# Tables that none of these commands fills.
EMPTY = {"dcbx": {"senders.cee", "senders.cee.applications"}}
ASKED = {"trace_control": [["trace-control", DSF], ["trace-control", ROOT / "scenarios/dsf/input_balance.yaml"],
                           ["trace-control", "exits.yaml"], ["trace-control", CLIQUE, "--variant", "small"]],
         "topo": [["topo", DSF], ["topo", ROOT / "scenarios/foundation/link_failure.yaml"], ["topo", CLIQUE, "--variant", "small"], ["topo", ROOT / "scenarios/meta-roce/frontend.yaml"]],
         "why": [["why", "s.yaml", "--slowest", "2", "--quiet"], ["why", "s.yaml", "--job", "train", "--quiet"],
                 ["why", ROOT / "scenarios/aquila/channels.yaml", "--rma", "reads", "--quiet"]],
         "timeline": [["timeline", "r"], ["timeline", "r", "--all"], ["timeline", "r", "--why", "host-7/0"],
                      ["timeline", "r", "--why-not", "leaf-0/4"]],
         "dcbx": [["dcbx", CAPTURE], ["dcbx", CAPTURE, "--pfc", "3", "--apps", "udp:4791:3"]]}


def tables(answer):
    """{name: (shape, {column: (unit, help)})} as weft models results has it; the first table has the answer's name."""
    found = {}
    for block in re.split(r"\n(?=\S+: )", run(".", "models", "results", answer)):
        head = re.match(r"(\S+): .*\n  in the JSON (.*); in SQLite", block)
        if head:
            rows = re.findall(r"\n  (\S+)   \(([^;)]*).*\)\n      (.+)", block)
            found[head[1]] = head[2], {name: (kind.partition(", ")[2], what) for name, kind, what in rows}
    return found


def run(folder, *arguments):
    done = subprocess.run([WEFT, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert not done.returncode, (arguments, done.stderr)
    return done.stdout


def objects(value, path):
    """All objects at a path of the JSON, through lists and objects by name."""
    for part in path:
        value = [one.get(part) for one in value if isinstance(one, dict)]
        value = [one for v in value if v is not None for one in (v if isinstance(v, list) else [v])]
    return value


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = Path(cls.folder.name)
        (cls.at / "s.yaml").write_text(JOB)
        (cls.at / "exits.yaml").write_text(EXITS)
        run(cls.at, "run", VICTIM, "--variant", "pfc", "--out", "r", "--quiet")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_columns_are_clear(self):
        for answer in ASKED:
            described = tables(answer)
            self.assertEqual(next(iter(described)), answer)
            for table, (_, columns) in described.items():
                self.assertTrue("." not in table or table.rpartition(".")[0] in described, table)
                self.assertTrue(columns, table)
                for name, (unit, what) in columns.items():
                    for end, expected in UNITS.items():
                        if name.endswith(end) and not name.endswith("per_s"):
                            self.assertEqual(unit, expected, f"{table}.{name}")
                    self.assertFalse(what.startswith(LEANING), f"{table}.{name}: {what}")

    def check_table(self, arguments, whole, db, described, table):
        """The number of its rows in the database, which CSV and JSON have as well."""
        shape, columns = described[table]
        stored = len(db.execute(f'SELECT * FROM "{table.replace(".", "_")}"').fetchall())
        rows = list(csv.reader(io.StringIO(run(self.at, *arguments, "--csv", table))))
        self.assertEqual(len(rows[0]), len(columns))
        if table in ("story", "events") and "timeline" in arguments and table not in whole:
            return stored  # the JSON has one of them, a database both
        self.assertEqual(len(rows) - 1, stored)
        parts = table.split(".")
        path = [name for i, name in enumerate(parts) if described[".".join(parts[:i + 1])][0] != MERGED]
        if path and path[0] not in whole:
            path = path[1:]  # the only row, such as a network, is merged
        if shape == "a list of objects" and stored:
            self.assertEqual(len(objects([whole], path)), stored)
        return stored

    def test_every_form_has_the_same_rows(self):
        for answer, asked in ASKED.items():
            described, filled = tables(answer), set()
            for arguments in asked:
                whole = json.loads(run(self.at, *arguments, "--json"))
                run(self.at, *arguments, "--out", "answer.sqlite", "--force")
                db = sqlite3.connect(self.at / "answer.sqlite")
                for table in described:
                    with self.subTest(arguments=arguments, table=table):
                        filled |= {table} if self.check_table(arguments, whole, db, described, table) else set()
                db.close()
            self.assertEqual(set(described) - filled, EMPTY.get(answer, set()), f"{answer}: tables that nothing here fills")


if __name__ == "__main__":
    unittest.main()
