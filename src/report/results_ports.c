// SPDX-License-Identifier: Apache-2.0
// Results of ports and of the links between them.
#include <string.h>

#include "results/rows.h"
#include "weft/check.h"

enum { NAME = 256 };

// --- ports --------------------------------------------------------------------------------------------------------

struct port {
    char name[NAME];
    const char *node, *peer, *layer, *peer_layer;
    uint8_t tier;
};

/// Part 0 is the port, part 1 its link, part 2 its names.
static bool next_port(struct weft_result_cursor *c) {
    const struct weft_topology *t = c->run->topology;
    struct port *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    if (c->at == t->ports) return false;
    const struct weft_port_info *port = &t->port[c->at];
    weft_topology_port_name(t, (uint32_t)c->at++, row->name, sizeof row->name);
    const struct weft_node_info *node = &t->node[port->node], *peer = &t->node[t->port[port->peer].node];
    row->node = node->name;
    row->layer = node->layer;
    row->tier = node->tier;
    row->peer = peer->name;
    row->peer_layer = peer->layer;
    c->part[0] = port;
    c->part[1] = &t->link[port->link];
    c->part[2] = row;
    return true;
}

WEFT_RESULT_VALUE(port_name, WEFT__RESULT_TEXT(((const struct port *)c->part[2])->name))

#define PORT_KEY                                                                                                       \
    WEFT_RESULT_CALL(weft_result_index, "port", COUNT, "number of the port", .references = "ports",                    \
                     .flags = WEFT_RESULT_KEY)
const struct weft_result_table weft__results_ports = WEFT_RESULT_TABLE_OF(
    "ports", APART, "a port", .next = next_port,
    WEFT_RESULT_CALL(weft_result_index, "port", COUNT, "number of the port", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(port_name, "name", TEXT, "name of the port: leaf-0/4"),
    WEFT_RESULT_AT(2, struct port, node, "node", TEXT, "name of the port's node"),
    WEFT_RESULT_AT(2, struct port, layer, "layer", TEXT, "layer of the port's node: host, leaf, spine ..."),
    WEFT_RESULT_AT(2, struct port, tier, "tier", COUNT,
                   "tier of the port's node: 0 a host, 1 switches next to hosts, and so on"),
    WEFT_RESULT_AT(2, struct port, peer, "peer", TEXT, "name of the node at the other end of the link"),
    WEFT_RESULT_AT(2, struct port, peer_layer, "peer_layer", TEXT, "layer of the node at the other end of the link"),
    WEFT_RESULT_NAMED(struct weft_port_info, peer, "peer_port", COUNT, "port at the other end of the link",
                      .references = "ports"),
    WEFT_RESULT_AT(1, struct weft_link_info, rate_bps, "rate_bps", RATE, "rate of the link"),
    WEFT_RESULT_AT(1, struct weft_link_info, delay_ps, "delay_ps", TIME, "delay of the link"));

// --- counters -----------------------------------------------------------------------------------------------------

static bool next_counters(struct weft_result_cursor *c) {
    static const struct weft_counters zero;
    const struct weft_outcome *o = c->run->outcome;
    for (size_t n = (size_t)o->ports * WEFT_PRIORITIES; c->at < n;) {
        uint32_t port = (uint32_t)(c->at / WEFT_PRIORITIES), priority = (uint32_t)(c->at % WEFT_PRIORITIES);
        c->at++;
        c->part[0] = weft_outcome_at(o, port, priority);
        if (memcmp(c->part[0], &zero, sizeof zero) != 0) return true;
    }
    return false;
}

WEFT_RESULT_VALUE(counters_port, WEFT__RESULT_WHOLE((c->at - 1) / WEFT_PRIORITIES))
WEFT_RESULT_VALUE(counters_priority, WEFT__RESULT_WHOLE((c->at - 1) % WEFT_PRIORITIES))

static const struct weft_result_column port_counters_columns[] = {
    WEFT_RESULT_CALL(counters_port, "port", COUNT, "number of the port", .references = "ports",
                     .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(counters_priority, "priority", COUNT, "priority", .flags = WEFT_RESULT_KEY),
#define X(field, type, sai, help) WEFT_RESULT(struct weft_counters, field, type, help ": " sai),
    WEFT_PRIORITY_COUNTERS(X)
#undef X
};
const struct weft_result_table weft__results_port_counters = WEFT_RESULT_TABLE(
    "port_counters", APART,
    "a port and priority that counted anything; names in capitals are those of SAI where it has one, %u the "
    "priority",
    port_counters_columns, .next = next_counters, .was = "counters");

WEFT_RESULT_PRESENT(has_port_flows, run->outcome->port_flows)

static bool is_between_switches(const struct weft_topology *t, uint64_t port) {
    return t->node[t->port[port].node].role == WEFT_NODE_SWITCH &&
           t->node[t->port[t->port[port].peer].node].role == WEFT_NODE_SWITCH;
}

static bool next_port_flows(struct weft_result_cursor *c) {
    const struct weft_outcome *o = c->run->outcome;
    while (c->at < o->ports && !is_between_switches(c->run->topology, c->at))
        c->at++;
    if (c->at == o->ports) return false;
    c->part[0] = &o->port_flows[c->at++];
    return true;
}

struct flows {
    uint32_t flows;
};
const struct weft_result_table weft__results_port_flows =
    WEFT_RESULT_TABLE_OF("port_flows", APART, "a port between switches, with run.count_flows",
                         WEFT_RESULT_AND(.next = next_port_flows, .present = has_port_flows), PORT_KEY,
                         WEFT_RESULT(struct flows, flows, COUNT, "queue pairs whose data the port sent"));

// --- samples ------------------------------------------------------------------------------------------------------

WEFT_RESULT_ROWS(next_sample, c->run->outcome->samples, c->run->outcome->sample)

WEFT_RESULT_VALUE(sample_flows, (struct weft_result_value){.known = c->run->outcome->port_flows,
                                                           .whole = ((const struct weft_sample *)c->part[0])->flows})

WEFT_RESULT_VALUE(sample_credit, (struct weft_result_value){
                                     .known = ((const struct weft_sample *)c->part[0])->credit_permille > 0,
                                     .real = ((const struct weft_sample *)c->part[0])->credit_permille / 1000.0})

#define SAMPLE(field, kind, ...) WEFT_RESULT(struct weft_sample, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_series = WEFT_RESULT_TABLE_OF(
    "series", APART, "a sample of a port and priority, every run.sample_interval", .next = next_sample,
    SAMPLE(time_ps, TIME, "when the sample was taken"),
    SAMPLE(port, COUNT, "number of the port", .references = "ports"),
    SAMPLE(priority, COUNT, "priority; all of a fabric link is priority 0"),
    SAMPLE(queue_bytes, BYTES, "bytes in the egress queue"),
    SAMPLE(ingress_bytes, BYTES,
           "bytes that the ingress priority group occupies in the buffer; of a fabric link, in its FIFOs"),
    SAMPLE(tx_bytes, BYTES, "bytes sent since the sample before"),
    SAMPLE(paused, BOOL, "whether the port may not send the priority"),
    WEFT_RESULT_CALL(sample_flows, "flows", COUNT,
                     "queue pairs that sent data since the sample before, with run.count_flows"),
    WEFT_RESULT_CALL(sample_credit, "credit_used", REAL,
                     "largest share of a virtual channel's credit in use, of a GNet link; null: none in use"));

// --- links, as LLDP and DCBX see them -----------------------------------------------------------------------------

WEFT_RESULT_PRESENT(has_links, run->outcome->links)
WEFT_RESULT_ROWS(next_link, c->run->topology->links, c->run->outcome->links)

#define LINK_COLUMNS                                                                                                   \
    WEFT_RESULT_CALL(weft_result_index, "link", COUNT, "number of the link", .flags = WEFT_RESULT_KEY),                \
        WEFT_RESULT(struct weft_link_dcbx, lossless, PRIORITIES, "priorities with PFC in force at both ends")
const struct weft_result_table weft__results_links =
    WEFT_RESULT_TABLE_OF("links", LIST, "a link, if anybody speaks LLDP",
                         WEFT_RESULT_AND(.next = next_link, .present = has_links), LINK_COLUMNS);

/// An end, with the name of its port.
struct end {
    uint64_t link, port;
    const char *name;
    bool speaks, hears;
    uint8_t configured, in_force;
    uint64_t sent, received;
    char text[NAME];
};

static bool next_end(struct weft_result_cursor *c) {
    const struct weft_topology *t = c->run->topology;
    const struct weft_link_dcbx *l = c->above->part[0];
    struct end *e = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *e);
    if (c->at == 2) return false;
    uint64_t k = c->at++, link = c->above->at - 1;
    *e = (struct end){
        link,       t->link[link].port[k], e->text, l->speaks[k], l->hears[k], l->configured[k], l->in_force[k],
        l->sent[k], l->received[k],        ""};
    weft_topology_port_name(t, (uint32_t)e->port, e->text, sizeof e->text);
    c->part[0] = e;
    return true;
}

#define LINK_ABOVE(T)                                                                                                  \
    WEFT_RESULT(T, link, COUNT, "number of the link", .references = "links",                                           \
                .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE)
#define END(field, key, kind, ...) WEFT_RESULT_NAMED(struct end, field, key, kind, __VA_ARGS__)
#define LINK_END_COLUMNS                                                                                               \
    LINK_ABOVE(struct end),                                                                                            \
        END(port, "port_number", COUNT, "number of the port", .references = "ports",                                   \
            .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES, .was = "port"),                                             \
        END(name, "port", TEXT, "name of the port"), END(speaks, "speaks", BOOL, "whether the port sends LLDP"),       \
        END(hears, "hears", BOOL, "whether the port has heard the other end's LLDP, and that has not expired"),        \
        END(configured, "configured", PRIORITIES, "priorities with PFC by configuration"),                             \
        END(in_force, "in_force", PRIORITIES, "priorities with PFC in force: the end pauses for them and obeys"),      \
        END(sent, "lldp_sent", COUNT, "LLDP frames sent"),                                                             \
        END(received, "lldp_received", COUNT, "LLDP frames received")
const struct weft_result_table weft__results_link_ends = WEFT_RESULT_TABLE_OF(
    "links.ends", LIST, "an end of a link", WEFT_RESULT_AND(.next = next_end, .was = "dcbx"), LINK_END_COLUMNS);

struct difference {
    uint64_t link, number, port;
    const char *at;
    char text[NAME];
};

/// Part 0 is the note, part 1 its position.
static bool next_difference(struct weft_result_cursor *c) {
    const struct weft_link_dcbx *l = c->above->part[0];
    struct difference *d = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *d);
    if (c->at == l->notes) return false;
    d->link = c->above->at - 1;
    d->number = c->at;
    d->port = l->note[c->at].port;
    d->at = d->text;
    weft_topology_port_name(c->run->topology, l->note[c->at].port, d->text, sizeof d->text);
    c->part[0] = &l->note[c->at++];
    c->part[1] = d;
    return true;
}

#define NOTE(field, kind, ...) WEFT_RESULT(struct weft_link_note, field, kind, __VA_ARGS__)
#define PLACE(field, key, kind, ...) WEFT_RESULT_AT(1, struct difference, field, key, kind, __VA_ARGS__)
#define LINK_DIFFERENCE_COLUMNS                                                                                        \
    PLACE(link, "link", COUNT, "number of the link", .references = "links",                                            \
          .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE),                                                               \
        PLACE(number, "number", COUNT, "number of the difference, from 0",                                             \
              .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES),                                                          \
        PLACE(port, "port_number", COUNT, "number of the port that sees the difference", .references = "ports",        \
              .flags = WEFT_RESULT_TABLES, .was = "port"),                                                             \
        PLACE(at, "at", TEXT, "name of the port that sees the difference"),                                            \
        NOTE(priorities, PRIORITIES, "priorities that differ"), NOTE(found, TEXT, "what differs"),                     \
        NOTE(consequence, TEXT, "effect of the difference on the link")
const struct weft_result_table weft__results_link_differences =
    WEFT_RESULT_TABLE_OF("links.differences", LIST, "a difference between the ends of a link",
                         WEFT_RESULT_AND(.next = next_difference, .was = "dcbx_differences"), LINK_DIFFERENCE_COLUMNS);

// --- the same for each variant of weft check --links ----------------------------------------------------------------

/// Part 2 is the variant.
static bool next_checked_link(struct weft_result_cursor *c) {
    const struct weft_check_variant *v = c->above->part[0];
    c->run = v->run;
    c->part[2] = v;
    return v->run && next_link(c);
}

static bool next_checked_end(struct weft_result_cursor *c) {
    c->part[2] = c->above->part[2];
    return next_end(c);
}

static bool next_checked_difference(struct weft_result_cursor *c) {
    c->part[2] = c->above->part[2];
    return next_difference(c);
}

#define VARIANT                                                                                                        \
    WEFT_RESULT_AT(2, struct weft_check_variant, variant, "variant", TEXT, "name of the variant",                      \
                   .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE)
const struct weft_result_table weft__check_links =
    WEFT_RESULT_TABLE_OF("variants.links_by_dcbx", LIST, "a link, as DCBX would negotiate it (--links)",
                         WEFT_RESULT_AND(.next = next_checked_link, .sparse = true), VARIANT, LINK_COLUMNS);
const struct weft_result_table weft__check_link_ends = WEFT_RESULT_TABLE_OF(
    "variants.links_by_dcbx.ends", LIST, "an end of a link", .next = next_checked_end, VARIANT, LINK_END_COLUMNS);
const struct weft_result_table weft__check_link_differences =
    WEFT_RESULT_TABLE_OF("variants.links_by_dcbx.differences", LIST, "a difference between the ends of a link",
                         .next = next_checked_difference, VARIANT, LINK_DIFFERENCE_COLUMNS);
