"""The file of noise for coordinates: its recipe, whose places its table was made of, and what is claimed of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from ..core import Prior
from ..core.arguments import checked
from ..core.frozen import Frozen
from ..core.naming import quote
from ..core.randomizer import check_known
from ..errors import InputError, python
from ..escaping import plain
from ..evidence import NoiseProof, prove_planar_noise
from ..geo import Cells, Grid, Visits
from ..mechanisms.planar import CoordinateNoise
from ..rounding import counted
from .claims import json_of

_LONGEST: Final = 300  # characters of a source
_SHOWN: Final = 120  # of these in a sentence
_CELLS: Final = 108  # of the prior: 12 x 9 over 8 km x 6 km


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoiseFile(Frozen):
    """The content of one file of noise for coordinates (.sfm).

    The file holds the recipe, not a matrix, so whoever has it can draw. If there is a table, it also
    shows where the places are that the table was made of, some of them exactly, and so does each report.

    Args:
        noise: The noise, with a projection.
        prior: How often people are in each of some cells, for attacks and estimates.
        source: Whose places the table and the prior were made of, in a few words.
        claims: What else its writer says about it.

    Attributes:
        noise: The noise.
        prior: How often people are in each of some cells, or None.
        source: Whose places the table and the prior were made of, in a few words; "" where it is not said.
        claims: What else its writer says about it, such as a certificate: text, finite numbers, lists and
            mappings. Claims are not proofs.
        proof: The proof of its promise, made anew from the recipe.

    Raises:
        InputError: If the noise has no projection, the prior is not on cells within its reach, the source is
            too long, or JSON cannot hold the claims.
    """

    noise: CoordinateNoise
    prior: Prior | None
    source: str
    claims: dict[str, Any]
    proof: NoiseProof

    @checked
    def __init__(
        self,
        noise: CoordinateNoise,
        prior: Prior | None = None,
        source: str = "",
        claims: Mapping[str, Any] | None = None,
    ) -> None:
        check_known(noise)
        if noise.projection is None:
            raise InputError(
                "a mechanism file holds noise for latitudes and longitudes, but this is for points of a plane.",
                python("pass a Projection when you make it, or use CoordinateNoise.for_visits."),
            )
        if len(source) > _LONGEST:
            raise InputError(f"the source has {len(source):,} characters.", f"use at most {_LONGEST}.")
        if prior is not None:
            if not isinstance(prior.space, Cells):
                raise InputError(
                    f"the prior is on {prior.space!r}, which are not cells on the ground.",
                    "use one on a Grid or Hexagons.",
                )
            if not noise.serves(*prior.space.latlon.T).all():
                raise InputError(
                    f"a cell of the prior is farther than {noise.reach_m / 1000:,.6g} km from the centre.",
                    "use cells that the noise serves.",
                )
        promise = noise.promise
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "source", plain(source))
        object.__setattr__(self, "claims", json_of(claims or {}))
        proof = prove_planar_noise(promise, noise.noise.rate, noise.step_m, noise.reach_m)
        object.__setattr__(self, "proof", proof)

    @classmethod
    def for_visits(cls, noise: CoordinateNoise, visits: Visits, source: str = "") -> Self:
        """Return the file of noise whose table was made of visits, with a prior on about 100 cells over them.

        Args:
            noise: The noise.
            visits: The visits; of less than two dimensions they give no prior.
            source: Where they come from, in a few words; by default how many they are.
        """
        region = visits.region()
        cells = Grid.covering(visits, shape=region.shape_of(_CELLS)) if min(region.size_m) > 0 else None
        said = source or f"{counted(len(visits), 'visit')} of one person"
        return cls(noise, None if cells is None else Prior.from_visits(cells, visits), said)

    @property
    def whose(self) -> str:
        """Whose places the table was made of, in a sentence; "" where there is no table."""
        if self.noise.remap is None:
            return ""
        made = "It was made of places that the file does not name"
        if self.source:
            made = f"Its writer says that it was made of {quote(self.source, _SHOWN)}"
        return (
            "After the noise, a table moves each report to the best place for what it reveals. "
            f"{made}; anyone who sees reports or the file can see where these places are, some of them exactly. "
            "If they are the protected person's own, that is a second release, which no promise here covers."
        )

    def __repr__(self) -> str:
        held = ", with a prior" if self.prior is not None else ""
        return f"NoiseFile with a {self.noise!r}{held}"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.noise, self.prior, self.source, self.claims)
