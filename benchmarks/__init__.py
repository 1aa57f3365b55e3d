"""Benchmarks: families of instances, sizes and solvers, each run in a process of its own."""
