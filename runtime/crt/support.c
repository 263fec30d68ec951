/* Errors and printing of the runtime (halide_runtime.h): the parts that know nothing of threads but "this one". */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The layout is a contract with Halide's own header and with every caller's binding. */
static_assert(sizeof(halide_type_t) == 4 && sizeof(halide_dimension_t) == 16, "layout of Halide's structs");
static_assert(offsetof(halide_buffer_t, type) == 16 + 2 * sizeof(void *), "layout of halide_buffer_t");
static_assert(sizeof(void *) != 8 || sizeof(halide_buffer_t) == 56, "size of halide_buffer_t");

static HALIDE_CORE_THREAD_LOCAL char last_error[HALIDE_CORE_MESSAGE_SIZE];

static void print_error(int code, const char *message) {
    (void)code;
    fprintf(stderr, "halide_core: %s\n", message);
}

static void ignore_error(int code, const char *message) {
    (void)code;
    (void)message;
}

/* NULL stands for print_error. */
static _Atomic(halide_core_error_handler) error_handler;

HALIDE_CORE_WEAK int halide_core_error(int code, const char *format, ...) {
    /* Not straight into last_error: it may be one of the arguments ("in stage f: %s"). */
    char message[HALIDE_CORE_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    halide_core_set_last_error(length < 0 ? format : message);

    const halide_core_error_handler handler = atomic_load(&error_handler);
    (handler ? handler : print_error)(code, last_error);
    return code;
}

HALIDE_CORE_WEAK const char *halide_core_last_error(void) {
    return last_error;
}

HALIDE_CORE_WEAK void halide_core_clear_error(void) {
    last_error[0] = 0;
}

HALIDE_CORE_WEAK void halide_core_set_last_error(const char *message) {
    const size_t length = strnlen(message, sizeof last_error - 1);
    memmove(last_error, message, length); /* may be last_error itself */
    last_error[length] = 0;
}

HALIDE_CORE_WEAK halide_core_error_handler halide_core_set_error_handler(halide_core_error_handler handler) {
    return atomic_exchange(&error_handler, handler);
}

HALIDE_CORE_WEAK void halide_core_quiet_errors(void) {
    halide_core_set_error_handler(ignore_error);
}

/* NULL stands for print_line. */
static _Atomic(halide_core_print_handler) print_handler;

static void print_line(const char *line) {
    printf("%s\n", line); /* one call: stdio locks the stream */
}

HALIDE_CORE_WEAK void halide_core_print(const char *format, ...) {
    char line[HALIDE_CORE_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const halide_core_print_handler handler = atomic_load(&print_handler);
    (handler ? handler : print_line)(length < 0 ? format : line);
}

HALIDE_CORE_WEAK halide_core_print_handler halide_core_set_print_handler(halide_core_print_handler handler) {
    return atomic_exchange(&print_handler, handler);
}
