"""Mechanisms by one formula, and elastic metrics for them."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import (
    AnyLoss,
    Mechanism,
    Metric,
    MetricPrivacy,
    Prior,
    Space,
    as_distance,
    as_loss,
    blind_error,
    shortest_paths,
    units,
)
from ..core.arrays import Floats, floats
from ..errors import InfeasibleError, InputError
from ..rounding import UNIT, amount, amount_at_least, amount_at_most
from .family import positive
from .strict_privacy import equal_rows, strictly_private

_SUM_TOLERANCE = 1e-9
_ROUNDING: Final = 1e-12  # by how much steps are shortened, so that no rounding breaks the requirement
_EQUAL: Final = 1e-9  # of the diameter: distances so near to each other are one


def geometric(space: Space, epsilon: float | str) -> Mechanism:
    """Return the truncated geometric mechanism on a line of numbers, in any order and spacing.

    ``p(o|s) = w(o) exp(-epsilon |s - o|)``. With gaps g(1), ..., g(n-1) between neighbours and t(k) = tanh(epsilon
    g(k) / 2),

        w(1) = (1 + t(1)) / 2,   w(k) = (t(k-1) + t(k)) / 2,   w(n) = (t(n-1) + 1) / 2.

    On equally spaced numbers it is geometric noise whose reports beyond either end move to that end. Every pair of
    neighbours is as distinguishable as epsilon allows. Followed by the remap of `remap_mechanism` it has the least
    loss for every prior and every loss that grows with the distance. Epsilon is per unit of the coordinates, for
    the metric ``absolute``; a number or text such as ``"0.1/year"``. Raises `InputError` if the space has not
    exactly one coordinate, or epsilon is not positive. Raises `UnitError` if the unit of epsilon does not fit.

    Source:
        Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009,
        section 2. The weights for unequal gaps: docs/proofs/closed-forms.md.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import geometric
        >>> ages = sf.Space.numbers(range(18, 21), unit="year")
        >>> geometric(ages, "1/year").matrix[0].round(3)
        array([0.731, 0.17 , 0.099])
    """
    return strictly_private(_on_a_line, space, MetricPrivacy(epsilon, space.metric("absolute")))


def _on_a_line(exponents: Floats) -> Floats:
    order = np.argsort(exponents[np.argmax(exponents[0])], kind="stable")
    gaps = exponents[order[:-1], order[1:]]
    t = np.concatenate([[1.0], np.tanh(gaps / 2), [1.0]])
    w = np.empty(len(order))
    w[order] = (t[:-1] + t[1:]) / 2
    return np.asarray(np.exp(-exponents) * w)


def tight_constraints(space: Space, metric: Metric, epsilon: float | str) -> Mechanism:
    """Return the mechanism p(o|s) = w(o) exp(-epsilon d(o, s)), where there is one; secrets are observables.

    The weights solve Phi w = 1 with Phi(s, o) = exp(-epsilon d(o, s)). No w(o) may be negative: this holds on
    every line, for the discrete metric, and elsewhere from some epsilon on. Each observable then attains epsilon
    for its own secret against all others. Where the triangle inequality fails, the metric's closure counts.
    Epsilon is per unit of the metric; a number or text such as ``"0.6/km"``. Raises `InfeasibleError` if a weight
    is negative, or two secrets are at distance 0. Raises `InputError` if the equations are too near to singular
    for floats. Raises `UnitError` if the unit of epsilon does not fit.

    Source:
        Shokri's constraints (Privacy Games, equation 10) as equations; the mechanism is known as "tight
        constraints" from Chatzikokolakis's libqif.
    """
    return strictly_private(_tight, space, MetricPrivacy(epsilon, metric))


def _tight(exponents: Floats) -> Floats:
    decay = np.exp(-exponents.T)
    hint = "use sfumato.design for the optimal mechanism, exponential() for a closed form, or a larger epsilon."
    try:
        weights = np.linalg.solve(decay, np.ones(len(decay)))
    except np.linalg.LinAlgError:
        raise InfeasibleError(
            "no mechanism has all constraints tight: two secrets are at distance 0.", hint
        ) from None
    if (weights < 0).any():
        raise InfeasibleError(
            f"no mechanism has all constraints tight: {int((weights < 0).sum())} of {len(weights)} weights would "
            f"be negative, the least {weights.min():.3g}.",
            hint,
        )
    matrix: Floats = decay * weights
    if (np.abs(matrix.sum(axis=1) - 1) > _SUM_TOLERANCE).any():
        raise InputError("the equations of tight constraints are too near to singular for floats.", hint)
    return matrix


def restricted_laplace(
    space: Space, distance: AnyLoss, epsilon: float | str, radius: float | str, observables: Space | None = None
) -> Mechanism:
    """Return the restricted Laplace mechanism: p(o|s) proportional to exp(-epsilon d(s, o)) within a radius.

    A report shows that the secret is within the radius, so secrets with different sets of reports can be
    distinguished with certainty: there is no metric privacy. Tupling over it restores (epsilon, delta) for
    distributions. Between secrets with the same reports the likelihood ratio stays below exp(2 epsilon d). Raises
    `InputError` if sizes differ, or a number is negative. Raises `InfeasibleError` if a secret has no observable
    within the radius. Raises `UnitError` if a unit does not fit. ``distance`` is d(s, o), array (n, m), at least
    0, and the m observables are by default the secrets. Epsilon is per unit of the distance, at least 0, a number
    or text such as ``"2/km"``; so is the radius, such as ``"800 m"``. Distances above it by a part in 1e12 count
    as equal.

    Source:
        Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019,
        (epsilon, r)-restricted Laplace mechanism.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import restricted_laplace
        >>> line = sf.Space.numbers(range(4))
        >>> restricted_laplace(line, line.metric("absolute"), 1.0, 1).matrix.round(3)[0]
        array([0.731, 0.269, 0.   , 0.   ])
    """
    reports = space if observables is None else observables
    lengths = as_loss(distance, len(space), len(reports))
    if (lengths.array < 0).any():
        raise InputError("a distance is negative.", "pass distances of at least 0.")
    rate = units.parse(epsilon, per=True, unit=lengths.unit, subject="epsilon")
    limit = units.parse(radius, unit=lengths.unit, subject="the radius")
    if rate < 0 or limit < 0:
        raise InputError(f"epsilon {epsilon} or the radius {radius} is negative.", "use numbers of at least 0.")
    near = lengths.array <= limit * (1 + 1e-12)
    empty = ~near.any(axis=1)
    if empty.any():
        s = int(np.argmax(empty))
        nearest = units.show(float(lengths.array[s].min()), lengths.unit)
        raise InfeasibleError(
            f"{int(empty.sum())} secrets have no observable within {units.show(limit, lengths.unit)}; the nearest "
            f"to {space.labels[s]!r} is {nearest} away.",
            f"use a radius of at least {amount_at_most(float(lengths.array.min(axis=1).max()), lengths.unit)}.",
        )
    closest = np.where(near, lengths.array, np.inf).min(axis=1, keepdims=True)
    matrix = np.where(near, np.exp(-rate * (lengths.array - closest)), 0.0)
    return Mechanism(matrix / matrix.sum(axis=1, keepdims=True), space, reports)


def coin(space: Space, truth: float, centre: Hashable) -> Mechanism:
    """Return the coin: the truth with probability ``truth``, otherwise always ``centre``.

    p = truth I + (1 - truth) 1 e(centre). It gives no metric privacy: any report but the centre reveals the
    secret. For a distance with zeros on its diagonal, and a centre of least expected distance D, its distortion
    and its expected loss both are (1 - truth) D, the most for any mechanism of this loss.

    The secrets are also the observables. Raises `InputError` if ``truth`` is not a probability or the centre not
    in the space.

    Source:
        Oya, Troncoso and Pérez-González, "Back to the drawing board", CCS 2017.
    """
    if not 0 <= truth <= 1:
        raise InputError(f"the probability of the truth is {truth}.", "use a number from 0 to 1.")
    matrix = truth * np.eye(len(space))
    matrix[:, space.position(centre)] += 1 - truth
    return Mechanism(matrix, space, space)


def coin_of_distortion(prior: Prior, distance: AnyLoss, distortion: float | str) -> Mechanism:
    """Return the coin under which the optimal attack's average error is ``distortion``, such as ``"800 m"``.

    Its centre is the best guess without a report, of expected distance D. It reports the truth with probability 1
    - distortion / D, slightly less to cover rounding. Where the loss is this distance, no mechanism of that
    distortion has a lower loss. The distance d(guess, s) is an array (n, n) with zeros on its diagonal. Raises
    `InputError` if it is not, or the distortion is negative. Raises `InfeasibleError` if the distortion is above
    D. Raises `UnitError` if its unit does not fit.

    Source:
        Oya, Troncoso and Pérez-González, CCS 2017; docs/proofs/closed-forms.md.
    """
    lengths, n = as_distance(distance), len(prior)
    d = lengths.array
    if d.shape != (n, n) or (d < 0).any() or np.diagonal(d).any():
        raise InputError(
            "the coin needs a distance of at least 0 from every secret to every other, and 0 to itself.",
            f"pass an array of {n} x {n} with zeros on its diagonal, or a Metric.",
        )
    error = units.parse(distortion, unit=lengths.unit, subject="the distortion")
    if error < 0:
        raise InputError(f"the distortion {distortion} is negative.", "use a length of at least 0.")
    most = blind_error(prior.probabilities, d)
    if error > most:
        raise InfeasibleError(
            f"a distortion of {amount(error, lengths.unit)} was requested, but the average error of an attacker "
            f"without a report is at most {amount_at_most(most, lengths.unit)}.",
            f"ask for at most {amount_at_least(most, lengths.unit)}.",
        )
    room = 16 * (n + 8) * UNIT * float(d.max())  # what adding up the error can round away
    share = min(1.0, (error + room) / most) if error > 0 else 0.0
    return coin(prior.space, 1 - share, prior.space.labels[int(np.argmin(d @ prior.probabilities))])


def constant(space: Space, distribution: Prior | ArrayLike, observables: Space | None = None) -> Mechanism:
    """Return the mechanism whose report has one distribution for all secrets: p(o|s) = q(o).

    It reveals nothing: every epsilon holds, and the adversary's error is that without the report. ``distribution``
    is q, array (m,), or a `Prior` on the observables, which are by default the secrets, or the prior's space.
    Raises `InputError` if q is not a distribution or has the wrong size.
    """
    prior = distribution if isinstance(distribution, Prior) else None
    if prior is not None:
        (observables or space).check_order(prior.space, "the distribution")
    reports = observables or (prior.space if prior is not None else space)
    q = prior.probabilities if prior is not None else Prior(reports, np.asarray(distribution)).probabilities
    return Mechanism(np.tile(q, (len(space), 1)), space, reports)


def exponential(space: Space, metric: Metric, epsilon: float | str) -> Mechanism:
    """Return the exponential mechanism, p(o|s) proportional to exp(-epsilon d(s, o) / 2); secrets are observables.

    The half pays for the normalisation: the numerators of two secrets differ by at most exp(epsilon d / 2), and so
    do their sums. The true epsilon is usually smaller than the stated one (`sfumato.proofs.prove_metric_privacy`
    finds it). Where the triangle inequality fails, the metric's closure counts. The sums need it in both
    directions: of a metric that is not symmetric, `Metric.symmetrise` counts. Epsilon is per unit of the metric; a
    number or text such as ``"0.6/km"``. Raises `InputError` if the metric is not on the space, or epsilon is not
    positive. Raises `UnitError` if the unit of epsilon does not fit.

    Source:
        McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007, with the utility -d(s, o).
    """

    def build(exponents: Floats) -> Floats:
        matrix = np.exp(-exponents / 2)
        return equal_rows(matrix / matrix.sum(axis=1, keepdims=True), exponents)

    guarantee = MetricPrivacy(epsilon, metric)
    return strictly_private(build, space, MetricPrivacy(guarantee.epsilon, metric.symmetrise())).promising(
        guarantee
    )


def elastic_metric(distance: Metric, mass: ArrayLike, *, quota: float, radius: float = math.log(2)) -> Metric:
    """Return a metric whose ball of size r around every place holds a mass of quota (r / radius)**2.

    Places in the ball of size r are indistinguishable within a factor exp(r). So the metric is large in a crowd,
    where a report may be precise, and small in the country. With the exponential mechanism of epsilon 1 it gives
    p(o|s) proportional to exp(-d(s, o) / 2).

    Two places are at most radius sqrt(M / quota) apart, M being the mass strictly nearer to the one (itself
    included) than the other is, for the smaller of both directions; the metric is the shortest path of such steps.
    The requirement then holds for every r up to the one at which all the mass is required: docs/proofs/places.md.
    Steps between neighbours weigh most: on a square lattice of even mass m it is, away from its border, radius
    sqrt(m / quota) times the number of steps along the axes. The metric has no unit. The distance is that on
    the ground, on n places, and the mass of each, array (n,), positive: for example its share of the people and of
    the area. Raises `InputError` if sizes differ, or a mass, the requirement or the radius is not positive.

    Source:
        Chatzikokolakis, Palamidessi and Stronati, "Constructing elastic distinguishability metrics for location
        privacy", PETS 2015, which adds edges of a graph until the requirement holds; here all edges have a closed
        form.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import elastic_metric
        >>> street = sf.Space.numbers(range(4)).metric("absolute")
        >>> elastic_metric(street, [9, 9, 1, 1], quota=4, radius=1).array[[0, 2], [1, 3]]
        array([1.5, 0.5])
    """
    ground = distance.array
    masses = floats(mass, "the mass", shape=(len(ground),))
    if not (masses > 0).all():
        i = int(np.argmin(masses))
        raise InputError(
            f"the mass of place {i} is {masses[i]:g}, so it would be merged with its neighbours.",
            "give every place some, such as its share of the area in addition to its share of the people.",
        )
    positive(quota, "the required mass")
    positive(radius, "the radius")
    nearer = _nearer(ground, masses, _EQUAL * distance.diameter)
    steps = (1 - _ROUNDING) * radius * np.sqrt(nearer / quota)
    np.fill_diagonal(steps, 0.0)
    return Metric(shortest_paths(np.minimum(steps, steps.T)), name="elastic metric", triangle=True)


def elastic_surplus(metric: Metric, mass: ArrayLike, *, quota: float, radius: float = math.log(2)) -> Floats:
    """Return the least ratio of each place's mass to the required one, array (n,), for any metric on n places.

    The ratio is of the mass within r to quota (r / radius)**2, over all r up to where all the mass is required.
    The requirement holds where it is at least 1 (but for its own rounding). See `elastic_metric` for the
    arguments. Raises `InputError` if sizes differ or a number is not positive.
    """
    masses = floats(mass, "the mass", shape=(len(metric),))
    positive(quota, "the required mass")
    positive(radius, "the radius")
    last = radius * math.sqrt(float(masses.sum()) / quota)
    surplus = np.empty(len(masses))
    for s, row in enumerate(metric.array):
        order = np.argsort(row, kind="stable")
        # Just before the ball reaches the next place, the requirement has grown, the mass has not.
        within, until = np.cumsum(masses[order]), np.minimum(np.append(row[order[1:]], np.inf), last)
        positive_size = until > 0
        surplus[s] = (within[positive_size] / (quota * (until[positive_size] / radius) ** 2)).min()
    return surplus


def _nearer(ground: Floats, masses: Floats, equal: float) -> Floats:
    """Return the mass that is strictly nearer to s than o is, s itself included, array (s, o)."""
    nearer = np.empty_like(ground)
    for s, row in enumerate(ground):
        order = np.argsort(row, kind="stable")
        before = np.concatenate([[0.0], np.cumsum(masses[order])[:-1]])
        # Places at one distance count as none of them being nearer.
        first = np.concatenate([[True], np.diff(row[order]) > equal])
        nearer[s, order] = np.maximum(before[first][np.cumsum(first) - 1], masses[s])
    return nearer
