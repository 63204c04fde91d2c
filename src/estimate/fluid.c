// SPDX-License-Identifier: Apache-2.0
// What happens in order of time: events, drains, timers of programs. Whatever changes at one time changes the rates
// once; of many queue pairs, whatever changes within a part of the time that a message takes.
#include "estimate/fluid.h"

#include <math.h>

#include "base/grow.h"

void weft__fluid_note(struct weft__fluid *x, weft_time_ps time, enum weft__fluid_what what, uint32_t index) {
    weft__events_add(&x->events, (struct weft__fluid_event){time, index, what});
}

// --- drains -------------------------------------------------------------------------------------------------------

void weft__fluid_add_drain(struct weft__fluid *x, uint32_t flow) {
    uint32_t drains = flow;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, x->drain, drains, x->drains_room, 64) =
        (struct weft__drain){.first = WEFT_NONE, .last = WEFT_NONE};
    if (x->drains_room > x->drains.keys) weft__timers_add_keys(&x->drains, x->drains_room);
}

/// When what is left has drained.
static void set_drain(struct weft__fluid *x, uint32_t flow) {
    const struct weft__drain *d = &x->drain[flow];
    if (d->rate > 0) weft__timer_set(&x->drains, flow, x->now_ps + (weft_time_ps)(d->left / d->rate + 0.5));
}

uint32_t weft__fluid_line(const struct weft__fluid *x, uint32_t qp) {
    const struct weft__level_flow *f = &x->levels.flow[qp];
    return f->entries && x->way[qp].by_nic ? x->levels.entry[f->first].link : WEFT_NONE;
}

void weft__fluid_turns(struct weft__fluid *x, uint32_t link, int32_t more) {
    enum { PART = 8 };
    if (link == WEFT_NONE) return;
    struct weft__line *line = &x->line[link];
    line->active += (uint32_t)more;
    uint32_t off = line->active > line->shared ? line->active - line->shared : line->shared - line->active;
    if (line->uneven || off * PART <= line->shared) return;
    line->uneven = true;
    x->uneven[x->unevens++] = link;
}

static float share_at(const struct weft__line *line) {
    return line->shared > 1 ? 1 / (float)line->shared : 1;
}

/// Queue pairs of a NIC take turns: further on, each has its part of what the NIC has.
static void divide_lines(struct weft__fluid *x) {
    x->divisions += x->unevens > 0;
    while (x->unevens) {
        uint32_t number = x->uneven[--x->unevens];
        struct weft__line *line = &x->line[number];
        const struct weft__level_link *link = &x->levels.link[number];
        line->uneven = false;
        line->shared = line->active;
        for (uint32_t i = 0; i < link->members; i++) {
            uint32_t flow = link->member[i].flow;
            const struct weft__level_flow *f = &x->levels.flow[flow];
            if (flow < x->net.qps && link->member[i].entry == f->first)
                weft__levels_share(&x->levels, flow, share_at(line));
            if (flow < x->net.qps || x->drain[flow].divided == x->divisions) continue;
            x->drain[flow].divided = x->divisions; // once for all lines of its members
            weft__levels_share(&x->levels, flow, weft__rings_share(x, flow));
        }
    }
}

void weft__fluid_begin(struct weft__fluid *x, uint32_t flow, double wire) {
    struct weft__drain *d = &x->drain[flow];
    d->left = wire;
    d->since_ps = d->begun_ps = x->now_ps;
    if (x->levels.flow[flow].active) {
        set_drain(x, flow);
    } else {
        d->rate = 0;
        d->turn = x->turns++;
        uint32_t line = flow < x->net.qps ? weft__fluid_line(x, flow) : WEFT_NONE;
        weft__fluid_turns(x, line, 1);
        weft__levels_share(&x->levels, flow, line == WEFT_NONE ? 1 : share_at(&x->line[line]));
        weft__levels_begin(&x->levels, flow);
    }
}

/// Flows come and go at one time; then those whose rate changes go on with another.
static void settle_rates(struct weft__fluid *x) {
    enum { AHEAD = 8 };
    struct weft__levels *l = &x->levels;
    divide_lines(x);
    if (!l->queued && l->settled) return;
    weft__levels_settle(l);
    x->settlings++;
    for (uint32_t i = 0; i < l->changes; i++) {
        struct weft__drain *d = &x->drain[l->changed[i]];
        if (i + AHEAD < l->changes) __builtin_prefetch(&x->drain[l->changed[i + AHEAD]]);
        d->left -= d->rate * (double)(x->now_ps - d->since_ps);
        if (d->left < 0) d->left = 0;
        d->since_ps = x->now_ps;
        if (l->changed[i] < x->net.qps) weft__credits_flow(x, l->changed[i], l->flow[l->changed[i]].rate - d->rate);
        d->rate = l->flow[l->changed[i]].rate;
        set_drain(x, l->changed[i]);
    }
}

enum { DRAINS_MEANT = 64 };

static void note_bytes(struct weft__fluid *x, uint32_t flow, double wire) {
    const struct weft__level_flow *f = &x->levels.flow[flow];
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        double weight = fabs((double)x->levels.entry[e].weight);
        if (flow < x->net.qps && weight > 1) weight = 1; // of credit, which is no data
        x->levels.link[x->levels.entry[e].link].bytes += wire * weight;
    }
}

static void on_drained(struct weft__fluid *x, uint32_t flow) {
    struct weft__drain *d = &x->drain[flow];
    x->drain_ps += ((double)(x->now_ps - d->begun_ps) - x->drain_ps) / DRAINS_MEANT;
    if (flow >= x->net.qps) {
        note_bytes(x, flow, weft__rings_drained(x, flow));
        return;
    }
    note_bytes(x, flow, x->piece[d->first].wire);
    weft__pieces_drained(x, flow);
    if (!weft__pieces_pause(x, flow) && d->first != WEFT_NONE) {
        weft__pieces_begin(x, flow);
        return;
    }
    weft__credits_flow(x, flow, -d->rate);
    weft__fluid_turns(x, weft__fluid_line(x, flow), -1);
    weft__levels_end(&x->levels, flow);
}

// --- the loop -----------------------------------------------------------------------------------------------------

static weft_time_ps next_time(const struct weft__fluid *x) {
    weft_time_ps event = x->events.next_ps, drain = weft__timers_next(&x->drains);
    weft_time_ps timer = weft__timers_next(&x->node.timers), least = event < drain ? event : drain;
    return timer < least ? timer : least;
}

static void on_event(struct weft__fluid *x) {
    struct weft__fluid_event e = weft__events_take(&x->events);
    if (e.what >= WEFT__FLUID_PIECES)
        weft__rings_on(x, e.what, e.index);
    else
        weft__pieces_on(x, e.what, e.index);
}

static void on_timer(struct weft__fluid *x) {
    uint32_t key = weft__timers_pop(&x->node.timers), host = x->host_of_key[key];
    weft__gpu_on_timer(&x->node, &x->end[host], weft__fluid_worker(x), key);
}

void weft__fluid_run(struct weft__fluid *x) {
    weft_time_ps until = x->net.engine.conf.until_ps;
    for (;;) {
        weft_time_ps next = next_time(x);
        if (next > x->now_ps && (next == WEFT_TIME_NEVER || (double)(next - x->settled_ps) > x->batch * x->drain_ps)) {
            settle_rates(x);
            x->settled_ps = x->now_ps;
            next = next_time(x);
        }
        if (next > until || next == WEFT_TIME_NEVER) break;
        x->now_ps = weft__fluid_worker(x)->now_ps = next;
        x->happened++;
        if (weft__timers_next(&x->drains) == next)
            on_drained(x, weft__timers_pop(&x->drains));
        else if (x->events.next_ps == next)
            on_event(x);
        else
            on_timer(x);
    }
}
