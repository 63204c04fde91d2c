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
    struct weft_arena *arena;
};

#define TIME(t) plan_time(v->arena, t)
#define BYTES(b) plan_bytes(v->arena, b)
#define RATE(r) plan_rate(v->arena, r)

/// With three digits, because it is the result of a division.
static const char *about_time(const struct view *v, weft_time_ps time) {
    char text[32];
    weft_format_time(time, text, sizeof text);
    return weft_arena_text(v->arena, text);
}

static const char *about_rate(const struct view *v, weft_rate_bps rate) {
    char text[32];
    weft_format_rate(rate, text, sizeof text);
    return weft_arena_text(v->arena, text);
}

static void print_speedup(const struct view *v) {
    const struct weft_plan_dsf_conf *c = v->conf;
    const struct weft_plan_dsf *p = v->dsf;
    fprintf(v->file, "  ports          %" PRIu64 " x %s = %s\n", c->ports, RATE(c->rate_bps), RATE(p->ports_bps));
    fprintf(v->file, "  fabric, raw    %s x %s = %s: %.2f times the ports\n", weft__counted(c->lanes, "lane").text,
            RATE(c->lane_rate_bps), RATE(p->raw_bps), p->raw_speedup);
    fprintf(v->file, "  after FEC      x %.6g = %s: %.2f\n", c->lane_coding, RATE(p->coded_bps), p->coded_speedup);
    fprintf(v->file, "  full cells     x %s / %s = %s: %.2f\n", BYTES(c->cell_bytes),
            BYTES(c->cell_bytes + c->cell_header_bytes), about_rate(v, p->payload_bps), p->net_speedup);
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
    const char *credit = BYTES(c->credit_bytes);
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
        const char *rate = level ? about_rate(v, p->rci_bps[level]) : "no limit";
        fprintf(v->file, " %u: %s%s", level, rate, level + 1 < WEFT_PLAN_RCI_LEVELS ? "," : "\n");
    }
}

static void print_buffers(const struct view *v) {
    const struct weft_plan_dsf_conf *c = v->conf;
    const struct weft_plan_dsf *p = v->dsf;
    weft_bytes frame = p->frame_bytes - WEFT_WIRE_OVERHEAD;
    fprintf(v->file, "  egress         stop at %s + %s x %.6g x %s / 8 = %s a port that is paused\n",
            BYTES(c->egress_stop_bytes), RATE(c->rate_bps), c->speedup, TIME(p->rtt_ps), BYTES(p->egress_bytes));
    fprintf(v->file, "  reassembly     %s x %s / 8 + (%" PRIu64 " - 1) x %s = %s at most\n", TIME(c->skew_ps),
            about_rate(v, p->arriving_bps), c->interfaces, BYTES(frame), BYTES(p->reassembly_bytes));
    fprintf(v->file, "                 with full FIFOs %" PRIu64 " x %s x %s x 8 / lane = %s apart\n", c->nodes,
            weft__counted(c->fifo_cells, "cell").text, BYTES(c->cell_bytes + c->cell_header_bytes),
            about_time(v, p->skew_ps_max));
    fprintf(v->file, "  absorbs        all ports for %s x 8 / %s = %s on chip, %s in %s\n", BYTES(c->sram_bytes),
            RATE(p->ports_bps), about_time(v, p->sram_ps), about_time(v, p->buffer_ps), BYTES(c->buffer_bytes));
    fprintf(v->file,
            "                 %" PRIu64 " to 1: each source has %s too much, %s until its VOQ has half the buffer\n",
            c->incast, RATE(p->incast_excess_bps), about_time(v, p->voq_ps));
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
    if (!p->far_ps) return;
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

static void print_dsf(const struct view *v) {
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

static void json_bytes_list(struct weft__json *j, const char *key, const uint64_t *value, unsigned n) {
    weft__json_key(j, key);
    weft__json_begin_array(j);
    for (unsigned i = 0; i < n; i++)
        weft__json_u64(j, value[i]);
    weft__json_end_array(j);
}

static void json_dsf(struct weft__json *j, const struct weft_plan_dsf_conf *c) {
    struct weft_plan_dsf p = weft_plan_calc_dsf(c);
    weft__json_key_u64(j, "rate_bps", c->rate_bps);
    weft__json_key_u64(j, "ports", c->ports);
    weft__json_key_u64(j, "lanes", c->lanes);
    weft__json_key_u64(j, "ports_bps", p.ports_bps);
    weft__json_key_u64(j, "fabric_raw_bps", p.raw_bps);
    weft__json_key_u64(j, "fabric_coded_bps", p.coded_bps);
    weft__json_key_u64(j, "fabric_payload_bps", p.payload_bps);
    weft__json_key_real(j, "speedup_raw", p.raw_speedup);
    weft__json_key_real(j, "speedup_coded", p.coded_speedup);
    weft__json_key_real(j, "speedup_net", p.net_speedup);
    weft__json_key_real(j, "speedup_full_packets", p.frame_speedup);
    weft__json_key_u64(j, "rtt_ps", p.rtt_ps);
    weft__json_key_u64(j, "credits_needed", p.credits_needed);
    weft__json_key_u64(j, "credits", p.credits);
    weft__json_key_u64(j, "throughput_bps", p.throughput_bps);
    weft__json_key_u64(j, "credit_interval_ps", p.credit_interval_ps);
    weft__json_key_u64(j, "inflight_credits", p.inflight);
    weft__json_key_u64(j, "empty_bytes", p.empty_bytes);
    weft__json_key_u64(j, "balance_bytes_max", p.balance_bytes_max);
    weft__json_key_u64(j, "slow_bytes", p.slow_bytes);
    json_bytes_list(j, "backoff_bytes", p.backoff_bytes, WEFT_PLAN_BACKOFFS);
    json_bytes_list(j, "rci_bps", p.rci_bps + 1, WEFT_PLAN_RCI_LEVELS - 1);
    weft__json_key_u64(j, "egress_bytes", p.egress_bytes);
    weft__json_key_u64(j, "reassembly_bytes", p.reassembly_bytes);
    weft__json_key_u64(j, "skew_ps_max", p.skew_ps_max);
    weft__json_key_u64(j, "sram_ps", p.sram_ps);
    weft__json_key_u64(j, "buffer_ps", p.buffer_ps);
    weft__json_key_u64(j, "incast_excess_bps", p.incast_excess_bps);
    weft__json_key_u64(j, "voq_ps", p.voq_ps);
    weft__json_key_u64(j, "pfc_headroom_bytes", p.pfc.headroom_bytes);
    weft__json_key_u64(j, "pfc_xoff_bytes_max", p.xoff_bytes_max);
    if (p.far_ps) {
        weft__json_key_u64(j, "far_delay_ps", p.far_ps);
        weft__json_key_u64(j, "far_bytes", p.far_bytes);
        weft__json_key_u64(j, "far_credits", p.far_credits);
        weft__json_key_u64(j, "far_pfc_headroom_bytes", p.far_pfc.headroom_bytes);
    }
    weft__json_key(j, "warnings");
    weft__json_begin_array(j);
    for (unsigned i = 0; i < WEFT_PLAN_DSF_WARNINGS; i++)
        if (p.warnings >> i & 1) weft__json_string(j, weft_plan_dsf_warning_names[i]);
    weft__json_end_array(j);
}

static enum weft_status by_values(const struct plan *plan, const struct weft_cli_options *o, struct weft__json *j,
                                  struct weft_error *ret_error) {
    struct weft_plan_dsf_conf c;
    enum weft_status status = plan_load(plan, true, &c, o->arena, ret_error);
    if (status) return status;
    if (j) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "plan", "dsf");
        json_dsf(j, &c);
        weft__json_end_object(j);
        return WEFT_OK;
    }
    struct weft_plan_dsf p = weft_plan_calc_dsf(&c);
    printf("DSF interface node\n");
    print_dsf(&(struct view){stdout, &c, &p, o->arena});
    return WEFT_OK;
}

static void json_sort(struct weft__json *j, const struct weft_plan_dsf_sort *sort) {
    weft__json_begin_object(j);
    weft__json_key_string(j, "layer", sort->layer);
    weft__json_key_u64(j, "nodes", sort->nodes);
    json_dsf(j, &sort->conf);
    weft__json_end_object(j);
}

static enum weft_status by_scenario(const struct plan *plan, const struct weft_cli_options *o,
                                    const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, FILE *file, struct weft__json *j,
                                    struct weft_error *ret_error) {
    struct weft_plan_dsf_conf base;
    uint32_t sorts;
    enum weft_status status = plan_load(plan, true, &base, o->arena, ret_error);
    if (status) return status;
    struct weft_plan_dsf_sort *sort = weft_plan_topology_dsf(topology, &base, scenario->arena, &sorts);
    if (!sorts)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, scenario->topology.place,
                              "the topology has no DSF interface nodes with ports on both sides; expected one such as "
                              "dsf_l2_zone");
    if (j) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "variant", scenario->variant);
        weft__json_key(j, "interface_nodes");
        weft__json_begin_array(j);
    }
    for (uint32_t i = 0; i < sorts && !status; i++) {
        status = plan_load(plan, false, &sort[i].conf, o->arena, ret_error); // options override the topology
        if (status) break;
        struct weft_plan_dsf p = weft_plan_calc_dsf(&sort[i].conf);
        if (j)
            json_sort(j, &sort[i]);
        else {
            fprintf(file, "%s: %s like %s\n", sort[i].layer, weft__counted(sort[i].nodes, "interface node").text,
                    sort[i].example);
            print_dsf(&(struct view){file, &sort[i].conf, &p, o->arena});
        }
    }
    if (j) {
        weft__json_end_array(j);
        weft__json_end_object(j);
    }
    return status;
}

const struct plan plan_dsf = {
    .name = "dsf",
    .about = "disaggregated scheduled fabric: credits, presets, speed-up, buffers, distance\n"
             "With a SCENARIO: for each sort of interface node of its topology; options override it.\n"
             "docs/plan-dsf.md explains the formulas.",
    .table = &weft_plan_dsf_table,
    .by_values = by_values,
    .by_scenario = by_scenario,
};
