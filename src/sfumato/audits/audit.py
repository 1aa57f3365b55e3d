"""The audit of a mechanism: every notion and measure that applies, with value, side and witness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import ArrayLike

from ..core import Capability, Mechanism, Metric, Prior, Randomizer
from ..core.arguments import checked
from ..core.randomizer import check_known
from ..divergences import Divergence
from ..errors import InputError
from ..privacy import Curve, Events, Family, Relation, Rivals
from ..statistics import Sample
from .choice import DELTA_AT, DELTAS, DIVERGENCES, ORDERS, AuditInputs
from .findings import Audit, Entry
from .noise import audit_noise
from .plan import planned
from .request import Request
from .samples import SHOWN, audit_sample


@checked
def audit(
    subject: Randomizer | Sample | ArrayLike,
    *,
    prior: Prior | None = None,
    metric: Metric | None = None,
    relation: Relation | None = None,
    events: Events | None = None,
    rivals: Rivals | None = None,
    family: Family | None = None,
    interventions: Iterable[ArrayLike] | None = None,
    curve: Curve | None = None,
    deltas: Iterable[float] = DELTAS,
    delta_at: Iterable[float] = DELTA_AT,
    orders: Iterable[float] = ORDERS,
    divergences: Iterable[Divergence] = DIVERGENCES,
    also: Iterable[str | Request] = (),
    failure: float = 0.05,
    progress: Callable[[Entry], None] | None = None,
) -> Audit:
    """Return every notion and measure that applies, with value, side, witness and meaning.

    For noise for coordinates the promise is proved; all else is an estimate on cells, those of the prior.

    For a mechanism the values bound the truth from above, rounding included; those of
    metric privacy and local differential privacy are proved on its integers. For
    samples they bound it from below, with stated confidence.

    Args:
        subject: A mechanism, where a tupling or a family is listed as a matrix; noise for coordinates; the array
            (secrets, observables) of a mechanism, which is first rounded to integers; or a `Sample` of secrets
            and reports.
        prior: What the attacker believes before the report; without it, notions about
            beliefs are measured against every prior.
        metric: The distance that epsilon counts per, and in which the attacker errs.
        relation: The pairs of secrets that must look alike; all if left out.
        events: The facts that must stay hidden; every single secret if left out.
        rivals: Pairs of facts that must look alike.
        family: Distributions of secrets that must look alike.
        interventions: For each record, array (values, secrets) of positions: the secret
            that each becomes when the record is set to a value.
        curve: A trade-off curve that tests must not beat.
        deltas: Where epsilon is also wanted for a delta above zero.
        delta_at: The epsilons at which delta is wanted.
        orders: The orders of Rényi privacy, each above 0 or ``inf``.
        divergences: The divergences by which reports are compared.
        also: What else to measure, by name, such as ``"renyi-privacy(order=8)"``.
        failure: For samples: the probability with which each bound may be wrong.
        progress: Called with each entry as it is found.

    Raises:
        InputError: If the array is not a mechanism, sizes do not fit, a number is out of
            range, or something that ``also`` names needs was not given.

    Example:
        >>> import sfumato as sf
        >>> found = sf.audit([[0.75, 0.25], [0.25, 0.75]], also=["renyi-privacy(order=8)"])
        >>> round(found.find("bounded-range").shown, 6)
        2.197225
        >>> round(found.find("renyi-privacy", order=8).shown, 6)
        1.057515
    """
    inputs = AuditInputs(
        prior=prior,
        metric=metric,
        relation=relation,
        events=events,
        rivals=rivals,
        family=family,
        interventions=None if interventions is None else tuple(interventions),
        curve=curve,
        deltas=tuple(map(float, deltas)),
        delta_at=tuple(map(float, delta_at)),
        orders=tuple(map(float, orders)),
        divergences=tuple(divergences),
    )
    requests = [each if isinstance(each, Request) else Request.parse(each) for each in also]
    if isinstance(subject, Sample):
        looked = _of_sample(inputs, requests)
        return audit_sample(
            subject, prior=prior, metric=metric, deltas=looked[0], delta_at=looked[1], failure=failure
        )
    if isinstance(subject, Randomizer):
        check_known(subject)
        if subject.supports(Capability.POINTS):
            noise: Any = subject  # a CoordinateNoise: no other known kind serves points
            return audit_noise(noise, inputs, requests, progress)
    mechanism = subject if isinstance(subject, Randomizer) else Mechanism(subject)
    if prior is not None and mechanism.secrets is not None:
        mechanism.secrets.check_order(prior.space, "the prior")
    return planned(mechanism, inputs, requests).measured(progress)


def _of_sample(inputs: AuditInputs, requests: Iterable[Request]) -> tuple[list[float], list[float]]:
    """Return the deltas and epsilons at which samples are measured.

    Raises:
        InputError: If something was given that only a matrix can use.
    """
    for name, given in inputs.context.items():
        if given is not None and name not in ("priors", "metric"):
            raise InputError(f"{name} was given for samples.", f"leave {name} out; only a matrix can use it.")
    deltas, delta_at = list(inputs.deltas), list(inputs.delta_at[:1])
    for request in requests:
        if request.name not in SHOWN:
            raise InputError(f"samples cannot show {request}.", f"what they can show is {', '.join(SHOWN)}.")
        deltas += [float(value) for name, value in request.given.items() if name == "delta"]
        delta_at += [float(value) for name, value in request.given.items() if name == "epsilon"]
    return list(dict.fromkeys(deltas)), list(dict.fromkeys(delta_at))
