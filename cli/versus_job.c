// SPDX-License-Identifier: Apache-2.0
// The job of a versus, in any form that weft reads. Its network gives the number of hosts and their rate; the rest of
// the network is what fabrics differ in, and is ignored.
#include <stdio.h>
#include <string.h>

#include "base/stream.h"
#include "versus.h"
#include "weft/import.h"
#include "weft/topology.h"

struct guess {
    const struct weft_model *importer;
    const char *names;
    uint32_t n;
    struct weft_arena *arena;
};

static void on_guess(void *context, const struct weft_model *importer, const char *what) {
    struct guess *g = context;
    if (g->n && g->importer == importer) return;
    g->names = weft_arena_format(g->arena, "%s%s%s", g->names, g->n++ ? " and " : "", importer->name);
    g->importer = importer;
}

/// Imports a file of another tool, like weft import.
static enum weft_status import_job(const char *path, const struct weft_model *importer, struct weft_arena *arena,
                                   struct weft_scenario_file **ret_file, struct weft_error *ret_error) {
    static const char rate[] = "rate: 400Gbps"; // for the network that a workload alone gets: the blueprints' default
    struct weft__text_stream stream, losses;
    struct weft_tree *tree;
    WEFT_TRY(weft_tree_parse("rate", rate, strlen(rate), arena, &tree, ret_error));
    FILE *out = weft__text_stream_open(&stream);
    FILE *lost = weft__text_stream_open(&losses);
    enum weft_status status =
        weft_import_write(importer, tree, &path, 1, weft_cli_folder_of(path, arena), out, lost, ret_error);
    if (!status) {
        weft_cli_print_losses(weft__text_stream_text(&losses));
        const char *text = weft__text_stream_text(&stream);
        status = weft_scenario_file_parse(path, text, stream.size, NULL, 0, ret_file, ret_error);
    }
    weft__text_stream_free(&losses);
    weft__text_stream_free(&stream);
    return status;
}

static enum weft_status read_file(const struct weft_cli_options *o, const char *path,
                                  struct weft_scenario_file **ret_file, struct weft_error *ret_error) {
    struct guess g = {.names = "", .arena = o->arena};
    const char *dot = strrchr(path, '.');
    bool yaml = dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
    if (!yaml && strcmp(path, "-") != 0 && !weft_cli_is_result(path))
        WEFT_TRY(weft_import_guess(path, on_guess, &g, ret_error));
    if (g.n > 1)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                           "may be of %s; expected the scenario that weft import FORMAT %s makes of it", g.names, path);
    if (g.n) return import_job(path, g.importer, o->arena, ret_file, ret_error);
    struct weft_cli_options plain = *o; // settings apply to the fabrics
    plain.settings = 0;
    return weft_cli_scenario_read(&plain, ret_file, ret_error);
}

static const struct weft_tree *find_section(const struct weft_tree *root, const char *key) {
    const struct weft_tree *tree = weft_tree_find(root, key);
    return tree && tree->type != WEFT_TREE_NULL ? tree : NULL;
}

/// The rate of a host's link.
static weft_rate_bps host_rate(const struct weft_topology *t) {
    const struct weft_node_info *host = &t->node[t->host[0]];
    return host->ports ? t->link[weft_topology_port(t, t->host[0], 0)->link].rate_bps : 0;
}

/// The size of the job's present network.
static enum weft_status size_of(const struct weft_scenario_file *file, uint32_t variant, struct versus_job *job,
                                struct weft_error *ret_error) {
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    WEFT_TRY(weft_cli_simulation_init(&sim, file, variant, ret_error));
    job->hosts = sim.topology->hosts;
    job->rate_bps = host_rate(sim.topology);
    return WEFT_OK;
}

static void note_ignored(const struct weft_tree *root, struct versus_job *job, struct weft_arena *arena) {
    static const char *const kept[] = {"name", "about", "workload", "server", "run", "capture", "goodput"};
    job->ignored = weft_arena_alloc(arena, root->n + 1, sizeof *job->ignored);
    for (uint32_t i = 0; i < root->n; i++) {
        bool keep = root->child[i]->type == WEFT_TREE_NULL || !root->child[i]->place.file; // or the environment says it
        for (unsigned k = 0; k < sizeof kept / sizeof *kept; k++)
            keep |= !strcmp(root->child[i]->key, kept[k]);
        if (!keep) job->ignored[job->n_ignored++] = weft_arena_text(arena, root->child[i]->key);
    }
}

/// The files that a workload names are found relative to the folder of the scenario, which here is the job's.
enum weft_status versus_job_read(const struct weft_cli_options *o, struct versus_job *job,
                                 struct weft_error *ret_error) {
    struct weft_scenario_file *file = NULL;
    const struct weft_tree *root = NULL;
    uint32_t variant = 0;
    *job = (struct versus_job){.path = o->operand[0]};
    WEFT_TRY(read_file(o, job->path, &file, ret_error));
    uint32_t variants = weft_scenario_variants(file);
    if (o->variant) WEFT_TRY(weft_cli_variant(o, file, &variant, ret_error));
    if (!o->variant && variants > 1 && !o->quiet)
        fprintf(stderr, "weft: the work is that of variant '%s'; --variant NAME chooses another\n",
                weft_scenario_variant_name(file, 0));
    WEFT_TRY(weft_scenario_tree(file, variant, o->arena, &root, ret_error));
    WEFT_TRY(weft_scenario_work(root, o->arena, &job->work, ret_error));
    job->run = find_section(root, "run");
    job->goodput = find_section(root, "goodput");
    if (!job->work)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = job->path},
                           "workload is missing: expected the traffic of every fabric");
    if (job->work->type == WEFT_TREE_LIST && !job->work->n)
        return WEFT_REFUSE(ret_error, job->work->place, "workload is empty: expected the traffic of every fabric");
    note_ignored(root, job, o->arena);
    if (find_section(root, "topology") || find_section(root, "fabric"))
        WEFT_TRY(size_of(file, variant, job, ret_error));
    return WEFT_OK;
}
