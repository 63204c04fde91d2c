#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Chakra execution traces without any library: field numbers stand here a second time.

    chakra_writer.py sample FOLDER             step.0.et ... step.3.et: two stages of two ranks, as in examples/import/chakra
    chakra_writer.py real FOLDER [RANKS]       trace.N.et as large as one of PyTorch's: 3664 nodes, 185,542 dependencies
"""
import json
import pathlib
import sys

METADATA, COMP, SEND, RECV, COLL = 1, 4, 5, 6, 7
ALL_REDUCE = 0
INT32, INT64, UINT64, BOOL, STRING = 7, 9, 13, 27, 29  # fields of an attribute's value


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, field, value):
    data = block(field, value.encode()) if field == STRING else number(field, value)
    return block(10, block(1, name.encode()) + data)


def message(data):
    return varint(len(data)) + data


def metadata(version="0.0.4"):
    return message(block(1, version.encode()))


def node(ident, name, kind, data=(), ctrl=(), micros=0, values="", attributes=b""):
    out = number(1, ident) + block(2, name.encode()) + number(3, kind)
    out += block(4, b"".join(map(varint, ctrl))) if ctrl else b""
    out += block(5, b"".join(map(varint, data))) if data else b""
    out += number(7, micros) if micros else b""
    out += block(8, block(1, values.encode())) if values else b""
    return message(out + attributes)


def on_cpu(yes):
    return attribute("is_cpu_op", BOOL, int(yes))


def collective(size, group):
    return (on_cpu(False) + attribute("comm_type", INT64, ALL_REDUCE) + attribute("comm_size", INT64, size)
            + attribute("pg_name", STRING, group))


def to_peer(key, peer, size, tag):
    return (on_cpu(False) + attribute(key, INT32, peer) + attribute("comm_size", INT64, size)
            + attribute("comm_tag", INT32, tag))


def sample(folder):
    """Ranks 0 and 1 are the first stage of a pipeline, 2 and 3 the second; each stage reduces its gradients."""
    groups = json.dumps([{"pg_name": "0", "ranks": []}, {"pg_name": "1", "ranks": [0, 1]},
                         {"pg_name": "2", "ranks": [2, 3]}])
    for rank in range(4):
        last = rank >= 2
        peer, group = (rank + 2) % 4, "2" if last else "1"
        out = metadata() + node(1, "## process_group:init ##", METADATA, values="['" + groups + "']")
        if last:
            out += node(2, "receive activations", RECV, [1], attributes=to_peer("comm_src", peer, 4 << 20, 1))
            out += node(3, "forward and backward", COMP, [2], micros=1200, attributes=on_cpu(False))
            out += node(4, "send gradients", SEND, [3], attributes=to_peer("comm_dst", peer, 4 << 20, 2))
            done = 3
        else:
            out += node(2, "forward", COMP, [1], micros=400, attributes=on_cpu(False))
            out += node(3, "send activations", SEND, [2], attributes=to_peer("comm_dst", peer, 4 << 20, 1))
            out += node(4, "receive gradients", RECV, [2], attributes=to_peer("comm_src", peer, 4 << 20, 2))
            out += node(5, "backward", COMP, [4], micros=800, attributes=on_cpu(False))
            done = 5
        out += node(10, "record_param_comms", COLL, [1], ctrl=[1], attributes=on_cpu(True))
        out += node(11, "reduce gradients", COLL, [10, done], attributes=collective(16 << 20, group))
        out += node(12, "optimizer", COMP, [11], micros=50, attributes=on_cpu(False))
        (folder / f"step.{rank}.et").write_bytes(out)


def real_attributes(cpu):
    out = b"".join(attribute(k, INT64, 7) for k in ("rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid"))
    return out + attribute("op_schema", STRING, "aten::linear(Tensor input, Tensor weight)" * 3) + on_cpu(cpu)


def real(folder, ranks):
    """Calls on the CPU one after another; each fourth starts a kernel; now and then one waits for all kernels so far."""
    nodes, wanted, wrappers, collectives = 3664, 185542, 14, 7
    plan, kernels, calls = [], [], []
    total = 0
    for ident in range(2, nodes + 2):
        if ident % 5 == 0:
            plan.append((ident, False, [calls[-1]]))
            kernels.append(ident)
        else:
            plan.append((ident, True, calls[-1:]))
            calls.append(ident)
        total += len(plan[-1][2])
    for ident, cpu, deps in reversed(plan):  # the last ones have the most to wait for
        if total == wanted:
            break
        more = [k for k in kernels if k < ident][:wanted - total] if cpu else []
        deps.extend(more)
        total += len(more)
    talks = {k: i for i, k in enumerate(kernels[::len(kernels) // collectives][:collectives])}
    wraps = set(calls[1::len(calls) // wrappers][:wrappers])
    values = "[" + ", ".join(f"[{i}, 281474976710656, 0, 1048576, 2, 'cuda:0']" for i in range(8)) + "]"
    for rank in range(ranks):
        out = [metadata("")]
        out[0] = message(block(2, block(1, b"schema") + block(STRING, b"1.0.2-chakra.0.0.4")))
        for ident, cpu, deps in plan:
            kind = COLL if ident in talks or ident in wraps else COMP
            more = real_attributes(cpu)
            if ident in talks:
                more += (attribute("comm_type", INT64, ALL_REDUCE) + attribute("comm_size", INT64, 1 << 20)
                         + attribute("pg_name", STRING, "0"))
            out.append(node(ident, "aten::some_operation_of_a_model", kind, deps, micros=ident % 9,
                            values=values, attributes=more))
        (folder / f"trace.{rank}.et").write_bytes(b"".join(out))
        assert (len(plan), sum(len(p[2]) for p in plan)) == (nodes, wanted)


def main():
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    if sys.argv[1] == "sample":
        sample(folder)
    else:
        real(folder, int(sys.argv[3]) if len(sys.argv) > 3 else 1)


if __name__ == "__main__":
    main()
