// SPDX-License-Identifier: Apache-2.0
// Route models with state, alone: what each promises, packet by packet.
#include "route.h"

#include <math.h>

#include "weft/random.h"

enum { UPS = 16, DOWNS = 16 };

static const struct weft_model *route_of(const char *name) {
    return model_of(WEFT_KIND_ROUTE, name);
}

// Turns: after any number of packets, no link has had more than one packet more than another.
static void round_robin_is_even(void **state) {
    struct router r = router_new(route_of("spray"), NULL, 1, 1, UPS, DOWNS);
    uint32_t load[UPS] = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        struct weft_packet p = {.port = UPS, .dst = i};
        load[router_port(&r, &p, r.all, UPS)]++;
        for (uint32_t k = 0; k < UPS; k++)
            assert_in_range(load[k], i / UPS, i / UPS + 1);
    }
    router_free(&r);
}

// n packets at random over m links: each has n/m on average, with variance n (1/m) (1 - 1/m); chi-squared over the m
// links has m - 1 degrees of freedom, mean m - 1 and variance 2 (m - 1). Five standard deviations.
static void random_spray_is_uniform(void **state) {
    struct router r = router_new(route_of("spray"), "{order: random}", 1, 1, UPS, DOWNS);
    uint32_t load[UPS] = {0}, n = 100000;
    for (uint32_t i = 0; i < n; i++) {
        struct weft_packet p = {.port = UPS};
        load[router_port(&r, &p, r.all, UPS)]++;
    }
    double chi = 0, mean = (double)n / UPS;
    for (uint32_t k = 0; k < UPS; k++)
        chi += (load[k] - mean) * (load[k] - mean) / mean;
    assert_true(fabs(chi - (UPS - 1)) < 5 * sqrt(2. * (UPS - 1)));
    router_free(&r);
}

// Switches and seeds draw apart from one another.
static void switches_draw_apart(void **state) {
    struct router r[] = {router_new(route_of("spray"), "{order: random}", 1, 1, UPS, DOWNS),
                         router_new(route_of("spray"), "{order: random}", 1, 2, UPS, DOWNS),
                         router_new(route_of("spray"), "{order: random}", 2, 1, UPS, DOWNS)};
    uint32_t same[2] = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        struct weft_packet p = {.port = UPS};
        uint32_t port = router_port(&r[0], &p, r[0].all, UPS);
        for (uint32_t k = 0; k < 2; k++)
            same[k] += router_port(&r[k + 1], &p, r[k + 1].all, UPS) == port;
    }
    for (uint32_t k = 0; k < 2; k++) // 1000/16 = 62.5, standard deviation 7.7
        assert_in_range(same[k], 25, 100);
    for (uint32_t k = 0; k < 3; k++)
        router_free(&r[k]);
}

// The d-th downlink's packets take uplink d modulo the uplinks, to whatever destination.
static void pinned_by_downlink(void **state) {
    struct router r = router_new(route_of("path_pinning"), NULL, 1, 1, 6, DOWNS);
    for (uint32_t i = 0; i < 500; i++) {
        struct weft_packet p = {.port = (uint16_t)(6 + i % DOWNS), .dst = i, .qp = i, .entropy = i & 0x3fff};
        assert_int_equal(router_port(&r, &p, r.all, 6), i % DOWNS % 6);
    }
    router_free(&r);
}

// By destination: what goes to the d-th host of a leaf takes uplink d modulo the uplinks, from whatever downlink.
static void pinned_by_destination(void **state) {
    struct router r = router_new(route_of("path_pinning"), "{index: destination}", 1, 1, 6, DOWNS);
    for (uint32_t i = 0; i < 500; i++) {
        struct weft_packet p = {.port = (uint16_t)(6 + i % DOWNS), .dst = i * 7, .qp = i, .entropy = i & 0x3fff};
        assert_int_equal(router_port(&r, &p, r.all, 6), i * 7 % ROUTER_HOSTS_OF_LEAF % 6);
    }
    router_free(&r);
}

// Without its link a downlink's packets are spread over the others; all others keep theirs.
static void pinned_falls_back_to_ecmp(void **state) {
    struct router r = router_new(route_of("path_pinning"), NULL, 1, 1, 4, 8);
    struct router ecmp = router_new(route_of("ecmp"), NULL, 1, 1, 4, 8);
    static const uint16_t left[] = {0, 1, 3};
    uint32_t used[4] = {0};
    for (uint32_t i = 0; i < 800; i++) {
        struct weft_packet p = {.port = (uint16_t)(4 + i % 8), .dst = i, .entropy = i & 0x3fff};
        uint32_t port = router_port(&r, &p, left, 3);
        if (i % 4 != 2) {
            assert_int_equal(port, i % 4);
        } else {
            assert_int_equal(port, router_port(&ecmp, &p, left, 3));
            used[port]++;
        }
    }
    for (uint32_t k = 0; k < 3; k++) // 200 flows over 3: 66.7, standard deviation 6.7
        assert_in_range(used[left[k]], 36, 98);
    router_free(&r);
    router_free(&ecmp);
}

// Packets of one queue pair with pauses of at most the gap stay on one path; of 400 pauses that are longer, each draws
// anew: a fraction 1 - 1/m of them changes, with variance p (1 - p) / n.
static void flowlets_change_after_the_gap(void **state) {
    static const char *const models[][2] = {{"flowlet", "{gap: 10us}"}, {"load_aware", "{per: flowlet, gap: 10us}"}};
    for (uint32_t m = 0; m < 2; m++) {
        struct router r = router_new(route_of(models[m][0]), models[m][1], 1, 1, UPS, DOWNS);
        struct weft_packet p = {.time_ps = 1, .port = UPS, .dst = 7, .qp = 3, .entropy = 99};
        uint32_t port = router_port(&r, &p, r.all, UPS), changes = 0;
        for (uint32_t burst = 0; burst < 400; burst++) {
            for (uint32_t i = 0; i < 20; i++) {
                p.time_ps += i * 10 * WEFT_PS_PER_US / 19; // up to the gap, and not beyond
                assert_int_equal(router_port(&r, &p, r.all, UPS), port);
            }
            p.time_ps += 10 * WEFT_PS_PER_US + 1;
            uint32_t next = router_port(&r, &p, r.all, UPS);
            changes += next != port;
            port = next;
        }
        double expected = 1 - 1. / UPS;
        assert_true(fabs(changes / 400. - expected) < 5 * sqrt(expected * (1 - expected) / 400));
        router_free(&r);
    }
}

// A path that has failed is left at once, with or without a gap.
static void flowlets_leave_what_failed(void **state) {
    struct router r = router_new(route_of("flowlet"), "{gap: 1s}", 1, 1, UPS, DOWNS);
    struct weft_packet p = {.port = UPS, .dst = 7, .qp = 3, .entropy = 99};
    uint32_t port = router_port(&r, &p, r.all, UPS), n = 0;
    uint16_t left[UPS];
    for (uint16_t k = 0; k < UPS; k++)
        if (k != port) left[n++] = k;
    uint32_t other = router_port(&r, &p, left, n);
    assert_int_equal(router_port(&r, &p, r.all, UPS), other); // and not returned to
    router_free(&r);
}

// Flows meet in a table of one entry: the second goes where the first does.
static void a_small_table_is_shared(void **state) {
    struct router r = router_new(route_of("flowlet"), "{entries: 1}", 1, 1, UPS, DOWNS);
    uint32_t port = WEFT_NONE;
    for (uint32_t i = 0; i < 50; i++) {
        struct weft_packet p = {.port = UPS, .dst = i, .qp = i, .entropy = i & 0x3fff};
        uint32_t now = router_port(&r, &p, r.all, UPS);
        if (i) assert_int_equal(now, port);
        port = now;
    }
    router_free(&r);
}

// With all candidates seen the emptiest queue is taken.
static void all_seen_is_the_least(void **state) {
    struct router r = router_new(route_of("load_aware"), "{samples: 0}", 1, 1, UPS, DOWNS);
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t k = 0; k < UPS; k++)
            r.depth[k] = 1000 + k;
        r.depth[i % UPS] = 10;
        struct weft_packet p = {.port = UPS};
        assert_int_equal(router_port(&r, &p, r.all, UPS), i % UPS);
    }
    router_free(&r);
}

// Two different ones of n: the emptiest is drawn with probability 2/n, the fullest never wins, the i-th emptiest wins
// with (n - i) / (n (n - 1) / 2), i from 1. Of equal ones each wins with 1/n.
static void two_choices(void **state) {
    for (uint32_t equal = 0; equal < 2; equal++) {
        struct router r = router_new(route_of("load_aware"), NULL, 1, 1, UPS, DOWNS);
        uint32_t load[UPS] = {0}, n = 20000;
        for (uint32_t k = 0; k < UPS; k++)
            r.depth[k] = equal ? 500 : 100 * k;
        for (uint32_t i = 0; i < n; i++) {
            struct weft_packet p = {.port = UPS};
            load[router_port(&r, &p, r.all, UPS)]++;
        }
        for (uint32_t k = 0; k < UPS; k++) {
            double p = equal ? 1. / UPS : (UPS - 1. - k) / (UPS * (UPS - 1) / 2);
            if (fabs(load[k] - n * p) > 5 * sqrt(n * p * (1 - p)))
                fail_msg("link %u: %u of %u, expected %.0f", k, load[k], n, n * p);
        }
        router_free(&r);
    }
}

// Queues are compared in steps: whatever its bytes, each of the lowest grade is as likely, and none above it wins.
static void a_grade_is_drawn_from(void **state) {
    enum { STEP = 1000, LOW = 5 };
    static const uint32_t low[LOW] = {2, 3, 4, 9, 15}; // beside one another, and apart
    struct router r = router_new(route_of("load_aware"), "{samples: 0, depth_step: 1000B}", 1, 1, UPS, DOWNS);
    uint32_t load[UPS] = {0}, n = 20000;
    for (uint32_t k = 0; k < UPS; k++)
        r.depth[k] = STEP + 10 * k;
    for (uint32_t i = 0; i < LOW; i++)
        r.depth[low[i]] = i * STEP / LOW;
    for (uint32_t i = 0; i < n; i++) {
        struct weft_packet p = {.port = UPS};
        load[router_port(&r, &p, r.all, UPS)]++;
    }
    for (uint32_t i = 0; i < LOW; i++) {
        double p = 1. / LOW;
        if (fabs(load[low[i]] - n * p) > 5 * sqrt(n * p * (1 - p)))
            fail_msg("link %u: %u of %u, expected %.0f", low[i], load[low[i]], n, n * p);
        load[low[i]] = 0;
    }
    for (uint32_t k = 0; k < UPS; k++)
        assert_int_equal(load[k], 0);
    router_free(&r);
}

/// Mean of the longest of UPS queues that get 0.9 packets a slot each, one by one, and send one each.
static double longest_queue(const char *conf) {
    enum { SLOTS = 20000 };
    struct router r = router_new(route_of("load_aware"), conf, 1, 1, UPS, DOWNS);
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    double sum = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        for (uint32_t i = 0; i < UPS; i++) {
            if (weft_random_below(&random, 10) == 0) continue;
            struct weft_packet p = {.port = UPS};
            r.depth[router_port(&r, &p, r.all, UPS)] += 1000;
        }
        weft_bytes longest = 0;
        for (uint32_t k = 0; k < UPS; k++) {
            if (r.depth[k] > longest) longest = r.depth[k];
            r.depth[k] -= r.depth[k] ? 1000 : 0;
        }
        sum += (double)longest / 1000;
    }
    router_free(&r);
    return sum / SLOTS;
}

// DRILL: two samples keep queues far shorter than one (Mitzenmacher), and a memory of one shortens them again (Ghorbani
// et al., section 3.2). With a memory and queues that do not change the emptiest is found, and kept from then on.
static void a_memory_shortens_queues(void **state) {
    double one = longest_queue("{samples: 1}"), two = longest_queue("{samples: 2}"),
           drill = longest_queue("{samples: 2, memory: true}");
    print_message("longest queue: one sample %.2f, two %.2f, two and a memory %.2f\n", one, two, drill);
    assert_true(one > 2 * two);
    assert_true(drill < two);
    struct router r = router_new(route_of("load_aware"), "{samples: 1, memory: true}", 1, 1, UPS, DOWNS);
    for (uint32_t k = 0; k < UPS; k++)
        r.depth[k] = 1000 - k;
    for (uint32_t i = 0; i < 300; i++) { // missed with (1 - 1 / UPS)^200
        struct weft_packet p = {.port = UPS};
        uint32_t port = router_port(&r, &p, r.all, UPS);
        if (i >= 200) assert_int_equal(port, UPS - 1);
    }
    router_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_robin_is_even),        cmocka_unit_test(a_memory_shortens_queues),
        cmocka_unit_test(random_spray_is_uniform),    cmocka_unit_test(switches_draw_apart),
        cmocka_unit_test(pinned_by_downlink),         cmocka_unit_test(pinned_by_destination),
        cmocka_unit_test(pinned_falls_back_to_ecmp),  cmocka_unit_test(flowlets_change_after_the_gap),
        cmocka_unit_test(flowlets_leave_what_failed), cmocka_unit_test(a_small_table_is_shared),
        cmocka_unit_test(all_seen_is_the_least),      cmocka_unit_test(two_choices),
        cmocka_unit_test(a_grade_is_drawn_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
