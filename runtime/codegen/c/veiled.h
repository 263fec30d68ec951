/* Hides from gcc what a value in a register was made of. Of integers that were made of floats it would truncate the floats
 * instead where they become floats again, which leaves -0.0 as it is, where 0 was meant; of conditions that are lanes it
 * would make masks. Vectors that no register holds stay in memory. */

/* From here on it is emitted. */
#if !(defined(__GNUC__) && !defined(__clang__))
#define VEILED(n)
#elif defined(__x86_64__)
#define VEILED(n) __asm__("" : "+rv"(n))
#elif defined(__aarch64__)
#define VEILED(n) __asm__("" : "+rw"(n))
#else
#define VEILED(n) __asm__("" : "+m"(n))
#endif
/* Of integers of fewer bits, which it sees to lose nothing, from version 13 on. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ > 12
#define VEILED_NARROW VEILED
#else
#define VEILED_NARROW(n)
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define VEILED_WIDE(n) __asm__("" : "+m"(n))
#else
#define VEILED_WIDE(n)
#endif
#ifdef __AVX__
#define VEILED_32 VEILED
#else
#define VEILED_32 VEILED_WIDE
#endif
#ifdef __AVX512F__
#define VEILED_64 VEILED
#else
#define VEILED_64 VEILED_WIDE
#endif
