/* fn: made by halide_core.
 *
 *   scalar "p": int32
 *   output buffer "f": 2 dimensions of int32
 */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

#define INLINE static inline __attribute__((always_inline, unused))
INLINE int64_t add_i64(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
INLINE int64_t sub_i64(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static const char *type_name(unsigned code, unsigned bits) {
    static const char *const names[3][4] = {
        {"int8", "int16", "int32", "int64"},
        {"uint8", "uint16", "uint32", "uint64"},
        {"an unknown type", "float16", "float32", "float64"},
    };
    if (code == halide_type_uint && bits == 1) return "bool";
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

static int answer_query(halide_buffer_t *b, const char *what, const int64_t *region) {
    int64_t stride = 1;
    for (int d = 0; d < b->dimensions; d++) {
        const int64_t min = region[2 * d], extent = region[2 * d + 1];
        const bool fits = min >= INT32_MIN && min <= INT32_MAX && extent >= 0 && extent <= INT32_MAX &&
                          min + extent - 1 <= INT32_MAX && stride <= INT32_MAX;
        if (!fits) {
            return halide_core_error(halide_core_error_index_overflow,
                                     "%s would need min %lld, extent %lld and stride %lld in dimension %d, "
                                     "which don't fit int32.",
                                     what, (long long)min, (long long)extent, (long long)stride, d);
        }
        b->dim[d].min = (int32_t)min;
        b->dim[d].extent = (int32_t)extent;
        b->dim[d].stride = (int32_t)stride;
        stride *= extent ? extent : 1;
    }
    return 0;
}

int fn(int32_t p, halide_buffer_t *f) {
    int error;
    if ((error = check_argument(f, "Pipeline \"fn\": output buffer \"f\"", halide_type_int, 32, 2, 1))) return error;
    const int64_t f_extent_0 = f->dim[0].extent;
    const int64_t f_min_0 = f->dim[0].min;
    const int64_t f_stride_0 = f->dim[0].stride;
    const int64_t f_extent_1 = f->dim[1].extent;
    const int64_t f_min_1 = f->dim[1].min;
    const int64_t f_stride_1 = f->dim[1].stride;
    int32_t *restrict f_data = (int32_t *)f->host;
    if (!f->host) {
        if (!f->host) {
            const int64_t region[] = {f_min_0, f_extent_0, f_min_1, f_extent_1};
            if ((error = answer_query(f, "Pipeline \"fn\": output buffer \"f\"", region))) return error;
        }
        return 0;
    }
    if (!((f_stride_0 == 1ll) | (f_extent_0 < 2ll))) {
        return halide_core_error(halide_core_error_argument_stride, "Pipeline \"fn\": buffer \"f\" must have stride 1 in dimension 0, not %lld", (long long)f_stride_0);
    }
    if ((0ll < f_extent_0) & (0ll < f_extent_1)) {
        const int64_t t0 = sub_i64(add_i64(f_min_0, f_extent_0), 1ll);
        if (!((-1073741824ll <= f_min_0) & (t0 <= 1073741824ll))) {
            return halide_core_error(halide_core_error_index_overflow, "Pipeline \"fn\": the window of output \"f\" leaves \302\2612^30 in dimension 0: from %lld to %lld", (long long)f_min_0, (long long)t0);
        }
        const int64_t t1 = sub_i64(add_i64(f_min_1, f_extent_1), 1ll);
        if (!((-1073741824ll <= f_min_1) & (t1 <= 1073741824ll))) {
            return halide_core_error(halide_core_error_index_overflow, "Pipeline \"fn\": the window of output \"f\" leaves \302\2612^30 in dimension 1: from %lld to %lld", (long long)f_min_1, (long long)t1);
        }
        const int64_t f_s0_y_end = f_min_1 + f_extent_1;
        for (int64_t f_s0_y = f_min_1; f_s0_y < f_s0_y_end; f_s0_y++) {
            const int64_t f_s0_x_end = f_min_0 + f_extent_0;
            for (int64_t f_s0_x = f_min_0; f_s0_x < f_s0_x_end; f_s0_x++) {
                f_data[f_s0_x + (f_s0_y - f_min_1) * f_stride_1 - f_min_0] = p;
            }
        }
    }
    return 0;
}
