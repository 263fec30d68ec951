/* What a pipeline refuses of its arguments, and its reply to a query of bounds (halide_runtime.h). It is compiled with
 * the runtime, once, and not with each pipeline. */
#include "halide_runtime.h"

#include <stdbool.h>
#include <stdint.h>

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

HALIDE_CORE_WEAK int halide_core_check_alignment(const halide_buffer_t *b, const char *what, uintptr_t bytes) {
    if ((uintptr_t)b->host % bytes == 0) return 0;
    return halide_core_error(halide_core_error_argument_stride, "%s is not aligned to %llu bytes.", what,
                             (unsigned long long)bytes);
}

HALIDE_CORE_WEAK int halide_core_check_argument(const halide_buffer_t *b, const char *what, unsigned code,
                                                unsigned bits, int dimensions, int output) {
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
    if (!b->host && b->device) {
        return halide_core_error(halide_core_error_argument_device,
                                 "%s has memory on a device alone (host is NULL); copy it to the host first.", what);
    }
    if (b->host && (b->flags & halide_buffer_flag_device_dirty)) {
        return halide_core_error(halide_core_error_argument_device,
                                 "%s has its newest data on a device; copy it to the host first.", what);
    }
    return halide_core_check_alignment(b, what, (bits + 7) / 8); /* as C asks of each pointer; vectors rely on it */
}

HALIDE_CORE_WEAK int halide_core_check_host(const halide_buffer_t *b, const char *what) {
    return b->host ? 0 : halide_core_error(halide_core_error_argument_null, "%s has no memory (host is NULL).", what);
}

HALIDE_CORE_WEAK int halide_core_answer_query(halide_buffer_t *b, const char *what, const int64_t *region) {
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

HALIDE_CORE_WEAK int halide_core_check_alike(const halide_buffer_t *a, const halide_buffer_t *b, const char *what,
                                             const char *other) {
    for (int d = 0; d < a->dimensions; d++) {
        const halide_dimension_t x = a->dim[d], y = b->dim[d];
        if (x.min != y.min || x.extent != y.extent) {
            return halide_core_error(halide_core_error_argument_bounds,
                                     "%s has min %d and extent %d in dimension %d, but %s has min %d and extent %d.",
                                     what, (int)x.min, (int)x.extent, d, other, (int)y.min, (int)y.extent);
        }
        if (x.stride != y.stride) {
            return halide_core_error(halide_core_error_argument_stride,
                                     "%s has stride %d in dimension %d, but %s has %d.", what, (int)x.stride, d, other,
                                     (int)y.stride);
        }
    }
    return 0;
}

static void byte_range(const halide_buffer_t *b, uintptr_t *begin, uintptr_t *end) {
    int64_t first = 0, last = 0;
    *begin = *end = 0;
    for (int d = 0; d < b->dimensions; d++) {
        if (b->dim[d].extent == 0) return;
        const int64_t span = (int64_t)b->dim[d].stride * (b->dim[d].extent - 1);
        int64_t *const grown = span < 0 ? &first : &last;
        *grown = (int64_t)((uint64_t)*grown + (uint64_t)span);
    }
    const uint64_t bytes = (b->type.bits + 7u) / 8u;
    *begin = (uintptr_t)b->host + (uintptr_t)((uint64_t)first * bytes);
    *end = (uintptr_t)b->host + (uintptr_t)(((uint64_t)last + 1) * bytes);
}

/* The bytes that a buffer's points take in each period of so many: all strides are a multiple of it, or stay inside.
   False where they take more than one period. */
static bool bytes_in_period(const halide_buffer_t *b, uint64_t period, uint64_t *begin, uint64_t *width) {
    const uint64_t bytes = (b->type.bits + 7u) / 8u;
    *begin = (uint64_t)(uintptr_t)b->host;
    *width = bytes;
    for (int d = 0; d < b->dimensions; d++) {
        const int64_t stride = b->dim[d].stride;
        const uint64_t step = (uint64_t)(stride < 0 ? -stride : stride) * bytes;
        const uint64_t steps = (uint64_t)b->dim[d].extent - 1;
        if (steps == 0 || step % period == 0) continue;
        if (steps > period / step) return false;
        *width += steps * step;
        if (stride < 0) *begin -= steps * step;
    }
    return *width <= period;
}

/* True where two buffers take other bytes of each period, as the halves of a picture's rows do. */
static bool are_interleaved(const halide_buffer_t *a, const halide_buffer_t *b, uint64_t period) {
    uint64_t first, first_width, second, second_width;
    if (!bytes_in_period(a, period, &first, &first_width) || !bytes_in_period(b, period, &second, &second_width)) {
        return false;
    }
    const uint64_t behind = second >= first ? (second - first) % period : (period - (first - second) % period) % period;
    return behind >= first_width && behind + second_width <= period;
}

static bool some_period_parts(const halide_buffer_t *a, const halide_buffer_t *b) {
    for (int d = 0; d < a->dimensions; d++) {
        const int64_t stride = a->dim[d].stride;
        const uint64_t period = (uint64_t)(stride < 0 ? -stride : stride) * ((a->type.bits + 7u) / 8u);
        if (period > 0 && a->dim[d].extent > 1 && are_interleaved(a, b, period)) return true;
    }
    return false;
}

HALIDE_CORE_WEAK int halide_core_check_overlap(const halide_buffer_t *a, const halide_buffer_t *b, const char *what,
                                               const char *other) {
    uintptr_t a_begin, a_end, b_begin, b_end;
    byte_range(a, &a_begin, &a_end);
    byte_range(b, &b_begin, &b_end);
    if (a_begin >= b_end || b_begin >= a_end) return 0;
    if (some_period_parts(a, b) || some_period_parts(b, a)) return 0;
    return halide_core_error(halide_core_error_argument_alias, "%s overlaps %s in memory.", what, other);
}

/* From the least stride on, each steps over all that the dimensions before it span. */
HALIDE_CORE_WEAK int halide_core_check_distinct(const halide_buffer_t *b, const char *what) {
    int64_t span = 0, stride = 0;
    for (int d = 0; d < b->dimensions; d++) {
        if (b->dim[d].extent == 0) return 0;
    }
    for (int last = -1, next; ; last = next) {
        int64_t least = INT64_MAX;
        next = -1;
        for (int d = 0; d < b->dimensions; d++) {
            const int64_t s = b->dim[d].stride < 0 ? -(int64_t)b->dim[d].stride : b->dim[d].stride;
            if (b->dim[d].extent > 1 && s < least && (s > stride || (s == stride && d > last))) {
                least = s;
                next = d;
            }
        }
        if (next < 0) return 0;
        if (least <= span) {
            return halide_core_error(halide_core_error_argument_alias,
                                     "%s has points that share memory: stride %d in dimension %d.", what,
                                     (int)b->dim[next].stride, next);
        }
        const uint64_t grown = (uint64_t)span + (uint64_t)least * (uint64_t)(b->dim[next].extent - 1);
        span = grown > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)grown;
        stride = least;
    }
}
