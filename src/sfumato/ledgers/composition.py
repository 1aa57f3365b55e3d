"""Composition: what several reports about one secret guarantee together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core import Mechanism, Metric
from ..core.arguments import checked
from ..core.arrays import Floats
from ..errors import InputError
from ..escaping import plain
from ..proofs import worst_ratios
from ..rounding import at_most

# A ratio errs by less than 2**-50 and a logarithm by a few units in the last place.
_LOG: Final = 1e-14
_SUM: Final = 2.0**-52


@dataclass(frozen=True, slots=True)
class Composition:
    """The guarantee of independent reports about one secret together, per unit of the metric.

    Attributes:
        epsilon_upper: The epsilon of all reports together: exact up to rounding, and
            rounded up; ``inf`` if a pair at finite distance has an infinite likelihood ratio.
        summed: The sum of the single epsilons, rounded up: what a ledger adds. It is larger
            where the mechanisms are weakest on different pairs.
        worst_pair: Positions of the two secrets that are easiest to tell apart.
        reports: How many reports there are.
        unit: The unit of the metric.
    """

    epsilon_upper: float
    summed: float
    worst_pair: tuple[int, int]
    reports: int
    unit: str

    def __str__(self) -> str:
        """The finding in words."""
        per = f"/{plain(self.unit)}" if self.unit else ""
        return (
            f"{self.reports} reports about one secret: epsilon at most {at_most(self.epsilon_upper, 6)}{per} "
            f"together (the sum of each alone is {at_most(self.summed, 6)}{per})."
        )


@checked
def composed(mechanisms: Sequence[Mechanism], metric: Metric) -> Composition:
    """Return the metric privacy of independent reports about one secret.

    max over s, s' of sum over i of ln max over o of p_i(o|s) / p_i(o|s'), over d(s, s')

    Reports that are independent given the secret form the product channel. Its largest
    likelihood ratio of a pair is the product of the single ones, as every combination of
    reports may occur, so the channel need not be written out.

    It also bounds traces: for secrets s_1, ..., s_t reported once each through mechanisms
    of epsilon e_i, two traces differ by at most sum of e_i d(s_i, s_i').

    Args:
        mechanisms: One for each report; all about the same secret.
        metric: On the mechanisms' secrets.

    Raises:
        InputError: If there is no mechanism, or the sizes differ.

    Source:
        Chatzikokolakis, Andres, Bordenabe and Palamidessi, PETS 2013 (composition).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.ledgers import composed
        >>> line = sf.Space.numbers([0, 1, 2])
        >>> noise = sf.mechanisms.geometric(line, 0.5)
        >>> round(composed([noise] * 4, line.metric()).epsilon_upper, 6)
        2.0
    """
    if not mechanisms:
        raise InputError("there is no report.", "pass one mechanism for each report.")
    n = len(metric)
    for mechanism in mechanisms:
        if not isinstance(mechanism, Mechanism):
            raise InputError(
                f"{mechanism!r} is not a mechanism.", "pass a list of mechanisms, one for each report."
            )
        if mechanism.shape[0] != n:
            raise InputError(
                f"a mechanism has {mechanism.shape[0]} secrets, but the metric is on {n} values.",
                "all reports are about one secret of the metric's space.",
            )
    times: dict[Mechanism, int] = {}
    for mechanism in mechanisms:
        times[mechanism] = times.get(mechanism, 0) + 1
    total, summed = np.zeros((n, n)), 0.0
    for mechanism, count in times.items():
        logs = count * _logs_above(mechanism)
        total += logs
        summed += _tight(logs, metric.array)[0]
    rounding = 1 + len(times) * _SUM
    upper, pair = _tight(total * rounding, metric.array)
    return Composition(upper, max(summed * rounding, upper), pair, len(mechanisms), metric.unit)


def _logs_above(mechanism: Mechanism) -> Floats:
    """Return ln of the largest likelihood ratios, array (n, n), rounded up; 0 for equal rows."""
    ratios, _ = worst_ratios(mechanism)
    with np.errstate(divide="ignore"):
        logs = np.log(ratios)
    logs = logs + _LOG * (1 + np.abs(logs))
    _, group = np.unique(mechanism.weights.astype(str), axis=0, return_inverse=True)
    logs[np.equal.outer(group, group)] = 0.0
    above: Floats = np.maximum(logs, 0.0)
    return above


def _tight(logs: Floats, distances: Floats) -> tuple[float, tuple[int, int]]:
    """Return max of logs / d, rounded up, and the pair; rows at distance zero must be equal."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.where((logs > 0) & np.isfinite(distances), logs / distances, 0.0)
    s, t = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    return math.nextafter(float(ratios[s, t]), math.inf) if ratios[s, t] > 0 else 0.0, (int(s), int(t))
