// SPDX-License-Identifier: Apache-2.0
// weft plan dsf: credits, presets, speed-up, buffers and distances of a disaggregated scheduled fabric.
#include <inttypes.h>
#include <stdio.h>

#include "plan.h"
#include "weft/packet.h"
#include "weft/plan_dsf.h"

#include "base/units.h"

struct view {
    FILE *file;
    const struct weft_plan_dsf_conf *conf;
    const struct weft_plan_dsf *dsf;
};

#define TIME(t) weft__time_text(t).text
#define BYTES(b) weft__bytes_text(b).text
#define RATE(r) weft__rate_text(r).text

/// With three digits, because it is the result of a division.
static struct weft__quantity_text about_time(weft_time_ps time) {
    struct weft__quantity_text t;
    weft_format_time(time, t.text, sizeof t.text);
    return t;
}

static struct weft__quantity_text about_rate(weft_rate_bps rate) {
    struct weft__quantity_text t;
    weft_format_rate(rate, t.text, sizeof t.text);
    return t;
}

static void print_speedup(const struct view *v) {
    const struct weft_plan_dsf_conf *c = v->conf;
    const struct weft_plan_dsf *p = v->dsf;
    fprintf(v->file, "  ports          %" PRIu64 " x %s = %s\n", c->ports, RATE(c->rate_bps), RATE(p->ports_bps));
    fprintf(v->file, "  fabric, raw    %s x %s = %s: %.2f times the ports\n", weft__counted(c->lanes, "lane").text,
            RATE(c->lane_rate_bps), RATE(p->raw_bps), p->raw_speedup);
    fprintf(v->file, "  after FEC      x %.6g = %s: %.2f\n", c->lane_coding, RATE(p->coded_bps), p->coded_speedup);
    fprintf(v->file, "  full cells     x %s / %s = %s: %.2f\n", BYTES(c->cell_bytes),
            BYTES(c->cell_bytes + c->cell_header_bytes), about_rate(p->payload_bps).text, p->net_speedup);
    fprintf(v->file, "  full packets   %s on the wire, %s of %s in the fabric: %.2f\n", BYTES(p->frame_bytes),
            weft__counted(p->frame_cells, "cell").text, BYTES(p->fabric_bytes), p->frame_speedup);
}

static void print_loop(const struct view *v) {
    const struct weft_plan_dsf_conf *c = v->conf;
    const struct weft_plan_dsf *p = v->dsf;
    if (c->rtt_ps)
        fprintf(v->file, "  credit loop    %s, given\n", TIME(p->rtt_ps));
    else
        fprintf(v->file, "  credit loop    2 x (%s of cables + (%" PRIu64 " + 1) nodes x %s) = %s\n", TIME(c->delay_ps),
                c->nodes, TIME(c->processing_ps), TIME(p->rtt_ps));
    fprintf(v->file, "  credits        %s x %s / (8 x %s) = %" PRIu64 " in flight, %s\n", RATE(c->rate_bps),
            TIME(p->rtt_ps), BYTES(c->credit_bytes), p->credits_needed, BYTES(p->needed_bytes));
    fprintf(v->file, "  throughput     min(%s, %" PRIu64 " x %s x 8 / %s) = %s\n", RATE(c->rate_bps), p->credits,
            BYTES(c->credit_bytes), TIME(p->rtt_ps), RATE(p->throughput_bps));
    fprintf(v->file, "  one each       %s x 8 / (%s x %.6g) = %s\n", BYTES(c->credit_bytes), RATE(c->rate_bps),
            c->speedup, TIME(p->credit_interval_ps));
}

static void print_presets(const struct view *v) {
    const struct weft_plan_dsf_conf *c = v->conf;
    const struct weft_plan_dsf *p = v->dsf;
    const struct weft__quantity_text credit_text = weft__bytes_text(c->credit_bytes);
    const char *credit = credit_text.text;
    fprintf(v->file, "  presets of a VOQ, with a fabric delay of %s\n", TIME(c->fabric_delay_ps));
    fprintf(v->file, "    in flight    max(2, %s x %s / (8 x %s)) = %s\n", RATE(c->rate_bps), TIME(c->fabric_delay_ps),
            credit, weft__counted(p->inflight, "credit").text);
    fprintf(v->file, "    satisfied    %s x (%" PRIu64 " + 1) = %s held while empty\n", credit, p->inflight,
            BYTES(p->empty_bytes));
    fprintf(v->file, "    balance      min(500KB, 3 x %" PRIu64 " x %s - %s) = %s at most while empty\n", p->inflight,
            credit, credit, BYTES(p->balance_bytes_max));
    fprintf(v->file, "    slow         above 2 x (%" PRIu64 " + 2) x %s = %s; 7 levels, %s to %s\n", p->inflight,
            credit, BYTES(p->slow_bytes), RATE(c->rate_bps / 8), RATE(c->rate_bps / 8 * 7));
    fprintf(v->file, "    backoff      %s, %s, %s; a VOQ without credit is emptied after 500ms\n",
            BYTES(p->backoff_bytes[0]), BYTES(p->backoff_bytes[1]), BYTES(p->backoff_bytes[2]));
}

static void print_rci(const struct view *v) {
    const struct weft_plan_dsf *p = v->dsf;
    fprintf(v->file, "  congestion     %s x %s x 0.9 x 0.95 x 0.99 x 0.95 / (level + 1):\n                ",
            weft__counted(v->conf->lanes, "lane").text, RATE(v->conf->lane_rate_bps));
    for (unsigned level = 0; level < WEFT_PLAN_RCI_LEVELS; level++) {
        fprintf(v->file, " %u: %s%s", level, level ? about_rate(p->rci_bps[level]).text : "no limit",
                level + 1 < WEFT_PLAN_RCI_LEVELS ? "," : "\n");
    }
}

static void print_buffers(const struct view *v) {
    const struct weft_plan_dsf_conf *c = v->conf;
    const struct weft_plan_dsf *p = v->dsf;
    weft_bytes frame = p->frame_bytes - WEFT_WIRE_OVERHEAD;
    fprintf(v->file, "  egress         stop at %s + %s x %.6g x %s / 8 = %s a port that is paused\n",
            BYTES(c->egress_stop_bytes), RATE(c->rate_bps), c->speedup, TIME(p->rtt_ps), BYTES(p->egress_bytes));
    fprintf(v->file, "  reassembly     %s x %s / 8 + (%" PRIu64 " - 1) x %s = %s at most\n", TIME(c->skew_ps),
            about_rate(p->arriving_bps).text, c->interfaces, BYTES(frame), BYTES(p->reassembly_bytes));
    fprintf(v->file, "                 with full FIFOs %" PRIu64 " x %s x %s x 8 / lane = %s apart\n", c->nodes,
            weft__counted(c->fifo_cells, "cell").text, BYTES(c->cell_bytes + c->cell_header_bytes),
            about_time(p->skew_ps_max).text);
    fprintf(v->file, "  absorbs        all ports for %s x 8 / %s = %s on chip, %s in %s\n", BYTES(c->sram_bytes),
            RATE(p->ports_bps), about_time(p->sram_ps).text, about_time(p->buffer_ps).text, BYTES(c->buffer_bytes));
    fprintf(v->file,
            "                 %" PRIu64 " to 1: each source has %s too much, %s until its VOQ has half the buffer\n",
            c->incast, RATE(p->incast_excess_bps), about_time(p->voq_ps).text);
}

static void print_pfc(const struct view *v) {
    const struct weft_plan_dsf_conf *c = v->conf;
    const struct weft_plan_dsf *p = v->dsf;
    fprintf(v->file,
            "  PFC to NICs    headroom %s a port (weft plan pfc --rate %s --delay %s --processing %s --port-mtu %s)\n",
            BYTES(p->pfc.headroom_bytes), RATE(c->rate_bps), TIME(c->host_delay_ps), TIME(c->processing_ps),
            BYTES(c->mtu_bytes));
    if (p->xoff_bytes_max)
        fprintf(v->file, "                 XOFF at most (%s - %" PRIu64 " x %s) / %" PRIu64 " = %s on chip\n",
                BYTES(c->sram_bytes), c->ports, BYTES(p->pfc.headroom_bytes), c->ports, BYTES(p->xoff_bytes_max));
}

static void print_distance(const struct view *v) {
    const struct weft_plan_dsf_conf *c = v->conf;
    const struct weft_plan_dsf *p = v->dsf;
    if (!(c->distance_km > 0)) return;
    fprintf(v->file, "  distance       %.6g km x 5us = %s one way; a port has 2 x %s x %s / 8 = %s in flight\n",
            c->distance_km, TIME(p->far_ps), TIME(p->far_ps), RATE(c->rate_bps), BYTES(p->far_bytes));
    fprintf(v->file, "    PFC          headroom %s a port\n", BYTES(p->far_pfc.headroom_bytes));
    fprintf(v->file, "    credits      if the fabric went so far: %" PRIu64 " in flight, %s\n", p->far_credits,
            BYTES(p->far_credits * c->credit_bytes));
}

static const char *const advice[WEFT_PLAN_DSF_WARNINGS] = {
    "the fabric carries less than the ports",
    "fewer credits in flight than the loop takes: the port idles",
    "the loop takes more credits than the 500KB that the preset lets a VOQ hold at most",
    "PFC headroom of all ports is more than the on-chip buffer",
    "reassembly may need more than the on-chip buffer",
};

static void print_node(FILE *file, const struct weft_plan_dsf_sort *sort) {
    const struct view all = {file, &sort->conf, &sort->dsf}, *v = &all;
    print_speedup(v);
    print_loop(v);
    print_presets(v);
    print_rci(v);
    print_buffers(v);
    print_pfc(v);
    print_distance(v);
    for (unsigned i = 0; i < WEFT_PLAN_DSF_WARNINGS; i++)
        if (v->dsf->warnings >> i & 1)
            fprintf(v->file, "  warning, %s: %s\n", weft_plan_dsf_warning_names[i], advice[i]);
}

static void print_values(FILE *file, const void *subject) {
    fprintf(file, "DSF interface node\n");
    print_node(file, subject);
}

static enum weft_status by_values(const struct plan *plan, const struct weft_cli_options *o,
                                  struct weft_error *ret_error) {
    struct weft_plan_dsf_sort sort = {.plan = plan->name, .nodes = WEFT_NONE};
    enum weft_status status = plan_load(plan, true, &sort.conf, o->arena, ret_error);
    if (status) return status;
    weft_plan_dsf_judge(&sort, o->arena);
    return weft_cli_answer(o, plan->values, &sort, print_values, ret_error);
}

static enum weft_status by_scenario(const struct plan *plan, const struct weft_cli_options *o,
                                    const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, struct weft_plan_variant *ret_variant,
                                    struct weft_error *ret_error) {
    struct weft_plan_dsf_conf base;
    enum weft_status status = plan_load(plan, true, &base, o->arena, ret_error);
    if (status) return status;
    struct weft_plan_dsf_sort *sort = weft_plan_topology_dsf(topology, &base, o->arena, &ret_variant->sorts);
    ret_variant->sort = sort;
    if (!ret_variant->sorts)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, scenario->topology.place,
                              "the topology has no DSF interface nodes with ports on both sides; expected one such as "
                              "dsf_l2_zone");
    for (uint32_t i = 0; i < ret_variant->sorts && !status; i++) {
        status = plan_load(plan, false, &sort[i].conf, o->arena, ret_error); // options override the topology
        if (!status) weft_plan_dsf_judge(&sort[i], o->arena);
    }
    return status;
}

static void print_nodes(FILE *file, const struct weft_plan_variant *variant) {
    for (uint32_t i = 0; i < variant->sorts; i++) {
        const struct weft_plan_dsf_sort *sort = &variant->sort[i];
        fprintf(file, "%s: %s like %s\n", sort->layer, weft__counted(sort->nodes, "interface node").text,
                sort->example);
        print_node(file, sort);
    }
}

const struct plan plan_dsf = {
    .name = "dsf",
    .about = "disaggregated scheduled fabric: credits, presets, speed-up, buffers, distance\n"
             "With a SCENARIO: for each sort of interface node of its topology; options override it.\n"
             "docs/plan-dsf.md explains the formulas.",
    .table = &weft_plan_dsf_table,
    .values = &weft__answer_plan_dsf,
    .scenario = &weft__answer_plan_dsf_scenario,
    .by_values = by_values,
    .by_scenario = by_scenario,
    .print = print_nodes,
};
