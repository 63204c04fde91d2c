#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program as a host: its Ethernet frames cross the simulated network and come back. What does an incast do to them?

From the source tree: make && PYTHONPATH=python python3 examples/python/host.py
"""
import weft

FABRIC = {
    "topology": {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 4, "rate": "200Gbps"},
    "workload": [{"kind": "incast", "sources": "host-[123]", "dst": "host-5", "size": "1MB", "start": "15us"}],
    "live": {"slow": 0, "hosts": {"host-0": {}, "host-4": {}}},  # 0: no wall clock, the program and the network take turns
}


def pings(scheduler):
    """Round trips of six frames of 1 KB from host-0 to host-4, one after the other, in us."""
    drive = weft.Drive(weft.Scenario({**FABRIC, "switch": {"scheduler": scheduler}}).simulation())
    sent, took = [], []

    def frame(src, dst):
        drive.put(src, drive.mac(dst) + drive.mac(src) + b"\x88\xb5" + bytes(1000))  # EtherType 0x88b5: for experiments

    def ping():
        sent.append(drive.now_ps)
        frame(0, 4)

    def back(drive, notice):
        took.append((drive.now_ps - sent[-1]) / 1e6)
        if len(took) < 6:
            ping()

    drive.attach(4, lambda drive, notice: frame(4, 0))
    drive.attach(0, back)
    ping()
    drive.run()
    return took


for scheduler in ("strict", "dwrr"):
    print(f"{scheduler:<8}", *(f"{us:8.2f}" for us in pings(scheduler)), "us")
