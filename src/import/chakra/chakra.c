// SPDX-License-Identifier: Apache-2.0
// Traces of all ranks as one schedule. The nodes of each trace are read once, into steps of the trace; when all groups
// are known, ranks copy these steps, and ranks without a trace copy those of another one.
//
// A node is a step, and what it waits for are its data and control dependencies. Computes of the GPU run one after
// another, and so do those of the CPU; communication runs beside both. Nodes that take no time (metadata, wrappers of
// communication on the CPU) stay as steps of none, so that what depends on them waits for what they depend on.
#include "import/chakra/chakra.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "import/chakra/chakra_read.h"

enum { STREAM_GPU, STREAM_CPU, STREAM_NONE };
#define PS_PER_US UINT64_C(1000000)

/// The steps of a trace. A collective's `peer` is an index in `name`, a list of groups' names; sizes are as in the
/// file.
struct program {
    const char *path;
    uint32_t rank; ///< that wrote it
    uint32_t steps, edges, names;
    struct weft_schedule_step *step;
    struct weft_schedule_pair *edge;
    uint32_t *name, *group; ///< [names] group: of the same number, once they are known
};

struct loader {
    const struct weft__chakra_conf *conf;
    struct weft__chakra_files files;
    struct weft__chakra_groups groups;
    struct weft__chakra_graph graph;
    struct weft__chakra_facts *facts;
    struct program *program;         ///< [files]
    uint32_t *of;                    ///< [ranks]: the program of each
    struct weft_schedule_step *step; ///< of the trace being read
    uint32_t *name;                  ///< likewise
    uint32_t steps, names, steps_room, names_room;
    struct weft_arena *arena, *scratch; ///< scratch: freed when the schedule is complete
    struct weft_place place;
    struct weft_error *error;
};

// --- nodes --------------------------------------------------------------------------------------------------------

#define NODE_FAIL(l, r, n, format, ...)                                                                                \
    weft__chakra_fail(r, (n)->at, (l)->error, "node %" PRIu64 ": " format, (n)->id, __VA_ARGS__)

static bool on_cpu(const struct weft__chakra_node *n) {
    return weft__chakra_has(n, WEFT__CHAKRA_CPU_OP) && n->number[WEFT__CHAKRA_CPU_OP];
}

/// How long a node computes.
static enum weft_status find_time(struct loader *l, const struct weft__chakra_reader *r,
                                  const struct weft__chakra_node *n, struct weft_schedule_step *step) {
    bool cpu = on_cpu(n), counted = weft__chakra_has(n, WEFT__CHAKRA_OPS) && n->number[WEFT__CHAKRA_OPS];
    if (n->duration_us > WEFT_TIME_MAX / PS_PER_US)
        return NODE_FAIL(l, r, n, "a duration of %" PRIu64 " us; expected at most 100 days", n->duration_us);
    step->size = n->duration_us * PS_PER_US;
    if (!n->duration_us && counted && !cpu) {
        double ps = ceil((double)n->number[WEFT__CHAKRA_OPS] / l->conf->tflops); // 10^12 a second: one a ps
        if (ps > (double)WEFT_TIME_MAX)
            return NODE_FAIL(l, r, n, "num_ops of %" PRIu64 ": more than 100 days", n->number[WEFT__CHAKRA_OPS]);
        step->size = (uint64_t)ps;
        l->facts->by_ops++;
    }
    l->facts->cpu_ops += cpu;
    if (cpu && !l->conf->cpu_ops) step->size = 0;
    if (step->size) step->cpu = cpu ? STREAM_CPU : STREAM_GPU;
    if (!step->size && n->type != WEFT__CHAKRA_COMP) l->facts->memory++;
    l->facts->others += step->size && (n->type < 0 || n->type >= WEFT__CHAKRA_TYPES);
    return WEFT_OK;
}

/// The index of a group's name among those of the trace.
static uint32_t name_in_trace(struct loader *l, const char *text) {
    uint32_t name = weft__chakra_name(&l->groups, text);
    for (uint32_t i = l->names; i-- > 0;)
        if (l->name[i] == name) return i;
    l->name = weft__memory_grow(l->name, l->names, &l->names_room, sizeof *l->name);
    l->name[l->names] = name;
    return l->names++;
}

static enum weft_status take_collective(struct loader *l, const struct weft__chakra_reader *r,
                                        const struct weft__chakra_node *n, struct weft_schedule_step *step) {
    static const uint8_t kinds[WEFT__CHAKRA_COMMS] = {
        [WEFT__CHAKRA_ALL_REDUCE] = WEFT_SCHEDULE_ALL_REDUCE,
        [WEFT__CHAKRA_REDUCE] = WEFT_SCHEDULE_REDUCE,
        [WEFT__CHAKRA_ALL_GATHER] = WEFT_SCHEDULE_ALL_GATHER,
        [WEFT__CHAKRA_GATHER] = WEFT_SCHEDULE_GATHER,
        [WEFT__CHAKRA_SCATTER] = WEFT_SCHEDULE_SCATTER,
        [WEFT__CHAKRA_BROADCAST] = WEFT_SCHEDULE_BROADCAST,
        [WEFT__CHAKRA_ALL_TO_ALL] = WEFT_SCHEDULE_ALL_TO_ALL,
        [WEFT__CHAKRA_REDUCE_SCATTER] = WEFT_SCHEDULE_REDUCE_SCATTER,
        [WEFT__CHAKRA_REDUCE_SCATTER_BLOCK] = WEFT_SCHEDULE_REDUCE_SCATTER,
        [WEFT__CHAKRA_BARRIER] = WEFT_SCHEDULE_BARRIER,
    };
    uint64_t type = n->number[WEFT__CHAKRA_COMM_TYPE];
    if (!weft__chakra_has(n, WEFT__CHAKRA_COMM_TYPE) || type >= WEFT__CHAKRA_COMMS)
        return NODE_FAIL(l, r, n, "expected a collective with a comm_type of 0 to %d", WEFT__CHAKRA_COMMS - 1);
    if (n->partial)
        return NODE_FAIL(l, r, n, "a collective of some dimensions (%s); expected a pg_name instead", "involved_dim");
    if (type == WEFT__CHAKRA_BARRIER) step->size = 0;
    step->kind = WEFT_SCHEDULE_COLLECTIVE;
    step->collective = kinds[type];
    step->peer = name_in_trace(l, n->group);
    assert(step->peer < l->names);
    return WEFT_OK;
}

/// The other rank of a process group of two; Chakra's converter from PyTorch gives only the group.
static bool find_peer(struct loader *l, const struct weft__chakra_node *n, uint32_t rank, uint64_t *ret_peer) {
    bool several = false;
    uint32_t group = *n->group
                         ? weft__chakra_group_of(&l->groups, weft__chakra_name(&l->groups, n->group), rank, &several)
                         : WEFT_NONE;
    if (group == WEFT_NONE || l->groups.group[group].ranks != 2) return false;
    const uint32_t *pair = l->groups.group[group].rank;
    *ret_peer = pair[pair[0] == rank];
    l->facts->peers++;
    return true;
}

/// The peer of a send or receive. A message belongs to the rank that has the node unless it says otherwise.
static enum weft_status take_message(struct loader *l, const struct weft__chakra_reader *r,
                                     const struct weft__chakra_node *n, uint32_t rank,
                                     struct weft_schedule_step *step) {
    bool sends = n->type == WEFT__CHAKRA_SEND;
    enum weft__chakra_number own = sends ? WEFT__CHAKRA_COMM_SRC : WEFT__CHAKRA_COMM_DST;
    enum weft__chakra_number peer = sends ? WEFT__CHAKRA_COMM_DST : WEFT__CHAKRA_COMM_SRC;
    uint64_t tag = weft__chakra_has(n, WEFT__CHAKRA_COMM_TAG) ? n->number[WEFT__CHAKRA_COMM_TAG] : 0;
    if (weft__chakra_has(n, own) && n->number[own] != rank)
        return NODE_FAIL(l, r, n, "%s of rank %" PRIu64 " in the trace of rank %" PRIu32,
                         sends ? "a send" : "a receive", n->number[own], rank);
    uint64_t with = n->number[peer];
    if (!weft__chakra_has(n, peer) && !find_peer(l, n, rank, &with))
        return NODE_FAIL(l, r, n, "no %s; expected one, or a pg_name that is known by then, of a group of two ranks",
                         sends ? "comm_dst" : "comm_src");
    if (with >= l->groups.ranks)
        return NODE_FAIL(l, r, n, "expected a %s of 0 to %" PRIu32, sends ? "comm_dst" : "comm_src",
                         l->groups.ranks - 1);
    if (tag >= WEFT_SCHEDULE_ANY) return NODE_FAIL(l, r, n, "a comm_tag of %" PRIu64 "; expected less", tag);
    step->kind = sends ? WEFT_SCHEDULE_SEND : WEFT_SCHEDULE_RECV;
    step->peer = (uint32_t)with;
    step->tag = (uint32_t)tag;
    return WEFT_OK;
}

static enum weft_status take_communication(struct loader *l, const struct weft__chakra_reader *r,
                                           const struct weft__chakra_node *n, uint32_t rank,
                                           struct weft_schedule_step *step) {
    uint64_t size = n->number[WEFT__CHAKRA_COMM_SIZE];
    bool sized = weft__chakra_has(n, WEFT__CHAKRA_COMM_SIZE);
    bool barrier = n->type == WEFT__CHAKRA_COLL && n->number[WEFT__CHAKRA_COMM_TYPE] == WEFT__CHAKRA_BARRIER;
    if (!sized && !barrier) return NODE_FAIL(l, r, n, "communication without a %s", "comm_size");
    if (size >= WEFT_SCHEDULE_BYTES_MAX)
        return NODE_FAIL(l, r, n, "a comm_size of %" PRIu64 "; expected less than 2^63", size);
    if (!size && n->type == WEFT__CHAKRA_COLL && !barrier) { // NCCL discards these (enqueue.cc)
        l->facts->empty++;
        return WEFT_OK;
    }
    step->size = size;
    l->facts->comms++;
    return n->type == WEFT__CHAKRA_COLL ? take_collective(l, r, n, step) : take_message(l, r, n, rank, step);
}

/// Reads process groups, if there are any.
static enum weft_status take_metadata(struct loader *l, const struct weft__chakra_reader *r,
                                      const struct weft__chakra_node *n) {
    uint32_t ranks = 0;
    if (!strstr(n->inputs, "pg_name")) return WEFT_OK;
    if (!weft__chakra_groups_parse(&l->groups, n->inputs, &ranks))
        l->facts->groups_bad++;
    else if (ranks > l->groups.ranks)
        return NODE_FAIL(l, r, n, "a process group with rank %" PRIu32 "; expected less than %" PRIu32 " (ranks)",
                         ranks - 1, l->groups.ranks);
    return WEFT_OK;
}

static enum weft_status take_node(struct loader *l, const struct weft__chakra_reader *r,
                                  const struct weft__chakra_node *n, uint32_t rank) {
    struct weft_schedule_step step = {
        .kind = WEFT_SCHEDULE_COMPUTE, .cpu = STREAM_NONE, .line = n->id <= UINT32_MAX ? (uint32_t)n->id : 0};
    bool communicates = n->type == WEFT__CHAKRA_COLL || n->type == WEFT__CHAKRA_SEND || n->type == WEFT__CHAKRA_RECV;
    l->facts->nodes++;
    if (communicates && on_cpu(n))
        l->facts->wrappers++;
    else if (communicates)
        WEFT_TRY(take_communication(l, r, n, rank, &step));
    else if (n->type == WEFT__CHAKRA_METADATA)
        WEFT_TRY(take_metadata(l, r, n));
    else if (n->type != WEFT__CHAKRA_INVALID)
        WEFT_TRY(find_time(l, r, n, &step));
    if (l->steps == WEFT_SCHEDULE_STEPS_MAX)
        return weft__chakra_fail(r, n->at, l->error, "too many nodes; expected at most %u", WEFT_SCHEDULE_STEPS_MAX);
    l->step = weft__memory_grow(l->step, l->steps, &l->steps_room, sizeof *l->step);
    l->step[l->steps++] = step;
    weft__chakra_graph_add(&l->graph, n, l->conf->ctrl_deps);
    return WEFT_OK;
}

// --- traces -------------------------------------------------------------------------------------------------------

static enum weft_status read_nodes(struct loader *l, struct weft__chakra_reader *r, uint32_t rank) {
    struct weft__chakra_node n;
    bool more = true;
    l->steps = l->names = 0;
    weft__chakra_graph_clear(&l->graph);
    while (more) {
        WEFT_TRY(weft__chakra_next(r, &n, &more, l->error));
        if (more) WEFT_TRY(take_node(l, r, &n, rank));
    }
    return weft__chakra_graph_connect(&l->graph, r, l->error);
}

static void *copy_list(struct loader *l, const void *list, size_t n, size_t size) {
    void *kept = weft_arena_alloc(l->scratch, n, size);
    return n ? memcpy(kept, list, n * size) : kept;
}

static enum weft_status read_trace(struct loader *l, const struct weft__chakra_file *file, struct program *ret) {
    struct weft__chakra_reader r;
    WEFT_TRY(weft__chakra_open(&r, file->path, l->place, l->arena, l->error));
    if (!l->facts->traces++) l->facts->version = r.version;
    enum weft_status status = read_nodes(l, &r, file->rank);
    l->facts->unknown_fields += r.unknown;
    weft__chakra_close(&r);
    if (status) return status;
    l->facts->deps += l->graph.deps;
    *ret = (struct program){
        .path = file->path,
        .rank = file->rank,
        .steps = l->steps,
        .edges = (uint32_t)l->graph.edges,
        .names = l->names,
        .step = copy_list(l, l->step, l->steps, sizeof *l->step),
        .edge = copy_list(l, l->graph.edge, l->graph.edges, sizeof *l->graph.edge),
        .name = copy_list(l, l->name, l->names, sizeof *l->name),
        .group = weft_arena_alloc(l->scratch, l->names, sizeof *l->name),
    };
    return WEFT_OK;
}

static enum weft_status read_traces(struct loader *l) {
    enum weft_status status = WEFT_OK;
    l->program = weft_arena_alloc(l->scratch, l->files.files, sizeof *l->program);
    for (uint32_t f = 0; f < l->files.files && !status; f++)
        status = read_trace(l, &l->files.file[f], &l->program[f]);
    l->facts->deps_implied = l->graph.implied;
    l->facts->deps_absent = l->graph.absent;
    return status;
}

// --- groups -------------------------------------------------------------------------------------------------------

/// Names that nothing defines: "" is all ranks, any other name all ranks whose traces have it. Where ranks without a
/// trace reuse one, PyTorch's default, "0", is all ranks, and other names are errors.
static enum weft_status define_others(struct loader *l) {
    bool partial = l->files.files < l->groups.ranks;
    enum weft_status status = WEFT_OK;
    WEFT_FREED uint32_t *rank = weft_memory_new(WEFT_MEMORY_SCENARIO, l->files.files, sizeof *rank);
    for (uint32_t name = 0; name < l->groups.names && !status; name++) {
        const char *text = l->groups.name[name].text;
        uint32_t n = 0;
        if (l->groups.name[name].group != WEFT_NONE) continue;
        for (uint32_t f = 0; f < l->files.files; f++)
            for (uint32_t i = 0; i < l->program[f].names; i++)
                if (l->program[f].name[i] == name) rank[n++] = l->program[f].rank;
        if (!n) continue;
        bool all = !*text || (partial && !strcmp(text, "0"));
        if (partial && !all)
            status = WEFT_REFUSE(l->error, l->place,
                                 "reuse: nothing says which ranks are in the process group '%.60s'; expected a file "
                                 "of groups, or a trace of each rank",
                                 text);
        weft__chakra_define(&l->groups, name, rank, all ? 0 : n);
        l->facts->groups_found += *text != 0;
    }
    return status;
}

static enum weft_status find_groups(struct loader *l, struct program *p) {
    bool several = false;
    for (uint32_t i = 0; i < p->names; i++) {
        p->group[i] = weft__chakra_group_of(&l->groups, p->name[i], p->rank, &several);
        if (p->group[i] != WEFT_NONE) continue;
        return WEFT_REFUSE(l->error, (struct weft_place){.file = p->path},
                           "a collective of the process group '%.60s', %s", l->groups.name[p->name[i]].text,
                           several ? "which has two definitions that contain this rank; expected one"
                                   : "which this rank is not a member of");
    }
    return WEFT_OK;
}

/// Groups of a rank that follows another one's trace.
static enum weft_status find_groups_like(struct loader *l, const struct program *p, uint32_t rank, uint32_t *group) {
    for (uint32_t i = 0; i < p->names; i++) {
        group[i] = weft__chakra_group_like(&l->groups, p->group[i], p->rank, rank, group, i);
        if (group[i] == WEFT_NONE)
            return WEFT_REFUSE(l->error, l->place,
                               "reuse: rank %" PRIu32 " has no trace, and the process group '%.60s' of rank %" PRIu32
                               " is not a block of ranks at one distance that divides %" PRIu32
                               " ranks evenly; expected a trace of each rank",
                               rank, l->groups.name[p->name[i]].text, p->rank, l->groups.ranks);
    }
    return WEFT_OK;
}

// --- the schedule -------------------------------------------------------------------------------------------------

struct writer {
    struct loader *l;
    struct weft_schedule_builder b;
    uint32_t *number; ///< of a group, in the schedule, + 1
    uint32_t numbers;
};

static uint32_t number_of(struct writer *w, uint32_t group) {
    const struct weft__chakra_groups *g = &w->l->groups;
    if (group >= w->numbers) {
        w->number = weft_memory_resize(WEFT_MEMORY_SCENARIO, w->number, w->numbers * sizeof *w->number,
                                       g->groups_room * sizeof *w->number);
        memset(w->number + w->numbers, 0, (g->groups_room - w->numbers) * sizeof *w->number);
        w->numbers = g->groups_room;
    }
    const struct weft__chakra_group *own = &g->group[group];
    if (!w->number[group]) {
        const char *name = g->name[own->name].text;
        w->number[group] = weft_schedule_add_group(&w->b, *name ? name : "all", own->rank, own->ranks) + 1;
    }
    return w->number[group] - 1;
}

/// A step of `p` as one of `rank`; comm_size is what each rank contributes, as in Chakra's converter and ASTRA-sim.
static enum weft_status write_step(struct writer *w, const struct program *p, const uint32_t *group, uint32_t rank,
                                   struct weft_schedule_step step) {
    struct loader *l = w->l;
    uint32_t ranks = l->groups.ranks;
    if (step.kind == WEFT_SCHEDULE_SEND || step.kind == WEFT_SCHEDULE_RECV)
        step.peer = (uint32_t)(((uint64_t)step.peer + ranks - p->rank + rank) % ranks);
    if (step.kind == WEFT_SCHEDULE_COLLECTIVE) {
        const struct weft__chakra_group *own = &l->groups.group[group[step.peer]];
        bool gathers = step.collective == WEFT_SCHEDULE_ALL_GATHER || step.collective == WEFT_SCHEDULE_GATHER;
        if (gathers && __builtin_mul_overflow(step.size, (uint64_t)own->ranks, &step.size))
            return WEFT_REFUSE(l->error, (struct weft_place){.file = p->path},
                               "node %" PRIu32 ": more than 2^64 bytes in all", step.line);
        step.peer = number_of(w, group[step.peer]);
    }
    weft_schedule_add(&w->b, &step);
    return WEFT_OK;
}

static enum weft_status write_rank(struct writer *w, uint32_t rank) {
    struct loader *l = w->l;
    const struct program *p = &l->program[l->of[rank]];
    uint32_t *group = p->group;
    enum weft_status status = WEFT_OK;
    if (rank != p->rank) {
        group = weft_memory_new(WEFT_MEMORY_SCENARIO, p->names, sizeof *group);
        status = find_groups_like(l, p, rank, group);
    }
    for (uint32_t i = 0; i < p->steps && !status; i++)
        status = write_step(w, p, group, rank, p->step[i]);
    for (uint32_t i = 0; i < p->edges && !status; i++)
        weft_schedule_add_edge(&w->b, p->edge[i].from, p->edge[i].to, false);
    w->b.file = p->path;
    weft_schedule_end_rank(&w->b, 0);
    if (rank != p->rank) weft_memory_free(WEFT_MEMORY_SCENARIO, group, p->names * sizeof *group);
    return status;
}

static enum weft_status write_all(struct loader *l, struct weft_schedule **ret_schedule) {
    struct writer w = {.l = l};
    enum weft_status status = WEFT_OK;
    weft_schedule_begin(&w.b, l->files.prefix, l->groups.ranks, l->arena);
    w.b.schedule->entry = "node";
    for (uint32_t rank = 0; rank < l->groups.ranks && !status; rank++)
        status = write_rank(&w, rank);
    *ret_schedule = weft_schedule_end(&w.b);
    l->facts->groups = (*ret_schedule)->groups;
    weft_memory_free(WEFT_MEMORY_SCENARIO, w.number, w.numbers * sizeof *w.number);
    return status;
}

// --- ranks --------------------------------------------------------------------------------------------------------

/// Determines the trace of each rank.
static enum weft_status find_ranks(struct loader *l, uint32_t in_groups) {
    const struct weft__chakra_files *f = &l->files;
    uint32_t traced = f->file[f->files - 1].rank + 1, ranks = traced > in_groups ? traced : in_groups;
    if (l->conf->ranks && l->conf->ranks < ranks)
        return WEFT_REFUSE(l->error, l->place,
                           "ranks: %" PRIu64 "; expected %" PRIu32 " at least, which traces and groups have",
                           l->conf->ranks, ranks);
    if (l->conf->ranks) ranks = (uint32_t)l->conf->ranks;
    l->groups.ranks = ranks;
    l->of = weft_arena_alloc(l->scratch, ranks, sizeof *l->of);
    for (uint32_t rank = 0, next = 0; rank < ranks; rank++) {
        bool own = next < f->files && f->file[next].rank == rank;
        l->of[rank] = own ? next++ : rank % f->files;
        if (!own && !l->conf->reuse)
            return WEFT_REFUSE(l->error, l->place,
                               "file: no trace of rank %" PRIu32 " of %" PRIu32 ", %s.%" PRIu32
                               ".et; expected one of each, or reuse: on",
                               rank, ranks, f->prefix, rank);
    }
    return WEFT_OK;
}

static enum weft_status load_chakra(struct loader *l, const char *path, struct weft_schedule **ret_schedule) {
    uint32_t in_groups = 0;
    WEFT_TRY(weft__chakra_find(path, l->place, l->arena, &l->files, l->error));
    if (*l->conf->groups)
        WEFT_TRY(weft__chakra_groups_read(&l->groups, l->conf->groups, l->place, &in_groups, l->error));
    WEFT_TRY(find_ranks(l, in_groups));
    WEFT_TRY(read_traces(l));
    WEFT_TRY(define_others(l));
    for (uint32_t f = 0; f < l->files.files; f++)
        WEFT_TRY(find_groups(l, &l->program[f]));
    WEFT_TRY(write_all(l, ret_schedule));
    return weft_schedule_check(*ret_schedule, l->error);
}

static enum weft_status load_with(const char *path, const struct weft__chakra_conf *conf, struct weft_place place,
                                  struct weft_arena *arena, struct weft_schedule **ret_schedule,
                                  struct weft__chakra_facts *ret_facts, struct weft_error *ret_error) {
    struct loader l = {.conf = conf,
                       .facts = ret_facts,
                       .arena = arena,
                       .scratch = weft_arena_new(WEFT_MEMORY_SCENARIO),
                       .place = place,
                       .error = ret_error};
    *ret_facts = (struct weft__chakra_facts){.version = ""};
    weft__chakra_groups_init(&l.groups, l.scratch);
    enum weft_status status = load_chakra(&l, path, ret_schedule);
    weft__chakra_graph_deinit(&l.graph);
    weft__chakra_groups_deinit(&l.groups);
    weft_memory_free(WEFT_MEMORY_SCENARIO, l.step, l.steps_room * sizeof *l.step);
    weft_memory_free(WEFT_MEMORY_SCENARIO, l.name, l.names_room * sizeof *l.name);
    weft_arena_free(l.scratch);
    return status;
}

/// Whether the traces can be read without control dependencies.
static bool loads_without(const char *path, const struct weft__chakra_conf *conf, struct weft_place place) {
    struct weft__chakra_conf without = *conf;
    struct weft__chakra_facts facts;
    struct weft_schedule *s;
    WEFT_SCRATCH(scratch, WEFT_MEMORY_SCENARIO);
    without.ctrl_deps = false;
    return !load_with(path, &without, place, scratch, &s, &facts, NULL);
}

enum weft_status weft__chakra_load(const char *path, const struct weft__chakra_conf *conf, struct weft_place place,
                                   struct weft_arena *arena, struct weft_schedule **ret_schedule,
                                   struct weft__chakra_facts *ret_facts, struct weft_error *ret_error) {
    enum weft_status status = load_with(path, conf, place, arena, ret_schedule, ret_facts, ret_error);
    if (status == WEFT_ERROR_INPUT && ret_error && conf->ctrl_deps && loads_without(path, conf, place)) {
        size_t n = strlen(ret_error->text);
        snprintf(ret_error->text + n, sizeof ret_error->text - n,
                 "; control dependencies are why: expected ctrl_deps: off");
    }
    return status;
}
