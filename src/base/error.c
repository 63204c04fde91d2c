// SPDX-License-Identifier: Apache-2.0
#include "weft/error.h"
#include "base/param.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum weft_status weft_error_set(struct weft_error *ret_error, enum weft_status status, struct weft_place place,
                                const char *format, ...) {
    if (!ret_error || ret_error->status) return status;
    ret_error->status = status;
    ret_error->line = place.line;
    ret_error->column = place.column;
    size_t used = 0;
    if (place.file) {
        int n = !place.line  ? snprintf(ret_error->text, sizeof ret_error->text, "%s: ", place.file)
                : place.with ? snprintf(ret_error->text, sizeof ret_error->text, "%s:%d:%d with %s: ", place.file,
                                        place.line, place.column, place.with)
                             : snprintf(ret_error->text, sizeof ret_error->text, "%s:%d:%d: ", place.file, place.line,
                                        place.column);
        used = n < 0 ? 0 : (size_t)n;
        if (used >= sizeof ret_error->text) used = sizeof ret_error->text - 1;
        size_t length = strlen(place.file);
        ret_error->file_length = (unsigned)(length < used ? length : used);
    }
    ret_error->message_at = (unsigned)used;
    va_list args;
    va_start(args, format);
    vsnprintf(ret_error->text + used, sizeof ret_error->text - used, format, args);
    va_end(args);
    // The text may contain user input: make it one line without terminal control characters.
    for (char *c = ret_error->text; *c; c++) {
        bool high = (unsigned char)c[0] == 0xc2 && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xa0;
        if (high) c[1] = '?'; // U+0080 to U+009F
        if (high || (unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    }
    return status;
}

enum { WORD_MAX = 63 };

static bool is_same(char a, char b) {
    return !strncasecmp(&a, &b, 1);
}

/// Number of edits between two words: a letter more, less or other, or two neighbours exchanged (optimal string
/// alignment; Damerau, CACM 1964). Ignores case; words are cut at WORD_MAX.
static unsigned edit_distance(const char *a, const char *b) {
    unsigned na = (unsigned)strnlen(a, WORD_MAX), nb = (unsigned)strnlen(b, WORD_MAX);
    unsigned before[WORD_MAX + 1] = {0}, row[WORD_MAX + 1], next[WORD_MAX + 1];
    for (unsigned j = 0; j <= nb; j++)
        row[j] = j;
    for (unsigned i = 1; i <= na; i++) {
        next[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            unsigned best = row[j - 1] + !is_same(a[i - 1], b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (next[j - 1] + 1 < best) best = next[j - 1] + 1;
            bool exchanged = i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]);
            if (exchanged && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            next[j] = best;
        }
        memcpy(before, row, sizeof row);
        memcpy(row, next, sizeof row);
    }
    return row[nb];
}

const char *weft_error_nearest(const char *word, const char *const *candidates, unsigned n) {
    const char *best = NULL;
    unsigned best_distance = (unsigned)strnlen(word, WORD_MAX) / 2 + 1; // more than half of the word is wrong: no
                                                                        // suggestion
    for (unsigned i = 0; i < n; i++) {
        unsigned d = edit_distance(word, candidates[i]);
        if (d < best_distance) {
            best_distance = d;
            best = candidates[i];
        }
    }
    return best;
}

/// The message after the path of the value.
static const char *tail_of(const struct weft_error *e) {
    const char *message = e->text + e->message_at, *colon = strstr(message, ": ");
    return colon ? colon : message;
}

/// Entries of `devices` inherit values, and their mistakes: the same place, and the same message under another path.
static bool is_same_mistake(const struct weft_error *a, const struct weft_error *b) {
    if (!strcmp(a->text, b->text)) return true;
    return a->line && a->message_at == b->message_at && !strncmp(a->text, b->text, a->message_at) &&
           !strcmp(tail_of(a), tail_of(b));
}

void weft__mistakes_add(struct weft__mistakes *m, const struct weft_error *error) {
    for (uint32_t i = 0; i < m->n; i++)
        if (is_same_mistake(m->error[i], error) ||
            (error->status != WEFT_ERROR_INPUT && error->status == m->error[i]->status))
            return; // what is no mistake of the user's is told once
    if (m->n == WEFT__MISTAKES_MAX) {
        m->left_out++;
        return;
    }
    if (!m->error) m->error = weft_arena_alloc(m->arena, WEFT__MISTAKES_MAX, sizeof(struct weft_error *));
    struct weft_error *copy = m->error[m->n++] = weft_arena_alloc(m->arena, 1, sizeof *copy);
    *copy = *error;
}
