// SPDX-License-Identifier: Apache-2.0
// Results of flows by their size.
#include "report/text.h"
#include "results/rows.h"

struct sizes {
    struct weft__size_bin *bin;
    uint32_t n;
};

static bool next_bin(struct weft_result_cursor *c) {
    struct sizes *s = c->state;
    if (!s) {
        s = c->state = weft_arena_alloc(c->arena, 1, sizeof *s);
        s->bin = weft__report_sizes(c->run, c->arena, &s->n);
    }
    if (c->at == s->n) return false;
    c->part[0] = &s->bin[c->at++];
    return true;
}

#define OF_BIN(field, kind, ...) WEFT_RESULT(struct weft__size_bin, field, kind, __VA_ARGS__)
#define QUANTILES(field, key, kind, what)                                                                              \
    WEFT_RESULT_NAMED(struct weft__size_bin, field.mean, key ".mean", kind, what ", mean"),                            \
        WEFT_RESULT_NAMED(struct weft__size_bin, field.p50, key ".p50", kind, what ", median"),                        \
        WEFT_RESULT_NAMED(struct weft__size_bin, field.p95, key ".p95", kind, what ", 95th percentile"),               \
        WEFT_RESULT_NAMED(struct weft__size_bin, field.p99, key ".p99", kind, what ", 99th percentile"),               \
        WEFT_RESULT_NAMED(struct weft__size_bin, field.max, key ".max", kind, what ", greatest")
const struct weft_result_table weft__results_sizes = WEFT_RESULT_TABLE_OF(
    "sizes", LIST, "flows of a group whose sizes are in one decade: below 1 KB, 1 KB to 10 KB, and so on",
    .next = next_bin, OF_BIN(group, TEXT, "name of the flows' group", .references = "groups", .flags = WEFT_RESULT_KEY),
    OF_BIN(from_bytes, BYTES, "least size of a flow that counts here", .flags = WEFT_RESULT_KEY),
    OF_BIN(below_bytes, BYTES, "sizes are less than this"), OF_BIN(flows, COUNT, "flows of such a size"),
    OF_BIN(finished, COUNT, "flows of such a size that are finished"),
    QUANTILES(fct_ps, "fct_ps", TIME, "completion time of finished flows"),
    QUANTILES(slowdown, "slowdown", REAL,
              "completion time of finished flows over that of the same flow alone in the empty network"));
