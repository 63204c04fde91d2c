// SPDX-License-Identifier: Apache-2.0
// weft plan pfc: headroom and threshold of priority-based flow control.
#include <inttypes.h>
#include <stdio.h>

#include "plan.h"
#include "weft/param.h"
#include "weft/param_load.h"

enum { ROCE_MTU_MAX = 4096 };

#define TIME(t) plan_time(arena, t)
#define BYTES(b) plan_bytes(arena, b)

static void print_bound(const struct weft_plan_pfc_conf *c, const struct weft_plan_pfc *p, struct weft_arena *arena) {
    const char *phy = c->phy_ps ? weft_arena_format(arena, " + 2 x %s", TIME(c->phy_ps)) : "";
    printf("  in flight   (2 x %s%s + %s + %s) x %s / 8 = %s\n", TIME(c->delay_ps), phy, TIME(c->processing_ps),
           TIME(p->reaction_ps), plan_rate(arena, c->rate_bps), BYTES(p->in_flight_bytes));
    printf("              cable%s, processing at the receiver, reaction of the sender\n", c->phy_ps ? " and PHYs" : "");
    weft_bytes frames = p->frames * p->frame_bytes;
    printf("  frames      %" PRIu32 " x %s = %s: one over XOFF, one begun by the sender\n", p->frames,
           BYTES(p->frame_bytes), BYTES(frames));
    printf("  ahead       %s: the frame that the pause waits for, of any class (port MTU %s)\n", BYTES(p->ahead_bytes),
           BYTES(c->ahead_mtu_bytes));
    printf("  pause       %s\n", BYTES(p->pause_bytes));
    printf("  headroom    %s + %s + %s + %s = %s\n", BYTES(p->in_flight_bytes), BYTES(frames), BYTES(p->ahead_bytes),
           BYTES(p->pause_bytes), BYTES(p->headroom_bytes));
}

static void print_study(const struct weft_plan_pfc_conf *c, const struct weft_plan_pfc *p, struct weft_arena *arena) {
    printf("  headroom    (2 x %s + %s) x %s / 8 = %s\n", TIME(c->delay_ps), TIME(c->processing_ps),
           plan_rate(arena, c->rate_bps), BYTES(p->headroom_bytes));
}

static void print_sonic(const struct weft_plan_pfc_conf *c, const struct weft_plan_pfc *p, struct weft_arena *arena) {
    weft_bytes more = p->in_flight_bytes - p->reaction_bytes;
    printf("  in flight   cable%s %s + peer %s x %s / 8 = %s + port MTU %s + MAC and PHY %s = %s\n",
           c->gearbox_ps || c->tile_ps ? ", gearboxes, tile" : "", BYTES(more), TIME(p->reaction_ps),
           plan_rate(arena, c->rate_bps), BYTES(p->reaction_bytes), BYTES(p->frame_bytes), BYTES(p->pause_bytes),
           BYTES(p->in_flight_bytes + p->frame_bytes + p->pause_bytes));
    printf("  cells       x %.6g: packets of 64 B in cells of %s, %" PRIu64 "%% of them\n", p->occupancy,
           BYTES(c->cell_bytes), c->small_percent);
    printf("  headroom    lossless MTU %s + %s x %.6g, in whole KiB = %s (xoff)\n", BYTES(c->lossless_mtu_bytes),
           BYTES(p->in_flight_bytes + p->frame_bytes + p->pause_bytes), p->occupancy, BYTES(p->headroom_bytes));
    printf("  below XON   pipeline %s (xon); group of %s (size)\n", BYTES(p->xon_bytes), BYTES(p->size_bytes));
}

static void print_threshold(const struct weft_plan_pfc_conf *c, const struct weft_plan_pfc *p,
                            struct weft_arena *arena) {
    if (!c->buffer_bytes) return;
    if (!p->fits) {
        printf("  warning, lossy: the headroom is more than the buffer of %s\n", BYTES(c->buffer_bytes));
        return;
    }
    printf("  XOFF        at most %s - %s = %s", BYTES(c->buffer_bytes), BYTES(p->headroom_bytes),
           BYTES(p->xoff_bytes_max));
    if (c->xoff_bytes) printf("; given: %s", BYTES(c->xoff_bytes));
    putchar('\n');
    if (p->lossy)
        printf("  warning, lossy: XOFF at %s leaves %s of headroom, %s too little\n", BYTES(c->xoff_bytes),
               BYTES(c->buffer_bytes - c->xoff_bytes), BYTES(c->xoff_bytes - p->xoff_bytes_max));
}

static struct weft_plan_pfc calc_other(const struct weft_plan_pfc_conf *c, uint32_t formula) {
    struct weft_plan_pfc_conf other = *c;
    other.formula = formula;
    return weft_plan_calc_pfc(&other);
}

static void print_others(const struct weft_plan_pfc_conf *c, struct weft_arena *arena) {
    printf("  others     ");
    for (uint32_t f = 0; f < WEFT_PLAN_FORMULAS; f++)
        if (f != c->formula)
            printf(" --formula %s: %s", weft_plan_formula_names[f], BYTES(calc_other(c, f).headroom_bytes));
    putchar('\n');
}

static void json_pfc(struct weft__json *j, const struct weft_plan_pfc_conf *c) {
    struct weft_plan_pfc p = weft_plan_calc_pfc(c);
    weft__json_key_string(j, "formula", weft_plan_formula_names[c->formula]);
    weft__json_key_u64(j, "rate_bps", c->rate_bps);
    weft__json_key_u64(j, "delay_ps", c->delay_ps);
    weft__json_key_u64(j, "processing_ps", c->processing_ps);
    weft__json_key_u64(j, "reaction_ps", p.reaction_ps);
    weft__json_key_u64(j, "buffer_bytes", c->buffer_bytes);
    weft__json_key_u64(j, "xoff_bytes", c->xoff_bytes);
    weft__json_key_u64(j, "cable_bytes", p.cable_bytes);
    weft__json_key_u64(j, "reaction_bytes", p.reaction_bytes);
    weft__json_key_u64(j, "in_flight_bytes", p.in_flight_bytes);
    weft__json_key_u64(j, "frames", p.frames);
    weft__json_key_u64(j, "frame_bytes", p.frame_bytes);
    weft__json_key_u64(j, "ahead_bytes", p.ahead_bytes);
    weft__json_key_u64(j, c->formula == WEFT_PLAN_SONIC ? "mac_phy_bytes" : "pause_bytes", p.pause_bytes);
    if (c->formula == WEFT_PLAN_SONIC) {
        weft__json_key_real(j, "occupancy", p.occupancy);
        weft__json_key_u64(j, "xon_bytes", p.xon_bytes);
        weft__json_key_u64(j, "size_bytes", p.size_bytes);
    }
    weft__json_key_u64(j, "headroom_bytes", p.headroom_bytes);
    weft__json_key_u64(j, "xoff_bytes_max", p.xoff_bytes_max);
    weft__json_key(j, "headroom_bytes_by_formula");
    weft__json_begin_object(j);
    for (uint32_t f = 0; f < WEFT_PLAN_FORMULAS; f++)
        weft__json_key_u64(j, weft_plan_formula_names[f], calc_other(c, f).headroom_bytes);
    weft__json_end_object(j);
    weft__json_key(j, "warnings");
    weft__json_begin_array(j);
    if (c->buffer_bytes && (p.lossy || !p.fits)) weft__json_string(j, weft_plan_warning_names[0]);
    weft__json_end_array(j);
}

/// RoCE packets have at most 4096 B: a larger MTU is the port's, for frames of other classes.
static void set_ahead(struct weft_plan_pfc_conf *c) {
    if (c->mtu_bytes > ROCE_MTU_MAX) {
        if (c->mtu_bytes > c->port_mtu_bytes) c->port_mtu_bytes = c->mtu_bytes;
        c->mtu_bytes = ROCE_MTU_MAX;
    }
    c->ahead_mtu_bytes = c->port_mtu_bytes;
}

static enum weft_status by_values(const struct plan *plan, const struct weft_cli_options *o, struct weft__json *j,
                                  struct weft_error *ret_error) {
    struct weft_arena *arena = o->arena;
    struct weft_plan_pfc_conf c = {0};
    enum weft_status status = plan_load(plan, true, &c, arena, ret_error);
    if (status) return status;
    set_ahead(&c);
    if (j) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "plan", "pfc");
        json_pfc(j, &c);
        weft__json_end_object(j);
        return WEFT_OK;
    }
    struct weft_plan_pfc p = weft_plan_calc_pfc(&c);
    printf("PFC headroom at %s, formula %s\n", plan_rate(arena, c.rate_bps), weft_plan_formula_names[c.formula]);
    static void (*const print[])(const struct weft_plan_pfc_conf *, const struct weft_plan_pfc *,
                                 struct weft_arena *) = {print_bound, print_study, print_sonic};
    print[c.formula](&c, &p, arena);
    print_threshold(&c, &p, arena);
    print_others(&c, arena);
    return WEFT_OK;
}

/// "spine" or, if an entry of `devices` applies, "spine (spine-*)".
static const char *end_name(const char *layer, const char *match, struct weft_arena *arena) {
    return match ? weft_arena_format(arena, "%s (%s)", layer, match) : layer;
}

static void print_line(FILE *f, const struct weft_plan_line *line, struct weft_arena *arena) {
    const struct weft_plan_pfc_conf *c = &line->pfc;
    fprintf(f, "%-30s %6" PRIu32 " %8s %8s",
            weft_arena_format(arena, "%s -> %s", end_name(line->from, line->from_match, arena),
                              end_name(line->to, line->to_match, arena)),
            line->links, plan_rate(arena, c->rate_bps), TIME(c->delay_ps));
    for (uint32_t formula = 0; formula < WEFT_PLAN_FORMULAS; formula++)
        fprintf(f, " %9s", BYTES(calc_other(c, formula).headroom_bytes));
    if (!line->lossless) {
        fprintf(f, " %10s  no PFC here\n", "-");
        return;
    }
    weft_bytes need = weft_plan_calc_pfc(c).headroom_bytes;
    fprintf(f, " %10s  ", BYTES(line->headroom_bytes));
    if (need <= line->headroom_bytes)
        fprintf(f, "%s\n", line->headroom_text);
    else
        fprintf(f, "%s: %s TOO LITTLE\n", line->headroom_text, BYTES(need - line->headroom_bytes));
}

static enum weft_status apply_values(const struct plan *plan, struct weft_plan_line *line, uint32_t lines,
                                     struct weft_arena *arena, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t l = 0; l < lines && !status; l++) {
        status = plan_load(plan, false, &line[l].pfc, arena, ret_error);
        if (plan_given(plan, "port_mtu")) line[l].pfc.ahead_mtu_bytes = line[l].pfc.port_mtu_bytes;
        if (plan_given(plan, "buffer") || plan_given(plan, "xoff")) {
            line[l].headroom_bytes = line[l].pfc.buffer_bytes - line[l].pfc.xoff_bytes;
            line[l].headroom_text = "given";
        }
    }
    return status;
}

static void json_lines(struct weft__json *j, const char *variant, const struct weft_plan_line *line, uint32_t lines) {
    weft__json_begin_object(j);
    weft__json_key_string(j, "variant", variant);
    weft__json_key(j, "lines");
    weft__json_begin_array(j);
    for (uint32_t l = 0; l < lines; l++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "from", line[l].from);
        weft__json_key_string(j, "from_match", line[l].from_match);
        weft__json_key_string(j, "to", line[l].to);
        weft__json_key_string(j, "to_match", line[l].to_match);
        weft__json_key_u64(j, "links", line[l].links);
        weft__json_key_bool(j, "lossless", line[l].lossless);
        weft__json_key_u64(j, "configured_headroom_bytes", line[l].headroom_bytes);
        weft__json_key_bool(j, "enough", weft_plan_calc_pfc(&line[l].pfc).headroom_bytes <= line[l].headroom_bytes);
        json_pfc(j, &line[l].pfc);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static enum weft_status by_scenario(const struct plan *plan, const struct weft_cli_options *o,
                                    const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, FILE *file, struct weft__json *j,
                                    struct weft_error *ret_error) {
    struct weft_plan_pfc_conf base = {0};
    for (uint32_t i = 0; i < plan->table->n; i++)
        if (plan->table->rows[i].dflt)
            weft_param_parse(&plan->table->rows[i], plan->table->rows[i].dflt, WEFT_NOWHERE, &base, o->arena, NULL);
    uint32_t lines;
    struct weft_plan_line *line = weft_plan_scenario_lines(scenario, topology, &base, scenario->arena, &lines);
    enum weft_status status = apply_values(plan, line, lines, o->arena, ret_error);
    if (status) return status;
    if (j) {
        json_lines(j, scenario->variant, line, lines);
        return WEFT_OK;
    }
    fprintf(file, "PFC headroom of each sort of link, judged by formula %s\n",
            weft_plan_formula_names[line[0].pfc.formula]);
    fprintf(file, "%-30s %6s %8s %8s", "from -> to", "links", "rate", "delay");
    for (uint32_t f = 0; f < WEFT_PLAN_FORMULAS; f++)
        fprintf(file, " %9s", weft_plan_formula_names[f]);
    fprintf(file, " %10s\n", "configured");
    for (uint32_t l = 0; l < lines; l++)
        print_line(file, &line[l], o->arena);
    return WEFT_OK;
}

const struct plan plan_pfc = {
    .name = "pfc",
    .about = "priority-based flow control: headroom above XOFF, highest XOFF threshold\n"
             "With a SCENARIO: for each sort of link, against what the scenario configures; options override it.\n"
             "docs/plan.md explains the formulas.",
    .table = &weft_plan_pfc_table,
    .by_values = by_values,
    .by_scenario = by_scenario,
};
