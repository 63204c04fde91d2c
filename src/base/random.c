// SPDX-License-Identifier: Apache-2.0
#include "weft/random.h"

#include <assert.h>
#include <math.h>

#include "base/digest.h"

// The library's header does not compile cleanly with our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

uint64_t weft_random_seed_of(uint64_t seed, const char *name) {
    return weft__hash_text(WEFT__HASH_START ^ seed, name);
}

struct weft_random weft_random_stream(uint64_t seed, uint32_t who, enum weft_random_purpose purpose) {
    return (struct weft_random){.seed = seed, .who = who, .purpose = purpose};
}

uint64_t weft_random_u64(struct weft_random *random) {
    // Key: the run's seed. Counter: owner, purpose and the number of earlier draws.
    philox4x32_key_t key = {{(uint32_t)random->seed, (uint32_t)(random->seed >> 32)}};
    philox4x32_ctr_t counter = {
        {(uint32_t)random->drawn, (uint32_t)(random->drawn >> 32), random->who, random->purpose}};
    random->drawn++;
    philox4x32_ctr_t out = philox4x32(counter, key);
    return (uint64_t)out.v[0] << 32 | out.v[1];
}

double weft_random_unit(struct weft_random *random) {
    return (double)(weft_random_u64(random) >> 11) * 0x1p-53;
}

uint64_t weft_random_below(struct weft_random *random, uint64_t n) {
    assert(n > 0);
    uint64_t limit = UINT64_MAX - UINT64_MAX % n; // reject the tail that would favour small numbers
    uint64_t x;
    do
        x = weft_random_u64(random);
    while (x >= limit);
    return x % n;
}

/// Terms of the two series: the remainder is below half of the last bit.
enum { LOG_POWERS = 21, EXP_POWERS = 14 };
static const double ln_2 = 0x1.62e42fefa39efp-1;

/// The natural logarithm, by its series in (m - 1) / (m + 1) for m from 1/sqrt(2) to sqrt(2).
static double calc_log(double x) {
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    double z = (m - 1) / (m + 1), sum = 0;
    for (int k = LOG_POWERS; k > 0; k -= 2)
        sum = sum * (z * z) + 1.0 / k;
    return 2 * z * sum + exponent * ln_2;
}

/// e^x by its series for the part beyond a power of two; `x` is far from the limits of a double.
static double calc_exp(double x) {
    double power = floor(x / ln_2 + 0.5), rest = x - power * ln_2, sum = 1;
    for (int k = EXP_POWERS; k > 0; k--)
        sum = sum * rest / k + 1;
    return ldexp(sum, (int)power);
}

double weft_random_exponential(struct weft_random *random, double mean) {
    return -mean * calc_log(1 - weft_random_unit(random));
}

/// The polar method: G. Marsaglia and T. A. Bray, "A convenient method for generating normal variables", 1964. Between
/// near bounds, where it would be drawn again a million times, a uniform value is kept with the density's probability.
double weft_random_normal(struct weft_random *random, double bound) {
    static const double near = 0x1p-7;
    assert(bound > 0);
    while (bound < near) {
        double normal = bound * (2 * weft_random_unit(random) - 1);
        if (weft_random_unit(random) < calc_exp(-normal * normal / 2)) return normal;
    }
    for (;;) {
        double u = 2 * weft_random_unit(random) - 1, v = 2 * weft_random_unit(random) - 1, s = u * u + v * v;
        if (s >= 1 || s <= 0) continue;
        double normal = u * sqrt(-2 * calc_log(s) / s);
        if (fabs(normal) <= bound) return normal;
    }
}

double weft_random_lognormal(struct weft_random *random, double median, double sigma) {
    return median * calc_exp(sigma * weft_random_normal(random, HUGE_VAL));
}
