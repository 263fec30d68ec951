"""The applications, compiled for other machines and run by emulators: the bytes are this machine's.

In: the names of targets. Out: a table, a line for each application and target, and 0 where all bytes are equal;
for macOS and Windows, where all programs are linked.

    python -m tests.campaigns.targets arm-64-linux wasm-32-wasmrt-wasm_simd128
    ->  arm-64-linux                   blur             equal     412 of 1893 instructions are of vectors
"""
