/* Parallel loops where there are no threads (halide_runtime.h): one index after another, on the caller. Nothing runs
 * beside it. */
#include "halide_runtime.h"
#include "platform.h"

#ifndef HALIDE_CORE_HAS_THREADS

#include <stddef.h>

static halide_core_par_for_function custom_par_for;

HALIDE_CORE_WEAK int halide_core_default_par_for(halide_core_task task, int64_t min, int64_t extent, void *closure) {
    int result = 0;
    for (int64_t i = 0; i < extent && result == 0; ++i) {
        result = *halide_core_halting() ? halide_core_halt() : task(closure, (int64_t)((uint64_t)min + (uint64_t)i));
    }
    return result;
}

HALIDE_CORE_WEAK int halide_core_par_for(halide_core_task task, int64_t min, int64_t extent, void *closure) {
    if (extent <= 0) {
        return 0;
    }
    return (custom_par_for ? custom_par_for : halide_core_default_par_for)(task, min, extent, closure);
}

HALIDE_CORE_WEAK void halide_core_set_custom_par_for(halide_core_par_for_function function) {
    custom_par_for = function;
}

HALIDE_CORE_WEAK int halide_core_get_num_threads(void) {
    return 1;
}

HALIDE_CORE_WEAK int halide_core_set_num_threads(int n) {
    (void)n;
    return 1;
}

HALIDE_CORE_WEAK void halide_core_shutdown_thread_pool(void) {
}

HALIDE_CORE_WEAK int halide_core_fork(halide_core_task producer, halide_core_task consumer, void *closure,
                                      struct halide_core_semaphore *semaphores, int count) {
    (void)producer, (void)consumer, (void)closure, (void)semaphores, (void)count;
    return halide_core_error(halide_core_error_out_of_memory, "there are no threads here for an asynchronous Func");
}

HALIDE_CORE_WEAK int halide_core_semaphore_acquire(struct halide_core_semaphore *s) {
    (void)s;
    return halide_core_error_out_of_memory;
}

HALIDE_CORE_WEAK void halide_core_semaphore_release(struct halide_core_semaphore *s) {
    (void)s;
}

#endif
