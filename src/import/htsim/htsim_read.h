// SPDX-License-Identifier: Apache-2.0
// Codec of htsim's files (Broadcom/csg-htsim): fat trees (.topo) and connection matrices (.cm).
#pragma once

#include "base/lines.h"
#include "import/flow_file.h"
#include "weft/trigger.h"

enum { WEFT__HTSIM_TOR, WEFT__HTSIM_AGG, WEFT__HTSIM_CORE, WEFT__HTSIM_TIERS };

struct weft__htsim_tier {
    uint64_t rate_gbps, radix_down, radix_up, oversubscribed, bundle; ///< of links downwards; 0: not given
    uint64_t delay_ns, latency_ns, queue_up, queue_down;
    bool given;
    struct weft_place place;
};

struct weft__htsim_topology {
    uint64_t nodes, tiers, pod_hosts;
    struct weft__htsim_tier tier[WEFT__HTSIM_TIERS];
    uint64_t pods, tors, aggs, cores; ///< ToR and aggregation switches of a pod, core switches in all
};

/// Errors are at `place` if the file cannot be read, else in it.
enum weft_status weft__htsim_read_topology(const char *path, struct weft_place place,
                                           struct weft__htsim_topology *ret_topology, struct weft_error *ret_error);

struct weft__htsim_flow {
    struct weft__file_flow file;   ///< 0 bytes: it has no end
    uint64_t trigger;              ///< that starts it, instead of a time; 0: none
    uint64_t send_done, recv_done; ///< triggers that it activates, at its sender and its receiver; 0: none
};

struct weft__htsim_trigger {
    uint64_t id, count; ///< count: activations of a barrier
    enum weft_trigger_kind kind;
    struct weft_place place;
};

/// A link that is down from the beginning: number `link`, upwards for a ToR or aggregation switch, downwards for a core
/// switch.
struct weft__htsim_failure {
    uint32_t tier; ///< of the switch
    uint64_t number, link;
    struct weft_place place;
};

/// The kind of a matrix's line.
struct weft__htsim_entry {
    enum { WEFT__HTSIM_END, WEFT__HTSIM_FLOW, WEFT__HTSIM_TRIGGER, WEFT__HTSIM_FAILURE } kind;
    struct weft__htsim_flow flow;
    struct weft__htsim_trigger trigger;
    struct weft__htsim_failure failure;
};

struct weft__htsim_matrix {
    struct weft__lines lines;
    uint64_t nodes, flows, triggers, failures; ///< from the header
    struct weft_place nodes_place;
    uint64_t flows_read, triggers_read, failures_read;
    uint64_t types; ///< header lines seen, as bits
};

/// Opened and closed like lines. Entries come in the file's order; the last one is WEFT__HTSIM_END.
enum weft_status weft__htsim_matrix_open(struct weft__htsim_matrix *matrix, const char *path, struct weft_place place,
                                         struct weft_error *ret_error);
enum weft_status weft__htsim_matrix_next(struct weft__htsim_matrix *matrix, struct weft__htsim_entry *ret_entry,
                                         struct weft_error *ret_error);
