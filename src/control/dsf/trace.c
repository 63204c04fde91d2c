// SPDX-License-Identifier: Apache-2.0
// The story of a control plane: what devices noticed and did, burst by burst of failures, and the final state.
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "control/dsf/reach_run.h"
#include "control/dsf/trace.h"
#include "weft/memory.h"

int weft_control_port_name(const struct weft_topology *t, const struct weft_fabric *f, uint32_t device, uint32_t slot,
                           char *text, size_t size) {
    const uint32_t *port = t->link[f->link[f->at[f->device[device].link0 + slot]].link].port;
    return weft_topology_port_name(t, port[t->port[port[0]].node != f->device[device].node], text, size);
}

/// Converts a note to a step for one destination; for a device without an onward path, whatever the group of inputs.
static struct weft_control_step step_of(const struct weft_reach_note *note, uint32_t fabric) {
    struct weft_control_step step = {.time_ps = note->time_ps,
                                     .deed = note->deed,
                                     .fabric = fabric,
                                     .device = note->device,
                                     .round = note->round,
                                     .slot = note->slot,
                                     .in = note->before.in,
                                     .out = note->before.out};
    uint32_t links = 0;
    for (uint32_t w = 0; w < WEFT_REACH_WORDS; w++)
        links += (uint32_t)__builtin_popcountll(note->links[w]);
    memcpy(step.links, note->links, sizeof step.links);
    step.in_after = note->deed == WEFT_REACH_OPENED ? step.in + links : step.in - links;
    return step;
}

static bool is_deed(const struct weft_control_step *s) {
    return s->deed == WEFT_REACH_WITHDREW || s->deed == WEFT_REACH_OPENED;
}

static bool at_once(const struct weft_control_step *a, const struct weft_control_step *b) {
    return a->time_ps == b->time_ps && a->device == b->device && a->deed == b->deed && is_deed(a);
}

static bool is_alike(const struct weft_control_step *a, const struct weft_control_step *b) {
    return at_once(a, b) && a->in == b->in && a->out == b->out && a->in_after == b->in_after &&
           !memcmp(a->links, b->links, sizeof a->links);
}

/// Combines all inputs of a destination that were withdrawn for lack of an output, or opened with the first one.
static uint32_t join_groups(struct weft_control_step *step, uint32_t *dest, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct weft_control_step *last = kept ? &step[kept - 1] : NULL;
        bool bare = step[i].deed == WEFT_REACH_WITHDREW ? !step[i].out : !step[i].in;
        bool same = last && at_once(last, &step[i]) && dest[kept - 1] == dest[i] && last->out == step[i].out;
        if (!bare || !same) {
            step[kept] = step[i];
            dest[kept++] = dest[i];
            continue;
        }
        last->in += step[i].in;
        last->in_after += step[i].in_after;
        for (uint32_t w = 0; w < WEFT_REACH_WORDS; w++)
            last->links[w] |= step[i].links[w];
    }
    return kept;
}

/// Combines destinations with the same changes into one step, at the place of the first.
static uint32_t join_dests(struct weft_control_step *step, uint32_t *dest, uint32_t n, uint32_t *ret_dest) {
    WEFT_FREED bool *taken = weft_memory_new(WEFT_MEMORY_RESULT, n + 1, sizeof *taken);
    uint32_t kept = 0, dests = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (taken[i]) continue;
        struct weft_control_step joined = step[i];
        joined.dest0 = dests;
        for (uint32_t k = i; k < n && (k == i || at_once(&joined, &step[k])); k++) {
            if (taken[k] || (k != i && !is_alike(&joined, &step[k]))) continue;
            taken[k] = true;
            ret_dest[dests++] = dest[k];
            joined.dests++;
        }
        if (!is_deed(&joined)) {
            dests = joined.dest0;
            joined.dests = 0;
            joined.in = joined.in_after = joined.out = WEFT_NONE;
        }
        step[kept++] = joined; // kept <= i
    }
    return kept;
}

static void add_steps(struct weft_control_trace *trace, const struct weft__reach_run *run, uint32_t fabric,
                      struct weft_arena *arena) {
    uint32_t n, dests = 0;
    const struct weft_reach_note *note = weft__reach_run_notes(run, &n);
    for (uint32_t i = 0; i < trace->steps; i++)
        dests += trace->step[i].dests;
    struct weft_control_step *step = weft_arena_alloc(arena, trace->steps + n, sizeof *step),
                             *more = step + trace->steps;
    uint32_t *dest = weft_arena_alloc(arena, dests + n, sizeof *dest);
    WEFT_FREED uint32_t *own = weft_memory_new(WEFT_MEMORY_RESULT, n + 1, sizeof *own);
    if (trace->steps) memcpy(step, trace->step, trace->steps * sizeof *step);
    if (dests) memcpy(dest, trace->dest, dests * sizeof *dest);
    for (uint32_t i = 0; i < n; i++) {
        more[i] = step_of(&note[i], fabric);
        own[i] = note[i].before.dest;
    }
    uint32_t kept = join_groups(more, own, n);
    kept = join_dests(more, own, kept, dest + dests);
    for (uint32_t i = 0; i < kept; i++)
        more[i].dest0 += dests;
    trace->step = step;
    trace->dest = dest;
    trace->steps += kept;
}

WEFT__ORDER(by_time, struct weft_control_step,
            WEFT__UP(time_ps) ?: WEFT__UP(fabric) ?: WEFT__UP(dest0) ?: WEFT__UP(deed)) // dest0: in order of appearance

WEFT__ORDER(by_burst_time, struct weft_control_burst, WEFT__UP(time_ps))

/// One burst for each time at which something fails, comes back or is drained.
static void find_bursts(struct weft_control_trace *trace, const struct weft_topology *t, struct weft_arena *arena) {
    uint32_t n = 0;
    struct weft_control_burst *all = weft_arena_alloc(arena, (size_t)t->events + trace->events, sizeof *all);
    for (uint32_t e = 0; e < t->events; e++)
        if (weft_topology_link_is_fabric(t, t->event[e].link))
            all[n++] = (struct weft_control_burst){
                .time_ps = t->event[e].time_ps, .up = t->event[e].up, .down = !t->event[e].up};
    for (uint32_t e = 0; e < trace->events; e++)
        if (weft_control_is_drain(&trace->event[e]))
            all[n++] = (struct weft_control_burst){.time_ps = trace->event[e].time_ps, .drains = 1};
    if (n) qsort(all, n, sizeof *all, by_burst_time);
    trace->burst = all;
    for (uint32_t i = 0; i < n; i++) {
        struct weft_control_burst *last = trace->bursts ? &all[trace->bursts - 1] : NULL;
        if (!last || last->time_ps != all[i].time_ps) {
            all[trace->bursts] = all[i];
            last = &all[trace->bursts++];
            last->settled = true;
            last->stats.first_ps = last->stats.last_ps = last->time_ps;
            continue;
        }
        last->up += all[i].up;
        last->down += all[i].down;
        last->drains += all[i].drains;
    }
}

static void add_burst(struct weft_control_burst *burst, const struct weft_reach_stats *one, bool settled) {
    struct weft_reach_stats *sum = &burst->stats;
    sum->cells += one->cells;
    sum->withdrawn += one->withdrawn;
    sum->opened += one->opened;
    sum->changes += one->changes;
    if (one->rounds > sum->rounds) sum->rounds = one->rounds;
    if (one->last_ps > sum->last_ps) sum->last_ps = one->last_ps;
    burst->settled &= settled;
}

static struct weft_control_capacity capacity_of(const struct weft__reach_run *run, const struct weft_fabric *f,
                                                uint32_t dest, uint32_t cluster) {
    struct weft_control_capacity c = {.dest = dest, .cluster = cluster, .least = UINT32_MAX};
    for (uint32_t s = 0; s < f->dests; s++) {
        if (f->dest_cluster[s] != cluster || s == dest) continue;
        uint32_t device = f->dest_device[s], links = 0;
        const struct weft_reach_agent *a = weft__reach_run_agent(run, device);
        for (uint32_t k = 0; k < f->device[device].links; k++)
            links += weft_reach_usable(a, k, dest);
        bool resorts = weft_reach_resorts(a, dest); // uses a link that is not open to it
        c.cut_off += !links;
        c.resorting += resorts;
        if (resorts) links = 0;
        c.links += links;
        c.wired += f->device[device].links;
        if (links < c.least) {
            c.least = links;
            c.least_wired = f->device[device].links;
        }
    }
    return c;
}

/// Interface nodes of the cluster, and how many links each has open towards the destination.
static void list_entrances(struct weft_control_capacity *c, const struct weft__reach_run *run,
                           const struct weft_fabric *f, struct weft_arena *arena) {
    c->entrance = weft_arena_alloc(arena, f->dests, sizeof *c->entrance);
    for (uint32_t s = 0; s < f->dests; s++) {
        uint32_t device = f->dest_device[s], links = 0;
        if (f->dest_cluster[s] != c->cluster || s == c->dest) continue;
        const struct weft_reach_agent *a = weft__reach_run_agent(run, device);
        for (uint32_t k = 0; k < f->device[device].links && !weft_reach_resorts(a, c->dest); k++)
            links += weft_reach_usable(a, k, c->dest);
        c->entrance[c->entrances++] = (struct weft_control_entrance){f->device[device].name, device, links};
    }
}

static void add_capacities(struct weft_control_trace *trace, const struct weft__reach_run *run, uint32_t fabric,
                           struct weft_arena *arena) {
    const struct weft_fabric *f = trace->fabric[fabric];
    uint32_t clusters = 0, *cluster = weft_arena_alloc(arena, f->dests, sizeof *cluster);
    for (uint32_t s = 0; s < f->dests; s++) {
        uint32_t k = 0;
        while (k < clusters && cluster[k] != f->dest_cluster[s])
            k++;
        if (k == clusters) cluster[clusters++] = f->dest_cluster[s];
    }
    size_t most = trace->capacities + (size_t)f->dests * clusters;
    struct weft_control_capacity *all = weft_arena_alloc(arena, most, sizeof *all);
    if (trace->capacities) memcpy(all, trace->capacity, trace->capacities * sizeof *all);
    trace->capacity = all;
    for (uint32_t d = 0; d < f->dests; d++)
        for (uint32_t k = 0; k < clusters; k++) {
            struct weft_control_capacity c = capacity_of(run, f, d, cluster[k]);
            c.fabric = fabric;
            c.towards = f->device[f->dest_device[d]].name;
            if (c.links == c.wired) continue;
            list_entrances(&c, run, f, arena);
            all[trace->capacities++] = c;
        }
}

static void count_over(struct weft_control_trace *trace, const struct weft__reach_run *run, uint32_t fabric) {
    const struct weft_fabric *f = trace->fabric[fabric];
    struct weft_control_oversubscription *over = &trace->over;
    for (uint32_t i = 0; i < f->devices; i++)
        for (uint32_t d = 0; f->device[i].level && d < f->dests; d++) {
            const struct weft_reach_agent *a = weft__reach_run_agent(run, i);
            for (uint32_t g = 0; g < weft_reach_groups(a, d); g++) {
                struct weft_reach_balance b = weft_reach_group(a, d, g);
                if (b.wired_in > b.wired_out || b.in <= b.out) continue;
                bool worse = !over->groups || (uint64_t)b.in * over->worst.out > (uint64_t)over->worst.in * b.out;
                over->groups++;
                if (!worse) continue;
                over->fabric = fabric;
                over->device = i;
                over->worst = b;
            }
        }
}

static void add_drained(struct weft_control_trace *trace, const struct weft__reach_run *run,
                        const struct weft_fabric *f, struct weft_arena *arena) {
    struct weft_control_drained *all = weft_arena_alloc(arena, trace->drained_n + f->dests, sizeof *all);
    if (trace->drained_n) memcpy(all, trace->drained, trace->drained_n * sizeof *all);
    trace->drained = all;
    for (uint32_t d = 0; d < f->dests; d++) {
        enum weft_drain state = weft__reach_run_drain(run, f->dest_device[d]);
        if (state != WEFT_UNDRAINED)
            all[trace->drained_n++] = (struct weft_control_drained){f->device[f->dest_device[d]].name, state};
    }
}

static void run_fabric(struct weft_control_trace *trace, const struct weft_topology *t,
                       const struct weft_control_conf *conf, uint64_t seed, uint32_t fabric, struct weft_arena *arena) {
    struct weft__reach_run *run =
        weft__reach_run_events(t, trace->fabric[fabric], &conf->reach, trace->event, trace->events, seed, arena);
    for (uint32_t b = 0; b < trace->bursts; b++) {
        bool last = b + 1 == trace->bursts;
        weft__reach_run_until(run, last ? WEFT_TIME_NEVER : trace->burst[b + 1].time_ps - 1);
        add_burst(&trace->burst[b], weft__reach_run_stats(run), last || weft__reach_run_rests(run));
        weft__reach_run_count(run);
    }
    add_steps(trace, run, fabric, arena);
    add_capacities(trace, run, fabric, arena);
    count_over(trace, run, fabric);
    add_drained(trace, run, trace->fabric[fabric], arena);
    weft__reach_run_free(run);
}

enum weft_status weft_control_trace_new(const struct weft_topology *t, const struct weft_control_conf *conf,
                                        const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                        struct weft_arena *arena, struct weft_control_trace **ret_trace,
                                        struct weft_error *ret_error) {
    struct weft_control_trace *trace = weft_arena_alloc(arena, 1, sizeof *trace);
    *ret_trace = trace;
    trace->event = event;
    trace->events = events;
    enum weft_status status = weft_fabric_find(t, &conf->reach, arena, &trace->fabric, &trace->fabrics, ret_error);
    if (status) return status;
    find_bursts(trace, t, arena);
    trace->nodes = weft_arena_alloc(arena, trace->fabrics, sizeof *trace->nodes);
    struct weft__control_states states;
    bool some = weft__control_states_begin(&states, t, arena);
    for (uint32_t i = 0; i < trace->fabrics && !status; i++) {
        run_fabric(trace, t, conf, seed + i, i, arena);
        status = weft__control_trace_nodes(trace, t, conf, some ? &states.all : NULL, seed + i, i, arena, ret_error);
    }
    weft__control_states_end(&states);
    if (status) return status;
    if (trace->steps) qsort(trace->step, trace->steps, sizeof *trace->step, by_time);
    for (uint32_t b = 0, s = 0; b < trace->bursts; b++) {
        struct weft_control_burst *burst = &trace->burst[b];
        burst->step = trace->step + s;
        while (s < trace->steps && (b + 1 == trace->bursts || trace->step[s].time_ps < trace->burst[b + 1].time_ps))
            s++;
        burst->steps = (uint32_t)(trace->step + s - burst->step);
    }
    return WEFT_OK;
}
