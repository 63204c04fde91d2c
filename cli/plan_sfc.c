// SPDX-License-Identifier: Apache-2.0
// weft plan sfc: thresholds and pause times of Source Flow Control.
#include <inttypes.h>
#include <stdio.h>

#include "plan.h"

#include "base/units.h"

struct view {
    const struct weft_plan_sfc_conf *conf;
    const struct weft_plan_sfc *sfc;
    const struct weft_plan_place *place; ///< NULL: no scenario
    bool own_way;                        ///< use the place's path, not that of conf
    struct weft_arena *arena;
};

#define TIME(v, t) plan_time((v)->arena, t)
#define BYTES(v, b) plan_bytes((v)->arena, b)
#define RATE(v) plan_rate((v)->arena, (v)->conf->rate_bps)

static const char *given_text(const struct view *v) {
    return v->place ? "in force" : "given";
}

static void print_pfc(FILE *f, const struct view *v) {
    const struct weft_plan_sfc_conf *c = v->conf;
    const struct weft_plan_sfc *p = v->sfc;
    if (c->best_effort) {
        fprintf(f, "  no PFC         frames are dropped above the buffer of %s\n", BYTES(v, c->buffer_bytes));
        return;
    }
    if (c->pfc_headroom_bytes)
        fprintf(f, "  PFC headroom   %s, formula bound (weft plan pfc)\n", BYTES(v, p->pfc_headroom_bytes));
    else
        fprintf(f, "  PFC headroom   (2 x %s + %s) x %s / 8 = %s\n", TIME(v, c->delay_ps), TIME(v, c->processing_ps),
                RATE(v), BYTES(v, p->pfc_headroom_bytes));
    fprintf(f, "  PFC threshold  at most %s - %s = %s", BYTES(v, c->buffer_bytes), BYTES(v, p->pfc_headroom_bytes),
            BYTES(v, p->pfc_threshold_bytes_max));
    if (c->pfc_threshold_bytes) fprintf(f, "; %s: %s", given_text(v), BYTES(v, c->pfc_threshold_bytes));
    putc('\n', f);
}

static void print_way(FILE *f, const struct view *v) {
    const struct weft_plan_way *way = &v->sfc->way;
    if (v->own_way && !v->place->alike)
        fprintf(f, "  round trip     %s there and back, %s, each with its own delay: %s\n",
                weft__counted(way->links, "link").text, weft__counted(way->passes, "switch").text,
                TIME(v, way->round_trip_ps));
    else
        fprintf(f, "  round trip     %s x 2 x %s + %s x %s = %s\n", weft__counted(way->links, "link").text,
                TIME(v, v->conf->delay_ps), weft__counted(way->passes, "switch").text, TIME(v, v->conf->processing_ps),
                TIME(v, way->round_trip_ps));
}

static void print_sfc(FILE *f, const struct view *v) {
    const struct weft_plan_sfc_conf *c = v->conf;
    const struct weft_plan_sfc *p = v->sfc;
    const char *headroom = BYTES(v, p->headroom_bytes), *threshold = BYTES(v, p->threshold_bytes);
    fprintf(f, "  SFC headroom   (%" PRIu64 " - 1) x %s x %s / 8 = %" PRIu64 " x %s = %s\n", c->incast,
            TIME(v, p->way.round_trip_ps), RATE(v), c->incast - 1, BYTES(v, p->excess_bytes), headroom);
    if (p->threshold_bytes_max)
        fprintf(f, "  SFC threshold  at most %s - %s = %s", BYTES(v, p->pfc_threshold_bytes), headroom,
                BYTES(v, p->threshold_bytes_max));
    else
        fprintf(f, "  SFC threshold  none is allowed: %s - %s leaves nothing", BYTES(v, p->pfc_threshold_bytes),
                headroom);
    if (p->threshold_bytes) fprintf(f, "; %s: %s", c->threshold_bytes ? given_text(v) : "chosen", threshold);
    fprintf(f, "\n  SFC pause      above %s x 8 / %s = %s\n", headroom, RATE(v), TIME(v, p->pause_ps_min));
    fprintf(f, "                 below (%s + %s) x 8 / %s = %s\n", headroom, threshold, RATE(v),
            TIME(v, p->pause_ps_max));
    fprintf(f, "                 (%s, %s); %s: %s, ", TIME(v, p->pause_ps_min), TIME(v, p->pause_ps_max),
            c->pause_ps ? given_text(v) : "chosen", TIME(v, p->pause_ps));
    if (p->interval_ps)
        fprintf(f, "messages at least %s apart\n", TIME(v, p->interval_ps));
    else
        fprintf(f, "a message for every packet above the threshold\n");
}

static void print_warnings(FILE *f, const struct view *v) {
    const struct weft_plan_sfc *p = v->sfc;
    if (!p->warnings) fprintf(f, "  all in range\n");
    if (p->warnings & WEFT_PLAN_LOSSY)
        fprintf(
            f,
            "  warning, lossy: PFC threshold %s + headroom %s is above the buffer of %s: frames are lost while the\n"
            "    pause takes effect\n",
            BYTES(v, p->pfc_threshold_bytes), BYTES(v, p->pfc_headroom_bytes), BYTES(v, v->conf->buffer_bytes));
    if (p->warnings & WEFT_PLAN_TOO_SLOW)
        fprintf(f,
                "  warning, SFC reacts too slowly: SFC threshold %s + headroom %s is above the %s of %s:\n"
                "    %s before SFC takes effect\n",
                BYTES(v, p->threshold_bytes), BYTES(v, p->headroom_bytes),
                v->conf->best_effort ? "buffer" : "PFC threshold", BYTES(v, p->pfc_threshold_bytes),
                v->conf->best_effort ? "frames are dropped" : "PFC pauses");
    if (p->warnings & WEFT_PLAN_UNDER_REACTING)
        fprintf(f,
                "  warning, SFC under-reacts: a pause of %s is %s too short: the queue is still above its threshold\n"
                "    afterwards; more messages, little harm\n",
                TIME(v, p->pause_ps), TIME(v, p->pause_ps_min - p->pause_ps));
    if (p->warnings & WEFT_PLAN_OVER_REACTING)
        fprintf(f,
                "  warning, SFC over-reacts: a pause of %s is %s too long: the queue runs empty and the link idles;\n"
                "    the one to avoid\n",
                TIME(v, p->pause_ps), TIME(v, p->pause_ps - p->pause_ps_max));
}

/// What a scenario would contain: the values above if they are in range, else the defaults.
static void print_settings(FILE *f, const struct view *v) {
    struct weft_plan_sfc p = *v->sfc;
    if (p.warnings & ~(uint32_t)WEFT_PLAN_LOSSY) {
        struct weft_plan_sfc_conf conf = *v->conf;
        conf.threshold_bytes = conf.pause_ps = conf.interval_ps = 0;
        p = weft_plan_calc_sfc(&conf, v->own_way ? &v->place->way : NULL);
    }
    if (p.warnings & ~(uint32_t)WEFT_PLAN_LOSSY || !p.threshold_bytes)
        fprintf(f, "  settings       none are in range\n");
    else
        fprintf(f, "  settings       switch.sfc: {kind: fixed, threshold: %s, pause: %s, interval: %s}\n",
                BYTES(v, p.threshold_bytes), TIME(v, p.pause_ps), TIME(v, p.interval_ps));
}

static void print_text(FILE *f, const struct view *v) {
    const struct weft_plan_place *place = v->place;
    if (place)
        fprintf(f, "SFC for %" PRIu64 " to 1 at %s: queue of %s towards %s, farthest source %s\n  buffer         %s\n",
                v->conf->incast, RATE(v), place->switch_name, place->receiver_name, place->source_name,
                place->buffer_text);
    else
        fprintf(f, "SFC for %" PRIu64 " to 1 at %s in %s\n", v->conf->incast, RATE(v),
                weft__counted(v->conf->layers, "layer").text);
    print_pfc(f, v);
    print_way(f, v);
    print_sfc(f, v);
    print_warnings(f, v);
    print_settings(f, v);
}

static void json_inputs(struct weft__json *j, const struct weft_plan_sfc_conf *c) {
    weft__json_key(j, "inputs");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "rate_bps", c->rate_bps);
    weft__json_key_u64(j, "delay_ps", c->delay_ps);
    weft__json_key_u64(j, "processing_ps", c->processing_ps);
    weft__json_key_u64(j, "layers", c->layers);
    weft__json_key_u64(j, "incast", c->incast);
    weft__json_key_u64(j, "buffer_bytes", c->buffer_bytes);
    weft__json_key_u64(j, "pfc_threshold_bytes", c->pfc_threshold_bytes);
    weft__json_key_u64(j, "threshold_bytes", c->threshold_bytes);
    weft__json_key_u64(j, "pause_ps", c->pause_ps);
    weft__json_key_u64(j, "interval_ps", c->interval_ps);
    weft__json_key_bool(j, "best_effort", c->best_effort);
    weft__json_end_object(j);
}

static void json_place(struct weft__json *j, const struct weft_plan_place *place) {
    weft__json_key_string(j, "receiver", place->receiver_name);
    weft__json_key_string(j, "switch", place->switch_name);
    weft__json_key_string(j, "source", place->source_name);
}

static void print_json(struct weft__json *j, const struct view *v, const char *variant) {
    const struct weft_plan_sfc *p = v->sfc;
    weft__json_begin_object(j);
    if (variant)
        weft__json_key_string(j, "variant", variant);
    else
        weft__json_key_string(j, "plan", "sfc");
    if (v->place) json_place(j, v->place);
    json_inputs(j, v->conf);
    weft__json_key_u64(j, "links", p->way.links);
    weft__json_key_u64(j, "switch_passes", p->way.passes);
    weft__json_key_u64(j, "round_trip_ps", p->way.round_trip_ps);
    weft__json_key_u64(j, "pfc_headroom_bytes", p->pfc_headroom_bytes);
    weft__json_key_u64(j, "pfc_threshold_bytes_max", p->pfc_threshold_bytes_max);
    weft__json_key_u64(j, "pfc_threshold_bytes", p->pfc_threshold_bytes);
    weft__json_key_u64(j, "excess_bytes", p->excess_bytes);
    weft__json_key_u64(j, "headroom_bytes", p->headroom_bytes);
    weft__json_key_u64(j, "threshold_bytes_max", p->threshold_bytes_max);
    weft__json_key_u64(j, "threshold_bytes", p->threshold_bytes);
    weft__json_key_u64(j, "pause_ps_min", p->pause_ps_min);
    weft__json_key_u64(j, "pause_ps_max", p->pause_ps_max);
    weft__json_key_u64(j, "pause_ps", p->pause_ps);
    weft__json_key_u64(j, "interval_ps", p->interval_ps);
    weft__json_key(j, "warnings");
    weft__json_begin_array(j);
    for (unsigned w = 0; w < WEFT_PLAN_WARNINGS; w++)
        if (p->warnings >> w & 1) weft__json_string(j, weft_plan_warning_names[w]);
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static enum weft_status load_conf(const struct plan *plan, bool defaults, struct weft_plan_sfc_conf *conf,
                                  struct weft_arena *arena, struct weft_error *ret_error) {
    enum weft_status status = plan_load(plan, defaults, conf, arena, ret_error);
    if (!status && conf->best_effort && conf->pfc_threshold_bytes && plan_given(plan, "pfc_threshold"))
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--pfc-threshold: best effort has no PFC");
    return status;
}

static enum weft_status by_values(const struct plan *plan, const struct weft_cli_options *o, struct weft__json *j,
                                  struct weft_error *ret_error) {
    struct weft_plan_sfc_conf conf;
    enum weft_status status = load_conf(plan, true, &conf, o->arena, ret_error);
    if (status) return status;
    struct weft_plan_sfc sfc = weft_plan_calc_sfc(&conf, NULL);
    struct view v = {.conf = &conf, .sfc = &sfc, .arena = o->arena};
    if (j)
        print_json(j, &v, NULL);
    else
        print_text(stdout, &v);
    return WEFT_OK;
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
                                    const struct weft_workload *workload, FILE *file, struct weft__json *j,
                                    struct weft_error *ret_error) {
    struct weft_plan_place place = weft_plan_scenario_place(scenario, topology, workload, scenario->arena);
    if (place.receiver == WEFT_NONE)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = scenario->path},
                              "no host has two senders: there is no incast to plan for");
    struct weft_plan_sfc_conf conf = place.conf;
    enum weft_status status = load_conf(plan, false, &conf, o->arena, ret_error);
    if (status) return status;
    set_headroom(plan, place.pfc, &conf);
    bool own_way = !plan_given(plan, "delay") && !plan_given(plan, "processing") && !plan_given(plan, "layers");
    struct weft_plan_sfc sfc = weft_plan_calc_sfc(&conf, own_way ? &place.way : NULL);
    if (place.sfc && !conf.interval_ps) sfc.interval_ps = 0; // the configuration is checked, not completed
    struct view v = {&conf, &sfc, &place, own_way, o->arena};
    if (j)
        print_json(j, &v, scenario->variant);
    else
        print_text(file, &v);
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
    .by_values = by_values,
    .by_scenario = by_scenario,
};
