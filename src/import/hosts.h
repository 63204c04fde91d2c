// SPDX-License-Identifier: Apache-2.0
// Which host a number or a name in a foreign file means.
#pragma once

#include "weft/topology.h"

struct weft__file_hosts {
    const struct weft_topology *topology;
    uint32_t *host; ///< of a number of the file: a host's index, WEFT_NONE: none
    uint32_t n;
    bool chosen; ///< by the user, not by name
};

/// The rows of a workload that reads a file; T has the members `hosts` and `ranks`.
#define WEFT__FILE_HOSTS_ROWS(T)                                                                                       \
    WEFT_TEXT(T, hosts, "hosts", "",                                                                                   \
              "hosts for the numbers 0, 1, ... of the file, in this order; empty: number N is host-N, of the first "   \
              "network"),                                                                                              \
        WEFT_TEXT(T, ranks, "ranks", "linear",                                                                         \
                  "linear: numbers map to hosts in the order of hosts; or a file with the host of each number, one "   \
                  "line per number, as written by weft place --out; relative to the scenario")

/// Sets `hosts` and `ranks` from the rows; in the topology's arena.
enum weft_status weft__file_hosts_init(struct weft__file_hosts *hosts, const char *text, const char *ranks,
                                       struct weft_place place, const struct weft_topology *topology,
                                       struct weft_error *ret_error);
/// The host of a number; if there is none, an error at `place`.
enum weft_status weft__file_hosts_at(const struct weft__file_hosts *hosts, uint64_t number, struct weft_place place,
                                     uint32_t *ret_host, struct weft_error *ret_error);
/// The host of a number or a node's name.
enum weft_status weft__file_hosts_find(const struct weft__file_hosts *hosts, const char *word, struct weft_place place,
                                       uint32_t *ret_host, struct weft_error *ret_error);
