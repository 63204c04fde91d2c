#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures as tshark dissects them, held against what was simulated. Without tshark: skipped (exit 77)."""
import json
import os
import re
import shlex
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(os.environ["WEFT_ROOT"])
WEFT = os.environ["WEFT"]
TSHARK = shutil.which("tshark")
LUA = ROOT / "tools/wireshark/weft.lua"
STORIES = ROOT / "scenarios/congestion-avoidance"

# IBTA vol. 1, table 38.
SEND, WRITE, RESPONSE = (0x00, 0x01, 0x02, 0x04), (0x06, 0x07, 0x08, 0x0A), (0x0D, 0x0E, 0x0F, 0x10)
READ, ACK, CNP = 0x0C, 0x11, 0x81
DATA = SEND + WRITE + RESPONSE
ETH, IPV4, UDP, BTH, RETH, AETH, ICRC = 14, 20, 8, 12, 16, 4, 4

# Every frame type there is, small and large payloads, pauses of two priorities, marks, losses.
ALL_TYPES = """
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 100Gbps, bit_error_rate: 2e-7}
switch:
  pfc: {priorities: [3, 4], quanta: 500}
  buffer: {size: 120KB, xoff: 60KB, xon: 50KB}
  aqm: {kind: wred, min: 5KB, max: 50KB}
  dscp_map: {24: 3, 34: 4, 48: 7}
host: {cc: dcqcn, timeout: 100us, dscp: [0, 8, 16, 24, 34, 40, 46, 48], pfc: {priorities: [3, 4]}}
workload:
  - {kind: incast, sources: host-0..2, dst: host-4, size: 300KB, verb: write, priority: 3}
  - {kind: incast, sources: host-1..3, dst: host-5, size: 200001B, verb: send, priority: 4, qps: 2}
  - {kind: flow, src: host-6, dst: host-0, size: 100003B, verb: read, priority: 4}
  - {kind: flow, src: host-6, dst: host-1, size: 1B, verb: write}
  - {kind: flow, src: host-6, dst: host-2, size: 17B, verb: send}
  - {kind: flow, src: host-6, dst: host-3, size: 4095B, verb: read}
"""

SFC = """
topology: {kind: single, hosts: 4, rate: 200Gbps}
switch: {sfc: {kind: fixed, threshold: 50KB, pause: 10us}, buffer: {size: 2MB, xoff: 1900KB, xon: 1800KB}}
workload:
  - {kind: incast, sources: host-0..2, dst: host-3, size: 1MB, verb: write, priority: 3}
"""

# What the switch says of bandwidth: weights 1, 1, 1, 4, 1, 1, 1 of ten, priority 7 strict.
DCBX = """
topology: {kind: single, hosts: 2, rate: 100Gbps}
dcbx: {enabled: true, interval: 40us, ttl: 60s, apps: "udp:4791:3,ethertype:0x8906:4"}
switch: {pfc: {priorities: [3, 4]}, scheduler: {kind: dwrr, weights: [1, 1, 1, 4, 1, 1, 1, 1], strict: [7]}}
host: {pfc: {priorities: [3]}}
devices: [{match: "host-*", dcbx: {willing: true, capability: 4}}]
workload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]
"""


def run_weft(folder, scenario, *arguments):
    command = [WEFT, "run", scenario, "--capture", "*", "--json", "--out", "out", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def fields(capture, display_filter, *names, options=()):
    """One tuple of texts a frame."""
    command = [TSHARK, "-r", capture, "-n", "-o", "ip.check_checksum:TRUE", *options, "-Y", display_filter,
               "-T", "fields", "-E", "separator=|", *(part for name in names for part in ("-e", name))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    truths = {"True": "1", "False": "0"}  # as Wireshark 4.4 writes them
    return [tuple(",".join(truths.get(word, word) for word in cell.split(",")) for cell in line.split("|"))
            for line in done.stdout.splitlines()]


def frames_of(capture):
    """(interface, bytes captured, length) of each packet block of a little-endian pcapng file."""
    data, at = capture.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            interface, _, _, captured, whole = struct.unpack_from("<IIIII", data, at + 8)
            yield interface, data[at + 28:at + 28 + captured], whole
        at += length


def invariant_crc(frame):
    """RoCEv2 annex A17.9.3: CRC-32 over eight octets of ones and the packet, with what routers change as ones."""
    ip = bytearray(frame[ETH:-ICRC])
    ip[1] = ip[8] = ip[10] = ip[11] = 0xFF  # TOS, TTL, header checksum
    ip[IPV4 + 6] = ip[IPV4 + 7] = ip[IPV4 + UDP + 4] = 0xFF  # UDP checksum; FECN, BECN and reserved bits
    return zlib.crc32(b"\xff" * 8 + ip)


class Captured(unittest.TestCase):
    """A run in a folder of its own, with all ports captured."""

    def begin(self, scenario, *arguments):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        if isinstance(scenario, str):
            (Path(folder.name) / "s.yaml").write_text(scenario)
            scenario = "s.yaml"
        self.result = run_weft(folder.name, scenario, *arguments)
        self.capture = Path(folder.name) / "out/capture.pcapng"
        self.database = sqlite3.connect(Path(folder.name) / "out/results.sqlite")
        self.addCleanup(self.database.close)

    def fields(self, display_filter, *names, options=()):
        return fields(self.capture, display_filter, *names, options=options)

    def counters(self, column):
        return {(port, priority): n for port, priority, n in self.database.execute(
            f"select name, priority, {column} from port_counters join ports using (run, port) where {column} > 0")}

    def assert_sound(self, options=()):
        wrong = "_ws.malformed || (_ws.expert && !frame.comment) || _ws.unreassembled || ip.checksum.status == 0"
        self.assertEqual(self.fields(wrong, "frame.number", options=options), [])
        lengths = self.fields("ip", "ip.len", "udp.length", "frame.len")
        self.assertEqual({(int(f) - ETH, int(f) - ETH - IPV4) for _, _, f in lengths},
                         {(int(i), int(u)) for i, u, _ in lengths})


class EveryType(Captured):
    """One run, dissected once: a dictionary of texts a frame."""
    QUANTA = [f"macc.cbfc.pause_time.c{i}" for i in range(8)]
    COLUMNS = ["frame.interface_name", "frame.interface_description", "frame.time_epoch", "frame.packet_flags_direction", "frame.len", "frame.comment", "eth.dst", "ip.src",
               "ip.dst", "ip.dsfield.dscp", "ip.dsfield.ecn", "udp.srcport", "infiniband.bth.opcode",
               "infiniband.bth.psn", "infiniband.bth.destqp", "infiniband.bth.padcnt", "infiniband.reth.dmalen",
               "infiniband.aeth.syndrome.opcode", "infiniband.aeth.syndrome.error_code", "infiniband.invariant.crc",
               "macc.opcode", "macc.cbfc.enbv", *QUANTA]

    def test_frames(self):
        self.begin(ALL_TYPES)
        self.assert_sound()
        self.frames = [dict(zip(self.COLUMNS, row, strict=True)) for row in self.fields("frame", *self.COLUMNS)]
        self.roce = [frame for frame in self.frames if frame["infiniband.bth.opcode"]]
        self.check_kinds()
        self.check_icrc()
        self.check_sent()
        self.check_pauses()
        self.check_marks()
        self.check_flows()
        self.check_losses()
        self.check_links()

    @staticmethod
    def is_sent(frame):
        return int(frame["frame.packet_flags_direction"], 16) == 2

    @staticmethod
    def opcode(frame):
        return int(frame["infiniband.bth.opcode"])

    def check_kinds(self):
        self.assertEqual({self.opcode(frame) for frame in self.roce}, {*DATA, READ, ACK, CNP})
        naks = [frame for frame in self.roce if frame["infiniband.aeth.syndrome.opcode"] == "3"]
        self.assertGreater(len(naks), 0)
        self.assertEqual({frame["infiniband.aeth.syndrome.error_code"] for frame in naks}, {"0"})  # PSN sequence

    def check_icrc(self):
        for number, (frame, (_, written, whole)) in enumerate(zip(self.frames, frames_of(self.capture), strict=True)):
            self.assertEqual(len(written), whole)
            if frame["infiniband.bth.opcode"]:
                self.assertEqual(written[-4:], struct.pack("<I", invariant_crc(written)), number)
                if self.opcode(frame) != CNP:  # tshark shows no such field for an opcode that it does not know
                    self.assertEqual(int(frame["infiniband.invariant.crc"], 16), int.from_bytes(written[-4:], "big"))

    def check_sent(self):
        """Frames and bytes of every port and priority, by DSCP, are those that its counters count."""
        priority = {24: 3, 34: 4, 48: 7}
        sent, sizes = Counter(), Counter()
        for frame in filter(self.is_sent, self.roce):
            dscp = int(frame["ip.dsfield.dscp"])
            key = frame["frame.interface_name"], priority.get(dscp, dscp >> 3)
            sent[key] += 1
            sizes[key] += int(frame["frame.len"]) + 4  # FCS
        self.assertEqual(sent, self.counters("tx_packets"))
        self.assertEqual(sizes, self.counters("tx_bytes"))

    def check_pauses(self):
        pauses = [frame for frame in self.frames if frame["macc.opcode"]]
        self.assertEqual(len(pauses) + len(self.roce), len(self.frames))
        self.assertEqual({(int(frame["macc.opcode"], 16), frame["eth.dst"], frame["frame.len"]) for frame in pauses},
                         {(0x0101, "01:80:c2:00:00:01", "60")})
        for sent, xoff, xon in ((True, "pfc_tx_xoff", "pfc_tx_xon"), (False, "pfc_rx_xoff", "pfc_rx_xon")):
            xoffs, xons = Counter(), Counter()
            for frame in (frame for frame in pauses if self.is_sent(frame) == sent):
                for p, quanta in enumerate(frame[name] for name in self.QUANTA):
                    if int(frame["macc.cbfc.enbv"], 16) >> p & 1:
                        self.assertIn(quanta, ("0", "500"))
                        (xoffs if quanta != "0" else xons)[frame["frame.interface_name"], p] += 1
                    else:
                        self.assertEqual(quanta, "0")
            self.assertEqual({p for _, p in xoffs}, {3, 4})
            self.assertEqual(xoffs, self.counters(xoff))
            self.assertEqual(xons, self.counters(xon))

    def check_marks(self):
        """Marks that the switches counted (a frame may be marked twice) are seen, and answered as was counted."""
        marked = [frame for frame in self.roce if frame["ip.dsfield.ecn"] == "3"]
        switches = {frame["frame.interface_name"] for frame in marked if self.is_sent(frame)}
        self.assertEqual(switches >= {port for port, _ in self.counters("ecn_marked")}, True)
        control = [frame for frame in self.roce if self.opcode(frame) in (ACK, READ, CNP)]
        self.assertEqual({frame["ip.dsfield.ecn"] for frame in control}, {"0"})
        cnps = [frame for frame in control if self.opcode(frame) == CNP and not self.is_sent(frame)]
        self.assertEqual({(frame["ip.dsfield.dscp"], frame["frame.len"], frame["infiniband.bth.psn"])
                          for frame in cnps}, {("48", "74", "0")})
        received = Counter(frame["ip.dst"] for frame in cnps if frame["frame.interface_name"].startswith("host"))
        self.assertEqual(received, {f"10.0.0.{src + 1}": n for src, n in self.database.execute(
            "select src, sum(cnps) from flows group by src having sum(cnps) > 0")})

    def check_flows(self):
        """Of every flow of one queue pair that sent nothing twice: what came to its destination."""
        opcodes = {"send": SEND, "write": WRITE, "read": RESPONSE}
        more = {WRITE[0]: RETH, WRITE[3]: RETH, RESPONSE[0]: AETH, RESPONSE[2]: AETH, RESPONSE[3]: AETH}
        whole = 0
        for src, dst, verb, size, dst_name in self.database.execute(
                "select src, dst, verb, bytes, dst_name from flows where qps = 1 and packets_again = 0"):
            ends = f"10.0.0.{src + 1}", f"10.0.0.{dst + 1}", f"{dst_name}/0"
            frames = [frame for frame in self.roce if self.opcode(frame) in DATA and not self.is_sent(frame)
                      and (frame["ip.src"], frame["ip.dst"], frame["frame.interface_name"]) == ends]
            packets = (size + 4095) // 4096
            first, middle, last, only = opcodes[verb]
            self.assertEqual([self.opcode(frame) for frame in frames],
                             [only] if packets == 1 else [first] + [middle] * (packets - 2) + [last])
            self.assertEqual([int(frame["infiniband.bth.psn"]) for frame in frames], list(range(packets)))
            self.assertEqual(len({(frame["infiniband.bth.destqp"], frame["udp.srcport"]) for frame in frames}), 1)
            self.assertGreaterEqual(int(frames[0]["udp.srcport"]), 0xC000)
            self.assertEqual(size, sum(
                int(frame["frame.len"]) - ETH - IPV4 - UDP - BTH - ICRC - int(frame["infiniband.bth.padcnt"]) -
                more.get(self.opcode(frame), 0) for frame in frames))
            self.assertEqual(frames[0]["infiniband.reth.dmalen"], str(size) if verb == "write" else "")
            whole += 1
        self.assertGreaterEqual(whole, 3)

    def check_losses(self):
        lost = Counter((frame["frame.comment"], self.is_sent(frame)) for frame in self.frames if frame["frame.comment"])
        drops = dict(self.database.execute("select reason, packets from counters_drops"))
        self.assertGreater(drops["bit_error"], 0)
        self.assertEqual(lost, {("lost on the link: bit_error", True): drops["bit_error"]})


    def check_links(self):
        """What a port sent and the link did not lose came to its peer, in order, one link delay later."""
        sent, received = defaultdict(list), defaultdict(list)
        for frame in self.frames:
            port = frame["frame.interface_name"]
            peer, rate, delay = frame["frame.interface_description"].removeprefix("to ").split(", ")
            self.assertEqual((rate, delay), ("100Gbps", "150ns"))
            what = round(float(frame["frame.time_epoch"]) * 1e9), frame["infiniband.bth.psn"], frame["frame.len"]
            if not self.is_sent(frame):
                received[port].append(what)
            elif not frame["frame.comment"]:
                sent[peer].append((what[0] + 150, *what[1:]))
        self.assertEqual(sent, received)


class SmallSends(Captured):
    def test_they_are_no_rpc(self):
        """Wireshark 4.0 reads a SEND of up to 12 bytes as RPC over RDMA, beyond its end, unless told not to."""
        flows = "".join(f"  - {{kind: flow, src: host-0, dst: host-1, size: {size}B, verb: send, start: {size}us}}\n"
                        for size in (1, 2, 4, 12, 13))
        self.begin("topology: {kind: single, hosts: 2}\nworkload:\n" + flows)
        self.assert_sound(options=("--disable-heuristic", "rpcrdma_infiniband"))


class Stories(Captured):
    """Of scenarios/congestion-avoidance, as Wireshark sees them."""

    def test_write_without_congestion(self):
        self.begin(STORIES / "rdma_write.yaml")
        self.assert_sound()
        rows = self.fields("frame.interface_name == \"host-2/0\" && frame.packet_flags_direction == 1",
                           "infiniband.bth.opcode", "ip.dsfield.dscp", "ip.dsfield.ecn")
        self.assertEqual(len(rows), 245)  # 1 MB in packets of 4096 B
        self.assertEqual(Counter(rows), {("6", "24", "2"): 1, ("7", "24", "2"): 243, ("8", "24", "2"): 1})

    def test_pause_of_one_priority(self):
        self.begin(STORIES / "pfc.yaml", "--set", "capture.content=headers")
        self.assert_sound()
        first = {}
        for port, time, enabled, quanta in self.fields(
                "macc && frame.packet_flags_direction == 2", "frame.interface_name", "frame.time_epoch",
                "macc.cbfc.enbv", "macc.cbfc.pause_time.c3"):
            self.assertEqual(int(enabled, 16), 0x08)
            self.assertIn(quanta, ("0", "65535"))
            first.setdefault(port, (float(time), quanta))
        order = sorted(first, key=lambda port: first[port])
        self.assertEqual(order[0], "rail-c/E3/24")  # then the spine, then the rail switches to the NICs
        self.assertEqual(set(order[1:3]), {"spine-1/E1/24", "spine-1/E2/24"})
        self.assertEqual(set(order[3:]), {"rail-a/E10/24", "rail-b/E11/24"})
        self.assertEqual({quanta for _, quanta in first.values()}, {"65535"})


class Hops(Captured):
    """RFC 1812, section 5.3.1: a router takes 1 off the TTL. Section 3.3: a frame goes from one end of a link to the other."""
    LEAF_SPINE = """
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}
workload: [{kind: permutation, size: 20KB}, {kind: flow, src: host-0, dst: host-1, size: 20KB}]
"""
    # From a host of one rack past two spines into a Clique, through it to another TiN, and back.
    CLIQUE = """
topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, local_parallel: 1, gateways: 1, spines: 2, tors: 2,
           hosts_per_tor: 2}
workload: [{kind: flow, src: host-12, dst: host-6, size: 20KB}, {kind: flow, src: host-0, dst: host-6, size: 20KB}]
"""
    DSF = """
topology: {kind: dsf_l1_zone, rdsws: 4, hosts_per_rdsw: 2, rails: 2, fdsws: 4}
workload: [{kind: flow, src: host-0, dst: host-7, size: 20KB}]
"""

    def ttl_of(self, *arguments):
        """Of RoCE frames: TTL at each port and direction."""
        self.begin(*arguments, "--set", "capture.content=headers")
        self.assert_sound()
        number = dict(self.database.execute("select name, port from ports"))
        mac = {name: "02:00:" + ":".join(f"{port >> shift & 255:02x}" for shift in (24, 16, 8, 0))
               for name, port in number.items()}
        seen = defaultdict(set)
        self.hosts, self.links = set(), set()
        for port, description, direction, ttl, src, dst, ip_src, ip_dst in self.fields(
                "infiniband", "frame.interface_name", "frame.interface_description", "frame.packet_flags_direction",
                "ip.ttl", "eth.src", "eth.dst", "ip.src", "ip.dst"):
            peer = description.removeprefix("to ").split(", ")[0]
            out = int(direction, 16) == 2
            seen[port.rsplit("-", 1)[0], "out" if out else "in"].add(int(ttl))
            self.links.add((src, dst) == ((mac[port], mac[peer]) if out else (mac[peer], mac[port])))
            self.hosts.add((ip_src, src, ip_dst, dst))
        return dict(seen)

    def test_routers(self):
        seen = self.ttl_of(self.LEAF_SPINE)
        self.assertEqual(seen, {("host", "out"): {64}, ("leaf", "in"): {64, 62}, ("leaf", "out"): {63, 61},
                                ("spine", "in"): {63}, ("spine", "out"): {62}, ("host", "in"): {63, 61}})
        self.assertEqual(self.links, {True})

    def test_bridges(self):
        seen = self.ttl_of(self.LEAF_SPINE, "--set", "capture.switches=bridges")
        self.assertEqual({ttl for ttls in seen.values() for ttl in ttls}, {64})
        self.assertEqual(len({mac for _, src, _, dst in self.hosts for mac in (src, dst)}), 4)
        self.assertEqual(len({(ip, mac) for source, src, target, dst in self.hosts
                              for ip, mac in ((source, src), (target, dst))}), 4)

    def test_a_clique_is_one_router(self):
        seen = self.ttl_of(self.CLIQUE, "--capture", "host-*,tor-*,spine-*,tin-*")
        self.assertEqual(seen["host", "out"], {64})
        self.assertEqual(seen["host", "in"], {63, 61})  # of a neighbour; past a rack's switch, a spine and the Clique
        self.assertEqual(seen["tin", "out"], {63, 61})
        self.assertEqual(self.links, {True})

    def test_a_dsf_is_one_router(self):
        seen = self.ttl_of(self.DSF, "--capture", "host-*")
        self.assertEqual(seen, {("host", "out"): {64}, ("host", "in"): {63}})
        self.assertEqual(self.links, {True})


class Version1(Captured):
    """RoCEv1: Ethertype 0x8915 behind a tag, a global route header, from host to host; priorities by the tag."""
    SCENARIO = """
topology: {kind: single, hosts: 3, rate: 100Gbps}
host: {roce: v1, vlan: 100}
switch: {trust: pcp, buffer: {size: 120KB, xoff: 60KB, xon: 50KB}}
workload: [{kind: incast, sources: "host-1,host-2", dst: host-0, size: 300001B}]
"""

    def test_fields(self):
        self.begin(self.SCENARIO)
        self.assert_sound()
        sent = self.fields("infiniband.bth.opcode == 7 && eth.src == 02:00:00:00:00:04", "eth.dst", "vlan.id",
                           "vlan.priority", "vlan.etype", "infiniband.grh.nxthdr", "infiniband.grh.paylen", "frame.len")
        packet = BTH + 4096 + ICRC
        self.assertEqual(set(sent), {("02:00:00:00:00:03", "100", "3", "0x8915", "27", str(packet),
                                      str(ETH + 4 + 40 + packet))})
        self.assertEqual(self.fields("ip", "frame.number"), [])
        self.assertGreater(self.result["counters"]["pfc_xoff_frames"], 0)


class FourHundred(Captured):
    """IEEE 802.1Qbb: a quantum is 512 bit times, 1.28 ns at 400 Gb/s; 65535 quanta are 83.8848 us."""
    RATE = 400e9
    BYTE_NS = 8e9 / RATE
    PAUSE_NS = 65535 * 512e9 / RATE

    def begin_variant(self, variant):
        self.begin(STORIES / "pause_400g.yaml", "--variant", variant, "--capture", "rail-a/Ethernet2/24",
                   "--set", "capture.content=headers")
        self.assertAlmostEqual(self.PAUSE_NS, 83884.8)
        port = "frame.interface_name == \"rail-a/Ethernet2/24\""
        self.pauses = [(round(float(time) * 1e9), int(quanta)) for time, quanta in self.fields(
            f"{port} && frame.packet_flags_direction == 1 && macc.cbfc.enbv == 8", "frame.time_epoch",
            "macc.cbfc.pause_time.c3")]
        # begin of the first bit of the preamble: a frame is stamped with its last bit
        self.sent = [round(float(time) * 1e9) - (int(length) + 4 + 8) * self.BYTE_NS for time, length in self.fields(
            f"{port} && frame.packet_flags_direction == 2 && ip.dsfield.dscp == 24", "frame.time_epoch", "frame.len")]

    def test_pause_runs_out(self):
        """The pause begins with the last bit of its frame, and no frame begins before it is over."""
        self.begin_variant("timeout")
        self.assertEqual({quanta for _, quanta in self.pauses} - {0}, {65535})
        ran_out = 0
        for (time, quanta), (following, _) in zip(self.pauses, self.pauses[1:]):
            begun = [start for start in self.sent if time + 1 < start < following - 1]
            if quanta and begun:
                ran_out += 1
                self.assertAlmostEqual(begun[0] - time, self.PAUSE_NS, delta=2)  # both stamps are whole nanoseconds
        self.assertGreater(ran_out, 0)

    def test_xon_ends_it(self):
        self.begin_variant("refreshed")
        xons = [time for time, quanta in self.pauses if not quanta]
        self.assertGreater(len(xons), 0)
        paused_since = self.pauses[0][0]
        self.assertEqual([start for start in self.sent if paused_since + 1 < start < xons[0] - 1], [])
        self.assertGreater(xons[0] - paused_since, self.PAUSE_NS)  # longer than one pause can say
        self.assertAlmostEqual(min(start for start in self.sent if start > xons[0] - 1), xons[0], delta=2)


class Dcbx(Captured):
    """LLDP frames say how the ports are configured; 802.1AB: to 01-80-C2-00-00-0E."""
    PRIORITIES = range(8)

    def test_fields(self):
        self.begin(DCBX, "--capture", "switch-0/0", "--set", "capture.content=headers")
        self.assert_sound()
        self.check("host-0/0", "1", lossless=[3], capability=4, willing="1", shares=[0] * 8, algorithms=[0] * 8)
        self.check("switch-0/0", "2", lossless=[3, 4], capability=8, willing="0",
                   shares=[10, 10, 10, 40, 10, 10, 10, 0], algorithms=[2] * 7 + [0])

    def check(self, port, direction, lossless, capability, willing, shares, algorithms):
        columns = ["frame.time_epoch", "eth.dst", "eth.src", "lldp.chassis.id.mac", "lldp.port.id",
                   "lldp.tlv.system.name", "lldp.time_to_live", "lldp.dcbx.ieee.willing", "lldp.dcbx.ieee.pfc.numtcs",
                   "lldp.dcbx.ieee.app.prio", "lldp.dcbx.iee.app.sf", "lldp.dcbx.feature.app.proto"]
        columns += [f"lldp.dcbx.feature.pfc.prio{p}" for p in self.PRIORITIES]
        columns += [f"lldp.dcbx.feature.pg.per{p}" for p in self.PRIORITIES]
        columns += [f"lldp.dcbx.ieee.ets.tsa{p}" for p in self.PRIORITIES]
        rows = [dict(zip(columns, row, strict=True))
                for row in self.fields(f"lldp && frame.packet_flags_direction == {direction}", *columns)]
        self.assertGreaterEqual(len(rows), 2)
        apart = [float(b["frame.time_epoch"]) - float(a["frame.time_epoch"]) for a, b in zip(rows, rows[1:])]
        self.assertTrue(all(abs(time - 40e-6) < 1e-6 for time in apart), apart)  # behind at most a frame of data
        for row in rows:
            self.assertEqual(row["eth.dst"], "01:80:c2:00:00:0e")
            self.assertEqual(row["eth.src"], row["lldp.chassis.id.mac"])
            self.assertEqual((row["lldp.port.id"], row["lldp.tlv.system.name"], row["lldp.time_to_live"]),
                             (port, port.split("/")[0], "60"))
            self.assertEqual(row["lldp.dcbx.ieee.willing"], f"{willing},{willing}")  # ETS and PFC
            self.assertEqual(int(row["lldp.dcbx.ieee.pfc.numtcs"], 0), capability)
            self.assertEqual([p for p in self.PRIORITIES if row[f"lldp.dcbx.feature.pfc.prio{p}"] == "1"], lossless)
            for p in self.PRIORITIES:  # configuration and recommendation
                self.assertEqual(row[f"lldp.dcbx.feature.pg.per{p}"], f"{shares[p]},{shares[p]}")
                self.assertEqual(row[f"lldp.dcbx.ieee.ets.tsa{p}"], f"{algorithms[p]},{algorithms[p]}")
            apps = [row[name].split(",") for name in columns[9:12]]
            self.assertEqual([[int(x, 0) for x in app] for app in apps], [[3, 4], [3, 1], [4791, 0x8906]])


def runs_scripts():
    """From version 4.2 on, Wireshark runs no Lua script for root."""
    if not TSHARK:
        return False
    asked = subprocess.run([TSHARK, "-X", f"lua_script:{LUA}", "-r", os.devnull, "-Y", "weft.cnp"], capture_output=True, text=True, check=False)
    return "not a valid protocol" not in asked.stderr


SCRIPTS = unittest.skipUnless(runs_scripts(), "this Wireshark runs no Lua scripts for root")


@SCRIPTS
class Dissector(Captured):
    """tools/wireshark/weft.lua beside Wireshark's own dissectors."""
    OPTIONS = ("-X", f"lua_script:{LUA}")

    def test_cnp(self):
        for mark, becn, fecn in (("becn", "1", ""), ("fecn", "", "1")):
            self.begin(ALL_TYPES, "--capture", "host-1", "--set", f"capture.cnp={mark}")
            rows = self.fields("weft.cnp", "infiniband.bth.opcode", "weft.cnp.dest_qp", "infiniband.bth.destqp",
                               "weft.cnp.reserved", "weft.bth.becn", "weft.bth.fecn", options=self.OPTIONS)
            plain = self.fields(f"infiniband.bth.opcode == {CNP}", "frame.number")
            self.assertEqual(len(rows), len(plain))
            self.assertGreater(len(rows), 0)
            for opcode, qp, qp_of_tshark, reserved, has_becn, has_fecn in rows:
                self.assertEqual((opcode, qp, reserved), (str(CNP), qp_of_tshark, "00" * 16))
                self.assertEqual((has_becn or "0", has_fecn or "0"), (becn or "0", fecn or "0"))
            info = self.fields("weft.cnp", "_ws.col.Info", options=self.OPTIONS)[0][0]
            self.assertEqual(info, f"CNP {mark.upper()} QP={rows[0][1]}")
            wrong = "_ws.malformed || (_ws.expert && !frame.comment) || _ws.lua.error"
            self.assertEqual(self.fields(wrong, "frame.number", options=self.OPTIONS), [])

    def test_sfcm(self):
        """Messages at the senders are those that the switches count; they name the flow and the pause configured."""
        self.begin(SFC, "--capture", "host-0,host-1,host-2")
        self.assert_sound(options=self.OPTIONS)
        rows = self.fields("weft_sfcm && frame.packet_flags_direction == 1", "frame.interface_name", "ip.src", "ip.dst",
                           "ip.dsfield.dscp", "frame.len", "weft.sfcm.priority", "weft.sfcm.pause_ns",
                           "weft.sfcm.dest_qp", "weft.sfcm.src_port", options=self.OPTIONS)
        (sent,) = self.database.execute("select sum(sfc_sent) from port_counters").fetchone()
        self.assertGreater(sent, 0)
        self.assertEqual(len(rows), sent)
        flows = self.fields("infiniband.bth.opcode == 6", "ip.src", "ip.dst", "infiniband.bth.destqp", "udp.srcport")
        for port, src, dst, dscp, size, priority, pause, qp, src_port in rows:
            self.assertEqual((dscp, size, priority, pause), ("48", "60", "3", "10000"))
            self.assertEqual(port, f"host-{int(dst.split('.')[3]) - 1}/0")
            self.assertIn((dst, src, qp, src_port), flows)

    def test_headers_only(self):
        self.begin(STORIES / "rdma_write.yaml", "--set", "capture.content=headers")
        self.assert_sound()
        rows = self.fields("infiniband.bth.opcode == 7", "_ws.col.Info", "frame.len", "frame.cap_len",
                           options=self.OPTIONS)
        self.assertEqual(rows[0], ("RC RDMA WRITE Middle QP=0x000002 PSN=1 (headers only)", "4154", "54"))
        self.assertEqual({row[1:] for row in rows}, {("4154", "54")})


    def test_gnet(self):
        """Cells of a TiN's links: as many as its ports count, of the types and lengths of the paper, CRCs right."""
        self.begin(ROOT / "scenarios/aquila/small.yaml", "--variant", "ip", "--capture", "tin-0/[0-7]", "--set",
                   "tin.trace=10")
        rows = self.fields("gnet && frame.packet_flags_direction == 2", "frame.interface_name", "frame.len",
                           "gnet.length", "gnet.type", "gnet.src", "gnet.dst", "gnet.trace", "gnet.slot",
                           options=self.OPTIONS)
        sent = dict(self.database.execute("select name, cells from gnet_ports join ports using (run, port)"
                                          " where node = 'tin-0'").fetchall())
        self.assertEqual(Counter(row[0] for row in rows), sent)
        self.assertEqual({row[3] for row in rows}, {"1", "2", "4"})
        for _, size, length, kind, src, dst, _, slot in rows:
            self.assertEqual(size, length)
            self.assertTrue(int(size) == 16 if kind in "12" else 16 <= int(size) <= 160)
            self.assertEqual(kind == "4", src == "")  # data names the slot that awaits it instead
            self.assertEqual(kind == "4", slot != "")
            for address in (src, dst) if src else (dst,):
                pod, tin = map(int, address.split("."))
                self.assertTrue(pod < 4 and tin < 4)
        traced, = self.database.execute("select count(*) from cell_hops where tin = 'tin-0' and port_out not null").fetchone()
        self.assertGreater(traced, 0)
        self.assertEqual(sum(row[6] in ("1", "True") for row in rows), traced)
        self.assertEqual(self.fields("gnet.bad_crc || _ws.malformed || _ws.lua.error", "frame.number",
                                     options=self.OPTIONS), [])


class Interfaces(Captured):
    def test_names_speeds_and_hosts(self):
        self.begin(STORIES / "pfc.yaml", "--capture", "rail-c/E3/24,gpu-3")
        about = subprocess.run([shutil.which("capinfos"), self.capture], capture_output=True, text=True, check=True)
        for line in ("Name = rail-c/E3/24", "Description = to spine-1/E3/24, 400Gbps, 500ns", "Speed = 400000000000",
                     "Name = gpu-3/0", "Speed = 100000000000", "Time precision = nanoseconds (9)",
                     "Number of resolved IPv4 addresses in file: 5"):
            self.assertIn(line, about.stdout)
        hosts = fields(self.capture, "ip", "ip.src_host", "ip.dst_host", options=("-N", "n"))
        self.assertEqual(set(hosts) & {("gpu-1", "gpu-3")}, {("gpu-1", "gpu-3")})


class Decoded(Captured):
    """weft decode counts what tshark counts."""

    def decoded(self):
        done = subprocess.run([WEFT, "decode", self.capture, "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def assert_conversations(self):
        counts = defaultdict(Counter)
        names = ("frame.interface_name", "ip.src", "ip.dst", "infiniband.bth.destqp", "infiniband.bth.opcode",
                 "ip.dsfield.ecn", "infiniband.aeth.syndrome.opcode", "frame.len")
        for interface, src, dst, qp, opcode, ecn, aeth, size in fields(self.capture, "infiniband", *names):
            opcode = int(opcode)
            count = counts[interface or "0", src, dst, int(qp, 0)]
            count.update(packets=1, bytes=int(size), ce=ecn == "3", cnps=opcode == CNP, acks=opcode == ACK,
                         naks=opcode == ACK and aeth == "3")
        self.assertGreater(len(counts), 0)
        rows = self.decoded()["conversations"]
        self.assertEqual({(r["interface"], r["src"], r["dst"], r["qp"]) for r in rows}, set(counts))
        for r in rows:
            count = counts[r["interface"], r["src"], r["dst"], r["qp"]]
            self.assertEqual({key: r[key] for key in ("packets", "bytes", "ce", "cnps", "acks", "naks")},
                             {key: count[key] for key in ("packets", "bytes", "ce", "cnps", "acks", "naks")}, r)

    def test_a_run_of_weft(self):
        self.begin(ALL_TYPES)
        self.assert_conversations()
        for priority in (3, 4):
            frames = fields(self.capture, f"macc.cbfc.enbv.c{priority} == 1", f"macc.cbfc.pause_time.c{priority}")
            rows = [r for r in self.decoded()["pauses"] if r["priority"] == priority]
            self.assertGreater(len(frames), 0)
            self.assertEqual(sum(r["xon"] for r in rows), frames.count(("0",)))
            self.assertEqual(sum(r["xoff"] + r["xon"] for r in rows), len(frames))

    def test_headers_only(self):
        self.begin(ALL_TYPES, "--set", "capture.content=headers")
        self.assert_conversations()

    def test_a_capture_of_linux(self):
        self.capture = ROOT / "tests/data/linux-rxe-rocev2.pcap"
        self.assert_conversations()


@SCRIPTS
class Page(unittest.TestCase):
    """```tshark blocks of docs/capture.md: after each line "$ command" stands what it prints."""

    def test_it_prints_that(self):
        blocks = re.findall(r"^```tshark\n(.*?)^```", (ROOT / "docs/capture.md").read_text(), re.DOTALL | re.MULTILINE)
        self.assertGreater(len(blocks), 0)
        for block in blocks:
            with tempfile.TemporaryDirectory() as folder:
                for name in ("scenarios", "tools"):
                    (Path(folder) / name).symlink_to(ROOT / name)
                for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                    done = subprocess.run(command.replace("build/weft", shlex.quote(WEFT)), shell=True, cwd=folder,
                                          capture_output=True, text=True, check=True)
                    self.assertEqual(done.stdout.rstrip(), shown.rstrip())


if __name__ == "__main__":
    if not TSHARK:
        print("skipped: there is no tshark (Debian's package tshark)")
        sys.exit(77)
    unittest.main()
