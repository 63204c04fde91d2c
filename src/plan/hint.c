// SPDX-License-Identifier: Apache-2.0
// Values of a congestion control that are of another rate than the hosts' links. Steps in bit/s or bytes that are those
// of 40G recover ten times more slowly at 400G (docs/dcqcn.md), and nothing in a run's figures says so.
#include <string.h>

#include "base/units.h"
#include "weft/advice.h"
#include "weft/cc.h"
#include "weft/hints.h"
#include "weft/param.h"
#include "weft/param_load.h"

enum { FAR = 2 }; // a larger ratio of rates gives a hint (assumed)

/// A parameter with its value times rate / of.
static const char *scaled_value(const struct weft_model_conf *cc, const struct weft_cc_values *values,
                                weft_rate_bps rate, struct weft_arena *arena) {
    char text[64];
    struct weft_param row = *weft_param_find(cc->model->params, values->key);
    uint64_t value = *(const uint64_t *)(const void *)((const char *)cc->conf + row.offset);
    value = (uint64_t)((unsigned __int128)value * rate / values->rate_bps);
    row.offset = 0;
    weft_param_format(&row, &value, text, sizeof text);
    return weft_arena_format(arena, "%s: %s", values->key, text);
}

/// What weft plan dcqcn sets of steps, where there is an incast; NULL: there is none.
static const char *planned_steps(const struct weft_scenario *s, const struct weft_topology *t,
                                 const struct weft_workload *w, struct weft_arena *arena) {
    static const char *const keys[] = {"additive_increase", "hyper_increase", "byte_counter"};
    struct weft_advice advice;
    const char *text = NULL;
    if (weft_advise(WEFT_ADVICE_DCQCN, s, t, w, arena, &advice, NULL)) return NULL;
    for (uint32_t r = 0; r < advice.rows; r++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *key = strrchr(advice.row[r].path, '.');
            if (!key || strcmp(key + 1, keys[k])) continue;
            text = weft_arena_format(arena, "%s%s%s: %s", text ? text : "", text ? ", " : "", keys[k],
                                     advice.row[r].recommended);
        }
    return text;
}

static const char *hint_of(const struct weft_scenario *s, const struct weft_topology *t, const struct weft_workload *w,
                           const struct weft_model_conf *cc, const char *host, weft_rate_bps rate,
                           struct weft_arena *arena) {
    const struct weft_cc_ops *ops = cc->model->ops;
    struct weft_cc_values values = ops->values_of ? ops->values_of(cc->conf) : (struct weft_cc_values){0};
    if (!values.rate_bps || (rate <= FAR * values.rate_bps && values.rate_bps <= FAR * rate)) return NULL;
    char now[64], of[32], has[32];
    const struct weft_param *row = weft_param_find(cc->model->params, values.key);
    weft_param_format(row, cc->conf, now, sizeof now);
    weft_format_rate(values.rate_bps, of, sizeof of);
    weft_format_rate(rate, has, sizeof has);
    const char *plan = !strncmp(cc->model->name, "dcqcn", 5) ? planned_steps(s, t, w, arena) : NULL;
    return weft_arena_format(arena, "host.cc: %s has values of %s (%s: %s), and %s has %s; %s %s", cc->model->name, of,
                             values.key, now, host, has,
                             plan ? "weft plan dcqcn would set" : "in proportion to the rate it would be",
                             plan ? plan : scaled_value(cc, &values, rate, arena));
}

const char *weft_hint_values(const struct weft_scenario *s, const struct weft_topology *t,
                             const struct weft_workload *w, struct weft_arena *arena) {
    const char *hint = NULL;
    const struct weft_model_conf *last = NULL;
    weft_rate_bps last_rate = 0;
    for (uint32_t h = 0; h < t->hosts && !hint; h++) {
        const char *name = t->node[t->host[h]].name;
        const struct weft_model_conf *cc = &weft_scenario_device(s, name)->host.cc;
        weft_rate_bps rate = t->link[weft_topology_port(t, t->host[h], 0)->link].rate_bps;
        if (cc != last || rate != last_rate) hint = hint_of(s, t, w, cc, name, rate, arena);
        last = cc;
        last_rate = rate;
    }
    return hint;
}
