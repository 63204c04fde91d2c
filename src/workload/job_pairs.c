// SPDX-License-Identifier: Apache-2.0
#include "job_pairs.h"

#include "generator.h"
#include "weft/memory.h"

void weft__pair_counter_init(struct weft__pair_counter *c, struct weft_job *job) {
    c->job = job;
    c->bytes = weft_memory_new(WEFT_MEMORY_SCENARIO, (size_t)job->communicators * job->stages, sizeof *c->bytes);
}

static uint32_t ranks_of(const struct weft__pair_counter *c, uint32_t communicator) {
    return c->job->op[c->job->communicator[communicator].op].shape.ranks;
}

static weft_bytes **bytes_of(const struct weft__pair_counter *c, uint32_t communicator, uint32_t stage) {
    return &c->bytes[(size_t)communicator * c->job->stages + stage];
}

/// Adds `times` such operations; returns a bit of every part.
static weft_bytes add_parts(const struct weft__pair_counter *c, const struct weft_job_op *op, uint32_t stage,
                            uint64_t times) {
    weft_bytes **bytes = bytes_of(c, op->communicator, stage), all = 0;
    if (!*bytes) *bytes = weft_memory_new(WEFT_MEMORY_SCENARIO, op->shape.ranks, sizeof **bytes);
    for (uint32_t d = 0; d < op->shape.ranks; d++) {
        weft_bytes part = op->ops->part_for(op->conf, &op->shape, d), sum;
        bool overflows = __builtin_mul_overflow(part, times, &sum) || __builtin_add_overflow(sum, (*bytes)[d], &sum);
        (*bytes)[d] = overflows ? UINT64_MAX : sum;
        all |= part;
    }
    return all;
}

void weft__pair_counter_add(struct weft__pair_counter *c, const struct weft_job_op *op, const uint64_t *times) {
    struct weft_communicator *communicator = &c->job->communicator[op->communicator];
    if (!op->ops->part_for || op->ops->sends(op->conf, &op->shape, 0) != op->shape.ranks - 1) return;
    weft_bytes all = 0;
    for (uint32_t s = 0; s < c->job->stages; s++)
        all |= add_parts(c, op, s, times[s] * c->job->iterations);
    uint32_t channels = op->ops->channels(op->conf, &op->shape);
    if (all && channels > communicator->channels) communicator->channels = channels;
}

bool weft__pair_counter_has(const struct weft__pair_counter *c, const struct weft_job_op *op) {
    return *bytes_of(c, op->communicator, 0) != NULL;
}

struct counted {
    uint64_t flows;
    unsigned __int128 bytes;
};

/// The flows of a rank.
static enum weft_status count_rank(const struct weft__pair_counter *c, const struct weft_job_op *op, uint32_t rank,
                                   const uint32_t *server, const struct weft__job_common *common,
                                   struct weft_place place, struct counted *sum, struct weft_error *ret_error) {
    const weft_bytes *bytes = *bytes_of(c, op->communicator, weft_job_stage_of(c->job, rank));
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
        server[r] = job->server.within == WEFT_WITHIN_NETWORK ? r : weft__job_server(job, topology, r);
    for (uint32_t k = 0; k < job->communicators && !status; k++) {
        if (!*bytes_of(c, k, 0)) continue;
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
    size_t lists = (size_t)c->job->communicators * c->job->stages;
    for (size_t k = 0; k < lists; k++)
        if (c->bytes[k])
            weft_memory_free(WEFT_MEMORY_SCENARIO, c->bytes[k],
                             ranks_of(c, (uint32_t)(k / c->job->stages)) * sizeof **c->bytes);
    weft_memory_free(WEFT_MEMORY_SCENARIO, c->bytes, lists * sizeof *c->bytes);
}
