// SPDX-License-Identifier: Apache-2.0
// Gives every fuzz target its seeds: those of corpus/, and the samples of foreign files to what reads such files. No
// input may end the program. Needs no fuzzer.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FUZZ_TARGET(name) int fuzz_##name(const uint8_t *data, size_t size);
FUZZ_TARGETS
#undef FUZZ_TARGET

static const struct target {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define FUZZ_TARGET(name) {#name, fuzz_##name},
    FUZZ_TARGETS
#undef FUZZ_TARGET
};

enum { PATH_SIZE = 1024, SEED_BYTES_MAX = 1 << 20 };

static unsigned run_seed(const struct target *t, const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(SEED_BYTES_MAX);
    if (!file || !data) {
        perror(path);
        exit(1);
    }
    size_t n = fread(data, 1, SEED_BYTES_MAX, file);
    fclose(file);
    fprintf(stderr, "%s %s\n", t->name, path); // the last line names what ended the program
    t->run(data, n);
    free(data);
    return 1;
}

static unsigned run_folder(const struct target *t, const char *path) {
    char below[PATH_SIZE];
    struct stat is;
    unsigned n = 0;
    DIR *folder = opendir(path);
    for (struct dirent *d; folder && (d = readdir(folder));) {
        if (d->d_name[0] == '.' || (size_t)snprintf(below, sizeof below, "%s/%s", path, d->d_name) >= sizeof below)
            continue;
        if (stat(below, &is)) continue;
        n += S_ISDIR(is.st_mode) ? run_folder(t, below) : run_seed(t, below);
    }
    if (folder) closedir(folder);
    return n;
}

int main(void) {
    const char *root = getenv("WEFT_ROOT");
    char path[PATH_SIZE];
    unsigned seeds = 0, without = 0;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const struct target *t = &targets[i];
        unsigned before = seeds;
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/fuzz_%s", root ? root : ".", t->name);
        seeds += run_folder(t, path);
        snprintf(path, sizeof path, "%s/examples/import", root ? root : ".");
        if (!strncmp(t->name, "import_", 7) || !strncmp(t->name, "in_place_", 9)) seeds += run_folder(t, path);
        if (seeds == before) {
            without++;
            t->run((const uint8_t *)"{}", 2);
        }
    }
    printf("%zu targets, %u seeds; %u targets without seeds got \"{}\"\n", sizeof targets / sizeof *targets, seeds,
           without);
    return seeds ? 0 : 1;
}
