// SPDX-License-Identifier: Apache-2.0
// Writes GOAL.
#include <inttypes.h>

#include "goal.h"

static uint64_t nanoseconds_of(uint64_t ps) {
    return (ps + 500) / 1000;
}

static void write_peer(FILE *file, const char *word, uint32_t number) {
    if (number == WEFT_SCHEDULE_ANY)
        fprintf(file, " %s -1", word);
    else
        fprintf(file, " %s %" PRIu32, word, number);
}

static void write_step(FILE *file, const struct weft_schedule_step *step, uint32_t number) {
    fprintf(file, "l%" PRIu32 ": ", number + 1);
    if (step->kind == WEFT_SCHEDULE_COMPUTE) {
        fprintf(file, "calc %" PRIu64, nanoseconds_of(step->size));
    } else {
        bool sends = step->kind == WEFT_SCHEDULE_SEND;
        fprintf(file, "%s %" PRIu64 "b", sends ? "send" : "recv", step->size);
        write_peer(file, sends ? "to" : "from", step->peer);
        if (step->tag) write_peer(file, "tag", step->tag);
    }
    if (step->cpu) fprintf(file, " cpu %u", step->cpu);
    if (step->nic && step->kind != WEFT_SCHEDULE_COMPUTE) fprintf(file, " nic %u", step->nic);
    fputc('\n', file);
}

void weft_goal_write(FILE *file, const struct weft_schedule *s) {
    fprintf(file, "num_ranks %" PRIu32 "\n", s->ranks);
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        const struct weft_schedule_rank *r = &s->rank[rank];
        fprintf(file, "\nrank %" PRIu32 " {\n", rank);
        for (uint32_t i = 0; i < r->steps; i++)
            write_step(file, &r->step[i], i);
        for (uint32_t i = 0; i < r->steps; i++)
            for (uint32_t e = r->step[i].edge0; e < r->step[i + 1].edge0; e++)
                fprintf(file, "l%" PRIu32 " %s l%" PRIu32 "\n", (r->edge[e] & ~WEFT_SCHEDULE_AFTER_START) + 1,
                        r->edge[e] & WEFT_SCHEDULE_AFTER_START ? "irequires" : "requires", i + 1);
        fprintf(file, "}\n");
    }
}

// --- binary -------------------------------------------------------------------------------------------------------

static unsigned char *put_value(unsigned char *at, uint64_t value, unsigned bytes) {
    for (; bytes; bytes--, value >>= 8)
        *at++ = (unsigned char)value;
    return at;
}

static void write_number(FILE *file, uint64_t value, unsigned bytes) {
    unsigned char buffer[8];
    put_value(buffer, value, bytes);
    fwrite(buffer, 1, bytes, file);
}

static uint32_t count_roots(const struct weft_schedule_rank *r) {
    uint32_t roots = 0;
    for (uint32_t i = 0; i < r->steps; i++)
        roots += !r->step[i].waits;
    return roots;
}

static uint32_t count_edges(const struct weft_schedule_rank *r, uint32_t step, bool after_start) {
    uint32_t n = 0;
    for (uint32_t e = r->step[step].edge0; e < r->step[step + 1].edge0; e++)
        n += (r->edge[e] & WEFT_SCHEDULE_AFTER_START) ? after_start : !after_start;
    return n;
}

static void write_node(FILE *file, const struct weft_schedule_rank *r, uint32_t number) {
    const struct weft_schedule_step *step = &r->step[number];
    bool calc = step->kind == WEFT_SCHEDULE_COMPUTE;
    uint32_t ends = count_edges(r, number, false), starts = count_edges(r, number, true);
    unsigned char node[WEFT__GOAL_NODE], *at = node;
    at = put_value(at, step->waits, 4);
    at = put_value(at, step->kind, 1);
    at = put_value(at, step->peer, 4);
    at = put_value(at, calc ? nanoseconds_of(step->size) : step->size, 8);
    at = put_value(at, step->tag, 4);
    at = put_value(at, step->cpu, 1);
    at = put_value(at, step->nic, 1);
    at = put_value(at, ends, 4);
    at = put_value(at, step->edge0, 4);
    at = put_value(at, starts, 4);
    put_value(at, step->edge0 + ends, 4);
    fwrite(node, 1, sizeof node, file);
}

static void write_dependents(FILE *file, const struct weft_schedule_rank *r, uint32_t step, bool after_start) {
    for (uint32_t e = r->step[step].edge0; e < r->step[step + 1].edge0; e++)
        if (!(r->edge[e] & WEFT_SCHEDULE_AFTER_START) == !after_start)
            write_number(file, r->edge[e] & ~WEFT_SCHEDULE_AFTER_START, 4);
}

void weft_goal_write_binary(FILE *file, const struct weft_schedule *s) {
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
