// SPDX-License-Identifier: Apache-2.0
// Reading and writing configurations by their tables of parameters (weft/param.h).
#pragma once

#include "weft/tree.h"

struct weft_param;
struct weft_param_table;

/// Fills `conf` (table->conf_size bytes) with the defaults, then with what `tree` says (NULL: nothing). Unknown key,
/// missing unit, out of range, wrong shape, unknown model: an error with place, expectation and the nearest known key.
enum weft_status weft_params_load(const struct weft_param_table *table, const struct weft_tree *tree, void *conf,
                                  struct weft_arena *arena, struct weft_error *ret_error);
const struct weft_param *weft_param_find(const struct weft_param_table *table, const char *name); ///< NULL if none
/// One value from text (not for SECTION and MODEL with parameters).
enum weft_status weft_param_parse(const struct weft_param *row, const char *text, struct weft_place place, void *conf,
                                  struct weft_arena *arena, struct weft_error *ret_error);
/// The value as text that weft_param_parse reads back to the same value. Returns snprintf-like length.
int weft_param_format(const struct weft_param *row, const void *conf, char *text, size_t size);
/// Whether values of the row are numbers: quantities, counts, reals.
bool weft_param_is_number(const struct weft_param *row);
/// The number in a text of such a row, in ps, bit/s or bytes. False: there is none.
bool weft_param_number(const struct weft_param *row, const char *text, struct weft_arena *arena, double *ret_number);
/// A number of such a row as text, in `arena`; NULL: its bounds forbid it.
const char *weft_param_number_text(const struct weft_param *row, double number, struct weft_arena *arena);
/// Calls on_value("switch.pfc.quanta", "65535", default or NULL) for every value of the table, sections and models
/// included, in order.
void weft_params_each(const struct weft_param_table *table, const void *conf, const char *prefix,
                      void (*on_value)(void *context, const char *path, const char *value, const char *dflt),
                      void *context);
