// SPDX-License-Identifier: Apache-2.0
// The program against scenarios that it must refuse: those of bad_scenarios.txt, and some too large or too odd to be
// written down. Each goes through `weft check` and through `weft run --out`.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "weft/random.h"

static char folder[] = "/tmp/weft-test-bad-XXXXXX";
static const char scenario_name[] = "s.yaml";

static int set_up(void **state) {
    (void)state;
    return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    unlink(scenario_name);
    return chdir("/") || rmdir(folder);
}

struct outcome {
    int status; ///< exit status
    char out[4096], err[4096];
};

static void read_back(int fd, char *text, size_t size) {
    ssize_t n = pread(fd, text, size - 1, 0);
    text[n > 0 ? n : 0] = 0;
    close(fd);
}

static int nameless_file(void) {
    char name[] = "/tmp/weft-test-bad-output-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    return fd;
}

static void run_program(char *const *args, struct outcome *ret) {
    int out = nameless_file(), err = nameless_file();
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct rlimit cpu = {60, 60};
        setrlimit(RLIMIT_CPU, &cpu);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        execv(getenv("WEFT"), args);
        _exit(127);
    }
    int wait_status;
    assert_int_equal(waitpid(child, &wait_status, 0), child);
    ret->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -WTERMSIG(wait_status);
    read_back(out, ret->out, sizeof ret->out);
    read_back(err, ret->err, sizeof ret->err);
}

static unsigned entries_in_folder(void) {
    DIR *dir = opendir(".");
    assert_non_null(dir);
    unsigned n = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

/// "FILE:LINE:COLUMN: ", an option, or of a file that is empty or none its name.
static int has_place(const char *message) {
    int column;
    size_t name = strcspn(message, ": ");
    return sscanf(message, "%*[^:]:%*d:%d: ", &column) == 1 || !strncmp(message, "--", 2) ||
           !strncmp(message, ".: ", 3) || (name > 5 && !strncmp(message + name - 5, ".yaml: ", 7));
}

static void judge(const char *title, const char *command, const struct outcome *o, const char *expected) {
    if (o->status != 2) fail_msg("%s: weft %s: exit status %d: %s", title, command, o->status, o->err);
    if (*o->out) fail_msg("%s: weft %s prints \"%s\"", title, command, o->out);
    if (strncmp(o->err, "weft: ", 6)) fail_msg("%s: weft %s: \"%s\"", title, command, o->err);
    const char *newline = strchr(o->err, '\n');
    if (!newline || newline[1]) fail_msg("%s: weft %s: not one line: \"%s\"", title, command, o->err);
    if (!strstr(o->err, expected)) fail_msg("%s: \"%s\" lacks \"%s\"", title, o->err, expected);
    if (!has_place(o->err + 6)) fail_msg("%s: \"%s\" has no place", title, o->err);
    if (entries_in_folder() != 1) fail_msg("%s: weft %s has written something", title, command);
}

/// Refused by `check` and by `run`. `args`: more arguments, separated by single spaces, or NULL.
static void refuse(const char *title, const char *args, const char *expected) {
    char more[256] = "", *rest = more, *argv[16];
    struct outcome o;
    snprintf(more, sizeof more, "%s", args ? args : "");
    unsigned n = 0;
    argv[n++] = (char *)"weft";
    argv[n++] = (char *)"check";
    argv[n++] = (char *)scenario_name;
    while (*more && rest && n < 12)
        argv[n++] = strsep(&rest, " ");
    argv[n] = NULL;
    run_program(argv, &o);
    judge(title, "check", &o, expected);
    argv[1] = (char *)"run";
    argv[n++] = (char *)"--out";
    argv[n++] = (char *)"results";
    argv[n++] = (char *)"--force";
    argv[n] = NULL;
    run_program(argv, &o);
    judge(title, "run", &o, expected);
}

static void write_scenario(const void *text, size_t size) {
    FILE *file = fopen(scenario_name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static char *read_cases(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/fault/bad_scenarios.txt", getenv("WEFT_ROOT"));
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is not there", path);
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    assert_true(n > 0);
    return text;
}

/// Cuts the next line off *rest.
static char *line_of(char **rest) {
    return strsep(rest, "\n");
}

static void listed(void **state) {
    (void)state;
    char *text = read_cases(), *next = strstr(text, "\n=== ");
    unsigned cases = 0;
    while (next) {
        char *rest = next + 5;
        next = strstr(rest, "\n=== ");
        if (next) *next = 0;
        char *title = line_of(&rest), *expected = NULL, *args = NULL, *line;
        while ((line = line_of(&rest)) && strcmp(line, "+++")) {
            if (!strncmp(line, "expect ", 7)) expected = line + 7;
            if (!strncmp(line, "args ", 5)) args = line + 5;
        }
        assert_non_null(expected);
        write_scenario(rest, strlen(rest));
        refuse(title, args, expected);
        cases++;
    }
    free(text);
    assert_true(cases > 40);
}

/// All mistakes at once, one a line with its place, by every command that reads the scenario; each once, whatever the
/// number of variants, and none that follows from another.
static void several(void **state) {
    (void)state;
    static const struct {
        const char *text, *lines;
    } cases[] = {
        {"topology: {kind: leaf_spine, leafs: 2, delay: 5}\n"
         "workload: [{kind: incast, srcs: host-1, dst: host-0, size: 64k}, {kind: flow, bytes: 1, src: a, receiver: "
         "b}]\n"
         "switch: {ecn: on, aqm: {kind: wred, pmax: 0.1, kmin: 1KB}}\n"
         "host: {cc: dcqn}\nrnu: {seed: 1}\nvariants: {x: {}, y: {host.mtu: 1}}\n",
         "5:1: rnu: unknown key; did you mean \"run\"?\n"
         "1:30: topology.leafs: unknown key; did you mean \"leaves\"?\n"
         "1:47: topology.delay: \"5\" has no unit; \n"
         "4:12: host.cc: no cc \"dcqn\"; did you mean \"dcqcn\"?\n"
         "3:10: switch.ecn: unknown key; did you mean \"aqm\"?\n"
         "3:37: switch.aqm.pmax: unknown key; did you mean \"max_probability\"?\n"
         "3:48: switch.aqm.kmin: unknown key; did you mean \"min\"?\n"
         "2:27: workload.0.srcs: unknown key; did you mean \"sources\"?\n"
         "2:60: workload.0.size: \"64k\": \"k\" may be 1000 or 1024; expected KB or KiB\n"
         "2:79: workload.1.bytes: unknown key; did you mean \"size\"?\n"
         "2:97: workload.1.receiver: unknown key; did you mean \"dst\"?\n"
         "6:33: host.mtu: \"1\" has no unit\n"},
        {"topology: {type: single}\nhost: {transport: roce, timeout: 1ms}\n"
         "devices: [{match: a, switch: {buffer: {sizes: 1MB}}}, {match: b, switch: {pfc: {quant: 1}}}, {mtach: c}]\n"
         "capture: {prots: a}\ncontrol: {x: 1}\n",
         "1:12: topology.type: unknown key; did you mean \"kind\"?\n"
         "2:19: host.transport: no transport \"roce\"\n"
         "3:40: devices.0.switch.buffer.sizes: unknown key; did you mean \"size\"?\n"
         "3:81: devices.1.switch.pfc.quant: unknown key; did you mean \"quanta\"?\n"
         "3:95: devices.2.mtach: unknown key; did you mean \"match\"?\n"
         "5:11: control.x: unknown key; \n"
         "4:11: capture.prots: unknown key; did you mean \"ports\"?\n"},
        {"topology: single\nhost: {mtu: 1}\nclaims: [{text: a, that: 1 < 2}]\n",
         "3:26: claims.0.that: names no metric\n2:13: host.mtu: \"1\" has no unit\n"},
    };
    static const char *const commands[] = {"check", "run", "compare", "topo", "verify"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
            struct outcome o;
            char *argv[] = {(char *)"weft", (char *)commands[c], (char *)scenario_name, NULL};
            bool claims = strstr(cases[i].text, "claims");
            if ((c == 4) != claims && c) continue; // verify wants claims; the others do not judge them first
            write_scenario(cases[i].text, strlen(cases[i].text));
            run_program(argv, &o);
            assert_int_equal(o.status, 2);
            char *rest = o.err, *wanted = strdup(cases[i].lines), *left = wanted, *line;
            while ((line = strsep(&left, "\n")) && *line) {
                char *got = strsep(&rest, "\n"), place[200];
                snprintf(place, sizeof place, "weft: s.yaml:%s", line);
                if (!got || !strstr(got, place)) fail_msg("%s: \"%s\"; expected \"%s\"", commands[c], got, place);
            }
            if (rest && *rest) fail_msg("%s: more: \"%s\"", commands[c], rest);
            free(wanted);
        }
}

/// Of very many mistakes the first ones are shown, and the number of the rest.
static void very_many(void **state) {
    (void)state;
    char text[8192];
    size_t n = (size_t)sprintf(text, "topology: single\nworkload:\n");
    for (int i = 0; i < 100; i++)
        n += (size_t)sprintf(text + n, "  - {kind: flow, src: a, dst: b, key-%d: 1}\n", i);
    write_scenario(text, n);
    struct outcome o;
    char *argv[] = {(char *)"weft", (char *)"check", (char *)scenario_name, NULL};
    run_program(argv, &o);
    assert_int_equal(o.status, 2);
    assert_non_null(strstr(o.err, "s.yaml:3:34: workload.0.key-0: unknown key"));
    assert_non_null(strstr(o.err, "s.yaml:23:34: workload.20.key-20: unknown key"));
    assert_null(strstr(o.err, "key-21"));
    assert_non_null(strstr(o.err, "\nweft: and 79 more mistakes\n"));
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void large_file(void **state) {
    (void)state;
    write_scenario("topology: single\n", 17);
    assert_int_equal(truncate(scenario_name, 100 << 20), 0);
    double start = seconds();
    refuse("100 MB", NULL, ": larger than 16 MiB");
    assert_true(seconds() - start < 10); // refused before it is read
}

static void garbage(void **state) {
    (void)state;
    enum { BYTES = 4096 };
    unsigned char bytes[BYTES];
    for (unsigned seed = 0; seed < 20; seed++) {
        struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
        for (unsigned i = 0; i < BYTES; i++)
            bytes[i] = (unsigned char)weft_random_u64(&random);
        bytes[BYTES / 2] = 0xff; // no UTF-8 text holds this
        write_scenario(bytes, BYTES);
        refuse("garbage", NULL, "not text; expected YAML in UTF-8");
    }
    write_scenario("\x7f"
                   "ELF\2\1\1",
                   7);
    refuse("a program", NULL, "s.yaml:1:1: byte 0x7f is not text");
}

static void deep(void **state) {
    (void)state;
    enum { LEVELS = 1 << 20 };
    char *text = malloc(2 * LEVELS);
    memset(text, '[', 2 * LEVELS);
    write_scenario(text, LEVELS);
    refuse("a million brackets", NULL, "s.yaml:1:");
    for (unsigned i = 0; i < LEVELS; i++)
        memcpy(text + 2 * i, "- ", 2);
    write_scenario(text, 2 * LEVELS);
    refuse("a million dashes", NULL, "s.yaml:1:");
    free(text);
}

/// However long and odd what the user wrote, the message is one line that says what was expected.
static void odd_words(void **state) {
    (void)state;
    static const char odd[] = "topology: \"x\\e[31m\\ny\"\n";
    write_scenario(odd, sizeof odd - 1);
    refuse("escapes", NULL, ":1:11: topology: no topology \"x?[31m?y\"; expected one of ");
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG);
    memset(text, 'a', LONG);
    static const char head[] = "topology: single\nhost: {mtu: ";
    memcpy(text, head, sizeof head - 1);
    memcpy(text + LONG - 2, "}\n", 2);
    write_scenario(text, LONG);
    refuse("a long word", NULL, "aaaa\": expected a size");
    memset(text, 'a', LONG);
    memcpy(text, "topology: ", 10);
    write_scenario(text, LONG);
    refuse("a long word", NULL, "aaaa\"; expected one of ");
    memset(text, 'a', LONG);
    memcpy(text + LONG - 4, ": 1\n", 4);
    write_scenario(text, LONG);
    refuse("a key longer than YAML's 1024 characters", NULL,
           "not YAML: mapping values are not allowed in this context");
    write_scenario(text + LONG - 1004, 1004);
    refuse("a long key", NULL, "aaaa: unknown key; expected one of name");
    free(text);
}

static void no_file(void **state) {
    (void)state;
    write_scenario("topology: single\n", 17);
    char *const cases[][2] = {{(char *)"none.yaml", (char *)"none.yaml: cannot be read: No such file"},
                              {(char *)".", (char *)".: a folder without results; expected a scenario file"}};
    for (unsigned i = 0; i < 2; i++) {
        char *const args[] = {(char *)"weft", (char *)"check", cases[i][0], NULL};
        struct outcome o;
        run_program(args, &o);
        judge("no file", "check", &o, cases[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listed),    cmocka_unit_test(large_file), cmocka_unit_test(garbage),
        cmocka_unit_test(several),   cmocka_unit_test(very_many),  cmocka_unit_test(deep),
        cmocka_unit_test(odd_words), cmocka_unit_test(no_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
