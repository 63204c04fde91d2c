// SPDX-License-Identifier: Apache-2.0
// Memory runs out inside the library, in any of its threads: the call returns, reports it, and leaves nothing behind.
// The linker wraps the library's own allocations; tests/tools/test_faults.py makes those of other libraries fail too.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "run.h"
#include "weft/drive.h"
#include "weft/report.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);

static atomic_ulong allocations, fail_at; // fail_at 0: none
static atomic_bool fail_on;               // and all after it

static bool fails(void) {
    unsigned long n = atomic_fetch_add(&allocations, 1) + 1, at = atomic_load(&fail_at);
    return at && (n == at || (n > at && atomic_load(&fail_on)));
}

void *__wrap_malloc(size_t bytes) {
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes) {
    return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes) {
    return fails() ? NULL : __real_realloc(memory, bytes);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    return fails() ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, file, offset);
}

static void arm(unsigned long at, bool on) {
    atomic_store(&allocations, 0);
    atomic_store(&fail_on, on);
    atomic_store(&fail_at, at);
}

// --- the guard ----------------------------------------------------------------------------------------------------

static unsigned called;

static void clean(void *object) {
    unsigned *order = object;
    assert_int_equal(*order, 0);
    *order = ++called;
}

struct scene {
    unsigned first, second, third;
    struct weft_memory_cleanup cleanup[3];
    enum weft_status inner;
    void *kept;
};

static enum weft_status inner(void *context, struct weft_error *ret_error) {
    struct scene *s = context;
    weft_memory_cleanup_add(&s->cleanup[1], clean, &s->second);
    weft_memory_cleanup_add(&s->cleanup[2], clean, &s->third);
    weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "of something else");
    weft_memory_new(WEFT_MEMORY_RESULT, SIZE_MAX, 2);
    return WEFT_OK;
}

static enum weft_status outer(void *context, struct weft_error *ret_error) {
    struct scene *s = context;
    weft_memory_cleanup_add(&s->cleanup[0], clean, &s->first);
    s->kept = weft_memory_new(WEFT_MEMORY_RESULT, 100, 1);
    s->inner = weft_memory_guard(weft_memory_current(), inner, s, ret_error);
    assert_int_equal(s->first, 0); // added outside of the guard that met it
    s->kept = weft_memory_resize(WEFT_MEMORY_RESULT, s->kept, 100, 3 << 20);
    s->kept = weft_memory_resize(WEFT_MEMORY_RESULT, s->kept, 3 << 20, 5 << 20);
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_RESULT), 5 << 20);
    return WEFT_OK;
}

static void guards_nest(void **state) {
    (void)state;
    struct weft_memory *memory = weft_memory_open();
    struct scene s = {0};
    struct weft_error error = {0};
    assert_int_equal(weft_memory_guard(memory, outer, &s, &error), WEFT_OK);
    assert_int_equal(s.inner, WEFT_ERROR_SYSTEM);
    assert_string_equal(error.text, "out of memory");
    assert_null(weft_memory_current());
    assert_int_equal(s.third, 1); // the last first
    assert_int_equal(s.second, 2);
    assert_int_equal(s.first, 0);
    weft_memory_close(memory); // frees what is kept, too: else the leak sanitizer tells
    assert_int_equal(s.first, 3);
}

static enum weft_status allocate(void *context, struct weft_error *ret_error) {
    size_t *bytes = context;
    weft_memory_new(WEFT_MEMORY_TIMER, *bytes, 1);
    return weft_memory_bytes(WEFT_MEMORY_TIMER) == *bytes ? WEFT_OK : WEFT_ERROR_INPUT;
}

/// Memory freed or changed elsewhere stays with the memory that it came from.
static void memories_are_apart(void **state) {
    (void)state;
    struct weft_memory *a = weft_memory_open(), *b = weft_memory_open();
    size_t one = 1000, two = 7 << 20;
    assert_int_equal(weft_memory_guard(a, allocate, &one, NULL), WEFT_OK);
    assert_int_equal(weft_memory_guard(b, allocate, &two, NULL), WEFT_OK);
    weft_memory_use(a);
    void *mine = weft_memory_new(WEFT_MEMORY_TIMER, 24, 1);
    weft_memory_use(b);
    mine = weft_memory_resize(WEFT_MEMORY_TIMER, mine, 24, 48);
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_TIMER), two);
    weft_memory_use(a);
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_TIMER), one + 48);
    weft_memory_free(WEFT_MEMORY_TIMER, mine, 48);
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_TIMER), one);
    assert_int_equal(weft_memory_bytes_max(WEFT_MEMORY_TIMER), one + 48);
    weft_memory_use(NULL);
    weft_memory_close(a);
    weft_memory_close(b);
}

static enum weft_status grow_a_list(void *context, struct weft_error *ret_error) {
    enum { N = 1 << 20 };
    (void)context, (void)ret_error;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *text = weft_arena_text(arena, "before");
    uint64_t *list = NULL;
    size_t room = 0;
    for (size_t n = 0; n < N; n++) {
        if (n == room) list = weft_arena_move(arena, list, n, room = n ? 2 * n : 1, sizeof *list);
        assert_int_equal(list[n], 0);
        list[n] = n;
        if (n % 1000 == 0) assert_string_equal(weft_arena_text(arena, text), "before");
    }
    for (size_t n = 0; n < N; n++)
        assert_int_equal(list[n], n);
    // what it has moved from is gone, but for that in blocks with others
    assert_in_range(weft_memory_bytes(WEFT_MEMORY_SCENARIO), N * sizeof *list, N * sizeof *list * 5 / 4);
    weft_arena_free(arena);
    return weft_memory_bytes(WEFT_MEMORY_SCENARIO) ? WEFT_ERROR_INPUT : WEFT_OK;
}

static void lists_of_an_arena_move(void **state) {
    (void)state;
    struct weft_memory *memory = weft_memory_open();
    assert_int_equal(weft_memory_guard(memory, grow_a_list, NULL, NULL), WEFT_OK);
    weft_memory_close(memory);
}

// --- whole runs ---------------------------------------------------------------------------------------------------

struct attempt {
    const char *text;
    uint32_t threads;
    enum how { BY_GUARD, BY_ENTRIES, BY_DRIVE } how; ///< the last two of weft.h and drive.h, outside of any guard
    uint64_t digest;
};

static enum weft_status simulate_by_entries(struct attempt *a, struct weft_error *ret_error) {
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    struct weft_sim_options options = {.threads = a->threads, .record = true};
    enum weft_status status = weft_scenario_file_parse("t.yaml", a->text, strlen(a->text), NULL, 0, &file, ret_error);
    if (!status) status = weft_scenario_file_set(file, "run.seed=3", ret_error);
    if (!status) status = weft_simulation_new(file, 0, &simulation, ret_error);
    if (!status) status = weft_simulation_run(simulation, &options, &result, ret_error);
    FILE *nowhere = status ? NULL : fopen("/dev/null", "w");
    if (!status) status = weft_result_write_json(result, nowhere, ret_error);
    if (!status) a->digest = weft_result_digest(result);
    if (nowhere) fclose(nowhere);
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    return status;
}

static void on_delivered(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    if (n->tag == 0) return;
    struct weft_send on = {.src = n->host,
                           .dst = (n->host + 3) % 8,
                           .bytes = 3000,
                           .priority = 3,
                           .tag = n->tag - 1,
                           .events = WEFT_DRIVE_DELIVERED,
                           .callback = on_delivered};
    if (!weft_drive_send(drive, &on, NULL, NULL)) weft_drive_at(drive, n->host, 0, on_delivered, NULL, NULL);
}

static enum weft_status simulate_by_drive(struct attempt *a, struct weft_error *ret_error) {
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_drive *drive = NULL;
    struct weft_result *result = NULL;
    struct weft_sim_options options = {.threads = a->threads};
    enum weft_status status = weft_scenario_file_parse("t.yaml", a->text, strlen(a->text), NULL, 0, &file, ret_error);
    if (!status) status = weft_simulation_new(file, 0, &simulation, ret_error);
    if (!status) status = weft_drive_new(simulation, &options, &drive, ret_error);
    struct weft_send first = {.dst = 1, .bytes = 5000, .priority = 3, .tag = 40, .events = 7, .callback = on_delivered};
    if (!status) status = weft_drive_send(drive, &first, NULL, ret_error);
    if (!status) status = weft_drive_run(drive, WEFT_TIME_NEVER, NULL, ret_error);
    if (!status) status = weft_drive_finish(drive, &result, ret_error);
    if (!status) a->digest = weft_result_digest(result);
    weft_drive_free(drive);
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    return status;
}

static enum weft_status simulate(void *context, struct weft_error *ret_error) {
    struct attempt *a = context;
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", a->text, strlen(a->text), NULL, 0, &r.file, ret_error);
    if (!status && (status = run_bind(&r, 0))) *ret_error = r.error;
    struct weft_sim_options options = {.threads = a->threads, .record = true};
    if (!status) status = weft_simulate(r.scenario, r.topology, r.workload, &options, &r.outcome, ret_error);
    if (!status) a->digest = r.outcome->digest;
    run_free(&r);
    return status;
}

static enum weft_status attempt(struct attempt *a, struct weft_error *ret_error) {
    if (a->how == BY_ENTRIES) return simulate_by_entries(a, ret_error);
    if (a->how == BY_DRIVE) return simulate_by_drive(a, ret_error);
    struct weft_memory *memory = weft_memory_open();
    if (!memory) return WEFT_ERROR_SYSTEM;
    enum weft_status status = weft_memory_guard(memory, simulate, a, ret_error);
    weft_memory_close(memory);
    return status;
}

/// Each of some allocations fails, alone or with all that follow.
static void fail_some(const char *text, uint32_t threads, enum how how, unsigned long some) {
    struct attempt whole = {text, threads, how, 0};
    struct weft_error error = {0};
    arm(0, false);
    if (attempt(&whole, &error)) fail_msg("%s", error.text);
    unsigned long n = atomic_load(&allocations), failed = 0, step = n / some + 1;
    for (unsigned long at = 1; at <= n; at += at < 8 ? 1 : step)
        for (int on = 0; on < 2; on++) {
            struct attempt a = {text, threads, how, 0};
            error = (struct weft_error){0};
            arm(at, on);
            enum weft_status status = attempt(&a, &error);
            arm(0, false);
            if (status) {
                assert_int_equal(status, WEFT_ERROR_SYSTEM);
                if (error.status) assert_string_equal(error.text, "out of memory");
                failed++;
            } else {
                assert_int_equal(a.digest, whole.digest); // all that is needed was there, as with threads that vary
            }
        }
    assert_true(failed > some / 2);
}

static const char incast[] = "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
                             "workload: [{kind: permutation, group: g, hosts: \"*\", size: 64KB}]\n";
static const char dsf[] = "topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 2}\n"
                          "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"
                          "workload: [{kind: permutation, group: g, hosts: \"*\", size: 64KB}]\n";
static const char clique[] = "topology: {kind: dragonfly, pods: 3, tins: 3}\n"
                             "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"
                             "workload: [{kind: permutation, group: g, hosts: \"*\", size: 16KB}]\n";

static void in_one_thread(void **state) {
    (void)state;
    fail_some(incast, 1, BY_GUARD, 150);
    fail_some(dsf, 1, BY_GUARD, 60);
    fail_some(clique, 1, BY_GUARD, 60);
}

static void in_several_threads(void **state) {
    (void)state;
    fail_some(incast, 3, BY_GUARD, 150);
    fail_some(dsf, 2, BY_GUARD, 60);
    fail_some(clique, 4, BY_GUARD, 60);
}

static void in_each_entry(void **state) {
    (void)state;
    fail_some(incast, 2, BY_ENTRIES, 200);
    fail_some(incast, 2, BY_DRIVE, 150);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guards_nest),   cmocka_unit_test(memories_are_apart), cmocka_unit_test(lists_of_an_arena_move),
        cmocka_unit_test(in_one_thread), cmocka_unit_test(in_several_threads), cmocka_unit_test(in_each_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
