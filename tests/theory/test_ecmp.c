// SPDX-License-Identifier: Apache-2.0
// ECMP against balls in bins: n flows with random entropy over m links.
#include "form.h"
#include "models.h"

#include <math.h>

#include "weft/random.h"
#include "weft/route.h"

static uint16_t ports[128];

struct moments {
    double mean, variance;
};

/// Product of two distributions of sums, cut at n.
static void convolve(const double *a, const double *b, double *ret, uint32_t n) {
    for (uint32_t i = 0; i <= n; i++) {
        double sum = 0;
        for (uint32_t k = 0; k <= i; k++)
            sum += a[k] * b[i - k];
        ret[i] = sum;
    }
}

/// P(no link has more than k of n flows), exactly. With Poisson(n/m) flows on each link, the loads given that they sum
/// to n are those of n flows thrown at random; so P = P(sum of m Poissons, each at most k, is n) / P(Poisson(n) = n).
static double calc_at_most(uint32_t n, uint32_t m, uint32_t k) {
    double *power = calloc(n + 1, sizeof *power), *sum = calloc(n + 1, sizeof *sum),
           *next = calloc(n + 1, sizeof *next);
    double mean = (double)n / m;
    for (uint32_t j = 0; j <= k && j <= n; j++)
        power[j] = exp(j * log(mean) - mean - lgamma(j + 1.));
    sum[0] = 1;
    for (uint32_t left = m; left; left >>= 1) {
        if (left & 1) {
            convolve(sum, power, next, n);
            memcpy(sum, next, (n + 1) * sizeof *sum);
        }
        if (left == 1) break;
        convolve(power, power, next, n);
        memcpy(power, next, (n + 1) * sizeof *power);
    }
    double p = sum[n] / exp(n * log((double)n) - n - lgamma(n + 1.));
    free(power);
    free(sum);
    free(next);
    return p;
}

/// Mean and variance of the greatest load.
static struct moments calc_max_load(uint32_t n, uint32_t m) {
    double mean = 0, square = 0, below = 0;
    for (uint32_t k = (n + m - 1) / m; k <= n; k++) {
        double at_most = calc_at_most(n, m, k), p = at_most - below;
        mean += k * p;
        square += (double)k * k * p;
        below = at_most;
        if (1 - at_most < 1e-10) break;
    }
    return (struct moments){mean, square - mean * mean};
}

struct throw {
    uint32_t max, empty;
};

static struct throw throw_flows(const struct weft_route_ops *ops, const void *conf, uint32_t seed, uint32_t n,
                                uint32_t m, struct weft_random *random) {
    uint32_t load[128] = {0};
    struct throw t = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        struct weft_packet p = {.dst = (uint32_t)weft_random_below(random, 4096),
                                .entropy = weft_random_u64(random) & 0x3fff};
        struct weft_route_query query = {&p, seed, m, ports, 0, NULL};
        uint32_t port = ops->select(conf, &query);
        if (++load[port] > t.max) t.max = load[port];
    }
    for (uint32_t i = 0; i < m; i++)
        t.empty += load[i] == 0;
    return t;
}

// E[max load] exactly; the last column is an independent Monte Carlo of 4 to 20 thousand trials, which must agree to
// the three digits it has (+-1 %). P(a link is empty) = (1 - 1/m)^n. P(no two flows share a link) = m! / ((m - n)!
// m^n). The hash must reproduce them within four standard deviations of so many trials.
static void loads_are_those_of_random_choice(void **state) {
    static const struct {
        uint32_t n, m;
        double max;
    } table[] = {{8, 8, 2.60},     {16, 16, 3.08}, {18, 18, 3.15}, {32, 16, 4.83},   {64, 16, 7.88},  {256, 16, 23.45},
                 {1000, 16, 76.8}, {32, 32, 3.53}, {64, 64, 3.97}, {128, 128, 4.38}, {512, 32, 24.85}};
    const struct weft_model *model = model_of(WEFT_KIND_ROUTE, "ecmp");
    const struct weft_route_ops *ops = model->ops;
    void *conf = conf_of(model, NULL);
    struct weft_random random = weft_random_stream(11, 0, WEFT_RANDOM_TEST);
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        uint32_t n = table[i].n, m = table[i].m, trials = 4000;
        struct moments exact = calc_max_load(n, m);
        form_assert("Flows on the busiest link, exact, beside 4000 to 20000 throws (balls in bins)", table[i].max,
                    exact.mean, table[i].max * .01 / exact.mean);
        double max = 0, empty = 0;
        for (uint32_t k = 0; k < trials; k++) {
            struct throw t = throw_flows(ops, conf, ops->hash_seed(conf, 1, k), n, m, &random);
            max += t.max;
            empty += t.empty;
        }
        form_assert("Flows on the busiest link by the hash of ECMP (balls in bins)", max / trials, exact.mean,
                    4 * sqrt(exact.variance / trials) / exact.mean);
        // Links are negatively correlated, so that independence bounds the variance.
        double p = pow(1 - 1. / m, n);
        form_assert("Links that the hash of ECMP uses (1 - (1 - 1/m)^n)", 1 - empty / trials / m, 1 - p,
                    4 * sqrt(p * (1 - p) / trials / m) / (1 - p));
    }
    free(conf);
}

static void collisions_are_those_of_random_choice(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_ROUTE, "ecmp");
    const struct weft_route_ops *ops = model->ops;
    void *conf = conf_of(model, NULL);
    struct weft_random random = weft_random_stream(12, 0, WEFT_RANDOM_TEST);
    static const uint32_t flows[] = {2, 4, 8};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t n = flows[i], m = 16, trials = 20000, apart = 0;
        double p = 1;
        for (uint32_t k = 0; k < n; k++)
            p *= (double)(m - k) / m;
        for (uint32_t k = 0; k < trials; k++)
            apart += throw_flows(ops, conf, ops->hash_seed(conf, 2, k), n, m, &random).max == 1;
        form_assert("Chance that no two flows share a link (m! / (m - n)! / m^n)", (double)apart / trials, p,
                    4 * sqrt(p * (1 - p) / trials) / p);
    }
    free(conf);
}

/// Flows that switch 1 sends over its link 0 come to a second switch with as many links: how many does that one use?
static uint32_t links_used_by_second_layer(const char *yaml, uint32_t links) {
    const struct weft_model *model = model_of(WEFT_KIND_ROUTE, "ecmp");
    const struct weft_route_ops *ops = model->ops;
    void *conf = conf_of(model, yaml);
    struct weft_random random = weft_random_stream(13, 0, WEFT_RANDOM_TEST);
    uint32_t seed[2] = {ops->hash_seed(conf, 1, 1), ops->hash_seed(conf, 1, 2)};
    uint32_t used = 0, load[128] = {0};
    for (unsigned i = 0; i < 400 * links; i++) {
        struct weft_packet p = {.dst = (uint32_t)weft_random_below(&random, 4096),
                                .entropy = weft_random_u64(&random) & 0x3fff};
        struct weft_route_query first = {&p, seed[0], links, ports, 0, NULL},
                                second = {&p, seed[1], links, ports, 0, NULL};
        if (ops->select(conf, &first) == 0) load[ops->select(conf, &second)]++;
    }
    for (uint32_t i = 0; i < links; i++)
        used += load[i] > 0;
    free(conf);
    return used;
}

// With the same hash the second layer repeats the choice of the first: 1 of m links. With its own, about 400 flows fall
// on m links at random: P(one stays empty) = (1 - 1/16)^400 < 1e-11.
static void equal_seeds_polarise(void **state) {
    assert_int_equal(links_used_by_second_layer("{hash_seed: same}", 16), 1);
    assert_int_equal(links_used_by_second_layer("{hash_seed: per_switch}", 16), 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_those_of_random_choice),
        cmocka_unit_test(collisions_are_those_of_random_choice),
        cmocka_unit_test(equal_seeds_polarise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
