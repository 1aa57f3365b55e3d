"""Facts and priors of claims, and how far likelihood ratios move the probability of a fact, rounded outwards."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ...core.bisection import bisect
from ...intervals import Interval, above, exact
from ..beliefs.events import Events
from ..beliefs.priors import Priors
from .claims import Claim
from .contexts import covers

EVERY: Final = (0.0, 1.0)

Span = tuple[float, float]
"""The least and the largest prior probability of one fact."""


def priors_of(context: object) -> Priors:
    """Return the priors that a claim is about; all where it names none."""
    return context if isinstance(context, Priors) else Priors.all()


def events_of(context: object) -> Events | None:
    """Return the facts that a claim is about; None for the single secrets."""
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


def spans(priors: Priors, events: Events | None) -> list[Span]:
    """Return the intervals of prior probability that the facts may have."""
    if priors.interval is not None:
        return [priors.interval]
    found = []
    for prior in priors.listed:
        masks = np.eye(len(prior.probabilities), dtype=np.bool_) if events is None else events.masks
        masses = masks @ prior.probabilities
        found += [(float(mass), float(mass)) for mass in masses if 0 < mass < 1]
    return found


def opposite(span: Span) -> Span:
    """Return the interval of the fact's absence, rounded outwards."""
    low, high = 1.0 - span[1], 1.0 - span[0]
    return max(0.0, low if low == 1 else math.nextafter(low, 0.0)), min(1.0, math.nextafter(high, 2.0))


def rise_of_posterior(ratio: float, span: Span) -> float:
    """Return the epsilon of positive membership that a likelihood ratio e^ratio allows, over a span of priors."""
    low, high = (exact(end) for end in span)

    def factor() -> Interval:
        return exact(ratio).exp()

    more = above(lambda: (factor() / (1 + low * (factor() - 1))).log())
    less = above(lambda: (1 + high * (factor() - 1)).log())
    return min(max(more, less, 0.0), ratio)


def ratio_of_rise(epsilon: float, span: Span) -> float:
    """Return the logarithm of the ratio that positive membership privacy of epsilon leaves; ``inf`` if any."""
    low, high = (exact(end) for end in span)

    def growth() -> Interval:
        return exact(epsilon).exp()

    if span[0] == 0 or span[1] == 1:
        return epsilon
    more = above(lambda: (growth() * (1 - low) / (1 - low * growth())).log())
    less = above(lambda: ((growth() + high - 1) / high).log()) if span[1] > 0 else math.inf
    return min(more, less)


def excess(ratio: float, epsilon: float, span: Span) -> float:
    """Return the delta of adversarial privacy at epsilon that a likelihood ratio e^ratio allows."""
    if epsilon >= ratio:
        return 0.0

    def over_all() -> Interval:
        root, part = (exact(ratio) / 2).exp(), (exact(epsilon) / 2).exp()
        return (root - part) ** 2 / (root**2 - 1)

    peak = math.exp(-(ratio + epsilon) / 2) * math.expm1((epsilon - ratio) / 2) / math.expm1(-ratio)
    ends = [
        end for end, outside in zip(span, (peak < span[0] - 1e-9, peak > span[1] + 1e-9), strict=True) if outside
    ]
    if not ends:
        return above(over_all)
    p = exact(ends[0])

    def at_end() -> Interval:
        factor = exact(ratio).exp()
        return p * factor / (1 + p * (factor - 1)) - exact(epsilon).exp() * p

    return max(0.0, above(at_end))


def least_epsilon(ratio: float, delta: float, span: Span) -> float:
    """Return an epsilon of adversarial privacy at delta that a likelihood ratio e^ratio allows."""
    if delta == 0 or ratio == 0:
        return ratio
    if excess(ratio, 0.0, span) <= delta:
        return 0.0
    return bisect(lambda epsilon: excess(ratio, epsilon, span) <= delta, fails=0.0, holds=ratio, steps=80).holds


def ratio_of_excess(epsilon: float, delta: float, span: Span) -> float:
    """Return the logarithm of the ratio that adversarial privacy of (epsilon, delta) leaves; ``inf`` if any."""
    if delta >= 1:
        return math.inf

    def over_all() -> Interval:
        part, free = (exact(epsilon) / 2).exp(), exact(delta)
        return 2 * ((part + (free * (part**2 - 1 + free)).sqrt()) / (1 - free)).log()

    if span == (0.0, 1.0):
        return epsilon if delta == 0 else above(over_all)
    return min(_ratio_at(epsilon, delta, end) for end in span)


def _ratio_at(epsilon: float, delta: float, mass: float) -> float:
    if mass == 0:
        return epsilon if delta == 0 else math.inf
    p = exact(mass)

    def value() -> Interval:
        # At a bound of 1 or more the logarithm is undefined, which `above` takes for infinite.
        bound = exact(epsilon).exp() * p + exact(delta)
        return (bound * (1 - p) / (p * (1 - bound))).log()

    return above(value)
