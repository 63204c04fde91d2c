# SPDX-License-Identifier: Apache-2.0
"""Hosts for weft live that are network namespaces of this machine: each has one end of a veth pair, eth0 with the address
10.9.0.N, and weft the other end, wN. Needs a user namespace of its own: enter() makes one."""
import os
import shutil
import subprocess
import sys
import time

TOOLS = ("unshare", "nsenter", "ip", "ethtool", "ping", "iperf3")


def missing():
    """What is not there to run namespaces; "": nothing is missing."""
    gone = [t for t in TOOLS if not shutil.which(t)]
    if gone:
        return f"{', '.join(gone)}: not installed (apt-get install iproute2 ethtool iputils-ping iperf3)"
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        return "unshare -rn: this machine allows no user namespaces"
    if subprocess.run(["unshare", "-rn", "ip", "link", "add", "w0", "type", "veth", "peer", "name", "w1"],
                      capture_output=True).returncode:
        return "ip link add type veth: this machine's kernel has no veth"
    return ""


def enter(*program):
    """Runs a Python program where it may make interfaces that nobody else sees. Answers its status."""
    return subprocess.run(["unshare", "-rn", sys.executable, *program], env={**os.environ, "WEFT_LIVE_SPACE": "1"}).returncode


class Space:
    """Host `number`; for a program that enter() has started."""

    def __init__(self, number, mtu=9000, offload=False):
        self.process = subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        own = f"/proc/{self.process.pid}/ns/net"
        while os.readlink(own) == os.readlink("/proc/self/ns/net"):
            time.sleep(0.01)
        self.address = f"10.9.0.{number}"
        self.outer = outer = f"w{number}"
        self._ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", str(self.process.pid))
        self._ip("link", "set", outer, "mtu", "9216", "up")
        with open(f"/proc/sys/net/ipv6/conf/{outer}/disable_ipv6", "w") as file:
            file.write("1")
        for args in (("link", "set", "lo", "up"), ("link", "set", "eth0", "mtu", str(mtu), "up"),
                     ("addr", "add", self.address + "/16", "dev", "eth0")):
            self.run("ip", *args)
        if not offload:  # the receiver would see sums that no hardware has finished
            self.run("ethtool", "-K", "eth0", "tx", "off")

    @staticmethod
    def _ip(*args):
        subprocess.run(["ip", *args], check=True, capture_output=True)

    def command(self, *args):
        return ["nsenter", "-t", str(self.process.pid), "-n", "--preserve-credentials", *args]

    def run(self, *args, check=True, timeout=60):
        return subprocess.run(self.command(*args), check=check, timeout=timeout, capture_output=True, text=True)

    def start(self, *args):
        return subprocess.Popen(self.command(*args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def stop(self):
        subprocess.run(["ip", "link", "del", self.outer], capture_output=True)  # a namespace goes later than its process
        self.process.stdin.close()  # as when this program ends
        self.process.wait()
