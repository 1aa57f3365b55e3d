"""Designs beyond one prior, loss and attacker: constraints, several priors, true points, sensitive values."""
