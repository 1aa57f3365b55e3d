"""Mechanisms as Measurements of OpenDP, with a privacy map that is proved on the integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from numbers import Integral, Real
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import Capability, Mechanism, Metric, MetricPrivacy, Randomizer, Space, check_known, hamming
from ..core.naming import name_phrase
from ..errors import InputError, MissingExtraError, python
from ..escaping import plain
from ..proofs import prove_metric_privacy
from ..rounding import float_above, up
from ..sampling import sampler
from .encoding import fingerprint

if TYPE_CHECKING:
    from opendp.mod import Domain, Measurement

_FEATURES = ("contrib", "honest-but-curious")


def as_opendp(mechanism: Randomizer, metric: Metric | None = None) -> Measurement:
    """Return a mechanism as a Measurement of OpenDP, for its combinators and pipelines.

    The input is one secret, a label of the mechanism's space; the output is one report, drawn as `sfumato.sampler`
    draws it: from the integers, with the operating system's randomness. The output measure is OpenDP's
    MaxDivergence, whose distance is epsilon.

    The privacy map is proved here, over all ordered pairs of secrets and all observables. The guarantee that the
    mechanism or its file states is only the claim that is tried: if it is proved, the map is at most the claim.

    - Without a metric, the input metric is OpenDP's DiscreteDistance. The map is 0 at 0, and otherwise the proved
      epsilon between any two secrets: local differential privacy.
    - With a metric, the input metric is a user distance, in the metric's unit. The map is epsilon x d_in, with the
      proved epsilon per unit, rounded up. Any number of at least 0 is a d_in.

    The map is infinite where a report is possible from one secret and not from another. OpenDP compares domains
    and metrics by their names. These contain the SHA-256 of their stored form in a mechanism file, so only
    measurements on equal secrets and distances compose. Raises `InputError` if OpenDP's features contrib and
    honest-but-curious are off, the metric is for other secrets or breaks the triangle inequality, the secrets are
    of a type that a mechanism file cannot hold, or noise for coordinates was given, whose secrets are no finite
    set. Raises `MissingExtraError` if opendp is not installed.

    Source:
        Gaboardi, Hay and Vadhan, "A programming framework for OpenDP" (2020): measurements and privacy maps.

    Example:
        >>> import opendp.prelude as dp
        >>> import sfumato as sf
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> measurement = sf.files.as_opendp(sf.mechanisms.randomised_response(sf.Space("abc"), 1.0))
        >>> measurement("a") in "abc", measurement.map(1), measurement.check(1, 0.9)
        (True, 1.0, False)
    """
    dp = _opendp()
    check_known(mechanism)
    if mechanism.supports(Capability.TUPLES) or not mechanism.supports(Capability.MATRIX):
        raise InputError(
            f"{mechanism!r} has no finite set of secrets, over which a privacy map could be proved here.",
            python("pass a Mechanism, or draw with sf.sampler(noise).blur(lat, lon)."),
        )
    matrix: Mechanism = mechanism.channel()
    privacy_map: Callable[[Any], float]
    if metric is None:
        epsilon, _ = _bounds(matrix, hamming(matrix.secrets))
        distance, privacy_map = dp.discrete_distance(), lambda d_in: epsilon if d_in else 0.0  # d_in is 0 or 1
    else:
        unit = f", unit={plain(metric.unit)}" if metric.unit else ""
        name = f"SfumatoDistance({name_phrase(metric.name)}{unit}, sha256={fingerprint(metric)})"
        distance, privacy_map = dp.user_distance(name), _per_unit(matrix, metric)
    draw, position, labels = sampler(matrix).draw, matrix.secrets.position, matrix.observables.labels
    measurement: Measurement = dp.m.make_user_measurement(
        input_domain=_domain(dp, matrix.secrets),
        input_metric=distance,
        output_measure=dp.max_divergence(),
        function=lambda secret: labels[int(draw(position(secret)))],
        privacy_map=privacy_map,
    )
    return measurement


def _opendp() -> ModuleType:
    """Return OpenDP, whose user has enabled the features for external functions."""
    try:
        import opendp.prelude as dp
        from opendp.mod import OpenDPException, assert_features
    except ImportError:
        raise MissingExtraError("a Measurement of OpenDP", "opendp") from None
    try:
        assert_features(*_FEATURES)
    except OpenDPException:
        raise InputError(
            "OpenDP accepts privacy maps of other packages only if its user allows it, and this is not done.",
            python(f"call opendp.prelude.enable_features{_FEATURES} first."),
        ) from None
    module: ModuleType = dp
    return module


def _domain(dp: ModuleType, space: Space) -> Domain:
    def member(value: Hashable) -> bool:
        try:
            space.position(value)
        except InputError:
            return False
        return True

    domain: Domain = dp.user_domain(f"SfumatoSecrets(n={len(space)}, sha256={fingerprint(space)})", member)
    return domain


def _per_unit(mechanism: Mechanism, metric: Metric) -> Callable[[object], float]:
    """Return the map for a metric: epsilon x d_in, rounded up."""
    if not metric.triangle:
        raise InputError(
            f"the {name_phrase(metric.name, 'metric')} breaks the triangle inequality, which OpenDP needs.",
            python("pass metric.closure(), its shortest paths."),
        )
    if not metric.symmetric:
        raise InputError(
            f"the {name_phrase(metric.name, 'metric')} depends on the direction, but distances of OpenDP do not.",
            python("pass sf.Metric(np.maximum(d, d.T), unit), which counts the longer direction."),
        )
    epsilon, at_zero = _bounds(mechanism, metric)
    unit = metric.unit

    def privacy_map(d_in: object) -> float:
        distance = _distance(d_in, unit)
        if not distance:
            return at_zero
        if math.isinf(max(epsilon, distance)):
            return math.inf
        return float_above(Fraction(epsilon) * Fraction(distance))

    return privacy_map


def _bounds(mechanism: Mechanism, metric: Metric) -> tuple[float, float]:
    """Return proved bounds on epsilon per unit of a metric, and between secrets at distance zero."""
    epsilons = [
        guarantee.epsilon
        for guarantee in mechanism.guarantees
        if isinstance(guarantee, MetricPrivacy)
        and guarantee.metric.unit == metric.unit
        and np.array_equal(guarantee.metric.array, metric.array)
    ]
    claim = MetricPrivacy(min(epsilons, default=1.0), metric)
    claim.check_distances()
    proof = prove_metric_privacy(mechanism, claim)
    differ = math.isinf(proof.upper) and metric.array[proof.worst_pair] == 0
    return proof.upper, math.inf if differ else 0.0


def _distance(d_in: object, unit: str) -> float:
    """Return the least float that is at least a d_in."""
    if isinstance(d_in, bool | np.bool_) or not isinstance(d_in, Real):
        raise InputError(
            f"d_in is of type {type(d_in).__name__}, but a number is needed.",
            f"pass the largest distance of two secrets{f' in {plain(unit)}' if unit else ''}, such as 1.0.",
        )
    # An integer of NumPy would be rounded before it is compared; and Real knows no comparisons.
    number: Any = int(d_in) if isinstance(d_in, Integral) else d_in
    try:
        nearest = float(number)
    except OverflowError:
        nearest = math.inf if number > 0 else -math.inf
    if not nearest >= 0:
        raise InputError(f"a d_in of {nearest:g} is no distance.", "pass a number of at least 0.")
    return up(nearest) if nearest < number else nearest
