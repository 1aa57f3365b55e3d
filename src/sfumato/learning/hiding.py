"""Hiding of a label: what the best attacker learns of it from a mechanism's reports, and what the reports lose."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from ..core import AnyLoss, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import floats
from ..errors import InputError
from ..leakage import joint_information_bits

_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Hiding:
    """Measures of how well a mechanism hides a label, for one joint distribution of labels and useful values.

    Attributes:
        hit_rate: How often the best guess of the label from a report is right: its Bayes vulnerability.
        information_bits: The mutual information of label and report.
        loss: The expected loss of a report, in the unit of the loss.
    """

    hit_rate: float
    information_bits: float
    loss: float

    @property
    def error(self) -> float:
        """The Bayes error: the probability that the best guess of the label is wrong."""
        return 1.0 - self.hit_rate


@checked
def hiding(mechanism: Mechanism, joint: ArrayLike, loss: AnyLoss) -> Hiding:
    """Return how well a mechanism hides a label that it does not see.

    The attacker knows the mechanism and the joint distribution. With P(x, z) = sum over w of P(x, w) p(z|w),
    the best guess is right in sum over z of max over x of P(x, z).

    Args:
        mechanism: From useful values to reports.
        joint: P(x, w), array (labels, useful values), with sum one; `Pairs.joint` makes one.
        loss: l(w, z), array (useful values, reports), a `Loss` or a `Metric`.

    Raises:
        InputError: If sizes do not fit, or the joint distribution does not sum to one.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section II.
    """
    p = floats(joint, "the joint distribution", shape=(None, mechanism.shape[0]))
    if (p < 0).any() or abs(float(p.sum()) - 1) > _SUM_TOLERANCE:
        raise InputError(
            f"the joint distribution has the least value {p.min():g} and the sum {p.sum():.12g}.",
            "pass P(x, w): no negative entry, sum 1; Pairs.joint makes one.",
        )
    shares = p @ mechanism.matrix
    prior = Prior(mechanism.secrets, p.sum(axis=0))
    return Hiding(
        float(shares.max(axis=0).sum()), joint_information_bits(shares), mechanism.expected_loss(prior, loss)
    )
