// SPDX-License-Identifier: Apache-2.0
// Source: as import/infragraph/infragraph_read.c says.
#include "import/infragraph/infragraph_device.h"
#include "base/order.h"
#include "import/infragraph/infragraph_read.h"
#include "weft/param_load.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

enum { DEPTH_MAX = 32 };

// --- names --------------------------------------------------------------------------------------------------------

WEFT__ORDER(by_name, struct weft__name, WEFT__TEXT(name) ?: WEFT__UP(number))

uint32_t weft__names_sort(struct weft__names *names, struct weft_arena *arena) {
    names->sorted = weft_arena_alloc(arena, names->n, sizeof *names->sorted);
    for (uint32_t i = 0; i < names->n; i++)
        names->sorted[i] = (struct weft__name){names->name[i], i};
    qsort(names->sorted, names->n, sizeof *names->sorted, by_name);
    for (uint32_t i = 1; i < names->n; i++)
        if (!strcmp(names->sorted[i].name, names->sorted[i - 1].name)) return names->sorted[i].number;
    return WEFT_NONE;
}

enum weft_status weft__names_find(const struct weft__names *names, const char *name, size_t length, const char *what,
                                  struct weft_place place, uint32_t *ret_number, struct weft_error *ret_error) {
    uint32_t low = 0, high = names->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const char *there = names->sorted[middle].name;
        int order = strncmp(there, name, length);
        if (!order && there[length]) order = 1;
        *ret_number = names->sorted[middle].number;
        if (!order) return WEFT_OK;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), name);
    const char *nearest = weft_error_nearest(word, names->name, names->n);
    return BAD(place, "no %s '%s'%s%s%s", what, word, nearest ? "; did you mean '" : "", nearest ? nearest : "",
               nearest ? "'?" : "");
}

enum weft_status weft__infragraph_list(const struct weft_tree *map, const char *key, const struct weft_tree **ret_list,
                                       struct weft_error *ret_error) {
    static const struct weft_tree nothing = {.type = WEFT_TREE_LIST};
    const struct weft_tree *list = weft_tree_find(map, key);
    *ret_list = list && list->type != WEFT_TREE_NULL ? list : &nothing;
    if ((*ret_list)->type != WEFT_TREE_LIST) return BAD(list->place, "%s: expected a list", key);
    return WEFT_OK;
}

/// Sorts the names of a list of the file; an error at an entry whose name is not its own.
static enum weft_status sort_names(struct weft__names *names, const struct weft_tree *list, const char *what,
                                   struct weft_arena *arena, struct weft_error *ret_error) {
    uint32_t second = weft__names_sort(names, arena);
    if (second == WEFT_NONE) return WEFT_OK;
    return BAD(list->child[second]->place, "a second %s '%.60s'", what, names->name[second]);
}

// --- links --------------------------------------------------------------------------------------------------------

/// More than any link can have, if it exceeds this.
static uint64_t whole_of(double value) {
    return value < 1e18 ? (uint64_t)llround(value) : UINT64_C(1000000000000000000);
}

enum weft_status weft__infragraph_read_links(const struct weft_tree *map, struct weft_arena *arena,
                                             struct weft__infragraph_links *ret_links, struct weft_error *ret_error) {
    const struct weft_tree *list;
    WEFT_TRY(weft__infragraph_list(map, "links", &list, ret_error));
    struct weft__names *names = &ret_links->names;
    names->name = weft_arena_alloc(arena, list->n, sizeof *names->name);
    ret_links->link = weft_arena_alloc(arena, list->n, sizeof *ret_links->link);
    for (; names->n < list->n; names->n++) {
        struct weft__infragraph_link_conf conf;
        WEFT_TRY(weft_params_load(&weft__infragraph_link_table, list->child[names->n], &conf, arena, ret_error));
        const struct weft__infragraph_bandwidth_conf *b = &conf.physical.bandwidth;
        const struct weft__infragraph_latency_conf *l = &conf.physical.latency;
        names->name[names->n] = conf.named.name;
        ret_links->link[names->n] = (struct weft__infragraph_link){
            .rate_bps = whole_of(1e9 * (b->gbits > 0 ? b->gbits : 8 * b->gbytes)),
            .delay_ps = whole_of(1e9 * l->ms + 1e6 * l->us + 1e3 * l->ns),
            .transfers = b->gtransfers > 0,
        };
    }
    return sort_names(names, list, "link", arena, ret_error);
}

enum weft_status weft__infragraph_load_edge(const struct weft_tree *tree, const struct weft_param_table *end_table,
                                            const struct weft__infragraph_links *links, struct weft_arena *arena,
                                            uint32_t *ret_scheme, struct weft__infragraph_end_conf ret_end[2],
                                            const struct weft__infragraph_link **ret_link,
                                            struct weft_error *ret_error) {
    static const char *const keys[] = {"ep1", "ep2"};
    struct weft__infragraph_edge_conf conf;
    uint32_t link = 0;
    enum weft_status status = weft_params_load(&weft__infragraph_edge_table, tree, &conf, arena, ret_error);
    for (uint32_t e = 0; e < 2 && !status; e++) {
        const struct weft_tree *end = weft_tree_find(tree, keys[e]);
        if (!end) return BAD(tree->place, "an edge without %s; expected ep1 and ep2", keys[e]);
        status = weft_params_load(end_table, end, &ret_end[e], arena, ret_error);
    }
    if (!status)
        status = weft__names_find(&links->names, conf.link, strlen(conf.link), "link",
                                  weft_tree_find(tree, "link")->place, &link, ret_error);
    *ret_scheme = conf.scheme;
    *ret_link = &links->link[link];
    return status;
}

// --- devices ------------------------------------------------------------------------------------------------------

static enum weft_status open_device(const struct weft__infragraph_parts *parts, struct weft__infragraph_part *p,
                                    uint32_t depth, struct weft_arena *arena, struct weft_error *ret_error);

enum weft_status weft__infragraph_find_device(const struct weft__infragraph_parts *parts, const char *name,
                                              struct weft_place place, struct weft_arena *arena, uint32_t *ret_number,
                                              struct weft_error *ret_error) {
    struct weft_error why = {0};
    if (!weft__names_find(&parts->names, name, strlen(name), "device", place, ret_number, &why)) return WEFT_OK;
    const char *file = weft__infragraph_seek(place.file, "devices", "name", name, arena);
    if (file)
        return BAD(place, "no device '%.60s' in the files given; %s defines it: expected that file, too", name, file);
    return BAD(place, "%s; expected a file that defines it, beside the others", why.text + why.message_at);
}

static enum weft_status read_component(const struct weft__infragraph_parts *parts, struct weft__infragraph_part *p,
                                       const struct weft_tree *tree, uint32_t depth, struct weft_arena *arena,
                                       struct weft_error *ret_error) {
    struct weft__infragraph_component_conf conf;
    uint32_t device;
    WEFT_TRY(weft_params_load(&weft__infragraph_component_table, tree, &conf, arena, ret_error));
    struct weft__infragraph_component *c = &p->component[p->names.n];
    *c = (struct weft__infragraph_component){(enum weft__infragraph_choice)conf.choice, conf.count, p->slots, NULL};
    p->names.name[p->names.n++] = conf.named.name;
    if (c->choice == WEFT__INFRAGRAPH_DEVICE) {
        WEFT_TRY(weft__infragraph_find_device(parts, conf.named.name, tree->place, arena, &device, ret_error));
        WEFT_TRY(open_device(parts, &parts->part[device], depth + 1, arena, ret_error));
        c->within = &parts->part[device];
    }
    p->slots += weft__times(c->count, c->within ? c->within->slots : 1);
    if (p->slots > WEFT__INFRAGRAPH_SLOTS_MAX) return BAD(tree->place, "more components than weft can number");
    p->has_nic |= c->choice == WEFT__INFRAGRAPH_NIC || (c->within && c->within->has_nic);
    bool xpu = c->choice == WEFT__INFRAGRAPH_XPU || c->choice == WEFT__INFRAGRAPH_NPU;
    p->about.xpus += c->count * (c->within ? c->within->about.xpus : xpu);
    return WEFT_OK;
}

/// Opens its components and, first, those of the devices within it.
static enum weft_status open_device(const struct weft__infragraph_parts *parts, struct weft__infragraph_part *p,
                                    uint32_t depth, struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft_tree *list;
    if (p->done) return WEFT_OK;
    if (p->open || depth > DEPTH_MAX)
        return BAD(p->about.place, "device '%.60s' is within itself, or devices are more than %d within one another",
                   p->about.name, DEPTH_MAX);
    p->open = true;
    enum weft_status status = weft__infragraph_list(p->tree, "components", &list, ret_error);
    if (status) return status;
    p->component = weft_arena_alloc(arena, list->n, sizeof *p->component);
    p->names.name = weft_arena_alloc(arena, list->n, sizeof *p->names.name);
    for (uint32_t i = 0; i < list->n && !status; i++)
        status = read_component(parts, p, list->child[i], depth, arena, ret_error);
    p->done = true;
    return status ? status : sort_names(&p->names, list, "component", arena, ret_error);
}

/// The properties of the inside that matter outside: the rate behind a nic, the delay behind a port.
static void note_inner_edge(struct weft__infragraph_device *about, enum weft__infragraph_choice choice,
                            const struct weft__infragraph_link *link) {
    bool slower = link->rate_bps && (!about->nic_rate_bps || link->rate_bps < about->nic_rate_bps);
    if (choice == WEFT__INFRAGRAPH_NIC && slower) about->nic_rate_bps = link->rate_bps;
    if (choice == WEFT__INFRAGRAPH_PORT && link->delay_ps > about->port_delay_ps) about->port_delay_ps = link->delay_ps;
}

static enum weft_status read_inside(struct weft__infragraph_part *p, struct weft__infragraph_slots *slots,
                                    struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft_tree *list;
    struct weft__infragraph_links links = {0};
    WEFT_TRY(weft__infragraph_read_links(p->tree, arena, &links, ret_error));
    WEFT_TRY(weft__infragraph_list(p->tree, "edges", &list, ret_error));
    for (uint32_t l = 0; l < links.names.n && l < 12; l++)
        p->about.inside = weft_arena_format(arena, "%s%s%.40s", p->about.inside, l ? ", " : "", links.names.name[l]);
    for (uint32_t i = 0; i < list->n; i++) {
        struct weft__infragraph_end_conf end[2];
        const struct weft__infragraph_link *link;
        uint32_t scheme;
        WEFT_TRY(weft__infragraph_load_edge(list->child[i], &weft__infragraph_inner_end_table, &links, arena, &scheme,
                                            end, &link, ret_error));
        for (uint32_t e = 0; e < 2; e++) {
            const char *path =
                weft_arena_format(arena, "%s%s%s", end[e].instance, *end[e].instance ? "." : "", end[e].component);
            WEFT_TRY(weft__infragraph_expand(p, path, list->child[i]->place, slots, ret_error));
            note_inner_edge(&p->about, slots->choice, link);
        }
    }
    return WEFT_OK;
}

enum weft_status weft__infragraph_read_devices(const struct weft_tree *root, struct weft_arena *arena,
                                               struct weft__infragraph_parts *ret_parts, struct weft_error *ret_error) {
    const struct weft_tree *list;
    struct weft__names *names = &ret_parts->names;
    WEFT_TRY(weft__infragraph_list(root, "devices", &list, ret_error));
    names->name = weft_arena_alloc(arena, list->n, sizeof *names->name);
    ret_parts->part = weft_arena_alloc(arena, list->n, sizeof *ret_parts->part);
    for (; names->n < list->n; names->n++) {
        struct weft__infragraph_device_conf conf;
        const struct weft_tree *tree = list->child[names->n];
        WEFT_TRY(weft_params_load(&weft__infragraph_device_table, tree, &conf, arena, ret_error));
        names->name[names->n] = conf.named.name;
        ret_parts->part[names->n] = (struct weft__infragraph_part){
            .about = {.name = conf.named.name, .inside = "", .place = tree->place}, .tree = tree};
    }
    WEFT_TRY(sort_names(names, list, "device", arena, ret_error));
    struct weft__infragraph_slots slots = {.slot = weft_arena_alloc(arena, WEFT__PORTS_MAX, sizeof *slots.slot)};
    for (uint32_t d = 0; d < names->n; d++)
        WEFT_TRY(open_device(ret_parts, &ret_parts->part[d], 0, arena, ret_error));
    for (uint32_t d = 0; d < names->n; d++)
        WEFT_TRY(read_inside(&ret_parts->part[d], &slots, arena, ret_error));
    return WEFT_OK;
}

// --- paths of components ------------------------------------------------------------------------------------------

/// A whole number in Python's syntax; false: it is none.
static bool read_index(const char **at, int64_t *ret) {
    const char *digit = *at + (**at == '-');
    size_t n = strspn(digit, "0123456789");
    if (!n || n > 9) return false;
    *ret = strtoll(*at, NULL, 10);
    *at = digit + n;
    return true;
}

/// "2]", "0:8]", "0:8:2]", ":8]" and so on. An omitted bound is unchanged.
static bool read_bounds(const char **at, int64_t bound[3]) {
    uint32_t colons = 0;
    bool one = read_index(at, &bound[0]);
    for (; **at == ':' && colons < 2; read_index(at, &bound[colons])) {
        ++*at;
        colons++;
    }
    if (!colons) bound[1] = bound[0] + 1;
    return (one || colons) && bound[2] && *(*at)++ == ']';
}

enum weft_status weft__infragraph_read_slice(const char **at, const char *text, uint64_t count, struct weft_place place,
                                             struct weft__infragraph_slice *ret, struct weft_error *ret_error) {
    int64_t bound[3] = {0, (int64_t)count, 1}; // start, stop, step
    bool good = true;
    if (**at == '.' && strchr("0123456789", (*at)[1]) && (*at)[1]) {
        ++*at;
        good = read_index(at, &bound[0]);
        bound[1] = bound[0] + 1;
    } else if (**at == '[') {
        ++*at;
        good = read_bounds(at, bound);
    }
    if (!good || (**at && **at != '.'))
        return BAD(place, "'%.80s': expected names with an index or a slice each, such as nic[0] or dgx[0].nic[0:8:2]",
                   text);
    int64_t way = bound[2] < 0 ? bound[0] - bound[1] : bound[1] - bound[0];
    *ret =
        (struct weft__infragraph_slice){bound[0], bound[2], way > 0 ? (uint64_t)((way - 1) / llabs(bound[2]) + 1) : 0};
    if (!ret->n) return BAD(place, "'%.80s' chooses nothing", text);
    int64_t last = ret->start + (int64_t)(ret->n - 1) * ret->step;
    int64_t least = ret->step < 0 ? last : ret->start, most = ret->step < 0 ? ret->start : last;
    if (!count) return BAD(place, "'%.80s' chooses of none: its count is 0", text);
    if (least < 0 || most >= (int64_t)count)
        return BAD(place, "'%.80s' asks for numbers %" PRId64 " to %" PRId64 "; expected 0 to %" PRId64, text, least,
                   most, (int64_t)count - 1);
    return WEFT_OK;
}

/// Replaces each device in `ret` by the components that one element of a path selects. Works backwards, because there
/// are more of them.
static enum weft_status expand_element(const struct weft__infragraph_component *c,
                                       const struct weft__infragraph_slice *slice, const char *path,
                                       struct weft_place place, struct weft__infragraph_slots *ret,
                                       struct weft_error *ret_error) {
    uint64_t size = c->within ? c->within->slots : 1;
    if (weft__times(ret->n, slice->n) > WEFT__PORTS_MAX)
        return BAD(place, "'%.80s' means more than %u components of a device", path, WEFT__PORTS_MAX);
    for (uint64_t i = ret->n; i-- > 0;) {
        uint64_t base = ret->slot[i] + c->slot;
        for (uint64_t k = slice->n; k-- > 0;)
            ret->slot[i * slice->n + k] = base + (uint64_t)(slice->start + (int64_t)k * slice->step) * size;
    }
    ret->n *= slice->n;
    ret->choice = c->choice;
    return WEFT_OK;
}

enum weft_status weft__infragraph_expand(const struct weft__infragraph_part *part, const char *path,
                                         struct weft_place place, struct weft__infragraph_slots *ret,
                                         struct weft_error *ret_error) {
    ret->slot[0] = 0;
    ret->n = 1;
    for (const char *at = path;; at++) {
        // behind a point
        struct weft__infragraph_slice slice;
        uint32_t number;
        char what[96];
        size_t length = strcspn(at, ".[");
        snprintf(what, sizeof what, "component of device '%.60s'", part->about.name);
        WEFT_TRY(weft__names_find(&part->names, at, length, what, place, &number, ret_error));
        const struct weft__infragraph_component *c = &part->component[number];
        const char *name = part->names.name[number];
        at += length;
        WEFT_TRY(weft__infragraph_read_slice(&at, path, c->count, place, &slice, ret_error));
        WEFT_TRY(expand_element(c, &slice, path, place, ret, ret_error));
        if (!*at && c->within)
            return BAD(place, "'%.80s' is a whole device; expected a component of it, such as %.40s[0].port[0]", path,
                       name);
        if (*at && !c->within)
            return BAD(place, "'%.80s': %.60s is not a device; expected nothing behind it", path, name);
        part = c->within;
        if (!*at) return WEFT_OK;
    }
}

const char *weft__infragraph_path(const struct weft__infragraph_part *part, uint64_t slot, struct weft_arena *arena) {
    const char *path = "";
    while (part) {
        uint32_t i = 0;
        uint64_t size = 0, index = 0;
        for (;; i++) { // the one that contains the slot; there must be one
            const struct weft__infragraph_component *c = &part->component[i];
            size = c->within ? c->within->slots : 1;
            if (slot < c->slot + c->count * size) break;
        }
        index = (slot - part->component[i].slot) / size;
        path = weft_arena_format(arena, "%s%s%s.%" PRIu64, path, *path ? "." : "", part->names.name[i], index);
        slot -= part->component[i].slot + index * size;
        part = part->component[i].within;
    }
    return path;
}
