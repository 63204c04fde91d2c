// SPDX-License-Identifier: Apache-2.0
// The answer of a command in the form that its user asks for.
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/param.h"
#include "base/stream.h"
#include "base/tree.h"
#include "cli.h"
#include "results.h"
#include "weft/result.h"

enum { PARTS_MAX = 16, NUMBER = 64, TABLES_MAX = 128 };

enum weft_status weft_cli_table_find(const struct weft_answer *answer, const char *name,
                                     const struct weft_result_table **ret_table, struct weft_error *ret_error) {
    const char *names[TABLES_MAX];
    char expected[512];
    assert(answer->tables <= TABLES_MAX);
    if ((*ret_table = weft_answer_table(answer, name))) return WEFT_OK;
    for (uint32_t i = 0; i < answer->tables; i++)
        names[i] = answer->table[i]->name;
    weft__names_expected(name, names, answer->tables, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "no table of results \"%s\"; %s", name, expected);
}

/// Splits a path at its dots; a name that has dots stands in double quotes. Returns the number of parts.
static uint32_t split_path(char *path, const char *part[PARTS_MAX]) {
    uint32_t n = 0;
    while (n < PARTS_MAX) {
        bool quoted = *path == '"';
        path += quoted;
        part[n++] = path;
        path += strcspn(path, quoted ? "\"" : ".");
        if (quoted && *path) *path++ = 0;
        if (*path != '.') break;
        *path++ = 0;
    }
    return n;
}

/// Of an answer with one variant a path may leave out `variants.0`.
static struct weft_result_found find_figure(const struct weft_result_finder *finder, const char *const *part,
                                            uint32_t parts) {
    static const char *const one[] = {"variants", "count"};
    struct weft_result_found found = weft_result_find(finder, part, parts), variants;
    if (found.column || found.parts || parts + 2 > PARTS_MAX) return found;
    variants = weft_result_find(finder, one, 2);
    if (!variants.column || weft_result_number(&variants.value) != 1) return found;
    const char *full[PARTS_MAX] = {"variants", "0"};
    memcpy(full + 2, part, parts * sizeof *part);
    variants = weft_result_find(finder, full, parts + 2);
    variants.parts -= 2;
    return variants;
}

/// A number with all its digits.
static void print_figure(const struct weft_result_value *value) {
    char text[NUMBER];
    struct weft__json j = {.file = stdout};
    if (value->known && value->type == WEFT_RESULT_REAL)
        weft__json_real(&j, value->real);
    else
        fputs(weft_result_text(value, text, sizeof text), stdout);
}

static enum weft_status pick_figure(const struct weft_result_finder *finder, const char *path,
                                    struct weft_error *ret_error) {
    const char *part[PARTS_MAX];
    char expected[700];
    size_t used = 0;
    uint32_t parts = split_path(weft_arena_text(finder->arena, path), part);
    struct weft_result_found found = find_figure(finder, part, parts);
    if (found.column) print_figure(&found.value);
    putchar('\n');
    if (found.column) return WEFT_OK;
    if (found.entries)
        used = (size_t)snprintf(expected, sizeof expected, "expected 0 to %u%s", found.entries - 1,
                                found.names ? ", or a key; " : "");
    if (!found.entries && found.parts && !found.names)
        snprintf(expected, sizeof expected, "\"%s\" has no parts", part[found.parts - 1]);
    else if (found.names || !found.entries)
        weft__names_expected(found.parts < parts ? part[found.parts] : "", found.name, found.names, expected + used,
                             sizeof expected - used);
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--pick %s: the answer has no such figure; %s", path, expected);
}

/// A line a figure, empty where there is none; the error is the first.
static enum weft_status pick_figures(const struct weft_cli_options *o, const struct weft_answer *answer,
                                     const void *subject, struct weft_error *ret_error) {
    struct weft_result_finder finder = weft_answer_finder(answer, subject, o->arena);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < o->picks; i++)
        if (status)
            pick_figure(&finder, o->pick[i], NULL);
        else
            status = pick_figure(&finder, o->pick[i], ret_error);
    return status;
}

/// The database under its name. A file that another command has written since the options were read stays.
static enum weft_status place_database(const struct weft_cli_options *o, const char *draft,
                                       struct weft_error *ret_error) {
    if (o->force || (link(draft, o->database) && errno != EEXIST)) { // some file systems have no links
        if (!rename(draft, o->database)) return WEFT_OK;
        return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, (struct weft_place){.file = o->database},
                              "cannot be written: %s", weft__file_why(errno));
    }
    bool taken = errno == EEXIST;
    unlink(draft);
    if (!taken) return WEFT_OK;
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                       "--out: '%s' was written by another command since this one began; --force replaces it",
                       weft__text_shown(o->database, o->arena));
}

/// A signal waits until the file is complete, and then ends the command as before.
static enum weft_status write_database(const struct weft_cli_options *o, const struct weft_answer *answer,
                                       const void *subject, struct weft_error *ret_error) {
    const char *draft = weft__draft_name(o->database, o->arena);
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &before);
    enum weft_status status = weft_answer_sqlite(draft, answer, subject, ret_error);
    errno = 0;
    if (!status) status = place_database(o, draft, ret_error);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

const char *weft_cli_pick_path(const char *const *part, uint32_t parts, struct weft_arena *arena) {
    const char *path = "";
    for (uint32_t i = 0; i < parts; i++) {
        const char *quote = !*part[i] || strchr(part[i], '.') ? "\"" : "";
        path = weft_arena_format(arena, "%s%s%s%s%s", path, i ? "." : "", quote, part[i], quote);
    }
    return path;
}

enum weft_status weft_cli_answer(const struct weft_cli_options *o, const struct weft_answer *answer,
                                 const void *subject, void (*text)(FILE *file, const void *subject),
                                 struct weft_error *ret_error) {
    const struct weft_result_table *table = NULL;
    enum weft_status status = o->csv ? weft_cli_table_find(answer, o->csv, &table, ret_error) : WEFT_OK;
    if (status) return status;
    enum weft_status written = o->database ? write_database(o, answer, subject, ret_error) : WEFT_OK;
    if (o->json) {
        struct weft__json j = {.file = stdout};
        weft_answer_json(&j, answer, subject);
        putchar('\n');
    } else if (o->csv) {
        weft_answer_csv(stdout, answer, table, subject);
    } else if (o->picks) {
        status = pick_figures(o, answer, subject, written ? NULL : ret_error);
    } else if (text) {
        text(stdout, subject);
    }
    return written ? written : status; // the answer is told even if the file cannot be written
}
