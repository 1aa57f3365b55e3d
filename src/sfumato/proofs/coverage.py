"""The mechanisms that the bound of a program covers, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import Space
from ..geo import Lattice
from .constraints import LinearConstraint


def covered(
    secrets: Space,
    guarantees: Sequence[object] = (),
    constraints: Sequence[LinearConstraint] = (),
    *,
    loss: str = "",
) -> str:
    """Return which mechanisms a bound covers, in words that follow "no mechanism".

    The bound of a program is about mechanisms that make the program's reports from its secrets. Others may do
    better: with other reports or, on a lattice, by taking points for something else than its vertices.

    Args:
        secrets: The secrets.
        guarantees: The promises that are kept.
        constraints: The linear constraints that are kept.
        loss: The limit of the loss in words, such as ``"this loss"``; "" for none.
    """
    promises = "these promises" if len(guarantees) > 1 else "this promise"
    limits = (
        ["these linear constraints" if len(constraints) > 1 else "this linear constraint"] if constraints else []
    )
    limits += [loss] if loss else []
    if isinstance(secrets, Lattice):
        proof = ["the rows that prove the promise"] if guarantees else []
        return f"on these vertices, with {_listed(['these reports', *limits, *proof])},"
    return f"with {_listed([*([promises] if guarantees else []), *limits, 'these reports'])}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
