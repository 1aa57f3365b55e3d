"""Learning behind a proved mechanism: what is done to its reports can only hide more."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import AnyLoss, Mechanism, Prior, as_loss
from ..core.arrays import Floats, floats
from ..errors import InputError
from .rounds import Report, Stop
from .table import SMOOTH, LearnedTable, learn_table
from .targets import Target

_ELSEWHERE: Final = 1e-6  # of each row of the start: a softmax never leaves 0


def learn_behind(
    joint: ArrayLike,
    certified: Mechanism,
    loss: AnyLoss,
    bound: float,
    *,
    target: Target = SMOOTH,
    records: int | None = None,
    rounds: int = 120,
    seed: int | None = None,
    report: Report | None = None,
    stop: Stop | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> LearnedTable:
    """Train what happens to the reports of a mechanism that is within the bound already.

    The learned matrix maps each report to another. It sees no secret, so whatever the
    mechanism promises, every likelihood ratio included, the two together keep (up to the
    rounding of their product: `with_guarantee` mends and proves it). Training starts from
    the mechanism as it is and spends what the bound leaves.

    Args:
        joint: P(x, w), array (labels, useful values), with sum one.
        certified: The mechanism, from useful values to reports that are useful values too.
        loss: l(w, z), array (useful values, reports).
        bound: The largest expected loss.
        target: See `learn_table`.
        records: See `learn_table`.
        rounds: See `learn_table`.
        seed: See `learn_table`.
        report: See `learn_table`.
        stop: See `learn_table`.
        checkpoint: See `learn_table`.

    Returns:
        The mechanism and what followed it as one, with its loss and its leak.

    Raises:
        InputError: If sizes do not fit.
        InfeasibleError: If the mechanism loses more than the bound, whatever follows it.
        MissingExtraError: If torch is not installed.
    """
    useful, reports = certified.secrets, certified.observables
    p = floats(joint, "the joint distribution", shape=(None, len(useful)))
    costs = as_loss(loss, len(useful), len(reports)).array
    matrix = certified.matrix
    reached = p.sum(axis=0)[:, None] * matrix
    totals = reached.sum(axis=0)
    if not totals.sum() > 0:
        raise InputError("the joint distribution is zero everywhere.", "pass P(x, w) with sum one.")
    # What a report costs on average where it is turned into another; nothing where it never occurs.
    turned: Floats = (reached.T @ costs) / np.where(totals > 0, totals, 1.0)[:, None]
    m = len(reports)
    start = (1 - _ELSEWHERE) * np.eye(m) + _ELSEWHERE / m
    found = learn_table(
        p @ matrix,
        reports,
        turned,
        bound,
        target=target,
        start=start,
        records=records,
        rounds=rounds,
        seed=seed,
        report=report,
        stop=stop,
        checkpoint=checkpoint,
    )
    whole = Mechanism(matrix @ found.mechanism.matrix, useful, reports)
    prior = Prior(useful, p.sum(axis=0))
    return replace(found, mechanism=whole, joint=p, loss=whole.expected_loss(prior, costs))


def mixed_to_bound(
    mechanism: Mechanism, certified: Mechanism, prior: Prior, loss: AnyLoss, bound: float
) -> Floats:
    """Return the matrix with the least share of a mechanism within the bound that brings the loss down to it.

    Where both promise the same likelihood ratios, so does every mixture of the two.

    Args:
        mechanism: A mechanism that may lose more than the bound.
        certified: One on the same spaces that does not.
        prior: The prior on the secrets.
        loss: The loss, array (secrets, observables).
        bound: The largest expected loss; where even the second mechanism loses more, it is returned.
    """
    lost, least = mechanism.expected_loss(prior, loss), certified.expected_loss(prior, loss)
    share = 0.0 if lost <= bound else min(1.0, (lost - bound) / (lost - least)) if lost > least else 1.0
    mixed: Floats = (1 - share) * mechanism.matrix + share * certified.matrix
    return mixed
