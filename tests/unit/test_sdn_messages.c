// SPDX-License-Identifier: Apache-2.0
// What the applications of a Clique's controller and the firmware of TiNs tell one another (Aquila, NSDI'22, sections
// 4.1 to 4.3 and figure 5): each message takes its time, and each step waits for its message.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena.h"
#include "clique.h"
#include "weft/sdn.h"

enum { TINS = 16 };
#define SECOND WEFT_PS_PER_S

struct told {
    struct clique small;
    struct weft_sdn_conf conf;
    struct weft_sdn *s;
    const struct weft_sdn_result *r;
};

static struct told begin(void) {
    struct told x = {.small = clique_build("pods: 4, tins: 4, gateways: 4, spines: 2")};
    assert_int_equal(weft_params_load(&weft_sdn_table, NULL, &x.conf, arena, NULL), WEFT_OK);
    return x;
}

static void run(struct told *x, const struct weft_sdn_event *event, uint32_t events) {
    x->s = weft_sdn_new(x->small.built.t, x->small.fabric, &x->small.gnet, &x->conf, 1);
    x->r = weft_sdn_run(x->s, event, events, arena);
    assert_int_equal(weft_sdn_differences(x->s), 0);
}

static void end(struct told *x) {
    weft_sdn_free(x->s);
    built_free(&x->small.built);
}

static uint64_t count(const struct told *x, enum weft_sdn_message_kind kind) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < x->r->messages; i++)
        n += x->r->message[i].kind == kind;
    return n;
}

/// The first or the last of a kind after a message, in the order of sending.
static const struct weft_sdn_message *next(const struct told *x, enum weft_sdn_message_kind kind, weft_time_ps from) {
    for (uint32_t i = 0; i < x->r->messages; i++)
        if (x->r->message[i].kind == kind && x->r->message[i].sent_ps >= from) return &x->r->message[i];
    fail_msg("no %s from %llu on", weft_sdn_message_info[kind].name, (unsigned long long)from);
    return NULL;
}

static const struct weft_sdn_message *follow(const struct told *x, enum weft_sdn_message_kind kind,
                                             const struct weft_sdn_message *last, weft_time_ps takes) {
    const struct weft_sdn_message *m = next(x, kind, last->arrives_ps);
    assert_int_equal(m->sent_ps, last->arrives_ps);
    assert_int_equal(m->arrives_ps - m->sent_ps, takes);
    return m;
}

/// A failed link, from the firmware that notices it to the first write, each told by the one before.
static void a_chain_of_messages(void **state) {
    (void)state;
    struct told x = begin();
    uint32_t link = x.small.c->link[0].link;
    const struct weft_sdn_event down = {.time_ps = SECOND, .what = WEFT_SDN_LINKS, .link = &link, .links = 1};
    run(&x, &down, 1);
    const struct weft_sdn_outcome *o = &x.r->outcome[0];
    const struct weft_sdn_message *m = next(&x, WEFT_SDN_PORT_STATUS, 0);
    assert_int_equal(m->sent_ps, SECOND + x.conf.detect_ps);
    assert_int_equal(m->arrives_ps - m->sent_ps, x.conf.latency_ps);
    m = follow(&x, WEFT_SDN_PORT_WRITE, m, x.conf.nib_write_ps);
    m = follow(&x, WEFT_SDN_PORT_NOTICE, m, x.conf.nib_ps);
    assert_int_equal(m->arrives_ps, SECOND + o->noticed_ps);
    m = next(&x, WEFT_SDN_BATCH_WRITE, 0);
    assert_int_equal(m->sent_ps, SECOND + o->noticed_ps + x.conf.settle_ps + x.conf.compute_ps);
    m = follow(&x, WEFT_SDN_BATCH_NOTICE, m, x.conf.nib_ps);
    m = follow(&x, WEFT_SDN_PROGRAM, m, x.conf.call_ps);
    m = follow(&x, WEFT_SDN_RPC, m, x.conf.rpc_ps + x.conf.latency_ps);
    for (uint32_t kind = 0; kind < WEFT_SDN_MESSAGE_KINDS; kind++)
        assert_int_equal(o->sent[kind].n, count(&x, kind));
    assert_int_equal(o->sent[WEFT_SDN_PORT_STATUS].n, 2); // both ends
    assert_int_equal(o->sent[WEFT_SDN_PORT_NOTICE].n, 2);
    assert_int_equal(o->sent[WEFT_SDN_BATCH_WRITE].n, o->batches);
    assert_int_equal(o->sent[WEFT_SDN_BATCH_NOTICE].n, o->batches);
    assert_int_equal(o->sent[WEFT_SDN_RPC].n, o->rpcs);
    assert_int_equal(o->sent[WEFT_SDN_ANSWER].n, o->rpcs);
    assert_int_equal(o->sent[WEFT_SDN_RESULT_NOTICE].last_ps, o->done_ps);
    assert_int_equal(x.r->messages_lost, 0);
    end(&x);
}

/// The flow manager asks once a TiN and batch, and the routing engine hears of each; the next batch is written when it
/// has heard of all of the last. A TiN has one RPC at a time.
static void who_waits_for_whom(void **state) {
    (void)state;
    struct told x = begin();
    x.conf.rpc_bytes = 4 * x.conf.op_bytes; // so that one batch is many RPCs
    uint32_t link = x.small.c->link[0].link;
    const struct weft_sdn_event down = {.time_ps = SECOND, .what = WEFT_SDN_LINKS, .link = &link, .links = 1};
    run(&x, &down, 1);
    assert_true(x.r->outcome[0].batches > 1);
    uint32_t asked = 0, told = 0, busy[TINS] = {0}, rpcs = 0;
    weft_time_ps answered[TINS] = {0}, heard = 0;
    for (uint32_t i = 0; i < x.r->messages; i++) {
        const struct weft_sdn_message *m = &x.r->message[i];
        asked += m->kind == WEFT_SDN_PROGRAM;
        if (m->kind == WEFT_SDN_RESULT_NOTICE) {
            told++;
            heard = m->arrives_ps;
        }
        if (m->kind == WEFT_SDN_BATCH_WRITE && asked) {
            assert_int_equal(told, asked);
            assert_int_equal(m->sent_ps, heard);
        }
        if (m->kind == WEFT_SDN_RPC) {
            assert_int_equal(busy[m->who]++, 0);
            assert_true(m->sent_ps >= answered[m->who]);
            rpcs++;
        }
        if (m->kind == WEFT_SDN_ANSWER) {
            busy[m->who]--;
            answered[m->who] = m->arrives_ps;
        }
    }
    assert_int_equal(told, asked);
    assert_true(rpcs > 2 * asked);
    assert_int_equal(count(&x, WEFT_SDN_PROGRAMMED), asked);
    assert_int_equal(count(&x, WEFT_SDN_RESULT_WRITE), asked);
    end(&x);
}

/// A TiN without a session cannot report its port: the other end does, and if neither has one, the registers do when a
/// session is established again.
static void who_has_no_session_reports_nothing(void **state) {
    (void)state;
    for (uint32_t cut = 0; cut <= 2; cut++) {
        struct told x = begin();
        const struct weft_clique_link *l = &x.small.c->link[0];
        struct weft_sdn_event event[5];
        uint32_t n = 0;
        for (uint32_t i = 0; i < cut; i++)
            event[n++] = (struct weft_sdn_event){.time_ps = SECOND, .what = WEFT_SDN_CUT, .tin = l->tin[i]};
        uint32_t down = n;
        event[n++] =
            (struct weft_sdn_event){.time_ps = 2 * SECOND, .what = WEFT_SDN_LINKS, .link = &l->link, .links = 1};
        for (uint32_t i = 0; i < cut; i++)
            event[n++] = (struct weft_sdn_event){.time_ps = 60 * SECOND, .what = WEFT_SDN_HEAL, .tin = l->tin[i]};
        run(&x, event, n);
        assert_int_equal(count(&x, WEFT_SDN_PORT_STATUS), 2 - cut);
        const struct weft_sdn_outcome *o = &x.r->outcome[down];
        weft_time_ps usual = x.conf.detect_ps + x.conf.latency_ps + x.conf.nib_write_ps + x.conf.nib_ps;
        if (cut < 2)
            assert_int_equal(o->noticed_ps, usual);
        else
            assert_in_range(o->noticed_ps, 58 * SECOND, 60 * SECOND);
        assert_int_equal(count(&x, WEFT_SDN_CONNECT), cut);
        assert_int_equal(count(&x, WEFT_SDN_REGISTERS), cut);
        assert_int_equal(x.r->outcome[n - 1].left_pairs, 0);
        end(&x);
    }
}

/// Four inter-block routing controllers hear of a link to a spine and publish their exits; with the last of these the
/// routing engine has all, and every TiN is programmed.
static void exits_come_from_the_datacenter(void **state) {
    (void)state;
    struct told x = begin();
    const struct weft_sdn_event down = {.time_ps = SECOND, .what = WEFT_SDN_DCN, .tin = 0};
    run(&x, &down, 1);
    const struct weft_sdn_message *m = next(&x, WEFT_SDN_SPINE_STATUS, 0);
    assert_int_equal(m->sent_ps, SECOND + x.conf.detect_ps);
    assert_int_equal(m->arrives_ps - m->sent_ps, x.conf.latency_ps);
    weft_time_ps solved = m->arrives_ps + x.conf.ibr_ps;
    m = next(&x, WEFT_SDN_EXIT_WRITE, 0);
    assert_int_equal(m->sent_ps, solved);
    m = follow(&x, WEFT_SDN_EXIT_NOTICE, m, x.conf.nib_ps);
    m = follow(&x, WEFT_SDN_BATCH_WRITE, m, x.conf.nib_write_ps);
    m = follow(&x, WEFT_SDN_BATCH_NOTICE, m, x.conf.nib_ps);
    m = follow(&x, WEFT_SDN_PROGRAM, m, x.conf.call_ps);
    m = follow(&x, WEFT_SDN_RPC, m, x.conf.rpc_ps + x.conf.latency_ps);
    static const enum weft_sdn_message_kind shares[] = {WEFT_SDN_SPINE_STATUS, WEFT_SDN_EXIT_WRITE,
                                                        WEFT_SDN_EXIT_NOTICE},
                                            each[] = {WEFT_SDN_PROGRAM,      WEFT_SDN_RPC,
                                                      WEFT_SDN_ANSWER,       WEFT_SDN_PROGRAMMED,
                                                      WEFT_SDN_RESULT_WRITE, WEFT_SDN_RESULT_NOTICE};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(count(&x, shares[i]), 4);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(count(&x, each[i]), TINS);
    assert_int_equal(count(&x, WEFT_SDN_PORT_STATUS), 1); // the TiN's
    assert_int_equal(x.r->messages, 3 * 4 + 6 * TINS + 3 + 2);
    end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_messages),
        cmocka_unit_test(who_waits_for_whom),
        cmocka_unit_test(who_has_no_session_reports_nothing),
        cmocka_unit_test(exits_come_from_the_datacenter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
