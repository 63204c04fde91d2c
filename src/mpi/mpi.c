// SPDX-License-Identifier: Apache-2.0
// Ranks over MPI, for weft-mpi, in place of cli/ranks.c. Written for Open MPI, using what every MPI has.
#define _GNU_SOURCE // memfd_create
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/image.h"
#include "exchange.h"
#include "grace.h"
#include "ranks.h"
#include "weft/error.h"
#include "weft/ranks.h"

static struct {
    struct weft_ranks ranks;
    FILE *said; ///< of a rank other than 0: what it would have printed on standard error
    bool alone;
} mpi;

/// When all ranks have come so far.
static void finalize_mpi(void) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    weft__mpi_await(1, &request);
    MPI_Finalize();
}

static void leave_ranks(struct weft_ranks *ranks) {
    (void)ranks;
    weft__mpi_doze(); // rank 0 has still to write the results
    finalize_mpi();
    _exit(0);
}

// --- beginning ----------------------------------------------------------------------------------------------------

/// Rank 0 speaks for all: the text of other ranks is kept for it.
static void fall_silent(void) {
    int said = memfd_create("weft", MFD_CLOEXEC);
    if (said < 0 || !freopen("/dev/null", "w", stdout)) weft__mpi_fail("cannot silence a rank");
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

/// Whether the memory of a run is read from a checkpoint: earlier state is not part of it.
static bool is_resumed(int argc, char **argv) {
    for (int i = 2; i < argc; i++)
        if (!strncmp(argv[i], "--resume", strlen("--resume"))) return true;
    return false;
}

/// The library found is the one that the program was built with, or says that it is compatible.
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

/// Another MPI's launcher starts copies that know nothing of one another.
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
    signal(SIGPIPE, SIG_IGN); // MPI must detect that another rank has died, and this rank must not die of it
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
                                    .exchange = weft__mpi_exchange,
                                    .send = weft__mpi_send,
                                    .receive = weft__mpi_receive,
                                    .leave = leave_ranks};
    gethostname(mpi.ranks.host, sizeof mpi.ranks.host - 1);
    weft__mpi_exchange_init(&mpi.ranks);
    if (self)
        fall_silent();
    else if (!weft__grace_begin())
        weft__mpi_fail("a thread cannot be started");
    const char *why = is_resumed(*argc, *argv) ? NULL : weft__image_open((uint32_t)n, (uint32_t)self);
    if (why) {
        char text[160];
        snprintf(text, sizeof text, "the same addresses in all ranks cannot be had: %s", why);
        weft__mpi_fail(text);
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
    if (!word) weft__mpi_fail("out of memory");
    fflush(stderr);
    if (mpi.said) {
        rewind(mpi.said);
        if (fgets(own.text, sizeof own.text, mpi.said)) own.text[strcspn(own.text, "\n")] = 0;
        size_t n = strncmp(own.text, "weft: ", 6) ? 0 : 6; // rank 0 adds that itself
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
        finalize_mpi();
    return mpi.ranks.self ? 0 : status;
}
