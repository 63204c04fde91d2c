// SPDX-License-Identifier: Apache-2.0
// What the core's small runs (core.yaml, and those of a Clique) give does not depend on how they are run: with several
// threads, with all events recorded, or over several processes, which here are children that exchange bytes in shared
// memory.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/image.h"
#include "weft/memory.h"
#include "weft/ranks.h"
#include "weft/weft.h"

enum { RANKS_MAX = 3, PARCEL_BYTES = 1 << 20, CHILD_S = 200 };

static const char *const files[] = {"tests/golden/core.yaml", "scenarios/aquila/small.yaml"};

/// Between ranks.
struct common {
    pthread_barrier_t barrier;
    uint64_t digest;
    struct {
        size_t n;
        unsigned char bytes[PARCEL_BYTES];
    } parcel[RANKS_MAX][RANKS_MAX]; ///< [from][to]
};

/// What is left of the memory that a run has counted, when all of it has been freed.
static bool is_freed(const char *name, uint32_t variant) {
    bool freed = true;
    for (unsigned kind = 0; kind < WEFT_MEMORY_KINDS; kind++) {
        weft_bytes left = weft_memory_bytes((enum weft_memory_kind)kind);
        if (left) fprintf(stderr, "%s, variant %u: %" PRIu64 " bytes of kind %u are left\n", name, variant, left, kind);
        freed &= !left;
    }
    return freed;
}

/// Everything from the file to the digest; false, with why on standard error: it could not be run, or not all that it
/// allocated was freed.
static bool run(const char *name, uint32_t variant, const struct weft_sim_options *options, uint64_t *ret_digest) {
    char path[1024];
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    struct weft_error error;
    struct weft_memory *memory = weft_memory_open();
    weft_memory_use(memory);
    snprintf(path, sizeof path, "%s/%s", getenv("WEFT_ROOT"), name);
    enum weft_status status = weft_scenario_file_read(path, NULL, 0, &file, &error);
    if (!status) status = weft_simulation_new(file, variant, &simulation, &error);
    if (!status) status = weft_simulation_run(simulation, options, &result, &error);
    if (status)
        fprintf(stderr, "%s, variant %u: %s\n", name, variant, error.text);
    else
        *ret_digest = weft_result_digest(result);
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    bool freed = options->ranks || is_freed(name, variant); // rank 0 ends with memory of the others
    weft_memory_close(weft_memory_use(NULL));
    return !status && freed;
}

static uint32_t variants_of(const char *name) {
    char path[1024];
    struct weft_scenario_file *file;
    struct weft_error error;
    snprintf(path, sizeof path, "%s/%s", getenv("WEFT_ROOT"), name);
    assert_int_equal(weft_scenario_file_read(path, NULL, 0, &file, &error), WEFT_OK);
    uint32_t n = weft_scenario_variants(file);
    weft_scenario_file_free(file);
    return n;
}

// --- ranks --------------------------------------------------------------------------------------------------------

/// A rank, as its callbacks see it.
struct child {
    struct common *common;
    int (*line)[RANKS_MAX][2]; ///< [from][to]: a pipe
};

static void exchange(struct weft_ranks *ranks, struct weft_parcel *out, struct weft_parcel *into) {
    struct common *common = ((struct child *)ranks->context)->common;
    for (uint32_t r = 0; r < ranks->n; r++) {
        if (r == ranks->self) continue;
        if (out[r].n > PARCEL_BYTES) abort();
        common->parcel[ranks->self][r].n = out[r].n;
        if (out[r].n) memcpy(common->parcel[ranks->self][r].bytes, out[r].bytes, out[r].n);
    }
    pthread_barrier_wait(&common->barrier);
    for (uint32_t r = 0; r < ranks->n; r++) {
        if (r == ranks->self) continue;
        size_t n = common->parcel[r][ranks->self].n;
        if (n > into[r].capacity) {
            into[r].bytes = realloc(into[r].bytes, n);
            into[r].capacity = n;
        }
        into[r].n = n;
        if (n) memcpy(into[r].bytes, common->parcel[r][ranks->self].bytes, n);
    }
    pthread_barrier_wait(&common->barrier);
    ranks->exchanges++;
}

static void send(struct weft_ranks *ranks, uint32_t to, const void *bytes, size_t n) {
    int fd = ((struct child *)ranks->context)->line[ranks->self][to][1];
    for (size_t at = 0; at < n;) {
        ssize_t wrote = write(fd, (const char *)bytes + at, n - at);
        if (wrote <= 0) abort();
        at += (size_t)wrote;
    }
}

static void receive(struct weft_ranks *ranks, uint32_t from, void *bytes, size_t n) {
    int fd = ((struct child *)ranks->context)->line[from][ranks->self][0];
    for (size_t at = 0; at < n;) {
        ssize_t got = read(fd, (char *)bytes + at, n - at);
        if (got <= 0) abort();
        at += (size_t)got;
    }
}

static void leave(struct weft_ranks *ranks) {
    (void)ranks;
    exit(0);
}

static _Noreturn void be_rank(const char *name, uint32_t variant, uint32_t n, uint32_t self, uint32_t threads,
                              struct child *child) {
    struct weft_ranks ranks = {
        .n = n, .self = self, .context = child, .exchange = exchange, .send = send, .receive = receive, .leave = leave};
    struct weft_sim_options options = {.threads = threads, .oversubscribe = true, .ranks = &ranks};
    alarm(CHILD_S); // another that has failed comes to no exchange
    if (weft__image_open(n, self)) exit(1);
    exit(!run(name, variant, &options, &child->common->digest) || !ranks.exchanges);
}

/// Over n ranks; whether all of them ended well.
static bool run_in_ranks(const char *name, uint32_t variant, uint32_t n, uint32_t threads, uint64_t *ret_digest) {
    int line[RANKS_MAX][RANKS_MAX][2];
    pid_t pid[RANKS_MAX];
    bool good = true;
    struct child child = {
        mmap(NULL, sizeof *child.common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
        line};
    pthread_barrierattr_t shared;
    assert_true(child.common != MAP_FAILED);
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&child.common->barrier, &shared, n);
    for (uint32_t k = 0; k < n * n; k++)
        assert_int_equal(pipe(line[k / n][k % n]), 0);
    fflush(NULL); // what is buffered is not the children's to write
    for (uint32_t r = 0; r < n; r++)
        if (!(pid[r] = fork())) be_rank(name, variant, n, r, threads, &child);
    for (uint32_t ended = 0; ended < n; ended++) {
        int status;
        pid_t who = wait(&status);
        if (who > 0 && !status) continue;
        good = false; // the others would wait for it
        for (uint32_t r = 0; r < n; r++)
            if (pid[r] != who) kill(pid[r], SIGKILL);
    }
    for (uint32_t k = 0; k < n * n; k++)
        for (unsigned end = 0; end < 2; end++)
            close(line[k / n][k % n][end]);
    *ret_digest = child.common->digest;
    munmap(child.common, sizeof *child.common);
    return good;
}

// --- what holds ---------------------------------------------------------------------------------------------------

static void assert_digest(const char *name, uint32_t variant, const char *how, uint64_t digest, uint64_t expected) {
    if (digest != expected)
        fail_msg("%s, variant %u: digest %016" PRIx64 " %s, expected %016" PRIx64, name, variant, digest, how,
                 expected);
}

/// Nothing of it is in the image of this process: its children open their own.
static void ranks_change_nothing(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    for (unsigned f = 0; f < sizeof files / sizeof *files; f++)
        for (uint32_t v = 0; v < variants_of(files[f]); v++) {
            uint64_t alone, digest = 0;
            assert_true(run(files[f], v, &(struct weft_sim_options){.threads = 1}, &alone));
            assert_true(run_in_ranks(files[f], v, 2, 1, &digest));
            assert_digest(files[f], v, "over 2 ranks", digest, alone);
            assert_true(run_in_ranks(files[f], v, 3, 2, &digest));
            assert_digest(files[f], v, "over 3 ranks of 2 threads", digest, alone);
        }
}

static void threads_and_recording_change_nothing(void **state) {
    (void)state;
    for (unsigned f = 0; f < sizeof files / sizeof *files; f++)
        for (uint32_t v = 0; v < variants_of(files[f]); v++) {
            uint64_t alone, digest;
            assert_true(run(files[f], v, &(struct weft_sim_options){.threads = 1}, &alone));
            for (uint32_t threads = 2; threads <= 5; threads += 3) {
                const struct weft_sim_options options = {.threads = threads, .oversubscribe = true, .record = true};
                assert_true(run(files[f], v, &options, &digest));
                assert_digest(files[f], v, threads == 2 ? "with 2 threads" : "with 5 threads", digest, alone);
            }
        }
}

/// As an argument, what changes nothing: threads or ranks.
int main(int argc, char **argv) {
    char filter[64];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_recording_change_nothing),
        cmocka_unit_test(ranks_change_nothing),
    };
    snprintf(filter, sizeof filter, "%s*", argc > 1 ? argv[1] : "");
    cmocka_set_test_filter(filter);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
