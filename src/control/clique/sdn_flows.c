// SPDX-License-Identifier: Apache-2.0
// Flow manager and switch front-end: from flows by class of ports to writes of entries, in order; the effect of a
// write; and what is found when a session is established again.
#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "control/clique/sdn_run.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;
enum { VCS = WEFT__SDN_VCS };

void weft__sdn_session_grow(struct weft_sdn *s, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    uint32_t wanted = s->groups.tin[tin].capacity, had = e->presents;
    if (wanted <= had) return;
    e->present = weft_memory_resize(KIND, e->present, had * sizeof(bool), wanted * sizeof(bool));
    e->expected = weft_memory_resize(KIND, e->expected, had * sizeof(bool), wanted * sizeof(bool));
    e->refs = weft_memory_resize(KIND, e->refs, had * sizeof *e->refs, wanted * sizeof *e->refs);
    memset(e->present + had, 0, (wanted - had) * sizeof(bool));
    memset(e->expected + had, 0, (wanted - had) * sizeof(bool));
    memset(e->refs + had, 0, (wanted - had) * sizeof *e->refs);
    e->presents = wanted;
    s->present[tin] = e->present;
}

void weft__sdn_queue(struct weft_sdn *s, uint32_t tin, struct weft__sdn_op op) {
    struct weft__sdn_session *e = &s->session[tin];
    WEFT__ADD_DOUBLE(KIND, e->op, e->n, e->capacity, 64) = op;
}

/// A flow by class of inputs becomes an entry for each port of the class.
static void expand_flow(struct weft_sdn *s, uint32_t tin, uint32_t column, uint32_t row, uint32_t group) {
    for (uint32_t slot = 0; slot < s->wiring->slots; slot++) {
        bool port = !slot || ((s->f->tin[tin].local | s->f->tin[tin].global) >> (slot - 1) & 1);
        if (port && weft__sdn_input_of(s->f, tin, slot) == row / VCS)
            weft__sdn_queue(s, tin,
                            (struct weft__sdn_op){WEFT__SDN_FLOW, column, slot * VCS + row % VCS, group, false});
    }
}

static void shuffle_ops(struct weft_sdn *s, uint32_t tin, uint32_t from) {
    struct weft__sdn_session *e = &s->session[tin];
    for (uint32_t i = e->n; i > from + 1; i--) {
        uint32_t other = from + (uint32_t)weft_random_below(&s->random, i - from);
        struct weft__sdn_op swapped = e->op[i - 1];
        e->op[i - 1] = e->op[other];
        e->op[other] = swapped;
    }
}

static void sort_tin(struct weft_sdn *s, weft_time_ps now, uint32_t first, uint32_t end) {
    uint32_t tin = s->plan.change[first].tin, from = s->session[tin].n;
    struct weft__sdn_session *e = &s->session[tin];
    uint32_t left = end - first, lefts = 0, *unused = weft_memory_new(KIND, left, sizeof *unused);
    weft__sdn_session_grow(s, tin);
    for (uint32_t i = first; i < end; i++) {
        uint32_t group = s->plan.change[i].group;
        if (!group || e->refs[group]++) continue;
        s->now_outcome->groups++;
        weft__sdn_queue(s, tin, (struct weft__sdn_op){WEFT__SDN_GROUP_ADD, 0, 0, group, false});
    }
    for (uint32_t i = first; i < end; i++) {
        const struct weft__sdn_change *c = &s->plan.change[i];
        uint32_t *entry = weft__sdn_entry(&s->meant, c->column, tin, c->row), old = *entry;
        *entry = c->group;
        s->now_outcome->flows++;
        expand_flow(s, tin, c->column, c->row, c->group);
        if (old && !--e->refs[old]) unused[lefts++] = old;
    }
    for (uint32_t i = 0; i < lefts; i++) {
        if (e->refs[unused[i]]) continue; // used again, or listed twice
        s->now_outcome->groups++;
        weft__sdn_queue(s, tin, (struct weft__sdn_op){WEFT__SDN_GROUP_DEL, 0, 0, unused[i], false});
    }
    weft_memory_free(KIND, unused, left * sizeof *unused);
    if (s->conf->ordering == WEFT_SDN_NONE) shuffle_ops(s, tin, from);
    if (e->n == from) return; // flows of a class of which the TiN has no port
    s->now_outcome->tins += !s->programmed[tin];
    s->programmed[tin] = true;
    s->waiting++;
    weft__sdn_ask(s, now, tin, WEFT__SDN_BATCH, e->n - from);
}

void weft__sdn_ask(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t what, uint32_t ops) {
    s->session[tin].asked[what] = true;
    weft__sdn_tell(s, now, WEFT_SDN_PROGRAM, s->conf->call_ps, tin, ops);
}

void weft__sdn_sort_batch(struct weft_sdn *s, weft_time_ps now, uint32_t first, uint32_t end) {
    while (first < end) {
        uint32_t next = first;
        while (next < end && s->plan.change[next].tin == s->plan.change[first].tin)
            next++;
        sort_tin(s, now, first, next);
        first = next;
    }
}

// --- what is programmed -------------------------------------------------------------------------------------------

/// Whether cells for `dst` use the column at some TiN.
static bool concerns_column(const struct weft_sdn *s, uint32_t tin, uint32_t column, uint32_t dst) {
    const struct weft_tin *to = &s->f->tin[dst];
    uint32_t pods0 = s->columns.places, own0 = pods0 + s->f->pods;
    if (column < pods0) return to->pod == s->f->tin[tin].pod && to->place == column;
    if (column < own0) return to->pod == column - pods0;
    return s->columns.special[column - own0] == dst;
}

static void settle_walks(struct weft_sdn *s, weft_time_ps now, uint32_t dst, bool because_of_write) {
    struct weft__sdn_turned known = weft__sdn_walk_settle(&s->walk_known, dst);
    struct weft__sdn_turned real = weft__sdn_walk_settle(&s->walk_real, dst);
    if (because_of_write) {
        // The purpose of batches. Of the paths that lead there over the links of the plan, a write may break only those
        // whose source the plan leaves without any: that removes them on purpose. It happens to TiNs that are cut off,
        // and to a few that are not: in a heavily damaged Clique, entries of older plans may still provide detours
        // where the rules of the tables no longer find a path.
        assert(!known.broken || s->conf->ordering != WEFT_SDN_SEQUENCED || s->result->tampered);
        s->now_outcome->holes += known.broken;
    }
    if (real.found) s->now_outcome->restored_ps = now - s->event_ps;
    s->lost_pairs += real.broken + real.given_up;
    s->lost_pairs -= real.found;
}

static void renew_walks(struct weft_sdn *s, uint32_t dst, uint32_t tin, uint32_t row) {
    struct weft__sdn_state state = {(uint16_t)tin, (uint8_t)(row / VCS), (uint8_t)(row % VCS)};
    weft__sdn_walk_renew(&s->walk_known, dst, state);
    weft__sdn_walk_renew(&s->walk_real, dst, state);
}

void weft__sdn_look(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    for (uint32_t d = 0; d < s->f->tins && s->result->checked; d++) {
        for (uint32_t row = 0; row < s->tables.rows; row++)
            renew_walks(s, d, tin, row);
        settle_walks(s, now, d, false);
    }
}

void weft__sdn_look_at_ports(struct weft_sdn *s, weft_time_ps now, struct weft__sdn_walk *walk,
                             const uint64_t *before) {
    for (uint32_t d = 0; d < s->f->tins && s->result->checked; d++) {
        for (uint32_t x = 0; x < s->f->tins; x++)
            for (uint32_t row = 0; row < s->tables.rows && walk->up[x] != before[x]; row++)
                weft__sdn_walk_renew(walk, d,
                                     (struct weft__sdn_state){(uint16_t)x, (uint8_t)(row / VCS), (uint8_t)(row % VCS)});
        settle_walks(s, now, d, false);
    }
}

static bool is_named(const struct weft_sdn *s, uint32_t tin, uint32_t group) {
    for (uint32_t c = 0; c < weft__sdn_columns(&s->columns); c++)
        for (uint32_t row = 0; row < s->tables.rows; row++)
            if (weft__sdn_get(&s->tables, c, tin, row) == group) return true;
    return false;
}

/// Entries that refer to a group; in the flow manager's order of writes there are none.
static void look_at_group(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t group) {
    if (!is_named(s, tin, group)) return;
    for (uint32_t d = 0; d < s->f->tins; d++) {
        for (uint32_t row = 0; row < s->tables.rows; row++)
            if (d != tin && weft__sdn_lookup(&s->tables, tin, row, d) == group) renew_walks(s, d, tin, row);
        settle_walks(s, now, d, true);
    }
}

void weft__sdn_write(struct weft_sdn *s, weft_time_ps now, uint32_t tin, struct weft__sdn_op op) {
    struct weft__sdn_session *e = &s->session[tin];
    weft__sdn_note_write(s, now, tin, op);
    if (op.kind == WEFT__SDN_FLOW)
        *weft__sdn_entry(&s->tables, op.column, tin, op.row) = op.group;
    else if (op.kind == WEFT__SDN_EGRESS)
        e->egress = op.group;
    else
        e->present[op.group] = op.kind == WEFT__SDN_GROUP_ADD;
    if (!s->result->checked || op.kind == WEFT__SDN_EGRESS) return;
    if (op.kind != WEFT__SDN_FLOW) {
        look_at_group(s, now, tin, op.group);
        return;
    }
    for (uint32_t d = 0; d < s->f->tins; d++) {
        if (d == tin || !concerns_column(s, tin, op.column, d)) continue;
        renew_walks(s, d, tin, op.row);
        settle_walks(s, now, d, true);
    }
}

// --- reconciliation -----------------------------------------------------------------------------------------------

static void add_op(struct weft__sdn_op op, struct weft__sdn_op **list, uint32_t *n, uint32_t *capacity) {
    *list = weft__memory_double(KIND, *list, *n, capacity, 64, sizeof **list);
    (*list)[(*n)++] = op;
}

uint32_t weft__sdn_reconcile(struct weft_sdn *s, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    struct weft__sdn_op *list = NULL;
    uint32_t n = 0, capacity = 0;
    for (uint32_t g = 1; g < e->presents; g++)
        if (e->expected[g] && !e->present[g])
            add_op((struct weft__sdn_op){WEFT__SDN_GROUP_ADD, 0, 0, g, false}, &list, &n, &capacity);
    for (uint32_t c = 0; c < weft__sdn_columns(&s->columns); c++)
        for (uint32_t row = 0; row < s->tables.rows; row++) {
            uint32_t is = weft__sdn_get(&s->tables, c, tin, row), shall = weft__sdn_get(&s->expected, c, tin, row);
            if (is != shall) add_op((struct weft__sdn_op){WEFT__SDN_FLOW, c, row, shall, false}, &list, &n, &capacity);
        }
    for (uint32_t g = 1; g < e->presents; g++)
        if (!e->expected[g] && e->present[g])
            add_op((struct weft__sdn_op){WEFT__SDN_GROUP_DEL, 0, 0, g, false}, &list, &n, &capacity);
    if (e->egress != e->egress_sent)
        add_op((struct weft__sdn_op){WEFT__SDN_EGRESS, 0, 0, e->egress_sent, false}, &list, &n, &capacity);
    uint32_t unsent = e->n - e->sent;
    for (uint32_t i = 0; i < unsent; i++)
        add_op(e->op[e->sent + i], &list, &n, &capacity);
    weft_memory_free(KIND, e->op, e->capacity * sizeof *e->op);
    e->given = n - (e->n - e->given);
    e->op = list;
    e->n = n;
    e->capacity = capacity;
    e->sent = e->there = e->written = e->confirmed = 0;
    return n - unsent;
}

uint64_t weft_sdn_differences(const struct weft_sdn *s) {
    uint64_t n = 0;
    for (uint32_t x = 0; x < s->f->tins; x++) {
        const struct weft__sdn_session *e = &s->session[x];
        for (uint32_t g = 1; g < e->presents; g++)
            n += e->present[g] != (e->refs[g] > 0);
        for (uint32_t c = 0; c < weft__sdn_columns(&s->columns); c++)
            for (uint32_t row = 0; row < s->tables.rows; row++) {
                uint32_t slot = row / VCS, port = slot - 1;
                if (slot && !((s->f->tin[x].local | s->f->tin[x].global) >> port & 1)) continue;
                uint32_t class_row = weft__sdn_input_of(s->f, x, slot) * VCS + row % VCS;
                n += weft__sdn_get(&s->tables, c, x, row) != weft__sdn_get(&s->meant, c, x, class_row);
            }
    }
    return n;
}
