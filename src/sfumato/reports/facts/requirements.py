"""Notions and measures of a file from an audit, and the requirements on them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from ...attacks import chance_within
from ...audits import Audit, Outcome, Requirement, audit
from ...core import Bracket, Mechanism, Prior, Space, units
from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import InputError
from ...escaping import plain
from ...files import MechanismFile, measured_by
from ...geo import Places, Visits
from ...proofs import distortion_below
from .attacks import always_found, noise_on_points, silent
from .mechanism import of_numbers
from .types import Evidence, NotionFacts, Quantity, RequirementFacts, RiskFacts

RADIUS: Final = "1850 ft"  # the radius of several laws on precise locations
_MOST_SECRETS: Final = 260  # secrets, or reports, up to which an audit takes half a minute at most
_NO_NOTIONS: Final = (
    "The notions of the atlas were not measured, because that takes minutes for as many secrets. Run sfumato "
    "audit."
)
_RISK_START: Final = re.compile(r"\s*within\b", re.IGNORECASE)
_SIGN: Final = re.compile(r"[<>=≤≥]")
_FORM: Final = re.compile(
    r"^\s*within\s+(?P<radius>[^:]+?)\s*:\s*at\s+most\s+(?P<limit>\d+(?:\.\d*)?|\.\d+)\s*%\s*$", re.IGNORECASE
)
_HINT: Final = "write it as 'within 1850 ft: at most 50 %'."
_WHOLE: Final = 2**50
_ROUNDING: Final = 1e-12  # relative, of distances and sums in floats


def measure_notions(
    file: MechanismFile, demands: Requirements
) -> tuple[tuple[NotionFacts, ...], tuple[str, ...], tuple[RequirementFacts, ...]]:
    """Return the notions of an audit, its notes, and the outcomes of requirements on it.

    A large mechanism is audited only where something is required. Raises `InputError` if a requirement is on
    something that this file does not have.
    """
    also = [requirement.request for requirement in demands.requirements]
    notes, is_stated = [], False
    if not file.has_matrix:
        result = audit(file.mechanism, prior=file.prior, also=also)
    elif max(file.report_channel.shape) > _MOST_SECRETS and not also:
        return (), (_NO_NOTIONS,), ()
    else:
        mechanism, space = file.report_channel, file.report_channel.secrets
        by = measured_by(mechanism, file.guarantees)
        metric, is_stated, notes = by.metric, by.stated, [by.note] if by.note else []
        if metric is None and isinstance(space, Places):
            metric = space.metric("euclidean", unit="km")
        result = audit(mechanism, prior=file.prior, metric=metric, also=also)
    verdicts = [requirement.hold_against(result, is_stated=is_stated) for requirement in demands.requirements]
    outcomes = tuple(
        RequirementFacts(plain(verdict.requirement.text), verdict.outcome, plain(verdict.reason))
        for verdict in verdicts
    )
    return notions_of(result), tuple(map(plain, (*result.notes, *notes))), outcomes


def notions_of(result: Audit) -> tuple[NotionFacts, ...]:
    """Return the entries of an audit as facts."""
    facts = []
    for entry in result:
        low, high = entry.bracket.lower, entry.bracket.upper
        is_estimate = not entry.is_proved and (entry.failure > 0 or entry.side.value == "estimate")
        unit = (f"/{entry.unit}" if entry.per else entry.unit) if entry.unit else ""
        number = Quantity(
            None if is_estimate and low == -float("inf") else low,
            entry.value,
            None if is_estimate and high == float("inf") else high,
            plain(unit),
            Evidence.ESTIMATED if is_estimate else Evidence.PROVED,
            1 - entry.failure if entry.failure else None,
        )
        texts = map(plain, (entry.amount(), entry.sentence, entry.witness, entry.source))
        facts.append(NotionFacts(entry.key, plain(entry.title), entry.parameter, number, entry.standing, *texts))
    return tuple(facts)


@dataclass(frozen=True, slots=True, repr=False)
class Requirements(CompactRepr):
    """Requirements of both kinds."""

    risks: tuple[RiskLine, ...] = ()  # how often an attacker is near
    requirements: tuple[Requirement, ...] = ()  # what an audit measures

    def __bool__(self) -> bool:
        return bool(self.risks or self.requirements)


def read_requirements(texts: Iterable[str]) -> Requirements:
    """Read requirements such as ``within 1850 ft: at most 50 %`` or ``epsilon <= 0.7/km``.

    Raises `InputError` if one has neither form, or needs an input that a report does not take.
    """
    risks, requirements = [], []
    for text in texts:
        if _RISK_START.match(text):
            risks.append(RiskLine.parse(text))
        elif _SIGN.search(text):
            requirements.append(requirement := Requirement.parse(text))
            if requirement.needs_table:
                raise InputError(
                    f"{requirement.request} needs a table, but a report measures a file alone.",
                    "measure it: 'sfumato audit'.",
                )
        else:
            raise InputError(
                f"{plain(text)!r} is not a valid requirement.",
                "write it as 'within 1850 ft: at most 50 %' for a risk.",
                "write it as 'epsilon <= 0.7/km' for what an audit finds.",
            )
    return Requirements(tuple(risks), tuple(requirements))


class RiskLine(NamedTuple):
    """A requirement on how often an attacker's guess is near the secret."""

    text: str  # as written
    radius: str  # as written
    limit: Fraction  # a share, exactly as written

    @classmethod
    def parse(cls, text: str) -> RiskLine:
        """Read a requirement; raise `InputError` if it has another form, or the limit is above 100 %."""
        match = _FORM.match(text)
        if match is None:
            raise InputError(f"{plain(text)!r} is not a valid requirement on a risk.", _HINT)
        limit = Fraction(match["limit"]) / 100
        if limit > 1:
            raise InputError(f"{match['limit']} % in {plain(text)!r} is more than 100 %.", _HINT)
        return cls(plain(text).strip(), plain(match["radius"]), limit)

    def check(self, space: Space | None = None) -> None:
        """Raise `InputError` if the radius does not fit the secrets, before there is a mechanism."""
        if space is None or isinstance(space, Places):
            _length(self.radius)
        else:
            _radius(space, self.radius)

    def judge(self, file: MechanismFile, visits: Visits | None, known: Evidence) -> RiskFacts:
        """Return whether a file satisfies the requirement; raise `InputError` if the radius does not fit."""
        risk = _chance(file, self.radius, visits, known)
        outcome, chance = Outcome.UNDECIDED, risk.chance
        if chance is not None and chance.upper is not None and Fraction(chance.upper) <= self.limit:
            outcome = Outcome.HOLDS
        elif chance is not None and chance.lower is not None and Fraction(chance.lower) > self.limit:
            outcome = Outcome.FAILS
        limit = Quantity.exact(float(self.limit), known=Evidence.STATED)
        return risk._replace(text=self.text, limit=limit, outcome=outcome)


def usual_risk(file: MechanismFile, visits: Visits | None, known: Evidence, why: str = "") -> RiskFacts:
    """Return the risk that every report states: within 1,850 ft for places, a hit for values."""
    of_places = not file.has_matrix or isinstance(file.report_channel.secrets, Places)
    if why:
        return _unknown_risk(_length(RADIUS), RADIUS, why)
    return _chance(file, RADIUS if of_places else "0", visits, known)


def _chance(file: MechanismFile, radius: str, visits: Visits | None, known: Evidence) -> RiskFacts:
    if not file.has_matrix:
        length, noise = _length(radius), noise_on_points(file.noise, visits)
        if isinstance(noise, str):
            return _unknown_risk(length, radius, "visits" if noise == "unsaid" else noise)
        chance = Quantity.of(noise.chance_within(length.value), "", known)
        return RiskFacts("", length, radius, chance, None, None, "", "visits")
    mechanism = file.report_channel
    space = mechanism.secrets
    if isinstance(space, Places):
        if visits is None:
            return _unknown_risk(_length(radius), radius, "visits")
        return risk_within(mechanism, visits, radius, known)
    near, prior = _radius(space, radius), file.prior
    if prior is None:
        return _unknown_risk(near, radius, "prior")
    windows = _windows(mechanism, near.value)
    blind, chance = (
        Quantity.exact(1.0) if always_found(channel, prior) else Quantity.of(_hits(channel, prior, *windows))
        for channel in (silent(mechanism), mechanism)
    )
    return RiskFacts("", near, radius, chance, None, None, "", "prior", blind)


def risk_within(mechanism: Mechanism, visits: Visits, radius: str, known: Evidence = Evidence.PROVED) -> RiskFacts:
    """Return the risk that the best attacker is within a radius of the true points of visits."""
    metres = _length(radius).value
    chance, blind = (chance_within(channel, visits, metres) for channel in (mechanism, silent(mechanism)))
    return risk_of(radius, chance, blind, known)


def risk_of(radius: str, chance: Bracket, blind: Bracket, known: Evidence = Evidence.PROVED) -> RiskFacts:
    """Return how often the best attacker is within a radius of the true point, with and without a report."""
    of, near = "file" if known is Evidence.STATED else "visits", Quantity.of(chance, "", known)
    return RiskFacts("", _length(radius), radius, near, None, None, "", of, Quantity.of(blind, "", known))


def _unknown_risk(radius: Quantity, text: str, why: str) -> RiskFacts:
    return RiskFacts("", radius, text, None, None, None, why, "")


def _length(radius: str) -> Quantity:
    length = units.length_m(radius, "the radius")
    if not length > 0:
        raise InputError(f"a radius of {radius} is not positive.", _HINT)
    return Quantity.exact(length, "m", Evidence.STATED)


def _radius(space: Space, radius: str) -> Quantity:
    """Return a radius in the unit of values, which need distances for one above 0."""
    if radius.strip() == "0":
        return Quantity.exact(0.0, space.unit, Evidence.STATED)
    if not of_numbers(space):
        raise InputError(
            f"within {radius} was asked for, but these secrets have no distances.",
            "write 'within 0: at most 60 %' for how often the secret itself is found.",
        )
    value = units.parse(radius, unit=space.unit, subject="the radius")
    if value < 0:
        raise InputError(f"a radius of {radius} is negative.", "use one of at least 0.")
    return Quantity.exact(value, space.unit, Evidence.STATED)


def _windows(mechanism: Mechanism, radius: float) -> tuple[Floats, Floats]:
    """Return the values surely and perhaps near each guess, a window of two radii, as arrays (guesses, n)."""
    space = mechanism.secrets
    if not of_numbers(space):
        return np.eye(len(space)), np.eye(len(space))
    x = np.asarray(space.coordinates, dtype=np.float64)[:, 0]
    apart = x[None, :] - x[:, None]
    turn = math.inf if space.period is None else space.period
    apart = apart if space.period is None else np.mod(apart, turn)
    twice = 2 * np.append(x, [radius, space.period or 0.0])  # sums and differences of small integers are exact
    exact = not radius or bool(((twice == np.round(twice)) & (np.abs(twice) < 2 * _WHOLE)).all())
    slack = 0.0 if exact else _ROUNDING * max(radius, float(np.abs(x).max()), space.period or 0.0)
    surely, perhaps = (
        (((apart >= 0) & (apart <= 2 * radius + change)) | (apart >= turn - change)).astype(np.float64)
        for change in (-slack, slack)
    )
    return np.maximum(surely, np.eye(len(x))), np.maximum(perhaps, np.eye(len(x)))


def _hits(mechanism: Mechanism, prior: Prior, surely: Floats, perhaps: Floats) -> Bracket:
    upper = min(1.0, -distortion_below(mechanism, prior, -perhaps))
    lower = float((surely @ mechanism.joint(prior)).max(axis=0).sum()) * (1 - _ROUNDING)
    lower = min(lower, upper) if math.isfinite(lower) else 0.0
    return Bracket.of_bounds(lower, upper)
