// SPDX-License-Identifier: Apache-2.0
// What every workload generator owes: flows between different hosts that are there, with what the common rows say, the
// same for the same seed, and as many again for every repetition.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "samples.h"
#include "topologies.h"
#include "weft/dag.h"

enum { HOSTS = 16 };

struct fixture {
    struct built built;
    const struct weft_model *model;
};

/// The generator over a small network.
static struct weft_workload *expand_as_written(const struct fixture *f, const char *parameters, uint64_t seed) {
    char text[1024];
    snprintf(text, sizeof text, "{%s}", parameters);
    struct weft_model_conf entry = {.model = f->model};
    entry.conf = weft_arena_alloc(f->built.arena, 1, f->model->params->conf_size);
    struct weft_tree *tree;
    struct weft_workload *w = NULL;
    struct weft_error error = {0};
    if (weft_tree_parse("test", text, strlen(text), f->built.arena, &tree, &error) ||
        weft_params_load(f->model->params, tree, entry.conf, f->built.arena, &error) ||
        weft_workload_new(&entry, 1, f->built.t, seed, WEFT_TIME_NEVER, f->built.arena, &w, &error))
        fail_msg("%s: %s", f->model->name, error.text);
    return w;
}

/// Parameters without a default are host names here.
static struct weft_workload *expand(const struct fixture *f, const char *common, uint64_t seed) {
    char text[1024], file[512];
    int n = snprintf(text, sizeof text, "%s", common);
    const char *sample = sample_of(f->model, file, sizeof file);
    if (sample) snprintf(text + n, sizeof text - (size_t)n, ", %s", sample);
    for (uint32_t i = 0; i < f->model->params->n && !sample; i++) {
        const struct weft_param *row = &f->model->params->rows[i];
        if (!row->dflt)
            n += snprintf(text + n, sizeof text - (size_t)n, ", %s: host-%u", row->name, i); // all different
    }
    return expand_as_written(f, text, seed);
}

static void flows_are_as_the_rows_say(const struct fixture *f) {
    const struct weft_workload *w = expand(f, "group: mine, start: 3us, size: 2KB, qps: 4, priority: 5, verb: send", 1);
    assert_true(w->flows > 0);
    assert_int_equal(w->groups, 1);
    assert_string_equal(w->group[0], "mine");
    uint64_t qps = 0, bytes = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *flow = &w->flow[i];
        assert_true(flow->src < HOSTS && flow->dst < HOSTS && flow->src != flow->dst);
        assert_int_equal(flow->group, 0);
        assert_int_equal(flow->bytes, 2000);
        assert_int_equal(flow->qps, 4);
        assert_int_equal(flow->priority, 5);
        assert_int_equal(flow->verb, WEFT_VERB_SEND);
        assert_true(flow->start_ps >= 3 * WEFT_PS_PER_US);
        qps += flow->qps;
        bytes += flow->bytes;
    }
    assert_int_equal(w->qps, qps);
    assert_int_equal(w->bytes, bytes);
}

static void same_seed_same_flows(const struct fixture *f) {
    const struct weft_workload *a = expand(f, "size: 2KB", 7), *b = expand(f, "size: 2KB", 7);
    assert_int_equal(a->flows, b->flows);
    assert_memory_equal(a->flow, b->flow, a->flows * sizeof *a->flow);
}

static void repetitions(const struct fixture *f) {
    const struct weft_workload *once = expand(f, "size: 2KB", 1);
    const struct weft_workload *thrice = expand(f, "size: 2KB, repeat: 3, interval: 5ms", 1);
    assert_int_equal(thrice->flows, 3 * once->flows);
    for (uint32_t i = 0; i < thrice->flows; i++) {
        const struct weft_flow *first = &once->flow[i / 3], *flow = &thrice->flow[i];
        assert_int_equal(flow->src, first->src);
        if (i % 3 == 0 || strcmp(f->model->name, "permutation")) // draws its later repetitions anew
            assert_int_equal(flow->dst, first->dst);
        assert_int_equal(flow->start_ps, first->start_ps + i % 3 * 5 * WEFT_PS_PER_MS);
    }
}

/// What the DAG of the workload does, noted.
struct noted {
    const struct weft_workload *w;
    const struct weft_dag *dag;
    uint8_t *sent, *received; ///< [flows] times
};

static void note_step(void *context, const struct weft_dag_cursor *at, const struct weft_dag_step *step) {
    struct noted *n = context;
    bool sends = step->sends > 0;
    assert_int_equal(step->sends + step->recvs, 1);
    struct weft_dag_connection c = weft_dag_connection_at(n->dag, sends ? step->send[0] : step->recv[0]);
    const struct weft_flow *flow = &n->w->flow[c.flow];
    assert_int_equal(weft_dag_rank_at(n->dag, at->rank).host, sends ? flow->src : flow->dst);
    assert_int_equal(step->bytes, flow->bytes);
    assert_int_equal(step->from_ps, sends ? flow->start_ps : 0);
    assert_true(sends || n->sent[c.flow]);
    (sends ? n->sent : n->received)[c.flow]++;
}

/// Compiled to a DAG, every flow is sent once, at its start, by its source, and received once by its destination; all
/// of them at the last start, if messages take no time.
static void flows_are_a_dag(const struct fixture *f) {
    const struct weft_workload *w = expand(f, "size: 2KB, start: 1us, repeat: 2, interval: 7us", 3);
    struct weft_dag dag = weft_dag_of(w, f->built.arena);
    struct noted n = {.w = w, .dag = &dag};
    n.sent = weft_arena_alloc(f->built.arena, w->flows, 1);
    n.received = weft_arena_alloc(f->built.arena, w->flows, 1);
    struct weft_dag_result r = weft_dag_execute(&dag, &(struct weft_dag_options){5, note_step, &n});
    weft_time_ps last = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        assert_int_equal(n.sent[i], 1);
        assert_int_equal(n.received[i], 1);
        if (w->flow[i].start_ps > last) last = w->flow[i].start_ps;
    }
    assert_int_equal(r.stuck, 0);
    assert_int_equal(r.messages, w->flows);
    assert_int_equal(r.bytes, w->bytes);
    assert_int_equal(r.end_ps, last);
}

/// In all, in closed form: n hosts, a flow or n - 1 of S from each.
static void volumes_are_the_closed_forms(void **state) {
    (void)state;
    static const struct {
        const char *name, *more;
        uint64_t flows;
    } form[] = {{"permutation", "", HOSTS},
                {"permutation", ", mode: shift", HOSTS},
                {"incast", ", sources: \"*\", dst: host-3", HOSTS - 1},
                {"all_to_all", "", HOSTS * (HOSTS - 1)}};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct fixture f = {build_text("topology: {kind: single, hosts: 16}"),
                            weft_model_find(WEFT_KIND_WORKLOAD, form[i].name)};
        char text[128];
        snprintf(text, sizeof text, "size: 3KB, repeat: 4, interval: 1us%s", form[i].more);
        struct weft_dag dag = weft_dag_of(expand_as_written(&f, text, 9), f.built.arena);
        struct weft_dag_result r = weft_dag_execute(&dag, &(struct weft_dag_options){0});
        assert_int_equal(r.bytes, 4 * 3000 * form[i].flows);
        assert_int_equal(r.steps, 2 * 4 * form[i].flows);
        weft_arena_free(f.built.arena);
    }
}

static void every_generator(void **state) {
    (void)state;
    assert_true(weft_model_count(WEFT_KIND_WORKLOAD) > 0);
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_WORKLOAD); i++) {
        struct fixture f = {build_text("topology: {kind: single, hosts: 16}"), weft_model_at(WEFT_KIND_WORKLOAD, i)};
        const struct weft_workload_ops *ops = f.model->ops;
        assert_true((ops->expand != NULL) != (ops->schedule != NULL));
        // test_collective and tests/theory/test_collective_run.c have what jobs owe, test_live what recorded frames do
        if (ops->schedule || !weft_param_find(f.model->params, "size")) {
            weft_arena_free(f.built.arena);
            continue;
        }
        if (!f.built.t) fail_msg("%s", f.built.error.text);
        char file[512];
        if (!sample_of(f.model, file, sizeof file)) flows_are_as_the_rows_say(&f); // else as the file says
        same_seed_same_flows(&f);
        repetitions(&f);
        flows_are_a_dag(&f);
        weft_arena_free(f.built.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_generator),
                                       cmocka_unit_test(volumes_are_the_closed_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
