"""Solvers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ..errors import InputError, argument
from .auto import Auto
from .clarabel import Clarabel
from .highs import Highs
from .solver import Solver
from .structured import Structured

SOLVERS: Final[Mapping[str, Callable[[], Solver]]] = {
    "auto": Auto,
    "structured": Structured,
    "highs": Highs,
    "simplex": lambda: Highs("simplex"),
    "clarabel": Clarabel,
}


def solver_of(given: Solver | str | None) -> Solver:
    """Return a solver, by its name in `SOLVERS` or as given; the automatic choice for None.

    Raises:
        InputError: If there is no solver of this name.
    """
    if isinstance(given, Solver):
        return given
    name = "auto" if given is None else given
    if name not in SOLVERS:
        raise InputError(f"{argument('solver', name)} is unknown.", f"use one of {', '.join(SOLVERS)}.")
    return SOLVERS[name]()
