"""The numbers of one mechanism in a comparison: proved, computed or, among dummies, estimated."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Final

from ..attacks import optimal
from ..core import AnyLoss, Mechanism, Metric, MetricPrivacy, Prior
from ..leakage import bayes_error, conditional_entropy_bits, mutual_information_bits
from ..mechanisms import quality_loss_of_secrets
from ..optimal import Design
from ..proofs import expected_loss_above, prove_metric_privacy, worst_loss_above
from ..rounding import gap_at_most
from .comparison_rows import ComparisonRow
from .tuples import attacked, tupled

OPTIMUM: Final = "optimum"

_ROUNDING: Final = 1e-9  # of the loss of a tuple, a sum of powers in floating point


def of_design(found: Design, prior: Prior, metric: Metric, errors: Metric) -> ComparisonRow:
    """Return the row of a certified design."""
    row = measured(OPTIMUM, None, found.mechanism, prior, metric, 1.0, errors=errors, loss=found.loss)
    stopped = ""
    if not found.finished:
        stopped = f"stopped by the time limit, at most {gap_at_most(found.certificate.gap)} above the least loss"
    return replace(row, loss_lower_bound=found.certificate.bound, stopped=stopped)


def measured(
    name: str,
    parameter: float | None,
    mechanism: Mechanism,
    prior: Prior,
    metric: Metric,
    claimed: float,
    *,
    errors: Metric,
    loss: AnyLoss | None = None,
) -> ComparisonRow:
    """Return the row of a mechanism.

    Args:
        name: Its name.
        parameter: That of its family.
        mechanism: The mechanism.
        prior: The prior.
        metric: For privacy.
        claimed: An epsilon that the proof starts from, per unit of the metric.
        errors: For the attacker's errors.
        loss: Of the mechanism's observables; by default as for errors, where they are the secrets.
    """
    proof = prove_metric_privacy(mechanism, MetricPrivacy(claimed if isfinite(claimed) else 1.0, metric))
    costs = errors if loss is None else loss
    return ComparisonRow(
        name,
        parameter,
        proof.upper,
        expected_loss_above(mechanism, prior, costs),
        worst_loss_above(mechanism, costs),
        optimal(mechanism, prior, errors).error,
        bayes_error(mechanism, prior),
        mutual_information_bits(mechanism, prior),
        conditional_entropy_bits(mechanism, prior),
    )


def among(
    alone: ComparisonRow, mechanism: Mechanism, prior: Prior, errors: Metric, loss: AnyLoss, dummies: int
) -> ComparisonRow:
    """Return the row of the same mechanism with each report among dummies.

    Args:
        alone: The row of the mechanism.
        mechanism: The mechanism.
        prior: The prior.
        errors: For errors.
        loss: Of the mechanism's observables.
        dummies: How many.
    """
    tupling = tupled(mechanism, dummies)
    losses = quality_loss_of_secrets(tupling, loss) * (1 + _ROUNDING)
    found = attacked(tupling, prior, errors)
    return ComparisonRow(
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
