// SPDX-License-Identifier: Apache-2.0
// Expands a scenario with a fabric: the solver's values go below those of the file.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "base/stream.h"
#include "base/tree.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "weft/hardware.h"
#include "weft/param.h"
#include "weft/plan.h"

enum { MTU_BYTES = 4096 };

struct expand {
    const struct weft_tree *root;
    const struct weft_blueprint_conf *conf;
    struct weft_fabric_plan *plan;
    struct weft_arena *arena;
    struct weft_error *error;
    const struct weft_hardware *class_of[WEFT_FABRIC_LAYERS_MAX + 1]; ///< of layers, then of the NIC; NULL: ideal
};

enum weft_status weft_fabric_load(const struct weft_tree *root, struct weft_arena *arena,
                                  struct weft_model_conf *ret_fabric, struct weft_error *ret_error) {
    const struct weft_tree *tree = weft__tree_section(root, "fabric");
    *ret_fabric = (struct weft_model_conf){0};
    if (!tree) return WEFT_OK;
    return weft__model_load_at(WEFT_KIND_FABRIC, NULL, tree, "fabric", ret_fabric, arena, ret_error);
}

static bool read_processing(const struct weft_tree *map, weft_time_ps *ps) {
    const struct weft_tree *tree = weft__tree_section(weft__tree_section(map, "switch"), "processing");
    char why[128];
    return tree && tree->type == WEFT_TREE_TEXT && weft__quantity_parse(WEFT__TIME, tree->text, ps, why, sizeof why);
}

/// Finds the classes of the layers' parts and of the NIC, if the devices are to be as their parts.
static enum weft_status find_classes(struct expand *e) {
    const struct weft_tree *fabric = weft__tree_section(e->root, "fabric");
    for (uint32_t i = 0; i <= e->plan->layers; i++) {
        const struct weft_fabric_part *part = i < e->plan->layers ? e->plan->layer[i].part : &e->conf->nic;
        if (e->conf->chips == WEFT__CHIPS_LISTED && *part->class_name)
            WEFT_TRY(weft_hardware_find(WEFT_HARDWARE_KINDS, part->class_name, fabric->place, "fabric", e->arena,
                                        &e->class_of[i], e->error));
    }
    return WEFT_OK;
}

/// The class of a layer's chips if it is one of switches; NULL: it is not, or they are ideal.
static const struct weft_hardware *chip_of(const struct expand *e, const struct weft_fabric_layer *layer) {
    const struct weft_hardware *h = e->class_of[layer - e->plan->layer];
    return h && h->kind == WEFT_HARDWARE_CHIP ? h : NULL;
}

/// The class of switches whose parts do not say theirs: that of the section, else the default one; NULL: ideal.
static const struct weft_hardware *usual_chip(const struct expand *e) {
    const struct weft_tree *chip = weft__tree_section(weft__tree_section(e->root, "switch"), "chip");
    const struct weft_tree *all = weft__tree_section(e->root, "hardware");
    const char *name = chip && chip->text ? chip->text : all && all->text ? all->text : WEFT_HARDWARE_CHIP_DEFAULT;
    const struct weft_hardware *h = NULL;
    if (!strcmp(name, "typical")) name = WEFT_HARDWARE_CHIP_DEFAULT;
    if (strcmp(name, WEFT_HARDWARE_IDEAL) != 0)
        weft_hardware_find(WEFT_HARDWARE_CHIP, name, WEFT_NOWHERE, "switch.chip", e->arena, &h, NULL);
    return h;
}

/// The time from the last bit of a frame to its queue in a switch of this layer, without entries of `devices`.
static weft_time_ps own_processing(const struct expand *e, const struct weft_fabric_layer *layer) {
    weft_time_ps ps = 300 * WEFT_PS_PER_NS;
    const struct weft_hardware *h = chip_of(e, layer);
    ps = (weft_time_ps)weft_hardware_number(h ? h : usual_chip(e), "processing", (double)ps);
    read_processing(e->root, &ps);
    return ps;
}

/// The longest such time of all layers.
static weft_time_ps switch_processing(const struct expand *e) {
    weft_time_ps most = 0;
    for (uint32_t i = 0; i < e->plan->layers; i++) {
        weft_time_ps ps = own_processing(e, &e->plan->layer[i]);
        if (ps > most) most = ps;
    }
    return most;
}

/// The pattern of an entry of `devices`; "" if it has none.
static const char *pattern_of(const struct weft_tree *entry) {
    const char *match = weft__tree_text(entry, "match");
    return match ? match : "";
}

/// The same for a switch of this layer, for which the file's `devices` may set another time.
static weft_time_ps processing_at(const struct expand *e, const struct weft_fabric_layer *layer) {
    const struct weft_tree *own = weft__tree_section(e->root, "devices");
    const char *node = weft_arena_format(e->arena, "%s-0", layer->name);
    weft_time_ps ps = own_processing(e, layer);
    for (uint32_t i = 0; own && own->type == WEFT_TREE_LIST && i < own->n; i++)
        if (weft_glob_match(pattern_of(own->child[i]), node)) read_processing(own->child[i], &ps);
    return ps;
}

// --- settings -----------------------------------------------------------------------------------------------------

/// The round trip of a minimum frame over the longest path, switches included.
static double round_trip_ps(const struct expand *e) {
    return 2 * ((double)e->plan->way_ps + (double)e->plan->switches * (double)switch_processing(e));
}

/// "400KB per 100Gbps", "2 round_trips", "1 bdp": evaluates a quantity for the fabric at hand. False: it is not such a
/// quantity.
static bool evaluate_quantity(const struct expand *e, const char *text, char *ret, size_t size) {
    char number[64], unit[32], why[128];
    uint64_t value;
    int end = 0;
    if (sscanf(text, "%63s per 100Gbps%n", number, &end) == 1 && end && !text[end]) {
        static const enum weft__quantity kinds[] = {WEFT__BYTES, WEFT__RATE};
        for (unsigned i = 0; i < 2; i++) {
            if (!weft__quantity_parse(kinds[i], number, &value, why, sizeof why)) continue;
            double scaled = (double)value * (double)e->conf->rate_bps / 100e9;
            return weft__quantity_format(kinds[i], (uint64_t)llround(scaled), ret, size) > 0;
        }
        return false;
    }
    double factor;
    if (sscanf(text, "%63s %31s%n", number, unit, &end) != 2 || text[end] || !weft__real_parse(number, &factor) ||
        factor < 0 || factor > 1e6)
        return false;
    double ps = factor * round_trip_ps(e);
    if (!strcmp(unit, "round_trips")) return weft__quantity_format(WEFT__TIME, (uint64_t)llround(ps), ret, size) > 0;
    if (strcmp(unit, "bdp")) return false;
    double bytes = ps * 1e-12 * (double)e->conf->rate_bps / 8;
    return weft__quantity_format(WEFT__BYTES, (uint64_t)llround(bytes), ret, size) > 0;
}

/// Adds a text child to a map.
static struct weft_tree *text_child(const struct expand *e, const char *key, const char *text,
                                    struct weft_place place) {
    struct weft_tree *child = weft_arena_alloc(e->arena, 1, sizeof *child);
    *child = (struct weft_tree){.type = WEFT_TREE_TEXT, .place = place, .key_place = place};
    child->key = weft_arena_text(e->arena, key);
    child->text = weft_arena_text(e->arena, text);
    return child;
}

/// Lays an entry of settings, with values in force, over what is there.
static enum weft_status set_entry(const struct expand *e, const struct weft_tree *entry, struct weft_tree **root) {
    if (entry->type != WEFT_TREE_MAP)
        return WEFT_REFUSE(e->error, entry->place,
                           "fabric.settings: expected a path and its value, such as {switch.aqm.min: 400KB per "
                           "100Gbps}");
    struct weft_tree map = *entry;
    map.child = weft_arena_alloc(e->arena, entry->n, sizeof *map.child);
    for (uint32_t i = 0; i < entry->n; i++) {
        const struct weft_tree *child = entry->child[i];
        char value[64];
        if (child->type != WEFT_TREE_TEXT || !evaluate_quantity(e, child->text, value, sizeof value))
            return WEFT_REFUSE(e->error, child->place,
                               "fabric.settings: %.80s: expected a quantity of the fabric, such as \"400KB per "
                               "100Gbps\", \"2 round_trips\" or \"1 bdp\"",
                               child->key);
        map.child[i] = text_child(e, child->key, value, child->place);
    }
    return weft_tree_override(*root, &map, e->arena, root, e->error);
}

/// Lays the fabric's list `settings` over the solver's values.
static enum weft_status set_all(const struct expand *e, struct weft_tree **root) {
    const struct weft_tree *list = weft__tree_section(weft__tree_section(e->root, "fabric"), "settings");
    if (!list) return WEFT_OK;
    if (list->type != WEFT_TREE_LIST) return WEFT_REFUSE(e->error, list->place, "fabric.settings: expected a list");
    for (uint32_t i = 0; i < list->n; i++)
        WEFT_TRY(set_entry(e, list->child[i], root));
    return WEFT_OK;
}

// --- buffers ------------------------------------------------------------------------------------------------------

static bool is_lossless(const struct expand *e) {
    const struct weft_tree *tree =
        weft__tree_section(weft__tree_section(weft__tree_section(e->root, "switch"), "pfc"), "priorities");
    return !tree || tree->type != WEFT_TREE_TEXT || strcmp(tree->text, "none") != 0;
}

/// For the longest cable of the fabric, so that it suffices for all.
static weft_bytes most_headroom(const struct expand *e, const struct weft_fabric_layer *layer) {
    const struct weft_fabric_plan *p = e->plan;
    weft_bytes most = 0, cell = (weft_bytes)weft_hardware_number(chip_of(e, layer), "buffer.cell", 0);
    for (uint32_t i = 0; i < p->cables; i++) {
        struct weft_plan_pfc_conf conf = {.rate_bps = p->cable[i].rate_bps,
                                          .delay_ps = weft__fabric_delay(e->conf, p->cable[i].metres),
                                          .processing_ps = processing_at(e, layer),
                                          .reaction_ps = WEFT_TIME_NEVER,
                                          .mtu_bytes = MTU_BYTES,
                                          .held_cell_bytes = cell,
                                          .formula = WEFT_PLAN_BOUND};
        weft_bytes bytes = weft_plan_calc_pfc(&conf).headroom_bytes;
        if (bytes > most) most = bytes;
    }
    return most;
}

/// Packet memory of a chip: shared, with thresholds that follow the free memory, or partitioned.
static void say_buffer(const struct expand *e, FILE *file, const struct weft_fabric_layer *layer) {
    weft_bytes room = is_lossless(e) ? most_headroom(e, layer) : 0, total = layer->part->buffer_bytes;
    if (!layer->part->partitioned) {
        fprintf(file, "{kind: dynamic, total: %lluB, headroom: %lluB}", (unsigned long long)total,
                (unsigned long long)room);
        return;
    }
    weft_bytes size = total / (layer->ports_max ? layer->ports_max : layer->ports);
    weft_bytes xoff = size > 2 * room ? size - room : size / 2, step = xoff / 20;
    fprintf(file, "{kind: static, size: %lluB, xoff: %lluB, xon: %lluB}", (unsigned long long)size,
            (unsigned long long)xoff, (unsigned long long)(xoff - step));
}

/// Section `switch` of a layer's devices: the chip, if they are to be as their parts, and the buffer.
static void say_switch(const struct expand *e, FILE *file, const struct weft_fabric_layer *layer) {
    bool chip = chip_of(e, layer), buffer = layer->part->buffer_bytes;
    if (chip || buffer) fputs("switch: {", file);
    if (chip) fprintf(file, "chip: \"%s\"%s", layer->part->class_name, buffer ? ", " : "");
    if (buffer) fputs("buffer: ", file), say_buffer(e, file, layer);
    if (chip || buffer) fputs("}\n", file);
}

/// Sections of nodes that are no switches, and of hosts, each with the class of the first part of its kind.
static void say_classes(const struct expand *e, FILE *file) {
    bool said[WEFT_HARDWARE_KINDS] = {[WEFT_HARDWARE_CHIP] = true};
    for (uint32_t i = 0; i <= e->plan->layers; i++) {
        const struct weft_hardware *h = e->class_of[i];
        if (!h || said[h->kind]) continue;
        said[h->kind] = true;
        fprintf(file, "%s: {%s: \"%s\"}\n", weft_hardware_kind_section(h->kind), weft_hardware_kind_row(h->kind),
                i < e->plan->layers ? e->plan->layer[i].part->class_name : e->conf->nic.class_name);
    }
}

/// The sections that the solver writes: the topology, the chip and buffer of the lowest layer for all switches, and
/// entries of `devices` for layers with others.
static const char *solved_text(const struct expand *e) {
    WEFT__TEXT_STREAM(stream, file);
    const struct weft_fabric_layer *layer = e->plan->layer;
    fprintf(file, "topology: %s\n", e->plan->topology);
    if (e->plan->layers) say_switch(e, file, &layer[0]); // a torus buys none
    say_classes(e, file);
    bool any = false;
    for (uint32_t i = 1; i < e->plan->layers; i++) {
        bool own = layer[i].part->buffer_bytes || chip_of(e, &layer[i]);
        if (!own || layer[i].part == layer[0].part) continue;
        fprintf(file, "%s- match: \"%s-*", any ? "" : "devices:\n", layer[i].name);
        if (e->plan->planes) fprintf(file, ",plane-*-%s-*", layer[i].name);
        fputs("\"\n  ", file);
        say_switch(e, file, &layer[i]);
        any = true;
    }
    return weft_arena_text(e->arena, weft__text_stream_text(&stream));
}

// --- the whole ----------------------------------------------------------------------------------------------------

/// A copy of the map with `key` set to `child`.
static struct weft_tree *map_with(const struct expand *e, const struct weft_tree *map, const char *key,
                                  const struct weft_tree *child) {
    struct weft_tree *copy = weft_arena_alloc(e->arena, 1, sizeof *copy), *own;
    own = weft_arena_alloc(e->arena, 1, sizeof *own);
    *own = *child;
    own->key = key;
    *copy = *map;
    copy->n = 0;
    copy->child = weft_arena_alloc(e->arena, map->n + 1, sizeof *copy->child);
    for (uint32_t i = 0; i < map->n; i++)
        if (strcmp(map->child[i]->key, key)) copy->child[copy->n++] = map->child[i];
    copy->child[copy->n++] = own;
    return copy;
}

/// Lays a user's entry over the solver's for the same switches, or for a superset of them: it keeps their buffer if it
/// sets none.
static enum weft_status entry_over(const struct expand *e, const struct weft_tree *solved, const struct weft_tree *own,
                                   struct weft_tree **ret) {
    *ret = (struct weft_tree *)own;
    for (uint32_t i = 0; i < solved->n; i++)
        if (weft_glob_match(pattern_of(solved->child[i]), pattern_of(own)))
            return weft_tree_override(solved->child[i], own, e->arena, ret, e->error);
    return WEFT_OK;
}

/// The user's entries of `devices` come after the solver's, so that they take precedence.
static enum weft_status devices_of(const struct expand *e, const struct weft_tree *solved,
                                   const struct weft_tree **ret_devices) {
    const struct weft_tree *ours = weft__tree_section(solved, "devices"), *own = weft__tree_section(e->root, "devices");
    *ret_devices = own ? own : ours;
    if (!ours || !own || own->type != WEFT_TREE_LIST) return WEFT_OK;
    struct weft_tree *all = weft_arena_alloc(e->arena, 1, sizeof *all);
    *all = *own;
    all->n = ours->n + own->n;
    all->child = weft_arena_alloc(e->arena, all->n, sizeof *all->child);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < all->n && !status; i++)
        if (i < ours->n)
            all->child[i] = ours->child[i];
        else
            status = entry_over(e, ours, own->child[i - ours->n], &all->child[i]);
    *ret_devices = all;
    return status;
}

/// An entry of the workload, with the fabric's queue pairs and without hosts that are spare ports or ports of other
/// planes, where it can have these and does not set them.
static const struct weft_tree *work_of(const struct expand *e, const struct weft_tree *entry) {
    const char *kind = entry->type == WEFT_TREE_TEXT ? entry->text : weft__tree_text(entry, "kind");
    const struct weft_model *model = kind ? weft_model_find(WEFT_KIND_WORKLOAD, kind) : NULL;
    if (!model) return entry; // the loader reports the error
    char text[64];
    const struct weft_tree *map = entry;
    struct weft_tree *plain = weft_arena_alloc(e->arena, 1, sizeof *plain);
    *plain = (struct weft_tree){.type = WEFT_TREE_MAP, .place = entry->place, .key = entry->key};
    if (entry->type == WEFT_TREE_TEXT) map = map_with(e, plain, "kind", entry);
    const struct weft_param *hosts = weft_param_find(model->params, "hosts");
    if (e->conf->queue_pairs > 1 && weft_param_find(model->params, "qps") && !weft_tree_find(map, "qps")) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)e->conf->queue_pairs);
        map = map_with(e, map, "qps", text_child(e, "qps", text, entry->place));
    }
    if (e->plan->planes && weft_param_find(model->params, "qp_scaling") && !weft_tree_find(map, "qp_scaling"))
        map = map_with(e, map, "qp_scaling", text_child(e, "qp_scaling", "split", entry->place)); // as over merged NICs
    bool some = e->plan->host_ports > e->conf->hosts || e->plan->planes;
    if (some && hosts && hosts->dflt && !strcmp(hosts->dflt, "*") && !weft_tree_find(map, "hosts")) {
        snprintf(text, sizeof text, "host-0..%llu", (unsigned long long)e->conf->hosts - 1);
        map = map_with(e, map, "hosts", text_child(e, "hosts", text, entry->place));
    }
    return map;
}

static const struct weft_tree *with_work(const struct expand *e, const struct weft_tree *root) {
    const struct weft_tree *list = weft__tree_section(root, "workload");
    if (!list || list->type != WEFT_TREE_LIST) return root;
    struct weft_tree *all = weft_arena_alloc(e->arena, 1, sizeof *all);
    *all = *list;
    all->child = weft_arena_alloc(e->arena, list->n, sizeof *all->child);
    for (uint32_t i = 0; i < list->n; i++)
        all->child[i] = (struct weft_tree *)work_of(e, list->child[i]);
    return map_with(e, root, "workload", all);
}

static enum weft_status lay_solved(const struct expand *e, const struct weft_tree **ret_root) {
    const char *text = solved_text(e);
    const struct weft_tree *devices = NULL;
    struct weft_tree *solved, *merged;
    WEFT_TRY(weft_tree_parse("fabric", text, strlen(text), e->arena, &solved, e->error));
    WEFT_TRY(devices_of(e, solved, &devices));
    WEFT_TRY(set_all(e, &solved));
    WEFT_TRY(weft_tree_override(solved, e->root, e->arena, &merged, e->error));
    *ret_root = with_work(e, devices ? map_with(e, merged, "devices", devices) : merged);
    return WEFT_OK;
}

enum weft_status weft_fabric_expand(const struct weft_tree *root, const struct weft_model_conf *fabric,
                                    struct weft_arena *arena, const struct weft_tree **ret_root,
                                    struct weft_error *ret_error) {
    *ret_root = root;
    if (!fabric->model) return WEFT_OK;
    struct expand e = {root, fabric->conf, weft_fabric_plan_new(fabric, arena), arena, ret_error, {NULL}};
    if (*e.plan->reason) {
        char rate[32];
        weft__quantity_format(WEFT__RATE, e.conf->rate_bps, rate, sizeof rate);
        return WEFT_REFUSE(ret_error, fabric->place, "fabric: it cannot be built for %llu hosts at %s: %s",
                           (unsigned long long)e.conf->hosts, rate, e.plan->reason);
    }
    WEFT_TRY(find_classes(&e));
    return lay_solved(&e, ret_root);
}
