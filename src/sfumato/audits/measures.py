"""Measures of leakage and of the attacker's error under a prior."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..attacks import blind, optimal
from ..core import SUM_TOLERANCE, Bracket, CoordinatePrivacy, Mechanism, Metric, Prior, Side, Space
from ..core.arrays import Floats, floats
from ..core.naming import BORDER
from ..errors import InputError, argument
from ..geo import Cells, Lattice, Places
from ..leakage import (
    bayes_vulnerability,
    min_entropy_capacity_bits,
    min_entropy_leakage_bits,
    mutual_information_bits,
    prior_vulnerability,
    shannon_capacity,
)
from ..privacy import VOCABULARY, Events
from ..proofs import (
    VertexPrivacy,
    class_vulnerability_above,
    epsilon_between_points,
    prove_coordinate_privacy,
    steepest,
)
from ..rounding import about, about_percent, amount, amount_at_least, at_most, percent_at_most
from .findings import Entry
from .request import Request

COORDINATE_PRIVACY: Final = "coordinate-privacy"
KIND_VULNERABILITY: Final = "kind-vulnerability"

NEEDS: Final = {
    "bayes-vulnerability": ("prior",),
    "min-entropy-leakage": ("prior",),
    "mutual-information": ("prior",),
    "distortion": ("prior", "metric"),
    KIND_VULNERABILITY: ("prior", "kinds"),
    "min-entropy-capacity": (),
    "shannon-capacity": (),
    COORDINATE_PRIVACY: (),
}
"""The keys of the measures, and the inputs that each needs."""

_PARAMETERS: Final = {"probability": "bayes-vulnerability", "error": "distortion", "bits": "shannon-capacity"}
_SOURCES: Final = {  # title and source
    "bayes-vulnerability": ("Bayes vulnerability", "Smith, FoSSaCS 2009"),
    "min-entropy-leakage": ("Min-entropy leakage", "Smith, FoSSaCS 2009"),
    "mutual-information": ("Mutual information", "Shannon, 1948"),
    "distortion": (VOCABULARY["distortion"].heading, VOCABULARY["distortion"].source),
    KIND_VULNERABILITY: ("Kind vulnerability", "Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section II"),
    "min-entropy-capacity": ("Min-entropy capacity", "Braun, Chatzikokolakis and Palamidessi, 2009"),
}
_INPUTS: Final = {"kinds": "map of kinds"}
_HIT: Final = "{} report multiplies the probability of a hit by at most {}."

_CELLS: Final = (
    f"The secrets are cells. What is said of any two secrets holds for any two people in them. {BORDER} An "
    "attacker's error counts from the centre of your cell, not from where you are."
)
_VERTICES: Final = (
    "The secrets are the vertices that points are rounded to at random. What is said of any two secrets holds for "
    "any two points that the lattice serves, except for probabilistic differential privacy, and a report reveals "
    "no more bits of the point than of the vertex. Values per distance, values under a prior and the attacker's "
    "success are about vertices: of points, coordinate privacy alone counts per distance."
)


def shares_of(kinds: Mapping[str, ArrayLike] | None, events: Events | None, size: int) -> Floats | None:
    """Return the probability of each kind in each secret, array (kinds, secrets); None without any.

    An attribute of the events is one of the kinds. Raises `InputError` if kinds do not sum to 1 in each secret.
    """
    if kinds is None:
        return events.masks.astype(np.float64) if events is not None and events.attribute else None
    if not kinds:
        raise InputError("kinds is empty.", "give the probabilities of at least one kind.")
    shares = np.array([floats(values, f"the kind {name!r}", shape=(size,)) for name, values in kinds.items()])
    if (shares < 0).any() or (np.abs(shares.sum(axis=0) - 1.0) > SUM_TOLERANCE).any():
        raise InputError(
            "the kinds of a secret are not a distribution.",
            "give every secret probabilities with sum 1 over the kinds.",
        )
    return shares


def check_measure(name: str, prior: Prior | None, metric: Metric | None, kinds: Floats | None) -> None:
    """Refuse a name that is not that of a measure or its parameter, or a measure whose inputs are missing."""
    key = _PARAMETERS.get(name, name)
    if key not in NEEDS:
        raise Request(name).name_error(NEEDS)
    inputs: dict[str, object] = {"prior": prior, "metric": metric, "kinds": kinds}
    missing = [need for need in NEEDS[key] if inputs[need] is None]
    if missing:
        raise InputError(
            f"{name} cannot be measured without a {' and a '.join(_INPUTS.get(need, need) for need in missing)}.",
            f"give {' and '.join(map(argument, missing))}.",
        )


def measures(
    mechanism: Mechanism,
    prior: Prior | None,
    metric: Metric | None,
    kinds: Floats | None = None,
    *,
    unlisted: bool = False,
) -> Iterator[Entry]:
    """Yield the measures of leakage, the error of the best attack, and on a lattice the epsilon between points.

    Without a prior only capacities are measured. Errors count in the metric. ``kinds`` are the probabilities of
    each kind in each secret, array (kinds, secrets); ``unlisted``: one of them is that of no listed place.
    """
    (n, m), words = mechanism.shape, secret_words(mechanism.secrets)
    sums = (n + m + 8) * 2.0**-52  # relative error of sums of products that are not negative
    logs = (n + m + 16) * 2.0**-51 * (1 + math.log2(n * m))
    if prior is not None:
        hit, before = bayes_vulnerability(mechanism, prior), about_percent(prior_vulnerability(prior))
        limit = percent_at_most(min(1.0, hit * (1 + sums)))
        share = "perhaps every time" if limit == "100 %" else f"at most {limit} of the time"
        sentence = f"The best attacker finds {words.target} {share} ({before} without the report)."
        yield _entry("bayes-vulnerability", "probability", hit, sums * hit, sentence, most=1.0)
        leaked = min_entropy_leakage_bits(mechanism, prior)
        yield _entry("min-entropy-leakage", "bits", leaked, logs, _HIT.format("A", at_most(2 ** (leaked + logs))))
        bits = mutual_information_bits(mechanism, prior)
        most_bits, whole = at_most(bits + logs), about(prior.entropy_bits)
        if bits + logs <= prior.entropy_bits:
            sentence = f"A report reveals at most {most_bits} of the {whole} bits of the secret on average."
        else:
            sentence = f"A report may reveal all of the secret, about {whole} bits."
        yield _entry("mutual-information", "bits", bits, logs, sentence)
        if metric is not None and np.isfinite(metric.array).all():
            error, baseline = optimal(mechanism, prior, metric).error, blind(prior, metric).error
            way = "" if metric.symmetric else ", from the guess to the secret"
            sentence = (
                f"The best attacker's average error is at least {amount_at_least(error * (1 - sums), metric.unit)}"
                f"{way}{words.error} (about {amount(baseline, metric.unit)} with no report)."
            )
            yield _entry(
                "distortion", "error", error, sums * error, sentence, unit=metric.unit, side=Side.AT_LEAST
            )
    if prior is not None and kinds is not None:
        yield _of_kinds(mechanism, kinds * prior.probabilities, unlisted=unlisted)
    if isinstance(mechanism.secrets, Lattice):
        yield _between_points(mechanism, mechanism.secrets)
    most = min_entropy_capacity_bits(mechanism)
    sentence = _HIT.format("For every prior, a", at_most(2 ** (most + logs)))
    yield _entry("min-entropy-capacity", "bits", most, logs, sentence)
    capacity = shannon_capacity(mechanism).bits
    bracket = Bracket(max(0.0, capacity.lower - logs), capacity.value, capacity.upper + logs)
    sentence = f"For every prior, a report reveals at most {at_most(bracket.upper)} bits on average."
    source = "Blahut, 1972; Arimoto, 1972"
    yield Entry("shannon-capacity", "Shannon capacity", "bits", bracket, sentence=sentence, source=source)


def _of_kinds(mechanism: Mechanism, joint: Floats, *, unlisted: bool) -> Entry:
    """Return the success of the best attacker who guesses the kind; ``joint`` is P(kind, secret)."""
    upper = min(1.0, class_vulnerability_above(mechanism, joint))
    value = min(upper, float((joint @ mechanism.matrix).max(axis=0).sum()))
    before = about_percent(float(joint.sum(axis=1).max()))
    noun = "kind of the place" if isinstance(mechanism.secrets, Places) else "value of the attribute"
    limit = percent_at_most(upper)
    share = "perhaps every time" if limit == "100 %" else f"at most {limit} of the time"
    choice = f"one of {len(joint) - unlisted:,}{' or no listed place' if unlisted else ''}"
    sentence = f"The best attacker guesses the {noun}, {choice}, {share} ({before} without the report)."
    rounding = upper - value + (sum(joint.shape) + mechanism.shape[1] + 8) * 2.0**-52
    return _entry(KIND_VULNERABILITY, "success", value, rounding, sentence, most=1.0)


def _between_points(mechanism: Mechanism, lattice: Lattice) -> Entry:
    slope = steepest(mechanism)
    least = epsilon_between_points(mechanism, slope)
    upper = least.upper
    for guarantee in mechanism.guarantees:  # rounding may put the slope just above what is proved of the guarantee
        if isinstance(guarantee, VertexPrivacy) and guarantee.promise.unit == slope.unit and guarantee.epsilon > 0:
            proof = prove_coordinate_privacy(mechanism, guarantee)
            upper = min(upper, proof.upper) if proof.holds else upper
    least = Bracket(min(least.lower, upper), min(least.value, upper), upper)
    lat, lon = slope.point
    report = mechanism.observables.labels[slope.observable]
    sentence = "No epsilon is proved for points that the lattice serves."
    if least.upper == 0:
        sentence = "Each report is equally likely from all points that the lattice serves."
    elif math.isfinite(least.upper):
        sentence = CoordinatePrivacy(least.upper, slope.unit).lattice_sentence(lattice.slack_m)
    return Entry(
        COORDINATE_PRIVACY,
        "Coordinate privacy",
        "epsilon",
        least,
        unit=slope.unit,
        per=True,
        witness=f"points near {lat:.5f}, {lon:.5f}, report {report}",
        sentence=sentence,
        source="Andres et al., CCS 2013, definition 3.3",
    )


def _entry(
    key: str,
    parameter: str,
    value: float,
    rounding: float,
    sentence: str,
    *,
    unit: str = "",
    side: Side = Side.AT_MOST,
    most: float = math.inf,
) -> Entry:
    title, source = _SOURCES[key]
    bracket = Bracket(min(max(0.0, value - rounding), most), min(value, most), min(value + rounding, most))
    return Entry(key, title, parameter, bracket, side, unit, sentence=sentence, source=source)


class SecretWords(NamedTuple):
    """Words for the secrets of an audit: values, cells or vertices."""

    note: str  # what the values of an audit say of people who are somewhere; empty of secrets that are no places
    target: str  # of an attacker who guesses a secret
    error: str  # between which places an attacker's error is counted, as the end of a clause


def secret_words(secrets: Space) -> SecretWords:
    """Return the words for the secrets of a space."""
    if isinstance(secrets, Lattice):
        vertex = "the vertex that you are rounded to"
        return SecretWords(_VERTICES, vertex, f", counted from {vertex}, if they guess a vertex")
    circle = f", counted {secrets.circle}" if secrets.circle else ""
    if isinstance(secrets, Cells):
        centres = ", counted between centres of cells, if they guess a centre"
        return SecretWords(_CELLS, "your cell", circle or centres)
    return SecretWords("", "the secret", circle)
