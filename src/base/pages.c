// SPDX-License-Identifier: Apache-2.0
#include "base/pages.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

enum { LEAF_TABLE = 13, INNER_TABLE = 5, LEAF_INDEX = 10, INNER_INDEX = 2 }; ///< kinds of pages
enum { HEADER = 100, AT_SIZE = 16, AT_RESERVED = 20, AT_COUNT = 28 };        ///< bytes in the file's header
enum { LOCK_BYTE = 1 << 30 };                                                ///< its position (section 1.3)
enum { CHILD = 4, CELL_MIN = 4, CELL_BEFORE = 2 * 9 };                       ///< of cells: bytes

static void put_16(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}
static void put_32(uint8_t *at, uint32_t value) {
    put_16(at, value >> 16);
    put_16(at + 2, value);
}
static uint32_t get_32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void note_failure(struct weft__pages *p) {
    if (p->db->status != SQLITE_OK) return;
    p->db->error = errno;
    p->db->status = SQLITE_IOERR;
}

static void write_bytes(struct weft__pages *p, const void *bytes, size_t n) {
    if (p->db->status == SQLITE_OK && fwrite(bytes, 1, n, p->db->file) != n) note_failure(p);
}

static void go_to(struct weft__pages *p, uint64_t at) {
    if (p->db->status == SQLITE_OK && fseeko(p->db->file, (off_t)at, SEEK_SET)) note_failure(p);
}

void weft__pages_begin(struct weft__pages *p, struct weft__database *d, struct weft_arena *arena) {
    uint8_t header[HEADER];
    *p = (struct weft__pages){.db = d, .arena = arena};
    weft__database_close(d);
    if (d->status != SQLITE_OK) return;
    d->file = fopen(d->draft, "r+be");
    if (!d->file || fread(header, 1, HEADER, d->file) != HEADER) {
        note_failure(p);
        return;
    }
    p->size = (uint32_t)header[AT_SIZE] << 8 | header[AT_SIZE + 1];
    if (p->size == 1) p->size = 65536;
    p->usable = p->size - header[AT_RESERVED];
    p->count = get_32(header + AT_COUNT);
    p->lock_byte = LOCK_BYTE;
}

void weft__pages_grow(struct weft__pages *p, uint32_t bytes) {
    uint32_t types = 2 * p->types_capacity + 64, body = 2 * p->body_capacity + bytes + 256;
    p->types = weft_arena_move(p->arena, p->types, p->types_bytes, types, 1);
    p->body = weft_arena_move(p->arena, p->body, p->body_bytes, body, 1);
    p->types_capacity = types;
    p->body_capacity = body;
}

// --- pages --------------------------------------------------------------------------------------------------------

static uint32_t header_bytes(uint32_t level) {
    return level ? 12 : 8;
}

static bool has_room(const struct weft__page *page, uint32_t level, uint32_t bytes) {
    return header_bytes(level) + 2 * (page->cells + 1) + (bytes > CELL_MIN ? bytes : CELL_MIN) <= page->start;
}

static void put_cell(struct weft__page *page, uint32_t level, const uint8_t *cell, uint32_t bytes) {
    page->last = bytes;
    page->start -= bytes > CELL_MIN ? bytes : CELL_MIN;
    memcpy(page->bytes + page->start, cell, bytes);
    put_16(page->bytes + header_bytes(level) + 2 * page->cells++, page->start);
}

/// right: for an inner page, the child after its last cell.
static void complete_page(struct weft__pages *p, uint32_t level, uint32_t right) {
    struct weft__page *page = &p->page[level];
    uint32_t inner = p->keyed ? INNER_INDEX : INNER_TABLE, leaf = p->keyed ? LEAF_INDEX : LEAF_TABLE;
    page->bytes[0] = (uint8_t)(level ? inner : leaf);
    put_16(page->bytes + 3, page->cells);
    put_16(page->bytes + 5, page->start); // 65536 is stored as 0
    if (level) put_32(page->bytes + 8, right);
    write_bytes(p, page->bytes, p->size);
    page->cells = 0;
    page->start = p->usable;
}

/// The number of the next page after `count` at the end of the file: SQLite skips the one with its lock byte.
static uint32_t next_number(const struct weft__pages *p, uint32_t count) {
    return count + ((uint64_t)count * p->size == p->lock_byte ? 2 : 1);
}

/// Writes an empty page where the lock byte is.
static void skip_lock(struct weft__pages *p) {
    if (next_number(p, p->count) == p->count + 1) return;
    write_bytes(p, weft_arena_alloc(p->arena, p->size, 1), p->size);
    p->count++;
}

/// Appends a page to the file; returns its number.
static uint32_t append_page(struct weft__pages *p, uint32_t level, uint32_t right) {
    skip_lock(p);
    complete_page(p, level, right);
    return ++p->count;
}

static struct weft__page *page_at(struct weft__pages *p, uint32_t level) {
    struct weft__page *page = &p->page[level];
    assert(level < WEFT__PAGES_LEVELS);
    if (!page->bytes) {
        page->bytes = weft_arena_alloc(p->arena, p->size, 1);
        page->pending = weft_arena_alloc(p->arena, p->size, 1);
    }
    if (level == p->levels) {
        p->levels++;
        page->cells = page->pending_bytes = 0;
        page->start = p->usable;
    }
    return page;
}

/// Adds a cell: the page on its left, and its content from `cell + CHILD` on. A leaf has no left page.
static void add_cell(struct weft__pages *p, uint32_t level, const uint8_t *cell, uint32_t bytes) {
    struct weft__page *page = page_at(p, level);
    uint32_t skip = level ? 0 : CHILD;
    if (page->pending_bytes) { // the page before it is complete, and the cell moves up
        put_32(page->pending, append_page(p, level, level ? get_32(page->pending) : 0));
        add_cell(p, level + 1, page->pending, page->pending_bytes);
        page->pending_bytes = 0;
    }
    if (has_room(page, level, bytes - skip)) {
        put_cell(page, level, cell + skip, bytes - skip);
    } else {
        memcpy(page->pending, cell, bytes);
        page->pending_bytes = bytes;
    }
}

/// No cell follows one that had no room: the previous one moves up in its place.
static void settle_last(struct weft__pages *p, uint32_t level) {
    struct weft__page *page = &p->page[level];
    uint32_t skip = level ? 0 : CHILD, bytes = page->last;
    uint8_t *cell = p->cell;
    memcpy(cell + skip, page->bytes + page->start, bytes);
    page->start += bytes > CELL_MIN ? bytes : CELL_MIN;
    page->cells--;
    put_32(cell, append_page(p, level, level ? get_32(cell) : 0));
    add_cell(p, level + 1, cell, bytes + skip);
    put_cell(page, level, page->pending + skip, page->pending_bytes - skip);
    page->pending_bytes = 0;
}

// --- rows ---------------------------------------------------------------------------------------------------------

/// How many bytes of a row of this size are in its cell; the rest is in separate pages.
static uint32_t local_bytes(const struct weft__pages *p, uint32_t bytes) {
    uint32_t most = p->keyed ? (p->usable - 12) * 64 / 255 - 23 : p->usable - 35;
    uint32_t least = (p->usable - 12) * 32 / 255 - 23;
    if (bytes <= most) return bytes;
    uint32_t local = least + (bytes - least) % (p->usable - 4);
    return local <= most ? local : least;
}

/// Each page begins with the number of the next.
static void write_overflow(struct weft__pages *p, const uint8_t *rest, uint32_t bytes) {
    for (uint32_t each = p->usable - 4, here; bytes; bytes -= here, rest += here) {
        uint8_t *page = weft_arena_alloc(p->arena, p->size, 1);
        here = bytes < each ? bytes : each;
        skip_lock(p);
        p->count++;
        put_32(page, bytes > each ? next_number(p, p->count) : 0);
        memcpy(page + 4, rest, here);
        write_bytes(p, page, p->size);
    }
}

void weft__pages_open(struct weft__pages *p, uint32_t root, bool keyed) {
    p->root = root;
    p->keyed = keyed;
    p->levels = 0;
    p->rowid = 0;
    p->types_bytes = p->body_bytes = 0;
    if (p->db->status != SQLITE_OK) return;
    go_to(p, (uint64_t)p->count * p->size);
    page_at(p, 0);
}

/// Adds a row of a table with row numbers. When a leaf is full its last number moves up.
static void add_numbered(struct weft__pages *p, const uint8_t *cell, uint32_t bytes) {
    struct weft__page *leaf = &p->page[0];
    if (!has_room(leaf, 0, bytes - CHILD)) {
        uint8_t up[CHILD + 9];
        put_32(up, append_page(p, 0, 0));
        add_cell(p, 1, up, CHILD + weft__pages_varint(up + CHILD, p->rowid - 1));
    }
    put_cell(leaf, 0, cell + CHILD, bytes - CHILD);
}

void weft__pages_row(struct weft__pages *p) {
    if (p->db->status != SQLITE_OK) return;
    uint32_t head = p->types_bytes + 1 < 0x80 ? 1 : 2, bytes = head + p->types_bytes + p->body_bytes;
    if (p->cell_capacity < CHILD + CELL_BEFORE + bytes + CHILD + p->size) {
        p->cell_capacity = 2 * bytes + 2 * p->size;
        p->cell = weft_arena_alloc(p->arena, p->cell_capacity, 1);
    }
    uint8_t *at = p->cell + CHILD;
    at += weft__pages_varint(at, bytes);
    if (!p->keyed) at += weft__pages_varint(at, ++p->rowid);
    uint32_t local = local_bytes(p, bytes);
    uint8_t *end = at + local;
    at += weft__pages_varint(at, head + p->types_bytes);
    memcpy(at, p->types, p->types_bytes);
    memcpy(at + p->types_bytes, p->body, p->body_bytes);
    if (local < bytes) {
        uint32_t first = next_number(p, p->count);
        write_overflow(p, end, bytes - local);
        put_32(end, first);
        end += CHILD;
    }
    p->types_bytes = p->body_bytes = 0;
    if (p->keyed)
        add_cell(p, 0, p->cell, (uint32_t)(end - p->cell));
    else
        add_numbered(p, p->cell, (uint32_t)(end - p->cell));
}

void weft__pages_close(struct weft__pages *p) {
    if (p->db->status != SQLITE_OK) return;
    uint32_t right = 0;
    for (uint32_t level = 0; level < p->levels; level++) {
        if (p->page[level].pending_bytes) settle_last(p, level);
        if (level + 1 < p->levels) {
            right = append_page(p, level, right);
            continue;
        }
        go_to(p, (uint64_t)(p->root - 1) * p->size);
        complete_page(p, level, right);
    }
}

void weft__pages_end(struct weft__pages *p) {
    uint8_t count[4];
    if (!p->db->file) return;
    put_32(count, p->count);
    go_to(p, AT_COUNT);
    write_bytes(p, count, sizeof count);
    if (fclose(p->db->file)) note_failure(p);
    p->db->file = NULL;
}
