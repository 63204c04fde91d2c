#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft workload --loggops orders equal times as LogGOPSim does: recorded ends of every host (tests/data/goal-order),
and random schedules against a second implementation of its main loop, written from its rules and checked against the
same records."""
import heapq
import itertools
import os
import random
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

WEFT = os.environ["WEFT"]
RECORDED = Path(os.environ["WEFT_ROOT"]) / "tests" / "data" / "goal-order"
MODELS = ["2503,1511,1009,6,0,65535", "503,3,7,2,1,1009", "1013,207,53,1,0,65535"]
SEND, RECV, CALC, MESSAGE = 1, 2, 3, 4
STATEMENT = re.compile(r"(\w+): (send|recv|calc) (\d+)b?(?: (?:to|from) (-?\d+))?(?: tag (-?\d+))?(?: nic (\d+))?$")


class Rank:
    def __init__(self):
        self.step, self.label, self.waits, self.after_start, self.after_end = [], {}, [], [], []

    def add(self, line):
        if edge := re.match(r"(\w+) (i?)requires (\w+)$", line):
            to = self.label[edge[1]]
            self.waits[to] += 1
            (self.after_start if edge[2] else self.after_end)[self.label[edge[3]]].append(to)
        else:
            label, what, size, peer, tag, nic = STATEMENT.match(line).groups()
            self.label[label] = len(self.step)
            self.step.append(({"send": SEND, "recv": RECV, "calc": CALC}[what], int(size), int(peer or 0),
                              int(tag or 0), int(nic or 0)))
            self.waits.append(0)
            self.after_start.append([])
            self.after_end.append([])


class Reference:
    """One CPU stream per rank. A heap of [time, age, kind, rank, step]; an event that waits keeps its age."""

    def __init__(self, text, model):
        self.rank, self.heap, self.age, self.free = [], [], itertools.count(), {}
        for line in text.splitlines():
            if line.startswith("rank"):
                self.rank.append(Rank())
            elif line != "}" and not line.startswith("num_ranks"):
                self.rank[-1].add(line.strip())
        ranks = len(self.rank)
        self.cpu = [0] * ranks
        self.sends, self.receives = ([[0] * 4 for _ in range(ranks)] for _ in range(2))
        self.posted, self.unexpected = ([[] for _ in range(ranks)] for _ in range(2))
        self.L, self.o, self.g, self.G, self.O, self.S = map(int, model.split(","))

    def release(self, rank, steps):
        for step in steps:
            self.rank[rank].waits[step] -= 1
            if not self.rank[rank].waits[step]:
                self.free.setdefault(rank, []).append(step)

    def queue(self):
        for rank in sorted(self.free):
            for step in sorted(self.free[rank], key=lambda step: self.rank[rank].step[step][0]):
                kind, nic = self.rank[rank].step[step][0], self.rank[rank].step[step][4]
                time = max(self.cpu[rank], self.sends[rank][nic]) if kind == SEND else self.cpu[rank]
                heapq.heappush(self.heap, [time, next(self.age), kind, rank, step])
        self.free = {}

    def end_send(self, rank, step, now, size):
        if size > self.S:
            nic = self.rank[rank].step[step][4]
            self.cpu[rank], self.sends[rank][nic] = max(self.cpu[rank], now), max(self.sends[rank][nic], now)
            self.release(rank, self.rank[rank].after_end[step])

    def message(self, now, rank, step, size, dst, tag, nic):
        self.cpu[dst] = now + self.o + max(size - 1, 0) * max(self.O, self.G)
        self.receives[dst][nic] = now + self.g + max(size - 1, 0) * self.G
        for entry in self.posted[dst]:
            if entry[0] in (rank, -1) and entry[1] in (tag, -1):
                self.posted[dst].remove(entry)
                self.end_send(rank, step, now, size)
                self.release(dst, self.rank[dst].after_end[entry[2]])
                return
        self.unexpected[dst].append((rank, tag, step))

    def receive(self, now, rank, step, size, src, tag):
        self.release(rank, self.rank[rank].after_start[step])
        for entry in self.unexpected[rank]:
            if src in (entry[0], -1) and tag in (entry[1], -1):
                self.unexpected[rank].remove(entry)
                self.end_send(entry[0], entry[2], now, size)
                self.release(rank, self.rank[rank].after_end[step])
                return
        self.posted[rank].append((src, tag, step))

    def event(self, entry):
        now, _, kind, rank, step = entry
        _, size, peer, tag, nic = self.rank[rank].step[step]
        free = {SEND: max(self.cpu[rank], self.sends[rank][nic]), RECV: 0, CALC: self.cpu[rank],
                MESSAGE: max(self.cpu[peer], self.receives[peer][nic])}[kind]
        if free > now:
            heapq.heappush(self.heap, [free] + entry[1:])
        elif kind == MESSAGE:
            self.message(now, rank, step, size, peer, tag, nic)
        elif kind == RECV:
            self.receive(now, rank, step, size, peer, tag)
        elif kind == CALC:
            self.cpu[rank] = now + size
            self.release(rank, self.rank[rank].after_start[step] + self.rank[rank].after_end[step])
        else:
            self.cpu[rank] = now + self.o + max(size - 1, 0) * self.O
            self.sends[rank][nic] = now + self.g + max(size - 1, 0) * self.G
            heapq.heappush(self.heap, [now + self.o + self.L, next(self.age), MESSAGE, rank, step])
            self.release(rank, self.rank[rank].after_start[step])
            if size <= self.S:
                self.release(rank, self.rank[rank].after_end[step])

    def run(self):
        """The end of every host; None: some step waits for ever."""
        self.free = {r: [i for i, n in enumerate(rank.waits) if not n] for r, rank in enumerate(self.rank)}
        self.queue()
        while self.heap:
            self.event(heapq.heappop(self.heap))
            self.queue()
        return None if any(self.posted) or any(self.unexpected) else self.cpu


def schedule(seed, kind):
    """kind: a chain per rank, a graph of few dependencies, or the same with messages of which many are above S."""
    r = random.Random(f"{kind} {seed}")
    step = [[] for _ in range(r.choice([2, 4, 6, 8]))]
    for tag in range(r.randint(5, 40)):
        if r.random() < .5:
            step[r.randrange(len(step))].append(f"calc {r.choice([r.randint(0, 10000), r.randint(1, 100000)])}")
        src, dst = r.sample(range(len(step)), 2)
        size = r.choice([r.randint(1, 2000), r.randint(1, 50000)]) * (8 if kind == "big" else 1)
        tag = 0 if seed % 11 == 3 else tag
        nic = f" nic {r.randrange(3)}" if seed % 5 == 1 else ""
        step[src].append(f"send {size}b to {dst} tag {tag}{nic}")
        step[dst].append(f"recv {size}b from {-1 if seed % 7 == 2 else src} tag {tag}{nic}")
    text = [f"num_ranks {len(step)}"]
    for rank, steps in enumerate(step):
        text.append(f"rank {rank} {{")
        for i, what in enumerate(steps):
            text.append(f"l{i}: {what}")
            if i and kind == "chain":
                text.append(f"l{i} requires l{i - 1}")
            elif i and r.random() < .5:
                how = "irequires" if seed % 3 == 0 and r.random() < .3 else "requires"
                text.append(f"l{i} {how} l{r.randrange(max(0, i - 8), i)}")
        text.append("}")
    return "\n".join(text) + "\n"


def weft(path, model):
    done = subprocess.run([WEFT, "workload", path, "--loggops", model], capture_output=True, text=True, timeout=120)
    if done.returncode == 4:
        return None
    if done.returncode:
        raise AssertionError(f"{path}: {done.stderr}")
    return [int(line.split()[2]) for line in done.stdout.splitlines()]


class Order(unittest.TestCase):
    def test_recorded(self):
        lines = (RECORDED / "times.csv").read_text().splitlines()[1:]
        self.assertEqual(len(lines), 24)
        for line in lines:
            name, model, ends = line.split(";")
            with self.subTest(name):
                ends = list(map(int, ends.split(",")))
                self.assertEqual(weft(RECORDED / name, model), ends)
                self.assertEqual(Reference((RECORDED / name).read_text(), model).run(), ends)

    def test_random(self):
        ended = 0
        with tempfile.TemporaryDirectory() as folder:
            for seed, kind in itertools.product(range(60), ["chain", "dag", "big"]):
                text, model = schedule(seed, kind), MODELS[seed % 3]
                path = Path(folder) / "s.goal"
                path.write_text(text)
                ends = Reference(text, model).run()
                ended += ends is not None
                with self.subTest(f"{kind} {seed}"):
                    self.assertEqual(weft(path, model), ends)
        self.assertGreater(ended, 170)


if __name__ == "__main__":
    unittest.main()
