"""The families that a comparison for places is between, made for an epsilon and measured at the true points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from ..attacks import true_place
from ..core import Bracket, CoordinatePrivacy, Mechanism, MetricPrivacy, Prior, units
from ..errors import InputError, SolverError
from ..geo import Grid, Lattice, Places, Region, Visits
from ..geo.vertices import Kind
from ..intervals import exp_above
from ..mechanisms.planar.quadrature import raw_error
from ..mechanisms.planar.reach import stretch
from ..optimal import Design, design, suited_lattice
from ..proofs import expected_loss_above, worst_border
from ..rounding import amount_at_most, down, gap_at_most, up
from .place_rows import PlaceRow
from .shared_time import NOT_REACHED

UNIT: Final = "km"
SPLINE: Final = "program, spline"
HAT: Final = "program, hat"
REMAPPED: Final = "planar Laplace + remap"
RAW: Final = "planar Laplace"
CELLS: Final = "cells"
KINDS: Final[dict[str, Kind]] = {SPLINE: "square", HAT: "triangular"}
NAMES: Final = (SPLINE, HAT, REMAPPED, RAW, CELLS)

_ROUNDING: Final = 1e-12  # of means of distances in floating point


class Made(NamedTuple):
    """A mechanism, measured, and the attack on it, which is looked for only where it is asked for."""

    row: PlaceRow
    attack: Callable[[], Bracket]

    @property
    def attacked(self) -> PlaceRow:
        """The row with the attacker's error."""
        return replace(self.row, attacker_error=self.attack())


@dataclass(slots=True)
class PlaceFamilies:
    """Makes the mechanisms for some visits as `design` does, and remembers what it can use again.

    Attributes:
        visits: Where people are; all mechanisms are made for these and measured on these.
        region: What they serve.
        spacing: Of lattices and cells, metres; by default it is chosen for each epsilon.
        most: Vertices of a lattice whose spacing is chosen, at most.
        gap: Of the programs.
        one_lattice: Whether a lattice is not chosen for each epsilon, but is the finest: losses then depend on
            epsilon alone.
    """

    visits: Visits
    region: Region
    spacing: float | None
    most: int
    gap: float
    one_lattice: bool = False
    noises: dict[float, Design] = field(default_factory=dict)

    def made(self, name: str, epsilon: float, seconds: float) -> Made:
        """Return a family's mechanism of an epsilon per kilometre, and what it achieves.

        Args:
            name: The family.
            epsilon: Per kilometre.
            seconds: For the mechanism; a program that has not ended by then is the best so far.

        Raises:
            SolverError: If there is no mechanism in that time.
        """
        if not seconds > 0:
            raise SolverError(f"{NOT_REACHED}.", "allow more time.")
        if name in KINDS:
            return self._program(name, epsilon, seconds)
        return self._cells(epsilon, seconds) if name == CELLS else self._noise(name, epsilon, seconds)

    def _lattice(self, kind: Kind, epsilon: float) -> Lattice:
        if self.spacing is not None:
            return Lattice.covering(self.visits, self.spacing, kind=kind, region=self.region)
        promise = None if self.one_lattice else CoordinatePrivacy(epsilon, UNIT)
        return suited_lattice(self.visits, promise, most=self.most, kind=kind, region=self.region).lattice

    def _program(self, name: str, epsilon: float, seconds: float) -> Made:
        places = self._lattice(KINDS[name], epsilon)
        found = self._designed(places, CoordinatePrivacy(epsilon, UNIT), seconds)
        kept, slack = found.certificate.epsilon_upper, places.slack_m
        return self._measured(name, epsilon, found, places, kept, slack, _metre(kept, slack))

    def _cells(self, epsilon: float, seconds: float) -> Made:
        places = Grid.covering(self.visits, self._lattice("square", epsilon).spacing_m, region=self.region)
        promise = MetricPrivacy(epsilon, places.metric("euclidean", unit=UNIT))
        found = self._designed(places, promise, seconds)
        border = worst_border(found.mechanism)
        # Two points on the two sides of a border may be as near as one likes.
        kept = float(np.inf if border.factor.lower > 1 else found.certificate.epsilon_upper)
        return self._measured(CELLS, epsilon, found, places, kept, 0.0, border.factor)

    def _measured(
        self, name: str, epsilon: float, found: Design, places: Places, kept: float, slack_m: float, metre: Bracket
    ) -> Made:
        mechanism = found.mechanism
        stopped = ""
        if not found.finished:
            gap = gap_at_most(found.certificate.gap)
            stopped = f"stopped by the time limit, at most {gap} above the least with its reports"
        detail = f"{places!r}, {mechanism.shape[1]} reports"
        loss = self._loss(found, mechanism)
        row = PlaceRow(name, epsilon, kept, slack_m, loss, None, metre, detail, stopped=stopped)
        return Made(row, lambda: true_place(mechanism, self.visits, unit=UNIT).error)

    def _noise(self, name: str, epsilon: float, seconds: float) -> Made:
        if epsilon not in self.noises:
            places = self._lattice("square", epsilon)
            self.noises[epsilon] = design(
                Prior.from_visits(places, self.visits),
                loss=places.loss(self.visits, unit=UNIT),
                guarantees=CoordinatePrivacy(epsilon, UNIT),
                keep="noise",
                time_limit=seconds,
            )
        found = self.noises[epsilon]
        noise, proof = found.mechanism, found.certificate.privacy
        loss = _in_km(found.certificate.loss) if name == REMAPPED else self._raw(found)
        row = PlaceRow(
            name,
            epsilon,
            proof.upper if proof.holds else np.inf,
            proof.slack_m,
            loss,
            None,
            _metre(proof.upper, proof.slack_m),
            f"a lattice of {amount_at_most(float(noise.step_m), 'm')}",
        )
        # What is replaced by the table tells no more than the report before it.
        return Made(row, lambda: _in_km(found.certificate.attacker))

    def _raw(self, found: Design) -> Bracket:
        noise = found.mechanism
        if noise.projection is None:
            raise InputError("noise for visits has no plane.", "make it for visits.")
        points = noise.projection.forward(self.visits.lat, self.visits.lon)
        loss = raw_error(points, np.ones(len(points)), noise.noise.rate, noise.step_m)
        return _in_km(Bracket(down(loss.lower / stretch(noise.reach_m)), loss.value, loss.upper))

    def _designed(self, places: Places, promise: CoordinatePrivacy | MetricPrivacy, seconds: float) -> Design:
        return design(
            Prior.from_visits(places, self.visits),
            loss=places.loss(self.visits, unit=UNIT),
            guarantees=promise,
            gap=self.gap,
            tie_break=False,
            time_limit=seconds,
            medians=self.visits,
            keep="program",
        )

    def _loss(self, found: Design, mechanism: Mechanism) -> Bracket:
        prior, loss = found.problem.prior, found.problem.loss
        value = mechanism.expected_loss(prior, loss)
        upper = up(expected_loss_above(mechanism, prior, loss) * (1 + _ROUNDING))
        return Bracket(max(0.0, value * (1 - _ROUNDING)), min(value, upper), upper)


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
