"""The benchmarks: what is run, which figures come from it, and which goals they have."""
