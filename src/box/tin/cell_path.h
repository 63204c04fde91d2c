// SPDX-License-Identifier: Apache-2.0
// Cells that were traced in a run: TiNs note what becomes of cells whose trace bit is set, a collector puts these notes
// together to paths and compares each step with the tables that the controller means to be in force.
// Source: Gibson et al., "Aquila: A unified, low-latency fabric for datacenter networks", NSDI 2022, section 6.
#pragma once

#include "weft/histogram.h"

enum { WEFT_CELL_ENDPOINT = UINT16_MAX };

/// How a cell left a TiN. X(enumerator, name)
#define WEFT_CELL_ROUTES(X)                                                                                            \
    X(NONE, "none") /* lost, or still there */                                                                         \
    X(HOME, "home") /* to an endpoint */                                                                               \
    X(MINIMAL, "minimal")                                                                                              \
    X(NONMINIMAL, "nonminimal")                                                                                        \
    X(ESCAPE, "escape")                                                                                                \
    X(ASTRAY, "astray") /* by none of the ways that are meant */
enum weft_cell_route {
#define X(e, name) WEFT_CELL_ROUTE_##e,
    WEFT_CELL_ROUTES(X)
#undef X
        WEFT_CELL_ROUTE_COUNT
};
extern const char *const weft_cell_route_names[WEFT_CELL_ROUTE_COUNT];

/// What became of a cell at a TiN, or in the end. X(enumerator, name)
#define WEFT_CELL_ENDS(X)                                                                                              \
    X(GONE_ON, "gone_on")                                                                                              \
    X(ARRIVED, "arrived")                                                                                              \
    X(LOST, "lost")                                                                                                    \
    X(UNDER_WAY, "under_way")                                                                                          \
    X(UNKNOWN, "unknown") /* nobody has noted it */
enum weft_cell_end {
#define X(e, name) WEFT_CELL_END_##e,
    WEFT_CELL_ENDS(X)
#undef X
        WEFT_CELL_END_COUNT
};
extern const char *const weft_cell_end_names[WEFT_CELL_END_COUNT];

/// A traced cell at a TiN.
struct weft_cell_hop {
    weft_time_ps in_ps;          ///< its head came, or an endpoint sent it
    weft_time_ps out_ps;         ///< its first bit left; it reached an endpoint, or was lost
    weft_time_ps next_ps;        ///< in_ps at the next TiN; WEFT_TIME_NEVER: there is none
    uint32_t node;               ///< the TiN
    uint32_t qp;                 ///< of IP data and RTS; WEFT_NONE
    uint16_t to;                 ///< TiN, among those of the Clique
    uint16_t port_in, port_out;  ///< of the node, or WEFT_CELL_ENDPOINT
    uint16_t wire;               ///< bytes
    uint8_t vc_in, vc_out, hops; ///< hops: links before
    uint8_t type;                ///< in the order of WEFT_TIN_CELLS
    uint8_t end, drop;           ///< enum weft_cell_end; why it was lost
    uint8_t way;                 ///< enum weft_cell_route
};

/// A traced cell from the endpoint that sent it.
struct weft_cell_path {
    uint32_t hop0, hops;
    uint32_t to;      ///< node
    uint32_t suspect; ///< node that sent it where nobody meant it to go; WEFT_NONE
    uint8_t end, drop;
};

struct weft_cell_paths {
    uint64_t cells, arrived, lost, under_way, unknown, astray;
    uint64_t unnoted;             ///< notes beyond those that a TiN keeps
    uint32_t suspect;             ///< node that sent most cells astray; WEFT_NONE
    uint64_t suspicions;          ///< cells for which it did
    struct weft_histogram hop_ns; ///< from a head's arrival at a TiN to its departure
    struct weft_cell_path *path;  ///< [cells] by time
    struct weft_cell_hop *hop;    ///< path by path
};
