// SPDX-License-Identifier: Apache-2.0
// What the page of weft report has of weft why: the longest parts and steps.
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "weft/result.h"
#include "why.h"

#include "base/units.h"

enum { PAGE_STEPS = 60, PAGE_PARTS = 100 };

// --- what is shown of many steps ----------------------------------------------------------------------------------

weft_time_ps weft_cli_why_shown_from(const struct weft_why_iteration *why, uint32_t shown, struct weft_arena *arena) {
    if (why->steps <= shown) return 0;
    weft_time_ps *time = weft_arena_alloc(arena, why->steps, sizeof *time);
    for (uint32_t i = 0; i < why->steps; i++)
        time[i] = why->step[i].to_ps - why->step[i].from_ps;
    qsort(time, why->steps, sizeof *time, weft__by_u64);
    return time[why->steps - shown];
}

bool weft_cli_why_together(const struct weft_why_step *s, uint32_t i, weft_time_ps *ret_time, uint32_t *ret_others) {
    const struct weft_why_part *p = &s->part[i];
    *ret_time = 0;
    *ret_others = 0;
    for (uint32_t k = 0; k < s->parts; k++) {
        const struct weft_why_part *o = &s->part[k];
        if (o->kind != p->kind || strcmp(o->where, p->where) != 0) continue;
        if (o->time_ps > p->time_ps || (o->time_ps == p->time_ps && k < i)) return false;
        *ret_time += o->time_ps;
        *ret_others += k != i;
    }
    return true;
}

// --- the page -----------------------------------------------------------------------------------------------------

/// Parts of at least `least_ps`, each with all others of its kind and place.
static void keep_large_parts(struct weft_why_step *s, weft_time_ps least_ps, struct weft_arena *arena) {
    struct weft_why_part *kept = weft_arena_alloc(arena, s->parts, sizeof *kept);
    uint32_t n = 0;
    for (uint32_t i = 0; s->what == WEFT_WHY_STEP_MESSAGE && i < s->parts; i++) {
        weft_time_ps time;
        uint32_t others;
        if (!weft_cli_why_together(s, i, &time, &others) || time < least_ps) continue;
        kept[n] = s->part[i];
        kept[n++].time_ps = time;
    }
    s->part = kept;
    s->parts = n;
}

static void keep_long_steps(struct weft_why_iteration *why, struct weft_arena *arena) {
    weft_time_ps from = weft_cli_why_shown_from(why, PAGE_STEPS, arena);
    uint32_t n = 0;
    for (uint32_t i = 0; i < why->steps && n < PAGE_STEPS; i++) {
        if (why->step[i].to_ps - why->step[i].from_ps < from) continue;
        why->step[n] = why->step[i];
        keep_large_parts(&why->step[n++], why->time_ps / 100, arena);
    }
    why->steps = n;
}

/// The longest parts, and the others as sums of their kind.
static void keep_long_parts(struct weft_why_part **part, uint32_t *parts, struct weft_arena *arena) {
    uint32_t n = *parts, kept = 0, others[WEFT_WHYS] = {0};
    if (n <= PAGE_PARTS) return;
    struct weft_why_part *list = weft_arena_alloc(arena, PAGE_PARTS + WEFT_WHYS, sizeof *list);
    weft_time_ps rest[WEFT_WHYS] = {0}, *time = weft_arena_alloc(arena, n, sizeof *time);
    for (uint32_t i = 0; i < n; i++)
        time[i] = (*part)[i].time_ps;
    qsort(time, n, sizeof *time, weft__by_u64);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_why_part *p = &(*part)[i];
        if (p->time_ps > time[n - PAGE_PARTS - 1]) {
            list[kept++] = *p;
        } else {
            rest[p->kind] += p->time_ps;
            others[p->kind]++;
        }
    }
    for (uint32_t k = 0; k < WEFT_WHYS; k++) {
        const char *where = weft_arena_format(arena, "%s", weft__counted(others[k], "shorter part").text);
        if (others[k])
            list[kept++] =
                (struct weft_why_part){(enum weft_why_kind)k, where, "", rest[k], WEFT_NONE, WEFT_NONE, WEFT_NONE};
    }
    *part = list;
    *parts = kept;
}

void weft_cli_why_json_page(struct weft__json *j, struct weft_cli_why *why, struct weft_arena *arena) {
    static const char *const names[] = {"flows", "iterations", "operations"};
    struct weft_why_answer *found = &why->found;
    for (uint32_t i = 0; i < found->flows; i++)
        keep_long_parts(&found->flow[i].part, &found->flow[i].parts, arena);
    for (uint32_t i = 0; i < found->iterations; i++)
        keep_long_steps(&found->iteration[i], arena);
    for (uint32_t i = 0; i < found->operations; i++)
        keep_long_parts(&found->operation[i].part, &found->operation[i].parts, arena);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        weft__json_key(j, names[i]);
        weft_answer_json_table(j, &weft__answer_why, weft_answer_table(&weft__answer_why, names[i]), found);
    }
    weft__json_key_u64(j, "operation_groups", why->run.workload->rmas);
    weft__json_key_u64(j, "operation_groups_most", WEFT_CLI_WHY_GROUPS);
}
