// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "weft/rma.h"
#include "why.h"

#include "base/units.h"

enum { PAGE_STEPS = 60, PAGE_PARTS = 100 };

// --- what is shown of many steps ----------------------------------------------------------------------------------

static int by_time(const void *a, const void *b) {
    weft_time_ps x = *(const weft_time_ps *)a, y = *(const weft_time_ps *)b;
    return (x > y) - (x < y);
}

weft_time_ps weft_cli_why_shown_from(const struct weft_why_iteration *why, uint32_t shown, struct weft_arena *arena) {
    if (why->steps <= shown) return 0;
    weft_time_ps *time = weft_arena_alloc(arena, why->steps, sizeof *time);
    for (uint32_t i = 0; i < why->steps; i++)
        time[i] = why->step[i].to_ps - why->step[i].from_ps;
    qsort(time, why->steps, sizeof *time, by_time);
    return time[why->steps - shown];
}

bool weft_cli_why_together(const struct weft_why_step *s, uint32_t i, weft_time_ps *ret_time, uint32_t *ret_others) {
    const struct weft_why_part *p = &s->part[i];
    *ret_time = 0;
    *ret_others = 0;
    for (uint32_t k = 0; k < s->parts; k++) {
        const struct weft_why_part *o = &s->part[k];
        if (o->kind != p->kind || strcmp(o->where, p->where) != 0) continue;
        if (o->time_ps > p->time_ps || (o->time_ps == p->time_ps && k < i)) return false;
        *ret_time += o->time_ps;
        *ret_others += k != i;
    }
    return true;
}

// --- objects ------------------------------------------------------------------------------------------------------

static void put_part(struct weft__json *j, const struct weft_why_part *p, weft_time_ps time) {
    weft__json_begin_object(j);
    weft__json_key_string(j, "kind", weft_why_names[p->kind]);
    weft__json_key_string(j, "where", p->where);
    weft__json_key_string(j, "because_of", p->because_of);
    weft__json_key_u64(j, "time_ps", time);
    weft__json_end_object(j);
}

static void put_parts(struct weft__json *j, const struct weft_why_part *list, uint32_t n) {
    weft__json_key(j, "parts");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < n; i++)
        put_part(j, &list[i], list[i].time_ps);
    weft__json_end_array(j);
}

/// A flow, up to its parts.
static void begin_flow(struct weft__json *j, const struct weft_run *run, const struct weft_why *why,
                       const char *title) {
    const struct weft_topology *t = run->topology;
    const struct weft_flow *f = &run->workload->flow[why->flow];
    weft_time_ps ideal = run->outcome->flow[why->flow].ideal_ps;
    weft__json_begin_object(j);
    weft__json_key_u64(j, "flow", why->flow);
    if (title) weft__json_key_string(j, "is", title);
    weft__json_key_string(j, "group", run->workload->group[f->group]);
    weft__json_key_string(j, "src", t->node[t->host[f->src]].name);
    weft__json_key_string(j, "dst", t->node[t->host[f->dst]].name);
    weft__json_key_u64(j, "bytes", f->bytes);
    weft__json_key_u64(j, "fct_ps", why->fct_ps);
    if (ideal && ideal != WEFT_TIME_NEVER) weft__json_key_u64(j, "ideal_ps", ideal);
}

void weft_cli_why_json_flow(struct weft__json *j, const struct weft_run *run, const struct weft_why *why,
                            const char *title) {
    begin_flow(j, run, why, title);
    put_parts(j, why->part, why->parts);
    weft__json_end_object(j);
}

static void begin_iteration(struct weft__json *j, const struct weft_run *run, const struct weft_why_iteration *why) {
    weft__json_begin_object(j);
    weft__json_key_string(j, "job", run->workload->group[run->workload->job[why->job].group]);
    weft__json_key_u64(j, "iteration", why->iteration);
    weft__json_key_u64(j, "from_ps", why->from_ps);
    weft__json_key_u64(j, "iteration_ps", why->time_ps);
}

/// A step, up to its parts.
static void begin_step(struct weft__json *j, const struct weft_run *run, const struct weft_job *job,
                       const struct weft_why_step *s) {
    const struct weft_topology *t = run->topology;
    weft__json_begin_object(j);
    weft__json_key_string(j, "what", weft_why_step_names[s->what]);
    weft__json_key_string(j, "operation", s->op);
    weft__json_key_u64(j, "rank", s->rank);
    weft__json_key_string(j, "host", s->host);
    if (s->peer != WEFT_NONE) {
        weft__json_key_u64(j, "to_rank", s->peer);
        weft__json_key_string(j, "to_host", t->node[t->host[job->host[s->peer]]].name);
    }
    if (s->flow != WEFT_NONE) {
        weft__json_key_u64(j, "flow", s->flow);
        weft__json_key_u64(j, "message", s->message);
    }
    weft__json_key_u64(j, "from_ps", s->from_ps);
    weft__json_key_u64(j, "time_ps", s->to_ps - s->from_ps);
}

void weft_cli_why_json_iteration(struct weft__json *j, const struct weft_run *run,
                                 const struct weft_why_iteration *why) {
    begin_iteration(j, run, why);
    weft__json_key(j, "steps");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < why->steps; i++) {
        begin_step(j, run, &run->workload->job[why->job], &why->step[i]);
        put_parts(j, why->step[i].part, why->step[i].parts);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

/// An operation, up to its parts.
static void begin_operation(struct weft__json *j, const struct weft_run *run, const struct weft_why_operation *op,
                            const char *title) {
    const struct weft_rma *rma = &run->workload->rma[op->entry];
    const struct weft_topology *t = run->topology;
    weft__json_begin_object(j);
    if (title) weft__json_key_string(j, "is", title);
    weft__json_key_string(j, "group", run->workload->group[rma->group]);
    weft__json_key_string(j, "client", t->node[t->host[rma->client[op->client]]].name);
    weft__json_key_string(j, "server", t->node[t->host[rma->server[op->server]]].name);
    weft__json_key_u64(j, "begun_ps", op->begun_ps);
    weft__json_key_u64(j, "latency_ps", op->latency_ps);
}

void weft_cli_why_json_operation(struct weft__json *j, const struct weft_run *run, const struct weft_why_operation *op,
                                 const char *title) {
    begin_operation(j, run, op, title);
    put_parts(j, op->part, op->parts);
    weft__json_end_object(j);
}

// --- for the page -------------------------------------------------------------------------------------------------

static void put_kinds(struct weft__json *j, const struct weft_why_iteration *why) {
    weft_time_ps sum[WEFT_WHYS] = {0};
    for (uint32_t i = 0; i < why->steps; i++)
        for (uint32_t k = 0; k < why->step[i].parts; k++)
            sum[why->step[i].part[k].kind] += why->step[i].part[k].time_ps;
    weft__json_key(j, "kinds");
    weft__json_begin_object(j);
    for (uint32_t k = 0; k < WEFT_WHYS; k++)
        if (sum[k]) weft__json_key_u64(j, weft_why_names[k], sum[k]);
    weft__json_end_object(j);
}

static void large_parts(struct weft__json *j, const struct weft_why_step *s, weft_time_ps least) {
    weft__json_key(j, "parts");
    weft__json_begin_array(j);
    for (uint32_t i = 0; s->what == WEFT_WHY_STEP_MESSAGE && i < s->parts; i++) {
        weft_time_ps time;
        uint32_t others;
        if (weft_cli_why_together(s, i, &time, &others) && time >= least) put_part(j, &s->part[i], time);
    }
    weft__json_end_array(j);
}

static void page_iteration(struct weft__json *j, const struct weft_run *run, const struct weft_why_iteration *why,
                           struct weft_arena *arena) {
    weft_time_ps from = weft_cli_why_shown_from(why, PAGE_STEPS, arena);
    begin_iteration(j, run, why);
    put_kinds(j, why);
    weft__json_key_u64(j, "steps_in_all", why->steps);
    weft__json_key(j, "steps");
    weft__json_begin_array(j);
    for (uint32_t i = 0, shown = 0; i < why->steps && shown < PAGE_STEPS; i++) {
        const struct weft_why_step *s = &why->step[i];
        if (s->to_ps - s->from_ps < from) continue;
        begin_step(j, run, &run->workload->job[why->job], s);
        large_parts(j, s, why->time_ps / 100);
        weft__json_end_object(j);
        shown++;
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

/// The longest parts, and the others as sums of their kind.
static void page_parts(struct weft__json *j, const struct weft_why_part *list, uint32_t n, struct weft_arena *arena) {
    weft_time_ps rest[WEFT_WHYS] = {0}, *time = weft_arena_alloc(arena, n, sizeof *time);
    uint32_t others[WEFT_WHYS] = {0};
    for (uint32_t i = 0; i < n; i++)
        time[i] = list[i].time_ps;
    if (n) qsort(time, n, sizeof *time, by_time);
    weft_time_ps above = n > PAGE_PARTS ? time[n - PAGE_PARTS - 1] : 0;
    weft__json_key(j, "parts");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_why_part *p = &list[i];
        if (p->time_ps > above) put_part(j, p, p->time_ps);
        if (p->time_ps > above) continue;
        rest[p->kind] += p->time_ps;
        others[p->kind]++;
    }
    for (uint32_t k = 0; k < WEFT_WHYS; k++) {
        const char *where = weft_arena_format(arena, "%s", weft__counted(others[k], "shorter part").text);
        if (others[k]) put_part(j, &(struct weft_why_part){(enum weft_why_kind)k, where, "", rest[k]}, rest[k]);
    }
    weft__json_end_array(j);
}

void weft_cli_why_json_page(struct weft__json *j, const struct weft_cli_why *why, struct weft_arena *arena) {
    weft__json_key(j, "flows");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < why->flows; i++) {
        begin_flow(j, &why->run, &why->why[i], NULL);
        page_parts(j, why->why[i].part, why->why[i].parts, arena);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_key(j, "iterations");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < why->iterations; i++)
        page_iteration(j, &why->run, &why->iteration[i], arena);
    weft__json_end_array(j);
    weft__json_key_u64(j, "operation_groups", why->run.workload->rmas);
    weft__json_key_u64(j, "operation_groups_most", WEFT_CLI_WHY_GROUPS);
    weft__json_key(j, "operations");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < why->operations; i++) {
        begin_operation(j, &why->run, &why->operation[i], NULL);
        page_parts(j, why->operation[i].part, why->operation[i].parts, arena);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}
