#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of the studies: each is described, kept and shown, and what is kept can be drawn."""
import csv
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    sys.exit(77)

ROOT = Path(os.environ["WEFT_ROOT"])
WEFT = os.environ["WEFT"]
STUDIES = ROOT / "docs" / "studies"
FIGURES = {f"{study}/{name}": figure for study, of in yaml.safe_load((STUDIES / "figures.yaml").read_text()).items()
           for name, figure in of.items()}


def script(*names):
    done = subprocess.run([ROOT / "tools/figures", "--kept", "--script", WEFT, *names], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class Figures(unittest.TestCase):
    def test_pages_show_all_that_are_described_and_no_other(self):
        shown = [name for page in STUDIES.glob("*.md") for name in re.findall(r"!\[[^\]]+\]\((\S+)\.svg\)", page.read_text())]
        self.assertEqual(sorted(shown), sorted(FIGURES))

    def test_all_are_kept_with_their_numbers(self):
        kept = {str(file.relative_to(STUDIES)) for file in STUDIES.glob("*/*")}
        self.assertEqual(kept, {f"{name}.{kind}" for name in FIGURES for kind in ("svg", "csv")})

    def test_csv_files_have_the_lines_that_are_described(self):
        for name, figure in FIGURES.items():
            with self.subTest(figure=name), open(STUDIES / f"{name}.csv", encoding="utf-8", newline="") as file:
                head, *rows = csv.reader(file)
                self.assertEqual(head[1:], [line["name"] for line in figure["lines"] if "formula" not in line])
                self.assertGreater(len(rows), 1)
                if "bars" in figure:
                    self.assertEqual([row[0] for row in rows], [group["name"] for group in figure["bars"]])

    def test_scenarios_are_there(self):
        for name, figure in FIGURES.items():
            for part in [figure, *figure["lines"], *figure.get("bars", [])]:
                if "scenario" in part:
                    self.assertTrue((ROOT / f"scenarios/{part['scenario']}.yaml").exists(), name)

    def test_no_such_figure(self):
        status, _, error = script("dsf/nothing")
        self.assertEqual(status, 1)
        self.assertIn("figures: dsf/nothing: expected one of aquila, ", error)

    def test_no_such_option(self):
        self.assertEqual(script("--drawn")[0], 1)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_what_is_kept_can_be_drawn(self):
        for name in FIGURES:
            with self.subTest(figure=name):
                status, text, error = script(name)
                self.assertEqual((status, error), (0, ""))
                text = re.sub(r"set output '.*'", "", text)
                done = subprocess.run(["gnuplot", "-"], input=text, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("</svg>", done.stdout)


if __name__ == "__main__":
    unittest.main()
