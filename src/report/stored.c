// SPDX-License-Identifier: Apache-2.0
// The scenario of a run, from the folder of its results.
#include <string.h>

#include "base/below.h"
#include "base/param.h"
#include "results/run/reader.h"
#include "weft/hardware.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/report.h"

/// A run whose configuration names no class of hardware was of a weft without such classes: it had none but ideal, and
/// a setting says so, one for all where it names none at all.
static uint32_t add_ideal(struct weft__reader *r, struct weft_scenario_source *source, uint32_t n) {
    uint32_t first = n, rows = 0;
    for (uint32_t k = 0; k < WEFT_HARDWARE_KINDS; k++) {
        const char *section = weft_hardware_kind_section(k), *row = weft_hardware_kind_row(k);
        const struct weft_param *known = weft_param_find(weft_hardware_kind_table(k), row);
        if (k == WEFT_HARDWARE_SERVER || !known) continue; // of a workload: ideal unless it says another
        const char *sql =
            weft_arena_format(r->arena, "SELECT count(*) FROM config WHERE run = ? AND path = '%s.%s'", section, row);
        rows++;
        if (weft__reader_count(r, sql)) continue;
        source[n++].text = weft_arena_format(r->arena, "%s.%s=" WEFT_HARDWARE_IDEAL, section, row);
    }
    if (n - first < rows) return n;
    source[first].text = "hardware=" WEFT_HARDWARE_IDEAL;
    return first + 1;
}

/// The value of a section's row, from a configuration's path: of the default then, if that is another today.
static bool is_old_default(const char *path, const char *value, struct weft_arena *arena) {
    const char *dot = strchr(path, '.');
    const char *section = weft_arena_format(arena, "%.*s", (int)(dot ? dot - path : 0), path);
    const struct weft_model *box = dot ? weft_model_find(WEFT_KIND_BOX, section) : NULL;
    const struct weft_param *row = box ? weft_param_find(box->params, dot + 1) : NULL;
    const char *today = row && row->type != WEFT_PARAM_MODEL ? weft__param_written(row, row->dflt, arena) : NULL;
    return today && strcmp(today, value) != 0;
}

/// Settings for what the run had by default and would not have today.
static uint32_t add_defaults(struct weft__reader *r, struct weft_scenario_source *source, uint32_t n) {
    sqlite3_stmt *s =
        weft__reader_prepare(r, "SELECT path, value FROM config WHERE run = ? AND value = \"default\" ORDER BY path");
    while (weft__reader_next(r, s)) {
        const char *path = weft__reader_text(r, s, 0), *value = weft__reader_text(r, s, 1);
        if (is_old_default(path, value, r->arena)) source[n++].text = weft_arena_format(r->arena, "%s=%s", path, value);
    }
    sqlite3_finalize(s);
    return n;
}

static uint32_t read_sources(struct weft__reader *r, struct weft_scenario_source **ret_source) {
    uint32_t room = weft__reader_count(r, "SELECT count(*) FROM sources WHERE run = ?"), n = 0;
    uint32_t values = weft__reader_count(r, "SELECT count(*) FROM config WHERE run = ?");
    struct weft_scenario_source *source =
        weft_arena_alloc(r->arena, room + WEFT_HARDWARE_KINDS + values, sizeof *source);
    sqlite3_stmt *s = weft__reader_prepare(r, "SELECT name, text FROM sources WHERE run = ? ORDER BY rowid");
    for (; n < room && weft__reader_next(r, s); n++) {
        bool is_file = weft__reader_peek(s, 0);
        source[n] =
            (struct weft_scenario_source){is_file ? weft__reader_text(r, s, 0) : NULL, weft__reader_text(r, s, 1)};
    }
    sqlite3_finalize(s);
    *ret_source = source;
    return add_defaults(r, source, add_ideal(r, source, n));
}

static void read_run(struct weft__reader *r, struct weft_stored *stored) {
    sqlite3_stmt *s = weft__reader_prepare(r, "SELECT weft, variant, digest, interrupted, seed FROM run WHERE id = ?");
    if (weft__reader_next(r, s)) {
        stored->weft = weft__reader_text(r, s, 0);
        stored->variant = weft__reader_text(r, s, 1);
        stored->digest = weft__reader_text(r, s, 2);
        stored->interrupted = weft__reader_number(s, 3, 0);
        stored->seed = weft__reader_number(s, 4, 0);
    }
    sqlite3_finalize(s);
}

/// Results of older versions of weft contain no sources.
static bool has_sources(struct weft__reader *r) {
    return weft__reader_count(r, "SELECT count(*) FROM sqlite_schema WHERE name = 'sources'");
}

/// Whether it is neither absolute nor leads through a parent folder.
static bool is_within(const char *name) {
    bool within = *name && *name != '/';
    for (const char *at = name; within && at; at = strchr(at, '/')) {
        at += *at == '/';
        within = strncmp(at, "..", 2) || (at[2] && at[2] != '/');
    }
    return within;
}

const char **weft_stored_files(const char *dir, struct weft_arena *arena, uint32_t *ret_n) {
    struct weft__reader r;
    const char **file = NULL;
    uint32_t n = 0, room = 0;
    if (!weft__reader_open(&r, dir, arena, NULL)) room = weft__reader_count(&r, "SELECT count(*) FROM files");
    sqlite3_stmt *s = room ? weft__reader_prepare(&r, "SELECT name FROM files") : NULL;
    if (s) file = weft_arena_alloc(arena, room, sizeof *file);
    while (n < room && weft__reader_next(&r, s)) {
        const char *name = weft__reader_text(&r, s, 0);
        if (is_within(name) && weft__path_is_below(weft_arena_format(arena, "%s/%s", dir, name), dir, arena))
            file[n++] = name;
    }
    sqlite3_finalize(s);
    weft__reader_close(&r, WEFT_OK, NULL);
    *ret_n = n;
    return file;
}

enum weft_status weft_stored_read(const char *dir, const char *variant, const uint64_t *seed, struct weft_arena *arena,
                                  struct weft_stored *ret_stored, struct weft_error *ret_error) {
    struct weft__reader r;
    *ret_stored = (struct weft_stored){0};
    enum weft_status status = weft__reader_open(&r, dir, arena, ret_error);
    if (!status) status = weft__reader_choose(&r, variant, seed, &ret_stored->names, &ret_stored->runs, ret_error);
    if (!status && r.status == SQLITE_OK && !has_sources(&r))
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "%s: an older weft wrote it, without the scenario; run that again", r.path);
    if (!status) {
        ret_stored->sources = read_sources(&r, &ret_stored->source);
        read_run(&r, ret_stored);
    }
    return weft__reader_close(&r, status, ret_error);
}
