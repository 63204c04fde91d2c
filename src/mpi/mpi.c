// SPDX-License-Identifier: Apache-2.0
// Ranks over MPI; of weft-mpi, in the place of cli/ranks.c. Written for Open MPI, by what every MPI has.
#define _GNU_SOURCE // memfd_create
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/image.h"
#include "grace.h"
#include "ranks.h"
#include "weft/error.h"
#include "weft/ranks.h"

enum {
    FIRST_BYTES = 16 << 10, ///< of a parcel, with its length; the rest goes in a second message
    CHUNK_BYTES = 1 << 30,  ///< MPI counts with int
    TAG_FIRST = 1,
    TAG_REST,
    TAG_ALL,
    SPINS = 256,          ///< before the processor is offered to others
    CROWDED_NS = 1000000, ///< a yield as long: others want the processor
    CROWDED_WAITS = 1024, ///< for so many waits it then sleeps: who is woken goes before those that only compute
    NAP_FIRST_NS = 1000,
    NAP_MOST_NS = 128000,
};

/// Between this rank and another.
struct line {
    unsigned char first_out[FIRST_BYTES], first_in[FIRST_BYTES];
};

static struct {
    struct weft_ranks ranks;
    struct line *line;    ///< [ranks]
    MPI_Request *request; ///< [4 * ranks]
    FILE *said;           ///< of a rank other than 0: what it would have printed on standard error
    bool alone;
    uint32_t crowded; ///< waits for which to sleep
} mpi;

static uint64_t wall_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/// Ends all ranks; the launcher says so.
static _Noreturn void fail(const char *what) {
    fprintf(stderr, "weft: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, WEFT_ERROR_SYSTEM);
    abort();
}

/// Until all of these are done. MPI itself would spin, or yield time after time to whoever else computes here.
static void await(int requests, MPI_Request *request) {
    int done;
    long nap_ns = NAP_FIRST_NS;
    if (mpi.crowded) mpi.crowded--;
    for (uint32_t tries = 0; MPI_Testall(requests, request, &done, MPI_STATUSES_IGNORE), !done; tries++) {
        if (tries < SPINS) continue;
        uint64_t begun_ns = wall_ns();
        if (mpi.crowded) {
            nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
            nap_ns = nap_ns * 2 < NAP_MOST_NS ? nap_ns * 2 : NAP_MOST_NS;
        } else {
            sched_yield();
        }
        if (!mpi.crowded && wall_ns() - begun_ns > CROWDED_NS) mpi.crowded = CROWDED_WAITS;
    }
}

// --- exchanges ----------------------------------------------------------------------------------------------------

static void make_room(struct weft_parcel *p, size_t n) {
    if (n <= p->capacity) return;
    unsigned char *bytes = realloc(p->bytes, n + n / 2);
    if (!bytes) fail("out of memory");
    p->bytes = bytes;
    p->capacity = n + n / 2;
}

/// In parts that MPI can count.
static int post(bool sends, unsigned char *bytes, size_t n, uint32_t rank, MPI_Request *request) {
    int used = 0;
    for (size_t at = 0; at < n; at += CHUNK_BYTES, used++) {
        int part = (int)(n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES);
        if (used == 2) fail("more than 2 GiB between two ranks in a window");
        if (sends)
            MPI_Isend(bytes + at, part, MPI_BYTE, (int)rank, TAG_REST, MPI_COMM_WORLD, &request[used]);
        else
            MPI_Irecv(bytes + at, part, MPI_BYTE, (int)rank, TAG_REST, MPI_COMM_WORLD, &request[used]);
    }
    return used;
}

/// All pairs at once: a parcel that fits goes in one message, which has its length in front.
static void exchange(struct weft_ranks *ranks, struct weft_parcel *out, struct weft_parcel *into) {
    uint64_t begun_ns = wall_ns(), n;
    int requests = 0;
    for (uint32_t k = 1; k < ranks->n; k++) { // each begins with its neighbour
        uint32_t to = (ranks->self + k) % ranks->n;
        MPI_Irecv(mpi.line[to].first_in, FIRST_BYTES, MPI_BYTE, (int)to, TAG_FIRST, MPI_COMM_WORLD,
                  &mpi.request[requests++]);
    }
    for (uint32_t k = 1; k < ranks->n; k++) {
        uint32_t to = (ranks->self + k) % ranks->n;
        n = out[to].n;
        size_t first = n < FIRST_BYTES - sizeof n ? n : FIRST_BYTES - sizeof n;
        memcpy(mpi.line[to].first_out, &n, sizeof n);
        memcpy(mpi.line[to].first_out + sizeof n, out[to].bytes, first);
        MPI_Isend(mpi.line[to].first_out, (int)(sizeof n + first), MPI_BYTE, (int)to, TAG_FIRST, MPI_COMM_WORLD,
                  &mpi.request[requests++]);
        ranks->messages += n > first ? 2 : 1;
        ranks->bytes += sizeof n + n;
    }
    await(requests, mpi.request);
    requests = 0;
    for (uint32_t r = 0; r < ranks->n; r++) {
        const size_t first = FIRST_BYTES - sizeof n;
        if (r == ranks->self) continue;
        memcpy(&n, mpi.line[r].first_in, sizeof n);
        make_room(&into[r], n);
        into[r].n = n;
        memcpy(into[r].bytes, mpi.line[r].first_in + sizeof n, n < first ? n : first);
        if (n > first) requests += post(false, into[r].bytes + first, n - first, r, &mpi.request[requests]);
        if (out[r].n > first) requests += post(true, out[r].bytes + first, out[r].n - first, r, &mpi.request[requests]);
    }
    await(requests, mpi.request);
    ranks->exchanges++;
    ranks->wait_ns += wall_ns() - begun_ns;
}

static void send(struct weft_ranks *ranks, uint32_t to, const void *bytes, size_t n) {
    (void)ranks;
    for (size_t at = 0; at < n; at += CHUNK_BYTES) {
        MPI_Isend((const char *)bytes + at, (int)(n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES), MPI_BYTE, (int)to,
                  TAG_ALL, MPI_COMM_WORLD, mpi.request);
        await(1, mpi.request);
    }
}

static void receive(struct weft_ranks *ranks, uint32_t from, void *bytes, size_t n) {
    (void)ranks;
    for (size_t at = 0; at < n; at += CHUNK_BYTES) {
        MPI_Irecv((char *)bytes + at, (int)(n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES), MPI_BYTE, (int)from, TAG_ALL,
                  MPI_COMM_WORLD, mpi.request);
        await(1, mpi.request);
    }
}

/// When all ranks have come so far.
static void finalize(void) {
    MPI_Ibarrier(MPI_COMM_WORLD, mpi.request);
    await(1, mpi.request);
    MPI_Finalize();
}

static void leave(struct weft_ranks *ranks) {
    (void)ranks;
    mpi.crowded = UINT32_MAX; // rank 0 has still to write the results
    finalize();
    _exit(0);
}

// --- beginning ----------------------------------------------------------------------------------------------------

/// Rank 0 speaks for all: what another would have said is kept for it.
static void fall_silent(void) {
    int said = memfd_create("weft", MFD_CLOEXEC);
    if (said < 0 || !freopen("/dev/null", "w", stdout)) fail("cannot silence a rank");
    fflush(stderr);
    dup2(said, STDERR_FILENO);
    mpi.said = fdopen(said, "r");
}

static const char *operand_fault(int argc, char **argv) {
    if (argc < 2) return "expected weft run";
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--version")) return NULL;
    if (strcmp(argv[1], "run")) return "only weft run is for several ranks; expected it, or one process";
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], "-")) return "standard input goes to one rank only; expected a file";
    return NULL;
}

/// Whether the memory of a run is read from a checkpoint: what comes before is none of it.
static bool resumes(int argc, char **argv) {
    for (int i = 2; i < argc; i++)
        if (!strncmp(argv[i], "--resume", strlen("--resume"))) return true;
    return false;
}

/// The library at hand is that which the program was built with, or one that says that it is compatible.
static bool check_library(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, major = 0, minor = 0;
    MPI_Get_library_version(text, &n);
#ifdef OMPI_MAJOR_VERSION
    if (sscanf(text, "Open MPI v%d.%d", &major, &minor) == 2 && major == OMPI_MAJOR_VERSION) return true;
    fprintf(stderr,
            "weft: built with Open MPI %d.%d, and the library is %s; expected the same: `make mpi` builds anew\n",
            OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, text);
    return false;
#else
    (void)major, (void)minor;
    return true;
#endif
}

/// Another MPI's launcher starts copies that know nothing of each other.
static bool check_launcher(int ranks) {
    static const char *const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *size = getenv(sizes[i]);
        if (!size || strtol(size, NULL, 10) <= ranks) continue;
        fprintf(
            stderr,
            "weft: the launcher has started %s copies (%s), which MPI takes for %d; expected the mpirun of Open MPI, "
            "or srun --mpi=pmix\n",
            size, sizes[i], ranks);
        return false;
    }
    return true;
}

bool weft_cli_ranks_begin(int *argc, char ***argv, int *ret_status) {
    int level, n, self;
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0); // see await
    signal(SIGPIPE, SIG_IGN); // MPI is to find that another rank has died, and not this one to die of it
    *ret_status = WEFT_ERROR_SYSTEM;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level)) return false;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    bool good = check_library() && check_launcher(n);
    const char *fault = n > 1 ? operand_fault(*argc, *argv) : NULL;
    if (good && n > WEFT__IMAGE_RANKS_MAX) fault = "more than 64 ranks; expected at most 64";
    if (fault && !self) fprintf(stderr, "weft: %d ranks: %s\n", n, fault);
    if (!good || fault) {
        *ret_status = good ? WEFT_ERROR_INPUT : WEFT_ERROR_SYSTEM;
        MPI_Finalize();
        return false;
    }
    mpi.alone = n == 1;
    if (mpi.alone) return true;
    mpi.ranks = (struct weft_ranks){.n = (uint32_t)n,
                                    .self = (uint32_t)self,
                                    .exchange = exchange,
                                    .send = send,
                                    .receive = receive,
                                    .leave = leave};
    gethostname(mpi.ranks.host, sizeof mpi.ranks.host - 1);
    mpi.line = calloc((size_t)n, sizeof *mpi.line);
    mpi.request = calloc(4 * (size_t)n, sizeof(MPI_Request));
    if (!mpi.line || !mpi.request) fail("out of memory");
    if (self)
        fall_silent();
    else if (!weft__grace_begin())
        fail("a thread cannot be started");
    const char *why = resumes(*argc, *argv) ? NULL : weft__image_open((uint32_t)n, (uint32_t)self);
    if (why) {
        char text[160];
        snprintf(text, sizeof text, "the same addresses in all ranks cannot be had: %s", why);
        fail(text);
    }
    return true;
}

struct weft_ranks *weft_cli_ranks(void) {
    return mpi.alone ? NULL : &mpi.ranks;
}

void weft_cli_ranks_interrupt(int number, pid_t sender) {
    if (!mpi.alone && !mpi.ranks.self) weft__grace_note(number, sender);
}

/// A rank that ends before the run tells the others why.
static void tell_end(int status) {
    struct weft_ranks_word own = {.ended = 1, .status = (uint32_t)status};
    struct weft_ranks_word *word = calloc(mpi.ranks.n, sizeof *word);
    if (!word) fail("out of memory");
    fflush(stderr);
    if (mpi.said) {
        rewind(mpi.said);
        if (fgets(own.text, sizeof own.text, mpi.said)) own.text[strcspn(own.text, "\n")] = 0;
        size_t n = strncmp(own.text, "weft: ", 6) ? 0 : 6; // rank 0 says so itself
        memmove(own.text, own.text + n, sizeof own.text - n);
    }
    weft_ranks_meet(&mpi.ranks, &own, word);
    free(word);
}

int weft_cli_ranks_end(int status) {
    if (!mpi.alone && !mpi.ranks.running && !mpi.ranks.over) tell_end(status);
    fflush(stdout);
    if (mpi.alone)
        MPI_Finalize();
    else
        finalize();
    return mpi.ranks.self ? 0 : status;
}
