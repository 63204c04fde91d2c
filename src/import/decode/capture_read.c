// SPDX-License-Identifier: Apache-2.0
// Layouts: draft-ietf-opsawg-pcap (a header of 24 bytes, then records of 16 and the frame), draft-ietf-opsawg-pcapng
// (blocks: type, length, body, length again). Both in the byte order of the machine that wrote them.
#include "weft/capture_read.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

#include "base/grow.h"
#include "base/stream.h"

enum { OPTIONS_MAX = 1 << 16, NAME_MAX_BYTES = 256, CHUNK = 4096 };
enum block { SECTION = 0x0a0d0d0a, INTERFACE = 1, OLD_PACKET = 2, SIMPLE_PACKET = 3, PACKET = 6 };
enum option {
    END = 0,
    IF_NAME = 2,
    IF_SPEED = 8,
    IF_RESOLUTION = 9,
    IF_FCS_BYTES = 13,
    IF_OFFSET = 14,
    PACKET_FLAGS = 2
};
#define ORDER_MAGIC 0x1a2b3c4du
#define PCAP_MICRO 0xa1b2c3d4u
#define PCAP_NANO 0xa1b23c4du
#define BLOCK_MAX (UINT32_C(1) << 30)

struct weft_capture_reader {
    FILE *file;
    const char *name;
    struct weft_arena *arena;
    uint64_t at, record, cut; ///< bytes read; start of the current record; where the file breaks off
    uint64_t frames;
    bool swapped, blocks, ended; ///< blocks: pcapng
    uint32_t section;            ///< the first interface of the current section
    uint32_t interfaces, snaplen[WEFT_CAPTURE_INTERFACES_MAX];
    struct weft_capture_interface *interface;
    uint8_t options[OPTIONS_MAX];
    uint8_t data[WEFT_CAPTURE_FRAME_MAX];
};

#define FAIL(r, ...) fail_at((r), (r)->record, ret_error, __VA_ARGS__)
static enum weft_status __attribute__((format(printf, 4, 5)))
fail_at(const struct weft_capture_reader *r, uint64_t at, struct weft_error *ret_error, const char *format, ...) {
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = r->name}, "byte %" PRIu64 ": %s", at, text);
}

static uint16_t get_u16(const struct weft_capture_reader *r, const uint8_t *p) {
    return (uint16_t)(r->swapped ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

static uint32_t get_u32(const struct weft_capture_reader *r, const uint8_t *p) {
    uint32_t a = get_u16(r, p), b = get_u16(r, p + 2);
    return r->swapped ? a << 16 | b : b << 16 | a;
}

static uint64_t get_u64(const struct weft_capture_reader *r, const uint8_t *p) {
    uint64_t a = get_u32(r, p), b = get_u32(r, p + 4);
    return r->swapped ? a << 32 | b : b << 32 | a;
}

/// False if the file ends before that.
static bool take_bytes(struct weft_capture_reader *r, void *bytes, size_t size) {
    size_t got = fread(bytes, 1, size, r->file);
    r->at += got;
    return got == size;
}

static bool skip_bytes(struct weft_capture_reader *r, uint64_t size) {
    uint8_t chunk[CHUNK];
    for (; size > sizeof chunk; size -= sizeof chunk)
        if (!take_bytes(r, chunk, sizeof chunk)) return false;
    return take_bytes(r, chunk, (size_t)size);
}

/// The file ends within a record: everything before it is valid.
static enum weft_status broken_off(struct weft_capture_reader *r, struct weft_error *ret_error) {
    r->ended = true;
    if (ferror(r->file)) return FAIL(r, "cannot be read: %s", weft__file_why(errno));
    if (r->at > r->record) r->cut = r->record;
    return WEFT_OK;
}

static enum weft_status add_interface(struct weft_capture_reader *r, const struct weft_capture_interface *interface,
                                      uint32_t snaplen, struct weft_error *ret_error) {
    if (r->interfaces == WEFT_CAPTURE_INTERFACES_MAX)
        return FAIL(r, "expected at most %u interfaces", WEFT_CAPTURE_INTERFACES_MAX);
    r->interface = weft__arena_grow(r->arena, r->interface, r->interfaces, sizeof *r->interface);
    r->snaplen[r->interfaces] = snaplen;
    r->interface[r->interfaces++] = *interface;
    return WEFT_OK;
}

// --- stamps -------------------------------------------------------------------------------------------------------

static uint64_t scaled_ps(uint64_t stamp, const struct weft_capture_interface *interface) {
    __extension__ unsigned __int128 ns = stamp;
    uint8_t n = interface->resolution & 0x7f;
    if (interface->resolution & 0x80) {
        ns = n < 98 ? ns * UINT64_C(1000000000) >> n : 0;
    } else {
        for (; n < 9; n++)
            ns *= 10;
        for (; n > 9 && ns; n--)
            ns /= 10;
    }
    int64_t all = ns > INT64_MAX ? INT64_MAX : (int64_t)ns, offset_ns;
    if (__builtin_mul_overflow(interface->offset_s, INT64_C(1000000000), &offset_ns)) return 0;
    if (__builtin_add_overflow(all, offset_ns, &all)) return offset_ns < 0 ? 0 : INT64_MAX;
    return all < 0 ? 0 : (uint64_t)all;
}

// --- pcap ---------------------------------------------------------------------------------------------------------

static enum weft_status open_pcap(struct weft_capture_reader *r, uint32_t magic, struct weft_error *ret_error) {
    uint8_t head[20];
    if (!take_bytes(r, head, sizeof head))
        return FAIL(r, "the file ends at byte %" PRIu64 "; expected a header of 24 bytes", r->at);
    uint16_t major = get_u16(r, head);
    if (major != 2) return fail_at(r, 4, ret_error, "pcap version %u; expected 2", major);
    uint32_t link = get_u32(r, head + 16);
    struct weft_capture_interface interface = {
        .link = link & 0xffff,
        .fcs_bytes = link & 0x04000000 ? (uint8_t)(2 * (link >> 28)) : 0, // in words of 16 bits
        .resolution = magic == PCAP_NANO ? 9 : 6,
    };
    return add_interface(r, &interface, get_u32(r, head + 12), ret_error);
}

static enum weft_status next_pcap(struct weft_capture_reader *r, struct weft_capture_frame *ret, bool *ret_any,
                                  struct weft_error *ret_error) {
    uint8_t head[16];
    r->record = r->at;
    if (!take_bytes(r, head, sizeof head)) return broken_off(r, ret_error);
    uint32_t captured = get_u32(r, head + 8), bytes = get_u32(r, head + 12), part = get_u32(r, head + 4);
    uint32_t second = r->interface[0].resolution == 9 ? 1000000000 : 1000000;
    if (captured > WEFT_CAPTURE_FRAME_MAX)
        return FAIL(r, "a frame of which %" PRIu32 " bytes are kept; expected at most %u", captured,
                    WEFT_CAPTURE_FRAME_MAX);
    if (captured > bytes)
        return FAIL(r, "a frame of %" PRIu32 " bytes of which %" PRIu32 " are kept; expected no more than it has",
                    bytes, captured);
    if (!take_bytes(r, r->data, captured)) return broken_off(r, ret_error);
    *ret = (struct weft_capture_frame){.time_ns = scaled_ps((uint64_t)get_u32(r, head) * second + part, r->interface),
                                       .bytes = bytes,
                                       .captured = captured};
    *ret_any = true;
    return WEFT_OK;
}

// --- pcapng -------------------------------------------------------------------------------------------------------

/// The value of the first option of that kind, and its length in `ret_bytes`; NULL: there is none of at least `least`.
static const uint8_t *find_option(const struct weft_capture_reader *r, size_t size, unsigned code, size_t least,
                                  size_t *ret_bytes) {
    for (size_t at = 0; at + 4 <= size;) {
        unsigned kind = get_u16(r, r->options + at);
        size_t bytes = get_u16(r, r->options + at + 2);
        if (kind == END || bytes > size - at - 4) return NULL;
        if (kind == code && bytes >= least) {
            *ret_bytes = bytes;
            return r->options + at + 4;
        }
        at += 4 + ((bytes + 3) & ~(size_t)3);
    }
    return NULL;
}

/// The rest of a block's body is options; those that do not fit are skipped. False: the file ends.
static bool take_options(struct weft_capture_reader *r, uint32_t left, size_t *ret_size) {
    *ret_size = left < OPTIONS_MAX ? left : OPTIONS_MAX;
    return take_bytes(r, r->options, *ret_size) && skip_bytes(r, left - *ret_size);
}

static const char *name_of(struct weft_capture_reader *r, size_t size) {
    size_t bytes;
    const uint8_t *name = find_option(r, size, IF_NAME, 1, &bytes);
    if (!name) return NULL;
    char *text =
        weft_arena_format(r->arena, "%.*s", bytes < NAME_MAX_BYTES ? (int)bytes : NAME_MAX_BYTES, (const char *)name);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    return text;
}

static enum weft_status take_interface(struct weft_capture_reader *r, uint32_t body, struct weft_error *ret_error) {
    uint8_t head[8];
    size_t size, bytes;
    if (body < sizeof head) return FAIL(r, "an interface block of %" PRIu32 " bytes; expected 20 at least", body + 12);
    if (!take_bytes(r, head, sizeof head) || !take_options(r, body - (uint32_t)sizeof head, &size))
        return broken_off(r, ret_error);
    struct weft_capture_interface interface = {.link = get_u16(r, head), .name = name_of(r, size), .resolution = 6};
    const uint8_t *value = find_option(r, size, IF_SPEED, 8, &bytes);
    if (value) interface.rate_bps = get_u64(r, value);
    value = find_option(r, size, IF_RESOLUTION, 1, &bytes);
    if (value) interface.resolution = *value;
    value = find_option(r, size, IF_FCS_BYTES, 1, &bytes);
    if (value) interface.fcs_bytes = *value;
    value = find_option(r, size, IF_OFFSET, 8, &bytes);
    if (value) interface.offset_s = (int64_t)get_u64(r, value);
    return add_interface(r, &interface, get_u32(r, head + 4), ret_error);
}

/// A packet block: `head` bytes precede the frame, of which `captured` bytes are in the block.
static enum weft_status take_frame(struct weft_capture_reader *r, uint32_t left, uint32_t id,
                                   struct weft_capture_frame *ret, bool *ret_any, struct weft_error *ret_error) {
    if (r->interfaces == r->section) return FAIL(r, "a packet, but no interface is described before it");
    if (id >= r->interfaces - r->section)
        return FAIL(r, "a packet of interface %" PRIu32 "; expected one of the %" PRIu32 " that are described", id,
                    r->interfaces - r->section);
    if (ret->captured > WEFT_CAPTURE_FRAME_MAX)
        return FAIL(r, "a frame of which %" PRIu32 " bytes are kept; expected at most %u", ret->captured,
                    WEFT_CAPTURE_FRAME_MAX);
    uint32_t padded = (ret->captured + 3) & ~UINT32_C(3);
    if (padded > left)
        return FAIL(r, "a frame of which %" PRIu32 " bytes are kept in a block that has %" PRIu32 " left",
                    ret->captured, left);
    if (ret->captured > ret->bytes)
        return FAIL(r, "a frame of %" PRIu32 " bytes of which %" PRIu32 " are kept; expected no more than it has",
                    ret->bytes, ret->captured);
    size_t size, bytes;
    if (!take_bytes(r, r->data, ret->captured) || !skip_bytes(r, padded - ret->captured) ||
        !take_options(r, left - padded, &size))
        return broken_off(r, ret_error);
    const uint8_t *flags = find_option(r, size, PACKET_FLAGS, 4, &bytes);
    if (flags) ret->direction = get_u32(r, flags) & 3;
    if (ret->direction == 3) ret->direction = WEFT_PCAPNG_UNKNOWN;
    ret->interface = r->section + id;
    *ret_any = true;
    return WEFT_OK;
}

static enum weft_status take_packet(struct weft_capture_reader *r, uint32_t body, enum block type,
                                    struct weft_capture_frame *ret, bool *ret_any, struct weft_error *ret_error) {
    uint8_t head[20];
    uint32_t least = type == SIMPLE_PACKET ? 4 : 20, id = 0;
    if (body < least)
        return FAIL(r, "a packet block of %" PRIu32 " bytes; expected %" PRIu32 " at least", body + 12, least + 12);
    if (!take_bytes(r, head, least)) return broken_off(r, ret_error);
    *ret = (struct weft_capture_frame){0};
    if (type == SIMPLE_PACKET) { // no timestamp; the captured length follows from the interface
        uint32_t snaplen = r->interfaces > r->section ? r->snaplen[r->section] : 0;
        ret->bytes = get_u32(r, head);
        ret->captured = snaplen && snaplen < ret->bytes ? snaplen : ret->bytes;
    } else {
        id = type == PACKET ? get_u32(r, head) : get_u16(r, head);
        ret->captured = get_u32(r, head + 12);
        ret->bytes = get_u32(r, head + 16);
        if (id < r->interfaces - r->section)
            ret->time_ns =
                scaled_ps((uint64_t)get_u32(r, head + 4) << 32 | get_u32(r, head + 8), &r->interface[r->section + id]);
    }
    return take_frame(r, body - least, id, ret, ret_any, ret_error);
}

/// Follows type and length of a section header: the byte order comes first.
static enum weft_status take_section(struct weft_capture_reader *r, const uint8_t *length,
                                     struct weft_error *ret_error) {
    uint8_t head[16];
    if (!take_bytes(r, head, sizeof head)) {
        if (r->record) return broken_off(r, ret_error);
        return FAIL(r, "the file ends at byte %" PRIu64 "; expected a section header of 28 bytes", r->at);
    }
    r->swapped = false;
    uint32_t magic = get_u32(r, head);
    r->swapped = magic == __builtin_bswap32(ORDER_MAGIC);
    if (magic != ORDER_MAGIC && !r->swapped) return FAIL(r, "a section without its byte-order magic");
    if (get_u16(r, head + 4) != 1) return FAIL(r, "pcapng version %u; expected 1", get_u16(r, head + 4));
    uint32_t bytes = get_u32(r, length);
    if (bytes < 28 || bytes % 4 || bytes > BLOCK_MAX)
        return FAIL(r, "a section header of %" PRIu32 " bytes; expected a multiple of 4, 28 at least", bytes);
    r->section = r->interfaces;
    uint8_t tail[4];
    if (!skip_bytes(r, bytes - 28) || !take_bytes(r, tail, 4)) return broken_off(r, ret_error);
    if (get_u32(r, tail) != bytes)
        return FAIL(r, "a block that begins with length %" PRIu32 " and ends with %" PRIu32, bytes, get_u32(r, tail));
    return WEFT_OK;
}

static enum weft_status take_body(struct weft_capture_reader *r, uint32_t type, uint32_t body,
                                  struct weft_capture_frame *ret, bool *ret_any, struct weft_error *ret_error) {
    if (type == INTERFACE) return take_interface(r, body, ret_error);
    if (type == PACKET || type == SIMPLE_PACKET || type == OLD_PACKET)
        return take_packet(r, body, type, ret, ret_any, ret_error);
    return skip_bytes(r, body) ? WEFT_OK : broken_off(r, ret_error);
}

static enum weft_status next_block(struct weft_capture_reader *r, struct weft_capture_frame *ret, bool *ret_any,
                                   struct weft_error *ret_error) {
    uint8_t head[8], tail[4];
    r->record = r->at;
    if (!take_bytes(r, head, sizeof head)) return broken_off(r, ret_error);
    uint32_t type = get_u32(r, head), bytes = get_u32(r, head + 4);
    if (type == SECTION) return take_section(r, head + 4, ret_error);
    if (bytes < 12 || bytes % 4 || bytes > BLOCK_MAX)
        return FAIL(r, "a block of %" PRIu32 " bytes; expected a multiple of 4, 12 at least", bytes);
    enum weft_status status = take_body(r, type, bytes - 12, ret, ret_any, ret_error);
    if (status || r->ended) return status;
    if (!take_bytes(r, tail, sizeof tail)) {
        *ret_any = false;
        return broken_off(r, ret_error);
    }
    if (get_u32(r, tail) != bytes)
        return FAIL(r, "a block that begins with length %" PRIu32 " and ends with %" PRIu32, bytes, get_u32(r, tail));
    return WEFT_OK;
}

// --- both ---------------------------------------------------------------------------------------------------------

static enum weft_status open_either(struct weft_capture_reader *r, struct weft_error *ret_error) {
    uint8_t first[8];
    bool whole = take_bytes(r, first, 4);
    if (ferror(r->file)) return FAIL(r, "cannot be read: %s", weft__file_why(errno));
    if (!whole) return FAIL(r, "the file has %" PRIu64 " bytes; expected a capture, pcap or pcapng", r->at);
    uint32_t magic = get_u32(r, first);
    if (magic == SECTION) {
        r->blocks = true;
        if (take_bytes(r, first + 4, 4)) return take_section(r, first + 4, ret_error);
        return FAIL(r, "the file ends at byte %" PRIu64 "; expected a section header of 28 bytes", r->at);
    }
    r->swapped = magic == __builtin_bswap32(PCAP_MICRO) || magic == __builtin_bswap32(PCAP_NANO);
    magic = get_u32(r, first);
    if (magic == PCAP_MICRO || magic == PCAP_NANO) return open_pcap(r, magic, ret_error);
    const char *what = (first[0] == 0x1f && first[1] == 0x8b) || magic == 0xfd2fb528
                           ? "compressed; expected it unpacked, "
                           : "not a capture; expected ";
    return FAIL(r, "the file is %spcap or pcapng", what);
}

enum weft_status weft_capture_open(FILE *file, const char *name, struct weft_arena *arena,
                                   struct weft_capture_reader **ret_reader, struct weft_error *ret_error) {
    struct weft_capture_reader *r = weft_arena_alloc(arena, 1, sizeof *r);
    r->file = file;
    r->name = weft_arena_text(arena, name);
    r->arena = arena;
    *ret_reader = r;
    return open_either(r, ret_error);
}

enum weft_status weft_capture_next(struct weft_capture_reader *r, struct weft_capture_frame *ret_frame, bool *ret_any,
                                   struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    *ret_any = false;
    while (!status && !*ret_any && !r->ended)
        status = r->blocks ? next_block(r, ret_frame, ret_any, ret_error) : next_pcap(r, ret_frame, ret_any, ret_error);
    if (status || !*ret_any) return status;
    ret_frame->number = ++r->frames;
    ret_frame->offset = r->record;
    ret_frame->data = r->data;
    return WEFT_OK;
}

uint64_t weft_capture_cut(const struct weft_capture_reader *r) {
    return r->cut;
}

uint64_t weft_capture_bytes(const struct weft_capture_reader *r) {
    return r->at;
}

uint32_t weft_capture_interfaces(const struct weft_capture_reader *r) {
    return r->interfaces;
}

const struct weft_capture_interface *weft_capture_interface_at(const struct weft_capture_reader *r, uint32_t i) {
    assert(i < r->interfaces);
    return &r->interface[i];
}
