// SPDX-License-Identifier: Apache-2.0
// The section `link`: cables of links by class (hardware/). A link that is given no delay by the topology has that of
// its cable: length x delay by metre, a module at each end, and PHY and FEC by its rate, the class of kind phy with
// that rate or the next below. Lengths that the user does not give are those that SONiC plans buffers for
// (files/build_templates/buffers_config.j2: server to ToR 5 m, ToR to leaf 40 m, leaf to spine 300 m), or of the
// blueprint; a cable of a host that is shorter than that is as long as its kind can be.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "base/tree.h"
#include "base/units.h"
#include "scenario/scenario.h"
#include "weft/hardware.h"
#include "weft/param.h"

#define LINK_ROWS(which, key, links)                                                                                   \
    WEFT_TEXT(struct weft_link_conf, cable[which], key "_cable", "",                                                   \
              "class of the cables of " links "; empty: cable"),                                                       \
        WEFT_TEXT(struct weft_link_conf, length[which], key "_length", "",                                             \
                  "their length, 2m; empty: length, or as the class or a fleet has it",                                \
                  .needs = "cable or " key "_cable")

const struct weft_param_table weft_link_table = WEFT_PARAM_TABLE_OF(
    "link", struct weft_link_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TEXT(struct weft_link_conf, cable[WEFT_LINK_ANY], "cable", WEFT_HARDWARE_CABLE_DEFAULT,
              "class of the cables of all links, dac, or dac_2m with its length (weft models hardware), or the file of "
              "one (./mine.yaml); ideal: delays as the topology says"),
    WEFT_TEXT(struct weft_link_conf, length[WEFT_LINK_ANY], "length", "",
              "of the cables of all links, 2m; empty: as the class says, else 5m to hosts, 40m to the switches next to "
              "these, 300m above (SONiC's buffer templates)",
              .needs = "cable or host_cable or leaf_cable or spine_cable"),
    WEFT_TEXT(
        struct weft_link_conf, phy, "phy", "by_rate",
        "class of PHY and FEC, which delay each link with a cable; by_rate: that of the link's rate; none: no such "
        "delay, as where latencies of chips and NICs are figures from port to port that have it in them"),
    LINK_ROWS(WEFT_LINK_HOST, "host", "links of hosts"),
    LINK_ROWS(WEFT_LINK_LEAF, "leaf", "links above the switches next to hosts"),
    LINK_ROWS(WEFT_LINK_SPINE, "spine", "links above these"));

static const char *const prefixes[] = {"", "host_", "leaf_", "spine_"};
static const double fleet_m[WEFT_LINK_WHICH] = {0, 5, 40, 300};

/// A class of cables, as one key of the section names it.
struct cable {
    const char *name; ///< as written; NULL: ideal
    const struct weft_hardware *of;
    struct weft_place place;
    double metres; ///< NAN: not given
};

struct lay {
    const struct weft_scenario *scenario;
    struct weft_topology *t;
    struct weft_arena *arena;
    struct weft_error *error;
    struct cable cable[WEFT_LINK_WHICH];
    double fleet_m[WEFT_LINK_WHICH];  ///< lengths that nobody gives
    const struct weft_hardware **phy; ///< those with a delay
    uint32_t phys;
};

static struct weft_place place_of(const struct weft_scenario *s, const char *prefix, const char *key) {
    char name[32];
    snprintf(name, sizeof name, "%s%s", prefix, key);
    const struct weft_tree *value = weft_tree_find(s->link_tree, name);
    return value ? value->place : s->link_tree ? s->link_tree->place : s->topology.place;
}

/// "2m", "2.5m" or "2"; NAN: anything else.
static double metres_of(const char *text) {
    char *end;
    double metres = strtod(text, &end);
    bool good = end != text && (!*end || !strcmp(end, "m")) && metres >= 0 && metres <= 200000;
    return good ? metres : NAN;
}

/// A class that does not say how long a link delays cannot delay one.
static enum weft_status require_value(const struct lay *l, const struct weft_hardware *h, const char *key,
                                      struct weft_place place, const char *path) {
    if (weft_hardware_value(h, key)) return WEFT_OK;
    return WEFT_REFUSE(l->error, place, "%s: %s has no %s; expected a class that says it", path, h->name, key);
}

/// Splits "dac_2m" unless a class has that name.
static const char *class_of(const char *name, struct weft_arena *arena, double *ret_metres) {
    const char *line = strrchr(name, '_');
    bool unit = *name && name[strlen(name) - 1] == 'm';
    for (uint32_t i = 0; i < weft_hardware_count(); i++)
        if (!strcmp(weft_hardware_name(i), name)) return name;
    if (!line || !unit || weft_hardware_is_file(name) || isnan(metres_of(line + 1))) return name;
    *ret_metres = metres_of(line + 1);
    return weft_arena_format(arena, "%.*s", (int)(line - name), name);
}

static enum weft_status read_length(struct lay *l, const char *text, struct weft_place place, double *metres) {
    if (!*text) return WEFT_OK;
    *metres = metres_of(text);
    if (!isnan(*metres)) return WEFT_OK;
    return WEFT_REFUSE(l->error, place, "length of a cable: '%.40s'; expected metres, as in 2m", text);
}

static enum weft_status read_cable(struct lay *l, const char *name, struct weft_place place, const char *path,
                                   struct cable *ret) {
    *ret = (struct cable){.place = place, .metres = NAN};
    if (!strcmp(name, WEFT_HARDWARE_IDEAL)) return WEFT_OK;
    const char *own = class_of(name, l->arena, &ret->metres);
    ret->name = name;
    enum weft_status status = weft_hardware_find(WEFT_HARDWARE_CABLE, own, place, path, l->arena, &ret->of, l->error);
    if (!status) status = require_value(l, ret->of, "delay_per_metre", place, path);
    const struct weft_hardware_value *length = weft_hardware_value(ret->of, "length");
    if (length && isnan(ret->metres)) ret->metres = metres_of(length->typical);
    return status;
}

static enum weft_status read_section(struct lay *l) {
    const struct weft_link_conf *c = &l->scenario->link;
    for (uint32_t k = 0; k < WEFT_LINK_WHICH; k++) {
        char path[48];
        struct cable *cable = &l->cable[k];
        *cable = l->cable[WEFT_LINK_ANY];
        snprintf(path, sizeof path, "link.%scable", prefixes[k]);
        if (*c->cable[k])
            WEFT_TRY(read_cable(l, c->cable[k], place_of(l->scenario, prefixes[k], "cable"), path, cable));
        WEFT_TRY(read_length(l, c->length[k], place_of(l->scenario, prefixes[k], "length"), &cable->metres));
    }
    return WEFT_OK;
}

/// The classes of PHYs that a link may have: the one that is named, or those from which its rate chooses.
static enum weft_status find_phys(struct lay *l) {
    const char *name = l->scenario->link.phy;
    l->phy = weft_arena_alloc(l->arena, weft_hardware_count() + 1, sizeof(struct weft_hardware *));
    if (!strcmp(name, "none")) return WEFT_OK;
    if (strcmp(name, "by_rate") != 0) {
        l->phys = 1;
        struct weft_place place = place_of(l->scenario, "", "phy");
        enum weft_status status =
            weft_hardware_find(WEFT_HARDWARE_PHY, name, place, "link.phy", l->arena, &l->phy[0], l->error);
        return status ? status : require_value(l, l->phy[0], "fec_delay", place, "link.phy");
    }
    for (uint32_t i = 0; i < weft_hardware_count(); i++) {
        const struct weft_hardware *h = weft_hardware_at(i, l->arena);
        if (h->kind == WEFT_HARDWARE_PHY && weft_hardware_value(h, "fec_delay")) l->phy[l->phys++] = h;
    }
    return WEFT_OK;
}

/// Delay of PHY and FEC of a link: of the class with its rate, or the next below; of the slowest if all are above.
static double phy_delay(const struct lay *l, double rate) {
    const struct weft_hardware *best = NULL;
    double best_rate = 0;
    for (uint32_t i = 0; i < l->phys; i++) {
        double own = weft_hardware_number(l->phy[i], "rate", 0);
        bool closer = own <= rate ? own > best_rate || best_rate > rate : best_rate > rate && own < best_rate;
        if (best && !closer) continue;
        best = l->phy[i];
        best_rate = own;
    }
    return best ? weft_hardware_number(best, "fec_delay", 0) : 0;
}

/// The longest that such cables are made for a rate: the high end of the band.
static double longest_of(const struct weft_hardware *h, double rate) {
    const struct weft_hardware_value *v = weft_hardware_value(h, "length_max"), *fast = NULL;
    if (rate > 100e9) fast = weft_hardware_value(h, "length_max_400g");
    if (fast) v = fast;
    if (rate > 400e9) fast = weft_hardware_value(h, "length_max_800g");
    if (fast) v = fast;
    return !v ? INFINITY : isnan(v->high_number) ? v->number : v->high_number;
}

static bool carries_rate(const struct weft_hardware *h, double rate) {
    return rate <= weft_hardware_number(h, "port_rate", weft_hardware_number(h, "rate", INFINITY));
}

/// The cable of the link cannot be so long, or be so fast.
static enum weft_status fail_cable(const struct lay *l, const struct cable *c, uint32_t link, double metres) {
    const struct weft_topology *t = l->t;
    const struct weft_link_info *info = &t->link[link];
    double rate = (double)info->rate_bps / info->members;
    char able[256], rate_text[40], a[160], b[160];
    const char **names = weft_arena_alloc(l->arena, weft_hardware_count(), sizeof *names);
    uint32_t n = 0;
    for (uint32_t i = 0; i < weft_hardware_count(); i++) {
        const struct weft_hardware *h = weft_hardware_at(i, l->arena);
        if (h->kind == WEFT_HARDWARE_CABLE && metres <= longest_of(h, rate) && carries_rate(h, rate))
            names[n++] = h->name;
    }
    weft__names_join(names, n, able, sizeof able);
    weft_format_rate((weft_rate_bps)rate, rate_text, sizeof rate_text);
    weft_topology_port_name(t, info->port[0], a, sizeof a);
    weft_topology_port_name(t, info->port[1], b, sizeof b);
    if (!carries_rate(c->of, rate))
        return WEFT_REFUSE(l->error, c->place, "cable %s cannot do the %s of %s--%s; expected one that can: %s",
                           c->name, rate_text, a, b, n ? able : "none does");
    return WEFT_REFUSE(
        l->error, c->place,
        "cable %s is made up to %g m at %s, and the link %s--%s is %g m long; expected a shorter length, "
        "or a kind that can: %s",
        c->name, longest_of(c->of, rate), rate_text, a, b, metres, n ? able : "none does");
}

static enum weft_link_which which_of(const struct weft_topology *t, const struct weft_link_info *info) {
    const struct weft_node_info *a = &t->node[t->port[info->port[0]].node], *b = &t->node[t->port[info->port[1]].node];
    if (a->role == WEFT_NODE_HOST || b->role == WEFT_NODE_HOST) return WEFT_LINK_HOST;
    return a->tier <= 1 || b->tier <= 1 ? WEFT_LINK_LEAF : WEFT_LINK_SPINE;
}

static enum weft_status lay_cable(struct lay *l, uint32_t link, const struct cable *c, enum weft_link_which which) {
    struct weft_link_info *info = &l->t->link[link];
    double rate = (double)info->rate_bps / info->members, longest = longest_of(c->of, rate), metres = c->metres;
    if (isnan(metres)) metres = which == WEFT_LINK_HOST ? fmin(l->fleet_m[which], longest) : l->fleet_m[which];
    if (metres > longest || !carries_rate(c->of, rate)) return fail_cable(l, c, link, metres);
    double delay = metres * weft_hardware_number(c->of, "delay_per_metre", 0) +
                   2 * weft_hardware_number(c->of, "end_delay", 0) + phy_delay(l, rate);
    info->delay_ps = delay < 1 ? 1 : (weft_time_ps)llround(delay);
    info->cable = c->name;
    return WEFT_OK;
}

// --- which links have no delay of their own -----------------------------------------------------------------------

/// Whether a key of the topology is of the solver of a blueprint, which computes delays from lengths.
static bool is_solved(const struct lay *l, const struct weft_tree *value) {
    return l->scenario->fabric.model && value->place.file && !strcmp(value->place.file, "fabric");
}

/// A delay of a kind of topology a little longer; NULL: the user gives it, or it is as another.
static struct weft_tree *longer_delay(const struct lay *l, const struct weft_param *row, const struct weft_tree *tree) {
    const struct weft_tree *said = weft_tree_find(tree, row->name);
    struct weft_param own = *row;
    weft_time_ps delay = 0;
    own.offset = 0;
    if (said && !is_solved(l, said)) return NULL;
    const char *text = said ? said->text : row->dflt;
    if (weft__param_parse_at(&own, text, WEFT_NOWHERE, row->name, &delay, l->arena, NULL) || !delay) return NULL;
    struct weft_tree *child = weft_arena_alloc(l->arena, 1, sizeof *child);
    *child = (struct weft_tree){.type = WEFT_TREE_TEXT, .key = row->name};
    delay += delay < WEFT_PS_PER_S ? 1 : (weft_time_ps)-1;
    child->text = weft_arena_format(l->arena, "%" PRIu64 "ps", delay);
    return child;
}

/// Every delay that the user does not give, of a topology and of those within it, a little longer.
static struct weft_tree *longer_delays(const struct lay *l, const struct weft_tree *tree) {
    const struct weft_tree *kind = tree->type == WEFT_TREE_TEXT ? tree : weft_tree_find(tree, "kind");
    const struct weft_tree *within = weft_tree_find(tree, "networks");
    const struct weft_model *model = kind ? weft_model_find(WEFT_KIND_TOPOLOGY, kind->text ? kind->text : "") : NULL;
    const struct weft_param_table *table = model ? model->params : &weft_no_params;
    struct weft_tree *map = weft_arena_alloc(l->arena, 1, sizeof *map);
    *map = (struct weft_tree){.type = WEFT_TREE_MAP, .key = tree->key};
    map->child = weft_arena_alloc(l->arena, table->n + tree->n + 1, sizeof *map->child);
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i];
        size_t n = strlen(row->name);
        bool delays = row->type == WEFT_PARAM_TIME && n >= 5 && !strcmp(row->name + n - 5, "delay");
        struct weft_tree *child = delays ? longer_delay(l, row, tree) : NULL;
        if (child) map->child[map->n++] = child;
    }
    for (uint32_t i = 0; !model && i < tree->n; i++) // a map of networks
        map->child[map->n++] = longer_delays(l, tree->child[i]);
    if (model && within) map->child[map->n++] = longer_delays(l, within);
    return map;
}

/// The same network with these; NULL: it cannot be built.
static const struct weft_topology *build_longer(const struct lay *l) {
    const struct weft_tree *tree = l->scenario->topology_tree;
    struct weft_tree *longer;
    struct weft_model_conf model;
    struct weft_topology *t = NULL;
    if (!weft_tree_override(tree, longer_delays(l, tree), l->arena, &longer, NULL) &&
        !weft__model_load_at(WEFT_KIND_TOPOLOGY, NULL, longer, "topology", &model, l->arena, NULL))
        weft_topology_new(&model, longer, NULL, l->arena, &t, NULL);
    return t;
}

/// The entries of a topology that lists its links, by link; NULL: it does not.
static const struct weft_tree **list_entries(const struct lay *l) {
    const struct weft_tree *list = weft_tree_find(l->scenario->topology_tree, "links");
    if (strcmp(l->scenario->topology.model->name, "list") != 0 || !list) return NULL;
    const struct weft_tree **entry = weft_arena_alloc(l->arena, l->t->links, sizeof(struct weft_tree *));
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const char *count = weft__tree_text(list->child[i], "count");
        for (unsigned long k = 0; k < (count ? strtoul(count, NULL, 10) : 1) && n < l->t->links; k++)
            entry[n++] = list->child[i];
    }
    return entry;
}

/// The cable that an entry names, over the section's.
static enum weft_status read_entry(struct lay *l, const struct weft_tree *entry, struct cable *c) {
    const struct weft_tree *cable = weft_tree_find(entry, "cable"), *length = weft_tree_find(entry, "length");
    if (cable && cable->text && *cable->text)
        WEFT_TRY(read_cable(l, cable->text, cable->place, "topology.links.cable", c));
    if (length && length->text) WEFT_TRY(read_length(l, length->text, length->place, &c->metres));
    return WEFT_OK;
}

static enum weft_status lay_cables(struct lay *l) {
    struct weft_topology *t = l->t;
    const struct weft_topology *longer = build_longer(l);
    const struct weft_tree **entry = list_entries(l);
    enum weft_status status = read_section(l);
    uint32_t laid = 0;
    if (!status) status = find_phys(l);
    for (uint32_t i = 0; i < t->links && !status; i++) {
        enum weft_link_which which = which_of(t, &t->link[i]);
        struct cable c = l->cable[which];
        bool own = entry ? weft_tree_find(entry[i], "delay") || t->link[i].delay_ps != WEFT_LIST_DELAY_PS
                         : !longer || longer->link[i].delay_ps == t->link[i].delay_ps;
        const struct weft_port_info *end = &t->port[t->link[i].port[0]], *peer = &t->port[end->peer];
        bool backplane = weft_node_is_flat(&t->node[end->node]) && weft_node_is_flat(&t->node[peer->node]);
        if (entry) status = read_entry(l, entry[i], &c);
        if (own || backplane || !c.name || status) continue;
        status = lay_cable(l, i, &c, which);
        laid++;
    }
    if (status || laid) return status;
    return WEFT_REFUSE(
        l->error, place_of(l->scenario, "", "cable"),
        "link: has no effect, for the topology gives every such link a delay; expected it without delays");
}

/// Whether the section, or an entry of a list of links, names a cable.
static bool has_cables(const struct weft_scenario *s) {
    const struct weft_tree *list = weft_tree_find(s->topology_tree, "links");
    bool has = strcmp(s->link.cable[WEFT_LINK_ANY], WEFT_HARDWARE_IDEAL) != 0;
    for (uint32_t k = WEFT_LINK_HOST; k < WEFT_LINK_WHICH; k++)
        has |= *s->link.cable[k] && strcmp(s->link.cable[k], WEFT_HARDWARE_IDEAL) != 0;
    for (uint32_t i = 0; list && i < list->n; i++)
        has |= weft_tree_find(list->child[i], "cable") != NULL;
    return has;
}

/// A PHY delays links that have a cable: without one it is a slip, unless cables are off by name.
static enum weft_status check_phy(const struct weft_scenario *s, struct weft_error *ret_error) {
    bool named = !weft__tree_section(s->link_tree, "phy");
    for (uint32_t k = 0; k < WEFT_LINK_WHICH && !named; k++) {
        char key[32];
        snprintf(key, sizeof key, "%scable", prefixes[k]);
        named = weft__tree_section(s->link_tree, key);
    }
    if (named) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place_of(s, "", "phy"),
                       "link.phy: has no effect on links without a cable; expected link.cable to be set too");
}

enum weft_status weft_scenario_topology(const struct weft_scenario *s, struct weft_arena *arena,
                                        struct weft_topology **ret_topology, struct weft_error *ret_error) {
    enum weft_status status =
        weft_topology_new(&s->topology, s->topology_tree, s->events_tree, arena, ret_topology, ret_error);
    if (status || !has_cables(s)) return status ? status : check_phy(s, ret_error);
    struct lay l = {.scenario = s, .t = *ret_topology, .error = ret_error};
    const struct weft_blueprint_conf *fabric = s->fabric.conf;
    memcpy(l.fleet_m, fabric ? (const double[]){0, fabric->host_m, fabric->leaf_m, fabric->spine_m} : fleet_m,
           sizeof l.fleet_m);
    l.arena = weft_arena_new(WEFT_MEMORY_TOPOLOGY);
    status = lay_cables(&l);
    weft_arena_free(l.arena);
    return status;
}
