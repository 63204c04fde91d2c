// SPDX-License-Identifier: Apache-2.0
#include "te.h"

#include <inttypes.h>
#include <math.h>

#include "weft/route.h"

enum { TEXT = 64 };

/// The last round that came into force within the run; NULL: none did.
static const struct weft_te_round *last_round(const struct weft_outcome *o) {
    uint32_t n = o->te->rounds;
    while (n && o->te->round[n - 1].in_force_ps > o->sim_time_ps)
        n--;
    return n ? &o->te->round[n - 1] : NULL;
}

static double part_by_entry(const struct weft_te_outcome *te) {
    return (double)te->by_entry / (double)(te->by_entry + te->by_fallback);
}

void weft__report_te_table(FILE *file, const struct weft_run *run) {
    const struct weft_te_outcome *te = run->outcome->te;
    if (!te) return;
    const struct weft_te_round *first = te->rounds ? te->round : NULL, *last = last_round(run->outcome);
    char text[TEXT];
    fprintf(file, "TE     ");
    if (!last) {
        fprintf(file, "no paths came into force within the run: all packets went by the fallback\n");
        return;
    }
    weft_format_time(first->in_force_ps, text, sizeof text);
    fprintf(file,
            "%" PRIu32 " computations, in force from %s on; the last: %" PRIu32 " demands, %" PRIu32
            " beyond a link's rate, fullest link %.1f%%; %.1f%% of packets by an entry\n",
            te->rounds, text, last->demands, last->beyond, 100 * last->utilisation_max, 100 * part_by_entry(te));
}

static void write_rounds(struct weft__json *j, const struct weft_te_outcome *te) {
    weft__json_key(j, "round");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < te->rounds; i++) {
        const struct weft_te_round *r = &te->round[i];
        weft__json_begin_object(j);
        weft__json_key_u64(j, "measured_ps", r->measured_ps);
        weft__json_key_u64(j, "computed_ps", r->computed_ps);
        weft__json_key_u64(j, "in_force_ps", r->in_force_ps);
        weft__json_key_u64(j, "demands", r->demands);
        weft__json_key_u64(j, "beyond", r->beyond);
        weft__json_key_u64(j, "unreachable", r->unreachable);
        weft__json_key_u64(j, "entries", r->entries);
        weft__json_key_real(j, "utilisation_max", r->utilisation_max);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

/// Claims are checked against an outcome in which nothing happened.
static bool has_controller(const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    if (!t->switches) return false;
    const struct weft_device_conf *device = weft_scenario_device(run->scenario, t->node[t->switch_node[0]].name);
    return device->sw.route.model && ((const struct weft_route_ops *)device->sw.route.model->ops)->program;
}

void weft__report_te_json(struct weft__json *j, const struct weft_run *run) {
    static const struct weft_te_outcome nothing;
    if (!has_controller(run)) return;
    const struct weft_te_outcome *te = run->outcome->te ? run->outcome->te : &nothing;
    weft__json_key(j, "te");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "rounds", te->rounds);
    weft__json_key_u64(j, "by_entry", te->by_entry);
    weft__json_key_u64(j, "by_fallback", te->by_fallback);
    weft__json_key_real(j, "part_by_entry", part_by_entry(te));
    write_rounds(j, te);
    weft__json_end_object(j);
}
