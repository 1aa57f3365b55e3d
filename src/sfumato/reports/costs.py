"""The cost in words: how far reports are from where people truly are, or from the secret."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..core import Loss, Mechanism, Metric, Prior
from ..core.naming import name_phrase, quote
from ..geo import Cells, Lattice, Places, Visits
from ..geo.places import TRUE_POINT
from ..geo.true_points import DISTANCES
from ..optimal import Design
from ..proofs import expected_loss_above, worst_loss_above
from ..rounding import amount, amount_at_most, counted, percent_at_most

_SAME: Final = 1e-9  # relative, between a prior and that of the visits


def cost_sentences(
    design: Design, ground: Metric | None, visits: Visits | None, held_out: Visits | None, of: str = "visits"
) -> list[str]:
    """Return what the reports of a design cost.

    Args:
        design: The design.
        ground: The metric on the secrets in which the cost is stated, where it is not the loss.
        visits: The visits of the prior, where the secrets are places.
        held_out: Visits that the design has not seen.
        of: The word for the visits of the prior.
    """
    mechanism, problem, certificate = design.mechanism, design.problem, design.certificate
    space, prior, loss = mechanism.secrets, problem.prior, design.loss
    place, of_points = isinstance(space, Places), loss.name.endswith(TRUE_POINT)
    sentences = []
    if of_points:
        sentences += _of_visits(mechanism, prior, loss, certificate.loss, visits, of)
    elif visits is not None and isinstance(space, Places) and mechanism.observables.coordinates is not None:
        true, seen = space.loss(visits, observables=mechanism.observables), Prior.from_visits(space, visits)
        sentences.append(_true_sentence(true, expected_loss_above(mechanism, seen, true), of))
    elif ground is not None and mechanism.observables == space:
        expected = amount_at_most(expected_loss_above(mechanism, prior, ground), ground.unit)
        worst = amount_at_most(worst_loss_above(mechanism, ground), ground.unit)
        way = ", the shorter way around the circle" if space.circle and ground.name == "absolute" else ""
        sentences.append(
            f"From the centre of your cell to that of the reported one it is at most {expected} on average (at "
            f"most {worst} for the worst cell). Where in the cell you are is not counted."
            if place
            else f"On average the report is off by at most {expected} (at most {worst} for the worst value){way}."
        )
    if loss.name == "hamming":
        what = "another place than the true one" if place else "another value than the true one"
        if isinstance(space, Lattice):
            what = "another vertex than the one that you are rounded to"
        sentences.append(f"At most {percent_at_most(certificate.loss)} of the reports name {what}.")
    elif not of_points and (ground is None or visits is not None or loss.name != ground.name):
        sentences.append(loss_sentence(mechanism, loss, certificate.loss, certificate.worst_case_loss))
    return [*sentences, *_held_out(mechanism, loss, held_out)]


def loss_sentence(mechanism: Mechanism, loss: Loss, expected: float, worst: float, *, checked: bool = True) -> str:
    """Return bounds of a loss; an average over points says nothing about the worst case.

    Args:
        mechanism: The mechanism.
        loss: The loss.
        expected: A bound of its mean.
        worst: A bound of its mean at the worst secret.
        checked: Whether the loss is that of the coordinates and labels; else it is a table of the file's writer.
    """
    if not checked:
        return (
            f"By a table of losses that the file states under the name {quote(loss.name)}, and nothing confirms, "
            f"a report loses at most {amount_at_most(expected, loss.unit)} on average."
        )
    if isinstance(mechanism.secrets, Lattice) or loss.name.endswith(TRUE_POINT):
        return f"The loss ({name_phrase(loss.name)}) is at most {amount_at_most(expected, loss.unit)} on average."
    centres = " between centres of cells" if isinstance(mechanism.secrets, Cells) and loss.unit else ""
    if mechanism.secrets.circle and loss.name == "absolute":
        centres = f" {mechanism.secrets.circle}"
    name = name_phrase(loss.name, "loss")
    return (
        f"The {name}{centres} is at most {amount_at_most(expected, loss.unit)} on average "
        f"and at most {amount_at_most(worst, loss.unit)} at worst."
    )


def _of_visits(
    mechanism: Mechanism, prior: Prior, loss: Loss, expected: float, visits: Visits | None, of: str
) -> list[str]:
    """Return the loss on visits, and that under the prior where it is another one, as with smoothing."""
    space, points = prior.space, loss.points
    if visits is not None and isinstance(space, Places):
        seen = Prior.from_visits(space, visits)
    elif points is not None:
        seen = Prior(space, points.masses / points.masses.sum())
    else:
        return [_true_sentence(loss, expected, of)]
    if np.allclose(seen.probabilities, prior.probabilities, rtol=_SAME, atol=0):
        return [_true_sentence(loss, expected, of)]
    nobody = "vertex" if isinstance(space, Lattice) else "place"
    return [
        _true_sentence(loss, expected_loss_above(mechanism, seen, loss), of),
        f"The prior is not that of the {of}, as with smoothing. Under it the loss is at most "
        f"{amount_at_most(expected, loss.unit)} on average, where a {nobody} without {of} counts as if people "
        "were at it.",
    ]


def _true_sentence(loss: Loss, expected: float, of: str) -> str:
    kind = loss.name.removesuffix(TRUE_POINT)
    distance = "" if kind == "euclidean" else f" ({name_phrase(kind, 'distance')})"
    amount_of = amount_at_most(expected, loss.unit)
    return f"On average over the {of}, you appear at most {amount_of} from where you truly are{distance}."


def _held_out(mechanism: Mechanism, loss: Loss, visits: Visits | None) -> list[str]:
    places, reports = mechanism.secrets, mechanism.observables
    if visits is None or not isinstance(places, Places) or reports.coordinates is None:
        return []
    inside = int(places.inside(visits.lat, visits.lon).sum())
    if not inside:
        given = counted(len(visits), "visit")
        return [f"None of the {given} held out is in the region, so nothing is said of them."]
    kind = loss.name.removesuffix(TRUE_POINT)
    true = places.loss(visits, kind if kind in DISTANCES else "euclidean", loss.unit or "km", observables=reports)
    expected = mechanism.expected_loss(Prior.from_visits(places, visits), true)
    return [
        f"On {counted(inside, 'visit')} held out, which the design has not seen, you appear about "
        f"{amount(expected, true.unit)} from where you truly are on average. That is an estimate, not a bound."
    ]
