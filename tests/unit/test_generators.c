// SPDX-License-Identifier: Apache-2.0
// Every workload generator, from the user's text to flows.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "own_memory.h"
#include "topologies.h"
#include "weft/workload.h"

struct fixture {
    struct weft_arena *arena;
    struct built built;
    struct weft_error error;
};

/// A model as the user writes it: "{kind: incast, ...}".
static enum weft_status load_model(enum weft_model_kind kind, const char *text, struct weft_arena *arena,
                                   struct weft_model_conf *ret_model, struct weft_error *ret_error) {
    const struct weft_param row = {.name = "model", .type = WEFT_PARAM_MODEL, .model_kind = kind};
    const struct weft_param_table table = {.name = "test", .rows = &row, .n = 1, .conf_size = sizeof *ret_model};
    struct weft_tree *tree = NULL;
    char wrapped[512];
    int n = snprintf(wrapped, sizeof wrapped, "{model: %s}", text);
    assert_int_equal(weft_tree_parse("s.yaml", wrapped, (size_t)n, arena, &tree, ret_error), WEFT_OK);
    return weft_params_load(&table, tree, ret_model, arena, ret_error);
}

/// `hosts` hosts, host-0 up, on one switch with 200 Gbit/s links.
static void build(struct fixture *f, unsigned hosts) {
    char text[128];
    snprintf(text, sizeof text, "topology: {kind: single, hosts: %u, rate: 200Gbps}", hosts);
    if (f->built.arena) weft_arena_free(f->built.arena);
    f->built = build_text(text);
    if (!f->built.t) fail_msg("%s", f->built.error.text);
}

static int setup(void **state) {
    static struct fixture f;
    memset(&f, 0, sizeof f);
    f.arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    build(&f, 8);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    weft_arena_free(f->built.arena);
    weft_arena_free(f->arena);
    return 0;
}

/// A workload of one entry, or NULL and f->error.
static struct weft_workload *expand(struct fixture *f, const char *text, uint64_t seed) {
    struct weft_workload *w = NULL;
    struct weft_model_conf entry;
    memset(&f->error, 0, sizeof f->error);
    if (!load_model(WEFT_KIND_WORKLOAD, text, f->arena, &entry, &f->error))
        weft_workload_new(&entry, 1, f->built.t, seed, WEFT_TIME_NEVER, f->arena, &w, &f->error);
    return w;
}

static struct weft_workload *good(struct fixture *f, const char *text) {
    struct weft_workload *w = expand(f, text, 1);
    if (!w) fail_msg("%s", f->error.text);
    return w;
}

static void bad(struct fixture *f, const char *text, const char *says) {
    assert_null(expand(f, text, 1));
    assert_int_equal(f->error.status, WEFT_ERROR_INPUT);
    assert_non_null(strstr(f->error.text, "s.yaml:1:"));
    if (!strstr(f->error.text, says)) fail_msg("'%s' does not say '%s'", f->error.text, says);
}

static void is_flow(const struct weft_workload *w, uint32_t i, uint32_t src, uint32_t dst) {
    assert_true(i < w->flows);
    assert_int_equal(w->flow[i].src, src);
    assert_int_equal(w->flow[i].dst, dst);
}

static void flow(void **state) {
    struct fixture *f = *state;
    struct weft_workload *w = good(f, "{kind: flow, src: host-0..2, dst: 'host-5,host-4,host-3', size: 5MB, start: 2us,"
                                      " group: g, priority: 4, qps: 2, verb: read}");
    assert_int_equal(w->flows, 3);
    is_flow(w, 0, 0, 5);
    is_flow(w, 1, 1, 4);
    is_flow(w, 2, 2, 3);
    assert_int_equal(w->flow[2].bytes, 5000000);
    assert_int_equal(w->flow[2].start_ps, 2000000);
    assert_int_equal(w->flow[2].priority, 4);
    assert_int_equal(w->flow[2].qps, 2);
    assert_int_equal(w->flow[2].verb, WEFT_VERB_READ);
    assert_string_equal(w->group[w->flow[2].group], "g");
    w = good(f, "{kind: flow, src: host-7, dst: host-0..1}");
    assert_int_equal(w->flows, 2);
    is_flow(w, 1, 7, 1);
    bad(f, "{kind: flow, src: host-0..1, dst: host-3..5}", "2 hosts and dst 'host-3..5' is 3");
    w = good(f, "{kind: flow, src: host-0..1, dst: host-3}");
    assert_int_equal(w->flows, 2);
    is_flow(w, 1, 1, 3);
    bad(f, "{kind: flow, src: host-0..1, dst: host-3, draw: 3}", "draw is 3 of 2 pairs");
    bad(f, "{kind: flow, src: host-2, dst: host-2}", "itself");
    bad(f, "{kind: flow, src: host-9, dst: host-2}", "host-9");
    bad(f, "{kind: flow, src: host-1}", "dst");
    bad(f, "{kind: flow, src: host-1, dst: host-2, size: 0B}",
        "flows of size 0, which have no end; expected run.until");
    bad(f, "{kind: poisson, size: 0B}", "size: 0B");
    bad(f, "{kind: flow, src: host-1, dst: host-2, size: -5MB}", "size");
    bad(f, "{kind: flow, src: host-1, dst: host-2, size: 1000000TB}", "size");
    bad(f, "{kind: flow, src: host-1, dst: host-2, repeat: 1099511627776}", "repeat");
    bad(f, "{kind: flow, src: host-0, dst: host-1, repeat: 10000, interval: 1000s}", "1000000 s");
}

/// Any two of six pairs, in order, each equally often; the seed decides.
static void flows_are_drawn(void **state) {
    enum { SEEDS = 600, PAIRS = 6, WANTED = 2 };
    struct fixture *f = *state;
    unsigned taken[PAIRS] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct weft_workload *w = expand(f, "{kind: flow, src: host-0..5, dst: host-7, draw: 2}", seed);
        assert_non_null(w);
        assert_int_equal(w->flows, WANTED);
        assert_true(w->flow[0].src < w->flow[1].src && w->flow[1].src < PAIRS);
        for (uint32_t i = 0; i < WANTED; i++)
            taken[w->flow[i].src]++;
    }
    for (unsigned i = 0; i < PAIRS; i++) // 200 expected, standard deviation 11.5
        assert_in_range(taken[i], 200 - 46, 200 + 46);
}

/// Starts are spread over the jitter, each flow's its own; without it they are as said.
static void starts_jitter(void **state) {
    struct fixture *f = *state;
    double sum = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct weft_workload *w =
            expand(f, "{kind: incast, sources: host-1..2, dst: host-0, start: 5us, jitter: 1us}", seed);
        assert_non_null(w);
        assert_in_range(w->flow[0].start_ps, 5000000, 6000000);
        assert_int_not_equal(w->flow[0].start_ps, w->flow[1].start_ps);
        sum += (double)(w->flow[0].start_ps - 5000000);
    }
    assert_in_range((uint64_t)(sum / 100), 400000, 600000); // 500000 expected, standard deviation 29000
}

static void incast(void **state) {
    struct fixture *f = *state;
    struct weft_workload *w = good(f, "{kind: incast, sources: host-*, dst: host-3}");
    assert_int_equal(w->flows, 7);
    for (uint32_t i = 0; i < 7; i++)
        is_flow(w, i, i + (i >= 3), 3);
    bad(f, "{kind: incast, sources: host-*, dst: host-1..2}", "exactly one");
    bad(f, "{kind: incast, sources: host-1, dst: host-1}", "no host but dst");
}

static void periodic_in_turn(void **state) {
    struct fixture *f = *state;
    struct weft_workload *w = good(f, "{kind: periodic, src: host-0..2, dst: host-6..7, start: 1us, repeat: 3, "
                                      "interval: 10us}");
    assert_int_equal(w->flows, 9);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t r = 0; r < 3; r++) {
            is_flow(w, 3 * i + r, i, 6 + (i + r) % 2);
            assert_int_equal(w->flow[3 * i + r].start_ps, (1 + 10 * r) * WEFT_PS_PER_US);
        }
    w = good(f, "{kind: periodic, src: host-0..2, dst: host-6..7, to: all, repeat: 2, interval: 1us}");
    assert_int_equal(w->flows, 12);
    is_flow(w, 2, 0, 7); // the second time begins with the second
    is_flow(w, 3, 0, 6);
    bad(f, "{kind: periodic, src: host-0, dst: host-0}", "itself");
    bad(f, "{kind: periodic, src: host-0, dst: host-1, repeat: 1000000, interval: 1000s}", "1000000 s");
    bad(f, "{kind: periodic, src: host-0..6, dst: host-7, repeat: 1000000, to: all, qps: 1024}", "queue pairs");
}

/// Uniform over destinations and over the jitter: of 30000 draws each sixth has 5000 +- 5 standard deviations (323).
static void periodic_draws(void **state) {
    struct fixture *f = *state;
    struct weft_workload *w = good(f, "{kind: periodic, src: host-0..1, dst: host-2..7, to: random, repeat: 15000, "
                                      "interval: 1us, jitter: 600ns}");
    uint32_t to[6] = {0}, late[6] = {0}, same = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        weft_time_ps later = w->flow[i].start_ps - i % 15000 * WEFT_PS_PER_US;
        assert_true(later <= 600000);
        to[w->flow[i].dst - 2]++;
        late[later * 6 / 600001]++;
        same += i < 15000 && w->flow[i].dst == w->flow[i + 15000].dst;
    }
    for (unsigned i = 0; i < 6; i++) {
        assert_in_range(to[i], 5000 - 323, 5000 + 323);
        assert_in_range(late[i], 5000 - 323, 5000 + 323);
    }
    assert_in_range(same, 2500 - 230, 2500 + 230); // sources draw apart from one another
}

static void shift(void **state) {
    struct fixture *f = *state;
    struct weft_workload *w = good(f, "{kind: permutation, hosts: host-2..6, mode: shift, shift: 7}");
    assert_int_equal(w->flows, 5);
    for (uint32_t i = 0; i < 5; i++)
        is_flow(w, i, 2 + i, 2 + (i + 2) % 5);
    bad(f, "{kind: permutation, hosts: host-2..6, mode: shift, shift: 10}", "every host to itself");
    bad(f, "{kind: permutation, hosts: host-2}", "at least 2");
}

/// The 9 derangements of 4 hosts must be equally frequent. Chi square with 8 degrees of freedom exceeds 31.8 once in
/// 10^4; the draws are fixed by the seeds, so the test always gives the same result.
static void derangements_are_uniform(void **state) {
    struct fixture *f = *state;
    enum { TRIALS = 3600 };
    uint32_t seen[256] = {0}, kinds = 0;
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        struct weft_workload *w = expand(f, "{kind: permutation, hosts: host-0..3}", seed);
        assert_int_equal(w->flows, 4);
        uint32_t code = 0, receivers = 0;
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(w->flow[i].src, i);
            assert_int_not_equal(w->flow[i].dst, i);
            code = code * 4 + w->flow[i].dst;
            receivers |= 1u << w->flow[i].dst;
        }
        assert_int_equal(receivers, 15);
        seen[code]++;
    }
    double chi2 = 0;
    for (unsigned code = 0; code < 256; code++) {
        kinds += seen[code] > 0;
        if (seen[code]) chi2 += pow(seen[code] - TRIALS / 9.0, 2) / (TRIALS / 9.0);
    }
    assert_int_equal(kinds, 9);
    assert_true(chi2 < 31.8);
}

/// Of 8 hosts there are 14833 derangements: 50 draws hold the same one twice with a probability of 8%, four times
/// hardly ever. Each is one; and what comes first does not depend on how many follow.
static void repetitions_draw_anew(void **state) {
    struct fixture *f = *state;
    enum { N = 50 };
    struct weft_workload *once = expand(f, "{kind: permutation}", 5);
    struct weft_workload *w = expand(f, "{kind: permutation, repeat: 50, interval: 1us}", 5);
    assert_int_equal(w->flows, 8 * N);
    uint32_t code[N] = {0}, same = 0;
    for (uint32_t k = 0; k < N; k++) {
        uint32_t receivers = 0;
        for (uint32_t i = 0; i < 8; i++) {
            const struct weft_flow *flow = &w->flow[i * N + k];
            assert_int_equal(flow->src, i);
            assert_int_not_equal(flow->dst, i);
            assert_int_equal(flow->start_ps, k * UINT64_C(1000000));
            if (k == 0) assert_int_equal(flow->dst, once->flow[i].dst);
            code[k] = code[k] * 8 + flow->dst;
            receivers |= 1u << flow->dst;
        }
        assert_int_equal(receivers, 255);
        for (uint32_t j = 0; j < k; j++)
            same += code[j] == code[k];
    }
    assert_true(same < 3);
    w = expand(f, "{kind: permutation, mode: shift, shift: 3, repeat: 2}", 5);
    for (uint32_t i = 0; i < w->flows; i++)
        assert_int_equal(w->flow[i].dst, (i / 2 + 3) % 8);
}

static void all_to_all(void **state) {
    struct fixture *f = *state;
    struct weft_workload *w = good(f, "{kind: all_to_all, hosts: host-0..4, step: 1us}");
    assert_int_equal(w->flows, 20);
    bool seen[5][5] = {{0}};
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t round = i % 4; // of its host; in a round all destinations differ
        is_flow(w, i, i / 4, (i / 4 + 1 + round) % 5);
        assert_int_equal(w->flow[i].start_ps, round * 1000000);
        assert_false(seen[w->flow[i].src][w->flow[i].dst]);
        seen[w->flow[i].src][w->flow[i].dst] = true;
    }
    w = good(f, "{kind: all_to_all, hosts: host-0..4, stagger: off}");
    assert_int_equal(w->flows, 20);
    is_flow(w, 8, 2, 0);
    is_flow(w, 9, 2, 1);
    is_flow(w, 10, 2, 3);
    is_flow(w, 11, 2, 4);
    assert_int_equal(w->flow[11].start_ps, 0);
    bad(f, "{kind: all_to_all, hosts: host-0}", "at least 2");
}

/// Arrivals of n hosts at rate r for T: a Poisson number of mean n r T with standard deviation of its root. Here r =
/// 0.5 * 200 Gbit/s / (8 * 10000 B) = 1.25 per us; 8 hosts for 1 ms: 10000 +- 100. Gaps have mean 0.8 us.
static void poisson_arrivals(void **state) {
    struct fixture *f = *state;
    struct weft_workload *w = good(f, "{kind: poisson, size: 10KB, load: 0.5, duration: 1ms, start: 5ms}");
    assert_true(fabs(w->flows - 10000.0) < 4 * 100);
    uint32_t to[8] = {0}, from[8] = {0};
    double square = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        assert_int_not_equal(w->flow[i].src, w->flow[i].dst);
        assert_in_range(w->flow[i].start_ps, 5 * WEFT_PS_PER_MS, 6 * WEFT_PS_PER_MS);
        to[w->flow[i].dst]++;
        from[w->flow[i].src]++;
        if (i && w->flow[i].src == w->flow[i - 1].src) {
            assert_true(w->flow[i].start_ps >= w->flow[i - 1].start_ps);
            square += pow((double)(w->flow[i].start_ps - w->flow[i - 1].start_ps) / 0.8e6, 2);
        }
    }
    for (unsigned h = 0; h < 8; h++) {
        assert_true(fabs(from[h] - 1250.0) < 4 * sqrt(1250));
        assert_true(fabs(to[h] - 1250.0) < 4 * sqrt(1250));
    }
    // The mean square of an exponential variable is 2 squares of its mean; its own standard deviation sqrt(20 / n).
    assert_true(fabs(square / (w->flows - 8) - 2) < 4 * sqrt(20.0 / w->flows));
}

/// Pairs: each host sends to one other and receives from one other, at the times at which it would send to any.
static void poisson_pairs(void **state) {
    struct fixture *f = *state;
    struct weft_workload *w = good(f, "{kind: poisson, size: 10KB, load: 0.5, duration: 1ms, pairs: on}");
    struct weft_workload *any = good(f, "{kind: poisson, size: 10KB, load: 0.5, duration: 1ms}");
    uint32_t to[8], from[8];
    assert_int_equal(w->flows, any->flows);
    for (uint32_t h = 0; h < 8; h++)
        to[h] = from[h] = WEFT_NONE;
    for (uint32_t i = 0; i < w->flows; i++) {
        uint32_t src = w->flow[i].src, dst = w->flow[i].dst;
        assert_true(src != dst && src == any->flow[i].src && w->flow[i].start_ps == any->flow[i].start_ps);
        assert_true(to[src] == WEFT_NONE || to[src] == dst);
        assert_true(from[dst] == WEFT_NONE || from[dst] == src);
        to[src] = dst;
        from[dst] = src;
    }
}

/// WebSearch: mean 1711250 B and (from its points) standard deviation 3.97 MB. At load 1 for 10 ms, 8 hosts offer
/// 8 * 250 MB in about 1169 flows.
static void poisson_load(void **state) {
    struct fixture *f = *state;
    struct weft_workload *w = good(f, "{kind: poisson, distribution: websearch, load: 1, duration: 10ms}");
    double flows = 2e9 / 1711250, mean_square = 3.97e6 * 3.97e6 + 1711250.0 * 1711250.0;
    assert_true(fabs(w->flows - flows) < 4 * sqrt(flows));
    assert_true(fabs((double)w->bytes - 2e9) < 4 * sqrt(flows * mean_square)); // compound Poisson
    bad(f, "{kind: poisson, distribution: web}",
        "expected fixed, websearch, fbhdp, alistorage2019, googlerpc2008 or file:PATH");
    bad(f, "{kind: poisson, load: 0}", "load");
    bad(f, "{kind: poisson, hosts: host-1}", "at least 2");
    w = good(f, "{kind: poisson, hosts: host-0..1, dst: host-5..7, rate: 80Gbps, size: 100KB, duration: 100ms}");
    uint32_t to[3] = {0};
    for (uint32_t i = 0; i < w->flows; i++) {
        assert_true(w->flow[i].src < 2);
        to[w->flow[i].dst - 5]++;
    }
    assert_in_range(w->flows, 20000 - 710, 20000 + 710); // 2 x 80 Gbit/s x 0.1 s / 800 kbit; 5 standard deviations
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(to[i], 6667 - 410, 6667 + 410);
    bad(f, "{kind: poisson, hosts: host-0..1, dst: host-1}", "itself");
    bad(f, "{kind: poisson, hosts: host-0..1, dst: host-5..6, pairs: on}", "pairs with dst");
}

/// A host more, at the end: flows of the others stay, but for those that now go to it.
static void a_host_more_changes_no_draws(void **state) {
    struct fixture *f = *state;
    struct weft_workload *few = good(f, "{kind: poisson, hosts: host-0..6, distribution: fbhdp, duration: 1ms}");
    struct weft_workload *more = good(f, "{kind: poisson, hosts: host-0..7, distribution: fbhdp, duration: 1ms}");
    uint32_t moved = 0;
    assert_true(more->flows > few->flows && few->flows > 100);
    for (uint32_t i = 0; i < few->flows; i++) { // host by host, so that those of the new host come last
        assert_int_equal(few->flow[i].src, more->flow[i].src);
        assert_int_equal(few->flow[i].start_ps, more->flow[i].start_ps);
        assert_int_equal(few->flow[i].bytes, more->flow[i].bytes);
        if (few->flow[i].dst == more->flow[i].dst) continue;
        assert_int_equal(more->flow[i].dst, 7);
        moved++;
    }
    assert_true(fabs(moved - few->flows / 7.0) < 4 * sqrt(few->flows / 7.0));
}

static bool same_flows(const struct weft_workload *a, const struct weft_workload *b) {
    if (a->flows != b->flows) return false;
    for (uint32_t i = 0; i < a->flows; i++)
        if (a->flow[i].start_ps != b->flow[i].start_ps || a->flow[i].dst != b->flow[i].dst) return false;
    return true;
}

static void seeds_and_entries_have_streams_of_their_own(void **state) {
    struct fixture *f = *state;
    static const char *const texts[] = {"{kind: permutation}", "{kind: poisson, size: 1KB, duration: 10us}"};
    for (unsigned i = 0; i < 2; i++) {
        assert_true(same_flows(expand(f, texts[i], 1), expand(f, texts[i], 1)));
        assert_false(same_flows(expand(f, texts[i], 1), expand(f, texts[i], 2)));
    }
    struct weft_model_conf entry[2];
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(load_model(WEFT_KIND_WORKLOAD, texts[1], f->arena, &entry[i], &f->error), WEFT_OK);
    struct weft_workload *one, *two;
    assert_int_equal(weft_workload_new(entry, 1, f->built.t, 1, WEFT_TIME_NEVER, f->arena, &one, NULL), WEFT_OK);
    assert_int_equal(weft_workload_new(entry, 2, f->built.t, 1, WEFT_TIME_NEVER, f->arena, &two, NULL), WEFT_OK);
    assert_true(two->flows > one->flows && one->flows > 0);
    assert_int_not_equal(two->flow[0].start_ps, two->flow[one->flows].start_ps);
    two->flows = one->flows; // the second entry does not change the first
    assert_true(same_flows(one, two));
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/// 2^40 flows and the like are refused before a single one is made.
static void absurd_numbers_are_quick_errors(void **state) {
    struct fixture *f = *state;
    build(f, 5000);
    weft_memory_reset_max();
    weft_bytes before = weft_memory_bytes_max(WEFT_MEMORY_SCENARIO);
    double start = now_s();
    bad(f, "{kind: all_to_all}", "16777216 flows");
    bad(f, "{kind: all_to_all, hosts: host-0..1048, repeat: 1000000}", "16777216 flows");
    bad(f, "{kind: permutation, repeat: 1000000}", "16777216 flows");
    bad(f, "{kind: permutation, repeat: 1000, qps: 1024}", "queue pairs");
    bad(f, "{kind: incast, sources: host-*, dst: host-0, repeat: 1000000}", "16777216 flows");
    bad(f, "{kind: poisson, size: 1B, load: 1, duration: 1000s}", "16777216 flows");
    assert_true(now_s() - start < 2);
    assert_true(weft_memory_bytes_max(WEFT_MEMORY_SCENARIO) - before < 4 << 20);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(flow),
        T(flows_are_drawn),
        T(starts_jitter),
        T(incast),
        T(periodic_in_turn),
        T(periodic_draws),
        T(shift),
        T(derangements_are_uniform),
        T(repetitions_draw_anew),
        T(all_to_all),
        T(poisson_arrivals),
        T(poisson_pairs),
        T(poisson_load),
        T(a_host_more_changes_no_draws),
        T(seeds_and_entries_have_streams_of_their_own),
        T(absurd_numbers_are_quick_errors),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
