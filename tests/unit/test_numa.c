// SPDX-License-Identifier: Apache-2.0
// Threads and the nodes that they are bound to. This machine may have one node; folders that tell of others stand for
// it.
#define _GNU_SOURCE // sched_getaffinity
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/numa.h"
#include "engine/engine.h"

enum { NODES = 2 };

struct folder {
    char path[64];
    uint32_t allowed[2], processors; ///< the first two that the process may use, and how many there are
};

static void tell(const struct folder *f, uint32_t node, const char *list) {
    char path[128];
    snprintf(path, sizeof path, "%s/node%u", f->path, node);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/cpulist");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", list);
    fclose(file);
}

static int setup(void **state) {
    static struct folder f;
    cpu_set_t set;
    memset(&f, 0, sizeof f);
    strcpy(f.path, "/tmp/weft-numa-XXXXXX");
    assert_non_null(mkdtemp(f.path));
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    f.processors = (uint32_t)CPU_COUNT(&set);
    for (uint32_t k = 0, n = 0; k < CPU_SETSIZE && n < 2; k++)
        if (CPU_ISSET(k, &set)) f.allowed[n++] = k;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    const struct folder *f = *state;
    char path[128];
    for (uint32_t k = 0; k < 8; k++) {
        snprintf(path, sizeof path, "%s/node%u/cpulist", f->path, k);
        unlink(path);
        path[strlen(path) - strlen("/cpulist")] = 0;
        rmdir(path);
    }
    return rmdir(f->path);
}

/// A node with each of the two processors, numbered with gaps, and beside them memory alone and what may not be used.
static void tell_two(const struct folder *f) {
    char list[32];
    if (f->processors < 2) skip();
    snprintf(list, sizeof list, "%u", f->allowed[0]);
    tell(f, 1, list);
    tell(f, 2, "");
    snprintf(list, sizeof list, "%u,1000-1023", f->allowed[1]);
    tell(f, 5, list);
    tell(f, 7, "1020-1022");
}

static void nodes_are_those_with_processors_of_the_process(void **state) {
    const struct folder *f = *state;
    tell_two(f);
    struct weft__numa numa;
    weft__numa_read(&numa, f->path);
    assert_int_equal(numa.nodes, 2);
    assert_int_equal(numa.processors[0], 1);
    assert_int_equal(numa.processors[1], 1);
    weft__numa_read(&numa, NULL);
    assert_int_equal(numa.nodes, 0);
    weft__numa_read(&numa, "/nowhere");
    assert_int_equal(numa.nodes, 0);
}

static void parts_are_spread_in_order(void **state) {
    (void)state;
    struct weft__numa numa = {.nodes = 3, .processors = {4, 2, 2}};
    static const uint32_t of_8[] = {0, 0, 0, 0, 1, 1, 2, 2}, of_2[] = {0, 2}, of_4[] = {0, 0, 1, 2};
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(weft__numa_node_of(&numa, i, 8), of_8[i]);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(weft__numa_node_of(&numa, i, 4), of_4[i]);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(weft__numa_node_of(&numa, i, 2), of_2[i]);
    for (uint32_t i = 0; i < 64; i++) // more than processors
        assert_int_equal(weft__numa_node_of(&numa, i, 64), of_8[i / 8]);
}

// --- an engine ----------------------------------------------------------------------------------------------------

static char seen[NODES][128]; ///< processors of the thread that ran a node, as the system tells them

static void no_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t prepared) {}
static void no_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {}
static void no_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
}

static void see(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    char line[256];
    FILE *file = fopen("/proc/thread-self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        sscanf(line, "Cpus_allowed_list: %127s", seen[*(uint32_t *)node->state]);
    fclose(file);
}

static void run_node(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                     weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, no_packet, see);
}

/// Two workers, one node each.
static void run_engine(const char *numa) {
    static const struct weft__node_ops ops = {.fetch = no_fetch, .prepare = no_prepare, .run = run_node};
    static uint32_t id[NODES] = {0, 1};
    struct weft__engine engine;
    struct weft__engine_conf conf = {
        .nodes = NODES,
        .workers = NODES,
        .numa = numa,
        .lookahead_ps = 1000,
        .until_ps = WEFT_TIME_NEVER,
        .stall_ps = WEFT_TIME_NEVER,
        .work = UINT64_MAX,
    };
    memset(seen, 0, sizeof seen);
    weft__engine_init(&engine, &conf, (const uint32_t[]){1, 1});
    for (uint32_t i = 0; i < NODES; i++) {
        engine.node[i].ops = &ops;
        engine.node[i].state = &id[i];
        weft__timers_init(&engine.node[i].timers, 1);
        weft__timer_set(&engine.node[i].timers, 0, 1);
    }
    weft__engine_run(&engine);
    weft__engine_deinit(&engine);
}

static void threads_stay_on_their_nodes(void **state) {
    const struct folder *f = *state;
    tell_two(f);
    cpu_set_t before, after;
    char list[32];
    sched_getaffinity(0, sizeof before, &before);
    run_engine(f->path);
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(list, sizeof list, "%u", f->allowed[i]);
        assert_string_equal(seen[i], list);
    }
    sched_getaffinity(0, sizeof after, &after); // the caller's own thread goes where it likes again
    assert_true(CPU_EQUAL(&before, &after));
    run_engine(NULL);
    assert_string_equal(seen[0], seen[1]);
    assert_string_not_equal(seen[0], list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodes_are_those_with_processors_of_the_process, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_are_spread_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_stay_on_their_nodes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
