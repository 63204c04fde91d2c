# SPDX-License-Identifier: Apache-2.0
"""weft from Python: scenarios as files or dicts, results as lists of dicts.

    import weft
    result = weft.Scenario("incast.yaml").set("host.cc", "dcqcn").run("pfc")
    for group in result["groups"]:
        print(group["name"], group["fct_ps.p99"])

It needs Python 3.8, ctypes and libweft.so.0; weft.answer, for what other commands answer, also the program. Every table of `weft models results` is there by its name;
times are picoseconds, sizes bytes, rates bit/s, as in all of weft's results. What the library refuses is a weft.Error.
"""
from weft._answer import Answer, answer
from weft._drive import Drive, Notice
from weft._library import ConservationError, Error, InputError, StallError, version
from weft._scenario import Scenario, Simulation
from weft._result import Result, columns, tables

__all__ = ["Answer", "ConservationError", "Drive", "Error", "InputError", "Notice", "Result", "Scenario", "Simulation",
           "StallError", "answer", "columns", "estimate", "run", "tables", "version"]
__version__ = version()


def _scenario(scenario):
    return scenario if isinstance(scenario, Scenario) else Scenario(scenario)


def run(scenario, variant=None, **options):
    """Runs one variant of a scenario: a path, a dict or a Scenario. Options are those of Scenario.run."""
    return _scenario(scenario).run(variant, **options)


def estimate(scenario, variant=None, **options):
    """Estimates one variant of a scenario: a path, a dict or a Scenario. Options are those of Scenario.estimate."""
    return _scenario(scenario).estimate(variant, **options)
