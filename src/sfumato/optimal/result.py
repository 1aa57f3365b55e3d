"""A designed mechanism, with its problem, its proof and how it was found."""

from __future__ import annotations

from dataclasses import dataclass

from ..core import Loss, Mechanism
from ..core.arrays import Floats
from ..core.frozen import NotebookRepr
from ..evidence import Certificate, Optimality
from ..rounding import amount_at_least, amount_at_most, at_most
from .choice import Choice
from .problem import DISTORTION, Problem
from .solver import Answer, Progress, Status, spread


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Design(NotebookRepr):
    """A designed mechanism, with its problem, its proof and how it was found.

    Attributes:
        mechanism: The mechanism.
        certificate: What is proved of it.
        status: Whether the wanted gap was reached; its value is a sentence.
        problem: What was asked.
        solver: The back-end used.
        log: The progress, step by step.
        seconds: The time it took; where it went on from a folder, since then.
        tie_gap: How far, relatively and at most, its distortion privacy is from the most
            of any mechanism of equal loss; None where no tie was broken.
        enough: The largest gap that counts as reached: the one asked for, or 1e-4.
        optimality: The prices that prove the bound; None where there is none.
        answer: The solver's answer, from which a similar problem can start; None where it
            was dropped to save memory.
        choice: What planar noise would lose, where it keeps the same promise for the same points; None
            where it does not, or was not looked at.
    """

    mechanism: Mechanism
    certificate: Certificate
    status: Status
    problem: Problem
    solver: str
    log: tuple[Progress, ...]
    seconds: float
    tie_gap: float | None
    enough: float
    optimality: Optimality | None
    answer: Answer | None = None
    choice: Choice | None = None

    @property
    def matrix(self) -> Floats:
        """The probabilities of all observables that it could have reported, array (n, m)."""
        every, used = self.problem.observables, self.mechanism.observables
        if used is every:
            return self.mechanism.matrix
        return spread(self.mechanism.matrix, every.positions(used.labels), len(every))

    @property
    def loss(self) -> Loss:
        """The loss of the mechanism's observables, which may be some only of those that it could have reported."""
        every, used = self.problem.observables, self.mechanism.observables
        return self.problem.loss if used is every else self.problem.loss.of_columns(every.positions(used.labels))

    @property
    def finished(self) -> bool:
        """Whether the gap is as small as was asked for, or as a spanner allows."""
        return self.status in (Status.OPTIMAL, Status.RESTRICTED) or self.certificate.gap <= self.enough

    def __repr__(self) -> str:
        c = self.certificate
        asked = (*self.problem.guarantees, *self.problem.constraints)
        promise = ", ".join(str(each) for each in asked) or "no guarantee"
        if c.objective == DISTORTION and self.problem.distance is not None:
            unit = self.problem.distance.unit
            result = f"distortion at least {amount_at_least(c.value, unit)}"
        else:
            unit = c.loss_unit
            result = f"{c.objective} loss at most {amount_at_most(c.value, unit)}"
        near = at_most(c.gap, 2) if c.gap <= 0.5 else f"{amount_at_most(c.absolute_gap, unit)} (absolute)"
        return f"Design of {self.mechanism!r}: {promise}; {result}, gap {near} ({self.status.name})"
