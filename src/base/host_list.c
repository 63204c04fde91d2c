// SPDX-License-Identifier: Apache-2.0
#include "base/host_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { DIGITS_MAX = 9 };

struct expansion {
    struct weft_arena *arena;
    const char **name;
    uint32_t n, max;
    char *why;
    size_t size;
};

#define REFUSE(x, ...) (snprintf((x)->why, (x)->size, __VA_ARGS__), false)

static bool expand_part(struct expansion *x, const char *done, const char *rest, const char *end);

static bool add_name(struct expansion *x, const char *name) {
    if (x->n == x->max) return REFUSE(x, "more than %" PRIu32 " names", x->max);
    WEFT__ADD(x->arena, x->name, x->n) = name;
    return true;
}

/// "16" or "16-31" of [from, to), each number in place of the brackets.
static bool expand_range(struct expansion *x, const char *done, const char *from, const char *to, const char *rest,
                         const char *end) {
    size_t low = strspn(from, "0123456789"), high = from[low] == '-' ? strspn(from + low + 1, "0123456789") : 0;
    const char *last = from[low] == '-' ? from + low + 1 + high : from + low;
    if (!low || low > DIGITS_MAX || high > DIGITS_MAX || last != to || (from[low] == '-' && !high))
        return REFUSE(x, "'%.*s': expected numbers and ranges such as [1-4,7]", (int)(to - from), from);
    unsigned long first = strtoul(from, NULL, 10), stop = high ? strtoul(from + low + 1, NULL, 10) : first;
    if (stop < first) return REFUSE(x, "'%.*s': expected a range that goes up", (int)(to - from), from);
    for (unsigned long i = first; i <= stop; i++)
        if (!expand_part(x, weft_arena_format(x->arena, "%s%0*lu", done, (int)low, i), rest, end)) return false;
    return true;
}

/// Continues a name, of which `done` is ready, with the text [rest, end).
static bool expand_part(struct expansion *x, const char *done, const char *rest, const char *end) {
    const char *open = memchr(rest, '[', (size_t)(end - rest));
    const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    if (open && !close) return REFUSE(x, "'%.*s': expected a ] behind the [", (int)(end - rest), rest);
    done = weft_arena_format(x->arena, "%s%.*s", done, (int)((open ? open : end) - rest), rest);
    if (!open) return add_name(x, done);
    for (const char *from = open + 1, *to; from <= close; from = to + 1) {
        to = memchr(from, ',', (size_t)(close - from));
        if (!to) to = close;
        if (!expand_range(x, done, from, to, close + 1, end)) return false;
    }
    return true;
}

/// The end of the entry that begins here: the next comma outside brackets.
static const char *entry_end(const char *from) {
    bool inside = false;
    for (; *from && (inside || *from != ','); from++)
        inside = *from == '[' || (inside && *from != ']');
    return from;
}

bool weft__host_list_expand(const char *text, uint32_t max, struct weft_arena *arena, const char ***ret_name,
                            uint32_t *ret_n, char *why, size_t size) {
    struct expansion x = {.arena = arena, .max = max, .why = why, .size = size};
    bool good = true;
    for (const char *from = text, *end; *from && good; from = *end ? end + 1 : end) {
        from += strspn(from, " ");
        end = entry_end(from);
        if (end > from) good = expand_part(&x, "", from, end);
    }
    *ret_name = x.name;
    *ret_n = x.n;
    return good;
}
