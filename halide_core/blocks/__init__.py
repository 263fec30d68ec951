"""Pictures in blocks: the parts of a picture are computed apart, each from the regions of the inputs that it needs.

``given`` checks what a call was given, ``local`` makes the pipeline of one block, ``kernel`` compiles and runs it,
``regions`` reads arrays in parts, ``sizes`` chooses blocks, ``reductions`` splits what takes in a whole picture,
``divided`` puts these steps in order, and ``streaming`` runs them one after another.
``halide_core.dask`` makes a lazy array of them.
"""
