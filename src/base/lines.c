// SPDX-License-Identifier: Apache-2.0
#include "base/lines.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/stream.h"
#include "base/tree.h"

#define BAD(lines, ...) WEFT_REFUSE(ret_error, (lines)->place, __VA_ARGS__)

const char *weft__path_beside(const char *path, struct weft_place place, struct weft_arena *arena) {
    const char *slash = place.file && place.line && path[0] != '/' ? strrchr(place.file, '/') : NULL;
    if (slash) return weft_arena_format(arena, "%.*s%s", (int)(slash + 1 - place.file), place.file, path);
    return weft_arena_text(arena, path);
}

static void close_lines(void *object) {
    fclose(((struct weft__lines *)object)->file);
}

enum weft_status weft__lines_open(struct weft__lines *lines, const char *path, struct weft_place place,
                                  struct weft_error *ret_error) {
    *lines = (struct weft__lines){.path = path, .place = {.file = path, .line = 0, .column = 1}};
    lines->file = weft__file_open_unpacked(path);
    if (!lines->file) return WEFT_REFUSE(ret_error, place, "cannot read '%s': %s", path, weft__file_why(errno));
    weft_memory_cleanup_add(&lines->cleanup, close_lines, lines);
    lines->room = 4096;
    lines->line = weft_memory_new(WEFT_MEMORY_SCENARIO, lines->room, 1);
    lines->at = lines->line;
    return WEFT_OK;
}

void weft__lines_close(struct weft__lines *lines) {
    if (!lines->file) return;
    weft_memory_cleanup_remove(&lines->cleanup);
    close_lines(lines);
    weft_memory_free(WEFT_MEMORY_SCENARIO, lines->line, lines->room);
    lines->file = NULL;
}

enum weft_status weft__lines_next(struct weft__lines *lines, bool *ret_more, struct weft_error *ret_error) {
    int c;
    lines->size = 0;
    lines->place.line++;
    lines->place.column = 1;
    while ((c = getc_unlocked(lines->file)) != EOF && c != '\n') {
        if (!c) return BAD(lines, "a zero byte; expected text");
        if (lines->size + 1 == lines->room) {
            if (lines->size >= WEFT__LINE_MAX) return BAD(lines, "expected a line of at most %u bytes", WEFT__LINE_MAX);
            lines->line = weft_memory_resize(WEFT_MEMORY_SCENARIO, lines->line, lines->room, 2 * lines->room);
            lines->room *= 2;
        }
        lines->line[lines->size++] = (char)c;
    }
    if (ferror(lines->file)) return BAD(lines, "cannot be read: %s", weft__file_why(errno));
    if (lines->size && lines->line[lines->size - 1] == '\r') lines->size--;
    lines->line[lines->size] = 0;
    lines->at = lines->line;
    bool mark = lines->place.line == 1 && !strncmp(lines->line, "\xef\xbb\xbf", 3); // the byte order mark of Excel's
                                                                                    // UTF-8
    if (mark) lines->at += 3;
    *ret_more = c != EOF || lines->size;
    return WEFT_OK;
}

/// The bytes of whole lines without content at the beginning of a text, and how many lines they are.
static size_t count_comments(const char *text, int *ret_lines) {
    const char *line = text;
    for (const char *end; (end = strchr(line, '\n')) && strchr("#\r\n", line[strspn(line, " \t")]); line = end + 1)
        ++*ret_lines;
    return (size_t)(line - text);
}

size_t weft__file_read_head(FILE *file, char *head, size_t room, int *ret_lines) {
    size_t n = fread(head, 1, room, file);
    head[n] = 0;
    *ret_lines = 0;
    while ((n == room || *ret_lines) && strlen(head) == n) {
        int lines = 0;
        size_t comments = count_comments(head, &lines);
        if (!comments || (!*ret_lines && strchr(head + comments, '\n'))) break;
        n -= comments;
        memmove(head, head + comments, n);
        n += fread(head + n, 1, room - n, file);
        head[n] = 0;
        *ret_lines += lines;
    }
    return n;
}

enum weft_status weft__lines_next_full(struct weft__lines *lines, bool *ret_more, struct weft_error *ret_error) {
    enum weft_status status;
    do
        status = weft__lines_next(lines, ret_more, ret_error);
    while (!status && *ret_more && strchr("#", lines->at[strspn(lines->at, " \t")]));
    return status;
}

char *weft__lines_word(struct weft__lines *lines) {
    char *word = lines->at + strspn(lines->at, " \t");
    size_t n = strcspn(word, " \t");
    if (!n) return NULL;
    lines->place.column = (int)(word - lines->line) + 1;
    lines->at = word[n] ? word + n + 1 : word + n;
    word[n] = 0;
    return word;
}

enum weft_status weft__lines_token(struct weft__lines *lines, char **ret_word, struct weft_error *ret_error) {
    bool more = true;
    while (!(*ret_word = weft__lines_word(lines)) && more)
        WEFT_TRY(weft__lines_next(lines, &more, ret_error));
    return WEFT_OK;
}

/// A field in quotes, from behind the first one: doubled ones are made single. Returns where it went on behind the
/// last one.
static char *unquote_field(char *from) {
    char *to = from;
    for (; *from; *to++ = *from++)
        if (*from == '"' && *++from != '"') break;
    char *rest = from;
    if (to < rest) *to = 0;
    return rest;
}

char *weft__lines_field(struct weft__lines *lines, char separator, bool *ret_last) {
    char *field = lines->at + strspn(lines->at, separator == '\t' ? " " : " \t"), *rest = field;
    lines->place.column = (int)(field - lines->line) + 1;
    bool quoted = *field == '"';
    if (quoted) rest = unquote_field(++field);
    char *end = strchr(rest, separator);
    *ret_last = !end;
    lines->at = end ? end + 1 : rest + strlen(rest);
    if (end) *end = 0;
    for (char *last = field + strlen(field); !quoted && last > field && isblank((unsigned char)last[-1]);)
        *--last = 0;
    return field;
}

enum weft_status weft__lines_name(const struct weft__lines *lines, const char *text, struct weft_error *ret_error) {
    if (weft__text_is_plain(text)) return WEFT_OK;
    return BAD(lines, "bytes that are not UTF-8, or control characters; expected a name in UTF-8");
}

enum weft_status weft__lines_quantity(struct weft__lines *lines, const char *what, enum weft__quantity quantity,
                                      const char *unit, uint64_t *ret_value, struct weft_error *ret_error) {
    char why[160];
    const char *word = weft__lines_word(lines);
    if (!word) {
        lines->place.column = (int)lines->size + 1;
        return BAD(lines, "the line ends here; expected %s", what);
    }
    if (!weft__number_parse(quantity, unit, word, ret_value, why, sizeof why)) return BAD(lines, "%s: %s", what, why);
    return WEFT_OK;
}

enum weft_status weft__lines_number(struct weft__lines *lines, const char *what, uint64_t max, uint64_t *ret_value,
                                    struct weft_error *ret_error) {
    WEFT_TRY(weft__lines_quantity(lines, what, WEFT__COUNT, "", ret_value, ret_error));
    if (*ret_value > max) return BAD(lines, "%s is %" PRIu64 "; expected at most %" PRIu64, what, *ret_value, max);
    return WEFT_OK;
}

enum weft_status weft__lines_end(struct weft__lines *lines, const char *what, struct weft_error *ret_error) {
    const char *word = weft__lines_word(lines);
    if (!word || *word == '#') return WEFT_OK;
    return BAD(lines, "'%.40s' after %s; expected the end of the line", word, what);
}
