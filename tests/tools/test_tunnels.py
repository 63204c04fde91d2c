#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RoCE inside tunnels: a capture of a run, each frame wrapped, is decoded as the capture itself. tshark, where it is
installed, finds the same packets inside."""
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
TSHARK = shutil.which("tshark")
SCENARIO = """
topology: {kind: single, hosts: 3, rate: 100Gbps}
host: {cc: dcqcn}
switch: {aqm: {kind: wred, min: 10KB, max: 40KB}}
workload:
  - {kind: flow, src: host-0, dst: host-2, size: 200KB}
  - {kind: flow, src: host-1, dst: host-2, size: 100001B, verb: send, start: 1us}
  - {kind: flow, src: host-2, dst: host-1, size: 30KB, verb: read, start: 2us}
"""
MACS = bytes.fromhex("020000000001020000000002")


def ethernet(kind, payload):
    return MACS + struct.pack(">H", kind) + payload


def tagged(*tags):
    """The frame behind (ethertype, VLAN) tags, the outermost first."""
    def wrap(frame):
        header = b"".join(struct.pack(">HH", kind, vlan) for kind, vlan in tags)
        return frame[:12] + header + frame[12:]
    return wrap


def ipv4(protocol, payload, fragment=0, src="10.9.9.1"):
    address = bytes(int(part) for part in src.split("."))
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, fragment, 64, protocol, 0, address, b"\x0a\x09\x09\x02")
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return header[:10] + struct.pack(">H", ~total & 0xFFFF) + header[12:] + payload


def over_ipv4(protocol, payload, **more):
    return ethernet(0x0800, ipv4(protocol, payload, **more))


def over_ipv6(protocol, payload):
    return ethernet(0x86DD, struct.pack(">IHBB16s16s", 0x60000000, len(payload), protocol, 64, b"\xfd" + bytes(15),
                                        b"\xfd" + bytes(14) + b"\x02") + payload)


def marked(frame):
    """The outermost IP header says CE; checksums are not looked at."""
    bits = 0x30 if frame[12:14] == b"\x86\xdd" else 0x03
    return frame[:15] + bytes([frame[15] | bits]) + frame[16:]


def udp(port, payload):
    return struct.pack(">HHHH", 49152, port, 8 + len(payload), 0) + payload


def gre(kind, payload, key=None, sequence=None, checksum=False):
    flags = (0x8000 if checksum else 0) | (0x2000 if key is not None else 0) | (0x1000 if sequence is not None else 0)
    return (struct.pack(">HH", flags, kind) + (bytes(4) if checksum else b"")
            + (struct.pack(">I", key) if key is not None else b"")
            + (struct.pack(">I", sequence) if sequence is not None else b"") + payload)


def erspan_2(frame, session=5, index=3):
    return gre(0x88BE, struct.pack(">HHI", 0x1000 | 12, 3 << 11 | session, index) + frame, sequence=9)


def erspan_3(frame, session=5, hardware=2, egress=False, more=False, kind=0):
    last = 1 << 15 | kind << 10 | hardware << 4 | (8 if egress else 0) | (1 if more else 0)
    return gre(0x22EB, struct.pack(">HHIHH", 0x2000 | 12, session, 123456, 0, last)
               + (bytes(8) if more else b"") + frame, sequence=9)


def vxlan(frame, flags=8):
    return struct.pack(">B3xI", flags, 77 << 8) + frame


def geneve(kind, payload, options=0):
    return struct.pack(">BBHI", options, 0, kind, 77 << 8) + bytes(4 * options) + payload


# name: (the kinds that are counted, once per frame; how a frame is wrapped)
WRAPPED = {
    "qinq": ({"QinQ"}, tagged((0x88A8, 100), (0x8100, 200))),
    "two-tags": ({"QinQ"}, tagged((0x8100, 100), (0x8100, 200))),
    "three-old-tags": ({"QinQ"}, tagged((0x9100, 1), (0x9100, 2), (0x8100, 3))),
    "service-tag-alone": ({"QinQ"}, tagged((0x88A8, 100))),
    "gre-ethernet": ({"GRE"}, lambda f: over_ipv4(47, gre(0x6558, f))),
    "nvgre": ({"GRE"}, lambda f: over_ipv4(47, gre(0x6558, f, key=0x123400))),
    "gre-ip": ({"GRE"}, lambda f: over_ipv4(47, gre(0x0800, f[14:], checksum=True, key=1, sequence=2))),
    "gre-over-ipv6": ({"GRE"}, lambda f: over_ipv6(47, gre(0x6558, f))),
    "erspan-1": ({"ERSPAN I"}, lambda f: over_ipv4(47, gre(0x88BE, f))),
    "erspan-2": ({"ERSPAN II"}, lambda f: over_ipv4(47, erspan_2(f))),
    "erspan-2-tagged": ({"ERSPAN II"}, lambda f: tagged((0x8100, 7))(over_ipv4(47, erspan_2(f)))),
    "erspan-3": ({"ERSPAN III"}, lambda f: over_ipv4(47, erspan_3(f))),
    "erspan-3-more": ({"ERSPAN III"}, lambda f: over_ipv4(47, erspan_3(f, more=True))),
    "erspan-3-ip": ({"ERSPAN III"}, lambda f: over_ipv4(47, erspan_3(f[14:], kind=2))),
    "vxlan": ({"VXLAN"}, lambda f: over_ipv4(17, udp(4789, vxlan(f)))),
    "vxlan-linux": ({"VXLAN"}, lambda f: over_ipv4(17, udp(8472, vxlan(f)))),
    "vxlan-ipv6": ({"VXLAN"}, lambda f: over_ipv6(17, udp(4789, vxlan(f)))),
    "vxlan-gpe": ({"VXLAN"}, lambda f: over_ipv4(17, udp(4790, struct.pack(">BxBBI", 0x0C, 0, 3, 77 << 8) + f))),
    "geneve": ({"GENEVE"}, lambda f: over_ipv4(17, udp(6081, geneve(0x6558, f)))),
    "geneve-options": ({"GENEVE"}, lambda f: over_ipv4(17, udp(6081, geneve(0x6558, f, options=3)))),
    "ip-in-ip": ({"IP in IP"}, lambda f: over_ipv4(4, f[14:])),
    "vxlan-in-erspan-in-tags": ({"QinQ", "ERSPAN II", "VXLAN"}, lambda f: tagged((0x88A8, 1), (0x8100, 2))(
        over_ipv4(47, erspan_2(over_ipv4(17, udp(4789, vxlan(f))))))),
}
# name: how a frame is wrapped, and whether the marks of the first wrapper count for the packet inside
MARKED = {
    "gre-ethernet": (lambda f: marked(over_ipv4(47, gre(0x6558, f))), True),
    "gre-over-ipv6": (lambda f: marked(over_ipv6(47, gre(0x6558, f))), True),
    "gre-ip": (lambda f: marked(over_ipv4(47, gre(0x0800, f[14:]))), True),
    "vxlan": (lambda f: marked(over_ipv4(17, udp(4789, vxlan(f)))), True),
    "vxlan-ipv6": (lambda f: marked(over_ipv6(17, udp(4789, vxlan(f)))), True),
    "vxlan-tagged": (lambda f: marked(over_ipv4(17, udp(4789, vxlan(tagged((0x8100, 7))(f))))), True),
    "vxlan-of-qinq": (lambda f: marked(over_ipv4(17, udp(4789, vxlan(tagged((0x88A8, 1), (0x8100, 2))(f))))), True),
    "geneve": (lambda f: marked(over_ipv4(17, udp(6081, geneve(0x6558, f)))), True),
    "ip-in-ip": (lambda f: marked(over_ipv4(4, f[14:])), True),
    "vxlan-in-erspan": (lambda f: over_ipv4(47, erspan_2(marked(over_ipv4(17, udp(4789, vxlan(f)))))), True),
    "erspan-1": (lambda f: marked(over_ipv4(47, gre(0x88BE, f))), False),
    "erspan-2": (lambda f: marked(over_ipv4(47, erspan_2(f))), False),
    "erspan-3-ip": (lambda f: marked(over_ipv4(47, erspan_3(f[14:], kind=2))), False),
}
# Not wrapped, or nothing that can be decoded: counted as other frames.
NOT_WRAPPED = {
    "fragment": lambda f: over_ipv4(47, erspan_2(f), fragment=0x2000),
    "gre-version-1": lambda f: over_ipv4(47, b"\x00\x01" + gre(0x6558, f)[2:]),
    "erspan-unknown-version": lambda f: over_ipv4(47, gre(0x88BE, struct.pack(">HHI", 0x7000, 5, 3) + f, sequence=9)),
    "vxlan-without-flag": lambda f: over_ipv4(17, udp(4789, vxlan(f, flags=0))),
    "geneve-version-1": lambda f: over_ipv4(17, udp(6081, b"\x40" + geneve(0x6558, f)[1:])),
    "another-port": lambda f: over_ipv4(17, udp(4788, vxlan(f))),
}


def frames_of(data):
    """(time in ns, frame) of a little-endian pcapng file with stamps in ns."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            _, high, low, captured = struct.unpack_from("<IIII", data, at + 8)
            yield high << 32 | low, data[at + 28:at + 28 + captured]
        at += length


def pcap(frames, kept=1 << 18):
    records = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 1)]
    for time, frame in frames:
        records.append(struct.pack("<IIII", time // 10**9, time % 10**9, min(kept, len(frame)), len(frame)) + frame[:kept])
    return b"".join(records)


def plain(decoded, tag=0):
    """Conversations without what depends on the wrapping: the interface, and the tag of so many bytes that stays of
    several."""
    return [{k: v - tag * row["packets"] if k == "bytes" else v for k, v in row.items() if k != "interface"}
            for row in decoded["conversations"]]


def tag_of(kinds):
    return 4 if kinds == {"QinQ"} else 0


class Tunnels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        (cls.path / "s.yaml").write_text(SCENARIO)
        subprocess.run([WEFT, "run", "s.yaml", "--quiet", "--capture", "host-2", "--out", "out"], cwd=cls.path, check=True,
                       stdout=subprocess.DEVNULL)
        cls.frames = list(frames_of((cls.path / "out/capture.pcapng").read_bytes()))
        cls.bare = cls.decode(cls.frames)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def decode(cls, frames, *arguments, kept=1 << 18):
        (cls.path / "a.pcap").write_bytes(pcap(frames, kept))
        done = subprocess.run([WEFT, "decode", "a.pcap", "--json", *arguments], cwd=cls.path, capture_output=True,
                              text=True, check=True)
        return json.loads(done.stdout)

    def wrap(self, wrap):
        return [(time, wrap(frame)) for time, frame in self.frames]

    def test_the_bare_capture_has_conversations_and_marks(self):
        self.assertGreater(len(self.bare["conversations"]), 3)
        self.assertGreater(sum(c["ce"] for c in self.bare["conversations"]), 0)
        self.assertEqual(self.bare["capture"]["unwraps"], 0)
        self.assertEqual(self.bare["tunnels"], [])

    def test_each_kind_is_decoded_as_the_frames_inside(self):
        for name, (kinds, wrap) in WRAPPED.items():
            with self.subTest(name):
                decoded = self.decode(self.wrap(wrap))
                self.assertEqual(plain(decoded, tag_of(kinds)), plain(self.bare))
                self.assertEqual({t["kind"]: t["layers"] for t in decoded["tunnels"]},
                                 {kind: len(self.frames) for kind in kinds})
                self.assertEqual(decoded["capture"]["unwraps"], len(self.frames))
                self.assertEqual(decoded["capture"]["roce"], self.bare["capture"]["roce"])
                self.assertEqual((decoded["capture"]["others"], decoded["capture"]["broken"]), (0, 0))
                self.assertEqual(sum(c["icrc_wrong"] for c in decoded["conversations"]), 0)
                self.assertEqual(sum(c["icrc_checked"] for c in decoded["conversations"]), decoded["capture"]["roce"])

    def test_marks_on_the_outside_count_inside(self):
        """As at the end of a tunnel (RFC 6040, section 4.2): where the packet inside may be marked. A mirror's copy has no end."""
        self.assertGreater(sum(c["ect"] for c in self.bare["conversations"]), sum(c["ce"] for c in self.bare["conversations"]))
        self.assertGreater(sum(c["packets"] - c["ect"] for c in self.bare["conversations"]), 0)
        for name, (wrap, counts) in MARKED.items():
            with self.subTest(name):
                decoded = plain(self.decode(self.wrap(wrap)))
                self.assertEqual([c["ce"] for c in decoded], [c["ect" if counts else "ce"] for c in self.bare["conversations"]])
                self.assertEqual([c["ect"] for c in decoded], [c["ect"] for c in self.bare["conversations"]])
                self.assertEqual(sum(c["icrc_wrong"] for c in decoded), 0)

    def test_truncated_copies_have_the_same_bytes(self):
        """Switches cut mirrored frames; lengths then come from the headers."""
        for name, (kinds, wrap) in WRAPPED.items():
            with self.subTest(name):
                decoded = self.decode(self.wrap(wrap), kept=190)
                for key in ("packets", "payload_bytes", "bytes", "writes", "reads", "sends", "ce", "gaps"):
                    self.assertEqual([c[key] for c in plain(decoded, tag_of(kinds))], [c[key] for c in plain(self.bare)], key)
                self.assertEqual(decoded["capture"]["broken"], 0)

    def test_what_cannot_be_unwrapped_is_another_frame(self):
        for name, wrap in NOT_WRAPPED.items():
            with self.subTest(name):
                decoded = self.decode(self.wrap(wrap))
                self.assertEqual(decoded["capture"]["unwraps"], 0)
                self.assertEqual(decoded["capture"]["others"], len(self.frames))
                self.assertIn("no RoCE in it", decoded["warnings"][-1]["text"])
        for kept, wrap, what in ((50, lambda f: f, "ethertype 0x0800, UDP port 4791, and is cut within its headers"),
                                 (1 << 18, NOT_WRAPPED["another-port"], "ethertype 0x0800, UDP port 4788"),
                                 (190, lambda f: over_ipv4(17, udp(4789, vxlan(f)), fragment=0x2000),
                                  "IP protocol 17, a fragment of a packet, which is not reassembled"),
                                 (190, lambda f: over_ipv6(44, b"\x11\0\0\1" + bytes(4) + udp(4789, vxlan(f))),
                                  "ethertype 0x86dd, IP protocol 44, a fragment of a packet, which is not reassembled"),
                                 (1 << 18, lambda f: over_ipv4(50, f), "ethertype 0x0800, IP protocol 50"),
                                 (1 << 18, lambda f: ethernet(0x8847, f), "ethertype 0x8847")):
            decoded = self.decode(self.wrap(wrap), kept=kept)
            self.assertTrue(decoded["warnings"][-1]["text"].endswith(what + (" (snap length)" if kept == 50 else "")), what)
        self.assertEqual(self.bare["warnings"], [])

    def test_every_length_of_a_wrapped_frame(self):
        """No length crashes, and none is decoded as something it is not."""
        for name, (_, wrap) in WRAPPED.items():
            with self.subTest(name):
                frame = wrap(self.frames[0][1])[:140]
                decoded = self.decode([(i, frame[:i]) for i in range(1, len(frame))])
                self.assertEqual(decoded["capture"]["frames"], len(frame) - 1)

    def test_mirrors_of_several_switches_are_interfaces(self):
        """The same packet mirrored twice is seen twice, and not sent twice."""
        copies = [erspan_2, lambda f: erspan_2(f, session=6), lambda f: erspan_3(f, egress=True)]
        frames = [(time, over_ipv4(47, copy(frame))) for time, frame in self.frames for copy in copies]
        frames += [(time, over_ipv4(47, erspan_2(frame), src="10.9.9.3")) for time, frame in self.frames]
        decoded = self.decode(frames)
        self.assertEqual({c["interface"] for c in decoded["conversations"]},
                         {"erspan 10.9.9.1/5/3", "erspan 10.9.9.1/6/3", "erspan 10.9.9.1/5/2/out", "erspan 10.9.9.3/5/3"})
        self.assertEqual(sum(c["resent"] + c["gaps"] for c in decoded["conversations"]),
                         4 * sum(c["resent"] + c["gaps"] for c in self.bare["conversations"]))
        self.assertEqual(len(decoded["conversations"]), 4 * len(self.bare["conversations"]))
        self.assertTrue(any("ERSPAN" in w["text"] for w in decoded["warnings"]), decoded["warnings"])

    def test_import_takes_the_flows_inside_and_says_so(self):
        (self.path / "w.pcap").write_bytes(pcap(self.wrap(WRAPPED["erspan-2"][1])))
        (self.path / "b.pcap").write_bytes(pcap(self.frames))
        flows = {}
        for name in ("w", "b"):
            done = subprocess.run([WEFT, "import", "capture", f"{name}.pcap"], cwd=self.path, capture_output=True,
                                  text=True, check=True)
            flows[name] = re.findall(r"(?m)^\s*- .*", done.stdout)
            self.assertEqual("ERSPAN II" in done.stdout, name == "w")
            self.assertNotRegex(done.stderr, "broken|lost")  # unwrapping loses nothing
        self.assertEqual(len(flows["w"]), len(flows["b"]))

    def test_text_says_how_many(self):
        (self.path / "v.pcap").write_bytes(pcap(self.wrap(WRAPPED["vxlan"][1])))
        done = subprocess.run([WEFT, "decode", "v.pcap"], cwd=self.path, capture_output=True, text=True, check=True)
        self.assertIn(f"{len(self.frames)} frames unwrapped: VXLAN {len(self.frames)}\n", done.stdout)

    @unittest.skipUnless(TSHARK, "there is no tshark (Debian's package tshark)")
    def test_tshark_finds_the_same_packets_inside(self):
        roce = self.bare["capture"]["roce"]
        for name in ("qinq", "gre-ethernet", "nvgre", "gre-ip", "erspan-1", "erspan-2", "erspan-3", "erspan-3-more",
                     "vxlan", "geneve-options", "ip-in-ip", "vxlan-in-erspan-in-tags"):
            with self.subTest(name):
                (self.path / "t.pcap").write_bytes(pcap(self.wrap(WRAPPED[name][1])))
                done = subprocess.run([TSHARK, "-r", "t.pcap", "-n", "-Y", "infiniband.bth", "-T", "fields", "-e",
                                       "infiniband.bth.psn"], cwd=self.path, capture_output=True, text=True, check=True)
                self.assertEqual(len(done.stdout.split()), roce)


if __name__ == "__main__":
    unittest.main()
