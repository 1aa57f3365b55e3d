"""The version of the package, read by the build and by the mechanism file."""

__version__ = "0.2.0.dev0"
