"""What claims of Bayesian notions are about: priors and facts, read from their context."""

from __future__ import annotations

from typing import Final

from ..beliefs.events import Events
from ..beliefs.priors import Priors
from .claims import Claim, covers

EVERY: Final = (0.0, 1.0)


def priors_of(context: object) -> Priors:
    return context if isinstance(context, Priors) else Priors.all()


def events_of(context: object) -> Events | None:
    return context if isinstance(context, Events) else None


def any_mass(priors: Priors) -> Priors:
    """Return the priors among which the likelihoods of facts are the same, whatever the facts' probabilities.

    Where an interval is given, facts of prior probability 0 count too; else they do not.
    """
    return priors if priors.interval is None else Priors(priors.listed, EVERY)


def every_secret(claim: Claim) -> bool:
    """Return whether the facts are the single secrets."""
    events = events_of(claim.context.get("events"))
    return events is None or covers("events", events, Events.singletons(events.size))


def holds_each(priors: Priors) -> bool:
    """Return whether every listed prior holds every secret possible."""
    return all(bool((prior.probabilities > 0).all()) for prior in priors.listed)


def holds_all(priors: Priors) -> bool:
    """Return whether some prior among the listed ones holds every secret possible."""
    return any(bool((prior.probabilities > 0).all()) for prior in priors.listed)
