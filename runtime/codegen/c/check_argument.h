/* Refuses an argument that is no buffer of the type and dimensions that a pipeline takes. */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

/* From here on it is emitted. */
static const char *type_name(unsigned code, unsigned bits) {
    static const char *const names[3][4] = {
        {"int8", "int16", "int32", "int64"},
        {"uint8", "uint16", "uint32", "uint64"},
        {"an unknown type", "float16", "float32", "float64"},
    };
    if (code == halide_type_uint && bits == 1) return "bool";
    if (code == halide_type_bfloat && bits == 16) return "bfloat16";
    if (code > 2 || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) return "an unknown type";
    return names[code][bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3];
}

static int check_argument(const halide_buffer_t *b, const char *what, unsigned code, unsigned bits, int dimensions,
                          int output) {
    if (!b) {
        return halide_core_error(halide_core_error_argument_null, "%s is NULL.", what);
    }
    if (b->type.code != code || b->type.bits != bits || b->type.lanes != 1) {
        return halide_core_error(halide_core_error_argument_type, "%s has type %s%s, but %s is needed.", what,
                                 type_name(b->type.code, b->type.bits), b->type.lanes == 1 ? "" : " in vectors",
                                 type_name(code, bits));
    }
    if (b->dimensions != dimensions) {
        return halide_core_error(halide_core_error_argument_dimensions,
                                 "%s has %d dimensions, but %d are needed.", what, (int)b->dimensions, dimensions);
    }
    if (dimensions && !b->dim) {
        return halide_core_error(halide_core_error_argument_null, "%s has no array of dimensions.", what);
    }
    for (int d = 0; (b->host || output) && d < dimensions; d++) {
        if (b->dim[d].extent < 0) {
            return halide_core_error(halide_core_error_argument_extent,
                                     "%s has extent %d in dimension %d, but an extent can't be negative.", what,
                                     (int)b->dim[d].extent, d);
        }
    }
    if (b->host && (b->flags & halide_buffer_flag_device_dirty)) {
        return halide_core_error(halide_core_error_argument_device,
                                 "%s has its newest data on a device; copy it to the host first.", what);
    }
    return 0;
}

