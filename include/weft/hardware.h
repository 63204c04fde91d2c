// SPDX-License-Identifier: Apache-2.0
// Classes of hardware: what a switch chip, a NIC, a server or a cable is like, each value with its band, its source and
// the kind of that source. Those of hardware/ are built into the program; a scenario may name a file of the user's.
#pragma once

#include "weft/error.h"
#include "weft/memory.h"
#include "weft/types.h"

struct weft_answer; // weft/result.h
struct weft_param;
struct weft_param_table;
struct weft_param_classes;

enum weft_hardware_kind {
#define WEFT_HARDWARE(kind, name, section, row, what, table) WEFT_HARDWARE_##kind,
#include "weft/hardware.def"
    WEFT_HARDWARE_KINDS
};

/// The class that a section has if its user names none. "ideal": defaults of the section's rows.
#define WEFT_HARDWARE_IDEAL "ideal"
#define WEFT_HARDWARE_CHIP_DEFAULT "typical_switch"
#define WEFT_HARDWARE_INTERFACE_DEFAULT "jericho3ai"
#define WEFT_HARDWARE_ELEMENT_DEFAULT "ramon3"
#define WEFT_HARDWARE_NIC_DEFAULT "typical_nic"
#define WEFT_HARDWARE_SERVER_DEFAULT WEFT_HARDWARE_IDEAL
#define WEFT_HARDWARE_CABLE_DEFAULT WEFT_HARDWARE_IDEAL

#define WEFT_HARDWARE_HELP                                                                                             \
    "class of its hardware (weft models hardware), whose typical values hold where neither a key nor the preset says " \
    "another, or the file of one (./mine.yaml); ideal: defaults of the other parameters"

/// For tables of parameters (weft/param.h): they have a row "chip", "nic" or "kind" that names a class.
extern const struct weft_param_classes weft_hardware_by_chip, weft_hardware_by_nic, weft_hardware_by_kind;

/// How a value is known, the best first.
enum weft_hardware_basis {
    WEFT_BASIS_MEASURED,
    WEFT_BASIS_VENDOR,
    WEFT_BASIS_SOURCE_CODE,
    WEFT_BASIS_SECONDARY,
    WEFT_BASIS_INFERRED,
    WEFT_BASIS_ASSUMED
};
extern const char *const weft_hardware_bases[]; ///< their names, and NULL

struct weft_hardware_value {
    const char *key;              ///< "processing", "buffer.size": a parameter of the section; "rate": a fact
    const struct weft_param *row; ///< of that parameter or fact
    bool fact;
    const char *low, *typical, *high;       ///< as the file has them; low, high: NULL if not known
    double low_number, number, high_number; ///< of a number, in the row's unit; NAN: not known, or not a number
    uint32_t basis;                         ///< enum weft_hardware_basis
    const char *source;
    struct weft_place place;
};

struct weft_hardware {
    const char *name, *about;
    uint32_t kind; ///< enum weft_hardware_kind
    uint32_t n;
    struct weft_hardware_value *value; ///< in the order of the file
};

const char *weft_hardware_kind_name(uint32_t kind);    ///< "chip"
const char *weft_hardware_kind_section(uint32_t kind); ///< "switch"
const char *weft_hardware_kind_row(uint32_t kind);     ///< "chip": the row of that section that names a class
const char *weft_hardware_kind_what(uint32_t kind);    ///< "switches"
const struct weft_param_table *weft_hardware_kind_table(uint32_t kind);
/// The facts of a kind that are no parameters of its section: the i-th; NULL: there are no more.
const struct weft_param *weft_hardware_fact(uint32_t kind, uint32_t i);

/// The classes that come with weft, by kind and then by name.
uint32_t weft_hardware_count(void);
const char *weft_hardware_name(uint32_t i);
/// Reads class number i; it is valid, which a test checks.
const struct weft_hardware *weft_hardware_at(uint32_t i, struct weft_arena *arena);
/// Whether a name in a scenario means a file: it has a slash or ends in .yaml.
bool weft_hardware_is_file(const char *name);
/// The class `name` of that kind (WEFT_HARDWARE_KINDS: of any), or in that file, which is relative to the file of
/// `place`. An error if there is none, or if it is of another kind, with the names that fit; `path` is what the error
/// begins with ("switch.chip").
enum weft_status weft_hardware_find(uint32_t kind, const char *name, struct weft_place place, const char *path,
                                    struct weft_arena *arena, const struct weft_hardware **ret_hardware,
                                    struct weft_error *ret_error);
/// A class from text.
enum weft_status weft_hardware_parse(const char *file, const char *text, size_t size, struct weft_arena *arena,
                                     const struct weft_hardware **ret_hardware, struct weft_error *ret_error);
/// Classes as an answer.
struct weft_hardware_classes {
    const struct weft_hardware *hardware; ///< [classes]
    uint32_t classes;
};
extern const struct weft_answer weft__answer_hardware_classes; // weft/result.h
/// All that come with weft, or the one called `name`, or in that file.
enum weft_status weft_hardware_classes(const char *name, struct weft_arena *arena,
                                       struct weft_hardware_classes *ret_classes, struct weft_error *ret_error);
/// The unit of a value's numbers: "ps"; NULL: none.
const char *weft_hardware_unit(const struct weft_hardware_value *value);
/// NULL: the class does not say.
const struct weft_hardware_value *weft_hardware_value(const struct weft_hardware *hardware, const char *key);
/// The number of a value; `otherwise`: the class does not say.
double weft_hardware_number(const struct weft_hardware *hardware, const char *key, double otherwise);
/// Whether a number written otherwise, "700000ps", is the typical one.
bool weft_hardware_is_typical(const struct weft_hardware_value *value, const char *text, struct weft_arena *arena);
/// Whether the value has that path in its section: a key of a model may stand beside it, "transport.timeout".
bool weft_hardware_has_path(const struct weft_hardware *hardware, const struct weft_hardware_value *value,
                            const char *path);
/// The value of a parameter ("switch.processing") in the class, if that is of the parameter's section and gives a band;
/// else NULL.
const struct weft_hardware_value *weft_hardware_band(const struct weft_hardware *hardware, const char *path);
