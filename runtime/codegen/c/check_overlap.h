/* Refuses an output that overlaps another buffer. */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

/* From here on it is emitted. */
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

static int check_overlap(const halide_buffer_t *a, const halide_buffer_t *b, const char *what, const char *other) {
    uintptr_t a_begin, a_end, b_begin, b_end;
    byte_range(a, &a_begin, &a_end);
    byte_range(b, &b_begin, &b_end);
    if (a_begin >= b_end || b_begin >= a_end) return 0;
    return halide_core_error(halide_core_error_argument_alias, "%s overlaps %s in memory.", what, other);
}

