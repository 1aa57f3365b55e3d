"""One short program for each extra: what a user of it would run first, in an environment that has nothing else."""
