// SPDX-License-Identifier: Apache-2.0
// The flows of a run, collected from the generators.
#include "weft/workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "generator.h"
#include "weft/param.h"

#define FLOWS_MAX (UINT64_C(1) << 24)
#define JOB_FLOWS_MAX (UINT64_C(1) << 26)
#define QPS_MAX (UINT64_C(1) << 26)
#define BYTES_MAX UINT64_C(1000000000000000000)
#define START_MAX_S UINT64_C(1000000)

const struct weft_param_table weft_post_table = WEFT_PARAM_TABLE_OF(
    "post", struct weft_post_conf, WEFT_PARAM_UNCHECKED,
    WEFT_UINT(struct weft_post_conf, depth, "depth", "0", "0", "65536",
              "most messages outstanding: posted, and their completion not yet seen by the sender; 0: the flow is one "
              "message of `size`"),
    WEFT_UINT(struct weft_post_conf, messages, "messages", "1000", "1", "1000000000", "messages that the flow posts",
              .needs = "depth"),
    WEFT_BYTES(struct weft_post_conf, size_bytes, "size", "64KiB", "1B", "2GiB", "payload of each message",
               .needs = "depth"),
    WEFT_TIME(struct weft_post_conf, pause_ps, "pause", "0ns", "0ns", "1000s",
              "once a burst of messages has completed, the flow waits so long before it posts the next burst; 0ns: it "
              "does not wait",
              .needs = "depth"),
    WEFT_UINT(struct weft_post_conf, burst, "burst", "1", "1", "1000000000", "messages between two pauses",
              .needs = "pause"));

const char *const weft_verb_names[] = {"write", "send", "read", NULL};

struct weft_random weft__workload_stream(uint64_t seed, uint32_t entry, uint32_t who,
                                         enum weft_random_purpose purpose) {
    struct weft_random stream = weft_random_stream(seed, who, purpose);
    stream.purpose |= entry << 8; // purposes are small numbers: the entry uses the bits above
    return stream;
}

static void grow_flows(struct weft_workload *w, uint64_t flows) {
    if (flows <= w->flows_capacity) return;
    uint64_t capacity = 2 * (uint64_t)w->flows_capacity; // even single flows can be thousands
    if (capacity < flows) capacity = flows;
    w->flow = weft_arena_move(w->arena, w->flow, w->flows, capacity, sizeof *w->flow);
    w->flows_capacity = (uint32_t)capacity;
}

/// Of a flow of so many bytes; 0: endless.
static uint64_t qps_of(const struct weft_workload_common *common, weft_bytes bytes) {
    return common->qps < bytes || !bytes ? common->qps : bytes;
}

/// Whether there may be `flows` more flows of `qps` queue pairs each, including their repetitions.
static enum weft_status check_room(const struct weft_workload *w, const struct weft_workload_common *common,
                                   struct weft_place place, uint64_t flows, uint64_t qps,
                                   struct weft_error *ret_error) {
    uint64_t more = weft__times(flows, common->repeat), max = common->messages ? JOB_FLOWS_MAX : FLOWS_MAX;
    if (more > max - (common->messages ? w->job_flows : w->flows + w->counted_flows - w->job_flows))
        return WEFT_REFUSE(ret_error, place,
                           "group '%s' asks for %" PRIu64 " flows x repeat %" PRIu64 "; expected at most %" PRIu64
                           " flows in the whole workload",
                           common->group, flows, common->repeat, max);
    if (weft__times(more, qps) > QPS_MAX - w->qps)
        return WEFT_REFUSE(ret_error, place,
                           "group '%s' asks for %" PRIu64 " flows of %" PRIu64 " queue pairs; expected at most %" PRIu64
                           " queue pairs in the whole workload",
                           common->group, more, qps, QPS_MAX);
    return WEFT_OK;
}

static enum weft_status check_bytes(const struct weft_workload *w, const struct weft_workload_common *common,
                                    struct weft_place place, weft_bytes more, struct weft_error *ret_error) {
    if (more <= BYTES_MAX - w->bytes) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place,
                       "group '%s' brings the workload to more than 10^18 bytes; expected smaller flows or fewer",
                       common->group);
}

enum weft_status weft__workload_add_counted(struct weft_workload *w, const struct weft_workload_common *common,
                                            struct weft_place place, uint64_t flows, weft_bytes bytes,
                                            struct weft_error *ret_error) {
    WEFT_TRY(check_room(w, common, place, flows, common->qps, ret_error));
    WEFT_TRY(check_bytes(w, common, place, bytes, ret_error));
    w->counted_flows += (uint32_t)flows;
    w->job_flows += (uint32_t)flows;
    w->counted_bytes += bytes;
    w->bytes += bytes;
    w->qps += flows * common->qps;
    return WEFT_OK;
}

enum weft_status weft__workload_check_room(const struct weft_workload *w, const struct weft_workload_common *common,
                                           struct weft_place place, uint64_t flows, struct weft_error *ret_error) {
    return check_room(w, common, place, flows, qps_of(common, common->size_bytes), ret_error);
}

enum weft_status weft__workload_reserve(struct weft_workload *w, const struct weft_workload_common *common,
                                        struct weft_place place, uint64_t flows, struct weft_error *ret_error) {
    WEFT_TRY(weft__workload_check_room(w, common, place, flows, ret_error));
    if (!w->counts) grow_flows(w, w->flows + flows * common->repeat);
    return WEFT_OK;
}

uint32_t weft__workload_group(struct weft_workload *w, const char *name) {
    for (uint32_t g = w->groups; g-- > 0;) // usually the last one
        if (!strcmp(w->group[g], name)) return g;
    if (!(w->groups & (w->groups - 1))) { // the room is a power of two
        const char **group = weft_arena_alloc(w->arena, w->groups ? 2 * (size_t)w->groups : 1, sizeof *group);
        if (w->groups) memcpy(group, w->group, w->groups * sizeof *group);
        w->group = group;
    }
    w->group[w->groups] = weft_arena_text(w->arena, name);
    return w->groups++;
}

/// Of a flow whose generator gives it so many bytes.
static enum weft_status check_post(const struct weft_workload_common *common, struct weft_place place, weft_bytes bytes,
                                   struct weft_error *ret_error) {
    if (bytes != common->size_bytes)
        return WEFT_REFUSE(ret_error, place,
                           "group '%s': post.depth is set, and the sizes of its flows are given otherwise; expected "
                           "post for flows of `size` only",
                           common->group);
    if (common->verb == WEFT_VERB_READ || common->qps > 1)
        return WEFT_REFUSE(ret_error, place,
                           "group '%s': post.depth is set, with %s; expected verb write or send, and one queue pair",
                           common->group, common->qps > 1 ? "several queue pairs" : "verb read");
    return WEFT_OK;
}

enum weft_status weft_workload_add(struct weft_workload *w, const struct weft_workload_common *common,
                                   struct weft_place place, uint32_t src, uint32_t dst, weft_bytes bytes,
                                   weft_time_ps start, struct weft_error *ret_error) {
    const struct weft_topology *t = w->topology;
    if (src == dst)
        return WEFT_REFUSE(ret_error, place, "group '%s': %s sends to itself; expected two different hosts",
                           common->group, t->node[t->host[src]].name);
    uint32_t from = weft_topology_network_of(t, src), to = weft_topology_network_of(t, dst);
    if (from != to)
        return WEFT_REFUSE(ret_error, place,
                           "group '%s': no path from %s to %s, which are in different networks (%s and %s); expected "
                           "hosts of one",
                           common->group, t->node[t->host[src]].name, t->node[t->host[dst]].name, t->network[from].name,
                           t->network[to].name);
    const struct weft_post_conf *post = &common->post;
    enum weft_status status = post->depth ? check_post(common, place, bytes, ret_error) : WEFT_OK;
    if (post->depth) bytes = weft__times(post->messages, post->size_bytes);
    uint64_t qps = qps_of(common, bytes);
    if (!status) status = check_room(w, common, place, 1, qps, ret_error);
    uint64_t all = weft__times(bytes, common->repeat);
    if (!status) status = check_bytes(w, common, place, all, ret_error);
    if (status) return status;
    grow_flows(w, w->flows + common->repeat);
    // Rows limit repeat, interval and start, so it suffices that 128 bits do not overflow.
    unsigned __int128 last = start + (unsigned __int128)(common->repeat - 1) * common->interval_ps;
    if (last > (unsigned __int128)START_MAX_S * WEFT_PS_PER_S)
        return WEFT_REFUSE(ret_error, place,
                           "group '%s': with its repetitions it starts flows after %" PRIu64
                           " s; expected an earlier start, a shorter interval or fewer",
                           common->group, START_MAX_S);
    struct weft_flow flow = {
        .group = weft__workload_group(w, common->group),
        .src = src,
        .dst = dst,
        .bytes = bytes,
        .start_ps = start,
        .qps = (uint16_t)qps,
        .priority = (uint8_t)common->priority,
        .verb = (uint8_t)common->verb,
        .source_port = common->source_port,
        .destination_port = common->destination_port,
        .path = common->path,
        .messages = common->messages,
        .endless = !bytes,
        .depth = (uint32_t)post->depth,
        .message_bytes = (uint32_t)(post->depth ? post->size_bytes : 0),
        .burst = (uint32_t)(post->depth && post->pause_ps ? post->burst : 0),
        .pause_ps = post->depth ? post->pause_ps : 0,
    };
    for (uint64_t r = 0; r < common->repeat; r++, flow.start_ps += common->interval_ps)
        w->flow[w->flows++] = flow;
    if (common->messages) w->job_flows += (uint32_t)common->repeat;
    w->bytes += all;
    w->qps += qps * common->repeat;
    return WEFT_OK;
}

/// Delays each flow of the entry by a small time of its own, drawn at random.
static void add_jitter(struct weft_workload *w, const struct weft_workload_common *common, uint64_t seed,
                       uint32_t entry) {
    uint32_t first = w->entry_flow[entry];
    for (uint32_t f = first; common->jitter_ps && f < w->flows; f++) {
        struct weft_random random = weft__workload_stream(seed, entry, f - first, WEFT_RANDOM_JITTER);
        w->flow[f].start_ps += weft_random_below(&random, common->jitter_ps + 1);
    }
}

/// Flows may share a group. Operations of remote memory access have one of their own, and so has each job: results tell
/// jobs apart by it.
static enum weft_status check_groups(const struct weft_workload *w, struct weft_error *ret_error) {
    for (uint32_t f = 0; w->rmas && f < w->flows; f++)
        for (uint32_t k = 0; k < w->rmas && !w->flow[f].rma; k++)
            if (w->rma[k].group == w->flow[f].group)
                return WEFT_REFUSE(ret_error, w->rma[k].place,
                                   "group '%s' has flows too: operations are in a group of their own; expected "
                                   "another name",
                                   w->group[w->rma[k].group]);
    const struct weft_job **of = weft_arena_alloc(w->arena, w->groups + 1, sizeof *of); // [groups] the job that has it
    for (uint32_t j = 0; j < w->jobs; j++) {
        const struct weft_job *job = &w->job[j], **first = &of[job->group];
        if (*first)
            return WEFT_REFUSE(ret_error, job->place,
                               "group '%s' is the name of another job (%s:%d); expected a name of its own, such as "
                               "group: %s-%" PRIu32,
                               w->group[job->group], (*first)->place.file ? (*first)->place.file : "",
                               (*first)->place.line, w->group[job->group], j + 1);
        *first = job;
    }
    return WEFT_OK;
}

/// What the host of an endless flow can send until the run ends, with ports in all networks, and one byte: the flow
/// does not finish.
static weft_bytes endless_bytes(const struct weft_workload *w, const struct weft_flow *f, weft_time_ps until) {
    const struct weft_topology *t = w->topology;
    weft_time_ps start = f->waits ? 0 : f->start_ps;
    double seconds = until > start ? (double)(until - start) / (double)WEFT_PS_PER_S : 0;
    const struct weft_link_info *link = &t->link[t->port[t->node[t->host[f->src]].port0].link];
    double bits = (double)link->rate_bps * t->networks * seconds;
    return bits < 8e18 ? (weft_bytes)(bits / 8) + f->qps : BYTES_MAX + 1;
}

/// Gives endless flows of an entry their bytes.
static enum weft_status end_flows(struct weft_workload *w, const struct weft_model_conf *entry, uint32_t e,
                                  weft_time_ps until, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t f = w->entry_flow[e]; f < w->flows && !status; f++) {
        struct weft_flow *flow = &w->flow[f];
        if (!flow->endless) continue;
        if (until == WEFT_TIME_NEVER)
            return WEFT_REFUSE(ret_error, entry->place,
                               "group '%s' has flows of size 0, which have no end; expected run.until",
                               w->group[flow->group]);
        const struct weft_workload_common common = {.group = w->group[flow->group]};
        flow->bytes = endless_bytes(w, flow, until);
        status = check_bytes(w, &common, entry->place, flow->bytes, ret_error);
        w->bytes += flow->bytes;
    }
    return status;
}

/// A flow that posts messages has no size beside these.
static enum weft_status check_size(const struct weft_model_conf *entry, struct weft_error *ret_error) {
    const struct weft_workload_common *common = entry->conf;
    const struct weft_tree *size = weft_tree_find(entry->tree, "size");
    if (!common->post.depth || !size || size->type == WEFT_TREE_NULL) return WEFT_OK;
    return WEFT_REFUSE(ret_error, size->place,
                       "group '%s': size has no effect beside post, which has messages x size; expected one of them",
                       common->group);
}

static enum weft_status expand_flows(struct weft_workload *w, const struct weft_model_conf *entry, uint32_t e,
                                     uint64_t seed, struct weft_error *ret_error) {
    const struct weft_workload_ops *ops = entry->model->ops;
    WEFT_TRY(check_size(entry, ret_error));
    WEFT_TRY(ops->expand(entry->conf, entry->place, w->topology, seed, e, w, ret_error));
    if (!ops->jitters) add_jitter(w, entry->conf, seed, e);
    return WEFT_OK;
}

enum weft_status weft_workload_make(struct weft_workload empty, const struct weft_model_conf *entry, uint64_t seed,
                                    weft_time_ps until, struct weft_workload **ret_workload,
                                    struct weft_error *ret_error) {
    struct weft_workload *w = weft_arena_alloc(empty.arena, 1, sizeof *w);
    *w = empty;
    w->seed = seed;
    w->entry_flow = weft_arena_alloc(w->arena, w->entries + 1, sizeof *w->entry_flow);
    for (uint32_t e = 0; e < w->entries; e++) {
        const struct weft_workload_ops *ops = entry[e].model->ops;
        w->making = e;
        WEFT_TRY(ops->schedule ? ops->schedule(&entry[e], w->topology, w, ret_error)
                               : expand_flows(w, &entry[e], e, seed, ret_error));
        WEFT_TRY(end_flows(w, &entry[e], e, until, ret_error));
        w->entry_flow[e + 1] = w->flows;
    }
    WEFT_TRY(check_groups(w, ret_error));
    *ret_workload = w;
    return WEFT_OK;
}

enum weft_status weft_workload_new(const struct weft_model_conf *entry, uint32_t entries,
                                   const struct weft_topology *topology, uint64_t seed, weft_time_ps until,
                                   struct weft_arena *arena, struct weft_workload **ret_workload,
                                   struct weft_error *ret_error) {
    return weft_workload_make((struct weft_workload){.arena = arena, .topology = topology, .entries = entries}, entry,
                              seed, until, ret_workload, ret_error);
}

struct pair {
    uint64_t hosts; ///< source << 32 | destination
    uint32_t flow;
};

WEFT__ORDER(by_pair, struct pair, WEFT__UP(hosts) ?: WEFT__UP(flow))

uint64_t *weft_workload_qps_before(const struct weft_workload *w, struct weft_arena *arena) {
    uint64_t *before = weft_arena_alloc(arena, w->flows, sizeof *before);
    struct pair *pair = weft_memory_new(WEFT_MEMORY_QP, w->flows, sizeof *pair);
    bool in_order = true;
    for (uint32_t i = 0; i < w->flows; i++) {
        pair[i] = (struct pair){(uint64_t)w->flow[i].src << 32 | w->flow[i].dst, i};
        in_order &= !i || pair[i - 1].hosts <= pair[i].hosts;
    }
    if (!in_order) qsort(pair, w->flows, sizeof *pair, by_pair);
    for (uint32_t i = 1; i < w->flows; i++)
        if (pair[i].hosts == pair[i - 1].hosts)
            before[pair[i].flow] = before[pair[i - 1].flow] + w->flow[pair[i - 1].flow].qps;
    weft_memory_free(WEFT_MEMORY_QP, pair, w->flows * sizeof *pair);
    return before;
}
