"""Running and compiling: pipelines, targets, profiles, and the protocol of the backend."""
