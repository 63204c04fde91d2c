#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cases for weft advise: healthy jobs on healthy networks, into which one or two causes of slowness are put.

A case is drawn from its seed alone: the network, the job, its sizes, what is suspicious and harmless beside the causes (ECMP with
many queue pairs, DCQCN with high thresholds, one queue pair without a limit, settings of a single host that change nothing, a second
job on other leaves), then the causes and how strong they are. A cause counts only if it costs something: by runs without and with
it, never by weft advise, the drawn job takes at least COSTS as long with each cause as with the others alone; else it is drawn anew.

usage: advise_cases.py WEFT SEEDS [-v]   judges weft advise on cases such as 1..24
       advise_cases.py WEFT SEED --show  prints a case (JSON, which YAML includes)"""
import copy
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

COSTS = 1.1
CAUSES = ["hash_collisions", "congestion_control", "queue_pairs", "nic_mapping", "planes", "traffic_class", "headroom", "oversubscription",
          "straggler", "in_phase"]
DRAWS_MAX = 60


def healthy(r):
    """A scenario in which nothing is wrong, and what the causes need to know of it."""
    leaves, per_leaf = r.choice([(2, 8), (4, 4), (4, 8)])
    rate, delay = r.choice([100, 200, 400]), r.choice([300, 600, 1000])
    window = 4 * rate * 1000 * (8 * delay + 4000) // 8 // 1000  # four times what a round trip holds, in bytes
    tree = {"name": "case", "about": "a case of advise_cases.py", "hardware": "ideal",
            "topology": {"kind": "leaf_spine", "leaves": leaves, "spines": per_leaf, "hosts_per_leaf": per_leaf, "rate": f"{rate}Gbps",
                         "delay": f"{delay}ns"},
            "switch": {"route": {"kind": "spray"}, "buffer": {"kind": "static", "size": "2MB", "xoff": "1MB", "xon": "900KB"}},
            "host": {"transport": {"kind": "roce_rc", "out_of_order": "accept", "timeout": "200us"}, "window": f"{window}B"},
            "run": {"stall": "1s"}}
    gpus = r.choice([1, 2, 4])
    size = r.choice([1, 2, 4]) * rate * 5000  # bytes a rank: 40, 80 or 160 us at the line's rate
    collective = r.choice(["all_reduce_ring", "all_to_all", "reduce_scatter", "all_gather"])
    channels = {"kind": collective, "channels": 2} if collective != "all_to_all" else collective
    job = {"kind": "job", "group": "train", "server": {"gpus": gpus, "nics": gpus}, "iterations": 3,
           "placement": {"kind": "random", "seed": r.randrange(100)}, "dimensions": [f"tp:{gpus}", f"dp:{leaves * per_leaf // gpus}"],
           "operations": [{"compute": f"{r.choice([30, 60])}us", "collective": channels, "size": f"{size}B", "over": "dp"}]}
    tree["workload"] = [job]
    return tree, {"leaves": leaves, "per_leaf": per_leaf, "rate": rate, "delay": delay, "gpus": gpus, "hosts": leaves * per_leaf, "size": size}


def decoys(r, tree, at, causes):
    """What looks suspicious and is not."""
    job = tree["workload"][0]
    if r.random() < 0.5 and "congestion_control" not in causes:
        tree["host"]["cc"] = {"kind": "dcqcn"}
        tree["switch"]["aqm"] = {"kind": "wred", "min": "800KB", "max": "1900KB", "max_probability": "1%"}
    if r.random() < 0.5 and not {"queue_pairs", "hash_collisions", "planes"} & set(causes):
        job["qps"] = 4
    elif r.random() < 0.4 and not {"queue_pairs", "hash_collisions"} & set(causes):  # hashes of many queue pairs
        tree["switch"]["route"] = {"kind": "e_ecmp"}
        job.update(qps=16, qp_scaling="split")
    if r.random() < 0.5 and not {"nic_mapping", "planes"} & set(causes):
        tree.setdefault("devices", []).append({"match": f"host-{r.randrange(at['hosts'])}", "host": {"receive_latency": "20ns"}})
    if r.random() < 0.3 and not {"nic_mapping", "planes", "in_phase"} & set(causes):  # another job on leaves of its own
        half = at["hosts"] // 2
        job["hosts"] = f"host-0..{half - 1}"
        job["dimensions"] = [job["dimensions"][0], f"dp:{half // at['gpus']}"]
        other = copy.deepcopy(job)
        other.update(group="other", hosts=f"host-{half}..{at['hosts'] - 1}")
        tree["workload"].append(other)


# --- the causes: each changes a healthy scenario -----------------------------------------------------------------------------------

def hash_collisions(r, tree, at):
    tree["switch"]["route"] = {"kind": r.choice(["ecmp", "e_ecmp"])}


def congestion_control(r, tree, at):
    tree["host"]["cc"] = {"kind": "dcqcn"}
    low = r.choice([4, 8, 16])
    tree["switch"]["aqm"] = {"kind": "wred", "min": f"{low}KB", "max": f"{2 * low}KB", "max_probability": "100%"}


def queue_pairs(r, tree, at):
    if r.random() < 0.5:  # less in flight than a round trip holds
        tree["host"]["window"] = f"{max(12288, int(at['rate'] * (8 * at['delay'] + 4000) / 8 * r.choice([0.15, 0.25])))}B"
    else:  # a thread that posts for each queue pair
        tree["host"]["work_request_qp"] = f"{int(131072 * 8 / at['rate'] * r.choice([3, 5]))}ns"


def nic_mapping(r, tree, at):
    job, nics = tree["workload"][0], at["nics"]
    job["server"]["nics"] = 1
    job["hosts"] = ",".join(f"host-{h}" for h in range(0, at["hosts"], nics))


def planes(r, tree, at):
    del tree["host"]["planes"], tree["workload"][0]["qps"], tree["workload"][0]["qp_scaling"]


def traffic_class(r, tree, at):
    tree["workload"][0].update(priority=r.choice([0, 1]), cts_priority=3)


def headroom(r, tree, at):
    buffer = tree["switch"]["buffer"]
    size, xoff = int(buffer["size"][:-1]), int(buffer["xoff"][:-1])
    buffer["size"] = f"{xoff + int((size - xoff) * r.choice([0.03, 0.1]))}B"


def oversubscription(r, tree, at):
    for topology in tree["topology"].get("networks", {"": tree["topology"]}).values():
        topology["spines"] = max(1, at["per_leaf"] // 4)


def straggler(r, tree, at):
    ranks = at["hosts"] // 2
    way = r.choice(["rank", "host", "link"])
    if "networks" in tree["topology"] or way == "rank":
        tree["workload"][0].update(slow_rank=r.randrange(ranks), slow_factor=r.choice([2.5, 4]))
    elif way == "host":
        host = r.randrange(0, ranks, 4)  # one that every case uses
        tree.setdefault("devices", []).append({"match": f"host-{host}", "host": {"drain_rate": f"{at['rate'] // 3}Gbps"}})
    else:
        host = r.randrange(0, ranks, 4)
        tree["topology"]["override"] = [{"link": f"host-{host}/0", "rate": f"{at['rate'] // 4}Gbps"}]


def in_phase(r, tree, at):
    """A second job with the same period on the same hosts, which share their NICs."""
    tree["workload"].append(dict(copy.deepcopy(tree["workload"][0]), group="other", share_hosts=True))


def prepare(r, tree, at, truth):
    """Of a healthy case: what the causes that will be put into it need to matter."""
    job = tree["workload"][0]
    operation = job["operations"][0]
    if {"congestion_control", "traffic_class", "headroom", "nic_mapping"} & set(truth):  # many send to one at a time
        operation["collective"] = "all_to_all" if "nic_mapping" in truth else {"kind": "all_to_all_v", "skew": r.choice([1.5, 2])}
    if "nic_mapping" in truth:  # a ring uses one NIC of a server at a time, however many there are
        at["nics"] = r.choice([2, 4])
        job["server"] = {"gpus": 4, "nics": at["nics"]}
        job["dimensions"] = ["tp:4", f"dp:{at['hosts'] // at['nics']}"]
        del job["placement"]
    if "planes" in truth:
        plane = tree["topology"]
        tree["topology"] = {"kind": "networks", "networks": {"a": plane, "b": dict(plane)}}
        tree["host"]["planes"] = "queue_pair"
        job.update(qps=2, qp_scaling="split", hosts="a-host-*")
    if {"traffic_class", "headroom"} & set(truth):  # buffers that are not larger than they must be
        xoff, need = r.choice([20000, 40000]), int(at["rate"] * (2 * at["delay"] + 4000) / 8) + 20000
        tree["switch"]["buffer"] = {"kind": "static", "size": f"{xoff + need}B", "xoff": f"{xoff}B", "xon": f"{xoff * 3 // 4}B"}
    at["communication"] = (2 if "all_reduce" in str(operation) else 1) * at["size"] * 8 / at["rate"] / 1000
    if "in_phase" in truth:  # as much compute as communication, or more
        job["iterations"] = 6
        operation["compute"] = f"{r.choice([1.0, 1.2]) * at['communication']:.0f}us"


# --- drawing a case ---------------------------------------------------------------------------------------------------------------

def run(weft, tree):
    """Mean iteration of the job over seeds 1 to 3, in ps; None: a run was refused, or did not end."""
    times = [run_once(weft, tree, seed) for seed in (1, 2, 3)]
    return sum(times) / 3 if all(times) else None


def run_once(weft, tree, seed):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.yaml"
        path.write_text(json.dumps(tree))
        done = subprocess.run([weft, "run", path, "--json", "--quiet", "--seed", str(seed)], capture_output=True, text=True, timeout=300,
                              check=False)
        if done.returncode:
            return None
        return next(j for j in json.loads(done.stdout)["jobs"] if j["name"] == "train")["iteration_ps"]


def build(seed, draw, causes):
    """The case's scenario with these causes; everything else is the same with any."""
    r = random.Random(f"{seed}/{draw}")
    tree, at = healthy(r)
    truth = [CAUSES[seed % len(CAUSES)]]  # every cause comes up
    if seed // len(CAUSES) % 2:
        truth.append(r.choice([c for c in CAUSES if c != truth[0]]))
    wanted = truth if causes is None else causes
    prepare(random.Random(f"{seed}/{draw}/prepare"), tree, at, truth)
    decoys(random.Random(f"{seed}/{draw}/decoys"), tree, at, truth)
    order = ["planes"] + [c for c in CAUSES if c not in ("planes", "in_phase")] + ["in_phase"]  # the network first, the other job last
    for cause in order:
        if cause in wanted:
            globals()[cause](random.Random(f"{seed}/{draw}/{cause}"), tree, at)
    return tree, truth


def draw_case(weft, seed):
    """The first draw of the seed in which every cause costs something: scenario, causes, draws that were not taken."""
    for draw in range(DRAWS_MAX):
        tree, truth = build(seed, draw, None)
        whole = run(weft, tree)
        others = [run(weft, build(seed, draw, [c for c in truth if c != one])[0]) for one in truth]
        if whole and all(t and whole > COSTS * t for t in others):
            return tree, truth, draw
    raise RuntimeError(f"seed {seed}: no draw of {DRAWS_MAX} has causes that cost something")


def judge(weft, seed, verbose=False, options=()):
    tree, truth, draw = draw_case(weft, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.yaml"
        path.write_text(json.dumps(tree))
        environment = dict(os.environ, XDG_CACHE_HOME=folder)
        done = subprocess.run([weft, "advise", path, "--json", "--quiet", *options], capture_output=True, text=True, timeout=1800,
                              check=False, env=environment)
        if done.returncode:
            raise RuntimeError(f"seed {seed}: {done.stderr}")
    answer = json.loads(done.stdout)
    found = [c["cause"] for c in answer["causes"]]
    first = bool(found) and found[0] in truth
    three = set(truth) <= set(found[:3])
    if verbose:
        print(f"{seed:5} {'+'.join(truth):38} first {'yes' if first else 'NO':3} three {'yes' if three else 'NO':3} "
              f"{answer['runs']:4} runs, draw {draw}: "
              + ", ".join(f"{c['cause']} {100 * (c['gain'] or 0):.0f}/{100 * (c.get('after') or 0):.0f}" for c in answer["causes"][:5]), flush=True)
    return len(truth), first, three


def main():
    weft, seeds = sys.argv[1:3]
    low, _, high = seeds.partition("..")
    if "--show" in sys.argv:
        tree, truth, _ = draw_case(weft, int(low))
        print(json.dumps(tree), f"# {truth}")
        return 0
    results = [judge(weft, seed, "-v" in sys.argv) for seed in range(int(low), int(high or low) + 1)]
    first = sum(r[1] for r in results)
    pairs = [r for r in results if r[0] == 2]
    three = sum(r[2] for r in pairs)
    print(f"{len(results)} cases: a true cause first in {first} ({100 * first / len(results):.0f}%); of {len(pairs)} with two causes both in "
          f"the first three in {three} ({100 * three / max(1, len(pairs)):.0f}%)")
    return 0 if first >= 0.9 * len(results) and three >= 0.8 * len(pairs) else 1


if __name__ == "__main__":
    sys.exit(main())
