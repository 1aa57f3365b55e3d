"""Readers of visits, one per file format."""
