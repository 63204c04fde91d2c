// SPDX-License-Identifier: Apache-2.0
// <algo name proto nchannels nchunksperloop ngpus coll inplace> <gpu id i_chunks o_chunks s_chunks> <tb id send recv
// chan> <step s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep/>. Other attributes are ignored.
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "base/xml.h"
#include "import/msccl/msccl.h"

enum {
    RANKS_MAX = 4096,
    CHANNELS_MAX = 1024,
    BLOCKS_MAX = 4096,
    STEPS_MAX = 1 << 22,
    CHUNKS_MAX = 1 << 20,
    ALL_CHUNKS_MAX = 1 << 24,
    MOVES_MAX = 1 << 26,
};

struct reader {
    struct weft__msccl *m;
    struct weft_arena *arena;
    const char *path;
    struct weft__msccl_gpu *gpu;     ///< under way
    struct weft__msccl_block *block; ///< likewise
    uint64_t chunks, moves;          ///< of all GPUs; of all steps
};

/// Attributes that are 32-bit numbers, each with its bounds.
struct number {
    const char *key;
    int64_t min, max;
    uint32_t *value;
};
static enum weft_status read_numbers(const struct weft__xml_element *e, const struct number *number, uint32_t n,
                                     struct weft_error *ret_error) {
    for (uint32_t k = 0; k < n; k++) {
        int64_t value;
        WEFT_TRY(weft__xml_number(e, number[k].key, number[k].min, number[k].max, &value, ret_error));
        *number[k].value = value < 0 ? WEFT_NONE : (uint32_t)value;
    }
    return WEFT_OK;
}
#define READ_NUMBERS(e, ret_error, ...)                                                                                \
    read_numbers(e, (const struct number[]){__VA_ARGS__},                                                              \
                 sizeof((const struct number[]){__VA_ARGS__}) / sizeof(struct number), ret_error)

static enum weft_status bad_tag(const struct weft__xml_element *e, const char *why, struct weft_error *ret_error) {
    return WEFT_REFUSE(ret_error, e->place, "%s", why);
}

static enum weft_collective_goal goal_of(const char *coll) {
    static const struct {
        const char *name;
        enum weft_collective_goal goal;
    } known[] = {
        {"allreduce", WEFT_GOAL_ALL_REDUCE}, {"reduce_scatter", WEFT_GOAL_REDUCE_SCATTER},
        {"allgather", WEFT_GOAL_ALL_GATHER}, {"reducescatter", WEFT_GOAL_REDUCE_SCATTER},
        {"alltoall", WEFT_GOAL_EXCHANGE},    {"broadcast", WEFT_GOAL_BROADCAST},
        {"reduce", WEFT_GOAL_REDUCE},
    };
    for (uint32_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(coll, known[k].name)) return known[k].goal;
    return WEFT_GOAL_OTHER;
}

static enum weft_status read_algo(struct reader *r, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct weft__msccl *m = r->m;
    const char *name = weft__xml_find(e, "name"), *proto = weft__xml_find(e, "proto"), *coll;
    int64_t in_place, min_bytes, max_bytes;
    enum weft_status status = weft__xml_text(e, "coll", &coll, ret_error);
    if (!status)
        status =
            READ_NUMBERS(e, ret_error, {"ngpus", 2, RANKS_MAX, &m->ranks}, {"nchannels", 1, CHANNELS_MAX, &m->channels},
                         {"nchunksperloop", 1, CHUNKS_MAX, &m->chunks});
    if (!status) status = weft__xml_number_or(e, "inplace", 0, 1, 0, &in_place, ret_error);
    if (!status) status = weft__xml_number_or(e, "minBytes", 0, INT64_MAX, 0, &min_bytes, ret_error);
    if (!status) status = weft__xml_number_or(e, "maxBytes", 0, INT64_MAX, 0, &max_bytes, ret_error);
    if (status) return status;
    m->name = weft_arena_text(r->arena, name ? name : "");
    m->proto = weft_arena_text(r->arena, proto ? proto : "");
    m->coll = weft_arena_text(r->arena, coll);
    m->goal = goal_of(coll);
    m->in_place = in_place;
    m->min_bytes = (weft_bytes)min_bytes;
    m->max_bytes = (weft_bytes)max_bytes;
    bool parts =
        m->goal == WEFT_GOAL_REDUCE_SCATTER || m->goal == WEFT_GOAL_ALL_GATHER || m->goal == WEFT_GOAL_EXCHANGE;
    if (parts && m->chunks % m->ranks)
        return WEFT_REFUSE(ret_error, e->place,
                           "nchunksperloop=\"%" PRIu32 "\" of a collective that has a part for each GPU; expected a "
                           "multiple of ngpus=\"%" PRIu32 "\"",
                           m->chunks, m->ranks);
    m->gpu = weft_arena_alloc(r->arena, m->ranks, sizeof *m->gpu);
    return WEFT_OK;
}

static enum weft_status read_gpu(struct reader *r, const struct weft__xml_element *e, struct weft_error *ret_error) {
    uint32_t id, *chunks;
    WEFT_TRY(READ_NUMBERS(e, ret_error, {"id", 0, r->m->ranks - 1, &id}));
    r->gpu = &r->m->gpu[id];
    if (r->gpu->line)
        return WEFT_REFUSE(ret_error, e->place, "GPU %" PRIu32 " is on line %d already; expected each once", id,
                           r->gpu->line);
    r->gpu->line = e->place.line;
    chunks = r->gpu->chunks;
    enum weft_status status = READ_NUMBERS(e, ret_error, {"i_chunks", 0, CHUNKS_MAX, &chunks[WEFT__MSCCL_INPUT]},
                                           {"o_chunks", 0, CHUNKS_MAX, &chunks[WEFT__MSCCL_OUTPUT]},
                                           {"s_chunks", 0, CHUNKS_MAX, &chunks[WEFT__MSCCL_SCRATCH]});
    for (uint32_t k = 0; k < WEFT__MSCCL_BUFFERS; k++)
        r->chunks += chunks[k];
    if (!status && r->chunks + (uint64_t)r->m->chunks * r->m->ranks * 2 > ALL_CHUNKS_MAX)
        status = WEFT_REFUSE(ret_error, e->place, "expected at most %d chunks of all GPUs together", ALL_CHUNKS_MAX);
    return status;
}

static enum weft_status read_block(struct reader *r, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct weft__msccl_gpu *gpu = r->gpu;
    struct weft__msccl_block b = {.line = e->place.line, .column = e->place.column};
    uint32_t self = (uint32_t)(gpu - r->m->gpu);
    enum weft_status status =
        READ_NUMBERS(e, ret_error, {"id", 0, BLOCKS_MAX - 1, &b.id}, {"send", -1, r->m->ranks - 1, &b.send},
                     {"recv", -1, r->m->ranks - 1, &b.recv}, {"chan", 0, r->m->channels - 1, &b.channel});
    if (status) return status;
    if (b.send == self || b.recv == self)
        return bad_tag(e, "expected another GPU than its own in send and recv", ret_error);
    if (gpu->blocks == BLOCKS_MAX)
        return bad_tag(e, "too many thread blocks of a GPU; expected at most 4096", ret_error);
    for (uint32_t k = 0; k < gpu->blocks; k++) {
        const struct weft__msccl_block *other = &gpu->block[k];
        const char *twice = other->id == b.id                              ? "id"
                            : other->channel != b.channel                  ? NULL
                            : b.send != WEFT_NONE && other->send == b.send ? "send and chan"
                            : b.recv != WEFT_NONE && other->recv == b.recv ? "recv and chan"
                                                                           : NULL;
        if (twice)
            return WEFT_REFUSE(ret_error, e->place,
                               "the thread block of line %d has the same %s; expected one such block of a GPU",
                               other->line, twice);
    }
    r->block = &WEFT__ADD(r->arena, gpu->block, gpu->blocks);
    *r->block = b;
    r->m->blocks++;
    if (gpu->blocks > r->m->blocks_max) r->m->blocks_max = gpu->blocks;
    return WEFT_OK;
}

static enum weft_status read_type(const struct weft__xml_element *e, uint8_t *ret_does, struct weft_error *ret_error) {
    enum {
        R = WEFT__MSCCL_RECEIVES,
        S = WEFT__MSCCL_READS,
        A = WEFT__MSCCL_ADDS,
        K = WEFT__MSCCL_KEEPS,
        T = WEFT__MSCCL_SENDS
    };
    static const struct {
        const char *name;
        uint8_t does;
    } types[] = {{"s", S | T},       {"r", R | K},       {"rcs", R | K | T},
                 {"rrs", R | S | T}, {"rrc", R | S | K}, {"rrcs", R | S | K | T},
                 {"cpy", S | K},     {"re", S | A | K},  {"nop", 0}};
    const char *text;
    enum weft_status status = weft__xml_text(e, "type", &text, ret_error);
    for (uint32_t k = 0; k < sizeof types / sizeof *types && !status; k++)
        if (!strcmp(text, types[k].name)) {
            *ret_does = types[k].does;
            return WEFT_OK;
        }
    return bad_tag(e, "type is none of s, r, rcs, rrs, rrc, rrcs, cpy, re, nop; expected one of them", ret_error);
}

/// Chunks [offset, offset + count) of a buffer that the GPU has.
static enum weft_status read_range(const struct reader *r, const struct weft__xml_element *e, const char *buffer_key,
                                   const char *offset_key, uint32_t count, uint8_t *ret_buffer, uint32_t *ret_offset,
                                   struct weft_error *ret_error) {
    const char *text, *names = "ios";
    enum weft_status status = weft__xml_text(e, buffer_key, &text, ret_error);
    if (!status) status = READ_NUMBERS(e, ret_error, {offset_key, 0, CHUNKS_MAX, ret_offset});
    if (status) return status;
    const char *found = text[0] && !text[1] ? strchr(names, *text) : NULL;
    if (!found) return WEFT_REFUSE(ret_error, e->place, "%s is none of i, o, s; expected a buffer", buffer_key);
    *ret_buffer = (uint8_t)(found - names);
    uint32_t has = r->gpu->chunks[*ret_buffer];
    if (*ret_offset + count <= has) return WEFT_OK;
    return WEFT_REFUSE(ret_error, e->place,
                       "%s=\"%" PRIu32 "\" and cnt=\"%" PRIu32 "\": expected chunks of the buffer's %" PRIu32,
                       offset_key, *ret_offset, count, has);
}

static enum weft_status read_step(struct reader *r, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct weft__msccl_block *b = r->block;
    struct weft__msccl_step s = {.count = 0, .line = e->place.line, .column = e->place.column};
    uint32_t number;
    enum weft_status status =
        READ_NUMBERS(e, ret_error, {"s", b->steps, b->steps, &number}, {"depid", -1, BLOCKS_MAX - 1, &s.after_block},
                     {"deps", -1, STEPS_MAX, &s.after});
    if (!status) status = read_type(e, &s.does, ret_error);
    if (!status && s.does) status = READ_NUMBERS(e, ret_error, {"cnt", 1, CHUNKS_MAX, &s.count});
    if (!status && s.does & WEFT__MSCCL_READS)
        status = read_range(r, e, "srcbuf", "srcoff", s.count, &s.src_buffer, &s.src, ret_error);
    if (!status && s.does & WEFT__MSCCL_KEEPS)
        status = read_range(r, e, "dstbuf", "dstoff", s.count, &s.dst_buffer, &s.dst, ret_error);
    if (status) return status;
    if (s.does & WEFT__MSCCL_SENDS && b->send == WEFT_NONE)
        return bad_tag(e, "a step that sends; expected a thread block with send", ret_error);
    if (s.does & WEFT__MSCCL_RECEIVES && b->recv == WEFT_NONE)
        return bad_tag(e, "a step that receives; expected a thread block with recv", ret_error);
    if ((s.after_block == WEFT_NONE) != (s.after == WEFT_NONE))
        return bad_tag(e, "expected -1 in both depid and deps, or in neither", ret_error);
    r->moves += s.count;
    if (r->moves > MOVES_MAX)
        return bad_tag(e, "too many chunks; expected at most 67108864 in all steps together", ret_error);
    if (r->m->steps++ == STEPS_MAX) return bad_tag(e, "too many steps; expected at most 4194304", ret_error);
    WEFT__ADD(r->arena, b->step, b->steps) = s;
    if (s.count > b->count_max) b->count_max = s.count;
    return WEFT_OK;
}

static enum weft_status begin_element(void *context, const struct weft__xml_element *e, struct weft_error *ret_error) {
    static const struct {
        const char *name;
        enum weft_status (*read)(struct reader *r, const struct weft__xml_element *e, struct weft_error *ret_error);
    } levels[] = {{"algo", read_algo}, {"gpu", read_gpu}, {"tb", read_block}, {"step", read_step}};
    if (e->depth >= sizeof levels / sizeof *levels) return bad_tag(e, "an element in a step; expected none", ret_error);
    if (!strcmp(e->name, levels[e->depth].name)) return levels[e->depth].read(context, e, ret_error);
    return WEFT_REFUSE(ret_error, e->place, "expected <%s> here", levels[e->depth].name);
}

/// Numbers of blocks in `depid` become their places in the list.
static enum weft_status resolve_block(const struct weft__msccl *m, struct weft__msccl_gpu *gpu,
                                      struct weft__msccl_step *s, struct weft_error *ret_error) {
    uint32_t k = 0;
    if (s->after == WEFT_NONE) return WEFT_OK;
    while (k < gpu->blocks && gpu->block[k].id != s->after_block)
        k++;
    if (k == gpu->blocks || s->after >= gpu->block[k].steps)
        return WEFT_REFUSE(ret_error, weft__msccl_place(m, s->line, s->column),
                           "depid=\"%" PRIu32 "\" and deps=\"%" PRIu32
                           "\": expected a step of a thread block of the GPU",
                           s->after_block, s->after);
    s->after_block = k;
    return WEFT_OK;
}

static enum weft_status on_end(void *context, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct reader *r = context;
    enum weft_status status = WEFT_OK;
    if (e->depth == 1)
        for (uint32_t b = 0; b < r->gpu->blocks; b++)
            for (uint32_t k = 0; k < r->gpu->block[b].steps && !status; k++)
                status = resolve_block(r->m, r->gpu, &r->gpu->block[b].step[k], ret_error);
    for (uint32_t g = 0; g < r->m->ranks && !e->depth && !status; g++)
        if (!r->m->gpu[g].line)
            status =
                WEFT_REFUSE(ret_error, e->place, "GPU %" PRIu32 " is missing; expected as many as ngpus says, %" PRIu32,
                            g, r->m->ranks);
    return status;
}

enum weft_status weft__msccl_read(const char *path, struct weft_place place, struct weft_arena *arena,
                                  struct weft__msccl **ret_program, struct weft_error *ret_error) {
    static const struct weft__xml_handler handler = {.begin = begin_element, .end = on_end};
    struct reader r = {.arena = arena, .m = weft_arena_alloc(arena, 1, sizeof *r.m)};
    r.m->file = weft_arena_text(arena, path);
    *ret_program = r.m;
    enum weft_status status = weft__xml_read(r.m->file, place, &handler, &r, ret_error);
    if (!status && !r.m->steps)
        status = WEFT_REFUSE(ret_error, (struct weft_place){.file = r.m->file, .line = 1, .column = 1},
                             "no step is in it; expected some");
    return status ? status : weft__msccl_match(r.m, ret_error);
}
