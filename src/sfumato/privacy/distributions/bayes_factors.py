"""Bayes factors: how a report changes the odds between two distributions of the secret."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...core import Mechanism, Prior
from ...core.arrays import Floats, readonly
from ...divergences import log_ratios
from ...errors import InputError
from ...rounding import log_error
from ..rows import AnyMechanism
from .family import Family
from .family_reports import reports_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BayesFactors:
    """Factors by which each report changes the odds of one distribution against another one.

    BF(o) = [p(lam|o) / p(mu|o)] / [p(lam) / p(mu)] = A#(lam)[o] / A#(mu)[o]

    Attributes:
        logs: Array (m,), the logarithms of the factors; NaN for reports that neither distribution gives.
        first: Array (m,), the probabilities A#(lam) of the reports.
        second: Array (m,), the probabilities A#(mu).
        rounding: Array (m,), the error of each logarithm.

    Source:
        Kawamoto and Murakami, section III-E.
    """

    logs: Floats
    first: Floats
    second: Floats
    rounding: Floats

    def __repr__(self) -> str:
        low, high = self.range
        return f"BayesFactors of {len(self.logs)} reports, from {low:.4g} to {high:.4g}"

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest factor of a report that can occur, 0 and ``inf`` included."""
        return math.exp(float(np.nanmin(self.logs))), _exp(float(np.nanmax(self.logs)))

    @property
    def worst(self) -> int:
        """The position of the report that changes the odds most, in either direction."""
        return int(np.nanargmax(np.abs(self.logs)))

    @property
    def epsilon_upper(self) -> float:
        """A certain upper bound of |ln factor| over all reports."""
        return float(np.nanmax(np.abs(self.logs) + self.rounding))

    def posterior_odds(self, prior_odds: float) -> tuple[float, float]:
        """Return the least and the largest odds after a report, in floating point, from prior odds p(lam) / p(mu).

        Raises:
            InputError: If the odds are negative or NaN.
        """
        if not prior_odds >= 0:
            raise InputError(
                f"the odds are {prior_odds}.", "pass a number of at least 0, such as 1 for even odds."
            )
        low, high = self.range
        # Certainty stays: no report that can occur under the certain distribution refutes it.
        if prior_odds in (0.0, math.inf):
            return prior_odds, prior_odds
        return prior_odds * low, prior_odds * high

    def beyond(self, epsilon: float) -> tuple[float, float]:
        """Return the probabilities, under either distribution, of reports whose factor is beyond e**epsilon.

        A factor below e**-epsilon is beyond it too. The larger probability is the least delta of probabilistic
        distribution privacy: otherwise the odds change by a factor of at most e**epsilon.

        Raises:
            InputError: If epsilon is negative or NaN.
        """
        if not epsilon >= 0:
            raise InputError(f"epsilon is {epsilon}.", "pass a number of at least 0.")
        rare = np.abs(np.nan_to_num(self.logs, nan=0.0, posinf=np.inf, neginf=-np.inf)) > epsilon
        return float(self.first[rare].sum()), float(self.second[rare].sum())


def bayes_factors(mechanism: AnyMechanism, first: Prior | ArrayLike, second: Prior | ArrayLike) -> BayesFactors:
    """Return how each report of a mechanism changes the odds between two distributions.

    Args:
        mechanism: A mechanism, or its array (secrets, observables).
        first: lam, a prior or array (secrets,).
        second: mu, likewise.

    Raises:
        InputError: If an argument is not a distribution, or does not fit the mechanism.

    Example:
        >>> import numpy as np
        >>> bayes_factors(np.array([[0.75, 0.25], [0.25, 0.75]]), [1.0, 0.0], [0.5, 0.5])
        BayesFactors of 2 reports, from 0.5 to 1.5
    """
    if isinstance(mechanism, Mechanism):
        for given in (first, second):
            if isinstance(given, Prior):
                mechanism.secrets.check_order(given.space, "a prior")
    family = Family([first, second])
    p, q = reports_of(mechanism, family.distributions)
    logs = log_ratios(p, q)
    logs[(p == 0) & (q == 0)] = np.nan
    errors = [0.0 if math.isnan(value) else log_error(float(value), family.size) for value in logs]
    return BayesFactors(readonly(logs), readonly(p), readonly(q), readonly(np.array(errors)))


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else math.inf
