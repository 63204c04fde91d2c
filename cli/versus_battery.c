// SPDX-License-Identifier: Apache-2.0
// Batteries: workloads that every fabric runs, so that an answer does not depend on one size or one pattern.
//
// quick: an all-to-all and a ring all-reduce, with 4 KiB, 256 KiB and 4 MiB per rank. The first involves every pair and
// therefore hash collisions and incast, the second only neighbours; 4 KiB is latency alone, 4 MiB mostly bandwidth.
//
// full, and the reason for each case:
// - all-to-all, all-reduce, all-gather, reduce-scatter from 1 KiB to 1 GiB, in steps of 16: from latency
//   alone to bandwidth alone, so that borders between fabrics show.
// - moe: an all-to-all in which some ranks get four times as much, as popular experts do: load that no balance spreads.
// - experts: the same as DeepEP's kernels do it: once to each server over the sender's rail, then inside; with
//   a ring of credit for each of several queue pairs a peer. 512 ranks at most: each has lanes for all others.
// - scale-up: an all-reduce over servers of 8, inside by NVLink and between servers rail by rail: both networks.
// - two-jobs: an all-to-all and an all-reduce on alternating servers: how jobs disturb each other.
// - incast: 64 hosts to one, beside flows to other hosts: whether those, the victims, suffer.
// - storage: reads from an eighth of the hosts at random times: many to few, with long answers to short requests.
// - rpc: WebSearch sizes at random times at 30, 60 and 80% load: tails, and how they grow with load.
// - inference: keys and values from one half of the hosts to the other: few at a time, megabytes each, at random times.
// - checkpoint: all hosts write to an eighth of them at once, beside an all-reduce of the others.
// Then one case of each with a link, a switch or a plane down, a link that flaps, and a host that takes its data at a
// quarter of its rate; and steady small flows while a link and a switch fail, for the recovery time.
//
// Everything starts after 5 s: failures happen at 0, and by then the slowest control plane, the controller of a Clique,
// has set new routes. Empty time costs nothing.
#include <string.h>

#include "base/units.h"
#include "versus.h"

struct collective {
    const char *family, *model;
};
static const struct collective collectives[] = {{"all-to-all", "all_to_all"},
                                                {"all-reduce", "all_reduce_ring"},
                                                {"all-gather", "all_gather"},
                                                {"reduce-scatter", "reduce_scatter"}};
enum {
    QUICK = 2,
    FULL = sizeof collectives / sizeof *collectives,
    CASES_MAX = 256,
    FAIL_BYTES = 4194304,
    RANKS_MAX = 512
};
static const weft_bytes quick_sizes[] = {4096, 262144, 4194304};
static const weft_bytes full_sizes[] = {1024, 16384, 262144, 4194304, 67108864, 1073741824};

#define START_PS 5000000000000u // 5 s
static const struct weft_versus_failure failures[] = {
    {WEFT_VERSUS_GONE, WEFT_VERSUS_LINK, 0, 0, 1, "link-gone"},
    {WEFT_VERSUS_GONE, WEFT_VERSUS_SWITCH, 0, 0, 1, "switch-gone"},
    {WEFT_VERSUS_GONE, WEFT_VERSUS_PLANE, 0, 0, 1, "plane-gone"},
    {WEFT_VERSUS_FLAPS, WEFT_VERSUS_LINK, START_PS + 20000000, 200000000, 20, "link-flaps"}, // 20 us; every 200 us
    {WEFT_VERSUS_SLOW, WEFT_VERSUS_DOMAINS, 0, 0, 0, "slow-receiver"},
};
static const struct weft_versus_failure under_traffic[] = {
    {WEFT_VERSUS_FAILS, WEFT_VERSUS_LINK, START_PS + 1000000000, 0, 1, "link-fails"}, // after 1 ms
    {WEFT_VERSUS_FAILS, WEFT_VERSUS_SWITCH, START_PS + 1000000000, 0, 1, "switch-fails"},
};

static const char *size_text(weft_bytes bytes, struct weft_arena *arena) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB"};
    unsigned k = 0;
    for (; k < 3 && bytes % 1024 == 0; k++)
        bytes /= 1024;
    return weft_arena_format(arena, "%llu%s", (unsigned long long)bytes, unit[k]);
}

static struct weft_versus_case *add_case(struct weft_versus *v, const char *name, const char *family,
                                         const char *workload, enum weft_versus_measure by) {
    struct weft_versus_case *c = &v->cases[v->n_cases++];
    *c =
        (struct weft_versus_case){.name = name, .family = family, .workload = workload, .by = by, .healthy = WEFT_NONE};
    return c;
}

/// `start`: ", start: 5s", or nothing.
static void add_collective(struct weft_versus *v, const struct collective *c, weft_bytes bytes, const char *start,
                           struct weft_arena *arena) {
    const char *size = size_text(bytes, arena);
    add_case(v, weft_arena_format(arena, "%s-%s", c->family, size), c->family,
             weft_arena_format(arena, "[{kind: collective, collective: %s, size: %s, group: battery%s}]", c->model,
                               size, start),
             WEFT_VERSUS_TIME)
        ->bytes = bytes;
}

/// Servers that two jobs use alternately: "host-0..7,host-16..23".
static const char *every_other(uint64_t hosts, uint64_t first, struct weft_arena *arena) {
    uint64_t block = hosts >= 32 ? 8 : 1;
    char *text = weft_arena_alloc(arena, hosts * 24, 1);
    size_t used = 0;
    for (uint64_t at = first * block; at + block <= hosts; at += 2 * block)
        used += (size_t)snprintf(text + used, hosts * 24 - used, "%shost-%llu..%llu", used ? "," : "",
                                 (unsigned long long)at, (unsigned long long)(at + block - 1));
    return text;
}

static const char *host_range(uint64_t first, uint64_t last, struct weft_arena *arena) {
    return weft_arena_format(arena, "host-%llu..%llu", (unsigned long long)first, (unsigned long long)last);
}

static void add_mixed(struct weft_versus *v, struct weft_arena *arena) {
    uint64_t n = v->hosts, few = n / 8, sources = n / 2 < 64 ? n / 2 : 64, victims = n / 4 < 7 ? n / 4 : 7;
    const char *others = host_range(few, n - 1, arena), *storage = host_range(0, few - 1, arena);
    add_case(v, "moe", "moe",
             "[{kind: collective, collective: {kind: all_to_all_v, skew: 4}, size: 4MiB, group: moe, start: 5s}]",
             WEFT_VERSUS_TIME);
    uint64_t ranks = n < RANKS_MAX ? n : RANKS_MAX, own = ranks < 256 ? 256 / ranks : 1; // own: experts of a rank
    unsigned gpus = n % 8 ? 1 : 8;                                                       // of a server
    add_case(v, "scale-up", "scale-up",
             weft_arena_format(arena,
                               "[{kind: collective, collective: all_reduce_hierarchical, size: 16MiB, group: scale-up, "
                               "server: {gpus: %u}, start: 5s}]",
                               gpus),
             WEFT_VERSUS_TIME);
    add_case(v, "experts", "experts",
             weft_arena_format(arena,
                               "[{kind: deepep, tokens: 512, experts: %llu, groups: 1, qps_per_peer: 4, notify: off, "
                               "group: experts, hosts: %s, server: {gpus: %u}, start: 5s}]",
                               (unsigned long long)(ranks * own), host_range(0, ranks - 1, arena), gpus),
             WEFT_VERSUS_TIME);
    add_case(
        v, "two-jobs", "two-jobs",
        weft_arena_format(arena,
                          "[{kind: collective, collective: all_to_all, size: 4MiB, group: one, start: 5s, hosts: "
                          "\"%s\"}, {kind: collective, collective: all_reduce_ring, size: 4MiB, group: two, start: 5s, "
                          "hosts: \"%s\"}]",
                          every_other(n, 0, arena), every_other(n, 1, arena)),
        WEFT_VERSUS_TIME);
    add_case(
        v, "incast", "incast",
        weft_arena_format(arena,
                          "[{kind: incast, group: incast, sources: %s, dst: host-0, size: 1MiB, start: 5s}, {kind: "
                          "flow, group: victims, src: %s, dst: %s, size: 1MiB, start: 5s}]",
                          host_range(n - sources, n - 1, arena), host_range(n / 4, n / 4 + victims - 1, arena),
                          host_range(1, victims, arena)),
        WEFT_VERSUS_VICTIMS);
    add_case(
        v, "storage", "storage",
        weft_arena_format(arena,
                          "[{kind: poisson, group: storage, verb: read, hosts: %s, dst: %s, size: 1MiB, load: 0.08, "
                          "duration: 500us, start: 5s}]",
                          others, storage),
        WEFT_VERSUS_P99);
    static const unsigned loads[] = {30, 60, 80};
    for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++)
        add_case(
            v, weft_arena_format(arena, "rpc-load-%u", loads[i]), "rpc",
            weft_arena_format(arena,
                              "[{kind: poisson, group: rpc, distribution: websearch, load: %g, duration: 500us, start: "
                              "5s}]",
                              loads[i] / 100.0),
            WEFT_VERSUS_P99)
            ->load_percent = loads[i];
    add_case(v, "inference", "inference",
             weft_arena_format(arena,
                               "[{kind: inference, group: inference, model: {kind: llama3-8b, layers: 4}, arrivals: "
                               "{requests: %llu, rate: %llu, input: 1024, input_spread: 1}, prefill: {hosts: %s}, "
                               "decode: {hosts: %s}, gpu: {peak: 10000}, router: load, transfer: {kind: push, merge: "
                               "0}, start: 5s}]",
                               (unsigned long long)(2 * n), (unsigned long long)(300 * n),
                               host_range(n / 2, n - 1, arena), host_range(0, n / 2 - 1, arena)),
             WEFT_VERSUS_P99);
    add_case(
        v, "checkpoint", "checkpoint",
        weft_arena_format(arena,
                          "[{kind: periodic, group: checkpoint, src: %s, dst: %s, size: 4MiB, start: 5s}, {kind: "
                          "collective, collective: all_reduce_ring, group: training, size: 16MiB, hosts: %s, start: "
                          "5s}]",
                          others, storage, others),
        WEFT_VERSUS_TIME);
}

static void add_failure(struct weft_versus *v, uint32_t healthy, const struct weft_versus_failure *f,
                        struct weft_arena *arena) {
    const struct weft_versus_case h = v->cases[healthy];
    struct weft_versus_case *c =
        add_case(v, weft_arena_format(arena, "%s-%s", h.name, f->name), h.name, h.workload, h.by);
    c->failure = f;
    c->healthy = healthy;
}

/// One case of each family again, with each failure. `bytes`: for collectives.
static void add_failures(struct weft_versus *v, uint32_t from, weft_bytes bytes, struct weft_arena *arena) {
    uint32_t until = v->n_cases;
    for (uint32_t c = from; c < until; c++) {
        bool one = v->cases[c].bytes ? v->cases[c].bytes == bytes : strcmp(v->cases[c].family, "rpc") != 0;
        one |= !strcmp(v->cases[c].name, "rpc-load-60");
        for (unsigned i = 0; i < sizeof failures / sizeof *failures && one; i++)
            add_failure(v, c, &failures[i], arena);
    }
    for (unsigned i = 0; i < sizeof under_traffic / sizeof *under_traffic; i++)
        add_case(v, weft_arena_format(arena, "recovery-%s", under_traffic[i].name), "recovery",
                 "[{kind: poisson, group: small, size: 64KiB, load: 0.02, duration: 20ms, start: 5s}]",
                 WEFT_VERSUS_RECOVERY)
            ->failure = &under_traffic[i];
}

static enum weft_status add_full(struct weft_versus *v, const weft_bytes *within, struct weft_arena *arena,
                                 struct weft_error *ret_error) {
    uint32_t from = v->n_cases;
    weft_bytes failing = 0;
    if (v->hosts < 16)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--battery full"},
                           "%s are too few; expected 16 at least", weft__counted(v->hosts, "host").text);
    for (unsigned c = 0; c < FULL; c++)
        for (unsigned i = 0; i < sizeof full_sizes / sizeof *full_sizes; i++) {
            if (full_sizes[i] < within[0] || full_sizes[i] > within[1]) continue;
            add_collective(v, &collectives[c], full_sizes[i], ", start: 5s", arena);
            if (!failing || full_sizes[i] <= FAIL_BYTES) failing = full_sizes[i];
        }
    add_mixed(v, arena);
    add_failures(v, from, failing, arena);
    return WEFT_OK;
}

/// Only cases that match, and those that they are compared with. False: none matches.
static bool choose_cases(struct weft_versus *v, uint32_t from, const char *pattern, struct weft_arena *arena) {
    bool *kept = weft_arena_alloc(arena, v->n_cases, sizeof *kept), any = false;
    uint32_t *now = weft_arena_alloc(arena, v->n_cases, sizeof *now), n = from;
    for (uint32_t c = from; c < v->n_cases; c++) {
        if (!weft_glob_match(pattern, v->cases[c].name)) continue;
        kept[c] = any = true;
        if (v->cases[c].healthy != WEFT_NONE) kept[v->cases[c].healthy] = true;
    }
    for (uint32_t c = from; c < v->n_cases; c++) {
        if (!kept[c]) continue;
        now[c] = n;
        v->cases[n] = v->cases[c];
        if (v->cases[n].healthy != WEFT_NONE) v->cases[n].healthy = now[v->cases[n].healthy];
        n++;
    }
    v->n_cases = n;
    return any;
}

/// "1KiB..64MiB"
static bool read_sizes(const char *text, weft_bytes *ret_within, struct weft_arena *arena) {
    char why[128];
    const char *dots = strstr(text, "..");
    return dots &&
           weft__quantity_parse(WEFT__BYTES, weft_arena_format(arena, "%.*s", (int)(dots - text), text), &ret_within[0],
                                why, sizeof why) &&
           weft__quantity_parse(WEFT__BYTES, dots + 2, &ret_within[1], why, sizeof why) &&
           ret_within[0] <= ret_within[1];
}

static enum weft_status add_named(const char *name, const weft_bytes *within, struct weft_versus *v,
                                  struct weft_arena *arena, struct weft_error *ret_error) {
    if (!strcmp(name, "full")) return add_full(v, within, arena, ret_error);
    if (strcmp(name, "quick") != 0)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--battery"}, "'%s': expected quick or full", name);
    for (unsigned c = 0; c < QUICK; c++)
        for (unsigned i = 0; i < sizeof quick_sizes / sizeof *quick_sizes; i++)
            if (quick_sizes[i] >= within[0] && quick_sizes[i] <= within[1])
                add_collective(v, &collectives[c], quick_sizes[i], "", arena);
    return WEFT_OK;
}

/// The cases at one number of hosts.
static enum weft_status add_at(const struct versus_battery *b, const weft_bytes *within, struct weft_versus *v,
                               struct weft_arena *arena, struct weft_error *ret_error) {
    uint32_t from = v->n_cases;
    struct weft_versus_case *all = weft_arena_alloc(arena, CASES_MAX, sizeof *all);
    memcpy(all, v->cases, v->n_cases * sizeof *all);
    v->cases = all;
    enum weft_status status = add_named(b->name, within, v, arena, ret_error);
    if (!status && b->cases && !choose_cases(v, from, b->cases, arena))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--cases"},
                           "'%s': no case of the battery is called so; docs/versus-batteries.md lists them", b->cases);
    return status;
}

enum weft_status versus_battery_add(const struct versus_battery *b, struct weft_versus *v, struct weft_arena *arena,
                                    struct weft_error *ret_error) {
    weft_bytes within[2] = {0, UINT64_MAX};
    uint32_t from = v->n_cases;
    if (b->sizes && !read_sizes(b->sizes, within, arena))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--sizes"},
                           "'%s': expected the smallest and the largest size, such as 1KiB..64MiB", b->sizes);
    enum weft_status status = WEFT_OK;
    struct weft_versus first = {0};
    for (uint32_t s = 0; s < v->scales && !status; s++) {
        struct weft_versus at = weft_versus_at(v, s);
        status = add_at(b, within, &at, arena, ret_error);
        if (!s) first = at;
        for (uint32_t c = from; c < at.n_cases && !status; c++) {
            struct weft_versus_case *of = &first.cases[c];
            if (!s) of->at_scale = weft_arena_alloc(arena, v->scales, sizeof *of->at_scale);
            of->at_scale[s] = at.cases[c].workload;
        }
    }
    v->cases = first.cases;
    v->n_cases = first.n_cases;
    return status;
}
