// SPDX-License-Identifier: Apache-2.0
// Measurements of a verify, so that the same verify continues after a kill: one line per task, "KEY STATUS VALUE...",
// and a checksum of the line before it, so that a damaged line is not taken for a result. The file's name is a hash of
// this program, of every task and of every claim, so its content is always about these.
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/stream.h"
#include "cli.h"
#include "verify.h"

enum { SUM_DIGITS = 16 };

static void hash_value(void *context, const struct weft_claim *claim, const struct weft_claim_metric *metric,
                       double *value) {
    uint64_t *hash = context;
    *hash = weft__hash_text(*hash, claim->that);
    *hash = weft__hash(*hash, &metric->at, sizeof metric->at);
}

static uint64_t hash_of(const struct verify *v) {
    uint64_t hash = weft_cli_program_hash(WEFT__HASH_START);
    for (const struct verify_task *t = v->task; t; t = t->next) {
        hash = weft__hash(hash, &t->key, sizeof t->key);
        verify_each_value(t, hash_value, &hash);
    }
    return hash;
}

/// NULL: there is no cache.
static const char *path_of(const struct verify *v) {
    const char *folder = weft_cli_cache(v->o->arena);
    return folder ? weft_arena_format(v->o->arena, "%s/verify-%016" PRIx64, folder, hash_of(v)) : NULL;
}

/// A line being read or written.
struct line {
    FILE *file;
    const char *at; ///< NULL: it is not as expected
};

static void read_value(void *context, const struct weft_claim *claim, const struct weft_claim_metric *metric,
                       double *value) {
    (void)claim, (void)metric;
    struct line *line = context;
    char *end = NULL;
    if (line->at) *value = strtod(line->at, &end);
    line->at = end && end != line->at ? end : NULL;
}

static void write_value(void *context, const struct weft_claim *claim, const struct weft_claim_metric *metric,
                        double *value) {
    (void)claim, (void)metric;
    struct line *line = context;
    fprintf(line->file, " %.17g", *value);
}

static uint64_t sum_of(const char *text, size_t n) {
    return weft__hash(WEFT__HASH_START, text, n);
}

/// Whether the line ends with " #", the checksum of what is before that, and its end.
static bool is_whole(const char *text) {
    const char *mark = strrchr(text, '#');
    if (!mark || mark == text || strlen(mark) != SUM_DIGITS + 2 || mark[SUM_DIGITS + 1] != '\n') return false;
    char expected[SUM_DIGITS + 1];
    snprintf(expected, sizeof expected, "%016" PRIx64, sum_of(text, (size_t)(mark - text)));
    return !strncmp(mark + 1, expected, SUM_DIGITS);
}

static void read_line(struct verify *v, const char *text) {
    char *end;
    if (!is_whole(text)) return;
    uint64_t key = strtoull(text, &end, 16);
    unsigned long status = strtoul(end, &end, 10);
    struct verify_task *t = verify_task_find(v, key);
    if (!t || t->done || (status && status != WEFT_ERROR_STALL)) return;
    struct line line = {.at = end};
    verify_each_value(t, read_value, &line);
    if (!line.at || strncmp(line.at, " #", 2)) return; // longer than its values
    t->done = true;
    v->known++;
    for (const struct verify_use *u = t->use; u; u = u->next)
        if (status && !u->reading->changed && !u->reading->of->status) u->reading->of->status = WEFT_ERROR_STALL;
}

bool verify_journal_read(struct verify *v, FILE *journal) {
    char *text = NULL;
    size_t room = 0;
    bool whole = true;
    for (ssize_t n; (n = getline(&text, &room, journal)) > 0;) {
        whole = text[n - 1] == '\n';
        read_line(v, text);
    }
    free(text);
    return whole;
}

void verify_journal_open(struct verify *v) {
    v->journal_path = path_of(v);
    int fd = v->journal_path ? open(v->journal_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (fd < 0) return;
    if (flock(fd, LOCK_EX | LOCK_NB) || !(v->journal = fdopen(fd, "a+"))) { // the same verify is running at this moment
        close(fd);
        return;
    }
    rewind(v->journal);
    if (!verify_journal_read(v, v->journal))
        putc('\n', v->journal); // a truncated last record ends its line, and the next begins a new one
    if (v->known && !v->o->quiet)
        fprintf(stderr, "weft: %u of %u runs are known from a verify that did not end\n", v->known, v->tasks);
}

void verify_journal_add(struct verify *v, const struct verify_task *t, enum weft_status status) {
    if (!v->journal) return;
    WEFT__TEXT_STREAM(stream, out);
    struct line line = {.file = out};
    fprintf(line.file, "%016" PRIx64 " %d", t->key, (int)status);
    verify_each_value(t, write_value, &line);
    putc(' ', line.file);
    const char *text = weft__text_stream_text(&stream);
    fprintf(v->journal, "%s#%016" PRIx64 "\n", text, sum_of(text, strlen(text)));
    fflush(v->journal);
}

void verify_journal_close(struct verify *v, bool whole) {
    if (!v->journal) return;
    struct stat about;
    bool empty = !fstat(fileno(v->journal), &about) && !about.st_size;
    if (whole || empty) unlink(v->journal_path);
    fclose(v->journal);
}
