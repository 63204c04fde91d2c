// SPDX-License-Identifier: Apache-2.0
// A rank of a job. It steps through its operations and, in a collective, through the steps of each lane
// (weft/collective.h). Everything that a step waits for is known at its own node: the arrival of a message, a free slot
// of a connection, a clear-to-send, a timer. So ranks interact only by packets, and the digest is the same on any
// number of threads.
#include "transport/program.h"

enum { ALL_STREAMS = UINT32_MAX - 1 };

// --- steps --------------------------------------------------------------------------------------------------------

static struct weft__sending *find_sending(const struct weft__program *p, uint32_t communicator, uint32_t channel,
                                          uint32_t dst) {
    return &p->sending[weft_job_find_connection(p->job, p->rank, communicator, channel, dst) - p->job->first[p->rank]];
}

static struct weft__receiving *find_receiving(const struct weft__program *p, uint32_t communicator, uint32_t channel,
                                              uint32_t src) {
    const struct weft__stream *st = &p->stream[communicator];
    uint32_t low = 0, high = st->receivings, distance = weft__distance(p->job, src, p->rank);
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        const struct weft__receiving *r = &st->receiving[mid];
        bool before =
            r->channel != channel ? r->channel < channel : weft__distance(p->job, r->peer, p->rank) < distance;
        if (before)
            low = mid + 1;
        else
            high = mid;
    }
    assert(low < st->receivings && st->receiving[low].peer == src && st->receiving[low].channel == channel);
    return &st->receiving[low];
}

/// What a stream does now, or will do next.
static const struct weft_job_turn *current_turn(const struct weft__program *p, uint32_t stream) {
    const struct weft_job_order *order = &weft__program_stage(p)->order[stream];
    return &weft__program_stage(p)->turn[order->turn[p->stream[stream].finished % order->turns]];
}

/// As connections of this rank; usually the same as in the previous step.
void weft__lane_find_ends(const struct weft__program *p, uint32_t stream, const struct weft_step *step,
                          struct weft__lane *lane) {
    const struct weft__stream *st = &p->stream[stream];
    lane->recvs = lane->sends = 0;
    for (uint32_t k = 0; k < WEFT_STEP_PEERS && step->recv[k] != WEFT_NONE; k++) {
        uint32_t src = weft_job_fellow(st->op, p->rank, st->number, step->recv[k]);
        struct weft__receiving *before = lane->recv[lane->recvs++];
        if (!before || before->peer != src || before->channel != step->channel)
            lane->recv[k] = find_receiving(p, stream, step->channel, src);
    }
    for (uint32_t k = 0; k < WEFT_STEP_PEERS && step->send[k] != WEFT_NONE; k++) {
        uint32_t dst = weft_job_fellow(st->op, p->rank, st->number, step->send[k]);
        struct weft__sending *before = lane->send[lane->sends++];
        if (!before || before->peer != dst || before->channel != step->channel)
            lane->send[k] = find_sending(p, stream, step->channel, dst);
    }
}

/// Whether the lane must wait; if so, it is registered with what it waits for.
static bool must_wait(const struct weft__stream *st, struct weft__lane *lane, uint32_t stream, uint32_t number) {
    struct weft__lane *before = &st->lane[lane->wait_lane];
    if (lane->wait_steps && before->index < lane->wait_steps) {
        lane->next_waiter = before->waiter;
        before->waiter = number + 1;
        return true;
    }
    for (uint32_t k = 0; k < lane->recvs; k++)
        if (lane->recv[k]->arrived == lane->recv[k]->consumed) {
            lane->recv[k]->stream = stream;
            lane->recv[k]->lane = number;
            return true;
        }
    for (uint32_t k = 0; k < lane->sends; k++)
        if (!weft__message_has_room(lane->send[k])) {
            lane->send[k]->stream = stream;
            lane->send[k]->lane = number;
            lane->free_ps = WEFT_TIME_NEVER;
            return true;
        }
    return false;
}

/// Who takes messages that are merged, or sends copies of one, has that work once.
static weft_time_ps step_time(const struct weft_job_op *op, const struct weft__lane *lane) {
    const struct weft_collective_common *common = op->conf;
    weft_time_ps time = weft_job_step_time(op, lane->bytes);
    if (common->read_permille && time) time = common->step_ps + (time - common->step_ps) * lane->permille / 1000;
    uint32_t in = lane->recvs ? lane->merged : 0, out = lane->sends ? lane->copied : 0, shared = in > out ? in : out;
    if (lane->percent) time = time * 100 / lane->percent;
    return shared > 1 ? time / shared : time;
}

/// What is left of a step whose pieces have come within the server while the lane was free for them: the last grain.
static weft_time_ps time_left(const struct weft__at *at, const struct weft_job_op *op, const struct weft__lane *lane) {
    weft_time_ps time = step_time(op, lane);
    weft_bytes grain = ((const struct weft_collective_common *)op->conf)->grain_bytes;
    if (lane->percent) grain = grain * lane->percent / 100;
    if (!grain || !lane->recvs || grain >= lane->bytes) return time;
    for (uint32_t k = 0; k < lane->recvs; k++)
        if (lane->recv[k]->qp != WEFT_NONE) return time;
    weft_time_ps since = lane->free_ps < at->w->now_ps ? at->w->now_ps - lane->free_ps : 0;
    weft_time_ps last = time * grain / lane->bytes;
    return time > since + last ? time - since : last;
}

static void do_step(struct weft__at *at, const struct weft__lane *lane, const struct weft_job_op *op) {
    const struct weft_collective_common *common = op->conf;
    const struct weft__pace pace = {lane->merged, lane->copied, common->inner_latency_ps,
                                    common->through ? step_time(op, lane) : 0, common->idle_ps};
    for (uint32_t k = 0; k < lane->recvs; k++)
        weft__message_take(at, lane->recv[k], lane->bytes);
    for (uint32_t k = 0; k < lane->sends; k++)
        weft__message_fill(at, lane->send[k], lane->bytes, &pace);
}

static void finish_op(struct weft__at *at, uint32_t stream);

/// What the pieces that a step reads and writes cost, beside one that adds what comes to its own and sends the sum.
static uint16_t permille_of(const struct weft_collective_common *common, const struct weft_step *step) {
    uint32_t reads = step->own, writes = step->keep;
    for (uint32_t k = 0; k < WEFT_STEP_PEERS; k++) {
        reads += step->recv[k] != WEFT_NONE;
        writes += step->send[k] != WEFT_NONE;
    }
    return (uint16_t)(reads * common->read_permille + writes * common->write_permille);
}

/// Finds the lane's next step with something to do. False: there is none.
static bool find_step(const struct weft__program *p, uint32_t stream, struct weft__lane *lane, uint32_t number) {
    const struct weft__stream *st = &p->stream[stream];
    struct weft_step step;
    if (!weft_job_find_step(st->op, st->part, st->number, number, lane->plan, lane->steps, &lane->index, &step))
        return false;
    lane->bytes = (uint32_t)step.bytes;
    lane->merged = step.merged;
    lane->copied = step.copied;
    lane->percent = step.percent;
    lane->permille = permille_of(st->op->conf, &step);
    lane->wait_lane = step.wait_lane;
    lane->wait_steps = step.wait_steps;
    weft__lane_find_ends(p, stream, &step, lane);
    lane->found = true;
    return true;
}

/// The lane has advanced: wakes the lanes that wait for it, unless they wait for a later step.
static void wake_waiters(struct weft__at *at, uint32_t stream, struct weft__lane *lane) {
    uint32_t waiter = lane->waiter, next;
    lane->waiter = 0;
    for (; waiter; waiter = next) {
        next = at->p->stream[stream].lane[waiter - 1].next_waiter;
        weft__lane_run(at, stream, waiter - 1);
    }
}

/// A watched lane has reached a step.
static void note_step(struct weft__lane *lane, weft_time_ps now) {
    struct weft__lane_watch *w = lane->watch;
    for (; lane->index >= w->next; w->next += w->stride)
        w->seen_ps[w->seen++ % WEFT__LANE_SEEN] = now;
}

/// Runs the lane until it must wait.
void weft__lane_run(struct weft__at *at, uint32_t stream, uint32_t number) {
    struct weft__stream *st = &at->p->stream[stream];
    struct weft__lane *lane = &st->lane[number];
    while (lane->found || find_step(at->p, stream, lane, number)) {
        if (lane->waiter) wake_waiters(at, stream, lane);
        if (must_wait(st, lane, stream, number)) return;
        weft_time_ps time = lane->timed ? 0 : time_left(at, st->op, lane);
        if (time) {
            lane->timed = true;
            if (__builtin_expect(at->p->log != NULL, 0))
                weft__program_note(at, WEFT_RANK_STEPS, st->key0 + number, 0, weft__program_op(at->p, stream));
            weft__timer_set(&at->node->timers, st->key0 + number, at->w->now_ps + time);
            return;
        }
        do_step(at, lane, st->op);
        lane->index++;
        lane->free_ps = at->w->now_ps;
        if (__builtin_expect(lane->watch != NULL, 0)) note_step(lane, at->w->now_ps);
        lane->found = lane->timed = false;
    }
    if (lane->waiter) wake_waiters(at, stream, lane);
    if (--st->lanes_left == 0) finish_op(at, stream);
}

// --- compute ------------------------------------------------------------------------------------------------------

static bool is_over(const struct weft__program *p, uint32_t stream) {
    return p->stream[stream].finished == p->stream[stream].queued;
}

/// Channels of active collectives take their share of the GPU from the computation beside them. Source: NCCL runs a
/// channel as a thread block that occupies a multiprocessor. ASSUMED: all computation slows by the same factor.
static double speed_of(const struct weft__program *p) {
    double speed = 1;
    for (uint32_t c = 0; c < p->job->communicators; c++)
        if (!is_over(p, c)) speed -= p->job->channel_cost * p->job->communicator[c].channels;
    return speed;
}

static void set_speed(struct weft__at *at) {
    struct weft__program *p = at->p;
    p->compute_speed = speed_of(p);
    p->compute_from_ps = at->w->now_ps;
    weft__timer_set(&at->node->timers, p->key0,
                    at->w->now_ps + weft_time_of_real(p->compute_left_ps / p->compute_speed));
}

static void begin_compute(struct weft__at *at, weft_time_ps time) {
    at->p->compute_left_ps = (double)time;
    set_speed(at);
}

/// A collective has ended. (None starts while its rank computes.)
static void change_speed(struct weft__at *at) {
    struct weft__program *p = at->p;
    if (p->job->channel_cost <= 0 || p->compute_speed <= 0) return;
    p->compute_left_ps -= (double)(at->w->now_ps - p->compute_from_ps) * p->compute_speed;
    if (p->compute_left_ps < 0) p->compute_left_ps = 0; // the timer is rounded down to whole picoseconds
    set_speed(at);
}

// --- operations ---------------------------------------------------------------------------------------------------

static size_t result_of(const struct weft__program *p, uint32_t stream) {
    uint32_t iteration = p->stream[stream].finished / weft__program_stage(p)->order[stream].turns;
    return (size_t)iteration * p->job->ops + current_turn(p, stream)->op;
}

uint32_t weft__program_op(const struct weft__program *p, uint32_t stream) {
    return p->schedule ? p->schedule->collective[stream] : (uint32_t)result_of(p, stream);
}

/// How long the host takes to start a kernel. Measured for empty kernels and their synchronisation: 6.13 us on a GH200,
/// 6.07 on an A100, with a deviation of 13 to 30% for 1 to 8 of them (simllm, a100_graph_launch_v1). Assumed:
/// lognormal.
static weft_time_ps draw_launch(const struct weft__at *at, uint32_t stream) {
    enum { DRAWS_BITS = 16 }; // of the stream that one operation may use
    const struct weft__gpu *gpu = at->end->gpu;
    if (!gpu->launch_ps || gpu->launch_skew <= 0) return gpu->launch_ps;
    struct weft_random random = weft_random_stream(gpu->seed, at->p->rank, WEFT_RANDOM_LAUNCH);
    random.drawn = ((uint64_t)stream << 32 | weft__program_op(at->p, stream)) << DRAWS_BITS;
    return weft_time_of_real(weft_random_lognormal(&random, (double)gpu->launch_ps, gpu->launch_skew));
}

static void plan_lanes(struct weft__stream *st) {
    const struct weft_job_op *op = st->op;
    uint32_t lanes = st->lanes_left = op->ops->lanes(op->conf, &op->shape);
    for (uint32_t k = 0; k < lanes; k++) {
        struct weft__lane *lane = &st->lane[k];
        *lane = (struct weft__lane){.steps = op->ops->steps(op->conf, &op->shape, st->number, k), .plan = lane->plan};
        if (op->ops->plan) op->ops->plan(op->conf, &op->shape, st->number, k, lane->plan);
    }
}

static void run_stream(struct weft__at *at, uint32_t stream) {
    struct weft__stream *st = &at->p->stream[stream];
    st->launches = false;
    if (at->end->hosts->ops->take) {
        if (at->end->hosts->ops->take(at, stream)) return;
        plan_lanes(st);
    }
    if (st->part != WEFT_TURN_SEND) weft__message_expect(at, st, st->op->volume);
    uint32_t lanes = st->lanes_left;
    for (uint32_t k = 0; k < lanes; k++)
        st->lane[k].free_ps = at->w->now_ps;
    for (uint32_t k = 0; k < lanes; k++)
        weft__lane_run(at, stream, k);
}

void weft__stream_begin(struct weft__at *at, uint32_t stream, const struct weft_job_op *op, uint32_t part,
                        bool launch) {
    struct weft__stream *st = &at->p->stream[stream];
    st->op = op;
    st->part = part;
    st->number = weft_job_number(op, at->p->rank);
    if (!at->end->hosts->ops->take) plan_lanes(st); // else once it is known that lanes will run
    weft_time_ps time = launch ? draw_launch(at, stream) : 0;
    st->launches = time;
    if (!time) {
        run_stream(at, stream);
        return;
    }
    weft__program_note(at, WEFT_RANK_STEPS, st->key0, 0, weft__program_op(at->p, stream));
    weft__timer_set(&at->node->timers, st->key0, at->w->now_ps + time);
}

/// `idle`: its communicator has been, so that no launch has gone on beside an earlier operation.
static void start_op(struct weft__at *at, uint32_t stream, bool idle) {
    const struct weft_job_turn *turn = current_turn(at->p, stream);
    at->p->op_start_ps[result_of(at->p, stream)] = at->w->now_ps;
    weft__stream_begin(at, stream, &at->p->job->op[turn->op], turn->part, idle);
}

static bool may_go_on(const struct weft__program *p) {
    if (p->waits_for == WEFT_NONE) return true;
    if (p->waits_for != ALL_STREAMS) return is_over(p, p->waits_for);
    for (uint32_t c = 0; c < p->job->communicators; c++)
        if (!is_over(p, c)) return false;
    return true;
}

static void go_on(struct weft__at *at);

static void finish_op(struct weft__at *at, uint32_t stream) {
    struct weft__program *p = at->p;
    if (p->schedule) {
        weft__schedule_run_on_collective(at, stream);
        return;
    }
    p->op_end_ps[result_of(p, stream)] = at->w->now_ps;
    at->w->tally.progress_ps = at->w->now_ps;
    p->stream[stream].finished++;
    change_speed(at);
    if (!is_over(p, stream)) start_op(at, stream, false);
    if (!p->stepping && p->waits_for != WEFT_NONE && may_go_on(p)) go_on(at);
}

void weft__stream_end(struct weft__at *at, uint32_t stream) {
    finish_op(at, stream);
}

static void wait_for(struct weft__at *at, uint32_t stream) {
    at->p->waits_for = stream;
    at->p->waiting_since_ps = at->w->now_ps;
}

/// An operation that a sample leaves out (run.sample) takes no time: the rank goes on with the next one.
static void pass_op(struct weft__program *p, const struct weft_job_op *op) {
    if (op->name) {
        p->stream[op->communicator].queued++;
        p->stream[op->communicator].finished++;
    }
    p->turn++;
}

/// Advances by one operation, or ends an iteration. False: a timer will end the operation.
static bool step_on(struct weft__at *at) {
    struct weft__program *p = at->p;
    const struct weft_job_stage *stage = weft__program_stage(p);
    if (p->turn == stage->turns) {
        weft__program_note(at, WEFT_RANK_ENDS, 0, p->iteration, 0);
        p->iteration_end_ps[p->iteration++] = at->w->now_ps;
        p->turn = 0;
        return true;
    }
    const struct weft_job_turn *turn = &stage->turn[p->turn];
    const struct weft_job_op *op = &p->job->op[turn->op];
    if (p->passes && p->passes[(size_t)p->iteration * p->job->ops + turn->op]) {
        pass_op(p, op);
        return true;
    }
    if (op->compute_ps && !p->computed) {
        weft__program_note(at, WEFT_RANK_COMPUTES, p->key0, 0, p->iteration * p->job->ops + turn->op);
        if (p->spans) p->spans->from_ps = at->w->now_ps;
        begin_compute(at, weft_job_compute_time(p->job, p->rank, op));
        return false;
    }
    p->computed = false;
    p->turn++;
    if (op->name) {
        bool idle = is_over(p, op->communicator);
        p->stream[op->communicator].queued++;
        if (idle) start_op(at, op->communicator, true);
        if (weft_job_turn_blocks(p->job, turn)) wait_for(at, op->communicator);
    }
    if (p->turn == stage->turns && p->waits_for == WEFT_NONE) wait_for(at, ALL_STREAMS);
    return true;
}

static void note_exposed(struct weft__program *p, weft_time_ps now) {
    weft_time_ps waited = now - p->waiting_since_ps;
    uint32_t op = p->waits_for == ALL_STREAMS ? WEFT_NONE : weft__program_stage(p)->turn[p->turn - 1].op;
    weft__rank_span_add(p, p->waiting_since_ps, now, false, op);
    p->exposed_ps += waited;
    p->iteration_exposed_ps[p->iteration] += waited;
    if (op != WEFT_NONE) p->op_exposed_ps[(size_t)p->iteration * p->job->ops + op] += waited;
}

/// Advances until it must wait; called when something that it may wait for is over.
static void go_on(struct weft__at *at) {
    struct weft__program *p = at->p;
    p->stepping = true; // whatever finishes meanwhile does not call this again
    while (may_go_on(p)) {
        bool last = p->turn == weft__program_stage(p)->turns && p->waits_for != ALL_STREAMS;
        if (p->waits_for != WEFT_NONE) note_exposed(p, at->w->now_ps);
        p->waits_for = WEFT_NONE;
        if (last)
            wait_for(at, ALL_STREAMS); // then waits for everything still in progress beside the last operation
        else if (p->iteration == p->job->iterations || !step_on(at))
            break;
    }
    p->stepping = false;
    if (p->iteration < p->job->iterations || p->done) return;
    p->done = true;
    at->w->tally.finished++;
}

// --- of a host ----------------------------------------------------------------------------------------------------

uint32_t weft__gpu_keys(const struct weft__programs *programs, const struct weft__gpu *gpu) {
    uint32_t keys = gpu->ports;
    for (uint32_t k = 0; k < gpu->programs; k++)
        keys += programs->program[gpu->program[k]].keys;
    return keys;
}

void weft__gpu_start(struct weft__node *node, struct weft__endpoint *end) {
    struct weft__gpu *gpu = end->gpu;
    uint32_t key = gpu->key0;
    for (uint32_t k = 0; k < gpu->ports; k++)
        gpu->port[k].key = key++;
    for (uint32_t k = 0; k < gpu->programs; k++) {
        struct weft__program *p = &weft__programs_of(end)->program[gpu->program[k]];
        p->key0 = key;
        uint32_t lane_key = key + 1 + (p->schedule ? p->schedule->cpus : 0);
        for (uint32_t c = 0; c < p->job->communicators; c++) {
            p->stream[c].key0 = lane_key;
            lane_key += p->job->communicator[c].lanes_max;
        }
        key += p->keys;
        weft__timer_set(&node->timers, p->key0, p->job->start_ps);
    }
}

static void on_program_timer(struct weft__at *at, uint32_t key) {
    struct weft__program *p = at->p;
    if (key == p->key0 + p->keys - 1) {
        weft__message_hand(at);
        return;
    }
    weft__program_note(at, p->started ? WEFT_RANK_TIMED : WEFT_RANK_STARTED, key, 0, 0);
    if (p->schedule && key - p->key0 <= p->schedule->cpus) {
        weft__schedule_run_on_timer(at, key);
        return;
    }
    if (key == p->key0) { // the start, or the end of a compute
        if (!p->started) {
            at->w->tally.started++;
        } else {
            p->computed = true;
            if (p->spans)
                weft__rank_span_add(p, p->spans->from_ps, at->w->now_ps, true,
                                    weft__program_stage(p)->turn[p->turn].op);
        }
        p->compute_speed = 0;
        p->started = true;
        at->w->tally.progress_ps = at->w->now_ps;
        go_on(at);
        return;
    }
    uint32_t c = p->job->communicators - 1;
    while (key < p->stream[c].key0)
        c--;
    if (p->stream[c].launches)
        run_stream(at, c);
    else
        weft__lane_run(at, c, key - p->stream[c].key0);
}

void weft__gpu_on_timer(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t key) {
    struct weft__gpu *gpu = end->gpu;
    if (key - gpu->key0 < gpu->ports) {
        weft__gpu_on_arrival(node, end, w, &gpu->port[key - gpu->key0]);
        return;
    }
    for (uint32_t k = 0; k < gpu->programs; k++) {
        struct weft__program *p = &weft__programs_of(end)->program[gpu->program[k]];
        if (key - p->key0 >= p->keys) continue;
        on_program_timer(&(struct weft__at){node, end, w, p}, key);
        return;
    }
    assert(0 && "a timer of no program");
}
