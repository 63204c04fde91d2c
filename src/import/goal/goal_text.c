// SPDX-License-Identifier: Apache-2.0
// GOAL as text, line by line.
#include <inttypes.h>
#include <string.h>

#include "goal.h"

enum { LINE_MAX_BYTES = 65536 };

struct reader {
    struct weft__goal_input *in;
    struct weft_place here;  ///< of the line
    const char *line, *next; ///< the line, and its unread part
    const char *end;
    bool ends; ///< by a newline
    struct weft_schedule_builder *b;
    struct weft__goal_labels labels;
    struct weft_error *error;
};

static enum weft_status bad_text(const struct reader *r, const char *at, const char *why) {
    struct weft_place place = r->here;
    size_t n = 0;
    place.column = (int)(at - r->line) + 1;
    while (at + n < r->end && n < 40 && at[n] > ' ' && at[n] < 127)
        n++;
    if (!n) return WEFT_REFUSE(r->error, place, "%s", why);
    return WEFT_REFUSE(r->error, place, "'%.*s': %s", (int)n, at, why);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct reader *r) {
    while (r->next < r->end && is_blank(*r->next))
        r->next++;
}

/// The next line. False: there is none, or it is too long, which is an error.
static bool next_line(struct reader *r, enum weft_status *ret_status) {
    if (r->end) weft__goal_take(r->in, (size_t)(r->end - r->line) + r->ends);
    size_t size = weft__goal_fill(r->in, LINE_MAX_BYTES + 1);
    r->line = r->next = r->end = (const char *)weft__goal_bytes(r->in);
    r->ends = false;
    if (!size) return false;
    r->here.line++;
    size_t most = size < LINE_MAX_BYTES + 1 ? size : LINE_MAX_BYTES + 1;
    const char *newline = memchr(r->line, '\n', most);
    if (!newline && size > LINE_MAX_BYTES) {
        *ret_status = bad_text(r, r->line, "the line goes on; expected at most 65536 bytes");
        return false;
    }
    r->end = newline ? newline : r->line + size;
    r->ends = newline;
    return true;
}

/// Moves to the first word that is not a comment, across lines. False: the file ends, or there is an error.
static bool next_statement(struct reader *r, enum weft_status *ret_status) {
    bool block = false;
    while (next_line(r, ret_status)) {
        for (;;) {
            const char *end = NULL;
            for (const char *c = r->next; block && !end && c + 1 < r->end; c++)
                if (c[0] == '*' && c[1] == '/') end = c + 2;
            if (block && !end) break;
            if (end) r->next = end;
            block = false;
            skip_blanks(r);
            if (r->end - r->next < 2 || r->next[0] != '/') break;
            if (r->next[1] == '/') r->next = r->end;
            if (r->next == r->end || r->next[1] != '*') break;
            block = true;
            r->next += 2;
        }
        if (!block && r->next < r->end) return true;
    }
    if (block && !*ret_status) *ret_status = bad_text(r, r->line, "the file ends in a comment; expected */");
    return false;
}

static size_t word_size(const struct reader *r) {
    const char *c = r->next;
    while (c < r->end &&
           ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_'))
        c++;
    return (size_t)(c - r->next);
}

/// Takes that word, if it is the next one.
static bool take_word(struct reader *r, const char *word) {
    size_t n = strlen(word);
    skip_blanks(r);
    if (word_size(r) != n || memcmp(r->next, word, n)) return false;
    r->next += n;
    return true;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// A number up to `most`, directly followed by `unit`. `ret_any`: -1 is allowed; NULL: it is not.
static enum weft_status take_number(struct reader *r, uint64_t most, const char *unit, const char *expected,
                                    bool *ret_any, uint64_t *ret) {
    skip_blanks(r);
    const char *at = r->next;
    uint64_t n = 0;
    if (ret_any) *ret_any = r->end - at >= 2 && at[0] == '-' && at[1] == '1' && (r->end - at == 2 || !is_digit(at[2]));
    if (ret_any && *ret_any) {
        r->next += 2;
        *ret = WEFT_SCHEDULE_ANY;
        return WEFT_OK;
    }
    for (; r->next < r->end && is_digit(*r->next); r->next++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*r->next - '0'), &n) || n > most)
            return bad_text(r, at, expected);
    size_t units = strlen(unit);
    bool fits = r->next > at && (size_t)(r->end - r->next) >= units && !memcmp(r->next, unit, units);
    if (fits) r->next += units;
    if (!fits || (r->next < r->end && word_size(r))) return bad_text(r, at, expected);
    *ret = n;
    return WEFT_OK;
}

static enum weft_status take_option(struct reader *r, const char *name, uint64_t most, const char *expected,
                                    bool may_be_any, uint64_t *ret) {
    bool any;
    *ret = 0;
    if (!take_word(r, name)) return WEFT_OK;
    return take_number(r, most, "", expected, may_be_any ? &any : NULL, ret);
}

static enum weft_status take_calc(struct reader *r, struct weft_schedule_step *step) {
    uint64_t ns, cpu;
    step->kind = WEFT_SCHEDULE_COMPUTE;
    WEFT_TRY(take_number(r, WEFT_TIME_MAX / 1000, "",
                         "expected nanoseconds, at most 8640000000000000 "
                         "(100 days)",
                         NULL, &ns));
    WEFT_TRY(take_option(r, "cpu", 255, "expected the number of a CPU stream, at most 255", false, &cpu));
    step->size = ns * 1000;
    step->cpu = (uint8_t)cpu;
    return WEFT_OK;
}

static enum weft_status take_message(struct reader *r, bool sends, struct weft_schedule_step *step) {
    uint64_t peer, tag, cpu, nic;
    bool any;
    step->kind = sends ? WEFT_SCHEDULE_SEND : WEFT_SCHEDULE_RECV;
    WEFT_TRY(take_number(r, WEFT_SCHEDULE_BYTES_MAX - 1, "b", "expected a size in bytes below 2^63, as in 4096b", NULL,
                         &step->size));
    if (!take_word(r, sends ? "to" : "from"))
        return bad_text(r, r->next,
                        sends ? "expected \"to\" and a rank" : "expected \"from\" and a rank, or -1 for any");
    enum weft_status status =
        take_number(r, r->b->schedule->ranks - 1u, "", "expected a rank that exists", sends ? NULL : &any, &peer);
    if (!status)
        status = take_option(r, "tag", UINT32_MAX - 1,
                             sends ? "expected a tag from 0 to 4294967294"
                                   : "expected a tag from 0 to 4294967294, or -1 for any",
                             !sends, &tag);
    if (!status) status = take_option(r, "cpu", 255, "expected the number of a CPU stream, at most 255", false, &cpu);
    if (!status) status = take_option(r, "nic", 255, "expected the number of a NIC, at most 255", false, &nic);
    if (status) return status;
    step->peer = (uint32_t)peer;
    step->tag = (uint32_t)tag;
    step->cpu = (uint8_t)cpu;
    step->nic = (uint8_t)nic;
    return WEFT_OK;
}

static enum weft_status take_end(struct reader *r) {
    skip_blanks(r);
    if (r->next == r->end) return WEFT_OK;
    return bad_text(r, r->next, "expected the end of the line");
}

static enum weft_status take_operation(struct reader *r, const char *label, size_t label_size) {
    struct weft_schedule_step step = {.line = (uint32_t)r->here.line};
    if (take_word(r, "calc"))
        WEFT_TRY(take_calc(r, &step));
    else if (take_word(r, "send"))
        WEFT_TRY(take_message(r, true, &step));
    else if (take_word(r, "recv"))
        WEFT_TRY(take_message(r, false, &step));
    else
        return bad_text(r, r->next, "expected send, recv or calc");
    WEFT_TRY(take_end(r));
    if (label_size) weft__goal_label_add(&r->labels, label, label_size, r->b->steps);
    if (!weft_schedule_add(r->b, &step)) return bad_text(r, r->line, "expected at most 2^30 operations of a rank");
    return WEFT_OK;
}

static enum weft_status take_dependency(struct reader *r, const char *label, size_t label_size, bool after_start) {
    skip_blanks(r);
    const char *other = r->next;
    size_t other_size = word_size(r);
    uint32_t to = weft__goal_label_find(&r->labels, label, label_size);
    uint32_t from = weft__goal_label_find(&r->labels, other, other_size);
    if (!other_size) return bad_text(r, other, "expected the label of an operation");
    if (to == WEFT_NONE) return bad_text(r, label, "no operation of the rank has this label so far");
    if (from == WEFT_NONE) return bad_text(r, other, "no operation of the rank has this label so far");
    r->next += other_size;
    if (!weft_schedule_add_edge(r->b, from, to, after_start))
        return bad_text(r, r->line, "expected at most 2^30 dependencies of a rank");
    return take_end(r);
}

static enum weft_status take_statement(struct reader *r) {
    const char *first = r->next;
    size_t n = word_size(r);
    if (!n || is_digit(*first)) return bad_text(r, first, "expected an operation, a label, or } where the rank ends");
    r->next += n;
    skip_blanks(r);
    if (r->next < r->end && *r->next == ':') {
        if (weft__goal_label_find(&r->labels, first, n) != WEFT_NONE)
            return bad_text(r, first, "an operation of the rank has this label already");
        r->next++;
        return take_operation(r, first, n);
    }
    if (take_word(r, "requires")) return take_dependency(r, first, n, false);
    if (take_word(r, "irequires")) return take_dependency(r, first, n, true);
    r->next = first;
    return take_operation(r, NULL, 0);
}

static enum weft_status read_rank(struct reader *r, uint32_t rank) {
    enum weft_status status = WEFT_OK;
    uint64_t number;
    if (!next_statement(r, &status))
        return status ? status : bad_text(r, r->line, "the file ends; expected the ranks that num_ranks says");
    if (!take_word(r, "rank")) return bad_text(r, r->next, "expected \"rank\", its number and {");
    skip_blanks(r);
    const char *at = r->next;
    status = take_number(r, UINT32_MAX, "", "expected the number of a rank", NULL, &number);
    if (!status && number != rank) return bad_text(r, at, "expected ranks in order, from 0");
    if (status) return status;
    skip_blanks(r);
    if (r->next == r->end || *r->next != '{') return bad_text(r, r->next, "expected { after the number of the rank");
    r->next++;
    status = take_end(r);
    while (!status) {
        if (!next_statement(r, &status))
            return status ? status : bad_text(r, r->line, "the file ends in a rank; expected }");
        if (*r->next == '}') break;
        status = take_statement(r);
    }
    if (status) return status;
    r->next++;
    weft_schedule_end_rank(r->b, 0);
    weft__goal_labels_clear(&r->labels);
    return take_end(r);
}

enum weft_status weft__goal_read_text(struct weft__goal_input *in, struct weft_arena *arena,
                                      struct weft_schedule **ret_schedule, struct weft_error *ret_error) {
    struct weft_schedule_builder b;
    struct reader r = {.in = in, .here = {.file = in->name, .column = 1}, .b = &b, .error = ret_error};
    enum weft_status status = WEFT_OK;
    uint64_t ranks;
    if (!next_statement(&r, &status)) {
        r.here.line = r.here.line ? r.here.line : 1;
        return status ? status : bad_text(&r, r.line, "nothing is in it; expected num_ranks and a number");
    }
    if (!take_word(&r, "num_ranks")) return bad_text(&r, r.next, "expected num_ranks and a number: is it GOAL?");
    status =
        take_number(&r, WEFT_SCHEDULE_RANKS_MAX, "", "expected a number of ranks from 1 to 16777216", NULL, &ranks);
    if (!status && !ranks) return bad_text(&r, r.line, "expected a number of ranks from 1 to 16777216");
    if (!status) status = take_end(&r);
    if (status) return status;
    weft_schedule_begin(&b, in->name, (uint32_t)ranks, arena);
    for (uint32_t rank = 0; rank < ranks && !status; rank++)
        status = read_rank(&r, rank);
    if (!status && next_statement(&r, &status)) status = bad_text(&r, r.next, "expected no more than num_ranks ranks");
    weft__goal_labels_free(&r.labels);
    *ret_schedule = weft_schedule_end(&b);
    return status;
}
