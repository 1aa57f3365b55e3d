"""Attackers of a file's mechanism: without a report, with one, without the prior, and with several reports."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...attacks import goals, true_place, unweighted
from ...core import Mechanism, Metric, Prior, hamming
from ...files import MechanismFile
from ...geo import Lattice, Places, Visits
from ...geo.true_points import DISTANCES, TruePoints
from ...proofs import PlaceDistortion, distortion_below
from ..certain import always_found
from .found import AttackFacts
from .noisy import noise_seen
from .promised import REPORTS
from .quantity import Known, Quantity
from .repeated import CONFIDENCE, RepeatedAttack, repeated_attacks
from .subject import centres_m, kind_of, of_numbers

_ROUNDING: Final = 1e-12  # relative, of sums in floats
_WHAT: Final = {"points": "vertex", "cells": "cell"}


def attacks_of(held: MechanismFile, visits: Visits | None, known: Known) -> tuple[tuple[AttackFacts, ...], str]:
    """Return what attackers achieve, and why several reports are not simulated.

    The reason is ``prior``, ``visits``, ``unsaid``, ``table`` or ``size``, or "" where they are.

    Args:
        held: The file.
        visits: Where people were, for errors from true points.
        known: Whether these are given, or stated by the file.
    """
    if not held.has_matrix:
        return _of_noise(held, visits)
    mechanism, prior = held.report_channel, held.prior
    places = mechanism.secrets
    if visits is not None and isinstance(places, Places):
        return _of_points(mechanism, places, visits, known)
    if prior is None:
        return (), "prior"
    found = _of_secrets(mechanism, prior)
    if isinstance(places, Lattice):
        return found, "visits"
    metric = _ground(mechanism)
    many = repeated_attacks(
        mechanism.matrix, prior.probabilities, REPORTS[1:], distance=None if metric is None else metric.array
    )
    what, unit = _what(mechanism), "" if metric is None else metric.unit
    return (*found, *(_repeated(each, what, unit) for each in many)), "" if many else "size"


def visits_in(held: MechanismFile) -> Visits | None:
    """Return where people were, as the file states it; None where it does not."""
    if not held.has_matrix:
        return None
    return next((each.visits for each in held.guarantees if isinstance(each, PlaceDistortion)), None)


def _of_noise(held: MechanismFile, visits: Visits | None) -> tuple[tuple[AttackFacts, ...], str]:
    seen = noise_seen(held.mechanism, visits)
    if visits is None or seen == "unsaid":
        return (), "unsaid"
    found = true_place(held.mechanism, visits, unit="m")
    listed = (
        AttackFacts("blind", 0, "point", None, Quantity.of(found.blind, "m"), 0),
        AttackFacts("informed", 1, "point", None, Quantity.of(found.error, "m"), 0),
        AttackFacts("bare", 1, "point", None, Quantity.exact(0.0, "m"), 0),
    )
    if isinstance(seen, str):
        return listed, seen
    worse = AttackFacts("misinformed", 1, "point", None, Quantity.about(seen.misinformed(), "m"), 0)
    many = (_repeated(seen.repeated(count), "point", "m") for count in REPORTS[1:])
    return (*listed[:2], worse, *listed[2:], *many), ""


def _of_secrets(mechanism: Mechanism, prior: Prior) -> tuple[AttackFacts, ...]:
    """Return attacks on the secrets as they are numbered: vertices, cells or values."""
    what, metric = _what(mechanism), _ground(mechanism)
    aim: Metric = hamming(prior.space) if metric is None else metric
    unit = aim.unit
    found = goals(mechanism, prior, aim)
    most = min(1.0, -distortion_below(mechanism, prior, -np.eye(len(prior))))
    blind = Quantity.exact(float(prior.probabilities.max()))
    informed = (
        Quantity.exact(1.0)
        if always_found(mechanism, prior)
        else Quantity(min(most, found.hit_rate * (1 - _ROUNDING)), min(most, found.hit_rate), most)
    )
    plain = unweighted(mechanism, prior, hamming(prior.space))
    errors: dict[str, Quantity | None] = dict.fromkeys(("blind", "informed", "bare", "misinformed"))
    if metric is not None:
        least = distortion_below(mechanism, prior, metric)
        errors = {
            "blind": Quantity.about(found.near_blind.error, unit),
            "informed": Quantity(least, max(least, found.near.error), found.near.error * (1 + _ROUNDING), unit),
            "bare": Quantity.exact(0.0, unit),
            "misinformed": Quantity.about(unweighted(mechanism, prior, metric).error, unit),
        }
    listed = (
        AttackFacts("blind", 0, what, blind, errors["blind"], 0),
        AttackFacts("informed", 1, what, informed, errors["informed"], 0),
        AttackFacts("misinformed", 1, what, Quantity.about(plain.hit_rate or 0.0), errors["misinformed"], 0),
    )
    # The exact place is never a vertex, so without the mechanism there is nothing to say of vertices.
    bare = () if what == "vertex" else (AttackFacts("bare", 1, what, Quantity.exact(1.0), errors["bare"], 0),)
    return (*listed, *bare)


def _of_points(
    mechanism: Mechanism, places: Places, visits: Visits, known: Known
) -> tuple[tuple[AttackFacts, ...], str]:
    """Return attacks on the true points of visits."""
    found = true_place(mechanism, visits, unit="m")
    points = places.true_points(visits)
    listed = (
        AttackFacts("blind", 0, "point", None, Quantity.of(found.blind, "m", known), 0),
        AttackFacts("informed", 1, "point", None, Quantity.of(found.error, "m", known), 0),
        AttackFacts(
            "misinformed", 1, "point", None, Quantity.about(_uninformed(mechanism, places, points), "m"), 0
        ),
        AttackFacts("bare", 1, "point", None, Quantity.exact(0.0, "m"), 0),
    )
    weights = np.asarray(points.masses.sum(axis=1)).ravel()
    channel = np.asarray(points.masses @ mechanism.matrix) / weights[:, None]
    many = repeated_attacks(channel, weights / weights.sum(), REPORTS[1:], points=points.xy)
    return (*listed, *(_repeated(each, "point", "m") for each in many)), "" if many else "size"


def _uninformed(mechanism: Mechanism, places: Places, points: TruePoints) -> float:
    """Return how far an attacker errs who believes all secrets equally likely, metres, from the true points."""
    centres = centres_m(places)
    guesses = centres[(DISTANCES["euclidean"](centres, centres) @ mechanism.matrix).argmin(axis=0)]
    return float((points.distances(guesses) * mechanism.matrix).sum())


def _repeated(found: RepeatedAttack, what: str, unit: str) -> AttackFacts:
    hit = None
    if found.hit is not None and what != "point":
        hit = Quantity.of(found.hit, "", Known.ESTIMATED, CONFIDENCE)
    error = None
    if found.error is not None:
        error = Quantity.of(found.error, unit, Known.ESTIMATED, CONFIDENCE)
    return AttackFacts("repeated", found.reports, what, hit, error, found.draws)


def _what(mechanism: Mechanism) -> str:
    return _WHAT.get(kind_of(mechanism.secrets), "value")


def _ground(mechanism: Mechanism) -> Metric | None:
    """Return the distance in which attackers err; None where secrets have none."""
    space = mechanism.secrets
    if isinstance(space, Lattice):
        return None  # distances of vertices are not those of the points that are rounded to them
    if isinstance(space, Places):
        return space.metric("euclidean", unit="km")
    return space.metric("absolute") if of_numbers(space) else None
