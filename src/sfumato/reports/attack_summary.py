"""Sentences on what the best attacker achieves: hits, errors and chances to be near."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..attacks import PlaceAttack, chance_within, goals, true_place
from ..core import Bracket, Mechanism, Metric, Prior, Space, hamming, units
from ..geo import Cells, Lattice, Places, Visits
from ..leakage import mutual_information_bits
from ..proofs import distortion_below
from ..rounding import (
    UNIT,
    about,
    about_percent,
    amount,
    amount_at_least,
    amount_at_most,
    at_most,
    percent_at_least,
    percent_at_most,
    up,
)
from .promises import nouns

RADIUS: Final = "1850 ft"
"""The radius of several laws on precise locations."""

_TOLERANCE: Final = 0.02  # relative, of the share: two digits are shown
_MOST: Final = 1_000_000  # distinct visits times reports: about five seconds


def silent(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism that says nothing of the same secrets."""
    return Mechanism(np.ones((len(mechanism.secrets), 1)), mechanism.secrets, Space(["nothing"]))


def radius_sentence(mechanism: Mechanism, visits: Visits) -> str:
    """Return how often the best guess of an attacker who knows the visits is within `RADIUS`."""
    radius = f"{RADIUS} ({amount_at_least(units.length_m(RADIUS, 'the radius'), 'm', 5)})"
    places = mechanism.secrets
    distinct = len(places.true_points(visits).xy) if isinstance(places, Places) else len(visits)
    if distinct * mechanism.shape[1] > _MOST:
        return (
            f"How often their guess is within {radius} was not computed for so many visits: sfumato attack "
            f"--within '{RADIUS}' does."
        )
    near = chance_within(mechanism, visits, RADIUS, tolerance=_TOLERANCE)
    blind = chance_within(silent(mechanism), visits, RADIUS, tolerance=_TOLERANCE)
    often = how_often(near.upper)
    return (
        f"The best attacker's guess is within {radius} of where you truly are {often}: "
        f"{about_percent(blind.value)} without seeing a report, 100 % without the mechanism."
    )


def how_often(most: float) -> str:
    """Return an upper bound of a share in words."""
    limit = percent_at_most(most)
    return "perhaps every time (no useful limit is proved)" if limit == "100 %" else f"at most {limit} of the time"


def chance_sentence(near: Bracket, radius: float | str) -> str:
    """Return how often the best attacker's guess is near the true point.

    Args:
        near: What `sfumato.attacks.chance_within` returned.
        radius: The radius it was for.
    """
    shown = units.show(units.length_m(radius, "the radius"), "m")
    known = f"guesses are known that are at least {percent_at_least(near.lower)} of the time."
    most = percent_at_most(near.upper)
    if most == "100 %":
        return f"No useful limit is known of how often the best attacker is within {shown} of you; {known}"
    return (
        f"Wherever they guess, the best attacker is within {shown} of where you truly are at most {most} of the "
        f"time; {known}"
    )


def always_found(mechanism: Mechanism, prior: Prior) -> bool:
    """Return whether each report is made from one secret alone, of those that the prior counts as possible.

    Then the best attacker finds the secret every time. It is read off the integers that are sampled.
    """
    return bool(((mechanism.weights[prior.support] != 0).sum(axis=0) <= 1).all())


def attack_sentences(
    mechanism: Mechanism, prior: Prior, ground: Metric | None, visits: Visits | None = None, of: str = "visits"
) -> list[str]:
    """Return what the best attacker achieves, who knows the prior and the mechanism: first in distances."""
    noun, several = nouns(mechanism.secrets)
    exact = hamming(prior.space)
    even = bool((prior.probabilities == prior.probabilities[0]).all())
    knowing = (
        f"If all {several} are equally likely, the best attacker"
        if even and len(prior) > 1
        else f"The best attacker, who knows how likely each {noun} is,"
    )
    before = goals(mechanism, prior, exact if ground is None else ground)
    hits = min(1.0, -distortion_below(mechanism, prior, -np.eye(len(prior))))
    space = mechanism.secrets
    often = "every time" if always_found(mechanism, prior) else how_often(hits)
    blind = f"{about_percent(before.blind_hit_rate)} without seeing a report"
    share = f"{knowing} finds yours {often}: {blind}, 100 % without the mechanism."
    if isinstance(space, Lattice):
        apart = amount(space.spacing_m, "m")
        share = (
            f"{knowing} finds the one that you are rounded to {often}: {blind}. Vertices are {apart} apart, and a "
            "guess of the next one counts as wrong."
        )
    if visits is not None and isinstance(space, Places):
        sentences = [radius_sentence(mechanism, visits), place_sentence(true_place(mechanism, visits), of), share]
    elif ground is not None:
        error = distortion_below(mechanism, prior, ground)
        between = ", counted between centres of cells" if isinstance(space, Cells) else ""
        sentences = [
            share,
            f"Their best guess errs by at least {amount_at_least(error, ground.unit)} on average{between}: about "
            f"{amount(before.near_blind.error, ground.unit)} without seeing a report, 0 without the mechanism.",
        ]
    else:
        sentences = [share]
    bits = _bits_above(mechanism, prior)
    told, whole = at_most(bits), about(prior.entropy_bits)
    sentences.append(
        f"One report tells at most {told} bits of the {noun}, of about {whole} in all."
        if bits <= prior.entropy_bits
        else f"One report may tell all that there is to know of the {noun}, about {whole} bits."
    )
    return sentences


def place_sentence(found: PlaceAttack, of: str = "visits") -> str:
    """Return how far the best attacker errs from where people truly are."""
    unit = found.unit
    low, high = amount_at_least(found.error.lower, unit), amount_at_most(found.error.upper, unit)
    return (
        f"Wherever they guess, the best attacker errs from where you truly are by at least {low} and at most "
        f"{high} on average over these {of}, if that is all they know: about "
        f"{amount(found.blind.value, unit)} without seeing a report, 0 without the mechanism."
    )


def _bits_above(mechanism: Mechanism, prior: Prior) -> float:
    """Return an upper bound of what a report reveals on average, in bits; 0 where it cannot reveal anything."""
    n, m = mechanism.shape
    rows = mechanism.weights[prior.support]
    if (rows == rows[0]).all():
        return 0.0
    bits = mutual_information_bits(mechanism, prior) + (n + m + 16) * 8 * UNIT * (1 + math.log2(n * m))
    whole = min(len(rows), m)  # as many values, or reports, are told apart at most
    return min(bits, math.log2(whole) if whole.bit_count() == 1 else up(math.log2(whole)))
