#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make demo` prints: short, and each sentence says what the rows say."""
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(os.environ["WEFT_ROOT"])
SCENARIO = ROOT / "scenarios" / "foundation" / "demo.yaml"


def weft(*words):
    return subprocess.run([os.environ["WEFT"], *map(str, words)], check=True, capture_output=True, text=True, timeout=300).stdout


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = weft("compare", SCENARIO, "--brief", "--no-hints")
        cls.runs = {run["variant"]: run for run in json.loads(weft("compare", SCENARIO, "--json"))["variants"]}

    def changes(self, variant):
        """The change of the mean of each group in each case, as a part of pfc's."""
        return {f"{name} ({case})": group["fct_ps"]["mean"] / self.runs[f"{case}/pfc"]["groups"][name]["fct_ps"]["mean"] - 1
                for case in ("5MB", "80MB") for name, group in self.runs[f"{case}/{variant}"]["groups"].items()}

    def test_short(self):
        setup, what_to_try, page = 2, 4, 2
        self.assertLessEqual(len(self.text.splitlines()) + setup + what_to_try + page, 40)

    def test_nothing_finished(self):
        text = weft("compare", SCENARIO, "--brief", "--no-hints", "--set", "run.until=1us", "--variant", "5MB/pfc,5MB/pfc+sfc")
        self.assertIn("pfc+sfc against pfc: no completion time is in both.", text)
        self.assertIn("pfc: no pauses, marks or SFC messages", text)

    def test_sentences_are_of_the_rows(self):
        for variant in ("pfc+dcqcn", "pfc+sfc"):
            said = re.search(rf"^{re.escape(variant)} against pfc: (\d+) of (\d+) completion times (?:is|are) shorter, (.+) most, by (\d+)%; "
                             r"(\d+) (?:is|are) longer, (.+) most, by (\d+)%\.$", self.text, re.M)
            changes = self.changes(variant)
            best, worst = min(changes, key=changes.get), max(changes, key=changes.get)
            self.assertEqual(said.groups(), (
                str(sum(c < 0 for c in changes.values())), str(len(changes)), best, f"{-100 * changes[best]:.0f}",
                str(sum(c > 0 for c in changes.values())), worst, f"{100 * changes[worst]:.0f}"))

    def test_what_acted_is_of_the_counters(self):
        why = re.search(r"^Why: (.*)\.$", self.text, re.M)[1]
        for variant, name, counter in (("pfc", "PFC pause frames", "pfc_xoff_frames"), ("pfc+dcqcn", "ECN marks", "ecn_marked"),
                                       ("pfc+dcqcn", "CNPs", "cnp")):
            of = next(part for part in why.split("; ") if part.startswith(variant + ": "))
            self.assertIn(f"{name} {self.runs['80MB/' + variant]['counters'][counter]}", of)


if __name__ == "__main__":
    unittest.main()
