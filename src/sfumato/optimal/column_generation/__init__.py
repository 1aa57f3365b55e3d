"""Observables generated coarse to fine, for thousands of secrets with few neighbours each; see `rounds`."""
