// SPDX-License-Identifier: Apache-2.0
// Compressed files: their content is unchanged, at every size and with any number of members, and errors are reported.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/lines.h"
#include "base/stream.h"

static char path[64];

static int setup(void **state) {
    snprintf(path, sizeof path, "/tmp/weft-unpack-XXXXXX");
    int number = mkstemp(path);
    return number < 0 || close(number);
}
static int teardown(void **state) {
    return unlink(path);
}

static void put(const void *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

typedef size_t pack(const void *bytes, size_t size, unsigned char *to, size_t room);

static size_t pack_gzip(const void *bytes, size_t size, unsigned char *to, size_t room) {
    z_stream z = {
        .next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size, .next_out = to, .avail_out = (uInt)room};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static size_t pack_zstd(const void *bytes, size_t size, unsigned char *to, size_t room) {
    size_t n = ZSTD_compress(to, room, bytes, size, 3);
    assert_false(ZSTD_isError(n));
    return n;
}

static pack *const packs[] = {pack_gzip, pack_zstd};
enum { PACKS = 2, ROOM = 3 << 20 };

/// What the file holds, in `to`; errno of a failure, or 0.
static int unpack(unsigned char *to, size_t room, size_t *ret_n) {
    FILE *file = weft__file_open_unpacked(path);
    if (!file) return errno;
    *ret_n = fread(to, 1, room, file);
    int why = ferror(file) ? errno : 0;
    fclose(file);
    return why;
}

/// Lines that compress well, and bytes that do not.
static void make(unsigned char *bytes, size_t size, bool noise) {
    uint32_t x = 1;
    for (size_t i = 0; i < size; i++) {
        x = x * 1664525 + 1013904223;
        bytes[i] =
            noise ? (unsigned char)(x >> 24) : (unsigned char)("0123456789abcde\n"[i % 16 < 12 ? i % 16 : x >> 28]);
    }
}

static void test_round_trip(void **state) {
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 2500000};
    unsigned char *plain = malloc(ROOM), *packed = malloc(ROOM), *back = malloc(ROOM);
    for (int p = 0; p < PACKS; p++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int noise = 0; noise < 2; noise++) {
                size_t n = 0;
                make(plain, sizes[s], noise);
                put(packed, packs[p](plain, sizes[s], packed, ROOM));
                assert_int_equal(unpack(back, ROOM, &n), 0);
                assert_int_equal(n, sizes[s]);
                assert_memory_equal(back, plain, n);
            }
    free(plain);
    free(packed);
    free(back);
}

static void test_members(void **state) {
    unsigned char packed[4096], back[64];
    for (int p = 0; p < PACKS; p++) {
        size_t size = packs[p]("one ", 4, packed, 1000), n = 0;
        size += packs[p]("", 0, packed + size, 1000);
        size += packs[p]("two", 3, packed + size, 1000);
        put(packed, size);
        assert_int_equal(unpack(back, sizeof back, &n), 0);
        assert_int_equal(n, 7);
        assert_memory_equal(back, "one two", 7);
    }
}

/// Cut off at every byte, it is refused; with any byte changed, it is refused or says the same.
static void test_damage(void **state) {
    static const char text[] = "a file that is cut off, or of which a byte was changed, is not taken for another";
    for (int p = 0; p < PACKS; p++) {
        unsigned char packed[1000], back[1000];
        size_t size = packs[p](text, sizeof text, packed, sizeof packed), n = 0;
        for (size_t cut = 4; cut < size; cut++) {
            put(packed, cut);
            assert_string_equal(weft__file_why(unpack(back, sizeof back, &n)),
                                "the compressed data (gzip or zstd) end too early");
        }
        for (size_t at = 4; at < size && p == 0; at++) { // zstd's have no checksum unless asked for
            packed[at] ^= 0x10;
            put(packed, size);
            if (!unpack(back, sizeof back, &n)) assert_memory_equal(back, text, sizeof text);
            packed[at] ^= 0x10;
        }
        packed[size] = 'x'; // garbage after it
        put(packed, size + 1);
        assert_int_not_equal(unpack(back, sizeof back, &n), 0);
    }
}

static void test_bomb(void **state) {
    size_t size = (size_t)WEFT__UNPACK_FREE * 2, n = 0;
    unsigned char *zeros = calloc(size, 1), *packed = malloc(ROOM);
    for (int p = 0; p < PACKS; p++) {
        size_t packed_size = packs[p](zeros, size, packed, ROOM);
        assert_true(packed_size * WEFT__UNPACK_RATIO < size);
        put(packed, packed_size);
        assert_string_equal(weft__file_why(unpack(zeros, size, &n)),
                            "it holds more than 64 MiB and 200 times its own size; expected less, or unpack it");
        put(packed, packs[p](zeros, WEFT__UNPACK_FREE, packed, ROOM)); // this much is not a bomb
        assert_int_equal(unpack(zeros, size, &n), 0);
        assert_int_equal(n, WEFT__UNPACK_FREE);
    }
    free(zeros);
    free(packed);
}

static void test_plain(void **state) {
    unsigned char back[64];
    size_t n = 0;
    put("\x1f\x8b!", 3); // too short to be any
    assert_int_equal(unpack(back, sizeof back, &n), 0);
    assert_int_equal(n, 3);
    put("", 0);
    assert_int_equal(unpack(back, sizeof back, &n), 0);
    assert_int_equal(n, 0);
    assert_null(weft__file_open_unpacked("/tmp"));
    assert_int_equal(errno, EISDIR);
    assert_null(weft__file_open_unpacked("/tmp/weft-there-is-no-such-file"));
    assert_int_equal(errno, ENOENT);
}

/// The reader of lines reads them as any other, and errors have the line.
static void test_lines(void **state) {
    unsigned char packed[1000];
    struct weft_error error = {0};
    struct weft__lines lines;
    bool more;
    for (int p = 0; p < PACKS; p++) {
        size_t size = packs[p]("first\nsecond\n", 13, packed, sizeof packed);
        put(packed, size);
        assert_int_equal(weft__lines_open(&lines, path, WEFT_NOWHERE, &error), WEFT_OK);
        for (int line = 1; line <= 2; line++) {
            assert_int_equal(weft__lines_next(&lines, &more, &error), WEFT_OK);
            assert_true(more);
            assert_string_equal(lines.at, line == 1 ? "first" : "second");
            assert_int_equal(lines.place.line, line);
        }
        assert_int_equal(weft__lines_next(&lines, &more, &error), WEFT_OK);
        assert_false(more);
        weft__lines_close(&lines);
        put(packed, size - 5);
        assert_int_equal(weft__lines_open(&lines, path, WEFT_NOWHERE, &error), WEFT_OK);
        enum weft_status status = WEFT_OK;
        while (!status)
            status = weft__lines_next(&lines, &more, &error);
        assert_int_equal(status, WEFT_ERROR_INPUT);
        assert_non_null(strstr(error.text, "end too early"));
        weft__lines_close(&lines);
        error = (struct weft_error){0};
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_members), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_bomb),       cmocka_unit_test(test_plain),   cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
