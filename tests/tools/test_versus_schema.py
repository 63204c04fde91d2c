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
                answer("--battery", "full", "--cases", "all-to-all-4MiB-link-gone", "--hosts", "32", "--seeds", "1", "--no-why",
                       "--fabrics", "roce-ecmp,dual-tor,dsf-l1,star", "--goodput", "1024"),
            ]

    def test_every_answer_fits(self):
        for answer in self.answers:
            self.validator.validate(answer)

    def test_all_that_it_names_occurs(self):
        self.assertEqual(set(named(SCHEMA)) - RARE - set(used(self.answers)), set())

    def test_beyond_one_chip(self):
        """Where one chip leads, the paragraph names the first fabric of several, unless it is the last, which is named already."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "all.yaml").write_text("workload: [{kind: collective, collective: all_to_all, size: 64KiB}]\n")
            for others, said in (("dsf-l1,roce-spray", " Of more than one chip roce-spray leads with "), ("dsf-l1", None)):
                done = subprocess.run([WEFT, "versus", "all.yaml", "--hosts", "32", "--fabrics", "star," + others, "--no-why", "--quiet"],
                                      cwd=folder, text=True, capture_output=True, check=True)
                told = done.stdout.splitlines()[-1]
                self.assertRegex(told, "^star leads with .* dsf-l1 is last with ")
                self.assertEqual(told.count("Of more than one chip"), bool(said))
                self.assertIn(said or "", told)

    def test_goodput(self):
        """Of 1,024 GPUs: parts are those of the fabric of that size, and a case with a link gone says what one costs."""
        fabric = {one["name"]: one for one in self.answers[-1]["fabrics"]}
        month = {name: one["goodput"] for name, one in fabric.items() if "goodput" in one}
        self.assertEqual(sorted(month), ["dsf-l1", "dual-tor", "roce-ecmp"])  # no chip has the ports of a star
        self.assertEqual([month[name]["attachment"] for name in sorted(month)], ["dsf", "planes", "single_tor"])
        part = {name: {one["name"]: one for one in of["parts"]} for name, of in month.items()}
        planned = subprocess.run([WEFT, "plan", "fabric", "roce-ecmp", "--hosts", "1024", "--json"], text=True, check=True,
                                 stdout=subprocess.PIPE).stdout
        chips = sum(layer["chips"] for layer in json.loads(planned)["fabrics"][0]["layers"])
        ecmp = part["roce-ecmp"]
        self.assertEqual(ecmp["switch"]["count"] + ecmp["fabric_switch"]["count"], chips)
        cases = fabric["roce-ecmp"]["cases"]
        over = cases["all-to-all-4MiB-link-gone"]["time_ps"]["mean"] / cases["all-to-all-4MiB"]["time_ps"]["mean"]
        self.assertAlmostEqual(ecmp["fabric_link"]["slowdown"], max(1, over))
        self.assertTrue(ecmp["fabric_link"]["measured"] and not ecmp["fabric_switch"]["measured"])
        self.assertGreater(month["dual-tor"]["mtbf_h"], month["roce-ecmp"]["mtbf_h"])  # the loss of a port ends no job
        self.assertGreater(part["dual-tor"]["link"]["slowdown"], 1)

    def test_goodput_runs_no_variants(self):
        """What the job's section would measure by variants is refused, not left out: nothing runs, nothing is written."""
        with tempfile.TemporaryDirectory() as folder:
            for section, said in (("{parts: [{name: link}, {name: switch, variant: gone}]}",
                                   "weft: job.yaml:2:57: goodput.parts.1.variant: --goodput runs no variants of the job"),
                                  ("{parts: [{name: [link], effect: degrade, variant: [gone]}]}",
                                   "weft: job.yaml:2:60: goodput.parts.0.variant: --goodput runs no variants of the job"),
                                  ("{base: [whole]}", "weft: job.yaml:2:17: goodput.base: --goodput runs no variants of the job"),
                                  ("{parts: [{name: link, variant: null}], base: whole}",
                                   "weft: job.yaml:2:55: goodput.base: --goodput runs no variants of the job")):
                Path(folder, "job.yaml").write_text(f"workload: [{{kind: permutation, size: 1KB}}]\ngoodput: {section}\n")
                done = subprocess.run([WEFT, "versus", "job.yaml", "--fabrics", "roce-ecmp", "--hosts", "16", "--goodput", "1024",
                                       "--no-why", "--out", "bad"], cwd=folder, text=True, capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(said, done.stderr)
                self.assertFalse(Path(folder, "bad").exists())

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
