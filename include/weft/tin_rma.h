// SPDX-License-Identifier: Apache-2.0
// 1RMA in a TiN, as configured. See src/box/tin/tin_rma.c.
#pragma once

#include "weft/types.h"

struct weft_param_table;

struct weft_tin_rma_conf {
    weft_bytes window_bytes;                       ///< solicited and not come, of a TiN at most
    weft_time_ps dispatch_timeout_ps, timeout_ps;  ///< for the window; for an answer
    weft_time_ps command_ps, read_ps, complete_ps; ///< PCIe: command, first completion of a read, completion
    weft_time_ps engine_ps;                        ///< 1RMA's own, each time that a request or an answer passes
    weft_rate_bps pcie_rate_bps;                   ///< of a host
    weft_bytes completion_bytes;                   ///< payload of a PCIe completion
    weft_rate_bps nic_rate_bps;                    ///< what congestion control takes for the line
};
extern const struct weft_param_table weft_tin_rma_table;
