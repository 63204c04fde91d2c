// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // fopencookie
#include "sim/checkpoint_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/image_file.h"

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

bool weft__parts_write(struct weft_ranks *ranks, FILE *file, const void *note, size_t note_bytes) {
    if (!ranks) return weft__image_write(file, note, note_bytes);
    struct line line = {.ranks = ranks, .file = file};
    bool written = write_part(&line, note, note_bytes);
    return ranks->self ? written : take_parts(ranks, file, written);
}

void weft__parts_fail(struct weft_ranks *ranks, FILE *file) {
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

const char *weft__parts_read(struct weft_ranks *ranks, FILE *file, void *ret_note, size_t note_bytes,
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
