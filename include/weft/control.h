// SPDX-License-Identifier: Apache-2.0
// The control plane of a disaggregated scheduled fabric in time: reachability as cells on links, with the failures and
// repairs of a scenario. What comes out is a timeline of which links may be used towards which destination; the data
// plane knows nothing else of it.
#pragma once

#include "weft/bgp.h"
#include "weft/bootstrap.h"
#include "weft/exits.h"
#include "weft/fsdb.h"
#include "weft/reach.h"
#include "weft/sdn.h"
#include "weft/timesync.h"
#include "weft/topology.h"

struct weft_reach_conf {
    bool balance, last_resort;
    weft_time_ps cycle_ps, watchdog_ps, processing_ps;
    uint64_t min_join, min_remain; ///< links up of an interface node
    uint64_t table;                ///< devices that a cycle of cells has room for
    uint32_t detection;            ///< enum weft_reach_detection
    const char *picks;             ///< ports of fabric nodes whose links are withdrawn before others
};
enum weft_reach_detection { WEFT_REACH_BY_WATCHDOG, WEFT_REACH_BY_SIGNAL };
extern const struct weft_param_table weft_reach_table;

/// Whether others reach an interface node: its actual state, beside what an operator asks for. Between its own ports it
/// forwards in any state.
enum weft_drain { WEFT_UNDRAINED, WEFT_DRAINED, WEFT_DRAINED_ASIC_ERROR };
extern const char *const weft_drain_names[];
/// The state that follows. `to_drain`: the operator asks for it; else the number of links up decides, with hysteresis.
/// An error of the ASIC stays until somebody drains the node and lets it back.
enum weft_drain weft_drain_next(enum weft_drain actual, bool to_drain, uint32_t links_up,
                                const struct weft_reach_conf *conf);

/// The section `control` of a scenario.
struct weft_control_conf {
    struct weft_reach_conf reach;
    struct weft_fsdb_conf fsdb;
    struct weft_bgp_conf bgp;
    struct weft_bootstrap_conf bootstrap;
    struct weft_sdn_conf sdn;
    struct weft_timesync_conf timesync;
};
extern const struct weft_param_table weft_control_table;

/// What happens besides links: the list `events` of the section.
enum weft_control_what {
    WEFT_CONTROL_CRASH,
    WEFT_CONTROL_RESTART,
    WEFT_CONTROL_SHUT,
    WEFT_CONTROL_CUT,
    WEFT_CONTROL_HEAL,
    WEFT_CONTROL_MOVE,
    WEFT_CONTROL_DRAIN,
    WEFT_CONTROL_UNDRAIN,
    WEFT_CONTROL_ASIC_ERROR,
    WEFT_CONTROL_REBOOT,
    WEFT_CONTROL_CORRUPT,
    WEFT_CONTROL_JUMP,
};
extern const char *const weft_control_whats[]; ///< "crash", ..., NULL
struct weft_control_event {
    weft_time_ps time_ps;
    enum weft_control_what what;
    uint32_t node, to; ///< of the topology; WEFT_NONE: none
    bool *side;        ///< CUT: [nodes]
};
static inline bool weft_control_is_drain(const struct weft_control_event *e) {
    return e->what == WEFT_CONTROL_DRAIN || e->what == WEFT_CONTROL_UNDRAIN || e->what == WEFT_CONTROL_ASIC_ERROR;
}
/// Whether interface nodes learn of it from one another's databases.
static inline bool weft_control_concerns_fsdb(const struct weft_control_event *e) {
    return !weft_control_is_drain(e) && e->what < WEFT_CONTROL_REBOOT;
}
/// `control`: the section, or NULL.
enum weft_status weft_control_events_read(const struct weft_topology *t, const struct weft_tree *control,
                                          struct weft_control_event **ret_event, uint32_t *ret_n,
                                          struct weft_error *ret_error);

/// Whether control.reachability.picks names ports of fabric nodes. `control`: the section, or NULL.
enum weft_status weft_control_picks_check(const struct weft_topology *t, const struct weft_control_conf *conf,
                                          const struct weft_tree *control, struct weft_error *ret_error);

/// The devices of a DSF fabric and the links between them. Devices are numbered from 0, and so are destinations: the
/// interface nodes in the order of devices.
struct weft_fabric_device {
    const char *name;
    uint32_t node; ///< of the topology; WEFT_NONE: there is none
    uint8_t level;
    uint32_t cluster;
    uint32_t dest;         ///< WEFT_NONE for fabric nodes
    uint32_t link0, links; ///< its links: fabric->at[link0 ..]
};
struct weft_fabric_link {
    uint32_t device[2], slot[2]; ///< it is link slot[k] of device[k]; device[0] is the lower one
    weft_time_ps delay_ps;
    uint32_t link; ///< of the topology
};
struct weft_fabric {
    uint32_t devices, links, dests;
    struct weft_fabric_device *device;
    struct weft_fabric_link *link;
    uint32_t *at;           ///< links of the devices, one after the other
    uint32_t *dest_device;  ///< [dests]
    uint32_t *dest_cluster; ///< [dests]
};

/// `link[].device` and `delay_ps`, `device[].name`, `level` and `cluster` as given; fills in the rest. In `arena`.
struct weft_fabric *weft_fabric_new(const struct weft_fabric_device *device, uint32_t devices,
                                    const struct weft_fabric_link *link, uint32_t links, struct weft_arena *arena);

/// The fabrics of a topology: what hangs together by fabric links, each for itself (a plane, a zone of a region).
/// Devices in the order of nodes. None: *ret_n is 0. In `arena`.
enum weft_status weft_fabric_find(const struct weft_topology *t, const struct weft_reach_conf *conf,
                                  struct weft_arena *arena, struct weft_fabric ***ret_fabric, uint32_t *ret_n,
                                  struct weft_error *ret_error);

/// Cells for `dest` may leave `device` by its link `slot` from now on, or no longer. Before the first change every link
/// of weft_fabric_leads may be used.
struct weft_reach_change {
    weft_time_ps time_ps;
    uint32_t device, dest;
    uint16_t slot;
    bool usable;
};

/// What a device did, for the story.
enum weft_reach_deed {
    WEFT_REACH_NOTICED_DOWN, ///< a link of its has failed
    WEFT_REACH_NOTICED_UP,
    WEFT_REACH_WITHDREW, ///< input links, to balance or because nothing leads on
    WEFT_REACH_OPENED,
};
struct weft_reach_note {
    weft_time_ps time_ps;
    enum weft_reach_deed deed;
    uint32_t device;
    uint32_t round;                   ///< 0: because of a link of its own; n: n cells after that
    uint32_t slot;                    ///< NOTICED: the link. Else the link by which the cause came
    struct weft_reach_balance before; ///< WITHDREW, OPENED: as it stood, and the destination
    uint64_t links[WEFT_REACH_WORDS]; ///< and the links
};

struct weft_reach_stats {
    uint64_t cells;                 ///< sent that said something new on a link
    uint64_t withdrawn;             ///< links of groups, counted for each destination
    uint64_t opened;                ///< the same
    uint64_t changes;               ///< of what may be used
    uint32_t rounds;                ///< longest chain of cells
    weft_time_ps first_ps, last_ps; ///< first link that failed or came back; last change of what may be used
};

/// Whether cells for `dest` leave `device` by its link `slot` when nothing has failed.
bool weft_fabric_leads(const struct weft_fabric *f, uint32_t device, uint32_t slot, uint32_t dest);

/// For the data plane: from `time_ps` on, node `node` sends cells for interface node `dst` by its port `port`, or no
/// longer does.
struct weft_reach_event {
    weft_time_ps time_ps;
    uint32_t node, dst;
    uint16_t port;
    bool usable;
};
/// What the failures and repairs of a scenario come to, all fabrics together.
struct weft_reach_timeline {
    uint32_t events;
    const struct weft_reach_event *event; ///< by time; at one time, as they came about
    struct weft_reach_stats stats;
};
/// Runs the control plane over `topology->event` and what of `event` drains nodes. Before the first event a port is
/// usable if it leads to the destination when nothing has failed.
enum weft_status weft_reach_timeline_new(const struct weft_topology *t, const struct weft_reach_conf *conf,
                                         const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                         struct weft_arena *arena, struct weft_reach_timeline **ret_timeline,
                                         struct weft_error *ret_error);

/// For the data plane: from `time_ps` on interface node `node` forwards to hosts behind interface node `of`, or no
/// longer.
struct weft_known_event {
    weft_time_ps time_ps;
    uint32_t node, of;
    bool known;
};
/// What interface nodes know of each other in a run (FSDB), all fabrics together.
struct weft_known_timeline {
    bool cold; ///< nodes start without any state; else each starts with the whole state
    uint32_t events;
    const struct weft_known_event *event; ///< by time
};
enum weft_status weft_known_timeline_new(const struct weft_topology *t, const struct weft_control_conf *conf,
                                         const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                         struct weft_arena *arena, struct weft_known_timeline **ret_timeline,
                                         struct weft_error *ret_error);

/// Exits of fabrics as the links allow them, before any node has learnt of it. State i holds from time_ps[i] on: one
/// state at 0, and one per time of a topology event.
struct weft_exit_states {
    uint32_t n;
    const weft_time_ps *time_ps;
    const struct weft_exits *const *exits;
    const struct weft_routes *routes; ///< of state 0
};
/// What control planes of a fabric or of a Clique are run with.
struct weft_control_given {
    const struct weft_control_conf *conf;
    const struct weft_control_event *event;
    uint32_t events;
    uint64_t seed;
    const struct weft_exit_states *states; ///< NULL: no fabric of the topology has exits
};
/// Exits that BGP announces to the interface nodes of a fabric, for the data plane and for the story.
struct weft_exit_timeline {
    struct weft_bgp_setup setup;
    uint32_t *edsw, *rdsw;   ///< nodes: with exits; that learn of them by BGP
    uint32_t *own_edsw;      ///< setup's
    uint64_t *buildings;     ///< setup's: fabrics, and Ethernet switches with hosts that are in none
    uint16_t *port;          ///< [edsw * WEFT_BGP_LINKS_MAX + way] of that node
    uint32_t *class_of_edge; ///< [edges] destinations; WEFT_NONE: in this fabric, or another network
    uint32_t events;
    const struct weft_bgp_event *event; ///< what happens, in the end
    const struct weft_bgp_result *bgp;  ///< NULL: nothing, or there are no EDSWs
};
/// `node`: the interface nodes of the fabric, ascending. `always`: BGP is run though nothing happens.
enum weft_status weft_exit_timeline_new(const struct weft_topology *t, const uint32_t *node, uint32_t nodes,
                                        const struct weft_control_given *given, bool always, struct weft_arena *arena,
                                        struct weft_exit_timeline **ret_timeline, struct weft_error *ret_error);

/// A step of the story: a device noticed a link, or withdrew or opened input links towards destinations that stand
/// alike.
struct weft_control_step {
    weft_time_ps time_ps;
    enum weft_reach_deed deed;
    uint32_t fabric, device, round;
    uint32_t slot;              ///< NOTICED: the link; else the link by which the cause came
    uint32_t in, in_after, out; ///< capacities in links; in: of the inputs concerned. NOTICED: WEFT_NONE
    uint32_t dest0, dests;      ///< destinations: trace->dest[dest0 ..]
    uint64_t links[WEFT_REACH_WORDS];
};
/// What failed or came back at one time, and what came of it before the next.
struct weft_control_burst {
    weft_time_ps time_ps;
    uint32_t down, up; ///< links
    uint32_t drains;   ///< nodes drained, or no more
    const struct weft_control_step *step;
    uint32_t steps;
    struct weft_reach_stats stats;
    bool settled; ///< nothing was under way any more when the next came
};
/// What the interface nodes of a cluster have left towards a destination at the end, if not all.
struct weft_control_capacity {
    uint32_t fabric, dest, cluster;
    const char *towards;         ///< the name of `dest`
    uint32_t links, wired;       ///< of all of them together, open to them
    uint32_t least, least_wired; ///< of the one with least
    uint32_t resorting;          ///< use a link that is held back, there being no other
    uint32_t cut_off;            ///< have none
    uint32_t entrances;          ///< each of them
    struct weft_control_entrance {
        const char *node;
        uint32_t device, links;
    } * entrance;
};
/// Groups of inputs at the end with more links in than lead on: what input balanced mode is there to prevent. Only
/// those of which no more inputs than outputs are wired.
struct weft_control_oversubscription {
    uint32_t groups;         ///< a device and a destination each
    uint32_t fabric, device; ///< the worst
    struct weft_reach_balance worst;
};
/// FSDB among the interface nodes of a fabric, and BGP if some are EDSWs.
struct weft_control_nodes {
    const struct weft_fsdb_result *fsdb;
    uint32_t fsdb_events, *fsdb_event; ///< outcome i is of trace->event[fsdb_event[i]]
    const struct weft_exit_timeline *exits;
};
/// An interface node that others do not reach at the end.
struct weft_control_drained {
    const char *node;
    enum weft_drain state;
};
struct weft_control_trace {
    uint32_t events;
    const struct weft_control_event *event;
    struct weft_control_nodes *nodes; ///< [fabrics]
    uint32_t fabrics, steps, bursts, capacities;
    struct weft_fabric **fabric;
    struct weft_control_step *step; ///< by time
    uint32_t *dest;
    struct weft_control_burst *burst;
    struct weft_control_capacity *capacity;
    struct weft_control_oversubscription over;
    uint32_t drained_n;
    struct weft_control_drained *drained;
};
/// Runs the failures and repairs of a topology, and `event`, for the story. In `arena`.
enum weft_status weft_control_trace_new(const struct weft_topology *t, const struct weft_control_conf *conf,
                                        const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                        struct weft_arena *arena, struct weft_control_trace **ret_trace,
                                        struct weft_error *ret_error);
/// "rdsw-3/17", the topology's name of a device's link; 128 bytes are enough.
int weft_control_port_name(const struct weft_topology *t, const struct weft_fabric *f, uint32_t device, uint32_t slot,
                           char *text, size_t size);
/// The device at the other end.
uint32_t weft_fabric_peer(const struct weft_fabric *f, uint32_t device, uint32_t slot);
