"""Columns that are carried over next to the reports, and what they reveal."""
