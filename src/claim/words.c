// SPDX-License-Identifier: Apache-2.0
// Words of an expression. Names of variants and groups may hold + - * / ~, so these are operators only between blanks
// or parentheses; a comparison needs no blanks.
#include <string.h>

#include "claim/claim.h"

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool ends_word(char c) {
    return !c || is_blank(c) || strchr("()<>=!", c);
}

static struct weft__claim_word comparison_word(const char *s, uint32_t at) {
    static const struct {
        const char *text;
        enum weft__claim_op op;
    } table[] = {{"<=", WEFT__CLAIM_LE}, {">=", WEFT__CLAIM_GE}, {"==", WEFT__CLAIM_EQ},
                 {"!=", WEFT__CLAIM_NE}, {"<", WEFT__CLAIM_LT},  {">", WEFT__CLAIM_GT}};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        uint32_t length = (uint32_t)strlen(table[i].text);
        if (!strncmp(s, table[i].text, length))
            return (struct weft__claim_word){WEFT__WORD_OPERATOR, table[i].op, at, length};
    }
    return (struct weft__claim_word){WEFT__WORD_OPERAND, WEFT__CLAIM_VALUE, at, 1}; // a lone = or !
}

static struct weft__claim_word keyword_word(const char *s, uint32_t at, uint32_t length) {
    static const struct {
        const char *text;
        enum weft__claim_word_kind kind;
        enum weft__claim_op op;
    } table[] = {
        {"+", WEFT__WORD_OPERATOR, WEFT__CLAIM_ADD}, {"-", WEFT__WORD_OPERATOR, WEFT__CLAIM_SUB},
        {"*", WEFT__WORD_OPERATOR, WEFT__CLAIM_MUL}, {"/", WEFT__WORD_OPERATOR, WEFT__CLAIM_DIV},
        {"~", WEFT__WORD_NEAR, WEFT__CLAIM_NEAR},    {"and", WEFT__WORD_AND, WEFT__CLAIM_AND},
        {"or", WEFT__WORD_OR, WEFT__CLAIM_OR},       {"within", WEFT__WORD_WITHIN, WEFT__CLAIM_VALUE},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].text) == length && !strncmp(s, table[i].text, length))
            return (struct weft__claim_word){table[i].kind, table[i].op, at, length};
    return (struct weft__claim_word){WEFT__WORD_OPERAND, WEFT__CLAIM_VALUE, at, length};
}

struct weft__claim_word weft__claim_word(const char *text, uint32_t at) {
    while (is_blank(text[at]))
        at++;
    const char *s = text + at;
    if (!*s) return (struct weft__claim_word){.kind = WEFT__WORD_END, .at = at};
    if (*s == '(' || *s == ')')
        return (struct weft__claim_word){*s == '(' ? WEFT__WORD_OPEN : WEFT__WORD_CLOSE, WEFT__CLAIM_VALUE, at, 1};
    if (strchr("<>=!", *s)) return comparison_word(s, at);
    uint32_t length = 0;
    for (bool quoted = false; s[length] && (quoted || !ends_word(s[length])); length++)
        quoted ^= s[length] == '"';
    return keyword_word(s, at, length);
}
