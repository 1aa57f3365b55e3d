"""The audit of noise for coordinates: its promise, proved, and other numbers on a stated coarsening."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from ..core import Bracket, Side, units
from ..errors import InputError
from ..geo import Cells
from ..mechanisms.planar import Coarsening, CoordinateNoise, coarsened
from ..proofs import NoiseProof, prove_planar_noise
from ..rounding import amount_at_most, down
from .choice import AuditInputs
from .findings import Audit, Entry
from .measures import COORDINATE_PRIVACY
from .plan import planned
from .request import Request

_REPLACED: Final = ("metric-privacy", COORDINATE_PRIVACY)
"""The notions that the promise covers better than any coarsening."""

_ONE_REPORT: Final = (
    "The promise is for one report. Over k reports of one person, its epsilon is at most k times as large, with "
    "the same slack."
)

_ROUNDING: Final = 1e-9  # of probabilities, distances and logarithms


def audit_noise(
    noise: CoordinateNoise,
    inputs: AuditInputs,
    also: Iterable[Request],
    progress: Callable[[Entry], None] | None = None,
) -> Audit:
    """Return what is proved of noise for coordinates, and what is measured on cells.

    Args:
        noise: The noise, with a projection.
        inputs: What is known besides it. The cells are those of the prior, by default about a hundred over the
            places of the noise's table.
        also: What else to measure, on the coarsening.
        progress: Called with each entry as it is found.

    Raises:
        InputError: If the prior is not on cells, a request cannot be measured, or the noise has no projection.
    """
    cells = None if inputs.prior is None else inputs.prior.space
    if cells is not None and not isinstance(cells, Cells):
        raise InputError(f"the prior is on {cells!r}, which are not cells on the ground.", "use one on a Grid.")
    proof = prove_planar_noise(noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)
    if cells is None and noise.remap is None:
        note = "Nothing says where people are: give a prior on cells to measure what leaks, too."
        return Audit(repr(noise), (_promise(proof, None),), (_ONE_REPORT, note))
    coarse = coarsened(noise, cells)
    promise = _promise(proof, coarse)
    if progress is not None:
        progress(promise)
    known = inputs
    if inputs.metric is None:
        known = replace(inputs, metric=coarse.cells.metric("euclidean", unit="km"))
    wanted = [each for each in also if each.name not in _REPLACED]
    measured = planned(coarse.mechanism, known, wanted).measured(progress)
    entries = [_estimated(entry) for entry in measured.entries if entry.key not in _REPLACED]
    return Audit(repr(noise), (promise, *entries), (_ONE_REPORT, coarse.sentence))


def _promise(proof: NoiseProof, coarse: Coarsening | None) -> Entry:
    lower, witness = (0.0, "") if coarse is None else _at_least(proof, coarse)
    upper = proof.upper
    return Entry(
        COORDINATE_PRIVACY,
        "Coordinate privacy",
        "epsilon",
        Bracket(min(lower, upper), upper, upper),
        unit=proof.promise.unit,
        per=True,
        proved=True,
        witness=witness,
        sentence=f"{proof.sentence} {proof.proof}",
        source="Andres et al., CCS 2013, definition 3.3; docs/proofs/planar-noise.md",
        slack=amount_at_most(proof.slack_m, "m"),
    )


def _at_least(proof: NoiseProof, coarse: Coarsening) -> tuple[float, str]:
    """Return an epsilon that is needed between two middles of cells, and which they are."""
    p = coarse.mechanism.matrix
    cells, unit = coarse.cells, proof.promise.unit
    distance = cells.metric("great-circle", unit=unit).array
    slack = proof.slack_m * units.factor("m", unit)
    best, witness = 0.0, ""
    for s in range(len(p)):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log((p[s] - coarse.off) * (1 - _ROUNDING) / (p + coarse.off))
        # Great circles are within 0.6 % of the ellipsoid's distances.
        needed = np.where(p[s] > coarse.off, logs, -math.inf) / (1.006 * distance[s][:, None] + slack)
        needed[s] = -math.inf
        t, o = np.unravel_index(int(np.argmax(needed)), needed.shape)
        if needed[t, o] > best:
            best = float(needed[t, o])
            names = cells.labels
            witness = f"the middles of {names[s]} and {names[int(t)]}, reports in {names[int(o)]}"
    return max(0.0, down(best * (1 - _ROUNDING))), witness


def _estimated(entry: Entry) -> Entry:
    """Return an entry as an estimate: it is about cells, and nothing follows from it for points."""
    found = Bracket(-math.inf, entry.bracket.value, math.inf)
    sentence = f"Estimate on cells: {entry.sentence}" if entry.sentence else ""
    return replace(entry, bracket=found, side=Side.ESTIMATE, proved=False, sentence=sentence)
