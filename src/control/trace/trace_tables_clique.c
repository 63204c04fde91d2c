// SPDX-License-Identifier: Apache-2.0
// The answer of weft trace-control for a Clique: its state, the bootstrap, transitions with their messages, the clocks.
#include "control/trace/trace_tables.h"

enum { NAME = 128 };

static const struct weft_clique_trace *trace_of(const struct weft_result_cursor *c) {
    return weft__control_answer(c)->clique;
}

static struct weft_result_value name_tin(const struct weft_result_cursor *c, uint32_t tin) {
    return weft_result_words(tin == WEFT_NONE ? NULL : trace_of(c)->clique->tin[tin].name);
}

static bool next_clique(struct weft_result_cursor *c) {
    return weft_result_take(c, trace_of(c), trace_of(c) ? trace_of(c)->clique : NULL);
}

#define CLIQUE(field, key, kind, ...) WEFT_RESULT_AT(1, struct weft_clique, field, key, kind, __VA_ARGS__)
#define STATE(field, key, ...)                                                                                         \
    WEFT_RESULT_NAMED(struct weft_clique_trace, counts.field, "state." key, COUNT, __VA_ARGS__)
const struct weft_result_table weft__clique_table = WEFT_RESULT_TABLE_OF(
    "clique", OBJECT, "the Clique of a topology with TiNs",
    WEFT_RESULT_AND(.merged = weft_result_always, .next = next_clique), CLIQUE(tins, "tins", COUNT, "TiNs"),
    CLIQUE(pods, "pods", COUNT, "pods"), CLIQUE(links, "links", COUNT, "GNet links"),
    STATE(ip_addresses, "ip_addresses", "IP addresses"),
    STATE(ip_flows, "ip_flows", "IP flows, one per address and TiN"),
    STATE(ip_indexed, "ip_flows_indexed", "IP flows with indexed groups, one per subnet and TiN"),
    STATE(gnet_naive, "gnet_flows_by_port", "GNet flows, one per port, VC, destination and TiN"),
    STATE(gnet_classes, "gnet_flows_by_class", "GNet flows, one per class of ports, VC, destination and TiN"),
    STATE(gnet_entries, "gnet_entries", "GNet flows by port that lead somewhere"),
    STATE(gnet_flows, "gnet_flows", "GNet flows by class of ports that lead somewhere"),
    STATE(groups, "gnet_groups", "distinct sets of ports that flows name, of all TiNs"),
    STATE(gnet_escapes, "escape_flows", "GNet flows of escape VCs that lead somewhere"));

// --- bootstrap ----------------------------------------------------------------------------------------------------

#define BOOTSTRAP(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_bootstrap_result, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft__clique_bootstrap_table = WEFT_RESULT_TABLE_OF(
    "clique.bootstrap", OBJECT, "the start from power-on",
    WEFT_RESULT_AND(WEFT_RESULT_IF(struct weft_clique_trace, bootstrap), .null = true),
    BOOTSTRAP(done, "done", COUNT, "TiNs that are programmed"),
    BOOTSTRAP(done_ps, "done_ps", TIME, "until the last TiN is programmed"),
    BOOTSTRAP(waves, "waves", COUNT, "waves: TiNs with a link to the datacenter network, their neighbours, and so on"),
    BOOTSTRAP(retried, "retried", COUNT, "TiNs whose proxy was lost under way"),
    BOOTSTRAP(tin_bytes, "tin_bytes", BYTES, "bytes for a TiN"),
    BOOTSTRAP(pmos_bytes, "pmos_bytes", BYTES, "bytes over PMOS for a TiN behind a proxy"),
    BOOTSTRAP(words, "mos_words", COUNT, "MOS words of all TiNs"),
    BOOTSTRAP(resent, "resent", COUNT, "packets sent again"),
    BOOTSTRAP(least_ps, "tin_least_ps", TIME, "shortest time of a TiN, from its first session until it is programmed"),
    BOOTSTRAP(p50_ps, "tin_p50_ps", TIME, "median time of a TiN"),
    BOOTSTRAP(most_ps, "tin_most_ps", TIME, "longest time of a TiN"));

WEFT_RESULT_NEXT(next_tin, struct weft_bootstrap_result, r,
                 weft_result_take_from(c, trace_of(c)->clique->tins, r->tin, sizeof *r->tin))
WEFT_RESULT_VALUE(tin_name, name_tin(c, (uint32_t)c->at - 1))
WEFT_RESULT_VALUE(tin_proxy, name_tin(c, ((const struct weft_bootstrap_tin *)c->part[0])->proxy))
#define TIN(field, kind, help) WEFT_RESULT(struct weft_bootstrap_tin, field, kind, help, .flags = WEFT_RESULT_SPARSE)
const struct weft_result_table weft__clique_tin_table = WEFT_RESULT_TABLE_OF(
    "clique.bootstrap.tins", LIST, "a TiN", .next = next_tin,
    WEFT_RESULT_CALL(tin_name, "tin", TEXT, "name of the TiN", .flags = WEFT_RESULT_KEY),
    TIN(wave, COUNT, "0: it has a link to the datacenter network; else one more than its proxy's"),
    WEFT_RESULT_CALL(tin_proxy, "proxy", TEXT, "TiN through which this one is programmed", .flags = WEFT_RESULT_SPARSE),
    TIN(tries, COUNT, "sessions begun"), TIN(heard_ps, TIME, "when the controller has its first message"),
    TIN(begun_ps, TIME, "when the TiN's first session begins"), TIN(done_ps, TIME, "when the TiN is programmed"));

// --- events: part 1 of their rows ---------------------------------------------------------------------------------

const char *weft_clique_event_name(const struct weft_clique_event *event) {
    return event->given ? weft_control_whats[event->given->what] : event->up ? "up" : "down";
}

WEFT_RESULT_VALUE(event_do, weft_result_words(weft_clique_event_name(c->part[1])))
WEFT_RESULT_VALUE(event_tin, name_tin(c, ((const struct weft_clique_event *)c->part[1])->tin))
static struct weft_result_value event_link(struct weft_result_cursor *c) {
    const struct weft_clique_event *e = c->part[1];
    const struct weft_topology *t = weft__control_answer(c)->topology;
    char name[NAME];
    if (e->given) return weft_result_words(NULL);
    weft_topology_port_name(t, t->link[e->link].port[0], name, sizeof name);
    return weft_result_words(weft_arena_text(c->arena, name));
}

static struct weft_result_value event_links(struct weft_result_cursor *c) {
    const struct weft_clique_event *e = c->part[1];
    return weft_result_whole(!e->given, e->links);
}

#define EVENT_COLUMNS                                                                                                  \
    WEFT_RESULT_NUMBER("event", "number of the event"),                                                                \
        WEFT_RESULT_AT(1, struct weft_clique_event, time_ps, "time_ps", TIME, "time of the event"),                    \
        WEFT_RESULT_CALL(event_do, "do", TEXT, "what happens", .flags = WEFT_RESULT_KEY),                              \
        WEFT_RESULT_CALL(event_tin, "tin", TEXT, "TiN to which the event happens", .flags = WEFT_RESULT_SPARSE),       \
        WEFT_RESULT_CALL(event_link, "link", TEXT, "port of the first link concerned", .flags = WEFT_RESULT_SPARSE),   \
        WEFT_RESULT_CALL(event_links, "links", COUNT, "links concerned", .flags = WEFT_RESULT_SPARSE)

// --- the controller -----------------------------------------------------------------------------------------------

WEFT_RESULT_NEXT(next_controller, struct weft_clique_trace, trace, weft_result_take(c, trace->sdn, trace))
WEFT_RESULT_VALUE(controller_suspect, name_tin(c, trace_of(c)->sdn->checked ? trace_of(c)->cells.suspect : WEFT_NONE))
#define SDN(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_sdn_result, field, key, kind, __VA_ARGS__)
#define TRACE(field, key, ...) WEFT_RESULT_AT(1, struct weft_clique_trace, field, key, COUNT, __VA_ARGS__)
const struct weft_result_table weft__clique_controller_table = WEFT_RESULT_TABLE_OF(
    "clique.controller", OBJECT, "the controller of the Clique", .next = next_controller,
    SDN(checked, "checked", BOOL,
        "whether every write was followed by a walk over all routes that the write may change"),
    SDN(sram_most, "sram_most_bytes", BYTES, "most memory of a control processor in use"),
    SDN(rpc_most, "rpc_most_bytes", BYTES, "largest RPC"),
    SDN(overflows, "overflows", COUNT, "RPCs for which there was no memory"),
    SDN(messages, "messages", COUNT, "messages sent"),
    SDN(messages_lost, "messages_lost", COUNT, "messages lost with sessions"),
    TRACE(differences, "not_as_meant", "entries and groups of TiNs that differ from the plan at the end"),
    TRACE(cells.cells, "traced_cells", "cells traced through the tables at the end"),
    TRACE(cells.arrived, "traced_arrived", "traced cells that arrived"),
    TRACE(cells.lost, "traced_lost", "traced cells that were lost"),
    TRACE(cells.astray, "traced_astray", "traced cells that left the meant routes"),
    WEFT_RESULT_CALL(controller_suspect, "suspect", TEXT, "TiN to blame for most lost and astray cells",
                     .flags = WEFT_RESULT_SPARSE));

static bool next_event(struct weft_result_cursor *c) {
    if (c->at == trace_of(c)->sdn_events) return false;
    c->part[0] = &trace_of(c)->sdn->outcome[c->at];
    c->part[1] = &trace_of(c)->sdn_event[c->at++];
    return true;
}

static struct weft_result_value event_messages(struct weft_result_cursor *c) {
    const struct weft_sdn_outcome *o = c->part[0];
    uint64_t n = 0;
    for (uint32_t k = 0; k < WEFT_SDN_MESSAGE_KINDS; k++)
        n += o->sent[k].n;
    return weft_result_whole(true, n);
}

#define OUTCOME(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_sdn_outcome, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft__clique_event_table = WEFT_RESULT_TABLE_OF(
    "clique.controller.events", LIST, "an event and what the controller made of it", .next = next_event, EVENT_COLUMNS,
    OUTCOME(noticed_ps, "noticed_ps", TIME, "time until the event is noticed; 0: never"),
    OUTCOME(computed_ps, "computed_ps", TIME, "until new routes are computed; 0: none are"),
    OUTCOME(done_ps, "done_ps", TIME, "until all is programmed; 0: nothing is"),
    OUTCOME(session_ps, "session_ps", TIME, "time without a session; 0: it keeps it"),
    OUTCOME(restored_ps, "restored_ps", TIME, "until the last pair that was cut is well again; 0: none was cut"),
    OUTCOME(batches, "batches", COUNT, "batches of writes"), OUTCOME(tins, "tins", COUNT, "TiNs programmed"),
    OUTCOME(flows, "flows", COUNT, "flows that the routing engine changes"),
    OUTCOME(groups, "groups", COUNT, "groups that the routing engine changes"),
    OUTCOME(writes, "writes", COUNT, "writes of entries and groups in TiNs"),
    OUTCOME(rpcs, "rpcs", COUNT, "RPCs that carry the writes"),
    WEFT_RESULT_CALL(event_messages, "messages", COUNT, "messages sent because of the event"),
    OUTCOME(repaired, "repaired", COUNT, "entries and groups found other than meant when a session was made again"),
    OUTCOME(cut_pairs, "pairs_cut", COUNT, "pairs of TiNs that may lose cells right after the event"),
    OUTCOME(left_pairs, "pairs_left", COUNT, "pairs of TiNs without a route when all is done"),
    OUTCOME(holes, "black_holes", COUNT, "times that a write cut a pair of TiNs that shall have a route"),
    OUTCOME(lost_ps, "lost_ps", REAL, "traffic out of the Clique that is lost, in time of all of it", .unit = "ps"));

static bool next_sent(struct weft_result_cursor *c) {
    const struct weft_sdn_outcome *o = c->above->part[0];
    while (c->at < WEFT_SDN_MESSAGE_KINDS && !o->sent[c->at].n)
        c->at++;
    if (c->at == WEFT_SDN_MESSAGE_KINDS) return false;
    c->part[0] = &o->sent[c->at];
    c->part[1] = &weft_sdn_message_info[c->at++];
    return true;
}

#define SENT(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_sdn_sent, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft__clique_sent_table = WEFT_RESULT_TABLE_OF(
    "clique.controller.events.sent", MAP, "messages of a kind after an event", .next = next_sent,
    WEFT_RESULT_ABOVE_KEY("event", "event", COUNT, "number of the event"),
    WEFT_RESULT_AT(1, struct weft_sdn_message_info, name, "message", TEXT, "kind of message", .flags = WEFT_RESULT_KEY),
    SENT(n, "messages", COUNT, "messages of the kind"),
    SENT(first_ps, "first_ps", TIME, "time from the event to the first arrival"),
    SENT(last_ps, "last_ps", TIME, "time from the event to the last arrival"));

static bool next_message(struct weft_result_cursor *c) {
    const struct weft_sdn_result *r = trace_of(c)->sdn;
    if (c->at == r->messages) return false;
    c->part[0] = &r->message[c->at];
    c->part[1] = &weft_sdn_message_info[r->message[c->at++].kind];
    return true;
}

/// A TiN, except if an inter-block routing controller is at one end.
static struct weft_result_value message_who(struct weft_result_cursor *c) {
    const struct weft_sdn_message *m = c->part[0];
    bool ibr = m->kind == WEFT_SDN_SPINE_STATUS || m->kind == WEFT_SDN_EXIT_WRITE || m->kind == WEFT_SDN_EXIT_NOTICE;
    return ibr ? weft_result_words(weft_arena_format(c->arena, "ibr-%u", m->who)) : name_tin(c, m->who);
}

#define INFO(field, key, ...) WEFT_RESULT_AT(1, struct weft_sdn_message_info, field, key, TEXT, __VA_ARGS__)
const struct weft_result_table weft__clique_message_table = WEFT_RESULT_TABLE_OF(
    "clique.messages", APART, "a message of the control plane", .next = next_message,
    WEFT_RESULT_NUMBER("number", "in the order in which messages are sent"),
    WEFT_RESULT(struct weft_sdn_message, sent_ps, TIME, "when the message is sent"),
    WEFT_RESULT(struct weft_sdn_message, arrives_ps, TIME, "when the message arrives"),
    WEFT_RESULT(struct weft_sdn_message, event, COUNT, "number of the event after which the message is sent"),
    INFO(name, "message", "kind of message"), INFO(from, "from", "part of the control plane that sends the message"),
    INFO(to, "to", "part of the control plane that receives it"),
    WEFT_RESULT_CALL(message_who, "who", TEXT,
                     "TiN, or IBR controller, from which, to which or about which the message is"));

// --- clocks -------------------------------------------------------------------------------------------------------

WEFT_RESULT_VALUE(timesync_primary, name_tin(c, trace_of(c)->timesync->primary))
#define TIMESYNC(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_timesync_result, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft__clique_timesync_table = WEFT_RESULT_TABLE_OF(
    "clique.timesync", OBJECT, "the clocks of the Clique", WEFT_RESULT_IF(struct weft_clique_trace, timesync),
    WEFT_RESULT_CALL(timesync_primary, "primary", TEXT, "TiN whose clock the others follow"),
    TIMESYNC(messages, "messages", COUNT, "messages of all runs"),
    TIMESYNC(ignored, "ignored", COUNT, "messages that were ignored"),
    TIMESYNC(delay_error_ps, "channel_error_ps", TIME, "largest error of a measured channel"));

/// From depth 1 on: depth 0 is the primary.
static bool next_depth(struct weft_result_cursor *c) {
    const struct weft_timesync_result *r = c->above->part[0];
    if (c->at + 1 >= r->depths) return false;
    c->part[0] = &r->depth[++c->at];
    return true;
}

WEFT_RESULT_VALUE(depth_number, weft_result_whole(true, c->at))
#define DEPTH(field, kind, ...) WEFT_RESULT(struct weft_timesync_depth, field, kind, __VA_ARGS__)
const struct weft_result_table weft__clique_depth_table = WEFT_RESULT_TABLE_OF(
    "clique.timesync.depths", LIST, "TiNs of a depth in the tree of clocks", .next = next_depth,
    WEFT_RESULT_CALL(depth_number, "depth", COUNT, "links to the primary in the tree", .flags = WEFT_RESULT_KEY),
    DEPTH(tins, COUNT, "TiNs of the depth"), DEPTH(samples, COUNT, "samples of their errors"),
    DEPTH(mean_ps, REAL, "mean error, with its sign", .unit = "ps"),
    DEPTH(deviation_ps, REAL, "standard deviation of the error", .unit = "ps"),
    DEPTH(p50_ps, TIME, "median size of the error"), DEPTH(p99_ps, TIME, "99th percentile of the size of the error"),
    DEPTH(max_ps, TIME, "largest error"), DEPTH(fresh_p50_ps, TIME, "median size of the error right after a message"),
    DEPTH(fresh_max_ps, TIME, "largest error right after a message"),
    DEPTH(bound_ps, TIME, "bound of the error at any time, without failures"));

static bool next_clock(struct weft_result_cursor *c) {
    if (c->at == trace_of(c)->timesync_events) return false;
    c->part[0] = &trace_of(c)->timesync->outcome[c->at];
    c->part[1] = &trace_of(c)->timesync_event[c->at++];
    return true;
}

#define CLOCK(field, kind, ...) WEFT_RESULT(struct weft_timesync_outcome, field, kind, __VA_ARGS__)
const struct weft_result_table weft__clique_clock_table =
    WEFT_RESULT_TABLE_OF("clique.timesync.events", LIST, "an event and what it does to the clocks", .next = next_clock,
                         EVENT_COLUMNS, CLOCK(signalled, COUNT, "TiNs that signal failure, or whose port does"),
                         CLOCK(moved, COUNT, "TiNs that listen to another neighbour since"),
                         CLOCK(restored_ps, TIME, "until the last of these TiNs follows a clock again; 0: none does"),
                         CLOCK(error_ps, TIME, "largest error until the next event"));
