// SPDX-License-Identifier: Apache-2.0
#include "base/image.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { PAGE = 4096, LEVEL = 1 };

/// A run of pages; `bytes` of 0 ends a piece.
struct run {
    uint64_t offset, bytes;
};

// --- writing ------------------------------------------------------------------------------------------------------

struct writer {
    FILE *file;
    ZSTD_CCtx *zstd;
    void *part;
    size_t part_bytes;
    bool failed;
};

static void write_bytes(struct writer *w, const void *bytes, size_t n, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in = {bytes, n, 0};
    size_t left = 1;
    while (!w->failed && (in.pos < n || (directive == ZSTD_e_end && left))) {
        ZSTD_outBuffer out = {w->part, w->part_bytes, 0};
        left = ZSTD_compressStream2(w->zstd, &out, &in, directive);
        if (ZSTD_isError(left)) errno = ENOMEM;
        w->failed = ZSTD_isError(left) || fwrite(w->part, 1, out.pos, w->file) != out.pos;
    }
}

static void write_piece(struct writer *w, const struct weft__image_piece *piece) {
    for (size_t at = 0, end; at < piece->bytes && !w->failed; at = end) {
        size_t left = piece->bytes - at;
        end = at + (left < PAGE ? left : PAGE);
        if (weft__image_is_zero(piece->at + at, end - at)) continue;
        while (end < piece->bytes) {
            left = piece->bytes - end < PAGE ? piece->bytes - end : PAGE;
            if (weft__image_is_zero(piece->at + end, left)) break;
            end += left;
        }
        struct run run = {at, end - at};
        write_bytes(w, &run, sizeof run, ZSTD_e_continue);
        write_bytes(w, piece->at + at, end - at, ZSTD_e_continue);
    }
    write_bytes(w, &(struct run){0}, sizeof(struct run), ZSTD_e_continue);
}

/// How much was changed since the image was parted, and the changes.
static void write_changes(struct writer *w) {
    size_t words = 0;
    uint64_t *change = weft__image_is_parted() ? weft__image_changes(&words) : NULL;
    if (weft__image_is_parted() && !change) {
        errno = ENOMEM;
        w->failed = true;
    }
    write_bytes(w, &words, sizeof words, ZSTD_e_continue);
    write_bytes(w, change, words * sizeof *change, ZSTD_e_continue);
    free(change);
}

bool weft__image_write(FILE *file, const void *note, size_t note_bytes) {
    struct writer w = {.file = file, .zstd = ZSTD_createCCtx(), .part_bytes = ZSTD_CStreamOutSize()};
    w.part = malloc(w.part_bytes);
    w.failed = !w.zstd || !w.part;
    if (!w.failed) {
        ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_checksumFlag, 1);
    }
    struct weft__image_piece piece[WEFT__IMAGE_PIECES];
    weft__image_pieces(piece);
    write_bytes(&w, note, note_bytes, ZSTD_e_continue);
    for (uint32_t i = 0; i < WEFT__IMAGE_PIECES; i++)
        write_piece(&w, &piece[i]);
    write_changes(&w);
    write_bytes(&w, NULL, 0, ZSTD_e_end);
    int why = errno;
    ZSTD_freeCCtx(w.zstd);
    free(w.part);
    errno = why;
    return !w.failed;
}

// --- reading ------------------------------------------------------------------------------------------------------

struct reader {
    FILE *file;
    ZSTD_DCtx *zstd;
    void *part;
    size_t part_bytes, bytes_read;
    ZSTD_inBuffer in;
    bool ended; ///< the frame has ended, with a correct checksum
    const char *wrong;
};

/// Reads the next part of the file; if there is none, the file is cut off.
static void fill_part(struct reader *r) {
    size_t n = fread(r->part, 1, r->part_bytes, r->file);
    if (!n) r->wrong = ferror(r->file) ? strerror(errno) : "it ends in the middle; expected all of a checkpoint";
    r->in = (ZSTD_inBuffer){r->part, n, 0};
    r->bytes_read += n;
}

/// Reads exactly this many bytes.
static void read_bytes(struct reader *r, void *bytes, size_t n) {
    ZSTD_outBuffer out = {bytes, n, 0};
    while (!r->wrong && out.pos < n) {
        if (r->ended) r->wrong = "it holds less than it says; expected all of a checkpoint";
        if (!r->wrong && r->in.pos == r->in.size) fill_part(r);
        if (r->wrong) return;
        size_t left = ZSTD_decompressStream(r->zstd, &out, &r->in);
        if (ZSTD_isError(left)) r->wrong = "it is damaged; expected what weft wrote";
        r->ended = !left;
    }
}

static void read_piece(struct reader *r, const struct weft__image_piece *piece) {
    struct run run = {0};
    uint64_t from = 0;
    for (;;) {
        read_bytes(r, &run, sizeof run);
        if (r->wrong || !run.bytes) return;
        if (run.offset < from || run.offset > piece->bytes || run.bytes > piece->bytes - run.offset) {
            r->wrong = "it is damaged; expected what weft wrote";
            return;
        }
        read_bytes(r, piece->at + run.offset, run.bytes);
        from = run.offset + run.bytes;
    }
}

static void read_changes(struct reader *r, bool parted) {
    struct weft__image_piece piece[WEFT__IMAGE_PIECES];
    size_t words = 0;
    weft__image_pieces(piece);
    read_bytes(r, &words, sizeof words);
    if (!r->wrong && (parted != (words > 0) || words > piece[2].bytes)) // of the common region: at most 3 words each
        r->wrong = "it is damaged; expected what weft wrote";
    if (r->wrong || !parted) return;
    uint64_t *change = malloc(words * sizeof *change);
    if (!change) r->wrong = "out of memory";
    if (change) read_bytes(r, change, words * sizeof *change);
    if (!r->wrong && !weft__image_part_again(change, words)) r->wrong = "it is damaged; expected what weft wrote";
    free(change);
}

/// The checksum follows the last byte, and nothing may follow that.
static void read_end(struct reader *r) {
    char none;
    ZSTD_outBuffer out = {&none, 0, 0};
    while (!r->wrong && !r->ended) {
        if (r->in.pos == r->in.size) fill_part(r);
        if (r->wrong) return;
        size_t left = ZSTD_decompressStream(r->zstd, &out, &r->in);
        if (ZSTD_isError(left)) r->wrong = "its checksum is wrong; expected what weft wrote";
        r->ended = !left;
    }
    if (!r->wrong && (r->in.pos < r->in.size || fgetc(r->file) != EOF))
        r->wrong = "something follows it; expected the end of the file";
}

const char *weft__image_read(FILE *file, void *ret_note, size_t note_bytes, bool parted, size_t *ret_byte) {
    struct reader r = {.file = file, .zstd = ZSTD_createDCtx(), .part_bytes = ZSTD_DStreamInSize()};
    r.part = malloc(r.part_bytes);
    if (!r.zstd || !r.part) r.wrong = "out of memory";
    read_bytes(&r, ret_note, note_bytes);
    for (uint32_t i = 0; i < WEFT__IMAGE_PIECES; i++) {
        struct weft__image_piece piece[WEFT__IMAGE_PIECES];
        weft__image_pieces(piece); // the first one describes the others
        if (!r.wrong && piece[i].bytes > piece[i].room) r.wrong = "it is damaged; expected what weft wrote";
        if (!r.wrong) read_piece(&r, &piece[i]);
    }
    read_changes(&r, parted);
    read_end(&r);
    *ret_byte = r.bytes_read - (r.in.size - r.in.pos);
    ZSTD_freeDCtx(r.zstd);
    free(r.part);
    return r.wrong;
}
