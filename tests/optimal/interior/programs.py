"""Programs for the structured method, the same written out in full for HiGHS, and what any answer must keep."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from sfumato.core.arrays import Floats
from sfumato.optimal import interior

LINE = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
HAMMING = 1 - np.eye(5)
EVEN = np.full(5, 0.2)
KINDS = ("plain", "worst", "joint", "joint worst", "game", "game worst")


@dataclass(frozen=True)
class Case:
    """What `interior.solve` is asked."""

    prior: Floats
    cost: Floats
    ratio: Floats
    distance: Floats | None = None
    minimum: float | None = None
    worst: bool = False
    loss_bound: float | None = None

    def solve(self, **options) -> interior.Result:
        return interior.solve(
            self.prior,
            self.cost,
            self.ratio,
            distortion=None if self.distance is None else (self.distance, self.minimum),
            worst_case=self.worst,
            loss_bound=self.loss_bound,
            **options,
        )

    def distortion(self, matrix: Floats) -> float:
        assert self.distance is not None
        return float((self.distance @ (self.prior[:, None] * matrix)).min(axis=0).sum())

    def loss(self, matrix: Floats) -> float:
        own = (matrix * self.cost).sum(axis=1)
        return float(own.max() if self.worst else self.prior @ own)

    def value(self, matrix: Floats) -> float:
        return self.loss(matrix) if self.loss_bound is None else -self.distortion(matrix)

    def optimum(self) -> float:
        """The least value, by HiGHS with every row written out."""
        return _optimum(self)


def grid(rows: int, columns: int) -> Floats:
    """Distances of the cells of a grid."""
    place = np.array([(i, j) for i in range(rows) for j in range(columns)], dtype=float)
    return np.asarray(np.sqrt(((place[:, None] - place[None]) ** 2).sum(-1)))


def skewed(n: int, seed: int, *, unvisited: int = 0) -> Floats:
    """A prior with most of its mass on few secrets and the first ones never visited."""
    prior = np.random.default_rng(seed).dirichlet(np.full(n, 0.3))
    prior[:unvisited] = 0.0
    shares: Floats = prior / prior.sum()
    return shares


def drawn(seed: int, kind: str) -> Case:
    """A small random program of one kind, feasible by construction."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 7)), int(rng.integers(2, 8))
    # Every secret that is visited keeps a tenth of an even share and all places are apart: then
    # no guess is always right, and there is distortion to ask for.
    prior = 0.9 * rng.dirichlet(np.full(n, 0.7)) + 0.1 / n
    if n > 2 and rng.random() < 0.5:
        prior[rng.integers(n)] = 0
        prior /= prior.sum()
    places = np.c_[0.3 * np.arange(n) + 0.2 * rng.random(n), rng.random(n)]
    sites = np.c_[2 * rng.random(m), rng.random(m)]
    between = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))
    costs = [
        np.sqrt(((places[:, None] - sites[None]) ** 2).sum(-1)),
        1.0 - (np.arange(n)[:, None] == np.arange(m)[None, :]),
        rng.random((n, m)),
        rng.integers(0, 3, (n, m)).astype(float),
    ]
    ratio = _ratios(rng, float(rng.choice([0.3, 1.0, 4.0])) * between)
    case = Case(prior, costs[rng.integers(4)], ratio, worst=kind.endswith("worst"))
    if kind.startswith("joint"):
        return replace(case, distance=between, minimum=float(rng.uniform(0.1, 0.95) * (between @ prior).min()))
    if kind.startswith("game"):
        return limited(case, between, float(rng.uniform(0.1, 0.9)))
    return case


def limited(case: Case, distance: Floats, share: float) -> Case:
    """The game between the least loss (share 0) and a blind report's (share 1), a little more where they agree."""
    blind = float((case.cost.max(axis=0) if case.worst else case.prior @ case.cost).min())
    least = case.optimum()
    room = max(share * (blind - least), 0.02)
    return replace(case, distance=distance, loss_bound=least + room)


def check(case: Case, result: interior.Result, optimum: float, *, tolerance: float = 1e-5) -> None:
    """Assert that a result is private, proved and within a relative tolerance of the optimum."""
    check_kept(case, result)
    rounding = 1e-7 * max(1.0, abs(optimum))
    assert result.lower_bound <= optimum + rounding
    assert optimum - rounding <= result.cost <= optimum + tolerance * max(abs(optimum), 1e-3)


def check_kept(case: Case, result: interior.Result) -> None:
    """Assert that a result keeps all that was asked, and that its multipliers prove its bound."""
    matrix = result.matrix
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    assert (matrix >= 0).all()
    used = matrix[:, matrix.any(axis=0)]
    assert (used > 0).all()
    for s, t in np.argwhere(np.isfinite(case.ratio)):
        limit = np.exp(case.ratio[s, t]) * used[t]
        assert (used[s] <= limit if case.ratio[s, t] == 0 else used[s] < limit).all()
    if case.minimum is not None:
        assert case.distortion(matrix) >= case.minimum - 1e-12
    if case.loss_bound is not None:
        assert case.loss(matrix) <= case.loss_bound + 1e-12
    assert result.cost == pytest.approx(case.value(matrix), abs=1e-10)
    if len(result.merged) == result.merged.max() + 1:
        bound, least = bound_of(case, result)
        assert bound == pytest.approx(result.lower_bound, abs=1e-9)
        assert least >= -1e-9


def bound_of(case: Case, result: interior.Result) -> tuple[float, float]:
    """The bound from the multipliers alone, and the least reduced cost; without merged secrets only."""
    p = result.multipliers
    n, m = len(case.prior), len(result.kept)
    own = case.cost[:, result.kept].T
    if case.worst:
        reduced = p.eta[None, :] * own
    else:
        reduced = (1.0 if case.loss_bound is None else p.eta[0]) * case.prior * own
    reduced = np.concatenate([reduced, np.zeros((m, len(p.mu) - n))], axis=1) - p.mu
    ratio = np.zeros((len(p.mu),) * 2)
    ratio[:n, :n] = np.where(np.isfinite(case.ratio), case.ratio, 0.0)
    np.add.at(reduced, (p.block, p.lower), -p.weight * np.exp(ratio[p.upper, p.lower]))
    np.add.at(reduced, (p.block, p.upper), p.weight)
    if p.guesses is not None and p.weighted is not None:
        reduced -= p.guesses @ p.weighted
        np.testing.assert_allclose(p.guesses.sum(axis=1), p.theta, rtol=1e-9, atol=1e-12)
    bound = p.mu.sum()
    if case.minimum is not None:
        bound += p.theta * case.minimum
    if case.loss_bound is not None:
        bound -= p.eta.sum() * case.loss_bound
    return float(bound), float(reduced.min())


def _ratios(rng: np.random.Generator, metric: Floats) -> Floats:
    """Log ratios: the metric, the metric with far pairs free, no metric at all, or a line with implied pairs."""
    n = len(metric)
    shape = rng.integers(4)
    if shape == 1:
        metric = np.where(metric > np.median(metric), np.inf, metric)
    elif shape == 2:
        metric = rng.random((n, n)) * 2 + 0.05
    elif shape == 3:
        metric = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) * 0.7
    np.fill_diagonal(metric, 0)
    return metric


def _optimum(case: Case) -> float:
    n, m = case.cost.shape
    # Columns: p(o|s) at s m + o, then the least error y_o of each observable, then the value.
    top = n * m + m
    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []
    right: list[float] = []

    def row(where: list[int], what: Floats | list[float], limit: float) -> None:
        rows.extend([len(right)] * len(where))
        columns.extend(where)
        entries.extend(what)
        right.append(limit)

    for s, t in np.argwhere(np.isfinite(case.ratio)):
        if s != t:
            scale = float(np.exp(-case.ratio[s, t] / 2))
            for o in range(m):
                row([s * m + o, t * m + o], [scale, -1 / scale], 0.0)
    if case.distance is not None:
        for o in range(m):
            for d in case.distance:
                row([*range(o, n * m, m), n * m + o], [*(-case.prior * d), 1.0], 0.0)
    if case.minimum is not None:
        row(list(range(n * m, top)), [-1.0] * m, -case.minimum)
    cost = case.cost if case.worst else case.prior[:, None] * case.cost
    whole = [list(range(s * m, s * m + m)) for s in range(n)] if case.worst else [list(range(n * m))]
    for where in whole:
        if case.loss_bound is None:
            row([*where, top], [*cost.ravel()[where], -1.0], 0.0)
        else:
            row(where, cost.ravel()[where], case.loss_bound)
    objective = np.zeros(top + 1)
    if case.loss_bound is None:
        objective[top] = 1.0
    else:
        objective[n * m : top] = -1.0
    attacked, valued = case.distance is not None, case.loss_bound is None
    found = linprog(
        objective,
        A_ub=sparse.csr_matrix((entries, (rows, columns)), shape=(len(right), top + 1)),
        b_ub=right,
        A_eq=sparse.hstack([sparse.kron(sparse.eye(n), np.ones((1, m))), sparse.csr_matrix((n, m + 1))]).tocsr(),
        b_eq=np.ones(n),
        bounds=[
            *[(0, None)] * (n * m),
            *[(None, None) if attacked else (0, 0)] * m,
            (None, None) if valued else (0, 0),
        ],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0, found.message
    return float(found.fun)
