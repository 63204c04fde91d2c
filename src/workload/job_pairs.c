// SPDX-License-Identifier: Apache-2.0
#include "job_pairs.h"

#include "generator.h"
#include "weft/memory.h"

void weft__pair_counter_init(struct weft__pair_counter *c, struct weft_job *job) {
    c->job = job;
    c->bytes = weft_memory_new(WEFT_MEMORY_SCENARIO, job->communicators, sizeof *c->bytes);
}

static uint32_t ranks_of(const struct weft__pair_counter *c, uint32_t communicator) {
    return c->job->op[c->job->communicator[communicator].op].shape.ranks;
}

void weft__pair_counter_add(struct weft__pair_counter *c, const struct weft_job_op *op, uint64_t times) {
    struct weft_communicator *communicator = &c->job->communicator[op->communicator];
    if (!op->ops->part_for || op->ops->sends(op->conf, &op->shape, 0) != op->shape.ranks - 1) return;
    weft_bytes **bytes = &c->bytes[op->communicator], all = 0;
    if (!*bytes) *bytes = weft_memory_new(WEFT_MEMORY_SCENARIO, op->shape.ranks, sizeof **bytes);
    for (uint32_t d = 0; d < op->shape.ranks; d++) {
        weft_bytes part = op->ops->part_for(op->conf, &op->shape, d), sum;
        bool overflows = __builtin_mul_overflow(part, times, &sum) || __builtin_add_overflow(sum, (*bytes)[d], &sum);
        (*bytes)[d] = overflows ? UINT64_MAX : sum;
        all |= part;
    }
    uint32_t channels = op->ops->channels(op->conf, &op->shape);
    if (all && channels > communicator->channels) communicator->channels = channels;
}

bool weft__pair_counter_has(const struct weft__pair_counter *c, const struct weft_job_op *op) {
    return c->bytes[op->communicator];
}

struct counted {
    uint64_t flows;
    unsigned __int128 bytes;
};

/// The flows of a rank.
static enum weft_status count_rank(const struct weft__pair_counter *c, const struct weft_job_op *op, uint32_t rank,
                                   const uint32_t *server, const struct weft__job_common *common,
                                   struct weft_place place, struct counted *sum, struct weft_error *ret_error) {
    const weft_bytes *bytes = c->bytes[op->communicator];
    uint32_t number = weft_job_number(op, rank);
    enum weft_status status = WEFT_OK;
    for (uint32_t d = 0; d < op->shape.ranks && !status; d++) {
        uint32_t dst = weft_job_fellow(op, rank, number, d);
        if (!bytes[d] || server[dst] == server[rank]) continue; // the rank itself is included
        sum->flows++;
        sum->bytes += bytes[d];
        if (bytes[d] > WEFT_MESSAGES_BYTES_MAX)
            status = weft__job_check_connection(
                common, place, &(struct weft_connection){.src = rank, .dst = dst, .bytes = bytes[d]}, ret_error);
    }
    return status;
}

enum weft_status weft__pair_counter_take(const struct weft__pair_counter *c, const struct weft__job_common *common,
                                         struct weft_place place, const struct weft_topology *topology,
                                         struct weft_workload *w, struct weft_error *ret_error) {
    const struct weft_job *job = c->job;
    const struct weft_workload_common flow = weft__job_flow(common, job);
    uint32_t *server = weft_memory_new(WEFT_MEMORY_SCENARIO, job->ranks, sizeof *server);
    enum weft_status status = WEFT_OK;
    for (uint32_t r = 0; r < job->ranks; r++)
        server[r] = weft__job_server(job, topology, r);
    for (uint32_t k = 0; k < job->communicators && !status; k++) {
        if (!c->bytes[k]) continue;
        struct counted sum = {0};
        for (uint32_t r = 0; r < job->ranks && !status; r++)
            status = count_rank(c, &job->op[job->communicator[k].op], r, server, common, place, &sum, ret_error);
        weft_bytes bytes = sum.bytes > UINT64_MAX ? UINT64_MAX : (weft_bytes)sum.bytes;
        if (!status) status = weft__workload_add_counted(w, &flow, place, sum.flows, bytes, ret_error);
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, server, job->ranks * sizeof *server);
    return status;
}

void weft__pair_counter_deinit(struct weft__pair_counter *c) {
    for (uint32_t k = 0; k < c->job->communicators; k++)
        if (c->bytes[k]) weft_memory_free(WEFT_MEMORY_SCENARIO, c->bytes[k], ranks_of(c, k) * sizeof **c->bytes);
    weft_memory_free(WEFT_MEMORY_SCENARIO, c->bytes, c->job->communicators * sizeof *c->bytes);
}
