"""From an algorithm and its schedule to a flat imperative program: 𝓛, the driver and the passes."""
