/* What the page calls: memory for pictures, and the blur of planar colours. */
#include <stdlib.h>
#include "blur.h"

#define EXPORT(name) __attribute__((export_name(#name)))

EXPORT(take) void *take(int bytes) {
    return malloc((size_t)bytes);
}

EXPORT(give_back) void give_back(void *pointer) {
    free(pointer);
}

/* Width x height x 3 values of 8 bits; returns 0, or an error of halide_runtime.h. */
EXPORT(blur_photo) int blur_photo(uint8_t *in, uint8_t *out, int width, int height, int radius) {
    halide_dimension_t of_in[3] = {{0, width, 1, 0}, {0, height, width, 0}, {0, 3, width * height, 0}};
    halide_dimension_t of_out[3] = {of_in[0], of_in[1], of_in[2]};
    const halide_type_t bytes = {halide_type_uint, 8, 1};
    halide_buffer_t from = {0, 0, in, 0, bytes, 3, of_in, 0}, to = {0, 0, out, 0, bytes, 3, of_out, 0};
    return blur(&from, radius, &to);
}
