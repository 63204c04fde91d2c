// SPDX-License-Identifier: Apache-2.0
// The answer of weft models hardware: classes, and the values of each.
#include "hardware/hardware.h"
#include "weft/param.h"
#include "weft/result.h"

static const char *const kind_names[] = {
#define WEFT_HARDWARE(kind, name, section, row, what, table) name,
#include "weft/hardware.def"
    NULL};

static const struct weft_result_table answer_table =
    WEFT_RESULT_TABLE_OF("hardware_classes", OBJECT, "classes of hardware", WEFT_RESULT_SUBJECT,
                         WEFT_RESULT(struct weft_hardware_classes, classes, COUNT, "classes listed"));

WEFT_RESULT_VALUE_OF(section_of, struct weft_hardware, h,
                     weft_result_words(weft_arena_format(c->arena, "%s.%s", weft_hardware_kind_section(h->kind),
                                                         weft_hardware_kind_row(h->kind))))
static const struct weft_result_table class_table = WEFT_RESULT_TABLE_OF(
    "class", LIST, "a class of hardware", WEFT_RESULT_EACH(struct weft_hardware_classes, hardware, classes),
    WEFT_RESULT(struct weft_hardware, name, TEXT, "name of the class", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_OF_NAMES(0, struct weft_hardware, kind, "kind", kind_names, "kind of hardware: chip, nic, ..."),
    WEFT_RESULT_CALL(section_of, "named_by", TEXT, "parameter of a scenario that names such a class: switch.chip"),
    WEFT_RESULT(struct weft_hardware, about, TEXT, "product, rate, and what the class stands for"));

const char *weft_hardware_unit(const struct weft_hardware_value *v) {
    switch (v->row->type) {
    case WEFT_PARAM_TIME:
        return "ps";
    case WEFT_PARAM_RATE:
        return "bit/s";
    case WEFT_PARAM_BYTES:
        return "bytes";
    default:
        return NULL;
    }
}
WEFT_RESULT_VALUE_OF(unit_of, struct weft_hardware_value, v, weft_result_words(weft_hardware_unit(v)))
WEFT_RESULT_VALUE_OF(help_of, struct weft_hardware_value, v, weft_result_words(v->row->help))

#define VALUE(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_hardware_value, field, key, kind, __VA_ARGS__)
static const struct weft_result_table value_table = WEFT_RESULT_TABLE_OF(
    "class.values", LIST, "a value of the class", WEFT_RESULT_EACH(struct weft_hardware, value, n),
    WEFT_RESULT_ABOVE_AT(1, struct weft_hardware, name, "class", TEXT, "name of the class"),
    VALUE(key, "key", TEXT, "parameter of the section, or fact of the kind", .flags = WEFT_RESULT_KEY),
    VALUE(fact, "fact", BOOL, "true: a fact, and no parameter of the section"),
    VALUE(low, "low", TEXT, "least value of such hardware"),
    VALUE(typical, "typical", TEXT, "the value that a scenario gets"),
    VALUE(high, "high", TEXT, "largest value of such hardware"),
    WEFT_RESULT_CALL(unit_of, "unit", TEXT, "unit of the numbers; null: none, or that of the meaning"),
    VALUE(low_number, "low_number", REAL, "low as a number of that unit"),
    VALUE(number, "number", REAL, "typical as a number of that unit"),
    VALUE(high_number, "high_number", REAL, "high as a number of that unit"),
    WEFT_RESULT_OF_NAMES(0, struct weft_hardware_value, basis, "basis", weft_hardware_bases,
                         "how the value is known: measured, vendor, source_code, secondary, inferred or assumed"),
    VALUE(source, "source", TEXT, "where the value is from"),
    WEFT_RESULT_CALL(help_of, "meaning", TEXT, "what the parameter or fact is"));

const struct weft_answer weft__answer_hardware_classes =
    WEFT_ANSWER_OF("hardware_classes", "weft models hardware: classes of hardware, each value with its band and source",
                   &answer_table, &class_table, &value_table);
