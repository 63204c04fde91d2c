// SPDX-License-Identifier: Apache-2.0
#include "weft/tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/stream.h"
#include "base/tree.h"
#include "base/utf8.h"

int weft__text_control(const char *text, bool lines) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (lines && (*c == '\n' || *c == '\t')) continue;
        if (*c < 0x20 || *c == 0x7f) return *c;
        if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) return c[1]; // U+0080 to U+009F
    }
    return 0;
}

const char *weft__text_shown(const char *text, struct weft_arena *arena) {
    if (!weft__text_control(text, false)) return text;
    char *shown = weft_arena_alloc(arena, 4 * strlen(text) + 1, 1), *at = shown;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool two = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        c += two;
        if (two || *c < 0x20 || *c == 0x7f)
            at += sprintf(at, "\\x%02x", *c);
        else
            *at++ = (char)*c;
    }
    return shown;
}

/// Three bytes each: byte order mark, non-characters, line and paragraph separators.
static bool is_no_text(const unsigned char *at) {
    static const char *const kinds[] = {"\xef\xbb\xbf", "\xef\xbf\xbe", "\xef\xbf\xbf", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!memcmp(at, kinds[k], 3)) return true;
    return false;
}

bool weft__text_is_plain(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        unsigned n = weft__utf8_length(at);
        if (!n || (n == 3 && is_no_text(at))) return false;
        at += n;
    }
    return !weft__text_control(text, false);
}

const struct weft_tree *weft_tree_find(const struct weft_tree *tree, const char *key) {
    if (!tree || tree->type != WEFT_TREE_MAP) return NULL;
    for (uint32_t i = 0; i < tree->n; i++)
        if (!strcmp(tree->child[i]->key, key)) return tree->child[i];
    return NULL;
}

double weft__tree_number(const struct weft_tree *map, const char *key) {
    const char *text = weft__tree_text(map, key);
    char *end = NULL;
    double number = text ? strtod(text, &end) : (double)NAN;
    return text && *end ? (double)NAN : number;
}

static void write_tree(struct weft__json *j, const struct weft_tree *tree) {
    switch (tree->type) {
    case WEFT_TREE_NULL:
        weft__json_null(j);
        break;
    case WEFT_TREE_TEXT:
        weft__json_string(j, tree->text);
        break;
    case WEFT_TREE_MAP:
        weft__json_begin_object(j);
        for (uint32_t i = 0; i < tree->n; i++) {
            weft__json_key(j, tree->child[i]->key);
            write_tree(j, tree->child[i]);
        }
        weft__json_end_object(j);
        break;
    case WEFT_TREE_LIST:
        weft__json_begin_array(j);
        for (uint32_t i = 0; i < tree->n; i++)
            write_tree(j, tree->child[i]);
        weft__json_end_array(j);
        break;
    }
}

const char *weft_tree_text(const struct weft_tree *tree, struct weft_arena *arena) {
    WEFT__TEXT_STREAM(stream, out);
    struct weft__json j = {.file = out};
    write_tree(&j, tree);
    return weft_arena_text(arena, weft__text_stream_text(&stream));
}

static void close_file(void *file) {
    if (file != stdin) fclose(file);
}

static enum weft_status too_big(const char *path, struct weft_error *ret_error) {
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = path}, "larger than %u MiB, the limit of a scenario",
                       WEFT__TREE_BYTES_MAX >> 20);
}

/// Opens a possible scenario: not a directory, and not too big if its size is known beforehand.
static enum weft_status open_text(const char *path, FILE **ret_file, bool *ret_pipe, struct weft_error *ret_error) {
    struct weft_place place = {.file = path};
    bool named = strcmp(path, "-") != 0;
    struct stat about;
    if (named ? stat(path, &about) : fstat(fileno(stdin), &about))
        return WEFT_REFUSE(ret_error, place, "cannot be read: %s", strerror(errno));
    if (S_ISDIR(about.st_mode)) return WEFT_REFUSE(ret_error, place, "is a directory; expected a file");
    if (S_ISREG(about.st_mode) && about.st_size > (off_t)WEFT__TREE_BYTES_MAX) return too_big(path, ret_error);
    *ret_file = named ? weft__file_open_unpacked(path) : stdin;
    if (!*ret_file) return WEFT_REFUSE(ret_error, place, "cannot be read: %s", weft__file_why(errno));
    *ret_pipe = named && S_ISFIFO(about.st_mode);
    return WEFT_OK;
}

static enum weft_status read_text(const char *path, struct weft__text *ret_text, struct weft_error *ret_error) {
    FILE *file = NULL;
    bool pipe = false;
    enum weft_status status = open_text(path, &file, &pipe, ret_error);
    if (status) return status;
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, close_file, file);
    struct weft__text t = {.room = 64 * 1024};
    t.text = weft_memory_new(WEFT_MEMORY_SCENARIO, t.room, 1);
    for (size_t n; (n = fread(t.text + t.size, 1, t.room - t.size, file)) > 0;) {
        t.size += n;
        if (t.size > WEFT__TREE_BYTES_MAX) break;
        if (t.size < t.room) continue;
        t.text = weft_memory_resize(WEFT_MEMORY_SCENARIO, t.text, t.room, 2 * t.room);
        t.room *= 2;
    }
    if (ferror(file))
        status = WEFT_REFUSE(ret_error, (struct weft_place){.file = path}, "cannot be read: %s", weft__file_why(errno));
    if (!status && !t.size && pipe)
        status = WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                             "is a pipe that nobody writes into; expected a file");
    weft_memory_cleanup_remove(&cleanup);
    close_file(file);
    if (!status && t.size > WEFT__TREE_BYTES_MAX) status = too_big(path, ret_error);
    if (status)
        weft__text_free(&t);
    else
        *ret_text = t;
    return status;
}

/// Standard input ends once it is read, and a command may read its scenario again: for each run, or after its changes.
static enum weft_status read_standard_input(struct weft__text *ret_text, struct weft_error *ret_error) {
    static struct weft__text kept;
    if (!kept.text) WEFT_TRY(read_text("-", &kept, ret_error));
    *ret_text = (struct weft__text){weft_memory_new(WEFT_MEMORY_SCENARIO, kept.room, 1), kept.size, kept.room};
    memcpy(ret_text->text, kept.text, kept.size);
    return WEFT_OK;
}

enum weft_status weft__text_read(const char *path, struct weft__text *ret_text, struct weft_error *ret_error) {
    return strcmp(path, "-") ? read_text(path, ret_text, ret_error) : read_standard_input(ret_text, ret_error);
}

void weft__text_free(struct weft__text *text) {
    weft_memory_free(WEFT_MEMORY_SCENARIO, text->text, text->room);
}

enum weft_status weft_tree_read(const char *path, struct weft_arena *arena, struct weft_tree **ret_tree,
                                struct weft_error *ret_error) {
    WEFT_ENDS(weft__text_free) struct weft__text text = {0};
    WEFT_TRY(weft__text_read(path, &text, ret_error));
    const char *name = strcmp(path, "-") ? path : "<stdin>";
    return weft_tree_parse(name, text.text, text.size, arena, ret_tree, ret_error);
}
