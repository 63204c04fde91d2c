// SPDX-License-Identifier: Apache-2.0
// Writes GOAL in its binary form, which weft only reads.
#pragma once

#include <stdio.h>

#include "import/goal/goal.h"

static inline unsigned char *put_number(unsigned char *at, uint64_t value, unsigned bytes) {
    for (; bytes; bytes--, value >>= 8)
        *at++ = (unsigned char)value;
    return at;
}

static inline void write_number(FILE *file, uint64_t value, unsigned bytes) {
    unsigned char buffer[8];
    put_number(buffer, value, bytes);
    fwrite(buffer, 1, bytes, file);
}

static inline uint32_t count_roots(const struct weft_schedule_rank *r) {
    uint32_t roots = 0;
    for (uint32_t i = 0; i < r->steps; i++)
        roots += !r->step[i].waits;
    return roots;
}

static inline uint32_t count_edges(const struct weft_schedule_rank *r, uint32_t step, bool after_start) {
    uint32_t n = 0;
    for (uint32_t e = r->step[step].edge0; e < r->step[step + 1].edge0; e++)
        n += (r->edge[e] & WEFT_SCHEDULE_AFTER_START) ? after_start : !after_start;
    return n;
}

static inline void write_node(FILE *file, const struct weft_schedule_rank *r, uint32_t number) {
    const struct weft_schedule_step *step = &r->step[number];
    bool calc = step->kind == WEFT_SCHEDULE_COMPUTE;
    uint32_t ends = count_edges(r, number, false), starts = count_edges(r, number, true);
    unsigned char node[WEFT__GOAL_NODE], *at = node;
    at = put_number(at, step->waits, 4);
    at = put_number(at, step->kind, 1);
    at = put_number(at, step->peer, 4);
    at = put_number(at, calc ? (step->size + 500) / 1000 : step->size, 8);
    at = put_number(at, step->tag, 4);
    at = put_number(at, step->cpu, 1);
    at = put_number(at, step->nic, 1);
    at = put_number(at, ends, 4);
    at = put_number(at, step->edge0, 4);
    at = put_number(at, starts, 4);
    put_number(at, step->edge0 + ends, 4);
    fwrite(node, 1, sizeof node, file);
}

static inline void write_dependents(FILE *file, const struct weft_schedule_rank *r, uint32_t step, bool after_start) {
    for (uint32_t e = r->step[step].edge0; e < r->step[step + 1].edge0; e++)
        if (!(r->edge[e] & WEFT_SCHEDULE_AFTER_START) == !after_start)
            write_number(file, r->edge[e] & ~WEFT_SCHEDULE_AFTER_START, 4);
}

static inline void goal_write_binary(FILE *file, const struct weft_schedule *s) {
    write_number(file, WEFT__GOAL_MAGIC, 8);
    write_number(file, s->ranks, 4);
    write_number(file, s->cpus < 255 ? s->cpus : 255, 1);
    write_number(file, s->nics < 255 ? s->nics : 255, 1);
    uint64_t at = 6 + 16 * (uint64_t)s->ranks;
    for (uint32_t k = 0; k < s->ranks; k++) {
        const struct weft_schedule_rank *r = &s->rank[k];
        write_number(file, at, 8);
        at += 8 + 4 * (uint64_t)count_roots(r) + WEFT__GOAL_NODE * (uint64_t)r->steps + 4 * (uint64_t)r->edges;
        write_number(file, at, 8);
    }
    for (uint32_t k = 0; k < s->ranks; k++) {
        const struct weft_schedule_rank *r = &s->rank[k];
        write_number(file, r->steps, 4);
        write_number(file, count_roots(r), 4);
        for (uint32_t i = 0; i < r->steps; i++)
            if (!r->step[i].waits) write_number(file, i, 4);
        for (uint32_t i = 0; i < r->steps; i++)
            write_node(file, r, i);
        for (uint32_t i = 0; i < r->steps; i++) {
            write_dependents(file, r, i, false);
            write_dependents(file, r, i, true);
        }
    }
}
