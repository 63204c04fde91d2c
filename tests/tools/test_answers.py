#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every answer of weft is rows: the same figures as JSON, CSV and SQLite, and the JSON has the keys that it had before.

usage: test_answers.py               tests $WEFT
       test_answers.py --record FILE  writes the keys that $WEFT prints, and their types

tests/data/answers.json was recorded with weft af706c18, the last version that wrote each JSON by hand. Keys may be added.
What was left out or has another type on purpose stands in DIFFERENCES, and in CHANGELOG.md.
"""
import csv
import functools
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = os.environ.get("WEFT", "build/weft")
ROOT = os.environ.get("WEFT_ROOT", ".")
RECORD = os.path.join(ROOT, "tests/data/answers.json")

SCENARIOS = {
    "small.yaml": """topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 100Gbps}
switch:
  buffer: {kind: static, size: 1MiB, xoff: 100KiB, xon: 80KiB}
  aqm: {kind: wred, min: 100KB, max: 400KB}
  pfc: {}
host: {cc: dcqcn}
run: {sample_interval: 10us}
workload:
  - {kind: incast, group: incast, sources: "host-[0-5]", dst: host-7, size: 200KB}
  - {kind: flow, group: victims, src: host-1, dst: host-6, size: 100KB}
variants: {base: {}, slow: {host.cc: none}}
""",
    "one.yaml": """topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 100Gbps}
workload: [{kind: permutation, group: p, size: 50KB}]
""",
    "live.yaml": """topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2}
workload: [{kind: flow, src: host-1, dst: host-3, size: 10KB}]
run: {until: 50us}
live: {slow: 100, hosts: {host-0: {dgram: h0.sock, peer: p0.sock}, host-2: {dgram: h2.sock, peer: p2.sock}}}
""",
    "job.yaml": """topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 2, rate: 100Gbps}
workload:
  - {kind: job, group: train, ranks: 8, iterations: 2,
     operations: [{compute: 20us}, {collective: all_reduce_ring, size: 1MB}]}
""",
    "experts.yaml": """topology: {kind: single, hosts: 8}
workload: [{kind: deepep, tokens: 16, server: {gpus: 4}}]
""",
    "two.yaml": """topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2, rate: 100Gbps}
workload:
  - {kind: job, group: red, hosts: "host-0,host-2", operations: [{compute: 20us, collective: send_recv, size: 100KB}]}
  - {kind: job, group: blue, hosts: "host-1,host-3", operations: [{compute: 20us, collective: send_recv, size: 100KB}]}
""",
    "dsf.yaml": """topology: {kind: dsf_l2_zone, zones: 2, rdsws: 4, fdsws: 2, virtual_devices: 1, sdsws: 2, sdsw_lanes: 2, hosts_per_rdsw: 1, rails: 4}
events: [{at: 100us, link: rdsw-3--fdsw-1, state: down}]
workload: [{kind: permutation, size: 50KB}]
""",
    "clique.yaml": """topology: {kind: dragonfly, pods: 3, hosts_per_tin: 1}
workload: [{kind: permutation, size: 50KB}]
""",
    "rma.yaml": """topology: {kind: dragonfly, pods: 2, hosts_per_tin: 1}
workload: [{kind: rma, group: g, verb: read, clients: host-0, servers: host-3, size: 4KB, rate: 100000, duration: 300us}]
""",
    "versus.yaml": """topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 100Gbps}
workload: [{kind: collective, group: c, collective: all_reduce_ring, size: 1MB}]
""",
}
# More that the tables of an answer need to have rows.
SCENARIOS["jobs.yaml"] = """topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}
workload:
- {kind: incast, group: crowd, sources: host-0..4, dst: host-7, size: 300KB}
- {kind: job, group: train, operations: [{compute: 20us, collective: all_reduce_ring, size: 200KB}]}
"""
SCENARIOS["training.yaml"] = """topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4}
workload:
- {kind: job, group: a, server: {gpus: 2}, model: {layers: 8, experts: 4}, plan: {tp: 2, pp: 2, dp: 2, ep: 2}}
- {kind: job, group: b, model: {layers: 8, hidden: 64}, plan: {dp: 4}}
"""
SCENARIOS["nccl.yaml"] = """topology: {kind: single, hosts: 16, rate: 400Gbps}
workload:
- {kind: collective, group: sums, server: {gpus: 8}, collective: nccl, size: 1MiB}
- {kind: collective, group: tokens, share_hosts: on, server: {gpus: 8}, collective: {kind: nccl, function: all_to_all}, size: 1MiB}
"""
# A table of eleven sizes, to 512 KiB: the larger ones take most of the time.
with open(os.path.join(ROOT, "tests/data/nccl/a100_1n_allreduce.csv")) as table:
    SCENARIOS["a100.csv"] = "".join(table.readlines()[:15])
SCENARIOS["exits.yaml"] = f"""base: {os.path.abspath(ROOT)}/scenarios/dsf/region.yaml
events: [{{at: 2s, link: "edsw-0/*", state: down}}]
control: {{events: [{{at: 1s, do: drain, node: rdsw-1}}, {{at: 3s, do: crash, node: edsw-1}}]}}
"""
# Commands that make what others read.
BEFORE = """run small.yaml --variant base --out dir --quiet
run small.yaml --variant slow --out other --quiet
run job.yaml --out jobs --quiet
run rma.yaml --out rma --quiet
run {root}/scenarios/foundation/leaf_spine_victim.yaml --variant pfc --out victim --quiet
"""
# Every command with an answer, by its name in `weft models results`; RECORD has those that af706c18 could answer, by line.
COMMANDS = """decode: decode {root}/examples/import/capture.pcapng
dcbx: dcbx {root}/tests/data/lldpd-dcbx.pcap
dcbx: dcbx {root}/tests/data/lldpd-dcbx.pcap --pfc 3 --willing
plan_pfc: plan pfc --rate 400Gbps --delay 500ns --buffer 1MiB --xoff 900KiB
plan_pfc: plan pfc --rate 400Gbps --delay 500ns --formula sonic
plan_pfc_scenario: plan pfc small.yaml
plan_sfc: plan sfc --rate 100Gbps --delay 1us --processing 500ns --layers 3 --incast 16 --buffer 4MiB
plan_sfc_scenario: plan sfc small.yaml
plan_dsf: plan dsf
plan_dsf_scenario: plan dsf dsf.yaml
hardware_classes: models hardware
hardware_classes: models hardware connectx5
plan_sonic: plan sonic {root}/examples/import/sonic/config_db.json
plan_fabric: plan fabric dsf-l1 roce-e-ecmp --hosts 256
plan_capacity: plan capacity one.yaml --slowdown 3 --load workload.0.size=10KB..1MB:5log --seeds 1..2 --quiet
plan_capacity: plan capacity one.yaml --estimate --slowdown 3 --load workload.0.size=10KB..1MB:5log --seeds 1..2 --quiet
plan_cheapest: plan cheapest versus.yaml --fabrics star,roce-ecmp,aquila --hosts 16 --packets 1 --quiet
plan_advice: plan ecn small.yaml --variant base --run full --quiet
plan_advice: plan dcqcn small.yaml --variant base --run off
plan_advice: plan admission small.yaml --variant base --run off
plan_advice: plan buffers small.yaml --variant base --run off
trace_control: trace-control dsf.yaml
trace_control: trace-control clique.yaml
topo: topo small.yaml
topo: topo dsf.yaml
topo: topo clique.yaml
why: why dir 3
why: why dir --slowest 2
why: why dir --group incast
why: why jobs --job train
why: why rma --rma g
why: why two.yaml --jobs --quiet
estimate: estimate small.yaml --variant base
estimate: estimate job.yaml
fit: fit {root}/tests/data/nccl/h200_1n_allreduce.csv --only launch,inner_ring_ll --hold-out 1/2 --quiet
fit: fit a100.csv --check dgx_a100 --why --quiet
fit: diff {root}/hardware/dgx_a100.yaml a100.csv
advise: advise job.yaml --seeds 1 --quiet
goodput: goodput --gpus 16384,131072 --attachment all --set goodput.months=20
timeline: timeline dir
timeline: timeline dir --all --limit 5
timeline: timeline dir --why host-0/0
timeline: timeline dir --why-not leaf-0/0/1
place: place job.yaml
place: place job.yaml --simulate --quiet
tune: tune small.yaml --variant base --objective incast.fct.mean --over switch.aqm.max=[200KB,400KB] --seeds 1..2 --quiet
tune: tune job.yaml --estimate --objective iteration --over topology.parallel=[1,2] --seeds 1..2 --quiet
workload: workload job.yaml
workload: workload small.yaml --variant base --between rack
workload: workload experts.yaml
live: live live.yaml --quiet --force
nccl: workload nccl.yaml --nccl
training: workload training.yaml --plan
schedule: workload job.yaml --loggops 1000,100,0,0.01,0,0
check: check small.yaml
check: check one.yaml --links
check: check one.yaml --memory
versus: versus versus.yaml --fabrics star,roce-ecmp --hosts 16 --quiet
versus: versus versus.yaml --fabrics star,roce-ecmp --hosts 8,16 --seeds 1..2 --no-why --quiet
diff: diff dir other
compare: compare small.yaml --quiet
sweep: sweep small.yaml --variant base --vary switch.aqm.max=[200KB,400KB] --seeds 1..2 --best incast.fct.mean --quiet
sweep: sweep job.yaml --estimate --vary topology.parallel=[1,2] --quiet
verify: verify {root}/scenarios/foundation/single_switch.yaml --quiet
bench: bench engine --k 4 --runs 1 --threads 1 --quiet
trace_control: trace-control {root}/scenarios/dsf/control_events.yaml
trace_control: trace-control {root}/scenarios/dsf/input_balance.yaml
trace_control: trace-control exits.yaml
trace_control: trace-control {root}/scenarios/aquila/control.yaml --variant small
topo: topo {root}/scenarios/dsf/control_events.yaml
topo: topo {root}/scenarios/foundation/link_failure.yaml
topo: topo {root}/scenarios/aquila/control.yaml --variant small
topo: topo {root}/scenarios/meta-roce/frontend.yaml
why: why jobs.yaml --slowest 2 --quiet
why: why jobs.yaml --job train --quiet
why: why {root}/scenarios/aquila/channels.yaml --rma reads --quiet
timeline: timeline victim
timeline: timeline victim --all
timeline: timeline victim --why host-7/0
timeline: timeline victim --why-not leaf-0/4
dcbx: dcbx {root}/tests/data/lldpd-dcbx.pcap --pfc 3 --apps udp:4791:3
"""
# Answers whose every table must have rows with some of these commands, and the tables that none fills.
FILLED = {"trace_control": set(), "topo": set(), "why": set(), "timeline": set(),
          "dcbx": {"senders.cee", "senders.cee.applications"}}
# The JSON has one of them, the database both.
EITHER = ("story", "events")
UNITS = {"_ps": "ps", "_bytes": "bytes", "_bps": "bit/s", "_s": "s"}
# Tables whose rows are printed one by one, by an option: no row is kept.
STREAMED = {"decode.packets"}
# Their --out writes a folder of runs, and their --csv a table of runs.
OF_RUNS = {"compare", "sweep"}
# A recorded key that is not printed any more, or has another type, by its path: why.
DIFFERENCES = {
    "variants[].config.run.fast_forward_store",  # removed
}
# What is refused before anything is written, and a part of the message.
REFUSED = """timeline dir --out dir/results.sqlite --force: 'dir/results.sqlite' is read, and would be overwritten
diff dir other --out other/results.sqlite --force: is read, and would be overwritten
topo small.yaml --dot --json: --dot: it is text; expected no --json, --csv, --pick or --out
topo small.yaml --paths --out refused.sqlite: --paths: it is text; expected no --json
compare small.yaml --csv --json: --json, --csv and --pick: expected one of them
plan pfc small.yaml --csv lines: expected one of scenario, variants, variants.lines
workload job.yaml --loggops 1,1,1,1,1,1 --csv groups --out refused.sqlite: expected one of schedule, rank_end_ps
topo nothing.yaml --out no/x.sqlite: --out: 'no/x.sqlite' cannot be written: No such file or directory
topo small.yaml --pick hosts.x: "hosts" has no parts
compare small.yaml --pick variants.bas.digest: expected 0 to 1, or a key; did you mean "base"?
compare small.yaml --out refused.sqlite: --out: expected a folder, in which the database gets its own name, not 'refused.sqlite'
sweep one.yaml --out refused.sqlite: --out: expected a folder, in which the database gets its own name
run small.yaml --csv: weft run: --csv: expected TABLE after it
why dir incast: "incast" is a group of flows; expected --group incast, or the number of a flow
sweep job.yaml --vary host.mtu=[1024B,4096B] --metrics jobs.0.iteration --quiet: did you mean "jobs.train.iteration_ps"?
sweep job.yaml --vary host.mtu=[1024B,4096B] --metrics jobs.tran.iteration_ps --quiet: did you mean "jobs.train.iteration_ps"?
topo small.yaml --pick x: expected one of weft, scenario, variant, kind, wiring, hosts, processors, switches, name, bisection,
"""
# A help text is read alone, in SQLite's table meaning or in a search, so it does not begin by pointing at its neighbours.
LEANING = re.compile(r"(its|it|they|them|that|these|of|and|likewise|in all|the same|in words|(how|when|what|where|whether) (it|its|that)|whose)\b")


def weft(folder, arguments):
    return subprocess.run([os.path.abspath(WEFT)] + arguments.split(), cwd=folder, capture_output=True, text=True)


def make_folder(folder):
    for name, text in SCENARIOS.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    for line in BEFORE.splitlines():
        done = weft(folder, line.format(root=os.path.abspath(ROOT)))
        assert not done.returncode, f"weft {line}: {done.stderr}"


def commands():
    for line in COMMANDS.splitlines():
        name, _, arguments = line.partition(": ")
        yield name, arguments, arguments.format(root=os.path.abspath(ROOT))


def kind(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def keys(value, path=""):
    """The paths in a JSON value with the types that stand there: {"a[].b": {"number", "NoneType"}}."""
    found = {path: {kind(value)}} if path else {}
    below = ((f"{path}.{k}" if path else k, v) for k, v in value.items()) if isinstance(value, dict) else \
        ((path + "[]", v) for v in value) if isinstance(value, list) else ()
    for at, v in below:
        for p, kinds in keys(v, at).items():
            found.setdefault(p, set()).update(kinds)
    return found


def record(path):
    recorded = {}
    with tempfile.TemporaryDirectory() as folder:
        make_folder(folder)
        for _, line, arguments in commands():
            done = weft(folder, arguments + " --json")
            try:
                recorded[line] = {p: sorted(k) for p, k in sorted(keys(json.loads(done.stdout)).items())}
            except ValueError:
                print(f"weft {line}: {done.stderr.strip()[:200]}", file=sys.stderr)
    with open(path, "w") as file:
        lines = (f"{json.dumps(line)}: {json.dumps(recorded[line], sort_keys=True)}" for line in sorted(recorded))
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def objects(value, path):
    """All objects at a path of the JSON, through lists and, where `maps` says so, objects by name."""
    for part, maps in path:
        value = [one[part] for one in value if isinstance(one, dict) and one.get(part) is not None]
        value = [one for v in value for one in (v if isinstance(v, list) else v.values() if maps else [v])]
    return value


class Answers(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        make_folder(cls.folder)
        with open(RECORD) as file:
            cls.recorded = json.load(file)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def weft(self, arguments):
        done = weft(self.folder, arguments)
        self.assertIn(done.returncode, (0, 5), f"weft {arguments}: {done.stderr}")
        return done.stdout

    def test_keys(self):
        """Every key that was printed is printed, with its type; null is of any type."""
        for _, line, arguments in commands():
            if line not in self.recorded:
                continue
            now = keys(json.loads(self.weft(arguments + " --json")))
            for path, kinds in self.recorded[line].items():
                if path in DIFFERENCES:
                    continue
                with self.subTest(command=line, path=path):
                    self.assertIn(path, now)
                    self.assertFalse(set(kinds) - now[path] - {"NoneType"} and now[path] - {"NoneType"} - set(kinds),
                                     f"{path}: {kinds}, now {now[path]}")

    def test_refused(self):
        """Options that do not go together, files that are read, tables and figures that are not there."""
        read = [os.path.join(self.folder, name, "results.sqlite") for name in ("dir", "other")]
        before = [Path(path).read_bytes() for path in read]
        for line in REFUSED.splitlines():
            arguments, _, message = line.partition(": ")
            with self.subTest(command=arguments):
                done = weft(self.folder, arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr)
        self.assertEqual([Path(path).read_bytes() for path in read], before)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "refused.sqlite")))

    def test_standard_input(self):
        """A scenario may come by standard input, also where a command reads it again for each of its runs."""
        for _, line, arguments in commands():
            words = arguments.split()
            scenario = next((word for word in words[1:] if word in SCENARIOS and word.endswith(".yaml")), None)
            if scenario and words[0] != "verify":
                words[words.index(scenario)] = "-"
                with self.subTest(command=line), open(os.path.join(self.folder, scenario), "rb") as file:
                    piped = subprocess.run(["sh", "-c", 'cat | "$0" "$@"', os.path.abspath(WEFT), *words],
                                           stdin=file, cwd=self.folder, capture_output=True, text=True)
                    self.assertIn(piped.returncode, (0, 5), piped.stderr)

    def test_claims_of_compare(self):
        """weft compare --csv prints its claims, too, as --json has them."""
        scenario = os.path.abspath(os.path.join(ROOT, "scenarios/foundation/single_switch.yaml"))
        told = json.loads(self.weft(f"compare {scenario} --json --quiet"))["claims"]
        rows = list(csv.DictReader(io.StringIO(self.weft(f"compare {scenario} --csv --table claims --quiet"))))
        self.assertEqual([(row["that"], row["holds"] == "1") for row in rows], [(c["that"], c["holds"]) for c in told])
        values = list(csv.DictReader(io.StringIO(self.weft(f"compare {scenario} --csv --table claims.values --quiet"))))
        self.assertEqual(len(values), sum(len(c["values"]) for c in told))

    def test_help_tells_of_the_database(self):
        """The help of each command with an answer names FILE.sqlite."""
        for command in sorted({line.split()[1] for line in COMMANDS.splitlines()} - {"plan", "compare", "sweep"}):
            self.assertIn("FILE.sqlite", self.weft(f"{command} --help"), command)

    def test_beside_a_file(self):
        """A command that writes a file gives its answer as well, if it is asked for."""
        done = weft(self.folder, "topo small.yaml --svg small.svg --out beside.sqlite --pick hosts")
        self.assertEqual((done.returncode, done.stdout), (0, "8\n"), done.stderr)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "beside.sqlite")))

    def test_all_are_listed(self):
        """Each answer of `weft models results` has a command here, so that a new one is tested."""
        listed = self.weft("models results").partition("Answers of other commands")[2]
        names = re.findall(r"^  (\w+) ", listed, re.M)
        self.assertTrue(names)
        self.assertEqual(sorted(set(names) - {name for name, _, _ in commands()}), [])

    def test_help_is_clear(self):
        """Every column of every answer has a help text that says what it is of, and the documents show no empty one."""
        names = [line.split()[0] for line in self.weft("models results").splitlines() if re.match(r"  \w", line)]
        for name in names:
            for what in re.findall(r"^      (.*)", self.weft(f"models results {name}"), re.M):
                with self.subTest(table=name, help=what):
                    self.assertFalse(LEANING.match(what))
                    self.assertNotRegex(what, r"\b(that|which) it\b")  # the reader does not see what "it" is
        shown = [name for page in Path(ROOT, "docs/results").glob("*.md")
                 for name in re.findall(r"<!-- \$ weft (.*) -->", page.read_text())]
        self.assertTrue(shown)
        for command in shown:
            self.assertNotRegex(self.weft(command), r"(?m)^\|[^|]*\|[^|]*\|\s*\|$", command)

    def test_units(self):
        """The end of a column's name is its unit."""
        for name in sorted({name for name, _, _ in commands()} & self.listed()):
            for table, (_, columns) in self.described(name).items():
                self.assertTrue("." not in table or table.rpartition(".")[0] in self.described(name), table)
                for column, unit in columns.items():
                    ends = [u for end, u in UNITS.items() if column.endswith(end) and "_per_" not in column]
                    self.assertIn(unit, ends[:1] or [unit], f"{table}.{column}")

    def test_forms(self):
        """The database has all tables of the answer; CSV and JSON have their rows, names and values."""
        filled = {}
        for i, (name, line, arguments) in enumerate(commands()):
            if name in self.listed() - OF_RUNS:
                with self.subTest(command=line):
                    filled.setdefault(name, set()).update(
                        self.check_forms(name, arguments, os.path.join(self.folder, f"{i}.sqlite")))
        for name, empty in FILLED.items():
            self.assertEqual(set(self.described(name)) - filled[name], empty, f"{name}: tables that nothing here fills")

    def listed(self):
        return set(re.findall(r"^  (\w+) ", self.weft("models results").partition("Answers of other commands")[2], re.M))

    @functools.lru_cache(maxsize=None)
    def described(self, answer):
        """{table: (where it stands in the JSON, {column: unit})} as weft models results has it."""
        found = {}
        for block in re.split(r"\n(?=\S+: )", self.weft(f"models results {answer}")):
            head = re.match(r"(\S+): .*\n  in the JSON (.*); in SQLite and CSV the table", block)
            if head:
                found[head[1]] = head[2], {name: kind.partition(", ")[2] for name, kind in
                                           re.findall(r"\n  (\S+)   \(([^;)]*).*\)\n      .+", block)}
        return found

    def check_json(self, name, table, whole, rows):
        """A list of objects has as many as the table has rows."""
        tables = self.described(name)
        parts = table.split(".")
        places = [tables[".".join(parts[:i + 1])][0] for i in range(len(parts))]
        path = [(p, where == "an object of objects") for p, where in zip(parts, places) if where != "part of the object around"]
        if path and path[0][0] not in whole:
            path = path[1:]  # the only row, such as a network, is merged
        if places[-1] == "a list of objects" and rows and not (table in EITHER and table not in whole):
            self.assertEqual(len(objects([whole], path)), rows, table)

    def check_forms(self, name, arguments, path):
        """The tables that have rows."""
        self.weft(f"{arguments} --out {path}")
        whole = json.loads(self.weft(f"{arguments} --json"))
        db = sqlite3.connect(path)
        tables = [t for t, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if t != "meaning"]
        shown = self.weft(f"models results {name}")
        flat = dict(zip(re.findall(r"and CSV the table (\w+)", shown), self.described(name)))
        self.assertEqual(sorted(tables), sorted(flat))
        help_of = dict(db.execute("SELECT \"table\" || '.' || \"column\", help FROM meaning"))
        filled = set()
        for table in tables:
            cursor = db.execute(f'SELECT * FROM "{table}"')
            columns = [c[0] for c in cursor.description]
            self.assertTrue(all(help_of[f"{table}.{c}"] for c in columns))
            rows = len(cursor.fetchall())
            filled |= {flat[table]} if rows else set()
            if f"{name}.{table}" in STREAMED:
                continue
            lines = list(csv.reader(io.StringIO(self.weft(f"{arguments} --csv {table}"))))
            self.assertEqual(lines[0], columns)
            if name not in ("bench", "check"):  # what they measure differs from one time to the next
                self.assertEqual(len(lines) - 1, rows, table)
                self.check_json(name, flat[table], whole, rows)
        db.close()
        return filled


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2])
    else:
        unittest.main()
