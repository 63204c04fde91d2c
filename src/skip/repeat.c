// SPDX-License-Identifier: Apache-2.0
#include "skip/repeat.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "box/box.h"
#include "link/measure.h"
#include "transport/program.h"

/// The counters of flows besides their bytes.
#define FLOW_COUNTERS(X)                                                                                               \
    X(cnps) X(packets_again) X(sfc_messages) X(sfc_paused_ps) X(out_of_order) X(out_of_order_placed)

// --- marks --------------------------------------------------------------------------------------------------------

static struct weft__port_queue *queue_of(const struct weft__network *net, uint32_t port, uint32_t priority) {
    struct weft__port *own = weft__network_port(net, port);
    return own ? weft__port_queue_of(own, priority) : NULL;
}

/// The counters as they would be at the end, except for maxima, which do not add up.
static struct weft_counters counters_of(const struct weft__network *net, uint32_t port, uint32_t priority) {
    struct weft_counters c = *weft_outcome_at(net->outcome, port, priority);
    const struct weft__port_queue *q = queue_of(net, port, priority);
    if (q) c.tx_packets = q->tx_packets;
    if (q) c.tx_bytes = q->tx_bytes;
    c.queue_bytes_max = c.ingress_bytes_max = 0;
    return c;
}

/// The same as they were at the mark.
static struct weft_counters *counters_at(const struct weft__mark *mark, uint32_t port, uint32_t priority) {
    return &mark->port[(size_t)port * WEFT_PRIORITIES + priority];
}

/// A box's own counts, in order, beside what had been counted.
struct box_counts {
    struct weft__mark_counts *mark;
    uint32_t at;
    struct weft__ratio ratio;
};

static void each_count(struct weft__network *net, uint32_t node, weft__on_count *on_count, struct box_counts *context) {
    const struct weft__box *box = weft__box_of(&net->topology->node[node]);
    if (box->each_count) box->each_count(net, node, on_count, context);
}

static void number_count(void *context, uint64_t *count) {
    struct box_counts *c = context;
    c->mark->n++;
}

static void note_count(void *context, uint64_t *count) {
    struct box_counts *c = context;
    c->mark->count[c->at++] = *count;
}

static void note_boxes(const struct weft__skips *s, struct weft__mark *m) {
    uint32_t nodes = s->net->topology->nodes;
    m->box = weft_arena_alloc(m->arena, nodes, sizeof *m->box);
    for (uint32_t i = 0; i < nodes; i++) {
        struct box_counts c = {.mark = &m->box[i]};
        each_count(s->net, i, number_count, &c);
        m->box[i].count = weft_arena_alloc(m->arena, m->box[i].n, sizeof *m->box[i].count);
        each_count(s->net, i, note_count, &c);
    }
}

void weft__mark_free(struct weft__mark *m) {
    weft_arena_free(m->arena);
    *m = (struct weft__mark){0};
}

void weft__mark_take(const struct weft__skips *s, weft_time_ps now, struct weft__mark *ret) {
    const struct weft__network *net = s->net;
    const struct weft_outcome *o = net->outcome;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft__mark m = {.arena = arena, .time_ps = now + s->skipped_ps, .tally = weft__engine_tally(&net->engine)};
    m.port = weft_arena_alloc(arena, (size_t)o->ports * WEFT_PRIORITIES, sizeof *m.port);
    for (uint32_t i = 0; i < o->ports; i++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            *counters_at(&m, i, p) = counters_of(net, i, p);
    m.flow = weft_arena_alloc(arena, o->flows, sizeof *m.flow);
    if (o->flows) memcpy(m.flow, o->flow, o->flows * sizeof *m.flow);
    m.delivered = weft_arena_alloc(arena, net->qps, sizeof *m.delivered);
    for (uint32_t q = 0; q < net->qps; q++)
        m.delivered[q] = net->hosts.receiver[q].delivered_bytes;
    m.program = weft_arena_alloc(arena, net->programs->n, sizeof *m.program);
    for (uint32_t i = 0; i < net->programs->n; i++)
        weft__program_mark_new(&net->programs->program[i], arena, &m.program[i]);
    m.waits = weft_arena_alloc(arena, s->histograms, sizeof *m.waits);
    for (uint32_t i = 0; i < s->histograms; i++)
        m.waits[i] = *s->histogram[i];
    m.server = weft_arena_alloc(arena, 2 * (size_t)net->topology->hosts, sizeof *m.server);
    for (uint32_t h = 0; h < net->topology->hosts; h++) {
        if (!net->gpu[h]) continue;
        m.server[2 * h] = net->gpu[h]->sent_bytes;
        m.server[2 * h + 1] = net->gpu[h]->received_bytes;
    }
    note_boxes(s, &m);
    *ret = m;
}

/// The k-th count of a box; 0 if it did not exist yet.
static uint64_t count_in(const struct weft__mark_counts *mark, uint32_t k) {
    return k < mark->n ? mark->count[k] : 0;
}

/// Takes away from each number of the mark that adds up, except those of histograms and boxes.
static void take_away_counts(const struct weft__skips *s, struct weft__mark *m, const struct weft__mark *from,
                             const struct weft__mark *to) {
#define AWAY(number) m->number -= to->number - from->number;
    for (size_t i = 0; i < (size_t)s->net->outcome->ports * WEFT_PRIORITIES; i++) {
#define X(name, type, sai, help) AWAY(port[i].name)
        WEFT_PRIORITY_COUNTERS(X)
#undef X
    }
    for (uint32_t i = 0; i < s->net->outcome->flows; i++) {
#define X(name) AWAY(flow[i].name)
        FLOW_COUNTERS(X)
#undef X
    }
    AWAY(tally.delivered_bytes)
    AWAY(tally.dropped_bytes)
    for (uint32_t c = 0; c < WEFT__COUNTS_MAX; c++)
        AWAY(tally.count[c])
#undef AWAY
}

/// Takes away what was counted between the two.
static void take_away_histogram(struct weft_histogram *h, const struct weft_histogram *from,
                                const struct weft_histogram *to) {
    unsigned __int128 sum =
        ((unsigned __int128)h->sum_high << 64 | h->sum) -
        (((unsigned __int128)to->sum_high << 64 | to->sum) - ((unsigned __int128)from->sum_high << 64 | from->sum));
    h->sum = (uint64_t)sum;
    h->sum_high = (uint64_t)(sum >> 64);
    h->n -= to->n - from->n;
    for (uint32_t i = 0; i < WEFT_HISTOGRAM_BUCKETS; i++)
        h->bucket[i] -= to->bucket[i] - from->bucket[i];
}

void weft__mark_take_again(const struct weft__skips *s, weft_time_ps now, const struct weft__mark *from,
                           const struct weft__mark *to, struct weft__mark *ret) {
    struct weft__mark m;
    weft__mark_take(s, now, &m);
    take_away_counts(s, &m, from, to);
    for (uint32_t i = 0; i < s->net->topology->nodes; i++)
        for (uint32_t k = 0; k < m.box[i].n; k++)
            m.box[i].count[k] -= count_in(&to->box[i], k) - count_in(&from->box[i], k);
    for (uint32_t i = 0; i < s->histograms; i++)
        take_away_histogram(&m.waits[i], &from->waits[i], &to->waits[i]);
    *ret = m;
}

// --- what is counted again ----------------------------------------------------------------------------------------

/// Rounded to the nearest integer.
static uint64_t scale_count(uint64_t counted, struct weft__ratio r) {
    return (uint64_t)(((unsigned __int128)counted * r.times + r.of / 2) / r.of);
}

static void repeat_counters(struct weft__network *net, const struct weft__mark *before, struct weft__ratio r) {
    for (uint32_t i = 0; i < net->outcome->ports; i++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            const struct weft_counters *was = counters_at(before, i, p);
            struct weft_counters now = counters_of(net, i, p), *own = weft_outcome_at(net->outcome, i, p);
            struct weft__port_queue *q = queue_of(net, i, p);
#define X(field, type, sai, help) own->field += scale_count(now.field - was->field, r);
            WEFT_PRIORITY_COUNTERS(X)
#undef X
            if (!q) continue;
            q->tx_packets += scale_count(now.tx_packets - was->tx_packets, r);
            q->tx_bytes += scale_count(now.tx_bytes - was->tx_bytes, r);
        }
}

static void repeat_count(void *context, uint64_t *count) {
    struct box_counts *c = context;
    *count += scale_count(*count - count_in(c->mark, c->at++), c->ratio);
}

static void repeat_boxes(struct weft__network *net, const struct weft__mark *before, struct weft__ratio r) {
    for (uint32_t i = 0; i < net->topology->nodes; i++) {
        struct box_counts c = {.mark = &before->box[i], .ratio = r};
        each_count(net, i, repeat_count, &c);
    }
}

static void note_true(weft_time_ps *time, weft_time_ps skipped) {
    if (*time != WEFT_TIME_NEVER) *time = weft__true_time(*time, skipped) | WEFT__TRUE_TIME;
}

static void repeat_flows(const struct weft__skips *s, const struct weft__mark *before, struct weft__ratio r) {
    for (uint32_t i = 0; i < s->net->outcome->flows; i++) {
        struct weft_flow_outcome *now = &s->net->outcome->flow[i];
        const struct weft_flow_outcome *was = &before->flow[i];
#define X(name) now->name += (__typeof__(now->name))scale_count(now->name - was->name, r);
        FLOW_COUNTERS(X)
#undef X
        note_true(&now->end_ps, s->skipped_ps);
        note_true(&now->acked_ps, s->skipped_ps);
    }
}

static void repeat_histogram(struct weft_histogram *h, const struct weft_histogram *before, struct weft__ratio r) {
    if (h->n == before->n) return;
    struct weft_histogram more = {.min = h->min, .max = h->max};
    unsigned __int128 sum =
        (((unsigned __int128)h->sum_high << 64 | h->sum) - ((unsigned __int128)before->sum_high << 64 | before->sum));
    sum = sum / r.of * r.times + sum % r.of * r.times / r.of;
    more.sum = (uint64_t)sum;
    more.sum_high = (uint64_t)(sum >> 64);
    for (uint32_t i = 0; i < WEFT_HISTOGRAM_BUCKETS; i++)
        more.n += more.bucket[i] = scale_count(h->bucket[i] - before->bucket[i], r);
    weft_histogram_merge(h, &more);
}

/// The amount in flight stays the same.
static void repeat_tally(struct weft__network *net, const struct weft__mark *before, struct weft__ratio r) {
    struct weft__tally now = weft__engine_tally(&net->engine), *own = &net->engine.worker[0].tally;
    weft_bytes delivered = scale_count(now.delivered_bytes - before->tally.delivered_bytes, r);
    weft_bytes dropped = scale_count(now.dropped_bytes - before->tally.dropped_bytes, r);
    own->injected_bytes += delivered + dropped;
    own->delivered_bytes += delivered;
    own->dropped_bytes += dropped;
    for (uint32_t c = 0; c < WEFT__COUNTS_MAX; c++)
        own->count[c] += scale_count(now.count[c] - before->tally.count[c], r);
}

void weft__skips_repeat(struct weft__skips *s, const struct weft__mark *before, struct weft__ratio ratio) {
    repeat_counters(s->net, before, ratio);
    repeat_boxes(s->net, before, ratio);
    repeat_flows(s, before, ratio);
    repeat_tally(s->net, before, ratio);
    for (uint32_t i = 0; i < s->histograms; i++)
        repeat_histogram(s->histogram[i], &before->waits[i], ratio);
}

bool weft__skips_met_congestion(const struct weft__skips *s, const struct weft__mark *before) {
    struct weft__tally now = weft__engine_tally(&s->net->engine);
    if (now.dropped_bytes != before->tally.dropped_bytes ||
        now.count[WEFT__COUNT_CNPS] != before->tally.count[WEFT__COUNT_CNPS])
        return true;
    const struct weft_outcome *o = s->net->outcome;
    for (uint32_t i = 0; i < o->ports; i++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            if (weft_outcome_at(o, i, p)->pfc_rx_xoff != counters_at(before, i, p)->pfc_rx_xoff) return true;
    return false;
}

// --- time ---------------------------------------------------------------------------------------------------------

/// Everything scheduled to begin comes nearer by that time.
static void move_starts(struct weft__network *net, weft_time_ps nearer) {
    const struct weft__hosts *hosts = &net->hosts;
    for (uint32_t h = 0; h < net->topology->hosts; h++) {
        uint32_t node = net->topology->host[h];
        struct weft__timers *timers = &net->engine.node[node].timers;
        for (uint32_t i = net->qp_lists.send_first[h]; i < net->qp_lists.send_first[h + 1]; i++) {
            uint32_t qp = net->qp_lists.send[i], key;
            if (hosts->sender[qp].started) continue;
            key = hosts->ops->start_key(qp, hosts);
            if (weft__timer_at(timers, key) != WEFT_TIME_NEVER)
                weft__timer_set(timers, key, weft__timer_at(timers, key) - nearer);
        }
        for (uint32_t k = 0; net->gpu[h] && k < net->gpu[h]->programs; k++) {
            const struct weft__program *p = &net->programs->program[net->gpu[h]->program[k]];
            if (!p->started) weft__timer_set(timers, p->key0, weft__timer_at(timers, p->key0) - nearer);
        }
        weft__engine_reschedule(&net->engine, node);
    }
}

weft_time_ps weft__skips_next_start(const struct weft__skips *s) {
    const struct weft__network *net = s->net;
    weft_time_ps next = net->engine.conf.until_ps;
    for (uint32_t q = 0; q < net->qps; q++) {
        const struct weft_flow *flow = &net->workload->flow[net->qp[q].flow];
        const struct weft__timers *timers = &net->engine.node[net->topology->host[net->qp[q].src]].timers;
        if (net->hosts.sender[q].started || flow->messages) continue;
        weft_time_ps at = weft__timer_at(timers, net->hosts.ops->start_key(q, &net->hosts));
        if (at < next) next = at;
    }
    for (uint32_t i = 0; i < net->programs->n; i++) {
        const struct weft__program *p = &net->programs->program[i];
        uint32_t node = net->programs->node[p->job->host[p->rank]];
        weft_time_ps at = p->started ? WEFT_TIME_NEVER : weft__timer_at(&net->engine.node[node].timers, p->key0);
        if (at < next) next = at;
    }
    return next;
}

void weft__skips_pass(struct weft__skips *s, weft_time_ps time) {
    assert(s->net->engine.conf.until_ps >= time);
    move_starts(s->net, time);
    if (s->net->engine.conf.until_ps < WEFT_TIME_MAX) s->net->engine.conf.until_ps -= time;
    s->skipped_ps += time;
    s->outcome->stretches++;
    s->outcome->skipped_ps = s->skipped_ps;
}

// --- audits -------------------------------------------------------------------------------------------------------

double weft__skips_difference(weft_time_ps a, weft_time_ps b) {
    assert(b);
    return fabs((double)a - (double)b) / (double)b;
}

void weft__skips_judge(struct weft__skips *s, double error) {
    const struct weft_run_conf *conf = &s->net->scenario->run;
    assert(error >= 0); // and a number
    s->outcome->audited++;
    s->outcome->failed += error > (conf->fast_forward == WEFT_FAST_FORWARD_EXACT ? 0 : conf->steady_error);
    if (error > s->outcome->audit_error) s->outcome->audit_error = error;
}

// --- a run --------------------------------------------------------------------------------------------------------

static void number_histogram(void *context, struct weft_histogram *histogram) {
    ++*(size_t *)context;
}

static void note_histogram(void *context, struct weft_histogram *histogram) {
    struct weft__skips *s = context;
    s->histogram[s->histograms++] = histogram;
}

static void each_histogram_of_boxes(struct weft__network *net, weft__on_histogram *on_histogram, void *context) {
    const struct weft__shared *shared;
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++)
        if (shared->each_histogram) shared->each_histogram(net, on_histogram, context);
}

static void find_histograms(struct weft__skips *s) {
    struct weft__network *net = s->net;
    uint32_t workers = net->engine.conf.workers, jobs = net->workload->jobs;
    size_t most = 2 * (size_t)jobs * workers + (size_t)workers * WEFT_PRIORITIES;
    each_histogram_of_boxes(net, number_histogram, &most);
    s->histogram = weft_arena_alloc(net->arena_qp, most, sizeof(struct weft_histogram *));
    for (uint32_t i = 0; i < jobs * workers; i++) {
        if (!net->programs->waits[i]) continue;
        note_histogram(s, &net->programs->waits[i]->cts);
        note_histogram(s, &net->programs->waits[i]->sender);
    }
    for (uint32_t k = 0; net->round_trips && k < workers; k++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            note_histogram(s, &net->round_trips[k][p]);
    each_histogram_of_boxes(net, note_histogram, s);
}

void weft__skips_init(struct weft__skips *s, struct weft__network *net) {
    *s = (struct weft__skips){.net = net, .outcome = net->outcome->fast_forward};
    s->audits = net->scenario->run.fast_forward_audit;
    find_histograms(s);
}
