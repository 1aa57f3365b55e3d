"""The families that a comparison for places is between, made for an epsilon and measured at the true points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...attacks import true_place
from ...core import Bracket, CoordinatePrivacy, Mechanism, MetricPrivacy, Prior, units
from ...errors import InputError
from ...evidence import expected_loss_above, worst_border
from ...geo import Grid, Lattice, Places, Region, Visits
from ...geo.vertices import Kind
from ...intervals import exp_above
from ...mechanisms.planar import CoordinateNoise, PlaneError
from ...optimal import Design, design, suited_lattice
from ...rounding import amount_at_most, up
from .place_rows import PlaceRow

UNIT: Final = "km"
SPLINE: Final = "program, spline"
HAT: Final = "program, hat"
REMAPPED: Final = "planar Laplace + remap"
RAW: Final = "planar Laplace"
CELLS: Final = "cells"
KINDS: Final[dict[str, Kind]] = {SPLINE: "square", HAT: "triangular"}
NAMES: Final = (SPLINE, HAT, REMAPPED, RAW, CELLS)

_FINENESS: Final = 0.2  # of the table of the remap: of few places finer, which takes as long
_FEW: Final = 500
_ROUGH: Final = 0.3  # where noise is made for many epsilons
_FINEST: Final = 0.1
_COARSE: Final = 1.0  # where the table is not looked at
_ROUNDING: Final = 1e-12  # of means of distances in floating point


@dataclass(slots=True)
class PlaceFamilies:
    """Makes the mechanisms for some visits, and remembers what it can use again.

    Attributes:
        visits: Where people are; all mechanisms are made for these and measured on these.
        region: What they serve.
        spacing: Of lattices and cells, metres; by default it is chosen for each epsilon.
        most: Vertices of a lattice whose spacing is chosen, at most.
        gap: Of the programs.
        time_limit: Seconds for each program.
    """

    visits: Visits
    region: Region
    spacing: float | None
    most: int
    gap: float
    time_limit: float
    kept: dict[str, Lattice] = field(default_factory=dict)
    solved: dict[str, Design] = field(default_factory=dict)
    errors: dict[float, PlaneError] = field(default_factory=dict)
    fineness: float = _FINENESS

    def made(self, name: str, epsilon: float, *, attacked: bool = True) -> PlaceRow:
        """Return what a family's mechanism of an epsilon per kilometre achieves.

        Args:
            name: The family.
            epsilon: Per kilometre.
            attacked: Whether its attacker is looked for, too, which may take longer than the mechanism.
        """
        if name in KINDS:
            return self._program(name, epsilon, attacked)
        if name == CELLS:
            return self._cells(epsilon, attacked)
        return self._noise(name, epsilon, attacked)

    def fixed_for(self, epsilon: float) -> None:
        """Keep the lattices and cells that suit an epsilon for all others: losses then depend on epsilon alone."""
        self.fineness = _ROUGH
        for name in (*KINDS, CELLS):
            self.kept[name] = self.lattice(KINDS.get(name, "square"), epsilon)

    def lattice(self, kind: Kind, epsilon: float) -> Lattice:
        """Return the lattice for an epsilon per kilometre."""
        if self.spacing is not None:
            return Lattice.covering(self.visits, self.spacing, kind=kind, region=self.region)
        promise = CoordinatePrivacy(epsilon, UNIT)
        return suited_lattice(self.visits, promise, most=self.most, kind=kind, region=self.region).lattice

    def _program(self, name: str, epsilon: float, attacked: bool) -> PlaceRow:
        places = self.kept.get(name) or self.lattice(KINDS[name], epsilon)
        promise = CoordinatePrivacy(epsilon, UNIT)
        found = self._designed(name, places, promise)
        kept = found.certificate.epsilon_upper
        slack = places.slack_m
        return PlaceRow(
            name,
            epsilon,
            kept,
            slack,
            self._loss(found.mechanism, places),
            self._attacker(found.mechanism, attacked),
            _metre(kept, slack),
            f"{places!r}",
        )

    def _cells(self, epsilon: float, attacked: bool) -> PlaceRow:
        side = (self.kept.get(CELLS) or self.lattice("square", epsilon)).spacing_m
        places = Grid.covering(self.visits, side, region=self.region)
        found = self._designed(CELLS, places, MetricPrivacy(epsilon, places.metric("euclidean", unit=UNIT)))
        border = worst_border(found.mechanism)
        # Two points on the two sides of a border may be as near as one likes.
        kept = np.inf if border.factor.lower > 1 else found.certificate.epsilon_upper
        return PlaceRow(
            CELLS,
            epsilon,
            float(kept),
            0.0,
            self._loss(found.mechanism, places),
            self._attacker(found.mechanism, attacked),
            border.factor,
            f"{places!r}",
        )

    def _noise(self, name: str, epsilon: float, attacked: bool) -> PlaceRow:
        noise = CoordinateNoise.for_visits(self.visits, epsilon, fineness=_COARSE)
        if noise.projection is None:
            raise InputError("noise for visits has no plane.", "make it for visits.")
        points = noise.projection.forward(self.visits.lat, self.visits.lon)
        weights = np.ones(len(points))
        if epsilon not in self.errors and (attacked or name == REMAPPED):
            fineness = _FINEST if len(self.visits) <= _FEW else self.fineness
            self.errors[epsilon] = noise.for_places(points, weights, fineness).error(points, weights)
        if name == RAW:
            raw = CoordinateNoise(epsilon, noise.step_m, noise.projection, noise.reach_m)
            loss = raw.error(points, weights, _COARSE).loss
        else:
            loss = self.errors[epsilon].loss
        slack = noise.promise.slack_m
        return PlaceRow(
            name,
            epsilon,
            epsilon,
            slack,
            _in_km(loss),
            _in_km(self.errors[epsilon].attacker) if attacked else None,
            _metre(epsilon, slack),
            f"a lattice of {amount_at_most(float(noise.step_m), 'm')}",
        )

    def _designed(self, name: str, places: Places, promise: CoordinatePrivacy | MetricPrivacy) -> Design:
        before = self.solved.get(name)
        same = before is not None and before.mechanism.secrets == places
        self.solved[name] = design(
            Prior.from_visits(places, self.visits),
            loss=places.loss(self.visits, unit=UNIT),
            guarantees=promise,
            gap=self.gap,
            tie_break=False,
            time_limit=self.time_limit,
            start=before if same else None,
            keep="program",
        )
        return self.solved[name]

    def _loss(self, mechanism: Mechanism, places: Places) -> Bracket:
        prior, loss = Prior.from_visits(places, self.visits), places.loss(self.visits, unit=UNIT)
        value = mechanism.expected_loss(prior, loss)
        upper = up(expected_loss_above(mechanism, prior, loss) * (1 + _ROUNDING))
        return Bracket(max(0.0, value * (1 - _ROUNDING)), min(value, upper), upper)

    def _attacker(self, mechanism: Mechanism, attacked: bool) -> Bracket | None:
        return true_place(mechanism, self.visits, unit=UNIT).error if attacked else None


def _metre(epsilon: float, slack_m: float) -> Bracket:
    """Return the proved factor of two points a metre apart, for epsilon per kilometre."""
    upper = float(
        exp_above(np.array([up(epsilon * units.factor("m", UNIT) * up(1 + slack_m)) * (1 + _ROUNDING)]))[0]
    )
    return Bracket(1.0, upper, upper)


def _in_km(metres: Bracket) -> Bracket:
    return Bracket(
        metres.lower / 1000 * (1 - _ROUNDING), metres.value / 1000, metres.upper / 1000 * (1 + _ROUNDING)
    )
