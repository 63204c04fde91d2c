// SPDX-License-Identifier: Apache-2.0
// What a run measured. Counters are rows of weft_counters; SAI names where one exists (OCP SAI headers).
#pragma once

#include "weft/event.h"
#include "weft/links.h"
#include "weft/run.h"
#include "weft/scenario.h"
#include "weft/workload.h"

/// Why a packet was dropped. X(enumerator, name, meaning)
#define WEFT_DROP_REASONS(X)                                                                                           \
    X(BUFFER_FULL, "buffer_full", "no room in the ingress buffer of a lossy priority")                                 \
    X(HEADROOM, "headroom_exhausted", "no room left for a lossless priority: headroom too small")                      \
    X(AQM, "wred", "dropped by the AQM: WRED, CoDel, or trimming without room for the header")                         \
    X(BIT_ERROR, "bit_error", "frame check sequence wrong at the receiver")                                            \
    X(LINK_DOWN, "link_down", "on, or queued for, a link that went down")                                              \
    X(NO_ROUTE, "no_route", "no next hop towards the destination")                                                     \
    X(PFC_WATCHDOG, "pfc_watchdog", "discarded by the PFC storm watchdog")                                             \
    X(OUT_OF_ORDER, "out_of_order", "discarded by a go-back-N receiver: an earlier packet is missing")                 \
    X(DUPLICATE, "duplicate", "received before")                                                                       \
    X(NIC_BUFFER, "nic_buffer_full", "no room in the receive buffer of a NIC")                                         \
    X(CREDIT_WATCHDOG, "credit_watchdog", "DSF: its VOQ got no credit for too long")                                   \
    X(FABRIC_FIFO, "fabric_fifo_full", "DSF: no room for a cell at the output of a fabric node")                       \
    X(REASSEMBLY, "reassembly_timeout", "cells of it did not come, were too late or had no room")                      \
    X(EGRESS_FULL, "egress_full", "DSF: no room at the Ethernet port that it was to leave by")                         \
    X(NEIGHBOUR, "neighbour_unknown", "DSF: the interface node knows no hosts behind the other (FSDB)")                \
    X(CTD, "clear_to_drop", "Aquila: too much was announced to its port and class; it did not cross the fabric")       \
    X(RTS_TIMEOUT, "rts_timeout", "Aquila: announced, and neither cleared nor discarded for too long")                 \
    X(GNET_HOPS, "hop_count", "Aquila: a cell's hop count ran out")                                                    \
    X(PROCESSOR_AWAY, "processor_away", "Aquila: the control processor's firmware starts again")                       \
    X(TRIMMED, "trimmed", "payload cut off by a switch whose queue was full; the header went on")
enum weft_drop {
#define X(e, name, help) WEFT_DROP_##e,
    WEFT_DROP_REASONS(X)
#undef X
        WEFT_DROPS
};
extern const char *const weft_drop_names[WEFT_DROPS];

/// Counters of one port and priority. X(field, type, SAI-style name with %u for the priority, meaning). Types are those
/// of weft/result.h, and meanings stand alone: results are sorted and searched.
#define WEFT_PRIORITY_COUNTERS(X) WEFT_QUEUE_COUNTERS(X) WEFT_SFC_COUNTERS(X) WEFT_LINK_COUNTERS(X)
#define WEFT_QUEUE_COUNTERS(X)                                                                                         \
    X(tx_packets, COUNT, "SAI_QUEUE_STAT_PACKETS", "frames sent")                                                      \
    X(tx_bytes, BYTES, "SAI_QUEUE_STAT_BYTES", "bytes of frames sent, destination MAC to FCS")                         \
    X(ecn_marked, COUNT, "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS",                                                     \
      "packets marked CE by the AQM of this egress queue")                                                             \
    X(queue_bytes_max, BYTES, "SAI_QUEUE_STAT_WATERMARK_BYTES", "most bytes in this egress queue")                     \
    X(ingress_bytes_max, BYTES, "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",                              \
      "most bytes that this ingress priority group occupied in the buffer (switch.buffer.cell)")                       \
    X(pfc_tx_xoff, COUNT, "SAI_PORT_STAT_PFC_%u_TX_PKTS", "pause frames sent with a time above 0")                     \
    X(pfc_tx_xon, COUNT, "SAI_PORT_STAT_PFC_%u_ON2OFF_TX_PKTS", "pause frames sent with time 0 (name ours)")           \
    X(pfc_rx_xoff, COUNT, "SAI_PORT_STAT_PFC_%u_RX_PKTS", "pause frames received with a time above 0")                 \
    X(pfc_rx_xon, COUNT, "SAI_PORT_STAT_PFC_%u_ON2OFF_RX_PKTS", "pause frames received with time 0")                   \
    X(paused_ps, TIME, "SAI_PORT_STAT_PFC_%u_RX_PAUSE_DURATION_PS",                                                    \
      "time that pause frames kept this port from sending the priority (SAI: us)")                                     \
    X(watchdog_storms, COUNT, "SAI_QUEUE_STAT_PFC_WATCHDOG_STORMS",                                                    \
      "pause storms that the watchdog found (name ours)")                                                              \
    X(drops, COUNT, "SAI_QUEUE_STAT_DROPPED_PACKETS", "packets dropped at this port and priority, for any reason")
/// Source flow control (IEEE P802.1Qdw); the priority is that of the data. Names ours.
#define WEFT_SFC_COUNTERS(X)                                                                                           \
    X(sfc_sent, COUNT, "SFC_%u_TX_MESSAGES",                                                                           \
      "source flow control messages made because of packets that are to leave by this port")                           \
    X(sfc_suppressed, COUNT, "SFC_%u_SUPPRESSED",                                                                      \
      "source flow control messages not made because the least time between two was not over")                         \
    X(sfc_received, COUNT, "SFC_%u_RX_MESSAGES", "source flow control messages that reached the NIC at this port")     \
    X(sfc_proxied, COUNT, "SFC_%u_PROXIED",                                                                            \
      "source flow control messages turned into a pause for the NIC at the other end of this port")
/// The link layer. Names ours.
#define WEFT_LINK_COUNTERS(X)                                                                                          \
    X(link_retries, COUNT, "LLR_%u_TX_REPLAYS", "tries of frames that the link sent again after bit errors")           \
    X(credit_wait_ps, TIME, "CBFC_%u_TX_WAIT_PS",                                                                      \
      "time that this port lacked credit of the link for a frame of the priority, after the last frame was sent "      \
      "(CBFC)")
struct weft_counters {
#define X(field, type, sai, help) uint64_t field;
    WEFT_PRIORITY_COUNTERS(X)
#undef X
};
#define WEFT_COUNTERS (sizeof(struct weft_counters) / sizeof(uint64_t))

struct weft_flow_outcome {
    weft_time_ps start_ps; ///< WEFT_TIME_NEVER: it waits for a trigger
    weft_time_ps end_ps;   ///< last byte at the receiver; WEFT_TIME_NEVER: not finished
    weft_time_ps acked_ps; ///< last acknowledgement at the sender; WEFT_TIME_NEVER: none
    weft_time_ps ideal_ps; ///< completion time of the same flow alone in the empty network, with credit at hand
    weft_bytes delivered_bytes;
    uint64_t cnps;                ///< received by the sender
    uint64_t packets_again;       ///< sent more than once
    uint64_t sfc_messages;        ///< received by the sender
    weft_time_ps sfc_paused_ps;   ///< sum over its queue pairs: time paused with data to send
    uint64_t out_of_order;        ///< packets that came while an earlier one was missing
    uint64_t out_of_order_placed; ///< of these: not discarded
};

/// A collective of one iteration.
struct weft_op_outcome {
    weft_time_ps start_ps;   ///< when the last rank came to it; WEFT_TIME_NEVER: not all have
    weft_time_ps end_ps;     ///< when the last rank had done it; WEFT_TIME_NEVER: not all have
    weft_time_ps exposed_ps; ///< the mean over ranks: waited for it, computing nothing; 0 with overlap
};

/// Of so many messages; all 0 if there were none. Percentiles are exact to 0.4 %.
struct weft_wait_outcome {
    uint64_t messages;
    weft_time_ps mean_ps, p50_ps, p90_ps, p99_ps, max_ps;
};

/// A stretch of a rank's time: one begins where the other ends, until the rank is done. Those of a job are by rank,
/// then time.
struct weft_rank_span {
    weft_time_ps from_ps, to_ps; ///< to: WEFT_TIME_NEVER: it was not over when the run ended
    uint32_t rank, iteration;
    uint32_t op;   ///< computed for, or waited for; of a schedule the step computed; WEFT_NONE: what goes on beside
    bool computes; ///< else it waits for communication and computes nothing
};

/// What the operations of a class that ran in packets say of all of them (run.sample). Intervals have 95%.
struct weft_sample_class {
    uint32_t op;  ///< the first of the class; WEFT_NONE: whole iterations
    bool first;   ///< at the begin of an iteration, within run.sample.warm_up; else later
    bool settled; ///< later: those sampled early took as long as those sampled late
    uint64_t instances, sampled;
    double bound_ps;         ///< lower bound of the time of one, mean
    double ratio;            ///< time over that bound, of those that were sampled
    double time_ps, half_ps; ///< of one, mean; half of its interval
};

struct weft_job_outcome {
    struct weft_op_outcome *op;         ///< [iteration * ops + op]
    weft_time_ps *iteration_end_ps;     ///< [iterations], of the last rank; WEFT_TIME_NEVER: not over
    weft_time_ps *iteration_exposed_ps; ///< [iterations], the mean over ranks
    uint32_t ops, iterations, ranks;
    weft_time_ps end_ps;       ///< of the last rank; WEFT_TIME_NEVER: not over
    weft_time_ps *rank_end_ps; ///< [ranks] of a schedule, likewise; NULL: a job of operations
    weft_time_ps exposed_ps;   ///< in all, the mean over ranks: waited for communication, computing nothing
    uint32_t ranks_done;
    struct weft_sample_class *sample; ///< [sample_classes]; iterations and operations that were left out are estimated
    uint32_t sample_classes;          ///< 0: nothing was
    uint32_t sample_groups, sample_groups_ran; ///< of ranks, that share no link (run.sample.groups); 0: all ran
    double end_half_ps;                        ///< half of the interval of all iterations together
    double *op_half_ps;                        ///< [ops]: of an operation's mean time; NAN: not known
    struct weft_rank_span *span;               ///< of a run that is recorded; the first run.events of each rank
    uint64_t spans, unrecorded;                ///< unrecorded: beyond these
    struct weft_wait_outcome cts_wait;    ///< of a clear-to-send, from the receiver's posting to the sender's having it
    struct weft_wait_outcome sender_wait; ///< of a message that was ready, for its clear-to-send
    weft_bytes in_flight_bytes_max;       ///< of a rank: handed to its queue pairs and not acknowledged, the most ever
    weft_bytes in_flight_bytes_bound;     ///< of a rank: connections x slots x largest message; the largest of any
    weft_bytes incoming_bytes_bound;      ///< likewise of what may be under way to a rank, if it grants room by slots
};

/// A computation of the controller of traffic engineering.
struct weft_te_round {
    weft_time_ps measured_ps, computed_ps, in_force_ps; ///< end of the interval measured; 0, 0, 0: from the start
    uint32_t demands, beyond, unreachable, entries;     ///< as in struct weft_cspf_plan
    double utilisation_max;                             ///< of a link, as planned
};
struct weft_te_outcome {
    uint32_t rounds;
    uint32_t phases, averaged; ///< of known demands; 0: they are measured
    struct weft_te_round *round;
    uint64_t by_entry, by_fallback; ///< packets, at each switch with a choice
};

/// What one process had of a run over several.
struct weft_rank_outcome {
    const char *host;
    uint32_t nodes, threads;
    uint64_t events;
    uint64_t messages, bytes; ///< sent to others
    double wait_s;            ///< in exchanges, copying and the others' work included
    double cpu_s;
    weft_bytes peak_rss_bytes;
};

/// What of a run was not run, because it repeats (docs/fast-forward.md).
struct weft_fast_forward_outcome {
    uint32_t stretches;       ///< skipped
    uint64_t iterations;      ///< of jobs, in them
    uint64_t operations;      ///< of jobs, in stretches within an iteration
    uint64_t steps;           ///< of lanes of collectives, in stretches within an operation
    uint64_t packets;         ///< of flows that held their rate
    weft_time_ps skipped_ps;  ///< simulated time, in all
    double error;             ///< steady: estimate of the relative error of the skipped time; 0: none
    uint32_t audited, failed; ///< stretches run in full instead; of these, came out otherwise than foretold
    uint32_t dropped;         ///< audits that could not be judged: where the stretch was to end did not come
    double audit_error;       ///< the largest relative difference of an audited stretch's time
    const char *refused;      ///< why nothing could be skipped; NULL: nothing stands against it
    bool draws_left_out;      ///< a stretch is skipped with the draws of those before it: of launches and stalls
};

struct weft_sample {
    weft_time_ps time_ps;
    uint32_t port; ///< among all ports
    uint32_t priority;
    weft_bytes queue_bytes;   ///< egress depth
    weft_bytes ingress_bytes; ///< level of the priority group
    weft_bytes tx_bytes;      ///< since the last sample
    bool paused;
    uint16_t credit_permille; ///< of a GNet link's credit, in use, of the VC that uses most; 0: of other links
    uint32_t flows;           ///< queue pairs that sent data since the last sample; 0 unless run.count_flows
};

/// What all ports did over time, for the moving picture of a run.
struct weft_film_step {
    weft_bytes tx_bytes;  ///< sent until then, of all priorities
    uint32_t queue_bytes; ///< likewise; at most UINT32_MAX
    uint16_t paused;      ///< priorities
    uint16_t credit_permille;
};
struct weft_film {
    uint32_t steps, most; ///< steps 0: there is none
    weft_time_ps every_ps;
    struct weft_film_step *step; ///< [ports][most]: the k-th at k * every_ps, of the first `steps`
};

struct weft_outcome {
    enum weft_end end;
    weft_time_ps sim_time_ps; ///< of the last event, or run.until where that ended the run
    double wall_s, cpu_s;
    double phase_s[WEFT_PHASE_COUNT]; ///< wall time, summed over workers; 0 unless asked for
    uint32_t threads;
    uint64_t packet_hops; ///< packets of any kind over one link
    uint64_t cell_hops;   ///< cells of any kind over one link, of fabrics that carry cells
    uint64_t events;
    uint64_t windows; ///< windows with work
    weft_time_ps window_ps;
    weft_bytes peak_rss_bytes;
    uint32_t ranks; ///< 0: a run in one process
    struct weft_rank_outcome *rank;

    uint32_t flows;
    struct weft_flow_outcome *flow; ///< [flows], as in the workload

    uint32_t jobs;
    struct weft_job_outcome *job;                        ///< [jobs], as in the workload
    weft_bytes server_sent_bytes, server_received_bytes; ///< within servers, not over the network

    uint32_t rmas;
    struct weft_rma_outcome *rma; ///< [rmas], as in the workload

    struct weft_wait_outcome *round_trip; ///< [priorities] of data; NULL unless run.round_trips or a box asks for them

    uint32_t ports;
    struct weft_counters *counters; ///< by priority, then port: read by weft_outcome_at and weft_outcome_sum alone
    const uint32_t *port_flows;     ///< [ports]: queue pairs whose data it sent; NULL unless run.count_flows
    uint64_t drops[WEFT_DROPS];
    weft_bytes drop_bytes[WEFT_DROPS];
    uint64_t cnps; ///< sent by receivers

    weft_bytes injected_bytes, delivered_bytes, dropped_bytes, held_bytes; ///< frames, every kind
    struct weft_fast_forward_outcome *fast_forward;                        ///< NULL: run.fast_forward is off
    const struct weft_te_outcome *te;                                      ///< NULL: no controller
    const struct weft_link_dcbx *links; ///< [links of the topology]; NULL: no device runs LLDP
    /// Results of a kind of box beyond ports and drops (box/dsf/dsf_outcome.h, box/tin/tin_outcome.h); NULL:
    /// nothing, or there is none.
    void *part[WEFT_BOXES];
    uint64_t samples;
    struct weft_sample *sample; ///< by time, port, priority
    struct weft_film film;      ///< of a recorded run without samples

    uint64_t captured, capture_left_out; ///< frames written, and beyond the limit
    uint32_t recorded;                   ///< events; 0 unless the run is recorded
    struct weft_event *record;
    uint64_t unrecorded;        ///< events beyond run.events of their node
    weft_time_ps unrecorded_ps; ///< time of the first of them; WEFT_TIME_NEVER: none

    char *stall; ///< who waits for whom; NULL if the run did not stall
    uint64_t digest;
    struct weft_arena *arena; ///< owns all of it
};

/// Of a run in which nothing has happened yet: no flow has ended, no iteration, no collective.
struct weft_outcome *weft_outcome_new(const struct weft_topology *topology, const struct weft_workload *workload);
void weft_outcome_free(struct weft_outcome *outcome);

/// Counters of a port and priority. Counters of one priority are adjacent, so a priority that no packet uses takes no
/// memory in a large network: its pages are never written.
static inline struct weft_counters *weft_outcome_at(const struct weft_outcome *outcome, uint32_t port,
                                                    uint32_t priority) {
    return &outcome->counters[(size_t)priority * outcome->ports + port];
}

/// Digest over every flow's completion times, every counter and every drop; equal for equal results.
uint64_t weft_outcome_digest(const struct weft_outcome *outcome);
/// Sums over all priorities of `ports` ports from `port0` on; counters that are a maximum are summed too.
struct weft_counters weft_outcome_sum(const struct weft_outcome *outcome, uint32_t port0, uint32_t ports);
/// The sum over all priorities of all ports.
struct weft_counters weft_outcome_counters(const struct weft_outcome *outcome);
/// Whether events of this time have happened: a run that run.until ends executes none at that time.
static inline bool weft_outcome_reached(const struct weft_outcome *o, weft_time_ps time) {
    return time < o->sim_time_ps || (time == o->sim_time_ps && o->end != WEFT_END_UNTIL);
}
/// True if injected = delivered + dropped + held.
bool weft_outcome_conserves(const struct weft_outcome *outcome);
/// False if nothing was lost on the way, and yet hosts saw packets out of order.
bool weft_outcome_in_order(const struct weft_outcome *outcome);
