// SPDX-License-Identifier: Apache-2.0
// Rank files: what is read, what is refused and where, and that a written file reads back to the same run.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>

#include "run.h"
#include "weft/placement.h"

static char folder[] = "/tmp/weft-ranks-XXXXXX";

static int setup(void **state) {
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static enum weft_status parse(const char *text, size_t size, struct weft_arena *arena, struct weft_rank_file *ret_file,
                              struct weft_error *ret_error) {
    *ret_error = (struct weft_error){0};
    return weft_rank_file_parse("ranks.txt", text, size, arena, ret_file, ret_error);
}

static void lines_blanks_and_comments(void **state) {
    static const char text[] = "# made by hand\n\n  host-3\t1   # the second\r\nhost-2 # any\n#\nleaf/x 17";
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_rank_file file;
    struct weft_error error;
    if (parse(text, sizeof text - 1, arena, &file, &error)) fail_msg("%s", error.text);
    assert_int_equal(file.ranks, 3);
    assert_string_equal(file.line[0].host, "host-3");
    assert_int_equal(file.line[0].gpu, 1);
    assert_int_equal(file.line[0].place.line, 3);
    assert_int_equal(file.line[0].place.column, 3);
    assert_int_equal(file.line[0].gpu_place.column, 10);
    assert_int_equal(file.line[1].gpu, WEFT_NONE);
    assert_string_equal(file.line[2].host, "leaf/x");
    assert_int_equal(file.line[2].gpu, 17);
    weft_arena_free(arena);
}

static void what_cannot_be_read(void **state) {
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {"", "ranks.txt:1:1: no rank is in it"},
        {"# nothing\n\n", "ranks.txt:1:1: no rank is in it"},
        {"host-0 first\n", "ranks.txt:1:8: 'first' is not the number of a GPU"},
        {"host-0 -1\n", "ranks.txt:1:8: '-1' is not the number of a GPU"},
        {"host-0 12345678\n", "ranks.txt:1:8: '12345678' is not the number of a GPU"},
        {"host-0 0 1\n", "ranks.txt:1:10: more than a host and a GPU"},
        {"\xef\xbb\xbfhost-0 0\n", "ranks.txt:1:1: a byte order mark; expected text without one"},
    };
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_rank_file file;
    struct weft_error error;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].text, strlen(bad[i].text), arena, &file, &error), WEFT_ERROR_INPUT);
        if (strncmp(error.text, bad[i].expected, strlen(bad[i].expected))) fail_msg("%s", error.text);
    }
    static const char zero[] = "ho\0st 0";
    assert_int_equal(parse(zero, sizeof zero - 1, arena, &file, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.text, "ranks.txt:1:1: a zero byte; expected the name of a host, in text");
    char longest[200];
    memset(longest, 'h', sizeof longest);
    assert_int_equal(parse(longest, sizeof longest, arena, &file, &error), WEFT_ERROR_INPUT);
    weft_arena_free(arena);
}

// --- in a scenario ------------------------------------------------------------------------------------------------

#define SCENARIO                                                                                                       \
    "topology: {kind: ai_zone, zones: 2, racks: 4, gpus_per_rack: 4, uplinks: 2, ctsw_uplinks: 2}\n"                   \
    "workload: [{kind: job, server: {gpus: 2}, occupied: {hosts: host-0..1}, %s, "                                     \
    "operations: [{collective: all_reduce_ring, size: 1MB}]}]\n"

/// A scenario in the folder, with a rank file beside it. The error's text, or NULL.
static const char *bind_with(struct run *r, const char *ranks, const char *more) {
    char path[128];
    snprintf(path, sizeof path, "%s/ranks.txt", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(ranks, file);
    fclose(file);
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, SCENARIO, more);
    fclose(file);
    *r = (struct run){0};
    enum weft_status status = weft_scenario_file_read(path, NULL, 0, &r->file, &r->error);
    if (!status) status = run_bind(r, 0);
    if (status) assert_int_equal(status, WEFT_ERROR_INPUT);
    return status ? r->error.text : NULL;
}

static const char *bind(struct run *r, const char *ranks) {
    return bind_with(r, ranks, "ranks: 8, rank_file: ranks.txt");
}

static void what_a_rank_file_does_not_go_with(void **state) {
    static const struct {
        const char *more, *expected;
    } bad[] = {
        {"placement: min_cut, rank_file: ranks.txt", "s.yaml:2:84: placement: there is a rank_file, 'ranks.txt', too"},
        {"rank_file: ranks.txt, placement: linear", "placement: there is a rank_file, 'ranks.txt', too"},
        {"rank_file: ranks.txt, dimensions: [tp:2, dp:4]",
         "rank_file: 'ranks.txt' has 2 ranks; expected as many as the product of dimensions \"tp:2,dp:4\""},
        {"rank_file: ranks.txt, dimensions: [tp:4]", "rank_file: 'ranks.txt' has 2 ranks"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct run r;
        const char *error = bind_with(&r, "host-2 0\nhost-3 1\n", bad[i].more);
        if (!error || !strstr(error, bad[i].expected)) fail_msg("%s: %s", bad[i].more, error ? error : "accepted");
        run_free(&r);
    }
}

static void hosts_that_do_not_fit(void **state) {
    static const struct {
        const char *ranks, *expected;
    } bad[] = {
        {"host-2 0\nhost-3 1\n", "has 2 ranks; expected the 8 of the job"},
        {"host-2 0\nhost-3 1\nhost-4 0\nhost-5 1\nhost-6 0\nhost-7 1\nhost-8 0\nhost-99 1\n",
         "ranks.txt:8:1: there is no host 'host-99'; expected a name such as host-0"},
        {"host-2 0\nhost-3 1\nhost-4 0\nhost-5 1\nhost-6 0\nhost-7 1\n  host-3 1\nhost-9 1\n",
         "ranks.txt:7:3: host-3 has rank 1 already"},
        {"host-2 0\nhost-3 0\nhost-4 0\nhost-5 1\nhost-6 0\nhost-7 1\nhost-8 0\nhost-9 1\n",
         "ranks.txt:2:8: host-3 is GPU 1 of its server, not 0"},
        {"host-1 1\nhost-3 1\nhost-4 0\nhost-5 1\nhost-6 0\nhost-7 1\nhost-8 0\nhost-9 1\n",
         "ranks.txt:1:1: host-1 is on a server that is occupied"},
        {"rtsw-0 0\nhost-3 1\nhost-4 0\nhost-5 1\nhost-6 0\nhost-7 1\nhost-8 0\nhost-9 1\n",
         "ranks.txt:1:1: there is no host 'rtsw-0'"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct run r;
        const char *error = bind(&r, bad[i].ranks);
        if (!error || !strstr(error, bad[i].expected)) fail_msg("%s: %s", bad[i].expected, error ? error : "accepted");
        run_free(&r);
    }
}

/// A strategy's ranks, written and read again: the same hosts, and the same run to the last bit.
static void written_and_read_again(void **state) {
    struct run placed = RUN(run_once, SCENARIO, "ranks: 8, placement: {kind: random, seed: 5}");
    const struct weft_job *job = &placed.workload->job[0];
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    weft_rank_file_write(file, "first line\nsecond", job, placed.topology, job->host, job->gpu);
    fclose(file);
    assert_memory_equal(text, "# first line\n# second\nhost-", 27);
    struct run read;
    const char *error = bind(&read, text);
    if (error) fail_msg("%s", error);
    assert_memory_equal(read.workload->job[0].host, job->host, 8 * sizeof *job->host);
    read.outcome = run_again(&read, 1, text);
    assert_int_equal(read.outcome->digest, placed.outcome->digest);
    run_free(&read);
    run_free(&placed);
    free(text);
}

/// In servers of two, two after one another share a server: three of the ring's four hops between servers and the one
/// back are what crosses the network. Apart, no two ranks that follow one another share a server, and all eight do. The
/// same collective either way: of 8 ranks each sends 2 * 7 / 8 of the size.
static void ranks_of_a_server_apart(void **state) {
    static const struct {
        const char *ranks;
        uint32_t per_server, network;
    } cases[] = {
        {"host-2 0\nhost-3 1\nhost-4 0\nhost-5 1\nhost-6 0\nhost-7 1\nhost-8 0\nhost-9 1\n", 2, 4},
        {"host-2 0\nhost-4 0\nhost-6 0\nhost-8 0\nhost-3 1\nhost-5 1\nhost-7 1\nhost-9 1\n", 1, 8},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run r;
        const char *error = bind(&r, cases[i].ranks);
        if (error) fail_msg("%s", error);
        const struct weft_job *job = &r.workload->job[0];
        assert_int_equal(job->op[0].shape.per_server, cases[i].per_server);
        uint32_t network = 0, channels = job->communicator[0].channels;
        weft_bytes bytes = 0;
        for (uint32_t c = 0; c < job->connections; c++) {
            network += job->connection[c].flow != WEFT_NONE;
            bytes += job->connection[c].bytes;
        }
        assert_int_equal(network, cases[i].network * channels);
        assert_in_range(bytes, 8 * 1000000 * 2 / 8 * 7 - 8 * 8, 8 * 1000000 * 2 / 8 * 7 + 8 * 8);
        r.outcome = run_again(&r, 1, cases[i].ranks);
        run_assert_complete(&r);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_blanks_and_comments),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(what_a_rank_file_does_not_go_with),
        cmocka_unit_test(ranks_of_a_server_apart),
        cmocka_unit_test(hosts_that_do_not_fit),
        cmocka_unit_test(written_and_read_again),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
