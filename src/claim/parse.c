// SPDX-License-Identifier: Apache-2.0
// Recursive descent: or, and, comparison, sum, product, operand. Depth is bounded, and so is the text.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "base/units.h"
#include "claim/claim.h"
#include "weft/result.h"

enum { DEPTH_MAX = 32, TEXT_MAX = 4096, PARTS_MAX = 16, VARIANTS_MAX = 64 };

struct parse {
    struct weft_claim *claim;
    const struct weft_scenario_file *file;
    const char *path;
    struct weft_arena *arena;
    struct weft_error *error;
    enum weft_status status;
    struct weft__claim_word word; ///< the next one
    uint32_t depth;
    bool per_case;
};

static const struct weft_claim_node nothing = {.op = WEFT__CLAIM_VALUE};

/// The first error counts; parsing continues to the end without harm.
__attribute__((format(printf, 2, 3))) static const struct weft_claim_node *fail(struct parse *p, const char *form,
                                                                                ...) {
    char text[700];
    va_list list;
    va_start(list, form);
    vsnprintf(text, sizeof text, form, list);
    va_end(list);
    if (!p->status) p->status = WEFT_REFUSE(p->error, p->claim->place, "%s: %s", p->path, text);
    return &nothing;
}

static void next_word(struct parse *p) {
    p->word = weft__claim_word(p->claim->that, p->word.at + p->word.length);
}

static const char *word_text(const struct parse *p) {
    if (p->word.kind == WEFT__WORD_END) return "its end";
    return weft_arena_format(p->arena, "\"%.*s\"", (int)p->word.length, p->claim->that + p->word.at);
}

static const char *const dimension_names[] = {"a number", "a time", "a size", "a rate", "a comparison", "a number"};

static const struct weft_claim_node *new_node(struct parse *p, enum weft__claim_op op,
                                              enum weft_claim_dimension dimension, const struct weft_claim_node *a,
                                              const struct weft_claim_node *b) {
    struct weft_claim_node *n = weft_arena_alloc(p->arena, 1, sizeof *n);
    *n = (struct weft_claim_node){.op = op, .dimension = dimension, .a = a, .b = b};
    return n;
}

static const struct weft_claim_node *value_node(struct parse *p, enum weft_claim_dimension dimension, double v) {
    struct weft_claim_node *n = weft_arena_alloc(p->arena, 1, sizeof *n);
    *n = (struct weft_claim_node){.op = WEFT__CLAIM_VALUE, .dimension = dimension, .value = v};
    return n;
}

/// The length of this name, quoted or not, and a dot at the start of the operand; 0 if it does not begin with them.
static uint32_t begins_with(const char *operand, const char *name) {
    size_t length = strlen(name);
    bool quoted = *operand == '"' && !strncmp(operand + 1, name, length) && operand[length + 1] == '"';
    if (!*name || (!quoted && strncmp(operand, name, length))) return 0;
    if (quoted) length += 2;
    return operand[length] == '.' ? (uint32_t)length + 1 : 0;
}

/// The variant whose name the operand begins with: the longest match, then one of the current case; *ret_length is the
/// length to skip.
static bool find_variant(struct parse *p, const char *operand, uint32_t *ret_variant, uint32_t *ret_length) {
    const char *case_name = p->claim->case_name;
    *ret_length = 0;
    for (unsigned bare = 0; bare < 2 && !*ret_length; bare++)
        for (uint32_t i = 0; i < weft_scenario_variants(p->file); i++) {
            const char *name = weft_scenario_variant_name(p->file, i), *slash = name + strlen(case_name);
            if (bare && (!*case_name || strcmp(weft_scenario_variant_case(p->file, i), case_name) || *slash != '/'))
                continue;
            uint32_t length = begins_with(operand, bare ? slash + 1 : name);
            if (length <= *ret_length) continue;
            *ret_variant = i;
            *ret_length = length;
            p->per_case |= bare;
        }
    return *ret_length;
}

/// Splits a."b.c".d into its parts. False if there are too many or one is empty.
static bool split_parts(struct weft_arena *arena, const char *s, const char **part, uint32_t *ret_parts) {
    *ret_parts = 0;
    while (*ret_parts < PARTS_MAX) {
        bool quoted = *s == '"';
        s += quoted;
        size_t length = quoted ? strcspn(s, "\"") : strcspn(s, ".");
        if (!length || (quoted && !s[length])) return false;
        part[(*ret_parts)++] = weft_arena_format(arena, "%.*s", (int)length, s);
        s += length + quoted;
        if (!*s) return true;
        if (*s++ != '.') return false;
    }
    return false;
}

/// Whether it belongs to a group: victims.fct.mean is groups.victims.fct_ps.mean.
static bool is_of_group(const char *const *part, uint32_t parts) {
    const struct weft_result_table *groups = weft_result_table_find("groups");
    if (parts < 2 || !strcmp(part[0], groups->name)) return false;
    const char *name = strcmp(part[1], "fct") ? part[1] : "fct_ps";
    size_t length = strlen(name);
    for (uint32_t i = 0; i < groups->columns; i++)
        if (!strncmp(groups->column[i].name, name, length) && strchr(".", groups->column[i].name[length])) return true;
    return false;
}

static enum weft_claim_dimension dimension_of(const struct weft_result_column *column) {
    static const char *const units[] = {
        [WEFT_CLAIM_NUMBER] = "", [WEFT_CLAIM_TIME] = "ps", [WEFT_CLAIM_BYTES] = "bytes", [WEFT_CLAIM_RATE] = "bit/s"};
    if (!column) return WEFT_CLAIM_UNKNOWN;
    for (enum weft_claim_dimension d = WEFT_CLAIM_TIME; d <= WEFT_CLAIM_RATE; d++)
        if (!strcmp(weft_result_unit(column), units[d])) return d;
    return WEFT_CLAIM_NUMBER;
}

const char *const weft_claim_from_names[WEFT_CLAIM_FROMS] = {[WEFT_CLAIM_FROM_RUN] = "",
                                                             [WEFT_CLAIM_FROM_TOPO] = "topo",
                                                             [WEFT_CLAIM_FROM_PLAN_PFC] = "plan.pfc",
                                                             [WEFT_CLAIM_FROM_PLAN_SFC] = "plan.sfc",
                                                             [WEFT_CLAIM_FROM_PLAN_DSF] = "plan.dsf",
                                                             [WEFT_CLAIM_FROM_GOODPUT] = "goodput",
                                                             [WEFT_CLAIM_FROM_ADVISE] = "advise",
                                                             [WEFT_CLAIM_FROM_WHY_JOBS] = "why.jobs",
                                                             [WEFT_CLAIM_FROM_PLACE] = "place",
                                                             [WEFT_CLAIM_FROM_WORKLOAD] = "workload",
                                                             [WEFT_CLAIM_FROM_TRACE_CONTROL] = "trace-control"};

/// How many of the first parts name a command; 0: none.
static uint32_t find_command(const char *const *part, uint32_t parts, enum weft_claim_from *ret_from) {
    for (enum weft_claim_from from = WEFT_CLAIM_FROM_TOPO; from < WEFT_CLAIM_FROMS; from++) {
        const char *name = weft_claim_from_names[from], *dot = strchr(name, '.');
        size_t length = dot ? (size_t)(dot - name) : strlen(name);
        if (strlen(part[0]) != length || strncmp(part[0], name, length)) continue;
        if (dot && (parts < 2 || strcmp(part[1], dot + 1))) continue;
        *ret_from = from;
        return dot ? 2 : 1;
    }
    return 0;
}

/// A value in a command's output has its unit at the end of its name, before "_min" or "_max".
static enum weft_claim_dimension dimension_by_name(const char *name) {
    static const char *const ends[] = {
        [WEFT_CLAIM_NUMBER] = "", [WEFT_CLAIM_TIME] = "_ps", [WEFT_CLAIM_BYTES] = "_bytes", [WEFT_CLAIM_RATE] = "_bps"};
    size_t length = strlen(name);
    if (length > 4 && (!strcmp(name + length - 4, "_min") || !strcmp(name + length - 4, "_max"))) length -= 4;
    for (enum weft_claim_dimension d = WEFT_CLAIM_TIME; d <= WEFT_CLAIM_RATE; d++) {
        size_t end = strlen(ends[d]);
        if (length > end && !strncmp(name + length - end, ends[d], end)) return d;
    }
    return WEFT_CLAIM_NUMBER;
}

/// The complete path, with the current names. Only a run can tell whether it exists.
static void make_canonical(struct weft_claim_metric *m, const char **part, uint32_t parts, struct weft_arena *arena) {
    uint32_t command = find_command(part, parts, &m->from);
    if (command) {
        m->part = weft_arena_alloc(arena, parts, sizeof *m->part);
        for (uint32_t i = command; i < parts; i++)
            m->part[m->parts++] = part[i];
        m->dimension = dimension_by_name(part[parts - 1]);
        return;
    }
    bool group = is_of_group(part, parts);
    m->part = weft_arena_alloc(arena, parts + 1, sizeof *m->part);
    if (group) m->part[m->parts++] = "groups";
    for (uint32_t i = 0; i < parts; i++)
        m->part[m->parts++] = strcmp(part[i], "fct") ? part[i] : "fct_ps";
    m->dimension = dimension_of(weft_result_column_of(m->part, m->parts, arena));
}

bool weft_claim_metric_parse(const char *text, struct weft_arena *arena, struct weft_claim_metric *ret) {
    const char *part[PARTS_MAX];
    uint32_t parts;
    *ret = (struct weft_claim_metric){.length = (uint32_t)strlen(text)};
    if (!split_parts(arena, text, part, &parts)) return false;
    make_canonical(ret, part, parts, arena);
    return true;
}

static const struct weft_claim_node *new_metric(struct parse *p, const char *operand, uint32_t variant, uint32_t skip) {
    struct weft_claim *claim = p->claim;
    struct weft_claim_metric *m = &claim->metric[claim->metrics];
    if (!weft_claim_metric_parse(operand + skip, p->arena, m))
        return fail(p, "\"%.200s\": expected a metric such as victims.fct.mean after the variant", operand);
    m->variant = variant;
    m->at = p->word.at;
    m->length = p->word.length;
    struct weft_claim_node *n = weft_arena_alloc(p->arena, 1, sizeof *n);
    *n = (struct weft_claim_node){.op = WEFT__CLAIM_METRIC, .dimension = m->dimension, .metric = claim->metrics++};
    return n;
}

/// Values are doubles with 53 bits: a number that needs more would change.
static bool is_exact(uint64_t whole) {
    return !whole || whole >> __builtin_ctzll(whole) < UINT64_C(1) << 53;
}

static const struct weft_claim_node *fail_inexact(struct parse *p, const char *operand) {
    return fail(p,
                "\"%.200s\" is a whole number of more than 53 bits, which would be rounded; expected a smaller or a "
                "rounder one",
                operand);
}

static const struct weft_claim_node *literal_node(struct parse *p, const char *operand) {
    static const struct {
        enum weft__quantity quantity;
        enum weft_claim_dimension dimension;
    } table[] = {{WEFT__TIME, WEFT_CLAIM_TIME}, {WEFT__BYTES, WEFT_CLAIM_BYTES}, {WEFT__RATE, WEFT_CLAIM_RATE}};
    double real;
    uint64_t whole;
    char why[200];
    if (strspn(operand, "0123456789") == strlen(operand) &&
        (!weft__quantity_parse(WEFT__COUNT, operand, &whole, why, sizeof why) || !is_exact(whole)))
        return fail_inexact(p, operand);
    if (weft__real_parse(operand, &real)) return value_node(p, WEFT_CLAIM_NUMBER, real);
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (weft__quantity_parse(table[i].quantity, operand, &whole, why, sizeof why))
            return is_exact(whole) ? value_node(p, table[i].dimension, (double)whole) : fail_inexact(p, operand);
    return NULL;
}

static const struct weft_claim_node *fail_unknown(struct parse *p, const char *operand) {
    const char *names[VARIANTS_MAX];
    uint32_t n = 0;
    for (; n < weft_scenario_variants(p->file) && n < VARIANTS_MAX; n++)
        names[n] = weft_scenario_variant_name(p->file, n);
    if (*p->claim->case_name)
        operand = weft_arena_format(p->arena, "%s/%s", p->claim->case_name, operand); // under the name that was looked
                                                                                      // up
    char expected[512];
    const char *name = weft_arena_format(p->arena, "%.*s", (int)strcspn(operand, "."), operand);
    weft__names_expected(name, names, n, expected, sizeof expected);
    return fail(p, "\"%.200s\" is not a number, nor does it begin with a variant and a dot; %s", operand, expected);
}

static const struct weft_claim_node *parse_or(struct parse *p);

static const struct weft_claim_node *parse_operand(struct parse *p) {
    if (p->word.kind == WEFT__WORD_OPEN) {
        if (++p->depth > DEPTH_MAX) return fail(p, "more than %d nested parentheses", DEPTH_MAX);
        next_word(p);
        const struct weft_claim_node *inner = parse_or(p);
        p->depth--;
        if (p->word.kind != WEFT__WORD_CLOSE) return fail(p, "expected \")\" where %s stands", word_text(p));
        next_word(p);
        return inner;
    }
    if (p->word.kind != WEFT__WORD_OPERAND)
        return fail(p, "expected a metric, a number or a quantity where %s stands", word_text(p));
    const char *operand = weft_arena_format(p->arena, "%.*s", (int)p->word.length, p->claim->that + p->word.at);
    uint32_t variant = 0, skip = 0;
    bool no_variants = weft_scenario_variants(p->file) == 1 && !*weft_scenario_variant_name(p->file, 0);
    const struct weft_claim_node *n =
        find_variant(p, operand, &variant, &skip) ? new_metric(p, operand, variant, skip) : literal_node(p, operand);
    if (!n) n = no_variants ? new_metric(p, operand, 0, 0) : fail_unknown(p, operand);
    next_word(p);
    return n;
}

static bool is_operator(const struct parse *p, enum weft__claim_op first, enum weft__claim_op last) {
    return p->word.kind == WEFT__WORD_OPERATOR && p->word.op >= first && p->word.op <= last;
}

static const struct weft_claim_node *parse_product(struct parse *p) {
    const struct weft_claim_node *a = parse_operand(p);
    while (!p->status && is_operator(p, WEFT__CLAIM_MUL, WEFT__CLAIM_DIV)) {
        enum weft__claim_op op = p->word.op;
        next_word(p);
        const struct weft_claim_node *b = parse_operand(p);
        enum weft_claim_dimension x = a->dimension, y = b->dimension, result = x;
        bool good = y == WEFT_CLAIM_NUMBER;
        if (op == WEFT__CLAIM_MUL && x == WEFT_CLAIM_NUMBER) good = true, result = y;
        if (op == WEFT__CLAIM_DIV && x == y) good = true, result = WEFT_CLAIM_NUMBER;
        if (x == WEFT_CLAIM_UNKNOWN || y == WEFT_CLAIM_UNKNOWN) good = true, result = WEFT_CLAIM_UNKNOWN;
        if (x == WEFT_CLAIM_TRUTH || y == WEFT_CLAIM_TRUTH) good = false;
        if (!good && !p->status)
            return fail(p, "%s cannot be %s %s", dimension_names[x],
                        op == WEFT__CLAIM_MUL ? "multiplied by" : "divided by", dimension_names[y]);
        a = new_node(p, op, result, a, b);
    }
    return a;
}

static bool is_zero(const struct weft_claim_node *n) {
    return n->op == WEFT__CLAIM_VALUE && n->dimension == WEFT_CLAIM_NUMBER && !(n->value < 0 || n->value > 0);
}

static bool is_unknown(const struct weft_claim_node *n) {
    return n->dimension == WEFT_CLAIM_UNKNOWN;
}

/// Both sides of + - and of a comparison must have the same dimension; 0 needs no unit.
static void check_alike(struct parse *p, const struct weft_claim_node *a, const struct weft_claim_node *b) {
    if (a->dimension == WEFT_CLAIM_TRUTH || b->dimension == WEFT_CLAIM_TRUTH) {
        fail(p, "%s and %s do not compare or add", dimension_names[a->dimension], dimension_names[b->dimension]);
        return;
    }
    if (a->dimension == b->dimension || is_zero(a) || is_zero(b) || is_unknown(a) || is_unknown(b)) return;
    fail(p, "%s and %s do not compare or add", dimension_names[a->dimension], dimension_names[b->dimension]);
}

static const struct weft_claim_node *parse_sum(struct parse *p) {
    const struct weft_claim_node *a = parse_product(p);
    while (!p->status && is_operator(p, WEFT__CLAIM_ADD, WEFT__CLAIM_SUB)) {
        enum weft__claim_op op = p->word.op;
        next_word(p);
        const struct weft_claim_node *b = parse_product(p);
        check_alike(p, a, b);
        a = new_node(p, op, is_zero(a) || is_unknown(a) ? b->dimension : a->dimension, a, b);
    }
    return a;
}

static const struct weft_claim_node *parse_near(struct parse *p, const struct weft_claim_node *a) {
    next_word(p);
    const struct weft_claim_node *b = parse_sum(p);
    check_alike(p, a, b);
    if (!p->status && p->word.kind != WEFT__WORD_WITHIN)
        return fail(p, "expected \"within\" and how much, such as a ~ b within 10%%, where %s stands", word_text(p));
    next_word(p);
    struct weft_claim_node *n = weft_arena_alloc(p->arena, 1, sizeof *n);
    *n = (struct weft_claim_node){WEFT__CLAIM_NEAR, WEFT_CLAIM_TRUTH, 0, 0, a, b, parse_sum(p)};
    if (n->c->dimension != WEFT_CLAIM_NUMBER) check_alike(p, a, n->c);
    if (!p->status && n->c->op == WEFT__CLAIM_VALUE && n->c->value < 0)
        return fail(p, "nothing is within less than nothing; expected 0 or more after \"within\"");
    return n;
}

static const struct weft_claim_node *parse_comparison(struct parse *p) {
    const struct weft_claim_node *a = parse_sum(p), *all = NULL;
    if (p->word.kind == WEFT__WORD_NEAR && !p->status) return parse_near(p, a);
    while (!p->status && is_operator(p, WEFT__CLAIM_LT, WEFT__CLAIM_NE)) {
        enum weft__claim_op op = p->word.op;
        next_word(p);
        const struct weft_claim_node *b = parse_sum(p);
        check_alike(p, a, b);
        const struct weft_claim_node *one = new_node(p, op, WEFT_CLAIM_TRUTH, a, b);
        all = all ? new_node(p, WEFT__CLAIM_AND, WEFT_CLAIM_TRUTH, all, one) : one;
        a = b;
    }
    return all ? all : a;
}

static const struct weft_claim_node *check_truth(struct parse *p, const struct weft_claim_node *n) {
    if (n->dimension != WEFT_CLAIM_TRUTH && !p->status)
        return fail(p, "expected a comparison, such as a < b, before %s", word_text(p));
    return n;
}

static const struct weft_claim_node *parse_and(struct parse *p) {
    const struct weft_claim_node *a = parse_comparison(p);
    while (!p->status && p->word.kind == WEFT__WORD_AND) {
        check_truth(p, a);
        next_word(p);
        a = new_node(p, WEFT__CLAIM_AND, WEFT_CLAIM_TRUTH, a, check_truth(p, parse_comparison(p)));
    }
    return a;
}

static const struct weft_claim_node *parse_or(struct parse *p) {
    const struct weft_claim_node *a = parse_and(p);
    while (!p->status && p->word.kind == WEFT__WORD_OR) {
        check_truth(p, a);
        next_word(p);
        a = new_node(p, WEFT__CLAIM_OR, WEFT_CLAIM_TRUTH, a, check_truth(p, parse_and(p)));
    }
    return a;
}

enum weft_status weft__claim_parse(struct weft_claim *claim, const struct weft_scenario_file *file, const char *path,
                                   struct weft_arena *arena, bool *ret_per_case, struct weft_error *ret_error) {
    struct parse p = {.claim = claim, .file = file, .path = path, .arena = arena, .error = ret_error};
    size_t length = strlen(claim->that);
    if (length > TEXT_MAX) fail(&p, "longer than %d characters", TEXT_MAX);
    if (p.status) return p.status;
    claim->metric = weft_arena_alloc(arena, length / 2 + 1, sizeof *claim->metric); // at least a word and a blank each
    next_word(&p);
    claim->root = check_truth(&p, parse_or(&p));
    if (!p.status && p.word.kind != WEFT__WORD_END) fail(&p, "what is %s?", word_text(&p));
    if (!p.status && !claim->metrics) fail(&p, "names no metric: it would hold, or not, whatever is run");
    *ret_per_case = p.per_case;
    return p.status;
}
