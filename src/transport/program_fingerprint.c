// SPDX-License-Identifier: Apache-2.0
// Ranks of jobs that repeat: the numbers that determine their future.
#include <string.h>

#include "base/digest.h"
#include "transport/program.h"

static const struct weft__program *program_at(const struct weft__endpoint *end, uint32_t k) {
    return &weft__programs_of(end)->program[end->gpu->program[k]];
}

bool weft__gpu_counts(const struct weft__endpoint *end, uint32_t key) {
    for (uint32_t k = 0; k < end->gpu->programs; k++)
        if (key == program_at(end, k)->key0) return program_at(end, k)->started;
    return true;
}

// --- what they depend on ------------------------------------------------------------------------------------------

static void mix_lane(const struct weft__lane *lane, struct weft__fingerprint *s) {
    weft__fingerprint_mix(s, lane->index);
    weft__fingerprint_mix(s, lane->wait_steps);
    weft__fingerprint_mix(s, (uint64_t)lane->wait_lane << 32 | lane->waiter);
    weft__fingerprint_mix(s, (uint64_t)lane->next_waiter << 2 | (uint64_t)lane->found << 1 | lane->timed);
    const weft_time_ps enough = WEFT_PS_PER_MS; // longer than any step
    weft_time_ps since = lane->free_ps < s->now_ps ? s->now_ps - lane->free_ps : 0;
    weft__fingerprint_mix(s, since < enough ? since : enough);
}

static void mix_stream(const struct weft__program *p, uint32_t c, struct weft__fingerprint *s) {
    const struct weft__stream *st = &p->stream[c];
    weft__fingerprint_mix_into(s->within, st->finished - p->iteration * weft__program_stage(p)->order[c].turns);
    weft__fingerprint_mix(s, (uint64_t)(st->queued - st->finished) << 32 | st->lanes_left);
    weft__fingerprint_mix(s, st->launches);
    if (!st->lanes_left) return;
    weft__fingerprint_mix(s, (uint64_t)p->kind[st->op - p->job->op] << 32 | st->part);
    for (uint32_t k = 0; k < st->op->ops->lanes(st->op->conf, &st->op->shape); k++)
        mix_lane(&st->lane[k], s);
}

/// If none waits, it does not matter which stream the last wait was for.
static uint64_t waiting_lane(uint32_t stream, uint32_t lane) {
    return lane == WEFT_NONE ? WEFT_NONE : (uint64_t)lane << 32 | stream;
}

/// Counts of messages, relative to one another.
static void mix_connections(const struct weft__program *p, struct weft__fingerprint *s) {
    for (uint32_t k = 0; k < p->sendings; k++) {
        const struct weft__sending *c = &p->sending[k];
        weft__fingerprint_mix(s, waiting_lane(c->stream, c->lane));
        if (c->qp == WEFT_NONE || !p->job->unadmitted) weft__fingerprint_mix(s, c->granted - c->filled);
        if (c->qp == WEFT_NONE) continue;
        weft__fingerprint_mix(s, (uint64_t)(c->filled - c->posted) << 32 | (c->filled - c->acked));
        weft__fingerprint_mix(s, c->filled - c->handed);
        weft__fingerprint_mix(s, c->filled % c->qps);
    }
    for (uint32_t k = 0; k < p->receivings; k++) {
        const struct weft__receiving *c = &p->receiving[k];
        weft__fingerprint_mix(s, waiting_lane(c->stream, c->lane));
        weft__fingerprint_mix(s, c->arrived - c->consumed);
        if (c->qp == WEFT_NONE || p->job->unadmitted) continue; // nothing needs a clear-to-send
        weft__fingerprint_mix(s, (uint64_t)(c->due - c->consumed) << 32 | (c->posted - c->consumed));
    }
}

/// The kind of what is next.
uint64_t weft__program_kind_at(const struct weft__program *p, uint32_t turn) {
    const struct weft_job_stage *stage = weft__program_stage(p);
    return turn == stage->turns ? UINT64_MAX : (uint64_t)stage->turn[turn].part << 32 | p->kind[stage->turn[turn].op];
}

/// The position of a program. Programs of a job are adjacent, and their iterations are relative to the first one's.
static void mix_position(const struct weft__program *p, struct weft__fingerprint *s) {
    weft__fingerprint_mix_into(s->within, (uint64_t)(p->iteration - (p - p->rank)->iteration) << 32 | p->turn);
    weft__fingerprint_mix(s, weft__program_kind_at(p, p->turn));
    weft__fingerprint_mix(s, (uint64_t)p->started | (uint64_t)p->computed << 1 | (uint64_t)p->stepping << 2 |
                                 (uint64_t)p->done << 3 | (uint64_t)p->waits_for << 32);
    for (uint32_t c = 0; c < p->job->communicators; c++)
        mix_stream(p, c, s);
    mix_connections(p, s);
}

void weft__programs_fingerprint(const struct weft__programs *programs, const struct weft__gpu *gpu,
                                struct weft__fingerprint *s) {
    for (uint32_t k = 0; k < gpu->programs; k++)
        mix_position(&programs->program[gpu->program[k]], s);
}

static void mix_program(const struct weft__program *p, struct weft__fingerprint *s) {
    uint64_t bits[2];
    memcpy(&bits[0], &p->compute_left_ps, sizeof bits[0]);
    memcpy(&bits[1], &p->compute_speed, sizeof bits[1]);
    mix_position(p, s);
    weft__fingerprint_mix_until(s, p->proxy_free_ps);
    if (p->compute_speed > 0) {
        weft__fingerprint_mix(s, bits[0]);
        weft__fingerprint_mix(s, bits[1]);
        weft__fingerprint_mix_since(s, p->compute_from_ps);
    }
    if (p->waits_for != WEFT_NONE) weft__fingerprint_mix_since(s, p->waiting_since_ps);
    for (uint32_t k = 0; k < p->sendings; k++) {
        const struct weft__sending *c = &p->sending[k];
        for (uint32_t m = c->posted; c->qp != WEFT_NONE && m < c->handed; m++)
            weft__fingerprint_mix_since(s, c->handed_ps[m % c->slots]);
    }
    struct weft__fifo_cursor cursor = weft__fifo_begin(&p->handing);
    for (const struct weft_packet *m; (m = weft__fifo_next(&cursor));) {
        weft__fingerprint_mix(s, m->qp);
        weft__fingerprint_mix_until(s, m->time_ps);
    }
    for (uint32_t k = 0; k < p->receivings; k++) {
        const struct weft__receiving *c = &p->receiving[k];
        // All that the next check needs (weft__message_look): if anything has arrived since the last one, it ignores
        // the rest.
        uint64_t before = c->arrived != c->arrived_before ? UINT64_MAX : c->doublings;
        weft__fingerprint_mix_into(s->looks, before);
        weft__fingerprint_mix_into(s->kept, before);
    }
}

void weft__gpu_fingerprint(const struct weft__endpoint *end, struct weft__fingerprint *s) {
    for (uint32_t k = 0; k < end->gpu->ports; k++) {
        const struct weft__inner_port *port = &end->gpu->port[k];
        weft__fingerprint_mix_until(s, port->out_free_ps + port->lead_ps);
        weft__fingerprint_mix_until(s, port->in_free_ps + port->lead_ps);
        weft__fingerprint_mix_until(s, port->data_last_ps);
        weft__fingerprint_mix_until(s, port->credit_last_ps);
        weft__fingerprint_mix(s, port->in.n);
    }
    for (uint32_t k = 0; k < end->gpu->programs; k++)
        mix_program(program_at(end, k), s);
}
