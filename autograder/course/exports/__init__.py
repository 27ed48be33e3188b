"""The class in the formats of other systems: one module per format, each with `write`."""
