// SPDX-License-Identifier: Apache-2.0
// Parameters of NSCC. See nscc.c.
#pragma once

#include "cc/credit.h"

struct weft__nscc_conf {
    weft_time_ps base_ps, fast_ps;
    double target, window, alpha, fair, eta, fast, gamma, most, gain, adapt;
    weft_bytes header_bytes, first_bytes;
    uint64_t gate;
    bool credit; ///< credit from receivers, too
    struct weft__pull_conf pull;
};
