/* Refuses components of a Tuple that differ in shape or layout. */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

/* From here on it is emitted. */
static int check_alike(const halide_buffer_t *a, const halide_buffer_t *b, const char *what, const char *other) {
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

