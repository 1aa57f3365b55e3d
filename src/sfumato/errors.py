"""The errors that sfumato raises, and how their messages are made.

Every message says what was given, what was needed and what to do next.
"""

from __future__ import annotations


class SfumatoError(Exception):
    """Base of every error that the package raises on purpose.

    Args:
        problem: What was given and why it cannot be used.
        hint: What to do about it; printed on a line of its own.
    """

    def __init__(self, problem: str, hint: str = "") -> None:
        self.problem = problem
        self.hint = hint
        super().__init__(f"{problem}\nHint: {hint}" if hint else problem)


class InputError(SfumatoError, ValueError):
    """A value, array or option that does not mean what its place needs."""


class UnitError(InputError):
    """A quantity whose unit is unknown or does not fit the metric."""


class DataError(SfumatoError, ValueError):
    """A file or table of places that cannot be read as such."""


class InfeasibleError(SfumatoError, ValueError):
    """A request that no mechanism can satisfy; the message says what is possible."""


class SolverError(SfumatoError, RuntimeError):
    """A solver stopped without an answer that can be used."""


class FileError(SfumatoError, OSError):
    """A file that could not be written or is not a sound mechanism file."""


class MissingExtraError(SfumatoError, ImportError):
    """A feature whose optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs packages that are not installed.",
            f"install them with: pip install 'sfumato[{extra}]'",
        )


class MetricWarning(UserWarning):
    """A metric that can be used, but is not quite what its name promises."""
