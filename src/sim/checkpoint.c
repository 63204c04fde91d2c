// SPDX-License-Identifier: Apache-2.0
// A checkpoint is the memory of a run between two windows, when no worker runs (base/image_file.c); over ranks, the
// memory of each. A header before it tells which program can continue it. Pointers in it, including those to functions
// and constants, are valid in a process of the same program file, which is not position-independent.
#define _GNU_SOURCE // fopencookie
#include "sim/run.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/image.h"
#include "base/numa.h"
#include "base/stream.h"
#include "weft/checkpoint.h"
#include "weft/error.h"
#include "weft/ranks.h"

enum { FRAME_BYTES = 1 << 20, FAILED = INT32_MAX };

/// Where a part goes or comes from: the file, or, if NULL, rank 0, which has the file.
struct line {
    struct weft_ranks *ranks;
    FILE *file;
    // for reading
    unsigned char *frame;
    uint32_t at, n; ///< of it
    bool ended;     ///< the part
    bool cut;       ///< the end was missing
};

static bool put_bytes(const struct line *line, const void *bytes, size_t n) {
    if (line->file) return fwrite(bytes, 1, n, line->file) == n;
    line->ranks->send(line->ranks, 0, bytes, n);
    return true;
}

static bool get_bytes(const struct line *line, void *bytes, size_t n) {
    if (line->file) return fread(bytes, 1, n, line->file) == n;
    line->ranks->receive(line->ranks, 0, bytes, n);
    return true;
}

// --- writing ------------------------------------------------------------------------------------------------------

static ssize_t write_frames(void *cookie, const char *bytes, size_t n) {
    for (size_t at = 0; at < n; at += FRAME_BYTES) {
        uint32_t frame = n - at < FRAME_BYTES ? (uint32_t)(n - at) : FRAME_BYTES;
        if (!put_bytes(cookie, &frame, sizeof frame) || !put_bytes(cookie, bytes + at, frame)) return -1;
    }
    return (ssize_t)n;
}

/// Writes this rank's own part.
static bool write_part(struct line *line, const void *note, size_t note_bytes) {
    FILE *part = fopencookie(line, "w", (cookie_io_functions_t){.write = write_frames});
    char *room = malloc(FRAME_BYTES);
    bool written =
        part && room && !setvbuf(part, room, _IOFBF, FRAME_BYTES) && weft__image_write(part, note, note_bytes);
    int why = errno;
    if (part && fclose(part) && written) {
        written = false;
        why = errno;
    }
    free(room);
    uint32_t end = written ? 0 : FAILED;
    written &= put_bytes(line, &end, sizeof end);
    errno = why;
    return written;
}

/// Copies the part of another rank into the file. All of it is received, even if writing has failed.
static bool take_part(struct weft_ranks *ranks, uint32_t rank, FILE *file, unsigned char *room) {
    for (bool written = file != NULL;;) {
        uint32_t frame;
        ranks->receive(ranks, rank, &frame, sizeof frame);
        written = written && fwrite(&frame, sizeof frame, 1, file) == 1;
        if (!frame) return written;
        if (frame == FAILED) {
            errno = ENOMEM;
            return false;
        }
        ranks->receive(ranks, rank, room, frame);
        written = written && fwrite(room, 1, frame, file) == frame;
    }
}

static bool take_parts(struct weft_ranks *ranks, FILE *file, bool written) {
    unsigned char *room = malloc(FRAME_BYTES);
    if (!room) abort(); // the launcher ends the other ranks
    int why = errno;
    for (uint32_t r = 1; r < ranks->n; r++) {
        bool good = take_part(ranks, r, file, room);
        if (!good && written) why = errno;
        written &= good;
    }
    free(room);
    errno = why;
    return written;
}

/// Appends all parts to the file; each rank has its own. `ranks` NULL: one process. `file`: at rank 0. `note` precedes
/// the image. False, with errno: some part could not be written. All ranks must call it.
static bool write_parts(struct weft_ranks *ranks, FILE *file, const void *note, size_t note_bytes) {
    if (!ranks) return weft__image_write(file, note, note_bytes);
    struct line line = {.ranks = ranks, .file = file};
    bool written = write_part(&line, note, note_bytes);
    return ranks->self ? written : take_parts(ranks, file, written);
}

/// Called by a rank that has nothing to write.
static void fail_parts(struct weft_ranks *ranks, FILE *file) {
    uint32_t end = FAILED;
    if (!ranks) return;
    if (ranks->self)
        ranks->send(ranks, 0, &end, sizeof end);
    else
        take_parts(ranks, file, false);
}

// --- reading ------------------------------------------------------------------------------------------------------

/// The next complete frame: one receive returns what one send sent. False: there is none.
static bool next_frame(struct line *line) {
    uint32_t n = 0;
    if (line->ended) return false;
    bool whole = get_bytes(line, &n, sizeof n) && n <= FRAME_BYTES && (!n || get_bytes(line, line->frame, n)),
         there = whole && n;
    line->cut |= !whole;
    line->at = 0;
    line->n = there ? n : 0;
    line->ended = !there;
    return there;
}

static ssize_t read_frames(void *cookie, char *bytes, size_t n) {
    struct line *line = cookie;
    if (line->at == line->n && !next_frame(line)) return 0;
    uint32_t left = line->n - line->at, part = n < left ? (uint32_t)n : left;
    memcpy(bytes, line->frame + line->at, part);
    line->at += part;
    return (ssize_t)part;
}

static const char *read_part(struct line *line, void *ret_note, size_t note_bytes, size_t *ret_byte) {
    FILE *part = fopencookie(line, "r", (cookie_io_functions_t){.read = read_frames});
    const char *wrong = part ? weft__image_read(part, ret_note, note_bytes, true, ret_byte) : "out of memory";
    if (part) fclose(part);
    while (next_frame(line)) // skips the rest of a bad part
        ;
    return wrong;
}

/// Copies a part from the file to another rank.
static void give_part(struct line *line, uint32_t rank) {
    struct weft_ranks *ranks = line->ranks;
    line->ended = false;
    while (next_frame(line)) {
        ranks->send(ranks, rank, &line->n, sizeof line->n);
        ranks->send(ranks, rank, line->frame, line->n);
    }
    ranks->send(ranks, rank, &line->n, sizeof line->n);
}

/// Reads this rank's part. NULL, or what is wrong with it; `ret_byte`: how far it was read. All ranks must call it.
static const char *read_parts(struct weft_ranks *ranks, FILE *file, void *ret_note, size_t note_bytes,
                              size_t *ret_byte) {
    if (!ranks) return weft__image_read(file, ret_note, note_bytes, false, ret_byte);
    struct line line = {.ranks = ranks, .file = file, .frame = malloc(FRAME_BYTES)};
    if (!line.frame) abort(); // the launcher ends the other ranks
    const char *wrong = read_part(&line, ret_note, note_bytes, ret_byte);
    for (uint32_t r = 1; file && r < ranks->n; r++)
        give_part(&line, r);
    free(line.frame);
    if (!wrong && line.cut) wrong = "it ends in the middle; expected all of a checkpoint";
    if (!wrong && file && fgetc(file) != EOF) wrong = "something follows it; expected the end of the file";
    return wrong;
}

static const char magic[16] = "weft checkpoint";
enum { FORM = 2 }; ///< version of the file's form

/// The C library chooses its mathematical functions by these features; results may differ in the last bit.
enum { CPU_FMA = 1, CPU_AVX2 = 2, CPU_AVX512F = 4 };

struct header {
    char magic[16];
    uint32_t form, cpu;
    uint32_t ranks, unused;
    struct weft_checkpoint_program program;
    char libc[24];
    uint64_t sum; ///< checksum of all fields above
};

/// Precedes the image.
struct note {
    struct weft_checkpoint *checkpoint;
    double wall_s, cpu_s;                         ///< time that the run has taken
    uint64_t exchanges, messages, bytes, wait_ns; ///< of ranks
    struct weft_memory_figure memory[WEFT_MEMORY_KINDS];
};

static struct header own; ///< the header of this program

static uint32_t cpu_of_machine(void) {
#ifdef __x86_64__
    return (__builtin_cpu_supports("fma") ? CPU_FMA : 0) | (__builtin_cpu_supports("avx2") ? CPU_AVX2 : 0) |
           (__builtin_cpu_supports("avx512f") ? CPU_AVX512F : 0);
#else
    return 0;
#endif
}

static uint64_t sum_of(const struct header *header) {
    return weft__hash(WEFT__HASH_START, header, offsetof(struct header, sum));
}

static void note_program(const struct weft_checkpoint_program *program, const struct weft_ranks *ranks) {
    memset(&own, 0, sizeof own);
    memcpy(own.magic, magic, sizeof magic);
    own.form = FORM;
    own.cpu = cpu_of_machine();
    own.ranks = ranks ? ranks->n : 1;
    own.program = *program;
    strncpy(own.libc, gnu_get_libc_version(), sizeof own.libc - 1);
    own.sum = sum_of(&own);
}

static enum weft_status open_image(const struct weft_ranks *ranks, struct weft_error *ret_error) {
    const char *why = NULL; // ranks exist, except where a checkpoint is read
    if (!weft__image_is_open()) why = ranks ? weft__image_open(ranks->n, ranks->self) : weft__image_open(1, 0);
    if (!why) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE,
                          "a checkpoint takes %d TiB of address space, most of it unused, which is not available: %s",
                          WEFT__IMAGE_PIECES, why);
}

enum weft_status weft_checkpoint_open(const struct weft_checkpoint_program *program, const struct weft_ranks *ranks,
                                      struct weft_error *ret_error) {
    note_program(program, ranks);
    return open_image(ranks, ret_error);
}

// --- writing ------------------------------------------------------------------------------------------------------

/// A new name is durable only once its folder is synced.
static void sync_folder(const char *file, struct weft_arena *arena) {
    const char *slash = strrchr(file, '/');
    const char *name = !slash ? "." : weft_arena_format(arena, "%.*s", (int)(slash == file ? 1 : slash - file), file);
    int folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    fsync(folder);
    close(folder);
}

/// Writes to a temporary name first. NULL, or why it failed.
static const char *write_file(struct weft_ranks *ranks, const char *path, const struct note *note,
                              struct weft_arena *arena) {
    const char *draft = weft__draft_name(path, arena);
    FILE *file = weft__file_open(draft, "w");
    if (!file) {
        int why = errno;
        fail_parts(ranks, NULL);
        return strerror(why);
    }
    bool written = fwrite(&own, sizeof own, 1, file) == 1;
    written = write_parts(ranks, file, note, sizeof *note) && written && !fflush(file) && !fsync(fileno(file));
    int why = errno;
    if (fclose(file) && written) {
        written = false;
        why = errno;
    }
    if (written && rename(draft, path)) {
        written = false;
        why = errno;
    }
    if (written)
        sync_folder(path, arena);
    else
        unlink(draft);
    return written ? NULL : strerror(why);
}

static void write_checkpoint(struct weft__run *run) {
    struct weft_checkpoint *checkpoint = run->options.checkpoint;
    struct weft_ranks *ranks = run->options.ranks;
    struct note note = {
        .checkpoint = checkpoint,
        .wall_s = weft__clock_s(CLOCK_MONOTONIC) - run->begun_s,
        .cpu_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID) - run->begun_cpu_s,
    };
    if (ranks) {
        note.exchanges = ranks->exchanges;
        note.messages = ranks->messages;
        note.bytes = ranks->bytes;
        note.wait_ns = ranks->wait_ns;
    }
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const char *why = "a file is open that the run reads or writes";
    checkpoint->run = run;
    checkpoint->written++;
    weft_memory_figures(note.memory);
    if (weft_memory_has_cleanups())
        fail_parts(ranks, NULL);
    else if (ranks && ranks->self)
        why = write_parts(ranks, NULL, &note, sizeof note) ? NULL : strerror(errno); // rank 0 has seen the
                                                                                     // failure, too
    else
        why = write_file(ranks, checkpoint->file, &note, arena);
    if (why) checkpoint->written--;
    if (why) checkpoint->on_failure(why);
}

bool weft__checkpoint_on(struct weft__run *run) {
    struct weft__engine *e = &run->net.engine;
    if (!run->options.checkpoint || (e->end != WEFT_END_PAUSED && e->end != WEFT_END_INTERRUPTED)) return false;
    bool interrupted = e->end == WEFT_END_INTERRUPTED;
    e->pausing = e->stopped = false;
    write_checkpoint(run);
    run->saved_s = weft__clock_s(CLOCK_MONOTONIC);
    return !interrupted;
}

// --- reading ------------------------------------------------------------------------------------------------------

/// What is wrong with the file; NULL: this program wrote it.
static const char *find_fault(const struct header *header) {
    if (memcmp(header->magic, magic, sizeof magic)) return "it is not a checkpoint of weft";
    if (header->form != FORM) return "it is of another version of weft";
    if (header->sum != sum_of(header)) return "it is damaged";
    if (header->ranks != own.ranks) return "it is of another number of processes";
    if (header->program.hash != own.program.hash) return "it is of another build of weft";
    if (strcmp(header->libc, own.libc)) return "it was written with another version of the C library";
    if (header->cpu != own.cpu)
        return "it was written on a processor with other instructions (FMA, AVX2, AVX-512), for which the C library "
               "may compute otherwise";
    return NULL;
}

static enum weft_status check_header(FILE *file, const char *path, struct weft_error *ret_error) {
    struct header header = {0};
    const struct weft_place place = {.file = path};
    size_t n = fread(&header, 1, sizeof header, file);
    bool begins = !memcmp(header.magic, magic, n < sizeof magic ? n : sizeof magic);
    if (n < sizeof header)
        return WEFT_REFUSE(ret_error, place, "byte %zu: %s; expected all of a checkpoint", n,
                           begins ? "it ends in the middle" : "it is not a checkpoint of weft");
    const char *fault = find_fault(&header);
    if (!fault) return WEFT_OK;
    if (header.ranks != own.ranks && header.sum == sum_of(&header))
        return WEFT_REFUSE(ret_error, place,
                           "byte 0: it is of a run over %u processes; expected as many (mpirun -n %u), not %u",
                           header.ranks, header.ranks, own.ranks);
    bool foreign = !strncmp(fault, "it is of another build", 22);
    header.program.text[sizeof header.program.text - 1] = 0;
    if (foreign) // the same version may be built twice
        return WEFT_REFUSE(ret_error, place,
                           "byte 0: %s (%s, build %016" PRIx64 "); expected one of this build (%s, build %016" PRIx64
                           ")",
                           fault, header.program.text, header.program.hash, own.program.text, own.program.hash);
    return WEFT_REFUSE(ret_error, place, "byte 0: %s; expected one of %s", fault, own.program.text);
}

/// Ranks other than 0 open nothing.
static enum weft_status open_file(const char *path, FILE **ret_file, struct weft_error *ret_error) {
    FILE *file = *ret_file = weft__file_open(path, "r");
    if (file) return check_header(file, path, ret_error);
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                       "%s; expected a checkpoint that weft run --checkpoint has written", strerror(errno));
}

/// Checks that all ranks have come this far and run the same program. A rank that has not reports so when it ends.
static enum weft_status meet_ranks(struct weft_ranks *ranks, struct weft_error *ret_error) {
    struct weft_ranks_word mine = {.layout = own.sum}, word[WEFT__IMAGE_RANKS_MAX];
    if (!ranks) return WEFT_OK;
    enum weft_status status = weft__ranks_meet(ranks, &mine, word, ret_error);
    for (uint32_t r = 0; r < ranks->n && !status; r++)
        if (word[r].layout != mine.layout) {
            ranks->over = true;
            status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE,
                                    "ranks are not the same program; expected it, the same C library and processors "
                                    "with the same instructions on all machines");
        }
    return status;
}

static enum weft_status read_image(struct weft_ranks *ranks, FILE *file, const char *path, struct note *ret_note,
                                   struct weft_error *ret_error) {
    size_t byte = 0;
    const char *wrong = read_parts(ranks, file, ret_note, sizeof *ret_note, &byte);
    if (!wrong) return WEFT_OK;
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = path}, "byte %zu%s: %s", byte + sizeof own,
                       ranks ? " or beyond" : "", wrong);
}

/// Over ranks, all meet after each step, so that none waits for one that has failed.
static enum weft_status read_file(const char *path, struct weft_ranks *ranks, struct note *ret_note,
                                  struct weft_error *ret_error) {
    FILE *file = NULL;
    enum weft_status status = ranks && ranks->self ? WEFT_OK : open_file(path, &file, ret_error);
    if (!status) status = open_image(ranks, ret_error);
    if (!status) status = meet_ranks(ranks, ret_error);
    if (!status) status = read_image(ranks, file, path, ret_note, ret_error);
    if (file) fclose(file);
    return status ? status : meet_ranks(ranks, ret_error);
}

enum weft_status weft_checkpoint_read(const char *path, const struct weft_checkpoint_program *program,
                                      struct weft_ranks *ranks, struct weft_checkpoint **ret_checkpoint,
                                      struct weft_error *ret_error) {
    struct note note;
    note_program(program, ranks);
    WEFT_TRY(read_file(path, ranks, &note, ret_error));
    weft_memory_figures_set(note.memory);
    struct weft__run *run = note.checkpoint->run;
    double wall_s = weft__clock_s(CLOCK_MONOTONIC), cpu_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID);
    run->assembled_s += wall_s - note.wall_s - run->begun_s;
    run->begun_s = wall_s - note.wall_s;
    run->begun_cpu_s = cpu_s - note.cpu_s;
    run->told_s = run->saved_s = wall_s;
    if (ranks) {
        ranks->exchanges = note.exchanges;
        ranks->messages = note.messages;
        ranks->bytes = note.bytes;
        ranks->wait_ns = note.wait_ns;
    }
    *ret_checkpoint = note.checkpoint;
    return WEFT_OK;
}

enum weft_status weft_simulate_on(struct weft_checkpoint *checkpoint, const struct weft_sim_options *options,
                                  struct weft_outcome **ret_outcome, struct weft_error *ret_error) {
    struct weft__run *run = checkpoint->run;
    struct weft__engine_conf *conf = &run->net.engine.conf;
    run->options.on_progress = options->on_progress;
    run->options.context = options->context;
    conf->threads = options->threads;
    conf->oversubscribe = options->oversubscribe;
    conf->numa = options->pin ? WEFT__NUMA_FOLDER : NULL;
    if (options->ranks) weft__ranks_go_on(run);
    return weft__run_finish(run, ret_outcome, ret_error);
}
