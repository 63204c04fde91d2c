// SPDX-License-Identifier: Apache-2.0
// What the solvers share, and the bill for their solutions.
#include "fabric/fabric.h"
#include "base/tree.h"
#include "weft/hardware.h"
#include "weft/param.h"
#include "weft/result.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// The class's figures as values of a part. Its source names what of them nobody has published.
static enum weft_status find_part(const struct weft_param_table *table, const char *row, const struct weft_tree *named,
                                  const char *path, struct weft_arena *arena, const struct weft_param_value **ret_value,
                                  struct weft_error *ret_error) {
    static const char *const figures[][2] = {
        {"rate", "usable_rate"}, {"rate", "rate"},   {"buffer", "deep_memory"},     {"buffer", "memory"},
        {"watts", "watts"},      {"price", "price"}, {"partitioned", "partitioned"}};
    enum { FIGURES = sizeof figures / sizeof *figures };
    const struct weft_hardware *h;
    *ret_value = NULL;
    if (!*named->text) return WEFT_OK;
    enum weft_status status =
        weft_hardware_find(WEFT_HARDWARE_KINDS, named->text, named->place, path, arena, &h, ret_error);
    if (status) return status;
    struct weft_param_value *value = weft_arena_alloc(arena, FIGURES + 3, sizeof *value);
    const char *source = "";
    uint32_t n = 0;
    for (uint32_t i = 0; i < FIGURES; i++) {
        const struct weft_hardware_value *v = weft_hardware_value(h, figures[i][1]);
        if (!v || (n && !strcmp(value[n - 1].key, figures[i][0]))) continue;
        value[n++] = (struct weft_param_value){figures[i][0], v->typical};
        const char *between = v->basis < WEFT_BASIS_INFERRED ? ":" : v->basis == WEFT_BASIS_INFERRED ? " assumed:" : "";
        source =
            weft_arena_format(arena, "%s%s%s%s %s", source, *source ? "; " : "", figures[i][0], between, v->source);
    }
    value[n++] = (struct weft_param_value){"name", h->name};
    value[n] = (struct weft_param_value){"source", source};
    *ret_value = value;
    return WEFT_OK;
}
static const char *const class_rows[] = {"class", NULL};
static const struct weft_param_classes part_classes = {class_rows, find_part};

const struct weft_param_table weft_fabric_part_table = WEFT_PARAM_TABLE_OF(
    "fabric_part", struct weft_fabric_part, .classes = &part_classes,
    WEFT_TEXT(struct weft_fabric_part, class_name, "class", "",
              "class of hardware (weft models hardware), or a file of one, with the figures that are not set here"),
    WEFT_TEXT(struct weft_fabric_part, name, "name", "", "name of the part"),
    WEFT_RATE(struct weft_fabric_part, rate_bps, "rate", "0bps", "0bps", "10000Tbps",
              "for a chip, all its ports together; for an optical module or a NIC, its own"),
    WEFT_BYTES(struct weft_fabric_part, buffer_bytes, "buffer", "0B", "0B", "100TB", "packet memory of a chip"),
    WEFT_BOOL(struct weft_fabric_part, partitioned, "partitioned", "false",
              "this memory is divided statically among ports"),
    WEFT_REAL(struct weft_fabric_part, watts, "watts", "0", "0", "1e6",
              "power of one, assumed unless its source says otherwise; 0: unknown"),
    WEFT_REAL(struct weft_fabric_part, price, "price", "0", "0", "1e9", "price of one, in any currency; 0: unknown"),
    WEFT_PROSE(struct weft_fabric_part, source, "source", "assumed",
               "source of this part's figures; \"assumed\" or \"watts assumed\" in it: no published power"));

const char *const weft__fabric_chips[] = {"ideal", "listed", NULL};
const char *const weft__fabric_lists[] = {"settings", NULL};

uint64_t weft__fabric_up_links(uint64_t n, double oversubscription) {
    double links = ceil((double)n / oversubscription - 1e-9);
    return links < 1 ? 1 : (uint64_t)links;
}

uint64_t weft__fabric_down_links(const struct weft_blueprint_conf *c, uint64_t radix, uint64_t most,
                                 struct weft_fabric_plan *plan) {
    uint64_t down = most < radix ? most : radix;
    while (down && down + weft__fabric_up_links(down, c->oversubscription) > radix)
        down--;
    if (!down)
        weft__fabric_fail(plan, "a leaf of %llu ports has none left for links up at an oversubscription of %g",
                          (unsigned long long)radix, c->oversubscription);
    return down;
}

const struct weft_fabric_part *weft__fabric_part(const struct weft_fabric_part *own,
                                                 const struct weft_fabric_part *other) {
    return own->rate_bps ? own : other;
}

uint64_t weft__fabric_radix(const struct weft_blueprint_conf *c, const struct weft_fabric_part *part) {
    if (c->radix) return c->radix;
    return part->rate_bps ? part->rate_bps / c->rate_bps : UINT32_MAX;
}

const struct weft_fabric_part *weft__fabric_multiplied(struct weft_fabric_plan *plan,
                                                       const struct weft_fabric_part *part, double factor) {
    if (fabs(factor - 1) < 1e-9) return part;
    for (uint32_t i = 0; i < plan->multiplied; i++)
        if (plan->part[i].of == part) return &plan->part[i].part;
    assert(plan->multiplied < WEFT_FABRIC_LAYERS_MAX);
    struct weft_fabric_multiplied *m = &plan->part[plan->multiplied++];
    *m = (struct weft_fabric_multiplied){.of = part, .part = *part};
    m->part.rate_bps = (weft_rate_bps)llround((double)part->rate_bps * factor);
    m->part.buffer_bytes = (weft_bytes)llround((double)part->buffer_bytes * factor);
    m->part.watts *= factor;
    m->part.price *= factor;
    snprintf(m->name, sizeof m->name, "%.80s, times %.3g", part->name, factor);
    snprintf(m->source, sizeof m->source, "assumed in proportion to the rate; %.400s", part->source);
    m->part.name = m->name;
    m->part.source = m->source;
    return &m->part;
}

const struct weft_fabric_part *weft__fabric_chip(struct weft_fabric_plan *plan, const struct weft_fabric_part *part) {
    const struct weft_blueprint_conf *c = plan->conf;
    if (!c->radix || !part->rate_bps) return part;
    return weft__fabric_multiplied(plan, part, (double)c->radix * (double)c->rate_bps / (double)part->rate_bps);
}

weft_time_ps weft__fabric_delay(const struct weft_blueprint_conf *c, double metres) {
    return c->phy_ps + (weft_time_ps)llround(metres * 5000);
}

void weft__fabric_fail(struct weft_fabric_plan *plan, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(plan->reason, sizeof plan->reason, format, args);
    va_end(args);
}

void weft__fabric_say(struct weft_fabric_plan *plan, const char *format, ...) {
    size_t used = strlen(plan->topology);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(plan->topology + used, sizeof plan->topology - used, format, args);
    va_end(args);
    assert(n >= 0 && used + (size_t)n < sizeof plan->topology);
}

struct weft_fabric_layer *weft__fabric_layer(struct weft_fabric_plan *plan, const char *name,
                                             const struct weft_fabric_part *part, uint64_t chips, uint64_t ports,
                                             uint64_t ports_max, weft_rate_bps rate) {
    assert(plan->layers < WEFT_FABRIC_LAYERS_MAX);
    struct weft_fabric_layer *layer = &plan->layer[plan->layers++];
    *layer = (struct weft_fabric_layer){name, part, chips, ports, ports_max == UINT32_MAX ? 0 : ports_max, rate, 0};
    return layer;
}

void weft__fabric_cable(struct weft_fabric_plan *plan, const char *name, uint64_t links, uint32_t chip_ends,
                        weft_rate_bps rate, double metres) {
    assert(plan->cables < WEFT_FABRIC_CABLES_MAX);
    plan->cable[plan->cables++] =
        (struct weft_fabric_cable){name, links, chip_ends, rate, metres, metres > plan->conf->copper_m};
}

uint64_t weft__fabric_above(uint64_t below, uint64_t up, uint64_t up_max, uint64_t radix, uint64_t least,
                            uint64_t *ret_parallel) {
    for (uint64_t n = least < up ? least : up; n <= up; n++) {
        uint64_t parallel = weft__up(up, n);
        if (below * parallel > radix || n * parallel > up_max) continue;
        *ret_parallel = parallel;
        return n;
    }
    return 0;
}

struct weft_fabric_plan *weft_fabric_plan_new(const struct weft_model_conf *fabric, struct weft_arena *arena) {
    const struct weft_fabric_ops *ops = fabric->model->ops;
    struct weft_fabric_plan *plan = weft_arena_alloc(arena, 1, sizeof *plan);
    plan->conf = fabric->conf;
    ops->solve(fabric->conf, plan);
    return plan;
}

bool weft_fabric_part_assumes_watts(const struct weft_fabric_part *part) {
    return part->watts > 0 && (!strncmp(part->source, "assumed", 7) || strstr(part->source, "watts assumed"));
}

static double count_modules(const struct weft_blueprint_conf *c, const struct weft_fabric_cable *cable) {
    if (!cable->optical || !c->optic.rate_bps) return 0;
    return ceil((double)cable->links * 2 * (double)cable->rate_bps / (double)c->optic.rate_bps);
}

uint32_t weft_fabric_items(const struct weft_fabric_plan *plan, struct weft_fabric_item *ret) {
    const struct weft_blueprint_conf *c = plan->conf;
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->layers; i++)
        ret[n++] = (struct weft_fabric_item){plan->layer[i].part, (double)plan->layer[i].chips};
    uint64_t nics = c->nic.rate_bps ? weft__up(c->rate_bps, c->nic.rate_bps) : 1;
    ret[n++] = (struct weft_fabric_item){&c->nic, (double)(c->hosts * nics)};
    ret[n] = (struct weft_fabric_item){&c->optic, 0};
    for (uint32_t i = 0; i < plan->cables; i++)
        ret[n].n += count_modules(c, &plan->cable[i]);
    return n + 1;
}

struct weft_fabric_bill weft_fabric_bill(const struct weft_fabric_plan *plan) {
    struct weft_fabric_bill bill = {.priced = true};
    struct weft_fabric_item item[WEFT_FABRIC_ITEMS_MAX];
    uint32_t items = weft_fabric_items(plan, item);
    for (uint32_t i = 0; i < items; i++) {
        bill.watts += item[i].n * item[i].part->watts;
        bill.price += item[i].n * item[i].part->price;
        if (item[i].n > 0 && !(item[i].part->price > 0)) bill.priced = false;
    }
    for (uint32_t i = 0; i < plan->layers; i++) {
        const struct weft_fabric_layer *l = &plan->layer[i];
        bill.chips += l->chips;
        bill.buffer_bytes += (double)l->chips * (double)l->part->buffer_bytes;
    }
    for (uint32_t i = 0; i < plan->cables; i++) {
        const struct weft_fabric_cable *cable = &plan->cable[i];
        double n = (double)cable->links, rate = (double)cable->rate_bps;
        bill.ports += cable->links * cable->chip_ends;
        bill.port_tbps += n * cable->chip_ends * rate / 1e12;
        *(cable->optical ? &bill.fibre_m : &bill.copper_m) += n * cable->metres;
        bill.optics += count_modules(plan->conf, cable);
    }
    if (!bill.priced) bill.price = NAN;
    return bill;
}
