"""Interface of a domain: secrets, prior, loss, guarantee and the facts for sentences."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from sfumato.attacks import misinformed_attack
from sfumato.core import (
    AnyLoss,
    Bracket,
    CoordinatePrivacy,
    DesignGuarantee,
    DistortionPrivacy,
    Mechanism,
    Metric,
    MetricPrivacy,
    Prior,
    Space,
    hamming,
)
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.core.naming import EXPECTED
from sfumato.files import DistanceSource, MechanismFile
from sfumato.geo import Places
from sfumato.leakage import bayes_vulnerability
from sfumato.privacy.atlas import Claim
from sfumato.proofs import as_dict, certify, distortion_below
from sfumato.reports import facts
from sfumato.rounding import down, up

from ..errors import RefusedError
from ..limits import LEVELS

Where = int | tuple[float, float]  # a position: the index of a secret, or a latitude and a longitude
_USEFUL: Final = 0.995  # of the loss of one report for everyone; the gap of the levels' designs is the rest
EXCESS: Final = 1 / _USEFUL - 1
"""The share by which one report for everyone loses more than the least useful mechanism that is called useful."""
RUN: Final = "python script.py"  # the command that runs a script, under the name that it is downloaded by


@dataclass(frozen=True, slots=True, repr=False)
class Measures(CompactRepr):
    """The best attacker's average error (None where that has no meaning), and chance to find the secret."""

    error: Bracket | None
    chance: Bracket


class ProvedForm(NamedTuple):
    """A mechanism in closed form: its file, its matrix between secrets, its proved epsilon and loss, its name."""

    file: MechanismFile
    mechanism: Mechanism
    epsilon: float
    loss: Bracket
    name: str


class Domain(ABC):
    """Secrets of a workspace, and all that is made of them."""

    kind: str  # places or values
    prior: Prior
    loss: AnyLoss
    metric: Metric  # the distance of secrets, in the unit of the loss; errors are counted in it
    apart: Metric  # the distance of values by which epsilon counts
    epsilon_unit: str  # such as 1/km
    loss_unit: str  # "" for a share
    ends: tuple[float, float]  # the least and the largest epsilon that make sense
    source: str  # the origin of the data, in words
    ordered: bool = False  # whether secrets are numbers, with errors in their unit
    goal: str = "answers"  # or shares: what the mechanisms are best for
    optimizable: bool = True  # whether optimized designs can replace the closed forms
    protected: str = "values"  # the kind of its guarantee: points, cells or values
    per_unit: bool = False  # whether the epsilon of values counts per unit
    slack_m: float = 0.0  # that snapping adds to distances
    radius_m: float = 0.0  # how near to the true point a guess counts as found; 0: it must name the secret

    @property
    def space(self) -> Space:
        """The secrets, which are the reports, too."""
        return self.prior.space

    @property
    def places(self) -> bool:
        """Whether secrets are places on a map."""
        return self.kind == "places"

    def guarantee(self, epsilon: float) -> CoordinatePrivacy | MetricPrivacy:
        """Return the guarantee of an epsilon."""
        return MetricPrivacy(epsilon, self.apart)

    def error_guarantee(self, least: float) -> DesignGuarantee:
        """Return the guarantee of the attacker's least average error, in the unit of the loss."""
        return DistortionPrivacy(least, self.metric)

    def exponent(self, epsilon: float) -> float:
        """Return the logarithm of the largest ratio of a report's probabilities, for two secrets 1 unit apart."""
        return up(epsilon * up(1 + up(self.slack_m / 1000))) if self.epsilon_unit else epsilon

    @property
    def distance_unit(self) -> str:
        """The unit of distances that epsilon counts in."""
        return self.epsilon_unit.removeprefix("1/")

    @cached_property
    def subject(self) -> facts.SubjectFacts:
        """The facts of the secrets."""
        return facts.subject_of(MechanismFile(Mechanism(np.eye(len(self.space)), self.space, self.space)))

    def promise(self, epsilon: float) -> facts.PromiseFacts:
        """Return the facts of a proved epsilon; the last of its beliefs is that of two secrets 1 unit apart."""
        unit, circle = self.distance_unit, self.space.circle if self.per_unit else ""
        beliefs = [facts.belief_of(facts.Quantity.exact(1.0, unit), self.exponent(epsilon))]
        if self.per_unit:  # these are not any two
            beliefs.insert(0, facts.belief_of(facts.Quantity.exact(2.0), up(2 * epsilon)))
        return facts.PromiseFacts(
            self.protected,
            True,
            False,
            facts.Quantity.exact(epsilon, unit and f"/{unit}"),
            facts.Quantity.at_most(epsilon, unit and f"/{unit}"),
            self.metric.name,
            DistanceSource.CONFIRMED.value,
            unit,
            beliefs=tuple(beliefs),
            formal=facts.FormalFacts(circle=circle),
        )

    def cost(self, loss: float) -> facts.CostFacts:
        """Return the facts of an upper bound of the average loss."""
        kind = "centres" if self.subject.kind == "cells" else "loss" if self.ordered or self.places else "hamming"
        kind = "true point" if self.radius_m else kind
        return facts.CostFacts(kind, self.metric.name, facts.Quantity.at_most(loss, self.subject.unit))

    def attacks(self, success: Measures) -> tuple[facts.AttackFacts, facts.AttackFacts]:
        """Return the facts of an attacker without a report, and of one with this success."""
        noun = {"points": "vertex", "cells": "cell"}.get(self.subject.kind, "value")
        noun, unit = "point" if self.radius_m else noun, self.subject.unit
        blind, informed = (
            (_quantity(row.chance, "", 1.0), None if row.error is None else _quantity(row.error, unit, math.inf))
            for row in (self.blind_success, success)
        )
        return facts.AttackFacts("blind", 0, noun, *blind), facts.AttackFacts("informed", 1, noun, *informed)

    def claim(self, epsilon: float) -> Claim:
        """Return what a guarantee says of any two secrets, as a claim from which others follow.

        Points that are served lie among the vertices of a lattice, so none are farther apart than these.
        """
        if not self.epsilon_unit:
            return Claim.of(MetricPrivacy(epsilon, self.apart))
        farthest_km = up((float(self.metric.array.max()) + self.slack_m) / 1000)
        return Claim("differential-privacy", epsilon=up(epsilon * farthest_km))

    def measures(self, mechanism: Mechanism) -> Measures:
        """Return the best attacker's average error where errors have a meaning, and chance to be right."""
        hits = bayes_vulnerability(mechanism, self.prior)
        most = min(1.0, -distortion_below(mechanism, self.prior, -np.eye(len(self.prior))))
        right = Bracket(-math.inf, min(hits, most), most)
        if not (self.ordered or self.places):
            return Measures(None, right)
        error = distortion_below(mechanism, self.prior, self.metric)
        return Measures(Bracket(error, error, math.inf), right)

    def closed_form(self, epsilon: float) -> tuple[Mechanism, str]:
        """Return the best mechanism in closed form, whose guarantee is proved afterwards, and its name."""
        raise NotImplementedError

    def spread(self, where: Where) -> Floats:
        """Return the probability of each secret for a person at a position, array (n,)."""
        shares = np.zeros(len(self.prior))
        if isinstance(where, int):
            shares[self.checked_index(where)] = 1.0
            return shares
        rounding = self._places.rounding(*([degrees] for degrees in where))
        if not rounding.inside[0]:
            raise RefusedError(422, "This point is outside of the region.", "choose a point inside.", "lat")
        np.add.at(shares, rounding.positions[0], rounding.shares[0])
        return shares

    def distances_to(self, where: Where) -> Floats:
        """Return the distance of each report from a position, array (n,), in the unit of the loss."""
        if isinstance(where, int):
            distances: Floats = self.metric.array[self.checked_index(where)]
            return distances
        here = self._places.projection.forward(*([degrees] for degrees in where))[0]
        return np.asarray(np.hypot(*(self._places.on_plane(self._places) - here).T))

    @property
    def _places(self) -> Places:
        """The secrets as places; `RefusedError` for values."""
        if not isinstance(self.space, Places):
            raise RefusedError(422, "A value is needed, not a point on the map.", "name its index in at.", "at")
        return self.space

    @cached_property
    def counts(self) -> Floats:
        """The frequency of each secret, array (n,); its probability where nothing was counted."""
        return self.prior.probabilities

    @abstractmethod
    def answer(self) -> dict[str, Any]:
        """Return what is special of the page's description of this kind of domain."""

    @abstractmethod
    def script(self, name: str, epsilon: float, gap: float | None, distortion: float | None) -> str:
        """Return a Python script that makes a mechanism again.

        Args:
            name: The name of the file with the data.
            epsilon: The epsilon of its guarantee.
            gap: The gap of an optimized design; None for the closed form.
            distortion: The attacker's error that was requested; None for none.
        """

    @property
    def epsilon_counts(self) -> Mapping[str, Any]:
        """The argument of a sweep by which epsilon counts: visits, or a metric."""
        return {"metric": self.apart}

    def proved_form(self, epsilon: float) -> ProvedForm:
        """Return the closed form of an epsilon, with what is proved of its integers."""
        mechanism, name = self.closed_form(epsilon)
        guarantees = [self.guarantee(epsilon)]
        proof = certify(mechanism, self.prior, self.loss, guarantees, objective=EXPECTED, bound=-math.inf)
        file = MechanismFile(mechanism, self.prior, self.loss, guarantees, {"certificate": as_dict(proof)})
        value = min(mechanism.expected_loss(self.prior, self.loss), proof.loss)
        return ProvedForm(file, mechanism, proof.epsilon_upper, Bracket(-math.inf, value, proof.loss), name)

    def picture(self, file: MechanismFile) -> Mechanism:
        """Return the matrix between secrets that is shown, attacked and drawn from."""
        return file.report_channel

    @cached_property
    def epsilons(self) -> list[float]:
        """The epsilons of the levels, the largest first."""
        return [float(f"{epsilon:.3g}") for epsilon in np.geomspace(self.ends[1], self.ends[0], LEVELS)]

    @property
    def start(self) -> int:
        """The level to begin with."""
        return len(self.epsilons) // 2 - 1 if len(self.epsilons) > 1 else 0

    @property
    def order(self) -> list[int]:
        """The levels in the order in which they are made, from the first one shown outward."""
        return sorted(range(len(self.epsilons)), key=lambda level: abs(level - self.start))

    @cached_property
    def blind_success(self) -> Measures:
        """The success of an attacker who sees no report."""
        return self.measures(Mechanism(np.ones((len(self.prior), 1)), self.space, Space(["nothing"])))

    @property
    def loss_of_nothing(self) -> float:
        """A lower bound of the loss of one report for everyone: that of a guess without a report."""
        blind = self.blind_success
        return down(1 - blind.chance.upper) if blind.error is None else blind.error.lower

    def is_useful(self, loss: float) -> bool:
        """Return whether a loss is smaller by 0.5 % or more than that of one report for everyone."""
        blind = self.blind_success
        return loss < _USEFUL * (1 - blind.chance.value if blind.error is None else blind.error.value)

    def position_of(self, where: Where) -> int:
        """Return the most probable secret of a person at a position."""
        return int(np.argmax(self.spread(where)))

    def checked_index(self, at: int) -> int:
        """Return an index; `RefusedError` if there is no such secret."""
        if at >= len(self.prior):
            raise RefusedError(422, f"There is no place or value {at}.", f"use 0 to {len(self.prior) - 1}.", "at")
        return at

    def attack_measures(self, mechanism: Mechanism, belief: Prior) -> list[Measures]:
        """Return what three attackers achieve: with the right prior, with a false belief, and with a true one."""
        success = []
        for truth, view in ((self.prior, self.prior), (self.prior, belief), (belief, belief)):
            near, hit = (misinformed_attack(mechanism, truth, d, view) for d in (self.metric, hamming(self.space)))
            error = Bracket.exact(near.error) if self.loss_unit else None
            success.append(Measures(error, Bracket.exact(hit.hit_rate or 0.0)))
        return success


def _quantity(measure: Bracket, unit: str, most: float) -> facts.Quantity:
    """Return a number that is at least 0, and at most something; a useless upper bound is none."""
    upper = min(measure.upper, most)
    return facts.Quantity(max(measure.lower, 0.0), measure.value, upper if math.isfinite(upper) else None, unit)


def design_lines(guarantees: str, gap: float, options: str = "") -> str:
    """Return the lines of an optimized design, which need `prior` and `loss`."""
    return f"""design = sf.design(
    prior, loss=loss, guarantees=[{guarantees}], {options}gap={gap!r}, tie_break=False
)
print(design)"""


def script_text(lines: str, code: str, *, optimized: bool, source: str, visits: str | None) -> str:
    """Return a script."""
    file = f"MechanismFile{'.of_design(design)' if optimized else '(mechanism, prior, loss, guarantee)'}"
    option = "" if visits is None else f", visits={visits}"
    return f'''"""Makes a mechanism again that was chosen in the studio of sfumato, and its report."""

from pathlib import Path

import sfumato as sf
from sfumato.files import MechanismFile
from sfumato.reports.document import Origin, report

{lines}
{code}
file = {file}
sf.save(file, "mechanism.sfm")
origin = Origin(Path("mechanism.sfm"), source={source!r}, designed={RUN!r})
page = report(file{option}, origin=origin)
page.save("report.html")
page.save("report.json")
'''
