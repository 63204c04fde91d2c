// SPDX-License-Identifier: Apache-2.0
// Runs the program and ends it in the middle by a signal. Include after command.h.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

/// True once the process catches the signal.
static inline bool catches(pid_t process, int number) {
    char path[64], line[256];
    unsigned long long caught = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "SigCgt: %llx", &caught) == 1) break;
    fclose(file);
    return caught >> (number - 1) & 1;
}

/// Runs the program with its output in the fixture's folder, as one process: its id.
static inline pid_t started(const struct fixture *f, const char *arguments) {
    char command[512];
    snprintf(command, sizeof command, "exec \"$WEFT\" %s", arguments);
    pid_t child = fork();
    if (!child) {
        if (chdir(f->dir) || !freopen("out.txt", "w", stdout) || !freopen("err.txt", "w", stderr)) _exit(99);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(98);
    }
    return child;
}

/// Waits for a condition of the shell, in the fixture's folder. The program must be busy still.
static inline void await(const struct fixture *f, pid_t child, const char *condition) {
    char command[512];
    int status = 0;
    snprintf(command, sizeof command, "cd %s && %s", f->dir, condition);
    for (unsigned i = 0; i < 1200 && system(command); i++)
        usleep(50000);
    if (system(command)) fail_msg("this did not come: %s", condition);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0); // still busy
}

/// A signal in the middle of long runs, when `condition` holds (NULL: after a while): the exit status. Their output is
/// in the fixture, and *ret_id is the process.
static inline int signalled_when(struct fixture *f, int number, const char *arguments, const char *condition,
                                 long *ret_id) {
    pid_t child = started(f, arguments);
    int status = 0;
    for (unsigned i = 0; i < 600 && !catches(child, number); i++)
        usleep(50000);
    await(f, child, condition ? condition : "sleep 0.3");
    kill(child, number);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    slurp(f, "out.txt", f->out, sizeof f->out);
    slurp(f, "err.txt", f->err, sizeof f->err);
    *ret_id = child;
    return WEXITSTATUS(status);
}
static inline int signalled(struct fixture *f, int number, const char *arguments, long *ret_id) {
    return signalled_when(f, number, arguments, NULL, ret_id);
}

/// Kills the program, which can do nothing about it, when `condition` holds.
static inline void killed_when(const struct fixture *f, const char *arguments, const char *condition) {
    pid_t child = started(f, arguments);
    int status = 0;
    await(f, child, condition);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}
