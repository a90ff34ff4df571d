"""Benchmarks: ours and the peers on the same problem, at the same certified accuracy."""
