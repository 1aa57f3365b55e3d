"""The claims of the paper, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence

from ..reproduction import PaperClaim, RunTables
from .claims_theorems import theorem_claims
from .claims_tupling import tupling_claims


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the claims of the paper, and what goes beyond it, judged."""
    return [*theorem_claims(tables), *tupling_claims(tables)]
