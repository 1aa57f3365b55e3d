"""Learned post-processing of a proved mechanism, and guarantees of learned mechanisms."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import AnyLoss, Mechanism, MetricPrivacy, Prior, Space, as_loss
from ..core.arrays import Floats, floats, readonly
from ..errors import InputError, SolverError
from ..mechanisms import repair_to_private
from ..proofs import EpsilonProof, prove_metric_privacy
from ..statistics import Sample, binomial
from .pairs import nearest
from .table import SMOOTH, LearnedTable, learn_table
from .targets import Target
from .training import Progress, Stop

_CHUNK = 1 << 20  # places drawn from at a time
_WITHIN: Final = 1 - 1e-7  # of the largest loss: room for the rounding of a mixture
_ELSEWHERE: Final = 1e-6  # of each row of the start: a softmax never leaves 0


class Draws(Protocol):
    """Anything that reports places with noise."""

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:
        """Return one report for each place, array (k, dimensions)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReportCounts:
    """The counted reports of a generator on finite spaces.

    Attributes:
        counts: Array (secrets, observables), the counts of reports from the middle of each secret.
        lower: Array (secrets, observables), lower bounds of the probabilities.
        failure: The probability that any of all these bounds is wrong.
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
        """The mechanism of the observed shares, which is not the generator itself."""
        return Mechanism(self.counts / self.counts.sum(axis=1, keepdims=True), self.secrets, self.observables)

    @property
    def sample(self) -> Sample:
        """The counts as a sample, for the lower bounds of `sfumato.statistics`."""
        return Sample(self.counts, self.secrets, self.observables)


def count_reports(
    generator: Draws,
    secrets: Space,
    observables: Space | None = None,
    *,
    draws: int = 10_000,
    failure: float = 0.05,
    seed: int | None = None,
) -> ReportCounts:
    """Count many reports of the middle of each secret, each moved to the nearest observable.

    Raises `InputError` if the secrets have no coordinates, or there is no draw.

    Args:
        generator: A generator of reports, such as a `LearnedGenerator`.
        secrets: Cells with coordinates in the generator's plane.
        observables: Cells for the reports; by default the secrets.
        draws: The number of reports of each secret.
        failure: The probability that any interval is wrong; shared equally among all.
        seed: For studies: makes the draws the same each time.

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
    for start in range(0, draws, whole):
        rows = np.tile(np.arange(len(places)), min(whole, draws - start))
        (child,) = seeds.spawn(1)
        reports = generator.draw(places[rows], seed=int(child.generate_state(1)[0]))
        np.add.at(counts, (rows, nearest(reports, columns)), 1)
    level = failure / (2 * counts.size)
    trials = np.full_like(counts, draws)
    lower, upper = (readonly(bound(counts, trials, level)) for bound in (binomial.lower, binomial.upper))
    return ReportCounts(readonly(counts), lower, upper, failure, secrets, columns)


@dataclass(frozen=True, slots=True, eq=False)
class RepairedMechanism:
    """A learned mechanism with a proved guarantee.

    The proof is on its integers; ``constant_share`` of a constant mechanism had to be mixed in, and the repair
    moved a row by at most ``shift`` in total variation.
    """

    mechanism: Mechanism
    proof: EpsilonProof
    constant_share: float
    shift: float


def with_guarantee(learned: Mechanism, guarantee: MetricPrivacy) -> RepairedMechanism:
    """Return the mechanism repaired to a guarantee for its secrets, proved on its integers.

    The proof is of the integers that are sampled, and depends on nothing that was learned or counted. Raises
    `InputError` if the metric does not fit, or breaks the triangle inequality. Raises `SolverError` if the
    repaired mechanism cannot be proved.
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
    matrix, share = repair_to_private(learned.matrix, exponents)
    mechanism = Mechanism(matrix, learned.secrets, learned.observables)
    proof = prove_metric_privacy(mechanism, guarantee)
    if not proof.holds:
        raise SolverError(
            f"the repaired mechanism keeps only epsilon {proof.upper:.6g}, not {proof.claimed:.6g}.",
            "ask for a larger epsilon.",
        )
    shift = float(np.abs(mechanism.matrix - learned.matrix).sum(axis=1).max() / 2)
    return RepairedMechanism(mechanism, proof, share, shift)


def learn_behind(
    joint: ArrayLike,
    certified: Mechanism,
    loss: AnyLoss,
    max_loss: float,
    *,
    target: Target = SMOOTH,
    records: int | None = None,
    rounds: int = 120,
    seed: int | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> LearnedTable:
    """Train a mechanism that follows another one, which is within the limit already; return both as one.

    The learned matrix maps each report to another. It sees no secret, so the two together have every guarantee of
    the mechanism, each bound of a likelihood ratio included (up to the rounding of their product: `with_guarantee`
    repairs and proves it). Training starts from the mechanism as it is and spends the rest of the limit.

    ``certified`` is the mechanism, from useful values to reports that are useful values too, ``joint`` is P(x, w),
    array (labels, useful values), with sum one, and ``loss`` is l(w, z), array (useful values, reports). All other
    arguments are those of `learn_table`. Raises `InputError` if sizes do not fit. Raises `InfeasibleError` if the
    mechanism loses more than the limit under every post-processing. Raises `MissingExtraError` if torch is not
    installed.
    """
    useful, reports = certified.secrets, certified.observables
    p = floats(joint, "the joint distribution", shape=(None, len(useful)))
    costs = as_loss(loss, len(useful), len(reports)).array
    matrix = certified.matrix
    mass = p.sum(axis=0)[:, None] * matrix
    totals = mass.sum(axis=0)
    if not totals.sum() > 0:
        raise InputError("the joint distribution is zero everywhere.", "pass P(x, w) with sum one.")
    # What a report costs on average where it is turned into another; nothing where it never occurs.
    mean_costs: Floats = (mass.T @ costs) / np.where(totals > 0, totals, 1.0)[:, None]
    m = len(reports)
    start = (1 - _ELSEWHERE) * np.eye(m) + _ELSEWHERE / m
    table = learn_table(
        p @ matrix,
        reports,
        mean_costs,
        max_loss,
        target=target,
        start=start,
        records=records,
        rounds=rounds,
        seed=seed,
        progress=progress,
        stop=stop,
        checkpoint=checkpoint,
    )
    whole = Mechanism(matrix @ table.mechanism.matrix, useful, reports)
    prior = Prior(useful, p.sum(axis=0))
    return replace(table, mechanism=whole, joint=p, loss=whole.expected_loss(prior, costs))


def mixed_to_loss(
    mechanism: Mechanism, certified: Mechanism, prior: Prior, loss: AnyLoss, max_loss: float
) -> Floats:
    """Return the matrix with the least share of a mechanism within the limit that brings the loss down to it.

    Bounds of likelihood ratios that both mechanisms have hold for every mixture of the two. Both are on the same
    spaces; where even ``certified`` loses more than ``max_loss``, it is returned.
    """
    cost, least = mechanism.expected_loss(prior, loss), certified.expected_loss(prior, loss)
    share = 0.0 if cost <= max_loss else min(1.0, (cost - max_loss) / (cost - least)) if cost > least else 1.0
    return (1 - share) * mechanism.matrix + share * certified.matrix


def promised_within(
    learned: Mechanism,
    certified: Mechanism,
    guarantee: MetricPrivacy,
    prior: Prior,
    loss: AnyLoss,
    max_loss: float,
) -> RepairedMechanism:
    """Return a learned mechanism with a guarantee proved on its integers and within the largest loss.

    It is repaired (`with_guarantee`). If the repair loses too much, the least share of ``certified`` is mixed in
    that brings the loss down: a mechanism on the same spaces with the guarantee and within the largest loss.
    Raises `InputError` if sizes do not fit. Raises `SolverError` if the guarantee cannot be proved.
    """
    repaired = with_guarantee(learned, guarantee)
    if repaired.mechanism.expected_loss(prior, loss) > max_loss:
        matrix = mixed_to_loss(repaired.mechanism, certified, prior, loss, max_loss * _WITHIN)
        repaired = with_guarantee(Mechanism(matrix, learned.secrets, learned.observables), guarantee)
    return repaired
