// SPDX-License-Identifier: Apache-2.0
// A collective among chosen hosts, repeated, and over a range of sizes, as nccl-tests runs them.
#include <inttypes.h>

#include "base/param.h"
#include "job.h"
#include "weft/param.h"

struct collective_conf {
    struct weft__job_common common;
    struct weft_model_conf collective;
    weft_bytes size_bytes, size_max_bytes;
    uint64_t factor, repeat, root;
    bool barrier;
};
static const struct weft_param_table collective_params = WEFT_PARAM_TABLE_OF(
    "collective", struct collective_conf, WEFT_PARAM_UNCHECKED, WEFT__JOB_ROWS(struct collective_conf, "collective"),
    WEFT_MODEL_PARAM(struct collective_conf, collective, "collective", WEFT_KIND_COLLECTIVE, "all_reduce_ring",
                     "the collective and its parameters"),
    WEFT_BYTES(struct collective_conf, size_bytes, "size", "1MB", "1B", "1TB", "size as defined by nccl-tests"),
    WEFT_BYTES(struct collective_conf, size_max_bytes, "size_max", "0B", "0B", "1TB",
               "sizes go up to this; if below size, only size is run"),
    WEFT_UINT(struct collective_conf, factor, "factor", "2", "2", "1024", "factor from one size to the next"),
    WEFT_UINT(struct collective_conf, repeat, "repeat", "1", "1", "1000000",
              "repetitions of each size, one after another"),
    WEFT_UINT(struct collective_conf, root, "root", "0", "0", "16777215",
              "rank that broadcasts or scatters, or to which is reduced or gathered"),
    WEFT_BOOL(struct collective_conf, barrier, "barrier", "on",
              "before each of several collectives ranks wait for each other, by a tree all-reduce of one byte"));

static enum weft_status collective_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                            struct weft_workload *w, struct weft_error *ret_error) {
    const struct collective_conf *c = entry->conf;
    uint32_t sizes = 1;
    for (weft_bytes size = c->size_bytes; size <= c->size_max_bytes / c->factor; size *= c->factor)
        sizes++;
    struct weft_job *job;
    WEFT_TRY(weft__job_new(&c->common, entry, topology, 2 * sizes, w, &job, ret_error));
    struct weft_model_conf barrier;
    WEFT_TRY(
        weft__model_load_at(WEFT_KIND_COLLECTIVE, "all_reduce_tree", NULL, "barrier", &barrier, w->arena, ret_error));
    if (c->root >= job->ranks)
        return WEFT_REFUSE(ret_error, entry->place, "root: there is no rank %" PRIu64 "; expected less than %" PRIu32,
                           c->root, job->ranks);
    weft_bytes size = c->size_bytes;
    for (uint32_t k = 0; k < sizes; k++, size *= c->factor) {
        if (c->barrier && (sizes > 1 || c->repeat > 1)) {
            weft__job_collective(job, topology, &barrier, job->ranks, 1, 1, &job->op[job->ops++]);
        }
        struct weft_job_op *op = &job->op[job->ops++];
        op->times = 1;
        weft__job_collective(job, topology, &c->collective, job->ranks, 1, size, op);
        op->shape.root = (uint32_t)c->root;
    }
    job->iterations = (uint32_t)c->repeat;
    return weft__job_connect(&c->common, entry->place, topology, job, w, ret_error);
}

const struct weft_model weft__workload_collective =
    WEFT_MODEL_OF(WORKLOAD, "collective", "a collective among hosts, of one size or several, as nccl-tests runs them",
                  "sizes and bandwidths as in nccl-tests", &collective_params,
                  &(const struct weft_workload_ops){.schedule = collective_schedule});
