// SPDX-License-Identifier: Apache-2.0
// weft timeline: the story of a recorded run.
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "base/units.h"
#include "simulation.h"
#include "weft/perfetto.h"
#include "weft/topology.h"

static struct {
    const char *port, *priority, *flow, *from, *to, *limit, *why, *why_not, *at, *perfetto;
    bool all;
} asked;
static const struct weft_cli_option own[] = {
    {"port", "GLOB", "only events at these ports, and their causes", &asked.port, NULL},
    {"priority", "N", "only this priority", &asked.priority, NULL},
    {"flow", "N", "only this flow", &asked.flow, NULL},
    {"from", "TIME", "only from this time on", &asked.from, NULL},
    {"to", "TIME", "only up to this time", &asked.to, NULL},
    {"limit", "N", "show at most N events below each cause, those with the longest pauses; 0: all (default: one page)",
     &asked.limit, NULL},
    {"all", NULL, "every event by itself", NULL, &asked.all},
    {"why", "PORT/N", "why the port could not send priority N (without /N: the lossless one): its longest pause",
     &asked.why, NULL},
    {"at", "TIME", "with --why: the pause at this time", &asked.at, NULL},
    {"why-not", "PORT/N", "why it was never paused", &asked.why_not, NULL},
    {"perfetto", "FILE", "write the whole run for ui.perfetto.dev, a trace viewer, and print nothing", &asked.perfetto,
     NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "timeline",
    .operands = "DIR",
    .about =
        "Shows the events of a run that weft run or compare has written with --out DIR: which queue crossed which\n"
        "threshold, which port paused which and for how long, each above its consequences. Repeated events are\n"
        "summed up. With several variants in DIR: the first, or the one that --variant names.",
    .accept = WEFT_CLI_VARIANT | WEFT_CLI_REPLACE,
    .answer = &weft__answer_timeline,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
};

enum { PAGE = 100 };

static enum weft_status refuse_option(struct weft_error *error, const char *option, const char *value,
                                      const char *why) {
    return WEFT_REFUSE(error, WEFT_NOWHERE, "--%s %s: %s", option, value, why);
}

/// A time or number from an option; *ret_value is unchanged if it is not given.
static enum weft_status read_value(enum weft__quantity quantity, const char *option, const char *value, uint64_t max,
                                   uint64_t *ret_value, struct weft_error *error) {
    char why[256];
    uint64_t read = 0;
    if (!value) return WEFT_OK;
    if (!weft__quantity_parse(quantity, value, &read, why, sizeof why)) return refuse_option(error, option, value, why);
    if (read > max) {
        snprintf(why, sizeof why, "out of range 0 to %llu", (unsigned long long)max);
        return refuse_option(error, option, value, why);
    }
    *ret_value = read;
    return WEFT_OK;
}

static uint32_t find_port(const struct weft_timeline *t, const char *name, size_t size) {
    for (uint32_t i = 0; i < t->ports; i++)
        if (strlen(t->port[i].name) == size && !strncmp(t->port[i].name, name, size)) return i;
    return WEFT_NONE;
}

/// "leaf-0/3/4": priority 4 of port leaf-0/3. Without a priority: the lowest that counted a pause, or is lossless.
static enum weft_status read_place(const struct timeline_view *v, const char *option, const char *text,
                                   uint32_t *ret_port, uint32_t *ret_priority, struct weft_error *error) {
    size_t size = strlen(text);
    *ret_priority = WEFT_NONE;
    *ret_port = find_port(&v->t, text, size);
    if (*ret_port == WEFT_NONE && size > 2 && text[size - 2] == '/' && text[size - 1] >= '0' && text[size - 1] <= '7') {
        *ret_priority = (uint32_t)(text[size - 1] - '0');
        *ret_port = find_port(&v->t, text, size - 2);
    }
    if (*ret_port == WEFT_NONE) {
        const char **names = weft_arena_alloc(v->arena, v->t.ports, sizeof *names);
        for (uint32_t i = 0; i < v->t.ports; i++)
            names[i] = v->t.port[i].name;
        const char *near = weft_error_nearest(text, names, v->t.ports);
        return WEFT_REFUSE(error, WEFT_NOWHERE,
                           "--%s %s: no such port; expected one of table ports in the results, such as %s, and "
                           "perhaps /PRIORITY",
                           option, text,
                           near         ? near
                           : v->t.ports ? names[0]
                                        : "leaf-0/3");
    }
    for (uint32_t p = 0; p < WEFT_PRIORITIES && *ret_priority == WEFT_NONE; p++)
        if (weft_timeline_at(&v->t, *ret_port, p)->pfc_rx_xoff) *ret_priority = p;
    if (*ret_priority == WEFT_NONE) {
        const char *lossless = weft_timeline_setting(&v->t, v->t.port[*ret_port].peer, "switch.pfc.priorities");
        *ret_priority = lossless && *lossless >= '0' && *lossless <= '7' ? (uint32_t)(*lossless - '0') : 3;
    }
    return WEFT_OK;
}

// --- filters ------------------------------------------------------------------------------------------------------

struct filter {
    weft_time_ps from_ps, to_ps;
    uint64_t priority, flow; ///< UINT64_MAX: any
};

static bool is_asked_port(const struct timeline_view *v, uint32_t p) {
    const struct weft_timeline_port *port = &v->t.port[p];
    return !asked.port || weft_glob_match(asked.port, port->name) || weft_glob_match(asked.port, port->node);
}

static bool is_wanted(const struct timeline_view *v, const struct filter *f, const struct weft_event *e) {
    if (e->time_ps < f->from_ps || e->time_ps > f->to_ps) return false;
    if (f->priority != UINT64_MAX && e->priority != f->priority) return false;
    if (f->flow != UINT64_MAX && e->flow != f->flow) return false;
    return is_asked_port(v, e->port);
}

/// Chooses the requested events, their causes, and how they ended.
static void choose_events(struct timeline_view *v, const struct filter *f) {
    bool *keep = weft_arena_alloc(v->arena, v->t.events, sizeof *keep);
    for (uint32_t i = v->t.events; i--;) {
        const struct weft_event *e = &v->t.event[i];
        keep[i] |= is_wanted(v, f, e);
        if (keep[i] && e->cause) keep[e->cause - 1] = true;
        if (keep[i] && e->begins) keep[e->begins - 1] = true;
    }
    for (uint32_t i = 0; i < v->t.events; i++)
        if (v->t.event[i].begins && keep[v->t.event[i].begins - 1]) keep[i] = true;
    v->keep = keep;
}

static enum weft_status check_filters(const struct timeline_view *v, const struct filter *f, struct weft_error *error) {
    if (f->from_ps > f->to_ps) return WEFT_REFUSE(error, WEFT_NOWHERE, "--from: is after --to; expected it before");
    for (uint32_t p = 0; asked.port && p < v->t.ports; p++)
        if (is_asked_port(v, p)) return WEFT_OK;
    return !asked.port
               ? WEFT_OK
               : WEFT_REFUSE(error, WEFT_NOWHERE, "--port: no port or node matches \"%.200s\"; expected such as %s",
                             asked.port, v->t.ports ? v->t.port[0].name : "leaf-0/0");
}

static enum weft_status read_filters(struct timeline_view *v, struct weft_error *error) {
    struct filter f = {0, WEFT_TIME_NEVER, UINT64_MAX, UINT64_MAX};
    uint64_t limit = 0, flows = v->t.flows ? v->t.flows - 1 : 0;
    enum weft_status status = read_value(WEFT__TIME, "from", asked.from, UINT64_MAX, &f.from_ps, error);
    if (!status) status = read_value(WEFT__TIME, "to", asked.to, UINT64_MAX, &f.to_ps, error);
    if (!status) status = read_value(WEFT__COUNT, "priority", asked.priority, WEFT_PRIORITIES - 1, &f.priority, error);
    if (!status) status = read_value(WEFT__COUNT, "flow", asked.flow, flows, &f.flow, error);
    if (!status) status = read_value(WEFT__COUNT, "limit", asked.limit, UINT32_MAX, &limit, error);
    v->limit = (uint32_t)limit;
    if (!status) status = check_filters(v, &f, error);
    if (!status && (asked.from || asked.to || asked.priority || asked.flow || asked.port)) choose_events(v, &f);
    return status;
}

// --- the whole story ----------------------------------------------------------------------------------------------

static void print_foot(const struct timeline_view *v) {
    if (*v->t.stall) printf("\nThe network made no progress any more.\n%s", v->t.stall);
    if (!v->t.unrecorded) return;
    printf("\nThe record is incomplete from %s on: %s not recorded, because their nodes reached the limit\nrun.events; "
           "run again with --set run.events=N.\n",
           weft__at_us(v->t.unrecorded_ps).text, weft__counted(v->t.unrecorded, "event").text);
}

/// Whether there are only flows and first packets; then the packets' paths are the story.
static bool is_quiet(const struct weft_story *root) {
    for (const struct weft_story *s = root->child; s; s = s->next)
        if (s->kind != WEFT_STORY_FLOW && s->kind != WEFT_STORY_CLASSIFIED) return false;
    return true;
}

/// Prints as much of it as a page holds.
static void print_page(struct timeline_view *v, const struct weft_story *root) {
    static const uint32_t limits[] = {0, 16, 8, 6, 4, 3, 2};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        WEFT__TEXT_STREAM(stream, file);
        size_t lines = 0;
        v->out = file;
        v->limit = limits[k];
        timeline_print_story(v, root);
        const char *text = weft__text_stream_text(&stream);
        for (const char *c = text; (c = strchr(c, '\n')); c++)
            lines++;
        bool enough = lines <= PAGE || k + 1 == sizeof limits / sizeof *limits;
        if (enough) fputs(text, stdout);
        if (enough) break;
    }
    v->out = stdout;
}

static void print_story(struct timeline_view *v) {
    v->classified = asked.flow || asked.port || is_quiet(v->root);
    if (asked.limit)
        timeline_print_story(v, v->root);
    else
        print_page(v, v->root);
}

static void print_run(struct timeline_view *v) {
    printf("%s%s%s: %s in %s\n\n", v->t.scenario, *v->t.variant ? ", variant " : "", v->t.variant,
           weft__counted(v->t.events, "event").text, weft__about_time(v->t.sim_time_ps).text);
    if (asked.all)
        timeline_print_events(v);
    else
        print_story(v);
    print_foot(v);
}

static void print_answer(FILE *file, const void *view) {
    struct timeline_view v = *(const struct timeline_view *)view;
    if (v.why)
        timeline_print_why(&v);
    else if (v.why_not)
        printf("%s, priority %u: %s\n", v.why_not->port, v.why_not->priority, v.why_not->text);
    else
        print_run(&v);
}

static enum weft_status find_reason(struct timeline_view *v, struct weft_error *error) {
    uint32_t port, priority;
    const char *option = asked.why ? "why" : "why-not", *place = asked.why ? asked.why : asked.why_not;
    if (asked.port || asked.priority || asked.flow || asked.from || asked.to || asked.limit || asked.all)
        return refuse_option(error, option, place,
                             "it names port and priority, as in host-7/0/3; expected no filter with it");
    weft_time_ps at = WEFT_TIME_NEVER;
    WEFT_TRY(read_place(v, option, place, &port, &priority, error));
    WEFT_TRY(read_value(WEFT__TIME, "at", asked.at, UINT64_MAX, &at, error));
    if (asked.why) return timeline_find_why(v, port, priority, at, error);
    timeline_find_why_not(v, port, priority);
    return WEFT_OK;
}

/// Writes everything: the viewer has its own filters.
static enum weft_status write_perfetto(const struct weft_cli_options *o, struct weft_error *error) {
    struct weft_perfetto *p;
    if (asked.why || asked.why_not || asked.at || asked.all || asked.port || asked.priority || asked.flow ||
        asked.from || asked.to || asked.limit || o->json || o->csv || o->picks || o->database)
        return refuse_option(error, "perfetto", asked.perfetto,
                             "it has the whole run; expected no option but --variant and --force with it");
    WEFT_TRY(weft_cli_can_write_file("--perfetto", asked.perfetto, o, error));
    WEFT_TRY(weft_perfetto_read(o->operand[0], o->variant, o->arena, &p, error));
    WEFT_TRY(weft_cli_replace_file(asked.perfetto, weft_perfetto_write, p, error));
    uint32_t variants;
    const char *const *name = weft_perfetto_variants(p, &variants);
    if (!o->variant) weft_cli_mention_others("writing", name, variants, "");
    struct weft_perfetto_counts n = weft_perfetto_count(p);
    fprintf(stderr, "weft: wrote %s: %s, %s of jobs, %s with %s, %s%s\n", asked.perfetto,
            weft__counted(n.flows, "flow").text, weft__counted(n.operations, "operation").text,
            weft__counted(n.pauses, "pause").text, weft__counted(n.arrows, "arrow").text,
            weft__counted(n.samples, "sample").text,
            n.samples ? "" : " (run.sample_interval was 0: no queues over time)");
    return WEFT_OK;
}

/// The story and all events, or the one that is asked for; a database has both.
static enum weft_status read_story(const struct weft_cli_options *o, struct timeline_view *v,
                                   struct weft_error *error) {
    if (!v->t.events && !v->t.unrecorded)
        return WEFT_REFUSE(error, WEFT_NOWHERE, "%s: no events are recorded; run.events was 0", o->operand[0]);
    WEFT_TRY(read_filters(v, error));
    v->root = weft_story_new(v->t.event, v->t.events, v->t.ports, v->t.flows, v->keep, v->arena);
    bool table = o->database || o->csv; // --csv and --out give every table
    v->story = !asked.all || table;
    v->events = asked.all || table;
    return WEFT_OK;
}

static enum weft_status answer_question(const struct weft_cli_options *o, struct weft_error *error) {
    struct timeline_view v = {.arena = o->arena, .out = stdout};
    if (asked.perfetto) return write_perfetto(o, error);
    WEFT_TRY(weft_timeline_read(o->operand[0], o->variant, o->arena, &v.t, error));
    if (!o->variant && !o->json) weft_cli_mention_others("showing", v.t.variants_there, v.t.runs, "");
    if (asked.why && asked.why_not) return refuse_option(error, "why", asked.why, "not together with --why-not");
    if (asked.at && !asked.why) return refuse_option(error, "at", asked.at, "expected with --why");
    WEFT_TRY(asked.why || asked.why_not ? find_reason(&v, error) : read_story(o, &v, error));
    return weft_cli_answer(o, &weft__answer_timeline, &v, print_answer, error);
}

int weft_cli_timeline(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, answer_question);
}
