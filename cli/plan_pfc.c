// SPDX-License-Identifier: Apache-2.0
// weft plan pfc: headroom and threshold of priority-based flow control.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan.h"
#include "weft/hardware.h"
#include "weft/param.h"
#include "weft/param_load.h"

enum { ROCE_MTU_MAX = 4096 };

static void print_bound(const struct weft_plan_pfc_conf *c, const struct weft_plan_pfc *p) {
    printf("  in flight   (2 x %s%s%s + %s + %s) x %s / 8 = %s\n", TIME(c->delay_ps), c->phy_ps ? " + 2 x " : "",
           c->phy_ps ? TIME(c->phy_ps) : "", TIME(c->processing_ps), TIME(p->reaction_ps), RATE(c->rate_bps),
           BYTES(p->in_flight_bytes));
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

static void print_study(const struct weft_plan_pfc_conf *c, const struct weft_plan_pfc *p) {
    printf("  headroom    (2 x %s + %s) x %s / 8 = %s\n", TIME(c->delay_ps), TIME(c->processing_ps), RATE(c->rate_bps),
           BYTES(p->headroom_bytes));
}

static void print_sonic(const struct weft_plan_pfc_conf *c, const struct weft_plan_pfc *p) {
    weft_bytes more = p->in_flight_bytes - p->reaction_bytes;
    weft_bytes all = p->in_flight_bytes + p->frame_bytes + p->mac_phy_bytes;
    printf("  in flight   cable%s %s + peer %s x %s / 8 = %s + port MTU %s + MAC and PHY %s = %s\n",
           c->gearbox_ps || c->tile_ps ? ", gearboxes, tile" : "", BYTES(more), TIME(p->reaction_ps), RATE(c->rate_bps),
           BYTES(p->reaction_bytes), BYTES(p->frame_bytes), BYTES(p->mac_phy_bytes), BYTES(all));
    printf("  cells       x %.6g: packets of %s in cells of %s, %" PRIu64 "%% of them\n", p->occupancy,
           BYTES(c->small_bytes), BYTES(c->cell_bytes), c->small_percent);
    printf("  headroom    lossless MTU %s + %s x %.6g, in whole KiB = %s (xoff)\n", BYTES(c->lossless_mtu_bytes),
           BYTES(all), p->occupancy, BYTES(p->headroom_bytes));
    printf("  below XON   pipeline %s (xon); group of %s (size)\n", BYTES(p->xon_bytes), BYTES(p->size_bytes));
}

static void print_threshold(const struct weft_plan_pfc_conf *c, const struct weft_plan_pfc *p) {
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

static void print_values(FILE *file, const void *subject) {
    static void (*const print[])(const struct weft_plan_pfc_conf *,
                                 const struct weft_plan_pfc *) = {print_bound, print_study, print_sonic};
    const struct weft_plan_line *line = subject;
    printf("PFC headroom at %s, formula %s\n", RATE(line->pfc.rate_bps), line->formula);
    print[line->pfc.formula](&line->pfc, &line->need);
    print_threshold(&line->pfc, &line->need);
    printf("  others     ");
    for (uint32_t f = 0; f < WEFT_PLAN_FORMULAS; f++)
        if (f != line->pfc.formula)
            printf(" --formula %s: %s", weft_plan_formula_names[f], BYTES(line->need_by_formula[f]));
    putchar('\n');
}

/// RoCE packets have at most 4096 B: a larger MTU is the port's, for frames of other classes.
static void set_ahead(struct weft_plan_pfc_conf *c) {
    if (c->mtu_bytes > ROCE_MTU_MAX) {
        if (c->mtu_bytes > c->port_mtu_bytes) c->port_mtu_bytes = c->mtu_bytes;
        c->mtu_bytes = ROCE_MTU_MAX;
    }
    c->ahead_mtu_bytes = c->port_mtu_bytes;
}

/// Lays the constants of the class below what the user gives. `given`: by --chip, so its time of processing holds, too;
/// a scenario's class may have no constants.
static enum weft_status apply_chip(const struct plan *plan, struct weft_plan_pfc_conf *c, const char *file, bool given,
                                   struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft_hardware *chip;
    struct weft_place place = {.file = file};
    if (!c->chip || !*c->chip || !strcmp(c->chip, WEFT_HARDWARE_IDEAL)) return WEFT_OK;
    enum weft_status status =
        weft_hardware_find(WEFT_HARDWARE_KINDS, c->chip, place, "--chip", arena, &chip, ret_error);
    if (status) return status;
    if (!weft_hardware_value(chip, "cell")) {
        if (!given) return WEFT_OK;
        return WEFT_REFUSE(ret_error, place, "--chip: %.80s has no cell, so no headroom follows from it", c->chip);
    }
    weft_plan_set_chip(chip, false, c);
    if (given) c->processing_ps = (weft_time_ps)weft_hardware_number(chip, "processing", (double)c->processing_ps);
    return plan_load(plan, false, c, arena, ret_error);
}

static enum weft_status by_values(const struct plan *plan, const struct weft_cli_options *o,
                                  struct weft_error *ret_error) {
    struct weft_plan_line line = {.plan = plan->name};
    WEFT_TRY(plan_load(plan, true, &line.pfc, o->arena, ret_error));
    WEFT_TRY(apply_chip(plan, &line.pfc, NULL, true, o->arena, ret_error));
    set_ahead(&line.pfc);
    weft_plan_line_judge(&line, o->arena);
    return weft_cli_answer(o, plan->values, &line, print_values, ret_error);
}

static enum weft_status apply_values(const struct plan *plan, const char *file, struct weft_plan_line *line,
                                     struct weft_arena *arena, struct weft_error *ret_error) {
    enum weft_status status = plan_load(plan, false, &line->pfc, arena, ret_error);
    if (!status) status = apply_chip(plan, &line->pfc, file, plan_given(plan, "chip"), arena, ret_error);
    if (plan_given(plan, "port_mtu")) line->pfc.ahead_mtu_bytes = line->pfc.port_mtu_bytes;
    if (plan_given(plan, "buffer") || plan_given(plan, "xoff")) {
        line->headroom_bytes = line->pfc.buffer_bytes - line->pfc.xoff_bytes;
        line->headroom_text = "given";
    }
    return status;
}

static enum weft_status by_scenario(const struct plan *plan, const struct weft_cli_options *o,
                                    const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, struct weft_plan_variant *ret_variant,
                                    struct weft_error *ret_error) {
    struct weft_plan_pfc_conf base = {0};
    for (uint32_t i = 0; i < plan->table->n; i++)
        if (plan->table->rows[i].dflt)
            weft_param_parse(&plan->table->rows[i], plan->table->rows[i].dflt, WEFT_NOWHERE, &base, o->arena, NULL);
    ret_variant->line = weft_plan_scenario_lines(scenario, topology, &base, o->arena, &ret_variant->lines);
    for (uint32_t l = 0; l < ret_variant->lines; l++) {
        WEFT_TRY(apply_values(plan, o->operand[0], &ret_variant->line[l], o->arena, ret_error));
        weft_plan_line_judge(&ret_variant->line[l], o->arena);
    }
    return WEFT_OK;
}

static void print_lines(FILE *file, const struct weft_plan_variant *variant) {
    struct weft_plan_variant one = *variant;
    fprintf(file, "PFC headroom of each sort of link, judged by formula %s\n", variant->line[0].formula);
    weft_answer_text_table(file, &weft__answer_plan_pfc_scenario,
                           weft_answer_table(&weft__answer_plan_pfc_scenario, "variants.lines"),
                           &(struct weft_plan_variants){.variant = &one, .variants = 1});
}

const struct plan plan_pfc = {
    .name = "pfc",
    .about = "priority-based flow control: headroom above XOFF, highest XOFF threshold\n"
             "With a SCENARIO: for each sort of link, against what the scenario configures; options override it.\n"
             "docs/plan.md explains the formulas.",
    .table = &weft_plan_pfc_table,
    .values = &weft__answer_plan_pfc,
    .scenario = &weft__answer_plan_pfc_scenario,
    .by_values = by_values,
    .by_scenario = by_scenario,
    .print = print_lines,
};
