// SPDX-License-Identifier: Apache-2.0
// The output of weft trace-control for a Clique, as JSON and as CSV.
#include <inttypes.h>

#include "base/json.h"
#include "simulation.h"
#include "trace_clique.h"

enum { NAME = 128 };

static void json_counts(struct weft__json *j, const struct weft_sdn_counts *n) {
    weft__json_key(j, "state");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "ip_addresses", n->ip_addresses);
    weft__json_key_u64(j, "ip_flows", n->ip_flows);
    weft__json_key_u64(j, "ip_flows_indexed", n->ip_indexed);
    weft__json_key_u64(j, "gnet_flows_by_port", n->gnet_naive);
    weft__json_key_u64(j, "gnet_flows_by_class", n->gnet_classes);
    weft__json_key_u64(j, "gnet_entries", n->gnet_entries);
    weft__json_key_u64(j, "gnet_flows", n->gnet_flows);
    weft__json_key_u64(j, "gnet_groups", n->groups);
    weft__json_key_u64(j, "escape_flows", n->gnet_escapes);
    weft__json_end_object(j);
}

static void json_bootstrap(struct weft__json *j, const struct weft_clique_trace *c) {
    const struct weft_bootstrap_result *r = c->bootstrap;
    weft__json_key(j, "bootstrap");
    if (!r) {
        weft__json_null(j);
        return;
    }
    weft__json_begin_object(j);
    weft__json_key_u64(j, "done", r->done);
    weft__json_key_u64(j, "done_ps", r->done_ps);
    weft__json_key_u64(j, "waves", r->waves);
    weft__json_key_u64(j, "retried", r->retried);
    weft__json_key_u64(j, "tin_bytes", r->tin_bytes);
    weft__json_key_u64(j, "pmos_bytes", r->pmos_bytes);
    weft__json_key_u64(j, "mos_words", r->words);
    weft__json_key_u64(j, "resent", r->resent);
    weft__json_key_u64(j, "tin_least_ps", r->least_ps);
    weft__json_key_u64(j, "tin_p50_ps", r->p50_ps);
    weft__json_key_u64(j, "tin_most_ps", r->most_ps);
    weft__json_key(j, "tins");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < c->clique->tins; i++) {
        const struct weft_bootstrap_tin *t = &r->tin[i];
        weft__json_begin_object(j);
        weft__json_key_string(j, "tin", c->clique->tin[i].name);
        if (t->done_ps != WEFT_TIME_NEVER) {
            weft__json_key_u64(j, "wave", t->wave);
            if (t->proxy != WEFT_NONE) weft__json_key_string(j, "proxy", c->clique->tin[t->proxy].name);
            weft__json_key_u64(j, "tries", t->tries);
            weft__json_key_u64(j, "heard_ps", t->heard_ps);
            weft__json_key_u64(j, "begun_ps", t->begun_ps);
            weft__json_key_u64(j, "done_ps", t->done_ps);
        }
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void json_what(struct weft__json *j, const struct clique_view *v, const struct weft_clique_event *e) {
    char name[NAME];
    weft__json_key_u64(j, "time_ps", e->time_ps);
    weft__json_key_string(j, "do", e->given ? weft_control_whats[e->given->what] : e->up ? "up" : "down");
    if (e->tin != WEFT_NONE) weft__json_key_string(j, "tin", v->trace->clique->tin[e->tin].name);
    if (e->given) return;
    weft_topology_port_name(v->topology, v->topology->link[e->link].port[0], name, sizeof name);
    weft__json_key_string(j, "link", name);
    weft__json_key_u64(j, "links", e->links);
}

static uint64_t all_sent(const struct weft_sdn_outcome *o) {
    uint64_t n = 0;
    for (uint32_t k = 0; k < WEFT_SDN_MESSAGE_KINDS; k++)
        n += o->sent[k].n;
    return n;
}

static void json_sent(struct weft__json *j, const struct weft_sdn_outcome *o) {
    weft__json_key(j, "sent");
    weft__json_begin_object(j);
    for (uint32_t k = 0; k < WEFT_SDN_MESSAGE_KINDS; k++) {
        if (!o->sent[k].n) continue;
        weft__json_key(j, weft_sdn_message_info[k].name);
        weft__json_begin_object(j);
        weft__json_key_u64(j, "messages", o->sent[k].n);
        weft__json_key_u64(j, "first_ps", o->sent[k].first_ps);
        weft__json_key_u64(j, "last_ps", o->sent[k].last_ps);
        weft__json_end_object(j);
    }
    weft__json_end_object(j);
}

static void json_sdn(struct weft__json *j, const struct clique_view *v) {
    const struct weft_sdn_result *r = v->trace->sdn;
    const struct weft_celltrace_result *cells = &v->trace->cells;
    weft__json_key(j, "controller");
    weft__json_begin_object(j);
    weft__json_key_bool(j, "checked", r->checked);
    weft__json_key_u64(j, "sram_most_bytes", r->sram_most);
    weft__json_key_u64(j, "rpc_most_bytes", r->rpc_most);
    weft__json_key_u64(j, "overflows", r->overflows);
    weft__json_key_u64(j, "messages", r->messages);
    weft__json_key_u64(j, "messages_lost", r->messages_lost);
    weft__json_key_u64(j, "not_as_meant", v->trace->differences);
    weft__json_key_u64(j, "traced_cells", cells->cells);
    weft__json_key_u64(j, "traced_arrived", cells->arrived);
    weft__json_key_u64(j, "traced_lost", cells->lost);
    weft__json_key_u64(j, "traced_astray", cells->astray);
    if (r->checked && cells->suspect != WEFT_NONE)
        weft__json_key_string(j, "suspect", v->trace->clique->tin[cells->suspect].name);
    weft__json_key(j, "events");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < v->trace->sdn_events; i++) {
        const struct weft_sdn_outcome *o = &r->outcome[i];
        weft__json_begin_object(j);
        json_what(j, v, &v->trace->sdn_event[i]);
        weft__json_key_u64(j, "noticed_ps", o->noticed_ps);
        weft__json_key_u64(j, "computed_ps", o->computed_ps);
        weft__json_key_u64(j, "done_ps", o->done_ps);
        weft__json_key_u64(j, "session_ps", o->session_ps);
        weft__json_key_u64(j, "restored_ps", o->restored_ps);
        weft__json_key_u64(j, "batches", o->batches);
        weft__json_key_u64(j, "tins", o->tins);
        weft__json_key_u64(j, "flows", o->flows);
        weft__json_key_u64(j, "groups", o->groups);
        weft__json_key_u64(j, "writes", o->writes);
        weft__json_key_u64(j, "rpcs", o->rpcs);
        weft__json_key_u64(j, "messages", all_sent(o));
        json_sent(j, o);
        weft__json_key_u64(j, "repaired", o->repaired);
        weft__json_key_u64(j, "pairs_cut", o->cut_pairs);
        weft__json_key_u64(j, "pairs_left", o->left_pairs);
        weft__json_key_u64(j, "black_holes", o->holes);
        weft__json_key_real(j, "lost_ps", o->lost_ps);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void json_timesync(struct weft__json *j, const struct clique_view *v) {
    const struct weft_timesync_result *r = v->trace->timesync;
    weft__json_key(j, "timesync");
    weft__json_begin_object(j);
    weft__json_key_string(j, "primary", v->trace->clique->tin[r->primary].name);
    weft__json_key_u64(j, "messages", r->messages);
    weft__json_key_u64(j, "ignored", r->ignored);
    weft__json_key_u64(j, "channel_error_ps", r->delay_error_ps);
    weft__json_key(j, "depths");
    weft__json_begin_array(j);
    for (uint32_t k = 1; k < r->depths; k++) {
        const struct weft_timesync_depth *d = &r->depth[k];
        weft__json_begin_object(j);
        weft__json_key_u64(j, "depth", k);
        weft__json_key_u64(j, "tins", d->tins);
        weft__json_key_u64(j, "samples", d->samples);
        weft__json_key_real(j, "mean_ps", d->mean_ps);
        weft__json_key_real(j, "deviation_ps", d->deviation_ps);
        weft__json_key_u64(j, "p50_ps", d->p50_ps);
        weft__json_key_u64(j, "p99_ps", d->p99_ps);
        weft__json_key_u64(j, "max_ps", d->max_ps);
        weft__json_key_u64(j, "fresh_p50_ps", d->fresh_p50_ps);
        weft__json_key_u64(j, "fresh_max_ps", d->fresh_max_ps);
        weft__json_key_u64(j, "bound_ps", d->bound_ps);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_key(j, "events");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < v->trace->timesync_events; i++) {
        const struct weft_timesync_outcome *o = &r->outcome[i];
        weft__json_begin_object(j);
        json_what(j, v, &v->trace->timesync_event[i]);
        weft__json_key_u64(j, "signalled", o->signalled);
        weft__json_key_u64(j, "moved", o->moved);
        weft__json_key_u64(j, "restored_ps", o->restored_ps);
        weft__json_key_u64(j, "error_ps", o->error_ps);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

void trace_clique_print_json(FILE *file, const struct clique_view *v) {
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    weft__json_head(&j, v->scenario->name, v->scenario->variant);
    weft__json_key_u64(&j, "seed", v->scenario->run.seed);
    weft__json_key_u64(&j, "tins", v->trace->clique->tins);
    weft__json_key_u64(&j, "pods", v->trace->clique->pods);
    weft__json_key_u64(&j, "links", v->trace->clique->links);
    json_counts(&j, &v->trace->counts);
    json_bootstrap(&j, v->trace);
    json_sdn(&j, v);
    json_timesync(&j, v);
    weft__json_end_object(&j);
    fputc('\n', file);
}

// --- CSV ----------------------------------------------------------------------------------------------------------

static void csv_bootstrap(FILE *file, const struct clique_view *v) {
    const struct weft_bootstrap_result *r = v->trace->bootstrap;
    fprintf(file, "tin,wave,proxy,tries,heard_s,begun_s,done_s,minutes\n");
    for (uint32_t i = 0; r && i < v->trace->clique->tins; i++) {
        const struct weft_bootstrap_tin *t = &r->tin[i];
        if (t->done_ps == WEFT_TIME_NEVER) continue;
        fprintf(file, "%s,%u,%s,%u,%.3f,%.3f,%.3f,%.3f\n", v->trace->clique->tin[i].name, t->wave,
                t->proxy == WEFT_NONE ? "" : v->trace->clique->tin[t->proxy].name, t->tries, (double)t->heard_ps / 1e12,
                (double)t->begun_ps / 1e12, (double)t->done_ps / 1e12, (double)(t->done_ps - t->begun_ps) / 60e12);
    }
}

static void csv_timesync(FILE *file, const struct clique_view *v) {
    const struct weft_timesync_result *r = v->trace->timesync;
    fprintf(file, "depth,tins,samples,mean_ns,deviation_ns,p50_ns,p99_ns,max_ns,fresh_p50_ns,fresh_max_ns,bound_ns\n");
    for (uint32_t k = 1; k < r->depths; k++) {
        const struct weft_timesync_depth *d = &r->depth[k];
        fprintf(file, "%u,%u,%" PRIu64 ",%.4f,%.4f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", k, d->tins, d->samples,
                d->mean_ps / 1e3, d->deviation_ps / 1e3, (double)d->p50_ps / 1e3, (double)d->p99_ps / 1e3,
                (double)d->max_ps / 1e3, (double)d->fresh_p50_ps / 1e3, (double)d->fresh_max_ps / 1e3,
                (double)d->bound_ps / 1e3);
    }
}

static void csv_transitions(FILE *file, const struct clique_view *v) {
    fprintf(file, "time_s,do,tin,links,noticed_s,computed_s,done_s,restored_s,batches,tins,flows,groups,writes,rpcs,"
                  "repaired,pairs_cut,pairs_left,black_holes\n");
    for (uint32_t i = 0; i < v->trace->sdn_events; i++) {
        const struct weft_clique_event *e = &v->trace->sdn_event[i];
        const struct weft_sdn_outcome *o = &v->trace->sdn->outcome[i];
        fprintf(file, "%.6f,%s,%s,%u,%.6f,%.6f,%.6f,%.6f,%u,%u,", (double)e->time_ps / 1e12,
                e->given ? weft_control_whats[e->given->what]
                : e->up  ? "up"
                         : "down",
                e->tin == WEFT_NONE ? "" : v->trace->clique->tin[e->tin].name, e->links, (double)o->noticed_ps / 1e12,
                (double)o->computed_ps / 1e12, (double)o->done_ps / 1e12, (double)o->restored_ps / 1e12, o->batches,
                o->tins);
        fprintf(file,
                "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                o->flows, o->groups, o->writes, o->rpcs, o->repaired, o->cut_pairs, o->left_pairs, o->holes);
    }
}

/// The device is a TiN, except if an inter-block routing controller is at one end.
static void csv_messages(FILE *file, const struct clique_view *v) {
    const struct weft_sdn_result *r = v->trace->sdn;
    fprintf(file, "sent_s,arrives_s,event,message,from,to,who\n");
    for (uint32_t i = 0; i < r->messages; i++) {
        const struct weft_sdn_message *m = &r->message[i];
        const struct weft_sdn_message_info *info = &weft_sdn_message_info[m->kind];
        bool ibr =
            m->kind == WEFT_SDN_SPINE_STATUS || m->kind == WEFT_SDN_EXIT_WRITE || m->kind == WEFT_SDN_EXIT_NOTICE;
        fprintf(file, "%.6f,%.6f,%u,%s,%s,%s,", (double)m->sent_ps / 1e12, (double)m->arrives_ps / 1e12, m->event,
                info->name, info->from, info->to);
        if (ibr)
            fprintf(file, "ibr-%u\n", m->who);
        else
            fprintf(file, "%s\n", m->who == WEFT_NONE ? "" : v->trace->clique->tin[m->who].name);
    }
}

/// One of the files.
struct csv {
    const char *name;
    void (*write)(FILE *file, const struct clique_view *v);
};
struct csv_of {
    const struct csv *csv;
    const struct clique_view *view;
};

static void write_csv(FILE *file, const void *context) {
    const struct csv_of *of = context;
    of->csv->write(file, of->view);
}

enum weft_status trace_clique_write_csv(const char *dir, const struct clique_view *v, const struct weft_cli_options *o,
                                        struct weft_error *ret_error) {
    static const struct csv files[] = {{"bootstrap.csv", csv_bootstrap},
                                       {"timesync.csv", csv_timesync},
                                       {"transitions.csv", csv_transitions},
                                       {"messages.csv", csv_messages}};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    enum weft_status status = weft_cli_own_folder(dir, false, ret_error);
    for (unsigned i = 0; i < sizeof files / sizeof *files && !status; i++)
        status = weft_cli_can_write_file("--csv", weft_arena_format(arena, "%s/%s", dir, files[i].name), o, ret_error);
    for (unsigned i = 0; i < sizeof files / sizeof *files && !status; i++)
        status = weft_cli_replace_in_folder(dir, files[i].name, write_csv, &(struct csv_of){&files[i], v}, ret_error);
    weft_arena_free(arena);
    return status;
}
