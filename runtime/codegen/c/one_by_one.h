/* Stands in loops of which gcc must make no vectors: it does not where there is an asm. */

/* From here on it is emitted. */
#if defined(__GNUC__) && !defined(__clang__)
#define ONE_BY_ONE __asm__ volatile("")
#else
#define ONE_BY_ONE (void)0
#endif
