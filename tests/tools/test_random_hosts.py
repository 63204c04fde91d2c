#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random hosts, NICs and PCIe: runs with latencies, posting, losses and every transport check their own state after each
window, give one digest on one and on three threads, and finish no flow sooner than it would alone."""
import json
import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
SEEDS = 150
TOPOLOGIES = ("{kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 3, rate: 100Gbps}",
              "{kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 3, rate: 100Gbps, bit_error_rate: 2e-8}",
              "{kind: single, hosts: 6, rate: 100Gbps}",
              "{kind: dsf_l1_zone, rdsws: 3, fdsws: 2, hosts_per_rdsw: 2, rails: 1}",
              "{kind: dragonfly, pods: 1, tins: 3, hosts_per_tin: 2, local_parallel: 1, local_ports: 2, host_rate: 100Gbps}")
TRANSPORTS = ("kind: roce_rc", "kind: roce_rc, ack_every: 16", "kind: roce_rc, out_of_order: accept",
              "kind: roce_rc, retransmission: selective", "kind: uet")
TIMES = ("0ns", "37ns", "700ns", "1.3us", "5us")


def scenario(seed):
    draw = random.Random(seed)
    one = draw.choice
    times = {key: one(TIMES) for key in ("send_latency", "receive_latency", "completion_latency", "post_cost", "pcie_round_trip")}
    host = times | {"transport": f"{{{one(TRANSPORTS)}, timeout: 50us}}", "cc": one(("none", "dcqcn", "swift", "timely")),
                    "mtu": one(("1KB", "4096B", "1000B")), "processing": one(("0ns", "100ns", "900ns")),
                    "pcie_rate": one(("0bps", "50Gbps", "210Gbps")), "packet_rate": one((0, 2000000, 200000000)),
                    "work_request": one(("0ns", "50ns")), "window": one(("0B", "16KiB", "64KiB"))}
    switch = {"buffer": "{kind: static, size: 100KB, xoff: 60KB, xon: 40KB}",
              "aqm": "{kind: wred, min: 15KB, max: 50KB, max_probability: 50%}"}
    if one((True, False)):
        host["pfc"] = switch["pfc"] = "{priorities: none}"
    if draw.random() < 0.3:
        host |= {"drain_rate": "80Gbps", "rx_buffer": "100KB", "rx_xoff": "60KB", "rx_xon": "30KB"}
    loads = ["{kind: incast, sources: 'host-1..4', dst: host-0, group: a, post: {depth: %d, messages: %d, size: %dB%s}, verb: %s}" %
             (one((1, 3, 64)), one((1, 7, 60)), one((1, 999, 4096, 10001, 70000)), one(("", ", burst: 2, pause: 3us")), one(("write", "send"))),
             "{kind: permutation, mode: shift, group: b, size: %dB, qps: %d, verb: %s}" % (one((1, 5000, 100001)), one((1, 3)), one(("write", "read"))),
             "{kind: job, group: j, iterations: 2, qps: %d, operations: [{collective: %s, size: 90KB, compute: 3us}]}" %
             (one((1, 2)), one(("all_reduce_ring", "all_to_all"))),
             "{kind: rma, clients: 'host-0..2', servers: 'host-4..5', rate: 200000, duration: 60us, size: %dB, group: m}" % one((64, 9000))]
    draw.shuffle(loads)
    text = lambda section: "{" + ", ".join(f"{key}: {value}" for key, value in section.items()) + "}"
    return "\n".join((f"topology: {one(TOPOLOGIES)}", f"switch: {text(switch)}", f"host: {text(host)}",
                      f"devices: [{{match: host-2, host: {text({key: one(TIMES) for key in list(times)[:3]})}}}]",
                      f"workload: [{', '.join(loads[:draw.randint(1, 4)])}]", f"run: {{until: 3ms, seed: {seed}}}", ""))


class Hosts(unittest.TestCase):
    def run_one(self, text, threads):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "s.yaml").write_text(text)
            done = subprocess.run([WEFT, "run", "s.yaml", "--threads", str(threads), "--json"], capture_output=True, text=True,
                                  timeout=120, cwd=folder, env=os.environ | {"WEFT_CHECK": "1"})
        self.assertIn(done.returncode, (0, 2, 4), done.stderr + text)
        return json.loads(done.stdout) if done.returncode != 2 else None

    def test_random(self):
        ran = 0
        for seed in range(SEEDS):
            text = scenario(seed)
            one = self.run_one(text, 1)
            if not one:
                continue # selective acknowledgement, and a fabric of cells
            ran += 1
            self.assertEqual(one["digest"], self.run_one(text, 3)["digest"], text)
            for flow in one["flows"]:
                self.assertGreaterEqual(flow.get("slowdown") or 1, 1 - 1e-9, text)
        self.assertGreater(ran, SEEDS // 2)


if __name__ == "__main__":
    unittest.main()
