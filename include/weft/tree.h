// SPDX-License-Identifier: Apache-2.0
// The user's text as a tree that knows where everything stands. Read from YAML (libyaml); anchors and aliases are
// expanded with a bound, so that a cyclic or explosive anchor is an error. Limits: 16 MiB of text, 64 levels, 4 Mi
// nodes (what an alias stands for counts every time), 4096 keys in a map, 256 anchors. One document of UTF-8; a tag, a
// key that is not plain text and a control character are errors. Trees are not changed once made and share branches.
#pragma once

#include <stdbool.h>

#include "weft/error.h"
#include "weft/memory.h"

enum weft_tree_type { WEFT_TREE_NULL, WEFT_TREE_TEXT, WEFT_TREE_MAP, WEFT_TREE_LIST };

struct weft_tree {
    enum weft_tree_type type;
    struct weft_place place;
    struct weft_place key_place; ///< of the key, for a child of a map
    const char *key;             ///< for a child of a map, else NULL
    const char *text;            ///< for WEFT_TREE_TEXT
    uint32_t n;                  ///< children of a map or list, in the user's order
    struct weft_tree **child;
    bool below; ///< a preset or a class of hardware says it, not the user
};

/// Reads a file ("-": standard input) into `arena`. A duplicate key is an error.
enum weft_status weft_tree_read(const char *path, struct weft_arena *arena, struct weft_tree **ret_tree,
                                struct weft_error *ret_error);
/// The same from memory; `name` stands in for the file's name.
enum weft_status weft_tree_parse(const char *name, const char *text, size_t size, struct weft_arena *arena,
                                 struct weft_tree **ret_tree, struct weft_error *ret_error);
/// Child of a map by key; NULL if absent or `tree` is not a map (or NULL).
const struct weft_tree *weft_tree_find(const struct weft_tree *tree, const char *key);
/// On one line, such that it parses to the same tree: JSON in which every scalar is a string.
const char *weft_tree_text(const struct weft_tree *tree, struct weft_arena *arena);
/// A copy of `base` (NULL: of nothing) in which every leaf of `over` replaces or adds. Keys of `over` may be dotted
/// paths ("switch.pfc.xoff", "workload.0.size"); maps merge, everything else replaces. A text that stands where a map
/// merges ("cc: dcqcn" over or under "cc: {kind: dcqcn, g: ..}") counts as {kind: text}; when the override names a
/// different kind, the old kind's keys are dropped. The number "+" of a list is that of a new entry at its end.
enum weft_status weft_tree_override(const struct weft_tree *base, const struct weft_tree *over,
                                    struct weft_arena *arena, struct weft_tree **ret_tree,
                                    struct weft_error *ret_error);
