#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion in real shells, and manual pages by mandoc: what weft completion and weft manual print."""
import os
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]


def weft(*arguments, status=0):
    done = subprocess.run([WEFT, *arguments], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stdout if not status else done.stderr


def commands():
    return re.findall(r"^  ([a-z-]+) ", weft("--help"), re.M)


def options(*command):
    return set(re.findall(r"^  (--[a-z0-9-]+)", weft(*command, "--help"), re.M))


class Help(unittest.TestCase):
    def test_help_of_a_command_is_its_help(self):
        for command in (["run"], ["trace-control"], ["plan"], ["plan", "pfc"], ["plan", "fabric"]):
            self.assertEqual(weft("help", *command), weft(*command, "--help"))

    def test_a_slip_is_answered_by_the_nearest(self):
        self.assertEqual(weft("swep", status=2), "weft: no command 'swep'; did you mean 'sweep'?\n")
        self.assertEqual(weft("help", "compair", status=2), "weft: no command 'compair'; did you mean 'compare'?\n")
        self.assertEqual(weft("xyzzy", status=2), "weft: no command 'xyzzy'; weft --help lists them\n")
        self.assertIn("no shell \"tcsh\"; expected one of bash, zsh, fish", weft("completion", "tcsh", status=2))


@unittest.skipUnless(shutil.which("bash"), "no bash")
class Bash(unittest.TestCase):
    def complete(self, *words):
        script = weft("completion", "bash") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, "bash", "weft", *words], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    def test_commands(self):
        self.assertEqual(self.complete(""), set(commands()) | {"help", "version"})
        self.assertEqual(self.complete("comp"), {"compare", "completion"})

    def test_every_option_of_every_command(self):
        for command in commands():
            if command != "plan":
                self.assertEqual({o.rstrip("=") for o in self.complete(command, "x", "--")}, options(command), command)

    def test_calculators_of_plan(self):
        self.assertLessEqual({"pfc", "sfc", "dsf", "sonic", "fabric"}, self.complete("plan", ""))
        for calculator in self.complete("plan", ""):
            self.assertEqual({o.rstrip("=") for o in self.complete("plan", calculator, "--")}, options("plan", calculator))

    def test_words_and_files(self):
        self.assertEqual(self.complete("models", "tran"), {"transport"})
        self.assertEqual(self.complete("import", "chak"), {"chakra"})
        self.assertEqual(self.complete("help", "swe"), {"sweep"})
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "alone.yaml").touch()
            self.assertEqual(self.complete("run", f"{folder}/al"), {f"{folder}/alone.yaml"})


@unittest.skipUnless(shutil.which("fish"), "no fish")
class Fish(unittest.TestCase):
    def complete(self, line):
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(["fish", "--no-config", "-c", weft("completion", "fish") + f"\ncomplete -C '{line}'"], text=True,
                                  capture_output=True, check=True, env={**os.environ, "HOME": home})
        return {shown.split("\t")[0] for shown in done.stdout.splitlines()}

    def test_completes(self):
        self.assertLessEqual({"sweep"}, self.complete("weft swe"))
        self.assertEqual(self.complete("weft run --thr"), {"--threads"})
        self.assertEqual({o.split("=")[0] for o in self.complete("weft run --")} & options("run"), options("run"))
        self.assertIn("--lossless-mtu", self.complete("weft plan pfc --"))
        self.assertIn("transport", self.complete("weft models tran"))


@unittest.skipUnless(shutil.which("zsh"), "no zsh")
class Zsh(unittest.TestCase):
    def assert_completes(self, line, wanted):
        """An interactive zsh shows `wanted` once TAB is pressed after the line."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "_weft").write_text(weft("completion", "zsh"))
            child, terminal = pty.fork()
            if not child:
                os.execvpe("zsh", ["zsh", "-f", "-i"], {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": folder})
            os.write(terminal, f"PS1='READY>'; fpath=({folder} $fpath); autoload compinit; compinit -D -u; echo SE''T\n".encode())
            self.read_until(terminal, "SET\r\n")
            os.write(terminal, f"{line}\t\t".encode())
            self.read_until(terminal, wanted)
            os.write(terminal, b"\x03exit\n")
            os.close(terminal)
            os.waitpid(child, 0)

    def read_until(self, terminal, wanted):
        out, until = "", time.monotonic() + 60
        while wanted not in out:
            self.assertLess(time.monotonic(), until, f"no {wanted!r} in {out!r}")
            if select.select([terminal], [], [], 1)[0]:
                out += os.read(terminal, 65536).decode(errors="replace")

    def test_completes(self):
        self.assert_completes("weft swe", "weft sweep")
        self.assert_completes("weft run --thr", "--threads")
        self.assert_completes("weft plan pfc --loss", "--lossless-mtu")
        self.assert_completes("weft models tran", "weft models transport")


class Manual(unittest.TestCase):
    def test_each_command_has_a_page_with_every_option(self):
        overview = weft("manual")
        for command in commands():
            page = weft("manual", command).replace("\\-", "-")
            self.assertIn(f"weft-{command} - ", page)
            self.assertIn(command.replace("-", "\\-"), overview)
            for option in options(command) if command != "plan" else {"--lossless-mtu", "--hosts"}:
                self.assertIn(f".B {option}", page, command)
        weft("manual", "no-such", status=2)

    @unittest.skipUnless(shutil.which("mandoc"), "no mandoc")
    def test_pages_are_well_formed(self):
        for command in [[], *([c] for c in commands())]:
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning"], input=weft("manual", *command), capture_output=True, text=True)
            wrong = [line for line in done.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(wrong, [], command)


if __name__ == "__main__":
    unittest.main()
