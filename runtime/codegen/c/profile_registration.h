/* How the runtime of a program asks a profiled pipeline of a library. What stands first is made for each pipeline. */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

enum { halide_core_profile_all = 1 };
static const char *const halide_core_profile_names[] = {""};
static void halide_core_profile_read(int64_t *to, int anew) {
    *to = anew;
}
static const char halide_core_profile_pipeline[] = "";

/* From here on it is emitted. */
static struct halide_core_profiled halide_core_profile_self = {
    halide_core_profile_pipeline, halide_core_profile_all, halide_core_profile_names, halide_core_profile_read, 0, 0};

__attribute__((constructor)) static void halide_core_profile_register(void) {
    halide_core_register_profiled(&halide_core_profile_self);
}

