"""Observables generated coarse to fine: the certified optimum for thousands of secrets, each with few neighbours.

A design uses few of its observables. The program with a few of them and all secrets is solved by the
interior-point method; whether an absent one could lower the loss is a small program of its own (`price`), whose
multipliers prove that it cannot, or show how it would. Observables that would help join. See
docs/proofs/column-generation.md.
"""
