"""Words for the secrets of an audit: values, cells or vertices, and what follows for people who are somewhere."""

from __future__ import annotations

from typing import Final

from ..core import Space
from ..geo import Cells, Lattice

_CELLS: Final = (
    "The secrets are cells. What is said of any two secrets holds for any two people in them. Distances are "
    "between the centres of cells: two people a metre apart, on the two sides of a border, count as far apart as "
    "these centres, and an attacker's error counts from the centre of your cell, not from where you are."
)
_VERTICES: Final = (
    "The secrets are the vertices that points are rounded to at random. What is said of any two secrets holds for "
    "any two points that the lattice serves, except for probabilistic differential privacy, and a report tells no "
    "more bits of the point than of the vertex. What counts per distance, what is said under a prior, and how an "
    "attacker fares are about vertices: of points, coordinate privacy alone counts per distance."
)


def note_on(secrets: Space) -> str:
    """Return what the values of an audit say of people who are somewhere; "" of secrets that are no places."""
    return _VERTICES if isinstance(secrets, Lattice) else _CELLS if isinstance(secrets, Cells) else ""


def what_is_found(secrets: Space) -> str:
    """Return what an attacker who guesses a secret finds, in words."""
    if isinstance(secrets, Lattice):
        return "the vertex that you are rounded to"
    return "your cell" if isinstance(secrets, Cells) else "the secret"


def error_between(secrets: Space) -> str:
    """Return between which places an attacker's error is counted, as the end of a clause; "" of other values."""
    if isinstance(secrets, Lattice):
        return " about the vertex that you are rounded to, if they guess a vertex"
    if secrets.circle:
        return f", counted {secrets.circle}"
    return ", counted between centres of cells, if they guess a centre" if isinstance(secrets, Cells) else ""
