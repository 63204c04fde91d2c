// SPDX-License-Identifier: Apache-2.0
// A GOAL file of either form.
#include "goal.h"

#include <errno.h>
#include <string.h>

#include "base/stream.h"

size_t weft__goal_fill(struct weft__goal_input *in, size_t n) {
    size_t have = in->end - in->begin;
    if (have >= n || feof(in->file)) return have;
    memmove(in->buffer, in->buffer + in->begin, have);
    in->begin = 0;
    in->end = have;
    while (in->end < WEFT__GOAL_BUFFER) {
        size_t more = fread(in->buffer + in->end, 1, WEFT__GOAL_BUFFER - in->end, in->file);
        if (ferror(in->file)) in->why = errno;
        if (!more) break;
        in->end += more;
    }
    return in->end;
}

static bool is_binary(const unsigned char *bytes, size_t size) {
    static const unsigned char magic[8] = {WEFT__GOAL_MAGIC & 255, WEFT__GOAL_MAGIC >> 8};
    return size >= sizeof magic && !memcmp(bytes, magic, sizeof magic);
}

/// Skips blanks and comments; if the comment continues beyond the known text, returns the end.
static size_t skip_blanks(const char *text, size_t size) {
    size_t at = 0;
    for (;;) {
        while (at < size && strchr(" \t\r\n", text[at]) && text[at])
            at++;
        if (at + 1 >= size || text[at] != '/') return at;
        bool block = text[at + 1] == '*';
        if (!block && text[at + 1] != '/') return at;
        for (at += 2; at < size; at++)
            if (block ? at + 1 < size && text[at] == '*' && text[at + 1] == '/' : text[at] == '\n') break;
        at += block ? 2 : 1;
        if (at >= size) return size;
    }
}

bool weft_goal_recognise(const void *bytes, size_t size) {
    static const char word[] = "num_ranks";
    if (is_binary(bytes, size)) return true;
    size_t at = skip_blanks(bytes, size);
    return size - at > sizeof word - 1 && !memcmp((const char *)bytes + at, word, sizeof word - 1);
}

enum weft_status weft_goal_read(FILE *file, const char *name, struct weft_arena *arena,
                                struct weft_schedule **ret_schedule, struct weft_error *ret_error) {
    struct weft__goal_input in = {
        .file = file, .name = name, .buffer = weft_memory_new(WEFT_MEMORY_SCENARIO, WEFT__GOAL_BUFFER, 1)};
    size_t size = weft__goal_fill(&in, WEFT__GOAL_FIRST);
    enum weft_status status = is_binary(weft__goal_bytes(&in), size)
                                  ? weft__goal_read_binary(&in, arena, ret_schedule, ret_error)
                                  : weft__goal_read_text(&in, arena, ret_schedule, ret_error);
    weft_memory_free(WEFT_MEMORY_SCENARIO, in.buffer, WEFT__GOAL_BUFFER);
    if (!in.why) return status;
    if (ret_error) *ret_error = (struct weft_error){0};
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = name}, "cannot be read: %s", weft__file_why(in.why));
}

enum weft_status weft_goal_load(const char *path, struct weft_place place, struct weft_arena *arena,
                                struct weft_schedule **ret_schedule, struct weft_error *ret_error) {
    FILE *file = weft__file_open_unpacked(path);
    if (!file) return WEFT_REFUSE(ret_error, place, "file: cannot open '%s': %s", path, weft__file_why(errno));
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, weft__file_close, file);
    enum weft_status status = weft_goal_read(file, path, arena, ret_schedule, ret_error);
    weft_memory_cleanup_remove(&cleanup);
    fclose(file);
    return status ? status : weft_schedule_check(*ret_schedule, ret_error);
}
