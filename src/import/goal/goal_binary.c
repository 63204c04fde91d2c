// SPDX-License-Identifier: Apache-2.0
// GOAL in its binary form. Sections are read in the order of the file, which is that of the ranks.
#include <inttypes.h>
#include <stdarg.h>

#include "base/grow.h"
#include "goal.h"

struct reader {
    struct weft__goal_input *in;
    struct weft_schedule_builder b;
    uint64_t begin, end; ///< of the current section, from the beginning of the file
    struct weft_error *error;
};

/// References of a node to others, until the appendix is read.
struct links {
    struct {
        uint32_t first, n;
    } of[2];        ///< where its dependents are: on its finish, on its start
    uint32_t waits; ///< nodes that it waits for, less those that have been found
};

#define FAIL(r, at, ...) fail_at(r, at, __VA_ARGS__)
static __attribute__((format(printf, 3, 4))) enum weft_status fail_at(const struct reader *r, uint64_t at,
                                                                      const char *format, ...) {
    char why[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return WEFT_REFUSE(r->error, WEFT_NOWHERE, "%s: byte %" PRIu64 ": %s", r->in->name, at, why);
}

static uint32_t u32_at(const unsigned char *b) {
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}
static uint64_t u64_at(const unsigned char *b) {
    return u32_at(b) | (uint64_t)u32_at(b + 4) << 32;
}

static enum weft_status need_bytes(const struct reader *r, size_t n) {
    size_t have = weft__goal_fill(r->in, n);
    if (have >= n) return WEFT_OK;
    return FAIL(r, r->in->at + have, "the file ends; expected %zu bytes more", n - have);
}

/// `left`: of the appendix, which nodes do not share.
static enum weft_status take_node(struct reader *r, uint64_t appendix, uint64_t *left, struct links *ret_links) {
    WEFT_TRY(need_bytes(r, WEFT__GOAL_NODE));
    const unsigned char *b = weft__goal_bytes(r->in);
    uint64_t at = r->in->at;
    struct weft_schedule_step step = {
        .kind = b[4], .peer = u32_at(b + 5), .size = u64_at(b + 9), .tag = u32_at(b + 17), .cpu = b[21], .nic = b[22]};
    if (step.kind < WEFT_SCHEDULE_SEND || step.kind > WEFT_SCHEDULE_COMPUTE)
        return FAIL(r, at + 4, "an operation of kind %u; expected 1 (send), 2 (recv) or 3 (calc)", step.kind);
    if (step.kind == WEFT_SCHEDULE_COMPUTE) {
        if (step.size > WEFT_TIME_MAX / 1000)
            return FAIL(r, at + 9, "a calc of %" PRIu64 " ns; expected at most 100 days", step.size);
        step.size *= 1000;
        step.peer = step.tag = 0;
    }
    ret_links->waits = u32_at(b);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t n = u32_at(b + 23 + 8 * k), first = u32_at(b + 27 + 8 * k);
        if (n && (uint64_t)first + n > appendix)
            return FAIL(r, at + 23 + 8 * k,
                        "%" PRIu32 " dependents from number %" PRIu32 " of the appendix on, which "
                        "has %" PRIu64,
                        n, first, appendix);
        if (n > *left) return FAIL(r, at + 23 + 8 * k, "more dependents than the appendix has, %" PRIu64, appendix);
        *left -= n;
        ret_links->of[k].first = first;
        ret_links->of[k].n = n;
    }
    weft__goal_take(r->in, WEFT__GOAL_NODE);
    if (!weft_schedule_add(&r->b, &step)) return FAIL(r, at, "expected at most 2^30 operations of a rank");
    return WEFT_OK;
}

static enum weft_status add_edges(struct reader *r, uint32_t nodes, struct links *links, const uint32_t *appendix,
                                  uint64_t appendix_at) {
    for (uint32_t i = 0; i < 2 * nodes; i++)
        for (uint32_t k = 0; k < links[i / 2].of[i % 2].n; k++) {
            uint32_t number = links[i / 2].of[i % 2].first + k, to = appendix[number];
            if (to >= nodes)
                return FAIL(r, appendix_at + 4 * (uint64_t)number,
                            "node %" PRIu32 "; expected one of the rank's %" PRIu32, to, nodes);
            if (!links[to].waits--)
                return FAIL(r, appendix_at + 4 * (uint64_t)number,
                            "node %" PRIu32 " depends on more nodes than it says; expected as many", to);
            if (!weft_schedule_add_edge(&r->b, i / 2, to, i % 2))
                return FAIL(r, appendix_at, "expected at most 2^30 dependencies of a rank");
        }
    return WEFT_OK;
}

/// Checks that each node has as many dependencies as it states.
static enum weft_status check_waits(const struct reader *r, uint32_t nodes, const struct links *links,
                                    uint64_t nodes_at) {
    for (uint32_t i = 0; i < nodes; i++)
        if (links[i].waits)
            return FAIL(r, nodes_at + WEFT__GOAL_NODE * (uint64_t)i,
                        "the node waits for %" PRIu32 " dependencies more than others have it as their dependent",
                        links[i].waits);
    return WEFT_OK;
}

/// Reads the appendix, whose size may be wrong, so memory grows while it is read.
static enum weft_status take_appendix(struct reader *r, uint64_t n, uint32_t **ret, size_t *ret_room) {
    for (uint64_t k = 0; k < n; k++) {
        WEFT_TRY(need_bytes(r, 4));
        *ret = weft__memory_grow_to(*ret, k + 1, ret_room, sizeof **ret);
        (*ret)[k] = u32_at(weft__goal_bytes(r->in));
        weft__goal_take(r->in, 4);
    }
    return WEFT_OK;
}

static enum weft_status take_nodes(struct reader *r, uint32_t nodes, uint64_t appendix, struct links **ret,
                                   size_t *ret_room) {
    uint64_t left = appendix;
    for (uint32_t i = 0; i < nodes; i++) {
        *ret = weft__memory_grow_to(*ret, (size_t)i + 1, ret_room, sizeof **ret);
        WEFT_TRY(take_node(r, appendix, &left, &(*ret)[i]));
    }
    return WEFT_OK;
}

static enum weft_status read_section(struct reader *r) {
    enum weft_status status = need_bytes(r, 8);
    if (status) return status;
    uint32_t nodes = u32_at(weft__goal_bytes(r->in)), roots = u32_at(weft__goal_bytes(r->in) + 4);
    uint64_t size = r->end - r->begin, own = 8 + 4 * (uint64_t)roots + WEFT__GOAL_NODE * (uint64_t)nodes;
    if (roots > nodes) return FAIL(r, r->begin + 4, "%" PRIu32 " roots of %" PRIu32 " nodes", roots, nodes);
    if (own > size || (size - own) % 4)
        return FAIL(r, r->begin, "%" PRIu32 " nodes and %" PRIu32 " roots in a section of %" PRIu64 " bytes", nodes,
                    roots, size);
    weft__goal_take(r->in, 8);
    for (uint32_t i = 0; i < roots && !status; i++) { // those without dependencies, which are already known
        status = need_bytes(r, 4);
        if (!status) weft__goal_take(r->in, 4);
    }
    uint64_t nodes_at = r->in->at, appendix = (size - own) / 4;
    struct links *links = NULL;
    uint32_t *number = NULL;
    size_t rooms = 0, numbers = 0;
    if (!status) status = take_nodes(r, nodes, appendix, &links, &rooms);
    if (!status) status = take_appendix(r, appendix, &number, &numbers);
    if (!status) status = add_edges(r, nodes, links, number, r->end - 4 * appendix);
    if (!status) status = check_waits(r, nodes, links, nodes_at);
    if (!status) weft_schedule_end_rank(&r->b, nodes_at);
    weft_memory_free(WEFT_MEMORY_SCENARIO, links, rooms * sizeof *links);
    weft_memory_free(WEFT_MEMORY_SCENARIO, number, numbers * sizeof *number);
    return status;
}

/// Sections are consecutive, so `end` of each is where the next begins.
static enum weft_status read_table(struct reader *r, uint32_t ranks, uint64_t *end) {
    uint64_t last = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        WEFT_TRY(need_bytes(r, 16));
        const unsigned char *b = weft__goal_bytes(r->in);
        uint64_t at = r->in->at, begin = u64_at(b);
        end[rank] = u64_at(b + 8);
        uint64_t expected = rank ? last : 6 + 16 * (uint64_t)ranks;
        if (begin != expected)
            return FAIL(r, at,
                        "rank %" PRIu32 " begins at %" PRIu64 "; expected where what is before it ends, %" PRIu64, rank,
                        begin, expected);
        if (end[rank] < begin || end[rank] - begin < 8 || end[rank] >= UINT64_MAX - 8)
            return FAIL(r, at + 8, "rank %" PRIu32 " ends at %" PRIu64 "; expected at least 8 bytes after its begin",
                        rank, end[rank]);
        last = end[rank];
        weft__goal_take(r->in, 16);
    }
    return WEFT_OK;
}

static enum weft_status read_ranks(struct reader *r, uint32_t ranks) {
    WEFT_FREED uint64_t *end = weft_memory_new(WEFT_MEMORY_SCENARIO, ranks, sizeof *end);
    enum weft_status status = read_table(r, ranks, end);
    for (uint32_t rank = 0; rank < ranks && !status; rank++) {
        r->begin = r->in->at;
        r->end = WEFT__GOAL_FIRST + end[rank];
        status = read_section(r);
    }
    if (!status && weft__goal_fill(r->in, 1))
        return FAIL(r, r->in->at, "more than its ranks; expected the end of the file");
    return status;
}

enum weft_status weft__goal_read_binary(struct weft__goal_input *in, struct weft_arena *arena,
                                        struct weft_schedule **ret_schedule, struct weft_error *ret_error) {
    struct reader r = {.in = in, .error = ret_error};
    WEFT_TRY(need_bytes(&r, WEFT__GOAL_FIRST + 6));
    uint32_t ranks = u32_at(weft__goal_bytes(in) + WEFT__GOAL_FIRST);
    if (!ranks || ranks > WEFT_SCHEDULE_RANKS_MAX)
        return FAIL(&r, WEFT__GOAL_FIRST, "%" PRIu32 " ranks; expected 1 to 16777216", ranks);
    weft__goal_take(in, WEFT__GOAL_FIRST + 6); // the numbers of CPUs and NICs come from the nodes
    weft_schedule_begin(&r.b, in->name, ranks, arena);
    enum weft_status status = read_ranks(&r, ranks);
    *ret_schedule = weft_schedule_end(&r.b);
    return status;
}
