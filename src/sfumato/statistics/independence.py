"""Tests by permutation: whether outputs tell anything about the secret, and whether calls depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import random_table, rankdata

from ..core import Mechanism, Metric, Space
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..errors import InputError
from ..rounding import at_most
from .binomial import check_failure
from .lower_bounds import distances_of
from .sample import Sample, as_label, as_points, is_point


@dataclass(frozen=True, slots=True, repr=False)
class PermutationTest(CompactRepr):
    """A test that is exact for every distribution: its p-value is (1 + #) / (1 + N).

    Attributes:
        hypothesis: The tested hypothesis in words; it is never proved, only rejected.
        statistic: The statistic of the samples as they are.
        p_value: The share of orders, the samples' own included, whose statistic is as large.
        permutations: The number of random orders.
        failure: The probability of rejecting a true hypothesis.
    """

    hypothesis: str
    statistic: float
    p_value: float
    permutations: int
    failure: float

    @property
    def rejected(self) -> bool:
        """Whether the samples contradict the hypothesis."""
        return self.p_value <= self.failure

    def __str__(self) -> str:
        verdict = "is rejected" if self.rejected else "is not rejected (which does not prove it)"
        return f"The hypothesis that {self.hypothesis} {verdict}: p = {self.p_value:.4g}, level {self.failure:g}."


def zero_leakage_test(
    sample: Sample, *, permutations: int = 999, failure: float = 0.05, seed: int | None = None
) -> PermutationTest:
    """Test whether secrets and outputs are independent, by the G statistic.

    G = 2 sum over s, o of n(s, o) ln(n(s, o) n / (n(s) n(o)))

    It is 2 n ln 2 times the plug-in mutual information in bits. Under the hypothesis every order of the outputs
    has the same probability, and random tables with the same margins are random orders, so the level is exact for
    any number of samples.

    Args:
        sample: The samples.
        permutations: The number of random tables.
        failure: The probability of rejecting although nothing leaks.
        seed: Of the tables; by default a fresh one.

    Raises:
        InputError: If so few permutations can never reject at the level.

    Source:
        Chatzikokolakis, Chothia and Guha, "Statistical measurement of information
        leakage", TACAS 2010, test by the distribution at zero leakage; here by
        permutation instead of its asymptotic form.
    """
    _check_permutations(permutations, failure)
    counts = sample.counts[sample.counts.any(axis=1)][:, sample.counts.any(axis=0)]
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    tables = random_table(rows, columns, seed=np.random.default_rng(seed))
    own = float(xlogy(counts, counts).sum())
    # One table at a time: many of a large one would fill the memory.
    permuted = np.array([float(xlogy(t, t).sum()) for t in (tables.rvs() for _ in range(permutations))])
    fixed = float(xlogy(rows, rows).sum() + xlogy(columns, columns).sum() - xlogy(rows.sum(), rows.sum()))
    return PermutationTest(
        "the outputs reveal nothing about the secret",
        2 * (own - fixed),
        _p_value(own, permuted),
        permutations,
        failure,
    )


def dependence_test(
    outputs: Iterable[Any],
    secrets: Iterable[Hashable] | None = None,
    *,
    lags: int = 16,
    permutations: int = 999,
    failure: float = 0.05,
    seed: int | None = None,
) -> PermutationTest:
    """Test whether the outputs of successive calls are independent of each other.

    If they are, then every order of the outputs of one secret has the same probability. Numbers (and each
    coordinate of points) are compared with those some calls later by the correlation of their ranks, within each
    secret; other labels by how often they are equal. The statistic is the largest deviation over all lags, in
    standard deviations of the permuted orders; the level is exact.

    Args:
        outputs: The outputs in the order of the calls: floats, tuples of floats, or labels.
        secrets: The secret of each call; by default all were the same.
        lags: The largest distance of two calls that are compared.
        permutations: The number of random orders.
        failure: The probability of a false alarm.
        seed: Of the orders; by default a fresh one.

    Raises:
        InputError: If there are too few outputs for the lags.

    Example:
        >>> from sfumato.statistics import dependence_test
        >>> dependence_test(["a", "b", "c"] * 40, seed=1).rejected
        True
    """
    _check_permutations(permutations, failure)
    values = [as_label(output) for output in outputs]
    strata = _codes(["" for _ in values] if secrets is None else list(secrets))
    if len(strata) != len(values):
        raise InputError(f"there are {len(values)} outputs, but {len(strata)} secrets.", "pass one per call.")
    if lags < 1 or len(values) <= 2 * lags:
        raise InputError(
            f"{len(values)} outputs do not show dependence over {lags} calls.",
            "collect more outputs, or look at fewer lags (at least one).",
        )
    numeric = all(is_point(value) for value in values)
    series = _ranks(as_points(values), strata) if numeric else _codes(values)[:, None].astype(np.float64)
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    found = np.empty((permutations + 1, lags * series.shape[1]))
    found[0] = _agreement(series, lags, numeric)
    for row in range(1, permutations + 1):
        shuffled = series.copy()
        for group in groups:
            shuffled[group] = series[rng.permutation(group)]
        found[row] = _agreement(shuffled, lags, numeric)
    spread = found.std(axis=0)
    usable = spread > 1e-12 * (1 + np.abs(found).max(axis=0))
    scores = np.abs(found - found.mean(axis=0))[:, usable] / spread[usable]
    largest = scores.max(axis=1, initial=0.0)
    return PermutationTest(
        "successive outputs are independent",
        float(largest[0]),
        _p_value(float(largest[0]), largest[1:]),
        permutations,
        failure,
    )


def _p_value(own: float, permuted: Floats) -> float:
    """Return the exact p-value of one statistic among those of random orders; ties count against it."""
    as_large = int(np.count_nonzero(permuted >= own - 1e-12 * abs(own)))
    return (1 + as_large) / (1 + len(permuted))


def _check_permutations(permutations: int, failure: float) -> None:
    """Refuse a number of permutations that can never reject."""
    check_failure(failure)
    if permutations < 1 or 1 / (1 + permutations) > failure:
        raise InputError(
            f"{permutations} permutations can never reject at level {failure}.",
            f"use at least {int(np.ceil(1 / failure)) - 1} of them.",
        )


def _agreement(series: Floats, lags: int, numeric: bool) -> Floats:
    """Return the agreement of outputs with those each lag later, for each of their coordinates."""
    agree = np.multiply if numeric else np.equal
    return np.concatenate([agree(series[:-lag], series[lag:]).sum(axis=0) for lag in range(1, lags + 1)])


def _ranks(points: Floats, strata: NDArray[np.intp]) -> Floats:
    ranks = np.empty(points.shape)
    for stratum in np.unique(strata):
        group = strata == stratum
        own = rankdata(points[group], axis=0)
        ranks[group] = own - own.mean(axis=0)
    return ranks


def _codes(labels: list[Hashable]) -> NDArray[np.intp]:
    positions: dict[Hashable, int] = {}
    return np.array([positions.setdefault(label, len(positions)) for label in labels], dtype=np.intp)


@dataclass(frozen=True, slots=True, repr=False)
class RepetitionEstimate(CompactRepr):
    """Outputs of repeated calls at the same secret.

    Attributes:
        calls: The fewest calls at any secret.
        secrets: The number of secrets called.
        constant: The secrets whose output never changed, each with that output.
        probability: Fresh noise as claimed gives outputs that repeat like this with probability at most this, over
            all secrets called; 1 if nothing repeats, None without a claim to compare with.
        against: The claim in words.
    """

    calls: int
    secrets: int
    constant: tuple[tuple[Hashable, Hashable], ...]
    probability: float | None
    against: str

    def __str__(self) -> str:
        if not self.constant:
            return f"At each of {self.secrets} secrets, {self.calls} calls gave more than one output."
        secret, output = self.constant[0]
        seen = (
            f"{len(self.constant)} of {self.secrets} secrets gave one output in all of at least {self.calls} "
            f"calls ({secret!r} always gave {output!r})"
        )
        if self.probability is None:
            return (
                f"{seen}: either there is no noise, or it is not fresh. Without the claimed mechanism "
                "or epsilon, no probability can be stated."
            )
        return (
            f"{seen}; fresh noise {self.against} would repeat like this "
            f"with probability at most {at_most(self.probability, 3)}."
        )


def repetition(
    black_box: Callable[[Any], Any],
    secrets: Iterable[Hashable],
    calls: int = 32,
    *,
    mechanism: Mechanism | None = None,
    epsilon: float | None = None,
    metric: Metric | None = None,
) -> RepetitionEstimate:
    """Call a black box repeatedly at each secret and bound the probability of so much repetition.

    With the claimed mechanism, k calls at s agree with probability sum over o of p(o|s)^k. With a claimed epsilon
    only, k calls at s that all give o, and k calls at s' that all give another o', happen with probability at most
    (1 + exp(-epsilon d(s, s')))^(-2(k-1)): p(o|s) and p(o'|s') are each at most 1 - exp(-epsilon d) times the
    other, so that their product is at most (1 + exp(-epsilon d))^-2. Both are multiplied by the number of secrets,
    or of pairs, from which the most extreme one was selected.

    Args:
        black_box: Returns one output for a secret.
        secrets: The secrets to call.
        calls: The number of calls at each.
        mechanism: The claimed mechanism, with these secrets among its own.
        epsilon: The claimed epsilon per unit of the metric, if the mechanism is not known.
        metric: The metric on the secrets called, in their order; by default 1 between distinct ones.

    Raises:
        InputError: If there are fewer than two calls or no secret.
    """
    labels = list(secrets)
    if calls < 2 or not labels:
        raise InputError(
            f"{calls} calls at {len(labels)} secrets cannot show repetition.",
            "call at least one secret at least twice.",
        )
    outputs: dict[Hashable, list[Hashable]] = {label: [] for label in labels}
    for _ in range(calls):
        for label in outputs:
            outputs[label].append(as_label(black_box(label)))
    return repetition_of(outputs, mechanism=mechanism, epsilon=epsilon, metric=metric)


def repetition_of(
    outputs: Mapping[Any, Sequence[Hashable]],
    *,
    mechanism: Mechanism | None = None,
    epsilon: float | None = None,
    metric: Metric | None = None,
) -> RepetitionEstimate:
    """Return the same for outputs that were collected already, by secret; see `repetition`."""
    lengths = [len(row) for row in outputs.values()]
    if not lengths or min(lengths) < 2:
        raise InputError("some secret has fewer than two outputs.", "collect at least two for each.")
    space = Space(outputs)
    constant = {
        s: row[0] for s, row in zip(space.labels, outputs.values(), strict=True) if all(o == row[0] for o in row)
    }
    probability: float | None
    if not constant:
        probability, against = 1.0, ""
    elif mechanism is not None:
        probability, against = _of_mechanism(constant, outputs, mechanism), "of the claimed mechanism"
    elif epsilon is not None:
        probability, against = _of_epsilon(constant, outputs, epsilon, metric), f"of epsilon {epsilon:g}"
    else:
        probability, against = None, ""
    return RepetitionEstimate(min(lengths), len(space), tuple(constant.items()), probability, against)


def _of_mechanism(
    constant: Mapping[Hashable, Hashable], outputs: Mapping[Any, Sequence[Hashable]], mechanism: Mechanism
) -> float:
    rows = mechanism.matrix[mechanism.secrets.positions(constant)]
    calls = np.array([len(outputs[s]) for s in constant])
    agree = (rows ** calls[:, None]).sum(axis=1)
    return min(1.0, len(outputs) * float(agree.min()) * (1 + 1e-9))


def _of_epsilon(
    constant: Mapping[Hashable, Hashable],
    outputs: Mapping[Any, Sequence[Hashable]],
    epsilon: float,
    metric: Metric | None,
) -> float:
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise InputError(f"the epsilon {epsilon} is not a number of at least 0.", "pass the claimed epsilon.")
    distances = distances_of(len(outputs), metric)
    position = {s: i for i, s in enumerate(outputs)}
    pairs = len(outputs) * (len(outputs) - 1) / 2
    least = 1.0
    for s, o in constant.items():
        for t, other in constant.items():
            d = distances[position[s], position[t]]
            if o != other and np.isfinite(d):
                k = min(len(outputs[s]), len(outputs[t]))
                least = min(least, pairs * float((1 + np.exp(-epsilon * d)) ** (-2.0 * (k - 1))) * (1 + 1e-9))
    return least
