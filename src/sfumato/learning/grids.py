"""Bayes error on a grid: the plug-in of counted hits, its bias, and a correction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..attacks.learned import Examples
from ..core import Bracket
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..errors import InputError
from ..statistics import Sample, estimate_guessing


@dataclass(frozen=True, slots=True, repr=False)
class GridError(CompactRepr):
    """The error of the best guess of a label from the cell of a report.

    Attributes:
        cell: The side of a cell, in the unit of the reports.
        cells: The number of cells that were hit.
        hits: The number of reports.
        plug_in: The error of the best guess on the very hits that it was read from: on average too low, far so
            where cells were hit once or twice (H11); with one hit per cell it is 0 for every mechanism.
        error: The true error. The value is the plug-in less an estimate of its bias, from halves of the hits; no
            more than the error of the most frequent label. Each bound is wrong with probability ``failure / 2``.
        tested: The error, on one half, of the guess learned on the other: on average too high.
        failure: The probability that one of the two bounds is wrong. It holds for independent hits: one report of
            each of many records. Many reports of each record describe these records only.
    """

    cell: float
    cells: int
    hits: int
    plug_in: float
    error: Bracket
    tested: float
    failure: float

    def __str__(self) -> str:
        return (
            f"On cells of {self.cell:g} the Bayes error is about {self.error.value:.3f} "
            f"(plug-in {self.plug_in:.3f}, too low; held out {self.tested:.3f}, too high) "
            f"from {self.hits:,} hits of {self.cells:,} cells."
        )


def grid_error(
    reports: Examples,
    cell: float,
    *,
    even: bool = False,
    failure: float = 0.05,
    halvings: int = 8,
    seed: int | None = None,
) -> GridError:
    """Estimate the Bayes error of the label given the grid cell of the report.

        P(cell i) = hits in i / hits;  P(label j | i) = hits of j in i / hits in i;
        error = sum over i of (1 - max over j of P(j|i)) P(i)

    The plug-in is biased low, as the maximum of noisy shares is too large. Where labels nearly tie, which is where
    the bias is largest, it falls like 1 / sqrt(hits): so the plug-in of a random half of the hits is lower still,
    and corrected = plug_in(all) + (plug_in(all) - mean plug_in(half)) / (sqrt(2) - 1), never beyond the held-out
    error, which is too high, nor beyond the error of the most frequent label, which needs no report.

    Args:
        reports: The labels and their reports, numbers of any dimension.
        cell: The side of a cell. The cells cover all of the plane.
        even: Whether the origin is a corner of cells, as in a square grid around it with an even number of cells
            along its side, instead of the centre of one.
        failure: The probability with which one of the bounds may be wrong.
        halvings: The number of random halves that the correction averages over.
        seed: For studies: makes the halves the same each time.

    Raises:
        InputError: If the cell is not positive, or fewer than two labels were seen.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, equations 25 to 27. The
        correction follows Quenouille's idea, with halves and this rate; it is not a bound.
    """
    if halvings < 1:
        raise InputError(f"{halvings} halves are too few.", "use at least one.")
    counts = cell_counts(reports, cell, even=even)
    rng = np.random.default_rng(seed)
    whole = plug_in_error(counts)
    n = int(counts.sum())
    halves: Floats = np.array([plug_in_error(_half(counts, n, rng)) for _ in range(halvings)])
    found = estimate_guessing(Sample(counts), failure=failure, seed=seed)
    tested = found.error.value
    blind = 1.0 - float(counts.sum(axis=1).max()) / n  # at least the plug-in
    correction = (whole - float(halves.mean())) / (2**0.5 - 1)
    return GridError(
        float(cell),
        counts.shape[1],
        n,
        whole,
        Bracket(found.error.lower, max(whole, min(whole + correction, tested, blind)), found.error.upper),
        tested,
        failure,
    )


def cell_counts(reports: Examples, cell: float, *, even: bool = False) -> NDArray[np.int64]:
    """Return the counts of labels in each cell that was hit, array (labels, cells).

    Args:
        reports: The labels and their reports.
        cell: The side of a cell.
        even: Whether the origin is a corner of cells instead of the centre of one.

    Raises:
        InputError: If the cell is not positive.
    """
    if not (np.isfinite(cell) and cell > 0):
        raise InputError(f"a cell of side {cell} is not possible.", "use a positive length.")
    corners = np.floor(reports.points / cell + (0.0 if even else 0.5))
    distinct, where = np.unique(corners, axis=0, return_inverse=True)
    counts = np.zeros((len(reports.space), len(distinct)), dtype=np.int64)
    np.add.at(counts, (reports.secrets, where.ravel()), 1)
    return counts


def plug_in_error(counts: NDArray[np.int64]) -> float:
    """Return the plug-in Bayes error of counted hits, array (labels, cells), equation 27.

    Example:
        >>> import numpy as np
        >>> plug_in_error(np.array([[6, 1], [2, 1]]))
        0.3
    """
    return float((counts.sum() - counts.max(axis=0).sum()) / counts.sum())


def _half(counts: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    taken: NDArray[np.int64] = rng.multivariate_hypergeometric(counts.ravel(), max(1, n // 2), method="marginals")
    return taken.reshape(counts.shape)
