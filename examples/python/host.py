#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program as a host: its Ethernet frames cross the simulated network and come back. What does an incast do to them?

From the source tree: make && PYTHONPATH=python python3 examples/python/host.py
"""
import weft

fabric = weft.Scenario({
    "topology": {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 4, "rate": "200Gbps"},
    "workload": [{"kind": "incast", "sources": "host-[123]", "dst": "host-5", "size": "1MB", "start": "15us"}],
    "live": {"slow": 0, "hosts": {"host-0": {}, "host-4": {}}},  # 0: no wall clock, the program and the network take turns
})
drive = weft.Drive(fabric.simulation())
sent = []


def ping():
    sent.append(drive.now_ps)
    drive.put(0, drive.mac(4) + drive.mac(0) + b"\x88\xb5" + bytes(1000))  # EtherType 0x88b5: for experiments


def answer(drive, notice):
    drive.put(4, drive.mac(0) + drive.mac(4) + b"\x88\xb5" + bytes(1000))


def back(drive, notice):
    print(f"round trip {len(sent)}, sent at {sent[-1] / 1e6:6.2f} us: {(drive.now_ps - sent[-1]) / 1e6:6.2f} us")
    if len(sent) < 6:
        ping()


drive.attach(4, answer)
drive.attach(0, back)
ping()
drive.run()
