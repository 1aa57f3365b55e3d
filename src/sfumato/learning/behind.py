"""Learning behind a proved mechanism, and the promise of the whole: what is done to reports can only hide more."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import AnyLoss, Mechanism, MetricPrivacy, Prior, as_loss
from ..core.arrays import Floats, floats
from ..errors import InputError
from .finite import Guaranteed, with_guarantee
from .rounds import Progress, Stop
from .table import SMOOTH, LearnedTable, learn_table
from .targets import Target

_WITHIN: Final = 1 - 1e-7  # of the largest loss: room for the rounding of a mixture
_ELSEWHERE: Final = 1e-6  # of each row of the start: a softmax never leaves 0


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
    """Train a mechanism that follows another one, which is within the limit already.

    The learned matrix maps each report to another. It sees no secret, so whatever the
    mechanism promises, every likelihood ratio included, the two together keep (up to the
    rounding of their product: `with_guarantee` mends and proves it). Training starts from
    the mechanism as it is and spends what the limit leaves.

    Args:
        joint: P(x, w), array (labels, useful values), with sum one.
        certified: The mechanism, from useful values to reports that are useful values too.
        loss: l(w, z), array (useful values, reports).
        max_loss: The largest expected loss.
        target: See `learn_table`.
        records: See `learn_table`.
        rounds: See `learn_table`.
        seed: See `learn_table`.
        progress: See `learn_table`.
        stop: See `learn_table`.
        checkpoint: See `learn_table`.

    Returns:
        The mechanism and what followed it as one, with its loss and its leak.

    Raises:
        InputError: If sizes do not fit.
        InfeasibleError: If the mechanism loses more than the limit, whatever follows it.
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
    whole = Mechanism(matrix @ found.mechanism.matrix, useful, reports)
    prior = Prior(useful, p.sum(axis=0))
    return replace(found, mechanism=whole, joint=p, loss=whole.expected_loss(prior, costs))


def mixed_to_loss(
    mechanism: Mechanism, certified: Mechanism, prior: Prior, loss: AnyLoss, max_loss: float
) -> Floats:
    """Return the matrix with the least share of a mechanism within the limit that brings the loss down to it.

    Where both promise the same likelihood ratios, so does every mixture of the two.

    Args:
        mechanism: A mechanism that may lose more than the limit.
        certified: One on the same spaces that does not.
        prior: The prior on the secrets.
        loss: The loss, array (secrets, observables).
        max_loss: The largest expected loss; where even the second mechanism loses more, it is returned.
    """
    lost, least = mechanism.expected_loss(prior, loss), certified.expected_loss(prior, loss)
    share = 0.0 if lost <= max_loss else min(1.0, (lost - max_loss) / (lost - least)) if lost > least else 1.0
    mixed: Floats = (1 - share) * mechanism.matrix + share * certified.matrix
    return mixed


def promised_within(
    learned: Mechanism,
    certified: Mechanism,
    guarantee: MetricPrivacy,
    prior: Prior,
    loss: AnyLoss,
    max_loss: float,
) -> Guaranteed:
    """Return what was learned, with a promise proved on its integers and within the largest loss.

    It is repaired (`with_guarantee`). If the repair loses too much, the least share of the certified
    mechanism is mixed in that brings the loss down.

    Args:
        learned: What was learned, such as by `learn_behind`.
        certified: A mechanism on the same spaces with the promise and within the largest loss.
        guarantee: The promise.
        prior: The prior on the secrets.
        loss: The loss, array (secrets, observables).
        max_loss: The largest expected loss.

    Raises:
        InputError: If sizes do not fit.
        SolverError: If the promise cannot be proved.
    """
    found = with_guarantee(learned, guarantee)
    if found.mechanism.expected_loss(prior, loss) > max_loss:
        mixed = mixed_to_loss(found.mechanism, certified, prior, loss, max_loss * _WITHIN)
        found = with_guarantee(Mechanism(mixed, learned.secrets, learned.observables), guarantee)
    return found
