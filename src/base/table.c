// SPDX-License-Identifier: Apache-2.0
#include "base/table.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { HEADER_GUESSED = 16384 };

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

// --- the header ---------------------------------------------------------------------------------------------------

static char separator_of(const char *line) {
    static const char separators[] = ",;\t";
    size_t best = 0;
    char found = ',';
    for (const char *s = separators; *s; s++) {
        size_t n = 0;
        for (const char *at = line; *at && *at != '\n'; at++)
            n += *at == *s;
        if (n > best) {
            best = n;
            found = *s;
        }
    }
    return found;
}

/// Converts "Start Time [ns]" to "start_time_ns".
static void normalise_name(const char *field, char name[WEFT__TABLE_NAME]) {
    size_t n = 0;
    for (const char *at = field; *at && n + 1 < WEFT__TABLE_NAME; at++) {
        char c = (char)tolower((unsigned char)*at);
        bool plain = isalnum((unsigned char)c) || c == '.';
        if (plain || (n && name[n - 1] != '_')) name[n++] = plain ? c : '_';
    }
    while (n && name[n - 1] == '_')
        n--;
    name[n] = 0;
}

/// Splits "size_kb" into "size" and "KB".
static void split_unit(char name[WEFT__TABLE_NAME], char unit[8]) {
    static const char *const units[] = {"ps", "ns", "us",   "ms",   "s",    "B",    "KB",  "MB",
                                        "GB", "TB", "KiB",  "MiB",  "GiB",  "m",    "km",  "cm",
                                        "ft", "in", "Mbps", "Gbps", "Tbps", "kbps", "bps", NULL};
    char *end = strrchr(name, '_');
    unit[0] = 0;
    for (const char *const *u = units; *u && end; u++)
        if (!strcasecmp(end + 1, *u)) {
            snprintf(unit, 8, "%s", *u);
            *end = 0;
            return;
        }
}

static uint32_t known_column(const struct weft__column *column, uint32_t columns, const char *name) {
    char padded[WEFT__TABLE_NAME + 2];
    snprintf(padded, sizeof padded, " %s ", name);
    uint32_t c = 0;
    while (c < columns && (!*name || !strstr(column[c].names, padded)))
        c++;
    return c;
}

/// The column that a field of the header names, with or without a unit after it.
static uint32_t column_of(const struct weft__column *column, uint32_t columns, const char *field, char unit[8]) {
    char name[WEFT__TABLE_NAME];
    unit[0] = 0;
    normalise_name(field, name);
    uint32_t c = known_column(column, columns, name);
    if (c < columns) return c;
    split_unit(name, unit);
    return known_column(column, columns, name);
}

void weft__table_guess(const char *text, const struct weft__column *column, uint32_t columns, bool *ret_has) {
    char line[HEADER_GUESSED], unit[8];
    memset(ret_has, 0, (columns + 1) * sizeof *ret_has);
    while (*text == '#' || *text == '\n' || *text == '\r')
        text += strcspn(text, "\n") + (text[strcspn(text, "\n")] != 0);
    if (!strncmp(text, "\xef\xbb\xbf", 3)) text += 3;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\r\n"), text);
    char separator[2] = {separator_of(line)}, *rest = line;
    for (char *field; (field = strsep(&rest, separator));)
        ret_has[column_of(column, columns, field, unit)] = true;
}

static bool is_unit_of(const struct weft__column *column, const char *unit) {
    char one[16], why[8];
    uint64_t ignored;
    snprintf(one, sizeof one, "1%s", unit);
    return !column->text && weft__quantity_parse(column->quantity, one, &ignored, why, sizeof why);
}

static bool is_listed(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *at = list; *at; at += *at == ',') {
        at += strspn(at, " ");
        size_t length = strcspn(at, ",");
        if (length == n && !strncmp(at, word, n)) return true;
        at += length;
    }
    return false;
}

/// "src, dst, bytes; perhaps start, priority, group, qps"
static const char *expected_columns(const struct weft__table *t, char *text, size_t size) {
    size_t n = 0;
    text[0] = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        const char *before = pass ? "; perhaps " : "";
        for (uint32_t c = 0; c < t->columns && n < size; c++) {
            if (t->column[c].needed == (pass > 0)) continue;
            n += (size_t)snprintf(text + n, size - n, "%s%s", before, t->column[c].name);
            before = ", ";
        }
    }
    return text;
}

static enum weft_status read_name(struct weft__lines *lines, const char *field, const char *ignore,
                                  struct weft__table *t, struct weft_error *ret_error) {
    char expected[256];
    uint32_t f = t->fields++;
    WEFT_TRY(weft__lines_name(lines, field, ret_error));
    if ((strlen(field) >= WEFT__TABLE_NAME || strchr(field, ',')))
        return BAD(lines->place, "expected a column's name of at most %d bytes, without a comma in it",
                   WEFT__TABLE_NAME - 1);
    bool ignored = ignore && is_listed(ignore, field);
    uint32_t c = ignored ? t->columns : column_of(t->column, t->columns, field, t->unit[f]);
    t->of[f] = (uint8_t)c;
    if (c == t->columns && ignore && !ignored)
        return BAD(lines->place, "column '%.60s' is not known; expected %s, or its name in 'ignore'", field,
                   expected_columns(t, expected, sizeof expected));
    if (c == t->columns) {
        size_t n = strlen(t->ignored);
        snprintf(t->ignored + n, sizeof t->ignored - n, "%s%s", n ? "," : "", field);
        return WEFT_OK;
    }
    if (t->has[c]) return BAD(lines->place, "column '%.60s' is given twice; expected it once", field);
    if (*t->unit[f] && !is_unit_of(&t->column[c], t->unit[f]))
        return BAD(lines->place, "'%.60s': '%s' is not one of its units; expected %s", field, t->unit[f],
                   t->column[c].text ? "a name" : weft__quantity_expected(t->column[c].quantity));
    t->has[c] = true;
    if (!*t->unit[f]) snprintf(t->unit[f], sizeof t->unit[f], "%s", t->column[c].unit);
    return WEFT_OK;
}

enum weft_status weft__table_header(struct weft__lines *lines, const struct weft__column *column, uint32_t columns,
                                    const char *ignore, struct weft__table *t, struct weft_error *ret_error) {
    bool more;
    char expected[256];
    *t = (struct weft__table){.column = column, .columns = columns};
    WEFT_TRY(weft__lines_next_full(lines, &more, ret_error));
    t->separator = separator_of(lines->at);
    for (bool last = !more; !last;) {
        if (t->fields == WEFT__TABLE_FIELDS)
            return BAD(lines->place, "expected at most %d columns", WEFT__TABLE_FIELDS);
        const char *field = weft__lines_field(lines, t->separator, &last);
        WEFT_TRY(read_name(lines, field, ignore, t, ret_error));
    }
    for (uint32_t c = 0; c < columns; c++)
        if (column[c].needed && !t->has[c])
            return BAD(((struct weft_place){.file = lines->path, .line = lines->place.line, .column = 1}),
                       "the header names no column '%s'; expected %s", column[c].name,
                       expected_columns(t, expected, sizeof expected));
    return WEFT_OK;
}

// --- rows ---------------------------------------------------------------------------------------------------------

static enum weft_status read_field(struct weft__lines *lines, const struct weft__table *t, uint32_t f,
                                   const char *field, struct weft__table_row *row, struct weft_error *ret_error) {
    uint32_t c = t->of[f];
    char why[160];
    row->text[c] = field;
    row->place[c] = lines->place;
    if (t->column[c].text) return weft__lines_name(lines, field, ret_error);
    if (weft__number_parse(t->column[c].quantity, t->unit[f], field, &row->value[c], why, sizeof why)) return WEFT_OK;
    return BAD(lines->place, "%s", why);
}

enum weft_status weft__table_row(struct weft__lines *lines, const struct weft__table *t, bool empty_is_none,
                                 struct weft__table_row *row, struct weft_error *ret_error) {
    uint32_t f = 0;
    for (bool last = false; !last; f++) {
        const char *field = weft__lines_field(lines, t->separator, &last);
        if (f == t->fields)
            return BAD(lines->place, "more fields than the header has columns (%" PRIu32 ")", t->fields);
        if (t->of[f] == t->columns || (empty_is_none && !*field)) continue;
        WEFT_TRY(read_field(lines, t, f, field, row, ret_error));
    }
    if (f < t->fields)
        return BAD(lines->place,
                   "the line ends after field %" PRIu32 "; expected %" PRIu32 " fields, as many as in the header", f,
                   t->fields);
    return WEFT_OK;
}
