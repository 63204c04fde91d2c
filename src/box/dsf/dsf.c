// SPDX-License-Identifier: Apache-2.0
#include "box/dsf/dsf.h"

#include <assert.h>
#include <string.h>

#include "weft/memory.h"

// --- lanes --------------------------------------------------------------------------------------------------------

struct weft__lane_rate weft__lane_rate_of(struct weft__speed speed) {
    uint64_t wire = WEFT_CELL_PAYLOAD + WEFT_CELL_HEADER;
    struct weft__lane_rate rate = {.speed = speed};
    rate.cell_ps = wire * rate.speed.byte_num / rate.speed.byte_den;
    assert(rate.cell_ps);
    rate.cell_reciprocal = UINT64_MAX / rate.cell_ps + 1;
    rate.cell_rem = (uint32_t)(wire * rate.speed.byte_num % rate.speed.byte_den);
    return rate;
}

bool weft__lanes_connect(struct weft__lanes *lanes, uint32_t lane, const struct weft_link_info *link,
                         struct weft__speed speed, const struct weft__port_peer *peer,
                         struct weft__port_faults *faults) {
    struct weft__lane_rate rate = weft__lane_rate_of(speed);
    uint32_t r = 0;
    while (r < lanes->rates && (lanes->rate[r].speed.byte_num != rate.speed.byte_num ||
                                lanes->rate[r].speed.byte_den != rate.speed.byte_den))
        r++;
    if (r == WEFT__LANE_RATES) return false;
    if (r == lanes->rates) lanes->rate[lanes->rates++] = rate;
    lanes->rate_bps += link->rate_bps;
    lanes->lane[lane] = (struct weft__cell_lane){
        .delay_ps = link->delay_ps + peer->processing_ps,
        .peer_node = peer->node,
        .peer_port = peer->port,
        .peer_inbox = (uint8_t)peer->inbox,
        .rate = r & 0x7f,
        .through = peer->cut_through,
        .faults = faults,
    };
    return true;
}

weft_time_ps weft__lane_time(struct weft__cell_lane *lane, const struct weft__lane_rate *rate, weft_time_ps now,
                             uint32_t wire) {
    if (lane->busy_until_ps < now) lane->rem = 0; // the line was idle: no remainder to carry
    uint64_t num = wire * rate->speed.byte_num + lane->rem;
    if (rate->speed.byte_den == 1) return num;
    if (weft__speed_is_off(rate->speed)) { // as below, without a division
        lane->rem = (uint32_t)(num & (rate->speed.byte_den - 1));
        return num >> WEFT__CLOCK_BITS;
    }
    lane->rem = (uint32_t)(num % rate->speed.byte_den);
    return num / rate->speed.byte_den;
}

void weft__lanes_record(struct weft__lanes *lanes, struct weft__trace *trace, const uint16_t *slot, uint32_t ports,
                        struct weft_arena *arena) {
    uint16_t *port = weft_arena_alloc(arena, lanes->n, sizeof *port);
    for (uint32_t k = 0; k < ports; k++)
        if (slot[k] < lanes->n) port[slot[k]] = (uint16_t)k;
    lanes->trace = trace;
    lanes->port = port;
}

void weft__lanes_note_loss(const struct weft__lanes *lanes, weft_time_ps at, uint32_t port,
                           const struct weft_packet *cell, enum weft_drop reason) {
    bool control = weft__cell_is_control(cell);
    struct weft__trace_loss loss = {
        .kind = WEFT_EVENT_CELLS_LOST,
        .port = port,
        .priority = cell->priority,
        .qp = control ? WEFT_NONE : cell->qp & WEFT__CELL_QP,
        .reason = reason,
        .bytes = cell->bytes,
        .n = control ? 1 : weft__cell_count(cell),
    };
    weft__trace_lost(lanes->trace, at, &loss, 0);
}

bool weft__lane_loses(struct weft__lanes *lanes, struct weft__cell_lane *lane, struct weft__worker *w,
                      const struct weft_packet *cell, weft_time_ps begin, weft_time_ps end) {
    weft_time_ps at = begin;
    enum weft_drop loss = weft__faults_loss(lane->faults, weft__cell_wire(cell), begin, end, &at);
    if (loss == WEFT_DROPS) return false;
    lanes->lost += weft__cell_is_control(cell) ? 1 : weft__cell_count(cell);
    weft__count_lost_bytes(w, loss, cell->bytes);
    if (__builtin_expect(lanes->trace != NULL, 0))
        weft__lanes_note_loss(lanes, at, lanes->port[lane - lanes->lane], cell, loss);
    return true;
}

void weft__lane_send_control(struct weft__lanes *lanes, struct weft__cell_lane *lane, struct weft__worker *w,
                             const struct weft_packet *cell) {
    weft_time_ps now = w->now_ps, begin = lane->control_until_ps > now ? lane->control_until_ps : now;
    const struct weft__lane_rate *rate = &lanes->rate[lane->rate];
    weft_time_ps time = WEFT_CELL_CONTROL * rate->speed.byte_num / rate->speed.byte_den;
    lane->control_until_ps = begin + time;
    lane->busy_until_ps = (lane->busy_until_ps > now ? lane->busy_until_ps : now) + time;
    lane->tx_bytes += WEFT_CELL_CONTROL;
    lane->tx_cells++;
    weft__count(w, WEFT__COUNT_CELL_HOPS, 1);
    if (lane->faults && weft__lane_loses(lanes, lane, w, cell, begin, begin + time)) return;
    weft__lane_arrive(lane, w, cell, begin + time + lane->delay_ps);
}

void weft__lane_finish(const struct weft__lanes *lanes, const struct weft__cell_lane *lane,
                       struct weft_counters *counters) {
    const struct weft__lane_rate *rate = &lanes->rate[lane->rate];
    counters->tx_packets = lane->tx_cells;
    counters->tx_bytes = lane->tx_bytes;
    counters->queue_bytes_max =
        (uint64_t)((unsigned __int128)lane->wait_ps_max * rate->speed.byte_den / rate->speed.byte_num);
}

void weft__lane_follow(struct weft__lanes *lanes, const struct weft__cell_lane *lane, weft_time_ps now,
                       const struct weft_packet *cell, weft_time_ps begin, weft_time_ps arrival) {
    struct weft__follow *f = lanes->follow;
    uint32_t port = lanes->follow_port[lane - lanes->lane], qp = cell->qp & WEFT__CELL_QP;
    weft_time_ps came = lanes->came_ps ? lanes->came_ps : now;
    if (cell->kind != WEFT_PACKET_DATA || !(weft__follow_has_qp(f, qp) || (f->all && f->all[port]))) return;
    weft__follow_two(f,
                     (struct weft__follow_record){.time_ps = begin,
                                                  .qp = qp,
                                                  .psn = cell->psn,
                                                  .busy_ps = (uint32_t)(lane->busy_until_ps - begin),
                                                  .port = (uint16_t)port,
                                                  .what = WEFT_FOLLOWED_CELL,
                                                  .priority = cell->priority},
                     arrival, came);
}

// --- which lane ---------------------------------------------------------------------------------------------------

void weft__spray_init(struct weft__spray *spray, const struct weft_eligible_box *eligible, uint32_t ins,
                      const uint16_t *slot, bool shuffled, uint64_t seed, uint32_t who, struct weft_arena *arena) {
    *spray = (struct weft__spray){
        .set_of = eligible->set_of,
        .set = weft_arena_alloc(arena, eligible->sets, sizeof *spray->set),
        .lane = weft_arena_alloc(arena, eligible->ports, sizeof *spray->lane),
        .change_ps = eligible->changes ? eligible->change[0].time_ps : WEFT_TIME_NEVER,
        .change = eligible->change,
        .changes_left = eligible->changes,
        .shuffled = shuffled,
        .random = weft_random_stream(seed, who, WEFT_RANDOM_SPRAY),
    };
    if (eligible->changes) {
        spray->own_set_of = weft_arena_alloc(arena, ins, sizeof *spray->own_set_of);
        memcpy(spray->own_set_of, eligible->set_of, ins * sizeof *spray->own_set_of);
        spray->set_of = spray->own_set_of;
    }
    for (uint32_t i = 0; i < eligible->ports; i++)
        spray->lane[i] = slot[eligible->port[i]];
    for (uint32_t s = 0; s < eligible->sets; s++) {
        spray->set[s] = (struct weft__lane_set){.first = eligible->set[s].first, .n = (uint16_t)eligible->set[s].n};
        // Boxes start with different lanes.
        if (spray->set[s].n > 1) {
            spray->set[s].at = shuffled ? 0 : (uint16_t)weft_random_below(&spray->random, spray->set[s].n);
            if (shuffled) weft__spray_shuffle(spray, &spray->set[s]);
        }
    }
}

void weft__spray_change(struct weft__spray *spray, weft_time_ps now) {
    while (spray->changes_left && spray->change->time_ps <= now) {
        spray->own_set_of[spray->change->in] = spray->change->set;
        spray->change++;
        spray->changes_left--;
    }
    spray->change_ps = spray->changes_left ? spray->change->time_ps : WEFT_TIME_NEVER;
}

/// Fisher and Yates's shuffle, with sixteen bits per place: with up to a few hundred lanes the bias is not measurable.
void weft__spray_shuffle(struct weft__spray *spray, struct weft__lane_set *way) {
    uint16_t *lane = &spray->lane[way->first];
    uint64_t bits = 0;
    for (uint32_t left = way->n, have = 0; left > 1; left--) {
        if (!have) {
            bits = weft_random_u64(&spray->random);
            have = 4;
        }
        uint32_t k = (uint32_t)((bits & 0xffff) * left >> 16);
        bits >>= 16;
        have--;
        uint16_t swap = lane[left - 1];
        lane[left - 1] = lane[k];
        lane[k] = swap;
    }
}
