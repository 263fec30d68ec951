/* The caller's context (halide_runtime.h), of each thread. */
#include "halide_runtime.h"
#include "platform.h"

#include <stddef.h>

static HALIDE_CORE_THREAD_LOCAL void *context_here;

HALIDE_CORE_WEAK void *halide_core_user_context(void) {
    return context_here;
}

HALIDE_CORE_WEAK void *halide_core_swap_user_context(void *context) {
    void *const before = context_here;
    context_here = context;
    return before;
}
