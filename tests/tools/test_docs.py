#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documents show is what the program does."""
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(os.environ["WEFT_ROOT"])
WEFT = os.environ["WEFT"]
# What no two runs share: times of the machine.
MACHINE = re.compile(r"in \S+ of wall time|\S+ \S+ per CPU second")


def weft(folder, *arguments):
    done = subprocess.run([WEFT, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, MACHINE.sub("", done.stdout).strip(), done.stderr.strip()


class Readme(unittest.TestCase):
    def test_first_scenario(self):
        text = (ROOT / "README.md").read_text()
        scenario, shown, errors = re.search(
            r"```yaml\n(.*?)```.*?```\n(flow 10 .*?)```.*?```\n(weft: .*?)```", text, re.DOTALL).groups()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "first.yaml"
            file.write_text(scenario)
            self.assertEqual(weft(folder, "run", "first.yaml", "--out", "first", "--quiet")[0], 0)
            self.assertEqual(weft(folder, "why", "first", "10", "--quiet"), (0, shown.strip(), ""))
            file.write_text(scenario.replace("xoff:", "xof:").replace("700KB", "700"))
            self.assertEqual(weft(folder, "run", "first.yaml"), (2, "", errors.strip()))


class Scenario(unittest.TestCase):
    def test_every_section_is_in_the_table(self):
        page = (ROOT / "docs/scenario.md").read_text()
        status, schema, _ = weft(ROOT, "models", "--json")
        self.assertEqual(status, 0)
        keys = json.loads(schema)["properties"]
        self.assertGreater(len(keys), 20)
        for key in keys:
            with self.subTest(key=key):
                self.assertRegex(page, rf"(?m)^\| [^|]*`{key}`")

    def test_an_editor_accepts_the_book(self):
        validator = jsonschema.Draft202012Validator(json.loads(weft(ROOT, "models", "--json")[1]))
        plane = {"kind": "planes", "planes": 2, "plane": {"kind": "single"}}
        for valid, scenario in [(True, {"topology": plane}), (True, {"base": "a.yaml", "run.until": "1ms"}),
                                (True, {"variants": {"a": {"base": "a.yaml"}, "b": {"base": "b.yaml"}}, "run.until": "1ms"}),
                                (False, {"variants": {"a": {"base": "a.yaml"}, "b": {"topology": plane}}, "run.until": "1ms"}),
                                (False, {"topology": plane, "run.until": "1ms"}), (False, {"base": "a.yaml", "rum": {}})]:
            self.assertEqual(validator.is_valid(scenario), valid, scenario)
        for path in sorted((ROOT / "scenarios").glob("*/*.yaml")):
            with self.subTest(scenario=path.name):
                validator.validate(yaml.safe_load(path.read_text()))

    def test_classes_of_hardware(self):
        example = re.search(r"```yaml\n(.*?)```", (ROOT / "docs/hardware-classes.md").read_text(), re.DOTALL).group(1)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "s.yaml").write_text(
                "topology: {kind: leaf_spine, leaves: 2, spines: 8, hosts_per_leaf: 8, rate: 400Gbps}\n" + example)
            self.assertEqual(weft(folder, "check", "s.yaml")[::2], (0, ""))


class ExitStatus(unittest.TestCase):
    """docs/cli-options.md: 1 if the machine failed."""

    def test_standard_output_that_is_full(self):
        scenario = ROOT / "scenarios/foundation/headroom.yaml"
        for command in (["run", scenario, "--quiet"], ["compare", scenario, "--json", "--quiet"],
                        ["verify", scenario, "--quiet"], ["check", scenario], ["topo", scenario], ["models"],
                        ["plan", "pfc", scenario], ["plan", "pfc", scenario, "--json"], ["--help"], ["--version"]):
            with self.subTest(command=command), open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([WEFT, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn("weft: cannot write to standard output: No space left on device\n", done.stderr)


class Consoles(unittest.TestCase):
    """```console blocks: after each line "$ command" stands what it prints. They run in a folder that has scenarios/,
    one a page, so that a block may use what an earlier one has written."""

    def assert_shown(self, page, folder):
        for name in ("docs", "examples", "scenarios", "tests", "tools", "python"):
            (Path(folder) / name).symlink_to(ROOT / name)
        blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.MULTILINE):
            done = subprocess.run(command.replace("build/weft", shlex.quote(WEFT)), shell=True, cwd=folder,
                                  capture_output=True, text=True, check=False)
            with self.subTest(page=page.name, command=command):
                self.assertEqual(done.stdout.replace(f"{ROOT}/", "").rstrip(), shown.rstrip())
        self.assert_answered(page, folder)
        return len(blocks)

    def assert_answered(self, page, folder):
        """Between <!-- $ tools/NAME ... --> and <!-- end -->: what the tool makes of what the blocks have written."""
        for command, shown in re.findall(r"<!-- \$ (tools/\w+ .*) -->\n((?:.*\n)*?)<!-- end -->", page.read_text()):
            done = subprocess.run(shlex.split(command), cwd=folder, capture_output=True, text=True, check=False)
            with self.subTest(page=page.name, command=command):
                self.assertEqual((done.returncode, done.stdout.strip()), (0, shown.strip()))

    long = False
    # Two thirds of the time of all pages: for the long tests.
    LONG = ("choosing.md", "goodput.md", "transports.md", "aquila-messages.md", "aquila-clocks.md", "aquila-control.md",
            "placement.md")

    def test_they_print_that(self):
        blocks = 0
        for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
            if (page.name in self.LONG) != self.long:
                continue
            with tempfile.TemporaryDirectory() as folder:
                blocks += self.assert_shown(page, folder)
        self.assertGreater(blocks, 0)


class Generated(unittest.TestCase):
    """Between <!-- $ weft COMMAND --> and <!-- end --> stands what the command prints; `make readme` writes it."""

    def test_it_is_what_the_program_prints(self):
        found = 0
        for page in ROOT.glob("docs/**/*.md"):
            for command, shown in re.findall(r"<!-- \$ weft (.*) -->\n((?:.*\n)*?)<!-- end -->", page.read_text()):
                with self.subTest(page=page.name, command=command):
                    status, printed, _ = weft(ROOT, *shlex.split(command))
                    self.assertEqual((status, printed), (0, shown.strip()))
                found += 1
        self.assertGreater(found, 0)


class Links(unittest.TestCase):
    """Links between pages lead to a file, and to a heading of it."""

    @staticmethod
    def anchors(page):
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}

    def test_they_lead_somewhere(self):
        links = 0
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]:
            text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"\w+:", target):
                    continue
                links += 1
                file, _, anchor = target.partition("#")
                to = (page.parent / file).resolve() if file else page
                with self.subTest(page=page.name, link=target):
                    self.assertTrue(to.exists())
                    if anchor and to.suffix == ".md":
                        self.assertIn(anchor, self.anchors(to))
        self.assertGreater(links, 100)

    def test_files_that_the_architecture_names(self):
        text = (ROOT / "ARCHITECTURE.md").read_text()
        self.assertLessEqual(len(text.splitlines()), 90)
        files = re.findall(r"`(src/[\w/]+\.\w+)`", text)
        self.assertGreater(len(files), 30)
        for file in files:
            self.assertTrue((ROOT / file).exists(), file)


class Pages(unittest.TestCase):
    """A page can be read in one go: 1500 words beside what it shows of programs and files, cells of tables of 200 characters."""
    # Of one piece by what they are: what commands write, what changed.
    LONG = {"docs/validation.md", "docs/hardware.md", "docs/choosing.md", "CHANGELOG.md"}

    @staticmethod
    def prose(page):
        return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)

    def test_pages_are_short(self):
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
            name = str(page.relative_to(ROOT))
            if name in self.LONG or name.startswith("docs/results/"):
                continue
            with self.subTest(page=name):
                self.assertLessEqual(len(self.prose(page).split()), 1500)

    def test_cells_are_short(self):
        cells = 0
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]:
            for row in re.findall(r"^\|.*\|$", self.prose(page), re.MULTILINE):
                for cell in re.split(r"(?<!\\)\|", row.strip("|")):
                    cells += 1
                    with self.subTest(page=page.name, cell=cell):
                        self.assertLessEqual(len(cell.strip()), 200)
        self.assertGreater(cells, 1000)


class Results(unittest.TestCase):
    def test_every_table_is_on_one_page(self):
        _, listed, _ = weft(ROOT, "models", "results")
        of_runs, _, answers = listed.partition("Answers of other commands")
        tables = re.findall(r"^  (\S+) ", "\n" + "  " + of_runs, re.MULTILINE)
        written = [name for page in ROOT.glob("docs/results/*.md")
                   for name in re.findall(r"^<!-- \$ weft models --markdown (\w+) -->$", page.read_text(), re.MULTILINE)]
        named = re.findall(r"^  (\w+) ", answers, re.MULTILINE)
        self.assertGreater(len(named), 20)
        self.assertEqual(sorted(set(named) & set(written)), sorted(named))
        self.assertEqual(len(written), len(set(written)))
        shown = [name for page in ROOT.glob("docs/results/*.md")
                 for name in re.findall(r"^## `(\S+)`", page.read_text(), re.MULTILINE)]
        self.assertGreater(len(tables), 40)
        self.assertEqual(sorted(shown), sorted(tables))

    def test_no_such_family(self):
        status, _, error = weft(ROOT, "models", "--markdown", "flow")
        self.assertEqual(status, 2)
        self.assertIn("flows", error)


class Study(unittest.TestCase):
    def test_first_pauses(self):
        text = "".join(page.read_text() for page in (ROOT / "docs/studies").glob("incast*.md"))
        shown = re.findall(r"^\| `(\S+)` \|.*\| (\S+) us \|$", text, re.MULTILINE)
        self.assertGreater(len(shown), 0)
        with tempfile.TemporaryDirectory() as folder:
            scenario = str(ROOT / "scenarios/foundation/incast.yaml")
            weft(folder, "run", scenario, "--variant", "pfc", "--out", "out", "--set", "run.sample_interval=500ns")
            results = sqlite3.connect(Path(folder) / "out/results.sqlite")
            for port, first in shown:
                (time_us,) = results.execute("select min(time_ps) / 1e6 from series join ports using (run, port) "
                                             "where paused and name = ?", (port,)).fetchone()
                self.assertEqual(f"{time_us:.1f}", first, port)
            results.close()


class Stories(unittest.TestCase):
    """Rows that end in a time name an event, `kind` at `port`, of the scenario and variant last named above them."""

    def test_events_are_where_and_when_the_tables_say(self):
        pages = sorted((ROOT / "docs/studies").glob("congestion-avoidance*.md"))
        text = "\n".join(page.read_text() for page in pages)
        results, chosen, rows = {}, None, 0
        with tempfile.TemporaryDirectory() as folder:
            for line in text.splitlines():
                if named := not line.startswith("|") and re.search(r"`(\w+)\.yaml`(?:, variant `(\S+)`)?", line):
                    chosen = named.groups(default="")
                    if chosen[0] not in results:
                        out = str(Path(folder) / chosen[0])
                        weft(ROOT, "compare", f"scenarios/congestion-avoidance/{chosen[0]}.yaml", "--out", out)
                        results[chosen[0]] = sqlite3.connect(f"{out}/results.sqlite")
                row = re.match(r"\|.*`(\w+)` at `(\S+?)`(?:,? (?:after )?([\d,]+) (?:B|quanta|ps)\b)?.*\| (\S+) \|$", line)
                if not row:
                    continue
                kind, port, value, time = row.groups()
                found = results[chosen[0]].execute("select printf('%.2f', us), value from story where variant = ? "
                                                   "and kind = ? and port = ?", (chosen[1], kind, port)).fetchall()
                values = [v for us, v in found if us == time]
                with self.subTest(line=line, found=found):
                    self.assertTrue(values)
                    self.assertTrue(not value or int(value.replace(",", "")) in values)
                rows += 1
            for connection in results.values():
                connection.close()
        self.assertGreater(rows, 40)


class Headroom(unittest.TestCase):
    """A scenario has the PFC headroom that `weft plan pfc` asks for, or says which time to react its source has."""

    long = False

    def test_scenarios_have_what_the_plan_asks_for(self):
        checked = 0
        for file in sorted(ROOT.glob("scenarios/*/*.yaml")):
            if ("# test: long" in file.read_text()) != self.long:
                continue
            printed = subprocess.run([WEFT, "plan", "pfc", file, "--json"], stdout=subprocess.PIPE, check=True).stdout
            for plan in json.loads(printed)["variants"]:
                for line in plan["lines"]:
                    if not line["lossless"] or line["reaction_ps"] == 0:
                        continue
                    meant = file.name == "two_regions.yaml" and plan["variant"] == "none" # its claim: packets are lost
                    with self.subTest(file=file.name, variant=plan["variant"], to=line["to"]):
                        self.assertTrue(line["enough"] or meant)
                    checked += 1
        self.assertGreater(checked, 50)


class Validation(unittest.TestCase):
    """docs/validation.md fits the sources, the models and the tests of today; its runs are those of `make validation`."""

    def test_page_is_as_today(self):
        done = subprocess.run([ROOT / "tools/validation", "--check", WEFT], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Hardware(unittest.TestCase):
    """docs/hardware.md: classes and latencies are those of today; its fits are those of `make hardware`."""

    def test_page_is_as_today(self):
        done = subprocess.run([ROOT / "tools/hardware", "--check", WEFT], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_table_is_on_it(self):
        page = (ROOT / "docs/hardware.md").read_text()
        for table in (ROOT / "tests/data/nccl").glob("*.csv"):
            self.assertIn(f"[{table.stem}]", page)


class Commands(unittest.TestCase):
    def test_every_command_is_documented(self):
        commands = re.findall(r"^WEFT_COMMAND\((\w+),", (ROOT / "cli/commands.def").read_text(), re.MULTILINE)
        documented = [name.replace("-", "_") for name in
                      re.findall(r"^\| `weft ([\w-]+)", (ROOT / "docs/cli.md").read_text(), re.MULTILINE)]
        self.assertEqual(sorted(documented), sorted(commands))

    def test_links_lead_somewhere(self):
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
            for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")


if __name__ == "__main__":
    Consoles.long = Headroom.long = "long" in sys.argv[1:]
    sys.argv = [a for a in sys.argv if a != "long"]
    unittest.main(defaultTest=("Consoles", "Headroom") if Consoles.long else None)
