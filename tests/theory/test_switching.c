// SPDX-License-Identifier: Apache-2.0
// Input, virtual output and output queueing under uniform Bernoulli traffic, against theory.
#include "form.h"
#include "theory/slotted.h"

#include <math.h>
#include <stdio.h>

// FIFO input queueing saturates because a head that lost blocks what is behind it. Throughput for N inputs, whatever
// the arbiter, as long as no output idles with a head for it: M. Karol, M. Hluchyj, S. Morgan, "Input versus output
// queueing on a space-division packet switch", IEEE Trans. Comm. 1987, table I: .7500 .6553 .6184 .6013 (N = 2, 4, 8,
// 16), limit 2 - sqrt(2) = .5858. N = 2 exactly: two heads, equal with probability 1/2: (1 + 2) / 2 / 2 = 3/4. The
// error of so many slots is below .002; +-.01 is the tolerance of the table.
static void fifo_inputs_saturate(void **state) {
    static const struct {
        uint32_t ports;
        double throughput;
    } karol[] = {{2, .75}, {4, .655}, {8, .618}, {16, .602}, {32, .594}};
    static const char *const arbiters[] = {"round_robin", "islip", NULL};
    for (unsigned a = 0; a < 3; a++)
        for (unsigned i = 0; i < sizeof karol / sizeof *karol; i++) {
            struct slotted conf = {.ports = karol[i].ports, .load = 1, .queueing = "iq", .arbiter = arbiters[a]};
            conf.warm_up = 1000;
            conf.slots = 20000;
            form_assert("Saturation of FIFO inputs (Karol et al. 1987, table I)", slotted_run(&conf).throughput,
                        karol[i].throughput, .01 / karol[i].throughput);
        }
}

// VOQ with iSLIP: pointers slip apart until every output is served in turn, so that uniform traffic reaches 1: McKeown
// 1999, section III. Started from a backlog, because from empty queues it takes as long as they take to build up.
static void islip_reaches_full_throughput(void **state) {
    static const char *const yaml[] = {"{iterations: 1}", "{iterations: 4}"};
    for (uint32_t ports = 4; ports <= 32; ports *= 2)
        for (unsigned i = 0; i < 2; i++) {
            struct slotted conf = {.ports = ports, .load = 1, .queueing = "voq", .arbiter = "islip", .backlog = 300};
            conf.arbiter_yaml = yaml[i];
            conf.warm_up = 2000;
            conf.slots = 10000;
            assert_true(slotted_run(&conf).throughput > .99);
        }
}

struct point {
    double load, delay, tolerance;
};

static double delay_of(const char *queueing, const char *arbiter, const char *yaml, double load) {
    struct slotted conf = {.ports = 16, .load = load, .queueing = queueing, .arbiter = arbiter, .arbiter_yaml = yaml};
    conf.warm_up = 20000;
    conf.slots = 200000;
    return slotted_run(&conf).delay;
}

static void assert_delays(const char *queueing, const char *arbiter, const char *yaml, const struct point *point,
                          unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        form_assert("Mean delay with FIFO inputs and with iSLIP (another simulation, written for this)",
                    delay_of(queueing, arbiter, yaml, point[i].load), point[i].delay, point[i].tolerance);
    }
}

// Mean delays of a 16 x 16 switch, from an independent simulation of the algorithm of McKeown 1999 (his figure 4 shows
// the same curves); 3 %, and 10 % where delays are large and few samples are independent.
static void islip_delays(void **state) {
    static const struct point one[] = {
        {.3, .302, .03}, {.5, 1.307, .03}, {.8, 44.5, .03}, {.9, 112.7, .10}, {.95, 263, .10}};
    static const struct point four[] = {
        {.3, .261, .03}, {.5, .717, .03}, {.8, 3.76, .03}, {.9, 9.77, .10}, {.95, 24.6, .10}};
    assert_delays("voq", "islip", "{iterations: 1}", one, 5);
    assert_delays("voq", "islip", "{iterations: 4}", four, 5);
}

// The same for one FIFO per input, up to its saturation (.60), where an output chooses at random among the heads for
// it, as Karol et al. assume. Taking turns instead waits less (the inputs that lost are older).
static void fifo_delays(void **state) {
    static const struct point fifo[] = {{.3, .318, .03}, {.5, 1.87, .03}, {.55, 4.28, .10}};
    assert_delays("iq", NULL, NULL, fifo, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_true(delay_of("iq", "round_robin", NULL, fifo[i].load) < delay_of("iq", NULL, NULL, fifo[i].load));
}

// Output queueing: binomial arrivals, one departure a slot: mean wait (N - 1)/N rho / (2 (1 - rho)) (Karol et al. 1987,
// equation 5). The tolerance is statistical: the variance of the mean of a correlated queue in heavy traffic is about
// wait^2 * 4 / ((1 - rho)^2 * slots * ports); four standard deviations, which is 1.6 % of the wait at .95 here.
static void output_queues_delay(void **state) {
    static const double loads[] = {.3, .5, .8, .9, .95};
    for (unsigned i = 0; i < 5; i++) {
        double rho = loads[i], wait = 15. / 16 * rho / (2 * (1 - rho));
        struct slotted conf = {.ports = 16, .load = rho, .queueing = "oq", .warm_up = 20000, .slots = 400000};
        double sigma = wait * 2 / (1 - rho) / sqrt(conf.slots * 16.);
        form_assert("Mean wait in output queues (Karol et al. 1987, equation 5)", slotted_run(&conf).delay, wait,
                    4 * sigma / wait);
    }
}

/// Mean wait, in services, of Poisson arrivals at an output queue that serves each in one unit of time.
static double poisson_wait(double rho, uint32_t packets, uint64_t seed) {
    const struct weft_queueing_ops *oq = slotted_queueing("oq");
    struct weft_packet_pool pool;
    weft__pool_init(&pool);
    void *queue = calloc(1, oq->state_size(NULL, 1));
    oq->init(queue, NULL, 1, &pool);
    struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
    const weft_time_ps service = WEFT_PS_PER_US;
    weft_time_ps arrival = 0, free_at = 0;
    double waited = 0;
    for (uint32_t left = 0; left < packets;) {
        // Serve whatever starts before the next arrival.
        while (oq->ready(queue, 0) && free_at <= arrival) {
            struct weft_packet p;
            oq->pop(queue, 0, 0, 0, &p);
            weft_time_ps start = free_at > p.time_ps ? free_at : p.time_ps;
            waited += (double)(start - p.time_ps);
            free_at = start + service;
            left++;
        }
        struct weft_packet p = {.time_ps = arrival};
        oq->push(queue, &p, 0);
        arrival += (weft_time_ps)weft_random_exponential(&random, (double)service / rho);
    }
    free(queue);
    weft__pool_deinit(&pool);
    return waited / (double)service / packets;
}

// M/D/1: mean wait rho / (2 (1 - rho)) services (Pollaczek-Khinchine). Statistical tolerance as above, with packets in
// place of slots.
static void poisson_arrivals_wait(void **state) {
    static const double loads[] = {.5, .8, .9, .95};
    for (unsigned i = 0; i < 4; i++) {
        double rho = loads[i], wait = rho / (2 * (1 - rho));
        uint32_t packets = 4000000;
        double sigma = wait * 2 / (1 - rho) / sqrt(packets);
        form_assert("Mean wait of Poisson arrivals in an output queue (M/D/1)", poisson_wait(rho, packets, i + 1), wait,
                    4 * sigma / wait);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_inputs_saturate), cmocka_unit_test(islip_reaches_full_throughput),
        cmocka_unit_test(islip_delays),         cmocka_unit_test(fifo_delays),
        cmocka_unit_test(output_queues_delay),  cmocka_unit_test(poisson_arrivals_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
