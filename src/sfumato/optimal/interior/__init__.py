"""A structured interior-point method for optimal obfuscation mechanisms.

The unknowns of different observables meet only in the row sums and a few loss rows, so
Newton's method factors one small block per observable. Rows join as the iterate meets
them, and every iterate is strictly private for all pairs.
"""
