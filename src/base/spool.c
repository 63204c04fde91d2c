// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // O_TMPFILE, mkostemp
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CAPACITY_FIRST = 1024, BUFFER_RECORDS = 1024, PIECE_BYTES = 1 << 20 };

static void close_file(void *context) {
    const struct weft__spool *spool = context;
    if (spool->file >= 0) close(spool->file);
}

void weft__spool_init(struct weft__spool *spool, size_t record_bytes, size_t records_max,
                      int (*compare)(const void *a, const void *b), const char *folder) {
    *spool = (struct weft__spool){
        .folder = folder, .compare = compare, .record_bytes = record_bytes, .capacity_max = records_max, .file = -1};
    weft_memory_cleanup_add(&spool->cleanup, close_file, spool);
}

void weft__spool_deinit(struct weft__spool *spool) {
    weft_memory_cleanup_remove(&spool->cleanup);
    close_file(spool);
    weft_memory_free(WEFT_MEMORY_SERIES, spool->record, spool->capacity * spool->record_bytes);
    *spool = (struct weft__spool){.file = -1};
}

static void note_failure(struct weft__spool *spool) {
    if (!spool->error) spool->error = errno ? errno : EIO;
}

/// A file that disappears with the process, however it ends.
static int open_nameless(const char *folder) {
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    char path[4096]; // a file system without such files
    if (snprintf(path, sizeof path, "%s/weft-spool-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

static void write_all(struct weft__spool *spool, const uint8_t *bytes, size_t size) {
    while (size && !spool->error) {
        ssize_t done = write(spool->file, bytes, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            note_failure(spool);
            return;
        }
        bytes += done;
        size -= (size_t)done;
    }
}

static void sort_records(struct weft__spool *spool) {
    if (spool->n) qsort(spool->record, spool->n, spool->record_bytes, spool->compare);
}

void weft__spool_make_room(struct weft__spool *spool) {
    if (spool->n < spool->capacity_max) {
        size_t capacity = spool->capacity ? spool->capacity * 4 : CAPACITY_FIRST;
        if (capacity > spool->capacity_max) capacity = spool->capacity_max;
        spool->record = weft_memory_resize(WEFT_MEMORY_SERIES, spool->record, spool->capacity * spool->record_bytes,
                                           capacity * spool->record_bytes);
        spool->capacity = capacity;
        return;
    }
    if (spool->file < 0 && !spool->error) spool->file = open_nameless(spool->folder);
    if (spool->file < 0) note_failure(spool);
    sort_records(spool);
    write_all(spool, spool->record, spool->n * spool->record_bytes);
    if (!spool->error) spool->written += spool->n;
    spool->n = 0;
}

/// A sorted run: on disk with a buffer, or the rest in memory.
struct source {
    struct weft__spool *spool;
    uint8_t *buffer; ///< NULL: in memory
    const uint8_t *next;
    size_t buffered;     ///< records from `next` on
    uint64_t from, left; ///< records in the file not yet buffered
};

struct weft__merge {
    struct source *source;
    struct source **heap; ///< smallest record first
    size_t sources, n;
    bool taken; ///< the top's first record was handed out
};

static bool read_all(struct weft__spool *spool, uint8_t *bytes, size_t n, uint64_t from) {
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(spool->file, bytes + done, n - done, (off_t)(from + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            note_failure(spool);
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static void refill_source(struct source *s) {
    size_t bytes = s->spool->record_bytes, records = s->left < BUFFER_RECORDS ? (size_t)s->left : BUFFER_RECORDS;
    if (!read_all(s->spool, s->buffer, records * bytes, s->from * bytes)) {
        s->left = 0;
        return;
    }
    s->next = s->buffer;
    s->buffered = records;
    s->from += records;
    s->left -= records;
}

static bool is_less(const struct source *a, const struct source *b) {
    return a->spool->compare(a->next, b->next) < 0;
}

static void sift_down(struct weft__merge *m, size_t i) {
    struct source *s = m->heap[i];
    for (size_t child; (child = 2 * i + 1) < m->n; i = child) {
        if (child + 1 < m->n && is_less(m->heap[child + 1], m->heap[child])) child++;
        if (!is_less(m->heap[child], s)) break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = s;
}

static size_t runs_of(const struct weft__spool *spool) {
    return (size_t)((spool->written + spool->capacity_max - 1) / spool->capacity_max);
}

struct weft__merge *weft__merge_new(struct weft__spool *spool, uint32_t spools) {
    struct weft__merge *m = weft_memory_new(WEFT_MEMORY_SERIES, 1, sizeof *m);
    for (uint32_t i = 0; i < spools; i++)
        m->sources += runs_of(&spool[i]) + 1;
    m->source = weft_memory_new(WEFT_MEMORY_SERIES, m->sources, sizeof *m->source);
    m->heap = weft_memory_new(WEFT_MEMORY_SERIES, m->sources, sizeof *m->heap);
    struct source *s = m->source;
    for (uint32_t i = 0; i < spools; i++) {
        sort_records(&spool[i]);
        *s++ = (struct source){.spool = &spool[i], .next = spool[i].record, .buffered = spool[i].n};
        for (uint64_t from = 0; from < spool[i].written; from += spool[i].capacity_max, s++) {
            uint64_t left = spool[i].written - from;
            *s = (struct source){.spool = &spool[i], .from = from};
            s->left = left < spool[i].capacity_max ? left : spool[i].capacity_max;
            s->buffer = weft_memory_new(WEFT_MEMORY_SERIES, BUFFER_RECORDS, spool[i].record_bytes);
            refill_source(s);
        }
    }
    for (size_t i = 0; i < m->sources; i++)
        if (m->source[i].buffered) m->heap[m->n++] = &m->source[i];
    for (size_t i = m->n / 2; i-- > 0;)
        sift_down(m, i);
    return m;
}

const void *weft__merge_next(struct weft__merge *m) {
    if (m->taken) {
        struct source *s = m->heap[0];
        s->next += s->spool->record_bytes;
        if (--s->buffered == 0 && s->left) refill_source(s);
        if (!s->buffered) m->heap[0] = m->heap[--m->n];
        if (m->n) sift_down(m, 0);
    }
    m->taken = m->n != 0;
    return m->n ? m->heap[0]->next : NULL;
}

void weft__merge_free(struct weft__merge *m) {
    for (size_t i = 0; i < m->sources; i++)
        if (m->source[i].buffer)
            weft_memory_free(WEFT_MEMORY_SERIES, m->source[i].buffer,
                             BUFFER_RECORDS * m->source[i].spool->record_bytes);
    weft_memory_free(WEFT_MEMORY_SERIES, m->heap, m->sources * sizeof *m->heap);
    weft_memory_free(WEFT_MEMORY_SERIES, m->source, m->sources * sizeof *m->source);
    weft_memory_free(WEFT_MEMORY_SERIES, m, sizeof *m);
}

// --- between processes --------------------------------------------------------------------------------------------

void weft__spool_send(struct weft__spool *spool, void (*put)(void *context, const void *bytes, size_t n),
                      void *context) {
    uint64_t all = spool->written * spool->record_bytes;
    WEFT_FREED uint8_t *piece = weft_memory_new(WEFT_MEMORY_SERIES, 1, PIECE_BYTES);
    for (uint64_t at = 0; at < all; at += PIECE_BYTES) {
        size_t n = all - at < PIECE_BYTES ? (size_t)(all - at) : PIECE_BYTES;
        if (!spool->error) read_all(spool, piece, n, at);
        put(context, piece, n);
    }
    put(context, &spool->error, sizeof spool->error);
}

void weft__spool_receive(struct weft__spool *spool, void (*get)(void *context, void *bytes, size_t n), void *context) {
    int error = 0;
    uint64_t all = spool->written * spool->record_bytes;
    WEFT_FREED uint8_t *piece = weft_memory_new(WEFT_MEMORY_SERIES, 1, PIECE_BYTES);
    errno = 0;
    spool->error = 0;
    spool->file = all ? open_nameless(spool->folder) : -1;
    if (all && spool->file < 0) note_failure(spool);
    for (uint64_t at = 0; at < all; at += PIECE_BYTES) {
        size_t n = all - at < PIECE_BYTES ? (size_t)(all - at) : PIECE_BYTES;
        get(context, piece, n);
        write_all(spool, piece, n);
    }
    get(context, &error, sizeof error);
    if (error) spool->error = error;
    if (spool->error) spool->written = 0;
}
