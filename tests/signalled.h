// SPDX-License-Identifier: Apache-2.0
// Runs the program and ends it in the middle by a signal. Include after command.h.
#ifndef WEFT_TESTS_SIGNALLED_H
#define WEFT_TESTS_SIGNALLED_H

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

/// A signal in the middle of long runs: the exit status. Their output is in the fixture, and *ret_id is the process.
static inline int signalled(struct fixture *f, int number, const char *arguments, long *ret_id) {
    char command[512];
    snprintf(command, sizeof command, "exec \"$WEFT\" %s", arguments);
    pid_t child = fork();
    if (!child) {
        if (chdir(f->dir) || !freopen("out.txt", "w", stdout) || !freopen("err.txt", "w", stderr)) _exit(99);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(98);
    }
    int status = 0;
    for (unsigned i = 0; i < 600 && !catches(child, number); i++)
        usleep(50000);
    usleep(300000);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0); // still busy
    kill(child, number);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    slurp(f, "out.txt", f->out, sizeof f->out);
    slurp(f, "err.txt", f->err, sizeof f->err);
    *ret_id = child;
    return WEXITSTATUS(status);
}

#endif
