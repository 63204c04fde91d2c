# SPDX-License-Identifier: Apache-2.0
"""Guests of QEMU for weft live, without KVM and without an image: a kernel and some programs from Debian packages, put
together in a folder and booted with busybox. Each guest runs a shell script as host 10.0.0.N and then powers off."""
import gzip
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

PACKAGES = """perftest rdmacm-utils ibverbs-utils libibverbs1 ibverbs-providers librdmacm1 libibumad3 rdma-core libnl-3-200
libnl-route-3-200 iperf3 libiperf0 libsctp1 libpci3 iproute2 libbpf1 libelf1 libmnl0 libbsd0 libcap2 libc6 zlib1g libssl3
libgcc-s1 libtirpc3 libxtables12 libdb5.3 libselinux1 libpcre2-8-0 libmd0 libudev1""".split()
MODULES = """virtio_pci virtio_net rdma_rxe rdma_ucm ib_uverbs crc32_generic tcp_dctcp af_packet""".split()
APPLETS = """sh ls cat echo mount ip insmod modprobe sleep ping grep sed awk date poweroff dmesg mkdir cut tr head tail seq wc
sysctl true false""".split()
TOOLS = ("qemu-system-x86_64", "busybox", "cpio", "depmod", "modprobe", "dpkg-deb", "apt-get")
INIT = """#!/bin/sh
export PATH=/bin:/sbin:/usr/bin:/usr/sbin LD_LIBRARY_PATH=/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev
modprobe virtio_pci; modprobe virtio_net; modprobe af_packet
. /guest.sh
ip link set lo up; ip link set eth0 mtu $MTU; ip link set eth0 up; ip addr add 10.0.0.$N/16 dev eth0
modprobe crc32_generic; modprobe rdma_rxe; modprobe ib_uverbs; modprobe rdma_ucm
rdma link add rxe0 type rxe netdev eth0
echo READY
. /run.sh
for c in completer_retry_err rcvd_pkts sent_pkts duplicate_request out_of_seq_request; do
    echo "COUNT $c $(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/$c)"
done
echo DONE
poweroff -f
"""


def missing():
    """What is not there to run guests; "": nothing is missing."""
    gone = [tool for tool in TOOLS if not shutil.which(tool) and not Path("/sbin", tool).exists()]
    return f"{', '.join(gone)}: not installed (apt-get install qemu-system-x86 busybox-static cpio kmod)" if gone else ""


def _run(*args, **named):
    return subprocess.run([str(a) for a in args], check=True, capture_output=True, **named).stdout


def _kernel():
    names = _run("apt-cache", "search", "--names-only", r"^linux-image-[0-9.-]*amd64-unsigned$", text=True).split("\n")
    found = [n.split()[0] for n in names if re.match(r"linux-image-[0-9.-]+-amd64-unsigned ", n)]
    if not found:
        raise RuntimeError("apt-cache knows no kernel package; apt-get update")
    return max(found, key=lambda n: [int(d) for d in re.findall(r"\d+", n)])


def _pack(root):
    names = _run("find", ".", cwd=root)
    return gzip.compress(_run("cpio", "-o", "-H", "newc", "--quiet", input=names, cwd=root), 1)


def build(folder):
    """Makes vmlinuz and the base of the guests' memory disks in `folder`, unless they are there."""
    folder = Path(folder).resolve()
    if (folder / "base.gz").exists():
        return folder
    packages, kernel, root = folder / "packages", folder / "kernel", folder / "root"
    for path in (packages, kernel, root):
        path.mkdir(parents=True, exist_ok=True)
    os.chmod(packages, 0o755)
    _run("apt-get", "download", _kernel(), *PACKAGES, cwd=packages)
    for deb in packages.glob("*.deb"):
        _run("dpkg-deb", "-x", deb, kernel if deb.name.startswith("linux-image") else root)
    shutil.rmtree(root / "usr/share", ignore_errors=True)
    shutil.copy(next(kernel.glob("boot/vmlinuz-*")), folder / "vmlinuz")
    version = next((kernel / "lib/modules").iterdir()).name
    path = {**os.environ, "PATH": os.environ["PATH"] + ":/sbin:/usr/sbin"}
    _run("depmod", "-b", kernel, version, env=path)
    (root / "lib/modules" / version).mkdir(parents=True)
    for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        shutil.copy(kernel / "lib/modules" / version / name, root / "lib/modules" / version)
    for module in MODULES:
        shown = subprocess.run(["modprobe", "-d", kernel, "-S", version, "--show-depends", module], text=True, env=path,
                               capture_output=True).stdout
        for line in shown.splitlines():
            if line.startswith("insmod"):
                source = Path(line.split()[1])
                to = root / source.relative_to(kernel)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, to)
    _run("depmod", "-b", root, version, env=path)
    for name in ("bin", "sbin", "proc", "sys", "dev", "tmp", "run", "etc"):
        (root / name).mkdir(exist_ok=True)
    shutil.copy(shutil.which("busybox"), root / "bin/busybox")
    for applet in APPLETS:
        at = root / "bin" / applet
        if not at.exists() and not at.is_symlink():
            at.symlink_to("busybox")
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    (folder / "base.gz.new").write_bytes(_pack(root))
    (folder / "base.gz.new").rename(folder / "base.gz")
    for path in (packages, kernel, root):
        shutil.rmtree(path)
    return folder


class Guest:
    """Guest `number` (from 1), which runs `script` at the stream socket `sock`. Its output is in `log`; `qmp` is the socket
    for live.qmp, which is there before the guest runs."""

    def __init__(self, base, folder, number, script, sock, mtu=4200):
        own = Path(folder) / f"guest{number}"
        shutil.rmtree(own, ignore_errors=True)
        (own / "more").mkdir(parents=True)
        (own / "more/guest.sh").write_text(f"N={number}; MTU={mtu}\n")
        (own / "more/run.sh").write_text(script + "\n")
        (own / "initrd").write_bytes((base / "base.gz").read_bytes() + _pack(own / "more"))
        self.log, self.qmp = own / "log", own / "qmp"
        # rxe loses frames above 1518 bytes without mergeable buffers; no_timer_check: many guests at once may not boot
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-M", "pc", "-accel", "tcg,tb-size=64", "-cpu", "max", "-m", "160", "-nodefaults",
             "-no-user-config", "-display", "none", "-no-reboot", "-kernel", base / "vmlinuz", "-initrd", own / "initrd",
             "-append", "console=ttyS0 quiet loglevel=4 mitigations=off panic=-1 tsc=reliable no_timer_check",
             "-qmp", f"unix:{self.qmp},server=on,wait=off", "-serial", f"file:{self.log}", "-netdev", f"stream,id=n0,server=off,addr.type=unix,addr.path={sock}",
             "-device", f"virtio-net-pci,netdev=n0,mac=52:54:00:00:00:{number:02x},romfile=,csum=off,gso=off,guest_csum=off,"
             "guest_tso4=off,guest_tso6=off,guest_ufo=off,guest_ecn=off,host_tso4=off,host_tso6=off,host_ufo=off,host_ecn=off"],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def counts(self):
        return {name: int(value) for name, value in re.findall(r"COUNT (\w+) (\d+)", self.text())}

    def wait(self, seconds):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"a guest did not end in {seconds} s: {self.text()[-400:]}") from None

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def start_live(weft, scenario, out, *args):
    """weft live, whose sockets are there when this returns."""
    live = subprocess.Popen([weft, "live", scenario, "--out", out, "--json", *args], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(1000):
        if (Path(out) / "control.sock").exists():
            return live
        if live.poll() is not None:
            raise RuntimeError(live.stderr.read())
        time.sleep(0.01)
    live.kill()
    raise RuntimeError("weft live does not begin")
