// SPDX-License-Identifier: Apache-2.0
// server.kind: a class sets GPUs, NICs, rate and latency of servers in whatever has servers: collectives, jobs, and
// workloads of other tools read in place. Each run is the one with the class's values written out; a key of the user's
// holds over the class.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"
#include "weft/hardware.h"

static const char *text_value(const struct weft_hardware *h, const char *key) {
    const struct weft_hardware_value *v = weft_hardware_value(h, key);
    assert_non_null(v);
    return v->typical;
}

/// The class's values of servers with so many GPUs, each with a NIC: "gpus: 8, nics: 8, rate: 2966.4Gbps, latency:
/// 1us".
static char *written_out(const char *name, uint32_t gpus, const char *latency) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const struct weft_hardware *h;
    struct weft_error error;
    if (weft_hardware_find(WEFT_HARDWARE_SERVER, name, WEFT_NOWHERE, "test", arena, &h, &error))
        fail_msg("%s", error.text);
    char *text = text_of("gpus: %u, nics: %u, rate: %s, latency: %s", gpus, gpus, text_value(h, "rate"),
                         latency ? latency : text_value(h, "latency"));
    if (gpus == 8) {
        assert_string_equal(text_value(h, "gpus"), "8");
        assert_string_equal(text_value(h, "nics"), "8");
    }
    weft_arena_free(arena);
    return text;
}

static uint64_t digest_of(const char *entry, const char *server) {
    struct run r = RUN(run_once, "topology: {kind: single, hosts: 16, rate: 400Gbps}\nworkload: [{%s, server: {%s}}]\n",
                       entry, server);
    run_assert_complete(&r);
    uint64_t digest = r.outcome->digest;
    run_free(&r);
    return digest;
}

static void every_workload_with_servers(void **state) {
    char *simai = text_of("kind: simai, file: %s/examples/import/simai.txt", getenv("WEFT_ROOT"));
    char *chakra = text_of("kind: chakra, file: %s/examples/import/chakra, hosts: 'host-0..3', admission: none",
                           getenv("WEFT_ROOT"));
    char *goal = text_of("kind: goal, file: %s/examples/import/ring.goal, hosts: 'host-0..3'", getenv("WEFT_ROOT"));
    const struct {
        const char *entry, *more; ///< more: the user's own keys
        uint32_t gpus;
    } cases[] = {
        {"kind: collective, collective: all_reduce_ring, size: 1MB", "", 8},
        {"kind: collective, collective: all_to_all, size: 300KB, qps: 2", "", 8},
        {"kind: job, iterations: 2, operations: [{collective: all_reduce_ring, size: 500KB, compute: 5us}]", "", 8},
        {simai, "", 8},
        {chakra, ", gpus: 2, nics: 2", 2}, // they have four ranks
        {goal, ", gpus: 2, nics: 2", 2},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *entry = cases[i].entry;
        char *all = written_out("dgx_h100", cases[i].gpus, NULL),
             *other = written_out("dgx_h100", cases[i].gpus, "30us");
        char *by_class = text_of("kind: dgx_h100%s", cases[i].more);
        char *own = text_of("kind: dgx_h100, latency: 30us%s", cases[i].more);
        uint64_t digest = digest_of(entry, by_class);
        if (digest != digest_of(entry, all)) fail_msg("%s: not as {%s}", entry, all);
        if (digest == digest_of(entry, "gpus: 1")) fail_msg("%s: as with one GPU", entry);
        if (digest_of(entry, own) != digest_of(entry, other) || digest_of(entry, own) == digest)
            fail_msg("%s: the latency is not the user's", entry);
        free(all);
        free(other);
        free(by_class);
        free(own);
    }
    free(simai);
    free(chakra);
    free(goal);
}

#define HEAD "topology: {kind: single, hosts: 16, rate: 400Gbps}\n"
#define RING "{kind: collective, collective: all_reduce_ring, size: 1MB%s}"

/// `server` at the top of a scenario is that of each entry which can have servers, below the entry's own.
static void a_scenario_has_servers(void **state) {
    struct run each = RUN(run_once, HEAD "workload: [" RING "]\n", ", server: {kind: dgx_h100, latency: 30us}");
    struct run top = RUN(run_once, HEAD "server: {kind: dgx_h100, latency: 30us}\nworkload: [" RING "]\n", "");
    struct run own = RUN(run_once, HEAD "server: {kind: dgx_h100, latency: 3us}\nworkload: [" RING "]\n",
                         ", server: {latency: 30us}");
    struct run kind =
        RUN(run_once, HEAD "server: {latency: 30us}\nworkload: [" RING "]\n", ", server: {kind: dgx_h100}");
    run_assert_complete(&each);
    assert_int_equal(top.outcome->digest, each.outcome->digest);
    assert_int_equal(own.outcome->digest, each.outcome->digest);
    assert_int_equal(kind.outcome->digest, each.outcome->digest);
    run_free(&each);
    run_free(&top);
    run_free(&own);
    run_free(&kind);
}

static void servers_without_gpus_are_refused(void **state) {
    static const char text[] = HEAD "server: {kind: dgx_h100}\nworkload: [{kind: flow, src: host-0, dst: host-1}]\n";
    struct run r = {0};
    r.status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!r.status) r.status = run_bind(&r, 0);
    assert_int_equal(r.status, WEFT_ERROR_INPUT);
    assert_non_null(strstr(r.error.text, "t.yaml:2:9: server: has no effect"));
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_workload_with_servers),
                                       cmocka_unit_test(a_scenario_has_servers),
                                       cmocka_unit_test(servers_without_gpus_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
