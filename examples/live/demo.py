#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Demonstrations of weft live: demo.py [roce] [dctcp] [dsf]. Each needs a minute or two, no KVM and nothing but Debian
packages, and leaves nothing behind but its folder. docs/live.md explains what they show."""
import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import guests  # noqa: E402
import spaces  # noqa: E402

HERE = Path(__file__).resolve().parent
WEFT = os.environ.get("WEFT", "weft")
FOLDER = Path(os.environ.get("WEFT_LIVE_FOLDER", "weft-live-demo")).resolve()


def command(out, text):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.connect(str(out / "control.sock"))
        s.settimeout(60)
        s.sendall(text.encode() + b"\n")
        return s.recv(4096).decode().strip()


def run_guests(scenario, name, scripts, *args, seconds=200, meanwhile=None, mtu=4200, may_not_end=False):
    """One guest for each script, at h1.sock, h2.sock and so on. Answers the guests, and what weft live answers."""
    out = FOLDER / name
    shutil.rmtree(out, ignore_errors=True)
    base = guests.build(FOLDER / "base")
    live = guests.start_live(WEFT, HERE / scenario, out, *args)
    own = [guests.Guest(base, out, n + 1, script, out / f"h{n + 1}.sock", mtu) for n, script in enumerate(scripts)]
    late = None
    try:
        if meanwhile:
            meanwhile(own)
        end = time.monotonic() + seconds
        for guest in own:
            guest.wait(max(end - time.monotonic(), 1))
    except RuntimeError as error:
        late = str(error)
    finally:
        for guest in own:
            guest.stop()
    text, errors = live.communicate(timeout=60)
    if not text or (late and not may_not_end):
        raise RuntimeError(late or errors)
    return own, {**json.loads(text), "out": out}


def replay(answer, *args):
    return subprocess.run([WEFT, "run", answer["out"] / "replay.yaml", *args], check=True, capture_output=True, text=True).stdout


def replayed(answer, variant):
    """Digest of the replay, and frames that the network dropped: one may be under way when the last guest goes."""
    came = json.loads(replay(answer, "--variant", variant, "--json"))
    return {"digest": came["digest"], "lost": sum(came["counters"]["drops"].values())}


# The DSCP needs rdma_cm (-R), with which perftest's client does not always connect; without, it sets up by TCP.
PLAIN_WRITE = "ib_write_bw -d rxe0 -x 1 -F -s 65536 -n {n} -u 20 --report_gbits"
WRITE = "ib_write_bw -d rxe0 -R --tos=106 -x 1 -F -s 65536 -n {n} -u 20 --report_gbits"


def run_roce(variant, messages=40, seconds=120):
    """Two guests write by RDMA; what their transfer had, and its replay."""
    write = WRITE.format(n=messages)
    own, answer = run_guests("roce.yaml", f"roce-{variant}",
                             [f"sleep 2; {write} 10.0.0.2 | grep ' 65536'", f"{write} >/dev/null"], "--variant", variant,
                             seconds=seconds, may_not_end=variant == "lossy")
    rate = re.search(r"^ 65536\s+\d+\s+\S+\s+(\S+)", own[0].text(), re.M)
    host = {h["name"]: h for h in answer["hosts"]}
    return {"answer": answer, "gbps": float(rate[1]) if rate else 0, "counts": own[0].counts(),
            "paused_us": host["host-0"]["paused_ps"] / 1e6, **replayed(answer, variant)}


def run_incast(variant, messages=40, seconds=150):
    """Three guests write to a fourth; what their transfers had, and the replay."""
    write = PLAIN_WRITE + " -p {port}"
    ports = [18515 + n for n in range(3)]
    scripts = [f"sleep 3; {write.format(n=messages, port=port)} 10.0.0.4 | grep ' 65536'" for port in ports]
    servers = " & ".join(f"{write.format(n=messages, port=port)} >/dev/null" for port in ports)
    own, answer = run_guests("incast.yaml", f"incast-{variant}", scripts + [f"{servers} & wait"], "--variant", variant,
                             seconds=seconds, may_not_end=variant == "lossy")
    rates = [re.search(r"^ 65536\s+\d+\s+\S+\s+(\S+)", guest.text(), re.M) for guest in own[:3]]
    result = answer["out"] / "result"
    replay(answer, "--variant", variant, "--out", result, "--quiet", "--force")
    flows = [f for f in json.loads((result / "result.json").read_text())["flows"] if f["bytes"] > 1e6 and f["end_ps"]]
    span = max(f["end_ps"] for f in flows) - min(f["start_ps"] for f in flows) if flows and all(rates) else 0
    return {"answer": answer, "gbps": [float(r[1]) if r else 0 for r in rates], "counts": [guest.counts() for guest in own],
            "paused_us": sum(h["paused_ps"] for h in answer["hosts"]) / 1e6, "result": result, **replayed(answer, variant),
            "goodput": 3 * messages * 65536 * 8e3 / span if span else 0}  # Gbit/s of the simulated link


def run_dctcp(control, seconds=30):
    """Two guests send to a third: use of the link, and its queue, from the replay."""
    tune = "sysctl -w net.ipv4.tcp_ecn=1 >/dev/null; modprobe tcp_dctcp; " \
           f"sysctl -w net.ipv4.tcp_congestion_control={control} >/dev/null; "
    send = "sleep {n}; iperf3 -c 10.0.0.1 -p 520{n} -C {c} -t {s} -i 0 | grep sender; sleep 2"
    scripts = [tune + "iperf3 -s -p 5201 -1 >/tmp/1 & iperf3 -s -p 5202 -1 >/tmp/2; wait"] + \
              [tune + send.format(n=n, c=control, s=seconds) for n in (1, 2)]
    own, answer = run_guests("dctcp.yaml", f"dctcp-{control}", scripts, seconds=seconds + 200, mtu=1500)
    switch = {line.split(",")[1]: line.split(",")[0] for line in replay(answer, "--csv", "ports").splitlines()}
    rows = csv.DictReader(replay(answer, "--csv", "series").splitlines())
    mine = [(int(r["time_ps"]), int(r["tx_bytes"]), int(r["queue_bytes"])) for r in rows
            if r["port"] == switch["switch-0/0"] and r["priority"] == "0"]
    busy = [t for t, sent, _ in mine if sent > 100000]
    third = (busy[-1] - busy[0]) // 3  # the steady part, when both send
    steady = [(sent, queue) for t, sent, queue in mine if busy[0] + third < t < busy[-1] - third]
    return {"answer": answer, "use": sum(s for s, _ in steady) * 8 / (len(steady) * 5e-6 * 300e9),
            "queue": sum(q for _, q in steady) / len(steady), "marked": sum(h["marked"] for h in answer["hosts"])}


def run_dsf(seconds=6):
    """Two namespaces through a DSF; a fabric node is down for a while."""
    out = FOLDER / "dsf"
    shutil.rmtree(out, ignore_errors=True)
    a, b = spaces.Space(1), spaces.Space(2)
    try:
        live = guests.start_live(WEFT, HERE / "dsf.yaml", out)
        time.sleep(0.2)
        ping = a.run("ping", "-c", "5", "-i", "0.2", b.address, check=False).stdout
        server = b.start("iperf3", "-s", "-1")
        time.sleep(0.3)
        client = a.start("iperf3", "-c", b.address, "-t", str(seconds), "-f", "m")
        time.sleep(seconds / 3)
        lanes = [f"link fdsw-0.0/{lane}" for lane in range(4)]
        down = [command(out, f"{lane} down") for lane in lanes]
        time.sleep(seconds / 3)
        for lane in lanes:
            command(out, f"{lane} up")
        iperf = client.communicate(timeout=60)[0]
        server.wait(10)
        command(out, "quit")
        text, errors = live.communicate(timeout=60)
    finally:
        a.stop()
        b.stop()
    if not text:
        raise RuntimeError(errors)
    return {"answer": {**json.loads(text), "out": out}, "ping": ping, "iperf": iperf, "down": down}


def demo_roce():
    rows = {variant: run_roce(variant) for variant in ("pfc", "lossy")}
    print("Two guests write 2.6 MB by RDMA while three simulated hosts send to a fourth by the same leaves:\n")
    print(f"{'':24}{'PFC':>12}{'no PFC':>12}")
    for name, of in (("Gbit/s at 1/10000", lambda r: f"{r['gbps']:.4f}" if r["gbps"] else "no end"),
                     ("frames lost", lambda r: r["lost"]), ("retries", lambda r: r["counts"].get("completer_retry_err", "?")),
                     ("pauses of host-0, us", lambda r: f"{r['paused_us']:.0f}")):
        print(f"{name:24}{of(rows['pfc']):>12}{of(rows['lossy']):>12}")
    answer = rows["pfc"]["answer"]
    result = answer["out"] / "result"
    replay(answer, "--variant", "pfc", "--out", result, "--quiet")
    flows = json.loads((result / "result.json").read_text())["flows"]
    largest = max((f for f in flows if f["group"] == "live"), key=lambda f: f["bytes"])
    print("\nThe slowest of the guest's frames, and who was to blame (weft why):\n")
    print(subprocess.run([WEFT, "why", result, str(largest["flow"])], capture_output=True, text=True).stdout)


def demo_dctcp():
    print("Two guests send by TCP through a switch that marks above 20 KB:\n")
    print(f"{'':12}{'use of link':>12}{'mean queue':>14}{'marked':>10}")
    for control in ("dctcp", "cubic"):
        r = run_dctcp(control)
        print(f"{control:12}{100 * r['use']:>11.1f}%{r['queue'] / 1000:>11.1f} KB{r['marked']:>10}")


def demo_dsf():
    r = run_dsf()
    print("Two namespaces through a zone of a DSF, while a fabric node is down for a third of the time:\n")
    print("\n".join(r["ping"].splitlines()[-3:]))
    print(r["iperf"])
    for note in r["answer"]["notes"]:
        print(f"{note['time_ps'] / 1e6:12.1f} us  {note['text']}")


DEMOS = {"roce": (demo_roce, guests), "dctcp": (demo_dctcp, guests), "dsf": (demo_dsf, spaces)}


def main():
    names = sys.argv[1:] or list(DEMOS)
    if unknown := [n for n in names if n not in DEMOS]:
        sys.exit(f"no demonstration {unknown[0]}; expected {', '.join(DEMOS)}")
    if os.environ.get("WEFT_LIVE_SPACE"):
        DEMOS[names[0]][0]()
        return
    for name in names:
        demo, needs = DEMOS[name]
        gone = needs.missing()
        print(f"--- {name}" + (f": left out: {gone}" if gone else ""), flush=True)
        if not gone and needs is spaces:
            spaces.enter(__file__, name)
        elif not gone:
            demo()


if __name__ == "__main__":
    main()
