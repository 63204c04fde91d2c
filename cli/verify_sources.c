// SPDX-License-Identifier: Apache-2.0
// weft verify --sources: the statements of sources, and the claims that check them. One file per source: `source:
// {name, title, where}`, and `statements`, each with an id that claims name in `checks`.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/param.h"
#include "verify.h"
#include "weft/param.h"

struct source {
    const char *name, *title, *where;
};
static const struct weft_param_table source_table =
    WEFT_PARAM_TABLE_OF("source", struct source, WEFT_PARAM_UNCHECKED,
                        WEFT_TEXT(struct source, name, "name", NULL, "with which the ids of its statements begin"),
                        WEFT_PROSE(struct source, title, "title", NULL, "as published"),
                        WEFT_PROSE(struct source, where, "where", "", "venue and year, or address"));

static const struct weft_param_table statement_table =
    WEFT_PARAM_TABLE_OF("statement", struct verify_statement, WEFT_PARAM_UNCHECKED,
                        WEFT_TEXT(struct verify_statement, id, "id", NULL, "that claims name"),
                        WEFT_PROSE(struct verify_statement, at, "at", "", "section or paragraph"),
                        WEFT_PROSE(struct verify_statement, says, "says", NULL, "in other words than the source's"),
                        WEFT_PROSE(struct verify_statement, none, "none", "", "why no claim checks the statement"));

enum { SOURCES_MAX = 64, STATEMENTS_MAX = 4096 };
struct index_of_sources {
    struct weft_arena *arena;
    struct source source[SOURCES_MAX];
    struct verify_statement *statement; ///< in the order of the files
    uint32_t sources, statements;
};

static struct verify_statement *find_statement(const struct index_of_sources *x, const char *id, size_t length) {
    for (uint32_t i = 0; i < x->statements; i++)
        if (strlen(x->statement[i].id) == length && !strncmp(x->statement[i].id, id, length)) return &x->statement[i];
    return NULL;
}

static enum weft_status add_statement(struct index_of_sources *x, const struct weft_tree *entry, uint32_t i,
                                      struct weft_error *ret_error) {
    char path[64];
    snprintf(path, sizeof path, "statements.%u", i);
    if (x->statements == STATEMENTS_MAX)
        return WEFT_REFUSE(ret_error, entry->place, "more than %d statements", STATEMENTS_MAX);
    struct verify_statement one = {0};
    WEFT_TRY(weft__params_load_at(&statement_table, entry, path, &one, x->arena, ret_error));
    if (find_statement(x, one.id, strlen(one.id)))
        return WEFT_REFUSE(ret_error, entry->place, "%s.id: %s is a duplicate", path, one.id);
    one.source = x->source[x->sources].name;
    x->statement[x->statements++] = one;
    return WEFT_OK;
}

static enum weft_status read_source(struct index_of_sources *x, const char *path, struct weft_error *ret_error) {
    struct weft_tree *root;
    WEFT_TRY(weft_tree_read(path, x->arena, &root, ret_error));
    const struct weft_tree *source = weft_tree_find(root, "source"), *list = weft_tree_find(root, "statements");
    if (!source || !list || list->type != WEFT_TREE_LIST || x->sources == SOURCES_MAX)
        return WEFT_REFUSE(ret_error, root->place, "expected `source` and a list of `statements`, in %d files at most",
                           SOURCES_MAX);
    enum weft_status status =
        weft__params_load_at(&source_table, source, "source", &x->source[x->sources], x->arena, ret_error);
    for (uint32_t i = 0; i < list->n && !status; i++)
        status = add_statement(x, list->child[i], i, ret_error);
    x->sources += !status;
    return status;
}

static int is_yaml(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".yaml");
}

static enum weft_status read_sources(struct index_of_sources *x, const char *folder, struct weft_error *ret_error) {
    struct dirent **entry;
    int n = scandir(folder, &entry, is_yaml, alphasort);
    if (n < 0 && errno == ENOMEM) weft_memory_fail();
    if (n < 0) return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "cannot read '%s': %s", folder, strerror(errno));
    enum weft_status status = WEFT_OK;
    for (int i = 0; i < n; i++) {
        if (!status) status = read_source(x, weft_arena_format(x->arena, "%s/%s", folder, entry[i]->d_name), ret_error);
        free(entry[i]);
    }
    free(entry);
    if (!status && !n) status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "no .yaml file in '%s'", folder);
    return status;
}

/// "dsf-01, dsf-02". A claim that exists once per case counts once.
static enum weft_status note_claim(struct index_of_sources *x, const struct verified *s, const struct weft_claim *c,
                                   struct weft_error *ret_error) {
    for (const char *at = c->checks; *at;) {
        at += strspn(at, ", ");
        size_t length = strcspn(at, ", ");
        if (!length) break;
        struct verify_statement *to = find_statement(x, at, length);
        if (!to) return WEFT_REFUSE(ret_error, c->place, "checks: no source has a statement %.*s", (int)length, at);
        bool again = false;
        for (uint32_t i = 0; i < to->checks; i++) {
            const struct weft_claim *by = &to->check[i].is.claim;
            again |= to->check[i].path == s->path && !strcmp(by->text, c->text) && !strcmp(by->that, c->that);
        }
        if (!again) {
            to->check = weft__arena_grow(x->arena, to->check, to->checks, sizeof *to->check);
            to->check[to->checks] = (struct verify_check){weft_claim_row(c, to->checks), s->path};
            to->checks++;
        }
        at += length;
    }
    return WEFT_OK;
}

struct sums {
    uint32_t statements, checked, none, open;
    uint32_t claims, definitions, bands, in_band[WEFT_CLAIM_IN_BANDS]; ///< claims that check, with bands, by in_band
};

static void add_statement_to(struct sums *sums, const struct verify_statement *s) {
    sums->statements++;
    sums->claims += s->checks;
    for (const struct verify_check *by = s->check; by < s->check + s->checks; by++) {
        sums->definitions += *by->is.claim.definition != 0;
        sums->bands += by->is.claim.bands > 0;
        sums->in_band[by->is.claim.in_band]++;
    }
    if (s->checks)
        sums->checked++;
    else if (*s->none)
        sums->none++;
    else
        sums->open++;
}

static const char *kind_of(const struct weft_claim *claim) {
    if (*claim->definition) return "(definition) ";
    return weft_claim_is_to_hold(claim) ? "" : claim->control ? "(control) " : "(finding) ";
}

static void print_statement(const struct verify_statement *s) {
    printf("  %-10s %s%s%s\n", s->id, s->at, *s->at ? ": " : "", s->says);
    for (const struct verify_check *by = s->check; by < s->check + s->checks; by++)
        printf("%*s%s%s: %s%s%s\n", 13, "", kind_of(&by->is.claim), by->path, by->is.claim.text,
               by->is.claim.in_band ? "; " : "",
               by->is.claim.in_band ? weft_claim_in_band_texts[by->is.claim.in_band] : "");
    if (!s->checks && *s->none) printf("%*snone: %s\n", 13, "", s->none);
    if (!s->checks && !*s->none) printf("%*sOPEN: no claim checks it\n", 13, "");
}

static void print_sums(const char *name, struct sums s) {
    printf("%-10s %10u %8u %8u %8u %8u %11u %10u", name, s.statements, s.checked, s.none, s.open, s.claims,
           s.definitions, s.bands);
    for (uint32_t i = 1; i < WEFT_CLAIM_IN_BANDS; i++)
        printf(" %8u", s.in_band[i]);
    putchar('\n');
}

static void print_text(FILE *file, const void *context) {
    const struct index_of_sources *x = context;
    struct sums sums[SOURCES_MAX] = {{0}}, all = {0};
    uint32_t of = 0;
    for (uint32_t i = 0; i < x->statements; i++) {
        const struct verify_statement *s = &x->statement[i];
        while (x->source[of].name != s->source)
            of++;
        if (!i || s->source != s[-1].source)
            printf("%s%s: %s%s%s\n", i ? "\n" : "", s->source, x->source[of].title, *x->source[of].where ? ", " : "",
                   x->source[of].where);
        print_statement(s);
        add_statement_to(&sums[of], s);
        add_statement_to(&all, s);
    }
    printf("\n%-10s %10s %8s %8s %8s %8s %11s %10s", "source", "statements", "checked", "none", "open", "claims",
           "definitions", "with bands");
    for (uint32_t i = 1; i < WEFT_CLAIM_IN_BANDS; i++)
        printf(" %8s", weft_claim_in_band_names[i]);
    putchar('\n');
    for (uint32_t i = 0; i < x->sources; i++)
        print_sums(x->source[i].name, sums[i]);
    print_sums("all", all);
}

enum weft_status verify_sources(const struct verify *v, const char *folder, struct weft_error *ret_error) {
    struct index_of_sources *x = weft_arena_alloc(v->o->arena, 1, sizeof *x);
    x->arena = v->o->arena;
    x->statement = weft_arena_alloc(v->o->arena, STATEMENTS_MAX, sizeof *x->statement);
    enum weft_status status = read_sources(x, folder, ret_error);
    for (const struct verified *s = v->first; s && !status; s = s->next)
        for (uint32_t i = 0; i < s->claims.n && !status; i++)
            status = note_claim(x, s, &s->claims.claim[i], ret_error);
    return status ? status : verify_answer_sources(v, x->statement, x->statements, print_text, x, ret_error);
}
