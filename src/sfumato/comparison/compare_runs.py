"""The rows of a comparison on one prior, made one after the other in the time there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..core import AnyLoss, Mechanism, Metric, MetricPrivacy, Prior
from ..core.bisection import bisect, geometric_mean
from ..errors import InfeasibleError, InputError, SfumatoError, SolverError
from ..mechanisms import coin_of_distortion, matched
from ..optimal import Design, design
from .comparison_rows import ComparisonRow
from .contestants import Contestant, tightened
from .measured_rows import OPTIMUM, among, measured, of_design
from .shared_time import NOT_REACHED, SharedTime

COIN: Final = "coin"
REST: Final = "rest"
"""The pieces of work are the optimum, and the rest."""

PARTS: Final = {OPTIMUM: 3.0, REST: 1.0}
_DIGITS: Final = 1e-3  # relative, of an epsilon or a loss that is searched for
_DESIGNS: Final = 24  # made in search of an epsilon, at most


class _Made(NamedTuple):
    """A row with its mechanism, and the loss of the mechanism's observables."""

    row: ComparisonRow
    mechanism: Mechanism
    loss: AnyLoss


_Maker = Callable[[], _Made]


@dataclass(frozen=True, slots=True)
class CompareRun:
    """A comparison on cells: its mechanisms, prior and time, with who is told before each mechanism.

    Attributes:
        families: The families, each with its remap where that is compared, too.
        prior: The prior.
        metric: For privacy.
        loss: For loss and errors.
        gap: Of the optimum.
        time: Of everything.
        progress: Called with the name of each mechanism before it is made.
    """

    families: Sequence[Contestant]
    prior: Prior
    metric: Metric
    loss: Metric
    gap: float
    time: SharedTime
    progress: Callable[[str], None]

    def at_epsilon(self, epsilon: float, dummies: int) -> Iterator[ComparisonRow]:
        """Return the rows of an epsilon per unit of the metric, each also among dummies."""
        for name, make in self._of_epsilon(epsilon):
            made = self._row(name, make)
            if isinstance(made, ComparisonRow):
                yield made
                continue
            yield made.row
            if dummies and self.time.left:
                yield among(made.row, made.mechanism, self.prior, self.loss, made.loss, dummies)

    def at_loss(self, limit: float) -> Iterator[ComparisonRow]:
        """Return the rows of an expected loss."""
        for name, make in self._of_loss(limit):
            made = self._row(name, make)
            yield made if isinstance(made, ComparisonRow) else made.row

    def _row(self, name: str, make: _Maker) -> _Made | ComparisonRow:
        """Return a row with its mechanism, or the row that says why there is none."""
        self.progress(name)
        if not self.time.left:
            return ComparisonRow.missing(name, NOT_REACHED)
        try:
            return make()
        except SfumatoError as error:
            out_of_time = isinstance(error, SolverError) and not self.time.left
            infeasible = name != OPTIMUM and isinstance(error, InfeasibleError)
            return ComparisonRow.missing(
                name, NOT_REACHED if out_of_time else error.problem, infeasible=infeasible
            )

    def _of_epsilon(self, epsilon: float) -> Iterator[tuple[str, _Maker]]:
        def best() -> _Made:
            found = self._designed(epsilon, self.time.share(OPTIMUM), tie_break=None)
            return _Made(of_design(found, self.prior, self.metric, self.loss), found.mechanism, found.loss)

        def tight(family: Contestant) -> _Made:
            parameter, mechanism = tightened(family, self.metric, epsilon)
            return self._measured(family.name, parameter, mechanism, epsilon)

        yield OPTIMUM, best
        for family in self.families:
            if family.promises:
                yield family.name, lambda family=family: tight(family)  # type: ignore[misc]

    def _of_loss(self, limit: float) -> Iterator[tuple[str, _Maker]]:
        reach = self._scale / limit if limit > 0 else 1.0

        def best() -> _Made:
            found = self._least_epsilon(limit)
            return _Made(of_design(found, self.prior, self.metric, self.loss), found.mechanism, found.loss)

        def coin() -> _Made:
            made = coin_of_distortion(self.prior, self.loss, limit)
            return self._measured(COIN, None, made, 1.0)

        def member(family: Contestant) -> _Made:
            parameter, mechanism = _member(family, self.prior, self.loss, limit, reach)
            return self._measured(family.name, parameter, mechanism, parameter)

        yield OPTIMUM, best
        yield COIN, coin
        for family in self.families:
            yield family.name, lambda family=family: member(family)  # type: ignore[misc]

    def _measured(self, name: str, parameter: float | None, mechanism: Mechanism, claimed: float) -> _Made:
        row = measured(name, parameter, mechanism, self.prior, self.metric, claimed, errors=self.loss)
        return _Made(row, mechanism, self.loss)

    @property
    def _scale(self) -> float:
        """The largest loss over the largest distance."""
        farthest = float(self.metric.array.max())
        return float(self.loss.array.max()) / farthest if farthest > 0 else 1.0

    def _designed(self, epsilon: float, seconds: float, *, tie_break: bool | None) -> Design:
        if not seconds > 0:
            raise SolverError(f"{NOT_REACHED}.", "allow more time.")
        return design(
            self.prior,
            loss=self.loss,
            guarantees=[MetricPrivacy(epsilon, self.metric)],
            gap=self.gap,
            tie_break=tie_break,
            time_limit=seconds,
        )

    def _least_epsilon(self, max_loss: float) -> Design:
        """Return the certified design of the least epsilon whose loss is at most the one asked for."""
        if not max_loss > 0:
            raise InputError(f"a loss of {max_loss:g} leaves no noise.", "allow a positive loss.")
        left = self.time.countdown(OPTIMUM)
        best: Design | None = None

        def affordable(epsilon: float) -> bool:
            nonlocal best
            found = self._designed(epsilon, left(), tie_break=False)
            if found.certificate.loss > max_loss:
                return False
            best = found
            return True

        def close(low: float, high: float) -> bool:
            near = best is not None and best.certificate.loss >= max_loss * (1 - _DIGITS)
            return near or high / low < 1 + _DIGITS or not left()

        low, high = 0.05 * self._scale / max_loss, 2 * self._scale / max_loss
        for steps in reversed(range(_DESIGNS)):
            if affordable(high):
                bisect(affordable, fails=low, holds=high, middle=geometric_mean, done=close, steps=steps)
                break
            low, high = high, 2 * high
        if best is None:
            raise InputError(f"no epsilon that was tried loses only {max_loss:g}.", "allow more loss.")
        return best


def _member(
    family: Contestant, prior: Prior, loss: Metric, max_loss: float, reach: float
) -> tuple[float, Mechanism]:
    """Return the member of a loss, from the widest bracket in which the family can be built."""
    bracket = [reach, reach]
    for end, factor, most in ((0, 0.5, 5), (1, 2.0, 9)):
        for _ in range(most):
            try:
                family.build(bracket[end] * factor)
            except SfumatoError:
                break
            bracket[end] *= factor
    found = matched(family.build, prior, loss, max_loss, (bracket[0], bracket[1]), tolerance=_DIGITS)
    return found.parameter, found.mechanism
