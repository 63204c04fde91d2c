// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // fopencookie
#include "base/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { IN_BYTES = 1 << 16, MAGIC_BYTES = 4 };
/// Values of errno for compressed data, in addition to the system's.
enum { WHY_DAMAGED = EBADMSG, WHY_SHORT = ENODATA, WHY_BOMB = EFBIG };

struct unpacker {
    FILE *file;
    z_stream gzip;
    ZSTD_DStream *zstd; ///< NULL: gzip
    bool within;        ///< in a gzip member or zstd frame that has not ended
    uint64_t in, out;   ///< bytes so far
    size_t begin, end;  ///< the part of `buffer` not yet unpacked
    unsigned char buffer[IN_BYTES];
};

/// Unpacks some or all of the buffer; 0, or why not.
static int unpack_gzip(struct unpacker *u, void *to, size_t room, size_t *ret_n) {
    if (!u->within && inflateReset(&u->gzip) != Z_OK) return WHY_DAMAGED;
    u->gzip.next_in = u->buffer + u->begin;
    u->gzip.avail_in = (uInt)(u->end - u->begin);
    u->gzip.next_out = to;
    u->gzip.avail_out = (uInt)room;
    int result = inflate(&u->gzip, Z_NO_FLUSH);
    u->begin = u->end - u->gzip.avail_in;
    *ret_n = room - u->gzip.avail_out;
    u->within = result != Z_STREAM_END;
    if (result == Z_MEM_ERROR) return ENOMEM;
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR ? 0 : WHY_DAMAGED;
}

static int unpack_zstd(struct unpacker *u, void *to, size_t room, size_t *ret_n) {
    ZSTD_inBuffer in = {u->buffer, u->end, u->begin};
    ZSTD_outBuffer out = {to, room, 0};
    size_t result = ZSTD_decompressStream(u->zstd, &out, &in);
    u->begin = in.pos;
    *ret_n = out.pos;
    u->within = result != 0;
    if (!ZSTD_isError(result)) return 0;
    return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? ENOMEM : WHY_DAMAGED;
}

static int unpack_part(struct unpacker *u, void *to, size_t room, size_t *ret_n) {
    return u->zstd ? unpack_zstd(u, to, room, ret_n) : unpack_gzip(u, to, room, ret_n);
}

/// Reads more of the file into the empty buffer; false: there is no more.
static bool fill_buffer(struct unpacker *u) {
    u->begin = 0;
    u->end = fread(u->buffer, 1, IN_BYTES, u->file);
    u->in += u->end;
    return u->end > 0;
}

/// Like read(2): called from within the C library, so it can report failure only by its return value.
static ssize_t read_unpacked(void *context, char *to, size_t room) {
    struct unpacker *u = context;
    size_t n = 0;
    int why = 0;
    if (room > INT32_MAX) room = INT32_MAX;
    while (!n && !why) {
        if (u->begin == u->end && !fill_buffer(u)) {
            if (ferror(u->file)) return -1;
            if (!u->within) return 0;
            why = unpack_part(u, to, room, &n); // zstd may have held back some output although it had all its input
            if (!why && !n) why = WHY_SHORT;
            break;
        }
        why = unpack_part(u, to, room, &n);
    }
    u->out += n;
    if (!why && u->out > WEFT__UNPACK_FREE && u->out / WEFT__UNPACK_RATIO > u->in) why = WHY_BOMB;
    if (!why) return (ssize_t)n;
    errno = why;
    return -1;
}

static int close_unpacker(void *context) {
    struct unpacker *u = context;
    if (u->zstd)
        ZSTD_freeDStream(u->zstd);
    else
        inflateEnd(&u->gzip);
    int result = fclose(u->file);
    free(u);
    return result;
}

/// The stream owns it, and no guard knows it, so it comes from malloc like the stream itself.
static FILE *open_unpacker(FILE *file, bool zstd) {
    struct unpacker *u = calloc(1, sizeof *u);
    bool ready = false;
    FILE *stream = NULL;
    if (u) {
        u->file = file;
        if (zstd) u->zstd = ZSTD_createDStream();
        ready = zstd ? u->zstd != NULL : inflateInit2(&u->gzip, 16 + MAX_WBITS) == Z_OK;
    }
    if (ready) stream = fopencookie(u, "r", (cookie_io_functions_t){.read = read_unpacked, .close = close_unpacker});
    if (stream) return stream;
    if (ready)
        close_unpacker(u);
    else {
        fclose(file);
        free(u);
    }
    weft_memory_fail();
}

/// A byte order mark, as programs of Windows write it before a text, is not part of it.
static FILE *skip_mark(FILE *file) {
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    size_t n = 0;
    int c = EOF;
    while (n < sizeof mark && (c = getc(file)) == mark[n])
        n++;
    if (n == sizeof mark) return file;
    if (c != EOF) ungetc(c, file);
    while (n)
        ungetc(mark[--n], file);
    return file;
}

FILE *weft__file_open_unpacked(const char *path) {
    static const unsigned char gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char magic[MAGIC_BYTES];
    struct stat about;
    FILE *file = weft__file_open(path, "r");
    if (!file) return NULL;
    int why = fstat(fileno(file), &about) ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
    if (why) {
        fclose(file);
        errno = why;
        return NULL;
    }
    if (pread(fileno(file), magic, sizeof magic, 0) != sizeof magic) return skip_mark(file); // short, or a pipe
    bool is_zstd = !memcmp(magic, zstd, sizeof zstd), packed = is_zstd || !memcmp(magic, gzip, sizeof gzip);
    if (packed) file = open_unpacker(file, is_zstd);
    return file ? skip_mark(file) : NULL;
}

const char *weft__file_why(int why) {
    if (why == ENOMEM) weft_memory_fail();
    if (why == WHY_DAMAGED) return "the compressed data (gzip or zstd) are damaged";
    if (why == WHY_SHORT) return "the compressed data (gzip or zstd) end too early";
    if (why == WHY_BOMB) return "it holds more than 64 MiB and 200 times its own size; expected less, or unpack it";
    return strerror(why);
}
