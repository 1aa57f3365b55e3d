"""Optimal post-processing: every report replaced by the best one for what it reveals."""

from __future__ import annotations

import numpy as np

from ..core import AnyLoss, Mechanism, Prior, Space, as_loss


def remapped(mechanism: Mechanism, prior: Prior, loss: AnyLoss, observables: Space | None = None) -> Mechanism:
    """Return the mechanism followed by the remap of least expected loss.

    z -> argmin over o of sum over s of prior(s) p(z|s) l(s, o). A report keeps its own
    label where none is better. Whatever the mechanism guarantees still holds, exactly
    and on its integers; the expected loss never grows. If the loss is the adversary's
    distance, he then errs by exactly the expected loss.

    Args:
        mechanism: The mechanism.
        prior: The prior on its n secrets.
        loss: The loss l(s, o), array (n, m).
        observables: The m observables to choose from; by default those of the mechanism.

    Raises:
        InputError: If sizes differ.

    Source:
        Chatzikokolakis, ElSalamouny and Palamidessi, "Efficient utility improvement for
        location privacy", PETS 2017.
    """
    reports = mechanism.observables
    space = reports if observables is None else observables
    costs = mechanism.joint(prior).T @ as_loss(loss, mechanism.shape[0], len(space)).array
    best = np.argmin(costs, axis=1)
    own = {label: position for position, label in enumerate(space.labels)}
    mapping = {}
    for z, label in enumerate(reports.labels):
        kept = label in own and costs[z, own[label]] <= costs[z, best[z]]
        mapping[label] = label if kept else space.labels[best[z]]
    return mechanism.then(Mechanism.deterministic(mapping, reports, space))
