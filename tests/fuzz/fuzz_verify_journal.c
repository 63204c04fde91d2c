// SPDX-License-Identifier: Apache-2.0
// Journals of weft verify: a task that counts as done has a value for each metric, taken from one line.
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct weft_claim_metric metric[TASKS + 1] = {
        {.variant = 0}, {.variant = 1}, {.variant = 1}, {.variant = 2}}; // one value, two, and one
    static bool judged = true;
    struct weft_claim claim = {.metric = metric, .metrics = TASKS + 1};
    double value[TASKS + 1] = {NAN, NAN, NAN, NAN};
    struct weft_claim_result result = {.value = value};
    struct verified of = {0};
    struct verify_reading reading = {.of = &of, .claims = {&claim, 1, &result}, .judged = &judged};
    struct verify v = {.tasks = TASKS};
    struct verify_use use[TASKS];
    struct verify_task task[TASKS];
    for (uint32_t i = 0; i < TASKS; i++) {
        use[i] = (struct verify_use){.reading = &reading, .variant = i};
        task[i] = (struct verify_task){.key = i, .use = &use[i]};
        v.bucket[i] = &task[i];
    }
    FILE *journal = size ? fmemopen((void *)data, size, "r") : NULL;
    if (!journal) return 0;
    bool whole = verify_journal_read(&v, journal);
    fclose(journal);
    assert(whole == (data[size - 1] == '\n'));
    uint32_t done = 0;
    for (uint32_t i = 0; i < TASKS; i++)
        done += task[i].done;
    assert(done == v.known && (!of.status || done));
    return 0;
}
