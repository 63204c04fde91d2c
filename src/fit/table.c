// SPDX-License-Identifier: Apache-2.0
// Tables of measured times: what nccl-tests prints, CSV whose header names the columns (size_bytes,time_us and, if
// known, in_place_us), and the log of NCCL's inspector. Columns are found by their names: size, and the first and
// second `time`. Source: NVIDIA/nccl-tests, src/common.cu.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/order.h"
#include "fit/fit.h"
#include "import/inspector/inspector.h"

enum { WORDS = 64, ROWS_MAX = 4096 };
static const char expected_setup[] =
    "expected comments such as \"# nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G collective=all_reduce\", --setup, or a "
    "scenario before the table";

/// A file being read.
struct reader {
    const struct weft_fit_conf *conf;
    struct weft_fit *fit;
    struct weft_fit_table table;
    struct weft__lines lines;
    bool named; ///< the columns are known
    uint32_t size, time, in_place, words;
    uint32_t wrong[2], wrongs, wrong_rows, first_wrong; ///< columns; rows with wrong results, the line of the first
    char *word[WORDS];
};

static void split_line(struct reader *r, char *line) {
    static const char separators[] = " \t,\r";
    char *rest = NULL;
    r->words = 0;
    for (char *word = strtok_r(line, separators, &rest); word && r->words < WORDS;
         word = strtok_r(NULL, separators, &rest))
        r->word[r->words++] = word;
}

/// Whether the words are the names of columns, which are then known.
static bool take_names(struct reader *r) {
    uint32_t size = WEFT_NONE, time = WEFT_NONE, in_place = WEFT_NONE, skip = r->words && !strcmp(*r->word, "#");
    uint32_t wrongs = 0;
    for (uint32_t k = skip; k < r->words; k++) {
        const char *word = r->word[k] + (k == 0 && *r->word[k] == '#');
        if (size == WEFT_NONE && (!strcmp(word, "size") || !strcmp(word, "size_bytes"))) size = k - skip;
        if (!strcmp(word, "#wrong") && wrongs < 2) r->wrong[wrongs++] = k - skip;
        bool is_time = !strcmp(word, "time") || !strcmp(word, "time_us") || !strcmp(word, "in_place_us");
        if (is_time && time != WEFT_NONE && in_place == WEFT_NONE) in_place = k - skip;
        if (is_time && time == WEFT_NONE) time = k - skip;
    }
    if (size == WEFT_NONE || time == WEFT_NONE) return false;
    r->size = size;
    r->time = time;
    r->in_place = in_place;
    r->wrongs = wrongs;
    return r->named = true;
}

static bool is_number(const char *text, double *ret_value) {
    char *end;
    *ret_value = strtod(text, &end);
    return end != text && !*end && isfinite(*ret_value) && *ret_value > 0;
}

static void add_row(struct reader *r, weft_bytes bytes, double time_us, double in_place_us, int line) {
    WEFT__ADD(r->fit->arena, r->fit->row, r->fit->rows) = (struct weft_fit_row){.file = r->table.file,
                                                                                .line = (uint32_t)line,
                                                                                .bytes = bytes,
                                                                                .measured_us = time_us,
                                                                                .in_place_us = in_place_us};
    r->table.rows++;
}

static enum weft_status take_row(struct reader *r, struct weft_error *ret_error) {
    double bytes, time, in_place = (double)NAN;
    if (!r->named)
        return WEFT_REFUSE(ret_error, r->lines.place,
                           "figures before the names of their columns; expected a line with size and time, or "
                           "size_bytes,time_us");
    uint32_t last = r->size > r->time ? r->size : r->time;
    if (r->words > last && !strcmp(r->word[r->size], "0")) return WEFT_OK; // bytes that are fewer than the ranks
    if (r->words <= last || !is_number(r->word[r->size], &bytes) || bytes > 1e15 || floor(bytes) < bytes ||
        !is_number(r->word[r->time], &time))
        return WEFT_REFUSE(ret_error, r->lines.place,
                           "expected a size in bytes in column %" PRIu32 " and a time in us in column %" PRIu32,
                           r->size + 1, r->time + 1);
    if (r->in_place < r->words && !is_number(r->word[r->in_place], &in_place)) in_place = (double)NAN;
    if (r->table.rows == ROWS_MAX) return WEFT_REFUSE(ret_error, r->lines.place, "expected at most %d sizes", ROWS_MAX);
    add_row(r, (weft_bytes)bytes, time, in_place, r->lines.place.line);
    bool wrong = false;
    double elements;
    for (uint32_t k = 0; k < r->wrongs; k++)
        wrong |= r->wrong[k] < r->words && is_number(r->word[r->wrong[k]], &elements);
    if (wrong && !r->wrong_rows++) r->first_wrong = (uint32_t)r->lines.place.line;
    return WEFT_OK;
}

static void add_warning(struct weft_fit *fit, const char *text) {
    WEFT__ADD(fit->arena, fit->warning, fit->warnings) = text;
}

static void begin_table(struct reader *r, const char *path) {
    r->table = (struct weft_fit_table){.file = path, .row0 = r->fit->rows};
}

/// What is asked of a table: which collective, and among whom.
static enum weft_status finish_table(struct reader *r, struct weft_error *ret_error) {
    struct weft_fit_setup *s = &r->table.setup;
    struct weft_place place = {.file = r->table.file};
    if (r->table.rows) place.line = (int)r->fit->row[r->table.row0].line;
    if (place.line) place.column = 1;
    const char *odd = r->conf->setup ? weft__fit_comment(s, r->conf->setup, s->place, r->fit->arena) : NULL;
    if (odd)
        return WEFT_REFUSE(
            ret_error, WEFT_NOWHERE,
            "--setup: \"%s\" says nothing; expected nodes, gpus_per_node, ranks, gpu, nics=8x400G, nvls, "
            "cpu, nccl, collective, NCCL_ALGO, NCCL_PROTO, NCCL_MIN_CTAS or NCCL_MAX_CTAS, each with =",
            odd);
    if (!r->table.rows) return WEFT_REFUSE(ret_error, place, "no size with a time is in it; expected a table");
    if (!s->collective) return WEFT_REFUSE(ret_error, place, "which collective is not said; %s", expected_setup);
    const struct weft__fit_collective *c = weft__fit_collective(s->collective);
    if (!c) {
        char names[128];
        weft__fit_collective_names(names, sizeof names);
        return WEFT_REFUSE(ret_error, s->place, "collective %s is not one that can be compared; expected one of %s",
                           s->collective, names);
    }
    if (s->nodes && !s->gpus && s->ranks) s->gpus = s->ranks / s->nodes;
    if (!r->conf->scenario && (!s->nodes || !s->gpus || !s->gpu || (s->nodes > 1 && !s->nics)))
        return WEFT_REFUSE(ret_error, place, "how it was measured is not said: no %s; %s",
                           !s->nodes  ? "nodes"
                           : !s->gpus ? "gpus_per_node"
                           : !s->gpu  ? "gpu"
                                      : "nics",
                           expected_setup);
    if (s->ranks && s->nodes && s->gpus && s->ranks != s->nodes * s->gpus)
        return WEFT_REFUSE(ret_error, s->place, "%" PRIu32 " ranks are not %" PRIu32 " nodes of %" PRIu32 " GPUs",
                           s->ranks, s->nodes, s->gpus);
    if (!s->ranks) s->ranks = s->nodes * s->gpus;
    if (s->ranks == 1) return WEFT_REFUSE(ret_error, place, "one rank sends nothing; expected at least two");
    for (uint32_t i = r->table.row0; i < r->fit->rows; i++) {
        r->fit->row[i].collective = c->name;
        r->fit->row[i].nodes = s->nodes;
        r->fit->row[i].ranks = s->ranks;
    }
    WEFT__ADD(r->fit->arena, r->fit->table, r->fit->tables) = r->table;
    if (r->wrong_rows)
        add_warning(r->fit, weft_arena_format(r->fit->arena,
                                              "%s:%" PRIu32 ": #wrong is not 0, here and in %" PRIu32 " of %" PRIu32
                                              " sizes in all: times of wrong results are taken as they are",
                                              r->table.file, r->first_wrong, r->wrong_rows, r->table.rows));
    r->wrong_rows = 0;
    return WEFT_OK;
}

/// The line behind what launchers put before it: "[1,0]<stdout>:" (mpirun --tag-output), "[0] ", "0: " (srun --label).
static char *behind_label(char *line) {
    static const char blank[] = " \t\r";
    char *text = line + strspn(line, blank), *rest = text + strspn(text, "0123456789");
    if (*text == '[' && strchr(text, ']')) {
        rest = strchr(text, ']') + 1;
        if (*rest == '<' && strchr(rest, '>')) rest = strchr(rest, '>') + 1;
        if (*rest == ':') rest++;
        text = rest;
    } else if (rest > text && *rest == ':')
        text = rest + 1;
    return text + strspn(text, blank);
}

/// Whether a comment behind rows is of another table: logs of several programs stand in one file.
static bool begins_another(const char *comment) {
    return strstr(comment, "nccl-tests version") || strstr(comment, "Collective test starting") ||
           strstr(comment, "nThread ") || strstr(comment, "collective=");
}

static enum weft_status take_line(struct reader *r, char *line, struct weft_error *ret_error) {
    struct weft_arena *arena = r->fit->arena;
    char *text = behind_label(line);
    bool comment = *text == '#';
    if (comment && r->table.rows && begins_another(text)) {
        struct weft_fit_setup said = r->table.setup;
        WEFT_TRY(finish_table(r, ret_error));
        begin_table(r, r->table.file);
        r->table.setup = said;
        r->named = false;
    }
    if (comment) weft__fit_comment(&r->table.setup, text + 1, r->lines.place, arena);
    split_line(r, text);
    if (!r->words || take_names(r) || comment) return WEFT_OK;
    double number;
    // What mpirun and the program print around the table, such as "2 warnings generated".
    if (!strchr("0123456789", **r->word) || (!is_number(*r->word, &number) && !r->named)) return WEFT_OK;
    if (r->words > 1 && r->words <= r->time && !strchr("0123456789", *r->word[1])) return WEFT_OK;
    return take_row(r, ret_error);
}

// --- the inspector's log ------------------------------------------------------------------------------------------

struct call {
    struct weft__inspector_measured m;
    uint32_t ranks, nodes, line;
};
WEFT__ORDER(by_size, struct call,
            WEFT__UP(m.coll) ?: WEFT__UP(ranks) ?: WEFT__UP(nodes) ?: WEFT__UP(m.bytes) ?: WEFT__UP(m.time_us))

static bool same_table(const struct call *a, const struct call *b) {
    return a->m.coll == b->m.coll && a->ranks == b->ranks && a->nodes == b->nodes;
}

/// A table a collective and set of ranks; of a size's calls the median.
static enum weft_status take_calls(struct reader *r, const struct call *call, uint32_t n,
                                   struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0, to; i < n && !status; i = to) {
        begin_table(r, r->lines.path);
        struct weft_fit_setup *s = &r->table.setup;
        *s = (struct weft_fit_setup){.nodes = call[i].nodes, .ranks = call[i].ranks};
        s->collective = weft__inspector_colls[call[i].m.coll];
        s->place = (struct weft_place){.file = r->lines.path, .line = (int)call[i].line};
        for (to = i; to < n && same_table(&call[i], &call[to]);) {
            uint32_t first = to;
            while (to < n && same_table(&call[first], &call[to]) && call[first].m.bytes == call[to].m.bytes)
                to++;
            const struct call *median = &call[first + (to - first) / 2];
            add_row(r, median->m.bytes, median->m.time_us, (double)NAN, (int)median->line);
        }
        status = finish_table(r, ret_error);
    }
    return status;
}

static enum weft_status read_calls(struct reader *r, const char *path, struct weft_error *ret_error) {
    struct weft__inspector_log log = {.arena = r->fit->arena};
    struct call *call = NULL;
    uint32_t n = 0;
    enum weft_status status = weft__inspector_read(path, WEFT_NOWHERE, &log, ret_error);
    if (!status) status = weft__inspector_sort(&log, (struct weft_place){.file = path, .line = 1}, ret_error);
    for (uint32_t at = 0; at < log.n && !status;) {
        const struct weft__inspector_record *first = &log.record[at];
        struct call one = {.ranks = first->ranks, .nodes = first->nodes, .line = (uint32_t)first->place.line};
        status = weft__inspector_next(&log, &at, &one.m, ret_error);
        WEFT__ADD(r->fit->arena, call, n) = one;
    }
    if (status) return status;
    qsort(call, n, sizeof *call, by_size);
    r->lines.path = path;
    return take_calls(r, call, n, ret_error);
}

enum weft_status weft__fit_read(const struct weft_fit_conf *conf, const char *path, struct weft_fit *fit,
                                struct weft_error *ret_error) {
    struct reader *r = weft_arena_alloc(fit->arena, 1, sizeof *r);
    r->conf = conf;
    r->fit = fit;
    begin_table(r, path);
    enum weft_status status = weft__lines_open(&r->lines, path, WEFT_NOWHERE, ret_error);
    if (status) return status;
    bool more = true, json = false;
    while (!status && !json) {
        status = weft__lines_next(&r->lines, &more, ret_error);
        if (status || !more) break;
        json = !r->named && !r->table.rows && r->lines.line[strspn(r->lines.line, " \t")] == '{';
        if (!json) status = take_line(r, r->lines.line, ret_error);
    }
    weft__lines_close(&r->lines);
    if (status) return status;
    return json ? read_calls(r, path, ret_error) : finish_table(r, ret_error);
}

// --- what counts --------------------------------------------------------------------------------------------------

/// Whether a row is no measurement of its size: the first call of a size connects and registers memory, of which the
/// time in place, measured after, knows nothing; without that column, a larger size that took less shows it.
static const char *why_outlying(const struct weft_fit *fit, const struct weft_fit_table *t,
                                const struct weft_fit_row *r) {
    if (!isnan(r->in_place_us))
        return r->measured_us > WEFT_FIT_OUTLIER * r->in_place_us
                   ? weft_arena_format(fit->arena, "%g us in place", r->in_place_us)
                   : NULL;
    for (uint32_t k = t->row0; k < t->row0 + t->rows; k++) {
        const struct weft_fit_row *other = &fit->row[k];
        if (other->bytes > r->bytes && r->measured_us > WEFT_FIT_OUTLIER * other->measured_us)
            return weft_arena_format(fit->arena, "line %" PRIu32 " has %g us for %" PRIu64 " B", other->line,
                                     other->measured_us, other->bytes);
    }
    return NULL;
}

static enum weft_status sort_out_table(const struct weft_fit_conf *conf, struct weft_fit *fit,
                                       const struct weft_fit_table *t, struct weft_error *ret_error) {
    uint32_t outlying = 0, kept = 0;
    const char *first = NULL;
    for (uint32_t i = t->row0; i < t->row0 + t->rows; i++) {
        struct weft_fit_row *row = &fit->row[i];
        const char *why = why_outlying(fit, t, row);
        bool held = conf->hold_out_of && kept % conf->hold_out_of >= conf->hold_out_of - conf->hold_out;
        kept += !why;
        outlying += why != NULL;
        row->use = why           ? WEFT_FIT_OUTLYING
                   : conf->check ? WEFT_FIT_CHECKED
                   : held        ? WEFT_FIT_HELD_OUT
                                 : WEFT_FIT_FITTED;
        if (!why) continue;
        const char *text = weft_arena_format(fit->arena, "%s:%" PRIu32 ": %g us for %" PRIu64 " B, but %s", t->file,
                                             row->line, row->measured_us, row->bytes, why);
        if (!first) first = text;
        add_warning(fit, weft_arena_format(fit->arena, "%s: left out", text));
    }
    if (3 * outlying <= t->rows) return WEFT_OK;
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                       "%s; %" PRIu32 " of %" PRIu32 " times are such; expected times that grow with the size", first,
                       outlying, t->rows);
}

enum weft_status weft__fit_sort_out(const struct weft_fit_conf *conf, struct weft_fit *fit,
                                    struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t t = 0; t < fit->tables && !status; t++)
        status = sort_out_table(conf, fit, &fit->table[t], ret_error);
    return status;
}
