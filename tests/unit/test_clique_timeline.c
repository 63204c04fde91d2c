// SPDX-License-Identifier: Apache-2.0
// What the data plane of a Clique gets from its controller: TiN by TiN and entry by entry, at the end the tables of the
// remaining links.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "clique.h"
#include "control/clique/clique_timeline.h"

static struct weft_sdn_conf defaults(void) {
    struct weft_sdn_conf conf;
    assert_int_equal(weft_params_load(&weft_sdn_table, NULL, &conf, arena, NULL), WEFT_OK);
    return conf;
}

/// A Clique with the events of a scenario.
static struct built build_with(const char *keys, const char *events) {
    char text[2048];
    snprintf(text, sizeof text, "topology: {kind: dragonfly, %s}\nevents: [%s]\n", keys, events);
    struct built b = build_text(text);
    if (!b.t) fail_msg("%s", b.error.text);
    return b;
}

struct told {
    struct built b;
    const struct weft_dragonfly *f;
    struct weft_gnet_conf gnet;
    struct weft_clique_timeline *timeline;
};

static struct told tell(const char *keys, const char *events, const struct weft_sdn_conf *conf,
                        const struct weft_control_event *given, uint32_t givens) {
    struct told x = {.b = build_with(keys, events)};
    x.f = &weft_dragonflies_new(x.b.t, x.b.arena)->fabric[0];
    assert_int_equal(weft_params_load(&weft_gnet_table, NULL, &x.gnet, x.b.arena, NULL), WEFT_OK);
    const struct weft_control_conf control = {.sdn = *conf};
    x.timeline = weft_clique_timeline_new(
        x.b.t, x.f, &x.gnet, &(struct weft_control_given){&control, given, givens, 1, NULL}, NULL, x.b.arena);
    return x;
}

static void told_free(struct told *x) {
    weft_clique_timeline_free(x->timeline);
    built_free(&x->b);
}

static void apply_all(const struct told *x) {
    for (uint32_t i = 0; i < x->f->tins; i++) {
        const struct weft_clique_tin_timeline *own = &x->timeline->tin[i];
        for (uint32_t c = 0; c < own->changes; c++) {
            assert_true(!c || own->change[c - 1].time_ps <= own->change[c].time_ps);
            own->set_of[own->change[c].row * x->timeline->columns + own->change[c].column] = own->change[c].set;
        }
    }
}

/// The table of every TiN says of every port, VC and destination what those of `routes` say, wherever a cell may come.
static void assert_tables(const struct told *x, const struct weft_gnet_routes *routes) {
    const struct weft_clique_timeline *timeline = x->timeline;
    for (uint32_t i = 0; i < x->f->tins; i++)
        for (uint32_t port = 0; port <= 63; port++)
            for (uint32_t vc = 0; vc < WEFT_GNET_ROUTING_VCS; vc++)
                for (uint32_t dst = 0; dst < x->f->tins; dst++) {
                    const struct weft_tin *tin = &x->f->tin[i];
                    bool link = port && (tin->local | tin->global) >> (port - 1) & 1;
                    if (dst == i || (port && !link)) continue;
                    uint32_t column = x->f->tin[dst].pod == tin->pod ? x->f->tin[dst].place : timeline->column_of[dst];
                    enum weft_gnet_input input = link ? (enum weft_gnet_input)tin->input[port - 1] : WEFT_GNET_TERMINAL;
                    const struct weft_gnet_set *meant = weft_gnet_at(routes, i, input, vc, dst);
                    if (!timeline->tin[i].set_of || !(meant->minimal | meant->nonminimal)) continue;
                    uint32_t row = port * WEFT_GNET_ROUTING_VCS + vc;
                    const struct weft_gnet_set *is =
                        &timeline->tin[i].set[timeline->tin[i].set_of[row * timeline->columns + column]];
                    assert_int_equal(is->minimal, meant->minimal);
                    assert_int_equal(is->nonminimal, meant->nonminimal);
                }
}

static const char *const shapes[] = {"pods: 5, tins: 4, local_parallel: 1, gateways: 4, spines: 2",
                                     "pods: 3, tins: 6, gateways: 4, spines: 2",
                                     "pods: 1, tins: 8, gateways: 4, spines: 2"};

/// Links of tin-1: to its pod, and to another if there is one. At first and at last tables are those of the links; TiNs
/// without changes have the same in both.
static void tables_follow_links(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    for (uint32_t k = 0; k < 3; k++) {
        struct told x = tell(shapes[k],
                             "{at: 1s, link: tin-0--tin-1, state: down}, {at: 1s, link: tin-1--tin-2, state: down}, "
                             "{at: 2010ms, link: tin-1--tin-3, state: down}",
                             &conf, NULL, 0);
        bool *down = weft_arena_alloc(x.b.arena, x.b.t->links, sizeof *down);
        struct weft_gnet_routes *before = weft_gnet_routes_new(x.b.t, x.f, &x.gnet, down);
        for (uint32_t e = 0; e < x.b.t->events; e++)
            down[x.b.t->event[e].link] = true;
        struct weft_gnet_routes *after = weft_gnet_routes_new(x.b.t, x.f, &x.gnet, down);
        uint32_t changed = 0;
        for (uint32_t i = 0; i < x.f->tins; i++) {
            changed += x.timeline->tin[i].set_of != NULL;
            for (uint32_t at = 0; at < WEFT_GNET_ROWS && !x.timeline->tin[i].set_of; at++)
                for (uint32_t dst = 0; dst < x.f->tins; dst++) {
                    enum weft_gnet_input input = (enum weft_gnet_input)(at / WEFT_GNET_ROUTING_VCS);
                    uint32_t vc = at % WEFT_GNET_ROUTING_VCS;
                    bool any = input == WEFT_GNET_TERMINAL;
                    for (uint32_t port = 0; port < WEFT_GNET_PORTS_MAX; port++)
                        any |= x.f->tin[i].peer[port] != WEFT_TIN_NONE &&
                               (x.f->tin[i].local | x.f->tin[i].global) >> port & 1 && x.f->tin[i].input[port] == input;
                    if (dst == i || !any) continue; // no port of the class, no entry
                    assert_memory_equal(weft_gnet_at(before, i, input, vc, dst), weft_gnet_at(after, i, input, vc, dst),
                                        sizeof(struct weft_gnet_set));
                }
        }
        assert_true(changed >= 4);
        assert_tables(&x, before);
        apply_all(&x);
        assert_tables(&x, after);
        assert_int_equal(x.timeline->differences, 0);
        assert_int_equal(x.timeline->transitions, 1); // the third link fails before the plan for the others is done
        assert_int_equal(x.timeline->transition[0].down, x.b.t->events);
        weft_gnet_routes_free(before);
        weft_gnet_routes_free(after);
        told_free(&x);
    }
}

/// Entries change 20 us apart at each TiN, as its firmware writes them, and TiNs of a later batch after those of an
/// earlier one: a TiN is not programmed at one time, and they are not at the same time.
static void tables_change_entry_by_entry(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    struct told x = tell(shapes[0], "{at: 1s, link: tin-0--tin-1, state: down}", &conf, NULL, 0);
    weft_time_ps first = WEFT_TIME_NEVER, last = 0;
    for (uint32_t i = 0; i < x.f->tins; i++)
        for (uint32_t c = 0; c < x.timeline->tin[i].changes; c++) {
            const struct weft_clique_change *change = &x.timeline->tin[i].change[c];
            if (change->time_ps < first) first = change->time_ps;
            if (change->time_ps > last) last = change->time_ps;
            if (c) assert_true(change->time_ps >= (change - 1)->time_ps + conf.op_ps || change->column >= 9);
        }
    const struct weft_sdn_outcome *o = &x.timeline->sdn->outcome[0];
    assert_int_equal(o->batches, 3);
    assert_true(first >= WEFT_PS_PER_S + o->computed_ps);
    assert_true(last <= WEFT_PS_PER_S + o->done_ps && last > first + 2 * conf.rpc_ps);
    assert_int_equal(x.timeline->transition[0].to_ps, WEFT_PS_PER_S + o->done_ps);
    told_free(&x);
}

/// While tin-1 has no session nothing of it changes, and what follows waits for it; firmware that reboots keeps the
/// table, or loses all of it.
static void tables_wait_for_a_session(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    bool side[256] = {0};
    struct weft_control_event cut[] = {{.time_ps = 1, .what = WEFT_CONTROL_CUT, .side = side},
                                       {.time_ps = 30 * WEFT_PS_PER_S, .what = WEFT_CONTROL_HEAL}};
    struct told x = tell(shapes[0], "{at: 1s, link: tin-0--tin-1, state: down}", &conf, NULL, 0);
    uint32_t node = x.f->tin[1].node;
    told_free(&x);
    side[node] = true;
    x = tell(shapes[0], "{at: 1s, link: tin-0--tin-1, state: down}", &conf, cut, 2);
    assert_true(x.timeline->tin[1].changes > 0 && x.timeline->tin[1].change[0].time_ps > 30 * WEFT_PS_PER_S);
    assert_true(x.timeline->transition[0].to_ps > 30 * WEFT_PS_PER_S);
    told_free(&x);
    struct weft_control_event reboot = {.time_ps = WEFT_PS_PER_S, .what = WEFT_CONTROL_REBOOT, .node = node};
    for (uint32_t nsf = 0; nsf < 2; nsf++) {
        conf.nsf = nsf;
        x = tell(shapes[0], "", &conf, &reboot, 1);
        assert_int_equal(x.timeline->absences, 1);
        assert_int_equal(x.timeline->absence[0].to_ps, WEFT_PS_PER_S + conf.reboot_ps);
        assert_int_equal(x.timeline->tin[1].changes > 0, !nsf);
        struct weft_gnet_routes *routes = weft_gnet_routes_new(x.b.t, x.f, &x.gnet, NULL);
        apply_all(&x);
        assert_tables(&x, routes); // in the end
        weft_gnet_routes_free(routes);
        told_free(&x);
    }
}

/// Nothing happens to the Clique, only to what is beyond it.
static void others_are_none_of_its_business(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    struct told x = tell(shapes[0], "", &conf, NULL, 0);
    assert_null(x.timeline);
    told_free(&x);
    x = tell(shapes[0], "{at: 1s, link: tin-4--spine-0, state: down}", &conf, NULL, 0);
    assert_non_null(x.timeline);
    for (uint32_t i = 0; i < x.f->tins; i++) {
        assert_int_equal(x.timeline->tin[i].egresses, 1);
        assert_int_equal(x.timeline->tin[i].egress[0].state_ps, WEFT_PS_PER_S);
        assert_true(x.timeline->tin[i].egress[0].time_ps > WEFT_PS_PER_S + conf.ibr_ps);
        assert_null(x.timeline->tin[i].set_of);
    }
    told_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_follow_links),
        cmocka_unit_test(tables_change_entry_by_entry),
        cmocka_unit_test(tables_wait_for_a_session),
        cmocka_unit_test(others_are_none_of_its_business),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
