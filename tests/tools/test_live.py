#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft live with hosts that are sockets of this test: frames cross, bad input is named and harms nobody, commands act, and
the replay has the digest of the live run. Namespaces with ping and iperf3, and guests of QEMU, are in test_live_hosts.py."""
import json
import os
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
SCENARIO = """hardware: ideal
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}
workload: [{kind: incast, sources: "host-6", dst: host-3, size: 500KB}]
live: {slow: 20000, lateness: 1000, hosts: {host-0: {unix: h0.sock}, host-4: {unix: h4.sock, mtu: 1500B},
       host-5: {dgram: h5.sock, peer: p5.sock}}}
"""


def mac(n):
    return bytes((2, 0x11, 0, 0, 0, n))


def frame(dst, src, number, size=200, kind=0x88b5):
    return dst + src + struct.pack(">HI", kind, number) + bytes(size - 18)


def checked_ipv4(dst, src, number, dscp=0):
    head = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, dscp << 2 | 2, 20 + 8 + 4, 0, 0, 64, 17, 0, bytes(4), bytes(4)))
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    head[10:12] = struct.pack(">H", ~((total & 0xffff) + (total >> 16)) & 0xffff)
    return dst + src + b"\x08\x00" + bytes(head) + struct.pack(">HHHHI", 50000, 4791, 12, 0, number)


class Stream:
    """A host at a stream socket, as QEMU is one."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.socket.settimeout(20)
        self.bytes = b""

    def send(self, *frames):
        self.socket.sendall(b"".join(struct.pack(">I", len(f)) + f for f in frames))

    def receive(self):
        while len(self.bytes) < 4 or len(self.bytes) < 4 + struct.unpack_from(">I", self.bytes)[0]:
            more = self.socket.recv(1 << 16)
            assert more, "weft has closed the socket"
            self.bytes += more
        size = struct.unpack_from(">I", self.bytes)[0]
        taken, self.bytes = self.bytes[4:4 + size], self.bytes[4 + size:]
        return taken


class Live(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.dir = Path(self.place.name)
        (self.dir / "x.yaml").write_text(SCENARIO)
        self.process = None

    def tearDown(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.communicate()
        self.place.cleanup()

    def start(self, *args):
        self.process = subprocess.Popen([WEFT, "live", "x.yaml", "--out", "out", "--json", *args], cwd=self.dir,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2000):
            if (self.dir / "out/control.sock").exists():
                break
            self.assertIsNone(self.process.poll(), self.process.poll() is not None and self.process.stderr.read())
            time.sleep(0.005)
        self.dgram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.dgram.bind(str(self.dir / "out/p5.sock"))
        self.dgram.settimeout(20)
        self.addCleanup(self.dgram.close)
        return self.connect("h0.sock"), self.connect("h4.sock")

    def connect(self, name):
        host = Stream(self.dir / "out" / name)
        self.addCleanup(host.socket.close)
        return host

    def put_dgram(self, bytes_):
        self.dgram.sendto(bytes_, str(self.dir / "out/h5.sock"))

    def command(self, text):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.connect(str(self.dir / "out/control.sock"))
            s.sendall(text.encode() + b"\n")
            s.settimeout(20)
            return s.recv(4096).decode().strip()

    def finish(self):
        self.assertEqual(self.command("quit"), "ok")
        out, err = self.process.communicate(timeout=60)
        self.assertEqual(self.process.returncode, 0, err)
        answer = json.loads(out)
        for threads in ("1", "2"):
            again = subprocess.run([WEFT, "run", "out/replay.yaml", "--threads", threads, "--oversubscribe", "--json"],
                                   cwd=self.dir, capture_output=True, text=True)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(json.loads(again.stdout)["digest"], answer["digest"], threads)
        self.assertEqual({p.name for p in (self.dir / "out").iterdir()} - {"p5.sock"}, {"live.pcapng", "replay.yaml"})
        return answer, {h["name"]: h for h in answer["hosts"]}

    def ask(self, port, path="/data", host=None, method="GET"):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
            s.sendall(f"{method} {path} HTTP/1.1\r\nHost: {host or f'localhost:{port}'}\r\n\r\n".encode())
            got = b""
            while more := s.recv(1 << 16):
                got += more
        head, _, body = got.decode().partition("\r\n\r\n")
        return head.split("\r\n")[0].split(" ", 2)[1], head, body

    def introduce(self, a, b):
        """All learn each other's addresses: a flooded frame of each goes to the others."""
        for send, n in ((a.send, 1), (b.send, 2), (self.put_dgram, 3)):
            send(frame(b"\xff" * 6, mac(n), n))
        for receive, own in ((a.receive, 1), (b.receive, 2), (lambda: self.dgram.recv(1 << 16), 3)):
            got = {receive()[11] for _ in range(2)}
            self.assertEqual(got, {1, 2, 3} - {own})

    def test_frames_cross_both_ways_and_the_replay_is_the_run(self):
        a, b = self.start()
        for name in ("h0.sock", "h4.sock", "h5.sock", "control.sock"):
            self.assertEqual(stat.S_IMODE(os.stat(self.dir / "out" / name).st_mode), 0o600, name)
        self.introduce(a, b)
        there = [frame(mac(2), mac(1), i, 60 + i) for i in range(1000)]
        back = [checked_ipv4(mac(1), mac(2), i, 26) for i in range(1000)]
        for i in range(0, 1000, 50):
            a.send(*there[i:i + 50])
            b.send(*back[i:i + 50])
        self.assertEqual([b.receive() for _ in there], there)
        self.assertEqual([a.receive() for _ in back], back)
        self.put_dgram(frame(mac(1), mac(3), 7))
        self.assertEqual(a.receive(), frame(mac(1), mac(3), 7))
        a.send(frame(mac(3), mac(1), 8))
        self.assertEqual(self.dgram.recv(1 << 16), frame(mac(3), mac(1), 8))
        answer, hosts = self.finish()
        self.assertEqual(answer["frames"], 2002)
        self.assertEqual(answer["delivered"], 2002)
        self.assertEqual(hosts["host-0"]["sent"], 1001)
        self.assertEqual(hosts["host-4"]["bad_checksums"], 0)
        self.assertGreater(answer["round_trip_ps"], 0)

    def test_bad_frames_are_named_and_harm_nobody(self):
        a, b = self.start()
        self.introduce(a, b)
        a.send(b"", b"x" * 13, bytes(70000), frame(mac(2), mac(1), 0, 65535), frame(mac(2), mac(1), 1, 9000))
        a.send(frame(mac(9), mac(1), 2), frame(mac(1), mac(1), 3), frame(bytes((2, 0, 0, 0, 0, 99)), mac(1), 4))
        a.send(frame(b"\x01\x80\xc2\0\0\x0e", mac(1), 5, kind=0x88cc), frame(b"\x01\x80\xc2\0\0\x01", mac(1), 6, kind=0x8808))
        a.send(frame(b"\x01\x80\xc2\0\0\x02", mac(1), 7), frame(mac(2), mac(1), 8, kind=0x8100), frame(mac(2), b"\x03" * 6, 9))
        broken = bytearray(checked_ipv4(mac(2), mac(1), 10))
        broken[24] ^= 1
        a.send(bytes(broken), frame(mac(2), mac(1), 11, 1515), frame(mac(2), mac(1), 12, 1514))
        self.assertEqual(b.receive(), frame(mac(9), mac(1), 2))
        self.assertEqual(b.receive(), frame(bytes((2, 0, 0, 0, 0, 99)), mac(1), 4))
        self.assertEqual(b.receive(), bytes(broken))
        self.assertEqual(b.receive(), frame(mac(2), mac(1), 12, 1514))
        _, hosts = self.finish()
        h = hosts["host-0"]
        self.assertEqual({k: h[k] for k in ("short", "long", "unknown", "own", "lldp", "pause", "reserved", "vlan",
                                            "bad_source", "bad_checksums", "sent", "flooded")},
                         {"short": 2, "long": 3, "unknown": 2, "own": 1, "lldp": 1, "pause": 1, "reserved": 1, "vlan": 1,
                          "bad_source": 1, "bad_checksums": 1, "sent": 3, "flooded": 1})
        self.assertEqual(hosts["host-4"]["too_long"], 1)

    def test_a_stream_of_something_else_ends_that_host_alone(self):
        a, b = self.start()
        self.introduce(a, b)
        a.socket.sendall(b"GET / HTTP/1.1\r\n")
        self.assertEqual(a.socket.recv(1), b"")
        b.send(frame(mac(3), mac(2), 1))
        self.assertEqual(self.dgram.recv(1 << 16), frame(mac(3), mac(2), 1))
        _, hosts = self.finish()
        self.assertIn("1 MiB", hosts["host-0"]["ended"])
        self.assertIsNone(hosts["host-4"]["ended"])

    def test_a_closed_socket_is_the_end_of_a_host_until_it_comes_back(self):
        a, b = self.start()
        self.introduce(a, b)
        a.socket.close()
        b.send(frame(mac(1), mac(2), 1))
        time.sleep(0.2)
        a = self.connect("h0.sock")
        a.send(frame(mac(2), mac(1), 2))
        self.assertEqual(b.receive(), frame(mac(2), mac(1), 2))
        _, hosts = self.finish()
        self.assertEqual(hosts["host-0"]["refused"], 1)
        self.assertEqual(hosts["host-0"]["connections"], 2)

    def test_a_link_goes_down_under_traffic(self):
        a, b = self.start()
        self.introduce(a, b)
        self.assertIn("expected link NAME", self.command("link leaf-0"))
        self.assertIn("no-such", self.command("link no-such/1 down"))
        a.send(*(frame(mac(2), mac(1), i) for i in range(100)))
        for i in range(100):
            self.assertEqual(b.receive(), frame(mac(2), mac(1), i))
        self.assertEqual(self.command("link host-4/0 down"), "link host-4/0 down")
        a.send(*(frame(mac(2), mac(1), i) for i in range(100, 120)))
        time.sleep(0.3)
        self.assertEqual(self.command("link host-4/0 up"), "link host-4/0 up")
        time.sleep(0.3)
        self.assertEqual(self.command("mark the link is back"), "ok")
        self.assertEqual(self.command("slow 10000"), "ok")
        self.assertIn("slow 10000", self.command("status"))
        a.send(frame(mac(2), mac(1), 200))
        self.assertEqual(b.receive(), frame(mac(2), mac(1), 200))
        answer, _ = self.finish()
        self.assertEqual(answer["frames"] - answer["delivered"], 20)
        self.assertEqual([n["text"] for n in answer["notes"]], ["link host-4/0 down", "link host-4/0 up", "the link is back"])
        self.assertEqual(answer["restarts"], 2)
        self.assertEqual(answer["slow"], 10000)

    def test_it_ends_when_all_hosts_are_gone(self):
        self.dir.joinpath("x.yaml").write_text(SCENARIO.replace(",\n       host-5: {dgram: h5.sock, peer: p5.sock}", ""))
        a, b = self.start()
        a.send(frame(b"\xff" * 6, mac(1), 1))
        self.assertEqual(b.receive(), frame(b"\xff" * 6, mac(1), 1))
        a.socket.close()
        b.socket.close()
        out, err = self.process.communicate(timeout=60)
        self.assertEqual(self.process.returncode, 0, err)
        self.assertIn("all hosts are gone", err)
        self.assertEqual({h["ended"] for h in json.loads(out)["hosts"]}, {"it has closed its socket"})

    def serve_qmp(self, path, heard):
        """A QEMU that says what its machine protocol does, with an event in between."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen(1)
        self.addCleanup(listener.close)

        def serve():
            client = listener.accept()[0]
            client.sendall(b'{"QMP": {"version": {}, "capabilities": []}}\r\n')
            for line in client.makefile():
                heard.append(json.loads(line)["execute"])
                client.sendall(b'{"timestamp": {}, "event": "STOP"}\r\n{"return": {}}\r\n')
            client.close()

        threading.Thread(target=serve, daemon=True).start()

    def test_guests_stand_still_while_the_network_catches_up(self):
        heard = []
        (self.dir / "out").mkdir()
        self.serve_qmp(self.dir / "out/qmp.sock", heard)
        a, b = self.start("--set", "live.qmp=[qmp.sock]", "--set", "live.slow=1", "--set", "workload.0.size=200MB",
                          "--set", "live.lateness=1000")
        self.introduce(a, b)
        a.send(frame(mac(2), mac(1), 1))
        self.assertEqual(b.receive(), frame(mac(2), mac(1), 1))
        self.assertEqual(self.command("quit"), "ok")
        out, err = self.process.communicate(timeout=60)
        answer = json.loads(out)
        self.assertIn("guests will stand still at times", err)
        self.assertGreater(answer["freezes"], 0)
        self.assertGreater(answer["frozen_s"], 0)
        self.assertEqual(heard, ["qmp_capabilities"] + ["stop", "cont"] * answer["freezes"])

    def test_a_qemu_that_is_not_there_is_named(self):
        self.start("--set", "live.qmp=[none.sock]")
        self.assertEqual(self.process.wait(20), 2)
        self.assertIn("live.qmp: no QEMU at out/none.sock", self.process.stderr.read())

    def test_the_page_has_the_run_as_it_goes_on(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        a, b = self.start("--set", f"live.page={port}")
        self.introduce(a, b)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            a.send(*(frame(mac(2), mac(1), i, 1400) for i in range(20)))
            for i in range(20):
                b.receive()
            status, head, body = self.ask(port)
            self.assertEqual(status, "200")
            data = json.loads(body)
            if data["why"].get("motion", {}).get("frames", 0) > 2:
                break
        hosts = {h["name"]: h for h in data["live"]["hosts"]}
        self.assertEqual(hosts["host-4"]["delivered"], data["live"]["delivered"] + 2)  # two were flooded
        self.assertIn("host-0/0", {p["port"].split(":")[0] for p in data["why"]["motion"]["ports"]})
        self.assertNotIn("Access-Control", head)
        status, _, page = self.ask(port, "/", f"127.0.0.1:{port}")
        self.assertEqual((status, page[:15]), ("200", "<!DOCTYPE html>"))
        for args, expected in ((("/data", "evil.example"), "403"), (("/data", f"evil.example:{port}"), "403"), (("/x",), "404"),
                               (("/", None, "POST"), "405"), (("/data", f"localhost:{port}\r\nHost: evil.example"), "403")):
            self.assertEqual(self.ask(port, *args)[0], expected, args)
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]  # these keep nobody out
        silent[0].sendall(bytes(5000))
        self.assertEqual(self.ask(port)[0], "200")
        if BROWSER:
            dom = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--dump-dom",
                                  f"http://127.0.0.1:{port}/"], capture_output=True, text=True, timeout=120).stdout
            self.assertIn('data-shown="', dom)
            self.assertIn("Links, queues and pauses of x", dom)
            self.assertRegex(dom, r"<td>host-4</td>")
        for s in silent:
            s.close()
        self.finish()

    def test_a_run_ends_when_its_record_is_as_large_as_it_may_be(self):
        a, b = self.start("--set", "live.record_max=1MB", "--set", "host.mtu=9000B", "--set", "live.hosts.host-4.mtu=9000B")
        self.introduce(a, b)
        for i in range(200):
            if self.process.poll() is None:
                try:
                    a.send(frame(mac(2), mac(1), i, 9000))
                except OSError:
                    break
        out, err = self.process.communicate(timeout=60)
        self.assertEqual(self.process.returncode, 0, err)
        self.assertIn("live.pcapng is as large as live.record_max allows", err)
        size = (self.dir / "out/live.pcapng").stat().st_size
        self.assertTrue(1e6 <= size < 1.1e6, size)
        again = subprocess.run([WEFT, "run", "out/replay.yaml", "--pick", "digest"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(again.stdout.strip(), json.loads(out)["digest"], again.stderr)

    def refuse(self, expected, *settings):
        args = [a for s in settings for a in ("--set", s)]
        done = subprocess.run([WEFT, "live", "x.yaml", "--out", "out", *args], cwd=self.dir, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, (settings, done.stderr))
        self.assertIn(expected, done.stderr)

    def test_what_no_host_from_outside_can_have_is_refused(self):
        self.refuse("run.fast_forward is on", "run.fast_forward=exact")
        self.refuse("trims packets", "switch.aqm=trim")
        self.refuse("attached from outside", "devices=[{match: host-0, host: {cc: dcqcn}}]")
        self.refuse("host.transport", "devices=[{match: host-0, host: {transport: {kind: roce_rc, timeout: 1ms}}}]")
        self.refuse("telemetry", "host.cc=hpcc", "workload=[]")
        self.refuse("group 'all'", "workload.0.dst=host-0")
        self.refuse("no host 'x'", "live.hosts.x={unix: x.sock}")
        self.refuse("neither unix", "live.hosts.host-1={}")
        self.refuse("more than one of unix", "live.hosts.host-0.interface=eth0")
        self.refuse("0 is for programs", "live.slow=0")
        (self.dir / "out").mkdir(exist_ok=True)
        (self.dir / "out/h0.sock").write_text("mine")
        self.refuse("no socket is there", "run.seed=1")
        (self.dir / "out/h0.sock").unlink()
        (self.dir / "out/live.pcapng").write_text("a record")
        self.refuse("out/live.pcapng", "run.seed=1")
        (self.dir / "out/live.pcapng").unlink()
        for command, expected in (("run", "expected weft live"), ("compare", "expected weft live")):
            done = subprocess.run([WEFT, command, "x.yaml"], cwd=self.dir, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(expected, done.stderr)
        text = SCENARIO.replace("h0.sock", "/tmp/elsewhere.sock")
        (self.dir / "x.yaml").write_text(text)
        self.refuse("not below the scenario's folder")


if __name__ == "__main__":
    unittest.main()
