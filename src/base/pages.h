// SPDX-License-Identifier: Apache-2.0
// Rows of large tables, in the order of their keys, as pages of SQLite's file format
// (https://www.sqlite.org/fileformat2.html, sections 1.3, 1.6, 2.1): with one statement per row SQLite takes ten times
// as long. SQLite has already created the database, with these tables empty, and has closed it.
//
// A table is a B-tree: leaves are filled one after another, and each full page is appended to the file, while its
// number and a key move up a level. A table WITHOUT ROWID is an index B-tree, whose inner pages also contain rows.
#pragma once

#include <endian.h>
#include <string.h>

#include "base/database.h"

enum { WEFT__PAGES_LEVELS = 12 }; ///< an inner page has at least four cells, so the file would be full before that

/// A page being filled.
struct weft__page {
    uint8_t *bytes;
    uint32_t cells, start, last; ///< start: of the part filled by cells, from the end on; last: bytes of the last cell
    /// The first cell that had no room, after the number of the page on its left: it moves up as soon as another cell
    /// follows.
    uint8_t *pending;
    uint32_t pending_bytes; ///< 0: there is none
};

struct weft__pages {
    struct weft__database *db;
    struct weft_arena *arena;
    uint32_t size, usable; ///< bytes of a page
    uint32_t count;        ///< pages in the file
    uint64_t lock_byte;    ///< the page with this byte is reserved by SQLite
    // the current table
    uint32_t root, levels;
    bool keyed; ///< WITHOUT ROWID
    uint64_t rowid;
    struct weft__page page[WEFT__PAGES_LEVELS];
    // the current row
    uint8_t *types, *body, *cell; ///< types: of its values
    uint32_t types_bytes, body_bytes, types_capacity, body_capacity, cell_capacity;
};

/// Commits and closes the database; weft__database_end must still be called.
void weft__pages_begin(struct weft__pages *p, struct weft__database *d, struct weft_arena *arena);
/// Opens an empty table. `root`: see weft__database_root; keyed: it is WITHOUT ROWID.
void weft__pages_open(struct weft__pages *p, uint32_t root, bool keyed);
/// Called when the row's values have been put: for a table WITHOUT ROWID those of its key first.
void weft__pages_row(struct weft__pages *p);
void weft__pages_close(struct weft__pages *p);
void weft__pages_end(struct weft__pages *p);

void weft__pages_grow(struct weft__pages *p, uint32_t bytes);

/// A number as SQLite writes it, seven bits per byte, below 2^56.
static inline uint32_t weft__pages_varint(uint8_t *at, uint64_t value) {
    uint32_t bytes = 1;
    for (uint64_t rest = value; rest >>= 7;)
        bytes++;
    for (uint32_t i = bytes; i-- > 0; value >>= 7)
        at[i] = (uint8_t)((value & 0x7f) | (i + 1 < bytes ? 0x80 : 0));
    return bytes;
}

/// Stores a value's type, and returns room for this many bytes of it plus seven.
static inline uint8_t *weft__pages_value(struct weft__pages *p, uint64_t type, uint32_t bytes) {
    if (__builtin_expect(p->body_capacity - p->body_bytes < bytes + 8 || p->types_capacity - p->types_bytes < 9, 0))
        weft__pages_grow(p, bytes);
    if (type < 0x80)
        p->types[p->types_bytes++] = (uint8_t)type;
    else
        p->types_bytes += weft__pages_varint(p->types + p->types_bytes, type);
    uint8_t *at = p->body + p->body_bytes;
    p->body_bytes += bytes;
    return at;
}

static inline void weft__pages_null(struct weft__pages *p) {
    weft__pages_value(p, 0, 0);
}

static inline void weft__pages_whole(struct weft__pages *p, int64_t value) {
    static const struct {
        uint8_t type, bytes;
    } as[65] = {[0 ... 7] = {1, 1},   [8 ... 15] = {2, 2},  [16 ... 23] = {3, 3},
                [24 ... 31] = {4, 4}, [32 ... 47] = {5, 6}, [48 ... 64] = {6, 8}}; // by bits without the sign's
    if (value == 0 || value == 1) {
        weft__pages_value(p, 8 + (uint64_t)value, 0);
        return;
    }
    uint64_t bits = value < 0 ? ~(uint64_t)value : (uint64_t)value;
    uint32_t n = bits ? 64 - (uint32_t)__builtin_clzll(bits) : 0, bytes = as[n].bytes;
    uint64_t written = htobe64((uint64_t)value << (64 - 8 * bytes));
    memcpy(weft__pages_value(p, as[n].type, bytes), &written, sizeof written);
}

static inline void weft__pages_real(struct weft__pages *p, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = htobe64(bits);
    memcpy(weft__pages_value(p, 7, sizeof bits), &bits, sizeof bits);
}

static inline void weft__pages_text(struct weft__pages *p, const char *text) {
    size_t bytes = strlen(text);
    memcpy(weft__pages_value(p, 13 + 2 * (uint64_t)bytes, (uint32_t)bytes), text, bytes);
}
