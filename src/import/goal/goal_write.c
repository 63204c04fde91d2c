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
