// SPDX-License-Identifier: Apache-2.0
#include "trace_control.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 128 };

static void put_port(struct weft__json *j, const struct trace_view *v, const struct weft_fabric *f, uint32_t device,
                     uint32_t slot) {
    char name[NAME];
    weft_control_port_name(v->topology, f, device, slot, name, sizeof name);
    weft__json_string(j, name);
}

static void print_step(struct weft__json *j, const struct trace_view *v, const struct weft_control_step *s) {
    static const char *const deeds[] = {"noticed_down", "noticed_up", "withdrew", "opened"};
    const struct weft_fabric *f = v->trace->fabric[s->fabric];
    weft__json_begin_object(j);
    weft__json_key_u64(j, "time_ps", s->time_ps);
    weft__json_key_string(j, "device", f->device[s->device].name);
    weft__json_key_string(j, "did", deeds[s->deed]);
    weft__json_key_u64(j, "round", s->round);
    if (s->slot != WEFT_NONE) {
        weft__json_key(j, "because_of");
        put_port(j, v, f, s->device, s->slot);
    }
    if (s->dests) {
        weft__json_key_u64(j, "input", s->in);
        weft__json_key_u64(j, "output", s->out);
        weft__json_key_u64(j, "input_after", s->in_after);
        weft__json_key(j, "towards");
        weft__json_begin_array(j);
        for (uint32_t i = 0; i < s->dests; i++)
            weft__json_string(j, f->device[f->dest_device[v->trace->dest[s->dest0 + i]]].name);
        weft__json_end_array(j);
        weft__json_key(j, "ports");
        weft__json_begin_array(j);
        for (uint32_t k = 0; k < f->device[s->device].links; k++)
            if (s->links[k / 64] >> (k % 64) & 1) put_port(j, v, f, s->device, k);
        weft__json_end_array(j);
    }
    weft__json_end_object(j);
}

/// By device, and for each device in order of time.
static int compare_steps(const void *a, const void *b) {
    const struct weft_control_step *const *x = a, *const *y = b;
    if ((*x)->fabric != (*y)->fabric) return (*x)->fabric < (*y)->fabric ? -1 : 1;
    if ((*x)->device != (*y)->device) return (*x)->device < (*y)->device ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/// What a device withdrew in `n` steps. `seen`: per destination of its fabric; all false before and after.
static void print_withdrawal(struct weft__json *j, const struct trace_view *v, const struct weft_fabric *f,
                             uint32_t device, const struct weft_control_step *const *step, uint32_t n, bool *seen) {
    uint64_t links[WEFT_REACH_WORDS] = {0}, count = 0, towards = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < WEFT_REACH_WORDS; k++)
            links[k] |= step[i]->links[k];
        for (uint32_t d = 0; d < step[i]->dests; d++) {
            bool *is_known = &seen[v->trace->dest[step[i]->dest0 + d]];
            towards += !*is_known;
            *is_known = true;
        }
    }
    for (uint32_t k = 0; k < WEFT_REACH_WORDS; k++)
        count += (uint64_t)__builtin_popcountll(links[k]);
    memset(seen, 0, f->dests * sizeof *seen);
    weft__json_begin_object(j);
    weft__json_key_string(j, "device", f->device[device].name);
    weft__json_key_u64(j, "links", count);
    weft__json_key_u64(j, "towards", towards);
    if (n) {
        weft__json_key_u64(j, "input", step[0]->in);
        weft__json_key_u64(j, "output", step[n - 1]->out);
        weft__json_key_u64(j, "input_after", step[n - 1]->in_after);
    }
    weft__json_end_object(j);
}

/// How many links each device withdrew towards how many destinations, and its capacities before the first and after
/// the last.
static void print_withdrawals(struct weft__json *j, const struct trace_view *v, const struct weft_control_burst *b) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const struct weft_control_step **step = weft_arena_alloc(arena, b->steps, sizeof *step);
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->steps; i++) {
        const struct weft_control_step *s = &v->trace->step[b->step0 + i];
        if (s->deed == WEFT_REACH_WITHDREW) step[n++] = s;
    }
    if (n) qsort(step, n, sizeof *step, compare_steps);
    weft__json_begin_array(j);
    for (uint32_t k = 0, i = 0; k < v->trace->fabrics; k++) {
        const struct weft_fabric *f = v->trace->fabric[k];
        bool *seen = weft_arena_alloc(arena, f->dests, sizeof *seen);
        for (uint32_t d = 0; d < f->devices; d++) {
            uint32_t first = i;
            while (i < n && step[i]->fabric == k && step[i]->device == d)
                i++;
            print_withdrawal(j, v, f, d, &step[first], i - first, seen);
        }
    }
    weft__json_end_array(j);
    weft_arena_free(arena);
}

static void print_burst(struct weft__json *j, const struct trace_view *v, const struct weft_control_burst *b) {
    weft__json_begin_object(j);
    weft__json_key_u64(j, "time_ps", b->time_ps);
    weft__json_key_u64(j, "links_down", b->down);
    weft__json_key_u64(j, "links_up", b->up);
    weft__json_key_u64(j, "drains", b->drains);
    weft__json_key_bool(j, "settled", b->settled);
    weft__json_key_u64(j, "convergence_ps", b->stats.last_ps - b->time_ps);
    weft__json_key_u64(j, "cells", b->stats.cells);
    weft__json_key_u64(j, "rounds", b->stats.rounds);
    weft__json_key_u64(j, "withdrawn", b->stats.withdrawn);
    weft__json_key_u64(j, "opened", b->stats.opened);
    weft__json_key_u64(j, "changes", b->stats.changes);
    weft__json_key(j, "withdrawals");
    print_withdrawals(j, v, b);
    weft__json_key(j, "steps");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < b->steps; i++)
        print_step(j, v, &v->trace->step[b->step0 + i]);
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void print_capacity(struct weft__json *j, const struct trace_view *v, const struct weft_control_capacity *c) {
    const struct weft_fabric *f = v->trace->fabric[c->fabric];
    weft__json_begin_object(j);
    weft__json_key_string(j, "towards", f->device[f->dest_device[c->dest]].name);
    weft__json_key_u64(j, "cluster", c->cluster);
    weft__json_key_u64(j, "links", c->links);
    weft__json_key_u64(j, "wired", c->wired);
    weft__json_key_u64(j, "least", c->least);
    weft__json_key_u64(j, "least_wired", c->least_wired);
    weft__json_key_u64(j, "cut_off", c->cut_off);
    weft__json_key_u64(j, "last_resort", c->resorting);
    weft__json_key(j, "from");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < c->entrances; i++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "node", f->device[c->entrance[i].device].name);
        weft__json_key_u64(j, "links", c->entrance[i].links);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

void trace_control_print_json(FILE *file, const struct trace_view *v) {
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    weft__json_head(&j, v->scenario->name, v->scenario->variant);
    weft__json_key_u64(&j, "seed", v->scenario->run.seed);
    weft__json_key_u64(&j, "fabrics", v->trace->fabrics);
    weft__json_key(&j, "bursts");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < v->trace->bursts; i++)
        print_burst(&j, v, &v->trace->burst[i]);
    weft__json_end_array(&j);
    weft__json_key(&j, "capacities");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < v->trace->capacities; i++)
        print_capacity(&j, v, &v->trace->capacity[i]);
    weft__json_end_array(&j);
    weft__json_key(&j, "oversubscribed");
    weft__json_begin_object(&j);
    weft__json_key_u64(&j, "groups", v->trace->over.groups);
    weft__json_key_u64(&j, "worst_in", v->trace->over.worst.in);
    weft__json_key_u64(&j, "worst_out", v->trace->over.worst.out);
    weft__json_end_object(&j);
    weft__json_key(&j, "drained");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < v->trace->drained_n; i++) {
        const struct weft_control_drained *d = &v->trace->drained[i];
        weft__json_begin_object(&j);
        weft__json_key_string(&j, "node", v->trace->fabric[d->fabric]->device[d->device].name);
        weft__json_key_string(&j, "state", weft_drain_names[d->state]);
        weft__json_end_object(&j);
    }
    weft__json_end_array(&j);
    trace_control_json_nodes(&j, v);
    weft__json_end_object(&j);
    fputc('\n', file);
}
