// SPDX-License-Identifier: Apache-2.0
// Clients that use memory of servers, each as a Poisson process: a read (or `reads`, one after another: an index and
// then the value), a write or an atomic operation on a server drawn uniformly. The key-value store of Aquila's figures,
// CliqueMap, is such a client; so is any cache or disaggregated memory.
// Sources: D. Gibson et al., "Aquila", NSDI 2022, section 5 (lookups of 4 KB values, all to all); A. Singhvi et al.,
// "CliqueMap", SIGCOMM 2021 (a lookup of two reads, the index bucket and the value, or of one); M. Marty et al.,
// "Snap", SOSP 2019 (one-sided operations that the remote engine executes without involving its application).
#include <inttypes.h>

#include "generator.h"
#include "weft/dragonfly.h"
#include "weft/param.h"
#include "weft/rma.h"

#define SLOTS_MAX (UINT64_C(1) << 26)
#define OPERATIONS_MAX 4e9

static const char *const transports[] = {"software", "1rma", NULL};
static const char *const vcs[] = {"own", "bulk", NULL};
static const char *const verbs[] = {"read", "write", "atomic", "send", NULL};

const struct weft_param_table weft_rma_processor_table = WEFT_PARAM_TABLE_OF(
    "processor", struct weft_rma_processor, WEFT_PARAM_UNCHECKED,
    WEFT_TIME(
        struct weft_rma_processor, submit_ps, "submit", "1us", "0ns", "1ms",
        "time of the client's processor to begin a request (assumed; 1RMA: 0.17us, 6 M operations a second and core)"),
    WEFT_TIME(struct weft_rma_processor, serve_ps, "serve", "1us", "0ns", "1ms",
              "time of the server's processor per request (assumed); 1RMA needs none"),
    WEFT_TIME(struct weft_rma_processor, complete_ps, "complete", "500ns", "0ns", "1ms",
              "time of the client's processor when the answer has arrived (assumed)"),
    WEFT_TIME(struct weft_rma_processor, sleep_after_ps, "sleep_after", "never", "0ns", "never",
              "after this long idle, a processor enters a low-power state"),
    WEFT_TIME(struct weft_rma_processor, wake_up_ps, "wake_up", "10us", "0ns", "100ms",
              "time to leave that state (assumed)"));

static const char *rma_check(const void *conf, char *text, size_t size) {
    const struct weft_rma_conf *c = conf;
    if (c->transport == WEFT_RMA_1RMA && c->size_bytes > 4096)
        return "transport 1rma carries values of 4096B at most: size is larger";
    if (c->warm_up_ps >= c->duration_ps) return "warm_up is not shorter than duration";
    if (c->verb != WEFT_RMA_READ && c->reads > 1) return "reads is above 1: expected verb: read";
    if (c->verb == WEFT_RMA_SEND && c->transport != WEFT_RMA_1RMA) return "verb send: expected transport: 1rma";
    if (c->verb != WEFT_RMA_SEND && c->itself) return "itself: expected verb: send";
    if (c->slot_ps && c->rate * (double)c->slot_ps > (double)WEFT_PS_PER_S) return "rate is above one operation a slot";
    return NULL;
}
static const struct weft_param_table rma_params = WEFT_PARAM_TABLE_OF(
    "rma", struct weft_rma_conf, .check = rma_check,
    WEFT_TEXT(struct weft_rma_conf, group, "group", "rma", "name in tables and results"),
    WEFT_TEXT(struct weft_rma_conf, clients, "clients", "*", "hosts that send requests"),
    WEFT_TEXT(struct weft_rma_conf, servers, "servers", "*", "hosts that serve requests; no host asks itself"),
    WEFT_CHOICE(struct weft_rma_conf, transport, "transport", "software", transports,
                "messages between the hosts' processors; or 1RMA, in hardware (hosts at TiN chips)"),
    WEFT_CHOICE(struct weft_rma_conf, verb, "verb", "read", verbs,
                "the operation; send: one Req cell without an answer, done when it has arrived (1RMA; a workload of "
                "single cells)"),
    WEFT_BYTES(struct weft_rma_conf, size_bytes, "size", "4096B", "1B", "16MiB",
               "size of the value; 1RMA: at most 4 KiB"),
    WEFT_UINT(struct weft_rma_conf, reads, "reads", "1", "1", "8",
              "reads per lookup, one after another; all but the last are of the index"),
    WEFT_BYTES(struct weft_rma_conf, index_bytes, "index", "512B", "1B", "4096B",
               "bytes of the index per read (assumed)"),
    WEFT_BYTES(struct weft_rma_conf, header_bytes, "header", "64B", "4B", "4096B",
               "bytes of a request and of an answer, beyond the value (assumed)", .needs = "transport: software"),
    WEFT_REAL(struct weft_rma_conf, rate, "rate", "10000", "0.001", "1000000000", "operations per second and client"),
    WEFT_TIME(struct weft_rma_conf, start_ps, "start", "0s", "0s", "1000s", "time at which clients begin"),
    WEFT_TIME(struct weft_rma_conf, duration_ps, "duration", "1ms", "1ns", "1000s",
              "clients begin operations for this long"),
    WEFT_TIME(struct weft_rma_conf, warm_up_ps, "warm_up", "0s", "0s", "1000s",
              "operations that begin in this first part are not in the percentiles"),
    WEFT_TIME(struct weft_rma_conf, slot_ps, "slot", "0ns", "0ns", "1ms",
              "clients begin operations only at multiples of this, at most one each, with equal probability (a "
              "Bernoulli process, as in BookSim 2); 0ns: at any time (a Poisson process)"),
    WEFT_BOOL(struct weft_rma_conf, itself, "itself", "false",
              "a host may ask itself (as in BookSim 2's uniform traffic)", .needs = "verb: send"),
    WEFT_UINT(struct weft_rma_conf, priority, "priority", "3", "0", "7", "802.1Q priority of requests and answers"),
    WEFT_UINT(struct weft_rma_conf, under_way, "under_way", "16", "1", "1024",
              "requests in flight from a client to one server at most; others wait", .needs = "transport: software"),
    WEFT_SECTION(struct weft_rma_conf, processor, "processor", &weft_rma_processor_table, "cost of software"),
    WEFT_CHOICE(struct weft_rma_conf, vcs, "vcs", "own", vcs,
                "its own virtual channels, of the low-latency level; or those of bulk IP", .needs = "transport: 1rma"),
    WEFT_MODEL_PARAM(struct weft_rma_conf, cc, "cc", WEFT_KIND_CC, "1rma",
                     "congestion control of a client, per server and for the client itself",
                     .needs = "transport: 1rma"),
    WEFT_BOOL(
        struct weft_rma_conf, split, "split", "true",
        "remote and local congestion apart; off: one state per client sees all delays and timeouts, and paces all its "
        "requests",
        .needs = "transport: 1rma"));

/// Numbers connections; clients that are also servers do not send requests to themselves.
static enum weft_status number_connections(struct weft_rma *rma, const struct weft_topology *t,
                                           struct weft_arena *arena, struct weft_error *ret_error) {
    uint64_t slots = rma->conf->transport == WEFT_RMA_SOFTWARE ? rma->conf->under_way : 1;
    uint32_t *at = weft_arena_alloc(arena, t->hosts, sizeof *at); // a host's number among the servers, plus one
    for (uint32_t j = 0; j < rma->servers; j++)
        at[rma->server[j]] = j + 1;
    rma->self = weft_arena_alloc(arena, rma->clients, sizeof *rma->self);
    rma->first = weft_arena_alloc(arena, (size_t)rma->clients + 1, sizeof *rma->first);
    for (uint32_t i = 0; i < rma->clients; i++) {
        uint32_t self = rma->conf->itself ? 0 : at[rma->client[i]];
        rma->self[i] = self ? self - 1 : WEFT_NONE;
        if (rma->servers - (self != 0) == 0)
            return WEFT_REFUSE(ret_error, rma->place, "servers '%s' is nobody but client %s; expected other hosts",
                               rma->conf->servers, t->node[t->host[rma->client[i]]].name);
        uint64_t next = (uint64_t)rma->first[i] + rma->servers - (self != 0);
        if (next * slots > SLOTS_MAX)
            return WEFT_REFUSE(ret_error, rma->place,
                               "%" PRIu32 " clients x %" PRIu32 " servers x %" PRIu64
                               " requests outstanding; expected at most %" PRIu64 " in all",
                               rma->clients, rma->servers, slots, SLOTS_MAX);
        rma->first[i + 1] = (uint32_t)next;
    }
    double operations = rma->conf->rate * rma->clients * (double)rma->conf->duration_ps / (double)WEFT_PS_PER_S;
    if (operations < OPERATIONS_MAX) return WEFT_OK;
    return WEFT_REFUSE(ret_error, rma->place, "%" PRIu32 " clients begin about %g operations; expected less than %g",
                       rma->clients, operations, OPERATIONS_MAX);
}

/// 1RMA is between hosts at TiNs of one Clique.
static enum weft_status check_clique(const struct weft_rma *rma, const struct weft_topology *t,
                                     struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft_dragonflies *cliques = weft_dragonflies_new(t, arena);
    uint32_t all = rma->clients + rma->servers, first = WEFT_NONE;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t host = i < rma->clients ? rma->client[i] : rma->server[i - rma->clients];
        uint32_t node = t->port[weft_topology_port(t, t->host[host], 0)->peer].node;
        if (weft_node_is_processor(&t->node[t->host[host]]))
            return WEFT_REFUSE(ret_error, rma->place,
                               "transport 1rma: %s is a control processor; expected hosts, or transport software",
                               t->node[t->host[host]].name);
        uint32_t clique = cliques->n ? cliques->fabric_of_node[node] : WEFT_NONE;
        if (!i) first = clique;
        if (clique == WEFT_NONE || clique != first)
            return WEFT_REFUSE(
                ret_error, rma->place,
                "transport 1rma: %s is at %s, which is not a TiN of the %s; expected hosts of one Clique",
                t->node[t->host[host]].name, t->node[node].name, clique == WEFT_NONE ? "topology" : "same Clique");
    }
    return WEFT_OK;
}

/// A flow in each direction, without a fixed end: its messages are created as operations are.
static enum weft_status connect_flows(struct weft_rma *rma, struct weft_workload *w, struct weft_error *ret_error) {
    struct weft_workload_common common = {
        .group = rma->conf->group,
        .qps = 1,
        .priority = rma->conf->priority,
        .verb = WEFT_VERB_WRITE,
        .repeat = 1,
    };
    enum weft_status status =
        weft__workload_reserve(w, &common, rma->place, 2 * (uint64_t)rma->first[rma->clients], ret_error);
    rma->flow0 = w->flows;
    for (uint32_t i = 0; i < rma->clients; i++)
        for (uint32_t j = 0; j < rma->servers && !status; j++) {
            if (j == rma->self[i]) continue;
            uint32_t a = rma->client[i], b = rma->server[j];
            status = weft_workload_add(w, &common, rma->place, a, b, 1, rma->conf->start_ps, ret_error);
            if (!status) status = weft_workload_add(w, &common, rma->place, b, a, 1, rma->conf->start_ps, ret_error);
        }
    for (uint32_t f = rma->flow0; f < w->flows; f++)
        w->flow[f].messages = w->flow[f].rma = true;
    w->rma_flows += w->flows - rma->flow0;
    return status;
}

static enum weft_status rma_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                     struct weft_workload *w, struct weft_error *ret_error) {
    struct weft_place place = entry->place;
    struct weft_rma rma = {.conf = entry->conf, .entry = w->rmas, .place = place};
    uint32_t *client, *server, groups = w->groups;
    enum weft_status status =
        weft_topology_select_hosts(topology, rma.conf->clients, place, &client, &rma.clients, ret_error);
    if (!status)
        status = weft_topology_select_hosts(topology, rma.conf->servers, place, &server, &rma.servers, ret_error);
    if (status) return status;
    rma.client = client;
    rma.server = server;
    rma.group = weft__workload_group(w, rma.conf->group);
    if (w->groups == groups)
        return WEFT_REFUSE(ret_error, place,
                           "group '%s' is taken: operations are in a group of their own; expected another name",
                           rma.conf->group);
    if (rma.conf->verb == WEFT_RMA_SEND && rma.entry >= WEFT_RMA_SENDS_MAX)
        return WEFT_REFUSE(ret_error, place,
                           "Req cells without an answer can be of one of the first %d workloads of kind rma",
                           WEFT_RMA_SENDS_MAX);
    status = number_connections(&rma, topology, w->arena, ret_error);
    if (!status)
        status = rma.conf->transport == WEFT_RMA_SOFTWARE ? connect_flows(&rma, w, ret_error)
                                                          : check_clique(&rma, topology, w->arena, ret_error);
    if (status) return status;
    struct weft_rma *all = weft_arena_alloc(w->arena, (size_t)w->rmas + 1, sizeof *all); // few
    for (uint32_t k = 0; k < w->rmas; k++)
        all[k] = w->rma[k];
    all[w->rmas++] = rma;
    w->rma = all;
    return WEFT_OK;
}

const struct weft_model weft__workload_rma = WEFT_MODEL_OF(
    WORKLOAD, "rma", "clients that read, write and change memory of servers at a rate, by software or by 1RMA",
    "Gibson et al., Aquila, NSDI 2022; Singhvi et al., CliqueMap, SIGCOMM 2021; Marty et al., Snap, SOSP 2019",
    &rma_params, &(const struct weft_workload_ops){.schedule = rma_schedule}, .draws = true);
