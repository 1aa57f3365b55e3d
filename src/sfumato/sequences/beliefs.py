"""Beliefs about a moving secret: forward filter, backward smoother and the most likely path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..core.arrays import Floats, Positions, readonly
from ..errors import InputError

_TIE: Final = 1e-11  # of logarithms, relative: two paths this close count as equally likely

Kernels = Sequence[Floats]
"""Probabilities of moves, arrays (n, n), from each report to the next one."""


def forward_filter(prior: Floats, kernels: Kernels, likelihoods: Floats) -> Floats:
    """Return the belief after each report and all earlier ones, array (T, n).

    The prior (n,) is the belief before the first report, and ``likelihoods`` (T, n) are p(report | secret), each
    row up to a factor. Raises `InputError` if a report is impossible under the belief at its time.
    """
    beliefs, coming = np.empty_like(likelihoods), prior
    for t, likelihood in enumerate(likelihoods):
        if t:
            coming = beliefs[t - 1] @ kernels[t - 1]
        beliefs[t] = update(coming, likelihood, t + 1)
    return readonly(beliefs)


def update(belief: Floats, likelihood: Floats, number: int) -> Floats:
    """Return the belief (n,) after a report; `InputError` with its number if the report is impossible."""
    joint: Floats = belief * likelihood
    total = joint.sum()
    if not total > 0:
        raise InputError(
            f"report {number} is impossible after the others.",
            "check the mechanism, the prior and the moves; of_traces(smoothing=1) allows every move.",
        )
    joint /= total
    return joint


def backward_smoother(prior: Floats, kernels: Kernels, likelihoods: Floats) -> Floats:
    """Return the belief at each report after all reports, later ones too, array (T, n).

    Arguments and errors are those of `forward_filter`.

    Source:
        Rabiner, Proceedings of the IEEE 77, 1989 (forward and backward passes).
    """
    beliefs = forward_filter(prior, kernels, likelihoods).copy()
    later = np.ones_like(prior)
    for t in range(len(beliefs) - 1, -1, -1):
        joint = beliefs[t] * later
        beliefs[t] = joint / joint.sum()
        if t:  # what this report and later ones say about the secret before it; scaled, because only ratios count
            before = kernels[t - 1] @ (likelihoods[t] * later)
            later = before / before.max()
    return readonly(beliefs)


def most_likely_path(prior: Floats, kernels: Kernels, likelihoods: Floats) -> Positions:
    """Return the secrets of the path with the largest probability given all reports, positions (T,).

    Of equally likely paths it is the lexicographically smallest one. Arguments and errors are those of
    `forward_filter`.

    Source:
        Viterbi, IEEE Transactions on Information Theory 13, 1967.
    """
    steps = len(likelihoods)
    path = np.empty(steps, dtype=np.intp)
    if not steps:
        return readonly(path)
    forward_filter(prior, kernels, likelihoods)  # refuses impossible reports
    with np.errstate(divide="ignore"):
        best = np.log(likelihoods)  # of the rest of the path from each secret, this report included
        moves = [np.log(kernel) for kernel in kernels[: steps - 1]]
        scores = np.log(prior)
    for t in range(steps - 2, -1, -1):
        best[t] += (moves[t] + best[t + 1]).max(axis=1)
    for t in range(steps):
        total = scores + best[t]
        most = total.max()
        path[t] = np.argmax(total >= most - _TIE * (1 + abs(most)))
        scores = moves[t][path[t]] if t + 1 < steps else scores
    return readonly(path)
