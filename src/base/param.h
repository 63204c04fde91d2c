// SPDX-License-Identifier: Apache-2.0
// What the loader of parameters shares with the reader of scenarios.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "weft/error.h"
#include "weft/memory.h"
#include "weft/model.h"
#include "weft/param_load.h"

// Collects all mistakes of an input: a function that returns the first one continues and adds the others.
enum { WEFT__MISTAKES_MAX = 50 };

struct weft__mistakes {
    struct weft_arena *arena;
    struct weft_error **error; ///< in the order in which they were found, each text once
    uint32_t n, left_out;      ///< left_out: how many more there are
};

/// Adds a copy of the error, unless one with the same text, or the same place and message, is there.
void weft__mistakes_add(struct weft__mistakes *m, const struct weft_error *error);

/// A value of the row, in the form in which configurations have it, in `arena`; NULL: there is none.
const char *weft__param_written(const struct weft_param *row, const char *text, struct weft_arena *arena);

/// weft_params_load for a table at `path` ("devices.0.switch").
enum weft_status weft__params_load_at(const struct weft_param_table *table, const struct weft_tree *tree,
                                      const char *path, void *conf, struct weft_arena *arena,
                                      struct weft_error *ret_error);
/// A model from text or from a map with `kind`; `name` is the default if the user names none (NULL: it is required).
enum weft_status weft__model_load_at(enum weft_model_kind kind, const char *name, const struct weft_tree *tree,
                                     const char *path, struct weft_model_conf *ret_model, struct weft_arena *arena,
                                     struct weft_error *ret_error);
/// Like weft_params_load and weft_model_load, but they continue after a mistake: `mistakes` (may be NULL) gets all, the
/// error the first.
enum weft_status weft__params_load_all(const struct weft_param_table *table, const struct weft_tree *tree,
                                       const char *path, void *conf, struct weft_arena *arena,
                                       struct weft__mistakes *mistakes, struct weft_error *ret_error);
enum weft_status weft__model_load_all(enum weft_model_kind kind, const char *name, const struct weft_tree *tree,
                                      const char *path, struct weft_model_conf *ret_model, struct weft_arena *arena,
                                      struct weft__mistakes *mistakes, struct weft_error *ret_error);
/// One value from text; errors refer to it as `path`.
enum weft_status weft__param_parse_at(const struct weft_param *row, const char *text, struct weft_place place,
                                      const char *path, void *conf, struct weft_arena *arena,
                                      struct weft_error *ret_error);
/// What a value of this row looks like: "a time such as \"150ns\"".
const char *weft__param_expected(const struct weft_param *row);
/// Appends "." and `name` to a path.
const char *weft__path_join(char *text, size_t size, const char *path, const char *name);
/// "a, b, c": whole names, and ", ..." for those that have no room.
void weft__names_join(const char *const *names, uint32_t n, char *text, size_t size);
/// "expected one of a, b, c", with a suggestion if one is near; `names` has n entries.
void weft__names_expected(const char *word, const char *const *names, uint32_t n, char *text, size_t size);
/// Calls on_value("PATH.kind", ...) and then for every parameter of the model.
void weft__model_each(const struct weft_model_conf *model, const char *path,
                      void (*on_value)(void *context, const char *path, const char *value, const char *dflt),
                      void *context);

enum { WEFT__PATH_MAX = 256 };

// Words of other tools, papers and vendors, and the keys of weft with the same meaning.
/// The key that somebody who writes `word` means, if it is one of `names`, or a dotted path that begins with one of
/// them; in `ret_key`. NULL: the word is not known.
const char *weft__synonym_find(const char *word, const char *const *names, uint32_t n, char *ret_key, size_t size);
/// Which parameter of another section, or of another kind of model, the word is that stands in `section`, of a model of
/// the kind `own` (WEFT_KINDS: of none): "switch.buffer has "alpha" with kind: dynamic". False: none is known.
bool weft__param_elsewhere(uint32_t own, const char *section, const char *word, char *text, size_t size);
