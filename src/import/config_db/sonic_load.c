// SPDX-License-Identifier: Apache-2.0
// Files of a SONiC switch in each form in which they are passed on: config_db.json; parts of it as sonic-cfggen renders
// them (qos.json, buffers.json); and CONFIG_DB.json of `show techsupport`, written by redis-dump, whose keys are
// "TABLE|key" and whose rows are {"type": "hash", "value": {...}}. A row without fields is {"NULL": "NULL"} in Redis.
#include "import/config_db/sonic_load.h"

#include <errno.h>
#include <string.h>

#include "base/json_read.h"
#include "base/stream.h"
#include "weft/error.h"

static enum weft_status read_file(const char *path, json_t **ret_root, struct weft_error *ret_error) {
    struct weft_place place = {.file = path};
    json_error_t why;
    FILE *file = weft__file_open_unpacked(path);
    if (!file) return WEFT_REFUSE(ret_error, place, "cannot be read: %s", weft__file_why(errno));
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &why);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    if (failed) {
        json_decref(root);
        return WEFT_REFUSE(ret_error, place, "cannot be read: %s", weft__file_why(failed));
    }
    if (!root && json_error_code(&why) == json_error_out_of_memory) weft_memory_fail();
    if (!root) {
        place.line = why.line > 0 ? why.line : 1;
        place.column = why.column > 0 ? why.column : 1;
        return WEFT_REFUSE(ret_error, place, "%s; expected JSON", why.text);
    }
    *ret_root = root;
    if (json_is_object(root)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place, "expected an object with tables");
}

static void need_memory(int failed) {
    if (failed) weft_memory_fail(); // jansson has no other reason here
}

/// The fields of a row of redis-dump, or of a plain one.
static json_t *fields_of(json_t *row) {
    json_t *value = json_object_get(row, "value");
    return json_is_object(value) && json_is_string(json_object_get(row, "type")) ? value : row;
}

/// Adds the fields of a row; an error if the row has another value of one of them.
static enum weft_status add_row(json_t *rows, const char *table, const char *key, json_t *fields, const char *path,
                                struct weft_error *ret_error) {
    json_t *there = json_object_get(rows, key), *value;
    const char *field;
    if (!there) {
        need_memory(json_object_set_new(rows, key, json_is_object(fields) ? json_object() : json_incref(fields)));
        there = json_object_get(rows, key);
    }
    if (!json_is_object(there) || !json_is_object(fields)) return WEFT_OK; // the reader of the table refuses it
    json_object_foreach(fields, field, value) {
        json_t *old = json_object_get(there, field);
        if (!strcmp(field, "NULL")) continue;
        if (old && !json_equal(old, value))
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                               "%.40s|%.80s.%.40s: another value than in the files before; expected the files of "
                               "one switch",
                               table, key, field);
        need_memory(json_object_set(there, field, value));
    }
    return WEFT_OK;
}

static json_t *table_of(json_t *root, const char *table) {
    json_t *rows = json_object_get(root, table);
    if (rows) return rows;
    need_memory(json_object_set_new(root, table, json_object()));
    return json_object_get(root, table);
}

/// Adds the tables of a file to `to`.
static enum weft_status add_file(json_t *to, json_t *from, const char *path, struct weft_arena *arena,
                                 struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    const char *name, *key;
    json_t *rows, *fields;
    json_object_foreach(from, name, rows) {
        const char *bar = strchr(name, '|');
        if (status) return status;
        if (bar) {
            const char *table = weft_arena_format(arena, "%.*s", (int)(bar - name), name);
            status = add_row(table_of(to, table), table, bar + 1, fields_of(rows), path, ret_error);
        } else if (!json_is_object(rows)) {
            need_memory(json_object_set(to, name, rows)); // the reader of the table refuses it
        } else if (!json_is_string(json_object_get(rows, "type")) || !json_object_get(rows, "value")) {
            json_t *there = table_of(to, name);
            json_object_foreach(rows, key, fields) if (!status) status =
                add_row(there, name, key, fields, path, ret_error);
        }
    }
    return status;
}

json_t *weft__sonic_set_new(struct weft_memory_cleanup *cleanup) {
    json_t *set = json_array();
    if (!set) weft_memory_fail();
    weft_memory_cleanup_add(cleanup, weft__json_release, set);
    return set;
}

void weft__sonic_set_free(json_t *set, struct weft_memory_cleanup *cleanup) {
    weft_memory_cleanup_remove(cleanup);
    json_decref(set);
}

static json_t *add_tables(json_t *set) {
    need_memory(json_array_append_new(set, json_object())); // fails without an object too
    return json_array_get(set, json_array_size(set) - 1);
}

enum weft_status weft__sonic_load(const char *const *path, uint32_t files, struct weft_arena *arena, json_t *set,
                                  struct weft_error *ret_error) {
    struct weft_memory_cleanup cleanup;
    enum weft_status status = WEFT_OK;
    json_t *all = add_tables(set);
    for (uint32_t f = 0; f < files && !status; f++) {
        json_t *from = NULL, *own = add_tables(set);
        status = read_file(path[f], &from, ret_error);
        if (!from) continue;
        weft_memory_cleanup_add(&cleanup, weft__json_release, from);
        if (!status) status = add_file(own, from, path[f], arena, ret_error);
        if (!status) status = add_file(all, own, path[f], arena, ret_error);
        weft_memory_cleanup_remove(&cleanup);
        json_decref(from);
    }
    return status;
}

enum weft_status weft__sonic_is_part(const char *path, struct weft_arena *arena, bool *ret_part,
                                     struct weft_error *ret_error) {
    struct weft_memory_cleanup cleanup;
    json_t *set = weft__sonic_set_new(&cleanup);
    enum weft_status status = weft__sonic_load(&path, 1, arena, set, ret_error);
    json_t *all = json_array_get(set, 0);
    *ret_part = !status && json_object_size(all) && !json_object_get(all, "PORT");
    weft__sonic_set_free(set, &cleanup);
    return status;
}
