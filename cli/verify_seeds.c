// SPDX-License-Identifier: Apache-2.0
// Claims over several seeds: one run is one draw of everything random, and a threshold that it just meets says little.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

enum { SEEDS_MAX = 1000, INDENT = 24 };

static bool misunderstood(const char *text) {
    fprintf(stderr, "weft: --seeds: '%s' is not understood; expected at most %d numbers, each once: 1..5, or 1,2,7\n",
            text, SEEDS_MAX);
    return false;
}

static bool number_read(const char **at, uint64_t *ret) {
    char *end;
    if (**at < '0' || **at > '9') return false;
    errno = 0;
    *ret = strtoull(*at, &end, 10);
    *at = end;
    return !errno;
}

static bool add_seed(struct verify *v, uint64_t seed) {
    for (uint32_t i = 0; i < v->seeds; i++)
        if (v->seed[i] == seed) return false;
    if (v->seeds == SEEDS_MAX) return false;
    v->seed[v->seeds++] = seed;
    return true;
}

bool verify_seeds_parse(struct verify *v, const char *text) {
    v->seed = weft_arena_alloc(v->o->arena, SEEDS_MAX, sizeof *v->seed);
    for (const char *at = text;; at++) {
        uint64_t first, last;
        if (!number_read(&at, &first)) return misunderstood(text);
        last = first;
        if (!strncmp(at, "..", 2)) {
            at += 2;
            if (!number_read(&at, &last) || last < first || last - first >= SEEDS_MAX) return misunderstood(text);
        }
        for (uint64_t seed = first; seed - first <= last - first; seed++)
            if (!add_seed(v, seed)) return misunderstood(text);
        if (!*at) return true;
        if (*at != ',') return misunderstood(text);
    }
}

/// A scenario with all its seeds, and the first one of the next.
struct seeds {
    const struct verified *first, *next;
    bool failed; ///< a run went wrong: its claims say nothing
};

static struct seeds seeds_of(const struct verify *v, const struct verified *first) {
    struct seeds all = {first, first, false};
    for (uint32_t i = 0; i < v->seeds; i++, all.next = all.next->next)
        all.failed |= all.next->status && all.next->status != WEFT_ERROR_STALL;
    return all;
}

/// With how many seeds claim `i` holds; *ret_unexpected: not as the claim says.
static uint32_t count(const struct verify *v, const struct seeds *all, uint32_t i, bool *ret_unexpected) {
    uint32_t hold = 0, unexpected = 0;
    for (const struct verified *s = all->first; s != all->next; s = s->next) {
        hold += s->claims.result[i].holds;
        unexpected += weft_report_claim_counts(&s->claims.result[i], 1).unexpected;
    }
    bool some = all->first->claims.claim[i].seeds == WEFT_CLAIM_SEEDS_SOME;
    *ret_unexpected = unexpected || (some && (!hold || hold == v->seeds));
    return hold;
}

bool verify_seeds_unexpected(const struct verify *v) {
    bool unexpected, any = false;
    for (const struct verified *s = v->seeds ? v->first : NULL; s;) {
        struct seeds all = seeds_of(v, s);
        for (uint32_t i = 0; i < s->claims.n && !all.failed; i++) {
            count(v, &all, i, &unexpected);
            any |= unexpected;
        }
        s = all.next;
    }
    return any;
}

struct row {
    uint32_t variants, claims, with_all, with_some, with_none, unexpected;
};

static void print_row(const char *name, int width, struct row r, const char *note) {
    printf("%-*s %8u %7u %9u %10u %10u %11u%s\n", width, name, r.variants, r.claims, r.with_all, r.with_some,
           r.with_none, r.unexpected, note);
}

static struct row row_of(const struct verify *v, const struct seeds *all) {
    struct row r = {.variants = all->first->variants, .claims = all->first->claims.n};
    for (uint32_t i = 0; i < r.claims && !all->failed; i++) {
        bool unexpected;
        uint32_t hold = count(v, all, i, &unexpected);
        r.with_all += hold == v->seeds;
        r.with_some += hold && hold < v->seeds;
        r.with_none += !hold;
        r.unexpected += unexpected;
    }
    return r;
}

static void print_table(const struct verify *v) {
    int width = 8;
    struct row sum = {0};
    for (const struct verified *s = v->first; s; s = s->next)
        if ((int)strlen(s->path) > width) width = (int)strlen(s->path);
    printf("with %u seed%s\n%-*s %8s %7s %9s %10s %10s %11s\n", v->seeds, v->seeds == 1 ? "" : "s", width, "scenario",
           "variants", "claims", "hold, all", "with some", "with none", "unexpected");
    for (const struct verified *s = v->first; s;) {
        struct seeds all = seeds_of(v, s);
        struct row r = row_of(v, &all);
        print_row(s->path, width, r, all.failed ? "  FAILED" : "");
        sum.variants += r.variants;
        sum.claims += r.claims;
        sum.with_all += r.with_all;
        sum.with_some += r.with_some;
        sum.with_none += r.with_none;
        sum.unexpected += r.unexpected;
        s = all.next;
    }
    print_row("all", width, sum, "");
    if (v->without) printf("\n%u file%s without claims left out\n", v->without, v->without == 1 ? "" : "s");
}

static void print_claim(const struct verify *v, const struct seeds *all, uint32_t i, uint32_t hold, bool unexpected) {
    const struct weft_claim *c = &all->first->claims.claim[i];
    char verdict[INDENT];
    snprintf(verdict, sizeof verdict, "%s%u of %u", unexpected ? "UNEXPECTED " : "", hold, v->seeds);
    printf("  %-*s%s%s%s%s%s%s%s\n%*s%s\n", INDENT - 2, verdict, *c->case_name ? "case " : "", c->case_name,
           *c->case_name ? ": " : "", c->text, *c->source ? " (" : "", c->source, *c->source ? ")" : "", INDENT, "",
           c->that);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    for (const struct verified *s = all->first; s != all->next; s = s->next) {
        const struct weft_claim_result *r = &s->claims.result[i];
        printf("%*sseed %llu%s %s\n", INDENT, "", (unsigned long long)s->seed,
               r->holds ? ":    " : ", no:", weft_claim_filled(c, r->value, arena));
    }
    if (*c->reason) printf("%*s%s\n", INDENT, "", c->reason);
    weft_arena_free(arena);
}

/// What does not hold with every seed, or is not as it says.
static void print_claims(const struct verify *v, bool unexpected) {
    for (const struct verified *s = v->first; s;) {
        struct seeds all = seeds_of(v, s);
        bool named = false, own;
        for (uint32_t i = 0; i < s->claims.n && !all.failed; i++) {
            uint32_t hold = count(v, &all, i, &own);
            if (own != unexpected || (!own && hold == v->seeds)) continue;
            if (!named) printf("\n%s\n", s->path);
            named = true;
            print_claim(v, &all, i, hold, own);
        }
        s = all.next;
    }
}

void verify_seeds_print(const struct verify *v) {
    print_table(v);
    print_claims(v, false);
    print_claims(v, true);
}
