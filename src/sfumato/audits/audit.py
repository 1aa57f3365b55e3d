"""The audit of a mechanism: every notion and measure that applies, with value, side and witness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from numpy.typing import ArrayLike

from ..core import Mechanism, Metric, Prior
from ..errors import InputError
from ..evidence.observed import Sample
from ..privacy import Events, Family, Relation
from .findings import Audit, Entry
from .measures import measures
from .notions import belief_notions, family_notions, measured, point_notions
from .samples import audit_sample


def audit(
    subject: Mechanism | Sample | ArrayLike,
    *,
    prior: Prior | None = None,
    metric: Metric | None = None,
    relation: Relation | None = None,
    events: Events | None = None,
    family: Family | None = None,
    deltas: Iterable[float] = (1e-6,),
    failure: float = 0.05,
    progress: Callable[[Entry], None] | None = None,
) -> Audit:
    """Return every notion and measure that applies, with value, side, witness and meaning.

    For a mechanism the values bound the truth from above, rounding included; those of
    metric privacy and local differential privacy are proved on its integers. For
    samples they bound it from below, with stated confidence.

    Args:
        subject: A mechanism; the array (secrets, observables) of one, which is first
            rounded to integers; or a `Sample` of secrets and reports.
        prior: What the adversary believes before the report.
        metric: The distance that epsilon counts per, and in which he errs.
        relation: The pairs of secrets that must look alike; all if left out.
        events: The facts that must stay hidden; every single secret if left out.
        family: Distributions of secrets that must look alike.
        deltas: Where epsilon is also wanted for a delta above zero.
        failure: For samples: the probability with which each bound may be wrong.
        progress: Called with each entry as it is found.

    Raises:
        InputError: If the array is no mechanism, or sizes do not fit.

    Example:
        >>> import sfumato as sf
        >>> found = sf.audit([[0.75, 0.25], [0.25, 0.75]])
        >>> round(found.find("bounded-range").shown, 6)
        2.197225
    """
    wanted = tuple(deltas)
    if isinstance(subject, Sample):
        for given, name in ((relation, "relation"), (events, "events"), (family, "family")):
            if given is not None:
                raise InputError(f"{name} was given for samples.", f"leave {name} out; only a matrix can use it.")
        return audit_sample(subject, prior=prior, metric=metric, deltas=wanted, failure=failure)
    mechanism = subject if isinstance(subject, Mechanism) else Mechanism(subject)
    notions = chain(
        point_notions(metric, relation, wanted),
        belief_notions(prior, events),
        () if family is None else family_notions(family, wanted),
    )
    found = chain((measured(notion, mechanism) for notion in notions), measures(mechanism, prior, metric))
    entries = []
    for entry in found:
        if progress is not None:
            progress(entry)
        entries.append(entry)
    notes = ["The values are for one report. k reports of one person add up to k times epsilon."]
    if prior is None:
        notes.append("No prior was given: what an attacker gains under one was not measured.")
    if metric is None:
        notes.append("No metric was given: epsilon per unit of distance and errors were not measured.")
    return Audit(repr(mechanism), tuple(entries), tuple(notes))
