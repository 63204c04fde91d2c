// SPDX-License-Identifier: Apache-2.0
// Runs a variant of a scenario and prints a table: its flow groups, or any other, by its name.
//
//   cc run.c $(pkg-config --cflags --libs weft) -o run && ./run SCENARIO [VARIANT [TABLE [COLUMN ...]]]
#include <math.h>
#include <stdio.h>

#include "weft/rows.h"
#include "weft/weft.h"

static const char *const usual[] = {"name", "count", "finished", "fct_ps.mean", "fct_ps.p99", "slowdown.p99"};

static void print_value(const struct weft_result_value *value) {
    if (!value->known)
        printf("%16s", "-");
    else if (value->type == WEFT_RESULT_TEXT)
        printf("%16s", value->text);
    else if (value->type == WEFT_RESULT_REAL)
        printf("%16.6g", value->real);
    else
        printf("%16llu", (unsigned long long)value->whole);
}

static enum weft_status print_table(const struct weft_result *result, const char *name, const char *const *columns,
                                    int n, struct weft_error *error) {
    const struct weft_result_table *table = weft_result_table_find(name);
    const struct weft_result_column *column[16];
    struct weft_rows *rows = NULL;
    if (!table) {
        fprintf(stderr, "no table %s\n", name);
        return WEFT_ERROR_INPUT;
    }
    for (int i = 0; i < n; i++) {
        column[i] = weft_result_column_find(table, columns[i]);
        if (!column[i]) {
            fprintf(stderr, "no column %s of %s\n", columns[i], name);
            return WEFT_ERROR_INPUT;
        }
        printf("%16s", columns[i]);
    }
    puts("");
    enum weft_status status = weft_rows_new(result, table, &rows, error);
    while (!status && weft_rows_next(rows)) {
        for (int i = 0; i < n; i++) {
            struct weft_result_value value = weft_rows_value(rows, column[i]);
            print_value(&value);
        }
        puts("");
    }
    weft_rows_free(rows);
    return status;
}

int main(int argc, char **argv) {
    struct weft_error error = {0};
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    if (argc < 2 || argc > 20) {
        fprintf(stderr, "usage: run SCENARIO [VARIANT [TABLE [COLUMN ...]]]\n");
        return 2;
    }
    enum weft_status status = weft_scenario_file_read(argv[1], NULL, 0, &file, &error);
    uint32_t variant = 0;
    if (!status && argc > 2) variant = weft_scenario_variant_find(file, argv[2]);
    if (!status && variant >= weft_scenario_variants(file)) {
        fprintf(stderr, "no variant %s; expected", argv[2]);
        for (uint32_t i = 0; i < weft_scenario_variants(file); i++)
            fprintf(stderr, "%s '%s'", i ? "," : "", weft_scenario_variant_name(file, i));
        fputs("\n", stderr);
        status = WEFT_ERROR_INPUT;
    }
    if (!status) status = weft_simulation_new(file, variant, &simulation, &error);
    if (!status) status = weft_simulation_run(simulation, NULL, &result, &error);
    if (result && argc > 4)
        status = print_table(result, argv[3], (const char *const *)&argv[4], argc - 4, &error);
    else if (result)
        status = print_table(result, "groups", usual, sizeof usual / sizeof *usual, &error);
    if (error.status) fprintf(stderr, "%s\n", error.text);
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    return (int)status;
}
