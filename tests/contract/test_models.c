// SPDX-License-Identifier: Apache-2.0
// What every model of every kind owes: a name, a summary, a source, parameters with help and defaults that load.
#include "models.h"

#include "weft/aqm.h"
#include "weft/arbiter.h"
#include "weft/buffer.h"
#include "weft/cc.h"
#include "weft/credit.h"
#include "weft/fabric.h"
#include "weft/import.h"
#include "weft/placement.h"
#include "weft/queueing.h"
#include "weft/retry.h"
#include "weft/route.h"
#include "weft/scheduler.h"
#include "weft/spray.h"
#include "weft/transport.h"

static void describes_itself(const struct weft_model *model) {
    assert_non_null(model->summary);
    assert_non_null(model->source);
    assert_non_null(model->params);
    assert_non_null(model->ops);
    assert_true(model->params->conf_size > 0);
    for (uint32_t i = 0; i < model->params->n; i++) {
        assert_true(strlen(model->params->rows[i].help) > 0);
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(model->params->rows[i].name, model->params->rows[k].name);
    }
}

static void all_describe_themselves(void **state) {
    for (unsigned kind = 0; kind < WEFT_KINDS; kind++)
        for (uint32_t i = 0; i < weft_model_count(kind); i++) {
            const struct weft_model *model = weft_model_at(kind, i);
            assert_int_equal(model->kind, kind);
            assert_ptr_equal(weft_model_find(kind, model->name), model); // names are unique within a kind
            describes_itself(model);
        }
}

static bool has_defaults(const struct weft_param_table *table) {
    for (uint32_t i = 0; i < table->n; i++)
        if (!table->rows[i].dflt) return false;
    return true;
}

static void defaults_load(void **state) {
    for (unsigned kind = 0; kind < WEFT_KINDS; kind++)
        for (uint32_t i = 0; i < weft_model_count(kind); i++) {
            const struct weft_model *model = weft_model_at(kind, i);
            if (has_defaults(model->params)) free(conf_of(model, NULL));
        }
}

/// Every pointer of an ops struct that is required.
static void required(const struct weft_model *model) {
    const void *ops = model->ops;
    switch (model->kind) {
    case WEFT_KIND_ARBITER: {
        const struct weft_arbiter_ops *o = ops;
        assert_true(o->state_size && o->init && o->match);
        break;
    }
    case WEFT_KIND_SCHEDULER: {
        const struct weft_scheduler_ops *o = ops;
        assert_true(o->pick != NULL);
        break;
    }
    case WEFT_KIND_BUFFER: {
        const struct weft_buffer_ops *o = ops;
        assert_true(o->fit && o->plan && o->state_size && o->init && o->admit && o->release && o->review &&
                    o->set_lossless && o->level && o->room && o->level_max && o->check);
        break;
    }
    case WEFT_KIND_AQM: {
        const struct weft_aqm_ops *o = ops;
        assert_true(o->on_enqueue != NULL);
        break;
    }
    case WEFT_KIND_ROUTE: {
        const struct weft_route_ops *o = ops;
        assert_true((o->select || o->choose) && o->hash_seed);
        break;
    }
    case WEFT_KIND_CC: {
        const struct weft_cc_ops *o = ops;
        assert_true(o->state_size && o->on_start && o->check);
        break;
    }
    case WEFT_KIND_TRANSPORT: {
        const struct weft_transport_ops *o = ops;
        assert_true(o->on_turn && o->on_data && o->on_control && o->on_start && o->on_sender_timer &&
                    o->on_receiver_timer && o->patience && o->check_sender && o->check_receiver);
        break;
    }
    case WEFT_KIND_SPRAY: {
        const struct weft_spray_ops *o = ops;
        assert_true(o->state_size && o->values && o->start && o->next && o->check);
        break;
    }
    case WEFT_KIND_CREDIT: {
        const struct weft_credit_ops *o = ops;
        assert_true(o->priorities && o->unit && o->grant);
        break;
    }
    case WEFT_KIND_RETRY: {
        const struct weft_retry_ops *o = ops;
        assert_true(o->wait != NULL);
        break;
    }
    case WEFT_KIND_QUEUEING: {
        const struct weft_queueing_ops *o = ops;
        if (!o->push) { // one FIFO per output and priority, which the switch keeps
            const struct weft_queueing_ops none = {0};
            assert_memory_equal(o, &none, sizeof none);
            break;
        }
        assert_true(o->state_size && o->init && o->push && o->pop && o->ready && o->inputs && o->depth && o->each);
        break;
    }
    case WEFT_KIND_PLACEMENT: {
        const struct weft_placement_ops *o = ops;
        assert_true(o->place != NULL);
        break;
    }
    case WEFT_KIND_IMPORT: {
        const struct weft_import_ops *o = ops;
        assert_true(o->recognise && o->make);
        break;
    }
    case WEFT_KIND_FABRIC: {
        const struct weft_fabric_ops *o = ops;
        assert_true(o->solve != NULL);
        break;
    }
    default:
        break;
    }
}

static void required_ops_are_there(void **state) {
    for (unsigned kind = 0; kind < WEFT_KINDS; kind++)
        for (uint32_t i = 0; i < weft_model_count(kind); i++)
            required(weft_model_at(kind, i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_describe_themselves),
        cmocka_unit_test(defaults_load),
        cmocka_unit_test(required_ops_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
