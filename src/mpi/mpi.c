// SPDX-License-Identifier: Apache-2.0
// Ranks over MPI, for weft-mpi, in place of cli/ranks.c. Written for Open MPI, using what every MPI has.
#define _GNU_SOURCE // memfd_create
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/image.h"
#include "base/stream.h"
#include "ranks.h"
#include "weft/error.h"
#include "weft/ranks.h"
#include "weft/weft.h"

// Few ranks send each other a message each. Many stand in a grid, rows of columns: a rank sends to each of its row what
// is for that one's column, and each then sends to its column what has come for it. That takes two latencies, and
// rows + columns - 2 messages a rank instead of one for every other rank.

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
    LATENCY_MESSAGES = 5, ///< a latency is worth so many messages, over TCP as over InfiniBand (docs/scale-model.md)
};

/// Between this rank and another.
struct line {
    unsigned char first_out[FIRST_BYTES], first_in[FIRST_BYTES];
};

static struct {
    struct line *line;      ///< [ranks]
    MPI_Request *request;   ///< [4 * ranks]
    uint32_t crowded;       ///< waits for which to sleep
    uint32_t rows, columns; ///< rows = 1: no grid
    /// Of a grid: [columns] to and from this rank's row, [rows] to and from its column. Each holds parcels one after
    /// the other, their lengths before them.
    struct weft_parcel *row_out, *row_in, *column_out, *column_in;
    size_t *at; ///< [columns] how far row_in has been read
} x;

/// Ends all ranks; the launcher says so.
static _Noreturn void fail_all(const char *what) {
    fprintf(stderr, "weft: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, WEFT_ERROR_SYSTEM);
    abort();
}

/// Until all of these are done. MPI itself would spin, or yield time after time to whoever else computes here.
static void await_all(int requests, MPI_Request *request) {
    int done;
    long nap_ns = NAP_FIRST_NS;
    if (x.crowded) x.crowded--;
    for (uint32_t tries = 0; MPI_Testall(requests, request, &done, MPI_STATUSES_IGNORE), !done; tries++) {
        if (tries < SPINS) continue;
        uint64_t begun_ns = weft__wall_ns();
        if (x.crowded) {
            nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
            nap_ns = nap_ns * 2 < NAP_MOST_NS ? nap_ns * 2 : NAP_MOST_NS;
        } else {
            sched_yield();
        }
        if (!x.crowded && weft__wall_ns() - begun_ns > CROWDED_NS) x.crowded = CROWDED_WAITS;
    }
}

/// From now on waits sleep: another rank has long work to do.
static void doze_shortly(void) {
    x.crowded = UINT32_MAX;
}

static void *new_list(size_t n, size_t size) {
    void *list = calloc(n, size);
    if (!list) fail_all("out of memory");
    return list;
}

/// As near to a square as the number of ranks allows, unless that saves less than the second latency costs.
static uint32_t choose_rows(uint32_t ranks) {
    uint32_t rows = 1;
    for (uint32_t k = 2; k * k <= ranks; k++)
        if (ranks % k == 0) rows = k;
    return rows + ranks / rows - 2 + LATENCY_MESSAGES < ranks - 1 ? rows : 1;
}

static void init_exchange(const struct weft_ranks *ranks) {
    x.line = new_list(ranks->n, sizeof *x.line);
    x.request = new_list(4 * (size_t)ranks->n, sizeof(MPI_Request));
    x.rows = choose_rows(ranks->n);
    x.columns = ranks->n / x.rows;
    if (x.rows == 1) return;
    x.row_out = new_list(x.columns, sizeof *x.row_out);
    x.row_in = new_list(x.columns, sizeof *x.row_in);
    x.column_out = new_list(x.rows, sizeof *x.column_out);
    x.column_in = new_list(x.rows, sizeof *x.column_in);
    x.at = new_list(x.columns, sizeof *x.at);
}

// --- one group ----------------------------------------------------------------------------------------------------

/// Ranks first, first + step, and so on, of which this one is number `self`.
struct group {
    uint32_t first, step, n, self;
};

static uint32_t rank_of(const struct group *g, uint32_t k) {
    return g->first + k * g->step;
}

static void make_room(struct weft_parcel *p, size_t n) {
    if (n <= p->capacity) return;
    unsigned char *bytes = realloc(p->bytes, n + n / 2);
    if (!bytes) fail_all("out of memory");
    p->bytes = bytes;
    p->capacity = n + n / 2;
}

/// In parts that MPI can count.
static int post_parts(bool sends, unsigned char *bytes, size_t n, uint32_t rank, MPI_Request *request) {
    int used = 0;
    for (size_t at = 0; at < n; at += CHUNK_BYTES, used++) {
        int part = (int)(n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES);
        if (used == 2) fail_all("more than 2 GiB between two ranks in a window");
        if (sends)
            MPI_Isend(bytes + at, part, MPI_BYTE, (int)rank, TAG_REST, MPI_COMM_WORLD, &request[used]);
        else
            MPI_Irecv(bytes + at, part, MPI_BYTE, (int)rank, TAG_REST, MPI_COMM_WORLD, &request[used]);
    }
    return used;
}

/// All pairs of a group at once: a parcel that fits goes in one message, which has its length in front.
static void exchange_in(const struct group *g, struct weft_ranks *ranks, const struct weft_parcel *out,
                        struct weft_parcel *into) {
    uint64_t n;
    const size_t most = FIRST_BYTES - sizeof n;
    int requests = 0;
    for (uint32_t i = 1; i < g->n; i++) { // each begins with its neighbour
        uint32_t from = rank_of(g, (g->self + i) % g->n);
        MPI_Irecv(x.line[from].first_in, FIRST_BYTES, MPI_BYTE, (int)from, TAG_FIRST, MPI_COMM_WORLD,
                  &x.request[requests++]);
    }
    for (uint32_t i = 1; i < g->n; i++) {
        uint32_t k = (g->self + i) % g->n, to = rank_of(g, k);
        n = out[k].n;
        size_t first = n < most ? n : most;
        memcpy(x.line[to].first_out, &n, sizeof n);
        memcpy(x.line[to].first_out + sizeof n, out[k].bytes, first);
        MPI_Isend(x.line[to].first_out, (int)(sizeof n + first), MPI_BYTE, (int)to, TAG_FIRST, MPI_COMM_WORLD,
                  &x.request[requests++]);
        ranks->messages += n > first ? 2 : 1;
        ranks->bytes += sizeof n + n;
    }
    await_all(requests, x.request);
    requests = 0;
    for (uint32_t k = 0; k < g->n; k++) {
        uint32_t r = rank_of(g, k);
        if (k == g->self) continue;
        memcpy(&n, x.line[r].first_in, sizeof n);
        make_room(&into[k], n);
        into[k].n = n;
        memcpy(into[k].bytes, x.line[r].first_in + sizeof n, n < most ? n : most);
        if (n > most) requests += post_parts(false, into[k].bytes + most, n - most, r, &x.request[requests]);
        if (out[k].n > most)
            requests += post_parts(true, out[k].bytes + most, out[k].n - most, r, &x.request[requests]);
    }
    await_all(requests, x.request);
}

// --- a grid -------------------------------------------------------------------------------------------------------

static void append_bytes(struct weft_parcel *p, const unsigned char *bytes, uint64_t n) {
    make_room(p, p->n + sizeof n + n);
    memcpy(p->bytes + p->n, &n, sizeof n);
    if (n) memcpy(p->bytes + p->n + sizeof n, bytes, n);
    p->n += sizeof n + n;
}

/// The next parcel in `p`, from *at on.
static const unsigned char *next_of(const struct weft_parcel *p, size_t *at, uint64_t *ret_n) {
    memcpy(ret_n, p->bytes + *at, sizeof *ret_n);
    const unsigned char *bytes = p->bytes + *at + sizeof *ret_n;
    *at += sizeof *ret_n + *ret_n;
    return bytes;
}

static void exchange_by_rows(struct weft_ranks *ranks, const struct weft_parcel *out, uint32_t own_row,
                             uint32_t own_column) {
    struct group row = {own_row * x.columns, 1, x.columns, own_column};
    for (uint32_t c = 0; c < x.columns; c++) {
        x.row_out[c].n = x.at[c] = 0;
        for (uint32_t r = 0; r < x.rows; r++) {
            uint32_t to = r * x.columns + c;
            append_bytes(&x.row_out[c], out[to].bytes, to == ranks->self ? 0 : out[to].n);
        }
    }
    exchange_in(&row, ranks, x.row_out, x.row_in);
}

static void exchange_by_columns(struct weft_ranks *ranks, struct weft_parcel *into, uint32_t own_row,
                                uint32_t own_column) {
    struct group column = {own_column, x.columns, x.rows, own_row};
    uint64_t n;
    for (uint32_t r = 0; r < x.rows; r++) {
        x.column_out[r].n = 0;
        for (uint32_t c = 0; c < x.columns; c++) {
            const unsigned char *bytes = next_of(c == own_column ? &x.row_out[c] : &x.row_in[c], &x.at[c], &n);
            append_bytes(&x.column_out[r], bytes, n);
        }
    }
    exchange_in(&column, ranks, x.column_out, x.column_in);
    for (uint32_t r = 0; r < x.rows; r++) {
        size_t at = 0;
        for (uint32_t c = 0; c < x.columns; c++) {
            const unsigned char *bytes = next_of(r == own_row ? &x.column_out[r] : &x.column_in[r], &at, &n);
            uint32_t from = r * x.columns + c;
            if (from == ranks->self) continue;
            make_room(&into[from], n);
            memcpy(into[from].bytes, bytes, n);
            into[from].n = n;
        }
    }
}

// --- all ----------------------------------------------------------------------------------------------------------

/// Those of struct weft_ranks.
static void exchange_parcels(struct weft_ranks *ranks, struct weft_parcel *out, struct weft_parcel *into) {
    uint64_t begun_ns = weft__wall_ns();
    if (x.rows == 1) {
        exchange_in(&(struct group){0, 1, ranks->n, ranks->self}, ranks, out, into);
    } else {
        uint32_t own_row = ranks->self / x.columns, own_column = ranks->self % x.columns;
        exchange_by_rows(ranks, out, own_row, own_column);
        exchange_by_columns(ranks, into, own_row, own_column);
    }
    ranks->exchanges++;
    ranks->wait_ns += weft__wall_ns() - begun_ns;
}

static void send_bytes(struct weft_ranks *ranks, uint32_t to, const void *bytes, size_t n) {
    for (size_t at = 0; at < n; at += CHUNK_BYTES) {
        MPI_Isend((const char *)bytes + at, (int)(n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES), MPI_BYTE, (int)to,
                  TAG_ALL, MPI_COMM_WORLD, x.request);
        await_all(1, x.request);
    }
}

static void receive_bytes(struct weft_ranks *ranks, uint32_t from, void *bytes, size_t n) {
    for (size_t at = 0; at < n; at += CHUNK_BYTES) {
        MPI_Irecv((char *)bytes + at, (int)(n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES), MPI_BYTE, (int)from, TAG_ALL,
                  MPI_COMM_WORLD, x.request);
        await_all(1, x.request);
    }
}

static sem_t came;

/// Seconds from SIGTERM to SIGKILL: a parameter of mpirun, which it gives its ranks if the user set it.
static long grace_seconds(void) {
    const char *text = getenv("OMPI_MCA_odls_base_sigkill_timeout");
    long seconds = text ? strtol(text, NULL, 10) : 1;
    return seconds > 0 ? seconds : 0;
}

static void *wait_for_signal(void *context) {
    while (sem_wait(&came) && errno == EINTR) {
    }
    long seconds = grace_seconds();
    struct timespec left = {.tv_sec = seconds ? seconds - 1 : 0, .tv_nsec = seconds ? 700000000 : 0};
    while (nanosleep(&left, &left) && errno == EINTR) {
    }
    weft__drafts_remove();
    fprintf(stderr,
            "weft: interrupted, and results could not be written within the %ld s that mpirun gives; expected a signal "
            "that it passes on (kill -USR1), or --mca odls_base_sigkill_timeout 60\n",
            seconds);
    _exit(WEFT_INTERRUPTED);
}

/// mpirun itself, or its daemon on another machine.
static bool is_launched_by_mpirun(void) {
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)getppid());
    FILE *file = fopen(path, "r");
    if (!file) return false;
    if (!fgets(name, sizeof name, file)) *name = 0;
    fclose(file);
    name[strcspn(name, ".\n")] = 0; // Debian has mpirun.openmpi
    static const char *const launchers[] = {"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted"};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (!strcmp(name, launchers[i])) return true;
    return false;
}

static bool waits; ///< a thread, for a signal

/// False: no thread can be had.
static bool begin_grace(void) {
    sigset_t all, was;
    pthread_t thread;
    if (!is_launched_by_mpirun()) return true;
    weft__drafts_keep();
    sem_init(&came, 0, 0);
    sigfillset(&all); // signals are for the other threads
    pthread_sigmask(SIG_SETMASK, &all, &was);
    waits = !pthread_create(&thread, NULL, wait_for_signal, NULL);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return waits;
}

/// A signal has come. Of a signal handler.
static void note_grace(int number, pid_t sender) {
    if (waits && number == SIGTERM && sender == getppid()) sem_post(&came);
}

static struct {
    struct weft_ranks ranks;
    FILE *said; ///< of a rank other than 0: what it would have printed on standard error
    bool alone;
} mpi;

/// When all ranks have come so far.
static void finalize_mpi(void) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    await_all(1, &request);
    MPI_Finalize();
}

static void leave_ranks(struct weft_ranks *ranks) {
    doze_shortly(); // rank 0 has still to write the results
    finalize_mpi();
    _exit(0);
}

// --- beginning ----------------------------------------------------------------------------------------------------

/// Rank 0 speaks for all: the text of other ranks is kept for it.
static void fall_silent(void) {
    int said = memfd_create("weft", MFD_CLOEXEC);
    if (said < 0 || !freopen("/dev/null", "w", stdout)) fail_all("cannot silence a rank");
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
        signal(SIGTERM, SIG_IGN); // the launcher's, when another rank is the first to end: the fault has been told
        MPI_Finalize();
        return false;
    }
    mpi.alone = n == 1;
    if (mpi.alone) return true;
    mpi.ranks = (struct weft_ranks){.n = (uint32_t)n,
                                    .self = (uint32_t)self,
                                    .exchange = exchange_parcels,
                                    .send = send_bytes,
                                    .receive = receive_bytes,
                                    .leave = leave_ranks};
    gethostname(mpi.ranks.host, sizeof mpi.ranks.host - 1);
    init_exchange(&mpi.ranks);
    if (self)
        fall_silent();
    else if (!begin_grace())
        fail_all("a thread cannot be started");
    const char *why = is_resumed(*argc, *argv) ? NULL : weft__image_open((uint32_t)n, (uint32_t)self);
    if (why) {
        char text[160];
        snprintf(text, sizeof text, "the same addresses in all ranks cannot be had: %s", why);
        fail_all(text);
    }
    return true;
}

struct weft_ranks *weft_cli_ranks(void) {
    return mpi.alone ? NULL : &mpi.ranks;
}

void weft_cli_ranks_interrupt(int number, pid_t sender) {
    if (!mpi.alone && !mpi.ranks.self) note_grace(number, sender);
}

/// A rank that ends before the run tells the others why.
static void tell_end(int status) {
    struct weft_ranks_word own = {.ended = 1, .status = (uint32_t)status};
    struct weft_ranks_word *word = calloc(mpi.ranks.n, sizeof *word);
    if (!word) fail_all("out of memory");
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
