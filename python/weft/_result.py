# SPDX-License-Identifier: Apache-2.0
"""What came of a run, as tables."""
import ctypes
import struct
from ctypes import c_void_p, string_at

from weft._library import CValue, Error, Handle, call, encoded, lib, new, path_of, written

_TEXT, _REAL, _BOOL, _PRIORITIES = 5, 4, 6, 7  # enum weft_result_type
_ROWS = 4096  # read at once


def tables():
    """All tables there are: {name: what a row is}."""
    found = {}
    for i in range(lib.weft_result_table_count()):
        table = lib.weft_result_table_at(i)
        found[lib.weft_result_table_name(table).decode()] = lib.weft_result_table_row(table).decode()
    return found


def _table(name):
    table = lib.weft_result_table_find(encoded("name", name))
    if not table:
        raise KeyError(f"no table '{name}'; weft.tables() lists them")
    return table


def _columns(table):
    return [lib.weft_result_column_at(table, i) for i in range(lib.weft_result_column_count(table))]


def columns(name):
    """The columns of a table: {name: {"help": ..., "unit": ...}}."""
    return {lib.weft_result_column_name(c).decode(): {"help": lib.weft_result_column_help(c).decode(),
                                                      "unit": lib.weft_result_unit(c).decode()}
            for c in _columns(_table(name))}


def _priorities(mask):
    return [p for p in range(8) if mask >> p & 1]


# A struct weft_result_value in memory: a type of 4 bytes, a flag, a union of 8 at offset 8.
assert ctypes.sizeof(CValue) == 16 and CValue.is_.offset == 8 and CValue.known.offset == 4
_convert = {_TEXT: lambda at: string_at(at).decode(errors="replace"), _BOOL: bool, _PRIORITIES: _priorities}


class Result:
    """Results of a run: result["flows"] is the table `flows`, a list with a dict a row. A table that the run does not
    have is an empty list. A value that there is not, as the completion time of a flow that has not finished, is None.
    """

    def __init__(self, pointer, *needs):
        self._handle = Handle(pointer, lib.weft_result_free, *needs)

    @property
    def digest(self):
        """Equal for equal results, whatever the number of threads; 16 hexadecimal digits, as the program prints it."""
        return f"{lib.weft_result_digest(self._handle.pointer):016x}"

    @property
    def sim_time_ps(self):
        """Of the last event."""
        return lib.weft_result_sim_time(self._handle.pointer)

    @property
    def stall(self):
        """Who waits for whom, as text; None: the run did not stall."""
        text = lib.weft_result_stall(self._handle.pointer)
        return text.decode() if text else None

    def rows(self, name, only=None):
        """The rows of a table one by one, as tuples of the columns `only`, or of all, in their order."""
        table = _table(name)
        if isinstance(only, str):
            raise TypeError(f"only={only!r}: expected a list of columns")
        known = {lib.weft_result_column_name(c).decode(): c for c in _columns(table)}
        for column in only or ():
            if column not in known:
                raise KeyError(f"no column '{column}' of {name}; weft.columns('{name}') lists them")
        chosen = [known[column] for column in only] if only else list(known.values())
        if not chosen:
            return
        types = [lib.weft_result_column_type(c) for c in chosen]
        row = struct.Struct("=" + "".join("4x?3xd" if t == _REAL else "4x?3xQ" for t in types))
        convert = [_convert.get(t) for t in types]
        plain = not any(convert)
        walk = Handle(new(lib.weft_rows_new, self._handle.pointer, table), lib.weft_rows_free, self._handle)
        asked, values = (c_void_p * len(chosen))(*chosen), (CValue * (len(chosen) * _ROWS))()
        while True:
            n = lib.weft_rows_read(walk.pointer, asked, len(chosen), values, _ROWS)
            if not n:
                break
            for found in row.iter_unpack(memoryview(values).cast("B")[:n * row.size]):
                if plain:
                    yield tuple(v if known else None for known, v in zip(found[::2], found[1::2]))
                else:
                    yield tuple(None if not known else f(v) if f else v
                                for known, v, f in zip(found[::2], found[1::2], convert))
        if lib.weft_rows_status(walk.pointer):
            raise MemoryError("out of memory")

    def __getitem__(self, name):
        keys = list(columns(name))
        return [dict(zip(keys, row)) for row in self.rows(name)]

    def frame(self, name):
        """A table as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame.from_records(list(self.rows(name)), columns=list(columns(name)))

    def json(self):
        """What `weft run --json` prints, as a dict."""
        return written(lambda stream: call(lib.weft_result_write_json, self._handle.pointer, stream))

    def save(self, folder):
        """Writes FOLDER/results.sqlite, as `weft run --out FOLDER` does."""
        call(lib.weft_result_write_sqlite, self._handle.pointer, path_of("folder", folder))

    def __repr__(self):
        return f"<weft.Result digest {self.digest}>"
