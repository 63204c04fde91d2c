// SPDX-License-Identifier: Apache-2.0
// weft models hardware: classes of hardware, and the values of one.
#include <stdio.h>

#include "cli.h"
#include "results.h"
#include "weft/hardware.h"

static void list_classes(FILE *file, const struct weft_hardware_classes *a) {
    const char *before = "";
    for (uint32_t k = 0; k < WEFT_HARDWARE_KINDS; k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < a->classes; i++) {
            const struct weft_hardware *h = &a->hardware[i];
            if (h->kind != k) continue;
            if (!n++)
                fprintf(file, "%s%s: {%s: NAME}\n", before, weft_hardware_kind_section(k), weft_hardware_kind_row(k));
            fprintf(file, "  %-18s %s\n", h->name, h->about);
            before = "\n";
        }
    }
    fprintf(file, "\nweft models hardware NAME shows the values of one; NAME may be a file of your own (./mine.yaml). "
                  "ideal, which "
                  "is no product, means the defaults of the section.\n");
}

static void print_value(FILE *file, const struct weft_hardware_value *v) {
    fprintf(file, "  %s: %s", v->key, v->typical);
    if (v->low || v->high) fprintf(file, ", %s to %s", v->low ? v->low : v->typical, v->high ? v->high : v->typical);
    fprintf(file, "   (%s; %s)\n", weft_hardware_bases[v->basis], v->source);
}

/// `named`: as the user names it, the file of one that is his own.
static void print_class(FILE *file, const struct weft_hardware *h, const char *named) {
    fprintf(file, "%s: %s\n  %s: {%s: %s}\n", h->name, h->about, weft_hardware_kind_section(h->kind),
            weft_hardware_kind_row(h->kind), named);
    for (uint32_t facts = 0; facts < 2; facts++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < h->n; i++) {
            if (h->value[i].fact != facts) continue;
            if (!n++)
                fprintf(file, facts ? "\nfacts\n" : "\nparameters of the section %s\n",
                        weft_hardware_kind_section(h->kind));
            print_value(file, &h->value[i]);
        }
    }
}

static const char *shown; ///< the name that was given; NULL: none
static void print_text(FILE *file, const void *subject) {
    const struct weft_hardware_classes *a = subject;
    if (shown)
        print_class(file, a->hardware, shown);
    else
        list_classes(file, a);
}

enum weft_status weft_cli_models_hardware(const struct weft_cli_options *o, const char *name,
                                          struct weft_error *ret_error) {
    struct weft_hardware_classes a = {0};
    enum weft_status status = weft_hardware_classes(name, o->arena, &a, ret_error);
    shown = name;
    return status ? status : weft_cli_answer(o, &weft__answer_hardware_classes, &a, print_text, ret_error);
}
