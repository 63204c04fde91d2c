# SPDX-License-Identifier: Apache-2.0
"""Compiles single files of the core in another way and links programs of a build with them: what tools/cover and tools/mutate share.

A program takes its other files from a copy of the build's library without debugging information, so a link takes about 20 ms."""
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["engine", "link", "transport", "buffer", "cc"]


def core_files():
    return sorted(path for folder in FOLDERS for path in (ROOT / "src" / folder).glob("*.c"))


class Relinker:
    def __init__(self, build):
        self.build = Path(build).resolve()
        self.store = self.build / "mutation"
        self.store.mkdir(exist_ok=True)
        self.links, self.lock = {}, threading.Lock()
        self.library = self.store / "libweft.a"
        if not self.library.exists() or self.library.stat().st_mtime < (self.build / "libweft.a").stat().st_mtime:
            shutil.copy(self.build / "libweft.a", self.library)
            subprocess.run(["strip", "-g", self.library], check=True)
        self.compiles = {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
            if "libweft" in entry["output"] and path not in self.compiles:
                words, drop = shlex.split(entry["command"]), {"-o", "-MF", "-MQ", "-c"}
                self.compiles[path] = [word for i, word in enumerate(words) if word not in drop | {"-MD", "-g", "ccache"}
                                       and (i == 0 or words[i - 1] not in drop)]

    def compile(self, path, out, text=None, more=()):
        """The object file of a file of the project, or of a text in its place; whether it compiles. Its bytes do not depend on
        where it is."""
        source = ["-c", ROOT / path] if text is None else ["-x", "c", "-", "-c"]
        done = subprocess.run([*self.compiles[path], "-g0", "-w", *more, *source, "-o", out], cwd=self.build, text=True, check=False,
                              input=text and f'# 1 "{path}"\n{text}', capture_output=True)
        return done.returncode == 0

    def link(self, program, objects, out, more=()):
        """A program of the build with these objects instead of the library's."""
        with self.lock:
            if program not in self.links:
                done = subprocess.run(["ninja", "-t", "commands", "-s", program], cwd=self.build, capture_output=True, text=True, check=True)
                self.links[program] = [word for word in shlex.split(done.stdout.strip().splitlines()[-1]) if word != "ccache"]
            words = list(self.links[program])
        words[words.index("-o") + 1] = str(out)
        at = next(i for i, word in enumerate(words) if str(word).endswith("libweft.a"))
        words[at:at + 1] = [*objects, self.library]
        done = subprocess.run([*words, "-s", *more], cwd=self.build, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{program} does not link: {done.stderr[:500]}")
        return out
