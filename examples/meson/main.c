/* A row of pixels, brightened and then inverted. */
#include <stdio.h>

#include "brighten.h"
#include "invert.h"

int main(void) {
    uint8_t row[4] = {0, 10, 50, 100}, bright[4], dark[4];
    halide_dimension_t dims[2] = {{0, 4, 1, 0}, {0, 1, 4, 0}};
    const halide_type_t type = {halide_type_uint, 8, 1};
    halide_buffer_t a = {0, NULL, row, 0, type, 2, dims, NULL}, b = a, c = a;
    b.host = bright;
    c.host = dark;
    if (brighten(&a, 5, &b) || invert(&b, 255, &c)) {
        fprintf(stderr, "%s\n", halide_core_last_error());
        return 1;
    }
    for (int i = 0; i < 4; ++i) {
        printf("%d ", dark[i]);
    }
    printf("\n");
    return 0;
}
