#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft live with real hosts: namespaces with ping and iperf3, guests of QEMU with soft RoCE and TCP. What a tool is missing
for is skipped, with the reason. Slow, and at the mercy of the machine's load: bounds on rates are those of the models, and
lateness is not asserted."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT, WEFT = Path(os.environ["WEFT_ROOT"]), os.environ["WEFT"]
sys.path.insert(0, str(ROOT / "examples/live"))
os.environ.setdefault("WEFT_LIVE_FOLDER", str(Path(tempfile.gettempdir()) / f"weft-live-{os.getuid()}"))
import demo  # noqa: E402
import guests  # noqa: E402
import spaces  # noqa: E402

INSIDE = bool(os.environ.get("WEFT_LIVE_SPACE"))
NO_SPACES = "" if INSIDE else spaces.missing()
NO_GUESTS = "in a namespace" if INSIDE else guests.missing()
PAIR = """hardware: ideal
topology: {kind: single, hosts: 2, rate: 1Tbps, delay: 100ns}
host: {mtu: 9000B}
live: {slow: 10000, lateness: 1000, hosts: {host-0: {interface: w1}, host-1: {interface: w2%s}}}
"""


@unittest.skipIf(NO_SPACES, NO_SPACES)
@unittest.skipIf(INSIDE, "in a namespace")
class Outside(unittest.TestCase):
    def test_namespaces(self):
        """The class Spaces, where interfaces may be made."""
        self.assertEqual(spaces.enter(__file__, "Spaces"), 0)


@unittest.skipUnless(INSIDE, "by Outside")
class Spaces(unittest.TestCase):
    def start(self, more="", **named):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.out = Path(self.place.name) / "out"
        (Path(self.place.name) / "x.yaml").write_text(PAIR % more)
        self.hosts = [spaces.Space(1), spaces.Space(2, **named)]
        for host in self.hosts:
            self.addCleanup(host.stop)
        self.live = guests.start_live(WEFT, Path(self.place.name) / "x.yaml", self.out)
        self.addCleanup(self.live.kill)
        time.sleep(0.3)
        return self.hosts

    def finish(self):
        demo.command(self.out, "quit")
        text, errors = self.live.communicate(timeout=60)
        answer = json.loads(text)
        again = subprocess.run([WEFT, "run", self.out / "replay.yaml", "--pick", "digest"], capture_output=True, text=True)
        self.assertEqual(again.stdout.strip(), answer["digest"], again.stderr)
        return {h["name"]: h for h in answer["hosts"]}

    def test_ping_jumbo_and_tcp(self):
        a, b = self.start()
        self.assertIn("5 received", a.run("ping", "-c", "5", "-i", "0.2", b.address).stdout)
        self.assertIn("1 received", a.run("ping", "-M", "do", "-s", "8972", "-c", "1", b.address).stdout)
        server = b.start("iperf3", "-s", "-1")
        time.sleep(0.5)
        done = json.loads(a.run("iperf3", "-c", b.address, "-t", "5", "-J").stdout)
        server.communicate(timeout=20)
        rate = done["end"]["sum_received"]["bits_per_second"]
        self.assertLess(rate, 100e6)  # of 1 Tbit/s, 10,000 times slower
        self.assertGreater(rate, 50e6)
        hosts = self.finish()
        self.assertEqual([h["bad_checksums"] + h["too_long"] + h["refused"] for h in hosts.values()], [0, 0])

    def test_another_mtu_is_named(self):
        a, b = self.start(more=", mtu: 1500B", mtu=1500)
        self.assertIn(" 0 received", a.run("ping", "-M", "do", "-s", "8000", "-c", "2", "-i", "0.2", "-W", "1", b.address,
                                           check=False).stdout)
        self.assertEqual(self.finish()["host-1"]["too_long"], 2)

    def test_sums_left_to_hardware_are_named(self):
        a, b = self.start(offload=True)
        server = a.start("iperf3", "-s", "-1")
        time.sleep(0.3)
        with self.assertRaises(subprocess.TimeoutExpired):
            b.run("iperf3", "-c", a.address, "-t", "1", check=False, timeout=3)
        server.kill()
        server.communicate()
        self.assertGreater(self.finish()["host-1"]["bad_checksums"], 0)

    def test_dsf(self):
        r = demo.run_dsf()
        self.assertIn("5 received", r["ping"])
        self.assertIn("receiver", r["iperf"])
        self.assertEqual(len(r["answer"]["notes"]), 8)
        self.assertEqual(demo.replay(r["answer"], "--pick", "digest").strip(), r["answer"]["digest"])


@unittest.skipIf(NO_GUESTS, NO_GUESTS)
class Guests(unittest.TestCase):
    def test_rates_are_those_of_the_simulation(self):
        """80 x 64 KB at 200 Gbit/s take 215.92 us in weft run, so 10,000 times slower 19.42 Mbit/s."""
        write = demo.PLAIN_WRITE.format(n=80)
        own, answer = demo.run_guests("pair.yaml", "pair", [
            f"sleep 2; rping -c -a 10.0.0.2 -C 10 && echo RPING good; sleep 2; {write} 10.0.0.2 | grep ' 65536'",
            f"rping -s -a 10.0.0.2 -C 10; {write} >/dev/null"])
        self.assertIn("RPING good", own[0].text())
        self.assertEqual(own[0].counts()["completer_retry_err"], 0)
        self.assertEqual(own[1].counts()["duplicate_request"], 0)
        self.assertEqual(answer["frames"], answer["delivered"])
        rate = float(next(line for line in own[0].text().splitlines() if line.startswith(" 65536")).split()[3])
        self.assertAlmostEqual(rate / (80 * 65536 * 8 / 215.92e-6 / 1e4 / 1e9), 1, delta=0.03)
        self.assertEqual(demo.replay(answer, "--pick", "digest").strip(), answer["digest"])

    def test_pfc_against_loss(self):
        pfc, lossy = demo.run_roce("pfc"), demo.run_roce("lossy")
        self.assertEqual((pfc["lost"], pfc["counts"]["completer_retry_err"]), (0, 0))
        self.assertGreater(pfc["paused_us"], 0)
        self.assertGreater(lossy["lost"], 0)
        self.assertLess(lossy["gbps"], 0.4 * pfc["gbps"])
        for r in (pfc, lossy):
            self.assertEqual(r["digest"], r["answer"]["digest"])
        result = pfc["answer"]["out"] / "result"
        demo.replay(pfc["answer"], "--variant", "pfc", "--out", result, "--quiet", "--force")
        flows = json.loads((result / "result.json").read_text())["flows"]
        largest = max((f for f in flows if f["group"] == "live"), key=lambda f: f["bytes"])
        why = subprocess.run([WEFT, "why", result, str(largest["flow"])], capture_output=True, text=True).stdout
        self.assertRegex(why, r"pause +host-0/0: leaf-0/0, for the queue of leaf-0/4")
        self.assertIn("(background), host-1 to host-5", why)

    def test_three_guests_to_one(self):
        pfc, lossy = demo.run_incast("pfc"), demo.run_incast("lossy")
        self.assertEqual((pfc["lost"], sum(c["completer_retry_err"] for c in pfc["counts"])), (0, 0))
        self.assertGreater(pfc["paused_us"], 0)
        self.assertGreater(lossy["lost"], 0)
        self.assertLess(lossy["goodput"], 0.4 * pfc["goodput"])
        for r in (pfc, lossy):
            self.assertEqual(r["digest"], r["answer"]["digest"])
        flows = sorted(json.loads((pfc["result"] / "result.json").read_text())["flows"], key=lambda f: -f["bytes"])
        why = "".join(subprocess.run([WEFT, "why", pfc["result"], str(flow["flow"])], capture_output=True, text=True).stdout
                      for flow in flows[:3])  # a guest that boots sooner may be alone
        self.assertRegex(why, r"pause +host-[0-2]/0: switch-0/[0-2], for the queue of switch-0/3")

    def test_dctcp_against_cubic(self):
        dctcp, cubic = demo.run_dctcp("dctcp"), demo.run_dctcp("cubic")
        self.assertGreaterEqual(dctcp["use"], 0.97)
        self.assertAlmostEqual(dctcp["queue"] / 20e3, 1, delta=0.3)
        self.assertLess(cubic["use"], 0.92)

    def test_a_guest_that_stands_still_loses_nothing(self):
        def freeze(own):
            while "READY" not in own[0].text():
                time.sleep(0.1)
            time.sleep(4)
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
                s.connect(str(own[0].qmp))
                lines = s.makefile()
                for text in ("qmp_capabilities", "stop", "cont"):
                    if text == "cont":
                        time.sleep(2)
                    s.sendall(json.dumps({"execute": text}).encode() + b"\n")
                    while '"return"' not in lines.readline():  # the greeting, and events
                        pass

        write = demo.PLAIN_WRITE.format(n=200)
        own, answer = demo.run_guests("pair.yaml", "freeze", [f"sleep 2; {write} 10.0.0.2 | grep ' 65536'", f"{write} >/dev/null"],
                                      meanwhile=freeze)
        self.assertEqual(own[0].counts()["completer_retry_err"], 0)


if __name__ == "__main__":
    unittest.main()
