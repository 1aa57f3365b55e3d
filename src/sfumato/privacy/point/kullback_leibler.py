"""Privacy by the mean of the privacy loss: Kullback-Leibler, and Rényi with a weight on large losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, final

from ...divergences import KL, Renyi
from ..notion import Description, Finding, Notion
from ..relation import Relation
from ..rows import AnyMechanism
from .largest_divergence import measured, sentence_of

KULLBACK_LEIBLER: Final = Description(
    "kl-privacy",
    "KL privacy",
    ("epsilon",),
    question="How large is the privacy loss on average?",
    promise="the expected privacy loss between {about} is at most {epsilon}",
    source="Cuff and Yu, CCS 2016; Desfontaines, 2.2.2",
    context=("relation",),
)


@final
@dataclass(frozen=True, slots=True)
class KLPrivacy(Notion):
    """Kullback-Leibler privacy: the privacy loss of related secrets is at most epsilon nats on average.

    sum over o of p(o|s) ln(p(o|s) / p(o|s')) <= epsilon for all related (s, s')

    Attributes:
        relation: The pairs that must look alike; all pairs if None.

    Source:
        Cuff and Yu, CCS 2016; Desfontaines, 2.2.2.
    """

    description: ClassVar[Description] = KULLBACK_LEIBLER
    parameter: ClassVar[str] = "epsilon"

    relation: Relation | None = None

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the largest divergence of related rows in nats, with the pair."""
        return measured(self, KL, self.relation, mechanism)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        return sentence_of(KL, self.relation, value)


RENYI: Final = Description(
    "renyi-privacy",
    "Rényi privacy",
    ("epsilon", "order"),
    question="How large is the exponential mean of the privacy loss, of a given order?",
    promise="the Rényi divergence of order {order} between the reports of {about} is at most {epsilon}",
    source="Mironov, CSF 2017, definition 4",
    context=("relation",),
)


@final
@dataclass(frozen=True, slots=True)
class RenyiPrivacy(Notion):
    """Renyi differential privacy of one order: D_order(p(.|s) || p(.|s')) <= epsilon for related (s, s').

    Attributes:
        order: Above 0; 1 is Kullback-Leibler and ``inf`` differential privacy.
        relation: The pairs that must look alike; all pairs if None.

    Raises:
        InputError: If the order is not positive.

    Source:
        Mironov, CSF 2017, definition 4.
    """

    description: ClassVar[Description] = RENYI
    parameter: ClassVar[str] = "epsilon"

    order: float
    relation: Relation | None = None

    def __post_init__(self) -> None:
        Renyi(self.order)

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the largest divergence of related rows in nats, with the pair."""
        return measured(self, Renyi(self.order), self.relation, mechanism)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        return sentence_of(Renyi(self.order), self.relation, value)
