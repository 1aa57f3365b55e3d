"""Every notion by its definition, over all sets of reports: no formula of the package, for small channels only."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sfumato.core import Metric, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.privacy import Events, Family, Priors, Relation

GRAIN = 64
"""Probabilities are multiples of one over this, so that sums of them are exact."""


@dataclass(frozen=True)
class Setting:
    """Subject of the notions: four secrets, some of them related, some impossible a priori."""

    prior: Floats
    values: NDArray[np.bool_]
    related: NDArray[np.bool_]
    distances: Floats
    rivals: Floats
    settings: NDArray[np.intp]
    delta: float = 1 / 16
    epsilon: float = 0.5
    order: float = 3.0

    @property
    def space(self):
        return Space(range(len(self.prior)))

    @property
    def priors(self):
        return Priors.of(Prior(self.space, self.prior))

    @property
    def events(self):
        return Events(self.values, attribute=True)

    @property
    def relation(self):
        return Relation(self.related)

    @property
    def metric(self):
        return Metric(self.distances)

    @property
    def family(self):
        return Family({"first": self.rivals[0], "second": self.rivals[1]})


SETTING = Setting(
    prior=np.array([8, 4, 4, 0]) / 16,
    values=np.array([[True, False, True, False], [False, True, False, True]]),
    related=np.abs(np.subtract.outer(np.arange(4), np.arange(4))) == 1,
    distances=np.abs(np.subtract.outer([0.0, 1, 3, 7], [0.0, 1, 3, 7])),
    rivals=np.array([[8, 8, 0, 0], [4, 0, 8, 4]]) / 16,
    settings=np.array([[0, 0, 2, 2], [1, 1, 3, 3]]),
)


def channels(rng, count, secrets=4, reports=4):
    """Random channels: zeros here and there, in all rows alike, and in none; equal rows; a single column."""
    for number in range(count):
        width = int(rng.integers(1, reports + 1))
        held = rng.random((secrets, width)) < rng.choice([0.4, 0.7, 1.0])
        match number % 4:
            case 0:  # rows share their zeros, so that epsilons are finite
                held[:] = held[0]
            case 1:  # so do the first two rows
                held[1] = held[0]
        held[~held.any(axis=1), 0] = True
        rows = np.array([composition(rng, mask) for mask in held])
        if number % 5 == 0:
            rows[-1] = rows[0]
        yield rows


def composition(rng, mask):
    """A distribution in multiples of 1/64 that is positive exactly on a mask."""
    counts = np.zeros(len(mask))
    k = int(mask.sum())
    cuts = np.sort(rng.choice(np.arange(1, GRAIN), k - 1, replace=False))
    counts[mask] = np.diff([0, *cuts, GRAIN])
    return counts / GRAIN


@cache
def sets(size):
    """All non-empty sets of columns, array (columns, sets)."""
    numbers = np.arange(1, 2**size)
    return ((numbers[None, :] >> np.arange(size)[:, None]) % 2).astype(float)


def logs(a, b):
    """ln(a / b) of masses of at least 0; where both are 0 nothing is asked, which is -inf."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(a) - np.log(b)
    return np.where(np.isnan(found), -np.inf, found)


def epsilon(p, q, delta=0.0):
    """The least epsilon of at least 0 with p[S] <= e**epsilon q[S] + delta for every set S."""
    every = sets(len(p))
    return max(0.0, float(logs(np.maximum(p @ every - delta, 0.0), q @ every).max()))


def excess(p, q, epsilon):
    """The largest p[S] - e**epsilon q[S] over all sets."""
    every = sets(len(p))
    return max(0.0, float((p @ every - math.exp(epsilon) * (q @ every)).max()))


def rare(p, q, delta):
    """The least epsilon at which reports beyond the factor, in either order, have probability at most delta."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.nan_to_num(np.maximum(p / q, q / p), nan=1.0, posinf=np.inf)
    for factor in sorted({1.0, *factors.tolist()}):
        bad = factors > factor * (1 + 1e-12)
        if max(p[bad].sum(), q[bad].sum()) <= delta:
            return math.log(factor)
    raise AssertionError


def spread(p, q):
    """The range of the privacy loss."""
    a, b = p[:, None] * q[None, :], p[None, :] * q[:, None]
    return max(0.0, float(logs(a, b).max()))


def normal_shift(p, q):
    """The least mu so that no test between p and q, a set of reports, errs less than between normals."""
    every = sets(len(p))
    false, missed = p @ every, q @ (1 - every)
    with np.errstate(invalid="ignore"):
        shifts = -ndtri(false) - ndtri(missed)
    return max(0.0, float(np.nan_to_num(shifts, nan=0.0, posinf=np.inf, neginf=-np.inf).max()))


def f_divergence(of):
    """The sum over reports of a function of both probabilities, infinite as the function says."""
    return lambda p, q: math.fsum(of(float(x), float(y)) for x, y in zip(p, q, strict=True) if x > 0 or y > 0)


kl = f_divergence(lambda x, y: 0.0 if x == 0 else math.inf if y == 0 else x * math.log(x / y))
variation = f_divergence(lambda x, y: abs(x - y) / 2)
chi_squared = f_divergence(lambda x, y: math.inf if y == 0 else (x - y) ** 2 / y)
hellinger = f_divergence(lambda x, y: (math.sqrt(x) - math.sqrt(y)) ** 2 / 2)


def renyi(order):
    """The Rényi divergence of a finite order above 1."""

    def of(x, y):
        return 0.0 if x == 0 else math.inf if y == 0 else x * (x / y) ** (order - 1)

    total = f_divergence(of)
    return lambda p, q: max(0.0, math.log(total(p, q)) / (order - 1))


def concentrated(p, q):
    """The largest Rényi divergence over its order, over many orders: from below, close to the truth."""
    if ((p > 0) & (q == 0)).any():
        return math.inf
    kept = p > 0
    losses = np.log(p[kept] / q[kept])
    orders = 1 + np.geomspace(1e-5, 1e5, 1200)
    exponents = (orders[:, None] - 1) * losses
    top = exponents.max(axis=1)
    divergences = (top + np.log((p[kept] * np.exp(exponents - top[:, None])).sum(axis=1))) / (orders - 1)
    return max(kl(p, q), float((divergences / orders).max()))


def over(pairs, of):
    """The largest of a function over ordered pairs of distributions."""
    return max([0.0] + [of(p, q) for p, q in pairs])


def related(rows, array=None):
    """The rows of all ordered pairs, or of those of a relation."""
    n = len(rows)
    kept = ~np.eye(n, dtype=bool) if array is None else array
    return [(rows[s], rows[t]) for s, t in np.argwhere(kept)]


def conditioned(rows, prior, masks):
    """The reports given each fact that the prior holds possible."""
    return [prior[mask] @ rows[mask] / prior[mask].sum() for mask in masks if prior[mask].sum() > 0]


def beliefs(rows, prior, masks):
    """For each fact that is in doubt: its probability, and after each set of reports; shapes () and (sets,)."""
    masses = (prior[:, None] * rows) @ sets(rows.shape[1])
    total = masses.sum(axis=0)
    for mask in masks:
        if 0 < prior[mask].sum() < 1:
            yield float(prior[mask].sum()), masses[mask].sum(axis=0)[total > 0] / total[total > 0]


def largest(values):
    return max([0.0] + [float(each.max()) for each in values])


def positive(p, after):
    return np.maximum(logs(after, p), logs(1 - p, 1 - after))


def negative(p, after):
    return np.maximum(logs(p, after), logs(1 - after, 1 - p))


def semantic(rows, maps):
    """The largest distance of beliefs over all sets of reports and pairs of secrets."""
    every, best = sets(rows.shape[1]), 0.0
    masses = rows @ every
    for images in maps:
        kept = np.flatnonzero(images >= 0)
        a, b = masses[kept], masses[images[kept]]
        up, down = a[:, None] * b[None, :], b[:, None] * a[None, :]
        best = max(best, float(logs(up, down).max()))
    return math.tanh(best / 4)


def defaults(rows):
    """The maps to each default in turn."""
    return np.repeat(np.arange(len(rows))[:, None], len(rows), axis=1)


def imagined(rows, at):
    """The reports after each setting of the record."""
    return [np.bincount(images, weights=at.prior, minlength=len(rows)) @ rows for images in at.settings]


def inferred(rows, at):
    """The largest change of a belief in a value of the record if the record was set before the report."""
    values = [mask for mask in at.settings == np.arange(len(rows)) if mask.any()]
    best = 0.0
    for images in at.settings:
        for true, after in zip((at.prior[:, None] * rows).T, (at.prior[:, None] * rows[images]).T, strict=True):
            if (true.sum() > 0) != (after.sum() > 0):
                return math.inf
            if true.sum() > 0:
                one, other = (
                    np.array([joint[mask].sum() / joint.sum() for mask in values]) for joint in (true, after)
                )
                best = max(best, float(logs(one, other).max()), float(logs(other, one).max()))
    return best


Value = Callable[[Floats, Setting], float]
ASKED: dict[str, Value] = {
    "differential-privacy": lambda C, at: over(related(C, at.related), epsilon),
    "differential-privacy of all pairs": lambda C, at: over(related(C), epsilon),
    "differential-privacy at delta": lambda C, at: over(
        related(C, at.related), lambda p, q: epsilon(p, q, at.delta)
    ),
    "delta of differential-privacy": lambda C, at: over(
        related(C, at.related), lambda p, q: excess(p, q, at.epsilon)
    ),
    "probabilistic-differential-privacy": lambda C, at: over(
        related(C, at.related), lambda p, q: rare(p, q, at.delta)
    ),
    "metric-privacy": lambda C, at: per_unit(C, at, epsilon),
    "metric-privacy at delta": lambda C, at: per_unit(C, at, lambda p, q: epsilon(p, q, at.delta)),
    "indistinguishable": lambda C, at: over(related(C, at.related), epsilon),
    "bounded-range": lambda C, at: over(related(C, at.related), spread),
    "gaussian": lambda C, at: over(related(C, at.related), normal_shift),
    "kl-privacy": lambda C, at: over(related(C, at.related), kl),
    "renyi-privacy": lambda C, at: over(related(C, at.related), renyi(at.order)),
    "concentrated-privacy": lambda C, at: over(related(C, at.related), concentrated),
    "total variation": lambda C, at: over(related(C, at.related), variation),
    "chi-square divergence": lambda C, at: over(related(C, at.related), chi_squared),
    "squared Hellinger distance": lambda C, at: over(related(C, at.related), hellinger),
    "divergence-metric-privacy": lambda C, at: per_unit(C, at, variation),
    "positive-membership": lambda C, at: largest(positive(*b) for b in beliefs(C, at.prior, at.values)),
    "negative-membership": lambda C, at: largest(negative(*b) for b in beliefs(C, at.prior, at.values)),
    "membership": lambda C, at: largest(
        np.maximum(positive(*b), negative(*b)) for b in beliefs(C, at.prior, at.values)
    ),
    "membership of every prior": lambda C, _: over(related(C), epsilon),
    "event-ratio": lambda C, at: over(doubts(C, at, at.values), epsilon),
    "event-ratio of secrets": lambda C, at: over(doubts(C, at, np.eye(4, dtype=bool)), epsilon),
    "fall of event-ratio": lambda C, at: over([(q, p) for p, q in doubts(C, at, np.eye(4, dtype=bool))], epsilon),
    "adversarial": lambda C, at: largest(logs(after, p) for p, after in beliefs(C, at.prior, at.values)),
    "adversarial at delta": lambda C, at: largest(
        logs(np.maximum(after - at.delta, 0.0), p) for p, after in beliefs(C, at.prior, at.values)
    ),
    "delta of adversarial": lambda C, at: largest(
        after - math.exp(at.epsilon) * p for p, after in beliefs(C, at.prior, at.values)
    ),
    "noiseless": lambda C, at: over(related(np.array(conditioned(C, at.prior, at.values))), epsilon),
    "inferential": lambda C, at: over(related(np.array(conditioned(C, at.prior, at.values))), epsilon),
    "identity": lambda C, at: over(related(np.array(conditioned(C, at.prior, at.values))), epsilon),
    "aposteriori-noiseless": lambda C, at: largest(
        np.maximum(logs(after, p), logs(p, after)) for p, after in beliefs(C, at.prior, at.values)
    ),
    "information": lambda C, at: largest(
        np.maximum(logs(after, p), logs(p, after)) for p, after in beliefs(C, at.prior, np.eye(4, dtype=bool))
    ),
    "pufferfish": lambda C, at: over(related(np.array(conditioned(C, at.prior, at.values))), epsilon),
    "causal": lambda C, at: over(related(np.array(imagined(C, at))), epsilon),
    "inference-based-causal": lambda C, at: inferred(C, at),
    "semantic": lambda C, _: semantic(C, defaults(C)),
    "semantic of one default": lambda C, _: semantic(C, defaults(C)[:1]),
    "semantic of an exchange": lambda C, _: semantic(C, np.array([[1, 0, 3, 2]])),
    "distribution-privacy": lambda C, at: over(related(at.rivals @ C), epsilon),
    "distribution-privacy at delta": lambda C, at: over(
        related(at.rivals @ C), lambda p, q: epsilon(p, q, at.delta)
    ),
    "probabilistic-distribution-privacy": lambda C, at: over(
        related(at.rivals @ C), lambda p, q: rare(p, q, at.delta)
    ),
    "divergence-distribution-privacy": lambda C, at: over(related(at.rivals @ C), variation),
}
"""The least value of each notion, by name."""


def doubts(rows, at, masks):
    """The reports given each fact that is in doubt, and given its opposite."""
    kept = [mask for mask in masks if 0 < at.prior[mask].sum() < 1]
    return [tuple(conditioned(rows, at.prior, [mask, ~mask])) for mask in kept]


def per_unit(rows, at, of):
    pairs = np.argwhere(at.distances > 0)
    return max(of(rows[s], rows[t]) / at.distances[s, t] for s, t in pairs)


def guesses(rows, prior, losses):
    """The least expected loss over all ways to guess from a report, each tried."""
    joint = prior[:, None] * rows
    cost = losses @ joint
    choices = np.indices((len(cost),) * rows.shape[1]).reshape(rows.shape[1], -1)
    return float(sum(cost[choice, o] for o, choice in enumerate(choices)).min())


def information_bits(rows, prior):
    """The mutual information of secret and report."""
    total = prior @ rows
    return math.fsum(
        prior[s] * rows[s, o] * math.log2(rows[s, o] / total[o]) for s, o in np.argwhere(rows > 0) if prior[s] > 0
    )
