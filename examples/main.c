/* Blurs a raw planar picture with the library that aot_blur.py makes.
 *
 *     blur_photo in.raw out.raw width height channels radius
 */
#include <stdio.h>
#include <stdlib.h>

#include "blur.h"

static halide_buffer_t describe(uint8_t *data, halide_dimension_t *dim, const int *sizes) {
    int stride = 1;
    for (int d = 0; d < 3; d++) {
        dim[d] = (halide_dimension_t){0, sizes[d], stride, 0};
        stride *= sizes[d];
    }
    halide_buffer_t buffer = {0};
    buffer.host = data;
    buffer.type.code = halide_type_uint;
    buffer.type.bits = 8;
    buffer.type.lanes = 1;
    buffer.dimensions = 3;
    buffer.dim = dim;
    return buffer;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: %s in.raw out.raw width height channels radius\n", argv[0]);
        return 2;
    }
    const int sizes[3] = {atoi(argv[3]), atoi(argv[4]), atoi(argv[5])};
    const size_t bytes = (size_t)sizes[0] * (size_t)sizes[1] * (size_t)sizes[2];
    uint8_t *in_data = malloc(bytes), *out_data = malloc(bytes);
    FILE *in_file = fopen(argv[1], "rb"), *out_file = fopen(argv[2], "wb");
    if (!in_data || !out_data || !in_file || !out_file || fread(in_data, 1, bytes, in_file) != bytes) {
        fprintf(stderr, "%s: can't read or write\n", argv[0]);
        return 1;
    }
    halide_dimension_t in_dim[3], out_dim[3];
    halide_buffer_t in = describe(in_data, in_dim, sizes), out = describe(out_data, out_dim, sizes);
    const int error = blur(&in, atoi(argv[6]), &out); /* prints its message on stderr */
    if (!error && fwrite(out_data, 1, bytes, out_file) != bytes) {
        return 1;
    }
    fclose(in_file);
    fclose(out_file);
    free(in_data);
    free(out_data);
    return error;
}
