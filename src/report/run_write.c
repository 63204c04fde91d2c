// SPDX-License-Identifier: Apache-2.0
// The results of a run as files, for programs that use the library.
#include "base/json.h"
#include "results/rows.h"
#include "weft/claim_rows.h"
#include "weft/memory.h"
#include "weft/report.h"

/// A result to be written to a file or into a folder.
struct writing {
    const struct weft_run *run;
    FILE *file;
    const char *dir;
};

static enum weft_status write_json(void *context, struct weft_error *ret_error) {
    const struct writing *w = context;
    weft_report_json(w->file, w->run);
    if (!ferror(w->file)) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "the result cannot be written");
}

static enum weft_status write_sqlite(void *context, struct weft_error *ret_error) {
    const struct writing *w = context;
    return weft_report_sqlite(w->dir, w->run, 1, ret_error);
}

/// Memory allocated meanwhile is freed at the end, because several threads may read a result.
static enum weft_status enter_memory(enum weft_status (*write)(void *context, struct weft_error *ret_error),
                                     struct writing *writing, struct weft_error *ret_error) {
    struct weft_memory *memory = NULL;
    enum weft_status status = weft_memory_enter(&memory, write, writing, ret_error);
    weft_memory_close(memory);
    return status;
}

enum weft_status weft_result_write_json(const struct weft_result *result, FILE *file, struct weft_error *ret_error) {
    return enter_memory(write_json, &(struct writing){.run = weft__result_run(result), .file = file}, ret_error);
}

enum weft_status weft_result_write_sqlite(const struct weft_result *result, const char *dir,
                                          struct weft_error *ret_error) {
    return enter_memory(write_sqlite, &(struct writing){.run = weft__result_run(result), .dir = dir}, ret_error);
}

// A run as JSON.

void weft_report_json(FILE *file, const struct weft_run *run) {
    struct weft__json j = {.file = file};
    weft_answer_json(&j, weft_run_answer(), run);
    putc('\n', file);
}

void weft_report_json_compare(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t not_run,
                              const struct weft_claim_result *claim, uint32_t claims) {
    struct weft__json j = {.file = file};
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft_compare_answer answer = weft_compare_answer(run, runs, not_run, claim, claims, arena);
    weft_answer_json(&j, &weft__answer_compare, &answer);
    putc('\n', file);
}

// Runs as a database: their tables, and views that join them.

static const char views[] =
    "CREATE VIEW story AS SELECT e.run, run.variant, e.event, e.time_ps / 1e6 AS us, e.kind, ports.name AS port,"
    " ports.peer, e.priority, e.flow, e.value, e.more, e.detail, e.cause, e.begins"
    " FROM events AS e JOIN ports USING (run, port) JOIN run ON run.id = e.run;"
    "CREATE VIEW paused_ports AS SELECT run.id AS run, run.variant, ports.name AS port, ports.peer, c.priority,"
    " c.paused_ps / 1e6 AS paused_us, c.pfc_rx_xoff AS pause_frames"
    " FROM port_counters AS c JOIN ports USING (run, port) JOIN run ON run.id = c.run"
    " WHERE c.paused_ps > 0 ORDER BY c.paused_ps DESC;"
    "CREATE VIEW full_queues AS SELECT run.id AS run, run.variant, ports.name AS port, ports.peer, c.priority,"
    " c.queue_bytes_max, c.ingress_bytes_max, c.ecn_marked, c.drops"
    " FROM port_counters AS c JOIN ports USING (run, port) JOIN run ON run.id = c.run ORDER BY c.queue_bytes_max DESC;"
    "CREATE VIEW group_times AS SELECT run.id AS run, run.variant, g.name, g.count, g.finished,"
    " g.fct_ps_mean / 1e6 AS mean_us, g.fct_ps_p50 / 1e6 AS p50_us, g.fct_ps_p99 / 1e6 AS p99_us,"
    " g.fct_ps_max / 1e6 AS max_us, g.slowdown_mean, g.slowdown_p99 FROM groups AS g JOIN run ON run.id = g.run;";

enum weft_status weft_report_sqlite(const char *dir, const struct weft_run *run, uint32_t runs,
                                    struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const void **subject = weft_arena_alloc(arena, runs, sizeof *subject);
    for (uint32_t r = 0; r < runs; r++)
        subject[r] = &run[r];
    struct weft__answer_database d = {.path = weft_arena_format(arena, "%s/results.sqlite", dir),
                                      .answer = weft_run_answer(),
                                      .subject = subject,
                                      .subjects = runs,
                                      .version = WEFT_RESULTS_VERSION,
                                      .numbered = true,
                                      .views = views};
    WEFT_TRY(weft_report_folder(dir, ret_error));
    return weft__answer_database_write(&d, ret_error);
}
