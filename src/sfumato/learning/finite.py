"""Guarantee for a generator: its reports counted on a grid, the matrix repaired, and the integers proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism, MetricPrivacy, Space
from ..core.arrays import Floats, readonly
from ..errors import InputError, SolverError
from ..mechanisms import made_private
from ..proofs import EpsilonProof, prove_metric_privacy
from ..statistics import Sample, binomial
from .pairs import nearest

_CHUNK = 1 << 20  # places drawn from at a time


class Draws(Protocol):
    """Anything that reports places with noise."""

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:
        """Return one report for each place, array (k, dimensions)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counted:
    """The counted reports of a generator on finite spaces.

    Attributes:
        counts: Array (secrets, observables), how often each report came from the middle of
            each secret.
        lower: Array (secrets, observables), lower bounds of the probabilities.
        upper: Array (secrets, observables), upper bounds.
        failure: The probability that any of all these bounds is wrong.
        secrets: The secrets.
        observables: The observables.
    """

    counts: NDArray[np.int64]
    lower: Floats
    upper: Floats
    failure: float
    secrets: Space
    observables: Space

    def __repr__(self) -> str:
        n, m = self.counts.shape
        return (
            f"Counted: {int(self.counts[0].sum()):,} reports of each of {n} secrets among {m} observables, "
            f"probabilities within {self.reach:.2g} with confidence {1 - self.failure:.6g}"
        )

    @property
    def reach(self) -> float:
        """The width of the widest interval."""
        return float((self.upper - self.lower).max())

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of the observed shares. This mechanism is not the generator itself."""
        return Mechanism(self.counts / self.counts.sum(axis=1, keepdims=True), self.secrets, self.observables)

    @property
    def sample(self) -> Sample:
        """The counts as a sample, for the lower bounds of `sfumato.statistics`."""
        return Sample(self.counts, self.secrets, self.observables)


def counted(
    generator: Draws,
    secrets: Space,
    observables: Space | None = None,
    *,
    draws: int = 10_000,
    failure: float = 0.05,
    seed: int | None = None,
) -> Counted:
    """Count many reports of the middle of each secret, each moved to the nearest observable.

    Args:
        generator: What draws reports, such as a `LearnedGenerator`.
        secrets: Cells with coordinates in the generator's plane.
        observables: Cells for the reports; by default the secrets.
        draws: How many reports of each secret.
        failure: The probability that any interval is wrong; shared equally among all.
        seed: For studies: makes the draws the same each time.

    Raises:
        InputError: If the secrets have no coordinates, or there is no draw.

    Source:
        Intervals: Clopper and Pearson, Biometrika 26, 1934.
    """
    columns = secrets if observables is None else observables
    places = secrets.coordinates
    if places is None:
        raise InputError(f"{secrets!r} has no coordinates.", "pass cells in the plane of the generator.")
    secrets.check_straight("reports of a plane")
    if draws < 1:
        raise InputError(f"{draws} draws are too few.", "use thousands.")
    binomial.check_failure(failure)
    counts = np.zeros((len(secrets), len(columns)), dtype=np.int64)
    seeds = np.random.SeedSequence(seed)
    whole = max(1, _CHUNK // len(places))
    done = 0
    while done < draws:
        times = min(whole, draws - done)
        rows = np.tile(np.arange(len(places)), times)
        (child,) = seeds.spawn(1)
        reports = generator.draw(places[rows], seed=int(child.generate_state(1)[0]))
        np.add.at(counts, (rows, nearest(reports, columns)), 1)
        done += times
    level = failure / (2 * counts.size)
    trials = np.full_like(counts, draws)
    return Counted(
        readonly(counts),
        readonly(binomial.lower(counts, trials, level)),
        readonly(binomial.upper(counts, trials, level)),
        failure,
        secrets,
        columns,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Guaranteed:
    """A mechanism that was learned, and whose privacy was proved.

    Attributes:
        mechanism: The mechanism.
        proof: What is proved of its integers.
        constant_share: How much of a constant mechanism had to be mixed in.
        moved: How far the repair moved a row, at most, in total variation.
    """

    mechanism: Mechanism
    proof: EpsilonProof
    constant_share: float
    moved: float


def with_guarantee(learned: Mechanism, guarantee: MetricPrivacy) -> Guaranteed:
    """Return the mechanism repaired to a wanted epsilon, proved on its integers.

    Nothing that was learned or counted enters the proof: whatever the network did, the
    promise is that of the integers that are sampled.

    Args:
        learned: A learned mechanism, such as that of a `LearnedTable` or of `Counted`.
        guarantee: The promise wanted; its metric must be on the same secrets.

    Raises:
        InputError: If the metric does not fit, or breaks the triangle inequality.
        SolverError: If the repaired mechanism cannot be proved.
    """
    metric = guarantee.metric
    if len(metric) != learned.shape[0]:
        raise InputError(
            f"the metric is on {len(metric)} values, but the mechanism has {learned.shape[0]} secrets.",
            "use a metric on the mechanism's secrets.",
        )
    if not metric.triangle:
        raise InputError(
            "the metric breaks the triangle inequality.", "use metric.closure(), which promises the same or more."
        )
    # A product of zero and infinity asks nothing of two secrets that are infinitely far apart.
    exponents = np.where(np.isinf(metric.array), np.inf, guarantee.epsilon * metric.array)
    matrix, share = made_private(learned.matrix, exponents)
    mechanism = Mechanism(matrix, learned.secrets, learned.observables)
    proof = prove_metric_privacy(mechanism, guarantee)
    if not proof.holds:
        raise SolverError(
            f"the repaired mechanism keeps only epsilon {proof.upper:.6g}, not {proof.claimed:.6g}.",
            "ask for a larger epsilon.",
        )
    moved = float(np.abs(mechanism.matrix - learned.matrix).sum(axis=1).max() / 2)
    return Guaranteed(mechanism, proof, share, moved)
