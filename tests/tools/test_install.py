#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft as others have it: installed into an empty folder, found by pkg-config, its headers compiled as C and as C++, and
the programs in examples/ built against it and run."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ["WEFT_ROOT"])
BUILD = Path(os.environ["WEFT_BUILD"])
C = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
CXX = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **more)
    if done.returncode:
        raise AssertionError(f"{command[0]} failed:\n{' '.join(str(c) for c in command)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Places(unittest.TestCase):
    def test_python_below_any_prefix(self):
        """Where Python looks nowhere below the prefix, its module has a folder of its own there, and the last line says what to set."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("meson", "ninja"):
                (Path(folder) / name).write_text(f"#!/bin/sh\n[ \"$1\" != configure ] || echo \"$@\" >{folder}/asked\n")
                (Path(folder) / name).chmod(0o755)
            env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            told = run(ROOT / "tools/install", "build", f"{folder}/there/", env=env).splitlines()[-1]
            asked = (Path(folder) / "asked").read_text()
            place = f"{folder}/there/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
            self.assertIn(f"-Dpython.purelibdir={place}\n", asked)
            self.assertIn(f"PYTHONPATH={place}", told)
            self.assertIn(f"installed: {folder}/there/bin/weft", told)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.root)
        cls.pc = next(cls.root.rglob("weft.pc"))
        prefix = re.search(r"^prefix=(.*)$", cls.pc.read_text(), re.M).group(1)
        cls.prefix = cls.root / prefix.lstrip("/")
        cls.lib = cls.pc.parent.parent
        cls.env = {**os.environ, "LD_LIBRARY_PATH": str(cls.lib), "PKG_CONFIG_LIBDIR": cls.system_path(),
                   "PKG_CONFIG_PATH": str(cls.pc.parent)}
        for name in ("WEFT", "WEFT_ROOT"):
            cls.env.pop(name, None)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def system_path():
        return run("pkg-config", "--variable", "pc_path", "pkg-config").strip()

    def flags(self, *how):
        # As if the prefix were where it stands now.
        return run("pkg-config", f"--define-variable=prefix={self.prefix}", *how, "weft", env=self.env).split()

    def headers(self):
        return sorted((self.prefix / "include" / "weft").rglob("*.h"))

    def build(self, source, *libs):
        out = self.root / (source.stem + ("-static" if "--static" in libs else ""))
        compiler = ["c++", *CXX] if source.suffix == ".cc" else ["cc", *C]
        run(*compiler, source, "-o", out, *self.flags("--cflags", "--libs"))
        return out

    def test_what_is_installed(self):
        names = {str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*") if not p.is_dir()}
        lib = str(self.lib.relative_to(self.prefix))
        for name in ("bin/weft", f"{lib}/libweft.a", f"{lib}/libweft.so", f"{lib}/libweft.so.0",
                     f"{lib}/pkgconfig/weft.pc", "share/weft/scenario.schema.json", "share/weft/wireshark/weft.lua",
                     "share/man/man1/weft.1", "share/man/man1/weft-run.1", "share/man/man1/weft-trace-control.1",
                     "share/bash-completion/completions/weft", "share/zsh/site-functions/_weft", "share/fish/vendor_completions.d/weft.fish"):
            self.assertIn(name, names)
        self.assertLess(len(self.headers()), 8)
        json.loads((self.prefix / "share/weft/scenario.schema.json").read_text())
        self.assertIn("0.2.0", run(self.prefix / "bin/weft", "--version", env=self.env))

    def test_headers_compile_alone(self):
        for header in self.headers():
            include = f'#include "weft/{header.name}"\n'
            for compiler, flags, language in (("cc", C, "c"), ("c++", CXX, "c++")):
                if shutil.which(compiler):
                    run(compiler, *flags, "-fsyntax-only", "-x", language, "-", *self.flags("--cflags"), input=include)

    def test_no_header_is_missing(self):
        for header in self.headers():
            for name in re.findall(r'#include "(.*)"', header.read_text()):
                self.assertTrue((self.prefix / "include" / name).exists(), f"{header.name}: {name}")

    def test_soname_and_symbols(self):
        library = self.lib / "libweft.so"
        self.assertIn("[libweft.so.0]", run("readelf", "-d", library))
        exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}
        declared = set()
        for header in self.headers():
            declared |= set(re.findall(r"WEFT_API[^;]*?\b(weft_\w+)\(", header.read_text()))
            for lists in re.findall(r"extern WEFT_API [^;(]*;", header.read_text()):
                declared |= set(re.findall(r"\b(weft_\w+)\[", lists))
        self.assertTrue(declared)
        self.assertEqual(exported, declared)

    def test_static_library(self):
        source = self.root / "version.c"
        source.write_text('#include <stdio.h>\n#include "weft/weft.h"\n'
                          'int main(void) { puts(weft_version()); return weft_scenario_file_read'
                          '("", 0, 0, 0, 0) != WEFT_ERROR_INPUT; }\n')
        flags = self.flags("--cflags", "--static", "--libs")
        flags[flags.index("-lweft")] = str(self.lib / "libweft.a")
        run("cc", *C, source, "-o", self.root / "version", *flags)
        self.assertNotIn("libweft.so", run("readelf", "-d", self.root / "version"))

    def test_python(self):
        package = next(self.root.rglob("weft/__init__.py"))
        said = run("python3", "-c", "import weft; print(weft.__file__, weft.version(), len(weft.tables()) > 20)",
                   env={**self.env, "PYTHONPATH": str(package.parents[1])}, cwd=self.root)
        self.assertEqual(said.split(), [str(package), "0.2.0", "True"])

    def test_examples(self):
        sources = sorted((ROOT / "examples").glob("*.c")) + sorted((ROOT / "examples").glob("*.cc"))
        self.assertTrue(sources)
        for source in sources:
            if source.suffix == ".cc" and not shutil.which("c++"):
                continue
            with self.subTest(source.name):
                expected = source.with_suffix(".txt")
                said = run(self.build(source), ROOT / "scenarios" / "foundation" / "incast.yaml", env=self.env)
                self.assertEqual(said, expected.read_text())


if __name__ == "__main__":
    for tool in ("meson", "pkg-config", "cc", "nm", "readelf"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    unittest.main(verbosity=2)
