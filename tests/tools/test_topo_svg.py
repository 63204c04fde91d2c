#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft topo --links, --svg and --report: well-formed, everything of a small network, counts that add up in a folded one."""
import json
import os
import re
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

WEFT = os.environ["WEFT"]
SVG = "{http://www.w3.org/2000/svg}"


def weft(*arguments, text, status=0):
    """What is said: standard output of what is printed, else standard error."""
    done = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, timeout=120, input=text)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout or done.stderr


class Drawing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "t.svg"

    def tearDown(self):
        self.folder.cleanup()

    def draw(self, topology):
        weft("topo", "-", "--svg", self.file, "--force", text=topology)
        return ET.parse(self.file).getroot()

    @staticmethod
    def titles(root, tag):
        return [e.find(SVG + "title").text for e in root.iter(SVG + tag)]

    def test_small_networks_are_drawn_whole(self):
        root = self.draw("topology: {kind: leaf_spine, leaves: 8, spines: 4, hosts_per_leaf: 8, parallel: 2}")
        nodes = self.titles(root, "rect")
        self.assertEqual(sorted(nodes), sorted([f"host-{i}" for i in range(64)] + [f"leaf-{i}" for i in range(8)] +
                                               [f"spine-{i}" for i in range(4)]))
        links = self.titles(root, "path")
        self.assertEqual(len(links), 64 + 32)
        self.assertIn("spine-3 and leaf-7: 2 links of 200Gbps", links)
        for e in root.iter(SVG + "rect"):
            x, y, w = (float(e.get(k)) for k in ("x", "y", "width"))
            self.assertTrue(0 <= x and x + w <= 1600 and 0 <= y <= 872)
        rows = {}
        for e in root.iter(SVG + "rect"):
            rows.setdefault(e.get("y"), []).append((float(e.get("x")), float(e.get("width"))))
        for row in rows.values():
            row.sort()
            for (x, w), (after, _) in zip(row, row[1:]):
                self.assertLessEqual(x + w, after)

    def check_folded(self, topology, boxes_max):
        root = self.draw(topology)
        hosts, switches, links = map(int, re.search(r"(\d+) hosts, (\d+) switches, (\d+) links",
                                                    root.find(SVG + "text").text).groups())
        drawn = {}
        for text in root.iter(SVG + "text"):
            if text.get("class") == "layer":
                n, layer = re.match(r"(\d+) x (\S+)", text.text).groups()
                drawn[layer] = int(n)
        self.assertEqual(sum(drawn.values()), hosts + switches)
        self.assertEqual(drawn["host"], hosts)
        self.assertEqual(sum(int(re.search(r": (\d+) link", t).group(1)) for t in self.titles(root, "path")), links)
        self.assertLess(len({(e.get("x"), e.get("y")) for e in root.iter(SVG + "rect")}), boxes_max)
        return root

    def test_large_networks_are_folded(self):
        self.check_folded("topology: clos3", 60)
        self.check_folded("topology: dragonfly", 400)
        self.check_folded("topology: {kind: leaf_spine, leaves: 200, spines: 100, hosts_per_leaf: 4}", 20)

    def test_planes_stand_side_by_side(self):
        root = self.check_folded("topology: {kind: dsf_l1_zone, planes: 2}", 60)
        names = self.titles(root, "rect")
        self.assertTrue([n for n in names if n.startswith("plane-1-rdsw-0 to ")])
        self.assertTrue([n for n in names if n.startswith("plane-0-rdsw-0 to ")])

    def test_eighteen_thousand_hosts(self):
        begun = time.monotonic()
        self.check_folded("topology: dsf_l2_zone", 60)
        self.assertLess(time.monotonic() - begun, 60)

    def test_unlike_nodes_are_told_apart(self):
        # 100 leaves under 2 spines, one leaf by half the links: alike are 99.
        nodes = ["{name: s0, role: switch}", "{name: s1, role: switch}"]
        links = []
        for i in range(100):
            nodes += [f"{{name: l{i}, role: switch}}", f"{{name: h{i}, role: host}}"]
            links += [f"{{from: l{i}, to: h{i}}}"] + [f"{{from: s{k}, to: l{i}}}" for k in range(1 if i == 50 else 2)]
        root = self.draw(f"topology: {{kind: list, nodes: [{', '.join(nodes)}], links: [{', '.join(links)}]}}")
        counts = [t.text for t in root.iter(SVG + "text") if t.get("class") is None and t.text]
        self.assertTrue([t for t in counts if t.startswith("99")], counts)

    def test_report(self):
        page = Path(self.folder.name) / "t.html"
        weft("topo", "-", "--report", page, text='name: "<b>&x"\ntopology: {kind: single, hosts: 3}')
        text = page.read_text()
        self.assertIn("&lt;b>&amp;x", text)
        self.assertNotIn("<b>", text)
        self.assertIn("<svg", text)
        self.assertIn("bisection", text)
        self.assertNotRegex(text, r"(src|href)=")  # it loads nothing

    def test_links_by_pattern(self):
        """Those of an event with the same name; one link by either of its ports; what matches nothing is refused."""
        network = "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 2, rate: 100Gbps, override: [{link: leaf-1/2, rate: 40Gbps, bit_error_rate: 1e-9}]}\n"
        for pattern, links in (("*", 16), ("leaf-*--spine-1", 4), ("spine-0/*,host-3/0", 5), ("leaf-1--spine-0", 1), ("spine-0/1", 1)):
            events = json.loads(weft("topo", "-", "--json", text=network + f'events: [{{at: 1ms, link: "{pattern}", state: down}}]\n'))["events"]
            lines = weft("topo", "-", "--links", pattern, text=network).splitlines()
            self.assertEqual((len(lines), [line.split()[0] for line in lines]), (links, [event["link"] for event in events]))
        self.assertEqual(lines[0].split(), ["leaf-1/2", "spine-0/1", "40Gbps", "150ns", "bit", "error", "rate", "1e-09"])
        self.assertIn("no link 'leaf-9/0'", weft("topo", "-", "--links", "leaf-9/0", text=network, status=2))
        event = network + "\nevents: [{at: 1us, link: leaf-9/0, state: down}]\n"  # its names are what is looked for
        self.assertEqual(weft("topo", "-", "--links", "*", text=event), weft("topo", "-", "--links", "*", text=network))
        self.assertIn("it is text", weft("topo", "-", "--links", "*", "--json", text=network, status=2))

    def test_what_is_refused(self):
        said = weft("topo", "-", "--svg", Path(self.folder.name) / "no" / "t.svg", text="topology: single", status=2)
        self.assertIn("--svg", said)
        weft("topo", "-", "--svg", self.file, text="topology: {kind: single, hosts: 1}", status=2)
        self.assertFalse(self.file.exists())
        self.file.write_text("mine")
        for option in ("--svg", "--report"):
            said = weft("topo", "-", option, self.file, text="topology: single", status=2)
            self.assertIn(f"{option}: '{self.file}' exists; expected a name that is free, or --force", said)
        self.assertEqual(self.file.read_text(), "mine")


if __name__ == "__main__":
    unittest.main(verbosity=2)
