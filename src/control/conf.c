// SPDX-License-Identifier: Apache-2.0
#include "weft/control.h"
#include "weft/param.h"

static const struct weft_param rows[] = {
    WEFT_SECTION(struct weft_control_conf, reach, "reachability", &weft_reach_table,
                 "cells between devices of a fabric, and input balanced mode"),
};
const struct weft_param_table weft_control_table = WEFT_PARAM_TABLE("control", struct weft_control_conf, rows);
