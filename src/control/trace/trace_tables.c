// SPDX-License-Identifier: Apache-2.0
// The answer of weft trace-control as rows: of a DSF, bursts of failures with what devices did, capacities at the end,
// and what interface nodes and exits told one another.
#include "control/trace/trace_tables.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 128 };

static const struct weft_control_trace *trace_of(const struct weft_result_cursor *c) {
    return weft__control_answer(c)->dsf;
}

// --- bursts -------------------------------------------------------------------------------------------------------

WEFT_RESULT_VALUE_OF(burst_convergence, struct weft_control_burst, b,
                     weft_result_whole(true, b->stats.last_ps - b->time_ps))
#define BURST(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_control_burst, field, key, kind, __VA_ARGS__)
static const struct weft_result_table burst_table = WEFT_RESULT_TABLE_OF(
    "dsf.bursts", LIST, "what failed or came back at one time",
    WEFT_RESULT_EACH(struct weft_control_trace, burst, bursts),
    BURST(time_ps, "time_ps", TIME, "when links failed or came back, or nodes were drained", .flags = WEFT_RESULT_KEY),
    BURST(down, "links_down", COUNT, "links that failed"), BURST(up, "links_up", COUNT, "links that came back"),
    BURST(drains, "drains", COUNT, "nodes drained, or no longer"),
    BURST(settled, "settled", BOOL, "whether nothing was under way any more when the next burst came"),
    WEFT_RESULT_CALL(burst_convergence, "convergence_ps", TIME, "until the last change of what links may be used"),
    BURST(stats.cells, "cells", COUNT, "cells that said something new on a link"),
    BURST(stats.rounds, "rounds", COUNT, "longest chain of cells"),
    BURST(stats.withdrawn, "withdrawn", COUNT, "links withdrawn, counted for each destination"),
    BURST(stats.opened, "opened", COUNT, "links opened, counted for each destination"),
    BURST(stats.changes, "changes", COUNT, "changes of what links may be used"));
#define OF_BURST WEFT_RESULT_ABOVE_KEY("burst_ps", "time_ps", TIME, "time of the burst")

/// What a device withdrew in a burst, and its capacities before the first step and after the last.
struct withdrawal {
    const char *device;
    uint64_t links, towards;
    uint32_t in, out, in_after;
};
struct withdrawals {
    struct withdrawal *row;
    uint64_t n;
};

WEFT__ORDER_OF_POINTERS(compare_steps, struct weft_control_step, WEFT__UP(fabric) ?: WEFT__UP(device) ?: WEFT__PLACE)

/// `seen`: per destination of its fabric; all false before and after.
static struct withdrawal sum_withdrawal(const struct weft_control_trace *trace, const struct weft_fabric *f,
                                        uint32_t device, const struct weft_control_step *const *step, uint32_t n,
                                        bool *seen) {
    struct withdrawal sum = {f->device[device].name, 0, 0, WEFT_NONE, WEFT_NONE, WEFT_NONE};
    uint64_t links[WEFT_REACH_WORDS] = {0};
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < WEFT_REACH_WORDS; k++)
            links[k] |= step[i]->links[k];
        for (uint32_t d = 0; d < step[i]->dests; d++) {
            bool *is_known = &seen[trace->dest[step[i]->dest0 + d]];
            sum.towards += !*is_known;
            *is_known = true;
        }
    }
    for (uint32_t k = 0; k < WEFT_REACH_WORDS; k++)
        sum.links += (uint64_t)__builtin_popcountll(links[k]);
    memset(seen, 0, f->dests * sizeof *seen);
    if (!n) return sum;
    sum.in = step[0]->in;
    sum.out = step[n - 1]->out;
    sum.in_after = step[n - 1]->in_after;
    return sum;
}

static struct withdrawals *sum_withdrawals(const struct weft_control_trace *trace, const struct weft_control_burst *b,
                                           struct weft_arena *arena) {
    struct withdrawals *all = weft_arena_alloc(arena, 1, sizeof *all);
    const struct weft_control_step **step = weft_arena_alloc(arena, b->steps, sizeof *step);
    uint32_t n = 0, devices = 0;
    for (uint32_t i = 0; i < b->steps; i++)
        if (b->step[i].deed == WEFT_REACH_WITHDREW) step[n++] = &b->step[i];
    if (n) qsort(step, n, sizeof *step, compare_steps);
    for (uint32_t k = 0; k < trace->fabrics; k++)
        devices += trace->fabric[k]->devices;
    all->row = weft_arena_alloc(arena, devices, sizeof *all->row);
    for (uint32_t k = 0, i = 0; k < trace->fabrics; k++) {
        const struct weft_fabric *f = trace->fabric[k];
        bool *seen = weft_arena_alloc(arena, f->dests, sizeof *seen);
        for (uint32_t d = 0; d < f->devices; d++) {
            uint32_t first = i;
            while (i < n && step[i]->fabric == k && step[i]->device == d)
                i++;
            all->row[all->n++] = sum_withdrawal(trace, f, d, &step[first], i - first, seen);
        }
    }
    return all;
}

static bool next_withdrawal(struct weft_result_cursor *c) {
    if (!c->state) c->state = sum_withdrawals(trace_of(c), c->above->part[0], c->arena);
    const struct withdrawals *all = c->state;
    if (c->at == all->n) return false;
    c->part[0] = &all->row[c->at++];
    return true;
}

#define WITHDRAWAL(field, key, kind, ...) WEFT_RESULT_NAMED(struct withdrawal, field, key, kind, __VA_ARGS__)
static const struct weft_result_table withdrawal_table = WEFT_RESULT_TABLE_OF(
    "dsf.bursts.withdrawals", LIST, "what a device withdrew in a burst", .next = next_withdrawal, OF_BURST,
    WITHDRAWAL(device, "device", TEXT, "the device", .flags = WEFT_RESULT_KEY),
    WITHDRAWAL(links, "links", COUNT, "input links that the device withdrew"),
    WITHDRAWAL(towards, "towards", COUNT, "destinations towards which the device withdrew links"),
    WITHDRAWAL(in, "input", COUNT, "links of the inputs before the event's first step", .flags = WEFT_RESULT_SPARSE),
    WITHDRAWAL(out, "output", COUNT, "links of the outputs at the event's last step", .flags = WEFT_RESULT_SPARSE),
    WITHDRAWAL(in_after, "input_after", COUNT, "links of the inputs after the event's last step",
               .flags = WEFT_RESULT_SPARSE));

// --- steps --------------------------------------------------------------------------------------------------------

static const char *const deed_names[] = {[WEFT_REACH_NOTICED_DOWN] = "noticed_down",
                                         [WEFT_REACH_NOTICED_UP] = "noticed_up",
                                         [WEFT_REACH_WITHDREW] = "withdrew",
                                         [WEFT_REACH_OPENED] = "opened"};

WEFT_RESULT_VALUE_OF(step_device, struct weft_control_step, s,
                     weft_result_words(trace_of(c)->fabric[s->fabric]->device[s->device].name))
static struct weft_result_value name_port(const struct weft_result_cursor *c, const struct weft_control_step *s,
                                          uint32_t slot) {
    char name[NAME];
    if (slot == WEFT_NONE) return weft_result_words(NULL);
    weft_control_port_name(weft__control_answer(c)->topology, trace_of(c)->fabric[s->fabric], s->device, slot, name,
                           sizeof name);
    return weft_result_words(weft_arena_text(c->arena, name));
}

WEFT_RESULT_VALUE_OF(step_port, struct weft_control_step, s, name_port(c, s, s->slot))
#define STEP(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_control_step, field, key, kind, __VA_ARGS__)
static const struct weft_result_table step_table = WEFT_RESULT_TABLE_OF(
    "dsf.bursts.steps", LIST, "a step: a device noticed a link, or withdrew or opened input links",
    WEFT_RESULT_EACH(struct weft_control_burst, step, steps), OF_BURST,
    WEFT_RESULT_NUMBER("step", "number of the step in the burst"), STEP(time_ps, "time_ps", TIME, "time of the event"),
    WEFT_RESULT_CALL(step_device, "device", TEXT, "device that acted"),
    WEFT_RESULT_OF_NAMES(0, struct weft_control_step, deed, "did", deed_names, "what the device did"),
    STEP(round, "round", COUNT, "cells in a chain before it; 0: because of a link of its own"),
    WEFT_RESULT_CALL(step_port, "because_of", TEXT, "port of the link, or by which the cause came",
                     .flags = WEFT_RESULT_SPARSE),
    STEP(in, "input", COUNT, "links of the inputs before the step", .flags = WEFT_RESULT_SPARSE),
    STEP(out, "output", COUNT, "links of the outputs", .flags = WEFT_RESULT_SPARSE),
    STEP(in_after, "input_after", COUNT, "links of the inputs after the step", .flags = WEFT_RESULT_SPARSE));
#define OF_STEP                                                                                                        \
    WEFT_RESULT_ABOVE_KEY("burst_ps", "burst_ps", TIME, "time of the burst"),                                          \
        WEFT_RESULT_ABOVE_KEY("step", "step", COUNT, "number of the step in the burst")

static bool next_towards(struct weft_result_cursor *c) {
    const struct weft_control_step *s = c->above->part[0];
    const struct weft_fabric *f = trace_of(c)->fabric[s->fabric];
    if (c->at == s->dests) return false;
    c->part[0] = &f->device[f->dest_device[trace_of(c)->dest[s->dest0 + c->at++]]];
    return true;
}

static const struct weft_result_table towards_table = WEFT_RESULT_TABLE_OF(
    "dsf.bursts.steps.towards", ARRAY, "a destination of a step", WEFT_RESULT_AND(.next = next_towards, .sparse = true),
    OF_STEP, WEFT_RESULT_NUMBER("number", "in this order, from 0"),
    WEFT_RESULT(struct weft_fabric_device, name, TEXT, "interface node towards which links were withdrawn or opened"));

static bool next_port(struct weft_result_cursor *c) {
    const struct weft_control_step *s = c->part[0] = c->above->part[0];
    uint32_t slots = s->dests ? trace_of(c)->fabric[s->fabric]->device[s->device].links : 0;
    while (c->at < slots && !(s->links[c->at / 64] >> (c->at % 64) & 1))
        c->at++;
    return c->at++ < slots;
}

WEFT_RESULT_VALUE(port_name, name_port(c, c->part[0], (uint32_t)c->at - 1))
static const struct weft_result_table port_table = WEFT_RESULT_TABLE_OF(
    "dsf.bursts.steps.ports", ARRAY, "a link of a step", WEFT_RESULT_AND(.next = next_port, .sparse = true), OF_STEP,
    WEFT_RESULT_NUMBER("slot", "number of the link at its device"),
    WEFT_RESULT_CALL(port_name, "name", TEXT, "port of a link that was withdrawn or opened"));

// --- the end ------------------------------------------------------------------------------------------------------

#define CAPACITY(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_control_capacity, field, key, kind, __VA_ARGS__)
static const struct weft_result_table capacity_table = WEFT_RESULT_TABLE_OF(
    "dsf.capacities", LIST, "what a cluster has left towards a destination at the end, if not all",
    WEFT_RESULT_EACH(struct weft_control_trace, capacity, capacities),
    CAPACITY(towards, "towards", TEXT, "interface node as a destination", .flags = WEFT_RESULT_KEY),
    CAPACITY(cluster, "cluster", COUNT, "cluster whose interface nodes send", .flags = WEFT_RESULT_KEY),
    CAPACITY(links, "links", COUNT, "links that the senders have open towards the device"),
    CAPACITY(wired, "wired", COUNT, "links that the senders have"),
    CAPACITY(least, "least", COUNT, "open links of the node with least"),
    CAPACITY(least_wired, "least_wired", COUNT, "links of the node with least"),
    CAPACITY(cut_off, "cut_off", COUNT, "nodes with no open link"),
    CAPACITY(resorting, "last_resort", COUNT, "nodes that use a link that is held back, because there is no other"));
static const struct weft_result_table entrance_table = WEFT_RESULT_TABLE_OF(
    "dsf.capacities.from", LIST, "an interface node of the cluster",
    WEFT_RESULT_EACH(struct weft_control_capacity, entrance, entrances),
    WEFT_RESULT_ABOVE_KEY("towards", "towards", TEXT, "interface node as a destination"),
    WEFT_RESULT_ABOVE_KEY("cluster", "cluster", COUNT, "cluster whose interface nodes send"),
    WEFT_RESULT(struct weft_control_entrance, node, TEXT, "interface node that sends", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct weft_control_entrance, links, COUNT, "links that the device has open"));
static const struct weft_result_table drained_table = WEFT_RESULT_TABLE_OF(
    "dsf.drained", LIST, "an interface node that others do not reach at the end",
    WEFT_RESULT_EACH(struct weft_control_trace, drained, drained_n),
    WEFT_RESULT(struct weft_control_drained, node, TEXT, "interface node", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_OF_NAMES(0, struct weft_control_drained, state, "state", weft_drain_names,
                         "state of the node at the end"));

// --- FSDB and BGP -------------------------------------------------------------------------------------------------

static const struct weft_result_table nodes_table = WEFT_RESULT_TABLE_OF(
    "dsf.nodes", LIST, "the nodes of a fabric, and what they told one another",
    WEFT_RESULT_EACH(struct weft_control_trace, nodes, fabrics), WEFT_RESULT_NUMBER("fabric", "number of the fabric"));
#define OF_FABRIC WEFT_RESULT_ABOVE_KEY("fabric", "fabric", COUNT, "number of the fabric")

#define FSDB(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_fsdb_result, field, key, kind, __VA_ARGS__)
static const struct weft_result_table fsdb_table = WEFT_RESULT_TABLE_OF(
    "dsf.nodes.fsdb", OBJECT, "the database of a fabric's nodes", WEFT_RESULT_IF(struct weft_control_nodes, fsdb),
    OF_FABRIC, FSDB(sessions, "sessions", COUNT, "sessions among the nodes"),
    FSDB(heartbeats_per_s, "heartbeats_per_s", REAL, "heartbeats of all sessions", .unit = "1/s"),
    FSDB(objects, "objects", COUNT, "objects of others at each node"),
    FSDB(first_full_ps, "start_ps", TIME, "time in which all start from nothing"),
    FSDB(first_messages, "start_messages", COUNT, "messages of that start"));

static bool next_fsdb_event(struct weft_result_cursor *c) {
    const struct weft_control_nodes *nodes = c->above->above->part[0];
    if (c->at == nodes->fsdb_events) return false;
    c->part[0] = &nodes->fsdb->outcome[c->at];
    c->part[1] = &trace_of(c)->event[nodes->fsdb_event[c->at++]];
    return true;
}

static struct weft_result_value name_node(const struct weft_result_cursor *c, uint32_t node) {
    return weft_result_words(node == WEFT_NONE ? NULL : weft__control_answer(c)->topology->node[node].name);
}

WEFT_RESULT_VALUE(event_node, name_node(c, ((const struct weft_control_event *)c->part[1])->node))
WEFT_RESULT_VALUE(event_to, name_node(c, ((const struct weft_control_event *)c->part[1])->to))
WEFT_RESULT_VALUE_OF(event_messages, struct weft_fsdb_outcome, o,
                     weft_result_whole(true, o->connects + o->states + o->changes))
#define OUTCOME(field, kind, ...) WEFT_RESULT(struct weft_fsdb_outcome, field, kind, __VA_ARGS__)
static const struct weft_result_table fsdb_event_table = WEFT_RESULT_TABLE_OF(
    "dsf.nodes.fsdb.events", LIST, "an event and what the nodes made of it", .next = next_fsdb_event, OF_FABRIC,
    WEFT_RESULT_NUMBER("event", "number of the event"),
    WEFT_RESULT_AT(1, struct weft_control_event, time_ps, "time_ps", TIME, "time of the event"),
    WEFT_RESULT_OF_NAMES(1, struct weft_control_event, what, "do", weft_control_whats, "what happened"),
    WEFT_RESULT_CALL(event_node, "node", TEXT, "node to which the event happened", .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(event_to, "to", TEXT, "node to which a host moved", .flags = WEFT_RESULT_SPARSE),
    OUTCOME(lost, COUNT, "sessions lost"), OUTCOME(lost_last_ps, TIME, "until the last session was lost"),
    OUTCOME(flushed, COUNT, "times that a node flushed another's neighbours"),
    OUTCOME(flushed_last_ps, TIME, "until the last flush"), OUTCOME(established, COUNT, "sessions made"),
    OUTCOME(established_last_ps, TIME, "until the last session was made"),
    OUTCOME(told, COUNT, "nodes that know where the host is"),
    OUTCOME(told_last_ps, TIME, "until the last node knew where the host is"),
    WEFT_RESULT_CALL(event_messages, "messages", COUNT, "messages sent because of the event"));

WEFT_RESULT_NEXT(next_bgp, struct weft_control_nodes, nodes, weft_result_take(c, nodes->exits->bgp, NULL))
#define BGP(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_bgp_result, field, key, kind, __VA_ARGS__)
static const struct weft_result_table bgp_table = WEFT_RESULT_TABLE_OF(
    "dsf.nodes.bgp", OBJECT, "BGP of a fabric with exits", .next = next_bgp, OF_FABRIC,
    BGP(ibgp_sessions, "ibgp_sessions", COUNT, "iBGP sessions"),
    BGP(ebgp_sessions, "ebgp_sessions", COUNT, "eBGP sessions"),
    BGP(paths, "next_hops", COUNT, "next hops of an aggregate"),
    BGP(width, "ecmp_width", COUNT, "next hops that ECMP uses"), BGP(rib, "paths_rdsw", COUNT, "paths at an RDSW"),
    BGP(rib_all, "paths_all", COUNT, "paths at all RDSWs"),
    BGP(first_ps, "start_ps", TIME, "time in which all start from nothing"),
    BGP(first_updates, "start_updates", COUNT, "UPDATEs of that start"));

static bool next_bgp_event(struct weft_result_cursor *c) {
    const struct weft_exit_timeline *x = ((const struct weft_control_nodes *)c->above->above->part[0])->exits;
    if (c->at == x->events) return false;
    c->part[0] = &x->bgp->outcome[c->at];
    c->part[1] = &x->event[c->at++];
    return true;
}

static struct weft_result_value bgp_event_edsw(struct weft_result_cursor *c) {
    const struct weft_exit_timeline *x = ((const struct weft_control_nodes *)c->above->above->part[0])->exits;
    return name_node(c, x->edsw[((const struct weft_bgp_event *)c->part[1])->edsw]);
}

WEFT_RESULT_VALUE(bgp_event_links,
                  weft_result_whole(true,
                                    (uint64_t)__builtin_popcountll(((const struct weft_bgp_event *)c->part[1])->links)))
static const char *const bgp_names[] = {"lost", "shut", "back", "link_down", "link_up", "way_down", "way_up"};
#define BGP_OUTCOME(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_bgp_outcome, field, key, kind, __VA_ARGS__)
static const struct weft_result_table bgp_event_table =
    WEFT_RESULT_TABLE_OF("dsf.nodes.bgp.events", LIST, "an event at an exit and what came of it",
                         .next = next_bgp_event, OF_FABRIC, WEFT_RESULT_NUMBER("event", "number of the event"),
                         WEFT_RESULT_AT(1, struct weft_bgp_event, time_ps, "time_ps", TIME, "time of the event"),
                         WEFT_RESULT_CALL(bgp_event_edsw, "edsw", TEXT, "exit to which the event happened"),
                         WEFT_RESULT_OF_NAMES(1, struct weft_bgp_event, what, "what", bgp_names, "what happened"),
                         WEFT_RESULT_CALL(bgp_event_links, "links", COUNT, "links to superspines concerned"),
                         BGP_OUTCOME(last_ps, "convergence_ps", TIME, "until the last RDSW knew"),
                         BGP_OUTCOME(paths, "next_hops", COUNT, "next hops of an aggregate afterwards"),
                         BGP_OUTCOME(updates, "updates", COUNT, "UPDATEs sent because of it"),
                         BGP_OUTCOME(lost_ps, "lost_ps", REAL,
                                     "traffic to other buildings lost meanwhile, in time of all of it", .unit = "ps"));

// --- the answer ---------------------------------------------------------------------------------------------------

#define DSF(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_control_trace, field, key, kind, __VA_ARGS__)
static const struct weft_result_table dsf_table = WEFT_RESULT_TABLE_OF(
    "dsf", OBJECT, "the fabrics of a topology with a DSF",
    WEFT_RESULT_AND(.merged = weft_result_always, WEFT_RESULT_IF(struct weft_control_answer, dsf)),
    DSF(fabrics, "fabrics", COUNT, "fabrics of the topology"),
    DSF(over.groups, "oversubscribed.groups", COUNT, "devices and destinations with more links in than out at the end"),
    DSF(over.worst.in, "oversubscribed.worst_in", COUNT,
        "input links of the most oversubscribed device and destination"),
    DSF(over.worst.out, "oversubscribed.worst_out", COUNT,
        "output links of the most oversubscribed device and destination"));
#define ANSWER(field, kind, ...) WEFT_RESULT(struct weft_control_answer, field, kind, __VA_ARGS__)
static const struct weft_result_table answer_table = WEFT_RESULT_TABLE_OF(
    "trace_control", OBJECT, "the reaction of a scenario's control plane to failures", WEFT_RESULT_SUBJECT,
    WEFT_RESULT_VERSION, ANSWER(scenario, TEXT, "name of the scenario"),
    ANSWER(variant, TEXT, "variant; empty: the scenario has none"), ANSWER(seed, COUNT, "seed of the random numbers"));
const struct weft_answer weft__answer_trace_control = WEFT_ANSWER_OF(
    "trace_control", "weft trace-control: the reaction of a DSF's or Clique's control plane to failures", &answer_table,
    &dsf_table, &burst_table, &withdrawal_table, &step_table, &towards_table, &port_table, &capacity_table,
    &entrance_table, &drained_table, &nodes_table, &fsdb_table, &fsdb_event_table, &bgp_table, &bgp_event_table,
    &weft__clique_table, &weft__clique_bootstrap_table, &weft__clique_tin_table, &weft__clique_controller_table,
    &weft__clique_event_table, &weft__clique_sent_table, &weft__clique_timesync_table, &weft__clique_depth_table,
    &weft__clique_clock_table, &weft__clique_message_table);
