"""Facts of a design, of a file with a matrix, and of noise."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ...core import Loss, Mechanism, Metric, MetricPrivacy, Prior
from ...core.naming import label_phrase
from ...escaping import plain
from ...files import MechanismFile, promised_pairs
from ...geo import DISTANCES, Lattice, Places, Visits
from ...ledgers import Ledger, amount_text
from ...optimal import Design
from ...proofs import EpsilonProof, NoiseCertificate, expected_loss_above, prove_guarantees, worst_loss_above
from .attacks import information_of, single_attacks
from .mechanism import constraints_of, cost_of, kind_of_loss, noise_cost, promises_of, radius_of, subject_of
from .requirements import usual_risk
from .types import (
    AttackFacts,
    BudgetFacts,
    ConstraintFacts,
    CostFacts,
    ErrorFacts,
    Evidence,
    InformationFacts,
    PromiseFacts,
    Quantity,
    RadiusFacts,
    RiskFacts,
    SubjectFacts,
    all_hold,
)

_TOLERANCE: Final = 1e-9  # relative, between a prior and that of the visits
_REPORT_SHARE: Final = 0.95  # share of reports
_SLACK: Final = 1e-9  # of a sum of probabilities in floats
_MOST_PAIRS: Final = 1_000_000  # distinct visits times reports: about five seconds


class TightPair(NamedTuple):
    """The pair of secrets and the report at which a guarantee is tightest, as labels."""

    pair: tuple[str, str]
    report: str
    holds: bool
    symmetric: bool  # whether distances are the same in both directions


class Overview(NamedTuple):
    """Guarantees, costs and attackers of one mechanism."""

    subject: SubjectFacts
    promises: tuple[PromiseFacts, ...]
    constraints: tuple[ConstraintFacts, ...] = ()
    witnesses: tuple[TightPair, ...] = ()
    costs: tuple[CostFacts, ...] = ()  # the bound of the optimum is in the last
    smoothed: Quantity | None = None  # the loss under a prior that is not that of the visits
    held_out: Quantity | None = None  # the loss on visits held out
    held_out_visits: int = 0
    attacks: tuple[AttackFacts, ...] = ()
    risk: RiskFacts | None = None
    information: InformationFacts | None = None
    even: bool = False
    radius: RadiusFacts | None = None


def of_design(
    design: Design, ground: Metric | None = None, visits: Visits | None = None, held_out: Visits | None = None
) -> Overview:
    """Return the facts of a design, which may have more linear constraints than a file can hold."""
    mechanism, prior, certificate = design.mechanism, design.problem.prior, design.certificate
    file = MechanismFile(mechanism, prior, design.loss, design.problem.guarantees, {})
    if isinstance(mechanism.secrets, Lattice):
        ground = None  # distances between vertices are not those of the points that are rounded to them
    costs, smoothed = _costs(design, file, ground, visits)
    loss, inside = (None, 0) if held_out is None else _held_out(design, held_out)
    return Overview(
        subject_of(file),
        promises_of(file, (certificate.metric_privacy, certificate.distortion)),
        constraints_of(mechanism, design.problem.constraints),
        costs=costs,
        smoothed=smoothed,
        held_out=loss,
        held_out_visits=inside,
        attacks=single_attacks(mechanism, prior, ground, visits),
        risk=_usual_risk(file, visits),
        information=information_of(mechanism, prior),
        even=len(prior) > 1 and prior.even,
        radius=radius_of(file),
    )


def of_file(file: MechanismFile) -> Overview:
    """Return the facts of a file with a matrix, each guarantee proved on its integers."""
    mechanism, prior = file.report_channel, file.prior
    proofs = prove_guarantees(mechanism, prior or Prior.uniform(mechanism.secrets), file.guarantees)
    promises, constraints = promises_of(file, proofs), constraints_of(mechanism, file.constraints)
    metrics = [guarantee.metric for guarantee in file.guarantees if isinstance(guarantee, MetricPrivacy)]
    of_metrics = zip(metrics, proofs[0], strict=True)
    is_proved = all(promise.is_proved for promise in promises) and all_hold(constraints)
    cost = cost_of(file, None, is_proved=is_proved)
    return Overview(
        subject_of(file),
        promises,
        constraints,
        tuple(_witness(mechanism, proof, metric) for metric, proof in of_metrics if promised_pairs(metric)),
        (cost,) if cost.expected is not None else (),
        attacks=() if prior is None else single_attacks(mechanism, prior, None),
        information=None if prior is None else information_of(mechanism, prior),
        even=prior is not None and len(prior) > 1 and prior.even,
    )


def of_noise(file: MechanismFile, certificate: NoiseCertificate | None = None) -> Overview:
    """Return the facts of noise for coordinates, with its cost and attackers where there is a certificate."""
    overview = Overview(subject_of(file), promises_of(file), radius=radius_of(file))
    if certificate is None:
        return overview
    errors = (("blind", 0, certificate.blind), ("informed", 1, certificate.attacker))
    attacks = tuple(AttackFacts(kind, k, "point", None, Quantity.of(error, "m")) for kind, k, error in errors)
    return overview._replace(costs=(noise_cost(certificate.loss),), attacks=attacks)


def _witness(mechanism: Mechanism, proof: EpsilonProof, metric: Metric) -> TightPair:
    first, second = (label_phrase(mechanism.secrets.labels[secret]) for secret in proof.worst_pair)
    report = label_phrase(mechanism.observables.labels[proof.worst_observable])
    return TightPair((first, second), report, proof.holds, metric.symmetric)


def _usual_risk(file: MechanismFile, visits: Visits | None) -> RiskFacts | None:
    """Return the risk that every report states, not computed for many visits; None without places."""
    places = file.report_channel.secrets
    if visits is None or not isinstance(places, Places):
        return None
    many = len(places.true_points(visits).xy) * file.report_channel.shape[1] > _MOST_PAIRS
    return usual_risk(file, None if many else visits, Evidence.PROVED, "many" if many else "")


def _costs(
    design: Design, file: MechanismFile, ground: Metric | None, visits: Visits | None
) -> tuple[tuple[CostFacts, ...], Quantity | None]:
    mechanism, problem, certificate, loss = design.mechanism, design.problem, design.certificate, design.loss
    space, reports = mechanism.secrets, mechanism.observables
    unit, error = certificate.loss_unit, ""
    best, value = Quantity.at_least(certificate.bound, unit), Quantity.at_most(certificate.value, unit)
    if certificate.objective == "distortion":
        unit, error = (
            ("", "") if problem.distance is None else (problem.distance.unit, problem.distance.true_point)
        )
        best, value = Quantity.at_most(certificate.bound, unit), Quantity.at_least(certificate.value, unit)
    kind = kind_of_loss(mechanism, loss)
    is_ground = ground is not None and reports == space and _same_distances(ground, loss)
    cost = CostFacts(
        "distance" if is_ground and kind == "loss" else kind,
        loss.name,
        Quantity.at_most(certificate.loss, loss.unit),
        None if isinstance(space, Lattice) else Quantity.at_most(certificate.worst_case_loss, loss.unit),
        best,
        certificate.objective,
        value,
        free_reports=certificate.free_reports,
        all_secrets=certificate.all_secrets,
        error=error,
    )
    if loss.true_point:
        return _on_points(design, cost, visits)
    costs, smoothed = [], None
    if visits is not None and isinstance(space, Places) and reports.coordinates is not None:
        costs.append(cost_of(file, visits, is_proved=False))
        smoothed = None if _same_priors(Prior.from_visits(space, visits), problem.prior) else cost.expected
    elif ground is not None and reports == space and not is_ground:
        mean = Quantity.at_most(expected_loss_above(mechanism, problem.prior, ground), ground.unit)
        worst = Quantity.at_most(worst_loss_above(mechanism, ground), ground.unit)
        between = "centres" if isinstance(space, Places) else "distance"
        costs.append(CostFacts(between, ground.name, mean, worst))
    return (*costs, cost), smoothed


def _same_priors(first: Prior, second: Prior) -> bool:
    return np.allclose(first.probabilities, second.probabilities, rtol=_TOLERANCE, atol=0)


def _same_distances(ground: Metric, loss: Loss) -> bool:
    return ground.unit == loss.unit and np.array_equal(ground.array, loss.array)


def _on_points(
    design: Design, cost: CostFacts, visits: Visits | None
) -> tuple[tuple[CostFacts, ...], Quantity | None]:
    mechanism, loss, space = design.mechanism, design.loss, design.mechanism.secrets
    prior, true = design.problem.prior, cost._replace(kind="true point", name=loss.true_point, worst=None)
    if visits is not None and isinstance(space, Places):
        visit_prior = Prior.from_visits(space, visits)
    elif loss.points is not None:
        visit_prior = Prior(space, loss.points.masses / loss.points.masses.sum())
    else:
        return (true,), None
    if _same_priors(visit_prior, prior):
        return (true,), None
    mean = Quantity.at_most(expected_loss_above(mechanism, visit_prior, loss), loss.unit)
    return (true._replace(expected=mean),), cost.expected


def _held_out(design: Design, visits: Visits) -> tuple[Quantity | None, int]:
    """Return the loss on held-out visits (None where none is served), and their number."""
    mechanism, loss = design.mechanism, design.loss
    places, reports = mechanism.secrets, mechanism.observables
    if not isinstance(places, Places) or reports.coordinates is None:
        return None, 0
    inside = int(places.inside(visits.lat, visits.lon).sum())
    if not inside:
        return None, len(visits)
    kind = loss.true_point or (loss.name if loss.name in DISTANCES else "euclidean")
    true = places.loss(visits, kind, loss.unit or "km", observables=reports)
    return Quantity.about(mechanism.expected_loss(Prior.from_visits(places, visits), true), true.unit), inside


def error_of(file: MechanismFile, visits: Visits | None) -> ErrorFacts | None:
    """Return the error of most reports, and for whom it is largest; None without a prior, a loss or a table."""
    if not file.has_matrix:
        return None
    mechanism, space = file.report_channel, file.report_channel.secrets
    places = space if isinstance(space, Places) else None
    prior, loss = file.prior, None if file.loss_is_stated else file.loss
    if visits is not None and places is not None and mechanism.observables.coordinates is not None:
        loss, prior = places.loss(visits, observables=mechanism.observables), Prior.from_visits(places, visits)
    if prior is None or loss is None:
        return None
    likely = None
    if loss.unit and places is None:  # reports of places have a radius
        losses, joint = loss.array.ravel(), mechanism.joint(prior).ravel()
        order = np.argsort(losses, kind="stable")
        position = np.searchsorted(joint[order].cumsum(), _REPORT_SHARE + _SLACK)
        likely = Quantity.at_most(float(losses[order[min(int(position), len(order) - 1)]]), loss.unit)
    mask = (prior.probabilities > 0) | (not loss.true_point)  # a point without visits has no mean
    means = np.where(mask, (mechanism.matrix * loss.array).sum(axis=1), -1.0)
    worst = int(means.argmax())
    alone = expected_loss_above(mechanism, Prior(space, np.eye(1, len(space), worst)[0]), loss)
    latlon = () if places is None else tuple(map(float, places.latlon[worst]))
    label = plain(label_phrase(space.labels[worst]))
    return ErrorFacts(likely, _REPORT_SHARE, Quantity.at_most(alone, loss.unit), label, latlon)


def budget_of(ledger: Ledger) -> BudgetFacts:
    """Return the limits of a ledger, and the most that a user has spent."""
    state, balances = ledger.check(), [ledger.balance(user) for user in ledger.users]
    most = max((balance.spent for balance in balances), default=None)
    text = "" if most is None else amount_text(most, ledger.unit)
    reports = sum(balance.reports for balance in balances)
    return BudgetFacts(ledger.limits, len(balances), reports, text, state.sound, state.head)
