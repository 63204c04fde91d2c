// SPDX-License-Identifier: Apache-2.0
// The answer of a check of invariants: the first one found broken, with both values. A check only reads the state; the
// caller sets node, port and priority before it compares, so that the text says where. Nothing here is called in a run
// that is not checked (sim/check_state.c).
#pragma once

#include <stdarg.h>

#include "weft/types.h"

struct weft__check {
    const char *node;        ///< its name; NULL: the state belongs to no node
    uint32_t port, priority; ///< number at the node, and priority; WEFT_NONE: the state belongs to none
    char text[240];          ///< the first broken invariant; empty: none was found
};

static inline struct weft__check weft__check_of(const char *node) {
    return (struct weft__check){.node = node, .port = WEFT_NONE, .priority = WEFT_NONE};
}

/// The state that follows belongs to this port and priority; WEFT_NONE: to none.
static inline void weft__check_at(struct weft__check *c, uint32_t port, uint32_t priority) {
    c->port = port;
    c->priority = priority;
}

static inline bool weft__check_is_broken(const struct weft__check *c) {
    return *c->text;
}

/// Two quantities, each with its name in words, must be equal.
void weft__check_equal(struct weft__check *c, const char *one, uint64_t value, const char *other, uint64_t expected);
/// The first quantity must not exceed the second.
void weft__check_at_most(struct weft__check *c, const char *one, uint64_t value, const char *other, uint64_t most);
/// The answer of a model's own check: NULL, or the broken invariant in words. `who`: what the model keeps.
void weft__check_model(struct weft__check *c, const char *who, uint64_t number, const char *broken);
