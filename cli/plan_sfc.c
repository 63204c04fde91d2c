// SPDX-License-Identifier: Apache-2.0
// weft plan sfc: thresholds and pause times of Source Flow Control.
#include <inttypes.h>
#include <stdio.h>

#include "plan.h"

static const char *given_text(const struct weft_plan_sfc_found *v) {
    return v->place.receiver_name ? "in force" : "given";
}

static void print_pfc(FILE *f, const struct weft_plan_sfc_found *v) {
    const struct weft_plan_sfc_conf *c = &v->conf;
    const struct weft_plan_sfc *p = &v->sfc;
    if (c->best_effort) {
        fprintf(f, "  no PFC         frames are dropped above the buffer of %s\n", BYTES(c->buffer_bytes));
        return;
    }
    if (c->pfc_headroom_bytes)
        fprintf(f, "  PFC headroom   %s, formula bound (weft plan pfc)\n", BYTES(p->pfc_headroom_bytes));
    else
        fprintf(f, "  PFC headroom   (2 x %s + %s) x %s / 8 = %s\n", TIME(c->delay_ps), TIME(c->processing_ps),
                RATE(v->conf.rate_bps), BYTES(p->pfc_headroom_bytes));
    fprintf(f, "  PFC threshold  at most %s - %s = %s", BYTES(c->buffer_bytes), BYTES(p->pfc_headroom_bytes),
            BYTES(p->pfc_threshold_bytes_max));
    if (c->pfc_threshold_bytes) fprintf(f, "; %s: %s", given_text(v), BYTES(c->pfc_threshold_bytes));
    putc('\n', f);
}

static void print_way(FILE *f, const struct weft_plan_sfc_found *v) {
    const struct weft_plan_path *path = &v->sfc.path;
    if (v->own_way && !v->place.alike)
        fprintf(f, "  round trip     %s there and back, %s, each with its own delay: %s\n",
                weft__counted(path->links, "link").text, weft__counted(path->passes, "switch").text,
                TIME(path->round_trip_ps));
    else
        fprintf(f, "  round trip     %s x 2 x %s + %s x %s = %s\n", weft__counted(path->links, "link").text,
                TIME(v->conf.delay_ps), weft__counted(path->passes, "switch").text, TIME(v->conf.processing_ps),
                TIME(path->round_trip_ps));
}

static void print_sfc(FILE *f, const struct weft_plan_sfc_found *v) {
    const struct weft_plan_sfc_conf *c = &v->conf;
    const struct weft_plan_sfc *p = &v->sfc;
    const struct weft__quantity_text headroom_text = weft__bytes_text(p->headroom_bytes);
    const struct weft__quantity_text threshold_text = weft__bytes_text(p->threshold_bytes);
    const char *headroom = headroom_text.text, *threshold = threshold_text.text;
    fprintf(f, "  SFC headroom   (%" PRIu64 " - 1) x %s x %s / 8 = %" PRIu64 " x %s = %s\n", c->incast,
            TIME(p->path.round_trip_ps), RATE(v->conf.rate_bps), c->incast - 1, BYTES(p->excess_bytes), headroom);
    if (p->threshold_bytes_max)
        fprintf(f, "  SFC threshold  at most %s - %s = %s", BYTES(p->pfc_threshold_bytes), headroom,
                BYTES(p->threshold_bytes_max));
    else
        fprintf(f, "  SFC threshold  none is allowed: %s - %s leaves nothing", BYTES(p->pfc_threshold_bytes), headroom);
    if (p->threshold_bytes) fprintf(f, "; %s: %s", c->threshold_bytes ? given_text(v) : "chosen", threshold);
    if (p->input_threshold_bytes)
        fprintf(
            f, "\n                 of each virtual output queue %s / %" PRIu64 " = %s (switch.sfc.inputs: %" PRIu64 ")",
            threshold, c->incast, BYTES(p->input_threshold_bytes), c->incast);
    fprintf(f, "\n  SFC pause      above %s x 8 / %s = %s\n", headroom, RATE(v->conf.rate_bps), TIME(p->pause_ps_min));
    fprintf(f, "                 below (%s + %s) x 8 / %s = %s\n", headroom, threshold, RATE(v->conf.rate_bps),
            TIME(p->pause_ps_max));
    fprintf(f, "                 (%s, %s); %s: %s, ", TIME(p->pause_ps_min), TIME(p->pause_ps_max),
            c->pause_ps ? given_text(v) : "chosen", TIME(p->pause_ps));
    if (p->interval_ps)
        fprintf(f, "messages at least %s apart\n", TIME(p->interval_ps));
    else
        fprintf(f, "a message for every packet above the threshold\n");
}

static void print_warnings(FILE *f, const struct weft_plan_sfc_found *v) {
    const struct weft_plan_sfc *p = &v->sfc;
    if (!p->warnings) fprintf(f, "  all in range\n");
    if (p->warnings & WEFT_PLAN_LOSSY)
        fprintf(
            f,
            "  warning, lossy: PFC threshold %s + headroom %s is above the buffer of %s: frames are lost while the\n"
            "    pause takes effect\n",
            BYTES(p->pfc_threshold_bytes), BYTES(p->pfc_headroom_bytes), BYTES(v->conf.buffer_bytes));
    if (p->warnings & WEFT_PLAN_TOO_SLOW)
        fprintf(f,
                "  warning, SFC reacts too slowly: SFC threshold %s + headroom %s is above the %s of %s:\n"
                "    %s before SFC takes effect\n",
                BYTES(p->threshold_bytes), BYTES(p->headroom_bytes), v->conf.best_effort ? "buffer" : "PFC threshold",
                BYTES(p->pfc_threshold_bytes), v->conf.best_effort ? "frames are dropped" : "PFC pauses");
    if (p->warnings & WEFT_PLAN_UNDER_REACTING)
        fprintf(f,
                "  warning, SFC under-reacts: a pause of %s is %s too short: the queue is still above its threshold\n"
                "    afterwards; more messages, little harm\n",
                TIME(p->pause_ps), TIME(p->pause_ps_min - p->pause_ps));
    if (p->warnings & WEFT_PLAN_OVER_REACTING)
        fprintf(f,
                "  warning, SFC over-reacts: a pause of %s is %s too long: the queue runs empty and the link idles;\n"
                "    the one to avoid\n",
                TIME(p->pause_ps), TIME(p->pause_ps - p->pause_ps_max));
}

/// What a scenario would contain: the values above if they are in range, else the defaults.
static void print_settings(FILE *f, const struct weft_plan_sfc_found *v) {
    struct weft_plan_sfc p = v->sfc;
    if (p.warnings & ~(uint32_t)WEFT_PLAN_LOSSY) {
        struct weft_plan_sfc_conf conf = v->conf;
        conf.threshold_bytes = conf.pause_ps = conf.interval_ps = 0;
        p = weft_plan_calc_sfc(&conf, v->own_way ? &v->place.path : NULL);
    }
    if (p.warnings & ~(uint32_t)WEFT_PLAN_LOSSY || !p.threshold_bytes)
        fprintf(f, "  settings       none are in range\n");
    else
        fprintf(f, "  settings       switch.sfc: {kind: fixed, threshold: %s, pause: %s, interval: %s}\n",
                BYTES(p.threshold_bytes), TIME(p.pause_ps), TIME(p.interval_ps));
    if (v->place.queue_pairs > 1)
        fprintf(f,
                "                 host.sfc_scope: destination, for a source has %" PRIu32
                " queue pairs to the receiver, and a message\n                 pauses one of them: the others go on "
                "at the rate of the link\n",
                v->place.queue_pairs);
}

static void print_found(FILE *f, const struct weft_plan_variant *variant) {
    const struct weft_plan_sfc_found *v = &variant->sfc;
    const struct weft_plan_incast *place = &v->place;
    if (place->receiver_name)
        fprintf(f, "SFC for %" PRIu64 " to 1 at %s: queue of %s towards %s, farthest source %s\n  buffer         %s\n",
                v->conf.incast, RATE(v->conf.rate_bps), place->switch_name, place->receiver_name, place->source_name,
                place->buffer_text);
    else
        fprintf(f, "SFC for %" PRIu64 " to 1 at %s in %s\n", v->conf.incast, RATE(v->conf.rate_bps),
                weft__counted(v->conf.layers, "layer").text);
    print_pfc(f, v);
    print_way(f, v);
    print_sfc(f, v);
    print_warnings(f, v);
    print_settings(f, v);
}

static void print_values(FILE *file, const void *subject) {
    print_found(file, subject);
}

static enum weft_status load_values(const struct plan *plan, bool defaults, struct weft_plan_sfc_conf *conf,
                                    struct weft_arena *arena, struct weft_error *ret_error) {
    enum weft_status status = plan_load(plan, defaults, conf, arena, ret_error);
    if (!status && conf->best_effort && conf->pfc_threshold_bytes && plan_given(plan, "pfc_threshold"))
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--pfc-threshold: best effort has no PFC");
    return status;
}

static enum weft_status by_values(const struct plan *plan, const struct weft_cli_options *o,
                                  struct weft_error *ret_error) {
    struct weft_plan_variant v = {.sfc = {.plan = plan->name}};
    WEFT_TRY(load_values(plan, true, &v.sfc.conf, o->arena, ret_error));
    v.sfc.sfc = weft_plan_calc_sfc(&v.sfc.conf, NULL);
    v.sfc.warnings = weft_plan_warnings(v.sfc.sfc.warnings, weft_plan_warning_names, v.sfc.warning);
    return weft_cli_answer(o, plan->values, &v, print_values, ret_error);
}

/// The headroom of PFC with the values that options override.
static void set_headroom(const struct plan *plan, struct weft_plan_pfc_conf pfc, struct weft_plan_sfc_conf *conf) {
    if (!pfc.rate_bps || conf->best_effort) return;
    if (plan_given(plan, "rate")) pfc.rate_bps = conf->rate_bps;
    if (plan_given(plan, "delay")) pfc.delay_ps = conf->delay_ps;
    if (plan_given(plan, "processing")) pfc.processing_ps = conf->processing_ps;
    conf->pfc_headroom_bytes = weft_plan_calc_pfc(&pfc).headroom_bytes;
}

static enum weft_status by_scenario(const struct plan *plan, const struct weft_cli_options *o,
                                    const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, struct weft_plan_variant *ret_variant,
                                    struct weft_error *ret_error) {
    struct weft_plan_sfc_found *v = &ret_variant->sfc;
    v->place = weft_plan_scenario_incast(scenario, topology, workload, o->arena);
    if (v->place.receiver == WEFT_NONE)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = scenario->path},
                           "no host has two senders: there is no incast to plan for");
    v->conf = v->place.conf;
    WEFT_TRY(load_values(plan, false, &v->conf, o->arena, ret_error));
    set_headroom(plan, v->place.pfc, &v->conf);
    v->own_way = !plan_given(plan, "delay") && !plan_given(plan, "processing") && !plan_given(plan, "layers");
    v->sfc = weft_plan_calc_sfc(&v->conf, v->own_way ? &v->place.path : NULL);
    if (v->place.sfc && !v->conf.interval_ps) v->sfc.interval_ps = 0; // the configuration is checked, not completed
    v->warnings = weft_plan_warnings(v->sfc.warnings, weft_plan_warning_names, v->warning);
    return WEFT_OK;
}

const struct plan plan_sfc = {
    .name = "sfc",
    .about =
        "Source Flow Control (IEEE P802.1Qdw): headroom, allowed thresholds, pause range\n"
        "What is given is judged: too slow, under-reacting, over-reacting. With a SCENARIO: for the host that most\n"
        "others send to, with what the scenario says; options override it. docs/plan-sfc.md explains it.\n"
        "With --run TIME|full|off or --out FILE it is advice on the scenario instead, as weft plan ecn gives it\n"
        "(docs/advice.md).",
    .table = &weft_plan_sfc_table,
    .values = &weft__answer_plan_sfc,
    .scenario = &weft__answer_plan_sfc_scenario,
    .by_values = by_values,
    .by_scenario = by_scenario,
    .print = print_found,
};
