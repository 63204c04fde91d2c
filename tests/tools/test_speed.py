#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft bench, one thread, in alternated pairs against the parent commit, which is built for it: fails if a hop takes 7%
more CPU time (median of pairs; if so, as many pairs again). Skipped (exit 77) without git or a parent, and in builds with
sanitizers. WEFT_SPEED_AGAINST names another commit.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ["WEFT_ROOT"])
WEFT = Path(os.environ["WEFT"])
SLOWER_MOST = 0.07
PAIRS = 7
BENCHMARKS = [("engine", "16", "1MiB"), ("dsf", "16", "4096B"), ("aquila", "12", "4096B")]
SAME = ["optimization", "debug", "b_ndebug", "b_lto", "c_args"]  # options of the build; its type would set others


def options(folder):
    text = subprocess.run(["meson", "introspect", "--buildoptions", folder], capture_output=True, check=True).stdout
    return {o["name"]: o["value"] for o in json.loads(text)}


def git(*arguments, **more):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, check=False, **more)


def build(commit, folder, chosen):
    """The commit's weft, with the options of this build."""
    archive = git("archive", commit).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    values = [f"-D{name}={','.join(v) if isinstance(v, list) else str(v).lower()}"
              for name, v in chosen.items() if name in SAME and v != []]
    subprocess.run(["meson", "setup", f"{folder}/build", folder, *values], check=True, stdout=subprocess.DEVNULL)
    built = options(f"{folder}/build")
    if any(built[name] != chosen[name] for name in SAME):
        raise RuntimeError(f"another build than this one: {[(name, built[name], chosen[name]) for name in SAME]}")
    subprocess.run(["ninja", "-C", f"{folder}/build", "weft"], check=True, stdout=subprocess.DEVNULL)
    return Path(folder, "build", "weft")


def seconds_per_hop(weft, benchmark):
    name, k, size = benchmark
    run = subprocess.run([weft, "bench", name, "--k", k, "--size", size, "--threads", "1", "--runs", "1", "--json"],
                         capture_output=True, check=True)
    figures = json.loads(run.stdout)["runs"][0]
    hops = next(v for key, v in figures.items() if key.endswith("_hops"))
    return figures["cpu_s"] / hops


def measure(before, now, benchmark, pairs):
    """Of each pair, the time of a hop now over that before. Which of the two comes first alternates."""
    ratios = []
    for pair in range(pairs):
        order = [before, now] if pair % 2 == 0 else [now, before]
        times = {weft: seconds_per_hop(weft, benchmark) for weft in order}
        ratios.append(times[now] / times[before])
    return ratios


def is_slower(ratios):
    return statistics.median(ratios) > 1 + SLOWER_MOST


class Speed(unittest.TestCase):
    def test_a_slower_one_is_found(self):
        self.assertTrue(is_slower([1.08, 1.3, 0.9, 1.09, 1.1]))
        self.assertFalse(is_slower([1.06, 1.3, 0.9, 1.0, 1.1]))

    def test_no_slower_than_the_parent(self):
        chosen = options(WEFT.parent)
        against = os.environ.get("WEFT_SPEED_AGAINST", "HEAD^")
        with tempfile.TemporaryDirectory(prefix="weft-speed-") as folder:
            before = build(against, folder, chosen)
            for benchmark in BENCHMARKS:
                ratios = measure(before, WEFT, benchmark, PAIRS)
                if is_slower(ratios):
                    ratios += measure(before, WEFT, benchmark, PAIRS)
                print(f"{benchmark[0]}: a hop takes {statistics.median(ratios):.3f} times as long "
                      f"({min(ratios):.3f} to {max(ratios):.3f}, {len(ratios)} pairs)", flush=True)
                with self.subTest(benchmark[0]):
                    self.assertFalse(is_slower(ratios), ratios)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


if __name__ == "__main__":
    if not shutil.which("git") or git("rev-parse", "--verify", os.environ.get("WEFT_SPEED_AGAINST", "HEAD^")).returncode:
        skip("there is no git repository with a parent commit")
    if options(WEFT.parent).get("b_sanitize", "none") != "none":
        skip("a build with sanitizers")
    unittest.main()
