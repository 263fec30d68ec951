"""𝓢: the schedule as rewrites. One function per directive, grouped by phase; ``phases`` holds their order."""
