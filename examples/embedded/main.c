/* Smooths what a sensor gave. All memory is this program's own; nothing is printed where something is wrong. */
#include <stdio.h>

#include "smooth.h"

enum { count = 64, arena_bytes = 4096 };

/* Blocks are taken one behind another, and are all given back when the last one is. */
static _Alignas(8) uint8_t arena[arena_bytes];
static size_t used, live, most;

static void *take(size_t bytes) {
    const size_t rounded = (bytes + 7) / 8 * 8;
    if (rounded > arena_bytes - used) {
        return NULL;
    }
    void *const block = arena + used;
    used += rounded;
    live += 1;
    most = used > most ? used : most;
    return block;
}

static void give(void *block) {
    (void)block;
    live -= 1;
    used = live == 0 ? 0 : used;
}

static int failures;

static void on_error(int code, const char *message) {
    (void)code;
    (void)message; /* for a debugger to look at */
    failures += 1;
}

int main(void) {
    static int16_t samples[count], out[count / 2];
    for (int i = 0; i < count; ++i) {
        samples[i] = (int16_t)(i % 8 * 100);
    }
    halide_core_set_custom_memory(take, give);
    halide_core_set_error_handler(on_error);
    halide_dimension_t in_dim = {0, count, 1, 0}, out_dim = {0, count / 2, 1, 0};
    const halide_type_t type = {halide_type_int, 16, 1};
    halide_buffer_t in = {0, NULL, (uint8_t *)samples, 0, type, 1, &in_dim, NULL};
    halide_buffer_t smooth_out = {0, NULL, (uint8_t *)out, 0, type, 1, &out_dim, NULL};
    if (smooth(&in, &smooth_out) != 0 || failures != 0 || live != 0) {
        return 1;
    }
    for (int i = 0; i < 8; ++i) {
        printf("%d ", out[i]);
    }
    printf("\nbytes: %u\n", (unsigned)most);
    in_dim.extent = -1; /* and a wrong call */
    return smooth(&in, &smooth_out) == 0 || failures != 1;
}
