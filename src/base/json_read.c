// SPDX-License-Identifier: Apache-2.0
// Uses jansson, which does not keep places of values; they are searched in the text, which is known to be valid JSON by
// then.
#include "base/json_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/stream.h"

/// Jansson does not always report a failed allocation.
static void *allocate_json(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) weft_memory_fail();
    return memory;
}

void weft__json_guard(void) {
    json_set_alloc_funcs(allocate_json, free);
}

// --- the text -----------------------------------------------------------------------------------------------------

static void close_stream(void *object) {
    fclose(object);
}

/// The bytes of a file followed by a 0; returns errno of a failure, or 0.
static int read_all(struct weft__json_file *file) {
    struct weft_memory_cleanup cleanup = {0};
    FILE *stream = weft__file_open_unpacked(file->path);
    if (!stream) return errno;
    weft_memory_cleanup_add(&cleanup, close_stream, stream);
    file->room = 65536;
    file->text = weft_memory_new(WEFT_MEMORY_SCENARIO, file->room, 1);
    size_t n;
    while ((n = fread(file->text + file->size, 1, file->room - file->size - 1, stream)) > 0) {
        file->size += n;
        if (file->size + 1 < file->room) continue;
        file->text = weft_memory_resize(WEFT_MEMORY_SCENARIO, file->text, file->room, 2 * file->room);
        file->room *= 2;
    }
    int why = ferror(stream) ? errno : 0;
    file->text[file->size] = 0;
    weft_memory_cleanup_remove(&cleanup);
    fclose(stream);
    return why;
}

static void release_root(void *object) {
    json_decref(((struct weft__json_file *)object)->root);
}

/// Jansson skips a zero byte after a number; the functions below take it for the end of the text.
static enum weft_status check_zero(const struct weft__json_file *file, struct weft_error *ret_error) {
    const char *zero = memchr(file->text, 0, file->size);
    struct weft_place place = {.file = file->path, .line = 1, .column = 1};
    if (!zero) return WEFT_OK;
    for (const char *at = file->text; at < zero; at++, place.column++)
        if (*at == '\n') {
            place.line++;
            place.column = 0;
        }
    return WEFT_REFUSE(ret_error, place, "a zero byte; expected JSON");
}

static enum weft_status parse_file(struct weft__json_file *file, struct weft_error *ret_error) {
    json_error_t why;
    size_t mark = strncmp(file->text, "\xef\xbb\xbf", 3) ? 0 : 3;
    file->root = json_loadb(file->text + mark, file->size - mark, JSON_REJECT_DUPLICATES, &why);
    if (file->root) {
        weft_memory_cleanup_add(&file->cleanup, release_root, file);
        if (json_is_object(file->root)) return WEFT_OK;
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path, .line = 1, .column = 1},
                           "expected a JSON object, {...}");
    }
    if (json_error_code(&why) == json_error_out_of_memory) weft_memory_fail();
    char *near = strstr(why.text, " near '");
    if (near) *near = 0;
    return WEFT_REFUSE(ret_error,
                       (struct weft_place){.file = file->path,
                                           .line = why.line > 0 ? why.line : 1,
                                           .column = why.column > 0 ? why.column : 1},
                       "%s; expected JSON", why.text);
}

enum weft_status weft__json_open(struct weft__json_file *file, const char *path, struct weft_place place,
                                 struct weft_error *ret_error) {
    *file = (struct weft__json_file){.path = path};
    int why = read_all(file);
    if (why) {
        weft__json_close(file);
        return WEFT_REFUSE(ret_error, place, "cannot read '%s': %s", path, weft__file_why(why));
    }
    enum weft_status status = check_zero(file, ret_error);
    if (!status) status = parse_file(file, ret_error);
    if (status) weft__json_close(file);
    return status;
}

void weft__json_close(struct weft__json_file *file) {
    if (file->root) {
        weft_memory_cleanup_remove(&file->cleanup);
        release_root(file);
    }
    if (file->text) weft_memory_free(WEFT_MEMORY_SCENARIO, file->text, file->room);
    *file = (struct weft__json_file){0};
}

// --- places -------------------------------------------------------------------------------------------------------

struct scan {
    const char *at, *line_start;
    struct weft_place place;
};

static void skip_blanks(struct scan *s) {
    for (; *s->at && strchr(" \t\r\n", *s->at); s->at++)
        if (*s->at == '\n') {
            s->place.line++;
            s->line_start = s->at + 1;
        }
    s->place.column = (int)(s->at - s->line_start) + 1;
}

static void skip_string(struct scan *s) {
    for (s->at++; *s->at != '"'; s->at++)
        s->at += *s->at == '\\';
    s->at++;
}

/// Skips a value of any depth, and the blanks after it.
static void skip_value(struct scan *s) {
    uint32_t depth = 0;
    do {
        skip_blanks(s);
        if (strchr("[{", *s->at)) {
            depth++;
            s->at++;
        } else if (strchr("]}", *s->at)) {
            depth--;
            s->at++;
        } else if (*s->at == '"') {
            skip_string(s);
        } else if (strchr(",:", *s->at)) {
            s->at++;
        } else {
            s->at += strcspn(s->at, " \t\r\n,:]}");
        }
    } while (depth);
    skip_blanks(s);
}

struct weft_place *weft__json_places(const struct weft__json_file *file, const char *key, size_t n,
                                     struct weft_arena *arena) {
    struct weft_place *place = weft_arena_alloc(arena, n, sizeof *place);
    size_t length = strlen(key);
    struct scan s = {file->text, file->text, {.file = file->path, .line = 1, .column = 1}};
    s.at = strchr(s.at, '{') + 1;
    for (skip_blanks(&s); *s.at == '"'; skip_blanks(&s)) {
        bool wanted = !strncmp(s.at + 1, key, length) && s.at[1 + length] == '"';
        skip_string(&s);
        skip_blanks(&s);
        s.at++; // the colon
        skip_blanks(&s);
        if (!wanted) {
            skip_value(&s);
        } else {
            for (size_t i = 0; i < n; i++) {
                s.at++; // the bracket or a comma
                skip_blanks(&s);
                place[i] = s.place;
                skip_value(&s);
            }
            return place;
        }
        s.at += *s.at == ',';
    }
    for (size_t i = 0; i < n; i++)
        place[i] = (struct weft_place){.file = file->path, .line = 1, .column = 1};
    return place;
}

// --- objects one after another ------------------------------------------------------------------------------------

static int next_byte(struct weft__json_objects *o) {
    int c = getc_unlocked(o->file);
    o->at.column++;
    if (c == '\n') {
        o->at.line++;
        o->at.column = 1;
    }
    return c;
}

/// json_load_callback_t. Gives one byte at a time, so that the text after the object is still unread.
static size_t give_byte(void *buffer, size_t size, void *context) {
    struct weft__json_objects *o = context;
    if (!size || o->size++ == o->bytes_max) return 0;
    int c = next_byte(o);
    *(char *)buffer = (char)c;
    return c != EOF;
}

static bool is_between(const struct weft__json_objects *o, int c) {
    if (c == '[' && !o->list && !o->place.line) return true;
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0xef || c == 0xbb || c == 0xbf ||
           (o->list && c == ',');
}

json_t *weft__json_objects_next(struct weft__json_objects *o, struct weft_error *ret_error) {
    json_error_t why;
    struct weft_place start;
    int c;
    if (o->ended) return NULL;
    for (;;) {
        start = o->at;
        c = next_byte(o);
        if (!is_between(o, c)) break;
        if (c == '[') o->list = true;
    }
    o->place = start;
    o->ended = c == EOF || (o->list && c == ']');
    if (c == EOF && o->list) WEFT_REFUSE(ret_error, start, "the file ends; expected ]");
    if (o->ended) return NULL;
    ungetc(c, o->file);
    o->at = start;
    o->size = 0;
    json_t *object = json_load_callback(give_byte, o, JSON_DISABLE_EOF_CHECK, &why);
    if (json_is_object(object)) return object;
    bool other = object != NULL;
    json_decref(object);
    if (!other) {
        o->place.column = why.line > 1 ? why.column : start.column - 1 + why.column;
        o->place.line += why.line > 1 ? why.line - 1 : 0;
        if (o->place.column < 1) o->place.column = 1;
    }
    WEFT_REFUSE(ret_error, o->place, "%s; expected an object of JSON of at most %zu bytes",
                other ? "no object" : why.text, o->bytes_max);
    return NULL;
}

void weft__json_release(void *value) {
    json_decref(value);
}
