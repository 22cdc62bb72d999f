"""The benchmarks: one file a judge."""
