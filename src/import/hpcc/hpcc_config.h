// SPDX-License-Identifier: Apache-2.0
// The configuration of HPCC's simulator: lines of a key and its values.
#pragma once

#include "base/lines.h"

enum { WEFT__HPCC_RATES = 16 }; ///< of a map, at most

/// A value that depends on the rate of a port.
struct weft__hpcc_map {
    uint32_t n;
    weft_rate_bps rate_bps[WEFT__HPCC_RATES];
    double value[WEFT__HPCC_RATES];
};

/// CC_MODE values with the same meaning in HPCC's simulator and all forks.
enum weft__hpcc_cc {
    WEFT__HPCC_DCQCN = 1,
    WEFT__HPCC_HPCC = 3,
    WEFT__HPCC_TIMELY = 7,
    WEFT__HPCC_DCTCP = 8,
    WEFT__HPCC_PINT = 10,
};

enum { WEFT__HPCC_ODD = 16 }; ///< keys whose value has no parameter, at most

struct weft__hpcc_config {
    const char *topology, *flows; ///< paths as written; NULL: none
    struct weft_place topology_place, flows_place;
    uint64_t mtu_bytes, cc_mode, buffer_mb;                  ///< 0: not given
    weft_rate_bps ai_bps, hai_bps, min_bps, dctcp_ai_bps;    ///< likewise
    double alpha_us, decrease_us, increase_us, gain, stages; ///< likewise
    double gain_dcqcn, gain_dctcp;                           ///< of one control only, in place of `gain`; likewise
    const char *nak_interval;                                ///< in microseconds; NULL: not given
    double target;                                           ///< U_TARGET; likewise
    uint64_t mi_thresh;
    double error_rate; ///< of packets, on links that have none of their own
    struct weft__hpcc_map kmin_kb, kmax_kb, pmax;
    double until_s;
    bool qcn_off, pfc_off, clamp, has_clamp, has_mi_thresh;
    bool window_off, window_of_pair, window_varies;
    uint64_t down[3]; ///< LINK_DOWN: microseconds after two seconds, 0: never; the link's nodes
    struct weft_place down_place;
    const char *odd[WEFT__HPCC_ODD]; ///< "RATE_BOUND 0: why it matters"
    uint32_t odds;
    const char *unknown; ///< keys, separated by blanks
};

enum weft_status weft__hpcc_read_config(const char *path, struct weft_arena *arena,
                                        struct weft__hpcc_config *ret_config, struct weft_error *ret_error);
/// The value of the map for `rate`, for the greatest rate below it, or for the lowest; NAN: the map is empty.
double weft__hpcc_map_at(const struct weft__hpcc_map *map, weft_rate_bps rate);
