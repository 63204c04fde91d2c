// SPDX-License-Identifier: Apache-2.0
// The scenario made by an importer: sections, notes, defaults, and its text.
#include "weft/import.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/lines.h"
#include "base/stream.h"
#include "base/tree.h"
#include "base/units.h"
#include "base/xml.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/scenario.h"
#include "weft/weft.h"

enum { SHOWN = 40 };

/// Where the first word of a text is.
static struct weft_place find_word(const struct weft_import_file *file, const char **ret_word) {
    struct weft_place place = {.file = file->path, .line = 1 + file->passed, .column = 1};
    const char *c = file->head;
    for (; *c && strchr(" \t\r\n", *c); c++) {
        place.column++;
        if (*c != '\n') continue;
        place.line++;
        place.column = 1;
    }
    *ret_word = c;
    return place;
}

static bool is_text(const struct weft_import_file *file) {
    for (size_t i = 0; i < file->size; i++) {
        unsigned char c = (unsigned char)file->head[i];
        if (c < 0x20 && !strchr("\t\r\n", c)) return false;
        if (!c || c == 0x7f) return false;
    }
    return true;
}

static unsigned syntax_of(const struct weft_import_file *file, const char *word) {
    if (!is_text(file)) return WEFT_IMPORT_BINARY;
    return *word == '{' || *word == '[' ? WEFT_IMPORT_JSON : *word == '<' ? WEFT_IMPORT_XML : WEFT_IMPORT_TEXT;
}

static enum weft_status pass_element(void *context, const struct weft__xml_element *element,
                                     struct weft_error *ret_error) {
    return WEFT_OK;
}

/// A text that is neither JSON nor XML has its error where it stops being that.
static enum weft_status check_syntax(const struct weft_import_file *file, unsigned syntax,
                                     struct weft_error *ret_error) {
    static const struct weft__xml_handler handler = {.begin = pass_element};
    struct weft_place place = {.file = file->path};
    if (syntax == WEFT_IMPORT_XML) return weft__xml_read(file->path, place, &handler, NULL, ret_error);
    if (syntax != WEFT_IMPORT_JSON) return WEFT_OK;
    struct weft__json_file json;
    enum weft_status status = weft__json_open(&json, file->path, place, ret_error);
    if (!status) weft__json_close(&json);
    return status;
}

/// How files of this syntax begin.
static const char *expected_begins(const struct weft_model *importer, unsigned syntax, struct weft_arena *arena) {
    const char *list = "";
    for (uint32_t m = 0; m < weft_model_count(WEFT_KIND_IMPORT); m++) {
        const struct weft_model *model = weft_model_at(WEFT_KIND_IMPORT, m);
        const struct weft_import_ops *ops = model->ops;
        if (importer ? model != importer : !(ops->syntax & syntax)) continue;
        list = weft_arena_format(arena, "%s%s%s (%s)", list, *list ? "; " : "", ops->begins, model->name);
    }
    return list;
}

/// The beginning of a text up to the end of the line, without terminal control characters.
static const char *show_text(const char *word, struct weft_arena *arena) {
    size_t n = strcspn(word, "\r\n");
    bool cut = n > SHOWN;
    if (cut)
        for (n = SHOWN; n > SHOWN - 4 && ((unsigned char)word[n] & 0xc0) == 0x80;)
            n--;
    const char *text = weft_arena_format(arena, "%.*s", (int)n, word);
    return weft__text_is_plain(text) ? weft_arena_format(arena, "'%s%s'", text, cut ? "..." : "")
                                     : "text that is not UTF-8";
}

static const char *show_bytes(const struct weft_import_file *file, struct weft_arena *arena) {
    const char *bytes = "bytes";
    for (size_t i = 0; i < 8 && i < file->size; i++)
        bytes = weft_arena_format(arena, "%s %02x", bytes, (unsigned char)file->head[i]);
    return bytes;
}

/// An error at the place in the file. `importer`: the expected format; NULL: any.
static enum weft_status describe_unknown(const struct weft_import_file *file, const struct weft_model *importer,
                                         struct weft_arena *arena, struct weft_error *ret_error) {
    const char *word,
        *of = importer ? weft_arena_format(arena, "a file of %s", importer->name) : "a file of a known format";
    struct weft_place place = find_word(file, &word);
    unsigned syntax = syntax_of(file, word);
    if (file->folder || file->absent)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path},
                           importer ? "is a folder; expected files of format %s"
                                    : "is a folder without Chakra traces; expected files",
                           importer ? importer->name : "");
    if (!file->size || (syntax != WEFT_IMPORT_BINARY && !*word))
        return WEFT_REFUSE(ret_error, place, "the file is empty; expected %s",
                           importer ? expected_begins(importer, 0, arena) : "a file of a known format");
    WEFT_TRY(importer ? WEFT_OK : check_syntax(file, syntax, ret_error));
    if (syntax == WEFT_IMPORT_BINARY)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path},
                           "byte 0: %s do not begin %s; expected %s", show_bytes(file, arena), of,
                           expected_begins(importer, syntax, arena));
    return WEFT_REFUSE(ret_error, place, "%s does not begin %s; expected %s", show_text(word, arena), of,
                       expected_begins(importer, syntax, arena));
}

static const char *const section_names[WEFT_IMPORT_SECTIONS] = {
    [WEFT_IMPORT_TOPOLOGY] = "topology", [WEFT_IMPORT_SWITCH] = "switch", [WEFT_IMPORT_HOST] = "host",
    [WEFT_IMPORT_DEVICES] = "devices",   [WEFT_IMPORT_EVENTS] = "events", [WEFT_IMPORT_WORKLOAD] = "workload",
    [WEFT_IMPORT_RUN] = "run",
};
static const char *const note_titles[WEFT_IMPORT_NOTES] = {
    [WEFT_IMPORT_BROKEN] = "Broken, so that a run fails or means something else:",
    [WEFT_IMPORT_LOST] = "Lost, so that results differ from those that the files mean:",
    [WEFT_IMPORT_FOUND] = "Found:",
    [WEFT_IMPORT_ASSUMED] = "Assumed, as the files do not say it:",
    [WEFT_IMPORT_LEFT_OUT] = "Left out:",
};
static const char *const loss_names[] = {[WEFT_IMPORT_BROKEN] = "broken", [WEFT_IMPORT_LOST] = "lost"};
enum { LOSSES = sizeof loss_names / sizeof *loss_names };

struct import_conf {
    struct weft_import_common common;
};
const struct weft_param_table weft_import_table =
    WEFT_PARAM_TABLE_OF("import", struct import_conf, WEFT_PARAM_UNCHECKED, WEFT_IMPORT_ROWS(struct import_conf));

struct weft_import {
    struct weft_arena *arena;
    struct weft__text_stream section[WEFT_IMPORT_SECTIONS], note[WEFT_IMPORT_NOTES];
    uint32_t hosts, planes;
    const char *chosen_hosts, *server; ///< of a workload; NULL: all hosts, no servers
    const struct weft_model *importer;
    const char *folder; ///< of the scenario
};

static void open_streams(struct weft_import *im) {
    for (uint32_t s = 0; s < WEFT_IMPORT_SECTIONS; s++)
        weft__text_stream_open(&im->section[s]);
    for (uint32_t n = 0; n < WEFT_IMPORT_NOTES; n++)
        weft__text_stream_open(&im->note[n]);
}

static void close_streams(struct weft_import *im) {
    for (uint32_t n = WEFT_IMPORT_NOTES; n-- > 0;)
        weft__text_stream_free(&im->note[n]);
    for (uint32_t s = WEFT_IMPORT_SECTIONS; s-- > 0;)
        weft__text_stream_free(&im->section[s]);
}

void weft_import_say(struct weft_import *im, enum weft_import_section section, const char *format, ...) {
    assert((uint32_t)section < WEFT_IMPORT_SECTIONS);
    va_list args;
    va_start(args, format);
    vfprintf(im->section[section].file, format, args);
    va_end(args);
}

void weft_import_note(struct weft_import *im, enum weft_import_note note, const char *format, ...) {
    assert((uint32_t)note < WEFT_IMPORT_NOTES);
    va_list args;
    va_start(args, format);
    vfprintf(im->note[note].file, format, args);
    fputc('\n', im->note[note].file);
    va_end(args);
}

void weft_import_need_hosts(struct weft_import *im, uint32_t hosts) {
    if (hosts > im->hosts) im->hosts = hosts;
}

void weft_import_choose_hosts(struct weft_import *im, const char *hosts) {
    im->chosen_hosts = hosts;
}

void weft_import_choose_server(struct weft_import *im, const char *server) {
    im->server = server;
}

void weft_import_need_planes(struct weft_import *im, uint32_t planes) {
    if (planes > im->planes) im->planes = planes;
}

struct weft_arena *weft_import_arena(struct weft_import *im) {
    return im->arena;
}

const struct weft_import_file *weft_import_find(const struct weft_import_file *file, uint32_t files, const char *what) {
    for (uint32_t f = 0; f < files; f++)
        if (!strcmp(file[f].what, what)) return &file[f];
    return NULL;
}

enum weft_status weft_import_once(const struct weft_import_file *file, uint32_t files, const char *what,
                                  struct weft_error *ret_error) {
    const struct weft_import_file *first = weft_import_find(file, files, what);
    for (uint32_t f = 0; first && f < files; f++)
        if (&file[f] != first && !strcmp(file[f].what, what))
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = file[f].path},
                               "is of the kind '%s', as %s is; expected one of that kind", what, first->path);
    return WEFT_OK;
}

// --- files --------------------------------------------------------------------------------------------------------

/// NULL: there is no such path.
static const char *real_path(const char *path, struct weft_arena *arena) {
    char *at = realpath(path, NULL);
    if (!at && errno == ENOMEM) weft_memory_fail();
    const char *kept = at ? weft_arena_text(arena, at) : NULL;
    free(at);
    return kept;
}

/// The same, also for a missing file in an existing folder.
static const char *future_path(const char *path, struct weft_arena *arena) {
    const char *at = real_path(path, arena), *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (at) return at;
    const char *in = real_path(slash ? weft_arena_format(arena, "%.*s", (int)(name - path), path) : ".", arena);
    return in ? weft_arena_format(arena, "%s/%s", in, name) : NULL;
}

/// The path as written in a scenario in `folder`: unchanged if both are in the same folder, else absolute.
static const char *written_path(const char *path, const char *folder, struct weft_arena *arena) {
    const char *at = future_path(path, arena), *in = real_path(*folder ? folder : ".", arena);
    size_t n = in ? strlen(in) : 0;
    if (!at) return weft_arena_text(arena, path);
    return n && !strncmp(at, in, n) && at[n] == '/' ? at + n + 1 : at;
}

static enum weft_status look_at(const char *path, const char *folder, struct weft_arena *arena,
                                struct weft_import_file *ret_file, struct weft_error *ret_error) {
    struct weft_place place = {.file = path};
    *ret_file = (struct weft_import_file){.path = path, .written = written_path(path, folder, arena), .head = ""};
    if (!weft__text_is_plain(path))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "the name of a file has bytes that are not UTF-8, or control characters; expected another");
    FILE *file = weft__file_open_unpacked(path);
    int why = file ? 0 : errno;
    ret_file->folder = why == EISDIR;
    ret_file->absent = why == ENOENT;
    if (ret_file->folder || ret_file->absent) return WEFT_OK;
    if (file) {
        char *head = weft_arena_alloc(arena, WEFT_IMPORT_HEAD + 1, 1);
        ret_file->size = weft__file_read_head(file, head, WEFT_IMPORT_HEAD, &ret_file->passed);
        ret_file->head = head;
        if (ferror(file)) why = errno;
        fclose(file);
    }
    return why ? WEFT_REFUSE(ret_error, place, "cannot be read: %s", weft__file_why(why)) : WEFT_OK;
}

static enum weft_status fail_absent(const struct weft_import_file *file, struct weft_error *ret_error) {
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path}, "cannot be read: %s", strerror(ENOENT));
}

enum weft_status weft_import_guess(const char *path,
                                   void (*on_guess)(void *context, const struct weft_model *importer, const char *what),
                                   void *context, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct weft_import_file file;
    bool known = false;
    enum weft_status status = look_at(path, "", arena, &file, ret_error);
    for (uint32_t m = 0; m < weft_model_count(WEFT_KIND_IMPORT) && !status; m++) {
        const struct weft_model *model = weft_model_at(WEFT_KIND_IMPORT, m);
        const char *what = ((const struct weft_import_ops *)model->ops)->recognise(&file);
        if (what) on_guess(context, model, what);
        known |= what != NULL;
    }
    if (!status && !known && file.absent) status = fail_absent(&file, ret_error);
    if (!status && !known) status = describe_unknown(&file, NULL, arena, ret_error);
    return status;
}

/// Checks that every file is one of the importer's.
static enum weft_status recognise_files(const struct weft_model *importer, struct weft_import_file *file,
                                        uint32_t files, struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft_import_ops *ops = importer->ops;
    for (uint32_t f = 0; f < files; f++) {
        file[f].what = ops->recognise(&file[f]);
        if (!file[f].what && file[f].absent) return fail_absent(&file[f], ret_error);
        if (!file[f].what) return describe_unknown(&file[f], importer, arena, ret_error);
    }
    return WEFT_OK;
}

enum weft_status weft_import_also(struct weft_import *im, const char *path, struct weft_place place,
                                  struct weft_import_file *ret_file, struct weft_error *ret_error) {
    struct weft_error why = {0};
    enum weft_status status = look_at(path, im->folder, im->arena, ret_file, &why);
    if (!status) status = recognise_files(im->importer, ret_file, 1, im->arena, &why);
    return status ? weft_error_set(ret_error, status, place, "%s", why.text) : WEFT_OK;
}

const char *weft_import_nodes(struct weft_import *import, uint32_t hosts, uint32_t switches) {
    return weft_arena_format(import->arena, "%s, %s", weft__counted(hosts, "host").text,
                             weft__counted(switches, "switch").text);
}

const char *weft_import_quote(struct weft_import *im, const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+";
    if (*text && strspn(text, plain) == strlen(text) && !strchr("-.+0123456789", *text)) return text;
    if (*text == '/' && strspn(text, plain) == strlen(text)) return text;
    WEFT__TEXT_STREAM(quoted, file);
    fputc('\'', file);
    for (; *text; text++)
        fprintf(file, *text == '\'' ? "''" : "%c", *text);
    fputc('\'', file);
    return weft_arena_text(im->arena, weft__text_stream_text(&quoted));
}

// --- the scenario -------------------------------------------------------------------------------------------------

enum { STAR_MAX = 32, LEAF_HOSTS = 32, LEAF_SPINE_MAX = 1024 };

/// A network without bottlenecks: one switch, or a Clos in which all hosts can send at the same time; as many equal
/// ones as a host has NICs.
static void say_default_network(struct weft_import *im, const struct weft_import_common *c) {
    char rate[32], delay[32];
    uint32_t hosts = im->hosts < 2 ? 2 : im->hosts;
    const char *in = im->planes > 1 ? "      " : "  "; // indentation
    if (im->planes > 1) weft_import_say(im, WEFT_IMPORT_TOPOLOGY, "  kind: networks\n  networks:\n    nic-0: &nic\n");
    if (hosts <= STAR_MAX) {
        weft_import_say(im, WEFT_IMPORT_TOPOLOGY, "%skind: single\n%shosts: %" PRIu32 "\n", in, in, hosts);
    } else if (hosts <= LEAF_SPINE_MAX) {
        weft_import_say(im, WEFT_IMPORT_TOPOLOGY,
                        "%skind: leaf_spine\n%sleaves: %" PRIu32 "\n%sspines: %d\n%shosts_per_leaf: %d\n", in, in,
                        (hosts + LEAF_HOSTS - 1) / LEAF_HOSTS, in, LEAF_HOSTS, in, LEAF_HOSTS);
    } else {
        uint32_t k = 4; // a k-ary fat tree has k^3 / 4 hosts, here whole servers of 8
        while ((uint64_t)k * k * k / 4 < hosts)
            k += 4;
        weft_import_say(im, WEFT_IMPORT_TOPOLOGY, "%skind: fat_tree\n%sk: %" PRIu32 "\n", in, in, k);
    }
    weft__quantity_format(WEFT__RATE, c->rate_bps, rate, sizeof rate);
    weft__quantity_format(WEFT__TIME, c->delay_ps, delay, sizeof delay);
    weft_import_say(im, WEFT_IMPORT_TOPOLOGY, "%srate: %s\n%sdelay: %s\n", in, rate, in, delay);
    for (uint32_t n = 1; n < im->planes; n++)
        weft_import_say(im, WEFT_IMPORT_TOPOLOGY, "    nic-%" PRIu32 ": *nic\n", n);
    if (im->planes > 1) weft_import_say(im, WEFT_IMPORT_HOST, "  planes: queue_pair\n");
    weft_import_note(im, WEFT_IMPORT_ASSUMED,
                     "the network: none was given, so one without oversubscription at %s for %" PRIu32
                     " hosts (rate, delay)",
                     rate, hosts);
}

static void say_default_workload(struct weft_import *im, const struct weft_import_common *c) {
    char size[32];
    weft__quantity_format(WEFT__BYTES, c->size_bytes, size, sizeof size);
    const char *hosts = im->chosen_hosts ? weft_arena_format(im->arena, ", hosts: \"%s\"", im->chosen_hosts) : "";
    if (im->server) {
        weft_import_say(im, WEFT_IMPORT_WORKLOAD,
                        "- {kind: collective, collective: all_reduce_hierarchical, size: %s%s,\n   server: %s}\n", size,
                        hosts, im->server);
        weft_import_note(im, WEFT_IMPORT_ASSUMED,
                         "the workload: none was given, so all GPUs reduce %s, an all-reduce (size)", size);
        return;
    }
    weft_import_say(im, WEFT_IMPORT_WORKLOAD, "- {kind: permutation, size: %s%s}\n", size, hosts);
    weft_import_note(im, WEFT_IMPORT_ASSUMED,
                     "the workload: none was given, so every host sends %s to another, a permutation (size)", size);
}

/// Prints each line of `text` behind `prefix`.
static void print_lines(FILE *out, const char *prefix, const char *text) {
    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        fprintf(out, "%s%.*s\n", prefix, (int)(end - text), text);
}

static void print_losses(struct weft_import *im, FILE *losses) {
    for (uint32_t n = 0; n < LOSSES; n++) {
        char prefix[16];
        snprintf(prefix, sizeof prefix, "%s: ", loss_names[n]);
        print_lines(losses, prefix, weft__text_stream_text(&im->note[n]));
    }
}

static void print_scenario(struct weft_import *im, const struct weft_model *importer,
                           const struct weft_import_file *file, uint32_t files, FILE *out) {
    fprintf(out, "# Made by weft import %s of\n", importer->name);
    for (uint32_t f = 0; f < files; f++)
        fprintf(out, "#   %s (%s)\n", file[f].written, file[f].what);
    for (uint32_t n = 0; n < WEFT_IMPORT_NOTES; n++) {
        const char *text = weft__text_stream_text(&im->note[n]);
        if (*text) fprintf(out, "# %s\n", note_titles[n]);
        print_lines(out, "# - ", text);
    }
    for (uint32_t s = 0; s < WEFT_IMPORT_SECTIONS; s++) {
        const char *text = weft__text_stream_text(&im->section[s]);
        if (*text) fprintf(out, "\n%s:\n%s", section_names[s], text);
    }
}

/// What weft check says of the scenario; its name in errors; the first error.
struct refusal {
    const char *name;
    struct weft_error error;
};

static void on_refusal(void *context, uint32_t variant, const struct weft_error *error) {
    struct refusal *refusal = context;
    if (!*refusal->error.text) refusal->error = *error;
}

/// Checks that it can be read: the importer's YAML goes through the same checks as a user's. What a run would refuse in
/// what it says of the files is no error here, as the files may have nothing better: it is noted; *ret_noted.
static enum weft_status check_made(struct weft_import *im, const char *text, size_t size, bool *ret_noted,
                                   struct weft_error *ret_error) {
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *file = NULL;
    WEFT_ENDS(weft_scenario_end) struct weft_scenario *scenario = NULL;
    struct refusal refusal = {
        .name = weft_arena_format(im->arena, "%s%sthe scenario made", im->folder, *im->folder ? "/" : "")};
    enum weft_status status = weft_scenario_file_parse(refusal.name, text, size, NULL, 0, &file, ret_error);
    if (!status) status = weft_scenario_new(file, 0, &scenario, ret_error);
    *ret_noted = !status && weft_scenario_check(file, on_refusal, &refusal) != 0;
    if (*ret_noted) {
        const char *why = refusal.error.text;
        bool own = !strncmp(why, refusal.name, strlen(refusal.name)); // no such file is there to look at
        weft_import_note(im, WEFT_IMPORT_BROKEN, "a run refuses it: %s", own ? why + refusal.error.message_at : why);
    }
    return status;
}

static enum weft_status make_scenario(struct weft_import *im, const struct weft_model *importer,
                                      const struct weft_tree *tree, const struct weft_import_file *file, uint32_t files,
                                      FILE *out, struct weft_error *ret_error) {
    const struct weft_import_ops *ops = importer->ops;
    void *conf = weft_arena_alloc(im->arena, 1, importer->params->conf_size);
    enum weft_status status = weft_params_load(importer->params, tree, conf, im->arena, ret_error);
    if (!status) status = ops->make(conf, file, files, im, ret_error);
    if (status) return status;
    if (!*weft__text_stream_text(&im->section[WEFT_IMPORT_TOPOLOGY])) say_default_network(im, conf);
    if (!*weft__text_stream_text(&im->section[WEFT_IMPORT_WORKLOAD])) say_default_workload(im, conf);
    WEFT__TEXT_STREAM(whole, stream);
    print_scenario(im, importer, file, files, stream);
    struct weft_error why = {0};
    bool noted;
    const char *text = weft__text_stream_text(&whole);
    status = check_made(im, text, whole.size, &noted, &why);
    if (noted) {
        weft__text_stream_clear(&whole);
        print_scenario(im, importer, file, files, stream);
        text = weft__text_stream_text(&whole);
    }
    if (status)
        weft_error_set(ret_error, status, (struct weft_place){.file = file[0].path},
                       "says something that a scenario cannot have: %s", why.text + why.message_at);
    if (!status) fwrite(text, 1, whole.size, out);
    return status;
}

enum weft_status weft_import_write(const struct weft_model *importer, const struct weft_tree *tree,
                                   const char *const *path, uint32_t paths, const char *folder, FILE *out, FILE *losses,
                                   struct weft_error *ret_error) {
    assert(paths && importer->kind == WEFT_KIND_IMPORT);
    struct weft_import import = {.arena = weft_arena_new(WEFT_MEMORY_SCENARIO), .importer = importer, .folder = folder};
    struct weft_import_file *file = weft_arena_alloc(import.arena, paths, sizeof *file);
    enum weft_status status = WEFT_OK;
    open_streams(&import);
    for (uint32_t f = 0; f < paths && !status; f++)
        status = look_at(path[f], folder, import.arena, &file[f], ret_error);
    if (!status) status = recognise_files(importer, file, paths, import.arena, ret_error);
    if (!status) status = make_scenario(&import, importer, tree, file, paths, out, ret_error);
    if (!status && losses) print_losses(&import, losses);
    close_streams(&import);
    weft_arena_free(import.arena);
    return status;
}
