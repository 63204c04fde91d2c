#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft advise and weft why --jobs: drawn cases (advise_cases.py), the public ones, two jobs in phase, what both refuse.

usage: test_advise.py [long]   long: all 24 cases, and 4 jobs of 256 GPUs"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import advise_cases

WEFT = os.environ["WEFT"]
ROOT = Path(os.environ.get("WEFT_ROOT", "."))
PUBLIC, PHASE = ROOT / "scenarios/jobs/public_cases.yaml", ROOT / "scenarios/jobs/in_phase.yaml"
LONG = "long" in sys.argv[1:]
JOBS = """hardware: ideal
topology: {{kind: leaf_spine, leaves: {leaves}, spines: {spines}, hosts_per_leaf: {per_leaf}, rate: 400Gbps, delay: 500ns}}
switch: {{buffer: {{kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}}}}
workload:
"""
JOB = ("  - {{kind: job, group: {name}, ranks: {ranks}, placement: {{kind: random, seed: {seed}}}, server: {{gpus: 8}}, iterations: 2, "
       "dimensions: [tp:8, dp:{dp}], operations: [{{compute: 50us, collective: {collective}, size: {size}, over: dp}}]}}\n")
# One link from leaf to spine for three pairs of hosts; `away` has its own leaves.
LINK = """hardware: ideal
topology: {kind: leaf_spine, leaves: 4, spines: 1, hosts_per_leaf: 3, rate: 100Gbps, delay: 100ns}
switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}}
workload:
  - {kind: job, group: one, hosts: "host-0,host-3", iterations: 3, operations: [{compute: 100us, collective: send_recv, size: 600KB}]}
  - {kind: job, group: two, hosts: "host-1,host-4", iterations: 3, operations: [{compute: 100us, collective: send_recv, size: 600KB}]}
  - {kind: job, group: three, hosts: "host-2,host-5", iterations: 3, operations: [{compute: 100us, collective: send_recv, size: 600KB}]}
  - {kind: job, group: away, hosts: "host-6,host-9", iterations: 3, operations: [{compute: 100us, collective: send_recv, size: 600KB}]}
variants:
  plain: {}
  paused: {switch.buffer: {kind: static, size: 400KB, xoff: 100KB, xon: 80KB}}
  marked: {host.cc: dcqcn, switch.aqm: {kind: wred, min: 20KB, max: 80KB}}
"""


class Advise(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def weft(self, *words, status=0):
        done = subprocess.run([WEFT, *map(str, words)], capture_output=True, text=True, timeout=3000, check=False, cwd=self.at,
                              env=dict(os.environ, XDG_CACHE_HOME=str(self.at)))
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def answer(self, *words):
        return json.loads(self.weft(*words, "--json", "--quiet").stdout)

    def write(self, text):
        (self.at / "s.yaml").write_text(text)
        return "s.yaml"

    # --- causes -------------------------------------------------------------------------------------------------------------------

    def test_drawn_cases(self):
        seeds = range(1, 25) if LONG else (2, 7, 13, 18)
        results = [advise_cases.judge(WEFT, seed, LONG) for seed in seeds]
        pairs = [three for causes, _, three in results if causes == 2]
        self.assertGreaterEqual(sum(first for _, first, _ in results), 0.9 * len(results), results)
        self.assertGreaterEqual(sum(pairs), 0.8 * len(pairs), results)

    def test_public_cases(self):
        for variant, cause in (("one_nic", "nic_mapping"), ("one_plane", "planes"), ("traffic_class", "traffic_class"),
                               ("one_queue_pair", "queue_pairs")):
            found = self.answer("advise", PUBLIC, "--variant", variant)["causes"]
            self.assertEqual(found[0]["cause"], cause, found)
            self.assertGreater(found[0]["gain"], 0.1, found)
            self.assertFalse(found[0]["noise"], found)
        self.assertLess(max((c["gain"] for c in self.answer("advise", PUBLIC, "--variant", "healthy")["causes"]), default=0), 0.05)

    def test_phase(self):
        found = self.answer("advise", PHASE, "--variant", "together", "--only", "in_phase")
        self.assertAlmostEqual(found["base_ps"] / found["alone_ps"], 1.5, delta=0.03)
        self.assertAlmostEqual(found["causes"][0]["time_ps"] / found["alone_ps"], 1.0, delta=0.01)
        text = self.weft("advise", PHASE, "--variant", "together", "--only", "in_phase", "--quiet").stdout
        self.assertIn("delay one iteration of it by", text)

    def test_all_removed_is_the_best_of_each(self):
        """A setting of several values is removed by the best one, with other causes too."""
        for only in ("in_phase", "in_phase,queue_pairs"):
            found = self.answer("advise", PHASE, "--variant", "together", "--only", only, "--seeds", "1")
            self.assertEqual(len(found["causes"]), only.count(",") + 1)
            self.assertAlmostEqual(found["all_ps"] / found["causes"][0]["time_ps"], 1, delta=0.005)
        self.assertIn("199us without the suspected cause;", self.weft("advise", PHASE, "--only", "in_phase", "--seeds", "1").stdout)

    def test_no_time(self):
        """A job that takes none has a row of the ledger, and one that stalls is an error with a sentence."""
        still = self.write(LINK.replace("  - {kind: job, group: away", "  - {kind: job, group: still, hosts: \"host-7,host-8\", operations: [{compute: 0s}]}\n"
                                        "  - {kind: job, group: away"))
        jobs = self.answer("why", still, "--jobs", "--variant", "plain")["jobs"]
        self.assertEqual([(j["alone_ps"], j["slowdown"]) for j in jobs if j["job"] == "still"], [(0, 1)])
        down = self.write(LINK + "events: [{at: 150us, link: leaf-0--spine-0, state: down}]\n")
        self.assertIn("a run stalled or no iteration of job one ended", self.weft("advise", down, "--variant", "plain", "--quiet", status=1).stderr)

    def test_a_clique_has_no_hashes(self):
        clique = self.write("base: aquila\nfabric: {hosts: 16}\nworkload:\n  - {kind: job, group: a, iterations: 1, operations: "
                            "[{compute: 10us, collective: all_to_all, size: 100KB}]}\n")
        self.assertNotIn("hash_collisions", [c["cause"] for c in self.answer("advise", clique, "--seeds", "1")["causes"]])

    def test_a_cause_put_in_is_the_patch_taken_out(self):
        """The patch laid over the scenario by hand gives the time that the row says."""
        found = self.answer("advise", PUBLIC, "--variant", "one_queue_pair", "--seeds", "1")
        row = found["causes"][0]
        settings = [word for line in row["patch"].splitlines() for word in ("--set", line.replace(": ", "=", 1))]
        ran = self.answer("run", PUBLIC, "--variant", "one_queue_pair", "--seed", "1", *settings)
        self.assertEqual(ran["jobs"][0]["iteration_ps"], row["time_ps"])
        self.assertAlmostEqual(1 - row["time_ps"] / found["base_ps"], row["gain"], delta=1e-9)

    def test_budget(self):
        words = ["advise", self.write(LINK), "--variant", "plain", "--seeds", "1", "--only", "oversubscription,queue_pairs,in_phase"]
        whole, less = self.answer(*words), self.answer(*words, "--budget", "4")
        self.assertEqual((less["cut"], less["pairs"], whole["cut"]), (1, [], 0) if isinstance(less["cut"], int) else (True, [], False))
        self.assertLess(less["runs"], whole["runs"])
        self.assertEqual({c["cause"]: c["gain"] for c in less["causes"]}, {c["cause"]: c["gain"] for c in whole["causes"]})

    def test_estimate(self):
        text = LINK.split("  - {kind: job, group: two")[0]
        packets = self.answer("advise", self.write(text), "--set", "workload.0.slow_factor=3", "--seeds", "1")
        fluid = self.answer("advise", self.write(text), "--set", "workload.0.slow_factor=3", "--seeds", "1", "--estimate")
        for found in (packets, fluid):
            self.assertEqual(found["causes"][0]["cause"], "straggler", found)
        self.assertAlmostEqual(packets["causes"][0]["gain"], fluid["causes"][0]["gain"], delta=0.03)

    def test_servers_at_the_top(self):
        """A server at the top of a file is that of its jobs: with a log, and for other fabrics."""
        network = "hardware: ideal\ntopology: {kind: single, hosts: 16, rate: 400Gbps}\n"
        work = "operations: [{collective: nccl, size: 1MB}]}]\n"
        texts = (network + "server: {kind: dgx_h100, gpus: 8}\nworkload: [{kind: job, " + work,
                 network + "workload: [{kind: job, server: {kind: dgx_h100, gpus: 8}, " + work)
        (self.at / "log.csv").write_text("# nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G collective=all_reduce\nsize_bytes,time_us\n"
                                         "1048576,100\n4194304,300\n16777216,1500\n")
        times = [(self.answer("advise", f, "log.csv", "--seeds", "1", "--only", "queue_pairs")["base_ps"],
                  [x["cases"]["job"]["time_ps"]["mean"] for x in self.answer("versus", f, "--fabrics", "star")["fabrics"]]) for f in map(self.write, texts)]
        self.assertEqual(times[0], times[1])

    def test_log(self):
        cluster = self.write("hardware: ideal\ntopology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 8, rate: 400Gbps}\n"
                             "switch: {buffer: {kind: static, size: 2MB, xoff: 1MB, xon: 900KB}}\n"
                             "workload: [{kind: job, server: {kind: dgx_h100, gpus: 8}, operations: [{size: 1MB}]}]\n")
        (self.at / "log.csv").write_text("# nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G collective=all_reduce\nsize_bytes,time_us\n"
                                         "1048576,100\n4194304,300\n16777216,1500\n")
        found = self.answer("advise", cluster, "log.csv", "--seeds", "1")
        self.assertEqual((found["job"], found["measured_ps"], found["log"]), ("fit", 1900e6, "log.csv"))
        self.assertEqual(found["causes"][0]["cause"], "oversubscription", found)

    def test_log_beside_the_same_sizes(self):
        """The job is the log's sizes that are run, and a time twice the simulated one, or an eighth, is said to be so, with what may explain it."""
        cluster = self.write("hardware: ideal\ntopology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 8, rate: 400Gbps}\n"
                             "switch: {buffer: {kind: static, size: 2MB, xoff: 1MB, xon: 900KB}}\n"
                             "workload: [{kind: job, server: {kind: dgx_h100, gpus: 8}, operations: [{size: 1MB}]}]\n"
                             "variants: {thin: {}, wide: {topology.spines: 8, switch.route: spray, host.transport.out_of_order: accept}}\n")
        setup = "# nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G collective=all_reduce\nsize_bytes,time_us\n"

        def advise(variant, rows):
            (self.at / "log.csv").write_text(setup + "".join(f"{size},{us:.3f}\n" for size, us in rows))
            return self.answer("advise", cluster, "log.csv", "--variant", variant, "--seeds", "1", "--only", "oversubscription,queue_pairs")

        sizes = (1048576, 16777216, 134217728, 1073741824)
        first = advise("wide", [(size, size / 1e5) for size in sizes])
        wide = [(row["bytes"], row["predicted_us"]) for row in first["sizes"]]
        self.assertEqual([row["beyond"] for row in first["sizes"]], [False, False, False, True])
        same = advise("wide", wide)  # the iteration is that of three sizes, whatever the log has above 128 MiB
        self.assertAlmostEqual(same["base_ps"], same["measured_ps"], delta=0.05 * same["measured_ps"])
        self.assertAlmostEqual(same["measured_ps"], sum(us for _, us in wide[:3]) * 1e6, delta=1e4)  # a log's times end in 3 digits
        self.assertRegex(same["log_verdict"], "takes (0.9[5-9]|1.0[0-5]) times as long as the log$")
        faster = advise("wide", [(size, 2 * us) for size, us in wide])
        self.assertIn("what slows the cluster is not in the scenario", faster["log_verdict"])
        thin = advise("thin", wide)
        self.assertGreater(thin["base_ps"] / thin["measured_ps"], 1.25)
        self.assertRegex(thin["log_verdict"], "times without oversubscription: the cluster does not seem to have it")
        slower = advise("wide", [(size, us / 8) for size, us in wide])
        self.assertIn("no cause below explains it", slower["log_verdict"])
        outlier = advise("wide", [(524288, wide[2][1])] + wide)  # no measurement of its size, so no part of the job
        self.assertEqual((outlier["measured_ps"], outlier["base_ps"]), (same["measured_ps"], same["base_ps"]), outlier)
        (self.at / "log.csv").write_text(setup.replace("nodes=2", "nodes=4") + "1048576,100\n")
        done = self.weft("advise", cluster, "log.csv", "--variant", "wide", status=2)
        self.assertIn("the table is of 32 ranks", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_refusals(self):
        job = self.write(LINK)
        for words, said in (
                (["advise", job, "--variant", "plain", "--job", "other"], "no job other; expected one of"),
                (["advise", job, "--variant", "plain", "--only", "planets"], "--only 'planets': no such cause"),
                (["advise", job, "--variant", "plain", "--only", ""], "--only '': no such cause"),
                (["advise", job, "--variant", "plain", "--budget", "-3"], "--budget: '-3' is not understood"),
                (["advise", job, "--variant", "plain", "--setup", "nodes=2"], "--setup: there is no log"),
                (["advise", job, "--variant", "plain", "--seeds", "x"], "seeds"),
                (["advise", job, "nothing.csv", "--variant", "plain"], "nothing.csv"),
                (["advise", "missing.yaml"], "missing.yaml"),
                (["why", job, "--variant", "plain", "--jobs", "--job", "one"], "expected the number of a flow, or"),
        ):
            done = self.weft(*words, status=2)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stdout, "")
        flows = self.write("topology: {kind: single}\nworkload: [{kind: permutation, size: 1KB}]\n")
        self.assertIn("no job", self.weft("advise", flows, status=2).stderr)
        self.assertIn("expected at least two", self.weft("why", flows, "--jobs", status=2).stderr)

    # --- the ledger ---------------------------------------------------------------------------------------------------------------

    def check_ledger(self, found):
        """Rows add up to what each job loses, which is the difference of two runs."""
        for job in found["jobs"]:
            rows = [r["cost_ps"] for r in found["ledger"] if r["job"] == job["job"]]
            self.assertAlmostEqual(sum(rows) + job["unseen_ps"], job["with_ps"] - job["alone_ps"], delta=1)
        return {j["job"]: j for j in found["jobs"]}

    def test_who_costs_whom(self):
        for variant, kind in (("plain", "queueing"), ("paused", "pause"), ("marked", "pace")):
            found = self.answer("why", self.write(LINK), "--variant", variant, "--jobs")
            jobs = self.check_ledger(found)
            self.assertEqual(jobs["away"]["cost_ps"], 0, variant)
            self.assertFalse([r for r in found["ledger"] if "away" in (r["job"], r["by"])])
            self.assertEqual({r["port"] for r in found["ledger"] if r["kind"] == kind and r["share"] > 0.01}, {"leaf-0/3"}, found["ledger"])
            for job in ("one", "two", "three"):  # the other two are alike, and so is what they cost
                self.assertGreater(jobs[job]["slowdown"], 1.3)
                self.assertEqual(jobs[job]["unseen_ps"], 0)
                cost = {by: sum(r["cost_ps"] for r in found["ledger"] if r["job"] == job and r["by"] == by) for by in jobs if by != job}
                others = sorted(v for by, v in cost.items() if by != "away")
                self.assertLess(others[1] / others[0], 1.6 if variant == "marked" else 1.25, cost)

    def test_against_runs_without_one(self):
        """A run without `three` says what `three` costs `one` beside `two`: about half of what both cost."""
        found = self.answer("why", self.write(LINK), "--variant", "plain", "--jobs")
        cost = sum(r["cost_ps"] for r in found["ledger"] if (r["job"], r["by"]) == ("one", "three"))
        without = self.answer("run", "s.yaml", "--variant", "plain", "--set", "workload.2.start=1000s", "--set", "run.until=2ms")
        whole = next(j for j in found["jobs"] if j["job"] == "one")
        removed = whole["with_ps"] - 3 * next(j for j in without["jobs"] if j["name"] == "one")["iteration_ps"]
        self.assertAlmostEqual(cost / removed, 1, delta=0.1)

    def test_many_gpus(self):
        ranks, leaves = (256, 32) if LONG else (32, 8)
        text = JOBS.format(leaves=leaves, spines=leaves // 2, per_leaf=leaves if LONG else 16)
        for i, (name, collective, size) in enumerate((("a", "all_reduce_ring", "4MB"), ("b", "all_reduce_ring", "4MB"),
                                                      ("c", "all_to_all", "2MB"), ("d", "all_to_all", "2MB"))):
            text += JOB.format(name=name, collective=collective, size=size if LONG else "500KB", seed=i + 1, ranks=ranks, dp=ranks // 8)
        found = self.answer("why", self.write(text), "--jobs")
        jobs = self.check_ledger(found)
        self.assertEqual(len(jobs), 4)
        self.assertGreater(max(j["slowdown"] for j in jobs.values()), 1.05)
        for job in jobs.values():  # what is not explained is less than a thousandth
            self.assertLess(abs(job["unseen_ps"]), 1e-3 * job["alone_ps"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
