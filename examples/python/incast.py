#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Eight hosts send to one while a ninth sends elsewhere: what does the victim pay, and what helps?

From the source tree: make && PYTHONPATH=python python3 examples/python/incast.py
"""
import weft

# %% A scenario is a dict: what the YAML file would say.
scenario = {
    "topology": {"kind": "leaf_spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 4, "rate": "200Gbps",
                 "delay": "500ns"},
    "switch": {"buffer": {"kind": "static", "size": "800KB", "xoff": "600KB", "xon": "580KB"}},
    "workload": [
        {"kind": "incast", "sources": "host-4..11", "dst": "host-0", "size": "2MB", "group": "incast"},
        {"kind": "flow", "src": "host-8", "dst": "host-1", "size": "2MB", "group": "victim"},
    ],
    "variants": {
        "pfc": {},
        "pfc+dcqcn": {"host.cc": "dcqcn", "switch.aqm": {"kind": "wred", "min": "100KB", "max": "400KB"}},
        "pfc+sfc": {"switch.sfc": "fixed", "host.sfc": True},
    },
}

# %% Run every variant; tables are lists of dicts.
study = weft.Scenario(scenario)
print(f"{'variant':<12}{'victim':>10}{'incast':>10}  slowdown of the victim")
for variant in study.variants:
    result = study.run(variant)
    groups = {group["name"]: group for group in result["groups"]}
    victim, incast = groups["victim"], groups["incast"]
    print(f"{variant:<12}{victim['fct_ps.mean'] / 1e6:>8.1f}us{incast['fct_ps.max'] / 1e6:>8.1f}us"
          f"  {victim['slowdown.mean']:.2f}")

# %% Change a parameter and look at it again: which ECN threshold is best for the victim?
print("\nWRED minimum  victim")
for threshold in ("50KB", "100KB", "200KB"):
    study.set("switch.aqm", {"kind": "wred", "min": threshold, "max": "400KB"})
    flows = study.run("pfc+dcqcn")["flows"]
    print(f"{threshold:>12}{flows[-1]['fct_ps'] / 1e6:>8.1f}us")
