// SPDX-License-Identifier: Apache-2.0
// Source: Keysight/infragraph, artifacts/infra.proto of schema 0.1.0 and docs/src/examples of its time. Names are those
// of objects, without dots; indices count from 0. Links had their bandwidth with or without `physical` around it, and
// under several names; instances stood in their device, or beside the devices. Where there are none, a device is its
// own instance, as often as the connections say. Ports of switches had the type nic: there was no other for them.
#include "import/infragraph/infragraph_old.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

enum { DEVICE_PARTS = 5, FILE_PARTS = 9 };

/// Arguments that the functions below share.
struct upgrade {
    struct weft_arena *arena;
    struct weft_tree *devices, *instances, *edges;
    const struct weft_tree *connections; ///< of the file
    bool said;                           ///< instances are
};

/// A key of an old object, and its present name; NULL: it is handled separately, or irrelevant to weft.
struct rename {
    const char *old, *now;
};

static struct weft_tree *make_tree(struct weft_arena *arena, enum weft_tree_type type, struct weft_place place) {
    struct weft_tree *t = weft_arena_alloc(arena, 1, sizeof *t);
    *t = (struct weft_tree){.type = type, .place = place, .key_place = place};
    return t;
}

static struct weft_tree *append_child(struct weft_arena *arena, struct weft_tree *parent, struct weft_tree *child) {
    return WEFT__ADD(arena, parent->child, parent->n) = child;
}

static struct weft_tree *put_child(struct weft_arena *arena, struct weft_tree *map, const char *key,
                                   enum weft_tree_type type) {
    struct weft_tree *child = make_tree(arena, type, map->place);
    child->key = key;
    return append_child(arena, map, child);
}

static void put_text(struct weft_arena *arena, struct weft_tree *map, const char *key, const char *text) {
    put_child(arena, map, key, WEFT_TREE_TEXT)->text = text;
}

/// Copies the keys of an old object into a new one.
static enum weft_status take_keys(struct weft_arena *arena, const struct weft_tree *old, const char *what,
                                  const struct rename *rename, struct weft_tree *map, struct weft_error *ret_error) {
    if (old->type != WEFT_TREE_MAP) return BAD(old->place, "expected a %s: a map", what);
    for (uint32_t i = 0; i < old->n; i++) {
        const struct weft_tree *child = old->child[i];
        const struct rename *r = rename;
        while (r->old && strcmp(r->old, child->key))
            r++;
        if (!r->old) return BAD(child->key_place, "'%.60s' is not a key of a %s before schema 1.0", child->key, what);
        if (!r->now) continue;
        struct weft_tree *taken = append_child(arena, map, make_tree(arena, child->type, child->place));
        *taken = *child;
        taken->key = r->now;
    }
    return WEFT_OK;
}

/// Each entry of the list `key` of `old`.
static enum weft_status for_each(struct upgrade *u, const struct weft_tree *old, const char *key,
                                 struct weft_tree *into,
                                 enum weft_status (*take)(struct upgrade *u, const struct weft_tree *entry,
                                                          struct weft_tree *into, struct weft_error *ret_error),
                                 struct weft_error *ret_error) {
    const struct weft_tree *list = weft_tree_find(old, key);
    if (!list || list->type == WEFT_TREE_NULL) return WEFT_OK;
    if (list->type != WEFT_TREE_LIST) return BAD(list->place, "%s: expected a list", key);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < list->n && !status; i++)
        status = take(u, list->child[i], into, ret_error);
    return status;
}

static enum weft_status take_bandwidth(struct upgrade *u, const struct weft_tree *old, struct weft_tree *physical,
                                       struct weft_error *ret_error) {
    static const struct rename keys[] = {{"choice", NULL},
                                         {"g_bits_per_second", "gigabits_per_second"},
                                         {"giga_bits_per_second", "gigabits_per_second"},
                                         {"gigabits_per_second", "gigabits_per_second"},
                                         {"g_bytes_per_second", "gigabytes_per_second"},
                                         {"giga_bytes_per_second", "gigabytes_per_second"},
                                         {"gigabytes_per_second", "gigabytes_per_second"},
                                         {"g_transfers_per_second", "gigatransfers_per_second"},
                                         {"giga_transfers_per_second", "gigatransfers_per_second"},
                                         {"gigatransfers_per_second", "gigatransfers_per_second"},
                                         {NULL, NULL}};
    struct weft_tree *bandwidth = put_child(u->arena, physical, "bandwidth", WEFT_TREE_MAP);
    bandwidth->place = old->place;
    enum weft_status status = take_keys(u->arena, old, "bandwidth", keys, bandwidth, ret_error);
    if (!status && bandwidth->n) put_text(u->arena, bandwidth, "choice", bandwidth->child[0]->key);
    return status;
}

static enum weft_status take_link(struct upgrade *u, const struct weft_tree *old, struct weft_tree *links,
                                  struct weft_error *ret_error) {
    static const struct rename keys[] = {{"name", "name"},    {"description", "description"},
                                         {"choice", NULL},    {"choic", NULL},
                                         {"bandwidth", NULL}, {"physical", NULL},
                                         {NULL, NULL}};
    static const struct rename inner[] = {{"bandwidth", NULL}, {"latency", "latency"}, {NULL, NULL}};
    struct weft_tree *link = append_child(u->arena, links, make_tree(u->arena, WEFT_TREE_MAP, old->place));
    enum weft_status status = take_keys(u->arena, old, "link", keys, link, ret_error);
    if (status) return status;
    const struct weft_tree *physical = weft_tree_find(old, "physical"), *bandwidth = weft_tree_find(old, "bandwidth");
    struct weft_tree *made = put_child(u->arena, link, "physical", WEFT_TREE_MAP);
    if (physical) status = take_keys(u->arena, physical, "physical", inner, made, ret_error);
    if (physical && !bandwidth) bandwidth = weft_tree_find(physical, "bandwidth");
    return status || !bandwidth ? status : take_bandwidth(u, bandwidth, made, ret_error);
}

static enum weft_status take_component(struct upgrade *u, const struct weft_tree *old, struct weft_tree *components,
                                       struct weft_error *ret_error) {
    static const struct rename keys[] = {{"name", "name"},     {"description", "description"},
                                         {"type", "choice"},   {"choice", "choice"},
                                         {"count", "count"},   {"external", NULL},
                                         {"components", NULL}, {NULL, NULL}};
    struct weft_tree *component = append_child(u->arena, components, make_tree(u->arena, WEFT_TREE_MAP, old->place));
    return take_keys(u->arena, old, "component", keys, component, ret_error);
}

// --- connections --------------------------------------------------------------------------------------------------

/// The parts of a connection between dots. NULL, or what was expected.
static const char *split_parts(struct weft_arena *arena, const char *text, const char **part, uint32_t parts) {
    static const char *const expected[] = {[DEVICE_PARTS] = "component.N.link.component.N",
                                           [FILE_PARTS] = "instance.N.component.N.link.instance.N.component.N"};
    for (uint32_t p = 0; p < parts; p++) {
        size_t n = strcspn(text, ".");
        bool is_index = parts == FILE_PARTS ? p % 5 == 1 || p % 5 == 3 : p % 3 == 1;
        if (!n || (is_index && (strspn(text, "0123456789") != n || n > 8))) return expected[parts];
        if (!text[n] != (p + 1 == parts)) return expected[parts];
        part[p] = weft_arena_format(arena, "%.*s", (int)n, text);
        text += n + 1;
    }
    return NULL;
}

static enum weft_status split_connection(struct upgrade *u, const struct weft_tree *old, const char **part,
                                         uint32_t parts, struct weft_error *ret_error) {
    const char *expected = split_parts(u->arena, old->type == WEFT_TREE_TEXT ? old->text : "", part, parts);
    if (!expected) return WEFT_OK;
    return BAD(old->place, "'%.80s' is not a connection; expected %s", old->type == WEFT_TREE_TEXT ? old->text : "",
               expected);
}

static struct weft_tree *put_edge(struct upgrade *u, struct weft_tree *edges, struct weft_place place,
                                  const char *link) {
    struct weft_tree *edge = append_child(u->arena, edges, make_tree(u->arena, WEFT_TREE_MAP, place));
    put_text(u->arena, edge, "scheme", "one2one");
    put_text(u->arena, edge, "link", link);
    return edge;
}

static const char *indexed_name(struct upgrade *u, const char *const *part) {
    return weft_arena_format(u->arena, "%s[%s]", part[0], part[1]);
}

static enum weft_status take_inner_connection(struct upgrade *u, const struct weft_tree *old, struct weft_tree *edges,
                                              struct weft_error *ret_error) {
    const char *part[DEVICE_PARTS];
    WEFT_TRY(split_connection(u, old, part, DEVICE_PARTS, ret_error));
    struct weft_tree *edge = put_edge(u, edges, old->place, part[2]);
    put_text(u->arena, put_child(u->arena, edge, "ep1", WEFT_TREE_MAP), "component", indexed_name(u, part));
    put_text(u->arena, put_child(u->arena, edge, "ep2", WEFT_TREE_MAP), "component", indexed_name(u, part + 3));
    return WEFT_OK;
}

static void put_end(struct upgrade *u, struct weft_tree *edge, const char *key, const char *const *part) {
    struct weft_tree *end = put_child(u->arena, edge, key, WEFT_TREE_MAP);
    put_text(u->arena, end, "instance", indexed_name(u, part));
    put_text(u->arena, end, "component", indexed_name(u, part + 2));
}

static enum weft_status take_connection(struct upgrade *u, const struct weft_tree *old, struct weft_tree *edges,
                                        struct weft_error *ret_error) {
    const char *part[FILE_PARTS];
    WEFT_TRY(split_connection(u, old, part, FILE_PARTS, ret_error));
    struct weft_tree *edge = put_edge(u, edges, old->place, part[4]);
    put_end(u, edge, "ep1", part);
    put_end(u, edge, "ep2", part + 5);
    return WEFT_OK;
}

/// How many of a name connections mention: the greatest index + 1.
static uint64_t count_mentioned(struct weft_arena *arena, const struct weft_tree *connections, uint32_t parts,
                                const char *name) {
    uint64_t count = 0;
    for (uint32_t c = 0; connections && c < connections->n; c++) {
        const char *part[FILE_PARTS], *text = connections->child[c]->text;
        if (!text || split_parts(arena, text, part, parts)) continue; // refused later
        for (uint32_t e = 0; e < parts; e += parts == FILE_PARTS ? 5 : 3) {
            uint64_t index = strtoull(part[e + 1], NULL, 10);
            if (!strcmp(part[e], name) && index >= count) count = index + 1;
        }
    }
    return count;
}

/// Instances and components had no count at first: there are as many as connections mention, at least one.
static void put_count(struct upgrade *u, struct weft_tree *map, const struct weft_tree *connections, uint32_t parts) {
    const struct weft_tree *name = weft_tree_find(map, "name");
    if (weft_tree_find(map, "count") || !name || !name->text) return;
    uint64_t count = count_mentioned(u->arena, connections, parts, name->text);
    put_text(u->arena, map, "count", weft_arena_format(u->arena, "%" PRIu64, count ? count : 1));
}

// --- devices ------------------------------------------------------------------------------------------------------

/// `name`: of the device that contains it; NULL: it names its device.
static enum weft_status take_instance(struct upgrade *u, const struct weft_tree *old, struct weft_tree *name,
                                      struct weft_error *ret_error) {
    static const struct rename keys[] = {
        {"name", "name"}, {"description", "description"}, {"device", "device"}, {"count", "count"}, {NULL, NULL}};
    struct weft_tree *instance = append_child(u->arena, u->instances, make_tree(u->arena, WEFT_TREE_MAP, old->place));
    enum weft_status status = take_keys(u->arena, old, "instance", keys, instance, ret_error);
    if (name && !weft_tree_find(instance, "device")) put_text(u->arena, instance, "device", name->text);
    if (!status) put_count(u, instance, u->connections, FILE_PARTS);
    u->said = true;
    return status;
}

/// The text of a component's choice, to be changed; NULL: it has none.
static struct weft_tree *choice_of(const struct weft_tree *component) {
    for (uint32_t i = 0; i < component->n; i++)
        if (!strcmp(component->child[i]->key, "choice") && component->child[i]->text) return component->child[i];
    return NULL;
}

/// NICs of a device without a processor are the ports of a switch.
static void name_ports(const struct weft_tree *components) {
    static const char *const processors[] = {"cpu", "xpu", "npu"};
    for (uint32_t i = 0; i < components->n; i++) {
        const struct weft_tree *choice = choice_of(components->child[i]);
        for (size_t k = 0; choice && k < sizeof processors / sizeof *processors; k++)
            if (!strcmp(choice->text, processors[k])) return;
    }
    for (uint32_t i = 0; i < components->n; i++) {
        struct weft_tree *choice = choice_of(components->child[i]);
        if (choice && !strcmp(choice->text, "nic")) choice->text = "port";
    }
}

static enum weft_status take_device(struct upgrade *u, const struct weft_tree *old, struct weft_tree *devices,
                                    struct weft_error *ret_error) {
    static const struct rename keys[] = {{"name", "name"}, {"description", "description"}, {"components", NULL},
                                         {"links", NULL},  {"connections", NULL},          {"instances", NULL},
                                         {NULL, NULL}};
    struct weft_tree *device = append_child(u->arena, devices, make_tree(u->arena, WEFT_TREE_MAP, old->place));
    enum weft_status status = take_keys(u->arena, old, "device", keys, device, ret_error);
    if (!status && !weft_tree_find(device, "name"))
        put_text(u->arena, device, "name", weft_arena_format(u->arena, "device-%" PRIu32, devices->n));
    struct weft_tree *components = put_child(u->arena, device, "components", WEFT_TREE_LIST);
    if (!status) status = for_each(u, old, "components", components, take_component, ret_error);
    for (uint32_t i = 0; i < components->n && !status; i++)
        put_count(u, components->child[i], weft_tree_find(old, "connections"), DEVICE_PARTS);
    if (!status) name_ports(components);
    if (!status)
        status = for_each(u, old, "links", put_child(u->arena, device, "links", WEFT_TREE_LIST), take_link, ret_error);
    if (!status)
        status = for_each(u, old, "connections", put_child(u->arena, device, "edges", WEFT_TREE_LIST),
                          take_inner_connection, ret_error);
    struct weft_tree name = {.text = status ? NULL : weft_tree_find(device, "name")->text};
    return status ? status : for_each(u, old, "instances", &name, take_instance, ret_error);
}

/// Makes each device an instance with its own name, as many times as connections mention.
static void make_instances(struct upgrade *u, const struct weft_tree *connections) {
    for (uint32_t d = 0; d < u->devices->n; d++) {
        const char *name = weft_tree_find(u->devices->child[d], "name")->text;
        uint64_t count = name ? count_mentioned(u->arena, connections, FILE_PARTS, name) : 0;
        if (!count) continue;
        struct weft_tree *instance =
            append_child(u->arena, u->instances, make_tree(u->arena, WEFT_TREE_MAP, connections->place));
        put_text(u->arena, instance, "name", name);
        put_text(u->arena, instance, "device", name);
        put_text(u->arena, instance, "count", weft_arena_format(u->arena, "%" PRIu64, count));
    }
}

enum weft_status weft__infragraph_upgrade(const struct weft_tree *root, struct weft_arena *arena,
                                          const struct weft_tree **ret_root, struct weft_error *ret_error) {
    static const struct rename keys[] = {
        {"name", "name"},    {"description", "description"}, {"devices", NULL}, {"links", NULL}, {"connections", NULL},
        {"instances", NULL}, {"annotations", NULL},          {NULL, NULL}};
    const struct weft_tree *connections = weft_tree_find(root, "connections");
    *ret_root = root;
    if (!connections) return WEFT_OK;
    struct weft_tree *made = make_tree(arena, WEFT_TREE_MAP, root->place);
    enum weft_status status = take_keys(arena, root, "file", keys, made, ret_error);
    struct upgrade u = {.arena = arena,
                        .connections = connections,
                        .devices = put_child(arena, made, "devices", WEFT_TREE_LIST),
                        .instances = put_child(arena, made, "instances", WEFT_TREE_LIST),
                        .edges = put_child(arena, made, "edges", WEFT_TREE_LIST)};
    if (!status)
        status = for_each(&u, root, "links", put_child(arena, made, "links", WEFT_TREE_LIST), take_link, ret_error);
    if (!status) status = for_each(&u, root, "devices", u.devices, take_device, ret_error);
    if (!status) status = for_each(&u, root, "instances", NULL, take_instance, ret_error);
    if (!status) status = for_each(&u, root, "connections", u.edges, take_connection, ret_error);
    if (!status && !u.said) make_instances(&u, connections);
    *ret_root = made;
    return status;
}
