"""A structured interior-point method for optimal obfuscation mechanisms: docs/proofs/interior-point.md."""
