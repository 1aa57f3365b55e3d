"""A slow, plain reference of optimal design: every row written out, solved by scipy's linprog."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from sfumato.core import DistortionPrivacy, Guarantee, Loss, Metric, MetricPrivacy, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.metric import shortest_paths
from sfumato.proofs import Multipliers


@dataclass(frozen=True)
class Request:
    """The question: expected or worst-case loss to be least, or (with ``max_loss``) distortion to be most."""

    prior: Floats
    loss: Floats
    epsilon: float = 1.0
    metrics: tuple[Floats, ...] = ()
    distance: Floats | None = None
    minimum: float = 0.0
    worst: bool = False
    max_loss: float | None = None

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.loss.shape
        return n, m

    @property
    def space(self) -> Space:
        return Space([f"s{i}" for i in range(len(self.prior))])

    @property
    def observables(self) -> Space:
        return Space([f"o{i}" for i in range(self.loss.shape[1])])

    @property
    def belief(self) -> Prior:
        return Prior(self.space, self.prior)

    @property
    def guarantees(self) -> list[Guarantee]:
        found: list[Guarantee] = [MetricPrivacy(self.epsilon, Metric(d)) for d in self.metrics]
        if self.distance is not None and self.max_loss is None:
            found.append(DistortionPrivacy(self.minimum, Loss(self.distance)))
        return found

    @property
    def exponents(self) -> Floats:
        """The strictest exponent of each pair, row by row as given: no shortest paths."""
        n = len(self.prior)
        found: Floats = np.minimum.reduce([np.full((n, n), np.inf), *(self.epsilon * d for d in self.metrics)])
        return found


@dataclass(frozen=True)
class Optimum:
    value: float
    matrix: Floats
    multipliers: Multipliers


def solved(request: Request) -> Optimum | None:
    """The optimum, or None if there is none."""
    prior, loss, (n, m) = request.prior, request.loss, request.shape
    attacked = request.distance is not None
    columns = n * m + (m if attacked else 0) + (1 if request.worst else 0)
    rows: list[Floats] = []
    limits: list[float] = []

    def row(entries: list[tuple[int, float]], limit: float) -> int:
        found = np.zeros(columns)
        for column, value in entries:
            found[column] += value
        rows.append(found)
        limits.append(limit)
        return len(rows) - 1

    def p(s: int, o: int) -> int:
        return s * m + o

    exponents = request.exponents
    triples = [
        (s, t, o) for s in range(n) for t in range(n) for o in range(m) if s != t and np.isfinite(exponents[s, t])
    ]
    small = np.exp(-exponents)
    local = [row([(p(s, o), small[s, t]), (p(t, o), -1.0)], 0.0) for s, t, o in triples]
    cost = np.zeros(columns)
    whole = [(p(s, o), prior[s] * loss[s, o]) for s in range(n) for o in range(m)]
    guesses: list[list[int]] = []
    if request.distance is not None:
        guesses = [
            [row([(n * m + o, 1.0), *((p(s, o), -prior[s] * d[s]) for s in range(n))], 0.0) for o in range(m)]
            for d in request.distance
        ]
    budget = worst = None
    if request.max_loss is not None:
        budget = row(whole, request.max_loss)
        cost[n * m : n * m + m] = -1.0
    else:
        if attacked:
            row([(n * m + o, -1.0) for o in range(m)], -request.minimum)
        if request.worst:
            worst = [row([*((p(s, o), loss[s, o]) for o in range(m)), (columns - 1, -1.0)], 0.0) for s in range(n)]
            cost[-1] = 1.0
        else:
            for column, value in whole:
                cost[column] = value
    sums = np.zeros((n, columns))
    for s in range(n):
        sums[s, s * m : (s + 1) * m] = 1.0
    found = linprog(
        cost,
        A_ub=np.array(rows) if rows else None,
        b_ub=limits or None,
        A_eq=sums,
        b_eq=np.ones(n),
        bounds=[(0, None)] * columns,
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status == 2:
        return None
    assert found.status == 0, found.message
    prices = -found.ineqlin.marginals if rows else np.zeros(0)
    multipliers = Multipliers(
        np.array([t[0] for t in triples], dtype=np.intp),
        np.array([t[1] for t in triples], dtype=np.intp),
        np.array([t[2] for t in triples], dtype=np.intp),
        np.array([prices[k] * small[s, t] for k, (s, t, _) in zip(local, triples, strict=True)]),
        np.array([exponents[s, t] for s, t, _ in triples]),
        prices[np.array(guesses)] if guesses else None,
        None if worst is None else prices[worst],
        0.0 if budget is None else float(prices[budget]),
    )
    value = -found.fun if request.max_loss is not None else found.fun
    return Optimum(float(value), found.x[: n * m].reshape(n, m), multipliers)


def adversary_value(prior: Floats, loss: Floats, distance: Floats, max_loss: float) -> float:
    """The adversary's side of the zero-sum game (Shokri et al., CCS 2012), as a program of its own.

    Minimise sum of prior(s) y(s) + max_loss z over y free, attacks q(g|o) and z >= 0, with
    y(s) >= sum over g of q(g|o) d(g, s) - z l(s, o) for all s and o.
    """
    n, m = loss.shape
    g = len(distance)
    cost = np.concatenate([prior, np.zeros(g * m), [max_loss]])
    rows = []
    for s in range(n):
        for o in range(m):
            entries = np.zeros(n + g * m + 1)
            entries[s] = -1.0
            entries[n + np.arange(g) * m + o] = distance[:, s]
            entries[-1] = -loss[s, o]
            rows.append(entries)
    strategies = np.zeros((m, n + g * m + 1))
    for o in range(m):
        strategies[o, n + np.arange(g) * m + o] = 1.0
    found = linprog(
        cost,
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=strategies,
        b_eq=np.ones(m),
        bounds=[(None, None)] * n + [(0, None)] * (g * m + 1),
        method="highs-ds",
    )
    assert found.status == 0, found.message
    return float(found.fun)


KINDS = ("metric", "two metrics", "distortion", "joint", "worst", "worst joint", "dual", "dual metric")


@st.composite
def requests(draw, kinds=KINDS, largest=5):
    """Random tiny requests, with a secret of prior zero, of every kind of program."""
    n, m = draw(st.integers(2, largest)), draw(st.integers(2, largest))
    kind = draw(st.sampled_from(kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    prior = rng.dirichlet(np.ones(n) * 0.7)
    if n > 2 and draw(st.booleans()):
        prior[rng.integers(n)] = 0.0
    prior /= prior.sum()
    shape = draw(st.sampled_from(["hamming", "random", "whole numbers"]))
    if shape == "hamming":
        loss = (np.arange(n)[:, None] != np.arange(m)[None]).astype(float)
    else:
        loss = rng.exponential(size=(n, m)) * 3 if shape == "random" else rng.integers(0, 5, (n, m)).astype(float)
    metrics: tuple[Floats, ...] = ()
    if kind not in ("distortion", "dual"):
        metrics = tuple(metric(rng, n, draw) for _ in range(2 if kind == "two metrics" else 1))
    request = Request(prior, loss, draw(st.sampled_from([0.3, 1.0, 1.7])), metrics, worst="worst" in kind)
    if kind in ("distortion", "joint", "worst joint", "dual", "dual metric"):
        guesses = rng.integers(1, 5)
        distance = metric(rng, n, draw, finite=True) if draw(st.booleans()) else rng.random((guesses, n))
        request = replace(request, distance=distance)
    share = draw(st.sampled_from([0.1, 0.5, 0.95]))
    if "dual" in kind:
        least = solved(replace(request, distance=None))
        assert least is not None
        most = float((prior @ loss).min())
        return replace(request, max_loss=least.value + share * (most - least.value) + 1e-3)
    if request.distance is not None:
        request = replace(request, minimum=share * float((request.distance @ prior).min()))
    return request


def metric(rng: np.random.Generator, n: int, draw, *, finite: bool = False) -> Floats:
    """A random metric by shortest paths, some with pairs at distance zero or infinity."""
    array = np.triu(rng.uniform(0.2, 3.0, (n, n)), 1)
    oddity = draw(st.sampled_from(["none", "none", "zero", "infinite", "whole"]))
    if oddity == "whole":
        array = np.triu(rng.integers(1, 4, (n, n)).astype(float), 1)
    elif oddity == "zero" and n > 2:
        array[0, 1] = 0.0
    elif oddity == "infinite" and not finite:
        array[0, 1:] = np.inf
    closed = shortest_paths(array + array.T)
    return np.minimum(closed, closed.T)
