// SPDX-License-Identifier: Apache-2.0
#include "import/chakra/chakra_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "import/chakra/chakra_read.h"

enum { OBJECT_MAX = 64 << 20 };

static const char *const types[WEFT__CHAKRA_TYPES] = {"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                                      "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                                      "COMM_RECV_NODE", "COMM_COLL_NODE"};

bool weft__chakra_json_named(const char *path) {
    static const char *const endings[] = {".json", ".json.gz", ".json.zst"};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t m = strlen(endings[i]);
        if (n > m && !strcmp(path + n - m, endings[i])) return true;
    }
    return false;
}

bool weft__chakra_json_recognise(const char *head) {
    if (strstr(head, "\"workload_graph\"") || strstr(head, "-chakra.")) return true; // the latter: PyTorch's, refused
    for (size_t i = 1; i < WEFT__CHAKRA_TYPES; i++) {
        const char *at = strstr(head, types[i]);
        if (at && at > head && at[-1] == '"' && at[strlen(types[i])] == '"') return true;
    }
    return false;
}

#define BAD(j, ...) WEFT_REFUSE(ret_error, (j)->objects.place, __VA_ARGS__)

/// Protobuf's JSON has "data_deps" as "dataDeps"; other forms have names of their own.
static bool is_key(const char *key, const char *name) {
    for (; *name; name++, key++) {
        if (*key == *name) continue;
        if (*name != '_' || *key != name[1] - 'a' + 'A') return false;
        name++;
    }
    return !*key;
}

// --- values -------------------------------------------------------------------------------------------------------

/// A whole number of 64 bits, also as a text; negative ones modulo 2^64.
static bool read_whole(const json_t *value, uint64_t *ret) {
    if (json_is_integer(value)) {
        *ret = (uint64_t)json_integer_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    if (!text || !*text || strspn(text + (*text == '-'), "0123456789") != strlen(text + (*text == '-'))) return false;
    errno = 0;
    *ret = *text == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
    return !errno;
}

static enum weft_status read_number(const struct weft__chakra_json *j, const char *key, const json_t *value,
                                    uint64_t *ret, struct weft_error *ret_error) {
    bool negative = json_is_integer(value) ? json_integer_value(value) < 0
                                           : json_is_string(value) && *json_string_value(value) == '-';
    if (read_whole(value, ret) && !negative) return WEFT_OK;
    return BAD(j, "%.60s: expected a whole number", key);
}

static enum weft_status read_text(const struct weft__chakra_json *j, const char *key, const json_t *value,
                                  struct weft_arena *arena, char **ret, struct weft_error *ret_error) {
    if (!json_is_string(value)) return BAD(j, "%.60s: expected a text", key);
    *ret = weft_arena_text(arena, json_string_value(value));
    return WEFT_OK;
}

static enum weft_status read_ids(const struct weft__chakra_json *j, const char *key, const json_t *list,
                                 struct weft_arena *arena, uint64_t **ret, size_t *ret_n,
                                 struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    if (!json_is_array(list)) return BAD(j, "%.60s: expected a list of ids", key);
    *ret_n = json_array_size(list);
    *ret = weft_arena_alloc(arena, *ret_n, sizeof **ret);
    for (size_t i = 0; i < *ret_n && !status; i++)
        status = read_number(j, key, json_array_get(list, i), &(*ret)[i], ret_error);
    return status;
}

static enum weft_status read_type(const struct weft__chakra_json *j, const json_t *value, int32_t *ret,
                                  struct weft_error *ret_error) {
    const char *name = json_string_value(value);
    for (int32_t i = 0; name && i < WEFT__CHAKRA_TYPES; i++)
        if (!strcmp(name, types[i])) {
            *ret = i;
            return WEFT_OK;
        }
    if (!json_is_integer(value)) return BAD(j, "type: expected a number, or a name such as COMM_COLL_NODE");
    *ret = (int32_t)json_integer_value(value);
    return WEFT_OK;
}

// --- attributes ---------------------------------------------------------------------------------------------------

/// List `values` of an object, or a list: of booleans.
static void set_bools(Weft__Chakra__Attribute *a, const json_t *value, struct weft_arena *arena) {
    const json_t *list = json_is_object(value) ? json_object_get(value, "values") : value;
    size_t n = json_array_size(list);
    Weft__Chakra__Bools *bools = weft_arena_alloc(arena, 1, sizeof *bools);
    weft__chakra__bools__init(bools);
    bools->n_values = n;
    bools->values = weft_arena_alloc(arena, n, sizeof *bools->values);
    for (size_t i = 0; i < n; i++)
        bools->values[i] = json_is_true(json_array_get(list, i));
    a->value_case = WEFT__CHAKRA__ATTRIBUTE__VALUE_BOOL_LIST;
    a->bool_list = bools;
}

/// Other values, such as real numbers, leave it without one. `text`: a text is not a number.
static void set_value(Weft__Chakra__Attribute *a, const json_t *value, bool text, struct weft_arena *arena) {
    uint64_t number;
    if (json_is_boolean(value)) {
        a->value_case = WEFT__CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL;
        a->bool_val = json_is_true(value);
    } else if (!text && read_whole(value, &number)) {
        bool negative = json_is_string(value) ? *json_string_value(value) == '-' : json_integer_value(value) < 0;
        a->value_case = negative ? WEFT__CHAKRA__ATTRIBUTE__VALUE_INT64_VAL : WEFT__CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL;
        a->uint64_val = number;
        if (negative) a->int64_val = (int64_t)number;
    } else if (json_is_string(value)) {
        a->value_case = WEFT__CHAKRA__ATTRIBUTE__VALUE_STRING_VAL;
        a->string_val = weft_arena_text(arena, json_string_value(value));
    } else if (json_is_array(value) || json_is_object(value)) {
        set_bools(a, value, arena);
    }
}

static void add_attribute(Weft__Chakra__Node *n, Weft__Chakra__Attribute a, struct weft_arena *arena) {
    n->attr[n->n_attr] = weft_arena_alloc(arena, 1, sizeof a);
    *n->attr[n->n_attr++] = a;
}

/// {"name": "comm_size", "int64Val": "8"}
static Weft__Chakra__Attribute read_attribute(json_t *object, struct weft_arena *arena) {
    Weft__Chakra__Attribute a = WEFT__CHAKRA__ATTRIBUTE__INIT;
    const char *key, *name = json_string_value(json_object_get(object, "name"));
    json_t *value;
    if (name) a.name = weft_arena_text(arena, name);
    json_object_foreach(object, key, value) if (strcmp(key, "name") != 0 && !is_key(key, "doc_string"))
        set_value(&a, value, is_key(key, "string_val"), arena);
    return a;
}

// --- nodes --------------------------------------------------------------------------------------------------------

/// How many attributes a node has at most.
static size_t attributes_of(const json_t *object) {
    return json_object_size(object) + json_array_size(json_object_get(object, "attr"));
}

static enum weft_status read_member(const struct weft__chakra_json *j, const char *key, json_t *value,
                                    Weft__Chakra__Node *n, struct weft_arena *arena, struct weft_error *ret_error) {
    if (is_key(key, "id") || is_key(key, "Id")) return read_number(j, key, value, &n->id, ret_error);
    if (is_key(key, "name") || is_key(key, "Name")) return read_text(j, key, value, arena, &n->name, ret_error);
    if (is_key(key, "type") || is_key(key, "NodeType")) return read_type(j, value, &n->type, ret_error);
    if (is_key(key, "data_deps")) return read_ids(j, key, value, arena, &n->data_deps, &n->n_data_deps, ret_error);
    if (is_key(key, "ctrl_deps")) return read_ids(j, key, value, arena, &n->ctrl_deps, &n->n_ctrl_deps, ret_error);
    if (is_key(key, "duration_micros") || is_key(key, "runtime"))
        return read_number(j, key, value, &n->duration_micros, ret_error);
    if (is_key(key, "inputs") && json_object_get(value, "values")) {
        n->inputs = weft_arena_alloc(arena, 1, sizeof *n->inputs);
        weft__chakra__values__init(n->inputs);
        return read_text(j, key, json_object_get(value, "values"), arena, &n->inputs->values, ret_error);
    }
    if (is_key(key, "attr")) {
        for (size_t i = 0; i < json_array_size(value); i++)
            add_attribute(n, read_attribute(json_array_get(value, i), arena), arena);
        return WEFT_OK;
    }
    Weft__Chakra__Attribute a = WEFT__CHAKRA__ATTRIBUTE__INIT;
    a.name = weft_arena_text(arena, key);
    set_value(&a, value, is_key(key, "pg_name"), arena);
    add_attribute(n, a, arena);
    return WEFT_OK;
}

static enum weft_status read_node(const struct weft__chakra_json *j, json_t *object, struct weft_arena *arena,
                                  Weft__Chakra__Node **ret_node, struct weft_error *ret_error) {
    const char *key;
    json_t *value;
    enum weft_status status = WEFT_OK;
    Weft__Chakra__Node *n = *ret_node = weft_arena_alloc(arena, 1, sizeof *n);
    weft__chakra__node__init(n);
    n->attr = weft_arena_alloc(arena, attributes_of(object), sizeof *n->attr);
    json_object_foreach(object, key, value) {
        if (!status) status = read_member(j, key, value, n, arena, ret_error);
    }
    return status;
}

enum weft_status weft__chakra_json_next(struct weft__chakra_json *j, struct weft_arena *arena,
                                        Weft__Chakra__Node **ret_node, struct weft_error *ret_error) {
    struct weft_error why = {0};
    json_t *object = NULL;
    *ret_node = NULL;
    if (j->graph) {
        object = json_array_get(json_object_get(j->graph, "workload_graph"), j->nodes++);
        if (object && !json_is_object(object)) return BAD(j, "workload_graph: expected a list of objects");
        return object ? read_node(j, object, arena, ret_node, ret_error) : WEFT_OK;
    }
    object = weft__json_objects_next(&j->objects, &why);
    if (!object && ferror(j->objects.file)) return BAD(j, "cannot be read: %s", weft__file_why(errno));
    if (!object) {
        if (why.status && ret_error && !ret_error->status) *ret_error = why;
        return why.status;
    }
    enum weft_status status = read_node(j, object, arena, ret_node, ret_error);
    json_decref(object);
    return status;
}

// --- metadata -----------------------------------------------------------------------------------------------------

enum weft_status weft__chakra_json_begin(struct weft__chakra_json *j, FILE *file, const char *name,
                                         struct weft_arena *arena, const char **ret_version,
                                         struct weft_error *ret_error) {
    struct weft_error why = {0};
    *j = (struct weft__chakra_json){.objects = {.file = file, .bytes_max = OBJECT_MAX, .at = {name, 1, 1}}};
    *ret_version = NULL;
    json_t *object = weft__json_objects_next(&j->objects, &why), *attribute;
    if (!object && why.status) {
        if (ret_error && !ret_error->status) *ret_error = why;
        return why.status;
    }
    if (!object) return BAD(j, "the file is empty; expected a Chakra trace in JSON");
    if (json_is_array(json_object_get(object, "workload_graph"))) {
        j->graph = object;
        return WEFT_OK;
    }
    bool node = json_object_get(object, "type") || json_object_get(object, "nodes");
    const char *version = json_string_value(json_object_get(object, "version"));
    size_t i;
    json_array_foreach(json_object_get(object, "attr"), i, attribute) {
        const char *what = json_string_value(json_object_get(attribute, "name"));
        if (!version && what && !strcmp(what, "schema"))
            version = json_string_value(json_object_get(attribute, "stringVal"));
    }
    if (version) *ret_version = weft_arena_text(arena, version);
    json_decref(object);
    if (node)
        return BAD(j, "expected the global metadata of a Chakra trace first, as Chakra's jsonizer writes it (PyTorch's "
                      "own traces: convert them with chakra_converter)");
    return WEFT_OK;
}

void weft__chakra_json_end(struct weft__chakra_json *j) {
    json_decref(j->graph);
    j->graph = NULL;
}
