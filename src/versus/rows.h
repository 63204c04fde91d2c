// SPDX-License-Identifier: Apache-2.0
// The rows of a versus (rows.c), which its tables describe (tables.c).
#pragma once

#include "weft/versus.h"

/// A measure over seeds. Without a value: WEFT_NONE and NAN.
struct spread_row {
    uint32_t seeds;
    double mean, median, low, high;
};
struct part_row {
    const char *name;
    double ps;
};
/// A run of a fabric; of one that does not run only its name, hosts and state.
struct run_row {
    const char *fabric, *case_name, *state, *digest;
    uint64_t hosts, bytes, seed;
    double value[WEFT_VERSUS_MEASURED];
    struct weft_fabric_bill bill;
};
struct case_row {
    const char *name, *why_of, *why_note;
    struct spread_row measure[WEFT_VERSUS_MEASURED], of_ruler, over_healthy, energy;
    uint32_t rank, parts, runs;
    uint64_t hosts_used;
    uint8_t noise; ///< UINT8_MAX: not known
    bool estimated;
    double low, high; ///< of the estimate's interval; NAN: there is none
    struct part_row *part;
    struct run_row *run;
};
struct domain_row {
    struct weft_versus_domain is;
    const char *kind;
};
struct grown_row {
    const char *reason;
    const struct weft_fabric_bill *bill;
};
struct fabric_row {
    struct weft_versus_fabric is;
    const char *source, *status;
    bool ruler;
    double oversubscription;
    uint64_t queue_pairs;
    const struct weft_fabric_bill *bill; ///< NULL: it cannot be built; likewise `grown`
    struct grown_row *grown;
    struct domain_row *domain; ///< [is.domains]
    struct case_row *cases;
    uint32_t n_cases;
};
/// Who leads a case: among all fabrics, or on the map, where there is a second.
struct lead_row {
    const char *case_name, *family, *failure, *healthy, *judged_by, *first, *second;
    uint64_t hosts, bytes;
    uint32_t load, noises;
    const char **noise;
    double lead;
    uint8_t is_noise; ///< UINT8_MAX: not known
};
/// Where the leader changes: over sizes or loads, or on the map over hosts (`family` is then the case).
struct border_row {
    const char *family, *below, *above;
    uint64_t from, to;
    double hosts, bytes, load;
    bool noise;
};
/// Who leads if something is not as assumed.
struct turn_row {
    const char *case_name, *what, *help, *band, *first;
    uint64_t hosts;
    double watts, factor, lead, before;
    bool turns, noise;
};
struct map_row {
    uint64_t *hosts;
    struct lead_row *lead;
    struct border_row *border;
    uint32_t scales, leads, borders;
    struct weft_arena *arena;
};
struct weft_versus_answer {
    struct weft_versus v, at; ///< at: one number of hosts, while rows are added
    bool interrupted;
    const char *ruler, *paragraph;
    const struct weft_versus *since; ///< NULL: it is compared with no older answer
    struct map_row *map;             ///< NULL: nothing ran
    struct fabric_row *fabric;
    struct run_row *measured;
    struct lead_row *lead;
    struct border_row *border;
    struct turn_row *turn, *power;
    uint32_t fabrics, measureds, leads, borders, turns, powers;
    struct weft_arena *arena;
};

#define ADD_ROW(a, list, ...)                                                                                          \
    ((a)->list = weft__arena_grow((a)->arena, (a)->list, (a)->list##s, sizeof *(a)->list),                             \
     (a)->list[(a)->list##s++] = __VA_ARGS__)
