// SPDX-License-Identifier: Apache-2.0
// Input balanced mode on random fabrics with random failures and repairs. When nothing more is said:
// - balance: input capacity of every group is as large as its links that are up and its output capacity allow, no
// larger;
//   where FBOSS's own check (fboss/lib/inputbalance/InputBalanceUtil.cpp) speaks of the group, it agrees:
//   balanced = |in| + max(0, |in failed| - |out failed|) == |out|. It does not where more inputs than outputs have
//   failed and something is withdrawn from us as well: then it asks for |in| smaller than |out|, against figure 14 of
//   the text, which calls a device balanced that has lost an input and had an output withdrawn.
// - no destination is lost that has a way up and down on links that are up, and none is used that has not.
// - every link used is taken, but for those of last resort, and those only of devices to which all is held back.
// - once all is repaired everything is as it was.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "control/dsf/reach_run.h"
#include "weft/memory.h"
#include "weft/param_load.h"

enum { FABRICS = 120, STEPS = 12, DEVICES_MAX = 64, LINKS_MAX = 1024 };

static struct weft_random dice;

static uint32_t between(uint32_t low, uint32_t high) {
    return low + (uint32_t)weft_random_below(&dice, high - low + 1);
}

static struct weft_fabric *random_fabric(struct weft_arena *arena) {
    static struct weft_fabric_device device[DEVICES_MAX];
    static struct weft_fabric_link link[LINKS_MAX];
    uint32_t clusters = between(1, 3), rdsws = between(2, 6), fdsws = between(1, 4),
             sdsws = clusters > 1 ? between(1, 4) : 0;
    uint32_t down = between(1, 2), up = between(1, 2), n = 0, links = 0, sdsw0 = clusters * (rdsws + fdsws);
    for (uint32_t c = 0; c < clusters; c++)
        for (uint32_t i = 0; i < rdsws + fdsws; i++)
            device[n++] = (struct weft_fabric_device){"", WEFT_NONE, i >= rdsws, c, 0, 0, 0};
    for (uint32_t s = 0; s < sdsws; s++)
        device[n++] = (struct weft_fabric_device){"", WEFT_NONE, 2, WEFT_NONE, 0, 0, 0};
    for (uint32_t c = 0; c < clusters; c++)
        for (uint32_t f = 0; f < fdsws; f++) {
            uint32_t fdsw = c * (rdsws + fdsws) + rdsws + f;
            for (uint32_t k = 0; k < rdsws * down; k++)
                link[links++] = (struct weft_fabric_link){{c * (rdsws + fdsws) + k / down, fdsw}, {0}, 150000, 0};
            for (uint32_t k = 0; k < sdsws * up; k++)
                link[links++] = (struct weft_fabric_link){{fdsw, sdsw0 + k / up}, {0}, 150000, 0};
        }
    assert_true(n <= DEVICES_MAX && links <= LINKS_MAX);
    return weft_fabric_new(device, n, link, links, arena);
}

static uint32_t peer_at(const struct weft_fabric *f, uint32_t device, uint32_t slot, uint32_t *ret_link) {
    *ret_link = f->at[f->device[device].link0 + slot];
    return f->link[*ret_link].device[f->link[*ret_link].device[0] == device];
}

/// Whether there is a way from `device` to `dest` on links that are up, `used`: that are in use.
static bool has_way(const struct weft__reach_run *run, const struct weft_fabric *f, uint32_t device, uint32_t dest,
                    bool used) {
    if (f->device[device].dest == dest) return true;
    for (uint32_t k = 0; k < f->device[device].links; k++) {
        uint32_t link, peer = peer_at(f, device, k, &link);
        if (!weft_fabric_leads(f, device, k, dest) || !weft__reach_run_link_up(run, link)) continue;
        if (used && !weft_reach_usable(weft__reach_run_agent(run, device), k, dest)) continue;
        if (has_way(run, f, peer, dest, used)) return true;
    }
    return false;
}

static struct { uint64_t groups, fboss, fboss_stricter, resorts, withdrawn; } seen;

static uint32_t less(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void check_group(const struct weft_reach_balance *b, bool balance) {
    uint32_t limit = balance ? weft_reach_calc_limit(b) : b->out ? b->up_in : 0;
    assert_int_equal(b->in, less(b->up_in, limit));
    seen.groups++;
    seen.withdrawn += b->up_in - b->in;
    if (!balance) return;
    if (b->wired_in <= b->wired_out) assert_true(b->in <= b->out);
    assert_true((uint64_t)b->in * b->wired_out <= (uint64_t)b->out * b->wired_in || b->wired_in <= b->wired_out);
    if (b->out) assert_true(b->in || !b->up_in);
    if (b->wired_in != b->wired_out || !b->out) return;
    uint32_t in_failed = b->wired_in - b->up_in, out_failed = b->wired_out - b->up_out;
    uint32_t more = in_failed > out_failed ? in_failed - out_failed : 0;
    if (more && b->out < b->up_out) {
        seen.fboss_stricter++;
        assert_true(b->in + more >= b->out);
    } else {
        seen.fboss++;
        assert_int_equal(b->in + more, b->out);
    }
}

/// Links of a device are used if the peer takes cells there, or as a last resort.
static void check_links(const struct weft__reach_run *run, const struct weft_fabric *f, uint32_t device,
                        uint32_t dest) {
    const struct weft_reach_agent *a = weft__reach_run_agent(run, device);
    bool resorts = weft_reach_resorts(a, dest);
    uint32_t used = 0;
    seen.resorts += resorts;
    for (uint32_t k = 0; k < f->device[device].links; k++) {
        uint32_t link, peer = peer_at(f, device, k, &link);
        bool taken = weft__reach_run_link_up(run, link) && weft_fabric_leads(f, device, k, dest) &&
                     weft_reach_open(weft__reach_run_agent(run, peer),
                                     f->link[link].slot[f->link[link].device[1] == peer], dest);
        used += weft_reach_usable(a, k, dest);
        if (resorts)
            assert_false(taken);
        else
            assert_int_equal(weft_reach_usable(a, k, dest), taken);
    }
    if (resorts) assert_int_equal(used, 1);
}

static void check_rest(const struct weft__reach_run *run, const struct weft_fabric *f,
                       const struct weft_reach_conf *conf) {
    for (uint32_t i = 0; i < f->devices; i++)
        for (uint32_t d = 0; d < f->dests; d++) {
            const struct weft_reach_agent *a = weft__reach_run_agent(run, i);
            for (uint32_t g = 0; f->device[i].level && g < weft_reach_groups(a, d); g++) {
                struct weft_reach_balance b = weft_reach_group(a, d, g);
                check_group(&b, conf->balance);
            }
            check_links(run, f, i, d);
            if (!f->device[i].level && (conf->last_resort || !conf->balance))
                assert_int_equal(has_way(run, f, i, d, true), has_way(run, f, i, d, false));
        }
}

static void check_whole(const struct weft__reach_run *run, const struct weft_fabric *f) {
    for (uint32_t i = 0; i < f->devices; i++)
        for (uint32_t d = 0; d < f->dests; d++)
            for (uint32_t k = 0; k < f->device[i].links; k++)
                assert_int_equal(weft_reach_usable(weft__reach_run_agent(run, i), k, d), weft_fabric_leads(f, i, k, d));
}

/// Some links fail or come back, some of them while what came before is still going round.
static void random_steps(struct weft__reach_run *run, const struct weft_fabric *f, const struct weft_reach_conf *conf) {
    weft_time_ps time = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t n = between(1, 4); n; n--) {
            time += weft_random_below(&dice, 300 * WEFT_PS_PER_US);
            weft__reach_run_until(run, time);
            uint32_t link = between(0, f->links - 1);
            weft__reach_run_link(run, time, link, !weft__reach_run_link_up(run, link));
        }
        weft__reach_run_settle(run);
        time += 10 * WEFT_PS_PER_MS;
        check_rest(run, f, conf);
    }
    for (uint32_t l = 0; l < f->links; l++)
        weft__reach_run_link(run, time, l, true);
    weft__reach_run_settle(run);
    check_whole(run, f);
}

static void run_fabrics(const struct weft_reach_conf *conf) {
    dice = weft_random_stream(7, 0, WEFT_RANDOM_TEST);
    for (uint32_t i = 0; i < FABRICS; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_fabric *f = random_fabric(arena);
        struct weft__reach_run *run = weft__reach_run_new(f, conf, i, false);
        check_whole(run, f);
        random_steps(run, f, conf);
        weft__reach_run_free(run);
        weft_arena_free(arena);
    }
}

static struct weft_reach_conf defaults(void) {
    struct weft_reach_conf conf;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    assert_int_equal(weft_params_load(&weft_reach_table, NULL, &conf, arena, NULL), WEFT_OK);
    weft_arena_free(arena);
    return conf;
}

static void balanced_and_nothing_is_lost(void **state) {
    (void)state;
    struct weft_reach_conf conf = defaults();
    seen.fboss = seen.fboss_stricter = seen.resorts = seen.withdrawn = 0;
    run_fabrics(&conf);
    assert_true(seen.fboss > 10000 && seen.fboss_stricter > 0 && seen.resorts > 0 && seen.withdrawn > 0);
}

static void noticed_by_signal(void **state) {
    (void)state;
    struct weft_reach_conf conf = defaults();
    conf.detection = WEFT_REACH_BY_SIGNAL;
    run_fabrics(&conf);
}

static void as_the_text_has_it(void **state) {
    (void)state;
    struct weft_reach_conf conf = defaults();
    conf.last_resort = false;
    seen.resorts = 0;
    run_fabrics(&conf);
    assert_int_equal(seen.resorts, 0);
}

static void not_balanced(void **state) {
    (void)state;
    struct weft_reach_conf conf = defaults();
    conf.balance = false;
    seen.resorts = 0;
    run_fabrics(&conf);
    assert_int_equal(seen.resorts, 0);
}

/// A link that comes back about when its failure is noticed, at one end before the other.
static void short_failures(void **state) {
    (void)state;
    struct weft_reach_conf conf = defaults();
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    dice = weft_random_stream(7, 1, WEFT_RANDOM_TEST);
    struct weft_fabric *f = random_fabric(arena);
    for (uint32_t i = 0; i < 400; i++) {
        struct weft__reach_run *run = weft__reach_run_new(f, &conf, i, false);
        weft_time_ps down = WEFT_PS_PER_MS, up = down + 99 * WEFT_PS_PER_US + i * 5 * WEFT_PS_PER_NS;
        weft__reach_run_link(run, down, i % f->links, false);
        weft__reach_run_link(run, up, i % f->links, true);
        weft__reach_run_settle(run);
        check_whole(run, f);
        weft__reach_run_free(run);
    }
    weft_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balanced_and_nothing_is_lost),
        cmocka_unit_test(noticed_by_signal),
        cmocka_unit_test(as_the_text_has_it),
        cmocka_unit_test(not_balanced),
        cmocka_unit_test(short_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
