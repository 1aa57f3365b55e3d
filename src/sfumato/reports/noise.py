"""Noise for coordinates in words: promise, cost, and what an attacker achieves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import Bracket, Mechanism, Metric, Prior, units
from ..core.naming import quote
from ..errors import InputError, python
from ..files import MechanismFile
from ..geo import Cells, Visits
from ..mechanisms.planar import coarsened
from ..proofs import NoiseCertificate
from ..rounding import amount, amount_at_least, amount_at_most, factor_at_most, up
from .maps import Outline
from .picture import panels, picture
from .summary import Section, Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def summarise_noise(
    held: MechanismFile, certificate: NoiseCertificate | None = None, *, places: str = ""
) -> Summary:
    """Return noise for coordinates in words.

    Args:
        held: The noise, with whose places its table was made of.
        certificate: Its loss and the attacker's error on some places.
        places: These places in a few words: ``"4,237 visits in paris.csv"``; by default the source of the table.
    """
    noise, proof = held.noise, held.noise_proof
    unit = proof.promise.unit
    slack = proof.promise.slack_m * units.factor("m", unit)
    times = factor_at_most(up(up(proof.promise.epsilon * up(1.0 + up(slack)))))
    promise = [proof.sentence, f"That is {times} times for points 1 {unit} apart.", proof.proof]
    sections = [Section("Promise", tuple(promise))]
    if held.whose:
        sections.append(Section("Table", (held.whose,)))
    if certificate is not None:
        of = places or held.source or "the places given"
        sections += [Section("Cost", (_loss(certificate, of),)), Section("Attack", _attack(certificate, of))]
    making = [
        noise.describe()[0],
        "The promise is for one report. k reports of one person add up to k times epsilon; what else is published "
        "beside the report is not covered.",
    ]
    sections.append(Section("How it is drawn", tuple(making)))
    unchecked = _unchecked(held, certified=certificate is not None)
    if unchecked:
        sections.append(Section("Not checked", unchecked))
    return Summary("Noise for coordinates", tuple(sections))


def _unchecked(held: MechanismFile, *, certified: bool) -> tuple[str, ...]:
    """Return what the recipe does not decide, and why."""
    found = []
    if not certified:
        found.append(
            "What a report costs, and how far an attacker errs, depend on where people truly are, which the "
            "recipe does not say: sfumato attack estimates how far they err."
        )
        if held.noise.remap is not None:
            found.append(
                "Whose places the table was made of is as the writer states it. The promise holds with any table."
            )
    if held.claims:
        names = ", ".join(quote(name) for name in sorted(held.claims)[:20])
        found.append(f"Other claims are the writer's own words, from which nothing is proved: {names}.")
    return tuple(found)


def noise_maps(held: MechanismFile, *, outline: Outline | None = None, visits: Visits | None = None) -> Figure:
    """Return three maps of noise for coordinates: prior, reports from one place, posterior after one report.

    They are of the noise seen on the cells of the file's prior.

    Args:
        held: The noise and a prior on cells.
        outline: Land, water and names to draw on.
        visits: Visits of the prior; see `picture`.

    Raises:
        InputError: If there is no prior.
        MissingExtraError: If matplotlib is not installed.
    """
    return picture(*_on_cells(held), outline=outline, visits=visits)


def noise_panels(
    held: MechanismFile, *, outline: Outline | None = None, visits: Visits | None = None
) -> tuple[Figure, ...]:
    """Return the maps of `noise_maps` as three figures, which a page may stack.

    Raises:
        InputError: If there is no prior.
        MissingExtraError: If matplotlib is not installed.
    """
    return panels(*_on_cells(held), outline=outline, visits=visits)


def _on_cells(held: MechanismFile) -> tuple[Mechanism, Prior, Metric]:
    if held.prior is None or not isinstance(held.prior.space, Cells):
        raise InputError(
            "there is no prior on cells to draw.", python("give one: Prior.from_visits(grid, visits).")
        )
    seen = coarsened(held.noise, held.prior.space).mechanism
    return seen, held.prior, held.prior.space.metric("euclidean", unit="km")


def _loss(certificate: NoiseCertificate, places: str) -> str:
    """Return what a report costs the true point."""
    low, high = _ends(certificate.loss)
    return f"On average over {places}, you appear at least {low} and at most {high} from where you truly are."


def _attack(certificate: NoiseCertificate, places: str) -> tuple[str, ...]:
    low, high = _ends(certificate.attacker)
    blind = amount(certificate.blind.value, "m")
    return (
        f"Wherever they guess, the best attacker, who knows {places} and how often people are there, errs from "
        f"where you truly are by at least {low} and at most {high} on average: about {blind} without seeing a "
        "report, 0 without the noise.",
    )


def _ends(found: Bracket) -> tuple[str, str]:
    return amount_at_least(found.lower, "m"), amount_at_most(found.upper, "m")
