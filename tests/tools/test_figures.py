#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of the studies: each is described, kept and shown, and what is kept can be drawn."""
import contextlib
import csv
import importlib.machinery
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from functools import lru_cache
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


DRAWN = {name: figure for name, figure in FIGURES.items() if figure.get("draw", True)}  # others are tables


def tool():
    loader = importlib.machinery.SourceFileLoader("figures", str(ROOT / "tools/figures"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("figures", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def script(*names):
    done = subprocess.run([ROOT / "tools/figures", "--kept", "--script", WEFT, *names], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


@lru_cache(maxsize=None)
def scripts():
    """What gnuplot is given for each figure."""
    status, text, error = script()
    assert (status, error) == (0, ""), error
    return dict(zip(DRAWN, re.split(r"(?=^set terminal)", re.sub(r"set output '.*'", "", text), flags=re.M)[1:]))


class Figures(unittest.TestCase):
    def test_pages_show_all_that_are_described_and_no_other(self):
        shown = [name for page in STUDIES.glob("*.md") for name in re.findall(r"!\[[^\]]+\]\((\S+)\.svg\)", page.read_text())]
        self.assertEqual(sorted(shown), sorted(DRAWN))
        tables = {name for page in STUDIES.glob("*.md") for name in re.findall(r"<!-- \$ tools/figures table (\S+) -->", page.read_text())}
        self.assertLessEqual(FIGURES.keys() - DRAWN.keys(), tables)

    def test_all_are_kept_with_their_numbers(self):
        kept = {str(file.relative_to(STUDIES)) for file in STUDIES.glob("*/*")}
        self.assertEqual(kept, {f"{name}.csv" for name in FIGURES} | {f"{name}.svg" for name in DRAWN})

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

    def test_rows_of_json_have_what_is_above_them(self):
        told = {"time_ps": 1, "bursts": [{"down": 2, "steps": [{"did": "a", "towards": [3]}, {"did": "b"}]}, {"down": 4, "steps": []}]}
        self.assertEqual(tool().flat(told, ["bursts", "steps"], {}),
                         [{"time_ps": 1, "down": 2, "did": "a"}, {"time_ps": 1, "down": 2, "did": "b"}])

    def points(self, **line):
        return tool().Reader(WEFT, {"name": "line", **line}).points()

    def test_samples_against_time(self):
        ecn = {"scenario": "congestion-avoidance/ecn", "variant": "dcqcn", "sets": ["run.sample_interval=1us"], "table": "series",
               "x_column": "time_ps", "column": "queue_bytes", "scale": 0.001}
        queue = dict(self.points(**ecn, row={"port": "rail-a/Ethernet2/24", "priority": 3}, otherwise=0))
        self.assertAlmostEqual(queue[30], 800, delta=30)  # docs/studies/congestion-avoidance.md: 819 KB at most
        self.assertEqual(queue[100], 0)  # the senders wait for their timers
        self.assertEqual(self.points(**ecn, row={"port": "rail-b/0"}), [])

    def test_events_against_time(self):
        rate = self.points(scenario="congestion-avoidance/ecn", variant="dcqcn", table="events", row={"kind": ["rate_cut", "rate_raised"], "flow": 0},
                           x_column="time_ps", column="value", scale=1e-9, first=[[0, 200]])
        self.assertEqual(rate[0], (0, 200))
        self.assertAlmostEqual(rate[1][0], 23.93, places=2)
        self.assertAlmostEqual(rate[1][1], 101.6, places=1)
        cuts = self.points(scenario="congestion-avoidance/ecn", variant="dcqcn", table="events", row={"kind": "rate_cut", "flow": 0}, x_column="time_ps")
        self.assertEqual([n for _, n in cuts], list(range(1, len(cuts) + 1)))

    def test_rows_of_the_control_plane(self):
        left = {"scenario": "dsf/input_balance", "control": "capacities", "column": "links", "otherwise": 8}
        reader = tool().Reader(WEFT, {**left, "row": {"towards": "rdsw-3", "cluster": 1}})
        self.assertEqual((reader.at("figure-7"), reader.at("figure-11")), (4, 7))
        self.assertEqual(tool().Reader(WEFT, {**left, "row": {"towards": "rdsw-0", "cluster": 1}}).at("figure-7"), 8)

    def test_sum_of_rows(self):
        lost = {"scenario": "congestion-avoidance/dcbx", "table": "counters.drops", "column": "packets", "only": "old,both",
                "row": {"reason": ["headroom_exhausted", "out_of_order"]}}
        self.assertEqual(tool().Reader(WEFT, {**lost, "of_rows": "sum"}).at("old"), 19516)  # as docs/studies/congestion-avoidance.md
        self.assertLess(tool().Reader(WEFT, lost).at("old"), 19516)
        self.assertIsNone(tool().Reader(WEFT, lost).at("ieee"))

    def test_over_seeds_and_less_a_number(self):
        flow = {"scenario": "congestion-avoidance/cnp_queue", "row": {"name": "back"}, "column": "fct_ps_max", "variant": "queue-7"}
        each = [tool().Reader(WEFT, {**flow, "seeds": [seed]}).at("queue-7") for seed in (1, 2, 3)]
        self.assertGreater(max(each), min(each))
        over = {word: tool().Reader(WEFT, {**flow, "seeds": [1, 2, 3], "over_seeds": word}).at("queue-7") for word in tool().OVER_SEEDS}
        self.assertEqual((over["least"], over["median"], over["most"]), tuple(sorted(each)))
        self.assertAlmostEqual(over["mean"], sum(each) / 3)
        self.assertAlmostEqual(tool().height(WEFT, {**flow, "minus": 1.5}), each[0] - 1.5)
        self.assertAlmostEqual(tool().height(WEFT, {**flow, "minus": "queue-7", "scale": 2}), 0)

    def test_estimates_by_network(self):
        bar = {"estimate": True, "scenario": "dsf/opponents", "variant": "all-reduce-16MiB/{}", "of": "clos-1", "network": "clos", "sets": ["workload.0.size=1MiB"],
               "by_network": {"clos": ["topology.leaves=8"]}}
        estimate, low, high = (tool().height(WEFT, {**bar, "column": f"{column}_ps"}) for column in ("makespan", "low", "high"))
        self.assertTrue(low < estimate < high)
        self.assertLess(estimate, tool().height(WEFT, {**bar, "column": "makespan_ps", "by_network": {"clos": []}}))

    def test_a_table_shows_intervals(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as told:
            own = tool()
            own.STUDIES = Path(folder)
            (own.STUDIES / "t.csv").write_text("bar,A,\"A, low\",\"A, high\",B\nx,1.25,1,2,3\n")
            own.print_table("t")
        self.assertEqual(told.getvalue(), "| | A | B |\n|---|---|---|\n| x | 1.2 (1 to 2) | 3.0 |\n")

    def test_a_bar_may_be_a_number_of_its_group(self):
        self.assertEqual(tool().height(WEFT, {"name": "k = 2", "given": "booksim", "booksim": 120.4}), 120.4)
        self.assertIsNone(tool().height(WEFT, {"name": "k = 3", "given": "booksim"}))

    def test_a_line_goes_on_where_it_has_no_point(self):
        self.assertEqual(tool().data_of([["1", "5", ""], ["2", "", "6"], ["3", "7", "8"]], 3, False),
                         ["$d2 << EOD", "1 5", "3 7", "EOD", "$d3 << EOD", "2 6", "3 8", "EOD"])

    def test_lines_differ_without_their_colours(self):
        for name, figure in DRAWN.items():
            if "bars" in figure:
                self.assertLessEqual(len(figure["lines"]), len(tool().PATTERNS), name)
                continue
            looks = re.findall(r"^plot (.*)", scripts()[name], flags=re.M)[0].split(", ")
            drawn = [re.sub(r" lc rgb '[^']*'| title .*|^\$d\d+ using 1:2 ", "", look) for look in looks if look.startswith("$d")]
            self.assertEqual(len(set(drawn)), len(drawn), name)

    def test_no_such_figure(self):
        status, _, error = script("dsf/nothing")
        self.assertEqual(status, 1)
        self.assertIn("figures: dsf/nothing: expected one of aquila, ", error)

    def test_no_such_option(self):
        self.assertEqual(script("--drawn")[0], 1)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_what_is_kept_can_be_drawn(self):
        self.assertEqual(len(scripts()), len(DRAWN))
        for name, one in scripts().items():
            with self.subTest(figure=name):
                done = subprocess.run(["gnuplot", "-"], input=one, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("</svg>", done.stdout)


if __name__ == "__main__":
    unittest.main()
