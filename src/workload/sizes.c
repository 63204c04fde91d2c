// SPDX-License-Identifier: Apache-2.0
#include "sizes.h"
#include "base/order.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/lines.h"
#include "base/stream.h"

enum { POINTS_MAX = 4096, LINE_MAX_BYTES = 256 };
static const double size_max = 1e14; // as the size of a flow

double weft__sizes_mean(const struct weft__sizes *sizes) {
    const struct weft__size_point *p = sizes->point;
    double mean = p[0].bytes * p[0].part;
    for (uint32_t i = 1; i < sizes->n; i++)
        mean += (p[i].bytes + p[i - 1].bytes) / 2 * (p[i].part - p[i - 1].part);
    return mean;
}

weft_bytes weft__sizes_at(const struct weft__sizes *sizes, double unit) {
    const struct weft__size_point *p = sizes->point;
    assert(sizes->n && unit >= 0 && unit <= 1);
    uint32_t low = WEFT__FIRST_WITHOUT(0, sizes->n - 1, p[middle].part < unit); // the first point with unit <= part
    double bytes = p[low].bytes;
    if (low > 0 && p[low].part > p[low - 1].part)
        bytes -= (p[low].bytes - p[low - 1].bytes) * (p[low].part - unit) / (p[low].part - p[low - 1].part);
    return bytes < 1.5 ? 1 : (weft_bytes)llround(bytes);
}

/// Reads points; parts stay as they are in the file. `line` counts.
static enum weft_status read_points(FILE *file, struct weft_place *here, struct weft__size_point *point,
                                    uint32_t *ret_n, struct weft_error *ret_error) {
    char line[LINE_MAX_BYTES];
    uint32_t n = 0;
    while (fgets(line, sizeof line, file)) {
        here->line++;
        size_t length = strlen(line);
        if (!length || (line[length - 1] != '\n' && !feof(file)))
            return WEFT_REFUSE(ret_error, *here, "expected lines of text, shorter than %d bytes", LINE_MAX_BYTES - 1);
        line[strcspn(line, "#")] = 0;
        if (!line[strspn(line, " \t\r\n")]) continue;
        struct weft__size_point p;
        char rest;
        if (sscanf(line, "%lf %lf %c", &p.bytes, &p.part, &rest) != 2)
            return WEFT_REFUSE(ret_error, *here, "expected a line 'bytes part', as in '10000 0.15'");
        if (!(p.bytes >= 0 && p.bytes <= size_max) || !(p.part >= 0 && p.part <= 100))
            return WEFT_REFUSE(ret_error, *here, "'%g %g': expected 0 to 1e14 bytes and a part of 0 to 100", p.bytes,
                               p.part);
        if (n && (p.bytes < point[n - 1].bytes || p.part < point[n - 1].part))
            return WEFT_REFUSE(ret_error, *here, "'%g %g' after '%g %g': expected bytes and parts that never fall",
                               p.bytes, p.part, point[n - 1].bytes, point[n - 1].part);
        if (n == POINTS_MAX) return WEFT_REFUSE(ret_error, *here, "expected at most %d points", POINTS_MAX);
        point[n++] = p;
    }
    *ret_n = n;
    return WEFT_OK;
}

static enum weft_status normalise_parts(struct weft_place place, struct weft__size_point *point, uint32_t n,
                                        struct weft_error *ret_error) {
    double whole = n ? point[n - 1].part : 0;
    if (fabs(whole - 1) > 1e-9 && fabs(whole - 100) > 1e-9)
        return WEFT_REFUSE(ret_error, place,
                           "the parts rise to %g; expected a last line whose part is 1 or 100 (percent)", whole);
    for (uint32_t i = 0; i < n; i++)
        point[i].part /= whole;
    return WEFT_OK;
}

static enum weft_status load_file(const char *path, struct weft_place place, struct weft_arena *arena,
                                  struct weft__sizes *ret_sizes, struct weft_error *ret_error) {
    path = weft__path_beside(path, place, arena);
    FILE *file = weft__file_open_unpacked(path);
    if (!file)
        return WEFT_REFUSE(ret_error, place, "distribution '%s' cannot be read: %s", path, weft__file_why(errno));
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, weft__file_close, file);
    struct weft__size_point *point = weft_arena_alloc(arena, POINTS_MAX, sizeof *point);
    struct weft_place here = {.file = path, .column = 1};
    uint32_t n = 0;
    enum weft_status status = read_points(file, &here, point, &n, ret_error);
    if (ferror(file) && !status)
        status = WEFT_REFUSE(ret_error, place, "distribution '%s' cannot be read: %s", path, weft__file_why(errno));
    weft_memory_cleanup_remove(&cleanup);
    fclose(file);
    if (!here.line) here.line = 1;
    if (!status) status = normalise_parts(here, point, n, ret_error);
    *ret_sizes = (struct weft__sizes){point, n};
    return status;
}

static const struct {
    const char *name;
    const struct weft__sizes *sizes;
} bundled[] = {
    {"websearch", &weft__sizes_websearch},
    {"fbhdp", &weft__sizes_fbhdp},
    {"alistorage2019", &weft__sizes_alistorage2019},
};

enum weft_status weft__sizes_load(const char *name, struct weft_place place, struct weft_arena *arena,
                                  struct weft__sizes *ret_sizes, struct weft_error *ret_error) {
    if (!strncmp(name, "file:", 5)) return load_file(name + 5, place, arena, ret_sizes, ret_error);
    for (uint32_t b = 0; b < sizeof bundled / sizeof *bundled; b++)
        if (!strcmp(name, bundled[b].name)) {
            *ret_sizes = *bundled[b].sizes;
            return WEFT_OK;
        }
    if (!strcmp(name, "googlerpc2008")) {
        weft__sizes_googlerpc2008(arena, ret_sizes);
        return WEFT_OK;
    }
    static const char *const known[] = {"fixed", "websearch", "fbhdp", "alistorage2019", "googlerpc2008", "file:PATH"};
    const char *nearest = weft_error_nearest(name, known, sizeof known / sizeof *known);
    return WEFT_REFUSE(
        ret_error, place,
        "distribution '%s': expected fixed, websearch, fbhdp, alistorage2019, googlerpc2008 or file:PATH%s%s%s", name,
        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}
