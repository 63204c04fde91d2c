# SPDX-License-Identifier: Apache-2.0
"""What any command of the program answers, as tables."""
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from weft._library import ERROR_CONSERVATION, ERROR_STALL, CError, as_exception

UNEXPECTED_CLAIM = 5  # an exit status, and an answer all the same


def program():
    """WEFT, if set, and nothing else; else where this was installed to, the source tree's build, PATH."""
    chosen = os.environ.get("WEFT")
    if chosen:
        return chosen
    try:
        from weft._installed import PROGRAM as beside
    except ImportError:
        beside = str(Path(__file__).resolve().parents[2] / "build" / "weft")
    found = beside if os.path.exists(beside) else shutil.which("weft")
    if not found:
        raise FileNotFoundError("the program weft was not found; install it, or set WEFT to its path")
    return found


def _words(options):
    """rate="400Gbps" is --rate=400Gbps, all=True is --all, set=[...] is --set=... for each; None and False are nothing."""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None and one is not False:
                yield option if one is True else f"{option}={one}"


def _error(status, text, told):
    """From what the program has printed: the first line that is an error, and the place that it begins with. A stall is no
    error of the program: the answer says who waits for whom."""
    said = re.findall(r"^weft(?: [a-z-]+)?: (?!hint: )(.*)", text, re.M)
    stalls = [row["stall"] for row in told["run"] if row["stall"]] if told and status == ERROR_STALL and "run" in told else []
    first = (said or stalls or [text.strip()])[0]
    place = re.match(r"[^:]+:(\d+):(\d+): ", first)
    error = CError(text=first.encode()[:1023], status=status)
    if place:
        error.line, error.column, error.message_at = int(place[1]), int(place[2]), len(place[0].encode())
    return as_exception(error, status)


class Answer:
    """answer["lines"] is a table of `weft models results`, named as in SQLite: a list with a dict a row, in
    the order of keys; the first table has the name of the answer. Truths are 1 and 0. `text` is what the command has printed, `status` its exit status."""

    def __init__(self, path, text, status):
        self.text, self.status, self._rows, self._columns = text, status, {}, {}
        database = sqlite3.connect(path)
        database.row_factory = sqlite3.Row
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"):
            self._rows[table] = [dict(row) for row in database.execute(f'SELECT * FROM "{table}"')]
        database.close()
        for row in self._rows.pop("meaning"):  # of a sweep, without a table: it is about the table sweep
            self._columns.setdefault(row.get("table", "sweep"), {})[row["column"]] = {"unit": row["unit"], "help": row["help"]}

    def __getitem__(self, table):
        return self._rows[table]

    def __iter__(self):
        return iter(self._rows)

    def columns(self, table):
        """What its columns mean: {"rate_bps": {"unit": "bit/s", "help": ...}}."""
        return self._columns[table]


FOLDERS = (("compare",), ("sweep",))  # commands whose --out is a folder of runs


def answer(*words, **options):
    """Runs a command of the program: answer("plan", "pfc", "fabric.yaml", rate="400Gbps"). Words are those of the command
    line, options those of the command. What the command refuses is a weft.Error; a stall has what was measured as `result`."""
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        out = os.path.join(folder, "answer" if words[:1] in FOLDERS else "answer.sqlite")
        ran = subprocess.run([program(), *map(str, words), *_words(options), "--out", out], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
        kept = [out, *(os.path.join(out, name) for name in ("results.sqlite", "sweep.sqlite"))]
        found = next((path for path in kept if os.path.isfile(path)), None)
        told = Answer(found, ran.stdout, ran.returncode) if found else None
    if told and ran.returncode in (0, UNEXPECTED_CLAIM):
        return told
    error = _error(ran.returncode or 1, ran.stderr or f"weft: {' '.join(map(str, words))}: no answer has tables", told)
    if ran.returncode in (ERROR_STALL, ERROR_CONSERVATION):
        error.result = told
    raise error
