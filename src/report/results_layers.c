// SPDX-License-Identifier: Apache-2.0
// Results of links between layers: balance, collisions, load.

#include "results/rows.h"

/// What all these lists share.
struct list {
    uint32_t n;
    const void *entry;
};

static struct list *list_of(struct weft_result_cursor *c, const void *entry, uint32_t n) {
    struct list *l = weft_arena_alloc(c->arena, 1, sizeof *l);
    *l = (struct list){n, entry};
    return l;
}

static bool next_entry(struct weft_result_cursor *c, size_t size) {
    const struct list *l = c->state;
    if (c->at == l->n) return false;
    c->part[0] = (const char *)l->entry + c->at++ * size;
    return true;
}

/// The list that weft_report_<name> makes, and a walk over it.
#define LIST(name, T)                                                                                                  \
    static struct list *name##_of(struct weft_result_cursor *c) {                                                      \
        uint32_t n;                                                                                                    \
        const T *entry = weft_report_##name(c->run, c->arena, &n);                                                     \
        return list_of(c, entry, n);                                                                                   \
    }                                                                                                                  \
    static bool next_##name(struct weft_result_cursor *c) {                                                            \
        if (!c->state) c->state = name##_of(c);                                                                        \
        return next_entry(c, sizeof(T));                                                                               \
    }
/// The same for links in one direction.
#define DIRECTED_LIST(name, T)                                                                                         \
    LIST(name, T)                                                                                                      \
    static struct weft_result_value name##_direction(struct weft_result_cursor *c) {                                   \
        return WEFT__RESULT_TEXT(weft_balance_directions[((const T *)c->part[0])->direction]);                         \
    }

#define SENDS "layer of switches at the links' sending end"
#define GETS "layer of switches at the links' receiving end"
#define DIRECTION(function)                                                                                            \
    WEFT_RESULT_CALL(function, "direction", TEXT,                                                                      \
                     "up, down or across tiers; between TiNs local, within a pod, or global")

// --- balance ------------------------------------------------------------------------------------------------------

DIRECTED_LIST(balance, struct weft_balance)

#define BALANCE(field, kind, ...) WEFT_RESULT(struct weft_balance, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_balance = WEFT_RESULT_TABLE_OF(
    "balance", MAP, "a pair of layers of switches: how evenly the links between them were used", .next = next_balance,
    WEFT_RESULT_BETWEEN(struct weft_balance, SENDS, GETS), DIRECTION(balance_direction),
    BALANCE(links, COUNT, "links between the layers"), BALANCE(idle, COUNT, "links that sent nothing"),
    BALANCE(bytes, BYTES, "bytes of frames sent over the links between the layers"),
    BALANCE(max_mean, REAL, "bytes of the busiest link over the mean of links"),
    BALANCE(min_mean, REAL, "bytes of the least busy link over the mean of links"),
    BALANCE(switch_max_mean, REAL,
            "bytes of the busiest link over the mean among the links of one switch; the greatest of any switch"),
    BALANCE(jain, REAL, "Jain's index of the links' bytes: 1 if all are equal, 1/n if one of n has it all"));

// --- collisions ---------------------------------------------------------------------------------------------------

WEFT_RESULT_PRESENT(has_flows_counted, run->scenario->run.count_flows)

DIRECTED_LIST(collisions, struct weft_collisions)

#define MET(field, kind, ...) WEFT_RESULT(struct weft_collisions, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_collisions = WEFT_RESULT_TABLE_OF(
    "collisions", MAP, "a pair of layers of switches, with run.count_flows: how many queue pairs met on links",
    WEFT_RESULT_AND(.next = next_collisions, .present = has_flows_counted),
    WEFT_RESULT_BETWEEN(struct weft_collisions, SENDS, GETS), DIRECTION(collisions_direction),
    MET(switches, COUNT, "switches that had a choice of links in this direction and sent queue pairs over them"),
    MET(clear, COUNT, "switches that made a choice of links and let no two queue pairs share one"),
    MET(links, COUNT, "links that switches had to choose from"),
    MET(flows, COUNT,
        "queue pairs on links that switches had to choose from; one that used several links counts on each"),
    MET(most, COUNT, "most queue pairs on one link"),
    MET(switch_most, REAL, "most queue pairs on one link of a switch, mean over switches"),
    MET(shared, COUNT, "links with at least two queue pairs"), MET(empty, COUNT, "links without a queue pair"));

struct with {
    const char *layers;
    uint64_t flows;
};

static bool next_with(struct weft_result_cursor *c) {
    const struct weft_collisions *l = c->above->part[0];
    struct with *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    if (c->at > l->most) return false;
    *row = (struct with){l->key, c->at};
    c->part[0] = row;
    c->part[1] = &l->with[c->at++];
    return true;
}

struct links {
    uint32_t links;
};
const struct weft_result_table weft__results_collisions_with = WEFT_RESULT_TABLE_OF(
    "collisions.with", ARRAY, "a number of queue pairs, from 0 to the most on one link",
    WEFT_RESULT_AND(.next = next_with, .was = "collision_links"),
    WEFT_RESULT(struct with, layers, TEXT, "both layers, such as leaf-spine, as in collisions",
                .references = "collisions", .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE),
    WEFT_RESULT(struct with, flows, COUNT, "number of queue pairs", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_AT(1, struct links, links, "links", COUNT, "links with this number of queue pairs"));

// --- load ---------------------------------------------------------------------------------------------------------

WEFT_RESULT_PRESENT(has_samples, run->scenario->run.sample_interval_ps > 0)

DIRECTED_LIST(load, struct weft_load)

#define LOAD(field, kind, ...) WEFT_RESULT(struct weft_load, field, kind, __VA_ARGS__)
#define USED "utilisation of a link (bytes of frames over its rate), mean of active intervals: "
const struct weft_result_table weft__results_load = WEFT_RESULT_TABLE_OF(
    "load", MAP, "a pair of layers of switches with sampled links, with run.sample_interval: load over the run",
    WEFT_RESULT_AND(.next = next_load, .present = has_samples), WEFT_RESULT_BETWEEN(struct weft_load, SENDS, GETS),
    DIRECTION(load_direction), LOAD(links, COUNT, "links of this pair of layers that were sampled"),
    LOAD(intervals, COUNT, "intervals between samples"), LOAD(active, COUNT, "intervals in which anything was sent"),
    LOAD(min, REAL, USED "least of any link"), LOAD(p10, REAL, USED "10th percentile over links"),
    LOAD(p50, REAL, USED "median over links"), LOAD(p90, REAL, USED "90th percentile over links"),
    LOAD(max, REAL, USED "greatest of any link"), LOAD(mean, REAL, USED "mean over links"),
    LOAD(max_mean_p50, REAL, "busiest link over the mean of its interval, median over active intervals"),
    LOAD(max_mean_worst, REAL, "busiest link over the mean of its interval, greatest of any active interval"));

// --- bursts -------------------------------------------------------------------------------------------------------

LIST(bursts, struct weft_bursts)

#define BURST(field, kind, ...) WEFT_RESULT(struct weft_bursts, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_bursts = WEFT_RESULT_TABLE_OF(
    "bursts", MAP, "a layer of hosts, with run.sample_interval: when its NICs sent and when they did not",
    WEFT_RESULT_AND(.next = next_bursts, .present = has_samples),
    BURST(layer, TEXT, "layer of hosts", .flags = WEFT_RESULT_KEY), BURST(nics, COUNT, "sampled ports of hosts"),
    BURST(bursts, COUNT, "runs of samples in which a NIC used a tenth of its link at least, over all NICs"),
    BURST(on, REAL, "part of the time in bursts, mean over NICs"), BURST(burst_ps, TIME, "length of a burst, mean"),
    BURST(gap_ps, TIME, "from one burst of a NIC to its next, mean"),
    BURST(used, REAL, "utilisation of a NIC's link (bytes of frames over its rate) in bursts, mean over samples"),
    BURST(most, REAL, "utilisation of a NIC's link (bytes of frames over its rate) in a sample, greatest of any"));

/// Part 0 is the interval, part 1 what is computed.
struct interval {
    const struct list *loads;
    const char *layers;
    uint32_t load, at, links, flows_max, shared, empty;
};

static bool next_interval(struct weft_result_cursor *c) {
    struct interval *i = c->state;
    if (!i) {
        i = c->state = weft_arena_alloc(c->arena, 1, sizeof *i);
        i->loads = load_of(c);
    }
    const struct weft_load *load = i->loads->entry;
    while (i->load < i->loads->n && i->at == load[i->load].intervals) {
        i->load++;
        i->at = 0;
    }
    if (i->load == i->loads->n) return false;
    const struct weft_load_interval *x = &load[i->load].interval[i->at++];
    bool counted = c->run->outcome->port_flows;
    i->layers = load[i->load].key;
    i->links = load[i->load].links;
    i->flows_max = counted ? x->flows_max : WEFT_NONE;
    i->shared = counted ? x->shared : WEFT_NONE;
    i->empty = counted ? x->unused : WEFT_NONE;
    c->part[0] = x;
    c->part[1] = i;
    return true;
}

#define SPAN(field, kind, ...) WEFT_RESULT(struct weft_load_interval, field, kind, __VA_ARGS__)
#define SEEN(field, kind, ...) WEFT_RESULT_AT(1, struct interval, field, #field, kind, __VA_ARGS__)
#define MOMENT "utilisation of a link in the interval (bytes of frames over its rate): "
const struct weft_result_table weft__results_load_intervals = WEFT_RESULT_TABLE_OF(
    "load_intervals", APART, "a pair of layers of switches and an interval between two samples",
    WEFT_RESULT_AND(.next = next_interval, .present = has_samples, .was = "load"),
    SEEN(layers, TEXT, "both layers, such as leaf-spine, as in load", .references = "load", .flags = WEFT_RESULT_KEY),
    SPAN(from_ps, TIME, "when the interval began", .flags = WEFT_RESULT_KEY),
    SPAN(until_ps, TIME, "when the interval ended"),
    SEEN(links, COUNT, "links of this pair of layers that were sampled"), SPAN(min, REAL, MOMENT "least of any link"),
    SPAN(p10, REAL, MOMENT "10th percentile over links"), SPAN(p50, REAL, MOMENT "median over links"),
    SPAN(p90, REAL, MOMENT "90th percentile over links"), SPAN(max, REAL, MOMENT "greatest of any link"),
    SPAN(mean, REAL, MOMENT "mean over links"),
    SPAN(max_mean, REAL, "busiest link over the mean of links in the interval"),
    SEEN(flows_max, COUNT, "most queue pairs on a link in the interval, with run.count_flows"),
    SEEN(shared, COUNT, "links with at least two queue pairs in the interval, with run.count_flows"),
    SEEN(empty, COUNT, "links without a queue pair in the interval, with run.count_flows"));
