"""Temporal privacy leakage: what all reports reveal about the place at one tick, for a stated movement model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from ..core import SUM_TOLERANCE, Mechanism, Metric, Prior, greedy_spanner, shortest_paths
from ..core.arrays import Floats, Positions, floats, numbers, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, argument
from ..intervals import exp_above
from ..rounding import SMALLEST, UNIT, factor_at_most, plural

_FEW: Final = 16  # places of which all pairs are compared
_DAYS: Final = 128  # sequences of places that are compared as wholes
_DILATION: Final = 1.25  # of the pairs that are compared among more places
_FINER: Final = 0.2  # dilation - 1 of the pairs in a program, over that of the pairs that are compared
_STEEP: Final = 30.0  # exponents above it are left out of programs, where their exponentials would spoil the scale
_EQUAL: Final = 1e-12  # a bound on a logarithm that no program needs to lower
_LEAST: Final = 2.0**-960  # products above it, divided by probabilities, keep their relative errors
_FEASIBLE: Final = 1e-10  # tolerance of the solver


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TemporalLeakage(CompactRepr):
    """Bounds on what all reports reveal about the place at one tick, for a stated prior and movement model.

    The arrays (ticks, places, places) hold upper bounds on ln p(reports|i) / p(reports|j), where i and j are
    places at the tick, NaN if one of them is impossible there.

    Attributes:
        backward: For the reports up to the tick.
        forward: For the reports from the tick on.
        total: For all reports: backward + forward - the bound of the report at the tick. Where there are at most
            128 sequences of places, one program over whole sequences lowers it to at most their W_inf distance.
    """

    backward: Floats
    forward: Floats
    total: Floats

    @property
    def worst_tick(self) -> int:
        """The tick with the largest total, from 0."""
        return self._worst[0]

    @property
    def worst_pair(self) -> tuple[int, int]:
        """The positions of the two places with the largest total, at the worst tick."""
        return self._worst[1:]

    @property
    def factor(self) -> float:
        """The largest likelihood ratio of all reports, for two places at one tick, rounded up."""
        return float(exp_above(self.total[self._worst]))

    @property
    def _worst(self) -> tuple[int, int, int]:
        tick, i, j = np.unravel_index(int(np.nanargmax(self.total)), self.total.shape)
        return int(tick), int(i), int(j)

    def __str__(self) -> str:
        ticks, places, _ = self.total.shape
        tick, i, j = self._worst
        factor = factor_at_most(float(self.total[tick, i, j]))
        return (
            f"For people who start from the stated prior on {plural(places, 'place')} and move by the stated "
            f"kernels: {plural(ticks, 'report')} together are at most {factor} times as likely from one place as "
            f"from another at the same tick (largest for places {i} and {j} at tick {tick + 1}). "
            "This does not hold for other movement."
        )


def temporal_leakage(
    prior: Prior | ArrayLike,
    kernels: Mechanism | ArrayLike | Sequence[ArrayLike],
    distances: Metric | ArrayLike,
    epsilons: ArrayLike,
    slacks: ArrayLike = 0.0,
    *,
    dilation: float = _DILATION,
) -> TemporalLeakage:
    """Return bounds on what all reports reveal about the place at each tick, for one movement model.

    B_1 = eps_1 d and B_t(i, j) = eps_t d(i, j) + L(P(i), P(j); B_{t-1}), with
    L(p, q; B) = max of ln (p . y / q . y) over y > 0 with y_k <= exp(B(k, l)) y_l for all k, l

    Here P(i) is the law of the place before, given place i now. F_t is the same in the other direction of time,
    and the total is B_t + F_t - eps_t d. It bounds ln p(o_1, ..., o_T|x_t = i) / p(o_1, ..., o_T|x_t = j) for all
    mechanisms with M_t(o|x) <= exp(eps_t (d(x, x') + slack_t)) M_t(o|x') for x != x', if places are a Markov chain
    of this prior and these kernels that does not react to reports. For other movement it bounds nothing. If
    epsilons depend on earlier reports, pass those of one path: the bound holds for the reports of that path.

    ``prior`` is the law of the first place, array (n,), ``kernels`` one array (n, n) of rows that sum to one, or
    T - 1 of them, each from one tick to the next. Both are normalised. Of a `MarkovChain` pass ``chain.initial``
    and ``chain.transition``. ``distances`` is a metric, array (n, n); ``epsilons`` are per its unit, array (T,);
    ``slacks`` are in it, one or T.

    Every bound is rounded up, and proved by multipliers of L's dual program, however inexact these are. It is
    attained for two places. Up to 16 places all pairs are compared. Of more, only the pairs of a spanner are, and
    others are bounded along its paths: a few per cent above the bound of all pairs for near places, and up to
    twice it for far ones. A ``dilation`` nearer to 1 compares more pairs in more time, and 1 all of them. Raises
    `InputError` if an argument is not as described, or a probability is too small for floats.

    Source:
        Cao, Yoshikawa, Xiao and Xiong, "Quantifying differential privacy under temporal correlations", ICDE 2017,
        for the discrete metric.

    Example:
        >>> from sfumato.sequences import temporal_leakage
        >>> line = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
        >>> kernel = [[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]
        >>> leakage = temporal_leakage([0.25, 0.5, 0.25], kernel, line, [0.5, 0.5, 0.5])
        >>> round(float(leakage.total[1, 0, 1]), 4)
        1.2857
        >>> print(leakage)
        For people who start from the stated prior on 3 places and move by the stated kernels: ...
    """
    chain = _Chain.of(prior, kernels, distances, epsilons, slacks, dilation)
    backward = chain.accumulate(reverse=False)
    forward = chain.accumulate(reverse=True)
    n, ticks = len(chain.metric), len(chain.steps)
    arrays = [np.full((ticks, n, n), np.nan) for _ in range(3)]
    rounding = 1 + 4 * UNIT
    for t, places in enumerate(chain.places):
        block = np.ix_(places, places)
        step, past, future = chain.steps[t][block], backward[t], forward[t]
        for array, bound in zip(arrays, (past + step, future + step, past + step + future), strict=True):
            array[t][block] = bound * rounding
        if n**ticks <= _DAYS:
            arrays[-1][t][block] = np.minimum(arrays[-1][t][block], chain.bounds_of_days(t))
    return TemporalLeakage(*map(readonly, arrays))


@dataclass(frozen=True, slots=True)
class _Chain:
    """A movement model with what each report adds.

    ``places`` are those possible at each tick, ``laws`` the probabilities of all places, array (T, n), ``kernels``
    (T - 1, n, n), and ``steps`` the exponents of single reports, array (T, n, n). ``error`` bounds by how much
    rounding of the model changes the logarithm of a ratio.
    """

    metric: Metric
    places: list[Positions]
    laws: list[Floats]
    kernels: Floats
    steps: Floats
    dilation: float
    error: float

    @classmethod
    def of(
        cls,
        prior: Prior | ArrayLike,
        kernels: Mechanism | ArrayLike | Sequence[ArrayLike],
        distances: Metric | ArrayLike,
        epsilons: ArrayLike,
        slacks: ArrayLike,
        dilation: float,
    ) -> _Chain:
        metric = distances if isinstance(distances, Metric) else Metric(distances)
        n, eps = len(metric), floats(epsilons, "epsilons", shape=(None,))
        ticks = len(eps)
        slack = np.asarray(numbers(slacks, "slacks"))
        fits = ticks > 0 and slack.ndim < 2 and slack.size in (1, ticks)
        if not fits or (eps < 0).any() or not ((slack >= 0) & np.isfinite(slack)).all():
            raise InputError(
                f"{slack.size} slacks for {ticks} epsilons, or a negative number, were given.",
                "pass one epsilon for each tick, and one slack or as many as ticks, all at least 0.",
            )
        if not metric.finite:
            raise InputError("a distance is infinite.", "use finite distances between all places.")
        if not dilation >= 1:
            raise InputError(f"{argument('dilation', dilation)} is below 1.", f"use {argument('dilation', 1)}.")
        start = _normalise(prior.probabilities if isinstance(prior, Prior) else prior, (n,), "the prior")
        matrices = numbers(kernels.matrix if isinstance(kernels, Mechanism) else kernels, "the kernels")  # type: ignore[arg-type]
        if matrices.ndim == 2:
            matrices = np.broadcast_to(matrices, (ticks - 1, *matrices.shape))
        rows = _normalise(matrices, (ticks - 1, n, n), "the kernels")
        laws = [start]
        for kernel in rows:
            joint = laws[-1][:, None] * kernel
            if ((joint < _LEAST) & (laws[-1][:, None] > 0) & (kernel > 0)).any():
                raise InputError("a probability of the chain is too small for floats.", "use 0 for it.")
            laws.append(joint.sum(axis=0))
        with np.errstate(over="ignore"):
            apart = metric.array + np.broadcast_to(slack, ticks)[:, None, None] * ~np.eye(n, dtype=bool)
            rates = eps[:, None, None]
            steps = rates * apart * (1 + 4 * UNIT) + SMALLEST * ((rates > 0) & (apart > 0))
        # A law is off by at most 2 n + 4 roundings for each tick, and P(i) divides two of them.
        error = 16 * ticks * (n + 4) * UNIT
        return cls(metric, [np.flatnonzero(law) for law in laws], laws, rows, steps, dilation, error)

    def accumulate(self, *, reverse: bool) -> list[Floats]:
        """Return upper bounds on what the reports before each tick reveal about it, or in reverse those after.

        One array (k, k) of logarithms for each tick, on its k possible places.
        """
        order = range(len(self.steps))[:: -1 if reverse else 1]
        amounts: dict[int, Floats] = {}
        for t in order:
            places, known = self.places[t], t + (1 if reverse else -1)
            if known not in amounts:
                amounts[t] = np.zeros((len(places), len(places)))
                continue
            earlier = self.places[known]
            exponents = amounts[known] + self.steps[known][np.ix_(earlier, earlier)]
            cone = _Cone(exponents, self._pairs(earlier, 1 + (self.dilation - 1) * _FINER))
            if reverse:
                laws = self.kernels[t][np.ix_(places, earlier)]
            else:
                joint = self.laws[known][earlier, None] * self.kernels[known][np.ix_(earlier, places)]
                laws = (joint / self.laws[t][places]).T
            lengths = np.array([_divergences(law, laws) for law in laws])
            for i, j in self._pairs(places, self.dilation):
                lengths[i, j] = cone.log_ratio(laws[i], laws[j])
            amounts[t] = shortest_paths(lengths + self.error) * (1 + 2 * len(places) * UNIT)
        return [amounts[t] for t in range(len(self.steps))]

    def bounds_of_days(self, tick: int) -> Floats:
        """Return the largest logarithms over the cone of likelihoods of whole sequences, on the tick's places.

        They are at most W_inf of the laws of sequences given the place at the tick, in the metric sum of steps.
        """
        ticks, n = self.steps.shape[:2]
        days, places = np.array(list(product(range(n), repeat=ticks))), self.places[tick]
        moves = [kernel[days[:, t], days[:, t + 1]] for t, kernel in enumerate(self.kernels)]
        factors = np.array([self.laws[0][days[:, 0]], *moves])
        law = factors.prod(axis=0)
        if (law < _LEAST)[factors.all(axis=0)].any():  # an underflow
            return np.full((len(places), len(places)), np.inf)
        exponents = np.sum([step[np.ix_(x, x)] for step, x in zip(self.steps, days.T, strict=True)], axis=0)
        cone = _Cone(exponents * (1 + 2 * ticks * UNIT), np.argwhere((days[:, None] != days).sum(axis=2) == 1))
        laws = [law * (days[:, tick] == i) / self.laws[tick][i] for i in places]
        bounds = np.array([[cone.log_ratio(p, q) if p is not q else 0.0 for q in laws] for p in laws])
        return np.where(np.eye(len(places), dtype=bool), 0.0, (bounds + self.error) * (1 + 4 * UNIT))

    def _pairs(self, places: Positions, dilation: float) -> NDArray[np.intp]:
        """Return the ordered pairs of a spanner of places, or of all if few, array (k, 2) of positions."""
        if len(places) <= _FEW or dilation == 1:
            return np.argwhere(~np.eye(len(places), dtype=bool))
        array, symmetric = readonly(self.metric.array[np.ix_(places, places)]), self.metric.symmetric
        metric = Metric(array, triangle=self.metric.triangle, symmetric=symmetric)
        edges = greedy_spanner(metric, dilation).edges
        return np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)


class _Cone:
    """Likelihoods y > 0 of some reports with y_k <= exp(exponents[k, l]) y_l for all k and l.

    Programs have the rows of the ``pairs`` alone. A larger cone has larger maxima, so they stay upper bounds.
    """

    def __init__(self, exponents: Floats, pairs: NDArray[np.intp]) -> None:
        values = exponents[pairs[:, 0], pairs[:, 1]]
        moderate = values <= _STEEP
        self.exponents = exponents * (1 + 4 * UNIT)
        self.first, self.second = pairs[moderate].T
        self.factors = _exp_above(values[moderate] * (1 + 4 * UNIT))
        rows, n = np.arange(len(self.factors)), len(exponents)
        self.matrix = csr_array(
            (
                np.concatenate([np.ones(len(rows)), -self.factors]),
                (np.tile(rows, 2), np.concatenate([self.first, self.second])),
            ),
            shape=(len(rows), n),
        )

    def log_ratio(self, p: Floats, q: Floats) -> float:
        """Return an upper bound, at least 0, on the largest ln (p . y / q . y) in the cone; arrays (n,)."""
        bound = min(float(_divergences(p, q[None])[0]), float(self.exponents[np.ix_(p > 0, q > 0)].max()))
        if bound > _EQUAL and len(self.factors):
            bound = min(bound, float(_log_above(self.ratio(p, q, self.multipliers(p, q)))))
        return max(bound, 0.0)

    def multipliers(self, p: Floats, q: Floats) -> Floats:
        """Return multipliers of the rows for which `ratio` is about least, array (k,); 0 where none are known."""
        options = {"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE}
        result = linprog(
            -p,
            A_ub=self.matrix,
            b_ub=np.zeros(len(self.factors)),
            A_eq=q[None],
            b_eq=[1.0],
            method="highs-ds",
            options=options,
        )
        if result.status != 0:
            return np.zeros(len(self.factors))
        weights: Floats = np.maximum(-np.asarray(result.ineqlin.marginals), 0.0)
        return weights

    def ratio(self, p: Floats, q: Floats, multipliers: Floats) -> float:
        """Return an upper bound on the largest p . y / q . y in the cone, for any multipliers w >= 0.

        p . y <= p . y - sum of w_kl (y_k - e^B_kl y_l) = r . y, r_j = p_j - sum of w_jl + sum of w_kj e^B_kj

        So the ratio is at most max of r_j / q_j, if r_j <= 0 where q_j = 0. A larger r_j there is moved to a place
        l with q_l > 0, because r_j y_j <= r_j e^B_jl y_l.
        """
        n = len(p)
        out = np.bincount(self.first, multipliers, n)
        flow = np.bincount(self.second, multipliers * self.factors, n)
        terms = len(self.factors) + 8
        rest = p - out + flow + 2 * terms * UNIT * (p + out + flow) + terms * SMALLEST
        support = np.flatnonzero(q > 0)
        for j in np.flatnonzero((q == 0) & (rest > 0)):
            to = support[np.argmin(self.exponents[j, support] - np.log(q[support]))]
            rest[to] += rest[j] * _exp_above(self.exponents[j, to]) * (1 + 8 * UNIT)
            rest[to] += 2 * UNIT * abs(rest[to])
        return float((rest[support] / q[support]).max()) * (1 + 4 * UNIT)


def _normalise(value: ArrayLike, shape: tuple[int, ...], subject: str) -> Floats:
    array = floats(value, subject, shape=shape)
    if (array < 0).any() or (np.abs(array.sum(axis=-1) - 1) > SUM_TOLERANCE).any():
        raise InputError(f"{subject} has a negative entry, or a sum that is not 1.", "pass probabilities.")
    return np.asarray(array / array.sum(axis=-1, keepdims=True))


def _exp_above(exponents: ArrayLike) -> Floats:
    """Return exponentials, rounded up: they are right to four units in the last place."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(exponents) * (1 + 16 * UNIT))


def _divergences(p: Floats, laws: Floats) -> Floats:
    """Return ln max of p_k / q_k for each row q of laws, rounded up; ``inf`` where q_k = 0 < p_k."""
    support = p > 0
    with np.errstate(divide="ignore", over="ignore"):
        return _log_above((p[support] / laws[:, support]).max(axis=1) * (1 + 4 * UNIT))


def _log_above(values: ArrayLike) -> Floats:
    """Return logarithms of positive numbers, rounded up, at least 0."""
    logs = np.log(np.maximum(values, 1.0))
    return np.asarray(logs * (1 + 16 * UNIT))
