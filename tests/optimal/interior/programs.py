"""Programs for the structured method, the same written out in full for HiGHS, and what any answer must keep."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from sfumato.core import Loss, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.naming import DISTORTION, EXPECTED, WORST_CASE
from sfumato.optimal import Control, Problem, Progress
from sfumato.optimal.interior import loop
from sfumato.optimal.reduction import Reduction, reduce

LINE = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
HAMMING = 1 - np.eye(5)
EVEN = np.full(5, 0.2)
KINDS = ("plain", "worst", "joint", "joint worst", "game", "game worst")


@dataclass(frozen=True)
class Case:
    """A design problem by its numbers; in the game the loss that is limited may be the worst secret's."""

    prior: Floats
    cost: Floats
    ratio: Floats
    distance: Floats | None = None
    minimum: float | None = None
    worst: bool = False
    max_loss: float | None = None

    @property
    def problem(self) -> Problem:
        n, m = self.cost.shape
        game = self.max_loss is not None and not self.worst
        return Problem(
            prior=Prior(Space(range(n)), self.prior),
            observables=Space(range(m)),
            loss=Loss(self.cost),
            guarantees=(),
            objective=DISTORTION if game else WORST_CASE if self.worst else EXPECTED,
            distance=None if self.distance is None else Loss(self.distance),
            minimum=self.minimum or 0.0,
            max_loss=np.inf if self.max_loss is None else self.max_loss,
            exponents=self.ratio,
        )

    @property
    def reduced(self) -> Reduction:
        found = reduce(self.problem)
        if self.worst and self.max_loss is not None:
            # The method can limit the worst secret's loss too, which no problem asks for.
            return replace(found, minimum=None, max_loss=self.max_loss)
        return found

    def solve(
        self,
        *,
        gap: float = 1e-6,
        time_limit: float = np.inf,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[Progress], None] | None = None,
        warm: Solved | None = None,
        symmetry: bool = True,
        **options,
    ) -> Solved:
        """Reduce, solve and lift."""
        reduced = self.reduced
        control = Control(gap, time.monotonic() + time_limit, stop, progress)
        earlier = None if warm is None else warm.result
        result = loop.solve(reduced, control, warm=earlier, with_symmetry=symmetry, **options)
        return Solved(reduced, result)

    def distortion(self, matrix: Floats) -> float:
        assert self.distance is not None
        return float((self.distance @ (self.prior[:, None] * matrix)).min(axis=0).sum())

    def loss(self, matrix: Floats) -> float:
        own = (matrix * self.cost).sum(axis=1)
        return float(own.max() if self.worst else self.prior @ own)

    def value(self, matrix: Floats) -> float:
        return self.loss(matrix) if self.max_loss is None else -self.distortion(matrix)

    def optimum(self) -> float:
        """The least value, by HiGHS with every row written out."""
        return _optimum(self)


@dataclass(frozen=True)
class Solved:
    """Outcome of the method, and the whole mechanism."""

    reduced: Reduction
    result: loop.Result

    @property
    def matrix(self) -> Floats:
        return self.reduced.lift(self.result.matrix)

    @property
    def kept(self):
        return self.reduced.observables

    def __getattr__(self, name: str):
        return getattr(self.result, name)


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
    return replace(case, distance=distance, max_loss=least + room)


def check(case: Case, result: Solved, optimum: float, *, tolerance: float = 1e-5) -> None:
    """Assert that a result is private, proved and within a relative tolerance of the optimum."""
    check_kept(case, result)
    rounding = 1e-7 * max(1.0, abs(optimum))
    assert result.lower_bound <= optimum + rounding
    assert optimum - rounding <= result.cost <= optimum + tolerance * max(abs(optimum), 1e-3)


def check_kept(case: Case, result: Solved) -> None:
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
    if case.max_loss is not None:
        assert case.loss(matrix) <= case.max_loss + 1e-12
    assert result.cost == pytest.approx(case.value(matrix), abs=1e-10)
    assert bound_of(case, result) == pytest.approx(result.lower_bound, abs=1e-9)


def bound_of(case: Case, result: Solved) -> float:
    """The bound from the multipliers alone: what they leave of each secret's costs at its best report."""
    reduced, p = result.reduced, result.prices
    if case.worst:
        weights = p.worst if case.max_loss is not None else p.worst / p.worst.sum()
        left = np.zeros(reduced.shape)
        np.add.at(left, reduced.members, weights[:, None] * case.cost[:, reduced.observables])
        price = float(weights.sum())
    else:
        price = p.loss
        left = (1.0 if case.max_loss is None else price) * reduced.costs
    left = left.copy()
    assert (p.local >= 0).all()
    np.add.at(left, (p.rivals, p.observables), -p.local * np.exp(reduced.exponents[p.secrets, p.rivals]))
    np.add.at(left, (p.secrets, p.observables), p.local)
    theta = 0.0
    if p.guesses is not None and reduced.weighted is not None:
        left -= reduced.weighted.T @ p.guesses
        sums = p.guesses.sum(axis=0)
        theta = float(sums.mean())
        np.testing.assert_allclose(sums, theta, rtol=1e-9, atol=1e-12)
    bound = float(left.min(axis=1).sum())
    if case.minimum is not None:
        bound += theta * case.minimum
    if case.max_loss is not None:
        bound -= price * case.max_loss
    return bound


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
        if case.max_loss is None:
            row([*where, top], [*cost.ravel()[where], -1.0], 0.0)
        else:
            row(where, cost.ravel()[where], case.max_loss)
    objective = np.zeros(top + 1)
    if case.max_loss is None:
        objective[top] = 1.0
    else:
        objective[n * m : top] = -1.0
    attacked, valued = case.distance is not None, case.max_loss is None
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
