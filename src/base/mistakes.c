// SPDX-License-Identifier: Apache-2.0
#include "base/param.h"

#include <stdbool.h>
#include <string.h>

/// The message after the path of the value.
static const char *tail_of(const struct weft_error *e) {
    const char *message = e->text + e->message_at, *colon = strstr(message, ": ");
    return colon ? colon : message;
}

/// Entries of `devices` inherit values, and their mistakes: the same place, and the same message under another path.
static bool is_same(const struct weft_error *a, const struct weft_error *b) {
    if (!strcmp(a->text, b->text)) return true;
    return a->line && a->message_at == b->message_at && !strncmp(a->text, b->text, a->message_at) &&
           !strcmp(tail_of(a), tail_of(b));
}

void weft__mistakes_add(struct weft__mistakes *m, const struct weft_error *error) {
    for (uint32_t i = 0; i < m->n; i++)
        if (is_same(m->error[i], error) || (error->status != WEFT_ERROR_INPUT && error->status == m->error[i]->status))
            return; // what is no mistake of the user's is told once
    if (m->n == WEFT__MISTAKES_MAX) {
        m->left_out++;
        return;
    }
    if (!m->error) m->error = weft_arena_alloc(m->arena, WEFT__MISTAKES_MAX, sizeof(struct weft_error *));
    struct weft_error *copy = m->error[m->n++] = weft_arena_alloc(m->arena, 1, sizeof *copy);
    *copy = *error;
}
