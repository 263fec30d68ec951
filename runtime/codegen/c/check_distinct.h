/* Refuses an output of which two points share memory. */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

/* From here on it is emitted. */
/* From the least stride on, each steps over all that the dimensions before it span. */
static int check_distinct(const halide_buffer_t *b, const char *what) {
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

