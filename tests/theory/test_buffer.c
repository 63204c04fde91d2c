// SPDX-License-Identifier: Apache-2.0
// Thresholds of the buffers, by hand and by the formula of dynamic thresholds.
#include "form.h"
#include "models.h"

#include <math.h>
#include <stdio.h>

#include "weft/buffer.h"

enum { LOSSLESS = 1 << 3, TWO_LOSSLESS = LOSSLESS | 1 << 4 };

struct buffer {
    const struct weft_buffer_ops *ops;
    void *conf, *state;
};

static struct buffer buffer_new(const char *name, const char *yaml, uint32_t ports) {
    const struct weft_model *model = model_of(WEFT_KIND_BUFFER, name);
    struct buffer b = {.ops = model->ops, .conf = conf_of(model, yaml)};
    b.state = malloc(b.ops->state_size(b.conf, ports));
    memset(b.state, 0xa5, b.ops->state_size(b.conf, ports)); // init sets all of it
    b.ops->init(b.state, b.conf, ports, LOSSLESS);
    return b;
}

static void buffer_free(struct buffer *b) {
    assert_null(b->ops->check(b->state, b->conf));
    free(b->conf);
    free(b->state);
}

static enum weft_buffer_answer admit(struct buffer *b, uint32_t port, uint32_t priority, uint32_t bytes) {
    return b->ops->admit(b->state, b->conf, port, 0, priority, bytes);
}

static enum weft_buffer_answer release(struct buffer *b, uint32_t port, uint32_t priority, uint32_t bytes) {
    return b->ops->release(b->state, b->conf, port, 0, priority, bytes);
}

static weft_bytes level(struct buffer *b, uint32_t port, uint32_t priority) {
    return b->ops->level(b->state, b->conf, port, priority);
}

static void static_thresholds(void **state) {
    struct buffer b = buffer_new("static", "{size: 10000B, xoff: 8000B, xon: 6000B}", 2);
    assert_int_equal(admit(&b, 0, 3, 8000), WEFT_BUFFER_OK); // not above
    assert_int_equal(b.ops->review(b.state, b.conf, 0, 3), WEFT_BUFFER_OK);
    assert_int_equal(admit(&b, 0, 3, 1), WEFT_BUFFER_XOFF);    // above
    assert_int_equal(admit(&b, 0, 3, 1999), WEFT_BUFFER_XOFF); // exactly full
    assert_int_equal(admit(&b, 0, 3, 1), WEFT_BUFFER_DROP);
    assert_int_equal(admit(&b, 1, 3, 8000), WEFT_BUFFER_OK);    // a port of its own
    assert_int_equal(admit(&b, 0, 2, 10000), WEFT_BUFFER_OK);   // lossy: no XOFF
    assert_int_equal(admit(&b, 0, 2, 1), WEFT_BUFFER_DROP);     // but a limit
    assert_int_equal(release(&b, 0, 3, 3999), WEFT_BUFFER_OK);  // 6001
    assert_int_equal(release(&b, 0, 3, 1), WEFT_BUFFER_XON);    // 6000
    assert_int_equal(release(&b, 0, 3, 6000), WEFT_BUFFER_XON); // still
    assert_int_equal(b.ops->level_max(b.state, b.conf, 0, 3), 10000);
    buffer_free(&b);
}

// N groups that always want more hold alpha B / (1 + N alpha) each of a shared pool of B bytes, and B / (1 + N alpha)
// stays free: Choudhury and Hahne 1998, equation 2. Packets of 1 byte reach it to within rounding.
static void dynamic_thresholds_share_the_pool(void **state) {
    static const char *const yaml[] = {
        "{total: 100KB, reserve: 0B, headroom: 0B, alpha: 1/8}",
        "{total: 100KB, reserve: 0B, headroom: 0B, alpha: 1}",
        "{total: 100KB, reserve: 0B, headroom: 0B, alpha: 2}",
    };
    static const double alphas[] = {1. / 8, 1, 2};
    for (unsigned a = 0; a < 3; a++)
        for (uint32_t n = 1; n <= 8; n *= 2) {
            struct buffer b = buffer_new("dynamic", yaml[a], 8);
            for (unsigned full = 0; full < n;) { // in turn, until all are refused
                full = 0;
                for (uint32_t port = 0; port < n; port++)
                    full += admit(&b, port, 0, 1) == WEFT_BUFFER_DROP;
            }
            double expected = alphas[a] * 100000 / (1 + n * alphas[a]);
            for (uint32_t port = 0; port < n; port++)
                form_assert("Dynamic thresholds of a shared buffer (Choudhury and Hahne 1998, equation 2)",
                            (double)level(&b, port, 0), expected, 2 / expected);
            buffer_free(&b);
        }
}

// Classes of different weights that want all they can get, one after the other: each gets a / (1 + a) of what those
// before it have left, where a is its alpha.
static void weights_are_shares_of_classes(void **state) {
    static const double alphas[WEFT_PRIORITIES] = {1. / 8, 1. / 8, 2. / 8, 1. / 8, 3. / 8, 4. / 8, 1. / 8, 8. / 8};
    struct buffer b = buffer_new(
        "dynamic", "{total: 100KB, reserve: 0B, headroom: 0B, alpha: 1/8, weights: [1, 1, 2, 1, 3, 4, 1, 8]}", 1);
    double left = 100000;
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++) {
        if (LOSSLESS >> priority & 1) continue;
        while (admit(&b, 0, priority, 1) != WEFT_BUFFER_DROP)
            ;
        double expected = left * alphas[priority] / (1 + alphas[priority]);
        assert_true(fabs((double)level(&b, 0, priority) - expected) <= 2);
        left -= expected;
    }
    buffer_free(&b);
}

// 8 priorities x 1000 B of reserve and 5000 B of headroom leave 20000 - 13000 = 7000 B to share on a one-port switch.
// With alpha = 1 and nothing else in the pool a group may hold half of it: 3500 B beyond its 1000 B.
static void lossless_groups_go_to_headroom(void **state) {
    struct buffer b =
        buffer_new("dynamic", "{total: 20000B, reserve: 1000B, headroom: 5000B, alpha: 1, xon_offset: 500B}", 1);
    assert_int_equal(admit(&b, 0, 3, 1000), WEFT_BUFFER_OK);
    assert_int_equal(admit(&b, 0, 3, 3500), WEFT_BUFFER_OK);
    assert_int_equal(admit(&b, 0, 3, 1), WEFT_BUFFER_XOFF);    // 3501 > 3500: to the headroom
    assert_int_equal(admit(&b, 0, 3, 4999), WEFT_BUFFER_XOFF); // headroom is full
    assert_int_equal(admit(&b, 0, 3, 1), WEFT_BUFFER_DROP);
    assert_int_equal(level(&b, 0, 3), 9500);
    // Lossy priority 2 may take its reserve and a threshold of 7000 - 3500 = 3500, but 3500 B of pool are all that is
    // left.
    assert_int_equal(admit(&b, 0, 2, 1000), WEFT_BUFFER_OK);
    assert_int_equal(admit(&b, 0, 2, 3501), WEFT_BUFFER_DROP);
    assert_int_equal(release(&b, 0, 3, 5000), WEFT_BUFFER_OK); // the headroom is empty, 3500 of 3500 shared: no XON yet
    assert_int_equal(release(&b, 0, 3, 249), WEFT_BUFFER_OK);  // 3251 + 500 > 7000 - 3251 = 3749
    assert_int_equal(release(&b, 0, 3, 1), WEFT_BUFFER_XON);   // 3250 + 500 = 3750 <= 3750
    buffer_free(&b);
}

// Filling the pool from elsewhere lowers the threshold under a group that did nothing: review tells.
static void review_sees_what_others_did(void **state) {
    struct buffer b = buffer_new("dynamic", "{total: 100KB, reserve: 0B, headroom: 1KB, alpha: 1}", 4);
    assert_int_equal(admit(&b, 0, 3, 40000), WEFT_BUFFER_OK);
    assert_int_equal(b.ops->review(b.state, b.conf, 0, 3), WEFT_BUFFER_XON);
    assert_int_equal(admit(&b, 1, 0, 25000), WEFT_BUFFER_OK);
    assert_int_equal(b.ops->review(b.state, b.conf, 0, 3), WEFT_BUFFER_XOFF); // 96 - 65 = 31 KB
    release(&b, 1, 0, 25000);
    assert_int_equal(b.ops->review(b.state, b.conf, 0, 3), WEFT_BUFFER_XON);
    buffer_free(&b);
}

static void thresholds_can_be_clamped(void **state) {
    struct buffer b = buffer_new(
        "dynamic", "{total: 100KB, reserve: 0B, headroom: 0B, alpha: 1, threshold_min: 5KB, threshold_max: 10KB}", 12);
    for (uint32_t port = 0; port < 9; port++) {
        assert_int_equal(admit(&b, port, 0, 10000), WEFT_BUFFER_OK);
        assert_int_equal(admit(&b, port, 0, 1), WEFT_BUFFER_DROP);
    }
    assert_int_equal(admit(&b, 9, 0, 5000), WEFT_BUFFER_OK);
    assert_int_equal(admit(&b, 10, 0, 5000), WEFT_BUFFER_OK); // alpha x 5000 free, or the minimum
    assert_int_equal(admit(&b, 11, 0, 1), WEFT_BUFFER_DROP);  // the pool is full
    buffer_free(&b);
}

static void a_pool_too_small_does_not_fit(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_BUFFER, "dynamic");
    const struct weft_buffer_ops *ops = model->ops;
    void *conf = conf_of(model, "{total: 20000B, reserve: 1000B, headroom: 5000B}");
    char text[300];
    assert_null(ops->fit(conf, 1, LOSSLESS, 1, text, sizeof text));
    const char *why = ops->fit(conf, 2, LOSSLESS, 1, text, sizeof text);
    assert_non_null(why);
    assert_non_null(strstr(why, "26000"));
    free(conf);
    // Reserve 1000, of the shared 7000 a quarter: 2750. The headroom takes more, but only lossless priorities have it.
    conf = conf_of(model, "{total: 20000B, reserve: 1000B, headroom: 5000B, alpha: 1/4}");
    assert_null(ops->fit(conf, 1, LOSSLESS, 5000, text, sizeof text));
    why = ops->fit(conf, 1, LOSSLESS, 5001, text, sizeof text);
    assert_non_null(why);
    assert_non_null(strstr(why, "5001 B"));
    free(conf);
    conf = conf_of(model, "{total: 15000B, reserve: 1000B, headroom: 5000B, alpha: 1/4}");
    assert_null(ops->fit(conf, 1, 0, 2750, text, sizeof text));
    assert_non_null(ops->fit(conf, 1, 0, 2751, text, sizeof text));
    free(conf);
}

// Ports of 100G and 1 us, 12500 B in flight: 2000 B + once that is 14500 B of headroom for each of two lossless
// priorities. One reserve of 1000 B for each of 8 priorities, and both headrooms; or one of each a port. To the byte,
// what is left is shared: 5000 B, with alpha 1 all for one group.
static void headroom_by_link_is_exact(void **state) {
    static const struct weft_buffer_port port[] = {{100000000000, 100000000000, 1000000},
                                                   {100000000000, 100000000000, 1000000}};
    static const struct {
        const char *dedicated;
        unsigned long long bytes; ///< of their own
    } cases[] = {{"group", 2 * (8 * 1000 + 2 * 14500)}, {"port", 2 * (1000 + 14500)}};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned spare = 0; spare < 3; spare++) { // a byte too few, just enough, and 5000 more
            char yaml[160], text[300];
            snprintf(yaml, sizeof yaml,
                     "{total: %lluB, reserve: 1000B, headroom: 2000B, link_headroom: 1, alpha: 1, dedicated: %s}",
                     cases[i].bytes + (spare == 2 ? 5000 : spare) - (spare < 2), cases[i].dedicated);
            struct buffer b = buffer_new("dynamic", yaml, 2);
            b.ops->init(b.state, b.conf, 2, TWO_LOSSLESS);
            const char *why = b.ops->fit_ports(b.conf, port, 2, TWO_LOSSLESS, text, sizeof text);
            assert_int_equal(!why, spare > 0);
            for (uint32_t k = 0; k < 2 && spare == 2; k++)
                b.ops->set_port(b.state, b.conf, k, &port[k]);
            if (spare == 2) {
                assert_int_equal(admit(&b, 0, 0, 1000 + 5000 + 1), WEFT_BUFFER_DROP);
                assert_int_equal(admit(&b, 0, 0, 1000 + 5000), WEFT_BUFFER_OK);
                assert_int_equal(admit(&b, 1, 3, 1000), WEFT_BUFFER_OK);
                assert_int_equal(admit(&b, 1, 3, 14500), WEFT_BUFFER_XOFF);
                assert_int_equal(admit(&b, 1, 3, 1), WEFT_BUFFER_DROP);
            }
            buffer_free(&b);
        }
}

/// Bytes that a group takes one by one.
static weft_bytes fill(struct buffer *b, uint32_t port, uint32_t priority) {
    weft_bytes bytes = 0;
    while (admit(b, port, priority, 1) == WEFT_BUFFER_OK)
        bytes++;
    return bytes;
}

// 20000 B; each lossless priority of the two ports has 2000 B of headroom, or each port has that once. With alpha 1 a
// group gets half of the rest, to the byte; what is in the shared pool stays there when there is less of it than that.
static void lossless_priorities_take_headroom_when_they_change(void **state) {
    static const struct {
        const char *dedicated;
        uint8_t first, second; ///< lossless priorities of the ports
        weft_bytes shared;
    } cases[] = {
        {"group", 0, 0, 20000},   {"group", 1 << 0, 0, 18000}, {"group", 0, 1 << 7, 18000}, {"group", 0x81, 8, 14000},
        {"group", 0x0f, 7, 6000}, {"port", 0, 0, 20000},       {"port", 1 << 0, 0, 18000},  {"port", 0xbf, 8, 16000},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[160];
        snprintf(yaml, sizeof yaml, "{total: 20000B, reserve: 0B, headroom: 2000B, alpha: 1, dedicated: %s}",
                 cases[i].dedicated);
        struct buffer b = buffer_new("dynamic", yaml, 2);
        b.ops->set_lossless(b.state, b.conf, 0, cases[i].first);
        b.ops->set_lossless(b.state, b.conf, 1, cases[i].second);
        assert_int_equal(fill(&b, 0, 6), cases[i].shared / 2);
        buffer_free(&b);
    }
    struct buffer b = buffer_new("dynamic", "{total: 20000B, reserve: 0B, headroom: 2000B, alpha: 1}", 2);
    assert_int_equal(fill(&b, 0, 6), 8000); // of 16000
    b.ops->set_lossless(b.state, b.conf, 0, 0x3f);
    b.ops->set_lossless(b.state, b.conf, 1, 0x1f); // 22000 B of headroom
    assert_int_equal(level(&b, 0, 6), 8000);
    assert_int_equal(b.ops->room(b.state, b.conf, 1, 0, 6), 0);
    assert_int_equal(fill(&b, 1, 6), 0);
    b.ops->set_lossless(b.state, b.conf, 1, 0); // 12000 B
    assert_int_equal(release(&b, 0, 6, 8000), WEFT_BUFFER_OK);
    assert_int_equal(fill(&b, 1, 6), 4000);
    buffer_free(&b);
}

// What is dedicated once a port, from the start; and alpha doubles with the rate as long as it is below 1.
// A group takes a byte while it then holds no more than alpha times what was free: 18001 alpha / (1 + alpha) of 18000.
static void ports_have_their_own(void **state) {
    struct buffer b =
        buffer_new("dynamic", "{total: 20000B, reserve: 1000B, headroom: 2000B, alpha: 1, dedicated: port}", 2);
    assert_int_equal(fill(&b, 0, 6), 1000 + (20000 - 2 * 3000) / 2);
    b.ops->init(b.state, b.conf, 2, 0); // anew, without a lossless priority
    assert_int_equal(level(&b, 0, 6), 0);
    assert_int_equal(b.ops->room(b.state, b.conf, 0, 0, 6), 1000 + 18000);
    assert_int_equal(fill(&b, 0, 6), 1000 + 18000 / 2);
    assert_int_equal(fill(&b, 1, 6), 1000 + 9000 / 2);
    buffer_free(&b);
    static const struct {
        const char *alpha;
        uint64_t times; ///< the rate of the slowest host
        weft_bytes takes;
    } cases[] = {{"1/8", 1, 2000}, {"1/8", 2, 3600},  {"1/8", 4, 6000},  {"1/8", 8, 9000}, {"1/8", 16, 9000},
                 {"1/3", 2, 7200}, {"1/3", 4, 10286}, {"1/3", 8, 10286}, {"2", 8, 12000}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[160];
        snprintf(yaml, sizeof yaml, "{total: 18000B, reserve: 0B, headroom: 0B, alpha: %s, alpha_by_rate: true}",
                 cases[i].alpha);
        b = buffer_new("dynamic", yaml, 1);
        b.ops->set_port(b.state, b.conf, 0, &(struct weft_buffer_port){cases[i].times * 1000, 1000, 1});
        assert_int_equal(fill(&b, 0, 6), cases[i].takes);
        buffer_free(&b);
    }
}

// A frame has to go below xoff or, of a lossless priority, into the headroom; of a lossy one it may fill the buffer.
static void shared_buffers_take_a_full_frame(void **state) {
    static const char *const kinds[] = {"pool", "egress"};
    static const struct {
        const char *yaml;
        uint32_t lossless, lossy; ///< the largest frames that fit
    } cases[] = {
        {"{size: 10000B, xoff: 6000B, xon: 5000B}", 6000, 10000},
        {"{size: 10000B, xoff: 3000B, xon: 2000B}", 7000, 10000},
        {"{size: 10000B, xoff: 3000B, xon: 2000B, headroom: 4000B}", 4000, 10000},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const struct weft_model *model = model_of(WEFT_KIND_BUFFER, kinds[k]);
            const struct weft_buffer_ops *ops = model->ops;
            void *conf = conf_of(model, cases[i].yaml);
            char text[300];
            assert_null(ops->fit(conf, 2, LOSSLESS, cases[i].lossless, text, sizeof text));
            assert_non_null(ops->fit(conf, 2, LOSSLESS, cases[i].lossless + 1, text, sizeof text));
            assert_null(ops->fit(conf, 2, 0, cases[i].lossy, text, sizeof text));
            assert_non_null(ops->fit(conf, 2, 0, cases[i].lossy + 1, text, sizeof text));
            free(conf);
        }
}

// Room is what would be taken without XOFF, to the byte: all of a large alpha's pool, a half of it with alpha 1, and
// what is left beside others; a lossless group keeps its headroom out of it.
static void room_is_what_is_taken(void **state) {
    static const char *const alphas[] = {"1/8", "1", "128"};
    for (unsigned i = 0; i < sizeof alphas / sizeof *alphas; i++)
        for (uint32_t beside = 0; beside <= 4000; beside += 2000)
            for (uint32_t priority = 2; priority <= 3; priority++) {
                char yaml[160];
                snprintf(yaml, sizeof yaml, "{total: 30000B, reserve: 1000B, headroom: 2000B, alpha: %s}", alphas[i]);
                for (uint32_t more = 0; more < 2; more++) {
                    struct buffer b = buffer_new("dynamic", yaml, 2);
                    if (beside) admit(&b, 1, 0, beside);
                    weft_bytes room = b.ops->room(b.state, b.conf, 0, 0, priority);
                    if (i == 2 && priority == 2) assert_int_equal(room, 11000 - (beside > 1000 ? beside - 1000 : 0));
                    bool taken = admit(&b, 0, priority, (uint32_t)room + more) == WEFT_BUFFER_OK &&
                                 b.ops->review(b.state, b.conf, 0, priority) != WEFT_BUFFER_XOFF;
                    assert_int_equal(taken, !more);
                    buffer_free(&b);
                }
            }
}

// 4 GiB less one byte of headroom is as much as a port may have.
static void headroom_has_a_limit(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_BUFFER, "dynamic");
    const struct weft_buffer_ops *ops = model->ops;
    void *conf = conf_of(model, "{total: 1TB, headroom: 2000B, link_headroom: 1}");
    struct weft_buffer_port port = {UINT64_C(34359722360), UINT64_C(34359722360), WEFT_PS_PER_S}; // 2^32 - 2001 B
    char text[300];
    assert_null(ops->fit_ports(conf, &port, 1, LOSSLESS, text, sizeof text));
    port.rate_bps += 8;
    assert_non_null(ops->fit_ports(conf, &port, 1, LOSSLESS, text, sizeof text));
    free(conf);
}

// The invariant looks at every group: what the last one holds is too much for a smaller buffer.
static void checks_see_every_group(void **state) {
    static const char *const kinds[] = {"static", "pool", "egress"};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct buffer b = buffer_new(kinds[i], "{size: 10000B, xoff: 8000B, xon: 6000B}", 2);
        void *smaller = conf_of(model_of(WEFT_KIND_BUFFER, kinds[i]), "{size: 5000B, xoff: 4000B, xon: 3000B}");
        assert_int_equal(b.ops->admit(b.state, b.conf, 1, 1, 7, 9000), WEFT_BUFFER_OK);
        assert_non_null(b.ops->check(b.state, smaller));
        free(smaller);
        buffer_free(&b);
    }
}

// One pool of 8000 B for three ports; what comes when it is full goes to the port's own headroom, 2000 B, and asks for
// a pause of that port alone.
static void ports_share_one_pool(void **state) {
    struct buffer b = buffer_new("pool", "{size: 10000B, xoff: 8000B, xon: 6000B}", 3);
    assert_int_equal(b.ops->room(b.state, b.conf, 2, 0, 3), 8000);
    assert_int_equal(admit(&b, 0, 3, 5000), WEFT_BUFFER_OK);
    assert_int_equal(admit(&b, 1, 3, 3000), WEFT_BUFFER_OK); // full
    assert_int_equal(b.ops->room(b.state, b.conf, 2, 0, 3), 0);
    assert_int_equal(admit(&b, 1, 3, 1500), WEFT_BUFFER_XOFF);
    assert_int_equal(b.ops->review(b.state, b.conf, 0, 3), WEFT_BUFFER_XON); // sent nothing since
    assert_int_equal(admit(&b, 1, 3, 501), WEFT_BUFFER_DROP);
    assert_int_equal(admit(&b, 0, 3, 2000), WEFT_BUFFER_XOFF); // headroom of its own
    assert_int_equal(admit(&b, 2, 2, 10000), WEFT_BUFFER_OK);  // another priority, lossy: another pool
    assert_int_equal(admit(&b, 0, 2, 1), WEFT_BUFFER_DROP);

    assert_int_equal(release(&b, 1, 3, 1500), WEFT_BUFFER_OK); // headroom first: the pool is as full as before
    assert_int_equal(release(&b, 0, 3, 2000 + 1999), WEFT_BUFFER_OK);
    assert_int_equal(release(&b, 0, 3, 1), WEFT_BUFFER_XON); // 6000 left
    assert_int_equal(b.ops->review(b.state, b.conf, 1, 3), WEFT_BUFFER_XON);
    assert_int_equal(level(&b, 0, 3), 3000);
    buffer_free(&b);
}

// A port that has nothing left in the pool continues, however full others keep it.
static void who_holds_nothing_goes_on(void **state) {
    struct buffer b = buffer_new("pool", "{size: 10000B, xoff: 8000B, xon: 6000B, headroom: 4000B}", 2);
    assert_int_equal(admit(&b, 0, 3, 7900), WEFT_BUFFER_OK);
    assert_int_equal(admit(&b, 1, 3, 4000), WEFT_BUFFER_XOFF); // headroom as given, not size - xoff
    assert_int_equal(admit(&b, 1, 3, 101), WEFT_BUFFER_DROP);
    assert_int_equal(release(&b, 1, 3, 3999), WEFT_BUFFER_OK);
    assert_int_equal(release(&b, 1, 3, 1), WEFT_BUFFER_XON);
    buffer_free(&b);
}

// Queues of 8000 B at two outputs. Queue 1 pauses both inputs that send to it above XOFF; queue 0, half full, pauses
// nobody. Input 0 goes on when queue 1 is at XON, input 1 when nothing of its own is left in it.
static void a_queue_pauses_all_that_feed_it(void **state) {
    struct buffer b = buffer_new("egress", "{size: 10000B, xoff: 8000B, xon: 6000B}", 3);
    const struct weft_buffer_ops *ops = b.ops;
    assert_int_equal(ops->admit(b.state, b.conf, 0, 1, 3, 6000), WEFT_BUFFER_OK);
    assert_int_equal(ops->admit(b.state, b.conf, 0, 0, 3, 4000), WEFT_BUFFER_OK); // another queue
    assert_int_equal(ops->admit(b.state, b.conf, 1, 1, 3, 1000), WEFT_BUFFER_OK); // queue 1 has 7000
    assert_int_equal(ops->room(b.state, b.conf, 2, 1, 3), 1000);
    assert_int_equal(ops->room(b.state, b.conf, 2, 0, 3), 4000);
    assert_int_equal(ops->admit(b.state, b.conf, 1, 1, 3, 1500), WEFT_BUFFER_XOFF); // to its headroom
    assert_int_equal(ops->admit(b.state, b.conf, 0, 1, 3, 2000), WEFT_BUFFER_XOFF); // to its own
    assert_int_equal(ops->admit(b.state, b.conf, 0, 1, 3, 1001), WEFT_BUFFER_DROP);
    assert_int_equal(ops->review(b.state, b.conf, 2, 3), WEFT_BUFFER_XON);
    assert_int_equal(level(&b, 0, 3), 12000);
    assert_int_equal(ops->release(b.state, b.conf, 0, 0, 3, 4000), WEFT_BUFFER_OK);  // not what it is paused for
    assert_int_equal(ops->release(b.state, b.conf, 1, 1, 3, 1500), WEFT_BUFFER_OK);  // 7000, and 1000 of it its own
    assert_int_equal(ops->release(b.state, b.conf, 1, 1, 3, 1000), WEFT_BUFFER_XON); // nothing left
    assert_int_equal(ops->release(b.state, b.conf, 0, 1, 3, 2000), WEFT_BUFFER_XON); // 6000
    buffer_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_thresholds),
        cmocka_unit_test(headroom_by_link_is_exact),
        cmocka_unit_test(lossless_priorities_take_headroom_when_they_change),
        cmocka_unit_test(ports_have_their_own),
        cmocka_unit_test(shared_buffers_take_a_full_frame),
        cmocka_unit_test(room_is_what_is_taken),
        cmocka_unit_test(headroom_has_a_limit),
        cmocka_unit_test(checks_see_every_group),
        cmocka_unit_test(dynamic_thresholds_share_the_pool),
        cmocka_unit_test(weights_are_shares_of_classes),
        cmocka_unit_test(lossless_groups_go_to_headroom),
        cmocka_unit_test(review_sees_what_others_did),
        cmocka_unit_test(thresholds_can_be_clamped),
        cmocka_unit_test(a_pool_too_small_does_not_fit),
        cmocka_unit_test(ports_share_one_pool),
        cmocka_unit_test(who_holds_nothing_goes_on),
        cmocka_unit_test(a_queue_pauses_all_that_feed_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
