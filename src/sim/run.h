// SPDX-License-Identifier: Apache-2.0
// A run from the assembly of its network to its outcome. In between, its engine runs: once (weft_simulate) or, if a
// program drives it, many times (drive.c).
#pragma once

#include <stdio.h>

#include "base/check.h"
#include "box/box.h"
#include "box/network.h"
#include "link/lldp.h"
#include "transport/program.h"
#include "transport/rma.h"
#include "transport/trigger.h"
#include "weft/drive.h"
#include "weft/follow.h"
#include "weft/links.h"
#include "weft/ranks.h"

struct weft__run {
    struct weft__network net;
    struct weft_sim_options options;
    struct weft_progress progress;
    struct weft__fast_forward *fast_forward;      ///< see skip/fast_forward.h; NULL: run.fast_forward is off
    struct weft__sample *sample;                  ///< see skip/sample.h; NULL: everything runs in packets
    double begun_s, told_s, assembled_s, saved_s; ///< wall time
    double begun_cpu_s;
};

/// The run must not move in memory until it has ended. `driver`: NULL unless it is driven. After an error it has ended.
enum weft_status weft__run_begin(struct weft__run *run, const struct weft_scenario *scenario,
                                 const struct weft_topology *topology, const struct weft_workload *workload,
                                 const struct weft_sim_options *options, struct weft__driver *driver,
                                 struct weft_error *ret_error);
/// Ends the run as weft_simulate does. `ret_outcome` NULL: the outcome is not needed and is not computed.
enum weft_status weft__run_end(struct weft__run *run, struct weft_outcome **ret_outcome, struct weft_error *ret_error);

/// Runs the engine to the end, with checkpoints, then calls weft__run_end.
enum weft_status weft__run_finish(struct weft__run *run, struct weft_outcome **ret_outcome,
                                  struct weft_error *ret_error);

/// Makes the queue pairs of the network's workload; `states`: with those of transports and congestion controls. Without
/// them, only queue pairs that carry something are made.
void weft__queue_pairs_new(struct weft__network *net, bool states);

/// How the engine has ended.
enum weft_end weft__network_end(const struct weft__network *net);

// For a run over several ranks; see ranks.c. Each builds what is common, then only its own nodes.
/// Called when it is known what is to be run: refuses what ranks cannot share, and agrees on the number of threads.
enum weft_status weft__ranks_begin(struct weft__run *run, struct weft_error *ret_error);
/// Called when everything but the devices is built.
enum weft_status weft__ranks_part(struct weft__run *run, struct weft_error *ret_error);
/// Replaces the two above in a run that continues from a checkpoint.
void weft__ranks_go_on(struct weft__run *run);
/// Exchanges a word with the other ranks. An error if one of them has ended.
enum weft_status weft__ranks_meet(struct weft_ranks *ranks, const struct weft_ranks_word *own,
                                  struct weft_ranks_word *ret_word, struct weft_error *ret_error);
/// The engine has stopped: rank 0 collects everything. Other ranks do not return.
enum weft_status weft__ranks_join(struct weft__run *run, struct weft_error *ret_error);

/// For a driven run; see drive.c.
const struct weft__network *weft__drive_network(const struct weft_drive *drive);
bool weft__driver_on_window(void *run);
void weft__driver_collect(struct weft__network *net);
/// After assembly: sets where its hosts are.
void weft__driver_start(struct weft__network *net);

// Maps remote memory access onto the network: clients, and the connections of those implemented in software.
/// Call it when the queue pairs exist. NULL: there is none.
struct weft__rma_run *weft__rma_new(struct weft__network *net);
/// Pieces of work beyond the queue pairs, to be added; the queue pairs of remote memory access do not count as work.
uint64_t weft__rma_work_count(const struct weft__network *net);
/// Call it when it is known which worker runs which node.
void weft__rma_start(struct weft__network *net);
void weft__rma_collect(struct weft__network *net);
void weft__rma_free(struct weft__network *net);

// Jobs in a run.
/// Call it when the queue pairs exist. NULL: there is no job.
struct weft__programs *weft__jobs_new(struct weft__network *net);
/// Call it when it is known which worker runs which node.
void weft__jobs_start(struct weft__network *net);
/// The longest time that a rank computes, and the shortest path within a server (never: none).
weft_time_ps weft__jobs_patience(const struct weft_workload *workload);
weft_time_ps weft__jobs_lookahead(const struct weft_workload *workload);
/// Puts the ranks' measurements into the outcome.
void weft__jobs_collect(struct weft__network *net);

struct weft_wait_outcome weft__wait_quantiles(const struct weft_histogram *h);

/// Merges the records of all nodes and their causes into the outcome. Call it when the devices have finished.
void weft__network_collect_events(struct weft__network *net);

// Followed flows (weft/follow.h): tells nodes what to keep, and collects it afterwards.
/// Call it before ports are connected. `follow` NULL: nothing is followed.
void weft__follow_start(struct weft__network *net, struct weft_follow *follow);
/// Hands the logs over to the caller's `follow`.
void weft__follow_collect(struct weft__network *net);
/// Frees logs that were not handed over.
void weft__follow_free(struct weft__network *net);

// LLDP and DCBX of a whole network.
/// The longest pause that source flow control may ask for; 0: no device has it.
weft_time_ps weft__sfc_pause_max(const struct weft_topology *topology, const struct weft_device_conf **device);
/// The LLDP frame of every port, in `arena`; NULL if no device speaks LLDP.
struct weft__lldp_frame *weft__lldp_frames(const struct weft_topology *topology, const struct weft_device_conf **device,
                                           struct weft_arena *arena);
/// The LLDP of a port; NULL if its device speaks none.
struct weft__lldp *weft__lldp_new(const struct weft__network *net, uint32_t port, struct weft_arena *arena);
/// The state of all links at the end of a run, in `arena`.
struct weft_link_dcbx *weft__lldp_collect(const struct weft__network *net, struct weft_arena *arena);
/// The first link of which an end has other lossless priorities than that; WEFT_NONE: there is none.
uint32_t weft__lldp_find_odd(const struct weft__network *net, const struct weft_link_dcbx *links);

/// The engine has stopped: writes a checkpoint if one is due. True: the run continues.
bool weft__checkpoint_on(struct weft__run *run);

// Maps triggers onto the network.
/// Call it when the queue pairs exist. NULL: there is none.
struct weft__triggers *weft__triggers_new(const struct weft__network *net);
/// The minimum time from host to host.
weft_time_ps weft__triggers_lookahead(const struct weft_workload *w);
/// Queue pairs that wait for triggers.
uint64_t weft__triggers_waiting(const struct weft_workload *w);

/// Returns a text of who waits for whom, in the outcome's arena.
char *weft__network_explain_stall(const struct weft__network *net);

/// Writes why nothing moves, as far as it is known.
void weft__stall_causes(FILE *text, const struct weft__network *net);
/// How long a packet occupies a part of the node that has a packet_rate; 0: it has none.
weft_time_ps weft__packet_turn(const struct weft__network *net, uint32_t node);

// A run that checks itself: after every window, each node that ran checks its own state (check_state of its box), and
// at the end of the run the credit of every link must add up. A broken invariant is a bug of weft: the text on stderr
// names time, node, port, priority and both values, and the process aborts as it does after an assert. Checks change
// nothing, so the results and the digest are the same.
/// Whether runs check themselves: builds without optimisation and those for fuzzing always do; other builds do if the
/// environment variable WEFT_CHECK is set, as it is for tests.
bool weft__state_is_checked(void);
/// The engine's `check` (struct weft__engine_conf); `run` is a struct weft__run.
void weft__check_node(void *run, uint32_t node, weft_time_ps until);
/// Called once when the run has ended, before its boxes finish.
void weft__check_end(const struct weft__network *net, weft_time_ps now);

// Frames that differ from RoCE on IEEE 802.3, to match other simulators (docs/peers.md).
/// Whether frames of this node have other sizes, or take other times on the wire, than those of RoCE on IEEE 802.3.
bool weft__has_own_frames(const struct weft_device_conf *conf, const struct weft_node_info *node);
/// Refuses what cannot be combined with such frames.
enum weft_status weft__check_wire(const struct weft_scenario *scenario, const struct weft_topology *t,
                                  struct weft_error *ret_error);

// Credit-based flow control of links, and what it cannot be combined with.
enum weft_status weft__check_credit(const struct weft_scenario *scenario, const struct weft_topology *t,
                                    struct weft_error *ret_error);
/// The largest frame that a host may send.
uint32_t weft__frame_bytes_max(const struct weft_scenario *scenario, const struct weft_topology *t);

// What the scenario's `capture` asks for: frames are noted at ports during the run and written as pcapng after it. A
// note is a packet, and for an answer its selective acknowledgement. Memory holds a limited number of notes per worker;
// the rest is in a temporary file beside the capture. The file does not depend on the number of workers.
/// Starts to write `path`, so that it fails here rather than after the run. `path` is untouched before
/// weft__capture_finish.
enum weft_status weft__capture_new(const struct weft__network *net, const char *path,
                                   struct weft__capture **ret_capture, struct weft_error *ret_error);
/// What a port notes for the capture; NULL: nothing.
struct weft__port_tap *weft__capture_tap(const struct weft__network *net, uint32_t port, struct weft_arena *arena);
enum weft_status weft__capture_finish(struct weft__capture *capture, struct weft_outcome *outcome,
                                      struct weft_error *ret_error);
void weft__capture_free(struct weft__capture *capture); ///< NULL: nothing

/// After a run over ranks: rank 0 has everything but the records that lie in files; these are sent to it, and it takes
/// them over.
void weft__capture_hand_over(const struct weft__capture *capture);
void weft__capture_take_over(const struct weft__capture *capture, uint32_t rank);
