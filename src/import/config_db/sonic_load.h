// SPDX-License-Identifier: Apache-2.0
// The files of a SONiC switch as one object of tables.
#pragma once

#include <jansson.h>

#include "weft/sonic.h"

/// Reads the files and appends to the array `set` an object of all tables, then one with the tables of each file. Rows
/// of several files are joined; two values of one field are an error.
enum weft_status weft__sonic_load(const char *const *path, uint32_t files, struct weft_arena *arena, json_t *set,
                                  struct weft_error *ret_error);
/// A new array, which `cleanup` releases if memory runs out, and its end.
json_t *weft__sonic_set_new(struct weft_memory_cleanup *cleanup);
void weft__sonic_set_free(json_t *set, struct weft_memory_cleanup *cleanup);
/// Whether the file lacks PORT, and so is only a part of a switch's configuration, such as qos.json.
enum weft_status weft__sonic_is_part(const char *path, struct weft_arena *arena, bool *ret_part,
                                     struct weft_error *ret_error);
