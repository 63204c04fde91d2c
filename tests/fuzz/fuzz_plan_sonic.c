// SPDX-License-Identifier: Apache-2.0
// Any bytes as config_db.json of a SONiC switch: refused with the file's name, or judged; the patch applied and judged
// again, nothing is left that a patch can mend.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "fuzz_file.h"
#include "weft/param_load.h"
#include "weft/plan_sonic.h"
#include "weft/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *path;

/// The next part of a pointer (RFC 6901).
static const char *next_part(const char *at, char *part, size_t size) {
    size_t n = 0;
    for (assert(*at == '/'), at++; *at && *at != '/'; at++) {
        assert(n + 1 < size);
        part[n++] = *at == '~' ? (*++at == '1' ? '/' : '~') : *at;
    }
    part[n] = 0;
    return at;
}

static void apply(json_t *config, const struct weft_sonic_change *change) {
    static char part[1 << 16];
    json_t *at = config;
    const char *rest = next_part(change->pointer, part, sizeof part);
    for (; *rest; rest = next_part(rest, part, sizeof part)) {
        if (!json_object_get(at, part)) json_object_set_new(at, part, json_object());
        at = json_object_get(at, part);
    }
    assert(!json_object_set_new(at, part, json_string(change->value)));
}

/// Findings of the file at `path`; false: it is refused.
static bool judge(struct weft_arena *arena, struct weft_sonic_finding **ret_finding, uint32_t *ret_n) {
    struct weft_plan_pfc_conf base;
    struct weft_tree *tree = NULL;
    struct weft_sonic *sonic = NULL;
    struct weft_error error = {0};
    static const char text[] = "{formula: sonic, rate: 100Gbps, delay: 0s}";
    if (weft_tree_parse("base", text, sizeof text - 1, arena, &tree, &error) ||
        weft_params_load(&weft_plan_pfc_table, tree, &base, arena, &error))
        abort();
    enum weft_status status = weft_sonic_read(&path, 1, NULL, arena, &sonic, &error);
    assert(!status == !*error.text);
    if (status) assert(!strncmp(error.text, path, strlen(path)));
    if (!status) *ret_finding = weft_plan_sonic(sonic, &base, arena, ret_n);
    return !status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t n = 0, again = 0;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    path = fuzz_file_put(data, size);
    struct weft_sonic_finding *f = NULL;
    json_t *config = judge(arena, &f, &n) ? json_loadb((const char *)data, size, 0, NULL) : NULL;
    for (uint32_t i = 0; config && i < n; i++) {
        assert(f[i].rule < WEFT_SONIC_RULES && *f[i].where && *f[i].reason && f[i].changes <= 2);
        for (uint32_t k = 0; k < f[i].changes; k++)
            apply(config, &f[i].change[k]);
    }
    char *text = config ? json_dumps(config, 0) : NULL;
    if (text) {
        path = fuzz_file_put(text, strlen(text));
        if (!judge(arena, &f, &again)) abort();
        for (uint32_t i = 0; i < again; i++)
            assert(!f[i].changes);
    }
    free(text);
    json_decref(config);
    weft_arena_free(arena);
    return 0;
}
