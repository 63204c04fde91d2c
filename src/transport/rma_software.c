// SPDX-License-Identifier: Apache-2.0
// Remote memory access in software, as Pony Express does it (M. Marty et al., "Snap", SOSP 2019): an engine on a
// processor of the server executes requests without involving the application there. A request is a message of the
// client's queue pair to that server, the answer one of the server's queue pair back, both under the hosts' congestion
// control. Each takes its time on the host's only processor, in the order of arrival.
// Difference: connections are queue pairs with the NIC's go-back-N, whereas Pony Express acknowledges selectively;
// requests to a server beyond `under_way` wait at the client.
#include "link/follow.h"
#include "transport/rma.h"

enum work { SUBMIT, SERVE, COMPLETE };

static const struct weft__rmas *all_of(const struct weft__endpoint *end) {
    return end->hosts->rmas;
}

static struct weft__rma_connection *connection_of(const struct weft__endpoint *end, uint32_t qp,
                                                  struct weft__rma_pipe **ret) {
    const struct weft__rmas *all = all_of(end);
    struct weft__rma_connection *c = &all->connection[all->of_flow[end->hosts->qp[qp].flow]];
    *ret = c->request.qp == qp ? &c->request : &c->answer;
    return c;
}

static const struct weft_rma_conf *conf_of(const struct weft__endpoint *end, const struct weft__rma_connection *c) {
    return all_of(end)->rma[c->rma].conf;
}

static struct weft__rma_client *client_of(struct weft__endpoint *end, const struct weft__rma_connection *c) {
    return &end->rma->client[all_of(end)->client_at[c->rma][c->client]];
}

// --- what is followed ----------------------------------------------------------------------------------------------

/// `message`: its number on the connection, from 0.
static struct weft_rma_note note_of(const struct weft__endpoint *end, const struct weft__worker *w,
                                    enum weft_rma_what what, const struct weft__rma_connection *c, uint32_t message) {
    return (struct weft_rma_note){.time_ps = w->now_ps,
                                  .client = WEFT_NONE,
                                  .box = (uint32_t)(c - all_of(end)->connection),
                                  .slot = message,
                                  .what = what};
}

/// Notes the progress of an operation.
static void note_op(struct weft__endpoint *end, const struct weft__worker *w, enum weft_rma_what what,
                    const struct weft__rma_connection *c, uint32_t op, uint32_t message) {
    if (__builtin_expect(end->rma->log == NULL, 1)) return;
    const struct weft__rma_client *client = client_of(end, c);
    struct weft_rma_note note = note_of(end, w, what, c, message);
    note.entry = client->rma->entry;
    note.client = client->index;
    note.op = op;
    note.server = client->op[op].server;
    note.flow = end->hosts->qp[c->request.qp].flow;
    weft__rma_note(end->rma->log, note);
}

/// Notes the progress of a message, or of its answer.
static void note_message(const struct weft__endpoint *end, const struct weft__worker *w, enum weft_rma_what what,
                         const struct weft__rma_connection *c, uint32_t message) {
    if (__builtin_expect(end->rma->log == NULL, 1)) return;
    struct weft_rma_note note = note_of(end, w, what, c, message);
    note.flow = end->hosts->qp[c->answer.qp].flow;
    weft__rma_note(end->rma->log, note);
}

// --- the processor ------------------------------------------------------------------------------------------------

static void add_work(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, enum work kind,
                     struct weft__rma_connection *c, uint32_t op) {
    const struct weft_rma_processor *conf = &conf_of(end, c)->processor;
    const weft_time_ps cost[] = {[SUBMIT] = conf->submit_ps, [SERVE] = conf->serve_ps, [COMPLETE] = conf->complete_ps};
    struct weft_packet p = {
        .time_ps = weft__rma_work(&end->rma->processor, conf, w->now_ps, cost[kind]),
        .qp = (uint32_t)(c - all_of(end)->connection),
        .psn = op,
        .flags = kind & 7u,
    };
    if (!end->rma->work.n) weft__timer_set(&node->timers, end->rma->key0, p.time_ps);
    weft__fifo_push(&end->rma->work, end->pool, &p);
}

// --- messages -----------------------------------------------------------------------------------------------------

static void post_message(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                         struct weft__rma_pipe *pipe, uint32_t slots, uint32_t bytes, uint32_t op, uint32_t wanted) {
    uint32_t mtu = end->hosts->qp[pipe->qp].mtu, psn = pipe->psn_end;
    pipe->psn_end += bytes / mtu + (bytes % mtu != 0);
    pipe->message[pipe->filled++ % slots] = (struct weft__rma_message){psn, pipe->psn_end, bytes, op, wanted};
    end->hosts->ops->post(node, end, w, pipe->qp, pipe->psn_end, bytes);
}

static uint32_t last_payload(uint32_t bytes, uint32_t mtu) {
    return bytes ? (bytes - 1) % mtu + 1 : 0;
}

void weft__rma_packet(struct weft__endpoint *end, uint32_t qp, struct weft_packet *p) {
    struct weft__rma_pipe *pipe;
    uint32_t slots = connection_of(end, qp, &pipe)->slots, mtu = end->hosts->qp[qp].mtu;
    const struct weft__rma_message *m = &pipe->message[pipe->now % slots];
    if (p->psn < m->psn || p->psn >= m->psn_end) { // the next one, or an earlier one again
        for (pipe->now = pipe->acked; pipe->message[pipe->now % slots].psn_end <= p->psn;)
            pipe->now++;
        assert(pipe->now < pipe->filled);
        m = &pipe->message[pipe->now % slots];
    }
    bool first = p->psn == m->psn, last = p->psn + 1 == m->psn_end;
    uint32_t payload = last ? last_payload(m->bytes, mtu) : mtu;
    p->bytes = (uint16_t)weft__message_frame_bytes(payload, first, end->hosts->data_header_bytes);
    if (first) p->flags |= WEFT_PACKET_FIRST;
    if (last) p->flags |= WEFT_PACKET_LAST | WEFT_PACKET_ACK_REQUEST;
}

weft_time_ps weft__rma_pace(struct weft__endpoint *end, uint32_t qp, uint32_t psn, weft_time_ps next_ps) {
    struct weft__rma_pipe *pipe;
    uint32_t slots = connection_of(end, qp, &pipe)->slots;
    const struct weft__rma_message *m = &pipe->message[pipe->now % slots];
    if (psn == m->psn) pipe->next_ps = next_ps;
    return psn + 1 == m->psn_end ? pipe->next_ps : 0;
}

/// Messages before this one that have not come in full may be there, but none after it is read: its sender may still
/// write that.
uint32_t weft__rma_last_payload(const struct weft__endpoint *end, const struct weft_packet *p) {
    struct weft__rma_pipe *pipe;
    const struct weft__rma_connection *c = connection_of(end, p->qp, &pipe);
    uint32_t came = pipe == &c->request ? c->came : c->answered, m = came;
    while (pipe->message[m % c->slots].psn_end != p->psn + 1) {
        m++;
        assert(m - came < c->slots);
    }
    return last_payload(pipe->message[m % c->slots].bytes, end->hosts->qp[p->qp].mtu);
}

// --- client -------------------------------------------------------------------------------------------------------

static void ask_server(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                       struct weft__rma_connection *c, uint32_t op) {
    const struct weft_rma_conf *conf = conf_of(end, c);
    struct weft__rma_client *client = client_of(end, c);
    uint32_t value = weft__rma_bytes(client, &client->op[op]), header = (uint32_t)conf->header_bytes;
    bool read = conf->verb == WEFT_RMA_READ, write = conf->verb == WEFT_RMA_WRITE;
    c->asked++;
    client->stats->requests++;
    note_op(end, w, WEFT_RMA_READY, c, op, c->request.filled);
    post_message(node, end, w, &c->request, c->slots, header + (read ? 0 : value), op, header + (write ? 0 : value));
}

static bool may_ask(const struct weft__rma_connection *c) {
    return c->asked - c->answered < c->slots && c->request.filled - c->request.acked < c->slots;
}

static void wait_for_slot(struct weft__endpoint *end, struct weft__rma_connection *c, uint32_t op) {
    struct weft__rma_client *client = client_of(end, c);
    client->op[op].next = WEFT_NONE;
    if (c->waiting_first == WEFT_NONE)
        c->waiting_first = op;
    else
        client->op[c->waiting_last].next = op;
    c->waiting_last = op;
}

static void ask_waiting(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                        struct weft__rma_connection *c) {
    while (c->waiting_first != WEFT_NONE && may_ask(c)) {
        uint32_t op = c->waiting_first;
        c->waiting_first = client_of(end, c)->op[op].next;
        ask_server(node, end, w, c, op);
    }
}

static void submit_op(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                      struct weft__rma_connection *c, uint32_t op) {
    note_op(end, w, WEFT_RMA_SUBMITTED, c, op, 0);
    if (c->waiting_first == WEFT_NONE && may_ask(c))
        ask_server(node, end, w, c, op);
    else
        wait_for_slot(end, c, op);
}

static void begin_op(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t k) {
    struct weft__rma_client *client = &end->rma->client[k];
    const struct weft__rmas *all = all_of(end);
    uint32_t op = weft__rma_begin(client, w), entry = (uint32_t)(client->rma - all->rma);
    uint32_t at = all->connection0[entry] + weft_rma_connection(client->rma, client->index, client->op[op].server);
    if (!client->over) weft__timer_set(&node->timers, end->rma->key0 + 1 + k, client->next_ps);
    note_op(end, w, WEFT_RMA_BEGAN, &all->connection[at], op, 0);
    add_work(node, end, w, SUBMIT, &all->connection[at], op);
}

static void complete_op(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                        struct weft__rma_connection *c, uint32_t op) {
    note_op(end, w, client_of(end, c)->op[op].left > 1 ? WEFT_RMA_CHAINED : WEFT_RMA_ENDED, c, op, 0);
    if (!weft__rma_answered(client_of(end, c), w, op))
        add_work(node, end, w, SUBMIT, c, op); // the value, after the index
}

// --- server -------------------------------------------------------------------------------------------------------

/// Answers are sent in the order of requests, and wait while too many are unacknowledged.
static void answer_requests(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                            struct weft__rma_connection *c) {
    while (c->answer.filled < c->served && c->answer.filled - c->answer.acked < c->slots) {
        const struct weft__rma_message *request = &c->request.message[c->answer.filled % c->slots];
        note_message(end, w, WEFT_RMA_SENT, c, c->answer.filled);
        post_message(node, end, w, &c->answer, c->slots, request->wanted, 0, 0);
    }
}

// --- what happens -------------------------------------------------------------------------------------------------

void weft__rma_arrived(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp) {
    struct weft__rma_pipe *pipe;
    struct weft__rma_connection *c = connection_of(end, qp, &pipe);
    if (pipe == &c->request) {
        note_message(end, w, WEFT_RMA_CAME, c, c->came++);
        add_work(node, end, w, SERVE, c, 0);
        return;
    }
    note_message(end, w, WEFT_RMA_ANSWERED, c, c->answered);
    uint32_t op = c->request.message[c->answered++ % c->slots].op;
    add_work(node, end, w, COMPLETE, c, op);
    ask_waiting(node, end, w, c);
}

void weft__rma_acked(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp) {
    struct weft__rma_pipe *pipe;
    struct weft__rma_connection *c = connection_of(end, qp, &pipe);
    uint32_t una = end->hosts->sample[qp].seen;
    while (pipe->acked < pipe->filled && pipe->message[pipe->acked % c->slots].psn_end <= una)
        pipe->acked++;
    if (pipe == &c->request)
        ask_waiting(node, end, w, c);
    else
        answer_requests(node, end, w, c);
}

static void on_work(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w) {
    struct weft_packet p;
    weft__fifo_pop(&end->rma->work, end->pool, &p);
    if (end->rma->work.n) weft__timer_set(&node->timers, end->rma->key0, weft__fifo_head(&end->rma->work)->time_ps);
    struct weft__rma_connection *c = &all_of(end)->connection[p.qp];
    switch ((enum work)p.flags) {
    case SUBMIT:
        submit_op(node, end, w, c, p.psn);
        break;
    case SERVE:
        note_message(end, w, WEFT_RMA_SERVED, c, c->served++);
        answer_requests(node, end, w, c);
        break;
    case COMPLETE:
        complete_op(node, end, w, c, p.psn);
        break;
    }
}

uint32_t weft__rma_host_keys(const struct weft__rma_host *host) {
    return 1 + host->clients;
}

void weft__rma_host_start(struct weft__node *node, struct weft__endpoint *end) {
    for (uint32_t k = 0; k < end->rma->clients; k++)
        if (!end->rma->client[k].over)
            weft__timer_set(&node->timers, end->rma->key0 + 1 + k, end->rma->client[k].next_ps);
}

void weft__rma_host_on_timer(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                             uint32_t key) {
    if (key == end->rma->key0)
        on_work(node, end, w);
    else
        begin_op(node, end, w, key - end->rma->key0 - 1);
}
