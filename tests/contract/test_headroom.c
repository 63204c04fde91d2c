// SPDX-License-Identifier: Apache-2.0
// The promise of weft plan pfc about a buffer, compared with runs of the worst case: hosts at line rate into a blocked
// output, so that everything that arrives stays. Every buffer model, with its defaults, and with its own headroom where
// it has such a parameter. The cable is the longest for which the plan says that the headroom suffices, found by
// bisection: then nothing is lost. With a cable that needs a third more, the plan says that it is too little, and
// packets are lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"
#include "weft/param.h"
#include "weft/plan.h"

enum { MS_PER_RUN = 2 };

static struct weft_plan_line plan_of(struct run *r) {
    struct weft_plan_pfc_conf base = {.formula = WEFT_PLAN_BOUND};
    uint32_t lines;
    const struct weft_plan_line *line =
        weft_plan_scenario_lines(r->scenario, r->topology, &base, r->scenario->arena, &lines);
    for (uint32_t l = 0; l < lines; l++)
        if (!strcmp(line[l].to, "switch")) return line[l];
    fail_msg("no line to the switch");
    return *line;
}

/// Every host but the first sends more than any buffer holds, each as fast as its link is, and the first takes nothing.
static char *text_with(const char *buffer, uint64_t delay_ns) {
    return text_of("topology: {kind: single, hosts: 4, rate: 100Gbps, delay: %" PRIu64 "ns}\n"
                   "switch: {processing: 300ns, buffer: {%s}}\n"
                   "host: {mtu: 1024B, cc: none, pfc: {reaction: 200ns}}\n"
                   "devices: [{match: host-0, host: {drain_rate: 1Mbps, rx_buffer: 1GB, rx_xoff: 0B, rx_xon: 0B}}]\n"
                   "workload: [{kind: incast, sources: 'host-1..3', dst: host-0, size: 100MB}]\n"
                   "run: {until: %ums}\n",
                   delay_ns, buffer, MS_PER_RUN);
}

static struct run bind(const char *text) {
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (status) fail_msg("%s\n%s", r.error.text, text);
    return r;
}

/// What a cable takes, and what there is.
static weft_bytes need_of(const char *buffer, uint64_t delay_ns, weft_bytes *ret_headroom) {
    char *text = text_with(buffer, delay_ns);
    struct run r = bind(text);
    struct weft_plan_line line = plan_of(&r);
    assert_true(line.lossless);
    *ret_headroom = line.headroom_bytes;
    weft_bytes need = weft_plan_calc_pfc(&line.pfc).headroom_bytes;
    assert_int_equal(weft_plan_calc_pfc(&line.pfc).lossy, need > line.headroom_bytes);
    run_free(&r);
    free(text);
    return need;
}

/// The longest cable, in ns, that needs at most `share` thirds of the headroom.
static uint64_t longest(const char *buffer, uint64_t thirds) {
    uint64_t low = 0, high = 1000000;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        weft_bytes headroom, need = need_of(buffer, middle, &headroom);
        if (3 * need <= thirds * headroom)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t headroom_drops(const char *buffer, uint64_t delay_ns) {
    char *text = text_with(buffer, delay_ns);
    struct run r = run_once(text);
    uint64_t drops = r.outcome->drops[WEFT_DROP_HEADROOM];
    assert_true(run_counters(&r, "switch-0/1", 3)->pfc_tx_xoff > 0); // or the buffer was never full
    run_free(&r);
    free(text);
    return drops;
}

static void holds(const char *buffer) {
    weft_bytes headroom;
    uint64_t enough = longest(buffer, 3), more = longest(buffer, 4);
    assert_true(enough > 0 && more > enough);
    assert_true(need_of(buffer, enough, &headroom) <= headroom && need_of(buffer, more, &headroom) > headroom);
    if (headroom_drops(buffer, enough))
        fail_msg("%s: planned for %" PRIu64 " ns, and packets are lost", buffer, enough);
    if (!headroom_drops(buffer, more)) fail_msg("%s: too little at %" PRIu64 " ns, and nothing is lost", buffer, more);
}

static bool has_headroom(const struct weft_model *model) {
    for (uint32_t i = 0; i < model->params->n; i++)
        if (!strcmp(model->params->rows[i].name, "headroom")) return true;
    return false;
}

static void every_buffer_holds_what_is_planned(void **state) {
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_BUFFER); i++) {
        const struct weft_model *model = weft_model_at(WEFT_KIND_BUFFER, i);
        char buffer[128];
        snprintf(buffer, sizeof buffer, "kind: %s", model->name);
        holds(buffer);
        snprintf(buffer, sizeof buffer, "kind: %s, headroom: 10KB", model->name);
        if (has_headroom(model)) holds(buffer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_buffer_holds_what_is_planned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
