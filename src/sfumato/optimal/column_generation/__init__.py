"""Observables generated coarse to fine: the certified optimum for thousands of secrets with few neighbours each.

A program with few observables and all secrets is solved by the interior-point method. For an absent observable, a
small program (`price`) shows how it lowers the loss, or proves by its multipliers that it cannot. See
docs/proofs/column-generation.md.
"""
