// SPDX-License-Identifier: Apache-2.0
// Parameters of a Clique's controller.
//
// Source: Gibson et al., "Aquila: A unified, low-latency fabric for datacenter networks", NSDI'22: sequenced batches, a
// flow after its group (4.1), one outstanding RPC a TiN that fits its memory of 2 MB (4.2), NSF reboots and
// reconciliation (4.3). Assumed: every time, and the sizes of RPCs and of what firmware needs. The definition of
// sequenced batches is our own: an entry is changed only when every TiN that it may now send to is programmed for that,
// so that a path that led to its destination before a write still does so after it (src/control/clique/sdn_plan.c).
#include "weft/sdn.h"
#include "weft/param.h"

#define T struct weft_sdn_conf
static const char *const orderings[] = {"sequenced", "groups", "none", NULL};
static const char *sdn_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    if (c->rpc_bytes < c->op_bytes) return "rpc is smaller than write_size: expected room for one write";
    if (c->firmware_bytes > c->sram_bytes || c->rpc_bytes > c->sram_bytes - c->firmware_bytes)
        return "firmware and an RPC do not fit into sram: expected the largest RPC to fit in memory";
    return NULL;
}
const struct weft_param_table weft_sdn_table = WEFT_PARAM_TABLE_OF(
    "sdn", T, .check = sdn_check,
    WEFT_CHOICE(T, ordering, "ordering", "sequenced", orderings,
                "batches in sequence and groups before flows; groups before flows only; none of these"),
    WEFT_TIME(T, detect_ps, "detect", "1ms", "0s", "1000s",
              "time from a link's failure or return to a report; assumed"),
    WEFT_TIME(T, latency_ps, "latency", "100us", "0s", "10s", "latency from controller to TiN, one way; assumed"),
    WEFT_TIME(T, nib_write_ps, "nib_write", "500us", "0s", "10s", "time of a write into the NIB; assumed"),
    WEFT_TIME(T, nib_ps, "nib", "500us", "0s", "10s", "time from there to its subscribers; assumed"),
    WEFT_TIME(T, call_ps, "call", "100us", "0s", "10s",
              "latency between flow manager and switch front-end, one way; assumed"),
    WEFT_TIME(T, settle_ps, "settle", "10ms", "0s", "10s",
              "time for which the routing engine collects reports; assumed"),
    WEFT_TIME(T, compute_ps, "compute", "1s", "0s", "1000s", "time to compute a routing solution; assumed"),
    WEFT_TIME(T, rpc_ps, "rpc_overhead", "1ms", "0s", "10s", "time per RPC at the switch front-end; assumed"),
    WEFT_TIME(T, op_ps, "write", "20us", "0s", "1s",
              "time to write an entry or group into registers by firmware; assumed"),
    WEFT_UINT(T, rate, "rate", "20000", "0", "1000000000",
              "most writes per second that the switch front-end sends to a TiN; 0: no limit; assumed"),
    WEFT_UINT(T, outstanding, "outstanding", "1", "1", "1000000", "RPCs outstanding to a TiN"),
    WEFT_BYTES(T, rpc_bytes, "rpc", "16KiB", "1KiB", "2MiB", "bytes of the largest RPC; assumed"),
    WEFT_BYTES(T, op_bytes, "write_size", "240B", "1B", "1KB",
               "bytes of a write in an RPC: an entry of 24 B for the VCs of ten classes; assumed"),
    WEFT_BYTES(T, sram_bytes, "sram", "2MiB", "1KiB", "16GiB", "memory of the control processor"),
    WEFT_BYTES(T, firmware_bytes, "firmware", "1536KiB", "0B", "16GiB", "share of it for the firmware itself; assumed"),
    WEFT_BOOL(T, nsf, "nsf", "on", "a reboot of the firmware keeps the registers"),
    WEFT_TIME(T, reboot_ps, "reboot", "10s", "0s", "1000s", "time of a reboot of the firmware; assumed"),
    WEFT_TIME(T, connect_ps, "connect", "1s", "1ns", "1000s", "interval between attempts to connect to a TiN; assumed"),
    WEFT_TIME(T, read_ps, "read", "20us", "0s", "1s",
              "time to read an entry or group when a session is re-established; assumed"),
    WEFT_TIME(T, ibr_ps, "ibr", "100ms", "0s", "100s",
              "time of an inter-block routing controller to compute new egress paths; assumed"),
    WEFT_UINT(T, shards, "ibr_shards", "4", "1", "64", "number of inter-block routing controllers"),
    WEFT_UINT(T, check_tins, "check_tins", "1024", "0", "4096",
              "in Cliques of up to this many TiNs, all routes are checked after every write"));
