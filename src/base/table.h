// SPDX-License-Identifier: Apache-2.0
// Tables whose first line names their columns, in any order, by any of the names that such columns usually have.
// Quoting follows RFC 4180; fields are separated by commas, semicolons or tabs, whichever is most frequent in the
// header. A unit is in the header (start_ns, size [KB]) or beside the value (10us, 4KiB); a number without one has the
// unit of its column.
#pragma once

#include "base/lines.h"

enum { WEFT__TABLE_FIELDS = 256, WEFT__TABLE_COLUMNS = 16, WEFT__TABLE_NAME = 64 };

struct weft__column {
    const char *name;  ///< its name in errors
    const char *names; ///< in lower case, with "_" for all but letters, digits and points; surrounded by blanks
    enum weft__quantity quantity;
    const char *unit;
    bool needed, text; ///< text: not a quantity
};

struct weft__table {
    const struct weft__column *column;
    uint32_t columns, fields;
    char separator;
    uint8_t of[WEFT__TABLE_FIELDS]; ///< field -> column; `columns`: ignored
    char unit[WEFT__TABLE_FIELDS][8];
    bool has[WEFT__TABLE_COLUMNS];
    char ignored[WEFT__TABLE_FIELDS * WEFT__TABLE_NAME]; ///< names of unknown columns, separated by ","
};

struct weft__table_row {
    const char *text[WEFT__TABLE_COLUMNS]; ///< NULL: there is no such column; lives as long as the line
    uint64_t value[WEFT__TABLE_COLUMNS];   ///< for quantities; not changed if there is no such column
    struct weft_place place[WEFT__TABLE_COLUMNS];
};

/// Which columns the first line of `text` names, into has[columns + 1]; the last one is for unknown names.
void weft__table_guess(const char *text, const struct weft__column *column, uint32_t columns, bool *ret_has);
/// Reads the header. Columns whose names are in `ignore`, separated by commas, are ignored; other unknown ones are an
/// error, unless `ignore` is NULL.
enum weft_status weft__table_header(struct weft__lines *lines, const struct weft__column *column, uint32_t columns,
                                    const char *ignore, struct weft__table *ret_table, struct weft_error *ret_error);
/// Reads the fields of the current line. `empty_is_none`: an empty field counts as a missing column.
enum weft_status weft__table_row(struct weft__lines *lines, const struct weft__table *table, bool empty_is_none,
                                 struct weft__table_row *row, struct weft_error *ret_error);
