// SPDX-License-Identifier: Apache-2.0
#include "base/grow.h"
#include "box/switch/switch.h"
#include "weft/memory.h"

static void note_key(void *context, uint32_t port, uint32_t edge, weft_bytes bytes) {
    struct weft__te_report *r = context;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_SWITCH, r->key, r->n, r->capacity, 64) =
        (struct weft__te_key){.bytes = bytes, .edge = edge, .port = (uint16_t)port};
}

void weft__switch_te_report(struct weft__switch *sw, struct weft__worker *w) {
    const struct weft__te_agent *te = sw->te;
    uint64_t round = weft__te_round(&te->schedule, w->now_ps);
    struct weft__te_report *report = &te->report[round % te->kept];
    report->n = 0;
    sw->route->program->measured(sw->route_state, sw->conf->route.conf, note_key, report);
    weft_time_ps at = w->now_ps + te->schedule.collector_ps;
    // All reports reach the controller at the same time, in the order of the switches.
    weft__send(w, (struct weft__to){te->inbox, te->controller, (uint16_t)sw->index}, at,
               &(struct weft_packet){.psn = sw->index, .kind = WEFT_PACKET_CONTROL});
}

void weft__switch_te_install(struct weft__switch *sw, struct weft__te_orders *orders) {
    const struct weft_route_program *program = sw->route->program;
    program->clear(sw->route_state, sw->conf->route.conf);
    for (uint32_t i = 0; i < orders->n; i++)
        program->enter(sw->route_state, sw->conf->route.conf, orders->entry[i].in, orders->entry[i].edge,
                       orders->entry[i].out);
    orders->n = 0;
}
