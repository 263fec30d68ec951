/* Says that integers were made of floats: gcc must not see it when it makes floats of them again. It would truncate the
 * floats instead, which leaves -0.0 as it is, where 0 was meant. Vectors that no register holds stay in memory. */

/* From here on it is emitted. */
#if !(defined(__GNUC__) && !defined(__clang__))
#define TRUNCATED(n)
#elif defined(__x86_64__)
#define TRUNCATED(n) __asm__("" : "+rv"(n))
#elif defined(__aarch64__)
#define TRUNCATED(n) __asm__("" : "+rw"(n))
#else
#define TRUNCATED(n) __asm__("" : "+m"(n))
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define TRUNCATED_WIDE(n) __asm__("" : "+m"(n))
#else
#define TRUNCATED_WIDE(n)
#endif
#ifdef __AVX__
#define TRUNCATED_32 TRUNCATED
#else
#define TRUNCATED_32 TRUNCATED_WIDE
#endif
#ifdef __AVX512F__
#define TRUNCATED_64 TRUNCATED
#else
#define TRUNCATED_64 TRUNCATED_WIDE
#endif
