// SPDX-License-Identifier: Apache-2.0
// A report's data of a sweep, from queries of sweep.sqlite.

#include "page/page.h"

/// Metrics that the page offers: those that the user named, the times of flows and jobs, and the network's counts
/// (which are equal in all groups, so one group has them).
#define OFFERED                                                                                                        \
    "(\"group\" = '' OR metric IN (SELECT metric FROM ranking) OR metric IN ('fct_ps_mean', 'fct_ps_p50', "            \
    "'fct_ps_p99', 'fct_ps_max', 'slowdown_mean', 'slowdown_p99', 'jobs_iteration_ps', 'jobs_exposed_ps') OR ("        \
    "metric IN ('counters_pfc_paused_ps', 'counters_pfc_xoff_frames', 'counters_ecn_marked', 'counters_cnp', "         \
    "'counters_sfc_messages') AND \"group\" = (SELECT min(\"group\") FROM summary)))"

static const char *const queries[][2] = {
    {"points", "SELECT * FROM points ORDER BY point"},
    {"summary", "SELECT point, \"group\", metric, seeds, mean, median, low, high FROM summary WHERE " OFFERED
                " ORDER BY metric, \"group\", point LIMIT 200000"},
    {"ranking", "SELECT number, metric, \"group\", direction, point, verdict FROM ranking ORDER BY number, point"},
    {"meaning", "SELECT \"column\", unit, help FROM meaning WHERE \"column\" IN (SELECT metric FROM summary)"},
    {"states", "SELECT state, count(*) AS runs FROM runs GROUP BY state ORDER BY 2 DESC"},
    {"failed", "SELECT point, seed, state, message FROM runs WHERE state <> 'done' ORDER BY point, number LIMIT 1000"},
};
/// Omitted if the report has no raw data.
static const char seeds_query[] =
    "SELECT * FROM sweep WHERE point < 20000 / max(1, (SELECT count(DISTINCT number) FROM runs)) ORDER BY point, seed";

enum weft_status weft__page_sweep(struct weft__json *j, const char *dir, bool no_data, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft__reader r;
    enum weft_status status = WEFT_OK;
    weft__reader_open_file(&r, weft_arena_format(arena, "%s/sweep.sqlite", dir), arena);
    bool whole = weft__reader_count(&r, "SELECT count(*) FROM sqlite_master WHERE name IN ('about', 'ranking')") == 2;
    if (r.status == SQLITE_OK && !whole)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "%s: written by an older weft, without what a report needs; the same weft sweep "
                             "command writes it anew",
                             r.path);
    if (!status && whole) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "folder", dir);
        sqlite3_stmt *s = weft__reader_prepare(&r, "SELECT key, value FROM about");
        while (weft__reader_next(&r, s)) {
            weft__json_key(j, weft__reader_peek(s, 0));
            weft__json_string(j, weft__reader_peek(s, 1));
        }
        sqlite3_finalize(s);
        weft__json_key(j, "tables");
        weft__json_begin_object(j);
        for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
            weft__page_table(j, &r, queries[i][0], queries[i][1]);
        if (!no_data) weft__page_table(j, &r, "sweep", seeds_query);
        weft__json_end_object(j);
        weft__json_end_object(j);
    }
    return weft__reader_close(&r, status, ret_error);
}
