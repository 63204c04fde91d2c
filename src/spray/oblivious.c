// SPDX-License-Identifier: Apache-2.0
// Oblivious spraying: the entropy values in turn, each once per round; every round has a different order, index XOR a
// number drawn for the round. The fate of packets changes nothing. Source: uet-htsim, sim/uec_mp.cpp (Ultra Ethernet
// Consortium's reference simulator). Difference: the random numbers.
#include "spray/rounds.h"
#include "weft/param.h"

struct oblivious_conf {
    struct weft__spray_conf spray;
};

static const struct weft_param_table params =
    WEFT_PARAM_TABLE_OF("oblivious", struct oblivious_conf, .check = weft__spray_check,
                        WEFT__SPRAY_VALUES_ROW("64", "entropy values per queue pair, a power of 2 (uet-htsim: 64)"));

static size_t oblivious_state_size(const void *conf) {
    return sizeof(struct weft__rounds);
}

static void oblivious_start(void *state, const void *conf, const struct weft_random *random, uint32_t planes) {
    weft__rounds_start(state, random, weft__spray_values(conf));
}

static uint32_t oblivious_next(void *state, const void *conf, weft_time_ps now, uint32_t plane) {
    uint32_t value = weft__rounds_value(state);
    weft__rounds_step(state, weft__spray_values(conf));
    return value;
}

static const char *oblivious_check(const void *state, const void *conf) {
    return weft__rounds_value(state) < weft__spray_values(conf) ? NULL : "a value beyond the last one";
}

const struct weft_model weft__spray_oblivious =
    WEFT_MODEL_OF(SPRAY, "oblivious", "entropy values in turn, in another order each round, whatever comes of packets",
                  "uet-htsim, sim/uec_mp.cpp", &params,
                  &(const struct weft_spray_ops){
                      .state_size = oblivious_state_size,
                      .values = weft__spray_values,
                      .start = oblivious_start,
                      .next = oblivious_next,
                      .check = oblivious_check,
                  },
                  .draws = true);
