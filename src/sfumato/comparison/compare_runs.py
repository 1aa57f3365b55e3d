"""Mechanisms side by side on one prior, at equal epsilon or at equal loss, with the certified optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from ..attacks import blind as without_report
from ..core import AnyLoss, Mechanism, Metric, MetricPrivacy, Prior, units
from ..core.arguments import checked
from ..core.bisection import bisect, geometric_mean
from ..errors import InfeasibleError, InputError, SfumatoError, SolverError, argument, python
from ..geo import Lattice
from ..leakage import prior_vulnerability
from ..mechanisms import coin_of_distortion, matched
from ..mechanisms.tupling.mechanism import check_dummies
from ..optimal import Design, design
from ..rounding import amount_at_least
from .comparison_rows import Comparison, ComparisonRow
from .contestants import Contestant, tightened, usual
from .measured_rows import OPTIMUM, among, measured, of_design
from .shared_time import NOT_REACHED, SharedTime

COIN: Final = "coin"
REST: Final = "rest"
"""The pieces of work are the optimum, and the rest."""

_DIGITS: Final = 1e-3  # relative, of an epsilon or a loss that is searched for
_DESIGNS: Final = 24  # made in search of an epsilon, at most

PARTS: Final = {OPTIMUM: 3.0, REST: 1.0}


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


@checked
def compare(
    prior: Prior,
    metric: Metric,
    *,
    epsilon: float | str | Sequence[float | str] | None = None,
    max_loss: float | str | None = None,
    loss: Metric | None = None,
    contestants: Sequence[Contestant] | None = None,
    remap: bool = True,
    gap: float = 1e-4,
    dummies: int = 0,
    time_limit: float = float("inf"),
    progress: Callable[[str], None] | None = None,
    found: Callable[[ComparisonRow], None] | None = None,
) -> Comparison:
    """Compare mechanisms at equal epsilon, or at equal expected loss; for points there is `compare_places`.

    At equal epsilon, families that promise metric privacy are compared, each by the
    loosest member whose proved epsilon is at most that. At equal loss every family is
    compared by the member that loses just that much, and the optimum is the mechanism of
    the least epsilon that loses no more.

    Args:
        prior: The prior on the n secrets.
        metric: The metric on them for privacy.
        epsilon: Per unit of the metric; a number or text such as ``"0.6/km"``, or several.
        max_loss: The expected loss of all, instead of epsilon; such as ``"500 m"``.
        loss: The metric for loss and errors; by default that for privacy.
        contestants: The families; by default those that fit (`usual`).
        remap: Whether each family is also compared followed by the optimal remap.
        gap: The relative gap of the certified optimum.
        dummies: At equal epsilon: each mechanism is also compared with every report among this
            many dummies. The loss is then of the best answer, epsilon is proved for one
            report and so holds for the tuple, and the attacker's columns are estimated.
        time_limit: Seconds for everything, most of them for the optimum, which is its best so far where it is
            not done by then; what there is no time for is named. It is looked at between mechanisms.
        progress: Called with the name of each mechanism before it is made.
        found: Called with each row when it is there.

    Raises:
        InputError: If not exactly one of epsilon and max_loss is given, sizes differ, or dummies
            are asked for at equal loss.
        InfeasibleError: If the loss is that of always reporting the same value, or more.
        UnitError: If a unit does not fit.

    Source:
        The measures are those of Oya, Troncoso and Pérez-González, CCS 2017.
    """
    if (epsilon is None) == (max_loss is None):
        raise InputError(
            f"epsilon {epsilon} and max_loss {max_loss} were given.",
            "give one of them: what the mechanisms have in common.",
        )
    if isinstance(prior.space, Lattice):
        raise InputError(
            "the secrets are vertices of a lattice: comparing them says nothing of the points they stand for.",
            python("use sf.compare_places(visits, epsilon=...)."),
        )
    costs = metric if loss is None else loss
    for each in (metric, costs):
        if len(prior) != len(each):
            raise InputError(
                f"the prior is on {len(prior)} values, the metric on {len(each)}.",
                "use a metric on the same values.",
            )
    check_dummies(dummies)
    if dummies and max_loss is not None:
        raise InputError(
            "dummies were asked for at equal loss.", "compare at equal epsilon: dummies do not change that."
        )
    if not time_limit > 0:
        raise InputError(
            f"a time limit of {time_limit:g} seconds is not positive.", f"use {argument('time_limit', 120)}."
        )
    given = usual(prior, metric) if contestants is None else contestants
    families = [form for each in given for form in ([each, each.remapped(prior, costs)] if remap else [each])]
    blind = without_report(prior, costs).error
    if epsilon is not None:
        values = tuple(dict.fromkeys(MetricPrivacy(each, metric).epsilon for each in epsilons_of(epsilon)))
    else:
        limit = units.parse(max_loss if max_loss is not None else 0.0, unit=costs.unit, what="the loss")
        if limit >= blind:
            raise InfeasibleError(
                f"a loss of {units.show(limit, costs.unit)} was asked for, but always reporting the same place "
                f"loses {units.show(blind, costs.unit)} and reveals nothing.",
                f"compare at less than {amount_at_least(blind, costs.unit)}.",
            )
        values = (limit,)
    rows = []
    time = SharedTime(time_limit, dict.fromkeys(values, 1.0))
    for value in values:
        run = CompareRun(
            families, prior, metric, costs, gap, SharedTime(time.share(value), PARTS), progress or _silent
        )
        for made in run.at_loss(value) if epsilon is None else run.at_epsilon(value, dummies):
            row = made if epsilon is None else replace(made, epsilon=value)
            rows.append(row)
            if found is not None:
                found(row)
    equal = "loss" if epsilon is None else "epsilon"
    return Comparison(tuple(rows), equal, values, costs.unit, metric.unit, blind, prior_vulnerability(prior))


def epsilons_of(epsilon: float | str | Sequence[float | str]) -> list[float | str]:
    """Return one epsilon, or several, as a list.

    Raises:
        InputError: If there is none.
    """
    epsilons = [epsilon] if isinstance(epsilon, str | float | int | np.number) else list(epsilon)
    if not epsilons:
        raise InputError("no epsilon was given.", "use '1/km'.")
    return epsilons


def _silent(_: object) -> None:
    """Report nothing."""
