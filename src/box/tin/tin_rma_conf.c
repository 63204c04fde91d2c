// SPDX-License-Identifier: Apache-2.0
// The parameters of 1RMA in a TiN: Singhvi et al., "1RMA", SIGCOMM 2020; Gibson et al., "Aquila", NSDI 2022, 3.4.
#include "weft/param.h"
#include "weft/tin_rma.h"

#define T struct weft_tin_rma_conf
const struct weft_param_table weft_tin_rma_table = WEFT_PARAM_TABLE_OF(
    "tin_rma", T, WEFT_PARAM_UNCHECKED,
    WEFT_BYTES(
        T, window_bytes, "window", "64KB", "4KiB", "16MB",
        "solicitation window of a TiN: most bytes requested and not yet received (1RMA: 48 to 96 KB; 5us x 100G)"),
    WEFT_TIME(T, dispatch_timeout_ps, "dispatch_timeout", "10us", "1us", "1s",
              "a command that waits longer than this for the window is handed back (1RMA)"),
    WEFT_TIME(T, timeout_ps, "timeout", "25us", "1us", "1s",
              "a request without an answer for this long is handed back (1RMA: 4 to 5 round trips)"),
    WEFT_TIME(T, engine_ps, "engine", "420ns", "0ns", "100us",
              "latency of 1RMA itself, four times per operation: for a request and its answer, at both ends (assumed)"),
    WEFT_TIME(T, command_ps, "command", "400ns", "0ns", "100us",
              "time from the command of software to its request: PCIe (assumed)"),
    WEFT_TIME(T, read_ps, "read", "400ns", "0ns", "100us",
              "time from a request to the first PCIe completion (1RMA: about 400ns)"),
    WEFT_TIME(T, complete_ps, "complete", "400ns", "0ns", "100us",
              "time from the last bytes of an answer to its completion in memory: PCIe (assumed)"),
    WEFT_RATE(T, pcie_rate_bps, "pcie_rate", "128Gbps", "10Mbps", "100Tbps",
              "PCIe rate of a host (Aquila 3.6: x16 of generation 3)"),
    WEFT_BYTES(T, completion_bytes, "completion", "128B", "16B", "512B",
               "payload of a PCIe completion; each is one cell, or several if longer (assumed)"),
    WEFT_RATE(T, nic_rate_bps, "nic_rate", "100Gbps", "10Mbps", "100Tbps",
              "line rate that congestion control assumes"));
