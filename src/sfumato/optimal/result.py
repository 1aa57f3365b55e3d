"""Designed mechanisms: proofs, solver log, and the choice between program and noise."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from ..core import Bracket, DesignGuarantee, Loss, Mechanism, Prior
from ..core.arrays import Floats
from ..core.immutable import CompactRepr, NotebookRepr, load_method
from ..core.naming import DISTORTION, slack_words
from ..errors import InputError, argument
from ..proofs import Certificate, Optimality, VertexPrivacy
from ..rounding import amount_at_least, amount_at_most, at_most
from ..sampling import Sampler, sampler
from .problem import Problem
from .solver import Answer, Progress, Status, spread

BEST: Final = "best"
TABLE: Final = "table"
NOISE: Final = "noise"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SolvedProgram(CompactRepr):
    """The program of a design, and how it was solved.

    Attributes:
        problem: The problem.
        status: Whether the wanted gap was reached; its value is a sentence.
        solver: The back-end used.
        log: The progress, step by step.
        tie_gap: Upper bound of the relative distance of the distortion privacy from the most of any mechanism of
            equal loss; None where no tie was broken.
        enough: The largest gap that counts as reached: the requested one, or 1e-4.
        optimality: The prices that prove the bound; None where there is none.
        answer: The solver's answer, from which a similar problem can start; None where it was dropped to save
            memory.
    """

    problem: Problem
    status: Status
    solver: str
    log: tuple[Progress, ...]
    tie_gap: float | None
    enough: float
    optimality: Optimality | None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Design(NotebookRepr):
    """A designed mechanism: the best of a program, or planar noise with a remap where that loses less.

    Where a program was solved, its fields are properties of the design too; see `SolvedProgram`.

    Attributes:
        mechanism: A `Mechanism`, or a `CoordinateNoise`.
        certificate: What is proved of it: a `Certificate`, or for noise a `NoiseCertificate`.
        guarantees: The requested guarantees. Noise satisfies its guarantee with the slack of its own promise.
        seconds: The time it took; after a resume from a folder, since then.
        is_finished: Whether the gap is as small as requested, or as a spanner allows; for noise, whether the
            program was solved, proved to lose more, or not requested.
        choice: The losses of program and planar noise, where both give the same guarantee for the same points;
            None where noise does not, or was not tried.
    """

    mechanism: Any
    certificate: Any
    guarantees: tuple[DesignGuarantee, ...]
    seconds: float
    is_finished: bool
    choice: Choice | None
    _program: SolvedProgram | None

    @classmethod
    def of_program(
        cls, mechanism: Mechanism, certificate: Certificate, program: SolvedProgram, seconds: float
    ) -> Self:
        """Return the design that a program found."""
        is_finished = program.status in (Status.OPTIMAL, Status.RESTRICTED) or certificate.gap <= program.enough
        return cls(mechanism, certificate, program.problem.guarantees, seconds, is_finished, None, program)

    @property
    def has_program(self) -> bool:
        """Whether a program found the mechanism, which is then a matrix."""
        return self._program is not None

    @property
    def kind(self) -> str:
        """``table`` or ``noise``."""
        return TABLE if self.has_program else NOISE

    @property
    def program(self) -> SolvedProgram:
        """The program that found the mechanism; `InputError` if the mechanism is noise."""
        if self._program is None:
            raise InputError(
                f"the design is a {self.mechanism!r}, which no program found.",
                f"design with {argument('method', TABLE)}.",
            )
        return self._program

    @property
    def problem(self) -> Problem:
        """The problem of the program."""
        return self.program.problem

    @property
    def prior(self) -> Prior | None:
        """The prior of the program; None for noise."""
        return None if self._program is None else self._program.problem.prior

    @property
    def status(self) -> Status:
        """The status of the program."""
        return self.program.status

    @property
    def solver(self) -> str:
        """The back-end of the program."""
        return self.program.solver

    @property
    def log(self) -> tuple[Progress, ...]:
        """The progress of the program."""
        return self.program.log

    @property
    def tie_gap(self) -> float | None:
        """The tie gap of the program."""
        return self.program.tie_gap

    @property
    def enough(self) -> float:
        """The largest gap of the program that counts as reached."""
        return self.program.enough

    @property
    def optimality(self) -> Optimality | None:
        """The prices that prove the bound of the program."""
        return self.program.optimality

    @property
    def answer(self) -> Answer | None:
        """The solver's answer; None where it was dropped."""
        return self.program.answer

    @property
    def value(self) -> float:
        """The proved value of the objective; for noise an upper bound of its expected loss."""
        if self.choice is None or self.has_program:
            return float(self.certificate.value)
        return self.choice.noise.upper

    @property
    def loss_unit(self) -> str:
        """The unit of the loss."""
        if self.choice is None or self.has_program:
            return str(self.certificate.loss_unit)
        return self.choice.unit

    @property
    def slack_m(self) -> float:
        """The slack that a guarantee per metre adds to every distance, metres."""
        if not self.has_program:
            return float(self.certificate.privacy.slack_m)
        return max(
            (guarantee.lattice.slack_m for guarantee in self.guarantees if isinstance(guarantee, VertexPrivacy)),
            default=0.0,
        )

    def without_answer(self) -> Self:
        """Return the design without the solver's answer, which takes much memory."""
        return self if self._program is None else replace(self, _program=replace(self._program, answer=None))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the design to a mechanism file; see `sfumato.files.save`."""
        load_method("save")(self, path)

    def sampler(self) -> Sampler:
        """Return a sampler of the mechanism's reports; see `sfumato.sampling.sampler`."""
        return sampler(self.mechanism)

    def sentences(self, **options: Any) -> tuple[str, ...]:
        """Return what is proved of the design, in sentences; options are those of `sfumato.reports.summarise`."""
        return tuple(load_method("sentences")(self, **options))

    def report(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Return the report of the design, and write it to a path (.html or .json); see `sfumato.report`."""
        report = load_method("report")(self, **options)
        if path is not None:
            report.save(path)
        return report

    @property
    def matrix(self) -> Floats:
        """The probabilities of all observables of the problem, array (n, m)."""
        every, used = self.problem.observables, self.mechanism.observables
        columns: Floats = self.mechanism.matrix
        return columns if used is every else spread(columns, every.positions(used.labels), len(every))

    @property
    def loss(self) -> Loss:
        """The loss of the mechanism's observables, which may be fewer than those of the problem."""
        every, used = self.problem.observables, self.mechanism.observables
        return self.problem.loss if used is every else self.problem.loss.of_columns(every.positions(used.labels))

    def __repr__(self) -> str:
        c = self.certificate
        if not self.has_program:
            loss = amount_at_most(self.value, self.loss_unit)
            return f"Design of {self.mechanism!r}: {self.guarantees[0]}; expected loss at most {loss}"
        demands = (*self.problem.guarantees, *self.problem.constraints)
        promise = ", ".join(str(demand) for demand in demands) or "no guarantee"
        if c.objective == DISTORTION and self.problem.distance is not None:
            unit = self.problem.distance.unit
            result = f"distortion at least {amount_at_least(c.value, unit)}"
        else:
            unit = c.loss_unit
            result = f"{c.objective} loss at most {amount_at_most(c.value, unit)}"
        near = at_most(c.gap, 2) if c.gap <= 0.5 else f"{amount_at_most(c.absolute_gap, unit)} (absolute)"
        return f"Design of {self.mechanism!r}: {promise}; {result}, gap {near} ({self.status.name})"


@dataclass(frozen=True, slots=True, repr=False)
class Choice(CompactRepr):
    """Planar noise and a program with the same guarantee per metre, and the one that loses less.

    Both losses are expected distances from the true point to the report, over the same points.

    Attributes:
        kind: ``table`` or ``noise``.
        program: From the least loss of any mechanism of the program to that of the one found; None where none was
            designed.
        noise: The loss of planar noise, between proved bounds.
        remapped: Whether its reports are replaced by the best places for these points.
        unit: The unit of the losses.
        slack_m: How much farther apart than they are two points may seem to the noise, metres.
    """

    kind: str
    program: Bracket | None
    noise: Bracket
    remapped: bool
    unit: str
    slack_m: float

    @property
    def is_decided(self) -> bool:
        """Whether the chosen one is proved to lose less, or the other one was not tried."""
        if self.program is None:
            return True
        better, worse = (self.noise, self.program) if self.kind == NOISE else (self.program, self.noise)
        return better.upper <= worse.lower

    @property
    def brief(self) -> str:
        """The loss on the lattice where noise was kept, and the slack of its guarantee."""
        slack = slack_words(self.slack_m)
        if self.program is None:
            return slack
        return f"On this lattice the loss is at least {amount_at_least(self.program.lower, self.unit)}. {slack}"

    @property
    def sentence(self) -> str:
        """A sentence with both losses and the choice."""
        unit = self.unit
        low, high = (amount_at_least(self.noise.lower, unit), amount_at_most(self.noise.upper, unit))
        noise = f"planar noise {'with' if self.remapped else 'without'} a remap"
        slack = slack_words(self.slack_m)
        if self.program is None:
            return f"{noise[0].upper()}{noise[1:]} loses {low} to {high} on average. {slack}"
        least = amount_at_least(self.program.lower, unit)
        most = amount_at_most(self.program.upper, unit)
        if self.kind == NOISE:
            loss = f"at least {least}" if self.is_decided else f"{least} to {most}"
            return (
                f"The program on this lattice, with the reports tried, loses {loss} on average, {noise} {low} to "
                f"{high}: the noise is kept. {slack}"
            )
        why = "" if self.is_decided else ", because the noise was not proved to lose less"
        return (
            f"The program on this lattice loses at most {most} on average, {noise} {low} to {high}: the program "
            f"is kept{why}."
        )
