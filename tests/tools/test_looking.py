#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looking changes nothing. Random scenarios (random_scenario.py) are run again with something that must not matter, and have the same digest:
samples, a capture, a record of events, --out, threads, keys of the scenario in another order. Small networks made here have other names of
hosts, one more host, traffic in a network beside, or twice the time for everything at half the rate: the figures of all flows are the same, or doubled.

test_looking.py [COUNT [FIRST]]   COUNT scenarios that run, of the seeds from FIRST on, and as many small networks (6 from 1)"""
import copy
import json
import random
import sys
import tempfile
from pathlib import Path

import random_scenario
from test_random_scenarios import WEFT, Wrong, expect, prepare, run



def shuffled(draw, value):
    """The same with the keys of every section in another order."""
    if isinstance(value, dict):
        return {key: shuffled(draw, value[key]) for key in draw.sample(list(value), len(value))}
    return [shuffled(draw, each) for each in value] if isinstance(value, list) else value


def result(folder, *more, name="s.yaml"):
    status, out, err = run(folder, WEFT, "run", name, "--json", "--quiet", "--force", *more)
    expect(status in (0, 4), "exit status", status, *more, err)
    return json.loads(out)


def refused(folder, *more, name="s.yaml"):
    return run(folder, WEFT, "check", name, *more)[0] == 2


def differs(name, a, b):
    """Where two values differ first; what only one has (a column for what was looked at) does not count."""
    if isinstance(a, dict) and isinstance(b, dict):
        return next(filter(None, (differs(f"{name}.{key}", a[key], b[key]) for key in a if key in b)), None)
    return None if a == b else f"{name} from {a} to {b}"


def compare(first, other, *how):
    for key in ("digest", "sim_time_ps", "end", "packet_hops", "events", "counters", "groups", "mechanisms", "conservation"):
        found = differs(key, first[key], other[key])
        expect(not found, *how, "changed", found)


def looks(folder, seed, schema):
    """One of the generator's, looked at in every way; False: it is refused."""
    scenario, draw = random_scenario.Scenario(schema, seed), random.Random(seed)
    if not prepare(folder, scenario) or refused(folder):
        return False
    # What looks on does not let parts of a run be skipped.
    off = ["--set", "run.fast_forward=off", "--set", 'capture.ports=""', "--set", "run.sample_interval=0ns"]
    first = result(folder, *off)
    interval = max(draw.choice([1_000_000, 777_000, 50_000, 3_333]), first["sim_time_ps"] // 50_000)  # real NICs wait 4 s for what is lost
    sampled = [*off[:4], "--set", f"run.sample_interval={interval}ps"]
    for how in (sampled, [*sampled, "--set", "run.sample_ports=host-*"], [*off, "--out", "out", "--set", "run.events=100"],
                [*off, "--set", "run.round_trips=true", "--set", "run.count_flows=true"]):
        if not refused(folder, *[word for word in how if word not in ("--out", "out")]):
            compare(first, result(folder, *how), *how)
    followed = [flow for flow in first["flows"] if flow["fct_ps"] is not None]
    if followed:  # weft why runs what is in out/ again, and compares the digest itself
        flow = draw.choice(followed)
        status, out, err = run(folder, WEFT, "why", "out", str(flow["flow"]), "--json", "--quiet")
        expect(status in (0, 2), "following flow", flow["flow"], status, err)
        parts = [part["time_ps"] for part in json.loads(out)["parts"]] if not status else [flow["fct_ps"]]
        expect(sum(parts) == flow["fct_ps"], "followed, flow", flow["flow"], "takes", sum(parts), "ps, and not", flow["fct_ps"])
    exact = ["--set", "run.fast_forward=exact", *off[2:]]
    if not refused(folder, *exact):  # skips what provably repeats, and so may be used at any time
        other = result(folder, *exact)
        expect(all(first[key] == other[key] for key in ("digest", "sim_time_ps", "end")), "run.fast_forward=exact changed",
               *[(first[key], other[key]) for key in ("digest", "sim_time_ps", "end")])
    captured = [*off[:2], *off[4:], "--set", "capture.ports=*", "--set", "capture.content=headers"]
    if not refused(folder, *captured):
        compare(first, result(folder, *captured), "a capture")
    (folder / "t.yaml").write_text(json.dumps(shuffled(draw, json.loads(scenario.text))))
    compare(first, result(folder, *off, name="t.yaml"), "another order of keys")
    return True


# --- small networks -------------------------------------------------------------------------------------------------------------------------------

RATES = [10, 25, 40, 50, 100, 200, 400, 800]  # whole picoseconds a byte, so that twice is twice


def small(draw):
    """A tree of a list, so that every name and number is known here: two leaves, some spines and hosts, and settings."""
    leaves, spines, each = 2, draw.randint(1, 2), draw.randint(2, 4)
    rate, up, delay = draw.choice(RATES), draw.choice(RATES), draw.randint(1, 2000)
    nodes = [{"name": f"spine-{i}", "role": "switch"} for i in range(spines)] + [{"name": f"leaf-{i}", "role": "switch"} for i in range(leaves)]
    nodes += [{"name": f"host-{i}", "role": "host"} for i in range(leaves * each)]
    links = [{"from": f"leaf-{i}", "to": f"spine-{k}", "rate": f"{up}Gbps", "delay": f"{delay}ns"} for i in range(leaves) for k in range(spines)]
    links += [{"from": f"leaf-{i // each}", "to": f"host-{i}", "rate": f"{rate}Gbps", "delay": f"{draw.randint(1, 900)}ns"} for i in range(leaves * each)]
    hosts = [f"host-{i}" for i in range(leaves * each)]
    flows = []
    for i in range(draw.randint(1, 6)):
        a, b = draw.sample(hosts, 2)
        flows.append({"kind": "flow", "src": a, "dst": b, "size": f"{draw.choice([1, 4097, draw.randint(1, 300_000)])}B", "start": f"{draw.choice([0, 1, draw.randint(0, 9000)])}ns",
                      "group": f"g{i}", "qps": draw.choice([1, 1, 3])})
    flows.append({"kind": "incast", "sources": hosts[1:], "dst": hosts[0], "size": f"{draw.randint(1000, 200_000)}B", "group": "all", "start": "0ns"})
    return {"topology": {"kind": "list", "nodes": nodes, "links": links}, "workload": flows,
            "host": {"mtu": f"{4 * draw.randint(16, 2048)}B", "processing": f"{draw.randint(0, 900)}ns", "timeout": f"{draw.randint(200, 900)}us",
                     "window": draw.choice(["0B", "64KB"])},
            "switch": {"processing": f"{draw.randint(0, 900)}ns", "aqm": draw.choice(["none", {"kind": "wred", "min": "20KB", "max": "60KB"}]),
                       "forwarding": draw.choice(["store_and_forward", "cut_through"]), "route": draw.choice(["ecmp", "e_ecmp", "spray"]),
                       "pfc": {"priorities": draw.choice(["3", "none"])}},
            "run": {"until": draw.choice(["never", f"{draw.randint(3, 90)}us"]), "seed": draw.randint(1, 99), "stall": "100ms"}}


def flows_of(folder, scenario):
    (folder / "n.yaml").write_text(json.dumps(scenario))
    expect(not refused(folder, name="n.yaml"), "refused:", run(folder, WEFT, "check", "n.yaml")[2])
    whole = result(folder, name="n.yaml")
    return whole, [(f["group"], f["bytes"], f["start_ps"], f["end_ps"], f["acked_ps"], f["delivered_bytes"], f["packets_again"], f["cnps"]) for f in whole["flows"]]


def renamed(scenario):
    """Every host and every switch has another name, in another alphabetical order."""
    text = json.dumps(scenario)
    for old, new in (("host-", "z-machine-"), ("leaf-", "a-first-"), ("spine-", "m-second-")):
        text = text.replace(f'"{old}', f'"{new}')
    return json.loads(text)


def doubled(value):
    """Every time twice, every rate half."""
    if isinstance(value, dict):
        return {key: doubled(each) for key, each in value.items()}
    if isinstance(value, list):
        return [doubled(each) for each in value]
    match = random_scenario.QUANTITY.match(value) if isinstance(value, str) else None
    if match and match[2] in ("ps", "ns", "us", "ms", "s"):
        return f"{2 * int(match[1])}{match[2]}"
    return f"{int(match[1]) * 500}Mbps" if match and match[2] == "Gbps" else value


def beside(scenario, busy):
    """The same network, and one that has no link to it."""
    other = {"kind": "single", "hosts": 2, "rate": "100Gbps", "delay": "100ns"}
    out = copy.deepcopy(scenario)
    out["topology"] = {"kind": "networks", "networks": {"a": out["topology"], "b": other}}
    for flow in out["workload"]:
        for key in ("src", "dst"):
            if key in flow:
                flow[key] = "a-" + flow[key]
        if "sources" in flow:
            flow["sources"] = ["a-" + host for host in flow["sources"]]
    if busy:
        out["workload"].append({"kind": "flow", "src": "b-host-0", "dst": "b-host-1", "size": "100KB", "group": "beside"})
    return out


def with_idle_host(scenario):
    out = copy.deepcopy(scenario)
    out["topology"]["nodes"].append({"name": "idle", "role": "host"})
    out["topology"]["links"].append({"from": "leaf-1", "to": "idle", "rate": "100Gbps", "delay": "100ns"})
    return out


def only(flows, *without):
    return [flow for flow in flows if flow[0] not in without]


def networks(folder, seed):
    """One small network and what must not matter to it."""
    draw = random.Random(seed)
    scenario = small(draw)
    whole, flows = flows_of(folder, scenario)
    other, same = flows_of(folder, renamed(scenario))
    expect(other["digest"] == whole["digest"] and same == flows, "other names of hosts", whole["digest"], other["digest"])
    _, same = flows_of(folder, with_idle_host(scenario))
    expect(same == flows, "an idle host", flows, same)
    _, alone = flows_of(folder, beside(scenario, False))
    _, busy = flows_of(folder, beside(scenario, True))
    expect(only(busy, "beside") == alone, "traffic in another network", alone, busy)
    twice(folder, scenario)


def twice(folder, scenario):
    # What is drawn by time or has times of its own (marks by chance, defaults) is set here, or left out.
    scenario = copy.deepcopy(scenario)
    scenario["switch"]["pfc"] |= {"priorities": "none"} # a quantum is 512 bits: half the rate is twice the time, but reactions are the standard's
    scenario["host"] |= {"pfc": {"priorities": "none"}, "cnp_interval": "50us"}
    first, flows = flows_of(folder, scenario)
    second, slow = flows_of(folder, doubled(scenario))
    expect(second["sim_time_ps"] == 2 * first["sim_time_ps"], "twice the time: it ends at", first["sim_time_ps"], second["sim_time_ps"])
    for flow, other in zip(flows, slow):
        expect(flow[:2] + tuple(t if t is None else 2 * t for t in flow[2:5]) + flow[5:] == other, "twice the time", flow, other)
    bps = {name: group["throughput_bps"] for name, group in first["groups"].items()}
    for name, group in second["groups"].items():
        expect(bps[name] is None or abs(2 * group["throughput_bps"] - bps[name]) <= 1e-9 * bps[name], "twice the time: throughput_bps of", name)


def dead(folder):
    """Nothing happens any more long before run.until: without a timer left and with samples alike, the network has stalled."""
    scenario = {"topology": {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 2},
                "events": [{"at": "5us", "link": "leaf-0--spine-0", "state": "down"}], "host": {"timeout": "never"},
                "workload": [{"kind": "flow", "src": "host-0", "dst": "host-3", "size": "1MB"}],
                "run": {"until": "500ms", "stall": "100us", "detection": "0ns"}}
    (folder / "dead.yaml").write_text(json.dumps(scenario))
    first = result(folder, name="dead.yaml")
    expect(first["end"] == "stall", "a dead network ended by", first["end"])
    compare(first, result(folder, "--set", "run.sample_interval=10us", name="dead.yaml"), "samples of a dead network")
    still = result(folder, "--set", "run.stall=never", name="dead.yaml")
    expect((still["end"], still["sim_time_ps"]) == ("until", 500 * 10**9), "run.until of a dead network", still["end"], still["sim_time_ps"])
    expect(still["digest"] == first["digest"], "nothing happens in a dead network, but the digest changes")


def main():
    count, seed = (int(sys.argv[1]) if len(sys.argv) > 1 else 6), (int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    schema, bad, ran, first = random_scenario.read_schema(WEFT), 0, 0, seed
    with tempfile.TemporaryDirectory(prefix="weft-looking-") as root:
        dead(Path(root))
    while ran < count or seed < first + count:
        with tempfile.TemporaryDirectory(prefix="weft-looking-") as root:
            try:
                if seed < first + count:
                    networks(Path(root), seed)
                if ran < count:
                    ran += looks(Path(root), seed, schema)
            except Wrong as error:
                bad, ran = bad + 1, ran + 1
                print(f"seed {seed}: {str(error)[:1500]}", flush=True)
        seed += 1
    print(f"{count} scenarios and {count} networks: {bad} changed")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
