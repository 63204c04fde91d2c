// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "import/cables/cables.h"
#include "weft/error.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

void weft__cables_add(struct weft__cable_list *list, const struct weft__cable *cable) {
    struct weft__cable *own = &WEFT__ADD(list->arena, list->cable, list->cables);
    *own = *cable;
    for (uint32_t e = 0; e < 2; e++) { // "gpu-1/hca0" or "gpu-1:hca0" where a port has no column of its own
        size_t n = own->port[e] || !own->device[e] ? 0 : weft__topology_device_length(own->device[e]);
        if (!n || own->device[e][n] == '.') continue; // names of nodes may have dots
        own->port[e] = own->device[e] + n + 1;
        own->device[e] = weft_arena_format(list->arena, "%.*s", (int)n, own->device[e]);
    }
}

void weft__cables_tell(struct weft__cable_list *list, const char *device, enum weft__cable_role role) {
    WEFT__ADD(list->arena, list->fact, list->facts) = (struct weft__cable_fact){device, role};
}

void weft__cables_name(struct weft__cable_list *list, const char **names, const char *name) {
    size_t n = strlen(name);
    for (const char *at = *names; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (!strncmp(at, name, n) && (!at[n] || at[n] == ',')) return;
    }
    *names = *names ? weft_arena_format(list->arena, "%s, %s", *names, name) : name;
}

// --- devices ------------------------------------------------------------------------------------------------------

struct device {
    const char *name;
    enum weft__cable_role role;
    uint32_t cables; ///< different cables
    uint32_t node;   ///< of a switch, and the next one of a host
    struct weft_place place;
};

struct mention {
    const char *name;
    uint32_t at; ///< 2 * cable + end
};

struct finish {
    const struct weft__cable_list *list;
    const struct weft__cables_conf *conf;
    struct weft__cables *out;
    struct device *device;
    uint32_t (*end)[2]; ///< [cables] devices
    struct joined {
        uint32_t device[2]; ///< ascending
        const char *port[2];
        weft_rate_bps rate_bps;
        weft_time_ps delay_ps;
        struct weft_place place;
        uint32_t order;
        bool down, heard; ///< down: named from the end of the second device
        bool done;        ///< combined with another one, into which it was merged if it is `down`
    } * joined;
    uint32_t joins;
};

WEFT__ORDER(by_name, struct mention, WEFT__TEXT(name) ?: WEFT__UP(at))

/// Numbers devices in the order in which the files first name them.
static void number_devices(struct finish *f) {
    const struct weft__cable_list *list = f->list;
    uint32_t n = 2 * list->cables, *first = weft_arena_alloc(list->arena, n, sizeof *first);
    struct mention *mention = weft_arena_alloc(list->arena, n, sizeof *mention);
    for (uint32_t i = 0; i < n; i++)
        mention[i] = (struct mention){list->cable[i / 2].device[i % 2], i};
    qsort(mention, n, sizeof *mention, by_name);
    for (uint32_t i = 0; i < n; i++) // the first mention of each name, which precedes the others
        first[mention[i].at] =
            i && !strcmp(mention[i].name, mention[i - 1].name) ? first[mention[i - 1].at] : mention[i].at;
    f->device = weft_arena_alloc(list->arena, n, sizeof *f->device);
    f->end = weft_arena_alloc(list->arena, list->cables, sizeof *f->end);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft__cable *c = &list->cable[i / 2];
        bool new = first[i] == i;
        if (new) f->device[f->out->devices] = (struct device){.name = c->device[i % 2], .place = c->place};
        f->end[i / 2][i % 2] = new ? f->out->devices++ : f->end[first[i] / 2][first[i] % 2];
    }
}

WEFT__ORDER(by_fact, struct weft__cable_fact, WEFT__TEXT(device) ?: WEFT__UP(role))

/// The roles of devices: by the user's patterns, else by the files (a switch, if they disagree), else by their cables.
static void find_roles(struct finish *f) {
    struct weft__cable_fact *fact = f->list->fact;
    uint32_t facts = f->list->facts;
    if (facts) qsort(fact, facts, sizeof *fact, by_fact);
    for (uint32_t d = 0; d < f->out->devices; d++) {
        struct device *device = &f->device[d];
        if (*f->conf->hosts) {
            device->role = weft_glob_match(f->conf->hosts, device->name) ? WEFT__CABLE_HOST : WEFT__CABLE_SWITCH;
            continue;
        }
        uint32_t low = WEFT__FIRST_WITHOUT(
            0, facts, strcmp(fact[middle].device, device->name) <= 0); // the last fact about the device
        if (low && !strcmp(fact[low - 1].device, device->name)) device->role = fact[low - 1].role;
        if (device->role) continue;
        device->role = device->cables == 1 ? WEFT__CABLE_HOST : WEFT__CABLE_SWITCH;
        f->out->guessed++;
    }
}

// --- cables -------------------------------------------------------------------------------------------------------

static int by_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) : (a == NULL) - (b == NULL);
}

static int by_ends(const void *a, const void *b) {
    const struct joined *x = a, *y = b;
    for (uint32_t e = 0; e < 2; e++)
        if (x->device[e] != y->device[e]) return x->device[e] < y->device[e] ? -1 : 1;
    for (uint32_t e = 0; e < 2; e++) {
        int order = by_text(x->port[e], y->port[e]);
        if (order) return order;
    }
    if (x->down != y->down) return x->down ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

WEFT__ORDER(by_order, struct joined, WEFT__UP(order))

static bool is_ignored(const struct finish *f, const struct weft__cable *c) {
    for (uint32_t e = 0; e < 2; e++)
        if (c->port[e] && *f->conf->ignore && weft_glob_match(f->conf->ignore, c->port[e])) return true;
    return false;
}

/// A port by which a device that has heard its neighbours is managed: eth0 beside Ethernet0 and Ethernet4.
static bool is_management(const struct finish *f, const struct weft__cable *c) {
    static const char names[] = "eth0,mgmt*,Mgmt*,Management*,Ma1,em0,fxp0,me0", digits[] = "0123456789/";
    if (*f->conf->ignore || !c->heard || !c->port[0] || !weft_glob_match(names, c->port[0])) return false;
    size_t n = strcspn(c->port[0], digits);
    for (uint32_t i = 0; i < f->list->cables; i++) {
        const struct weft__cable *other = &f->list->cable[i];
        if (!other->heard || !other->port[0] || strcmp(other->device[0], c->device[0])) continue;
        if (strcspn(other->port[0], digits) != n || strncmp(other->port[0], c->port[0], n)) return true;
    }
    return false;
}

static enum weft_status orient_cables(struct finish *f, struct weft_error *ret_error) {
    const struct weft__cable_list *list = f->list;
    f->joined = weft_arena_alloc(list->arena, list->cables, sizeof *f->joined);
    for (uint32_t i = 0; i < list->cables; i++) {
        const struct weft__cable *c = &list->cable[i];
        const uint32_t *end = f->end[i];
        bool management = is_management(f, c);
        f->out->management += management;
        f->out->left_out += !management && is_ignored(f, c);
        if (management || is_ignored(f, c)) continue;
        if (end[0] == end[1]) return BAD(c->place, "a cable from %.60s to itself", c->device[0]);
        bool down = end[0] > end[1];
        f->joined[f->joins++] = (struct joined){{end[down], end[!down]},
                                                {c->port[down], c->port[!down]},
                                                c->rate_bps,
                                                c->delay_ps,
                                                c->place,
                                                i,
                                                down,
                                                c->heard,
                                                false};
    }
    return WEFT_OK;
}

/// Both are the same cable, reported from either end: each end knows its own port's name best.
static enum weft_status join_ends(struct finish *f, struct joined *up, struct joined *down,
                                  struct weft_error *ret_error) {
    if (up->rate_bps && down->rate_bps && up->rate_bps != down->rate_bps)
        return BAD(
            (up->order > down->order ? up : down)->place, "the speed is not that of the other end of the cable (%s:%d)",
            (up->order > down->order ? down : up)->place.file, (up->order > down->order ? down : up)->place.line);
    if (!up->rate_bps) up->rate_bps = down->rate_bps;
    if (down->delay_ps > up->delay_ps) up->delay_ps = down->delay_ps;
    up->port[1] = down->port[1] ? down->port[1] : up->port[1];
    if (down->order < up->order) up->order = down->order;
    up->done = down->done = true;
    f->out->twice++;
    return WEFT_OK;
}

/// Among cables [first, end) between two devices, finds those that both ends have reported: by the names of both ports;
/// for LLDP also the remaining ones, in the order of ports, because the two may use different names for a port.
static enum weft_status join_pair(struct finish *f, uint32_t first, uint32_t end, struct weft_error *ret_error) {
    struct joined *j = f->joined;
    enum weft_status status = WEFT_OK;
    for (uint32_t i = first + 1; i < end && !status; i++)
        if (j[i].down && !j[i - 1].down && j[i].port[0] && j[i].port[1] && !by_text(j[i].port[0], j[i - 1].port[0]) &&
            !by_text(j[i].port[1], j[i - 1].port[1]))
            status = join_ends(f, &j[i - 1], &j[i], ret_error);
    for (uint32_t up = first, down = first; !status; up++, down++) {
        while (up < end && (j[up].down || j[up].done || !j[up].heard))
            up++;
        while (down < end && (!j[down].down || j[down].done || !j[down].heard))
            down++;
        if (up >= end || down >= end) break;
        status = join_ends(f, &j[up], &j[down], ret_error);
        f->out->by_order++;
    }
    return status;
}

static enum weft_status join_cables(struct finish *f, struct weft_error *ret_error) {
    struct joined *j = f->joined;
    enum weft_status status = WEFT_OK;
    if (f->joins) qsort(j, f->joins, sizeof *j, by_ends);
    for (uint32_t i = 0, end; i < f->joins && !status; i = end) {
        for (end = i; end < f->joins && j[end].device[0] == j[i].device[0] && j[end].device[1] == j[i].device[1];)
            end++;
        status = join_pair(f, i, end, ret_error);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->joins; i++)
        if (!(j[i].down && j[i].done)) j[kept++] = j[i];
    f->joins = kept;
    if (kept) qsort(j, kept, sizeof *j, by_order);
    for (uint32_t i = 0; i < kept; i++)
        for (uint32_t e = 0; e < 2; e++)
            f->device[j[i].device[e]].cables++;
    return status;
}

struct named_port {
    uint32_t device;
    const char *port;
    struct weft_place place;
};
WEFT__ORDER(by_port, struct named_port, WEFT__UP(device) ?: WEFT__TEXT(port) ?: WEFT__UP(place.line))

/// A port of a switch has one cable, even if its name is not valid in weft ("1/1"). Several ports heard by LLDP may
/// have the same name (a bond's address).
static enum weft_status check_ports(struct finish *f, struct weft_error *ret_error) {
    struct named_port *port = weft_arena_alloc(f->list->arena, 2 * (size_t)f->joins, sizeof *port);
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->joins; i++)
        for (uint32_t e = 0; e < 2; e++) {
            const struct joined *j = &f->joined[i];
            if (j->heard || !j->port[e] || f->device[j->device[e]].role == WEFT__CABLE_HOST ||
                weft__topology_port_name_is_good(j->port[e]))
                continue;
            port[n++] = (struct named_port){j->device[e], j->port[e], j->place};
        }
    if (n) qsort(port, n, sizeof *port, by_port);
    for (uint32_t i = 1; i < n; i++)
        if (port[i].device == port[i - 1].device && !strcmp(port[i].port, port[i - 1].port))
            return BAD(port[i].place, "a second port %.60s at %.60s (the first is on line %d)", port[i].port,
                       f->device[port[i].device].name, port[i - 1].place.line);
    return WEFT_OK;
}

// --- the graph ----------------------------------------------------------------------------------------------------

static void add_node(struct finish *f, const struct device *d, const char *name) {
    struct weft__file_graph *g = &f->out->graph;
    bool host = d->role == WEFT__CABLE_HOST;
    if (!weft__topology_node_name_is_good(name)) {
        name = weft_arena_format(f->list->arena, "%s-%" PRIu32, host ? "host" : "switch", g->nodes);
        f->out->renamed++;
    }
    const char *layer = host ? "host" : "switch";
    bool is_device = host && !weft__topology_device_length(d->name);
    g->node[g->nodes++] = (struct weft__file_node){name, layer, host, d->place, is_device ? d->name : NULL};
}

/// Whether each cable of the device has a host of its own.
static bool has_own_hosts(const struct finish *f, const struct device *d) {
    return d->role == WEFT__CABLE_HOST && d->cables > 1 && !f->conf->planes;
}

/// Adds a node for each switch, and one for each cable of a host: server-1, or server-1.eth0 and server-1.eth1.
static void add_nodes(struct finish *f) {
    uint32_t *seen = weft_arena_alloc(f->list->arena, f->out->devices, sizeof *seen), nodes = 0;
    for (uint32_t d = 0; d < f->out->devices; d++) {
        f->device[d].node = nodes;
        nodes += !f->device[d].cables ? 0 : has_own_hosts(f, &f->device[d]) ? f->device[d].cables : 1;
    }
    f->out->graph.node = weft_arena_alloc(f->list->arena, nodes, sizeof *f->out->graph.node);
    const char **name = weft_arena_alloc(f->list->arena, nodes, sizeof *name);
    for (uint32_t i = 0; i < f->joins; i++)
        for (uint32_t e = 0; e < 2; e++) {
            const struct device *d = &f->device[f->joined[i].device[e]];
            if (!has_own_hosts(f, d)) continue;
            uint32_t k = seen[d - f->device]++;
            const char *port = f->joined[i].port[e];
            name[d->node + k] = port ? weft_arena_format(f->list->arena, "%s.%s", d->name, port)
                                     : weft_arena_format(f->list->arena, "%s.%" PRIu32, d->name, k);
        }
    for (uint32_t d = 0; d < f->out->devices; d++) {
        bool split = has_own_hosts(f, &f->device[d]);
        f->out->split += split;
        for (uint32_t k = 0; k < (split ? f->device[d].cables : f->device[d].cables > 0); k++)
            add_node(f, &f->device[d], split ? name[f->device[d].node + k] : f->device[d].name);
    }
}

static const char *port_name(struct finish *f, const struct device *d, const char *port) {
    if (d->role == WEFT__CABLE_HOST || !port) return NULL;
    if (weft__topology_port_name_is_good(port)) return port;
    f->out->unnamed++;
    return NULL;
}

static void add_links(struct finish *f) {
    struct weft__file_graph *g = &f->out->graph;
    g->link = weft_arena_alloc(f->list->arena, f->joins, sizeof *g->link);
    for (; g->links < f->joins; g->links++) {
        const struct joined *j = &f->joined[g->links];
        struct weft__file_link *l = &g->link[g->links];
        *l = (struct weft__file_link){.rate_bps = j->rate_bps ? j->rate_bps : f->conf->rate_bps,
                                      .delay_ps = j->delay_ps ? j->delay_ps : f->conf->delay_ps,
                                      .place = j->place};
        for (uint32_t e = 0; e < 2; e++) {
            struct device *d = &f->device[j->device[e]];
            l->port[e] = port_name(f, d, j->port[e]);
            l->end[e] = has_own_hosts(f, d) ? d->node++ : d->node;
        }
        f->out->unrated += !j->rate_bps;
        f->out->undelayed += !j->delay_ps;
    }
}

/// Neighbours name a switch and its port; of a switch with several ASICs the port says which one it is.
static void find_asics(const struct weft__cable_list *list) {
    for (uint32_t i = 0; i < list->cables; i++)
        for (uint32_t k = 0; k < list->cables && list->cable[i].chassis; k++) {
            struct weft__cable *asic = &list->cable[i], *c = &list->cable[k];
            if (c->port[1] && !strcmp(c->device[1], asic->chassis) && !strcmp(c->port[1], asic->port[0]))
                c->device[1] = asic->device[0];
        }
}

enum weft_status weft__cables_finish(const struct weft__cable_list *list, const struct weft__cables_conf *conf,
                                     struct weft__cables *ret_cables, struct weft_error *ret_error) {
    struct finish f = {.list = list, .conf = conf, .out = ret_cables};
    *ret_cables = (struct weft__cables){0};
    if (!list->cables) return WEFT_OK;
    find_asics(list);
    number_devices(&f);
    enum weft_status status = orient_cables(&f, ret_error);
    if (!status) status = join_cables(&f, ret_error);
    if (status) return status;
    find_roles(&f);
    WEFT_TRY(check_ports(&f, ret_error));
    add_nodes(&f);
    add_links(&f);
    return WEFT_OK;
}
