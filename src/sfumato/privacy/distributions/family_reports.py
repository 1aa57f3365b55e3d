"""Notions about the pairs of a family, comparisons of the reports of each pair, and Bayes factors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Bracket, Mechanism, Metric, Prior
from ...core.arrays import Floats, Positions, numbers, readonly
from ...divergences import Divergence, HockeyStick, MaxDivergence, log_ratios
from ...errors import InputError
from ...intervals import exact, upper_end
from ...rounding import log_error, mass_error
from ..exact import IntegerRows, OfPair, Row, integer_rows, largest_of_rows
from ..notion import Notion, Witness
from ..point.metric import FAR_PAIRS, NO_PAIR
from ..relation import Relation
from ..rows import AnyMechanism, channel, check_size, pair_blocks, scale_by_exp
from .family import Family, FamilyDistance

_FLOOR = 1e-280  # below it a product of two probabilities may have vanished
_MOST = 1 << 26  # products of Python integers: some seconds
_COMPARED = 16  # products that take as long as comparing two such sums
_COLUMNS = 64  # reports per block
_TINY = 2.0**-20  # an epsilon that rounding alone may make positive
_BLOCK = 1 << 21  # numbers in an array of pairs x observables


RECOMPUTE: Final = "measure the notion on product_channel(first, second), which is exact for any pair."


class OfFamily(Notion):
    """A notion about the pairs of a family, with its composition and post-processing."""

    __slots__ = ()

    family: Family

    @final
    def __repr__(self) -> str:
        names = [getattr(self, part).name for part in ("divergence", "distance") if hasattr(self, part)]
        names += [f"delta={self.delta:g}"] if hasattr(self, "delta") else []
        return f"{type(self).__name__}({', '.join([repr(self.family), *names])})"

    @final
    @property
    def sides(self) -> tuple[str, str]:
        """Words for the two distributions of a pair, which name their order where only one order counts."""
        distance: FamilyDistance | None = getattr(self, "distance", None)
        symmetric = distance is None or np.array_equal(distance.array, distance.array.T)
        return ("one", "the other") if symmetric and self.family.symmetric else ("the first", "the second")

    @property
    def ground(self) -> NDArray[Any] | None:
        """The relation or distances of the secrets from which the pairs are lifted, or None."""
        return None if self.family.lifted_from is None else self.family.lifted_from.array

    def of_lifting(self) -> Self | None:
        """Return the notion for the whole lifting, with the lost mass of couplings in its delta, or None."""
        return None

    def together(self, other: Self, _first: float, _second: float) -> tuple[Self, float]:
        """Return the notion of two reports together, and its value.

        Raises `InputError` if the other is about other pairs, another distance or divergence, or does not compose.
        """
        raise not_composing(self, other)

    @final
    def check_pairs(self, other: OfFamily) -> None:
        """Raise InputError for a notion about other pairs."""
        a, b = self.family, other.family
        if not (np.array_equal(a.distributions, b.distributions) and np.array_equal(a.pairs, b.pairs)):
            raise InputError(
                f"the guarantees are about different families: {a!r} and {b!r}.",
                "measure both on the same family.",
            )

    def check_processing(self) -> None:
        """Raise InputError if post-processing can break the notion, or is not known to be safe."""

    @final
    @property
    def has_points(self) -> bool:
        """Whether the family was lifted and compares the point masses of all pairs of its relation."""
        relation = self.family.lifted_from
        return relation is not None and self.family.missing_points(relation) is None


def not_composing(a: Notion, b: Notion) -> InputError:
    """Return the error that two notions are not known to compose."""
    return InputError(
        f"guarantees of {a.title} and of {b.title} were given, which are not known to compose.",
        f"use two of the same kind, such as distribution privacy; or {RECOMPUTE}",
    )


class ByDistance(OfFamily):
    """A notion that lets distributions differ in proportion to their distance."""

    __slots__ = ()

    family: Family
    distance: FamilyDistance

    @final
    @property
    def metric(self) -> Metric | None:
        """The metric on the secrets, where the distance is a Wasserstein distance."""
        return self.distance.ground

    @final
    @property
    def ground(self) -> NDArray[Any] | None:
        """The distances of the secrets, where the distance is a Wasserstein distance."""
        return None if self.distance.ground is None else self.distance.ground.array

    @final
    def has_points_apart(self, order: float) -> bool:
        """Return whether the distance is Wasserstein of an order, and all point masses at finite ones count."""
        ground = self.distance.ground
        if ground is None or self.distance.order != order:
            return False
        return self.family.missing_points(Relation(np.isfinite(ground.array))) is None

    @final
    def check_distance(self, other: ByDistance) -> None:
        """Raise InputError for a notion of another distance."""
        a, b = self.distance, other.distance
        if a.unit != b.unit or not np.array_equal(a.array, b.array):
            raise InputError(f"the distances differ: {a.name} and {b.name}.", "use the same distance for both.")

    @final
    @property
    def order(self) -> float | None:
        """The order of the Wasserstein distance, where it is one."""
        return self.distance.order

    @final
    @property
    def unit(self) -> str:
        """The unit of the distance."""
        return self.distance.unit

    @final
    @property
    def far_pairs_note(self) -> str:
        """Sentence on the pairs at an infinite distance, which the value does not cover."""
        if np.isfinite(self.pair_distances[0]).all():
            return ""
        return NO_PAIR.format("distributions") if self.vacuous else FAR_PAIRS

    @final
    @property
    def vacuous(self) -> bool:
        """Whether no pair of distributions is at a finite distance."""
        return not np.isfinite(self.pair_distances[0]).any()

    @final
    @property
    def pair_distances(self) -> tuple[Floats, Floats]:
        """An upper and a lower bound of the distance of each pair that counts, arrays (k,)."""
        first, second = self.family.pairs.T
        return self.distance.array[first, second], self.distance.lower[first, second]

    @final
    def at_no_distance(self, mechanism: AnyMechanism) -> tuple[Positions, Positions]:
        """Return which pairs at distance 0 have equal reports and which do not, decided in fractions."""
        together = np.flatnonzero(self.pair_distances[1] == 0)
        pairs = self.family.distributions[self.family.pairs[together]]
        same = np.array([same_reports(mechanism, *pair) for pair in pairs], dtype=np.bool_)
        return together[same], together[~same]


def per_unit(values: Floats, distances: Floats) -> Floats:
    """Return values / distances: 0 / 0 is 0, any other value / 0 is infinite, anything / inf is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotients = np.where(values == 0, 0.0, values / distances)
    return np.where(np.isinf(distances), 0.0, quotients)


def add(first: float, second: float) -> float:
    """Return a sum, rounded up."""
    return upper_end(lambda: exact(first) + exact(second))


def with_mass(delta: float, more: float) -> float:
    """Return the sum of delta and more probability, such as what couplings left out, rounded up and at most 1."""
    return delta if more == 0 else min(1.0, add(delta, more))


def reports_of(mechanism: AnyMechanism, family: Family) -> Floats:
    """Return the distribution of the report under each distribution of the secret, array (k, m).

    Raises InputError for other sizes, the same secrets in another order, and for probabilities of reports too
    small for floats.
    """
    matrix, distributions = channel(mechanism).matrix, family.distributions
    if isinstance(mechanism, Mechanism) and family.secrets is not None:
        mechanism.secrets.check_order(family.secrets, "a prior")
    hint = "use distributions on the mechanism's secrets."
    check_size("the distributions are on", distributions.shape[1], len(matrix), hint)
    images: Floats = distributions @ matrix
    small = images < _FLOOR
    if small.any() and (((distributions > 0) @ (matrix > 0).astype(np.float64) > 0) & small).any():
        raise InputError(
            f"a report has a probability below {_FLOOR:g}, where products of floats vanish.",
            "leave out the secrets of negligible probability.",
        )
    return images


def pairwise_divergences(divergence: Divergence, rows: Floats, pairs: Positions) -> Floats:
    """Return the divergence of each pair of rows, array (c,), in blocks of bounded memory."""
    return np.concatenate([divergence.rows(p, q) for _, p, q in pair_blocks(rows, pairs, _BLOCK)])


def epsilons(rows: Floats, pairs: Positions, delta: float, terms: int) -> tuple[Floats, Floats]:
    """Return for each pair of sums of ``terms`` products the least epsilon and a certain upper bound of it."""
    value = np.maximum(pairwise_divergences(MaxDivergence(delta), rows, pairs), 0.0)
    if delta == 0:
        return value, np.array([v + log_error(v, terms) for v in value])
    upper = np.full(len(pairs), np.inf)
    slack, left = 2 * mass_error(1.0, rows.shape[1], terms), np.arange(len(pairs))
    while len(left):
        # The inverse rounds too: its result is checked directly, with less delta until it is enough.
        allowed = max(0.0, delta - slack)
        enough = np.maximum(pairwise_divergences(MaxDivergence(allowed), rows, pairs[left]), 0.0)
        if allowed == 0:
            upper[left] = [v + log_error(v, terms) for v in enough]
            break
        deltas = _deltas_above(rows, pairs[left], enough, terms)
        good = (deltas <= delta) | np.isinf(enough)
        upper[left[good]] = enough[good]
        left, slack = left[~good], 4 * slack
    return value, np.maximum(upper, value)


def _deltas_above(rows: Floats, pairs: Positions, at: Floats, terms: int) -> Floats:
    """Return for each pair a certain upper bound of delta at its own epsilon, array (c,)."""
    step, excesses = max(1, _BLOCK // rows.shape[1]), []
    for start in range(0, len(pairs), step):
        first, second = pairs[start : start + step].T
        larger = scale_by_exp(rows[second], at[start : start + step, None])
        excesses.append(np.maximum(rows[first] - larger, 0.0).sum(axis=1))
    return np.concatenate(excesses) + mass_error(1.0, rows.shape[1], terms)


def same_reports(mechanism: AnyMechanism, first: Floats, second: Floats) -> bool:
    """Return whether two distributions give exactly the same reports, in fractions."""
    weights = mechanism.weights if isinstance(mechanism, Mechanism) else numbers(mechanism, "the matrix")
    moves = [(s, Fraction(float(first[s])) - Fraction(float(second[s]))) for s in np.flatnonzero(first != second)]
    total = [Fraction(0)] * weights.shape[1]
    for secret, mass in moves:
        total = [sum_ + mass * Fraction(w) for sum_, w in zip(total, weights[secret].tolist(), strict=True)]
    return not any(total)


def decide_in_fractions(
    mechanism: AnyMechanism, family: Family, of_pair: OfPair, distances: Floats | None = None
) -> tuple[Bracket, int] | None:
    """Return bounds of the largest ln(t) / d of a family's pairs at finite distance, and which pair attains it."""
    whole = integer_rows(mechanism)
    subset = np.arange(len(family.pairs)) if distances is None else np.flatnonzero(np.isfinite(distances))
    members = np.unique(family.pairs[subset])
    if (
        whole is None
        or max(len(subset) * _COMPARED, len(members) * len(whole.array)) * whole.array.shape[1] > _MOST
    ):
        return None
    images, unit = _integer_images(whole, family.distributions[members])
    largest = largest_of_rows(
        dict(zip(members.tolist(), images, strict=True)),
        unit,
        family.pairs[subset],
        of_pair,
        None if distances is None else distances[subset],
    )
    lower, upper, pair = largest
    worst = 0 if pair is None else int(np.flatnonzero((family.pairs == pair).all(axis=1))[0])
    return Bracket(lower, lower, upper), worst


def _integer_images(whole: IntegerRows, distributions: Floats) -> tuple[list[Row], int]:
    """Return the reports of distributions (k, n) as integers, and the integer for probability 1."""
    ratios = [[mass.as_integer_ratio() for mass in row] for row in distributions.tolist()]
    under = max(denominator for row in ratios for _, denominator in row)  # powers of two
    masses = np.array([[top * (under // bottom) for top, bottom in row] for row in ratios], dtype=object)
    columns = range(0, whole.array.shape[1], _COLUMNS)
    parts = [masses @ whole.array[:, begin : begin + _COLUMNS].astype(object) for begin in columns]
    return np.concatenate(parts, axis=1).tolist(), under * whole.unit


def is_open(bounds: Bracket) -> bool:
    """Return whether rounding leaves open if any epsilon is enough, or if 0 is."""
    return (math.isinf(bounds.upper) and not math.isinf(bounds.lower)) or bounds.lower <= 0 < bounds.upper < _TINY


def epsilon_below(p: Floats, q: Floats, delta: float, terms: int) -> float:
    """Return a certain lower bound of the least epsilon, at least 0."""
    if delta == 0:
        value = float(MaxDivergence()(p, q))
        return max(0.0, value - log_error(value, terms))
    slack = 2 * mass_error(delta, len(p), terms)
    while delta + slack < 1:
        epsilon = float(MaxDivergence(delta + slack)(p, q))
        if epsilon <= 0:
            break
        excess = HockeyStick(epsilon)(p, q)
        if excess - mass_error(excess, len(p), terms) >= delta:
            return epsilon
        slack *= 4
    return 0.0


def pair_witness(family: Family, worst: int, outputs: Positions | None = None) -> Witness:
    """Return the witness that names a pair of the family, and reports where they show it."""
    i, j = (int(position) for position in family.pairs[worst])
    observables = np.empty(0, dtype=np.intp) if outputs is None else outputs
    return Witness((i, j), observables, names=(str(family.names[i]), str(family.names[j])))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BayesFactors:
    """Factors by which each report changes the odds of one distribution against another one.

    BF(o) = [p(lam|o) / p(mu|o)] / [p(lam) / p(mu)] = A#(lam)[o] / A#(mu)[o]

    Attributes:
        logs: Array (m,), the logarithms of the factors; NaN for reports that neither distribution gives.
        first: Array (m,), the probabilities A#(lam) of the reports.
        second: Array (m,), the probabilities A#(mu).
        rounding: Array (m,), the error of each logarithm.

    Source:
        Kawamoto and Murakami, section III-E.
    """

    logs: Floats
    first: Floats
    second: Floats
    rounding: Floats

    def __repr__(self) -> str:
        low, high = self.range
        return f"BayesFactors of {len(self.logs)} reports, from {low:.4g} to {high:.4g}"

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest factor of a report that can occur, 0 and ``inf`` included."""
        high = float(np.nanmax(self.logs))
        return math.exp(float(np.nanmin(self.logs))), math.exp(high) if high < 709 else math.inf

    @property
    def worst(self) -> int:
        """The position of the report that changes the odds most, in either direction."""
        return int(np.nanargmax(np.abs(self.logs)))

    @property
    def epsilon_upper(self) -> float:
        """A certain upper bound of |ln factor| over all reports."""
        return float(np.nanmax(np.abs(self.logs) + self.rounding))

    def posterior_odds(self, prior_odds: float) -> tuple[float, float]:
        """Return the least and the largest odds after a report, in floating point, from prior odds p(lam) / p(mu).

        Raises `InputError` if the odds are negative or NaN.
        """
        if not prior_odds >= 0:
            raise InputError(f"the odds are {prior_odds}.", "pass a number of at least 0; 1 is even.")
        low, high = self.range
        # Certainty stays: no report that can occur under the certain distribution refutes it.
        if prior_odds in (0.0, math.inf):
            return prior_odds, prior_odds
        return prior_odds * low, prior_odds * high

    def masses_beyond(self, epsilon: float) -> tuple[float, float]:
        """Return the probabilities, under either distribution, of reports whose factor is beyond e**epsilon.

        A factor below e**-epsilon is beyond it too. The larger probability is the least delta of probabilistic
        distribution privacy: otherwise the odds change by a factor of at most e**epsilon. Raises `InputError` if
        epsilon is negative or NaN.
        """
        if not epsilon >= 0:
            raise InputError(f"epsilon is {epsilon}.", "pass a number of at least 0.")
        rare = np.abs(np.nan_to_num(self.logs, nan=0.0, posinf=np.inf, neginf=-np.inf)) > epsilon
        return float(self.first[rare].sum()), float(self.second[rare].sum())


def bayes_factors(mechanism: AnyMechanism, first: Prior | ArrayLike, second: Prior | ArrayLike) -> BayesFactors:
    """Return how each report of a mechanism changes the odds between two distributions.

    The distributions lam and mu are priors or arrays (secrets,). Raises `InputError` if an argument is not a
    distribution, or does not fit the mechanism.
    """
    family = Family([first, second])
    p, q = reports_of(mechanism, family)
    logs = log_ratios(p, q)
    logs[(p == 0) & (q == 0)] = np.nan
    errors = [0.0 if math.isnan(value) else log_error(float(value), family.size) for value in logs]
    return BayesFactors(readonly(logs), readonly(p), readonly(q), readonly(np.array(errors)))
