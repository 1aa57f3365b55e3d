"""Drawing reports on a budget: each is charged first, for an epsilon that was proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import Mechanism, MetricPrivacy
from ...core.arguments import checked
from ...core.arrays import integer
from ...errors import InputError
from ...evidence import prove_metric_privacy
from ...rounding import at_most
from ...sampling import Sampler
from .ledger import Ledger


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeteredSampler:
    """Draws reports of one mechanism and charges each to its user first.

    Args:
        mechanism: The mechanism.
        guarantee: The metric privacy that a report spends; it is proved on the
            mechanism's integers here, or refused.
        ledger: Whose unit is the metric's.

    Attributes:
        mechanism: The mechanism.
        guarantee: The proved guarantee of one report.
        ledger: The ledger.

    Raises:
        InputError: If the guarantee does not hold, or the units differ.
    """

    mechanism: Mechanism
    guarantee: MetricPrivacy
    ledger: Ledger
    _sampler: Sampler

    @checked
    def __init__(self, mechanism: Mechanism, guarantee: MetricPrivacy, ledger: Ledger) -> None:
        proof = prove_metric_privacy(mechanism, guarantee)
        if not proof.holds:
            raise InputError(
                f"{guarantee} is claimed, but the mechanism's epsilon is up to {at_most(proof.upper, 9)}.",
                "charge what the mechanism really spends.",
            )
        if guarantee.metric.unit != ledger.unit:
            raise InputError(
                f"the metric's unit is {guarantee.metric.unit!r}, but the ledger's is {ledger.unit!r}.",
                f"use metric.to({ledger.unit!r}), or a ledger of the metric's unit.",
            )
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "guarantee", guarantee)
        object.__setattr__(self, "ledger", ledger)
        object.__setattr__(self, "_sampler", Sampler(mechanism))

    def draw(self, user: str, position: int | np.integer[Any]) -> int:
        """Return the position of one fresh report of a user's secret, after charging for it.

        Args:
            user: Who reports.
            position: The position of the secret.

        Raises:
            BudgetError: If the user has too little left; then nothing is drawn.
            InputError: If it is not the position of a secret; then nothing is charged.
        """
        place = integer(position)
        if place is None or not 0 <= place < self.mechanism.shape[0]:
            raise InputError(
                f"{position!r} is not the position of a secret.",
                f"use an integer from 0 to {self.mechanism.shape[0] - 1}; Space.position(label) gives it.",
            )
        self.ledger.charge(user, self.guarantee.epsilon)
        return int(self._sampler.draw([place])[0])

    def __repr__(self) -> str:
        return f"MeteredSampler: {self.guarantee} per report, on {self.ledger!r}"
