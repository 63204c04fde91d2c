#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/versus.schema.json says what weft versus --json prints: all answers fit it, and all that it says occurs."""
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import jsonschema
except ImportError:
    print("skipped: there is no python3-jsonschema")
    sys.exit(77)

WEFT = os.environ["WEFT"]
SCHEMA = json.loads((Path(os.environ["WEFT_ROOT"]) / "docs" / "versus.schema.json").read_text())
JOB = "workload: [{kind: incast, sources: host-1..8, dst: host-0, size: 64KB}]\n"
# Parts that only some fabrics and transports have.
RARE = {"busbw_GBps", "fabric", "credits", "clear-to-send", "reassembly", "copy", "server", "software", "memory",
        "source flow control", "pace", "window", "nothing to send", "request", "retransmission", "compute", "host",
        "acknowledgement", "pause", "arbitration"}


def named(schema):
    """What a schema has places for."""
    if isinstance(schema, list):
        for of in schema:
            yield from named(of)
    elif isinstance(schema, dict):
        for key, of in schema.items():
            if key == "properties":
                yield from of
                yield from named(list(of.values()))
            elif key not in ("if", "then", "else"):
                yield from named(of)


def used(value):
    if isinstance(value, list):
        for of in value:
            yield from used(of)
    elif isinstance(value, dict):
        yield from value
        yield from used(list(value.values()))


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        cls.validator = jsonschema.Draft202012Validator(SCHEMA)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "job.yaml").write_text("topology: {kind: single, hosts: 16}\n" + JOB)

            def answer(*arguments):
                done = subprocess.run([WEFT, "versus", *arguments, "--json", "--quiet"], cwd=folder, text=True,
                                      capture_output=True, check=False)
                if done.returncode:
                    raise AssertionError(f"{arguments}: {done.returncode}\n{done.stderr}")
                return json.loads(done.stdout)

            cls.answers = [
                answer("job.yaml", "--fabrics", "star,roce-ecmp", "--seeds", "1..2", "--out", "old"),
                answer("job.yaml", "--fabrics", "star,roce-ecmp", "--rate", "200Gbps", "--assumptions", "--diff", "old",
                       "--no-why"),
                answer("job.yaml", "--hosts", "160", "--fabrics", "star,roce-ecmp", "--budget", "watts=1200", "--no-why"),
                answer("--battery", "quick", "--hosts", "16", "--fabrics", "star,aquila", "--cases", "all-to-all-*"),
                answer("--battery", "full", "--hosts", "16", "--fabrics", "star,roce-ecmp", "--seeds", "1",
                       "--cases", "recovery-link*,incast-slow*"),
                answer("--battery", "full", "--hosts", "16,64", "--fabrics", "star,roce-ecmp,dsf-l1", "--seeds", "1",
                       "--cases", "rpc*", "--no-why"),
                answer("--battery", "quick", "--hosts", "16", "--fabrics", "star,roce-ecmp,roce-te", "--estimate"),
            ]

    def test_every_answer_fits(self):
        for answer in self.answers:
            self.validator.validate(answer)

    def test_all_that_it_names_occurs(self):
        self.assertEqual(set(named(SCHEMA)) - RARE - set(used(self.answers)), set())

    def refused(self, change):
        answer = copy.deepcopy(self.answers[0])
        change(answer)
        self.assertFalse(self.validator.is_valid(answer))

    def test_others_do_not_fit(self):
        self.refused(lambda a: a.update(further=1))
        self.refused(lambda a: a.pop("paragraph"))
        self.refused(lambda a: a["fabrics"][0].update(status="ill"))
        self.refused(lambda a: a["fabrics"][0].pop("bill"))
        self.refused(lambda a: a["fabrics"][0]["bill"].update(chips=-1))
        self.refused(lambda a: a["fabrics"][0]["cases"]["job"]["runs"][0].update(digest="x"))
        self.refused(lambda a: a["fabrics"][0]["cases"]["job"]["time_ps"].pop("mean"))
        self.refused(lambda a: a["fabrics"][0]["cases"]["job"].update(rank=0))


if __name__ == "__main__":
    unittest.main()
