#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks on two machines under Slurm: a controller and two nodes, each in namespaces of its own (network, hostname,
processes, /tmp), joined by a bridge; srun --mpi=pmix starts weft. The digest is that of one process.
Skipped (exit 77) with the reason where that is not root, a program is missing, or namespaces cannot be had.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(os.environ["WEFT_ROOT"])
WEFT = Path(os.environ["WEFT"])
WEFT_MPI = WEFT.with_name("weft-mpi")
SCENARIOS = ROOT / "scenarios"
# Command to package, as in Debian.
NEEDED = {"slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client", "munged": "munge", "ip": "iproute2",
          "nsenter": "util-linux", "setpriv": "util-linux", "unshare": "util-linux", "mpirun": "openmpi-bin"}
CONTROLLER, NODES = "weft-control", ["weft-a", "weft-b"]
ADDRESS = {CONTROLLER: "10.77.0.1", "weft-a": "10.77.0.2", "weft-b": "10.77.0.3"}
NAMESPACES = ["--net", "--uts", "--mount", "--pid"]
CONF = """
ClusterName=weft
SlurmctldHost={control}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdSpoolDir={folder}/%n/spool
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SchedulerType=sched/builtin
ReturnToService=2
MpiDefault=none
KillWait=5
"""
LONG = """
topology: {kind: leaf_spine, leaves: 4, hosts_per_leaf: 8, spines: 2, rate: 200Gbps}
workload: [{kind: permutation, size: 10GB}]
"""


class Machine:
    """A holder of namespaces; when it ends, all that runs in them does, and they are gone. So it does with the test."""

    def __init__(self, name, folder):
        own = folder / name
        (own / "tmp").mkdir(parents=True)
        (own / "spool").mkdir()
        begin = (f"mount --bind {folder}/hosts /etc/hosts && mount --bind {own}/tmp /tmp && hostname {name} && "
                 f"ip link set lo up && echo ready && exec sleep infinity")
        self.holder = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", *NAMESPACES, "--fork", "--kill-child",
                                        "--mount-proc", "sh", "-c", begin], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.ready = self.holder.stdout.readline() == "ready\n"

    def command(self, arguments):
        inside = f"--pid=/proc/{self.holder.pid}/ns/pid_for_children"
        return ["nsenter", "-t", str(self.holder.pid), "--net", "--uts", "--mount", inside, "--", *map(str, arguments)]

    def link(self, *arguments):
        """`ip` in its network, which sees the processes of all."""
        return subprocess.run(["nsenter", "-t", str(self.holder.pid), "--net", "ip", "link", *arguments], capture_output=True,
                              text=True, check=False)

    def run(self, *arguments, **more):
        return subprocess.run(self.command(arguments), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              **more)

    def begin(self, arguments, **more):
        return subprocess.Popen(self.command(arguments), text=True, stdin=subprocess.DEVNULL, **more)

    def end(self):
        self.holder.kill()
        return self.holder.communicate()[1].strip()


def why_no_namespaces():
    with tempfile.TemporaryDirectory(prefix="weft-slurm-", dir="/var/tmp") as folder:
        Path(folder, "hosts").write_text("")
        one = Machine("weft-try", Path(folder))
        made = one.ready and one.link("add", "try", "type", "veth", "peer", "name", "other")
        why = one.end()
        if not one.ready:
            return why or "unshare failed"
        return made.stderr.strip() if made.returncode else None


class Cluster:
    """end() ends whatever of it has begun."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weft-slurm-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self.machine, self.daemons = {}, []
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"), OMPI_MCA_mpi_yield_when_idle="1",
                                OMPI_MCA_btl="self,vader,tcp", OMPI_MCA_pml="ob1")

    def begin(self):
        self.write_files()
        for name in [CONTROLLER, *NODES]:
            self.machine[name] = Machine(name, self.folder)
        self.join()
        self.begin_daemons()

    def write_files(self):
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for n, a in ADDRESS.items()))
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        conf = CONF.format(control=CONTROLLER, address=ADDRESS[CONTROLLER], folder=self.folder)
        for name in NODES:
            conf += f"NodeName={name} NodeHostname={name} NodeAddr={ADDRESS[name]} CPUs=2 State=UNKNOWN\n"
        conf += f"PartitionName=all Nodes={','.join(NODES)} Default=YES OverSubscribe=FORCE State=UP\n"
        (self.folder / "slurm.conf").write_text(conf)
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        for program in (WEFT, WEFT_MPI):  # in a folder that all machines have, as /tmp is not
            shutil.copy(program, self.folder)

    def join(self):
        control = self.machine[CONTROLLER]
        steps = [control.link("add", "weft", "type", "bridge"), control.link("set", "weft", "up"),
                 control.run("ip", "addr", "add", f"{ADDRESS[CONTROLLER]}/24", "dev", "weft")]
        for name in NODES:
            node = self.machine[name]
            steps += [control.link("add", name, "type", "veth", "peer", "name", "eth0", "netns", str(node.holder.pid)),
                      control.link("set", name, "master", "weft", "up"), node.link("set", "eth0", "up"),
                      node.run("ip", "addr", "add", f"{ADDRESS[name]}/24", "dev", "eth0")]
        for done in steps:
            if done.returncode:
                raise RuntimeError(f"{done.args}: {done.stderr}")

    def begin_daemon(self, name, *arguments):
        log = open(self.folder / f"{name}-{arguments[0]}.out", "w", encoding="utf-8")
        self.daemons.append(self.machine[name].begin(arguments, env=self.environment, stdout=log, stderr=log))
        log.close()

    def begin_daemons(self):
        f = self.folder
        self.begin_daemon(CONTROLLER, "munged", "--foreground", "--force", f"--socket={f}/munge.socket", f"--key-file={f}/munge.key",
                          f"--pid-file={f}/munged.pid", f"--log-file={f}/munged.log", f"--seed-file={f}/munged.seed")
        wait_for(lambda: (f / "munge.socket").exists(), 20)
        self.begin_daemon(CONTROLLER, "slurmctld", "-D", "-f", f / "slurm.conf")
        for name in NODES:
            self.begin_daemon(name, "slurmd", "-D", "-N", name, "-f", f / "slurm.conf")
        if not wait_for(self.is_up, 60):
            raise RuntimeError("Slurm does not come up: " + self.logs())

    def is_up(self):
        done = self.machine[CONTROLLER].run("sinfo", "--noheader", "--Node", "--format=%N %T", env=self.environment)
        return [line.split()[-1] for line in done.stdout.splitlines()] == ["idle"] * len(NODES)

    def logs(self):
        return "\n".join(f"{path.name}:\n" + "\n".join(path.read_text(errors="replace").splitlines()[-12:])
                         for path in sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")]))

    def srun(self, tasks, *arguments):
        return ["srun", "--mpi=pmix", f"--nodes={len(NODES)}", f"--ntasks={tasks}", "--overcommit", f"--chdir={self.folder}",
                *map(str, arguments)]

    def end(self):
        for machine in self.machine.values():
            machine.end()
        for daemon in self.daemons:
            daemon.wait()
        shutil.rmtree(self.folder)


def wait_for(holds, seconds):
    for _ in range(seconds * 10):
        if holds():
            return True
        time.sleep(0.1)
    return False


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.end)
        cls.cluster.begin()
        cls.control = cls.cluster.machine[CONTROLLER]

    def srun(self, tasks, *arguments):
        return self.control.run(*self.cluster.srun(tasks, *arguments), env=self.cluster.environment, timeout=240)

    def same(self, scenario, tasks, *more):
        """Digest and exit status over so many ranks, half of them on each node, are those of one process."""
        arguments = ["run", str(scenario), "--json", "--quiet"]
        one = subprocess.run([WEFT, *arguments], capture_output=True, text=True, check=False)
        many = self.srun(tasks, self.cluster.folder / "weft-mpi", *arguments, *more)
        self.assertEqual(many.returncode, one.returncode, many.stderr + self.cluster.logs())
        self.assertEqual(json.loads(many.stdout)["digest"], json.loads(one.stdout)["digest"])

    def test_two_ranks(self):
        self.same(SCENARIOS / "foundation/link_failure.yaml", 2)
        self.same(SCENARIOS / "dsf/rails.yaml", 2)

    def test_four_ranks_with_threads(self):
        self.same(SCENARIOS / "foundation/sfc.yaml", 4, "--threads", "2", "--oversubscribe")

    def test_exit_status(self):
        """4: a deadlock; srun keeps it."""
        self.same(SCENARIOS / "foundation/pfc_deadlock.yaml", 2)

    def test_nodes_are_two(self):
        done = self.srun(2, self.cluster.folder / "weft", "run", SCENARIOS / "peers/smallest.yaml", "--out", "two")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in NODES:
            self.assertIn(name, done.stdout + done.stderr)

    def test_rank_is_killed(self):
        scenario = self.cluster.folder / "long.yaml"
        scenario.write_text(LONG)
        step = self.cluster.srun(2, "--kill-on-bad-exit=1", self.cluster.folder / "weft-mpi", "run", scenario, "--quiet", "--out",
                                 "killed")
        run = self.control.begin(step, env=self.cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ranks_of = {name: lambda name=name: self.cluster.machine[name].run("pgrep", "-x", "weft-mpi").stdout.split() for name in NODES}
        for name in NODES:
            self.assertTrue(wait_for(ranks_of[name], 60), self.cluster.logs())
        time.sleep(2)
        self.cluster.machine[NODES[1]].run("kill", "-KILL", *ranks_of[NODES[1]]())
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 128 + signal.SIGKILL, err)
        self.assertEqual(out, "")
        self.assertFalse((self.cluster.folder / "killed/results.sqlite").exists())
        for name in NODES:
            self.assertTrue(wait_for(lambda name=name: not ranks_of[name](), 30), err)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


if __name__ == "__main__":
    if os.geteuid():
        skip("not root: network namespaces and Slurm's daemons need it")
    missing = sorted({package for command, package in NEEDED.items() if not shutil.which(command)})
    if missing:
        skip(f"these packages are missing (tools/setup slurm installs them): {' '.join(missing)}")
    if not os.access(WEFT_MPI, os.X_OK):
        skip("no weft-mpi (make mpi builds it)")
    if not any(Path(folder, "mpi_pmix.so").exists() for folder in Path("/usr/lib").glob("*/slurm*")):
        skip("this Slurm has no PMIx (mpi_pmix.so of slurm-wlm-basic-plugins)")
    fault = why_no_namespaces()
    if fault:
        skip(f"no namespaces of its own: {fault}")
    unittest.main()
