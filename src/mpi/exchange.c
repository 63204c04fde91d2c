// SPDX-License-Identifier: Apache-2.0
// Few ranks send each other a message each. Many stand in a grid, rows of columns: a rank sends to each of its row what
// is for that one's column, and each then sends to its column what has come for it. That takes two latencies, and
// rows + columns - 2 messages a rank instead of one for every other rank.
#define _GNU_SOURCE // clock_gettime, nanosleep
#include "exchange.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "weft/error.h"

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

_Noreturn void weft__mpi_fail(const char *what) {
    fprintf(stderr, "weft: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, WEFT_ERROR_SYSTEM);
    abort();
}

void weft__mpi_await(int requests, MPI_Request *request) {
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

void weft__mpi_doze(void) {
    x.crowded = UINT32_MAX;
}

static void *new_list(size_t n, size_t size) {
    void *list = calloc(n, size);
    if (!list) weft__mpi_fail("out of memory");
    return list;
}

/// As near to a square as the number of ranks allows, unless that saves less than the second latency costs.
static uint32_t choose_rows(uint32_t ranks) {
    uint32_t rows = 1;
    for (uint32_t k = 2; k * k <= ranks; k++)
        if (ranks % k == 0) rows = k;
    return rows + ranks / rows - 2 + LATENCY_MESSAGES < ranks - 1 ? rows : 1;
}

void weft__mpi_exchange_init(const struct weft_ranks *ranks) {
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
    if (!bytes) weft__mpi_fail("out of memory");
    p->bytes = bytes;
    p->capacity = n + n / 2;
}

/// In parts that MPI can count.
static int post_parts(bool sends, unsigned char *bytes, size_t n, uint32_t rank, MPI_Request *request) {
    int used = 0;
    for (size_t at = 0; at < n; at += CHUNK_BYTES, used++) {
        int part = (int)(n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES);
        if (used == 2) weft__mpi_fail("more than 2 GiB between two ranks in a window");
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
    weft__mpi_await(requests, x.request);
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
    weft__mpi_await(requests, x.request);
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

void weft__mpi_exchange(struct weft_ranks *ranks, struct weft_parcel *out, struct weft_parcel *into) {
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

void weft__mpi_send(struct weft_ranks *ranks, uint32_t to, const void *bytes, size_t n) {
    (void)ranks;
    for (size_t at = 0; at < n; at += CHUNK_BYTES) {
        MPI_Isend((const char *)bytes + at, (int)(n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES), MPI_BYTE, (int)to,
                  TAG_ALL, MPI_COMM_WORLD, x.request);
        weft__mpi_await(1, x.request);
    }
}

void weft__mpi_receive(struct weft_ranks *ranks, uint32_t from, void *bytes, size_t n) {
    (void)ranks;
    for (size_t at = 0; at < n; at += CHUNK_BYTES) {
        MPI_Irecv((char *)bytes + at, (int)(n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES), MPI_BYTE, (int)from, TAG_ALL,
                  MPI_COMM_WORLD, x.request);
        weft__mpi_await(1, x.request);
    }
}
