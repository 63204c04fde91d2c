// SPDX-License-Identifier: Apache-2.0
// Plain switches and NICs (switch_plain.c, nic_plain.c) write out what most packets do; all others go by switch.c and
// nic.c. The same runs by either have the same results, recorded or not: every column of every table, every counter,
// every sum. And every counter moves in some run by the plain path, or is named here as one that no plain box can move:
// a new counter is compared, or has to be named.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"
#include "weft/result.h"

// --- the path -----------------------------------------------------------------------------------------------------

struct weft__nic;
struct weft__switch;
bool __real_weft__nic_is_plain(const struct weft__nic *nic);
bool __wrap_weft__nic_is_plain(const struct weft__nic *nic);
bool __real_weft__switch_is_plain(const struct weft__switch *sw, bool lldp);
bool __wrap_weft__switch_is_plain(const struct weft__switch *sw, bool lldp);

static bool general; ///< all boxes take the general path
static unsigned plain_nics, plain_switches;

bool __wrap_weft__nic_is_plain(const struct weft__nic *nic) {
    bool plain = !general && __real_weft__nic_is_plain(nic);
    plain_nics += plain;
    return plain;
}

bool __wrap_weft__switch_is_plain(const struct weft__switch *sw, bool lldp) {
    bool plain = !general && __real_weft__switch_is_plain(sw, lldp);
    plain_switches += plain;
    return plain;
}

// --- runs ---------------------------------------------------------------------------------------------------------

#define CLOS "topology: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4, rate: 100Gbps, delay: 300ns}\n"
#define INCAST "{kind: incast, sources: 'host-1..11', dst: host-0, size: 200KB, group: incast}"
#define ROUND "{kind: permutation, size: 99001B, group: round}"

/// Marks and CNPs; pauses, storms and what the watchdog does; drops by the buffer and by the AQM, and retransmission;
/// messages, READ, several priorities; losses by the link, links that go down, and a run that ends in the middle.
static const char *const runs[] = {
    CLOS "switch: {aqm: {kind: wred, min: 10KB, max: 100KB}}\nhost: {cc: dcqcn}\nworkload: [" INCAST ", " ROUND "]\n",
    CLOS "switch: {buffer: {kind: static, size: 200KB, xoff: 30KB, xon: 20KB}}\nworkload: [" INCAST ", " ROUND "]\n",
    CLOS "switch: {buffer: {kind: static, size: 200KB, xoff: 30KB, xon: 20KB}, pfc: {watchdog: 20us}}\n"
         "host: {pfc: {watchdog: 20us}}\n"
         "devices: [{match: host-0, host: {drain_rate: 5Gbps, rx_buffer: 100KB, rx_xoff: 40KB, rx_xon: 20KB}}]\n"
         "workload: [" INCAST "]\nrun: {until: 900us}\n",
    CLOS "switch: {buffer: {kind: static, size: 60KB, xoff: 50KB, xon: 40KB}, pfc: {priorities: none}}\n"
         "host: {pfc: {priorities: none}, timeout: 50us}\nworkload: [" INCAST ", " ROUND "]\n",
    CLOS "switch: {aqm: {kind: wred, min: 10KB, max: 100KB, drop: 120KB}, pfc: {priorities: none}}\n"
         "host: {cc: dcqcn, pfc: {priorities: none}, timeout: 50us}\nworkload: [" INCAST "]\nrun: {until: 300us}\n",
    CLOS "switch: {aqm: {kind: trim, min: 10KB, max: 20KB, depth: 40KB, mark_at: arrival}, pfc: {priorities: none}}\n"
         "host: {pfc: {priorities: none}, timeout: 50us}\nworkload: [" INCAST "]\nrun: {until: 300us}\n",
    CLOS "workload:\n"
         "- {kind: incast, sources: 'host-1..5', dst: host-0, size: 50KB, priority: 1, qps: 3}\n"
         "- {kind: incast, sources: 'host-6..11', dst: host-0, size: 50KB, priority: 4, verb: send}\n"
         "- {kind: flow, src: host-1, dst: host-0, size: 300001B, verb: read}\n"
         "- {kind: job, iterations: 3, share_hosts: true, operations: [{collective: all_reduce_ring, size: 200KB}, "
         "{collective: all_to_all, size: 99KB, compute: 5us}]}\n",
    CLOS "host: {send_latency: 700ns, receive_latency: 750ns, completion_latency: 1500ns, processing: 300ns, "
         "post_cost: 60ns, pcie_rate: 210Gbps, packet_rate: 20000000, ack_every: 4}\n"
         "workload:\n"
         "- " INCAST "\n"
         "- {kind: permutation, post: {depth: 3, messages: 20, size: 9001B}, group: posted}\n"
         "- {kind: flow, src: host-1, dst: host-0, size: 30001B, verb: read}\n"
         "- {kind: job, group: j, operations: [{collective: all_reduce_ring, size: 200KB, compute: 5us}]}\n",
    "topology: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4, rate: 100Gbps, delay: 300ns, "
    "bit_error_rate: 1e-7}\nhost: {cc: dcqcn, timeout: 50us}\nevents: [{at: 20us, link: leaf-0--spine-0, state: down}, "
    "{at: 60us, link: leaf-0--spine-0, state: up}]\nworkload: [" INCAST ", " ROUND "]\n",
};
enum { RUNS = sizeof runs / sizeof *runs };

/// Counters that no plain box moves, and why.
static const struct {
    const char *field, *why;
} unmoved[] = {
    {"sfc_sent", "a switch with source flow control is not plain"},
    {"sfc_suppressed", "likewise"},
    {"sfc_received", "likewise"},
    {"sfc_proxied", "likewise"},
    {"link_retries", "of a link with retry: the port counts, on either path (link/port.c)"},
    {"credit_wait_ps", "boxes with credit of links are not plain"},
};

static bool is_unmoved(const char *field) {
    for (size_t i = 0; i < sizeof unmoved / sizeof *unmoved; i++)
        if (!strcmp(field, unmoved[i].field)) return true;
    return false;
}

static uint64_t moved[WEFT_COUNTERS]; ///< runs by the plain path in which a counter moved

static void note_counters(const struct weft_outcome *o) {
    uint64_t sum[WEFT_COUNTERS] = {0};
    for (uint32_t port = 0; port < o->ports; port++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            const uint64_t *field = (const uint64_t *)weft_outcome_at(o, port, p);
            for (size_t i = 0; i < WEFT_COUNTERS; i++)
                sum[i] += field[i];
        }
    for (size_t i = 0; i < WEFT_COUNTERS; i++)
        moved[i] += sum[i] > 0;
}

// --- what is compared ---------------------------------------------------------------------------------------------

/// What the machine takes for the run; and the digest, which is compared once it is known that nothing else differs.
static bool is_of_machine(const struct weft_result_table *table, const struct weft_result_column *column) {
    return !strcmp(table->name, "memory") || !strcmp(column->name, "digest") || strstr(column->name, "wall") ||
           strstr(column->name, "cpu") || strstr(column->name, "rss") || strstr(column->name, "bytes_per");
}

static unsigned compare_rows(const struct weft_result_table *table, const struct weft_run run[2],
                             struct weft_arena *arena) {
    struct weft_result_walk walk[2];
    struct weft_result_cursor *row[2];
    unsigned cells = 0;
    for (unsigned i = 0; i < 2; i++)
        walk[i] = weft_result_walk(&run[i], table, arena);
    for (;;) {
        for (unsigned i = 0; i < 2; i++)
            row[i] = weft_result_next(&walk[i]);
        if (!row[0] != !row[1]) fail_msg("%s has more rows by one path", table->name);
        if (!row[0]) return cells;
        for (uint32_t c = 0; c < table->columns; c++) {
            const struct weft_result_column *column = &table->column[c];
            char text[2][128];
            const char *shown[2];
            if (is_of_machine(table, column)) continue;
            for (unsigned i = 0; i < 2; i++) {
                struct weft_result_value value = weft_result_value(row[i], column);
                shown[i] = weft_result_text(&value, text[i], sizeof text[i]);
            }
            if (strcmp(shown[0], shown[1]))
                fail_msg("%s.%s is %s by the plain path, %s by the general one", table->name, column->name, shown[0],
                         shown[1]);
            cells++;
        }
    }
}

static void compare_tables(const struct run *plain, const struct run *whole) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_run run[2];
    unsigned cells = 0;
    for (unsigned i = 0; i < 2; i++) {
        const struct run *r = i ? whole : plain;
        run[i] = (struct weft_run){
            .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    }
    const struct weft_result_table *table;
    for (uint32_t i = 0; (table = weft_result_table_at(i)); i++)
        if (weft_result_table_present(table, &run[0])) cells += compare_rows(table, run, arena);
    assert_true(cells > 1000);
    weft_arena_free(arena);
}

static void compare_sums(const struct weft_outcome *a, const struct weft_outcome *b) {
    assert_int_equal(a->packet_hops, b->packet_hops);
    assert_int_equal(a->injected_bytes, b->injected_bytes);
    assert_int_equal(a->held_bytes, b->held_bytes);
    assert_memory_equal(a->drops, b->drops, sizeof a->drops);
    assert_memory_equal(a->flow, b->flow, a->flows * sizeof *a->flow);
    assert_int_equal(a->digest, b->digest);
}

static const char *const counters[WEFT_COUNTERS] = {
#define X(field, type, sai, help) #field,
    WEFT_PRIORITY_COUNTERS(X)
#undef X
};

static struct run run_setting(const char *text, const char *setting, bool record) {
    struct run r = {0};
    enum weft_status status =
        weft_scenario_file_parse("t.yaml", text, strlen(text), &setting, *setting != 0, &r.file, &r.error);
    if (status || run_bind(&r, 0)) fail_msg("%s\n%s", r.error.text, text);
    r.outcome = run_with(&r, &(struct weft_sim_options){.threads = 1, .record = record}, text);
    return r;
}

static void compare_paths(const char *text, const char *setting, bool record) {
    plain_nics = plain_switches = 0;
    general = false;
    struct run plain = run_setting(text, setting, record);
    if (!plain_nics || !plain_switches) fail_msg("nothing is plain with '%s':\n%s", setting, text);
    general = true;
    struct run whole = run_setting(text, setting, record);
    compare_tables(&plain, &whole);
    compare_sums(plain.outcome, whole.outcome);
    note_counters(plain.outcome);
    run_free(&plain);
    run_free(&whole);
}

/// Settings of which a plain switch has code of its own.
static const char *const settings[] = {"", "switch.forwarding=cut_through", "switch.buffer.cell=254B",
                                       "switch.buffer={kind: dynamic, total: 3MB, headroom: 10KB, alpha: 1/16}",
                                       "switch.buffer={kind: egress, size: 200KB, xoff: 60KB, xon: 40KB}"};

static void both_paths_count_alike(void **state) {
    for (unsigned i = 0; i < RUNS; i++)
        for (unsigned k = 0; k < sizeof settings / sizeof *settings; k++)
            for (unsigned record = 0; record < 2; record++)
                compare_paths(runs[i], settings[k], record);
    for (size_t i = 0; i < WEFT_COUNTERS; i++) {
        const char *field = counters[i];
        if (!moved[i] && !is_unmoved(field)) fail_msg("no run by the plain path moves %s", field);
        if (moved[i] && is_unmoved(field)) fail_msg("a plain box does move %s", field);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_paths_count_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
