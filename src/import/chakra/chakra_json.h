// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces in JSON, in three forms. Two are Protobuf's JSON of the same messages (names in camelCase or
// as in the schema, 64-bit numbers as texts, enumerations as names or numbers): objects one after another, or a list of
// them; the global metadata comes first. The third is an object with a list `workload_graph` of nodes, whose attributes
// are members of theirs.
// Source: mlcommons/chakra, src/jsonizer/jsonizer.py (both versions) and src/feeder/JSONNode.cpp.
#pragma once

#include "base/json_read.h"
#include "import/chakra/chakra.pb-c.h"

struct weft__chakra_json {
    struct weft__json_objects objects;
    json_t *graph; ///< the object with workload_graph; NULL: another form
    size_t nodes;  ///< of it, that have been read
};
/// Whether the name of a file says that it is JSON.
bool weft__chakra_json_named(const char *path);
/// Whether the first bytes of a text look like a trace.
bool weft__chakra_json_recognise(const char *head);

/// Reads the metadata: *ret_version is the version of the schema, in the arena; NULL: not given.
enum weft_status weft__chakra_json_begin(struct weft__chakra_json *j, FILE *file, const char *name,
                                         struct weft_arena *arena, const char **ret_version,
                                         struct weft_error *ret_error);
/// The next node, in the arena; its object begins at j->objects.place. *ret_node is NULL at the end.
enum weft_status weft__chakra_json_next(struct weft__chakra_json *j, struct weft_arena *arena,
                                        Weft__Chakra__Node **ret_node, struct weft_error *ret_error);
void weft__chakra_json_end(struct weft__chakra_json *j);
