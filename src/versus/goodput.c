// SPDX-License-Identifier: Apache-2.0
// What failures leave of a month of a job on each fabric: the model of weft goodput, with the parts of the fabric as it
// is built for the job's GPUs, and with the slowdowns that the cases of this versus measure. Source of the model and of
// its rates: weft/goodput.h, src/goodput/conf.c.
//
// What is taken for granted: a host of the fabric is a GPU with its NIC; hosts of a server share their leaf; what a
// lost link or switch costs the job at the compared number of hosts, it costs it at its own.
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "versus/versus.h"
#include "weft/error.h"
#include "weft/goodput.h"
#include "weft/tree.h"

/// Parts of the fabric at the job's size.
struct parts {
    uint64_t leaves, switches, links; ///< with hosts; without; between them
};

static struct parts parts_of(const struct weft_fabric_plan *plan) {
    struct parts parts = {.leaves = plan->layers ? plan->layer[0].chips : 0};
    for (uint32_t i = 1; i < plan->layers; i++)
        parts.switches += plan->layer[i].chips;
    for (uint32_t i = 0; i < plan->cables; i++)
        if (plan->cable[i].chip_ends == 2) parts.links += plan->cable[i].links;
    return parts;
}

static enum weft_goodput_attachment attachment_of(const struct weft_versus_fabric *f) {
    if (f->at_job->planes > 1) return WEFT_GOODPUT_PLANES;
    return strcmp(f->kind, "dsf") ? WEFT_GOODPUT_SINGLE_TOR : WEFT_GOODPUT_DSF;
}

/// A text, which may be written as a list of one; "": it is none.
static const char *text_of(const struct weft_tree *said) {
    if (said && said->type == WEFT_TREE_LIST) said = said->n ? said->child[0] : NULL;
    return said && said->type == WEFT_TREE_TEXT ? said->text : "";
}

/// Whether the job's section says `key` of its part `name`.
static bool says_part(const struct weft_tree *section, const char *name, const char *key) {
    const struct weft_tree *list = weft_tree_find(section, "parts");
    for (uint32_t i = 0; list && i < list->n; i++) {
        const char *said = text_of(weft_tree_find(list->child[i], "name"));
        if (!strcmp(said, name) && weft_tree_find(list->child[i], key)) return true;
    }
    return false;
}

static struct weft_goodput_part *part_named(struct weft_goodput_conf *c, const char *name) {
    for (uint32_t i = 0; i < c->parts; i++)
        if (!strcmp(c->part[i].name, name)) return &c->part[i];
    return NULL;
}

/// The share of an iteration of the first case in which no rank on its critical path computes; NAN: not known.
static double communication_of(const struct weft_versus *v, uint32_t fabric, struct weft_arena *arena) {
    if (!v->n_cases || v->fabric[fabric].status != WEFT_VERSUS_RAN || !v->results) return NAN;
    const struct weft__versus_where where = weft__versus_where(v, fabric, 0, arena);
    if (where.of != WEFT__VERSUS_WHERE_ITERATION || !(where.total_ps > 0)) return NAN;
    return 1 - where.part_ps[WEFT_WHY_COMPUTE] / where.total_ps;
}

/// The most that a case with such an element gone takes of its healthy one.
static void take_slowdown(const struct weft_versus *v, uint32_t fabric, enum weft_versus_domain_kind domain,
                          struct weft_goodput_part *part, struct weft_arena *arena) {
    bool ran = v->results && v->fabric[fabric].status == WEFT_VERSUS_RAN;
    for (uint32_t c = 0; c < v->n_cases && ran; c++) {
        const struct weft_versus_failure *failure = v->cases[c].failure;
        if (!failure || failure->kind != WEFT_VERSUS_GONE || failure->domain != domain) continue;
        const struct weft_spread over = weft_versus_degradation(v, fabric, c, arena);
        if (!over.n || (part->measured && !(over.mean > part->slowdown))) continue;
        part->slowdown = fmax(1, over.mean);
        part->slowdown_half = over.half;
        part->measured = true;
    }
}

/// The job's section, and over it what the fabric says (WEFT_NONE: none).
static enum weft_status lay_over(const struct weft_versus *v, uint32_t fabric, const struct weft_tree *section,
                                 struct weft_arena *arena, struct weft_tree **ret_section,
                                 struct weft_error *ret_error) {
    const struct weft_versus_fabric *f = fabric == WEFT_NONE ? NULL : &v->fabric[fabric];
    const struct weft_tree empty = {.type = WEFT_TREE_MAP};
    struct weft_tree *said = NULL, *over = NULL;
    double communication = f ? communication_of(v, fabric, arena) : (double)NAN;
    const char *text = weft_arena_format(arena, "{gpus: %llu", (unsigned long long)v->gpus);
    if (f) text = weft_arena_format(arena, "%s, attachment: %s", text, weft_goodput_attachments[attachment_of(f)]);
    if (f && f->at_job->planes > 1) text = weft_arena_format(arena, "%s, planes: %u", text, f->at_job->planes);
    if (!isnan(communication) && !weft_tree_find(section, "communication"))
        text = weft_arena_format(arena, "%s, communication: %.6f", text, communication);
    text = weft_arena_format(arena, "%s}", text);
    enum weft_status status = weft_tree_override(&empty, section ? section : &empty, arena, &said, ret_error);
    if (!status) status = weft_tree_parse("--goodput", text, strlen(text), arena, &over, ret_error);
    return status ? status : weft_tree_override(said, over, arena, ret_section, ret_error);
}

/// Numbers of the fabric's parts, but those that the section says.
static void count_parts(struct weft_goodput_conf *c, const struct weft_versus_fabric *f,
                        const struct weft_tree *section) {
    const struct parts parts = parts_of(f->at_job);
    struct weft_goodput_part *leaf = part_named(c, "switch"), *link = part_named(c, "fabric_link"),
                             *upper = part_named(c, "fabric_switch");
    if (parts.leaves && !says_part(section, "switch", "count")) {
        leaf->count = (double)parts.leaves;
        if (leaf->effect == WEFT_GOODPUT_CRASH && !says_part(section, "switch", "servers"))
            leaf->servers = ceil((double)c->gpus / (double)c->gpus_per_server / leaf->count);
    }
    if (!says_part(section, "fabric_link", "count")) link->count = (double)parts.links;
    if (!says_part(section, "fabric_switch", "count")) upper->count = (double)parts.switches;
}

/// Cases measure what a lost part costs here; a part of which the job says a variant would not be.
static enum weft_status refuse_variants(const struct weft_tree *section, struct weft_error *ret_error) {
    const struct weft_tree *list = weft_tree_find(section, "parts"), *said = weft_tree_find(section, "base");
    if (*text_of(said))
        return WEFT_REFUSE(ret_error, said->place,
                           "goodput.base: --goodput runs no variants of the job; expected no base, or null");
    for (uint32_t i = 0; list && i < list->n; i++) {
        said = weft_tree_find(list->child[i], "variant");
        if (*text_of(said))
            return WEFT_REFUSE(ret_error, said->place,
                               "goodput.parts.%u.variant: --goodput runs no variants of the job: cases in which a link "
                               "or switch fails measure slowdowns; expected slowdown, or null",
                               i);
    }
    return WEFT_OK;
}

enum weft_status weft_versus_goodput(struct weft_versus *v, const struct weft_tree *section, struct weft_arena *arena,
                                     struct weft_error *ret_error) {
    struct weft_tree *said;
    struct weft_goodput_conf conf;
    if (!v->gpus) return WEFT_OK;
    enum weft_status status =
        lay_over(v, WEFT_NONE, section, arena, &said, ret_error); // also if no fabric can be built
    if (!status) status = weft_goodput_load(said, arena, &conf, ret_error);
    if (!status) status = refuse_variants(section, ret_error);
    for (uint32_t i = 0; i < v->fabrics && !status; i++) {
        struct weft_versus_fabric *f = &v->fabric[i];
        if (f->is_ruler || !f->at_job || *f->at_job->reason) continue;
        status = lay_over(v, i, section, arena, &said, ret_error);
        if (!status) status = weft_goodput_load(said, arena, &conf, ret_error);
        if (status) return status;
        count_parts(&conf, f, section);
        take_slowdown(v, i, WEFT_VERSUS_LINK, part_named(&conf, "fabric_link"), arena);
        take_slowdown(v, i, WEFT_VERSUS_SWITCH, part_named(&conf, "fabric_switch"), arena);
        f->goodput = weft_arena_alloc(arena, 1, sizeof *f->goodput);
        weft_goodput_find(&conf, arena, f->goodput);
    }
    return status;
}

// --- in words -----------------------------------------------------------------------------------------------------

static bool is_asked(const struct weft_versus *v, uint32_t f) {
    return v->gpus && !v->fabric[f].is_ruler && v->fabric[f].at_job;
}

/// What failures of its own links and switches cost the job.
static double fabric_cost(const struct weft_goodput *g) {
    static const char *const own[] = {"link", "switch", "fabric_link", "fabric_switch"};
    double cost = 0;
    for (uint32_t i = 0; i < g->conf.parts; i++)
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            if (!strcmp(g->conf.part[i].name, own[k])) cost += g->conf.part[i].cost;
    return cost;
}

static void put_slowdown(FILE *file, const struct weft_goodput *g, const char *name) {
    for (uint32_t i = 0; i < g->conf.parts; i++)
        if (!strcmp(g->conf.part[i].name, name))
            fprintf(file, " %16s", weft_goodput_slowdown_text(&g->conf.part[i]).text);
}

void weft__versus_goodput_text(FILE *file, const struct weft_versus *v) {
    bool head = false;
    for (uint32_t f = 0; f < v->fabrics; f++) {
        if (!is_asked(v, f)) continue;
        const struct weft_goodput *g = v->fabric[f].goodput;
        if (!head)
            fprintf(
                file,
                "\nwhat failures leave of a month of a job of %llu GPUs (link, switch: slowdown by the loss of "
                "one of the fabric's, measured with %llu hosts; +-: half of the 95%% interval; ?: assumed)\n  %-14s "
                "%-10s %8s %16s %11s %12s %16s %16s\n",
                (unsigned long long)v->gpus, (unsigned long long)v->hosts, "fabric", "attachment", "goodput",
                "90% of months", "crash every", "fabric cost", "link", "switch");
        head = true;
        if (!g) {
            fprintf(file, "  %-14s cannot be built for them: %s\n", v->fabric[f].name, v->fabric[f].at_job->reason);
            continue;
        }
        fprintf(file, "  %-14s %-10s %7.2f%%", v->fabric[f].name, weft_goodput_attachments[g->conf.attachment],
                100 * g->goodput);
        if (isnan(g->simulated)) // crashes are too many
            fprintf(file, " %16s", "-");
        else
            fprintf(file, " %7.1f%% to %4.1f%%", 100 * g->month_low, 100 * g->month_high);
        fprintf(file, " %9.3g h %11.2f%%", g->mtbf_h, 100 * fabric_cost(g));
        put_slowdown(file, g, "fabric_link");
        put_slowdown(file, g, "fabric_switch");
        fputc('\n', file);
    }
}

void weft__versus_goodput_say(FILE *file, const struct weft_versus *v) {
    const struct weft_versus_fabric *most = NULL, *least = NULL;
    uint32_t unbuilt = 0;
    for (uint32_t f = 0; f < v->fabrics; f++) {
        const struct weft_versus_fabric *at = &v->fabric[f];
        if (!is_asked(v, f)) continue;
        unbuilt += !at->goodput;
        if (!at->goodput) continue;
        if (!most || at->goodput->goodput > most->goodput->goodput) most = at;
        if (!least || at->goodput->goodput < least->goodput->goodput) least = at;
    }
    if (!most) return;
    fprintf(file, " Failures leave a job of %llu GPUs %.2f%% of a month on %s", (unsigned long long)v->gpus,
            100 * most->goodput->goodput, most->name);
    if (most->goodput->goodput - least->goodput->goodput >= 5e-5)
        fprintf(file, ", %.2f%% on %s", 100 * least->goodput->goodput, least->name);
    if (unbuilt) fprintf(file, "; %s cannot be built for them", weft__counted(unbuilt, "fabric").text);
    fputc('.', file);
}
