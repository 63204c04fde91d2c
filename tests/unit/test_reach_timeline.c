// SPDX-License-Identifier: Apache-2.0
// The timeline that a data plane is given: applied to what is usable when nothing has failed, it gives what the agents
// have at the end, for two planes at once. Interface nodes that are drained, or have too few links; the agenda's order.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "control/agenda.h"
#include "control/dsf/reach_run.h"
#include "reach_leads.h"
#include "weft/scenario.h"

static struct {
    struct weft_scenario_file *file;
    struct weft_scenario *scenario;
    struct weft_topology *t;
    struct weft_fabric **fabric;
    uint32_t fabrics;
} now;

static void load(const char *text) {
    struct weft_error error = {0};
    if (weft_scenario_file_parse("s", text, strlen(text), NULL, 0, &now.file, &error)) fail_msg("%s", error.text);
    if (weft_scenario_new(now.file, 0, &now.scenario, &error)) fail_msg("%s", error.text);
    struct weft_scenario *s = now.scenario;
    if (weft_topology_new(&s->topology, s->topology_tree, s->events_tree, s->arena, &now.t, &error))
        fail_msg("%s", error.text);
    if (weft_fabric_find(now.t, &s->control.reach, s->arena, &now.fabric, &now.fabrics, &error))
        fail_msg("%s", error.text);
}

static void unload(void) {
    weft_scenario_free(now.scenario);
    weft_scenario_file_free(now.file);
}

static bool is_same_fabric(uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < now.fabrics; i++) {
        uint32_t found = 0;
        for (uint32_t d = 0; d < now.fabric[i]->devices; d++)
            found += now.fabric[i]->device[d].node == a || now.fabric[i]->device[d].node == b;
        if (found) return found == 1 + (a != b);
    }
    return false;
}

/// What is usable at the end: port `k` of `node` towards `dst`, by the events in their order.
static bool usable_at_end(const struct weft_reach_timeline *timeline, uint32_t node, uint32_t k, uint32_t dst) {
    bool usable = reach_leads(now.t, node, k, dst);
    for (uint32_t e = 0; e < timeline->events; e++) {
        const struct weft_reach_event *event = &timeline->event[e];
        if (event->node != node || event->port != k || event->dst != dst) continue;
        assert_true(event->usable != usable); // each is a change
        usable = event->usable;
    }
    return usable;
}

static void the_timeline_ends_where_the_agents_do(void **state) {
    (void)state;
    load("topology: {kind: dsf_l2_zone, planes: 2, zones: 2, rdsws: 4, fdsws: 2, virtual_devices: 2, sdsws: 2,\n"
         "           hosts_per_rdsw: 1, rails: 4}\n"
         "events:\n"
         "  - {at: 1ms, link: plane-0-rdsw-3--plane-0-fdsw-1.0, state: down}\n"
         "  - {at: 1100us, link: plane-1-fdsw-0.1--plane-1-sdsw-1.1, state: down}\n"
         "  - {at: 1200us, link: plane-0-fdsw-0.0--plane-0-sdsw-0.0, state: down}\n"
         "  - {at: 2ms, link: plane-0-rdsw-3--plane-0-fdsw-1.0, state: up}\n");
    assert_int_equal(now.fabrics, 2);
    struct weft_scenario *s = now.scenario;
    struct weft_reach_timeline *timeline;
    assert_int_equal(weft_reach_timeline_new(now.t, &s->control.reach, NULL, 0, 5, s->arena, &timeline, NULL), WEFT_OK);
    assert_true(timeline->events > 0);
    for (uint32_t e = 1; e < timeline->events; e++)
        assert_true(timeline->event[e - 1].time_ps <= timeline->event[e].time_ps);
    for (uint32_t i = 0; i < now.fabrics; i++) {
        const struct weft_fabric *f = now.fabric[i];
        struct weft__reach_run *run = weft__reach_run_events(now.t, f, &s->control.reach, NULL, 0, 5 + i, s->arena);
        weft__reach_run_settle(run);
        for (uint32_t d = 0; d < f->devices; d++)
            for (uint32_t k = 0; k < f->device[d].links; k++)
                for (uint32_t dest = 0; dest < f->dests; dest++) {
                    const uint32_t *port = now.t->link[f->link[f->at[f->device[d].link0 + k]].link].port;
                    uint32_t node = f->device[d].node, dst = f->device[f->dest_device[dest]].node;
                    uint32_t at = port[now.t->port[port[0]].node != node] - now.t->node[node].port0;
                    assert_true(is_same_fabric(node, dst));
                    assert_int_equal(usable_at_end(timeline, node, at, dst),
                                     weft_reach_usable(weft__reach_run_agent(run, d), k, dest));
                }
        weft__reach_run_free(run);
    }
    unload();
}

/// Links on which others can send to an interface node, over all of them.
static uint32_t links_towards(const struct weft__reach_run *run, uint32_t device) {
    const struct weft_fabric *f = now.fabric[0];
    uint32_t n = 0;
    for (uint32_t d = 0; d < f->dests; d++)
        for (uint32_t k = 0; k < f->device[f->dest_device[d]].links; k++)
            n += weft_reach_usable(weft__reach_run_agent(run, f->dest_device[d]), k, f->device[device].dest);
    return n;
}

static uint32_t device_of(const char *name) {
    for (uint32_t i = 0; i < now.fabric[0]->devices; i++)
        if (!strcmp(now.fabric[0]->device[i].name, name)) return i;
    fail();
    return 0;
}

static void turn(struct weft__reach_run *run, weft_time_ps *time, uint32_t device, uint32_t slot, bool up) {
    *time += WEFT_PS_PER_MS;
    weft__reach_run_link(run, *time, now.fabric[0]->at[now.fabric[0]->device[device].link0 + slot], up);
    weft__reach_run_settle(run);
}

/// Four links; drained below three, reached again with four: with three links it stays as it was (FBOSS,
/// computeActualSwitchDrainState).
static void too_few_links(void **state) {
    (void)state;
    load("topology: {kind: dsf_l1_zone, rdsws: 4, fdsws: 4, virtual_devices: 1, hosts_per_rdsw: 1, rails: 4}\n"
         "control: {reachability: {min_links_to_remain: 3, min_links_to_join: 4}}\n");
    struct weft__reach_run *run = weft__reach_run_new(now.fabric[0], &now.scenario->control.reach, 1, false);
    uint32_t device = device_of("rdsw-1");
    weft_time_ps time = 0;
    assert_int_equal(links_towards(run, device), 3 * 4);
    turn(run, &time, device, 0, false);
    assert_int_equal(links_towards(run, device), 3 * 3);
    turn(run, &time, device, 1, false);
    assert_int_equal(links_towards(run, device), 0);
    turn(run, &time, device, 0, true);
    assert_int_equal(links_towards(run, device), 0);
    turn(run, &time, device, 1, true);
    assert_int_equal(links_towards(run, device), 3 * 4);
    weft__reach_run_free(run);
    unload();
}

/// States and what leads from one to the other, one link at a time; at each, the links that others have towards it.
static void drain_states(void **state) {
    (void)state;
    load("topology: {kind: dsf_l1_zone, rdsws: 4, fdsws: 4, virtual_devices: 1, hosts_per_rdsw: 1, rails: 4}\n"
         "control: {reachability: {min_links_to_remain: 3, min_links_to_join: 4}}\n");
    struct weft__reach_run *run = weft__reach_run_new(now.fabric[0], &now.scenario->control.reach, 1, false);
    uint32_t device = device_of("rdsw-2"), other = device_of("rdsw-1");
    weft_time_ps time = WEFT_PS_PER_S;
    enum { DRAIN, UNDRAIN, ERROR, DOWN, UP };
    static const struct {
        uint32_t what, slot;
        enum weft_drain then;
        uint32_t links; // up
    } step[] = {
        {DRAIN, 0, WEFT_DRAINED, 4},
        {DOWN, 0, WEFT_DRAINED, 3},
        {UNDRAIN, 0, WEFT_DRAINED, 3}, // to join it needs four
        {UP, 0, WEFT_UNDRAINED, 4},
        {DOWN, 1, WEFT_UNDRAINED, 3}, // to remain three
        {DOWN, 2, WEFT_DRAINED, 2},
        {UP, 2, WEFT_DRAINED, 3},
        {UP, 1, WEFT_UNDRAINED, 4},
        {ERROR, 0, WEFT_DRAINED_ASIC_ERROR, 4},
        {UNDRAIN, 0, WEFT_DRAINED_ASIC_ERROR, 4},
        {DOWN, 0, WEFT_DRAINED_ASIC_ERROR, 3},
        {UP, 0, WEFT_DRAINED_ASIC_ERROR, 4},
        {DRAIN, 0, WEFT_DRAINED, 4},
        {UNDRAIN, 0, WEFT_UNDRAINED, 4},
    };
    for (uint32_t i = 0; i < sizeof step / sizeof *step; i++) {
        time += WEFT_PS_PER_MS;
        if (step[i].what == DOWN || step[i].what == UP)
            turn(run, &time, device, step[i].slot, step[i].what == UP);
        else if (step[i].what == ERROR)
            weft__reach_run_asic_error(run, time, device);
        else
            weft__reach_run_admin(run, time, device, step[i].what == UNDRAIN);
        weft__reach_run_settle(run);
        assert_int_equal(weft__reach_run_drain(run, device), step[i].then);
        assert_int_equal(links_towards(run, device), step[i].then == WEFT_UNDRAINED ? 3 * step[i].links : 0);
        assert_int_equal(weft__reach_run_drain(run, other), WEFT_UNDRAINED);
    }
    weft__reach_run_free(run);
    unload();
}

static void the_agenda_keeps_order(void **state) {
    (void)state;
    struct weft__agenda agenda = {0};
    struct weft_random dice = weft_random_stream(1, 2, WEFT_RANDOM_TEST);
    struct weft__due due, last = {0};
    for (uint32_t i = 0; i < 5000; i++)
        weft__agenda_note(&agenda, (struct weft__due){.time_ps = weft_random_below(&dice, 300), .who = i});
    uint32_t n = 0;
    for (; weft__agenda_take(&agenda, 200, &due); n++, last = due)
        if (n) assert_true(due.time_ps > last.time_ps || (due.time_ps == last.time_ps && due.who > last.who));
    assert_true(n > 0 && n < 5000 && last.time_ps == 200);
    while (weft__agenda_take(&agenda, WEFT_TIME_NEVER, &due))
        n++;
    assert_int_equal(n, 5000);
    weft__agenda_deinit(&agenda);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_timeline_ends_where_the_agents_do),
        cmocka_unit_test(too_few_links),
        cmocka_unit_test(drain_states),
        cmocka_unit_test(the_agenda_keeps_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
