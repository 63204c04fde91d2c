// SPDX-License-Identifier: Apache-2.0
// A claim that says "seeds: some" is not unexpected in a run of one seed, whichever way it turns out. Here it can fail:
// with the seeds of the study it has to hold with some and not with others, and all other claims of its file with each.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void claims_of_some_seeds_depend_on_them(void **state) {
    (void)state;
    char path[512], command[1024];
    unsigned files = 0, failed = 0;
    FILE *list = popen("grep -rl --include='*.yaml' '^ *seeds: some' \"$WEFT_ROOT/scenarios\" | LC_ALL=C sort", "r");
    assert_non_null(list);
    for (; fgets(path, sizeof path, list); files++) {
        path[strcspn(path, "\n")] = 0;
        snprintf(command, sizeof command, "\"$WEFT\" verify '%s' --seeds 1..5,11 --jobs 2", path);
        int status = system(command);
        if (WIFEXITED(status) && !WEXITSTATUS(status)) continue;
        print_error("%s: wait status %d\n", path, status);
        failed++;
    }
    assert_int_equal(pclose(list), 0);
    assert_true(files);
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_of_some_seeds_depend_on_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
