// SPDX-License-Identifier: Apache-2.0
// Centralised traffic engineering: entries of a controller override the hash. Keys are the ingress port and the
// destination's rack (its switch). Switches count what hosts send by key; a controller collects the counts of an
// interval, computes paths for all of them (weft/cspf.h) and sends every switch its entries. A packet without an entry,
// or whose entry's link is out of service, uses another route model. Source: "RDMA over Ethernet for Distributed AI
// Training at Meta Scale", SIGCOMM 2024: CSPF every 30 s, flows by source port and destination prefix, entries that
// override E-ECMP. Assumed: the delays of collector and programming, and that entries without demand are withdrawn.
#include <assert.h>
#include <string.h>

#include "weft/param.h"
#include "weft/route.h"

static const char *const demand_names[] = {"measured", "known", NULL};

struct te_conf {
    struct weft_model_conf fallback;
    weft_time_ps interval_ps, collector_ps, programming_ps;
    uint32_t known;
};

enum { INTERVALS_MAX = 100 }; // intervals for which messages are in flight

static const char *te_check(const void *conf, char *text, size_t size) {
    const struct te_conf *c = conf;
    if (((const struct weft_route_ops *)c->fallback.model->ops)->program)
        return "fallback: te; expected a model that needs no controller";
    if (c->collector_ps / INTERVALS_MAX <= c->interval_ps && c->programming_ps / INTERVALS_MAX <= c->interval_ps)
        return NULL;
    return WEFT_SAY(text, size, "collector_delay or programming_delay is more than %u times interval", INTERVALS_MAX);
}
static const struct weft_param_table te_params = WEFT_PARAM_TABLE_OF(
    "te", struct te_conf, .check = te_check,
    WEFT_TIME(struct te_conf, interval_ps, "interval", "30s", "1us", "1000s",
              "time from one computation of all paths to the next (Meta: 30s)"),
    WEFT_TIME(struct te_conf, collector_ps, "collector_delay", "1s", "1us", "1000s",
              "time from the end of an interval until the controller has its counts and the state of links (assumed)"),
    WEFT_TIME(struct te_conf, programming_ps, "programming_delay", "1s", "1us", "1000s",
              "time from then until the entries are in force: computation, and programming of switches (assumed)"),
    WEFT_CHOICE(struct te_conf, known, "demands", "measured", demand_names,
                "demands measured in the last interval, or known beforehand from the workload: then entries are in "
                "force at once"),
    WEFT_MODEL_PARAM(struct te_conf, fallback, "fallback", WEFT_KIND_ROUTE, "e_ecmp",
                     "route of packets without an entry, or whose entry's link is out of service"));

enum { NO_PORT = UINT16_MAX };

/// Followed by: the bytes counted, [hosts * edges]; the entries, [ports * edges]; rows of ports, [ports]; the
/// fallback's state.
struct te_state {
    uint32_t ports, edges;
    uint32_t hosts; ///< ports with a host
    uint64_t by_entry, by_fallback;
    weft_bytes *bytes;
    uint16_t *out; ///< NO_PORT: no entry
    uint16_t *row; ///< for ports with a host; NO_PORT for others
    void *fallback;
};

static const struct weft_route_ops *fallback_ops(const void *conf) {
    return ((const struct te_conf *)conf)->fallback.model->ops;
}

static uint32_t count_hosts(const struct weft_route_setup *setup) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < setup->ports; i++)
        n += setup->port[i].host;
    return n;
}

static size_t round_up(size_t bytes) {
    return (bytes + 15) / 16 * 16;
}

static size_t bytes_size(const struct weft_route_setup *setup) {
    return round_up((size_t)count_hosts(setup) * setup->edges * sizeof(weft_bytes));
}
static size_t out_size(const struct weft_route_setup *setup) {
    return round_up((size_t)setup->ports * setup->edges * sizeof(uint16_t));
}
static size_t row_size(const struct weft_route_setup *setup) {
    return round_up(setup->ports * sizeof(uint16_t));
}

static size_t te_state_size(const void *conf, const struct weft_route_setup *setup) {
    const struct te_conf *c = conf;
    const struct weft_route_ops *fallback = fallback_ops(conf);
    size_t own = round_up(sizeof(struct te_state)) + bytes_size(setup) + out_size(setup) + row_size(setup);
    return own + (fallback->choose ? fallback->state_size(c->fallback.conf, setup) : 0);
}

static void te_clear(void *state, const void *conf) {
    struct te_state *s = state;
    for (size_t i = 0; i < (size_t)s->ports * s->edges; i++)
        s->out[i] = NO_PORT;
}

static void te_copy(void *state, const void *from) {
    struct te_state *s = state;
    const struct te_state *other = from;
    memcpy(s->out, other->out, (size_t)s->ports * s->edges * sizeof *s->out);
}

static void te_init(void *state, const void *conf, const struct weft_route_setup *setup) {
    const struct te_conf *c = conf;
    const struct weft_route_ops *fallback = fallback_ops(conf);
    struct te_state *s = state;
    char *at = (char *)state + round_up(sizeof *s);
    s->ports = setup->ports;
    s->edges = setup->edges;
    s->bytes = (weft_bytes *)(void *)at;
    s->out = (uint16_t *)(void *)(at += bytes_size(setup));
    s->row = (uint16_t *)(void *)(at += out_size(setup));
    for (uint32_t i = 0; i < setup->ports; i++)
        s->row[i] = setup->port[i].host ? (uint16_t)s->hosts++ : NO_PORT;
    te_clear(state, conf);
    if (!fallback->choose) return;
    s->fallback = at + row_size(setup);
    fallback->init(s->fallback, c->fallback.conf, setup);
}

static uint32_t te_hash_seed(const void *conf, uint64_t seed, uint32_t sw) {
    return fallback_ops(conf)->hash_seed(((const struct te_conf *)conf)->fallback.conf, seed, sw);
}

static uint32_t te_choose(void *state, const void *conf, const struct weft_route_query *query,
                          const struct weft_route_queues *queues) {
    const struct te_conf *c = conf;
    const struct weft_route_ops *fallback = fallback_ops(conf);
    struct te_state *s = state;
    uint32_t in = query->packet->port;
    assert(in < s->ports && query->edge < s->edges);
    if (s->row[in] != NO_PORT) s->bytes[(size_t)s->row[in] * s->edges + query->edge] += query->packet->bytes;
    uint32_t out = s->out[(size_t)in * s->edges + query->edge];
    for (uint32_t i = 0; out != NO_PORT && i < query->ports; i++)
        if (query->port[i] == out) {
            s->by_entry++;
            return i;
        }
    s->by_fallback++;
    return fallback->choose ? fallback->choose(s->fallback, c->fallback.conf, query, queues)
                            : fallback->select(c->fallback.conf, query);
}

static struct weft_route_schedule te_schedule(const void *conf) {
    const struct te_conf *c = conf;
    return (struct weft_route_schedule){c->interval_ps, c->collector_ps, c->programming_ps, c->known};
}

static void te_measured(void *state, const void *conf,
                        void (*on_key)(void *context, uint32_t port, uint32_t edge, weft_bytes bytes), void *context) {
    struct te_state *s = state;
    for (uint32_t port = 0; port < s->ports; port++) {
        if (s->row[port] == NO_PORT) continue;
        weft_bytes *bytes = &s->bytes[(size_t)s->row[port] * s->edges];
        for (uint32_t edge = 0; edge < s->edges; edge++) {
            if (bytes[edge]) on_key(context, port, edge, bytes[edge]);
            bytes[edge] = 0;
        }
    }
}

static void te_enter(void *state, const void *conf, uint32_t in, uint32_t edge, uint32_t out) {
    struct te_state *s = state;
    s->out[(size_t)in * s->edges + edge] = (uint16_t)out;
}

static void te_counts(const void *state, uint64_t *ret_by_entry, uint64_t *ret_by_fallback) {
    const struct te_state *s = state;
    *ret_by_entry = s->by_entry;
    *ret_by_fallback = s->by_fallback;
}

static const struct weft_route_program te_program = {
    .schedule = te_schedule,
    .measured = te_measured,
    .clear = te_clear,
    .enter = te_enter,
    .copy = te_copy,
    .counts = te_counts,
};

const struct weft_model weft__route_te =
    WEFT_MODEL_OF(ROUTE, "te", "a path for what a host sends to a rack, from a controller (CSPF); E-ECMP without one",
                  "Meta, SIGCOMM 2024 (centralised traffic engineering)", &te_params,
                  &(const struct weft_route_ops){
                      .hash_seed = te_hash_seed,
                      .state_size = te_state_size,
                      .init = te_init,
                      .choose = te_choose,
                      .program = &te_program,
                  });
