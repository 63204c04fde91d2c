// SPDX-License-Identifier: Apache-2.0
// A run over several processes. Each reads the scenario and builds what all have in common (topology, routes, queue
// pairs, programs, an empty outcome) at the same addresses (base/image.h), then builds the devices of its own part and
// runs that. At the end rank 0 takes over what the others have built and changed. It then has exactly what a single
// process would have, so everything computed from it is independent of ranks.
#include "weft/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/image.h"
#include "box/box.h"
#include "engine/ranks.h"
#include "sim/run.h"
#include "transport/endpoint.h"
#include "transport/program.h"
#include "transport/rma.h"
#include "weft/checkpoint.h"
#include "weft/memory.h"

/// The last packet of a message: its part, and the step of a schedule.
struct message {
    uint32_t at, slot; ///< in the connection's rings: at of parts, slot of messages
    struct weft__span span;
    uint32_t step;
};
/// The same for remote memory access.
struct rma_message {
    uint32_t slot;
    struct weft__rma_message message;
};
_Static_assert(sizeof(struct message) <= WEFT__COMPANION_BYTES, "fits");
_Static_assert(sizeof(struct rma_message) <= WEFT__COMPANION_BYTES, "fits");
_Static_assert(64 * sizeof(weft_time_ps) <= WEFT__COMPANION_BYTES, "as many slots as a connection may have");

static struct weft__rma_pipe *pipe_of(const struct weft__hosts *hosts, uint32_t qp, uint32_t *ret_slots) {
    struct weft__rma_connection *c = &hosts->rmas->connection[hosts->rmas->of_flow[hosts->qp[qp].flow]];
    *ret_slots = c->slots;
    return c->request.qp == qp ? &c->request : &c->answer;
}

static uint32_t give_rma(const struct weft__hosts *hosts, const struct weft_packet *p, unsigned char *ret) {
    uint32_t slots;
    const struct weft__rma_pipe *pipe = pipe_of(hosts, p->qp, &slots);
    struct rma_message m = {0};
    while (pipe->message[m.slot].psn_end != p->psn + 1)
        if (++m.slot == slots) return 0; // retransmitted after it was acknowledged: nobody reads it
    m.message = pipe->message[m.slot];
    memcpy(ret, &m, sizeof m);
    return sizeof m;
}

static uint32_t give_message(const struct weft__sending *s, const struct weft_packet *p, unsigned char *ret) {
    uint32_t carrier = p->qp - s->qp;
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        uint32_t at = slot * s->parts + (s->parts == 1 ? 0 : carrier);
        if (s->span[at].psn_end != p->psn + 1 || s->span[at].carrier != carrier) continue;
        struct message m = {at, slot, s->span[at], s->sends ? s->sends->step[slot] : 0};
        memcpy(ret, &m, sizeof m);
        return sizeof m;
    }
    return 0;
}

/// For a packet of a job, or of remote memory access by software: returns how many bytes were put into `ret`, which has
/// room for WEFT__COMPANION_BYTES.
static uint32_t give_companions(const struct weft__hosts *hosts, const struct weft_packet *p, unsigned char *ret) {
    if (p->kind == WEFT_PACKET_DATA && p->flags & WEFT_PACKET_LAST) {
        if (hosts->rmas && hosts->flow[hosts->qp[p->qp].flow].rma) return give_rma(hosts, p, ret);
        const struct weft__sending *s = hosts->carrier ? hosts->carrier[p->qp].sending : NULL;
        return s ? give_message(s, p, ret) : 0;
    }
    if (p->kind == WEFT_PACKET_CTS) {
        const struct weft__sending *s = hosts->carrier[p->qp].sending;
        uint32_t n = s->slots * (uint32_t)sizeof(weft_time_ps);
        memcpy(ret, hosts->programs->wire[s->connection].granted_ps, n);
        return n;
    }
    if (p->kind != WEFT_PACKET_SERVER || p->flags) return 0;
    const struct weft__sending *s = hosts->programs->wire[p->qp].sending;
    if (!s->sends) return 0;
    memcpy(ret, &s->sends->step[p->dst % s->slots], sizeof *s->sends->step);
    return sizeof *s->sends->step;
}

static void take_message(struct weft__sending *s, const unsigned char *bytes) {
    struct message m;
    memcpy(&m, bytes, sizeof m);
    s->span[m.at] = m.span;
    if (s->sends) s->sends->step[m.slot] = m.step;
}

static void take_companions(const struct weft__hosts *hosts, const struct weft_packet *p, const unsigned char *bytes,
                            uint32_t n) {
    uint32_t slots;
    struct rma_message m;
    if (p->kind == WEFT_PACKET_SERVER) {
        const struct weft__sending *s = hosts->programs->wire[p->qp].sending;
        memcpy(&s->sends->step[p->dst % s->slots], bytes, n);
    } else if (p->kind == WEFT_PACKET_CTS) {
        memcpy(hosts->programs->wire[hosts->carrier[p->qp].sending->connection].granted_ps, bytes, n);
    } else if (hosts->rmas && hosts->flow[hosts->qp[p->qp].flow].rma) {
        memcpy(&m, bytes, sizeof m);
        pipe_of(hosts, p->qp, &slots)->message[m.slot] = m.message;
    } else {
        take_message(hosts->carrier[p->qp].sending, bytes);
    }
}

// --- afterwards ---------------------------------------------------------------------------------------------------

static void forget_sending(const struct weft__sending *s) {
    if (s->span) weft__image_forget(s->span, (size_t)s->slots * s->parts * sizeof *s->span);
    if (s->sends) weft__image_forget(s->sends->step, s->slots * sizeof *s->sends->step);
}

static void forget_pipe(const struct weft__rma_pipe *pipe, uint32_t slots) {
    weft__image_forget(pipe->message, slots * sizeof *pipe->message);
}

/// After the run: clears what was written here for others to read, where `owns` says that it is not this rank's.
static void forget_companions(const struct weft__hosts *hosts, bool (*owns)(const void *context, uint32_t host),
                              const void *context) {
    const struct weft__programs *programs = hosts->programs;
    for (uint32_t i = 0; programs && i < programs->n; i++) {
        const struct weft__program *p = &programs->program[i];
        bool own = owns(context, p->job->host[p->rank]);
        for (uint32_t k = 0; !own && k < p->sendings; k++)
            forget_sending(&p->sending[k]);
        for (uint32_t k = 0; !own && k < p->receivings; k++) {
            weft_time_ps *granted_ps = programs->wire[p->receiving[k].connection].granted_ps;
            if (granted_ps) weft__image_forget(granted_ps, p->receiving[k].slots * sizeof *granted_ps);
        }
    }
    for (uint32_t i = 0; hosts->rmas && i < hosts->rmas->connections; i++) {
        const struct weft__rma_connection *c = &hosts->rmas->connection[i];
        if (!owns(context, hosts->qp[c->request.qp].src)) forget_pipe(&c->request, c->slots);
        if (!owns(context, hosts->qp[c->answer.qp].src)) forget_pipe(&c->answer, c->slots);
    }
}

/// Precedes the memory of a rank.
struct account {
    uint64_t own_bytes, change_words;
    struct weft_rank_outcome of; ///< host: below
    char host[64];
};

void weft_ranks_meet(struct weft_ranks *ranks, const struct weft_ranks_word *own, struct weft_ranks_word *ret_word) {
    struct weft_parcel *parcel = calloc(2 * (size_t)ranks->n, sizeof *parcel);
    if (!parcel) weft_memory_fail();
    for (uint32_t r = 0; r < ranks->n; r++) // only read
        parcel[r] = (struct weft_parcel){(unsigned char *)(uintptr_t)own, sizeof *own, sizeof *own};
    ranks->exchange(ranks, parcel, parcel + ranks->n);
    for (uint32_t r = 0; r < ranks->n; r++) {
        ret_word[r] = *own;
        if (r != ranks->self) memcpy(&ret_word[r], parcel[ranks->n + r].bytes, sizeof *ret_word);
        ranks->over |= ret_word[r].ended != 0;
        free(parcel[ranks->n + r].bytes);
    }
    free(parcel);
}

enum weft_status weft__ranks_meet(struct weft_ranks *ranks, const struct weft_ranks_word *own,
                                  struct weft_ranks_word *ret_word, struct weft_error *ret_error) {
    weft_ranks_meet(ranks, own, ret_word);
    for (uint32_t r = 0; r < ranks->n; r++)
        if (ret_word[r].ended) {
            enum weft_status status = ret_word[r].status ? ret_word[r].status : WEFT_ERROR_SYSTEM;
            return weft_error_set(ret_error, status, WEFT_NOWHERE, "rank %u ended before the run: %s", r,
                                  *ret_word[r].text ? ret_word[r].text : "it was not told why");
        }
    return WEFT_OK;
}

enum weft_status weft__ranks_begin(struct weft__run *run, struct weft_error *ret_error) {
    struct weft_ranks *ranks = run->options.ranks;
    struct weft_ranks_word *word = weft_arena_alloc(run->net.arena_switch, ranks->n, sizeof *word);
    struct weft_ranks_word own = {.threads = run->options.threads ? run->options.threads : 1};
    enum weft_status status = weft__ranks_meet(ranks, &own, word, ret_error);
    for (uint32_t r = 0; r < ranks->n; r++)
        if (word[r].threads < own.threads) own.threads = word[r].threads;
    run->options.threads = own.threads;
    if (!status && own.threads * ranks->n > WEFT__WORKERS_MAX) {
        ranks->over = true; // all ranks find the same
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%u ranks of %u threads; expected at most %d threads in all",
                             ranks->n, own.threads, WEFT__WORKERS_MAX);
    }
    return status;
}

// --- what goes with packets ---------------------------------------------------------------------------------------

/// A cell's queue pair has other bits beside it.
static struct weft_packet without_cell(const struct weft__network *net, const struct weft_packet *p) {
    const struct weft_topology *t = net->topology;
    struct weft_packet packet = *p;
    uint32_t mask = p->node < t->nodes ? weft__box_of(&t->node[p->node])->qp_mask : 0;
    if (mask) packet.qp &= mask;
    return packet;
}

static uint32_t give_record(void *context, const struct weft_packet *p, unsigned char *room,
                            const unsigned char **ret) {
    struct weft__network *net = context;
    const struct weft__shared *shared;
    uint32_t n = 0;
    if (p->kind != WEFT_PACKET_CONTROL) {
        const struct weft_packet packet = without_cell(net, p);
        return net->hosts.programs || net->hosts.rmas ? give_companions(&net->hosts, &packet, room) : 0;
    }
    for (uint32_t kind = 0; !n && (shared = weft__shared_next(net, &kind)); kind++)
        if (shared->give) n = shared->give(net, p, ret);
    return n;
}

static bool has_companions(const struct weft__network *net) {
    const struct weft__shared *shared;
    bool has = net->hosts.programs || net->hosts.rmas;
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++)
        has |= shared->give != NULL;
    return has;
}

static void take_record(void *context, const struct weft_packet *p, const unsigned char *bytes, uint32_t n) {
    struct weft__network *net = context;
    const struct weft__shared *shared;
    if (p->kind != WEFT_PACKET_CONTROL) {
        const struct weft_packet packet = without_cell(net, p);
        take_companions(&net->hosts, &packet, bytes, n);
        return;
    }
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++)
        if (shared->take) shared->take(net, p, bytes, n);
}

enum weft_status weft__ranks_part(struct weft__run *run, struct weft_error *ret_error) {
    struct weft__network *net = &run->net;
    struct weft_ranks *ranks = run->options.ranks;
    struct weft_ranks_word *word = calloc(ranks->n, sizeof *word);
    if (!word) weft_memory_fail();
    struct weft__companions *companions = weft_arena_alloc(net->arena_qp, 1, sizeof *companions);
    *companions = (struct weft__companions){.context = net, .give = give_record, .take = take_record};
    if (has_companions(net)) net->engine.conf.companions = companions;
    struct weft_ranks_word own = {.layout = weft__image_layout(), .threads = run->options.threads};
    enum weft_status status = weft__ranks_meet(ranks, &own, word, ret_error);
    for (uint32_t r = 0; r < ranks->n && !status; r++)
        if (word[r].layout != own.layout) {
            ranks->over = true;
            status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE,
                                    "ranks do not agree on the scenario; expected the same program, files and options "
                                    "on all machines");
        }
    free(word);
    if (!status && !weft__image_part()) weft_memory_fail();
    if (!status) ranks->running = true;
    return status;
}

void weft__ranks_go_on(struct weft__run *run) {
    weft__exchange_renew(&run->net.engine);
    weft__image_protect();
    run->options.ranks->running = true;
}

// --- afterwards ---------------------------------------------------------------------------------------------------

static bool owns_host(const void *context, uint32_t host) {
    const struct weft__network *net = context;
    return weft__network_is_own(net, net->topology->host[host]);
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static weft_bytes peak_rss(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (weft_bytes)usage.ru_maxrss * 1024;
}

static struct weft_rank_outcome account_of(const struct weft__run *run) {
    const struct weft__engine *e = &run->net.engine;
    const struct weft_ranks *ranks = run->options.ranks;
    struct weft_rank_outcome own = {
        .threads = e->own_end - e->own_first,
        .messages = ranks->messages,
        .bytes = ranks->bytes,
        .wait_s = (double)ranks->wait_ns * 1e-9,
        .cpu_s = cpu_seconds() - run->begun_cpu_s,
        .peak_rss_bytes = peak_rss(),
    };
    for (uint32_t k = e->own_first; k < e->own_end; k++) {
        own.nodes += e->worker[k].n;
        own.events += e->worker[k].tally.events;
    }
    return own;
}

/// What was written here for other ranks to read.
static void forget_what_was_told(struct weft__network *net) {
    const struct weft__shared *shared;
    forget_companions(&net->hosts, owns_host, net);
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++)
        if (shared->forget) shared->forget(net);
}

/// Called by ranks other than 0.
static void hand_over(struct weft__run *run) {
    struct weft__network *net = &run->net;
    struct weft_ranks *ranks = run->options.ranks;
    struct weft_checkpoint *checkpoint = run->options.checkpoint;
    struct account account = {.of = account_of(run)};
    memcpy(account.host, ranks->host, sizeof account.host);
    forget_what_was_told(net);
    weft__exchange_forget(&net->engine);
    size_t own_bytes, words;
    const void *own = weft__image_own(&own_bytes);
    weft__image_forget(run, sizeof *run);
    if (checkpoint) weft__image_forget(checkpoint, sizeof *checkpoint);
    uint64_t *change = weft__image_changes(&words);
    if (!change) abort(); // the launcher ends the other ranks
    account.own_bytes = own_bytes;
    account.change_words = words;
    ranks->send(ranks, 0, &account, sizeof account);
    ranks->send(ranks, 0, own, own_bytes);
    ranks->send(ranks, 0, change, words * sizeof *change);
    if (net->capture) weft__capture_hand_over(net->capture);
    ranks->leave(ranks);
    abort();
}

/// Called by rank 0. False: the other rank has changed memory that is not its own.
static bool take_over(struct weft__run *run, uint32_t rank) {
    struct weft_ranks *ranks = run->options.ranks;
    struct weft_outcome *o = run->net.outcome;
    struct account account;
    ranks->receive(ranks, rank, &account, sizeof account);
    ranks->receive(ranks, rank, weft__image_of(rank), account.own_bytes);
    uint64_t *change = malloc(account.change_words * sizeof *change);
    if (!change) weft_memory_fail();
    ranks->receive(ranks, rank, change, account.change_words * sizeof *change);
    bool apart = weft__image_apply(change, account.change_words);
    free(change);
    if (run->net.capture) weft__capture_take_over(run->net.capture, rank);
    o->rank[rank] = account.of;
    account.host[sizeof account.host - 1] = 0;
    o->rank[rank].host = weft_arena_text(o->arena, account.host);
    return apart;
}

enum weft_status weft__ranks_join(struct weft__run *run, struct weft_error *ret_error) {
    struct weft_ranks *ranks = run->options.ranks;
    if (ranks->self) hand_over(run);
    struct weft_outcome *o = run->net.outcome;
    struct weft_rank_outcome *rank = weft_arena_alloc(o->arena, ranks->n, sizeof *rank);
    rank[0] = account_of(run);
    rank[0].host = ranks->host;
    forget_what_was_told(&run->net);
    bool apart = true;
    o->rank = rank;
    for (uint32_t r = 1; r < ranks->n; r++)
        apart &= take_over(run, r);
    o->ranks = ranks->n;
    rank[0].peak_rss_bytes = peak_rss(); // includes what it has taken over
    weft__image_join();
    return apart ? WEFT_OK
                 : weft_error_set(ret_error, WEFT_ERROR_CONSERVATION, WEFT_NOWHERE,
                                  "a bug of weft: two ranks have changed the same object");
}
