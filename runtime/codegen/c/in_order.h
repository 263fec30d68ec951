/* Stands between statements whose sums fill the registers, where gcc must not load for one before it has done another. */

/* From here on it is emitted. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__AVX512F__)
#define IN_ORDER __asm__ volatile("")
#else
#define IN_ORDER (void)0
#endif
