// SPDX-License-Identifier: Apache-2.0
// weft plan dsf: credits, presets, speed-up, buffers and distances of a disaggregated scheduled fabric.
#include <inttypes.h>
#include <stdio.h>

#include "plan.h"
#include "weft/packet.h"
#include "weft/plan_dsf.h"

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

static void print_speedup(FILE *f, const struct weft_plan_dsf_sort *v) {
    const struct weft_plan_dsf_conf *c = &v->conf;
    const struct weft_plan_dsf *p = &v->dsf;
    fprintf(f, "  ports          %" PRIu64 " x %s = %s\n", c->ports, RATE(c->rate_bps), RATE(p->ports_bps));
    fprintf(f, "  fabric, raw    %s x %s = %s: %.2f times the ports\n", weft__counted(c->lanes, "lane").text,
            RATE(c->lane_rate_bps), RATE(p->raw_bps), p->raw_speedup);
    fprintf(f, "  after FEC      x %.6g = %s: %.2f\n", c->lane_coding, RATE(p->coded_bps), p->coded_speedup);
    fprintf(f, "  full cells     x %s / %s = %s: %.2f\n", BYTES(c->cell_bytes),
            BYTES(c->cell_bytes + c->cell_header_bytes), about_rate(p->payload_bps).text, p->net_speedup);
    fprintf(f, "  full packets   %s on the wire, %s of %s in the fabric: %.2f\n", BYTES(p->frame_bytes),
            weft__counted(p->frame_cells, "cell").text, BYTES(p->fabric_bytes), p->frame_speedup);
}

static void print_loop(FILE *f, const struct weft_plan_dsf_sort *v) {
    const struct weft_plan_dsf_conf *c = &v->conf;
    const struct weft_plan_dsf *p = &v->dsf;
    if (c->rtt_ps)
        fprintf(f, "  credit loop    %s, given\n", TIME(p->rtt_ps));
    else
        fprintf(f, "  credit loop    2 x (%s of cables + (%" PRIu64 " + 1) nodes x %s) = %s\n", TIME(c->delay_ps),
                c->nodes, TIME(c->processing_ps), TIME(p->rtt_ps));
    fprintf(f, "  credits        %s x %s / (8 x %s) = %" PRIu64 " in flight, %s\n", RATE(c->rate_bps), TIME(p->rtt_ps),
            BYTES(c->credit_bytes), p->credits_needed, BYTES(p->needed_bytes));
    fprintf(f, "  throughput     min(%s, %" PRIu64 " x %s x 8 / %s) = %s\n", RATE(c->rate_bps), p->credits,
            BYTES(c->credit_bytes), TIME(p->rtt_ps), RATE(p->throughput_bps));
    fprintf(f, "  one each       %s x 8 / (%s x %.6g) = %s\n", BYTES(c->credit_bytes), RATE(c->rate_bps), c->speedup,
            TIME(p->credit_interval_ps));
}

static void print_presets(FILE *f, const struct weft_plan_dsf_sort *v) {
    const struct weft_plan_dsf_conf *c = &v->conf;
    const struct weft_plan_dsf *p = &v->dsf;
    const struct weft__quantity_text credit_text = weft__bytes_text(c->credit_bytes);
    const char *credit = credit_text.text;
    fprintf(f, "  presets of a VOQ, %s, with a fabric delay of %s\n", p->slow_bytes ? "slow enabled" : "slow disabled",
            TIME(c->fabric_delay_ps));
    fprintf(f, "    in flight    max(2, %s x %s / (8 x %s)) = %s\n", RATE(c->rate_bps), TIME(c->fabric_delay_ps),
            credit, weft__counted(p->inflight, "credit").text);
    if (p->slow_bytes) {
        fprintf(f, "    satisfied    with credit for what it holds; 2 x %s = %s at most while empty\n", credit,
                BYTES(p->balance_bytes_max));
        fprintf(f, "    slow         while it lacks up to 2 x (%" PRIu64 " + 1) x %s = %s; 7 more levels, %s each\n",
                p->inflight, credit, BYTES(p->slow_bytes), BYTES(p->slow_bytes / 8));
    } else {
        fprintf(f, "    satisfied    %s x (%" PRIu64 " + 1) = %s beyond what it holds; never slow\n", credit,
                p->inflight, BYTES(p->empty_bytes));
        fprintf(f, "    balance      min(500KB, (3 x %" PRIu64 " - 1) x %s) = %s at most while empty\n", p->inflight,
                credit, BYTES(p->balance_bytes_max));
    }
    fprintf(f, "    backoff      %s, %s, %s; a VOQ without credit is emptied after 500ms\n", BYTES(p->backoff_bytes[0]),
            BYTES(p->backoff_bytes[1]), BYTES(p->backoff_bytes[2]));
}

static void print_rci(FILE *f, const struct weft_plan_dsf_sort *v) {
    const struct weft_plan_dsf *p = &v->dsf;
    fprintf(f, "  congestion     %s x %s x 0.9 x 0.95 x 0.99 x 0.95 / (level + 1):\n                ",
            weft__counted(v->conf.lanes, "lane").text, RATE(v->conf.lane_rate_bps));
    for (unsigned level = 0; level < WEFT_PLAN_RCI_LEVELS; level++) {
        fprintf(f, " %u: %s%s", level, level ? about_rate(p->rci_bps[level]).text : "no limit",
                level + 1 < WEFT_PLAN_RCI_LEVELS ? "," : "\n");
    }
}

static void print_buffers(FILE *f, const struct weft_plan_dsf_sort *v) {
    const struct weft_plan_dsf_conf *c = &v->conf;
    const struct weft_plan_dsf *p = &v->dsf;
    weft_bytes frame = p->frame_bytes - WEFT_WIRE_OVERHEAD;
    fprintf(f, "  egress         stop at %s + %s x %.6g x %s / 8 = %s a port that is paused\n",
            BYTES(c->egress_stop_bytes), RATE(c->rate_bps), c->speedup, TIME(p->rtt_ps), BYTES(p->egress_bytes));
    fprintf(f, "  reassembly     %s x %s / 8 + (%" PRIu64 " - 1) x %s = %s at most\n", TIME(c->skew_ps),
            about_rate(p->arriving_bps).text, c->interfaces, BYTES(frame), BYTES(p->reassembly_bytes));
    fprintf(f, "                 with full FIFOs %" PRIu64 " x %s x %s x 8 / lane = %s apart\n", c->nodes,
            weft__counted(c->fifo_cells, "cell").text, BYTES(c->cell_bytes + c->cell_header_bytes),
            about_time(p->skew_ps_max).text);
    fprintf(f, "  absorbs        all ports for %s x 8 / %s = %s on chip, %s in %s\n", BYTES(c->sram_bytes),
            RATE(p->ports_bps), about_time(p->sram_ps).text, about_time(p->buffer_ps).text, BYTES(c->buffer_bytes));
    fprintf(f, "                 %" PRIu64 " to 1: each source has %s too much, %s until its VOQ has half the buffer\n",
            c->incast, RATE(p->incast_excess_bps), about_time(p->voq_ps).text);
}

static void print_pfc(FILE *f, const struct weft_plan_dsf_sort *v) {
    const struct weft_plan_dsf_conf *c = &v->conf;
    const struct weft_plan_dsf *p = &v->dsf;
    fprintf(f,
            "  PFC to NICs    headroom %s a port (weft plan pfc --rate %s --delay %s --processing %s --port-mtu %s)\n",
            BYTES(p->pfc.headroom_bytes), RATE(c->rate_bps), TIME(c->host_delay_ps), TIME(c->processing_ps),
            BYTES(c->mtu_bytes));
    if (p->xoff_bytes_max)
        fprintf(f, "                 XOFF at most (%s - %" PRIu64 " x %s) / %" PRIu64 " = %s on chip\n",
                BYTES(c->sram_bytes), c->ports, BYTES(p->pfc.headroom_bytes), c->ports, BYTES(p->xoff_bytes_max));
}

static void print_distance(FILE *f, const struct weft_plan_dsf_sort *v) {
    const struct weft_plan_dsf_conf *c = &v->conf;
    const struct weft_plan_dsf *p = &v->dsf;
    if (!(c->distance_km > 0)) return;
    fprintf(f, "  distance       %.6g km x 5us = %s one way; a port has 2 x %s x %s / 8 = %s in flight\n",
            c->distance_km, TIME(p->far_ps), TIME(p->far_ps), RATE(c->rate_bps), BYTES(p->far_bytes));
    fprintf(f, "    PFC          headroom %s a port\n", BYTES(p->far_pfc.headroom_bytes));
    fprintf(f, "    credits      if the fabric went so far: %" PRIu64 " in flight, %s\n", p->far_credits,
            BYTES(p->far_credits * c->credit_bytes));
}

static const char *const advice[WEFT_PLAN_DSF_WARNINGS] = {
    "the fabric carries less than the ports",
    "fewer credits in flight than the loop takes: the port idles",
    "the loop takes more credits than the 500KB that the preset lets a VOQ hold at most",
    "PFC headroom of all ports is more than the on-chip buffer",
    "reassembly may need more than the on-chip buffer",
};

static void print_node(FILE *f, const struct weft_plan_dsf_sort *v) {
    print_speedup(f, v);
    print_loop(f, v);
    print_presets(f, v);
    print_rci(f, v);
    print_buffers(f, v);
    print_pfc(f, v);
    print_distance(f, v);
    for (unsigned i = 0; i < WEFT_PLAN_DSF_WARNINGS; i++)
        if (v->dsf.warnings >> i & 1) fprintf(f, "  warning, %s: %s\n", weft_plan_dsf_warning_names[i], advice[i]);
}

static void print_values(FILE *file, const void *subject) {
    fprintf(file, "DSF interface node\n");
    print_node(file, subject);
}

static enum weft_status by_values(const struct plan *plan, const struct weft_cli_options *o,
                                  struct weft_error *ret_error) {
    struct weft_plan_dsf_sort sort = {.plan = plan->name, .nodes = WEFT_NONE};
    WEFT_TRY(plan_load(plan, true, &sort.conf, o->arena, ret_error));
    weft_plan_dsf_judge(&sort);
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
        return WEFT_REFUSE(ret_error, scenario->topology.place,
                           "the topology has no DSF interface nodes with ports on both sides; expected one such as "
                           "dsf_l2_zone");
    for (uint32_t i = 0; i < ret_variant->sorts && !status; i++) {
        status = plan_load(plan, false, &sort[i].conf, o->arena, ret_error); // options override the topology
        if (!status) weft_plan_dsf_judge(&sort[i]);
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
