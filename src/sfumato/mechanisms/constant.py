"""A mechanism that ignores the secret."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..core import Mechanism, Prior, Space


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
    reports = observables or (given.space if given is not None else space)
    q = given.probabilities if given is not None else Prior(reports, np.asarray(distribution)).probabilities
    return Mechanism(np.tile(q, (len(space), 1)), space, reports)
