// SPDX-License-Identifier: Apache-2.0
// The energy that each fabric uses for a case, and which assumed power decides which fabric uses the least. Power does
// not change times, so nothing has to run for this.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "versus/versus.h"
#include "weft/hardware.h"

#include "base/units.h"

struct weft_spread weft__versus_energy(const struct weft_versus *v, uint32_t fabric, uint32_t case_at,
                                       struct weft_arena *arena) {
    double watts = v->fabric[fabric].bill.watts * 1e-12; // times are picoseconds
    if (fabric == v->ruler || !(watts > 0)) return weft_spread_of(NULL, 0, arena);
    double *joule = weft_versus_values(v, fabric, case_at, "time_ps", arena);
    for (uint32_t k = 0; k < weft__versus_seeds(v); k++)
        joule[k] *= watts;
    return weft_spread_of(joule, weft__versus_seeds(v), arena);
}

/// The energy of a fabric if the power of a part is multiplied by `factor`. NULL: unchanged.
static double energy_with(const struct weft_versus *v, uint32_t fabric, const char *part, double factor,
                          struct weft_arena *arena) {
    struct weft_fabric_item item[WEFT_FABRIC_ITEMS_MAX];
    struct weft_spread energy = weft__versus_energy(v, fabric, 0, arena);
    if (!energy.n) return NAN;
    uint32_t items = part ? weft_fabric_items(v->fabric[fabric].plan, item) : 0;
    double watts = v->fabric[fabric].bill.watts, more = 0;
    for (uint32_t i = 0; i < items; i++)
        if (weft_fabric_part_assumes_watts(item[i].part) && !strcmp(item[i].part->name, part))
            more += (factor - 1) * item[i].n * item[i].part->watts;
    return energy.mean * (watts + more) / watts;
}

static struct weft__versus_least least_energy(const struct weft_versus *v, const char *part, double factor,
                                              struct weft_arena *arena) {
    struct weft__versus_least l = {.first = WEFT_NONE, .second = WEFT_NONE, .joule = INFINITY, .lead = NAN};
    double next = INFINITY;
    for (uint32_t f = 0; f < v->fabrics && v->n_cases && v->cases[0].by == WEFT_VERSUS_TIME; f++) {
        double joule = energy_with(v, f, part, factor, arena);
        if (joule < l.joule) {
            l.second = l.first, next = l.joule;
            l.first = f, l.joule = joule;
        } else if (joule < next) {
            l.second = f, next = joule;
        }
    }
    if (l.second != WEFT_NONE) l.lead = next / l.joule;
    return l;
}

struct weft__versus_least weft__versus_least(const struct weft_versus *v, struct weft_arena *arena) {
    return least_energy(v, NULL, 1, arena);
}

static double effect_of(const struct weft__versus_power *p) {
    return fabs(log(p->with.lead / p->lead_before));
}

static int by_effect(const void *a, const void *b) {
    const struct weft__versus_power *x = a, *y = b;
    if (x->turns != y->turns) return x->turns ? -1 : 1;
    if (effect_of(x) > effect_of(y)) return -1;
    if (effect_of(x) < effect_of(y)) return 1;
    int order = strcmp(x->part->name, y->part->name);
    return order ? order : (x->factor > y->factor) - (x->factor < y->factor);
}

static bool is_among(const struct weft_fabric_part *part, const struct weft__versus_power *power, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(power[i].part->name, part->name)) return true;
    return false;
}

/// What the part's assumed power is multiplied with: the ends of the band that its class of hardware has for it,
/// without one a half and 2. 1: the band has no such end.
static void find_factors(const struct weft_fabric_part *part, struct weft_arena *arena, double factor[2]) {
    const struct weft_hardware *h = NULL;
    const struct weft_hardware_value *v = NULL;
    factor[0] = 0.5;
    factor[1] = 2;
    if (*part->class_name &&
        !weft_hardware_find(WEFT_HARDWARE_KINDS, part->class_name, WEFT_NOWHERE, "class", arena, &h, NULL))
        v = weft_hardware_value(h, "watts");
    if (!v || (!v->low && !v->high) || !strstr(part->source, v->source)) return; // or the fabric's file says another
    factor[0] = v->low ? v->low_number / v->number : 1;
    factor[1] = v->high ? v->high_number / v->number : 1;
}

struct weft__versus_power *weft__versus_powers(const struct weft_versus *v, struct weft_arena *arena, uint32_t *ret_n) {
    const struct weft__versus_least now = least_energy(v, NULL, 1, arena);
    struct weft__versus_power *power =
        weft_arena_alloc(arena, 2 * v->fabrics * WEFT_FABRIC_ITEMS_MAX + 1, sizeof *power);
    uint32_t n = 0;
    for (uint32_t f = 0; f < v->fabrics && now.second != WEFT_NONE; f++) {
        struct weft_fabric_item item[WEFT_FABRIC_ITEMS_MAX];
        if (f == v->ruler || v->fabric[f].variant == WEFT_NONE) continue;
        uint32_t items = weft_fabric_items(v->fabric[f].plan, item);
        for (uint32_t i = 0; i < items; i++) {
            const struct weft_fabric_part *part = item[i].part;
            if (!(item[i].n > 0) || !weft_fabric_part_assumes_watts(part) || is_among(part, power, n)) continue;
            double factor[2];
            find_factors(part, arena, factor);
            for (uint32_t k = 0; k < 2; k++)
                if (factor[k] < 1 || factor[k] > 1)
                    power[n++] = (struct weft__versus_power){.part = part,
                                                             .factor = factor[k],
                                                             .with = least_energy(v, part->name, factor[k], arena),
                                                             .lead_before = now.lead};
        }
    }
    for (uint32_t i = 0; i < n; i++)
        power[i].turns = power[i].with.first != now.first;
    qsort(power, n, sizeof *power, by_effect);
    *ret_n = n;
    return power;
}

static const char *power_text(const struct weft_versus *v, const struct weft__versus_power *p,
                              struct weft_arena *arena) {
    return weft_arena_format(arena,
                             "%s at %g W instead of %g W: %s uses the least, %s %.3f times that (%.3f as assumed)",
                             p->part->name, p->factor * p->part->watts, p->part->watts, v->fabric[p->with.first].name,
                             v->fabric[p->with.second].name, p->with.lead, p->lead_before);
}

void weft__versus_energy_text(FILE *file, const struct weft_versus *v) {
    enum { SHOWN = 4 }; // of those that do not change it
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n, turning = 0, parts = 0;
    const struct weft__versus_power *power = weft__versus_powers(v, arena, &n);
    for (uint32_t i = 0; i < n; i++)
        parts += !is_among(power[i].part, power, i);
    while (turning < n && power[turning].turns)
        turning++;
    if (n)
        fprintf(
            file,
            "\nassumed power of %s, at the ends of its band, or without one halved and doubled: %u of %u change which "
            "fabric uses the least energy%s%s\n",
            weft__counted(parts, "part").text, turning, n, v->n_cases > 1 ? ": " : "",
            v->n_cases > 1 ? v->cases[0].name : "");
    for (uint32_t i = 0; i < n && i < turning + SHOWN; i++)
        fprintf(file, "  %s%s\n", power[i].turns ? "turns: " : "", power_text(v, &power[i], arena));
}
