/* Of functions that choose between floats in loops that gcc may make vectors of. Its elimination of what some ways to a
 * place have computed already moves what follows a choice into the choice's cases, and then a loop has branches. */

/* From here on it is emitted. */
#ifdef __clang__
#define UNMERGED
#else
#define UNMERGED , optimize("no-tree-pre")
#endif
