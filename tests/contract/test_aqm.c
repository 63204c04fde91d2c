// SPDX-License-Identifier: Apache-2.0
// Every AQM with random queues: it marks only ECN-capable packets, touches nothing in an empty queue, and gives the
// same verdicts for the same stream. What a model with a state tells of it (weft_model_fingerprint) is all that it acts
// by, whatever time it is.
#include "models.h"

#include "run.h"

#include "base/digest.h"
#include "weft/aqm.h"

enum { PACKETS = 50000, HISTORIES = 60, HISTORY = 40, FUTURE = 400 };

/// A queue of a model, and what happens there. In a bad stretch packets wait long.
struct queue {
    const struct weft_aqm_ops *ops;
    const void *conf;
    void *state;
    struct weft_random random, marks;
    weft_time_ps now_ps;
    bool bad;
};

static struct queue queue_of(const struct weft_aqm_ops *ops, const void *conf, uint64_t seed, weft_time_ps now) {
    size_t size = weft_aqm_state_size(ops, conf);
    return (struct queue){.ops = ops,
                          .conf = conf,
                          .state = size ? calloc(1, size) : NULL,
                          .random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST),
                          .marks = weft_random_stream(seed, 1, WEFT_RANDOM_ECN),
                          .now_ps = now};
}

static struct weft_aqm_fact draw_fact(struct queue *q) {
    struct weft_random *random = &q->random;
    if (!weft_random_below(random, 50)) q->bad = !q->bad;
    q->now_ps += weft_random_below(random, UINT64_C(1) << weft_random_below(random, 27));
    unsigned most = q->bad ? 29 : (unsigned)weft_random_below(random, 30);
    return (struct weft_aqm_fact){
        .now_ps = q->now_ps,
        .waited_ps = weft_random_below(random, UINT64_C(1) << most),
        .queue_bytes = weft_random_below(random, UINT64_C(1) << (q->bad ? 39 : weft_random_below(random, 40))),
        .bytes = (uint32_t)weft_random_below(random, 9216) + 64,
        .ecn_capable = weft_random_below(random, 2),
    };
}

static enum weft_aqm_verdict arrive(struct queue *q, struct weft_aqm_fact fact) {
    struct weft_random before = q->marks;
    fact.waited_ps = 0;
    enum weft_aqm_verdict verdict = q->ops->on_enqueue(q->state, q->conf, &fact, &q->marks);
    if (!fact.ecn_capable) assert_int_not_equal(verdict, WEFT_AQM_MARK);
    if (!fact.queue_bytes || fact.queue_bytes <= q->ops->pass(q->conf)) {
        assert_int_equal(verdict, WEFT_AQM_PASS);
        assert_memory_equal(&before, &q->marks, sizeof before); // nothing was drawn
    }
    return verdict;
}

static enum weft_aqm_verdict leave(struct queue *q, const struct weft_aqm_fact *fact) {
    if (!q->ops->on_dequeue) return WEFT_AQM_PASS;
    enum weft_aqm_verdict verdict = q->ops->on_dequeue(q->state, q->conf, fact, &q->marks);
    assert_true(verdict <= WEFT_AQM_DROP);
    if (!fact->ecn_capable) assert_int_not_equal(verdict, WEFT_AQM_MARK);
    if (!fact->queue_bytes) assert_int_equal(verdict, WEFT_AQM_PASS);
    return verdict;
}

/// Returns a digest of the verdicts: 0 if all were PASS.
static uint64_t go_on(struct queue *q, unsigned packets) {
    uint64_t digest = 0;
    for (unsigned i = 0; i < packets; i++) {
        struct weft_aqm_fact fact = draw_fact(q);
        digest = digest * 31 + arrive(q, fact);
        digest = digest * 31 + leave(q, &fact);
    }
    return digest;
}

static uint64_t run(const struct weft_aqm_ops *ops, const void *conf, uint64_t seed) {
    struct queue q = queue_of(ops, conf, seed, 1000000000);
    uint64_t digest = go_on(&q, PACKETS);
    free(q.state);
    return digest;
}

static void judges(const struct weft_model *model, const void *conf) {
    const struct weft_aqm_ops *ops = model->ops;
    assert_int_equal(!ops->on_dequeue, !ops->wants_dequeue);
    assert_int_equal(run(ops, conf, 1), run(ops, conf, 1));
    assert_int_equal(run(ops, conf, 2) != 0, weft_aqm_acts(ops, conf));
}

static void all_judge(void **state) {
    each_model(WEFT_KIND_AQM, judges);
}

/// After a history, what the model tells of its state, and the verdicts in a future that is the same for all.
struct seen {
    uint64_t told[2], then;
};

static struct seen look_at(const struct weft_aqm_ops *ops, const void *conf, unsigned history, weft_time_ps begin) {
    struct queue q = queue_of(ops, conf, history, begin);
    go_on(&q, history % 7 * HISTORY);
    struct weft__fingerprint fingerprint = {.now_ps = q.now_ps};
    ops->fingerprint(q.state, conf, &fingerprint);
    q.random = q.marks = weft_random_stream(99, 0, WEFT_RANDOM_TEST);
    q.bad = true;
    struct seen seen = {{fingerprint.all[0], fingerprint.all[1]}, go_on(&q, FUTURE)};
    free(q.state);
    return seen;
}

static unsigned models_told, pairs_alike, pairs_unlike;

static void tells_all(const struct weft_model *model, const void *conf) {
    const struct weft_aqm_ops *ops = model->ops;
    if (!ops->fingerprint) return;
    models_told++;
    assert_true(weft_aqm_state_size(ops, conf) > 0);
    struct seen seen[HISTORIES];
    for (unsigned i = 0; i < HISTORIES; i++) {
        seen[i] = look_at(ops, conf, i, 1000000000);
        struct seen later = look_at(ops, conf, i, 987654321987);
        assert_memory_equal(&seen[i], &later, sizeof later);
        for (unsigned k = 0; k < i; k++) {
            bool alike = seen[k].told[0] == seen[i].told[0];
            assert_int_equal(alike, seen[k].told[1] == seen[i].told[1]);
            if (alike) assert_int_equal(seen[k].then, seen[i].then);
            *(alike ? &pairs_alike : &pairs_unlike) += 1;
        }
    }
}

static void what_is_told_decides(void **state) {
    each_model(WEFT_KIND_AQM, tells_all);
    assert_true(models_told > 0 && pairs_alike > 0 && pairs_unlike > 0);
}

/// A VOQ that drops what leaves it has no more credit than it may hold: the run checks its state.
static void drops_of_a_voq_leave_no_more_credit_than_allowed(void **state) {
    setenv("WEFT_CHECK", "1", 1);
    struct run r = run_once("topology: {kind: dsf_l1_zone, rdsws: 4, hosts_per_rdsw: 4, rails: 1, fdsws: 2, "
                            "virtual_devices: 2}\n"
                            "workload: [{kind: incast, sources: 'host-1..15', dst: host-0, size: 200KB}, "
                            "{kind: permutation, size: 300KB}]\n"
                            "switch: {aqm: {kind: codel, target: 500ns, interval: 2us, mark: false}}\n"
                            "host: {timeout: 100us}\nrun: {until: 100us}\n");
    assert_true(r.outcome->drops[WEFT_DROP_AQM] > 0);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_of_a_voq_leave_no_more_credit_than_allowed),
        cmocka_unit_test(all_judge),
        cmocka_unit_test(what_is_told_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
