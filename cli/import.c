// SPDX-License-Identifier: Apache-2.0
// weft import: makes a scenario from files that other tools read and write.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "simulation.h"
#include "weft/import.h"

#include "base/param.h"
#include "base/stream.h"
#include "base/tree.h"

enum { IMPORTERS_MAX = 64 };

static const char *out_file;
static const struct weft_cli_option own[] = {
    {"out", "FILE", "write the scenario to FILE instead of standard output", &out_file, NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "import",
    .operands = "[FORMAT] FILE...",
    .about =
        "Makes a scenario from files of other tools: topologies, flows, traces, configurations. It lists what was\n"
        "found, assumed and left out, and the scenario is yours to edit. What changes results is also told here. Files "
        "of a format may come in any order;\n"
        "they are recognised by their contents. Without FORMAT it says what each file seems to be; with --out it\n"
        "then imports them in the format that fits all files.\n"
        "weft models import lists the formats, weft models import FORMAT their parameters, which --set sets (--set\n"
        "rate=100Gbps). A workload alone gets a network, a topology alone a workload. See docs/import.md.\n"
        "Exit status: 0 done, 2 bad input, or a file of unknown format.",
    .accept = WEFT_CLI_PARAMETER | WEFT_CLI_REPLACE | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1u << 20,
    .option = own,
};

/// How many of the files each importer recognises.
struct known {
    const struct weft_model *importer[IMPORTERS_MAX];
    const char *what[IMPORTERS_MAX]; ///< of the last file
    uint32_t files[IMPORTERS_MAX], n;
};

static void count_guess(void *context, const struct weft_model *importer, const char *what) {
    struct known *known = context;
    uint32_t i = 0;
    while (i < known->n && known->importer[i] != importer)
        i++;
    if (i == IMPORTERS_MAX) return;
    if (i == known->n) known->importer[known->n++] = importer;
    known->files[i]++;
    known->what[i] = what;
}

/// Whether another importer also recognises all files, and reads more of them.
static bool is_part(const struct known *known, uint32_t i, uint32_t files) {
    const char *whole = ((const struct weft_import_ops *)known->importer[i]->ops)->whole;
    for (uint32_t k = 0; k < known->n && whole; k++)
        if (known->files[k] == files && !strcmp(known->importer[k]->name, whole)) return true;
    return false;
}

/// Tries all files, even after one that no importer recognises.
static enum weft_status guess_all(const struct weft_cli_options *o) {
    enum weft_status worst = WEFT_OK;
    for (uint32_t f = 0; f < o->operands; f++) {
        struct weft_error error = {0};
        struct known known = {0};
        const char *path = weft__text_shown(o->operand[f], o->arena);
        enum weft_status status = weft_import_guess(o->operand[f], count_guess, &known, &error);
        if (status) weft_cli_fail(&error);
        if (status > worst) worst = status;
        for (uint32_t i = 0; i < known.n; i++)
            if (!is_part(&known, i, 1))
                printf("%s: %s (%s): weft import %s %s\n", path, known.what[i], known.importer[i]->name,
                       known.importer[i]->name, path);
    }
    return worst;
}

/// --set a=b as a map of a section.
static enum weft_status read_settings(const struct weft_cli_options *o, const struct weft_tree **ret_tree,
                                      struct weft_error *ret_error) {
    WEFT__TEXT_STREAM(text, file);
    for (uint32_t i = 0; i < o->settings; i++) {
        const char *equals = strchr(o->setting[i], '=');
        if (!equals || equals == o->setting[i] || !equals[1])
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--set"},
                               "'%s': expected a parameter of the importer and its value, such as rate=100Gbps",
                               o->setting[i]);
        fprintf(file, "%.*s: %s\n", (int)(equals - o->setting[i]), o->setting[i], equals + 1);
    }
    struct weft_tree *tree = NULL;
    enum weft_status status = WEFT_OK;
    const char *whole = weft__text_stream_text(&text);
    if (o->settings) status = weft_tree_parse("--set", whole, text.size, o->arena, &tree, ret_error);
    *ret_tree = tree;
    return status;
}

static enum weft_status fail_out(struct weft_error *ret_error) {
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, (struct weft_place){.file = out_file}, "cannot be written: %s",
                          strerror(errno));
}

/// Writes to a draft, which is renamed when it is complete. `named`: the first operand is the format.
static enum weft_status write_out(const struct weft_model *importer, const struct weft_tree *tree,
                                  const struct weft_cli_options *o, bool named, FILE *losses,
                                  struct weft_error *ret_error) {
    const char *const *path = (const char *const *)o->operand + named;
    uint32_t paths = o->operands - named;
    if (!out_file) weft_cli_terminal_raw();
    if (!out_file) return weft_import_write(importer, tree, path, paths, "", stdout, losses, ret_error);
    enum weft_status status = weft_cli_can_write_file("--out", out_file, o, ret_error);
    if (status) return status;
    const char *draft = weft__draft_name(out_file, o->arena);
    FILE *file = weft__file_open(draft, "w");
    if (!file) return fail_out(ret_error);
    status =
        weft_import_write(importer, tree, path, paths, weft_cli_folder_of(out_file, o->arena), file, losses, ret_error);
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    if (!status && (failed || rename(draft, out_file))) status = fail_out(ret_error);
    if (status)
        unlink(draft);
    else
        weft_cli_mention_file(out_file, o);
    return status;
}

/// The only importer that recognises all files.
static enum weft_status choose_importer(const struct weft_cli_options *o, const struct weft_model **ret_importer,
                                        struct weft_error *ret_error) {
    struct known known = {0};
    for (uint32_t f = 0; f < o->operands; f++)
        WEFT_TRY(weft_import_guess(o->operand[f], count_guess, &known, ret_error));
    const char *names = "";
    uint32_t n = 0;
    for (uint32_t i = 0; i < known.n; i++) {
        if (known.files[i] != o->operands || is_part(&known, i, o->operands)) continue;
        names = weft_arena_format(o->arena, "%s%s%s", names, n++ ? " and " : "", known.importer[i]->name);
        *ret_importer = known.importer[i];
    }
    if (n == 1) return WEFT_OK;
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--out"},
                       n ? "the files may be of %s; expected weft import FORMAT FILE..."
                         : "the files are not all of one format that is known%s; expected weft import FORMAT FILE...",
                       names);
}

static enum weft_status import_files(const struct weft_cli_options *o, struct weft_error *ret_error) {
    const struct weft_model *importer = weft_model_find(WEFT_KIND_IMPORT, o->operand[0]);
    bool named = importer != NULL, files_only = o->operands == 1 || !access(o->operand[0], F_OK);
    if (!named && files_only && !out_file && o->settings)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--set"},
                           "'%s' is for the making of a scenario; expected weft import FORMAT FILE..., or --out",
                           o->setting[0]);
    if (!named && files_only && !out_file) return guess_all(o);
    if (!named && files_only) WEFT_TRY(choose_importer(o, &importer, ret_error));
    if (!importer) {
        const char *names[IMPORTERS_MAX];
        uint32_t n = 0;
        for (; n < weft_model_count(WEFT_KIND_IMPORT) && n < IMPORTERS_MAX; n++)
            names[n] = weft_model_at(WEFT_KIND_IMPORT, n)->name;
        char expected[512];
        weft__names_expected(o->operand[0], names, n, expected, sizeof expected);
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "no format '%s'; %s", o->operand[0], expected);
    }
    if (named && o->operands == 1)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "import %s: no file; expected %s", importer->name,
                           importer->summary);
    const struct weft_tree *tree = NULL;
    WEFT__TEXT_STREAM(losses, file);
    WEFT_TRY(read_settings(o, &tree, ret_error));
    WEFT_TRY(write_out(importer, tree, o, named, file, ret_error));
    weft_cli_print_losses(weft__text_stream_text(&losses));
    return WEFT_OK;
}

int weft_cli_import(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, import_files);
}
