// SPDX-License-Identifier: Apache-2.0
// GraphML, converted to the form of node-link JSON, which has a reader (import/networkx/networkx_read.h). Source: U.
// Brandes et al., "GraphML progress report", GD 2001, and the schema at graphml.graphdrawing.org: keys with names and
// defaults, a graph, nodes, edges, data. Several graphs, graphs within nodes and edges of more than two nodes are
// refused; drawing data (elements within <data>) and ports of nodes are ignored.
#include <jansson.h>
#include <string.h>

#include "base/grow.h"
#include "base/json_read.h"
#include "base/xml.h"
#include "import/networkx/networkx_read.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

enum { KEYS_MAX = 1024, VALUE_MAX = 4096 };
enum thing { GRAPH, NODE, EDGE, THINGS };
static const char *const things[THINGS] = {"graph", "node", "edge"};

struct key {
    const char *id, *name, *dflt;
    bool of[THINGS];
};

/// Places of list elements.
struct places {
    struct weft_place *at;
    size_t n;
};

struct reader {
    struct weft_arena *arena;
    json_t *root, *graph, *nodes, *links;
    json_t *thing; ///< that data belongs to; borrowed
    enum thing kind;
    struct key key[KEYS_MAX];
    uint32_t keys;
    const struct key *data; ///< whose text is being read; NULL: none
    bool in_default, seen;  ///< seen: a graph
    uint32_t depth;         ///< of the element whose text is read
    char value[VALUE_MAX];
    size_t size;
    struct places place[THINGS];
    struct weft_memory_cleanup cleanup;
};

static json_t *own_json(json_t *value) {
    if (!value) weft_memory_fail();
    return value;
}

static void set_text(json_t *object, const char *key, const char *text) {
    if (json_object_set_new(object, key, own_json(json_string(text)))) weft_memory_fail();
}

static void add_place(struct reader *r, struct places *p, struct weft_place place) {
    WEFT__ADD(r->arena, p->at, p->n) = place;
}

/// An attribute of the element, in the arena.
static enum weft_status text_of(struct reader *r, const struct weft__xml_element *e, const char *key, const char **ret,
                                struct weft_error *ret_error) {
    enum weft_status status = weft__xml_text(e, key, ret, ret_error);
    if (!status) *ret = weft_arena_text(r->arena, *ret);
    return status;
}

static enum weft_status begin_key(struct reader *r, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct key *k = &r->key[r->keys];
    const char *of = weft__xml_find(e, "for"), *name = weft__xml_find(e, "attr.name");
    if (r->keys == KEYS_MAX) return BAD(e->place, "more than %d keys", KEYS_MAX);
    *k = (struct key){.name = name && *name ? weft_arena_text(r->arena, name) : NULL};
    for (uint32_t t = 0; t < THINGS; t++)
        k->of[t] = !of || !strcmp(of, "all") || !strcmp(of, things[t]);
    r->keys++;
    return text_of(r, e, "id", &k->id, ret_error);
}

static enum weft_status begin_graph(struct reader *r, const struct weft__xml_element *e, struct weft_error *ret_error) {
    const char *edges = weft__xml_find(e, "edgedefault");
    if (r->seen) return BAD(e->place, "a second graph, or one within a node; expected one graph");
    bool directed = edges && !strcmp(edges, "directed");
    if (edges && !directed && strcmp(edges, "undirected"))
        return BAD(e->place, "edgedefault '%.40s'; expected directed or undirected", edges);
    r->seen = true;
    r->kind = GRAPH;
    r->thing = r->graph;
    if (json_object_set_new(r->root, "directed", json_boolean(directed))) weft_memory_fail();
    return WEFT_OK;
}

/// A node or an edge, with the defaults of its kind.
static enum weft_status begin_thing(struct reader *r, const struct weft__xml_element *e, enum thing kind,
                                    struct weft_error *ret_error) {
    static const char *const node[] = {"id", NULL}, *const edge[] = {"source", "target", NULL};
    if (!r->seen || r->kind != GRAPH) return BAD(e->place, "<%s> outside a graph", e->name);
    json_t *thing = own_json(json_object());
    if (json_array_append_new(kind == NODE ? r->nodes : r->links, thing)) weft_memory_fail();
    add_place(r, &r->place[kind], e->place);
    for (const char *const *key = kind == NODE ? node : edge; *key; key++) {
        const char *text;
        WEFT_TRY(weft__xml_text(e, *key, &text, ret_error));
        set_text(thing, *key, text);
    }
    for (uint32_t k = 0; k < r->keys; k++)
        if (r->key[k].dflt && r->key[k].name && r->key[k].of[kind]) set_text(thing, r->key[k].name, r->key[k].dflt);
    const char *directed = weft__xml_find(e, "directed");
    if (kind == EDGE && directed && !strcmp(directed, "true") != json_is_true(json_object_get(r->root, "directed")))
        return BAD(e->place, "an edge that is directed unlike the others; expected all alike");
    r->thing = thing;
    r->kind = kind;
    return WEFT_OK;
}

static enum weft_status begin_data(struct reader *r, const struct weft__xml_element *e, struct weft_error *ret_error) {
    const char *id;
    enum weft_status status = weft__xml_text(e, "key", &id, ret_error);
    if (status || !r->seen) return status;
    for (uint32_t k = 0; k < r->keys; k++)
        if (!strcmp(r->key[k].id, id)) {
            r->data = &r->key[k];
            r->depth = e->depth;
            r->size = 0;
            return WEFT_OK;
        }
    return BAD(e->place, "data of a key '%.40s' that is not there", id);
}

static enum weft_status begin_element(void *context, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct reader *r = context;
    if (r->data) return WEFT_OK; // elements within data are for drawing
    if (!e->depth) return strcmp(e->name, "graphml") ? BAD(e->place, "<%.40s>; expected <graphml>", e->name) : WEFT_OK;
    if (!strcmp(e->name, "key")) return begin_key(r, e, ret_error);
    if (!strcmp(e->name, "graph")) return begin_graph(r, e, ret_error);
    if (!strcmp(e->name, "node")) return begin_thing(r, e, NODE, ret_error);
    if (!strcmp(e->name, "edge")) return begin_thing(r, e, EDGE, ret_error);
    if (!strcmp(e->name, "data")) return begin_data(r, e, ret_error);
    if (!strcmp(e->name, "hyperedge")) return BAD(e->place, "a hyperedge; expected edges of two nodes");
    if (!strcmp(e->name, "default") && r->keys) {
        r->data = &r->key[r->keys - 1];
        r->in_default = true;
        r->depth = e->depth;
        r->size = 0;
    }
    return WEFT_OK;
}

static enum weft_status add_text(void *context, const char *piece, size_t n, uint32_t depth, struct weft_place place,
                                 struct weft_error *ret_error) {
    struct reader *r = context;
    if (!r->data || !r->data->name || depth != r->depth + 1) return WEFT_OK;
    if (n >= VALUE_MAX - r->size) return BAD(place, "expected data of at most %d bytes", VALUE_MAX - 1);
    memcpy(r->value + r->size, piece, n);
    r->size += n;
    return WEFT_OK;
}

/// The value, without surrounding blanks.
static const char *trim_value(struct reader *r) {
    static const char blanks[] = " \t\r\n";
    while (r->size && strchr(blanks, r->value[r->size - 1]))
        r->size--;
    r->value[r->size] = 0;
    return r->value + strspn(r->value, blanks);
}

static enum weft_status end_element(void *context, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct reader *r = context;
    if (r->data && e->depth == r->depth) {
        const char *value = trim_value(r);
        if (r->in_default)
            r->key[r->keys - 1].dflt = weft_arena_text(r->arena, value);
        else if (r->data->name && *value && strcmp(r->data->name, "id") && strcmp(r->data->name, "source") &&
                 strcmp(r->data->name, "target"))
            set_text(r->thing, r->data->name, value);
        r->data = NULL;
        r->in_default = false;
    } else if (!r->data && (!strcmp(e->name, "node") || !strcmp(e->name, "edge"))) {
        r->kind = GRAPH;
        r->thing = r->graph;
    }
    return WEFT_OK;
}

enum weft_status weft__graphml_read(const char *path, struct weft_place place, const struct weft__networkx_conf *conf,
                                    struct weft_arena *arena, struct weft__networkx *ret_graph,
                                    struct weft_error *ret_error) {
    static const struct weft__xml_handler handler = {.begin = begin_element, .end = end_element, .text = add_text};
    struct reader *r = weft_arena_alloc(arena, 1, sizeof *r);
    r->arena = arena;
    r->root = own_json(json_object());
    weft_memory_cleanup_add(&r->cleanup, weft__json_release, r->root);
    r->graph = own_json(json_object());
    int failed = json_object_set_new(r->root, "graph", r->graph);
    r->nodes = own_json(json_array());
    failed |= json_object_set_new(r->root, "nodes", r->nodes);
    r->links = own_json(json_array());
    failed |= json_object_set_new(r->root, "links", r->links);
    failed |= json_object_set_new(r->root, "multigraph", json_true());
    if (failed) weft_memory_fail();
    enum weft_status status = weft__xml_read(path, place, &handler, r, ret_error);
    if (!status && !r->seen)
        status = BAD(((struct weft_place){.file = path, .line = 1, .column = 1}), "no graph; expected one");
    if (!status && !json_array_size(r->nodes))
        status = BAD(((struct weft_place){.file = path, .line = 1, .column = 1}),
                     "no node in the graph; expected one at least");
    if (!status)
        status = weft__networkx_read_root(r->root, path, r->place[NODE].at, r->place[EDGE].at, conf, arena, ret_graph,
                                          ret_error);
    weft_memory_cleanup_remove(&r->cleanup);
    json_decref(r->root);
    return status;
}
