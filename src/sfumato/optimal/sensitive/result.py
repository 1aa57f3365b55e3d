"""A design that hides a sensitive value behind a useful one, and what is proved of it."""

from __future__ import annotations

from dataclasses import dataclass

from ...core import Mechanism
from ...core.arrays import Floats
from ...core.units import per_unit
from ...evidence import EpsilonProof, Multipliers, relative_gap
from ...rounding import amount_at_most, at_least, at_most
from ..solver import Progress, Status
from .problem import VULNERABILITY, SensitiveProblem


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SensitiveDesign:
    """A mechanism of nearly the least leak of X within a bound of loss, with its proofs.

    Every figure is proved over the integers of the mechanism, with rounding on the safe side.

    Attributes:
        mechanism: The mechanism from W to Z.
        problem: What was asked.
        status: Whether the wanted gap was reached; its value is a sentence.
        value: What was to be least, for this mechanism: the Bayes vulnerability of X, or
            I(X; Z) in bits. No less than the true value.
        lower_bound: Proved lower bound for every mechanism within the loss.
        vulnerability: Upper bound of the chance that the best guess of X is right.
        bayes_error: Lower bound of the chance that it is wrong.
        information_bits: Upper bound of I(X; Z).
        loss: Upper bound of the expected loss, in the unit of the loss; at most the bound
            that was asked for.
        metric_privacy: One proof per guarantee of metric privacy, of the integers of the mechanism.
        strategy: The adversary's strategy that proves the lower bound, array (classes, m);
            see `evidence.sensitive`.
        price: The price of the loss that proves it, per unit of loss.
        rows: The prices of the rows of metric privacy that prove it; None without guarantees.
        log: The progress, step by step; its bounds are computed in plain floats.
        seconds: The time it took.
    """

    mechanism: Mechanism
    problem: SensitiveProblem
    status: Status
    value: float
    lower_bound: float
    vulnerability: float
    bayes_error: float
    information_bits: float
    loss: float
    metric_privacy: tuple[EpsilonProof, ...]
    strategy: Floats
    price: float
    rows: Multipliers | None
    log: tuple[Progress, ...]
    seconds: float

    @property
    def gap(self) -> float:
        """The largest distance of the value from the least one, relative to it; see `relative_gap`."""
        return relative_gap(self.value, self.lower_bound, self.problem.negligible)

    @property
    def epsilon_upper(self) -> float:
        """The proved epsilon of the first guarantee, per unit of its metric; ``inf`` if there is none."""
        return self.metric_privacy[0].upper if self.metric_privacy else float("inf")

    def __repr__(self) -> str:
        unit = self.problem.loss.unit
        if self.problem.objective == VULNERABILITY:
            leak = f"Bayes error at least {at_least(self.bayes_error, 6)}"
        else:
            leak = f"information at most {at_most(self.information_bits, 6)} bits"
        proved = (f"epsilon at most {at_most(p.upper, 6)}{per_unit(p.unit)}, " for p in self.metric_privacy)
        return (
            f"SensitiveDesign of {self.mechanism!r}: {leak}, loss at most {amount_at_most(self.loss, unit)}, "
            f"{''.join(proved)}gap {at_most(self.gap, 2)} ({self.status.name})"
        )
