/* What pipelines of Halide's call where their arguments are refused, by Halide's names and with its codes: with
 * halide_hooks.c it is a runtime for libraries that Halide compiled with no_runtime. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* Tells the handler, and returns the code. */
static int refuse(void *context, int code, const char *format, ...) HALIDE_CORE_PRINTF(3, 4);
static int refuse(void *context, int code, const char *format, ...) {
    char message[HALIDE_CORE_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    halide_error(context, message);
    return code;
}

#define REFUSAL(name, ...) \
    int halide_error_##name(void *context, __VA_ARGS__); \
    HALIDE_CORE_WEAK int halide_error_##name(void *context, __VA_ARGS__)

int halide_error_out_of_memory(void *context);
HALIDE_CORE_WEAK int halide_error_out_of_memory(void *context) {
    return refuse(context, -11, "Out of memory: halide_malloc returned NULL");
}

REFUSAL(explicit_bounds_too_small, const char *func, const char *var, int low, int high, int from, int to) {
    return refuse(context, -2, "Bounds given for %s in %s (from %d to %d) do not cover the required region (from %d to %d)",
                  var, func, low, high, from, to);
}

REFUSAL(bad_type, const char *name, uint32_t given, uint32_t wanted) {
    return refuse(context, -3, "%s has type %#" PRIx32 ", but is of type %#" PRIx32 " (code, bits, lanes)", name, given,
                  wanted);
}

REFUSAL(bad_dimensions, const char *name, int32_t given, int32_t wanted) {
    return refuse(context, -43, "%s has %d dimensions, and not %d", name, (int)given, (int)wanted);
}

REFUSAL(access_out_of_bounds, const char *name, int dimension, int low, int high, int first, int last) {
    return refuse(context, -4, "%s is accessed from %d to %d in dimension %d, but it has only %d to %d", name, low, high,
                  dimension, first, last);
}

REFUSAL(buffer_allocation_too_large, const char *name, uint64_t size, uint64_t most) {
    return refuse(context, -5, "Total allocation for buffer %s is %" PRIu64 ", more than %" PRIu64, name, size, most);
}

REFUSAL(buffer_extents_negative, const char *name, int dimension, int extent) {
    return refuse(context, -28, "The extents for buffer %s dimension %d is negative (%d)", name, dimension, extent);
}

REFUSAL(buffer_extents_too_large, const char *name, int64_t size, int64_t most) {
    return refuse(context, -6, "Product of extents for buffer %s is %" PRId64 ", more than %" PRId64, name, size, most);
}

REFUSAL(constraints_make_required_region_smaller, const char *name, int dimension, int low, int extent, int from,
        int size) {
    return refuse(context, -7, "%s is promised %d elements from %d in dimension %d, but %d from %d are required", name,
                  extent, low, dimension, size, from);
}

REFUSAL(constraint_violated, const char *name, int value, const char *other, int wanted) {
    return refuse(context, -8, "Constraint violated: %s (%d) == %s (%d)", name, value, other, wanted);
}

REFUSAL(param_too_small_i64, const char *name, int64_t value, int64_t least) {
    return refuse(context, -9, "Parameter %s is %" PRId64 ", but must be at least %" PRId64, name, value, least);
}

REFUSAL(param_too_small_u64, const char *name, uint64_t value, uint64_t least) {
    return refuse(context, -9, "Parameter %s is %" PRIu64 ", but must be at least %" PRIu64, name, value, least);
}

REFUSAL(param_too_small_f64, const char *name, double value, double least) {
    return refuse(context, -9, "Parameter %s is %g, but must be at least %g", name, value, least);
}

REFUSAL(param_too_large_i64, const char *name, int64_t value, int64_t most) {
    return refuse(context, -10, "Parameter %s is %" PRId64 ", but must be at most %" PRId64, name, value, most);
}

REFUSAL(param_too_large_u64, const char *name, uint64_t value, uint64_t most) {
    return refuse(context, -10, "Parameter %s is %" PRIu64 ", but must be at most %" PRIu64, name, value, most);
}

REFUSAL(param_too_large_f64, const char *name, double value, double most) {
    return refuse(context, -10, "Parameter %s is %g, but must be at most %g", name, value, most);
}

REFUSAL(buffer_argument_is_null, const char *name) {
    return refuse(context, -12, "Buffer argument %s is NULL", name);
}

REFUSAL(unaligned_host_ptr, const char *name, int alignment) {
    return refuse(context, -24, "The host pointer of %s is not aligned to a %d bytes boundary", name, alignment);
}

REFUSAL(host_is_null, const char *name) {
    return refuse(context, -34, "The host pointer of %s is null, but the pipeline will access it on the host", name);
}

REFUSAL(requirement_failed, const char *condition, const char *message) {
    return refuse(context, -27, "Requirement failed: (%s) %s", condition, message);
}

REFUSAL(specialize_fail, const char *message) {
    return refuse(context, -31, "A schedule specialized with specialize_fail() was chosen: %s", message);
}

REFUSAL(bad_fold, const char *func, const char *var, const char *loop) {
    return refuse(context, -25, "The folded storage dimension %s of %s was accessed out of order by loop %s", var, func,
                  loop);
}

REFUSAL(fold_factor_too_small, const char *func, const char *var, int factor, const char *loop, int extent) {
    return refuse(context, -26, "The fold factor (%d) of dimension %s of %s is too small for the required region "
                  "accessed by loop %s (%d)", factor, var, func, loop, extent);
}

REFUSAL(storage_bound_too_small, const char *func, const char *var, int given, int wanted) {
    return refuse(context, -45, "The explicit allocation bound (%d) of dimension %s of %s is too small for %d", given, var,
                  func, wanted);
}

REFUSAL(split_factor_not_positive, const char *func, const char *old, const char *outer, const char *inner,
        const char *text, int factor) {
    return refuse(context, -46, "In schedule for func %s, the factor used to split %s into %s and %s is %s, which is %d: "
                  "not positive", func, old, outer, inner, text, factor);
}

REFUSAL(device_dirty_with_no_device_support, const char *name) {
    return refuse(context, -44, "The buffer %s is dirty on device, but this pipeline was compiled with no support for "
                  "device to host copies", name);
}

REFUSAL(extern_stage_failed, const char *name, int result) {
    return refuse(context, result, "Call to external stage %s returned non-zero value: %d", name, result);
}

REFUSAL(bounds_inference_call_failed, const char *name, int result) {
    return refuse(context, result, "Bounds inference call to external stage %s returned non-zero value: %d", name, result);
}
