// SPDX-License-Identifier: Apache-2.0
// Schedules in GOAL: what is read, what is refused and where, that both forms are equivalent, and LogGOPS compared with
// times computed by hand.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "goal_binary.h"

static struct weft_arena *arena;

static int setup(void **state) {
    arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    return 0;
}
static int teardown(void **state) {
    weft_arena_free(arena);
    return 0;
}

/// Reads and checks.
static enum weft_status load(const void *bytes, size_t size, struct weft_schedule **ret, struct weft_error *ret_error) {
    FILE *file = fmemopen((void *)(uintptr_t)bytes, size, "r");
    assert_non_null(file);
    *ret_error = (struct weft_error){0};
    enum weft_status status = weft_goal_read(file, "x.goal", arena, ret, ret_error);
    fclose(file);
    return status ? status : weft_schedule_check(*ret, ret_error);
}

static struct weft_schedule *must_load(const void *bytes, size_t size) {
    struct weft_schedule *s;
    struct weft_error error;
    if (load(bytes, size, &s, &error)) fail_msg("%s", error.text);
    return s;
}

static char *written(void (*write)(FILE *file, const struct weft_schedule *s), const struct weft_schedule *s,
                     size_t *ret_size) {
    char *text;
    FILE *file = open_memstream(&text, ret_size);
    write(file, s);
    fclose(file);
    return text;
}

static const char sample[] = "// a comment\n"
                             "/* one over\n   lines */ num_ranks 2\n\n"
                             "rank 0 {\n"
                             "  a: calc 100 cpu 3\n"
                             "  send 8b to 1 tag 7 cpu 1 nic 2\n"
                             "  b1: recv 16b from -1 tag -1 /* behind it is none */\n"
                             "  b1 requires a\n"
                             "}\n"
                             "rank 1 {\n"
                             "l1: recv 8b from 0 tag 7\r\n"
                             "l2: send 16b to 0\n"
                             "l2 irequires l1\n"
                             "}";

static void fields_of_a_text(void **state) {
    char text[sizeof sample];
    memcpy(text, sample, sizeof sample);
    char *comment = strstr(text, "/* behind");
    memset(comment, ' ', strlen("/* behind it is none */")); // only where a statement may begin
    struct weft_schedule *s = must_load(text, sizeof text - 1);
    assert_int_equal(s->ranks, 2);
    assert_int_equal(s->steps, 5);
    assert_int_equal(s->edges, 2);
    assert_int_equal(s->messages, 2);
    assert_int_equal(s->bytes, 24);
    assert_int_equal(s->cpus, 4);
    assert_int_equal(s->nics, 3);
    const struct weft_schedule_rank *r = &s->rank[0];
    assert_int_equal(r->step[0].size, 100000);
    assert_int_equal(r->step[0].line, 6);
    assert_int_equal(r->step[1].tag, 7);
    assert_int_equal(r->step[1].nic, 2);
    assert_int_equal(r->step[2].peer, WEFT_SCHEDULE_ANY);
    assert_int_equal(r->step[2].tag, WEFT_SCHEDULE_ANY);
    assert_int_equal(r->step[2].waits, 1);
    assert_int_equal(r->edge[r->step[0].edge0], 2);
    assert_int_equal(s->rank[1].edge[0], 1 | WEFT_SCHEDULE_AFTER_START);
}

static void both_forms_say_the_same(void **state) {
    char text[sizeof sample];
    memcpy(text, sample, sizeof sample);
    memset(strstr(text, "/* behind"), ' ', strlen("/* behind it is none */"));
    size_t n_text, n_binary, n_again;
    char *first = written(weft_goal_write, must_load(text, sizeof text - 1), &n_text);
    char *binary = written(goal_write_binary, must_load(first, n_text), &n_binary);
    assert_true(weft_goal_recognise(binary, n_binary));
    assert_true(weft_goal_recognise(text, sizeof text - 1));
    assert_false(weft_goal_recognise("topology: {kind: single}\n", 25));
    // 8 and 6 bytes, 16 for each rank; of a rank 8, 4 for each root, 39 for each node, 4 for each dependent
    assert_int_equal(n_binary, 14 + 32 + (8 + 8 + 3 * 39 + 4) + (8 + 4 + 2 * 39 + 4));
    char *again = written(weft_goal_write, must_load(binary, n_binary), &n_again);
    assert_string_equal(first, again);
    for (size_t n = 0; n + 1 < n_binary; n++) { // cut off anywhere
        struct weft_schedule *s;
        struct weft_error error;
        assert_int_equal(load(binary, n + 1, &s, &error), WEFT_ERROR_INPUT);
        assert_int_equal(strncmp(error.text, "x.goal:", 7), 0);
    }
    free(first);
    free(binary);
    free(again);
}

#define TWO(zero, one) "num_ranks 2\nrank 0 {\n" zero "}\nrank 1 {\n" one "}\n"

static void what_is_refused(void **state) {
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {" ", "x.goal:1:1: nothing is in it"},
        {"ranks 2\n", "x.goal:1:1: 'ranks': expected num_ranks"},
        {"num_ranks 0\n", "x.goal:1:1: 'num_ranks': expected a number of ranks from 1"},
        {"num_ranks 99999999\n", "x.goal:1:11: '99999999': expected a number of ranks from 1"},
        {"num_ranks 1\n", "x.goal:1:1: the file ends"},
        {"num_ranks 1\nrank 1 {\n}\n", "x.goal:2:6: '1': expected ranks in order"},
        {"num_ranks 1\nrank 0 {\ncalc 5\n", "x.goal:3:1: the file ends in a rank"},
        {"num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n", "x.goal:4:1: 'rank': expected no more than num_ranks"},
        {"num_ranks 1\nrank 0 {\n/* a\n\n", "x.goal:4:1: the file ends in a comment"},
        {TWO("send 8 to 1\n", ""), "x.goal:3:6: '8': expected a size in bytes"},
        {TWO("send 9223372036854775808b to 1\n", ""), "x.goal:3:6: '9223372036854775808b': expected a size in bytes"},
        {TWO("send 8b to 2\n", ""), "x.goal:3:12: '2': expected a rank that exists"},
        {TWO("send 8b to -1\n", ""), "x.goal:3:12: '-1': expected a rank that exists"},
        {TWO("send 8b to 1 tag -1\n", ""), "x.goal:3:18: '-1': expected a tag"},
        {TWO("send 8b from 1\n", ""), "x.goal:3:9: 'from': expected \"to\" and a rank"},
        {TWO("calc 1 nic 2\n", ""), "x.goal:3:8: 'nic': expected the end of the line"},
        {TWO("calc 1 cpu 256\n", ""), "x.goal:3:12: '256': expected the number of a CPU"},
        {TWO("calc 9640000000000000\n", ""), "x.goal:3:6: '9640000000000000': expected nanoseconds"},
        {TWO("wait 1\n", ""), "x.goal:3:1: 'wait': expected send, recv or calc"},
        {TWO("a: calc 1\na: calc 1\n", ""), "x.goal:4:1: 'a:': an operation of the rank has this label already"},
        {TWO("a: calc 1\na requires b\n", ""), "x.goal:4:12: 'b': no operation of the rank has this label so far"},
        {TWO("a: calc 1\n", "b: calc 1\nb requires a\n"), "x.goal:7:12: 'a': no operation of the rank"},
        {TWO("a: calc 1\nb: calc 1\na requires b\nb irequires a\n", ""),
         "x.goal:3:1: rank 0, compute of 1000 ps: it waits for itself in a circle: line 3 waits for line 4, that for "
         "line 3"},
        {TWO("send 8b to 1\n", ""), "x.goal:3:1: rank 0, send of 8 bytes to rank 1, tag 0: no receive is left"},
        {TWO("send 8b to 1\n", "recv 8b from 0 tag 1\n"), "x.goal:"},
        {TWO("", "recv 8b from 0\n"), "x.goal:5:1: rank 1, receive of 8 bytes from rank 0, tag 0: no message is left"},
        {TWO("send 8b to 1\n", "recv 8b from -1\nrecv 8b from 0\n"), "x.goal:6:1: rank 1, receive of 8 bytes from any "
                                                                     "rank, tag 0: no message is left"},
    };
    struct weft_schedule *s;
    struct weft_error error;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(load(bad[i].text, strlen(bad[i].text), &s, &error), WEFT_ERROR_INPUT);
        if (strncmp(error.text, bad[i].expected, strlen(bad[i].expected)))
            fail_msg("case %u: %s\nexpected %s", i, error.text, bad[i].expected);
    }
}

static void what_is_refused_of_the_binary_form(void **state) {
    static const char text[] = TWO("a: calc 5\nb: send 8b to 1\nb requires a\n", "recv 8b from 0\n");
    static const struct {
        size_t at;
        unsigned char byte;
        const char *expected;
    } bad[] = {
        {8, 0, "x.goal: byte 8: 0 ranks"},
        {14, 99, "x.goal: byte 14: rank 0 begins at 99"},
        {22, 3, "x.goal: byte 22: rank 0 ends at 3"},
        {46, 250, "x.goal: byte 46: 250 nodes and 1 roots"},
        {46 + 12 + 4, 9, "x.goal: byte 62: an operation of kind 9"},
        {46 + 12 + 23, 200, "x.goal: byte 81: 200 dependents from number 0 of the appendix"},
        {46 + 12, 1, "x.goal: byte 58: the node waits for 1 dependencies more than others have it as their dependent"},
        {46 + 12 + 39, 0, "x.goal: byte 136: node 1 depends on more nodes than it says"},
        {46 + 12 + 78, 2, "x.goal: byte 136: node 2; expected one of the rank's 2"},
        {46 + 12 + 39 + 5, 7, "x.goal: byte 97: rank 0, send of 8 bytes to rank 7, tag 0: expected a rank that exists"},
    };
    struct weft_schedule *s;
    struct weft_error error;
    size_t size;
    char *binary = written(goal_write_binary, must_load(text, sizeof text - 1), &size);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        char was = binary[bad[i].at];
        binary[bad[i].at] = (char)bad[i].byte;
        assert_int_equal(load(binary, size, &s, &error), WEFT_ERROR_INPUT);
        if (strncmp(error.text, bad[i].expected, strlen(bad[i].expected))) fail_msg("case %u: %s", i, error.text);
        binary[bad[i].at] = was;
    }
    free(binary);
}

// --- LogGOPS ------------------------------------------------------------------------------------------------------

static struct weft_loggops_result run(const char *text, const char *model) {
    struct weft_loggops m;
    struct weft_loggops_result result;
    struct weft_error error = {0};
    if (weft_loggops_parse(model, WEFT_NOWHERE, &m, &error)) fail_msg("%s", error.text);
    if (weft_loggops_run(must_load(text, strlen(text)), &m, arena, &result, &error)) fail_msg("%s", error.text);
    return result;
}

#define END(result, rank, ns) assert_int_equal((result).end_ps[rank], (ns)*UINT64_C(1000))

/// o 10, L 100, G 2, O 1: the sender takes 10 + 99; the message begins to arrive at 110, and its 99 other bytes take
/// 198, more than their copying: 110 + 10 + 198. With S = 100 it is eager.
static void eager_message(void **state) {
    struct weft_loggops_result r = run(TWO("send 100b to 1\n", "recv 100b from 0\n"), "100,10,7,2,1,100");
    END(r, 0, 109);
    END(r, 1, 318);
    assert_int_equal(r.last, 1);
    assert_int_equal(r.steps, 2);
}

/// With S = 99 its sender is done when the receiver, which computes until 500, has it: then both continue.
static void rendezvous(void **state) {
    static const char text[] =
        TWO("a: send 100b to 1\nb: calc 1\nb requires a\n", "a: calc 500\nb: recv 100b from 0\nb requires a\n");
    END(run(text, "100,10,7,2,1,100"), 0, 110);
    // it arrives at 110 and waits for the CPU until 500; received at 500 + 10 + 198
    struct weft_loggops_result r = run(text, "100,10,7,2,1,99");
    END(r, 1, 708);
    // unexpected when it begins to arrive, as the CPU is taken, it is matched when the receive is posted, at 500
    END(r, 0, 501);
}

/// Of steps that are released together sends come first, then receives, then computes: the message leaves at 0, arrives
/// at 4000 and takes 1500 + 27274 * 6. In rank 0 the compute then takes the CPU from 1500 on.
static void sends_first(void **state) {
    struct weft_loggops_result r =
        run(TWO("calc 9117\nsend 27275b to 1\n", "recv 27275b from 0\n"), "2500,1500,1000,6,0,65535");
    END(r, 0, 10617);
    END(r, 1, 169144);
}

/// A message arrives at 110, when its receiver's compute ends and a send that requires it is ready. The older event
/// goes first: the message, if its send was queued before the compute (by rank), and takes the CPU for 10; else the
/// send.
static void older_first(void **state) {
    static const char sender[] = "send 1b to %u\nrecv 1b from %u\n",
                      other[] = "a: calc 110\nb: send 1b to %u\nb requires a\nrecv 1b from %u\n";
    char text[256];
    for (unsigned first = 0; first < 2; first++) { // the rank that sends at 0
        size_t n = (size_t)sprintf(text, "num_ranks 2\n");
        for (unsigned rank = 0; rank < 2; rank++) {
            n += (size_t)sprintf(text + n, "rank %u {\n", rank);
            n += (size_t)sprintf(text + n, rank == first ? sender : other, 1 - rank, 1 - rank);
            n += (size_t)sprintf(text + n, "}\n");
        }
        END(run(text, "100,10,5,0,0,9"), first, first ? 230U : 240U);
    }
}

/// Two messages from one sender: the second waits for the gap, 50 after the first; both ends take 10.
static void gap_between_messages(void **state) {
    struct weft_loggops_result r =
        run(TWO("send 1b to 1\nsend 1b to 1\n", "recv 1b from 0\nrecv 1b from 0\n"), "100,10,50,0,0,9");
    END(r, 0, 60);
    END(r, 1, 50 + 110 + 10);
}

/// A chain over three ranks: each hop takes o + L + o.
static void chain(void **state) {
    struct weft_loggops_result r =
        run("num_ranks 3\nrank 0 {\nsend 1b to 1\n}\n"
            "rank 1 {\na: recv 1b from 0\nb: calc 30\nb requires a\nc: send 1b to 2\nc requires b\n}\n"
            "rank 2 {\nrecv 1b from 1\n}\n",
            "100,10,5,0,0,9");
    END(r, 1, 120 + 30 + 10);
    END(r, 2, 120 + 30 + 120);
}

/// Two computes side by side on two streams; a third waits for the start of one and the end of the other.
static void two_streams(void **state) {
    static const char text[] = "num_ranks 1\nrank 0 {\na: calc 100\nb: calc 40 cpu 1\nc: calc 5 cpu 1\n"
                               "c irequires a\nc requires b\n}\n";
    END(run(text, "1,1,1,1,1,1"), 0, 100);
    END(run("num_ranks 1\nrank 0 {\na: calc 100\nb: calc 40\n}\n", "1,1,1,1,1,1"), 0, 140);
    END(run("num_ranks 1\nrank 0 {\na: calc 100\nb: calc 40 cpu 1\nb requires a\n}\n", "1,1,1,1,1,1"), 0, 140);
}

/// Rank 2 takes the first message, from rank 1, with the wildcard that was posted first, and then the one from rank 0.
static void wildcards(void **state) {
    struct weft_loggops_result r =
        run("num_ranks 3\nrank 0 {\na: calc 50\nb: send 1b to 2 tag 4\nb requires a\n}\n"
            "rank 1 {\nsend 1b to 2 tag 3\n}\n"
            "rank 2 {\na: recv 1b from -1 tag -1\nb: recv 1b from 0 tag -1\nc: calc 1000\nc requires a\n}\n",
            "100,10,5,0,0,9");
    END(r, 2, 1130); // 120 by the first, then it computes; the second waits for the CPU, until 1120, and takes 10
}

/// The tree of LogGOPSim's example: rank r sends to r + 2^k for all 2^k > r. Five hops of 1500 + 2500 + 1500.
static void binomial_tree(void **state) {
    static char text[8192];
    size_t n = (size_t)sprintf(text, "num_ranks 32\n");
    for (unsigned r = 0; r < 32; r++) {
        unsigned k = 1;
        while (k <= r)
            k *= 2;
        n += (size_t)sprintf(text + n, "rank %u {\n", r);
        if (r) n += (size_t)sprintf(text + n, "r: recv 1b from %u\n", r - k / 2);
        for (; r + k < 32; k *= 2)
            n += (size_t)sprintf(text + n, r ? "s%u: send 1b to %u\ns%u requires r\n" : "s%u: send 1b to %u\n", k,
                                 r + k, k);
        n += (size_t)sprintf(text + n, "}\n");
    }
    struct weft_loggops_result r = run(text, "2500,1500,1000,6,0,65535");
    END(r, 31, 27500);
    END(r, 0, 7500);
    assert_int_equal(r.most_ps, 27500000);
}

static void waits_for_ever(void **state) {
    static const char text[] =
        TWO("a: recv 1b from 1\nb: send 1b to 1\nb requires a\n", "a: recv 1b from 0\nb: send 1b to 0\nb requires a\n");
    struct weft_loggops m = {.eager_bytes = 9};
    struct weft_loggops_result result;
    struct weft_error error = {0};
    assert_int_equal(weft_loggops_run(must_load(text, strlen(text)), &m, arena, &result, &error), WEFT_ERROR_STALL);
    assert_string_equal(error.text, "x.goal:3: rank 0, receive of 1 bytes from rank 1, tag 0: it waits for ever, as do "
                                    "4 steps in all");
}

static void parameters(void **state) {
    static const char *const bad[] = {"",
                                      "1,2,3,4,5",
                                      "1,2,3,4,5,6,7",
                                      "1,2,3,4,5,6.5",
                                      "-1,2,3,4,5,6",
                                      "1,2,x,4,5,6",
                                      "1.2345,2,3,4,5,6",
                                      "1,2,3,4,5,",
                                      "1000000000001,2,3,4,5,6"};
    struct weft_loggops m;
    struct weft_error error = {0};
    assert_int_equal(weft_loggops_parse("1,2.5,3,0.04,0,6", WEFT_NOWHERE, &m, &error), WEFT_OK);
    assert_int_equal(m.overhead_ps, 2500);
    assert_int_equal(m.gap_byte_ps, 40);
    assert_int_equal(m.eager_bytes, 6);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        if (weft_loggops_parse(bad[i], WEFT_NOWHERE, &m, &error) != WEFT_ERROR_INPUT) fail_msg("%s", bad[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_a_text),     cmocka_unit_test(both_forms_say_the_same),
        cmocka_unit_test(what_is_refused),      cmocka_unit_test(what_is_refused_of_the_binary_form),
        cmocka_unit_test(sends_first),          cmocka_unit_test(older_first),
        cmocka_unit_test(eager_message),        cmocka_unit_test(rendezvous),
        cmocka_unit_test(gap_between_messages), cmocka_unit_test(chain),
        cmocka_unit_test(two_streams),          cmocka_unit_test(wildcards),
        cmocka_unit_test(binomial_tree),        cmocka_unit_test(waits_for_ever),
        cmocka_unit_test(parameters),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
