/* Of functions that choose between floats in loops that gcc may make vectors of. Its elimination of what some ways to a
 * place have computed already moves what follows a choice into the choice's cases, and then a loop has branches. Before
 * gcc 12 such an attribute could replace the options of the command line, of which values depend; clang has none. */

/* From here on it is emitted. */
#if !defined(__clang__) && __GNUC__ >= 12
#define UNMERGED , optimize("no-tree-pre")
#else
#define UNMERGED
#endif
