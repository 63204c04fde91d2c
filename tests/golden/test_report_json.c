// SPDX-License-Identifier: Apache-2.0
// Every key and value of the JSON of a run filled in by hand, read back by an independent reader (jansson).
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_sample.h"

static json_t *read_back(const struct weft_run *run, uint32_t runs) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    if (runs == 1)
        weft_report_json(file, run);
    else
        weft_report_json_compare(file, run, runs, 0, NULL, 0);
    fclose(file);
    assert_true(size > 1 && text[size - 1] == '\n' && !memchr(text, '\n', size - 1)); // one line
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s", error.text);
    free(text);
    return root;
}

/// The value at "a.b.0.c"; it must be there.
static json_t *at(json_t *value, const char *path) {
    char part[64];
    while (*path) {
        size_t n = strcspn(path, ".");
        memcpy(part, path, n);
        part[n] = 0;
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(part)) : json_object_get(value, part);
        if (!value) fail_msg("no %s", path);
        path += n + (path[n] == '.');
    }
    return value;
}

static void is_int(json_t *root, const char *path, long long value) {
    json_t *v = at(root, path);
    assert_true(json_is_integer(v));
    if (json_integer_value(v) != value) fail_msg("%s is %lld", path, (long long)json_integer_value(v));
}
static void is_real(json_t *root, const char *path, double value) {
    json_t *v = at(root, path);
    assert_true(json_is_number(v));
    if (fabs(json_number_value(v) - value) > 1e-9 * fabs(value)) fail_msg("%s is %g", path, json_number_value(v));
}
static void is_text(json_t *root, const char *path, const char *value) {
    assert_string_equal(json_string_value(at(root, path)), value);
}
static void is_null(json_t *root, const char *path) {
    assert_true(json_is_null(at(root, path)));
}

static void check_keys(json_t *root, const char *path, size_t n) {
    if (json_object_size(at(root, path)) != n) fail_msg("'%s' has %zu keys", path, json_object_size(at(root, path)));
}

static void head(void **state) {
    (void)state;
    struct report_sample s;
    report_sample_init(&s);
    json_t *root = read_back(&s.run, 1);
    check_keys(root, "", 29);
    is_int(root, "results_version", 2);
    is_int(root, "windows", 1111);
    is_int(root, "window_ps", 131072);
    is_int(root, "unrecorded", 0);
    is_null(root, "unrecorded_ps");
    is_text(root, "weft", WEFT_VERSION);
    is_text(root, "scenario", "sample");
    is_text(root, "variant", "pfc");
    is_int(root, "seed", 42);
    is_int(root, "threads", 2);
    is_text(root, "digest", "0123456789abcdef");
    is_text(root, "end", "until");
    is_int(root, "sim_time_ps", 500000000);
    is_real(root, "wall_s", 0.5);
    is_real(root, "cpu_s", 0.75);
    is_int(root, "packet_hops", 12345678);
    is_int(root, "events", 23456789);
    is_real(root, "packet_hops_per_cpu_s", 12345678 / 0.75);
    is_int(root, "peak_rss_bytes", 33554432);
    check_keys(root, "memory", WEFT_MEMORY_KINDS);
    for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
        is_int(at(root, "memory"), weft_memory_name(k), 1000 + k);
    check_keys(root, "conservation", 4);
    is_int(root, "conservation.injected", 13500000);
    is_int(root, "conservation.delivered", 12700000);
    is_int(root, "conservation.dropped", 8356);
    is_int(root, "conservation.held", 791644);
    json_decref(root);
}

/// By hand: incast took 400 and 420 us, alone 200 us; the one victim that finished took 50.500123 us, alone 40 us.
/// Nearest rank of two values: the median is the smaller, p95 and p99 the larger.
static void groups(void **state) {
    (void)state;
    struct report_sample s;
    report_sample_init(&s);
    json_t *root = read_back(&s.run, 1);
    check_keys(root, "groups", 2);
    check_keys(root, "groups.incast", 11);
    is_real(root, "groups.incast.throughput_bps", 8 * 10000000 / 500e-6);
    is_int(root, "groups.incast.out_of_order", 5);
    is_int(root, "groups.incast.out_of_order_placed", 3);
    is_int(root, "groups.victims.out_of_order", 7);
    is_int(root, "groups.victims.out_of_order_placed", 0);
    check_keys(root, "groups.incast.fct_ps", 5);
    check_keys(root, "groups.incast.slowdown", 5);
    is_int(root, "groups.incast.count", 2);
    is_int(root, "groups.incast.finished", 2);
    is_int(root, "groups.incast.bytes", 10000000);
    is_int(root, "groups.incast.fct_ps.mean", 410000000);
    is_int(root, "groups.incast.fct_ps.p50", 400000000);
    is_int(root, "groups.incast.fct_ps.p95", 420000000);
    is_int(root, "groups.incast.fct_ps.p99", 420000000);
    is_int(root, "groups.incast.fct_ps.max", 420000000);
    is_real(root, "groups.incast.slowdown.mean", 2.05);
    is_real(root, "groups.incast.slowdown.p50", 2.0);
    is_real(root, "groups.incast.slowdown.p95", 2.1);
    is_real(root, "groups.incast.slowdown.p99", 2.1);
    is_real(root, "groups.incast.slowdown.max", 2.1);
    is_int(root, "groups.victims.count", 2);
    is_int(root, "groups.victims.finished", 1);
    is_int(root, "groups.victims.bytes", 3000000);
    is_int(root, "groups.victims.fct_ps.max", 50500123);
    is_real(root, "groups.victims.slowdown.p50", 50.500123 / 40);
    json_decref(root);
}

static void flows(void **state) {
    (void)state;
    struct report_sample s;
    report_sample_init(&s);
    json_t *root = read_back(&s.run, 1);
    assert_int_equal(json_array_size(at(root, "flows")), 4);
    check_keys(root, "flows.1", 21);
    is_int(root, "flows.1.flow", 1);
    is_int(root, "flows.1.qps", 1);
    is_int(root, "flows.1.priority", 3);
    is_text(root, "flows.1.verb", "write");
    is_int(root, "flows.1.acked_ps", 422000000);
    is_int(root, "flows.1.cnps", 4);
    is_int(root, "flows.1.packets_again", 2);
    is_int(root, "flows.1.sfc_messages", 6);
    is_int(root, "flows.1.out_of_order", 5);
    is_int(root, "flows.1.out_of_order_placed", 3);
    is_text(root, "flows.1.group", "incast");
    is_int(root, "flows.1.src", 1);
    is_int(root, "flows.1.dst", 2);
    is_int(root, "flows.1.bytes", 5000000);
    is_int(root, "flows.1.start_ps", 1000000);
    is_int(root, "flows.1.end_ps", 421000000);
    is_int(root, "flows.1.fct_ps", 420000000);
    is_int(root, "flows.1.ideal_ps", 200000000);
    is_int(root, "flows.1.delivered_bytes", 5000000);
    is_int(root, "flows.1.sfc_paused_ps", 3000000);
    is_text(root, "flows.3.group", "victims");
    is_null(root, "flows.3.end_ps");
    is_null(root, "flows.3.fct_ps");
    is_int(root, "flows.3.delivered_bytes", 1234567);
    json_decref(root);
}

static void counters(void **state) {
    (void)state;
    struct report_sample s;
    report_sample_init(&s);
    json_t *root = read_back(&s.run, 1);
    check_keys(root, "counters", 13);
    is_int(root, "counters.pfc_xoff_frames", 11);
    is_int(root, "counters.pfc_paused_ps", 128000000);
    is_int(root, "counters.pfc_storms", 1);
    is_int(root, "counters.ecn_marked", 321);
    is_int(root, "counters.cnp", 7);
    is_int(root, "counters.sfc_messages", 21);
    is_int(root, "counters.sfc_received", 18);
    is_int(root, "counters.sfc_suppressed", 13);
    is_int(root, "counters.sfc_proxied", 2);
    is_int(root, "counters.link_retries", 5);
    is_int(root, "counters.credit_wait_ps", 4000000);
    is_int(root, "counters.sfc_paused_ps", 10000000);
    check_keys(root, "counters.drops", WEFT_DROPS);
    for (unsigned d = 0; d < WEFT_DROPS; d++)
        is_int(at(root, "counters.drops"), weft_drop_names[d], d == WEFT_DROP_AQM || d == WEFT_DROP_HEADROOM);
    json_decref(root);
}

static void nothing_finished(void **state) {
    (void)state;
    struct report_sample s;
    report_sample_init(&s);
    s.flow_outcome[2].end_ps = WEFT_TIME_NEVER;
    s.outcome.cpu_s = 0;
    s.outcome.end = WEFT_END_STALL;
    s.outcome.stall = (char[]){"leaf-0/2 waits for host-2"};
    json_t *root = read_back(&s.run, 1);
    is_int(root, "groups.victims.finished", 0);
    is_null(root, "groups.victims.fct_ps.mean");
    is_null(root, "groups.victims.slowdown.p99");
    is_null(root, "packet_hops_per_cpu_s");
    is_text(root, "end", "stall");
    is_text(root, "stall", "leaf-0/2 waits for host-2");
    json_decref(root);
}

static void compare_is_a_list_of_runs(void **state) {
    (void)state;
    struct report_sample s[2];
    report_sample_init(&s[0]);
    report_sample_init(&s[1]);
    s[1].scenario.variant = "pfc+dcqcn";
    json_t *root = read_back((struct weft_run[]){s[0].run, s[1].run}, 2);
    check_keys(root, "", 2);
    assert_int_equal(json_array_size(at(root, "variants")), 2);
    is_text(root, "variants.0.variant", "pfc");
    is_text(root, "variants.1.variant", "pfc+dcqcn");
    json_t *alone = read_back(&s[0].run, 1);
    assert_true(json_equal(alone, at(root, "variants.0")));
    json_decref(alone);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head),     cmocka_unit_test(groups),           cmocka_unit_test(flows),
        cmocka_unit_test(counters), cmocka_unit_test(nothing_finished), cmocka_unit_test(compare_is_a_list_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
