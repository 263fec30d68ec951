/* Hides what a number is equal to from gcc. */

/* From here on it is emitted. */
#if defined(__GNUC__) && !defined(__clang__)
#define OPAQUE(number) __asm__("" : "+r"(number))
#else
#define OPAQUE(number) (void)0
#endif
