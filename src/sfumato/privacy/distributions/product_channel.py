"""The mechanism that makes two reports about one secret: the exact answer where theorems of composition fail."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core import Mechanism, Space
from ...core.arrays import Floats
from ...core.weights import ONE_WORD, TWO_WORDS
from ...errors import InputError


def product_channel(
    first: Mechanism | Floats, second: Mechanism | Floats | Sequence[Mechanism | Floats]
) -> Mechanism:
    """Return the mechanism that makes both reports about one secret.

    p((o0, o1)|s) = p0(o0|s) p1(o1|s), or p1(o1|s, o0) where the second reads the first report

    It is exact where both have 62 bits: the products of the integers are the integers of
    the product. Otherwise the products are rounded to integers as in `Mechanism`.

    Args:
        first: The first mechanism.
        second: The second one; or a sequence with one for each report of the first.

    Returns:
        The mechanism; its observables are pairs of reports.

    Raises:
        InputError: If the numbers of secrets, or of reports and second mechanisms, differ; or the secrets are the
            same in another order.

    Example:
        >>> import numpy as np
        >>> bits = np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[0, 1, 0, 1]]
        >>> product_channel(*bits).shape
        (4, 4)
    """
    one = first if isinstance(first, Mechanism) else Mechanism(first)
    given = list(second) if not isinstance(second, Mechanism | np.ndarray) else [second] * one.shape[1]
    others = [other if isinstance(other, Mechanism) else Mechanism(other) for other in given]
    if len(others) != one.shape[1] or len({other.shape for other in others}) != 1:
        raise InputError(
            f"{len(others)} second mechanisms were given for {one.shape[1]} reports of the first.",
            "pass one for each report, all with the same secrets and observables.",
        )
    if others[0].shape[0] != one.shape[0]:
        raise InputError(
            f"the first mechanism has {one.shape[0]} secrets and the second {others[0].shape[0]}.",
            "both report about the same secret.",
        )
    for other in others:
        one.secrets.check_order(other.secrets, "the second mechanism")
    pairs = Space(
        [(a, b) for a, other in zip(one.observables.labels, others, strict=True) for b in other.observables.labels]
    )
    if {one.bits, *(other.bits for other in others)} == {ONE_WORD}:
        exactly = [
            one.weights[:, [o]].astype(object) * other.weights.astype(object) << (TWO_WORDS - 2 * ONE_WORD)
            for o, other in enumerate(others)
        ]
        return Mechanism.from_weights(np.hstack(exactly), TWO_WORDS, one.secrets, pairs)
    floats = [one.matrix[:, [o]] * other.matrix for o, other in enumerate(others)]
    return Mechanism(np.hstack(floats), one.secrets, pairs)
