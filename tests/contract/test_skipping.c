// SPDX-License-Identifier: Apache-2.0
// What may be skipped of a run (run.fast_forward: exact), for every model that a switch or a host may have: a model
// that keeps a state and does not say what of it matters (weft_model_fingerprint) is refused by its name. With any
// other model the run is the same as in full, or a box refuses it.
#include "models.h"

#include "run.h"
#include "weft/aqm.h"
#include "weft/arbiter.h"
#include "weft/buffer.h"
#include "weft/cc.h"
#include "weft/device.h"
#include "weft/queueing.h"
#include "weft/route.h"
#include "weft/transport.h"

/// Whether it says what of its state matters; true of a model that keeps none with its defaults. A new kind with rows
/// in `switch` or `host` is to be named here.
static bool tells_state(const struct weft_model *model, const void *conf) {
    const void *ops = model->ops;
    const struct weft_qp_conf qp = {.packets = 100, .bytes = 409600, .mtu = 4096};
    switch (model->kind) {
    case WEFT_KIND_AQM:
        return ((const struct weft_aqm_ops *)ops)->fingerprint || !weft_aqm_state_size(ops, conf);
    case WEFT_KIND_ARBITER:
        return ((const struct weft_arbiter_ops *)ops)->fingerprint != NULL;
    case WEFT_KIND_QUEUEING:
        return ((const struct weft_queueing_ops *)ops)->fingerprint ||
               !((const struct weft_queueing_ops *)ops)->state_size;
    case WEFT_KIND_BUFFER:
        return ((const struct weft_buffer_ops *)ops)->fingerprint != NULL;
    case WEFT_KIND_ROUTE:
        return ((const struct weft_route_ops *)ops)->fingerprint || !((const struct weft_route_ops *)ops)->choose;
    case WEFT_KIND_CC:
        return ((const struct weft_cc_ops *)ops)->fingerprint || !((const struct weft_cc_ops *)ops)->state_size(conf);
    case WEFT_KIND_TRANSPORT: {
        const struct weft_transport_ops *o = ops;
        bool sender = !o->sender_size || !o->sender_size(conf) || o->fingerprint_sender;
        return sender && (!o->receiver_size || !o->receiver_size(conf, &qp) || o->fingerprint_receiver);
    }
    case WEFT_KIND_SCHEDULER: // struct weft_scheduler_state, which every box compares
    case WEFT_KIND_SFC:       // functions of facts and a configuration: what boxes count, they compare or refuse
    case WEFT_KIND_CREDIT:
    case WEFT_KIND_RETRY:
        return true;
    default:
        fail_msg("a model of kind %s in a box: does it keep a state?", weft_kind_name(model->kind));
        return false;
    }
}

/// What a model needs beside it in its section, to be accepted and to be used.
static const char *needs_of(const struct weft_model *model) {
    const struct weft_cc_ops *cc = model->kind == WEFT_KIND_CC ? model->ops : NULL;
    if (model->kind == WEFT_KIND_ARBITER) return ", queueing: voq";
    if (model->kind == WEFT_KIND_CREDIT) return ", pfc: {priorities: none}";
    if (cc && cc->pull) return ", transport: uet";
    return cc && cc->wants_marks ? ", transport: {kind: roce_rc, ecn_echo: ack}" : "";
}

/// A collective after each compute, so that the network is empty between iterations, which repeat.
#define JOB                                                                                                            \
    "topology: {kind: single, hosts: 8, rate: 200Gbps, delay: 500ns}\n"                                                \
    "workload: [{kind: job, iterations: 12, operations: [{compute: 100us, collective: all_to_all, size: 1MB}]}]\n"

static char *job_with(const char *section, const char *key, const struct weft_model *model, const char *mode) {
    bool both = model->kind == WEFT_KIND_CREDIT || model->kind == WEFT_KIND_RETRY; // of both ends of a link
    const char *other = !strcmp(section, "host") ? "switch" : "host", *needs = needs_of(model);
    char *beside = both ? text_of("%s: {%s: %s%s}\n", other, key, model->name, needs) : text_of("%s", "");
    char *text =
        text_of(JOB "%s: {%s: %s%s}\n%srun: {fast_forward: %s}\n", section, key, model->name, needs, beside, mode);
    free(beside);
    return text;
}

static unsigned skipped, refused_by_name;

static void check_model(const char *section, const char *key, const struct weft_model *model) {
    void *conf = conf_of(model, NULL);
    char *text = job_with(section, key, model, "exact"), *full = job_with(section, key, model, "off");
    struct run r = run_once(text), all = run_once(full);
    const struct weft_fast_forward_outcome *f = r.outcome->fast_forward;
    const char *refused = f->refused ? f->refused : "";
    print_message("%s.%s %s: %u stretches skipped %s\n", section, key, model->name, f->stretches, refused);
    if (r.outcome->digest != all.outcome->digest) fail_msg("skipping changes the result of\n%s", text);
    if (!tells_state(model, conf)) {
        if (f->stretches || !*refused) fail_msg("not refused, and says nothing about its state:\n%s", text);
        refused_by_name += strstr(refused, model->name) != NULL;
    } else if (f->stretches) {
        skipped++;
    } else if (!*refused) {
        fail_msg("neither skipped nor refused:\n%s", text);
    }
    run_free(&r);
    run_free(&all);
    free(text);
    free(full);
    free(conf);
}

/// Every model of every row of the section.
static void check_section(const char *section, const struct weft_param_table *table) {
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i];
        if (row->type != WEFT_PARAM_MODEL) continue;
        for (uint32_t m = 0; m < weft_model_count(row->model_kind); m++)
            check_model(section, row->name, weft_model_at(row->model_kind, m));
    }
}

static void what_says_nothing_is_refused(void **state) {
    check_section("switch", &weft_switch_table);
    check_section("host", &weft_host_table);
    assert_true(skipped > 5 && refused_by_name > 5);
}

/// The state of an AQM that acts is compared, and what repeats is skipped.
static void what_is_told_is_compared(void **state) {
    static const char how[] = "topology: {kind: single, hosts: 8, rate: 200Gbps, delay: 500ns}\n"
                              "workload: [{kind: job, iterations: 12, operations: [{compute: 100us, collective: "
                              "all_reduce_tree, size: 1MB}]}]\n"
                              "switch: {aqm: {kind: codel, target: 1us, interval: 4us}}\n"
                              "run: {fast_forward: %s}\n";
    struct run exact = RUN(run_once, how, "exact"), full = RUN(run_once, how, "off");
    uint64_t marked = 0;
    for (uint32_t port = 0; port < full.outcome->ports; port++)
        marked += weft_outcome_at(full.outcome, port, 3)->ecn_marked;
    assert_true(marked > 0 && exact.outcome->fast_forward->stretches > 0);
    assert_int_equal(exact.outcome->digest, full.outcome->digest);
    run_free(&exact);
    run_free(&full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_says_nothing_is_refused),
        cmocka_unit_test(what_is_told_is_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
