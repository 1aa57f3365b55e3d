"""Releasing tables of reports."""

from .release import Release, release

__all__ = ["Release", "release"]
