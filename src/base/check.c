// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <stdio.h>

static void __attribute__((cold, noinline, format(printf, 2, 3)))
note_broken(struct weft__check *c, const char *format, ...) {
    size_t n = 0, size = sizeof c->text;
    if (c->node) n += (size_t)snprintf(c->text, size, "%s, ", c->node);
    if (c->port != WEFT_NONE && n < size) n += (size_t)snprintf(c->text + n, size - n, "port %u, ", c->port);
    if (c->priority != WEFT_NONE && n < size)
        n += (size_t)snprintf(c->text + n, size - n, "priority %u, ", c->priority);
    va_list arguments;
    va_start(arguments, format);
    if (n < size) vsnprintf(c->text + n, size - n, format, arguments);
    va_end(arguments);
}

void weft__check_equal(struct weft__check *c, const char *one, uint64_t value, const char *other, uint64_t expected) {
    if (__builtin_expect(value == expected || weft__check_is_broken(c), 1)) return;
    note_broken(c, "%s: %llu, but %s: %llu", one, (unsigned long long)value, other, (unsigned long long)expected);
}

void weft__check_at_most(struct weft__check *c, const char *one, uint64_t value, const char *other, uint64_t most) {
    if (__builtin_expect(value <= most || weft__check_is_broken(c), 1)) return;
    note_broken(c, "%s: %llu, more than %s: %llu", one, (unsigned long long)value, other, (unsigned long long)most);
}

void weft__check_model(struct weft__check *c, const char *who, uint64_t number, const char *broken) {
    if (__builtin_expect(!broken || weft__check_is_broken(c), 1)) return;
    note_broken(c, "%s %llu: %s", who, (unsigned long long)number, broken);
}
