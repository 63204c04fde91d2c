// SPDX-License-Identifier: Apache-2.0
// Any bytes as a schedule in GOAL: refused with a place, or one that can be written and read again in either form and
// is the same, and that LogGOPS executes or says to stall.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "goal_binary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum weft_status read(const void *data, size_t size, struct weft_arena *arena, struct weft_schedule **ret,
                             struct weft_error *ret_error) {
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
    assert(file);
    enum weft_status status = weft_goal_read(file, "x", arena, ret, ret_error);
    fclose(file);
    assert(!status == !*ret_error->text);
    if (status) assert(!strncmp(ret_error->text, "x:", 2));
    return status;
}

static char *written(void (*write)(FILE *file, const struct weft_schedule *s), const struct weft_schedule *s,
                     size_t *ret_size) {
    char *text;
    FILE *file = open_memstream(&text, ret_size);
    write(file, s);
    fclose(file);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_schedule *s, *again;
    struct weft_error error = {0};
    weft_goal_recognise(data, size);
    if (!read(data, size, arena, &s, &error) && s->ranks < 1000 && !weft_schedule_check(s, &error)) {
        size_t n_text, n_binary, n_again;
        char *text = written(weft_goal_write, s, &n_text), *binary = written(goal_write_binary, s, &n_binary);
        assert(!read(binary, n_binary, arena, &again, &error));
        char *other = written(weft_goal_write, again, &n_again);
        assert(n_again == n_text && !memcmp(text, other, n_text));
        assert(!read(text, n_text, arena, &again, &error) && again->steps == s->steps && again->edges == s->edges);
        struct weft_loggops model = {2500000, 1500000, 1000000, 6000, 0, 100};
        struct weft_loggops_result result;
        enum weft_status status = weft_loggops_run(s, &model, arena, &result, &error);
        assert(!status == !*error.text);
        free(text);
        free(binary);
        free(other);
    }
    weft_arena_free(arena);
    return 0;
}
