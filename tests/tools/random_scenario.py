#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random scenarios of all boxes, models, workloads, sweeps and formats of other tools: the same seed, the same scenario.

Shapes are written here, so that networks are small and workloads fit them. Every other value comes from the schema of
`weft models --json`: its default scaled, one of its words, another model of its kind. Many scenarios are accepted, some are
refused; both are answers.

usage: random_scenario.py WEFT SEED        prints the scenario (JSON, which YAML includes)
       random_scenario.py WEFT SEED FOLDER writes it there as s.yaml, with the files of other tools that it needs
       random_scenario.py WEFT SEED..SEED  says which models these scenarios use, and how often"""
import collections
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import random_imports

IMPORTS = Path(__file__).resolve().parents[2] / "examples/import"
UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
QUANTITY = re.compile(r" *([0-9.eE+-]+(?:/[0-9.]+)?) *([A-Za-z]*)%?$")
# What has no default to scale, by the unit of its pattern.
NOMINAL = {"ps": [0, 500_000, 3_000_000], "B": [0, 4_000, 64_000], "bps": [0, 50 * 10**9]}
# Shapes and lengths are given here, and what would write files or take hours stays as it is.
FIXED = {"kind", "preset", "seed", "until", "stall", "size", "size_max", "repeat", "interval", "start", "rate", "duration", "load", "hosts",
         "iterations", "ranks", "file", "jitter", "planes", "virtual_devices", "rdsw_lanes", "sdsw_lanes", "processors", "endpoints",
         "local_ports", "global_ports", "rails", "server_gpus", "trace_kept", "factor", "root", "under_way", "error_packet", "servers",
         "distance_km", "stagger", "step", "switches", "all_gather", "all_reduce", "reduce_scatter", "all_to_all", "broadcast", "gather", "reduce",
         "scatter", "pipeline", "share_hosts", "priorities"}
SIZES = ["1B", "3KB", "16KB", "70001B", "200KB", None]  # None: any
# kind of import: files, and what the format gives (a topology, a workload, or a collective)
FILES = {"cables": (["cables/cables.csv"], "topology"), "graphml": (["graphml/graph.graphml"], "topology"),
         "hpcc": (["hpcc/topology.txt", "hpcc/flows.txt"], "topology"), "htsim": (["htsim/tree.topo", "htsim/flows.cm"], "topology"),
         "infragraph": (["infragraph/clos.yaml"], "topology"), "networkx": (["networkx/graph.json"], "topology"),
         "nccl": (["nccl/topo.xml", "nccl/graph.xml"], "topology"), "sonic": (["sonic/config_db.json"], "topology"),
         "capture": (["capture.pcapng"], "workload"), "chakra": (["chakra"], "workload"), "csv": (["flows.csv"], "workload"),
         "goal": (["ring.goal"], "workload"), "inspector": (["inspector.jsonl"], "workload"), "simai": (["simai.txt"], "workload"),
         "msccl": (["msccl.xml"], "workload"), "mooncake": (["mooncake.jsonl"], "workload"), "azure": (["azure.csv"], "workload")}
WORKLOAD_FILE = {"capture": "capture.pcapng", "chakra": "chakra", "csv": "flows.csv", "goal": "ring.goal", "inspector": "inspector.jsonl",
                 "simai": "simai.txt", "hpcc": "hpcc/flows.txt", "htsim": "htsim/flows.cm"}

# Sections of `control` by the boxes that go by them; and keys of `switch` that these boxes do not go by.
CONTROL = {"interface_node": ("reachability", "fsdb", "bgp"), "tin": ("bootstrap", "sdn", "timesync")}
UNASKED = ("queueing", "arbiter", "fabric_patience", "fabric_speedup", "sfc", "sfc_proxy", "processing", "forwarding", "route")


def read_schema(weft):
    return json.loads(subprocess.run([weft, "models", "--json"], capture_output=True, text=True, check=True).stdout)


def kinds(schema):
    """Every model that a scenario can name, as kind.name."""
    return {name for name in schema["$defs"] if "." in name}


class Scenario:
    """One of them. text: of the scenario; used: models that it names; files: those of other tools that it reads, by name;
    imports: (format, files) where weft import makes the file that it is based on, imported.yaml."""

    def __init__(self, schema, seed):
        self.defs, self.draw, self.used, self.imports, self.sweeps = schema["$defs"], random.Random(seed), set(), None, False
        self.hardware = random.Random(f"hardware {seed}")  # of its own, so that the rest of a seed's scenario is the same
        self.seed, self.names, self.boxes, self.files = seed, ["host-*"], {"host", "switch"}, {}
        self.text = json.dumps(self.make(), indent=1) + "\n"

    def write(self, folder):
        """Writes s.yaml and the files that it reads."""
        (folder / "s.yaml").write_text(self.text)
        for name, content in self.files.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    # --- values from the schema -----------------------------------------------------------------------------------

    def chance(self, percent):
        return self.draw.random() * 100 < percent

    def one_of(self, *values):
        return self.draw.choice(values)

    def bytes_between(self, what):
        """Any whole number of bytes in the bounds of the key, as often near one of them as anywhere."""
        least, most = (next(QUANTITY.match(part[len(mark):]) for part in what["description"].split("; ") if part.startswith(mark))
                       for mark in ("at least ", "at most "))
        least, most = (int(float(match[1]) * UNITS[match[2]]) for match in (least, most))
        return f"{self.one_of(least, most, least + self.draw.randrange(64), self.draw.randint(least, most), self.draw.randint(least, min(most, 4200)))}B"

    def any_size(self):
        return self.one_of(*SIZES) or f"{self.draw.randint(1, 300000)}B"

    def any_rate(self):
        """Rates that links have, and any other."""
        return self.one_of("100Gbps", "400Gbps", "25Gbps", "106.25Gbps", f"{self.draw.randint(10**9, 800 * 10**9)}bps", f"{self.draw.randint(2, 900)}Gbps")

    def scaled(self, what, default):
        """A quantity near its default, within its bounds."""
        parts = {}
        for name, mark in (("default", "default "), ("least", "at least "), ("most", "at most ")):
            text = next((part[len(mark):] for part in what.get("description", "").split("; ") if part.startswith(mark)), "")
            match = QUANTITY.match(text)
            if match:
                top, _, bottom = match[1].partition("/")
                parts[name] = float(top) / float(bottom or 1) * UNITS.get(match[2], 1) / (100 if text.endswith("%") else 1)
        whole = what.get("type") == "integer" or default is not None
        base = parts.get("default", 0)
        if base:
            value = base * self.one_of(0.5, 0.8, 1, 1.25, 2, 3)
        elif default is not None:
            value = self.one_of(*NOMINAL[default])
        else:
            value = self.one_of(0, 1, 2) if whole else self.one_of(0, 1e-7, 0.01, 0.1)
        value = max(parts.get("least", value), min(parts.get("most", value), value))
        return int(value) if whole else value

    def value(self, name, what):
        """Any value for a key, or None where only a person would know one."""
        what = next((one for one in what.get("anyOf", []) if "$ref" in one), what)  # a section that a text may stand for
        if "$ref" in what:
            target = what["$ref"].rsplit("/", 1)[1]
            return self.model(target) if any(key.startswith(target + ".") for key in self.defs) else self.section(target, 25)
        if "enum" in what:
            return self.one_of(*what["enum"])
        if "examples" in what:
            return self.one_of(*what["examples"])
        if name == "bit_error_rate":
            return self.one_of(0, 1e-7, 1e-6)
        if name == "mtu":
            return self.bytes_between(what)
        pattern = what.get("pattern", "")
        for unit in ("bps", "B", "ps"):
            if f"{unit})$" in pattern or f"({unit}|" in pattern:
                return f"{self.scaled(what, unit)}{unit}"
        if what.get("type") == "integer" or "number" in (what.get("type") if isinstance(what.get("type"), list) else []) and pattern:
            return self.scaled(what, None)
        return None

    def section(self, name, percent, **fixed):
        """Some keys of a section, each with this chance."""
        out = {key: value for key, value in fixed.items() if value is not None}
        presets = self.defs[name]["properties"].get("preset", {}).get("enum")
        if presets and "preset" not in out and self.chance(12):
            out["preset"] = self.one_of(*presets)
        uet = set(self.defs["transport.uet"]["properties"]) - set(self.defs["transport.roce_rc"]["properties"])
        for key, what in self.defs[name]["properties"].items():
            if name == "host" and key in uet:
                continue  # beside transport: uet alone
            if name == "workload.job" and key == "gpus":
                continue  # beside model alone
            if key not in FIXED and key not in out and self.chance(percent * (4 if "$ref" in what or "anyOf" in what else 1)):
                beside = re.search(r"; needs (\w+)", what.get("description", ""))
                if beside and not out.get(beside[1]) and not self.chance(5):
                    continue
                value = self.value(key, what)
                if value is not None:
                    out[key] = value
        return out

    def model(self, kind, name=None, percent=6, **fixed):
        names = [key.split(".", 1)[1] for key in self.defs if key.startswith(kind + ".")]
        names = [each for each in names if each not in ("msccl", "nccl") or kind != "collective"]
        name = name or self.one_of(*names)
        self.used.add(f"{kind}.{name}")
        return {"kind": name, **self.section(f"{kind}.{name}", percent, **fixed)}

    # --- networks -------------------------------------------------------------------------------------------------

    def size(self, *values):
        return self.one_of(*values)

    def topology(self):
        """Sets what hosts are called, and how many there are of them (0: unknown)."""
        kind = self.one_of(*[key.split(".")[1] for key in self.defs if key.startswith("topology.")])
        n = self.size
        if kind in FILES and kind != "list":
            self.names, self.hosts = ["*"], 0
            return self.model("topology", kind, file=self.file(kind, 0), servers=2 if kind == "nccl" else None)
        if kind == "list":
            self.names, self.hosts, ring = [f"host-{i}" for i in range(5)], 5, range(5)
            self.used.add("topology.list")
            rate, delay = self.one_of(self.any_rate(), "3.2Tbps"), self.one_of("10ns", "150ns", "4us", f"{self.draw.randint(1, 10**6)}ps")
            return {"kind": "list", "nodes": [node for i in ring for node in ({"name": f"s{i}", "role": "switch"}, {"name": f"host-{i}", "role": "host"})],
                    "links": [link for i in ring for link in ({"from": f"s{i}", "to": f"host-{i}", "rate": rate, "delay": delay},
                                                              {"from": f"s{i}", "to": f"s{(i + 1) % 5}", "rate": rate, "delay": delay})]}
        if kind == "networks":
            self.hosts, self.names = 8, [f"{net}-host-{i}" for net in "ab" for i in range(4)]
            self.used.add("topology.networks")
            rate = self.any_rate()
            return {"kind": "networks", "networks": {net: self.model("topology", "leaf_spine", leaves=2, spines=1, hosts_per_leaf=2, rate=rate) for net in "ab"}}
        shape = {
            "single": {"hosts": n(2, 4, 9, 16)},
            "leaf_spine": {"leaves": n(2, 4), "spines": n(1, 2, 3), "hosts_per_leaf": n(2, 4), "parallel": n(1, 1, 2)},
            "clos3": {"pods": 2, "access_per_pod": 2, "aggregation_per_pod": 2, "core": n(2, 4), "hosts_per_access": n(1, 2)},
            "fat_tree": {"k": n(2, 4)},
            "ai_zone": {"zones": n(1, 2), "racks": 2, "gpus_per_rack": 4, "uplinks": n(1, 2, 4), "ctsw_uplinks": n(1, 2)},
            "dc_fabric": {"pods": n(1, 2), "rsws": 2, "hosts_per_rsw": n(2, 3), "fsws": n(1, 2), "ssws": n(1, 2)},
            "dragonfly": {"pods": n(2, 3), "tins": n(2, 3), "hosts_per_tin": n(1, 2), "gateways": n(0, 0, 2), "spines": None, "tors": None},
            "dsf_l1_zone": {"rdsws": n(4, 8), "rails": 4, "hosts_per_rdsw": n(1, 2), "fdsws": n(2, 4)},
            "dsf_l2_zone": {"rdsws": 4, "rails": 4, "hosts_per_rdsw": n(1, 2), "fdsws": n(2, 4), "zones": 2, "sdsws": n(2, 4)},
            "dsf_region": {"rdsws": 4, "rails": 4, "hosts_per_rdsw": 1, "fdsws": 2, "zones": 1, "sdsws": 2, "l2_zones": 2, "edsws": 2, "edge_fdsws": 2,
                           "edsw_superspines": 2, "superspine_links": 1, "superspine_groups": 1},
            "torus": {"size": n("2x2", "4x2", "2x2x3")},
            "group_dragonfly": {"groups": n(2, 3), "switches": 2, "hosts": n(1, 2), "global": 1},
            "scale_up": {"gpus": n(4, 8), "switches": n(1, 2), "links": 2},
            "planes": {"planes": 2, "plane": {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 2}},
        }[kind]
        if kind == "dragonfly" and shape["gateways"]:
            shape |= {"spines": 2, "tors": 2, "hosts_per_tor": 2}
        if kind.startswith("dsf"):
            self.boxes |= {"interface_node", "fabric_node"}
        if kind == "dragonfly":
            self.boxes.add("tin")
        self.hosts = {"single": shape.get("hosts"), "leaf_spine": shape.get("leaves", 0) * shape.get("hosts_per_leaf", 0),
                      "clos3": 4 * shape.get("hosts_per_access", 0), "fat_tree": shape.get("k", 0)**3 // 4,
                      "ai_zone": 8 * shape.get("zones", 0)}.get(kind, 4)
        self.names = [f"host-{i}" for i in range(self.hosts)]
        if "rate" in self.defs[f"topology.{kind}"]["properties"] and self.chance(40):
            shape["rate"] = self.any_rate()
        return self.model("topology", kind, percent=4, **shape)

    def file(self, form, number):
        """A file of this format: a random one, or one of examples/import."""
        files = random_imports.make(self.draw, form) if self.chance(60) else None
        if not files:
            return str(IMPORTS / FILES[form][0][number])
        self.files |= {f"{form}-{name}": content for name, content in files.items()}
        return f"{form}-{list(files)[number]}"

    def devices(self):
        """Settings of one host, or of some of the boxes between hosts."""
        if self.chance(50) or "switch" not in self.boxes:
            return [{"match": self.names[0], "host": self.section("host", 6)}]
        boxes = ["rdsw-0", "rdsw-[1-2]", "rdsw-*"] if "interface_node" in self.boxes else ["tin-0", "tin-*"] if "tin" in self.boxes else [
            "leaf-0", "leaf-*", "s0", "switch-0", "spine-*"]
        some = self.section("switch", 6)
        if self.chance(40):  # often idle by default
            some["aqm"] = self.model("aqm")
        return [{"match": self.one_of(*boxes, "*"), "switch": some}]

    def events(self):
        link = {"leaf_spine": "leaf-0--spine-0", "clos3": "access-0--aggregation-0", "dragonfly": "tin-0--tin-1", "list": "s2--s3"}.get(self.kind)
        if not link or not self.chance(40):
            return None
        at = self.draw.randrange(1, 40)
        return [{"at": f"{at}us", "link": link, "state": "down"}, {"at": f"{at + self.draw.randrange(1, 60)}us", "link": link, "state": "up"}]

    # --- workloads ------------------------------------------------------------------------------------------------

    def job_of_ranks(self, kind, **fixed):
        return self.model("workload", kind, percent=4, group=self.group, start=self.one_of("0s", "5us"),
                          share_hosts=self.group != "g0" and "share_hosts" in self.defs[f"workload.{kind}"]["properties"] or None, **fixed)

    def collective(self):
        name = self.one_of(*[key.split(".")[1] for key in self.defs if key.startswith("collective.")])
        self.used.add(f"collective.{name}")
        if name in ("msccl", "nccl"):
            return {"kind": name, "file": str(IMPORTS / ("msccl.xml" if name == "msccl" else "nccl/graph.xml"))}
        return self.model("collective", name)

    def training_job(self, ranks):
        """A small model, and a plan that divides the ranks."""
        sizes, rest = {}, ranks
        for name in self.draw.sample(["tp", "cp", "pp"], 3):
            sizes[name] = self.one_of(*[n for n in (1, 2, 4) if rest % n == 0])
            rest //= sizes[name]
        chunks = self.one_of(1, 2) if sizes["pp"] > 1 else 1
        experts = 8 if rest in (2, 4, 8) and self.chance(50) else 0
        model = {"layers": sizes["pp"] * chunks * self.one_of(1, 2), "hidden": 64, "heads": 8, "kv_heads": self.one_of(2, 8), "vocabulary": 1000,
                 "experts": experts, "top_k": 2, "dense_layers": self.one_of(0, 1)}
        plan = {**sizes, "chunks": chunks, "ep": rest if experts else 1, "sequence": 64, "sequences": self.one_of(1, 2, 5),
                "order": self.one_of("pp-dp", "dp-pp")}
        for flag in ("sharded", "overlap", "expert_overlap", "once", "causal", "recompute"):
            plan[flag] = self.one_of(True, False)
        return self.job_of_ranks("job", model=model, plan=plan, gpus=ranks, placement=self.model("placement"))

    def entry(self):
        kind = self.one_of(*[key.split(".")[1] for key in self.defs if key.startswith("workload.")])
        if self.hosts == 0 and kind in ("incast", "flow", "periodic", "rma") or self.imports:
            kind = self.one_of("permutation", "all_to_all", "poisson", "collective")
        if kind in WORKLOAD_FILE and self.hosts < 16 and self.chance(80):
            kind = self.one_of("permutation", "incast", "collective", "job", "rma") if self.hosts else "all_to_all"
        some = {"size": self.any_size(), "start": self.one_of("0s", "777ns", "9us"), "repeat": self.one_of(1, 1, 2), "group": self.group}
        a, b = self.draw.sample(self.names, 2) if self.hosts else ("*", "*")
        if kind in WORKLOAD_FILE:
            if kind == "chakra":
                return self.job_of_ranks(kind, file=str(IMPORTS / WORKLOAD_FILE[kind]))  # a folder
            return self.job_of_ranks(kind, file=self.file(kind, 1 if kind in ("hpcc", "htsim") else 0))
        if kind == "incast":
            return self.model("workload", kind, sources="*", dst=a, **some)
        if kind == "flow":
            return self.model("workload", kind, src=a, dst=b, interval="7us", **some)
        if kind == "periodic":
            return self.model("workload", kind, src=a, dst=b, **some | {"interval": "11us", "repeat": 3})
        if kind == "poisson":
            return self.model("workload", kind, load=self.one_of(0.05, 0.3, 0.8), duration="20us", group=self.group,
                              size=self.one_of("3KB", "16KB", "70001B"))  # of single bytes there would be millions
        if kind == "rma":
            return self.model("workload", kind, clients=a, servers=b, rate=self.one_of(100000, 500000), duration="40us", size="4KB",
                              group=self.group, transport="1rma" if "tin" in self.boxes and self.chance(70) else "software")
        if kind == "inference":
            model = {"layers": 2, "hidden": 64, "heads": 8, "kv_heads": self.one_of(2, 8), "vocabulary": 1000, "kv_width": self.one_of(0, 24)}
            arrivals = {"rate": 1000000, "requests": self.one_of(1, 5, 20), "input": self.one_of(16, 700), "input_spread": self.one_of(0, 1),
                        "output": 3, "sessions": self.one_of(0, 2)}
            transfer = {"kind": self.one_of("pull", "push"), "pieces": self.one_of(1, 2), "merge": self.one_of(0, 1, 3), "depth": self.one_of(1, 16),
                        "connections": self.one_of("kept", "new")}
            return self.model("workload", kind, percent=4, model=model, arrivals=arrivals, transfer=transfer, qps=1, group=self.group,
                              start=some["start"], prefill={"tp": self.one_of(1, 2), "cache": self.one_of(0, 2048)},
                              decode={"tp": self.one_of(1, 2), "cache": self.one_of(0, 2048), "batch": self.one_of(1, 256)})
        if kind == "collective":
            return self.job_of_ranks(kind, collective=self.collective(), size=some["size"], repeat=some["repeat"])
        if kind == "job":
            ranks = self.hosts or 4
            if self.chance(30):
                return self.training_job(ranks)
            operations = [self.section("operation", 10, collective=self.collective(), size=some["size"], compute=self.one_of("0s", "3us"))
                          for _ in range(self.one_of(1, 2))]
            return self.job_of_ranks(kind, dimensions=f"a:{ranks}", operations=operations, iterations=self.one_of(1, 2), placement=self.model("placement"))
        return self.model("workload", kind, **some)

    def workload(self):
        entries = []
        for i in range(self.one_of(1, 1, 2, 3)):
            self.group = f"g{i}"
            entries.append(self.entry())
        if self.hosts and self.chance(25):  # enough to fill buffers
            entries.append({"kind": "incast", "sources": "*", "dst": self.draw.choice(self.names), "size": self.one_of("400KB", "1MB", "3MB"), "group": "busy"})
        return entries

    # --- the whole ------------------------------------------------------------------------------------------------

    def make(self):
        out = {"name": f"random-{self.seed}"}
        origin = self.one_of(*["network"] * 6, "fabric", "import")
        self.kind, self.hosts = origin, 0
        if origin == "import":
            form = self.one_of(*FILES)
            self.used.add(f"import.{form}")
            self.files = random_imports.make(self.draw, form) if self.chance(75) else None
            self.imports = (form, list(self.files) if self.files else [str(IMPORTS / name) for name in FILES[form][0]])
            self.files = self.files or {}
            out["base"] = "imported.yaml"
            self.names = ["*"]
            if FILES[form][1] == "topology":
                self.group = "g0"
                out["workload"] = [self.entry()]
        elif origin == "fabric":
            shape = self.one_of(*[key.split(".")[1] for key in self.defs if key.startswith("fabric.")])
            self.used.add(f"fabric.{shape}")
            base = {"star": "star", "clos": self.one_of("roce-ecmp", "roce-spray", "roce-te", "uet", "roce-sfc", "roce-dcqcn"),
                    "ai_zone": self.one_of("ai-zone", "rail"), "dsf": self.one_of("dsf-l1", "dsf-l2"), "clique": "aquila", "rails": "rail-only",
                    "planes": self.one_of("dual-tor", "eight-planes"), "torus": self.one_of("torus", "torus-twisted"), "group_dragonfly": "dragonfly"}[shape]
            out |= {"base": base, "fabric": {"hosts": self.one_of(4, 8, 16), "rate": self.one_of("100Gbps", "400Gbps")}}
            self.hosts, self.names = 4, [f"host-{i}" for i in range(4)]
            out["workload"] = self.workload()
        else:
            out["topology"] = self.topology()
            self.kind = out["topology"]["kind"]
            out["workload"] = self.workload()
        self.settings(out)
        if self.hardware.random() < 0.4:
            out["hardware"] = "typical"
        run = out.get("run", {})
        if run.get("until") == "never" and run.get("sample_interval") not in (None, "0ns"):
            run["until"] = "2ms"  # a stall is told after the timeouts of NICs, which are seconds: millions of samples
        return out

    def sweep(self, out):
        """Two seeds at some values of one parameter or two."""
        def names(kind):
            return self.draw.sample([key.split(".", 1)[1] for key in sorted(self.defs) if key.startswith(kind + ".")], 2)
        axes = {"host.mtu": self.one_of(["1KB", "4KB"], "512B..4KB:3"), "host.cc": names("cc"), "switch.buffer": names("buffer"),
                "switch.route": names("route"), "run.detection": ["0ns", "5us"], "workload.0.group": ["g0", "renamed"],
                "topology.delay": "10ns..1us:2log"}
        chosen = self.draw.sample(sorted(axes), self.one_of(1, 1, 2))
        out["sweep"] = {"vary": {path: axes[path] for path in chosen} | {"run.seed": [self.seed, self.seed + 1]}}
        if self.chance(30) and "host.mtu" in chosen:
            out["sweep"]["best"] = "g0.fct.mean"
        self.used.add("sweep")
        self.sweeps = True

    def leave_out_unasked(self, out):
        """Mostly without what no box of the network goes by, which is refused."""
        if self.chance(10):
            return
        for box, keys in CONTROL.items():
            for key in keys if box not in self.boxes else ():
                out.get("control", {}).pop(key, None)
        for key in UNASKED if self.boxes & set(CONTROL) else ():
            out.get("switch", {}).pop(key, None)

    def settings(self, out):
        """What devices and the run are set to."""
        for box in sorted(self.boxes):
            self.used.add(f"box.{box}")
            if self.chance(60):
                out[box] = self.section(box, self.one_of(2, 4, 8, 15))
        if self.chance(25):
            out.setdefault("host", {})["mtu"] = self.bytes_between(self.defs["host"]["properties"]["mtu"])
        if self.kind == "networks" and self.chance(50):
            out.setdefault("host", {})["planes"] = self.one_of("separate", "queue_pair", "packet")
        for key in ("retry", "credit"):  # the same at both ends of a link, or it is refused
            if self.chance(90) and key in out.get("switch", {}) or key in out.get("host", {}):
                both = out.get("switch", {}).get(key) or out["host"][key]
                out.setdefault("switch", {})[key] = out.setdefault("host", {})[key] = both
                if key == "credit" and both["kind"] == "cbfc":
                    out["switch"]["pfc"] = out["host"]["pfc"] = {"priorities": "none"}
        if out.get("switch", {}).get("trust") == "pcp":
            out.setdefault("host", {})["vlan"] = 100
        if self.chance(20) and "workload" in out and not self.imports:
            out["host"] = {"preset": "uet", "transport": self.model("transport", "uet", spray=self.model("spray")),
                           "cc": self.model("cc", self.one_of("nscc", "rccc"))}
        for name, percent in (("dcbx", 15), ("control", 10)):
            if self.chance(percent):
                out[name] = self.section(name, 20)
        if out.get("dcbx"):
            out["dcbx"] |= {"enabled": self.one_of(True, False), "interval": self.one_of("7us", "50us"), "ttl": "1s"}
        self.leave_out_unasked(out)
        events = self.events()
        if events:
            out["events"] = events
        if self.chance(15) and not self.imports:
            out["devices"] = self.devices()
        if self.chance(12) and not self.imports:
            out["capture"] = self.section("capture", 10) | {"ports": self.one_of("*", f"{self.names[0]}/*", "host-*", "leaf-*->spine-*", "tin-0->tin-1"),
                                                            "file": "capture.pcapng"}
        until = self.one_of("400us", "400us", f"{self.draw.randint(1, 400 * 10**6)}ps", f"{self.draw.randint(1, 300)}us", "never")
        out["run"] = self.section("run", 6) | {"seed": self.seed, "until": until, "stall": "300us", "detection": self.one_of("0ns", "3us", "30us")}
        if "sample_interval" in out["run"]:
            out["run"]["sample_interval"] = "2us"
        if self.chance(12) and not self.imports:
            self.sweep(out)


def coverage(schema, seeds):
    """How many of these scenarios use each model that there is."""
    count = collections.Counter({name: 0 for name in kinds(schema)})
    for seed in seeds:
        count.update(Scenario(schema, seed).used)
    count.update({"sweep": 0} | {"import." + form: 0 for form in FILES})
    count.update({"box." + box: 0 for box in ("host", "switch", "interface_node", "fabric_node", "tin")})
    return count


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    schema = read_schema(sys.argv[1])
    first, dots, last = sys.argv[2].partition("..")
    if dots:
        for name, n in sorted(coverage(schema, range(int(first), int(last) + 1)).items()):
            print(f"{n:6} {name}")
    elif len(sys.argv) == 4:
        Scenario(schema, int(first)).write(Path(sys.argv[3]))
    else:
        print(Scenario(schema, int(first)).text, end="")


if __name__ == "__main__":
    main()
