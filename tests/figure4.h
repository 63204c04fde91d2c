// SPDX-License-Identifier: Apache-2.0
// The fabric of figure 4 of Meta's text on DSF, and its control plane run to rest: two clusters of four RDSWs and two
// FDSWs under two SDSWs, one link between RDSW and FDSW, two between FDSW and SDSW.
#pragma once

#include <stdlib.h>

#include "control/dsf/reach_run.h"
#include "weft/memory.h"
#include "weft/param_load.h"

enum { X, Y, CLUSTERS, RDSWS = 4, FDSWS = 2, SDSWS = 2 }; // Y: cluster X-1 of the text
enum { RDSW0 = 0, FDSW0 = CLUSTERS * RDSWS, SDSW0 = FDSW0 + CLUSTERS * FDSWS, FIGURE4_DEVICES = SDSW0 + SDSWS };

static inline uint32_t rdsw(uint32_t cluster, uint32_t i) {
    return RDSW0 + cluster * RDSWS + i;
}
static inline uint32_t fdsw(uint32_t cluster, uint32_t i) {
    return FDSW0 + cluster * FDSWS + i;
}
static inline uint32_t sdsw(uint32_t i) {
    return SDSW0 + i;
}

static inline struct weft_fabric *figure4(struct weft_arena *arena) {
    static const char *const names[FIGURE4_DEVICES] = {"X-rdsw-0", "X-rdsw-1", "X-rdsw-2", "X-rdsw-3", "Y-rdsw-0",
                                                       "Y-rdsw-1", "Y-rdsw-2", "Y-rdsw-3", "X-fdsw-0", "X-fdsw-1",
                                                       "Y-fdsw-0", "Y-fdsw-1", "sdsw-0",   "sdsw-1"};
    struct weft_fabric_device device[FIGURE4_DEVICES];
    struct weft_fabric_link link[64];
    uint32_t links = 0;
    for (uint32_t i = 0; i < FIGURE4_DEVICES; i++) {
        uint8_t level = i < FDSW0 ? 0 : i < SDSW0 ? 1 : 2;
        device[i] = (struct weft_fabric_device){.name = names[i],
                                                .node = WEFT_NONE,
                                                .level = level,
                                                .cluster = level == 0   ? i / RDSWS
                                                           : level == 1 ? (i - FDSW0) / FDSWS
                                                                        : WEFT_NONE};
    }
    for (uint32_t c = 0; c < CLUSTERS; c++)
        for (uint32_t f = 0; f < FDSWS; f++) {
            for (uint32_t r = 0; r < RDSWS; r++)
                link[links++] = (struct weft_fabric_link){{rdsw(c, r), fdsw(c, f)}, {0}, 150000, WEFT_NONE};
            for (uint32_t s = 0; s < 2 * SDSWS; s++)
                link[links++] = (struct weft_fabric_link){{fdsw(c, f), sdsw(s / 2)}, {0}, 150000, WEFT_NONE};
        }
    return weft_fabric_new(device, FIGURE4_DEVICES, link, links, arena);
}

static inline struct weft_reach_conf reach_defaults(struct weft_arena *arena) {
    struct weft_reach_conf conf;
    if (weft_params_load(&weft_reach_table, NULL, &conf, arena, NULL)) abort();
    return conf;
}

/// The n-th link between two devices.
static inline uint32_t link_between(const struct weft_fabric *f, uint32_t a, uint32_t b, uint32_t n) {
    for (uint32_t l = 0; l < f->links; l++)
        if (f->link[l].device[0] == a && f->link[l].device[1] == b && !n--) return l;
    abort();
}

/// Links from `from` to `to` on which `to` takes cells for the interface node `dest`.
static inline uint32_t open_between(const struct weft__reach_run *run, const struct weft_fabric *f, uint32_t from,
                                    uint32_t to, uint32_t dest) {
    uint32_t n = 0;
    for (uint32_t l = 0; l < f->links; l++)
        for (uint32_t end = 0; end < 2; end++)
            if (f->link[l].device[end] == to && f->link[l].device[!end] == from)
                n += weft_reach_open(weft__reach_run_agent(run, to), f->link[l].slot[end], f->device[dest].dest);
    return n;
}

/// Links on which cells for the interface node `dest` leave `from`, of those to `to` (WEFT_NONE: any).
static inline uint32_t usable_between(const struct weft__reach_run *run, const struct weft_fabric *f, uint32_t from,
                                      uint32_t to, uint32_t dest) {
    uint32_t n = 0;
    for (uint32_t l = 0; l < f->links; l++)
        for (uint32_t end = 0; end < 2; end++)
            if (f->link[l].device[end] == from && (to == WEFT_NONE || f->link[l].device[!end] == to))
                n += weft_reach_usable(weft__reach_run_agent(run, from), f->link[l].slot[end], f->device[dest].dest);
    return n;
}
