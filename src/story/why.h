// SPDX-License-Identifier: Apache-2.0
// What the files that explain a flow's completion time share.
#pragma once

#include <string.h>

#include "weft/timeline.h"
#include "weft/why.h"

enum { WEFT__WHY_HOPS_MAX = 64 };

struct weft_whys {
    const struct weft_run *run;
    struct weft_followed_list own, all; ///< own: of the flows; all: every frame of some ports
    const struct weft_followed **frame; ///< [frames] of data, by queue pair, packet and time
    uint64_t frames;
    const struct weft_followed **cell; ///< [cells] of data, and stages, likewise
    uint64_t cells;
    const struct weft_followed **rma; ///< [rmas] cells of 1RMA, by request, direction and time
    uint64_t rmas;
    const uint32_t *rma_node; ///< [rma_nodes]: of a box; NULL, WEFT_NONE: unknown
    uint32_t rma_nodes;
    const struct weft_followed **finished; ///< [flows]; NULL: it did not finish, or was not followed
    uint32_t *qp0;                         ///< [flows + 1]: the first queue pair
    const struct weft_pause *pause;        ///< [pauses] of the run's events
    uint32_t pauses;
    const struct weft_follow *follow;
    const struct weft_followed **last; ///< [lasts]: frames that reached their receivers, by flow and arrival
    uint64_t lasts;
    struct weft__why_log *log; ///< [ports]: times in a form that can be searched
    struct weft_arena *arena;
};
struct weft__why_log *weft__why_logs_new(uint32_t ports, struct weft_arena *arena);
/// Sums of parts by kind; `sum` NULL: begins with 0.
weft_time_ps *weft__why_sums(const struct weft_whys *y, weft_time_ps *sum, const struct weft_why_part *part,
                             uint32_t parts);
uint32_t weft__why_flow_of(const struct weft_whys *y, uint32_t qp);
/// What the host at a node was configured with.
const struct weft_host_conf *weft__why_host(const struct weft_whys *y, uint32_t node);

/// The path of the packet that completed a flow.
struct weft__why_path {
    uint32_t flow, hops;
    weft_time_ps from_ps, to_ps;                         ///< the time to be explained; to_ps: its receiver has it
    const struct weft_followed *hop[WEFT__WHY_HOPS_MAX]; ///< the first one is the sender's
};

/// A place or a cause, by number.
enum weft__why_what {
    WEFT__WHY_NOTHING,
    WEFT__WHY_PORT,
    WEFT__WHY_NODE,
    WEFT__WHY_NODES,   ///< from one to another
    WEFT__WHY_FLOW,    ///< frames of its data
    WEFT__WHY_CONTROL, ///< its ACKs, NAKs, CNPs, requests
    WEFT__WHY_LOCAL,   ///< pause frames and LLDP
    WEFT__WHY_PAUSE,   ///< by a port, because of another port's queue (WEFT_NONE: unknown)
    WEFT__WHY_MARKS,   ///< by the queue of a port
    WEFT__WHY_SENDS,   ///< a port (more) that sends data of a flow
    WEFT__WHY_SOLICIT, ///< RTS, CTS and CTD
    WEFT__WHY_RMA,     ///< cells of 1RMA, for requests of box `id`; more: enum weft_followed_cell
};
struct weft__why_name {
    enum weft__why_what what;
    uint32_t id, more;
};
struct weft__why_time {
    enum weft_why_kind kind;
    struct weft__why_name where, because_of;
    weft_time_ps time_ps;
};
struct weft__why_list {
    struct weft_arena *arena;
    weft_time_ps at_ps, from_ps; ///< when the next part begins; time before `from` does not count
    struct weft__why_time *part;
    uint32_t n, room;
};
/// Adds time to the part of that kind, place and cause.
void weft__why_add(struct weft__why_list *l, struct weft__why_time part);
/// The list with names. `flow`: the flow whose time is explained.
void weft__why_list_parts(const struct weft_whys *y, uint32_t flow, const struct weft__why_list *l,
                          struct weft_why_part **ret_part, uint32_t *ret_parts);

/// Adds the time in which a packet waits for a port that it cannot reach yet: divided by what that port sends
/// meanwhile.
void weft__why_behind(const struct weft_whys *y, const struct weft__why_path *path, uint32_t port, weft_time_ps from,
                      weft_time_ps to, struct weft__why_time part, struct weft__why_list *l);
/// From the arrival of a frame at a box of a cell fabric until it joins the queue of `next`, at the box where it
/// leaves; returns when that is, and adds the parts.
weft_time_ps weft__why_fabric(const struct weft_whys *y, const struct weft__why_path *path,
                              const struct weft_followed *hop, const struct weft_followed *next,
                              struct weft__why_list *l);
/// Marks the ports within a cell fabric that it used.
void weft__why_fabric_ports(const struct weft_whys *y, const struct weft_followed *hop,
                            const struct weft_followed *next, bool *ret_port);
/// A cell's path back through a cell fabric, the last hop first.
struct weft__why_cell_path {
    struct {
        const struct weft_followed *cell, *cross; ///< cross: in a Clique; cell NULL: to its end
    } hop[WEFT__WHY_HOPS_MAX];
    uint32_t hops, from, to; ///< nodes
};
/// The path of the last cell of a request of 1RMA, or of its answer, which arrived at `to` at `to_ps`. False: it was
/// not seen.
bool weft__why_rma_path(const struct weft_whys *y, const struct weft_rma_note *request, enum weft_followed_cell cell,
                        uint32_t from, uint32_t to, weft_time_ps from_ps, weft_time_ps to_ps,
                        struct weft__why_cell_path *ret);
/// Adds its parts from `at` on; returns how far they reach.
weft_time_ps weft__why_way_add(const struct weft_whys *y, const struct weft__why_cell_path *way, weft_time_ps at,
                               struct weft__why_list *l);
void weft__why_way_ports(const struct weft__why_cell_path *way, bool *ret_port);
int weft__why_by_request(const void *a, const void *b);
int weft__why_by_packet(const void *a, const void *b);
uint32_t weft__why_far_node(const struct weft_whys *y, uint32_t port);
/// What a cell waits for at its port: other cells, or else `idle`.
void weft__why_cells(const struct weft_whys *y, const struct weft__why_path *path, const struct weft_followed *cell,
                     weft_time_ps from, weft_time_ps to, enum weft_why_kind idle, struct weft__why_list *l);

/// The path of the flow's last packet that had arrived by then, back to its sender; its time is counted from `from` on.
enum weft_status weft__why_find_path(const struct weft_whys *y, uint32_t flow, weft_time_ps from, weft_time_ps to,
                                     struct weft__why_path *ret_path, struct weft_error *ret_error);
void weft__why_path_ports(const struct weft_whys *y, const struct weft__why_path *path, bool *ret_port);
/// Adds all parts of a path.
void weft__why_path_add(const struct weft_whys *y, const struct weft__why_path *path, struct weft__why_list *l);
/// With names.
void weft__why_path_parts(const struct weft_whys *y, const struct weft__why_path *path, struct weft_why_part **ret_part,
                          uint32_t *ret_parts);

/// Adds to `sum` the time in which the port sent frames of data between the two times, by what `of` has for their flows
/// (WEFT_NONE: left out).
void weft__why_sent(const struct weft_whys *y, uint32_t port, weft_time_ps from, weft_time_ps to, const uint32_t *of,
                    weft_time_ps *sum);
/// From the flow's start until its critical packet is sent.
void weft__why_sender(const struct weft_whys *y, const struct weft__why_path *path, struct weft__why_list *l);
/// From the arrival of a frame until its port sends it.
void weft__why_port(const struct weft_whys *y, const struct weft__why_path *path, const struct weft_followed *hop,
                    weft_time_ps from, struct weft__why_list *l);
