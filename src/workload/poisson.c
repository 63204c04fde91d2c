// SPDX-License-Identifier: Apache-2.0
// Flows between random pairs: at every chosen host they arrive as a Poisson process, each to another chosen host drawn
// uniformly, or to one of `dst`. The load is payload relative to the rate of the host's own link: rate x load / (8 x
// mean size) flows per second. Every host has its own streams for gaps, sizes and destinations. Destinations are drawn
// by the jump of a consistent hash (Lamping and Veach, arXiv 1406.2294), with random numbers for its hash: a host added
// at the end changes only those flows of the others that now go to it. `pairs`: destinations are drawn once, a host for
// each.
#include <math.h>
#include <string.h>

#include "generator.h"
#include "sizes.h"
#include "weft/param.h"

struct poisson_conf {
    struct weft_workload_common common;
    const char *hosts, *dst, *distribution;
    double load;
    bool pairs;
    weft_rate_bps rate_bps;
    weft_time_ps duration_ps;
};
static const struct weft_param_table poisson_params = WEFT_PARAM_TABLE_OF(
    "poisson", struct poisson_conf, WEFT_PARAM_UNCHECKED, WEFT_WORKLOAD_ROWS(struct poisson_conf),
    WEFT_TEXT(struct poisson_conf, hosts, "hosts", "*", "the hosts, at least 2 unless dst is given"),
    WEFT_TEXT(struct poisson_conf, dst, "dst", "", "hosts that receive; empty: the hosts among themselves"),
    WEFT_BOOL(struct poisson_conf, pairs, "pairs", "false",
              "every host sends to only one other, drawn at random, and receives from only one; not with dst"),
    WEFT_REAL(struct poisson_conf, load, "load", "0.3", "0.000001", "1",
              "payload that a host offers, as a fraction of its link's rate"),
    WEFT_RATE(struct poisson_conf, rate_bps, "rate", "0bps", "0bps", "100Tbps",
              "payload that a host offers, independent of its link; 0bps: by load"),
    WEFT_TIME(struct poisson_conf, duration_ps, "duration", "1ms", "1ns", "1000s", "flows arrive for this long"),
    WEFT_TEXT(struct poisson_conf, distribution, "distribution", "fixed",
              "distribution of sizes: fixed (all of `size`), websearch, fbhdp, alistorage2019, googlerpc2008, or "
              "file:PATH with lines 'bytes part'"));

/// Draws of a stream reserved for one destination; the jump takes about ln(n) + 1 of them.
enum { DRAWS = 128 };

/// Uniform over 0..n-1, from the draws reserved for number `k`.
static uint32_t jump_hash(struct weft_random *random, uint64_t k, uint32_t n) {
    random->drawn = k * DRAWS;
    uint64_t at = 0;
    for (double next = 0; next < n; next = floor((double)(at + 1) / (1 - weft_random_unit(random))))
        at = (uint64_t)next;
    return (uint32_t)at;
}

struct source {
    const uint32_t *host, *dst; ///< dst: NULL, or the receivers
    uint32_t hosts, dsts, position;
    uint32_t partner; ///< the only destination; WEFT_NONE: all are
    double gap_ps;
    struct weft_random arrival, size, destination;
};

static enum weft_status expand_host(const struct poisson_conf *c, struct weft_place place,
                                    const struct weft__sizes *sizes, struct source *s, struct weft_workload *w,
                                    struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    weft_time_ps at = 0;
    for (uint64_t k = 0; !status; k++) {
        double gap = weft_random_exponential(&s->arrival, s->gap_ps);
        if (gap >= (double)(c->duration_ps - at)) break;
        at += (weft_time_ps)llround(gap);
        weft_bytes bytes = sizes->n ? weft__sizes_at(sizes, weft_random_unit(&s->size)) : c->common.size_bytes;
        uint32_t to = s->partner;
        if (to == WEFT_NONE) {
            to = jump_hash(&s->destination, k, s->dst ? s->dsts : s->hosts - 1);
            if (!s->dst) to += to >= s->position; // all except itself
        }
        status = weft_workload_add(w, &c->common, place, s->host[s->position], s->dst ? s->dst[to] : s->host[to], bytes,
                                   c->common.start_ps + at, ret_error);
    }
    return status;
}

static double gap_ps(const struct poisson_conf *c, const struct weft_topology *t, uint32_t host, double mean_bytes) {
    const struct weft_port_info *port = weft_topology_port(t, t->host[host], 0);
    double rate_bps = c->rate_bps ? (double)c->rate_bps : c->load * (double)t->link[port->link].rate_bps;
    double bits_per_ps = rate_bps / (double)WEFT_PS_PER_S;
    return 8 * mean_bytes / bits_per_ps;
}

static enum weft_status check_pairs(const struct poisson_conf *c, struct weft_place place,
                                    struct weft_error *ret_error) {
    if (!c->pairs || !*c->dst) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place, "pairs with dst '%s'; expected one of them", c->dst);
}

static enum weft_status poisson_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                       uint64_t seed, uint32_t entry, struct weft_workload *w,
                                       struct weft_error *ret_error) {
    const struct poisson_conf *c = conf;
    uint32_t *host, *dst = NULL, *partner = NULL, n, n_dst = 0;
    struct weft__sizes sizes = {0};
    enum weft_status status = check_pairs(c, place, ret_error);
    if (!status) status = weft_topology_select_hosts(topology, c->hosts, place, &host, &n, ret_error);
    if (!status && *c->dst) status = weft_topology_select_hosts(topology, c->dst, place, &dst, &n_dst, ret_error);
    if (!status && !strcmp(c->distribution, "fixed") && !c->common.size_bytes)
        return WEFT_REFUSE(ret_error, place,
                           "size: 0B, and a load of endless flows means nothing; expected at least 1B");
    if (!status && strcmp(c->distribution, "fixed"))
        status = weft__sizes_load(c->distribution, place, w->arena, &sizes, ret_error);
    if (status) return status;
    if (n < 2 && !dst)
        return WEFT_REFUSE(ret_error, place, "hosts '%s' is one host; poisson expects at least 2", c->hosts);
    const struct weft_post_conf *post = &c->common.post;
    double each = post->depth ? (double)post->messages * (double)post->size_bytes : (double)c->common.size_bytes;
    double mean = sizes.n ? fmax(1, weft__sizes_mean(&sizes)) : each, expected = 0;
    for (uint32_t i = 0; i < n; i++)
        expected += (double)c->duration_ps / gap_ps(c, topology, host[i], mean);
    status = weft__workload_reserve(w, &c->common, place, expected < 1e18 ? (uint64_t)expected : UINT64_MAX, ret_error);
    if (!status && c->pairs) {
        partner = weft_arena_alloc(w->arena, n, sizeof *partner);
        weft__workload_derange(weft__workload_stream(seed, entry, 0, WEFT_RANDOM_PLACEMENT), partner, n);
    }
    for (uint32_t i = 0; i < n && !status; i++) {
        uint32_t who = dst ? i : host[i]; // with dst, the same flows in whichever network the two sides meet
        struct source s = {
            .host = host,
            .hosts = n,
            .dst = dst,
            .dsts = n_dst,
            .position = i,
            .partner = partner ? partner[i] : WEFT_NONE,
            .gap_ps = gap_ps(c, topology, host[i], mean),
            .arrival = weft__workload_stream(seed, entry, who, WEFT_RANDOM_ARRIVAL),
            .size = weft__workload_stream(seed, entry, who, WEFT_RANDOM_SIZE),
            .destination = weft__workload_stream(seed, entry, who, WEFT_RANDOM_WORKLOAD),
        };
        status = expand_host(c, place, &sizes, &s, w, ret_error);
    }
    return status;
}

const struct weft_model weft__workload_poisson =
    WEFT_MODEL_OF(WORKLOAD, "poisson", "flows between random pairs, at a load, with sizes from a distribution",
                  "the open-loop traffic of the DCTCP and HPCC papers; destinations by jump hash (arXiv 1406.2294)",
                  &poisson_params, &(const struct weft_workload_ops){.expand = poisson_expand}, .draws = true);
