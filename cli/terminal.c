// SPDX-License-Identifier: Apache-2.0
// Replaces stdout by a stream that passes lines on to the real one: tables when they are complete, other lines at once.
// stdio calls it, and must not be left by a jump: if memory runs out, lines are passed on unchanged.
#define _GNU_SOURCE // fopencookie
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/layout.h"

enum { WIDTH_LEAST = 20 };

static struct {
    FILE *file, *stream; ///< the real stdout, NULL if it was not replaced; and its replacement
    unsigned width;
    bool color, raw;
    char *line; ///< the line being printed, without its end
    size_t size, room;
    char *text;   ///< a line that may continue; NULL: there is none
    char **table; ///< lines of the table being printed
    uint32_t lines, lines_room;
} terminal;

/// Words at the beginning of lines that report how something ended.
static const struct {
    const char *word, *color;
} colored[] = {
    {"BUG:", "31"},         {"STALLED:", "31"},          {"TIME IS OVER:", "31"},
    {"interrupted:", "33"}, {"  holds after all", "31"}, {"  holds ", "32"},
    {"  fails ", "31"},     {"  finding ", "33"},
};

static bool write_colored(const char *line) {
    for (size_t i = 0; terminal.color && i < sizeof colored / sizeof *colored; i++) {
        size_t n = strlen(colored[i].word), indent = strspn(line, " ");
        if (strncmp(line, colored[i].word, n) || strlen(line) > terminal.width) continue;
        fprintf(terminal.file, "%.*s\033[%sm%.*s\033[0m%s\n", (int)indent, line, colored[i].color, (int)(n - indent),
                line + indent, line + n);
        return true;
    }
    return false;
}

static void end_text(void) {
    if (terminal.text) weft__layout_line(terminal.file, terminal.text, terminal.width);
    free(terminal.text);
    terminal.text = NULL;
}

/// The lines of a broken sentence are joined again and wrapped anew.
static void write_line(const char *line) {
    char *whole = NULL;
    if (terminal.text && weft__layout_continues(terminal.text, line, terminal.width) &&
        asprintf(&whole, "%s %s", terminal.text, line) >= 0) {
        free(terminal.text);
        terminal.text = whole;
        return;
    }
    end_text();
    if (write_colored(line)) return;
    terminal.text = strdup(line);
    if (!terminal.text) weft__layout_line(terminal.file, line, terminal.width);
    if (weft__layout_continues(line, "a", terminal.width)) return;
    end_text();
}

static void end_table(void) {
    if (!weft__layout_table(terminal.file, (const char *const *)terminal.table, terminal.lines, terminal.width,
                            terminal.color))
        for (uint32_t i = 0; i < terminal.lines; i++)
            fprintf(terminal.file, "%s\n", terminal.table[i]);
    for (uint32_t i = 0; i < terminal.lines; i++)
        free(terminal.table[i]);
    terminal.lines = 0;
}

/// Keeps a line of a table until the table is complete; false: the line belongs to no table, or there is no memory.
static bool keep_line(const char *line) {
    if (!weft__layout_tabular(line)) return false;
    end_text();
    if (terminal.lines == terminal.lines_room) {
        uint32_t room = terminal.lines_room ? 2 * terminal.lines_room : 64;
        char **more = realloc(terminal.table, room * sizeof *more);
        if (!more) return false;
        terminal.table = more;
        terminal.lines_room = room;
    }
    terminal.table[terminal.lines] = strdup(line);
    return terminal.table[terminal.lines] && ++terminal.lines;
}

static void take_line(void) {
    terminal.line[terminal.size] = 0;
    if (!keep_line(terminal.line)) {
        end_table();
        write_line(terminal.line);
    }
    terminal.size = 0;
}

/// False: no memory.
static bool take_byte(char byte) {
    if (terminal.size + 1 >= terminal.room) {
        size_t room = terminal.room ? 2 * terminal.room : 256;
        char *more = realloc(terminal.line, room);
        if (!more) return false;
        terminal.line = more;
        terminal.room = room;
    }
    if (byte == '\n')
        take_line();
    else if (((unsigned char)byte < 0x20 && byte != '\t') || byte == 0x7f) // of a name, and not for the terminal
        terminal.line[terminal.size++] = '?';
    else
        terminal.line[terminal.size++] = byte;
    return true;
}

/// Everything printed after this is passed on unchanged.
static void give_up(void) {
    end_table();
    end_text();
    fwrite(terminal.line, 1, terminal.size, terminal.file);
    terminal.size = 0;
    terminal.raw = true;
}

static ssize_t take_text(void *cookie, const char *text, size_t size) {
    size_t n = 0;
    while (n < size && !terminal.raw && take_byte(text[n]))
        n++;
    if (n < size && !terminal.raw) give_up();
    fwrite(text + n, 1, size - n, terminal.file);
    return fflush(terminal.file) || ferror(terminal.file) ? 0 : (ssize_t)size;
}

/// The terminal's width, unless COLUMNS is set. 0: not known.
static unsigned find_width(void) {
    struct winsize window;
    const char *columns = getenv("COLUMNS");
    unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;
    if (!width && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &window)) width = window.ws_col;
    if (!width || width > WEFT__LAYOUT_ANY) return WEFT__LAYOUT_ANY;
    return width < WIDTH_LEAST ? WIDTH_LEAST : (unsigned)width;
}

static void install_stream(unsigned width) {
    static const cookie_io_functions_t functions = {.write = take_text};
    FILE *stream = terminal.file ? NULL : fopencookie(NULL, "w", functions);
    if (!stream) return;
    setvbuf(stream, NULL, _IOLBF, BUFSIZ);
    terminal.file = stdout;
    terminal.stream = stdout = stream;
    terminal.width = width;
}

void weft_cli_terminal_begin(void) {
    const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");
    if (!isatty(STDOUT_FILENO)) return;
    install_stream(find_width());
    terminal.color = !(none && *none) && kind && strcmp(kind, "dumb");
}

bool weft_cli_terminal_color(const char *when) {
    if (!strcmp(when, "auto")) return true;
    bool always = !strcmp(when, "always");
    if (!always && strcmp(when, "never")) return false;
    if (always) install_stream(WEFT__LAYOUT_ANY); // if it is no terminal
    terminal.color = always;
    return true;
}

void weft_cli_terminal_raw(void) {
    terminal.raw = true;
}

void weft_cli_terminal_flush(void) {
    fflush(stdout);
    if (!terminal.file || terminal.raw) return;
    end_table();
    end_text();
    fflush(terminal.file);
}

bool weft_cli_terminal_end(void) {
    bool written = !fflush(stdout) && !ferror(stdout);
    if (!terminal.file) return written;
    if (!terminal.raw) give_up();
    stdout = terminal.file;
    fclose(terminal.stream);
    free(terminal.line);
    free(terminal.table);
    return written && !fflush(stdout) && !ferror(stdout);
}
