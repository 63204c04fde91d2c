#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hints: each where it applies and nowhere else, once, on standard error after the results; --quiet keeps them."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
LEAVES = "topology: {{kind: leaf_spine, leaves: 2, spines: {spines}, hosts_per_leaf: 4}}\n"
INCAST = "workload: [{kind: incast, sources: host-1..3, dst: host-0, size: 300KB, group: g}]\n"
LOSSY = ("switch: {pfc: {priorities: none}, buffer: {kind: static, size: 50KB, xoff: 40KB, xon: 30KB}}\n"
         "host: {pfc: {priorities: none}}\n")
WORDS = {"oversubscribed": "is oversubscribed", "phase": "go-back-N", "ideal": "hosts take no time", "seed": "one seed:",
         "overtaken": "had overtaken others", "headroom": "for want of headroom", "resent": "were sent again though none was lost"}


class Hints(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def weft(self, command, text, *options, status=0):
        (self.at / "s.yaml").write_text(text)
        done = subprocess.run([WEFT, command, "s.yaml", *options], capture_output=True, text=True, timeout=120, cwd=self.at)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def hints(self, command, text, *options):
        """The names of the hints, in their order; each line is one of them."""
        lines = [line for line in self.weft(command, text, *options).stderr.splitlines() if line.startswith("weft: hint: ")]
        found = [[name for name, word in WORDS.items() if word in line] for line in lines]
        self.assertTrue(all(len(names) == 1 for names in found), lines)
        return [names[0] for names in found]

    def test_oversubscription(self):
        for spines, rates, ratio in ((1, "", "4:1"), (3, "", "1.33:1"), (4, "", None), (8, "", None), (4, ", spine_rate: 100Gbps", "2:1")):
            text = LEAVES.format(spines=spines).replace("}", rates + "}") + INCAST
            for command in ("check", "run"):
                done = self.weft(command, text, "--quiet") if command == "run" else self.weft(command, text)
                shown = [line for line in done.stderr.splitlines() if "oversubscribed" in line]
                self.assertEqual(len(shown), bool(ratio), (text, done.stderr))
                self.assertTrue(not ratio or f"layer leaf is oversubscribed {ratio}: " in shown[0], shown)

    def test_spare_hosts(self):
        for base, hosts, built in (("torus-twisted", 64, 128), ("torus-twisted", 128, None), ("torus", 64, None), ("aquila", 64, 72),
                                   ("dragonfly", 100, 108), ("roce-ecmp", 100, 105), ("rail-only", 20, 24), ("dsf-l2", 20, 32),
                                   ("dual-tor", 64, None), ("eight-planes", 64, None)):
            text = f"base: {base}\nfabric: {{hosts: {hosts}}}\nworkload: [{{kind: all_to_all, size: 1KiB}}]\n"
            shown = [line for line in self.weft("check", text).stderr.splitlines() if "fabric.hosts" in line]
            self.assertEqual(len(shown), bool(built), (base, hosts, shown))
            self.assertTrue(not built or f"comes with {built} hosts, and fabric.hosts is {hosts}:" in shown[0], shown)

    def test_each_layer_once(self):
        text = ("topology: {kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 1, core: 1, hosts_per_access: 4}\n" + INCAST)
        shown = [line for line in self.weft("check", text).stderr.splitlines() if "oversubscribed" in line]
        self.assertEqual(sorted(line.split()[3] for line in shown), ["access", "aggregation"])
        text += "variants: {a: {}, b: {host.cc: dcqcn}, c: {topology.core: 2}}\n"
        shown = [line for line in self.weft("compare", text, "--quiet").stderr.splitlines() if "oversubscribed" in line]
        self.assertEqual(len(shown), 2)
        self.assertEqual(sum("(2 of 3 variants)" in line for line in shown), 1)

    def test_resent(self):
        text = "topology: {kind: single, hosts: 8, rate: 100Gbps}\nworkload: [{kind: incast, sources: host-1..7, dst: host-0, size: 2MB}]\n"
        for transport, there in (("{kind: uet}", True), ("{kind: uet, timeout: 5ms}", False), ("roce_rc", False)):
            found = self.hints("run", text + f"host: {{transport: {transport}, cc: none}}\n", "--quiet")
            self.assertEqual("resent" in found, there, (transport, found))

    def test_phase(self):
        text = LEAVES.format(spines=4) + INCAST
        for more, check, run in (("", False, False), (LOSSY, True, True), (LOSSY.replace("50KB", "5MB"), True, False),
                                 (LOSSY.replace("host: {", "host: {retransmission: selective, "), False, False),
                                 (LOSSY.replace("host: {", "host: {clock_ppm: 50, "), False, False),
                                 (LOSSY.replace("host: {", "host: {clock_ppm: 50, ") + "run: {jitter: off}\n", True, True),
                                 (LOSSY.replace("switch: {", "switch: {aqm: wred, "), False, False)):
            self.assertEqual("phase" in self.hints("check", text + more), check, more)
            self.assertEqual("phase" in self.hints("run", text + more), run, more)

    def test_overtaken(self):
        """Sprayed packets to hosts that need order: their loss is the hosts', and that of a full buffer is not."""
        text = "hardware: typical\n" + LEAVES.format(spines=4) + "workload: [{kind: permutation, hosts: '*', mode: shift, shift: 4, size: 300KB}]\n"
        spray = text + "switch: {route: spray}\n"
        self.assertNotIn("overtaken", self.hints("run", text))
        self.assertIn("overtaken", self.hints("run", spray))
        self.assertNotIn("overtaken", self.hints("check", spray))
        self.assertNotIn("overtaken", self.hints("run", spray + "host: {transport: {kind: roce_rc, out_of_order: accept}}\n"))
        self.assertNotIn("overtaken", self.hints("run", LEAVES.format(spines=4) + INCAST + LOSSY))

    def test_overtaken_as_a_link_comes_back(self):
        """ECMP keeps a queue pair on one path until then, so no other routing is advised."""
        text = ("hardware: ideal\ntopology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 100Gbps}\nrun: {detection: 0ns, seed: 2}\n"
                "events: [{at: 0ns, link: leaf-0--spine-0, state: down}, {at: 60us, link: leaf-0--spine-0, state: up}]\n"
                "workload: [{kind: permutation, hosts: '*', mode: shift, shift: 4, size: 2MB}]\n")
        hints = [line for line in self.weft("run", text).stderr.splitlines() if WORDS["overtaken"] in line]
        self.assertEqual(len(hints), 1)
        self.assertNotIn("switch.route", hints[0])

    def test_headroom(self):
        """Losses are for want of headroom only where the neighbour has paused."""
        single = "hardware: ideal\ntopology: {kind: single, hosts: 4, rate: 100Gbps, delay: 300ns}\n"
        small = single + "switch: {buffer: {kind: static, size: 60KB, xoff: 56KB, xon: 20KB}}\n" + INCAST
        self.assertIn("headroom", self.hints("run", small))
        self.assertNotIn("headroom", self.hints("run", small + "host: {pfc: {priorities: none}}\n")) # hosts do not obey
        slow = (single + "devices: [{match: host-0, host: {drain_rate: 50Gbps, rx_buffer: 21KB, rx_xoff: 20KB, rx_xon: 10KB}}]\n"
                "workload: [{kind: flow, src: host-1, dst: host-0, size: 200KB}]\n")
        self.assertIn("headroom", self.hints("run", slow))
        self.assertNotIn("headroom", self.hints("run", slow, "--set", "switch.pfc.priorities=none"))
        self.assertNotIn("headroom", self.hints("run", slow, "--set", "workload.0.priority=1")) # lossy at the host

    def test_ideal_host(self):
        text = LEAVES.format(spines=4) + INCAST
        self.assertIn("ideal", self.hints("run", text))
        for key in ("processing", "work_request", "work_request_qp"):
            self.assertNotIn("ideal", self.hints("run", text, "--set", f"host.{key}=1us"))

    def test_other_devices(self):
        """What entries of devices have set is not denied."""
        text = LEAVES.format(spines=4) + INCAST + LOSSY
        devices = "devices: [{match: 'leaf-*', switch: {aqm: wred}}, {match: host-1, host: {processing: 500ns}}]\n"
        self.assertIn("phase", self.hints("run", text))
        self.assertNotIn("phase", self.hints("run", text + devices))  # only leaves drop
        self.assertNotIn("phase", self.hints("check", text + "devices: [{match: '*-?', switch: {aqm: wred}}]\n"))
        self.assertNotIn("ideal", self.hints("run", text + devices))

    def test_reasons_of_a_lone_flow(self):
        text = LEAVES.format(spines=1) + "workload: [{kind: flow, src: host-0, dst: host-7, size: 1MB}]\n"
        event = "events: [{{at: {}, link: leaf-0--spine-0, state: up}}]\n"
        for more, reason in (("host: {window: 8KB}\n", "host.window allows 8000 B in flight"),
                             ("host: {window: 8KB, cc: dcqcn}\n", "host.window allows 8000 B in flight"),  # there is no CNP
                             ("host: {window: 8KB}\n" + event.format("1s"), "host.window allows 8000 B in flight"),
                             ("host: {window: 8KB}\n" + event.format("1us"), "links failed or changed (events); host.window allows 8000 B in flight"),
                             ("host: {window: 2MB, cc: swift}\n", "host.cc swift keeps the flow below the line rate part of the time")):
            lines = [line for line in self.weft("run", text + more, "--quiet").stdout.splitlines() if line.startswith("alone  ")]
            self.assertEqual([line.split(": ", 1)[1] for line in lines], [reason], more)

    def test_what_came_nearest(self):
        """An idle mechanism of two kinds of boxes: the depth shown is of what its name says."""
        text = ("topology: {kind: dsf_region, zones: 2, rdsws: 2, rails: 1, virtual_devices: 1, fdsws: 2, sdsws: 2, hosts_per_rdsw: 2, edsws: 2, "
                "edge_fdsws: 2, edsw_superspines: 1, superspine_links: 1, superspine_groups: 1}\n"
                "workload: [{kind: incast, sources: '*', dst: host-1, size: 1MB}]\nswitch: {aqm: {kind: wred, min: 90MB, max: 99MB}}\n")
        shown = self.weft("run", text, "--quiet").stdout
        self.assertRegex(shown, "idle   ECN: no packet marked or dropped by AQM; deepest queue [0-9.]+MB of 90MB\n")

    def test_one_seed(self):
        text = LEAVES.format(spines=4) + INCAST.replace("host-1..3", "host-4..7")
        single = "topology: {kind: single, hosts: 4}\n" + INCAST
        self.assertIn("seed", self.hints("run", text))
        self.assertIn("seed", self.hints("compare", text))
        self.assertNotIn("seed", self.hints("check", text))
        self.assertNotIn("seed", self.hints("compare", text, "--seeds", "1..2"))
        self.assertNotIn("seed", self.hints("run", single))  # nothing is drawn

    def test_where_they_are_printed(self):
        text = LEAVES.format(spines=1) + INCAST
        plain = self.weft("run", text)
        self.assertNotIn("hint", plain.stdout)
        self.assertEqual(self.hints("run", text, "--quiet"), self.hints("run", text))
        for option in ("--no-hints", "--json"):
            self.assertNotIn("hint", self.weft("run", text, option).stderr)
        json.loads(self.weft("compare", text, "--json").stdout)
        for options in (["--csv"], ["--no-hints"], ["--json"]):
            self.assertNotIn("hint", self.weft("compare", text, *options).stderr)
        self.assertNotIn("hint", self.weft("check", text, "--no-hints").stderr)
        shown = subprocess.run(["sh", "-c", f'"{WEFT}" run s.yaml 2>&1'], capture_output=True, text=True, cwd=self.at).stdout.splitlines()
        first = next(i for i, line in enumerate(shown) if line.startswith("weft: hint"))
        self.assertTrue(all(line.startswith("weft: hint") for line in shown[first:]), shown)

    def test_an_empty_workload_is_reported(self):
        for text in ("topology: single\n", "topology: single\nrun: {until: 1ms}\n"):
            self.assertIn("weft: s.yaml: the workload is empty: no host sends", self.weft("check", text).stderr)
        self.assertNotIn("empty", self.weft("check", LEAVES.format(spines=1) + INCAST).stderr)


if __name__ == "__main__":
    unittest.main()
