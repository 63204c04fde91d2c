// SPDX-License-Identifier: Apache-2.0
// Values of NCCL_ALGO and NCCL_PROTO: a list of names, those that follow ^ excluded; or several of these, each after
// the function that it is for. Source: NVIDIA/nccl 2.30.7, src/graph/tuning.cc (parseList).
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "weft/nccl.h"

static const char *const functions[] = {"broadcast", "reduce", "allgather", "reducescatter", "allreduce", NULL};

static uint32_t name_at(const char *const *names, const char *word, size_t length) {
    for (uint32_t k = 0; names[k]; k++)
        if (strlen(names[k]) == length && !strncasecmp(names[k], word, length)) return k;
    return WEFT_NONE;
}

static bool is_collnet(const char *word, size_t length) {
    static const char *const names[] = {"collnet", "collnetdirect", "collnetchain", NULL};
    return name_at(names, word, length) != WEFT_NONE;
}

/// A list without functions. NULL, or the word that is no name.
static const char *read_list(const char *list, size_t length, const char *const *names, uint32_t *ret) {
    bool excludes = length && *list == '^';
    const char *end = list + length, *word = list + excludes;
    uint32_t mask = 0, all = 0;
    for (uint32_t k = 0; names[k]; k++)
        all |= 1u << k;
    do {
        size_t n = 0;
        while (word + n < end && word[n] != ',')
            n++;
        uint32_t k = name_at(names, word, n);
        bool left_out = excludes && is_collnet(word, n);
        if (k == WEFT_NONE && !left_out) return word;
        if (!left_out) mask |= 1u << k;
        word += n + 1;
    } while (word <= end);
    *ret = excludes ? all & ~mask : mask;
    return NULL;
}

static const char *say_wrong(const char *word, const char *const *names, char *text, size_t size) {
    if (!size) return word;
    int length = (int)strcspn(word, ",;:");
    bool collnet = is_collnet(word, (size_t)length) && names == weft_nccl_algorithm_names;
    int n = snprintf(text, size, "'%.*s' %s; expected a list of ", length, word,
                     collnet ? "reduces in the network (SHARP), which needs a plug-in that is not modelled"
                             : "is not expected here");
    for (uint32_t k = 0; names[k] && n > 0 && (size_t)n < size; k++)
        n += snprintf(text + n, size - (size_t)n, "%s%s", k ? ", " : "", names[k]);
    if (n > 0 && (size_t)n < size) snprintf(text + n, size - (size_t)n, ", after ^ those to leave out");
    return text;
}

const char *weft_nccl_mask(const char *value, const char *const *names, uint32_t ret_mask[WEFT_NCCL_FUNCTIONS],
                           char *text, size_t size) {
    uint32_t all = 0;
    for (uint32_t k = 0; names[k]; k++)
        all |= 1u << k;
    for (uint32_t f = 0; f < WEFT_NCCL_FUNCTIONS; f++)
        ret_mask[f] = all;
    while (*value) {
        size_t length = strcspn(value, ";"), colon = strcspn(value, ":;");
        uint32_t mask, f = WEFT_NONE;
        const char *list = value;
        if (value[colon] == ':') {
            f = name_at(functions, value, colon);
            if (f == WEFT_NONE) return say_wrong(value, functions, text, size);
            list = value + colon + 1;
        }
        const char *wrong = read_list(list, length - (size_t)(list - value), names, &mask);
        if (wrong) return say_wrong(wrong, names, text, size);
        for (uint32_t k = 0; k < WEFT_NCCL_FUNCTIONS; k++)
            if (f == WEFT_NONE || f == k) ret_mask[k] = mask;
        value += length + (value[length] == ';');
    }
    return NULL;
}
