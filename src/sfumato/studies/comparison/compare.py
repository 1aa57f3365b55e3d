"""Mechanisms side by side on one prior, at equal epsilon or at equal loss, with the certified optimum."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import inf, isfinite
from typing import Final

from ...attacks import blind as without_report
from ...attacks import optimal
from ...core import Mechanism, Metric, MetricPrivacy, Prior, units
from ...core.arguments import checked
from ...core.bisection import bisect, geometric_mean
from ...core.frozen import Short
from ...errors import InfeasibleError, InputError, SfumatoError, python
from ...evidence import expected_loss_above, prove_metric_privacy, worst_loss_above
from ...geo import Lattice
from ...leakage import bayes_error, conditional_entropy_bits, mutual_information_bits, prior_vulnerability
from ...mechanisms import coin_of_distortion, matched, quality_loss_of_secrets
from ...mechanisms.tupling.mechanism import check_dummies
from ...optimal import Design, design
from ...rounding import amount_at_least
from ...tables import write_rows
from .contestants import Contestant, tightened, usual
from .tuples import attacked, tupled

OPTIMUM: Final = "optimum"
COIN: Final = "coin"
_DESIGNS: Final = 24  # made in search of an epsilon, at most
_ROUNDING: Final = 1e-9  # of the loss of a tuple, a sum of powers in floating point


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonRow(Short):
    """One mechanism of a comparison, and what it achieves.

    Attributes:
        name: The mechanism.
        parameter: The family's parameter, per unit of the metric; None for the optimum.
        epsilon_upper: Proved, per unit of the metric; ``inf`` where two secrets can be told apart.
        loss: The expected loss, in the unit of the metric, rounded up.
        worst_case_loss: The largest expected loss of any secret, rounded up.
        attacker_error: The expected error of the best attack.
        bayes_error: The probability that the best guess of the secret is wrong.
        information_bits: The mutual information of secret and report.
        entropy_bits: The remaining entropy: of the secret, when the report is known.
        loss_lower_bound: Proved: no mechanism of this epsilon loses less; the optimum alone has one.
        spread: The standard error of the attacker's error where the attacker's columns are
            estimated from simulated tuples; None where they are computed.
        problem: Why there is no such member of the family; the numbers are then infinite.
    """

    name: str
    parameter: float | None
    epsilon_upper: float
    loss: float
    worst_case_loss: float
    attacker_error: float
    bayes_error: float
    information_bits: float
    entropy_bits: float
    loss_lower_bound: float | None = None
    spread: float | None = None
    problem: str = ""

    @property
    def hit_rate(self) -> float:
        """The probability that the best guess of the secret is right."""
        return 1 - self.bayes_error


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Short):
    """Several mechanisms on one prior.

    Attributes:
        rows: One per mechanism; those that do not exist say why.
        equal: ``epsilon`` or ``loss``: what the mechanisms have in common.
        value: Its value.
        unit: The unit of losses and errors; epsilon counts per it.
        blind_error: The attacker's error without a report: no mechanism can force more.
        blind_hit_rate: How often the likeliest secret is right: every mechanism allows it.
    """

    rows: tuple[ComparisonRow, ...]
    equal: str
    value: float
    unit: str
    blind_error: float
    blind_hit_rate: float

    @property
    def margin(self) -> float | None:
        """Two standard errors of the attackers' errors from simulated tuples; None if there are none."""
        return max((2 * row.spread for row in self.rows if row.spread is not None), default=None)

    def row(self, name: str) -> ComparisonRow:
        """Return the row of a mechanism.

        Raises:
            InputError: If it is not in the comparison.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise InputError(
            f"{name!r} is not in the comparison.", f"there are {', '.join(row.name for row in self.rows)}."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV, whole or not at all.

        Raises:
            FileError: If the file cannot be written.
        """
        names = [field.name for field in fields(ComparisonRow)]
        write_rows(names, (asdict(row).values() for row in self.rows), path)


@checked
def compare(
    prior: Prior,
    metric: Metric,
    *,
    epsilon: float | str | None = None,
    max_loss: float | str | None = None,
    contestants: Sequence[Contestant] | None = None,
    remap: bool = True,
    gap: float = 1e-4,
    dummies: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare mechanisms at equal epsilon, or at equal expected loss; for points there is `compare_places`.

    At equal epsilon, families that promise metric privacy are compared, each by the
    loosest member whose proved epsilon is at most that. At equal loss every family is
    compared by the member that loses just that much, and the optimum is the mechanism of
    the least epsilon that loses no more. Loss and errors are counted in the metric.

    Args:
        prior: The prior on the n secrets.
        metric: The metric on them: for privacy, loss and errors alike.
        epsilon: Per unit of the metric; a number or text such as ``"0.6/km"``.
        max_loss: The expected loss of all, instead of epsilon; such as ``"500 m"``.
        contestants: The families; by default those that fit (`usual`).
        remap: Whether each family is also compared followed by the optimal remap.
        gap: The relative gap of the certified optimum.
        dummies: At equal epsilon: each mechanism is also compared with every report among this
            many dummies. The loss is then of the best answer, epsilon is proved for one
            report and so holds for the tuple, and the attacker's columns are estimated.
        progress: Called with the name of each mechanism before it is made.

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
    if len(prior) != len(metric):
        raise InputError(
            f"the prior is on {len(prior)} values, the metric on {len(metric)}.",
            "use a metric on the same values.",
        )
    check_dummies(dummies)
    if dummies and max_loss is not None:
        raise InputError(
            "dummies were asked for at equal loss.", "compare at equal epsilon: dummies do not change that."
        )
    families = list(usual(prior, metric) if contestants is None else contestants)
    progress = progress or _silent
    blind = without_report(prior, metric).error
    if epsilon is not None:
        value = MetricPrivacy(epsilon, metric).epsilon
        rows = [*_at_epsilon(families, prior, metric, value, gap, progress, remap=remap, dummies=dummies)]
    else:
        value = units.parse(max_loss if max_loss is not None else 0.0, unit=metric.unit, what="the loss")
        if value >= blind:
            raise InfeasibleError(
                f"a loss of {units.show(value, metric.unit)} was asked for, but always reporting the same place "
                f"loses {units.show(blind, metric.unit)} and reveals nothing.",
                f"compare at less than {amount_at_least(blind, metric.unit)}.",
            )
        rows = [*_at_loss(families, prior, metric, value, gap, progress, remap=remap)]
    equal = "loss" if epsilon is None else "epsilon"
    return Comparison(tuple(rows), equal, value, metric.unit, blind, prior_vulnerability(prior))


def _silent(name: str) -> None:
    """Report no progress."""
    del name


def _at_epsilon(
    families: Sequence[Contestant],
    prior: Prior,
    metric: Metric,
    epsilon: float,
    gap: float,
    progress: Callable[[str], None],
    *,
    remap: bool,
    dummies: int,
) -> Iterator[ComparisonRow]:
    progress(OPTIMUM)
    best = design(prior, loss=metric, guarantees=[MetricPrivacy(epsilon, metric)], gap=gap)
    yield (row := _of_design(best, prior, metric))
    yield from _among(row, best.mechanism, prior, metric, dummies)
    for family in families:
        if not family.promises:
            continue
        for each in _forms(family, prior, metric, remap=remap):
            progress(each.name)
            try:
                parameter, mechanism = tightened(each, metric, epsilon)
            except SfumatoError as error:
                yield _missing(each.name, error)
                continue
            yield (row := _measured(each.name, parameter, mechanism, prior, metric, epsilon))
            yield from _among(row, mechanism, prior, metric, dummies)


def _at_loss(
    families: Sequence[Contestant],
    prior: Prior,
    metric: Metric,
    max_loss: float,
    gap: float,
    progress: Callable[[str], None],
    *,
    remap: bool,
) -> Iterator[ComparisonRow]:
    progress(OPTIMUM)
    try:
        yield _of_design(_least_epsilon(prior, metric, max_loss, gap), prior, metric)
    except SfumatoError as error:
        yield _missing(OPTIMUM, error)
    progress(COIN)
    try:
        yield _measured(COIN, None, coin_of_distortion(prior, metric, max_loss), prior, metric, 1.0)
    except SfumatoError as error:
        yield _missing(COIN, error)
    reach = 1 / max_loss if max_loss > 0 else 1.0
    for family in families:
        for each in _forms(family, prior, metric, remap=remap):
            progress(each.name)
            try:
                found = _matched(each, prior, metric, max_loss, reach)
            except SfumatoError as error:
                yield _missing(each.name, error)
                continue
            yield _measured(each.name, found[0], found[1], prior, metric, found[0])


def _matched(
    family: Contestant, prior: Prior, metric: Metric, max_loss: float, reach: float
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
    found = matched(family.build, prior, metric, max_loss, (bracket[0], bracket[1]), tolerance=1e-3)
    return found.parameter, found.mechanism


def _least_epsilon(prior: Prior, metric: Metric, max_loss: float, gap: float) -> Design:
    """Return the certified design of the least epsilon whose loss is at most the one asked for."""
    if not max_loss > 0:
        raise InputError(f"a loss of {max_loss:g} leaves no noise.", "allow a positive loss.")
    best: Design | None = None

    def affordable(epsilon: float) -> bool:
        nonlocal best
        asked = MetricPrivacy(epsilon, metric)
        found = design(prior, loss=metric, guarantees=[asked], gap=gap, tie_break=False)
        if found.certificate.loss > max_loss:
            return False
        best = found
        return True

    def close(low: float, high: float) -> bool:
        return (best is not None and best.certificate.loss >= max_loss * (1 - 1e-3)) or high / low < 1 + 1e-3

    low, high = 0.05 / max_loss, 2 / max_loss
    for left in reversed(range(_DESIGNS)):
        if affordable(high):
            bisect(affordable, fails=low, holds=high, middle=geometric_mean, done=close, steps=left)
            break
        low, high = high, 2 * high
    if best is None:
        raise InputError(f"no epsilon that was tried loses only {max_loss:g}.", "allow more loss.")
    return best


def _forms(family: Contestant, prior: Prior, metric: Metric, *, remap: bool) -> list[Contestant]:
    return [family, family.remapped(prior, metric)] if remap else [family]


def _of_design(found: Design, prior: Prior, metric: Metric) -> ComparisonRow:
    row = _measured(OPTIMUM, None, found.mechanism, prior, metric, 1.0)
    bound = found.certificate.bound
    return replace(row, loss_lower_bound=bound)


def _measured(
    name: str, parameter: float | None, mechanism: Mechanism, prior: Prior, metric: Metric, claimed: float
) -> ComparisonRow:
    proof = prove_metric_privacy(mechanism, MetricPrivacy(claimed if isfinite(claimed) else 1.0, metric))
    return ComparisonRow(
        name,
        parameter,
        proof.upper,
        expected_loss_above(mechanism, prior, metric),
        worst_loss_above(mechanism, metric),
        optimal(mechanism, prior, metric).error,
        bayes_error(mechanism, prior),
        mutual_information_bits(mechanism, prior),
        conditional_entropy_bits(mechanism, prior),
    )


def _among(
    alone: ComparisonRow, mechanism: Mechanism, prior: Prior, metric: Metric, dummies: int
) -> Iterator[ComparisonRow]:
    """Return the same mechanism with each report among dummies, if there are any."""
    if not dummies:
        return
    tupling = tupled(mechanism, dummies)
    losses = quality_loss_of_secrets(tupling, metric) * (1 + _ROUNDING)
    found = attacked(tupling, prior, metric)
    yield ComparisonRow(
        f"{alone.name} among {dummies} dummies",
        alone.parameter,
        alone.epsilon_upper,
        float(prior.probabilities @ losses) * (1 + _ROUNDING),
        float(losses.max()),
        found.error,
        found.wrong,
        alone.information_bits + alone.entropy_bits - found.entropy_bits,  # of the prior, less what is left
        found.entropy_bits,
        spread=found.spread,
    )


def _missing(name: str, error: SfumatoError) -> ComparisonRow:
    return ComparisonRow(name, None, inf, inf, inf, inf, inf, inf, inf, problem=error.problem)
