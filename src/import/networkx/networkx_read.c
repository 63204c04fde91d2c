// SPDX-License-Identifier: Apache-2.0
// Source: the reference of NetworkX 3, "node_link_data" and "node_link_graph": nodes have an id, links (or edges, as
// NetworkX 3.6 calls them) a source and a target, and a key in a multigraph. NetworkX 1 wrote positions of nodes for
// source and target. Units of the whole graph (capacity_unit, delay_unit) are those of FNSS, "Units".
#include "import/networkx/networkx_read.h"
#include "base/order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_read.h"
#include "base/tree.h"
#include "base/units.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

enum { NUMBER_DIGITS = 9, UNREAD_MAX = 12, NAME_BYTES = 40 };
static const json_int_t number_max = 999999999;
const char *const weft__networkx_rate_units[] = {"bps", "kbps", "Mbps", "Gbps", "Tbps", NULL};
const char *const weft__networkx_delay_units[] = {"s", "ms", "us", "ns", "ps", NULL};

/// A kind of attribute: its names, and the units that stand in a name, in the graph or in the configuration.
struct attribute {
    enum weft__quantity quantity;
    const char *const *names, *const *units;
    const char *key; ///< that the user named, or ""
    const char *unit;
};
static const char *const rate_names[] = {"rate", "bandwidth", "capacity", "speed", NULL};
static const char *const delay_names[] = {"delay", "latency", NULL};
static const char *const role_names[] = {"role", "type", "kind", NULL};
static const char *const host_words[] = {"host", "server", "gpu", "npu", "nic", "endpoint", "compute", NULL};
static const char *const switch_words[] = {"switch", "router", "leaf", "spine", "tor",         "edge",
                                           "access", "agg",    "core", "rack",  "aggregation", NULL};

/// A node, while links are resolved.
struct identity {
    const char *text; ///< NULL: a number
    json_int_t number;
    uint32_t node;
};

struct reader {
    const json_t *root;
    const char *path;
    const struct weft_place *node_place, *link_place;
    struct weft_arena *arena;
    struct weft__networkx *graph;
    bool *back;                ///< [links] the other direction of one that is there
    struct identity *identity; ///< sorted
    uint32_t *degree;
    bool directed, multigraph, numbers;
    struct attribute rate, delay;
    const char *edges; ///< the key of the links
    const char *unread_key[UNREAD_MAX];
    uint32_t unread;
};

static const char *word_of(const char *const *words, const char *text) {
    for (; *words; words++)
        if (!strcasecmp(*words, text)) return *words;
    return NULL;
}

/// Remembers an ignored attribute.
static void leave_out(struct reader *r, const char *key) {
    if (!weft__text_is_plain(key) || strlen(key) > NAME_BYTES) key = "(of a name that cannot be shown)";
    for (uint32_t i = 0; i < r->unread; i++)
        if (!strcmp(r->unread_key[i], key)) return;
    if (r->unread == UNREAD_MAX) return;
    r->unread_key[r->unread++] = key;
    r->graph->unread = weft_arena_format(r->arena, "%s%s%s", r->graph->unread, *r->graph->unread ? ", " : "", key);
}

// --- nodes --------------------------------------------------------------------------------------------------------

static int by_identity(const void *a, const void *b) {
    const struct identity *x = a, *y = b;
    if (!x->text != !y->text) return x->text ? 1 : -1;
    if (x->text) return strcmp(x->text, y->text);
    return x->number < y->number ? -1 : x->number > y->number;
}

/// The identifier that a value is; false: it is none.
static bool read_identity(const json_t *value, struct identity *ret) {
    *ret = (struct identity){.text = json_string_value(value)};
    if (ret->text) return true;
    ret->number = json_integer_value(value);
    return json_is_integer(value);
}

/// The role of the node according to its attributes; *ret_word stays NULL if they do not give it.
static enum weft_status read_role(const json_t *object, struct weft__file_node *node, const char **ret_word,
                                  struct weft_error *ret_error) {
    for (const char *const *name = role_names; *name && !*ret_word; name++) {
        const json_t *value = json_object_get(object, *name);
        if (!value) continue;
        const char *text = json_is_string(value) ? json_string_value(value) : "";
        *ret_word = word_of(host_words, text);
        node->host = *ret_word != NULL;
        if (!*ret_word) *ret_word = word_of(switch_words, text);
        if (!*ret_word)
            return BAD(node->place,
                       "%s '%.40s' of a node; expected host, server, gpu, npu, nic, endpoint or compute, or switch, "
                       "router, leaf, spine, tor, edge, access, agg, aggregation, core or rack",
                       *name, text);
    }
    return WEFT_OK;
}

static enum weft_status read_node(struct reader *r, uint32_t i, json_t *object, struct weft_error *ret_error) {
    struct weft__file_node *node = &r->graph->graph.node[i];
    const char *word = NULL, *key;
    json_t *value;
    if (!json_is_object(object)) return BAD(node->place, "expected a node: {\"id\": ...}");
    if (!read_identity(json_object_get(object, "id"), &r->identity[i]))
        return BAD(node->place, "a node without an id; expected a number or a text");
    if (!r->identity[i].text && (r->identity[i].number < 0 || r->identity[i].number > number_max))
        return BAD(node->place, "node %" JSON_INTEGER_FORMAT "; expected a number of 0 to %" JSON_INTEGER_FORMAT,
                   r->identity[i].number, number_max);
    r->identity[i].node = i;
    r->numbers |= !r->identity[i].text;
    enum weft_status status = read_role(object, node, &word, ret_error);
    json_object_foreach(object, key, value) if (strcmp(key, "id") && !word_of(role_names, key)) leave_out(r, key);
    node->layer = word; // until names are assigned
    return status;
}

static enum weft_status read_nodes(struct reader *r, struct weft_error *ret_error) {
    const json_t *list = json_object_get(r->root, "nodes");
    struct weft__file_graph *g = &r->graph->graph;
    if (!json_is_array(list) || !json_array_size(list))
        return BAD(((struct weft_place){.file = r->path, .line = 1, .column = 1}), "no list 'nodes' with a node in it");
    if (json_array_size(list) > WEFT__NODES_MAX)
        return BAD(((struct weft_place){.file = r->path, .line = 1, .column = 1}),
                   "%zu nodes; expected at most %" PRIu64, json_array_size(list), WEFT__NODES_MAX);
    g->nodes = (uint32_t)json_array_size(list);
    g->node = weft_arena_alloc(r->arena, g->nodes, sizeof *g->node);
    r->identity = weft_arena_alloc(r->arena, g->nodes, sizeof *r->identity);
    r->degree = weft_arena_alloc(r->arena, g->nodes, sizeof *r->degree);
    const struct weft_place *place = r->node_place;
    for (uint32_t i = 0; i < g->nodes; i++) {
        g->node[i].place = place[i];
        WEFT_TRY(read_node(r, i, json_array_get(list, i), ret_error));
    }
    qsort(r->identity, g->nodes, sizeof *r->identity, by_identity);
    for (uint32_t i = 1; i < g->nodes; i++)
        if (!by_identity(&r->identity[i - 1], &r->identity[i])) {
            uint32_t a = r->identity[i - 1].node, b = r->identity[i].node, last = a > b ? a : b;
            return BAD(place[last], "a second node with the id of the one on line %d", place[a > b ? b : a].line);
        }
    return WEFT_OK;
}

/// Its number, if the identifier is one.
static bool number_of(const struct identity *id, json_int_t *ret_number) {
    *ret_number = id->number;
    if (!id->text) return true;
    size_t digits = strspn(id->text, "0123456789");
    if (!digits || digits > NUMBER_DIGITS || id->text[digits]) return false;
    *ret_number = strtoll(id->text, NULL, 10);
    return true;
}

/// Determines roles that attributes did not give, then names, which depend on them.
static void name_nodes(struct reader *r) {
    struct weft__file_graph *g = &r->graph->graph;
    for (uint32_t i = 0; i < g->nodes; i++) {
        struct weft__file_node *node = &g->node[r->identity[i].node];
        json_int_t number;
        if (!node->layer) {
            node->host = r->degree[r->identity[i].node] == 1;
            r->graph->guessed++;
        }
        if (node->host || !node->layer) node->layer = node->host ? "host" : "switch";
        if (number_of(&r->identity[i], &number)) {
            node->name =
                weft_arena_format(r->arena, "%s-%" JSON_INTEGER_FORMAT, node->host ? "host" : "switch", number);
        } else if (weft__topology_node_name_is_good(r->identity[i].text)) {
            node->name = weft_arena_text(r->arena, r->identity[i].text);
        } else {
            node->name =
                weft_arena_format(r->arena, "%s-%" PRIu32, node->host ? "host" : "switch", r->identity[i].node);
            r->graph->renamed++;
        }
    }
}

// --- links --------------------------------------------------------------------------------------------------------

/// Whether a key is an attribute, possibly with a unit: "delay", "rate_gbps". *ret_unit is unchanged if it has none.
static bool is_attribute(const struct attribute *a, const char *key, const char **ret_unit) {
    if (*a->key) return !strcmp(key, a->key);
    for (const char *const *name = a->names; *name; name++) {
        size_t n = strlen(*name);
        if (strncasecmp(key, *name, n)) continue;
        if (!key[n]) return true;
        const char *unit = key[n] == '_' ? word_of(a->units, key + n + 1) : NULL;
        if (unit) *ret_unit = unit;
        if (unit) return true;
    }
    return false;
}

static enum weft_status parse_value(const struct attribute *a, const char *key, const char *unit, const json_t *value,
                                    struct weft_place place, uint64_t *ret, struct weft_error *ret_error) {
    char number[64], why[160];
    const char *text = json_string_value(value);
    if (json_is_integer(value)) snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value)) weft__real_format(json_real_value(value), number, sizeof number);
    if (!text && !json_is_number(value)) return BAD(place, "%.40s: expected a number or a text with its unit", key);
    if (!weft__number_parse(a->quantity, unit, text ? text : number, ret, why, sizeof why))
        return BAD(place, "%.40s: %s", key, why);
    return WEFT_OK;
}

/// If the link has no such attribute, *ret is unchanged and *ret_given false.
static enum weft_status read_value(const struct attribute *a, json_t *object, struct weft_place place, uint64_t *ret,
                                   bool *ret_given, struct weft_error *ret_error) {
    const char *key, *given = NULL;
    json_t *value;
    enum weft_status status = WEFT_OK;
    json_object_foreach(object, key, value) {
        const char *unit = a->unit;
        if (status || !is_attribute(a, key, &unit)) continue;
        if (given)
            return BAD(place, "both %.40s and %.40s of a link; expected one of them, or its name in %s", given, key,
                       a->quantity == WEFT__RATE ? "rate_key" : "delay_key");
        given = key;
        status = parse_value(a, key, unit, value, place, ret, ret_error);
    }
    *ret_given = given != NULL;
    return status;
}

static enum weft_status find_end(const struct reader *r, const json_t *object, const char *key, struct weft_place place,
                                 uint32_t *ret_node, struct weft_error *ret_error) {
    struct identity wanted;
    if (!read_identity(json_object_get(object, key), &wanted))
        return BAD(place, "a link without a %s; expected the id of a node", key);
    bool position = !wanted.text && !r->numbers; // NetworkX 1
    const struct identity *found = bsearch(&wanted, r->identity, r->graph->graph.nodes, sizeof wanted, by_identity);
    if (position && wanted.number >= 0 && wanted.number < r->graph->graph.nodes) {
        *ret_node = (uint32_t)wanted.number;
        return WEFT_OK;
    }
    if (found) *ret_node = found->node;
    if (found) return WEFT_OK;
    if (wanted.text) return BAD(place, "%s '%.60s'; expected the id of a node", key, wanted.text);
    return BAD(place, "%s %" JSON_INTEGER_FORMAT "; expected the id of a node", key, wanted.number);
}

static enum weft_status read_link(struct reader *r, uint32_t i, json_t *object, struct weft_error *ret_error) {
    struct weft__file_link *link = &r->graph->graph.link[i];
    struct weft_place place = link->place;
    bool rated = false, delayed = false;
    const char *key, *unit;
    json_t *value;
    if (!json_is_object(object)) return BAD(place, "expected a link: {\"source\": ..., \"target\": ...}");
    enum weft_status status = find_end(r, object, "source", place, &link->end[0], ret_error);
    if (!status) status = find_end(r, object, "target", place, &link->end[1], ret_error);
    if (!status && link->end[0] == link->end[1]) return BAD(place, "a link from a node to itself");
    if (!status) status = read_value(&r->rate, object, place, &link->rate_bps, &rated, ret_error);
    if (!status) status = read_value(&r->delay, object, place, &link->delay_ps, &delayed, ret_error);
    if (status) return status;
    if (link->rate_bps < 100 * WEFT__RATE_MIN || link->rate_bps > WEFT__RATE_MAX) // less is a missing unit
        return BAD(place,
                   "a rate of %" PRIu64 " bit/s (unit %s, if the file has none: rate_unit); expected 1Gbps to 100Tbps",
                   link->rate_bps, r->rate.unit);
    if (!link->delay_ps || link->delay_ps > WEFT_PS_PER_S)
        return BAD(place, "a delay of %" PRIu64 " ps (unit %s, if the file has none: delay_unit); expected 1ps to 1s",
                   link->delay_ps, r->delay.unit);
    json_object_foreach(object, key, value) {
        bool known = !strcmp(key, "source") || !strcmp(key, "target") || !strcmp(key, "key");
        if (!known && !is_attribute(&r->rate, key, &unit) && !is_attribute(&r->delay, key, &unit)) leave_out(r, key);
    }
    r->graph->unrated += !rated;
    r->graph->undelayed += !delayed;
    return WEFT_OK;
}

static enum weft_status read_links(struct reader *r, const struct weft__networkx_conf *conf,
                                   struct weft_error *ret_error) {
    const json_t *list = json_object_get(r->root, r->edges);
    struct weft__file_graph *g = &r->graph->graph;
    if (!json_is_array(list) || json_array_size(list) > WEFT__LINKS_MAX)
        return BAD(((struct weft_place){.file = r->path, .line = 1, .column = 1}),
                   "no list 'links' or 'edges' of at most %" PRIu64, WEFT__LINKS_MAX);
    g->links = (uint32_t)json_array_size(list);
    g->link = weft_arena_alloc(r->arena, g->links, sizeof *g->link);
    const struct weft_place *place = r->link_place;
    for (uint32_t i = 0; i < g->links; i++) {
        g->link[i] =
            (struct weft__file_link){.rate_bps = conf->rate_bps, .delay_ps = conf->delay_ps, .place = place[i]};
        WEFT_TRY(read_link(r, i, json_array_get(list, i), ret_error));
    }
    return WEFT_OK;
}

// --- both directions ----------------------------------------------------------------------------------------------

/// A link between two nodes, sorted so that all links of a pair are adjacent, one direction after the other.
struct pair {
    uint32_t low, high, link;
    bool down; ///< from the node with the higher index
};

WEFT__ORDER(by_pair, struct pair, WEFT__UP(low) ?: WEFT__UP(high) ?: WEFT__UP(down) ?: WEFT__UP(link))

/// Links between the same two nodes: `n` in total, `ups` of them in one direction.
static enum weft_status match_links(struct reader *r, const struct pair *pair, uint32_t n, uint32_t ups,
                                    struct weft_error *ret_error) {
    struct weft__file_link *link = r->graph->graph.link;
    uint32_t downs = n - ups;
    bool both = r->directed && ups && downs;
    if (!r->multigraph && (r->directed ? ups > 1 || downs > 1 : n > 1))
        return BAD(link[pair[n - 1].link].place,
                   "a second link between two nodes (the first is on line %d); expected \"multigraph\": true",
                   link[pair[ups > 1 || !both ? 0 : ups].link].place.line);
    if (both && ups != downs)
        return BAD(link[pair[ups > downs ? ups - 1 : n - 1].link].place,
                   "%" PRIu32 " links one way and %" PRIu32 " the other between two nodes; expected as many", ups,
                   downs);
    for (uint32_t i = 0; both && i < ups; i++) {
        struct weft__file_link *there = &link[pair[i].link], *here = &link[pair[ups + i].link];
        struct weft__file_link *last = there->place.line > here->place.line ? there : here;
        if (there->rate_bps != here->rate_bps || there->delay_ps != here->delay_ps)
            return BAD(last->place,
                       "rate or delay is not that of the other direction (line %d); expected links that are alike both "
                       "ways",
                       (last == there ? here : there)->place.line);
        r->back[pair[i].link > pair[ups + i].link ? pair[i].link : pair[ups + i].link] = true;
    }
    return WEFT_OK;
}

static enum weft_status match_directions(struct reader *r, struct weft_error *ret_error) {
    struct weft__file_graph *g = &r->graph->graph;
    r->back = weft_arena_alloc(r->arena, g->links, sizeof *r->back);
    struct pair *pair = weft_arena_alloc(r->arena, g->links, sizeof *pair);
    for (uint32_t i = 0; i < g->links; i++) {
        uint32_t from = g->link[i].end[0], to = g->link[i].end[1];
        pair[i] = (struct pair){from < to ? from : to, from < to ? to : from, i, from > to};
    }
    qsort(pair, g->links, sizeof *pair, by_pair);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0, n; i < g->links && !status; i += n) {
        uint32_t ups = 0;
        for (n = 0; i + n < g->links && pair[i + n].low == pair[i].low && pair[i + n].high == pair[i].high; n++)
            ups += !pair[i + n].down;
        status = match_links(r, &pair[i], n, ups, ret_error);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->links; i++)
        if (!r->back[i]) g->link[kept++] = g->link[i];
    g->links = kept;
    for (uint32_t i = 0; i < g->links; i++)
        for (uint32_t end = 0; end < 2; end++)
            r->degree[g->link[i].end[end]]++;
    return status;
}

// --- the graph ----------------------------------------------------------------------------------------------------

/// The unit that the graph gives for one of an attribute's names.
static enum weft_status read_unit(const struct reader *r, struct attribute *a, struct weft_error *ret_error) {
    const json_t *attributes = json_object_get(r->root, "graph");
    for (const char *const *name = a->names; *name; name++) {
        char key[32];
        snprintf(key, sizeof key, "%s_unit", *name);
        const json_t *value = json_object_get(attributes, key);
        if (!value) continue;
        a->unit = json_is_string(value) ? word_of(a->units, json_string_value(value)) : NULL;
        if (!a->unit)
            return BAD(((struct weft_place){.file = r->path, .line = 1, .column = 1}),
                       "%s of the graph is not one of its units; expected %s, ...", key, a->units[0]);
        return WEFT_OK;
    }
    return WEFT_OK;
}

static enum weft_status read_graph(struct reader *r, const struct weft__networkx_conf *conf,
                                   struct weft_error *ret_error) {
    r->directed = json_is_true(json_object_get(r->root, "directed"));
    r->multigraph = json_is_true(json_object_get(r->root, "multigraph"));
    r->edges = json_object_get(r->root, "links") ? "links" : "edges";
    r->rate = (struct attribute){WEFT__RATE, rate_names, weft__networkx_rate_units, conf->rate_key,
                                 weft__networkx_rate_units[conf->rate_unit]};
    r->delay = (struct attribute){WEFT__TIME, delay_names, weft__networkx_delay_units, conf->delay_key,
                                  weft__networkx_delay_units[conf->delay_unit]};
    WEFT_TRY(read_unit(r, &r->rate, ret_error));
    WEFT_TRY(read_unit(r, &r->delay, ret_error));
    WEFT_TRY(read_nodes(r, ret_error));
    WEFT_TRY(read_links(r, conf, ret_error));
    WEFT_TRY(match_directions(r, ret_error));
    name_nodes(r);
    return WEFT_OK;
}

enum weft_status weft__networkx_read_root(const json_t *root, const char *path, const struct weft_place *node_place,
                                          const struct weft_place *link_place, const struct weft__networkx_conf *conf,
                                          struct weft_arena *arena, struct weft__networkx *ret_graph,
                                          struct weft_error *ret_error) {
    struct reader r = {.root = root,
                       .path = path,
                       .node_place = node_place,
                       .link_place = link_place,
                       .arena = arena,
                       .graph = ret_graph};
    *ret_graph = (struct weft__networkx){.unread = ""};
    return read_graph(&r, conf, ret_error);
}

static const struct weft_place *places_of(const struct weft__json_file *file, const char *key,
                                          struct weft_arena *arena) {
    return weft__json_places(file, key, json_array_size(json_object_get(file->root, key)), arena);
}

enum weft_status weft__networkx_read(const char *path, struct weft_place place, const struct weft__networkx_conf *conf,
                                     struct weft_arena *arena, struct weft__networkx *ret_graph,
                                     struct weft_error *ret_error) {
    struct weft__json_file file = {0};
    WEFT_TRY(weft__json_open(&file, path, place, ret_error));
    const char *edges = json_object_get(file.root, "links") ? "links" : "edges";
    const struct weft_place *node = places_of(&file, "nodes", arena), *link = places_of(&file, edges, arena);
    enum weft_status status = weft__networkx_read_root(file.root, path, node, link, conf, arena, ret_graph, ret_error);
    weft__json_close(&file);
    return status;
}
