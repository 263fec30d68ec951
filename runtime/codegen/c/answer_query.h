/* Writes the region that a pipeline needs of an argument into it. */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

/* From here on it is emitted. */
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

