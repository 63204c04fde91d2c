// SPDX-License-Identifier: Apache-2.0
// Source: the InfraGraph schema 2.4 (Keysight/infragraph, models/*.yaml), and how its service expands edges
// (src/infragraph/infragraph_service.py): slices as in Python, a path of components goes through devices within
// devices, one2one pairs both lists in order and ends with the shorter one, many2many pairs all. The scheme `ring` is
// in the schema but not in the service: here it connects each of the first list to the next one in the second, and the
// last to the first. Files of schemas before 1.0, with `connections`, are converted (infragraph_old.h).
#include "import/infragraph/infragraph_read.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "import/infragraph/infragraph_device.h"
#include "import/infragraph/infragraph_old.h"
#include "weft/param_load.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

/// The components of all copies of all instances are numbered by keys; those of an instance are consecutive.
struct instance {
    struct weft__infragraph_instance *about;
    const struct weft__infragraph_part *part;
    uint64_t key; ///< the first
    struct weft_place place, device_place;
};

/// For an instance whose device no file defines.
static const struct weft__infragraph_part absent = {.about = {.name = "", .inside = ""}, .slots = 1};

/// A link that comes from an edge.
struct wire {
    uint64_t key[2];
    const struct weft__infragraph_link *link;
    struct weft_place place;
};

/// One end of an edge: copies of an instance, and components of each.
struct end {
    const struct instance *instance;
    struct weft__infragraph_slice copies;
    struct weft__infragraph_slots slots;
};

struct reader {
    const struct weft__infragraph_conf *conf;
    struct weft_arena *arena;
    struct weft__infragraph *graph;
    struct weft__infragraph_parts parts;
    struct weft__infragraph_links links;
    struct weft__names names; ///< of instances
    struct instance *instance;
    struct end end[2];
    struct wire *wire;
    uint32_t wires;
};

// --- instances ----------------------------------------------------------------------------------------------------

static enum weft_status read_instance(struct reader *r, const struct weft_tree *tree, uint64_t *key,
                                      struct weft_error *ret_error) {
    struct weft__infragraph_instance_conf conf;
    struct weft_error unused = {0};
    uint32_t device = 0, i = r->graph->instances;
    WEFT_TRY(weft_params_load(&weft__infragraph_instance_table, tree, &conf, r->arena, ret_error));
    struct weft_place place = weft_tree_find(tree, "device")->place;
    bool found = !weft__names_find(&r->parts.names, conf.device, strlen(conf.device), "", place, &device, &unused);
    const struct weft__infragraph_part *p = found ? &r->parts.part[device] : &absent;
    bool is_switch =
        *r->conf->switches ? weft_glob_match(r->conf->switches, conf.named.name) : !p->has_nic && !p->about.xpus;
    r->graph->instance[i] = (struct weft__infragraph_instance){.name = conf.named.name,
                                                               .absent = found ? NULL : conf.device,
                                                               .device = &p->about,
                                                               .count = (uint32_t)conf.count,
                                                               .is_switch = is_switch};
    r->instance[i] = (struct instance){&r->graph->instance[i], p, *key, tree->place, place};
    r->names.name[i] = conf.named.name;
    r->graph->instances++;
    *key += weft__times(conf.count, p->slots);
    return *key > WEFT__INFRAGRAPH_SLOTS_MAX ? BAD(tree->place, "more components than weft can number") : WEFT_OK;
}

static enum weft_status read_instances(struct reader *r, const struct weft_tree *root, struct weft_error *ret_error) {
    const struct weft_tree *list;
    uint64_t key = 0;
    WEFT_TRY(weft__infragraph_list(root, "instances", &list, ret_error));
    r->instance = weft_arena_alloc(r->arena, list->n, sizeof *r->instance);
    r->graph->instance = weft_arena_alloc(r->arena, list->n, sizeof *r->graph->instance);
    r->names.name = weft_arena_alloc(r->arena, list->n, sizeof *r->names.name);
    for (uint32_t i = 0; i < list->n; i++)
        WEFT_TRY(read_instance(r, list->child[i], &key, ret_error));
    r->names.n = list->n;
    uint32_t second = weft__names_sort(&r->names, r->arena);
    if (second == WEFT_NONE) return WEFT_OK;
    return BAD(list->child[second]->place, "a second instance '%.60s'", r->names.name[second]);
}

/// The instance of a key, with its copy and slot.
static const struct instance *locate_key(const struct reader *r, uint64_t key, uint64_t *ret_copy, uint64_t *ret_slot) {
    // the last one that does not begin behind this key
    const struct instance *i =
        &r->instance[WEFT__FIRST_WITHOUT(1, r->graph->instances, r->instance[middle].key <= key) - 1];
    *ret_copy = (key - i->key) / i->part->slots;
    *ret_slot = (key - i->key) % i->part->slots;
    return i;
}

// --- edges --------------------------------------------------------------------------------------------------------

static enum weft_status expand_end(struct reader *r, const struct weft__infragraph_end_conf *conf,
                                   struct weft_place place, struct end *end, struct weft_error *ret_error) {
    const char *at = conf->instance + strcspn(conf->instance, ".[");
    uint32_t i = 0;
    enum weft_status status =
        weft__names_find(&r->names, conf->instance, (size_t)(at - conf->instance), "instance", place, &i, ret_error);
    if (status) return status;
    end->instance = &r->instance[i];
    const char *device = end->instance->about->absent;
    if (device)
        return weft__infragraph_find_device(&r->parts, device, end->instance->device_place, r->arena, &i, ret_error);
    status =
        weft__infragraph_read_slice(&at, conf->instance, end->instance->about->count, place, &end->copies, ret_error);
    if (!status && *at) status = BAD(place, "'%.80s': expected an instance, such as host[0:4]", conf->instance);
    return status ? status
                  : weft__infragraph_expand(end->instance->part, conf->component, place, &end->slots, ret_error);
}

static uint64_t key_at(const struct end *e, uint64_t k) {
    assert(e->slots.n && k / e->slots.n < (uint64_t)e->copies.n);
    uint64_t copy = (uint64_t)(e->copies.start + (int64_t)(k / e->slots.n) * e->copies.step);
    return e->instance->key + copy * e->instance->part->slots + e->slots.slot[k % e->slots.n];
}

static bool is_loop(const struct reader *r, const uint64_t key[2]) {
    const struct instance *i = r->end[0].instance;
    uint64_t slots = i->part->slots;
    return i == r->end[1].instance && i->about->is_switch && (key[0] - i->key) / slots == (key[1] - i->key) / slots;
}

static void add_wire(struct reader *r, uint64_t a, uint64_t b, const struct weft__infragraph_link *link,
                     struct weft_place place) {
    struct wire w = {{key_at(&r->end[0], a), key_at(&r->end[1], b)}, link, place};
    if (is_loop(r, w.key)) {
        r->graph->loops++;
        return;
    }
    WEFT__ADD(r->arena, r->wire, r->wires) = w;
    r->graph->unrated += !link->rate_bps;
    r->graph->transfers += !link->rate_bps && link->transfers;
    r->graph->undelayed += !link->delay_ps;
    for (uint32_t e = 0; e < 2; e++)
        if (link->rate_bps > r->end[e].instance->about->rate_bps) r->end[e].instance->about->rate_bps = link->rate_bps;
}

static enum weft_status read_edge(struct reader *r, const struct weft_tree *tree, struct weft_error *ret_error) {
    struct weft__infragraph_end_conf conf[2];
    const struct weft__infragraph_link *link;
    uint32_t scheme;
    WEFT_TRY(weft__infragraph_load_edge(tree, &weft__infragraph_end_table, &r->links, r->arena, &scheme, conf, &link,
                                        ret_error));
    for (uint32_t e = 0; e < 2; e++)
        WEFT_TRY(expand_end(r, &conf[e], tree->place, &r->end[e], ret_error));
    uint64_t n[2], least;
    for (uint32_t e = 0; e < 2; e++)
        n[e] = r->end[e].copies.n * r->end[e].slots.n;
    least = n[0] < n[1] ? n[0] : n[1];
    if (scheme == WEFT__INFRAGRAPH_RING && (n[0] != n[1] || n[0] < 2))
        return BAD(tree->place,
                   "a ring from %" PRIu64 " to %" PRIu64 " components; expected as many of both, at least 2", n[0],
                   n[1]);
    if ((scheme == WEFT__INFRAGRAPH_MANY2MANY ? weft__times(n[0], n[1]) : least) > WEFT__LINKS_MAX - r->wires)
        return BAD(tree->place, "more than %" PRIu64 " links in all; expected no more", WEFT__LINKS_MAX);
    r->graph->unequal += scheme == WEFT__INFRAGRAPH_ONE2ONE && n[0] != n[1];
    for (uint64_t a = 0; scheme == WEFT__INFRAGRAPH_ONE2ONE && a < least; a++)
        add_wire(r, a, a, link, tree->place);
    for (uint64_t a = 0; scheme == WEFT__INFRAGRAPH_RING && a < least; a++)
        add_wire(r, a, (a + 1) % least, link, tree->place);
    for (uint64_t a = 0; scheme == WEFT__INFRAGRAPH_MANY2MANY && a < n[0] * n[1]; a++)
        add_wire(r, a / n[1], a % n[1], link, tree->place);
    return WEFT_OK;
}

// --- the graph ----------------------------------------------------------------------------------------------------

/// The key of its node: each component of a server is a node, those of a switch together are one.
static uint64_t node_key(const struct reader *r, uint64_t key) {
    uint64_t copy, slot;
    return locate_key(r, key, &copy, &slot)->about->is_switch ? key - slot : key;
}

static void make_node(struct reader *r, uint32_t n, uint64_t key) {
    uint64_t copy, slot;
    const struct instance *i = locate_key(r, key, &copy, &slot);
    bool is_switch = i->about->is_switch;
    const char *path = is_switch ? "" : weft__infragraph_path(i->part, slot, r->arena);
    const char *name = weft_arena_format(r->arena, "%s.%" PRIu64 "%s%s", i->about->name, copy, *path ? "." : "", path);
    bool good = weft__topology_node_name_is_good(name);
    if (!good) name = weft_arena_format(r->arena, "%s-%" PRIu32, is_switch ? "switch" : "host", n);
    r->graph->renamed += !good;
    r->graph->graph.node[n] = (struct weft__file_node){
        .name = name,
        .layer = !is_switch ? "host"
                 : good     ? i->about->name
                            : "switch",
        .host = !is_switch,
        .place = i->place,
        .device = is_switch ? NULL : weft_arena_format(r->arena, "%s.%" PRIu64, i->about->name, copy),
    };
}

static const char *port_name(struct reader *r, uint64_t key) {
    uint64_t copy, slot;
    const struct instance *i = locate_key(r, key, &copy, &slot);
    if (!i->about->is_switch) return NULL;
    const char *name = weft__infragraph_path(i->part, slot, r->arena);
    if (weft__topology_port_name_is_good(name)) return name;
    r->graph->unnamed++;
    return NULL;
}

static void make_link(struct reader *r, const struct wire *w, const uint64_t *key, struct weft__file_link *l) {
    l->rate_bps = w->link->rate_bps ? w->link->rate_bps : r->conf->rate_bps;
    l->delay_ps = w->link->delay_ps ? w->link->delay_ps : r->conf->delay_ps;
    l->place = w->place;
    for (uint32_t e = 0; e < 2; e++) {
        uint64_t wanted = node_key(r, w->key[e]);
        const uint64_t *found = bsearch(&wanted, key, r->graph->graph.nodes, sizeof *key, weft__by_u64);
        l->end[e] = (uint32_t)(found - key);
        l->port[e] = port_name(r, w->key[e]);
    }
}

static void make_graph(struct reader *r) {
    struct weft__file_graph *g = &r->graph->graph;
    size_t ends = 2 * (size_t)r->wires;
    uint64_t *key = weft_arena_alloc(r->arena, ends, sizeof *key);
    for (size_t e = 0; e < ends; e++)
        key[e] = node_key(r, r->wire[e / 2].key[e % 2]);
    qsort(key, ends, sizeof *key, weft__by_u64);
    for (size_t e = 0; e < ends; e++)
        if (!g->nodes || key[e] != key[g->nodes - 1]) key[g->nodes++] = key[e];
    g->node = weft_arena_alloc(r->arena, g->nodes, sizeof *g->node);
    for (uint32_t n = 0; n < g->nodes; n++)
        make_node(r, n, key[n]);
    g->link = weft_arena_alloc(r->arena, r->wires, sizeof *g->link);
    for (; g->links < r->wires; g->links++)
        make_link(r, &r->wire[g->links], key, &g->link[g->links]);
}

/// Without links. A file of devices alone is a part of an infrastructure, which may be beside it.
static enum weft_status fail_edges(const struct reader *r, const struct weft_tree *root, struct weft_error *ret_error) {
    const char *file = NULL, *device = "";
    for (uint32_t d = 0; !r->graph->instances && d < r->parts.names.n && !file; d++) {
        device = r->parts.names.name[d];
        file = weft__infragraph_seek(root->place.file, "instances", "device", device, r->arena);
    }
    if (file)
        return BAD(root->place, "no edges between instances; %s has instances of '%.60s': expected that file, too",
                   file, device);
    return BAD(root->place, "no edges between instances; expected the links of a network%s",
               r->graph->instances || !r->parts.names.n ? "" : ": the file with instances of these devices, too");
}

static enum weft_status read_root(struct reader *r, const struct weft_tree *root, struct weft_error *ret_error) {
    const struct weft_tree *list;
    struct weft__infragraph_infrastructure_conf conf;
    WEFT_TRY(weft__infragraph_upgrade(root, r->arena, &root, ret_error));
    WEFT_TRY(weft_params_load(&weft__infragraph_infrastructure_table, root, &conf, r->arena, ret_error));
    WEFT_TRY(weft__infragraph_read_links(root, r->arena, &r->links, ret_error));
    WEFT_TRY(weft__infragraph_read_devices(root, r->arena, &r->parts, ret_error));
    WEFT_TRY(read_instances(r, root, ret_error));
    WEFT_TRY(weft__infragraph_list(root, "edges", &list, ret_error));
    for (uint32_t e = 0; e < 2; e++)
        r->end[e].slots.slot = weft_arena_alloc(r->arena, WEFT__PORTS_MAX, sizeof *r->end[e].slots.slot);
    for (uint32_t i = 0; i < list->n; i++)
        WEFT_TRY(read_edge(r, list->child[i], ret_error));
    if (!r->wires) WEFT_TRY(fail_edges(r, root, ret_error));
    make_graph(r);
    return WEFT_OK;
}

enum weft_status weft__infragraph_read(const char *const *path, uint32_t paths, struct weft_place place,
                                       const struct weft__infragraph_conf *conf, struct weft_arena *arena,
                                       struct weft__infragraph *ret_graph, struct weft_error *ret_error) {
    struct reader r = {.conf = conf, .arena = arena, .graph = ret_graph};
    const struct weft_tree *root = NULL;
    *ret_graph = (struct weft__infragraph){0};
    WEFT_TRY(weft__infragraph_open(path, paths, place, arena, &root, ret_error));
    return read_root(&r, root, ret_error);
}
