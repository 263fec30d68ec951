/* Refuses an address that is not aligned as promised. */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

/* From here on it is emitted. */
static int check_alignment(const halide_buffer_t *b, const char *what, uintptr_t bytes) {
    if ((uintptr_t)b->host % bytes == 0) return 0;
    return halide_core_error(halide_core_error_argument_stride, "%s is not aligned to %llu bytes.", what,
                             (unsigned long long)bytes);
}

