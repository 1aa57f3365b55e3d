"""Benchmarks: families of instances, sizes and solvers, each run in its own process."""
