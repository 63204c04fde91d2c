// SPDX-License-Identifier: Apache-2.0
// Advice on a scenario: finds the site of the incast, then the values for each subject. Thresholds are for the switch
// of the host that most others send to, headroom for the longest and fastest link.
//
// Sources. Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015: ECN before PFC (section 4),
// timers and steps (section 5). Alizadeh et al., DCTCP, SIGCOMM 2010: minimum Kmin. Zhu, Ghobadi, Misra, Padhye, CoNEXT
// 2016: the rate of marks in equilibrium. Gangidi et al., "RDMA over Ethernet for distributed AI training at Meta
// scale", SIGCOMM 2024: admission by the receiver. IEEE P802.1Qdw: source flow control. The choice within a range is
// ours.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "plan/plan.h"
#include "weft/advice.h"
#include "weft/aqm.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/sim.h"

enum { KB = 1000, TEXT = 64 };

struct site {
    const struct weft_scenario *scenario;
    const struct weft_topology *t;
    const struct weft_workload *w;
    struct weft_arena *arena;
    struct weft_advice *a;
    struct weft_plan_incast place;
    const struct weft_switch_conf *sw;
    const struct weft_host_conf *host; ///< the receiver's
    uint32_t node, ports, inputs, priorities;
    weft_bytes frame_bytes, bdp_bytes, shared_bytes, top_bytes; ///< top: of the queue when every input is paused
    weft_time_ps round_trip_ps;
    double alpha; ///< of a dynamic buffer; 0: other buffers
};

// --- texts --------------------------------------------------------------------------------------------------------

static const char *quantity_text(const struct site *s, enum weft__quantity kind, uint64_t value) {
    char text[TEXT];
    weft__quantity_format(kind, value, text, sizeof text);
    return weft_arena_text(s->arena, text);
}
#define BYTES(value) quantity_text(s, WEFT__BYTES, value)
#define TIME(value) quantity_text(s, WEFT__TIME, value)
#define RATE(value) quantity_text(s, WEFT__RATE, value)
#define FORMAT(...) weft_arena_format(s->arena, __VA_ARGS__)

static void add_fact(struct site *s, const char *name, const char *text) {
    s->a->fact[s->a->facts++] = (struct weft_advice_fact){name, text};
}

static void add_finding(struct site *s, const char *text) {
    if (s->a->findings < WEFT_ADVICE_FINDINGS) s->a->finding[s->a->findings++] = text;
}

/// Whether both are the same fraction: "1/256" and "0.00390625".
static bool is_same_real(const struct site *s, const char *path, const char *current, const char *recommended) {
    const struct weft_param *row = weft_scenario_row(s->scenario, path);
    if (!current || !row || row->type != WEFT_PARAM_REAL) return false;
    struct weft_param at0 = *row;
    double value;
    char text[TEXT];
    at0.offset = 0;
    if (weft_param_parse(&at0, recommended, WEFT_NOWHERE, &value, s->arena, NULL)) return false;
    weft_param_format(&at0, &value, text, sizeof text);
    return !strcmp(text, current);
}

static void add_row(struct site *s, const char *path, const char *current, const char *recommended, const char *formula,
                    const char *source, const char *margin) {
    if (is_same_real(s, path, current, recommended)) current = recommended;
    s->a->row[s->a->rows++] = (struct weft_advice_row){path, current, recommended, formula, source, margin};
}

// --- what is in force ---------------------------------------------------------------------------------------------

/// NULL: the model has no such parameter.
static const char *text_of(const struct site *s, const struct weft_model_conf *m, const char *name) {
    char text[256];
    const struct weft_param *row = m->model->params ? weft_param_find(m->model->params, name) : NULL;
    if (!row) return NULL;
    weft_param_format(row, m->conf, text, sizeof text);
    return weft_arena_text(s->arena, text);
}

static uint64_t number_of(const struct weft_model_conf *m, const char *name) {
    const struct weft_param *row = m->model->params ? weft_param_find(m->model->params, name) : NULL;
    return row ? *(const uint64_t *)(const void *)((const char *)m->conf + row->offset) : 0;
}

static double real_of(const struct weft_model_conf *m, const char *name) {
    const struct weft_param *row = m->model->params ? weft_param_find(m->model->params, name) : NULL;
    return row ? *(const double *)(const void *)((const char *)m->conf + row->offset) : 0;
}

static bool is_model(const struct weft_model_conf *m, const char *name) {
    return !strcmp(m->model->name, name);
}

static weft_bytes kb_up(weft_bytes bytes) {
    return (bytes + KB - 1) / KB * KB;
}

static weft_bytes kb_down(weft_bytes bytes) {
    return bytes >= KB ? bytes / KB * KB : bytes;
}

// --- the site -----------------------------------------------------------------------------------------------------

/// The ports by which senders' data arrives: each of the switch's own hosts has one, the others share its links to
/// switches.
static uint32_t count_inputs(const struct site *s) {
    const struct weft_topology *t = s->t;
    bool *sends = weft_arena_alloc(s->arena, t->hosts, sizeof *sends);
    for (uint32_t f = 0; f < s->w->flows; f++)
        if (s->w->flow[f].dst == s->place.receiver) sends[s->w->flow[f].src] = true;
    uint32_t near = 0, far = 0, up = 0;
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_port_info *port = weft_topology_port(t, t->host[h], 0);
        if (sends[h]) ++*(t->port[port->peer].node == s->node ? &near : &far);
    }
    for (uint32_t k = 0; k < t->node[s->node].ports; k++) {
        const struct weft_port_info *port = weft_topology_port(t, s->node, k);
        up += t->node[t->port[port->peer].node].role == WEFT_NODE_SWITCH;
    }
    return near + (far < up ? far : up);
}

/// The shared pool of a dynamic buffer with no congestion.
static void find_shared(struct site *s) {
    const struct weft_model_conf *b = &s->sw->buffer;
    if (!is_model(b, "dynamic")) return;
    bool by_port = !strcmp(text_of(s, b, "dedicated"), "port");
    weft_bytes reserve = number_of(b, "reserve") * (by_port ? 1 : WEFT_PRIORITIES);
    weft_bytes headroom = number_of(b, "headroom") * (by_port ? s->priorities > 0 : s->priorities);
    weft_bytes total = number_of(b, "total"), own = s->ports * (reserve + headroom);
    s->shared_bytes = total > own ? total - own : 0;
    s->alpha = real_of(b, "alpha");
}

/// The threshold of each input when all are at theirs: a dynamic one falls with what the others hold, to
/// alpha S / (1 + n alpha) above a group's own reserve.
static weft_bytes xoff_of_each(const struct site *s) {
    weft_bytes alone = s->place.conf.pfc_threshold_bytes;
    double share = s->alpha * (double)s->shared_bytes,
           falls = share / (1 + s->alpha) - share / (1 + s->inputs * s->alpha);
    return s->inputs > 1 && falls < (double)alone ? alone - (weft_bytes)falls : alone;
}

static enum weft_status find_site(struct site *s, const char *subject, struct weft_error *ret_error) {
    struct weft_place where = {.file = s->scenario->path};
    s->place = weft_plan_scenario_incast(s->scenario, s->t, s->w, s->arena);
    const struct weft_plan_sfc_conf *c = &s->place.conf;
    if (s->place.receiver == WEFT_NONE)
        return WEFT_REFUSE(ret_error, s->scenario->workloads ? s->scenario->workload[0].place : where,
                           "workload: no host has two senders; expected an incast, which plan %s is about", subject);
    const struct weft_port_info *port = weft_topology_port(s->t, s->t->host[s->place.receiver], 0);
    s->node = s->t->port[port->peer].node;
    if (s->t->node[s->node].box != WEFT_BOX_ETHERNET_SWITCH)
        return WEFT_REFUSE(ret_error, s->scenario->topology.place,
                           "topology: %s, where %s is, is not an Ethernet switch; expected one, which plan %s is about",
                           s->place.switch_name, s->place.receiver_name, subject);
    s->sw = &weft_device_confs(s->scenario, s->t, s->arena)[s->node]->sw;
    s->host = &weft_scenario_device(s->scenario, s->place.receiver_name)->host;
    s->ports = weft__plan_ports(s->t, s->node);
    s->priorities = (uint32_t)__builtin_popcount(s->sw->pfc.priorities);
    s->inputs = count_inputs(s);
    s->frame_bytes =
        s->host->mtu_bytes + WEFT_FRAME_DATA + WEFT_FRAME_RETH + WEFT_WIRE_OVERHEAD + weft_host_framing_bytes(s->host);
    weft_time_ps frame = weft_plan_calc_time_up(c->rate_bps, s->frame_bytes);
    s->round_trip_ps =
        s->place.path.round_trip_ps + 2 * c->delay_ps + c->processing_ps + (s->place.path.links + 1) * frame;
    s->bdp_bytes = weft_plan_calc_bytes(c->rate_bps, s->round_trip_ps);
    find_shared(s);
    weft_bytes each = xoff_of_each(s);
    s->top_bytes = s->inputs * each;
    add_fact(s, "incast",
             FORMAT("%" PRIu64 " to 1: %s, queue of %s", c->incast, s->place.receiver_name, s->place.switch_name));
    add_fact(s, "rate", RATE(c->rate_bps));
    add_fact(s, "round trip",
             FORMAT("%s with %s, the farthest source, full frames on %u links; x rate = %s", TIME(s->round_trip_ps),
                    s->place.source_name, s->place.path.links + 1, BYTES(s->bdp_bytes)));
    add_fact(s, "inputs", FORMAT("%u of %u ports of the switch, by which the senders come", s->inputs, s->ports));
    add_fact(s, "buffer", s->place.buffer_text);
    add_fact(s, c->best_effort ? "drops above" : "XOFF",
             FORMAT("%s for %s; the queue has %u x %s = %s when all are at it", BYTES(c->pfc_threshold_bytes),
                    s->alpha > 0 ? "a single input" : "each input", s->inputs, BYTES(each), BYTES(s->top_bytes)));
    return WEFT_OK;
}

// --- ECN ----------------------------------------------------------------------------------------------------------

static struct weft_advice_dcqcn dcqcn_of(const struct site *s) {
    const struct weft_model_conf *cc = &s->host->cc;
    bool known = is_model(cc, "dcqcn");
    struct weft_advice_dcqcn d = {.rate_bps = s->place.conf.rate_bps,
                                  .flows = s->place.conf.incast,
                                  .frame_bytes = s->frame_bytes,
                                  .increase_bps = known ? number_of(cc, "additive_increase") : 40000000,
                                  .timer_ps = known ? number_of(cc, "increase_timer") : 55 * WEFT_PS_PER_US,
                                  .interval_ps = known ? number_of(cc, "alpha_timer") : 55 * WEFT_PS_PER_US,
                                  .counter_bytes = known ? number_of(cc, "byte_counter") : 10000000};
    return d;
}

/// The depth below which marks precede pauses, however packets arrive.
static weft_bytes add_safe(struct site *s) {
    weft_bytes safe;
    const char *text;
    if (s->alpha > 0) {
        safe = weft_advice_calc_ecn_dynamic(s->shared_bytes, s->alpha, s->ports, s->priorities);
        text = FORMAT("%s: alpha %g x %s / (%u ports x (1 + %u x alpha))", BYTES(safe), s->alpha,
                      BYTES(s->shared_bytes), s->ports, s->priorities);
    } else {
        safe = weft_advice_calc_ecn_fixed(s->place.conf.pfc_threshold_bytes, s->ports);
        text = FORMAT("%s: XOFF %s / %u ports", BYTES(safe), BYTES(s->place.conf.pfc_threshold_bytes), s->ports);
    }
    add_fact(s, "always first",
             FORMAT("%s; marks below it precede pauses even if one input holds the queues of all outputs (Zhu et al., "
                    "SIGCOMM 2015, section 4)",
                    text));
    return safe;
}

static void judge_ecn(struct site *s, weft_bytes bound) {
    const struct weft_model_conf *aqm = &s->sw->aqm;
    weft_bytes xoff = s->place.conf.pfc_threshold_bytes, kmin = number_of(aqm, "min"), kmax = number_of(aqm, "max");
    if (!is_model(aqm, "wred")) {
        add_finding(s,
                    weft_aqm_acts(aqm->model->ops, aqm->conf)
                        ? FORMAT("switch.aqm %s has other thresholds than these: only wred is judged", aqm->model->name)
                        : "switch.aqm marks nothing: congestion control that goes by ECN never hears of a queue");
        return;
    }
    if (kmin >= s->top_bytes)
        add_finding(s, FORMAT("ECN begins at Kmin %s, above the XOFF of all inputs (%s): PFC always precedes ECN",
                              BYTES(kmin), BYTES(s->top_bytes)));
    else if (kmin >= xoff)
        add_finding(s, FORMAT("ECN begins at Kmin %s, above XOFF %s of one input: %s pauses before there is a mark "
                              "where one input brings the queue",
                              BYTES(kmin), BYTES(xoff), s->alpha > 0 ? "the dynamic threshold" : "PFC"));
    if (kmax > bound)
        add_finding(s, FORMAT("Kmax %s is above %s, from where the queue reaches XOFF before the marks take effect",
                              BYTES(kmax), BYTES(bound)));
    if (!s->host->ecn) add_finding(s, "host.ecn is off: no packet can be marked");
}

static void add_marking_models(struct site *s) {
    const struct weft_model_conf *aqm = &s->sw->aqm;
    if (!is_model(aqm, "wred"))
        add_row(s, "switch.aqm.kind", aqm->model->name, "wred", "", "Zhu et al., SIGCOMM 2015, 3.1", "");
    const char *by_rate = text_of(s, aqm, "by_rate");
    if (by_rate && *by_rate) add_row(s, "switch.aqm.by_rate", by_rate, "", "thresholds of one rate", "", "");
    if (!s->host->ecn) add_row(s, "host.ecn", "false", "true", "", "RFC 3168", "");
    if (is_model(&s->host->cc, "none"))
        add_row(s, "host.cc.kind", "none", "dcqcn", "a mark without a reaction point changes nothing",
                "Zhu et al., SIGCOMM 2015, 3.1", "");
}

static enum weft_status advise_ecn(struct site *s, struct weft_error *ret_error) {
    const struct weft_model_conf *aqm = &s->sw->aqm;
    weft_bytes least = s->bdp_bytes / 7, reaction = (s->inputs > 1 ? s->inputs - 1 : 0) * s->bdp_bytes;
    weft_bytes bound = s->top_bytes > reaction ? s->top_bytes - reaction : 0;
    weft_bytes safe = add_safe(s);
    add_fact(s, "bound of Kmax",
             FORMAT("%s: %s at XOFF less (%u - 1) x %s, which come before marks take effect", BYTES(bound),
                    BYTES(s->top_bytes), s->inputs, BYTES(s->bdp_bytes)));
    judge_ecn(s, bound);
    weft_bytes kmin = kb_up(least * 5 / 4 > 2 * s->frame_bytes ? least * 5 / 4 : 2 * s->frame_bytes);
    if (bound <= 2 * kmin)
        add_finding(s, FORMAT("no threshold keeps this incast from PFC: %s arrive before a mark takes effect, and %s "
                              "fit; fewer senders at a time (weft plan admission) do",
                              BYTES(reaction), BYTES(s->top_bytes)));
    weft_bytes kmax = bound / 4 * 3 < 4 * kmin ? bound / 4 * 3 : 4 * kmin;
    if (kmax < 2 * kmin) kmax = 2 * kmin;
    struct weft_advice_dcqcn d = dcqcn_of(s);
    double marks = weft_advice_calc_marks(&d);
    double percent = ceil(200 * marks);
    percent = percent < 1 ? 1 : percent > 100 ? 100 : percent;
    add_marking_models(s);
    add_row(s, "switch.aqm.min", text_of(s, aqm, "min"), BYTES(kmin),
            FORMAT("max(rate x round trip / 7, 2 frames) = max(%s, %s)", BYTES(least), BYTES(2 * s->frame_bytes)),
            "Alizadeh et al., DCTCP, SIGCOMM 2010, section 3.4",
            kmin <= safe ? "x 1.25 where the round trip decides; below \"always first\""
                         : "x 1.25 where the round trip decides; above \"always first\": one input may pause first");
    add_row(
        s, "switch.aqm.max", text_of(s, aqm, "max"), BYTES(kb_down(kmax)),
        FORMAT("min(4 x Kmin, 3/4 x bound) = min(%s, %s), at least 2 x Kmin", BYTES(4 * kmin), BYTES(bound / 4 * 3)),
        "ratio of Kmax and Kmin: Li et al., HPCC, SIGCOMM 2019; bound: ours", "a quarter of the bound");
    add_row(s, "switch.aqm.max_probability", text_of(s, aqm, "max_probability"), FORMAT("%.0f%%", percent),
            FORMAT("2 x p*, p* = %.3g%% marked with %" PRIu64 " flows of DCQCN in equilibrium", 100 * marks, d.flows),
            "Zhu, Ghobadi, Misra, Padhye, CoNEXT 2016", "x 2: the queue rests halfway between Kmin and Kmax");
    return WEFT_OK;
}

// --- DCQCN --------------------------------------------------------------------------------------------------------

static const char paper5[] = "Zhu et al., SIGCOMM 2015, section 5; in proportion to the rate (40G there)";
static const char published[] = "Li et al., HPCC, SIGCOMM 2019, 100G; in proportion to the rate";

static void judge_dcqcn(struct site *s, weft_time_ps cnp_interval) {
    const struct weft_model_conf *cc = &s->host->cc;
    const struct weft_plan_sfc_conf *c = &s->place.conf;
    weft_rate_bps least = number_of(cc, "min_rate");
    if (least * c->incast > c->rate_bps)
        add_finding(s, FORMAT("min_rate %s x %" PRIu64 " flows is more than %s: the queue never drains", RATE(least),
                              c->incast, RATE(c->rate_bps)));
    if (is_model(cc, "dcqcn") && number_of(cc, "alpha_timer") <= cnp_interval)
        add_finding(s, FORMAT("alpha_timer %s is no longer than cnp_interval %s: alpha decays between two CNPs of a "
                              "lasting queue",
                              TIME(number_of(cc, "alpha_timer")), TIME(cnp_interval)));
    if (!weft_aqm_acts(s->sw->aqm.model->ops, s->sw->aqm.conf))
        add_finding(s, "switch.aqm marks nothing: no CNP is ever sent (weft plan ecn)");
    if (!s->host->ecn) add_finding(s, "host.ecn is off: no packet can be marked (weft plan ecn)");
}

static void add_increase(struct site *s, struct weft_advice_dcqcn *d) {
    const struct weft_model_conf *cc = &s->host->cc, *aqm = &s->sw->aqm;
    double most = is_model(aqm, "wred") && real_of(aqm, "max_probability") > 0 ? real_of(aqm, "max_probability") : 0.01;
    weft_rate_bps step = d->rate_bps / 1000, bound = weft_advice_calc_increase(d, most / 2);
    weft_rate_bps increase = step < bound ? step : bound;
    if (increase < 1000000) increase = 1000000;
    d->increase_bps = increase;
    add_row(s, "host.cc.additive_increase", text_of(s, cc, "additive_increase"), RATE(increase / 1000000 * 1000000),
            FORMAT("min(rate / 1000, R_AI at which p* = Pmax / 2 = %.3g%%) = min(%s, %s), at least 1Mbps", 50 * most,
                   RATE(step), RATE(bound)),
            paper5, FORMAT("p* = %.3g%% of %.3g%%", 100 * weft_advice_calc_marks(d), 100 * most));
}

static enum weft_status advise_dcqcn(struct site *s, struct weft_error *ret_error) {
    const struct weft_model_conf *cc = &s->host->cc;
    weft_rate_bps rate = s->place.conf.rate_bps;
    uint64_t n = s->place.conf.incast;
    if (!is_model(cc, "none") && !is_model(cc, "dcqcn") && !is_model(cc, "dcqcn_connectx"))
        return WEFT_REFUSE(ret_error, cc->place.file ? cc->place : (struct weft_place){.file = s->scenario->path},
                           "host.cc: %s is not DCQCN; expected dcqcn, dcqcn_connectx or none", cc->model->name);
    weft_time_ps cnp = number_of(&s->host->transport, "cnp_interval");
    add_fact(s, "CNP interval", TIME(cnp));
    judge_dcqcn(s, cnp);
    weft_rate_bps least = rate / (10 * n) < 100000000 ? rate / (10 * n) : 100000000;
    const char *least_formula = FORMAT("min(100Mbps, rate / (10 x %" PRIu64 " flows))", n);
    if (is_model(cc, "dcqcn_connectx")) {
        add_row(s, "host.cc.additive_increase", text_of(s, cc, "additive_increase"), RATE(rate / 5000), "rate / 5000",
                published, "none: as published");
        add_row(s, "host.cc.hyper_increase", text_of(s, cc, "hyper_increase"), RATE(rate / 500), "rate / 500",
                published, "none: as published");
    } else {
        struct weft_advice_dcqcn d = dcqcn_of(s);
        d.timer_ps = 55 * WEFT_PS_PER_US;
        d.interval_ps = cnp * 11 / 10 > d.timer_ps ? cnp * 11 / 10 : d.timer_ps;
        d.counter_bytes = kb_down(rate / 4000);
        if (is_model(cc, "none")) add_row(s, "host.cc.kind", "none", "dcqcn", "", "Zhu et al., SIGCOMM 2015, 3.1", "");
        add_row(s, "host.cc.g", text_of(s, cc, "g"), "1/256", "", "Zhu et al., SIGCOMM 2015, section 5.2", "");
        add_row(s, "host.cc.alpha_timer", text_of(s, cc, "alpha_timer"), TIME(d.interval_ps),
                "max(55us, 1.1 x CNP interval)", "Zhu et al., SIGCOMM 2015, section 5", "10% over the CNP interval");
        add_row(s, "host.cc.increase_timer", text_of(s, cc, "increase_timer"), "55us",
                "longer than the CNP interval of 50us", "Zhu et al., SIGCOMM 2015, section 5", "10%");
        add_row(s, "host.cc.byte_counter", text_of(s, cc, "byte_counter"), BYTES(d.counter_bytes),
                "10MB x rate / 40Gbps", paper5, "");
        add_increase(s, &d);
    }
    add_row(s, "host.cc.min_rate", text_of(s, cc, "min_rate"), RATE(least), least_formula, "ours",
            "a tenth of the fair share");
    return WEFT_OK;
}

// --- SFC ----------------------------------------------------------------------------------------------------------

static const char qdw[] = "IEEE P802.1Qdw, SFC simulation, parts 4 and 5 (weft plan sfc)";

static enum weft_status advise_sfc(struct site *s, struct weft_error *ret_error) {
    const struct weft_model_conf *sfc = &s->sw->sfc;
    struct weft_plan_sfc_conf c = s->place.conf;
    if (s->place.sfc) {
        struct weft_plan_sfc now = weft_plan_calc_sfc(&c, &s->place.path);
        for (unsigned w = 0; w < WEFT_PLAN_WARNINGS; w++)
            if (now.warnings >> w & 1)
                add_finding(s, FORMAT("threshold %s with a pause of %s is %s (weft plan sfc says by how much)",
                                      BYTES(c.threshold_bytes), TIME(c.pause_ps), weft_plan_warning_names[w]));
    } else if (is_model(sfc, "none")) {
        add_finding(s, "switch.sfc is none: no source is told to pause");
    }
    c.threshold_bytes = 0;
    c.pause_ps = c.interval_ps = 0;
    struct weft_plan_sfc p = weft_plan_calc_sfc(&c, &s->place.path);
    if (!p.threshold_bytes_max)
        add_finding(s, FORMAT("no threshold is allowed: (N - 1) x round trip x rate = %s, and PFC begins at %s; fewer "
                              "senders at a time (weft plan admission) do",
                              BYTES(p.headroom_bytes), BYTES(p.pfc_threshold_bytes)));
    if (!s->host->sfc) add_row(s, "host.sfc", "false", "true", "sources must understand the message", qdw, "");
    if (!is_model(sfc, "fixed")) add_row(s, "switch.sfc.kind", sfc->model->name, "fixed", "", qdw, "");
    add_row(s, "switch.sfc.threshold", text_of(s, sfc, "threshold"), BYTES(p.threshold_bytes),
            FORMAT("3/4 x (PFC threshold %s - (N - 1) x round trip x rate %s)", BYTES(p.pfc_threshold_bytes),
                   BYTES(p.headroom_bytes)),
            qdw, "a quarter");
    add_row(s, "switch.sfc.pause", text_of(s, sfc, "pause"), TIME(p.pause_ps),
            FORMAT("middle of (%s, %s)", TIME(p.pause_ps_min), TIME(p.pause_ps_max)), qdw,
            "half the range either side");
    add_row(s, "switch.sfc.interval", text_of(s, sfc, "interval"), TIME(p.interval_ps), "the pause", qdw, "");
    return WEFT_OK;
}

// --- admission ----------------------------------------------------------------------------------------------------

/// Payload that a sender to the receiver may have in flight now; WEFT_TIME_NEVER: everything it has.
static weft_bytes outstanding_bytes(const struct site *s, uint64_t *ret_qps, bool *ret_messages) {
    weft_bytes most = 0, window = s->host->window_bytes;
    *ret_qps = 1;
    for (uint32_t f = 0; f < s->w->flows; f++) {
        const struct weft_flow *flow = &s->w->flow[f];
        if (flow->dst != s->place.receiver || flow->rma) continue;
        weft_bytes own = window && window * flow->qps < flow->bytes ? window * flow->qps : flow->bytes;
        if (own > most) most = own;
        if (flow->qps > *ret_qps) *ret_qps = flow->qps;
        *ret_messages |= flow->messages;
    }
    return most;
}

static enum weft_status advise_admission(struct site *s, struct weft_error *ret_error) {
    uint64_t n = s->place.conf.incast, qps;
    bool messages = false;
    weft_bytes now = outstanding_bytes(s, &qps, &messages), mtu = s->host->mtu_bytes;
    weft_bytes xoff = xoff_of_each(s);
    struct weft_advice_window w = weft_advice_calc_window(s->place.conf.rate_bps, s->round_trip_ps, s->top_bytes, n);
    add_fact(s, "in flight",
             FORMAT("%s of each sender at most: %s%s", BYTES(now),
                    s->host->window_bytes ? "host.window" : "all that a flow has",
                    messages ? ", or what clear-to-sends of its job admit" : ""));
    if (now * n > s->bdp_bytes + s->top_bytes)
        add_finding(s, FORMAT("%" PRIu64 " senders may have %s in flight; the path and the buffer below XOFF take %s: "
                              "the rest is held by PFC%s",
                              n, BYTES(now * n), BYTES(s->bdp_bytes + s->top_bytes),
                              messages ? ", unless clear-to-sends hold it back" : ""));
    weft_bytes share = w.most * 3 / 4, alone = s->bdp_bytes * 5 / 4;
    weft_bytes window = (share < alone ? share : alone) / qps / mtu * mtu;
    if (window < mtu) window = mtu;
    if (share < s->bdp_bytes)
        add_finding(s, FORMAT("%s for each of %" PRIu64 " senders is less than rate x round trip, %s: a window holds "
                              "back a sender that is alone. Admission by the receiver, which counts, does not",
                              BYTES(share), n, BYTES(s->bdp_bytes)));
    add_row(s, "host.window", BYTES(s->host->window_bytes), BYTES(window),
            FORMAT("min(rate x round trip %s, (%s + %u x XOFF %s) / %" PRIu64 " senders = %s) / %" PRIu64
                   " queue pairs",
                   BYTES(s->bdp_bytes), BYTES(s->bdp_bytes), s->inputs, BYTES(xoff), n, BYTES(w.most), qps),
            "admission by credit as in Gangidi et al., SIGCOMM 2024, section 6; formula ours",
            FORMAT("x 1.25 over one round trip, x 3/4 below XOFF; at least %s", BYTES(w.least)));
    return WEFT_OK;
}

// --- buffers ------------------------------------------------------------------------------------------------------

static const char qbb[] = "IEEE 802.1Q, PFC buffer requirements (weft plan pfc, formula bound)";

/// The largest headroom that a link to a switch needs.
static weft_bytes find_headroom(struct site *s) {
    struct weft_plan_pfc_conf base = {.formula = WEFT_PLAN_BOUND};
    uint32_t lines;
    const struct weft_plan_line *line = weft_plan_scenario_lines(s->scenario, s->t, &base, s->arena, &lines);
    const struct weft_plan_line *worst = weft_plan_worst_line(line, lines);
    for (uint32_t l = 0; l < lines; l++) {
        struct weft_plan_pfc p = weft_plan_calc_pfc(&line[l].pfc);
        if (!line[l].lossless || !strcmp(line[l].to, "host") || p.headroom_bytes <= line[l].headroom_bytes) continue;
        add_finding(s,
                    FORMAT("XOFF leaves %s of headroom for %s -> %s, %s at %s; the cable needs %s: packets may be lost",
                           BYTES(line[l].headroom_bytes), line[l].from, line[l].to, TIME(line[l].pfc.delay_ps),
                           RATE(line[l].pfc.rate_bps), BYTES(p.headroom_bytes)));
    }
    if (!worst) return 0;
    weft_bytes need = weft_plan_calc_pfc(&worst->pfc).headroom_bytes;
    add_fact(s, "headroom",
             FORMAT("%s, for %s -> %s: %s of cable at %s, reaction, 3 frames and the pause", BYTES(need), worst->from,
                    worst->to, TIME(worst->pfc.delay_ps), RATE(worst->pfc.rate_bps)));
    return need;
}

static void advise_levels(struct site *s, weft_bytes headroom) {
    const struct weft_model_conf *b = &s->sw->buffer;
    bool own = is_model(b, "static");
    weft_bytes size = number_of(b, "size"), xoff = kb_down(size > headroom ? size - headroom : 0);
    if (!own) xoff = number_of(b, "xoff");
    weft_bytes now = number_of(b, "xoff");
    if (own && size <= headroom)
        add_finding(s, FORMAT("the headroom, %s, does not fit into size %s", BYTES(headroom), BYTES(size)));
    if (own && now < xoff / 2)
        add_finding(s, FORMAT("XOFF %s leaves half of the buffer, %s, unused", BYTES(now), BYTES(size)));
    if (own && xoff)
        add_row(s, "switch.buffer.xoff", text_of(s, b, "xoff"), BYTES(xoff),
                FORMAT("size %s - headroom %s, whole KB", BYTES(size), BYTES(headroom)), qbb,
                "none: the bound is exact");
    if (!own)
        add_row(s, "switch.buffer.headroom", text_of(s, b, "headroom"), BYTES(kb_up(headroom)), "headroom, whole KB",
                qbb, "none: the bound is exact");
    if (own && xoff > 4 * s->frame_bytes)
        add_row(s, "switch.buffer.xon", text_of(s, b, "xon"), BYTES(kb_down(xoff - 2 * s->frame_bytes)),
                FORMAT("XOFF - 2 frames of %s", BYTES(s->frame_bytes)), "ours",
                FORMAT("the rest keeps the link busy for %s until a resumed sender is heard", BYTES(s->bdp_bytes)));
}

static void advise_dynamic(struct site *s, weft_bytes headroom) {
    const struct weft_model_conf *b = &s->sw->buffer, *aqm = &s->sw->aqm;
    weft_bytes kmin = is_model(aqm, "wred") ? number_of(aqm, "min") : kb_up(s->bdp_bytes / 7 * 5 / 4);
    weft_bytes now = number_of(b, "headroom"), own = kb_up(headroom);
    weft_bytes freed = (weft_bytes)s->ports * s->priorities;
    weft_bytes shared = s->shared_bytes + freed * now;
    shared = shared > freed * own ? shared - freed * own : 0;
    double alone = s->alpha / (1 + s->alpha) * (double)s->shared_bytes;
    if ((double)kmin >= alone)
        add_finding(s, FORMAT("alpha %g pauses one congested group at %s, before Kmin %s: PFC precedes ECN", s->alpha,
                              BYTES((weft_bytes)alone), BYTES(kmin)));
    add_row(s, "switch.buffer.headroom", text_of(s, b, "headroom"), BYTES(own), "headroom, whole KB", qbb,
            "none: the bound is exact");
    double alpha = weft_advice_calc_alpha(shared, kmin, s->ports, s->priorities), power = 1.0 / 128;
    if (alpha <= 0)
        add_finding(s,
                    FORMAT("no alpha has ECN precede PFC in every pattern: %u ports x Kmin %s is all of the shared %s",
                           s->ports, BYTES(kmin), BYTES(shared)));
    while (power < 2 * alpha && power < 16)
        power *= 2;
    if (alpha <= 0) power = 1;
    bool enough = s->alpha > power; // which only pauses later
    add_row(s, "switch.buffer.alpha", text_of(s, b, "alpha"), FORMAT("%g", enough ? s->alpha : power),
            FORMAT("n Kmin / (S - p n Kmin) = %s with n = %u ports, p = %u, Kmin %s, S = %s",
                   alpha > 0 ? FORMAT("%.3g", alpha) : "none, so 1 at least", s->ports, s->priorities, BYTES(kmin),
                   BYTES(shared)),
            "Zhu et al., SIGCOMM 2015, section 4, solved for alpha",
            enough
                ? FORMAT("more than x 2, to the next power of two, which is %g: the more, the later pauses come", power)
                : "x 2, to the next power of two");
}

static enum weft_status advise_buffers(struct site *s, struct weft_error *ret_error) {
    if (!s->priorities)
        return WEFT_REFUSE(
            ret_error, (struct weft_place){.file = s->scenario->path},
            "switch.pfc.priorities: %s has no lossless priority; expected one, which plan buffers is about",
            s->place.switch_name);
    weft_bytes headroom = find_headroom(s);
    (is_model(&s->sw->buffer, "dynamic") ? advise_dynamic : advise_levels)(s, headroom);
    return WEFT_OK;
}

enum weft_status weft_advise(enum weft_advice_subject subject, const struct weft_scenario *scenario,
                             const struct weft_topology *topology, const struct weft_workload *workload,
                             struct weft_arena *arena, struct weft_advice *ret_advice, struct weft_error *ret_error) {
    static enum weft_status (*const advise[])(struct site *, struct weft_error *) = {
        [WEFT_ADVICE_ECN] = advise_ecn,         [WEFT_ADVICE_DCQCN] = advise_dcqcn,
        [WEFT_ADVICE_SFC] = advise_sfc,         [WEFT_ADVICE_ADMISSION] = advise_admission,
        [WEFT_ADVICE_BUFFERS] = advise_buffers,
    };
    *ret_advice = (struct weft_advice){0};
    struct site s = {.scenario = scenario, .t = topology, .w = workload, .arena = arena, .a = ret_advice};
    enum weft_status status = find_site(&s, weft_advice_names[subject], ret_error);
    return status ? status : advise[subject](&s, ret_error);
}
