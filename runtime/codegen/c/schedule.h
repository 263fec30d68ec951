/* What gcc is told of the order of instructions in units with vectors. */

/* From here on it is emitted. */
#if defined(__GNUC__) && !defined(__clang__)
/* gcc else loads a vector again at each use, from memory: sgemm takes 1.5 times as long. */
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif
