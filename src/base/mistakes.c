// SPDX-License-Identifier: Apache-2.0
#include "base/mistakes.h"

#include <string.h>

void weft__mistakes_add(struct weft__mistakes *m, const struct weft_error *error) {
    for (uint32_t i = 0; i < m->n; i++)
        if (!strcmp(m->error[i]->text, error->text)) return;
    if (m->n == WEFT__MISTAKES_MAX) {
        m->left_out++;
        return;
    }
    if (!m->error) m->error = weft_arena_alloc(m->arena, WEFT__MISTAKES_MAX, sizeof(struct weft_error *));
    struct weft_error *copy = m->error[m->n++] = weft_arena_alloc(m->arena, 1, sizeof *copy);
    *copy = *error;
}
