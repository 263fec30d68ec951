/* Refuses a buffer without memory, where no query is answered. */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

/* From here on it is emitted. */
static int check_host(const halide_buffer_t *b, const char *what) {
    return b->host ? 0 : halide_core_error(halide_core_error_argument_null, "%s has no memory (host is NULL).", what);
}

