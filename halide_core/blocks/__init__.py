"""Pictures in blocks: the parts of a picture are computed apart, each from the regions of the inputs that it needs.

``given`` checks what a call was given; ``input_wrappers`` and ``origins`` make of it Funcs that read inputs directly,
and from 0 on. ``local`` makes the pipeline of one block, ``kernel`` compiles and runs it, ``variants`` are those far
from edges and near them (``interior``), ``regions`` reads arrays in parts, ``sizes`` chooses blocks, ``reductions``
splits what takes in a whole picture, ``divided`` puts these steps in order, ``recomputed`` counts what blocks compute
twice, and ``streaming`` runs them one after another. ``halide_core.dask`` makes a lazy array of them.
"""
