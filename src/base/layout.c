// SPDX-License-Identifier: Apache-2.0
#include "base/layout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char bold_on[] = "\033[1m", bold_off[] = "\033[0m";

/// Bytes of the character at `s`.
static size_t character(const char *s) {
    size_t n = 1;
    while (((unsigned char)s[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static unsigned columns_of(const char *line) {
    unsigned n = 0;
    for (; *line; line += character(line))
        n++;
    return n;
}

/// The byte at a column, or the end.
static const char *at_column(const char *line, unsigned column) {
    for (; column && *line; column--)
        line += character(line);
    return line;
}

bool weft__layout_tabular(const char *line) {
    unsigned gaps = 0;
    const char *at = line + strspn(line, " ");
    while (*(at += strcspn(at, " "))) {
        size_t blanks = strspn(at, " ");
        gaps += blanks > 1 && at[blanks];
        at += blanks;
    }
    return gaps > 1;
}

// --- lines --------------------------------------------------------------------------------------------------------

/// Where the text of a line begins: behind its label, if two blanks end one in the first half.
static unsigned text_column(const char *line, unsigned width) {
    size_t indent = strspn(line, " ");
    const char *gap = strstr(line + indent, "  ");
    if (!gap) return (unsigned)indent;
    size_t text = (size_t)(gap - line) + strspn(gap, " ");
    unsigned column = (unsigned)indent;
    if (line[text]) column = columns_of(line) - columns_of(line + text);
    return column <= width / 2 ? column : (unsigned)indent;
}

/// The blank to break a line at, which is at most `width` columns from its start if there is one; NULL: none.
static const char *find_break(const char *text, unsigned width) {
    const char *found = NULL, *end = at_column(text, width);
    for (const char *at = text + strspn(text, " "); *at; at++) {
        if (*at != ' ') continue;
        if (at > end && found) break;
        found = at;
        if (at > end) break;
    }
    return found;
}

static void wrap(FILE *file, const char *line, unsigned width, unsigned hang) {
    unsigned indent = 0;
    while (columns_of(line) > width - indent) {
        // Of the first line what stands before its text is not broken.
        const char *from = indent ? line : at_column(line, hang);
        const char *end = find_break(from, width - (indent ? indent : hang));
        if (!end) break;
        fprintf(file, "%*s%.*s\n", (int)indent, "", (int)(end - line), line);
        line = end + strspn(end, " ");
        indent = hang;
    }
    if (*line) fprintf(file, "%*s%s\n", (int)indent, "", line);
}

void weft__layout_line(FILE *file, const char *line, unsigned width) {
    bool command = *line == ' ' && !strncmp(line + strspn(line, " "), "weft ", 5);
    if (columns_of(line) <= width || command)
        fprintf(file, "%s\n", line);
    else
        wrap(file, line, width, text_column(line, width));
}

bool weft__layout_continues(const char *before, const char *line, unsigned width) {
    return columns_of(before) > width && *before != ' ' && islower((unsigned char)*line) && !strstr(line, "  ");
}

// --- tables -------------------------------------------------------------------------------------------------------

struct part {
    unsigned begin, end; ///< columns
};

struct table {
    const char *const *line;
    uint32_t lines, parts;
    unsigned width, columns;
    bool bold;
    uint8_t *filled;   ///< [columns]: a line has text there, or a single blank between two words
    struct part *part; ///< columns of the table
    uint32_t keys;     ///< of these, first ones that each fold repeats
};

static void mark(struct table *t, const char *line) {
    char before = ' ';
    for (unsigned c = 0; *line; c++, line += character(line)) {
        bool between = *line == ' ' && before != ' ' && line[1] && line[1] != ' ';
        t->filled[c] |= *line != ' ' || between;
        before = *line;
    }
}

static void find_parts(struct table *t) {
    for (uint32_t i = 0; i < t->lines; i++)
        mark(t, t->line[i]);
    for (unsigned c = 0; c < t->columns; c++) {
        if (!t->filled[c]) continue;
        if (!c || !t->filled[c - 1]) t->part[t->parts++].begin = c;
        t->part[t->parts - 1].end = c + 1;
    }
}

/// Whether cells below the heading are numbers, most of them.
static bool is_numeric(const struct table *t, const struct part *p) {
    uint32_t numbers = 0, texts = 0;
    for (uint32_t i = 1; i < t->lines; i++) {
        const char *cell = at_column(t->line[i], p->begin), *end = at_column(t->line[i], p->end);
        cell += strspn(cell, " ");
        if (cell >= end) continue;
        bool number = isdigit((unsigned char)*cell) || isdigit((unsigned char)cell[1]) || strchr("=-", *cell);
        number ? numbers++ : texts++;
    }
    return numbers > texts;
}

/// The first column, and texts behind it as long as there is as much room for the others.
static void find_keys(struct table *t) {
    t->keys = 1;
    while (t->keys + 1 < t->parts && t->part[t->keys].end <= t->width / 2 && !is_numeric(t, &t->part[t->keys]))
        t->keys++;
}

static bool is_heading(const struct table *t, uint32_t line) {
    if (line > 1 || t->lines < 2) return false;
    char before = ' ';
    for (const char *s = t->line[line]; *s; before = *s++)
        if (before == ' ' && isdigit((unsigned char)*s)) return false;
    return !line || is_heading(t, line - 1);
}

/// Columns begin..end of a line after the keys; a line without text there is left out, unless it is `all`.
static void write_fold(FILE *file, const struct table *t, uint32_t i, unsigned begin, unsigned end, bool all) {
    const char *line = t->line[i];
    unsigned keys = begin ? t->part[t->keys - 1].end : 0;
    const char *from = at_column(line, begin), *to = at_column(line, end);
    const char *text = from + strspn(from, " ");
    if (text >= to && !all) return;
    while (to > from && to[-1] == ' ')
        to--;
    bool bold = t->bold && is_heading(t, i);
    fprintf(file, "%s%.*s%.*s%s\n", bold ? bold_on : "", (int)(at_column(line, keys) - line), line, (int)(to - from),
            from, bold ? bold_off : "");
}

/// Columns of the table that fit beside the keys, then the next ones.
static void fold(FILE *file, const struct table *t) {
    unsigned keys = t->part[t->keys - 1].end;
    for (uint32_t first = t->keys, next; first < t->parts; first = next) {
        unsigned begin = t->part[first - 1].end;
        for (next = first + 1; next < t->parts && keys + t->part[next].end - begin <= t->width;)
            next++;
        if (first > t->keys) fputc('\n', file);
        for (uint32_t i = 0; i < t->lines; i++)
            write_fold(file, t, i, first > t->keys ? begin : 0, t->part[next - 1].end, first == t->keys);
    }
}

/// Whether every column fits beside the keys.
static bool can_fold(const struct table *t) {
    if (t->parts < 3) return false;
    unsigned room = t->width - t->part[t->keys - 1].end;
    for (uint32_t p = t->keys; p < t->parts; p++)
        if (t->part[p].end - t->part[p - 1].end > room) return false;
    return t->part[t->keys - 1].end < t->width;
}

static void write_table(FILE *file, struct table *t) {
    const struct part *last = &t->part[t->parts ? t->parts - 1 : 0];
    bool text = t->parts > 1 && last->begin <= t->width * 6 / 10 && !is_numeric(t, last);
    if (t->columns <= t->width)
        for (uint32_t i = 0; i < t->lines; i++)
            write_fold(file, t, i, 0, t->columns, true);
    else if (text || !can_fold(t))
        for (uint32_t i = 0; i < t->lines; i++)
            wrap(file, t->line[i], t->width, text ? last->begin : text_column(t->line[i], t->width));
    else
        fold(file, t);
}

bool weft__layout_table(FILE *file, const char *const *line, uint32_t lines, unsigned width, bool bold) {
    struct table t = {.line = line, .lines = lines, .width = width, .bold = bold};
    for (uint32_t i = 0; i < lines; i++) {
        unsigned columns = columns_of(line[i]);
        if (columns > t.columns) t.columns = columns;
    }
    t.filled = calloc(t.columns + 1, sizeof *t.filled);
    t.part = calloc(t.columns + 1, sizeof *t.part);
    bool done = t.filled && t.part;
    if (done) {
        find_parts(&t);
        if (t.parts) find_keys(&t);
        write_table(file, &t);
    }
    free(t.filled);
    free(t.part);
    return done;
}
