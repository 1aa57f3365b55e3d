"""Columns that are carried over beside the reports, and what they give away."""
