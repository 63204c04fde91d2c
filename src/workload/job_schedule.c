// SPDX-License-Identifier: Apache-2.0
// A job whose ranks do what a schedule says: who sends to whom, and how much.
#include <inttypes.h>

#include "generator.h"
#include "job.h"
#include "job_collectives.h"

/// Messages of a connection that are not acknowledged; those beyond wait for one of them.
enum { SLOTS_MAX = 4096 };

/// Of a source, by destination.
struct sent {
    uint64_t messages, packets_min;
    weft_bytes bytes, message_bytes_max;
};

struct finder {
    const struct weft_schedule *s;
    struct sent *sent; ///< [ranks]
    uint32_t *peer, peers;
    struct weft_place place;
    struct weft_error *error;
};

static enum weft_status fault(const struct finder *f, uint32_t rank, uint32_t step, const char *why) {
    char where[256], what[160];
    weft_schedule_where(f->s, rank, step, where, sizeof where);
    weft_schedule_what(f->s, rank, step, what, sizeof what);
    return weft_error_set(f->error, WEFT_ERROR_INPUT, f->place, "%s: rank %" PRIu32 ", %s: %s", where, rank, what, why);
}

static enum weft_status find_peers(struct finder *f, uint32_t rank) {
    const struct weft_schedule_rank *r = &f->s->rank[rank];
    f->peers = 0;
    for (uint32_t i = 0; i < r->steps; i++) {
        const struct weft_schedule_step *step = &r->step[i];
        if (step->kind != WEFT_SCHEDULE_SEND || step->peer == rank) continue;
        struct sent *sent = &f->sent[step->peer];
        weft_bytes bytes = step->size ? step->size : 1;
        if (bytes > UINT32_MAX) return fault(f, rank, i, "a network carries messages of at most 4294967295 bytes");
        if (!sent->messages++) f->peer[f->peers++] = step->peer;
        sent->bytes += bytes;
        sent->packets_min += bytes / 256 + 1;
        if (bytes > sent->message_bytes_max) sent->message_bytes_max = bytes;
        if (sent->packets_min >= UINT32_MAX || sent->bytes > WEFT_MESSAGES_BYTES_MAX)
            return fault(f, rank, i,
                         "too much for the connection between these ranks; expected at most 2^32 packets of 256 bytes");
    }
    return WEFT_OK;
}

/// The connections that a rank sends on.
static void add_peers(struct finder *f, uint32_t rank, struct weft__finder *all) {
    for (uint32_t k = 0; k < f->peers; k++) {
        struct sent *sent = &f->sent[f->peer[k]];
        struct weft_connection *c = weft__finder_at(all, rank, f->peer[k], all->job->communicators, 0);
        c->slots = (uint16_t)(sent->messages < SLOTS_MAX ? sent->messages : SLOTS_MAX);
        c->bytes = sent->bytes;
        c->message_bytes_max = sent->message_bytes_max;
        *sent = (struct sent){0};
    }
}

static enum weft_status find_connections(struct finder *f, struct weft_job *job,
                                         const struct weft__collectives *collectives, struct weft_arena *arena) {
    struct weft__finder all;
    enum weft_status status = WEFT_OK;
    weft__finder_init(&all, job, arena);
    for (uint32_t rank = 0; rank < job->ranks && !status; rank++) {
        status = find_peers(f, rank);
        if (status) break;
        weft__collectives_connect(collectives, &all, rank);
        add_peers(f, rank, &all);
        weft__finder_end_rank(&all, rank);
    }
    weft__finder_deinit(&all);
    return status;
}

/// Operations, if there are collectives, and connections.
static enum weft_status connect(struct finder *f, const struct weft__job_common *common,
                                const struct weft_topology *topology, const struct weft__schedule_models *models,
                                struct weft_job *job, struct weft_workload *w) {
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft__collectives collectives;
    enum weft_status status =
        weft__collectives_find(&collectives, job, models, f->place, topology, w->arena, scratch, f->error);
    if (!status) status = weft__job_reserve_flows(common, f->place, job, w, f->error);
    f->sent = weft_arena_alloc(scratch, job->ranks, sizeof *f->sent);
    f->peer = weft_arena_alloc(scratch, job->ranks, sizeof *f->peer);
    if (!status) status = find_connections(f, job, &collectives, w->arena);
    weft_arena_free(scratch);
    return status;
}

enum weft_status weft__job_connect_schedule(const struct weft__job_common *common, struct weft_place place,
                                            const struct weft_topology *topology, const struct weft_schedule *schedule,
                                            const struct weft__schedule_models *models, struct weft_job *job,
                                            struct weft_workload *w, struct weft_error *ret_error) {
    assert(job->ranks == schedule->ranks && (models || !schedule->collectives));
    struct finder f = {.s = schedule, .place = place, .error = ret_error};
    job->schedule = schedule;
    job->iterations = 0;
    job->stages = job->stage_stride = 1;
    job->stage = weft_arena_alloc(w->arena, 1, sizeof *job->stage);
    enum weft_status status = connect(&f, common, topology, models, job, w);
    if (status) return status;
    weft__job_place(common, job, w->arena);
    job->group = weft__workload_group(w, common->group);
    status = weft__job_add_flows(common, place, topology, job, w, ret_error);
    if (!status) weft__job_add(w, job);
    return status;
}
