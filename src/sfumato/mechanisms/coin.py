"""The coin, which reports the truth or one fixed value, and the constant, which ignores the secret."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike

from ..core import AnyLoss, Mechanism, Prior, Space, as_distance, blind_error, units
from ..errors import InfeasibleError, InputError
from ..rounding import UNIT, amount, amount_at_least, amount_at_most


def coin(space: Space, truth: float, centre: Hashable) -> Mechanism:
    """Return the coin: the truth with probability ``truth``, otherwise always ``centre``.

    p = truth I + (1 - truth) 1 e(centre). It gives no metric privacy: any report but the
    centre gives the secret away. For a distance with zeros on its diagonal, and a centre of
    least expected distance D, its distortion and its expected loss both are
    (1 - truth) D, which no mechanism of this loss can exceed.

    Args:
        space: The n secrets, which are also the observables.
        truth: A probability.
        centre: The label reported otherwise.

    Raises:
        InputError: If ``truth`` is not a probability or the centre not in the space.

    Source:
        Oya, Troncoso and Pérez-González, "Back to the drawing board", CCS 2017.
    """
    if not 0 <= truth <= 1:
        raise InputError(f"the probability of the truth is {truth}.", "use a number from 0 to 1.")
    matrix = truth * np.eye(len(space))
    matrix[:, space.position(centre)] += 1 - truth
    return Mechanism(matrix, space, space)


def coin_of_distortion(prior: Prior, distance: AnyLoss, distortion: float | str) -> Mechanism:
    """Return the coin that makes the optimal attack err by ``distortion`` on average.

    Its centre is the best guess without a report, of expected distance D, and it tells
    the truth with probability 1 - distortion / D, slightly less to make up for rounding.
    Where the loss is this distance, no mechanism of that distortion loses less.

    Args:
        prior: The prior on the n secrets.
        distance: d(guess, s), array (n, n) with zeros on its diagonal.
        distortion: In the distance's unit; a number or text such as ``"800 m"``.

    Raises:
        InputError: If the distance is not such an array or the distortion is negative.
        InfeasibleError: If the distortion is above D.
        UnitError: If its unit does not fit.

    Source:
        Oya, Troncoso and Pérez-González, CCS 2017; docs/proofs/closed-forms.md.
    """
    found, n = as_distance(distance), len(prior)
    d = found.array
    if d.shape != (n, n) or (d < 0).any() or np.diagonal(d).any():
        raise InputError(
            "the coin needs a distance of at least 0 from every secret to every other, and 0 to itself.",
            f"pass an array of {n} x {n} with zeros on its diagonal, or a Metric.",
        )
    wanted = units.parse(distortion, unit=found.unit, what="the distortion")
    if wanted < 0:
        raise InputError(f"the distortion {distortion} is negative.", "use a length of at least 0.")
    most = blind_error(prior.probabilities, d)
    if wanted > most:
        raise InfeasibleError(
            f"a distortion of {amount(wanted, found.unit)} was asked for, but an attacker who sees no report "
            f"errs by at most {amount_at_most(most, found.unit)}.",
            f"ask for at most {amount_at_least(most, found.unit)}.",
        )
    room = 16 * (n + 8) * UNIT * float(d.max())  # what adding up the error can round away
    share = min(1.0, (wanted + room) / most) if wanted > 0 else 0.0
    return coin(prior.space, 1 - share, prior.space.labels[int(np.argmin(d @ prior.probabilities))])


def constant(space: Space, distribution: Prior | ArrayLike, observables: Space | None = None) -> Mechanism:
    """Return the mechanism whose report has one distribution, whatever the secret: p(o|s) = q(o).

    It reveals nothing: every epsilon holds, and the adversary errs as much as without
    the report.

    Args:
        space: The n secrets.
        distribution: q, array (m,) of probabilities, or a `Prior` on the observables.
        observables: The m observables; by default the secrets, or the prior's space.

    Raises:
        InputError: If q is not a distribution or has the wrong size.
    """
    given = distribution if isinstance(distribution, Prior) else None
    if given is not None:
        (observables or space).check_order(given.space, "the distribution")
    reports = observables or (given.space if given is not None else space)
    q = given.probabilities if given is not None else Prior(reports, np.asarray(distribution)).probabilities
    return Mechanism(np.tile(q, (len(space), 1)), space, reports)
