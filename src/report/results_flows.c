// SPDX-License-Identifier: Apache-2.0
// Results of flows, of their groups, and of round trips.
#include <math.h>

#include "report/text.h"
#include "results/rows.h"

// --- groups -------------------------------------------------------------------------------------------------------

static bool next_group(struct weft_result_cursor *c) {
    if (!c->state) c->state = weft_report_groups(c->run, c->arena);
    if (c->at == c->run->workload->groups) return false;
    c->part[0] = &((const struct weft_group_stats *)c->state)[c->at++];
    return true;
}

static uint32_t group_at(const struct weft_result_cursor *c) {
    return (uint32_t)c->at - 1;
}

/// The priority of the group's first flow, or operation.
static unsigned priority_of(const struct weft_workload *w, uint32_t group) {
    for (uint32_t e = 0; e < w->rmas; e++)
        if (w->rma[e].group == group) return (unsigned)w->rma[e].conf->priority;
    for (uint32_t f = 0; f < w->flows; f++)
        if (w->flow[f].group == group) return w->flow[f].priority;
    return 0;
}

static struct weft_result_value throughput_of(struct weft_result_cursor *c) {
    const struct weft_run *run = c->run;
    for (uint32_t e = 0; e < run->workload->rmas; e++)
        if (run->workload->rma[e].group == group_at(c)) return WEFT__RESULT_REAL(weft__report_rma_throughput(run, e));
    const struct weft_group_stats *group = c->part[0];
    return WEFT__RESULT_REAL(8 * (double)group->delivered_bytes * (double)WEFT_PS_PER_S /
                             (double)run->outcome->sim_time_ps);
}

/// NULL: hardware executed nothing of the group.
static const struct weft_rma_times *execution_of(const struct weft_result_cursor *c) {
    const struct weft_rma_times *t = NULL;
    for (uint32_t e = 0; e < c->run->workload->rmas; e++)
        if (c->run->workload->rma[e].group == group_at(c) && c->run->outcome->rma[e].execution.max_ps)
            t = &c->run->outcome->rma[e].execution;
    return t;
}

static const struct weft_wait_outcome *round_trips_of(const struct weft_result_cursor *c) {
    const struct weft_wait_outcome *t = c->run->outcome->round_trip;
    if (t) t += priority_of(c->run->workload, group_at(c));
    return t && t->messages ? t : NULL;
}

static struct weft_result_value execution_p50(struct weft_result_cursor *c) {
    const struct weft_rma_times *t = execution_of(c);
    return t ? WEFT__RESULT_WHOLE(t->p50_ps) : (struct weft_result_value){0};
}
static struct weft_result_value execution_p99(struct weft_result_cursor *c) {
    const struct weft_rma_times *t = execution_of(c);
    return t ? WEFT__RESULT_WHOLE(t->p99_ps) : (struct weft_result_value){0};
}
static struct weft_result_value round_trip_p50(struct weft_result_cursor *c) {
    const struct weft_wait_outcome *t = round_trips_of(c);
    return t ? WEFT__RESULT_WHOLE(t->p50_ps) : (struct weft_result_value){0};
}
static struct weft_result_value round_trip_p99(struct weft_result_cursor *c) {
    const struct weft_wait_outcome *t = round_trips_of(c);
    return t ? WEFT__RESULT_WHOLE(t->p99_ps) : (struct weft_result_value){0};
}

#define OF_GROUP(field, kind, ...) WEFT_RESULT(struct weft_group_stats, field, kind, __VA_ARGS__)
#define QUANTILES(field, key, before, after, kind, what)                                                               \
    WEFT_RESULT_NAMED(struct weft_group_stats, field.mean, key ".mean", kind, what ", mean",                           \
                      .was = before "mean" after),                                                                     \
        WEFT_RESULT_NAMED(struct weft_group_stats, field.p50, key ".p50", kind, what ", median",                       \
                          .was = before "p50" after),                                                                  \
        WEFT_RESULT_NAMED(struct weft_group_stats, field.p95, key ".p95", kind, what ", 95th percentile",              \
                          .was = before "p95" after),                                                                  \
        WEFT_RESULT_NAMED(struct weft_group_stats, field.p99, key ".p99", kind, what ", 99th percentile",              \
                          .was = before "p99" after),                                                                  \
        WEFT_RESULT_NAMED(struct weft_group_stats, field.max, key ".max", kind, what ", greatest",                     \
                          .was = before "max" after)
#define FCT "completion time of finished flows (of remote memory access: of operations)"
#define SLOWDOWN "completion time of finished flows over that of the same flow alone in the empty network"
const struct weft_result_table weft__results_groups = WEFT_RESULT_TABLE_OF(
    "groups", MAP, "a group of flows; percentiles are nearest rank over those that finished", .next = next_group,
    OF_GROUP(name, TEXT, "name of the group", .flags = WEFT_RESULT_KEY),
    OF_GROUP(count, COUNT, "flows; of remote memory access, operations"),
    OF_GROUP(finished, COUNT, "flows, or operations, that are finished"),
    OF_GROUP(bytes, BYTES, "bytes of all flows; of remote memory access, those of complete operations"),
    OF_GROUP(delivered_bytes, BYTES, "bytes that receivers have of all flows"),
    OF_GROUP(delivered_bytes_min, BYTES, "bytes that the receiver has of the flow with fewest"),
    OF_GROUP(delivered_bytes_max, BYTES, "bytes that the receiver has of the flow with most"),
    QUANTILES(fct_ps, "fct_ps", "fct_", "_ps", TIME, FCT),
    QUANTILES(slowdown, "slowdown", "slowdown_", "", REAL, SLOWDOWN),
    OF_GROUP(out_of_order, COUNT, "packets that came while an earlier one was missing"),
    OF_GROUP(out_of_order_placed, COUNT, "packets that came while an earlier one was missing, and were not discarded"),
    WEFT_RESULT_CALL(throughput_of, "throughput_bps", REAL,
                     "bits of payload that receivers have of the group, a second of the run; of remote memory access, "
                     "of the time in which "
                     "clients begin operations",
                     .unit = "bit/s"),
    WEFT_RESULT_CALL(execution_p50, "execution_ps.p50", TIME, "execution of 1RMA requests at the hardware, median",
                     .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(execution_p99, "execution_ps.p99", TIME,
                     "execution of 1RMA requests at the hardware, 99th percentile", .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(round_trip_p50, "round_trip_ps.p50", TIME,
                     "round trips of data of the priority of the group's first flow, median",
                     .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(round_trip_p99, "round_trip_ps.p99", TIME,
                     "round trips of data of the priority of the group's first flow, 99th percentile",
                     .flags = WEFT_RESULT_SPARSE));

// --- flows --------------------------------------------------------------------------------------------------------

/// Part 0 is the flow, part 1 its outcome.
static bool next_flow(struct weft_result_cursor *c) {
    const struct weft_workload *w = c->run->workload;
    while (c->at < w->flows && w->flow[c->at].rma)
        c->at++; // a connection
    if (c->at == w->flows) return false;
    c->part[0] = &w->flow[c->at];
    c->part[1] = &c->run->outcome->flow[c->at++];
    return true;
}

WEFT_RESULT_VALUE(flow_group, WEFT__RESULT_TEXT(c->run->workload->group[((const struct weft_flow *)c->part[0])->group]))
static struct weft_result_value flow_src(struct weft_result_cursor *c) {
    const struct weft_topology *t = c->run->topology;
    return WEFT__RESULT_TEXT(t->node[t->host[((const struct weft_flow *)c->part[0])->src]].name);
}
static struct weft_result_value flow_dst(struct weft_result_cursor *c) {
    const struct weft_topology *t = c->run->topology;
    return WEFT__RESULT_TEXT(t->node[t->host[((const struct weft_flow *)c->part[0])->dst]].name);
}
/// `raw` is no verb that users choose.
static const char *verb_name(uint8_t verb) {
    return verb == WEFT_VERB_RAW ? "raw" : weft_verb_names[verb];
}
WEFT_RESULT_VALUE(flow_verb, WEFT__RESULT_TEXT(verb_name(((const struct weft_flow *)c->part[0])->verb)))

static struct weft_result_value flow_tag(struct weft_result_cursor *c) {
    const struct weft_workload *w = c->run->workload;
    size_t flow = (size_t)((const struct weft_flow *)c->part[0] - w->flow);
    return (struct weft_result_value){.known = w->tag != NULL, .whole = w->tag ? w->tag[flow] : 0};
}

static weft_time_ps fct_of(const struct weft_result_cursor *c) {
    const struct weft_flow_outcome *o = c->part[1];
    return o->end_ps == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : o->end_ps - o->start_ps;
}
static struct weft_result_value flow_fct(struct weft_result_cursor *c) {
    weft_time_ps fct = fct_of(c);
    return (struct weft_result_value){.known = fct != WEFT_TIME_NEVER, .whole = fct};
}
static struct weft_result_value flow_slowdown(struct weft_result_cursor *c) {
    weft_time_ps fct = fct_of(c), ideal = ((const struct weft_flow_outcome *)c->part[1])->ideal_ps;
    return WEFT__RESULT_REAL(fct == WEFT_TIME_NEVER || !ideal ? NAN : (double)fct / (double)ideal);
}

/// Of a flow that posts messages.
WEFT_RESULT_VALUE_OF(flow_messages, struct weft_flow, f,
                     (struct weft_result_value){.known = f->depth > 0,
                                                .whole = f->depth ? f->bytes / f->message_bytes : 0})
static struct weft_result_value flow_message_rate(struct weft_result_cursor *c) {
    const struct weft_flow *f = c->part[0];
    const struct weft_flow_outcome *o = c->part[1];
    weft_time_ps end = o->end_ps == WEFT_TIME_NEVER ? c->run->outcome->sim_time_ps : o->end_ps;
    if (!f->depth || end <= o->start_ps) return (struct weft_result_value){0};
    double seconds = (double)(end - o->start_ps) / (double)WEFT_PS_PER_S;
    return WEFT__RESULT_REAL((double)(o->delivered_bytes / f->message_bytes) / seconds);
}

#define OF_FLOW(field, kind, ...) WEFT_RESULT(struct weft_flow, field, kind, __VA_ARGS__)
#define CAME(field, kind, ...) WEFT_RESULT_AT(1, struct weft_flow_outcome, field, #field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_flows = WEFT_RESULT_TABLE_OF(
    "flows", LIST, "a flow", .next = next_flow,
    WEFT_RESULT_CALL(weft_result_index, "flow", COUNT, "number of the flow, in the order of the workload",
                     .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(flow_group, "group", TEXT, "name of the flow's group", .was = "group_name"),
    OF_FLOW(src, COUNT, "number of the host that sends"), OF_FLOW(dst, COUNT, "number of the host that receives"),
    WEFT_RESULT_CALL(flow_src, "src_name", TEXT, "name of the host that sends", .flags = WEFT_RESULT_TABLES),
    WEFT_RESULT_CALL(flow_dst, "dst_name", TEXT, "name of the host that receives", .flags = WEFT_RESULT_TABLES),
    OF_FLOW(bytes, BYTES, "bytes to be sent"),
    WEFT_RESULT_CALL(flow_messages, "messages", COUNT, "messages that the flow posts (post)",
                     .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(flow_message_rate, "message_rate", REAL,
                     "messages that receivers have of a flow that posts some, per second from its start to its end, or "
                     "to that of the run",
                     .unit = "1/s", .flags = WEFT_RESULT_SPARSE),
    OF_FLOW(qps, COUNT, "queue pairs that the flow is spread over"),
    OF_FLOW(priority, COUNT, "priority of the flow's data"),
    WEFT_RESULT_CALL(flow_verb, "verb", TEXT, "RDMA verb: write, send or read; raw: frames of a host from outside"),
    CAME(start_ps, TIME, "when the flow starts"), CAME(end_ps, TIME, "when the last byte is at the receiver"),
    WEFT_RESULT_CALL(flow_fct, "fct_ps", TIME,
                     "completion time: from the start until the last byte is at the receiver"),
    CAME(acked_ps, TIME, "when the last acknowledgement is at the sender"),
    CAME(ideal_ps, TIME,
         "least completion time: alone in the empty network, and with credit at hand in a fabric that grants it"),
    WEFT_RESULT_CALL(flow_slowdown, "slowdown", REAL,
                     "completion time over that of the same flow alone in the empty network"),
    CAME(delivered_bytes, BYTES, "bytes that the receiver has"),
    CAME(cnps, COUNT,
         "CNPs that the sender received, marks that ACKs echoed to it (host.ecn_echo: ack; of transport uet, always), "
         "and "
         "losses taken for one (slow_restart)"),
    CAME(packets_again, COUNT, "packets sent more than once"),
    CAME(sfc_messages, COUNT, "source flow control messages that the sender received"),
    CAME(sfc_paused_ps, TIME,
         "time that source flow control paused queue pairs with something to send, summed over queue pairs"),
    CAME(out_of_order, COUNT, "packets that came while an earlier one was missing"),
    CAME(out_of_order_placed, COUNT, "packets that came while an earlier one was missing, and were not discarded"),
    WEFT_RESULT_CALL(flow_tag, "tag", COUNT, "tag of a message that a program sent (weft/drive.h)",
                     .flags = WEFT_RESULT_SPARSE));

// --- round trips --------------------------------------------------------------------------------------------------

WEFT_RESULT_PRESENT(has_round_trips, run->scenario->run.round_trips || run->outcome->round_trip)

/// Lists every priority, so that claims find theirs whatever the result.
static bool next_round_trip(struct weft_result_cursor *c) {
    static const struct weft_wait_outcome nothing;
    const struct weft_wait_outcome *t = c->run->outcome->round_trip;
    if (c->at == WEFT_PRIORITIES) return false;
    c->part[0] = t ? &t[c->at] : &nothing;
    c->at++;
    return true;
}

#define TRIP(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_wait_outcome, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft__results_round_trips = WEFT_RESULT_TABLE_OF(
    "round_trip_ps", MAP,
    "a priority, with run.round_trips or cells: round trips of data; percentiles are off by 0.4% at most",
    WEFT_RESULT_AND(.next = next_round_trip, .present = has_round_trips, .was = "round_trips"),
    WEFT_RESULT_CALL(weft_result_index, "priority", COUNT, "priority of the data", .flags = WEFT_RESULT_KEY),
    TRIP(messages, "count", COUNT, "round trips measured: one at a time of each queue pair"),
    TRIP(mean_ps, "mean", TIME, "time from leaving the NIC to its acknowledgement, mean", .was = "mean_ps"),
    TRIP(p50_ps, "p50", TIME, "time from leaving the NIC to its acknowledgement, median", .was = "p50_ps"),
    TRIP(p90_ps, "p90", TIME, "time from leaving the NIC to its acknowledgement, 90th percentile", .was = "p90_ps"),
    TRIP(p99_ps, "p99", TIME, "time from leaving the NIC to its acknowledgement, 99th percentile", .was = "p99_ps"),
    TRIP(max_ps, "max", TIME, "time from leaving the NIC to its acknowledgement, greatest", .was = "max_ps"));
