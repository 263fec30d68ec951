"""Past failures, each a test that the fuzzer wrote."""
