// SPDX-License-Identifier: Apache-2.0
// Runs as a database: their tables, and views that join them.
#include "results/rows.h"
#include "weft/memory.h"

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
    enum weft_status status = weft_report_folder(dir, ret_error);
    if (!status) status = weft__answer_database_write(&d, ret_error);
    return status;
}
