// SPDX-License-Identifier: Apache-2.0
// Limits of a scenario's text (weft/tree.h), and values from the command line.
#pragma once

#include "weft/tree.h"

#define WEFT__TREE_BYTES_MAX (16u << 20)
#define WEFT__TREE_DEPTH_MAX 64u
#define WEFT__TREE_NODES_MAX (4u << 20)
#define WEFT__TREE_KEYS_MAX 4096u
#define WEFT__TREE_ANCHORS_MAX 256u

/// weft_tree_parse for a value that is in no file: places have the name and no line. An empty text is WEFT_TREE_NULL.
enum weft_status weft__tree_parse_value(const char *name, const char *text, struct weft_arena *arena,
                                        struct weft_tree **ret_tree, struct weft_error *ret_error);

/// The same for a text of our own: its nodes are nowhere, and maps that it is laid over keep their places.
enum weft_status weft__tree_parse_own(const char *text, struct weft_arena *arena, struct weft_tree **ret_tree,
                                      struct weft_error *ret_error);

/// The first control character (ISO 6429, C0 and C1) in a UTF-8 text, which would harm tables, file names and
/// terminals; 0: none. `lines`: tabs and line ends do not count.
int weft__text_control(const char *text, bool lines);
/// The text with its control characters as "\x1b", for a terminal; `text` itself if it has none. In `arena`.
const char *weft__text_shown(const char *text, struct weft_arena *arena);

/// Whether a text is UTF-8 without control characters, and plain YAML.
bool weft__text_is_plain(const char *text);

/// A whole file of at most WEFT__TREE_BYTES_MAX, which may be compressed (base/unpack.c); an error names `path`. "-":
/// standard input, whose text is kept, so that it can be read again; two threads may not read it first at once.
struct weft__text {
    char *text;
    size_t size, room;
};
enum weft_status weft__text_read(const char *path, struct weft__text *ret_text, struct weft_error *ret_error);
void weft__text_free(struct weft__text *text);

/// The text of a key; NULL: there is none, or an empty one.
static inline const char *weft__tree_text(const struct weft_tree *map, const char *key) {
    const struct weft_tree *at = weft_tree_find(map, key);
    return at && at->type == WEFT_TREE_TEXT && *at->text ? at->text : NULL;
}
/// The number of a key; NAN: there is none.
double weft__tree_number(const struct weft_tree *map, const char *key);
/// A section of a map; NULL: it is missing or empty.
static inline const struct weft_tree *weft__tree_section(const struct weft_tree *map, const char *key) {
    const struct weft_tree *tree = weft_tree_find(map, key);
    return tree && tree->type != WEFT_TREE_NULL ? tree : NULL;
}
