# SPDX-License-Identifier: Apache-2.0
"""A simulation that a program drives: it sends messages and is told what becomes of them (weft/drive.h)."""
from collections import namedtuple
from ctypes import byref, c_char_p, c_int, c_uint32, c_void_p, create_string_buffer, string_at

from weft import _library as c
from weft._library import Handle, call, lib, new
from weft._result import Result

_EVENTS = {"delivered": 1, "acked": 2, "cancelled": 4, "time": 8, "frame": 16}
_NAMES = {number: name for name, number in _EVENTS.items()}
_ENDS = ("idle", "until", "stopped", "over", "interrupted", "stalled")

_FATES = 13

Notice = namedtuple("Notice", "event host time_ps flow tag bytes frame sent_ps", defaults=(None, None))
Notice.__doc__ = """What a callback is told: event is "delivered", "acked", "cancelled", "time" or "frame"; flow is None of a time.
Of a frame, `frame` is its bytes, and sent_ps is when it was put."""


class Drive:
    """Drives a weft.Simulation. A callback is called with (drive, notice), at a host and at a time of the simulation;
    it may send from there at that instant. Acting on another host takes at least `lookahead_ps`."""

    def __init__(self, simulation, threads=None):
        self._guard = c.Guard()
        self._options = c.options(self._guard, threads)
        self._handle = Handle(new(lib.weft_drive_new, simulation._handle.pointer, byref(self._options)),
                              lib.weft_drive_free, simulation._handle)
        self._simulation = simulation
        self._waiting = {}  # callbacks by number
        self._next = 1
        self._on_notice = c.ON_NOTICE(self._tell)

    def _tell(self, number, _, told):
        n = told[0]
        flow = None if n.flow == c.NONE else n.flow
        callback = self._waiting.get(number)
        if n.event == _EVENTS["time"]:
            del self._waiting[number]
        more = (string_at(n.frame, n.bytes), n.sent_ps) if n.frame else ()
        self._guard(callback, self, Notice(_NAMES[n.event], n.host, n.time_ps, flow, n.tag, n.bytes, *more))
        if self._guard.raised:
            lib.weft_drive_stop(self._handle.pointer)

    def _keep(self, callback):
        number, self._next = self._next, self._next + 1
        self._waiting[number] = callback
        return number

    @property
    def now_ps(self):
        return lib.weft_drive_now(self._handle.pointer)

    @property
    def host(self):
        """Of the callback; None outside."""
        host = lib.weft_drive_host(self._handle.pointer)
        return None if host == c.NONE else host

    @property
    def lookahead_ps(self):
        return lib.weft_drive_lookahead(self._handle.pointer)

    def send(self, src, dst, size, *, on=None, events=("delivered",), priority=3, tag=0, start_ps=0):
        """Sends `size` bytes from host `src` to host `dst`, numbers of Simulation.hosts; returns the number of the flow.
        `on` is called at each of `events`: "delivered", "acked", "cancelled"."""
        if isinstance(events, str):
            raise TypeError(f"events={events!r}: expected a list, such as [{events!r}]")
        for event in events:
            if event not in ("delivered", "acked", "cancelled"):
                raise ValueError(f"no event '{event}'; expected delivered, acked or cancelled")
        c.whole("size", size)
        c.function_of("on", on)
        message = c.filled(c.CSend, src=src, dst=dst, bytes=size, tag=tag, priority=priority, start_ps=start_ps,
                           events=sum(_EVENTS[e] for e in set(events)) if on else 0, callback=self._on_notice)
        message.context = number = self._keep(on) if on else 0
        flow = c_uint32()
        try:
            call(lib.weft_drive_send, self._handle.pointer, byref(message), byref(flow))
        except c.Error:
            self._waiting.pop(number, None)
            raise
        return flow.value

    def at(self, host, time_ps, on):
        """Calls `on` at that time at that host."""
        if c.function_of("on", on) is None:
            raise TypeError("on=None: expected a function")
        host, time_ps, number = c.whole("host", host, 0, 2**32 - 1), c.whole("time_ps", time_ps), self._keep(on)
        try:
            call(lib.weft_drive_at, self._handle.pointer, host, time_ps, self._on_notice, number)
        except c.Error:
            self._waiting.pop(number, None)
            raise

    def attach(self, host, on):
        """Calls `on` with each frame that reaches a host of the scenario's live.hosts."""
        if c.function_of("on", on) is None:
            raise TypeError("on=None: expected a function")
        host, number = c.whole("host", host, 0, 2**32 - 1), self._keep(on)
        call(lib.weft_drive_attach, self._handle.pointer, host, self._on_notice, number)

    def mac(self, host):
        """The address of an attached host, 6 bytes."""
        made = create_string_buffer(6)
        call(lib.weft_drive_mac, self._handle.pointer, c.whole("host", host, 0, 2**32 - 1), made)
        return made.raw

    def put(self, host, frame, time_ps=0):
        """Puts an Ethernet frame (bytes, without FCS) of an attached host into the network. Answers what becomes of it:
        "sent", "flooded", "lldp", ... (weft/drive.h)."""
        if not isinstance(frame, bytes):
            raise TypeError(f"frame: expected bytes, not {type(frame).__name__}")
        fate, names = c_int(), (c_char_p * _FATES).in_dll(lib, "weft_frame_fate_names")
        call(lib.weft_drive_put, self._handle.pointer, c.whole("host", host, 0, 2**32 - 1), c.whole("time_ps", time_ps),
             frame, len(frame), byref(fate))
        return names[fate.value].decode()

    def waiting(self, host):
        """Frames that wait at an attached host, because of pauses or for their time."""
        return lib.weft_drive_waiting(self._handle.pointer, c.whole("host", host, 0, 2**32 - 1))

    def cancel(self, flow):
        """The source sends nothing more of it."""
        call(lib.weft_drive_cancel, self._handle.pointer, c.whole("flow", flow, 0, 2**32 - 1))

    def stop(self):
        """From a callback: run() returns after it, and may be called again."""
        lib.weft_drive_stop(self._handle.pointer)

    def run(self, until_ps=c.NEVER):
        """Runs until there is nothing more to do, or to a time. Answers how it ended: "idle", "until", "stopped",
        "over", "interrupted"; a network that stalls is a StallError."""
        end, error = c_int(), c.CError()
        until_ps = c.whole("until_ps", until_ps)
        with self._guard.signals():
            status = lib.weft_drive_run(self._handle.pointer, until_ps, byref(end), byref(error))
        self._guard.check(not status and _ENDS[end.value] == "interrupted")
        if status:
            raise c.as_exception(error, status)
        return _ENDS[end.value]

    def finish(self):
        """What all of it came to; the drive can then do nothing more."""
        made, error = c_void_p(), c.CError()
        status = lib.weft_drive_finish(self._handle.pointer, byref(made), byref(error))
        result = Result(made, self._handle, self._simulation._handle) if made else None
        if status:
            raised = c.as_exception(error, status)
            raised.result = result
            raise raised
        return result
