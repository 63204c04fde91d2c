// SPDX-License-Identifier: Apache-2.0
// Whether a program of MSCCL computes the right result, checked before any simulation. Each chunk of each GPU's input
// is a random 64-bit number, a reduction is their sum modulo 2^64, and 0 is an empty chunk: a wrong program ends with
// the right sums with a probability of 2^-64. It is executed in two orders, because thread blocks of a GPU run in
// parallel.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "import/msccl/msccl.h"

// --- who sends to whom --------------------------------------------------------------------------------------------

static uint32_t find_block(const struct weft__msccl_gpu *gpu, bool receives, uint32_t peer, uint32_t channel) {
    for (uint32_t k = 0; k < gpu->blocks; k++)
        if (gpu->block[k].channel == channel && (receives ? gpu->block[k].recv : gpu->block[k].send) == peer) return k;
    return WEFT_NONE;
}

/// The next step from *k on that sends, or receives; NULL: there is none.
static const struct weft__msccl_step *next_of(const struct weft__msccl_block *b, uint8_t does, uint32_t *k) {
    while (b && *k < b->steps && !(b->step[*k].does & does))
        ++*k;
    return b && *k < b->steps ? &b->step[(*k)++] : NULL;
}

static enum weft_status match_steps(const struct weft__msccl *m, const struct weft__msccl_block *sender,
                                    const struct weft__msccl_block *receiver, struct weft_error *ret_error) {
    uint32_t at = 0, other = 0;
    for (;;) {
        const struct weft__msccl_step *send = next_of(sender, WEFT__MSCCL_SENDS, &at);
        const struct weft__msccl_step *recv = next_of(receiver, WEFT__MSCCL_RECEIVES, &other);
        if (!send && !recv) return WEFT_OK;
        const struct weft__msccl_step *own = send ? send : recv;
        if (!send || !recv)
            return WEFT_REFUSE(ret_error, weft__msccl_place(m, own->line, own->column),
                               send ? "no step of GPU %" PRIu32 " receives it in channel %" PRIu32 "; expected one"
                                    : "no step of GPU %" PRIu32 " sends it in channel %" PRIu32 "; expected one",
                               send ? sender->send : receiver->recv, (send ? sender : receiver)->channel);
        if (send->count != recv->count)
            return WEFT_REFUSE(ret_error, weft__msccl_place(m, recv->line, recv->column),
                               "cnt=\"%" PRIu32 "\", and what it receives is sent on line %d with cnt=\"%" PRIu32
                               "\"; expected the same",
                               recv->count, send->line, send->count);
    }
}

enum weft_status weft__msccl_match(struct weft__msccl *m, struct weft_error *ret_error) {
    for (uint32_t g = 0; g < m->ranks; g++)
        for (uint32_t k = 0; k < m->gpu[g].blocks; k++) {
            struct weft__msccl_block *b = &m->gpu[g].block[k];
            b->send_block = b->send == WEFT_NONE ? WEFT_NONE : find_block(&m->gpu[b->send], true, g, b->channel);
            b->recv_block = b->recv == WEFT_NONE ? WEFT_NONE : find_block(&m->gpu[b->recv], false, g, b->channel);
            const struct weft__msccl_block *to =
                b->send_block == WEFT_NONE ? NULL : &m->gpu[b->send].block[b->send_block];
            if (b->send != WEFT_NONE) WEFT_TRY(match_steps(m, b, to, ret_error));
            if (b->recv != WEFT_NONE && b->recv_block == WEFT_NONE) WEFT_TRY(match_steps(m, NULL, b, ret_error));
        }
    return WEFT_OK;
}

// --- playing ------------------------------------------------------------------------------------------------------

struct lane {
    uint32_t gpu, block;
    uint32_t step;             ///< the next one
    uint32_t waiter, next;     ///< a list of lanes that wait for it; WEFT_NONE: the end
    uint64_t wire, put, taken; ///< what it sends: the first number, how much has been sent, and received
};

struct play {
    const struct weft__msccl *m;
    struct lane *lane;
    uint32_t *lane0; ///< [GPUs]
    uint64_t *cell0; ///< [GPUs * buffers]
    uint64_t cells;
    uint64_t *cell, *wire;
    uint32_t *ready;
    uint32_t readies;
    bool verify;
};

static const struct weft__msccl_block *block_of(const struct play *p, const struct lane *l) {
    return &p->m->gpu[l->gpu].block[l->block];
}

/// What GPU `gpu` has in chunk `chunk` of its input.
static uint64_t value_of(uint32_t gpu, uint32_t chunk) {
    uint64_t x = ((uint64_t)gpu << 32 | chunk) + UINT64_C(0x9e3779b97f4a7c15); // SplitMix64's finalizer
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/// In place, input and output are one array: a GPU's part is at its place in the whole array.
static uint64_t *cell_at(const struct play *p, uint32_t gpu, uint32_t buffer, uint32_t chunk) {
    const struct weft__msccl *m = p->m;
    uint32_t part = m->chunks / m->ranks;
    if (m->in_place && m->goal == WEFT_GOAL_ALL_GATHER && buffer == WEFT__MSCCL_INPUT) {
        buffer = WEFT__MSCCL_OUTPUT;
        chunk += gpu * part;
    } else if (m->in_place && m->goal == WEFT_GOAL_REDUCE_SCATTER && buffer == WEFT__MSCCL_OUTPUT) {
        buffer = WEFT__MSCCL_INPUT;
        chunk += gpu * part;
    } else if (m->in_place && buffer == WEFT__MSCCL_OUTPUT && m->goal != WEFT_GOAL_ALL_GATHER) {
        buffer = WEFT__MSCCL_INPUT;
    }
    uint64_t cell = p->cell0[gpu * WEFT__MSCCL_BUFFERS + buffer] + chunk;
    assert(gpu < m->ranks && cell < p->cells); // the reader has checked every step against its buffers
    return &p->cell[cell];
}

/// Chunks of the input that are full at the start.
static uint32_t input_chunks(const struct weft__msccl *m) {
    return m->goal == WEFT_GOAL_ALL_GATHER ? m->chunks / m->ranks : m->chunks;
}

/// The start of a GPU's buffer, and the total number of cells: includes room for in-place operation, whatever the file
/// says.
static uint64_t lay_out_cells(const struct weft__msccl *m, uint64_t *ret_cell0) {
    uint64_t cells = 0;
    for (uint32_t g = 0; g < m->ranks; g++)
        for (uint32_t k = 0; k < WEFT__MSCCL_BUFFERS; k++) {
            const uint32_t *chunks = m->gpu[g].chunks;
            ret_cell0[g * WEFT__MSCCL_BUFFERS + k] = cells;
            cells += k == WEFT__MSCCL_SCRATCH ? chunks[k]
                                              : chunks[WEFT__MSCCL_INPUT] + chunks[WEFT__MSCCL_OUTPUT] + m->chunks;
        }
    return cells;
}

static void lay_out(struct play *p, struct weft_arena *arena) {
    const struct weft__msccl *m = p->m;
    uint64_t wires = 0;
    uint32_t lanes = 0;
    p->lane = weft_arena_alloc(arena, m->blocks, sizeof *p->lane);
    p->ready = weft_arena_alloc(arena, m->blocks, sizeof *p->ready);
    p->lane0 = weft_arena_alloc(arena, m->ranks, sizeof *p->lane0);
    p->cell0 = weft_arena_alloc(arena, (size_t)m->ranks * WEFT__MSCCL_BUFFERS, sizeof *p->cell0);
    for (uint32_t g = 0; g < m->ranks; g++) {
        const struct weft__msccl_gpu *gpu = &m->gpu[g];
        p->lane0[g] = lanes;
        for (uint32_t b = 0; b < gpu->blocks; b++) {
            p->lane[lanes++] = (struct lane){.gpu = g, .block = b, .wire = wires};
            for (uint32_t k = 0; k < gpu->block[b].steps; k++)
                if (gpu->block[b].step[k].does & WEFT__MSCCL_SENDS) wires += gpu->block[b].step[k].count;
        }
    }
    p->cells = lay_out_cells(m, p->cell0);
    p->cell = weft_arena_alloc(arena, p->cells, sizeof *p->cell);
    p->wire = weft_arena_alloc(arena, wires, sizeof *p->wire);
}

static enum weft_status lane_fault(const struct play *p, const struct lane *l, const char *why,
                                   struct weft_error *ret_error) {
    const struct weft__msccl_step *s = &block_of(p, l)->step[l->step];
    return WEFT_REFUSE(ret_error, weft__msccl_place(p->m, s->line, s->column),
                       "GPU %" PRIu32 ", thread block %" PRIu32 ", step %" PRIu32 ": %s", l->gpu, block_of(p, l)->id,
                       l->step, why);
}

/// The lane that sends what a lane receives.
static struct lane *sender_of(const struct play *p, const struct lane *l) {
    const struct weft__msccl_block *b = block_of(p, l);
    return &p->lane[p->lane0[b->recv] + b->recv_block];
}

/// The lane that it must wait for; NULL: none.
static struct lane *waits_for(const struct play *p, const struct lane *l) {
    const struct weft__msccl_step *s = &block_of(p, l)->step[l->step];
    struct lane *before = s->after == WEFT_NONE ? NULL : &p->lane[p->lane0[l->gpu] + s->after_block];
    if (before && before->step <= s->after) return before;
    if (!(s->does & WEFT__MSCCL_RECEIVES)) return NULL;
    struct lane *sender = sender_of(p, l);
    return sender->put == sender->taken ? sender : NULL;
}

static enum weft_status do_step(struct play *p, struct lane *l, struct weft_error *ret_error) {
    const struct weft__msccl_step *s = &block_of(p, l)->step[l->step];
    struct lane *sender = s->does & WEFT__MSCCL_RECEIVES ? sender_of(p, l) : NULL;
    for (uint32_t k = 0; k < s->count; k++) {
        uint64_t *dst = s->does & WEFT__MSCCL_KEEPS ? cell_at(p, l->gpu, s->dst_buffer, s->dst + k) : NULL, value = 0;
        if (sender) value += p->wire[sender->wire + sender->taken++];
        uint64_t read = s->does & WEFT__MSCCL_READS ? *cell_at(p, l->gpu, s->src_buffer, s->src + k) : 1;
        if (p->verify && (!read || (s->does & WEFT__MSCCL_ADDS && !*dst)))
            return lane_fault(p, l,
                              "it reads a chunk that nothing has been put into; expected one that is full (verify: off "
                              "executes it all the same)",
                              ret_error);
        if (s->does & WEFT__MSCCL_READS) value += read;
        if (s->does & WEFT__MSCCL_ADDS) value += *dst;
        if (dst) *dst = value;
        if (s->does & WEFT__MSCCL_SENDS) p->wire[l->wire + l->put++] = value;
    }
    return WEFT_OK;
}

static void wake_waiters(struct play *p, struct lane *l) {
    for (; l->waiter != WEFT_NONE; l->waiter = p->lane[l->waiter].next)
        p->ready[p->readies++] = l->waiter;
}

static enum weft_status run_lane(struct play *p, uint32_t number, struct weft_error *ret_error) {
    struct lane *l = &p->lane[number];
    for (uint32_t steps = block_of(p, l)->steps; l->step < steps;) {
        struct lane *before = waits_for(p, l);
        if (before) {
            l->next = before->waiter;
            before->waiter = number;
            return WEFT_OK;
        }
        WEFT_TRY(do_step(p, l, ret_error));
        l->step++;
        wake_waiters(p, l);
    }
    return WEFT_OK;
}

static void fill_input(struct play *p) {
    memset(p->cell, 0, p->cells * sizeof *p->cell);
    for (uint32_t g = 0; g < p->m->ranks; g++)
        for (uint32_t c = 0; c < input_chunks(p->m); c++)
            *cell_at(p, g, WEFT__MSCCL_INPUT, c) = value_of(g, c);
}

static enum weft_status run_all(struct play *p, bool backwards, struct weft_error *ret_error) {
    uint32_t lanes = p->m->blocks;
    fill_input(p);
    for (uint32_t k = 0; k < lanes; k++) {
        struct lane *l = &p->lane[k];
        l->step = 0;
        l->put = l->taken = 0;
        l->waiter = WEFT_NONE;
        p->ready[k] = backwards ? k : lanes - 1 - k;
    }
    p->readies = lanes;
    while (p->readies)
        WEFT_TRY(run_lane(p, p->ready[--p->readies], ret_error));
    for (uint32_t k = 0; k < lanes; k++)
        if (p->lane[k].step < block_of(p, &p->lane[k])->steps)
            WEFT_TRY(lane_fault(p, &p->lane[k], "it waits for ever, as others wait for it", ret_error));
    return WEFT_OK;
}

// --- what there should be -----------------------------------------------------------------------------------------

bool weft__msccl_is_known(const struct weft__msccl *m) {
    return m->goal != WEFT_GOAL_OTHER && m->goal != WEFT_GOAL_BROADCAST && m->goal != WEFT_GOAL_REDUCE;
}

static uint64_t expected_value(const struct weft__msccl *m, const uint64_t *sums, uint32_t gpu, uint32_t chunk) {
    uint32_t part = m->chunks / m->ranks;
    switch (m->goal) {
    case WEFT_GOAL_ALL_REDUCE:
        return sums[chunk];
    case WEFT_GOAL_REDUCE_SCATTER:
        return sums[gpu * part + chunk];
    case WEFT_GOAL_ALL_GATHER:
        return value_of(chunk / part, chunk % part);
    default:
        return value_of(chunk / part, gpu * part + chunk % part); // for an exchange
    }
}

static enum weft_status check_output(const struct play *p, const uint64_t *sums, struct weft_error *ret_error) {
    const struct weft__msccl *m = p->m;
    uint32_t chunks = m->goal == WEFT_GOAL_REDUCE_SCATTER ? m->chunks / m->ranks : m->chunks;
    for (uint32_t g = 0; g < m->ranks; g++)
        for (uint32_t c = 0; c < chunks; c++) {
            uint64_t has = *cell_at(p, g, WEFT__MSCCL_OUTPUT, c);
            if (has == expected_value(m, sums, g, c)) continue;
            return WEFT_REFUSE(ret_error, weft__msccl_place(m, m->gpu[g].line, 1),
                               "GPU %" PRIu32 " ends with %s chunk %" PRIu32
                               " of its output; expected what coll says (verify: off executes it all the same)",
                               g, has ? "something else in" : "nothing in", c);
        }
    return WEFT_OK;
}

enum weft_status weft__msccl_play(const struct weft__msccl *m, bool verify, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct play p = {.m = m, .verify = verify && weft__msccl_is_known(m)};
    lay_out(&p, arena);
    uint64_t *sums = weft_arena_alloc(arena, m->chunks, sizeof *sums);
    for (uint32_t g = 0; g < m->ranks; g++)
        for (uint32_t c = 0; c < m->chunks; c++)
            sums[c] += value_of(g, c);
    for (uint32_t order = 0; order < 2; order++) {
        WEFT_TRY(run_all(&p, order, ret_error));
        if (p.verify) WEFT_TRY(check_output(&p, sums, ret_error));
    }
    return WEFT_OK;
}
