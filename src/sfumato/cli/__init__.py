"""The command line. Nothing heavy is imported before a command runs."""

from .app import main

__all__ = ["main"]
