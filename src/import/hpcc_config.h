// SPDX-License-Identifier: Apache-2.0
// The configuration of HPCC's simulator: lines of a key and its values.
#ifndef WEFT_IMPORT_HPCC_CONFIG_H
#define WEFT_IMPORT_HPCC_CONFIG_H

#include "base/lines.h"

enum { WEFT__HPCC_RATES = 16 }; ///< of a map, at most

/// A value that depends on the rate of a port.
struct weft__hpcc_map {
    uint32_t n;
    weft_rate_bps rate_bps[WEFT__HPCC_RATES];
    double value[WEFT__HPCC_RATES];
};

struct weft__hpcc_config {
    const char *topology, *flows; ///< paths as written; NULL: none
    struct weft_place topology_place, flows_place;
    uint64_t mtu_bytes, cc_mode, buffer_mb;                  ///< 0: not given
    weft_rate_bps ai_bps, hai_bps, min_bps;                  ///< likewise
    double alpha_us, decrease_us, increase_us, gain, stages; ///< likewise
    struct weft__hpcc_map kmin_kb, kmax_kb, pmax;
    double until_s;
    bool qcn_off, clamp, has_clamp;
    bool window_off, window_of_pair, window_varies;
    const char *ignored; ///< unknown keys, separated by blanks
};

enum weft_status weft__hpcc_read_config(const char *path, struct weft_arena *arena,
                                        struct weft__hpcc_config *ret_config, struct weft_error *ret_error);
/// The value of the map for `rate`, for the greatest rate below it, or for the lowest; NAN: the map is empty.
double weft__hpcc_map_at(const struct weft__hpcc_map *map, weft_rate_bps rate);

#endif
