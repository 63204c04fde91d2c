# SPDX-License-Identifier: Apache-2.0
"""The shared library: where it is, its structs and functions (weft/weft.h, rows.h, drive.h), and its errors."""
import contextlib
import ctypes
import json
import operator
import os
import signal
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, Union, byref, c_bool, c_char, c_char_p, c_double, c_int, c_size_t,
                    c_uint, c_uint32, c_uint64, c_void_p)
from pathlib import Path

SONAME = "libweft.so.0"
NONE = 0xffffffff  # WEFT_NONE
NEVER = 0xffffffffffffffff  # WEFT_TIME_NEVER
ERROR_SYSTEM, ERROR_INPUT, ERROR_CONSERVATION, ERROR_STALL = 1, 2, 3, 4


def whole(name, value, least=0, most=2**64 - 1):
    """An integer that the library can take as it is; ctypes would cut it to its type's size. numpy's integers are welcome,
    True and 1.0 are not."""
    if isinstance(value, bool):
        raise TypeError(f"{name}={value}: expected an integer")
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: expected an integer") from None
    if not least <= value <= most:
        raise ValueError(f"{name}={value}: expected {least} to {most}")
    return value


def encoded(name, text):
    """A text in UTF-8. ctypes would cut it at a NUL."""
    if not isinstance(text, str):
        raise TypeError(f"{name}={text!r}: expected a text")
    return _without_nul(name, text.encode())


def path_of(name, path):
    """The same of a path."""
    return _without_nul(name, os.fsencode(path))


def _without_nul(name, octets):
    if b"\0" in octets:
        raise ValueError(f"{name}={octets!r}: there is a NUL in it; expected none")
    return octets


def function_of(name, value):
    """None, or something that can be called."""
    if value is not None and not callable(value):
        raise TypeError(f"{name}={value!r}: expected a function")
    return value


def filled(struct, **fields):
    """A struct whose integers fit their fields."""
    types = dict(struct._fields_)
    for name, value in fields.items():
        if types[name] in (c_uint32, c_uint64):
            fields[name] = whole(name, value, 0, 256**ctypes.sizeof(types[name]) - 1)
    return struct(**fields)


def _checked(kind, check):
    """A type of arguments of functions that checks what it is given, in case that the caller did not."""
    return type(f"checked_{kind.__name__}", (), {"from_param": staticmethod(lambda value: kind.from_param(check(value)))})


_u32 = _checked(c_uint32, lambda value: whole("argument", value, 0, 2**32 - 1))
_u64 = _checked(c_uint64, lambda value: whole("argument", value))
_size = _checked(c_size_t, lambda value: whole("argument", value))
_octets = _checked(c_char_p, lambda value: value if value is None else _without_nul("argument", value))


def _candidates():
    """WEFT_LIBRARY, if set, and nothing else; else where this was installed to, the source tree's build, the system."""
    chosen = os.environ.get("WEFT_LIBRARY")
    if chosen:
        return [chosen]
    try:
        from weft._installed import LIBRARY
        installed = [LIBRARY]
    except ImportError:
        installed = [str(Path(__file__).resolve().parents[2] / "build" / SONAME)]
    return [name for name in installed if os.path.exists(name)] + [SONAME]


def _load():
    tried = []
    for name in _candidates():
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            tried.append(str(error))
    raise ImportError(f"{SONAME} was not found; install weft, or set WEFT_LIBRARY to its path: " + "; ".join(tried))


class CError(Structure):
    _fields_ = [("status", c_int), ("line", c_int), ("column", c_int), ("file_length", c_uint), ("message_at", c_uint),
                ("text", c_char * 1024)]


class CValue(Structure):
    class Is(Union):
        _fields_ = [("whole", c_uint64), ("real", c_double), ("text", c_char_p)]

    _fields_ = [("type", c_int), ("known", c_bool), ("is_", Is)]


class CProgress(Structure):
    _fields_ = [("now_ps", c_uint64), ("wall_s", c_double), ("packet_hops", c_uint64), ("delivered_bytes", c_uint64),
                ("total_bytes", c_uint64), ("flows_done", c_uint32), ("flows", c_uint32)]


ON_PROGRESS = CFUNCTYPE(c_bool, c_void_p, POINTER(CProgress))


class COptions(Structure):
    _fields_ = [("profile", c_bool), ("record", c_bool), ("oversubscribe", c_bool), ("pin", c_bool), ("threads", c_uint32), ("interrupt", c_void_p),
                ("on_progress", ON_PROGRESS), ("context", c_void_p), ("capture_file", c_char_p), ("follow", c_void_p),
                ("ranks", c_void_p), ("checkpoint", c_void_p)]


ON_ERROR = CFUNCTYPE(None, c_void_p, c_uint32, POINTER(CError))


class CNotice(Structure):
    _fields_ = [("event", c_int), ("host", c_uint32), ("time_ps", c_uint64), ("flow", c_uint32), ("tag", c_uint64),
                ("bytes", c_uint64), ("sent_ps", c_uint64), ("frame", c_void_p)]


ON_NOTICE = CFUNCTYPE(None, c_void_p, c_void_p, POINTER(CNotice))


class CSend(Structure):
    _fields_ = [("src", c_uint32), ("dst", c_uint32), ("bytes", c_uint64), ("tag", c_uint64), ("priority", c_uint32),
                ("events", c_uint32), ("start_ps", c_uint64), ("callback", ON_NOTICE), ("context", c_void_p)]


def _declare(lib):
    error, handle, texts = POINTER(CError), POINTER(c_void_p), POINTER(c_char_p)
    for name, result, *arguments in (
            ("version", c_char_p),
            ("scenario_file_read", c_int, c_char_p, texts, c_uint32, handle, error),
            ("scenario_file_parse", c_int, c_char_p, c_char_p, c_size_t, texts, c_uint32, handle, error),
            ("scenario_file_allow_write", c_int, c_void_p, c_char_p, error),
            ("scenario_file_set", c_int, c_void_p, c_char_p, error),
            ("scenario_file_free", None, c_void_p),
            ("scenario_variants", c_uint32, c_void_p),
            ("scenario_variant_name", c_char_p, c_void_p, c_uint32),
            ("scenario_variant_find", c_uint32, c_void_p, c_char_p),
            ("scenario_check", c_uint32, c_void_p, ON_ERROR, c_void_p),
            ("simulation_new", c_int, c_void_p, c_uint32, handle, error),
            ("simulation_free", None, c_void_p),
            ("simulation_hosts", c_uint32, c_void_p),
            ("simulation_host_name", c_char_p, c_void_p, c_uint32),
            ("simulation_host_find", c_uint32, c_void_p, c_char_p),
            ("simulation_run", c_int, c_void_p, POINTER(COptions), handle, error),
            ("simulation_estimate", c_int, c_void_p, c_char_p, c_void_p, error),
            ("result_free", None, c_void_p),
            ("result_digest", c_uint64, c_void_p),
            ("result_sim_time", c_uint64, c_void_p),
            ("result_stall", c_char_p, c_void_p),
            ("result_write_json", c_int, c_void_p, c_void_p, error),
            ("result_write_sqlite", c_int, c_void_p, c_char_p, error),
            ("result_table_count", c_uint32),
            ("result_table_at", c_void_p, c_uint32),
            ("result_table_find", c_void_p, c_char_p),
            ("result_table_name", c_char_p, c_void_p),
            ("result_table_row", c_char_p, c_void_p),
            ("result_column_count", c_uint32, c_void_p),
            ("result_column_at", c_void_p, c_void_p, c_uint32),
            ("result_column_name", c_char_p, c_void_p),
            ("result_column_type", c_int, c_void_p),
            ("result_column_help", c_char_p, c_void_p),
            ("result_unit", c_char_p, c_void_p),
            ("rows_new", c_int, c_void_p, c_void_p, handle, error),
            ("rows_free", None, c_void_p),
            ("rows_read", c_uint32, c_void_p, POINTER(c_void_p), c_uint32, POINTER(CValue), c_uint32),
            ("rows_status", c_int, c_void_p),
            ("drive_new", c_int, c_void_p, POINTER(COptions), handle, error),
            ("drive_free", None, c_void_p),
            ("drive_now", c_uint64, c_void_p),
            ("drive_host", c_uint32, c_void_p),
            ("drive_lookahead", c_uint64, c_void_p),
            ("drive_send", c_int, c_void_p, POINTER(CSend), POINTER(c_uint32), error),
            ("drive_at", c_int, c_void_p, c_uint32, c_uint64, ON_NOTICE, c_void_p, error),
            ("drive_cancel", c_int, c_void_p, c_uint32, error),
            ("drive_attach", c_int, c_void_p, c_uint32, ON_NOTICE, c_void_p, error),
            ("drive_mac", c_int, c_void_p, c_uint32, c_void_p, error),
            ("drive_put", c_int, c_void_p, c_uint32, c_uint64, c_void_p, c_size_t, POINTER(c_int), error),
            ("drive_waiting", c_uint32, c_void_p, c_uint32),
            ("drive_stop", None, c_void_p),
            ("drive_run", c_int, c_void_p, c_uint64, POINTER(c_int), error),
            ("drive_finish", c_int, c_void_p, handle, error)):
        function = getattr(lib, "weft_" + name)
        checks = {c_uint32: _u32, c_uint64: _u64, c_size_t: _size, c_char_p: _octets}
        function.restype, function.argtypes = result, [checks.get(a, a) for a in arguments]
    return lib


lib = _declare(_load())
_libc = ctypes.CDLL(None)
_libc.open_memstream.restype = c_void_p
_libc.open_memstream.argtypes = [POINTER(c_char_p), POINTER(c_size_t)]
_libc.fclose.argtypes = [c_void_p]
_libc.free.argtypes = [c_void_p]


def written(write):
    """The JSON that `write` writes into a stream, as a dict."""
    text, size = c_char_p(), c_size_t()
    stream = _libc.open_memstream(byref(text), byref(size))
    if not stream:
        raise MemoryError("out of memory")
    try:
        write(stream)
    finally:
        _libc.fclose(stream)
        octets = ctypes.string_at(text, size.value)
        _libc.free(text)
    return json.loads(octets)


def version():
    """Of the library that runs, such as "0.2.0"."""
    return lib.weft_version().decode()


class Error(Exception):
    """What the library refused or could not do. `status` is an exit status of the program (docs/cli-options.md); `line` and
    `column` say where in the user's text, from 1, or are 0; str() is the whole message, `message` it without the place.
    """

    def __init__(self, error):
        text = error.text.decode(errors="replace") or _unsaid.get(error.status, f"status {error.status}")
        super().__init__(text)
        self.status, self.line, self.column = error.status, error.line, error.column
        self.message = text.encode()[error.message_at:].decode(errors="replace")


class InputError(Error, ValueError):
    """A scenario, a value or a name that cannot be used."""


class StallError(Error):
    """The network made no progress, or was not done when simulated time ended. `result` has what was measured; its
    `stall` says who waits for whom."""
    result = None


class ConservationError(Error):
    """Bytes were lost or invented, which is a bug of weft. `result` has what was measured."""
    result = None


# Errors of runs, whose result tells more.
_unsaid = {ERROR_STALL: "the network made no progress, or was not done when simulated time ended",
           ERROR_CONSERVATION: "bytes were lost or invented; this is a bug of weft"}
_kinds = {ERROR_INPUT: InputError, ERROR_STALL: StallError, ERROR_CONSERVATION: ConservationError}


def as_exception(error, status=None):
    """`status`: what the function returned, if it may have filled no error."""
    error.status = error.status or status
    return _kinds.get(error.status, Error)(error)


def call(function, *arguments):
    """A function whose last argument is a struct weft_error *; raises what it reports."""
    error = CError()
    if function(*arguments, byref(error)):
        raise as_exception(error)


def new(function, *arguments):
    """Likewise; the argument before is a pointer to what it makes, which is returned."""
    made = c_void_p()
    call(function, *arguments, byref(made))
    return made


class Handle:
    """Owns an object of the library, and keeps alive what that object needs."""

    def __init__(self, pointer, free, *needs):
        self.pointer, self._free, self._needs = pointer, free, needs

    def __del__(self):
        if self.pointer:
            self._free(self.pointer)
            self.pointer = None


class Guard:
    """Callbacks that the library calls: an exception in one ends the run, and is raised when the library has returned.
    """

    def __init__(self):
        self.raised, self.asked = None, False

    def __call__(self, function, *arguments):
        try:
            return function(*arguments)
        except BaseException as error:  # KeyboardInterrupt as well
            self.raised = self.raised or error
            return None

    def check(self, interrupted):
        """`interrupted`: the run was ended by on_progress. If no callback asked for that, an exception was raised as Python
        entered the callback, where nothing can catch it: one of a signal's handler."""
        raised, self.raised = self.raised, None
        if raised or (interrupted and not self.asked):
            raise raised or KeyboardInterrupt

    @contextlib.contextmanager
    def signals(self):
        """While the library runs, Ctrl-C may arrive as Python enters a callback, where nothing can catch what the handler
        raises; so here the handler's exception is kept like a callback's."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            yield
            return
        signal.signal(signal.SIGINT, lambda *arguments: self(before, *arguments))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def options(guard, threads=None, record=False, capture=None, progress=None):
    """struct weft_sim_options. `progress` is told the struct weft_progress as a dict; that it is called at all is what
    lets Ctrl-C end a run."""

    def tell(told):
        if progress and progress({name: getattr(told, name) for name, _ in CProgress._fields_}) is False:
            guard.asked = True
        return not guard.asked

    function_of("progress", progress)
    return filled(COptions, threads=0 if threads is None else whole("threads", threads, 1, 1024), record=bool(record),
                  capture_file=path_of("capture", capture) if capture else None,
                  on_progress=ON_PROGRESS(lambda _, told: guard(tell, told[0]) is True and not guard.raised))
