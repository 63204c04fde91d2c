#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion times of other simulators are those of weft, as near as their tables say; and the comparison can fail."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT, WEFT = Path(os.environ["WEFT_ROOT"]), os.environ["WEFT"]
SCENARIO = """topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}
host: {preset: ns3_hpcc}
switch: {preset: ns3_hpcc}
workload: [{kind: flow, src: host-0, dst: host-1, size: 4096B}, {kind: flow, src: host-1, dst: host-0, size: 10000B}]
"""


def peers(*words):
    return subprocess.run([ROOT / "tools/peers", WEFT, *words], capture_output=True, text=True, check=False)


class Peers(unittest.TestCase):
    def test_the_repository_s_cases_hold(self):
        done = peers()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("case: "), len(list((ROOT / "scenarios/peers").glob("*.csv"))))

    def status(self, heads, first="934", second="1173", more=""):
        with tempfile.TemporaryDirectory() as folder:
            case = Path(folder) / "case.yaml"
            case.write_text(SCENARIO)
            case.with_suffix(".csv").write_text(f"# peer: p\n# case: c\n# from: f\n{heads}src,dst,bytes,completion_ns\n0,1,4096,{first}\n1,0,10000,{second}\n{more}")
            return peers(case).returncode

    def test_within_some_ns(self):
        self.assertEqual(self.status("# within: 0\n"), 0)
        self.assertEqual(self.status("# within: 0\n", first="935"), 1)
        self.assertEqual(self.status("# within: 1\n", first="935"), 0)

    def test_over_seeds(self):
        self.assertEqual(self.status("# seeds: 2\n", first="950", second="1190"), 0)
        self.assertEqual(self.status("# seeds: 2\n", first="970", second="1220"), 1)

    def test_by_mean_and_correlation(self):
        self.assertEqual(self.status("", first="936", second="1175"), 0)
        self.assertEqual(self.status("", first="950", second="1190"), 1)
        self.assertEqual(self.status("", first="1173", second="934"), 1)

    def test_a_flow_that_weft_does_not_have(self):
        self.assertNotEqual(self.status("", more="0,1,5,900\n"), 0)


if __name__ == "__main__":
    unittest.main()
