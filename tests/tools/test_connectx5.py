#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Goodput of RDMA WRITEs by size and by messages outstanding: what a ConnectX-5 at 100G was measured to do, beside weft.

The rows are in tests/data/connectx5, the host and the switch those of scenarios/hardware/connectx5_write.yaml, but for the
depth of the switch's queue, which one sender never fills. Above 91.8 Gbit/s the receiver discards, and the flow is cut
and recovers, within 0.4 s: such rows run for 2 s. More rows of sizes and depths are printed without a measurement."""
import csv
import json
import os
import statistics
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WEFT = os.environ["WEFT"]
LONG = 25_000_000_000  # bytes in 2 s
WORST, MEDIAN = 0.08, 0.03
SWEEP = [(depth, size) for depth in (1, 2, 4, 16) for size in (512, 4096, 16384, 262144)]


def network():
    """The switch and the host of the scenario."""
    text = (ROOT / "scenarios/hardware/connectx5_write.yaml").read_text()
    return text[text.index("\nswitch:"):text.index("\nworkload:")]


def measured():
    text = (ROOT / "tests/data/connectx5/write_by_size.csv").read_text()
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for row in csv.DictReader(lines):
        yield int(row["arm"].rsplit("depth", 1)[1]), int(row["size_bytes"]), float(row["goodput_gbps"])


def goodput(depth, size, long=False):
    """In Gbit/s, from the first posting to the last completion."""
    messages = LONG // size if long else max(4 * depth, min(400, 64_000_000 // size), 20)
    text = ("topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 25ns}" + network() +
            f"\nworkload: [{{kind: flow, src: host-0, dst: host-1, post: {{depth: {depth}, messages: {messages}, size: {size}B}}}}]\n")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "s.yaml").write_text(text)
        done = subprocess.run([WEFT, "run", "s.yaml", "--json"], capture_output=True, text=True, timeout=600, cwd=folder)
    if done.returncode:
        raise AssertionError(done.stderr)
    flow = json.loads(done.stdout)["flows"][0]
    return flow["bytes"] * 8e3 / (flow["acked_ps"] - flow["start_ps"])


class ConnectX5(unittest.TestCase):
    def test_goodput(self):
        self.assertIn("nic: connectx5", network())
        errors = []
        print(f"{'depth':>5} {'size':>8} {'measured':>9} {'weft':>9} {'error':>7}")
        for depth, size, gbps in measured():
            own = goodput(depth, size, depth > 1 or size > 1_000_000)
            errors.append(abs(own / gbps - 1))
            print(f"{depth:5} {size:8} {gbps:9.4g} {own:9.4g} {own / gbps - 1:+7.1%}")
        for depth, size in SWEEP:
            print(f"{depth:5} {size:8} {'':9} {goodput(depth, size):9.4g}")
        print(f"{len(errors)} rows: median {statistics.median(errors):.1%}, at most {max(errors):.1%}")
        self.assertEqual(len(errors), 12)
        self.assertLessEqual(max(errors), WORST)
        self.assertLessEqual(statistics.median(errors), MEDIAN)


if __name__ == "__main__":
    unittest.main()
