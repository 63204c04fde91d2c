#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One figure, one value: what a run tells in two places is equal, in random scenarios (random_scenario.py). The places: lines of the summary and
of what was idle, mechanisms, counters and counters of ports, flows and groups, JSON, SQLite, weft compare and weft report. Each sentence of the
summary that counters can judge is judged.

test_agreement.py [COUNT [FIRST]]   COUNT scenarios that run, of the seeds from FIRST on (40 from 1)"""
import json
import re
import sqlite3
import sys
import tempfile
from pathlib import Path

import random_scenario
from test_random_scenarios import WEFT, Wrong, compare_sqlite, compare_text, expect, flat, prepare, run, same

PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12, "min": 60 * 10**12, "h": 3600 * 10**12}
SHOWN = 0.006  # three digits are shown


def near(shown, exact, digits=SHOWN):
    return abs(shown - exact) <= digits * max(abs(shown), abs(exact)) + 0.006


class Facts:
    """What one run says, by the place that says it."""

    def __init__(self, folder):
        status, out, err = run(folder, WEFT, "run", "s.yaml", "--json", "--quiet", "--out", "out", "--force")
        expect(status in (0, 4), "exit status", status, err)
        self.status, self.json = status, json.loads(out)
        self.text = run(folder, WEFT, "run", "s.yaml", "--quiet", "--force")[1]
        self.compare = json.loads(run(folder, WEFT, "compare", "s.yaml", "--json", "--quiet", "--force")[1])["variants"]
        status, _, err = run(folder, WEFT, "report", "out", "--why", "0", "--quiet", "--force", "--out", "report.html")
        expect(not status, "report: exit status", status, err)
        page = (folder / "report.html").read_text()
        self.page = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1].replace("<\\/", "</"))["runs"][0]
        self.path = folder / "out/results.sqlite"
        self.database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)

    def one(self, sql):
        return self.database.execute(sql).fetchone()[0] or 0

    def line(self, word):
        """A line of the summary, without its first word."""
        found = re.search(rf"^{word} +(.*)$", self.text, re.M)
        return found[1] if found else None


def ports_have_what_counters_sum(f):
    """counters, and lines of the summary, against port_counters."""
    c = f.json["counters"]
    for name, column in (("pfc_xoff_frames", "pfc_tx_xoff"), ("pfc_paused_ps", "paused_ps"), ("pfc_storms", "watchdog_storms"), ("ecn_marked", "ecn_marked"),
                         ("sfc_messages", "sfc_sent"), ("sfc_received", "sfc_received"), ("sfc_suppressed", "sfc_suppressed"),
                         ("sfc_proxied", "sfc_proxied"), ("link_retries", "link_retries"), ("credit_wait_ps", "credit_wait_ps")):
        expect(c[name] == f.one(f"SELECT sum({column}) FROM port_counters"), f"counters.{name} is not the sum of port_counters.{column}")
    for name, column in (("pfc_xoff_frames", "frames"), ("pfc_paused_ps", "paused_ps")):
        layers = sum(row[column] for row in f.json["pfc_layers"].values())
        expect(layers == c[name], f"pfc_layers.{column} add up to {layers}, counters.{name} is {c[name]}")
    # Senders count what arrives, echoes in ACKs and losses that they take for a CNP too; receivers count the packets that they send.
    came, lost, config = sum(flow["cnps"] for flow in f.json["flows"]), f.line("drops") != "0 packets", f.json["config"]
    echoes = any(key.endswith("host.ecn_echo") and value == "ack" or key.endswith("host.transport.kind") and value == "uet" or key.endswith("slow_restart") and value == "true"
                 for key, value in config.items())  # of devices too
    expect(echoes or came <= c["cnp"], f"flows.cnps add up to {came}, counters.cnp is {c['cnp']}")
    expect(echoes or lost or f.json["end"] != "done" or not f.json["flows"] or came == c["cnp"], f"flows.cnps add up to {came}, counters.cnp is {c['cnp']}")


def summary_has_what_counters_have(f):
    c, count = f.json["counters"], lambda text: int(re.match(r"[0-9]+", text)[0])
    pfc, ecn, drops, sfc = f.line("PFC"), f.line("ECN"), f.line("drops"), f.line("SFC")
    if pfc:
        expect(count(pfc) == c["pfc_xoff_frames"], "the summary says PFC", pfc, "and counters", c["pfc_xoff_frames"])
        time = re.search(r"ports paused for ([0-9.e+]+)([a-z]+) in all", pfc)
        expect(near(float(time[1]) * PS[time[2]], c["pfc_paused_ps"]), "the summary says PFC", pfc, "and counters", c["pfc_paused_ps"], "ps")
    else:
        expect(not c["pfc_xoff_frames"] and not c["pfc_paused_ps"], "pause frames, and no line of them")
    if ecn:
        marked, cnps = re.match(r"([0-9]+) packets? marked; ([0-9]+) CNP", ecn).groups()
        expect((int(marked), int(cnps)) == (c["ecn_marked"], c["cnp"]), "the summary says ECN", ecn, "and counters", c["ecn_marked"], c["cnp"])
    if sfc:
        expect(count(sfc) == c["sfc_messages"], "the summary says SFC", sfc, "and counters", c["sfc_messages"])
    reasons = {name: each["packets"] if isinstance(each, dict) else each for name, each in c["drops"].items()}
    shown = dict(re.findall(r"([a-z_]+) ([0-9]+)", drops.partition(": ")[2]))
    expect(count(drops) == sum(reasons.values()), "the summary says drops", drops, "and counters", reasons)
    expect({name: int(n) for name, n in shown.items()} == {name: n for name, n in reasons.items() if n}, "drops by reason:", drops, reasons)


def mechanisms_do_what_ports_count(f):
    """acts of a mechanism against counters of the ports of its devices, and lines of what was idle against both."""
    c, of = f.json["counters"], {name: row["acts"] for name, row in f.json["mechanisms"].items()}
    host = f.one("SELECT sum(pfc_tx_xoff) FROM port_counters JOIN ports USING (run, port) WHERE layer = 'host'")
    aqm = sum((row["packets"] if isinstance(row, dict) else row) for name, row in c["drops"].items() if name == "wred")
    expected = {"PFC": c["pfc_xoff_frames"] - host, "PFC of NICs": host, "PFC watchdog": c["pfc_storms"], "SFC": c["sfc_messages"],
                "ECN": c["ecn_marked"] + aqm, "DCQCN": sum(flow["cnps"] for flow in f.json["flows"])}
    for name, n in expected.items():
        if name in of:
            expect(of[name] == n, f"mechanisms.{name}.acts is {of[name]}, by the counters of ports {n}")
    idle = re.findall(r"^(?:idle +|       )([A-Z][A-Za-z ]*): (?:no |none)", f.text, re.M)
    for name, acts in of.items():
        expect((name in idle) == (not acts), f"{name} has acted {acts} times, and the summary says that", "it was idle" if acts else "nothing")
        if name in expected and name in idle:
            expect(not expected[name], f"the summary says that {name} was idle, and the ports count", expected[name])
    rows = f.database.execute("SELECT name, acts, idle FROM mechanisms").fetchall()
    expect({row[0]: row[1] for row in rows} == of, "SQLite has other mechanisms", rows, of)
    for name, acts, text in rows:
        expect(bool(text) == (not acts), f"mechanisms.idle of {name}, which acted {acts} times: {text}")


def groups_are_what_flows_are(f):
    known = [flow for flow in f.json["flows"] if flow["end_ps"] is not None]
    for flow in f.json["flows"]:
        done = flow["end_ps"] is not None
        expect(flow["delivered_bytes"] <= flow["bytes"] and (not done or flow["delivered_bytes"] == flow["bytes"]), "a flow delivered", flow)
        expect(not done or flow["start_ps"] <= flow["end_ps"] <= f.json["sim_time_ps"], "a flow ended outside the run", flow)
        expect(not done or flow["fct_ps"] == flow["end_ps"] - flow["start_ps"], "fct_ps", flow)
        if flow["slowdown"] is not None:
            expect(same(flow["slowdown"], flow["fct_ps"] / flow["ideal_ps"]), "a slowdown is not fct_ps / ideal_ps", flow)
            expect(flow["slowdown"] >= 1, "a slowdown below 1", flow)
    for name, group in f.json["groups"].items():
        flows = [flow for flow in f.json["flows"] if flow["group"] == name]
        if len(flows) != group["count"] or name in f.json.get("rma", {}):
            continue  # remote memory access and jobs without a record of each flow
        done = [flow["fct_ps"] for flow in known if flow["group"] == name]
        expect(len(done) == group["finished"], f"groups.{name}.finished is {group['finished']}, of flows {len(done)}")
        for column in ("bytes", "delivered_bytes"):
            expect(sum(flow[column] for flow in flows) == group[column], f"groups.{name}.{column} is not that of its flows")
        if done:
            expect(abs(group["fct_ps"]["mean"] - sum(done) / len(done)) <= 1 and group["fct_ps"]["max"] == max(done), f"groups.{name}.fct_ps", group, done)
            slow = [flow["slowdown"] for flow in known if flow["group"] == name]
            of_job = name in [job["name"] for job in f.json.get("jobs", [])]
            expect(None in slow or (group["slowdown"]["max"] is None if of_job else same(group["slowdown"]["max"], max(slow))), f"groups.{name}.slowdown.max", group["slowdown"], max(slow))
        bits = 8 * group["delivered_bytes"] * 10**12
        starts = [flow["start_ps"] for flow in flows if flow["start_ps"] is not None]
        span = f.json["sim_time_ps"] - min(starts) if starts else 0
        # Whatever the time that it is over: no more than what was delivered, in the shortest time that the flows can have taken.
        last = max([flow["end_ps"] for flow in flows if flow["end_ps"] is not None], default=f.json["sim_time_ps"]) - min(starts, default=0)
        least = max(1, min(span, last))
        expect(group["throughput_bps"] is None or group["throughput_bps"] <= bits / least * (1 + 1e-9) or group["throughput_bps"] <= 1,
               f"groups.{name}.throughput_bps is {group['throughput_bps']}, more than the {group['delivered_bytes']} B delivered in {least} ps")


def table_of_groups_is_the_groups(f):
    unit = re.search(r"completion time, ([a-z]+)", f.text)
    for name, group in f.json["groups"].items():
        row = re.search(rf"^{re.escape(name)} +([0-9]+) +([0-9]+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)$", f.text, re.M)
        if not row or not unit:
            continue
        for cell, key in zip(row.groups()[3:7], ("mean", "p50", "p99", "max")):
            exact = group["fct_ps"][key]
            expect((cell == "-") == (exact is None), f"{name}.fct_ps.{key}: {cell}, {exact}")
            expect(exact is None or near(float(cell), exact / PS[unit[1]]), f"{name}: the table has {key} {cell} {unit[1]}, JSON {exact} ps")
        for cell, key in zip(row.groups()[7:], ("mean", "p50", "p99", "max")):
            exact = group["slowdown"][key]
            expect(exact is None if cell == "-" else near(float(cell), exact), f"{name}: the table has slowdown {key} {cell}, JSON {exact}")
    for row in f.json["sizes"]:
        expect(row["group"] not in [job["name"] for job in f.json.get("jobs", [])] or row["slowdown"]["max"] is None, "a slowdown of a job's flows, by size", row)


def links_carry_what_they_can(f):
    """Rates, pauses and how evenly links were used, against the time of the run."""
    time = f.json["sim_time_ps"]
    rows = f.database.execute("SELECT p.name, p.rate_bps, sum(c.tx_bytes), max(c.paused_ps) FROM port_counters AS c JOIN ports AS p USING (run, port) GROUP BY c.port").fetchall()
    for name, rate, sent, paused in rows:
        expect((paused or 0) <= time, f"{name} was paused for {paused} ps of {time}")
        # The last frames may have begun before the end.
        expect(8e12 * (sent - 20_000) <= rate * time * (1 + 1e-9), f"{name} sent {sent} B in {time} ps at {rate} bps")
    for key, row in f.json["balance"].items():
        sent = f.one(f"""SELECT sum(tx_bytes) FROM port_counters JOIN ports USING (run, port) WHERE layer = '{row["from_layer"]}' AND peer_layer = '{row["to_layer"]}'""")
        both = sum(each["bytes"] for each in f.json["balance"].values() if (each["from_layer"], each["to_layer"]) == (row["from_layer"], row["to_layer"]))
        expect(sent == both, f"balance.{key}.bytes, and those of the other direction, are {both}, the ports sent {sent}")
        line = re.search(rf"^links +{re.escape(row['from_layer'])} to {re.escape(row['to_layer'])}, {row['direction']}: ([0-9]+) with \S+, ([0-9]+) idle(?:; busiest ([0-9.]+))?", f.text, re.M)
        if line:
            expect((int(line[1]), int(line[2])) == (row["links"], row["idle"]), "the summary says", line[0], "and balance", row)
            expect(not line[3] or near(float(line[3]), row["max_mean"]), "the summary says", line[0], "and balance", row)


def the_end_is_where_it_is_said(f):
    until = f.json["config"]["run.until"]
    if f.json["end"] == "until":
        exact = random_scenario.QUANTITY.match(until)
        expect(f.json["sim_time_ps"] == round(float(exact[1]) * PS[exact[2]]), "ended by run.until", until, "at", f.json["sim_time_ps"], "ps")
    shown = re.search(r"^simulated ([0-9.e+]+)([a-z]+) ", f.text, re.M)
    expect(shown and near(float(shown[1]) * PS[shown[2]], f.json["sim_time_ps"]), "the summary simulated", shown and shown[0], f.json["sim_time_ps"])
    expect(f.json["end"] != "done" or all(flow["end_ps"] is not None for flow in f.json["flows"]), "done, but not all flows")
    expect(("STALLED" in f.text or "TIME IS OVER" in f.text) == (f.status == 4), "exit status", f.status, "and no word of it")
    left = re.search(r"([0-9]+) of ([0-9]+) flows are not finished", f.text)
    if left and len(f.json["flows"]) == int(left[2]):
        expect(int(left[1]) == sum(flow["end_ps"] is None for flow in f.json["flows"]), "the summary says", left[0])


def places_have_the_same_rows(f):
    compare_sqlite(f.json, f.path)
    compare_text(f.json, f.text)
    other = f.compare[0]
    for key in ("digest", "sim_time_ps", "packet_hops", "events", "end", "groups", "flows", "counters", "mechanisms", "pfc_layers", "balance", "jobs", "rma", "sizes"):
        expect(other.get(key) == f.json.get(key), "compare has another", key)
    page = f.page
    expect(page["digest"] == f.json["digest"] and same(page["sim_time_us"], f.json["sim_time_ps"] / 1e6), "report has another digest or time")
    expect(near(page["paused_us"] or 0, f.json["counters"]["pfc_paused_ps"] / 1e6, 1e-9), "report has ports paused for", page["paused_us"])
    expect((page["dropped"] or 0) == sum(r["packets"] if isinstance(r, dict) else r for r in f.json["counters"]["drops"].values()), "report has drops", page["dropped"])
    for name, table in page["tables"].items():
        if name == "groups":
            for row in (dict(zip(table["columns"], row)) for row in table["rows"]):
                group = flat(f.json["groups"].get(row.get("name"), {}))
                for column, value in row.items():
                    expect(column not in group or same(value, group[column]), "report has another", row, group)


CHECKS = [ports_have_what_counters_sum, summary_has_what_counters_have, mechanisms_do_what_ports_count, groups_are_what_flows_are,
          table_of_groups_is_the_groups, links_carry_what_they_can, the_end_is_where_it_is_said, places_have_the_same_rows]


def one(folder, seed, schema):
    """What disagrees; None: the scenario is refused."""
    if not prepare(folder, random_scenario.Scenario(schema, seed)) or run(folder, WEFT, "check", "s.yaml")[0]:
        return None
    wrong, facts = [], Facts(folder)
    for check in CHECKS:
        try:
            check(facts)
        except Wrong as error:
            wrong.append(f"{check.__name__}: {str(error)[:600]}")
    facts.database.close()
    return wrong


def main():
    count, seed = (int(sys.argv[1]) if len(sys.argv) > 1 else 40), (int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    schema, ran, bad = random_scenario.read_schema(WEFT), 0, 0
    while ran < count:
        with tempfile.TemporaryDirectory(prefix="weft-agreement-") as root:
            try:
                wrong = one(Path(root), seed, schema)
            except Wrong as error:
                wrong = [str(error)[:600]]
        for text in wrong or []:
            print(f"seed {seed}: {text}", flush=True)
        ran, bad, seed = ran + (wrong is not None), bad + bool(wrong), seed + 1
    print(f"{ran} scenarios: {bad} with figures that disagree")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
