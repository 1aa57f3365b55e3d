"""The averaging attack: the mean of many noisy places, which needs no model at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core import Prior
from ...core.arrays import readonly
from ...errors import InputError
from ._mean import mean_interval
from .curve import ErrorCurve, check_times, simulated_counts
from .scheme import Scheme


def averaging_errors(
    scheme: Scheme,
    prior: Prior,
    reports: Sequence[int],
    *,
    trials: int = 2_000,
    seed: int,
    confidence: float = 0.95,
) -> ErrorCurve:
    """Return how far the mean of t reported places lies from the secret, on average.

    Against fresh noise whose mean is the secret it falls as 1 / sqrt(t), until what remains
    is the mechanism's own bias, as at the edge of a region. Against a memo it does not fall.

    Args:
        scheme: How the reports repeat; secrets and observables need coordinates.
        prior: How probable each secret is.
        reports: The numbers of reports, each at least 1.
        trials: How many times to simulate.
        seed: Of the simulation.
        confidence: Of each interval, which holds for any number of trials.

    Returns:
        The curve, simulated throughout, in the unit of the coordinates.

    Raises:
        InputError: If there are no planar coordinates, or sizes do not fit.
    """
    secrets, observables = scheme.permanent.secrets, scheme.instantaneous.observables
    places, reported = secrets.coordinates, observables.coordinates
    if places is None or reported is None or (secrets.unit, secrets.crs) != (observables.unit, observables.crs):
        raise InputError(
            "secrets and observables have no coordinates in common.", "average places of one coordinate system."
        )
    if secrets.unit == "degree":
        raise InputError("degrees cannot be averaged as distances.", "use planar coordinates, as a Grid has them.")
    if len(prior) != len(secrets):
        raise InputError(
            f"the prior has {len(prior)} values, but the scheme {len(secrets)} secrets.", "use a prior on them."
        )
    times = check_times(reports, trials, confidence)
    top = float(max(np.linalg.norm(reported - place, axis=1).max() for place in places[prior.support]))
    rows = []
    for t in times:
        rng = np.random.default_rng([seed, t])
        weights = prior.probabilities[prior.support]
        true = prior.support[rng.choice(len(weights), size=trials, p=weights / weights.sum())]
        means = simulated_counts(scheme, true, t, rng) @ reported / t
        rows.append(mean_interval(np.linalg.norm(means - places[true], axis=1), 0.0, top, 1 - confidence))
    error, lower, upper = (readonly(np.array(column)) for column in zip(*rows, strict=True))
    exact = (False,) * len(times)
    return ErrorCurve(scheme, "averaging", times, error, lower, upper, exact, confidence, secrets.unit)
