// SPDX-License-Identifier: Apache-2.0
// Schedules as Chakra execution traces: protobuf messages preceded by their lengths, as read by chakra_read.c.
#include "weft/chakra.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/stream.h"
#include "import/chakra/chakra.pb-c.h"
#include "import/chakra/chakra_read.h"

enum { ATTRIBUTES = 6, VARINT_BYTES = 5 };

struct writer {
    const struct weft_schedule *s;
    FILE *file;
    struct weft_arena *arena; ///< of the rank
    uint8_t *buffer;
    size_t room;
};

static void write_message(struct writer *w, const ProtobufCMessage *message) {
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t length[VARINT_BYTES], n = 0;
    if (size > w->room) {
        w->buffer = weft_memory_resize(WEFT_MEMORY_SCENARIO, w->buffer, w->room, 2 * size);
        w->room = 2 * size;
    }
    for (size_t left = size; n < VARINT_BYTES && (left || !n); left >>= 7)
        length[n++] = (uint8_t)((left & 127) | (left > 127 ? 128 : 0));
    protobuf_c_message_pack(message, w->buffer);
    fwrite(length, 1, n, w->file);
    fwrite(w->buffer, 1, size, w->file);
}

// --- nodes --------------------------------------------------------------------------------------------------------

/// A node and its attributes.
struct node {
    Weft__Chakra__Node node;
    Weft__Chakra__Attribute attribute[ATTRIBUTES], *list[ATTRIBUTES];
};

static Weft__Chakra__Attribute *add_attribute(struct node *n, const char *name) {
    Weft__Chakra__Attribute *a = &n->attribute[n->node.n_attr];
    assert(n->node.n_attr < ATTRIBUTES);
    n->list[n->node.n_attr++] = a;
    weft__chakra__attribute__init(a);
    a->name = (char *)(uintptr_t)name; // it is only read
    return a;
}

static void add_int32(struct node *n, const char *name, uint32_t value) {
    Weft__Chakra__Attribute *a = add_attribute(n, name);
    a->value_case = WEFT__CHAKRA__ATTRIBUTE__VALUE_INT32_VAL;
    a->int32_val = (int32_t)value;
}

static void add_int64(struct node *n, const char *name, uint64_t value) {
    Weft__Chakra__Attribute *a = add_attribute(n, name);
    a->value_case = WEFT__CHAKRA__ATTRIBUTE__VALUE_INT64_VAL;
    a->int64_val = (int64_t)value;
}

static void add_message(struct node *n, const struct weft_schedule_step *step, uint32_t rank) {
    bool sends = step->kind == WEFT_SCHEDULE_SEND;
    n->node.type = sends ? WEFT__CHAKRA_SEND : WEFT__CHAKRA_RECV;
    add_int64(n, "comm_size", step->size);
    add_int32(n, "comm_src", sends ? rank : step->peer);
    add_int32(n, "comm_dst", sends ? step->peer : rank);
    add_int32(n, "comm_tag", step->tag);
}

/// comm_size is what each rank contributes.
static void add_collective(struct writer *w, struct node *n, const struct weft_schedule_step *step) {
    static const enum weft__chakra_comm type[WEFT_SCHEDULE_COLLECTIVES] = {
        [WEFT_SCHEDULE_ALL_REDUCE] = WEFT__CHAKRA_ALL_REDUCE,
        [WEFT_SCHEDULE_ALL_GATHER] = WEFT__CHAKRA_ALL_GATHER,
        [WEFT_SCHEDULE_ALL_TO_ALL] = WEFT__CHAKRA_ALL_TO_ALL,
        [WEFT_SCHEDULE_REDUCE_SCATTER] = WEFT__CHAKRA_REDUCE_SCATTER,
        [WEFT_SCHEDULE_BROADCAST] = WEFT__CHAKRA_BROADCAST,
        [WEFT_SCHEDULE_GATHER] = WEFT__CHAKRA_GATHER,
        [WEFT_SCHEDULE_REDUCE] = WEFT__CHAKRA_REDUCE,
        [WEFT_SCHEDULE_SCATTER] = WEFT__CHAKRA_SCATTER,
        [WEFT_SCHEDULE_BARRIER] = WEFT__CHAKRA_BARRIER,
    };
    const struct weft_schedule_group *g = &w->s->group[step->peer];
    bool gathers = step->collective == WEFT_SCHEDULE_ALL_GATHER || step->collective == WEFT_SCHEDULE_GATHER;
    n->node.type = WEFT__CHAKRA_COLL;
    add_int64(n, "comm_type", type[step->collective]);
    add_int64(n, "comm_size", gathers ? step->size / g->ranks : step->size);
    Weft__Chakra__Attribute *a = add_attribute(n, "pg_name");
    a->value_case = WEFT__CHAKRA__ATTRIBUTE__VALUE_STRING_VAL;
    a->string_val = (char *)(uintptr_t)weft_arena_format(w->arena, "%" PRIu32, step->peer);
}

static void write_node(struct writer *w, uint32_t rank, uint32_t number, uint64_t *deps, size_t n_deps) {
    const struct weft_schedule_step *step = &w->s->rank[rank].step[number];
    struct node n;
    char name[160];
    weft__chakra__node__init(&n.node);
    n.node.attr = n.list;
    n.node.id = number + UINT64_C(1);
    n.node.name = (char *)(uintptr_t)weft_schedule_what(w->s, rank, number, name, sizeof name);
    n.node.data_deps = deps;
    n.node.n_data_deps = n_deps;
    Weft__Chakra__Attribute *cpu = add_attribute(&n, "is_cpu_op");
    cpu->value_case = WEFT__CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL;
    if (step->kind == WEFT_SCHEDULE_COMPUTE) {
        n.node.type = WEFT__CHAKRA_COMP;
        n.node.duration_micros = (step->size + WEFT_PS_PER_US / 2) / WEFT_PS_PER_US;
    } else if (step->kind == WEFT_SCHEDULE_COLLECTIVE) {
        add_collective(w, &n, step);
    } else {
        add_message(&n, step, rank);
    }
    write_message(w, &n.node.base);
}

static void write_rank(struct writer *w, uint32_t rank) {
    const struct weft_schedule_rank *r = &w->s->rank[rank];
    Weft__Chakra__Metadata metadata = WEFT__CHAKRA__METADATA__INIT;
    ProtobufCBinaryData version = {5, (uint8_t *)(uintptr_t) "0.0.4"};
    uint32_t *first = weft_arena_alloc(w->arena, r->steps + (size_t)2, sizeof *first);
    uint64_t *dep = weft_arena_alloc(w->arena, r->edges, sizeof *dep);
    metadata.n_version = 1;
    metadata.version = &version;
    write_message(w, &metadata.base);
    for (uint32_t e = 0; e < r->edges; e++)
        first[r->edge[e] + 2]++;
    for (uint32_t i = 0; i < r->steps; i++)
        first[i + 2] += first[i + 1];
    for (uint32_t i = 0; i < r->steps; i++)
        for (uint32_t e = r->step[i].edge0; e < r->step[i + 1].edge0; e++)
            dep[first[r->edge[e] + 1]++] = i + UINT64_C(1);
    for (uint32_t i = 0; i < r->steps; i++)
        write_node(w, rank, i, dep + first[i], first[i + 1] - first[i]);
}

// --- files --------------------------------------------------------------------------------------------------------

/// What a trace cannot express.
static enum weft_status check_schedule(const struct weft_schedule *s, struct weft_error *ret_error) {
    for (uint32_t rank = 0; rank < s->ranks; rank++)
        for (uint32_t i = 0; i < s->rank[rank].steps; i++) {
            const struct weft_schedule_rank *r = &s->rank[rank];
            const struct weft_schedule_step *step = &r->step[i];
            bool receives = step->kind == WEFT_SCHEDULE_RECV, starts = false;
            for (uint32_t e = step->edge0; e < step[1].edge0; e++)
                starts |= (r->edge[e] & WEFT_SCHEDULE_AFTER_START) != 0;
            const char *why =
                receives && (step->peer == WEFT_SCHEDULE_ANY || step->tag == WEFT_SCHEDULE_ANY) ? "any source or tag"
                : step->kind == WEFT_SCHEDULE_COLLECTIVE && step->tag ? "a root other than the first rank of its group"
                : step->kind != WEFT_SCHEDULE_COMPUTE && step->tag > INT32_MAX && step->kind != WEFT_SCHEDULE_COLLECTIVE
                    ? "a tag above 2^31"
                : starts ? "steps that wait for its start only"
                         : NULL;
            char where[256], what[160];
            if (why)
                return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s: rank %" PRIu32 ", %s: a Chakra trace does not have %s",
                                   weft_schedule_where(s, rank, i, where, sizeof where), rank,
                                   weft_schedule_what(s, rank, i, what, sizeof what), why);
        }
    return WEFT_OK;
}

static void write_groups(struct writer *w, uint32_t number) {
    struct weft__json j = {.file = w->file};
    weft__json_begin_object(&j);
    for (uint32_t g = 0; g < w->s->groups; g++) {
        weft__json_key(&j, weft_arena_format(w->arena, "%" PRIu32, g));
        weft__json_begin_array(&j);
        for (uint32_t k = 0; k < w->s->group[g].ranks; k++)
            weft__json_u64(&j, w->s->group[g].rank[k]);
        weft__json_end_array(&j);
    }
    weft__json_end_object(&j);
    fputc('\n', w->file);
}

static enum weft_status write_file(struct writer *w, const char *path, void (*write)(struct writer *w, uint32_t number),
                                   uint32_t number, struct weft_error *ret_error) {
    const char *draft = weft__draft_name(path, w->arena);
    w->file = weft__file_open(draft, "w");
    bool failed = !w->file;
    if (w->file) {
        write(w, number);
        failed = ferror(w->file) != 0;
        failed |= fclose(w->file) != 0;
        failed = failed || rename(draft, path);
        if (failed) remove(draft);
    }
    if (!failed) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", path, strerror(errno));
}

enum weft_status weft_chakra_write(const struct weft_schedule *s, const char *prefix, struct weft_error *ret_error) {
    struct writer w = {.s = s};
    enum weft_status status = check_schedule(s, ret_error);
    for (uint32_t r = 0; r < s->ranks && !status; r++) {
        w.arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        status = write_file(&w, weft_arena_format(w.arena, "%s.%" PRIu32 ".et", prefix, r), write_rank, r, ret_error);
        weft_arena_free(w.arena);
    }
    w.arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    if (!status && s->groups)
        status = write_file(&w, weft_arena_format(w.arena, "%s.groups.json", prefix), write_groups, 0, ret_error);
    weft_arena_free(w.arena);
    weft_memory_free(WEFT_MEMORY_SCENARIO, w.buffer, w.room);
    return status;
}
