#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft and Debian's lldpd understand each other, over a veth pair in namespaces of this test's own: what lldpd sends
is read by weft dcbx, and the LLDP frames of a simulated port are read by lldpd. lldpd has no DCBX of its own; its custom
TLVs carry what weft looks for. Where that is not possible: skipped (exit 77), with the reason.

usage: test_lldpd.py [--keep FILE]    --keep: the capture of what lldpd sent is copied there
"""
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
FETCHED = Path(os.environ.get("WEFT_LLDPD", "/nonexistent"))  # a folder made by tools/fetch-lldpd
INSIDE = "WEFT_TEST_INSIDE"  # set in the namespaces
LLDP_ETHERTYPE, ALL_ETHERTYPES = 0x88CC, 3
MULTICAST = bytes.fromhex("0180c200000e")
OURS, THEIRS = "weft0", "lldpd0"  # the ends of the veth pair
THEIR_MAC, HOSTNAME = "02:00:00:00:4c:44", "leaf-7"
# IEEE 802.1Q D.2.8 to D.2.11, written down byte by byte.
TLVS = {
    9: bytes([0x80, 0x00, 0x01, 0x00, 0x00, 60, 40, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0]),
    10: bytes([0x00, 0x01, 0x23, 0x45, 0x67, 10, 10, 10, 40, 10, 10, 10, 0, 2, 2, 2, 2, 2, 2, 2, 0]),
    11: bytes([0x88, 0x18]),
    12: bytes([0x00, 0x63, 0x12, 0xB7, 0x81, 0x89, 0x06]),
}
SIMULATED = """
topology: {kind: single, hosts: 2}
dcbx: {enabled: true, willing: true, ttl: 90s}
switch: {pfc: {priorities: [3, 5]}}
workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB}]
"""


def program(name):
    path = FETCHED / "usr/sbin" / name
    return str(path) if path.exists() else shutil.which(name)


def libraries():
    folders = [str(path) for path in FETCHED.glob("**/*-linux-gnu") if path.is_dir()]
    return dict(os.environ, LD_LIBRARY_PATH=":".join(folders)) if folders else dict(os.environ)


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30, **options)


def wait_for(what, seconds=20):
    """What `what` gives, as soon as that is something."""
    end = time.monotonic() + seconds
    while True:
        found = what()
        if found or time.monotonic() > end:
            return found
        time.sleep(0.1)


def why_not():
    """Why this machine does not allow the test, or None."""
    if os.geteuid() != 0:
        return "namespaces with an interface need root"
    for name in ("unshare", "ip", "mount"):
        if not shutil.which(name):
            return f"there is no {name}"
    if not program("lldpd") or not program("lldpcli"):
        return "there is no lldpd (tools/fetch-lldpd fetches one)"
    script = f"ip link add {OURS} type veth peer name {THEIRS} && mount -t tmpfs none /run"
    tried = subprocess.run([*UNSHARE, "sh", "-c", script], capture_output=True, text=True, check=False, timeout=30)
    return f"no namespaces with veth here: {tried.stderr.strip()}" if tried.returncode else None


UNSHARE = ["unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc",
           "--propagation", "private"]


class Interop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        run("hostname", HOSTNAME) if shutil.which("hostname") else socket.sethostname(HOSTNAME)
        run("mount", "-t", "tmpfs", "none", "/run")
        cls.add_user("/etc/passwd", "_lldpd:x:987:987::/run/lldpd:/usr/sbin/nologin\n")
        cls.add_user("/etc/group", "_lldpd:x:987:\n")
        run("ip", "link", "add", OURS, "type", "veth", "peer", "name", THEIRS, "address", THEIR_MAC)
        for name in ("lo", OURS, THEIRS):
            run("ip", "link", "set", name, "up")
        cls.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_ETHERTYPES))
        cls.wire.bind((OURS, 0))
        cls.wire.settimeout(1)
        with open(cls.folder / "log", "w", encoding="utf-8") as log:
            cls.lldpd = subprocess.Popen(
                [program("lldpd"), "-d", "-k", "-i", "-u", "/run/lldpd.sock", "-L", program("lldpcli"), "-I", THEIRS,
                 "-O", "/nonexistent", "-S", "data centre switch"], stdout=log, stderr=log, env=libraries())
        if not wait_for(lambda: cls.cli("show", "configuration")):
            raise RuntimeError("lldpd does not answer: " + (cls.folder / "log").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.lldpd.kill()
        cls.lldpd.wait()
        cls.wire.close()
        shutil.rmtree(cls.folder)

    @classmethod
    def add_user(cls, path, line):
        """lldpd gives up its rights to a user of its own, who is not there where it was not installed."""
        text = Path(path).read_text(encoding="utf-8")
        if "\n_lldpd:" in text:
            return
        copy = cls.folder / Path(path).name
        copy.write_text(text + line, encoding="utf-8")
        copy.chmod(0o644)
        run("mount", "--bind", copy, path)

    @classmethod
    def cli(cls, *words):
        """What lldpcli answers; None if it could not ask."""
        done = subprocess.run([program("lldpcli"), "-u", "/run/lldpd.sock", "-f", "json0", *words], check=False,
                              capture_output=True, text=True, timeout=10, env=libraries())
        return done.stdout or "{}" if done.returncode == 0 else None

    def frames_of_lldpd(self, wanted):
        """An LLDP frame from the other end that is as `wanted`, as soon as it comes twice without a change."""
        before, end = None, time.monotonic() + 20
        header = MULTICAST + bytes.fromhex(THEIR_MAC.replace(":", "")) + struct.pack("!H", LLDP_ETHERTYPE)
        while time.monotonic() < end:
            try:
                frame = self.wire.recv(2048)
            except TimeoutError:
                continue
            if frame.startswith(header) and wanted(frame):
                if frame == before:
                    return [before, frame]
                before = frame
        return []

    def test_weft_reads_lldpd(self):
        self.cli("configure", "system", "interface", "pattern", THEIRS)
        self.cli("configure", "lldp", "portidsubtype", "ifname")
        for subtype, value in TLVS.items():
            info = ",".join(f"{octet:02x}" for octet in value)
            self.assertIsNotNone(self.cli("configure", "lldp", "custom-tlv", "add", "oui", "00,80,c2", "subtype",
                                          str(subtype), "oui-info", info))
        self.cli("configure", "lldp", "tx-interval", "1")
        frames = self.frames_of_lldpd(lambda frame: all(value in frame for value in TLVS.values()))
        self.assertEqual(len(frames), 2, "lldpd sent no frame with the TLVs")
        capture = self.folder / "lldpd.pcap"
        capture.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(
            struct.pack("<IIII", i, 0, len(frame), len(frame)) + frame for i, frame in enumerate(frames)))
        if KEEP:
            shutil.copy(capture, KEEP)
        said = json.loads(run(WEFT, "dcbx", capture, "--json", "--pfc", "3", "--willing", "--ets",
                              "20,0,0,40,40,s,s,s").stdout)
        self.assertEqual((said["lldp_frames"], said["unreadable"], len(said["senders"])), (2, 0, 1))
        sender = said["senders"][0]
        self.assertEqual((sender["mac"], sender["system_name"], sender["port"]), (THEIR_MAC, HOSTNAME, THEIRS))
        self.assertEqual(sender["pfc"], dict(willing=True, macsec_bypass=False, capability=8, enabled=[3, 4]))
        self.assertEqual(sender["ets"], dict(
            willing=True, credit_shaper=False, classes=8, class_of_priority=[0, 0, 0, 1, 0, 0, 0, 0],
            percent_of_class=[60, 40, 0, 0, 0, 0, 0, 0], algorithm_of_class=[2, 2, 0, 0, 0, 0, 0, 0]))
        self.assertEqual(sender["ets_recommendation"]["percent_of_class"], [10, 10, 10, 40, 10, 10, 10, 0])
        self.assertEqual([(app["name"], app["priority"]) for app in sender["applications"]],
                         [("UDP 4791 (RoCEv2)", 3), ("EtherType 0x8906 (FCoE)", 4)])
        negotiated = sender["negotiated"]  # our address, 02:00:00:00:00:00, is the lower one
        self.assertEqual((negotiated["pfc"], negotiated["lossless"]), ([3], [3]))
        self.assertEqual(negotiated["percent_of_class"], [10, 10, 10, 40, 10, 10, 10, 0])

    def test_lldpd_reads_weft(self):
        scenario, out = self.folder / "s.yaml", self.folder / "out"
        scenario.write_text(SIMULATED, encoding="utf-8")
        run(WEFT, "run", scenario, "--quiet", "--capture", "switch-0/0", "--out", out)
        frame = self.first_lldp((out / "capture.pcapng").read_bytes(), bytes.fromhex("020000000000"))
        seen = wait_for(lambda: self.wire.send(frame) and self.neighbours(), 10)
        self.assertTrue(seen, "lldpd has not seen the frame")
        neighbour = seen[0]
        self.assertEqual(self.value(neighbour, "chassis", "id"), "02:00:00:00:00:00")
        self.assertEqual(self.value(neighbour, "chassis", "name"), "switch-0")
        self.assertEqual(self.value(neighbour, "port", "id"), "switch-0/0")
        self.assertEqual(self.value(neighbour, "port", "ttl"), "90")
        tlvs = {int(tlv["subtype"]): tlv for tlv in neighbour["unknown-tlvs"][0]["unknown-tlv"]}
        self.assertEqual(sorted(tlvs), [9, 10, 11, 12])
        for tlv in tlvs.values():
            self.assertEqual(tlv["oui"], "00,80,C2")
        self.assertEqual(tlvs[11]["value"], "88,28")  # willing, 8 at most, 3 and 5
        self.assertEqual(tlvs[12]["value"], "00,63,12,B7")  # UDP 4791: 3
        self.assertEqual(int(tlvs[9]["len"]), 21)

    def neighbours(self):
        """Of the interface of lldpd."""
        answer = json.loads(self.cli("show", "neighbors", "details") or "{}").get("lldp", [{}])
        return answer[0].get("interface")

    @staticmethod
    def value(neighbour, section, key):
        return neighbour[section][0][key][0]["value"]

    @staticmethod
    def first_lldp(pcapng, sender):
        """The first LLDP frame from `sender` in enhanced packet blocks."""
        at = 0
        while at < len(pcapng):
            kind, length = struct.unpack_from("<II", pcapng, at)
            captured = struct.unpack_from("<I", pcapng, at + 20)[0] if kind == 6 else 0
            frame = pcapng[at + 28:at + 28 + captured]
            if frame[:12] == MULTICAST + sender:
                return frame
            at += length
        raise AssertionError("no LLDP frame in the capture")


KEEP = os.path.abspath(sys.argv.pop()) if len(sys.argv) == 3 and sys.argv.pop(1) == "--keep" else None

if __name__ == "__main__":
    if os.environ.get(INSIDE):
        unittest.main(argv=sys.argv[:1])
    reason = why_not()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    again = [*UNSHARE, sys.executable, os.path.abspath(__file__), *(["--keep", KEEP] if KEEP else [])]
    sys.exit(subprocess.run(again, env=dict(os.environ, **{INSIDE: "1"}), check=False, timeout=120).returncode)
