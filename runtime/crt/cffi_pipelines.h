/* What Python calls of a compiled pipeline: see runtime.execute.entry and runtime.codegen.profile. */
#include <stdint.h>

int halide_core_entry(void **arguments);
int halide_core_profile_funcs(void);
const char *halide_core_profile_name(int func);
void halide_core_profile_take(int64_t *to);
