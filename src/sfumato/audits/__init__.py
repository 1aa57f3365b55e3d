"""Audits: every notion and measure that applies to a mechanism, samples of one, or a black box."""

from .findings import Audit, Entry
from .requirement import Outcome, Requirement, Verdict

__all__ = ["Audit", "Entry", "Outcome", "Requirement", "Verdict"]
