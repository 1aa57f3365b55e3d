"""Error and information of the best guess of a label, and the propositions about it on random channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.leakage import joint_information_bits


@dataclass(frozen=True, slots=True, repr=False)
class GuessedLabel(CompactRepr):
    """Error of the best guess of a label from a statement, and their mutual information."""

    error: float
    information_bits: float
    unknown_bits: float  # entropy of the label, given the statement

    @classmethod
    def of(cls, shares: Floats) -> GuessedLabel:
        """Return both of the best guess from a report with P(x, z), array (labels, reports)."""
        said = np.zeros((len(shares), len(shares)))
        np.add.at(said.T, shares.argmax(axis=0), shares.T)
        return cls.said(said)

    @classmethod
    def said(cls, joint: Floats) -> GuessedLabel:
        """Return both of a statement with P(x, y), array (labels, values)."""
        shares = joint.sum(axis=1)
        entropy = float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum())
        information = joint_information_bits(joint)
        return cls(1.0 - float(joint.max(axis=0).sum()), information, max(0.0, entropy - information))


@dataclass(frozen=True, slots=True, repr=False)
class GuessTheoremRow(CompactRepr):
    """Propositions 2 to 4 and the bound of Santhi and Vardy on random channels."""

    seed: int  # of the channels
    channels: int
    convex_slack_bits: float  # the least of two mechanisms' mean bits less those of their mixture (Proposition 2)
    information_slack_bits: float  # the least of I(X; Z) - I(X; Y) over channels and classifiers (Proposition 3)
    error_slack: float  # the least of B(X|Y) - B(X|Z) over channels and classifiers (Proposition 4)
    best_error_gap: float  # the largest of B(X|Y) - B(X|Z) for the best classifier
    entropy_slack: float  # the least of 1 - 2^-H(X|Y) - B(X|Y) (Santhi and Vardy)
    sharp_slack: float  # the largest of the same


def theorem_row(seed: int, channels: int) -> GuessTheoremRow:
    """Return the slack of each statement on random labels, mechanisms and classifiers."""
    rng = np.random.default_rng(seed)
    slacks = []
    for _ in range(channels):
        labels, places, reports = rng.integers(2, 7, size=3)
        sharp = 10.0 ** rng.uniform(-1.5, 0.5)
        joint = rng.dirichlet(np.full(labels * places, sharp)).reshape(labels, places)
        one, other = (rng.dirichlet(np.full(reports, sharp), size=places) for _ in range(2))
        classifier = rng.dirichlet(np.full(labels, sharp), size=reports)
        slacks.append(_slacks(joint, one, other, classifier, float(rng.random())))
    slack = [float(value) for value in np.min(slacks, axis=0)]
    most = np.max(slacks, axis=0)
    return GuessTheoremRow(seed, channels, slack[0], slack[1], slack[2], float(most[3]), slack[4], float(most[4]))


def _slacks(joint: Floats, one: Floats, other: Floats, classifier: Floats, share: float) -> Sequence[float]:
    shares = joint @ one
    report, said, best = GuessedLabel.said(shares), GuessedLabel.said(shares @ classifier), GuessedLabel.of(shares)
    apart = share * said.information_bits + (1 - share) * joint_information_bits(joint @ other @ classifier)
    mixed = joint_information_bits(joint @ (share * one + (1 - share) * other) @ classifier)
    return (
        apart - mixed,
        min(report.information_bits - each.information_bits for each in (said, best)),
        min(each.error - report.error for each in (said, best)),
        best.error - report.error,
        min(1 - 2**-each.unknown_bits - each.error for each in (said, best)),
    )
