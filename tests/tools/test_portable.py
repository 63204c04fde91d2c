#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft where it was not built: the wheel in clean environments of Debian 12 and 13, the tarball where there is only glibc,
and in bare Debians `make install` by another user than the builder, `make deb`, `make demo`. It makes chroots, so it needs
root and Debian's archive, and is skipped without them."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(os.environ["WEFT_ROOT"])
MIRROR = "http://deb.debian.org/debian"
SCENARIO = "scenarios/foundation/leaf_spine_victim.yaml"
# In a chroot nothing of this system is in the environment, but how to reach the archive.
CLEAN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
CLEAN.update((name, value) for name, value in os.environ.items() if name.lower().endswith("_proxy"))
PYTHON = """
import weft
result = weft.Scenario("/tmp/%s").run("pfc")
print(result.digest)
assert weft.answer("check", "/tmp/%s")
""" % ((Path(SCENARIO).name,) * 2)


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=3600, **more)
    if done.returncode:
        raise AssertionError(f"{' '.join(str(c) for c in command)}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def why_not():
    if os.getuid():
        return "needs root, for chroots"
    if not shutil.which("debootstrap") or not shutil.which("patchelf"):
        return "needs debootstrap and patchelf (tools/setup portable)"
    if not (ROOT / ".git").exists():
        return "needs the repository: it builds a commit"
    try:
        urllib.request.urlopen(MIRROR + "/dists/bookworm/Release", timeout=10).close()
    except OSError:
        return f"{MIRROR} cannot be reached"
    return None


class Chroot:
    """A bare Debian in a folder. While it is in use, proc is mounted, because $ORIGIN is read from it, and pseudo-terminals are."""

    def __init__(self, folder, suite=None, packages=()):
        self.root = Path(folder)
        if suite:
            run("debootstrap", "--variant=minbase", "--include=" + ",".join(packages), suite, self.root, MIRROR)
        for sub in ("proc", "tmp"):
            (self.root / sub).mkdir(exist_ok=True)
        run("mount", "-t", "proc", "proc", self.root / "proc")
        self.terminals = suite is not None
        if self.terminals:
            run("mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666", "devpts", self.root / "dev" / "pts")

    def run(self, *command):
        return run("chroot", self.root, *command, env=CLEAN)

    def close(self):
        if self.terminals:
            run("umount", self.root / "dev" / "pts")
        run("umount", self.root / "proc")


class InChroots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.chroots = []
        cls.digest = run(os.environ["WEFT"], "run", ROOT / SCENARIO, "--variant", "pfc").split("digest ")[1].split()[0]

    @classmethod
    def tearDownClass(cls):
        for chroot in cls.chroots:
            chroot.close()

    def chroot(self, name, suite=None, packages=()):
        (self.folder / name).mkdir()
        chroot = Chroot(self.folder / name, suite, packages)
        self.chroots.append(chroot)
        shutil.copy(ROOT / SCENARIO, chroot.root / "tmp")
        return chroot

    def bare(self, suite, what="bare"):
        """A Debian with git and make, and this commit in /weft."""
        chroot = self.chroot(f"{what}-{suite}", suite, ["git", "make"])
        shutil.copy("/etc/resolv.conf", chroot.root / "etc")
        run("git", "clone", "--quiet", "--no-hardlinks", ROOT, chroot.root / "weft")
        chroot.run("git", "config", "--global", "--add", "safe.directory", "/weft")
        return chroot


class Portable(InChroots):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run(ROOT / "tools" / "portable", cls.folder / "out")
        cls.wheel = next((cls.folder / "out").glob("weft-*.whl"))
        cls.tarball = next((cls.folder / "out").glob("weft-*.tar.xz"))

    def wheel_in(self, suite):
        """The program, the library and Python, from the wheel alone, without an index."""
        chroot = self.chroot(suite, suite, ["python3", "python3-venv"])
        shutil.copy(self.wheel, chroot.root / "tmp")
        chroot.run("python3", "-m", "venv", "/venv")
        chroot.run("/venv/bin/pip", "install", "--no-index", f"/tmp/{self.wheel.name}")
        self.assertIn("digest " + self.digest, chroot.run("/venv/bin/weft", "run", f"/tmp/{Path(SCENARIO).name}", "--variant", "pfc"))
        self.assertEqual(chroot.run("/venv/bin/python", "-c", PYTHON).strip(), self.digest)

    def test_wheel_on_debian_12(self):
        self.wheel_in("bookworm")

    def test_wheel_on_debian_13(self):
        self.wheel_in("trixie")

    def test_tag_is_of_the_oldest_glibc(self):
        self.assertRegex(self.wheel.name, r"^weft-[0-9.]+-py3-none-manylinux_2_31_x86_64\.whl$")

    def test_tarball_with_nothing_but_glibc(self):
        chroot = self.chroot("empty")
        run("tar", "-xJf", self.tarball, "-C", chroot.root)
        for name in ("/lib64/ld-linux-x86-64.so.2", *(f"/lib/x86_64-linux-gnu/{lib}.so.{n}" for lib, n in (
                ("libc", 6), ("libm", 6), ("libpthread", 0), ("libdl", 2), ("librt", 1)))):
            to = chroot.root / name.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, to)
        program = f"/{self.tarball.name.removesuffix('.tar.xz')}/bin/weft"
        self.assertIn("digest " + self.digest, chroot.run(program, "run", f"/tmp/{Path(SCENARIO).name}", "--variant", "pfc"))


class Suite(InChroots):
    def test_make_test_on_debian_13(self):
        """Every test but the long ones, where nothing but git and make was installed."""
        chroot = self.bare("trixie", "suite")
        told = chroot.run("make", "-C", "/weft", "test").splitlines()[-1]
        self.assertRegex(told, r"^[0-9]{4} passed, 0 failed")


class Bare(InChroots):
    def deb_on(self, suite):
        """The packages that `make deb` makes are installed, and run."""
        chroot = self.bare(suite)
        made = chroot.run("make", "-C", "/weft", "deb").split()
        packages = [name for name in made if name.endswith(".deb")]
        self.assertEqual({Path(name).name.split("_")[0] for name in packages} & {"weft", "libweft0", "libweft-dev", "python3-weft", "weft-doc"},
                         {"weft", "libweft0", "libweft-dev", "python3-weft", "weft-doc"})
        chroot.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *packages)
        self.assertIn("digest " + self.digest, chroot.run("weft", "run", f"/tmp/{Path(SCENARIO).name}", "--variant", "pfc"))
        self.assertEqual(chroot.run("python3", "-c", PYTHON).strip(), self.digest)
        return chroot

    def test_make_deb_on_debian_12(self):
        self.deb_on("bookworm")

    def test_make_deb_and_demo_on_debian_13(self):
        chroot = self.deb_on("trixie")
        told = chroot.run("make", "-C", "/weft", "demo")
        self.assertLessEqual(len(told.splitlines()), 40)
        self.assertTrue((chroot.root / "weft" / "build" / "demo.html").exists())

    def test_make_install_as_another_user(self):
        chroot = self.bare("bookworm", "install")
        chroot.run("make", "-C", "/weft", "setup")
        chroot.run("useradd", "-m", "user")
        chroot.run("sh", "-euc", "chown -R user /weft; cd /weft; su user -c 'make build'")
        told = chroot.run("sh", "-euc", "cd /weft && make install").splitlines()[-1]
        for what in ("/usr/local/bin/weft", "libweft.so.0", "weft.pc", "packages/weft"):
            self.assertIn(what, told)
        self.assertNotIn("LD_LIBRARY_PATH", told)  # the system looks there
        chroot.run("rm", "-rf", "/weft/build", "/weft/python")
        as_user = lambda command: chroot.run("su", "user", "-c", f"cd && {command}")
        self.assertIn("digest " + self.digest, as_user(f"weft run /tmp/{Path(SCENARIO).name} --variant pfc"))
        (chroot.root / "tmp" / "digest.py").write_text(PYTHON)
        self.assertEqual(as_user("python3 /tmp/digest.py").strip(), self.digest)
        self.assertIn("-lweft", as_user("pkg-config --libs weft"))
        (chroot.root / "tmp" / "min.c").write_text("#include <weft/weft.h>\nint main(void) { return 0; }\n")
        as_user("gcc /tmp/min.c $(pkg-config --cflags --libs weft) -o min && ./min")


if __name__ == "__main__":
    reason = why_not()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    unittest.main()
