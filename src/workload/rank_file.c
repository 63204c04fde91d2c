// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/tree.h"
#include "job.h"
#include "weft/placement.h"

enum { RANKS_MAX = 1 << 24, NAME_MAX_BYTES = 127 };

struct reader {
    const char *at, *end;
    struct weft_place here;
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_bytes(struct reader *r, size_t n) {
    r->at += n;
    r->here.column += (int)n;
}

static void skip_blanks(struct reader *r) {
    while (r->at < r->end && is_blank(*r->at))
        skip_bytes(r, 1);
}

/// The end of the line, or a comment up to it.
static bool at_line_end(const struct reader *r) {
    return r->at == r->end || *r->at == '\n' || *r->at == '#';
}

static void next_line(struct reader *r) {
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->at = newline ? newline + 1 : r->end;
    r->here.line++;
    r->here.column = 1;
}

static size_t word_length(const struct reader *r) {
    size_t n = 0;
    while (r->at + n < r->end && !is_blank(r->at[n]) && r->at[n] != '\n' && r->at[n] != '#')
        n++;
    return n;
}

static enum weft_status read_gpu(struct reader *r, uint32_t *ret_gpu, struct weft_error *ret_error) {
    size_t n = word_length(r);
    *ret_gpu = 0;
    for (size_t i = 0; i < n; i++) {
        if (n > 6 || r->at[i] < '0' || r->at[i] > '9')
            return WEFT_REFUSE(ret_error, r->here,
                               "'%.*s' is not the number of a GPU; expected a line such as \"host-12 4\"",
                               n > 40 ? 40 : (int)n, r->at);
        *ret_gpu = *ret_gpu * 10 + (uint32_t)(r->at[i] - '0');
    }
    skip_bytes(r, n);
    return WEFT_OK;
}

static enum weft_status read_line(struct reader *r, struct weft_arena *arena, struct weft_rank_line *ret_line,
                                  struct weft_error *ret_error) {
    size_t n = word_length(r);
    ret_line->place = r->here;
    if (n > NAME_MAX_BYTES)
        return WEFT_REFUSE(ret_error, r->here,
                           "%zu bytes without a blank; expected the name of a host, at most %d bytes", n,
                           NAME_MAX_BYTES);
    if (memchr(r->at, 0, n))
        return WEFT_REFUSE(ret_error, r->here, "a zero byte; expected the name of a host, in text");
    ret_line->host = weft_arena_format(arena, "%.*s", (int)n, r->at);
    int control = weft__text_control(ret_line->host, false);
    if (control)
        return WEFT_REFUSE(ret_error, r->here, "the control character 0x%02x; expected the name of a host without",
                           control);
    skip_bytes(r, n);
    skip_blanks(r);
    ret_line->gpu_place = r->here;
    ret_line->gpu = WEFT_NONE;
    if (at_line_end(r)) return WEFT_OK;
    WEFT_TRY(read_gpu(r, &ret_line->gpu, ret_error));
    skip_blanks(r);
    if (!at_line_end(r))
        return WEFT_REFUSE(ret_error, r->here, "more than a host and a GPU; expected the end of the line");
    return WEFT_OK;
}

enum weft_status weft_rank_file_parse(const char *name, const char *text, size_t size, struct weft_arena *arena,
                                      struct weft_rank_file *ret_file, struct weft_error *ret_error) {
    struct reader r = {text, text + size, {.file = name, .line = 1, .column = 1}};
    *ret_file = (struct weft_rank_file){0};
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        return WEFT_REFUSE(ret_error, r.here, "a byte order mark; expected text without one, such as \"host-12 4\"");
    for (; r.at < r.end; next_line(&r)) {
        skip_blanks(&r);
        if (at_line_end(&r)) continue;
        if (ret_file->ranks == RANKS_MAX) return WEFT_REFUSE(ret_error, r.here, "expected at most %d ranks", RANKS_MAX);
        ret_file->line = weft__arena_grow(arena, ret_file->line, ret_file->ranks, sizeof *ret_file->line);
        WEFT_TRY(read_line(&r, arena, &ret_file->line[ret_file->ranks], ret_error));
        ret_file->ranks++;
    }
    if (!ret_file->ranks)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = name, .line = 1, .column = 1},
                           "no rank is in it; expected a line a rank, such as \"host-12 4\"");
    return WEFT_OK;
}

enum weft_status weft__rank_file_read(const char *path, struct weft_place entry, struct weft_place place,
                                      struct weft_arena *arena, struct weft_rank_file *ret_file,
                                      struct weft_error *ret_error) {
    path = weft__path_beside(path, entry, arena);
    struct weft__text text;
    struct weft_error why = {0};
    enum weft_status status = weft__text_read(path, &text, &why);
    if (status) return weft_error_set(ret_error, status, place, "rank_file: %s", why.text);
    status = weft_rank_file_parse(path, text.text, text.size, arena, ret_file, ret_error);
    weft__text_free(&text);
    return status;
}

void weft_rank_file_write(FILE *file, const char *about, const struct weft_job *job,
                          const struct weft_topology *topology, const uint32_t *host, const uint32_t *gpu) {
    for (const char *line = about; *line;) {
        size_t n = strcspn(line, "\n");
        fprintf(file, "# %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    for (uint32_t r = 0; r < job->ranks; r++)
        fprintf(file, "%s %" PRIu32 "\n", topology->node[topology->host[host[r]]].name, gpu[r]);
}
