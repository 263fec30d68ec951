/* What an x86 processor can do, and what its system keeps of it when it goes from one thread to another. Not the compiler's
 * __builtin_cpu_supports: with zig it knows no instruction. */
#include <cpuid.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { EAX, EBX, ECX, EDX };
enum { SAVES_AVX = 0x06, SAVES_AVX512 = 0xe6 }; /* the registers, as bits of XCR0 */

__attribute__((__unused__)) static bool processor_has(unsigned leaf, unsigned part, int in, int bit) {
    unsigned told[4];
    return __get_cpuid_count(leaf, part, &told[EAX], &told[EBX], &told[ECX], &told[EDX]) && (told[in] >> bit & 1) != 0;
}

__attribute__((__unused__)) static bool system_saves(unsigned registers) {
    if (!processor_has(1, 0, ECX, 27)) { /* xgetbv itself */
        return false;
    }
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & registers) == registers;
}
