// SPDX-License-Identifier: Apache-2.0
// A job whose ranks follow a schedule: who sends how much to whom.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "generator.h"
#include "job.h"
#include "job_collectives.h"

/// Most unacknowledged messages of a connection; further ones wait for one of them.
enum { SLOTS_MAX = 4096 };

/// What a source sends, by destination, or by destination and tag.
struct sent {
    uint64_t messages, packets_min;
    weft_bytes bytes, message_bytes_max;
};

struct finder {
    const struct weft_schedule *s;
    struct weft_job *job;
    struct sent *sent;         ///< [ranks], or of the rank's tags
    uint32_t *key, keys, room; ///< those with messages; room: of both
    struct weft_job_tag *tag;  ///< those with messages; room: for both
    uint32_t tags, tags_room;
    struct weft_place place;
    struct weft_error *error;
};

static enum weft_status step_fault(const struct finder *f, uint32_t rank, uint32_t step, const char *why) {
    char where[256], what[160];
    weft_schedule_where(f->s, rank, step, where, sizeof where);
    weft_schedule_what(f->s, rank, step, what, sizeof what);
    return WEFT_REFUSE(f->error, f->place, "%s: rank %" PRIu32 ", %s: %s", where, rank, what, why);
}

static int by_tag(const void *a, const void *b) {
    return weft_job_compare_tags(a, b);
}

static bool is_message(const struct weft_schedule_step *step, uint32_t rank) {
    return step->kind == WEFT_SCHEDULE_SEND && step->peer != rank;
}

/// Makes room for this many keys; existing entries are empty.
static void make_room(struct finder *f, uint32_t keys) {
    if (keys <= f->room) return;
    f->sent = weft_memory_resize(WEFT_MEMORY_SCENARIO, f->sent, f->room * sizeof *f->sent, keys * sizeof *f->sent);
    f->key = weft_memory_resize(WEFT_MEMORY_SCENARIO, f->key, f->room * sizeof *f->key, keys * sizeof *f->key);
    memset(f->sent + f->room, 0, (keys - f->room) * sizeof *f->sent);
    f->room = keys;
}

/// Adds its tags after those of earlier ranks, each once and in order.
static enum weft_status find_tags(struct finder *f, uint32_t rank) {
    const struct weft_schedule_rank *r = &f->s->rank[rank];
    uint32_t first = f->tags, kept = first;
    if (f->tags_room - f->tags < r->steps) {
        uint32_t more = 2 * f->tags + r->steps;
        f->tag = weft_memory_resize(WEFT_MEMORY_SCENARIO, f->tag, f->tags_room * sizeof *f->tag, more * sizeof *f->tag);
        f->tags_room = more;
    }
    for (uint32_t i = 0; i < r->steps; i++)
        if (is_message(&r->step[i], rank)) f->tag[f->tags++] = weft_job_tag_of(f->job, &r->step[i]);
    if (f->tags > first) qsort(&f->tag[first], f->tags - first, sizeof *f->tag, by_tag);
    for (uint32_t i = first; i < f->tags; i++) {
        if (i == first || by_tag(&f->tag[i], &f->tag[kept - 1])) f->tag[kept++] = f->tag[i];
        if (kept - first > UINT16_MAX)
            return step_fault(f, rank, 0,
                              "sends messages of more than 65535 tags and NICs; expected no more (tag_connections)");
    }
    f->tags = kept;
    f->job->tag = f->tag;
    f->job->tag_first[rank + 1] = kept;
    make_room(f, kept - first);
    return WEFT_OK;
}

static uint32_t key_of(const struct finder *f, uint32_t rank, const struct weft_schedule_step *step) {
    if (!f->job->tag_first) return step->peer;
    return weft_job_find_tag(f->job, rank, weft_job_tag_of(f->job, step)) - f->job->tag_first[rank];
}

static enum weft_status find_peers(struct finder *f, uint32_t rank) {
    const struct weft_schedule_rank *r = &f->s->rank[rank];
    f->keys = 0;
    for (uint32_t i = 0; i < r->steps; i++) {
        const struct weft_schedule_step *step = &r->step[i];
        if (!is_message(step, rank)) continue;
        uint32_t key = key_of(f, rank, step);
        struct sent *sent = &f->sent[key];
        weft_bytes bytes = step->size ? step->size : 1;
        if (bytes > UINT32_MAX) return step_fault(f, rank, i, "a network carries messages of at most 4294967295 bytes");
        if (!sent->messages++) f->key[f->keys++] = key;
        sent->bytes += bytes;
        sent->packets_min += bytes / 256 + 1;
        if (bytes > sent->message_bytes_max) sent->message_bytes_max = bytes;
        if (sent->packets_min >= UINT32_MAX || sent->bytes > WEFT_MESSAGES_BYTES_MAX)
            return step_fault(
                f, rank, i,
                "too much for the connection between these ranks; expected at most 2^32 packets of 256 bytes");
    }
    return WEFT_OK;
}

/// The connections that a rank sends on.
static void add_peers(struct finder *f, uint32_t rank, struct weft__finder *all) {
    for (uint32_t k = 0; k < f->keys; k++) {
        struct sent *sent = &f->sent[f->key[k]];
        struct weft_job_tag to = {.peer = f->key[k]};
        if (f->job->tag_first) to = f->job->tag[f->job->tag_first[rank] + f->key[k]];
        uint32_t channel = weft_job_tag_channel(f->job, rank, to);
        struct weft_connection *c = weft__finder_at(all, rank, to.peer, f->job->communicators, channel);
        c->plane = (uint8_t)(f->job->planes ? to.plane + 1 : 0);
        c->slots = c->rings = (uint16_t)(sent->messages < SLOTS_MAX ? sent->messages : SLOTS_MAX);
        c->bytes = sent->bytes;
        c->message_bytes_max = sent->message_bytes_max;
        *sent = (struct sent){0};
    }
}

/// Moves the tags into the job's own memory.
static void keep_tags(struct finder *f, struct weft_arena *arena) {
    f->job->tag = NULL;
    if (!f->job->tag_first) return;
    f->job->tag = weft_arena_alloc(arena, f->tags, sizeof *f->tag);
    if (f->tags) memcpy(f->job->tag, f->tag, f->tags * sizeof *f->tag);
}

static enum weft_status find_connections(struct finder *f, struct weft_job *job,
                                         const struct weft__collectives *collectives, struct weft_arena *arena) {
    struct weft__finder all;
    weft__finder_init(&all, job, arena);
    for (uint32_t rank = 0; rank < job->ranks; rank++) {
        if (job->tag_first) WEFT_TRY(find_tags(f, rank));
        WEFT_TRY(find_peers(f, rank));
        weft__collectives_connect(collectives, &all, rank);
        add_peers(f, rank, &all);
        weft__finder_end_rank(&all, rank);
    }
    weft__finder_deinit(&all);
    return WEFT_OK;
}

/// Makes operations, if there are collectives, and connections.
static enum weft_status connect_job(struct finder *f, const struct weft__job_common *common,
                                    const struct weft_topology *topology, const struct weft__schedule_models *models,
                                    struct weft_job *job, struct weft_workload *w) {
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft__collectives collectives;
    enum weft_status status =
        weft__collectives_find(&collectives, job, models, f->place, topology, w->arena, scratch, f->error);
    if (!status) status = weft__job_reserve_flows(common, f->place, job, w, f->error);
    make_room(f, job->ranks);
    if (!status) status = find_connections(f, job, &collectives, w->arena);
    keep_tags(f, w->arena);
    weft_memory_free(WEFT_MEMORY_SCENARIO, f->sent, f->room * sizeof *f->sent);
    weft_memory_free(WEFT_MEMORY_SCENARIO, f->key, f->room * sizeof *f->key);
    weft_memory_free(WEFT_MEMORY_SCENARIO, f->tag, f->tags_room * sizeof *f->tag);
    weft_arena_free(scratch);
    return status;
}

static enum weft_status connect_all(const struct weft__job_common *common, struct weft_place place,
                                    const struct weft_topology *topology, const struct weft_schedule *schedule,
                                    const struct weft__schedule_models *models, struct weft_job *job,
                                    struct weft_workload *w, struct weft_error *ret_error) {
    assert(models || !schedule->collectives);
    struct finder f = {.s = schedule, .job = job, .place = place, .error = ret_error};
    job->schedule = schedule;
    job->iterations = 0;
    job->stages = job->stage_stride = 1;
    job->tag_connections = common->tag_connections;
    job->planes = schedule->nics > 1 && topology->networks > 1 ? topology->networks : 0;
    if (job->tag_connections || job->planes)
        job->tag_first = weft_arena_alloc(w->arena, job->ranks + (size_t)1, sizeof *job->tag_first);
    job->stage = weft_arena_alloc(w->arena, 1, sizeof *job->stage);
    WEFT_TRY(connect_job(&f, common, topology, models, job, w));
    weft__job_place(common, job, w->arena);
    job->group = weft__workload_group(w, common->group);
    WEFT_TRY(weft__job_add_flows(common, place, topology, job, w, ret_error));
    weft__job_add(w, job);
    return WEFT_OK;
}

enum weft_status weft__job_add_schedule(const struct weft__job_common *common, const struct weft_model_conf *entry,
                                        const struct weft_topology *topology, const struct weft_schedule *schedule,
                                        const struct weft__schedule_models *models, struct weft_workload *w,
                                        struct weft_error *ret_error) {
    struct weft_place place = weft__job_key_place(entry, "file");
    struct weft__job_common own = *common;
    struct weft_job *job = NULL;
    bool by_server = common->order == WEFT__ORDER_SERVER && !*common->rank_file; // otherwise the first ones listed
    own.ranks = by_server ? schedule->ranks : 0;
    WEFT_TRY(weft__job_new(&own, entry, topology, 0, w, &job, ret_error));
    if (job->ranks < schedule->ranks)
        return WEFT_REFUSE(ret_error, place,
                           "file: has %" PRIu32 " ranks; expected at most the %" PRIu32
                           " hosts that there are for them",
                           schedule->ranks, job->ranks);
    job->ranks = schedule->ranks;
    return connect_all(&own, place, topology, schedule, models, job, w, ret_error);
}
