// SPDX-License-Identifier: Apache-2.0
#include "base/layout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char bold_on[] = "\033[1m", bold_off[] = "\033[0m";

/// Bytes of the character at `s`.
static size_t character_bytes(const char *s) {
    size_t n = 1;
    while (((unsigned char)s[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static unsigned columns_of(const char *line) {
    unsigned n = 0;
    for (; *line; line += character_bytes(line))
        n++;
    return n;
}

/// The byte at a column, or the end.
static const char *at_column(const char *line, unsigned column) {
    for (; column && *line; column--)
        line += character_bytes(line);
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

/// The largest indent of text: on a narrow terminal the text should get most of the width.
static unsigned hang_most(unsigned width) {
    return width < 60 ? width / 3 : width / 2;
}

/// Where the text of a line begins: after its label, if two blanks end one soon enough.
static unsigned text_column(const char *line, unsigned width) {
    size_t indent = strspn(line, " ");
    const char *gap = strstr(line + indent, "  ");
    if (!gap) return (unsigned)indent;
    size_t text = (size_t)(gap - line) + strspn(gap, " ");
    unsigned column = (unsigned)indent;
    if (line[text]) column = columns_of(line) - columns_of(line + text);
    return column <= hang_most(width) ? column : (unsigned)indent;
}

/// The blank at which to break a line, at most `width` columns from its start if possible; NULL: none.
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

/// Writes `n` bytes without trailing blanks. A word that does not fit after the indent starts before it.
static void write_piece(FILE *file, const char *text, size_t n, unsigned width, unsigned indent) {
    while (n && text[n - 1] == ' ')
        n--;
    unsigned rest = columns_of(text + n), columns = columns_of(text) - rest;
    if (columns + indent > width) indent = columns < width ? width - columns : 0;
    for (; n > 1 && *text == ' ' && columns > width; columns--, n--)
        text++;
    fprintf(file, "%*s%.*s\n", (int)indent, "", (int)n, text);
}

static void wrap_line(FILE *file, const char *line, unsigned width, unsigned hang) {
    unsigned indent = 0;
    while (columns_of(line) > width - indent) {
        // The part of the first line before its text is not broken, unless it leaves no room after it.
        const char *from = indent ? line : at_column(line, hang);
        const char *end = find_break(from, width - (indent ? indent : hang));
        const char *label_end = at_column(line, hang);
        unsigned word = columns_of(from) - columns_of(from + strcspn(from, " "));
        if (!indent && hang + word > width && label_end > line + strspn(line, " ") && label_end[-1] == ' ')
            end = label_end;
        if (!end) break;
        write_piece(file, line, (size_t)(end - line), width, indent);
        line = end + strspn(end, " ");
        indent = hang;
    }
    if (*line) write_piece(file, line, strlen(line), width, indent);
}

void weft__layout_line(FILE *file, const char *line, unsigned width) {
    bool command = *line == ' ' && !strncmp(line + strspn(line, " "), "weft ", 5);
    size_t blanks = strspn(line, " ");
    unsigned most = hang_most(width);
    if (columns_of(line) > width && blanks > most) line += blanks - most;
    if (columns_of(line) <= width || command)
        fprintf(file, "%s\n", line);
    else
        wrap_line(file, line, width, text_column(line, width));
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
    uint8_t *filled;   ///< [columns]: some line has text there, or a single blank between two words
    struct part *part; ///< columns of the table
    uint32_t keys;     ///< the first ones, which each fold repeats
};

static void mark_filled(struct table *t, const char *line) {
    char before = ' ';
    for (unsigned c = 0; *line; c++, line += character_bytes(line)) {
        bool between = *line == ' ' && before != ' ' && line[1] && line[1] != ' ';
        t->filled[c] |= *line != ' ' || between;
        before = *line;
    }
}

/// By the lines from `first` on.
static void find_parts(struct table *t, uint32_t first) {
    memset(t->filled, 0, t->columns);
    t->parts = 0;
    for (uint32_t i = first; i < t->lines; i++)
        mark_filled(t, t->line[i]);
    for (unsigned c = 0; c < t->columns; c++) {
        if (!t->filled[c]) continue;
        if (!c || !t->filled[c - 1]) t->part[t->parts++].begin = c;
        t->part[t->parts - 1].end = c + 1;
    }
}

/// Whether most cells below the heading are numbers.
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

static bool is_heading(const struct table *t, uint32_t line) {
    if (line > 1 || t->lines < 2) return false;
    char before = ' ';
    for (const char *s = t->line[line]; *s; before = *s++)
        if (before == ' ' && isdigit((unsigned char)*s)) return false;
    return !line || is_heading(t, line - 1);
}

/// The cell of a line in a part, without surrounding blanks.
static int cell_of(const char *line, const struct part *p, const char **ret_cell) {
    const char *cell = at_column(line, p->begin), *end = at_column(line, p->end);
    while (cell < end && *cell == ' ')
        cell++;
    while (end > cell && end[-1] == ' ')
        end--;
    *ret_cell = cell;
    return (int)(end - cell);
}

/// The number of texts separated by two blanks.
static uint32_t texts_of(const char *line) {
    uint32_t n = 0;
    for (const char *at = line + strspn(line, " "); *at; at += strspn(at, " ")) {
        const char *gap = strstr(at, "  ");
        at = gap ? gap : at + strlen(at);
        n++;
    }
    return n;
}

/// How many lines the heading has: one, or two if the first one spans several columns.
static uint32_t headings_of(const struct table *t) {
    if (!is_heading(t, 0)) return 0;
    bool over = *t->line[0] == ' ' || texts_of(t->line[0]) < texts_of(t->line[1]);
    return over && t->lines > 2 && is_heading(t, 1) ? 2 : 1;
}

/// Whether every line differs from the previous one in the first `keys` columns.
static bool is_distinguished(const struct table *t, uint32_t keys) {
    struct part all = {0, t->part[keys - 1].end};
    for (uint32_t i = 1; i < t->lines; i++) {
        const char *before, *cell;
        int n_before = cell_of(t->line[i - 1], &all, &before), n = cell_of(t->line[i], &all, &cell);
        if (!n || (n == n_before && !strncmp(before, cell, (size_t)n))) return false;
    }
    return true;
}

static uint32_t leading_texts(const struct table *t) {
    uint32_t n = 1;
    while (n + 1 < t->parts && !is_numeric(t, &t->part[n]))
        n++;
    return n;
}

/// The first column, and further text columns while as much room remains for the others, or while lines would look
/// alike.
static void find_keys(struct table *t) {
    uint32_t texts = leading_texts(t);
    t->keys = 1;
    while (t->keys < texts && (t->part[t->keys].end <= t->width / 2 || !is_distinguished(t, t->keys)))
        t->keys++;
}

/// Writes columns begin..end of a line after the keys; a line without text there is omitted, unless `all` is set.
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

/// Writes the columns that fit beside the keys, then the next ones.
static void fold_table(FILE *file, const struct table *t) {
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

/// Numbers without a heading belong to the column after them, as changes do to what has changed.
static void join_parts(struct table *t, uint32_t headings) {
    uint32_t n = 0;
    const char *cell;
    for (uint32_t p = 0; p < t->parts; p++) {
        bool joins =
            n && p > 1 && !cell_of(t->line[headings - 1], &t->part[n - 1], &cell) && is_numeric(t, &t->part[n - 1]);
        if (joins)
            t->part[n - 1].end = t->part[p].end;
        else
            t->part[n++] = t->part[p];
    }
    t->parts = n;
}

/// The text above part `p` in the first of two heading lines: the last one that begins before the part ends.
static int text_above(const struct table *t, const struct part *p, const char **ret_text) {
    const char *line = t->line[0], *at = line, *end = at_column(line, p->end);
    int n = 0;
    while (at += strspn(at, " "), *at && at < end) {
        const char *gap = strstr(at, "  ");
        *ret_text = at;
        n = (int)(gap ? gap - at : (long)strlen(at));
        at += n;
    }
    return n;
}

/// Writes a line with narrower gaps, wrapped.
static void stack_line(FILE *file, const char *line, unsigned width) {
    char *narrow = malloc(strlen(line) + 1), *to = narrow;
    if (!narrow) return;
    unsigned indent = (unsigned)strspn(line, " ");
    for (const char *at = line; *at; at++)
        if (at < line + indent || strncmp(at, "   ", 3)) *to++ = *at;
    *to = 0;
    if (indent > width / 4) indent = width / 4;
    wrap_line(file, narrow + strspn(narrow, " ") - indent, width, indent + 2);
    free(narrow);
}

struct cell {
    unsigned indent, room; ///< room: for headings
    int label, n;          ///< lengths
    const char *heading, *text;
};

/// Writes a cell after its heading, or below it if both do not fit in one line.
static void write_cell(FILE *file, const struct table *t, const struct cell *c) {
    char *line = malloc((size_t)c->label + (size_t)c->n + t->width + 8);
    if (!line) return;
    char *heading = strndup(c->heading, (size_t)c->label);
    unsigned hang = c->label ? c->indent + c->room + 2 : c->indent, label = heading ? columns_of(heading) : 0;
    if (label > c->room && c->n) {
        write_cell(file, t, &(struct cell){c->indent, label, c->label, 0, c->heading, ""});
        label = 0;
    }
    sprintf(line, "%*s%.*s%*s%.*s", (int)c->indent, "", label ? c->label : 0, c->heading,
            c->n ? (int)(hang - c->indent - label) : 0, "", c->n, c->text);
    wrap_line(file, line, t->width, c->n ? hang : c->indent);
    free(heading);
    free(line);
}

/// Writes the cells of each line one below the other.
static void turn_table(FILE *file, struct table *t, uint32_t headings) {
    find_parts(t, headings - 1);
    join_parts(t, headings);
    uint32_t keys = leading_texts(t);
    struct cell c = {.room = 0};
    for (uint32_t p = 0; p < t->parts; p++) {
        c.label = cell_of(t->line[headings - 1], &t->part[p], &c.heading);
        if ((unsigned)c.label > c.room && (unsigned)c.label <= t->width / 3) c.room = (unsigned)c.label;
    }
    for (uint32_t i = headings; i < t->lines; i++) {
        if (i > headings) fputc('\n', file);
        const char *above = NULL, *before = NULL;
        for (uint32_t p = 0; p < t->parts; p++) {
            c.label = cell_of(t->line[headings - 1], &t->part[p], &c.heading);
            c.n = cell_of(t->line[i], &t->part[p], &c.text);
            int n_above = headings > 1 ? text_above(t, &t->part[p], &above) : 0;
            if (!c.n) continue;
            if (n_above && above != before) write_cell(file, t, &(struct cell){2, c.room, n_above, 0, above, ""});
            before = n_above ? above : NULL;
            c.indent = n_above ? 4 : p < keys ? 0 : 2;
            write_cell(file, t, &c);
        }
    }
}

static void write_table(FILE *file, struct table *t) {
    const struct part *last = &t->part[t->parts ? t->parts - 1 : 0];
    bool texts = t->parts > 1 && !is_numeric(t, last), text = texts && last->begin <= t->width * 6 / 10;
    uint32_t headings = headings_of(t);
    if (t->columns <= t->width)
        for (uint32_t i = 0; i < t->lines; i++)
            write_fold(file, t, i, 0, t->columns, true);
    else if (text)
        for (uint32_t i = 0; i < t->lines; i++)
            wrap_line(file, t->line[i], t->width, last->begin);
    else if (can_fold(t) && (headings || !texts))
        fold_table(file, t);
    else if (headings)
        turn_table(file, t, headings);
    else
        for (uint32_t i = 0; i < t->lines; i++)
            stack_line(file, t->line[i], t->width);
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
        find_parts(&t, 0);
        if (headings_of(&t)) join_parts(&t, headings_of(&t));
        if (t.parts) find_keys(&t);
        write_table(file, &t);
    }
    free(t.filled);
    free(t.part);
    return done;
}
