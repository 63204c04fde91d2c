# SPDX-License-Identifier: Apache-2.0
"""Random valid inputs of the importers, for random_scenario.py: small networks, schedules and traces in the formats of other tools.

make(draw, form): a dictionary of the name of each file to its content (text or bytes), or None for a format that is
taken from examples/import as it is."""
import json

import chakra_writer as chakra


def any_rate(draw):
    """Gbit/s that links have, and those that nobody sells."""
    return draw.choice([10, 25, 40, 100, 200, 400, 100, 200, draw.randint(1, 800)])


def any_size(draw):
    return draw.choice([1, 63, 1000, 4096, 65536, draw.randint(1, 300_000)])


def tree(draw):
    """Leaves, spines and hosts of each leaf."""
    return draw.randint(1, 3), draw.randint(1, 2), draw.randint(2, 4)


def links_of(draw):
    """(leaf or host, its switch) by number: hosts first, then leaves, then spines. A tree of one leaf has no spine."""
    leaves, spines, each = tree(draw)
    spines = spines if leaves > 1 else 0
    hosts = leaves * each
    below = [(h, hosts + h // each) for h in range(hosts)]
    return hosts, leaves, spines, below + [(hosts + leaf, hosts + leaves + spine) for leaf in range(leaves) for spine in range(spines)]


def pairs(draw, hosts, most=6):
    return [draw.sample(range(hosts), 2) for _ in range(draw.randint(1, most))]


def hpcc(draw):
    hosts, leaves, spines, links = links_of(draw)
    rates = [any_rate(draw) for _ in range(2)]
    lines = [f"{hosts + leaves + spines} {leaves + spines} {len(links)}", " ".join(str(hosts + i) for i in range(leaves + spines))]
    delay = draw.choice(["0.001ms", "1us", "500ns", "0.00003ms"])
    lines += [f"{a} {b} {rates[a >= hosts]}Gbps {delay} 0" for a, b in links]
    flows = [f"{a} {b} {draw.choice([3, 3, 1])} {100 + i} {any_size(draw)} {2 + i * draw.choice([0, 0.000001, 0.0000137]):.9f}"
             for i, (a, b) in enumerate(pairs(draw, hosts))]
    out = {"topology.txt": "\n".join(lines) + "\n", "flows.txt": "\n".join([str(len(flows)), *flows]) + "\n"}
    if draw.random() < 0.6:
        out["config.txt"] = "".join(f"{key} {value}\n" for key, value in (
            ("ENABLE_QCN", 1), ("USE_DYNAMIC_PFC_THRESHOLD", 1), ("PACKET_PAYLOAD_SIZE", draw.choice([1000, 1450, draw.randint(64, 4000)])),
            ("CC_MODE", draw.choice([1, 3, 7, 8])), ("RATE_AI", "50Mb/s"), ("RATE_HAI", "100Mb/s"), ("MIN_RATE", "100Mb/s"),
            ("L2_ACK_INTERVAL", 1), ("BUFFER_SIZE", draw.randint(4, 32)), ("ERROR_RATE_PER_LINK", "0.0000"), ("HAS_WIN", draw.randint(0, 1))))
    return out


def htsim(draw):
    each, leaves = draw.choice([2, 4]), draw.choice([2, 4])
    faster, hosts = draw.choice([1, 2]), each * leaves  # links upwards take what the hosts send
    up, rate = each // faster, [100 * faster, 100 * faster * faster]
    topo = f"Nodes {hosts}\nTiers 2\nPodsize {hosts}\n\nTier 0\nDownlink_speed_Gbps {rate[0]}\nRadix_Down {each}\nRadix_Up {up}\n"
    topo += f"Downlink_Latency_ns {draw.randint(1, 2000)}\nSwitch_Latency_ns {draw.randint(0, 900)}\n\n"
    topo += f"Tier 1\nDownlink_speed_Gbps {rate[1]}\nRadix_Down {leaves}\nDownlink_Latency_ns {draw.randint(1, 2000)}\n"
    flows = [f"{a}->{b} id {i + 1} start {draw.choice([0, 1, 777, 5_000_000])} size {any_size(draw)}" for i, (a, b) in enumerate(pairs(draw, hosts))]
    return {"tree.topo": topo, "flows.cm": f"Nodes {hosts}\nConnections {len(flows)}\n" + "\n".join(flows) + "\n"}


def goal(draw):
    ranks = draw.randint(2, 6)
    steps = [[f"l0: calc {draw.choice([0, 1, 1000, draw.randint(1, 20_000)])}"] for _ in range(ranks)]
    for tag, (a, b) in enumerate(pairs(draw, ranks, 12)):
        size = any_size(draw)
        for rank, verb in ((a, f"send {size}b to {b}"), (b, f"recv {size}b from {a}")):
            label = f"l{sum(': ' in line for line in steps[rank])}"
            steps[rank].append(f"{label}: {verb} tag {tag}")
            # waits for what stood before on this rank, so that nothing waits in a circle
            if draw.random() < 0.7:
                steps[rank].append(f"{label} requires l{draw.randrange(int(label[1:]))}")
    return {"random.goal": f"num_ranks {ranks}\n" + "".join(f"rank {i} {{\n" + "\n".join(lines) + "\n}\n" for i, lines in enumerate(steps))}


def simai(draw):
    tensor, gpus = draw.choice([(1, 2), (2, 4), (4, 8), (2, 8)])
    kinds = ["NONE", "ALLREDUCE", "ALLGATHER", "REDUCESCATTER"]
    def phase():
        kind = draw.choice(kinds)
        return f"{kind}\t{0 if kind == 'NONE' else gpus * 4 * draw.randint(1, 20_000)}"
    layers = [f"layer{i}\t-1\t{draw.randint(1, 9000)}\t{phase()}\t{draw.randint(1, 9000)}\t{phase()}\t{draw.randint(1, 9000)}\t{phase()}\t100"
              for i in range(draw.randint(1, 3))]
    head = f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tensor} ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: {gpus} checkpoints: 0 checkpoint_initiates: 0"
    return {"simai.txt": "\n".join([head, str(len(layers)), *layers]) + "\n"}


def chakra_traces(draw):
    """Every rank has the same collectives in the same order, and computes between them."""
    ranks, groups = draw.randint(2, 4), json.dumps([{"pg_name": "0", "ranks": []}])
    sizes = [any_size(draw) for _ in range(draw.randint(1, 3))]
    out = {}
    for rank in range(ranks):
        text = chakra.metadata() + chakra.node(1, "## process_group:init ##", chakra.METADATA, values="['" + groups + "']")
        last = 1
        for i, size in enumerate(sizes):
            text += chakra.node(10 * i + 2, "compute", chakra.COMP, [last], micros=draw.randint(0, 20), attributes=chakra.on_cpu(False))
            text += chakra.node(10 * i + 3, "all reduce", chakra.COLL, [10 * i + 2], attributes=chakra.collective(size, "0"))
            last = draw.choice([10 * i + 2, 10 * i + 3])
        out[f"step.{rank}.et"] = text
    return out


def csv(draw):
    hosts = draw.randint(2, 8)
    rows = [f"{draw.choice([0, 0.5, 10, draw.randint(0, 40)])},host-{a},host-{b},{any_size(draw)},{draw.choice([0, 3])},g{i % 2},{draw.choice([1, 1, 3])}"
            for i, (a, b) in enumerate(pairs(draw, hosts, 10))]
    return {"flows.csv": "start [us],src,dst,size [B],priority,group,queue pairs\n" + "\n".join(rows) + "\n"}


def mooncake(draw):
    at, lines = 0, []
    for _ in range(draw.randint(1, 12)):
        at += draw.choice([0, 3000])
        tokens = draw.randint(1, 3000)
        lines.append({"timestamp": at, "input_length": tokens, "output_length": draw.randint(1, 50)})
        if draw.choice([True, False]):
            lines[-1]["hash_ids"] = [draw.randint(0, 9) for _ in range((tokens + 511) // 512)]
    return {"mooncake.jsonl": "".join(json.dumps(line) + "\n" for line in lines)}


def azure(draw):
    lines, us = ["TIMESTAMP,ContextTokens,GeneratedTokens"], 0
    for _ in range(draw.randint(1, 12)):
        us += draw.randint(0, 900_000)
        lines.append(f"2023-11-16 18:15:{us // 1_000_000:02}.{us % 1_000_000:06}0,{draw.randint(1, 3000)},{draw.randint(1, 50)}")
    return {"azure.csv": "\n".join(lines) + "\n"}


def inspector(draw):
    ranks = draw.choice([2, 4, 8])
    lines = []
    for number in range(draw.randint(1, 3)):
        what, size = draw.choice(["AllReduce", "AllGather", "ReduceScatter"]), ranks * 4 * draw.randint(1, 20_000)
        for rank in range(draw.choice([1, ranks])):
            lines.append(json.dumps({"header": {"id": "0x7f8c496ae9f661", "rank": rank, "n_ranks": ranks, "nnodes": 1 + ranks // 8},
                                     "coll_perf": {"coll": what, "coll_sn": number, "coll_msg_size_bytes": size,
                                                   "coll_exec_time_us": draw.randint(10, 500), "coll_busbw_gbs": draw.randint(1, 300)}}))
    return {"inspector.jsonl": "\n".join(lines) + "\n"}


def nccl(draw):
    gpus, speed = draw.choice([2, 4, 8]), draw.choice([100000, 200000, 400000])
    def server(i):
        return (f'<pci busid="0000:{i + 1}0:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">'
                f'<pci busid="0000:{i + 1}1:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="{i}" sm="90" rank="{i}" gdr="1">'
                f'<nvlink target="0000:f0:00.0" count="{draw.choice([12, 18])}" tclass="0x068000"/></gpu></pci>'
                f'<pci busid="0000:{i + 1}2:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16"><nic>'
                f'<net name="mlx5_{i}" dev="{i}" speed="{speed}" port="1" latency="0.000000" guid="0x{i + 1}" maxconn="131072" gdr="1"/></nic></pci></pci>')
    topology = ('<system version="1"><cpu numaid="0" affinity="0000000f" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">'
                + "".join(map(server, range(gpus))) + "</cpu></system>\n")
    def channel(first):
        ring = [(first + i) % gpus for i in range(gpus)]
        return f'<channel><net dev="{first}"/>' + "".join(f'<gpu dev="{i}"/>' for i in ring) + f'<net dev="{first}"/></channel>'
    channels = draw.sample(range(gpus), draw.randint(1, gpus))
    graph = (f'<graphs version="1"><graph id="0" pattern="4" crossnic="0" nchannels="{len(channels)}" speedintra="40" speedinter="40" latencyinter="0" '
             'typeintra="NVL" typeinter="PXB" samechannels="0">' + "".join(map(channel, channels)) + "</graph></graphs>\n")
    return {"topo.xml": topology, "graph.xml": graph}


def names_of(hosts, leaves, number):
    return f"n{number}" if number < hosts else f"leaf{number - hosts}" if number < hosts + leaves else f"spine{number - hosts - leaves}"


def networkx(draw):
    hosts, leaves, spines, links = links_of(draw)
    rate = [any_rate(draw), any_rate(draw)]
    names = [names_of(hosts, leaves, n) for n in range(hosts + leaves + spines)]
    return {"graph.json": json.dumps({
        "directed": False, "multigraph": False, "graph": {},
        "nodes": [{"id": name, "type": "host" if i < hosts else "switch"} for i, name in enumerate(names)],
        "links": [{"source": names[a], "target": names[b], "bandwidth_gbps": rate[a >= hosts], "delay": f"{draw.randint(1, 900)}ns"} for a, b in links]})}


def cables(draw):
    hosts, leaves, _, links = links_of(draw)
    rate, port = [draw.choice([100, 200, 400]) for _ in range(2)], {}
    rows = ["Device A,Port A,Device B,Port B,Speed (Gbps),Length (m)"]
    for a, b in links:
        ends = []
        for n in (a, b):
            port[n] = port.get(n, -1) + 1
            name = f"server-{n}" if n < hosts else names_of(hosts, leaves, n).replace("leaf", "leaf-").replace("spine", "spine-")
            ends.append(f"{name},{'eth' if n < hosts else 'Ethernet'}{port[n] * (1 if n < hosts else 8)}")
        rows.append(f"{ends[0]},{ends[1]},{rate[a >= hosts]},{draw.choice([1, 2, 30, 300, 7])}")
    return {"cables.csv": "\n".join(rows) + "\n"}


def sonic(draw):
    """A switch of one speed, with a profile for lossless priorities."""
    ports = [f"Ethernet{8 * i}" for i in range(draw.randint(2, 8))]
    speed, meters = draw.choice([100000, 200000, 400000]), draw.choice([5, 40, 300])
    size, xoff = draw.randint(20, 60) << 20, draw.randint(100, 900) << 10
    low = draw.randint(20, 900) << 10
    config = {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf-1", "type": "LeafRouter"}},
        "PORT": {p: {"lanes": str(i), "speed": str(speed), "mtu": str(draw.choice([1514, 4200, 9100])), "admin_status": "up"} for i, p in enumerate(ports)},
        "CABLE_LENGTH": {"AZURE": {p: f"{meters}m" for p in ports}},
        "BUFFER_POOL": {"ingress_lossless_pool": {"mode": "dynamic", "size": str(size), "type": "ingress", "xoff": str(size // 4)},
                        "egress_lossless_pool": {"mode": "static", "size": str(size), "type": "egress"}},
        "BUFFER_PROFILE": {"pg_lossless": {"dynamic_th": str(draw.randint(-3, 3)), "pool": "ingress_lossless_pool", "size": str(1 << 10), "xoff": str(xoff), "xon": "0",
                                           "xon_offset": "3584"},
                           "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th": str(size)}},
        "BUFFER_PG": {f"{p}|3-4": {"profile": "pg_lossless"} for p in ports},
        "BUFFER_QUEUE": {f"{p}|3-4": {"profile": "egress_lossless_profile"} for p in ports},
        "WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_all", "wred_green_enable": "true", "green_min_threshold": str(low), "green_max_threshold": str(low * 4),
                                            "green_drop_probability": str(draw.randint(1, 100))}},
        "QUEUE": {f"{p}|3-4": {"wred_profile": "AZURE_LOSSLESS"} for p in ports},
        "DSCP_TO_TC_MAP": {"AZURE": {str(i): {3: "3", 4: "4", 48: "6"}.get(i, "1") for i in range(64)}},
        "TC_TO_QUEUE_MAP": {"AZURE": {str(i): str(i) for i in range(8)}},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(i): str(i) if i in (3, 4) else "0" for i in range(8)}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {str(i): str(i) for i in range(8)}},
        "PORT_QOS_MAP": {p: {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE", "pfc_enable": "3,4"} for p in ports}}
    return {"config_db.json": json.dumps(config, indent=1)}


MAKERS = {"hpcc": hpcc, "htsim": htsim, "goal": goal, "simai": simai, "chakra": chakra_traces, "csv": csv, "inspector": inspector, "nccl": nccl, "mooncake": mooncake, "azure": azure,
          "networkx": networkx, "cables": cables, "sonic": sonic}


def make(draw, form):
    return MAKERS[form](draw) if form in MAKERS else None
