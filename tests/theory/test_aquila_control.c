// SPDX-License-Identifier: Apache-2.0
// A Clique's tables while traffic runs: they follow failures, repairs and firmware as the controller writes them
// (Gibson et al., NSDI 2022, sections 3.2, 4.1 and 4.3). Each run says that bytes are conserved and that threads change
// nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/tin/tin_outcome.h"
#include "run.h"
#include "weft/random.h"

/// With one other number of threads.
static struct run run_with_three(const char *text) {
    struct run r = run_once(text);
    run_assert_same(&r, 3, text);
    return r;
}

/// Controllers of 100 us instead of a second, so that runs are short: what matters is the order.
#define FAST                                                                                                           \
    "control:\n  sdn: {detect: 10us, latency: 1us, nib_write: 500ns, nib: 500ns, call: 100ns, settle: 5us, compute: "  \
    "20us, rpc_overhead: 1us, "                                                                                        \
    "write: 200ns, rate: 0, reboot: 100us, connect: 10us, read: 10ns, ibr: 10us, ordering: %s, nsf: %s}\n"
/// One link between two TiNs of a pod: without it cells that come to the first for the second have no candidate left.
#define THIN                                                                                                           \
    "topology: {kind: dragonfly, pods: 4, tins: 6, hosts_per_tin: 1, local_parallel: 1, global_delay: 100ns, "         \
    "local_ports: 5, global_ports: 2}\n"                                                                               \
    "switch: {buffer: {kind: dynamic, total: 64MiB}}\nhost: {timeout: 200us}\n"                                        \
    "workload: [{kind: poisson, load: 40%%, size: 4096B, duration: 600us}]\nrun: {seed: 3}\n"

static const struct weft_tin_transition *transition(const struct run *r, uint32_t i) {
    assert_in_range(i, 0, weft_outcome_tin(r->outcome)->transitions - 1);
    return &weft_outcome_tin(r->outcome)->transition[i];
}

/// A link fails and comes back. Until tables follow, cells without a candidate escape: none is without a way, and lost
/// are only those on the link or queued for it. When it comes back everybody has a way, and in the order of batches
/// none loses it while TiNs are programmed one by one: no cell is lost, none escapes.
static void tables_follow_without_black_holes(void **state) {
    struct run r = RUN(run_with_three,
                       THIN FAST "events: [{at: 100us, link: tin-1--tin-2, state: down}, "
                                 "{at: 350us, link: tin-1--tin-2, state: up}]\n",
                       "sequenced", "on");
    const struct weft_tin_outcome *o = weft_outcome_tin(r.outcome);
    run_assert_complete(&r);
    assert_int_equal(o->transitions, 2);
    assert_int_equal(transition(&r, 0)->down, 1);
    assert_int_equal(transition(&r, 1)->up, 1);
    for (uint32_t i = 0; i < 2; i++) {
        weft_time_ps took = transition(&r, i)->to_ps - transition(&r, i)->from_ps;
        assert_true(took > 38 * WEFT_PS_PER_US && took < 200 * WEFT_PS_PER_US); // detect, tell, gather, compute, write
        assert_true(transition(&r, i)->packets > 100);
    }
    assert_true(transition(&r, 0)->escapes > 0);
    assert_int_equal(o->escapes, transition(&r, 0)->escapes); // not one once tables have followed
    assert_int_equal(o->cells_lost, transition(&r, 0)->cells_lost);
    assert_true(o->cells_lost < 30);
    assert_int_equal(transition(&r, 1)->escapes + transition(&r, 1)->cells_lost + transition(&r, 1)->packets_lost, 0);
    assert_int_equal(o->cells_unroutable, 0);
    assert_true(o->walked && o->table_changes > 0);
    assert_int_equal(o->holes, 0);
    run_free(&r);
}

/// The same without any order: when the link is back and nothing is broken, some cells find a flow without its group.
static void without_order_there_are_black_holes(void **state) {
    struct run r = RUN(run_once,
                       THIN FAST "events: [{at: 100us, link: tin-1--tin-2, state: down}, "
                                 "{at: 350us, link: tin-1--tin-2, state: up}]\n",
                       "none", "on");
    assert_true(weft_outcome_tin(r.outcome)->holes > 0);
    assert_true(transition(&r, 1)->escapes > 0);
    run_free(&r);
}

/// Firmware of tin-1 starts again: its tables go on working, and nothing is lost, none escapes, no packet is later than
/// without. A link that fails meanwhile is gone around at once, in the tables when the session is there again.
static void firmware_starts_again_without_loss(void **state) {
    struct run quiet = RUN(run_once, THIN FAST "%s", "sequenced", "on", "");
    struct run r =
        RUN(run_with_three, THIN FAST "  events: [{at: 150us, do: reboot, node: tin-1}]\n", "sequenced", "on");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    assert_int_equal(weft_outcome_tin(r.outcome)->cells_lost + weft_outcome_tin(r.outcome)->escapes +
                         weft_outcome_tin(r.outcome)->table_changes,
                     0);
    assert_int_equal(r.outcome->digest, quiet.outcome->digest);
    run_free(&r);
    run_free(&quiet);
    weft_time_ps took[2];
    for (uint32_t away = 0; away < 2; away++) {
        r = RUN(run_once,
                THIN FAST "%s"
                          "events: [{at: 160us, link: tin-1--tin-2, state: down}]\n",
                "sequenced", "on", away ? "  events: [{at: 150us, do: reboot, node: tin-1}]\n" : "");
        run_assert_complete(&r);
        took[away] = transition(&r, 0)->to_ps - transition(&r, 0)->from_ps;
        assert_int_equal(weft_outcome_tin(r.outcome)->cells_unroutable, 0);
        assert_int_equal(weft_outcome_tin(r.outcome)->escapes, transition(&r, 0)->escapes);
        run_free(&r);
    }
    assert_true(took[0] < 90 * WEFT_PS_PER_US);
    assert_true(took[1] > 90 * WEFT_PS_PER_US); // it comes back at 250 us
}

/// Without non-stop forwarding its registers are cleared, and until they are written again all cells that come to it,
/// or begin there, must escape.
static void without_nsf_tables_are_gone(void **state) {
    struct run r = RUN(run_once, THIN FAST "  events: [{at: 150us, do: reboot, node: tin-1}]\n", "sequenced", "off");
    assert_true(weft_outcome_tin(r.outcome)->table_changes > 0);
    assert_true(weft_outcome_tin(r.outcome)->escapes > 100);
    run_free(&r);
}

/// LLDP every 10 us at 24 hosts' ports, and the first at 0: a TiN's control processor takes so many a second, what is
/// beyond that it refuses; while its firmware starts again, from 150 to 250 us, it takes none. Data have no part in it.
static void the_control_processor_takes_what_it_can(void **state) {
    struct run r = RUN(run_with_three,
                       THIN FAST "  events: [{at: 151us, do: reboot, node: tin-1}]\n"
                                 "dcbx: {enabled: true, interval: 10us}\ntin: {punt_rate: 50000, punt_queue: 4}\n",
                       "sequenced", "on");
    const struct weft_tin_outcome *o = weft_outcome_tin(r.outcome);
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    assert_int_equal(o->cells_lost + o->escapes, 0);
    assert_int_equal(o->punts_missed, 10); // of one host
    // every other one, as 20 us are between two that it takes, and four more that wait
    uint64_t frames = o->punted + o->punts_refused + o->punts_missed, each = frames / 24;
    assert_in_range(o->punted, 24 * (each / 2) - 10, 24 * (each / 2 + 5));
    assert_in_range(o->punts_refused, 24 * (each / 2 - 5) - 10, 24 * (each / 2));
    run_free(&r);
}

/// Links, sessions and firmware fail and come back as they like, some before the last plan is done. No write makes a
/// black hole, every run ends, and all that could be delivered has been.
static void whatever_happens(void **state) {
    for (uint32_t seed = 1; seed <= 3; seed++) {
        struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
        char links[4096] = "", given[4096] = "";
        size_t n = 0, m = 0;
        weft_time_ps now = 20;
        for (uint32_t i = 0; i < 12; i++) {
            now += 5 + weft_random_below(&random, 60);
            uint32_t tin = (uint32_t)weft_random_below(&random, 24), port = (uint32_t)weft_random_below(&random, 6);
            const char *const what[] = {"reboot", "cut", "heal"};
            uint32_t k = (uint32_t)weft_random_below(&random, 3);
            if (weft_random_below(&random, 3))
                n += (size_t)snprintf(links + n, sizeof links - n,
                                      "{at: %" PRIu64 "us, link: tin-%u/%u, state: down}, "
                                      "{at: %" PRIu64 "us, link: tin-%u/%u, state: up}, ",
                                      now, tin, port, now + 30 + weft_random_below(&random, 100), tin, port);
            else
                m += (size_t)snprintf(given + m, sizeof given - m, "{at: %" PRIu64 "us, do: %s, node: \"tin-%u\"}, ",
                                      now, what[k], tin);
        }
        struct run r = RUN(run_with_three, THIN FAST "  events: [%s{at: 2ms, do: heal}]\nevents: [%s]\n", "sequenced",
                           seed % 2 ? "on" : "off", given, links);
        assert_true(weft_outcome_tin(r.outcome)->walked && weft_outcome_tin(r.outcome)->table_changes > 0);
        assert_int_equal(weft_outcome_tin(r.outcome)->holes, 0);
        run_assert_complete(&r);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_follow_without_black_holes),
        cmocka_unit_test(without_order_there_are_black_holes),
        cmocka_unit_test(firmware_starts_again_without_loss),
        cmocka_unit_test(without_nsf_tables_are_gone),
        cmocka_unit_test(the_control_processor_takes_what_it_can),
        cmocka_unit_test(whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
