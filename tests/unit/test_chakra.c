// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces: conversion of nodes, versions and types of attributes, dependencies, process groups, ranks
// without a trace, finding traces, and what is refused where.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>
#include <zlib.h>

#include "chakra_trace.h"
#include "import/chakra/chakra.h"
#include "weft/import.h"
#include "weft/tree.h"
#include "why.h"

static char folder[] = "/tmp/weft-chakra-XXXXXX";
static struct weft_arena *arena;
static struct weft_error error;
static struct weft__chakra_facts facts;
static const struct weft__chakra_conf usual = {.groups = "", .ctrl_deps = true, .cpu_ops = true, .tflops = 100};

static int setup(void **state) {
    arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    return mkdtemp(folder) ? 0 : -1;
}
static int teardown(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    weft_arena_free(arena);
    return system(command);
}
/// Empties the folder.
static int empty(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/*", folder);
    return system(command);
}

static const char *path_of(const char *name) {
    static char path[4][256];
    static unsigned next;
    char *at = path[next++ % 4];
    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

static const char *write_bytes(const char *name, const void *bytes, size_t n) {
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
    return path;
}
static const char *write_text(const char *name, const char *text) {
    return weft_arena_text(arena, write_bytes(name, text, strlen(text)));
}
/// The trace of a rank, as x.RANK.et; it is emptied.
static void write_trace(unsigned rank, struct bytes *trace) {
    char name[32];
    snprintf(name, sizeof name, "x.%u.et", rank);
    write_bytes(name, trace->at, trace->n);
    trace->n = 0;
}

static enum weft_status load(const char *path, const struct weft__chakra_conf *conf, struct weft_schedule **ret) {
    error = (struct weft_error){0};
    *ret = NULL;
    return weft__chakra_load(path, conf, (struct weft_place){.file = "s.yaml", .line = 3, .column = 5}, arena, ret,
                             &facts, &error);
}
static struct weft_schedule *must_load(const char *path, const struct weft__chakra_conf *conf) {
    struct weft_schedule *s;
    if (load(path, conf, &s)) fail_msg("%s", error.text);
    return s;
}
/// x.0.et alone.
static struct weft_schedule *load_one(struct bytes *trace, const struct weft__chakra_conf *conf) {
    write_trace(0, trace);
    return must_load(path_of("x.0.et"), conf);
}
#define REFUSED(path, conf, expected) refused(path, conf, expected, __LINE__)
static void refused(const char *path, const struct weft__chakra_conf *conf, const char *expected, int line) {
    struct weft_schedule *s;
    enum weft_status status = load(path, conf, &s);
    if (status == WEFT_ERROR_INPUT && strstr(error.text, expected)) return;
    fail_msg("line %d: status %d, '%s'; expected '%s'", line, status, error.text, expected);
}

static bool waits_for(const struct weft_schedule_rank *r, uint32_t from, uint32_t to) {
    for (uint32_t e = r->step[from].edge0; e < r->step[from + 1].edge0; e++)
        if (r->edge[e] == to) return true;
    return false;
}

// --- nodes --------------------------------------------------------------------------------------------------------

/// The sample in the repository is what the writer in Python makes, and says what that says.
static void sample(void **state) {
    char command[512];
    const char *root = getenv("WEFT_ROOT");
    snprintf(command, sizeof command,
             "python3 %s/tests/tools/chakra_writer.py sample %s/py && diff -r %s/py %s/examples/import/chakra", root,
             folder, folder, root);
    assert_int_equal(system(command), 0);
    const struct weft_schedule *s = must_load(path_of("py"), &usual);
    assert_int_equal(s->ranks, 4);
    assert_int_equal(s->messages, 4);
    assert_int_equal(s->bytes, 4 * (4 << 20));
    assert_int_equal(s->collectives, 4);
    assert_int_equal(s->groups, 2);
    assert_string_equal(s->group[0].name, "1");
    assert_int_equal(s->group[1].ranks, 2);
    assert_int_equal(s->group[1].rank[0], 2);
    assert_int_equal(facts.traces, 4);
    assert_string_equal(facts.version, "0.0.4");
    assert_int_equal(facts.nodes, 30);
    assert_int_equal(facts.comms, 12);
    assert_int_equal(facts.wrappers, 4);
    assert_int_equal(facts.unknown_fields, 0);
    const struct weft_schedule_step *step = s->rank[0].step;
    assert_int_equal(step[1].kind, WEFT_SCHEDULE_COMPUTE);
    assert_int_equal(step[1].size, 400 * 1000000);
    assert_int_equal(step[2].kind, WEFT_SCHEDULE_SEND);
    assert_int_equal(step[2].peer, 2);
    assert_int_equal(step[2].tag, 1);
    assert_int_equal(step[2].line, 3); // its id
    assert_int_equal(step[5].kind, WEFT_SCHEDULE_COMPUTE);
    assert_int_equal(step[5].size, 0);
    assert_int_equal(step[6].kind, WEFT_SCHEDULE_COLLECTIVE);
    assert_int_equal(step[6].collective, WEFT_SCHEDULE_ALL_REDUCE);
    assert_int_equal(step[6].size, 16 << 20);
    assert_true(waits_for(&s->rank[0], 5, 6) && waits_for(&s->rank[0], 4, 6) && !waits_for(&s->rank[0], 0, 6));
}

/// Durations, operations and nodes of the CPU: how long, and beside what.
static void computes(void **state) {
    struct bytes t = {.n = 0}, n;
    struct weft__chakra_conf conf = usual;
    for (int pass = 0; pass < 2; pass++) {
        put_metadata(&t);
        put_compute(&t, 0, "", 7);
        n = node_of(1, COMP, "");
        put_attribute(&n, 10, "num_ops", INT64, 4000000000);
        put_attribute(&n, 10, "is_cpu_op", BOOL, 0);
        put_message(&t, &n);
        n = node_of(2, COMP, "");
        put_number(&n, 7, 9);
        put_attribute(&n, 10, "num_ops", INT64, 4000000000); // its duration counts
        put_attribute(&n, 10, "is_cpu_op", BOOL, 1);
        put_message(&t, &n);
        n = node_of(3, MEM_LOAD, "");
        put_attribute(&n, 10, "tensor_size", UINT64, 1000);
        put_message(&t, &n);
        n = node_of(4, MEM_STORE, "");
        put_number(&n, 7, 2);
        put_message(&t, &n);
        n = node_of(5, 9, ""); // of a later version
        put_number(&n, 7, 3);
        put_message(&t, &n);
        const struct weft_schedule_step *step = load_one(&t, &conf)->rank[0].step;
        assert_int_equal(step[0].size, 7000000);
        assert_int_equal(step[1].size, pass ? 2000000000 : 40000000);
        assert_int_equal(step[2].size, pass ? 0 : 9000000);
        assert_int_equal(step[3].size, 0);
        assert_int_equal(step[4].size, 2000000);
        assert_int_equal(step[0].cpu, step[1].cpu);
        assert_int_not_equal(step[0].cpu, step[2].cpu);
        assert_int_not_equal(step[0].cpu, step[3].cpu);
        assert_int_not_equal(step[2].cpu, pass ? step[0].cpu : step[3].cpu);
        assert_int_equal(facts.by_ops, 1);
        assert_int_equal(facts.cpu_ops, 1);
        assert_int_equal(facts.memory, 1);
        assert_int_equal(facts.others, 1);
        conf.tflops = 2;
        conf.cpu_ops = false;
    }
}

/// Each collective, and its size as nccl-tests counts it: comm_size is what a rank puts in.
static void collectives(void **state) {
    static const struct {
        uint8_t chakra, weft, factor;
    } kinds[] = {
        {ALL_REDUCE, WEFT_SCHEDULE_ALL_REDUCE, 1}, {ALL_GATHER, WEFT_SCHEDULE_ALL_GATHER, 2},
        {GATHER, WEFT_SCHEDULE_GATHER, 2},         {BROADCAST, WEFT_SCHEDULE_BROADCAST, 1},
        {ALL_TO_ALL, WEFT_SCHEDULE_ALL_TO_ALL, 1}, {REDUCE_SCATTER, WEFT_SCHEDULE_REDUCE_SCATTER, 1},
        {BLOCKS, WEFT_SCHEDULE_REDUCE_SCATTER, 1}, {BARRIER, WEFT_SCHEDULE_BARRIER, 0},
        {REDUCE, WEFT_SCHEDULE_REDUCE, 1},         {SCATTER, WEFT_SCHEDULE_SCATTER, 1},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    for (unsigned rank = 0; rank < 2; rank++) {
        struct bytes t = {.n = 0};
        put_metadata(&t);
        for (unsigned k = 0; k < KINDS; k++)
            put_collective(&t, k, "", kinds[k].chakra, kinds[k].chakra == BARRIER ? 0 : 1000, NULL);
        write_trace(rank, &t);
    }
    const struct weft_schedule *s = must_load(path_of("x"), &usual);
    for (unsigned k = 0; k < KINDS; k++) {
        assert_int_equal(s->rank[1].step[k].kind, WEFT_SCHEDULE_COLLECTIVE);
        assert_int_equal(s->rank[1].step[k].collective, kinds[k].weft);
        assert_int_equal(s->rank[1].step[k].size, 1000 * kinds[k].factor);
    }
    assert_int_equal(s->groups, 1);
    assert_string_equal(s->group[0].name, "all");
}

/// Chakra's converter of text writes an all-reduce of 0 bytes where a layer does not communicate.
static void empty_collectives(void **state) {
    for (unsigned rank = 0; rank < 2; rank++) {
        struct bytes t = {.n = 0};
        put_metadata(&t);
        struct bytes n = node_of(0, COLL, "");
        put_attribute(&n, 10, "comm_type", INT64, ALL_REDUCE);
        put_attribute(&n, 10, "comm_size", INT64, 0);
        put_message(&t, &n);
        put_collective(&t, 1, "", BARRIER, 0, NULL);
        put_collective(&t, 2, "", ALL_REDUCE, 1000, NULL);
        write_trace(rank, &t);
    }
    const struct weft_schedule *s = must_load(path_of("x"), &usual);
    assert_int_equal(facts.empty, 2);
    assert_int_equal(facts.comms, 4);
    assert_int_equal(s->collectives, 4);
    assert_int_equal(s->rank[0].step[0].kind, WEFT_SCHEDULE_COMPUTE);
    assert_int_equal(s->rank[0].step[0].size, 0);
    assert_int_equal(s->rank[0].step[1].collective, WEFT_SCHEDULE_BARRIER);
    assert_int_equal(s->rank[0].step[2].size, 1000);
}

// --- forms of the file --------------------------------------------------------------------------------------------

/// The version stands in either place, or in none; there was a time when attributes stood where it stands now.
static void versions(void **state) {
    static const char *const says[] = {"0.0.4", "1.0.2-chakra.0.0.4", "1.0.1", "", "my own", "1.1.1-chakra.1.0.0"};
    for (unsigned i = 0; i < sizeof says / sizeof *says; i++)
        for (unsigned form = 0; form < 3; form++) {
            struct bytes t = {.n = 0}, m = {.n = 0};
            if (form == 0) put_text(&m, 1, says[i]);
            if (form > 0) put_attribute(&m, form == 1 ? 2 : 1, "pid", UINT64, 12);
            if (form > 0) put_text_attribute(&m, form == 1 ? 2 : 1, "schema", says[i]);
            put_message(&t, &m);
            put_compute(&t, 0, "", 1);
            load_one(&t, &usual);
            assert_string_equal(facts.version, says[i]);
        }
    struct bytes t = {.n = 0}, m = {.n = 0};
    put_byte(&t, 0); // metadata with nothing in it
    put_compute(&t, 0, "", 1);
    load_one(&t, &usual);
    put_text(&m, 1, "2.0.0");
    put_message(&t, &m);
    write_trace(0, &t);
    REFUSED(path_of("x"), &usual, "version 2.0.0 of the schema; expected 0 or 1");
    put_compute(&t, 1, "", 1); // as before there was metadata
    write_trace(0, &t);
    REFUSED(path_of("x"), &usual, "begins with a node, as traces did before Chakra 0.0.4");
}

static void types_of_attributes(void **state) {
    static const unsigned types[] = {INT32, INT64, UINT64, SINT64, FIXED64};
    struct bytes t = {.n = 0}, n;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        put_metadata(&t);
        n = node_of(3, COLL, "");
        put_attribute(&n, 10, "comm_size", types[i], 77777);
        put_attribute(&n, 10, "comm_type", types[i], ALL_REDUCE);
        put_attribute(&n, 10, "pg_name", types[i], 12);
        put_message(&t, &n);
        const struct weft_schedule *s = load_one(&t, &usual);
        assert_int_equal(s->rank[0].step[0].size, 77777);
        assert_string_equal(s->group[0].name, "12");
        if (types[i] == UINT64 || types[i] == FIXED64) continue;
        put_metadata(&t);
        n = node_of(3, COLL, "");
        put_attribute(&n, 10, "comm_size", types[i], (uint64_t)-5);
        put_message(&t, &n);
        write_trace(0, &t);
        REFUSED(path_of("x"), &usual, "x.0.et: byte 8: node 3: comm_size is -5; expected 0 or more");
    }
    put_metadata(&t);
    n = node_of(3, COLL, "");
    put_text_attribute(&n, 10, "comm_size", "big");
    put_message(&t, &n);
    write_trace(0, &t);
    REFUSED(path_of("x"), &usual, "comm_size is not a whole number");
}

/// Fields that the schema does not have are ignored, and counted.
static void unknown_fields(void **state) {
    struct bytes t = {.n = 0}, n;
    put_metadata(&t);
    n = node_of(1, COMP, "");
    put_number(&n, 77, 5);
    put_text(&n, 78, "what later versions say");
    put_attribute(&n, 10, "tensor_size", INT64, 5);
    put_number(&n, 7, 3);
    put_message(&t, &n);
    assert_int_equal(load_one(&t, &usual)->rank[0].step[0].size, 3000000);
    assert_int_equal(facts.unknown_fields, 2);
}

static void compressed(void **state) {
    struct bytes t = {.n = 0};
    put_metadata(&t);
    put_compute(&t, 0, "", 7);
    gzFile file = gzopen(path_of("x.0.et"), "w");
    gzwrite(file, t.at, (unsigned)t.n);
    gzclose(file);
    assert_int_equal(must_load(path_of("x"), &usual)->rank[0].step[0].size, 7000000);
    char command[600];
    snprintf(command, sizeof command, "mv %s/x.0.et %s/y.0.et.gz", folder, folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(must_load(path_of("y"), &usual)->rank[0].step[0].size, 7000000);
}

/// Cut off anywhere but between two nodes, a trace is refused with a byte; a changed byte is refused or means
/// something.
static void damage(void **state) {
    struct bytes t = {.n = 0};
    size_t boundary[8], boundaries = 0;
    struct weft_schedule *s;
    put_metadata(&t);
    boundary[boundaries++] = t.n;
    put_compute(&t, 0, "", 7);
    boundary[boundaries++] = t.n;
    put_collective(&t, 1, "", ALL_REDUCE, 100000, "0");
    boundary[boundaries++] = t.n;
    put_p2p(&t, 2, "\1", SEND, 0, 1000, 3);
    boundary[boundaries++] = t.n;
    put_p2p(&t, 3, "\1", RECV, 0, 1000, 3);
    for (size_t cut = 0; cut < t.n; cut++) {
        bool whole = false;
        for (size_t i = 0; i < boundaries; i++)
            whole |= boundary[i] == cut;
        const char *path = write_bytes("x.0.et", t.at, cut);
        if (whole)
            load(path, &usual, &s); // a send without a receive may be left
        else
            REFUSED(path, &usual, "x.0.et: byte ");
    }
    for (size_t at = 0; at < t.n; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            t.at[at] ^= (unsigned char)(1 << bit);
            bool failed = load(write_bytes("x.0.et", t.at, t.n), &usual, &s) != WEFT_OK;
            assert_int_equal(failed, *error.text != 0);
            t.at[at] ^= (unsigned char)(1 << bit);
        }
    memset(t.at, 0xff, 100);
    REFUSED(write_bytes("x.0.et", t.at, 100), &usual, "byte 0: not the length of a message");
    REFUSED(write_bytes("x.0.et", "\x80\x80\x80\x09", 4), &usual, "byte 0: not the length of a message");
    REFUSED(write_bytes("x.0.et", "", 0), &usual, "byte 0: the file is empty");
}

// --- dependencies -------------------------------------------------------------------------------------------------

static void dependencies(void **state) {
    struct bytes t = {.n = 0}, n;
    put_metadata(&t);
    put_compute(&t, 10, "", 1);
    put_compute(&t, 11, "\12", 1);
    put_compute(&t, 12, "\12\13\12", 1); // 10 is implied by 11, and is there twice
    n = node_of(13, COMP, "\16");        // waits for a later one
    put_text(&n, 4, "\14\143");          // control: 12, and 99, which is not there
    put_message(&t, &n);
    put_compute(&t, 14, "\12", 1);
    put_compute(&t, 15, "\12\13\14\15\16", 1); // only 13 is not implied: it waits for 12 and 14
    const struct weft_schedule_rank *r = &load_one(&t, &usual)->rank[0];
    assert_true(waits_for(r, 0, 1) && waits_for(r, 1, 2) && waits_for(r, 2, 3) && waits_for(r, 4, 3));
    assert_true(waits_for(r, 0, 4) && waits_for(r, 3, 5));
    assert_false(waits_for(r, 0, 2) || waits_for(r, 0, 5) || waits_for(r, 1, 5) || waits_for(r, 2, 5));
    assert_int_equal(facts.deps_absent, 1);
    assert_int_equal(r->edges, facts.deps - facts.deps_implied - facts.deps_absent);
    struct weft__chakra_conf conf = usual;
    conf.ctrl_deps = false;
    r = &must_load(path_of("x"), &conf)->rank[0];
    assert_false(waits_for(r, 2, 3));
    assert_true(waits_for(r, 2, 5)); // not implied any more
    assert_int_equal(facts.deps_absent, 0);
}

/// Random dependencies over more nodes than a block has: what waits for what, directly or not, stays the same.
static void implied(void **state) {
    enum { NODES = 400 };
    static bool before[NODES][NODES], after[NODES][NODES];
    static struct bytes parts[NODES];
    struct weft_random random = weft_random_stream(3, 0, WEFT_RANDOM_TEST);
    FILE *file = fopen(path_of("x.0.et"), "w");
    struct bytes t = {.n = 0};
    put_metadata(&t);
    fwrite(t.at, 1, t.n, file);
    for (uint32_t i = 0; i < NODES; i++) {
        struct bytes *n = &parts[i];
        put_number(n, 1, i);
        put_number(n, 3, COMP);
        for (uint32_t k = 0; i && k < 12; k++) {
            uint32_t from = (uint32_t)weft_random_below(&random, i);
            put_number(n, k % 2 ? 5 : 4, from);
            before[i][from] = true;
            for (uint32_t x = 0; x < from; x++)
                before[i][x] |= before[from][x];
        }
        t.n = 0;
        put_message(&t, n);
        fwrite(t.at, 1, t.n, file);
    }
    fclose(file);
    const struct weft_schedule_rank *r = &must_load(path_of("x"), &usual)->rank[0];
    for (uint32_t i = 0; i < NODES; i++) // sources come before what waits for them
        for (uint32_t e = r->step[i].edge0; e < r->step[i + 1].edge0; e++)
            after[r->edge[e]][i] = true;
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t from = 0; from < i; from++)
            for (uint32_t x = 0; after[i][from] && x < from; x++)
                after[i][x] |= after[from][x];
    assert_memory_equal(before, after, sizeof before);
    assert_true(r->edges < 3 * NODES);
    for (uint32_t i = 0; i < NODES; i++) // none of those that are left is implied
        for (uint32_t e = r->step[i].edge0; e < r->step[i + 1].edge0; e++)
            for (uint32_t x = i + 1; x < r->edge[e]; x++)
                assert_false(before[x][i] && waits_for(r, x, r->edge[e]));
}

static void bad_dependencies(void **state) {
    struct bytes t = {.n = 0};
    put_metadata(&t);
    put_compute(&t, 5, "", 1);
    put_compute(&t, 5, "", 1);
    write_trace(0, &t);
    REFUSED(path_of("x"), &usual, "x.0.et: byte 23: a second node with the id 5; the first one is at byte 8");
    put_metadata(&t);
    put_compute(&t, 5, "\7", 1);
    write_trace(0, &t);
    REFUSED(path_of("x"), &usual, "node 5 waits for data of node 7, which is not there");
    put_metadata(&t);
    put_compute(&t, 5, "\6", 1);
    put_compute(&t, 6, "\5", 1);
    write_trace(0, &t);
    REFUSED(path_of("x"), &usual, "in a circle: node 5 waits for node 6, that for node 5");
}

// --- messages -----------------------------------------------------------------------------------------------------

static void bad_messages(void **state) {
    static const struct {
        unsigned type, peer, own;
        uint64_t size;
        const char *expected;
    } cases[] = {
        {SEND, 1, 0, 8, "expected a comm_dst of 0 to 0"},
        {RECV, 1, 0, 8, "expected a comm_src of 0 to 0"},
        {SEND, 0, 4, 8, "a send of rank 4 in the trace of rank 0"},
        {SEND, 0, 0, UINT64_C(1) << 63, "comm_size is -"},
        {SEND, 0, 0, 8, "node 5"}, // without a receive
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes t = {.n = 0}, n = node_of(5, cases[i].type, "");
        put_metadata(&t);
        put_attribute(&n, 10, cases[i].type == SEND ? "comm_src" : "comm_dst", INT32, cases[i].own);
        put_attribute(&n, 10, cases[i].type == SEND ? "comm_dst" : "comm_src", INT32, cases[i].peer);
        put_attribute(&n, 10, "comm_size", INT64, cases[i].size);
        put_message(&t, &n);
        write_trace(0, &t);
        REFUSED(path_of("x"), &usual, cases[i].expected);
    }
    struct bytes t = {.n = 0}, n = node_of(5, COLL, "");
    put_metadata(&t);
    put_attribute(&n, 10, "comm_type", INT64, ALL_REDUCE);
    put_message(&t, &n);
    write_trace(0, &t);
    REFUSED(path_of("x"), &usual, "node 5: communication without a comm_size");
    n = node_of(5, COLL, "");
    put_metadata(&t);
    put_attribute(&n, 10, "comm_type", INT64, ALL_REDUCE);
    put_attribute(&n, 10, "comm_size", INT64, 8);
    put_attribute(&n, 10, "involved_dim", BOOLS, 0);
    put_message(&t, &n);
    write_trace(0, &t);
    REFUSED(path_of("x"), &usual, "a collective of some dimensions (involved_dim); expected a pg_name instead");
}

// --- groups -------------------------------------------------------------------------------------------------------

/// Traces of `ranks` ranks, each with one all-reduce in the group that it is given.
static void write_groups(unsigned ranks, const char *const *group) {
    for (unsigned rank = 0; rank < ranks; rank++) {
        struct bytes t = {.n = 0};
        put_metadata(&t);
        put_collective(&t, 1, "", ALL_REDUCE, 1000, group[rank]);
        write_trace(rank, &t);
    }
}

static void expect_group(const struct weft_schedule *s, uint32_t rank, uint32_t ranks, uint32_t first, uint32_t last) {
    const struct weft_schedule_group *g = &s->group[s->rank[rank].step[0].peer];
    assert_int_equal(g->ranks, ranks);
    assert_int_equal(g->rank[0], first);
    assert_int_equal(g->rank[ranks - 1], last);
}

static void groups_of_traces(void **state) {
    write_groups(4, (const char *const[]){"a", "b", "b", "a"});
    const struct weft_schedule *s = must_load(path_of("x"), &usual);
    expect_group(s, 0, 2, 0, 3);
    expect_group(s, 2, 2, 1, 2);
    assert_int_equal(facts.groups_found, 2);
    write_groups(4, (const char *const[]){NULL, "", NULL, NULL});
    s = must_load(path_of("x"), &usual);
    expect_group(s, 1, 4, 0, 3);
    assert_int_equal(facts.groups_found, 0);
    write_groups(4, (const char *const[]){NULL, "a", NULL, NULL}); // rank 1 has no all-reduce of all
    REFUSED(path_of("x"), &usual, "x.0.et");
}

static void groups_of_a_file(void **state) {
    struct weft__chakra_conf conf = usual;
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {"{\"1\": [0, 1], \"2\": 5}", "g.json:1:1: group '2': expected a list of ranks"},
        {"{\"1\": [0, 1],\n \"2\": [2, -3]}", "g.json:2:11: group '2': expected a rank, 0 to "},
        {"{\"1\": [0, 1], \"2\": [2, 2.5]}", "expected a rank, 0 to "},
        {"{\"1\": [0, 1], \"2\": []}", "expected a list of ranks"},
        {"{\"1\": [0, 1], \"2\": [3, 3]}", "2"},
        {"{\"1\": [0, 1], \"2\": [2, 1]}", "x.3.et: a collective of the process group '2', which this rank is "},
        {"{\"1\": [0, 1], \"2\": [2, 7]}", "no trace of rank 4 of 8"},
        {"{\"1\": [0, 1], \"1\": [2, 3]}", "duplicate object key"},
        {"[0]", "expected a JSON object"},
    };
    write_groups(4, (const char *const[]){"1", "1", "2", "2"});
    conf.groups = write_text("g.json", "{\"1\": [0, 1], \"2\": [3, 2], \"3\": [0, 3]}");
    const struct weft_schedule *s = must_load(path_of("x"), &conf);
    expect_group(s, 0, 2, 0, 1);
    expect_group(s, 2, 2, 3, 2); // in the order of the file
    assert_int_equal(s->groups, 2);
    assert_int_equal(facts.groups_found, 0);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        conf.groups = write_text("g.json", bad[i].text);
        REFUSED(path_of("x"), &conf, bad[i].expected);
    }
    conf.groups = write_bytes("g.json", "{\"1\": [0, 1],\n \"2\": [2\0, 3]}", 28);
    REFUSED(path_of("x"), &conf, "g.json:2:9: a zero byte; expected JSON");
    conf.groups = path_of("none.json");
    REFUSED(path_of("x"), &conf, "none.json': No such file");
}

/// Of each rank, what PyTorch writes; then an all-reduce in group "1".
static void write_metadata_groups(unsigned ranks, const char *const *values) {
    for (unsigned rank = 0; rank < ranks; rank++) {
        struct bytes t = {.n = 0}, n = node_of(1, METADATA, ""), in = {.n = 0};
        put_metadata(&t);
        put_text(&in, 1, values[rank]);
        put_block(&n, 8, in.at, in.n);
        put_message(&t, &n);
        struct bytes coll = {.n = 0};
        put_collective(&coll, 2, "", ALL_REDUCE, 1000, "1");
        memmove(t.at + t.n, coll.at, coll.n);
        t.n += coll.n;
        write_trace(rank, &t);
    }
}

static void groups_of_metadata(void **state) {
#define LIST(ranks) "['[{\"pg_name\": \"0\", \"ranks\": []}, {\"pg_name\": \"1\", \"ranks\": [" ranks "]}]']"
#define GROUP(s, r) (&(s)->group[(s)->rank[r].step[1].peer])
    write_metadata_groups(4, (const char *const[]){LIST("0, 2"), LIST("1, 3"), LIST("0, 2"), LIST("1, 3")});
    const struct weft_schedule *s = must_load(path_of("x"), &usual); // one name for two groups
    assert_int_equal(s->groups, 2);
    assert_int_equal(GROUP(s, 2)->rank[0], 0);
    assert_int_equal(GROUP(s, 3)->rank[0], 1);
    write_metadata_groups(2, (const char *const[]){"[[[{\"pg_name\": \"1\"}]]]", ""});
    s = must_load(path_of("x.0.et"), &usual);
    assert_int_equal(GROUP(s, 0)->ranks, 1);
    write_metadata_groups(4, (const char *const[]){LIST("0, 1, 2, 3"), LIST("0, 1, 3"), LIST("0, 2"), LIST("1, 3")});
    REFUSED(path_of("x"), &usual,
            "x.0.et: a collective of the process group '1', which has two definitions that contain this rank");
    write_metadata_groups(4, (const char *const[]){LIST("0, 4"), LIST("0, 4"), LIST("0, 4"), LIST("0, 4")});
    REFUSED(path_of("x"), &usual, "x.0.et: byte 8: node 1: a process group with rank 4; expected less than 4 (ranks)");
    write_metadata_groups(4, (const char *const[]){"[\"pg_name\"]", LIST("\"0\""), "pg_name: [{]}", LIST("1") "x}]"});
    s = must_load(path_of("x"), &usual); // they are no lists: the traces say who is in it
    assert_int_equal(facts.groups_bad, 4);
    assert_int_equal(GROUP(s, 3)->ranks, 4);
}

/// Chakra's converter from PyTorch writes neither comm_src nor comm_dst: in a group of two it is the other rank.
static void peers_of_a_group(void **state) {
    struct weft__chakra_conf conf = usual;
    conf.groups = write_text("g.json", "{\"pp\": [2, 0], \"all\": [0, 1, 2]}");
    for (unsigned bad = 0; bad < 2; bad++) {
        for (unsigned rank = 0; rank < 3; rank++) {
            struct bytes t = {.n = 0}, n = node_of(5, rank ? RECV : SEND, "");
            put_metadata(&t);
            put_attribute(&n, 10, "comm_size", INT64, 8);
            put_text_attribute(&n, 10, "pg_name", bad ? "all" : "pp");
            if (rank != 1) put_message(&t, &n);
            write_trace(rank, &t);
        }
        if (bad) break;
        const struct weft_schedule *s = must_load(path_of("x"), &conf);
        assert_int_equal(s->messages, 1);
        assert_int_equal(s->rank[0].step[0].peer, 2);
        assert_int_equal(s->rank[2].step[0].peer, 0);
        assert_int_equal(facts.peers, 2);
    }
    REFUSED(path_of("x"), &conf,
            "node 5: no comm_dst; expected one, or a pg_name that is known by then, of a group of");
}

// --- ranks without a trace ----------------------------------------------------------------------------------------

static void reuse(void **state) {
    struct bytes t = {.n = 0};
    struct weft__chakra_conf conf = usual;
    conf.reuse = true;
    conf.ranks = 16;
    const char *groups = conf.groups =
        write_text("g.json", "{\"tp\": [0, 1], \"dp\": [0, 4, 8, 12], \"odd\": [0, 1, 3]}");
    put_metadata(&t);
    put_collective(&t, 0, "", ALL_REDUCE, 1000, "tp");
    put_collective(&t, 1, "", ALL_GATHER, 1000, "dp");
    put_collective(&t, 2, "", ALL_REDUCE, 1000, NULL);
    put_p2p(&t, 3, "", SEND, 15, 8, 1);
    put_p2p(&t, 4, "", RECV, 1, 8, 1);
    write_trace(0, &t);
    const struct weft_schedule *s = must_load(path_of("x.0.et"), &conf);
    assert_int_equal(s->ranks, 16);
    assert_int_equal(s->groups, 8 + 4 + 1);
    for (uint32_t r = 0; r < 16; r++) {
        const struct weft_schedule_step *step = s->rank[r].step;
        const struct weft_schedule_group *tp = &s->group[step[0].peer], *dp = &s->group[step[1].peer];
        assert_int_equal(tp->rank[0], r / 2 * 2);
        assert_int_equal(tp->ranks, 2);
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(dp->rank[k], r % 4 + 4 * k);
        assert_int_equal(step[1].size, 4000);
        assert_int_equal(s->group[step[2].peer].ranks, 16);
        assert_int_equal(step[3].peer, (r + 15) % 16);
        assert_int_equal(step[4].peer, (r + 1) % 16);
    }
    conf.reuse = false;
    REFUSED(path_of("x"), &conf, "s.yaml:3:5: file: no trace of rank 1 of 16");
    conf.reuse = true;
    conf.ranks = 6; // groups of 4 at a distance of 4 do not divide them
    REFUSED(path_of("x"), &conf, "ranks: 6; expected 13 at least");
    conf.groups = "";
    conf.ranks = 16;
    REFUSED(path_of("x"), &conf, "s.yaml:3:5: reuse: nothing says which ranks are in the process group 'tp'");
    struct bytes one = {.n = 0};
    put_metadata(&one);
    put_collective(&one, 0, "", ALL_REDUCE, 1000, "0"); // PyTorch's default: all ranks
    write_bytes("y.0.et", one.at, one.n);
    assert_int_equal(must_load(path_of("y"), &conf)->group[0].ranks, 16);
    conf.groups = groups;
    conf.ranks = 24;
    REFUSED(path_of("x"), &conf, "'dp' of rank 0 is not a block of ranks at one distance that divides 24 ranks evenly");
    conf.ranks = 16;
    put_metadata(&t);
    put_collective(&t, 0, "", ALL_REDUCE, 1000, "odd");
    write_trace(0, &t);
    REFUSED(path_of("x"), &conf, "'odd' of rank 0 is not a block");
}

// --- files --------------------------------------------------------------------------------------------------------

static void files(void **state) {
    struct bytes t = {.n = 0};
    put_metadata(&t);
    put_compute(&t, 0, "", 7);
    write_bytes("a.0.et", t.at, t.n);
    write_bytes("a.2.et", t.at, t.n);
    write_bytes("a.10.et", t.at, t.n);
    write_text("a.txt", "no trace");
    struct weft__chakra_files f;
    error = (struct weft_error){0};
    assert_int_equal(weft__chakra_find(folder, WEFT_NOWHERE, arena, &f, &error), WEFT_OK);
    assert_int_equal(f.files, 3);
    assert_int_equal(f.file[0].rank, 0);
    assert_int_equal(f.file[1].rank, 2);
    assert_int_equal(f.file[2].rank, 10);
    REFUSED(path_of("a"), &usual, "no trace of rank 1 of 11");
    write_bytes("ab.1.et", t.at, t.n);
    assert_int_equal(weft__chakra_find(path_of("a"), WEFT_NOWHERE, arena, &f, &error), WEFT_OK);
    assert_int_equal(f.files, 3);
    REFUSED(folder, &usual, "has traces of two prefixes");
    write_bytes("a.2.et.gz", t.at, t.n);
    REFUSED(path_of("a"), &usual, "rank 2 has two traces");
    REFUSED(path_of("b"), &usual, "no trace at");
    REFUSED("/there/is/none", &usual, "cannot read '/there/is/'");
    assert_int_equal(must_load(path_of("a.0.et"), &usual)->ranks, 1);
}

// --- runs and size ------------------------------------------------------------------------------------------------

#define NETWORK "topology: {kind: single, hosts: 8, rate: 100Gbps, delay: 1us}\nworkload:\n"

/// An all-reduce in a trace takes the time that it takes as a workload of its own, after a compute.
static void same_time_as_a_collective(void **state) {
    char text[512];
    for (unsigned rank = 0; rank < 8; rank++) {
        struct bytes t = {.n = 0};
        put_metadata(&t);
        put_compute(&t, 1, "", 20);
        put_collective(&t, 2, "\1", ALL_REDUCE, 1 << 20, NULL);
        write_trace(rank, &t);
    }
    snprintf(text, sizeof text, NETWORK "- {kind: chakra, file: %s/x}\n", folder);
    struct run trace = run_once(text);
    struct run own = run_once(NETWORK "- {kind: collective, collective: all_reduce_ring, size: 1MiB}\n");
    assert_int_equal(trace.outcome->job->end_ps, own.outcome->job->end_ps + 20000000);
    assert_true(why_assert_iterations(&trace, text) > 8); // its critical path is told to the picosecond
    run_free(&trace);
    run_free(&own);
}

/// What weft import makes of files, or why it refuses them.
static const char *import(const char *settings, const char *const *path, uint32_t paths) {
    static char text[8192];
    struct weft_tree *tree = NULL;
    FILE *out = fmemopen(text, sizeof text, "w");
    error = (struct weft_error){0};
    if (*settings) assert_false(weft_tree_parse("--set", settings, strlen(settings), arena, &tree, &error));
    weft_import_write(weft_model_find(WEFT_KIND_IMPORT, "chakra"), tree, path, paths, folder, out, NULL, &error);
    fclose(out);
    return *error.text ? error.text : text;
}
#define IMPORT(settings, ...)                                                                                          \
    import(settings, (const char *const[]){__VA_ARGS__}, sizeof(const char *[]){__VA_ARGS__} / sizeof(char *))

static void imports(void **state) {
    struct bytes t = {.n = 0};
    for (unsigned rank = 0; rank < 2; rank++) {
        put_metadata(&t);
        put_collective(&t, 1, "", ALL_REDUCE, 1000, "7");
        write_trace(rank, &t);
    }
    const char *groups = write_text("g.json", "{\n  \"7\" : [0, 1] }"), *x = weft_arena_text(arena, path_of("x"));
    const char *x0 = weft_arena_text(arena, path_of("x.0.et")), *x1 = weft_arena_text(arena, path_of("x.1.et"));
    assert_non_null(strstr(IMPORT("", x), "- kind: chakra\n  file: x\n"));
    assert_non_null(strstr(IMPORT("", x1, x0, groups), "- kind: chakra\n  file: x\n  groups: g.json\n"));
    assert_non_null(strstr(IMPORT("", folder), "traces: 2 (version 0.0.4); ranks: 2; nodes: 2, of which 2 "));
    assert_non_null(strstr(IMPORT("", folder), "hosts: 2\n"));
    assert_non_null(strstr(IMPORT("{ranks: 4, reuse: on, ctrl_deps: off}", x, groups), " reuse: on\n  ctrl_deps: off"));
    assert_non_null(strstr(IMPORT("", x0), "file: x.0.et\n"));
    assert_non_null(strstr(IMPORT("", groups), "g.json: is not enough: expected the traces"));
    assert_non_null(strstr(IMPORT("", groups, groups, x), "expected one of that kind"));
    assert_non_null(strstr(IMPORT("", x, folder), "are not traces of one prefix"));
    assert_non_null(strstr(IMPORT("", path_of("y")), "y: cannot be read: No such file"));
    write_text("x.2.et", "no trace");
    assert_non_null(strstr(IMPORT("", x), "x.2.et: byte "));
    assert_non_null(strstr(IMPORT("", x0, x1), "x.0.et: 2 of the 3 traces"));
}

/// As large as the trace of a real rank: what is said of it.
static void large(void **state) {
    char command[512];
    snprintf(command, sizeof command, "python3 %s/tests/tools/chakra_writer.py real %s/big 2", getenv("WEFT_ROOT"),
             folder);
    assert_int_equal(system(command), 0);
    const struct weft_schedule *s = must_load(path_of("big"), &usual);
    assert_int_equal(facts.nodes, 2 * 3664);
    assert_int_equal(facts.deps, 2 * 185542);
    assert_int_equal(facts.comms, 2 * 7);
    assert_int_equal(facts.wrappers, 2 * 14);
    assert_string_equal(facts.version, "1.0.2-chakra.0.0.4");
    assert_int_equal(s->collectives, 2 * 7);
    assert_true(s->edges < 2 * s->steps);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sample, empty),
        cmocka_unit_test_setup(computes, empty),
        cmocka_unit_test_setup(collectives, empty),
        cmocka_unit_test_setup(empty_collectives, empty),
        cmocka_unit_test_setup(versions, empty),
        cmocka_unit_test_setup(types_of_attributes, empty),
        cmocka_unit_test_setup(unknown_fields, empty),
        cmocka_unit_test_setup(compressed, empty),
        cmocka_unit_test_setup(damage, empty),
        cmocka_unit_test_setup(dependencies, empty),
        cmocka_unit_test_setup(implied, empty),
        cmocka_unit_test_setup(bad_dependencies, empty),
        cmocka_unit_test_setup(bad_messages, empty),
        cmocka_unit_test_setup(groups_of_traces, empty),
        cmocka_unit_test_setup(groups_of_a_file, empty),
        cmocka_unit_test_setup(groups_of_metadata, empty),
        cmocka_unit_test_setup(peers_of_a_group, empty),
        cmocka_unit_test_setup(reuse, empty),
        cmocka_unit_test_setup(files, empty),
        cmocka_unit_test_setup(same_time_as_a_collective, empty),
        cmocka_unit_test_setup(imports, empty),
        cmocka_unit_test_setup(large, empty),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
