// SPDX-License-Identifier: Apache-2.0
// A shared buffer that promises its ports more than it has is refused before anything runs, at the user's line.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/sim.h"

static enum weft_status check(const char *total, struct weft_error *ret_error) {
    char path[] = "/tmp/weft-fit-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file,
            "topology: {kind: single, hosts: 64}\n"
            "switch:\n"
            "  buffer: {kind: dynamic, total: %s, reserve: 4KB, headroom: 100KB}\n"
            "  pfc: {priorities: [3, 4]}\n"
            "workload: [{kind: permutation, size: 1KB}]\n",
            total);
    fclose(file);
    struct weft_scenario_file *read;
    struct weft_scenario *scenario;
    struct weft_topology *topology;
    assert_int_equal(weft_scenario_file_read(path, NULL, 0, &read, ret_error), WEFT_OK);
    assert_int_equal(weft_scenario_new(read, 0, &scenario, ret_error), WEFT_OK);
    assert_int_equal(weft_topology_new(&scenario->topology, scenario->topology_tree, scenario->events_tree,
                                       scenario->arena, &topology, ret_error),
                     WEFT_OK);
    enum weft_status status = weft_simulation_check(scenario, topology, ret_error);
    weft_scenario_free(scenario);
    weft_scenario_file_free(read);
    unlink(path);
    return status;
}

// 64 ports x (8 x 4 KB + 2 x 100 KB) = 14 848 000 B.
static void a_buffer_must_hold_what_it_promises(void **state) {
    struct weft_error error = {0};
    assert_int_equal(check("14848000B", &error), WEFT_OK);
    assert_int_equal(check("14847999B", &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, ":3:"));
    assert_non_null(strstr(error.text, "switch.buffer"));
    assert_non_null(strstr(error.text, "14848000 B"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_buffer_must_hold_what_it_promises)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
