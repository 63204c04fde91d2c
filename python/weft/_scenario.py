# SPDX-License-Identifier: Apache-2.0
"""Scenarios, and simulations made of their variants."""
import json
import os
from ctypes import byref, c_void_p

from weft import _library as c
from weft._library import Handle, call, lib, new
from weft._result import Result


def _setting(path, value):
    """"path=value" as for --set: JSON is YAML."""
    name = c.encoded("path", path)
    if not name or b"=" in name:
        raise ValueError(f"path={path!r}: expected a path such as host.cc")
    return name + b"=" + json.dumps(value, allow_nan=False).encode()


class Scenario:
    """A scenario: Scenario("incast.yaml") reads a file; Scenario({"topology": "clos3", ...}) takes what the file would
    say, with units in texts ("200Gbps"); Scenario(text="topology: clos3") the text itself. Files that a dict or a text
    names are looked for in `folder`. What it names for writing must lie below its folder, or below one of `allow_write`.
    """

    def __init__(self, source=None, *, text=None, folder=".", allow_write=()):
        if (source is None) == (text is None):
            raise TypeError("expected a file, a dict or text=")
        if isinstance(source, dict):
            text = json.dumps(source, allow_nan=False)
        if text is None:
            made = new(lib.weft_scenario_file_read, c.path_of("source", source), None, 0)
        else:
            name, octets = c.path_of("folder", os.path.join(os.fspath(folder), "scenario")), c.encoded("text", text)
            made = new(lib.weft_scenario_file_parse, name, octets, len(octets), None, 0)
        self._handle = Handle(made, lib.weft_scenario_file_free)
        if isinstance(allow_write, (str, bytes)):
            raise TypeError(f"allow_write={allow_write!r}: expected a list of paths")
        for path in allow_write:
            call(lib.weft_scenario_file_allow_write, made, c.path_of("allow_write", path))

    def set(self, path, value):
        """Sets a parameter, as --set does: set("switch.aqm.min", "400KB"). Returns the scenario. A path that fits
        nothing is found when the scenario is checked or run."""
        call(lib.weft_scenario_file_set, self._handle.pointer, _setting(path, value))
        return self

    @property
    def variants(self):
        """Names of its variants, in order; a scenario without any has one, ""."""
        p = self._handle.pointer
        return [lib.weft_scenario_variant_name(p, i).decode() for i in range(lib.weft_scenario_variants(p))]

    def check(self):
        """The first error of each variant that has one: {variant: Error}."""
        found, names = {}, self.variants

        def on_error(variant, error):
            found[names[variant]] = c.as_exception(error[0])

        guard = c.Guard()
        with guard.signals():
            lib.weft_scenario_check(self._handle.pointer, c.ON_ERROR(lambda _, *told: guard(on_error, *told)), None)
        guard.check(False)
        return found

    def simulation(self, variant=None):
        """A variant made ready to run; None: the first."""
        index = 0
        if variant is not None:
            index = lib.weft_scenario_variant_find(self._handle.pointer, c.encoded("variant", variant))
            if index == c.NONE:
                names = ", ".join(map(repr, self.variants)) if any(self.variants) else ""
                expected = f"expected one of {names}" if names else "expected none: the scenario has no variants"
                raise KeyError(f"no variant '{variant}'; {expected}")
        return Simulation(new(lib.weft_simulation_new, self._handle.pointer, index), self._handle)

    def run(self, variant=None, **options):
        """simulation(variant).run(...)"""
        return self.simulation(variant).run(**options)


    def estimate(self, variant=None, **options):
        """simulation(variant).estimate(...)"""
        return self.simulation(variant).estimate(**options)


class Simulation:
    """A variant with its network and its flows. It can be run any number of times."""

    def __init__(self, pointer, *needs):
        self._handle = Handle(pointer, lib.weft_simulation_free, *needs)

    @property
    def hosts(self):
        """Names of the hosts; the i-th is host i."""
        p = self._handle.pointer
        return [lib.weft_simulation_host_name(p, i).decode() for i in range(lib.weft_simulation_hosts(p))]

    def estimate(self, *, calibration=None):
        """What a run would give, in seconds: what `weft estimate --json` prints, as a dict. estimate["times"] is a list of
        jobs, iterations, collectives and groups, each with time_ps and its 90% interval, low_ps to high_ps (None: not
        calibrated). A model without an estimate is an InputError. `calibration`: a file with intervals."""
        told = c.path_of("calibration", calibration) if calibration else None
        return c.written(lambda stream: call(lib.weft_simulation_estimate, self._handle.pointer, told, stream))

    def run(self, *, threads=None, record=False, capture=None, progress=None):
        """Runs to the end and returns a Result. `progress`: called about 20 times a second with a dict (now_ps,
        flows_done, flows, ...); False ends the run with what it has measured. `record` keeps the run's events,
        `capture` names the file for what the scenario captures. Ctrl-C raises KeyboardInterrupt."""
        guard, error, made = c.Guard(), c.CError(), c_void_p()
        told = c.options(guard, threads, record, capture, progress)
        with guard.signals():
            status = lib.weft_simulation_run(self._handle.pointer, byref(told), byref(made), byref(error))
        result = Result(made, self._handle) if made else None
        guard.check(result and [end for (end,) in result.rows("run", ["end"])] == ["interrupted"])
        if status:
            raised = c.as_exception(error, status)
            raised.result = result
            raise raised
        return result
